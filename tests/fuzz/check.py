"""What is wrong with the derivative of a program: the compiler's text against complex steps of the plain Python function."""

from __future__ import annotations

import ast
import itertools
import linecache
import math
import re
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad import grad
from s2sad.errors import DifferentiationError

from .generate import Program

STEP = 1e-40
MOST_TRIPS = 100_000  # of `while` loops, over all evaluations of a program


@dataclass
class Outcome:
    """`kind` is "ok", "unusable" (the program itself fails or is ill-conditioned), "refused", or a fault.

    The faults are "crash", "primal", "gradient", "repeat", "arguments" and "value".
    """

    kind: str
    detail: str = ""
    text: str = ""

    @property
    def key(self) -> str:
        """Faults with one key are likely one fault."""
        line = self.detail.splitlines()[0] if self.kind in ("crash", "refused") and self.detail else ""
        return f"{self.kind} {re.sub(r'`[^`]*`|[a-z_0-9]*_bar|[0-9]+', '_', line)[:70]}".strip()


def load(text: str, name: str) -> types.ModuleType:
    """A module made of a text that `inspect` can read."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = types.ModuleType("fuzzed")
    exec(compile(text, name, "exec"), module.__dict__)
    return module


# -- the oracle -------------------------------------------------------------------------------------------


def _re(v: Any) -> Any:
    return v.real if np.iscomplexobj(v) else v


def _select(a: Any, b: Any, first: Any) -> Any:
    """Where `first` > 0 the one, where < 0 the other, the mean at ties."""
    return np.where(first > 0, a, np.where(first < 0, b, (a + b) / 2))[()]


def _extreme(a: Any, sign: int) -> Any:
    r = sign * _re(a)
    return np.mean(a[r == np.max(r)])


def _var(a: Any) -> Any:
    return np.mean((a - np.mean(a)) ** 2)


class _Linalg:
    @staticmethod
    def norm(a: Any) -> Any:
        return np.sqrt(np.sum(a * a))


class _Numpy:
    """NumPy for complex steps: comparisons look at the real part, new arrays are complex."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    zeros = staticmethod(lambda shape: np.zeros(shape, complex))
    ones = staticmethod(lambda shape: np.ones(shape, complex))
    empty = staticmethod(lambda shape: np.full(shape, np.nan, complex))
    full = staticmethod(lambda shape, v: np.full(shape, v, complex))
    maximum = staticmethod(lambda a, b: _select(a, b, _re(a) - _re(b)))
    minimum = staticmethod(lambda a, b: _select(a, b, _re(b) - _re(a)))
    max = staticmethod(lambda a: _extreme(a, 1))
    min = staticmethod(lambda a: _extreme(a, -1))
    argmax = staticmethod(lambda a: np.argmax(_re(a)))
    argmin = staticmethod(lambda a: np.argmin(_re(a)))
    abs = staticmethod(lambda a: a * np.sign(_re(a)))
    var = staticmethod(_var)
    argsort = staticmethod(lambda a: np.argsort(_re(a), kind="stable"))
    sort = staticmethod(lambda a: a[np.argsort(_re(a), kind="stable")])
    clip = staticmethod(lambda a, low, high: _Numpy.minimum(_Numpy.maximum(a, low), high))
    linalg = _Linalg()


class _Math:
    def __getattr__(self, name: str) -> Any:
        return lambda v: getattr(np, name)(v)


class _Ticks(ast.NodeTransformer):
    """Loops that do not end raise an error."""

    def visit_While(self, node: ast.While) -> ast.While:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(ast.Call(ast.Name("_tick", ast.Load()), [], [])))
        return node


def _ticker() -> Callable[[], None]:
    count = itertools.count()

    def tick() -> None:
        if next(count) > MOST_TRIPS:
            raise OverflowError("the loop does not end")

    return tick


def plain_version(text: str) -> Callable[..., Any]:
    """`f` of a program as Python runs it."""
    scope: dict[str, Any] = {"_tick": _ticker()}
    exec(compile(ast.fix_missing_locations(_Ticks().visit(ast.parse(text))), "<plain>", "exec"), scope)
    return scope["f"]  # type: ignore[no-any-return]


class _Real(_Ticks):
    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        self.generic_visit(node)
        real = [ast.Call(ast.Name("_re", ast.Load()), [e], []) for e in (node.left, *node.comparators)]
        return ast.Compare(real[0], node.ops, real[1:])  # type: ignore[arg-type]

    def visit_Import(self, node: ast.Import) -> None:
        return None


def complex_version(text: str) -> Callable[..., Any]:
    """`f` of a program for complex arguments."""
    tree = ast.fix_missing_locations(_Real().visit(ast.parse(text)))
    scope: dict[str, Any] = {
        "_tick": _ticker(), "np": _Numpy(), "math": _Math(), "_re": _re, "abs": _Numpy.abs, "float": lambda v: v,
        "max": lambda a, b: b if _re(b) > _re(a) else a, "min": lambda a, b: b if _re(b) < _re(a) else a,
    }  # fmt: skip
    exec(compile(tree, "<complex step>", "exec"), scope)
    return scope["f"]  # type: ignore[no-any-return]


def complex_step(program: Program, f: Callable[..., Any]) -> tuple[float, list[Any]]:
    """The value and the gradient."""

    def lifted() -> list[Any]:
        return [a.astype(complex) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else complex(a) if isinstance(a, float) else a
                for a in program.fresh()]  # fmt: skip

    gradients: list[Any] = []
    value = complex(f(*lifted())).real
    for k in program.wrt:
        g = np.zeros(np.shape(program.args[k]))
        for cell in np.ndindex(g.shape):
            moved = lifted()
            if g.ndim:
                moved[k][cell] += 1j * STEP
            else:
                moved[k] += 1j * STEP
            g[cell] = complex(f(*moved)).imag / STEP
        gradients.append(g)
    return value, gradients


# -- the check --------------------------------------------------------------------------------------------


def close(got: Any, want: Any, rtol: float = 1e-8) -> bool:
    """Equal shapes, and values to rounding, relative to the largest."""
    g, w = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    scale = 1.0 + (float(np.max(np.abs(w))) if w.size else 0.0)
    return g.shape == w.shape and bool(np.all(np.abs(g - w) <= rtol * scale))


def usable(program: Program) -> tuple[float, list[Any], list[Any]] | str:
    """The value, the arguments after the call and the gradient of the plain function, or why the program is no test."""
    try:
        plain = plain_version(program.text)
        after = list(program.fresh())
        value = float(plain(*after))
        same, gradients = complex_step(program, complex_version(program.text))
    except (ArithmeticError, IndexError, ValueError, TypeError, AttributeError, NameError, SyntaxError) as e:
        return f"{type(e).__name__}: {e}"
    flat = np.concatenate([np.ravel(g) for g in gradients] + [np.ravel(a).astype(float) for a in after])
    if not math.isfinite(value) or not np.all(np.isfinite(flat)) or abs(value) > 1e6 or np.max(np.abs(flat)) > 1e6:
        return "large or not finite"
    if not close(same, value, 1e-9):
        return "the complex version takes another way"
    return value, after, gradients


def check(program: Program, jit: bool = False, both: bool = True) -> Outcome:
    """Compare the value, the effects and the gradient of a program with plain Python; without `both` leave `value_and_grad` out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            found = usable(program)
            if isinstance(found, str):
                return Outcome("unusable", found)
            return _check(program, *found, jit, both)


def _check(program: Program, value: float, after: list[Any], gradients: list[Any], jit: bool, both: bool) -> Outcome:
    f = load(program.text, f"<fuzz {program.seed}>").f
    text = ""
    try:
        gradient = grad(f, wrt=program.wrt, jit=jit)
        args = program.fresh()
        text = gradient.source(*args)
        got = gradient(*args)
        again = gradient(*args)
        pair_value, pair = gradient.value_and_grad(*args) if both else (value, gradients)
        moved = program.fresh()
        primal = gradient.primal(*moved)
    except DifferentiationError as e:
        return Outcome("refused", f"{e.problems[0].code} {e.problems[0].summary}\n{e}", text)
    except Exception as e:  # any other error is the finding
        return Outcome("crash", f"{type(e).__name__}: {e}", text)
    if not close(primal, value, 1e-10):
        return Outcome("primal", f"got {primal}, want {value}", gradient.primal.source(*program.fresh()))
    for k, (m, a) in enumerate(zip(moved, after, strict=True)):
        if not close(m, a, 1e-10):
            return Outcome("primal", f"argument {k} afterwards: got {m}, want {a}", gradient.primal.source(*program.fresh()))
    for k, g, w in zip(program.wrt, got, gradients, strict=True):
        if not close(g, w):
            return Outcome("gradient", f"argument {k}: got {g}, want {w}", text)
    for k, g, w in zip(program.wrt, got, again, strict=True):
        if not np.array_equal(g, w):
            return Outcome("repeat", f"argument {k}: first {g}, then {w}", text)
    for k, (a, b) in enumerate(zip(args, program.args, strict=True)):
        if not np.array_equal(a, b):
            return Outcome("arguments", f"argument {k} was changed", text)
    if not close(pair_value, value, 1e-10):
        return Outcome("value", f"got {pair_value}, want {value}", text)
    for k, g, w in zip(program.wrt, pair, gradients, strict=True):
        if not close(g, w):
            return Outcome("value", f"value_and_grad, argument {k}: got {g}, want {w}", text)
    return Outcome("ok")
