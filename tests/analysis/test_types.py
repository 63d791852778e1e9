"""Types are compared with what plain NumPy gives when the program runs."""

import ast
import dataclasses

import gast
import numpy as np
import pytest
from numba.core import types as numba_types
from numba.core.typing.arraydecl import get_array_index_type

from s2sad.analysis.types import TypeProblem, infer, join, region, result_type, type_of
from s2sad.errors import TypeInferenceError
from s2sad.lang import tree as T
from s2sad.lang.tree import Function, SourceMap
from s2sad.lang.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Array, Scalar, Static, Tuple

X = np.linspace(0.5, 2.0, 6).reshape(2, 3)
VALUES = {
    "x": X, "x32": X.astype(np.float32), "f": np.asfortranarray(X), "v": np.array([0.5, 1.0, 1.5]), "v32": np.array([0.5, 1.0, 1.5], np.float32),
    "n": 3, "a": 0.7, "b": True, "s": np.float64(0.3), "s32": np.float32(0.3), "k": np.array([0, 2]), "k32": np.array([2, 1, 0], np.int32),
    "m": np.array([True, False, True]), "i": np.int64(1), "m2": X > 1.0, "u8": np.array([1, 2, 3], np.uint8),
}


def of_value(value):
    """The type of a run-time value."""
    if isinstance(value, np.ndarray):
        layout = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"
        return Array(str(value.dtype), value.ndim, layout)
    if isinstance(value, np.generic):
        return Scalar(str(value.dtype))
    if isinstance(value, tuple):
        return Tuple(tuple(map(of_value, value)))
    return {bool: WEAK_BOOL, int: WEAK_INT, float: WEAK_FLOAT}[type(value)]


NAMES = {n: of_value(v) for n, v in VALUES.items()}


def kind(t):
    """What of a type can be seen at run time of every result (the layout of fresh arrays is Numba's choice)."""
    return dataclasses.replace(t, layout="", ones=frozenset()) if isinstance(t, Array) else t


SCALARS = ["n", "a", "b", "s", "s32", "i", "2", "2.5", "True"]
OPERANDS = [*SCALARS, "x", "x32", "v", "v32", "k32", "u8", "m"]


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**", "<", "=="])
def test_binary_operators(op):
    for left in OPERANDS:
        if left == "m" and op == "**":
            continue  # refused: NumPy decides by the value of the exponent
        for right in OPERANDS:
            text = f"{left} {op} {right}"
            try:
                with np.errstate(all="ignore"):
                    want = of_value(eval(text, {}, VALUES))
            except TypeError:
                with pytest.raises(TypeProblem):
                    type_of(T.expr(text), NAMES)
                continue
            if want.dtype == "float16":
                with pytest.raises(TypeProblem, match="float16"):
                    type_of(T.expr(text), NAMES)
                continue
            if not (op == "**" and want == WEAK_INT):
                assert kind(type_of(T.expr(text), NAMES)) == kind(want), text


EXPRESSIONS = """
-n | -a | -b | +x32 | ~m | not a | not s | n ** -1 | 2 ** 3 | a ** -2 | n / 2 | n & 1 | m & m2
a < 1 | a < s | x > 0.5 | v32 == n | 1 < n
x.shape | x.shape[0] | x.shape[-1] | x.shape[:1] | x.size | x.ndim | len(x) | x.shape[0] / 2 | x.shape + (n,)
x.T | f.T | v.T | x.T[0] | x.T.shape[0] | np.pi * v32 | np.pi * s32 | np.inf
x[0] | x[0, 1] | x[:, 1] | x[1:, ::2] | x[None] | x[:, None] | x[..., 0] | x[...] | x[0][1] | x[np.newaxis, 0]
x[k[:1]] | x[:, k] | x[0, k] | x[m2] | v[m] | x[:, m] | v32[k] | v32[0] | x[k[:1], k[1:]]
abs(a) | abs(n) | abs(b) | abs(s) | abs(x32) | float(s32) | int(a) | int(s) | bool(a) | round(a) | round(s) | float(n)
np.float32(a) | np.float64(n) | np.int64(a) | np.float32(x) | x.astype(np.float32) | x.astype(int) | x.copy() | x.T.copy() | v.astype("float32")
"""
LIBRARY = """
np.sin(a) | np.sin(s32) | np.sin(x32) | np.sin(k32) | np.exp(n) | math.sin(s32) | math.exp(n) | np.hypot(x32, a) | np.maximum(a, 0.0) | np.floor(v32)
np.where(x32 > 1.0, x32, 0.0) | np.where(m, v, v32) | np.clip(x32, 0.0, 1.0) | np.clip(a, 0.0, 1.0) | np.maximum(x, v)
np.sum(x) | np.sum(x32) | np.sum(x, axis=0) | np.sum(x, 1) | np.sum(m) | np.sum(x32, axis=1, keepdims=True) | np.mean(x, axis=(0, 1)) | np.mean(k32)
np.max(x32) | np.var(x32) | np.std(x, axis=0, ddof=1) | np.prod(v32) | np.argmax(v) | np.any(m) | np.all(x > 0, axis=0)
np.dot(v, v) | np.dot(x, v) | x @ v | x @ x.T | v32 @ v32 | np.outer(v, v) | np.matmul(x, x.T)
np.zeros(n) | np.zeros((n, 2)) | np.zeros(n, dtype=np.float32) | np.zeros_like(x32) | np.ones((2, n), np.int64) | np.full(n, 1.5)
np.empty_like(x) | np.eye(3) | np.clip(x, min=0.0, max=1.0) | np.sum(a=x, axis=n - 2)
np.full_like(v32, 1.5) | np.zeros(x.shape) | np.zeros(n, dtype=int) | np.arange(n) | np.arange(0.0, 1.0, 0.25) | np.linspace(0.0, 1.0, 5)
np.array([a, s]) | np.array([1, 2]) | np.array([[a, 1.0], [0.0, s]]) | np.asarray(x) | np.array([s32, s32])
np.reshape(x, (3, 2)) | np.reshape(x, -1) | np.ravel(x) | np.transpose(x) | np.concatenate((v, v)) | np.stack((v, v)) | np.cumsum(v) | np.sort(v32)
np.argsort(v) | np.diag(v) | np.diag(x) | np.linalg.norm(v) | np.linalg.norm(x32)
"""


def cases(text):
    return [e.strip() for line in text.strip().splitlines() for e in line.split(" | ")]


@pytest.mark.parametrize("text", cases(EXPRESSIONS) + cases(LIBRARY))
def test_expressions(text):
    import math

    want = of_value(eval(text, {"np": np, "math": math}, VALUES))
    assert kind(type_of(T.expr(text), NAMES)) == kind(want)


@pytest.mark.parametrize(
    "text, words",
    [
        ("m - m", "subtract"),
        ("m ** 2", "power of NumPy bools"),
        ("-m", "negative"),
        ("k32 ** -1", "negative integer powers"),
        ("v[a]", "index of type float"),
        ("v[0, 0]", "2 indices"),
        ("v[..., 0]", "without axes"),
        ("v[b]", "bool as an index"),
        ("v and v", "truth value"),
        ("not v", "truth value"),
        ("a[0]", "cannot be indexed"),
        ("unknown + 1", "no value is assigned"),
        ("max(v, a)", "np.max"),
        ("x[m, k]", "mask together"),
        ("x.flags", "no attribute"),
    ],
)
def test_what_numpy_would_refuse(text, words):
    with pytest.raises(TypeProblem) as info:
        type_of(T.expr(text), NAMES)
    assert words in str(info.value) or words in info.value.instead


INDICES = ["0", "1:", "::2", ":", "None", "...", "0, :", ":, 0", "1:, :", "0, 1:", "0, ::2", ":, None", "None, 0", "..., 0", "0, ...", "..., 1:",
           "1:, ...", "0, None, 1:", "0, 0", "0, 0, :", ":, 0, 0", "0, 1:, :", ":, :, 1:", "..., 0, 0",
           "0, ..., 0", ":, 1:", "1:, 0", "0, 0, 1:", "0, 0, ::2", ":, :, None"]


def numba_index(text):
    """The Numba type of an index."""
    parts = T.expr(f"a[{text}]").slice
    out = []
    for p in parts.elts if isinstance(parts, gast.Tuple) else [parts]:
        if isinstance(p, gast.Slice):
            out.append(numba_types.slice2_type if p.step is None else numba_types.slice3_type)
        elif p.value is None:
            out.append(numba_types.none)
        else:
            out.append(numba_types.ellipsis if p.value is Ellipsis else numba_types.intp)
    return numba_types.Tuple(out) if len(out) > 1 else out[0]


@pytest.mark.parametrize("layout", "CFA")
@pytest.mark.parametrize("ndim", [2, 3])
def test_layout_of_views_is_numbas(layout, ndim):
    for text in INDICES:
        if sum(p.strip() not in ("None", "...") for p in text.split(",")) > ndim:
            continue
        want = get_array_index_type(numba_types.Array(numba_types.float64, ndim, layout), numba_index(text)).result
        got = type_of(T.expr(f"a[{text}]"), {"a": Array("float64", ndim, layout)}) if isinstance(want, numba_types.Array) else None
        if got is not None:
            assert (got.ndim, got.layout) == (want.ndim, want.layout), text


def test_axes_of_length_one_are_known():
    names = {"a": Array("float64", 2), "v": Array("float64", 1)}
    want = {"v[:, None]": [1], "v[None]": [0], "v[:, None].T": [0], "a * v[None]": [], "v[:, None] * v[None]": [], "v[None] + v[None]": [0]}
    assert {t: sorted(type_of(T.expr(t), names).ones) for t in want} == want


def test_regions():
    want = {"x[0, 1]": "element", "v[i]": "element", "x[0]": "view", "x[0, :]": "view", "x[..., 0]": "view", "x[None, 0, 1]": "view",
            "x[k]": "fancy", "x[0, k]": "fancy", "v[m]": "mask", "x[m2]": "mask", "x[:, m]": "mask"}
    assert {t: region(T.expr(t), NAMES) for t in want} == want


def test_join():
    assert join(WEAK_INT, WEAK_FLOAT) == WEAK_FLOAT
    assert join(WEAK_BOOL, WEAK_INT) == WEAK_INT
    assert join(WEAK_FLOAT, Scalar("float32")) == Scalar("float32")
    assert join(WEAK_FLOAT, Scalar("int64")) == Scalar("float64")
    assert join(Array("float64", 2, "C"), Array("float64", 2, "F")) == Array("float64", 2, "A")
    assert join(Array("float64", 2), Array("float64", 1)) is None
    assert join(Static(None), WEAK_FLOAT) is None


# --- whole functions --------------------------------------------------------------------

PROGRAMS = """
y = x * 2.0
z = y[0] - v
t = y[0, 1]
r = t * t + a
w = x32 * a + n
q = w[1:, 0]
e = q[0] ** 2
d = n // 2
g = n / 2
h = a + s32

s0 = 0.0
for j in range(v32.size):
    s0 = s0 + v32[j] * 0.5
c = j * 2

p = n
while p < 10:
    p = p * 2
    if p > 5:
        o = p * 0.5
    else:
        o = 1
"""


@pytest.mark.parametrize("text", PROGRAMS.strip().split("\n\n"))
def test_every_assignment_of_a_program(text):
    function = Function("f", tuple(VALUES), tuple(T.stmts(text)))
    names = infer(function, NAMES)
    seen: list[tuple[str, object]] = []

    class Record(ast.NodeTransformer):
        def visit_Assign(self, node):
            return [node, *ast.parse(f"record({node.targets[0].id!r}, {node.targets[0].id})").body]

    code = ast.fix_missing_locations(Record().visit(ast.parse(text)))
    exec(compile(code, "program", "exec"), {"np": np, "record": lambda n, v: seen.append((n, v)), **VALUES})
    last = {}
    for name, value in seen:
        t = of_value(value)
        last[name] = t if name not in last else join(last[name], t)
    assert seen
    assert {n: str(kind(t)) for n, t in last.items()} == {n: str(kind(names[n])) for n in last}


def made(text, **params):
    source, first = SourceMap().add("model.py", 11, "f", text.splitlines())
    assert first == 1
    return Function("f", tuple(params), tuple(gast.parse(text).body), source=source)


def test_loop_carried_types_reach_a_fixpoint():
    text = "s = 0\nfor i in range(n):\n    s = t + s\n    t = s * 0.5\nreturn s"
    params = {"n": WEAK_INT}
    names = infer(made(text, **params), {**params, "t": WEAK_INT})
    assert names["s"] == names["t"] == WEAK_FLOAT
    assert result_type(dataclasses.replace(made(text, **params), names=names)) == WEAK_FLOAT


def test_read_before_a_later_trip():
    text = "for i in range(n):\n    if i > 0:\n        s = t\n    t = i * 0.5\nreturn s"
    assert infer(made(text, n=WEAK_INT), {"n": WEAK_INT})["s"] == WEAK_FLOAT


def test_array_and_number_show_both_places():
    text = "s = 0.0\nfor i in range(n):\n    s = s + x[i]\nreturn s"
    with pytest.raises(TypeInferenceError) as info:
        infer(made(text, n=WEAK_INT, x=NAMES["x"]), {"n": WEAK_INT, "x": NAMES["x"]})
    message = str(info.value)
    assert 'File "model.py", line 13' in message
    assert "`s` is an array (float64[::1]) here and a number (float) elsewhere" in message
    assert "line 11" in message and "`s = 0.0`" in message
    assert "np.zeros" in message


@pytest.mark.parametrize(
    "text, words",
    [
        ("y = x[0]\nif n > 1:\n    y = x\nreturn y", "`y` is float64[:, ::1] here and float64[::1] elsewhere"),
        ("y = x * nothing\nreturn y", "`nothing` is read"),
        ("k += 1.5\nreturn n", "int64 values are changed in place to float64"),
        ("x[0, 0] = x[0]\nreturn n", "does not fit into one element"),
        ("x[0] = x\nreturn n", "does not fit"),
        ("for i in range(a):\n    n = i\nreturn n", "range takes integers"),
        ("if x > 0:\n    n = 1\nreturn n", "truth value"),
        ("a[0] = 1.0\nreturn n", "is assigned"),
    ],
)
def test_refusals(text, words):
    with pytest.raises(TypeInferenceError) as info:
        infer(made(text, **NAMES), NAMES)
    assert words in str(info.value)
    assert 'File "model.py", line 1' in str(info.value)


def test_result_types():
    def typed(text):
        return result_type(dataclasses.replace(made(text, **NAMES), names=infer(made(text, **NAMES), NAMES)))

    assert typed("return x32[0, 0] * 2.0") == Scalar("float32")
    assert typed("return a, x") == Tuple((WEAK_FLOAT, NAMES["x"]))
    assert typed("x[0, 0] = 1.0") == Static(None)
