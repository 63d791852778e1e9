"""Elementary functions of floats in the form that LLVM vectorises (`s2sad.runtime.vector`), where that pays.

That is in expressions of whole arrays (in loops not of their rows, which tend to be short: there Numba's one pass over an expression is quicker),
and in innermost loops whose trips do not wait for each other. In other loops, and in straight-line code, the
functions of libm are as quick or quicker, and stay. The text that is shown, and that runs without Numba, has the plain names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gast

from s2sad.analysis.calls import POINTWISE
from s2sad.analysis.types import TypeProblem, type_of
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.types import Array, Scalar, Type

NUMPY = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
         "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "power", "arctan2")
#: NumPy's names for functions of math; `math.pow` stays, as it raises for arguments for which NumPy's does not.
MATH = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2"}
FLOATS = ("float32", "float64")


def vectors(body: Sequence[gast.stmt], names: Mapping[str, Type], module: str = "vector") -> list[gast.stmt]:
    """The body with calls of functions of `module`, by which the program knows `s2sad.runtime.vector`.

    >>> from s2sad.lang.printer import to_source
    >>> names = {"x": Array("float64", 1), "y": Array("float64", 1), "i": Scalar("int64", weak=True), "s": Scalar("float64")}
    >>> loops = "for i in range(n):\\n    y[i] = math.exp(x[i])\\nfor i in range(n):\\n    s = math.exp(s * x[i])"
    >>> print(to_source(vectors(T.stmts(f"{loops}\\ny[:] = x ** 1.5 + np.tanh(x) ** 2\\ns = np.exp(s)"), names)), end="")
    for i in range(n):
        y[i] = vector.exp(x[i])
    for i in range(n):
        s = math.exp(s * x[i])
    y[:] = vector.power(x, 1.5) + vector.tanh(x) ** 2
    s = np.exp(s)
    """
    straight, repeated, paying = (_Vectors(names, module, numbers, rows) for numbers, rows in ((False, True), (False, False), (True, False)))

    def block(body: Sequence[gast.stmt], inside: bool = False) -> list[gast.stmt]:
        out, simple = [], repeated if inside else straight
        for s in body:
            if isinstance(s, gast.If):
                new: gast.stmt = gast.If(simple.visit(T.substitute(s.test, {})), block(s.body, inside), block(s.orelse, inside))
            elif isinstance(s, gast.While):
                new = gast.While(repeated.visit(T.substitute(s.test, {})), block(s.body, True), block(s.orelse, True))
            elif isinstance(s, gast.For) and independent(s):
                new = gast.For(s.target, s.iter, [paying.visit(T.substitute(x, {})) for x in s.body], [], None)
            elif isinstance(s, gast.For):
                new = gast.For(s.target, s.iter, block(s.body, True), [], None)
            elif isinstance(s, (gast.Assign, gast.AugAssign, gast.Return, gast.Expr)):
                out.append(simple.visit(T.substitute(s, {})))
                continue
            else:
                out.append(s)
                continue
            out.append(T.at(new, s))
        return out

    return block(body)


def independent(loop: gast.For) -> bool:
    """Whether LLVM will take several trips of a loop at once: no inner loops, branches, sums, or values handed on.

    >>> independent(T.stmts("for i in range(n):\\n    t = u[i]\\n    u[i] = t * np.exp(t)")[0])
    True
    >>> independent(T.stmts("for i in range(n):\\n    u[i] = np.exp(u[i - 1])")[0])
    False
    """
    trip = loop.target.id
    work = [s for s in loop.body if not isinstance(s, (T.Comment, T.Blank))]
    if not all(isinstance(s, (gast.Assign, gast.AugAssign)) for s in work):
        return False
    later = T.stores(work)
    places: dict[str, set[object]] = {}
    written: set[str] = set()
    for s in work:
        target = s.targets[0] if isinstance(s, gast.Assign) else s.target
        read = T.loads(s.value) | (T.loads(target) if isinstance(target, gast.Subscript) else set())
        if isinstance(s, gast.AugAssign) and isinstance(target, gast.Name):
            read.add(target.id)
        if read & later:
            return False
        if isinstance(target, gast.Name):
            later.discard(target.id)
        else:
            written.add(T.base_name(target))
            if trip not in T.loads(target.slice):
                return False
        for n in gast.walk(s):
            if isinstance(n, gast.Slice) or isinstance(n, gast.Call) and not _elementwise(n):
                return False
            if isinstance(n, gast.Subscript):
                if not isinstance(n.value, gast.Name):
                    return False
                places.setdefault(n.value.id, set()).add(T.dump(n.slice))
    return all(len(places[n]) == 1 for n in written)


def _elementwise(call: gast.Call) -> bool:
    function = T.dotted(call.func) or ""
    return function.startswith(("np.", "math.")) or function in POINTWISE or function in ("float", "abs", "min", "max")


class _Vectors(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, names: Mapping[str, Type], module: str, numbers: bool, rows: bool):
        self.names, self.module = names, module
        self.numbers, self.rows = numbers, rows  # whether functions of numbers, and of parts of arrays, are to be replaced, too

    def visit_Call(self, e: gast.Call) -> gast.expr:
        fits = self.fit(e.args) and not e.keywords
        self.generic_visit(e)
        where, _, name = (T.dotted(e.func) or "").rpartition(".")
        name = MATH.get(name, name) if where == "math" else name
        if not fits or (where not in ("np", "math") or name not in NUMPY) and (where, name) != ("", "sigmoid"):
            return e
        return gast.copy_location(gast.Call(T.expr(f"{self.module}.{name}"), e.args, []), e)

    def visit_BinOp(self, e: gast.BinOp) -> gast.expr:
        k = A.number(e.right)
        simple = k is not None and (float(k).is_integer() or abs(k) == 0.5)  # LLVM has better for these
        fits = isinstance(e.op, gast.Pow) and not simple and self.fit([e.left, e.right])
        self.generic_visit(e)
        return gast.copy_location(gast.Call(T.expr(f"{self.module}.power"), [e.left, e.right], []), e) if fits else e

    def fit(self, args: Sequence[Any]) -> bool:
        """Whether arguments are floats, of which one is an array if it has to be."""
        arrays = False
        for t in map(self.type, args):
            if not isinstance(t, (Scalar, Array)) or t.dtype not in FLOATS or isinstance(t, Array) and t.ndim == 0:
                return False
            arrays |= isinstance(t, Array)
        return not any(self.part(a) for a in args) if arrays and not self.rows else arrays or self.numbers

    def part(self, e: gast.expr) -> bool:
        """Whether an expression reads a part of an array as an array."""
        return any(isinstance(n, gast.Subscript) and isinstance(self.type(n), Array) for n in gast.walk(e))

    def type(self, e: Any) -> Type | None:
        """The type of an expression; None where what the compiler made for its own use has none."""
        try:
            return type_of(e, self.names)
        except TypeProblem:
            return None
