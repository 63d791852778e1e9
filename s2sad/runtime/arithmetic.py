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
from numba.extending import intrinsic

from s2sad.runtime.core import build, typed, unliteral


def _said(f: Callable[..., Any], *args: Any) -> str:
    """The text of the exception that a call raises."""
    try:
        f(*args)
    except (ArithmeticError, ValueError) as e:
        return str(e)
    raise AssertionError(f"{f} does not raise for {args}")


def _overflow(f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    """The arguments of the OverflowError that a call raises."""
    try:
        f(*args)
    except OverflowError as e:
        return e.args
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


TOO_LARGE = "{} does not fit into 64 bits, which is what ints have here: work with floats, for example float({}) {} {}"


def int_mul(a: Any, b: Any) -> Any:
    """`a * b` of Python ints. Raises OverflowError beyond 64 bits."""
    return _fits(_number(a) * _number(b), "the product", "*")


def int_add(a: Any, b: Any) -> Any:
    """`a + b` of Python ints. Raises OverflowError beyond 64 bits."""
    return _fits(_number(a) + _number(b), "the sum", "+")


def int_sub(a: Any, b: Any) -> Any:
    """`a - b` of Python ints. Raises OverflowError beyond 64 bits."""
    return _fits(_number(a) - _number(b), "the difference", "-")


def int_shift(a: Any, n: Any) -> Any:
    """`a << n` of Python ints. Raises OverflowError beyond 64 bits."""
    return _fits(_number(a) << _number(n), "the product", "* 2.0 **", "n")


def _fits(value: int, what: str, op: str, second: str = "b") -> int:
    if not -(2**63) <= value < 2**63:
        raise OverflowError(TOO_LARGE.format(what, "a", op, second))
    return value


NO_INT = "the number does not fit into 64 bits, which is what ints have here: work with floats"


def within_int(x: Any) -> Any:
    """`x`, if it can be made an int of 64 bits: nan and infinity raise what `int(x)` raises."""
    if not -(2.0**63) <= int(x) < 2.0**63:
        raise OverflowError(NO_INT)
    return x


COMPLEX = "a negative number to a fractional power is a complex number"
_ZERO_POWER = _said(operator.pow, 0.0, -1.0)


def _integers(*args: Any) -> bool:
    return all(isinstance(unliteral(t), (types.Integer, types.Boolean)) for t in args)


def _with_overflow(name: str, what: str, op: str, of: Callable[..., Any]) -> None:
    """Compiled code asks the processor whether the result fitted."""

    @intrinsic  # type: ignore[untyped-decorator]
    def checked(context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            found = getattr(builder, f"s{name}_with_overflow")(*args)
            parts = [builder.extract_value(found, 0), builder.zext(builder.extract_value(found, 1), context.get_value_type(types.int64))]
            return context.make_tuple(builder, signature.return_type, parts)

        return types.UniTuple(types.int64, 2)(types.int64, types.int64), generate

    @typed(of)
    def choose(a: Any, b: Any) -> Any:
        text = "def impl(a, b):\n    value, over = checked(np.int64(a), np.int64(b))\n"
        text += "    if over:\n        raise OverflowError(message)\n    return value\n"
        return build(text, checked=checked, message=TOO_LARGE.format(what, "a", op, "b"))


_with_overflow("mul", "the product", "*", int_mul)
_with_overflow("add", "the sum", "+", int_add)
_with_overflow("sub", "the difference", "-", int_sub)


@typed(within_int)
def _within_int(x: Any) -> Any:
    return build(
        f"def impl(x):\n    if x != x:\n        raise ValueError({_said(int, math.nan)!r})\n    if np.isinf(x):\n"
        f"        raise OverflowError({_said(int, math.inf)!r})\n    if x < {-(2.0**63)!r} or x >= {2.0**63!r}:\n"
        f"        raise OverflowError({NO_INT!r})\n    return x\n"
    )


@typed(int_shift)
def _int_shift(a: Any, n: Any) -> Any:
    message = TOO_LARGE.format("the product", "a", "* 2.0 **", "n")
    return build(
        "def impl(a, n):\n    if n < 0:\n        raise ValueError('negative shift count')\n    if a == 0:\n        return 0\n"
        f"    if n > 62 or (a << n) >> n != a:\n        raise OverflowError({message!r})\n    return a << n\n"
    )


def _by(of: Callable[..., Any], op: Callable[..., Any], symbol: str) -> None:
    @typed(of)
    def choose(a: Any, b: Any) -> Any:
        one: Any = 1 if _integers(a, b) else 1.0
        message = _said(op, one, 0 * one)
        return build(f"def impl(a, b):\n    if b == 0:\n        raise ZeroDivisionError({message!r})\n    return a {symbol} b\n")


_by(div, operator.truediv, "/")
_by(floordiv, operator.floordiv, "//")
_by(mod, operator.mod, "%")


_LARGE_POWER = _overflow(operator.pow, 1e300, 2.0)


@typed(power)
def _power(a: Any, b: Any) -> Any:
    lines = ["def impl(a, b):"]
    exponent: Any = b.literal_value if isinstance(b, types.IntegerLiteral) else "b"  # compiled code multiplies for a number that it knows
    if exponent == "b" or exponent < 0:
        lines += ["    if a == 0.0 and b < 0.0:", f"        raise ZeroDivisionError({_ZERO_POWER!r})"]
    if exponent == "b":
        lines += ["    if a < 0.0 and b != np.floor(b):", f"        raise ValueError({COMPLEX!r})"]
    lines += [f"    y = float(a) ** {exponent}", "    if np.isinf(y) and np.isfinite(a) and np.isfinite(b):",
              f"        raise OverflowError({', '.join(map(repr, _LARGE_POWER))})", "    return y", ""]
    return build("\n".join(lines))


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


def math_pow(a: Any, b: Any) -> Any:
    """`math.pow(a, b)`, which raises outside of its domain."""
    return math.pow(a, b)


_POW_OUTSIDE, _POW_LARGE = _said(math.pow, 0.0, -1.0), _said(math.pow, 1e300, 2.0)


@typed(math_pow)
def _math_pow(a: Any, b: Any) -> Any:
    return build(f"""def impl(a, b):
    y = math.pow(a, b)
    if np.isfinite(a) and np.isfinite(b):
        if a == 0.0 and b < 0.0 or a < 0.0 and b != np.floor(b):
            raise ValueError({_POW_OUTSIDE!r})
        if np.isinf(y):
            raise OverflowError({_POW_LARGE!r})
    return y
""", math=math)
