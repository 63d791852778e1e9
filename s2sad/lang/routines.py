"""Functions of the emitted module that other emitted functions call: those of recursive user functions, and the two sweeps made of them.

In the types of a program's names a routine is the value of its name (`Static`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad.lang.tree import Function
from s2sad.lang.types import Array, Scalar, Static, Tuple, Type, is_float

#: So many signatures of one recursive function are too many: its arguments get new types in every call.
MOST = 12


@dataclass(eq=False)
class Routine:
    """A function that is called by name: its result (None: not known yet), and the positions of the arguments that it changes in place.

    `paired`: a call is never left out, as calls of the forward and of the reverse sweep come in pairs.
    """

    name: str
    result: Type | None = None
    writes: frozenset[int] = frozenset()
    paired: bool = False
    variant: Variant | None = None  # of the forward sweep: of what

    @property
    def backward(self) -> bool:
        """Whether this is a reverse sweep."""
        return self.paired and self.variant is None


@dataclass(eq=False)
class Variant(Routine):
    """A recursive function for arguments of certain types."""

    user: str = ""  # the user's name of the function
    types: tuple[Type, ...] = ()
    params: tuple[str, ...] = ()
    varied: frozenset[int] = frozenset()  # positions of the parameters that carry a derivative in some call
    shadows: tuple[int, ...] = ()  # positions of the arrays whose adjoints the reverse sweep is given, and changes in place
    adjoints: tuple[int, ...] = ()  # positions of the numbers whose adjoints it returns

    @property
    def outputs(self) -> list[int]:
        """Positions of the results that may carry a derivative."""
        return [k for k, t in enumerate(results_of(self.result)) if is_float(t)]

    @property
    def differentiable(self) -> bool:
        """Whether a derivative may pass through a call."""
        return bool(self.varied) and bool(self.outputs or any(is_float(self.types[k]) for k in self.writes))


@dataclass(eq=False)
class Family:
    """A recursive function for arguments of any types."""

    name: str
    function: Function
    variants: dict[tuple[Type, ...], Variant] = field(default_factory=dict)

    def variant(self, types: tuple[Type, ...]) -> Variant | None:
        """The variant for arguments of certain types; None if there are too many."""
        found = self.variants.get(types)
        if found is None and len(self.variants) < MOST:
            returns = any(isinstance(s, gast.Return) and s.value is not None for s in self.function.body)
            result = None if returns else Static(None)
            found = self.variants[types] = Variant(self.name, result, user=self.name, types=types, params=self.function.params)
        return found


def argument_type(t: Type) -> Type | None:
    """The type by which a variant is chosen; None for what no recursive function can be given."""
    if isinstance(t, Array):
        return None if t.weak else Array(t.dtype, t.ndim, t.layout)
    return t if isinstance(t, Scalar) else None


def results_of(t: Type | None) -> tuple[Type, ...]:
    """The types of the values that a routine returns."""
    if t is None or isinstance(t, Static):
        return ()
    return t.items if isinstance(t, Tuple) else (t,)


def routine_of(e: Any, names: Mapping[str, Type]) -> Routine | None:
    """The routine that an expression calls.

    >>> g = Routine("g", writes=frozenset({0}))
    >>> routine_of(gast.parse("g(x, 2)").body[0].value, {"g": Static(g)}) is g
    True
    """
    if isinstance(e, gast.Call) and isinstance(e.func, gast.Name):
        t = names.get(e.func.id)
        if isinstance(t, Static) and isinstance(t.value, Routine):
            return t.value
    return None


def called(s: gast.stmt, names: Mapping[str, Type]) -> Routine | None:
    """The routine that a statement calls: such a call is always the whole value of an assignment, or a statement of its own."""
    return routine_of(s.value, names) if isinstance(s, (gast.Assign, gast.Expr)) else None


def variant_of(s: gast.stmt, names: Mapping[str, Type]) -> Variant | None:
    """The variant of a recursive function that a statement calls, or whose forward sweep it calls."""
    found = called(s, names)
    return found if isinstance(found, Variant) else found.variant if found is not None else None


def changed_by(s: gast.stmt, names: Mapping[str, Type]) -> set[str]:
    """The arrays that a statement's call of a routine changes."""
    found = called(s, names)
    return set() if found is None else {n for k in found.writes for n in _base(s.value.args[k])}


def _base(e: gast.expr) -> Iterator[str]:
    while isinstance(e, (gast.Subscript, gast.Attribute)):
        e = e.value
    if isinstance(e, gast.Name):
        yield e.id


def targets_of(s: gast.stmt) -> list[str]:
    """The names that the results of a call go to, in order."""
    if not isinstance(s, gast.Assign):
        return []
    target = s.targets[0]
    return [n.id for n in (target.elts if isinstance(target, gast.Tuple) else [target])]
