"""Expressions on what is known of values: the part of `specialize` below statements."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import enum
import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NoReturn

import gast
import numpy as np

from s2sad import rules
from s2sad.analysis.types import TypeProblem, type_of
from s2sad.errors import TypesNeeded, UnsupportedError, problem, refuse
from s2sad.lang import structure
from s2sad.lang import tree as T
from s2sad.lang.outside import DefaultValue, Part, defaults
from s2sad.lang.source import name_of, unwrap
from s2sad.lang.types import Array, Scalar, Type
from s2sad.transforms.abstract import (
    EITHER,
    UNKNOWN,
    Code,
    Conflict,
    Func,
    Inner,
    Known,
    Library,
    Method,
    Mover,
    Obj,
    Opaque,
    Partial,
    Record,
    Ref,
    State,
    Value,
    describe,
    named,
    reachable,
)
from s2sad.transforms.resolve import (
    CONSTANTS,
    LIST_METHODS,
    RESERVED,
    Assumption,
    Unknown,
    canonical_call,
    dotted_expr,
    is_number,
    is_user_function,
    library_name,
)

_TEXT_METHODS = frozenset("lower upper strip lstrip rstrip startswith endswith replace title capitalize".split())
#: what the methods of operators are called
OPERATORS = {
    gast.Add: "add", gast.Sub: "sub", gast.Mult: "mul", gast.Div: "truediv", gast.FloorDiv: "floordiv", gast.Mod: "mod", gast.Pow: "pow",
    gast.MatMult: "matmul", gast.LShift: "lshift", gast.RShift: "rshift", gast.BitAnd: "and", gast.BitOr: "or", gast.BitXor: "xor",
    gast.USub: "neg", gast.UAdd: "pos", gast.Invert: "invert",
}
_INTS: dict[type, Callable[[Any, Any], Any]] = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.FloorDiv: operator.floordiv, gast.Mod: operator.mod,
}
_ORDER: dict[type, Callable[[Any, Any], bool]] = {
    gast.Eq: operator.eq, gast.NotEq: operator.ne, gast.Lt: operator.lt, gast.LtE: operator.le, gast.Gt: operator.gt, gast.GtE: operator.ge,
}
#: A part of the tests that types of arguments decide.
#: the classes that values of a running program have
_CLASSES = (float, int, bool, list, tuple, np.ndarray, np.random.Generator, *(np.dtype(t).type for t in "dfqilhbQILHB?"))
_PYTHON: dict[str, type] = {"float64": float, "int64": int, "bool": bool}


class Needed(Exception):
    """A value that must be known when compiling depends on these variables, and they are not."""

    def __init__(self, names: set[str], error: UnsupportedError):
        super().__init__(str(error))
        self.names, self.error = names, error


@dataclasses.dataclass(eq=False)
class Multi(Value):
    """A call whose results are several variables, not yet assigned."""

    call: gast.Call
    variant: Any
    frame: Any
    objects: list[int]
    names: list[str] = dataclasses.field(default_factory=list)
    codes: list[Any] = dataclasses.field(default_factory=list)
    prefer: dict[str, str] = dataclasses.field(default_factory=dict)

    def wish(self, k: int) -> str:
        """What to call a result that nobody has a name for."""
        return "_".join(filter(None, [f"{self.call.func.id}_out", self.variant.wishes[k]]))

    def fresh_names(self, fresh: T.Fresh, keep: bool = False) -> list[str]:
        """Names for the results; with `keep` they are decided later."""
        return [f"?{k}" if keep else fresh(self.wish(k)) for k in range(len(self.variant.wishes))]

    def build(self, names: list[str]) -> Value:
        """The result in the caller's state, and what the call has changed there."""
        self.names, self.codes, self.prefer = list(names), [], {}
        todo = iter(names)

        def leaf(wish: str, code: Code) -> Value:
            new = named(next(todo))
            self.codes.append(new)
            return new

        frame, variant = self.frame, self.variant
        mover = Mover(variant.state, frame.state, leaf, frame.whole.new_id, hints=False)
        mover.ids = dict(zip(variant.objects, self.objects, strict=True))
        value = mover.move(variant.value, "")[1]
        for k, part in variant.effects:
            theirs = variant.state.heap[variant.objects[k]]
            mine = frame.state.heap[self.objects[k]]
            if part is None:
                mine = replace(mine, keys=(), items=())
            for name in theirs.keys if part is None else (part,):
                old = frame.state.heap[self.objects[k]].get(name)
                new = mover.move(theirs.get(name) or Known(None), str(name))[1]
                if isinstance(new, Code) and isinstance(old, Code) and isinstance(old.expr, gast.Name) and mine.bound:
                    self.prefer[new.expr.id] = old.expr.id
                mine = mine.put(name, new)
            frame.state.heap[self.objects[k]] = replace(mine, bound=True)
        for i in mover.order:
            frame.state.heap[mover.ids[i]] = replace(frame.state.heap[mover.ids[i]], bound=True)
        return value


class Evaluator:
    """Evaluates expressions in a state; statements that have to run first go to `out`."""

    whole: Any
    unit: Any
    fresh: T.Fresh
    grown: set[str]
    depth: int

    def __init__(self) -> None:
        self.state = State()
        self.alive = True
        self.out: list[gast.stmt] = []
        self.extra: dict[str, Any] = {}
        self.hidden: dict[Any, str] = {}
        self.leaf_names: dict[str, str] = {}
        self.lifted: dict[int, Value] = {}
        self.stores: dict[int, set[str]] = {}

    @property
    def source(self) -> T.SourceMap:
        """The lines of all that has been read."""
        found: T.SourceMap = self.whole.program.source
        return found

    def added_hidden(self) -> tuple[T.Hidden, ...]:
        """Parameters for parts of globals and for defaults."""
        return tuple(T.Hidden(n, r) for r, n in self.hidden.items())

    @contextlib.contextmanager
    def into(self, out: list[gast.stmt]) -> Iterator[list[gast.stmt]]:
        """Statements go there meanwhile."""
        before, self.out = self.out, out
        try:
            yield out
        finally:
            self.out = before

    def refuse(self, node: gast.AST, code: str, summary: str, instead: str, why: str = "") -> NoReturn:
        refuse(self.source, node, code, summary, instead, why)

    # -- values -------------------------------------------------------------------------------------------

    def expr(self, e: gast.expr, statement: bool = False) -> Value:
        """What is known of an expression; a call of several results is left as it is."""
        if statement and isinstance(e, gast.Call):
            return self.e_Call(e, True)
        handler: Callable[[Any], Value] | None = getattr(self, f"e_{type(e).__name__}", None)
        return Code(e) if handler is None else handler(e)

    def value(self, e: gast.expr) -> Value:
        """What is known of an expression."""
        return self.force(self.expr(e))

    def force(self, value: Value) -> Value:
        """The value, the results of a call in variables."""
        return value

    def code(self, e: gast.expr) -> gast.expr:
        """What is left of an expression."""
        return self.to_code(self.value(e), e)

    def evaluate(self, nodes: Sequence[gast.expr]) -> list[Value]:
        """Operands from left to right: what stands before one that has statements to run first is evaluated before them."""
        values: list[Value] = []
        for e in nodes:
            with self.into([]) as pre:
                value = self.value(e)
            if pre:
                changed = T.stores(pre)
                values = [self.hold(v, changed, e) for v in values]
                self.out += pre
            values.append(value)
        return values

    def hold(self, value: Value, changed: set[str], node: gast.AST) -> Value:
        """The value as it is now."""
        if isinstance(value, Code):
            if isinstance(value.expr, gast.Constant) or isinstance(value.expr, gast.Name) and value.expr.id not in changed:
                return value
            return self.temporary(value, "value", node, held=True)
        if isinstance(value, Record):
            return Record(value.cls, value.keys, tuple(self.hold(v, changed, node) for v in value.items))
        if isinstance(value, Ref) and not self.state.heap[value.id].bound and reachable([value], self.state)[1] & changed:
            return self.bound(value, self.fresh("value"), node)
        return value

    def temporary(self, value: Code, wish: str, node: gast.AST, held: bool = False) -> Code:
        """The value in a variable of its own."""
        name = self.fresh(wish)
        self.out.append(T.at(gast.Assign([T.store(name)], value.expr, T.HELD if held else None), node))
        return Code(T.at(T.name(name), node), value.known, value.type)

    def to_code(self, value: Value, node: gast.AST) -> gast.expr:
        """The expression that gives the value when the program runs."""
        if isinstance(value, Code):
            return value.expr
        if isinstance(value, Known):
            number = isinstance(value.value, enum.Enum) and isinstance(value.value, (int, float))
            plain = value.value.value if number else value.value
            return T.at(_constant(plain), node) if number or _literal(plain) else self.other(value, node)
        if isinstance(value, Record):
            return T.at(gast.Tuple([self.to_code(v, node) for v in value.items], gast.Load()), node)
        if isinstance(value, Library) and value.obj is None:
            return T.at(dotted_expr(value.name), node)
        if isinstance(value, Opaque):
            return T.at(T.name(self.export(value.name, value.obj)), node)
        if isinstance(value, Ref) and self.state.heap[value.id].kind == "list":
            return T.at(gast.List([self.to_code(v, node) for v in self.state.heap[value.id].items], gast.Load()), node)
        return self.other(value, node)

    def other(self, value: Value, node: gast.AST) -> NoReturn:
        """A value that the running program cannot have."""
        if isinstance(value, Conflict):
            self.refuse(node, "S2S132", value.text, "# one kind of value under a name, on every way",
                        "What a name stands for must be known before the program runs, unless it is a number or an array.")
        what = describe(value, self.state)
        if isinstance(value, Ref):
            obj = self.state.heap[value.id]
            key = obj.keys[0] if obj.keys else "key"
            instead = f"p[{key!r}]" if obj.kind == "dict" else f"p.{key}"
            self.refuse(node, "S2S113", f"This is {what}, where a number or an array is needed", instead)
        self.refuse(node, "S2S124", f"This is {what}, which cannot be used as a number", "f(x)", "Functions can be called, and passed to functions.")

    def export(self, wish: str, obj: Any) -> str:
        """The name of an object that is left in the program, for the fence or a rule."""
        here = self.unit.function.externals
        for n, o in (*here.items(), *self.extra.items()):
            if o is obj or isinstance(o, Unknown) and isinstance(obj, Unknown) and o.obj is obj.obj:
                return str(n)
        name = self.fresh(wish)
        self.extra[name] = obj
        return name

    def truth(self, value: Value) -> bool | None:
        """Whether a value counts as true, if that is known."""
        if isinstance(value, Code):
            return None if value.known is UNKNOWN else bool(value.known)
        if isinstance(value, Known):
            return bool(value.value)
        if isinstance(value, Record):
            return bool(value.items)
        if isinstance(value, Ref):
            obj = self.state.heap[value.id]
            if obj.kind == "object":
                return None if any(hasattr(obj.cls, m) for m in ("__bool__", "__len__")) else True
            return bool(obj.items)
        return None if isinstance(value, Conflict) else True

    def items(self, value: Value) -> list[Value] | None:
        """What iterating over a value gives, if that is known."""
        if isinstance(value, Record):
            return list(value.items)
        if isinstance(value, Ref):
            obj = self.state.heap[value.id]
            if obj.kind == "list":
                return list(obj.items)
            if obj.kind == "dict":
                return [self.lift_key(k) for k in obj.keys]
        if isinstance(value, Conflict):
            self.other(value, T.const(None))
        return None

    def items_of(self, value: Value) -> list[Value]:
        """The parts of a structure."""
        return list(value.items) if isinstance(value, Record) else list(self.state.heap[value.id].items)  # type: ignore[attr-defined]

    def lift_key(self, key: Any) -> Value:
        if type(key) is tuple:
            return Record(tuple, tuple(range(len(key))), tuple(map(self.lift_key, key)))
        return Code(T.const(key), key) if type(key) in (int, bool) else Known(key)

    def key(self, value: Value) -> Any:
        """The key that a value is, if it is known."""
        if not isinstance(value, Record) or value.cls is not tuple:
            return self.known(value)
        parts = tuple(map(self.key, value.items))
        return UNKNOWN if UNKNOWN in parts else parts

    def leaves(self, value: Value) -> list[Value]:
        """All the parts of a value that are not put together of others."""
        if isinstance(value, (Record, Ref)):
            return [x for v in self.items_of(value) for x in self.leaves(v)]
        return [value]

    def new_object(self, kind: str, cls: type, keys: Sequence[Any], items: Sequence[Value], **more: Any) -> Ref:
        ref = Ref(self.whole.new_id())
        self.state.heap[ref.id] = Obj(kind, cls, tuple(keys), tuple(items), **more)
        return ref

    def new_list(self, items: Sequence[Value]) -> Value:
        """A list; one of numbers and arrays is a list of the running program."""
        if all(isinstance(v, Code) for v in items):
            return Code(gast.List([v.expr for v in items], gast.Load()))  # type: ignore[attr-defined]
        return self.new_object("list", list, range(len(items)), items)

    # -- variables ----------------------------------------------------------------------------------------

    def leaf_name(self, wish: str, live: set[str]) -> str:
        """A variable for a part of a structure."""
        if wish not in self.leaf_names:
            self.leaf_names[wish] = self.fresh(wish)
        name = self.leaf_names[wish]
        return name if name not in live else self.fresh(wish)

    def bind_name(self, n: str, value: Value, s: gast.AST) -> None:
        """`n = value`"""
        if isinstance(value, Code):
            value = self.with_type(value)
            if not (isinstance(value.expr, gast.Name) and value.expr.id == n):
                self.out.append(T.at(gast.Assign([T.store(n)], value.expr, None), s))
            self.state.vars[n] = Code(T.name(n), value.known, value.type)
            return
        if n in self.grown and isinstance(value, Ref) and all(isinstance(v, Code) for v in self.leaves(value)):
            self.bind_name(n, Code(self.to_code(value, s)), s)
            return
        self.state.vars[n] = self.bound(value, n, s)

    def bound(self, value: Value, wish: str, s: gast.AST, defaults: bool = False) -> Value:
        """The value with every part that is computed in a variable of its own, named after the whole (also the `defaults` of functions)."""
        if isinstance(value, Code) and isinstance(value.expr, gast.Constant):
            return value
        live = reachable([v for n, v in self.state.vars.items() if n != wish], self.state)[1]
        taken: set[str] = set()
        pairs: list[tuple[str, gast.expr]] = []

        def walk(v: Value, wish: str) -> Value:
            if isinstance(v, Code):
                name = self.leaf_name(wish, live | taken)
                taken.add(name)
                pairs.append((name, v.expr))
                v = self.with_type(v)
                return Code(T.name(name), v.known, v.type)
            if isinstance(v, Record):
                return Record(v.cls, v.keys, tuple(walk(x, f"{wish}_{word(k)}") for k, x in zip(v.keys, v.items, strict=True)))
            if isinstance(v, Ref):
                obj = self.state.heap[v.id]
                if not obj.bound:
                    self.state.heap[v.id] = replace(obj, bound=True)
                    items = tuple(walk(x, f"{wish}_{word(k)}") for k, x in zip(obj.keys, obj.items, strict=True))
                    self.state.heap[v.id] = replace(obj, items=items, bound=True)
            elif isinstance(v, Partial):
                args = tuple(walk(x, f"{wish}_{k}") for k, x in enumerate(v.args))
                return Partial(walk(v.func, wish), args, tuple((k, walk(x, f"{wish}_{k}")) for k, x in v.keywords))
            elif isinstance(v, Method):
                return Method(v.func, walk(v.owner, wish))
            elif isinstance(v, Inner) and defaults:
                return Inner(v.node, v.unit, v.scope, tuple((n, walk(x, f"{wish}_{n}")) for n, x in v.defaults))
            return v

        new = walk(value, wish)
        self.assign_all(pairs, s)
        return new

    def assign_all(self, pairs: Sequence[tuple[str, gast.expr]], s: gast.AST) -> None:
        """Assignments that happen at once."""
        final = []
        for k, (name, e) in enumerate(pairs):
            if isinstance(e, gast.Name) and e.id == name:
                continue
            if T.loads(e) & {n for n, _ in pairs[:k]}:
                held = self.fresh(f"{name}_next")
                self.out.append(T.at(gast.Assign([T.store(held)], e, None), s))
                e = T.name(held)
            final.append((name, e))
        # an expression that an earlier assignment would change was taken before; the order of the others is theirs
        self.out += [T.at(gast.Assign([T.store(n)], copy.copy(e), None), s) for n, e in final]

    def peek(self, e: gast.expr) -> Value | None:
        """What a chain of names, attributes and subscripts is, without evaluating it; None if that is not seen."""
        if isinstance(e, gast.Name):
            found = self.state.vars.get(e.id)
            return found if found is not None else self.outside(e) if e.id in self.unit.function.externals else None
        if isinstance(e, gast.Attribute):
            base = self.peek(e.value)
            if isinstance(base, Ref):
                return self.state.heap[base.id].get(e.attr) or base
            if isinstance(base, Record) and e.attr in base.keys:
                return base.items[base.keys.index(e.attr)]
            return base
        if isinstance(e, gast.Subscript):
            base = self.peek(e.value)
            if isinstance(base, (Record, Ref)) and isinstance(e.slice, (gast.Constant, gast.Name)):
                key = self.known(self.value(e.slice))
                keys = base.keys if isinstance(base, Record) else self.state.heap[base.id].keys
                if isinstance(base, Record):
                    keys = tuple(range(len(keys)))
                return self.items_of(base)[keys.index(key)] if key is not UNKNOWN and key in keys else base
            return base
        return None

    def known(self, value: Value) -> Any:
        """The value itself, if it is known when compiling."""
        return value.known if isinstance(value, Code) else value.value if isinstance(value, Known) else UNKNOWN

    def write(self, base: Value, key: Any, value: Value, t: Any) -> None:
        """`p.x = v`, `d["k"] = v`, `xs[0] = v`"""
        if isinstance(base, Ref) and self.state.heap[base.id].kind == "object":
            setter = getattr(inspect.getattr_static(self.state.heap[base.id].cls, key, None), "fset", None)
            if is_user_function(setter):
                self.force(self.call(Func(unwrap(setter)), [base, value], [], t))
                return
        self.writable(base, key, t)
        assert isinstance(base, Ref)
        obj = self.state.heap[base.id]
        wish = T.base_name(t) if isinstance(_root(t), gast.Name) else obj.cls.__name__.lower()
        if not obj.bound:
            self.bound(base, wish, t)
            obj = self.state.heap[base.id]
        old = obj.get(key)
        if isinstance(value, Code):
            if isinstance(old, Code) and isinstance(old.expr, gast.Name):
                name = old.expr.id
            else:
                name = self.leaf_name(f"{wish}_{word(key)}", reachable(self.state.vars.values(), self.state)[1])
            self.out.append(T.at(gast.Assign([T.store(name)], value.expr, None), t))
            new: Value = Code(T.name(name), value.known, value.type)
        else:
            new = self.bound(value, f"{wish}_{word(key)}", t)
        self.state.heap[base.id] = self.state.heap[base.id].put(key, new)

    def writable(self, base: Value, key: Any, t: Any) -> None:
        """Refuse to change what cannot be changed."""
        if isinstance(base, Conflict):
            self.other(base, t)
        if not isinstance(base, Ref):
            self.refuse(t, "S2S117", f"A part of {describe(base, self.state)} cannot be assigned", "t = (a, b)  # a new one")
        obj = self.state.heap[base.id]
        if obj.owner == EITHER:
            self.refuse(t, "S2S129", EITHER + " is written", "# a new object, where it is changed",
                        "Two names stand for one object on one way through the program, and for two on another.")
        if obj.owner:
            self.refuse(t, "S2S129", f"{obj.owner} is written", "# an argument, or a value of the function's own",
                        "What a function changes has to be an argument or a value of its own.")
        if obj.kind == "list" and key not in obj.keys:
            self.refuse(t, "S2S128", f"The list has {len(obj.keys)} items, and item {key} is assigned", "xs[0] = x")
        if obj.kind == "object":
            frozen = dataclasses.is_dataclass(obj.cls) and obj.cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
            if frozen or isinstance(inspect.getattr_static(obj.cls, key, None), property) or isinstance(
                inspect.getattr_static(obj.cls, "__setattr__"), types.FunctionType
            ):
                self.refuse(t, "S2S117", f"The attribute `.{key}` of a {obj.cls.__name__} cannot be assigned here", "p = Params(...)  # a new one")

    def extend(self, base: Ref, value: Value, s: gast.AST) -> None:
        """`xs += ys` for a list that is known."""
        more = self.items(value)
        self.writable(base, None if more is None else self.state.heap[base.id].keys[0] if self.state.heap[base.id].keys else None, s)
        if more is None:
            self.refuse(s, "S2S113", "A list of values of different kinds is extended by something that is not known", "xs.append(x)")
        for v in more:
            obj = self.state.heap[base.id]
            new = self.bound(v, f"item_{len(obj.keys)}", s)
            self.state.heap[base.id] = self.state.heap[base.id].put(len(obj.keys), new)

    # -- what is outside of the function ------------------------------------------------------------------

    def outside(self, e: gast.Name) -> Value:
        """A name that is not a variable."""
        n = e.id
        obj = self.unit.function.externals.get(n, UNKNOWN)
        if n in self.unit.callees:
            return Func(self.unit.callees[n])
        if obj is UNKNOWN:
            return Library(n) if n in RESERVED and n not in ("np", "math") else Code(e)
        if not isinstance(obj, Unknown):
            return Library(n, obj)
        return self.lift(obj.obj, obj.read, obj.title, n)

    def lift(self, obj: Any, read: Any, title: str, n: str) -> Value:
        """What is known of an object from outside."""
        key = id(obj)
        if key in self.lifted and not (isinstance(self.lifted[key], Ref) and self.lifted[key].id not in self.state.heap):  # type: ignore[attr-defined]
            return self.lifted[key]
        value = self.lift_value(obj, read, title, n, ())
        if value is None:
            value = Opaque(n, Unknown(obj, title, read))
        elif isinstance(value, (Record, Ref)) and read is not None:
            summary = Summary(read)
            self.whole.assumptions.setdefault(summary, Assumption(summary, summary()))
        self.lifted[key] = value
        return value

    def lift_value(self, obj: Any, read: Any, title: str, wish: str, above: tuple[int, ...]) -> Value | None:
        """What is known of an object, or None if nothing is."""
        if obj is None or isinstance(obj, (str, enum.Enum)):
            return Known(obj)
        if isinstance(obj, bool):
            return Code(T.const(obj), obj)
        if is_number(obj):
            if read is None:
                return Code(T.const(obj)) if type(obj) in (int, float) else None
            return named(self.hide(read, wish))
        if is_user_function(obj):
            return Func(unwrap(obj))
        name = library_name(obj)
        if name is not None:
            return Library(name)
        if isinstance(obj, functools.partial):
            func = self.lift_value(obj.func, None, title, wish, above)
            args = [self.lift_value(a, Part(Part(read, "args"), k, True), title, f"{wish}_{k}", above) for k, a in enumerate(obj.args)]
            given = {k: self.lift_value(a, Part(Part(read, "keywords"), k, True), title, f"{wish}_{k}", above) for k, a in obj.keywords.items()}
            if func is None or any(a is None for a in (*args, *given.values())):
                return None
            return Partial(func, tuple(args), tuple(given.items()))  # type: ignore[arg-type]
        if isinstance(obj, types.MethodType):
            owner = self.lift_value(obj.__self__, Part(read, "__self__"), title, wish, above)
            func = self.lift_value(obj.__func__, None, title, wish, above)
            if read is not None:
                self.whole.assumptions.setdefault(Part(read, "__func__"), Assumption(Part(read, "__func__"), obj.__func__))
            return Method(func, owner) if owner is not None and isinstance(func, Func) else None
        if isinstance(obj, (type, types.ModuleType)):
            return Known(obj)
        if id(obj) in above or len(above) > 8:
            return None
        above = (*above, id(obj))
        found = contents(obj)
        if found is None or len(found[2]) > 400:
            return None
        kind, cls, parts = found
        items = []
        for k, part in parts:
            below = None if read is None else Part(read, k, kind in ("list", "dict", "tuple"))
            item = self.lift_value(part, below, f"{title}[{k!r}]", f"{wish}_{word(k)}", above)
            items.append(item if item is not None else Opaque(f"{wish}_{word(k)}", Unknown(part, f"{title}[{k!r}]", below)))
        keys = tuple(k for k, _ in parts)
        if kind == "tuple":
            return Record(cls, keys if not hasattr(cls, "_fields") else cls._fields, tuple(items))
        if kind == "list" and all(isinstance(v, Code) for v in items):
            return self.new_list(items)
        return self.new_object(kind, cls, keys, items, owner=f"The global `{title}`", bound=True)

    def hide(self, read: Any, wish: str) -> str:
        """The hidden parameter for a number or an array from outside."""
        for h in self.unit.function.hidden:
            if h.read == read:
                return str(h.name)
        if read not in self.hidden:
            self.hidden[read] = self.fresh(wish)
        return self.hidden[read]

    # -- expressions --------------------------------------------------------------------------------------

    def e_Constant(self, e: gast.Constant) -> Value:
        v = e.value
        if v is None or isinstance(v, str):
            return Known(v)
        return Code(e, v if type(v) in (int, bool) else UNKNOWN)

    def e_Name(self, e: gast.Name) -> Value:
        value = self.state.vars.get(e.id)
        if value is None:
            return Code(e) if e.id in ("np", "math") else self.outside(e)
        if isinstance(value, Conflict):
            self.other(value, e)
        if isinstance(value, Code):
            if isinstance(value.expr, gast.Name) and value.expr.id == e.id:
                return Code(e, value.known, value.type)
            new = copy.copy(value.expr)
            T.strip_positions(new) if isinstance(new, (gast.Name, gast.Constant)) else None
            return Code(T.at(new, e), value.known, value.type)
        return value

    def e_Attribute(self, e: gast.Attribute) -> Value:
        name = T.dotted(e)
        if name is not None and name.split(".")[0] in ("np", "math") and name.split(".")[0] not in self.state.vars:
            return Code(e) if name in CONSTANTS else Library(name)
        return self.attribute(self.value(e.value), e.attr, e)

    def attribute(self, base: Value, attr: str, e: gast.expr) -> Value:
        """`base.attr`"""
        if isinstance(base, Conflict):
            self.other(base, e)
        if isinstance(base, Code):
            new = T.at(gast.Attribute(base.expr, attr, gast.Load()), e)
            known = len_of(base.type) if attr == "ndim" else None
            return Code(new, UNKNOWN if known is None else known)
        if isinstance(base, Record) and attr in base.keys:
            return base.items[base.keys.index(attr)]
        if isinstance(base, Ref):
            obj = self.state.heap[base.id]
            if obj.kind == "object":
                found = obj.get(attr)
                return found if found is not None else self.class_attribute(base, obj.cls, attr, e)
        if isinstance(base, Record) and base.cls is not tuple:
            return self.class_attribute(base, base.cls, attr, e)
        if isinstance(base, Known) and isinstance(base.value, (type, types.ModuleType, enum.Enum)):
            return self.static_attribute(base.value, attr, e)
        if isinstance(base, Func) and attr == "__name__":
            return Known(base.fn.__name__)
        if isinstance(base, Opaque) or isinstance(base, Library):
            return Code(T.at(gast.Attribute(self.to_code(base, e), attr, gast.Load()), e))
        self.refuse(e, "S2S122", f"{describe(base, self.state).capitalize()} has no attribute `.{attr}` here", "# an attribute that it has")

    def static_attribute(self, owner: Any, attr: str, e: gast.expr) -> Value:
        if not hasattr(owner, attr):
            self.refuse(e, "S2S122", f"`{getattr(owner, '__name__', owner)}` has no attribute `.{attr}`", "# an attribute that it has")
        obj = getattr(owner, attr)
        return self.lift(obj, Part(Constant(owner), attr), f"{getattr(owner, '__name__', owner)}.{attr}", attr)

    def class_attribute(self, base: Value, cls: type, attr: str, e: gast.expr) -> Value:
        """A method, property or class attribute of an object."""
        found = inspect.getattr_static(cls, attr, UNKNOWN)
        if found is UNKNOWN:
            self.refuse(e, "S2S122", f"A {cls.__name__} has no attribute `.{attr}` here", "# an attribute that it has")
        self.whole.assumptions.setdefault((cls, attr), Assumption(functools.partial(inspect.getattr_static, cls, attr, None), found))
        if isinstance(found, property) and found.fget is not None:
            return self.force(self.call(Func(unwrap(found.fget)), [base], [], e))
        if isinstance(found, functools.cached_property):
            return self.force(self.call(Func(unwrap(found.func)), [base], [], e))
        if isinstance(found, staticmethod):
            return Func(unwrap(found.__func__))
        if isinstance(found, classmethod):
            return Method(Func(unwrap(found.__func__)), Known(cls))
        if is_user_function(found):
            return Method(Func(unwrap(found)), base)
        return self.lift(getattr(cls, attr), Part(Constant(cls), attr), f"{cls.__name__}.{attr}", attr)

    def e_Subscript(self, e: gast.Subscript) -> Value:
        base = self.value(e.value)
        if isinstance(e.value, gast.Tuple) and isinstance(base, Record):  # what is not chosen runs, too
            runs = [isinstance(v, Code) and any(isinstance(n, gast.Call) for n in gast.walk(v.expr)) for v in base.items]
            items = [self.temporary(v, "value", e) if r else v for v, r in zip(base.items, runs, strict=True)]  # type: ignore[arg-type]
            base = Record(base.cls, base.keys, tuple(items))
        if isinstance(base, Code):
            return Code(T.at(gast.Subscript(base.expr, self.index(e.slice), gast.Load()), e))
        return self.item(base, e.slice, e)

    def index(self, e: gast.expr) -> gast.expr:
        """What is left of the subscripts of an array."""
        if isinstance(e, gast.Slice):
            bounds = [None if x is None else self.code(x) for x in (e.lower, e.upper, e.step)]
            return T.at(gast.Slice(*bounds), e)
        if isinstance(e, gast.Tuple):
            return T.at(gast.Tuple([self.index(x) for x in e.elts], gast.Load()), e)
        return self.code(e)

    def item(self, base: Value, index: gast.expr, e: gast.expr) -> Value:
        """`base[index]` of a structure."""
        if isinstance(base, Conflict):
            self.other(base, e)
        sequence = isinstance(base, Record) or isinstance(base, Ref) and self.state.heap[base.id].kind == "list"
        if sequence and isinstance(index, gast.Slice):
            bounds = [None if x is None else self.known(self.value(x)) for x in (index.lower, index.upper, index.step)]
            if UNKNOWN not in bounds:
                some = self.items_of(base)[slice(*bounds)]
                return Record(tuple, tuple(range(len(some))), tuple(some)) if isinstance(base, Record) else self.new_list(some)
            return Code(T.at(gast.Subscript(self.to_code(base, e), self.index(index), gast.Load()), e))
        if isinstance(base, (Opaque, Library)) or isinstance(base, Known) and not isinstance(base.value, str):
            return Code(T.at(gast.Subscript(self.to_code(base, e), self.index(index), gast.Load()), e))
        if sequence:
            items = self.items_of(base)
            at = self.value(index)
            k = self.known(at)
            if type(k) in (int, bool):
                if not -len(items) <= k < len(items):
                    self.refuse(e, "S2S128", f"Item {k} of {describe(base, self.state)} does not exist", "t[0]")
                chosen: Value = items[k]
                return chosen
            code = self.to_code(at, index)
            whole = all(isinstance(v, Code) for v in items)
            if self.may_know(T.loads(code)) or not whole:
                summary = f"{describe(base, self.state).capitalize()} is indexed by something that is not a number in range"
                raise Needed(T.loads(code), UnsupportedError(problem(self.source, e, "S2S128", summary, "a = np.array([x, y])\na[i]",
                                                                     "Which of its parts is meant must be known before the program runs.")))
            listed = gast.List([v.expr for v in items], gast.Load())  # type: ignore[attr-defined]
            name = self.fresh("items")
            self.out.append(T.at(gast.Assign([T.store(name)], T.at(listed, e), None), e))
            return Code(T.at(gast.Subscript(T.name(name), code, gast.Load()), e))
        if isinstance(base, Ref) and self.state.heap[base.id].kind == "dict":
            key = self.key_of(base, index, e)
            found = self.state.heap[base.id].get(key)
            if found is None:
                keys = ", ".join(map(repr, self.state.heap[base.id].keys))
                self.refuse(e, "S2S113", f"The dict has no entry {key!r}", f"# one of {keys or 'its entries'}")
            return found
        if isinstance(base, Ref) and self.has_method(base, "__getitem__") and not isinstance(index, gast.Slice):
            method = self.class_attribute(base, self.state.heap[base.id].cls, "__getitem__", e)
            return self.force(self.call(method, [self.value(index)], [], e))
        self.refuse(e, "S2S113", f"{describe(base, self.state).capitalize()} cannot be indexed here", "x[i]  # of an array, list, tuple or dict")

    def may_know(self, names: set[str]) -> bool:
        """Whether one of the variables counts the trips of a loop that can be written out."""
        return any(not loop.unrolled and loop.target and loop.target in names for loop in getattr(self, "loops", ()))

    def key_of(self, base: Value, index: gast.expr, e: gast.expr) -> Any:
        """The key that a subscript means."""
        value = self.value(index)
        key = self.key(value)
        if key is UNKNOWN:
            names = {n for v in self.leaves(value) if isinstance(v, Code) for n in T.loads(v.expr)}
            what = describe(base, self.state)
            raise Needed(names, UnsupportedError(problem(self.source, e, "S2S113", f"The key of {what} is not known before the program runs",
                                                         "# an array, indexed by a number", "A dict or list of values of different kinds becomes a "
                                                         "variable for each of them.")))
        if isinstance(base, Ref) and self.state.heap[base.id].kind == "list" and type(key) is int and key < 0:
            key += len(self.state.heap[base.id].keys)
        return key

    def e_BinOp(self, e: gast.BinOp) -> Value:
        a, b = self.evaluate([e.left, e.right])
        if isinstance(a, Code) and isinstance(b, Code):
            known: Any = UNKNOWN
            if type(a.known) is int and type(b.known) is int and type(e.op) in _INTS and (b.known or type(e.op) not in (gast.FloorDiv, gast.Mod)):
                known = _INTS[type(e.op)](a.known, b.known)
            return Code(T.at(gast.BinOp(a.expr, e.op, b.expr), e), known)
        if isinstance(e.op, gast.Add):
            if isinstance(a, Record) != isinstance(b, Record):  # `(n,) + x.shape`
                a, b = (v if isinstance(v, Record) else self.shape(v, e) or v for v in (a, b))
            if isinstance(a, Known) and isinstance(b, Known) and isinstance(a.value, str) and isinstance(b.value, str):
                return Known(a.value + b.value)
            if isinstance(a, Record) and isinstance(b, Record):
                both = (*a.items, *b.items)
                return Record(tuple, tuple(range(len(both))), both)
            if isinstance(a, Ref) and isinstance(b, Ref) and self.state.heap[a.id].kind == self.state.heap[b.id].kind == "list":
                return self.new_list([*self.items_of(a), *self.items_of(b)])
        if isinstance(e.op, gast.BitOr) and isinstance(a, Ref) and isinstance(b, Ref):
            one, two = self.state.heap[a.id], self.state.heap[b.id]
            if one.kind == two.kind == "dict":
                merged = dict(zip(one.keys, one.items, strict=True)) | dict(zip(two.keys, two.items, strict=True))
                return self.new_object("dict", dict, list(merged), list(merged.values()))
        if isinstance(e.op, gast.Mult):
            for x, n in ((a, self.known(b)), (b, self.known(a))):
                if type(n) is int and n <= 400 and (isinstance(x, Record) or isinstance(x, Ref) and self.state.heap[x.id].kind == "list"):
                    many = self.items_of(x) * n
                    return Record(tuple, tuple(range(len(many))), tuple(many)) if isinstance(x, Record) else self.new_list(many)
        name = OPERATORS[type(e.op)]
        sides = [(a, f"__{name}__", b), (b, f"__r{name}__", a)]
        classes = [self.state.heap[v.id].cls if isinstance(v, Ref) else object for v in (a, b)]
        if classes[1] is not classes[0] and issubclass(classes[1], classes[0]):
            sides.reverse()
        for v, method, other in sides:
            if isinstance(v, Ref) and self.has_method(v, method):
                return self.force(self.call(self.class_attribute(v, self.state.heap[v.id].cls, method, e), [other], [], e))
        for v, other in ((a, b), (b, a)):
            if isinstance(v, Known) and (v.value is None or isinstance(v.value, str)) or not isinstance(v, Code) and not isinstance(other, Code):
                summary = f"Arithmetic with {describe(v, self.state)}, which is no number or array"
                self.refuse(e, "S2S501", summary, "x + 1.0  # with numbers or arrays")
        return Code(T.at(gast.BinOp(self.to_code(a, e.left), e.op, self.to_code(b, e.right)), e))

    def shape(self, v: Value, e: gast.expr) -> Record | None:
        """The shape of an array, or a part of it, as a tuple; the types of arguments are asked for."""
        part = v.expr if isinstance(v, Code) else None
        some = slice(None)
        if isinstance(part, gast.Subscript) and isinstance(part.slice, gast.Slice):
            bounds = [x if x is None else self.known(self.value(x)) for x in (part.slice.lower, part.slice.upper, part.slice.step)]
            if UNKNOWN in bounds:
                return None
            part, some = part.value, slice(*bounds)
        if not isinstance(part, gast.Attribute) or part.attr != "shape":
            return None
        self.class_of_code(Code(part.value), e)
        t = self.with_type(Code(part.value)).type
        if not isinstance(t, Array):
            return None
        items = [Code(T.at(gast.Subscript(T.at(copy.copy(part), e), T.const(k), gast.Load()), e)) for k in range(t.ndim)][some]
        return Record(tuple, tuple(range(len(items))), tuple(items))

    def has_method(self, value: Ref, name: str) -> bool:
        """Whether an object has a method that the user has written."""
        obj = self.state.heap[value.id]
        return obj.kind == "object" and is_user_function(inspect.getattr_static(obj.cls, name, None))

    def e_UnaryOp(self, e: gast.UnaryOp) -> Value:
        v = self.value(e.operand)
        if isinstance(e.op, gast.Not):
            known = self.truth(v)
            if known is not None:
                return Code(T.at(T.const(not known), e), not known)
        elif isinstance(v, Ref) and self.has_method(v, f"__{OPERATORS[type(e.op)]}__"):
            return self.force(self.call(self.class_attribute(v, self.state.heap[v.id].cls, f"__{OPERATORS[type(e.op)]}__", e), [], [], e))
        new = T.at(gast.UnaryOp(e.op, self.to_code(v, e.operand)), e)
        return Code(new, -v.known if isinstance(e.op, gast.USub) and isinstance(v, Code) and type(v.known) is int else UNKNOWN)

    def e_BoolOp(self, e: gast.BoolOp) -> Value:
        decisive = isinstance(e.op, gast.Or)
        left: list[gast.expr] = []
        for k, operand in enumerate(e.values):
            if not left:
                value = self.value(operand)
            else:
                before = self.state.copy()
                with self.into([]) as pre:
                    value = self.value(operand)
                if pre:  # lazily: a branch
                    self.state = before
                    return self.lazy(e, left, e.values[k:])
            known = self.truth(value)
            if known is None or isinstance(value, Code) and left and known is decisive:
                left.append(self.to_code(value, operand))
                if known is not None:
                    break
            elif known is decisive:
                return value if not left else Code(self.joined(e, [*left, self.to_code(value, operand)]))
            elif k == len(e.values) - 1:
                if not left:
                    return value
                left.append(self.to_code(value, operand))
        return Code(self.joined(e, left))

    def joined(self, e: gast.BoolOp, operands: list[gast.expr]) -> gast.expr:
        return operands[0] if len(operands) == 1 else T.at(gast.BoolOp(e.op, operands), e)

    def lazy(self, e: gast.BoolOp, left: list[gast.expr], rest: list[gast.expr]) -> Value:
        """`a and b` where something has to run before `b`, if `a` holds."""
        name = self.fresh("test")
        tail = rest[0] if len(rest) == 1 else T.at(gast.BoolOp(e.op, rest), e)
        self.out.append(T.at(gast.Assign([T.store(name)], self.joined(e, left), None), e))
        self.state.vars[name] = named(name)
        test = T.at(T.name(name), e)
        test = T.at(gast.UnaryOp(gast.Not(), test), e) if isinstance(e.op, gast.Or) else test
        self.choose(test, lambda: self.bind_name(name, self.value(tail), e), lambda: None, e)
        return self.e_Name(T.at(T.name(name), e))

    def choose(self, test: gast.expr, one: Callable[[], None], other: Callable[[], None], s: gast.AST) -> None:
        raise NotImplementedError

    def e_IfExp(self, e: gast.IfExp) -> Value:
        test = self.value(e.test)
        known = self.truth(test)
        if known is not None:
            return self.expr(e.body if known else e.orelse)
        before = self.state.copy()
        with self.into([]) as pre:
            a = self.expr(e.body)
            b = self.expr(e.orelse)
        code = self.to_code(test, e.test)
        if not pre and isinstance(a, Code) and isinstance(b, Code):
            return Code(T.at(gast.IfExp(code, a.expr, b.expr), e))
        self.state = before
        name = self.fresh("chosen")
        self.choose(code, lambda: self.bind_name(name, self.value(e.body), e), lambda: self.bind_name(name, self.value(e.orelse), e), e)
        return self.e_Name(T.at(T.name(name), e))

    def e_Compare(self, e: gast.Compare) -> Value:
        values = self.evaluate([e.left, *e.comparators])
        operands = [e.left, *e.comparators]
        if len(e.ops) == 1:
            known = self.compare(e.ops[0], values[0], values[1], e)
            if known is not None:
                return Code(T.at(T.const(known), e), known)
        codes = [self.to_code(v, x) for v, x in zip(values, operands, strict=True)]
        return Code(T.at(gast.Compare(codes[0], e.ops, codes[1:]), e))

    def compare(self, op: gast.cmpop, a: Value, b: Value, e: gast.Compare) -> bool | None:
        """What a comparison gives, if it is known."""
        negative = isinstance(op, (gast.IsNot, gast.NotEq, gast.NotIn))
        if isinstance(op, (gast.In, gast.NotIn)):
            found = self.contains(a, b)
            return None if found is None else found != negative
        if isinstance(op, (gast.Is, gast.IsNot)):
            x, y = self.known(a), self.known(b)
            if x is None or y is None or isinstance(x, bool) and isinstance(y, bool):
                return (x is y) != negative
            if isinstance(a, Code) or isinstance(b, Code):
                return None
            return self.identical(a, b) != negative
        if isinstance(a, Code) and isinstance(b, Code):
            if type(a.known) in (int, bool) and type(b.known) in (int, bool) and type(op) in _ORDER:
                return _ORDER[type(op)](a.known, b.known)
            return None
        if isinstance(op, (gast.Eq, gast.NotEq)):
            if isinstance(a, Known) and isinstance(b, Known):
                return bool(a.value == b.value) != negative
            if isinstance(a, (Record, Ref)) or isinstance(b, (Record, Ref)):
                return None
            if isinstance(a, Code) or isinstance(b, Code):  # a number or an array, and something else
                other = b if isinstance(a, Code) else a
                return negative if isinstance(other, Known) and isinstance(other.value, (str, type(None), type)) else None
            return self.identical(a, b) != negative
        return None

    def identical(self, a: Value, b: Value) -> bool:
        """Whether two values, neither of them computed, are the same object."""
        if isinstance(a, Ref) and isinstance(b, Ref):
            return a.id == b.id
        x, y = python_type(a), python_type(b)
        if x is not None and y is not None:
            return x is y
        if isinstance(a, Known) and isinstance(b, Known):
            return a.value is b.value or isinstance(a.value, str) and a.value == b.value
        if isinstance(a, Func) and isinstance(b, Func):
            return a.fn is b.fn
        if isinstance(a, Library) and isinstance(b, Library):
            return a.name == b.name and a.obj is b.obj
        return a is b

    def contains(self, a: Value, b: Value) -> bool | None:
        """`a in b`"""
        x = self.key(a)
        if isinstance(b, Ref) and self.state.heap[b.id].kind == "dict":
            return None if x is UNKNOWN else x in self.state.heap[b.id].keys
        if isinstance(b, Known) and isinstance(b.value, str) and isinstance(x, str):
            return x in b.value
        items = self.items(b)
        if items is None or x is UNKNOWN:
            return None
        known = [self.known(v) for v in items]
        return x in known if UNKNOWN not in known else True if x in [k for k in known if k is not UNKNOWN] else None

    def e_Tuple(self, e: gast.Tuple) -> Value:
        values = self.display(e.elts)
        if any(isinstance(v, Code) and isinstance(v.expr, gast.Starred) for v in values):
            return Code(T.at(gast.Tuple([self.to_code(v, e) for v in values], gast.Load()), e))  # for the fence
        return Record(tuple, tuple(range(len(values))), tuple(values))

    def e_List(self, e: gast.List) -> Value:
        new = self.new_list(self.display(e.elts))
        if isinstance(new, Code):
            T.at(new.expr, e)
        return new

    def display(self, elts: Sequence[gast.expr]) -> list[Value]:
        """The items of `(a, *b)`."""
        values = self.evaluate([x.value if isinstance(x, gast.Starred) else x for x in elts])
        out: list[Value] = []
        for x, v in zip(elts, values, strict=True):
            if not isinstance(x, gast.Starred):
                out.append(v)
                continue
            items = self.items(self.shape(v, x) or v)
            out += [Code(T.at(gast.Starred(self.to_code(v, x), gast.Load()), x))] if items is None else items
        return out

    def e_Starred(self, e: gast.Starred) -> Value:
        return Code(T.at(gast.Starred(self.code(e.value), gast.Load()), e))

    def e_Dict(self, e: gast.Dict) -> Value:
        values = self.evaluate([x for k, v in zip(e.keys, e.values, strict=True) for x in ([v] if k is None else [k, v])])
        keys: dict[Any, Value] = {}
        todo = iter(values)
        for k, v in zip(e.keys, e.values, strict=True):
            first = next(todo)
            if k is None:
                obj = self.state.heap[first.id] if isinstance(first, Ref) else None
                if obj is None or obj.kind != "dict":
                    self.refuse(v, "S2S113", "What is merged into a dict is not a dict that is known", "{**options, 'tol': tol}")
                keys.update(zip(obj.keys, obj.items, strict=True))
                continue
            key = self.key(first)
            if key is UNKNOWN:
                self.refuse(k, "S2S113", "A dict whose keys are not known before the program runs", "# an array, indexed by a number")
            keys[key] = next(todo)
        return self.new_object("dict", dict, list(keys), list(keys.values()))

    def e_Lambda(self, e: gast.Lambda) -> Value:
        return self.closure(e, "function")

    def closure(self, node: Any, wish: str) -> Inner:
        raise NotImplementedError

    def e_JoinedStr(self, e: gast.JoinedStr) -> Value:
        text = ""
        for part in e.values:
            if isinstance(part, gast.Constant):
                text += str(part.value)
                continue
            value = self.known(self.value(part.value))
            if type(value) not in (str, int) or part.format_spec is not None or part.conversion not in (-1, None):
                return Code(e)
            text += str(value)
        return Known(text)

    # -- comprehensions -----------------------------------------------------------------------------------

    def e_ListComp(self, e: Any) -> Value:
        values = self.written_out(e, lambda: [self.force(self.expr(e.elt))])
        if values is not None:
            new = self.new_list([v[0] for v in values])
            if isinstance(new, Code):
                T.at(new.expr, e)
            return new
        return self.run_time_comprehension(e)

    def e_GeneratorExp(self, e: Any) -> Value:
        return self.e_ListComp(e)

    def e_DictComp(self, e: Any) -> Value:
        values = self.written_out(e, lambda: [self.value(e.key), self.value(e.value)])
        if values is None:
            return Code(e)  # for the fence
        keys = [self.key(k) for k, _ in values]
        if UNKNOWN in keys:
            self.refuse(e, "S2S113", "A dict whose keys are not known before the program runs", "# an array, indexed by a number")
        found = dict(zip(keys, (v for _, v in values), strict=True))
        return self.new_object("dict", dict, list(found), list(found.values()))

    def written_out(self, e: Any, make: Callable[[], list[Value]]) -> list[list[Value]] | None:
        """What a comprehension over values that are written out gives; None if it runs over something else."""
        own = T.stores([g.target for g in e.generators])
        before = {n: self.state.vars.get(n) for n in own}
        found: list[list[Value]] = []

        def level(k: int) -> bool:
            if k == len(e.generators):
                values = make()
                bound = own & T.stores(self.out[place:])
                if bound:  # the next trip assigns them again
                    values = [self.hold(v, bound, e) if isinstance(v, Code) else self.bound(v, self.fresh("item"), e, defaults=True) for v in values]
                found.append(values)
                return True
            g = e.generators[k]
            items = self.iterate(g.iter)
            if items is None:
                count = self.known_range(g.iter) if self.wants_range(e) else None
                if count is None or len(count) > 100:
                    return False
                items = [Code(T.at(T.const(i), g.iter), i) for i in count]
            for item in items:
                self.shadow(g.target, item, e)
                keep: bool | None = True
                for test in g.ifs:
                    keep = self.truth(self.value(test))
                    if not keep:
                        break
                if keep is None:
                    return False
                if keep and not level(k + 1):
                    return False
            return True

        place, state = len(self.out), self.state.copy()
        done = level(0)
        for n, v in before.items():
            self.state.vars.pop(n, None)
            if v is not None:
                self.state.vars[n] = v
        if not done:
            del self.out[place:]
            self.state = state
            return None
        return found

    def wants_range(self, e: Any) -> bool:
        """Whether a comprehension over numbers uses them to index structures, or makes functions."""
        own = T.stores([g.target for g in e.generators])
        for n in gast.walk(e):
            if isinstance(n, gast.Lambda):
                return True
            if isinstance(n, gast.Subscript) and T.loads(n.slice) & own and isinstance(self.peek(n.value), (Record, Ref)):
                return True
        return isinstance(e, gast.DictComp)

    def shadow(self, t: gast.expr, value: Value, s: Any) -> None:
        raise NotImplementedError

    def run_time_comprehension(self, e: Any) -> Value:
        """A comprehension that runs."""
        own = T.stores([g.target for g in e.generators])
        before = {n: self.state.vars.get(n) for n in own}
        place = len(self.out)
        new = copy.copy(e)
        new.generators = []
        pre: list[gast.stmt] = []
        for k, g in enumerate(e.generators):
            made = copy.copy(g)
            with self.into(self.out if not k else pre):
                made.iter = self.iterable(g.iter)
            for n in T.stores(g.target):
                self.state.vars[n] = named(n)
            with self.into(pre):
                made.ifs = [self.code(test) for test in g.ifs]
            new.generators.append(made)
        with self.into(pre):
            new.elt = self.code(e.elt)
        for n, v in before.items():
            self.state.vars.pop(n, None)
            if v is not None:
                self.state.vars[n] = v
        if not pre:
            return Code(new)
        del self.out[place:]
        return self.comprehension_loop(e, own)

    def comprehension_loop(self, e: Any, own: set[str]) -> Value:
        """A comprehension whose items need statements of their own, as a loop that appends."""
        taken = {n for n in own if n in self.state.vars or n in T.loads(e.generators[0].iter)}
        names = {n: self.fresh(n) for n in taken}
        first = e.generators[0].iter
        e = T.rename(e, names)
        e.generators[0].iter = first
        items = self.fresh("items")
        self.grown.add(items)
        body: list[gast.stmt] = [T.at(gast.Expr(T.expr(f"{items}.append(value)", value=e.elt)), e)]
        for g in reversed(e.generators):
            for test in reversed(g.ifs):
                body = [T.at(gast.If(test, body, []), test)]
            body = [T.at(gast.For(g.target, g.iter, body, [], None), e)]
        self.out.append(T.at(gast.Assign([T.store(items)], gast.List([], gast.Load()), None), e))
        self.state.vars[items] = named(items)
        self.statement(body[0])
        return Code(T.at(T.name(items), e))

    def statement(self, s: gast.stmt) -> None:
        raise NotImplementedError

    # -- what is looped over ------------------------------------------------------------------------------

    def iterate(self, e: gast.expr) -> list[Value] | None:
        """The values that a loop runs over, if they are written out and are not just numbers."""
        call = T.dotted(e.func) if isinstance(e, gast.Call) else None
        if call in ("enumerate", "zip", "reversed") and not any(isinstance(a, gast.Starred) for a in e.args) and call not in self.state.vars:
            if not any(self.written(a) for a in e.args):
                return None
            if call == "zip" and not all(self.written(a) or self.range_items(a) for a in e.args) and all(map(self.only_numbers, e.args)):
                return None
            lists = [self.iterate(a) if self.written(a) else self.range_items(a) for a in (e.args if call == "zip" else e.args[:1])]
            if call == "zip":
                strict = bool(e.keywords) and self.truth(self.value(e.keywords[0].value)) is not False
                counts = {len(x) for x in lists if x is not None}
                if strict and len(counts) > 1:
                    self.refuse(e, "S2S116", f"`zip` with strict=True of {' and '.join(map(str, sorted(counts)))} values", "zip(a, b)")
                lists = [self.first_items(a, min(counts), strict) if x is None else x for a, x in zip(e.args, lists, strict=True)]
            if any(x is None for x in lists):
                self.refuse(e, "S2S116", f"`{call}` of values of different kinds and of something else", "for k in range(len(layers)):")
            full: list[list[Value]] = [x for x in lists if x is not None]
            if call == "reversed":
                return full[0][::-1]
            if call == "zip":
                return [Record(tuple, tuple(range(len(row))), tuple(row)) for row in zip(*full, strict=False)]
            given = e.args[1] if len(e.args) > 1 else e.keywords[0].value if e.keywords else None
            start = 0 if given is None else self.known(self.value(given))
            if type(start) is not int:
                self.refuse(e, "S2S116", "`enumerate` of values of different kinds starts at something that is not known", "enumerate(layers)")
            return [Record(tuple, (0, 1), (Code(T.at(T.const(start + k), e), start + k), v)) for k, v in enumerate(full[0])]
        if not self.written(e):
            return None
        value = self.value(e)
        value = self.bound(value, "items", e) if not isinstance(e, (gast.Name, gast.Attribute)) else value
        return self.items(value)

    def first_items(self, e: gast.expr, count: int, strict: bool) -> list[Value]:
        """Items of an array or list of the running program, beside those of a structure; one that is shorter is an error."""
        whole = self.temporary(Code(self.iterable(e)), "items", e).expr
        test = f"len(items) {'!=' if strict else '<'} {count}"
        short = T.stmts(f"if {test}:\n    raise ValueError('zip of sequences of different lengths')", items=whole)
        self.out += T.at(short, e)
        return [self.temporary(Code(T.at(gast.Subscript(copy.copy(whole), T.const(k), gast.Load()), e)), "item", e) for k in range(count)]

    def only_numbers(self, e: gast.expr) -> bool:
        """Whether all that is looped over is numbers and arrays, which a loop that runs can have."""
        if isinstance(e, (gast.Tuple, gast.List)):
            return all(isinstance(x, gast.Constant) or isinstance(self.peek(x), Code) for x in e.elts)
        value = self.peek(e)
        return not isinstance(value, (Record, Ref)) or all(isinstance(v, Code) for v in self.items_of(value))

    def range_items(self, e: gast.expr) -> list[Value] | None:
        count = self.known_range(e)
        return None if count is None or len(count) > 400 else [Code(T.at(T.const(k), e), k) for k in count]

    def written(self, e: gast.expr) -> bool:
        """Whether a loop over this is written out."""
        if isinstance(e, gast.Call):
            name = T.dotted(e.func)
            if name in ("enumerate", "zip", "reversed", "list", "tuple", "sorted"):
                return any(self.written(a) for a in e.args)
            base = self.peek(e.func.value) if isinstance(e.func, gast.Attribute) and e.func.attr in ("items", "keys", "values") else None
            return isinstance(base, Ref) and self.state.heap[base.id].kind == "dict"
        if isinstance(e, (gast.Tuple, gast.List)):
            return any(isinstance(x, (gast.Tuple, gast.List, gast.Lambda, gast.Dict)) and not _numbers(x) or isinstance(x, gast.Starred)
                       or isinstance(x, gast.Constant) and isinstance(x.value, str) or not isinstance(self.peek(x) or Code(x), Code)
                       or isinstance(x, gast.Call) and isinstance(self.peek(x.func), Known)  # an object
                       for x in e.elts) or isinstance(e, gast.Tuple) and any(isinstance(self.peek(x), Code) for x in e.elts)
        value = self.peek(e)
        if isinstance(value, Conflict):
            self.other(value, e)
        if isinstance(value, Ref) and self.state.heap[value.id].kind == "object":
            return False
        if not isinstance(value, (Record, Ref)):
            return False
        parts = self.leaves(value)
        return not parts or not all(isinstance(v, Code) and isinstance(v.expr, gast.Constant) for v in parts)

    def iterable(self, e: gast.expr) -> gast.expr:
        """What is left of an expression that is looped over."""
        if isinstance(e, gast.Call) and T.dotted(e.func) in ("enumerate", "zip", "reversed", "range"):
            new = copy.copy(e)
            new.args = [self.iterable(a) for a in e.args]
            new.keywords = [gast.keyword(k.arg, self.code(k.value)) for k in e.keywords]
            return new
        return self.code(e)

    def known_range(self, e: gast.expr) -> range | None:
        """A range whose bounds are known."""
        if not isinstance(e, gast.Call) or T.dotted(e.func) != "range" or e.keywords or not 1 <= len(e.args) <= 3:
            return None
        place, state = len(self.out), self.state.copy()
        bounds = [self.known(self.value(a)) for a in e.args]
        del self.out[place:]
        self.state = state
        return range(*bounds) if all(type(b) is int for b in bounds) and not (len(bounds) == 3 and bounds[2] == 0) else None

    # -- calls --------------------------------------------------------------------------------------------

    def e_Call(self, e: gast.Call, statement: bool = False) -> Value:
        written = getattr(e, "as_method", None)
        if written is not None:
            base = self.peek(written[1])
            if isinstance(base, (Ref, Record)) and not (isinstance(base, Ref) and self.state.heap[base.id].kind == "list"):
                attribute = T.at(gast.Attribute(written[1], written[0], gast.Load()), e)
                e = T.at(gast.Call(attribute, written[2], e.keywords), e)
        if isinstance(e.func, gast.Attribute) and T.dotted(e.func) is not None and not self.is_library(e.func):
            done = self.structure_method(e)
            if done is not None:
                return done
        nodes = [a.value if isinstance(a, gast.Starred) else a for a in e.args] + [k.value for k in e.keywords]
        if self.is_code_method(e):
            head, *values = self.evaluate([e.func.value, *nodes])
            if isinstance(head, Code):
                args, keywords = self.arguments(e, values)
                func = T.at(gast.Attribute(head.expr, e.func.attr, gast.Load()), e.func)
                return Code(self.residual(e, func, args, keywords))
            done = self.text_method(head, e.func.attr, values) if not e.keywords else None
            if done is not None:
                return done
            f = self.attribute(head, e.func.attr, e.func)
        else:
            f = self.value(e.func)
            values = self.evaluate(nodes)
        args, keywords = self.arguments(e, values)
        return self.call(f, args, keywords, e)

    def is_library(self, func: gast.expr) -> bool:
        name = T.dotted(func)
        return name is not None and name.split(".")[0] in ("np", "math") and name.split(".")[0] not in self.state.vars

    def is_code_method(self, e: gast.Call) -> bool:
        if not isinstance(e.func, gast.Attribute) or self.is_library(e.func):
            return False
        return not isinstance(self.peek(e.func.value), (Ref, Record, Known, Opaque))

    def arguments(self, e: gast.Call, values: list[Value]) -> tuple[list[Value], list[tuple[str, Value]]]:
        """Positional and keyword arguments, starred ones spread."""
        args: list[Value] = []
        keywords: list[tuple[str, Value]] = []
        for a, v in zip(e.args, values, strict=False):
            items = self.items(v) if isinstance(a, gast.Starred) else None
            if items is not None:
                args += items
            else:
                args.append(Code(T.at(gast.Starred(self.to_code(v, a), gast.Load()), a)) if isinstance(a, gast.Starred) else v)
        for k, v in zip(e.keywords, values[len(e.args) :], strict=True):
            if k.arg is not None:
                keywords.append((k.arg, v))
                continue
            obj = self.state.heap[v.id] if isinstance(v, Ref) else None
            if obj is None or obj.kind != "dict" or not all(isinstance(x, str) for x in obj.keys):
                self.refuse(k.value, "S2S115", "`**` needs a dict whose keys are known", "f(a, scale=s)  # every one by name")
            keywords += zip(obj.keys, obj.items, strict=True)
        return args, keywords

    def residual(self, e: gast.Call, func: gast.expr, args: list[Value], keywords: list[tuple[str, Value]]) -> gast.expr:
        new = gast.Call(func, [self.to_code(a, e) for a in args], [gast.keyword(k, self.to_code(v, e)) for k, v in keywords])
        return T.at(new, e)

    def call(self, f: Value, args: list[Value], keywords: list[tuple[str, Value]], e: gast.Call) -> Value:
        """A call of a function that is known, or of something else."""
        if isinstance(f, Partial):
            merged = {**dict(f.keywords), **dict(keywords)}
            return self.call(f.func, [*f.args, *args], list(merged.items()), e)
        if isinstance(f, Method):
            return self.call(f.func, [f.owner, *args], keywords, e)
        if len(args) == 1 and not keywords and isinstance(f, (Func, Opaque)):
            told = self.asked(f.fn if isinstance(f, Func) else f.obj.obj, args[0], e)
            if told is not None:
                return told
        if isinstance(f, Opaque) and f.obj.obj is dataclasses.replace and len(args) == 1 and isinstance(args[0], Ref):
            obj = self.state.heap[args[0].id]
            if dataclasses.is_dataclass(obj.cls):
                changed = {k for k, _ in keywords}
                rest = [(n.name, obj.get(n.name)) for n in dataclasses.fields(obj.cls) if n.init and n.name not in changed]
                return self.construct(obj.cls, [], [*((n, v) for n, v in rest if v is not None), *keywords], e)
        if isinstance(f, Func):
            unit = self.whole.program.read(f.fn)
            for what in ("__code__", "__defaults__", "__kwdefaults__"):
                read = Part(Constant(f.fn), what)
                self.whole.assumptions.setdefault(read, Assumption(read, read()))
            preset = defaults(f.fn)
            given = self.parameters(unit.node, f.fn.__name__, args, keywords, e, lambda p: self.default(f.fn, p, preset, e))
            return self.call_user(unit, unit.node, name_of(f.fn), f, f.fn, given, e)
        if isinstance(f, Inner):
            name = getattr(f.node, "name", "function")
            kept = dict(f.defaults)
            given = self.parameters(f.node, name, args, keywords, e, lambda p: kept.get(p.id))
            return self.call_user(f.unit, f.node, name, f, f.node, given, e)
        if isinstance(f, Library):
            return self.call_library(f, args, keywords, e)
        if isinstance(f, Known) and isinstance(f.value, type):
            return self.construct(f.value, args, keywords, e)
        if isinstance(f, Ref):
            obj = self.state.heap[f.id]
            if obj.kind == "object":
                return self.call(self.class_attribute(f, obj.cls, "__call__", e), args, keywords, e)
        if isinstance(f, Opaque) and f.obj.obj is print and self.depth and not self.whole.typed:  # a flag may rule it out
            raise TypesNeeded(problem(self.source, e, "S2S121", "`print` cannot be differentiated", "# print where the function is called"))
        if isinstance(f, Opaque):
            known = self.call_opaque(f.obj.obj, args, keywords, e)
            if known is not None:
                return known
        if isinstance(f, Conflict):
            self.other(f, e.func)
        if not isinstance(f, (Code, Opaque)):
            self.refuse(e.func, "S2S121", f"{describe(f, self.state).capitalize()} is called", "f(x)")
        return Code(self.residual(e, self.to_code(f, e.func), args, keywords))

    def call_user(
        self, unit: Any, node: Any, name: str, func: Value, callee: Any, given: list[tuple[str, Value, bool]], call: gast.AST
    ) -> Value:
        raise NotImplementedError

    def parameters(
        self, node: Any, name: str, args: list[Value], keywords: list[tuple[str, Value]], e: gast.Call, default: Callable[[Any], Value | None]
    ) -> list[tuple[str, Value, bool]]:
        """(parameter, value, whether it was given by name), in the order in which they are evaluated; Python's TypeErrors as refusals."""
        a = node.args
        positional = [*a.posonlyargs, *a.args]
        every = [*positional, *a.kwonlyargs]

        def wrong(text: str) -> NoReturn:
            signature = ", ".join(p.original for p in every)
            self.refuse(e, "S2S126", f"`{name}` {text}", f"{name}({signature})")

        if any(isinstance(v, Code) and isinstance(v.expr, gast.Starred) for v in args):
            self.refuse(e, "S2S115", "A starred argument whose length is not known", "f(a, b, c)  # every one by name")
        given: dict[str, Value] = {}
        named_ones: set[str] = set()
        if len(args) > len(positional) and a.vararg is None:
            wrong(f"takes {len(positional)} positional arguments, {len(args)} are given")
        for p, v in zip(positional, args, strict=False):
            given[p.id] = v
        by_name = {p.original: p for p in [*a.args, *a.kwonlyargs]}
        more: dict[str, Value] = {}
        for k, v in keywords:
            found = by_name.get(k)
            if found is None:
                if a.kwarg is None:
                    wrong(f"has no keyword parameter `{k}`")
                more[k] = v
            elif found.id in given:
                wrong(f"is given `{k}` twice")
            else:
                given[found.id] = v
                named_ones.add(found.id)
        for p in every:
            if p.id not in given:
                preset = default(p)
                if preset is None:
                    wrong(f"is called without its argument `{p.original}`")
                given[p.id] = preset
                named_ones.add(p.id)
        if a.vararg is not None:
            rest = args[len(positional) :]
            given[a.vararg.id] = Record(tuple, tuple(range(len(rest))), tuple(rest))
        if a.kwarg is not None:
            given[a.kwarg.id] = self.new_object("dict", dict, list(more), list(more.values()))
        first = [p.id for p in positional if p.id not in named_ones] + ([a.vararg.id] if a.vararg is not None else [])
        rest_ids = [p for p in given if p not in first]
        return [(p, given[p], False) for p in first] + [(p, given[p], True) for p in rest_ids]

    def default(self, fn: types.FunctionType, p: Any, preset: dict[str, Any], e: gast.Call) -> Value | None:
        """The value of a parameter that is not given."""
        if p.original not in preset:
            return None
        value = preset[p.original]
        if type(value) in (int, float, bool) and value == value and abs(value) != float("inf"):
            tree: gast.expr = gast.parse(repr(value), mode="eval").body
            T.strip_positions(tree)
            return Code(T.at(tree, e), value if type(value) is not float else UNKNOWN)
        found = self.lift_value(value, DefaultValue(fn, p.original), p.original, p.original, ())
        if found is None:
            summary = f"The default of `{p.original}` of `{fn.__name__}` is a {type(value).__name__}, which cannot be used"
            self.refuse(e, "S2S124", summary, f"{fn.__name__}(..., {p.original}=...)")
        return found

    def construct(self, cls: type, args: list[Value], keywords: list[tuple[str, Value]], e: gast.Call) -> Value:
        """An object of a class, made by the program."""
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return Record(cls, cls._fields, tuple(self.fields(cls, cls._fields, cls._field_defaults, args, keywords, e)))  # type: ignore[attr-defined]
        if cls is tuple and len(args) == 1 and not keywords:
            items = self.items(args[0])
            if items is not None:
                return Record(tuple, tuple(range(len(items))), tuple(items))
        if cls is dict and not any(not isinstance(a, Ref) or self.state.heap[a.id].kind != "dict" for a in args) and len(args) < 2:
            found = dict(zip(self.state.heap[args[0].id].keys, self.state.heap[args[0].id].items, strict=True)) if args else {}  # type: ignore[attr-defined]
            found |= dict(keywords)
            return self.new_object("dict", dict, list(found), list(found.values()))
        if cls is type and len(args) == 1:
            known = self.class_of_code(args[0], e) if isinstance(args[0], Code) else self.class_of(args[0])
            if known is not None:
                return Known(known)
        if cls is map and len(args) > 1 and not keywords:
            rows = [self.items(v) for v in args[1:]]
            if any(r is None for r in rows):
                self.refuse(e, "S2S113", "`map` over something else than a tuple, list or dict that is known", "[f(x) for x in xs]")
            return self.new_list([self.force(self.call(args[0], list(row), [], e)) for row in zip(*rows, strict=False)])
        if cls is functools.partial and args:
            return Partial(args[0], tuple(args[1:]), tuple(keywords))
        if cls is types.SimpleNamespace and not args:
            return self.new_object("object", cls, [k for k, _ in keywords], [v for _, v in keywords])
        special = any("__new__" in vars(c) for c in cls.__mro__[:-1])
        if cls.__module__ == "builtins" or special or type(cls) is not type:
            return Code(self.residual(e, self.to_code(Opaque(cls.__name__, Unknown(cls, cls.__name__)), e), args, keywords))
        init = inspect.getattr_static(cls, "__init__")
        if dataclasses.is_dataclass(cls) and cls.__dataclass_params__.init and "__init__" in vars(cls):  # type: ignore[attr-defined]
            fields = [f for f in dataclasses.fields(cls) if f.init]
            late = [f.name for f in dataclasses.fields(cls) if not f.init and f.default_factory is not dataclasses.MISSING]
            if not late:
                preset = {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}
                factories = {f.name: f.default_factory for f in fields if f.default_factory is not dataclasses.MISSING}
                values = self.fields(cls, tuple(f.name for f in fields), preset, args, keywords, e, factories)
                new = self.new_object("object", cls, [f.name for f in fields], values)
                if hasattr(cls, "__post_init__"):
                    self.bound(new, cls.__name__.lower(), e)
                    self.force(self.call(self.class_attribute(new, cls, "__post_init__", e), [], [], e))
                return new
        new = self.new_object("object", cls, (), (), bound=True)
        if init is not object.__init__:
            if not isinstance(init, types.FunctionType):
                self.refuse(e.func, "S2S121", f"Objects of the class `{cls.__name__}` cannot be made in a differentiated function", "# a plain class")
            where = f"<new {new.id}>"
            self.state.vars[where] = new
            self.force(self.call(Func(init), [new, *args], keywords, e))
            del self.state.vars[where]
        return new

    def fields(
        self, cls: type, names: Sequence[str], preset: dict[str, Any], args: list[Value], keywords: list[tuple[str, Value]], e: gast.Call,
        factories: Mapping[str, Any] = MappingProxyType({}),
    ) -> list[Value]:
        """The values of the fields of a dataclass or named tuple; `factories` make those that are not given."""
        given = dict(zip(names, args, strict=False)) | dict(keywords)
        missing = [n for n in names if n not in given and n not in preset and n not in factories]
        if len(args) > len(names) or missing or not set(given) <= set(names):
            self.refuse(e, "S2S126", f"The arguments do not fit `{cls.__name__}`", f"{cls.__name__}({', '.join(names)})")
        values = []
        for n in names:
            if n in given:
                values.append(given[n])
            elif n in factories:
                values.append(self.force(self.call(self.lift(factories[n], None, f"{cls.__name__}.{n}", n), [], [], e)))
            else:
                value = self.lift_value(preset[n], Part(Constant(cls), n) if hasattr(cls, n) else None, n, n, ())
                if value is None:
                    self.refuse(e, "S2S124", f"The default of `{n}` of `{cls.__name__}` cannot be used", f"{cls.__name__}(..., {n}=...)")
                if isinstance(value, Ref):
                    self.state.heap[value.id] = replace(self.state.heap[value.id], owner="")
                if type(preset[n]) in (int, float):
                    value = Code(T.at(T.const(preset[n]), e), preset[n] if type(preset[n]) is int else UNKNOWN)
                values.append(value)
        return values

    def structure_method(self, e: gast.Call) -> Value | None:
        """Methods of dicts, lists, texts and named tuples that are known."""
        base, attr = self.peek(e.func.value), e.func.attr
        if isinstance(base, Record) and structure.is_namedtuple(base.cls) and attr in ("_replace", "_asdict") and not e.args:
            head, *values = self.evaluate([e.func.value, *(k.value for k in e.keywords)])
            assert isinstance(head, Record)
            found = dict(zip(head.keys, head.items, strict=True)) | {str(k.arg): v for k, v in zip(e.keywords, values, strict=True)}
            if not set(found) <= set(head.keys):
                self.refuse(e, "S2S126", f"The arguments do not fit `{head.cls.__name__}._replace`", f"# of {', '.join(map(str, head.keys))}")
            if attr == "_replace":
                return Record(head.cls, head.keys, tuple(found.values()))
            return self.new_object("dict", dict, list(found), list(found.values()))
        if isinstance(base, Known) and isinstance(base.value, str) and not e.keywords:
            done = self.text_method(base, attr, self.evaluate(e.args))
            if done is not None:
                return done
        if not isinstance(base, Ref) or isinstance(self.value(e.func.value), Code):
            return None
        obj = self.state.heap[base.id]
        if obj.kind == "dict" and attr in ("get", "pop", "setdefault", "update", "items", "keys", "values", "copy"):
            return self.dict_method(base, attr, e)
        if obj.kind == "list" and attr in LIST_METHODS | {"copy", "index"}:
            return self.list_method(base, attr, e)
        return None

    def text_method(self, base: Value, attr: str, values: Sequence[Value]) -> Value | None:
        """A method of a text that is known."""
        args = [self.known(v) for v in values]
        if not (isinstance(base, Known) and isinstance(base.value, str) and attr in _TEXT_METHODS and all(isinstance(a, (str, int)) for a in args)):
            return None
        found = getattr(base.value, attr)(*args)
        return Known(found) if isinstance(found, str) else Code(T.const(found), found)

    def dict_method(self, base: Ref, attr: str, e: gast.Call) -> Value:
        obj = self.state.heap[base.id]
        if attr in ("items", "keys", "values"):
            rows: dict[str, Callable[[Any, Value], Value]] = {
                "keys": lambda k, v: self.lift_key(k), "values": lambda k, v: v,
                "items": lambda k, v: Record(tuple, (0, 1), (self.lift_key(k), v)),
            }
            found = [rows[attr](k, v) for k, v in zip(obj.keys, obj.items, strict=True)]
            return Record(tuple, tuple(range(len(found))), tuple(found))
        if attr == "copy":
            return self.new_object("dict", dict, obj.keys, obj.items)
        if attr == "update":
            more = self.evaluate([*e.args, *(k.value for k in e.keywords)])
            pairs: list[tuple[Any, Value]] = []
            for v in more[: len(e.args)]:
                inner = self.state.heap[v.id] if isinstance(v, Ref) else None
                if inner is None or inner.kind != "dict":
                    self.refuse(e, "S2S113", "`.update()` needs a dict that is known", "options.update(tol=1e-6)")
                pairs += zip(inner.keys, inner.items, strict=True)
            pairs += [(str(k.arg), v) for k, v in zip(e.keywords, more[len(e.args) :], strict=True)]
            for k, v in pairs:
                self.write(base, k, v, T.at(gast.Subscript(e.func.value, T.const(k), gast.Store()), e))
            return Known(None)
        key, *rest = self.evaluate(e.args)
        k = self.key(key)
        if k is UNKNOWN:
            self.refuse(e, "S2S113", "The key of a dict is not known before the program runs", "# an array, indexed by a number")
        found_item = obj.get(k)
        other = rest[0] if rest else Known(None)
        if attr == "get":
            return found_item if found_item is not None else other
        self.writable(base, k, e)
        if attr == "setdefault":
            if found_item is None:
                self.write(base, k, other, T.at(gast.Subscript(e.func.value, T.const(k), gast.Store()), e))
            return self.state.heap[base.id].get(k) or other
        if found_item is None and not rest:
            self.refuse(e, "S2S113", f"The dict has no entry {k!r}", f"options.pop({k!r}, None)")
        at = [n for n in obj.keys if n != k]
        self.state.heap[base.id] = replace(obj, keys=tuple(at), items=tuple(obj.get(n) or other for n in at))
        return found_item if found_item is not None else other

    def list_method(self, base: Ref, attr: str, e: gast.Call) -> Value:
        obj = self.state.heap[base.id]
        if attr == "copy":
            return self.new_list(obj.items)
        values = self.evaluate(e.args)
        self.writable(base, obj.keys[0] if obj.keys else None, e) if obj.keys else None
        if attr == "append" and len(values) == 1:
            new = self.bound(values[0], f"{T.base_name(e.func)}_{len(obj.keys)}", e)
            self.state.heap[base.id] = self.state.heap[base.id].put(len(obj.keys), new)
        elif attr == "extend" and len(values) == 1:
            self.extend(base, values[0], e)
        elif attr == "reverse" and not values:
            self.state.heap[base.id] = replace(obj, items=obj.items[::-1])
        elif attr == "pop" and obj.keys and (not values or type(self.known(values[0])) is int):
            k = self.known(values[0]) if values else -1
            items = list(obj.items)
            got = items.pop(k)
            self.state.heap[base.id] = replace(obj, keys=tuple(range(len(items))), items=tuple(items))
            return got
        else:
            self.refuse(e, "S2S113", f"`.{attr}()` of a list of values of different kinds cannot be differentiated", "xs.append(x)")
        return Known(None)

    # -- calls of libraries -------------------------------------------------------------------------------

    def call_library(self, f: Library, args: list[Value], keywords: list[tuple[str, Value]], e: gast.Call) -> Value:
        if f.obj is not None:
            return Code(self.residual(e, T.at(T.name(self.export(f.name, f.obj)), e.func), args, keywords))
        name = f.name
        if name == "list" and not args and not keywords:
            return self.new_list([])
        if not keywords and len(args) == 1:
            v = args[0]
            special = {"len": "__len__", "abs": "__abs__", "float": "__float__"}.get(name, "")
            if isinstance(v, Ref) and self.has_method(v, special):
                return self.force(self.call(self.class_attribute(v, self.state.heap[v.id].cls, special, e), [], [], e))
            if name == "sorted":
                items = self.items(v)
                keys = [self.key(x) for x in items or ()]
                if items is not None and all(isinstance(k, str) for k in keys):
                    return self.new_list([x for _, x in sorted(zip(keys, items, strict=True), key=lambda both: both[0])])
            if name == "len":
                items = self.items(v)
                if items is not None:
                    return Code(T.at(T.const(len(items)), e), len(items))
            if name == "list":
                items = self.items(v)
                if items is not None:
                    return self.new_list(items)
            if name in ("bool", "int") and isinstance(v, Code) and v.known is not UNKNOWN:
                known = (bool if name == "bool" else int)(v.known)
                return Code(self.residual(e, T.name(name), args, keywords), known)
            if name == "bool" and self.truth(v) is not None:
                return Code(T.at(T.const(self.truth(v)), e), self.truth(v))
        new = self.residual(e, T.at(dotted_expr(name), e.func), args, keywords)
        return Code(T.at(canonical_call(new), e))

    def asked(self, fn: Any, v: Value, e: gast.Call) -> Value | None:
        """`np.isscalar` and `np.ndim`."""
        if fn is np.isscalar and not isinstance(v, Code):
            return self.decided(isinstance(v, Known) and np.isscalar(v.value), e)
        if fn is np.isscalar and isinstance(v, Code):
            return self.decided(issubclass(self.class_of_code(v, e), (int, float, np.generic)), e)
        if fn is copy.copy and isinstance(v, Ref):
            obj = self.state.heap[v.id]
            return self.new_object(obj.kind, obj.cls, obj.keys, obj.items)
        if fn is np.ndim and isinstance(v, Code):
            found = self.class_of_code(v, e)
            dims = 0 if issubclass(found, (int, float, np.generic)) else len_of(self.with_type(v).type)
            return None if dims is None else Code(T.at(T.const(dims), e), dims)
        return None

    def call_opaque(self, obj: Any, args: list[Value], keywords: list[tuple[str, Value]], e: gast.Call) -> Value | None:
        """Builtins that ask what a value is, and what makes functions of functions."""
        title = getattr(obj, "__name__", "") if getattr(obj, "__module__", "") == "builtins" or obj is functools.reduce else ""
        handler: Callable[[list[Value], gast.Call], Value | None] | None = getattr(self, f"b_{title}", None)
        return handler(args, e) if handler is not None and not keywords else None

    def decided(self, known: bool, e: gast.expr) -> Value:
        return Code(T.at(T.const(known), e), known)

    def b_callable(self, args: list[Value], e: gast.Call) -> Value | None:
        v = args[0]
        if isinstance(v, (Func, Inner, Library, Partial, Method)):
            return self.decided(True, e)
        if isinstance(v, Ref):
            obj = self.state.heap[v.id]
            return self.decided(obj.kind == "object" and hasattr(obj.cls, "__call__"), e)  # noqa: B004
        if isinstance(v, Known):
            return self.decided(callable(v.value), e)
        return self.decided(False, e) if isinstance(v, (Code, Record)) else None

    def b_hasattr(self, args: list[Value], e: gast.Call) -> Value | None:
        v, name = args[0], self.known(args[1])
        if not isinstance(name, str):
            return None
        if isinstance(v, Ref):
            obj = self.state.heap[v.id]
            return self.decided(obj.kind == "object" and name in obj.keys or hasattr(obj.cls, name), e)
        cls = self.class_of_code(v, e) if isinstance(v, Code) and len({hasattr(c, name) for c in _CLASSES}) > 1 else self.class_of(v)
        if cls is None and isinstance(v, Code):
            cls = float
        return None if cls is None else self.decided(hasattr(cls, name) or isinstance(v, Known) and hasattr(v.value, name), e)

    def b_getattr(self, args: list[Value], e: gast.Call) -> Value | None:
        name = self.known(args[1]) if len(args) > 1 else None
        if not isinstance(name, str):
            return None
        if len(args) == 3:
            there = self.b_hasattr(args[:2], e)
            if there is None:
                return None
            if not self.truth(there):
                return args[2]
        return self.attribute(args[0], name, e)

    def b_isinstance(self, args: list[Value], e: gast.Call) -> Value | None:
        wanted = [python_type(v) for v in (args[1].items if isinstance(args[1], Record) else (args[1],))]
        if any(t is None for t in wanted):
            return None
        return self.decide(args[0], wanted, e)  # type: ignore[arg-type]

    def b_reduce(self, args: list[Value], e: gast.Call) -> Value | None:
        items = self.items(args[1]) if len(args) in (2, 3) else None
        if items is None or not items and len(args) == 2:
            self.refuse(e, "S2S113", "`reduce` of something else than a tuple, list or dict that is known", "for x in xs:\n    total = f(total, x)")
        total, *rest = [*args[2:], *items]
        for v in rest:
            total = self.force(self.call(args[0], [total, v], [], e))
        return total

    def b_type(self, args: list[Value], e: gast.Call) -> Value | None:
        cls = self.class_of(args[0]) if len(args) == 1 else None
        return None if cls is None else Known(cls)

    def with_type(self, v: Code) -> Code:
        """The value with its type, if the program is made for types."""
        if not self.whole.typed or v.type is not None:
            return v
        names: dict[str, Type] = {}
        seen: set[int] = set()
        todo = list(self.state.vars.values())
        while todo:
            part = todo.pop()
            if isinstance(part, Code) and isinstance(part.expr, gast.Name) and part.type is not None:
                names[part.expr.id] = part.type
            elif isinstance(part, (Record, Ref)) and id(part) not in seen:
                seen.add(id(part))
                todo += self.items_of(part)
        try:
            return Code(v.expr, v.known, type_of(v.expr, names), v.guess)
        except (TypeProblem, rules.RuleError):
            return v

    def class_of_code(self, v: Code, e: gast.expr) -> type:
        """The class of a value of the running program; the types of arguments are asked for, if it depends on them."""
        found = self.class_of(v)
        t = self.with_type(v).type if found is None else None
        if found is None and t is None:
            place = problem(self.source, e, "S2S121", "What kind of value this is is not known before the program runs", "# a function for each kind",
                            "It is for arguments that are numbers or arrays, and for what is computed of them outside of loops.")
            raise (UnsupportedError if self.whole.typed else TypesNeeded)(place)
        return found if found is not None else _class(t)

    def decide(self, v: Value, wanted: Sequence[type], e: gast.expr) -> Value | None:
        """Whether a value is of one of some classes."""
        classes = [self.class_of(v)]
        if classes == [None] and isinstance(v, Code):
            classes = [*_CLASSES]
            if len({issubclass(c, tuple(wanted)) for c in _CLASSES}) > 1:
                classes = [self.class_of_code(v, e)]
        return None if classes[0] is None else self.decided(issubclass(classes[0], tuple(wanted)), e)

    def class_of(self, v: Value) -> type | None:
        """The class of a value, if it is known."""
        if isinstance(v, Record):
            return v.cls
        if isinstance(v, Ref):
            return self.state.heap[v.id].cls
        if isinstance(v, Known):
            return type(v.value)
        if isinstance(v, (Func, Inner)):
            return types.FunctionType
        if isinstance(v, Code):
            if v.type is not None:
                return _class(v.type)
            if isinstance(v.expr, gast.Constant) or v.known is not UNKNOWN:
                return type(v.expr.value if isinstance(v.expr, gast.Constant) else v.known)
            if isinstance(v.expr, (gast.List, gast.ListComp)):
                return list
        return None


@dataclasses.dataclass(frozen=True)
class Constant:
    """Reads an object that stays the same."""

    obj: Any

    def __call__(self) -> Any:
        return self.obj

    def __hash__(self) -> int:
        return id(self.obj)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and other.obj is self.obj


@dataclasses.dataclass(frozen=True)
class Summary:
    """Reads what is built into the compiled code of a structure: all but its numbers and arrays."""

    read: Any

    def __call__(self) -> Any:
        return summary_of(self.read(), 0)


def summary_of(obj: Any, depth: int) -> Any:
    """What two structures have in common that differ in their numbers only."""
    kind = f"{type(obj).__module__}.{type(obj).__qualname__}"
    if obj is None or isinstance(obj, (bool, str)):
        return kind, repr(obj)
    if isinstance(obj, (int, float, np.generic, np.ndarray)):
        return kind, str(getattr(obj, "dtype", "")), int(np.ndim(obj))
    found = contents(obj) if depth < 9 else None
    if found is None or isinstance(obj, (type, types.ModuleType, types.FunctionType, enum.Enum)):
        return kind, id(obj)
    return kind, tuple((repr(k), summary_of(v, depth + 1)) for k, v in found[2])


def contents(obj: Any) -> tuple[str, type, list[tuple[Any, Any]]] | None:
    """Kind, class and parts of a structure; None for other objects."""
    cls = type(obj)
    if isinstance(obj, tuple):
        return "tuple", cls, list(enumerate(obj))
    if cls is list:
        return "list", cls, list(enumerate(obj))
    if cls is dict:
        return ("dict", cls, list(obj.items())) if all(map(structure.is_key, obj)) else None
    if callable(obj) and not hasattr(obj, "__dict__") or isinstance(obj, (np.generic, np.ndarray, np.random.Generator, types.ModuleType)):
        return None
    if cls.__module__.split(".")[0] in ("builtins", "numpy", "numba", "math", "functools", "_io"):
        return None
    slots = [s for c in cls.__mro__ for s in getattr(c, "__slots__", ()) if isinstance(s, str) and hasattr(obj, s)]
    if not hasattr(obj, "__dict__") and not slots:
        return None
    return "object", cls, [*(vars(obj) if hasattr(obj, "__dict__") else {}).items(), *((s, getattr(obj, s)) for s in slots)]


def python_type(value: Value) -> type | None:
    """The type that a value is, if it is one."""
    if isinstance(value, Known) and isinstance(value.value, type):
        return value.value
    if isinstance(value, Library) and value.obj is None:
        return {"float": float, "int": int, "bool": bool, "list": list, "np.float64": np.float64, "np.float32": np.float32}.get(value.name)
    return None


def _class(t: Any) -> type:
    """The class of the values of a type."""
    if isinstance(t, Scalar):
        return _PYTHON[t.dtype] if t.weak else np.dtype(t.dtype).type
    if isinstance(t, Array):
        return list if t.weak else np.ndarray
    return {"List": list, "Tuple": tuple, "Generator": np.random.Generator}.get(type(t).__name__, object)


def len_of(t: Any) -> int | None:
    """Number of axes of a value of a type."""
    return t.ndim if isinstance(t, Array) else 0 if isinstance(t, Scalar) else None


def word(key: Any) -> str:
    """A key as a part of a name.

    >>> word(0), word("drag coefficient")
    ('0', 'drag_coefficient')
    """
    text = str(key)
    return "".join(c if c.isalnum() or c == "_" else "_" for c in text)


def _root(t: Any) -> Any:
    while isinstance(t, (gast.Subscript, gast.Attribute)):
        t = t.value
    return t


def _numbers(e: gast.expr) -> bool:
    """Whether something written out has numbers only."""
    return all(isinstance(x, (gast.Constant, gast.UnaryOp)) for x in e.elts) if isinstance(e, (gast.Tuple, gast.List)) else False


def _literal(value: Any) -> bool:
    return value is None or isinstance(value, (str, bool))


def _constant(value: Any) -> gast.expr:
    return T.const(value)
