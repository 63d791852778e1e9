"""The types of names and expressions, in NumPy's terms (Numba promotes differently; `transforms.legalize` makes the two agree).

`infer` is flow-insensitive: a name has one type, the join of everything that is assigned to it. `type_of` is a pure function of an
expression and the types of its names. Python numbers are *weak*: they take the dtype of what they meet, as NumPy 2 has it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import gast
import numpy as np

from s2sad import rules
from s2sad.analysis import calls
from s2sad.analysis.draws import DRAWS, DrawError, draw_type
from s2sad.analysis.external import NotTyped, returned
from s2sad.errors import TypeInferenceError, problem
from s2sad.lang import tree as T
from s2sad.lang.routines import Family, Routine, argument_type
from s2sad.lang.tree import Function, SourceMap
from s2sad.lang.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Array, Generator, List, Scalar, Static, Tuple, Type, is_array, is_float
from s2sad.rules.forms import KEYWORDS

DTYPES = ("float64", "float32", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
PYTHON = {"float64": float, "int64": int}
UFUNCS = {"Add": "add", "Sub": "subtract", "Mult": "multiply", "Div": "divide", "FloorDiv": "floor_divide", "Mod": "remainder", "Pow": "power",
          "BitAnd": "bitwise_and", "BitOr": "bitwise_or", "BitXor": "bitwise_xor", "LShift": "left_shift", "RShift": "right_shift",
          "USub": "negative", "UAdd": "positive", "Invert": "invert"}
OPERATORS: dict[str, Callable[..., Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv, "FloorDiv": operator.floordiv, "Mod": operator.mod,
    "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor, "LShift": operator.lshift, "RShift": operator.rshift,
    "USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert}


class TypeProblem(Exception):
    """An expression has no type; `infer` adds the place and raises `TypeInferenceError`."""

    def __init__(self, node: gast.AST, summary: str, instead: str, why: str = "", code: str = "S2S501"):
        super().__init__(summary)
        self.node, self.summary, self.instead, self.why, self.code = node, summary, instead, why, code


class UnknownName(TypeProblem):
    """A name has no type yet."""


# --- dtypes -----------------------------------------------------------------------------


def static_dtype(value: object) -> str | None:
    """The name of the dtype that a compile-time value stands for, or None.

    >>> static_dtype(np.dtype("float32")), static_dtype("i4"), static_dtype(None)
    ('float32', 'int32', None)
    """
    if value is None or not isinstance(value, (np.dtype, type, str)):
        return None
    try:
        return str(np.dtype(value))
    except TypeError:
        return None


def _weak(value: object) -> Scalar:
    return WEAK_BOOL if isinstance(value, bool) else WEAK_INT if isinstance(value, int) else WEAK_FLOAT


def _operand(t: Scalar | Array) -> Any:
    return PYTHON.get(t.dtype, np.dtype(bool)) if isinstance(t, Scalar) and t.weak else np.dtype(t.dtype)


@lru_cache(4096)
def ufunc_dtype(name: str, operands: tuple[Scalar | Array, ...]) -> str:
    """The dtype of a one-result NumPy ufunc; raises TypeError if it has no loop for these operands.

    >>> ufunc_dtype("multiply", (Array("float32", 1), WEAK_FLOAT)), ufunc_dtype("multiply", (Array("float32", 1), Scalar("float64")))
    ('float32', 'float64')
    """
    ufunc = getattr(np, name)
    return str(ufunc.resolve_dtypes((*map(_operand, operands), None))[-1])


def common_dtype(operands: tuple[Scalar | Array, ...]) -> str:
    """The dtype that operands of one operation get, however many they are.

    >>> common_dtype((WEAK_FLOAT, Array("float32", 1), WEAK_INT)), common_dtype((Array("float32", 1), Scalar("float64"), WEAK_INT))
    ('float32', 'float64')
    """
    return str(np.result_type(*(np.dtype(t.dtype).type(0).item() if isinstance(t, Scalar) and t.weak else np.dtype(t.dtype) for t in operands)))


def broadcast(dtype: str, operands: tuple[Type, ...]) -> Scalar | Array:
    """The type of an elementwise result: a NumPy scalar, or an array laid out as Numba does it ("F" if operands are "F" and none is "C")."""
    arrays = [t for t in operands if isinstance(t, Array)]
    if not arrays:
        return Scalar(dtype)
    ndim = max(a.ndim for a in arrays)
    layouts = {a.layout for a in arrays}
    ones = frozenset(k for k in range(ndim) if all(a.ndim - ndim + k < 0 or a.ndim - ndim + k in a.ones for a in arrays))
    return Array(dtype, ndim, "F" if "F" in layouts and "C" not in layouts else "C", ones)


def join(a: Type, b: Type) -> Type | None:
    """The type of a name that holds either; None if there is none.

    Weak with strong is strong, int with float is float, layouts that differ become "A".

    >>> str(join(WEAK_FLOAT, Scalar("float32"))), str(join(WEAK_INT, WEAK_FLOAT)), join(WEAK_FLOAT, Array("float64", 1))
    ('float32', 'float', None)
    """
    if a == b:
        return a
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        if a.weak and b.weak:
            return _weak(PYTHON.get(a.dtype, bool)(0) + PYTHON.get(b.dtype, bool)(0))
        if a.dtype == b.dtype:
            return Scalar(a.dtype)
        return Scalar(ufunc_dtype("add", (a, b)))
    if isinstance(a, Array) and isinstance(b, Array):
        if (a.dtype, a.ndim) != (b.dtype, b.ndim):
            return None
        return Array(a.dtype, a.ndim, a.layout if a.layout == b.layout else "A", a.ones & b.ones, a.weak and b.weak)
    if isinstance(a, List) and isinstance(b, List):
        item = join_items(a.item, b.item)
        return None if item is None and (a.item or b.item) else List(item)
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        items = [join(x, y) for x, y in zip(a.items, b.items, strict=True)]
        return None if None in items else Tuple(tuple(i for i in items if i is not None))
    return None


def join_items(a: Type | None, b: Type | None) -> Type | None:
    """The type of the items of a list that holds both; None if there is none. A list of rows is one, whether they are lists or arrays.

    >>> str(join_items(WEAK_INT, WEAK_FLOAT)), join_items(WEAK_FLOAT, Scalar("float32"))
    ('float', None)
    """
    if a is None or b is None or a == Static(None) or b == Static(None):
        return a if b is None or b == Static(None) else b
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        both = join(a, b)
        # a float that became a float32 would lose digits
        return None if "float32" in (a.dtype, b.dtype) and {a.dtype, b.dtype} - {"float32", "int64", "bool"} else both
    if isinstance(a, List) and isinstance(b, Array):
        a, b = b, a
    if isinstance(a, Array) and isinstance(b, List):
        other = as_array(b)
        return Array(a.dtype, a.ndim) if other is not None and (other.dtype, other.ndim) == (a.dtype, a.ndim) else None
    if isinstance(a, Array) and isinstance(b, Array):
        return Array(a.dtype, a.ndim) if (a.dtype, a.ndim) == (b.dtype, b.ndim) else None
    return join(a, b)


def as_array(t: Type | None) -> Array | None:
    """The array that holds a list: of one more axis than its items.

    >>> str(as_array(List(List(WEAK_FLOAT)))), as_array(List(WEAK_FLOAT)).weak
    ('float64[:, ::1]', True)
    """
    if not isinstance(t, List):
        return t if isinstance(t, Array) else None
    if isinstance(t.item, Scalar):
        return Array(t.item.dtype, 1, "C", frozenset(), t.item.weak)
    row = as_array(t.item)
    return None if row is None else Array(row.dtype, row.ndim + 1, "C", frozenset(), row.weak)


def items_of(node: gast.expr, t: Type) -> Type | None:
    """The type of what a sequence holds."""
    if isinstance(t, List):
        return t.item
    if isinstance(t, Array):
        return Scalar(t.dtype, t.weak) if t.ndim == 1 else Array(t.dtype, t.ndim - 1)
    if isinstance(t, Tuple):
        return _mixed(node, t.items)
    raise TypeProblem(node, f"A list of what {t} holds", "list(x) of an array or a list")


def _mixed(node: gast.expr, types: Sequence[Type | None]) -> Type | None:
    """The type of the items of one list."""
    found: Type | None = None
    for t in types:
        t = _item_type(node, t)
        both = join_items(found, t)
        if both is None and (found or t):
            raise TypeProblem(node, f"A list holds {found} and {t}", "a list for each of them", "The items of a list have one type.")
        found = both
    return found


def _item_type(node: gast.expr, t: Type | None) -> Type | None:
    """The type of a value as an item; a tuple of numbers is a row."""
    if isinstance(t, Tuple):
        return List(_mixed(node, t.items))
    if isinstance(t, Array):
        return Array(t.dtype, t.ndim)
    return t


def list_of(node: gast.expr, names: Mapping[str, Type]) -> List | None:
    """The type of an expression that is a list, None for others; a display `[a, b]` is a list here."""
    if isinstance(node, gast.List):
        return List(_mixed(node, [list_of(e, names) or type_of(e, names) for e in node.elts]))
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Add)):
        left, right = list_of(node.left, names), list_of(node.right, names)
        if isinstance(node.op, gast.Add):
            if left is None or right is None:
                return None
            return List(_mixed(node, [left.item, right.item]))
        found, times = (left, node.right) if left is not None else (right, node.left)
        if found is None:
            return None
        t = type_of(times, names)
        return found if isinstance(t, Scalar) and t.dtype not in ("float64", "float32") else None
    if isinstance(node, gast.Name):
        own = names.get(node.id)
        return own if isinstance(own, List) else None
    if isinstance(node, gast.Subscript):
        base = list_of(node.value, names)
        if base is None:
            return None
        return base if isinstance(node.slice, gast.Slice) else base.item if isinstance(base.item, List) else None
    if isinstance(node, gast.Call):
        callee = T.dotted(node.func)
        if callee in ("sorted", "list"):
            return List(items_of(node, list_of(node.args[0], names) or type_of(node.args[0], names))) if node.args else List()
        if isinstance(node.func, gast.Attribute) and node.func.attr in ("copy", "pop") and isinstance(node.func.value, gast.Name):
            base = list_of(node.func.value, names)
            return base if base is None or node.func.attr == "copy" else base.item if isinstance(base.item, List) else None
    return None


def joined_rows(name: str, node: gast.Call, names: Mapping[str, Type]) -> Type | None:
    """The type of `np.concatenate(xs)` and its kin of the name of a list of rows; None for other calls."""
    if name not in ("np.stack", "np.vstack", "np.hstack", "np.concatenate") or len(node.args) != 1 or node.keywords:
        return None
    t = as_array(names.get(node.args[0].id)) if isinstance(node.args[0], gast.Name) and isinstance(names.get(node.args[0].id), List) else None
    if t is None or t.ndim < 2 or name == "np.hstack" and t.ndim > 2:
        return None
    return Array(t.dtype, t.ndim if name == "np.stack" or name == "np.vstack" and t.ndim == 2 else t.ndim - 1)


# --- expressions ------------------------------------------------------------------------


def literal(node: gast.AST | None) -> Any:
    """The value of a literal number, string, None, bool, dtype or tuple of such; `literal.missing` if it is none."""
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        value = literal(node.operand)
        return -value if isinstance(value, (int, float)) else MISSING
    if isinstance(node, (gast.Tuple, gast.List)):
        values = [literal(e) for e in node.elts]
        return MISSING if MISSING in values else tuple(values)
    if isinstance(node, gast.Attribute):
        return _module_value(node)
    if isinstance(node, gast.Name) and node.id in ("float", "int", "bool"):
        return np.dtype(node.id)
    return MISSING


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


def _module_value(node: gast.Attribute) -> Any:
    """The value of `np.pi`, `math.e`, `np.float32`, `np.newaxis`, ..."""
    name = T.dotted(node) or ""
    module = {"np": np, "math": math}.get(name.partition(".")[0])
    value = getattr(module, name.partition(".")[2], MISSING) if module else MISSING
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value)
    return value if value is None or isinstance(value, (bool, int, float, np.dtype)) else MISSING


def type_of(expr: gast.expr, names: Mapping[str, Type]) -> Type:
    """The type of an expression of the language, given the types of its names; raises `TypeProblem` where NumPy would raise TypeError.

    >>> str(type_of(T.expr("2.0 * x + np.pi"), {"x": Array("float32", 2, "A")}))
    'float32[:, ::1]'
    >>> str(type_of(T.expr("x.shape[0] / 2"), {"x": Array("float32", 2)}))
    'float'
    """
    handler = _HANDLERS.get(type(expr).__name__)
    if handler is None:
        raise TypeProblem(expr, f"A {type(expr).__name__} expression has no numeric type", "an arithmetic expression")
    return handler(expr, names)


def _name(node: gast.Name, names: Mapping[str, Type]) -> Type:
    found = names.get(node.id)
    if found is not None:
        return found
    if node.id in ("float", "int", "bool"):
        return Static(np.dtype(node.id))
    raise UnknownName(node, f"`{node.id}` is read, and no value is assigned to it", f"{node.id} = 0.0\nbefore this line")


def _constant(node: gast.Constant, names: Mapping[str, Type]) -> Type:
    return _weak(node.value) if isinstance(node.value, (bool, int, float)) else Static(node.value)


def _items(node: gast.Tuple | gast.List, names: Mapping[str, Type]) -> Type:
    return Tuple(tuple(type_of(e, names) for e in node.elts))


def _values(node: gast.expr, *types: Type) -> tuple[Scalar | Array, ...]:
    out = []
    for t in types:
        if not isinstance(t, (Scalar, Array)):
            raise TypeProblem(node, f"Arithmetic with {t}, which is not a number or an array", "a number or an array")
        out.append(t)
    return tuple(out)


def operate(op: str, node: gast.expr, *types: Type, exponent: Any = MISSING) -> Type:
    """The type of an operator (its gast class name) applied to operand types; `exponent` is the literal right side of a power, if it is one."""
    operands = _values(node, *types)
    if op == "MatMult":
        return _asked(node, "np.matmul", operands, {})
    if all(isinstance(t, Scalar) and t.weak for t in operands):
        return _operate_weak(op, node, operands, exponent)
    if op == "Pow" and operands[0].dtype == "bool" and operands[0] != WEAK_BOOL:
        raise TypeProblem(node, "A power of NumPy bools", "m.astype(np.float64) ** n", "NumPy's dtype for it depends on the value of the exponent.")
    try:
        dtype = ufunc_dtype(UFUNCS[op], operands)
    except TypeError:
        kinds = " and ".join(str(t) for t in operands)
        instead = "~m, or np.logical_not / np.logical_xor, for bool arrays" if "bool" in kinds else "x.astype(np.float64)"
        raise TypeProblem(node, f"NumPy has no `{UFUNCS[op]}` for {kinds}", instead) from None
    _number(dtype, node)
    if op == "Pow" and dtype.startswith(("int", "uint")) and isinstance(exponent, (int, float)) and exponent < 0:
        raise TypeProblem(node, "NumPy does not raise integers to negative integer powers", "x ** -1.0")
    return broadcast(dtype, operands)


def _operate_weak(op: str, node: gast.expr, operands: tuple[Scalar | Array, ...], exponent: Any) -> Type:
    samples = [PYTHON.get(t.dtype, bool)(1) for t in operands]
    if op == "Pow":
        if any(t.dtype == "float64" for t in operands):
            return WEAK_FLOAT
        return WEAK_FLOAT if isinstance(exponent, int) and exponent < 0 else WEAK_INT
    try:
        return _weak(OPERATORS[op](*samples))
    except TypeError:
        raise TypeProblem(node, f"Python has no `{op}` operator for {' and '.join(map(str, operands))}", "an int or a bool") from None


def _number(dtype: str, node: gast.expr) -> str:
    if dtype not in DTYPES:
        raise TypeProblem(node, f"The result has dtype {dtype}, which is not supported", "x.astype(np.float64)",
                          "Supported are float64, float32, bool and integers.")
    return dtype


def _binop(node: gast.BinOp, names: Mapping[str, Type]) -> Type:
    if isinstance(node.left, gast.List) or isinstance(node.right, gast.List):
        found = list_of(node, names)
        if found is not None:
            return found
    left, right = type_of(node.left, names), type_of(node.right, names)
    op = type(node.op).__name__
    if isinstance(left, List) or isinstance(right, List):
        found = list_of(node, names)
        if found is not None:
            return found
    if isinstance(left, List) != isinstance(right, List) and isinstance(left if isinstance(right, List) else right, Array):
        left, right = as_array(left) or left, as_array(right) or right  # NumPy makes an array of the list
    if isinstance(left, Tuple) and isinstance(right, Tuple) and op == "Add":
        return Tuple(left.items + right.items)
    return operate(op, node, left, right, exponent=literal(node.right) if op == "Pow" else MISSING)


def _unaryop(node: gast.UnaryOp, names: Mapping[str, Type]) -> Type:
    operand = type_of(node.operand, names)
    if isinstance(node.op, gast.Not):
        if isinstance(operand, Array):
            raise TypeProblem(node, "`not` of an array has no truth value", "np.logical_not(x)")
        return WEAK_BOOL
    return operate(type(node.op).__name__, node, operand)


def _boolop(node: gast.BoolOp, names: Mapping[str, Type]) -> Type:
    types = [type_of(v, names) for v in node.values]
    if any(isinstance(t, Array) for t in types):
        word = "and" if isinstance(node.op, gast.And) else "or"
        raise TypeProblem(node, f"`{word}` of an array has no truth value", f"np.logical_{word}(a, b)")
    return _join_all(node, types)


def _join_all(node: gast.expr, types: list[Type]) -> Type:
    found = types[0]
    for t in types[1:]:
        both = join(found, t)
        if both is None:
            raise TypeProblem(node, f"The value is {found} or {t}", "values of one type")
        found = both
    return found


def _compare(node: gast.Compare, names: Mapping[str, Type]) -> Type:
    types = [type_of(v, names) for v in (node.left, *node.comparators)]
    if all(isinstance(op, (gast.Is, gast.IsNot)) for op in node.ops) or any(isinstance(t, (Static, Tuple)) for t in types):
        return WEAK_BOOL
    operands = _values(node, *types)
    if all(isinstance(t, Scalar) and t.weak for t in operands):
        return WEAK_BOOL
    return broadcast("bool", operands)


def _ifexp(node: gast.IfExp, names: Mapping[str, Type]) -> Type:
    return _join_all(node, [type_of(node.body, names), type_of(node.orelse, names)])


def _attribute(node: gast.Attribute, names: Mapping[str, Type]) -> Type:
    value = literal(node)
    if value is not MISSING:
        return _weak(value) if isinstance(value, (bool, int, float)) else Static(value)
    base = type_of(node.value, names)
    if isinstance(base, Array):
        if node.attr == "T":
            layout = {"C": "F", "F": "C", "A": "A"}[base.layout] if base.ndim > 1 else base.layout
            return Array(base.dtype, base.ndim, layout, frozenset(base.ndim - 1 - k for k in base.ones))
        if node.attr == "shape":
            return Tuple((WEAK_INT,) * base.ndim)
        if node.attr in ("size", "ndim"):
            return WEAK_INT
    if isinstance(base, (Array, Scalar)) and node.attr == "dtype":
        return Static(np.dtype(base.dtype))
    raise TypeProblem(node, f"{base} has no attribute `{node.attr}` that is supported", "x.T, x.shape, x.size, x.ndim")


# --- subscripts -------------------------------------------------------------------------


def indices(node: gast.Subscript) -> list[gast.expr]:
    """The indices of a subscript, one an axis (or None, Ellipsis)."""
    return list(node.slice.elts) if isinstance(node.slice, gast.Tuple) else [node.slice]


def _is_ellipsis(index: gast.expr) -> bool:
    return isinstance(index, gast.Constant) and index.value is Ellipsis


def _is_newaxis(index: gast.expr) -> bool:
    return (isinstance(index, gast.Constant) and index.value is None) or T.dotted(index) == "np.newaxis"


def _kind(index: gast.expr, names: Mapping[str, Type]) -> str:
    """What one index is: "slice", "new", "dots", "int", "ints" or "mask"."""
    if isinstance(index, gast.Slice):
        for bound in (index.lower, index.upper, index.step):
            if bound is not None and type_of(bound, names) != Static(None):
                _integer(bound, type_of(bound, names))
        return "slice"
    if _is_ellipsis(index):
        return "dots"
    if _is_newaxis(index):
        return "new"
    t = type_of(index, names)
    if isinstance(t, Array):
        if t.dtype == "bool":
            return "mask"
        _integer(index, t)
        return "ints"
    if isinstance(t, Tuple):
        raise TypeProblem(index, "A list or tuple as an index is not supported", "np.array([0, 2])")
    if isinstance(t, Scalar) and t.dtype == "bool":
        raise TypeProblem(index, "A bool as an index adds an axis in NumPy; this is not supported", "int(b), or an if")
    _integer(index, t)
    return "int"


def _integer(node: gast.expr, t: Type) -> None:
    if not (isinstance(t, (Scalar, Array)) and t.dtype.startswith(("int", "uint", "bool"))):
        raise TypeProblem(node, f"An index of type {t}", "int(k)", "Only integers, slices, None, ... and integer or bool arrays are indices.")


def _region(node: gast.Subscript, base: Array, names: Mapping[str, Type]) -> tuple[str, list[str]]:
    kinds = [_kind(i, names) for i in indices(node)]
    masks = [t.ndim for t in (type_of(i, names) for i, k in zip(indices(node), kinds, strict=True) if k == "mask") if isinstance(t, Array)]
    used = sum(masks) + sum(k in ("slice", "int", "ints") for k in kinds)
    if used > base.ndim:
        raise TypeProblem(node, f"{used} indices for an array with {base.ndim} axes", "one index an axis")
    if kinds.count("dots") > 1:
        raise TypeProblem(node, "An index has only one `...`", "one `...`")
    if "mask" in kinds:
        if "ints" in kinds or kinds.count("mask") > 1:
            raise TypeProblem(node, "A mask together with another index array is not supported", "a[mask][:, k]")
        return "mask", kinds
    if "ints" in kinds:
        return "fancy", kinds
    if all(k == "int" for k in kinds) and len(kinds) == base.ndim:
        return "element", kinds
    if base.ndim == kinds.count("int") and "new" not in kinds:
        raise TypeProblem(node, "A view without axes (all axes are indexed, and `...`) is not supported", "the same without `...`")
    return "view", kinds


def region(subscript: gast.Subscript, names: Mapping[str, Type]) -> str:
    """What a subscript of an array selects: "element" (a scalar), "view" (basic indexing), "fancy" (an integer array) or "mask".

    >>> x, k = Array("float64", 2), Array("int64", 1)
    >>> [region(T.expr(t), {"x": x, "k": k}) for t in ("x[0, 1]", "x[0]", "x[:, k]", "x[x > 0]")]
    ['element', 'view', 'fancy', 'mask']
    """
    base = type_of(subscript.value, names)
    if not isinstance(base, Array):
        raise TypeProblem(subscript, f"{base} cannot be indexed", "an array")
    return _region(subscript, base, names)[0]


def _subscript(node: gast.Subscript, names: Mapping[str, Type]) -> Type:
    base = list_of(node.value, names) or type_of(node.value, names)
    if isinstance(base, Tuple):
        return _tuple_item(node, base, names)
    if isinstance(base, List):
        return _list_item(node, base, names)
    if not isinstance(base, Array):
        raise TypeProblem(node, f"{base} cannot be indexed", "an array")
    what, kinds = _region(node, base, names)
    if what == "element":
        return Scalar(base.dtype, base.weak)
    index = indices(node)
    if what in ("fancy", "mask"):
        arrays = [t for t in (type_of(i, names) for i, k in zip(index, kinds, strict=True) if k in ("ints", "mask")) if isinstance(t, Array)]
        taken = kinds.count("int") + (arrays[0].ndim if what == "mask" else len(arrays))
        made = 1 if what == "mask" else max(t.ndim for t in arrays)
        return Array(base.dtype, base.ndim - taken + made + kinds.count("new"), "C")
    return Array(base.dtype, base.ndim - kinds.count("int") + kinds.count("new"), _view_layout(base, index, kinds), _view_ones(base, index, kinds),
                 base.weak)


def _list_item(node: gast.Subscript, base: List, names: Mapping[str, Type]) -> Type:
    if isinstance(node.slice, gast.Slice):
        return base
    t = type_of(node.slice, names)
    if not (isinstance(t, Scalar) and t.dtype not in ("float64", "float32")):
        raise TypeProblem(node, f"An index of type {t} of a list", "xs[int(k)]", "Only integers and slices are indices of a list.")
    if base.item is None:
        raise UnknownName(node, "An item is read of a list that is always empty", "xs.append(x)\nbefore this line")
    return base.item


def _tuple_item(node: gast.Subscript, base: Tuple, names: Mapping[str, Type]) -> Type:
    if isinstance(node.slice, gast.Slice):
        parts = [None if p is None else literal(p) for p in (node.slice.lower, node.slice.upper, node.slice.step)]
        if any(p is MISSING for p in parts):
            raise TypeProblem(node, "A slice of a tuple has literal bounds", "x.shape[:2]")
        return Tuple(base.items[slice(*parts)])
    k = literal(node.slice)
    if isinstance(k, int):
        if not -len(base.items) <= k < len(base.items):
            raise TypeProblem(node, f"Index {k} of a tuple of {len(base.items)}", "an index that exists")
        return base.items[k]
    _integer(node.slice, type_of(node.slice, names))
    if not base.items:
        raise TypeProblem(node, "The tuple is empty", "a tuple with items")
    return _join_all(node, list(base.items))


def _view_layout(base: Array, index: list[gast.expr], kinds: list[str]) -> str:
    """The layout of a view, as Numba's typing has it: integers outside and at most one unit slice inside them keep an array contiguous."""
    if base.layout == "A":
        return "A"
    if "dots" not in kinds:
        at, right_given = len(kinds), False
    else:
        at, right_given = kinds.index("dots"), True
    left, right = list(zip(kinds, index, strict=True))[:at], list(zip(kinds, index, strict=True))[at + 1:]
    full = sum(k in ("int", "slice") for k in kinds) == base.ndim
    if base.layout == "C":
        outer, inner = (left + right, []) if full else (left, right)
    else:
        outer, inner = ((left + right)[::-1], []) if full else (right[::-1], left)
    if inner or not right_given and base.layout == "F" and not full and left:
        return "A"

    def keeps(position: int) -> bool:
        kind, node = outer[position]
        innermost = all(k == "new" for k, _ in outer[position + 1:])
        return kind != "slice" or (innermost and node.step is None)

    return base.layout if all(keeps(k) for k in range(len(outer))) else "A"


def _view_ones(base: Array, index: list[gast.expr], kinds: list[str]) -> frozenset[int]:
    ones, axis, source = set(), 0, 0
    for kind, node in zip(kinds, index, strict=True):
        if kind == "new":
            ones.add(axis)
            axis += 1
        elif kind == "int":
            source += 1
        elif kind == "slice":
            whole = node.lower is None and node.upper is None
            if whole and source in base.ones:
                ones.add(axis)
            axis, source = axis + 1, source + 1
        else:
            for _ in range(base.ndim - sum(k in ("int", "slice") for k in kinds)):
                if source in base.ones:
                    ones.add(axis)
                axis, source = axis + 1, source + 1
    while source < base.ndim:
        if source in base.ones:
            ones.add(axis)
        axis, source = axis + 1, source + 1
    return frozenset(ones)


# --- calls ------------------------------------------------------------------------------


def _call(node: gast.Call, names: Mapping[str, Type]) -> Type:
    name = T.dotted(node.func)
    if isinstance(node.func, gast.Name):
        own = names.get(node.func.id)
        if isinstance(own, Static) and isinstance(own.value, (Family, Routine)):
            return _routine(node, own.value, names)
    found = list_of(node, names) or joined_rows(name or "", node, names)
    if found is not None:
        return found
    if name is None or not name.startswith(("np.", "math.")):
        if isinstance(node.func, gast.Attribute):
            return _method(node, names)
        builtin = _BUILTINS.get(name or "")
        if builtin is not None and name not in names:
            return builtin(node, [type_of(a, names) for a in node.args])
    assert name is not None
    if name.startswith("np."):
        dtype = literal(node.func)
        if isinstance(dtype, np.dtype):
            return _cast(node, str(dtype), [type_of(a, names) for a in node.args])
    return library(name, node, names)


def _routine(node: gast.Call, callee: Family | Routine, names: Mapping[str, Type]) -> Type:
    """The type of a call of a recursive function."""
    types = [type_of(a, names) for a in node.args]
    found: Routine | None
    if isinstance(callee, Family):
        given = [argument_type(t) for t in types]
        for t, g in zip(types, given, strict=True):
            if g is None:
                raise TypeProblem(node, f"`{callee.name}`, which calls itself, is given {_word(t)}", "a number or an array as an argument",
                                  "Functions that call themselves take numbers and arrays.", "S2S125")
        found = callee.variant(tuple(g for g in given if g is not None))
        if found is None:
            raise TypeProblem(node, f"`{callee.name}` calls itself with arguments of ever new types", "arguments of the same types in every call",
                              f"This call gives it ({', '.join(map(str, types))}).", "S2S125")
    else:
        found = callee
    if found.result is None:
        raise UnknownName(node, f"`{callee.name}` returns nothing but what a call of itself returns", "if n == 0:\n    return x", code="S2S125")
    return found.result


def library(name: str, node: gast.Call, names: Mapping[str, Type]) -> Type:
    """The type of a call of a library or runtime function."""
    if rules.known(name):
        return _asked(node, name, *call_types(name, node, names))
    if calls.is_runtime(name):
        return _runtime(name, node, names)
    external = names.get(name)
    if isinstance(external, Static) and callable(external.value):
        try:
            return returned(external.value, tuple(_values(node, *[type_of(a, names) for a in node.args])))
        except NotTyped as e:
            raise TypeProblem(node, f"The type of what `{name}` returns is not known", e.instead, str(e)) from None
    raise UnknownName(node, f"`{name}` has no known type of result", "a NumPy function")


def _asked(node: gast.AST, name: str, types: Sequence[Type | None], static: Mapping[str, Any]) -> Type:
    try:
        return rules.result_type(name, types, static)
    except rules.RuleError as e:
        summary, _, instead = str(e).partition(": write ")
        raise TypeProblem(node, summary, instead or rules.instead_of(name)) from None


def call_types(name: str, node: gast.Call, names: Mapping[str, Type]) -> tuple[tuple[Type | None, ...], dict[str, Any]]:
    """What `rules` wants to know of a call: the types of its parameters (None where it gives none), and the values of literal ones."""
    params = rules.TABLE[name][0].rule.params
    other = KEYWORDS.get(name, {})
    given = {**dict(zip(params, node.args, strict=False)), **{other.get(k.arg, k.arg): k.value for k in node.keywords}}
    unknown = [p for p in given if p not in params]
    if unknown or len(node.args) > len(params):
        what = f"the keyword `{unknown[0]}`" if unknown else f"{len(node.args)} arguments"
        raise TypeProblem(node, f"{name} with {what} is not supported", rules.instead_of(name) or f"{name}({', '.join(params)})")
    static = {p: value for p, e in given.items() if (value := _static(e, names)) is not MISSING}
    return tuple(_argument(type_of(given[p], names)) if p in given else None for p in params), static


def _argument(t: Type) -> Type:
    """The type of an argument of a library function: NumPy makes an array of a list."""
    if isinstance(t, List):
        return as_array(t) or t
    return Tuple(tuple(map(_argument, t.items))) if isinstance(t, Tuple) else t


def _runtime(name: str, node: gast.Call, names: Mapping[str, Type]) -> Type:
    types = [type_of(a, names) for a in node.args]
    if name in calls.INSTEAD_OF:
        original = calls.INSTEAD_OF[name]
        return _asked(node, original, *call_types(original, node, names))
    if name in calls.POINTWISE:
        operands = _values(node, *types)
        dtype = ufunc_dtype("divide", operands) if len(operands) > 1 else operands[0].dtype
        return broadcast(dtype, operands)
    if name in ("keep", "drop"):
        condition, w = _values(node, *types)
        return broadcast(w.dtype, (condition, w))
    if name in ("get_at", "get_mask", "take_last"):
        return type_of(gast.Subscript(node.args[0], node.args[1], gast.Load()), names)
    if name in calls.RESULTS:
        return calls.RESULTS[name](types)
    raise TypeProblem(node, f"The runtime function `{name}` has no known type of result", "another function")


def _static(e: gast.expr, names: Mapping[str, Type]) -> Any:
    """The value of a literal, or of a name or attribute that stands for a compile-time value."""
    value = literal(e)
    if value is MISSING and isinstance(e, (gast.Name, gast.Attribute)):
        t = type_of(e, names)
        value = t.value if isinstance(t, Static) else MISSING
    return value


def _method(node: gast.Call, names: Mapping[str, Type]) -> Type:
    base, method = type_of(node.func.value, names), node.func.attr
    if isinstance(base, Generator):
        try:
            return draw_type(node, lambda e: type_of(e, names))
        except DrawError as e:
            raise TypeProblem(node, f"{e}, which is not supported", f"# one of {', '.join(DRAWS)}; or draw where the function is called") from None
    if isinstance(base, List) and method == "pop":
        if base.item is None:
            raise UnknownName(node, "An item is taken of a list that is always empty", "xs.append(x)\nbefore this line")
        return base.item
    if isinstance(base, Array) and method == "copy":
        return Array(base.dtype, base.ndim, "C" if base.layout == "A" else base.layout, base.ones, base.weak)
    if isinstance(base, Scalar) and method == "copy" and not base.weak:
        return base
    if isinstance(base, (Array, Scalar)) and method == "astype" and node.args:
        dtype = static_dtype(literal(node.args[0]))
        if dtype is None:
            t = type_of(node.args[0], names)
            dtype = static_dtype(t.value) if isinstance(t, Static) else None
        if dtype is not None:
            return _cast(node, dtype, [base])
    raise TypeProblem(node, f"{base} has no method `{method}` that is supported", "a NumPy function")


def _cast(node: gast.Call, dtype: str, types: list[Type]) -> Type:
    _number(dtype, node)
    if len(types) != 1:
        raise TypeProblem(node, f"np.{dtype} takes one argument", f"np.{dtype}(x)")
    t, = _values(node, types[0])
    if isinstance(t, Array):
        return Array(dtype, t.ndim, "C" if t.layout == "A" else t.layout, t.ones)
    return Scalar(dtype)


def _scalar_arg(node: gast.Call, types: list[Type]) -> Scalar:
    if len(types) == 1 and isinstance(types[0], Scalar):
        return types[0]
    raise TypeProblem(node, f"`{T.dotted(node.func)}` takes one number here, not {', '.join(map(str, types)) or 'nothing'}", "a number, such as x[0]")


def _len(node: gast.Call, types: list[Type]) -> Type:
    if len(types) != 1 or isinstance(types[0], (Scalar, Static)):
        raise TypeProblem(node, "`len` takes an array", "x.shape[0]")
    return WEAK_INT


def _abs(node: gast.Call, types: list[Type]) -> Type:
    t, = _values(node, *types[:1])
    if isinstance(t, Scalar) and t.weak:
        return _weak(abs(PYTHON.get(t.dtype, bool)(1)))
    return broadcast(t.dtype, (t,))


def _round(node: gast.Call, types: list[Type]) -> Type:
    if len(types) == 1:
        _scalar_arg(node, types)
        return WEAK_INT
    return _scalar_arg(node, types[:1])


def _extreme(node: gast.Call, types: list[Type]) -> Type:
    if any(not isinstance(t, Scalar) for t in types) or len(types) < 2:
        raise TypeProblem(node, f"Python's `{T.dotted(node.func)}` of an array", f"np.{T.dotted(node.func)}(x)")
    return _join_all(node, types)


def _sequence(node: gast.Call, types: list[Type]) -> Type:
    """Python's `sum`, `any`, `all` of an array with one axis, or of a shape."""
    name = T.dotted(node.func) or ""
    t = types[0]
    if isinstance(t, List):
        if t.item is None and name == "sum":
            raise UnknownName(node, "The sum of a list that is always empty", "0.0")
        if isinstance(t.item, (Array, List)):
            if name != "sum" or len(types) > 1:
                raise TypeProblem(node, f"Python's `{name}` of a list of rows", f"np.{name}(np.array(xs))")
            row = as_array(t.item)
            return row if row is not None and isinstance(t.item, Array) else _bad_sum(node)
        if name != "sum" or t.item is None:
            return WEAK_BOOL
        return _join_all(node, [WEAK_INT, t.item, *types[1:]])
    if isinstance(t, Tuple) and name == "sum":
        return _join_all(node, [WEAK_INT, *t.items, *types[1:]])
    if not isinstance(t, Array) or t.ndim != 1:
        raise TypeProblem(node, f"Python's `{name}` of {t}", f"np.{name}(x)")
    if name == "sum" and t.dtype not in ("float64", "float32", "int64", "bool"):
        raise TypeProblem(node, f"Python's `sum` of {t.dtype} values", "np.sum(x)", "It adds them up in 64 bits.")
    found = _asked(node, name, types, {})
    if name == "sum" and t.weak:
        return _join_all(node, [WEAK_INT, Scalar(t.dtype, weak=True), *types[1:]])
    return found


def _bad_sum(node: gast.Call) -> Type:
    raise TypeProblem(node, "Python's `sum` of lists", "np.sum(np.array(xs), axis=0)")


def _to(result: Scalar) -> Callable[[gast.Call, list[Type]], Type]:
    def convert(node: gast.Call, types: list[Type]) -> Type:
        _scalar_arg(node, types)
        return result
    return convert


def _range(node: gast.Call, types: list[Type]) -> Type:
    """The type of a range: only its length is ever used as a value."""
    return Tuple((WEAK_INT,))


def _first(node: gast.Call, types: list[Type]) -> Type:
    """Where `max` or `min` finds its result."""
    t = types[0]
    if isinstance(t, Tuple) or isinstance(t, List) and (t.item is None or isinstance(t.item, Scalar)) or isinstance(t, Array) and t.ndim == 1:
        return WEAK_INT
    name = (T.dotted(node.func) or "")[-3:]
    raise TypeProblem(node, f"Python's `{name}` of {t}", f"np.{name}(x)")


_BUILTINS: Mapping[str, Callable[[gast.Call, list[Type]], Type]] = {
    "first_max": _first, "first_min": _first,
    "range": _range,
    "sum": _sequence, "any": _sequence, "all": _sequence,
    "len": _len, "abs": _abs, "round": _round, "min": _extreme, "max": _extreme,
    "float": _to(WEAK_FLOAT), "int": _to(WEAK_INT), "bool": _to(WEAK_BOOL)}

_HANDLERS: Mapping[str, Callable[..., Type]] = {
    "Name": _name, "Constant": _constant, "Tuple": _items, "List": _items, "BinOp": _binop, "UnaryOp": _unaryop, "BoolOp": _boolop,
    "Compare": _compare, "IfExp": _ifexp, "Attribute": _attribute, "Subscript": _subscript, "Call": _call}


BUILTIN_NAMES = frozenset(_BUILTINS)


# --- functions --------------------------------------------------------------------------


def walk(body: list[gast.stmt] | tuple[gast.stmt, ...]) -> Iterator[gast.stmt]:
    """Every statement of a body, in textual order."""
    for s in body:
        yield s
        for block in ("body", "orelse"):
            yield from walk(getattr(s, block, []))


def infer(function: Function, params: Mapping[str, Type], fixed: Mapping[str, Type] = MappingProxyType({}), partial: bool = False
          ) -> Mapping[str, Type]:
    """The type of every name of a function in normal form, given the types of its parameters (and of names whose type is known: `fixed`).

    `partial`: some names may stay without a type, as what a recursive function returns is not known yet.

    Raises TypeInferenceError where a name is an array here and a number there, or arrays of several dtypes or dimensions, where NumPy would
    raise TypeError, and where a name that is read never gets a value.
    """
    names: dict[str, Type] = {**params, **fixed, **{n: Static(f) for n, f in function.externals.items()}}
    first: dict[str, gast.stmt] = {}
    waiting: TypeProblem | None = None
    changed = True
    while changed:
        changed, waiting = False, None
        for s in walk(function.body):
            try:
                found = _bindings(s, names)
            except UnknownName as unknown:
                # a later trip of a loop may read what stands further down
                waiting = waiting or unknown
                continue
            except TypeProblem as p:
                raise _error(function.source, p, s) from None
            for name, t in found.items():
                if name in fixed:
                    continue
                old = names.get(name)
                new = t if old is None else join(old, t)
                if new is None:
                    raise _clash(function.source, name, t, names[name], s, first.get(name))
                first.setdefault(name, s)
                if new != old:
                    names[name], changed = new, True
    if waiting is not None and not partial:
        raise _error(function.source, waiting, waiting.node)
    return names


def _check_choices(e: gast.expr, names: Mapping[str, Type]) -> None:
    """Refuse `a and b`, `a or b` that stand for one of two floats; as a truth value they may stand anywhere.

    The operands of `not`, and what a comparison is made of, give no float.
    """
    if isinstance(e, gast.UnaryOp) and isinstance(e.op, gast.Not) or isinstance(e, gast.Compare):
        return
    if isinstance(e, gast.BoolOp) and is_float(type_of(e, names)):
        both = isinstance(e.op, gast.And)
        raise TypeProblem(e, f"`{'and' if both else 'or'}` chooses one of two numbers here",
                          "y if x else 0.0  # for `x and y`" if both else "x if x else y  # for `x or y`")
    for part in gast.iter_child_nodes(e):
        if isinstance(part, gast.expr):
            _check_choices(part, names)


def _bindings(s: gast.stmt, names: Mapping[str, Type]) -> dict[str, Type]:
    """The types that a statement gives to names; checks its other expressions on the way."""
    if isinstance(s, (gast.Assign, gast.AugAssign)):
        _check_choices(s.value, names)
    if isinstance(s, gast.Assign):
        target, = s.targets
        if isinstance(target, gast.Tuple):  # the results of a recursive function
            return _parts(s, target, type_of(s.value, names))
        if isinstance(target, gast.Name):
            found = list_of(s.value, names)
            if found is not None:
                return _tied(target.id, s.value, found, names)
            return {target.id: type_of(s.value, names)}
        value = type_of(s.value, names)
        base = names.get(target.value.id) if isinstance(target.value, gast.Name) else None
        if isinstance(base, List):
            return _stored(target, s.value, base, names)
        _check_store(s, target, value, names)
        return {}
    if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call) and isinstance(s.value.func, gast.Attribute):
        return _changed(s.value, names)
    if isinstance(s, gast.AugAssign) and isinstance(names.get(getattr(s.target, "id", "")), List):
        more = list_of(s.value, names) or type_of(s.value, names)
        if not isinstance(s.op, gast.Add):
            raise TypeProblem(s, "A list is changed by another operator than `+=`", "xs = xs * 2")
        return {s.target.id: List(_mixed(s.value, [names[s.target.id].item, items_of(s.value, more)]))}  # type: ignore[union-attr]
    if isinstance(s, gast.AugAssign):
        value = type_of(s.value, names)
        old = type_of(s.target, names)
        new = operate(type(s.op).__name__, s, old, value, exponent=literal(s.value))
        base = names.get(s.target.value.id) if isinstance(s.target, gast.Subscript) and isinstance(s.target.value, gast.Name) else None
        if isinstance(base, List):
            return {s.target.value.id: List(_mixed(s.value, [base.item, new]))} if isinstance(new, Scalar) else {}
        if isinstance(s.target, gast.Name) and not isinstance(old, Array):
            return {s.target.id: new}
        _check_store(s, s.target, new, names)
        return {}
    if isinstance(s, gast.For):
        for a in s.iter.args:
            t = type_of(a, names)
            if not (isinstance(t, Scalar) and t.dtype != "float64" and t.dtype != "float32"):
                raise TypeProblem(a, f"A bound of a range is {t}", "int(n)", "range takes integers.")
        return {s.target.id: WEAK_INT}
    if isinstance(s, (gast.If, gast.While)):
        if isinstance(type_of(s.test, names), Array):
            raise TypeProblem(s.test, "An array as a condition has no truth value", "np.any(m) or np.all(m)")
    elif isinstance(s, (gast.Return, gast.Expr)) and s.value is not None and not (isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant)):
        type_of(s.value, names)
    return {}


def _parts(s: gast.stmt, target: gast.Tuple, t: Type) -> dict[str, Type]:
    """The types of several results of one call."""
    assert isinstance(t, Tuple), t
    return {n.id: part for n, part in zip(target.elts, t.items, strict=True)}


def _tied(target: str, value: gast.expr, found: List, names: Mapping[str, Type]) -> dict[str, Type]:
    """The types that `target = value` gives to two names of one list: what either comes to hold, both hold."""
    old = names.get(target)
    if not isinstance(old, List):
        return {target: found}
    both = List(_mixed(value, [old.item, found.item]))
    if isinstance(value, gast.Name):
        return {target: both, value.id: both}
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name) and not isinstance(value.slice, gast.Slice):
        base = names[value.value.id]
        if isinstance(base, List):
            return {target: both, value.value.id: List(_mixed(value, [base.item, both]))}
    return {target: both}


def _held(value: gast.expr, item: Type | None, names: Mapping[str, Type]) -> dict[str, Type]:
    """A list that becomes an item of another one: what either comes to hold, both hold."""
    if isinstance(value, gast.Name) and isinstance(item, List) and isinstance(names.get(value.id), List):
        return {value.id: item}
    return {}


def _stored(target: gast.Subscript, value: gast.expr, base: List, names: Mapping[str, Type]) -> dict[str, Type]:
    """The type of a list into which `xs[i] = value` stores."""
    if isinstance(target.slice, gast.Slice):
        raise TypeProblem(target, "A slice of a list is assigned", "for k in range(a, b):\n    xs[k] = ...")
    type_of(target.slice, names)
    item = _mixed(value, [base.item, list_of(value, names) or type_of(value, names)])
    return {T.base_name(target): List(item), **_held(value, item, names)}


def _changed(call: gast.Call, names: Mapping[str, Type]) -> dict[str, Type]:
    """The type of a list that a method changes."""
    base = type_of(call.func.value, names)
    if isinstance(base, Generator):
        type_of(call, names)
        return {}
    if not isinstance(base, List) or not isinstance(call.func.value, gast.Name):
        raise TypeProblem(call, f"`.{call.func.attr}()` of {base}", "a list")
    if not call.args:
        return {}
    value = call.args[0]
    t = list_of(value, names) or type_of(value, names)
    item = _mixed(value, [base.item, items_of(value, t) if call.func.attr == "extend" else t])
    return {call.func.value.id: List(item), **(_held(value, item, names) if call.func.attr == "append" else {})}


def _check_store(s: gast.stmt, target: gast.expr, value: Type, names: Mapping[str, Type]) -> None:
    if isinstance(target, gast.Subscript) and not isinstance(type_of(target.value, names), Array):
        raise TypeProblem(target, f"An item of {type_of(target.value, names)} is assigned", "an array")
    slot = type_of(target, names)
    if not isinstance(slot, (Scalar, Array)):
        raise TypeProblem(target, f"{slot} is changed in place", "an array")
    value, = _values(s, value)
    room = slot.ndim if isinstance(slot, Array) else 0
    axes = value.ndim if isinstance(value, Array) else 0
    if axes > room and not (isinstance(value, Array) and isinstance(s, gast.Assign) and value.ones >= frozenset(range(axes - room))):
        where = slot if room else "one element"
        raise TypeProblem(s, f"A value with {axes} axes does not fit into {where}", "a value of the shape of what is assigned")
    # `a[i] = 2.5` truncates silently in NumPy, `a += 2.5` of an int array raises
    if isinstance(s, gast.AugAssign) and isinstance(slot, Array) and not np.can_cast(np.dtype(value.dtype), np.dtype(slot.dtype), "same_kind"):
        raise TypeProblem(s, f"{slot.dtype} values are changed in place to {value.dtype}", f"x = x.astype(np.{value.dtype})\nbefore this line")


def _error(source: SourceMap, p: TypeProblem, fallback: gast.AST) -> TypeInferenceError:
    node = p.node if hasattr(p.node, "lineno") else fallback
    return TypeInferenceError(problem(source, node, p.code, p.summary, p.instead, p.why))


def _clash(source: SourceMap, name: str, new: Type, old: Type, s: gast.stmt, before: gast.stmt | None) -> TypeInferenceError:
    """The error for a name that has two types, with both places."""
    name = source.said(name)
    if is_array(old) and is_array(new):
        what, instead = f"`{name}` is {new} here and {old} elsewhere", f"{name}_2 = ..., a name of its own"
    else:
        what = f"`{name}` is {_word(new)} here and {_word(old)} elsewhere"
        instead = f"{name} = np.zeros(n)  # an array from the start; or two names"
    place = source.place(before.lineno) if before is not None and hasattr(before, "lineno") else None
    where = "as an argument" if before is None else f"by `{place.text.strip()}` on line {place.line}" if place else "by another assignment"
    why = f"It is made {old} {where}. A name has one type at a place where ways through the program meet."
    return TypeInferenceError(problem(source, s, "S2S502", what, instead, why))


def _word(t: Type) -> str:
    return f"an array ({t})" if isinstance(t, Array) else f"a number ({t})" if isinstance(t, Scalar) else f"{t}"


def result_type(function: Function) -> Type:
    """The type of what a typed function returns; `Static(None)` without a value."""
    last = function.body[-1] if function.body else None
    if isinstance(last, gast.Return) and last.value is not None:
        _check_choices(last.value, function.names)
        return type_of(last.value, function.names)
    return Static(None)
