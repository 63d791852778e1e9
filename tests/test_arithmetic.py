"""Arithmetic of Python numbers raises what Python raises, compiled and not; NumPy's numbers give inf and nan."""

import math

import numpy as np
import pytest

import s2sad
from s2sad.runtime import arithmetic


def mixed(x, n, m):
    y = 1.0 / x
    y /= x - 1.0
    y += n // m + x % m
    while 1.0 / (x - 2.0) > 5.0:
        x = x + 1.0
    if n > 0 and y / n > 1e9:
        y = 0.0
    return y * math.log(x) + math.sqrt(x * x + 1.0) + x**n + math.sqrt(x + 3.0)


def powers(x, p):
    return x**p + math.exp(x)


def large_powers(x, p):
    return 2.0 + x**2 * 1e-300 + (x * x**3) * 0.0 + abs(x) ** p


MIXED = [(3.0, 2, 2), (0.0, 2, 2), (1.0, 1, 1), (3.0, 1, 0), (2.0, 1, 1), (-0.5, 1, 1), (-4.0, 1, 1), (3.0, 0, 1), (0.5, -1, 2)]
POWERS = [(2.0, 1.5), (0.0, -1.0), (-1.0, 2.0), (800.0, 1.0), (0.0, 0.0), (-math.inf, 1.0), (math.inf, 1.0)]


LARGE = [(1e200, 0.5), (-1e160, 1.0), (1e120, 1.0), (-1e110, 0.0), (1e-200, -2.0), (1e-120, 2.0),
         (math.nan, 2.0), (math.inf, 2.0), (1.5, math.inf), (0.5, 1e6)]


def outcome(f, *args):
    """The value, or the class and the text of the exception."""
    try:
        return f(*args)
    except (ArithmeticError, ValueError) as e:
        return type(e), str(e)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("f", "calls"), [(mixed, MIXED), (powers, POWERS), (large_powers, LARGE)])
def test_exceptions_of_numbers(f, calls, jit):
    primal, both = s2sad.differentiable(f, jit=jit), s2sad.value_and_grad(f, jit=jit)
    for args in calls:
        expected = outcome(f, *args)
        forward = outcome(lambda *a: primal.jvp(*a, tangents=1.0), *args)
        for found in (outcome(primal, *args), *(o if isinstance(expected, tuple) else o[0] for o in (outcome(both, *args), forward))):
            assert found == (expected if isinstance(expected, tuple) else pytest.approx(expected, rel=1e-14, nan_ok=True)), args


@pytest.mark.parametrize("jit", [False, True])
def test_a_power_that_is_complex_raises(jit):
    with pytest.raises(ValueError, match="complex"):
        s2sad.differentiable(powers, jit=jit)(-1.0, 0.5)


def of_elements(x):
    return x[0] / x[1] + math.exp(x[2])


@pytest.mark.parametrize("jit", [False, True])
def test_elements_of_arrays_divide_as_numpy_does(jit):
    g = s2sad.value_and_grad(of_elements, jit=jit)
    with np.errstate(all="ignore"):
        value, gradient = g(np.array([1.0, 0.0, 0.5]))
    assert value == np.inf and gradient[0] == np.inf
    assert "div(" not in g.source()


def log_of_element(x):
    return math.log(x[0])


@pytest.mark.parametrize("jit", [False, True])
def test_functions_of_math_raise_for_elements_too(jit):
    with pytest.raises(ValueError, match="math domain error|expected a positive input"):
        s2sad.value_and_grad(log_of_element, jit=jit)(np.zeros(1))


def proven(x):
    return 1.0 / (1.0 + math.exp(-x)) + math.sqrt(x * x) + x**1 + x / 2.0


def test_what_certainly_fits_is_not_checked():
    text = s2sad.differentiable(proven, jit=False).source(1.0)
    assert "div" not in text and "math_sqrt" not in text and "power" not in text


@pytest.mark.parametrize("name", sorted(arithmetic.DOMAINS))
def test_domains(name):
    """Every function of the table in and out of its domain, in plain Python and compiled."""
    from numba import njit

    function, ours = getattr(math, name), getattr(arithmetic, f"math_{name}")
    compiled = njit(lambda x: ours(x))
    for x in (-math.inf, -1e4, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 709.7, 709.8, 710.4, 710.5, 1e4, math.inf, math.nan):
        expected = outcome(function, x)
        for f in (ours, compiled):
            found = outcome(f, x)
            assert type(found) is type(expected)
            assert found == expected if isinstance(found, tuple) else found == pytest.approx(expected, rel=1e-14, nan_ok=True), (name, x)


def entries_of_lists(a, b):
    xs = [1.0, a]
    xs[1] /= b
    return xs[1] + xs[0] / a


@pytest.mark.parametrize("jit", [False, True])
def test_entries_of_lists_are_python_numbers(jit):
    for args in ((1.0, 0.0), (0.0, 1.0), (2.0, 4.0)):
        expected = outcome(entries_of_lists, *args)
        assert outcome(s2sad.differentiable(entries_of_lists, jit=jit), *args) == expected
        found = outcome(s2sad.value_and_grad(entries_of_lists, jit=jit), *args)
        assert (found if isinstance(expected, tuple) else found[0]) == expected


def added_in_place(a, y):
    a += np.sin(y)
    return np.sum(a)


def powers_in_place(a, y):
    b = a.copy()
    b **= y
    b[:1] //= 0.5
    return np.sum(b)


@pytest.mark.parametrize("f", [added_in_place, powers_in_place])
def test_shapes_that_do_not_fit_raise_in_place(f):
    """Compiled code would read what lies behind the array."""
    both = s2sad.differentiable(f, wrt=(0, 1))
    for shape in ((0,), (2,), (3,), (1,)):
        for a in (np.arange(1.0, 4.0), np.ones((2, 3))):
            y = np.ones(shape)
            expected = outcome(f, a.copy(), y)
            modes = [lambda a, y: both(a.copy(), y), lambda a, y: both.jvp(a, y, tangents=(a, y))[0]]
            for mode in modes + [lambda a, y: both.value_and_grad(a, y)[0]] * (f is added_in_place):
                found = outcome(mode, a, y)
                assert (found[0] is expected[0]) if isinstance(expected, tuple) else found == pytest.approx(expected)


# -- ints: those of Python know no bounds, so that one that does not fit into 64 bits is an error -------------------------


def factorial(x, n):
    p = 1
    for i in range(1, n + 1):
        p *= i
    return x * p


def fibonacci(x, n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return x * a


def congruential(x, n):
    seed = n
    s = 0.0
    for _ in range(5):
        seed = (seed * 1103515245 + 12345) % 2147483648
        s += x * (seed % 7)
    return s


def doubled(x, n):
    k = 1
    while n > 0:
        k = k + k
        n -= 1
    return x / k + x * (k << n) - x * (k - 1)


def powers_of_ints(x, n):
    return x * (n**3) + x * 3 ** abs(n) + x * (n * n) * 0.5


def sums_of_squares(x, n):
    total = sum(i * i * n for i in range(4))
    big = n * n
    return x * total + x * (total - big)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("f", [factorial, fibonacci, doubled, powers_of_ints, sums_of_squares, congruential])
def test_ints_that_do_not_fit_raise(f, jit):
    both = s2sad.differentiable(f, jit=jit)
    raised = 0
    for n in (0, 1, 2, 5, 15, 20, 21, 39, 40, 62, 63, 64, 92, 93, 1000, 3_000_000_000, 2**62):
        if n > 10**6 and f in (factorial, fibonacci, doubled, powers_of_ints):
            continue
        for run in (both, lambda x, n: both.value_and_grad(x, n)[0]):
            try:
                assert run(1.0, n) == pytest.approx(f(1.0, n), rel=1e-14), n
            except OverflowError as e:
                assert "64 bits" in str(e) and n > 15
                raised += 1
    assert raised


def flat(a, n, m):
    s = 0.0
    k = 0
    for i in range(n):
        for j in range(m):
            p = i * m + j
            s += a[p] * (i * j) * a[p - k]
            k += 1
    return s / (n * len(a)) + np.sum(np.ones((n * m,)))


def test_places_and_counters_are_not_checked():
    text = s2sad.value_and_grad(flat, jit=False).source(np.ones(6), 2, 3)
    assert text.count("int_mul(") == 1 and "int_mul(n, len(a))" in text, text


def test_powers_of_math():
    def f(a, b):
        return math.pow(a, b)

    for jit in (False, True):
        g = s2sad.differentiable(f, jit=jit)
        assert g(2.0, 3.0) == 8.0 and g(math.inf, -1.0) == 0.0 and g(-2.0, 3.0) == -8.0
        for args, error in (((0.0, -1.0), ValueError), ((-1.0, 0.5), ValueError), ((10.0, 400.0), OverflowError)):
            with pytest.raises(error) as plain:
                f(*args)
            with pytest.raises(error, match=str(plain.value)):
                g(*args)
