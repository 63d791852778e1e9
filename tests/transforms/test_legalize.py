"""The legal form computes, compiled by Numba, what NumPy computes: values, dtypes and effects."""

import ast
import dataclasses
import textwrap
import warnings

import gast
import numpy as np
import pytest
from numba import njit

from s2sad import runtime
from s2sad.analysis.types import infer, result_type
from s2sad.errors import TypeInferenceError
from s2sad.lang import tree as T
from s2sad.lang.tree import Function, SourceMap
from s2sad.lang.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Array, Scalar
from s2sad.transforms.legalize import legalize, show

F8, F8_2, F4, F4_2 = Array("float64", 1), Array("float64", 2), Array("float32", 1), Array("float32", 2)
I8, B1 = Array("int64", 1), Array("bool", 1)


def legal(text, **params):
    text = textwrap.dedent(text).strip()
    source, _ = SourceMap().add("model.py", 1, "f", text.splitlines())
    f = Function("f", tuple(params), tuple(gast.parse(text).body), source=source)
    return legalize(dataclasses.replace(f, names=infer(f, params)))


def text_of(text, **params):
    return show(legal(text, **params))


# --- what changes, what stays -----------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "y = 2.0 * x + np.sin(x) ** 2\nx += y\nx[0] += x[1]",
        "s = 0\nfor i in range(n):\n    s = s + x[i] / 2\nreturn s",
        "y = np.zeros((n, 2))\ny[:, 0] = x[0]\nz = y @ y.T\nreturn np.sum(z)",
        "x += np.sum(x) * np.sin(x)\nreturn x[n] ** n",
        "k = n ** 2 // 3 + n % 2\nreturn x[k]",
    ],
)
def test_float64_code_stays(text):
    assert text_of(text, x=F8, n=WEAK_INT) == text


@pytest.mark.parametrize(
    "old, new",
    [
        ("A[:, 0] = y", "copyto(A[:, 0], y)"),
        ("y[1:] += y[:-1]", "copyto(y[1:], y[1:] + y[:-1])"),
        ("y[1:] -= a * y[:-1]", "copyto(y[1:], y[1:] - a * y[:-1])"),
        ("y += y[::-1]", "copyto(y, y + y[::-1])"),
        ("y *= y[0:1]", "copyto(y, y * y[0:1])"),
        ("v = y[1:]\nv += y[:-1]", "v = y[1:]\ncopyto(v, v + y[:-1])"),
        ("y[1:] += 0.5 * y[1:]", "add_to(y[1:], 0.5 * y[1:])"),
        ("A[:, 0] -= y[0]", "subtract_from(A[:, 0], y[0])"),
        ("k[1:] += k[:-1]", "copyto(k[1:], k[1:] + k[:-1])"),
        ("k[1:] += 1", "k[1:] += 1"),
        ("y[1:] = y[:-1]", "copyto(y[1:], y[:-1].copy())"),
        ("y[1:] = A[0, 1:]", "copyto(y[1:], A[0, 1:])"),
        ("y[k] += 1.0", "y[k] = y[k] + 1.0"),
        ("y[m] += a", "set_mask(y, m, get_mask(y, m) + a)"),
        ("z = y[m]", "z = get_mask(y, m)"),
        ("z = np.array([a, 1])", "z = np.array([a, 1])"),
        ("z = np.asarray(y)", "z = y"),
        ("z = np.array(y)", "z = y.copy()"),
        ("z = np.asarray(y, dtype=np.float32)", "z = y.astype(np.float32)"),
        ("z = np.zeros([n, 2], dtype=int)", "z = np.zeros((n, 2), dtype=np.int64)"),
        ("z = np.zeros(n, dtype='float32')", "z = np.zeros(n, dtype=np.float32)"),
        ("z = y.astype(float)", "z = y.astype(np.float64)"),
        ("z = np.float32(y)", "z = y.astype(np.float32)"),
        ("z = 2 ** -1", "z = 2.0 ** (-1)"),
        ("z = n ** j", "z = int_power(n, j)"),
        ("z = n ** -2", "z = float(n) ** (-2)"),
        ("z = abs(y)", "z = np.abs(y)"),
        ("z = np.mean(A, axis=0)", "z = mean_of(A, axis=0)"),
        ("z = np.reshape(A.T, n)", "z = reshaped(A.T, n)"),
        ("z = A @ k", "z = matmul(A, k)"),
    ],
)
def test_forms(old, new):
    assert text_of(old, y=F8, a=WEAK_FLOAT, k=I8, m=B1, n=WEAK_INT, j=WEAK_INT, A=F8_2) == new


@pytest.mark.parametrize(
    "old, new",
    [
        ("y = s * 2.0", "y = s * np.float32(2.0)"),
        ("y = s * a", "y = s * np.float32(a)"),
        ("y = s * (a + 1.0)", "y = s * np.float32(a + 1.0)"),
        ("y = x * 2", "y = x * 2"),
        ("y = s ** 2", "y = s ** 2"),
        ("y = s * d", "y = s * d"),
        ("y = x * k", "y = x.astype(np.float64) * k"),
        ("b = s < 0.1", "b = s < np.float32(0.1)"),
        ("y = np.where(x > 0, x, 0.0)", "y = where_of(x > 0, x, np.float32(0.0))"),
        ("y = np.maximum(x, 0.0)", "y = np.maximum(x, np.float32(0.0))"),
        ("y = math.sin(s) * s", "y = np.float32(math.sin(np.float64(s))) * s"),
        ("x[0] += 0.1", "x[0] += np.float32(0.1)"),
        ("t = 0.0\nt = t + s", "t = np.float32(0.0)\nt = t + s"),
        ("y = strong(s, 0.5 * a)", "y = strong(s, np.float32(0.5 * a))"),
        ("y = pow_dx(s, 3)", "y = pow_dx(s, 3)"),
        ("y = float(s) * a", "y = np.float64(s) * a"),
    ],
)
def test_float32(old, new):
    assert text_of(old, x=F4, s=Scalar("float32"), a=WEAK_FLOAT, d=Scalar("float64"), k=I8) == new


@pytest.mark.parametrize(
    "text, words",
    [("y = n ** k", "may be negative"), ("y = x[m, 0]", "mask with further indices"), ("y = np.zeros(3, order='F')", "order")],
)
def test_refusals(text, words):
    with pytest.raises(TypeInferenceError, match=words):
        legal(text, n=WEAK_INT, k=I8, x=F8_2, m=B1)


def test_the_input_is_not_changed_and_twice_is_once():
    text = "y[1:] += y[:-1]\nz = y[y > 0]\nw = x * 2.0\nreturn np.max(x)"
    f = Function("f", ("y", "x"), tuple(T.stmts(text)))
    f = dataclasses.replace(f, names=infer(f, {"y": F8, "x": F4}))
    before = show(f)
    once = legalize(f)
    assert show(f) == before
    assert show(legalize(once)) == show(once)


def test_positions_are_kept():
    new = legal("y = x + 1\ny[1:] += y[:-1]", x=F8)
    assert [s.lineno for s in new.body] == [1, 2]


# --- compiled against NumPy -------------------------------------------------------------

PROGRAMS = {
    "float32": """
        y = x * 2.0 + s
        z = np.where(y > 0.1, y, 0.0) ** 2 / 3
        x[1:] += 0.1 * z[:-1]
        t = 0.0
        for i in range(x.size):
            t += x[i] * 0.3
            if t > 1.1:
                t = t - i * s
        w = x * k
        x[k] -= 1
        h = math.exp(s) * s + np.maximum(s, 0.5) + np.mean(z) + (w[0] + b)
        return h + t
    """,
    "overlap": """
        A[1:] += A[:-1]
        A[:, 1:] -= 0.5 * A[:, :-1]
        v = A[0]
        v += A[0, ::-1]
        A += A.T
        A[k] *= 2.0
        A[A > 3.0] -= 3.0
        B = A[A[:, 0] > 0.0]
        return np.sum(A * A) + np.sum(B) + 2 ** -1 + np.sum(np.reshape(A.T, A.size)[:3]) + np.sum(np.stack((v, v))[1])
    """,
}
ARGS = {
    "float32": (np.array([0.3, -1.2, 0.7, 2.1], np.float32), np.float32(0.37), np.array([1, 2, 0, 3]), True),
    "overlap": (np.arange(9.0).reshape(3, 3) / 4 - 1, np.array([0, 2, 0])),
}
PARAMS = {"float32": {"x": F4, "s": Scalar("float32"), "k": I8, "b": WEAK_BOOL}, "overlap": {"A": F8_2, "k": I8}}


def compiled(body, params, **options):
    space = {"np": np, "math": __import__("math"), **{n: getattr(runtime, n) for n in runtime.__all__}}
    code = ast.unparse(ast.parse(f"def f({', '.join(params)}):\n{textwrap.indent(body, '    ')}"))
    exec(code, space)
    return njit(error_model="numpy", boundscheck=True)(space["f"]) if options.get("jit", True) else space["f"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_mean_what_numpy_means(name):
    text = textwrap.dedent(PROGRAMS[name]).strip()
    f = legal(text, **PARAMS[name])
    original, plain, fast = (compiled(body, PARAMS[name], jit=jit) for body, jit in ((text, False), (show(f), False), (show(f), True)))
    results = []
    for g in (original, plain, fast):
        args = [a.copy() if isinstance(a, np.ndarray) else a for a in ARGS[name]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = g(*args)
        results.append((value, args[0]))
    want, after = results[0]
    rtol = 1e-6 if name == "float32" else 1e-13
    for value, changed in results[1:]:
        np.testing.assert_allclose(value, want, rtol=rtol)
        np.testing.assert_allclose(changed, after, rtol=rtol)
        assert changed.dtype == after.dtype
    kind = result_type(dataclasses.replace(f, names=f.names))
    assert kind == Scalar(str(np.asarray(want).dtype))
