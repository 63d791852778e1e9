"""Products of all ranks, index sums, factorizations, complex intermediates, transforms (more)."""

# ruff: noqa: B007, E501, E741  (the programs stay as they were reported)
import numpy as np
from case import Case


def matrix_chain(a, b, v):
    return np.dot(np.dot(v, a), np.dot(b, np.dot(a, v)))


CA, CB, CV = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[0.3, 1.0], [-2.0, 0.4]]), np.array([1.5, -0.5])
_l, _r = CA.T @ CV, CB @ (CA @ CV)
MCA = np.outer(CV, _r) + np.outer(CB.T @ _l, CV)
MCB = np.outer(_l, CA @ CV)
MCV = CA @ _r + CA.T @ (CB.T @ _l)


def einsum_three(a, b, v):
    return np.einsum("ij,jk,k->i", a, b, v)[0] * np.einsum("ij,jk,k", a, b, v)[1]


_e3 = CA @ CB @ CV


def many_right_sides(a, b):
    x = np.linalg.solve(a, b)
    return np.sum(x ** 3)


LA, LB = np.array([[2.0, 1.0], [-0.5, 1.5]]), np.array([[1.0, 0.5, -2.0], [0.3, 2.0, 1.0]])
_lx = np.linalg.solve(LA, LB)
_ll = np.linalg.solve(LA.T, 3 * _lx ** 2)


def phases(theta, k):
    z = 0.0j
    for j in range(theta.shape[0]):
        z = z + np.exp(1j * k * theta[j]) * (j + 1)
    return z.real * z.real + z.imag * z.imag


PH = np.array([0.3, -1.0, 2.2])
_z = np.sum(np.exp(2j * PH) * np.array([1, 2, 3]))
PHE = 2 * np.real(np.conj(_z) * 2j * np.exp(2j * PH) * np.array([1, 2, 3]))


CASES = [
    Case("matrix-chain", "dot-ranks", matrix_chain, (CA, CB, CV), (MCA, MCB, MCV), wrt=(0, 1, 2), source="JuliaDiff/ChainRules.jl#25"),
    Case("einsum-three", "einsum", einsum_three, (CA, CB, CV),
         (np.array([CB @ CV * _e3[1], CB @ CV * _e3[0]]),
          np.outer(CA[0] * _e3[1] + CA[1] * _e3[0], CV),
          (CA[0] @ CB) * _e3[1] + (CA[1] @ CB) * _e3[0]), wrt=(0, 1, 2), source="apache/mxnet#18102"),
    Case("many-right-sides", "linalg", many_right_sides, (LA, LB), (-_ll @ _lx.T, _ll), wrt=(0, 1), source="jax-ml/jax#1458"),
    Case("phases", "complex-fft", phases, (PH, 2), PHE, refuse_ok=True, source="FluxML/Zygote.jl#705"),
]
