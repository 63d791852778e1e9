"""Which entries of an array an expression of basic slices shows, entry by entry.

`a[1:-1, :]` shows at `(i, j)` the entry `(i + 1, j)` of `a`. Only names, and names with slices whose bounds are constants, are seen through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import gast

from s2sad.analysis import types as types_of
from s2sad.lang import tree as T
from s2sad.lang.types import Array, Type


@dataclass(frozen=True)
class Access:
    """Entries of `base`: along its axis `k` the axis `along[k]` of the expression runs, from `start[k]` on; `cut[k]` entries are left out.

    Axes of the expression that are not named in `along` are new ones, of length 1.
    """

    base: str
    ndim: int
    along: tuple[int, ...]
    start: tuple[int, ...]
    cut: tuple[int, ...]


def access_of(e: gast.expr, names: Mapping[str, Type]) -> Access | None:
    """The entries that an array expression shows, or None if it is not of this kind.

    >>> names = {"a": Array("float64", 2), "i": types_of.WEAK_INT}
    >>> access_of(T.expr("a[1:-1]"), names)
    Access(base='a', ndim=2, along=(0, 1), start=(1, 0), cut=(2, 0))
    >>> access_of(T.expr("a[:, None, 2:]"), names)
    Access(base='a', ndim=3, along=(0, 2), start=(0, 2), cut=(0, 2))
    >>> access_of(T.expr("a[i:]"), names) is access_of(T.expr("a[i]"), names) is access_of(T.expr("a[:2]"), names) is None
    True
    """
    if isinstance(e, gast.Name):
        t = names.get(e.id)
        if not isinstance(t, Array) or t.ndim == 0:
            return None
        none = (0,) * t.ndim
        return Access(e.id, t.ndim, tuple(range(t.ndim)), none, none)
    if not (isinstance(e, gast.Subscript) and isinstance(e.value, gast.Name) and isinstance(names.get(e.value.id), Array)):
        return None
    whole = types_of.type_of(e, names)
    base = names[e.value.id]
    if not isinstance(whole, Array) or not isinstance(base, Array) or types_of.region(e, names) != "view":
        return None
    given = types_of.indices(e)
    slices = sum(isinstance(i, gast.Slice) for i in given)
    along: list[int] = []
    start: list[int] = []
    cut: list[int] = []
    axis = 0
    for i in given:
        bounds = _bounds(i) if isinstance(i, gast.Slice) else None
        if bounds is not None:
            along, start, cut, axis = [*along, axis], [*start, bounds[0]], [*cut, sum(bounds)], axis + 1
        elif isinstance(i, gast.Constant) and i.value is ...:
            for _ in range(base.ndim - slices):
                along, start, cut, axis = [*along, axis], [*start, 0], [*cut, 0], axis + 1
        elif isinstance(i, gast.Constant) and i.value is None or T.dotted(i) == "np.newaxis":
            axis += 1
        else:
            return None
    while len(along) < base.ndim:
        along, start, cut, axis = [*along, axis], [*start, 0], [*cut, 0], axis + 1
    return Access(e.value.id, axis, tuple(along), tuple(start), tuple(cut))


def _bounds(s: gast.Slice) -> tuple[int, int] | None:
    """How many entries a slice leaves out at each end, whatever the length; None if that is not known."""
    low = 0 if s.lower is None else types_of.literal(s.lower)
    high = 0 if s.upper is None else types_of.literal(s.upper)
    fits = all(type(b) is int for b in (low, high)) and low >= 0 and (s.upper is None or high < 0)
    return (low, -high) if fits and s.step is None else None


def in_order(a: Access, b: Access) -> bool:
    """Whether a nest that touches an entry through `a` and in the same or a later trip through `b` keeps the order of two statements.

    That is, whether every entry is touched through `a` no later than through `b`, in a nest over the axes of both whose trips go up.

    >>> names = {"a": Array("float64", 1)}
    >>> x, y = access_of(T.expr("a[1:]"), names), access_of(T.expr("a[:-1]"), names)
    >>> in_order(x, x), in_order(x, y), in_order(y, x)
    (True, True, False)
    """
    whole = tuple(range(a.ndim))
    return a.base == b.base and a.along == b.along == whole and a.ndim == b.ndim and a.start >= b.start
