"""What a statement reads, binds and writes.

*Reading* a name means using its value; using only `x.shape`, `x.size`, `x.ndim` or `len(x)` is a *meta* read. *Binding* gives the name
another object; *writing* changes the contents of the array that it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import gast

from s2sad.analysis.draws import DRAWS
from s2sad.lang import tree as T
from s2sad.lang.routines import changed_by
from s2sad.lang.types import Type, is_array

META = ("shape", "size", "ndim")
META_CALLS = ("len", "np.zeros_like", "np.empty_like", "np.ones_like", "np.full_like")
# runtime procedures that change their first argument
WRITERS = ("add_at", "take_last", "set_mask", "add_mask", "take_mask")


@dataclass(frozen=True)
class Effects:
    """The effects of one simple statement, or of the head of a compound one."""

    reads: frozenset[str] = frozenset()
    metas: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()


def reads_of(node: gast.AST | None) -> tuple[set[str], set[str]]:
    """The names that an expression reads by value, and those of which it uses only the shape.

    >>> sorted(map(sorted, reads_of(T.expr("x.shape[0] * y + len(z)"))))
    [['x', 'z'], ['y']]
    """
    values: set[str] = set()
    metas: set[str] = set()
    if node is not None:
        _scan(node, values, metas, set())
    return values, metas - values


def _scan(n: Any, values: set[str], metas: set[str], writes: set[str]) -> None:
    """Collect what an expression reads, uses the shape of, and changes by calls (`add_at(a, ..)`, `s.append(..)`, `s.pop()`).

    The commonest kinds of nodes come first: this is the compiler's innermost loop.
    """
    kind = type(n)
    if kind is gast.Name:
        if n.id not in ("np", "math") and type(n.ctx) is gast.Load:
            values.add(n.id)
    elif kind is gast.Constant:
        return
    elif kind is gast.BinOp:
        _scan(n.left, values, metas, writes)
        _scan(n.right, values, metas, writes)
    elif kind is gast.Subscript:
        _scan(n.value, values, metas, writes)
        _scan(n.slice, values, metas, writes)
    elif kind is gast.Attribute:
        if n.attr in META and type(n.value) is gast.Name:
            metas.add(n.value.id)
        else:
            _scan(n.value, values, metas, writes)
    elif kind is gast.Call:
        args = n.args
        if type(n.func) is gast.Name and n.func.id in WRITERS and args:
            writes.add(T.base_name(args[0]))
        if T.dotted(n.func) in META_CALLS and args and type(args[0]) is gast.Name:
            metas.add(args[0].id)
            args = args[1:]
        if type(n.func) is gast.Attribute:
            if (n.func.attr in ("append", "pop") or n.func.attr in DRAWS) and type(n.func.value) is gast.Name and n.func.value.id != "np":
                writes.add(n.func.value.id)
            _scan(n.func.value, values, metas, writes)
        for a in args:
            _scan(a, values, metas, writes)
        for k in n.keywords:
            _scan(k.value, values, metas, writes)
    else:
        for child in gast.iter_child_nodes(n):
            _scan(child, values, metas, writes)


def effects(s: gast.stmt, names: Mapping[str, Type]) -> Effects:
    """The effects of a simple statement; of If, For and While only those of the head.

    >>> e = effects(T.stmts("a[i] += b.size * c")[0], {})
    >>> sorted(e.reads), sorted(e.metas), sorted(e.binds), sorted(e.writes)
    (['a', 'c', 'i'], ['b'], [], ['a'])
    """
    binds: set[str] = set()
    writes: set[str] = set()
    values: set[str] = set()
    metas: set[str] = set()

    def read(node: gast.AST | None) -> None:
        if node is not None:
            _scan(node, values, metas, writes)

    if isinstance(s, gast.Assign):
        read(s.value)
        for target in s.targets:
            if isinstance(target, gast.Name):
                binds.add(target.id)
            elif isinstance(target, gast.Tuple):
                binds.update(T.stores(target))
            else:
                writes.add(T.base_name(target))
                read(target.slice)
    elif isinstance(s, gast.AugAssign):
        read(s.value)
        if isinstance(s.target, gast.Name):
            values.add(s.target.id)
            (writes if is_array(names.get(s.target.id)) else binds).add(s.target.id)
        else:
            base = T.base_name(s.target)
            writes.add(base)
            values.add(base)
            read(s.target.slice)
    elif isinstance(s, (gast.If, gast.While)):
        read(s.test)
    elif isinstance(s, gast.For):
        read(s.iter)
        binds.update(T.stores(s.target))
    elif isinstance(s, (gast.Return, gast.Expr)):
        read(s.value)
    elif isinstance(s, gast.Raise):
        read(s.exc)
    if isinstance(s, (gast.Assign, gast.Expr)):
        writes |= changed_by(s, names)
    return Effects(frozenset(values), frozenset(metas - values), frozenset(binds), frozenset(writes))


def children(s: gast.stmt) -> list[list[gast.stmt]]:
    """The blocks of a compound statement."""
    if isinstance(s, gast.If):
        return [s.body, s.orelse]
    if isinstance(s, (gast.For, gast.While)):
        return [s.body]
    return []


def walk(body: Iterable[gast.stmt]) -> Iterable[gast.stmt]:
    """Every statement of a body, in textual order."""
    for s in body:
        yield s
        for block in children(s):
            yield from walk(block)


def bound(body: Iterable[gast.stmt], names: Mapping[str, Type]) -> set[str]:
    """Names that statements (and those inside them) bind."""
    return {n for s in walk(body) for n in effects(s, names).binds}


def written(body: Iterable[gast.stmt], names: Mapping[str, Type]) -> set[str]:
    """Names through which statements (and those inside them) change array contents."""
    return {n for s in walk(body) for n in effects(s, names).writes}
