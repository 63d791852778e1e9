"""What a program should give: plain Python, and complex steps of it.

For a complex step every function that comparisons, branches or kinks take part in is written out here, by its real part and its derivative,
after the conventions of docs/conventions.md: nothing of this is taken from the rule table.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .generate import Program

STEP = 1e-180  # its square is 0, so that ties stay ties
METHODS = ("max", "min", "sum", "mean", "std", "var", "prod", "argmax", "argmin", "clip")  # of arrays, that look at more than real parts
MOST_TRIPS = 100_000  # of `while` loops, over all evaluations of a program
ERRORS = (ArithmeticError, LookupError, ValueError, TypeError, AttributeError, NameError)


def _re(v: Any) -> Any:
    return v.real if np.iscomplexobj(v) else v


def _im(v: Any) -> Any:
    return v.imag if np.iscomplexobj(v) else 0.0


def _select(a: Any, b: Any, first: Any) -> Any:
    """Where `first` > 0 the one, where < 0 the other, the mean at ties."""
    return np.where(first > 0, a, np.where(first < 0, b, (a + b) / 2))[()]


def _dual(f: Callable[..., Any], *slopes: Callable[..., Any]) -> Callable[..., Any]:
    """A function of real arguments, for complex ones: by its slopes."""

    def lifted(*args: Any) -> Any:
        if not any(np.iscomplexobj(a) for a in args):
            return f(*args)
        real = [_re(a) for a in args]
        out = f(*real) + 0j
        for a, slope in zip(args, slopes, strict=False):
            if np.iscomplexobj(a):
                out = out + np.where(_im(a) != 0, 1j * slope(*real) * _im(a), 0.0)
        return out[()]

    return lifted


def _zero(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kw: f(*[_re(a) for a in args], **kw)


def _axes(axis: Any, a: Any) -> tuple[int, ...]:
    return tuple(range(np.ndim(a))) if axis is None else (axis % np.ndim(a),) if isinstance(axis, int) else tuple(k % np.ndim(a) for k in axis)


def _extreme(sign: int) -> Callable[..., Any]:
    def extreme(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        r = sign * _re(a)
        top = r == np.max(r, axis=_axes(axis, a), keepdims=True)
        n = np.sum(top, axis=_axes(axis, a), keepdims=keepdims)
        return np.sum(np.where(top, a, 0), axis=_axes(axis, a), keepdims=keepdims) / n

    return extreme


def _var(a: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    d = a - np.mean(a, axis=_axes(axis, a), keepdims=True)
    n = math.prod(np.shape(a)[k] for k in _axes(axis, a))
    return np.sum(d * d, axis=_axes(axis, a), keepdims=keepdims) / (n - ddof)


def _root(v: Any) -> Any:
    """The square root of a sum of squares: slope 0 at 0."""
    return np.where(_re(v) == 0, 0.0, np.sqrt(v))[()]


def _sorted(a: Any, axis: int = -1) -> Any:
    return np.take_along_axis(a, np.argsort(_re(a), axis=axis, kind="stable"), axis)


def _interp(x: Any, xp: Any, fp: Any) -> Any:
    xr, p = _re(x), _re(xp)
    k = np.clip(np.searchsorted(p, xr, side="right") - 1, 0, len(p) - 2)
    inside = (xr >= p[0]) & (xr < p[-1])
    t = np.where(inside, (x - p[k]) / (p[k + 1] - p[k]), np.where(xr < p[0], 0.0, 1.0))
    return (fp[k] + t * (fp[k + 1] - fp[k]))[()]


class _Linalg:
    @staticmethod
    def norm(a: Any) -> Any:
        return _root(np.sum(a * a))


def _sign(a: Any) -> Any:
    return np.sign(_re(a))


def _ddx_power(x: Any, p: Any) -> Any:
    return np.where(p == 0, 0.0, p * np.where(p == 1, 1.0, np.power(x, np.where(p == 0, 1.0, p - 1))))


class _Numpy:
    """NumPy for complex steps: comparisons look at the real part, new arrays are complex."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    zeros = staticmethod(lambda shape, dtype=None: np.zeros(shape, complex))
    ones = staticmethod(lambda shape, dtype=None: np.ones(shape, complex))
    empty = staticmethod(lambda shape, dtype=None: np.full(shape, np.nan, complex))
    full = staticmethod(lambda shape, v, dtype=None: np.full(shape, v, complex))
    zeros_like = staticmethod(lambda a, dtype=None: np.zeros(np.shape(a), complex))
    ones_like = staticmethod(lambda a, dtype=None: np.ones(np.shape(a), complex))
    empty_like = staticmethod(lambda a, dtype=None: np.full(np.shape(a), np.nan, complex))
    full_like = staticmethod(lambda a, v, dtype=None: np.full(np.shape(a), v, complex))
    array = staticmethod(lambda a, dtype=None: np.array(a, complex))
    float64 = float32 = staticmethod(lambda v: v)
    max, min, var = staticmethod(_extreme(1)), staticmethod(_extreme(-1)), staticmethod(_var)
    std = staticmethod(lambda a, axis=None, ddof=0, keepdims=False: _root(_var(a, axis, ddof, keepdims)))
    argmax, argmin, searchsorted = (staticmethod(_zero(f)) for f in (np.argmax, np.argmin, np.searchsorted))
    floor, ceil, trunc, rint, round, fix, sign = (
        staticmethod(_zero(f)) for f in (np.floor, np.ceil, np.trunc, np.rint, np.round, np.trunc, np.sign)
    )
    heaviside, isfinite, isnan = (staticmethod(_zero(f)) for f in (np.heaviside, np.isfinite, np.isnan))
    greater, less, greater_equal, less_equal, equal, not_equal = (
        staticmethod(_zero(f)) for f in (np.greater, np.less, np.greater_equal, np.less_equal, np.equal, np.not_equal)
    )
    maximum = staticmethod(lambda a, b: _select(a, b, _re(a) - _re(b)))
    minimum = staticmethod(lambda a, b: _select(a, b, _re(b) - _re(a)))
    fmax, fmin = maximum, minimum
    abs = fabs = staticmethod(lambda a: a * np.sign(_re(a)))
    argsort = staticmethod(lambda a, axis=-1, kind=None: np.argsort(_re(a), axis=axis, kind="stable"))
    sort = staticmethod(_sorted)
    clip = staticmethod(lambda a, a_min, a_max: _Numpy.minimum(_Numpy.maximum(a, a_min), a_max))
    interp = staticmethod(_interp)
    linspace = staticmethod(lambda a, b, num=50: a + (b - a) * np.linspace(0.0, 1.0, num))
    hypot = staticmethod(lambda a, b: _root(a * a + b * b))
    arctan2 = staticmethod(_dual(np.arctan2, lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)))
    copysign = staticmethod(_dual(np.copysign, lambda a, b: np.copysign(1.0, a) * np.copysign(1.0, b), lambda a, b: 0.0))
    remainder = staticmethod(_dual(np.remainder, lambda a, b: 1.0, lambda a, b: -np.floor(a / b)))
    fmod = staticmethod(_dual(np.fmod, lambda a, b: 1.0, lambda a, b: -np.trunc(a / b)))
    floor_divide = staticmethod(_zero(np.floor_divide))
    logaddexp = staticmethod(_dual(np.logaddexp, lambda a, b: 1 / (1 + np.exp(b - a)), lambda a, b: 1 / (1 + np.exp(a - b))))
    logaddexp2 = staticmethod(_dual(np.logaddexp2, lambda a, b: 1 / (1 + np.exp2(b - a)), lambda a, b: 1 / (1 + np.exp2(a - b))))
    power = float_power = staticmethod(_dual(np.power, _ddx_power, lambda x, p: np.where(x > 0, np.log(np.abs(x)) * np.power(x, p), 0.0)))
    cbrt = staticmethod(_dual(np.cbrt, lambda a: 1 / (3 * np.cbrt(a) ** 2)))
    exp2 = staticmethod(_dual(np.exp2, lambda a: np.log(2.0) * np.exp2(a)))
    sinc = staticmethod(_dual(np.sinc, lambda a: np.where(a == 0, 0.0, (np.cos(np.pi * a) - np.sinc(a)) / np.where(a == 0, 1.0, a))))
    arcsin = staticmethod(_dual(np.arcsin, lambda a: 1 / np.sqrt(1 - a * a)))
    arccos = staticmethod(_dual(np.arccos, lambda a: -1 / np.sqrt(1 - a * a)))
    arctan = staticmethod(_dual(np.arctan, lambda a: 1 / (1 + a * a)))
    arcsinh = staticmethod(_dual(np.arcsinh, lambda a: 1 / np.sqrt(1 + a * a)))
    arccosh = staticmethod(_dual(np.arccosh, lambda a: 1 / np.sqrt(a * a - 1)))
    arctanh = staticmethod(_dual(np.arctanh, lambda a: 1 / (1 - a * a)))
    deg2rad = radians = staticmethod(lambda a: a * (np.pi / 180))
    rad2deg = degrees = staticmethod(lambda a: a * (180 / np.pi))
    ldexp = staticmethod(lambda a, k: a * 2.0**k)
    nan_to_num = real = conjugate = positive = staticmethod(lambda a: a)
    inner = vdot = staticmethod(lambda a, b: a @ b)
    linalg = _Linalg()


class _Math:
    _NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
              "pow": "power"}  # fmt: skip
    _DUAL = {
        "erf": _dual(math.erf, lambda a: 2 / np.sqrt(np.pi) * np.exp(-a * a)),
        "erfc": _dual(math.erfc, lambda a: -2 / np.sqrt(np.pi) * np.exp(-a * a)),
        "lgamma": _dual(math.lgamma, lambda a: (math.lgamma(a + 1e-5) - math.lgamma(a - 1e-5)) / 2e-5),
    }

    def __getattr__(self, name: str) -> Any:
        if name in self._DUAL:
            return self._DUAL[name]
        if name in ("pi", "e", "inf"):
            return getattr(math, name)
        found = getattr(_Numpy(), self._NAMES.get(name, name))
        domain = getattr(math, name)

        def checked(*args: Any) -> Any:
            domain(*[float(_re(a)) for a in args])  # raises outside of its domain
            return found(*args)

        return checked


class _Ticks(ast.NodeTransformer):
    """Loops that do not end raise an error; `argsort` is the stable one (docs/conventions.md)."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if ast.unparse(node.func) == "np.argsort":
            node.keywords = [*node.keywords, ast.keyword("kind", ast.Constant("stable"))]
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(ast.Call(ast.Name("_tick", ast.Load()), [], [])))
        return node


class Endless(Exception):
    """A loop that does not end."""


def _ticker() -> Callable[[], None]:
    count = itertools.count()

    def tick() -> None:
        if next(count) > MOST_TRIPS:
            raise Endless

    return tick


class _Real(_Ticks):
    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        self.generic_visit(node)
        real = [ast.Call(ast.Name("_re", ast.Load()), [e], []) for e in (node.left, *node.comparators)]
        return ast.Compare(real[0], node.ops, real[1:])  # type: ignore[arg-type]

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        names = {ast.Mod: "_mod", ast.FloorDiv: "_floordiv", ast.Pow: "_pow"}
        if type(node.op) not in names:
            return node
        return ast.Call(ast.Name(names[type(node.op)], ast.Load()), [node.left, node.right], [])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if not isinstance(node.op, (ast.Mod, ast.FloorDiv, ast.Pow)) or not isinstance(node.target, ast.Name):
            return node
        return ast.Assign([node.target], self.visit_BinOp(ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sort" and getattr(node.func.value, "id", "") != "np":
            return ast.Call(node.func, [], [ast.keyword("key", ast.Name("_re", ast.Load()))])  # of a list
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and getattr(node.func.value, "id", "") not in ("np", "math"):
            return ast.Call(ast.Attribute(ast.Name("np", ast.Load()), node.func.attr, ast.Load()), [node.func.value, *node.args], node.keywords)
        return node

    def visit_Import(self, node: ast.Import) -> None:
        return None


def _either(on_complex: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: on_complex(a, b) if np.iscomplexobj(a) or np.iscomplexobj(b) else otherwise(a, b)


def _pow(a: Any, b: Any) -> Any:
    if np.iscomplexobj(b) and not np.any(_im(b)):
        b = _re(b)
    whole = not np.iscomplexobj(b) and np.ndim(b) == 0 and float(b).is_integer() and 0 <= b < 20
    if whole:
        out = np.ones_like(a) if np.ndim(a) else 1.0
        for _ in range(int(b)):
            out = out * a
        return out
    return _Numpy.power(a, b) + 0j  # an exponent without a slope does not make a real array


class Compiled:
    """A program's `f` as Python runs it, and for complex arguments; compiled once."""

    def __init__(self, text: str):
        self._plain = compile(ast.fix_missing_locations(_Ticks().visit(ast.parse(text))), "<plain>", "exec")
        self._complex = compile(ast.fix_missing_locations(_Real().visit(ast.parse(text))), "<complex step>", "exec")

    def plain(self) -> Callable[..., Any]:
        scope: dict[str, Any] = {"_tick": _ticker()}
        exec(self._plain, scope)
        return scope["f"]  # type: ignore[no-any-return]

    def complex(self) -> Callable[..., Any]:
        scope: dict[str, Any] = {
            "_tick": _ticker(), "np": _Numpy(), "math": _Math(), "_re": _re, "abs": _Numpy.abs, "float": lambda v: v,
            "max": lambda *a: max(*a, key=_re), "min": lambda *a: min(*a, key=_re), "sorted": lambda a: sorted(a, key=_re),
            "int": lambda v: int(_re(v)), "bool": lambda v: bool(_re(v)), "round": lambda v, *n: round(float(_re(v)), *n),
            "_mod": _either(_Numpy.remainder, lambda a, b: a % b), "_floordiv": _either(_Numpy.floor_divide, lambda a, b: a // b),
            "_pow": _either(_pow, lambda a, b: a**b),
        }  # fmt: skip
        exec(self._complex, scope)
        return scope["f"]  # type: ignore[no-any-return]


def lifted(args: tuple[Any, ...]) -> list[Any]:
    """Arguments for a complex step."""
    return [
        a.astype(complex) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else complex(a) if isinstance(a, (float, np.floating)) else a
        for a in args
    ]


def complex_step(program: Program, f: Callable[..., Any]) -> tuple[float, list[Any]]:
    """The value and the gradient."""
    gradients: list[Any] = []
    value = complex(f(*lifted(program.fresh()))).real
    for k in program.wrt:
        g = np.zeros(np.shape(program.args[k]))
        for cell in np.ndindex(g.shape):
            moved = lifted(program.fresh())
            if g.ndim:
                moved[k][cell] += 1j * STEP
            else:
                moved[k] += 1j * STEP
            g[cell] = complex(f(*moved)).imag / STEP
        gradients.append(g)
    return value, gradients
