"""`check="first"` and `check=True`: wrong gradients are found on the user's own arguments, and the statement is named."""

import pickle

import gast
import numpy as np
import pytest

import s2sad
from s2sad import WrongGradient, grad, value_and_grad
from s2sad.rules import forms


def softplus(x):
    return np.log1p(np.exp(x))


@s2sad.adjoint_of(softplus)
def softplus_adjoint(x, y, y_bar):
    return y_bar / (1.0 + np.exp(x))  # wrong: exp(-x)


def with_a_rule(x, a):
    y = x * a
    for _ in range(3):
        y = y * y + softplus(y)
    return y


def stencil(x, n):
    u = np.zeros(n)
    for i in range(n):
        u[i] = np.sin(x[i]) * x[i]
    u[1:] += u[:-1] ** 2
    return np.sum(np.maximum(u, 0.3)) / x[0]


X = np.linspace(0.5, 2.0, 5)


def test_a_wrong_rule_of_the_user_is_named():
    with pytest.raises(WrongGradient, match="The rule for `softplus` that adjoint_of was given is wrong") as e:
        grad(with_a_rule, wrt=(0, 1), jit=False, check="first")(0.3, 0.4)
    assert e.value.problems[0].place.text.strip() == "y = y * y + softplus(y)"


WRONG_ROWS = [("np.sin", "-cos(x)", "u[i] = np.sin"), ("np.maximum", "0.5 * share(x1, x2)", "return np.sum")]


@pytest.mark.parametrize(("name", "text", "statement"), WRONG_ROWS)
def test_a_wrong_row_is_found_at_its_statement(name, text, statement, monkeypatch):
    rule = forms.TABLE[name][0].rule
    wrong = {**rule.partials, next(iter(rule.partials)): forms.parse(text)}
    monkeypatch.setitem(rule.__dict__, "partials", wrong)
    with pytest.raises(WrongGradient, match="S2S601") as e:
        grad(stencil, jit=False, check="first")(X, 5)
    assert statement in e.value.problems[0].place.text


def test_a_lost_statement_of_the_adjoint_is_found(monkeypatch):
    """An adjoint that is put together wrongly: every statement alone is right."""
    from s2sad.transforms import pipeline

    tidy = pipeline.tidy
    monkeypatch.setattr(pipeline, "tidy", lambda body, *rest: drop_last_accumulation(tidy(body, *rest)))
    monkeypatch.setenv("S2SAD_CACHE_DIR", "")
    with pytest.raises(WrongGradient, match="put together wrongly|statement is wrong"):
        grad(quotient, jit=False, check="first")(np.array([2.0, 3.0]))


def drop_last_accumulation(body):
    at = max((k for k, s in enumerate(body) if isinstance(s, gast.AugAssign)), default=None)
    return body if at is None else [*body[:at], *body[at + 1:]]


def quotient(x):
    y = x[0] * x[1]
    return y * y / x[0] + x[1]


@pytest.mark.parametrize("make", [grad, value_and_grad])
def test_right_gradients_pass(make):
    for check in ("first", True):
        checked, plain = make(stencil, check=check, jit=False), make(stencil, jit=False)
        for _ in range(2):
            for a, b in zip(checked(X, 5), plain(X, 5), strict=True):
                np.testing.assert_array_equal(a, b)


def test_compiled():
    np.testing.assert_allclose(grad(quotient, check="first")(np.array([2.0, 3.0])), grad(quotient, jit=False)(np.array([2.0, 3.0])), rtol=1e-14)


def kinked(x):
    return np.sum(np.abs(x)) + np.linalg.norm(x)


def test_kinks_and_edges_of_domains_are_no_alarms():
    for x in (np.zeros(3), np.array([1.0, 0.0, 2.0]), np.zeros(0), np.ones(3, np.float32), np.full(2, 1e160)):
        grad(kinked, jit=False, check=True)(x)
    assert grad(edge, jit=False, check=True)(0.0) == np.inf
    grad(branch, jit=False, check=True)(1.0)


def edge(x):
    return np.sqrt(x)


def branch(x):
    return x * x if x < 1.0 else 3.0 * x


def test_first_means_the_first_call(monkeypatch):
    g = grad(quotient, jit=False, check="first")
    g(np.array([2.0, 3.0]))
    monkeypatch.setattr("s2sad.backend.proof.disagreement", lambda sample: "an alarm")
    g(np.array([2.0, 3.0]))
    with pytest.raises(WrongGradient, match="an alarm"):
        g(np.array([2.0, 3.0], np.float32))
    with pytest.raises(WrongGradient, match="an alarm"):
        grad(quotient, jit=False, check=True)(np.array([2.0, 3.0]))
    assert pickle.loads(pickle.dumps(g))._check == "first"


def test_other_values_of_check():
    with pytest.raises(TypeError, match="check takes"):
        grad(quotient, check="always")


def held(x):
    return s2sad.stop_gradient(x * x) * x


def test_what_is_declared_constant_is_no_alarm():
    assert grad(held, jit=False, check=True)(3.0) == 9.0


def shares_a_subexpression(x):
    s = x / (2.5 + np.sin(0.98))
    return np.sum(s * s)


def test_forward_mode_leaves_the_program_as_it_was():
    both = s2sad.differentiable(shares_a_subexpression, jit=False)
    x = np.linspace(0.1, 1.0, 4)
    _, slope = both.jvp(x, tangents=np.ones(4))
    np.testing.assert_allclose(np.sum(both.grad(x)), slope)
    grad(shares_a_subexpression, jit=False, check=True)(x)
