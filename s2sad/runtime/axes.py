"""Reductions and scans along axes, and their adjoints.

Everything is done on rows: `rows(x, axis)` is a 2-d array whose rows run along the reduced axes, `unrows` puts such an array back.
Adjoint functions `f_dx` return fresh arrays of the argument's shape in the adjoint's dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numpy.lib.stride_tricks import as_strided

from s2sad.runtime.core import build, compiled_as, is_none, jitable, literal, pointwise, tuple_setitem, typed
from s2sad.runtime.pointwise import keep

# --- rows --------------------------------------------------------------------------------------


def order(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """The permutation that puts `axis` (None: all, an int, or a tuple) last."""
    ndim = len(shape)
    axes = tuple(range(ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for a in axes:
        if not -ndim <= a < ndim:
            raise ValueError("axis is out of bounds for the array's dimension")
    last = tuple(a % ndim for a in axes)
    if len(set(last)) != len(last):
        raise ValueError("duplicate value in axis")
    return (*(i for i in range(ndim) if i not in last), *last)


def _length(axis: Any, ndim: int) -> int:
    """Number of axes that an `axis` argument of this type names."""
    if is_none(axis):
        return ndim
    return len(axis) if isinstance(axis, types.BaseTuple) else 1


@typed(order)
def _order(shape: Any, axis: Any) -> Any:
    ndim = len(shape)
    if is_none(axis):
        identity = tuple(range(ndim))
        return lambda shape, axis: identity
    if isinstance(axis, types.Tuple):  # a tuple of literals
        text = "(" + "".join(f"np.intp(axis[{k}]), " for k in range(len(axis))) + ")"
        return build(f"def impl(shape, axis):\n    return order(shape, {text})\n", order=order)
    if isinstance(axis, types.BaseTuple):

        def several(shape, axis):  # type: ignore[no-untyped-def]
            taken = np.zeros(ndim, np.bool_)
            for a in axis:
                if not -ndim <= a < ndim:
                    raise ValueError("axis is out of bounds for the array's dimension")
                if taken[a]:
                    raise ValueError("duplicate value in axis")
                taken[a] = True
            out = shape
            k = 0
            for i in range(ndim):
                if not taken[i]:
                    out = tuple_setitem(out, k, i)
                    k += 1
            for a in axis:
                out = tuple_setitem(out, k, a % ndim)
                k += 1
            return out

        return several

    def one(shape, axis):  # type: ignore[no-untyped-def]
        if not -ndim <= axis < ndim:
            raise ValueError("axis is out of bounds for the array's dimension")
        a = axis % ndim
        out = shape
        k = 0
        for i in range(ndim):
            if i != a:
                out = tuple_setitem(out, k, i)
                k += 1
        return tuple_setitem(out, k, a)

    return one


def pick(shape: tuple[int, ...], perm: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` in the order of a permutation."""
    return tuple(shape[i] for i in perm)


@typed(pick)
def _pick(shape: Any, perm: Any) -> Any:
    def impl(shape, perm):  # type: ignore[no-untyped-def]
        out = shape
        for k in range(len(shape)):
            out = tuple_setitem(out, k, shape[perm[k]])
        return out

    return (lambda shape, perm: shape) if len(shape) == 0 else impl


def permuted(x: Any, perm: tuple[int, ...]) -> Any:
    """The view `np.transpose(x, perm)`."""
    return x.transpose(perm)


@typed(permuted)
def _permuted(x: Any, perm: Any) -> Any:
    # strides: Numba's np.transpose of a run-time permutation takes seconds to compile
    return lambda x, perm: as_strided(x, pick(x.shape, perm), pick(x.strides, perm))


def inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    """The inverse permutation (negative entries count from the end)."""
    return tuple(int(i) for i in np.argsort([p % len(perm) for p in perm], kind="stable"))


@typed(inverse)
def _inverse(perm: Any) -> Any:
    def impl(perm):  # type: ignore[no-untyped-def]
        out = perm
        for k in range(len(perm)):
            out = tuple_setitem(out, perm[k] % len(perm), k)
        return out

    return impl


def count(shape: tuple[int, ...], axis: Any = None) -> int:
    """Number of elements along `axis`."""
    n = 1
    for i in order(shape, axis)[len(shape) - _count_axes(shape, axis) :]:
        n *= shape[i]
    return n


def _count_axes(shape: tuple[int, ...], axis: Any) -> int:
    return len(shape) if axis is None else len(axis) if isinstance(axis, tuple) else 1


@typed(count)
def _count(shape: Any, axis: Any = None) -> Any:
    ndim, kept = len(shape), len(shape) - _length(axis, len(shape))
    if ndim == 0:
        return lambda shape, axis=None: 1

    def impl(shape, axis=None):  # type: ignore[no-untyped-def]
        perm = order(shape, axis)
        n = 1
        for k in range(kept, ndim):
            n *= shape[perm[k]]
        return n

    return impl


def rows(x: Any, axis: Any) -> Any:
    """The elements along `axis` in the rows of a contiguous 2-d array; may share memory with x."""
    perm = order(x.shape, axis)
    n = count(x.shape, axis)
    kept = 1
    for i in perm[: x.ndim - _count_axes(x.shape, axis)]:
        kept *= x.shape[i]
    return np.ascontiguousarray(x.transpose(perm)).reshape(kept, n)


@typed(rows)
def _rows(x: Any, axis: Any) -> Any:
    if not isinstance(x, types.Array):
        raise TypingError("a reduction needs an array")
    ndim, kept_axes = x.ndim, x.ndim - _length(axis, x.ndim)
    if is_none(axis) or ndim == 1:

        def whole(x, axis):  # type: ignore[no-untyped-def]
            return np.ascontiguousarray(x).reshape((1, x.size))

        def checked(x, axis):  # type: ignore[no-untyped-def]
            order(x.shape, axis)
            return np.ascontiguousarray(x).reshape((1, x.size))

        return whole if is_none(axis) else checked

    def impl(x, axis):  # type: ignore[no-untyped-def]
        perm = order(x.shape, axis)
        kept = 1
        for k in range(kept_axes):
            kept *= x.shape[perm[k]]
        n = 1
        for k in range(kept_axes, ndim):
            n *= x.shape[perm[k]]
        return np.ascontiguousarray(permuted(x, perm)).reshape((kept, n))

    return impl


def unrows(r: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """The inverse of `rows`: a contiguous array of this shape."""
    perm = order(shape, axis)
    return np.ascontiguousarray(r.reshape(pick(shape, perm)).transpose(inverse(perm)) if shape else r.reshape(()))


@typed(unrows)
def _unrows(r: Any, shape: Any, axis: Any) -> Any:
    if is_none(axis) or len(shape) <= 1:
        return lambda r, shape, axis: r.reshape(shape)

    def impl(r, shape, axis):  # type: ignore[no-untyped-def]
        perm = order(shape, axis)
        return np.ascontiguousarray(permuted(r.reshape(pick(shape, perm)), inverse(perm)))

    return impl


def reduced(v: Any, shape: tuple[int, ...], axis: Any, keepdims: bool) -> Any:
    """One value per row, in the shape that NumPy gives a reduction (a scalar if nothing is left)."""
    perm = order(shape, axis)
    kept = len(shape) - _count_axes(shape, axis)
    if keepdims:
        ones = list(shape)
        for i in perm[kept:]:
            ones[i] = 1
        return v.reshape(ones)
    return v.reshape(pick(shape, perm[:kept])) if kept else v[0]


@typed(reduced)
def _reduced(v: Any, shape: Any, axis: Any, keepdims: Any) -> Any:
    ndim, kept = len(shape), len(shape) - _length(axis, len(shape))
    if literal(keepdims):
        if ndim == 0:
            return lambda v, shape, axis, keepdims: v.reshape(())

        def same_ndim(v, shape, axis, keepdims):  # type: ignore[no-untyped-def]
            perm = order(shape, axis)
            out = shape
            for k in range(kept, ndim):
                out = tuple_setitem(out, perm[k], 1)
            return v.reshape(out)

        return same_ndim
    if kept == 0:
        return lambda v, shape, axis, keepdims: v[0]

    def impl(v, shape, axis, keepdims):  # type: ignore[no-untyped-def]
        perm = order(shape, axis)
        out = shape[:kept]
        for k in range(kept):
            out = tuple_setitem(out, k, shape[perm[k]])
        return v.reshape(out)

    return impl


def vector(w: Any) -> Any:
    """A scalar or an array as a contiguous 1-d array."""
    return np.ascontiguousarray(w).reshape(np.size(w))


@typed(vector)
def _vector(w: Any) -> Any:
    if isinstance(w, types.Array):
        return lambda w: np.ascontiguousarray(w).reshape(w.size)
    return lambda w: np.full(1, w)


def put(out: Any, k: int, v: Any) -> None:
    """`out[k] = v` for a row or a number."""
    out[k] = v


@typed(put)
def _put(out: Any, k: Any, v: Any) -> Any:
    # element by element: the text of Numba's shape error for `out[k] = v` takes seconds to compile
    def entries(out, k, v):  # type: ignore[no-untyped-def]
        for j in range(out.shape[1]):
            out[k, j] = v[j]

    def number(out, k, v):  # type: ignore[no-untyped-def]
        for j in range(out.shape[1]):
            out[k, j] = v

    return entries if isinstance(v, types.Array) else number


def floats(r: Any) -> Any:
    """The array itself if it has a float dtype, else a float64 copy."""
    return r if r.dtype.kind == "f" else r.astype(np.float64)


@typed(floats)
def _floats(r: Any) -> Any:
    return (lambda r: r) if isinstance(r.dtype, types.Float) else (lambda r: r.astype(np.float64))


def summable(r: Any) -> Any:
    """The array in the dtype that NumPy sums it in."""
    return r if r.dtype.kind == "f" else r.astype(np.uint64 if r.dtype.kind == "u" else np.int64)


@typed(summable)
def _summable(r: Any) -> Any:
    if isinstance(r.dtype, types.Float):
        return lambda r: r
    dtype = np.uint64 if str(r.dtype).startswith("uint") else np.int64
    return lambda r: r.astype(dtype)


# --- reductions --------------------------------------------------------------------------------


def pairwise(v: Any) -> Any:
    """Sum of a contiguous 1-d array in its own dtype, with NumPy's accuracy."""
    return np.sum(v, dtype=v.dtype)


@compiled_as(pairwise)
def _pairwise(v):  # type: ignore[no-untyped-def]
    n = v.size
    blocks = (n + 127) // 128
    part = np.zeros(max(blocks, 1), v.dtype)
    for b in range(blocks):
        i = b * 128
        stop = min(i + 128, n)
        # eight running sums: as accurate as NumPy, and the loop is not one long chain of additions
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = v.dtype.type(0)
        while i + 8 <= stop:
            s0 += v[i]
            s1 += v[i + 1]
            s2 += v[i + 2]
            s3 += v[i + 3]
            s4 += v[i + 4]
            s5 += v[i + 5]
            s6 += v[i + 6]
            s7 += v[i + 7]
            i += 8
        s = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
        while i < stop:
            s += v[i]
            i += 1
        part[b] = s
    while blocks > 1:
        half = (blocks + 1) // 2
        for b in range(blocks // 2):
            part[b] = part[2 * b] + part[2 * b + 1]
        if blocks % 2:
            part[half - 1] = part[blocks - 1]
        blocks = half
    return part[0]


@jitable
def mean_of_row(v: Any) -> Any:
    """Mean of a contiguous 1-d float array in its own dtype; nan if it is empty."""
    return v.dtype.type(pairwise(v) / np.float64(v.size))


def sum_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.sum` for every axis, keepdims and dtype, pairwise in the array's dtype."""
    return np.sum(a, axis=axis, keepdims=keepdims)


@compiled_as(sum_of)
def _sum_of(a, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
    r = summable(rows(a, axis))
    out = np.empty(r.shape[0], r.dtype)
    for k in range(out.size):
        out[k] = pairwise(r[k])
    return reduced(out, a.shape, axis, keepdims)


def mean_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.mean` for every axis, keepdims and dtype."""
    return np.mean(a, axis=axis, keepdims=keepdims)


@compiled_as(mean_of)
def _mean_of(a, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
    r = floats(rows(a, axis))
    out = np.empty(r.shape[0], r.dtype)
    for k in range(out.size):
        out[k] = mean_of_row(r[k])
    return reduced(out, a.shape, axis, keepdims)


def prod_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.prod` for every axis, keepdims and dtype."""
    return np.prod(a, axis=axis, keepdims=keepdims)


@compiled_as(prod_of)
def _prod_of(a, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
    r = summable(rows(a, axis))
    out = np.ones(r.shape[0], r.dtype)
    for k in range(r.shape[0]):
        for j in range(r.shape[1]):
            out[k] *= r[k, j]
    return reduced(out, a.shape, axis, keepdims)


def max_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.max` for every axis and keepdims; nan if there is one."""
    return np.max(a, axis=axis, keepdims=keepdims)


@compiled_as(max_of)
def _max_of(a, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
    r = rows(a, axis)
    if r.shape[1] == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    out = np.empty(r.shape[0], r.dtype)
    for k in range(out.size):
        m = r[k, 0]
        for j in range(1, r.shape[1]):
            if r[k, j] > m or r[k, j] != r[k, j]:
                m = r[k, j]
        out[k] = m
    return reduced(out, a.shape, axis, keepdims)


def min_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.min` for every axis and keepdims; nan if there is one."""
    return np.min(a, axis=axis, keepdims=keepdims)


@compiled_as(min_of)
def _min_of(a, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
    r = rows(a, axis)
    if r.shape[1] == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    out = np.empty(r.shape[0], r.dtype)
    for k in range(out.size):
        m = r[k, 0]
        for j in range(1, r.shape[1]):
            if r[k, j] < m or r[k, j] != r[k, j]:
                m = r[k, j]
        out[k] = m
    return reduced(out, a.shape, axis, keepdims)


def var_of(a: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """`np.var` for every axis, ddof and keepdims, in two passes."""
    return np.var(a, axis=axis, ddof=ddof, keepdims=keepdims)


@compiled_as(var_of)
def _var_of(a, axis=None, ddof=0, keepdims=False):  # type: ignore[no-untyped-def]
    r = floats(rows(a, axis))
    out = np.empty(r.shape[0], r.dtype)
    for k in range(out.size):
        d = r[k] - mean_of_row(r[k])
        out[k] = pairwise(d * d) / np.float64(max(r.shape[1] - ddof, 0))
    return reduced(out, a.shape, axis, keepdims)


def std_of(a: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """`np.std` for every axis, ddof and keepdims, in two passes."""
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)


@compiled_as(std_of)
def _std_of(a, axis=None, ddof=0, keepdims=False):  # type: ignore[no-untyped-def]
    r = floats(rows(a, axis))
    out = np.empty(r.shape[0], r.dtype)
    for k in range(out.size):
        d = r[k] - mean_of_row(r[k])
        out[k] = np.sqrt(pairwise(d * d) / np.float64(max(r.shape[1] - ddof, 0)))
    return reduced(out, a.shape, axis, keepdims)


def any_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.any` for every axis and keepdims."""
    return np.any(a, axis=axis, keepdims=keepdims)


@compiled_as(any_of)
def _any_of(a, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
    r = rows(a, axis)
    out = np.zeros(r.shape[0], np.bool_)
    for k in range(r.shape[0]):
        for j in range(r.shape[1]):
            out[k] |= r[k, j] != 0
    return reduced(out, a.shape, axis, keepdims)


def all_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.all` for every axis and keepdims."""
    return np.all(a, axis=axis, keepdims=keepdims)


@compiled_as(all_of)
def _all_of(a, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
    r = rows(a, axis)
    out = np.ones(r.shape[0], np.bool_)
    for k in range(r.shape[0]):
        for j in range(r.shape[1]):
            out[k] &= r[k, j] != 0
    return reduced(out, a.shape, axis, keepdims)


def count_nonzero_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.count_nonzero` for every axis and keepdims."""
    return np.count_nonzero(a, axis=axis, keepdims=keepdims)


@compiled_as(count_nonzero_of)
def _count_nonzero_of(a, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
    r = rows(a, axis)
    out = np.zeros(r.shape[0], np.int64)
    for k in range(r.shape[0]):
        for j in range(r.shape[1]):
            if r[k, j] != 0:
                out[k] += 1
    return reduced(out, a.shape, axis, keepdims)


# --- adjoints of reductions --------------------------------------------------------------------


def spread(w: Any, shape: tuple[int, ...], axis: Any = None, keepdims: bool = False) -> Any:
    """Adjoint of a sum over `axis` of an array of this shape: a fresh array with `w` repeated along the axis."""
    v = vector(w)
    return unrows(np.ascontiguousarray(np.broadcast_to(v[:, None], (v.size, count(shape, axis)))), shape, axis).copy()


@compiled_as(spread)
def _spread(w, shape, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
    v = vector(w)
    out = np.empty((v.size, count(shape, axis)), v.dtype)
    for k in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[k, j] = v[k]
    return unrows(out, shape, axis)


@jitable
def mean_dx(w: Any, shape: tuple[int, ...], axis: Any = None, keepdims: bool = False) -> Any:
    """Adjoint of a mean."""
    v = vector(w)
    out = np.empty((v.size, count(shape, axis)), v.dtype)
    for k in range(out.shape[0]):
        put(out, k, v[k] / out.shape[1])
    return unrows(out, shape, axis)


@jitable
def max_share(w: Any, x: Any, y: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Adjoint of y = max(x) or min(x) over `axis`: shared evenly over the entries that are equal to the result."""
    r = rows(x, axis)
    v = vector(w)
    top = vector(y)
    out = np.zeros(r.shape, v.dtype)
    for k in range(r.shape[0]):
        hit = (r[k] == top[k]) | ((r[k] != r[k]) & (top[k] != top[k]))
        if v[k] != 0:
            put(out, k, keep(hit, v[k] / np.sum(hit)))
    return unrows(out, x.shape, axis)


@jitable
def prod_dx(w: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Adjoint of a product: each entry gets the product of the others, so zeros are exact."""
    r = rows(x, axis)
    v = vector(w)
    out = np.empty(r.shape, r.dtype)
    n = r.shape[1]
    for k in range(r.shape[0]):
        before = v[k]
        for j in range(n):
            out[k, j] = before
            before *= r[k, j]
        after = r.dtype.type(1)
        for j in range(n - 1, -1, -1):
            out[k, j] *= after
            after *= r[k, j]
    return unrows(out, x.shape, axis)


@jitable
def var_dx(w: Any, x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Adjoint of a variance."""
    r = rows(x, axis)
    v = vector(w)
    out = np.empty(r.shape, r.dtype)
    for k in range(r.shape[0]):
        put(out, k, (r[k] - mean_of_row(r[k])) * (2.0 * v[k] / np.float64(max(r.shape[1] - ddof, 0))))
    return unrows(out, x.shape, axis)


@jitable
def std_dx(w: Any, x: Any, y: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Adjoint of a standard deviation y; 0 where it is 0."""
    r = rows(x, axis)
    v = vector(w)
    s = vector(y)
    out = np.zeros(r.shape, r.dtype)
    for k in range(r.shape[0]):
        if s[k] != 0 and v[k] != 0:
            put(out, k, (r[k] - mean_of_row(r[k])) / s[k] * (v[k] / np.float64(max(r.shape[1] - ddof, 0))))
    return unrows(out, x.shape, axis)


def norm_of(x: Any) -> Any:
    """`np.linalg.norm` of a whole array, in its dtype (integers as float64)."""
    return np.linalg.norm(x)


@compiled_as(norm_of)
def _norm_of(x):  # type: ignore[no-untyped-def]
    v = floats(vector(x))
    return v.dtype.type(np.sqrt(pairwise(v * v)))


@jitable
def _norm_dx(w: Any, x: Any, y: Any) -> Any:
    return x / y * w if y != 0 and w != 0 else 0.0


@pointwise(_norm_dx)
def norm_dx(w: Any, x: Any, y: Any) -> Any:
    """Adjoint of y = norm(x): `w * x / y`, and 0 where y is 0."""
    return x / y * w if y != 0 and w != 0 else np.zeros_like(x)


# --- scans and sorting -------------------------------------------------------------------------


@jitable
def cumsum_dx(w: Any, shape: tuple[int, ...], axis: Any = None) -> Any:
    """Adjoint of a cumulative sum (axis None: of the flat array)."""
    r = rows(w, axis)
    out = np.empty(r.shape, r.dtype)
    for k in range(r.shape[0]):
        put(out, k, np.cumsum(r[k][::-1])[::-1])
    return unrows(out, shape, axis)


def cumprod_of(a: Any, axis: Any = None) -> Any:
    """`np.cumprod` for every axis."""
    return np.cumprod(a, axis=axis)


@typed(cumprod_of)
def _cumprod_of(a: Any, axis: Any = None) -> Any:
    def impl(a, axis=None):  # type: ignore[no-untyped-def]
        r = summable(rows(a, axis))
        out = r.copy()
        for k in range(r.shape[0]):
            for j in range(1, r.shape[1]):
                out[k, j] *= out[k, j - 1]
        return unrows(out, a.shape, axis)

    if is_none(axis):
        return lambda a, axis=None: cumprod_of(a.ravel(), 0)
    return impl


def cumsum_of(a: Any, axis: Any = None) -> Any:
    """`np.cumsum` for every axis, in the array's dtype."""
    return np.cumsum(a, axis=axis)


@typed(cumsum_of)
def _cumsum_of(a: Any, axis: Any = None) -> Any:
    def impl(a, axis=None):  # type: ignore[no-untyped-def]
        r = summable(rows(a, axis))
        out = r.copy()
        for k in range(r.shape[0]):
            for j in range(1, r.shape[1]):
                out[k, j] += out[k, j - 1]
        return unrows(out, a.shape, axis)

    if is_none(axis):
        return lambda a, axis=None: cumsum_of(a.ravel(), 0)
    return impl


@jitable
def cumprod_dx(w: Any, x: Any, axis: Any = None) -> Any:
    """Adjoint of a cumulative product, exact with zeros."""
    r = rows(x, axis)
    v = rows(w, axis)
    out = np.empty(r.shape, r.dtype)
    n = r.shape[1]
    for k in range(r.shape[0]):
        tail = r.dtype.type(0)
        for j in range(n - 1, -1, -1):
            # tail: what later results hand back, divided by the product of the entries up to j
            tail = v[k, j] + (tail * r[k, j + 1] if j + 1 < n else tail)
            out[k, j] = tail
        before = r.dtype.type(1)
        for j in range(n):
            out[k, j] *= before
            before *= r[k, j]
    return unrows(out, x.shape, axis)


def sort_of(a: Any, axis: Any = -1) -> Any:
    """`np.sort` for every axis."""
    return np.sort(a, axis=axis)


@typed(sort_of)
def _sort_of(a: Any, axis: Any = -1) -> Any:
    def impl(a, axis=-1):  # type: ignore[no-untyped-def]
        out = rows(a, axis).copy()
        for k in range(out.shape[0]):
            put(out, k, np.sort(out[k]))
        return unrows(out, a.shape, axis)

    if is_none(axis):
        return lambda a, axis=-1: np.sort(a.ravel())
    return impl


def argsort_of(a: Any, axis: Any = -1) -> Any:
    """`np.argsort(a, axis, kind="stable")`."""
    return np.argsort(a, axis=axis, kind="stable")


@typed(argsort_of)
def _argsort_of(a: Any, axis: Any = -1) -> Any:
    def impl(a, axis=-1):  # type: ignore[no-untyped-def]
        r = rows(a, axis)
        out = np.empty(r.shape, np.int64)
        for k in range(out.shape[0]):
            put(out, k, np.argsort(r[k], kind="mergesort"))
        return unrows(out, a.shape, axis)

    if is_none(axis):
        return lambda a, axis=-1: np.argsort(a.ravel(), kind="mergesort")
    return impl


@jitable
def sort_dx(w: Any, x: Any, axis: Any = -1) -> Any:
    """Adjoint of a sort: what entry k of the result gets goes back along the stable permutation."""
    r = rows(x, axis)
    v = rows(w, axis)
    out = np.empty(r.shape, v.dtype)
    for k in range(r.shape[0]):
        turn = np.argsort(r[k], kind="mergesort")
        for j in range(turn.size):
            out[k, turn[j]] = v[k, j]
    return unrows(out, x.shape, axis)


def diff_of(a: Any, n: int = 1, axis: int = -1) -> Any:
    """`np.diff` for every axis of a float array."""
    return np.diff(a, n, axis)


@compiled_as(diff_of)
def _diff_of(a, n=1, axis=-1):  # type: ignore[no-untyped-def]
    r = rows(a, axis)
    for _ in range(min(n, r.shape[1])):
        r = r[:, 1:] - r[:, :-1]
    shape = tuple_setitem(a.shape, axis % a.ndim, r.shape[1])
    return unrows(np.ascontiguousarray(r), shape, axis)


@jitable
def diff_dx(w: Any, shape: tuple[int, ...], n: int = 1, axis: int = -1) -> Any:
    """Adjoint of `np.diff`."""
    g = rows(w, axis)
    for _ in range(n):
        out = np.zeros((g.shape[0], g.shape[1] + 1), g.dtype)
        if g.shape[1] + 1 <= shape[axis % len(shape)]:
            out[:, 1:] += g
            out[:, :-1] -= g
            g = out
    return unrows(g.copy(), shape, axis)


def flip_of(m: Any, axis: Any = None) -> Any:
    """`np.flip(m, axis)`, a view; the axis is a literal."""
    return np.flip(m, axis)


@typed(flip_of)
def _flip_of(m: Any, axis: Any = None) -> Any:
    axes = literal(axis)
    if axes is not None and not -m.ndim <= axes < m.ndim:
        raise TypingError("axis is out of bounds for the array's dimension")
    subscript = ", ".join("::-1" if axes is None or k == axes % m.ndim else ":" for k in range(m.ndim))
    return build(f"def impl(m, axis=None):\n    return m[{subscript}]\n")


def roll_of(a: Any, shift: int, axis: Any = None) -> Any:
    """`np.roll` by one number along one axis, or of the flat array."""
    return np.roll(a, shift, axis)


@compiled_as(roll_of)
def _roll_of(a, shift, axis=None):  # type: ignore[no-untyped-def]
    r = rows(a, axis)
    n = r.shape[1]
    out = np.empty_like(r)
    for k in range(r.shape[0]):
        for j in range(n):
            out[k, (j + shift) % n] = r[k, j]
    return unrows(out, a.shape, axis)
