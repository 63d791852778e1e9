"""An index out of range raises in every mode, also where the results do not use what is read."""

import numpy as np
import pytest

import s2sad


def reads_ahead(x, idx):
    s = 0.0
    for k in range(len(idx)):
        s += x[idx[k]]
        ahead = x[k + 2]
    return s if len(idx) < 99 else ahead


@pytest.mark.parametrize("make", [s2sad.differentiable, s2sad.grad, s2sad.value_and_grad, s2sad.jvp])
@pytest.mark.parametrize(("x", "idx"), [(np.ones(4), [0, 3, 1]), (np.ones(5), [0, 3, 1]), (np.ones(5), [0, 9])])
def test_index_errors(make, x, idx):
    f, idx = make(reads_ahead, jit=False), np.array(idx)
    options = {"tangents": x} if make is s2sad.jvp else {}
    if len(x) < len(idx) + 2 or max(idx) >= len(x):
        with pytest.raises(IndexError):
            f(x, idx, **options)
    else:
        f(x, idx, **options)
