"""Arrays of which only the shape is used are not computed: the shape follows from the operands, whose contents then need not be there.

Without this, `np.full_like(t, out_bar)` in the adjoint of `t = a * w; return np.sum(t)` would keep alive all that makes the contents of `a`.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.shapes import Shapes
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.types import Array, Scalar, Type, is_array
from s2sad.transforms.slice import groups_of

FILLED = {"np.full_like": "np.full", "np.zeros_like": "np.zeros"}
POINTWISE = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow)


def sizes(body: list[gast.stmt], names: Mapping[str, Type], shapes: Shapes, params: Collection[str]) -> list[gast.stmt]:
    """The body, in which shapes of such arrays are those that their operands broadcast to; the arrays are for `slice` to take out.

    >>> from s2sad.lang.printer import to_source
    >>> names = {"a": Array("float64", 1), "w": Array("float64", 1), "t": Array("float64", 1), "g": Scalar("float64")}
    >>> body = T.stmts("t = a * w\\nt_bar = np.full_like(t, g)\\nreturn w * t_bar")
    >>> print(to_source(sizes(body, names, Shapes(names, {}, {}, frozenset(), frozenset()), ("a", "w"))[1:]), end="")
    t_bar = np.full(np.broadcast_shapes(a.shape, w.shape), g)
    return w * t_bar
    """
    bindings: dict[str, list[gast.stmt]] = {}
    reads: set[str] = set()
    for s in E.walk(body):
        effects = E.effects(s, names)
        for n in effects.binds:
            bindings.setdefault(n, []).append(s)
        reads |= effects.reads | effects.writes
    for s in body:
        if isinstance(s, gast.Return) and s.value is not None:
            reads |= T.loads(s.value)
    first = {id(s) for s in body}

    def lasting(n: str) -> bool:
        """Whether a name is one array throughout, wherever it is known."""
        found = bindings.get(n, [])
        if n in params:
            return all(is_own_copy(s) for s in found)
        return len(found) == 1 and id(found[0]) in first

    found: dict[str, list[gast.expr]] = {}
    for n, (s, *more) in bindings.items():
        t = names.get(n)
        if not more and n not in reads and n not in params and isinstance(s, gast.Assign) and isinstance(t, Array) and t.layout == "C":
            parts = operands(s.value, names)
            if parts and all(lasting(T.base_name(p)) for p in parts):
                found[n] = distinct(parts, shapes)
    return [_Shaped(found, names).visit(copy.deepcopy(s)) for s in body] if found else body


def is_own_copy(s: gast.stmt) -> bool:
    """Whether this is `x = x.copy()`, by which a parameter that the function changes is left alone for the caller."""
    return isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and T.same(s.value, T.expr(f"{s.targets[0].id}.copy()"))


def without_copies(body: list[gast.stmt], names: Mapping[str, Type], params: Collection[str]) -> list[gast.stmt]:
    """The body without copies of parameters that nothing in it changes any more.

    >>> from s2sad.lang.printer import to_source
    >>> names = {n: Array("float64", 1) for n in "abc"}
    >>> body = T.stmts("a = a.copy()\\nb = b.copy()\\nc = b[1:]\\nc[0] = a[0]\\nreturn b")
    >>> print(to_source(without_copies(body, names, ("a", "b"))), end="")
    b = b.copy()
    c = b[1:]
    c[0] = a[0]
    return b
    """
    groups = groups_of(body, names)
    changed = E.written(body, names)
    for s in body:
        if isinstance(s, gast.Return) and s.value is not None:
            changed |= T.loads(s.value)

    def needless(s: gast.stmt) -> bool:
        if not is_own_copy(s) or (n := s.targets[0].id) not in params:
            return False
        return not groups.get(n, frozenset((n,))) & changed

    return [s for s in body if not needless(s)]


def operands(e: gast.expr, names: Mapping[str, Type]) -> list[gast.expr]:
    """The arrays that a pointwise float expression combines, if it is one of them and numbers; else nothing."""
    if isinstance(e, gast.UnaryOp) and isinstance(e.op, gast.USub):
        return operands(e.operand, names)
    if isinstance(e, gast.BinOp) and isinstance(e.op, POINTWISE):
        sides = [(x, operands(x, names)) for x in (e.left, e.right)]
        return [p for _, found in sides for p in found] if all(found or is_number(x, names) for x, found in sides) else []
    if isinstance(e, gast.Name):
        return [e] if is_array(names.get(e.id)) else []
    if isinstance(e, gast.Call) and isinstance(e.func, gast.Attribute) and e.func.attr == "copy" and not e.args:
        return operands(e.func.value, names)
    constant = isinstance(e, gast.Subscript) and isinstance(e.value, gast.Name) and not T.loads(e.slice)
    parts = e.slice.elts if constant and isinstance(e.slice, gast.Tuple) else [e.slice] if constant else []
    return [e] if any(isinstance(p, gast.Slice) for p in parts) and is_array(names.get(T.base_name(e))) else []


def is_number(e: gast.expr, names: Mapping[str, Type]) -> bool:
    """Whether an expression is made of numbers only."""
    return not any(is_array(names.get(n)) for n in T.loads(e)) and not any(isinstance(n, gast.Call) for n in gast.walk(e))


def distinct(parts: list[gast.expr], shapes: Shapes) -> list[gast.expr]:
    """One of each group of arrays that are known to have the same shape."""
    out: list[gast.expr] = []
    for p in parts:
        if not any(shapes.same(p, q) for q in out):
            out.append(p)
    return out


class _Shaped(gast.NodeTransformer):  # type: ignore[misc]
    """Shapes of some arrays in other words."""

    def __init__(self, found: Mapping[str, list[gast.expr]], names: Mapping[str, Type]):
        self.found, self.names = found, names

    def shape(self, n: str) -> gast.expr:
        parts: list[gast.expr] = [gast.Attribute(A.clone(T.loaded(p)), "shape", gast.Load()) for p in self.found[n]]
        return parts[0] if len(parts) == 1 else gast.Call(T.expr("np.broadcast_shapes"), parts, [])

    def visit_Attribute(self, node: gast.Attribute) -> gast.expr:
        if node.attr == "shape" and isinstance(node.value, gast.Name) and node.value.id in self.found:
            return self.shape(node.value.id)
        return self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> gast.expr:
        node = self.generic_visit(node)
        f = T.dotted(node.func) or ""
        if f not in FILLED or not isinstance(node.args[0], gast.Name) or node.args[0].id not in self.found:
            return node
        n = node.args[0].id
        parts, t = self.found[n], self.names[n]
        assert isinstance(t, Array)
        if len(parts) == 1 and isinstance(parts[0], gast.Name) and self.names.get(parts[0].id) == t:
            return gast.Call(node.func, [A.clone(parts[0]), *node.args[1:]], node.keywords)
        value = node.args[1] if len(node.args) > 1 else None
        plain = t.dtype == "float64" and (value is None or not isinstance(value, gast.Name) or self.is_double(value.id))
        dtype = [] if plain else [T.expr(f"np.{t.dtype}")]
        return gast.Call(T.expr(FILLED[f]), [self.shape(n), *node.args[1:], *dtype], [])

    def is_double(self, n: str) -> bool:
        t = self.names.get(n)
        return isinstance(t, Scalar) and t.dtype == "float64"
