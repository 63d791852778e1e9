"""Types of parameters from how a function uses them, for `s2sad dump` without arguments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import gast
import numpy as np

from s2sad.lang import tree
from s2sad.lang.tree import Function
from s2sad.lang.types import WEAK_FLOAT, WEAK_INT, Array, Type

# functions whose result is an array like their first argument, or is that argument
_LIKE = frozenset(["np.zeros_like", "np.ones_like", "np.empty_like", "np.full_like", "np.copy", "np.asarray", "np.ascontiguousarray"])
_SHAPED = frozenset(["np.zeros", "np.ones", "np.empty", "np.full", "range"])
_ATTRIBUTES = frozenset(["shape", "size", "T", "ndim"])


def types_from_use(function: Function, known: Mapping[str, Type], wrt: Collection[str]) -> dict[str, Type]:
    """Types for parameters, as far as their use decides: the other parameters are left out.

    Args:
        function: in normal form (as `pipeline.front` gives it).
        known: types known otherwise.
        wrt: parameters that are differentiated, hence float.

    The number of axes is the number of indices that the function writes, `x[i, j]`; an array whose elements are indices is an
    int array; a number that is combined with numbers into a number is a float; what counts iterations or elements is an int.

    >>> from s2sad.transforms.front import build
    >>> def f(x, c, n):
    ...     for i in range(n):
    ...         x[i] = c * x[i]
    ...     return x[0]
    >>> {p: str(t) for p, t in types_from_use(build(f), {}, ["x"]).items()}
    {'x': 'float64[::1]', 'c': 'float', 'n': 'int'}
    """
    use = _Use(function)
    found = dict(known)
    for p in function.params:
        if p in found:
            continue
        rank = use.rank.get(use.root(p))
        if rank is not None:
            integer = p not in wrt and use.root(p) in use.indices
            if rank > 0:
                found[p] = Array("int64" if integer else "float64", rank)
        elif p in use.counts and p not in wrt:
            found[p] = WEAK_INT
        elif p in use.numbers:
            found[p] = WEAK_FLOAT
    return found


class _Use:
    """What a function's statements tell about its names."""

    def __init__(self, function: Function):
        self.same: dict[str, str] = {}  # a name to one that has the same type
        self.rank: dict[str, int] = {}  # arrays to the number of axes seen; 0 if only that it is an array
        self.counts: set[str] = set()
        self.numbers: set[str] = set()
        self.indices: set[str] = set()
        nodes = [n for s in function.body for n in gast.walk(s)]
        assigned = [(n.targets[0], n.value) for n in nodes if isinstance(n, gast.Assign)]
        assigned += [(n.target, n.value) for n in nodes if isinstance(n, gast.AugAssign)]
        for target, value in assigned:
            if isinstance(target, gast.Name) and (like := _like(value)):
                self.same[self.root(target.id)] = self.root(like)
        for n in nodes:
            self._array(n)
        rows = [(t.id, v) for t, v in assigned if isinstance(t, gast.Name) and isinstance(v, gast.Subscript) and isinstance(v.value, gast.Name)]
        for child, row in rows:
            self._at_least(row.value.id, _fixed(row) + self.rank.get(self.root(child), 0))
        for n in nodes:
            if isinstance(n, gast.Call) and tree.dotted(n.func) in _SHAPED:
                self.counts |= {m.id for a in n.args for m in gast.walk(a) if isinstance(m, gast.Name)}
        numbers = [n.value for n in nodes if isinstance(n, gast.Return) and n.value is not None]
        numbers += [n.test for n in nodes if isinstance(n, (gast.If, gast.While))]
        numbers += [v for t, v in assigned if isinstance(t, gast.Subscript) and self._is_element(t)]
        while numbers:
            new = {n for e in numbers for n in _operands(e)} - self.numbers
            self.numbers |= {n for n in new if self.root(n) not in self.rank}
            numbers = [v for t, v in assigned if isinstance(t, gast.Name) and t.id in new]
        for child, row in rows:  # a number or a row of a matrix?
            if child not in self.numbers | self.counts | set(self.indices) and self.root(child) not in self.rank:
                self.rank[self.root(row.value.id)] = 0

    def root(self, name: str) -> str:
        """The name that stands for all names of one type."""
        while name in self.same and self.same[name] != name:
            name = self.same[name]
        return name

    def _array(self, n: gast.AST) -> None:
        """Note that a name is used as an array."""
        if isinstance(n, gast.Subscript):
            count = 0
            base: gast.expr = n
            while isinstance(base, gast.Subscript):
                items = base.slice.elts if isinstance(base.slice, gast.Tuple) else [base.slice]
                count += sum(not (isinstance(i, gast.Constant) and i.value in (None, ...)) for i in items)
                inner = [m for i in items for m in gast.walk(i) if isinstance(m, gast.Subscript) and isinstance(m.value, gast.Name)]
                self.indices |= {self.root(m.value.id) for m in inner}
                base = base.value
            if isinstance(base, gast.Attribute) and base.attr == "shape" and isinstance(base.value, gast.Name):
                k = n.slice.value if isinstance(n.slice, gast.Constant) and isinstance(n.slice.value, int) else 0
                self._at_least(base.value.id, k + 1 if k > 0 else 0)  # every array has a first axis
            elif isinstance(base, gast.Name):
                self._at_least(base.id, count)
        elif isinstance(n, gast.Attribute) and isinstance(n.value, gast.Name) and n.attr in (*_ATTRIBUTES, "copy", "astype"):
            self._at_least(n.value.id, 0)
        elif isinstance(n, gast.Call) and tree.dotted(n.func) in ("len", *_LIKE) and n.args and isinstance(n.args[0], gast.Name):
            self._at_least(n.args[0].id, 0)

    def _at_least(self, name: str, count: int) -> None:
        root = self.root(name)
        self.rank[root] = max(self.rank.get(root, 0), count)

    def _is_element(self, target: gast.Subscript) -> bool:
        """Whether a target is one element, as far as is seen."""
        items = target.slice.elts if isinstance(target.slice, gast.Tuple) else [target.slice]
        full = isinstance(target.value, gast.Name) and len(items) == self.rank.get(self.root(target.value.id))
        return full and not any(isinstance(i, gast.Slice) or isinstance(i, gast.Name) and self.root(i.id) in self.rank for i in items)


def _like(e: gast.expr) -> str | None:
    """The name whose type an expression has."""
    if isinstance(e, gast.Call):
        if isinstance(e.func, gast.Attribute) and e.func.attr == "copy" and isinstance(e.func.value, gast.Name) and e.func.value.id != "np":
            return str(e.func.value.id)
        if tree.dotted(e.func) in _LIKE and e.args and isinstance(e.args[0], gast.Name):
            return str(e.args[0].id)
    return None


def _fixed(e: gast.Subscript) -> int:
    """How many axes an index removes, at least."""
    items = e.slice.elts if isinstance(e.slice, gast.Tuple) else [e.slice]
    return sum(not isinstance(i, (gast.Slice, gast.Constant)) or isinstance(i, gast.Constant) and isinstance(i.value, int) for i in items)


def _operands(e: gast.AST) -> Iterator[str]:
    """Names that an expression combines by arithmetic: not what it indexes, measures or passes to functions of arrays."""
    if isinstance(e, gast.Name):
        yield e.id
    elif isinstance(e, gast.Call):
        name = tree.dotted(e.func) or ""
        ufunc = getattr(np, name.removeprefix("np."), None)
        if name.startswith("math.") or isinstance(ufunc, np.ufunc) and ufunc.signature is None:  # these keep the shape
            for a in e.args:
                yield from _operands(a)
    elif isinstance(e, gast.BinOp) and isinstance(e.op, gast.MatMult):
        return
    elif isinstance(e, (gast.BinOp, gast.UnaryOp, gast.Compare, gast.BoolOp, gast.IfExp)):
        for child in gast.iter_child_nodes(e):
            yield from _operands(child)
