"""Parameters that the result depends on through conditions only, so that their derivative is zero."""

from __future__ import annotations

import gast

from s2sad import custom
from s2sad.analysis import effects as E
from s2sad.analysis.activity import active
from s2sad.analysis.aliases import Aliases
from s2sad.lang import tree as T
from s2sad.lang.tree import Function

__all__ = ["through_conditions"]


def through_conditions(function: Function, aliases: Aliases, wrt: tuple[str, ...]) -> tuple[tuple[str, gast.stmt], ...]:
    """Those of `wrt` from which no derivative reaches the result, but which branches or loops depend on; and the first of these.

    A parameter that is looked at only to raise an error is none of them, nor is one that only `stop_gradient` reads.

    >>> from s2sad.analysis.aliases import analyse
    >>> from s2sad.transforms.example import program
    >>> f = program("lo = 0.0\\nwhile lo * lo < a:\\n    lo = lo + 0.1\\nreturn lo + b", "a: f8; b: f8")
    >>> [(n, type(s).__name__) for n, s in through_conditions(f, analyse(f), ("a", "b"))]
    [('a', 'While')]
    """
    found = []
    for p in wrt:
        if active(function, aliases, (p,)):
            continue
        depends = _dependent(function, aliases, p)
        for s in E.walk(function.body):
            if isinstance(s, (gast.If, gast.While)) and _values(s.test, aliases) & depends and _assigns(s):
                found.append((p, s))
                break
    return tuple(found)


def _dependent(function: Function, aliases: Aliases, p: str) -> set[str]:
    """The owners of all values that are computed from a parameter, in whatever way."""
    depends, before = {aliases.owner(p)}, 0
    while len(depends) != before:
        before = len(depends)
        for s in E.walk(function.body):
            if isinstance(s, (gast.Assign, gast.AugAssign)) and _values(s.value, aliases) & depends:
                target = s.targets[0] if isinstance(s, gast.Assign) else s.target
                depends |= {aliases.owner(n.id) for n in gast.walk(target) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}
                if isinstance(target, gast.Subscript):
                    depends.add(aliases.owner(T.base_name(target)))
    return depends


def _values(e: gast.expr, aliases: Aliases) -> set[str]:
    """The owners of what an expression reads by value, outside `stop_gradient`."""
    stopped = {id(n) for c in gast.walk(e) if isinstance(c, gast.Call) and T.dotted(c.func) == custom.stop_gradient.__name__ for n in gast.walk(c)}
    names = {n.id for n in gast.walk(e) if isinstance(n, gast.Name) and id(n) not in stopped}
    return {aliases.owner(n) for n in names & E.reads_of(e)[0]}


def _assigns(s: gast.If | gast.While) -> bool:
    """Whether what is done, or whether it is done, changes a value."""
    return any(isinstance(inner, (gast.Assign, gast.AugAssign)) for inner in E.walk([*s.body, *s.orelse]))
