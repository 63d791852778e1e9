"""`math` and Python's builtins on numbers and arrays."""

import math

import numpy as np
import pytest
from whole import check

from s2sad import grad
from s2sad.errors import DifferentiationError

X = np.array([1.5, -0.3, 2.2, 0.7, 1.9])


def real(x):
    a = math.log(x, 3.0) + math.fmod(7.3, x) + math.remainder(5.1, x) + math.hypot(x, 2.0, 3.0 * x) + math.hypot(x) + math.pow(x, 2.5)
    return a + math.cbrt(x) + math.exp2(x) + math.gamma(x) + math.lgamma(x) + math.erf(x) + math.erfc(x) + math.dist((x, 1.0), [2.0, x * x])


def pairs(x):
    fraction, whole = math.modf(-x)
    m, e = math.frexp(x)
    q, r = divmod(x * 7, 1.3)
    both = divmod(x, 0.7)
    return fraction * 2 + whole * x + m * e + q * x + r * r + divmod(5.0, x)[1] * both[1] + math.modf(x)[0] + math.ldexp(x, e)


def integers(x):
    s = 0.0
    for k in range(6):
        s += x * pow(2, k) * math.comb(6, k) / math.factorial(k) + math.gcd(12, 18, k) * x + math.lcm(4, k, 6) * x * x
        s += x * math.isqrt(100 * k) + math.perm(6, k) * x + math.perm(3) * (-1) ** k * x
    return s * math.nextafter(x, 2.0) + math.ulp(x) + (1.0 if math.isclose(x, 1.0, rel_tol=0.5) else x)


def modulo(x):
    return (-5.3) % x + 5.3 % -x + (x * x) % 0.7 - x % -0.3 + (-x) // 0.4 * x


def sequences(x):
    s = sum(x) * max(x) + min(x) * sum(x, start=2.0) + math.fsum(x * x) + math.prod(x) + math.prod(x, start=2.0) + math.dist(x, x * x)
    if any(x > 2.0) and not all(x > 0.0):
        s = s * x[0]
    return s


def displays(x):
    s = max((x[0], x[1], x[4])) + sum([x[0], x[1], 2.0]) * min([x[2], x[3]]) + max(x.shape) * x[0]
    return s * sum((x[3],)) if any((x[0] > 1.0, x[1] > 1.0)) and all([x[0], x[1]]) else x[0]


@pytest.mark.parametrize("jit", [False, True])
def test_numbers(jit):
    for f in (real, pairs, integers):
        for x in (1.37, 0.83, 2.9) if not jit else (1.37,):
            check(f, x, jit=jit, rtol=1e-5)
    check(modulo, 1.37, jit=jit)


@pytest.mark.parametrize("jit", [False, True])
def test_sequences(jit):
    for x in (X, X.astype(np.float32)):
        check(sequences, x, jit=jit, rtol=1e-5)
        check(displays, x, jit=jit)


def test_modulo_next_to_a_multiple():
    def f(x):
        return 1.0 % x

    assert 1.0 % 0.1 > 0.09  # nine times 0.1 is taken away, although 1.0 / 0.1 == 10.0
    assert grad(f, jit=False)(0.1) == -9.0


def test_extremes_take_the_first_of_equals():
    def f(x):
        return max(x) + 10.0 * min(x)

    np.testing.assert_array_equal(grad(f, jit=False)(np.array([2.0, 1.0, 2.0, 1.0])), [1, 10, 0, 0])
    for empty in (np.zeros(0), np.zeros(0, np.float32)):
        with pytest.raises(ValueError, match="empty"):
            grad(f, jit=False)(empty)


def test_empty_sums():
    def f(x):
        return sum(x) + math.fsum(x) + math.prod(x)

    assert grad(f, jit=False)(np.zeros(0)).shape == (0,)
    np.testing.assert_array_equal(grad(f, jit=False)(np.array([3.0])), [3.0])


def test_what_does_not_fit():
    def power(x, n):
        return x * 2**n

    assert grad(power, jit=False)(1.0, 62) == 2.0**62
    with pytest.raises(OverflowError, match="64 bits"):
        grad(power, jit=False)(1.0, 64)
    with pytest.raises(ValueError, match="float"):
        grad(power, jit=False)(1.0, -1)

    def rows(x):
        return sum(x)

    with pytest.raises(DifferentiationError, match="np.sum"):
        grad(rows, jit=False)(np.ones((2, 2)))
