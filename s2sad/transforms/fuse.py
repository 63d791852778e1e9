"""Array statements as loop nests: whole-array and slice expressions, in groups of equal shape, without temporaries.

Run on a typed program before `legalize`; what is made is the lowered text, which is compiled. A statement that works entry by entry becomes a nest
over its entries, and statements that follow each other and have the same iteration space share one nest, if every entry is still touched in the
order in which the statements touch it. An array that is used only in the nest that makes it becomes a number.

What cannot be proven to mean the same stays as it is: where a statement reads entries that it has changed before, its value is computed first, into a
temporary; where shapes are not known to fit, they are compared before the nest, and what has to be is broadcast.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.accesses import in_order
from s2sad.analysis.extents import ONE, Extents, Length, elementwise
from s2sad.analysis.views import view_base
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import FLOATS, WEAK_INT, Array, Scalar, Type
from s2sad.transforms.entries import Entry, NotElementwise, Operands, entry_of, loud

COUNTERS = ("i", "j", "k", "l")
#: Functions of the vector library: loops with them are kept free of sums, which would keep LLVM from taking several trips at once.
SLOW = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
        "arcsinh", "arccosh", "arctanh", "power", "arctan2", "logaddexp")
#: Functions that make a new array.
FRESH = ("np.zeros", "np.ones", "np.empty", "np.full", "np.zeros_like", "np.ones_like", "np.empty_like", "np.full_like", "np.sum", "np.mean",
         "np.max", "np.min", "np.dot", "np.outer", "spread")


def fuse(function: Function, private: bool) -> Function:
    """The function with loop nests for array statements.

    Args:
        function: a typed function.
        private: no array that the function writes into is seen by anybody else before it returns (its parameters are copied before).

    >>> from s2sad.transforms.example import program, source
    >>> f = program("y = np.zeros_like(x)\\nt = 2.0 * x[1:-1]\\ny[1:-1] = t * t + x[2:]\\nreturn np.sum(y * x)")
    >>> print(source(fuse(f, True)))
    y = np.zeros_like(x)
    for i in range(x.shape[0] - 2):
        t = 2.0 * x[i + 1]
        y[i + 1] = t * t + x[i + 2]
    sum_t = np.float64(0.0)
    for i in range(y.shape[0]):
        sum_t += y[i] * x[i]
    return sum_t
    """
    passing = _Fuse(function, private)
    body = passing.block(list(function.body), Extents(passing.names))
    return function.with_body(body, names=passing.names)


@dataclass
class _Item:
    """One statement taken apart: what comes before the nest, and what is done at an entry."""

    stmt: gast.stmt
    before: list[gast.stmt]
    value: gast.expr
    reads: list[Entry]
    space: tuple[Length, ...]
    numbers: set[str]
    target: Entry | None = None  # what it writes into; None for a sum, and for an array before it is made
    name: str = ""  # the name that it binds
    dtype: str = "float64"
    op: gast.operator | None = None
    total: bool = False  # it sums all entries
    joint: bool = False  # the operands' shapes are compared before the nest, which has the shape that they give together
    plain: bool = False  # it copies or fills: such statements are as quick as they stand
    unfit: list[Entry] = field(default_factory=list)  # operands that may have to be broadcast


class _Fuse:
    def __init__(self, function: Function, private: bool):
        self.private = private
        self.names: dict[str, Type] = dict(function.names)
        self.fresh = T.Fresh(T.all_names(function.body) | set(function.params) | set(function.names))
        self.counters = [self.fresh(c) for c in COUNTERS]
        self.names.update(dict.fromkeys(self.counters, WEAK_INT))
        self.classes = _classes(function, private)
        self.uses: dict[str, int] = {}
        self.count(function.body, 1)

    def count(self, body: Sequence[gast.AST], by: int) -> None:
        """Keep the number of times that each name occurs."""
        for s in body:
            for n in gast.walk(s):
                if isinstance(n, gast.Name):
                    self.uses[n.id] = self.uses.get(n.id, 0) + by

    def memory(self, name: str) -> str:
        """What stands for all arrays with which an array may share memory."""
        return _find(self.classes, name)

    def name_for(self, wish: str, e: gast.expr, known: Extents) -> str:
        """A new name for what an expression gives."""
        t = known.type(e)
        if not isinstance(t, (Array, Scalar)):
            raise NotElementwise
        name = self.fresh(wish)
        self.names[name] = t
        if isinstance(t, Array) and not _is_fresh(e):
            for n in T.all_names([e]):
                if isinstance(self.names.get(n), Array):
                    self.classes[self.memory(name)] = self.memory(n)
        return name

    # --- blocks -------------------------------------------------------------------------

    def block(self, body: list[gast.stmt], known: Extents) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        group = _Group(self)
        for s in body:
            if isinstance(s, (T.Comment, T.Blank)):
                group.whole.append(s)
                continue
            if isinstance(s, (gast.If, gast.For, gast.While)):
                out += group.emit(known)
                group = _Group(self)
                out.append(self.compound(s, known))
                continue
            for part in self.parted(s, known):
                item = self.item(part, known)
                if item is not None and not group.fits(item):
                    out += group.emit(known)
                    group = _Group(self)
                if item is not None:
                    group.add(item, known)
                elif not group.moves_before(part):
                    out += group.emit(known)
                    group = _Group(self)
                    out.append(part)
                self.bind(part, known)
                if item is not None and item.joint:
                    known.dims[item.name] = item.space
        return out + group.emit(known)

    def compound(self, s: gast.If | gast.For | gast.While, known: Extents) -> gast.stmt:
        bound = E.bound([s], self.names)
        if not isinstance(s, gast.If):
            known.forget(bound)
        blocks = [self.block(list(b), Extents(self.names, known)) for b in (s.body, s.orelse)]
        known.forget(bound)
        if isinstance(s, gast.For):
            new: gast.stmt = gast.For(s.target, s.iter, blocks[0], [], None)
        else:
            new = type(s)(s.test, blocks[0], blocks[1])
        return T.at(new, s)

    def bind(self, s: gast.stmt, known: Extents) -> None:
        """Take in what a statement does to what is known."""
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            known.bind(s.targets[0].id, s.value)
        else:
            known.forget(E.effects(s, self.names).binds)

    # --- one statement as several -------------------------------------------------------

    def parted(self, s: gast.stmt, known: Extents) -> list[gast.stmt]:
        """A statement with the sums and the entrywise operands of other functions in statements of their own before it."""
        value = getattr(s, "value", None)
        if not isinstance(s, (gast.Assign, gast.AugAssign, gast.Return)) or not isinstance(value, gast.expr):
            return [s]
        before: list[gast.stmt] = []
        root = isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        new = self.part(plainer(value, known), known, before, root)
        if new is value:
            return [s]
        whole = copy.copy(s)
        whole.value = new
        self.count([s], -1)
        self.count([*before, whole], 1)
        return [T.at(b, s) for b in (*before, whole)]

    def part(self, e: gast.expr, known: Extents, before: list[gast.stmt], root: bool) -> gast.expr:
        """An expression whose inner sums and operands are names, bound before."""
        if isinstance(e, (gast.IfExp, gast.BoolOp, gast.Lambda, gast.Subscript, gast.Attribute)):
            return e
        if is_sum(e) and known.type(e) == Scalar("float64") and self.quiet(e.args[0], known):
            if _slow(e.args[0]):
                e = gast.copy_location(gast.Call(e.func, [self.named(e.args[0], "t", known, before)], []), e)
            return e if root else self.named(e, "sum_t", known, before)
        through = operation(e)
        changed: dict[int, gast.expr] = {}
        for f, v in gast.iter_fields(e):
            for c in v if isinstance(v, list) else [v]:
                if not isinstance(c, gast.expr) or f in ("func", "slice"):
                    continue
                if not through and operation(c) and isinstance(known.type(c), Array) and self.quiet(c, known):
                    changed[id(c)] = self.named(c, "t", known, before)
                else:
                    changed[id(c)] = self.part(c, known, before, False)
        return _with(e, changed)

    def named(self, e: gast.expr, wish: str, known: Extents, before: list[gast.stmt]) -> gast.expr:
        """A name for the value of an expression, which is computed before."""
        name = self.name_for(wish, e, known)
        before.append(gast.Assign([T.store(name)], e, None))
        known.bind(name, e)
        return T.name(name)

    def quiet(self, e: gast.expr, known: Extents) -> bool:
        """Whether evaluating an entrywise expression raises nothing."""
        return known.of(e) is not None and not loud(e)

    # --- one statement ------------------------------------------------------------------

    def item(self, s: gast.stmt, known: Extents) -> _Item | None:
        """A statement taken apart; None if it is not of this kind."""
        before = known.copy()
        try:
            if isinstance(s, gast.AugAssign) and isinstance(s.op, (gast.Add, gast.Sub, gast.Mult, gast.Div)):
                return self.stored(s, s.target, s.op, known)
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                return self.bound(s, s.targets[0].id, known)
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Subscript):
                return self.stored(s, s.targets[0], None, known)
        except NotElementwise:
            known.restore(before)  # names that are not bound after all
        return None

    def bound(self, s: gast.Assign, name: str, known: Extents) -> _Item:
        t = self.names.get(name)
        total = is_sum(s.value) and t == known.type(s.value) == Scalar("float64")
        value = s.value.args[0] if total else s.value
        what = known.type(value)
        if not isinstance(what, Array) or total and what.dtype != "float64":
            raise NotElementwise
        fits = isinstance(t, Array) and t.dtype == what.dtype and not t.weak and what.layout == "C"
        if not total and not (fits and (operation(value) or is_part_copy(value))):
            raise NotElementwise
        made = self.operands(known)
        entry = made.take(value)
        space = made.space()
        joint = space is None
        if joint and (made.loud or not self.private):
            raise NotElementwise
        if space is None:
            space = tuple(known.fresh() for _ in range(what.ndim))
        self.check(entry, what.dtype, known)
        return _Item(s, made.before, entry, made.reads, space, made.numbers, None, name, what.dtype, total=total, joint=joint,
                     plain=is_part_copy(value) or T.dotted(getattr(value, "func", value)) == "np.full_like",
                     unfit=[r for r in made.reads if r.unlike(space)])

    def stored(self, s: gast.Assign | gast.AugAssign, target: gast.expr, op: gast.operator | None, known: Extents) -> _Item:
        read = T.loaded(target)
        t, what = known.type(read), known.type(s.value)
        if not isinstance(t, Array) or t.ndim == 0 or t.dtype not in FLOATS or t.weak:
            raise NotElementwise
        if not isinstance(what, (Array, Scalar)) or isinstance(what, Array) and not 1 <= what.ndim <= t.ndim:
            raise NotElementwise
        if what.dtype not in FLOATS and (op is not None or what.dtype not in ("int64", "bool")):
            raise NotElementwise
        made = self.operands(known)
        if view_base(read, self.names) is None:
            raise NotElementwise
        to = made.leaf(read)
        made.reads.remove(to)
        entry = made.take(s.value)
        space = to.lengths
        unfit = [r for r in made.reads if r.unlike(space)]
        if (unfit or made.space() is None) and (made.loud or not self.private):
            raise NotElementwise
        if made.space() is None and len({r.lengths for r in made.reads if r.ndim == len(space)}) > 1:
            raise NotElementwise  # what the operands give together may be longer than each
        if any(r.reads and self.memory(r.access.base) == self.memory(to.access.base) and not _touching(r, to, space) for r in made.reads):
            raise NotElementwise  # it would read what it has changed
        if op is None:
            self.check(entry, what.dtype, known)
        else:
            self.check(gast.BinOp(to, op, entry), None, known)
        return _Item(s, made.before, entry, made.reads, space, made.numbers, to, dtype=t.dtype, op=op, plain=op is None and not operation(s.value),
                     unfit=unfit)

    def operands(self, known: Extents) -> Operands:
        return Operands(known, lambda wish, e: self.name_for(wish, e, known))

    def check(self, entry: gast.expr, dtype: str | None, known: Extents) -> None:
        """Refuse an expression of entries that has another dtype than that of arrays has; None: any float will do."""
        t = known.type(_at(entry, self.counters, {}))
        if not isinstance(t, Scalar) or t.dtype not in (FLOATS if dtype is None else (dtype,)):
            raise NotElementwise


class _Group:
    """Statements that are to share a nest."""

    def __init__(self, fuse: _Fuse):
        self.fuse = fuse
        self.items: list[_Item] = []
        self.whole: list[gast.stmt] = []  # the statements as they were, with comments
        self.before: list[gast.stmt] = []  # what is done before the nest
        self.touched: list[tuple[Entry, bool]] = []  # what is read, and what is written, in order
        self.inner: dict[str, str] = {}  # the names that the group binds, with the names that they have in it
        self.seen: set[str] = set()  # the names that occur in it
        self.written: set[str] = set()  # what stands for the memory that it writes into

    # --- what may take part -------------------------------------------------------------

    def fits(self, item: _Item) -> bool:
        """Whether a statement can take part."""
        if not self.items:
            return True
        fuse, space = self.fuse, self.items[0].space
        if item.space != space or item.joint:
            return False
        if not fuse.private and (item.unfit or item.before):
            return False  # errors come when the statements before have done their work
        if any(i.total for i in (*self.items, item)) and any(_slow(i.value) for i in (*self.items, item)):
            return False
        early = item.numbers | T.all_names(item.before) | {r.access.base for r in item.unfit}
        if not self.untouched(early):
            return False
        if any(r.access.base in self.inner and r.lengths != space for r in item.reads):
            return False
        # what is written must be touched by both statements in their order
        return all(not (write or wrote) or fuse.memory(a.access.base) != fuse.memory(b.access.base)
                   or _touching(a, b, space) and not (wrote and a.access.start[-1] != b.access.start[-1])  # which would keep trips from going abreast
                   for b, write in self.touches(item) for a, wrote in self.touched)

    def untouched(self, names: set[str]) -> bool:
        """Whether names stand for the same before the nest as after it."""
        fuse = self.fuse
        return not names & self.inner.keys() and not any(fuse.memory(n) in self.written for n in names if isinstance(fuse.names.get(n), Array))

    def touches(self, item: _Item) -> list[tuple[Entry, bool]]:
        """What a statement reads and writes, in order."""
        reads = [(self.inside(r), False) for r in item.reads if r.reads]
        return reads if item.target is None else [*reads, (self.inside(item.target), True)]

    def inside(self, e: Entry) -> Entry:
        """An entry by the name that its array has in the group."""
        name = self.inner.get(e.access.base)
        if name is not None and name != e.access.base:
            e.on(name)
        return e

    def moves_before(self, s: gast.stmt) -> bool:
        """Put another statement before the nest, if it may stand there."""
        if not self.items or not self.fuse.private or not (isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)):
            return False
        name = s.targets[0].id
        if name in self.seen or not self.untouched({name, *T.all_names([s.value])}):
            return False
        self.whole.append(s)
        self.before.append(s)
        return True

    def add(self, item: _Item, known: Extents) -> None:
        """Take a statement in."""
        fuse = self.fuse
        self.items.append(item)
        self.before += item.before
        if item.joint:
            self.join(item, known)
        for r in item.unfit:
            self.fit(r, item.space, known)
        touches = self.touches(item)
        if item.name:
            again = item.name in self.seen or item.name in T.all_names([item.stmt.value])
            inner = fuse.fresh(f"{item.name}_new") if again else item.name
            self.inner[item.name] = inner
            fuse.names[inner] = fuse.names[item.name]
            if not item.total:
                item.target = entry_of(inner, fuse.names[inner], item.space)
                touches.append((item.target, True))
        self.touched += touches
        self.written |= {fuse.memory(e.access.base) for e, write in touches if write}
        self.seen |= T.all_names([item.stmt, *item.before])
        self.whole.append(item.stmt)

    def join(self, item: _Item, known: Extents) -> None:
        """Compare the operands' shapes: names for the lengths that they give together."""
        for k, length in enumerate(item.space):
            sharing: dict[Length, gast.expr] = {}
            for r in item.reads:
                axis = k - len(item.space) + r.ndim
                if axis >= 0 and r.lengths[axis] != ONE:
                    sharing.setdefault(r.lengths[axis], self.length(r, axis))
            ends = list(sharing.values())
            end = ends[0] if ends else T.const(1)
            for other in ends[1:]:
                end = gast.Call(T.name("extent"), [end, other], [])
            name = self.fuse.fresh("n")
            self.fuse.names[name] = WEAK_INT
            self.before.append(gast.Assign([T.store(name)], end, None))
            known.ints[name] = length
            known.fits |= {(m, length) for m in sharing}

    def length(self, e: Entry, axis: int) -> gast.expr:
        """The length of an axis of an entry's array expression."""
        k = e.access.along.index(axis)
        whole = T.expr(f"{e.access.base}.shape[{k}]")
        cut = e.access.cut[k]
        return gast.Call(T.name("max"), [gast.BinOp(whole, gast.Sub(), T.const(cut)), T.const(0)], []) if cut else whole

    def fit(self, e: Entry, space: tuple[Length, ...], known: Extents) -> None:
        """Broadcast an array that may need it before the nest."""
        fuse = self.fuse
        shape = [T.const(1) if m == ONE else self.end(n, known) for m, n in zip(e.lengths, space[len(space) - e.ndim:], strict=True)]
        lengths = tuple(ONE if m == ONE else n for m, n in zip(e.lengths, space[len(space) - e.ndim:], strict=True))
        value = _array(e)
        made = gast.Call(T.name("fitted"), [value, gast.Tuple(shape, gast.Load())], [])
        if not e.reads:
            self.before.append(gast.Expr(made))
            e.lengths = lengths
            return
        t = known.type(value)
        assert isinstance(t, Array)
        name = fuse.fresh(f"{e.access.base}_fitted")
        fuse.names[name] = t
        fuse.classes[fuse.memory(name)] = fuse.memory(e.access.base)
        self.before.append(gast.Assign([T.store(name)], made, None))
        e.on(name)
        e.lengths = lengths
        known.dims[name] = lengths

    # --- the text -----------------------------------------------------------------------

    def emit(self, known: Extents) -> list[gast.stmt]:
        """The nest, with what comes before and after it; the statements as they were, if a nest is no better."""
        if not self.items or all(i.plain for i in self.items):
            return self.whole
        fuse, space = self.fuse, self.items[0].space
        counters = fuse.counters[: len(space)]
        numbers: dict[str, str] = {}  # arrays whose entry at hand has a name of its own
        single = {i.name for i in self.items if i.name and not i.total and self.is_single(i)}
        made = [i for i in self.items if i.name and not i.total and i.name not in single]
        heads, ends = self.ends(space, bool(made), known)
        inside: list[gast.stmt] = []
        after: list[gast.stmt] = []
        for k, item in enumerate(self.items):
            inner = self.inner.get(item.name, "")
            value = _at(item.value, counters, numbers)
            if item.total:
                heads.append(gast.Assign([T.store(inner)], T.expr("np.float64(0.0)"), None))
                new: gast.stmt = gast.AugAssign(T.store(inner), gast.Add(), value)
            elif item.name in single:
                fuse.names[inner], numbers[inner] = Scalar(item.dtype), inner
                new = gast.Assign([T.store(inner)], _numpys(value, item.dtype, known), None)
            else:
                assert item.target is not None
                cell = item.target.at(counters)
                cell.ctx = gast.Store()
                if item.name:
                    heads.append(gast.Assign([T.store(inner)], _empty(ends, item.dtype), None))
                    if any(r.access.base == inner for i in self.items[k + 1:] for r in i.reads):
                        numbers[inner] = held = fuse.fresh(f"{inner}_{''.join(counters)}")
                        fuse.names[held] = Scalar(item.dtype)
                        inside.append(T.at(gast.Assign([T.store(held)], _numpys(value, item.dtype, known), None), item.stmt))
                        value = T.name(held)
                else:
                    numbers.pop(item.target.access.base, None)
                new = gast.Assign([cell], value, None) if item.op is None else gast.AugAssign(cell, item.op, value)
            inside.append(T.at(new, item.stmt))
            if item.name and inner != item.name:
                after.append(gast.Assign([T.store(item.name)], T.name(inner), None))
        for c, end in zip(counters[::-1], ends[::-1], strict=True):
            inside = [gast.For(T.store(c), gast.Call(T.name("range"), [end], []), inside, [], None)]
        comments = [s for s in self.whole if isinstance(s, (T.Comment, T.Blank))]
        return [*comments, *T.at([*self.before, *heads, *inside, *after], self.items[0].stmt)]

    def is_single(self, item: _Item) -> bool:
        """Whether an array is read by the nest that makes it only, entry by entry, so that it can be a number."""
        name = item.name
        reads = [r for i in self.items for r in i.reads if r.access.base == name]
        written = [i for i in self.items if i.target is not None and i.target.access.base == name]
        return self.inner[name] == name and self.fuse.uses.get(name, 0) == 1 + len(reads) and written == [item] \
            and all(r.reads and in_order(r.access, item.target.access) for r in reads if item.target is not None)

    def ends(self, space: tuple[Length, ...], made: bool, known: Extents) -> tuple[list[gast.stmt], list[gast.expr]]:
        """Statements and expressions for the lengths of the axes; `made`: arrays are made of these lengths, which must not be negative."""
        heads: list[gast.stmt] = []
        ends: list[gast.expr] = []
        for length in space:
            end = self.end(length, known)
            if isinstance(end, gast.Call) and not made:
                end = end.args[0]  # a loop over a negative range is empty
            elif isinstance(end, gast.Call):
                name = self.fuse.fresh("n")
                self.fuse.names[name] = WEAK_INT
                heads.append(gast.Assign([T.store(name)], end, None))
                end = T.name(name)
            ends.append(end)
        return heads, ends

    def end(self, length: Length, known: Extents) -> gast.expr:
        """An expression for a length."""
        if length[0].startswith("="):
            return T.const(int(length[0][1:]))
        for n, found in known.ints.items():
            if found == length and length[1] == 0:
                return T.name(n)
        for item in self.items:
            for e in ([] if item.target is None or item.name else [item.target]) + item.reads:
                if length in e.lengths and e.access.base not in self.inner.values():
                    return self.length(e, e.lengths.index(length))
        raise AssertionError("the length of an axis is that of some array")


# --- helpers ----------------------------------------------------------------------------


def is_sum(e: gast.AST) -> bool:
    """Whether this is the sum of all entries of an array."""
    return isinstance(e, gast.Call) and T.dotted(e.func) == "np.sum" and len(e.args) == 1 and not e.keywords


def operation(e: gast.expr) -> bool:
    """Whether an expression computes something entry by entry, if its value is an array."""
    if isinstance(e, gast.BinOp):
        return not isinstance(e.op, gast.MatMult)
    if isinstance(e, gast.Call):
        return elementwise(T.dotted(e.func) or "") or T.dotted(e.func) == "np.full_like"
    return isinstance(e, (gast.UnaryOp, gast.Compare))


def is_part_copy(e: gast.expr) -> bool:
    """Whether this is the copy of a part of an array."""
    return isinstance(e, gast.Call) and isinstance(e.func, gast.Attribute) and e.func.attr == "copy" and isinstance(e.func.value, gast.Subscript)


def plainer(e: gast.expr, known: Extents) -> gast.expr:
    """An expression without sums to the shape that there is already, and without copies of new arrays.

    >>> known = Extents({"x": Array("float64", 1), "w": Array("float64", 1)})
    >>> gast.unparse(plainer(T.expr("-sum_to(2.0 * x, x.shape).copy() + sum_to(x * w, x.shape)"), known))
    '-(2.0 * x) + sum_to(x * w, x.shape)'
    """
    changed = {id(c): plainer(c, known) for f, v in gast.iter_fields(e) for c in (v if isinstance(v, list) else [v]) if isinstance(c, gast.expr)}
    e = _with(e, changed)
    if isinstance(e, gast.Call) and T.dotted(e.func) == "sum_to" and operation(e.args[0]):
        inner = known.of(e.args[0])
        if inner is not None and inner == known.shape(e.args[1]):
            return e.args[0]
    if isinstance(e, gast.Call) and isinstance(e.func, gast.Attribute) and e.func.attr == "copy" and operation(e.func.value):
        return e.func.value
    return e


def _with(e: gast.expr, changed: Mapping[int, gast.expr]) -> gast.expr:
    """An expression with other children; itself, if they are the same."""
    if all(id(new) == old for old, new in changed.items()):
        return e
    whole = copy.copy(e)
    for f, v in gast.iter_fields(e):
        if isinstance(v, list):
            setattr(whole, f, [changed.get(id(c), c) for c in v])
        else:
            setattr(whole, f, changed.get(id(v), v))
    return whole


def _touching(a: Entry, b: Entry, space: tuple[Length, ...]) -> bool:
    """Whether a nest touches every entry through `a` no later than through `b`, if statements do so in that order."""
    return a.lengths == space == b.lengths and in_order(a.access, b.access)


def _slow(e: gast.AST) -> bool:
    """Whether an expression calls functions that have a vector form."""
    return any(isinstance(n, gast.Call) and (T.dotted(n.func) or "").rpartition(".")[2] in SLOW
               or isinstance(n, gast.BinOp) and isinstance(n.op, gast.Pow) and not isinstance(n.right, gast.Constant) for n in gast.walk(e))


def _numpys(e: gast.expr, dtype: str, known: Extents) -> gast.expr:
    """A value as one of NumPy's numbers, as the entries of arrays are."""
    t = known.type(e)
    return gast.Call(T.expr(f"np.{dtype}"), [e], []) if isinstance(t, Scalar) and t.weak else e


def _empty(ends: list[gast.expr], dtype: str) -> gast.expr:
    """`np.empty(...)`."""
    shape = ends[0] if len(ends) == 1 else gast.Tuple(ends, gast.Load())
    return gast.Call(T.expr("np.empty"), [shape] + ([] if dtype == "float64" else [T.expr(f"np.{'bool_' if dtype == 'bool' else dtype}")]), [])


def _array(e: Entry) -> gast.expr:
    """The array expression that an entry is taken from."""
    a = e.access
    index: list[gast.expr] = [T.const(None)] * a.ndim
    for axis, (along, start, cut) in enumerate(zip(a.along, a.start, a.cut, strict=True)):
        assert axis >= 0
        stop = T.const(start - cut) if cut > start else None
        index[along] = gast.Slice(T.const(start) if start else None, stop, None)
    if not any(a.cut) and a.ndim == len(a.along):
        return T.name(a.base)
    return gast.Subscript(T.name(a.base), index[0] if len(index) == 1 else gast.Tuple(index, gast.Load()), gast.Load())


def _at(e: gast.expr, counters: Sequence[str], numbers: Mapping[str, str]) -> gast.expr:
    """An expression of entries as one of numbers; `numbers`: names of the entries at hand of some arrays."""
    if isinstance(e, Entry):
        return T.name(numbers[e.access.base]) if e.access.base in numbers else e.at(counters)
    e = copy.copy(e)
    for f, v in gast.iter_fields(e):
        if isinstance(v, list):
            setattr(e, f, [_at(c, counters, numbers) if isinstance(c, gast.expr) else c for c in v])
        elif isinstance(v, gast.expr):
            setattr(e, f, _at(v, counters, numbers))
    return e


def _find(parent: dict[str, str], n: str) -> str:
    while parent.setdefault(n, n) != n:
        n = parent[n]
    return n


def _classes(function: Function, private: bool) -> dict[str, str]:
    """A forest of the names of arrays, one tree for all that may share memory."""
    parent: dict[str, str] = {}
    names = function.names

    def tie(a: str, b: str) -> None:
        parent[_find(parent, a)] = _find(parent, b)

    arrays = [p for p in function.params if isinstance(names.get(p), Array)]
    if not private:
        for p in arrays[1:]:
            tie(p, arrays[0])
    for s in E.walk(function.body):
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and not _is_fresh(s.value):
            if isinstance(names.get(s.targets[0].id), Array):
                for n in T.all_names([s.value]) - {"np"}:
                    tie(s.targets[0].id, n)
        elif isinstance(s, gast.Expr) and isinstance(s.value, gast.Call) and isinstance(s.value.func, gast.Attribute):
            for n in T.all_names([s.value]) - {"np"}:  # rows that a list holds
                tie(n, T.base_name(s.value.func))
    return parent


def _is_fresh(e: gast.expr) -> bool:
    """Whether an expression makes a new array."""
    if isinstance(e, (gast.BinOp, gast.UnaryOp, gast.Compare)):
        return True
    if not isinstance(e, gast.Call):
        return False
    name = T.dotted(e.func) or ""
    if isinstance(e.func, gast.Attribute) and not name.startswith("np."):
        return e.func.attr in ("copy", "astype")
    return elementwise(name) or name in FRESH
