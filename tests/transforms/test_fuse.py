"""Fused loop nests against the statements that they stand for: equal bits, the same errors, the same effects."""

import sys
from pathlib import Path

import numpy as np
import pytest
from lowered import compare, texts

from s2sad import grad
from s2sad.transforms import pipeline
from s2sad.transforms.example import program, source
from s2sad.transforms.fuse import fuse

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from kernels import KERNELS  # noqa: E402  (the folder is on the path now)

TYPES = "x: f8[:]; y: f8[:]; A: f8[:, :]; a: f8; n: i8; z: f4[:]"


def fused(text, private=True):
    return source(fuse(program(text, TYPES), private))


# --- what is made -----------------------------------------------------------------------


def test_one_nest_for_statements_of_one_shape():
    assert fused("t = 2.0 * x\nu = t + np.sin(x)\nw = u * t\nreturn w[0]").splitlines() == [
        "w = np.empty(x.shape[0])", "for i in range(x.shape[0]):", "    t = 2.0 * x[i]", "    u = t + np.sin(x[i])", "    w[i] = u * t",
        "return w[0]"]


def test_shapes_that_may_differ_are_compared_before():
    got = fused("t = x * y\nu = t + x\nreturn np.sum(u)")
    assert "n_2 = extent(x.shape[0], y.shape[0])\nx_fitted = fitted(x, (n_2,))\ny_fitted = fitted(y, (n_2,))" in got
    assert got.count("for ") == 1 and "x_fitted_2 = fitted(x, (n_2,))" in got  # x may have length 1 where t has more


def test_what_a_write_destroys_is_read_before():
    assert "for" not in fused("x = x.copy()\nx[1:] = x[:-1] * 2.0\nreturn x[0]")
    assert "for" in fused("x = x.copy()\nx[:-1] = x[1:] * 2.0\nreturn x[0]")  # every entry is read before it is written
    assert "for" not in fused("x = x.copy()\nv = x[::2]\nx[:] = x + v[0:1]\nreturn x[0]")


def test_arrays_of_the_caller_may_overlap():
    assert "for" not in fused("x[:] = 2.0 * y\nreturn x[0]", private=False)
    assert "for" in fused("x[:] = 2.0 * x\nreturn x[0]", private=False)
    assert "for" in fused("u = 2.0 * y + y\nreturn u[0]", private=False)


def test_float32_sums_are_left_alone():
    assert "np.sum" in fused("return np.sum(z * z)")


def test_sums_apart_from_slow_functions():
    got = fused("e = np.exp(x)\ns = np.sum(e * x)\nreturn s").splitlines()
    assert got.count("for i in range(x.shape[0]):") == 1 and "    e[i] = np.exp(x[i])" in got and "    s += e[i] * x[i]" in got


def test_names_that_are_bound_anew():
    assert fused("u = x * a\nu = u + x * u\nreturn u[0]").splitlines()[-1] == "return u[0]"
    assert compare(rebound, (np.arange(5.0), 2.0), bits=True)


def test_the_text_that_is_shown_has_no_loops():
    f = program("t = 2.0 * x\nreturn np.sum(t * np.sin(x))", "x: f8[:]")
    emitted = pipeline.emit(f, {"x": f.names["x"]}, ("x",), "adjoint")
    assert "for " not in emitted.text and "for i in range(x.shape[0]):" in emitted.lowered


def test_the_switch(monkeypatch):
    monkeypatch.setenv("S2SAD_FUSE", "0")
    f = program("return np.sum(x * x)", "x: f8[:]")
    assert pipeline.emit(f, {"x": f.names["x"]}, ("x",), "adjoint").lowered is None


# --- what it means ----------------------------------------------------------------------


def rebound(x, c):
    u = x * c
    for _ in range(3):
        u = u + 0.1 * u * x
        u = np.cos(u) - u
    return u[0] + u[-1] * c


def stencil(x, c):
    u = x.copy()
    v = np.zeros_like(u)
    for _ in range(3):
        v[1:-1] = u[1:-1] + c * (u[:-2] - 2.0 * u[1:-1] + u[2:])
        v[:1] = u[:1]
        u[1:] = v[1:] * v[:-1] + u[:-1]
        u[:-1] += c * u[1:]
        u[:-1] -= v[:-1]
    return u[0] * c + u[-1]


def chosen(x, c):
    m = (x > 0.3) & (x < c)
    y = np.where(m, np.sqrt(np.abs(x)), -x) * np.maximum(x, 0.5 * c)
    y *= np.where(x > c, 0.0, 2.0)
    y /= 1.0 + x * x
    w = np.where(~m, x, y) ** 3 + abs(y) ** 1.5
    return w[0] + w[-1] * 2.0


def broadcast(x, y, A):
    B = A * x + y[:, None]
    C = B - y.reshape(-1, 1) * A
    C[1:] *= B[:-1]
    C += x
    C[:, 0] -= y
    D = C.T * y + (A @ x)
    return D[0, 0] + C[-1, -1] + B[0, -1]


def summed(x, y):
    s = np.sum(x * y) + 0.5 * np.sum(np.exp(-x * x))
    t = x / (1.0 + s * s)
    return np.sum(t * t) - s * np.mean(t * y)


def shifted(x, c):
    a = x[::2] * c
    b = x[1:][::-1].copy()
    b[::2] += 0.5 * c
    k = x.size // 2
    b[:k] = x[:k] * b[:k]
    return a[0] + b[-1]


def counted(x, n):
    k = np.arange(n)
    y = np.zeros(n)
    y[:] = k
    y += k * x
    y -= (k > 2) * 1.0
    return y[-1] * x


def vectors(dtype, n, seed=0):
    return np.random.default_rng(seed).normal(size=n).astype(dtype)


@pytest.mark.parametrize("mode", ["primal", "adjoint", "value_and_adjoint", "tangent"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 2, 3, 9])
@pytest.mark.parametrize("f", [rebound, stencil, chosen, shifted])
def test_equal_bits(f, n, dtype, mode):
    c = 0.7 if dtype == "float64" else np.float32(0.7)
    x = vectors(dtype, 2 * n)
    for given in (x[:n].copy(), x[::2], x[n - 1::-1]):
        compare(f, (given, c), 0, mode, bits=True)
        compare(f, (given, c), (0, 1), mode)  # with sums


@pytest.mark.parametrize("f", [rebound, stencil, chosen, shifted])
def test_no_entries(f):
    compare(f, (np.zeros(0), 0.7), 0, "primal")  # an IndexError
    compare(f, (np.zeros(0), 0.7), 0, "value_and_adjoint")


@pytest.mark.parametrize("mode", ["primal", "adjoint", "tangent"])
@pytest.mark.parametrize("n, m", [(1, 1), (3, 4), (1, 4), (4, 1), (2, 2)])
def test_arrays_that_broadcast(n, m, mode):
    A = vectors("float64", n * m).reshape(n, m)
    for given in (A, np.asfortranarray(A), np.repeat(A, 2, axis=1)[:, ::2]):
        compare(broadcast, (vectors("float64", m, 1), vectors("float64", n, 2), given), (0, 1, 2), mode)


@pytest.mark.parametrize("mode", ["primal", "adjoint"])
@pytest.mark.parametrize("shapes", [(3, 4, (3, 4)), (4, 2, (3, 4)), (1, 3, (3, 4)), (4, 1, (3, 4)), (4, 3, (1, 4)), (4, 3, (3, 1)), (0, 3, (3, 0))])
def test_shapes_that_do_not_fit(shapes, mode):
    n, m, shape = shapes
    compare(broadcast, (np.ones(n), np.ones(m), np.ones(shape)), (0, 1, 2), mode)


@pytest.mark.parametrize("mode", ["primal", "adjoint", "tangent"])
@pytest.mark.parametrize("n, m", [(5, 5), (0, 0), (1, 5), (5, 1), (4, 5), (200, 200)])
def test_sums(n, m, mode):
    compare(summed, (vectors("float64", n), vectors("float64", m, 1)), (0, 1), mode)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_integers_and_booleans(n):
    for mode in ("primal", "adjoint"):
        compare(counted, (0.3, n), 0, mode, bits=True)


def test_the_caller_passes_overlapping_arrays():
    def into(x, y):
        x[:] = y * 2.0
        y += x
        x[1:] = x[1:] + y[:-1]
        x *= 2.0
        return np.sum(x * y)

    buffer = np.arange(8.0)
    emitted = texts(into, (buffer[1:], buffer[:-1]), mode="primal")
    results = []
    assert emitted.lowered is not None
    for text in (emitted.text, emitted.lowered):
        b = np.arange(8.0)
        space = {}
        exec(text, space)
        results.append((space[emitted.name](b[1:], b[:-1]), b.tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize("mode", ["primal", "adjoint", "value_and_adjoint", "tangent"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name, mode):
    k = KERNELS[name]
    compare(k.primal, k.arguments(k.small), k.wrt, mode)


@pytest.mark.parametrize("f, args, wrt", [
    (stencil, (vectors("float64", 9), 0.7), (0, 1)), (chosen, (vectors("float32", 9), np.float32(0.7)), (0, 1)),
    (broadcast, (vectors("float64", 4), vectors("float64", 3), vectors("float64", 12).reshape(3, 4)), (0, 1, 2)),
    (summed, (vectors("float64", 5), vectors("float64", 1)), (0, 1))])
def test_compiled(f, args, wrt):
    eps = 2e-6 if args[0].dtype == np.float32 else 1e-12
    for got, want in zip(grad(f, wrt=wrt)(*args), grad(f, wrt=wrt, jit=False)(*args), strict=True):
        np.testing.assert_allclose(got, want, rtol=eps, atol=eps)


def test_a_number_of_a_statement_that_stays():
    got = fused("p = (np.arange(n) + 1) % x.size\nreturn np.sum(x) + x[p[0]]")
    assert "range(x.shape[0])" in got and "% x.size" in got


def test_the_lowered_text_can_be_seen(tmp_path, capsys):
    from s2sad.cli import main

    (tmp_path / "model.py").write_text("import numpy as np\n\n\ndef loss(x):\n    return np.sum(x * x)\n")
    assert main(["dump", f"{tmp_path / 'model.py'}:loss", "--primal", "--types", "f8[:]", "--lowered"]) == 0
    assert "for i in range(x.shape[0]):" in capsys.readouterr().out
    g = grad(summed, wrt=(0, 1), jit=False)
    x = np.ones(3)
    assert "for i in" in g.source(x, x, lowered=True) and "for i in" not in g.source(x, x)
