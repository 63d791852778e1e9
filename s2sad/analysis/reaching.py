"""Reaching definitions: which bindings of a name may have given the value it has at a statement.

A definition is a pair (name, id of the binding statement), with None for the value a parameter has at entry. In-place writes
(`a[i] = v`) bind nothing. `break`, `continue`, `return` and `raise` may stand anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import gast

from s2sad.lang import tree as T
from s2sad.lang.tree import Function

Definition = tuple[str, int | None]
State = dict[str, frozenset[Definition]]
NONE: frozenset[Definition] = frozenset()


@dataclass(frozen=True)
class Reaching:
    """Definitions that reach the statements of one function.

    `before[id(s)]` holds where `s` reads its own expressions: of a `while` the test of every trip, of a `for` the range, which is evaluated once.
    `after[id(s)]` holds behind `s`. Statements that cannot be reached are in neither. `end` holds where the body ends without a return.
    """

    before: Mapping[int, Mapping[str, frozenset[Definition]]]
    after: Mapping[int, Mapping[str, frozenset[Definition]]]
    end: Mapping[str, frozenset[Definition]]

    def of(self, statement: gast.stmt, name: str) -> frozenset[Definition]:
        """The definitions of a name that may hold where a statement reads it."""
        return self.before.get(id(statement), {}).get(name, NONE)


@dataclass
class _Loop:
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


def _meet(states: Iterable[State | None]) -> State | None:
    """The union of the states of paths that meet; None is a path that is not taken."""
    found: State | None = None
    for state in states:
        if state is None or state is found:
            continue
        if found is None:
            found = state
            continue
        merged = dict(found)
        for name, definitions in state.items():
            merged[name] = merged.get(name, NONE) | definitions
        found = merged
    return found


class _Flow:
    def __init__(self) -> None:
        self.before: dict[int, State] = {}
        self.after: dict[int, State] = {}

    def block(self, body: Iterable[gast.stmt], state: State | None, loop: _Loop | None) -> State | None:
        for s in body:
            if state is None:
                return None
            self.before[id(s)] = state
            state = self.statement(s, state, loop)
            if state is not None:
                self.after[id(s)] = state
        return state

    def statement(self, s: gast.stmt, state: State, loop: _Loop | None) -> State | None:
        if isinstance(s, gast.If):
            return _meet((self.block(s.body, state, loop), self.block(s.orelse, state, loop)))
        if isinstance(s, (gast.For, gast.While)):
            return self.loop(s, state, loop)
        if isinstance(s, (gast.Return, gast.Raise)):
            return None
        if isinstance(s, gast.Break) and loop is not None:
            loop.breaks.append(state)
            return None
        if isinstance(s, gast.Continue) and loop is not None:
            loop.continues.append(state)
            return None
        return _bind(s, bound(s), state)

    def loop(self, s: gast.For | gast.While, entry: State, outer: _Loop | None) -> State | None:
        head = entry
        while True:
            inner = _Loop()
            if isinstance(s, gast.While):
                self.before[id(s)] = head
                start = head
            else:
                start = _bind(s, bound(s), head)
            end = self.block(s.body, start, inner)
            new = _meet((head, end, *inner.continues))
            if new is None or new == head:
                break
            head = new
        forever = isinstance(s, gast.While) and isinstance(s.test, gast.Constant) and bool(s.test.value)
        exhausted = None if forever else self.block(s.orelse, head, outer)
        return _meet((exhausted, *inner.breaks))


def bound(s: gast.stmt) -> set[str]:
    """The names that a statement itself binds, not the statements inside it."""
    targets = s.targets if isinstance(s, gast.Assign) else [s.target] if isinstance(s, (gast.AugAssign, gast.For)) else []
    return {t.id for t in targets if isinstance(t, gast.Name)} | {n for t in targets if isinstance(t, (gast.Tuple, gast.List)) for n in T.stores(t)}


def _bind(s: gast.stmt, names: Iterable[str], state: State) -> State:
    new = {name: frozenset({(name, id(s))}) for name in names}
    return {**state, **new} if new else state


def reaching(function: Function) -> Reaching:
    """The reaching definitions of a function; the caller keeps the statements alive, as they are known by their id.

    >>> f = Function("f", ("x",), tuple(T.stmts("while x < 9.0:\\n    x = 2.0 * x\\ny = x")))
    >>> sorted(line is None for _, line in reaching(f).of(f.body[1], "x"))
    [False, True]
    """
    flow = _Flow()
    entry: State = {p: frozenset({(p, None)}) for p in function.params}
    end = flow.block(function.body, entry, None)
    return Reaching(flow.before, flow.after, end or {})
