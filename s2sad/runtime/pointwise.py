"""Pointwise functions that partial derivatives use; scalars or arrays, which broadcast."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype

from s2sad.runtime.core import float_dtype, is_none, jitable, pointwise, typed, unliteral


@jitable
def _strong(w: Any, p: Any) -> Any:
    return w * p if w != 0 else w * 0.0


@pointwise(_strong)
def strong(w: Any, p: Any) -> Any:
    """`w * p`, but exactly 0 where the adjoint `w` is 0, whatever the singular factor `p` is there."""
    if not isinstance(w, np.ndarray) and not isinstance(p, np.ndarray):
        return w * p if w != 0 else w * 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.where(np.equal(w, 0), np.zeros((), np.result_type(w)), w * p), dtype=_dtype(w, p))


def _dtype(*args: Any) -> Any:
    """dtype of the arrays among the arguments, of all of them if none is an array."""
    arrays = [a for a in args if isinstance(a, np.ndarray)]
    floats = [a for a in arrays if a.dtype.kind == "f"]
    if any(a.dtype.kind in "iu" for a in arrays) or (arrays and not floats):
        return np.result_type(np.float64, *floats)
    return np.result_type(*(floats or args))


def _boxed(value: Any, *args: Any) -> Any:
    """A NumPy result in the dtype of `_dtype`; a scalar if no argument is an array."""
    dtype = _dtype(*args)
    if dtype.kind != "f":
        dtype = np.dtype(np.float64)
    out = np.asarray(value, dtype=dtype)
    return out if any(isinstance(a, np.ndarray) for a in args) else out[()]


@jitable
def _pow_dx(x: Any, p: Any) -> Any:
    if p == 0:
        return 0.0
    if p == 1:
        return 1.0
    return p * float(x) ** (p - 1)


@pointwise(_pow_dx)
def pow_dx(x: Any, p: Any) -> Any:
    """d(x ** p)/dx: `p * x ** (p - 1)`, and 0 for p = 0 whatever x is."""
    with np.errstate(all="ignore"):
        zero = np.equal(p, 0)
        lowered = np.where(zero, np.ones((), np.result_type(p)), p) - 1
        return _boxed(np.where(zero, 0, p * np.power(np.asarray(x, _float(x)), lowered)), x, p)


def _float(x: Any) -> Any:
    dtype = np.result_type(x)
    return dtype if dtype.kind == "f" else np.dtype(np.float64)


@jitable
def _pow_dp(x: Any, p: Any) -> Any:
    if x == 0 and p >= 0:
        return 0.0
    return float(x) ** p * np.log(x)


@pointwise(_pow_dp)
def pow_dp(x: Any, p: Any) -> Any:
    """d(x ** p)/dp: `x ** p * log(x)`; 0 for x = 0, p >= 0, and nan for a negative x."""
    with np.errstate(all="ignore"):
        flat = np.logical_and(np.equal(x, 0), np.greater_equal(p, 0))
        return _boxed(np.where(flat, 0, np.power(np.asarray(x, _float(x)), p) * np.log(x)), x, p)


@jitable
def _share(x: Any, y: Any) -> Any:
    if x == y:
        return 0.5
    return 1.0 if x > y or x != x else 0.0


@pointwise(_share)
def share(x: Any, y: Any) -> Any:
    """d maximum(x, y)/dx: 1 where x > y, 1/2 where they are equal, else 0 (of nan and a number, nan is the maximum)."""
    return _boxed(np.where(np.equal(x, y), 0.5, np.where(np.greater(x, y) | np.not_equal(x, x), 1.0, 0.0)), x, y)


@jitable
def _share_number(x: Any, y: Any) -> Any:
    if x == y:
        return 0.5
    return 1.0 if x > y or y != y else 0.0


@pointwise(_share_number)
def share_number(x: Any, y: Any) -> Any:
    """d fmax(x, y)/dx: as `share`, but of nan and a number the number is taken."""
    return _boxed(np.where(np.equal(x, y), 0.5, np.where(np.greater(x, y) | np.not_equal(y, y), 1.0, 0.0)), x, y)


@jitable
def _ratio(x: Any, h: Any) -> Any:
    return x / h if h != 0 else 0.0


@pointwise(_ratio)
def ratio(x: Any, h: Any) -> Any:
    """`x / h`, and 0 where h is 0 (the subgradient that hypot and norms take at their tip)."""
    with np.errstate(all="ignore"):
        return _boxed(np.where(np.equal(h, 0), 0, np.divide(x, h)), x, h)


@jitable
def _keep(condition: Any, w: Any) -> Any:
    return w if condition else 0.0


@jitable
def _drop(condition: Any, w: Any) -> Any:
    return _keep(not condition, w)


@pointwise(_keep)
def keep(condition: Any, w: Any) -> Any:
    """`w` where the condition holds, exactly 0 elsewhere, in the dtype of `w`."""
    out = np.where(condition, w, np.zeros((), np.result_type(w)))
    return out if isinstance(condition, np.ndarray) or isinstance(w, np.ndarray) else out[()]


@pointwise(_drop)
def drop(condition: Any, w: Any) -> Any:
    """`w` where the condition does not hold, exactly 0 elsewhere, in the dtype of `w`."""
    return keep(np.logical_not(condition), w)


@jitable
def _sigmoid(x: Any) -> Any:
    if x >= 0:
        return 1.0 / (1.0 + np.exp(-x))
    e = np.exp(x)
    return e / (1.0 + e)


@pointwise(_sigmoid)
def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))` without overflow."""
    e = np.exp(-np.abs(x))
    return _boxed(np.where(np.greater_equal(x, 0), 1 / (1 + e), e / (1 + e)), x)


@jitable
def _sinc_dx(x: Any) -> Any:
    t = np.pi * x
    if abs(t) < 0.1:
        s = t * t
        return -np.pi * t / 3 * (1 - s / 10 * (1 - s / 28 * (1 - s / 54 * (1 - s / 88))))
    return (np.cos(t) - np.sin(t) / t) / x


@pointwise(_sinc_dx)
def sinc_dx(x: Any) -> Any:
    """d sinc(x)/dx, by its series near 0."""
    t = np.pi * np.asarray(x, np.float64)
    s = t * t
    near = -np.pi * t / 3 * (1 - s / 10 * (1 - s / 28 * (1 - s / 54 * (1 - s / 88))))
    away = np.where(np.abs(t) < 0.1, 1.0, t)
    return _boxed(np.where(np.abs(t) < 0.1, near, np.pi * (np.cos(away) - np.sin(away) / away) / away), x)


@jitable
def _digamma(x: float) -> float:
    x = float(x)
    if x != x or x == -math.inf:
        return math.nan
    if x == math.inf:
        return x
    if x <= 0 and x == math.floor(x):
        return math.nan
    out = 0.0
    if x < 0.5:
        # psi(1 - x) - psi(x) = pi / tan(pi x); the angle is reduced first to stay exact for large -x
        out = -math.pi / math.tan(math.pi * (x - math.floor(x)))
        x = 1.0 - x
    while x < 10.0:
        out -= 1.0 / x
        x += 1.0
    f = 1.0 / (x * x)
    series = f * (1 / 12 - f * (1 / 120 - f * (1 / 252 - f * (1 / 240 - f * (1 / 132 - f * (691 / 32760 - f / 12))))))
    return out + math.log(x) - 0.5 / x - series


@pointwise(_digamma)
def digamma(x: Any) -> Any:
    """The derivative of `lgamma`; nan at its poles."""
    if isinstance(x, np.ndarray):
        return _boxed(np.array([_digamma(v) for v in x.ravel()]).reshape(x.shape), x)
    return _digamma(x)


@jitable
def _clip(x: Any, low: Any, high: Any) -> Any:
    m = low if low > x or low != low else x
    return high if high < m or high != high else m


def _clipped(args: tuple[Any, ...]) -> np.dtype[Any]:
    """Integers stay integers."""
    dtypes = [as_dtype(t.dtype if isinstance(t, types.Array) else unliteral(t)) for t in args]
    if any(d.kind == "f" for d in dtypes):
        return float_dtype(args)
    return np.result_type(*([d for d, t in zip(dtypes, args, strict=True) if isinstance(t, types.Array)] or dtypes))


@pointwise(_clip, _clipped)
def _between(x: Any, low: Any, high: Any) -> Any:
    return np.clip(x, low, high)


@jitable
def _larger(x: Any, low: Any) -> Any:
    return low if low > x or low != low else x


@pointwise(_larger, _clipped)
def _above(x: Any, low: Any) -> Any:
    return np.clip(x, low, None)


@jitable
def _smaller(x: Any, high: Any) -> Any:
    return high if high < x or high != high else x


@pointwise(_smaller, _clipped)
def _below(x: Any, high: Any) -> Any:
    return np.clip(x, None, high)


def clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    """`np.clip` of scalars or arrays with one or two bounds."""
    return np.clip(a, a_min, a_max)


@typed(clip)
def _clip_text(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    if is_none(a_max):
        return lambda a, a_min=None, a_max=None: _above(a, a_min)
    if is_none(a_min):
        return lambda a, a_min=None, a_max=None: _below(a, a_max)
    return lambda a, a_min=None, a_max=None: _between(a, a_min, a_max)


@jitable
def _where(condition: Any, x: Any, y: Any) -> Any:
    return x if condition else y


def _common(args: tuple[Any, ...]) -> np.dtype[Any]:
    return np.result_type(*(as_dtype(t.dtype if isinstance(t, types.Array) else unliteral(t)) for t in args[1:]))


@pointwise(_where, _common)
def where_of(condition: Any, x: Any, y: Any) -> Any:
    """`np.where` of two arrays or numbers of one dtype."""
    out = np.where(condition, x, y)
    return out if out.ndim else out[()]


@jitable
def _cbrt(x: float) -> float:
    return float(np.cbrt(x))


@pointwise(_cbrt)
def cbrt(x: Any) -> Any:
    """Cube root (Numba lacks `math.cbrt`)."""
    return np.cbrt(x)


@jitable
def _heaviside(x: Any, half: Any) -> Any:
    if x == 0:
        return float(half)
    return x * 1.0 if x != x else 1.0 if x > 0 else 0.0


@pointwise(_heaviside)
def heaviside(x1: Any, x2: Any) -> Any:
    """`np.heaviside`."""
    return np.heaviside(x1, x2)
