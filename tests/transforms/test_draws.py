"""Draws from a Generator argument: the same numbers, once, in the order of the program; derivatives by the parameters."""

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from s2sad.errors import DifferentiationError

X = np.array([0.7, 1.3, 0.4])


def scalars(x, rng):
    z = rng.standard_normal()
    s = x[0] * z + rng.normal(x[1], x[2] * x[0]) * rng.uniform(x[0], x[1] + 2.0)
    s += rng.exponential(x[2]) * rng.lognormal(0.1 * x[0], x[1]) + rng.random() * x[0] * x[0]
    return s * rng.normal(size=2)[1]


def in_a_loop(x, rng):
    y = x[0]
    for _ in range(5):
        y = np.sin(y) + x[1] * rng.normal() * y
        if y > 0.5:
            y = y * rng.random()
    return y


def until(x, rng):
    y = x[0]
    while rng.random() < 0.8:
        y = y * x[1] + rng.normal(0.0, x[2]) * y
    return y


def arrays(x, rng):
    a = rng.normal(x, 0.5) + rng.uniform(0.0, x, size=3)
    b = rng.normal(x[:, None], x) * rng.standard_normal((3, 3))
    c = rng.exponential(scale=x, size=x.shape)
    return np.sum(a * b) + np.sum(c * c) + np.sum(rng.random(size=(2, 3)) * x)


def integers(x, rng):
    k = rng.integers(3)
    j = rng.integers(1, high=3, size=4)
    batch = rng.choice(x, size=2) * rng.permutation(x)[:2]
    p = rng.permutation(3)
    s = x[k] * x[j[0]] + np.sum(x[j] ** 2) + np.sum(batch) + x[p[0]] * x[p[1]] ** 2
    return s * rng.choice(3) + rng.choice(x)


def unused(x, rng):
    rng.random(7)
    rng.normal(0.0, 1.0, 3)
    k = 0
    for _ in range(3):
        k = k + rng.integers(10)
    return x[0] * x[1]


def dropout(x, rng):
    h = x
    for _ in range(3):
        keep = rng.random(x.size) < 0.5
        h = np.tanh(np.where(keep, h * 2.0, 0.0) + 0.1 * h)
    return np.sum(h * x)


def step(y, s, rng):
    return y + s * rng.standard_normal(3)


def helper(x, rng):
    y = x.copy()
    for _ in range(4):
        y = np.cos(step(y, x[1], rng))
    return np.sum(y)


FUNCTIONS = [scalars, in_a_loop, until, arrays, integers, unused, dropout, helper]


def check(f, jit, seed, x=X):
    first, second, plain, third = (np.random.default_rng(seed) for _ in range(4))
    got = grad(f, jit=jit)(x, first)
    value, again = value_and_grad(f, jit=jit)(x, second)
    want = f(x, plain)
    np.testing.assert_allclose(value, want, rtol=1e-13)
    np.testing.assert_array_equal(got, again)
    states = [g.bit_generator.state for g in (first, second, plain)]
    assert states[0] == states[1] == states[2]
    differences = []
    for k in range(x.size):
        ends = []
        for h in (1e-6, -1e-6):
            moved = x.copy()
            moved[k] += h
            ends.append(f(moved, np.random.default_rng(seed)))
        differences.append((ends[0] - ends[1]) / 2e-6)
    np.testing.assert_allclose(got, differences, rtol=2e-6, atol=1e-7)
    along = np.array([0.3, -1.0, 0.5])
    _, dot = jvp(f, jit=jit)(x, third, tangents=along)
    np.testing.assert_allclose(dot, got @ along, rtol=1e-11)
    assert third.bit_generator.state == states[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient(f, seed):
    check(f, False, seed)


@pytest.mark.parametrize("f", [until, integers], ids=lambda f: f.__name__)
def test_compiled(f):
    check(f, True, 1)


def test_the_reverse_sweep_never_draws():
    text = grad(dropout, jit=False).source(X, np.random.default_rng(1))
    forward, reverse = text.split("# --- reverse sweep ---")
    assert forward.count("rng.random(") == 1 and "rng." not in "\n".join(line.partition("#")[0] for line in reverse.splitlines())


def test_float32_parameters_draw_in_double():
    def f(x, rng):
        return rng.normal(x[0], x[1])

    x = np.array([0.5, 0.25], np.float32)
    value, got = value_and_grad(f, jit=False)(x, np.random.default_rng(1))
    assert value == f(x, np.random.default_rng(1)) and got.dtype == np.float32
    np.testing.assert_allclose(got, [1.0, np.random.default_rng(1).standard_normal()], rtol=1e-6)


def test_negative_scale():
    def f(x, rng):
        return rng.normal(0.0, x)

    with pytest.raises(ValueError, match="scale < 0"):
        grad(f, jit=False)(-1.0, np.random.default_rng(1))


def legacy(x):
    return x * np.random.normal()


def gamma_draw(x, rng):
    return x * rng.gamma(2.0)


def shuffled(x, rng):
    y = x.copy()
    rng.shuffle(y)
    return y[0]


@pytest.mark.parametrize("f, args, says", [(legacy, (1.0,), "default_rng"), (gamma_draw, (1.0, np.random.default_rng(1)), "gamma"),
                                           (shuffled, (X, np.random.default_rng(1)), "shuffle")])
def test_refused(f, args, says):
    with pytest.raises(DifferentiationError, match=says):
        grad(f, jit=False)(*args)


def test_a_generator_has_no_derivative():
    with pytest.raises(DifferentiationError, match="Generator"):
        grad(scalars, wrt="rng", jit=False)(X, np.random.default_rng(1))
