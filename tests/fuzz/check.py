"""What is wrong with the derivative of a program: the compiler's text against plain Python and complex steps of it."""

from __future__ import annotations

import linecache
import math
import re
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from s2sad import grad
from s2sad.errors import DifferentiationError

from .generate import Program, variants
from .oracle import ERRORS, Compiled, Endless, complex_step

ARITHMETIC = (ArithmeticError, ValueError)  # errors that a gradient need not raise (ValueError: of `math`; shapes that do not fit are told by primal)
RAISED = (IndexError, ValueError, UnboundLocalError, ZeroDivisionError, OverflowError)


@dataclass
class Outcome:
    """`kind` is "ok", "unusable" (the program itself fails or is ill-conditioned), "refused", or a fault.

    The faults are "crash", "primal", "gradient", "tangent" (it differs from the gradient), "repeat", "arguments", "value", "dtype", "error"
    (another exception than Python's), and of compiled programs "compiled" (they differ) and "rejected" (by Numba).
    """

    kind: str
    detail: str = ""
    text: str = ""
    nonzero: bool = False  # some entry of the gradient is not 0
    inputs: int = 0  # sets of arguments that were compared
    raised: int = 0  # those of them for which the program raises
    texts: tuple[str, ...] = ()  # emitted for the first arguments: the gradient and the primal
    seed: float | np.floating = 1.0  # of the gradient: of the dtype of the value
    sets: list[Program] = field(default_factory=list)  # the program with the arguments for which these texts were run
    args: tuple[Any, ...] | None = None  # the arguments of the fault, if not those of the program

    @property
    def key(self) -> str:
        """Faults with one key are likely one fault."""
        line = self.detail.splitlines()[0] if self.kind in ("crash", "refused", "error") and self.detail else ""
        return f"{self.kind} {re.sub(r'`[^`]*`|[a-z_0-9]*_bar|[0-9]+', '_', line)[:70]}".strip()


class Fault(Exception):
    """Something is wrong."""

    def __init__(self, kind: str, detail: str, text: str = ""):
        super().__init__(kind, detail)
        self.outcome = Outcome(kind, detail, text)


def load(text: str, name: str) -> types.ModuleType:
    """A module made of a text that `inspect` can read."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = types.ModuleType("fuzzed")
    exec(compile(text, name, "exec"), module.__dict__)
    return module


@dataclass
class Expected:
    """What plain Python does with some arguments: a value or an error, the arguments afterwards, and the gradient if complex steps find it."""

    value: Any
    error: Exception | None
    after: list[Any]
    gradients: list[Any] | None


def close(got: Any, want: Any, rtol: float = 1e-8) -> bool:
    """Equal shapes, and values to rounding, relative to the largest; equal infinities and NaNs."""
    g, w = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    if g.shape != w.shape:
        return False
    fine = np.isfinite(w)
    if not np.array_equal(g[~fine], w[~fine], equal_nan=True):
        return False
    scale = 1.0 + float(np.max(np.abs(w[fine]), initial=0.0))
    return bool(np.all(np.abs(g[fine] - w[fine]) <= rtol * scale))


def expected(program: Program, compiled: Compiled) -> Expected | str:
    """What the plain function does, or why that is no test."""
    after = list(program.fresh())
    try:
        value = compiled.plain()(*after)
    except (Endless, RecursionError):
        return "a loop or a recursion does not end"
    except ERRORS as e:
        return Expected(None, e, after, None)
    if isinstance(value, complex):  # of a negative Python float to a broken power
        return "complex"
    try:
        same, gradients = complex_step(program, compiled.complex())
    except (*ERRORS, Endless, RecursionError) as e:
        return f"complex steps: {type(e).__name__}: {e}"
    flat = np.concatenate([np.ravel(g) for g in gradients] + [np.ravel(a).astype(float) for a in after])
    if not math.isfinite(value) or not np.all(np.isfinite(flat)) or abs(value) > 1e6 or np.max(np.abs(flat), initial=0.0) > 1e6:
        return "large or not finite"
    if not close(same, value, 1e-3 if program.single else 1e-9):
        return "the complex version takes another way"
    return Expected(value, None, after, gradients)


def check(program: Program, jit: bool = False, both: bool = True, others: int = 2) -> Outcome:
    """Compare the value, the effects and the gradient of a program with plain Python.

    Args:
        program: with the arguments to begin with.
        jit: compile what is emitted.
        both: with `value_and_grad` and `jvp`, too.
        others: how many more sets of arguments of the same types to try.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            compiled = Compiled(program.text)
        except SyntaxError as e:
            return Outcome("unusable", str(e))
        first = expected(program, compiled)
        if isinstance(first, str) or first.gradients is None:
            return Outcome("unusable", first if isinstance(first, str) else repr(first.error))
        run = _Run(program, compiled, jit, both)
        try:
            run.compare(program, first)
            for other in variants(program, others):
                run.other(other)
        except Fault as fault:
            return fault.outcome
        except DifferentiationError as e:
            return Outcome("refused", f"{e.problems[0].code} {e.problems[0].summary}\n{e}", run.text)
        nonzero = any(np.any(np.abs(g) > 1e-12) for g in first.gradients)
        return Outcome("ok", "", run.text, nonzero, run.inputs, run.raised, run.texts, run.seed, run.sets)


class _Run:
    """The emitted functions of one program."""

    def __init__(self, program: Program, compiled: Compiled, jit: bool, both: bool):
        self.compiled, self.both = compiled, both
        # a function that calls itself has no forward mode yet
        functions = re.findall(r"^def (h\d)(.*?)(?=^def |\Z)", program.text, re.M | re.S)
        self.forward = not any(f"{name}(" in body for name, body in functions)
        self.ternary = re.search(r"\bif\b.*\belse\b", program.text) is not None
        self.f = load(program.text, f"<fuzz {program.seed}>").f
        self.gradient = grad(self.f, wrt=program.wrt, jit=jit)
        self.text = ""
        self.inputs = self.raised = 0
        self.texts: tuple[str, ...] = ()
        self.seed: float | np.floating = 1.0
        self.sets: list[Program] = []

    def other(self, program: Program) -> None:
        """The same for other arguments."""
        want = expected(program, self.compiled)
        if isinstance(want, str):
            return
        try:
            self.compare(program, want)
        except Fault as fault:
            fault.outcome.args = program.args
            raise

    def call(self, what: Callable[..., Any], args: Sequence[Any]) -> Any:
        try:
            return what(*args)
        except DifferentiationError:
            raise
        except Exception as e:  # any error of the emitted code is the finding
            raise Fault("crash", f"{type(e).__name__}: {e}", self.text) from e

    def compare(self, program: Program, want: Expected) -> None:
        self.inputs += 1
        if want.error is not None:
            self.raises(program, want)
            return
        assert want.gradients is not None
        loose = 3e-3 if program.single else 1.0
        args = program.fresh()
        self.text = self.call(self.gradient.source, args)
        self.keep(program)
        got = self.call(self.gradient, args)
        again = self.call(self.gradient, args)
        for k, (a, b) in enumerate(zip(args, program.args, strict=True)):
            if not np.array_equal(a, b):
                raise Fault("arguments", f"argument {k} was changed", self.text)
        for k, g, w in zip(program.wrt, got, again, strict=True):
            if not np.array_equal(g, w, equal_nan=True):
                raise Fault("repeat", f"argument {k}: first {g}, then {w}", self.text)
        self.primal(program, want)
        self.gradients(program, want, got, "")
        if self.both:
            value, pair = self.call(self.gradient.value_and_grad, args)
            if not close(value, want.value, 1e-10 if loose == 1.0 else loose):
                raise Fault("value", f"got {value}, want {want.value}", self.text)
            self.gradients(program, want, pair, "value_and_grad, ")
            if self.forward:
                self.dot_product(program, want, got)

    def keep(self, program: Program) -> None:
        """Remember arguments that run the same texts as the first."""
        texts = (self.text, self.call(self.gradient.primal.source, program.fresh()))
        self.texts = self.texts or texts
        if texts == self.texts:
            self.sets.append(program)

    def primal(self, program: Program, want: Expected) -> None:
        moved = program.fresh()
        value = self.call(self.gradient.primal, moved)
        self.seed = np.float32(1.0) if isinstance(value, np.float32) else 1.0
        near = 1e-4 if program.single else 1e-10
        source = self.call(self.gradient.primal.source, program.fresh())
        if not close(value, want.value, near):
            raise Fault("primal", f"got {value}, want {want.value}", source)
        one_way = not re.search(r"\b(if|for|while)\b", program.text)  # where ways meet, the types are joined: documented
        if one_way and type(value) is not type(want.value):
            raise Fault("dtype", f"the value is {type(value).__name__}, want {type(want.value).__name__}", source)
        for k, (m, a) in enumerate(zip(moved, want.after, strict=True)):
            if not close(m, a, near):
                raise Fault("primal", f"argument {k} afterwards: got {m}, want {a}", source)

    def gradients(self, program: Program, want: Expected, got: Sequence[Any], what: str) -> None:
        assert want.gradients is not None
        for k, g, w in zip(program.wrt, got, want.gradients, strict=True):
            a = program.args[k]
            if not close(g, w, 3e-3 if program.single else 1e-8):
                if program.single and self.shaky(program, w, k):
                    continue
                raise Fault("value" if what else "gradient", f"{what}argument {k}: got {g}, want {w}", self.text)
            if np.asarray(g).dtype != np.asarray(a).dtype or isinstance(a, np.ndarray) is not isinstance(g, np.ndarray):
                raise Fault("dtype", f"{what}argument {k}: {type(g).__name__} {np.asarray(g).dtype} for {type(a)} {np.asarray(a).dtype}", self.text)

    def dot_product(self, program: Program, want: Expected, got: Sequence[Any]) -> None:
        """The tangent along a direction is the product of the gradient with it."""
        rng = np.random.default_rng(program.seed)
        directions = [rng.uniform(-1.0, 1.0, np.shape(program.args[k])).astype(np.asarray(program.args[k]).dtype)[()] for k in program.wrt]
        args = program.fresh()
        value, tangent = self.call(lambda *a: self.gradient.jvp(*a, tangents=tuple(directions)), args)
        for k, (a, b) in enumerate(zip(args, program.args, strict=True)):
            if not np.array_equal(a, b):
                raise Fault("arguments", f"jvp changed argument {k}", self.text)
        near = 3e-3 if program.single else 1e-8
        terms = [float(np.sum(np.asarray(g, dtype=float) * d)) for g, d in zip(got, directions, strict=True)]
        scale = 1.0 + max(float(np.sum(np.abs(np.asarray(g, dtype=float)))) for g in got)
        source = self.call(self.gradient.jvp.source, program.fresh())
        if not close(value, want.value, 1e-10 if near == 1e-8 else near):
            raise Fault("tangent", f"jvp: the value is {value}, want {want.value}", source)
        if not abs(tangent - sum(terms)) <= near * scale:
            raise Fault("tangent", f"jvp gives {tangent} along {directions}, the gradient {sum(terms)}", source)

    def shaky(self, program: Program, w: Any, k: int) -> bool:
        """Whether the gradient changes much within the rounding of float32."""
        rng = np.random.default_rng(0)
        for _ in range(6):
            moved = tuple(
                a * (1 + 1e-6 * rng.uniform(-1, 1, np.shape(a))) if np.asarray(a).dtype.kind == "f" else a for a in program.args
            )
            try:
                _, found = complex_step(replace(program, args=moved), self.compiled.complex())
            except (*ERRORS, Endless, RecursionError):
                return True
            if not close(found[program.wrt.index(k)], w, 1e-3):
                return True
        return False

    def raises(self, program: Program, want: Expected) -> None:
        """Where Python raises, the emitted functions do, with the same effects on the arguments."""
        self.raised += 1
        self.text = self.call(self.gradient.source, program.fresh())
        self.keep(program)
        moved = program.fresh()
        self.same_error(self.gradient.primal, moved, want, "primal")
        for k, (m, a) in enumerate(zip(moved, want.after, strict=True)):
            if not close(m, a, 1e-4 if program.single else 1e-10):
                raise Fault("primal", f"after an error, argument {k}: got {m}, want {a}", self.call(self.gradient.primal.source, program.fresh()))
        if self.both:
            self.same_error(self.gradient.value_and_grad, program.fresh(), want, "value_and_grad")
        if not isinstance(want.error, ARITHMETIC):
            self.same_error(self.gradient, program.fresh(), want, "grad")

    def same_error(self, what: Callable[..., Any], args: Sequence[Any], want: Expected, title: str) -> None:
        source = self.call(what.source, args)  # type: ignore[attr-defined]
        try:
            got = what(*args)
        except DifferentiationError:
            raise
        except Exception as e:  # compared
            # perhaps that of a later statement; a ternary is evaluated before the rest of its statement
            fits = (title != "primal" or self.ternary) and isinstance(e, RAISED) and isinstance(want.error, RAISED)
            if not fits and not isinstance(e, type(want.error)) and not isinstance(want.error, type(e)):
                raise Fault("error", f"{title}: {type(e).__name__}, want {type(want.error).__name__}\n{e}; want {want.error}", source) from e
        else:
            if title != "primal" and isinstance(want.error, ValueError):
                return  # shapes that do not fit in a statement that nothing uses
            raise Fault("error", f"{title}: no error, want {type(want.error).__name__}\ngot {got}; want {want.error}", source)


def usable(program: Program) -> bool:
    """Whether plain Python and complex steps say what is right."""
    found = expected(program, Compiled(program.text))
    return not isinstance(found, str) and found.gradients is not None
