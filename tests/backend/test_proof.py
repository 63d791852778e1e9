"""What is evidence against a gradient, and what is not."""

import math

import numpy as np
import pytest

from s2sad.backend.proof import disagreement, slopes

EPS = float(np.finfo(np.float64).eps)


def verdict(f, gradient, x=1.0, tangent=None, **options):
    forward = None if tangent is None else lambda args, steps: tangent(args[0]) * float(steps[0])
    return disagreement([x], [0], [gradient], lambda args: f(args[0]), forward, options.pop("single", False), **options)


def test_a_right_gradient_and_a_wrong_one():
    assert verdict(math.sin, math.cos(1.0)) is None
    assert verdict(math.sin, math.cos(1.0), tangent=math.cos) is None
    found = verdict(math.sin, 1.01 * math.cos(1.0), tangent=math.cos)
    assert found.differences == pytest.approx(found.tangent) and found.gradient == pytest.approx(1.01 * found.tangent)
    assert "the gradient gives" in str(found) and "forward mode" in str(found) and "differences" in str(found)
    assert verdict(math.sin, 1.01 * math.cos(1.0)).tangent is None


def test_differences_show_what_both_modes_get_wrong_unless_it_is_meant():
    assert verdict(math.sin, 2.0, tangent=lambda x: 2.0).differences is not None
    assert verdict(math.sin, 2.0, tangent=lambda x: 2.0, smooth=False) is None


def test_a_wrong_tangent_does_not_accuse_the_gradient():
    assert verdict(math.sin, math.cos(1.0), tangent=lambda x: 3.0) is None


def test_modes_that_differ_where_differences_say_nothing():
    rough = lambda x: x * x + 1e-3 * math.sin(1e9 * x)  # noqa: E731
    assert verdict(rough, 2.0, tangent=lambda x: 2.5) is not None
    assert verdict(rough, 2.0, tangent=lambda x: 2.5 + 1e16 * (x - 1.0)) is None  # rounding errors change the tangent as much


@pytest.mark.parametrize("gradient", [1.0, 2.0, 1.5])
def test_at_a_kink_every_slope_between_is_accepted(gradient):
    assert verdict(lambda x: 2.0 * x if x >= 1.0 else x + 1.0, gradient) is None


@pytest.mark.parametrize("d", [1e-9, 2.3e-7, 1e-5, 2.4e-4, 5e-4])
def test_kinks_and_jumps_nearby(d):
    assert verdict(lambda x: 3.0 * x if x > 1.0 + d else x + 2.0 * (1.0 + d), 1.0) is None
    assert verdict(lambda x: x + 1e-6 if x > 1.0 + d else x, 1.0) is None


def test_steps_noise_and_ends_of_the_domain():
    assert verdict(lambda x: math.floor(1e6 * x) / 1e6, 0.0, x=1.0 + 5e-7) is None
    assert verdict(lambda x: float(np.float32(x)) ** 2, 2.0) is None
    assert verdict(math.sqrt, math.inf, x=0.0) is None
    assert verdict(math.log, 1e300, x=1e-300) is None
    assert verdict(lambda x: x * 1e308, 1e308, x=10.0) is None


def test_a_gradient_that_is_nan_where_the_others_are_not():
    assert verdict(math.sin, math.nan, tangent=math.cos) is not None
    assert verdict(math.sin, math.nan, tangent=lambda x: math.nan) is None


def test_float32():
    x = np.linspace(0.5, 2.0, 50).astype(np.float32)

    def total(args):
        return float(np.sum(np.sin(args[0])))

    def along(args, steps):
        return float(np.sum(np.cos(args[0]) * steps[0]))

    assert disagreement([x], [0], [np.cos(x)], total, along, True) is None
    assert disagreement([x], [0], [np.where(x < 1.0, 0, np.cos(x))], total, along, True) is not None
    assert disagreement([x[:0]], [0], [x[:0]], total, along, True) is None


def test_step_lengths_differ():
    assert len(slopes(math.sin, EPS)) == 3
