"""Gradients of programs given as text, run in plain Python and compared with differences."""

import copy

import numpy as np

from s2sad import runtime
from s2sad.transforms import pipeline
from s2sad.transforms.example import program

STEP = 1e-6


def emitted(text, types, wrt="x", mode="adjoint"):
    """The text of a mode and the function that it defines."""
    f = program(text, types)
    names = tuple(wrt.split(", "))
    out = pipeline.emit(f, {p: f.names[p] for p in f.params}, names, mode)
    space = {n: getattr(runtime, n) for n in runtime.__all__}
    exec(out.text, space)
    return out.text, space[out.name]


def check(text, types, *args, wrt="x"):
    """Compare value and gradient of a program with plain Python, arguments untouched; returns the adjoint's text."""
    f = program(text, types)
    shown, adjoint = emitted(text, types, wrt)
    _, both = emitted(text, types, wrt, "value_and_adjoint")
    _, primal = emitted(text, types, wrt, "primal")
    names = tuple(wrt.split(", "))
    before = copy.deepcopy(args)
    check_tangent(text, types, args, names, adjoint, primal)
    found = adjoint(*args)
    value, *again = both(*args)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b, err_msg="an argument was altered")
    assert value == primal(*copy.deepcopy(args))
    for name, got, same in zip(names, found if len(names) > 1 else [found], again, strict=True):
        k = f.params.index(name)
        np.testing.assert_array_equal(got, same, err_msg="value_and_adjoint gives another gradient")
        np.testing.assert_allclose(got, differences(primal, args, k), rtol=1e-6, atol=1e-7)
    return shown


def check_tangent(text, types, args, names, adjoint, primal):
    """The tangent of a program: the same value, and the dot-product test against the adjoint."""
    shown, tangent = emitted(text, types, ", ".join(names), "tangent")
    rng = np.random.default_rng(len(text))
    f = program(text, types)
    given = copy.deepcopy(args)
    dots = [rng.normal(size=np.shape(args[f.params.index(n)]))[()] for n in names]
    value, dot = tangent(*given, *dots)
    for a, b in zip(given, args, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=f"an argument was altered by\n{shown}")
    assert value == primal(*copy.deepcopy(args)), shown
    found = adjoint(*copy.deepcopy(args))
    product = sum(np.sum(np.asarray(g) * d) for g, d in zip(found if len(names) > 1 else [found], dots, strict=True))
    np.testing.assert_allclose(dot, product, rtol=1e-9, atol=1e-9, err_msg=shown)


def differences(f, args, k):
    """Central differences with respect to one argument."""
    x = np.asarray(args[k], dtype=float)
    out = np.zeros(x.shape)
    for cell in np.ndindex(x.shape):
        ends = []
        for h in (STEP, -STEP):
            moved = copy.deepcopy(list(args))
            if x.ndim:
                moved[k][cell] += h
            else:
                moved[k] += h
            ends.append(f(*moved))
        out[cell] = (ends[0] - ends[1]) / (2 * STEP)
    return out
