"""`check=`: a wrong gradient is not given, and the statement whose adjoint is wrong is named."""

import pickle
import re
from dataclasses import replace

import gast
import numpy as np
import pytest

import s2sad
from s2sad import WrongGradient, adjoint_of, differentiable, grad, stop_gradient, value_and_grad
from s2sad.backend.proof import Disagreement
from s2sad.rules import forms
from s2sad.transforms import pipeline

X = np.linspace(0.2, 1.3, 7)


def broken(monkeypatch, name, *partials):
    """Give a library function wrong partials, in both modes."""
    rows = [replace(row, partials=partials) for row in forms.TABLE[name]]
    monkeypatch.setitem(forms.TABLE, name, rows)


def accused(f, *args, wrt=0, **options):
    """The place that the error names."""
    with pytest.raises(WrongGradient, match="S2S601") as caught:
        grad(f, wrt=wrt, check=True, jit=False, **options)(*args)
    problem, = caught.value.problems
    return problem.place.text.strip() if problem.place else None


def right(x, n):
    u = x.copy()
    v = u[1:]
    for _ in range(n):
        old = u.copy()
        for i in range(1, u.size - 1):
            u[i] = old[i] + 0.1 * np.sin(old[i - 1])
        v[0] *= 1.5
    return np.sum(np.exp(u) * u)


@pytest.mark.parametrize("make", [grad, value_and_grad])
@pytest.mark.parametrize("check", [True, "first"])
@pytest.mark.parametrize("wrt", [0, ("x",)])
def test_right_gradients_are_given_as_they_are(make, check, wrt):
    checked = make(right, wrt=wrt, check=check, jit=False)
    for args in ((X, 3), (X, 0), (X[::-2], 2), (X.astype(np.float32), 2), (list(X), 1)):
        for _ in range(2):
            for a, b in zip(checked(*args), make(right, wrt=wrt, jit=False)(*args), strict=True):
                np.testing.assert_array_equal(a, b)


def test_compiled():
    checked = differentiable(right, check="first").grad
    np.testing.assert_array_equal(checked(X, 3), grad(right)(X, 3))
    np.testing.assert_array_equal(checked(X, 3), grad(right)(X, 3))


def test_the_option_travels_and_is_looked_at():
    assert pickle.loads(pickle.dumps(grad(right, check=True)))._check is True
    with pytest.raises(s2sad.api.ArgumentError, match='True, False or "first"'):
        grad(right, check="always")


def sines(x):
    s = 0.0
    for i in range(x.size):
        y = x[i] * x[i]
        z = np.arctan(y)
        s += z * y
    return s


def test_a_wrong_row_is_found_by_differences(monkeypatch):
    broken(monkeypatch, "np.arctan", "1 / (1 + x)")
    assert accused(sines, X) == "z = np.arctan(y)"


def in_branches(x, n):
    y = x * 2.0
    k = 0
    while k < n:
        if k % 2 == 0:
            y = y + np.exp(-y)
        else:
            y[1:] = y[:-1] * np.cosh(y[1:])
        k += 1
    return np.sum(y)


def test_in_a_while_and_a_branch_that_is_taken_later(monkeypatch):
    broken(monkeypatch, "np.cosh", "-sinh(x)")
    assert accused(in_branches, X, 4) == "y[1:] = y[:-1] * np.cosh(y[1:])"
    grad(in_branches, check=True, jit=False)(X, 1)  # the branch is not taken


def helper(a):
    b = np.arcsinh(a) * 3.0
    return b * b


def calls(x):
    return helper(x) + np.sin(x)


def test_in_a_function_that_is_called(monkeypatch):
    broken(monkeypatch, "np.arcsinh", "x")
    assert accused(calls, 0.7) == "b = np.arcsinh(a) * 3.0"


def at_the_end(x):
    return np.sum(np.arctan(x) * x)


def test_in_the_return(monkeypatch):
    broken(monkeypatch, "np.arctan", "x")
    assert accused(at_the_end, X) == "return np.sum(np.arctan(x) * x)"


def opaque(x):
    return x**3


@adjoint_of(opaque)
def opaque_adjoint(x, y, y_bar):
    return 2.0 * x**2 * y_bar


def opaque_arrays(x, y):
    return x * y


@adjoint_of(opaque_arrays)
def swapped(x, y, z, z_bar):
    return x * z_bar, y * z_bar


def uses_opaque(x):
    y = np.sin(x)
    z = opaque(y)
    return z * y


def uses_arrays(x):
    y = np.sin(x)
    z = opaque_arrays(x, y)
    return np.sum(z)


def test_a_users_rule_is_named():
    with pytest.raises(WrongGradient, match=r"(?s)z = opaque\(y\).*`opaque_adjoint`\s+that\s+adjoint_of\s+was\s+given\s+is\s+wrong"):
        grad(uses_opaque, check="first", jit=False)(0.7)
    with pytest.raises(WrongGradient, match=r"(?s)z = opaque_arrays\(x, y\).*`swapped`"):
        grad(uses_arrays, check="first", jit=False)(X)


def test_a_wrong_gradient_is_not_given_at_the_second_call_either():
    checked = grad(uses_opaque, check="first", jit=False)
    for _ in range(3):
        with pytest.raises(WrongGradient):
            checked(0.7)


def test_a_compiled_gradient_with_a_wrong_rule():
    with pytest.raises(WrongGradient, match="`opaque_adjoint`"):
        grad(uses_opaque, check="first")(0.7)


def meant(x):
    return stop_gradient(x * x) * x + np.abs(x - 0.5)


def kinks(x, y):
    z = np.maximum(x, y) + np.abs(x - y)
    if x[0] >= 0.2:
        z = z * 2.0
    return np.sum(z) + np.linalg.norm(x - y)


def test_what_is_meant_and_kinks_are_no_faults():
    assert grad(meant, check=True, jit=False)(0.5) == 0.25
    grad(kinks, wrt=("x", "y"), check=True, jit=False)(X, X.copy())


def recurrence(x, n):
    y = x
    for _ in range(n):
        y = y * np.sin(y)
    return y


def test_a_fault_that_no_statement_has(monkeypatch):
    """The forward sweep forgets the first kept value: what the reverse sweep reads is another."""
    emit = pipeline.emit

    def forgets(*args, **kwargs):
        emitted = emit(*args, **kwargs)
        text = re.sub(r"(\n +y_saved\[.*\] = ).*", r"\g<1>1.0", emitted.text)
        assert (text != emitted.text) == (args[3] == "adjoint")
        return replace(emitted, text=text)

    monkeypatch.setattr(pipeline, "emit", forgets)
    assert accused(recurrence, 0.7, 4) is None


def chaotic(x, n):
    for _ in range(n):
        x = 3.99 * x * (1.0 - x)
    return x


def test_rounding_that_a_program_enlarges_is_no_fault():
    for n in (10, 60, 200):
        grad(chaotic, check=True, jit=False)(0.3, n)


def test_the_program_stays_what_it_was():
    """Emitting one mode leaves the function as it is for the next."""
    state = grad(right)._program.current()
    before = s2sad.lang.tree.dump(list(state.function.body))
    types = dict(zip(state.params, grad(right).types_for((X, 3)), strict=True))
    for mode in ("tangent", "adjoint", "value_and_adjoint", "primal"):
        pipeline.emit(state.function, types, ("x",), mode)
        assert s2sad.lang.tree.dump(list(state.function.body)) == before


def softplus(x):
    return np.log1p(np.exp(x))


@adjoint_of(softplus)
def softplus_adjoint(x, y, y_bar):
    return y_bar / (1.0 + np.exp(x))  # wrong: exp(-x)


def with_a_rule(x, a):
    y = x * a
    for _ in range(3):
        y = y * y + softplus(y)
    return y


def test_a_rule_used_inside_an_expression_is_named():
    with pytest.raises(WrongGradient, match="`softplus_adjoint`") as e:
        grad(with_a_rule, wrt=(0, 1), jit=False, check="first")(0.3, 0.4)
    assert e.value.problems[0].place.text.strip() == "y = y * y + softplus(y)"


def quotient(x):
    y = x[0] * x[1]
    return y * y / x[0] + x[1]


def drop_last_accumulation(body):
    at = max((k for k, s in enumerate(body) if isinstance(s, gast.AugAssign)), default=None)
    return body if at is None else [*body[:at], *body[at + 1:]]


def test_a_lost_statement_of_the_adjoint_is_found(monkeypatch):
    tidy = pipeline.tidy
    monkeypatch.setattr(pipeline, "tidy", lambda body, *rest: drop_last_accumulation(tidy(body, *rest)))
    monkeypatch.setenv("S2SAD_CACHE_DIR", "")
    with pytest.raises(WrongGradient, match="put together wrongly"):
        grad(quotient, jit=False, check="first")(np.array([2.0, 3.0]))


def kinked(x):
    return np.sum(np.abs(x)) + np.linalg.norm(x)


def edge(x):
    return np.sqrt(x)


def branch(x):
    return x * x if x < 1.0 else 3.0 * x


def test_kinks_and_edges_of_domains_are_no_alarms():
    for x in (np.zeros(3), np.array([1.0, 0.0, 2.0]), np.zeros(0), np.ones(3, np.float32), np.full(2, 1e160)):
        grad(kinked, jit=False, check=True)(x)
    assert grad(edge, jit=False, check=True)(0.0) == np.inf
    grad(branch, jit=False, check=True)(1.0)


def test_first_means_the_first_call(monkeypatch):
    g = grad(quotient, jit=False, check="first")
    g(np.array([2.0, 3.0]))
    monkeypatch.setattr("s2sad.backend.proof.disagreement", lambda *args: Disagreement(1.0, 2.0, None))
    g(np.array([2.0, 3.0]))
    with pytest.raises(WrongGradient, match="forward mode 2"):
        g(np.array([2.0, 3.0], np.float32))
    with pytest.raises(WrongGradient, match="the gradient gives 1"):
        grad(quotient, jit=False, check=True)(np.array([2.0, 3.0]))


def noisy(x, rng):
    return np.sum(np.sin(x) * rng.normal(size=x.size)) + rng.random() * x[0]


def test_draws_are_the_same_in_the_check():
    a, b = np.random.default_rng(3), np.random.default_rng(3)
    np.testing.assert_array_equal(grad(noisy, jit=False, check=True)(X, a), grad(noisy, jit=False)(X, b))
    assert a.bit_generator.state == b.bit_generator.state


def shares_a_subexpression(x):
    s = x / (2.5 + np.sin(0.98))
    return np.sum(s * s)


def test_forward_mode_leaves_the_program_as_it_was():
    both = differentiable(shares_a_subexpression, jit=False)
    x = np.linspace(0.1, 1.0, 4)
    _, slope = both.jvp(x, tangents=np.ones(4))
    np.testing.assert_allclose(np.sum(both.grad(x)), slope)
    grad(shares_a_subexpression, jit=False, check=True)(x)
