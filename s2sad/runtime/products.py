"""Matrix products that Numba lacks (mixed dtypes, any strides)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.np.numpy_support import as_dtype

from s2sad.runtime.core import typed


def matmul(a: Any, b: Any) -> Any:
    """`a @ b` of 1-d and 2-d arrays of any real dtypes (at least one a float array) and strides."""
    return a @ b


@typed(matmul)
def _matmul(a: Any, b: Any) -> Any:
    if not (isinstance(a, types.Array) and isinstance(b, types.Array) and 1 <= a.ndim <= 2 and 1 <= b.ndim <= 2):
        raise TypingError("matmul takes 1-d and 2-d arrays")
    dtype = np.result_type(as_dtype(a.dtype), as_dtype(b.dtype))
    if dtype.kind != "f":
        raise TypingError("matmul of integer arrays")

    def impl(a, b):  # type: ignore[no-untyped-def]
        if a.shape[-1] != b.shape[0]:
            raise ValueError("matmul: the inner sizes differ")
        return np.dot(np.ascontiguousarray(a).astype(dtype), np.ascontiguousarray(b).astype(dtype))

    def same(a, b):  # type: ignore[no-untyped-def]
        if a.shape[-1] != b.shape[0]:
            raise ValueError("matmul: the inner sizes differ")
        return np.dot(np.ascontiguousarray(a), np.ascontiguousarray(b))

    return same if as_dtype(a.dtype) == as_dtype(b.dtype) else impl


def outer(a: Any, b: Any) -> Any:
    """`np.outer` of arrays of any real dtypes."""
    return np.outer(a, b)


@typed(outer)
def _outer(a: Any, b: Any) -> Any:
    dtype = np.result_type(as_dtype(a.dtype), as_dtype(b.dtype))

    def impl(a, b):  # type: ignore[no-untyped-def]
        u, v = a.ravel(), b.ravel()
        out = np.empty((u.size, v.size), dtype)
        for i in range(u.size):
            for j in range(v.size):
                out[i, j] = u[i] * v[j]
        return out

    return impl
