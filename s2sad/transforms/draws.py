"""Random draws in their simplest form: of the standard distributions, each a statement of its own, scaled by ordinary arithmetic.

NumPy draws from a normal distribution as `loc + scale * z`, so the derivatives by the parameters are those of this expression. A draw changes
its generator: it runs once, in the forward sweep, in the order of the program, and what the reverse sweep needs of it is kept.

>>> from s2sad.transforms.example import after
>>> text = "x = rng.normal(mu, 2.0)\\ny = rng.uniform(0.0, mu, n)\\nk = rng.integers(n)\\nreturn x * y[k]"
>>> print(after("draws", text, "rng: rng; mu: f8; n: i8", "mu"))
z = rng.standard_normal()
x = mu + 2.0 * z
z_2 = rng.random(n)
y = 0.0 + (mu - 0.0) * z_2
k = rng.integers(0, n)
return x * y[k]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import gast

from s2sad.analysis.draws import DRAWS, arguments, drawn, generator_of
from s2sad.analysis.types import literal, type_of
from s2sad.errors import refuse
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import WEAK_FLOAT, WEAK_INT, Array, Generator, Scalar, Type, is_array

#: How values follow from those of the standard distribution `z`.
VALUES = {
    "normal": ("standard_normal", "loc + scale * z"),
    "uniform": ("random", "low + (high - low) * z"),
    "exponential": ("standard_exponential", "scale * z"),
    "lognormal": ("standard_normal", "np.exp(mean + sigma * z)"),
}
#: Parameters that must not be negative.
SPREAD = ("scale", "sigma")


def draws(function: Function) -> Function:
    """The function with draws of the standard distributions only; typed as before."""
    if not any(isinstance(t, Generator) for t in function.names.values()):
        return function
    names = dict(function.names)
    passing = _Draws(function, names)
    return replace(function, body=tuple(passing.block(list(function.body))), names=names)


class _Draws:
    def __init__(self, function: Function, names: dict[str, Type]):
        self.function, self.names = function, names
        self.fresh = T.Fresh(T.all_names(function.body) | set(function.params) | set(function.externals))

    def type(self, e: gast.expr) -> Type:
        return type_of(e, self.names)

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for s in body:
            if isinstance(s, gast.If):
                out.append(T.at(gast.If(s.test, self.block(s.body), self.block(s.orelse)), s))
            elif isinstance(s, gast.For):
                out.append(T.at(gast.For(s.target, s.iter, self.block(s.body), [], None), s))
            elif isinstance(s, gast.While):
                out.append(T.at(gast.While(s.test, self.block(s.body), []), s))
            elif generator_of(getattr(s, "value", None), self.names) is not None:
                out += T.at(self.draw(s), s)
            else:
                out.append(s)
        return out

    def draw(self, s: gast.stmt) -> list[gast.stmt]:
        call = s.value
        method, rng = call.func.attr, call.func.value.id
        given = arguments(call)
        if isinstance(s, gast.Expr):  # for the generator's sake
            name = self.fresh("unused")
            self.names[name] = self.type(call)
            s = T.at(gast.Assign([T.store(name)], call, None), s)
        assert isinstance(s, gast.Assign)
        if method in VALUES:
            return self.scaled(s, rng, method, given)
        if method == "integers":
            return [self.assigned(s, self.integers(rng, given["low"], given["high"], given["size"]))]
        if method == "choice":
            return self.choice(s, rng, given)
        if method == "permutation" and is_array(self.type(given["x"])):
            order = self.named("order", T.expr(f"{rng}.permutation(len(x))", x=given["x"]), Array("int64", 1))
            return [order[0], self.assigned(s, T.expr("x[order]", x=given["x"], order=order[1]))]
        parts = [given[p] for p in DRAWS[method] if not (p == "size" and _none(given[p]))]
        return [self.assigned(s, gast.Call(call.func, parts, []))]

    def assigned(self, s: gast.Assign, value: gast.expr) -> gast.stmt:
        return gast.Assign([s.targets[0]], value, None)

    def named(self, wish: str, value: gast.expr, t: Type) -> tuple[gast.stmt, gast.expr]:
        name = self.fresh(wish)
        self.names[name] = t
        return gast.Assign([T.store(name)], value, None), T.name(name)

    def integers(self, rng: str, low: gast.expr, high: gast.expr, size: gast.expr) -> gast.expr:
        if _none(high):
            low, high = T.const(0), low
        return gast.Call(T.expr(f"{rng}.integers"), [low, high, *([] if _none(size) else [size])], [])

    def choice(self, s: gast.Assign, rng: str, given: Mapping[str, gast.expr]) -> list[gast.stmt]:
        """A drawn entry: the entry at a drawn place."""
        a, size = given["a"], given["size"]
        if not is_array(self.type(a)):
            return [self.assigned(s, self.integers(rng, T.const(0), a, size))]
        at = self.integers(rng, T.const(0), T.expr("len(a)", a=a), size)
        t = drawn(size, "int64", self.type)
        first, k = self.named("k", at, t)
        return [first, self.assigned(s, T.expr("a[k]", a=a, k=k))]

    def scaled(self, s: gast.Assign, rng: str, method: str, given: Mapping[str, gast.expr]) -> list[gast.stmt]:
        standard, text = VALUES[method]
        size = given["size"]
        parameters = {p: self.double(e) for p, e in given.items() if p != "size"}
        arrays = [e for e in parameters.values() if is_array(self.type(e))]
        out: list[gast.stmt] = []
        shape = size
        if arrays and _none(size):
            whole = arrays[0]
            for e in arrays[1:]:
                whole = gast.BinOp(whole, gast.Add(), e)
            shape = gast.Attribute(whole, "shape", gast.Load())
        for p, e in parameters.items():
            if p in SPREAD and not (isinstance(e, gast.Constant) and e.value >= 0):
                test = f"np.any({p} < 0)" if is_array(self.type(e)) else f"{p} < 0"
                out += T.stmts(f"if {test}:\n    raise ValueError('{p} < 0')", **{p: e})
        first, z = self.named("z", gast.Call(T.expr(f"{rng}.{standard}"), [] if _none(shape) else [shape], []), drawn(shape, "float64", self.type))
        out.append(first)
        out.append(self.assigned(s, T.expr(text, z=z, **parameters)))
        if arrays and not _none(size):
            target = s.targets[0]
            assert isinstance(target, gast.Name)
            out += T.stmts(f"if {target.id}.shape != z.shape:\n    raise ValueError('the size of a draw does not fit its parameters')", z=z)
        return out

    def double(self, e: gast.expr) -> gast.expr:
        """A parameter as NumPy takes it: a Python float, or an array of float64."""
        t = self.type(e)
        if isinstance(t, Array):
            return e if t.dtype == "float64" else T.expr("x.astype(np.float64)", x=e)
        if not isinstance(t, Scalar):
            refuse(self.function.source, e, "S2S113", f"A parameter of a draw is {t}", "np.array(xs)")
        if t == WEAK_FLOAT:
            return e
        if t == WEAK_INT and isinstance(literal(e), int):
            return T.const(float(literal(e))) if literal(e) >= 0 else gast.UnaryOp(gast.USub(), T.const(float(-literal(e))))
        return T.expr("float(x)", x=e)


def _none(e: gast.expr) -> bool:
    return isinstance(e, gast.Constant) and e.value is None
