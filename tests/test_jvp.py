"""`jvp`: shapes, dtypes, errors, rules of the user; compiled."""

import pickle

import numpy as np
import pytest

import s2sad
from s2sad import UnsupportedError, jvp
from s2sad.backend.signature import ArgumentError

K = 2.0


def stencil(u0, nu, steps):
    u = u0.copy()
    for _ in range(steps):
        un = u.copy()
        u[1:-1] += nu * (un[2:] - 2 * un[1:-1] + un[:-2])
    return u * K


def test_array_results_compiled():
    f = jvp(stencil, wrt=("u0", "nu"))
    u, v = np.sin(np.arange(8.0)), np.cos(np.arange(8.0))
    value, tangent = f(u, 0.1, 5, tangents=(v, 0.5))
    np.testing.assert_array_equal(value, stencil(u, 0.1, 5))
    h = 1e-6
    expected = (stencil(u + h * v, 0.1 + h * 0.5, 5) - stencil(u - h * v, 0.1 - h * 0.5, 5)) / (2 * h)
    np.testing.assert_allclose(tangent, expected, rtol=1e-7)
    assert f.source().index("u_dot[1:-1]") < f.source().index("add_to(u[1:-1]")
    plain = jvp(stencil, wrt=("u0", "nu"), jit=False)(u, 0.1, 5, tangents=(v, 0.5))
    np.testing.assert_allclose(plain[1], tangent, rtol=1e-14)
    # other layouts of arguments and tangents
    wide = np.repeat(u, 2)[::2]
    np.testing.assert_array_equal(f(wide, 0.1, 5, tangents=(np.repeat(v, 2)[::2], 0.5))[1], tangent)


def test_globals_are_read_at_every_call(monkeypatch):
    f = jvp(stencil, wrt=1, jit=False)
    first = f(np.arange(5.0) ** 2, 0.1, 1, tangents=1.0)[1]
    monkeypatch.setattr(f"{__name__}.K", 4.0)
    np.testing.assert_array_equal(f(np.arange(5.0) ** 2, 0.1, 1, tangents=1.0)[1], 2 * first)


def test_float32_stays():
    value, tangent = jvp(lengths)(np.ones(3, np.float32), tangents=np.ones(3))
    assert type(value) is type(tangent) is np.float32
    assert jvp(lengths, jit=False)(np.zeros(0), tangents=np.zeros(0)) == (0.0, 0.0)


def lengths(x):
    return np.sqrt(np.sum(x * x))


def identity(x):
    return x


def test_results_are_fresh():
    x, v = np.ones(2), np.ones(2)
    for r in jvp(identity)(x, tangents=v):
        assert not np.may_share_memory(r, x) and not np.may_share_memory(r, v)


def overwritten(x):
    x[0] = x[1] * x[0]
    return x[0] + x[1]


def test_arguments_are_left_alone():
    x, v = np.array([2.0, 3.0]), np.array([1.0, 10.0])
    assert jvp(overwritten, jit=False)(x, tangents=v) == (9.0, 33.0)
    assert x.tolist() == [2.0, 3.0] and v.tolist() == [1.0, 10.0]
    assert jvp(overwritten, jit=False)(x, tangents=x) == (9.0, 15.0)


def test_wrong_tangents():
    f = jvp(stencil, wrt=("u0", "nu"), jit=False)
    with pytest.raises(ArgumentError, match="tuple of 2"):
        f(np.ones(3), 0.1, 1, tangents=(np.ones(3),))
    with pytest.raises(ArgumentError, match=r"`u0` of `stencil` has shape \(2,\)"):
        f(np.ones(3), 0.1, 1, tangents=(np.ones(2), 1.0))
    with pytest.raises(ArgumentError, match="the argument is a number"):
        f(np.ones(3), 0.1, 1, tangents=(np.ones(3), np.ones(1)))
    with pytest.raises(TypeError, match="tangents"):
        f(np.ones(3), 0.1, 1)


def test_other_views_of_the_same_function():
    f = jvp(lengths)
    assert isinstance(pickle.loads(pickle.dumps(f)), s2sad.api.Jvp)
    assert repr(f) == f"<s2sad.jvp of {__name__}.lengths, wrt x>"
    assert s2sad.differentiable(lengths).jvp.mode == "tangent"
    f.warm("f8[:]")
    assert f.signatures == ("(float64[::1])",)


def opaque(x):
    return np.log1p(np.exp(x))


def uses(x):
    y = opaque(x)
    return np.sum(y * y)


def test_rules_of_the_user():
    @s2sad.adjoint_of(opaque)
    def adjoint(x, y, y_bar):
        return y_bar / (1.0 + np.exp(-x))

    f, x = jvp(uses, jit=False), np.arange(3.0)
    with pytest.raises(UnsupportedError, match="opaque has no tangent rule"):
        f(x, tangents=x)

    @s2sad.tangent_of(opaque)
    def tangent(x, y, x_dot):
        return x_dot / (1.0 + np.exp(-x))

    np.testing.assert_allclose(f(x, tangents=x + 1)[1], s2sad.grad(uses, jit=False)(x) @ (x + 1))
