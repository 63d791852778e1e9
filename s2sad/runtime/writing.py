"""Writes of arrays into parts of arrays, in loops.

Numba spends seconds on compiling the error text of `a[part] = values`, and `a[part] += values` makes two copies of the part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError

from s2sad.runtime.core import typed
from s2sad.runtime.texts import at, counters, function, indented, nest, sizes


def copyto(out: Any, values: Any) -> None:
    """`out[...] = values`, two arrays that do not share memory; `values` has at most as many axes and is broadcast."""
    out[...] = values


@typed(copyto)
def _copyto(out: Any, values: Any) -> Any:
    if not (isinstance(out, types.Array) and isinstance(values, types.Array) and values.ndim <= out.ndim):
        raise TypingError("copyto takes an array and one that can be broadcast to it")
    axes = list(range(out.ndim))
    own = axes[out.ndim - values.ndim :]  # the axes that values have, too
    target = at("out", counters(axes))
    same = [f"m{k} == n{k}" for k in own]
    lines = sizes("out.shape", out.ndim) + [f"m{k} = values.shape[{j}]" for j, k in enumerate(own)]
    lines += [f"if {' and '.join(same) or 'True'}:", *indented([*nest(axes, [f"{target} = {at('values', counters(own))}"]), "return"])]
    for k in own:
        lines += [f"if m{k} != n{k} and m{k} != 1:", "    raise ValueError('could not broadcast input array to the shape of the slice')"]
    lines += nest(axes, [f"{target} = {at('values', (f'i{k} if m{k} != 1 else 0' for k in own))}"])
    return function("out, values", lines, np=np)


def _in_place(out: Any, values: Any, operator: str) -> Any:
    """The text of `out += values` (or another operator); arrays are broadcast."""
    if not (isinstance(out, types.Array) and isinstance(out.dtype, types.Float) and getattr(values, "ndim", 0) <= out.ndim):
        raise TypingError("an in-place operation needs a float array, and values that can be broadcast to it")
    axes = list(range(out.ndim))
    target = at("out", counters(axes))
    lines = sizes("out.shape", out.ndim)
    if not isinstance(values, types.Array):
        return function("out, values", [*lines, *nest(axes, [f"{target} {operator} values"])])
    own = axes[out.ndim - values.ndim :]  # the axes that values have, too
    lengths = {k: f"values.shape[{j}]" for j, k in enumerate(own)}
    if own:
        lines += [f"if {' or '.join(f'({m} != n{k} and {m} != 1)' for k, m in lengths.items())}:"]
        lines += ["    raise ValueError('operands could not be broadcast together')"]
    lines += [f"step{k} = 0 if {m} == 1 else 1" for k, m in lengths.items()]
    steps: list[str] = []
    for k in axes:
        head = [f"j{k} = 0"] if k in own else []
        lines += indented([*head, f"for i{k} in range(n{k}):"], k)
        steps = indented([f"j{k} += step{k}"], k + 1) + steps if k in own else steps
    lines += indented([f"{target} {operator} {at('values', (f'j{k}' for k in own))}"], out.ndim)
    return function("out, values", lines + steps)


def add_to(out: Any, values: Any) -> None:
    """`out += values` for a part of a float array; `values` does not look into it at other places."""
    out += values


@typed(add_to)
def _add_to(out: Any, values: Any) -> Any:
    return _in_place(out, values, "+=")


def subtract_from(out: Any, values: Any) -> None:
    """`out -= values`, as `add_to`."""
    out -= values


@typed(subtract_from)
def _subtract_from(out: Any, values: Any) -> Any:
    return _in_place(out, values, "-=")


def multiply_by(out: Any, values: Any) -> None:
    """`out *= values`, as `add_to`."""
    out *= values


@typed(multiply_by)
def _multiply_by(out: Any, values: Any) -> Any:
    return _in_place(out, values, "*=")


def divide_by(out: Any, values: Any) -> None:
    """`out /= values`, as `add_to`."""
    out /= values


@typed(divide_by)
def _divide_by(out: Any, values: Any) -> Any:
    return _in_place(out, values, "/=")
