"""To-be-recorded analysis: which in-place writes destroy array contents that an adjoint statement before them needs."""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.aliases import Aliases
from s2sad.analysis.liveness import is_whole, patterns
from s2sad.analysis.shapes import Shapes
from s2sad.lang import tree as T
from s2sad.lang.types import is_array

Needs = Callable[[gast.stmt], tuple[set[str], set[str]]]


def recorded(body: list[gast.stmt], needs: Needs, aliases: Aliases, shapes: Shapes) -> set[int]:
    """Ids of the writes whose old contents must be kept.

    `needs(s)` gives the owners whose contents the adjoint of a statement needs from before and from after it. Needs of one loop trip are
    pending in the next; a write that covers all of an array ends them.
    """
    names = shapes.names
    found: set[int] = set()

    def group(n: str) -> frozenset[str]:
        return aliases.groups.get(n, frozenset((n,)))

    def flow(stmts: list[gast.stmt], pending: frozenset[str]) -> frozenset[str]:
        for s in stmts:
            before, after = needs(s)
            pending |= before
            if isinstance(s, gast.If):
                pending = flow(s.body, pending) | flow(s.orelse, pending)
            elif isinstance(s, (gast.For, gast.While)):
                while True:
                    new = pending | flow(s.body, pending)
                    if new == pending:
                        break
                    pending = new
                if isinstance(s, gast.For):
                    done = {aliases.owner(n) for n, tokens in patterns([s], shapes) if all(t == "*" for t in tokens)}
                    pending -= {n for n in done if len(group(n)) == 1}
            else:
                e = E.effects(s, names)
                for w in e.writes:
                    if any(m in pending for m in group(w)):
                        found.add(id(s))
                target = s.targets[0] if isinstance(s, gast.Assign) else None
                if isinstance(target, gast.Name) and is_array(names.get(target.id)):
                    pending -= {target.id}
                elif isinstance(target, gast.Subscript) and is_whole(target.slice) and isinstance(target.value, gast.Name):
                    pending -= {target.value.id}
            pending |= after
        return pending

    flow(body, frozenset())
    return found


def base_names(nodes: list[gast.stmt]) -> set[str]:
    """Every name in some statements."""
    return T.all_names(nodes)
