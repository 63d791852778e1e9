"""Runtime functions: NumPy's meaning in plain Python, and the same compiled."""

import warnings

import numpy as np
import pytest
from numba import njit

from s2sad.runtime import (
    add_at,
    add_mask,
    add_to,
    copyto,
    digamma,
    divide_by,
    get_at,
    get_mask,
    max_share,
    multiply_by,
    pow_dx,
    set_at,
    set_mask,
    strong,
    subtract_from,
    sum_of,
    sum_to,
    take_last,
)

RNG = np.random.default_rng(3)
X = RNG.normal(size=(3, 4))
IDX = np.array([0, 2, 0, -1])


def same(a, b):
    """Equal in shape, dtype and value."""
    assert np.shape(a) == np.shape(b)
    if isinstance(b, np.ndarray):
        assert a.dtype == b.dtype
    np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("shape", [(), (1,), (4,), (3, 1), (1, 4), (3, 4), (1, 1)])
def test_sum_to(shape):
    """The adjoint of a broadcast."""
    got = sum_to(X, shape)
    assert np.shape(got) == shape
    v = RNG.normal(size=shape)
    np.testing.assert_allclose(np.sum(np.broadcast_to(v, X.shape) * X), np.sum(v * got))
    assert sum_to(X, X.shape) is X
    assert sum_to(X.astype(np.float32), shape).dtype == np.float32


def test_sum_to_refuses():
    """A shape that was not broadcast to this one."""
    with pytest.raises(ValueError):
        sum_to(X, (2,))
    same(sum_to(np.zeros((0, 3)), (3,)), np.zeros(3))


def test_strong():
    """Zero wins over infinity and nan; the dtype of arrays stays."""
    assert strong(0.0, np.inf) == 0 and strong(2.0, np.inf) == np.inf and np.isnan(strong(np.nan, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(strong(np.array([0.0, 1.0]), np.array([np.nan, 3.0])), np.array([0.0, 3.0]))
        same(strong(np.zeros(2, np.float32), np.inf), np.zeros(2, np.float32))
    assert strong(np.float32(2), np.float32(3)).dtype == np.float32


@pytest.mark.parametrize("idx", [IDX[:3], (slice(None), IDX), (1, IDX), (IDX[:3], IDX[:3]), (slice(0, 3, 2), IDX.reshape(2, 2))])
def test_take_last(idx):
    """What a write by index hands back: only the last of repeated entries counts."""
    a_bar = RNG.normal(size=(3, 4))
    left = a_bar.copy()
    w = take_last(left, idx)
    a, v = RNG.normal(size=(3, 4)), RNG.normal(size=w.shape)
    before = np.sum(a * left) + np.sum(v * w)
    a[idx] = v
    np.testing.assert_allclose(np.sum(a * a_bar), before)


def test_masks():
    """Masks of all axes and of rows; a wrong length is an IndexError."""
    a = X.copy()
    add_mask(a, a > 0, 1.0)
    same(a, np.where(X > 0, X + 1, X))
    set_mask(a, np.array([True, False, True]), 0.0)
    assert not a[0].any() and a[1].any()
    with pytest.raises(IndexError):
        get_mask(a, np.ones(2, bool))


def test_digamma():
    """Against scipy, in all ranges."""
    special = pytest.importorskip("scipy.special")
    x = np.array([0.1, 0.5, 1.0, 3.3, 30.0, 1e6, -0.5, -3.7, -100.25])
    np.testing.assert_allclose(digamma(x), special.digamma(x), rtol=1e-12)
    assert np.isnan(digamma(-2.0)) and digamma(2.5) == pytest.approx(special.digamma(2.5), rel=1e-14)


@njit(error_model="numpy", boundscheck=True)
def several(x, x32, idx, m, top):
    """One module of compiled calls."""
    a = x.copy()
    add_at(a, idx[:3], x[:3])
    set_at(a, (1, idx), 2.0)
    w = take_last(a, (slice(None), idx))
    set_mask(a, m, 0.5)
    add_mask(a, m, get_mask(x, m))
    return (
        (sum_to(x, (4,)), sum_to(x32, ()), strong(x, x[:1]), strong(0.0, np.inf), pow_dx(x32, 3), get_at(x, idx[:3]), a, w)
        + (sum_of(x32, None, True), max_share(x[0], x, top, 0))
    )


def test_compiled_calls():
    """Compiled and plain calls agree in value, shape and dtype."""
    args = X, X.astype(np.float32), IDX, X > 0, np.max(X, axis=0)
    for got, want in zip(several(*args), several.py_func(*args), strict=True):
        same(got, want)
    with pytest.raises(IndexError):
        several(X, args[1], IDX + 3, *args[3:])


@njit(error_model="numpy")
def parts(x, v):
    """Writes into parts of arrays."""
    a = x.copy()
    add_to(a[1:], v)
    subtract_from(a[:, 1:], x[:, :1])
    multiply_by(a[0], 2.0)
    divide_by(a[:, 0], v[:3])
    copyto(a[2, ::-1], v)
    return a


def test_parts():
    """In-place operations on parts broadcast as NumPy's do, and refuse shapes that do not fit."""
    same(parts(X, X[0]), parts.py_func(X, X[0]))
    same(parts(X.astype(np.float32), X[0]), parts.py_func(X.astype(np.float32), X[0]))
    with pytest.raises(ValueError):
        parts(X, X[0, :2])


@njit
def add_up(v):
    """Compiled sum."""
    return sum_of(v)


def test_sum_accuracy():
    """Sums of float32 are as accurate as NumPy's."""
    v = np.full(1_000_003, 0.1, np.float32)
    assert add_up(v) == pytest.approx(np.sum(v, dtype=np.float64), rel=1e-6)
    for n in (0, 1, 7, 128, 129, 1000):
        assert add_up(X.ravel()[:1].repeat(n)) == pytest.approx(X[0, 0] * n)


@pytest.mark.parametrize(
    "to, of", [((4,), (4,)), ((4,), (1,)), ((3, 4), (4,)), ((3, 4), (3, 1)), ((3, 4), (1, 4)), ((0, 4), (4,)), ((2, 3, 4), (3, 4))]
)
def test_copyto(to, of):
    values = RNG.normal(size=of)
    compiled = njit(error_model="numpy")(lambda out, values: copyto(out, values))
    want, got = np.zeros(to), np.zeros(to)
    want[...] = values
    compiled(got, values)
    same(got, want)
    strided = np.zeros((*to, 2))[..., 1]
    compiled(strided, values)
    same(strided, want)
    with pytest.raises(ValueError):
        compiled(np.zeros((*to[:-1], 7)), np.ones((*of[:-1], 5)))
