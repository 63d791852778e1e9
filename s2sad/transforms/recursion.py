"""Types of programs with recursive functions, and the form of the calls of those.

A recursive function gets one variant for each list of argument types with which it is called. What it returns is found together with the types
of all names: a call of a variant whose result is not known yet has no type, and the others of its assignments decide.

After this pass the arguments that are arrays are names, no other argument reads what the call changes, and no array is a result and an argument of
one call, so that the reverse sweep can repeat the arguments.
"""

from __future__ import annotations

import builtins
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import gast

from s2sad.analysis import aliases as aliases_of
from s2sad.analysis import effects as E
from s2sad.analysis import types as types_of
from s2sad.analysis.types import type_of
from s2sad.analysis.views import view_base
from s2sad.errors import UnsupportedError, problem
from s2sad.lang import tree as T
from s2sad.lang.routines import Family, Variant, argument_type, called, results_of, targets_of, variant_of
from s2sad.lang.tree import Function
from s2sad.lang.types import Scalar, Static, Type, is_array
from s2sad.rules import runtime_names
from s2sad.transforms.resolve import Recursive

#: What an emitted function cannot be called.
TAKEN = frozenset(dir(builtins)) | types_of.BUILTIN_NAMES | runtime_names()


def typed(function: Function, types: Mapping[str, Type]) -> Function:
    """The program with the types of its names; `recursive` then holds the variants of its recursive functions.

    >>> from s2sad.transforms.front import build
    >>> from s2sad.lang.types import WEAK_FLOAT, WEAK_INT
    >>> def repeated(x, n):
    ...     return x * repeated(x, n - 1) if n > 0 else 1.0
    >>> f = typed(build(repeated), {"x": WEAK_FLOAT, "n": WEAK_INT})
    >>> [(v.name, str(v.result)) for v in f.recursive]
    [('repeated', 'float')]
    """
    families = {fn: Family(f.name, _own_parameters(f)) for fn, f in function.recursive.items()}
    run = _Typing(families)
    run.settle(function, types)
    return run.finish(function, types)


def _own_parameters(function: Function) -> Function:
    """The function with another name for each parameter that it binds: its reverse sweep gets the arguments again."""
    bound = [p for p in function.params if p in T.stores(function.body)]
    if not bound:
        return function
    fresh = T.Fresh(T.all_names(function.body) | set(function.params) | set(function.externals))
    new = {p: fresh(p) for p in bound}
    binds = [T.at(gast.Assign([T.store(n)], T.name(p), None), function.body[0]) for p, n in new.items()]
    return function.with_body([*binds, *(T.rename(s, new) for s in function.body)])


class _Typing:
    def __init__(self, families: Mapping[object, Family]):
        self.families = families

    def fixed(self, function: Function) -> dict[str, Type]:
        """What is known of the names of a function before its statements are looked at: what it calls."""
        return {n: Static(self.families[o.fn] if isinstance(o, Recursive) else o) for n, o in function.externals.items()}

    def variants(self) -> Iterator[Variant]:
        for family in self.families.values():
            yield from list(family.variants.values())

    def infer(self, function: Function, types: Mapping[str, Type], partial: bool) -> Mapping[str, Type]:
        plain = replace(function, externals=MappingProxyType({}))
        return types_of.infer(plain, {p: types[p] for p in function.params}, self.fixed(function), partial)

    def settle(self, function: Function, types: Mapping[str, Type]) -> None:
        """Find the variants and what they return."""
        self.infer(function, types, partial=True)
        while True:
            before = [(v, v.result) for v in self.variants()]
            for family in self.families.values():
                for v in list(family.variants.values()):
                    self.update(family, v)
            if [(v, v.result) for v in self.variants()] == before:
                return
            self.infer(function, types, partial=True)

    def update(self, family: Family, v: Variant) -> None:
        """What a variant returns, from what is known so far."""
        f = family.function
        names = self.infer(f, dict(zip(f.params, v.types, strict=True)), partial=True)
        last = f.body[-1]
        if not isinstance(last, gast.Return) or last.value is None:
            return
        try:
            found = type_of(last.value, names)
        except types_of.UnknownName:
            return
        wrong = [t for t in results_of(found) if not isinstance(t, Scalar) and not is_array(t)]
        if wrong:
            raise UnsupportedError(problem(f.source, last, "S2S125", f"`{f.name}`, which calls itself, returns {wrong[0]}",
                                           "return an array, or numbers", "Functions that call themselves return numbers and arrays."))
        both = found if v.result is None else types_of.join(v.result, found)
        if both is None:
            raise UnsupportedError(problem(f.source, last, "S2S125", f"`{f.name}` returns {v.result} and {found}", "values of one type"))
        v.result = both

    def finish(self, function: Function, types: Mapping[str, Type]) -> Function:
        """The program and the variants that are really called, with types; every call says by its name which variant it means."""
        used: list[tuple[Variant, Function]] = []
        functions = (function, *(family.function for family in self.families.values()))
        taken = set(TAKEN).union(*(_own_names(f) for f in functions))

        def named(wish: str) -> str:
            """A name that is free, and those of its sweeps as well."""
            name, k = wish, 2
            while {name, f"{name}_forward", f"{name}_reverse"} & taken:
                name, k = f"{wish}_{k}", k + 1
            taken.update((name, f"{name}_forward", f"{name}_reverse"))
            return name


        def reach(f: Function, params: Mapping[str, Type]) -> Function:
            names = dict(self.infer(f, params, partial=False))
            calls: dict[int, Variant] = {}
            for s in E.walk(f.body):
                if not isinstance(s, (gast.Assign, gast.Expr)) or not isinstance(s.value, gast.Call) or not isinstance(s.value.func, gast.Name):
                    continue
                static = names.get(s.value.func.id)
                if isinstance(static, Static) and isinstance(static.value, Family):
                    given = (argument_type(type_of(a, names)) for a in s.value.args)
                    v = static.value.variants[tuple(t for t in given if t is not None)]
                    calls[id(s)] = v
                    if all(v is not known for known, _ in used):
                        v.name = named(v.name)
                        used.append((v, static.value.function))
            names = {n: t for n, t in names.items() if not (isinstance(t, Static) and isinstance(t.value, Family))}
            names.update({v.name: Static(v) for v in calls.values()})
            externals = {n: o for n, o in f.externals.items() if not isinstance(o, Recursive)}
            body = _map(list(f.body), lambda s: _calling(s, calls[id(s)].name) if id(s) in calls else s)
            return f.with_body(body, names=names, externals=MappingProxyType(externals))

        main = reach(replace(function, recursive=MappingProxyType({})), types)
        done: dict[Variant, Function] = {}
        while len(done) < len(used):
            v, f = used[len(done)]
            done[v] = reach(replace(f, name=v.name), dict(zip(f.params, v.types, strict=True)))
        program = replace(main, recursive=MappingProxyType(done))
        note_writes(program)
        return program


def note_writes(program: Function) -> None:
    """Tell the variants which arrays they change."""
    while True:
        before = [v.writes for v in program.recursive]
        for v, f in program.recursive.items():
            aliases = aliases_of.analyse(f)
            v.writes = frozenset(k for k, p in enumerate(f.params) if is_array(f.names[p]) and aliases.is_written(p))
        if [v.writes for v in program.recursive] == before:
            return


def _own_names(f: Function) -> set[str]:
    """The names of a function, without those by which it calls recursive ones."""
    return (T.all_names(f.body) | set(f.params)) - {n for n, o in f.externals.items() if isinstance(o, Recursive)}


def _map(body: list[gast.stmt], change: Callable[[gast.stmt], gast.stmt]) -> list[gast.stmt]:
    """The statements, each simple one changed."""
    out = []
    for s in body:
        if E.children(s):
            s = copy.copy(s)
            s.body = _map(s.body, change)
            if isinstance(s, gast.If):
                s.orelse = _map(s.orelse, change)
            out.append(s)
        else:
            out.append(change(s))
    return out


def _calling(s: gast.stmt, name: str) -> gast.stmt:
    """The statement with another name of what it calls."""
    s = copy.copy(s)
    s.value = copy.copy(s.value)
    s.value.func = T.name(name)
    return s


def calls(function: Function) -> Function:
    """The program with its calls of recursive functions in the form of the module's head; the variants then know which arrays they change."""
    if not function.recursive:
        return function
    note_writes(function)
    inner = {v: _results(_Calls(f).run()) for v, f in function.recursive.items()}
    new = replace(_Calls(function).run(), recursive=MappingProxyType(inner))
    for f in (new, *inner.values()):
        _check(f)
    return new


class _Calls:
    def __init__(self, function: Function):
        self.function, self.names = function, dict(function.names)
        self.aliases = aliases_of.analyse(function)
        self.fresh = T.Fresh(T.all_names(function.body) | set(function.params) | set(self.names))

    def run(self) -> Function:
        return self.function.with_body(self.block(list(self.function.body)), names=self.names)

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for s in body:
            if E.children(s):
                s = copy.copy(s)
                s.body = self.block(s.body)
                if isinstance(s, gast.If):
                    s.orelse = self.block(s.orelse)
                out.append(s)
            elif called(s, self.names) is not None:
                out += self.call(s)
            else:
                out.append(s)
        return out

    def named(self, wish: str, value: gast.expr, s: gast.stmt, out: list[gast.stmt]) -> gast.expr:
        n = self.fresh(wish)
        self.names[n] = type_of(value, self.names)
        out.append(T.at(gast.Assign([T.store(n)], value, None), s))
        return T.name(n)

    def call(self, s: gast.stmt) -> list[gast.stmt]:
        variant = variant_of(s, self.names)
        assert variant is not None
        out: list[gast.stmt] = []
        changed = {m for n in E.effects(s, self.names).writes for m in self.aliases.groups.get(n, (n,))}
        args = []
        for p, a in zip(variant.params, s.value.args, strict=True):
            if is_array(type_of(a, self.names)):
                args.append(a if isinstance(a, gast.Name) else self.named(f"{p}_given", a, s, out))
            else:
                args.append(self.named(f"{p}_given", a, s, out) if E.reads_of(a)[0] & changed else a)
        s = copy.copy(s)
        s.value = T.at(gast.Call(s.value.func, args, []), s.value)
        given = {a.id for a in args if isinstance(a, gast.Name) and is_array(self.names.get(a.id))}
        again = [n for n in targets_of(s) if n in given]
        new = {n: self.fresh(f"{n}_next") for n in again}
        self.names.update({m: self.names[n] for n, m in new.items()})
        if new and isinstance(s, gast.Assign):
            s.targets = [T.rename(s.targets[0], new)]
        return [*out, s, *(T.at(gast.Assign([T.store(n)], T.name(m), None), s) for n, m in new.items())]


def _results(function: Function) -> Function:
    """The variant with a return at its end, of values that are arrays of its own or numbers, each under a name of its own."""
    last = function.body[-1]
    if not isinstance(last, gast.Return):
        return function.with_body([*function.body, T.at(gast.Return(None), last)])
    aliases = aliases_of.analyse(function)
    values = list(last.value.elts) if isinstance(last.value, gast.Tuple) else [last.value]
    arrays = [n for v in values if (n := view_base(v, function.names)) is not None]
    for k, n in enumerate(arrays):
        group = aliases.groups[n]
        for p in (*function.params, *arrays[:k]):
            if p in group:
                what = f"an array that shares memory with its argument `{p}`" if p in function.params else "the same array twice"
                raise UnsupportedError(problem(function.source, last, "S2S125", f"`{function.name}`, which calls itself, returns {what}",
                                               f"return {p}.copy()"))
    seen: set[str] = set()
    fresh, names = T.Fresh(T.all_names(function.body) | set(function.params)), dict(function.names)
    binds: list[gast.stmt] = []
    for k, v in enumerate(values):
        if isinstance(v, gast.Name) and v.id in seen | set(function.params):
            n = fresh(f"{v.id}_out")
            names[n] = names[v.id]
            binds.append(T.at(gast.Assign([T.store(n)], v, None), last))
            values[k] = v = T.name(n)
        if isinstance(v, gast.Name):
            seen.add(v.id)
    value = gast.Tuple(values, gast.Load()) if isinstance(last.value, gast.Tuple) else values[0]
    return function.with_body([*function.body[:-1], *binds, T.at(gast.Return(value), last)], names=names)


def _check(function: Function) -> None:
    """Refuse calls whose arguments share memory that the callee changes, and those that change an array that has several names."""
    aliases = aliases_of.analyse(function)
    problems = []
    for s in E.walk(function.body):
        v = variant_of(s, function.names)
        if v is None:
            continue
        arrays = [(k, a.id) for k, a in enumerate(s.value.args) if isinstance(a, gast.Name) and is_array(function.names.get(a.id))]
        for j, (k, n) in enumerate(arrays):
            for i, m in arrays[:j]:
                if m in aliases.groups[n] and {i, k} & v.writes:
                    what = f"`{v.params[i]}` and `{v.params[k]}` of `{v.user}` share memory here, and it changes one of them"
                    problems.append(problem(function.source, s.value, "S2S125", what, f"{v.user}(..., {n}.copy())"))
            if k in v.writes and aliases.owner(n) not in aliases.stable:
                problems.append(problem(function.source, s.value, "S2S125", f"`{v.user}` changes `{n}`, which names several arrays in this function",
                                        f"{n} = {n}.copy()  # under a name of its own, before this call"))
    if problems:
        raise UnsupportedError(*dict.fromkeys(problems))
