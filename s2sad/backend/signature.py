"""Types of run-time values, and types written as text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numba.core import types as nb
from numba.np.numpy_support import from_dtype

from s2sad.errors import DifferentiationError, Problem
from s2sad.lang.types import Array, Generator, Scalar, Type

DTYPES = frozenset(["float64", "float32", "bool", *(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64))])
_WEAK = {float: Scalar("float64", weak=True), int: Scalar("int64", weak=True), bool: Scalar("bool", weak=True)}
_NAMES = {"float": _WEAK[float], "f8": _WEAK[float], "int": _WEAK[int], "i8": _WEAK[int], "bool": _WEAK[bool], "b1": _WEAK[bool]}


class ArgumentError(DifferentiationError, TypeError):
    """An argument, `wrt` or the result has a type that cannot be differentiated (with respect to)."""

    def __init__(self, *problems: Problem | str):
        super().__init__(*(Problem("S2S140", p) if isinstance(p, str) else p for p in problems))


def type_of(value: Any, what: str) -> Type:
    """The type of an argument.

    Args:
        value: a Python number, a NumPy scalar, or an `np.ndarray` of native float64, float32, bool or integers with at least one axis.
        what: how to call the value in an error, for example "`x` of `f`".

    Raises:
        ArgumentError: for anything else.

    >>> str(type_of(1.0, "x")), str(type_of(np.float32(1), "x")), str(type_of(np.ones((2, 3)).T, "x"))
    ('float', 'float32', 'float64[::1, :]')
    """
    weak = _WEAK.get(type(value))
    if weak is not None:
        return weak
    if isinstance(value, np.generic):
        return Scalar(_dtype(value.dtype, what))
    if type(value) is np.random.Generator:
        return Generator()
    if type(value) is np.ndarray:
        dtype = _dtype(value.dtype, what)
        flags = value.flags
        return Array(dtype, value.ndim, "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A")
    raise ArgumentError(f"{what} is a {type(value).__module__}.{type(value).__qualname__}; pass a number or a NumPy array".replace("builtins.", ""))


def _dtype(dtype: np.dtype[Any], what: str) -> str:
    """The name of a dtype that programs may have."""
    if dtype.name not in DTYPES or not dtype.isnative:
        shown = dtype.str if not dtype.isnative else dtype.name
        raise ArgumentError(f"{what} has dtype {shown}, which is not supported; convert it, for example with .astype(np.float64)")
    return dtype.name


def parse_types(text: str) -> tuple[Type, ...]:
    """Types from text, separated by commas.

    `float`, `int`, `bool` and the short `f8`, `i8`, `b1` are Python numbers, `float64`, `float32`, `f4`, `int32`, ... NumPy scalars.
    `f8[:]`, `f4[:, :]`, ... are contiguous arrays, as are `f8[:, ::1]` (C order) and `f8[::1, :]` (Fortran order).

    Raises:
        ArgumentError: for text that is no type.

    >>> [str(t) for t in parse_types("f8[:, :], f8, float32[::1], i8")]
    ['float64[:, ::1]', 'float', 'float32[::1]', 'int']
    """
    return tuple(_parse(part.strip()) for part in re.split(r",(?![^\[]*\])", text) if part.strip())


def _parse(text: str) -> Type:
    head, bracket, axes_text = text.partition("[")
    head = head.strip()
    if not bracket and head in _NAMES:
        return _NAMES[head]
    dtype = _NAMES[head].dtype if head in _NAMES else head
    if re.fullmatch(r"[a-z]+[0-9]*", dtype):  # the name decides, not what NumPy would make of any other text
        try:
            dtype = np.dtype(dtype).name
        except TypeError as e:
            raise ArgumentError(f"`{text}` is not a type") from e
    if dtype not in DTYPES:
        raise ArgumentError(f"`{text}` is not a type; write for example float, int, f8[:], f4[:, :], float32")
    if not bracket:
        return Scalar(dtype)
    axes = [a.replace(" ", "") for a in axes_text.rstrip("] ").split(",")]
    if not axes_text.rstrip().endswith("]") or any(a not in (":", "::1") for a in axes) or "::1" in axes[1:-1] or axes.count("::1") > 1:
        raise ArgumentError(f"`{text}` is not a type; write one `:` an axis, for example f8[:, :]")
    return Array(dtype, len(axes), "F" if len(axes) > 1 and axes[0] == "::1" else "C")


def numba_type(t: Type) -> Any:
    """The Numba type that arguments of a type have."""
    if isinstance(t, Array):
        layout: Any = t.layout
        return nb.Array(from_dtype(np.dtype(t.dtype)), t.ndim, layout)
    if isinstance(t, Scalar):
        return nb.int64 if t == _WEAK[int] else from_dtype(np.dtype(t.dtype))
    if isinstance(t, Generator):
        return nb.npy_rng
    raise ArgumentError(f"no argument can have the type {t}")
