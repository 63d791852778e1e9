"""Which array names share memory, and which of them keep one buffer for life.

* A *stable* name is bound once, to a fresh array (or is a parameter that is never bound again), and used only inside the block of that binding.
  Its adjoint is one array for life.
* A *view* is bound once, to a view of a stable name or of another view, under the same condition. Its adjoint is the same view of the adjoint
  (so `np.broadcast_to`, which shows an entry many times, does not count, nor does what may be a copy, such as `np.ravel` of any layout).
* Every other array name is *unstable*: its adjoint is passed on as a value when the name is bound. That is right as long as nobody writes into
  an array that is still known under another live name; such writes are refused (`conflicts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import gast

from s2sad.analysis import effects as E
from s2sad.analysis import views
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import Static, Type, is_array


@dataclass(frozen=True)
class View:
    """`name` is bound once, by `stmt`, to a view of `base`."""

    name: str
    base: str
    stmt: gast.Assign


@dataclass(frozen=True)
class Aliases:
    """The result of `analyse`."""

    stable: frozenset[str]
    unstable: frozenset[str]
    views: Mapping[str, View]
    may_views: frozenset[str]
    written: frozenset[str]
    groups: Mapping[str, frozenset[str]]

    def owner(self, name: str) -> str:
        """The stable name whose buffer a view looks into; any other name is its own owner."""
        while name in self.views:
            name = self.views[name].base
        return name

    def is_written(self, name: str) -> bool:
        """Whether the contents of the array may be changed in place, under any name."""
        return any(n in self.written for n in self.groups.get(name, frozenset((name,))))


def analyse(function: Function) -> Aliases:
    """Classify the array names of a typed function in normal form.

    >>> from s2sad.transforms.example import program
    >>> found = analyse(program("u = x.copy()\\nv = u[1:]\\nif n > 0:\\n    w = u\\nelse:\\n    w = x\\nreturn v[0] + w[0]", "x: f8[:]; n: i8"))
    >>> sorted(found.stable), sorted(found.views), found.owner("v"), sorted(found.unstable)
    (['u', 'x'], ['v'], 'u', ['w'])
    """
    names = function.names
    arrays = {n for n, t in names.items() if is_array(t)}
    binding: dict[str, list[tuple[gast.Assign, tuple[int, ...]]]] = {n: [] for n in arrays}
    uses: dict[str, list[tuple[int, tuple[int, ...]]]] = {n: [] for n in arrays}
    order = 0
    where: dict[int, int] = {}

    def visit(body: list[gast.stmt], path: tuple[int, ...]) -> None:
        nonlocal order
        for s in body:
            order += 1
            where[id(s)] = order
            e = E.effects(s, names)
            for n in (e.reads | e.metas | e.writes) & arrays:
                uses[n].append((order, path))
            for n in e.binds & arrays:
                if isinstance(s, gast.Assign):
                    binding[n].append((s, path))
            for k, block in enumerate(E.children(s)):
                visit(block, (*path, order * 2 + k))

    visit(list(function.body), ())
    params = {p for p in function.params if p in arrays}
    written = {n for n in E.written(function.body, names) if n in arrays}

    # union-find over "may share memory"
    parent = {n: n for n in arrays}

    def find(n: str) -> str:
        while parent[n] != n:
            n = parent[n]
        return n

    bases: dict[int, str | None] = {}
    may: set[str] = set()
    for n in sorted(arrays):
        for s, _ in binding[n]:
            base = views.view_base(s.value, names)
            bases[id(s)] = base
            if base is not None and base in arrays:
                parent[find(n)] = find(base)
                if views.may_copy(s.value, names):
                    may.add(n)
    groups: dict[str, set[str]] = {}
    for n in arrays:
        groups.setdefault(find(n), set()).add(n)

    def contained(n: str) -> bool:
        """Whether every use of a once-bound name lies behind its binding, in the same block or deeper."""
        s, path = binding[n][0]
        at = where[id(s)]
        return all(k > at and p[: len(path)] == path for k, p in uses[n])

    stable = {n for n in arrays if (n in params and not binding[n])
              or (n not in params and len(binding[n]) == 1 and bases[id(binding[n][0][0])] is None and contained(n))}
    looks: dict[str, View] = {}
    changed = True
    while changed:
        changed = False
        for n in sorted(arrays - stable - set(looks)):
            if n not in params and len(binding[n]) == 1 and contained(n):
                s, _ = binding[n][0]
                base = bases[id(s)]
                if base is not None and (base in stable or base in looks) and n not in may and not views.repeats(s.value):
                    looks[n] = View(n, base, s)
                    changed = True
    unstable = arrays - stable - set(looks)
    return Aliases(frozenset(stable), frozenset(unstable), looks, frozenset(may), frozenset(written),
                   {n: frozenset(groups[find(n)]) for n in arrays})


def opaque_arrays(s: gast.stmt, names: Mapping[str, Type]) -> list[str]:
    """The arrays into which the result of a user's opaque function (one with a rule of its own) may look."""
    if not (isinstance(s, gast.Assign) and isinstance(s.value, gast.Call) and isinstance(s.targets[0], gast.Name)):
        return []
    external = names.get(T.dotted(s.value.func) or "")
    if not is_array(names.get(s.targets[0].id)) or not isinstance(external, Static) or not hasattr(external.value, "__code__") \
            and not hasattr(external.value, "py_func"):
        return []
    return [b for a in s.value.args if (b := views.view_base(a, names)) is not None]


def conflicts(function: Function, aliases: Aliases, seen: frozenset[str] = frozenset()) -> list[tuple[gast.stmt, str, str, gast.stmt | None]]:
    """Writes into an array that an unstable binding has made known under a second name which is still used.

    `seen` are the names that count as used after the end. Returns (writing statement, written name, other name, statement that tied them).

    >>> from s2sad.transforms.example import program
    >>> f = program("u = x.copy()\\nif n > 0:\\n    w = u\\nelse:\\n    w = x\\nu[0] = 2.0\\nreturn w[0]", "x: f8[:]; n: i8")
    >>> [(written, other) for _, written, other, _ in conflicts(f, analyse(f))]
    [('u', 'w')]
    """
    names = function.names
    opaque = any(opaque_arrays(s, names) for s in E.walk(function.body)) and bool(aliases.written)
    if not opaque and not any(n in aliases.written for u in aliases.unstable for n in aliases.groups[u]):
        return []
    found: dict[tuple[int, str, str], tuple[gast.stmt, str, str, gast.stmt | None]] = {}
    ties: dict[tuple[str, str], gast.stmt] = {}
    State = frozenset[tuple[str, str]]

    def structured(a: str, b: str) -> bool:
        return aliases.owner(a) == aliases.owner(b)

    def live_in(body: list[gast.stmt], live: frozenset[str], record: dict[int, frozenset[str]]) -> frozenset[str]:
        for s in reversed(body):
            e = E.effects(s, names)
            if isinstance(s, gast.If):
                live = live_in(s.body, live, record) | live_in(s.orelse, live, record) | e.reads | e.metas
            elif isinstance(s, (gast.For, gast.While)):
                after = live | e.reads
                while True:
                    new = after | live_in(s.body, after, record)
                    if new == after:
                        break
                    after = new
                live = after
            else:
                record[id(s)] = live
                live = (live - e.binds) | e.reads | e.metas | e.writes
        return live

    live_after: dict[int, frozenset[str]] = {}
    live_in(list(function.body), seen, live_after)

    def bind(state: State, n: str, base: str | None, s: gast.stmt) -> State:
        kept = {p for p in state if n not in p}
        if base is not None and base != n:
            for other in {base} | {a if b == base else b for a, b in state if base in (a, b)}:
                if other != n:
                    pair = (min(n, other), max(n, other))
                    kept.add(pair)
                    ties[pair] = s
        return frozenset(kept)

    def flow(body: list[gast.stmt], state: State) -> State:
        for s in body:
            e = E.effects(s, names)
            for w in e.writes:
                for a, b in state:
                    if w in (a, b):
                        other = b if w == a else a
                        if not structured(w, other) and other in live_after.get(id(s), frozenset()):
                            found[(id(s), w, other)] = (s, w, other, ties.get((a, b)))
            if isinstance(s, gast.If):
                state = flow(s.body, state) | flow(s.orelse, state)
            elif isinstance(s, (gast.For, gast.While)):
                while True:
                    new = state | flow(s.body, state)
                    if new == state:
                        break
                    state = new
            elif isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and is_array(names.get(s.targets[0].id)):
                n = s.targets[0].id
                bases = opaque_arrays(s, names)
                state = frozenset().union(*(bind(state, n, b, s) for b in bases)) if bases else bind(state, n, views.view_base(s.value, names), s)
        return state

    flow(list(function.body), frozenset())
    return list(found.values())

