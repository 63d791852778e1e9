"""What is known of the values of a program before it runs: the domain of `specialize`.

A value is known (None, a text, a type), is a function, is put together of values, or is computed when the program runs (`Code`). Lists, dicts
and objects have an identity: two names may stand for the same one. Their contents are in the heap of a `State`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from s2sad.lang import tree as T
from s2sad.lang.types import Type

#: The number, or other value, of a `Code` is not known.
UNKNOWN = object()


class Value:
    """Base of all that is known of a value."""


@dataclass(eq=False)
class Code(Value):
    """A value that is computed when the program runs, by an expression; `known` is a bool or int that it surely is."""

    expr: gast.expr
    known: Any = UNKNOWN
    type: Type | None = None
    guess: bool = False  # what a function that calls itself gives, before that is known


@dataclass(eq=False)
class Known(Value):
    """None, a text, a type, a module, a member of an enumeration."""

    value: Any


@dataclass(eq=False)
class Library(Value):
    """A function of a library by its canonical name, or a function with a rule of the user (`obj`)."""

    name: str
    obj: Any = None


@dataclass(eq=False)
class Func(Value):
    """A function of the user that stands in a file."""

    fn: types.FunctionType


@dataclass(eq=False)
class Frozen:
    """The variables that a function inside a function has taken with it."""

    names: tuple[str, ...]
    items: tuple[Value, ...]


@dataclass(eq=False)
class Inner(Value):
    """A function inside a function or a lambda; `scope` has its free variables: a running function, or what is left of one."""

    node: Any
    unit: Any
    scope: Any
    defaults: tuple[tuple[str, Value], ...] = ()


@dataclass(eq=False)
class Partial(Value):
    """functools.partial(func, *args, **keywords)"""

    func: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(eq=False)
class Method(Value):
    """A function of the user bound to its first argument."""

    func: Value
    owner: Value


@dataclass(eq=False)
class Opaque(Value):
    """An object that nothing is known about; `name` is what it is called in the program."""

    name: str
    obj: Any


@dataclass(eq=False)
class Record(Value):
    """A tuple or named tuple (`cls`)."""

    cls: type
    keys: tuple[Any, ...]
    items: tuple[Value, ...]


@dataclass(eq=False)
class Ref(Value):
    """A list, dict or object in the heap."""

    id: int


@dataclass(eq=False)
class Conflict(Value):
    """A name that has different values, as the program runs; what is wrong with any use of it."""

    text: str


@dataclass(frozen=True, eq=False)
class Obj:
    """The contents of a list, dict or object."""

    kind: str
    cls: type
    keys: tuple[Any, ...]
    items: tuple[Value, ...]
    owner: str = ""  # what it is, if it cannot be changed
    bound: bool = False  # its items are variables

    def get(self, key: Any) -> Value | None:
        """An item by its key (a position of a list, the name of an attribute)."""
        return self.items[self.keys.index(key)] if key in self.keys else None

    def put(self, key: Any, value: Value) -> Obj:
        """The contents with one item replaced or added."""
        if key in self.keys:
            k = self.keys.index(key)
            return replace(self, items=(*self.items[:k], value, *self.items[k + 1 :]))
        return replace(self, keys=(*self.keys, key), items=(*self.items, value))


@dataclass
class State:
    """Variables and heap at one point of the program."""

    vars: dict[str, Value] = field(default_factory=dict)
    heap: dict[int, Obj] = field(default_factory=dict)

    def copy(self) -> State:
        """The same, to go on from independently."""
        return State(dict(self.vars), dict(self.heap))


def parts(value: Value, state: State) -> Iterator[tuple[str, Value]]:
    """The values that a value is put together of, with a name for each."""
    if isinstance(value, Record):
        yield from zip(map(str, value.keys), value.items, strict=True)
    elif isinstance(value, Ref):
        obj = state.heap[value.id]
        yield from zip(map(str, obj.keys), obj.items, strict=True)
    elif isinstance(value, Partial):
        yield "func", value.func
        yield from ((f"arg_{k}", v) for k, v in enumerate(value.args))
        yield from value.keywords
    elif isinstance(value, Method):
        yield "self", value.owner
        yield "func", value.func
    elif isinstance(value, Inner):
        yield from value.defaults
        yield from captured(value)


def captured(value: Inner) -> list[tuple[str, Value]]:
    """The free variables of a function inside a function, and their values now."""
    if isinstance(value.scope, Frozen):
        return list(zip(value.scope.names, value.scope.items, strict=True))
    space = value.scope.state.vars
    return [(n, space[n]) for n in free_names(value.node) if n in space]


def free_names(node: Any) -> list[str]:
    """Names in a function inside a function that are not its own."""
    from s2sad.transforms.resolve import own_names

    own = set(own_names(node))
    body = node.body if isinstance(node.body, list) else [node.body]
    return [n for n in dict.fromkeys(m.id for s in body for m in gast.walk(s) if isinstance(m, gast.Name)) if n not in own]


def reachable(values: Iterable[Value], state: State) -> tuple[set[int], set[str]]:
    """Objects of the heap that values lead to, and the variables that hold their parts."""
    ids: set[int] = set()
    names: set[str] = set()
    seen: set[int] = set()
    todo = list(values)
    while todo:
        v = todo.pop()
        if id(v) in seen:
            continue
        seen.add(id(v))
        if isinstance(v, Ref):
            if v.id in ids:
                continue
            ids.add(v.id)
        if isinstance(v, Code):
            names |= {n.id for n in gast.walk(v.expr) if isinstance(n, gast.Name)}
        elif not (isinstance(v, Inner) and not isinstance(v.scope, Frozen)):
            todo += [p for _, p in parts(v, state)]
    return ids, names


def describe(value: Value | None, state: State) -> str:
    """How to call a value in a message.

    >>> describe(Known("newton"), State({}, {})), describe(Record(tuple, (0, 1), (named("x"), named("y"))), State({}, {}))
    ("the text 'newton'", 'a tuple of 2')
    """
    if value is None:
        return "nothing"
    if isinstance(value, Code):
        return "a number or an array"
    if isinstance(value, Known):
        return f"the text {value.value!r}" if isinstance(value.value, str) else str(getattr(value.value, "__name__", value.value))
    if isinstance(value, Record):
        return f"a {value.cls.__name__} of {len(value.items)}"
    if isinstance(value, Ref):
        obj = state.heap[value.id]
        return f"a {obj.cls.__name__}" + (f" of {len(obj.items)}" if obj.kind == "list" else "")
    if isinstance(value, Library):
        return f"the function {value.name}"
    if isinstance(value, Func):
        return f"the function {value.fn.__name__}"
    if isinstance(value, Opaque):
        return f"a {type(value.obj).__name__}"
    return "a function"


class Mover:
    """Copies values from one state to another, each part that is computed replaced by what `leaf` makes of it.

    Objects keep their identities: what is the same object is the same afterwards (`ids`: old -> new). `key` is what two values have in common
    that differ in what is computed only.
    """

    def __init__(self, src: State, dst: State, leaf: Callable[[str, Code], Value], new_id: Callable[[], int], hints: bool = True):
        self.src, self.dst, self.leaf, self.new_id, self.hints = src, dst, leaf, new_id, hints
        self.ids: dict[int, int] = {}
        self.order: list[int] = []
        self.inner: dict[tuple[int, int], tuple[int, Inner]] = {}

    def move(self, v: Value, wish: str) -> tuple[Any, Value]:
        """The key, and the value in the other state."""
        if isinstance(v, Code):
            hint = (type(v.known), v.known) if self.hints and v.known is not UNKNOWN else None
            return ("code", hint, v.type if self.hints else None), self.leaf(wish, v)
        if isinstance(v, Known):
            return ("known", type(v.value), v.value if _by_value(v.value) else id(v.value)), v
        if isinstance(v, Library):
            return ("library", v.name, id(v.obj)), v
        if isinstance(v, Func):
            return ("function", v.fn), v
        if isinstance(v, Opaque):
            return ("opaque", id(v.obj)), v
        if isinstance(v, Conflict):
            return ("conflict", v.text), v
        if isinstance(v, Record):
            keys, items = self.all(zip(map(str, v.keys), v.items, strict=True), wish)
            return ("record", v.cls, v.keys, keys), Record(v.cls, v.keys, items)
        if isinstance(v, Ref):
            return self.ref(v, wish)
        if isinstance(v, Partial):
            func, new = self.move(v.func, wish)
            keys, args = self.all(((str(k), a) for k, a in enumerate(v.args)), wish)
            more, values = self.all(v.keywords, wish)
            names = tuple(n for n, _ in v.keywords)
            return ("partial", func, keys, names, more), Partial(new, args, tuple(zip(names, values, strict=True)))
        if isinstance(v, Method):
            owner, new_owner = self.move(v.owner, wish)
            func, new = self.move(v.func, wish)
            return ("method", func, owner), Method(new, new_owner)
        assert isinstance(v, Inner)
        return self.closure(v, wish)

    def all(self, items: Iterable[tuple[str, Value]], wish: str) -> tuple[tuple[Any, ...], tuple[Value, ...]]:
        """Several values."""
        both = [self.move(v, f"{wish}_{k}" if wish else k) for k, v in items]
        return tuple(k for k, _ in both), tuple(v for _, v in both)

    def ref(self, v: Ref, wish: str) -> tuple[Any, Value]:
        if v.id in self.ids:
            return ("same", self.order.index(v.id) if v.id in self.order else ("outer", self.ids[v.id])), Ref(self.ids[v.id])
        new = self.ids[v.id] = self.new_id()
        self.order.append(v.id)
        obj = self.src.heap[v.id]
        self.dst.heap[new] = replace(obj, items=())
        keys, items = self.all(zip(map(str, obj.keys), obj.items, strict=True), wish)
        self.dst.heap[new] = replace(obj, items=items)
        return ("object", obj.kind, obj.cls, obj.keys, keys, obj.owner), Ref(new)

    def closure(self, v: Inner, wish: str) -> tuple[Any, Value]:
        where = id(v.node), id(v.scope)
        if where in self.inner:
            k, new = self.inner[where]
            return ("same inner", k), new
        scope = Frozen((), ())
        new = Inner(v.node, v.unit, scope)
        self.inner[where] = len(self.inner), new
        preset, defaults = self.all(v.defaults, wish)
        new.defaults = tuple(zip((n for n, _ in v.defaults), defaults, strict=True))
        free = captured(v)
        keys, items = self.all(free, "")
        scope.names, scope.items = tuple(n for n, _ in free), items
        return ("inner", id(v.node), preset, scope.names, keys), new


def _by_value(value: Any) -> bool:
    return value is None or isinstance(value, (str, bool, int, tuple))


def named(id: str) -> Code:
    """The value of a variable."""
    return Code(T.name(id))


#: what is written if an object is that may be one of two, or one of those
EITHER = "An object that may be the same as another one here"


class Join:
    """What holds where several ways meet: the first state's variables, as far as the others agree.

    An object that takes the place of another one keeps the identity of that, unless that is still in use by itself (as an argument of the
    caller is): then it gets a new identity and variables of its own, and neither can be written from there on.
    """

    def __init__(self, a: State, b: State, new_id: Callable[[], int], fresh: Callable[[str], str]):
        self.a, self.b = a, b
        self.new_id, self.fresh = new_id, fresh
        self.to: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.heap: dict[int, Obj] = {}
        self.todo: list[tuple[int, int, int, str]] = []
        self.kept = self.in_both()
        self.new: dict[tuple[int, int], int] = {}
        self.apart = False  # whether what is met is in an object that gets variables of its own

    def in_both(self) -> set[int]:
        """The objects that are reached in the same way in both states."""
        found: set[int] = set()
        seen: set[tuple[int, int]] = set()
        todo = [(v, self.b.vars[n]) for n, v in self.a.vars.items() if n in self.b.vars]
        while todo:
            p, q = todo.pop()
            if isinstance(p, Ref) and isinstance(q, Ref):
                if (p.id, q.id) in seen:
                    continue
                seen.add((p.id, q.id))
                if p.id == q.id:
                    found.add(p.id)
            elif isinstance(p, (Method, Partial, Inner)):
                found |= reachable([p], self.a)[0] & reachable([q], self.b)[0]
                continue
            if isinstance(p, (Record, Ref)) and type(p) is type(q):
                todo += [(x, y) for (k, x), (n, y) in zip(parts(p, self.a), parts(q, self.b), strict=False) if k == n]
        return found

    def states(self) -> State:
        """The state that stands for both."""
        a, b = self.a.vars, self.b.vars
        out = {n: self.value(n, a.get(n), b.get(n), n) for n in [*a, *(n for n in b if n not in a)]}
        while self.todo:
            at, i, j, wish = self.todo.pop()
            x, y = self.a.heap[i], self.b.heap[j]
            if x is y:
                self.heap[at] = x
                for v in x.items:  # what hangs below
                    self.value("", v, v, "")
                continue
            self.apart = at != i
            items = tuple(self.value(f"{wish}_{k}", p, q, "") for k, p, q in zip(x.keys, x.items, y.items, strict=True))
            self.heap[at] = replace(x, items=items, bound=True) if self.apart else x
            if not self.apart and (not all(p is q for p, q in zip(items, x.items, strict=True)) or y.owner and not x.owner):
                self.heap[at] = replace(x, items=items, owner=x.owner or y.owner)
            self.apart = False
        both = {**{(i, j): i for i, j in self.to.items()}, **self.new}
        for (i, j), at in self.new.items():
            self.heap[at] = replace(self.heap[at], owner=EITHER)
            for k in {*({i, j} & self.kept), *(other for (m, n), other in both.items() if m == i or n == j)}:
                old = self.heap.get(k) or self.a.heap[k]
                self.heap[k] = replace(old, owner=old.owner or EITHER)
        heap = {**self.a.heap, **{i: o for i, o in self.b.heap.items() if i not in self.a.heap}, **self.heap}
        return State(out, heap)

    def value(self, name: str, p: Value | None, q: Value | None, variable: str) -> Value:
        """What is known of a value that is one or the other."""
        if p is None or q is None:
            return self.one(name, p if p is not None else q)
        if isinstance(p, Code) and isinstance(q, Code):
            if p is q and not (self.apart and not isinstance(p.expr, gast.Constant)):
                return p
            known = p.known if type(p.known) is type(q.known) and p.known == q.known else UNKNOWN
            expr = p.expr
            if self.apart:
                return Code(T.name(self.fresh("".join(c if c.isalnum() else "_" for c in name))), known, p.type if p.type == q.type else None)
            if variable and not _is(p.expr, variable):
                expr = T.name(variable)
            elif not isinstance(p.expr, gast.Name) and isinstance(q.expr, gast.Name):
                expr = q.expr
            return Code(expr, known, p.type if p.type == q.type else None)
        if isinstance(p, Conflict):
            return p
        if isinstance(q, Conflict):
            return q
        if isinstance(p, Record) and isinstance(q, Record) and (p.cls, p.keys) == (q.cls, q.keys):
            items = tuple(self.value(f"{name}[{k}]", x, y, "") for k, x, y in zip(p.keys, p.items, q.items, strict=True))
            return p if all(x is y for x, y in zip(items, p.items, strict=True)) else Record(p.cls, p.keys, items)
        if isinstance(p, Ref) and isinstance(q, Ref):
            x, y = self.a.heap[p.id], self.b.heap[q.id]
            if p.id != q.id and {p.id, q.id} & self.kept and (x.kind, x.cls, x.keys) == (y.kind, y.cls, y.keys):
                return self.either(p, q, name)
            if self.to.get(p.id, q.id) == q.id and self.back.get(q.id, p.id) == p.id and (x.kind, x.cls, x.keys) == (y.kind, y.cls, y.keys):
                if p.id not in self.to:
                    self.to[p.id], self.back[q.id] = q.id, p.id
                    self.todo.append((p.id, p.id, q.id, name))
                return p
        elif _same(p, q):
            return p
        return Conflict(f"`{name}` is {describe(p, self.a)} on one way and {describe(q, self.b)} on another")

    def either(self, p: Ref, q: Ref, name: str) -> Ref:
        """The object that is one or the other, both of which may be in use as well."""
        if (p.id, q.id) not in self.new:
            again = p.id not in self.kept and self.a.heap[p.id].owner == EITHER and p.id not in self.to  # it has variables of its own already
            at = p.id if again else self.new_id()
            if again:
                self.to[p.id] = q.id
            self.new[p.id, q.id] = at
            self.todo.append((at, p.id, q.id, name))
        return Ref(self.new[p.id, q.id])

    def one(self, name: str, v: Value | None) -> Value:
        """What is known of a name that one of the ways does not set."""
        if isinstance(v, Code):
            return Code(T.name(name)) if name else Code(v.expr)
        if isinstance(v, Record) and all(isinstance(x, (Code, Record)) for x in v.items):
            return Record(v.cls, v.keys, tuple(Code(x.expr) if isinstance(x, Code) else self.one("", x) for x in v.items))
        return v if isinstance(v, Conflict) else Conflict(f"`{name}` is not set on every way that leads here")


def _is(e: gast.expr, name: str) -> bool:
    return isinstance(e, gast.Name) and e.id == name


def _same(p: Value, q: Value) -> bool:
    """Whether two values that are no data are one."""
    if p is q:
        return True
    if type(p) is not type(q):
        return False
    if isinstance(p, Known):
        return p.value is q.value or type(p.value) is type(q.value) and _by_value(p.value) and p.value == q.value  # type: ignore[attr-defined]
    if isinstance(p, Library):
        return p.name == q.name and p.obj is q.obj  # type: ignore[attr-defined]
    if isinstance(p, Func):
        return p.fn is q.fn  # type: ignore[attr-defined]
    if isinstance(p, Opaque):
        return p.obj is q.obj  # type: ignore[attr-defined]
    if isinstance(p, Inner):
        return p.node is q.node and p.scope is q.scope and not p.defaults  # type: ignore[attr-defined]
    if isinstance(p, Method):
        return _same(p.func, q.func) and p.owner is q.owner  # type: ignore[attr-defined]
    return False


def copies(merged: State, state: State) -> list[tuple[str, gast.expr]]:
    """The assignments after which the variables of a state are where the merged state looks for them."""
    found: dict[str, gast.expr] = {}
    seen: set[int] = set()

    def walk(m: Value, v: Value) -> None:
        if isinstance(m, Code) and isinstance(v, Code):
            if isinstance(m.expr, gast.Name) and not _is(v.expr, m.expr.id):
                found[m.expr.id] = v.expr
            return
        if isinstance(m, Ref) and isinstance(v, Ref):
            if m.id in seen or merged.heap[m.id] is state.heap[v.id]:
                return
            seen.add(m.id)
        if isinstance(m, (Record, Ref)) and type(m) is type(v):
            for (_, x), (_, y) in zip(parts(m, merged), parts(v, state), strict=True):
                walk(x, y)

    for n, m in merged.vars.items():
        if n in state.vars:
            walk(m, state.vars[n])
    return list(found.items())
