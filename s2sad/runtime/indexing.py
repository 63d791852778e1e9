"""Reads and writes by integer arrays and by masks, with NumPy's checks, and their adjoints.

An index is an integer array (along axis 0), or a tuple that mixes integer arrays, ints and slices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError

from s2sad.runtime.core import build, jitable, typed


def get_at(a: Any, idx: Any) -> Any:
    """`a[idx]`; IndexError where it is out of bounds."""
    return a[idx]


def set_at(a: Any, idx: Any, w: Any) -> None:
    """`a[idx] = w`; of repeated indices the last one stays."""
    a[idx] = w


def add_at(a: Any, idx: Any, w: Any) -> None:
    """`a[idx] += w`, where repeated indices add up."""
    np.add.at(a, idx, w)


def take_last(a: Any, idx: Any) -> Any:
    """Adjoint of `a[idx] = v`, with the adjoint array `a`.

    Returns what the last write to each entry gets, 0 for writes that were overwritten, and sets the entries to 0.
    """
    w = a[idx]
    turn = np.arange(w.size).reshape(w.shape)
    last = np.empty(a.shape, np.int64)
    last[idx] = turn
    w[last[idx] != turn] = 0
    a[idx] = 0
    return w


@jitable
def _wrapped(i: int, n: int) -> int:
    if i < -n or i >= n:
        raise IndexError("index is out of bounds for axis")
    return i + n if i < 0 else i


def _nest(a: Any, idx: Any, v: Any, body: str, result: bool = False, backwards: bool = False) -> str:
    """Text of the loops over all entries that an index names.

    `body` uses {src}, {dst} and {value}: subscripts of a and of the result, and an entry of v.
    """
    if not isinstance(a, types.Array):
        raise TypingError("an index array needs an array")
    parts: list[Any] = [idx[k] for k in range(len(idx))] if isinstance(idx, types.BaseTuple) else [idx]
    if len(parts) > a.ndim:
        raise TypingError("too many indices")
    one = not isinstance(idx, types.BaseTuple)
    head = "a, idx" if v is None else "a, idx, w"
    lines = [f"def impl({head}):"]
    arrays, ints, slices = [], [], []
    for k, t in enumerate(parts):
        name = "idx" if one else f"idx[{k}]"
        if isinstance(t, types.Array) and isinstance(t.dtype, types.Integer) and t.ndim >= 1:
            arrays.append(k)
            lines.append(f"    i{k} = {name}")
        elif isinstance(t, (types.Integer, types.IntegerLiteral)):
            ints.append(k)
            lines.append(f"    j{k} = wrapped({name}, a.shape[{k}])")
        elif isinstance(t, types.SliceType):
            slices.append(k)
            lines.append(f"    s{k}, e{k}, t{k} = {name}.indices(a.shape[{k}])")
            lines.append(f"    n{k} = len(range(s{k}, e{k}, t{k}))")
        else:
            raise TypingError(f"an index of type {t} is not supported here")
    if not arrays:
        raise TypingError("no index array")
    for k in range(len(parts), a.ndim):
        slices.append(k)
        lines.append(f"    s{k}, t{k}, n{k} = 0, 1, a.shape[{k}]")
    lines.append("    adv = " + (f"i{arrays[0]}.shape" if len(arrays) == 1 else f"np.broadcast_shapes({', '.join(f'i{k}.shape' for k in arrays)})"))
    if len(arrays) > 1:
        lines += [f"    i{k} = np.broadcast_to(i{k}, adv)" for k in arrays]
    depth = max(parts[k].ndim for k in arrays)
    fancy = sorted(arrays + ints)
    first = fancy[0] if fancy == list(range(fancy[0], fancy[-1] + 1)) else 0
    before = [k for k in slices if k < first]
    after = [k for k in slices if k >= first]
    counters = [f"p{k}" for k in before] + [f"q{d}" for d in range(depth)] + [f"p{k}" for k in after]
    shape = [f"n{k}" for k in before] + [f"adv[{d}]" for d in range(depth)] + [f"n{k}" for k in after]
    lines.append(f"    shape = ({', '.join(shape)},)")
    if result:
        lines.append("    out = np.empty(shape, a.dtype)")
    if isinstance(v, types.Array):
        lines.append("    b = np.broadcast_to(w, shape)")
    pad = "    "
    for d in range(depth):
        lines.append(f"{pad}for q{d} in range(adv[{d}]{' - 1, -1, -1' if backwards else ''}):")
        pad += "    "
    where = ", ".join(f"q{d}" for d in range(depth))
    lines += [f"{pad}j{k} = wrapped(i{k}[{where}], a.shape[{k}])" for k in arrays]
    for k in sorted(slices):
        lines.append(f"{pad}for p{k} in range(n{k}):")
        pad += "    "
    src = ", ".join(f"s{k} + t{k} * p{k}" if k in slices else f"j{k}" for k in range(a.ndim))
    dst = ", ".join(counters)
    value = f"b[{dst}]" if isinstance(v, types.Array) else "w"
    lines += [pad + line.format(src=f"[{src}]", dst=f"[{dst}]", value=value) for line in body.split("\n")]
    if result:
        lines.append("    return out")
    return "\n".join(lines)


@typed(get_at)
def _get_at(a: Any, idx: Any) -> Any:
    return build(_nest(a, idx, None, "out{dst} = a{src}", result=True), wrapped=_wrapped)


@typed(set_at)
def _set_at(a: Any, idx: Any, w: Any) -> Any:
    return build(_nest(a, idx, w, "a{src} = {value}"), wrapped=_wrapped)


@typed(add_at)
def _add_at(a: Any, idx: Any, w: Any) -> Any:
    return build(_nest(a, idx, w, "a{src} += {value}"), wrapped=_wrapped)


@typed(take_last)
def _take_last(a: Any, idx: Any) -> Any:
    return build(_nest(a, idx, None, "out{dst} = a{src}\na{src} = 0", result=True, backwards=True), wrapped=_wrapped)


# --- masks -------------------------------------------------------------------------------------


def get_mask(a: Any, m: Any) -> Any:
    """`a[m]` for a boolean mask of a's leading axes; IndexError if the shapes differ."""
    return a[m]


def set_mask(a: Any, m: Any, w: Any) -> None:
    """`a[m] = w`."""
    a[m] = w


def add_mask(a: Any, m: Any, w: Any) -> None:
    """`a[m] += w`."""
    a[m] += w


def _mask_text(a: Any, m: Any, v: Any, body: str, result: bool = False) -> str:
    if not (isinstance(a, types.Array) and isinstance(m, types.Array) and isinstance(m.dtype, types.Boolean) and 1 <= m.ndim <= a.ndim):
        raise TypingError("a mask is a boolean array with at most as many axes as the array")
    rest = a.ndim - m.ndim
    shape = ["n", *(f"a.shape[{m.ndim + r}]" for r in range(rest))]
    lines = ["def impl(a, m):" if v is None else "def impl(a, m, w):"]
    for k in range(m.ndim):
        lines += [f"    if m.shape[{k}] != a.shape[{k}]:", '        raise IndexError("boolean index did not match indexed array")']
    lines += ["    n = 0", "    for i in np.ndindex(m.shape):", "        if m[i]:", "            n += 1"]
    if result:
        lines.append(f"    out = np.empty(({', '.join(shape)},), a.dtype)")
    if isinstance(v, types.Array):
        lines.append(f"    b = np.broadcast_to(w, ({', '.join(shape)},))")
    loops = [f"i{k}" for k in range(m.ndim)]
    pad = "    "
    lines.append("    n = 0")
    for k, name in enumerate(loops):
        lines.append(f"{pad}for {name} in range(m.shape[{k}]):")
        pad += "    "
    lines.append(f"{pad}if m[{', '.join(loops)}]:")
    inner = pad + "    "
    inner_pad = inner
    for r in range(rest):
        lines.append(f"{inner_pad}for r{r} in range(a.shape[{m.ndim + r}]):")
        inner_pad += "    "
    tail = [f"r{r}" for r in range(rest)]
    src, dst = ", ".join(loops + tail), ", ".join(["n", *tail])
    value = f"b[{dst}]" if isinstance(v, types.Array) else "w"
    lines.append(inner_pad + body.format(src=f"[{src}]", dst=f"[{dst}]", value=value))
    lines.append(f"{inner}n += 1")
    if result:
        lines.append("    return out")
    return "\n".join(lines)


@typed(get_mask)
def _get_mask(a: Any, m: Any) -> Any:
    return build(_mask_text(a, m, None, "out{dst} = a{src}", result=True))


@typed(set_mask)
def _set_mask(a: Any, m: Any, w: Any) -> Any:
    return build(_mask_text(a, m, w, "a{src} = {value}"))


@typed(add_mask)
def _add_mask(a: Any, m: Any, w: Any) -> Any:
    return build(_mask_text(a, m, w, "a{src} += {value}"))
