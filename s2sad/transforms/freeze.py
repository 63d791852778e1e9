"""Name the values that the reverse sweep must find unchanged: branch tests and view subscripts whose names change before the block ends.

After this pass no branch changes a name of its own test, no loop changes a name of its own bounds, no write changes what its own index reads, and
the subscript of a view keeps its meaning up to the end of the block in which the view is made.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import gast

from s2sad.analysis import effects as E
from s2sad.analysis import views
from s2sad.analysis.aliases import Aliases
from s2sad.analysis.types import type_of
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import is_array


def freeze(function: Function, aliases: Aliases) -> Function:
    """The function with such tests, bounds and subscripts assigned to fresh names first.

    >>> from s2sad.transforms.example import after
    >>> print(after("freeze", "if x > 0.0:\\n    x = x * x\\nreturn x", "x: f8"))
    taken = x > 0.0
    if taken:
        x = x * x
    return x
    """
    names = dict(function.names)
    fresh = T.Fresh(T.all_names(function.body) | set(function.params))

    def changed(body: list[gast.stmt]) -> set[str]:
        out = E.bound(body, names)
        for n in E.written(body, names):
            out |= aliases.groups.get(n, frozenset((n,)))
        return out

    def disturbed(e: gast.expr, body: list[gast.stmt], *more: str) -> bool:
        """Whether statements change a value that an expression reads, or bind anew what it takes the shape of."""
        values, metas = E.reads_of(e)
        return bool(values & {*changed(body), *more} or metas & {*E.bound(body, names), *more})

    def named(wish: str, e: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        n = fresh(wish)
        names[n] = type_of(e, names)
        out.append(T.at(gast.Assign([T.store(n)], e, None), s))
        return T.name(n)

    def index(e: gast.expr, later: list[gast.stmt], s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        """The view expression with changing subscript parts named."""
        if isinstance(e, gast.Subscript):
            e = copy.copy(e)
            e.value = index(e.value, later, s, out)

            def part(p: gast.expr) -> gast.expr:
                if isinstance(p, gast.Slice):
                    return gast.Slice(*(None if b is None else part(b) for b in (p.lower, p.upper, p.step)))
                if not disturbed(p, later) or is_array(type_of(p, names)):
                    return p
                return named("at", p, s, out)

            e.slice = gast.Tuple([part(p) for p in e.slice.elts], gast.Load()) if isinstance(e.slice, gast.Tuple) else part(e.slice)
        elif isinstance(e, gast.Attribute):
            e = copy.copy(e)
            e.value = index(e.value, later, s, out)
        return e

    def own_index(target: gast.Subscript, s: gast.stmt, out: list[gast.stmt]) -> gast.Subscript:
        """The target of a write with those parts of its index named that the write may change, as in `x[x > 0.0] = 0.0`."""
        def part(p: gast.expr) -> gast.expr:
            if isinstance(p, gast.Slice):
                return gast.Slice(*(None if b is None else part(b) for b in (p.lower, p.upper, p.step)))
            if not disturbed(p, [s]):
                return p
            fresh_value = p if views.view_base(p, names) is None else gast.Call(gast.Attribute(p, "copy", gast.Load()), [], [])
            return named("at", fresh_value, s, out)

        target = copy.copy(target)
        target.slice = gast.Tuple([part(p) for p in target.slice.elts], gast.Load()) if isinstance(target.slice, gast.Tuple) else part(target.slice)
        return target

    def block(body: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for k, s in enumerate(body):
            s = copy.copy(s)
            if isinstance(s, gast.If):
                if not (len(s.body) == 1 and isinstance(s.body[0], gast.Break)):
                    if disturbed(s.test, [*s.body, *s.orelse]):
                        s.test = named("taken", s.test, s, out)
                s.body, s.orelse = block(s.body), block(s.orelse)
            elif isinstance(s, gast.For):
                assert isinstance(s.iter, gast.Call)
                s.iter = copy.copy(s.iter)
                s.iter.args = [named("bound", a, s, out) if disturbed(a, s.body, s.target.id) else a for a in s.iter.args]
                s.body = block(s.body)
            elif isinstance(s, gast.While):
                s.body = block(s.body)
            elif isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and s.targets[0].id in aliases.views:
                s.value = index(s.value, body[k + 1:], s, out)
            elif isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Subscript):
                s.targets = [own_index(s.targets[0], s, out)]
            elif isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Subscript):
                s.target = own_index(s.target, s, out)
            out.append(s)
        return out

    return replace(function, body=tuple(block(list(function.body))), names=names)
