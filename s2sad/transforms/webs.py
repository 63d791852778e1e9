"""Give each independent use of a name a name of its own, so that a name means one thing.

>>> from s2sad.lang.tree import Function, stmts
>>> f = Function("f", ("x",), tuple(stmts("y = x[1:]\\nz = np.sum(y)\\ny = x * z\\ny[0] = z\\nreturn np.sum(y)")))
>>> print(show(split(f)))
y = x[1:]
z = np.sum(y)
y_2 = x * z
y_2[0] = z
return np.sum(y_2)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

import gast

from s2sad.analysis.reaching import Definition, Reaching, bound, reaching
from s2sad.lang import tree as T
from s2sad.lang.tree import Function

SCALAR_CALLS = ("len", "int", "float", "bool", "round")


def show(function: Function) -> str:
    """The body of a function as text (for doctests)."""
    module = gast.Module(T.copied(function.body), [])
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(module)))


class Webs:
    """The webs of every name: sets of definitions that are joined by a common use."""

    def __init__(self, function: Function):
        self.flow: Reaching = reaching(function)
        self.parent: dict[Definition, Definition] = {}
        self.order: list[Definition] = [(p, None) for p in function.params]
        for s in _walk(function.body):
            for name in sorted(bound(s)):
                self.order.append((name, id(s)))
            for name in _read(s):
                # an augmented assignment goes on with the web that it reads
                own = [(name, id(s))] if isinstance(s, gast.AugAssign) and name in bound(s) else []
                self._unite([*self.flow.of(s, name), *own])

    def find(self, d: Definition) -> Definition:
        """The representative of a definition's web."""
        while d in self.parent:
            d = self.parent[d]
        return d

    def _unite(self, definitions: list[Definition]) -> None:
        for d in definitions[1:]:
            a, b = self.find(definitions[0]), self.find(d)
            if a != b:
                self.parent[b] = a

    def of(self, name: str) -> list[Definition]:
        """The webs of a name, in order of their first definition."""
        return list(dict.fromkeys(self.find(d) for d in self.order if d[0] == name))


def _walk(body: Iterable[gast.stmt]) -> Iterator[gast.stmt]:
    for s in body:
        yield s
        for block in ("body", "orelse"):
            yield from _walk(getattr(s, block, []))


def _own(s: gast.stmt) -> list[gast.AST]:
    """The expressions that belong to a statement itself, not to the statements inside it."""
    if isinstance(s, (gast.If, gast.While)):
        return [s.test]
    if isinstance(s, gast.For):
        return [s.target, s.iter]
    return [s]


def _read(s: gast.stmt) -> set[str]:
    names = {n.id for part in _own(s) for n in gast.walk(part) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)}
    return names | (bound(s) if isinstance(s, gast.AugAssign) else set())


def arrays(function: Function) -> Callable[[str], bool]:
    """The default choice of `split`: names that are bound, at least once, to something that may be an array; never the names of loops."""
    values: dict[str, list[gast.expr]] = {}
    loops: set[str] = set()
    for s in _walk(function.body):
        if isinstance(s, gast.For):
            loops |= T.stores(s.target)
        elif isinstance(s, gast.Assign):
            for name in bound(s):
                values.setdefault(name, []).append(s.value)
    found = set(function.params)
    changed = True
    while changed:
        new = {n for n, bindings in values.items() if any(_may_be_array(v, found, values) for v in bindings)} - found
        changed = bool(new)
        found |= new
    return lambda name: name in found and name not in loops


def _may_be_array(e: gast.expr, found: set[str], values: dict[str, list[gast.expr]]) -> bool:
    if isinstance(e, gast.Name):
        return e.id in found
    if isinstance(e, gast.List):
        return True
    if isinstance(e, gast.Attribute):
        return e.attr not in ("shape", "size", "ndim")
    if isinstance(e, gast.Subscript):
        return _may_be_array(e.value, found, values)
    if isinstance(e, gast.Call):
        callee = T.dotted(e.func) or ""
        return callee not in SCALAR_CALLS and not callee.startswith("math.")
    return any(_may_be_array(child, found, values) for child in gast.iter_child_nodes(e) if isinstance(child, gast.expr))


def split(function: Function, predicate: Callable[[str], bool] | None = None) -> Function:
    """The same function with one name a web, for the names that `predicate` chooses (default: `arrays`).

    The web of a parameter's value at entry, otherwise the first, keeps the name; later ones are `x_2`, `x_3`, ... In-place writes belong to
    the web they change.
    """
    choose = predicate or arrays(function)
    webs = Webs(function)
    fresh = T.Fresh(T.all_names(function.body) | set(function.params) | set(function.externals))
    new: dict[Definition, str] = {}
    for name in dict.fromkeys(name for name, _ in webs.order):
        if choose(name):
            for web in webs.of(name)[1:]:
                new[web] = fresh(name)
    return function.with_body(_renamed(list(function.body), webs, new)) if new else function


def _renamed(body: list[gast.stmt], webs: Webs, new: dict[Definition, str]) -> list[gast.stmt]:
    out = []
    for s in body:
        loads = {n: new.get(webs.find(next(iter(defs))), n) for n in _read(s) if (defs := webs.flow.of(s, n))}
        binds = {n: new.get(webs.find((n, id(s))), n) for n in bound(s)}
        out.append(_rename(s, loads, binds, webs, new))
    return out


def _rename(s: gast.stmt, loads: dict[str, str], binds: dict[str, str], webs: Webs, new: dict[Definition, str]) -> gast.stmt:
    blocks = {f: getattr(s, f) for f in ("body", "orelse") if hasattr(s, f)}
    renames = any(old != name for names in (loads, binds) for old, name in names.items())
    if not renames and not blocks:
        return s
    copy = gast.copy_location(type(s)(**{f: [] if f in blocks else getattr(s, f) for f in s._fields if hasattr(s, f)}), s)
    if renames:
        copy, = T.copied([copy])
        for part in _own(copy):
            for n in gast.walk(part):
                if isinstance(n, gast.Name):
                    n.id = (loads if isinstance(n.ctx, gast.Load) else binds).get(n.id, n.id)
    for f, block in blocks.items():
        setattr(copy, f, _renamed(block, webs, new))
    return copy
