"""Subscripts that select another element in every trip of a loop.

`x[i - 1]` does so only if `i - 1` does not wrap round: -1 is the last element, which a later trip may select as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.shapes import Shapes
from s2sad.lang import algebra as A
from s2sad.lang import tree as T


@dataclass
class Distinct:
    """What is known of the loop variables of some statements (see `analyse`)."""

    shapes: Shapes
    loops: dict[str, list[gast.For]]
    values: dict[str, list[gast.expr | None]]  # what is assigned to a name; None for something else
    lows: dict[str, int | None] = field(default_factory=dict)

    def element(self, array: str, axis: int, part: Any, v: str) -> bool:
        """Whether a dumped subscript on an axis of an array is another element in every trip of the loops over `v`."""
        offset = moved_by(part, v)
        if offset is None or v not in self.loops:
            return False
        low = self.low_of(v)
        return (low is not None and low + offset >= 0) or self.once_round(array, axis, v)

    def once_round(self, array: str, axis: int, v: str) -> bool:
        """Whether the loops over `v` take one step a trip and have as many trips as the axis has elements: no two subscripts meet."""
        dims = self.shapes.dims.get(array)
        if dims is None or axis >= len(dims) or self.values.get(v):
            return False
        for loop in self.loops[v]:
            assert isinstance(loop.iter, gast.Call)
            args = loop.iter.args
            step = A.number(args[2]) if len(args) == 3 else 1
            if step == -1 and A.number(args[1]) == -1 and isinstance(args[0], gast.BinOp) and isinstance(args[0].op, gast.Sub):
                trips = args[0].left if A.number(args[0].right) == 1 else None
            else:
                trips = args[0] if len(args) == 1 else args[1] if step == 1 and A.number(args[0]) == 0 else None
            if trips is None or self.shapes.length(trips) != dims[axis] or "~" in dims[axis] or "?" in dims[axis]:
                return False
        return True

    def low_of(self, name: str) -> int | None:
        """A number that a name is never below, or None."""
        if name not in self.lows:
            self.lows[name] = None  # what depends on itself is not known
            loops, values = self.loops.get(name, []), self.values.get(name, [])
            found = [self.first(loop) for loop in loops] + [None if e is None else self.low(e) for e in values]
            known = [k for k in found if k is not None]
            self.lows[name] = min(known) if known and len(known) == len(found) else None
        return self.lows[name]

    def first(self, loop: gast.For) -> int | None:
        """The least value that a loop gives its variable."""
        assert isinstance(loop.iter, gast.Call)
        args = loop.iter.args
        step = A.number(args[2]) if len(args) == 3 else 1
        if not isinstance(step, int) or step == 0:
            return None
        if len(args) == 1:
            return 0
        if step > 0:
            return self.low(args[0])
        stop = self.low(args[1])
        return None if stop is None else stop + 1

    def low(self, e: gast.expr) -> int | None:
        """A number that an integer expression is never below, or None."""
        value = A.number(e)
        if isinstance(value, int):
            return value
        if isinstance(e, gast.Name):
            return self.low_of(e.id)
        if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Add):
            a, b = self.low(e.left), self.low(e.right)
            return None if a is None or b is None else a + b
        if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Sub) and isinstance(A.number(e.right), int):
            a = self.low(e.left)
            return None if a is None else a - int(A.number(e.right))  # type: ignore[arg-type]
        is_length = (isinstance(e, gast.Call) and T.dotted(e.func) == "len") or (isinstance(e, gast.Attribute) and e.attr == "size") or (
            isinstance(e, gast.Subscript) and isinstance(e.value, gast.Attribute) and e.value.attr == "shape")
        return 0 if is_length else None


def moved_by(part: Any, v: str) -> int | None:
    """The literal that a dumped subscript adds to a variable, or None if it is not of that form.

    >>> moved_by(T.dump(T.expr("i - 1")), "i"), moved_by(T.dump(T.expr("i")), "i"), moved_by(T.dump(T.expr("2 * i")), "i")
    (-1, 0, None)
    """
    name = T.dump(T.name(v))
    if part == name:
        return 0
    if not (isinstance(part, tuple) and len(part) == 4 and part[0] == "BinOp"):
        return None
    _, left, op, right = part
    if op[0] not in ("Add", "Sub") or left != name or right[0] != "Constant" or right[1][0] != "int":
        return None
    return int(right[1][1]) if op[0] == "Add" else -int(right[1][1])


def analyse(body: Iterable[gast.stmt], params: Iterable[str], shapes: Shapes, same: Mapping[str, str] | None = None) -> Distinct:
    """What is known of the loop variables of a function.

    Args:
        body: the statements of the whole function.
        params: its parameters: nothing is known of those.
        shapes: its shapes.
        same: further arrays (adjoints) and the arrays that have their shapes.

    >>> from s2sad.transforms.example import program
    >>> from s2sad.analysis import aliases, shapes
    >>> f = program("for i in range(n):\\n    x[i - 1] = x[i + 1]\\nreturn x[0]", "x: f8[:]; n: i8")
    >>> d = analyse(f.body, f.params, shapes.analyse(f, aliases.analyse(f)))
    >>> [d.element("x", 0, T.dump(T.expr(e)), "i") for e in ("i", "i + 1", "i - 1")]
    [True, True, False]
    """
    loops: dict[str, list[gast.For]] = {}
    values: dict[str, list[gast.expr | None]] = {p: [None] for p in params}
    for s in E.walk(list(body)):
        if isinstance(s, gast.For):
            loops.setdefault(s.target.id, []).append(s)
        elif isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            values.setdefault(s.targets[0].id, []).append(s.value)
        elif isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            up = isinstance(s.op, gast.Add) and isinstance(A.number(s.value), int) and A.number(s.value) >= 0  # type: ignore[operator]
            values.setdefault(s.target.id, []).extend([] if up else [None])
    for n, base in (same or {}).items():
        if n not in shapes.dims and base in shapes.dims:
            shapes = replace(shapes, dims={**shapes.dims, n: shapes.dims[base]})
    return Distinct(shapes, loops, values)
