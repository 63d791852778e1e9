"""`assert` and `raise`: the exceptions of the function itself, with their texts, in the primal, the gradient and the tangent.

PYTEST_DONT_REWRITE: pytest would change the texts of the functions' own assertions.
"""

import numpy as np
import pytest

import s2sad

LIMIT = 3.0
NAME = "rate"


def total(x, n):
    assert n >= 0, f"n is {n}"
    assert x.size
    s = 0.0
    for i in range(n):
        if x[i] < 0.0:
            raise ValueError(f"{NAME} {i} is negative: {x[i]:.2f} {{}}")
        s += np.sqrt(x[i])
    if s > LIMIT:
        raise OverflowError("too {large}")
    if n == 1:
        return s
    elif n < 100:
        return s * s
    raise TypeError


CALLS = [
    (np.array([1.0, 4.0, 0.25]), 2),
    (np.array([1.0, 4.0, 0.25]), 3),
    (np.array([1.0, -4.1, 0.25]), 3),
    (np.ones(2), -1),
    (np.ones(0), 0),
    (np.array([2.0]), 1),
    (np.zeros(100), 100),
]


def outcome(f, args):
    """The value, or the class and the text of the exception."""
    try:
        return f(*args)
    except (ValueError, OverflowError, AssertionError, TypeError) as e:
        return type(e), str(e)


@pytest.mark.parametrize("jit", [False, True])
def test_the_exceptions_are_those_of_python(jit):
    primal, both = s2sad.differentiable(total, jit=jit), s2sad.value_and_grad(total, jit=jit)
    for args in CALLS:
        expected = outcome(total, args)
        assert outcome(primal, args) == expected
        found = outcome(both, args)
        if isinstance(expected, tuple):
            assert found == outcome(both.grad, args) == expected
            assert outcome(lambda x, n: primal.jvp(x, n, tangents=x), args) == expected
        else:
            assert found[0] == expected


def kind(x, mode):
    if mode == 0:
        y = x * x
    elif mode == 1:
        y = np.sin(x)
    else:
        raise NotImplementedError(f"mode {mode}")
    return y


def test_a_branch_that_raises_binds_nothing():
    g = s2sad.grad(kind, jit=False)
    assert g(3.0, 0) == 6.0 and g(0.0, 1) == 1.0
    with pytest.raises(NotImplementedError, match="^mode 2$"):
        g(3.0, 2)


def checked(v, k):
    if v == 0.0:
        raise ZeroDivisionError(f"entry {k}")
    return 1.0 / v


def sum_of_checked(x):
    s = 0.0
    for k in range(len(x)):
        s = s + checked(x[k], k) * s + x[k]
    return s


def test_callees_raise():
    g = s2sad.grad(sum_of_checked, jit=False)
    x = np.array([0.5, 2.0, -3.0])
    h = 1e-6
    for k, d in enumerate(np.eye(3)):
        assert g(x)[k] == pytest.approx((sum_of_checked(x + h * d) - sum_of_checked(x - h * d)) / (2 * h), rel=1e-7)
    with pytest.raises(ZeroDivisionError, match="^entry 1$"):
        g(np.array([1.0, 0.0]))
    assert g.source().count("raise") == 1


def asserts_in_a_loop(x):
    s = 0.0
    for v in x:
        assert v > 0.0
        s += v * v
    return s


def test_a_check_in_a_loop_whose_value_is_not_needed_stays():
    with pytest.raises(AssertionError):
        s2sad.grad(asserts_in_a_loop, jit=False)(np.array([1.0, -1.0]))


class Own(ValueError):
    pass


def raises_own(x):
    if x < 0.0:
        raise Own("negative")
    return x


def raises_from(x):
    if x < 0.0:
        raise ValueError("negative") from None
    return x


def raises_two(x):
    if x < 0.0:
        raise ValueError("negative", x)
    return x


def raises_number(x):
    if x < 0.0:
        raise ValueError(x)
    return x


@pytest.mark.parametrize("f", [raises_own, raises_from, raises_two, raises_number])
def test_refused(f):
    with pytest.raises(s2sad.UnsupportedError, match="S2S131") as e:
        s2sad.grad(f, jit=False)(1.0)
    assert e.value.problems[0].place.text.strip().startswith("raise")
