"""The front end: from a Python function to one `Function` in normal form, with everything it calls inlined."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import gast

from s2sad.errors import UnsupportedError, problem
from s2sad.lang import tree as T
from s2sad.lang.source import read, unwrap
from s2sad.transforms.definite import definite
from s2sad.transforms.fence import fence
from s2sad.transforms.inline import inline
from s2sad.transforms.normalize import normalize
from s2sad.transforms.resolve import Assumption, Callee, Resolved, externals_with, resolve
from s2sad.transforms.settle import settle
from s2sad.transforms.tuples import scalar_tuples


def passes() -> list[tuple[str, Callable[[Any], T.Function]]]:
    """The passes of the front end in order; the first takes a Python function, each of the others the result of the one before."""
    return [
        ("resolve", load),
        ("fence", fence),
        ("normalize", normalize),
        ("definite", definite),
        ("inline", inline),
        ("tuples", scalar_tuples),
        ("settle", settle),
    ]


def build(fn: Any, after: str | None = None) -> T.Function:
    """The function in normal form (`names` is empty), or as one pass of the front end leaves it.

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
    for name, transform in passes():
        value = transform(value)
        if name == after:
            break
    return value  # type: ignore[no-any-return]


def build_with_assumptions(fn: Any) -> tuple[T.Function, tuple[Assumption, ...]]:
    """What `build` and `assumptions` return, for one reading of the source."""
    loader = _Loader()
    value = loader.load(unwrap(fn))
    for _, transform in passes()[1:]:
        value = transform(value)
    return value, loader.assumptions()


def load(fn: Any) -> T.Function:
    """The function as it was written, in canonical form; the functions that it calls hang in its `externals`."""
    return _Loader().load(unwrap(fn))


def callees(fn: Any) -> tuple[types.FunctionType, ...]:
    """Every user function that `fn` reaches, in the order of the first call, without `fn` itself and those with a rule of their own."""
    loader = _Loader()
    loader.load(unwrap(fn))
    return tuple(list(loader.resolved)[::-1][1:])


def assumptions(fn: Any) -> tuple[Assumption, ...]:
    """What the compiled code takes for granted about globals and closures: if one no longer `holds()`, it has to be compiled again."""
    loader = _Loader()
    loader.load(unwrap(fn))
    return loader.assumptions()


class _Loader:
    """Reads a function and all that it reaches into one source map."""

    def __init__(self) -> None:
        self.source = T.SourceMap()
        self.resolved: dict[types.FunctionType, Resolved] = {}
        self.functions: dict[types.FunctionType, T.Function] = {}
        self.open: list[types.FunctionType] = []

    def load(self, fn: types.FunctionType) -> T.Function:
        function = self.visit(fn)
        return _with_source(function, self.source, {})

    def assumptions(self) -> tuple[Assumption, ...]:
        return tuple({a.read: a for r in self.resolved.values() for a in r.assumptions}.values())

    def visit(self, fn: types.FunctionType) -> T.Function:
        if fn in self.functions:
            return self.functions[fn]
        node, self.source = read(fn, self.source)
        self.check_parameters(node)
        found = resolve(fn, node, self.source)
        self.open.append(fn)
        inner: dict[str, Callee] = {}
        for name, callee in found.callees.items():
            if callee in self.open:
                self.refuse_recursion(fn, callee, found.function, name)
            inner[name] = Callee(callee, self.visit(callee))
        self.open.pop()
        self.functions[fn] = externals_with(found.function, inner)
        self.resolved[fn] = found
        return self.functions[fn]

    def check_parameters(self, node: gast.FunctionDef) -> None:
        starred = [a for a in (node.args.vararg, node.args.kwarg) if a is not None]
        if starred:
            summary, instead = f"`{node.name}` has a starred parameter", f"def {node.name}(a, b, c):"
            raise UnsupportedError(*(problem(self.source, a, "S2S115", summary, instead) for a in starred))

    def refuse_recursion(self, fn: types.FunctionType, callee: types.FunctionType, function: T.Function, name: str) -> None:
        calls = (n for s in function.body for n in gast.walk(s) if isinstance(n, gast.Call) and isinstance(n.func, gast.Name))
        call = next(c for c in calls if c.func.id == name)
        if callee is fn:
            summary = f"`{fn.__name__}` calls itself, and recursion cannot be differentiated"
        else:
            summary = f"`{fn.__name__}` and `{callee.__name__}` call each other, and recursion cannot be differentiated"
        raise UnsupportedError(problem(self.source, call, "S2S125", summary, "for k in range(n):  # or while\n    ..."))


def _with_source(function: T.Function, source: T.SourceMap, done: dict[int, T.Function]) -> T.Function:
    """The function and its callees with the map that knows the lines of all of them."""
    if id(function) not in done:
        inner = {
            n: Callee(o.fn, _with_source(o.function, source, done)) for n, o in function.externals.items() if isinstance(o, Callee)
        }
        new = externals_with(function, inner)
        done[id(function)] = new.with_body(new.body, source=source)
    return done[id(function)]

