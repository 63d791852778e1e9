"""Which exceptions an expression or a statement may raise, by the class that Python raises."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sad import rules
from s2sad.analysis import effects as E
from s2sad.analysis.shapes import Shapes
from s2sad.analysis.types import type_of
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.types import List, Scalar, Tuple, is_array, is_float

#: What stands for every exception: a function of which nothing is known.
ANYTHING = frozenset(("anything",))
INDEX, VALUE, ZERO = frozenset(("IndexError",)), frozenset(("ValueError",)), frozenset(("ZeroDivisionError",))
#: Functions of one argument, or of arrays of any shape, that never raise.
TOTAL = frozenset(
    "len abs float bool stop_gradient np.sum np.mean np.prod np.any np.all np.var np.std np.cumsum np.cumprod np.sort np.argsort np.copy "
    "np.zeros_like np.ones_like np.empty_like np.float64 np.float32 np.linalg.norm math.cos math.sin math.tanh math.atan math.atan2 math.fabs".split()
)
#: Functions of `math` that may be too large.
GROWING = frozenset("math.exp math.expm1 math.exp2 math.cosh math.sinh math.pow".split())


def may_raise(e: gast.AST, shapes: Shapes) -> frozenset[str]:
    """The exceptions that evaluating an expression may raise.

    >>> from s2sad.transforms.example import program
    >>> from s2sad.analysis import aliases, shapes
    >>> f = program("return x[n] + math.sqrt(a) / a", "x: f8[:]; n: i8; a: f8")
    >>> sorted(may_raise(f.body[0].value, shapes.analyse(f, aliases.analyse(f))))
    ['IndexError', 'ValueError', 'ZeroDivisionError']
    """
    found = _own(e, shapes)
    for child in _operands(e):
        found |= may_raise(child, shapes)
    return found


def statements_raise(body: Iterable[gast.stmt], shapes: Shapes) -> frozenset[str]:
    """The exceptions that statements may raise."""
    found: frozenset[str] = frozenset()
    for s in E.walk(body):
        if isinstance(s, gast.Raise):
            found |= ANYTHING
        elif isinstance(s, (gast.If, gast.While)):
            found |= may_raise(s.test, shapes)
        elif isinstance(s, gast.For):
            found |= may_raise(s.iter, shapes)
        elif isinstance(s, gast.Assign):
            found |= may_raise(s.value, shapes) | _written(s.targets[0], s.value, shapes)
        elif isinstance(s, gast.AugAssign):
            found |= may_raise(gast.BinOp(T.loaded(s.target), s.op, s.value), shapes) | _written(s.target, s.value, shapes)
        elif isinstance(s, (gast.Expr, gast.Return)) and s.value is not None:
            found |= may_raise(s.value, shapes)
    return found


def _operands(e: gast.AST) -> list[gast.AST]:
    """The parts of an expression that are evaluated (the function of a call is not a value)."""
    children = list(gast.iter_child_nodes(e))
    if isinstance(e, gast.Call):
        children[0:1] = [e.func.value] if isinstance(e.func, gast.Attribute) and (T.dotted(e.func) or "").split(".")[0] not in ("np", "math") else []
    return children


def _written(target: gast.expr, value: gast.expr, shapes: Shapes) -> frozenset[str]:
    """The exceptions of storing a value."""
    if isinstance(target, gast.Name):
        return frozenset()
    to = T.loaded(target)
    fits = not is_array(type_of(to, shapes.names)) or not is_array(type_of(value, shapes.names)) or shapes.same(to, value)
    return may_raise(to, shapes) | (frozenset() if fits else VALUE)


def _own(e: gast.AST, shapes: Shapes) -> frozenset[str]:
    """The exceptions that the operation at the top may raise."""
    names = shapes.names
    if isinstance(e, gast.Subscript):
        parts = e.slice.elts if isinstance(e.slice, gast.Tuple) else [e.slice]
        if isinstance(type_of(e.value, names), Tuple) or all(isinstance(p, gast.Slice) for p in parts):
            return frozenset()
        return INDEX
    if isinstance(e, gast.BinOp):
        left, right = type_of(e.left, names), type_of(e.right, names)
        if isinstance(left, Scalar) and isinstance(right, Scalar):
            return _of_numbers(e, left.weak and right.weak, is_float(left) or is_float(right))
        if isinstance(e.op, gast.MatMult):
            return VALUE
        if isinstance(left, List) or isinstance(right, List):
            return frozenset()
        return _broadcast([e.left, e.right], shapes)
    if isinstance(e, gast.Compare):
        return _broadcast([e.left, *e.comparators], shapes)
    if isinstance(e, gast.Call):
        return _of_call(e, shapes)
    return frozenset()


def _broadcast(operands: list[gast.expr], shapes: Shapes) -> frozenset[str]:
    """ValueError if arrays may not fit each other."""
    arrays = [o for o in operands if is_array(type_of(o, shapes.names))]
    return frozenset() if all(shapes.same(arrays[0], a) for a in arrays[1:]) else VALUE


def _of_numbers(e: gast.BinOp, weak: bool, floats: bool) -> frozenset[str]:
    if not weak:
        return frozenset()
    if isinstance(e.op, (gast.Div, gast.FloorDiv, gast.Mod)):
        return ZERO if A.number(e.right) in (None, 0) else frozenset()
    if isinstance(e.op, gast.Pow):
        k = A.number(e.right)
        if k is not None and k >= 0 and float(k).is_integer():
            return frozenset(("OverflowError",)) if floats and k > 1 else frozenset()
        return ZERO | VALUE | {"OverflowError"}
    return frozenset()


def _of_call(e: gast.Call, shapes: Shapes) -> frozenset[str]:
    callee = T.dotted(e.func) or ""
    if callee in TOTAL and len(e.args) == 1 or isinstance(e.func, gast.Attribute) and e.func.attr in ("copy", "astype"):
        return frozenset()
    if callee in GROWING:
        return VALUE | {"OverflowError"}
    if callee.startswith("math."):
        return VALUE
    found = rules.TABLE.get(callee)
    if found is not None and callee.startswith("np."):
        return VALUE if found[0].kind == "vjp" or any(k.value for k in e.keywords) else _broadcast(list(e.args), shapes)
    return ANYTHING
