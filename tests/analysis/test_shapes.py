"""Which arrays are known to have the same shape, and which only seem so."""

import gast
import numpy as np
import pytest

import s2sad
from s2sad.analysis import aliases as aliases_of
from s2sad.analysis import shapes as shapes_of
from s2sad.testing import check_gradients
from s2sad.transforms.example import program

SAME = [
    ("x[1:-1]", "x[2:]"), ("x[1:-1]", "x[:-2]"), ("x[1:n]", "x[1:]"), ("x[0:n - 1]", "x[1:]"), ("x[1:][1:]", "x[2:]"), ("np.zeros(n - 1)", "x[1:]"),
    ("x[k:]", "y[k:]"),
]  # fmt: skip
OTHER = [
    ("x[1:]", "x[:-2]"), ("x[:1]", "x[1:2]"), ("x[0:n - 3]", "x[3:]"), ("x[::-1]", "x[0::-1]"), ("x[k:]", "x[k + 1:]"), ("x[-1:]", "x[:1]"),
    ("x[1:]", "z[1:]"),
]  # fmt: skip


def known(a, b):
    body = f"n = len(x)\nfor k in range(3):\n    y = x.copy()\n    u = {a}\n    v = {b}\n    y[0] = u[0] + v[0]\nreturn x[0]"
    f = program(body, "x: f8[:]; z: f8[:]")
    shapes = shapes_of.analyse(f, aliases_of.analyse(f))
    bound = {s.targets[0].id: s.value for s in f.body[1].body if isinstance(s.targets[0], gast.Name)}
    return shapes.same(bound["u"], bound["v"])


@pytest.mark.parametrize(("a", "b"), SAME)
def test_same(a, b):
    assert known(a, b)
    for n in range(6):  # the claim itself, where NumPy raises no error
        for k in range(3):
            space = {"x": np.zeros(n), "y": np.zeros(n), "n": n, "k": k, "np": np}
            try:
                assert eval(a, space).shape == eval(b, space).shape
            except ValueError as e:
                assert "negative dimensions" in str(e)


@pytest.mark.parametrize(("a", "b"), OTHER)
def test_not_known_to_be_the_same(a, b):
    assert not known(a, b)


def counter_of_an_earlier_run(x, n):
    s = 0.0
    k = 0
    for _ in range(2):
        y = x[:k]
        for k in range(n):
            s += x[k]
        s += np.sum(y * np.ones(1) * x[:k]) if k == 1 else 0.0
    return s


def previous_trip(x, n):
    y = x[:1]
    s = 0.0
    for k in range(1, n):
        s += np.sum(y * np.sum(x[:k]))
        y = x[:k] * 2.0
    return s


def view_out_of_range(x, i):
    v = x[1:]
    w = v[1:]
    return w[i] * v[0]


@pytest.mark.parametrize("f", [counter_of_an_earlier_run, previous_trip])
def test_counters_change(f):
    for n in (0, 1, 2, 4):
        check_gradients(f, np.linspace(0.5, 1.0, 5), n, jit=False)


@pytest.mark.parametrize("jit", [False, True])
def test_an_index_out_of_a_view(jit):
    g = s2sad.grad(view_out_of_range, jit=jit)
    np.testing.assert_array_equal(g(np.arange(1.0, 5.0), -1), [0.0, 4.0, 0.0, 2.0])
    for x, i in ((np.ones(4), 2), (np.ones(4), -3), (np.ones(2), 0), (np.ones(1), 0), (np.ones(0), -1)):
        with pytest.raises(IndexError):
            g(x, i)
