"""Shapes of the operands of a fused loop nest, looked at once before it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError

from s2sad.runtime.core import jitable, typed
from s2sad.runtime.texts import at, counters, function, indented, nest


@jitable
def extent(n: int, m: int) -> int:
    """The length of an axis that two arrays give which broadcast."""
    if n != m and n != 1 and m != 1:
        raise ValueError("operands could not be broadcast together")
    return m if n == 1 else n


def fitted(x: Any, shape: Any) -> Any:
    """`x` itself if it has this shape, else its broadcast to it, as a new array."""
    if x.shape == tuple(shape):
        return x
    if any(m not in (n, 1) for m, n in zip(x.shape, shape, strict=True)):
        raise ValueError("operands could not be broadcast together")
    return np.broadcast_to(x, shape).copy()


@typed(fitted)
def _fitted(x: Any, shape: Any) -> Any:
    if not (isinstance(x, types.Array) and isinstance(shape, types.UniTuple) and len(shape) == x.ndim):
        raise TypingError("fitted takes an array and a length for each of its axes")
    axes = list(range(x.ndim))
    lines = [f"n{k} = shape[{k}]" for k in axes] + [f"m{k} = x.shape[{k}]" for k in axes]
    lines += [f"if {' and '.join(f'm{k} == n{k}' for k in axes)}:", "    return x"]
    lines += [f"if {' or '.join(f'(m{k} != n{k} and m{k} != 1)' for k in axes)}:"]
    lines += indented(["raise ValueError('operands could not be broadcast together')"])
    # in the layout of x, so that what is returned has one type
    order = axes[::-1] if x.layout == "F" else axes
    lines += [f"out = np.empty(({''.join(f'n{k}, ' for k in order)}), x.dtype){'.T' if x.layout == 'F' and x.ndim > 1 else ''}"]
    lines += nest(axes, [f"{at('out', counters(axes))} = {at('x', (f'i{k} if m{k} != 1 else 0' for k in axes))}"])
    return function("x, shape", [*lines, "return out"], np=np)
