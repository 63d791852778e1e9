"""Un-broadcasting, reshaping, joining and creating arrays, and their adjoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.np.numpy_support import as_dtype
from numpy.lib.stride_tricks import as_strided

from s2sad.runtime.axes import sum_of, vector
from s2sad.runtime.core import compiled_as, is_none, jitable, literal, typed, unliteral
from s2sad.runtime.texts import SUMS, at, by_axis, counters, floating, function, nest, one_axis, sizes


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


@typed(sum_to, SUMS)
def _sum_to(g: Any, shape: Any) -> Any:
    if not isinstance(g, types.Array):
        if len(shape) == 0:
            return lambda g, shape: g
        return lambda g, shape: np.full(shape, g)  # nothing was broadcast but a scalar adjoint stands for a whole array
    if len(shape) == 0:
        return (lambda g, shape: g[()]) if g.ndim == 0 else (lambda g, shape: sum_of(g))
    if len(shape) > g.ndim:
        raise TypingError(f"sum_to: an array of {g.ndim} axes cannot stem from one of {len(shape)}")
    ndim, lead = g.ndim, g.ndim - len(shape)
    last = ndim - 1
    lines = sizes("g.shape", ndim)
    same = " and ".join(f"shape[{k}] == n{k + lead}" for k in range(len(shape)))
    if lead == 0:
        lines += [f"if {same}:", "    return g"]
    unfit = " or ".join(f"(shape[{k}] != 1 and shape[{k}] != n{k + lead})" for k in range(len(shape)))
    lines += [f"if {unfit}:", '    raise ValueError("shapes do not fit")']
    lines += [f"f{k} = 0 if shape[{k - lead}] == 1 else 1" for k in range(lead, last)]
    # float32 is summed in float64
    lines.append("out = np.zeros(shape, np.float64)")
    index = [f"i{k} * f{k}" for k in range(lead, last)]
    entry = at("g", counters(range(ndim)))
    row = [
        f"if shape[{last - lead}] == n{last}:",
        f"    for i{last} in range(n{last}):",
        f"        {at('out', [*index, f'i{last}'])} += {entry}",
        "else:",
        "    s = 0.0",
        f"    for i{last} in range(n{last}):",
        f"        s += {entry}",
        f"    {at('out', [*index, '0'])} += s",
    ]
    lines += nest(range(last), row)
    if g.dtype == types.float64:
        return function("g, shape", [*lines, "return out"])
    lines += ["exact = np.empty(shape, g.dtype)"]
    kept = at("", (f"k{k}" for k in range(len(shape))))
    heads = [f"{'    ' * k}for k{k} in range(shape[{k}]):" for k in range(len(shape))]
    return function("g, shape", [*lines, *heads, f"{'    ' * len(shape)}exact{kept} = out{kept}", "return exact"])


def reshaped(a: Any, shape: Any) -> Any:
    """`np.reshape(a, shape)` for every layout."""
    return np.reshape(a, shape)


@typed(reshaped)
def _reshaped(a: Any, shape: Any) -> Any:
    if not isinstance(a, types.Array):
        return lambda a, shape: np.full(1, a).reshape(shape)
    return lambda a, shape: np.ascontiguousarray(a).reshape(shape)


# --- views with other axes ---------------------------------------------------------------------


def _view(head: str, array: str, perm: Sequence[int]) -> Any:
    """The text of a transposition (Numba's own takes seconds to compile)."""
    if tuple(perm) == tuple(range(len(perm)))[::-1]:
        return function(head, [f"return {array}.T"])
    shape, strides = ("".join(f"{array}.{what}[{k}], " for k in perm) for what in ("shape", "strides"))
    return function(head, [f"return as_strided({array}, ({shape}), ({strides}))"], as_strided=as_strided)


def _permutation(axes: Any, ndim: int) -> list[int]:
    if not isinstance(axes, (types.BaseTuple, tuple)):
        raise TypingError("axes must be a tuple of constants")
    perm = [literal(t) if not isinstance(t, int) else t for t in axes]
    if sorted(p % ndim if -ndim <= p < ndim else -1 for p in perm) != list(range(ndim)):
        raise TypingError("axes don't match array")
    return [p % ndim for p in perm]


def transposed(a: Any, axes: tuple[int, ...]) -> Any:
    """The view `np.transpose(a, axes)`; the axes are constants."""
    return np.transpose(a, axes)


@typed(transposed)
def _transposed(a: Any, axes: Any) -> Any:
    return _view("a, axes", "a", _permutation(axes, a.ndim))


def untranspose(w: Any, axes: tuple[int, ...]) -> Any:
    """Adjoint of `np.transpose(x, axes)`, a view."""
    return np.transpose(w, np.argsort([p % w.ndim for p in axes]))


@typed(untranspose)
def _untranspose(w: Any, axes: Any) -> Any:
    perm = _permutation(axes, w.ndim)
    return _view("w, axes", "w", sorted(range(w.ndim), key=perm.__getitem__))


def swapped(a: Any, axis1: int, axis2: int) -> Any:
    """The view `np.swapaxes(a, axis1, axis2)`."""
    return np.swapaxes(a, axis1, axis2)


@typed(swapped)
def _swapped(a: Any, axis1: Any, axis2: Any) -> Any:
    one, two = one_axis(axis1, a.ndim), one_axis(axis2, a.ndim)
    if one is None or two is None:
        return lambda a, axis1, axis2: np.swapaxes(a, axis1, axis2)
    perm = list(range(a.ndim))
    perm[one], perm[two] = two, one
    return _view("a, axis1, axis2", "a", perm)


def moved(a: Any, source: int, destination: int) -> Any:
    """The view `np.moveaxis(a, source, destination)` of one axis."""
    return np.moveaxis(a, source, destination)


@typed(moved)
def _moved(a: Any, source: Any, destination: Any) -> Any:
    one, two = one_axis(source, a.ndim), one_axis(destination, a.ndim)
    if one is None or two is None:
        return lambda a, source, destination: np.moveaxis(a, source, destination)
    perm = [k for k in range(a.ndim) if k != one]
    perm.insert(two, one)
    return _view("a, source, destination", "a", perm)


def _subscript(array: str, ndim: int, k: int, what: str) -> str:
    return at(array, (what if i == k else ":" for i in range(ndim)))


def squeezed(a: Any, axis: int) -> Any:
    """`np.squeeze(a, axis)` for one axis, a view."""
    return np.squeeze(a, axis)


@typed(squeezed)
def _squeezed(a: Any, axis: Any) -> Any:
    k = one_axis(axis, a.ndim)
    if k is None:
        return by_axis(squeezed, "a, axis", a.ndim)
    error = "cannot select an axis to squeeze out which has size not equal to one"
    return function("a, axis", [f"if a.shape[{k}] != 1:", f"    raise ValueError({error!r})", f"return {_subscript('a', a.ndim, k, '0')}"])


# --- joins -------------------------------------------------------------------------------------


def cut(w: Any, axis: int, start: int, stop: int) -> Any:
    """A copy of the part of `w` from start to stop along an axis (adjoint of a concatenation)."""
    return np.moveaxis(np.moveaxis(w, axis, 0)[start:stop], 0, axis).copy()


@typed(cut)
def _cut(w: Any, axis: Any, start: Any, stop: Any) -> Any:
    k = one_axis(axis, w.ndim)
    if k is None:
        return by_axis(cut, "w, axis, start, stop", w.ndim)
    return function("w, axis, start, stop", [f"return {_subscript('w', w.ndim, k, 'start:stop')}.copy()"])


def plane(w: Any, axis: int, k: int) -> Any:
    """A copy of `w` at position k of an axis, without that axis (adjoint of a stack)."""
    return np.moveaxis(w, axis, 0)[k].copy()


@typed(plane)
def _plane(w: Any, axis: Any, k: Any) -> Any:
    if w.ndim == 1:
        return lambda w, axis, k: np.asarray(w[k])
    along = one_axis(axis, w.ndim)
    if along is None:
        return by_axis(plane, "w, axis, k", w.ndim)
    return function("w, axis, k", [f"return {_subscript('w', w.ndim, along, 'k')}.copy()"])


# --- diagonals, triangles ----------------------------------------------------------------------


@jitable
def diag_dx(w: Any, shape: tuple[int, int], k: int = 0) -> Any:
    """Adjoint of `np.diag(x, k)` (also `np.diagonal`) of a 2-d array: `w` on the diagonal of zeros."""
    out = np.zeros(shape, w.dtype)
    for j in range(w.size):
        out[max(-k, 0) + j, max(k, 0) + j] = w[j]
    return out


def trace_dx(w: Any, shape: tuple[int, int], k: int = 0) -> Any:
    """Adjoint of `np.trace`."""
    return np.eye(*shape, k, np.result_type(w)) * w


@typed(trace_dx)
def _trace_dx(w: Any, shape: Any, k: Any = 0) -> Any:
    lines = [
        "out = np.zeros(shape, dtype)",
        "i, j = max(-k, 0), max(k, 0)",
        "while i < shape[0] and j < shape[1]:",
        f"    out[i, j] = {_entry('w', w, [])}",
        "    i += 1",
        "    j += 1",
        "return out",
    ]
    return function("w, shape, k=0", lines, dtype=floating(as_dtype(w.dtype if isinstance(w, types.Array) else unliteral(w))).type)


def _entry(name: str, t: Any, index: Sequence[str]) -> str:
    """An entry of an array, or the number itself."""
    return at(name, index) if isinstance(t, types.Array) else name


def tril_of(m: Any, k: int = 0) -> Any:
    """`np.tril` of a 2-d array."""
    return np.tril(m, k)


@compiled_as(tril_of)
def _tril_of(m, k=0):  # type: ignore[no-untyped-def]
    out = np.zeros(m.shape, m.dtype)
    for i in range(m.shape[0]):
        for j in range(min(max(i + k + 1, 0), m.shape[1])):
            out[i, j] = m[i, j]
    return out


def triu_of(m: Any, k: int = 0) -> Any:
    """`np.triu` of a 2-d array."""
    return np.triu(m, k)


@compiled_as(triu_of)
def _triu_of(m, k=0):  # type: ignore[no-untyped-def]
    out = np.zeros(m.shape, m.dtype)
    for i in range(m.shape[0]):
        for j in range(max(i + k, 0), m.shape[1]):
            out[i, j] = m[i, j]
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


def _points(x: Any, body: list[str], result: bool) -> list[str]:
    """Lines that run for every point `p` of x, an array or a number; with a `result`, `out` has an entry for each."""
    if not isinstance(x, types.Array):
        return (["out = 0.0"] if result else []) + ["p = x", *(line.replace("OUT", "out").replace("[EACH]", "") for line in body)]
    entry = counters(range(x.ndim))
    lines = sizes("x.shape", x.ndim) + (["out = np.zeros(x.shape, np.float64)"] if result else [])
    body = [f"p = {at('x', entry)}", *(line.replace("OUT", at("out", entry)).replace("[EACH]", at("", entry)) for line in body)]
    return lines + nest(range(x.ndim), body)


def interp_of(x: Any, xp: Any, fp: Any) -> Any:
    """`np.interp(x, xp, fp)`."""
    return np.interp(x, xp, fp)


@typed(interp_of)
def _interp_of(x: Any, xp: Any, fp: Any) -> Any:
    body = [
        "if p != p:",
        "    OUT = np.nan",
        "elif p <= xp[0]:",
        "    OUT = fp[0]",
        "elif p >= xp[-1]:",
        "    OUT = fp[-1]",
        "else:",
        "    j = segment(p, xp)",
        "    v = np.float64(fp[j])",
        "    if p != xp[j]:",
        "        slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j])",
        "        v = slope * (p - xp[j]) + fp[j]",
        "        if v != v:",
        "            v = slope * (p - xp[j + 1]) + fp[j + 1]",
        "            if v != v and fp[j] == fp[j + 1]:",
        "                v = np.float64(fp[j])",
        "    OUT = v",
    ]
    lines = [
        "if xp.size == 0:",
        '    raise ValueError("array of sample points is empty")',
        "if xp.size != fp.size:",
        '    raise ValueError("fp and xp are not of the same length.")',
        *_points(x, body, True),
        "return out",
    ]
    return function("x, xp, fp", lines, segment=_segment)


def interp_dx(w: Any, x: Any, xp: Any, fp: Any) -> Any:
    """Adjoint of `np.interp` with respect to x: the slope of the segment taken (0 outside)."""
    v = vector(w)
    points = vector(x)
    out = np.zeros(points.size, v.dtype)
    for k in range(points.size):
        j = _segment(points[k], xp)
        if j >= 0:
            out[k] = v[k] * ((fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]))
    return out.reshape(x.shape) if isinstance(x, np.ndarray) else out[0]


@typed(interp_dx)
def _interp_dx(w: Any, x: Any, xp: Any, fp: Any) -> Any:
    value = "w[EACH]" if isinstance(w, types.Array) else "w"
    body = ["j = segment(p, xp)", "if j >= 0:", f"    OUT = {value} * ((fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]))"]
    return function("w, x, xp, fp", [*_points(x, body, True), "return out"], segment=_segment)


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


@typed(interp_dfp)
def _interp_dfp(w: Any, x: Any, xp: Any, n: Any) -> Any:
    value = "w[EACH]" if isinstance(w, types.Array) else "w"
    body = [
        "j = segment(p, xp)",
        "if j >= 0:",
        "    t = (p - xp[j]) / (xp[j + 1] - xp[j])",
        f"    to[j] += {value} * (1 - t)",
        f"    to[j + 1] += {value} * t",
        "elif n == 1 or p < xp[0]:",
        f"    to[0] += {value}",
        "elif p > xp[-1]:",
        f"    to[n - 1] += {value}",
    ]
    return function("w, x, xp, n", ["to = np.zeros(n, np.float64)", *_points(x, body, False), "return to"], segment=_segment)


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
