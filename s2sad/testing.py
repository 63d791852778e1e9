"""Checks of gradients against the plain Python function: one direction and many entries, by central differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.api import Derivative, Wrt, value_and_grad
from s2sad.errors import S2sadError

ALL = 48  # up to so many entries of an argument are checked; of larger ones a sample of that size


class GradientMismatch(S2sadError, AssertionError):
    """A gradient differs from differences of the function; `where` (argument and index), `got` and `want` say how."""

    def __init__(self, message: str, where: str = "", got: Any = None, want: Any = None):
        super().__init__(message)
        self.where, self.got, self.want = where, got, want

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.where, self.got, self.want)


@dataclass(frozen=True)
class Report:
    """What was checked. `largest` is the largest relative error, `where` it is; `uncertain` are entries where differences say nothing."""

    function: str
    wrt: tuple[str, ...]
    checked: int
    entries: int
    largest: float
    where: str
    directional: tuple[float, float]
    uncertain: tuple[str, ...] = ()

    def __str__(self) -> str:
        size = "all" if self.checked == self.entries else f"of {self.entries}"
        lines = [
            f"gradient of `{self.function}` with respect to {', '.join(self.wrt)} agrees with differences",
            f"  {self.checked} entries ({size}), largest relative error {self.largest:.1e} at {self.where}",
            "  directional derivative {:.12g}, by differences {:.12g}".format(*self.directional),
        ]
        if self.uncertain:
            lines.append(f"  differences say nothing at {', '.join(self.uncertain[:5])}" + (" ..." if len(self.uncertain) > 5 else ""))
        return "\n".join(lines)


def check_gradients(
    f: Callable[..., Any], *args: Any, wrt: Wrt | None = None, rtol: float | None = None, atol: float = 0.0, jit: bool = True, seed: int = 0
) -> Report:
    """Compare a gradient with differences of the plain Python function.

    The dot product of the gradient with a random direction is compared with the derivative in that direction, and single entries (all of
    small arguments, a sample of large ones) with central differences; both with Richardson's extrapolation and with a step that
    fits float32 or float64. Also checks the value, shapes and dtypes, and that the gradient call leaves the arguments alone.

    Args:
        f: a function, or what `grad`, `value_and_grad` or `differentiable` made of one.
        args: where to differentiate. They are copied for every evaluation, so that the function may overwrite them.
        wrt: as for `grad`; by default that of `f` if it has one, else the first parameter.
        rtol, atol: how far numbers may differ, besides the uncertainty of the differences; rtol is 1e-6 (5e-3 with float32) unless given.
        jit: as for `grad`.
        seed: of the direction and the samples.

    Raises:
        GradientMismatch: (an AssertionError) naming the argument and index, with both numbers.
    """
    if wrt is None:
        wrt = f.wrt if isinstance(f, Derivative) else 0
    plain = f.__s2sad_function__ if isinstance(f, Derivative) else getattr(f, "py_func", f)
    derivative: Derivative = value_and_grad(plain, wrt=wrt, jit=jit)
    values = [np.array(v, dtype=np.float64) if isinstance(v, (list, tuple)) else v for v in derivative._program.bind(args, {})]
    params, names = derivative._program.params, derivative._wrt
    given = _copies(values)
    value, gradients = derivative(*given)
    gradients = (gradients,) if derivative._single else gradients
    title = plain.__qualname__
    for name, before, after in zip(params, values, given, strict=True):
        if not np.array_equal(before, after, equal_nan=np.asarray(before).dtype.kind == "f"):
            raise GradientMismatch(f"the gradient call of `{title}` changed its argument `{name}`", name)
    probe = _Probe(plain, values, [params.index(n) for n in names])
    single = any(np.asarray(values[k]).dtype == np.float32 for k in probe.wrt) or np.asarray(value).dtype == np.float32
    rtol = rtol if rtol is not None else 5e-3 if single else 1e-6
    if not math.isclose(float(value), probe.value, rel_tol=rtol, abs_tol=atol) and not (math.isnan(float(value)) and math.isnan(probe.value)):
        raise GradientMismatch(f"the value of `{title}`: s2sad gives {value!r}, Python gives {probe.value!r}", "value", value, probe.value)
    for name, k, g in zip(names, probe.wrt, gradients, strict=True):
        want = np.asarray(values[k])
        if np.shape(g) != want.shape or np.asarray(g).dtype != want.dtype:
            raise GradientMismatch(
                f"the gradient of `{title}` with respect to `{name}` is {np.asarray(g).dtype}{list(np.shape(g))}, "
                f"the argument is {want.dtype}{list(want.shape)}", name, g
            )  # fmt: skip
    return _compare(
        probe, title, names, gradients, rtol, atol, np.random.default_rng(seed), float(np.finfo(np.float32 if single else np.float64).eps)
    )


def _copies(values: Sequence[Any]) -> list[Any]:
    """Arguments for one evaluation; arrays keep their layout."""
    return [v.copy(order="K") if isinstance(v, np.ndarray) else v for v in values]


class _Probe:
    """Evaluates the plain function near its arguments."""

    def __init__(self, f: Callable[..., Any], values: Sequence[Any], wrt: Sequence[int]):
        self.f = f
        self.values = values
        self.wrt = wrt
        self.value = float(f(*_copies(values)))
        self.scales = [_scale(np.asarray(values[k], dtype=np.float64)) for k in wrt]

    def at(self, steps: Sequence[np.ndarray | None]) -> float:
        """The value where arguments are moved by steps."""
        moved = _copies(self.values)
        for k, step in zip(self.wrt, steps, strict=True):
            if step is not None:
                old = moved[k]
                if isinstance(old, np.ndarray):
                    old += step.astype(old.dtype)
                else:
                    moved[k] = type(old)(old + float(step))
        try:
            with np.errstate(all="ignore"):
                return float(self.f(*moved))
        except (ArithmeticError, ValueError):  # outside the function's domain
            return math.nan

    def slope(self, direction: Sequence[np.ndarray | None], eps: float) -> tuple[float, float]:
        """The derivative in a direction, and how uncertain it is: the best of several step lengths."""
        best = math.nan, math.inf
        for h in eps**0.2 * np.array([1.0, 0.1, 0.01]):

            def difference(h: float) -> float:
                plus, minus = ([None if d is None else s * h * d for d in direction] for s in (1, -1))
                return (self.at(plus) - self.at(minus)) / (2 * h)

            wide, narrow = difference(h), difference(h / 2)
            noise = 4 * eps * abs(self.value) / h
            found = (4 * narrow - wide) / 3, abs(narrow - wide) / 3 + noise
            if found[1] < best[1]:
                best = found
        return best


def _scale(x: np.ndarray) -> np.ndarray:
    """How far entries may be moved, relative to a step."""
    largest = float(np.max(np.abs(x), initial=0.0)) or 1.0
    return np.asarray(np.maximum(np.abs(x), 1e-3 * largest))


def _compare(
    probe: _Probe, title: str, names: Sequence[str], gradients: Sequence[Any], rtol: float, atol: float, rng: np.random.Generator, eps: float
) -> Report:
    """The single entries, then one direction (which sees the entries that a sample leaves out)."""
    checked, total, largest, where, uncertain = 0, 0, 0.0, "-", []
    for n, (name, gradient) in enumerate(zip(names, gradients, strict=True)):
        g, scale = np.asarray(gradient, dtype=np.float64), probe.scales[n]
        total += g.size
        for flat in np.arange(g.size) if g.size <= ALL else np.sort(rng.choice(g.size, ALL, replace=False)):
            index = tuple(int(k) for k in np.unravel_index(flat, g.shape))
            place = f"{name}[{', '.join(map(str, index))}]" if index else name
            unit = np.zeros(g.shape)
            unit[index] = scale[index]
            slope, doubt = probe.slope([unit if m == n else None for m in range(len(names))], eps)
            want, doubt, got = slope / scale[index], doubt / scale[index], float(g[index])
            checked += 1
            if not math.isfinite(doubt) or doubt > 0.1 * max(abs(want), abs(got)) and doubt * scale[index] > 1e-4 * abs(probe.value):
                uncertain.append(place)
                continue
            error = abs(got - want)
            if math.isnan(got) or not error <= atol + rtol * max(abs(got), abs(want)) + 2 * doubt:
                raise GradientMismatch(
                    f"the gradient of `{title}` with respect to `{place}`: s2sad gives {got!r}, differences give {want!r} (+- {doubt:.1g})",
                    place, got, want,
                )  # fmt: skip
            relative = error / max(abs(got), abs(want)) if error else 0.0
            if relative > largest and error > 2 * doubt or where == "-":
                largest, where = relative, place
    if uncertain and len(uncertain) == checked:
        raise GradientMismatch(f"the gradient of `{title}` cannot be checked here: differences of the function have no limit", uncertain[0])
    direction = [np.asarray(s * rng.choice([-1.0, 1.0], s.shape) * rng.uniform(0.5, 1.0, s.shape)) for s in probe.scales]
    got = float(sum(np.sum(np.asarray(g, dtype=np.float64) * d) for g, d in zip(gradients, direction, strict=True)))
    want, doubt = probe.slope(direction, eps)
    size = float(sum(np.sum(np.abs(np.asarray(g, dtype=np.float64) * d)) for g, d in zip(gradients, direction, strict=True)))
    if not math.isnan(want) and not abs(got - want) <= atol + rtol * max(size, abs(want)) + 2 * doubt:
        raise GradientMismatch(
            f"the gradient of `{title}` in a random direction: s2sad gives {got!r}, differences give {want!r} (+- {doubt:.1g})",
            "direction",
            got,
            want,
        )
    return Report(title, tuple(names), checked, total, largest, where, (got, want), tuple(uncertain))
