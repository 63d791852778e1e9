"""Reductions and scans along axes, and their adjoints.

In plain Python everything is done on rows: `rows(x, axis)` is a 2-d array whose rows run along the reduced axes, `unrows` puts such an
array back. Compiled code runs loops that are written for the number of axes and the axis (see `texts`).
Adjoint functions `f_dx` return fresh arrays of the argument's shape in the adjoint's dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.np.numpy_support import as_dtype

from s2sad.runtime.core import compiled_as, is_none, jitable, literal, pointwise, typed, unliteral
from s2sad.runtime.texts import (
    SUMS,
    Phase,
    at,
    by_axis,
    constant_axes,
    counters,
    floating,
    function,
    kept_shape,
    nest,
    one_axis,
    over_axes,
    sizes,
)

# --- rows, in plain Python ---------------------------------------------------------------------


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
    return (*(i for i in range(ndim) if i not in last), *sorted(last))


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
    taken = constant_axes(axis, len(shape))
    if taken is None:
        return by_axis(count, "shape, axis=None", len(shape))
    return function("shape, axis=None", ["return " + (" * ".join(f"shape[{k}]" for k in taken) or "1")])


def rows(x: Any, axis: Any) -> Any:
    """The elements along `axis` in the rows of a contiguous 2-d array; may share memory with x."""
    perm = order(x.shape, axis)
    n = count(x.shape, axis)
    kept = 1
    for i in perm[: x.ndim - _count_axes(x.shape, axis)]:
        kept *= x.shape[i]
    return np.ascontiguousarray(x.transpose(perm)).reshape(kept, n)


def unrows(r: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """The inverse of `rows`: a contiguous array of this shape."""
    perm = order(shape, axis)
    ordered = r.reshape(tuple(shape[i] for i in perm))
    return np.ascontiguousarray(ordered.transpose(np.argsort(perm)) if shape else r.reshape(()))


def vector(w: Any) -> Any:
    """A scalar or an array as a contiguous 1-d array."""
    return np.ascontiguousarray(w).reshape(np.size(w))


@typed(vector)
def _vector(w: Any) -> Any:
    if isinstance(w, types.Array):
        return lambda w: np.ascontiguousarray(w).reshape(w.size)
    return lambda w: np.full(1, w)


def _mean_of_rows(r: Any) -> Any:
    return np.sum(r, axis=1, dtype=r.dtype, keepdims=True) / np.float64(r.shape[1]) if r.size else r[:, :0].sum(1, keepdims=True)


# --- reductions --------------------------------------------------------------------------------


def _dtype(a: Any) -> np.dtype[Any]:
    """The dtype of an array's or a number's type."""
    return as_dtype(a.dtype if isinstance(a, types.Array) else unliteral(a))


def _summed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which NumPy sums up."""
    return dtype if dtype.kind == "f" else np.dtype(np.uint64 if dtype.kind == "u" else np.int64)


def _reduction(of: Callable[..., Any], a: Any, axis: Any, keepdims: Any, dtype: Any, phases: list[Phase], finish: str = "{s}",
               cell: Any = None, second: Any = None, guard: tuple[str, ...] = (), head: str = "a, axis=None, keepdims=False",
               array: str = "a") -> Any:  # fmt: skip
    """The text of a reduction to `dtype`: a cell `s` (and `t`) of another dtype for each result, and what is made of it in the end."""
    if not isinstance(a, types.Array):
        raise TypingError("a reduction needs an array")
    taken = constant_axes(axis, a.ndim)
    if taken is None:
        return by_axis(of, head, a.ndim)
    shape = kept_shape(a.ndim, taken, literal(keepdims))
    inner = np.dtype(cell or dtype)
    names = {"S": inner.type, "T": np.dtype(second or inner).type, "zero": inner.type(0), "dtype": np.dtype(dtype).type}
    cells = {"s": "S", "t": "T"} if second else {"s": "S"}
    lines = sizes(f"{array}.shape", a.ndim) + [line.format(n=" * ".join(f"n{k}" for k in taken) or "1") for line in guard]
    last = Phase(first=(f"{{out}} = {finish}",))
    if shape:
        out = types.Array(types.float64, len(shape), "C")  # only its number of axes counts
        lines += [f"out = np.empty(({', '.join(shape)},), dtype)", *over_axes(a.ndim, taken, [*phases, last], cells, [array], {"out": (out, True)})]
        return function(head, [*lines, "return out"], **names)
    lines += over_axes(a.ndim, taken, [*phases, last], {**cells, "out": "dtype"}, [array], {})
    return function(head, [*lines, "return out" if inner == np.bool_ else "return dtype(out)"], **names)


SUM = Phase(first=("{s} = zero",), add=("s", "{a}"))
SQUARES = Phase(first=("{s} = {s} / ({n})", "{t} = zero"), add=("t", "({a} - {s}) * ({a} - {s})"))


def sum_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.sum` for every axis, keepdims and dtype."""
    return np.sum(a, axis=axis, keepdims=keepdims)


@typed(sum_of, SUMS)
def _sum_of(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    dtype = _summed(_dtype(a))
    # float32 is summed in float64: as accurate as NumPy's way, and shorter
    return _reduction(sum_of, a, axis, keepdims, dtype, [SUM], cell=np.float64 if dtype.kind == "f" else dtype)


def mean_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.mean` for every axis, keepdims and dtype."""
    return np.mean(a, axis=axis, keepdims=keepdims)


@typed(mean_of, SUMS)
def _mean_of(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _reduction(mean_of, a, axis, keepdims, floating(_dtype(a)), [SUM], "{s} / ({n})", np.float64)


def prod_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.prod` for every axis, keepdims and dtype."""
    return np.prod(a, axis=axis, keepdims=keepdims)


@typed(prod_of)
def _prod_of(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _reduction(prod_of, a, axis, keepdims, _summed(_dtype(a)), [Phase(("{s} = S(1)",), ("{s} *= {a}",))])


def _extreme(of: Callable[..., Any], a: Any, axis: Any, keepdims: Any, sign: str, what: str) -> Any:
    step = Phase(("{s} = {a_first}",), (f"if {{a}} {sign} {{s}} or {{a}} != {{a}}:", "    {s} = {a}"))
    guard = ("if {n} == 0:", f'    raise ValueError("zero-size array to reduction operation {what} which has no identity")')
    return _reduction(of, a, axis, keepdims, _dtype(a), [step], guard=guard)


def max_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.max` for every axis and keepdims; nan if there is one."""
    return np.max(a, axis=axis, keepdims=keepdims)


@typed(max_of)
def _max_of(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _extreme(max_of, a, axis, keepdims, ">", "maximum")


def min_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.min` for every axis and keepdims; nan if there is one."""
    return np.min(a, axis=axis, keepdims=keepdims)


@typed(min_of)
def _min_of(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _extreme(min_of, a, axis, keepdims, "<", "minimum")


SPREAD = "a, axis=None, ddof=0, keepdims=False"


def var_of(a: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """`np.var` for every axis, ddof and keepdims, in two passes."""
    return np.var(a, axis=axis, ddof=ddof, keepdims=keepdims)


@typed(var_of, SUMS)
def _var_of(a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    finish = "{t} / max({n} - ddof, 0)"
    return _reduction(var_of, a, axis, keepdims, floating(_dtype(a)), [SUM, SQUARES], finish, np.float64, np.float64, head=SPREAD)


def std_of(a: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """`np.std` for every axis, ddof and keepdims, in two passes."""
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)


@typed(std_of, SUMS)
def _std_of(a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    finish = "np.sqrt({t} / max({n} - ddof, 0))"
    return _reduction(std_of, a, axis, keepdims, floating(_dtype(a)), [SUM, SQUARES], finish, np.float64, np.float64, head=SPREAD)


def any_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.any` for every axis and keepdims."""
    return np.any(a, axis=axis, keepdims=keepdims)


@typed(any_of)
def _any_of(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _reduction(any_of, a, axis, keepdims, np.bool_, [Phase(("{s} = False",), ("if {a} != 0:", "    {s} = True"))])


def all_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.all` for every axis and keepdims."""
    return np.all(a, axis=axis, keepdims=keepdims)


@typed(all_of)
def _all_of(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _reduction(all_of, a, axis, keepdims, np.bool_, [Phase(("{s} = True",), ("if {a} == 0:", "    {s} = False"))])


def count_nonzero_of(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.count_nonzero` for every axis and keepdims."""
    return np.count_nonzero(a, axis=axis, keepdims=keepdims)


@typed(count_nonzero_of)
def _count_nonzero_of(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _reduction(count_nonzero_of, a, axis, keepdims, np.int64, [Phase(("{s} = 0",), ("if {a} != 0:", "    {s} += 1"))])


def argmax_of(a: Any, axis: Any = None) -> Any:
    """`np.argmax` along an axis: the first of equal entries, or the first nan."""
    return np.argmax(a, axis=axis)


def argmin_of(a: Any, axis: Any = None) -> Any:
    """`np.argmin` along an axis: the first of equal entries, or the first nan."""
    return np.argmin(a, axis=axis)


def _arg_extreme(of: Callable[..., Any], a: Any, axis: Any, sign: str, what: str) -> Any:
    k = one_axis(axis, a.ndim)
    if k is None:
        return by_axis(of, "a, axis=None", a.ndim)
    step = Phase(("{s} = 0", "{t} = {a_first}"),
                 (f"if {{a}} {sign} {{t}} or ({{a}} != {{a}} and {{t}} == {{t}}):", f"    {{s}} = i{k}", "    {t} = {a}"))  # fmt: skip
    guard = ("if {n} == 0:", f'    raise ValueError("attempt to get {what} of an empty sequence")')
    return _reduction(of, a, axis, False, np.int64, [step], second=_dtype(a), guard=guard, head="a, axis=None")


@typed(argmax_of)
def _argmax_of(a: Any, axis: Any = None) -> Any:
    return _arg_extreme(argmax_of, a, axis, ">", "argmax")


@typed(argmin_of)
def _argmin_of(a: Any, axis: Any = None) -> Any:
    return _arg_extreme(argmin_of, a, axis, "<", "argmin")


# --- adjoints of reductions --------------------------------------------------------------------


def _back(of: Callable[..., Any], head: str, shape: Any, ndim: int, axis: Any, dtype: Any, phases: list[Phase], values: Mapping[str, Any],
          full: tuple[str, ...] = (), cells: Mapping[str, str] | None = None) -> Any:  # fmt: skip
    """The text of an adjoint function: fills an array `out` from numbers that belong to each group of entries."""
    taken = constant_axes(axis, ndim)
    if taken is None:
        return by_axis(of, head, ndim)
    kept = ndim - len(taken)
    for t in values.values():
        if isinstance(t, types.Array) and t.ndim not in (kept, ndim):
            raise TypingError("the adjoint of a reduction has the result's number of axes")
    lines = sizes(shape, ndim)
    out = f"np.empty(({''.join(f'n{k}, ' for k in range(ndim))}), dtype)"
    read = {name: (t, False) for name, t in values.items()}
    lines += [f"out = {out}", *over_axes(ndim, taken, phases, cells or {}, ["out", *full], read), "return out"]
    return function(head, lines, dtype=np.dtype(dtype).type, zero=np.float64(0), S=np.float64)


def spread(w: Any, shape: tuple[int, ...], axis: Any = None, keepdims: bool = False) -> Any:
    """Adjoint of a sum over `axis` of an array of this shape: a fresh array with `w` repeated along the axis."""
    v = vector(w)
    return unrows(np.ascontiguousarray(np.broadcast_to(v[:, None], (v.size, count(shape, axis)))), shape, axis).copy()


@typed(spread)
def _spread(w: Any, shape: Any, axis: Any = None, keepdims: Any = False) -> Any:
    phases = [Phase(each=("{out} = {w}",))]
    return _back(spread, "w, shape, axis=None, keepdims=False", "shape", len(shape), axis, floating(_dtype(w)), phases, {"w": w})


def mean_dx(w: Any, shape: tuple[int, ...], axis: Any = None, keepdims: bool = False) -> Any:
    """Adjoint of a mean."""
    v = vector(w)
    n = count(shape, axis)
    return unrows(np.repeat(v / n if n else v, n), shape, axis)


@typed(mean_dx)
def _mean_dx(w: Any, shape: Any, axis: Any = None, keepdims: Any = False) -> Any:
    phases = [Phase(each=("{out} = {w} / ({n})",))]
    return _back(mean_dx, "w, shape, axis=None, keepdims=False", "shape", len(shape), axis, floating(_dtype(w)), phases, {"w": w})


def max_share(w: Any, x: Any, y: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Adjoint of y = max(x) or min(x) over `axis`: shared evenly over the entries that are equal to the result."""
    r, v, top = rows(x, axis), vector(w)[:, None], vector(y)[:, None]
    hit = (r == top) | ((r != r) & (top != top))
    return unrows(np.where(hit & (v != 0), v / np.maximum(np.sum(hit, axis=1, keepdims=True), 1), 0).astype(r.dtype), x.shape, axis)


@typed(max_share)
def _max_share(w: Any, x: Any, y: Any, axis: Any = None, keepdims: Any = False) -> Any:
    hit = "{x} == {y} or ({x} != {x} and {y} != {y})"
    phases = [
        Phase(("{s} = zero",), (f"if {hit}:", "    {s} += 1")),
        Phase((), (f"{{out}} = {{w}} / {{s}} if {{w}} != 0 and ({hit}) else 0.0",)),
    ]
    return _back(max_share, "w, x, y, axis=None, keepdims=False", "x.shape", x.ndim, axis, floating(_dtype(x)), phases,
                 {"w": w, "y": y}, ("x",), {"s": "S"})  # fmt: skip


def prod_dx(w: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Adjoint of a product: each entry gets the product of the others, so zeros are exact."""
    r = rows(x, axis)
    ones = np.ones((r.shape[0], 1), r.dtype)
    before = np.cumprod(np.concatenate((vector(w)[:, None].astype(r.dtype), r[:, :-1]), axis=1), axis=1)[:, : r.shape[1]]
    after = np.cumprod(np.concatenate((ones, r[:, :0:-1]), axis=1), axis=1)[:, : r.shape[1]]
    return unrows(before * after[:, ::-1], x.shape, axis)


@typed(prod_dx)
def _prod_dx(w: Any, x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    phases = [
        Phase(("{s} = dtype({w})",), ("{out} = {s}", "{s} *= {x}")),
        Phase(("{s} = dtype(1)",), ("{out} *= {s}", "{s} *= {x}"), backwards=True),
    ]
    return _back(prod_dx, "w, x, axis=None, keepdims=False", "x.shape", x.ndim, axis, floating(_dtype(x)), phases, {"w": w}, ("x",), {"s": "dtype"})


MEAN = [Phase(("{s} = zero",), add=("s", "{x}")), Phase(("{s} = {s} / ({n})",))]


def var_dx(w: Any, x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Adjoint of a variance."""
    r, v = rows(x, axis), vector(w)[:, None]
    with np.errstate(all="ignore"):
        return unrows(((r - _mean_of_rows(r)) * (2.0 * v / np.float64(max(r.shape[1] - ddof, 0)))).astype(r.dtype), x.shape, axis)


@typed(var_dx, SUMS)
def _var_dx(w: Any, x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    phases = [*MEAN, Phase(("{t} = 2.0 * {w} / max({n} - ddof, 0)",), ("{out} = ({x} - {s}) * {t}",))]
    return _back(var_dx, "w, x, axis=None, ddof=0, keepdims=False", "x.shape", x.ndim, axis, floating(_dtype(x)), phases,
                 {"w": w}, ("x",), {"s": "S", "t": "S"})  # fmt: skip


def std_dx(w: Any, x: Any, y: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Adjoint of a standard deviation y; 0 where it is 0."""
    r, v, s = rows(x, axis), vector(w)[:, None], vector(y)[:, None]
    with np.errstate(all="ignore"):
        slope = (r - _mean_of_rows(r)) / s * (v / np.float64(max(r.shape[1] - ddof, 0)))
    return unrows(np.where((s != 0) & (v != 0), slope, 0).astype(r.dtype), x.shape, axis)


@typed(std_dx, SUMS)
def _std_dx(w: Any, x: Any, y: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    phases = [
        *MEAN,
        Phase(("{t} = {w} / max({n} - ddof, 0)",), ("{out} = ({x} - {s}) / {y} * {t} if {y} != 0 and {w} != 0 else 0.0",)),
    ]
    return _back(std_dx, "w, x, y, axis=None, ddof=0, keepdims=False", "x.shape", x.ndim, axis, floating(_dtype(x)), phases,
                 {"w": w, "y": y}, ("x",), {"s": "S", "t": "S"})  # fmt: skip


def norm_of(x: Any) -> Any:
    """`np.linalg.norm` of a whole array, in its dtype (integers as float64)."""
    return np.linalg.norm(x)


@typed(norm_of, SUMS)
def _norm_of(x: Any) -> Any:
    squares = Phase(("{s} = zero",), add=("s", "np.float64({x}) * np.float64({x})"))
    return _reduction(norm_of, x, None, False, floating(_dtype(x)), [squares], "np.sqrt({s})", np.float64, head="x", array="x")


@jitable
def _norm_dx(w: Any, x: Any, y: Any) -> Any:
    return x / y * w if y != 0 and w != 0 else 0.0


@pointwise(_norm_dx)
def norm_dx(w: Any, x: Any, y: Any) -> Any:
    """Adjoint of y = norm(x): `w * x / y`, and 0 where y is 0."""
    return x / y * w if y != 0 and w != 0 else np.zeros_like(x)


# --- scans and sorting -------------------------------------------------------------------------


def _along(of: Callable[..., Any], head: str, shape: str, ndim: int, axis: Any, before: list[str], each: list[str], backwards: bool = False,
           **names: Any) -> Any:  # fmt: skip
    """The text of a loop along one axis, `each` after `before` for each index of the others; `{a}` is an entry of the array `a`."""
    k = one_axis(axis, ndim)
    if k is None:
        return by_axis(of, head, ndim)
    everything, others = list(range(ndim)), [i for i in range(ndim) if i != k]
    values: dict[str, str] = {n: at(n, counters(everything)) for n in ("a", "w", "x", "out")}
    values |= {f"{n}_next": at(n, (f"i{i} + 1" if i == k else f"i{i}" for i in everything)) for n in ("a", "w", "x")}
    values["n"], values["i"] = f"n{k}", f"i{k}"
    made = f"np.empty(({''.join(f'n{i}, ' for i in everything)}), dtype)"
    body = [line.format(**values) for line in before] + nest([k], [line.format(**values) for line in each], backwards)
    return function(head, [*sizes(shape, ndim), f"out = {made}", *nest(others, body), "return out"], **names)


def _flat(of: Callable[..., Any]) -> Any:
    """For axis None: the flat array."""
    return function("a, axis=None", ["return of(a.ravel(), 0)"], of=of)


def cumsum_dx(w: Any, shape: tuple[int, ...], axis: Any = None) -> Any:
    """Adjoint of a cumulative sum (axis None: of the flat array)."""
    return unrows(np.cumsum(rows(w, axis)[:, ::-1], axis=1)[:, ::-1], shape, axis)


@typed(cumsum_dx)
def _cumsum_dx(w: Any, shape: Any, axis: Any = None) -> Any:
    if is_none(axis) and len(shape) != 1:
        return lambda w, shape, axis=None: cumsum_dx(w, (w.size,), 0).reshape(shape)
    return _along(cumsum_dx, "w, shape, axis=None", "shape", len(shape), 0 if is_none(axis) else axis,
                  ["s = dtype(0)"], ["s += {w}", "{out} = s"], True, dtype=_dtype(w).type)  # fmt: skip


def cumprod_of(a: Any, axis: Any = None) -> Any:
    """`np.cumprod` for every axis."""
    return np.cumprod(a, axis=axis)


@typed(cumprod_of)
def _cumprod_of(a: Any, axis: Any = None) -> Any:
    if is_none(axis) and a.ndim != 1:
        return _flat(cumprod_of)
    return _along(cumprod_of, "a, axis=None", "a.shape", a.ndim, 0 if is_none(axis) else axis,
                  ["s = dtype(1)"], ["s *= {a}", "{out} = s"], dtype=_summed(_dtype(a)).type)  # fmt: skip


def cumsum_of(a: Any, axis: Any = None) -> Any:
    """`np.cumsum` for every axis, in the array's dtype."""
    return np.cumsum(a, axis=axis)


@typed(cumsum_of)
def _cumsum_of(a: Any, axis: Any = None) -> Any:
    if is_none(axis) and a.ndim != 1:
        return _flat(cumsum_of)
    return _along(cumsum_of, "a, axis=None", "a.shape", a.ndim, 0 if is_none(axis) else axis,
                  ["s = dtype(0)"], ["s += {a}", "{out} = s"], dtype=_summed(_dtype(a)).type)  # fmt: skip


def cumprod_dx(w: Any, x: Any, axis: Any = None) -> Any:
    """Adjoint of a cumulative product, exact with zeros."""
    r = rows(x, axis)
    v = rows(w, axis)
    out = np.empty(r.shape, r.dtype)
    n = r.shape[1]
    tail = np.zeros(r.shape[0], r.dtype)
    for j in range(n - 1, -1, -1):
        # tail: what later results hand back, divided by the product of the entries up to j
        tail = v[:, j] + (tail * r[:, j + 1] if j + 1 < n else tail)
        out[:, j] = tail
    before = np.ones(r.shape[0], r.dtype)
    for j in range(n):
        out[:, j] *= before
        before = before * r[:, j]
    return unrows(out, x.shape, axis)


@typed(cumprod_dx)
def _cumprod_dx(w: Any, x: Any, axis: Any = None) -> Any:
    if is_none(axis) and x.ndim != 1:
        return lambda w, x, axis=None: cumprod_dx(w, x.ravel(), 0).reshape(x.shape)
    k = one_axis(0 if is_none(axis) else axis, x.ndim)
    if k is None:
        return by_axis(cumprod_dx, "w, x, axis=None", x.ndim)
    before = ["s = dtype(0)", "for {i} in range({n} - 1, -1, -1):", "    s = {w} + (s * {x_next} if {i} + 1 < {n} else s)", "    {out} = s"]
    return _along(cumprod_dx, "w, x, axis=None", "x.shape", x.ndim, k, [*before, "s = dtype(1)"], ["{out} *= s", "s *= {x}"],
                  dtype=_dtype(x).type)  # fmt: skip


def cumprod_dot(w: Any, x: Any, axis: Any = None) -> Any:
    """Tangent of a cumulative product; `w` is the tangent of `x`. The result has its shape, or is flat for axis None."""
    flat = axis is None
    r, v = rows(x, axis), rows(w, axis)
    out = np.empty(r.shape, r.dtype)
    product, slope = np.ones(r.shape[0], r.dtype), np.zeros(r.shape[0], r.dtype)
    for j in range(r.shape[1]):
        slope = slope * r[:, j] + product * v[:, j]
        product = product * r[:, j]
        out[:, j] = slope
    return out.ravel() if flat else unrows(out, x.shape, axis)


@typed(cumprod_dot)
def _cumprod_dot(w: Any, x: Any, axis: Any = None) -> Any:
    if is_none(axis) and x.ndim != 1:
        return lambda w, x, axis=None: cumprod_dot(w.ravel(), x.ravel(), 0)
    k = one_axis(0 if is_none(axis) else axis, x.ndim)
    if k is None:
        return by_axis(cumprod_dot, "w, x, axis=None", x.ndim)
    return _along(cumprod_dot, "w, x, axis=None", "x.shape", x.ndim, k, ["s = dtype(1)", "d = dtype(0)"],
                  ["d = d * {x} + s * {w}", "s *= {x}", "{out} = d"], dtype=_dtype(x).type)  # fmt: skip


def ordered(v: Any) -> Any:
    """A 1-d array sorted stably, nan last, and the permutation."""
    turn = np.argsort(v, kind="stable")
    return v[turn], turn


@compiled_as(ordered)
def _ordered(v):  # type: ignore[no-untyped-def]
    # a merge sort from short runs up: Numba's own takes seconds to compile
    n = v.size
    keys = np.empty(n, v.dtype)
    turn = np.empty(n, np.int64)
    for i in range(n):
        key = v[i]
        j = i
        start = i - i % 8
        while j > start and (key < keys[j - 1] or (key == key and keys[j - 1] != keys[j - 1])):
            keys[j] = keys[j - 1]
            turn[j] = turn[j - 1]
            j -= 1
        keys[j] = key
        turn[j] = i
    other_keys = np.empty(n, v.dtype)
    other_turn = np.empty(n, np.int64)
    width = 8
    while width < n:
        start = 0
        while start < n:
            middle = start + width if start + width < n else n
            stop = middle + width if middle + width < n else n
            i = start
            j = middle
            for k in range(start, stop):
                # of equal keys the left one first; nan is larger than all
                if i < middle and (j >= stop or not (keys[j] < keys[i] or (keys[j] == keys[j] and keys[i] != keys[i]))):
                    other_keys[k] = keys[i]
                    other_turn[k] = turn[i]
                    i += 1
                else:
                    other_keys[k] = keys[j]
                    other_turn[k] = turn[j]
                    j += 1
            start = stop
        keys, other_keys = other_keys, keys
        turn, other_turn = other_turn, turn
        width *= 2
    return keys, turn


def sort_of(a: Any, axis: Any = -1) -> Any:
    """`np.sort` for every axis."""
    return np.sort(a, axis=axis)


def _row(array: str, ndim: int, k: int) -> str:
    return at(array, (f"i{i}" if i != k else ":" for i in range(ndim)))


def _sorting(of: Callable[..., Any], head: str, a: Any, axis: Any, array: str, each: str, dtype: Any) -> Any:
    ndim = a.ndim
    if is_none(axis):
        return function(head, [f"return of({head.replace('axis=-1', '0').replace('a', 'a.ravel()', 1)})"], of=of)
    k = one_axis(axis, ndim)
    if k is None:
        return by_axis(of, head, ndim)
    return _along(of, head, f"{array}.shape", ndim, k, [f"keys, turn = ordered({_row(array, ndim, k)})"], [each],
                  dtype=dtype, ordered=ordered)  # fmt: skip


@typed(sort_of)
def _sort_of(a: Any, axis: Any = -1) -> Any:
    return _sorting(sort_of, "a, axis=-1", a, axis, "a", "{out} = keys[{i}]", _dtype(a).type)


def argsort_of(a: Any, axis: Any = -1) -> Any:
    """`np.argsort(a, axis, kind="stable")`."""
    return np.argsort(a, axis=axis, kind="stable")


@typed(argsort_of)
def _argsort_of(a: Any, axis: Any = -1) -> Any:
    return _sorting(argsort_of, "a, axis=-1", a, axis, "a", "{out} = turn[{i}]", np.int64)


def sort_dx(w: Any, x: Any, axis: Any = -1) -> Any:
    """Adjoint of a sort: what entry k of the result gets goes back along the stable permutation."""
    r = rows(x, axis)
    v = rows(w, axis)
    out = np.empty(r.shape, v.dtype)
    np.put_along_axis(out, np.argsort(r, axis=1, kind="stable"), v, axis=1)
    return unrows(out, x.shape, axis)


@typed(sort_dx)
def _sort_dx(w: Any, x: Any, axis: Any = -1) -> Any:
    if is_none(axis):
        return lambda w, x, axis=-1: sort_dx(w, x.ravel(), 0).reshape(x.shape)
    k = one_axis(axis, x.ndim)
    if k is None:
        return by_axis(sort_dx, "w, x, axis=-1", x.ndim)
    target = at("out", (f"i{i}" if i != k else f"turn[i{k}]" for i in range(x.ndim)))
    return _sorting(sort_dx, "w, x, axis=-1", x, axis, "x", target + " = {w}", _dtype(w).type)


def sort_dot(w: Any, x: Any, axis: Any = -1) -> Any:
    """Tangent of a sort: the tangents `w` of `x` along the stable permutation."""
    if axis is None:
        return sort_dot(w.ravel(), x.ravel(), 0)
    return np.take_along_axis(w, np.argsort(x, axis=axis, kind="stable"), axis=axis)


@typed(sort_dot)
def _sort_dot(w: Any, x: Any, axis: Any = -1) -> Any:
    if is_none(axis):
        return lambda w, x, axis=-1: sort_dot(w.ravel(), x.ravel(), 0)
    k = one_axis(axis, x.ndim)
    if k is None:
        return by_axis(sort_dot, "w, x, axis=-1", x.ndim)
    source = at("w", (f"i{i}" if i != k else f"turn[i{k}]" for i in range(x.ndim)))
    return _sorting(sort_dot, "w, x, axis=-1", x, axis, "x", "{out} = " + source, _dtype(w).type)


def diff_of(a: Any, n: int = 1, axis: int = -1) -> Any:
    """`np.diff` for every axis of an array of numbers."""
    return np.diff(a, n, axis)


def _once(a: Any, axis: int) -> Any:
    return np.diff(a, 1, axis)


@typed(_once)
def _once_text(a: Any, axis: Any) -> Any:
    k = one_axis(axis, a.ndim)
    if k is None:
        return by_axis(_once, "a, axis", a.ndim)
    lines = sizes("a.shape", a.ndim)
    lines += [f"n{k} = max(n{k} - 1, 0)", f"out = np.empty(({''.join(f'n{i}, ' for i in range(a.ndim))}), a.dtype)"]
    ahead = at("a", (f"i{i} + 1" if i == k else f"i{i}" for i in range(a.ndim)))
    everything = list(range(a.ndim))
    lines += nest(everything, [f"{at('out', counters(everything))} = {ahead} - {at('a', counters(everything))}"])
    return function("a, axis", [*lines, "return out"])


@typed(diff_of)
def _diff_of(a: Any, n: Any = 1, axis: Any = -1) -> Any:
    if not isinstance(a, types.Array) or isinstance(a.dtype, types.Boolean):
        raise TypingError("diff of an array of numbers")
    if isinstance(n, (int, types.Omitted)) or getattr(n, "literal_value", None) == 1:
        return lambda a, n=1, axis=-1: _once(a, axis)

    def several(a, n=1, axis=-1):  # type: ignore[no-untyped-def]
        if n < 0:
            raise ValueError("order must be non-negative")
        out = a.copy()
        for _ in range(n):
            out = _once(out, axis)
        return out

    return several


def diff_dx(w: Any, shape: tuple[int, ...], n: int = 1, axis: int = -1) -> Any:
    """Adjoint of `np.diff`."""
    g = w
    for _ in range(n):
        g = _back_once(g, axis)
    return g if g.shape == shape else np.zeros(shape, w.dtype)


def _back_once(g: Any, axis: int) -> Any:
    """Adjoint of one difference."""
    k = axis % g.ndim
    none = np.zeros((*g.shape[:k], 1, *g.shape[k + 1 :]), g.dtype)
    return np.concatenate((none, g), axis) - np.concatenate((g, none), axis)


@typed(_back_once)
def _back_once_text(g: Any, axis: Any) -> Any:
    k = one_axis(axis, g.ndim)
    if k is None:
        return by_axis(_back_once, "g, axis", g.ndim)
    everything = list(range(g.ndim))
    longer = "".join(f"n{i} + 1, " if i == k else f"n{i}, " for i in everything)
    here, ahead = (at("out", (f"i{i}{plus if i == k else ''}" for i in everything)) for plus in ("", " + 1"))
    value = at("g", counters(everything))
    lines = [*sizes("g.shape", g.ndim), f"out = np.zeros(({longer}), g.dtype)", *nest(everything, [f"{ahead} += {value}", f"{here} -= {value}"])]
    return function("g, axis", [*lines, "return out"])


@typed(diff_dx)
def _diff_dx(w: Any, shape: Any, n: Any = 1, axis: Any = -1) -> Any:
    def several(w, shape, n=1, axis=-1):  # type: ignore[no-untyped-def]
        g = w.copy()
        for _ in range(n):
            g = _back_once(g, axis)
        if g.shape != shape:  # nothing was left after fewer differences
            return np.zeros(shape, w.dtype)
        return g

    return several


def flip_of(m: Any, axis: Any = None) -> Any:
    """`np.flip(m, axis)`, a view; the axis is a literal."""
    return np.flip(m, axis)


@typed(flip_of)
def _flip_of(m: Any, axis: Any = None) -> Any:
    axes = constant_axes(axis, m.ndim)
    if axes is None:
        raise TypingError("flip along an axis known at run time only")
    subscript = ", ".join("::-1" if k in axes else ":" for k in range(m.ndim))
    return function("m, axis=None", [f"return m[{subscript}]"])


def roll_of(a: Any, shift: int, axis: Any = None) -> Any:
    """`np.roll` by one number along one axis, or of the flat array."""
    return np.roll(a, shift, axis)


@typed(roll_of)
def _roll_of(a: Any, shift: Any, axis: Any = None) -> Any:
    ndim = a.ndim
    if is_none(axis) and ndim != 1:
        return lambda a, shift, axis=None: roll_of(a.ravel(), shift, 0).reshape(a.shape)
    k = one_axis(0 if is_none(axis) else axis, ndim)
    if k is None:
        return by_axis(roll_of, "a, shift, axis=None", ndim)
    target = at("out", (f"i{i}" if i != k else "to" for i in range(ndim)))
    return _along(roll_of, "a, shift, axis=None", "a.shape", ndim, k, ["to = shift % {n} if {n} > 0 else 0"],
                  [f"{target} = {{a}}", "to = to + 1 if to + 1 < {n} else 0"], dtype=_dtype(a).type)  # fmt: skip
