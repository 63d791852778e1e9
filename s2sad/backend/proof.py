"""A gradient checked on the arguments of a call: the dot-product test and a directional difference; and which statement is at fault if they fail.

The tangent and the adjoint are different programs made of the same rows, so the dot-product test finds what the reverse mode adds to the rows (what
is kept, cleared, accumulated), and the difference of the function itself finds a wrong row. For the place, each statement is differentiated alone,
with the values that it had in the run.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import custom, runtime
from s2sad.analysis import effects as E
from s2sad.analysis.types import type_of
from s2sad.backend.compile import load
from s2sad.errors import DifferentiationError, Problem, WrongGradient, problem
from s2sad.lang import tree as T
from s2sad.lang.printer import function_source
from s2sad.lang.tree import Function
from s2sad.lang.types import Array, Scalar, Static, Type, is_array, is_float
from s2sad.transforms import pipeline

# what a function may raise a small step away from the arguments: then there is no difference to compare with
_NO_VALUE = (ArithmeticError, ValueError, IndexError, AssertionError, NotImplementedError, RuntimeError)


@dataclass(frozen=True)
class Sample:
    """A gradient, a direction, and what is to agree with their product."""

    gradients: tuple[Any, ...]
    direction: tuple[Any, ...]
    tangent: Any  # the derivative in the direction by forward mode
    value: Callable[[float], Any] | None  # the function's value at a step in the direction; None if differences are not what the user means
    single: bool = False  # float32 takes part


def direction(values: Sequence[Any]) -> tuple[Any, ...]:
    """A random direction, of the shape and dtype of each value; the same at every run."""
    rng = np.random.default_rng(20)
    out = []
    for v in values:
        d = np.asarray(rng.uniform(0.5, 1.5, np.shape(v)) * rng.choice([-1.0, 1.0], np.shape(v)), dtype=np.asarray(v).dtype)
        out.append(d if isinstance(v, np.ndarray) else d[()])
    return tuple(out)


def disagreement(s: Sample) -> str:
    """What is wrong with a gradient, in words; empty if nothing is, or if that cannot be decided."""
    parts = [np.asarray(g, dtype=float) * d for g, d in zip(s.gradients, s.direction, strict=True)]
    product, size = sum(float(np.sum(p)) for p in parts), sum(float(np.sum(np.abs(p))) for p in parts)
    forward = float(s.tangent)
    if not math.isfinite(product) or not math.isfinite(forward):
        return ""  # infinite slopes have no product
    if abs(product - forward) > (1e-2 if s.single else 1e-6) * (size + abs(forward)):
        return f"the gradient times a direction is {product:.6g}, forward mode gives {forward:.6g}"
    found = _slope(s)
    if found is None:
        return ""
    slope, error = found
    if abs(product - slope) > 10 * error + (5e-2 if s.single else 1e-4) * (size + abs(slope)):
        return f"the gradient times a direction is {product:.6g}, differences of the function give {slope:.6g}"
    return ""


def _slope(s: Sample) -> tuple[float, float] | None:
    """The derivative by differences and its error; None where the function is not smooth enough to tell."""
    h = 1e-2 if s.single else 1e-5
    if s.value is None:
        return None
    try:
        with np.errstate(all="ignore"):
            at = {k: float(s.value(k * h)) for k in (-2, -1, 0, 1, 2)}
    except _NO_VALUE:
        return None
    if not all(map(math.isfinite, at.values())):
        return None
    far, near = (at[2] - at[-2]) / (4 * h), (at[1] - at[-1]) / (2 * h)
    slope = near + (near - far) / 3
    rounding = (2e-6 if s.single else 4e-15) * max(map(abs, at.values())) / h
    # at a kink the slopes of both sides differ by much more than curvature explains
    left, right = (at[0] - at[-1]) / h, (at[1] - at[0]) / h
    left2, right2 = (at[0] - at[-2]) / (2 * h), (at[2] - at[0]) / (2 * h)
    if abs(right - left) > 0.75 * abs(right2 - left2) + 10 * rounding:
        return None
    return slope, abs(near - far) + rounding


def moved(values: Mapping[str, Any], along: Mapping[str, Any], step: float) -> list[Any]:
    """Copies of the values, a step further along a direction."""
    out = []
    for n, v in values.items():
        v = copy.deepcopy(v)
        if n in along:
            v = np.asarray(v + step * along[n], dtype=v.dtype) if isinstance(v, np.ndarray) else type(v)(v + step * along[n])
        out.append(v)
    return out


def follows_value(program: Function) -> bool:
    """Whether the derivative is that of the value: nothing is declared to be constant."""
    return "stop_gradient" not in T.all_names(program.body) and not any(map(custom.is_nondifferentiable, program.externals.values()))


def raise_wrong(program: Function, types: Mapping[str, Type], values: Mapping[str, Any], said: str) -> None:
    """Raise WrongGradient, naming the statement at fault.

    Args:
        program: in normal form; `types` and `values` are those of its parameters.
        said: what `disagreement` says of the whole.
    """
    found = locate(program, types, values)
    if found is None:
        why = "Every statement alone is right: their adjoints are put together wrongly. Please report it, with the function and its arguments."
        raise WrongGradient(Problem("S2S601", f"The gradient of `{program.name}` is wrong here: {said}", why=why))
    s, rule = found
    if rule:
        what, instead = f"The rule for `{rule}` that adjoint_of was given is wrong", f"@s2sad.adjoint_of({rule})\ndef {rule}_adjoint(...):"
    else:
        what, instead = "The adjoint of this statement is wrong", "# please report it, with the function and its arguments"
    raise WrongGradient(problem(program.source, s, "S2S601", f"{what}: {said}", instead, f"Found by checking the gradient of `{program.name}`."))


def locate(program: Function, types: Mapping[str, Type], values: Mapping[str, Any]) -> tuple[gast.stmt, str] | None:
    """The first statement whose own derivative is wrong at the values that it meets, and the user's function whose rule it uses, if any."""
    f = _with_named_result(pipeline.named(program, types))
    seen = _trace(f, values)
    for k, s in enumerate(E.walk(f.body)):
        if k in seen and _wrong(f, s, seen[k]):
            called = {T.dotted(c.func) or "" for c in gast.walk(s) if isinstance(c, gast.Call)}
            return s, next((n for n in sorted(called & set(f.externals)) if custom.adjoint_rule(f.externals[n])), "")
    return None


def _with_named_result(f: Function) -> Function:
    """The result as an assignment, like all other statements."""
    last = f.body[-1]
    if not isinstance(last, gast.Return) or last.value is None or isinstance(last.value, gast.Name):
        return f
    name = T.Fresh(T.all_names(f.body) | set(f.params))("value")
    body = (*f.body[:-1], T.at(gast.Assign([T.store(name)], last.value, None), last), T.at(gast.Return(T.name(name)), last))
    return f.with_body(body, names={**f.names, name: type_of(last.value, f.names)})


def _read(s: gast.stmt) -> list[str]:
    """The names that an assignment needs, its target's array included."""
    target = s.targets[0] if isinstance(s, gast.Assign) else s.target
    names = set(E.reads_of(s.value)[0]) | set(E.reads_of(s.value)[1])
    if isinstance(s, gast.AugAssign) or isinstance(target, gast.Subscript):
        names |= {T.base_name(target)}
    if isinstance(target, gast.Subscript):
        names |= E.reads_of(target.slice)[0] | E.reads_of(target.slice)[1]
    return sorted(names)


def _trace(f: Function, values: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """By number of a float assignment: the values of what it reads, when it first runs. The program runs in plain Python."""
    number = {id(s): k for k, s in enumerate(E.walk(f.body))}

    def probed(body: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for s in body:
            if isinstance(s, (gast.Assign, gast.AugAssign)):
                names = [n for n in _read(s) if isinstance(f.names.get(n), (Scalar, Array))]
                pairs = [e for n in names for e in (T.const(n), T.name(n))]
                out.append(gast.Expr(gast.Call(T.name("s2sad_probe"), [T.const(number[id(s)]), *pairs], [])))
            elif isinstance(s, gast.If):
                s = gast.If(s.test, probed(s.body), probed(s.orelse))
            elif isinstance(s, gast.For):
                s = gast.For(s.target, s.iter, probed(s.body), [], None)
            elif isinstance(s, gast.While):
                s = gast.While(s.test, probed(s.body), [])
            out.append(s)
        return out

    seen: dict[int, dict[str, Any]] = {}

    def probe(k: int, *pairs: Any) -> None:
        if k not in seen:
            seen[k] = copy.deepcopy(dict(zip(pairs[::2], pairs[1::2], strict=True)))

    text = function_source(f.name, f.params, {}, "", probed(list(f.body)))
    space: dict[str, Any] = {"np": np, "math": math, "s2sad_probe": probe, **f.externals}
    space |= {n: getattr(runtime, n) for n in runtime.__all__ if n not in space}
    with np.errstate(all="ignore"):
        exec(compile(text, f"<{f.name}>", "exec"), space)
        try:
            space[f.name](*copy.deepcopy(list(values.values())))
        except _NO_VALUE:
            pass  # what has run until then is seen
    return seen


def _wrong(f: Function, s: gast.stmt, values: dict[str, Any]) -> bool:
    """Whether the derivative of one statement alone is wrong."""
    target = s.targets[0] if isinstance(s, gast.Assign) else s.target
    base = T.base_name(target)
    t = f.names.get(base)
    types: dict[str, Type] = {n: f.names[n] for n in values}
    wrt = tuple(n for n in values if is_float(types[n]))
    if not isinstance(t, (Scalar, Array)) or not is_float(t) or not wrt or set(_read(s)) - set(values) - set(f.externals):
        return False
    result: gast.expr = T.name(base)
    fresh = T.Fresh(T.all_names([s]))
    body = [s]
    if is_array(t):
        # the sum of all entries would not tell them apart
        out = fresh("s2sad_out")
        body += T.stmts(f"{out} = np.sum(np.cos(1.0 + np.arange({base}.size)) * np.ravel({base}))")
        result = T.name(out)
    function = Function(f.name, tuple(values), (*body, gast.Return(result)), (), f.externals, f.source)
    try:
        modes = {m: load(pipeline.emit(function, types, wrt, m), jit=False) for m in ("adjoint", "tangent", "primal")}
    except DifferentiationError:
        return False  # alone it cannot be differentiated
    dots = direction([values[n] for n in wrt])
    along = dict(zip(wrt, dots, strict=True))
    with np.errstate(all="ignore"):
        try:
            gradients = modes["adjoint"](*moved(values, {}, 0.0))
            _, tangent = modes["tangent"](*moved(values, {}, 0.0), *dots)
        except _NO_VALUE:
            return False
    single = any(np.asarray(v).dtype == np.float32 for v in values.values())
    sample = Sample(gradients if len(wrt) > 1 else (gradients,), dots, tangent, lambda h: modes["primal"](*moved(values, along, h)), single)
    return bool(disagreement(sample))


def unsupported(types: Sequence[Type]) -> bool:
    """Whether the arguments are of types that a check cannot vary and pass again."""
    return not all(isinstance(t, (Scalar, Array, Static)) for t in types)
