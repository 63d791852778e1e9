"""What a user's derivative rule returned, checked before it is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError

from s2sad.runtime.core import literal, typed
from s2sad.runtime.texts import function

COUNT = "a rule given with adjoint_of must return a tuple with one adjoint for each float argument"
SHAPE = "a rule given with adjoint_of must return adjoints of the shapes of its arguments"


def given_adjoint(parts: Any, like: Any, k: int = 0, n: int = 1) -> Any:
    """The adjoint of the k-th of n float arguments in what a rule returned, as a copy of the shape and dtype of the argument `like`.

    Raises ValueError if the rule returned another number of adjoints, or one of another shape.
    """
    if n > 1 and not (isinstance(parts, tuple) and len(parts) == n):
        raise ValueError(COUNT)
    part = parts[k] if n > 1 else parts
    if isinstance(part, (tuple, list)) or part is None:
        raise ValueError(COUNT)
    if np.shape(part) != np.shape(like):
        raise ValueError(SHAPE)
    return part.astype(like.dtype) if isinstance(like, np.ndarray) else part


@typed(given_adjoint)
def _given_adjoint(parts: Any, like: Any, k: Any = 0, n: Any = 1) -> Any:
    # left out, a default comes as the number itself
    index, count = (v if isinstance(v, int) else literal(v) for v in (k, n))
    tuples = isinstance(parts, types.BaseTuple)
    if tuples != (count > 1) or (tuples and len(parts) != count):
        raise TypingError(COUNT)
    part = parts[index] if tuples else parts
    if isinstance(part, types.Array) != isinstance(like, types.Array) or (isinstance(part, types.Array) and part.ndim != like.ndim):
        raise TypingError(SHAPE)
    if not isinstance(part, (types.Array, types.Number)):
        raise TypingError(COUNT)
    value = f"parts[{index}]" if tuples else "parts"
    lines = [f"part = {value}"]
    if isinstance(part, types.Array):
        lines += ["if part.shape != like.shape:", f"    raise ValueError({SHAPE!r})", "return part.astype(like.dtype)"]
    else:
        lines += ["return part"]
    return function("parts, like, k=0, n=1", lines, np=np)
