"""The registries of user rules."""

import numpy as np
import pytest
from numba import njit

from s2sad import custom


def test_rules_are_found_by_object():
    """Plain, compiled and library functions."""

    def f(x):
        return x

    compiled = njit(f)
    for fn in (f, compiled, np.sinc):
        assert custom.adjoint_rule(fn) is None

        @custom.adjoint_of(fn)
        def rule(x, y, y_bar):
            return y_bar

        assert custom.adjoint_rule(fn) is rule
    custom._adjoints.pop(id(np.sinc))


def test_nondifferentiable():
    """By a call or as a decorator, it returns the function."""

    @custom.nondifferentiable
    def g(x):
        return x

    assert custom.is_nondifferentiable(g) and not custom.is_nondifferentiable(test_nondifferentiable)
    with pytest.raises(TypeError):
        custom.nondifferentiable(3)
    assert custom.stop_gradient(2.0) == 2.0
