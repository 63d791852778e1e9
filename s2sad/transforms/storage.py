"""Storage: give the reverse sweep the values it needs.

The reverse sweep runs a block backwards. `held` are the names that have, at this point of the reverse sweep, the value they had at the same point of
the forward sweep. A needed value that is not held is
* recomputed, if its definition is cheap and what it is made of is at hand,
* otherwise kept: `x_saved[t] = x` right after the statement that made it (or at the start of the loop trip), read back before its first use.
In-place writes that destroy needed contents (`analysis.tbr`) are undone on the way back.

A loop whose trips pass nothing on that the reverse needs is not stored at all: each reverse trip runs the body again, then its reverse (*joint*).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import gast

from s2sad.analysis import distinct, tbr
from s2sad.analysis import effects as E
from s2sad.analysis.aliases import Aliases
from s2sad.analysis.liveness import Liveness, Need
from s2sad.analysis.shapes import Shapes, is_expression
from s2sad.analysis.types import region, type_of
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.emitted import Kept
from s2sad.lang.printer import to_source
from s2sad.lang.routines import called
from s2sad.lang.tree import Function
from s2sad.lang.types import WEAK_BOOL, Array, Scalar, Type, is_array, is_int
from s2sad.transforms.natural import forwards, independent, own_elements
from s2sad.transforms.reverse import Block, Branch, Loop, Reversed, Step
from s2sad.transforms.slice import keep
from s2sad.transforms.trips import counted

Item = Step | Branch | Loop
CHEAP_CALLS = ("range", "len", "abs", "float", "int", "math.sqrt", "np.sqrt", "np.abs", "math.fabs")


@dataclass
class Scope:
    """The innermost loop around a block whose trips are stored, or the root of a joint region."""

    nest: list[gast.For | gast.While]
    modified: set[str]
    undo: set[int]
    only: set[int] | None = None  # in a joint region: the statements that are run again
    counters: frozenset[str] = frozenset()  # ints that the loop only counts up or down


@dataclass
class Result:
    """The two sweeps of a block; `needs` are names the block expects to find as they were before it."""

    forward: list[gast.stmt] = field(default_factory=list)
    reverse: list[gast.stmt] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    needs: set[str] = field(default_factory=set)
    allocations: list[gast.stmt] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)


@dataclass
class Stored:
    """What `store` returns: both sweeps, and what is kept."""

    forward: list[gast.stmt]
    reverse: list[gast.stmt]
    kept: list[Kept]


class _Storage:
    def __init__(self, function: Function, rev: Reversed, aliases: Aliases, shapes: Shapes, value: bool, restored: frozenset[str]):
        self.restored = restored
        self.left: frozenset[Need] = frozenset((n, None) for n in restored)  # what the caller reads after the function
        self.f, self.rev, self.aliases, self.shapes, self.value = function, rev, aliases, shapes, value
        self.names = rev.names
        self.primal = set(function.names) | set(function.params)
        self.fresh = rev.fresh
        self.distinct = distinct.analyse(function.body, function.params, shapes, {bar: n for n, bar in rev.bars.items()})
        self.items: dict[int, Item] = {}
        self.index(rev.block)
        self.array_cache: dict[int, tuple[set[tbr.Access], set[tbr.Access]]] = {}
        self.extra: dict[int, set[tbr.Access]] = {}
        self.news = False
        self.private_cache: dict[int, frozenset[str]] = {}
        self.after: dict[int, frozenset[Need]] | None = None
        self.primal_loops: dict[int, tuple[gast.stmt, gast.For | gast.While]] = {}  # reverse loop (held, so that its id stays its own) and primal
        self.need_cache: dict[int, tuple[set[Need], set[Need]]] = {}

    def index(self, b: Block) -> None:
        for item in b.items:
            self.items[id(item.stmt)] = item
            if isinstance(item, Branch):
                self.index(item.body)
                self.index(item.orelse)
            elif isinstance(item, Loop):
                self.index(item.body)

    # -- needs -------------------------------------------------------------------------------------
    def read(self, nodes: list[gast.stmt]) -> set[str]:
        """Primal names that adjoint statements use; of an array whose shape never changes, the shape alone is no need."""
        values: set[str] = set()
        for s in nodes:
            e = E.effects(s, self.names)
            values |= e.reads | {m for m in e.metas if not self.fixed_shape(m)}
        return values & self.primal

    def fixed_shape(self, n: str) -> bool:
        if n in self.f.params and n in self.aliases.stable:
            return True
        d = self.shapes.dims.get(n)
        return d is not None and not any("~" in axis for axis in d)

    def pre(self, item: Step) -> set[str]:
        return self.read(item.adjoint) - item.post

    def owners(self, values: set[str]) -> set[str]:
        return {self.aliases.owner(n) for n in values if is_array(self.names.get(n))}

    def accesses(self, nodes: list[gast.AST]) -> set[tbr.Access]:
        """The arrays whose contents some statements or expressions read, element by element where the subscript tells."""
        out: set[tbr.Access] = set()

        def visit(n: gast.AST) -> None:
            if isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name) and isinstance(self.names.get(n.value.id), Array):
                owner = self.aliases.owner(n.value.id)
                t = self.names[n.value.id]
                out.add((owner, tbr.element(n.slice, t) if owner == n.value.id else None))  # type: ignore[arg-type]
                visit(n.slice)
            elif isinstance(n, gast.Name):
                if is_array(self.names.get(n.id)):
                    out.add((self.aliases.owner(n.id), None))
            elif isinstance(n, gast.Attribute) and n.attr in E.META and isinstance(n.value, gast.Name):
                pass
            elif isinstance(n, gast.Call) and T.dotted(n.func) in E.META_CALLS:
                for a in n.args[1:]:
                    visit(a)
            else:
                for child in gast.iter_child_nodes(n):
                    visit(child)

        for node in nodes:
            visit(node)
        return {(n, key) for n, key in out if n in self.primal}

    def array_needs(self, s: gast.stmt) -> tuple[set[tbr.Access], set[tbr.Access]]:
        """Array contents that the reverse of a statement needs from before and after it (for TBR)."""
        if id(s) not in self.array_cache:
            self.array_cache[id(s)] = self.find_array_needs(s)
        before, after = self.array_cache[id(s)]
        return before | self.extra.get(id(s), set()), after

    def note(self, s: gast.stmt, nodes: list[gast.AST]) -> None:
        """The reverse sweep repeats parts of the primal as they were at this statement: their arrays must not be lost either."""
        new = {a for a in self.accesses(nodes) if self.aliases.is_written(a[0])}
        before, after = self.array_needs(s)
        if new - before - after:
            self.extra.setdefault(id(s), set()).update(new)
            self.news = True

    def find_array_needs(self, s: gast.stmt) -> tuple[set[tbr.Access], set[tbr.Access]]:
        item = self.items.get(id(s))
        if isinstance(item, Step):
            found = self.accesses(list(item.adjoint))
            late = self.owners(set(item.post))
            return {a for a in found if a[0] not in late}, {a for a in found if a[0] in late}
        if isinstance(item, (Branch, Loop)):
            head = s.test if isinstance(s, gast.If) else s.iter if isinstance(s, gast.For) else None
            return self.accesses([*item.before, *([head] if head is not None and self.has_adjoint(item) else [])]), set()
        return set(), set()

    def all_needs(self, s: gast.stmt) -> tuple[set[Need], set[Need]]:
        """What the reverse of a statement needs of the primal from before and from after it, for liveness."""
        if id(s) not in self.need_cache:
            self.need_cache[id(s)] = self.find_needs(s)
        return self.need_cache[id(s)]

    def find_needs(self, s: gast.stmt) -> tuple[set[Need], set[Need]]:
        item = self.items.get(id(s))
        late: set[str] = set()
        nodes: list[gast.AST] = []
        if isinstance(item, Step):
            nodes, late = list(item.adjoint), set(item.post)
        elif isinstance(item, (Branch, Loop)):
            blocks = [item.body, item.orelse] if isinstance(item, Branch) else [item.body]
            nodes = [*item.before, *(x for b in blocks for x in b.end)]
            if self.has_adjoint(item):
                head = s.test if isinstance(s, gast.If) else s.iter if isinstance(s, gast.For) else None
                nodes += [head] if head is not None else []
                counter = counted(s)
                if counter:  # what it has counted when the loop is over
                    nodes.append(T.name(counter))
                    late.add(counter)
        live = Liveness(self.names, self.aliases.groups, self.shapes)
        found: set[Need] = set()
        for node in nodes:
            found |= live.accesses(node)
        found = {(n, key) for n, key in found if n in self.primal and not (key == "shape" and self.fixed_shape(n))}
        return {x for x in found if x[0] not in late}, {x for x in found if x[0] in late}

    def has_adjoint(self, item: Item) -> bool:
        if isinstance(item, Step):
            return bool(item.adjoint)
        blocks = [item.body, item.orelse] if isinstance(item, Branch) else [item.body]
        return any(b.end or any(self.has_adjoint(x) for x in b.items) for b in blocks)

    def modified(self, body: list[gast.stmt]) -> set[str]:
        """Names that statements bind, and owners (and everything that may share memory with them) whose contents they change."""
        out = E.bound(body, self.names)
        for n in E.written(body, self.names):
            out |= self.aliases.groups.get(n, frozenset((n,)))
        return out

    # -- blocks ------------------------------------------------------------------------------------
    def block(self, b: Block, scope: Scope, held: set[str]) -> Result:
        return _BlockWalk(self, b, scope, held, self.restored).run()

    def joint_ok(self, item: Loop, scope: Scope) -> tuple[set[str], set[int]] | None:
        """If the reverse trips may re-run the body: the names that they need from outside, and the statements to run again.

        None if something is carried between trips, or if the loop overwrites what is needed elsewhere.
        """
        s = item.stmt
        if not isinstance(s, gast.For) or counted(s):
            return None
        if any((routine := called(x, self.names)) is not None and routine.paired for x in E.walk(s.body)):
            return None
        changed = self.modified(s.body)
        live = Liveness(self.names, self.aliases.groups, self.shapes, self.all_needs)
        needs = live.block(s.body, frozenset())
        outside = set()
        for n, key in needs:
            if n == s.target.id:
                continue
            if n in changed and not (key == "shape" and self.fixed_shape(n)):
                return None
            if n in self.primal and not (key == "shape" and self.fixed_shape(n)):
                outside.add(n)
        if self.destroys(s, scope) or not (self.forward_dead(s) or self.cheap(s.body)):
            return None
        return outside, live.alive

    def private(self, loop: gast.For | gast.While, joint: bool) -> frozenset[str]:
        """Names of arrays (and their adjoints) that pass nothing from one trip to another, nor to what follows the loop.

        An array that each trip overwrites before it reads it, and that nobody reads after the loop, has an adjoint of zeros at the end of
        every trip of the primal, where the reverse trip begins.
        """
        if self.after is None:
            everything = Liveness(self.names, self.aliases.groups, self.shapes, alive={id(x) for x in E.walk(self.f.body)})
            everything.block(self.f.body, self.left)
            self.after = everything.after
        if id(loop) not in self.private_cache:
            changed = self.modified([loop])
            trip = Liveness(self.names, self.aliases.groups, self.shapes, alive={id(x) for x in E.walk(loop.body)})
            used = {n for n, key in trip.block(loop.body, frozenset()) if key != "shape"}
            used |= {n for n, key in self.after[id(loop)] if key != "shape"}
            self.private_cache[id(loop)] = frozenset(
                n for n in changed if is_array(self.names.get(n)) and not self.aliases.groups.get(n, frozenset((n,))) & used)
        quiet = self.private_cache[id(loop)]
        bars = frozenset(self.rev.bars[n] for n in quiet if n in self.rev.bars)
        return bars | quiet if joint else bars

    def destroys(self, loop: gast.For, scope: Scope) -> bool:
        """Whether a loop overwrites array contents that adjoints outside of it need."""
        inside = list(E.walk([loop]))
        ids = {id(x) for x in inside}
        written: set[str] = set()
        for s in inside:
            if id(s) in scope.undo:
                for n in E.effects(s, self.names).writes:
                    written |= {self.aliases.owner(m) for m in self.aliases.groups.get(n, frozenset((n,)))}
        if written & self.restored:
            return True
        return any(n in written for s in E.walk(self.f.body) if id(s) not in ids for part in self.array_needs(s) for n, _ in part)

    def forward_dead(self, loop: gast.For) -> bool:
        """Whether nothing outside the loop needs what it computes."""
        inside = {id(x) for x in E.walk([loop])}

        def extra(s: gast.stmt) -> tuple[set[Need], set[Need]]:
            return (set(), set()) if id(s) in inside else self.all_needs(s)

        live = Liveness(self.names, self.aliases.groups, self.shapes, extra)
        body = list(self.f.body)
        if not self.value:
            body = body[:-1]
        live.block(body, self.left | self.all_needs(self.f.body[-1])[0])
        return id(loop) not in live.alive

    def cheap(self, body: list[gast.stmt]) -> bool:
        """Whether running a body again costs little: arithmetic and comparisons on scalars only."""
        for s in E.walk(body):
            if isinstance(s, gast.While):
                return False
            for n in gast.walk(s) if not E.children(s) else []:
                if isinstance(n, gast.Call) and (T.dotted(n.func) or "") not in CHEAP_CALLS:
                    return False
                if isinstance(n, gast.BinOp) and (isinstance(n.op, (gast.Pow, gast.MatMult)) or is_array(type_of(n, self.names))):
                    return False
        return True


class _BlockWalk:
    """One walk over a block, backwards."""

    def __init__(self, st: _Storage, b: Block, scope: Scope, held: set[str], restored: frozenset[str] = frozenset()):
        self.st, self.b, self.scope, self.restored = st, b, scope, restored
        self.held = set(held)
        self.n = len(b.items)
        self.after: list[list[gast.stmt]] = [[] for _ in range(self.n + 1)]  # saves that follow item k-1 (0: at the start of the block)
        self.before: list[list[gast.stmt]] = [[] for _ in range(self.n + 1)]  # statements just before item k
        self.forward: list[list[gast.stmt]] = [[] for _ in range(self.n)]
        self.out: list[gast.stmt] = []
        self.needs: set[str] = set()
        self.allocations: list[gast.stmt] = []
        self.kept: list[Kept] = []
        self.forwards = False
        self.late = 0  # 1 while a write is still to be undone whose adjoint comes first
        self.changes = [st.modified([item.stmt]) for item in b.items]
        self.own = set().union(*self.changes) if self.changes else set()
        self.bound = E.bound([item.stmt for item in b.items], st.names)

    # -- finding values ----------------------------------------------------------------------------
    def last_change(self, x: str, p: int) -> int:
        return max((k for k in range(p) if x in self.changes[k]), default=-1)

    def stale_later(self, x: str, p: int) -> bool:
        return any(x in self.changes[k] for k in range(p, self.n))

    def ensure(self, x: str, p: int) -> None:
        """See to it that the reverse sweep finds x as it was before item p."""
        st = self.st
        if x in st.aliases.views:
            self.bind_view(x, p)
            self.ensure(st.aliases.owner(x), p)
            return
        if x in self.held:
            return
        self.held.add(x)
        if x not in self.own:
            self.needs.add(x)
            return
        j = self.last_change(x, p)
        if self.recompute(x, j, p):
            return
        self.save(x, j)

    def bind_view(self, x: str, p: int) -> None:
        """See to it that a view's name is bound as it was before item p; says nothing about the contents."""
        if x in self.held:
            return
        self.held.add(x)
        view = self.st.aliases.views[x]
        if not any(self.b.items[k].stmt is view.stmt for k in range(p)):
            self.needs.add(x)
            return
        values, metas = E.reads_of(view.stmt.value)
        self.st.note(view.stmt, index_parts(view.stmt.value))
        for n in sorted((values | metas) - {view.base}):
            self.ensure(n, p)
        if view.base in self.st.aliases.views:
            self.bind_view(view.base, p)
        elif view.base not in self.held and view.base in self.bound:
            self.ensure(view.base, p)
        self.out.append(T.strip_copy(view.stmt))

    def ask(self, names: set[str], p: int) -> None:
        """What inner blocks need from here: views only by their binding."""
        for n in sorted(names):
            if n in self.st.aliases.views:
                self.bind_view(n, p)
            else:
                self.ensure(n, p)

    def at_hand(self, x: str, j: int, depth: int = 0) -> bool:
        """Whether x is held, or comes from outside unchanged, or can be recomputed, and has not changed since item j."""
        if depth > 4:
            return False
        if x in self.st.aliases.views:
            return (x in self.held or x not in self.bound) and self.at_hand(self.st.aliases.owner(x), j, depth)
        if any(x in self.changes[k] for k in range(j + 1, self.n)):
            return x in self.held and not any(x in self.changes[k] for k in range(j + 1, self.position))
        if x in self.held:
            return True
        if x not in self.own:
            return x not in self.scope.modified
        k = self.last_change(x, j + 1)
        return self.can_recompute(x, k, depth + 1)

    def ready(self, n: str, k: int) -> bool:
        """Whether a name of a test may be read again when item k is reversed, without keeping anything."""
        owner = self.st.aliases.owner(n)
        if n != owner:
            return (n in self.held or n not in self.bound) and self.ready(owner, k)
        return owner in self.held or self.at_hand(owner, k)

    def can_recompute(self, x: str, j: int, depth: int = 0) -> bool:
        if j < 0:
            return False
        item = self.b.items[j]
        s = item.stmt
        if not (isinstance(item, Step) and isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)):
            return False
        if is_array(self.st.names.get(x)) or not light(s.value, self.st):
            return False
        values, metas = E.reads_of(s.value)
        return x not in values and all(self.at_hand(n, j, depth) for n in values | {m for m in metas if not self.st.fixed_shape(m)})

    def recompute(self, x: str, j: int, p: int) -> bool:
        self.position = p + self.late
        self.held.discard(x)
        ok = self.can_recompute(x, j)
        self.held.add(x)
        if not ok:
            return False
        s = self.b.items[j].stmt
        assert isinstance(s, gast.Assign)
        self.st.note(s, [s.value])
        values, metas = E.reads_of(s.value)
        for n in sorted(values | {m for m in metas if not self.st.fixed_shape(m)}):
            self.ensure(n, p)
        self.out.append(T.strip_copy(s))
        return True

    # -- keeping values ----------------------------------------------------------------------------
    def save(self, x: str, j: int) -> None:
        """Keep x after item j (or at the start of the block, j = -1), and read it back here."""
        t = self.st.names[x]
        put, get = self.slot(x, T.name(x), t, self.b.items[max(j, 0)].stmt if self.n else None)
        self.after[j + 1] += put
        bound_here = x not in self.st.aliases.stable or j >= 0 and any(
            x in E.effects(self.b.items[k].stmt, self.st.names).binds for k in range(j + 1))
        looked_into = any(v.base == x for v in self.st.aliases.views.values())
        if is_array(t) and (looked_into or not bound_here):
            whole: gast.expr = gast.Slice(None, None, None) if t.ndim else T.const(...)  # type: ignore[union-attr]
            self.out.append(gast.Assign([gast.Subscript(T.name(x), whole, gast.Store())], get, None))
        else:
            self.out.append(gast.Assign([T.store(x)], get, None))

    def slot(self, base: str, value: gast.expr, t: Type, s: gast.stmt | None) -> tuple[list[gast.stmt], gast.expr]:
        """(statements that keep a value, expression that reads it back), with the allocation noted."""
        st = self.st
        n = st.fresh(base + "_saved")
        st.names[n] = t
        nest = self.scope.nest
        place = st.f.source.place(s.lineno) if s is not None and hasattr(s, "lineno") else None
        # an array that nobody writes into need not be copied
        fresh_value = isinstance(value, gast.Call) or (isinstance(value, gast.Name) and not st.aliases.is_written(value.id))
        kept_value = gast.Call(gast.Attribute(A.clone(value), "copy", gast.Load()), [], []) if is_array(t) and not fresh_value else value
        why = f"`{base}` is overwritten before the reverse sweep needs it"
        item = 8 if not isinstance(t, (Scalar, Array)) else {"float32": 4, "int32": 4, "bool": 1}.get(t.dtype, 8)
        dims = (st.shapes.dims.get(base) if isinstance(value, gast.Name) else None) if is_array(t) else ()
        if not nest:
            self.kept.append(Kept(n, why, formula(item, [], dims), place))
            return [gast.Assign([T.store(n)], kept_value, None)], T.name(n)
        shape = self.saved_shape(dims)
        if shape is None:
            del st.names[n]  # a list has no type of the language
            self.allocations.append(gast.Assign([T.store(n)], gast.List([], gast.Load()), None))
            put: gast.stmt = gast.Expr(gast.Call(gast.Attribute(T.name(n), "append", gast.Load()), [kept_value], []))
            self.kept.append(Kept(n, why + " (grows with the trips of the loop)", formula(item, ["trips"] * len(nest), dims), place))
            return [put], gast.Call(gast.Attribute(T.name(n), "pop", gast.Load()), [], [])
        dtype = t.dtype if isinstance(t, (Scalar, Array)) else "float64"
        arguments: list[gast.expr] = [shape[0] if len(shape) == 1 else gast.Tuple(shape, gast.Load())]
        if dtype != "float64":
            arguments.append(T.expr("np." + {"bool": "bool_"}.get(dtype, dtype)))
        self.allocations.append(gast.Assign([T.store(n)], gast.Call(T.expr("np.empty"), arguments, []), None))
        st.names[n] = Array(dtype, len(shape))
        indices = [trip_index(loop) for loop in nest]
        index: gast.expr = indices[0] if len(indices) == 1 else gast.Tuple(indices, gast.Load())

        def cell(ctx: gast.expr_context) -> gast.expr:
            return gast.Subscript(T.name(n), A.clone(index), ctx)

        trips = [trip_text(loop) for loop in nest]
        self.kept.append(Kept(n, why, formula(item, trips, dims), place))
        return [gast.Assign([cell(gast.Store())], A.clone(value), None)], cell(gast.Load())

    def saved_shape(self, dims: tuple[str, ...] | None) -> list[gast.expr] | None:
        """Lengths of a preallocated array for the trips of the loops around, or None if they are not known before the outermost starts."""
        if dims is None:
            return None
        nest = self.scope.nest
        outer, bound = self.st.modified([nest[0]]), E.bound([nest[0]], self.st.names)
        out: list[gast.expr] = []
        for loop in nest:
            if counted(loop) or not isinstance(loop, gast.For):
                return None
            values, metas = E.reads_of(loop.iter)
            if values & outer or metas & bound or loop.target.id in E.bound(loop.body, self.st.names):
                return None
            assert isinstance(loop.iter, gast.Call)
            out.append(gast.Call(T.name("len"), [A.clone(loop.iter)], []))
        for axis in dims:
            if not is_expression(axis):
                return None
            e = T.expr(axis)
            values, metas = E.reads_of(e)
            if values & outer or metas & bound:
                return None
            out.append(e)
        return out

    # -- the walk ----------------------------------------------------------------------------------
    def run(self) -> Result:
        for k in range(self.n - 1, -1, -1):
            item = self.b.items[k]
            self.position = k
            if isinstance(item, Step):
                self.step(item, k)
            elif isinstance(item, Branch):
                self.branch(item, k)
            else:
                self.loop(item, k)
        for n in sorted(self.st.read(self.b.end)):
            self.ensure(n, 0)
        self.out += T.duplicate(self.b.end)
        for n in sorted(self.restored):
            self.ensure(n, 0)
        forward = list(self.after[0])
        for k in range(self.n):
            forward += self.before[k]
            if not isinstance(self.b.items[k], Step):
                forward += self.forward[k]
            elif self.runs(self.b.items[k].stmt):
                forward.append(T.shallow(self.b.items[k].stmt))
            forward += self.after[k + 1]
        return Result(forward, self.out, self.held, self.needs, self.allocations, self.kept)

    def runs(self, s: gast.stmt) -> bool:
        """Whether a statement is part of this region's forward sweep."""
        return self.scope.only is None or id(s) in self.scope.only

    def step(self, item: Step, k: int) -> None:
        st, s = self.st, item.stmt
        e = E.effects(s, st.names)
        for n in sorted(item.post):
            self.ensure(n, k + 1)
        if isinstance(s, gast.Return):
            self.say(item)
            for n in sorted(st.read(item.adjoint)):
                self.ensure(n, k)
            self.out += T.duplicate(item.adjoint)
            return
        if called(s, st.names) is not None:
            self.call(item, e, k)
            return
        back = inverse(s, st)
        if back is not None and e.binds <= self.held and self.runs(s):
            self.out.append(back)
        else:
            self.held -= e.binds
        undo = id(s) in self.scope.undo and bool(e.writes) and self.runs(s)
        pre = st.pre(item)
        target = s.targets[0] if isinstance(s, gast.Assign) else s.target if isinstance(s, gast.AugAssign) else None
        owner = st.aliases.owner(T.base_name(target)) if e.writes and target is not None else None
        put: list[gast.stmt] = []
        restore: gast.stmt | None = None
        if undo and owner is not None and owner in st.aliases.stable and target is not None:
            kind = region_of(target, st)
            place = T.loaded(target) if isinstance(target, gast.Subscript) else T.name(T.base_name(target))
            t = type_of(place, st.names)
            old = place if kind == "element" else gast.Call(gast.Attribute(place, "copy", gast.Load()), [], []) if kind != "fancy" else place
            put, get = self.slot(T.base_name(target), old, t, s)
            self.before[k] += put
            slot: gast.expr = A.clone(target) if isinstance(target, gast.Subscript) else gast.Subscript(
                T.name(T.base_name(target)), gast.Slice(None, None, None) if t.ndim else T.const(...), gast.Store())  # type: ignore[union-attr]
            slot.ctx = gast.Store()
            restore = gast.Assign([slot], get, None)
            index_names = E.reads_of(target.slice)[0] if isinstance(target, gast.Subscript) else set()
            if isinstance(target, gast.Subscript):
                st.note(s, [target.slice])
            for n in sorted(index_names & st.primal):
                self.ensure(n, k)
            base = T.base_name(target)
            if base in st.aliases.views:
                self.bind_view(base, k + 1)
            elif base not in self.held:
                self.ensure(base, k + 1)
        elif owner is not None and owner not in st.aliases.stable:
            self.held -= st.aliases.groups.get(owner, frozenset((owner,))) - frozenset(st.aliases.views)
        # a stable array whose old contents nobody needs counts as held: what this write destroyed is not asked for
        late = restore is not None and owner in st.owners(set(item.post))
        if restore is not None and not late:
            self.out.append(restore)
        self.late = int(late)
        for n in sorted(pre):
            self.ensure(n, k)
        self.late = 0
        if item.adjoint:
            self.say(item)
            self.out += T.duplicate(item.adjoint)
        if restore is not None and late:
            self.out.append(restore)

    def call(self, item: Step, e: E.Effects, k: int) -> None:
        """A call of a recursive function: its reverse sweep leaves the arrays that it has changed as they were before."""
        st = self.st
        self.held -= e.binds
        if not item.adjoint:
            for n in e.writes:
                self.held -= st.aliases.groups.get(n, frozenset((n,))) - frozenset(st.aliases.views)
            return
        for n in sorted(st.pre(item)):
            self.ensure(n, k)
        self.say(item)
        self.out += T.duplicate(item.adjoint)

    def say(self, item: Step) -> None:
        """The comment that heads the adjoint of a statement: the statement as the user wrote it."""
        if not item.adjoint:
            return
        text = self.st.f.source.text(item.stmt)
        if not text:
            return
        if len(text) > 63:
            text = text[:60].rstrip() + " ..."
        self.out.append(T.at(T.Comment(text), item.stmt))

    def branch(self, item: Branch, k: int) -> None:
        st, s = self.st, item.stmt
        results = []
        for b in (item.body, item.orelse):
            walk = _BlockWalk(st, b, self.scope, self.held)
            results.append(walk.run())
        test: gast.expr = A.clone(s.test)
        new = copy.copy(s)
        changed = self.changes[k]
        if results[0].reverse or results[1].reverse or item.before:
            self.ask(results[0].needs | results[1].needs, k + 1)
            for n in sorted(st.read(item.before)):
                self.ensure(n, k + 1)
            values, metas = E.reads_of(s.test)
            wanted = {n for n in values | {m for m in metas if not st.fixed_shape(m)} if n in st.primal}
            if results[0].reverse or results[1].reverse:
                self.position = k + 1
                if all(self.ready(n, k) for n in wanted):
                    for n in sorted(wanted):
                        self.ensure(n, k + 1)
                else:
                    if isinstance(s.test, gast.Name) and self.scope.nest:
                        flag = s.test.id
                    else:
                        flag = st.fresh("taken")
                        st.names[flag] = WEAK_BOOL
                        self.before[k].append(gast.Assign([T.store(flag)], A.clone(s.test), None))
                    test = T.name(flag)
                    if self.scope.nest:
                        put, test = self.slot(flag, T.name(flag), WEAK_BOOL, s)
                        self.before[k] += put
                    new.test = T.name(flag)
        new.body, new.orelse = results[0].forward, results[1].forward
        self.forward[k] = [new]
        self.allocations_of(results, k)
        if results[0].reverse or results[1].reverse:
            self.out += T.duplicate(item.before)
            body, orelse = results[0].reverse, results[1].reverse
            if not body:
                test, body, orelse = negated(test), orelse, []
            self.out.append(gast.If(test, body, orelse))
        else:
            self.out += T.duplicate(item.before)
        requested = results[0].needs | results[1].needs
        both = results[0].held & results[1].held
        self.held = {x for x in self.held | both | requested if x not in changed or x in both}

    def allocations_of(self, results: list[Result], k: int) -> None:
        for r in results:
            self.allocations += r.allocations
            self.kept += r.kept

    def loop(self, item: Loop, k: int) -> None:
        st, s = self.st, item.stmt
        if not st.has_adjoint(item):
            self.forward[k] = only(s, self.scope)
            for n in sorted(st.read(item.before)):
                self.ensure(n, k + 1)
            self.out += T.duplicate(item.before)
            self.held -= self.changes[k]
            return
        used = set(st.fresh.used)
        chosen = self.stored(item, k)
        if chosen.kept:
            found = st.joint_ok(item, self.scope)
            if found is not None:
                st.fresh.used = used
                outside, again = found
                self.finish_joint(item, k, self.joint(item, again), outside, again)
                return
        inner_modified = self.changes[k]
        if isinstance(s, gast.For):
            header_names = E.reads_of(s.iter)
            head = {n for n in header_names[0] | {m for m in header_names[1] if not st.fixed_shape(m)} if n in st.primal}
        else:
            head = set()
        counter = counted(s)
        if counter:
            head.add(counter)
        binds = E.bound([s], st.names)
        self.ask(chosen.needs - binds, k + 1)
        for n in sorted(head | st.read(item.before)):
            self.ensure(n, k + 1)
        new = copy.copy(s)
        new.body = chosen.forward
        self.forward[k] = [new]
        if self.scope.nest:
            self.allocations += chosen.allocations
        else:
            self.before[k] += chosen.allocations
        self.kept += chosen.kept
        self.out += T.duplicate(item.before)
        counters = {x for x in binds if counts(x, s.body, st) and x in T.all_names(chosen.reverse)}
        counting = self.counting(s, chosen.reverse, counters) if isinstance(s, gast.For) and counters and not counters & self.scope.counters else None
        if counting is not None:
            # count up again: from the value before the loop
            self.held -= counters
            for n in sorted(counters):
                self.ensure(n, k)
            self.held -= counters
            reverse_loop: gast.stmt = counting
            self.forwards = True
        else:
            for n in sorted(counters):
                self.ensure(n, k + 1)
            reverse_loop = self.ordered(s, chosen.reverse, st.private(s, joint=False))
        st.primal_loops[id(reverse_loop)] = reverse_loop, s
        self.out.append(reverse_loop)
        self.held = {x for x in self.held if x not in inner_modified or (
            x in chosen.held and ((counting is None and counts(x, s.body, st)) if x in binds else x in st.aliases.stable))}
        if self.forwards and isinstance(s, gast.For):
            self.forget(s, chosen.reverse)

    def ordered(self, s: gast.For | gast.While, body: list[gast.stmt], private: frozenset[str]) -> gast.stmt:
        """The reverse loop, run forwards if its trips are independent."""
        st = self.st
        if not (isinstance(s, gast.For) and counted(s) is None and body
                and independent(s, body, st.names, private, self.out, st.shapes, st.distinct)):
            self.forwards = False
            return reversed_loop(s, body)
        self.forwards = True
        return forwards(s, body)

    def counting(self, s: gast.For, body: list[gast.stmt], counters: set[str]) -> gast.stmt | None:
        """The reverse loop run forwards, with its counters counting as in the primal; None if that is not possible.

        Each counter must be changed at one place, at the end of the innermost body (so first in the reverse).
        """
        st = self.st
        if counted(s) is not None or s.target.id in E.bound(s.body, st.names):
            return None
        first = 0
        steps: list[gast.stmt] = []
        for x in body:
            if not (isinstance(x, gast.AugAssign) and isinstance(x.target, gast.Name) and x.target.id in counters):
                break
            back = inverse(x, st)
            assert back is not None
            steps.append(back)
            first += 1
        new: list[gast.stmt] = []
        for x in body[first:]:
            touched = (E.bound([x], st.names) | T.all_names([x])) & counters
            moved = E.bound([x], st.names) & counters
            if moved:
                primal = st.primal_loops.get(id(x), (x, None))[1]
                if not isinstance(x, gast.For) or not isinstance(primal, gast.For) or steps:
                    return None
                inner = self.counting(primal, x.body, counters)
                if inner is None:
                    return None
                new.append(inner)
            else:
                if touched and not steps:
                    return None
                new.append(x)
        new += steps[::-1]
        private = st.private(s, joint=False)
        if not independent(s, new, st.names, private, self.out, st.shapes, st.distinct, frozenset(counters)):
            return None
        return forwards(s, new)

    def forget(self, s: gast.For, body: list[gast.stmt]) -> None:
        """A reverse loop that ran forwards leaves the values of its last trip in what it read back."""
        st, mentioned = self.st, T.all_names(body)

        def restored(n: str) -> bool:
            """Whether each trip restores elements of its own, under one name of the array."""
            used = st.aliases.groups.get(n, frozenset((n,))) & mentioned
            return len(used) == 1 and own_elements(next(iter(used)), s.target.id, body, st.distinct)

        self.held -= {n for n in st.modified(body) & st.primal if not restored(n)}

    def stored(self, item: Loop, k: int) -> Result:
        """The loop with kept values."""
        st, s = self.st, item.stmt
        changed = self.changes[k]
        binds = E.bound([s], st.names)
        steady = {x for x in changed if x in st.aliases.stable and x not in binds and x in self.held}
        counters = {x for x in binds if counts(x, s.body, st)}
        steady |= counters
        free = {x for x in self.held if x not in changed}
        index = {s.target.id} if isinstance(s, gast.For) and s.target.id not in E.bound(s.body, st.names) else set()
        used = set(st.fresh.used)
        while True:
            st.fresh.used = set(used)  # names of an attempt that is given up are free again
            scope = Scope([*self.scope.nest, s], changed, self.scope.undo, self.scope.only, frozenset(counters))
            walk = _BlockWalk(st, item.body, scope, free | steady | index)
            if index:
                walk.own -= index
            r = walk.run()
            lost = {x for x in steady if x not in r.held}
            if not lost:
                return r
            steady -= lost

    def joint(self, item: Loop, again: set[int]) -> Result:
        """The loop with each reverse trip running the body again."""
        st, s = self.st, item.stmt
        undo = tbr.recorded(s.body, st.array_needs, st.aliases, st.shapes, st.distinct)
        changed = st.modified([s])
        scope = Scope([], changed, undo, again)
        return _BlockWalk(st, item.body, scope, set(self.held) | changed | st.primal).run()

    def finish_joint(self, item: Loop, k: int, r: Result, outside: set[str], again: set[int]) -> None:
        st, s = self.st, item.stmt
        assert isinstance(s, gast.For)
        values, metas = E.reads_of(s.iter)
        head = {n for n in values | {m for m in metas if not st.fixed_shape(m)} if n in st.primal}
        changed = self.changes[k]
        st.note(s, [T.name(n) for n in outside if n not in changed])
        for n in sorted(outside | head | st.read(item.before)):
            self.ensure(n, k + 1)
        self.forward[k] = only(s, self.scope)
        self.kept += r.kept
        self.out += T.duplicate(item.before)
        # room whose size is known before the loop is made once
        early = [a for a in r.allocations if not isinstance(a.value, gast.List) and not set().union(*E.reads_of(a.value)) & (changed | {s.target.id})]
        self.out += early
        body = [*(a for a in r.allocations if a not in early), *T.duplicate(r.forward), *r.reverse]
        self.out.append(self.ordered(s, body, st.private(s, joint=True)))
        # what the loop bound, what runs again, and what was overwritten without being kept is not as it was before the loop
        lost = E.bound([s], st.names)
        for x in E.walk([s]):
            if id(x) in again or id(x) in self.scope.undo:
                for n in E.effects(x, st.names).writes:
                    lost |= st.aliases.groups.get(n, frozenset((n,)))
        self.held -= lost | {n for n in changed if is_array(st.names.get(n)) and n not in st.aliases.stable and n not in st.aliases.views}


def inverse(s: gast.stmt, st: _Storage) -> gast.stmt | None:
    """`k -= 1` for `k += 1`, where k is an int: exact, so that nothing need be kept."""
    if (isinstance(s, gast.AugAssign) and isinstance(s.op, (gast.Add, gast.Sub)) and isinstance(s.target, gast.Name)
            and is_int(st.names.get(s.target.id)) and isinstance(A.number(s.value), int)):
        return gast.AugAssign(T.store(s.target.id), gast.Sub() if isinstance(s.op, gast.Add) else gast.Add(), A.clone(s.value))
    return None


def counts(x: str, body: list[gast.stmt], st: _Storage) -> bool:
    """Whether a body changes an int only by steps that can be taken back."""
    steps = [s for s in E.walk(body) if x in E.effects(s, st.names).binds]
    return bool(steps) and all(inverse(s, st) is not None for s in steps)


def only(s: gast.stmt, scope: Scope) -> list[gast.stmt]:
    """A statement as it is, but in a joint region only the parts that are run again."""
    if scope.only is None:
        return [T.shallow(s)]
    return keep([s], scope.only)


def index_parts(e: gast.expr) -> list[gast.AST]:
    """The subscripts of a view expression."""
    if isinstance(e, gast.Subscript):
        return [e.slice, *index_parts(e.value)]
    if isinstance(e, gast.Attribute):
        return index_parts(e.value)
    if isinstance(e, gast.Call):
        return [*e.args[1:], *(index_parts(e.args[0]) if e.args else [])]
    return []


def region_of(target: gast.expr, st: _Storage) -> str:
    """What an assignment target selects."""
    return "view" if isinstance(target, gast.Name) else region(T.loaded(target), st.names)


def light(e: gast.expr, st: _Storage) -> bool:
    """Whether computing a scalar again is cheaper than keeping it: a few loads, sums and products."""
    if A.size(e) > 14:
        return False
    for n in gast.walk(e):
        if isinstance(n, gast.Call) and (T.dotted(n.func) or "") not in ("len", "int", "float", "abs"):
            return False
        if isinstance(n, gast.BinOp) and not isinstance(n.op, (gast.Add, gast.Sub, gast.Mult)):
            if not (isinstance(n.op, (gast.FloorDiv, gast.Mod)) and A.number(n.right)):
                return False
    return True


def trip_index(loop: gast.For) -> gast.expr:
    """The number of the current trip."""
    assert isinstance(loop.iter, gast.Call)
    args = loop.iter.args
    i = T.name(loop.target.id)
    if len(args) == 1:
        return i
    start, step = args[0], args[2] if len(args) == 3 else T.const(1)
    if A.number(start) == 0:
        shifted: gast.expr = i
    else:
        sign, rest = A.split_sign(A.clone(start))
        shifted = gast.BinOp(i, gast.Sub() if sign > 0 else gast.Add(), rest)
    k = A.number(step)
    if k == 1:
        return shifted
    if k == -1:
        return gast.BinOp(A.clone(start), gast.Sub(), T.name(loop.target.id))
    return gast.BinOp(shifted, gast.FloorDiv(), A.clone(step))


def trip_text(loop: gast.For) -> str:
    """The number of trips as text, for `explain`."""
    assert isinstance(loop.iter, gast.Call)
    text = to_source(loop.iter).strip()
    return to_source(loop.iter.args[0]).strip() if len(loop.iter.args) == 1 else f"len({text})"


def formula(item: int, trips: list[str], dims: tuple[str, ...] | None) -> str:
    """A size in bytes such as `8*n*steps`."""
    def simple(p: str) -> bool:
        return p.isidentifier() or p.translate({ord(c): None for c in ".[]"}).isalnum() or p.startswith("len(")

    parts = [str(item), *(dims if dims is not None else ["size"]), *trips]
    return "*".join(p if simple(p) else f"({p})" for p in parts)


def reversed_loop(s: gast.For | gast.While, body: list[gast.stmt]) -> gast.stmt:
    """The loop that runs the trips of another backwards."""
    counter = counted(s)
    if isinstance(s, gast.While):
        return gast.For(T.store("_"), T.expr(f"range({counter})"), body or [gast.Pass()], [], None)
    assert isinstance(s.iter, gast.Call)
    args = [A.clone(a) for a in s.iter.args]
    start: gast.expr = T.const(0) if len(args) == 1 else args[0]
    stop = args[0] if len(args) == 1 else args[1]
    step = args[2] if len(args) == 3 else T.const(1)
    k = A.number(step)
    one = T.const(1)
    if counter:
        count: gast.expr = T.name(counter)
    else:
        count = gast.Call(T.name("len"), [A.clone(s.iter)], [])
    if k == 1 and not counter:
        new = [minus(stop, one), minus(start, one), T.expr("-1")]
    elif k == -1 and not counter:
        new = [plus(stop, one), plus(start, one)]
    else:
        last = plus(A.clone(start), A.mul(minus(count, one), A.clone(step)))
        new = [last, minus(A.clone(start), A.clone(step)), A.neg(A.clone(step))]
    return gast.For(T.store(s.target.id), gast.Call(T.name("range"), new, []), body or [gast.Pass()], [], None)


def plus(a: gast.expr, b: gast.expr) -> gast.expr:
    """`a + b` with literals folded."""
    x, y = A.number(a), A.number(b)
    if x is not None and y is not None:
        return A.literal(x + y)
    if isinstance(a, gast.BinOp) and isinstance(a.op, (gast.Add, gast.Sub)) and y is not None:
        z = A.number(a.right)
        if z is not None:
            total = (z if isinstance(a.op, gast.Add) else -z) + y
            if total == 0:
                return a.left
            return gast.BinOp(a.left, gast.Add() if total > 0 else gast.Sub(), A.literal(abs(total)))
    return A.add(a, b)


def minus(a: gast.expr, b: gast.expr) -> gast.expr:
    """`a - b` with literals folded."""
    y = A.number(b)
    return plus(a, A.literal(-y)) if y is not None else A.add(a, A.neg(b))


def negated(test: gast.expr) -> gast.expr:
    """`not test`; an equality is turned round (an order is not: NaN)."""
    if isinstance(test, gast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (gast.Eq, gast.NotEq)):
        return gast.Compare(test.left, [gast.NotEq() if isinstance(test.ops[0], gast.Eq) else gast.Eq()], test.comparators)
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    return gast.UnaryOp(gast.Not(), test)


def store(function: Function, rev: Reversed, aliases: Aliases, shapes: Shapes, value: bool,
          restored: frozenset[str] | None = None) -> Stored:
    """Both sweeps of a function, with what has to be kept between them.

    `restored`: the function's sweeps are to be two functions, and these arrays are to be left by the reverse sweep as the forward one found them.

    >>> from s2sad.transforms.example import after
    >>> print(after("storage", "for i in range(n):\\n    x = np.sin(x)\\nreturn x", "x: f8; n: i8"))
    # --- forward sweep ---
    x_saved = np.empty(len(range(n)))
    for i in range(n):
        x_saved[i] = x
        x = np.sin(x)
    # --- reverse sweep ---
    for i in range(n - 1, -1, -1):
        x = x_saved[i]
        # x = np.sin(x)
        x_bar = np.cos(x) * x_bar
    return x_bar
    """
    st = _Storage(function, rev, aliases, shapes, value, restored or frozenset())
    root = Block(rev.block.items, rev.end)
    everything = set(rev.names) | set(function.params)
    if restored is not None:
        everything -= set(aliases.views)  # views are made again, of the arrays that the reverse sweep is given
    used, names = set(rev.fresh.used), dict(rev.names)
    while True:
        st.news = False
        undo = tbr.recorded(list(function.body), st.array_needs, aliases, shapes, st.distinct, st.restored)
        r = st.block(root, Scope([], st.modified(list(function.body)), undo), everything)
        if not st.news:
            break
        # what is run again reads arrays that are overwritten later: once more, with that known
        rev.fresh.used = set(used)
        rev.names.clear()
        rev.names.update(names)
    return Stored([*r.allocations, *r.forward], r.reverse, r.kept)

