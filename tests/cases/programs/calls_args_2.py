"""Arguments, mutation, inner calls, closures, names, messages (more)."""

# ruff: noqa: B007, E501, E741  (the programs stay as they were reported)
import numpy as np
from case import Case, cstep

SX = np.array([1.0, -2.0, 0.5])


def fill_prefix(out, src):
    for i in range(src.shape[0]):
        out[i] = src[i] * src[i]
        if i > 0:
            out[i] += out[i - 1]


def output_parameter(x):
    out = np.zeros_like(x)
    fill_prefix(out, x)
    fill_prefix(out, out * 0.5)
    return np.sum(out)


OP = np.array([0.5, -1.0, 1.5])


def inner_most(x):
    return np.sin(x) * x


def middle(x, y):
    t = inner_most(x * y)
    return t, t * inner_most(y)


def outer_most(x, y):
    a, b = middle(x, y)
    c, _ = middle(b, x)
    return a + b * c


def make_quadratic(a, c):
    def quad(x):
        return np.sum(a * x * x) + c * x[0]
    return quad


QUAD = make_quadratic(np.array([1.0, -2.0, 0.5]), 3.0)


def loop_target_reused(x, n):
    x0 = x
    for x1 in range(n):
        x = x * x0 + x1
    for x1 in range(n - 1, 0, -1):
        x = x + x1 * x0
    return x


CASES = [
    Case("output-parameter", "calls", output_parameter, (OP,), cstep(output_parameter, (OP,)), source="vgvassilev/clad#387, #646"),
    Case("three-levels", "calls", outer_most, (0.8, -1.3), cstep(outer_most, (0.8, -1.3), (0, 1)), wrt=(0, 1), source="google/tangent#71"),
    Case("closure-over-array", "closure-default", QUAD, (SX,), 2 * np.array([1.0, -2.0, 0.5]) * SX + np.array([3.0, 0.0, 0.0]),
         source="EnzymeAD/Enzyme.jl#701, #3124"),
    Case("loop-target-reused", "names", loop_target_reused, (0.9, 3), cstep(loop_target_reused, (0.9, 3)), source="google/tangent#69; numba/numba#6597"),
]
