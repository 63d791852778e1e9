"""Which functions take their vector form, and that this changes nothing but the last bits."""

import math

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.lang import tree as T
from s2sad.lang.printer import to_source
from s2sad.lang.types import Array, Scalar
from s2sad.transforms import pipeline
from s2sad.transforms.example import program
from s2sad.transforms.vectors import vectors

NAMES = {"x": Array("float64", 1), "y": Array("float64", 1), "z": Array("float32", 2), "k": Array("int64", 1),
         "o": Array("float64", 0), "i": Scalar("int64", weak=True), "j": Scalar("int64", weak=True), "s": Scalar("float64"), "t": Scalar("float64"),
         "p": Scalar("float64", weak=True)}


def made(text):
    return to_source(vectors(T.stmts(text), NAMES)).strip()


@pytest.mark.parametrize("text", [
    "s = np.exp(t)",                                                       # one number
    "for i in range(n):\n    s += np.exp(x[i])",                           # a sum, which LLVM keeps in order
    "for i in range(n):\n    x[i] = np.exp(x[i - 1])",                     # a recurrence through an array
    "for i in range(n):\n    x[0] = np.exp(y[i])",                         # one place written by every trip
    "for i in range(n):\n    t = np.exp(s)\n    s = t * x[i]",             # a recurrence through a name
    "for i in range(n):\n    if x[i] > 0.0:\n        y[i] = np.exp(x[i])",  # a branch
    "while s > 0.0:\n    s = np.exp(s)",
    "y = np.exp(k)",                                                       # integers
    "y = np.exp(o)",
    "y = x ** 2 + x ** 2.0 + x ** 0.5 + x ** -1.0 + x ** k",
    "y = np.abs(x) + np.sqrt(x)",
    "for i in range(n):\n    y[i] = x[i] + math.floor(x[i])",
    "for i in range(n):\n    s = np.sum(np.exp(z[i] - t))",                 # a row
    "while s > 0.0:\n    y[1:] = np.exp(x[1:]) ** p",
])
def test_what_stays(text):
    assert made(text) == text


@pytest.mark.parametrize("text, want", [
    ("y = np.exp(-x) * np.exp(t)", "y = vector.exp(-x) * np.exp(t)"),
    ("z = np.tanh(np.sin(z))", "z = vector.tanh(vector.sin(z))"),
    ("y = x ** p + 2.0 ** x", "y = vector.power(x, p) + vector.power(2.0, x)"),
    ("y = np.exp(x[1:])", "y = vector.exp(x[1:])"),
    ("for i in range(n):\n    x = np.tanh(x)", "for i in range(n):\n    x = vector.tanh(x)"),
    ("s = np.sum(np.exp(x))", "s = np.sum(vector.exp(x))"),
    ("if np.sum(np.exp(x)) > 1.0:\n    s = 1.0", "if np.sum(vector.exp(x)) > 1.0:\n    s = 1.0"),
    ("for i in range(n):\n    for j in range(n):\n        y[j] += math.atan(x[i])",
     "for i in range(n):\n    for j in range(n):\n        y[j] += vector.arctan(x[i])"),
    ("for i in range(n):\n    t = x[i]\n    y[i] = t * sigmoid(t)", "for i in range(n):\n    t = x[i]\n    y[i] = t * vector.sigmoid(t)"),
])
def test_what_changes(text, want):
    assert made(text) == want


def waves(x, w, p):
    y = np.empty_like(x)
    for i in range(x.size):
        y[i] = math.exp(-x[i] * x[i]) * math.sin(w * x[i]) + (abs(x[i]) + 0.5) ** p
    return np.sum(np.tanh(y) ** 2 / (1.0 + np.exp(-x))) + np.sum(np.logaddexp(x, y)) + math.exp(w)


@pytest.mark.parametrize("n", [0, 1, 3, 101])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_compiled_and_plain_agree(n, dtype):
    x = np.random.default_rng(n).normal(size=2 * n).astype(dtype)[::2]
    w, p = (0.7, 1.7) if dtype == "float64" else (np.float32(0.7), np.float32(1.7))
    wrt = ("x", "w", "p")
    eps = 50 * np.finfo(dtype).eps
    for got, want in zip(GRADIENT(x, w, p), grad(waves, wrt=wrt, jit=False)(x, w, p), strict=True):
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=eps, atol=eps * max(n, 1))
    assert np.array_equal(GRADIENT(x, w, p)[0], GRADIENT(x, w, p)[0])


GRADIENT = grad(waves, wrt=("x", "w", "p"))


def test_the_text_shown_has_the_plain_names():
    x = np.linspace(-1.0, 1.0, 5)
    assert "vector" not in GRADIENT.source(x, 0.7, 1.7)


def test_the_tangent_too():
    x = np.linspace(-1.0, 1.0, 9)
    _, got = jvp(waves, wrt=("x", "w"))(x, 0.7, 1.7, tangents=(np.ones(9), 1.0))
    x_bar, w_bar, _ = GRADIENT(x, 0.7, 1.7)
    assert got == pytest.approx(x_bar.sum() + w_bar, rel=1e-12)


def test_a_name_of_the_user_that_clashes():
    f = program("vector = np.exp(x)\nreturn np.sum(vector * vector)", "x: f8[:]")
    emitted = pipeline.emit(f, {"x": f.names["x"]}, ("x",), "adjoint")
    assert emitted.lowered is not None and "from s2sad.runtime import vector as vector_2" in emitted.lowered
    assert "vector_2.exp(x[i])" in emitted.lowered


def test_where_nothing_pays_there_is_one_text():
    f = program("y = np.exp(x)\nreturn y * y", "x: f8")
    assert pipeline.emit(f, {"x": f.names["x"]}, ("x",), "adjoint").lowered is None


def test_the_switch(monkeypatch):
    from s2sad.backend.compile import load

    f = program("return np.sum(np.exp(x))", "x: f8[:]")
    emitted = pipeline.emit(f, {"x": f.names["x"]}, ("x",), "adjoint")
    assert "vector" in load(emitted).py_func.__globals__
    assert "vector" not in load(emitted, jit=False).__globals__
    monkeypatch.setenv("S2SAD_VECTOR", "0")
    assert "vector" not in load(pipeline.emit(f, {"x": f.names["x"]}, ("x",), "adjoint")).py_func.__globals__
