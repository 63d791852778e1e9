"""Names, views, overwriting: two names for one buffer, and values needed later that are gone."""

# ruff: noqa: B007, E501, E741  (the programs stay as they were reported)
import numpy as np
from case import Case, cstep


def alias_then_branch(x):
    y = x
    if y > 0.0:
        y = x * x
    else:
        y = x * x * x
    return y + x


def slice_view_write(x):
    y = x.copy()
    v = y[1:4]
    v *= x[0]
    v[0] = v[1] * y[0]
    return np.sum(y * y)


X1 = np.array([1.5, 2.0, -1.0, 0.5, 3.0])
E1 = np.array([2 * X1[0] + 4 * X1[2] ** 2 * X1[0] ** 3 + 2 * X1[0] * X1[2] ** 2 + 2 * X1[0] * X1[3] ** 2,
               0.0,
               2 * X1[2] * X1[0] ** 4 + 2 * X1[2] * X1[0] ** 2,
               2 * X1[3] * X1[0] ** 2,
               2 * X1[4]])


def transpose_view_write(a):
    b = a * a
    t = b.T
    t[0, 1] = b[0, 0] * 3.0          # lands in b[1, 0]
    return b[1, 0] + b[0, 1] * t[1, 1]


A1 = np.array([[1.2, -0.7], [2.0, 0.4]])
E2 = np.array([[6 * A1[0, 0], 2 * A1[0, 1] * A1[1, 1] ** 2],
               [0.0, 2 * A1[1, 1] * A1[0, 1] ** 2]])


def overwrite_chain(w, h, e):
    p = w * e * (h - 2.0)
    q = p / w
    p += q * e
    p = p * p + h
    q = q + p
    return q


def _chain(w, h, e):
    u = h - 2.0
    return (2 * e ** 2 * u ** 2 * (w + e),
            e + 2 * e ** 2 * u * (w + e) ** 2 + 1,
            u + 2 * e * u ** 2 * (w + e) ** 2 + 2 * e ** 2 * u ** 2 * (w + e))


def rotate_in_place(theta, x):
    s = x.copy()
    for k in range(3):
        s[0] = np.cos(theta) * s[0]
        s[1] = np.sin(theta) + s[1] * s[0]
    return s[0] + s[1]


R_ARGS = (0.6, np.array([1.3, -0.8]))


def used_then_cleared(x):
    y = x.copy()
    s = 0.0
    for i in range(y.shape[0]):
        s += y[i] * y[i] * y[0]
    y[:] = 0.0                        # the values the backward sweep needs are gone
    return s + y[0]


X3 = np.array([1.5, -2.0, 0.25])
E3 = 2 * X3 * X3[0]
E3[0] = 3 * X3[0] ** 2 + np.sum(X3[1:] ** 2)


def gauss_seidel(u):
    v = u.copy()
    n = v.shape[0]
    for sweep in range(2):
        for i in range(1, n - 1):
            v[i] = 0.5 * (v[i - 1] + v[i + 1]) + 0.1 * v[i] * v[i]
    return np.sum(v * v)


GS = (np.array([0.3, -1.0, 0.7, 0.2, 1.1]),)


def shifted_slice_add(x, w):
    y = x * 1.0
    y[1:] += y[:-1]                   # NumPy: the right side is the old y
    return np.sum(w * y * y)


def _shifted(x, w):
    y = x.copy()
    y[1:] = x[1:] + x[:-1]
    b = 2 * w * y
    g = b.copy()
    g[:-1] += b[1:]
    return g


XS = np.array([1.0, -2.0, 3.0, 0.5])
WS = np.array([1.0, 2.0, -1.0, 0.5])


def tuple_step(x, n):
    a = 1.0
    b = x
    for _ in range(n):
        a, b = b, a + b * x
    return a * b


def swap_elements(x):
    y = x * x
    y[0], y[1] = y[1], y[0] * 2.0
    return y[0] * x[0] + y[1] * y[2]


XW = np.array([1.2, -0.5, 2.0])
EW = np.array([XW[1] ** 2 + 4 * XW[0] * XW[2] ** 2, 2 * XW[1] * XW[0], 4 * XW[2] * XW[0] ** 2])


def aug_scalar_vs_array(x, s):
    t = s
    t += 2.0 * s                      # a float: s keeps its value
    y = x.copy()
    z = y
    z += s                            # an array: y changes, too
    z = z * t                         # a new array: y stays
    return np.sum(y * y) + np.sum(z) + s


XA, SA = np.array([1.0, -0.5, 2.0]), 0.7

CASES = [
    Case("alias-then-branch", "alias-view", alias_then_branch, (3.0,), 7.0,
         source="NVIDIA/warp#202; apache/mxnet#8687",
         note="plain y = x is no computation, but both names carry adjoint afterwards"),
    Case("slice-view-write", "alias-view", slice_view_write, (X1,), E1,
         source="pytorch/pytorch#36608, #49824; apache/mxnet#10844"),
    Case("transpose-view-write", "alias-view", transpose_view_write, (A1,), E2,
         source="pytorch/pytorch#67800 (in-place over a transposed view)"),
    Case("overwrite-chain", "overwrite", overwrite_chain, (2.0, 5.0, 0.8), _chain(2.0, 5.0, 0.8), wrt=(0, 1, 2),
         source="google/tangent#64"),
    Case("rotate-in-place", "overwrite", rotate_in_place, R_ARGS, cstep(rotate_in_place, R_ARGS, (0, 1)), wrt=(0, 1),
         source="taichi-dev/taichi#2505"),
    Case("used-then-cleared", "overwrite", used_then_cleared, (X3,), E3,
         source="NVIDIA/warp#1350; pytorch/pytorch#9391"),
    Case("gauss-seidel", "inplace-stencil", gauss_seidel, GS, cstep(gauss_seidel, GS),
         source="NVIDIA/warp#1294"),
    Case("shifted-slice-add", "inplace-stencil", shifted_slice_add, (XS, WS), _shifted(XS, WS),
         source="numba/numba#230, #1960 (family); observed with numba 0.68.1 for +=",
         note="numba 0.68.1 computes a running sum here, NumPy does not: the compiled primal itself is wrong"),
    Case("tuple-step", "swap", tuple_step, (0.8, 5), cstep(tuple_step, (0.8, 5)),
         source="google/tangent#19 (tuple targets)"),
    Case("swap-elements", "swap", swap_elements, (XW,), EW,
         source="google/tangent#19; NVIDIA/warp#583"),
    Case("aug-scalar-vs-array", "augassign", aug_scalar_vs_array, (XA, SA),
         (2 * (XA + SA) + 3 * SA, 5 * np.sum(XA + SA) + 3 * SA * 3 + 1.0), wrt=(0, 1),
         source="taichi-dev/taichi#4412; google/tangent#64"),
]
