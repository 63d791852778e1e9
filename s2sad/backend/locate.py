"""Which statement's adjoint is wrong: each statement by itself, at the values that it has in one run, against differences of itself.

The program runs in plain Python; what a statement and its adjoint touch is copied before and after the statement.
"""

from __future__ import annotations

import ctypes
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import gast
import numpy as np
from numba.core.registry import CPUDispatcher

from s2sad import custom, rules, runtime
from s2sad.analysis import activity
from s2sad.backend.proof import OUTSIDE, copies, scale_of, slopes
from s2sad.lang import tree as T
from s2sad.lang.printer import to_source
from s2sad.lang.tree import Function
from s2sad.lang.types import Type
from s2sad.transforms import pipeline
from s2sad.transforms.reverse import Block, Step

EVENTS = 100_000  # statements run before giving up
FIRST = 4  # so many runs of a statement are looked at, and then the 8th, 16th, ...


@dataclass(frozen=True)
class Culprit:
    """A statement whose adjoint is wrong, with two numbers that should be equal; `rule` is the user's rule that it calls, if it does."""

    stmt: gast.stmt
    adjoint: float
    differences: float
    rule: str


def culprit(function: Function, types: Mapping[str, Type], wrt: tuple[str, ...], args: Sequence[Any]) -> tuple[Function, Culprit | None]:
    """The first statement in a run with these arguments (which are not changed) whose adjoint is not its derivative.

    Returns the function that the statement belongs to, and None for the statement if each is right by itself, or if there are recursive functions,
    which are not looked into.
    """
    if function.recursive:
        return function, None
    return _Run(function, types, wrt).run(args)


class _Enough(Exception):
    """The run has shown what was to be seen."""


@dataclass
class _Case:
    """A statement, its adjoint, and what has to be known to run the two."""

    step: Step
    stmt: gast.stmt
    names: set[str]  # primal names that occur, and the owners of those
    before: list[str]  # owners whose adjoint is live before (after) the statement, among those
    after: list[str]
    primal: CodeType
    adjoint: CodeType
    runs: int = 0

    def due(self) -> bool:
        """Whether this run of the statement is one to look at."""
        self.runs += 1
        return self.runs <= FIRST or self.runs & (self.runs - 1) == 0


class _Copy:
    """The values of names at one moment; each view looks into the copy of the array that it looks into."""

    def __init__(self, env: Mapping[str, Any], names: set[str], owner: Any):
        self.values = {n: _apart(env[n]) for n in names if n in env}
        self.space: dict[str, tuple[int, bytes]] = {}
        self.root: dict[str, str] = {}
        for n, v in self.values.items():
            if isinstance(v, np.ndarray) and v.size:
                base = self.values.get(owner(n))
                inside = isinstance(base, np.ndarray) and base.size > 0 and np.may_share_memory(base, v)
                root = self.root[n] = owner(n) if inside else n
                low, high = np.lib.array_utils.byte_bounds(base if isinstance(base, np.ndarray) and inside else v)
                self.space.setdefault(root, (low, ctypes.string_at(low, high - low)))

    def _placed(self, n: str, memory: Mapping[str, bytearray]) -> Any:
        v = self.values[n]
        if not isinstance(v, np.ndarray) or not v.size:
            return v.copy() if isinstance(v, np.ndarray) else v
        offset = v.__array_interface__["data"][0] - self.space[self.root[n]][0]
        return np.ndarray(v.shape, v.dtype, memory[self.root[n]], offset, v.strides)

    def fresh(self) -> dict[str, Any]:
        """The names bound to values of their own."""
        memory = {root: bytearray(content) for root, (_, content) in self.space.items()}
        return {n: self._placed(n, memory) for n in self.values}

    def shadows(self, owners: Mapping[str, Any]) -> dict[str, Any]:
        """The given numbers and arrays for owners, and for other names that look into these the same views of them."""
        memory = {root: bytearray(len(self.space[root][1])) for root in owners if root in self.space}
        out = {n: self._placed(n, memory) for n in self.values if self.root.get(n) in memory}
        for n, v in owners.items():
            if n in out:
                out[n][...] = v
            else:
                out[n] = v
        return out


class _Run:
    def __init__(self, function: Function, types: Mapping[str, Type], wrt: tuple[str, ...]):
        self.f, self.rev, self.aliases = pipeline.steps(function, types, wrt)
        self.before, self.after = activity.live_adjoints(self.f, self.aliases, activity.active(self.f, self.aliases, wrt))
        self.primals = {bar: n for n, bar in self.rev.bars.items()}
        self.fresh = T.Fresh(T.all_names(self.f.body) | set(self.f.params) | set(self.rev.names))
        self.out, self.seen = self.fresh("out"), self.fresh("seen")
        self.types = {**self.f.names, **({self.out: self.rev.names[self.rev.seed]} if self.rev.seed in self.rev.names else {})}
        self.rng = np.random.default_rng(0)
        self.space: dict[str, Any] = {"np": np, "math": math}
        self.rules: dict[str, str] = {}
        self.constant = {"stop_gradient", *(n for n, fn in self.f.externals.items() if custom.is_nondifferentiable(fn))}
        for n, fn in self.f.externals.items():
            rule = custom.adjoint_rule(fn)
            self.space[n] = _plain(fn)
            if rule is not None:
                self.space[f"{n}_adjoint"] = _plain(rule)
                self.rules[f"{n}_adjoint"] = rule.__name__
        self.cases = [c for s in _steps(self.rev.block) if s.adjoint and (c := self.case(s)) is not None]
        self.by_stmt = {id(c.step.stmt): k for k, c in enumerate(self.cases)}
        self.pending: _Copy | None = None
        self.events = 0
        self.found: Culprit | None = None

    def case(self, step: Step) -> _Case | None:
        """What is needed to run a statement and its adjoint."""
        s, owner = step.stmt, self.aliases.owner
        before, after = self.before[id(s)], self.after[id(s)]
        if isinstance(s, gast.Return):
            s, after = T.at(gast.Assign([T.store(self.out)], s.value, None), s), frozenset((self.out,))
        touched = T.all_names([s, *step.adjoint])
        names = {n for n in touched | {self.primals[b] for b in touched & self.primals.keys()} if n in self.types}
        names |= {owner(n) for n in names}
        return _Case(step, s, names, sorted(before & names), sorted(after & names), self.code([s]), self.code(step.adjoint))

    def code(self, body: list[gast.stmt]) -> CodeType:
        return compile(self.text(body), "<statement>", "exec")

    def text(self, body: list[gast.stmt]) -> str:
        """Statements as text, with the runtime functions that they call put into the namespace."""
        local = set(self.rev.names) | {self.out}
        body, instead = pipeline.apart(body, local, self.fresh)
        for n in T.all_names(body) & rules.runtime_names() - local:
            self.space[n] = getattr(runtime, n)
        for n, other in instead.items():
            self.space[other] = getattr(runtime, n)
        return to_source(body)

    def watched(self, body: Sequence[gast.stmt]) -> Iterator[gast.stmt]:
        """The primal, telling `seen` what there is before and after each statement."""
        for s in body:
            k = self.by_stmt.get(id(s))
            if isinstance(s, gast.If):
                yield gast.If(s.test, [*self.watched(s.body)], [*self.watched(s.orelse)])
            elif isinstance(s, gast.For):
                yield gast.For(s.target, s.iter, [*self.watched(s.body)], [], None)
            elif isinstance(s, gast.While):
                yield gast.While(s.test, [*self.watched(s.body)], [])
            elif k is None:
                yield s
            else:
                yield from T.stmts(f"{self.seen}({k}, True, locals())")
                yield self.cases[k].stmt
                yield from T.stmts(f"{self.seen}({k}, False, locals())")

    def run(self, args: Sequence[Any]) -> tuple[Function, Culprit | None]:
        """See `culprit`."""
        self.space[self.seen] = self.look
        exec(f"def run({', '.join(self.f.params)}):\n{textwrap.indent(self.text([*self.watched(self.f.body)]), '    ')}\n", self.space)
        try:
            with np.errstate(all="ignore"):
                self.space["run"](*copies(args))
        except (_Enough, *OUTSIDE):
            pass  # what has run until then is seen
        return self.f, self.found

    def look(self, k: int, first: bool, env: Mapping[str, Any]) -> None:
        """One statement is about to run, or has run."""
        case = self.cases[k]
        if first:
            self.events += 1
            if self.events > EVENTS:
                raise _Enough
            self.pending = _Copy(env, case.names, self.aliases.owner) if case.due() else None
        elif self.pending is not None:
            start, self.pending = self.pending, None
            self.found = self.wrong(case, start, _Copy(env, case.names, self.aliases.owner))
            if self.found is not None:
                raise _Enough

    def random(self, like: Any) -> np.ndarray:
        shape = np.shape(like)
        return np.asarray(self.rng.choice([-1.0, 1.0], shape) * self.rng.uniform(0.5, 1.0, shape))

    def wrong(self, case: _Case, start: _Copy, end: _Copy) -> Culprit | None:
        """Compare the adjoint of one statement with differences of it."""
        steps = {n: scale_of(np.asarray(v, dtype=np.float64)) * self.random(v) for n in case.before if (v := start.values.get(n)) is not None}
        weights = {n: self.random(v) for n in case.after if (v := end.values.get(n)) is not None}

        def along(t: float) -> float:
            env = start.fresh()
            for n, step in steps.items():
                old = env[n]
                if isinstance(old, np.ndarray):
                    old += (t * step).astype(old.dtype)
                else:
                    env[n] = type(old)(old + t * float(step))
            try:
                exec(case.primal, self.space, env)
            except OUTSIDE:
                return math.nan
            return float(sum(np.sum(w * env[n]) for n, w in weights.items()))

        env = start.fresh()
        after = end.fresh()
        env.update({n: v for n, v in after.items() if n in case.step.post or n not in env})
        # what is not live is zero, and may have been set to that
        owners = [n for n in end.values if n in self.rev.bars and self.aliases.owner(n) == n or n == self.out]
        cast = {n: _like(end.values[n], weights.get(n, 0.0)) for n in owners}
        for n, bar in end.shadows(cast).items():
            name = self.rev.seed if n == self.out else self.rev.bars.get(n)
            if name is not None:
                env[name] = bar
        with np.errstate(all="ignore"):
            try:
                exec(case.adjoint, self.space, env)
            except OUTSIDE:
                return None
            parts = [np.asarray(env.get(self.rev.bars.get(n, ""), 0.0), dtype=np.float64) * step for n, step in steps.items()]
            got, size = float(sum(np.sum(p) for p in parts)), float(sum(np.sum(np.abs(p)) for p in parts))
            single = any(getattr(v, "dtype", None) == np.float32 for v in (*start.values.values(), *end.values.values()))
            told = [s for s in slopes(along, float(np.finfo(np.float32 if single else np.float64).eps)) if s.tells()]
        if not told or self.constant & T.all_names([case.stmt]):
            return None
        best = min(told, key=lambda s: s.doubt)
        slack = (5e-2 if single else 1e-5) * max(size if math.isfinite(size) else 0.0, abs(best.value))
        if any(s.fits(got, slack) for s in told):
            return None
        given = sorted(T.all_names(case.step.adjoint) & self.rules.keys())
        return Culprit(case.stmt, got, best.value, self.rules[given[0]] if given else "")


def _apart(v: Any) -> Any:
    """An array that shows one entry in several places as one in which every entry has a place."""
    return v.copy() if isinstance(v, np.ndarray) and any(s == 0 and n > 1 for s, n in zip(v.strides, v.shape, strict=True)) else v


def _like(value: Any, x: Any) -> Any:
    """A number or array of the type and shape of another."""
    return np.full_like(value, x) if isinstance(value, np.ndarray) else type(value)(x)


def _plain(fn: Any) -> Any:
    return fn.py_func if isinstance(fn, CPUDispatcher) else fn


def _steps(block: Block) -> Iterator[Step]:
    for item in block.items:
        if isinstance(item, Step):
            yield item
        else:
            for inner in (item.body, getattr(item, "orelse", None)):
                if inner is not None:
                    yield from _steps(inner)
