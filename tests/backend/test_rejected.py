"""What Numba rejects is told at the user's line."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import s2sad
from s2sad.backend.compile import compile_for, load
from s2sad.backend.signature import numba_type
from s2sad.errors import DifferentiationError
from s2sad.lang.types import WEAK_FLOAT, Array
from s2sad.transforms import pipeline

VECTOR = Array("float64", 1, "C")


def smooth(x):
    y = x.copy()
    for k in range(3):
        if y[k] > 0.0:
            y = np.sin(y)
    return np.sum(y * y)


def helper(u):
    w = np.cos(u)
    return w * u


def calls(x):
    y = 2.0 * x
    return np.sum(helper(y) + 1.0)


def rejected(fn, old, new):
    """The problem, and the text, if one piece of the emitted program were something that Numba does not know."""
    emitted = pipeline.emit(pipeline.front(fn), {"x": VECTOR}, ("x",), "value_and_adjoint")
    compiled = emitted.lowered or emitted.text
    assert old in compiled
    broken = replace(emitted, text=compiled.replace(old, new), lowered=None, proven=False, guard=None)
    with pytest.raises(DifferentiationError) as caught:
        compile_for(load(broken), [numba_type(VECTOR), numba_type(WEAK_FLOAT)], broken)
    return caught.value.problems[0], str(caught.value)


@pytest.fixture(autouse=True)
def as_shown(monkeypatch):
    monkeypatch.setenv("S2SAD_FUSE", "0")
    monkeypatch.setenv("S2SAD_VECTOR", "0")


def test_a_statement_that_became_a_loop(monkeypatch):
    monkeypatch.setenv("S2SAD_FUSE", "1")
    found, text = rejected(smooth, "np.sin(y[i])", "np.einsum(y[i])")
    assert (found.place.function, found.place.line) == ("smooth", line_of(smooth, 4)) and "np.einsum(y[i])" in text


def line_of(fn, k):
    return fn.__code__.co_firstlineno + k


def test_a_statement_of_the_forward_sweep():
    found, text = rejected(smooth, "np.sin(y)", "np.einsum(y)")
    assert (found.code, found.place.function, found.place.line) == ("S2S900", "smooth", line_of(smooth, 4))
    assert found.place.file == __file__ and "y = np.sin(y)\n" in text and "fault of s2sad" in text and "np.einsum(y)" in text
    assert "Traceback" not in text and "numba.pydata.org" not in text


def test_an_adjoint_statement_stands_for_the_statement_it_reverses():
    found, _ = rejected(smooth, "np.cos(y)", "np.einsum(y)")
    assert (found.place.function, found.place.line) == ("smooth", line_of(smooth, 4))


def test_a_statement_of_a_callee():
    found, _ = rejected(calls, "np.cos(", "np.einsum(")
    assert (found.place.function, found.place.line) == ("helper", line_of(helper, 1))


def test_every_statement_of_the_text_has_its_origin():
    emitted = pipeline.emit(pipeline.front(smooth), {"x": VECTOR}, ("x",), "adjoint")
    assert emitted.origins and emitted.origins[0].function == "smooth"
    assert {p.line for p in emitted.origins if p} >= {line_of(smooth, k) for k in (1, 2, 4)}


def opaque(x):
    return x * x


def test_a_rule_of_the_user_is_named_with_its_own_line():
    @s2sad.adjoint_of(opaque)
    def opaque_adjoint(x, y, y_bar):
        return np.einsum("i->", np.array([2.0 * x * y_bar]))

    def f(x):
        return 2.0 * opaque(x)

    with pytest.raises(DifferentiationError) as caught:
        s2sad.value_and_grad(f)(1.0)
    found = caught.value.problems[0]
    assert found.code == "S2S900" and "your function `opaque_adjoint`" in found.summary and found.place.line == line_of(opaque_adjoint, 2)


def test_ellipsis_alone():
    def f(x):
        x[...] = x * x.sum()
        y = np.zeros_like(x)
        y[...] = x[...] ** 2
        return np.sum(y)

    x = np.array([0.5, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = s2sad.grad(f)(x)
    assert np.allclose(found, s2sad.grad(f, jit=False)(x)) and np.allclose(found, 2 * 2.5 * (2.5 * x + 4.25), rtol=1e-12)


def softplus(x, a):
    return np.log1p(np.exp(a * x))


def total(x):
    return np.sum(x * x)


def test_a_rule_with_a_result_that_does_not_fit_is_named():
    @s2sad.adjoint_of(softplus)
    def softplus_rule(x, a, y, y_bar):
        return y_bar * a / (1.0 + np.exp(-a * x))

    @s2sad.adjoint_of(total)
    def total_rule(x, y, y_bar):
        return 2.0 * y_bar

    def f(x):
        return np.sum(softplus(x, 2.0) ** 2)

    def g(x):
        return total(x)

    for h, rule, why in ((f, "softplus_rule", "one adjoint for each float argument"), (g, "total_rule", "of the shapes of its arguments")):
        with pytest.raises(DifferentiationError) as caught:
            s2sad.grad(h)(np.ones(3))
        found = caught.value.problems[0]
        assert f"your function `{rule}`" in found.summary and why in found.why and found.place.line == line_of(h, 1)
