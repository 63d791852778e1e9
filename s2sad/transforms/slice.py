"""Adjoint dead code: keep of an emitted function only what its results use."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import gast

from s2sad.analysis import effects as E
from s2sad.analysis import views
from s2sad.analysis.liveness import Liveness, Need
from s2sad.analysis.shapes import Shapes
from s2sad.lang import tree as T
from s2sad.lang.routines import called
from s2sad.lang.types import Type, is_array


def groups_of(body: list[gast.stmt], names: Mapping[str, Type]) -> dict[str, frozenset[str]]:
    """Names that may share memory in an emitted body."""
    parent: dict[str, str] = {}

    def find(n: str) -> str:
        parent.setdefault(n, n)
        while parent[n] != n:
            n = parent[n]
        return n

    for s in E.walk(body):
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and is_array(names.get(s.targets[0].id)):
            base = views.view_base(s.value, names)
            if base is not None:
                parent[find(s.targets[0].id)] = find(base)
    out: dict[str, set[str]] = {}
    for n in list(parent):
        out.setdefault(find(n), set()).add(n)
    return {n: frozenset(out[find(n)]) for n in parent}


def live_statements(body: list[gast.stmt], names: Mapping[str, Type], shapes: Shapes, forced: Iterable[gast.stmt] = (),
                    shared: Iterable[str] = ()) -> list[gast.stmt]:
    """The statements that the return value and the effects of a body use, with the comments that head them; `forced` ones stay, too.

    `shared` are arrays of a caller, which reads them after a return.

    >>> from s2sad.lang.printer import to_source
    >>> body = T.stmts("a = x * 2\\nb = a + 1\\nfor i in range(3):\\n    a = a * 2\\n    b = b + i\\nreturn b")
    >>> print(to_source(live_statements(body, {}, Shapes({}, {}, {}, frozenset(), frozenset()))), end="")
    a = x * 2
    b = a + 1
    for i in range(3):
        b = b + i
    return b
    """
    outside: set[Need] = {(n, None) for n in shared}

    def returned(s: gast.stmt) -> tuple[set[Need], set[Need]]:
        return (outside, set()) if isinstance(s, gast.Return) else (set(), set())

    live = Liveness(names, groups_of(body, names), shapes, returned, alive={id(s) for s in forced})
    live.block(body, frozenset())
    return keep(body, live.alive)


def unique_accesses(forward: list[gast.stmt], kept: list[gast.stmt], names: Mapping[str, Type], bars: Mapping[str, str]) -> list[gast.stmt]:
    """Statements of the forward sweep with a subscript that nothing kept certainly has, on the same array or its adjoint; and calls that get arrays.

    Without them an index that is out of range would go unnoticed. What is kept has it for certain if it stands in the same branches and loops, and
    the names in the subscript have one value there.
    """
    primal = {bar: n for n, bar in bars.items()}
    bound = Counter(n for s in E.walk(forward) if not isinstance(s, gast.For) for n in E.effects(s, names).binds)

    def accesses(s: gast.stmt) -> set[tuple[str, Any]]:
        if called(s, names) is not None:
            return {("", T.dump(s.value))} if any(is_array(names.get(n)) for n in T.loads(s.value)) else set()
        head = s.test if isinstance(s, (gast.If, gast.While)) else s.iter if isinstance(s, gast.For) else s
        return {(primal.get(n.value.id, n.value.id), T.dump(n.slice)) for n in gast.walk(head)
                if isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name) and is_array(names.get(n.value.id))
                and not all(isinstance(p, gast.Slice) for p in (n.slice.elts if isinstance(n.slice, gast.Tuple) else [n.slice]))}

    there: dict[tuple[str, Any], set[Path]] = {}
    for s, path in _placed(kept, ()):
        for a in accesses(s):
            there.setdefault(a, set()).add(path)

    def covered(a: tuple[str, Any], path: Path) -> bool:
        one_value = all(bound[n] <= 1 for n in mentioned(a[1]))
        return one_value and any(path[: len(p)] == p for p in there.get(a, ()))

    return [s for s, path in _placed(forward, ()) if not all(covered(a, path) for a in accesses(s))]


Path = tuple[Any, ...]


def _placed(body: list[gast.stmt], path: Path) -> Iterator[tuple[gast.stmt, Path]]:
    """Every statement with the branches and loops around it; the reverse of a loop counts as the loop."""
    for s in body:
        yield s, path
        if isinstance(s, gast.If):
            test, sides = T.dump(s.test), [s.body, s.orelse]
            if isinstance(s.test, gast.UnaryOp) and isinstance(s.test.op, gast.Not):
                test, sides = T.dump(s.test.operand), [s.orelse, s.body]
            for side, block in zip((True, False), sides, strict=True):
                yield from _placed(block, (*path, (test, side)))
        elif isinstance(s, gast.For):
            turned = isinstance(s.iter, gast.Call) and T.dotted(s.iter.func) == "reversed"
            yield from _placed(s.body, (*path, (T.dump(s.target), T.dump(s.iter.args[0] if turned else s.iter))))
        elif isinstance(s, gast.While):
            yield from _placed(s.body, (*path, T.dump(s.test)))


def mentioned(key: Any) -> set[str]:
    """The names in a dumped expression."""
    if isinstance(key, tuple):
        return {key[1]} if key[:1] == ("Name",) else set().union(*map(mentioned, key))
    return set()


def keep(body: list[gast.stmt], alive: set[int]) -> list[gast.stmt]:
    """The marked statements; a comment stays if a statement that it heads stays."""
    out: list[gast.stmt] = []
    section: T.Comment | None = None
    comment: T.Comment | None = None
    for s in body:
        if isinstance(s, T.Comment):
            if s.text.startswith("---"):
                section, comment = s, None
            else:
                comment = s
            continue
        if id(s) not in alive:
            continue
        s = copy.copy(s)
        if isinstance(s, gast.If):
            s.body, s.orelse = keep(s.body, alive), keep(s.orelse, alive)
            if not s.body and s.orelse:
                s.test, s.body, s.orelse = gast.UnaryOp(gast.Not(), s.test), s.orelse, []
            s.body = s.body or [gast.Pass()]
        elif isinstance(s, (gast.For, gast.While)):
            s.body = keep(s.body, alive) or [gast.Pass()]
        out += [c for c in (section, comment) if c is not None]
        section = comment = None
        out.append(s)
    return out
