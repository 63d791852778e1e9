"""Broadcasting, reductions, gathers, masks, sorting (more)."""

# ruff: noqa: B007, E501, E741  (the programs stay as they were reported)
import numpy as np
from case import Case


def spread(x, y):
    return np.sum(np.broadcast_to(x, (4, 3)) * y)


SY = np.arange(12.0).reshape(4, 3) - 3.0


def row_into_matrix(b, m):
    y = np.zeros((3, 2))
    y[:] = b
    y += m
    y[1] = b * b
    return np.sum(y * y)


RB, RM = np.array([2.0, -0.5]), np.array([[1.0], [2.0], [3.0]])


def _row(b, m):
    y = np.zeros((3, 2)) + b + m
    y[1] = b * b
    bar = 2 * y
    return (bar[0] + bar[2] + bar[1] * 2 * b,
            np.array([[bar[0].sum()], [0.0], [bar[2].sum()]]))


def sum_two_axes(a):
    return np.sum(np.sum(a * a, axis=(0, 2)) ** 2)


S3 = np.sin(np.arange(12.0)).reshape(2, 3, 2)


def gather_rows_repeated(e, idx):
    s = 0.0
    for k in range(idx.shape[0]):
        r = e[idx[k]]
        s += np.sum(r * r) * (k + 1)
    return s


GE = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.1]])


def convolve_loop(x, k):
    y = np.zeros(x.shape[0] + k.shape[0] - 1)
    for i in range(x.shape[0]):
        for j in range(k.shape[0]):
            y[i + j] += x[i] * k[j]
    return np.sum(y * y)


KX, KK = np.array([1.0, -2.0, 0.5, 3.0]), np.array([0.5, 1.0, -1.0])
_ky = np.convolve(KX, KK)
MX, MZ = np.array([1.0, -2.0, 0.5, -0.25]), np.array([2.0, 3.0, -1.0, 5.0])


def mask_twice(x):
    m = x > 0.0
    return np.sum(x[m] ** 2) + np.sum(x[m]) * np.sum(x[~m])


_pos, _neg = MX[MX > 0].sum(), MX[MX <= 0].sum()


def cumsum_rows(a):
    s = 0.0
    for i in range(a.shape[0]):
        c = np.cumsum(a[i])
        s += c[-1] * c[0]
    return s


def argsort_gather(x, w):
    o = np.argsort(x)
    return np.sum(x[o] ** 2 * w)


OX, OW = np.array([3.0, -1.0, 2.0]), np.array([1.0, 10.0, 100.0])


CASES = [
    Case("spread", "broadcast", spread, (np.array([1.0, 2.0, 3.0]), SY), (SY.sum(0), np.tile([1.0, 2.0, 3.0], (4, 1))), wrt=(0, 1),
         source="HIPS/autograd#384"),
    Case("row-into-matrix", "broadcast", row_into_matrix, (RB, RM), _row(RB, RM), wrt=(0, 1), source="NVIDIA/warp#1062; pytorch/pytorch#15223"),
    Case("sum-two-axes", "reduce", sum_two_axes, (S3,), 4 * S3 * (S3 ** 2).sum((0, 2))[None, :, None], source="FluxML/Zygote.jl#112 (several axes)"),
    Case("gather-rows-repeated", "gather-scatter", gather_rows_repeated, (GE, np.array([2, 0, 2])),
         np.array([2.0, 0.0, 4.0])[:, None] * 2 * GE, source="pytorch/pytorch#1631; FluxML/Zygote.jl#821"),
    Case("convolve-loop", "gather-scatter", convolve_loop, (KX, KK),
         (np.correlate(2 * _ky, KK, "valid"), np.correlate(2 * _ky, KX, "valid")), wrt=(0, 1), source="mcabbott/Tullio.jl#153, #85"),
    Case("mask-twice", "mask-assign", mask_twice, (MX,), np.where(MX > 0, 2 * MX + _neg, _pos), source="apache/mxnet#15172"),
    Case("cumsum-rows", "sort-cum", cumsum_rows, (GE,), np.array([[2 * 1.0 + 2.0, 1.0], [2 * 0.5 - 1.0, 0.5], [6.0 + 0.1, 3.0]]), source="FluxML/Zygote.jl#15"),
    Case("argsort-gather", "sort-cum", argsort_gather, (OX, OW), (2 * OX * np.array([100.0, 1.0, 10.0]), np.sort(OX) ** 2), wrt=(0, 1),
         source="teddykoker/torchsort#69"),
]
