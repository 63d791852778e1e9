"""Operations that raise what Python raises.

Compiled code divides Python numbers by zero without an error, and takes the logarithm of zero. In the statements of the user's program, forwards,
such operations become calls of the runtime that check, unless they certainly fit. NumPy's own numbers (array elements, results of reductions) give
inf or nan in Python, too; only functions of `math` raise for them as well. Adjoints and tangents are not the user's arithmetic, and are left alone.
Products and sums of Python ints that may not fit into 64 bits are checked as well, if they are more than a place in an array.

Compiled code does not compare shapes either where it works on a whole array in place: `a += b` becomes `a[:] += b`, which does, unless the shapes are
known to be the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.magnitude import FITS, FOLDS, PLACES, UNBOUNDED, Magnitudes
from s2sad.analysis.shapes import Shapes
from s2sad.analysis.types import type_of
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.routines import called
from s2sad.lang.types import Scalar, Type, is_array, is_float, is_int
from s2sad.rules import runtime_names
from s2sad.transforms.reverse import nonzero, not_negative, positive

OPERATORS = {"Div": "div", "FloorDiv": "floordiv", "Mod": "mod"}
#: What makes ints of floats.
TO_INT = ("int", "round", "math.floor", "math.ceil", "math.trunc")
INTEGER = {"Mult": "int_mul", "Add": "int_add", "Sub": "int_sub", "LShift": "int_shift"}
#: Functions of math that raise where their argument is not positive, or negative, and others.
POSITIVE, NOT_NEGATIVE = ("log", "log2", "log10"), ("sqrt", "log1p")
#: Those that overflow; numbers of NumPy are let through, as what they give there is loud enough, and loops over them are to be fast.
GROWING = ("exp", "expm1", "cosh", "sinh")


def checked(
    body: list[gast.stmt], shapes: Shapes, primal: Collection[str], ints: Magnitudes, mirrored: Collection[str] = ()
) -> list[gast.stmt]:
    """The body with checks in the statements that compute the names of the primal, and in tests.

    Args:
        body: the statements.
        shapes: what is known of shapes, and the types of all names.
        primal: the names of the user's program.
        ints: how large its ints may become.
        mirrored: tangents, which are written in place as the arrays are that they belong to.

    >>> from s2sad.lang.printer import to_source
    >>> names = {"x": Scalar("float64", weak=True), "y": Scalar("float64", weak=True), "y_bar": Scalar("float64", weak=True)}
    >>> shapes = Shapes(names, {}, {}, frozenset(), frozenset())
    >>> body = T.stmts("y = 1.0 / x + math.sqrt(x * x)\\nx_bar = -y_bar / x")
    >>> print(to_source(checked(body, shapes, {"x", "y"}, Magnitudes(names, {}, frozenset()))), end="")
    y = div(1.0, x) + math.sqrt(x * x)
    x_bar = -y_bar / x
    """
    check = _Check(shapes, ints)

    def inner(block: list[gast.stmt]) -> list[gast.stmt]:
        return checked(block, shapes, primal, ints, mirrored)

    out = []
    for s in body:
        if isinstance(s, (gast.If, gast.While)):
            new: gast.stmt = type(s)(check.visit(T.substitute(s.test, {})), inner(s.body), inner(s.orelse))
        elif isinstance(s, gast.For):
            new = gast.For(s.target, check.visit(T.substitute(s.iter, {})), inner(s.body), [], None)
        elif (routine := called(s, shapes.names)) is not None:
            new = T.substitute(s, {})
            if not routine.backward:
                new.value.args = [check.visit(a) for a in new.value.args]
        elif isinstance(s, gast.Assign) and T.base_name(s.targets[0]) in primal:
            new = gast.Assign([check.target(s.targets[0])], check.valued(s.targets[0], T.substitute(s.value, {})), None)
        elif isinstance(s, gast.AugAssign) and T.base_name(s.target) in primal:
            new = check.augmented(T.substitute(s, {}))
        elif isinstance(s, gast.AugAssign) and T.base_name(s.target) in mirrored:
            new = check.whole(T.substitute(s, {}))
        elif isinstance(s, (gast.Assign, gast.AugAssign)) and any(_is_strong(n) for n in gast.walk(s.value)):
            new = T.substitute(s, {})
            new.value = _Singular(shapes.names).visit(new.value)
        elif isinstance(s, gast.Return) and not E.children(s):
            new = gast.Return(check.visit(T.substitute(s.value, {})) if isinstance(s.value, gast.expr) else s.value)
        else:
            out.append(s)
            continue
        out.append(T.at(new, s))
    return out


def _is_strong(e: gast.AST) -> bool:
    """Whether this is a product with a factor that may be singular."""
    return isinstance(e, gast.Call) and bool(T.dotted(e.func) == "strong")


class _Singular(gast.NodeTransformer):  # type: ignore[misc]
    """Singular factors of adjoints as NumPy has them, infinite where Python's numbers would raise: the primal does not raise there."""

    def __init__(self, names: Mapping[str, Type]):
        self.names = names
        self.inside = False

    def visit_Call(self, e: gast.Call) -> gast.expr:
        if not _is_strong(e):
            new: gast.expr = self.generic_visit(e)
            return new
        outer, first = self.inside, self.visit(e.args[0])  # the adjoint, a NumPy float as the seed is one
        self.inside = True
        e.args = [first, *map(self.visit, e.args[1:])]
        self.inside = outer
        return e

    def visit_BinOp(self, e: gast.BinOp) -> gast.expr:
        t = type_of(e, self.names)
        self.generic_visit(e)
        instead = {"Div": "np.divide", "Pow": "np.power"}.get(type(e.op).__name__)
        k = A.number(e.right)
        certain = nonzero(e.right) if isinstance(e.op, gast.Div) else isinstance(k, int) or k is not None and (k >= 0 or k.is_integer())
        if not self.inside or instead is None or certain or not (isinstance(t, Scalar) and t.weak):
            return e
        return gast.Call(T.expr(instead), [e.left, e.right], [])


class _Check(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, shapes: Shapes, ints: Magnitudes):
        self.shapes, self.names, self.ints = shapes, shapes.names, ints
        self.place = False

    def target(self, e: gast.expr) -> gast.expr:
        """The target of an assignment."""
        return self.visit(T.substitute(e, {})) if isinstance(e, gast.Subscript) else T.substitute(e, {})

    def valued(self, target: gast.expr, value: gast.expr) -> gast.expr:
        """What is assigned to a target."""
        self.place = isinstance(target, gast.Name) and target.id in self.ints.places
        new: gast.expr = self.visit(value)
        self.place = False
        if isinstance(target, gast.Subscript) and self.to_int(target, value):
            return gast.Call(T.name("within_int"), [new], [])
        return new

    def to_int(self, target: gast.expr, value: gast.expr) -> bool:
        """Whether a float number becomes an entry of an array of ints."""
        to = type_of(T.loaded(target), self.names)
        if not (isinstance(to, Scalar) and is_int(to) and to.dtype != "bool"):
            return False
        what = type_of(value, self.names)
        return isinstance(what, Scalar) and is_float(what)

    def inside(self, e: Any, place: bool) -> Any:
        """An operand that is a place, or one that is not."""
        outer, self.place = self.place, place
        e = self.visit(e)
        self.place = outer
        return e

    def visit_Subscript(self, e: gast.Subscript) -> gast.expr:
        e.value, e.slice = self.inside(e.value, self.place), self.inside(e.slice, True)
        return e

    def augmented(self, s: gast.AugAssign) -> gast.stmt:
        """`x /= y` of numbers as `x = x / y`, `a += b` of arrays as `a[:] += b`."""
        whole = gast.BinOp(T.loaded(s.target), s.op, s.value)
        new = self.valued(s.target, whole)
        if isinstance(new, gast.Call):
            return gast.Assign([s.target], new, None)
        s.value = new.right
        return self.whole(s)

    def whole(self, s: gast.AugAssign) -> gast.AugAssign:
        """An array changed in place, as a part of it, whose shape is looked at."""
        if isinstance(s.target, gast.Name) and is_array(self.names.get(s.target.id)) and is_array(type_of(s.value, self.names)) \
                and not self.shapes.same(T.loaded(s.target), s.value):
            s.target = gast.Subscript(T.name(s.target.id), gast.Slice(None, None, None), gast.Store())
        return s

    def visit_BinOp(self, e: gast.BinOp) -> gast.expr:
        original = T.substitute(e, {})
        place = self.place and not isinstance(e.op, FOLDS)
        e.left, e.right = self.inside(e.left, place), self.inside(e.right, place)
        return self.operation(e, original)

    def operation(self, e: gast.BinOp, original: gast.BinOp) -> gast.expr:
        """An operation of Python numbers as a call, if it may raise."""
        if type(e.op).__name__ in OPERATORS and self.weak(original) and not nonzero(original.right):
            return gast.Call(T.name(OPERATORS[type(e.op).__name__]), [e.left, e.right], [])
        if isinstance(e.op, gast.Pow) and self.weak(original) and is_float(type_of(original, self.names)):
            return e if A.number(original.right) in (0, 1) else gast.Call(T.name("power"), [e.left, e.right], [])
        if type(e.op).__name__ in INTEGER and not self.place and self.weak(original) and is_int(type_of(original, self.names)):
            return e if self.fits(original) else gast.Call(T.name(INTEGER[type(e.op).__name__]), [e.left, e.right], [])
        return e

    def fits(self, e: gast.BinOp) -> bool:
        """Whether the result of an operation on ints fits into 64 bits. Sums are looked at only where something grows without a bound."""
        if isinstance(e.op, (gast.Add, gast.Sub)):
            return max(self.ints.of(e.left), self.ints.of(e.right)) < UNBOUNDED
        return self.ints.unchecked(e) <= FITS

    def visit_Call(self, e: gast.Call) -> gast.expr:
        original = T.substitute(e, {})
        place = T.dotted(e.func) in PLACES and all(not is_float(type_of(a, self.names)) for a in e.args)
        if isinstance(e.func, gast.Attribute):
            e.func.value = self.inside(e.func.value, False)
        e.args = [self.inside(a, place) for a in e.args]
        e.keywords = [gast.keyword(k.arg, self.inside(k.value, False)) for k in e.keywords]
        callee = T.dotted(e.func) or ""
        if callee in TO_INT and len(e.args) == 1 and isinstance(type_of(original.args[0], self.names), Scalar) \
                and is_float(type_of(original.args[0], self.names)):
            e.args = [gast.Call(T.name("within_int"), e.args, [])]
            return e
        module, _, name = callee.partition(".")
        if module != "math" or f"math_{name}" not in runtime_names():
            return e
        x = original.args[0]
        fits = name in POSITIVE and positive(x) or name in NOT_NEGATIVE and not_negative(x)
        if fits or name in GROWING and not self.weak(x):
            return e
        return gast.Call(T.name(f"math_{name}"), e.args, [])

    def weak(self, e: Any) -> bool:
        """Whether an expression is a Python number."""
        t = type_of(e, self.names)
        return isinstance(t, Scalar) and t.weak
