"""Every row of the table against central differences, at its own domain; every inferred type against NumPy's result."""

import ast
import math

import gast
import numpy as np
import pytest

from s2sad import runtime
from s2sad.lang.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Array, Scalar, Static, Tuple, is_float
from s2sad.rules import TABLE, RuleError, canonical, known, literal_power, lookup, operator_type, result_type
from s2sad.rules.names import METHODS, resolve
from s2sad.rules.select import JOINS

SPACE = {"np": np, "math": math, **{n: getattr(runtime, n) for n in runtime.__all__}}
RNG = np.random.default_rng(7)

# --- elementwise rows: (low, high) of every float argument; (0.2, 0.8) if not listed ---------------
DOMAIN = {
    "np.arccosh": [(1.2, 3)], "math.acosh": [(1.2, 3)], "np.abs": [(-1, 1)], "np.fabs": [(-1, 1)], "abs": [(-1, 1)], "math.fabs": [(-1, 1)],
    "np.sinc": [(-1, 1)], "np.cbrt": [(-1, 1)], "np.maximum": [(-1, 1), (-1, 1)], "np.minimum": [(-1, 1), (-1, 1)], "np.remainder": [(1.1, 1.9),
    (0.3, 0.5)],
    "np.fmod": [(2.1, 2.9), (1, 1.01)], "np.clip": [(-1, 1), (-0.5, -0.4), (0.3, 0.4)], "np.copysign": [(-1, 1), (-1, 1)],
    "math.copysign": [(-1, 1), (-1, 1)], "math.fmod": [(2.1, 2.9), (1, 1.01)], "math.remainder": [(2.1, 2.4), (1, 1.01)],
    "np.hypot": [(-1, 1), (-1, 1)], "np.arctan2": [(-1, 1), (0.2, 1)], "math.atan2": [(-1, 1), (0.2, 1)], "np.logaddexp": [(-9, 9), (-9, 9)],
}  # fmt: skip
INTEGER = {"np.ldexp": {1: 3}, "math.ldexp": {1: 3}}  # arguments that are integers

# --- other rows: calls as (arguments, names of literal ones follow from their being no arrays) -----
M, V, W = RNG.normal(size=(3, 4)), RNG.normal(size=4), RNG.normal(size=3)
C = RNG.normal(size=(2, 3, 2))
AXES = [(M,), (M, 0), (M, -1), (M, (0, 1)), (M, 1, True), (M, None, True), (C, (0, 2)), (C, (2, 0), True), (C, 1), (V,), (M[::2, ::-2], 1)]
Z = M.copy()
Z[1, 2] = Z[0, 2] = Z[2, 0] = 0
CALLS = {
    "np.where": [(M > 0, M, V), (True, 0.3, 0.4), (M > 0, 0.5, M), (M > 0, 0.5, 0.25)],
    "np.sum": AXES, "np.mean": AXES, "np.max": AXES, "np.min": AXES, "np.prod": [*AXES, (Z,), (Z, 0), (Z, 1)],
    "np.var": [(a, *r[:1], 0, *r[1:]) if r else (a,) for a, *r in AXES] + [(M, 1, 1)],
    "np.std": [(a, *r[:1], 0, *r[1:]) if r else (a,) for a, *r in AXES] + [(M, 1, 1)],
    "np.cumsum": [(M,), (M, 0), (M, -1), (V,), (C, 1)], "np.cumprod": [(M,), (M, 0), (Z, -1), (Z,), (C, 1)],
    "np.diff": [(M,), (M, 1, 0), (V, 2), (V, 5), (C, 1, 1)], "np.linalg.norm": [(M,), (V,)],
    "np.interp": [(np.array([-1.0, 0.3, 0.7, 1.5, 3.0]), np.array([0.0, 1.0, 2.0]), RNG.normal(size=3)),
    (0.4, np.array([0.0, 1.0]), np.array([2.0, 5.0]))],
    "np.matmul": [(V, V), (M, V), (W, M), (M, M.T.copy()), (M, M.T)], "np.dot": [(V, V), (M, V), (W, M), (M, M.T.copy())],
    "np.inner": [(V, V)], "np.vdot": [(V, V)], "np.outer": [(V, W)],
    "np.reshape": [(M, (4, 3)), (M, -1), (M.T, (2, 6))], "np.ravel": [(M,), (M.T,)], "np.transpose": [(M,), (C, (2, 0, 1)), (C, (1, -1, 0))],
    "np.moveaxis": [(C, 0, -1), (C, 2, 0)], "np.flipud": [(M,)], "np.fliplr": [(M,)],
    "np.swapaxes": [(C, 0, 2)], "np.expand_dims": [(M, 1)], "np.squeeze": [(M[:1], 0)], "np.broadcast_to": [(V, (3, 4)), (M[:, :1], (2, 3, 4)),
    (0.5, (2, 3))],
    "np.flip": [(M,), (M, 0)], "np.roll": [(M, 1), (M, 2, 1), (V, -1)], "np.diag": [(V,), (V, 1), (V, -2), (M,), (M, 1), (M, -1)],
    "np.trace": [(M,), (M, 1), (M, -1)], "np.tril": [(M,), (M, -1)], "np.triu": [(M,), (M, 1)],
    "np.concatenate": [((M, M + 1),), ((M, M[:, :2]), 1), ((V, W), -1)], "np.stack": [((M, M + 1),), ((M, M + 2), -1), ((V, V), 1)],
    "np.hstack": [((V, W),), ((M, M[:, :1]),)], "np.vstack": [((V, V),), ((M, M[:2]),)],
    "math.fsum": [(V,)], "math.prod": [(V,), (Z[0],), (Z[1],)], "math.dist": [(V, 0.5 * V), (V, V[::-1])], "sum": [(V,), (V, 0.5)],
    "np.sort": [(M,), (M, 0), (V,)], "np.full": [((2, 3), 0.5)], "np.full_like": [(M, 0.5)], "np.linspace": [(0.2, 0.9, 5), (0.2, 0.9)],
    "np.array": [(M,), ((0.2, 0.3),), (((0.2, 0.3), (0.4, 0.5)),)], "np.asarray": [(M,)], "np.ascontiguousarray": [(M.T,)], "np.copy": [(M,)],
    "copy": [(M.T,)],
    "astype": [(M, np.float64)],
}  # fmt: skip
NOT_DIFFERENTIABLE = {"np.arange": {"start", "stop", "step"}, "np.interp": {"xp"}}


def evaluate(e, **names):
    """The value of a partial."""
    node = ast.fix_missing_locations(gast.gast_to_ast(gast.Expression(e)))
    return eval(compile(node, "<rule>", "eval"), SPACE, names)


def type_of(v):
    """The type of a concrete argument."""
    if isinstance(v, tuple):
        return Tuple(tuple(type_of(i) for i in v))
    if isinstance(v, np.ndarray):
        layout = "C" if v.flags.c_contiguous else "A"
        return Array(str(v.dtype), v.ndim, layout)
    if v is None or isinstance(v, type):
        return Static(v)
    if isinstance(v, np.generic):
        return Scalar(str(v.dtype))
    return WEAK_BOOL if isinstance(v, bool) else WEAK_INT if isinstance(v, int) else WEAK_FLOAT


def call(name, args, params):
    """Call the library function by the row's parameters."""
    if name in METHODS:
        return getattr(args[0], name)(*args[1:])
    named = dict(zip(params, args, strict=False))
    keywords = {k: named.pop(k) for k in ("keepdims", "ddof", "dtype", "axis") if k in named and name not in ("np.expand_dims", "np.squeeze")}
    return resolve(name)(*named.values(), **keywords)


def flat_args(rule, args):
    """Arguments by parameter, joins unpacked, defaults filled."""
    if rule.unpacked:
        first = args[0] if isinstance(args[0][0], np.ndarray) or not isinstance(args[0][0], tuple) else sum(args[0], ())
        args = (*first, *args[1:])
    return {**rule.defaults, **dict(zip(rule.params, args, strict=False))}


def contribution(rule, named, y, y_bar, param):
    """A row's contribution to the adjoint of one argument."""
    names = {k: v for k, v in named.items() if v is not None or k in rule.defaults}
    value = evaluate(rule.partials[param], **{**names, rule.result: y, f"{rule.result}_bar": y_bar})
    return runtime.sum_to(y_bar * value, np.shape(named[param])) if rule.kind == "elementwise" else value


def differences(f, x, y_bar):
    """Central differences of sum(f(x) * y_bar)."""
    x = np.asarray(x, dtype=float)
    g = np.zeros_like(x)
    for k in np.ndindex(x.shape):
        lo, hi = x.copy(), x.copy()
        lo[k] -= 1e-6
        hi[k] += 1e-6
        g[k] = np.sum((f(hi) - f(lo)) * y_bar) / 2e-6
    return g


def check(name, args):
    """All contributions of one call against central differences."""
    types = tuple(map(type_of, args))
    rule = lookup(name, types)
    params = TABLE[name][0].rule.params
    named = flat_args(rule, args)
    y = call(name, args, params)
    y_bar = RNG.normal(size=np.shape(y))[()]
    for p, v in named.items():
        if not is_float(type_of(v)) or isinstance(v, type):
            continue
        if p not in rule.partials:
            assert p in NOT_DIFFERENTIABLE.get(name, ())
            continue
        if isinstance(rule.partials[p], gast.Constant) and rule.partials[p].value == 0:
            continue

        def moved(x, p=p):
            changed = {**named, p: x[()] if x.ndim == 0 else x}
            values = tuple(changed[q] for q in rule.params)
            if rule.unpacked:
                parts = values[: rule.unpacked]
                parts = (parts[:2], parts[2:]) if isinstance(args[0][0], tuple) else parts
                values = (parts, *values[rule.unpacked :])
            return call(name, values[: len(args)], params)

        got = contribution(rule, named, y, y_bar, p)
        assert np.shape(got) == np.shape(v), (name, p)
        np.testing.assert_allclose(got, differences(moved, v, y_bar), rtol=2e-6, atol=2e-7, err_msg=f"{name} {p}")
        used = rule.values[p]
        assert used <= {*rule.params, rule.result}


ELEMENTWISE = sorted(n for n, rows in TABLE.items() if rows[0].kind == "elementwise")


def draw(name, shapes):
    """Arguments in the domain of an elementwise row."""
    domain = DOMAIN.get(name, [])
    out = []
    for k, shape in enumerate(shapes):
        if k in INTEGER.get(name, {}):
            out.append(INTEGER[name][k])
            continue
        low, high = domain[k] if k < len(domain) else (0.2, 0.8)
        out.append(RNG.uniform(low, high, size=shape) if shape != () else float(RNG.uniform(low, high)))
    return tuple(out)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_row(name):
    """Scalars; for NumPy functions also arrays of broadcast shapes and no entries."""
    n = len(TABLE[name][0].rule.params)
    if name == "np.float32":  # too coarse for differences
        assert evaluate(TABLE[name][0].rule.partials["x"]) == 1
        return
    check(name, draw(name, [()] * n))
    if name.startswith("np.") and name not in ("np.float64", "np.float32"):
        for shapes in ([(2, 3)] * n, [(2, 1), (3,), ()][:n], [(0, 3)] * n, [(1,), (2, 1), (1, 2)][:n]):
            check(name, draw(name, shapes))
        check(name, tuple(a[::2, ::-1] if isinstance(a, np.ndarray) else a for a in draw(name, [(4, 3)] * n)))


@pytest.mark.parametrize("name", sorted(n for n, rows in TABLE.items() if rows[0].kind == "vjp" and n != "np.arange"))
def test_other_row(name):
    """All calls listed for the row; a row that is not listed fails."""
    for args in CALLS[name]:
        check(name, args)


@pytest.mark.parametrize("name", sorted(set(CALLS) - {"np.full", "astype", "np.linspace"}))
def test_float32_contributions_have_the_argument_dtype(name):
    """Contributions are float32 for float32 arguments, also next to float64 ones."""
    for args in CALLS[name]:
        single = tuple(narrow(a) for a in args)
        variants = [single]
        if len(args) > 1 and isinstance(args[1], np.ndarray) and args[1].dtype.kind == "f":
            variants.append((single[0], *args[1:]))
        for given in variants:
            rule = lookup(name, tuple(map(type_of, given)))
            named = flat_args(rule, given)
            y = call(name, given, TABLE[name][0].rule.params)
            y_bar = np.asarray(RNG.normal(size=np.shape(y)), np.asarray(y).dtype)[()]
            for p in rule.partials:
                v = named[p]
                none = isinstance(rule.partials[p], gast.Constant)
                if isinstance(v, np.ndarray) and v.dtype == np.float32 and not none:
                    got = contribution(rule, named, y, y_bar, p)
                    assert np.asarray(got).dtype == np.float32, (name, p)
                    assert got.shape == v.shape


def narrow(a):
    """A float array, or a tuple of them, in float32."""
    if isinstance(a, tuple):
        return tuple(map(narrow, a))
    return a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype == np.float64 else a


def test_conventions():
    """Ties, kinks and zeros as the documents promise."""
    x = np.array([1.0, 3.0, 3.0])
    rule = lookup("np.max", (type_of(x),))
    np.testing.assert_array_equal(contribution(rule, {"a": x, "axis": None, "keepdims": False}, 3.0, 1.0, "a"), [0, 0.5, 0.5])
    assert evaluate(lookup("np.maximum", ()).partials["x1"], x1=2.0, x2=2.0) == 0.5
    clip = lookup("np.clip", (WEAK_FLOAT,) * 3)
    assert [evaluate(clip.partials[p], a=1.0, a_min=0.0, a_max=1.0) for p in ("a", "a_min", "a_max")] == [0.5, 0, 0.5]
    assert evaluate(lookup("np.abs", ()).partials["x"], x=0.0) == 0
    assert evaluate(lookup("np.hypot", ()).partials["x1"], x1=0.0, x2=0.0, y=0.0) == 0
    assert runtime.pow_dx(0.0, 0) == 0 and runtime.pow_dp(0.0, 2.0) == 0 and runtime.pow_dx(-2.0, 3) == 12
    z = np.zeros(3)
    for name, y in (("np.linalg.norm", 0.0), ("np.std", 0.0)):
        rule = lookup(name, (type_of(z),))
        p = rule.params[0]
        np.testing.assert_array_equal(contribution(rule, {**rule.defaults, p: z}, y, 1.0, p), z)
    big = evaluate(lookup("np.logaddexp", ()).partials["x1"], x1=1000.0, x2=-1000.0)
    assert big == 1.0
    with np.errstate(divide="ignore"):
        assert np.isinf(evaluate(lookup("np.sqrt", ()).partials["x"], y=np.float64(0.0)))


def test_literal_powers():
    """x ** n for literal n never needs the logarithm, and is singular only where it is."""
    x = np.array([0.5, 2.0])
    for n in (-2, -1, -0.5, 0, 0.5, 1, 2, 3, 2.5, 4):
        rule = literal_power(n)
        got = np.broadcast_to(evaluate(rule.partials["x1"], x1=x, y=x**n), x.shape)
        np.testing.assert_allclose(got, n * x ** (n - 1.0))
        assert bool(rule.singular) == (n < 1 and n != 0)


VALUES = {
    "a64": (np.array([[0.5, 0.25]] * 2), Array("float64", 2)), "a32": (np.full(2, 0.5, np.float32), Array("float32", 1)),
    "ai": (np.array([1, 2]), Array("int64", 1)),
    "ab": (np.array([True, False]), Array("bool", 1)), "s64": (np.float64(0.5), Scalar("float64")), "s32": (np.float32(0.5), Scalar("float32")),
    "wf": (0.5, WEAK_FLOAT), "wi": (2, WEAK_INT), "wb": (True, WEAK_BOOL), "i32": (np.full(2, 2, np.int32), Array("int32", 1)),
}  # fmt: skip


def agrees(t, value):
    """Whether an inferred type describes a value."""
    if isinstance(value, np.ndarray) and value.ndim:
        return isinstance(t, Array) and (t.dtype, t.ndim) == (str(value.dtype), value.ndim) and (t.layout == "A" or value.flags.c_contiguous)
    if isinstance(value, (np.generic, np.ndarray)):
        return isinstance(t, (Scalar, Array)) and t.dtype == str(value.dtype) and not (isinstance(t, Scalar) and t.weak)
    return t == type_of(value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if n.startswith("np.")])
def test_pointwise_types(name):
    """Kind by kind, pairs of kinds for functions of two arguments."""
    n = len(TABLE[name][0].rule.params)
    for first in VALUES.values():
        for second in VALUES.values() if n > 1 else [None]:
            chosen = [first, *[second] * (n - 1)]
            args = [v for v, _ in chosen]
            try:
                value = resolve(name)(*args)
            except TypeError:
                with pytest.raises(RuleError):
                    result_type(name, [t for _, t in chosen])
                continue
            if str(np.asarray(value).dtype) == "float16":
                continue
            assert agrees(result_type(name, [t for _, t in chosen]), value), (name, chosen, value)


@pytest.mark.parametrize("name", sorted(set(CALLS) - {"np.where"}))
def test_other_types(name):
    """The types of all calls listed, in float64 and float32."""
    for args in CALLS[name]:
        for given in (args, tuple(narrow(a) for a in args)):
            params = TABLE[name][0].rule.params
            static = {p: v for p, v in zip(params, given, strict=False) if isinstance(v, int) or p in ("axis", "axes", "shape")}
            value = call(name, given, params)
            t = result_type(name, tuple(map(type_of, given)), static)
            assert agrees(t, value), (name, t, value)


def test_operator_types():
    """Python numbers stay Python numbers under operators, not under ufuncs."""
    assert operator_type("np.add", (WEAK_FLOAT, WEAK_INT)) == WEAK_FLOAT
    assert operator_type("np.divide", (WEAK_INT, WEAK_INT)) == WEAK_FLOAT
    assert operator_type("np.power", (WEAK_INT, WEAK_INT), {"x2": -1}) == WEAK_FLOAT
    assert operator_type("np.less", (WEAK_INT, WEAK_FLOAT)) == WEAK_BOOL
    assert operator_type("np.multiply", (Array("float32", 1), WEAK_FLOAT)) == Array("float32", 1)
    assert result_type("np.add", (WEAK_FLOAT, WEAK_FLOAT)) == Scalar("float64")


def test_ones():
    """Axes of length 1 by construction are known."""
    a = Array("float64", 2)
    kept = result_type("np.sum", (a, WEAK_INT, WEAK_BOOL), {"axis": 1, "keepdims": True})
    assert kept.ones == {1}
    assert result_type("np.add", (a, kept)).ones == frozenset()
    assert result_type("np.multiply", (kept, WEAK_FLOAT)).ones == {1}


def test_names():
    """Aliases and other modules' spellings have one canonical name."""
    import math as m

    assert canonical(np.absolute) == "np.abs" and canonical(np.amax) == "np.max" and canonical(np.true_divide) == "np.divide"
    assert canonical(m.exp) == "math.exp" and canonical(abs) == "abs" and canonical(np.arcsin) == canonical(getattr(np, "asin", np.arcsin))
    assert canonical(np.linalg.svd) is None and canonical([]) is None and known("np.sin") and not known("np.svd")


@pytest.mark.parametrize("name", sorted(n for n, rows in TABLE.items() if rows[0].kind == "zero" and n not in METHODS))
def test_zero_rows_exist(name):
    """Names of rows without derivative are real functions, and have no partials."""
    assert callable(resolve(name))
    assert not TABLE[name][0].rule.partials


def test_refusals():
    """What is not supported says so."""
    a1, a2 = Array("float64", 1), Array("float64", 3)
    for name, types in (("np.dot", (a2, a1)), ("np.sum", (WEAK_FLOAT,)), ("np.nosuch", (a1,)), ("np.full", (WEAK_INT, a1)), ("np.array",
    (Tuple((a1, a1)),))):
        with pytest.raises(RuleError):
            lookup(name, types)
    assert JOINS


def test_clip_between_bounds_that_have_crossed():
    """The upper bound is the result, whatever the others are."""
    rule = TABLE["np.clip"][0].rule
    for a in (3.0, 0.5, 1.0):
        named = {"a": a, "a_min": 2.0, "a_max": 1.0}
        assert np.clip(a, 2.0, 1.0) == 1.0
        assert contribution(rule, named, 1.0, 1.0, "a_min") == 0.0 and contribution(rule, named, 1.0, 1.0, "a_max") == 1.0
