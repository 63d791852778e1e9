"""Value and gradient of ordinary functions against plain Python and central differences."""

import copy

import numpy as np

from s2sad import jvp, value_and_grad


def check(f, *args, wrt=0, jit=False, rtol=1e-6, value_rtol=1e-13):
    """The gradient with respect to one argument, after comparing it and the value; arguments stay as they were."""
    before = copy.deepcopy(args)
    value, got = value_and_grad(f, wrt=wrt, jit=jit)(*args)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)
    want = f(*copy.deepcopy(args))
    x = args[wrt]
    single = getattr(x, "dtype", None) == np.float32
    np.testing.assert_allclose(value, want, rtol=1e-5 if single else value_rtol)
    if not jit:
        assert type(value) is type(want)
    if isinstance(x, np.ndarray):
        assert got.dtype == x.dtype and got.shape == x.shape
    else:
        assert type(got) is type(x)
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if single else {"rtol": rtol, "atol": 1e-7}
    np.testing.assert_allclose(got, differences(f, args, wrt, 1e-2 if single else 1e-6), **tolerance)
    along = np.cos(np.arange(x.size) + 1.0).reshape(np.shape(x)).astype(x.dtype) if isinstance(x, np.ndarray) else 1.0
    _, dot = jvp(f, wrt=wrt, jit=False)(*args, tangents=along)
    np.testing.assert_allclose(dot, np.sum(got * along), rtol=1e-3 if single else 1e-10, atol=1e-3 if single else 1e-10)
    return got


def differences(f, args, k, h):
    """Central differences with respect to one argument."""
    x = np.asarray(args[k])
    out = np.zeros(x.shape)
    for cell in np.ndindex(x.shape):
        ends = []
        for step in (h, -h):
            moved = copy.deepcopy(list(args))
            if x.ndim:
                moved[k][cell] += step
                at = moved[k][cell]
            else:
                moved[k] = at = type(args[k])(moved[k] + step)
            ends.append((float(f(*moved)), float(at)))
        out[cell] = (ends[0][0] - ends[1][0]) / (ends[0][1] - ends[1][1])
    return out
