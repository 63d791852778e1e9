"""What a kernel of the suite is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Kernel:
    """A function in plain NumPy style, the same in plain loops, and in JAX as its users would write it.

    `inputs(rng, size)` makes the arguments; `jax()` imports JAX and gives a function of the same arguments, of which those in `static` are constants.
    """

    primal: Callable[..., float]
    loops: Callable[..., float]
    jax: Callable[[], Callable[..., Any]]
    inputs: Callable[[np.random.Generator, Any], tuple[Any, ...]]
    wrt: tuple[int, ...]
    small: Any
    timed: Any
    static: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.primal.__name__

    def arguments(self, size: Any) -> tuple[Any, ...]:
        """The same arguments at every call."""
        return self.inputs(np.random.default_rng(7), size)
