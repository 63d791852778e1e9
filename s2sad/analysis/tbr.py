"""To-be-recorded analysis: which in-place writes destroy array contents that an adjoint statement before them needs.

A pending need is (array, index, when): `index` is the tuple of dumped subscripts for one element, None for any part; `when` is "" for a need of
the present trip, the loop variable for a need of an earlier trip of that loop, "?" once the loop has been left. `a[i]` of an earlier trip is
another element than `a[i]` of this one (`analysis.distinct`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.aliases import Aliases
from s2sad.analysis.distinct import Distinct
from s2sad.analysis.liveness import is_whole, mentions, patterns
from s2sad.analysis.shapes import Shapes
from s2sad.lang import tree as T
from s2sad.lang.types import Array, is_array

Access = tuple[str, tuple[Any, ...] | None]
Pending = frozenset[tuple[str, tuple[Any, ...] | None, str]]
Needs = Callable[[gast.stmt], tuple[set[Access], set[Access]]]


# a subscript of which nothing is known any more
ANY = ("any",)


def element(index: gast.expr, t: Array) -> tuple[Any, ...] | None:
    """The dumped subscripts of one element, or None if the index is not one plain integer an axis."""
    parts = list(index.elts) if isinstance(index, gast.Tuple) else [index]
    if len(parts) != t.ndim or any(isinstance(p, gast.Slice) or (isinstance(p, gast.Constant) and not isinstance(p.value, int)) for p in parts):
        return None
    return tuple(T.dump(p) for p in parts)


def is_literal(part: Any) -> bool:
    """Whether a dumped subscript is a literal."""
    return isinstance(part, tuple) and part[0] == "Constant"


def disjoint(array: str, need: tuple[Any, ...] | None, when: str, write: tuple[Any, ...] | None, distinct: Distinct) -> bool:
    """Whether a write certainly leaves a pending element of an array alone."""
    if need is None or write is None or len(need) != len(write):
        return False
    for axis, (a, b) in enumerate(zip(need, write, strict=True)):
        if is_literal(a) and is_literal(b) and a != b and not str(a[1:]).count("-") and not str(b[1:]).count("-"):
            return True
        if a == b and when not in ("", "?") and distinct.element(array, axis, a, when):
            return True
    return False


def recorded(body: list[gast.stmt], needs: Needs, aliases: Aliases, shapes: Shapes, distinct: Distinct,
             entry: Iterable[str] = ()) -> set[int]:
    """Ids of the writes whose old contents must be kept.

    `needs(s)` gives the accesses that the adjoint of a statement repeats as they were before and after it. A write that covers all of an
    array ends the needs of it. What the arrays of `entry` hold at first
    is needed at the end. Below the adjoint of `s = u[0] * u[1]` needs u[0] and u[1], and only u[1] is overwritten.

    >>> from s2sad.analysis.aliases import analyse
    >>> from s2sad.analysis.distinct import analyse as distinct_of
    >>> from s2sad.analysis.shapes import analyse as shapes_of
    >>> from s2sad.transforms.example import program
    >>> f = program("u = x.copy()\\ns = u[0] * u[1]\\nu[2] = s\\nu[1] = s\\nreturn u[2]")
    >>> aliases = analyse(f)
    >>> needed = {("u", element(T.const(k), f.names["u"])) for k in (0, 1)}
    >>> shapes = shapes_of(f, aliases)
    >>> needs = lambda s: (needed, set()) if s is f.body[1] else (set(), set())
    >>> found = recorded(list(f.body), needs, aliases, shapes, distinct_of(f.body, f.params, shapes))
    >>> [k for k, s in enumerate(f.body) if id(s) in found]
    [3]
    """
    names = shapes.names
    found: set[int] = set()

    def group(n: str) -> frozenset[str]:
        return aliases.groups.get(n, frozenset((n,)))

    def marked(accesses: Iterable[Access]) -> Pending:
        return frozenset((n, key if len(group(n)) == 1 else None, "") for n, key in accesses)

    def rebound(pending: Pending, bound: Iterable[str]) -> Pending:
        """Subscripts that mention a name that is bound anew lose their meaning."""
        b = set(bound)
        return frozenset((n, None if key is None else tuple(ANY if mentions(k, b) else k for k in key), when) for n, key, when in pending)

    def flow(stmts: list[gast.stmt], pending: Pending) -> Pending:
        for s in stmts:
            before, after = needs(s)
            pending |= marked(before)
            if isinstance(s, gast.If):
                pending = flow(s.body, pending) | flow(s.orelse, pending)
            elif isinstance(s, (gast.For, gast.While)):
                v = s.target.id if isinstance(s, gast.For) and s.target.id not in E.bound(s.body, names) else None
                outer = rebound(pending, [v] if v else [])
                start = outer
                while True:
                    end = flow(s.body, start)
                    again = start | frozenset((n, key, when if (n, key, when) in outer else (v or "?")) for n, key, when in end)
                    if again == start:
                        break
                    start = again
                left = frozenset((n, key, when if (n, key, when) in outer else "?") for n, key, when in start | end)
                pending = outer | rebound(left, [v] if v else [])
                if isinstance(s, gast.For):
                    inside = {n for n, _ in inside_needs(s, needs)}
                    done = {n for n, tokens in patterns([s], shapes) if all(t == "*" for t in tokens) and len(group(n)) == 1}
                    pending = frozenset(p for p in pending if p[0] not in done or p[0] in inside)
            else:
                e = E.effects(s, names)
                target = s.targets[0] if isinstance(s, gast.Assign) else s.target if isinstance(s, gast.AugAssign) else None
                key = None
                if isinstance(target, gast.Subscript) and isinstance(target.value, gast.Name) and len(group(target.value.id)) == 1:
                    t = names[target.value.id]
                    key = element(target.slice, t) if isinstance(t, Array) else None
                for w in e.writes:
                    if any(n in group(w) and not disjoint(n, k, when, key, distinct) for n, k, when in pending):
                        found.add(id(s))
                pending = rebound(pending, e.binds)
                if isinstance(target, gast.Name) and is_array(names.get(target.id)):
                    pending = frozenset(p for p in pending if p[0] != target.id)
                elif isinstance(target, gast.Subscript) and is_whole(target.slice) and isinstance(target.value, gast.Name):
                    pending = frozenset(p for p in pending if p[0] != target.value.id)
            pending |= marked(after)
        return pending

    flow(body, marked((n, None) for n in entry))
    return found


def inside_needs(loop: gast.For, needs: Needs) -> set[Access]:
    """The accesses that adjoints inside a loop repeat: a covering loop ends only needs from before it."""
    out: set[Access] = set()
    for s in E.walk([loop]):
        before, after = needs(s)
        out |= before | after
    return out
