"""Loops and control flow."""

# ruff: noqa: B007, E501, E741  (the programs stay as they were reported)
import numpy as np
from case import Case, Raises, cstep


def index_after_loop(x):
    s = 0.0
    for i in range(x.shape[0] - 1):
        s += x[i] * i
    return s * x[i + 1]


XI = np.array([2.0, -1.0, 0.5, 3.0])
SI = XI[1] + 2 * XI[2]


def preloop_used_after(x, n):
    g = x * x * x
    acc = 0.0
    for k in range(n):
        acc += np.sin(x * (k + 1))
    return g * acc + g


def _preloop(x, n):
    k = np.arange(1, n + 1)
    acc, dacc = np.sum(np.sin(x * k)), np.sum(k * np.cos(x * k))
    return 3 * x * x * (acc + 1) + x ** 3 * dacc


def two_inner_loops(x, n, m):
    y = 0.0
    for j in range(n):
        for i in range(m):
            y += x * (i + j)
        for i in range(m):
            y += y * x * 0.1
    return y


def zero_trip(x, n):
    y = x * 3.0
    s = 1.0
    for i in range(n):
        s = s * x
        y = s + i
    return y * s


def back_substitution(u, b):
    n = b.shape[0]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= u[i, j] * x[j]
        x[i] = s / u[i, i]
    return np.sum(x * x)


U = np.array([[2.0, -1.0, 0.5], [9.0, 1.5, 0.3], [9.0, 9.0, -1.2]])
B = np.array([1.0, 2.0, -0.7])
_x = np.linalg.solve(np.triu(U), B)
_l = np.linalg.solve(np.triu(U).T, 2 * _x)


def bound_changed_inside(x, n):
    s = 0.0
    m = n
    for i in range(m):                # the range is fixed before the first trip
        m = 1
        s += x ** (i + 1)
    return s * m


def sparse_rows(indptr, indices, data, x):
    s = 0.0
    for r in range(indptr.shape[0] - 1):
        t = 0.0
        for k in range(indptr[r], indptr[r + 1]):
            t += data[k] * x[indices[k]]
        s += t * t
    return s


IP, IX = np.array([0, 2, 2, 5]), np.array([0, 3, 1, 1, 2])
D, XV = np.array([1.0, -2.0, 0.5, 0.25, 3.0]), np.array([1.0, 2.0, -1.0, 0.5])
_t = np.array([D[0] * XV[0] + D[1] * XV[3], 0.0, (D[2] + D[3]) * XV[1] + D[4] * XV[2]])
SPG_D = np.array([2 * _t[0] * XV[0], 2 * _t[0] * XV[3], 2 * _t[2] * XV[1], 2 * _t[2] * XV[1], 2 * _t[2] * XV[2]])
SPG_X = np.array([2 * _t[0] * D[0], 2 * _t[2] * (D[2] + D[3]), 2 * _t[2] * D[4], 2 * _t[0] * D[1]])


def continue_max(x, c):
    best = -1e20
    for p in range(c.shape[0]):
        for q in range(c.shape[1]):
            w = c[p, q]
            if w == 0.0:
                continue
            v = x * w * (p + q + 2)
            if v > best:
                best = v
    return best


C = np.array([[1.0, 0.0, 2.0], [0.5, -3.0, 0.0]])


def break_at_limit(x, limit):
    s = 0.0
    for i in range(1, 100):
        s += i * x * x
        if s > limit:
            break
    return s * i


def early_return(x, tol):
    s = 1.0
    for k in range(50):
        s = s * x + 0.3
        if s > tol:
            return s * x
    return s


def _early(x, tol):
    s, d = 1.0, 0.0
    for k in range(50):
        s, d = s * x + 0.3, d * x + s
        if s > tol:
            return d * x + s
    return d


def newton_sqrt(a):
    y = a
    k = 0
    while np.abs(y * y - a) > 1e-10 and k < 40:
        y = 0.5 * (y + a / y)
        k += 1
    return y


def maybe_defined(d, n):
    s = np.zeros((n, n))
    for i in range(n):
        s[i, 2] = 1.0
        if i == 2:
            t = d[i] * d[i]
            s[i, i] += t
    return np.sum(s * s)


DM = np.array([0.5, 1.0, -1.5, 2.0])


def unassigned_when_negative(x):
    if x > 0.0:
        y = x * 2.0
    return y


def nested_if_in_loop(x):
    s = 1.0
    for i in range(x.shape[0]):
        if i > 0 and x[i - 1] > 0.0:
            if x[i] > 1.0:
                s = s * x[i]
            elif x[i] > 0.0:
                s += x[i] * x[i - 1]
        else:
            s -= x[i]
    return s


XN = np.array([-0.5, 2.0, 3.0, 0.5, -1.0, 0.2])
# trips: -x0 | -x1 | *x2 | += x3*x2 | (x3>0, x4<=0: nothing) | -x5
EN = np.array([-XN[2], -XN[2], (1 - XN[0] - XN[1]) + XN[3], XN[2], 0.0, -1.0])


def short_circuit_guard(x):
    i = 0
    s = 0.0
    while i < x.shape[0] and x[i] > 0.0:    # x[i] is never read past the end
        s += x[i] ** 3
        i += 1
    return s if i > 1 else -s


def out_of_bounds(x, k):
    return x[k] * x[0]


CASES = [
    Case("index-after-loop", "loop-carried", index_after_loop, (XI,),
         np.array([0.0, XI[3], 2 * XI[3], SI]), source="taichi-dev/taichi#8200"),
    Case("preloop-used-after", "loop-carried", preloop_used_after, (0.7, 4), _preloop(0.7, 4),
         source="NVIDIA/warp#1694"),
    Case("two-inner-loops", "loop-carried", two_inner_loops, (0.9, 2, 3), cstep(two_inner_loops, (0.9, 2, 3)),
         source="taichi-dev/taichi#3003, #4038"),
    Case("zero-trip", "loop-shape", zero_trip, (1.7, 0), 3.0, source="NVIDIA/warp#140; Theano/Theano#1647"),
    Case("back-substitution", "loop-shape", back_substitution, (U, B), (-np.triu(np.outer(_l, _x)), _l), wrt=(0, 1),
         source="google/tangent#31 (triangular nest)"),
    Case("bound-changed-inside", "loop-shape", bound_changed_inside, (0.6, 4),
         sum((i + 1) * 0.6 ** i for i in range(4)),
         source="Genesis-Embodied-AI/quadrants#635 (loop bounds mutated); NVIDIA/warp#140"),
    Case("sparse-rows", "loop-shape", sparse_rows, (IP, IX, D, XV), (SPG_D, SPG_X), wrt=(2, 3),
         source="NVIDIA/warp#1293 (nested dynamic ranges)"),
    Case("continue-max", "early-exit", continue_max, (1.5, C), 2.0 * 4, source="NVIDIA/warp#1552"),
    Case("break-at-limit", "early-exit", break_at_limit, (1.3, 9.0), 2 * 1.3 * 6 * 3,
         source="vgvassilev/clad#851, #833", note="sum 1+2+3 = 6 trips' weight, left at i = 3"),
    Case("early-return", "early-exit", early_return, (0.9, 1.87), _early(0.9, 1.87), source="vgvassilev/clad#1958"),
    Case("newton-while", "early-exit", newton_sqrt, (7.0,), cstep(newton_sqrt, (7.0,)),
         source="taichi-dev/taichi#7771; jax-ml/jax#2956, #2469"),
    Case("maybe-defined", "branch", maybe_defined, (DM, 4),
         np.array([0.0, 0.0, 4 * DM[2] * (1 + DM[2] ** 2), 0.0]), source="google/tangent#69"),
    Case("unassigned-raises", "branch", unassigned_when_negative, (-1.0,),
         Raises("UnboundLocalError", "NameError", mention=("y",)),
         source="google/tangent#69; observed: numba 0.68.1 returns 0.0",
         note="Python raises; the compiled code must not hand back a made-up number"),
    Case("nested-if-in-loop", "branch", nested_if_in_loop, (XN,), EN,
         source="Genesis-Embodied-AI/quadrants#496; taichi-dev/taichi#4226"),
    Case("short-circuit-guard", "branch", short_circuit_guard, (np.array([0.5, 1.5, 2.0]),),
         3 * np.array([0.5, 1.5, 2.0]) ** 2, source="EnzymeAD/Enzyme.jl#3614"),
    Case("out-of-bounds-raises", "message", out_of_bounds, (np.array([1.0, 2.0]), 7),
         Raises("IndexError"), source="numba/numba#4630 (out-of-range writes); observed: numba 0.68.1 returns garbage",
         note="an index past the end has to raise as in NumPy, not read stray memory"),
]
