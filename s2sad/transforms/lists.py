"""Lists become arrays: of their length where that is known before they grow, else with room to grow and a count.

Runs on a typed function. A list of Python numbers becomes an array whose elements are weak; a list of rows becomes an array with an axis more.
Python's lists share what they hold: a row that is changed in place while a list holds it is refused.

>>> from s2sad.transforms.example import after
>>> print(after("lists", "xs = [x]\\nfor i in range(n):\\n    xs.append(2.0 * xs[-1])\\nreturn xs[n]", "x: f8; n: i8"))
xs = np.empty(len(range(n)) + 1)
xs[0] = x
for i in range(n):
    xs[i + 1] = 2.0 * xs[i]
return xs[n]
>>> print(after("lists", "xs = []\\nfor i in range(n):\\n    if x > i:\\n        xs.append(x * i)\\nreturn sum(xs)", "x: f8; n: i8"))
xs_room = np.empty(len(range(n)))
xs_len = 0
for i in range(n):
    if x > i:
        xs_room[xs_len] = x * i
        xs_len += 1
xs = xs_room[:xs_len]
return sum(xs)
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from s2sad.analysis import types as K
from s2sad.analysis.types import as_array, list_of, type_of
from s2sad.errors import UnsupportedError, problem
from s2sad.lang import tree as T
from s2sad.lang.routines import Routine, changed_by
from s2sad.lang.tree import Function
from s2sad.lang.types import Array, List, Scalar, Static, Tuple, Type, is_array

#: Room of a list whose greatest length is not known, at first.
ROOM = 16


def lists(function: Function) -> Function:
    """The function with arrays in place of lists, typed anew. Raises UnsupportedError for lists that no array can stand for."""
    if not any(isinstance(t, List) for t in function.names.values()) and not any(_displays(s) for s in K.walk(function.body)):
        return function
    return _Lists(function).run()


def _displays(s: gast.stmt) -> bool:
    """Whether a statement returns a list, or has a call of lists that are written out: `sorted([a, b])`."""
    if isinstance(s, gast.Return) and isinstance(s.value, gast.List):
        return True
    return any(isinstance(n, gast.Call) and T.dotted(n.func) in ("sorted", "list") for n in gast.walk(s))


# --- lengths ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Length:
    """`constant + sum of terms`: an integer expression; the terms are trees, keyed by their form."""

    constant: int = 0
    terms: Mapping[Any, tuple[gast.expr, int]] = field(default_factory=dict)

    def plus(self, other: Length, sign: int = 1) -> Length:
        """The sum of two."""
        terms = dict(self.terms)
        for key, (tree, k) in other.terms.items():
            total = terms.get(key, (tree, 0))[1] + sign * k
            terms[key] = (tree, total)
        return Length(self.constant + sign * other.constant, {key: (t, k) for key, (t, k) in terms.items() if k})

    def times(self, k: int) -> Length:
        """A multiple."""
        return Length(self.constant * k, {key: (t, n * k) for key, (t, n) in self.terms.items()} if k else {})

    def tree(self) -> gast.expr:
        """The expression."""
        out: gast.expr | None = None
        ordered = sorted(self.terms.values(), key=lambda term: term[1] < 0)
        for term, k in ordered:
            part = copy.deepcopy(term) if abs(k) == 1 else gast.BinOp(T.const(abs(k)), gast.Mult(), copy.deepcopy(term))
            if out is None:
                out = part if k > 0 else gast.UnaryOp(gast.USub(), part)
            else:
                out = gast.BinOp(out, gast.Add() if k > 0 else gast.Sub(), part)
        if out is None:
            return T.const(self.constant) if self.constant >= 0 else gast.UnaryOp(gast.USub(), T.const(-self.constant))
        if self.constant:
            out = gast.BinOp(out, gast.Add() if self.constant > 0 else gast.Sub(), T.const(abs(self.constant)))
        return out


def length_of(e: gast.expr) -> Length:
    """An integer expression as a length.

    >>> import ast
    >>> ast.unparse(gast.gast_to_ast(length_of(T.expr("1 + (i - 1) + 2 * n")).tree()))
    'i + 2 * n'
    """
    if isinstance(e, gast.Constant) and type(e.value) is int:
        return Length(e.value)
    if isinstance(e, gast.UnaryOp) and isinstance(e.op, gast.USub):
        return length_of(e.operand).times(-1)
    if isinstance(e, gast.BinOp) and isinstance(e.op, (gast.Add, gast.Sub)):
        return length_of(e.left).plus(length_of(e.right), 1 if isinstance(e.op, gast.Add) else -1)
    if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Mult):
        a, b = length_of(e.left), length_of(e.right)
        for x, y in ((a, b), (b, a)):
            if not x.terms:
                return y.times(x.constant)
    return Length(0, {T.dump(e): (e, 1)})


def nonnegative(e: gast.expr) -> bool:
    """Whether an integer expression is certainly not negative, by its form."""
    if isinstance(e, gast.Constant):
        return type(e.value) is int and e.value >= 0
    if isinstance(e, gast.Attribute):
        return e.attr in ("size", "ndim")
    if isinstance(e, gast.Subscript):
        return isinstance(e.value, gast.Attribute) and e.value.attr == "shape"
    if isinstance(e, gast.Call):
        return T.dotted(e.func) == "len"
    return isinstance(e, gast.BinOp) and isinstance(e.op, (gast.Add, gast.Mult)) and nonnegative(e.left) and nonnegative(e.right)


def trips(iterator: gast.Call) -> Length:
    """How often a loop over a range runs."""
    args = iterator.args
    if len(args) == 1 and nonnegative(args[0]):
        return length_of(args[0])
    if all(isinstance(a, gast.Constant) for a in args):
        return Length(len(range(*(a.value for a in args))))
    return Length(0, {T.dump(iterator): (gast.Call(T.name("len"), [copy.deepcopy(iterator)], []), 1)})


def trip(loop: gast.For) -> Length:
    """The number of the present trip of a loop over a range, from 0."""
    args = loop.iter.args
    i = T.name(loop.target.id)
    if len(args) == 1:
        return length_of(i)
    done = length_of(i).plus(length_of(args[0]), -1)
    if len(args) == 2 or isinstance(args[2], gast.Constant) and args[2].value == 1:
        return done
    return length_of(gast.BinOp(done.tree(), gast.FloorDiv(), args[2]))


# --- the pass ---------------------------------------------------------------------------


@dataclass
class Growing:
    """A list at a point where it may still grow: `room` is its array, `now` its present length, `least` a number it is not below."""

    room: str
    now: Length
    least: int
    counter: str = ""  # of a list whose length is not known before
    bounded: bool = True  # the room is enough


def changed(s: gast.stmt) -> str | None:
    """The list that a simple statement may make longer or shorter."""
    value = getattr(s, "value", None)
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in ("append", "extend", "pop") \
            and isinstance(value.func.value, gast.Name):
        return str(value.func.value.id)
    return str(s.target.id) if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name) else None


def blocks(s: gast.stmt) -> list[list[gast.stmt]]:
    """The blocks of a compound statement."""
    return [b for b in (getattr(s, "body", []), getattr(s, "orelse", [])) if b]


class _Lists:
    def __init__(self, function: Function):
        self.function, self.names = function, function.names
        self.fresh = T.Fresh(T.all_names(function.body) | set(function.params) | set(function.externals))
        self.fixed: dict[str, Type] = {n: self.array_type(n) for n, t in self.names.items() if isinstance(t, List)}
        self.open: dict[str, Growing] = {}
        self.lengths: dict[str, Length] = {}  # of lists that are made, where it is known
        self.count: dict[str, int] = {}
        self.values: dict[str, gast.expr] = {}
        for s in K.walk(function.body):
            for n in _binds(s):
                self.count[n] = self.count.get(n, 0) + 1
                if isinstance(s, gast.Assign):
                    self.values[n] = s.value
        self.sure = set(function.params)
        self.starts: dict[str, int | None] = {}  # loop variables around, and what they are at least
        self.in_while = 0
        self.pre: list[gast.stmt] = []
        self.views: dict[str, str] = {}
        self.at: gast.AST = function.body[0]
        self.rows = _Rows(self)

    def run(self) -> Function:
        body = self.block(list(self.function.body))
        params = {p: self.names[p] for p in self.function.params}
        new = replace(self.function, body=tuple(body), names={})
        routines = {n: t for n, t in self.names.items() if isinstance(t, Static) and isinstance(t.value, Routine)}
        names = dict(K.infer(new, params, {**{n: t for n, t in self.fixed.items() if n in T.all_names(body)}, **routines}))
        for n, f in self.function.externals.items():
            names.setdefault(n, Static(f))
        return replace(new, names=names)

    # -- types and refusals ------------------------------------------------------------------------

    def array_type(self, n: str) -> Array:
        """The array that stands for a list; one that stays empty holds floats."""
        t = as_array(self.names[n])
        if t is None and _deepest(self.names[n]) not in (None, Static(None)):
            self.refuse(self.function.body[0], f"`{n}` is a {self.names[n]}", "lists of numbers, of arrays, or of lists of these")
        return t if t is not None else Array("float64", 1 + str(self.names[n]).count("list of"), "C", frozenset(), True)

    def refuse(self, s: gast.AST, summary: str, instead: str, why: str = "") -> Any:
        raise UnsupportedError(problem(self.function.source, s, "S2S113", summary, instead, why))

    def type(self, e: gast.expr) -> Type:
        return list_of(e, self.names) or type_of(e, self.names)

    def is_list(self, n: str) -> bool:
        return isinstance(self.names.get(n), List)

    # -- blocks ------------------------------------------------------------------------------------

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        outer = set(self.sure)
        out: list[gast.stmt] = []
        begins: dict[int, list[tuple[gast.Assign, str, list[int]]]] = {}
        ends: dict[int, list[str]] = {}
        moved: set[int] = set()
        for k, s in enumerate(body):
            name = self.begun(s)
            grows = self.growth(body, k, name) if name is not None else []
            if name is not None and grows:
                assert isinstance(s, gast.Assign)
                first = self.latest(body, k, grows[0], s, name)
                begins.setdefault(first, []).append((s, name, grows))
                ends.setdefault(grows[-1], []).append(name)
                moved.add(k)
        for k, s in enumerate(body):
            self.at = s
            for definition, name, grows in begins.get(k, []):
                out += T.at(self.begin(definition, name, [body[g] for g in grows]), definition)
            if k not in moved:
                out += self.statement(s)
            for name in ends.get(k, []):
                out += T.at(self.end(name), s)
            self.sure |= _binds(s)
        self.sure = outer
        return out

    def begun(self, s: gast.stmt) -> str | None:
        """The list to which a statement binds a name."""
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and self.is_list(s.targets[0].id):
            return str(s.targets[0].id)
        return None

    def growth(self, body: list[gast.stmt], k: int, name: str) -> list[int]:
        """The statements of a block after the k-th in which that list changes its length."""
        found = []
        for j in range(k + 1, len(body)):
            if self.begun(body[j]) == name:
                break
            if self.grows_in(body[j], name):
                found.append(j)
        if found:
            for s in K.walk(body[k + 1 : found[-1] + 1]):
                if self.begun(s) == name:
                    self.refuse(s, f"The list `{name}` is begun anew while it grows", "ys = []  # a name of its own")
        return found

    def grows_in(self, s: gast.stmt, name: str) -> bool:
        """Whether a list that is begun before a statement changes its length in it."""
        if changed(s) == name:
            return True
        for block in blocks(s):
            for inner in block:
                if self.begun(inner) == name:
                    break
                if self.grows_in(inner, name):
                    return True
        return False

    def latest(self, body: list[gast.stmt], k: int, first: int, s: gast.Assign, name: str) -> int:
        """Where the list can be made: just before it grows, when more is known of its length, unless something between needs it or changes it."""
        between = body[k + 1 : first]
        used = {n for b in between for n in T.loads(b)}
        touched = T.stores(between) | {T.base_name(n) for b in between for n in gast.walk(b) if _is_store(n)}
        touched |= {c for b in K.walk(between) if (c := changed(b)) is not None}
        if name in used or name in touched or T.loads(s.value) & touched or not isinstance(s.value, gast.List):
            return k
        return first

    # -- lists that grow ---------------------------------------------------------------------------

    def begin(self, s: gast.Assign, name: str, grows: list[gast.stmt]) -> list[gast.stmt]:
        """The array of a list that will grow in the given statements."""
        self.pre, self.views = [], {}
        if isinstance(s.value, gast.Name):
            self.refuse(s, f"`{name}` and `{s.value.id}` are one list, and it changes its length", f"{name} = list({s.value.id})")
        pops = any(_pops(g, name) for g in grows)
        exact = None if pops else self.added(grows, name, False)
        most = self.added(grows, name, True)
        items = list(s.value.elts) if isinstance(s.value, gast.List) else None
        first = None if items is not None else self.fresh(f"{name}_first")
        if first is not None:
            self.fixed[first] = self.fixed[name]
            self.pre.append(gast.Assign([T.store(first)], self.array(s.value, self.fixed[name]), None))
        for k, e in enumerate(items or []):
            if name in T.loads(e) and items is not None:  # of what the name meant before
                held = self.fresh("item")
                inner = t0 if isinstance(t0 := self.fixed[name], Array) and t0.ndim > 1 else None
                if inner is not None:
                    self.fixed[held] = Array(inner.dtype, inner.ndim - 1, "C", frozenset(), inner.weak)
                    self.rows.stored(s, e, name)
                value = self.item(e, inner) if inner is not None else self.expr(e)
                copied = inner is not None and not isinstance(value, gast.BinOp)
                value = gast.Call(gast.Attribute(value, "copy", gast.Load()), [], []) if copied else value
                self.pre.append(gast.Assign([T.store(held)], value, None))
                items[k] = T.name(held)
        start = Length(len(items)) if items is not None else length_of(T.expr(f"len({first})"))
        whole = exact if exact is not None and self.stable(exact) else None
        limit = most if most is not None and self.stable(most) else None
        room = name if whole is not None else self.fresh(f"{name}_room")
        t = self.fixed[name]
        assert isinstance(t, Array)
        shape = [] if t.ndim == 1 else self.row_shape(s, name, items if items is not None else [], grows, t)
        if whole is not None or limit is not None:
            size = start.plus(whole if whole is not None else limit or Length())
        else:
            size = start.plus(Length(ROOM))
        self.fixed[room] = t
        self.pre.append(gast.Assign([T.store(room)], _empty(t, [size.tree(), *shape]), None))
        if items is not None:
            for k, e in enumerate(items):
                self.rows.stored(s, e, name)
                self.pre.append(self.put(room, T.const(k), e, t))
        elif first is not None:
            self.pre.append(gast.Assign([T.expr(f"{room}[:len({first})]")], T.name(first), None))
            self.pre[-1].targets[0].ctx = gast.Store()
        counter = "" if whole is not None else self.fresh(f"{name}_len")
        least = 0 if pops or items is None else len(items)
        if counter:
            self.pre.append(gast.Assign([T.store(counter)], start.tree(), None))
            self.open[name] = Growing(room, length_of(T.name(counter)), least, counter, limit is not None)
        else:
            self.lengths[name] = size
            self.open[name] = Growing(room, start, least)
        return self.pre

    def end(self, name: str) -> list[gast.stmt]:
        """The list grows no more: an array of its length."""
        g = self.open.pop(name)
        if not g.counter:
            return []
        value = T.expr(f"{g.room}[:{g.counter}]")
        if not g.bounded:
            value = gast.Call(gast.Attribute(value, "copy", gast.Load()), [], [])
        return [gast.Assign([T.store(name)], value, None)]

    def added(self, body: Iterable[gast.stmt], name: str, most: bool) -> Length | None:
        """How much longer statements make a list; if `most`, at most."""
        total = Length()
        for s in body:
            if changed(s) == name:
                more = self.more(s)
                if more is None:
                    return None
                if not (most and more.constant < 0):
                    total = total.plus(more)
                continue
            if not self.grows_in(s, name):
                continue
            parts = [self.added(b, name, most) for b in (s.body, getattr(s, "orelse", []))]
            if any(p is None for p in parts) or isinstance(s, gast.While):
                return None
            a, b = (p or Length() for p in parts)
            if isinstance(s, gast.For) and not most and any(isinstance(x, gast.Break) for x in gast.walk(s)):
                return None
            if isinstance(s, gast.If):
                gap = a.plus(b, -1)
                if gap.terms or gap.constant and not most:
                    return None
                total = total.plus(a if gap.constant > 0 else b)
            elif a.terms:
                if isinstance(s, gast.For) and not {s.target.id} & {n for t, _ in a.terms.values() for n in T.loads(t)}:
                    total = total.plus(length_of(gast.BinOp(trips(s.iter).tree(), gast.Mult(), a.tree())))
                else:
                    return None
            else:
                total = total.plus(trips(s.iter).times(a.constant))
        return total

    def more(self, s: gast.stmt) -> Length | None:
        """How much longer one statement makes a list."""
        value = s.value
        if isinstance(s, gast.AugAssign):
            return self.size_of(value)
        if value.func.attr == "extend":
            return self.size_of(value.args[0])
        return Length(1 if value.func.attr == "append" else -1)

    def size_of(self, e: gast.expr) -> Length | None:
        """The length of a sequence, if it is known by its form."""
        if isinstance(e, (gast.List, gast.Tuple)):
            return Length(len(e.elts))
        if isinstance(e, gast.Name) and is_array(self.names.get(e.id)):
            return length_of(T.expr(f"len({e.id})"))
        return self.lengths.get(e.id) if isinstance(e, gast.Name) and self.count.get(e.id) == 1 else None

    def stable(self, length: Length) -> bool:
        """Whether an expression can be evaluated here, with the value that it will have."""
        return all(self.stable_tree(t) for t, _ in length.terms.values())

    def stable_tree(self, e: gast.expr) -> bool:
        return all(n in self.sure and self.count.get(n, 0) <= (0 if n in self.function.params else 1) and n not in self.open for n in T.loads(e))

    # -- rows --------------------------------------------------------------------------------------

    def row_shape(self, s: gast.stmt, name: str, items: list[gast.expr], grows: list[gast.stmt], t: Array) -> list[gast.expr]:
        """The shape of the rows of a list, from the first value that says it here."""
        values = [*items, *(e for g in K.walk(grows) if changed(g) == name for e in self.new_items(g))]
        for e in values:
            shape = self.shape(e, t.ndim - 1)
            if shape is not None:
                return shape
        if items:
            first = self.fresh("row")
            self.rows.stored(s, items[0], name)
            self.fixed[first] = Array(t.dtype, t.ndim - 1, "A" if isinstance(self.type(items[0]), Array) else "C", frozenset(), t.weak)
            self.pre.append(gast.Assign([T.store(first)], self.item(items[0], t), None))
            items[0] = T.name(first)
            return [T.expr(f"{first}.shape[{k}]") for k in range(t.ndim - 1)]
        return self.refuse(s, f"How long the rows of `{name}` are is not known before it is filled",  # type: ignore[no-any-return]
                           f"{name} = np.empty((n, m))\nfor k in range(n):\n    {name}[k] = ...")

    def new_items(self, s: gast.stmt) -> list[gast.expr]:
        value = s.value
        if isinstance(s, gast.AugAssign):
            return value.elts if isinstance(value, gast.List) else []
        if value.func.attr == "append":
            return list(value.args)
        return value.args[0].elts if value.args and isinstance(value.args[0], (gast.List, gast.Tuple)) else []

    def shape(self, e: gast.expr, ndim: int, depth: int = 0) -> list[gast.expr] | None:
        """The shape that a row will have, as expressions that can be evaluated here."""
        if depth > 8:
            return None
        if isinstance(e, (gast.List, gast.Tuple)):
            inner = self.shape(e.elts[0], ndim - 1, depth + 1) if ndim > 1 and e.elts else []
            return None if inner is None else [T.const(len(e.elts)), *inner]
        if isinstance(e, gast.Name):
            if e.id in self.open:
                return None
            if e.id in self.sure and (is_array(self.names.get(e.id)) or self.is_list(e.id)):
                return [T.expr(f"{e.id}.shape[{k}]") for k in range(ndim)]
            if self.is_list(e.id) and ndim == 1 and self.count.get(e.id) == 1:
                return self.made_length(e.id)
            return self.shape(self.values[e.id], ndim, depth + 1) if self.count.get(e.id) == 1 and e.id in self.values else None
        if isinstance(e, gast.Call):
            return self.call_shape(e, ndim, depth)
        if isinstance(e, gast.Subscript) and isinstance(e.value, gast.Name) and e.value.id in self.sure:
            return self.part_shape(e, ndim)
        if isinstance(e, gast.BinOp) and isinstance(e.op, gast.MatMult):
            left = self.names.get(e.left.id) if isinstance(e.left, gast.Name) else None
            if isinstance(left, Array) and left.ndim == 2 and ndim == 1 and e.left.id in self.sure:
                return [T.expr(f"{e.left.id}.shape[0]")]
            return None
        if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Mult) and list_of(e, self.names) is not None:
            times = e.right if isinstance(e.left, gast.List) else e.left
            many = e.left if isinstance(e.left, gast.List) else e.right
            fits = ndim == 1 and isinstance(many, gast.List) and len(many.elts) == 1 and self.stable_tree(times)
            return [trips(gast.Call(T.name("range"), [times], [])).tree()] if fits else None
        if isinstance(e, (gast.BinOp, gast.UnaryOp)):
            return self.any_shape([c for c in gast.iter_child_nodes(e) if isinstance(c, gast.expr)], ndim, depth)
        return None

    def made_length(self, n: str) -> list[gast.expr] | None:
        """The length of a list that is made further down, from how it will be."""
        for block in _all_blocks(self.function.body):
            for k, s in enumerate(block):
                if self.begun(s) == n and isinstance(s, gast.Assign):
                    if not isinstance(s.value, gast.List):
                        return self.shape(s.value, 1, 1)
                    grows = self.growth(block, k, n)
                    more = self.added([block[g] for g in grows], n, False)
                    if more is not None and self.stable(more):
                        return [more.plus(Length(len(s.value.elts))).tree()]
        return None

    def any_shape(self, parts: list[gast.expr], ndim: int, depth: int) -> list[gast.expr] | None:
        """The shape of the first operand with all axes; the others broadcast to it or are like it (which is checked when it is stored)."""
        for e in parts:
            t = self.type(e)
            if isinstance(t, Array) and t.ndim == ndim and not t.ones:
                found = self.shape(e, ndim, depth + 1)
                if found is not None:
                    return found
        return None

    def call_shape(self, e: gast.Call, ndim: int, depth: int) -> list[gast.expr] | None:
        name = T.dotted(e.func) or ""
        if isinstance(e.func, gast.Attribute) and e.func.attr in ("copy", "astype") and not name.startswith("np."):
            return self.shape(e.func.value, ndim, depth + 1)
        if name in ("np.array", "np.asarray", "np.copy", "np.zeros_like", "np.empty_like", "np.ones_like", "sorted", "list"):
            return self.shape(e.args[0], ndim, depth + 1)
        if name in ("np.zeros", "np.empty", "np.ones", "np.full") and e.args:
            shape = e.args[0]
            if isinstance(shape, gast.Attribute):
                return self.shape(shape.value, ndim, depth + 1)
            dims = list(shape.elts) if isinstance(shape, gast.Tuple) else [shape]
            return dims if all(self.stable_tree(d) for d in dims) else None
        if name.startswith("np."):
            return self.any_shape(list(e.args), ndim, depth)
        return None

    def part_shape(self, e: gast.Subscript, ndim: int) -> list[gast.expr] | None:
        """The shape of `A[i]` or `A[:, j]`."""
        t = self.names.get(e.value.id)
        index = K.indices(e)
        if not isinstance(t, Array) or any(isinstance(i, gast.Constant) and i.value in (None, Ellipsis) for i in index):
            return None
        whole = [isinstance(i, gast.Slice) and i.lower is None and i.upper is None and i.step is None for i in index]
        if any(isinstance(i, gast.Slice) and not w for i, w in zip(index, whole, strict=True)):
            fits = self.stable_tree(e) and getattr(self.quiet_type(e), "ndim", 0) == ndim
            return [T.expr(f"e.shape[{k}]", e=e) for k in range(ndim)] if fits else None
        left = [k for k in range(t.ndim) if k >= len(index) or whole[k]]
        return [T.expr(f"{e.value.id}.shape[{k}]") for k in left] if len(left) == ndim else None

    # -- statements --------------------------------------------------------------------------------

    def statement(self, s: gast.stmt) -> list[gast.stmt]:
        """The statements that stand for one."""
        if isinstance(s, gast.If):
            head = self.head(lambda: self.truth(s.test))
            start = {n: (g.now, g.least) for n, g in self.open.items()}
            body = self.block(s.body)
            after = {n: (g.now, g.least) for n, g in self.open.items()}
            self.back(start)
            orelse = self.block(s.orelse)
            for n, g in self.open.items():
                g.least = min(g.least, after[n][1])
            return [*head[0], T.at(gast.If(head[1], body or [gast.Pass()], orelse), s)]
        if isinstance(s, gast.For):
            return self.loop(s)
        if isinstance(s, gast.While):
            pre, test = self.head(lambda: self.truth(s.test))
            if pre:
                self.refuse(s.test, "The test of a `while` reads a list that grows in it",
                            "going = True\nwhile going:\n    ...\n    going = xs[-1] > 0.0")
            self.in_while += 1
            self.forget(s)
            before = {n: g.least for n, g in self.open.items()}
            body = self.block(s.body)
            for n, g in self.open.items():
                g.least = before[n]
            self.in_while -= 1
            return [T.at(gast.While(test, body, []), s)]
        self.pre, self.views = [], {}
        new = self.simple(s)
        return T.at([*self.pre, *new], s)  # type: ignore[no-any-return]

    def head(self, make: Any) -> tuple[list[gast.stmt], gast.expr]:
        """What has to be done before a compound statement, and the expression in its head."""
        self.pre, self.views = [], {}
        value = make()
        return T.at(self.pre, self.at), value

    def forget(self, loop: gast.stmt) -> None:
        """What a loop takes from a list, an earlier trip may have taken."""
        for n, g in self.open.items():
            if _pops(loop, n):
                g.least = 0

    def back(self, state: Mapping[str, tuple[Length, int]]) -> None:
        for n, (now, least) in state.items():
            self.open[n].now, self.open[n].least = now, least

    def loop(self, s: gast.For) -> list[gast.stmt]:
        pre, bounds = self.head(lambda: self.expr(s.iter))
        self.forget(s)
        grows = {n: self.added(s.body, n, False) for n, g in self.open.items() if not g.counter and self.grows_in(s, n)}
        before = {n: (g.now, g.least) for n, g in self.open.items()}
        for n, d in grows.items():
            assert d is not None
            done = trip(s)
            self.open[n].now = before[n][0].plus(done.times(d.constant) if not d.terms else length_of(
                gast.BinOp(done.tree(), gast.Mult(), d.tree())))
        start = bounds.args[0] if len(bounds.args) > 1 else T.const(0)
        up = len(bounds.args) < 3 or isinstance(bounds.args[2], gast.Constant)
        self.starts[s.target.id] = start.value if up and isinstance(start, gast.Constant) and type(start.value) is int else None
        self.sure.add(s.target.id)
        body = self.block(s.body)
        self.sure.discard(s.target.id)
        del self.starts[s.target.id]
        for n, g in self.open.items():
            g.now, g.least = before[n]
            if n in grows:
                d = grows[n] or Length()
                total = trips(s.iter)
                g.now = g.now.plus(total.times(d.constant) if not d.terms else length_of(gast.BinOp(total.tree(), gast.Mult(), d.tree())))
        return [*pre, T.at(gast.For(s.target, bounds, body or [gast.Pass()], [], None), s)]

    def simple(self, s: gast.stmt) -> list[gast.stmt]:
        name = changed(s)
        if name is not None and self.is_list(name):
            return self.change(s, name)
        if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call) and isinstance(s.value.func, gast.Attribute):
            if s.value.func.attr in ("sort", "reverse") and isinstance(s.value.func.value, gast.Name):
                return self.reorder(s.value)
        if isinstance(s, gast.Assign):
            return [self.assign(s)]
        new = copy.copy(s)
        if isinstance(s, gast.AugAssign):
            new.target = self.target(s.target)
            new.value = self.expr(s.value)
        elif isinstance(s, (gast.Return, gast.Expr)) and s.value is not None:
            if isinstance(s, gast.Return) and isinstance(self.type(s.value), List):
                self.refuse(s, "A list is returned", "return np.array(xs)")
            new.value = self.expr(s.value)
        elif isinstance(s, gast.Raise):
            return [s]
        return [new]

    def assign(self, s: gast.Assign) -> gast.stmt:
        target, = s.targets
        if isinstance(target, gast.Tuple):
            return gast.Assign([target], self.expr(s.value), None)
        if isinstance(target, gast.Name):
            if self.is_list(target.id):
                return gast.Assign([target], self.whole(s.value, target.id), None)
            value = self.expr(s.value)
            if isinstance(s.value, gast.Subscript) and isinstance(self.names[target.id], Array) and self.type(s.value.value) != self.names[target.id]:
                value = self.rows.read(s, value)
            return gast.Assign([target], value, None)
        if isinstance(target.value, gast.Name) and self.is_list(target.value.id):
            t = self.fixed[target.value.id]
            assert isinstance(t, Array)
            self.rows.stored(s, s.value, target.value.id)
            value = self.item(s.value, t)
            return gast.Assign([self.target(target)], value, None)
        return gast.Assign([self.target(target)], self.expr(s.value), None)

    def whole(self, e: gast.expr, name: str) -> gast.expr:
        """A value that becomes a list of its own, or another name for one."""
        t = self.fixed[name]
        if isinstance(e, gast.Name):
            if e.id in self.open:
                self.refuse(self.at, f"`{name}` and `{e.id}` are one list, and it changes its length", f"{name} = list({e.id})")
            if (self.starts or self.in_while) and not self.rows.is_written(name):
                return T.expr(f"{e.id}.copy()")  # nothing tells them apart, and arrays of their own are easier to follow
            return e
        if isinstance(e, gast.Subscript) and not isinstance(e.slice, gast.Slice):
            return self.rows.read(self.at, self.expr(e))
        for item in e.elts if isinstance(e, gast.List) else []:
            self.rows.stored(self.at, item, name)
        value = self.array(e, t)
        size = self.size_of(e)
        if size is not None:
            self.lengths[name] = size
        if isinstance(e, gast.Subscript) or isinstance(value, gast.Name):
            return gast.Call(gast.Attribute(value, "copy", gast.Load()), [], [])
        return value

    def change(self, s: gast.stmt, name: str) -> list[gast.stmt]:
        """A list gets longer or shorter."""
        g = self.open.get(name)
        if g is None:
            self.refuse(s, f"The list `{name}` changes its length here, and it is not begun in a block around this",
                        f"{name} = []\nbefore the loops around")
        assert g is not None
        t = self.fixed[name]
        assert isinstance(t, Array)
        value = s.value
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "pop":
            return self.pop(s, g)
        if isinstance(s, gast.Expr) and value.func.attr == "append":
            self.rows.stored(s, value.args[0], name)
            return self.append(name, g, value.args[0], t)
        more = value if isinstance(s, gast.AugAssign) else value.args[0]
        if isinstance(more, (gast.List, gast.Tuple)):
            out: list[gast.stmt] = []
            for e in more.elts:
                self.rows.stored(s, e, name)
                out += self.append(name, g, e, t)
            return out
        return self.extend(name, g, more, t)

    def append(self, name: str, g: Growing, e: gast.expr, t: Array) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        value = self.item(e, t)
        if not g.bounded:
            out += T.stmts(f"if {g.counter} == len({g.room}):\n    {g.room} = np.concatenate(({g.room}, np.empty_like({g.room})))")
        if t.ndim > 1 and not self.fits(e):
            out.append(self.check_row(g.room, value))
        slot = gast.Subscript(T.name(g.room), g.now.tree(), gast.Store())
        out.append(gast.Assign([slot], value, None))
        g.least += 1
        if g.counter:
            out += T.stmts(f"{g.counter} += 1")
        else:
            g.now = g.now.plus(Length(1))
        return out

    def fits(self, e: gast.expr) -> bool:
        """Whether the rows of a list are surely as long as this one, because it is the only one and says it."""
        base = e.func.value if isinstance(e, gast.Call) and isinstance(e.func, gast.Attribute) and e.func.attr == "copy" else e
        return isinstance(base, gast.Name) and self.stable_tree(base)

    def check_row(self, room: str, value: gast.expr) -> gast.stmt:
        """An error where a row has another shape than the others: Python's list could hold it, an array cannot."""
        if not isinstance(value, gast.Name):
            name = self.fresh("row")
            self.pre.append(gast.Assign([T.store(name)], copy.deepcopy(value), None))
            vars(value).clear()
            value.__class__ = gast.Name
            value.__dict__.update(vars(T.name(name)))
        text = f"if row.shape != {room}.shape[1:]:\n    raise ValueError('the rows of a list differ in shape')"
        return T.stmts(text, row=T.name(value.id))[0]

    def extend(self, name: str, g: Growing, more: gast.expr, t: Array) -> list[gast.stmt]:
        """All that a sequence holds is appended."""
        values = self.array(more, t) if isinstance(self.type(more), List) else self.expr(more)
        if not isinstance(values, gast.Name):
            kept = self.fresh(f"{name}_more")
            self.fixed[kept] = t
            self.pre.append(gast.Assign([T.store(kept)], values, None))
            values = T.name(kept)
        count = T.expr("len(v)", v=values)
        out: list[gast.stmt] = []
        if not g.bounded:
            text = f"while {g.counter} + len(v) > len({g.room}):\n    {g.room} = np.concatenate(({g.room}, np.empty_like({g.room})))"
            out += T.stmts(text, v=values)
        end = g.now.plus(length_of(count))
        place = gast.Subscript(T.name(g.room), gast.Slice(g.now.tree(), end.tree(), None), gast.Store())
        out.append(gast.Assign([place], values, None))
        if g.counter:
            out += T.stmts(f"{g.counter} += n", n=count)
        else:
            g.now = end
        return out

    def pop(self, s: gast.stmt, g: Growing) -> list[gast.stmt]:
        out = T.stmts(f"if {g.counter} == 0:\n    raise IndexError('pop from empty list')\n{g.counter} -= 1")
        g.least = max(0, g.least - 1)
        if isinstance(s, gast.Assign):
            value = T.expr(f"{g.room}[{g.counter}]")
            if isinstance(self.names.get(s.targets[0].id), (Array, List)):
                value = gast.Call(gast.Attribute(value, "copy", gast.Load()), [], [])
            out.append(gast.Assign([s.targets[0]], value, None))
        return out

    def reorder(self, call: gast.Call) -> list[gast.stmt]:
        """`xs.sort()` and `xs.reverse()`."""
        name = call.func.value.id
        g = self.open.get(name)
        here = T.name(name) if g is None else gast.Subscript(T.name(g.room), gast.Slice(None, g.now.tree(), None), gast.Load())
        what = T.expr("np.sort(x)", x=here) if call.func.attr == "sort" else T.expr("x[::-1].copy()", x=here)
        if not self.is_list(name):
            self.refuse(call, f"`.{call.func.attr}()` of an array", f"{name}[:] = np.sort({name})")
        whole = gast.Slice(None, None if g is None else g.now.tree(), None)
        return [gast.Assign([gast.Subscript(T.name(name if g is None else g.room), whole, gast.Store())], what, None)]

    # -- expressions -------------------------------------------------------------------------------

    def put(self, room: str, index: gast.expr, e: gast.expr, t: Array) -> gast.stmt:
        return gast.Assign([gast.Subscript(T.name(room), index, gast.Store())], self.item(e, t), None)

    def item(self, e: gast.expr, t: Array) -> gast.expr:
        """A value as an item of a list that an array of type `t` stands for."""
        if t.ndim == 1:
            if isinstance(e, gast.Constant) and e.value is None:
                return T.expr("np.nan")
            return self.expr(e)
        if isinstance(e, gast.Tuple):
            e = gast.List(e.elts, gast.Load())
        if isinstance(e, gast.Call) and isinstance(e.func, gast.Attribute) and e.func.attr == "copy" and isinstance(e.func.value, gast.Name):
            e = e.func.value  # storing copies
        if isinstance(self.quiet_type(e), List):
            return self.array(e, Array(t.dtype, t.ndim - 1, "C", frozenset(), t.weak))
        return self.expr(e)

    def array(self, e: gast.expr, t: Type) -> gast.expr:
        """A list as an expression of an array of type `t`."""
        assert isinstance(t, Array)
        own = as_array(self.type(e))
        if isinstance(e, gast.List):
            return self.display(e, t)
        if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Add):
            return T.expr("np.concatenate((a, b))", a=self.array(e.left, t), b=self.array(e.right, t))
        if isinstance(e, gast.BinOp):
            return self.repeated(e, t)
        if isinstance(e, gast.Call) and T.dotted(e.func) in ("sorted", "list"):
            value = self.converted(e, t)
        else:
            value = self.expr(e)
        if own is not None and own.dtype != t.dtype:
            return T.expr(f"x.astype(np.{t.dtype})", x=value)
        return value

    def converted(self, e: gast.Call, t: Array) -> gast.expr:
        """`list(x)`, `sorted(x)`."""
        if not e.args:
            return _empty(t, [T.const(0)])
        arg = e.args[0]
        if isinstance(arg, gast.Call) and T.dotted(arg.func) == "range":
            values = gast.Call(T.expr("np.arange"), [self.expr(a) for a in arg.args], [])
        elif isinstance(self.type(arg), Tuple):
            parts = arg.elts if isinstance(arg, gast.Tuple) else self.refuse(e, "A list of a tuple", "[t[0], t[1]]")
            values = self.display(gast.List(parts, gast.Load()), t)
        else:
            values = self.array(arg, t) if isinstance(self.type(arg), List) else self.expr(arg)
        if T.dotted(e.func) == "sorted":
            if t.ndim != 1:
                self.refuse(e, "A list of rows is sorted", "rows[np.argsort(keys)]")
            down = e.keywords and e.keywords[0].value.value
            return T.expr("-np.sort(-x)" if down else "np.sort(x)", x=values)
        fresh = isinstance(values, gast.Call)
        return values if fresh else T.expr("x.copy()", x=values)

    def display(self, e: gast.List, t: Array) -> gast.expr:
        if not e.elts:
            if t.ndim > 1:
                self.refuse(self.at, "How long the rows of an empty list are is not known", "np.empty((0, m))")
            return _empty(t, [T.const(0)])
        if t.ndim == 1:
            items = [self.as_dtype(self.item(x, t), t.dtype) for x in e.elts]
            return gast.Call(T.expr("np.array"), [gast.List(items, gast.Load())], [])
        inner = Array(t.dtype, t.ndim - 1, "C", frozenset(), t.weak)
        rows = [gast.List(x.elts, gast.Load()) if isinstance(x, gast.Tuple) else x for x in e.elts]
        if all(isinstance(x, gast.List) for x in rows) and t.ndim == 2:
            if len({len(x.elts) for x in rows}) > 1:
                self.refuse(self.at, "The rows of a list differ in length", "an array padded with zeros, and the lengths in another one")
            items = [gast.List([self.as_dtype(self.expr(v), t.dtype) for v in x.elts], gast.Load()) for x in rows]
            return gast.Call(T.expr("np.array"), [gast.List(items, gast.Load())], [])
        return gast.Call(T.expr("np.stack"), [gast.Tuple([self.item(x, Array(t.dtype, t.ndim, weak=inner.weak)) for x in rows], gast.Load())], [])

    def as_dtype(self, e: gast.expr, dtype: str) -> gast.expr:
        """A number of a list in the list's dtype."""
        if isinstance(e, gast.Constant) and dtype.startswith("float") and type(e.value) is int:
            return T.const(float(e.value))
        try:
            t = type_of(e, {**self.names, **self.fixed})
        except K.TypeProblem:
            return e
        if isinstance(t, Scalar) and t.dtype != dtype and dtype.startswith("float"):
            return T.expr("float(x)" if dtype == "float64" else f"np.{dtype}(x)", x=e)
        return e

    def repeated(self, e: gast.BinOp, t: Array) -> gast.expr:
        """`[c] * n`."""
        many, times = (e.left, e.right) if isinstance(self.type(e.left), List) else (e.right, e.left)
        if not isinstance(many, gast.List) or len(many.elts) != 1:
            self.refuse(self.at, "A list of several items is repeated", "np.tile(np.array([a, b]), n)")
        if t.ndim > 1:
            self.refuse(self.at, "A list holds one row many times", "[[0.0] * m for _ in range(n)]", "A change of one of them changes all of them.")
        count = trips(gast.Call(T.name("range"), [self.expr(times)], [])).tree()
        value = self.as_dtype(self.item(many.elts[0], t), t.dtype)
        if isinstance(value, gast.Constant) and value.value == 0.0 and t.dtype == "float64" and str(value.value) != "-0.0":
            return gast.Call(T.expr("np.zeros"), [count], [])
        if t.dtype == "float32":
            value = T.expr("np.float32(x)", x=value)
        return gast.Call(T.expr("np.full"), [count, value], [])

    def truth(self, e: gast.expr) -> gast.expr:
        """A test; a list is true if it is not empty."""
        if isinstance(e, gast.UnaryOp) and isinstance(e.op, gast.Not):
            return gast.UnaryOp(gast.Not(), self.truth(e.operand))
        if isinstance(e, gast.BoolOp):
            return gast.BoolOp(e.op, [self.truth(v) for v in e.values])
        if isinstance(e, gast.Name) and self.is_list(e.id):
            return gast.Compare(self.length(e.id), [gast.Gt()], [T.const(0)])
        return self.expr(e)

    def length(self, n: str) -> gast.expr:
        g = self.open.get(n)
        return T.expr(f"len({n})") if g is None else g.now.tree()

    def expr(self, e: gast.expr) -> gast.expr:
        """An expression without lists."""
        if isinstance(e, gast.Name):
            return self.view(e) if isinstance(e.ctx, gast.Load) and e.id in self.open else e
        if isinstance(e, gast.Subscript):
            return self.subscript(e)
        if isinstance(e, gast.Call):
            return self.call(e)
        if isinstance(e, gast.BinOp) and isinstance(self.quiet_type(e), List):
            t = as_array(self.type(e))
            return self.array(e, t) if t is not None else self.refuse(e, "This list", "an array")
        if isinstance(e, gast.Compare) and any(isinstance(self.quiet_type(x), List) for x in (e.left, *e.comparators)):
            self.refuse(self.at, "Lists are compared", "np.all(np.array(a) == np.array(b))")
        if isinstance(e, gast.Attribute) and isinstance(e.value, gast.Name) and self.is_list(e.value.id):
            self.refuse(self.at, f"A list has no attribute `{e.attr}`", "len(xs)")
        return self.children(e)

    def quiet_type(self, e: gast.expr) -> Type | None:
        try:
            return self.type(e)
        except K.TypeProblem:
            return None

    def children(self, e: gast.expr) -> gast.expr:
        new = copy.copy(e)
        for f, value in gast.iter_fields(e):
            if f == "func":
                continue
            if isinstance(value, gast.expr):
                setattr(new, f, self.expr(value))
            elif isinstance(value, list):
                setattr(new, f, [self.expr(v) if isinstance(v, gast.expr) else v for v in value])
        return new

    def call(self, e: gast.Call) -> gast.expr:
        name = T.dotted(e.func) or ""
        arg = e.args[0] if e.args else None
        if name == "len" and isinstance(arg, gast.Name) and self.is_list(arg.id):
            return self.length(arg.id)
        if name in ("sorted", "list"):
            t = as_array(self.type(e))
            return self.array(e, t) if t is not None else self.refuse(e, "A list of unknown items", "np.array(xs)")
        new = self.children(e)
        assert isinstance(new, gast.Call)
        if isinstance(e.func, gast.Attribute) and not name.startswith(("np.", "math.")):
            new.func = gast.Attribute(self.expr(e.func.value), e.func.attr, gast.Load())
        new.keywords = [gast.keyword(k.arg, self.expr(k.value)) for k in e.keywords]
        if arg is not None and K.joined_rows(name, e, self.names) is not None:
            return self.joined(name, new.args[0], self.type(arg))
        if name == "sum" and arg is not None and isinstance(self.type(arg), List) and isinstance(self.type(arg).item, (Array, List)):  # type: ignore[union-attr]
            return T.expr("np.sum(x, axis=0)", x=new.args[0])
        for k, a in enumerate(e.args):
            if isinstance(a, gast.List) and not name.startswith("np.") and isinstance(self.quiet_type(a), Tuple):
                t = as_array(list_of(a, self.names))
                assert t is not None
                new.args[k] = self.array(a, t)
        return new

    def joined(self, name: str, rows: gast.expr, t: Type) -> gast.expr:
        """`np.concatenate(xs)` and kin of a list of rows."""
        ndim = (as_array(t) or Array("float64", 2)).ndim
        if name == "np.stack" or name == "np.vstack" and ndim == 2:
            return T.expr("np.array(x)", x=rows)
        if ndim == 2:
            return T.expr("np.ravel(np.array(x))", x=rows)
        lengths = [T.expr(f"x.shape[{k}]", x=rows) for k in range(2, ndim)]
        first = T.expr("x.shape[0] * x.shape[1]", x=rows)
        return T.expr("np.reshape(np.array(x), s)", x=rows, s=gast.Tuple([first, *lengths], gast.Load()))

    def target(self, e: gast.expr) -> gast.expr:
        """A target of an assignment."""
        if isinstance(e, gast.Subscript):
            new = self.subscript(e)
            assert isinstance(new, gast.Subscript)
            new.ctx = gast.Store()
            return new
        return e

    def subscript(self, e: gast.Subscript) -> gast.expr:
        """A subscript; `xs[i][j]` of rows is `xs[i, j]`."""
        base = e.value
        if isinstance(base, gast.Subscript) and isinstance(self.quiet_type(base.value), List) and not isinstance(base.slice, gast.Slice):
            inner = self.subscript(base)
            if isinstance(inner, gast.Subscript):
                first = list(inner.slice.elts) if isinstance(inner.slice, gast.Tuple) else [inner.slice]
                second = [self.index(i) for i in K.indices(e)]
                return gast.Subscript(inner.value, gast.Tuple([*first, *second], gast.Load()), gast.Load())
        if isinstance(base, gast.Name) and base.id in self.open:
            direct = self.direct(self.open[base.id], e)
            if direct is not None:
                return direct
        slices = [self.index(i) for i in K.indices(e)] if isinstance(e.slice, gast.Tuple) else None
        index = gast.Tuple(slices, gast.Load()) if slices is not None else self.index(e.slice)
        return gast.Subscript(self.expr(base), index, gast.Load())

    def index(self, e: gast.expr) -> gast.expr:
        if isinstance(e, gast.Slice):
            return gast.Slice(*(None if p is None else self.expr(p) for p in (e.lower, e.upper, e.step)))
        return self.expr(e)

    def direct(self, g: Growing, e: gast.Subscript) -> gast.expr | None:
        """An item of a growing list; None for a slice. Where it is not known to be in range, `place` looks."""
        if isinstance(e.slice, gast.Slice):
            return None
        k = K.literal(e.slice)
        if type(k) is int:
            if -g.least <= k < 0:
                return gast.Subscript(T.name(g.room), g.now.plus(Length(-k), -1).tree(), gast.Load())
            if 0 <= k < g.least:
                return gast.Subscript(T.name(g.room), T.const(k), gast.Load())
        index = length_of(self.expr(e.slice))
        gap = g.now.plus(index, -1)
        low: int | None = index.constant
        for tree, times in index.terms.values():
            start = self.starts.get(tree.id) if isinstance(tree, gast.Name) and self.count.get(tree.id) == 1 else None
            low = None if low is None or start is None or times < 0 else low + start * times
        if not gap.terms and gap.constant > 0 and low is not None and low >= 0:
            return gast.Subscript(T.name(g.room), index.tree(), gast.Load())
        at = gast.Call(T.name("place"), [self.expr(e.slice), g.now.tree()], [])
        return gast.Subscript(T.name(g.room), at, gast.Load())

    def view(self, e: gast.Name) -> gast.expr:
        """What a growing list holds now, under a name."""
        if e.id not in self.views:
            g = self.open[e.id]
            self.views[e.id] = self.fresh(f"{e.id}_now")
            self.fixed[self.views[e.id]] = self.fixed[e.id]
            value: gast.expr = gast.Subscript(T.name(g.room), gast.Slice(None, g.now.tree(), None), gast.Load())
            if not g.bounded:  # a larger array may take the room's name
                value = gast.Call(gast.Attribute(value, "copy", gast.Load()), [], [])
            self.pre.append(gast.Assign([T.store(self.views[e.id])], value, None))
        return T.name(self.views[e.id])


# --- rows that are shared ---------------------------------------------------------------


class _Rows:
    """Which rows could be changed while a list holds them."""

    def __init__(self, lists: _Lists):
        self.lists = lists
        names = lists.names
        self.parent: dict[str, str] = {}
        self.written: set[str] = set()
        self.replaced: set[str] = set()  # lists of rows into which rows are stored
        for s in K.walk(lists.function.body):
            self.written |= changed_by(s, names)
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                base = self.base(s.value)
                if base is not None and isinstance(names.get(s.targets[0].id), (Array, List)) and self.find(s.targets[0].id) != self.find(base):
                    self.parent[self.find(s.targets[0].id)] = self.find(base)
            target = s.targets[0] if isinstance(s, gast.Assign) else s.target if isinstance(s, gast.AugAssign) else None
            if isinstance(target, gast.Subscript):
                base = T.base_name(target)
                t = names.get(base)
                deep = isinstance(target.value, gast.Subscript) or not (isinstance(t, List) and isinstance(t.item, (Array, List)))
                (self.written if deep else self.replaced).add(base)
            elif isinstance(s, gast.AugAssign) and isinstance(names.get(T.base_name(s.target)), Array):
                self.written.add(T.base_name(s.target))
            call = getattr(s, "value", None)
            if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and call.func.attr in ("pop", "sort", "reverse"):
                if isinstance(call.func.value, gast.Name):
                    self.replaced.add(call.func.value.id)
                    if call.func.attr != "pop":
                        self.written.add(call.func.value.id)

    def find(self, n: str) -> str:
        while n in self.parent:
            n = self.parent[n]
        return n

    def base(self, e: gast.expr) -> str | None:
        """The name whose memory an array or list may share; None for a fresh one."""
        while True:
            if isinstance(e, gast.Subscript):
                if isinstance(self.lists.quiet_type(e), Scalar):
                    return None
                e = e.value
            elif isinstance(e, gast.Attribute) and e.attr == "T":
                e = e.value
            elif isinstance(e, gast.Call) and T.dotted(e.func) in VIEWS and e.args:
                e = e.args[0]
            else:
                return str(e.id) if isinstance(e, gast.Name) else None

    def is_written(self, n: str) -> bool:
        root = self.find(n)
        return any(self.find(w) == root for w in self.written)

    def stored(self, s: gast.AST, value: gast.expr, name: str) -> None:
        """A value becomes an item of a list: refuse it if the two could be changed through each other."""
        t = self.lists.quiet_type(value)
        base = self.base(value)
        if base is None or not isinstance(t, (Array, List)):
            return
        if isinstance(value, gast.Name) and self.moved(value.id):
            return
        if self.is_written(base) or self.is_written(name) or (self.lists.is_list(base) and base in self.lists.open):
            shown = f"{value.id}.copy()" if isinstance(value, gast.Name) else "row.copy()"
            self.lists.refuse(s, f"The list holds what `{base}` names, and one of the two is changed in place", f"{name}.append({shown})")

    def moved(self, n: str) -> bool:
        """Whether a row is made, filled, and not used any more once a list has it: all in one block."""
        uses = sum(isinstance(x, gast.Name) and x.id == n for s in self.lists.function.body for x in gast.walk(s))
        if sum(self.find(m) == self.find(n) for m in {*self.parent, n}) > 1 or n in self.lists.function.params:
            return False
        for block in _all_blocks(self.lists.function.body):
            makes = [k for k, s in enumerate(block) if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and s.targets[0].id == n]
            if not makes or self.base(block[makes[0]].value) is not None:
                continue
            inside = [sum(isinstance(x, gast.Name) and x.id == n for x in gast.walk(s)) for s in block]
            last = max(k for k, c in enumerate(inside) if c)
            only = isinstance(block[last], gast.Expr) or isinstance(block[last], gast.Assign)
            return len(makes) == 1 and sum(inside) == uses and inside[last] == 1 and only and makes[0] == min(k for k, c in enumerate(inside) if c)
        return False

    def read(self, s: gast.AST, value: gast.expr) -> gast.expr:
        """A row of a list gets a name: a view, or a copy where the list may get another row in its place."""
        base = self.base(value)
        if base is None or not (self.lists.is_list(base) or base in self.lists.fixed):
            return value
        holders = {**{g.room: n for n, g in self.lists.open.items()}, **{v: n for n, v in self.lists.views.items()}}
        original = holders.get(base, base)
        growing = self.lists.open.get(original)
        if original in self.replaced or growing is not None and not growing.bounded:
            if self.is_written(original):
                self.lists.refuse(s, f"A row of the list `{original}` is changed in place, and the list changes its rows", "row = xs[k].copy()")
            return gast.Call(gast.Attribute(value, "copy", gast.Load()), [], [])
        return value


VIEWS = ("np.reshape", "np.ravel", "np.transpose", "np.asarray", "np.ascontiguousarray", "np.swapaxes", "np.squeeze", "np.diag", "np.broadcast_to",
         "np.flip", "np.flipud", "np.fliplr", "np.moveaxis", "np.expand_dims", "np.real", "np.atleast_1d", "np.atleast_2d")


# --- helpers ----------------------------------------------------------------------------


def _deepest(t: Type | None) -> Type | None:
    while isinstance(t, List):
        t = t.item
    return t


def _binds(s: gast.stmt) -> set[str]:
    """The names that a statement itself binds."""
    if isinstance(s, gast.Assign):
        return T.stores(s.targets)
    if isinstance(s, (gast.For, gast.AugAssign)):
        return T.stores(s.target)
    return set()


def _is_store(n: gast.AST) -> bool:
    return isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)


def _pops(s: gast.stmt, name: str) -> bool:
    return any(changed(x) == name and isinstance(getattr(x, "value", None), gast.Call) and getattr(x.value.func, "attr", "") == "pop"
               for x in K.walk([s]))


def _all_blocks(body: Iterable[gast.stmt]) -> Iterable[list[gast.stmt]]:
    body = list(body)
    yield body
    for s in body:
        for block in blocks(s):
            yield from _all_blocks(block)


def _empty(t: Array, shape: list[gast.expr]) -> gast.expr:
    """`np.empty(shape)` of the dtype of an array."""
    size = shape[0] if len(shape) == 1 else gast.Tuple(shape, gast.Load())
    if t.dtype == "float64":
        return T.expr("np.empty(n)", n=size)
    return T.expr(f"np.empty(n, dtype=np.{'bool_' if t.dtype == 'bool' else t.dtype})", n=size)
