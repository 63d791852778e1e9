"""What a program takes from outside of its arguments: globals, closure values and defaults, read anew at every call."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hidden:
    """A global or closure value that became a trailing parameter; `read()` gives its current value."""

    name: str
    read: Callable[[], Any]


@dataclass(frozen=True)
class Value:
    """Reads a global (`owner` is a function, then `path` leads from its globals or closure) whenever it is called."""

    fn: types.FunctionType
    path: tuple[str, ...]

    def __call__(self) -> Any:
        obj = lookup(self.fn, self.path[0])
        for attribute in self.path[1:]:
            obj = getattr(obj, attribute)
        return obj

    def is_global(self) -> bool:
        """Whether it is now found among the globals of the function's module."""
        return len(self.path) == 1 and self.path[0] not in self.fn.__code__.co_freevars and self.path[0] in self.fn.__globals__

    def _key(self) -> tuple[Any, ...]:
        names = self.fn.__code__.co_freevars
        cell = self.path[0] in names and self.fn.__closure__
        return (id(self.fn.__closure__[names.index(self.path[0])]) if cell else id(self.fn.__globals__), self.path)  # type: ignore[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True)
class DefaultValue:
    """Reads the default of a parameter."""

    fn: types.FunctionType
    parameter: str

    def __call__(self) -> Any:
        return defaults(self.fn)[self.parameter]


@dataclass(frozen=True)
class Part:
    """Reads a part of what something else reads: an attribute, or (`item`) an item."""

    whole: Callable[[], Any]
    key: Any
    item: bool = False

    def __call__(self) -> Any:
        whole = self.whole()
        return whole[self.key] if self.item else getattr(whole, self.key)


@dataclass(frozen=True)
class Module:
    """Reads a module that has been imported."""

    name: str

    def __call__(self) -> Any:
        return sys.modules[self.name]


def lookup(fn: types.FunctionType, name: str) -> Any:
    """The present value of a name that is not local to the function. Raises NameError, or ValueError for an empty closure cell."""
    free = fn.__code__.co_freevars
    if name in free and fn.__closure__:
        return fn.__closure__[free.index(name)].cell_contents
    if name in fn.__globals__:
        return fn.__globals__[name]
    if hasattr(builtins, name):
        return getattr(builtins, name)
    raise NameError(f"name {name!r} is not defined")


def defaults(fn: types.FunctionType) -> dict[str, Any]:
    """Parameter -> default value."""
    code = fn.__code__
    positional = code.co_varnames[: code.co_argcount]
    given = fn.__defaults__ or ()
    return dict(zip(positional[len(positional) - len(given) :], given, strict=True)) | (fn.__kwdefaults__ or {})
