"""Which functions call themselves, directly or through others: the strongly connected components of the call graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

F = TypeVar("F", bound=Hashable)


def recursive(calls: Mapping[F, Iterable[F]]) -> frozenset[F]:
    """The functions that can come to call themselves, given what each calls.

    >>> sorted(recursive({"f": ["even", "fact"], "even": ["odd"], "odd": ["even", "sin"], "fact": ["fact"], "sin": []}))
    ['even', 'fact', 'odd']
    """
    index: dict[F, int] = {}
    low: dict[F, int] = {}
    stack: list[F] = []
    found: set[F] = set()

    def visit(f: F) -> None:  # Tarjan's algorithm
        index[f] = low[f] = len(index)
        stack.append(f)
        for g in calls.get(f, ()):
            if g not in index:
                visit(g)
                low[f] = min(low[f], low[g])
            elif g in stack:
                low[f] = min(low[f], index[g])
        if low[f] == index[f]:
            component = stack[stack.index(f):]
            del stack[stack.index(f):]
            if len(component) > 1 or f in calls.get(f, ()):
                found.update(component)

    for f in calls:
        if f not in index:
            visit(f)
    return frozenset(found)
