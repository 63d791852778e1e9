"""How large the Python ints of a program may become, and which of them only say where something is.

Python's ints know no bounds, those of compiled code have 64 bits. An operation whose result certainly fits needs no check, and neither do subscripts,
loop bounds and shapes: an index that does not fit into 64 bits is out of range anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.types import type_of
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import Array, Scalar, Tuple, Type, is_int

#: Bits (without the sign) of a length or a counter that goes up by one, of an argument, of what fits, and of what grows without a bound.
LENGTH, ARGUMENT, FITS, UNBOUNDED = 31, 56, 63, 10**6
_ROUNDS = 6
#: Operations that bring a number that does not fit back into range.
FOLDS = (gast.Mod, gast.FloorDiv, gast.RShift, gast.BitAnd, gast.BitOr, gast.BitXor)
PLACES = ("range", "np.zeros", "np.ones", "np.empty", "np.full", "np.arange", "np.eye", "np.reshape")


@dataclass(frozen=True)
class Magnitudes:
    """The bits of names that hold ints, and the names that are used for nothing but places."""

    names: Mapping[str, Type]
    bits: Mapping[str, int]
    places: frozenset[str]

    def of(self, e: gast.expr) -> int:
        """An upper bound for the bits of a Python int; a product fits, as it is checked if it may not."""
        value = A.number(e)
        if isinstance(value, int):
            return value.bit_length()
        if isinstance(e, gast.Name):
            return self.bits.get(e.id, FITS)
        if isinstance(e, gast.UnaryOp):
            return 1 if isinstance(e.op, gast.Not) else self.of(e.operand)
        if isinstance(e, (gast.Compare, gast.BoolOp)):
            return 1
        if isinstance(e, gast.BinOp):
            return self._operation(e)
        if isinstance(e, gast.Subscript):
            base = type_of(e.value, self.names)
            if isinstance(base, Tuple):
                return LENGTH
            dtype = base.dtype if isinstance(base, Array) else ""
            return {"int32": 31, "uint32": 32, "bool": 1, "int8": 7, "uint8": 8, "int16": 15, "uint16": 16}.get(dtype, FITS)
        if isinstance(e, gast.Attribute):
            return LENGTH
        if isinstance(e, gast.Call):
            callee = T.dotted(e.func) or ""
            if callee in ("len", "np.argmax", "np.argmin", "np.size", "first_max", "first_min", "frexp_exponent"):
                return LENGTH
            if callee in ("abs", "int", "bool") and is_int(type_of(e.args[0], self.names)):
                return self.of(e.args[0])
        return FITS

    def _operation(self, e: gast.BinOp) -> int:
        a, b = self.of(e.left), self.of(e.right)
        if isinstance(e.op, (gast.Add, gast.Sub)):
            return min(max(a, b) + (min(a, b) > 0), UNBOUNDED)
        if isinstance(e.op, gast.Mod):
            return min(b, FITS)
        if isinstance(e.op, (gast.FloorDiv, gast.RShift)):
            return a
        if isinstance(e.op, gast.BitAnd):
            return min(a, b)
        return min(self.unchecked(e), FITS)

    def unchecked(self, e: gast.BinOp) -> int:
        """The bits that a product or a power needs."""
        a, n = self.of(e.left), A.number(e.right)
        if isinstance(e.op, gast.Mult):
            return a + self.of(e.right)
        if isinstance(e.op, gast.LShift):
            return a + n if isinstance(n, int) else UNBOUNDED
        if isinstance(e.op, gast.Pow):
            return a * n if isinstance(n, int) and n >= 0 else UNBOUNDED
        return FITS


def magnitudes(function: Function) -> Magnitudes:
    """What is known of the ints of a typed function.

    >>> from s2sad.transforms.example import program
    >>> f = program('''k = 0
    ... p = 1
    ... for i in range(n):
    ...     k += 1
    ...     p = p * (i + 1)
    ... return p * x[i * n]''', "x: f8[:]; n: i8")
    >>> found = magnitudes(f)
    >>> [found.bits[n] for n in ("n", "k", "i", "p")]
    [56, 32, 31, 63]
    """
    names = function.names
    ints = {n for n, t in names.items() if isinstance(t, Scalar) and t.weak and is_int(t)}
    bits = {n: 1 if names[n].dtype == "bool" else ARGUMENT if n in function.params else 0 for n in ints}  # type: ignore[union-attr]
    found = Magnitudes(names, bits, _places(function, ints))
    assigned = [(t, v) for s in E.walk(function.body) for t, v in _assigned(s) if t in ints and names[t] != Scalar("bool", weak=True)]
    loops = [s for s in E.walk(function.body) if isinstance(s, gast.For) and s.target.id in ints]
    for _ in range(_ROUNDS):
        before = dict(bits)
        for s in loops:
            bits[s.target.id] = max(bits[s.target.id], _of_range(s.iter, found))
        for target, value in assigned:
            bits[target] = max(bits[target], _bound(target, value, found))
        if bits == before:
            return found
    # what still grows has no bound
    moving = {n for n in bits if bits[n] != before[n]}
    while moving:
        bits.update(dict.fromkeys(moving, UNBOUNDED))
        moving = {t for t, v in assigned if _bound(t, v, found) > bits[t]}
    return found


def _bound(target: str, value: gast.expr, found: Magnitudes) -> int:
    """The bits of what a name is assigned; if it is added to, those that it gets in less than 2**31 steps."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Add, gast.Sub)) and T.same(value.left, T.name(target)):
        step = found.of(value.right)
        if step <= LENGTH:
            return LENGTH + step
    return found.of(value)


def _assigned(s: gast.stmt) -> list[tuple[str, gast.expr]]:
    """(name, value) of an assignment to a name."""
    if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
        return [(s.targets[0].id, s.value)]
    if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
        return [(s.target.id, gast.BinOp(T.name(s.target.id), s.op, s.value))]
    return []


def _of_range(call: gast.expr, found: Magnitudes) -> int:
    """The bits of the variable of a loop: it takes less than 2**31 steps."""
    args = call.args if isinstance(call, gast.Call) else []
    if not args or T.dotted(call.func) != "range":
        return FITS
    start = found.of(args[0]) if len(args) > 1 else 0
    step = found.of(args[2]) - 1 if len(args) == 3 else 0
    stop = found.of(args[0 if len(args) == 1 else 1])
    return max(start, min(max(start, stop), LENGTH + step))


def _places(function: Function, ints: set[str]) -> frozenset[str]:
    """Names that are used in subscripts, bounds and shapes alone, and by other such names through sums and products."""
    used: dict[str, set[str]] = {n: set() for n in ints}  # name -> what it is used for: another name, or "" for something else

    def uses(e: gast.AST | None, into: str | None) -> None:
        """Note the names in an expression whose value goes `into` a name; None for a place, "" for something else."""
        if isinstance(e, gast.Name):
            if e.id in used and into is not None:
                used[e.id].add(into)
        elif isinstance(e, gast.Subscript):
            uses(e.value, into)
            uses(e.slice, None)
        elif isinstance(e, gast.Call) and T.dotted(e.func) in PLACES:
            for a in e.args:
                uses(a, None if is_int(type_of(a, function.names)) or isinstance(a, gast.Tuple) else "")
            for k in e.keywords:
                uses(k.value, "")
        elif isinstance(e, gast.BinOp):
            for side in (e.left, e.right):
                uses(side, "" if isinstance(e.op, FOLDS) else into)
        elif isinstance(e, (gast.Slice, gast.Tuple, gast.UnaryOp)):
            for child in gast.iter_child_nodes(e):
                uses(child, into)
        elif e is not None:
            for child in gast.iter_child_nodes(e):
                uses(child, "")

    for s in E.walk(function.body):
        if isinstance(s, (gast.If, gast.While)):
            uses(s.test, "")
        elif isinstance(s, gast.For):
            uses(s.iter, "")
        elif isinstance(s, (gast.Assign, gast.AugAssign)):
            target = s.targets[0] if isinstance(s, gast.Assign) else s.target
            uses(s.value, target.id if isinstance(target, gast.Name) and target.id in ints else "")
            if isinstance(target, gast.Subscript):
                uses(target.slice, None)
        else:
            uses(getattr(s, "value", None) or getattr(s, "exc", None), "")
    places = set(ints)
    while True:
        lost = {n for n in places if any(u not in places for u in used[n])}
        if not lost:
            return frozenset(places)
        places -= lost
