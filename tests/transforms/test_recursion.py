"""Recursive functions: gradients against differences, values against Python, and what is refused."""

import copy
import math
import sys

import numpy as np
import pytest

from s2sad import DifferentiationError, grad, jvp, value_and_grad
from tests.transforms import recursive as R

CASES = [pytest.param(f, wrt.split(), args, id=f"{f.__name__}-{k}") for f, wrt, all_args in R.EXAMPLES for k, args in enumerate(all_args)]


def difference(f, args, k, direction):
    """The derivative of f in a direction of its k-th argument, by differences in float64 with Richardson's extrapolation."""
    def at(h):
        new = [np.float64(a) if isinstance(a, np.float32) else a.astype(float) if isinstance(a, np.ndarray) and a.dtype == np.float32 else
               copy.deepcopy(a) for a in args]
        new[k] = new[k] + h * direction
        return float(f(*new))

    def central(h):
        return (at(h) - at(-h)) / (2.0 * h)

    h = 1e-3
    d = [[central(h / 2**j)] for j in range(4)]
    for j in range(1, 4):
        for i in range(1, j + 1):
            d[j].append((4**i * d[j][i - 1] - d[j - 1][i - 1]) / (4**i - 1))
    return d[3][3]


def check(f, wrt, args, jit):
    code = f.__code__
    at = [code.co_varnames.index(w) for w in wrt]
    g = value_and_grad(f, wrt=tuple(wrt), jit=jit)
    given = copy.deepcopy(args)
    for _ in range(2):  # the second call finds what the first has left
        value, bars = g(*given)
        for a, b in zip(given, args, strict=True):
            np.testing.assert_array_equal(a, b)
        want = f(*copy.deepcopy(args))
        single = any(getattr(a, "dtype", None) == np.float32 for a in args)
        np.testing.assert_allclose(value, want, rtol=1e-5 if single else 1e-13)
        rng = np.random.default_rng(1)
        for k, bar in zip(at, bars, strict=True):
            a = args[k]
            assert np.shape(bar) == np.shape(a)
            assert getattr(bar, "dtype", float) == getattr(a, "dtype", float)
            direction = rng.normal(size=np.shape(a)) if np.ndim(a) else 1.0
            got = float(np.sum(bar * direction))
            np.testing.assert_allclose(got, difference(f, args, k, direction), rtol=2e-4 if single else 1e-7, atol=1e-4 if single else 1e-8)


@pytest.mark.parametrize("f,wrt,args", CASES)
def test_gradient(f, wrt, args):
    check(f, wrt, args, jit=False)


@pytest.mark.parametrize("f", [R.fibonacci, R.transformed, R.early], ids=lambda f: f.__name__)
def test_compiled(f):
    wrt, args = next((w, a) for g, w, a in R.EXAMPLES if g is f)
    check(f, wrt.split(), args[0], jit=True)


def test_primal_compiled():
    p = grad(R.fibonacci, wrt="a").primal
    assert p(0.4, 1.1, 7) == pytest.approx(R.fibonacci(0.4, 1.1, 7), rel=1e-14)
    a = R.U.copy()
    b = R.U.copy()
    assert grad(R.own_arg).primal(a, 3) == pytest.approx(R.own_arg(b, 3), rel=1e-14)
    np.testing.assert_array_equal(a, b)


# --- errors of the program -----------------------------------------------------------------


@pytest.mark.parametrize("jit", [False, True])
def test_the_programs_own_exception(jit):
    with pytest.raises(ValueError, match="n is -1"):
        grad(R.guarded, jit=jit)(0.5, -1)


def out_of_range(a, k):
    return 0.0 if k < 0 else a[k + 1] * out_of_range(a, k - 1)


@pytest.mark.parametrize("jit", [False, True])
def test_subscripts_are_checked(jit):
    with pytest.raises(IndexError):
        grad(out_of_range, jit=jit)(np.ones(3), 2)


def endless(x, n):
    return x if n == 0 else x * endless(x, n + 1)


@pytest.mark.parametrize("jit", [False, True])
def test_endless_recursion_raises(jit):
    with pytest.raises(RecursionError):
        grad(endless, jit=jit)(0.5, 1)


def chain(x, n):
    return x if n == 0 else 0.999 * chain(x, n - 1) + math.sin(x)


def test_as_deep_as_python_goes():
    x_bar = grad(chain)(0.3, 950)
    assert x_bar == pytest.approx(difference(chain, (0.3, 950), 0, 1.0), rel=1e-8)


def test_work_is_linear_in_the_number_of_calls():
    """Every call is made once in each sweep: not again by each of its callers."""
    g = grad(chain, jit=False)
    g(0.3, 1)
    counts = {}
    for n in (10, 20, 40):
        seen: list[str] = []

        def note(frame, event, _, seen=seen):
            if event == "call":
                seen.append(frame.f_code.co_name)

        sys.setprofile(note)
        try:
            g(0.3, n)
        finally:
            sys.setprofile(None)
        counts[n] = seen.count("chain_forward"), seen.count("chain_reverse")
    assert counts == {n: (n + 1, n + 1) for n in (10, 20, 40)}


def test_explain_names_the_stacks():
    g = grad(R.fibonacci, wrt="a", jit=False)
    g(0.4, 1.1, 3)
    assert "`fibonacci_out_2` of every call goes to `saved_floats`; 8*calls bytes" in g.explain()


# --- refusals ---------------------------------------------------------------------------


def gives_back(a, n):
    return a if n == 0 else gives_back(a * 2.0, n - 1)


def sum_of_given_back(x):
    return np.sum(gives_back(x, 2))


def forever(x, n):
    return x * forever(x, n - 1)


def doubled_into(a, b, n):
    if n > 0:
        b[n - 1] = 2.0 * a[n - 1]
        doubled_into(a, b, n - 1)


def same_twice(x):
    a = x.copy()
    doubled_into(a, a, a.size)
    return np.sum(a)


def overlapping(x):
    a = x.copy()
    doubled_into(a[1:], a[:-1], a.size - 1)
    return np.sum(a)


def more_axes(a, n):
    return np.sum(a) if n == 0 else more_axes(a[None], n - 1)


def sum_of(xs, n):
    return 0.0 if n == 0 else xs[n - 1] + sum_of(xs, n - 1)


def of_list(x):
    xs = [x[0]]
    xs.append(x[1])
    return sum_of(xs, 2)


def several_names(x, n):
    a = x * 2.0
    b = x * 3.0
    c = a if n > 0 else b
    doubled_into(x, c, x.size)
    return np.sum(c)


REFUSED = [
    (sum_of_given_back, (R.U,), "`gives_back`, which calls itself, returns an array that shares memory with its argument `a`"),
    (forever, (1.0, 3), "`forever` returns nothing but what a call of itself returns"),
    (same_twice, (R.U,), "`a` and `b` of `doubled_into` share memory"),
    (overlapping, (R.U,), "`a` and `b` of `doubled_into` share memory"),
    (more_axes, (R.U, 1), "ever new types"),
    (of_list, (R.U,), "`sum_of`, which calls itself, is given list"),
    (several_names, (R.U, 1), "`c`"),
]


@pytest.mark.parametrize("f,args,text", REFUSED, ids=[f.__name__ for f, _, _ in REFUSED])
def test_refused(f, args, text):
    with pytest.raises(DifferentiationError) as caught:
        grad(f, wrt=f.__code__.co_varnames[0], jit=False)(*args)
    assert text in str(caught.value)
    assert all(p.place is not None and p.instead for p in caught.value.problems)


def test_forward_mode_is_refused():
    with pytest.raises(DifferentiationError, match="forward mode does not go through"):
        jvp(R.power, wrt="x", jit=False)(1.3, 4, tangents=1.0)
