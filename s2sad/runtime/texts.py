"""Texts of loop nests over the axes of arrays, for given numbers of axes.

What compiled code runs is one plain nest of loops per function: Numba compiles that in a fraction of a second, whereas broadcasting,
transposing and reshaping of any number of axes take it seconds. `i0, i1, ...` count along the axes, whose lengths are `n0, n1, ...`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError

from s2sad.runtime.core import build, is_none, literal

INDENT = "    "
BLOCK = 128  # terms that are added before their sum is added to the total, as NumPy has it
SUMS = {"fastmath": {"reassoc"}}  # the compiler may keep several running sums; nan and infinities stay what they are


def at(array: str, counters: Iterable[str]) -> str:
    """`array[i0, i1]`, and `array[()]` without counters."""
    return f"{array}[{', '.join(counters) or '()'}]"


def counters(axes: Iterable[int]) -> list[str]:
    """The loop variables of axes."""
    return [f"i{k}" for k in axes]


def lengths(axes: Iterable[int]) -> str:
    """The tuple of lengths of axes, as text."""
    return "(" + "".join(f"n{k}, " for k in axes) + ")"


def sizes(shape: str, ndim: int) -> list[str]:
    """`n0 = a.shape[0]` and so on."""
    return [f"n{k} = {shape}[{k}]" for k in range(ndim)]


def nest(axes: Sequence[int], body: Sequence[str], backwards: bool = False) -> list[str]:
    """`body` in loops over axes, the last one innermost."""
    if not body:
        return []
    heads = [f"{INDENT * depth}for i{k} in range({f'n{k} - 1, -1, -1' if backwards else f'n{k}'}):" for depth, k in enumerate(axes)]
    return heads + indented(body, len(axes))


def indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    """Lines further to the right."""
    return [INDENT * depth + line for line in lines]


def function(head: str, lines: Iterable[str], **names: Any) -> Callable[..., Any]:
    """The function with these parameters and lines."""
    return build("\n".join([f"def impl({head}):", *indented(lines)]), **names)


# --- axes --------------------------------------------------------------------------------------


def constant_axes(axis: Any, ndim: int) -> tuple[int, ...] | None:
    """The axes that an argument of this type names, ascending; None if it is a number known at run time only."""
    if is_none(axis):
        return tuple(range(ndim))
    if isinstance(axis, types.Integer) and not isinstance(axis, types.Literal):
        return None
    found = tuple(literal(t) for t in axis) if isinstance(axis, (types.BaseTuple, tuple)) else (literal(axis) if not isinstance(axis, int) else axis,)
    if not all(-ndim <= a < ndim for a in found):
        raise TypingError("axis is out of bounds for the array's dimension")
    if len({a % ndim for a in found}) < len(found):
        raise TypingError("duplicate value in axis")
    return tuple(sorted(a % ndim for a in found))


def one_axis(axis: Any, ndim: int) -> int | None:
    """The axis that an argument of this type names; None if it is known at run time only."""
    axes = constant_axes(axis, ndim)
    if axes is None:
        return None
    if is_none(axis) or len(axes) != 1:
        raise TypingError("axis must be one number")
    return axes[0]


def by_axis(of: Callable[..., Any], head: str, ndim: int) -> Callable[..., Any]:
    """For an axis known at run time only: the function for each axis, chosen by a test."""
    params = [p.partition("=")[0].strip() for p in head.split(",")]
    lines = [f"k = axis + {ndim} if axis < 0 else axis"]
    for k in range(ndim):
        lines += [f"if k == {k}:", f"{INDENT}return of({', '.join(str(k) if p == 'axis' else p for p in params)})"]
    lines.append('raise ValueError("axis is out of bounds for the array\'s dimension")')
    return function(head, lines, of=of)


# --- reductions and what goes back through them ------------------------------------------------


@dataclass(frozen=True)
class Phase:
    """Lines for each kept index, then lines for each entry; `{name}` stands for an entry or a cell (see `over_axes`).

    `add`: a cell and an expression of the entry that is added to it, in blocks.
    """

    first: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    add: tuple[str, str] | None = None
    backwards: bool = False


def over_axes(ndim: int, taken: Sequence[int], phases: Sequence[Phase], cells: Mapping[str, str], full: Iterable[str],
              kept_values: Mapping[str, tuple[Any, bool]]) -> list[str]:  # fmt: skip
    """Loops that handle each group of entries that differ along the axes `taken`.

    Args:
        ndim: number of axes.
        taken: the axes that are reduced.
        phases: what is done one after the other.
        cells: a number of each group, with the name of its dtype.
        full: names of arrays with all axes.
        kept_values: name -> (type, whether to write to it); numbers, or arrays with the kept axes (those taken missing or of length 1).
    """
    kept = [k for k in range(ndim) if k not in taken]
    everything = list(range(ndim))
    names = {name: at(name, counters(everything)) for name in full}
    names |= {f"{name}_first": at(name, (f"i{k}" if k in kept else "0" for k in everything)) for name in full}
    names["n"] = " * ".join(f"n{k}" for k in taken) or "1"
    read = []
    grouped = not kept or ndim - 1 in taken
    for name, (t, writes) in kept_values.items():
        if not isinstance(t, types.Array):
            names[name] = name
            continue
        names[name] = at(name, counters(kept) if t.ndim == len(kept) else (f"i{k}" if k in kept else "0" for k in everything))
        if grouped and not writes:
            read.append(f"{name}_ = {names[name]}")
            names[name] = f"{name}_"
    lines: list[str] = []
    if grouped:
        names |= {c: c for c in cells}
        body = list(read)
        for p in phases:
            body += [line.format(**names) for line in p.first]
            body += _added(taken, p.add, names) if p.add and taken else []
            body += nest(list(taken), [line.format(**names) for line in p.each + (_plus(p.add) if not taken else ())], p.backwards)
        return nest(kept, body)
    for c, dtype in cells.items():
        lines.append(f"{c}_ = np.empty({lengths(kept)}, {dtype})")
        names[c] = at(f"{c}_", counters(kept))
    for p in phases:
        lines += nest(kept, [line.format(**names) for line in p.first])
        lines += nest(everything, [line.format(**names) for line in p.each + _plus(p.add)], p.backwards)
    return lines


def _plus(add: tuple[str, str] | None) -> tuple[str, ...]:
    return (f"{{{add[0]}}} += {add[1]}",) if add else ()


def _added(taken: Sequence[int], add: tuple[str, str], names: Mapping[str, str]) -> list[str]:
    """`cell += term` over axes, the last one in blocks."""
    cell, term = (names[add[0]], add[1].format(**names))
    k = taken[-1]
    return nest(list(taken[:-1]), [
        f"for b in range(0, n{k}, {BLOCK}):",
        f"{INDENT}part = zero",
        f"{INDENT}for i{k} in range(b, b + {BLOCK} if b + {BLOCK} < n{k} else n{k}):",
        f"{INDENT * 2}part += {term}",
        f"{INDENT}{cell} += part",
    ])  # fmt: skip


def kept_shape(ndim: int, taken: Sequence[int], keepdims: bool) -> list[str]:
    """Lengths of the axes of a reduction's result, as texts."""
    return [f"n{k}" if k not in taken else "1" for k in range(ndim) if keepdims or k not in taken]


def floating(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of what NumPy makes of it in a mean."""
    return dtype if dtype.kind == "f" else np.dtype(np.float64)
