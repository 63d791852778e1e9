"""Types of results: the function itself, run on tiny arguments of the given types."""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from s2sad.lang.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Array, Scalar, Static, Tuple, Type
from s2sad.rules.forms import TABLE, RuleError
from s2sad.rules.names import resolve
from s2sad.rules.select import _array_of_numbers, padded

SIZE = 5  # of every axis that is not 1 by construction
SUPPORTED = ("float64", "float32", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# NumPy gives a 0-d array or a scalar for scalars; Numba a scalar
SCALAR_OF_SCALARS = ("np.where", "np.clip", "np.interp", "np.nan_to_num", "np.round", "np.real", "np.imag")
OPERATORS: Mapping[str, Any] = {
    "np.add": operator.add, "np.subtract": operator.sub, "np.multiply": operator.mul, "np.divide": operator.truediv, "np.power": operator.pow,
    "np.floor_divide": operator.floordiv, "np.remainder": operator.mod, "np.negative": operator.neg, "np.positive": operator.pos,
    "np.greater": operator.gt, "np.greater_equal": operator.ge, "np.less": operator.lt, "np.less_equal": operator.le, "np.equal": operator.eq,
    "np.not_equal": operator.ne, "np.bitwise_and": operator.and_, "np.bitwise_or": operator.or_, "np.bitwise_xor": operator.xor,
    "np.invert": operator.invert, "np.left_shift": operator.lshift, "np.right_shift": operator.rshift,
}  # fmt: skip


def result_type(name: str, types: Sequence[Type | None], static: Mapping[str, object] | None = None) -> Type:
    """The type of a call's result in NumPy 2's terms; RuleError where it cannot be told or NumPy refuses the call."""
    frozen = tuple(sorted((static or {}).items(), key=lambda kv: kv[0]))
    return _result_type(name, tuple(types), tuple((k, tuple(v) if isinstance(v, list) else v, type(v).__name__) for k, v in frozen))


# functions whose arguments' values decide how long the result is
BY_VALUE = ("np.arange", "np.linspace")


@cache
def _result_type(name: str, types: tuple[Type | None, ...], frozen: tuple[tuple[str, Any, str], ...]) -> Type:
    if name not in TABLE:
        raise RuleError(f"{name} has no rule")
    static = {k: v for k, v, _ in frozen}
    rule = TABLE[name][0].rule
    if name == "np.array" and types and isinstance(types[0], Tuple):
        _array_of_numbers(rule, types)
    by_param = padded(rule, types)
    for p, t in by_param.items():
        if p == "keepdims" and t is not None and not isinstance(t, Static) and p not in static:
            raise RuleError(f"{name}: keepdims must be a literal True or False")
    if name == "np.diff" and by_param["n"] is not None and not static.get("n"):
        raise RuleError("np.diff: n must be a literal and at least 1 (with 0 it gives the array itself)")
    if name == "len":
        return WEAK_INT
    if name == "np.shape":
        first = by_param["a"]
        return Tuple((WEAK_INT,) * (first.ndim if isinstance(first, Array) else 0))
    if name in ("np.reshape", "np.broadcast_to"):
        return _reshape(name, by_param, static)
    if name == "np.squeeze":
        return _squeeze(by_param, static)
    found = {_run(name, dict(zip(by_param, values, strict=True)), by_param, static) for values in _samples(by_param, static)}
    joined = _joined(found)
    if name in BY_VALUE and isinstance(joined, Array):
        # how long the samples were says nothing
        return Array(joined.dtype, joined.ndim, joined.layout)
    return joined


def _joined(found: set[Type]) -> Type:
    if len(found) == 1:
        return found.pop()
    arrays = [t for t in found if isinstance(t, Array)]
    return Array(arrays[0].dtype, arrays[0].ndim, "A", frozenset.intersection(*(t.ones for t in arrays)))


def _reshape(name: str, by_param: Mapping[str, Type | None], static: Mapping[str, object]) -> Type:
    first, shape = (by_param[p] for p in by_param)
    if not isinstance(first, (Array, Scalar)):
        raise RuleError(f"{name} needs an array")
    value = static.get("shape")
    if isinstance(value, (tuple, list)):
        sizes: list[object] = list(value)
    elif isinstance(shape, Tuple):
        sizes = [t.value if isinstance(t, Static) else None for t in shape.items]
    else:
        sizes = [value]
    layout = "C" if name == "np.reshape" and isinstance(first, Array) and first.layout == "C" else "A"
    return Array(first.dtype, len(sizes), layout, frozenset(k for k, n in enumerate(sizes) if n == 1))


def _squeeze(by_param: Mapping[str, Type | None], static: Mapping[str, object]) -> Type:
    a, axis = by_param["a"], static.get("axis")
    if not isinstance(a, Array) or not isinstance(axis, int) or not -a.ndim <= axis < a.ndim:
        raise RuleError("np.squeeze needs an array and a literal axis")
    k = axis % a.ndim
    return Array(a.dtype, a.ndim - 1, "C" if a.layout == "C" else "A", frozenset(i - (i > k) for i in a.ones if i != k))


def _samples(by_param: Mapping[str, Type | None], static: Mapping[str, object]) -> Iterator[tuple[Any, ...]]:
    """Tiny arguments, in every memory order that the layouts allow."""
    options = []
    for p, t in by_param.items():
        if p in static:
            options.append([static[p]])
        elif t is None:
            options.append([...])
        else:
            options.append(list(_values(p, t)))
    return itertools.product(*options)


def _values(p: str, t: Type) -> Iterator[Any]:
    if isinstance(t, Static):
        yield t.value
    elif isinstance(t, Tuple):
        if p in ("shape", "axis", "axes", "N", "n"):
            yield tuple(1 if isinstance(i, Static) and i.value == 1 else SIZE for i in t.items)
        else:
            yield from itertools.product(*(_values("", i) for i in t.items))
    elif isinstance(t, Scalar):
        if t.weak:
            integer = 0 if p in ("axis", "axis1", "axis2", "source", "destination", "k", "offset") else SIZE if p in ("shape", "num") else 1
            yield {"float64": 1.0, "bool": True}.get(t.dtype, integer)
        else:
            yield np.dtype(t.dtype).type(1)
    elif isinstance(t, Array):
        yield from _arrays(t)
    else:
        raise RuleError(f"a {t} is not supported here")


def _arrays(t: Array) -> Iterator[Any]:
    shape = tuple(1 if k in t.ones else SIZE for k in range(t.ndim))
    if t.layout == "C" or t.ndim == 0:
        yield np.ones(shape, t.dtype)
    elif t.layout == "F":
        yield np.ones(shape, t.dtype, order="F")
    else:
        strided = tuple(slice(None, None, 2) for _ in shape)
        yield np.ones(tuple(2 * n for n in shape), t.dtype)[strided]
        if t.ndim > 1:
            yield np.ones(tuple(2 * n for n in shape), t.dtype, order="F")[strided]


def _run(name: str, values: dict[str, Any], by_param: Mapping[str, Type | None], static: Mapping[str, object]) -> Type:
    given = {p: v for p, v in values.items() if v is not ...}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                out = _call(name, dict(given))
            except ValueError:  # 1.0 may be outside of the domain (math.atanh)
                out = _call(name, {p: type(v)(0.5) if isinstance(v, (float, np.floating)) else v for p, v in given.items()})
    except (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError) as e:
        raise RuleError(f"{name}: {str(e) or type(e).__name__}") from e
    if name in SCALAR_OF_SCALARS and isinstance(out, np.ndarray) and out.ndim == 0:
        out = out[()]
    return type_of(out, name)


def _call(name: str, given: dict[str, Any]) -> Any:
    if name == "copy":
        return given["a"].copy()
    if name == "astype":
        return given["a"].astype(given["dtype"])
    obj = resolve(name)
    # keyword-only spellings (ufuncs and C functions take their arguments by position only)
    keywords: dict[str, Any] = {p: given.pop(p) for p in ("keepdims", "ddof", "dtype", "side", "kind", "num", "rel_tol", "abs_tol") if p in given}
    if "axis" in given and name not in ("np.expand_dims",):
        keywords["axis"] = given.pop("axis")
    if name == "np.arange":
        return obj(*[v for v in given.values() if v is not None], **keywords)
    if name == "np.eye":
        return obj(given.get("N"), given.get("M"), given.get("k", 0), **keywords)
    if name == "np.clip":
        return obj(given["a"], given.get("a_min"), given.get("a_max"))
    return obj(*given.values(), **keywords)


def type_of(value: Any, name: str = "") -> Type:
    """The type of a Python value; RuleError for kinds that are not supported."""
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        return WEAK_BOOL if isinstance(value, bool) else WEAK_INT if isinstance(value, int) else WEAK_FLOAT
    if isinstance(value, (np.ndarray, np.generic)):
        dtype = str(value.dtype)
        if dtype not in SUPPORTED:
            raise RuleError(f"{name}: the dtype {dtype} is not supported")
        if isinstance(value, np.generic):
            return Scalar(dtype)
        layout = "C" if value.flags.c_contiguous else "A"
        return Array(dtype, value.ndim, layout, frozenset(k for k, n in enumerate(value.shape) if n == 1))
    raise RuleError(f"{name}: a result of type {type(value).__name__} is not supported")


def operator_type(name: str, types: Sequence[Type | None], static: Mapping[str, object] | None = None) -> Type:
    """The type of an operator's result (`np.add` for `+` ...): of Python numbers it is a Python number.

    For an int to the power of an int whose value is not in `static` ("x2") the type is int: the caller has to make sure that it is not negative.
    """
    if name in OPERATORS and all(isinstance(t, Scalar) and t.weak for t in types):
        samples: list[Any] = [{"float64": 1.0, "bool": True}.get(t.dtype, 1) for t in types if isinstance(t, Scalar)]
        exponent = (static or {}).get("x2")
        if name == "np.power" and isinstance(exponent, (int, float)):
            samples[1] = exponent
        try:
            return type_of(OPERATORS[name](*samples), name)
        except TypeError as e:
            raise RuleError(str(e)) from e
    return result_type(name, types, static if name not in OPERATORS else None)
