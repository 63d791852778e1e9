"""Broadcasting, reductions, gathers, masks, sorting."""

# ruff: noqa: B007, E501, E741  (the programs stay as they were reported)
import numpy as np
from case import Case


def outer_like(a, b, s):
    return np.sum(a * b * s + a * a)


BA, BB, BS = np.array([[1.0], [2.0], [-0.5]]), np.array([[0.5, 1.5, -1.0, 2.0]]), 0.8


def bias_and_residual(x, w, b, y):
    r = np.dot(x, w) + b - y          # (2,1) + (1,3) - (2,1)
    return np.sum(r * r)


LX = np.array([[0.2, -1.0, 0.5], [1.5, 0.3, -0.7]])
LW = np.array([[1.0], [-0.5], [2.0]])
LB = np.array([[0.1, -0.2, 0.3]])
LY = np.array([[0.4], [-1.0]])
_r = LX @ LW + LB - LY


def zero_dim(c, v):
    return np.sum(c * v * v)


def row_normalise(a):
    m = np.sum(a, axis=1) / a.shape[1]
    d = a - m.reshape(a.shape[0], 1)
    return np.sum(d * d * d)


AN = np.array([[1.0, 2.0, 4.0], [0.5, -1.0, 0.25]])
_d = AN - AN.mean(1, keepdims=True)
EN = 3 * (_d ** 2 - np.mean(_d ** 2, 1, keepdims=True))


def mean_keepdims(a):
    d = a / np.mean(a, axis=-1, keepdims=True)
    return np.sum(d[:, 0] ** 2)


def _meankd(a):
    m = a.mean(1, keepdims=True)
    d0 = a[:, :1] / m
    g = -2 * d0 * a[:, :1] / m ** 2 / a.shape[1] * np.ones_like(a)
    g[:, :1] += 2 * d0 / m
    return g


AM = np.array([[1.0, 2.0, 3.0], [2.0, 0.5, 1.0]])


def prod_two_axes(a):
    return np.sum(np.prod(np.prod(a, axis=2), axis=1))


AP = np.array([[[1.0, 2.0], [0.5, -1.0], [3.0, 1.5]], [[2.0, 0.0], [1.0, 1.0], [-1.0, 4.0]]])


def _prod(a):
    g = np.zeros_like(a)
    for i in np.ndindex(*a.shape):
        b = a[i[0]].copy()
        b[i[1:]] = 1.0
        g[i] = np.prod(b)
    return g


def gather_repeated(a, idx, w):
    return np.sum(w * a[idx] * a[idx])


GA, GI, GW = np.array([0.5, -1.0, 2.0, 3.0]), np.array([1, 3, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0])


def scatter_add_loop(v, idx, n):
    y = np.zeros(n)
    for i in range(v.shape[0]):
        y[idx[i]] += v[i] * v[i]
    return np.sum(y * y)


SV, SIX = np.array([1.0, 2.0, -1.0, 0.5]), np.array([2, 0, 2, 2])
_y = np.zeros(4)
np.add.at(_y, SIX, SV ** 2)


def fancy_store_last_wins(v, idx):
    y = np.zeros(3)
    y[idx] = v * v
    return np.sum(y)


def mask_store(x):
    y = x * x
    y[x < 0.0] = 0.0
    y[0] = 5.0
    return np.sum(y * x)


XM = np.array([1.0, 2.0, -3.0, 0.5])


def mask_select(x):
    m = x > 0.4
    return np.sum(x[m] ** 2) / np.sum(m)


XC = np.array([2.0, 0.0, 3.0, 4.0])


def cumprod_with_zero(x):
    return np.sum(np.cumprod(x))


def prod_with_zeros(x, y):
    return np.prod(x) + np.prod(y) * 2.0


def sort_weighted(x, w):
    return np.sum(np.sort(x) * w)


XO, WO = np.array([3.0, -1.0, 2.0, 0.5]), np.array([1.0, 10.0, 100.0, 1000.0])


def cumsum_weighted(x, w):
    return np.sum(w * np.cumsum(x) ** 2)


def _cs(x, w):
    b = 2 * w * np.cumsum(x)
    return np.cumsum(b[::-1])[::-1].copy()


CASES = [
    Case("outer-like", "broadcast", outer_like, (BA, BB, BS),
         (BB.sum() * BS + 8 * BA, BA.sum() * BS * np.ones((1, 4)), BA.sum() * BB.sum()), wrt=(0, 1, 2),
         source="raskr/rust-autograd#38; HIPS/autograd#259; deeplearning4j/deeplearning4j#5978"),
    Case("bias-and-residual", "broadcast", bias_and_residual, (LX, LW, LB, LY),
         (LX.T @ (2 * _r).sum(1, keepdims=True), (2 * _r).sum(0, keepdims=True), -(2 * _r).sum(1, keepdims=True)),
         wrt=(1, 2, 3), source="tracel-ai/burn#181"),
    Case("zero-dim", "broadcast", zero_dim, (np.array(1.5), np.array([1.0, -2.0])),
         (np.array(5.0), np.array([3.0, -6.0])), wrt=(0, 1),
         source="raskr/rust-autograd#38", note="a 0-d array argument gets a gradient of shape ()"),
    Case("row-normalise", "reduce", row_normalise, (AN,), EN, source="tracel-ai/burn#181 (family)"),
    Case("mean-keepdims", "reduce", mean_keepdims, (AM,), _meankd(AM), source="pytorch/pytorch#4320 (statistics over an axis, family)"),
    Case("prod-two-axes", "reduce", prod_two_axes, (AP,), _prod(AP), source="FluxML/Zygote.jl#112"),
    Case("gather-repeated", "gather-scatter", gather_repeated, (GA, GI, GW),
         np.array([0.0, 2 * GA[1] * 8.0, 0.0, 2 * GA[3] * 2.0]),
         source="pytorch/pytorch#1528, #1631; FluxML/Zygote.jl#821"),
    Case("scatter-add-loop", "gather-scatter", scatter_add_loop, (SV, SIX, 4), 4 * _y[SIX] * SV,
         source="FluxML/Zygote.jl#821; mcabbott/Tullio.jl#85"),
    Case("fancy-store-last-wins", "gather-scatter", fancy_store_last_wins, (np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0])),
         np.array([0.0, 4.0, 6.0]), or_raises=("ValueError", "IndexError"), refuse_ok=True,
         source="pytorch/pytorch#473, #146299",
         note="NumPy and numba keep the last write; an overwritten value has no gradient.  Refusing duplicates is fine, adding them up is not"),
    Case("mask-store", "mask-assign", mask_store, (XM,), np.array([5.0, 3 * 4.0, 0.0, 3 * 0.25]),
         source="pytorch/pytorch#61946; HIPS/autograd#159; aesara-devs/aesara#105"),
    Case("mask-select", "mask-assign", mask_select, (XM,), np.array([2.0, 4.0, 0.0, 1.0]) / 3.0,
         source="pytorch/pytorch#971"),
    Case("cumprod-with-zero", "sort-cum", cumprod_with_zero, (XC,), np.array([1.0, 32.0, 0.0, 0.0]),
         source="pymc-devs/pytensor#1956; tracel-ai/burn#3864; pytorch/pytorch#174016"),
    Case("prod-with-zeros", "sort-cum", prod_with_zeros, (np.array([3.0, 0.0, 2.0]), np.array([0.0, 5.0, 0.0])),
         (np.array([0.0, 6.0, 0.0]), np.zeros(3)), wrt=(0, 1),
         source="tensorflow/tensorflow#2641; pytorch/pytorch#82644"),
    Case("sort-weighted", "sort-cum", sort_weighted, (XO, WO), (np.array([1000.0, 1.0, 100.0, 10.0]), np.sort(XO)),
         wrt=(0, 1), source="teddykoker/torchsort#69"),
    Case("cumsum-weighted", "sort-cum", cumsum_weighted, (XO, WO), _cs(XO, WO), source="FluxML/Zygote.jl#15"),
]
