"""Calls of user functions are replaced by the bodies of the functions, under names that do not clash.

A parameter that the callee never rebinds stands for the argument itself where that is a name or a constant; any other argument is assigned to
the parameter first, so that a view stays a view: `ba_reproj(cams[i], ...)` becomes `cam = cams[i]` and the body.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import gast

from s2sad.errors import problem, raise_all, refuse
from s2sad.lang import tree as T
from s2sad.transforms.normalize import pruned, used_names
from s2sad.transforms.resolve import Callee, Recursive


def inline(function: T.Function) -> T.Function:
    """The function without calls of user functions (those with a rule of their own stay, in `externals`).

    >>> from s2sad.transforms.example import source
    >>> from s2sad.transforms.front import build
    >>> def square(y):
    ...     return y * y
    >>> def f(x):
    ...     return square(x + 1.0) + x
    >>> print(source(build(f, "inline")))
    y = x + 1.0
    square_out = y * y
    return square_out + x
    """
    table = dict(function.recursive)
    while True:  # what the recursive functions call brings them hidden parameters and tuples, which their callers have to know of
        done = {fn: _inlined(f, table) for fn, f in function.recursive.items()}
        if all(done[fn].hidden == f.hidden and parts_of(done[fn]) == parts_of(f) for fn, f in table.items()):
            break
        table = done
    new = replace(_inlined(function, done), recursive=MappingProxyType(done))
    raise_all(
        problem(f.source, node, "S2S129", f"The global array `{name}` is written", f"def {f.name}(..., {name.lower()}):",
                "What a function changes has to be an argument or an array of its own.")
        for f in (new, *done.values()) for name, node in _written_globals(f)
    )
    return new


def _inlined(function: T.Function, recursive: Mapping[Any, T.Function]) -> T.Function:
    inliner = _Inliner(function, recursive)
    return inliner.finish(inliner.block(list(function.body)))


def _written_globals(function: T.Function) -> list[tuple[str, gast.AST]]:
    hidden = {h.name for h in function.hidden}
    found: list[tuple[str, gast.AST]] = []
    for s in function.body:
        for n in gast.walk(s):
            if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store) and T.base_name(n) in hidden:
                found.append((T.base_name(n), n))
            elif isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name) and n.target.id in hidden:
                found.append((n.target.id, n))
    return found


class _Inliner:
    def __init__(self, function: T.Function, recursive: Mapping[Any, T.Function]):
        self.function, self.recursive = function, recursive
        self.fresh = T.Fresh(used_names(function))
        self.hidden: dict[Any, str] = {h.read: h.name for h in function.hidden}
        self.externals: dict[str, Any] = dict(function.externals)
        self.opaque: dict[int, str] = {id(o): n for n, o in function.externals.items() if not isinstance(o, Callee)}

    def finish(self, body: list[gast.stmt]) -> T.Function:
        mine = self.function.params[: len(self.function.params) - len(self.function.hidden)]
        hidden = tuple(T.Hidden(name, read) for read, name in self.hidden.items())
        externals = {n: o for n, o in self.externals.items() if not isinstance(o, Callee)}
        params = mine + tuple(h.name for h in hidden)
        return self.function.with_body(pruned(body), params=params, hidden=hidden, externals=MappingProxyType(externals))

    # -- statements ---------------------------------------------------------------------------------------

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        new: list[gast.stmt] = []
        for s in body:
            if isinstance(s, (gast.If, gast.For, gast.While)):
                s = copy.copy(s)
                s.body, s.orelse = self.block(s.body), self.block(s.orelse)
                new.append(s)
                continue
            value = getattr(s, "value", None)
            new += self.call(s, value, self.externals[value.func.id]) if value is not None and self.is_call(value) else [s]
        return new

    def kept(self, s: gast.stmt, call: gast.Call, callee: Recursive) -> list[gast.stmt]:
        """The statements for one whose value calls a recursive function: the call, its arguments by position, stands alone."""
        f = self.recursive[callee.fn]
        given = self.arguments(call, Callee(callee.fn, f))
        for h in f.hidden:
            if h.read not in self.hidden:
                self.hidden[h.read] = self.fresh(h.name)
            given[h.name] = T.name(self.hidden[h.read])
        call = T.at(gast.Call(call.func, [given[p] for p in f.params], []), call)
        parts = parts_of(f)
        if parts == 0:
            if not isinstance(s, gast.Expr):
                refuse(self.function.source, call, "S2S126", f"`{f.name}` returns nothing, and its result is used",
                       f"{f.name}(...)  # a statement of its own\n# or, in {f.name}: return ...")
            return [T.at(gast.Expr(call), s)]
        target = s.targets[0] if isinstance(s, gast.Assign) else None
        names = target.elts if parts is not None and isinstance(target, gast.Tuple) else [target]
        ids = [t.id for t in names if isinstance(t, gast.Name)]
        if len(names) == len(set(ids)) == (parts or 1):
            return [T.at(gast.Assign([target], call, None), s)]
        ids = [self.fresh(f"{f.name}_out") for _ in range(parts or 1)]
        to = T.store(ids[0]) if parts is None else gast.Tuple([T.store(n) for n in ids], gast.Store())
        new = [T.at(gast.Assign([to], call, None), s)]
        value = T.name(ids[0]) if parts is None else gast.Tuple([T.name(n) for n in ids], gast.Load())
        return new if isinstance(s, gast.Expr) else new + self.deliver(s, value)

    def call(self, s: gast.stmt, call: gast.Call, callee: Callee | Recursive) -> list[gast.stmt]:
        """The statements that stand for one statement whose value is a call."""
        if isinstance(callee, Recursive):
            return self.kept(s, call, callee)
        f = callee.function
        arguments = self.arguments(call, callee)
        body, result = list(f.body), None
        if body and isinstance(body[-1], gast.Return):
            body, result = body[:-1], body[-1].value
        if result is None and not isinstance(s, gast.Expr):
            refuse(self.function.source, call, "S2S126", f"`{f.name}` returns nothing, and its result is used",
                   f"{f.name}(...)  # a statement of its own\n# or, in {f.name}: return ...")
        nodes = [*body, *([T.at(gast.Expr(result), call)] if result is not None else [])]
        rebound = T.stores(body)
        parts, names, binds = self.bind(s, call, f, arguments, nodes, rebound)
        own = _ordered_stores(body)
        names.update(self.result_names(s, result, set(own) - set(f.params), arguments))
        for n in own:
            if n not in names and n not in parts:
                names[n] = self.local(n)
        self.globals(f, names)
        new_body = [_instantiate(b, parts, names) for b in body]
        new = binds + self.block(pruned(new_body))
        if result is None:
            return new
        value = _instantiate(result, parts, names)
        if self.is_call(value):  # the callee returns what another function returns
            again = copy.copy(s)
            again.value = T.at(value, s)
            return new + self.block([again])
        return new if isinstance(s, gast.Expr) else new + self.deliver(s, value)

    def result_names(self, s: gast.stmt, result: gast.expr | None, own: set[str], arguments: Mapping[str, gast.expr]) -> dict[str, str]:
        """The callee's result variables that may be the caller's targets themselves: `y = f(x)` where f ends with `return y`."""
        if not isinstance(s, gast.Assign) or result is None:
            return {}
        target = s.targets[0]
        whole = isinstance(target, gast.Tuple) and isinstance(result, gast.Tuple) and len(target.elts) == len(result.elts)
        pairs = zip(target.elts, result.elts, strict=True) if whole else [(target, result)]
        read = {n for a in arguments.values() for n in T.loads(a)} | set(self.function.params)
        found: dict[str, str] = {}
        for t, r in pairs:
            if isinstance(t, gast.Name) and isinstance(r, gast.Name) and r.id in own and r.id not in found and t.id not in read:
                found[r.id] = t.id
        return found

    def is_call(self, e: gast.expr) -> bool:
        return isinstance(e, gast.Call) and isinstance(e.func, gast.Name) and isinstance(self.externals.get(e.func.id), (Callee, Recursive))

    def deliver(self, s: gast.stmt, value: gast.expr) -> list[gast.stmt]:
        """The calling statement with the result in place of the call."""
        if isinstance(s, gast.Assign):
            target = s.targets[0]
            if isinstance(target, gast.Name) and isinstance(value, gast.Name) and target.id == value.id:
                return []
            if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple):
                return self.deliver_tuple(s, target, value)
            if isinstance(target, gast.Tuple):
                return self.deliver_parts(s, target, value)
        new = copy.copy(s)
        new.value = T.at(value, s)
        return [new]

    def deliver_tuple(self, s: gast.Assign, target: gast.Tuple, value: gast.Tuple) -> list[gast.stmt]:
        if len(target.elts) != len(value.elts):
            refuse(self.function.source, s, "S2S128", f"{len(value.elts)} values are assigned to {len(target.elts)} names", "a, b = f(x)")
        new: list[gast.stmt] = []
        pairs = list(zip(target.elts, value.elts, strict=True))
        final = []
        for k, (t, v) in enumerate(pairs):
            if T.loads(v) & T.stores(target.elts[:k]):
                name = self.fresh(f"{t.id}_next")
                new.append(T.at(gast.Assign([T.store(name)], v, None), s))
                v = T.name(name)
            final.append((t, v))
        return new + [T.at(gast.Assign([t], v, None), s) for t, v in final if not (isinstance(v, gast.Name) and v.id == t.id)]

    def deliver_parts(self, s: gast.Assign, target: gast.Tuple, value: gast.expr) -> list[gast.stmt]:
        """A tuple target and a result that is no tuple literal: a name of a tuple, an array, a shape."""
        new: list[gast.stmt] = []
        if not isinstance(value, gast.Name) or value.id in T.stores(target):
            name = self.fresh("values")
            new.append(T.at(gast.Assign([T.store(name)], value, None), s))
            value = T.name(name)
        n = len(target.elts)
        text = f"if len(v) != {n}:\n    raise ValueError('cannot unpack into {n} names: wrong number of values')"
        new += T.at(T.stmts(text, v=value), s)
        return new + [T.at(gast.Assign([t], T.expr(f"v[{k}]", v=value), None), s) for k, t in enumerate(target.elts)]

    # -- names --------------------------------------------------------------------------------------------

    def local(self, name: str) -> str:
        return self.fresh(name)

    def globals(self, f: T.Function, names: dict[str, str]) -> None:
        """Hidden parameters and externals of the callee under their names here."""
        for h in f.hidden:
            if h.read not in self.hidden:
                self.hidden[h.read] = self.fresh(h.name)
            names[h.name] = self.hidden[h.read]
        for n, obj in f.externals.items():
            known = self.externals.get(n)
            same: str | None
            if isinstance(obj, Callee):
                same = next((k for k, o in self.externals.items() if isinstance(o, Callee) and o.fn is obj.fn and o.function is obj.function), None)
            elif isinstance(obj, Recursive):
                same = next((k for k, o in self.externals.items() if o == obj), None)
            else:
                same = self.opaque.get(id(obj))
            if same is None:
                same = n if known is None and n not in self.fresh.used else self.fresh(n)
                self.fresh.used.add(same)
                self.externals[same] = obj
                if not isinstance(obj, (Callee, Recursive)):
                    self.opaque[id(obj)] = same
            assert same is not None
            names[n] = same

    # -- arguments ----------------------------------------------------------------------------------------

    def arguments(self, call: gast.Call, callee: Callee) -> dict[str, gast.expr]:
        """Parameter -> argument, in the order in which they are evaluated."""
        f = callee.function
        mine = f.params[: len(f.params) - len(f.hidden)]
        given = dict(zip(mine, call.args, strict=False)) | {k.arg: k.value for k in call.keywords}
        assert given.keys() == set(mine), f"{f.name}({', '.join(mine)}) is given {', '.join(given)}"
        return given

    def bind(
        self, s: gast.stmt, call: gast.Call, f: T.Function, arguments: Mapping[str, gast.expr], nodes: list[gast.stmt], rebound: set[str]
    ) -> tuple[dict[str, gast.expr], dict[str, str], list[gast.stmt]]:
        """How parameters get their arguments: replaced in the body (`parts`), or assigned under a name (`names`, `binds`)."""
        parts: dict[str, gast.expr] = {}
        names: dict[str, str] = {}
        binds: list[gast.stmt] = []
        uses: dict[str, int] = {}
        for n in nodes:
            for x in T.iter_loads(n):
                uses[x] = uses.get(x, 0) + 1
        single = len(nodes) == 1 and isinstance(nodes[0], gast.Expr) and not any(_lazy(n, f) for n in gast.walk(nodes[0]))
        whole = (gast.Name, gast.Constant, gast.Tuple, gast.List)
        once = {p for p, a in arguments.items() if single and uses.get(p, 0) == 1 and not isinstance(a, whole)}
        first = bool(once) and _evaluated_first(nodes[0].value, [p for p in arguments if p in once])
        for p, a in arguments.items():
            direct = isinstance(a, (gast.Name, gast.Constant)) or first and p in once
            if p not in rebound and direct and not (isinstance(a, gast.Constant) and _subscripted(nodes, p)):
                parts[p] = a
            elif p in rebound or p in uses or not isinstance(a, (gast.Name, gast.Constant)):
                names[p] = self.local(p)
                binds.append(T.at(gast.Assign([T.store(names[p])], copy.deepcopy(a), T.HELD if p in once else None), call))
        return parts, names, binds


def parts_of(function: T.Function) -> int | None:
    """How many values a function in normal form returns: 0, the length of a tuple, or None for one that is no tuple."""
    last = function.body[-1] if function.body else None
    value = last.value if isinstance(last, gast.Return) else None
    if value is None:
        return 0
    values = [value]
    if isinstance(value, gast.Name):
        nodes = (n for s in function.body for n in gast.walk(s))
        values += [n.value for n in nodes if isinstance(n, gast.Assign) and isinstance(n.targets[0], gast.Name) and n.targets[0].id == value.id]
    return next((len(v.elts) for v in values if isinstance(v, gast.Tuple)), None)


def _lazy(n: gast.AST, f: T.Function) -> bool:
    """Whether a node may leave an operand out, or hand it to a function that is not inlined yet."""
    return isinstance(n, gast.BoolOp) or isinstance(n, gast.Call) and isinstance(n.func, gast.Name) and n.func.id in f.externals


def _evaluated_first(e: gast.expr, params: list[str]) -> bool:
    """Whether an expression evaluates these names first, in this order, before any operation."""
    wanted = list(params)

    def visit(n: gast.AST) -> bool:
        """Whether all goes well until the names are found."""
        if isinstance(n, gast.Name):
            if n.id in params and (not wanted or wanted.pop(0) != n.id):
                return False
            return True
        if not all(visit(child) for child in gast.iter_child_nodes(n)):
            return False
        return not (wanted and isinstance(n, (gast.BinOp, gast.Call, gast.Subscript, gast.Compare)))

    return visit(e) and not wanted


def _subscripted(nodes: list[gast.stmt], p: str) -> bool:
    inner = (n for s in nodes for n in gast.walk(s) if isinstance(n, (gast.Subscript, gast.Attribute)))
    return any(isinstance(n.value, gast.Name) and n.value.id == p for n in inner)


def _ordered_stores(body: list[gast.stmt]) -> list[str]:
    """Names that statements bind, in the order of the text."""
    found: dict[str, None] = {}
    for s in body:
        for n in _in_order(s):
            if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store):
                found[n.id] = None
    return list(found)


def _in_order(node: gast.AST) -> Any:
    yield node
    for child in gast.iter_child_nodes(node):
        yield from _in_order(child)


class _Instantiate(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, parts: Mapping[str, gast.expr], names: Mapping[str, str]):
        self.parts, self.names = parts, names

    def visit_Name(self, node: gast.Name) -> gast.expr:
        if node.id in self.parts:
            new = copy.deepcopy(self.parts[node.id])
            if hasattr(new, "ctx"):
                new.ctx = node.ctx
            return new
        node.id = self.names.get(node.id, node.id)
        return node


def _instantiate(node: Any, parts: Mapping[str, gast.expr], names: Mapping[str, str]) -> Any:
    """A copy of the callee's tree with arguments for parameters and new names for its own."""
    return _Instantiate(parts, names).visit(copy.deepcopy(node))
