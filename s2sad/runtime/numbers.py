"""Functions of `math` that Numba lacks, and Python's builtins on sequences of numbers, in Python's order of operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype

from s2sad.runtime.core import compiled_as, jitable, typed, unliteral

LARGEST = 2**63 - 1
TOO_LARGE = "the result does not fit into 64 bits: work with floats, for example through math.lgamma"


# --- functions of numbers ------------------------------------------------------------------------


def fmod(x: Any, y: Any) -> float:
    """`math.fmod`."""
    return math.fmod(x, y)


@compiled_as(fmod)
def _fmod(x: Any, y: Any) -> float:
    return float(np.fmod(float(x), float(y)))


def ieee_remainder(x: Any, y: Any) -> float:
    """`math.remainder`: the distance of x from the nearest multiple of y, the even one of two."""
    return math.remainder(x, y)


@compiled_as(ieee_remainder)
def _ieee_remainder(x: Any, y: Any) -> Any:
    x, y = float(x), abs(float(y))
    if math.isinf(y) and math.isfinite(x):
        return x
    a = abs(x)
    below = np.fmod(a, y)
    above = y - below
    if below < above:
        r = below
    elif below > above:
        r = -above
    else:
        r = below - 2.0 * np.fmod(0.5 * (a - below), y)
    return math.copysign(1.0, x) * r


def modf_fraction(x: Any) -> float:
    """The first result of `math.modf`."""
    return math.modf(x)[0]


@compiled_as(modf_fraction)
def _modf_fraction(x: Any) -> Any:
    x = float(x)
    return math.copysign(0.0 if math.isinf(x) else np.fmod(x, 1.0), x)


def modf_whole(x: Any) -> float:
    """The second result of `math.modf`."""
    return math.modf(x)[1]


@compiled_as(modf_whole)
def _modf_whole(x: Any) -> float:
    return float(np.trunc(float(x)))


@jitable
def frexp_exponent(x: Any) -> int:
    """The second result of `math.frexp`."""
    return math.frexp(x)[1]


def is_close(a: Any, b: Any, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    """`math.isclose`."""
    return math.isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)


@compiled_as(is_close)
def _is_close(a: Any, b: Any, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> bool:
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return bool(abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol))


def ulp(x: Any) -> float:
    """`math.ulp`."""
    return math.ulp(x)


@compiled_as(ulp)
def _ulp(x: Any) -> Any:
    x = abs(float(x))
    if not math.isfinite(x):
        return x
    above = math.nextafter(x, math.inf)
    return x - math.nextafter(x, -math.inf) if math.isinf(above) else above - x


@jitable
def isqrt(n: int) -> int:
    """`math.isqrt`."""
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    r = int(math.sqrt(n))
    while r * r > n or r > 3037000499:
        r -= 1
    while r < 3037000499 and (r + 1) * (r + 1) <= n:
        r += 1
    return r


@jitable
def lcm(a: int, b: int) -> int:
    """`math.lcm` of two numbers."""
    if a == 0 or b == 0:
        return 0
    a, b = abs(a), abs(b)
    k = a // math.gcd(a, b)
    if k > LARGEST // b:
        raise OverflowError(TOO_LARGE)
    return k * b


@jitable
def perm(n: int, k: int) -> int:
    """`math.perm` of two numbers."""
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    out = 1
    for i in range(k):
        if out > LARGEST // (n - i):
            raise OverflowError(TOO_LARGE)
        out *= n - i
    return out


@jitable
def factorial(n: int) -> int:
    """`math.factorial`."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    if n > 20:
        raise OverflowError(TOO_LARGE)
    out = 1
    for i in range(2, n + 1):
        out *= i
    return out


@jitable
def comb(n: int, k: int) -> int:
    """`math.comb`."""
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    k = min(k, n - k)
    out = 1
    for i in range(k):
        # out * (n - i) is a multiple of i + 1; divided first, nothing exceeds the result
        common = math.gcd(out, i + 1)
        factor = (n - i) // ((i + 1) // common)
        out //= common
        if out > LARGEST // factor:
            raise OverflowError(TOO_LARGE)
        out *= factor
    return out


@jitable
def int_power(base: int, n: int) -> int:
    """`base ** n` of Python ints. Raises ValueError where Python would return a float, and OverflowError beyond 64 bits."""
    if n < 0:
        raise ValueError("an int to a negative power is a float: write float(base) ** n")
    out = 1
    if base == 0 or base == 1:
        return base if n > 0 else 1
    if base == -1:
        return 1 if n % 2 == 0 else -1
    for _ in range(n):
        if abs(out) > LARGEST // abs(base):
            raise OverflowError("the power does not fit into 64 bits: write float(base) ** n")
        out *= base
    return out


@jitable
def place(k: int, n: int) -> int:
    """Where the k-th item of a list of n items is: negative numbers count from the end. Raises IndexError as the list does."""
    if k < 0:
        k += n
    if k < 0 or k >= n:
        raise IndexError("list index out of range")
    return k


# --- functions of sequences ----------------------------------------------------------------------


@jitable
def first_max(values: Any) -> int:
    """Where Python's `max` finds its result: the first of equals."""
    if len(values) == 0:
        raise ValueError("max() arg is an empty sequence")
    at = 0
    for k in range(1, len(values)):
        if values[k] > values[at]:
            at = k
    return at


@jitable
def first_min(values: Any) -> int:
    """Where Python's `min` finds its result: the first of equals."""
    if len(values) == 0:
        raise ValueError("min() arg is an empty sequence")
    at = 0
    for k in range(1, len(values)):
        if values[k] < values[at]:
            at = k
    return at


def sum_in_order(values: Any, start: Any = 0) -> Any:
    """Python's `sum` of an array (or tuple): one addition after the other."""
    return sum(values, start)


@typed(sum_in_order)
def _sum_in_order(values: Any, start: Any = 0) -> Any:
    cast = _first(values, start)

    def impl(values: Any, start: Any = 0) -> Any:
        total = cast(start)
        for k in range(len(values)):
            total += values[k]
        return total

    return impl


def prod_in_order(values: Any) -> Any:
    """`math.prod` of an array (or tuple)."""
    return math.prod(values)


@typed(prod_in_order)
def _prod_in_order(values: Any) -> Any:
    cast = _first(values, 1)

    def impl(values: Any) -> Any:
        total = cast(1)
        for k in range(len(values)):
            total *= values[k]
        return total

    return impl


def _first(values: Any, start: Any) -> Any:
    """The type in which a sum is begun: that of the entries, or of a float that it starts with."""
    entry = as_dtype(values.dtype)
    begun = as_dtype(unliteral(start)) if isinstance(start, types.Type) and not isinstance(start, types.Omitted) else entry
    return (np.result_type(entry, begun) if begun.kind == "f" else np.dtype(np.int64) if entry.kind == "b" else entry).type


@jitable
def any_true(values: Any) -> bool:
    """Python's `any`."""
    for k in range(len(values)):
        if values[k]:
            return True
    return False


@jitable
def all_true(values: Any) -> bool:
    """Python's `all`."""
    for k in range(len(values)):
        if not values[k]:
            return False
    return True


def fsum(values: Any) -> float:
    """`math.fsum`: the sum of an array, rounded once."""
    return math.fsum(values)


@compiled_as(fsum)
def _fsum(values: Any) -> float:
    # parts of the exact sum that do not overlap, smallest first; 53 bits each of 2100 at most
    parts = np.empty(64)
    n = 0
    special = 0.0
    for i in range(len(values)):
        x = float(values[i])
        if not math.isfinite(x):
            special += x
            continue
        left = 0
        for j in range(n):
            y = parts[j]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                parts[left] = low
                left += 1
            x = high
        parts[left] = x
        n = left + 1
    if special != 0.0:
        return special
    if n == 0:
        return 0.0
    n -= 1
    high, low = parts[n], 0.0
    while n > 0:
        n -= 1
        x, y = high, parts[n]
        high = x + y
        low = y - (high - x)
        if low != 0.0:
            break
    # half a unit left over: what follows says which way to round
    if n > 0 and ((low < 0.0 and parts[n - 1] < 0.0) or (low > 0.0 and parts[n - 1] > 0.0)):
        y = 2.0 * low
        x = high + y
        if y == x - high:
            high = x
    return float(high)


def dist(p: Any, q: Any) -> float:
    """`math.dist` of two arrays."""
    return math.dist(p, q)


@compiled_as(dist)
def _dist(p: Any, q: Any) -> float:
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    largest = 0.0
    for k in range(len(p)):
        d = abs(float(p[k]) - float(q[k]))
        if math.isinf(d):
            return math.inf
        if not d <= largest:
            largest = d
    if largest == 0.0 or largest != largest:
        return largest
    total = 0.0
    for k in range(len(p)):
        d = (float(p[k]) - float(q[k])) / largest
        total += d * d
    return largest * math.sqrt(total)
