"""Arrays that only give their shape are not made; shapes that do not fit still raise."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_gradients


def smoothed(a, w, n):
    for _ in range(n):
        a[1:-1] = (a[:-2] + a[2:]) / 2.0
    return np.sum(a * w)


def column_and_row(x, y):
    t = -(x[:, np.newaxis] * 2.0)
    return np.sum(t * y)


def both_ways(x, w):
    y = x * w
    z = y + 1.0
    return np.sum(z) + np.sum(y * y)


def rebound(x, w):
    x = x[1:]
    return np.sum(x * w)


def in_loop(x, n):
    s = 0.0
    for k in range(1, n):
        s += np.sum(x[:k] * 2.0)
    return s


def scaled(x, c):
    y = x.copy()
    for i in range(y.size):
        y[i] = y[i] * c
    return np.sum(y - 1.0)


X, W = np.linspace(0.5, 1.5, 6), np.linspace(1.0, 2.0, 6)


@pytest.mark.parametrize(("f", "args"), [
    (smoothed, (X, W, 3)), (smoothed, (X, 2.0 * np.ones(1), 3)),
    (smoothed, (np.ones((1, 6))[0, :0], np.ones(1), 3)), (smoothed, (X, np.ones((4, 6)), 2)),
    (smoothed, (X.astype(np.float32), W.astype(np.float32), 2)), (smoothed, (X.astype(np.float32), W, 2)), (smoothed, (X[::-2], W[:3], 1)),
    (column_and_row, (X, np.ones((6, 3)))), (column_and_row, (X[:1], np.ones((4, 3)))), (both_ways, (X, W)),
    (rebound, (X, W[1:])), (rebound, (X, W[:1])),
    (in_loop, (X, 5)), (scaled, (X, 3.0)),
])  # fmt: skip
def test_gradients(f, args):
    check_gradients(f, *args, jit=False)
    check_gradients(f, *args, wrt=(0, 1) if not isinstance(args[1], int) else 0, jit=False)


def test_compiled():
    check_gradients(smoothed, X, W, 3, wrt=(0, 1))
    check_gradients(smoothed, X.astype(np.float32), W.astype(np.float32), 3)


def test_the_forward_sweep_is_gone_and_the_argument_is_not_copied():
    text = s2sad.grad(smoothed).source(X, W, 3)
    assert text.count("for ") == 1 and "a.copy()" not in text


@pytest.mark.parametrize("jit", [False, True])
def test_shapes_that_do_not_fit_raise(jit):
    with pytest.raises(ValueError):
        s2sad.grad(smoothed, jit=jit)(X, W[:4], 2)


def test_the_argument_is_left_alone():
    x = X.copy()
    s2sad.grad(smoothed, wrt=(0, 1), jit=False)(x, W, 2)
    np.testing.assert_array_equal(x, X)
