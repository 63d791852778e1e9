"""Sums into one array element go through a scalar while an inner loop runs, so that they stay in a register.

    for j in range(n):                       x_bar_sum = 0.0
        x_bar[i] += a[i, j] * w[j]           for j in range(n):
                                                 x_bar_sum += a[i, j] * w[j]
                                             x_bar[i] += x_bar_sum

Only for an element that is certainly in range even if the loop does not run, of an array that the loop does not touch otherwise.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.shapes import Shapes
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import Array, Scalar, Type
from s2sad.transforms.inspector import Ranges
from s2sad.transforms.slice import groups_of


def accumulate(body: list[gast.stmt], names: dict[str, Type], shapes: Shapes, fresh: T.Fresh) -> list[gast.stmt]:
    """The body with such sums in scalars; `shapes` knows the shapes of the arrays, `names` gets the new scalars.

    >>> from s2sad.lang.printer import to_source
    >>> shapes = Shapes({}, {"y": ("a.shape[0]",), "a": ("a.shape[0]", "a.shape[1]")}, {}, frozenset(), frozenset({"a", "y"}))
    >>> names = {"y": Array("float64", 1), "a": Array("float64", 2)}
    >>> shapes.names = names
    >>> body = T.stmts("for i in range(a.shape[0]):\\n    for j in range(a.shape[1]):\\n        y[i] += a[i, j]")
    >>> print(to_source(accumulate(body, names, shapes, T.Fresh(["a", "y", "i", "j"]))), end="")
    for i in range(a.shape[0]):
        y_sum = 0.0
        for j in range(a.shape[1]):
            y_sum += a[i, j]
        y[i] += y_sum
    """
    groups = groups_of(body, names)
    ranges = Ranges(Function("", (), (), names=names), shapes)
    return _Accumulate(names, groups, ranges, fresh).block(body)


class _Accumulate:
    def __init__(self, names: dict[str, Type], groups: Mapping[str, frozenset[str]], ranges: Ranges, fresh: T.Fresh):
        self.names, self.groups, self.ranges, self.fresh = names, groups, ranges, fresh

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for s in body:
            s = copy.copy(s)
            if isinstance(s, gast.If):
                s.body, s.orelse = self.block(s.body), self.block(s.orelse)
            elif isinstance(s, gast.While):
                s.body = self.block(s.body)
            elif isinstance(s, gast.For):
                if any(isinstance(x, (gast.For, gast.While)) for x in E.walk(s.body)):
                    with self.ranges.inside(s, self.names):
                        s.body = self.block(s.body)
                else:
                    out += self.inner(s)
                    continue
            out.append(s)
        return out

    def inner(self, s: gast.For) -> list[gast.stmt]:
        bound = E.bound([s], self.names)
        sums: dict[object, list[gast.AugAssign]] = {}
        for x in E.walk(s.body):
            if isinstance(x, gast.AugAssign) and isinstance(x.op, (gast.Add, gast.Sub)) and isinstance(x.target, gast.Subscript):
                sums.setdefault(T.dump(x.target), []).append(x)
        before: list[gast.stmt] = []
        after: list[gast.stmt] = []
        for updates in sums.values():
            target = updates[0].target
            if not isinstance(target.value, gast.Name) or not self.movable(s, target, updates, bound):
                continue
            t = self.names[target.value.id]
            assert isinstance(t, Array)
            n = self.fresh(f"{target.value.id}_sum")
            self.names[n] = Scalar(t.dtype)
            zero: gast.expr = T.const(0.0) if t.dtype == "float64" else gast.Call(T.expr(f"np.{t.dtype}"), [T.const(0.0)], [])
            before.append(gast.Assign([T.store(n)], zero, None))
            after.append(gast.AugAssign(A.clone(target), gast.Add(), T.name(n)))
            s.body = replaced(s.body, {id(u): n for u in updates})
        return [*before, s, *after]

    def movable(self, s: gast.For, target: gast.Subscript, updates: list[gast.AugAssign], bound: set[str]) -> bool:
        name = target.value.id
        t = self.names.get(name)
        index = list(target.slice.elts) if isinstance(target.slice, gast.Tuple) else [target.slice]
        if not isinstance(t, Array) or t.dtype not in ("float64", "float32") or len(index) != t.ndim:
            return False
        values, metas = E.reads_of(target.slice)
        if (values | metas) & bound or any(isinstance(i, gast.Slice) for i in index):
            return False
        dims = self.ranges.shapes.dims.get(name)
        if dims is None or not all(self.ranges.in_range(i, d) for i, d in zip(index, dims, strict=True)):
            return False
        group = self.groups.get(name, frozenset((name,)))
        mentions = sum(isinstance(n, gast.Name) and n.id in group for n in gast.walk(s))
        return mentions == len(updates)


def replaced(body: list[gast.stmt], scalars: Mapping[int, str]) -> list[gast.stmt]:
    """The statements with some targets replaced by scalars."""
    out = []
    for s in body:
        new = copy.copy(s)
        if id(s) in scalars:
            new.target = T.store(scalars[id(s)])
        elif isinstance(new, gast.If):
            new.body, new.orelse = replaced(new.body, scalars), replaced(new.orelse, scalars)
        out.append(new)
    return out
