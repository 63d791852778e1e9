"""Functions of numbers and sequences: compiled, they give what Python gives."""

import math

import numpy as np
import pytest
from numba import njit

from s2sad.runtime import (
    comb,
    dist,
    factorial,
    fmod,
    fsum,
    ieee_remainder,
    int_power,
    is_close,
    isqrt,
    lcm,
    modf_fraction,
    modf_whole,
    perm,
    sum_in_order,
    ulp,
)  # fmt: skip

VALUES = [0.0, -0.0, 0.5, 1.0, -1.5, 2.5, 7.0, -7.25, 1e-310, 1e300, 5e-324, 0.1, 123456789.125]


@njit(error_model="numpy")
def of_pairs(x, y):
    return fmod(x, y), ieee_remainder(x, y), is_close(x, y), is_close(x, y, rel_tol=0.3), is_close(x, y, abs_tol=0.6)


@njit
def of_one(x):
    return modf_fraction(x), modf_whole(x), ulp(x)


@njit
def of_ints(n, k):
    return comb(n, k), perm(n, k), lcm(n, k), isqrt(n * k)


@njit
def of_arrays(a, b):
    return fsum(a), dist(a, b), sum_in_order(a)


def same(a, b):
    """Equal, with the sign of zeros."""
    return a == b and math.copysign(1, a) == math.copysign(1, b) or a != a and b != b


def test_numbers():
    for x in VALUES:
        assert all(map(same, of_one(x), (*math.modf(x), math.ulp(x)))), x
        for y in VALUES:
            if y:
                got = of_pairs(x, y)
                want = math.fmod(x, y), math.remainder(x, y), math.isclose(x, y), math.isclose(x, y, rel_tol=0.3), math.isclose(x, y, abs_tol=0.6)
                assert all(map(same, got, want)), (x, y, got, want)
    assert of_one(math.inf)[:2] == math.modf(math.inf) and of_pairs(1.5, math.inf)[:2] == (1.5, 1.5)
    assert of_pairs(-1.5, -1.0)[1] == math.remainder(-1.5, -1.0)


def test_integers():
    for n in range(12):
        for k in range(12):
            assert of_ints(n, k) == (math.comb(n, k), math.perm(n, k), math.lcm(n, k), math.isqrt(n * k))
    assert comb(62, 31) == math.comb(62, 31) and factorial(20) == math.factorial(20)
    for n in (0, 1, 2**52 + 1, 2**62, 2**63 - 1, 3037000499**2, 3037000499**2 - 1):
        assert isqrt(n) == math.isqrt(n)
    for call in (lambda: comb(70, 35), lambda: factorial(21), lambda: perm(40, 20), lambda: lcm(2**62, 3), lambda: int_power(3, 40)):
        with pytest.raises(OverflowError, match="64 bits"):
            call()
    assert [int_power(-3, 3), int_power(-1, 5), int_power(0, 0), int_power(2, 62)] == [-27, -1, 1, 2**62]


def test_sums():
    rng = np.random.default_rng(1)
    for a in (np.array([1e100, 1.0, -1e100, 1e-3]), rng.normal(size=400) * 10.0 ** rng.integers(-200, 200, 400), np.zeros(0), np.full(9, 0.1)):
        b = rng.normal(size=a.size)
        exact, distance, plain = of_arrays(a, b)
        assert exact == math.fsum(a) and plain == sum(a)
        assert math.isclose(distance, math.dist(a, b), rel_tol=1e-14)
    single = rng.normal(size=100).astype(np.float32)
    got = of_arrays(single, single)
    assert got[2] == sum(single) and got[0] == math.fsum(single)
