"""Kinks, ties, untaken branches, overflow.  Every accepted convention is listed."""

# ruff: noqa: B007, E501, E741  (the programs stay as they were reported)
import numpy as np
from case import AnyOf, Case


def max_of_ties(x):
    return np.max(x) * 3.0


def relu_at_zero(x):
    return np.sum(np.maximum(x, 0.0))


def first_winner(x):
    best = x[0]
    for i in range(1, x.shape[0]):
        if x[i] > best:               # strictly: the first of equals stays
            best = x[i]
    return best * best


def clip_at_bound(x):
    return np.sum(np.clip(x, 0.0, 1.0) * 2.0)


def abs_sum(x):
    return np.sum(np.abs(x))


def norm_squared(x):
    return np.linalg.norm(x) ** 2


def powers_at_zero(x):
    return x ** 1.5 + x ** 2 + 3.0 * x ** 1 + x ** 0


def power_exponent(a, b):
    return np.sum(a ** b)


def root_of_square_sum(x, y):
    d = x - y
    return np.exp(-np.sqrt(np.sum(d * d)) ** 2)


def where_sqrt(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


def where_divide(a, d):
    return np.sum(np.where(d != 0.0, a / d, 0.0))


def loop_masked_divide(a, d):
    s = 0.0
    for i in range(a.shape[0]):
        if d[i] != 0.0:
            s += a[i] / d[i]
    return s


def log_sum_exp(a):
    m = a[0]
    for i in range(1, a.shape[0]):
        if a[i] > m:
            m = a[i]
    s = 0.0
    for i in range(a.shape[0]):
        s += np.exp(a[i] - m)
    return np.log(s) + m


AL = np.array([1000.0, 1002.0, 999.0, -50.0])
EL = np.exp(AL - 1002.0) / np.sum(np.exp(AL - 1002.0))


def softplus_at_zero(x):
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def softplus_large(x):
    return np.sum(np.logaddexp(0.0, x))


XB = np.array([800.0, 0.5, -800.0])


def sinc_by_hand(x):
    if x == 0.0:
        return 1.0 - x * x / 6.0
    return np.sin(x) / x


CASES = [
    Case("max-of-ties", "ties", max_of_ties, (np.array([2.0, 2.0, 1.0]),),
         AnyOf(np.array([1.5, 1.5, 0.0]), np.array([3.0, 0.0, 0.0]), np.array([0.0, 3.0, 0.0]),
               why="split evenly, first, or last; the shares must add up to one"),
         source="apache/mxnet#18563 (gave every tied entry the full share); jax-ml/jax#13600; HIPS/autograd#141"),
    Case("relu-at-zero", "ties", relu_at_zero, (np.array([0.0, 1.0, -1.0]),),
         AnyOf(*[np.array([c, 1.0, 0.0]) for c in (0.0, 0.5, 1.0)], why="any one-sided slope, or the middle"),
         source="jax-ml/jax#37821; pytorch/pytorch#184572"),
    Case("first-winner", "ties", first_winner, (np.array([1.0, 3.0, 3.0, 2.0]),), np.array([0.0, 6.0, 0.0, 0.0]),
         source="jax-ml/jax#13600; google/tangent#66",
         note="control flow decides, no convention: the branch taken is differentiated"),
    Case("clip-at-bound", "ties", clip_at_bound, (np.array([1.0, 0.3, 0.0, 1.7]),),
         AnyOf(*[np.array([2 * c, 2.0, 2 * d, 0.0]) for c in (0.0, 0.5, 1.0) for d in (0.0, 0.5, 1.0)],
               why="at a bound 0, 1/2 or 1"), source="pytorch/pytorch#184572; Theano/Theano#1010"),
    Case("abs-at-zero", "kink-at-0", abs_sum, (np.array([0.0, -2.0, 3.0]),),
         AnyOf(*[np.array([c, -1.0, 1.0]) for c in (0.0, 1.0, -1.0)], why="subgradient of |x| at 0"),
         source="HIPS/autograd#151 (discussion); jax-ml/jax#2195"),
    Case("norm-squared-at-zero", "kink-at-0", norm_squared, (np.zeros(3),), np.zeros(3),
         source="HIPS/autograd#183, #617, #586",
         note="the function is smooth, its gradient is 0: NaN is wrong, and needs norm'(0) finite"),
    Case("powers-at-zero", "kink-at-0", powers_at_zero, (0.0,), 3.0,
         source="coin-or/CppAD#92; roystgnr/MetaPhysicL#49; JuliaDiff/ChainRules.jl#513",
         note="x**1.5 is one-sided at 0 with slope 0, x**0 is the constant 1"),
    Case("power-exponent-at-zero", "kink-at-0", power_exponent, (np.array([0.0, 2.0]), np.array([1.0, 1.0])),
         (np.array([1.0, 1.0]), np.array([0.0, 2 * np.log(2.0)])), wrt=(0, 1),
         source="pytorch/pytorch#27134; EnzymeAD/Enzyme#2855"),
    Case("rbf-of-equal-points", "kink-at-0", root_of_square_sum, (np.array([1.0, 2.0]), np.array([1.0, 2.0])),
         (np.zeros(2), np.zeros(2)), wrt=(0, 1), source="stan-dev/math#21; pytorch/pytorch#92075",
         note="sqrt(0)**2 inside: smooth as a whole; needs 0 * sqrt'(0) = 0"),
    Case("where-sqrt", "nan-branch", where_sqrt, (np.array([4.0, -1.0, 0.25]),), np.array([0.25, 0.0, 1.0]),
         source="jax-ml/jax#347; tinygrad/tinygrad#12409"),
    Case("where-divide", "nan-branch", where_divide, (np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.0, -4.0])),
         np.array([0.5, 0.0, -0.25]), source="jax-ml/jax#1052, #5039"),
    Case("loop-masked-divide", "nan-branch", loop_masked_divide, (np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.0, -4.0])),
         (np.array([0.5, 0.0, -0.25]), np.array([-0.25, 0.0, -3.0 / 16])), wrt=(0, 1),
         source="EnzymeAD/Enzyme.jl#2285", note="0 in d: that entry's branch is not taken, its adjoint is exactly 0"),
    Case("log-sum-exp", "overflow", log_sum_exp, (AL,), EL, source="google/tangent#66; FluxML/Zygote.jl#2"),
    Case("softplus-at-zero", "overflow", softplus_at_zero, (0.0,), 0.5,
         source="jax-ml/jax#2195, #2107",
         note="smooth as a whole (slope 1/2): max'(0) and |.|'(0) have to fit each other, |x| = 2 max(x,0) - x"),
    Case("logaddexp-large", "overflow", softplus_large, (XB,), np.array([1.0, 1 / (1 + np.exp(-0.5)), 0.0]),
         source="tracel-ai/burn#5373; HIPS/autograd#159"),
    Case("sinc-by-hand", "kink-at-0", sinc_by_hand, (0.0,), 0.0, source="pytorch/pytorch#53989; jax-ml/jax#5039"),
]
