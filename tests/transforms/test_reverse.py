"""Adjoint statements: overwriting, views and views of views, shared memory, first contributions."""

import numpy as np
import pytest
from checks import check

from s2sad.errors import UnsupportedError
from s2sad.transforms.example import after

X = np.array([0.5, 0.8, 1.2, 0.9])
M = np.array([[0.5, 0.8, 1.2], [0.9, 0.4, 0.7]])


def test_a_self_assignment_needs_the_old_value_and_does_not_accumulate():
    assert after("reverse", "x = np.sin(x)\nreturn x", "x: f8").splitlines() == ["x_bar = np.cos(x) * x_2_bar", "return x_bar,"]


def test_an_element_write_clears_what_it_takes():
    assert after("reverse", "u = x.copy()\nu[0] = 2.0 * u[1]\nreturn u[0]").splitlines()[2:5] == [
        "w = u_bar[0]", "u_bar[0] = 0.0", "u_bar[1] += 2.0 * w"]  # fmt: skip


PROGRAMS = {
    "element": "u = x.copy()\nu[0] = u[0] * u[1]\nu[1] = u[0] * u[0]\nreturn u[0] * u[1]",
    "augmented element": "u = x.copy()\nu[0] += u[0] * u[1]\nu[1] *= u[0]\nu[2] -= u[1]\nreturn np.sum(u * u)",
    "whole": "u = x.copy()\nu += x * u\nu *= u\nu[:] = u * x\nu[...] = 2.0 * u\nreturn np.sum(u)",
    "overlapping slices": "u = x.copy()\nu[1:] = u[:-1] * u[1:]\nu[1:] += u[:-1]\nu[:-1] *= u[1:]\nreturn np.sum(u * u)",
    "view": "u = x.copy()\nv = u[1:]\nv[0] = v[1] * u[0]\nu[2] = v[0] * v[2]\nreturn np.sum(u * u) + v[1]",
    "view of a view": "u = x.copy()\nv = u[1:]\nw = v[:-1]\nw[0] = w[1] * u[0]\nreturn np.sum(u * u)",
    "view of a view, read": "v = x[1:]\nw = v[1:]\ns = 0.0\nfor i in range(len(w)):\n    s += w[i] * w[i]\nreturn s",
    "view in a loop": "u = x.copy()\nfor i in range(3):\n    v = u[i:]\n    v[1] = v[0] * v[1]\nreturn np.sum(u * u)",
    "strided view": "u = x.copy()\nv = u[::-2]\nv *= x[:2]\nreturn np.sum(u * u)",
    "repeated reads": "p = np.array([0, 1, 1, 0])\nreturn np.sum(x[p] * x)",
    "repeated writes": "p = np.array([0, 1, 1])\nu = x.copy()\nu[p] = u[:3] * u[1:]\nreturn np.sum(u * u)",
    "repeated additions": "p = np.array([0, 1, 1])\nu = x.copy()\nu[p] += u[:3] * u[1:]\nreturn np.sum(u * u)",
    "mask": "u = x.copy()\nm = u > 0.85\nu[m] = u[m] * u[m]\nu[m] += 1.0\nreturn np.sum(u * u)",
    "broadcast scalar": "u = np.zeros(4)\nu[:] = x[0] * x[1]\nu[1:3] += x[2]\nreturn np.sum(u * x)",
    "broadcast_to": "v = np.broadcast_to(x, (3, 4))\nreturn np.sum(v * v)",
    "same array twice": "a = x\nb = x\nreturn np.sum(a * b) + np.sum(b)",
    "unused": "return x[0] * 0.0 + 1.0",
    "write of a constant": "u = x.copy()\nu[1] = 3.0\nu[2:] = 0.0\nreturn np.sum(u * u)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_vectors(name):
    check(PROGRAMS[name], "x: f8[:]", X)


MATRICES = {
    "rows": "u = x.copy()\nfor i in range(1, u.shape[0]):\n    u[i] = u[i] * u[i - 1]\nreturn np.sum(u)",
    "columns": "u = x.copy()\nu[:, 1] = u[:, 0] * u[:, 2]\nu[:, 0] *= u[:, 1]\nreturn np.sum(u * u)",
    "row view": "u = x.copy()\nr = u[0]\nr[1] = r[0] * u[1, 2]\nreturn np.sum(u * u)",
    "transposed view": "u = x.copy()\nt = u.T\nt[0, 1] = t[1, 0] * t[2, 1]\nreturn np.sum(u * u)",
    "flat": "u = x * x\nv = np.ravel(u)\ns = 0.0\nfor i in range(len(v)):\n    s += v[i] * v[i] * i\nreturn s",
    "flat of a transposed": "v = np.ravel(x.T)\ns = 0.0\nfor i in range(len(v)):\n    s += v[i] * v[i] * i\nreturn s",
    "reshaped": "v = np.reshape(x, (3, 2))\ns = 0.0\nfor i in range(3):\n    s += v[i, 0] * v[i, 1]\nreturn s",
    "diagonal": "u = x[:, :2] * 2.0\nreturn np.sum(np.diag(u) * np.diag(u))",
    "real part": "u = x.copy()\nv = np.real(u)\nu[0, 0] = u[1, 1]\nreturn np.sum(v * v)",
    "vector against matrix": "b = x[0] * x[1]\nreturn np.sum((x + b) * x)",
    "column against matrix": "b = np.sum(x, axis=1, keepdims=True)\nreturn np.sum(x * b)",
    "product": "y = x @ x.T\nreturn np.sum(y * y)",
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices(name, order):
    check(MATRICES[name], "x: f8[:, :]" if order == "C" else "x: f8[::1, :]", np.array(M, order=order))


REFUSED = {
    "two names": "u = x.copy()\nif n > 0:\n    w = u\nelse:\n    w = x\nu[0] = 2.0\nreturn w[0] * u[1]",
    "broadcast_to": "u = x.copy()\nw = np.broadcast_to(u, (2, 4))\nu[0] = 2.0\nreturn np.sum(w * w)",
    "view or copy": "u = x[::2]\nw = np.reshape(u, (2, 1))\nw[0, 0] = x[1]\nreturn np.sum(x * x)",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(UnsupportedError, match="S2S30[34]"):
        check(REFUSED[name], "x: f8[:]; n: i8", X, 1)


def test_a_write_before_such_a_name_is_fine():
    body = "u = x.copy()\nu[0] = u[1] * u[2]\nw = np.broadcast_to(u, (2, 4))\nv = np.reshape(u[::2], (2, 1))\nreturn np.sum(w * w) * np.sum(v)"
    check(body, "x: f8[:]", X)
