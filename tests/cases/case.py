"""What a fault case is, and how an answer is judged.

A case is one plain function, made after a fault that somebody reported publicly of a differentiation system (`source`),
the inputs to call it with and the right outcome of asking for its gradient: an array, a float, a tuple of those (one for each entry
of `wrt`), or one of

* `AnyOf(...)`   at a kink: every listed value is an acceptable convention,
* `Raises(...)`  a clear error.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class AnyOf:
    """Several conventions are acceptable; each is a full expected outcome."""

    def __init__(self, *choices: Any, why: str = ""):
        self.choices = choices
        self.why = why


class Raises:
    """The right answer is an error of one of these class names (or a subclass) or a refusal, whose message has one of the words of `mention`."""

    def __init__(self, *names: str, mention: tuple[str, ...] = ()):
        self.names = names
        self.mention = mention


@dataclass
class Case:
    """One function with its inputs and the right outcome."""

    id: str
    kind: str
    fn: Callable[..., Any]
    args: Any  # a tuple, or a function that makes a fresh one
    expect: Any
    wrt: int | tuple[int, ...] = 0
    kwargs: dict[str, Any] = field(default_factory=dict)
    rtol: float = 1e-9
    atol: float = 1e-12
    order: int = 1  # 2: expect is the Hessian
    refuse_ok: bool = False  # a clear refusal is right, too
    or_raises: tuple[str, ...] = ()  # these plain error classes are right, too
    mention: tuple[str, ...] = ()  # a refusal has to name one of these to be clear
    mutates: tuple[int, ...] = ()  # positions of arguments that fn itself writes to
    warm: tuple[Any, ...] | None = None  # small arguments for a first, unmeasured call
    mem_mb: float = 0.0  # limit on the growth of peak memory after the warm call
    source: str = ""
    note: str = ""

    def fresh(self) -> tuple[Any, ...]:
        """The arguments, with arrays that nobody else holds (in their own memory layout)."""
        if callable(self.args):
            return tuple(self.args())
        return tuple(a.copy(order="K") if isinstance(a, np.ndarray) else copy.deepcopy(a) for a in self.args)


def cstep(fn: Callable[..., Any], args: tuple[Any, ...], wrt: int | tuple[int, ...] = 0) -> Any:
    """Gradient by complex step, exact to rounding, for code that is analytic in its float arguments and branches on integers or abs() only."""
    one = isinstance(wrt, int)
    h = 1e-60
    out = []
    for k in (wrt,) if one else wrt:
        base = [
            a.astype(complex) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else complex(a) if isinstance(a, float) else a
            for a in args
        ]
        cells = list(np.ndindex(*np.shape(base[k])))
        g = np.zeros(np.shape(base[k]))
        for cell in cells:
            moved = [a.copy() if isinstance(a, np.ndarray) else a for a in base]
            if isinstance(moved[k], np.ndarray):
                moved[k][cell] += 1j * h
            else:
                moved[k] += 1j * h
            g[cell] = complex(fn(*moved)).imag / h
        out.append(g if g.ndim else float(g))
    return out[0] if one else tuple(out)


def arrays(result: Any) -> list[np.ndarray]:
    """The non-empty arrays of a result."""
    if isinstance(result, (tuple, list)):
        return [a for x in result for a in arrays(x)]
    return [result] if isinstance(result, np.ndarray) and result.size else []


def _fault(got: Any, want: Any, arg: Any, case: Case) -> str:
    if got is None:
        return "got None"
    g, w = np.asarray(got), np.asarray(want)
    if g.dtype.kind not in "fc":
        return f"result has dtype {g.dtype}"
    if g.shape != w.shape:
        return f"shape {g.shape}, want {w.shape}"
    if isinstance(arg, np.ndarray) and arg.dtype.kind in "fc" and g.dtype != arg.dtype:
        return f"dtype {g.dtype} for an argument of dtype {arg.dtype}"
    if not np.allclose(g, w, rtol=case.rtol, atol=case.atol, equal_nan=True):
        return f"got {np.array2string(g, threshold=12, precision=9)}, want {np.array2string(w, threshold=12, precision=9)}"
    return ""


def fault(result: Any, expect: Any, case: Case, args: tuple[Any, ...]) -> str:
    """What is wrong with a result, or an empty string: values, shapes and dtypes."""
    if isinstance(expect, AnyOf):
        faults = [fault(result, choice, case, args) for choice in expect.choices]
        return "" if "" in faults else f"no acceptable convention fits ({expect.why}): {faults[0]}"
    if isinstance(case.wrt, int):
        return _fault(result, expect, args[case.wrt], case)
    if not isinstance(result, tuple) or len(result) != len(case.wrt):
        return f"want {len(case.wrt)} gradients, got {type(result).__name__}"
    for k, r, e in zip(case.wrt, result, expect, strict=True):
        why = _fault(r, e, args[k], case)
        if why:
            return f"argument {k}: {why}"
    return ""
