"""Whether a gradient is right at the arguments of one call: forward mode and differences of the function, in one direction.

Forward mode shares the rules of the reverse mode but not the transformation, and is exact; differences share neither, and are rough. An alarm
needs evidence that rounding, a kink or a jump cannot explain.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad import custom
from s2sad.lang import tree as T
from s2sad.lang.tree import Function

# what a function raises at a neighbouring point that is outside its domain; a TypeError if it is complex there
OUTSIDE = (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError)
Steps = Sequence[np.ndarray]


@dataclass(frozen=True)
class Disagreement:
    """What the derivative in a direction is by the gradient, by forward mode and by differences (None: no evidence)."""

    gradient: float
    tangent: float | None
    differences: float | None

    def __str__(self) -> str:
        found = [f"the gradient gives {self.gradient:.9g}"]
        if self.tangent is not None:
            found.append(f"forward mode {self.tangent:.9g}")
        if self.differences is not None:
            found.append(f"differences {self.differences:.6g}")
        return ", ".join(found)


@dataclass(frozen=True)
class Slope:
    """A derivative by differences at one step length, how uncertain it is, and how much of that is rounding."""

    value: float
    doubt: float
    noise: float

    def tells(self) -> bool:
        """Whether the function looks smooth at this step length; a chaotic one does not, and may be steeper than any difference."""
        return math.isfinite(self.value) and math.isfinite(self.doubt) and self.doubt <= 0.1 * abs(self.value) + 4 * self.noise

    def fits(self, x: float, slack: float) -> bool:
        """Whether a number may be the derivative; so may any where differences say nothing."""
        return not self.tells() or bool(abs(x - self.value) <= slack + 4 * self.doubt)


def scale_of(x: np.ndarray) -> np.ndarray:
    """How far entries may be moved, relative to a step."""
    largest = float(np.max(np.abs(x), initial=0.0)) or 1.0
    return np.asarray(np.maximum(np.abs(x), 1e-3 * largest))


def slopes(f: Callable[[float], float], eps: float) -> list[Slope]:
    """Central differences of f at 0 for three step lengths, extrapolated.

    In doubt goes all that is no sign of a smooth function: differences that change with the step, one-sided differences that do not come together.

    >>> [s.fits(2.0, 1e-6) for s in slopes(lambda t: 2.0 * t + t**3, 2e-16)], [s.fits(1.0, 0.1) for s in slopes(lambda t: 2.0 * t, 2e-16)]
    ([True, True, True], [False, False, False])
    >>> [s.fits(2.0, 0.0) for s in slopes(lambda t: 2.0 * t if t >= 0.0 else t, 2e-16)]
    [True, True, True]
    """
    here = f(0.0)
    out = []
    for h in eps**0.2 * np.array([1.0, 0.1, 0.01]):
        up, down = [f(h) for h in (h, h / 2)], [f(-h) for h in (h, h / 2)]
        wide, narrow = (up[0] - down[0]) / (2 * h), (up[1] - down[1]) / h
        gap_wide, gap_narrow = (up[0] - 2 * here + down[0]) / h, 2 * (up[1] - 2 * here + down[1]) / h
        noise = 8 * eps * max(map(abs, (here, *up, *down))) / h
        out.append(Slope((4 * narrow - wide) / 3, abs(narrow - wide) + abs(2 * gap_narrow - gap_wide) + noise, noise))
    return out


def disagreement(
    values: Sequence[Any],
    wrt: Sequence[int],
    gradients: Sequence[Any],
    primal: Callable[[Sequence[Any]], float],
    tangent: Callable[[Sequence[Any], Steps], float] | None,
    single: bool,
    smooth: bool = True,
) -> Disagreement | None:
    """How a gradient is wrong, or None.

    Args:
        values: the arguments; they are not changed.
        wrt, gradients: positions of arguments, and what is claimed to be their gradients.
        primal: the function's value for arguments, which it may overwrite.
        tangent: the derivative for arguments in a direction; None if forward mode cannot have it.
        single: the program computes in float32.
        smooth: False if parts are constant by the user's word, so that differences are no evidence against a gradient.
    """
    rng = np.random.default_rng(0)
    found = None
    with np.errstate(all="ignore"):
        for _ in range(2):  # an alarm has to come twice
            scales = [scale_of(np.asarray(values[k], dtype=np.float64)) for k in wrt]
            steps = [np.asarray(s * rng.choice([-1.0, 1.0], s.shape) * rng.uniform(0.5, 1.0, s.shape)) for s in scales]
            found = _in_direction(values, wrt, gradients, steps, primal, tangent, single, smooth)
            if found is None:
                return None
    return found


def _in_direction(
    values: Sequence[Any],
    wrt: Sequence[int],
    gradients: Sequence[Any],
    steps: Steps,
    primal: Callable[[Sequence[Any]], float],
    tangent: Callable[[Sequence[Any], Steps], float] | None,
    single: bool,
    smooth: bool,
) -> Disagreement | None:
    eps = float(np.finfo(np.float32 if single else np.float64).eps)
    parts = [np.asarray(g, dtype=np.float64) * s for g, s in zip(gradients, steps, strict=True)]
    got = float(sum(np.sum(p) for p in parts))
    size = float(sum(np.sum(np.abs(p)) for p in parts))
    dot = tangent(values, steps) if tangent is not None else None
    if dot is not None and not math.isfinite(dot) or dot is None and not math.isfinite(got):
        return None

    def along(t: float) -> float:
        try:
            return float(primal(moved(values, wrt, [t * s for s in steps])))
        except OUTSIDE:
            return math.nan

    apart = dot is not None and not abs(got - dot) <= (5e-3 if single else 1e-6) * max(size, abs(dot))
    by_h = slopes(along, eps)
    told = [s for s in by_h if s.tells()]
    best = min(told, key=lambda s: s.doubt, default=None)
    slack = (5e-2 if single else 1e-4) * max(size if math.isfinite(size) else 0.0, abs(best.value) if best else 0.0)
    denied = smooth and bool(told) and not any(s.fits(got, slack) for s in by_h)
    shown = Disagreement(got, dot, best.value if best and denied else None)
    if not apart or dot is None:
        return shown if denied else None
    if denied:
        return shown
    # the two modes differ: is it the tangent that is wrong, or rounding that the program enlarges?
    confirmed = best is not None and best.fits(got, slack) and not best.fits(dot, slack)
    nearby = [tangent(moved(values, wrt, [k * eps * s for s in steps]), steps) for k in (-3.0, 2.0)] if tangent is not None else []
    noise = max((abs(d - dot) for d in nearby), default=0.0)
    return None if confirmed or not abs(got - dot) > 10 * noise else shown


def copies(values: Sequence[Any]) -> list[Any]:
    """Arguments for one evaluation; arrays keep their layout, and generators draw the same numbers again."""
    return [v.copy(order="K") if isinstance(v, np.ndarray) else copy.deepcopy(v) for v in values]


def moved(values: Sequence[Any], wrt: Sequence[int], steps: Steps) -> list[Any]:
    """Copies of arguments, some of them moved by steps."""
    out = copies(values)
    for k, step in zip(wrt, steps, strict=True):
        old = out[k]
        if isinstance(old, np.ndarray):
            old += step.astype(old.dtype)
        else:
            out[k] = type(old)(old + float(step))
    return out


def follows_value(program: Function) -> bool:
    """Whether the derivative is that of the value: nothing is declared to be constant."""
    return "stop_gradient" not in T.all_names(program.body) and not any(map(custom.is_nondifferentiable, program.externals.values()))
