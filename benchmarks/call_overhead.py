"""What our wrapper adds to a call: our gradient minus the bare compiled function of the same text.

    python benchmarks/call_overhead.py

For 1 to 6 array arguments and 0 to 3 globals. Ends with status 1 if the bar of 2 us + 0.15 us for each argument and global is missed.
"""

import importlib.util
import sys
import tempfile
import timeit
from pathlib import Path

import numpy as np
from numba import njit

from s2sad import grad

K1 = 1.5
K2 = np.array([0.5, 2.0])
K3 = 0.25


def f1(a):
    return a[0] * a[0]


def f2(a, b):
    return a[0] * b[0]


def f3(a, b, c):
    return a[0] * b[0] * c[0]


def f4(a, b, c, d):
    return a[0] * b[0] * c[0] * d[0]


def f5(a, b, c, d, e):
    return a[0] * b[0] * c[0] * d[0] * e[0]


def f6(a, b, c, d, e, f):
    return a[0] * b[0] * c[0] * d[0] * e[0] * f[0]


def g1(a):
    return a[0] * a[0] * K1


def g2(a):
    return a[0] * a[0] * K1 * K2[0]


def g3(a):
    return a[0] * a[0] * K1 * K2[0] * K3


CASES = [(f1, 1, ()), (f2, 2, ()), (f3, 3, ()), (f4, 4, ()), (f5, 5, ()), (f6, 6, ()), (g1, 1, (K1,)), (g2, 1, (K1, K2)), (g3, 1, (K1, K2, K3))]


def bare(gradient, args, folder):
    """The emitted function alone, compiled as we compile it."""
    path = Path(folder) / "bare.py"
    path.write_text(gradient.source(*args))
    spec = importlib.util.spec_from_file_location("bare", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return njit(error_model="numpy", boundscheck=True, nogil=True)(getattr(module, f"{gradient.__name__}_adjoint"))


def microseconds(call, repeat=2000, number=200):
    return min(timeit.repeat(call, repeat=repeat, number=number)) / number * 1e6


def main():
    print(f"{'arguments':>10}{'globals':>9}{'bare us':>10}{'ours us':>10}{'added us':>10}{'bar us':>8}")
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for f, count, values in CASES:
            gradient = grad(f, wrt=0)
            args = [np.array([1.0 + k, 2.0]) for k in range(count)]
            alone = bare(gradient, args, folder)
            np.testing.assert_array_equal(gradient(*args), alone(*args, *values, 1.0))
            inner = microseconds(lambda alone=alone, args=args, values=values: alone(*args, *values, 1.0))
            outer = microseconds(lambda gradient=gradient, args=args: gradient(*args))
            bar = 2.0 + 0.15 * (count + len(values))
            print(f"{count:10}{len(values):9}{inner:10.2f}{outer:10.2f}{outer - inner:10.2f}{bar:8.2f}", flush=True)
            missed |= outer - inner > bar
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
