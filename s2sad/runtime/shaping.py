"""Un-broadcasting, reshaping, joining and creating arrays, and their adjoints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numpy.lib.stride_tricks import as_strided

from s2sad.runtime.axes import inverse, pairwise, permuted, vector
from s2sad.runtime.core import compiled_as, is_none, jitable, tuple_setitem, typed


def sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum `g` over the axes along which an array of this shape was broadcast to g's shape.

    Returns g itself if the shapes are equal, a scalar for the shape `()`. ValueError if the shape does not broadcast to g's.
    """
    if np.shape(g) == shape:
        return g
    if shape == ():
        return np.sum(g, dtype=g.dtype)
    if np.broadcast_shapes(g.shape, shape) != g.shape:
        raise ValueError("shapes do not fit")
    lead = g.ndim - len(shape)
    axes = (*range(lead), *(i + lead for i, n in enumerate(shape) if n == 1 and g.shape[i + lead] != 1))
    return np.sum(g, axis=axes, dtype=np.float64).astype(g.dtype).reshape(shape)


@typed(sum_to)
def _sum_to(g: Any, shape: Any) -> Any:
    if not isinstance(g, types.Array):
        if len(shape) == 0:
            return lambda g, shape: g
        return lambda g, shape: np.full(shape, g)  # nothing was broadcast but a scalar adjoint stands for a whole array
    if len(shape) == 0:
        return (lambda g, shape: g[()]) if g.ndim == 0 else (lambda g, shape: pairwise(vector(g)))
    if len(shape) > g.ndim:
        raise TypingError(f"sum_to: an array of {g.ndim} axes cannot stem from one of {len(shape)}")
    lead = g.ndim - len(shape)

    def impl(g, shape):  # type: ignore[no-untyped-def]
        out = np.zeros(shape, np.float64)
        for k in range(len(shape)):
            if shape[k] != 1 and shape[k] != g.shape[lead + k]:
                raise ValueError("shapes do not fit")
        fold(out, g)
        return out.astype(g.dtype)

    def if_needed(g, shape):  # type: ignore[no-untyped-def]
        if g.shape == shape:
            return g
        return impl_(g, shape)

    impl_: Any = jitable(impl)
    return if_needed if lead == 0 else impl


def fold(out: Any, g: Any) -> None:
    """Add `g` into `out`, which broadcasts to it."""
    out += sum_to(g, out.shape)


@typed(fold)
def _fold(out: Any, g: Any) -> Any:
    if out.ndim < g.ndim:

        def leading(out, g):  # type: ignore[no-untyped-def]
            for i in range(g.shape[0]):
                fold(out, g[i])

        return leading
    if g.ndim == 1:

        def last(out, g):  # type: ignore[no-untyped-def]
            if out.shape[0] == g.shape[0]:
                for i in range(g.shape[0]):
                    out[i] += g[i]
            else:
                for i in range(g.shape[0]):
                    out[0] += g[i]

        return last

    def inner(out, g):  # type: ignore[no-untyped-def]
        for i in range(g.shape[0]):
            fold(out[i if out.shape[0] == g.shape[0] else 0], g[i])

    return inner


def reshaped(a: Any, shape: Any) -> Any:
    """`np.reshape(a, shape)` for every layout."""
    return np.reshape(a, shape)


@typed(reshaped)
def _reshaped(a: Any, shape: Any) -> Any:
    if not isinstance(a, types.Array):
        return lambda a, shape: np.full(1, a).reshape(shape)
    return lambda a, shape: np.ascontiguousarray(a).reshape(shape)


@jitable
def untranspose(w: Any, axes: tuple[int, ...]) -> Any:
    """Adjoint of `np.transpose(x, axes)`."""
    return permuted(w, inverse(axes))


def squeezed(a: Any, axis: int) -> Any:
    """`np.squeeze(a, axis)` for one axis, a view."""
    return np.squeeze(a, axis)


@typed(squeezed)
def _squeezed(a: Any, axis: Any) -> Any:
    ndim = a.ndim

    def impl(a, axis):  # type: ignore[no-untyped-def]
        k = axis % ndim
        if a.shape[k] != 1:
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        shape = a.shape[1:]
        strides = a.strides[1:]
        for i in range(ndim - 1):
            shape = tuple_setitem(shape, i, a.shape[i if i < k else i + 1])
            strides = tuple_setitem(strides, i, a.strides[i if i < k else i + 1])
        return as_strided(a, shape, strides)

    return impl


# --- joins -------------------------------------------------------------------------------------


def cut(w: Any, axis: int, start: int, stop: int) -> Any:
    """A copy of the part of `w` from start to stop along an axis (adjoint of a concatenation)."""
    return np.moveaxis(np.moveaxis(w, axis, 0)[start:stop], 0, axis).copy()


@compiled_as(cut)
def _cut(w, axis, start, stop):  # type: ignore[no-untyped-def]
    return np.swapaxes(np.swapaxes(w, axis, 0)[start:stop], 0, axis).copy()


def plane(w: Any, axis: int, k: int) -> Any:
    """A copy of `w` at position k of an axis, without that axis (adjoint of a stack)."""
    return np.moveaxis(w, axis, 0)[k].copy()


@typed(plane)
def _plane(w: Any, axis: Any, k: Any) -> Any:
    ndim = w.ndim
    if ndim == 1:
        return lambda w, axis, k: np.asarray(w[k])

    def impl(w, axis, k):  # type: ignore[no-untyped-def]
        perm = w.shape
        a = axis % ndim
        for i in range(ndim - 1):
            perm = tuple_setitem(perm, i + 1, i if i < a else i + 1)
        return permuted(w, tuple_setitem(perm, 0, a))[k].copy()

    return impl


# --- diagonals, triangles ----------------------------------------------------------------------


@jitable
def diag_dx(w: Any, shape: tuple[int, int], k: int = 0) -> Any:
    """Adjoint of `np.diag(x, k)` (also `np.diagonal`) of a 2-d array: `w` on the diagonal of zeros."""
    out = np.zeros(shape, w.dtype)
    for j in range(w.size):
        out[max(-k, 0) + j, max(k, 0) + j] = w[j]
    return out


@jitable
def trace_dx(w: Any, shape: tuple[int, int], k: int = 0) -> Any:
    """Adjoint of `np.trace`."""
    v = vector(w)
    out = np.zeros(shape, v.dtype)
    i, j = max(-k, 0), max(k, 0)
    while i < shape[0] and j < shape[1]:
        out[i, j] = v[0]
        i += 1
        j += 1
    return out


@jitable
def ramp_up(w: Any) -> Any:
    """Adjoint of linspace's stop."""
    s = 0.0
    for k in range(1, w.size):
        s += w[k] * (k / (w.size - 1))
    return s


@jitable
def ramp_down(w: Any) -> Any:
    """Adjoint of linspace's start."""
    s = 0.0
    for k in range(w.size):
        s += w[k] * ((w.size - 1 - k) / (w.size - 1) if w.size > 1 else 1.0)
    return s


# --- interpolation -----------------------------------------------------------------------------


@jitable
def _segment(x: float, xp: Any) -> int:
    """Index j of the segment xp[j] <= x < xp[j + 1] (the last one at the right end), or -1 outside."""
    if xp.size == 1 or x < xp[0] or x > xp[-1] or x != x:
        return -1
    lo, hi = 0, xp.size - 1
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if xp[mid] <= x:
            lo = mid
        else:
            hi = mid
    return lo


@jitable
def interp_dx(w: Any, x: Any, xp: Any, fp: Any) -> Any:
    """Adjoint of `np.interp` with respect to x: the slope of the segment taken (0 outside)."""
    v = vector(w)
    points = vector(x)
    out = np.zeros(points.size, v.dtype)
    for k in range(points.size):
        j = _segment(points[k], xp)
        if j >= 0:
            out[k] = v[k] * ((fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]))
    return like(out, x)


def like(v: Any, x: Any) -> Any:
    """A 1-d array in the shape and float dtype of x, which may be a scalar."""
    return v.reshape(x.shape) if isinstance(x, np.ndarray) else v[0]


@typed(like)
def _like(v: Any, x: Any) -> Any:
    if isinstance(x, types.Array):
        return lambda v, x: v.reshape(x.shape)
    return lambda v, x: v[0]


@jitable
def interp_dfp(w: Any, x: Any, xp: Any, n: int) -> Any:
    """Adjoint of `np.interp` with respect to its n values."""
    v = vector(w)
    points = vector(x)
    out = np.zeros(n, v.dtype)
    for k in range(points.size):
        j = _segment(points[k], xp)
        if j >= 0:
            t = (points[k] - xp[j]) / (xp[j + 1] - xp[j])
            out[j] += v[k] * (1 - t)
            out[j + 1] += v[k] * t
        elif n == 1 or points[k] < xp[0]:
            out[0] += v[k]
        elif points[k] > xp[-1]:
            out[n - 1] += v[k]
    return out


# --- constants ---------------------------------------------------------------------------------


def stop_gradient(x: Any) -> Any:
    """The value of x, without its derivative; a copy of an array."""
    return x.copy() if isinstance(x, np.ndarray) else x


@typed(stop_gradient)
def _stop_gradient(x: Any) -> Any:
    return (lambda x: x.copy()) if isinstance(x, types.Array) else (lambda x: x)


def round_of(a: Any, decimals: int = 0) -> Any:
    """`np.round` of scalars or arrays."""
    return np.round(a, decimals)


@typed(round_of)
def _round_of(a: Any, decimals: Any = 0) -> Any:
    if isinstance(a, types.Array):

        def impl(a, decimals=0):  # type: ignore[no-untyped-def]
            return np.round(a, decimals, np.empty_like(a))

        return impl
    plain = is_none(decimals) or isinstance(decimals, (int, types.Omitted)) or getattr(decimals, "literal_value", None) == 0
    if plain:
        return lambda a, decimals=0: np.rint(a)

    def scaled(a, decimals=0):  # type: ignore[no-untyped-def]
        p = 10.0 ** abs(decimals)
        return np.rint(a * p) / p if decimals >= 0 else np.rint(a / p) * p

    return scaled
