"""Bounds: which subscripts are certainly in range, and a function that checks the others before the compiled code runs without checks.

The inspector is the integer part of the program: its loops and index arithmetic with every doubtful access replaced by a comparison. It returns
False if some access may be out of range, and the caller then runs the same code compiled with bounds checks. It may look at more accesses than
the program makes (both sides of a branch on a float), never at fewer. Where the integers cannot be had without the floats there is no inspector
(None), and the checked code always runs.

The adjoint repeats the subscripts of the primal, on arrays of the same shapes, so that the primal's accesses are all there is to check.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.aliases import Aliases
from s2sad.analysis.draws import is_draw
from s2sad.analysis.liveness import Liveness, is_break
from s2sad.analysis.shapes import Shapes, as_bound, is_expression
from s2sad.analysis.types import region
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import Type, is_array, is_float, is_int
from s2sad.transforms.slice import keep


class _GiveUp(Exception):
    """The integers of the program depend on its floats."""


Linear = dict[str, int]  # coefficients by canonical name; the constant under ""


@dataclass
class Ranges:
    """The ranges of loop variables, and proofs that subscripts are in range."""

    function: Function
    shapes: Shapes
    ranges: dict[str, tuple[gast.expr, gast.expr]] = field(default_factory=dict)  # loop variable -> first and last value it may have

    @contextmanager
    def inside(self, s: gast.For, names: Mapping[str, Type]) -> Iterator[None]:
        """Within a loop its variable has a range (unless the body changes it)."""
        assert isinstance(s.iter, gast.Call)
        args = s.iter.args
        start = T.const(0) if len(args) == 1 else args[0]
        stop = args[0] if len(args) == 1 else args[1]
        step = A.number(args[2]) if len(args) == 3 else 1
        v = s.target.id
        saved = dict(self.ranges)
        self.ranges.pop(v, None)
        if isinstance(step, int) and step and v not in E.bound(s.body, names):
            last = gast.BinOp(A.clone(stop), gast.Sub() if step > 0 else gast.Add(), T.const(1))
            self.ranges[v] = (start, last) if step > 0 else (last, start)
        yield
        self.ranges = saved

    # -- proofs ------------------------------------------------------------------------------------
    def linear(self, e: gast.expr, depth: int = 0) -> Linear | None:
        """An integer expression as a linear form of parameters, lengths and loop variables."""
        if depth > 20:
            return None
        value = A.number(e)
        if isinstance(value, int):
            return {"": value}
        if isinstance(e, gast.Name):
            if e.id in self.ranges or e.id in self.shapes.fixed:
                return {e.id: 1}
            single = self.shapes.single.get(e.id)
            if single is not None and is_int(self.function.names.get(e.id)) and e.id not in self.shapes.variant:
                return self.linear(single, depth + 1)
            return None
        if isinstance(e, gast.BinOp) and isinstance(e.op, (gast.Add, gast.Sub)):
            a, b = self.linear(e.left, depth + 1), self.linear(e.right, depth + 1)
            return None if a is None or b is None else plus(a, b, 1 if isinstance(e.op, gast.Add) else -1)
        if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Mult):
            k, rest = A.number(e.left), e.right
            if not isinstance(k, int):
                k, rest = A.number(e.right), e.left
            if not isinstance(k, int):
                return None
            inner = self.linear(rest, depth + 1)
            return None if inner is None else {n: c * k for n, c in inner.items()}
        text = self.shapes.length(e)
        return None if text is None or not is_expression(text) else self.of_text(text)

    def of_text(self, text: str) -> Linear | None:
        """A canonical length (see `shapes`) as a linear form."""
        if not is_expression(text):
            return None
        e = T.expr(text)
        value = A.number(e)
        if isinstance(value, int):
            return {"": value}
        if isinstance(e, gast.BinOp):  # a quotient is no linear form
            return self.linear(e) if isinstance(e.op, (gast.Add, gast.Sub, gast.Mult)) else None
        if isinstance(e, gast.UnaryOp):
            inner = self.of_text(text.lstrip("-"))
            return None if inner is None else {n: -c for n, c in inner.items()}
        return {text: 1}

    def not_negative(self, form: Linear | None, depth: int = 0) -> bool:
        """Whether a linear form is certainly >= 0 while the loops around run: loop variables at their ends, lengths >= 0."""
        if form is None or depth > 8:
            return False
        for v in reversed(list(self.ranges)):
            c = form.get(v, 0)
            if c:
                low, high = self.ranges[v]
                end = self.linear(low if c > 0 else high)
                if end is None:
                    return False
                rest = {n: k for n, k in form.items() if n != v}
                return self.not_negative(plus(rest, end, c), depth + 1)
        return form.get("", 0) >= 0 and all(c == 0 or (c > 0 and ".shape[" in n) for n, c in form.items() if n)

    def in_range(self, index: gast.expr, length: str) -> bool:
        """Whether 0 <= index < length for sure."""
        i, n = self.linear(index), self.of_text(length)
        if i is None or n is None:
            return False
        return self.not_negative(i) and self.not_negative(plus(plus(n, i, -1), {"": 1}, -1))

    def extreme(self, form: Linear, sign: int, depth: int = 0) -> Linear | None:
        """The largest (sign 1) or smallest value of a linear form while the loops around run, in terms of parameters."""
        if depth > 8:
            return None
        for v in reversed(list(self.ranges)):
            c = form.get(v, 0)
            if c:
                low, high = self.ranges[v]
                end = self.linear(high if c * sign > 0 else low)
                return None if end is None else self.extreme(plus({n: k for n, k in form.items() if n != v}, end, c), sign, depth + 1)
        return form


@dataclass
class _Inspector(Ranges):
    written: set[str] = field(default_factory=set)
    tainted: set[str] = field(default_factory=set)
    doubtful: bool = False
    first: dict[tuple[tuple[str, int], ...], gast.stmt] = field(default_factory=dict)  # comparisons that need no loop

    def ahead(self, index: gast.expr, length: str) -> bool:
        """Compare the ends of a linear index with the length once, before all loops; False if it cannot be done."""
        form, n = self.linear(index), self.of_text(length)
        if form is None or n is None:
            return False
        high, low = self.extreme(form, 1), self.extreme(form, -1)
        if high is None or low is None:
            return False
        above = plus(plus(n, high, -1), {"": 1}, -1)
        below = plus(low, n, 1)
        for bound in (above, below):
            if not self.not_negative(bound):
                key = tuple(sorted((t, c) for t, c in bound.items() if c))
                test = gast.Compare(tree_of(bound), [gast.Lt()], [T.const(0)])
                self.first.setdefault(key, gast.If(test, [gast.Return(T.const(False))], []))
        return True

    # -- accesses ----------------------------------------------------------------------------------
    def checks(self, node: gast.AST | None, s: gast.stmt) -> list[gast.stmt]:
        """Comparisons for the doubtful accesses of an expression, inner subscripts first."""
        out: list[gast.stmt] = []

        def visit(n: gast.AST) -> None:
            for child in gast.iter_child_nodes(n):
                visit(child)
            if isinstance(n, gast.Subscript) and self.is_array(n.value):
                out.extend(self.access(n))

        if node is not None:
            visit(node)
        return out

    def is_array(self, e: gast.expr) -> bool:
        if isinstance(e, gast.Attribute) and e.attr == "shape":
            return False
        if isinstance(e, gast.Name):
            return is_array(self.function.names.get(e.id))
        if isinstance(e, (gast.Subscript, gast.Attribute)):
            return self.is_array(e.value)
        return True

    def access(self, n: gast.Subscript) -> list[gast.stmt]:
        read = T.loaded(n)
        if region(read, self.function.names) in ("fancy", "mask"):
            raise _GiveUp
        dims = self.shapes.of(n.value)
        parts = list(n.slice.elts) if isinstance(n.slice, gast.Tuple) else [n.slice]
        if any(isinstance(p, gast.Constant) and (p.value is None or p.value is ...) for p in parts):
            if all(isinstance(p, (gast.Slice, gast.Constant)) for p in parts):
                return []
            raise _GiveUp
        out = []
        for k, p in enumerate(parts):
            if isinstance(p, gast.Slice):
                continue  # NumPy cuts slices to what there is
            if dims is None:
                raise _GiveUp
            if self.in_range(p, dims[k]):
                continue
            bound = as_bound(dims[k])
            if bound is None:
                raise _GiveUp
            self.doubtful = True
            if self.ahead(p, dims[k]):
                continue
            length = T.expr(bound)
            low = gast.Compare(gast.UnaryOp(gast.USub(), A.clone(length)), [gast.LtE()], [A.clone(p)])
            high = gast.Compare(A.clone(p), [gast.Lt()], [A.clone(length)])
            test = gast.BoolOp(gast.And(), [low, high])
            out.append(gast.If(gast.UnaryOp(gast.Not(), test), [gast.Return(T.const(False))], []))
        return out

    # -- statements --------------------------------------------------------------------------------
    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        names = self.function.names
        out: list[gast.stmt] = []
        for s in body:
            if isinstance(s, gast.If):
                if is_break(s):
                    continue  # handled by the loop
                test = self.checks(s.test, s)
                inner, orelse = self.block(s.body), self.block(s.orelse)
                out += test
                if self.integer(s.test):
                    if inner or orelse:
                        out.append(gast.If(s.test, inner or [gast.Pass()], orelse))
                else:
                    self.tainted |= {n for n in E.bound([s], names) if not is_float(names.get(n))}
                    out += [*inner, *orelse]
            elif isinstance(s, gast.For):
                out += self.loop(s)
            elif isinstance(s, gast.While):
                out += self.checks(s.test, s)
                if not self.integer(s.test):
                    before, self.doubtful = self.doubtful, False
                    inner = self.block(s.body)
                    if self.doubtful:
                        raise _GiveUp
                    self.doubtful = before
                    self.tainted |= {n for n in E.bound(s.body, names) if not is_float(names.get(n))}
                else:
                    tail = [T.shallow(x) for x in s.body if is_break(x)]
                    if tail and not self.integer(tail[0].test):
                        raise _GiveUp
                    out.append(gast.While(s.test, [*self.block(s.body), *tail], []))
            elif isinstance(s, gast.Return):
                out += self.checks(s.value, s)
            elif isinstance(s, (gast.Assign, gast.AugAssign)):
                target = s.targets[0] if isinstance(s, gast.Assign) else s.target
                out += self.checks(s.value, s)
                if isinstance(target, gast.Subscript):
                    out += self.checks(target, s)
                    self.written.add(T.base_name(target))
                elif is_draw(s.value):
                    self.tainted.add(target.id)  # drawing here as well would change what is drawn later
                elif not is_float(names.get(target.id)):
                    out.append(T.shallow(s))
        return out

    def loop(self, s: gast.For) -> list[gast.stmt]:
        names = self.function.names
        assert isinstance(s.iter, gast.Call)
        out = [c for a in s.iter.args for c in self.checks(a, s)]
        v = s.target.id
        with self.inside(s, names):
            inner = self.block(s.body)
        tail = [T.shallow(x) for x in s.body if is_break(x)]
        if tail and not self.integer(tail[0].test):
            # without the break the loop goes on: more accesses, and other values after it
            self.tainted |= {n for n in E.bound([s], names) if not is_float(names.get(n))}
            tail = []
        if not self.integer(s.iter):
            raise _GiveUp
        out.append(gast.For(T.store(v), A.clone(s.iter), [*inner, *tail] or [gast.Pass()], [], None))
        return out

    def integer(self, e: gast.AST) -> bool:
        """Whether an expression reads no float value."""
        values, _ = E.reads_of(e)
        return not any(is_float(self.function.names.get(n)) for n in values)


class _Lengths(gast.NodeTransformer):  # type: ignore[misc]
    """Lengths of local arrays in terms of what the inspector knows."""

    def __init__(self, shapes: Shapes):
        self.shapes = shapes

    def replaced(self, node: gast.expr, length: str | None) -> gast.expr:
        return node if length is None or not is_expression(length) else T.expr(length)

    def visit_Subscript(self, node: gast.Subscript) -> gast.expr:
        if isinstance(node.value, gast.Attribute) and node.value.attr == "shape":
            return self.replaced(node, self.shapes.length(node))
        return self.generic_visit(node)

    def visit_Attribute(self, node: gast.Attribute) -> gast.expr:
        if node.attr == "size":
            return self.replaced(node, self.shapes.length(node))
        return self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> gast.expr:
        if T.dotted(node.func) == "len":
            return self.replaced(node, self.shapes.length(node))
        return self.generic_visit(node)


def plus(a: Linear, b: Linear, k: int) -> Linear:
    """a + k * b."""
    return {n: a.get(n, 0) + k * b.get(n, 0) for n in {*a, *b}}


def tree_of(form: Linear) -> gast.expr:
    """A linear form as an expression."""
    out: gast.expr = T.const(0)
    for n, c in sorted(form.items(), key=lambda x: (x[0] == "", -x[1], x[0])):
        if c:
            out = A.add(out, A.mul(A.literal(c), T.expr(n)) if n else A.literal(c))
    return out


@dataclass(frozen=True)
class Bounds:
    """`proven`: every access is in range; otherwise `body` is the inspector's, or None where there is none."""

    proven: bool
    body: list[gast.stmt] | None


def bounds(function: Function, aliases: Aliases, shapes: Shapes) -> Bounds:
    """What is known of a function's subscripts (see the module).

    >>> from s2sad.analysis.aliases import analyse
    >>> from s2sad.analysis.shapes import analyse as shapes_of
    >>> from s2sad.transforms.example import program
    >>> f = program("s = 0.0\\nfor i in range(len(x)):\\n    s += x[i]\\nreturn s")
    >>> bounds(f, analyse(f), shapes_of(f, analyse(f)))
    Bounds(proven=True, body=None)
    """
    inspector = _Inspector(function, shapes)
    try:
        body = inspector.block(list(function.body))
    except _GiveUp:
        return Bounds(False, None)
    if not inspector.doubtful:
        return Bounds(True, None)
    body = [_Lengths(shapes).visit(s) for s in copy.deepcopy(body)]
    body = [*inspector.first.values(), *body, gast.Return(T.const(True))]
    live = Liveness(function.names, aliases.groups, shapes)
    needs = live.block(body, frozenset())
    body = checked(keep(body, live.alive))
    if any(n not in function.params or (key != "shape" and is_float(function.names.get(n))) for n, key in needs):
        return Bounds(False, None)
    used = {n for s in body for n in T.loads(s)}
    bound = E.bound(body, function.names)
    floats = any(is_float(function.names.get(n)) for s in E.walk(body) for n in E.effects(s, function.names).reads)
    written = any(n in used for n in inspector.written) or any(n in used for n in E.written(body, function.names))
    # a name with a value that the inspector may have wrong must not decide anything
    if floats or written or loop_tainted(body, inspector.tainted & used & bound):
        return Bounds(False, None)
    return Bounds(False, once(body, function, aliases, shapes))


def once(body: list[gast.stmt], function: Function, aliases: Aliases, shapes: Shapes) -> list[gast.stmt]:
    """The body with loops whose trips are all alike run for one trip only."""
    out = []
    for s in body:
        s = copy.copy(s)
        if isinstance(s, gast.If):
            s.body, s.orelse = once(s.body, function, aliases, shapes), once(s.orelse, function, aliases, shapes)
        elif isinstance(s, (gast.For, gast.While)):
            s.body = once(s.body, function, aliases, shapes)
            if isinstance(s, gast.For) and not any(is_break(x) for x in s.body):
                live = Liveness(function.names, aliases.groups, shapes, alive={id(x) for x in E.walk(s.body)})
                found = {n for n, _ in live.block(s.body, frozenset())}
                if not found & (E.bound([s], function.names) | E.written([s], function.names)):
                    out.append(gast.If(gast.Compare(gast.Call(T.name("len"), [s.iter], []), [gast.Gt()], [T.const(0)]), s.body, []))
                    continue
        out.append(s)
    return out


def loop_tainted(body: list[gast.stmt], tainted: set[str]) -> bool:
    """Whether a doubtful name is read outside of the loop that counts with it."""

    def visit(stmts: list[gast.stmt], inside: frozenset[str]) -> bool:
        for s in stmts:
            e = E.effects(s, {})
            if (e.reads | e.metas) & (tainted - inside):
                return True
            deeper = inside | {s.target.id} if isinstance(s, gast.For) else inside
            if any(visit(b, deeper) for b in E.children(s)):
                return True
        return False

    return visit(body, frozenset())


def checked(body: list[gast.stmt]) -> list[gast.stmt]:
    """The body without loops that contain no comparison any more."""
    out = []
    for s in body:
        s = copy.copy(s)
        if isinstance(s, (gast.For, gast.While)):
            s.body = checked(s.body)
            if not s.body:
                continue
        out.append(s)
    return out
