"""What is known before the program runs is decided: tests, text options, functions as values, tuples, dicts and objects.

The program is evaluated in the order of its statements, on what is known of its values (`abstract`). Branches that are decided disappear, a call
of a function that is a value becomes a call of that function, loops over what is written out are written out, and tuples, dicts and objects
become one variable for each part: `p.mass` becomes `p_mass`. A function that is called becomes one function for each combination of known
arguments; its variables from outside become parameters. What is left is what runs.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NoReturn, Protocol

import gast

from s2sad.errors import refuse
from s2sad.lang import structure
from s2sad.lang import tree as T
from s2sad.lang.source import name_of
from s2sad.transforms.abstract import (
    UNKNOWN,
    Code,
    Conflict,
    Frozen,
    Func,
    Inner,
    Join,
    Known,
    Method,
    Mover,
    Obj,
    Opaque,
    Partial,
    Record,
    Ref,
    State,
    Value,
    copies,
    describe,
    named,
    reachable,
)
from s2sad.transforms.evaluate import OPERATORS, Evaluator, Multi, Needed, word
from s2sad.transforms.normalize import changes_list
from s2sad.transforms.resolve import RESERVED, Assumption, Callee, Recursive, Resolved, Unknown, own_names


class Program(Protocol):
    """Where functions are read."""

    @property
    def source(self) -> T.SourceMap:
        """The lines of all that has been read."""

    def read(self, fn: types.FunctionType) -> Resolved:
        """A function in canonical form."""

    def read_closure(self, fn: types.FunctionType) -> Resolved:
        """A function in canonical form, its closure values as variables."""

    def refuse_recursion(self, callee: str, caller: str, node: gast.AST) -> NoReturn:
        """Raise for a function that calls itself."""


#: At most so many trips of a loop are written out.
TRIPS = 100


def specialize(
    root: Resolved, program: Program, entry: Mapping[str, structure.Structure] | None = None
) -> tuple[T.Function, list[Assumption]]:
    """The function without what is decided, its callees (as `Callee` in its externals), and what was taken for granted of globals.

    `entry` has the structures of the arguments, if they are not all values of the running program.

    >>> from s2sad.transforms.example import source
    >>> from s2sad.transforms.front import build
    >>> def f(x, method="double"):
    ...     scale = {"double": lambda v: 2.0 * v, "half": lambda v: 0.5 * v}[method]
    ...     pair = (scale(x), 1.0)
    ...     return pair[0] + pair[1]
    >>> def g(x):
    ...     return f(x, method="half")
    >>> print(source(build(g, "inline")))
    pair_0 = 0.5 * x
    pair_1 = 1.0
    return pair_0 + pair_1
    """
    whole = Specializer(program)
    entry = entry or {}
    whole.typed = any(leaf.type is not None for s in entry.values() for leaf in structure.leaves(s))
    try:
        frame = whole.root(root, entry, calling=False)
        if root.fn in whole.recursive:
            frame = whole.root(root, entry, calling=True)
    except Needed as needed:
        raise needed.error from None
    done: dict[int, T.Function] = {}
    function = _with_source(frame.finish_root(), program.source, done)
    split = {v.token: _with_source(v.function, program.source, done) for v in whole.split.values() if v.function is not None}
    return replace(function, recursive=MappingProxyType(split)), list(whole.assumptions.values())


def _with_source(function: T.Function, source: T.SourceMap, done: dict[int, T.Function]) -> T.Function:
    """The function and its callees with the map that knows the lines of all of them."""
    if id(function) not in done:
        callees = {n: o for n, o in function.externals.items() if isinstance(o, Callee)}
        inner = {**function.externals, **{n: replace(o, function=_with_source(o.function, source, done)) for n, o in callees.items()}}
        done[id(function)] = replace(function, source=source, externals=MappingProxyType(inner))
    return done[id(function)]


@dataclass
class Variant:
    """A function for one combination of what is known of its arguments, and what it gives."""

    callee: Callee | Recursive
    value: Value  # the result, in `state`
    state: State
    wishes: list[str]  # names for its results
    objects: list[int]  # the objects among its arguments, in `state`
    effects: list[tuple[int, Any]]  # which of them change, and in which part (None: in all)
    valued: bool  # some way through it returns a value
    key: Any = None  # what is known of the results


@dataclass
class Split:
    """A function that calls itself for what is known of its arguments: it stays a function of its own. What it gives is found by trying."""

    token: Any
    function: T.Function | None = None
    called: bool = False
    key: Any = None
    variant: Variant | None = None


class Specializer:
    """What belongs to a whole program."""

    def __init__(self, program: Program):
        self.program = program
        self.variants: dict[Any, Variant] = {}
        self.split: dict[Any, Split] = {}  # by the key of what is known of their arguments; those that turn out not to call themselves leave
        self.recursive: set[Any] = set()  # what calls itself in some way
        self.open: list[tuple[Any, str]] = []
        self.evaluating: set[Any] = set()
        self.assumptions: dict[Any, Assumption] = {}
        self.used: dict[int, set[str]] = {}
        self.count = 0
        self.typed = False  # whether the types of the arguments are known

    def root(self, unit: Resolved, entry: Mapping[str, structure.Structure], calling: bool) -> Frame:
        """The function that is asked for, evaluated; `calling`: as one that only calls it, because it calls itself."""
        frame = Frame(self, unit, unit.node, name_of(unit.fn))
        frame.enter(entry)
        self.open.append((unit.fn, unit.fn.__name__))
        if calling:
            self.open.pop()
            frame.call_itself(unit.fn)
        else:
            frame.run()
            self.open.pop()
        return frame

    def forget(self, before: set[Any]) -> None:
        """Leave out what was evaluated since then: it relied on what has turned out otherwise."""
        for key in [k for k in self.variants if k not in before]:
            del self.variants[key]
            self.split.pop(key, None)

    def new_id(self) -> int:
        self.count += 1
        return self.count

    def names_of(self, unit: Resolved) -> set[str]:
        """Names that occur in a function that was read."""
        if id(unit) not in self.used:
            found = {n.id for n in gast.walk(unit.node) if isinstance(n, gast.Name)} | set(own_names(unit.node)) | set(unit.function.params)
            found |= {name for n in gast.walk(unit.node) if isinstance(n, (gast.FunctionDef, gast.Lambda)) for name in own_names(n)}
            self.used[id(unit)] = found | set(unit.function.externals) | RESERVED
        return self.used[id(unit)]


@dataclass
class Entry:
    """How a callee begins: the key of what is known of its arguments, its frame, and the arguments that are left."""

    key: Any
    frame: Frame
    args: list[gast.expr]
    keywords: list[gast.keyword]
    objects: list[int]


@dataclass
class Loop:
    """A loop that is being evaluated; states at its jumps, with the statements before them."""

    unrolled: bool
    depth: int
    target: str = ""
    breaks: list[tuple[State, list[gast.stmt]]] = field(default_factory=list)
    continues: list[tuple[State, list[gast.stmt]]] = field(default_factory=list)


@dataclass
class Exit:
    """A return statement, and what is known there."""

    stmt: gast.Return | None
    value: Value
    state: State
    multi: Multi | None = None


class Frame(Evaluator):
    """The evaluation of one function."""

    def __init__(self, whole: Specializer, unit: Resolved, node: Any, name: str):
        super().__init__()
        self.whole, self.unit, self.node, self.name = whole, unit, node, name
        self.fresh = T.Fresh(whole.names_of(unit))
        self.params: list[str] = []
        self.exits: list[Exit] = []
        self.loops: list[Loop] = []
        self.depth = 0
        self.objects: list[int] = []
        self.paths: list[str] = []  # how the user writes the objects among the arguments
        self.initial: dict[int, Obj] = {}
        body = node.body if isinstance(node.body, list) else []
        self.grown = {T.base_name(n.func.value) for s in body for n in gast.walk(s) if changes_list(n) and isinstance(n.func.value, gast.Name)}

    # -- the whole ----------------------------------------------------------------------------------------

    def enter(self, entry: Mapping[str, structure.Structure]) -> None:
        """The parameters of the function that is asked for."""
        a = self.node.args
        self.fresh.used |= {leaf.name for s in entry.values() for leaf in structure.leaves(s)}
        for p in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg):
            if p is None:
                continue
            if p.original in entry:
                self.state.vars[p.id] = self.argument(entry[p.original], p, p.original)
            elif p is a.vararg or p is a.kwarg:
                refuse(self.source, p, "S2S115", f"`{self.name}` has a starred parameter", f"def {self.name}(a, b, c):")
            else:
                self.params.append(p.id)
                self.state.vars[p.id] = named(p.id)
        self.initial = {i: self.state.heap[i] for i in self.objects}
        self.state.vars.update({f"<{k}>": Ref(i) for k, i in enumerate(self.objects)})

    def argument(self, s: structure.Structure, p: Any, path: str) -> Value:
        """The value of an argument of a structure; `path` is how the user writes it."""
        if isinstance(s, structure.Leaf):
            name = p.id if s.name == p.original else s.name
            self.params.append(name)
            return Code(T.name(name), UNKNOWN, s.type)
        if isinstance(s, structure.Known):
            value = self.lift_value(s.value, None, p.original, p.original, ())
            if value is None:
                return Opaque(p.original, Unknown(s.value, p.original))
            return value
        if isinstance(s, structure.Function):
            free = [(n, self.argument(x, p, n)) for n, x in s.free]
            given = {n: self.argument(x, p, n) for n, x in s.defaults}
            if not free and not given:
                return Func(s.fn)
            unit = self.whole.program.read_closure(s.fn)
            a = unit.node.args
            kept = tuple((q.id, given[q.original]) for q in (*a.posonlyargs, *a.args, *a.kwonlyargs) if q.original in given)
            return Inner(unit.node, unit, Frozen(tuple(n for n, _ in free), tuple(v for _, v in free)), kept)
        items = [self.argument(x, p, path + structure.step(s.kind, k)) for k, x in zip(s.keys, s.items, strict=True)]
        if s.kind in ("tuple", "namedtuple"):
            return Record(s.cls, s.keys, tuple(items))
        if s.kind == "method":
            return Method(items[0], items[1])
        if s.kind == "partial":
            count = 1 + sum(isinstance(k, int) for k in s.keys)
            return Partial(items[0], tuple(items[1:count]), tuple(zip(map(str, s.keys[count:]), items[count:], strict=True)))
        owner = f"`{path}`, a {s.cls.__name__} that the arguments have in two places," if s.shared else ""
        ref = self.new_object(s.kind, s.cls, s.keys, items, owner=owner, bound=True)
        self.objects.append(ref.id)
        self.paths.append(path)
        return ref

    def call_itself(self, fn: types.FunctionType) -> None:
        """A body that only calls the function."""
        a = self.node.args
        args = [self.state.vars[p.id] for p in (*a.posonlyargs, *a.args)]
        args += (self.items(self.state.vars[a.vararg.id]) or []) if a.vararg is not None else []
        keywords = [(p.original, self.state.vars[p.id]) for p in a.kwonlyargs]
        if a.kwarg is not None:
            rest = self.state.heap[self.state.vars[a.kwarg.id].id]  # type: ignore[attr-defined]
            keywords += zip(rest.keys, rest.items, strict=True)
        name = self.fresh("out")
        value = self.force(self.call(Func(fn), args, keywords, T.at(gast.Call(T.name(self.name), [], []), self.node)))
        self.bind_name(name, value, self.node)
        self.statement(T.at(gast.Return(T.name(name)), self.node))

    def run(self) -> None:
        """Evaluate the body."""
        if isinstance(self.node, gast.Lambda):
            self.statement(T.at(gast.Return(self.node.body), self.node.body))
        else:
            self.statements(self.node.body)
        if self.alive:
            self.exits.append(Exit(None, Known(None), self.state))

    def function(self) -> T.Function:
        """What is left of the function."""
        body = self.out
        used = T.all_names(body)
        hidden = tuple(h for h in (*self.unit.function.hidden, *self.added_hidden()) if h.name in used)
        given = {n: o for n, o in {**self.unit.function.externals, **self.extra}.items() if n in used}
        params = (*self.params, *(h.name for h in hidden))
        return T.Function(self.name, params, tuple(body), hidden, MappingProxyType(given), self.source)

    def finish_root(self) -> T.Function:
        """The function that was asked for: what it returns is a value or a tuple of values."""
        valued = [e for e in self.exits if e.stmt is not None and e.stmt.value is not None]
        keys = []
        for e in valued:
            leaves: list[gast.expr] = []
            keys.append(self.flat(e.value, e.state, leaves, e.stmt or self.node))
            if keys[-1] != keys[0]:
                self.different(e, valued[0])
            if isinstance(e.value, Known) and e.stmt is not None:
                e.stmt.value = self.to_code(e.value, e.stmt)
            else:
                self.deliver(e, leaves, isinstance(e.value, Code))
        changed = self.changed() if self.paths else ()
        result = None
        if valued and not isinstance(valued[0].value, (Code, Known)):
            result = self.result(valued[0].value, valued[0].state, "result", valued[0].stmt or self.node)
        return replace(self.function(), result=result, changed=changed)

    def result(self, value: Value, state: State, path: str, node: gast.AST) -> structure.Structure:
        """How a result is put together."""
        if isinstance(value, Code):
            return structure.Leaf(path, path)
        if isinstance(value, Known):
            return structure.Known(value.value)
        if isinstance(value, Record):
            kind = "tuple" if value.cls is tuple else "namedtuple"
            items = tuple(self.result(v, state, f"{path}_{word(k)}", node) for k, v in zip(value.keys, value.items, strict=True))
            return structure.Record(kind, value.cls, value.keys, items)
        if isinstance(value, Ref):
            obj = state.heap[value.id]
            items = tuple(self.result(v, state, f"{path}_{word(k)}", node) for k, v in zip(obj.keys, obj.items, strict=True))
            return structure.Record(obj.kind, obj.cls, obj.keys, items)
        refuse(self.source, node, "S2S124", f"`{self.name}` returns {describe(value, state)}", "return f(x)  # its value")

    def deliver(self, e: Exit, leaves: list[gast.expr], plain: bool) -> None:
        """Let a return statement return what is computed of the results."""
        assert e.stmt is not None
        multi = e.multi
        if multi is not None and [getattr(x, "id", None) for x in leaves] == multi.names:
            e.stmt.value = multi.call
            return
        if multi is not None and multi.names:
            names_at = T.at(gast.Tuple([T.store(n) for n in multi.names], gast.Store()), e.stmt)
            target = names_at if len(multi.names) != 1 else names_at.elts[0]
            self.before(e.stmt, T.at(gast.Assign([target], multi.call, None), e.stmt))
        e.stmt.value = leaves[0] if plain else T.at(gast.Tuple(leaves, gast.Load()), e.stmt)

    def flat(self, value: Value, state: State, leaves: list[gast.expr], node: gast.AST) -> Any:
        """The parts of a result that are computed; the key."""

        def leaf(wish: str, code: Code) -> Value:
            leaves.append(code.expr)
            return code

        return Mover(state, State(), leaf, self.whole.new_id, hints=False).move(value, "")[0]

    def finish(self, callee: Any) -> Variant:
        """The function as a callee: its results are those of its own, and the parts of its arguments' objects that it has changed."""
        valued = [e for e in self.exits if e.stmt is not None and e.stmt.value is not None]
        effects = self.effects()
        sure = [e for e in valued if not (isinstance(e.value, Code) and e.value.guess)]
        valued.sort(key=lambda e: e not in sure)
        results = valued if valued else self.exits
        first: Any = None
        wishes: list[str] = []
        whole = self.exits if effects else valued
        for e in whole:
            leaves: list[gast.expr] = []
            names: list[str] = []

            def leaf(wish: str, code: Code, leaves: list[gast.expr] = leaves, names: list[str] = names) -> Value:
                leaves.append(code.expr)
                names.append(wish)
                return code

            mover = Mover(e.state, State(), leaf, self.whole.new_id, hints=False)
            mover.ids = {i: i for i in self.objects}
            key = [mover.move(e.value, "")[0]]
            for k, part in effects:
                obj = e.state.heap[self.objects[k]]
                for name in obj.keys if part is None else (part,):
                    key.append((name, mover.move(obj.get(name) or Known(None), str(name))[0]))
            if first is None:
                first, wishes = key, names
            elif key != first and e not in sure and e in valued:
                continue  # it is evaluated again, with what is known now
            elif key != first:
                self.different(e, results[0])
            if e.stmt is None:
                if leaves:
                    e.stmt = T.at(gast.Return(None), self.node)
                    self.out.append(e.stmt)
                else:
                    continue
            self.deliver(e, leaves, len(leaves) == 1)
            if not leaves and not e.multi:
                e.stmt.value = None
        last = results[0] if results else Exit(None, Known(None), State())
        return Variant(Callee(callee, self.function()), last.value, last.state, wishes, self.objects, effects, bool(valued), tuple(first or ()))

    def before(self, where: gast.stmt, new: gast.stmt) -> None:
        """Put a statement before another."""
        todo = [self.out]
        while todo:
            body = todo.pop()
            for k, s in enumerate(body):
                if s is where:
                    body.insert(k, new)
                    return
                todo += [getattr(s, f) for f in ("body", "orelse") if isinstance(getattr(s, f, None), list)]

    def different(self, e: Exit, other: Exit) -> NoReturn:
        """Two ways through a function give values of different kinds."""
        a, b = describe(e.value, e.state), describe(other.value, other.state)
        where = e.stmt if e.stmt is not None else self.node
        refuse(self.source, where, "S2S132", f"`{self.name}` returns {a} here and {b} elsewhere",
               "return ...  # the same kind of value on every way", "Which of them it is would be decided when the program runs.")

    def changed(self) -> tuple[str, ...]:
        """The parts of arguments that are bound anew, as the user writes them."""
        kinds = {k: self.initial[i].kind for k, i in enumerate(self.objects)}
        return tuple(self.paths[k] + ("" if key is None else structure.step(kinds[k], key)) for k, key in self.effects())

    def effects(self) -> list[tuple[int, Any]]:
        """The parts of the objects among the arguments that are not the same at every end as at the beginning."""
        found: dict[tuple[int, Any], None] = {}
        stored = T.stores(self.out)

        def differs(a: Value, b: Value) -> bool:
            if isinstance(a, Code) and isinstance(b, Code) and isinstance(a.expr, gast.Name) and isinstance(b.expr, gast.Name):
                return a.expr.id != b.expr.id or a.expr.id in stored
            if isinstance(a, Record) and isinstance(b, Record) and a.cls is b.cls and len(a.items) == len(b.items):
                return any(map(differs, a.items, b.items))
            return not (isinstance(a, Ref) and isinstance(b, Ref) and a.id == b.id) and a is not b

        for k, i in enumerate(self.objects):
            before = self.initial[i]
            for e in self.exits:
                now = e.state.heap[i]
                if now.keys != before.keys:
                    found[k, None] = None
                else:
                    found.update({(k, key): None for key, a, b in zip(now.keys, before.items, now.items, strict=True) if differs(a, b)})
        return [(k, key) for k, key in found if key is None or (k, None) not in found]

    # -- statements ---------------------------------------------------------------------------------------

    def statements(self, body: Sequence[gast.stmt]) -> None:
        for s in body:
            if not self.alive:
                return
            self.statement(s)

    def sub(self, body: Sequence[gast.stmt]) -> list[gast.stmt]:
        """The statements that are left of a block."""
        with self.into([]) as out:
            self.statements(body)
        return out

    def statement(self, s: gast.stmt) -> None:
        handler: Callable[[Any], None] | None = getattr(self, f"s_{type(s).__name__}", None)
        if handler is not None:
            handler(s)
            return
        for n in T.stores(s):  # for the fence, which knows what is wrong with it
            self.state.vars[n] = named(n)
        self.out.append(s)

    def s_Pass(self, s: gast.Pass) -> None:
        self.out.append(s)

    def s_FunctionDef(self, s: gast.FunctionDef) -> None:
        if s.decorator_list:
            refuse(self.source, s.decorator_list[0], "S2S110", f"The decorator of the inner function `{s.name}` cannot be differentiated",
                   f"def {s.name}(...):  # without it")
        self.state.vars[s.name] = self.closure(s, s.name)

    def closure(self, node: Any, wish: str) -> Inner:
        """A function made here."""
        a = node.args
        positional = [*a.posonlyargs, *a.args]
        given = [*zip(positional[len(positional) - len(a.defaults) :], a.defaults, strict=True),
                 *((p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None)]
        values = self.evaluate([d for _, d in given])
        kept = tuple((p.id, self.bound(v, f"{wish}_{p.id}", node)) for (p, _), v in zip(given, values, strict=True))
        return Inner(node, self.unit, self, kept)

    def s_Assign(self, s: gast.Assign) -> None:
        value = self.expr(s.value)
        if isinstance(value, Multi):
            value = self.take(value, s.targets[0] if len(s.targets) == 1 else None, s)
        if isinstance(value, Code) and all(map(self.is_plain, s.targets)):
            value = self.with_type(value)
            new = copy.copy(s)
            new.value = value.expr
            new.targets = [self.plain_target(t) for t in s.targets]
            self.out.append(new)
            for t in s.targets:
                for n in T.stores(t):
                    self.state.vars[n] = Code(T.name(n), value.known, value.type) if isinstance(t, gast.Name) else named(n)
            return
        if len(s.targets) > 1:
            value = self.bound(value, s.targets[0].id if isinstance(s.targets[0], gast.Name) else "value", s)
        for t in s.targets:
            self.bind(t, value, s)

    def is_plain(self, t: gast.expr) -> bool:
        """Whether a target is one of the running program: names, parts of arrays."""
        if isinstance(t, (gast.Tuple, gast.List)):
            return all(map(self.is_plain, t.elts))
        if isinstance(t, (gast.Subscript, gast.Attribute)):
            base = self.peek(t.value)
            return base is None or isinstance(base, Code)
        return isinstance(t, gast.Name)

    def plain_target(self, t: gast.expr) -> gast.expr:
        if isinstance(t, (gast.Tuple, gast.List)):
            new = copy.copy(t)
            new.elts = [self.plain_target(x) for x in t.elts]
            return new
        if isinstance(t, gast.Subscript):
            return T.at(gast.Subscript(self.code(t.value), self.index(t.slice), gast.Store()), t)
        if isinstance(t, gast.Attribute):
            return T.at(gast.Attribute(self.code(t.value), t.attr, gast.Store()), t)
        return t

    def bind(self, t: gast.expr, value: Value, s: gast.AST) -> None:
        """Give a target a value."""
        if isinstance(t, gast.Name):
            self.bind_name(t.id, value, s)
        elif isinstance(t, (gast.Tuple, gast.List)):
            self.unpack(t, value, s)
        elif isinstance(t, gast.Starred):
            self.bind(t.value, value, s)
        elif isinstance(t, gast.Attribute):
            base = self.value(t.value)
            if isinstance(base, Code):
                self.out.append(T.at(gast.Assign([self.plain_target(t)], self.to_code(value, s), None), s))
            else:
                self.write(base, t.attr, value, t)
        elif isinstance(t, gast.Subscript):
            base = self.value(t.value)
            if isinstance(base, Code):
                code = self.to_code(value, s)
                self.out.append(T.at(gast.Assign([T.at(gast.Subscript(base.expr, self.index(t.slice), gast.Store()), t)], code, None), s))
            else:
                self.write(base, self.key_of(base, t.slice, t), value, t)
        else:
            self.out.append(T.at(gast.Assign([t], self.to_code(value, s), None), s))  # for the fence

    def unpack(self, t: Any, value: Value, s: gast.AST) -> None:
        items = self.items(value)
        star = next((k for k, x in enumerate(t.elts) if isinstance(x, gast.Starred)), None)
        if items is None:
            self.out.append(T.at(gast.Assign([self.plain_target(t)], self.to_code(value, s), None), s))
            for n in T.stores(t):
                self.state.vars[n] = named(n)
            return
        least = len(t.elts) - (star is not None)
        if len(items) < least or star is None and len(items) != least:
            refuse(self.source, s, "S2S128", f"{len(items)} values are assigned to {len(t.elts)} names", "a, b = x, y")
        if star is not None:
            after = len(t.elts) - star - 1
            some = items[star : len(items) - after]
            rest = self.new_object("list", list, range(len(some)), some)
            items = [*items[:star], rest, *items[len(items) - after :]]
        if all(isinstance(v, Code) for v in items) and all(map(self.is_plain, t.elts)):
            values = gast.Tuple([v.expr for v in items], gast.Load())  # type: ignore[attr-defined]
            plain = T.at(gast.Assign([self.plain_target(T.at(gast.Tuple(t.elts, gast.Store()), t))], T.at(values, s), None), s)
            self.out.append(plain)
            for x, v in zip(t.elts, items, strict=True):
                for n in T.stores(x):
                    code = v if isinstance(x, gast.Name) else named(n)
                    self.state.vars[n] = Code(T.name(n), code.known, code.type)  # type: ignore[attr-defined]
            return
        stored = self.may_store(t)
        safe = []
        for v in items:  # `a, b = b, a`: what an earlier target changes is kept
            names = reachable([v], self.state)[1]
            safe.append(self.copied(v, "value", s) if names & stored and len(items) > 1 else v)
        for x, v in zip(t.elts, safe, strict=True):
            self.bind(x, v, s)

    def may_store(self, t: gast.expr) -> set[str]:
        """Variables that binding a target may change: itself, and those of its parts."""
        names = T.stores(t)
        parts = [x for x in gast.walk(t) if isinstance(x, (gast.Attribute, gast.Subscript)) and isinstance(x.ctx, gast.Store)]
        names |= {T.base_name(x) for x in parts if isinstance(self.peek(x.value), Code)}
        olds = [v for v in map(self.peek, parts) if v is not None]
        now = reachable([*olds, *(self.state.vars[n] for n in names if n in self.state.vars)], self.state)[1]
        return names | now | {v for w, v in self.leaf_names.items() if any(w.startswith(n + "_") for n in names)}

    def copied(self, value: Value, wish: str, s: gast.AST) -> Value:
        """The value in variables of its own (objects stay the objects they are)."""
        if isinstance(value, Code):
            return self.temporary(value, wish, s)
        if isinstance(value, Record):
            return Record(value.cls, value.keys, tuple(self.copied(v, f"{wish}_{k}", s) for k, v in zip(value.keys, value.items, strict=True)))
        return self.bound(value, self.fresh(wish), s) if isinstance(value, Ref) else value

    def s_AugAssign(self, s: gast.AugAssign) -> None:
        t = s.target
        base = self.peek(t.value) if isinstance(t, (gast.Attribute, gast.Subscript)) else self.state.vars.get(t.id)
        if isinstance(t, gast.Name) and isinstance(base, Conflict):
            self.value(T.loaded(t))
        if isinstance(t, gast.Name) and not (base is None or isinstance(base, Code)) or base is not None and not isinstance(base, Code):
            self.augment(s, base)
            return
        if isinstance(t, gast.Name) and isinstance(base, Code) and not (isinstance(base.expr, gast.Name) and base.expr.id == t.id):
            self.bind_name(t.id, base, s)
        new = copy.copy(s)
        new.value = self.code(s.value)
        new.target = self.plain_target(t)
        self.out.append(new)
        if isinstance(t, gast.Name):
            self.state.vars[t.id] = named(t.id)

    def augment(self, s: gast.AugAssign, base: Value) -> None:
        """`p.x += v`, `d["k"] += v`, and `+=` of tuples and lists."""
        t = s.target
        old = self.value(T.at(T.loaded(t), t))
        if isinstance(old, Code) and not isinstance(t, gast.Name):
            where = self.key_of(base, t.slice, t) if isinstance(t, gast.Subscript) else t.attr
            self.writable(base, where, t)
            assert isinstance(base, Ref) and isinstance(old.expr, gast.Name)
            new = copy.copy(s)
            new.value, new.target = self.code(s.value), T.at(T.store(old.expr.id), t)
            self.out.append(new)
            self.state.heap[base.id] = self.state.heap[base.id].put(where, named(old.expr.id))
            return
        if isinstance(old, Ref) and self.state.heap[old.id].kind == "list" and isinstance(s.op, gast.Add):
            self.extend(old, self.value(s.value), s)
            return
        in_place = f"__i{OPERATORS[type(s.op)]}__"
        if isinstance(old, Ref) and self.has_method(old, in_place):
            changed = gast.Call(T.at(gast.Attribute(T.at(T.loaded(t), t), in_place, gast.Load()), s), [s.value], [])
        else:
            changed = gast.BinOp(T.at(T.loaded(t), t), s.op, s.value)
        self.s_Assign(T.at(gast.Assign([t], T.at(changed, s), None), s))

    def s_Return(self, s: gast.Return) -> None:
        new = copy.copy(s)
        value: Value = Known(None)
        multi = None
        if s.value is not None:
            value = self.expr(s.value)
            if isinstance(value, Multi):
                if value.variant.effects or self.objects:
                    value = self.force(value)
                else:
                    multi = value
                    value = multi.build(multi.fresh_names(self.fresh))
            if isinstance(value, Known) and value.value is None:
                new.value = None
        self.exits.append(Exit(new, value, self.state, multi))
        if isinstance(value, Known) and value.value is None and s.value is not None:
            self.exits[-1].stmt = new
            new.value = T.const(None)
        self.out.append(new)
        self.alive = False

    def s_Raise(self, s: gast.Raise) -> None:
        new = copy.copy(s)
        if isinstance(s.exc, gast.Call) and isinstance(s.exc.func, gast.Name):
            new.exc = copy.copy(s.exc)
            new.exc.args = self.message([self.value(a) if not isinstance(a, gast.JoinedStr) else Code(a) for a in s.exc.args], s)
        self.out.append(new)
        self.alive = False

    def message(self, values: list[Value], s: gast.AST) -> list[gast.expr]:
        """The arguments of an exception: texts that are known become part of its format."""
        if len(values) > 1 and any(isinstance(v, Known) for v in values[1:]) and isinstance(values[0], Known) and isinstance(values[0].value, str):
            pieces = values[0].value.split("{}")
            if len(pieces) == len(values):
                text = pieces[0]
                rest: list[Value] = []
                for v, piece in zip(values[1:], pieces[1:], strict=True):
                    if isinstance(v, Known):
                        text += str(v.value).replace("{", "{{").replace("}", "}}") + piece
                    else:
                        text, rest = text + "{}" + piece, [*rest, v]
                values = [Known(text if rest else text.format()), *rest]
        return [self.to_code(v, s) for v in values]

    def s_Expr(self, s: gast.Expr) -> None:
        value = self.expr(s.value, statement=True)
        if isinstance(value, Multi):
            self.force(value)
        elif isinstance(value, Code):
            new = copy.copy(s)
            new.value = value.expr
            self.out.append(new)

    # -- branches -----------------------------------------------------------------------------------------

    def s_If(self, s: gast.If) -> None:
        test = self.value(s.test)
        known = self.truth(test)
        if known is not None:
            self.statements(s.body if known else s.orelse)
            return
        self.choose(self.to_code(test, s.test), lambda: self.statements(s.body), lambda: self.statements(s.orelse), s)

    def choose(self, test: gast.expr, one: Callable[[], None], other: Callable[[], None], s: gast.AST) -> None:
        """A branch that is decided when the program runs."""
        before = self.state
        self.depth += 1
        ends: list[tuple[State, list[gast.stmt]]] = []
        bodies = []
        try:
            for side in (one, other):
                self.state, self.alive = before.copy(), True
                with self.into([]) as out:
                    side()
                bodies.append(out)
                if self.alive:
                    ends.append((self.state, out))
        finally:
            self.depth -= 1
        self.meet(ends, s)
        self.out.append(T.at(gast.If(test, bodies[0] or [T.at(gast.Pass(), s)], bodies[1]), s))

    def meet(self, ends: list[tuple[State, list[gast.stmt]]], s: gast.AST, jumps: int = 0) -> None:
        """Go on from where several ways end (the last `jumps` of them in a jump)."""
        self.alive = bool(ends)
        if not ends:
            return
        merged = ends[0][0]
        for other, _ in ends[1:]:
            merged = Join(merged, other, self.whole.new_id, self.fresh).states()
        if len(ends) > 1:
            for k, (state, out) in enumerate(ends):
                self.adapt(merged, state, out, s, k >= len(ends) - jumps)
        self.state = merged

    def adapt(self, merged: State, state: State, out: list[gast.stmt], s: gast.AST, jump: bool) -> None:
        """Assign what the merged state looks for in other variables."""
        needed = copies(merged, state)
        if not needed:
            return
        jumping = [out.pop()] if jump else []
        with self.into(out):
            self.assign_all(needed, s)
        out += jumping

    # -- loops --------------------------------------------------------------------------------------------

    def s_Break(self, s: gast.stmt) -> None:
        loop = self.loops[-1]
        stopping = isinstance(s, gast.Break)
        if loop.unrolled and self.depth > loop.depth:
            word = "break" if stopping else "continue"
            refuse(self.source, s, "S2S116", f"`{word}` in a branch of a loop over values of different kinds cannot be differentiated",
                   "# the rest of the loop's body under `if not ...:`", "Such a loop is written out, one trip after the other.")
        if not loop.unrolled:
            self.out.append(s)
        (loop.breaks if stopping else loop.continues).append((self.state, self.out))
        self.alive = False

    s_Continue = s_Break

    def s_While(self, s: gast.While) -> None:
        def test() -> gast.expr | None:
            value = self.value(s.test)
            known = self.truth(value)
            return T.at(T.const(known), s.test) if known is not None else self.to_code(value, s.test)

        before = self.state.copy()
        with self.into([]) as probe:
            known = test()
        self.state = before
        if isinstance(known, gast.Constant) and not known.value and not probe:
            self.statements(s.orelse)
            return
        self.loop(s, test, lambda: None, "")

    def s_For(self, s: gast.For) -> None:
        items = self.iterate(s.iter)
        if items is not None:
            self.unroll(s, items)
            return
        count = self.known_range(s.iter)
        if count is None or not isinstance(s.target, gast.Name) or len(count) > TRIPS:
            self.run_time_for(s, "")
            return
        before, place, exits = self.state.copy(), len(self.out), len(self.exits)
        try:
            self.run_time_for(s, s.target.id)
        except Needed as needed:
            if s.target.id not in needed.names:
                raise
            self.state, self.alive = before, True
            del self.out[place:], self.exits[exits:]
            self.unroll(s, [Code(T.at(T.const(k), s.iter), k) for k in count])

    def run_time_for(self, s: gast.For, unrollable: str) -> None:
        iterable = self.iterable(s.iter)

        def start() -> None:
            for n in T.stores(s.target):
                self.state.vars[n] = named(n)

        if isinstance(s.target, gast.Tuple) and any(isinstance(x, gast.Starred) for x in s.target.elts):
            pass  # for the fence
        self.loop(s, lambda: iterable, start, unrollable)

    def loop(self, s: Any, head: Callable[[], gast.expr | None], start: Callable[[], None], unrollable: str) -> None:
        """A loop that runs: what its body changes has to stay of its kind."""
        entry = self.state
        inside = State({n: self.loosened(n, v, s) for n, v in entry.vars.items()}, dict(entry.heap))
        exits = len(self.exits)
        stop: list[gast.stmt] | None = None  # what runs where the test of a `while` fails, if that test needs statements of its own
        for _ in range(12):
            del self.exits[exits:]
            loop = Loop(False, self.depth, unrollable)
            self.loops.append(loop)
            self.state, self.alive = inside.copy(), True
            try:
                with self.into([]) as body:
                    test = head()
                    leaving = self.state.copy()
                    stop = None
                    if body:
                        stop = [T.at(gast.Break(), s)]
                        body.append(T.at(gast.If(T.at(gast.UnaryOp(gast.Not(), test), s), stop, []), s))
                        test = T.at(T.const(True), s)
                    start()
                    self.statements(s.body)
            finally:
                self.loops.pop()
            ends = [*([(self.state, body)] if self.alive else []), *loop.continues]
            merged = inside
            for state, _ in ends:
                merged = Join(merged, state, self.whole.new_id, self.fresh).states()
            if not _changed(inside, merged):
                break
            inside = merged
        else:
            raise AssertionError("the kinds of values in a loop do not settle")
        if stop is not None and s.orelse:
            refuse(self.source, s.orelse[0], "S2S116", "`else` of a `while` whose test calls functions cannot be differentiated", "if not found:")
        self.adapt(inside, entry, self.out, s, False)
        for k, (state, out) in enumerate(ends):
            self.adapt(inside, state, out, s, k >= len(ends) - len(loop.continues))
        for n, v in merged.vars.items():  # what the loop sets is set after it, if it has run
            leaving.vars.setdefault(n, v)
        leaving.heap = {**merged.heap, **leaving.heap}
        endless = isinstance(s, gast.While) and stop is None and isinstance(test, gast.Constant)
        self.state, self.alive = leaving, not endless
        orelse = self.sub(s.orelse) if self.alive else []
        ways = [(self.state, orelse if stop is None else stop)] if self.alive else []
        self.meet([*ways, *loop.breaks], s, len(loop.breaks) + (stop is not None))
        new = copy.copy(s)
        if isinstance(s, gast.For):
            new.iter, new.target = test, self.plain_target(s.target)
        else:
            new.test = test
        new.body, new.orelse = body or [T.at(gast.Pass(), s)], orelse
        self.out.append(new)

    def loosened(self, n: str, v: Value, s: Any) -> Value:
        """What is known of a variable in a loop that may bind it again."""
        if isinstance(v, Code) and v.known is not UNKNOWN and n in self.stored(s):
            return Code(T.name(n), UNKNOWN, None)
        if isinstance(v, Code) and n in self.stored(s) and (v.type is not None or not isinstance(v.expr, gast.Name) or v.expr.id != n):
            return named(n)
        return v

    def stored(self, s: Any) -> set[str]:
        if id(s) not in self.stores:
            self.stores[id(s)] = T.stores(s)
        return self.stores[id(s)]

    def unroll(self, s: gast.For, items: Sequence[Value]) -> None:
        """A loop over values that are written out, trip by trip."""
        if len(items) > TRIPS:
            refuse(self.source, s, "S2S116", f"A loop over {len(items)} values of different kinds cannot be written out", "for v in np.array(...):")
        loop = Loop(True, self.depth)
        self.loops.append(loop)
        left = False
        for item in items:
            before, place, exits = self.state.copy(), len(self.out), len(self.exits)
            self.shadow(s.target, item, s)
            self.statements(s.body)
            if T.stores(self.out[place:]) & (reachable([item], before)[1] | T.stores(s.target)):
                # the item changes in this trip: its names are bound
                loop.breaks, loop.continues = [], []
                self.state, self.alive = before, True
                del self.out[place:], self.exits[exits:]
                self.bind(s.target, item, s)
                self.statements(s.body)
            if not self.alive:
                if loop.breaks:
                    left = True
                    self.state, self.alive = loop.breaks[-1][0], True
                    break
                if loop.continues:
                    self.state, self.alive = loop.continues.pop()[0], True
                else:
                    break  # it returns or raises
        self.loops.pop()
        if self.alive:
            self.settle_targets(s)
            if not left:
                self.statements(s.orelse)

    def shadow(self, t: gast.expr, value: Value, s: gast.AST) -> None:
        """Let a target stand for a value, without an assignment if it can be told apart from all that changes."""
        if isinstance(t, gast.Name) and (not isinstance(value, Code) or isinstance(value.expr, (gast.Name, gast.Constant))) and (
            not isinstance(value, (Record, Ref)) or all(isinstance(x, Code) and isinstance(x.expr, (gast.Name, gast.Constant))
                                                       for x in self.leaves(value))
        ):
            self.state.vars[t.id] = value
        elif isinstance(t, (gast.Tuple, gast.List)) and not any(isinstance(x, gast.Starred) for x in t.elts):
            items = self.items(value)
            if items is None or len(items) != len(t.elts):
                self.unpack(t, value, s)
                return
            for x, v in zip(t.elts, items, strict=True):
                self.shadow(x, v, s)
        else:
            self.bind(t, value, s)

    def settle_targets(self, s: gast.For) -> None:
        """After a loop that was written out its targets are variables, if they are read."""
        inside = {id(n) for n in gast.walk(s)}
        read = {n.id for n in gast.walk(self.node) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load) and id(n) not in inside}
        for n in T.stores(s.target):
            v = self.state.vars.get(n)
            if v is None:
                continue
            if n in read or self.loops:
                self.bind_name(n, v, s)
            elif isinstance(v, Code) and not (isinstance(v.expr, gast.Name) and v.expr.id == n):
                del self.state.vars[n]

    # -- calls of user functions --------------------------------------------------------------------------

    def call_user(
        self, unit: Resolved, node: Any, name: str, func: Value, callee: Any, given: list[tuple[str, Value, bool]], call: gast.AST
    ) -> Value:
        """A call of a function whose parameters have these values (and whether they are given by name)."""
        whole = self.whole
        closure = func if isinstance(func, Inner) else None
        captured = self.captured(closure) if closure is not None else []
        opened = sum(1 for f, _ in whole.open if f is callee)
        if opened:
            whole.recursive.add(callee)
        if opened > 30:
            whole.program.refuse_recursion(name, self.name, call)
        while True:
            general = callee in whole.recursive
            made = self.entry(unit, node, name, callee, [*given, *((n, v, True) for n, v in captured)], general)
            if made.key in whole.variants:
                break
            split = whole.split.get(made.key)
            if split is not None and split.variant is not None and made.key in whole.evaluating:
                split.called = True
                value = self.called(split.variant, made, name, call)
                if isinstance(value, Code):
                    value.guess = split.key is None
                return value
            before = set(whole.variants)
            self.specialized(made, unit, node, name, callee)
            if general or callee not in whole.recursive:
                break
            whole.forget(before)  # once more, for all numbers: it calls itself
        return self.called(whole.variants[made.key], made, name, call)

    def entry(
        self, unit: Resolved, node: Any, name: str, callee: Any, values: list[tuple[str, Value, bool]], general: bool
    ) -> Entry:
        """The state in which a callee begins, and the arguments of its call."""
        whole = self.whole
        frame = Frame(whole, unit, node, name)
        args: list[gast.expr] = []
        keywords: list[gast.keyword] = []
        mover = Mover(self.state, frame.state, lambda wish, code: code, whole.new_id, hints=not general)
        key: list[Any] = [callee if isinstance(callee, types.FunctionType) else id(callee)]
        for p, v, by_name in values:

            def leaf(wish: str, code: Code, top: str = p, by_name: bool = by_name) -> Value:
                new = wish if wish == top and wish not in frame.params else frame.fresh(wish)
                frame.params.append(new)
                if by_name or keywords:
                    keywords.append(gast.keyword(new, code.expr))
                else:
                    args.append(code.expr)
                return Code(T.name(new), UNKNOWN if general else code.known, None if general else code.type)

            mover.leaf = leaf
            part, new = mover.move(self.with_type(v) if isinstance(v, Code) else v, p)
            key.append((p, part))
            frame.state.vars[p] = new
        frame.objects = [mover.ids[i] for i in mover.order]
        for i in frame.objects:
            frame.state.heap[i] = replace(frame.state.heap[i], bound=True)
        frame.initial = {i: frame.state.heap[i] for i in frame.objects}
        frame.state.vars.update({f"<{k}>": Ref(i) for k, i in enumerate(frame.objects)})
        return Entry(tuple(key), frame, args, keywords, list(mover.order))

    def specialized(self, made: Entry, unit: Resolved, node: Any, name: str, callee: Any) -> None:
        """Evaluate a callee for what is known of its arguments; again if it calls itself and gives something else than was thought."""
        whole, key = self.whole, made.key
        tokens = {s.token for s in whole.split.values()}
        token = callee if isinstance(callee, types.FunctionType) and callee not in tokens else (name, key)
        split = whole.split[key] = Split(token)
        plain = Code(T.name("out"))
        split.variant = Variant(Recursive(token), plain, State(), [""], [], [], True)
        start = made.frame.state.copy()
        params, objects, initial, fresh = list(made.frame.params), made.frame.objects, made.frame.initial, set(made.frame.fresh.used)
        whole.open.append((callee, name))
        whole.evaluating.add(key)
        try:
            before = set(whole.variants)
            for _ in range(6):
                whole.forget(before)
                split.called = False
                frame = Frame(whole, unit, node, name)
                frame.state, frame.params, frame.objects, frame.initial = start.copy(), list(params), objects, initial
                frame.fresh.used |= fresh
                frame.run()
                variant = frame.finish(callee)
                if not split.called or (variant.key, variant.valued) == (split.key, split.variant.valued):
                    break
                if split.key is None and variant.key == (("code", None, None),) and variant.valued:
                    break
                split.key = variant.key
                split.variant = replace(variant, callee=Recursive(token))
            else:
                whole.program.refuse_recursion(name, self.name, node)
        except Needed as needed:
            del whole.split[key]
            leaves = dict(zip(params, [*made.args, *(k.value for k in made.keywords)], strict=True))
            names = {n for p in needed.names if p in leaves for n in T.loads(leaves[p])}
            raise Needed(names, needed.error) from None
        except BaseException:
            whole.split.pop(key, None)
            raise
        finally:
            whole.open.pop()
            whole.evaluating.discard(key)
        if split.called:
            assert isinstance(variant.callee, Callee)
            split.function = variant.callee.function
            variant = replace(variant, callee=Recursive(token))
        else:
            del whole.split[key]
        whole.variants[key] = variant

    def called(self, variant: Variant, made: Entry, name: str, call: gast.AST) -> Value:
        """What a call gives."""
        residual = T.at(gast.Call(T.name(self.external_callee(variant.callee, name)), made.args, made.keywords), call)
        if not variant.wishes and not variant.effects:
            if not variant.valued:
                return Code(residual)
            self.out.append(T.at(gast.Expr(residual), call))
        elif isinstance(variant.value, Code) and not variant.effects:
            return Code(residual)
        return Multi(residual, variant, self, made.objects)

    def captured(self, closure: Inner) -> list[tuple[str, Value]]:
        """The free variables of a function made inside a function, as they are now."""
        from s2sad.transforms.abstract import captured

        return [(n, v) for n, v in captured(closure) if not isinstance(v, Conflict)]

    def external_callee(self, callee: Callee | Recursive, name: str) -> str:
        """The name under which a function is called here."""
        for n, o in self.extra.items():
            if o == callee if isinstance(callee, Recursive) else isinstance(o, Callee) and o.function is callee.function:
                return n
        wish = next((n for n, f in self.unit.callees.items() if f is callee.fn), None)
        if wish is None or wish in self.extra:
            wish = self.fresh(name if name.isidentifier() else "function")
        self.extra[wish] = callee
        return wish

    def take(self, multi: Multi, target: gast.expr | None, s: gast.AST) -> Value:
        """The results of a call, in variables that are named as the target wants them."""
        names = multi.fresh_names(self.fresh, keep=True)
        value = multi.build(names)
        wanted: dict[str, str] = {}
        taken: set[str] = set()
        live = reachable([v for n, v in self.state.vars.items() if target is None or n not in T.stores(target)], self.state)[1]

        def plan(t: Any, v: Value, wish: str) -> None:
            if isinstance(t, (gast.Tuple, gast.List)):
                items = self.items(v)
                if items is not None and len(items) == len(t.elts):
                    for x, y in zip(t.elts, items, strict=True):
                        plan(x, y, "")
                return
            if not isinstance(t, gast.Name) and t is not None:
                return
            wish = t.id if t is not None else wish
            if isinstance(v, Code) and isinstance(v.expr, gast.Name) and v.expr.id in names:
                if v.expr.id not in wanted and wish not in taken and (t is not None or wish not in live):
                    wanted[v.expr.id] = wish
                    taken.add(wish)
                    if t is None:
                        self.leaf_names.setdefault(wish, wish)
                        self.fresh.used.add(wish)
            elif isinstance(v, (Record, Ref)):
                keys = v.keys if isinstance(v, Record) else self.state.heap[v.id].keys
                for k, x in zip(keys, self.items_of(v), strict=True):
                    plan(None, x, self.leaf_name(f"{wish}_{word(k)}", live | taken))

        for placeholder, variable in multi.prefer.items():
            wanted[placeholder] = variable
            taken.add(variable)
        if target is not None:
            plan(target, value, "")
        for name in names:
            if name not in wanted:
                wanted[name] = self.fresh(multi.wish(names.index(name)))
        for code in multi.codes:
            code.expr.id = wanted[code.expr.id]
        final = [wanted[n] for n in names]
        self.emit_multi(multi, final, s)
        return value

    def force(self, value: Value) -> Value:
        """The value of a call, in variables."""
        return self.take(value, None, value.call) if isinstance(value, Multi) else value

    def emit_multi(self, multi: Multi, names: list[str], s: gast.AST) -> None:
        if not names:
            return
        targets = [T.store(n) for n in names]
        target = targets[0] if len(targets) == 1 else gast.Tuple(targets, gast.Store())
        self.out.append(T.at(gast.Assign([T.at(target, s)], multi.call, None), s))


def _changed(before: State, after: State) -> bool:
    """Whether less is known after a trip of a loop than was taken for granted before it."""
    for n, v in before.vars.items():
        if _differs(v, after.vars[n], before, after):
            return True
    return False


def _differs(v: Value, w: Value, before: State, after: State, seen: frozenset[int] = frozenset()) -> bool:
    if v is w and not isinstance(v, Ref):
        return False
    if isinstance(v, Code) and isinstance(w, Code):
        same = isinstance(v.expr, gast.Name) and isinstance(w.expr, gast.Name) and v.expr.id == w.expr.id
        return not same or (w.known is UNKNOWN) != (v.known is UNKNOWN) or v.type != w.type
    if isinstance(v, Record) and isinstance(w, Record):
        return any(_differs(x, y, before, after, seen) for x, y in zip(v.items, w.items, strict=True))
    if isinstance(v, Ref) and isinstance(w, Ref):
        if v.id in seen:
            return False
        x, y = before.heap[v.id], after.heap[w.id]
        if x.keys != y.keys or x.owner != y.owner:
            return True
        return any(_differs(p, q, before, after, seen | {v.id}) for p, q in zip(x.items, y.items, strict=True))
    return isinstance(w, Conflict) and not isinstance(v, Conflict)
