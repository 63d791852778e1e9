"""What users say about derivatives: rules of their own, functions that carry none, values that are constant.

The registries are keyed by the function object itself (plain functions, Numba dispatchers and library functions alike);
a later entry replaces an earlier one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from s2sad.runtime import stop_gradient

__all__ = [
    "adjoint_of",
    "adjoint_rule",
    "is_nondifferentiable",
    "nondifferentiable",
    "stop_gradient",
    "tangent_of",
    "tangent_rule",
]

F = TypeVar("F", bound=Callable[..., Any])

_lock = threading.Lock()
# id -> (object, entry): the object is held, so that its id stays its own; functions need not be hashable
_adjoints: dict[int, tuple[object, Callable[..., Any]]] = {}
_tangents: dict[int, tuple[object, Callable[..., Any]]] = {}
_constant: dict[int, object] = {}


def any_rules() -> bool:
    """Whether the user has said anything about any function."""
    return bool(_adjoints or _tangents or _constant)


def _check(fn: object, what: str) -> None:
    if not callable(fn):
        raise TypeError(f"{what} takes a function, not {type(fn).__name__}")


def adjoint_of(fn: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate the adjoint rule of a function.

    `fn` is any Python, Numba or library function. The rule takes fn's arguments, its result and the result's adjoint, and returns the adjoint
    of the float argument (of fn's float arguments in order, as a tuple, if there are several): each of the shape and dtype of its argument.
    It does not write into what it gets; what it returns is copied or added, so returning the result's adjoint itself is fine.

        @adjoint_of(softplus)
        def softplus_adjoint(x, y, y_bar):
            return y_bar / (1.0 + np.exp(-x))
    """
    _check(fn, "adjoint_of")

    def register(rule: F) -> F:
        _check(rule, "adjoint_of(fn)")
        with _lock:
            _adjoints[id(fn)] = (fn, rule)
        return rule

    return register


def tangent_of(fn: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate the tangent rule of a function.

    It takes fn's arguments, its result and the tangents of the float arguments, and returns the result's tangent.
    """
    _check(fn, "tangent_of")

    def register(rule: F) -> F:
        _check(rule, "tangent_of(fn)")
        with _lock:
            _tangents[id(fn)] = (fn, rule)
        return rule

    return register


def nondifferentiable(fn: F) -> F:
    """Say that a function's results carry no derivative. Usable as a decorator or by a call; returns the function itself."""
    _check(fn, "nondifferentiable")
    with _lock:
        _constant[id(fn)] = fn
    return fn


def adjoint_rule(fn: object) -> Callable[..., Any] | None:
    """The user's adjoint rule of a function, or None."""
    entry = _adjoints.get(id(fn))
    return entry[1] if entry is not None else None


def tangent_rule(fn: object) -> Callable[..., Any] | None:
    """The user's tangent rule of a function, or None."""
    entry = _tangents.get(id(fn))
    return entry[1] if entry is not None else None


def is_nondifferentiable(fn: object) -> bool:
    """Whether the user said that the function's results carry no derivative."""
    return id(fn) in _constant
