"""Strong liveness with array kills: which statements the wanted values need, and which values a piece of code needs from before it.

Elements are tracked by the text of their index: writing `a[i]` ends the need for `a[i]`; a loop that certainly overwrites a whole array
ends the need for the array (`covers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.draws import is_draw
from s2sad.analysis.shapes import Shapes
from s2sad.lang import tree as T
from s2sad.lang.routines import called
from s2sad.lang.types import Type, is_array

# (name, None): the value, or all of an array; (name, index): one element or slice; (name, "shape"): only the shape
Need = tuple[str, Any]
Live = frozenset[Need]
Groups = Mapping[str, frozenset[str]]


@dataclass
class Liveness:
    """The analysis of one function body (see `run`)."""

    names: Mapping[str, Type]
    groups: Groups
    shapes: Shapes | None = None
    extra: Callable[[gast.stmt], tuple[set[Need], set[Need]]] = lambda s: (set(), set())
    alive: set[int] = field(default_factory=set)
    after: dict[int, Live] = field(default_factory=dict)  # what is needed after each loop, by id

    def group(self, n: str) -> frozenset[str]:
        """Names that may share memory with a name."""
        return self.groups.get(n, frozenset((n,)))

    def accesses(self, e: gast.AST | None) -> set[Need]:
        """What an expression reads."""
        out: set[Need] = set()

        def visit(n: gast.AST) -> None:
            if isinstance(n, gast.Name):
                if n.id not in ("np", "math"):
                    out.add((n.id, None))
            elif isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name) and is_array(self.names.get(n.value.id)):
                out.add((n.value.id, T.dump(n.slice)))
                visit(n.slice)
            elif isinstance(n, gast.Attribute) and n.attr in E.META and isinstance(n.value, gast.Name):
                out.add((n.value.id, "shape"))
            elif isinstance(n, gast.Call):
                args = list(n.args)
                if T.dotted(n.func) in E.META_CALLS and args and isinstance(args[0], gast.Name):
                    out.add((args[0].id, "shape"))
                    args = args[1:]
                if isinstance(n.func, gast.Attribute):
                    visit(n.func.value)
                for a in [*args, *(k.value for k in n.keywords)]:
                    visit(a)
            else:
                for child in gast.iter_child_nodes(n):
                    visit(child)

        if e is not None:
            visit(e)
        return out

    def wanted(self, live: Live, n: str) -> bool:
        """Whether contents of an array written through a name are needed, under any name."""
        g = self.group(n)
        return any(m in g and key != "shape" for m, key in live)

    def drop(self, live: Live, bound: Iterable[str], written: Iterable[str] = ()) -> Live:
        """Forget needs for names that are bound here; needs for elements whose index changes become needs for the whole array."""
        b = set(bound)
        changed = b.union(*(self.group(w) for w in written))
        if not changed:
            return live
        out = set()
        for n, key in live:
            if n in b:
                continue
            if key is not None and key != "shape" and mentions(key, changed):
                key = None
            out.add((n, key))
        return frozenset(out)

    def simple(self, s: gast.stmt, live: Live, mark: bool) -> Live:
        e = E.effects(s, self.names)
        effect = isinstance(s, (gast.Raise, gast.Return, gast.Break)) or (isinstance(s, gast.Expr) and not e.writes)
        effect = effect or is_draw(getattr(s, "value", None))
        routine = called(s, self.names)
        effect = effect or routine is not None and routine.paired
        extra, late = self.extra(s)
        live |= late
        needed = effect or any((n, k) in live for n in e.binds for k in (None, "shape")) or any(m in e.binds for m, _ in live) \
            or any(self.wanted(live, n) for n in e.writes) or id(s) in self.alive
        if needed and mark:
            self.alive.add(id(s))
        if not needed:
            # what the adjoint needs from after the statement makes it needed, so nothing of it is left here
            return live | extra
        live = self.drop(live, e.binds, e.writes)
        value = s.value if isinstance(s, (gast.Assign, gast.AugAssign, gast.Return, gast.Expr)) else getattr(s, "exc", None)
        reads = self.accesses(value)
        target = s.targets[0] if isinstance(s, gast.Assign) else s.target if isinstance(s, gast.AugAssign) else None
        if isinstance(target, gast.Subscript):
            base = T.base_name(target)
            key = T.dump(target.slice)
            if isinstance(s, gast.Assign) and isinstance(target.value, gast.Name):
                whole = is_whole(target.slice)
                live = frozenset(x for x in live if not (x[0] == base and x[1] != "shape" and (whole or x[1] == key)))
            elif isinstance(s, gast.AugAssign):
                reads.add((base, key))
            reads |= self.accesses(target.slice) | {(base, "shape")}
        elif isinstance(s, gast.AugAssign):
            assert isinstance(target, gast.Name)
            reads.add((target.id, None))
        return live | reads | extra

    def block(self, body: Iterable[gast.stmt], live: Live, mark: bool = True) -> Live:
        """Needs before a block, given those after it; needed statements are marked.

        >>> from s2sad.transforms.example import program
        >>> f = program("u = x.copy()\\ny = 2.0 * n\\nu[1] = y\\nu[1] = x[0]\\nreturn u[1]", "x: f8[:]; n: i8")
        >>> live = Liveness(f.names, {})
        >>> sorted({n for n, _ in live.block(f.body, frozenset())})
        ['x']
        >>> [k for k, s in enumerate(f.body) if id(s) in live.alive]
        [0, 3, 4]

        What is needed only if some test holds is kept apart until that test is met again further up (the forward and the reverse sweep
        test the same condition), or something that it depends on changes.
        """
        only_if: dict[tuple[Any, bool], Live] = {}

        def merge(changed: set[str] | None) -> Live:
            """Needs that stop being conditional because names change (None: all)."""
            out: set[Need] = set()
            for (test, side), needs in list(only_if.items()):
                if changed is None or mentions(test, changed):
                    del only_if[test, side]
                    out |= needs
                    continue
                touched = frozenset(x for x in needs if x[0] in changed or (x[1] not in (None, "shape") and mentions(x[1], changed)))
                only_if[test, side] = needs - touched
                out |= touched
            return frozenset(out)

        for s in reversed(list(body)):
            if isinstance(s, (T.Comment, T.Blank, gast.Pass)):
                continue
            if isinstance(s, gast.If):
                test = T.dump(s.test)
                yes, no = only_if.pop((test, True), frozenset()), only_if.pop((test, False), frozenset())
                changed = self.changed([s])
                live |= merge(changed)
                if mentions(test, changed):
                    # after it the same words are another test
                    live, yes, no = live | yes | no, frozenset(), frozenset()
                then, other = self.block(s.body, live | yes, mark), self.block(s.orelse, live | no, mark)
                inside = any(id(x) in self.alive for x in E.walk([*s.body, *s.orelse]))
                if inside or id(s) in self.alive or any(isinstance(x, gast.Break) for x in s.body):
                    self.alive.add(id(s))
                    live = then & other | self.accesses(s.test) | self.extra(s)[0]
                else:
                    live = then & other | self.extra(s)[0]
                only_if[test, True], only_if[test, False] = then - live, other - live
            elif isinstance(s, (gast.For, gast.While)):
                live = self.loop(s, live | merge(self.changed([s])), mark)
            else:
                live = self.simple(s, live | merge(self.changed([s])), mark)
        return live | merge(None)

    def changed(self, body: list[gast.stmt]) -> set[str]:
        """Names that statements bind, or whose contents they may change."""
        out = E.bound(body, self.names)
        for n in E.written(body, self.names):
            out |= self.group(n)
        return out

    def loop(self, s: gast.For | gast.While, live: Live, mark: bool) -> Live:
        target = T.stores(s.target) if isinstance(s, gast.For) else set()
        extra, late = self.extra(s)
        live |= late
        self.after[id(s)] = self.after.get(id(s), frozenset()) | live

        def head() -> Live:
            # a loop variable that is read after the loop keeps the loop
            kept = any(id(x) in self.alive for x in E.walk(s.body) if not isinstance(x, gast.Break) and not is_break(x)) \
                or any(n in target for n, _ in live) or id(s) in self.alive
            if not kept:
                return frozenset()
            self.alive.add(id(s))
            if mark:
                for x in s.body:
                    if is_break(x):
                        self.alive.add(id(x))
                        self.alive.add(id(x.body[0]))
            return frozenset(self.accesses(s.iter if isinstance(s, gast.For) else s.test))

        def settle(out: Live, mark: bool) -> Live:
            end = out
            while True:
                h = head()
                at_end = end | (h if isinstance(s, gast.While) else frozenset())
                start = self.drop(self.block(s.body, at_end, mark), target)
                h = head()
                new = end | start | (h if isinstance(s, gast.While) else frozenset())
                if new == end:
                    return start | h
                end = new

        start = settle(live, mark)
        covered = self.covers(s)
        if covered:
            live = frozenset((n, k) for n, k in live if n not in covered or k == "shape")
            start = settle(live, False)
        return live | start | extra

    def covers(self, s: gast.For | gast.While) -> set[str]:
        """Arrays that a loop certainly overwrites entirely (all of them if the loop runs zero times: they have size 0 then)."""
        if self.shapes is None or not isinstance(s, gast.For):
            return set()
        return {n for n, tokens in patterns([s], self.shapes) if all(t == "*" for t in tokens)}


def is_break(s: gast.stmt) -> bool:
    """Whether this is `if c: break`."""
    return isinstance(s, gast.If) and len(s.body) == 1 and isinstance(s.body[0], gast.Break)


def mentions(key: Any, names: set[str]) -> bool:
    """Whether an index (a dumped tree) mentions a name."""
    if isinstance(key, tuple):
        if len(key) >= 2 and key[0] == "Name" and key[1] in names:
            return True
        return any(mentions(k, names) for k in key)
    return False


def is_whole(index: gast.expr) -> bool:
    """Whether an index selects everything: `:`, `...` or `:, :`."""
    if isinstance(index, gast.Tuple):
        return bool(index.elts) and all(is_whole(x) for x in index.elts)
    return (isinstance(index, gast.Slice) and index.lower is None and index.upper is None and index.step is None) or (
        isinstance(index, gast.Constant) and index.value is ...)


def patterns(body: list[gast.stmt], shapes: Shapes) -> set[tuple[str, tuple[Any, ...]]]:
    """(array, per axis "*" or a dumped index) of the writes that a block certainly makes."""
    out: set[tuple[str, tuple[Any, ...]]] = set()
    for s in body:
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Subscript) and isinstance(s.targets[0].value, gast.Name):
            target = s.targets[0]
            n = target.value.id
            t = shapes.names.get(n)
            if not is_array(t):
                continue
            index = list(target.slice.elts) if isinstance(target.slice, gast.Tuple) else [target.slice]
            if is_whole(target.slice):
                index = [gast.Slice(None, None, None)] * t.ndim  # type: ignore[union-attr]
            ok = all(isinstance(i, (gast.Name, gast.Constant)) or is_whole(i) for i in index)
            if ok and len(index) <= t.ndim:  # type: ignore[union-attr]
                tokens = tuple("*" if is_whole(i) else T.dump(i) for i in index)
                out.add((n, tokens + ("*",) * (t.ndim - len(index))))  # type: ignore[union-attr]
        elif isinstance(s, gast.For) and isinstance(s.target, gast.Name) and isinstance(s.iter, gast.Call):
            if s.body and is_break(s.body[-1]):
                continue
            args = s.iter.args
            if len(args) == 2 and isinstance(args[0], gast.Constant) and args[0].value == 0:
                args = args[1:]
            inner = patterns(s.body, shapes)
            rebound = E.bound(s.body, shapes.names)
            var = T.dump(T.name(s.target.id))
            trips = shapes.length(args[0]) if len(args) == 1 else None
            for n, tokens in inner:
                if n in rebound or s.target.id in rebound:
                    continue
                if not any(mentions(t, {s.target.id}) for t in tokens):
                    continue  # written in every trip, but perhaps there is none
                dims = shapes.dims.get(n)
                hits = [k for k, t in enumerate(tokens) if t == var]
                if len(hits) == 1 and trips is not None and dims is not None and dims[hits[0]] == trips:
                    rest = [t for k, t in enumerate(tokens) if k != hits[0]]
                    if not any(mentions(t, {s.target.id}) for t in rest):
                        out.add((n, tuple("*" if k == hits[0] else t for k, t in enumerate(tokens))))
    return out
