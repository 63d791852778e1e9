"""The kernels of benchmarks/kernels: their NumPy form against their loops, and their gradients against differences and forward mode."""

import sys
from pathlib import Path

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_gradients

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from kernels import KERNELS  # noqa: E402  (the folder is on the path now)


@pytest.mark.parametrize("name", KERNELS)
def test_the_kernel_and_its_gradient(name):
    k = KERNELS[name]
    np.testing.assert_allclose(k.primal(*k.arguments(k.small)), k.loops(*k.arguments(k.small)), rtol=1e-12)
    check_gradients(k.primal, *k.arguments(k.small), wrt=k.wrt, jit=False)


@pytest.mark.parametrize("name", KERNELS)
def test_forward_and_reverse_mode_agree(name):
    k = KERNELS[name]
    args = k.arguments(k.small)
    rng = np.random.default_rng(0)
    tangents = tuple(rng.normal(size=np.shape(args[i])) if np.ndim(args[i]) else rng.normal() for i in k.wrt)
    _, forward = s2sad.jvp(k.primal, wrt=k.wrt, jit=False)(*k.arguments(k.small), tangents=tangents)
    gradients = s2sad.grad(k.primal, wrt=k.wrt, jit=False)(*args)
    np.testing.assert_allclose(sum(np.sum(g * t) for g, t in zip(gradients, tangents, strict=True)), forward, rtol=1e-10)
