"""Number types, special functions, piecewise functions, empty and oddly laid out arrays,
extreme values, long loops, second derivatives."""

# ruff: noqa: B007, E501, E741  (the programs stay as they were reported)
import math

import numpy as np
from case import Case


def int_vector(a):
    m = np.max(a)
    s = 0.0
    for i in range(a.shape[0]):
        s += np.exp(a[i] - m)
    return np.log(s) + m


IA = np.array([1, 2, 3, 4])


def signed_powers(x, n):
    return x ** n + x ** 2 - 2 * x ** -1 + (-x) ** 3


def remainder_both(x, y):
    return (x % y) * 2.0 + np.mod(y, 0.75)


def truncating_store(x):
    out = np.zeros(3, dtype=np.int64)
    out[0] = int(x)
    return out[0] * x


def single_precision(x, w):
    h = x * w
    h = h / (np.float32(1.0) + np.abs(h))
    return np.sum(h * h)


FX, FW = np.array([1.0, -2.0, 0.5], dtype=np.float32), np.array([0.5, 0.25, 2.0], dtype=np.float32)


def _single(x, w):
    x, w = x.astype(float), w.astype(float)
    h = x * w
    d = 2 * h / (1 + abs(h)) / (1 + abs(h)) ** 2
    return (d * w).astype(np.float32), (d * x).astype(np.float32)


def mixed_precision(a, b):
    return np.sum(a * b * b)


def error_function(x):
    return math.erf(x) + math.erfc(2.0 * x) * x


def log_gamma(x):
    return math.lgamma(x)


def interp_both(x, fp):
    xp = np.array([0.0, 1.0, 3.0])
    return np.sum(np.interp(x, xp, fp) ** 2)


PX, PF = np.array([0.25, 2.5, 4.0, -1.0]), np.array([1.0, 3.0, -1.0])
_v = np.interp(PX, [0, 1, 3], PF)


def staircase(x):
    return np.sum(x * np.floor(x) + np.sign(x) * x + np.round(x))


def sum_of_empty(x):
    return np.sum(x[:0]) + 2.0 * x[0] + np.sum(x[5:])


def any_length(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * x[i]
    return s


def weighted_square(x):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s += x[i, j] * x[i, j] * (i + 2 * j + 1)
    return s


L0 = np.array([[1.0, -2.0, 0.5], [0.3, 4.0, -1.5]])
LW = np.array([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]])


def _fortran():
    return (np.asfortranarray(L0),)


def _strided():
    big = np.full((4, 6), 99.0)
    big[::2, ::2] = L0
    return (big[::2, ::2],)


def _read_only():
    a = L0.copy()
    a.flags.writeable = False
    return (a,)


def hypot_huge(x, y):
    return np.hypot(x, y)


def tiny_divisor(a, b):
    return a / b


def million_steps(x, n):
    s = 1.0
    for i in range(n):
        s = s * 0.999999 + x * 1e-6 * (i % 2)
    return s


def _million(n):
    d = 0.0
    for i in range(n):
        d = d * 0.999999 + 1e-6 * (i % 2)
    return d


def million_nonlinear(v, n):
    for i in range(n):
        v = v + 1e-6 * np.sin(v)
    return v


def _million_nl(v, n):
    d = 1.0
    for i in range(n):
        d = d * (1 + 1e-6 * math.cos(v))
        v = v + 1e-6 * math.sin(v)
    return d


def quadratic_plus(x):
    a = np.array([[1.0, 2.0], [-0.5, 3.0]])
    return np.dot(x, a @ x) + np.sin(x[0] * x[1])


HX = np.array([0.7, -1.2])
_c, _s = math.cos(HX[0] * HX[1]), math.sin(HX[0] * HX[1])
HQ = np.array([[2.0, 1.5], [1.5, 6.0]]) + np.array(
    [[-_s * HX[1] ** 2, _c - _s * HX[0] * HX[1]], [_c - _s * HX[0] * HX[1], -_s * HX[0] ** 2]])


def loop_power(x, n):
    p = 1.0
    for i in range(n):
        p = p * x
    return p


CASES = [
    Case("int-vector", "int-float", int_vector, (IA,), np.exp(IA - 4.0) / np.sum(np.exp(IA - 4.0)), or_raises=("TypeError",),
         refuse_ok=True, source="google/tangent#66; HIPS/autograd#482",
         note="float gradients or a clear TypeError; never an integer array of zeros"),
    Case("signed-powers", "int-float", signed_powers, (-1.5, 3), 3 * 2.25 - 3.0 + 2 / 2.25 - 3 * 2.25,
         source="JuliaDiff/ChainRules.jl#513; FluxML/Zygote.jl#1591", note="negative base, integer exponent: no log of a negative number"),
    Case("remainder-both", "int-float", remainder_both, (7.3, 2.0), (2.0, -6.0 + 1.0), wrt=(0, 1),
         source="shader-slang/slang#10071; tensorflow/tensorflow#13933"),
    Case("truncating-store", "int-float", truncating_store, (2.7,), 2.0, source="HIPS/autograd#482; Theano/Theano#969",
         note="a value that went through an integer carries no gradient"),
    Case("single-precision", "dtype", single_precision, (FX, FW), _single(FX, FW), wrt=(0, 1), rtol=2e-6, atol=1e-7,
         source="HIPS/autograd#199, #172; Theano/Theano#1112"),
    Case("mixed-precision", "dtype", mixed_precision, (FX, np.array([1.0, 2.0, -1.0])),
         (np.array([1.0, 4.0, 1.0], dtype=np.float32), 2 * FX.astype(float) * np.array([1.0, 2.0, -1.0])), wrt=(0, 1),
         rtol=2e-7, source="tinygrad/tinygrad#3613; pytorch/pytorch#192910"),
    Case("error-function", "special", error_function, (0.4,),
         2 / math.sqrt(math.pi) * (math.exp(-0.16) - 2 * 0.4 * math.exp(-0.64)) + math.erfc(0.8),
         source="CamDavidsonPilon/autograd-gamma#6 (family)"),
    Case("log-gamma", "special", log_gamma, (2.5,), 0.70315664064524318723, refuse_ok=True, source="pyro-ppl/pyro#567",
         note="digamma(5/2)"),
    Case("interp-both", "piecewise", interp_both, (PX, PF),
         (2 * _v * np.array([2.0, -2.0, 0.0, 0.0]),
          np.array([2 * _v[0] * 0.75 + 2 * _v[3], 2 * _v[0] * 0.25 + 2 * _v[1] * 0.25, 2 * _v[1] * 0.75 + 2 * _v[2]])),
         wrt=(0, 1), source="HIPS/autograd#193, #194; jax-ml/jax#3860"),
    Case("staircase", "piecewise", staircase, (np.array([1.3, -2.6, 0.2]),), np.array([1.0 + 1, -3.0 - 1, 0.0 + 1]),
         source="tensorflow/tensorflow#13933"),
    Case("sum-of-empty", "empty", sum_of_empty, (np.array([1.0, 2.0, 3.0]),), np.array([2.0, 0.0, 0.0]), source="pytorch/pytorch#15223"),
    Case("zero-length-input", "empty", any_length, (np.zeros(0),), np.zeros(0), source="pytorch/pytorch#53407, #190436"),
    Case("fortran-input", "layout", weighted_square, _fortran, 2 * L0 * LW, source="pymc-devs/pymc#8; mratsim/Arraymancer#663"),
    Case("strided-input", "layout", weighted_square, _strided, 2 * L0 * LW, source="numba/numba#3353; ooples/AiDotNet.Tensors#1037"),
    Case("read-only-input", "layout", weighted_square, _read_only, 2 * L0 * LW, source="numba/numba#5829 (layout family); pytorch/pytorch#36608"),
    Case("hypot-huge", "extreme", hypot_huge, (3e200, 4e200), (0.6, 0.8), wrt=(0, 1), source="JuliaDiff/ForwardDiff.jl#669",
         note="x/sqrt(x*x + y*y) overflows, x/h does not"),
    Case("tiny-divisor", "extreme", tiny_divisor, (1e-250, 1e-200), (1e200, -1e150), wrt=(0, 1), rtol=1e-12,
         source="jax-ml/jax#5039 (family); pytorch/pytorch#98276", note="-a/(b*b) divides by an underflow, -(a/b)/b does not"),
    Case("million-linear", "big-loop", million_steps, (0.7, 1000000), _million(1000000), warm=(0.7, 10), mem_mb=300, rtol=1e-7, source="FluxML/Flux.jl#509; DiffSharp/DiffSharp#7; autodiff/autodiff#314"),
    Case("million-nonlinear", "big-loop", million_nonlinear, (0.5, 1000000), _million_nl(0.5, 1000000), warm=(0.5, 10), mem_mb=300,
         rtol=1e-7, source="taichi-dev/taichi#8027; HIPS/autograd#219"),
    Case("hessian-quadratic-plus", "higher-order", quadratic_plus, (HX,), HQ, order=2,
         source="JuliaDiff/ForwardDiff.jl#488; tsotchke/eshkol#520", note="symmetric, and not zero"),
    Case("second-of-loop-power", "higher-order", loop_power, (1.2, 5), 20 * 1.2 ** 3, order=2,
         source="pymc-devs/pytensor#1669"),
]
