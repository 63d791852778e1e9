"""Arithmetic of Python numbers that raises what Python raises, compiled as well as in plain Python.

`div(a, b)` is `a / b`, `math_log(x)` is `math.log(x)`: compiled code would give inf or nan where Python raises ZeroDivisionError, ValueError or
OverflowError. The texts of the exceptions are those of the Python that runs.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from s2sad.runtime.core import build, typed, unliteral


def _said(f: Callable[..., Any], *args: Any) -> str:
    """The text of the exception that a call raises."""
    try:
        f(*args)
    except (ArithmeticError, ValueError) as e:
        return str(e)
    raise AssertionError(f"{f} does not raise for {args}")


def _number(x: Any) -> Any:
    """The Python number that stands for an entry of a list, which is kept in an array."""
    return x.item() if isinstance(x, np.generic) else x


def div(a: Any, b: Any) -> Any:
    """`a / b`"""
    return _number(a) / _number(b)


def floordiv(a: Any, b: Any) -> Any:
    """`a // b`"""
    return _number(a) // _number(b)


def mod(a: Any, b: Any) -> Any:
    """`a % b`"""
    return _number(a) % _number(b)


def power(a: Any, b: Any) -> Any:
    """`a ** b` of floats; ValueError where Python gives a complex number."""
    if a < 0.0 and b != math.floor(b):
        raise ValueError(COMPLEX)
    return _number(a) ** _number(b)


COMPLEX = "a negative number to a fractional power is a complex number"
_ZERO_POWER = _said(operator.pow, 0.0, -1.0)


def _integers(*args: Any) -> bool:
    return all(isinstance(unliteral(t), (types.Integer, types.Boolean)) for t in args)


def _by(of: Callable[..., Any], op: Callable[..., Any], symbol: str) -> None:
    @typed(of)
    def choose(a: Any, b: Any) -> Any:
        one: Any = 1 if _integers(a, b) else 1.0
        message = _said(op, one, 0 * one)
        return build(f"def impl(a, b):\n    if b == 0:\n        raise ZeroDivisionError({message!r})\n    return a {symbol} b\n")


_by(div, operator.truediv, "/")
_by(floordiv, operator.floordiv, "//")
_by(mod, operator.mod, "%")


@typed(power)
def _power(a: Any, b: Any) -> Any:
    return build(
        f"def impl(a, b):\n    if a == 0.0 and b < 0.0:\n        raise ZeroDivisionError({_ZERO_POWER!r})\n"
        f"    if a < 0.0 and b != np.floor(b):\n        raise ValueError({COMPLEX!r})\n    return a ** b\n"
    )


# function -> (where it raises ValueError, an argument of which it does; where OverflowError, an argument of which it does)
DOMAINS: dict[str, tuple[str, float, str, float]] = {
    "log": ("x <= 0.0", 0.0, "", 0.0),
    "log2": ("x <= 0.0", 0.0, "", 0.0),
    "log10": ("x <= 0.0", 0.0, "", 0.0),
    "log1p": ("x <= -1.0", -1.0, "", 0.0),
    "sqrt": ("x < 0.0", -1.0, "", 0.0),
    "asin": ("x < -1.0 or x > 1.0", 2.0, "", 0.0),
    "acos": ("x < -1.0 or x > 1.0", 2.0, "", 0.0),
    "acosh": ("x < 1.0", 0.0, "", 0.0),
    "atanh": ("x <= -1.0 or x >= 1.0", 1.0, "", 0.0),
    "exp": ("", 0.0, "709.782712893384 < x < np.inf", 1e4),
    "expm1": ("", 0.0, "709.782712893384 < x < np.inf", 1e4),
    "cosh": ("", 0.0, "710.4758600739439 < abs(x) < np.inf", 1e4),
    "sinh": ("", 0.0, "710.4758600739439 < abs(x) < np.inf", 1e4),
}


def _checked(name: str) -> Callable[..., Any]:
    """`math.name` with its exceptions."""
    function = getattr(math, name)
    domain, outside, overflow, large = DOMAINS[name]

    def plain(x: Any) -> Any:
        return function(x)

    plain.__name__ = plain.__qualname__ = f"math_{name}"
    plain.__doc__ = f"`math.{name}(x)`, which raises outside of its domain."
    lines = ["def impl(x):"]
    if domain:
        lines += [f"    if {domain}:", f"        raise ValueError({_said(function, outside)!r})"]
    if overflow:
        lines += [f"    if {overflow}:", f"        raise OverflowError({_said(function, large)!r})"]
    text = "\n".join([*lines, f"    return math.{name}(x)", ""])

    @typed(plain)
    def choose(x: Any) -> Any:
        return build(text, math=math)

    return plain


math_acos, math_acosh, math_asin, math_atanh = map(_checked, ("acos", "acosh", "asin", "atanh"))
math_cosh, math_exp, math_expm1, math_sinh = map(_checked, ("cosh", "exp", "expm1", "sinh"))
math_log, math_log10, math_log1p, math_log2, math_sqrt = map(_checked, ("log", "log10", "log1p", "log2", "sqrt"))
