"""The front end: from a Python function to one `Function` in normal form, with everything it calls inlined."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NoReturn

import gast

from s2sad.errors import UnsupportedError, problem
from s2sad.lang import tree as T
from s2sad.lang.source import read, unwrap
from s2sad.lang.structure import Structure
from s2sad.transforms.definite import definite
from s2sad.transforms.fence import fence
from s2sad.transforms.inline import inline
from s2sad.transforms.normalize import normalize
from s2sad.transforms.resolve import Assumption, Resolved, resolve
from s2sad.transforms.settle import settle
from s2sad.transforms.specialize import specialize
from s2sad.transforms.tuples import scalar_tuples


def passes(entry: Mapping[str, Structure] | None = None) -> list[tuple[str, Callable[[Any], Any]]]:
    """The passes of the front end in order; the first takes a Python function, each of the others the result of the one before."""
    loader = Loader()
    return [
        ("resolve", lambda fn: loader.start(unwrap(fn))),
        ("specialize", lambda resolved: specialize(loader.root, loader, entry)[0]),
        ("fence", fence),
        ("normalize", everywhere(normalize)),
        ("definite", everywhere(definite)),
        ("inline", inline),
        ("tuples", everywhere(scalar_tuples)),
        ("settle", everywhere(settle)),
    ]


def everywhere(change: Callable[[T.Function], T.Function]) -> Callable[[T.Function], T.Function]:
    """A pass over a function as one over it and the recursive functions of its program."""
    def whole(function: T.Function) -> T.Function:
        inner = {fn: change(f) for fn, f in function.recursive.items()}
        return replace(change(function), recursive=MappingProxyType(inner))
    return whole


def build(fn: Any, after: str | None = None, entry: Mapping[str, Structure] | None = None) -> T.Function:
    """The function in normal form (`names` is empty), or as one pass of the front end leaves it; `entry`: see `build_with_assumptions`.

    >>> from s2sad.transforms.example import source
    >>> def f(x):
    ...     a, b = x, 2.0
    ...     return a if a > b else b
    >>> print(source(build(f)))
    a = x
    b = 2.0
    if a > b:
        result = a
    else:
        result = b
    return result

    Raises SourceError if there is no source, UnsupportedError with every problem if something is outside the language.
    """
    value: Any = fn
    for name, transform in passes(entry):
        value = transform(value)
        if name == after:
            break
    return value  # type: ignore[no-any-return]


def build_with_assumptions(fn: Any, entry: Mapping[str, Structure] | None = None) -> tuple[T.Function, tuple[Assumption, ...]]:
    """What `build` and `assumptions` return, for one reading of the source.

    `entry` has the structures of the arguments: the parameters are then their leaves, in order. `result` of the function tells how what it
    returns (a value, or a tuple of values) is put together.
    """
    loader = Loader()
    loader.start(unwrap(fn))
    value, assumed = specialize(loader.root, loader, entry)
    for _, transform in passes()[2:]:
        value = transform(value)
    return value, (*loader.assumptions(), *assumed)


def callees(fn: Any) -> tuple[types.FunctionType, ...]:
    """Every user function that `fn` reaches, in the order of the first call, without `fn` itself and those with a rule of their own."""
    loader = Loader()
    loader.start(unwrap(fn))
    specialize(loader.root, loader)
    return tuple(loader.resolved)[1:]


def assumptions(fn: Any) -> tuple[Assumption, ...]:
    """What the compiled code takes for granted about globals and closures: if one no longer `holds()`, it has to be compiled again."""
    loader = Loader()
    loader.start(unwrap(fn))
    return (*loader.assumptions(), *specialize(loader.root, loader)[1])


class Loader:
    """Reads functions into one source map, each when it is first called."""

    def __init__(self) -> None:
        self.source = T.SourceMap()
        self.resolved: dict[types.FunctionType, Resolved] = {}
        self.closures: dict[types.FunctionType, Resolved] = {}

    def start(self, fn: types.FunctionType) -> T.Function:
        """Read the function that is asked for."""
        self.root = self.read(fn)
        return self.root.function

    def read(self, fn: types.FunctionType) -> Resolved:
        """A function in canonical form."""
        if fn not in self.resolved:
            node, self.source = read(fn, self.source)
            self.resolved[fn] = resolve(fn, node, self.source)
        return self.resolved[fn]

    def read_closure(self, fn: types.FunctionType) -> Resolved:
        """A function whose closure values are variables."""
        if fn not in self.closures:
            node, self.source = read(fn, self.source)
            self.closures[fn] = resolve(fn, node, self.source, captured=True)
        return self.closures[fn]

    def assumptions(self) -> tuple[Assumption, ...]:
        """What the functions read take for granted."""
        return tuple({a.read: a for r in (*self.resolved.values(), *self.closures.values()) for a in r.assumptions}.values())

    def refuse_recursion(self, callee: str, caller: str, node: gast.AST) -> NoReturn:
        """Raise for a function that calls itself."""
        if callee == caller:
            summary = f"`{caller}` calls itself, and recursion cannot be differentiated"
        else:
            summary = f"`{caller}` and `{callee}` call each other, and recursion cannot be differentiated"
        raise UnsupportedError(problem(self.source, node, "S2S125", summary, "for k in range(n):  # or while\n    ..."))
