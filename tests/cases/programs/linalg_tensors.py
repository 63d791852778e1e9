"""Products of all ranks, index sums, factorizations, complex intermediates, transforms."""

# ruff: noqa: B007, E501, E741  (the programs stay as they were reported)
import numpy as np
from case import Case

MM = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
V3 = np.array([1.0, -2.0, 0.5])
V2 = np.array([0.3, -1.1])


def dot_ranks(m, v, u):
    a = np.dot(v, v)                  # () from (3,)(3,)
    b = m @ v                         # (2,)
    c = u @ m                         # (3,)
    return a * np.sum(b * b) + np.dot(c, v)


_b = MM @ V3
DOT_M = (V3 @ V3) * 2 * np.outer(_b, V3) + np.outer(V2, V3)
DOT_V = 2 * V3 * (_b @ _b) + (V3 @ V3) * 2 * MM.T @ _b + V2 @ MM


def dot_of_slices(x, y):
    return np.dot(x[0, :], y[:, 1]) * np.dot(x[1, ::2], y[:2, 0])


DX = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
DY = np.array([[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]])
_p, _q = DX[0] @ DY[:, 1], DX[1, ::2] @ DY[:2, 0]
DSX = np.array([DY[:, 1] * _q, [DY[0, 0] * _p, 0.0, DY[1, 0] * _p]])
DSY = np.zeros((3, 2))
DSY[:, 1] = DX[0] * _q
DSY[:2, 0] = DX[1, ::2] * _p


def contract_axes(a, b):
    return np.sum(np.tensordot(a, b, axes=[[-1, 0], [0, 2]]) ** 2)


TA = np.arange(12.0).reshape(2, 3, 2) / 7 - 0.6
TB = np.cos(np.arange(16.0)).reshape(2, 4, 2)
_t = np.einsum("pik,kjp->ij", TA, TB)
CTA = 2 * np.einsum("ij,kjp->pik", _t, TB)
CTB = 2 * np.einsum("ij,pik->kjp", _t, TA)


def gemm_scaled(al, a, b, be, c):
    return np.sum((al * (a @ b) + be * c) ** 2)


GA, GB, GC = MM, MM.T + 0.5, np.array([[1.0, -1.0], [0.5, 2.0]])
_g = 2 * (0.0 * (GA @ GB) + 1.5 * GC)


def einsum_sum_out(x):
    return np.sum(np.einsum("abcd->bd", x) ** 2)


EX = np.sin(np.arange(24.0)).reshape(2, 3, 2, 2)
_e = 2 * EX.sum(axis=(0, 2))
EEX = np.broadcast_to(_e[None, :, None, :], EX.shape).copy()


def einsum_trace(a):
    return np.einsum("ii->", a) * np.einsum("ii", a @ a)


AT = np.array([[1.0, 2.0], [-0.5, 3.0]])
ETR = np.eye(2) * np.trace(AT @ AT) + np.trace(AT) * 2 * AT.T


def einsum_same_twice(a):
    return np.einsum("ij,ji->", a, a) + np.sum(np.einsum("i,j->ij", a[0], a[0]) ** 2)


EST = 2 * AT.T
EST[0] += 4 * AT[0] * (AT[0] @ AT[0])


def det_singular(a):
    return np.linalg.det(a)


def solve_then_square(a, b):
    x = np.linalg.solve(a, b)
    return np.sum(x * x)


SA = np.array([[3.0, 1.0, 0.5], [-1.0, 2.0, 0.0], [0.3, -0.4, 1.5]])
SB = np.array([1.0, -2.0, 0.5])
_x = np.linalg.solve(SA, SB)
_l = np.linalg.solve(SA.T, 2 * _x)


def log_abs_det(a):
    s, ld = np.linalg.slogdet(a)
    return s * ld


NA = np.array([[0.0, 2.0], [1.5, 0.3]])         # determinant -3


def gaussian_log_density(b, y, t):
    k = b @ b.T + t * np.eye(b.shape[0])
    l = np.linalg.cholesky(k)
    z = np.linalg.solve(l, y)
    return -0.5 * np.sum(z * z) - np.sum(np.log(np.diag(l)))


CB, CY, CT = np.array([[1.0, 0.3], [-0.5, 1.2], [0.2, 0.7]]), np.array([0.5, -1.0, 0.25]), 0.6
_k = np.linalg.inv(CB @ CB.T + CT * np.eye(3))
_gk = 0.5 * np.outer(_k @ CY, _k @ CY) - 0.5 * _k


def eigenvalues_at_degeneracy(a):
    return np.sum(np.linalg.eigvalsh(a) ** 3)


DE = np.diag([2.0, 2.0, -1.0])


def complex_cube(x, y):
    z = x + 1j * y
    w = z * z * z
    return w.real + 2.0 * w.imag


def fft_low_pass_power(x):
    f = np.fft.fft(x)
    return np.sum(np.abs(f[:2]) ** 2)


FX = np.array([1.0, -0.5, 2.0, 0.3, -1.2])
_w = np.exp(-2j * np.pi * np.outer(np.arange(5), np.arange(5)) / 5)[:2]
FFE = 2 * np.real(np.conj(_w).T @ (_w @ FX))

CASES = [
    Case("dot-ranks", "dot-ranks", dot_ranks, (MM, V3, V2), (DOT_M, DOT_V, MM @ V3), wrt=(0, 1, 2),
         source="google/tangent#59; harvard-edge/cs249r_book#1781 (matmul, one-dimensional operand)"),
    Case("dot-of-slices", "dot-ranks", dot_of_slices, (DX, DY), (DSX, DSY), wrt=(0, 1), source="google/tangent#62"),
    Case("contract-axes", "dot-ranks", contract_axes, (TA, TB), (CTA, CTB), wrt=(0, 1),
         source="HIPS/autograd#98, #473"),
    Case("gemm-scaled-alpha-zero", "dot-ranks", gemm_scaled, (0.0, GA, GB, 1.5, GC),
         (np.sum(_g * (GA @ GB)), np.sum(_g * GC)), wrt=(0, 3),
         source="JuliaDiff/ChainRules.jl#25; QuantumKitHub/TensorOperations.jl#59",
         note="d/d alpha from the result divided by alpha is 0/0 here"),
    Case("einsum-sum-out", "einsum", einsum_sum_out, (EX,), EEX, source="HIPS/autograd#242"),
    Case("einsum-trace", "einsum", einsum_trace, (AT,), ETR, source="QuantumKitHub/TensorOperations.jl#154"),
    Case("einsum-same-twice", "einsum", einsum_same_twice, (AT,), EST, source="apache/mxnet#18102"),
    Case("det-singular", "linalg", det_singular, (np.array([[1.0, 2.0], [2.0, 4.0]]),), np.array([[4.0, -2.0], [-2.0, 1.0]]), source="tensorflow/tensorflow#119477; HIPS/autograd#549; jax-ml/jax#2380",
         note="a polynomial: the gradient is the cofactor matrix, also where the inverse does not exist"),
    Case("solve-then-square", "linalg", solve_then_square, (SA, SB), (-np.outer(_l, _x), _l), wrt=(0, 1),
         source="jax-ml/jax#1458; ekzhang/jax-js#84"),
    Case("log-abs-det-negative", "linalg", log_abs_det, (NA,), -np.linalg.inv(NA).T, source="pytorch/pytorch#15605"),
    Case("gaussian-log-density", "linalg", gaussian_log_density, (CB, CY, CT), (2 * _gk @ CB, -_k @ CY, np.trace(_gk)),
         wrt=(0, 1, 2), source="Theano/Theano#2066; pytorch/pytorch#18825, #137284; HIPS/autograd#56",
         note="through b b' + t I the answer is the same whichever triangle the convention names"),
    Case("eigenvalues-degenerate", "linalg", eigenvalues_at_degeneracy, (DE,), 3 * DE @ DE, refuse_ok=True,
         source="jax-ml/jax#2311; sethaxen/CAGPJax#6",
         note="sum of cubes of eigenvalues = trace(a^3): smooth, no 1/(l_i - l_j) may appear"),
    Case("complex-cube", "complex-fft", complex_cube, (1.3, -0.7),
         (3 * (1.3 ** 2 - 0.7 ** 2) + 2 * 6 * 1.3 * -0.7, -6 * 1.3 * -0.7 + 2 * 3 * (1.3 ** 2 - 0.7 ** 2)), wrt=(0, 1),
         refuse_ok=True, source="FluxML/Zygote.jl#705; HIPS/autograd#361"),
    Case("fft-low-pass-power", "complex-fft", fft_low_pass_power, (FX,), FFE, refuse_ok=True, source="HIPS/autograd#185"),
]
