"""Which expressions look into another array's memory, and into whose."""

from __future__ import annotations

from collections.abc import Mapping

import gast

from s2sad.analysis import types as types_of
from s2sad.lang import tree as T
from s2sad.lang.types import Array, Type, is_array

# the result shares the first argument's memory
SURE = ("np.transpose", "np.swapaxes", "np.expand_dims", "np.squeeze", "np.broadcast_to", "np.moveaxis", "np.flip", "np.flipud", "np.fliplr",
        "np.real")
# view or copy, as the layout decides (np.diag: as the number of axes decides in NumPy; a copy in Numba)
PERHAPS = ("np.reshape", "np.ravel", "np.asarray", "np.diag", "np.atleast_1d", "np.atleast_2d", "np.ascontiguousarray")


def view_base(e: gast.expr, names: Mapping[str, Type]) -> str | None:
    """The array that an expression's value looks into, or None for a fresh array or a scalar.

    >>> names = {"a": Array("float64", 2), "i": types_of.WEAK_INT}
    >>> [view_base(T.expr(t), names) for t in ("a[i]", "a.T", "a[i, i]", "a + 1", "a[1:].T[0]")]
    ['a', 'a', None, None, 'a']
    """
    if isinstance(e, gast.Name):
        return e.id if is_array(names.get(e.id)) else None
    if isinstance(e, gast.Subscript):
        if not is_array(types_of.type_of(e, names)) or types_of.region(e, names) != "view":
            return None
        return view_base(e.value, names)
    if isinstance(e, gast.Attribute) and e.attr == "T":
        return view_base(e.value, names)
    if isinstance(e, gast.Call) and T.dotted(e.func) == "np.diag" and getattr(types_of.type_of(e.args[0], names), "ndim", 0) == 1:
        return None
    if isinstance(e, gast.Call) and T.dotted(e.func) in SURE + PERHAPS and e.args:
        return None if converts(e, names) else view_base(e.args[0], names)
    return None


def converts(e: gast.Call, names: Mapping[str, Type]) -> bool:
    """Whether this is `np.asarray(a, dtype)` with another dtype than that of a, which makes a new array."""
    if T.dotted(e.func) != "np.asarray":
        return False
    before, after = types_of.type_of(e.args[0], names), types_of.type_of(e, names)
    return getattr(before, "dtype", None) != getattr(after, "dtype", None)


def repeats(e: gast.expr) -> bool:
    """Whether one entry of the array below shows up as several of this view: the same view of an adjoint is not the view's adjoint.

    >>> repeats(T.expr("np.broadcast_to(a, (2, 3)).T")), repeats(T.expr("a.T"))
    (True, False)
    """
    while not isinstance(e, gast.Name):
        if isinstance(e, gast.Call) and T.dotted(e.func) == "np.broadcast_to":
            return True
        e = e.args[0] if isinstance(e, gast.Call) else e.value
    return False


def may_copy(e: gast.expr, names: Mapping[str, Type]) -> bool:
    """Whether the run-time layout decides if this expression is a view or a copy.

    >>> may_copy(T.expr("np.ravel(a)"), {"a": Array("float64", 2, "A")}), may_copy(T.expr("np.ravel(a)"), {"a": Array("float64", 2)})
    (True, False)
    """
    if isinstance(e, (gast.Subscript, gast.Attribute)):
        return may_copy(e.value, names)
    if isinstance(e, gast.Call):
        callee = T.dotted(e.func)
        if callee in PERHAPS and e.args:
            t = types_of.type_of(e.args[0], names)
            sure = callee == "np.asarray" or callee in ("np.reshape", "np.ravel", "np.ascontiguousarray") and isinstance(t, Array) and t.layout == "C"
            return not sure or may_copy(e.args[0], names)
        if callee in SURE and e.args:
            return may_copy(e.args[0], names)
    return False
