"""Elementary functions in vector form: their errors over the whole range, special values, and the same bits wherever a number stands."""

import math
import re

import numpy as np
import pytest
from numba import njit

from s2sad.runtime import libmvec, vector

UNARY = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
         "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh")
#: Bounds in units in the last place; libmvec's own claim is 4.
ULP = {"float64": 4.0, "float32": 4.0}
INSIDE = {"arcsin": (-1, 1), "arccos": (-1, 1), "arctanh": (-1, 1), "arccosh": (1, 1e300), "log": (0, math.inf), "log2": (0, math.inf),
          "log10": (0, math.inf), "log1p": (-1, math.inf)}

exact = pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long double is not longer than double here")


def loop(name):
    """A compiled loop that applies a function of the runtime."""
    function = getattr(vector, name)

    @njit(error_model="numpy")
    def apply(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    return apply


def loop_of_two(name):
    function = getattr(vector, name)

    @njit(error_model="numpy")
    def apply(x, y, out):
        for i in range(x.size):
            out[i] = function(x[i], y[i])

    return apply


LOOPS = {n: loop(n) for n in UNARY}
LOOPS_OF_TWO = {n: loop_of_two(n) for n in ("power", "arctan2")}


def numbers(dtype, count, seed=0):
    """Numbers of all magnitudes: by random bits, and evenly in some ranges."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    bits = rng.integers(0, 256, count * kind.itemsize, dtype=np.uint8).view(kind)
    evenly = [rng.uniform(-w, w, count) for w in (1.0, 10.0, 100.0, 700.0)]
    near = [c + rng.uniform(-1, 1, count) * 1e-3 for c in (-1.0, 0.0, 1.0, math.pi)]
    small = rng.uniform(-1, 1, count) * 2.0 ** rng.uniform(-1074, -1000, count)
    with np.errstate(all="ignore"):
        out = np.concatenate([bits, *(np.asarray(v).astype(kind) for v in (*evenly, *near, small))])
    return out[np.isfinite(out)]


def specials(dtype):
    f = np.finfo(dtype)
    values = [0.0, 1.0, 0.5, 2.0, 3.0, 709.0, 710.0, 745.0, 1e5, math.inf, math.nan, f.max, f.tiny, f.smallest_subnormal, f.eps, 1 - f.eps, 1 + f.eps]
    return np.array([s * float(v) for v in values for s in (1, -1)], dtype)


def ulps(got, want):
    """The errors in units of the last place of the exact results (long double), where these are finite and not denormal."""
    f = np.finfo(got.dtype)
    size = np.abs(want)
    regular = (size >= float(f.tiny)) & (size <= float(f.max)) & np.isfinite(got)
    return np.abs(got[regular] - want[regular]) / np.spacing(size[regular].astype(got.dtype))


@exact
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", UNARY)
def test_error_over_the_range(name, dtype):
    x = numbers(dtype, 20_000)
    low, high = INSIDE.get(name, (-math.inf, math.inf))
    x = x[(x.astype(np.float64) > low) & (x.astype(np.float64) < high)]
    out = np.empty_like(x)
    LOOPS[name](x, out)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x.astype(np.longdouble))
        worst = ulps(out, want).max()
        # denormal results to within their spacing, overflow where there is one
        tiny = np.abs(want) < float(np.finfo(dtype).tiny)
        huge = np.abs(want) > 1.0001 * np.longdouble(np.finfo(dtype).max)
    assert worst <= ULP[dtype]
    assert np.all(np.abs(out[tiny] - want[tiny]) <= 4 * float(np.finfo(dtype).smallest_subnormal))
    assert np.all(np.isinf(out[huge]))


@exact
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["power", "arctan2"])
def test_error_of_functions_of_two(name, dtype):
    rng = np.random.default_rng(1)
    x, y = numbers(dtype, 20_000, 1), numbers(dtype, 20_000, 2)
    n = min(x.size, y.size)
    x, y = rng.permutation(x)[:n], rng.permutation(y)[:n]
    if name == "power":
        x = np.abs(x)
    out = np.empty_like(x)
    LOOPS_OF_TWO[name](x, y, out)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x.astype(np.longdouble), y.astype(np.longdouble))
        assert ulps(out, want).max() <= ULP[dtype]


def same(got, want):
    """Equal in kind: nan with nan, infinities, zeros with their sign; other numbers nearly."""
    return np.array_equal(np.isnan(got), np.isnan(want)) and np.array_equal(np.signbit(got[got == 0]), np.signbit(want[got == 0])) \
        and np.allclose(got, want, rtol=8 * np.finfo(got.dtype).eps, atol=4 * float(np.finfo(got.dtype).smallest_subnormal), equal_nan=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", UNARY)
def test_special_values(name, dtype):
    x = specials(dtype)
    out = np.empty_like(x)
    LOOPS[name](x, out)
    with np.errstate(all="ignore"):
        assert same(out, getattr(np, name)(x)), [(a, b, c) for a, b, c in zip(x, out, getattr(np, name)(x), strict=True) if b != c]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["power", "arctan2"])
def test_special_pairs(name, dtype):
    values = specials(dtype)
    x, y = np.repeat(values, values.size), np.tile(values, values.size)
    out = np.empty_like(x)
    LOOPS_OF_TWO[name](x, y, out)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x, y)
    assert same(out, want), [(a, b, c, d) for a, b, c, d in zip(x, y, out, want, strict=True) if c != d][:5]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", UNARY)
def test_the_same_bits_at_every_place(name, dtype):
    # the vector body, the remainder, other alignments, and loops that overlap and so run one by one
    x = np.concatenate([numbers(dtype, 40), specials(dtype)])
    out = np.empty_like(x)
    LOOPS[name](x, out)
    alone = np.empty_like(x)
    for i in range(x.size):
        LOOPS[name](x[i:i + 1], alone[i:i + 1])
    assert np.array_equal(alone, out, equal_nan=True)
    for shift in range(1, 9):
        there = np.empty(x.size + 9, x.dtype)
        LOOPS[name](x[shift:], there[9 - shift:x.size + 9 - 2 * shift])
        assert np.array_equal(there[9 - shift:x.size + 9 - 2 * shift], out[shift:], equal_nan=True)
    LOOPS[name](x, x)
    assert np.array_equal(x, out, equal_nan=True)


@njit(error_model="numpy")
def of_array(x):
    return vector.tanh(x), vector.sigmoid(x), vector.power(vector.exp(x), 1.5)


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 5), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arrays(shape, dtype):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    for a in (x, np.asfortranarray(x), x[..., ::-1]):
        for got, want in zip(of_array(a), of_array.py_func(a), strict=True):
            assert got.dtype == want.dtype == dtype and got.shape == shape
            np.testing.assert_allclose(got, want, rtol=20 * np.finfo(dtype).eps)


@njit(error_model="numpy")
def of_others(k, i):
    return vector.exp(k), vector.sin(i), vector.power(k, 2.0)


def test_integers_are_numpys():
    k = np.arange(4)
    for got, want in zip(of_others(k, 3), of_others.py_func(k, 3), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-15)


@pytest.mark.skipif(not libmvec.available(), reason="no libmvec here")
def test_the_loop_is_vectorised():
    x = np.ones(8)
    LOOPS["exp"](x, np.empty(8))
    text = "\n".join(LOOPS["exp"].inspect_llvm().values())
    # in the loop, and in the scalar form
    assert len(re.findall(r"call .*<\d+ x double> @_ZGV", text)) > 1


@pytest.mark.parametrize("x, want", [(-1000.0, 0.0), (1000.0, 1.0), (0.0, 0.5), (-math.inf, 0.0), (math.inf, 1.0)])
def test_sigmoid_at_its_ends(x, want):
    assert of_array(np.full(5, x))[1].tolist() == [want] * 5
