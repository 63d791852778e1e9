"""Writes of arrays into parts of arrays, in loops that Numba compiles quickly (for the same assignment it compiles seconds of error text)."""

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
