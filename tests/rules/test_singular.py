"""Where a partial is infinite, an adjoint that is zero stays zero."""

import itertools

import numpy as np
import pytest

from s2sad.backend.compile import load
from s2sad.lang.types import WEAK_FLOAT, Array
from s2sad.rules import TABLE
from s2sad.rules.names import resolve
from s2sad.transforms import pipeline
from s2sad.transforms.example import program

ROWS = sorted((name, k) for name, rows in TABLE.items() for k, row in enumerate(rows) if row.rule.singular and row.rule.kind == "elementwise")
POINTS = (-1.0, -0.0, 0.0, 1.0, 2.0)


def adjoint(text, params, array):
    """The adjoint of a program of floats, or of one of vectors, in plain Python."""
    types = dict.fromkeys(params, Array("float64", 1) if array else WEAK_FLOAT) | {"c": WEAK_FLOAT}
    f = program(text, "; ".join(f"{p}: {'f8[:]' if array and p != 'c' else 'f8'}" for p in types))
    return load(pipeline.emit(f, {p: f.names[p] for p in types}, params, "adjoint"), jit=False)


@pytest.mark.parametrize(("name", "k"), ROWS, ids=[name for name, _ in ROWS])
def test_zero_stays_zero(name, k):
    """Where the value is finite: times zero. Where it is infinite, too: where a mask takes another value."""
    params = tuple(TABLE[name][k].rule.params)
    call = f"{name}({', '.join(params)})"
    scaled = adjoint(f"return c * {call}", params, False)
    masked = adjoint(f"return np.sum(np.where({params[0]} > 5.0, {call}, c))", params, True) if name.startswith("np.") else None
    for point in itertools.product(POINTS, repeat=len(params)):
        with np.errstate(all="ignore"):
            try:
                value = resolve(name)(*point)
            except (ArithmeticError, ValueError):
                continue  # the function itself is not defined there
            found = [scaled(*point, 0.0, np.float64(1.0))] if np.isfinite(value) else []
            if masked is not None:
                found.append(masked(*(np.array([v]) for v in point), 0.0, np.float64(1.0)))
        for got in found:
            for g in got if isinstance(got, tuple) else (got,):
                assert np.all(g == 0.0), f"{call} at {point}: {g}"
