"""Lengths of axes, as far as they are known where control stands.

A length is a symbol and a number of entries that are cut off: `("n", 2)` is `max(n - 2, 0)`. Two axes whose lengths are equal in this form have
the same length, whatever the input; a symbol stands for one value. Unlike `analysis.shapes`, which says what holds of a name in the whole
program, this follows the statements in order, so that it is for programs in any form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import gast

from s2sad import rules
from s2sad.analysis import calls
from s2sad.analysis.accesses import Access, access_of
from s2sad.analysis.types import TypeProblem, literal, type_of
from s2sad.lang import tree as T
from s2sad.lang.types import Array, Type, is_int

Length = tuple[str, int]
ONE: Length = ("=1", 0)
LIKE = ("np.zeros_like", "np.ones_like", "np.empty_like", "np.full_like", "np.copy", "stop_gradient")
SHAPED = ("np.zeros", "np.ones", "np.empty", "np.full")
#: Runtime functions whose result has the shape that the second argument says, or is.
OF_SECOND = ("sum_to", "spread", "mean_dx", "cumsum_dx", "diff_dx", "diag_dx", "trace_dx")
REDUCTIONS = ("np.sum", "np.mean", "np.max", "np.min", "np.prod", "np.var", "np.std", "np.any", "np.all")
LIKE_SECOND = ("given_adjoint", "max_share", "prod_dx", "var_dx", "std_dx", "norm_dx", "cumprod_dx", "sort_dx")


def elementwise(name: str) -> bool:
    """Whether a function works entry by entry on arrays that broadcast.

    >>> elementwise("np.sin"), elementwise("strong"), elementwise("np.sum")
    (True, True, False)
    """
    if name in calls.POINTWISE or name == "np.where":
        return True
    return name.startswith("np.") and name in rules.TABLE and rules.TABLE[name][0].kind == "elementwise"


class Extents:
    """What is known of lengths at one place of a program.

    >>> names = {"x": Array("float64", 1), "y": Array("float64", 1)}
    >>> known = Extents(names)
    >>> known.bind("y", T.expr("np.zeros_like(x)"))
    >>> known.of(T.expr("x[2:] * y[:-2]")), known.of(T.expr("x[2:] * y"))
    ((('1', 2),), None)
    """

    def __init__(self, names: Mapping[str, Type], above: Extents | None = None):
        self.names = names
        self.made: list[int] = above.made if above is not None else []
        self.dims: dict[str, tuple[Length, ...]] = dict(above.dims) if above is not None else {}
        self.ints: dict[str, Length] = dict(above.ints) if above is not None else {}
        self.fits: set[tuple[Length, Length]] = set(above.fits) if above is not None else set()

    def copy(self) -> Extents:
        """What is known now."""
        return Extents(self.names, self)

    def restore(self, before: Extents) -> None:
        """Forget what has been learnt since a copy was made."""
        self.dims, self.ints, self.fits = before.dims, before.ints, before.fits

    def fresh(self) -> Length:
        """A length of which nothing is known."""
        self.made.append(0)
        return str(len(self.made)), 0

    def axes(self, name: str) -> tuple[Length, ...]:
        """The lengths of an array's axes."""
        if name not in self.dims:
            t = self.names[name]
            assert isinstance(t, Array)
            self.dims[name] = tuple(self.fresh() for _ in range(t.ndim))
        return self.dims[name]

    def lengths(self, a: Access) -> tuple[Length, ...]:
        """The lengths of the axes of an access."""
        out = [ONE] * a.ndim
        for axis, cut, length in zip(a.along, a.cut, self.axes(a.base), strict=True):
            out[axis] = shorter(length, cut)
        return tuple(out)

    def of(self, e: gast.expr) -> tuple[Length, ...] | None:
        """The lengths of the axes of an array expression (none for a scalar), or None if they are not known."""
        t = self.type(e)
        if not isinstance(t, Array):
            return None if t is None else ()
        a = access_of(e, self.names)
        if a is not None:
            return self.lengths(a)
        if isinstance(e, gast.UnaryOp):
            return self.of(e.operand)
        if isinstance(e, gast.BinOp) and not isinstance(e.op, gast.MatMult):
            return self.together([e.left, e.right])
        if isinstance(e, gast.Compare):
            return self.together([e.left, *e.comparators])
        if isinstance(e, gast.Attribute) and e.attr == "T":
            inner = self.of(e.value)
            return None if inner is None else inner[::-1]
        return self._call(e) if isinstance(e, gast.Call) else None

    def _call(self, e: gast.Call) -> tuple[Length, ...] | None:
        name = T.dotted(e.func) or ""
        if isinstance(e.func, gast.Attribute) and e.func.attr in ("copy", "astype") and not name.startswith("np."):
            return self.of(e.func.value)
        if name in LIKE and e.args and not e.keywords:
            return self.of(e.args[0])
        if name in SHAPED and e.args:
            return self.shape(e.args[0])
        if name in OF_SECOND:
            return self.shape(e.args[1])
        if name in LIKE_SECOND:
            return self.of(e.args[1])
        if name in REDUCTIONS:
            return self._reduced(e)
        return self.together(e.args) if elementwise(name) and not e.keywords else None

    def _reduced(self, e: gast.Call) -> tuple[Length, ...] | None:
        """The lengths of axes that are left by a reduction of one axis."""
        inner, given = self.of(e.args[0]), {k.arg: literal(k.value) for k in e.keywords}
        axis = given.pop("axis", None) if len(e.args) == 1 else None
        keep = given.pop("keepdims", False)
        if inner is None or given or type(axis) is not int or not -len(inner) <= axis < len(inner) or keep not in (True, False):
            return None
        axis %= len(inner)
        return (*inner[:axis], *([ONE] if keep else []), *inner[axis + 1:])

    def together(self, operands: Iterable[gast.expr]) -> tuple[Length, ...] | None:
        """The lengths of what operands give that broadcast; None if it is not known that they fit."""
        found = [self.of(o) for o in operands]
        if any(f is None for f in found):
            return None
        known = [f for f in found if f is not None]
        out: list[Length] = []
        for k in range(1, max(map(len, known), default=0) + 1):
            found_here = self.one({f[-k] for f in known if len(f) >= k})
            if found_here is None:
                return None
            out.append(found_here)
        return tuple(out[::-1])

    def one(self, lengths: set[Length]) -> Length | None:
        """The length of an axis that operands of these lengths give together; None if it is not known that they fit."""
        axis = lengths - {ONE} or {ONE}
        common = [n for n in axis if all(m == n or (m, n) in self.fits for m in axis)]
        return common[0] if len(common) == 1 else None

    def shape(self, e: gast.expr) -> tuple[Length, ...] | None:
        """The lengths that a shape says."""
        if isinstance(e, gast.Attribute) and e.attr == "shape":
            return self.of(e.value)
        parts = [self.length(p) for p in (e.elts if isinstance(e, gast.Tuple) else [e])]
        return None if any(p is None for p in parts) else tuple(p for p in parts if p is not None)

    def length(self, e: gast.expr) -> Length | None:
        """The value of an integer expression that says a length; None if it cannot be followed."""
        k = literal(e)
        if type(k) is int:
            return (f"={k}", 0) if k >= 0 else None
        if isinstance(e, gast.Name) and is_int(self.names.get(e.id)):
            return self.ints.setdefault(e.id, self.fresh())
        found = None
        if isinstance(e, gast.Subscript) and isinstance(e.value, gast.Attribute) and e.value.attr == "shape":
            found, k = self.of(e.value.value), literal(e.slice)
        elif isinstance(e, gast.Call) and T.dotted(e.func) == "len" and len(e.args) == 1:
            found, k = self.of(e.args[0]), 0
        elif isinstance(e, gast.Attribute) and e.attr == "size":
            found, k = self.of(e.value), 0
            found = found if found is not None and len(found) == 1 else None
        return found[k] if found and type(k) is int and -len(found) <= k < len(found) else None

    def type(self, e: gast.expr) -> Type | None:
        """The type of an expression, None where there is none."""
        try:
            return type_of(e, self.names)
        except TypeProblem:
            return None

    def bind(self, name: str, value: gast.expr) -> None:
        """Take in that a name is bound to what an expression gives."""
        t = self.names.get(name)
        dims = self.of(value) if isinstance(t, Array) else None
        length = self.length(value) if is_int(t) else None
        self.forget([name])
        if dims is not None and isinstance(t, Array) and len(dims) == t.ndim:
            self.dims[name] = dims
        if length is not None:
            self.ints[name] = length

    def forget(self, names: Iterable[str]) -> None:
        """Take in that names are bound to something unknown."""
        for n in names:
            self.dims.pop(n, None)
            self.ints.pop(n, None)


def shorter(length: Length, cut: int) -> Length:
    """A length less what is cut off.

    >>> shorter(("n", 1), 2), shorter(("=3", 0), 1), shorter(("=1", 0), 5)
    (('n', 3), ('=2', 0), ('=0', 0))
    """
    symbol, before = length
    if symbol.startswith("="):
        return f"={max(int(symbol[1:]) - cut, 0)}", 0
    return symbol, before + cut
