"""Calls, types of arguments and results, staleness, and what is refused: on functions small enough for a hand-written gradient."""

import inspect
import pickle
import threading

import numba
import numpy as np
import pytest

import s2sad
from s2sad import DifferentiationError, custom, differentiable, grad, value_and_grad
from s2sad.backend.signature import ArgumentError

FACTOR = 2.0
WEIGHTS = np.array([1.0, 2.0, 3.0])


def scaled(x, c=1.0):
    """Sum of squares, scaled."""
    return np.sum(x * x) * c


def product(a, b):
    return a * b


def with_globals(x):
    return np.sum(WEIGHTS * x) * FACTOR


def inner(x):
    return x * x


def outer(x):
    return inner(x) + x


def overwriting(x, y):
    x[0] = x[0] * y[1]
    return x[0] * x[1]


def near(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-6)


X = np.array([1.0, 2.0, 4.0])


def test_one_parameter_gives_the_gradient_itself_and_a_tuple_gives_a_tuple():
    near(grad(scaled)(X, 3.0), 6 * X)
    near(grad(scaled, wrt="c")(X, 3.0), 21.0)
    got = grad(scaled, wrt=("c", "x"))(X, 3.0)
    assert isinstance(got, tuple)
    near(got[0], 21.0)
    near(got[1], 6 * X)
    (only,) = grad(scaled, wrt=("x",))(X, 3.0)
    near(only, 6 * X)
    near(grad(scaled, wrt=-1)(X, 3.0), 21.0)


def test_value_and_grad():
    value, gradient = value_and_grad(scaled)(X, 3.0)
    near(value, 63.0)
    near(gradient, 6 * X)
    value, (by_x, by_c) = grad(scaled, wrt=(0, 1)).value_and_grad(X, 3.0)
    near(by_x, 6 * X)
    near(by_c, 21.0)
    value, (by_x,) = value_and_grad(scaled, wrt=(0,))(X, 3.0)
    near(by_x, 6 * X)


def test_decorators_with_and_without_arguments():
    @grad
    def f(x):
        return x * x

    @value_and_grad(wrt="y")
    def g(x, y):
        return x * y

    @differentiable
    def h(x):
        return x * x * x

    near(f(3.0), 6.0)
    near(g(2.0, 5.0), (10.0, 2.0))
    near(h(2.0), 8.0)
    near(h.grad(2.0), 12.0)
    near(h.value_and_grad(2.0), (8.0, 12.0))
    near(f.primal(3.0), 9.0)


def test_keywords_and_present_defaults():
    g = grad(scaled)
    near(g(X), 2 * X)
    near(g(X, c=2.0), 4 * X)
    near(g(c=2.0, x=X), 4 * X)
    old = scaled.__defaults__
    try:
        scaled.__defaults__ = (5.0,)
        near(g(X), 10 * X)
    finally:
        scaled.__defaults__ = old
    for args, kwargs in (((), {}), ((X, 1.0, 2.0), {}), ((X,), {"d": 1.0}), ((X, 1.0), {"c": 1.0})):
        with pytest.raises(TypeError):
            g(*args, **kwargs)


def test_globals_are_read_at_every_call(monkeypatch):
    g = grad(with_globals)
    near(g(X), 2 * WEIGHTS)
    monkeypatch.setattr(f"{__name__}.FACTOR", 3.0)
    near(g(X), 3 * WEIGHTS)
    monkeypatch.setattr(f"{__name__}.WEIGHTS", np.ones(3))
    near(g(X), [3.0, 3.0, 3.0])
    WEIGHTS[1] = 7.0
    near(g(X), [3.0, 21.0, 3.0])


def doubled(x):
    return 2.0 * x


def test_a_helper_that_is_defined_again(monkeypatch):
    g = grad(outer)
    near(g(3.0), 7.0)
    monkeypatch.setattr(f"{__name__}.inner", doubled)
    near(g(3.0), 3.0)
    near(g.value_and_grad(3.0), (9.0, 3.0))


def opaque(x):
    return x * x * x


def uses_opaque(x):
    return opaque(x) * 2.0


def test_a_rule_that_is_given_or_given_again(monkeypatch):
    g = grad(uses_opaque)
    near(g(2.0), 24.0)

    @s2sad.adjoint_of(opaque)
    def first(x, y, y_bar):
        return 10.0 * y_bar

    near(g(2.0), 20.0)
    near(g.value_and_grad(2.0), (16.0, 20.0))

    @s2sad.adjoint_of(opaque)
    def second(x, y, y_bar):
        return 100.0 * y_bar

    near(g(2.0), 200.0)


class Settings:
    kind = "twice"


def with_an_attribute(x):
    if Settings.kind == "twice":
        return 2.0 * x
    return 3.0 * x


def test_an_attribute_changes(monkeypatch):
    g = grad(with_an_attribute)
    near(g(1.0), 2.0)
    monkeypatch.setattr(Settings, "kind", "thrice")
    near(g(1.0), 3.0)


@pytest.mark.parametrize(("value", "kind"), [(3.0, float), (np.float64(3.0), np.float64), (np.float32(3.0), np.float32), (np.array(3.0), np.ndarray)])
@pytest.mark.parametrize("jit", [True, False])
def test_gradients_have_the_kind_of_their_argument(value, kind, jit):
    got = grad(inner, jit=jit)(value)
    assert type(got) is kind
    assert np.shape(got) == np.shape(value)
    np.testing.assert_allclose(got, 6.0, rtol=1e-3)


def test_float32_arrays_stay_float32():
    got = grad(scaled)(X.astype(np.float32), 1.0)
    assert got.dtype == np.float32 and got.shape == (3,)


def test_layouts_and_read_only_arrays():
    g = grad(scaled)
    big = np.arange(24.0).reshape(4, 6)
    frozen = big.copy()
    frozen.flags.writeable = False
    for x in (big, big.T, big[::2, ::3], np.asfortranarray(big), frozen, big[0]):
        got = g(x, 1.0)
        assert got.shape == x.shape
        np.testing.assert_allclose(got, 2 * x, rtol=1e-6, atol=1e-6)
    assert len(g.signatures) == 4


def test_lists_are_arrays_of_floats():
    got = grad(scaled)([1, 2, 4], 1.0)
    assert isinstance(got, np.ndarray) and got.dtype == np.float64
    near(got, 2 * X)
    near(grad(scaled)((1.0, 2.0, 4.0), 1.0), 2 * X)
    with pytest.raises(DifferentiationError, match="Arithmetic with a list of 2"):
        grad(scaled)([[1.0], [1.0, 2.0]], 1.0)


def test_a_weak_and_a_strong_float_are_two_signatures():
    g = grad(product)
    g(1.0, 2.0)
    g(np.float64(1.0), 2.0)
    assert g.signatures == ("(float, float)", "(float64, float)")


@pytest.mark.parametrize("value", [3, True, np.int64(3), np.arange(3)])
def test_wrt_an_int_is_refused_and_says_to_pass_a_float(value):
    with pytest.raises(TypeError, match="pass a float") as e:
        grad(product)(value, 2.0)
    assert isinstance(e.value, DifferentiationError) and "`a` of `product`" in str(e.value)


@pytest.mark.parametrize("wrt", ["z", 2, -3, (), ("a", 0), 1.5, ("a", None), True])
def test_a_wrong_wrt_is_refused_at_once(wrt):
    with pytest.raises(ArgumentError):
        grad(product, wrt=wrt)


def test_an_array_result_is_refused():
    with pytest.raises(TypeError, match="scalar") as e:
        grad(product)(X, 2.0)
    assert isinstance(e.value, DifferentiationError)


def test_arithmetic_with_a_text_is_refused():
    with pytest.raises(DifferentiationError, match="Arithmetic with the text '2'"):
        grad(product)(1.0, "2")


def test_a_gradient_call_leaves_arrays_alone_and_primal_changes_them():
    x, y = np.array([2.0, 3.0]), np.array([5.0, 7.0])
    near(grad(overwriting)(x, y), [21.0, 14.0])
    near(x, [2.0, 3.0])
    near(grad(overwriting).primal(x, y), 42.0)
    near(x, [14.0, 3.0])


def test_arguments_that_overlap_are_refused_if_one_is_written():
    x = np.arange(1.0, 6.0)
    for a, b in ((x, x), (x[:3], x[2:]), (x, x[::-1])):
        with pytest.raises(ArgumentError, match="`x` of `overwriting` and `y` of `overwriting` overlap"):
            grad(overwriting)(a, b)
    near(grad(overwriting)(x[:2], x[2:4]), [8.0, 4.0])
    near(grad(scaled)(x, 1.0), 2 * x)


def test_primal_cannot_write_what_is_read_only_or_converted():
    x, y = np.array([2.0, 3.0]), np.ones(2)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="`x` of `overwriting` is read-only"):
        differentiable(overwriting)(x, y)
    with pytest.raises(ArgumentError, match="pass an array"):
        differentiable(overwriting)([2.0, 3.0], y)
    near(grad(overwriting)([2.0, 3.0], y), [3.0, 2.0])


def test_it_looks_like_the_function():
    g = grad(scaled)
    assert g.__name__ == "scaled" and g.__doc__ == scaled.__doc__ and g.__wrapped__ is scaled
    assert list(inspect.signature(g).parameters) == ["x", "c"]
    assert repr(g) == f"<s2sad.grad of {__name__}.scaled, wrt x>"


def test_source_and_explain():
    g = grad(scaled)
    with pytest.raises(ArgumentError, match="`x` of `scaled`"):
        g.source()
    text = g.source(X, 2.0)
    assert "def scaled_adjoint(x, c, " in text and text == g.source()
    compile(text, "text", "exec")
    g(X.astype(np.float32), 2.0)
    assert g.source().startswith("# signature: (float32[::1], float)\n")
    assert "def scaled_value_and_adjoint(" in g.value_and_grad.source(X, 2.0)
    assert "def scaled(" in g.primal.source(X, 2.0)
    assert g.explain(X, 2.0).startswith("scaled_adjoint(float64[::1], float)\n")


def test_source_from_annotations():
    def annotated(a: float, n: int = 3):
        return a * n

    assert "def annotated_adjoint(a, n, " in grad(annotated).source()


def test_warm_compiles_before_the_first_call():
    g = grad(scaled)
    g.warm("f8[:], f8")
    (entry,) = g._seen.entries.values()
    count = len(entry.compiled.signatures)
    assert (numba.float64[::1], numba.float64, numba.float64) in entry.compiled.signatures
    g(X, 1.0)
    assert len(entry.compiled.signatures) == count
    g.warm(np.ones((2, 2)), float)
    assert len(g.signatures) == 2
    with pytest.raises(ArgumentError, match="2 parameters"):
        g.warm("f8")


def test_numba_dispatchers_and_differentiable_functions_are_functions():
    near(grad(numba.njit(inner))(3.0), 6.0)
    near(grad(differentiable(inner))(3.0), 6.0)


def test_gradients_of_gradients_and_wrapped_functions_are_refused():
    import functools

    with pytest.raises(DifferentiationError, match="gradient already"):
        grad(grad(inner))

    @functools.wraps(inner)
    def twice(x):
        return 2 * inner(x)

    with pytest.raises(ArgumentError, match="decorator"):
        grad(twice)
    with pytest.raises(ArgumentError, match="function"):
        grad(3)
    with pytest.raises(ArgumentError, match="not a Python function"):
        grad(len)


@pytest.mark.parametrize("name", ["vjp", "jacobian", "hessian", "hvp"])
def test_what_is_not_built_says_so(name):
    with pytest.raises(NotImplementedError, match=f"{name} is not built yet") as e:
        getattr(s2sad, name)(inner)
    assert isinstance(e.value, DifferentiationError)


decorated = differentiable(inner)


@grad(wrt="b")
def decorated_gradient(a, b):
    return a * b


def test_pickling_goes_by_reference():
    g = grad(scaled, wrt=("x", "c"))
    near(pickle.loads(pickle.dumps(g))(X, 1.0)[0], 2 * X)
    assert pickle.loads(pickle.dumps(decorated_gradient)) is decorated_gradient
    near(pickle.loads(pickle.dumps(decorated_gradient.value_and_grad))(2.0, 3.0), (6.0, 2.0))

    def local(x):
        return x

    with pytest.raises(pickle.PicklingError):
        pickle.dumps(grad(local))


def test_threads_get_the_same_answer():
    g = grad(scaled)
    found = []

    def work():
        for k in range(20):
            found.append(np.allclose(g(X if k % 2 else X.astype(np.float32), 1.0), 2 * X, rtol=1e-2))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 80 and all(found)


def solved(A, b):
    return np.sum(np.linalg.solve(A, b) ** 2)


def test_a_rule_for_a_library_function(monkeypatch):
    monkeypatch.setattr(custom, "_adjoints", dict(custom._adjoints))

    @s2sad.adjoint_of(np.linalg.solve)
    def solve_adjoint(A, b, x, x_bar):
        b_bar = np.linalg.solve(A.T, x_bar)
        return -np.outer(b_bar, x), b_bar

    A = np.array([[3.0, 1.0], [0.5, 2.0]])
    s2sad.check_gradients(solved, A, np.array([1.0, 2.0]), wrt=("A", "b"), jit=False)


def sigmoid(x):
    """Named as one of our runtime functions, but something else."""
    return 3.0 * x * x


def of_sigmoid(x):
    return 2.0 * sigmoid(x)


def test_functions_named_as_runtime_functions(monkeypatch):
    monkeypatch.setattr(custom, "_adjoints", dict(custom._adjoints))
    s2sad.adjoint_of(sigmoid)(lambda x, y, y_bar: 6.0 * x * y_bar)
    assert value_and_grad(of_sigmoid, jit=False)(1.5) == (13.5, 18.0)


def named_as_runtime(strong, copyto, sum_to):
    u = np.ones(3)
    for _ in range(3):
        v = u.copy()
        u[1:] = v[:-1] * np.sqrt(strong) * copyto
        u[0] += sum_to * v[2]
    return np.sum(u)


def test_variables_named_as_runtime_functions():
    s2sad.check_gradients(named_as_runtime, 0.5, 0.2, 0.1, wrt=("strong", "copyto", "sum_to"), jit=False)


def tail(x):
    return x[1:]


def writes_what_an_opaque_result_may_look_into(x):
    u = x.copy()
    t = tail(u)
    u[1] = 5.0
    return np.sum(t * t)


def test_an_opaque_result_may_be_a_view(monkeypatch):
    monkeypatch.setattr(custom, "_adjoints", dict(custom._adjoints))
    s2sad.adjoint_of(tail)(lambda x, y, y_bar: np.concatenate((np.zeros(1), y_bar)))
    with pytest.raises(s2sad.DifferentiationError, match="S2S303"):
        grad(writes_what_an_opaque_result_may_look_into, jit=False)(np.ones(3))
