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
from numba.extending import overload
from numba.np.numpy_support import as_dtype

unliteral: Any = types.unliteral
F = TypeVar("F", bound=Callable[..., Any])
OPTIONS: Any = {"error_model": "numpy"}


class OutOfBounds(Exception):
    """Some subscript may be out of range for these arguments: the function has to run with checks."""


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


def typed(function: Callable[..., Any], options: Any = None) -> Callable[[F], F]:
    """Decorate a function of the argument *types* that returns the text compiled code runs instead of `function`'s."""

    def register(choose: F) -> F:
        overload(function, jit_options={**OPTIONS, **(options or {})}, strict=False, prefer_literal=True)(choose)
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


def pointwise(kernel: Callable[..., Any], result: Callable[[tuple[Any, ...]], np.dtype[Any]] = float_dtype) -> Callable[[F], F]:
    """Decorate a NumPy function; compiled code calls the jitable `kernel` on scalars, in a broadcasting loop on arrays.

    Results have the dtype of the float arrays among the arguments, unless `result` says otherwise; scalars do not widen it.
    """

    def register(function: F) -> F:
        params = list(inspect.signature(function).parameters)
        head = ", ".join(params)

        def choose(*args: Any) -> Callable[..., Any]:
            dtype = result(args)
            arrays = {p: t.ndim for p, t in zip(params, args, strict=True) if isinstance(t, types.Array)}
            if not arrays:
                return build(f"def impl({head}):\n    return cast(kernel({head}))\n", kernel=kernel, cast=dtype.type)
            return build("\n".join([f"def impl({head}):", *_broadcast(params, arrays)]), kernel=kernel, dtype=dtype)

        # Numba wants the parameters' names: the same function behind a signature of its own
        text = build(f"def impl({head}):\n    return choose({head})\n", choose=choose)
        overload(function, jit_options=OPTIONS, strict=False)(text)
        return function

    return register


def _broadcast(params: list[str], arrays: dict[str, int]) -> list[str]:
    """Lines that call `kernel` for every entry of arrays with these numbers of axes, which broadcast.

    Where several arrays share an axis, each has its own index along it, which stays 0 if the array's length there is 1.
    """
    ndim = max(arrays.values())
    axes = {p: range(ndim - m, ndim) for p, m in arrays.items()}  # the axes of the result that an array has
    lines: list[str] = []
    unfit: list[str] = []
    own: dict[int, list[str]] = {}
    for k in range(ndim):
        sharing = [p for p in arrays if k in axes[p]]
        lengths = [f"{p}.shape[{k - axes[p].start}]" for p in sharing]
        lines.append(f"    n{k} = {lengths[0]}")
        for length in lengths[1:]:
            lines += [f"    if n{k} == 1:", f"        n{k} = {length}"]
        if len(sharing) > 1:
            unfit += [f"({length} != n{k} and {length} != 1)" for length in lengths]
            lines += [f"    {p}_step{k} = 0 if {length} == 1 else 1" for p, length in zip(sharing, lengths, strict=True)]
            own[k] = sharing
    if unfit:
        lines += [f"    if {' or '.join(unfit)}:", '        raise ValueError("operands could not be broadcast together")']
    lines.append(f"    out = np.empty(({''.join(f'n{k}, ' for k in range(ndim))}), dtype)")
    steps: list[str] = []
    for k in range(ndim):
        pad = "    " * (k + 1)
        lines += [f"{pad}{p}_{k} = 0" for p in own.get(k, ())] + [f"{pad}for i{k} in range(n{k}):"]
        steps = [f"{pad}    {p}_{k} += {p}_step{k}" for p in own.get(k, ())] + steps
    entry = {p: f"{p}[{', '.join(f'{p}_{k}' if k in own else f'i{k}' for k in axes[p]) or '()'}]" for p in arrays}
    target = f"out[{', '.join(f'i{k}' for k in range(ndim)) or '()'}]"
    lines.append(f"{'    ' * (ndim + 1)}{target} = kernel({', '.join(entry.get(p, p) for p in params)})")
    return [*lines, *steps, "    return out"]
