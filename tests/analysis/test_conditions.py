"""Derivatives that are zero as only conditions depend on an argument are told."""

import warnings

import numpy as np
import pytest

import s2sad
from s2sad import ZeroGradientWarning


def root(a, n):
    lo, hi = 0.0, 10.0
    for _ in range(n):
        mid = 0.5 * (lo + hi)
        if mid * mid > a:
            hi = mid
        else:
            lo = mid
    return lo


def count(x):
    s = 0.0
    for v in x:
        if v > 1.0:
            s += 1.0
    return s


def step(x):
    if x > 1.0:
        return 1.0
    return 0.0


def halved(x, tol):
    while x > tol:
        x = 0.5 * x
    return x


def flagged(x):
    large = x > 1.0
    y = 2.0
    if large:
        y = 3.0
    return y


def marked(x):
    m = np.zeros(len(x))
    m[0] = x[0]
    y = 1.0
    if m[0] > 0.0:
        y = 2.0
    return y


def shown(f, args, wrt):
    """The derivative, and the warnings of two calls."""
    gradient = s2sad.grad(f, wrt=wrt, jit=False)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = gradient(*args)
        gradient(*args)
    return found, seen, gradient.explain()


TOLD = [
    (root, (2.0, 50), "a", "if mid * mid > a"), (count, (np.array([1.0, 3.0]),), "x", "if v > 1.0"), (step, (2.0,), "x", "if x > 1.0"),
    (flagged, (2.0,), "x", "if large"), (marked, (np.ones(2),), "x", "if m[0] > 0.0"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args", "name", "text"), TOLD, ids=[f.__name__ for f, *_ in TOLD])
def test_a_derivative_that_only_conditions_carry_is_zero_and_told_once(f, args, name, text):
    found, seen, explained = shown(f, args, name)
    assert not np.any(found)
    (warning,) = seen
    assert warning.category is ZeroGradientWarning and warning.filename == __file__
    for told in (str(warning.message), explained):
        assert f"`{name}` of `{f.__name__}` is zero" in told and text in told


def test_one_of_several():
    found, seen, _ = shown(halved, (2.0, 0.1), ("x", "tol"))
    assert found == (0.03125, 0.0) and ["`tol`" in str(w.message) for w in seen] == [True]


def test_compiled_and_forward_mode_and_with_the_value():
    with pytest.warns(ZeroGradientWarning):
        assert s2sad.grad(step)(2.0) == 0.0
    with pytest.warns(ZeroGradientWarning):
        assert s2sad.jvp(step, jit=False)(2.0, tangents=1.0) == (1.0, 0.0)
    with pytest.warns(ZeroGradientWarning):
        assert s2sad.value_and_grad(step, jit=False)(2.0) == (1.0, 0.0)


def raises(x, y):
    if x < 0.0:
        raise ValueError("x is negative")
    return 2.0 * y


def sized(x, y):
    if len(x) > 2:
        y = 2.0 * y
    return y


def stopped(x, y):
    if s2sad.stop_gradient(x) > 2.0:
        y = 2.0 * y
    return y


def unused(x, y):
    return 2.0 * y


def smooth(x, y):
    if x > 1.0:
        y = x * y
    return y


@pytest.mark.parametrize(("f", "x"), [(raises, 1.0), (sized, np.ones(3)), (stopped, 3.0), (unused, 1.0), (smooth, 2.0)])
def test_nothing_is_told_of_others(f, x):
    found, seen, explained = shown(f, (x, 2.0), ("x", "y"))
    assert not seen and "is zero" not in explained and found[1] == 2.0


def test_parts_of_a_structure_are_not_told_as_long_as_another_has_a_derivative():
    def f(p):
        x = p["x"]
        while x > p["tol"]:
            x = 0.5 * x
        return x

    found, seen, _ = shown(f, ({"x": 2.0, "tol": 0.1},), "p")
    assert found == {"x": 0.03125, "tol": 0.0} and not seen


def chain(x):
    return 0.5 < x < 3 and 2.0 * x or x


def inside(x):
    return 3.0 * (x and x * x)


def assigned(x):
    y = x or 1.0
    return y * y


@pytest.mark.parametrize("f", [chain, inside, assigned])
def test_and_and_or_of_floats_are_refused_as_values(f):
    with pytest.raises(s2sad.TypeInferenceError, match="chooses one of two numbers") as caught:
        s2sad.grad(f, jit=False)(2.0)
    assert caught.value.problems[0].code == "S2S501" and "if x else" in caught.value.problems[0].instead


def only_tests(x, n):
    large = x > 1.0 and n > 2
    s = 0.0
    while x and n:
        if large or not (x and n):
            s = s + x * n
        n -= 1
    return s


def test_and_and_or_as_tests_are_accepted():
    assert s2sad.grad(only_tests, jit=False)(2.0, 3) == 6.0


def test_elements_of_an_identity_matrix():
    def f(x):
        return np.sum(x) * np.eye(3)[1] @ x + np.identity(3)[2, 0] * x[0]

    x = np.array([1.0, 2.0, 4.0])
    assert np.allclose(s2sad.grad(f, jit=False)(x), [2.0, 9.0, 2.0])
