"""Where an argument that is a list (or tuple) of numbers, and an array in the program, would not do what a list does.

Lists are joined by `+`, repeated by `*` and made longer by `+=`, where arrays are added and multiplied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import gast

from s2sad.analysis.types import type_of, walk
from s2sad.lang import tree as T
from s2sad.lang.types import Array, is_int


def differences(function: T.Function, arguments: Iterable[str]) -> Iterator[tuple[gast.AST, str]]:
    """The places in a typed program that mean something else if these arguments are lists, and what happens to those there.

    >>> from s2sad.transforms.example import program
    >>> text = "c = a\\nd = c[1:] + b\\ne = 2 * a\\ng = a * x + len(a)\\nreturn np.sum(d)"
    >>> for node, what in differences(program(text, "a: f8[:]; b: f8[:]; x: f8"), ("a", "b")):
    ...     print(gast.unparse(node), what)
    c[1:] + b joined
    2 * a repeated
    """
    lists = _Lists(function, set(arguments))
    for s in walk(function.body):
        if isinstance(s, gast.AugAssign) and lists.has(T.loaded(s.target)):
            yield s, "made longer" if isinstance(s.op, gast.Add) else "repeated"
        parts = [s.test] if isinstance(s, (gast.If, gast.While)) else [s.iter] if isinstance(s, gast.For) else [s]
        for e in (n for p in parts for n in gast.walk(p) if isinstance(n, gast.BinOp)):
            if isinstance(e.op, gast.Add) and lists.has(e.left) and lists.has(e.right):
                yield e, "joined"
            elif isinstance(e.op, gast.Mult) and any(
                lists.has(a) and is_int(type_of(b, function.names)) for a, b in ((e.left, e.right), (e.right, e.left))
            ):
                yield e, "repeated"


class _Lists:
    """Which expressions are lists, if some parameters are: their other names, their slices and their rows."""

    def __init__(self, function: T.Function, names: set[str]):
        self.types, self.names = function.names, names
        assigned = [s for s in walk(function.body) if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)]
        count = 0
        while count != len(names):
            count = len(names)
            names |= {s.targets[0].id for s in assigned if self.has(s.value)}

    def has(self, e: gast.expr) -> bool:
        """Whether an expression is one of them."""
        if isinstance(e, gast.Subscript):
            return self.has(e.value) and isinstance(type_of(e, self.types), Array)
        return isinstance(e, gast.Name) and e.id in self.names
