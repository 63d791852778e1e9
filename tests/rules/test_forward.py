"""Forward mode of every row: the tangent of a call against central differences, and against the adjoint by the dot-product test."""

import gast
import numpy as np
import pytest
from test_table import CALLS, ELEMENTWISE, RNG, TABLE, draw, type_of

from s2sad import runtime
from s2sad.lang.tree import Function
from s2sad.lang.types import is_float
from s2sad.rules import lookup
from s2sad.rules.names import METHODS
from s2sad.transforms import pipeline

SPACE = {n: getattr(runtime, n) for n in runtime.__all__}
STEP = 1e-6


def written(v, given):
    """An argument as text: arrays and floats become parameters."""
    if isinstance(v, tuple):
        return "(" + "".join(written(i, given) + ", " for i in v) + ")"
    if isinstance(v, (np.ndarray, float)) and not isinstance(v, bool):
        given.append(v)
        return f"p{len(given) - 1}"
    return f"np.{v.__name__}" if isinstance(v, type) else repr(v)


def program(name, args):
    """`return np.name(p0, ...)` as a function, and the values of its parameters."""
    given = []
    texts = [written(a, given) for a in args]
    call = f"{texts[0]}.{name}({', '.join(texts[1:])})" if name in METHODS else f"{name}({', '.join(texts)})"
    params = tuple(f"p{k}" for k in range(len(given)))
    return Function("f", params, tuple(gast.parse(f"y = {call}\nreturn y").body)), dict(zip(params, given, strict=True))


def run(function, values, wrt, mode):
    types = {p: type_of(v) for p, v in values.items()}
    out = pipeline.emit(function, types, wrt, mode)
    space = dict(SPACE)
    exec(out.text, space)
    return space[out.name], out.text


def check(name, args, single=False):
    function, values = program(name, args)
    row = lookup(name, tuple(map(type_of, args)))
    floats = tuple(p for p, v in values.items() if is_float(type_of(v)))
    if name == "np.interp":
        floats = tuple(p for p in floats if p != "p1")
    if row.kind == "zero" or not floats:
        return
    if single:
        values = {p: narrow(v) for p, v in values.items()}
    primal = run(function, values, floats, "primal")[0]
    for wrt in {floats, floats[:1], floats[-1:]}:
        tangent, text = run(function, values, wrt, "tangent")
        dots = [np.asarray(RNG.normal(size=np.shape(values[w])), dtype=np.asarray(values[w]).dtype)[()] for w in wrt]
        kept = [np.copy(d) for d in dots]
        value, got = tangent(*values.values(), *dots)
        assert np.shape(got) == np.shape(value), text
        if isinstance(value, (np.ndarray, np.generic)):
            assert np.asarray(got).dtype == value.dtype, text
        for d, k in zip(dots, kept, strict=True):
            np.testing.assert_array_equal(d, k)
            assert not (isinstance(got, np.ndarray) and np.may_share_memory(got, d)), text
        np.testing.assert_array_equal(value, primal(*values.values()))
        if single:
            continue
        ends = [primal(*{**values, **{w: values[w] + h * d for w, d in zip(wrt, dots, strict=True)}}.values()) for h in (STEP, -STEP)]
        np.testing.assert_allclose(got, (np.asarray(ends[0]) - ends[1]) / (2 * STEP), rtol=2e-6, atol=3e-7, err_msg=f"{name} {wrt}\n{text}")


def narrow(v):
    return v.astype(np.float32) if isinstance(v, np.ndarray) and v.dtype == np.float64 else v


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    n = len(TABLE[name][0].rule.params)
    if name in ("np.float32", "modf_fraction"):
        return
    check(name, draw(name, [()] * n))
    if name.startswith("np.") and name != "np.float64":
        for shapes in ([(2, 3)] * n, [(2, 1), (3,), ()][:n], [(0, 3)] * n, [(1,), (2, 1), (1, 2)][:n]):
            check(name, draw(name, shapes))
        check(name, draw(name, [(4, 3)] * n), single=True)


@pytest.mark.parametrize("name", sorted(n for n, rows in TABLE.items() if rows[0].kind == "vjp" and n != "np.arange"))
def test_other(name):
    for args in CALLS[name]:
        if name in ("np.sum", "np.mean", "np.prod", "np.max", "np.min", "np.var", "np.std"):
            # as a user writes it
            names = ("axis", "keepdims") if name not in ("np.var", "np.std") else ("axis", "ddof", "keepdims")
            check_text(name, args[0], dict(zip(names, args[1:], strict=False)))
        else:
            check(name, args)
            check(name, args, single=name != "astype")


def check_text(name, a, options):
    given = "".join(f", {k}={v!r}" for k, v in options.items())
    function = Function("f", ("p0",), tuple(gast.parse(f"y = {name}(p0{given})\nreturn y").body))
    primal = run(function, {"p0": a}, ("p0",), "primal")[0]
    tangent, text = run(function, {"p0": a}, ("p0",), "tangent")
    v = RNG.normal(size=a.shape)
    value, got = tangent(a, v)
    assert np.shape(value) == np.shape(got)
    np.testing.assert_allclose(got, (np.asarray(primal(a + STEP * v)) - primal(a - STEP * v)) / (2 * STEP), rtol=2e-6, atol=3e-7, err_msg=text)


def test_every_row_has_a_forward_form():
    """A row with array results says what its tangent is."""
    scalar = {"np.linalg.norm", "np.trace", "math.fsum", "math.prod", "math.dist", "sum"}
    for name, rows in TABLE.items():
        for row in rows:
            if row.kind == "vjp" and name not in scalar and row.rule.partials:
                assert row.forward or set(row.rule.tangents) == set(row.rule.partials), name
