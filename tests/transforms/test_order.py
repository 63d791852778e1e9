"""Of several errors in one statement the one that Python meets first is raised, and no operand is evaluated before its turn needlessly."""

import itertools
import math

import numpy as np
import pytest

import s2sad


def inverse(y):
    return 1.0 / y


def root(y):
    return math.sqrt(y)


def swapped(a, b):
    return 1.0 / b + a


def adds(u, k):
    u[k] = u[k] + 1.0
    return u[k]


def left_of_ternary(x, y, k):
    return x[k] * (1.0 / y if y < 5.0 else y)


def left_of_call(x, y, k):
    return x[k] + inverse(y) * root(y)


def right_of_call(x, y, k):
    return inverse(y) * x[k] + root(y)


def arguments(x, y, k):
    return swapped(x[k], root(y))


def argument_and_body(x, y, k):
    return swapped(root(y), y) + x[k]


def left_of_extreme(x, y, k):
    return 1.0 / y * max(x[k], math.sqrt(y), 0.5)


def chained(x, y, k):
    return 2.0 * y if 1.0 / y < max(x[k], 0.0) < math.sqrt(y) + 3.0 else y


def target(x, y, k):
    u = x.copy()
    u[max(k, int(u[k]))] = 1.0 / y
    return u[0]


def element_added_to(x, y, k):
    u = x.copy()
    u[k] += 1.0 / y if y < 5.0 else math.sqrt(y)
    u[k] -= max(inverse(y), root(y))
    return u[0] + u[1]


def called_with_write(x, y, k):
    u = x.copy()
    return 1.0 / y + adds(u, k) + u[0]


def lazy(x, y, k):
    if y > 1.0 and inverse(x[k]) > root(y) or x[k] / y > max(x[0], y):
        return y
    return y * y


def sums(x, y, k):
    return 1.0 / y * sum(v / x[k] for v in x) + math.sqrt(y) * np.max(x[2:])


def pairs(x, y, k):
    a, b = divmod(1.0 / y, max(x[k], root(y)))
    return a * y + b


def reductions(x, y, k):
    return np.max(x[k:]) * (x[k + 1] if y > 0.0 else root(y - 1.0))


PROGRAMS = [left_of_ternary, left_of_call, right_of_call, arguments, argument_and_body, left_of_extreme, chained, target, element_added_to,
            called_with_write, lazy, sums, pairs, reductions]
INPUTS = list(itertools.product((np.array([1.5, 2.5, 0.5]), np.array([1.0, 0.0])), (2.0, 0.0, -1.0, 9.0), (0, 1, 2, 3)))


def outcome(f, *args):
    try:
        return f(*args)
    except (IndexError, ArithmeticError, ValueError) as e:
        return type(e)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_the_first_error_is_raised(f):
    primal, both = s2sad.differentiable(f, wrt="y", jit=False), s2sad.value_and_grad(f, wrt="y", jit=False)
    kinds = set()
    with np.errstate(all="ignore"):
        for x, y, k in INPUTS:
            expected = outcome(f, x.copy(), y, k)
            kinds.add(expected if isinstance(expected, type) else float)
            assert outcome(primal, x.copy(), y, k) == expected, (x, y, k)
            found = outcome(both, x.copy(), y, k)
            assert (found if isinstance(expected, type) else found[0]) == expected, (x, y, k)
    assert len(kinds) > 1


def quiet(x, y, k):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * (y * y if i > k else y) + np.sin(x[i]) * max(y, x[i])
    return s


def test_what_raises_nothing_else_stays_in_its_place():
    text = s2sad.grad(quiet, wrt="y", jit=False).primal.source(np.ones(3), 1.0, 1)
    assert "s += x[i] * chosen + np.sin(x[i]) * max_value" in text, text
