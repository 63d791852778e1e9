"""Programs that were wrong once, found by the fuzzer and reduced."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import check_gradients, grad

X, Y = np.array([0.9, -1.3, 0.55]), np.array([0.6, -0.7, 0.2, 0.8])
A = np.array([[0.3, -0.5, 0.8], [1.1, 0.2, -0.4], [-0.6, 0.7, 0.1]])


def two_names(x: Any) -> Any:
    v = x
    return np.sum(x * x) + np.sum(v)


def mask_of_itself(x: Any) -> Any:
    x[x > 0.5] = 0.25
    return np.sum(x)


def mask_scaled(x: Any, s: float) -> Any:
    t = np.sum(x * x)
    x[x > 0.5] *= s
    return t + np.sum(x)


def index_of_itself(x: Any, p: Any) -> Any:
    p[p[0]] = 1
    x[p] *= x[p[1]]
    return np.sum(x[p] * x)


def doubled(a: Any) -> Any:
    for _ in range(2):
        a = 0.7 * (a + a)
    return np.sum(a)


def mean_of_scaled(x: Any, y: Any) -> Any:
    return np.mean(y[0] * -x)


def mean_of_total(x: Any, y: Any) -> Any:
    return np.mean(np.sum(y * y) * -x)


def each_overwrites_all(x: Any) -> Any:
    for e in x:
        x -= np.sin(e)
    return np.sum(x)


def product_into_rows(a: Any, x: Any) -> Any:
    a[:] += a @ x
    return np.sum(a * a)


def running_sums_into_rows(a: Any, x: Any) -> Any:
    a[:] = np.cumsum(x)
    return np.sum(a * a)


def column_sums_into_rows(a: Any, b: Any) -> Any:
    a -= np.sum(b, axis=0)
    return np.sum(a * a)


def shifted_through_second_name(x: Any) -> Any:
    y = x
    for i in range(2):
        y[i] = x[i - 1]
    return np.sum(x * x)


def one_place(x: Any, y: Any) -> Any:
    m = 0
    for i in range(3):
        x[m] = np.sum(y[:i])
    return np.sum(x)


def index_wraps(x: Any, y: Any) -> Any:
    for i in range(len(y)):
        x[i - 1] = y[i]
    return np.sum(x)


def index_wraps_from(x: Any, y: Any, k: int) -> Any:
    for i in range(k, len(x)):
        x[i] = y[i + 1]
    return np.sum(x)


def index_wraps_needed(x: Any, y: Any) -> Any:
    s = 0.0
    for i in range(len(y)):
        s += x[i - 1] ** 2
        x[i - 1] = y[i]
    return s


def one_place_through_second_name(x: Any, d: float) -> Any:
    y = x
    s = np.sum(y**2)
    for _ in range(len(y)):
        y[2] -= d
    return s + np.sum(x)


def power_in_long_product(x: Any) -> Any:
    left_factor, right_factor = x[0], x[1]
    return 0.4 * left_factor * right_factor * np.exp(0.1 * x[2] ** 2) * np.minimum(0.1 * left_factor, right_factor) ** 3


def number_with_itself(x: Any) -> Any:
    s, t = x[0], x[1]
    s += s * t
    s -= np.sin(s) * t * s
    return s * x[2]


def array_with_itself(x: Any, y: Any) -> Any:
    x += x * y[:3]
    x -= np.sum(x) * y[:3] * x
    return np.sum(x * x)


def part_with_itself(x: Any, y: Any) -> Any:
    x[1:] += x[:-1] * y[:2] * x[1:]
    return np.sum(x * x)


def sum_of_two(x: Any, y: Any) -> Any:
    s = np.sum(x * x)
    u = x + y
    v = u + u
    return np.sum(u * u * v) + s


def quotient_by_itself(x: Any) -> Any:
    y = x.copy()
    y[1] = x[0] / y[1]
    y[2] = x[0] / (y[2] * y[2] + y[2])
    return np.sum(y * y)


def mean_within_a_sum(x: Any) -> Any:
    s = np.sum((x * x[0] - np.mean(x)) / np.std(x))
    x[1] = s
    return np.sum(x)


def number_within_a_sum(x: Any) -> Any:
    t = np.where(x > 0.0, np.sum((x - x[1]) / np.linalg.norm(x)), np.sum(np.sqrt(x[2]) * x - np.sqrt(x[0])))
    return np.sum(t * x)


@pytest.mark.parametrize(
    ("f", "args", "wrt"),
    [
        (two_names, (X,), 0),
        (mask_of_itself, (X,), 0),
        (mask_scaled, (X, 0.7), (0, 1)),
        (index_of_itself, (X, np.array([1, 2, 0])), 0),
        (doubled, (A,), 0),
        (mean_of_scaled, (X, Y), (0, 1)),
        (mean_of_total, (X, Y), (0, 1)),
        (each_overwrites_all, (X,), 0),
        (product_into_rows, (A, X), (0, 1)),
        (running_sums_into_rows, (A, X), (0, 1)),
        (column_sums_into_rows, (A, A), (0, 1)),
        (shifted_through_second_name, (X,), 0),
        (one_place, (X, Y), (0, 1)),
        (index_wraps, (X, Y), (0, 1)),
        (index_wraps_from, (X, Y, -1), (0, 1)),
        (index_wraps_needed, (X, Y), (0, 1)),
        (one_place_through_second_name, (X, 0.3), (0, 1)),
        (power_in_long_product, (X,), 0),
        (number_with_itself, (X,), 0),
        (array_with_itself, (X, Y), (0, 1)),
        (part_with_itself, (X, Y), (0, 1)),
        (quotient_by_itself, (X,), 0),
        (sum_of_two, (X, 0.5 * X), (0, 1)),
        (mean_within_a_sum, (X,), 0),
        (number_within_a_sum, (X,), 0),
    ],
    ids=lambda v: v.__name__ if callable(v) else "",
)
def test_gradient(f: Callable[..., Any], args: tuple[Any, ...], wrt: Any) -> None:
    check_gradients(f, *args, wrt=wrt, jit=False, atol=1e-12)


def added_in_place(a: Any, y: Any) -> Any:
    a += np.sin(y)
    return np.sum(a)


@pytest.mark.parametrize("jit", [False, True])
def test_shapes_that_do_not_fit_in_place(jit: bool) -> None:
    """Numba's in-place operators do not compare shapes."""
    primal = grad(added_in_place, jit=jit).primal
    for n in (0, 2):
        with pytest.raises(ValueError, match="broadcast"):
            primal(np.ones((4, 3)), np.ones(n))
    assert np.isclose(primal(np.ones((4, 3)), np.ones(1)), 12 * (1 + np.sin(1.0)))


def row_of_a_call(x: Any, y: Any) -> Any:
    for i in range(len(y)):
        y[i] = np.exp(np.stack((y, x))[1][i])
    return np.sum(y)


def test_subscript_of_a_call_in_a_loop_of_elementary_functions() -> None:
    """The choice of vector forms took every subscript to be of a name."""
    check_gradients(row_of_a_call, X, 0.5 * X, wrt=(0, 1), jit=False)


def at_most(u: Any, j: Any, p: Any) -> Any:
    if j <= 0:
        return p
    return u[j + 2] * at_most(u, j - 1, p * u[j])


def unused_recursion(x: Any) -> Any:
    s = at_most(x, 2, 0.5)
    s = x[0]
    return s * s


def test_index_error_in_a_call_whose_result_is_not_used() -> None:
    """The call of a function that calls itself was dropped with what it reads."""
    f = grad(unused_recursion, jit=False)
    for g in (f, f.primal, f.value_and_grad):
        with pytest.raises(IndexError):
            g(X)
        g(np.ones(5))


def inverse_of_tanh(x: Any) -> Any:
    return math.atanh(np.float32(0.7) * x[0]) + math.atanh(0.5 * x[1])


def test_functions_that_are_not_defined_at_1() -> None:
    check_gradients(inverse_of_tanh, X, jit=False)


def root_of_product(x: Any) -> Any:
    return np.sqrt(x[0]) * x[1]


def chosen_root(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


def test_a_zero_adjoint_wins_against_an_infinite_partial() -> None:
    assert np.array_equal(grad(root_of_product, jit=False)(np.zeros(2)), [0.0, 0.0])
    assert np.array_equal(grad(chosen_root, jit=False)(np.array([0.0, 4.0])), [0.0, 0.25])
