"""The front end: from a Python function to one `Function` in normal form, with everything it calls inlined."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import gast

from s2sad.analysis.callgraph import recursive
from s2sad.errors import UnsupportedError, problem
from s2sad.lang import tree as T
from s2sad.lang.source import read, unwrap
from s2sad.transforms.definite import definite
from s2sad.transforms.fence import fence
from s2sad.transforms.inline import inline
from s2sad.transforms.normalize import normalize
from s2sad.transforms.resolve import Assumption, Callee, Recursive, Resolved, externals_with, resolve
from s2sad.transforms.settle import settle
from s2sad.transforms.tuples import scalar_tuples


def passes() -> list[tuple[str, Callable[[Any], T.Function]]]:
    """The passes of the front end in order; the first takes a Python function, each of the others the result of the one before."""
    return [
        ("resolve", load),
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
    return tuple(loader.order[::-1][1:])


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
        self.nodes: dict[types.FunctionType, gast.FunctionDef] = {}
        self.functions: dict[types.FunctionType, T.Function] = {}
        self.order: list[types.FunctionType] = []  # callees before callers
        self.recursive: frozenset[types.FunctionType] = frozenset()

    def load(self, fn: types.FunctionType) -> T.Function:
        self.read(fn)
        self.recursive = recursive({f: list(found.callees.values()) for f, found in self.resolved.items()})
        whole = self.function(fn)
        done: dict[int, T.Function] = {}
        functions = {f: _with_source(self.function(f), self.source, done) for f in self.order if f in self.recursive}
        if fn in self.recursive:
            whole = calling(fn, self.nodes[fn], whole)  # a call from outside
        return replace(_with_source(whole, self.source, done), recursive=MappingProxyType(functions))

    def assumptions(self) -> tuple[Assumption, ...]:
        return tuple({a.read: a for f in self.order for a in self.resolved[f].assumptions}.values())

    def read(self, fn: types.FunctionType) -> None:
        """Read a function and what it calls."""
        if fn in self.resolved:
            return
        node, self.source = read(fn, self.source)
        self.check_parameters(node)
        self.nodes[fn], self.resolved[fn] = node, resolve(fn, node, self.source)
        for callee in self.resolved[fn].callees.values():
            self.read(callee)
        self.order.append(fn)

    def function(self, fn: types.FunctionType) -> T.Function:
        """The function; those of its callees that are not recursive hang in its externals."""
        if fn not in self.functions:
            found = self.resolved[fn]
            inner = {n: Recursive(c) if c in self.recursive else Callee(c, self.function(c)) for n, c in found.callees.items()}
            self.functions[fn] = externals_with(found.function, inner)
        return self.functions[fn]

    def check_parameters(self, node: gast.FunctionDef) -> None:
        starred = [a for a in (node.args.vararg, node.args.kwarg) if a is not None]
        if starred:
            summary, instead = f"`{node.name}` has a starred parameter", f"def {node.name}(a, b, c):"
            raise UnsupportedError(*(problem(self.source, a, "S2S115", summary, instead) for a in starred))


def calling(fn: types.FunctionType, node: gast.FunctionDef, function: T.Function) -> T.Function:
    """A function that only calls another, with the same arguments: it stands for a recursive function from outside."""
    code, mine = fn.__code__, function.params[: len(function.params) - len(function.hidden)]
    called = T.Fresh(mine)(function.name)
    positional = mine[: code.co_argcount]
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    given = [gast.keyword(k, T.name(p)) for k, p in zip(keywords, mine[code.co_argcount :], strict=True)]
    call = T.at(gast.Call(T.name(called), [T.name(p) for p in positional], given), node)
    out = T.Fresh((*mine, called))("out")
    body = (gast.Assign([T.store(out)], call, None), gast.Return(T.name(out)))
    return T.Function(function.name, mine, body, (), MappingProxyType({called: Recursive(fn)}), function.source)


def _with_source(function: T.Function, source: T.SourceMap, done: dict[int, T.Function]) -> T.Function:
    """The function and its callees with the map that knows the lines of all of them."""
    if id(function) not in done:
        inner = {
            n: Callee(o.fn, _with_source(o.function, source, done)) for n, o in function.externals.items() if isinstance(o, Callee)
        }
        new = externals_with(function, inner)
        done[id(function)] = new.with_body(new.body, source=source)
    return done[id(function)]

