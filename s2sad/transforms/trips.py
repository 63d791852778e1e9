"""Count the trips of loops whose number is not known before they run: `while`, and loops that may break."""

from __future__ import annotations

import copy
from dataclasses import replace

import gast

from s2sad.analysis.liveness import is_break
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import WEAK_INT


def counted(s: gast.stmt) -> str | None:
    """The counter that `trips` gave a loop, or None for a loop over a range that always runs to its end."""
    if isinstance(s, gast.While) or (isinstance(s, gast.For) and s.body and is_break(s.body[-1])):
        first = s.body[0]
        assert isinstance(first, gast.AugAssign) and isinstance(first.target, gast.Name)
        return str(first.target.id)
    return None


def trips(function: Function) -> Function:
    """Insert counters.

    >>> f = Function("f", ("x",), tuple(T.stmts("while x > 1:\\n    x = x / 2\\nreturn x")))
    >>> from s2sad.lang.printer import to_source
    >>> print(to_source(list(trips(f).body)), end="")
    trips = 0
    while x > 1:
        trips += 1
        x = x / 2
    return x
    """
    fresh = T.Fresh(T.all_names(function.body) | set(function.params))
    names = dict(function.names)

    def block(body: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for s in body:
            s = copy.copy(s)
            if isinstance(s, gast.If):
                s.body, s.orelse = block(s.body), block(s.orelse)
            elif isinstance(s, (gast.For, gast.While)):
                unknown = isinstance(s, gast.While) or is_break(s.body[-1])
                s.body = block(s.body)
                if unknown:
                    n = fresh("trips")
                    names[n] = WEAK_INT
                    out += T.stmts(f"{n} = 0")
                    s.body = [*T.stmts(f"{n} += 1"), *s.body]
            out.append(s)
        return out

    return replace(function, body=tuple(block(list(function.body))), names=names)
