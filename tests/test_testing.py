import numpy as np
import pytest

import s2sad.testing
from s2sad import GradientMismatch, check_gradients, grad


def quadratic(x, c):
    return np.sum(x * x) * c


def writes(x):
    x[0] = x[0] * x[1]
    return x[0] * x[0]


def root(x):
    return np.sqrt(x)


def jumps(x):
    if x > 1.0:
        return x + 5.0
    return x


def constant(x):
    return 0.0 * x


def test_a_right_gradient_is_reported():
    report = check_gradients(quadratic, np.array([1.0, -2.0, 0.0]), 3.0, wrt=("x", "c"))
    assert report.checked == report.entries == 4 and report.largest < 1e-6
    assert "gradient of `quadratic` with respect to x, c agrees" in str(report) and "4 entries (all)" in str(report)


def test_arguments_that_the_function_overwrites():
    x = np.array([2.0, 3.0])
    check_gradients(writes, x)
    assert list(x) == [2.0, 3.0]


def test_float32_small_domains_zero_gradients_and_objects_of_ours():
    check_gradients(quadratic, np.ones(3, np.float32), 2.0)
    check_gradients(root, np.float32(0.5))
    check_gradients(root, 1e-9)
    check_gradients(constant, 2.0)
    assert check_gradients(grad(quadratic, wrt="c"), [1.0, 2.0], 3.0).wrt == ("c",)


def test_large_arguments_are_sampled():
    report = check_gradients(quadratic, np.linspace(1, 2, 200), 1.0)
    assert report.checked == s2sad.testing.ALL and report.entries == 200


def test_where_there_is_no_limit_nothing_is_claimed():
    with pytest.raises(GradientMismatch, match="cannot be checked"):
        check_gradients(jumps, 1.0)


class Wrong:
    """Stands for value_and_grad with a mistake in what it gives."""

    def __init__(self, change):
        self.change = change

    def __call__(self, f, wrt=0, jit=True):
        right = s2sad.value_and_grad(f, wrt=wrt, jit=jit)

        class Changed:
            _program, _wrt, _single = right._program, right._wrt, right._single

            def __call__(_, *args):
                return self.change(*right(*args), *args)

        return Changed()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v, g, x, c: (v, g + np.array([0, 0, 1e-3])), r"`x\[2\]`: s2sad gives"),
        (lambda v, g, x, c: (v, np.where(np.arange(3) == 1, np.nan, g)), r"`x\[1\]`: s2sad gives nan"),
        (lambda v, g, x, c: (v + 1e-3, g), "the value"),
        (lambda v, g, x, c: (v, g.astype(np.float32)), "is float32"),
        (lambda v, g, x, c: (v, g[:2]), r"float64\[2\]"),
        (lambda v, g, x, c: (v, [g, x.fill(0)][0]), "changed its argument `x`"),
    ],
)
def test_a_wrong_gradient_is_found(monkeypatch, change, message):
    monkeypatch.setattr(s2sad.testing, "value_and_grad", Wrong(change))
    with pytest.raises(AssertionError, match=message) as e:
        check_gradients(quadratic, np.array([1.0, 2.0, 3.0]), 3.0)
    assert isinstance(e.value, GradientMismatch)


def test_a_wrong_entry_outside_the_sample_is_found_by_the_direction(monkeypatch):
    def change(v, g, x, c):
        g = g.copy()
        sampled = np.random.default_rng(0).choice(g.size, s2sad.testing.ALL, replace=False)
        g[np.setdiff1d(np.arange(g.size), sampled)[0]] += 0.1
        return v, g

    monkeypatch.setattr(s2sad.testing, "value_and_grad", Wrong(change))
    with pytest.raises(GradientMismatch, match="random direction"):
        check_gradients(quadratic, np.linspace(1, 2, 200), 1.0)
