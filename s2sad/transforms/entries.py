"""Entrywise array expressions taken apart: entries of arrays, numbers, and what has to be computed before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast
import numpy as np

from s2sad import rules
from s2sad.analysis.accesses import Access, access_of
from s2sad.analysis.calls import POINTWISE, WRITERS
from s2sad.analysis.extents import ONE, Extents, Length, elementwise
from s2sad.analysis.types import literal
from s2sad.analysis.views import view_base
from s2sad.lang import tree as T
from s2sad.lang.types import FLOATS, Array, Scalar, Type

DTYPES = (*FLOATS, "int64", "bool")
LOGICAL = {"BitAnd": "np.logical_and", "BitOr": "np.logical_or"}


class NotElementwise(Exception):
    """An expression is none that a loop over entries computes in the same meaning."""


class Entry(gast.expr):  # type: ignore[misc]
    """The entry of an array at the place where a nest is, in an expression of entries.

    `lengths` are those of the array expression's axes; along an axis of length 1 the entry stays the same. With `reads` False only the shape counts.
    """

    _fields = ()

    def __init__(self, access: Access, lengths: tuple[Length, ...], reads: bool = True):
        super().__init__()
        self.access, self.lengths, self.reads = access, lengths, reads

    @property
    def ndim(self) -> int:
        return self.access.ndim

    def at(self, counters: Sequence[str]) -> gast.Subscript:
        """The entry as a subscript.

        >>> import gast
        >>> a = Access("a", 2, (1,), (3,), (0,))
        >>> gast.unparse(Entry(a, (ONE, ("n", 0))).at(["i", "j"]))
        'a[j + 3]'
        """
        own = counters[len(counters) - self.ndim:]
        index: list[gast.expr] = []
        for along, start in zip(self.access.along, self.access.start, strict=True):
            if self.lengths[along] == ONE:
                index.append(T.const(start))
            else:
                i = T.name(own[along])
                index.append(gast.BinOp(i, gast.Add(), T.const(start)) if start else i)
        return gast.Subscript(T.name(self.access.base), index[0] if len(index) == 1 else gast.Tuple(index, gast.Load()), gast.Load())

    def on(self, name: str) -> None:
        """Let this be the entry of an array of the same shape."""
        whole = range(self.ndim)
        self.access = Access(name, self.ndim, tuple(whole), (0,) * self.ndim, (0,) * self.ndim)

    def unlike(self, space: tuple[Length, ...]) -> bool:
        """Whether it is not known to have the lengths of a space, or length 1."""
        return any(m not in (n, ONE) for m, n in zip(self.lengths, space[len(space) - self.ndim:], strict=True))


class Operands:
    """What an expression is made of. `before`: statements that compute what entries and numbers are taken from; `loud`: they may raise."""

    def __init__(self, known: Extents, named: Callable[[str, gast.expr], str]):
        self.known, self.named = known, named
        self.before: list[gast.stmt] = []
        self.reads: list[Entry] = []
        self.numbers: set[str] = set()
        self.loud = False

    def take(self, e: gast.expr) -> gast.expr:
        """The expression with entries in place of arrays; raises NotElementwise."""
        t = self.known.type(e)
        if isinstance(t, Scalar):
            return self.number(e)
        if not isinstance(t, Array) or t.ndim == 0 or t.weak or t.dtype not in DTYPES:
            raise NotElementwise
        if isinstance(e, gast.BinOp) and not isinstance(e.op, gast.MatMult):
            left, right = self.take(e.left), self.take(e.right)
            self.check_operator(e, t)
            logical = LOGICAL.get(type(e.op).__name__)
            return gast.Call(T.expr(logical), [left, right], []) if logical else gast.BinOp(left, e.op, right)
        if isinstance(e, gast.UnaryOp):
            inner = self.take(e.operand)
            if isinstance(e.op, gast.Invert) and t.dtype == "bool":
                return gast.Call(T.expr("np.logical_not"), [inner], [])
            if not isinstance(e.op, gast.USub) or t.dtype == "bool":
                raise NotElementwise
            return gast.UnaryOp(e.op, inner)
        if isinstance(e, gast.Compare):
            if len(e.ops) > 1 or not self.alike([e.left, *e.comparators]):
                raise NotElementwise
            return gast.Compare(self.take(e.left), e.ops, [self.take(e.comparators[0])])
        if isinstance(e, gast.Call):
            return self.call(e, t)
        return self.leaf(e)

    # --- operations ---------------------------------------------------------------------

    def dtypes(self, operands: Sequence[gast.expr]) -> list[str]:
        """The dtypes of operands, those of Python numbers left out."""
        found = [self.known.type(o) for o in operands]
        return [t.dtype for t in found if isinstance(t, Array) or isinstance(t, Scalar) and not t.weak]

    def alike(self, operands: Sequence[gast.expr]) -> bool:
        """Whether compiled code takes numbers of these dtypes together as NumPy does arrays."""
        found = {*self.dtypes(operands)}
        return len(found) == 1 and found <= {"float64", "float32", "int64"} or found in ({"float64", "float32"}, {"float64", "int64"})

    def check_operator(self, e: gast.BinOp, t: Array) -> None:
        """Refuse operators that compiled code does otherwise for numbers."""
        dtypes = {*self.dtypes([e.left, e.right])}
        op = type(e.op).__name__
        if op in LOGICAL:
            fits = dtypes == {"bool"} and len(self.dtypes([e.left, e.right])) == 2
        elif op in ("Add", "Sub", "Mult"):
            meet = self.alike([e.left, e.right]) or dtypes == {"bool", "float64"}
            fits = dtypes == {"int64"} if t.dtype == "int64" else t.dtype in FLOATS and meet
        elif op == "Div":
            fits = t.dtype in FLOATS and self.alike([e.left, e.right])
        elif op == "Pow":
            exponent = self.known.type(e.right)
            fits = dtypes <= {*FLOATS} and len(dtypes) == 1 and (
                type(literal(e.right)) is int or isinstance(exponent, (Scalar, Array)) and exponent.dtype in FLOATS)
        else:
            fits = False
        if not fits:
            raise NotElementwise

    def call(self, e: gast.Call, t: Array) -> gast.expr:
        name = T.dotted(e.func) or ""
        if _is_copy(e) and access_of(e.func.value, self.known.names) is not None:
            return self.take(e.func.value)
        if name == "sum_to" and self.known.of(e.args[0]) is not None and self.known.of(e.args[0]) == self.known.shape(e.args[1]):
            return self.take(e.args[0])
        if name == "np.full_like" and len(e.args) == 2 and not e.keywords and t.dtype == "float64":
            value, like = self.known.type(e.args[1]), access_of(e.args[0], self.known.names)
            if isinstance(value, Scalar) and value.dtype == "float64" and like is not None:
                self.reads.append(Entry(like, self.known.lengths(like), reads=False))
                number = self.number(e.args[1])
                return gast.Call(T.expr("np.float64"), [number], []) if value.weak else number
        if not elementwise(name) or e.keywords:
            return self.leaf(e)
        args = [self.take(a) for a in e.args]
        floats = all(d in FLOATS for d in self.dtypes(e.args)) and t.dtype in (*FLOATS, "bool")
        if name == "np.where":
            fits = len(args) == 3 and self.dtypes(e.args[:1]) == ["bool"] and t.dtype in FLOATS \
                and all(getattr(self.known.type(a), "dtype", "") in FLOATS for a in e.args[1:])
        elif name in POINTWISE:
            fits = floats
        else:
            ufunc = getattr(np, name[3:], None)
            fits = isinstance(ufunc, np.ufunc) and ufunc.nout == 1 and ufunc.nin == len(args) and floats and len({*self.dtypes(e.args)}) == 1
        if not fits:
            raise NotElementwise
        return gast.Call(e.func, args, [])

    # --- operands -----------------------------------------------------------------------

    def number(self, e: gast.expr) -> gast.expr:
        """A number, the same at all entries: arithmetic of names stands as it is, all else is computed before."""
        if isinstance(literal(e), (bool, int, float)) or isinstance(e, gast.Name) or _sums_and_products(e):
            self.numbers |= T.loads(e)
            return e
        self.loud |= loud(e)
        return T.name(self.held("c", e))

    def leaf(self, e: gast.expr) -> Entry:
        """The entry of an array that an expression gives, as it stands or computed before."""
        t = self.known.type(e)
        if not isinstance(t, Array) or t.ndim == 0 or t.weak or t.dtype not in DTYPES:
            raise NotElementwise
        if t.ndim > 4:
            raise NotElementwise
        access = access_of(e, self.known.names)
        if access is None:
            base = view_base(e, self.known.names)
            if base is None and not _computed(e):
                raise NotElementwise
            self.loud |= base is None or any(isinstance(n, gast.Subscript) and _takes_one(n) for n in gast.walk(e))
            access = access_of(T.name(self.held(f"{base}_part" if base else "t", e)), self.known.names)
            assert access is not None
        made = Entry(access, self.known.lengths(access))
        self.reads.append(made)
        return made

    def held(self, wish: str, e: gast.expr) -> str:
        """A name for what an expression gives, which is evaluated before the nest."""
        name = self.named(wish, e)
        self.before.append(gast.Assign([T.store(name)], e, None))
        self.known.bind(name, e)
        return name

    def space(self) -> tuple[Length, ...] | None:
        """The lengths of the axes of the result; None if they are not known to fit."""
        out: list[Length] = []
        for k in range(1, max((r.ndim for r in self.reads), default=0) + 1):
            length = self.known.one({r.lengths[-k] for r in self.reads if r.ndim >= k})
            if length is None:
                return None
            out.append(length)
        return tuple(out[::-1])


def _is_copy(e: gast.expr) -> bool:
    """Whether this is `x.copy()`."""
    return isinstance(e, gast.Call) and isinstance(e.func, gast.Attribute) and e.func.attr == "copy" and (T.dotted(e.func) or "") != "np.copy"


def _sums_and_products(e: gast.expr) -> bool:
    """Whether an expression is cheap arithmetic of names, which cannot raise."""
    if isinstance(e, gast.BinOp):
        return isinstance(e.op, (gast.Add, gast.Sub, gast.Mult)) and _sums_and_products(e.left) and _sums_and_products(e.right)
    if isinstance(e, gast.UnaryOp):
        return isinstance(e.op, gast.USub) and _sums_and_products(e.operand)
    return isinstance(e, gast.Name) or isinstance(literal(e), (int, float))


def loud(e: gast.AST) -> bool:
    """Whether evaluating an expression may raise something else than that arrays do not fit.

    >>> loud(T.expr("2.0 * np.sqrt(a) + x.shape[0]")), loud(T.expr("x[k]")), loud(T.expr("div(a, b)"))
    (False, True, True)
    """
    for n in gast.walk(e):
        if isinstance(n, gast.Subscript) and _takes_one(n) and not (isinstance(n.value, gast.Attribute) and n.value.attr == "shape"):
            return True
        if isinstance(n, gast.Call):
            name = T.dotted(n.func) or ""
            if not elementwise(name) and name not in ("len", "float", "abs", "np.float64", "np.float32", "np.full_like"):
                return True
    return False


def _takes_one(n: gast.Subscript) -> bool:
    """Whether a subscript has an index that may be out of range."""
    return any(not isinstance(i, gast.Slice) and not (isinstance(i, gast.Constant) and (i.value is None or i.value is ...))
               for i in (n.slice.elts if isinstance(n.slice, gast.Tuple) else [n.slice]))


def _computed(e: gast.expr) -> bool:
    """Whether an expression computes an array without any other effect."""
    if isinstance(e, gast.BinOp):
        return isinstance(e.op, gast.MatMult)
    if isinstance(e, gast.Subscript):
        return True
    if not isinstance(e, gast.Call):
        return False
    name = T.dotted(e.func) or ""
    if isinstance(e.func, gast.Attribute) and not name.startswith("np."):
        return e.func.attr in ("copy", "astype")
    return name.startswith("np.") and name in rules.TABLE or name in rules.runtime_names() and name not in WRITERS


def entry_of(name: str, t: Type, lengths: tuple[Length, ...]) -> Entry:
    """The entry of an array by its name."""
    assert isinstance(t, Array)
    whole = tuple(range(t.ndim))
    return Entry(Access(name, t.ndim, whole, (0,) * t.ndim, (0,) * t.ndim), lengths)
