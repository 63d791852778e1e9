"""Draws from a `np.random.Generator`: which methods there are, their parameters, and the types of what they draw.

>>> sorted(arguments(T.expr("rng.normal(mu, size=3)")))
['loc', 'scale', 'size']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gast

from s2sad.lang import tree as T
from s2sad.lang.types import WEAK_FLOAT, Array, Generator, Scalar, Tuple, Type

REQUIRED = object()
#: Methods -> parameters with defaults.
DRAWS: Mapping[str, Mapping[str, Any]] = {
    "random": {"size": None},
    "standard_normal": {"size": None},
    "standard_exponential": {"size": None},
    "normal": {"loc": 0.0, "scale": 1.0, "size": None},
    "uniform": {"low": 0.0, "high": 1.0, "size": None},
    "exponential": {"scale": 1.0, "size": None},
    "lognormal": {"mean": 0.0, "sigma": 1.0, "size": None},
    "integers": {"low": REQUIRED, "high": None, "size": None},
    "choice": {"a": REQUIRED, "size": None},
    "permutation": {"x": REQUIRED},
}


class DrawError(ValueError):
    """A draw that is not supported; the text says why."""


def arguments(call: gast.Call) -> dict[str, gast.expr]:
    """The argument of every parameter of a draw. Raises DrawError for others."""
    method = call.func.attr
    params = DRAWS[method]
    if len(call.args) > len(params):
        raise DrawError(f"`.{method}()` takes {', '.join(params)} here")
    given = dict(zip(params, call.args, strict=False))
    for k in call.keywords:
        if k.arg not in params or k.arg in given:
            raise DrawError(f"`.{method}()` takes {', '.join(params)} here")
        given[k.arg] = k.value
    for p, default in params.items():
        if p not in given:
            if default is REQUIRED:
                raise DrawError(f"`.{method}()` lacks `{p}`")
            given[p] = T.const(default)
    return {p: given[p] for p in params}


def generator_of(e: gast.AST | None, names: Mapping[str, Type]) -> str | None:
    """The generator that an expression draws from."""
    if isinstance(e, gast.Call) and isinstance(e.func, gast.Attribute) and isinstance(e.func.value, gast.Name):
        return str(e.func.value.id) if isinstance(names.get(e.func.value.id), Generator) else None
    return None


def is_draw(e: gast.AST | None) -> bool:
    """Whether an expression is a draw, by its form."""
    if not (isinstance(e, gast.Call) and isinstance(e.func, gast.Attribute) and e.func.attr in DRAWS):
        return False
    name = T.dotted(e.func)
    return name is not None and name.split(".")[0] not in ("np", "math")


def drawn(size: gast.expr, dtype: str, type_of: Callable[[gast.expr], Type]) -> Type:
    """The type of what is drawn of a size: one number for None (a Python float)."""
    if isinstance(size, gast.Constant) and size.value is None:
        return WEAK_FLOAT if dtype == "float64" else Scalar(dtype)
    t = type_of(size)
    if isinstance(t, Tuple):
        return Array(dtype, len(t.items)) if t.items else _no_size(t)
    if isinstance(t, Scalar) and t.dtype not in ("float64", "float32", "bool"):
        return Array(dtype, 1)
    return _no_size(t)


def _no_size(t: Type) -> Type:
    raise DrawError(f"The size of a draw is {t}")


def draw_type(call: gast.Call, type_of: Callable[[gast.expr], Type]) -> Type:
    """The type of a draw. Raises DrawError."""
    method = call.func.attr
    if method not in DRAWS:
        raise DrawError(f"`.{method}()` of a generator")
    given = arguments(call)
    size = given.get("size", T.const(None))
    found = drawn(size, "int64" if method in ("integers", "permutation") else "float64", type_of)
    of = {p: type_of(e) for p, e in given.items() if p != "size"}
    if method in ("integers",):
        if any(not isinstance(t, Scalar) or t.dtype in ("float64", "float32") for p, t in of.items() if not _is_none(given[p])):
            raise DrawError("`.integers()` takes integers as bounds here")
        return found
    if method in ("choice", "permutation"):
        t = of["a" if method == "choice" else "x"]
        if isinstance(t, Array):
            if method == "permutation":
                return Array(t.dtype, t.ndim)
            ndim = t.ndim - 1 + (found.ndim if isinstance(found, Array) else 0)
            return Array(t.dtype, ndim) if ndim else Scalar(t.dtype)
        if isinstance(t, Scalar) and t.dtype not in ("float64", "float32", "bool"):
            whole = method == "permutation" or isinstance(found, Array)
            return Array("int64", found.ndim if isinstance(found, Array) else 1) if whole else Scalar("int64")
        raise DrawError(f"`.{method}()` of {t}")
    ndims = [t.ndim for t in of.values() if isinstance(t, Array)]
    if any(not isinstance(t, (Scalar, Array)) for t in of.values()):
        raise DrawError("A parameter of a draw is neither a number nor an array")
    if ndims:
        return Array("float64", max([*ndims, found.ndim if isinstance(found, Array) else 0]))
    return found


def _is_none(e: gast.expr) -> bool:
    return isinstance(e, gast.Constant) and e.value is None
