"""How runtime functions run both compiled and as plain Python.

A function of this package is an ordinary Python function. Compiled code gets either the same text (`jitable`), another text
(`compiled_as`), or a loop around a scalar kernel (`pointwise`). Nothing here compiles anything before compiled code asks for it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.cpython.unsafe import tuple as _unsafe
from numba.extending import overload
from numba.np.numpy_support import as_dtype

unliteral: Any = types.unliteral
F = TypeVar("F", bound=Callable[..., Any])
OPTIONS: Any = {"error_model": "numpy"}
tuple_setitem: Any = _unsafe.tuple_setitem  # a tuple with one item replaced; for compiled texts only


def jitable(function: F) -> F:
    """Let compiled code call a plain function; it is compiled from its own text."""

    def text(*args: Any, **kwargs: Any) -> F:
        return function

    overload(function, jit_options=OPTIONS, strict=False, prefer_literal=True)(text)
    return function


def compiled_as(function: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate the text (same parameters) that compiled code runs instead of `function`'s."""

    def register(text: F) -> F:
        def choose(*args: Any, **kwargs: Any) -> F:
            return text

        overload(function, jit_options=OPTIONS, strict=False, prefer_literal=True)(choose)
        return text

    return register


def typed(function: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate a function of the argument *types* that returns the text compiled code runs instead of `function`'s."""

    def register(choose: F) -> F:
        overload(function, jit_options=OPTIONS, strict=False, prefer_literal=True)(choose)
        return choose

    return register


def literal(t: Any) -> Any:
    """The value behind a literal, omitted or None type; other types are refused."""
    if isinstance(t, types.Omitted):
        return t.value
    if isinstance(t, types.Literal):
        return t.literal_value
    if isinstance(t, (types.NoneType, bool)) or t is None:
        return None if isinstance(t, types.NoneType) else t
    raise TypingError(f"must be a constant, not a value of type {t}")


def is_none(t: Any) -> bool:
    """Whether an argument's type says None."""
    return t is None or isinstance(t, types.NoneType) or (isinstance(t, types.Omitted) and t.value is None)


def build(text: str, **names: Any) -> Callable[..., Any]:
    """The function `impl` that a generated text defines (texts with one loop per axis cannot be written once for all ndim)."""
    space: dict[str, Any] = {"np": np, **names}
    exec(compile(text, "<s2sad.runtime>", "exec"), space)  # noqa: S102
    impl: Callable[..., Any] = space["impl"]
    return impl


def float_dtype(args: tuple[Any, ...]) -> np.dtype[Any]:
    """dtype of a pointwise result: that of the float arrays, or of the scalars if there is no float array; float64 for integers."""
    arrays = [as_dtype(t.dtype) for t in args if isinstance(t, types.Array)]
    scalars = [as_dtype(unliteral(t)) for t in args if isinstance(t, types.Number | types.Boolean | types.Literal)]
    floats = [d for d in arrays if d.kind == "f"] or ([d for d in scalars if d.kind == "f"] if not arrays else [])
    if arrays and any(d.kind in "iu" for d in arrays):
        floats.append(np.dtype(np.float64))
    return np.result_type(*floats) if floats else np.dtype(np.float64)


def pointwise(kernel: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate a NumPy function; compiled code calls the jitable `kernel` on scalars, in a broadcasting loop on arrays.

    Results have the dtype of the float arrays among the arguments; scalars do not widen it.
    """

    def register(function: F) -> F:
        params = list(inspect.signature(function).parameters)
        head = ", ".join(params)

        def choose(*args: Any) -> Callable[..., Any]:
            dtype = float_dtype(args)
            arrays = [(p, t) for p, t in zip(params, args, strict=True) if isinstance(t, types.Array)]
            if not arrays:
                return build(f"def impl({head}):\n    return cast(kernel({head}))\n", kernel=kernel, cast=dtype.type)
            call = ", ".join(f"{p}_[i]" if isinstance(t, types.Array) else p for p, t in zip(params, args, strict=True))
            shapes = ", ".join(f"{p}.shape" for p, _ in arrays)
            lines = [f"def impl({head}):"]
            if all(t.layout == "C" and t.ndim == arrays[0][1].ndim >= 1 for _, t in arrays):
                equal = " and ".join(f"{p}.shape == {arrays[0][0]}.shape" for p, _ in arrays)
                lines += [f"    if {equal}:", f"        out = np.empty({arrays[0][0]}.shape, dtype)", "        flat = out.reshape(out.size)"]
                lines += [f"        {p}_ = {p}.reshape({p}.size)" for p, _ in arrays]
                lines += ["        for i in range(out.size):", f"            flat[i] = kernel({call})", "        return out"]
            names = [f"{p}_" if len(arrays) > 1 else p for p, _ in arrays]
            if len(arrays) > 1:
                lines += [f"    shape = np.broadcast_shapes({shapes})"]
                lines += [f"    {p}_b = np.broadcast_to({p}, shape)" for p, _ in arrays]
            else:
                lines += [f"    shape = {shapes}"]
            call = ", ".join(
                (f"{p}_b[i]" if len(names) > 1 else f"{p}[i]") if isinstance(t, types.Array) else p for p, t in zip(params, args, strict=True)
            )
            lines += ["    out = np.empty(shape, dtype)", "    for i in np.ndindex(shape):", f"        out[i] = kernel({call})", "    return out"]
            return build("\n".join(lines), kernel=kernel, dtype=dtype)

        # Numba wants the parameters' names: the same function behind a signature of its own
        text = build(f"def impl({head}):\n    return choose({head})\n", choose=choose)
        overload(function, jit_options=OPTIONS, strict=False)(text)
        return function

    return register
