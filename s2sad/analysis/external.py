"""Types of what opaque functions return (those with a user's adjoint, or declared nondifferentiable)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

import numba
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher

from s2sad.lang.types import Array, Scalar, Type


class NotTyped(Exception):
    """Numba cannot say what the function returns; the text says why, and `instead` what to write."""

    def __init__(self, why: str, instead: str = "a function that Numba compiles"):
        self.instead = instead
        super().__init__(why)


def _numba_type(t: Scalar | Array) -> Any:
    dtype: Any = numba.types.boolean if t.dtype == "bool" else getattr(numba.types, t.dtype)
    array: Any = numba.types.Array
    return array(dtype, t.ndim, t.layout) if isinstance(t, Array) else dtype


def _plain(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A Python function that Numba can compile; library functions are called by one."""
    if isinstance(function, FunctionType):
        return function
    params = ", ".join(f"a{k}" for k in range(count))
    made: Callable[..., Any] = eval(f"lambda {params}: function({params})", {"function": function})
    return made


@lru_cache(256)
def returned(function: Callable[..., Any], types: tuple[Scalar | Array, ...]) -> Type:
    """What an opaque function returns for arguments of these types. It is compiled, never executed; weak numbers are taken to give weak ones.

    >>> str(returned(lambda x: x[1:], (Array("float64", 1),)))
    'float64[::1]'

    Raises NotTyped if Numba does not compile it, or if it returns something else than a number or an array.
    """
    if isinstance(function, FunctionType) and function.__code__.co_argcount != len(types):
        code = function.__code__
        why = f"It has {code.co_argcount} parameters, and {len(types)} arguments are given by position: all must be."
        raise NotTyped(why, f"{function.__name__}({', '.join(code.co_varnames[:code.co_argcount])})")
    dispatcher: Any = function if isinstance(function, CPUDispatcher) else numba.njit(_plain(function, len(types)))
    signature = tuple(map(_numba_type, types))
    try:
        dispatcher.compile(signature)
    except NumbaError as e:
        raise NotTyped(f"Numba does not compile it for ({', '.join(map(str, types))}): {str(e).strip().splitlines()[-1]}") from None
    found = dispatcher.overloads[signature].signature.return_type
    if isinstance(found, numba.types.Array):
        return Array(str(found.dtype), found.ndim, found.layout)
    if isinstance(found, (numba.types.Float, numba.types.Integer, numba.types.Boolean)):
        return Scalar(str(found), weak=all(isinstance(t, Scalar) and t.weak for t in types))
    raise NotTyped(f"It returns {found}, not a number or an array.", "# one function, and one rule, for each result")
