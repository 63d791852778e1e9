"""Reverse mode: for every statement its adjoint statements.

The result is a tree of blocks that mirrors the function. Nothing is said about storage: an adjoint statement may repeat any primal value as it was
just before its statement (or just after it, for the names in `Step.post`); `storage` sees to it that it gets it.

The adjoint of a name is zero where the name is not live in the differentiable sense, so that the first contribution is an assignment.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import gast

from s2sad import rules
from s2sad.analysis import activity
from s2sad.analysis import effects as E
from s2sad.analysis.aliases import Aliases
from s2sad.analysis.shapes import Shapes
from s2sad.analysis.types import region, type_of
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.routines import called, results_of, targets_of
from s2sad.lang.tree import Function
from s2sad.lang.types import Array, Scalar, Type, is_array, is_float
from s2sad.transforms.hoist import is_total


@dataclass
class Step:
    """A simple statement and its adjoint, in the order of the reverse sweep."""

    stmt: gast.stmt
    adjoint: list[gast.stmt] = field(default_factory=list)
    post: frozenset[str] = frozenset()


@dataclass
class Block:
    """Steps in the order of the primal; `end` runs last in the block's reverse sweep."""

    items: list[Step | Branch | Loop] = field(default_factory=list)
    end: list[gast.stmt] = field(default_factory=list)


@dataclass
class Branch:
    """An If; `before` runs before its reverse."""

    stmt: gast.If
    before: list[gast.stmt]
    body: Block
    orelse: Block


# what rules call on an adjoint and what may return the adjoint's own memory
MAY_SHARE = ("sum_to", "np.transpose", "untranspose", "np.reshape", "np.ravel", "reshaped", "np.swapaxes", "np.moveaxis", "np.flipud", "np.fliplr",
             "flip_of")


@dataclass
class Loop:
    """A loop; `before` runs before its reverse."""

    stmt: gast.For | gast.While
    before: list[gast.stmt]
    body: Block


@dataclass
class Reversed:
    """What `reverse` returns: the tree of adjoints, the seeds' names, the results, and the types of all names."""

    block: Block
    seeds: list[str]
    results: list[gast.expr]
    end: list[gast.stmt]
    names: dict[str, Type]
    bars: Mapping[str, str]
    fresh: T.Fresh
    arrays: frozenset[str] = frozenset()  # temporaries that are arrays

    @property
    def seed(self) -> str:
        """The seed of a function with one result."""
        return self.seeds[0]


@dataclass(frozen=True)
class Flow:
    """An adjoint on its way down an expression: sign * num * seed / den.

    `full`: it has the shape of the region's root; otherwise it is a scalar that stands for a constant array of that shape.
    """

    seed: gast.expr
    root: gast.expr
    full: bool
    sign: int = 1
    num: tuple[gast.expr, ...] = ()
    den: tuple[gast.expr, ...] = ()

    def times(self, partial: gast.expr) -> Flow:
        """The flow multiplied by a partial derivative."""
        sign, num, den = A.factors(partial)
        return Flow(self.seed, self.root, self.full, self.sign * sign, (*self.num, *num), (*self.den, *den))

    def tree(self) -> gast.expr:
        """The adjoint as an expression."""
        sign, num, den = A.factors(A.clone(self.seed))
        return A.signed(self.sign * sign, A.product([*map(A.clone, self.num), *num], [*den, *map(A.clone, self.den)]))

    def plain(self) -> bool:
        """Whether this is just the seed or its negative."""
        return not self.num and not self.den


@dataclass
class Contribution:
    """`tree` is to be added into the adjoint of `leaf`; it is either a scalar or of the leaf's shape."""

    leaf: gast.expr
    tree: gast.expr
    scalar: bool


class _Reverse:
    def __init__(self, function: Function, aliases: Aliases, shapes: Shapes, wrt: tuple[str, ...], lent: frozenset[str], kept: frozenset[str]):
        self.f, self.aliases, self.shapes, self.wrt = function, aliases, shapes, wrt
        self.names: dict[str, Type] = dict(function.names)
        self.active = activity.active(function, aliases, wrt, kept)
        self.lent = lent & self.active
        self.before, self.after = activity.live_adjoints(function, aliases, self.active, self.lent)
        self.fresh = T.Fresh(T.all_names(function.body) | set(function.params))
        self.bars: dict[str, str] = {}
        self.masked = self.selected_names()
        self.temps: list[gast.stmt] = []
        self.arrays: set[str] = set()  # temporaries that are arrays: `share` sees to it that no two adjoints get the same one
        self.out: list[Contribution] = []
        self.post: set[str] = set()
        self.result_name: str | None = None
        self.in_loop = 0

    # -- names -------------------------------------------------------------------------------------
    def bar(self, n: str) -> str:
        """The adjoint of a name."""
        if n not in self.bars:
            self.bars[n] = self.fresh(n + "_bar")
            self.names[self.bars[n]] = self.names[n]
        return self.bars[n]

    def temp(self, wish: str, value: gast.expr, t: Type) -> gast.expr:
        n = self.fresh(wish)
        self.names[n] = t
        self.temps.append(gast.Assign([T.store(n)], value, None))
        if is_array(t):
            self.arrays.add(n)
        return T.name(n)

    def selected_names(self) -> frozenset[str]:
        """Names whose adjoint may be exactly zero because another operand was selected (where, maximum, a mask ...), and what they are made of."""
        names = self.f.names
        masked: set[str] = set()
        for s in E.walk(self.f.body):
            for e in gast.walk(s) if not E.children(s) else []:
                if isinstance(e, gast.Call) and (T.dotted(e.func) or "") in activity.SELECTING:
                    masked |= {self.aliases.owner(n) for a in e.args for n in activity.sources(a, names)}
                elif isinstance(e, gast.Subscript) and isinstance(e.value, gast.Name) and is_array(names.get(e.value.id)):
                    masked.add(self.aliases.owner(e.value.id))
        pairs = activity.flows(self.f, self.aliases)
        while True:
            n = len(masked)
            for target, src in pairs:
                if target in masked:
                    masked |= src
            if len(masked) == n:
                return frozenset(masked)

    # -- expressions -------------------------------------------------------------------------------
    def pull(self, e: gast.expr, w: Flow) -> None:
        """Send an adjoint down an expression to its leaves."""
        if not is_float(type_of(e, self.names)) or not self.active_sources(e):
            return
        if isinstance(e, gast.Name) or (isinstance(e, gast.Subscript) and isinstance(e.value, gast.Name)):
            self.leaf(e, w)
        elif isinstance(e, gast.UnaryOp):
            self.pull(e.operand, w.times(T.const(-1)) if isinstance(e.op, gast.USub) else w)
        elif isinstance(e, gast.Attribute):
            self.transposed(e, w)
        else:
            found = activity.rule_of(e, self.names)
            assert found is not None, gast.dump(e)
            rule, bound = found
            if is_total(e):
                self.total(e, w)
            elif rule.kind == "elementwise":
                self.elementwise(e, rule, bound, w)
            else:
                self.vjp(e, rule, bound, w)

    def active_sources(self, e: gast.expr) -> set[str]:
        return {n for n in activity.sources(e, self.names) if self.aliases.owner(n) in self.active}

    def transposed(self, e: gast.Attribute, w: Flow) -> None:
        """`x.T` alone on a right side that is not a view (its base is not stable)."""
        g = w.tree()
        self.add(e.value, gast.Attribute(g, "T", gast.Load()), scalar=False)

    def total(self, e: gast.Call, w: Flow) -> None:
        """A sum or mean over all entries of an expression."""
        arg = e.args[0]
        g = self.scalar_flow(e, w)
        if T.dotted(e.func) == "np.mean":
            count = gast.Attribute(A.clone(self.an_array(arg)), "size", gast.Load())
            g = Flow(g.seed, g.root, g.full, g.sign, g.num, (*g.den, count))
        if not isinstance(arg, (gast.Name, gast.Subscript)) and not g.plain() and self.busy(arg):
            g = Flow(self.temp("w", g.tree(), Scalar(type_of(e, self.names).dtype)), arg, False)  # type: ignore[union-attr]
        self.pull(arg, Flow(g.seed, arg, not is_array(type_of(arg, self.names)), g.sign, g.num, g.den))

    def an_array(self, e: gast.expr) -> gast.expr:
        """Some array operand of a pointwise expression (they have one shape here); not an array inside of a scalar operand."""
        below = [e]
        while below:
            n = below.pop(0)
            if not is_array(type_of(n, self.names)):
                continue
            if isinstance(n, (gast.Name, gast.Subscript)):
                return n
            if isinstance(n, gast.Call):
                below += [*n.args, *(k.value for k in n.keywords)]
            else:
                below += [c for c in gast.iter_child_nodes(n) if isinstance(c, gast.expr)]
        raise AssertionError(gast.dump(e))

    def busy(self, e: gast.expr) -> bool:
        """Whether an adjoint sent into this expression is used more than once."""
        return sum(self.aliases.owner(T.base_name(x)) in self.active for x in activity.leaves(e, self.names)) > 1

    def scalar_flow(self, e: gast.expr, w: Flow) -> Flow:
        """The adjoint of a scalar operand inside an array expression: summed over the entries."""
        if not is_array(type_of(w.root, self.names)):
            return w
        if self.spread(w):
            sign, size = A.split_sign(w.tree())
            return Flow(self.call_of("np.sum", size), e, True, sign)
        count = gast.Attribute(A.clone(self.an_array(w.root)), "size", gast.Load())
        return Flow(w.seed, e, True, w.sign, (*w.num, count), w.den)

    def spread(self, w: Flow, *factors: gast.expr) -> bool:
        """Whether an adjoint (times factors) is an array, and not one number for all entries."""
        return w.full or any(is_array(type_of(x, self.names)) for x in (*w.num, *w.den, *factors))

    def call_of(self, f: str, *args: gast.expr) -> gast.expr:
        return gast.Call(T.expr(f), [A.clone(a) for a in args], [])

    def result(self, e: gast.expr, rule: rules.Rule, param: str) -> gast.expr:
        """What stands for the result in a partial: the target's name where that is possible, otherwise the expression itself."""
        if self.result_name is not None and e is self.root_value and rule.result in rule.values.get(param, ()):
            self.post.add(T.base_name(self.result_tree))
            return A.clone(self.result_tree)
        return A.clone(e)

    def elementwise(self, e: gast.expr, rule: rules.Rule, bound: dict[str, gast.expr], w: Flow) -> None:
        operands = [(p, bound[p]) for p in rule.partials if p in bound and self.active_sources(bound[p])]
        if len(operands) > 1 or (operands and self.busy(operands[0][1])):
            w = self.share(w, sum(self.busy(o) for _, o in operands) + len(operands))
        if rule.name == "np.divide" and len(operands) == 2:
            self.quotient(e, rule, bound, w)
            return
        for p, operand in operands:
            partial, singular = self.partial(e, rule, bound, p, w)
            down = w
            if singular:
                g = self.call_of("strong", w.tree(), partial)
                down = Flow(g, w.root, self.spread(w, partial))
            else:
                down = w.times(partial)
            if is_array(type_of(e, self.names)) and not is_array(type_of(operand, self.names)):
                down = self.scalar_flow(operand, down)
            if self.busy(operand) and (singular or A.size(down.tree()) > 12):
                down = self.share(down, 2)
            self.pull(operand, down)

    def quotient(self, e: gast.expr, rule: rules.Rule, bound: dict[str, gast.expr], w: Flow) -> None:
        """`a / b` with both active: w / b goes into a, and -(a / b) times that into b."""
        a, b = (bound[p] for p in rule.params)
        one_over = T.expr("1 / b", b=b)
        array = is_array(type_of(e, self.names))
        ratio = self.result(e, rule, rule.params[1]) if self.keeps_result(e) else A.clone(e)
        if self.may_vanish(w) and not nonzero(b):
            first = Flow(self.call_of("strong", w.tree(), one_over), w.root, self.spread(w, one_over))
            first = self.share(first, 2, always=True)
            second = Flow(self.call_of("strong", first.tree(), A.neg(ratio)), w.root, self.spread(first, ratio))
        else:
            first = self.share(w.times(one_over), 2, always=True)
            second = first.times(A.neg(ratio))
        for operand, down in ((a, first), (b, second)):
            if array and not is_array(type_of(operand, self.names)):
                down = self.scalar_flow(operand, down)
            if self.busy(operand) and operand is b:
                down = self.share(down, 2)
            self.pull(operand, down)

    def keeps_result(self, e: gast.expr) -> bool:
        """Whether the result of an operation is better taken from where it was stored than computed again: not for scalar arithmetic in loops."""
        return self.result_name is not None and e is self.root_value and not (self.in_loop and not is_array(type_of(e, self.names)))

    def partial(self, e: gast.expr, rule: rules.Rule, bound: dict[str, gast.expr], p: str, w: Flow) -> tuple[gast.expr, bool]:
        """The partial derivative and whether an adjoint of zero must win against it."""
        kind = rule.singular.get(p)
        if rule.name == "np.power" and p == rule.params[0]:
            special = power(bound[rule.params[0]], bound[rule.params[1]])
            if special is not None:
                return special
        if rule.name == "np.divide" and p == rule.params[1] and not self.keeps_result(e):
            partial = T.expr("-(a / b) / b", a=bound[rule.params[0]], b=bound[p])
        else:
            parts = {**bound, rule.result: self.result(e, rule, p)}
            partial = T.substitute(rule.partials[p], parts)
        safe = rule.name in ("np.divide", "np.log", "math.log") and nonzero(bound[rule.params[-1]])
        return partial, kind == "finite" or (kind == "infinite" and not safe and self.may_vanish(w))

    def may_vanish(self, w: Flow) -> bool:
        """Whether the adjoint may be zero because the value was not selected."""
        return self.root_masked or any(isinstance(n, gast.Call) and (T.dotted(n.func) or "") in activity.SELECTING for n in gast.walk(w.tree()))

    def share(self, w: Flow, uses: int, always: bool = False) -> Flow:
        """Give an adjoint a name if it is used several times and is not trivial."""
        if uses < 2 or (A.size(w.tree()) < 4 and not always):
            return w
        if w.plain() and isinstance(w.seed, gast.Name):
            return w
        t = type_of(w.root, self.names)
        scalar = not is_array(t) or not self.spread(w)
        dtype = t.dtype  # type: ignore[union-attr]
        return Flow(self.temp("w", w.tree(), Scalar(dtype) if scalar else Array(dtype, t.ndim, "A")), w.root, w.full or not scalar)  # type: ignore[union-attr]

    def vjp(self, e: gast.expr, rule: rules.Rule, bound: dict[str, gast.expr], w: Flow) -> None:
        """A rule that gives whole contributions; its result is a scalar, or stands alone on the right side."""
        t = type_of(e, self.names)
        if not is_array(t):
            w = self.scalar_flow(e, w)
        g = w.tree()
        if is_array(t) and not w.full:
            g = self.call_of("np.full", gast.Attribute(A.clone(e), "shape", gast.Load()), g)
        active = [p for p in rule.partials if p in bound and self.active_sources(bound[p])]
        if not isinstance(g, gast.Name) and (len(active) > 1 or is_array(t)):
            g = self.temp("w", g, t if isinstance(t, Array) else Scalar(t.dtype))  # type: ignore[union-attr]
        for p in active:
            arg = bound[p]
            parts = {**bound, rule.result: self.result(e, rule, p), f"{rule.result}_bar": g}
            if isinstance(arg, (gast.Tuple, gast.List)):
                whole = self.temp("parts", T.substitute(rule.partials[p], parts), Array("float64", 1, "A"))
                for k, item in enumerate(arg.elts):
                    self.into(item, gast.Subscript(A.clone(whole), T.const(k), gast.Load()))
            else:
                self.into(arg, T.substitute(rule.partials[p], parts))

    def into(self, arg: gast.expr, tree: gast.expr) -> None:
        """Send a whole contribution into an argument."""
        if not self.active_sources(arg):
            return
        if isinstance(arg, gast.Name) or (isinstance(arg, gast.Subscript) and isinstance(arg.value, gast.Name)):
            self.add(arg, tree, scalar=not is_array(type_of(arg, self.names)))
        else:
            self.pull(arg, Flow(tree, arg, True))

    def leaf(self, e: gast.expr, w: Flow) -> None:
        """Add an adjoint into a name or a subscripted name, summed over the axes along which it was broadcast."""
        t = type_of(e, self.names)
        if not is_array(t):
            g = self.scalar_flow(e, w)
            self.add(e, g.tree(), scalar=True)
            return
        g_tree = w.tree()
        if w.full and not self.shapes.same(e, w.root):
            like = T.name(e.id) if isinstance(e, gast.Name) else self.bar_of(e)
            sign, size = A.split_sign(g_tree)
            g_tree = A.signed(sign, self.call_of("sum_to", size, gast.Attribute(like, "shape", gast.Load())))
        self.add(e, g_tree, scalar=not self.spread(w))

    def bar_of(self, leaf: gast.expr) -> gast.expr:
        """The adjoint of a leaf as an expression: `x_bar` or `x_bar[i]`."""
        if isinstance(leaf, gast.Name):
            return T.name(self.bar(leaf.id))
        assert isinstance(leaf, gast.Subscript)
        return gast.Subscript(T.name(self.bar(T.base_name(leaf))), A.clone(leaf.slice), gast.Load())

    def add(self, leaf: gast.expr, tree: gast.expr, scalar: bool) -> None:
        root, t = self.root_type, type_of(leaf, self.names)
        if isinstance(root, (Scalar, Array)) and isinstance(t, (Scalar, Array)) and t.dtype == "float32" and root.dtype != "float32":
            # the adjoint has the dtype of its own name
            tree = self.call_of("np.float32", tree) if scalar else gast.Call(gast.Attribute(tree, "astype", gast.Load()), [T.expr("np.float32")], [])
        for c in self.out:
            if T.same(c.leaf, leaf) and c.scalar == scalar and not isinstance(c.tree, gast.Call) and not isinstance(tree, gast.Call):
                c.tree = A.add(c.tree, tree)
                return
        self.out.append(Contribution(leaf, tree, scalar))

    # -- statements --------------------------------------------------------------------------------
    def begin(self, value: gast.expr, target: gast.expr | None, root: gast.expr) -> None:
        """Start the adjoint of one statement."""
        self.temps, self.out, self.post = [], [], set()
        self.root_value = value
        self.root_type = type_of(root, self.names)
        self.result_name, self.result_tree = None, root
        self.root_masked = False
        if target is not None:
            base = T.base_name(target)
            read = {self.aliases.owner(n) for n in E.reads_of(value)[0]}
            self.root_masked = self.aliases.owner(base) in self.masked
            index_names = E.reads_of(target.slice)[0] if isinstance(target, gast.Subscript) else set()
            usable = isinstance(target, gast.Name) or region(target, self.names) == "element"
            if usable and self.aliases.owner(base) not in read and base not in index_names:
                self.result_name, self.result_tree = base, load(target)

    def zero(self, owner: str) -> gast.stmt:
        """`x_bar = 0.0`, or an array of zeros like x."""
        t = self.names[owner]
        if is_array(t):
            return gast.Assign([T.store(self.bar(owner))], self.call_of("np.zeros_like", T.name(owner)), None)
        return gast.Assign([T.store(self.bar(owner))], self.zero_of(t), None)

    def zero_of(self, t: Type) -> gast.expr:
        """The number zero of a type."""
        zero: gast.expr = T.const(0.0)
        return self.call_of("np.float32", zero) if isinstance(t, Scalar) and t.dtype == "float32" else zero

    def emit(self, live: frozenset[str], killed: str | None, seed_name: str | None) -> list[gast.stmt]:
        """The contributions as statements: own ones last, the first into a dead adjoint as an assignment."""
        init: list[gast.stmt] = []
        body: list[gast.stmt] = []
        live_now = set(live) - ({killed} if killed else set())
        own = [c for c in self.out if self.aliases.owner(T.base_name(c.leaf)) == killed]
        rest = [c for c in self.out if self.aliases.owner(T.base_name(c.leaf)) != killed]
        for k, c in enumerate([*rest, *own]):
            base = T.base_name(c.leaf)
            owner = self.aliases.owner(base)
            # a view of the adjoint is bound before the statement, so the adjoint must be there by then
            viewed = any(self.aliases.owner(T.base_name(o.leaf)) == owner != T.base_name(o.leaf) for o in self.out)
            whole = isinstance(c.leaf, gast.Name) and base == owner and not viewed
            last = k == len(self.out) - 1
            if owner not in live_now:
                live_now.add(owner)
                if whole:
                    if owner == killed and any(self.bar(base) in T.loads(o.tree) for o in (*rest, *own)[k + 1:]):
                        body = self.keep_old(base, body)
                    value = self.first_value(c, seed_name, last)
                    if not (isinstance(value, gast.Name) and value.id == self.bar(base)):
                        body.append(gast.Assign([T.store(self.bar(base))], value, None))
                    continue
                if owner == killed:
                    # an own element: the old adjoint is still being read
                    body = self.keep_old(base, body)
                    self.temps.insert(1, self.zero(owner))
                else:
                    init.append(self.zero(owner))
            body.append(self.accumulate(c))
        return [*init, *self.temps, *body]

    def first_value(self, c: Contribution, seed_name: str | None, last: bool) -> gast.expr:
        """The value of a first contribution: a fresh array, never another adjoint's memory."""
        t = self.names[T.base_name(c.leaf)]
        if not is_array(t):
            return c.tree
        if c.scalar:
            return self.call_of("np.full_like", T.name(T.base_name(c.leaf)), c.tree)
        tree = c.tree
        if isinstance(tree, gast.Name) and tree.id == seed_name and last and sum(T.loads(x.tree) >= {tree.id} for x in self.out) == 1:
            return tree  # the seed's array is free from here on
        root = tree.args[0] if isinstance(tree, gast.Call) and T.dotted(tree.func) == "sum_to" else tree
        if isinstance(root, gast.Name) and root.id in self.arrays:
            return tree
        shares = isinstance(tree, (gast.Name, gast.Subscript, gast.Attribute)) or (
            isinstance(tree, gast.Call) and (T.dotted(tree.func) or "") in MAY_SHARE and not isinstance(tree.args[0], (gast.BinOp, gast.UnaryOp)))
        return gast.Call(gast.Attribute(tree, "copy", gast.Load()), [], []) if shares else tree

    def keep_old(self, base: str, body: list[gast.stmt]) -> list[gast.stmt]:
        """Move the adjoint that this statement's contributions read to a name of its own; returns the statements made so far under that name."""
        old = self.temp(f"{base}_old_bar", T.name(self.bar(base)), self.names[base])
        assert isinstance(old, gast.Name)
        bar = self.bar(base)

        def renamed(tree: Any) -> Any:
            """The tree with the old adjoint; shapes are those of what is added to, the new one."""
            tree = T.rename(tree, {bar: old.id})
            for n in gast.walk(tree):
                if isinstance(n, gast.Attribute) and n.attr == "shape":
                    n.value = T.rename(n.value, {old.id: bar})
            return tree

        moved = self.temps.pop()
        self.temps = [moved, *map(renamed, self.temps)]
        for c in self.out:
            c.tree = renamed(c.tree)
        return list(map(renamed, body))

    def accumulate(self, c: Contribution) -> gast.stmt:
        sign, tree = A.split_sign(c.tree)
        if isinstance(c.leaf, gast.Subscript):
            kind = region(c.leaf, self.names)
            if kind == "fancy":
                index = A.clone(c.leaf.slice)
                return gast.Expr(gast.Call(T.name("add_at"), [T.name(self.bar(T.base_name(c.leaf))), index, c.tree], []))
            if kind == "mask":
                return gast.Expr(gast.Call(T.name("add_mask"), [T.name(self.bar(T.base_name(c.leaf))), A.clone(c.leaf.slice), c.tree], []))
        target = self.bar_of(c.leaf)
        target.ctx = gast.Store()
        return gast.AugAssign(target, gast.Sub() if sign < 0 else gast.Add(), tree)

    def assign(self, s: gast.Assign) -> Step:
        target, value = s.targets[0], s.value
        base = T.base_name(target)
        owner = self.aliases.owner(base)
        live = self.after[id(s)]
        if owner not in live or (isinstance(target, gast.Name) and base in self.aliases.views):
            return Step(s)
        if isinstance(target, gast.Name):
            return self.bind(s, target, value, live)
        return self.write(s, target, value, live)

    def bind(self, s: gast.stmt, target: gast.Name, value: gast.expr, live: frozenset[str]) -> Step:
        bar = self.bar(target.id)
        self.begin(value, target, target)
        self.pull(value, Flow(T.name(bar), value if is_array(type_of(value, self.names)) else target, True))
        out = self.emit(live, target.id, bar)
        return Step(s, out, frozenset(self.post))

    def write(self, s: gast.stmt, target: gast.Subscript, value: gast.expr, live: frozenset[str]) -> Step:
        """`u[i] = e`: take what has arrived at the entry, clear it, then credit what e reads."""
        base = T.base_name(target)
        place = self.bar_of(target)
        kind = region(target, self.names)
        t = self.names[base]
        assert isinstance(t, Array)
        self.begin(value, target, target)
        slot = gast.Subscript(T.name(self.bar(base)), A.clone(target.slice), gast.Store())
        clear = gast.Assign([slot], T.const(0.0), None)
        if not self.active_sources(value):
            return Step(s, [clear])
        wish = "w"
        if kind == "element":
            w = self.temp(wish, place, Scalar(t.dtype))
        elif kind == "view":
            w = self.temp(wish, gast.Call(gast.Attribute(place, "copy", gast.Load()), [], []), with_layout(type_of(target, self.names)))
        elif kind == "fancy":
            w = self.temp(wish, gast.Call(T.name("take_last"), [T.name(self.bar(base)), A.clone(target.slice)], []),
                          with_layout(type_of(target, self.names)))
        else:
            w = self.temp(wish, gast.Call(T.name("get_mask"), [T.name(self.bar(base)), A.clone(target.slice)], []), Array(t.dtype, 1))
        if kind != "fancy":
            self.temps.append(clear)
        self.pull(value, Flow(w, target, True))
        return Step(s, self.emit(live, None, None), frozenset(self.post))

    def augmented(self, s: gast.AugAssign) -> Step:
        base = T.base_name(s.target)
        owner = self.aliases.owner(base)
        live = self.after[id(s)]
        if owner not in live:
            return Step(s)
        repeats = isinstance(s.target, gast.Subscript) and region(load(s.target), self.names) == "fancy"  # the last of equal indices wins
        if repeats or not isinstance(s.op, (gast.Add, gast.Sub)):
            return self.assign_as(s, gast.BinOp(load(s.target), s.op, s.value), live)
        self.begin(s.value, None, s.target)
        self.root_masked = owner in self.masked
        seed: gast.expr = self.bar_of(load(s.target))
        sources = self.active_sources(s.value)
        if not sources:
            return Step(s)
        touches = any(self.aliases.owner(n) == owner for n in sources)
        scalar_name = isinstance(s.target, gast.Name) and not is_array(self.names[base])
        if touches and scalar_name:
            return self.assign_as(s, gast.BinOp(load(s.target), s.op, s.value), live)
        root_t = type_of(load(s.target), self.names)
        if isinstance(s.target, gast.Subscript) and (touches or self.busy(s.value) or region(load(s.target), self.names) in ("fancy", "mask")):
            kind = region(load(s.target), self.names)
            if kind == "mask":
                seed = gast.Call(T.name("get_mask"), [T.name(self.bar(base)), A.clone(s.target.slice)], [])
            elif is_array(root_t) and touches:
                seed = gast.Call(gast.Attribute(seed, "copy", gast.Load()), [], [])
            seed = self.temp("w", seed, with_layout(root_t))
        elif touches and is_array(root_t):
            seed = self.temp("w", gast.Call(gast.Attribute(seed, "copy", gast.Load()), [], []), with_layout(root_t))
        w = Flow(seed, load(s.target), True, -1 if isinstance(s.op, gast.Sub) else 1)
        self.pull(s.value, w)
        return Step(s, self.emit(live, None, None), frozenset(self.post))

    def assign_as(self, s: gast.AugAssign, value: gast.expr, live: frozenset[str]) -> Step:
        """`x op= e` read as `x = x op e`; for an array as a write to all of it."""
        target = load(s.target)
        if isinstance(target, gast.Name):
            if not is_array(self.names[target.id]):
                return self.bind(s, target, value, live)
            target = gast.Subscript(target, gast.Slice(None, None, None), gast.Load())
            if self.names[T.base_name(target)].ndim == 0:  # type: ignore[union-attr]
                target.slice = T.const(...)
        return self.write(s, target, value, live)

    def call(self, s: gast.stmt) -> Step:
        """A call of the forward sweep of a recursive function: a call of its reverse sweep, which gives the adjoints of the numbers that it was
        given, and adds to the adjoints of the arrays.
        """
        routine = called(s, self.names)
        if routine is None or routine.variant is None:
            return Step(s)
        variant = routine.variant
        live, targets, args = self.after[id(s)], targets_of(s), s.value.args
        self.begin(s.value, None, T.const(0.0))
        self.root_masked = True  # the way that the callee takes may not use an argument at all
        live_now = set(live) - {self.aliases.owner(t) for t in targets}
        before: list[gast.stmt] = []
        given = [A.clone(a) for a in args]
        for k in variant.shadows:
            owner = self.aliases.owner(args[k].id)
            if owner in self.active:
                if owner not in live_now:
                    before.append(self.zero(owner))
                    live_now.add(owner)
                given.append(T.name(self.bar(args[k].id)))
            else:
                given.append(self.temp(f"{args[k].id}_bar", self.call_of("np.zeros_like", args[k]), variant.types[k]))
        types = results_of(variant.result)
        for k in variant.outputs:
            if self.aliases.owner(targets[k]) in live:
                given.append(T.name(self.bar(targets[k])))
            elif is_array(types[k]):
                self.post.add(targets[k])
                given.append(self.temp(f"{targets[k]}_bar", self.call_of("np.zeros_like", T.name(targets[k])), types[k]))
            else:
                given.append(self.zero_of(types[k]))
        for k in variant.adjoints:
            for n in sorted(self.active_sources(args[k])):
                self.bar(n)
        bars = [self.fresh(f"{variant.params[k]}_bar") for k in variant.adjoints]
        self.names.update(zip(bars, (variant.types[k] for k in variant.adjoints), strict=True))
        self.temps.append(reverse_call(f"{variant.name}_reverse", given, bars))
        self.post |= {T.base_name(args[k]) for k in variant.writes}
        for k, n in zip(variant.adjoints, bars, strict=True):
            self.root_type = type_of(args[k], self.names)
            self.pull(args[k], Flow(T.name(n), args[k], True))
        return Step(s, [*before, *self.emit(frozenset(live_now), None, None)], frozenset(self.post))

    # -- blocks ------------------------------------------------------------------------------------
    def block(self, body: list[gast.stmt], preset: frozenset[str]) -> Block:
        out = Block()
        for s in body:
            if isinstance(s, gast.If):
                out.items.append(self.branch(s, preset))
            elif isinstance(s, (gast.For, gast.While)):
                out.items.append(self.loop(s, preset))
            else:
                for i in (id(s),):
                    self.after[i] = self.after[i] | preset
                if called(s, self.names) is not None:
                    out.items.append(self.call(s))
                elif isinstance(s, gast.Assign):
                    out.items.append(self.assign(s))
                elif isinstance(s, gast.AugAssign):
                    out.items.append(self.augmented(s))
                else:
                    out.items.append(Step(s))
        return out

    def live_in(self, body: list[gast.stmt], end: frozenset[str]) -> frozenset[str]:
        return self.before[id(body[0])] if body else end

    def branch(self, s: gast.If, preset: frozenset[str]) -> Branch:
        after, before = self.after[id(s)], self.before[id(s)]
        starts = [self.live_in(b, after) for b in (s.body, s.orelse)]
        fresh = sorted(before - after - preset)
        inited = [x for x in fresh if not all(x in start for start in starts) or is_array(self.names[x])]
        blocks = []
        for body, start in zip((s.body, s.orelse), starts, strict=True):
            binds = E.bound(body, self.names)
            b = self.block(body, preset | {x for x in inited if x not in binds})
            b.end = [self.zero(x) for x in sorted(before - start) if x in binds]
            blocks.append(b)
        return Branch(s, [self.zero(x) for x in inited], *blocks)

    def loop(self, s: gast.For | gast.While, preset: frozenset[str]) -> Loop:
        start, end, out = self.before[-id(s)], self.after[-id(s)], self.after[id(s)]
        inited = sorted(end - out - preset)
        binds = E.bound(s.body, self.names)
        self.in_loop += 1
        body = self.block(s.body, frozenset(x for x in preset if x not in binds))
        self.in_loop -= 1
        body.end = [self.zero(x) for x in sorted(end - start)]
        return Loop(s, [self.zero(x) for x in inited], body)


def power(x: gast.expr, p: gast.expr) -> tuple[gast.expr, bool] | None:
    """d x**p / dx for a literal exponent; p - 1 in decimals, as it is written: -0.1 for p = 0.9."""
    k = A.number(p)
    if k is None:
        return None
    one_less = A.literal(float(Decimal(repr(k)) - 1) if isinstance(k, float) and math.isfinite(k) else k - 1)
    if k == 0:
        return T.const(0.0), False
    if k == 1:
        return T.const(1), False
    if k == 2:
        return A.mul(T.const(2.0 if isinstance(k, float) else 2), A.clone(x)), False
    return A.mul(A.literal(k), gast.BinOp(A.clone(x), gast.Pow(), one_less)), k < 1


def nonzero(e: gast.expr) -> bool:
    """Whether a real expression is certainly not zero, such as `1 + np.exp(x)`.

    >>> nonzero(T.expr("1.0 + math.exp(x)")), nonzero(T.expr("1.0 + x * x")), nonzero(T.expr("1.0 - x"))
    (True, True, False)
    """
    value = A.number(e)
    if value is not None:
        return value != 0
    return positive(e)


def positive(e: gast.expr) -> bool:
    """Whether a real expression is certainly positive."""
    value = A.number(e)
    if value is not None:
        return value > 0
    if isinstance(e, gast.Call):
        return T.dotted(e.func) in ("math.cosh", "np.cosh")
    if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Add):
        return (positive(e.left) and not_negative(e.right)) or (not_negative(e.left) and positive(e.right))
    return False


def not_negative(e: gast.expr) -> bool:
    """Whether a real expression is certainly zero or positive."""
    if isinstance(e, gast.Call):
        return (T.dotted(e.func) or "").split(".")[-1] in ("exp", "abs", "fabs", "square", "sqrt", "cosh", "exp2")
    if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Mult):
        return T.same(e.left, e.right) or (not_negative(e.left) and not_negative(e.right))
    if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Pow):
        return A.number(e.right) in (2, 4)
    if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Add):
        return not_negative(e.left) and not_negative(e.right)
    return positive(e)


def load(e: gast.expr) -> gast.expr:
    """A copy of a target as an expression that is read."""
    e = A.clone(e)
    e.ctx = gast.Load()
    return e


def with_layout(t: Type) -> Type:
    """The type of a fresh copy."""
    return Array(t.dtype, t.ndim, "C") if isinstance(t, Array) else Scalar(t.dtype) if isinstance(t, Scalar) else t


def bind_views(block: Block, r: _Reverse) -> None:
    """Bind the adjoint of each view where the reverse sweep of its block first uses it; views of views come before what they look into."""
    for k in reversed(range(len(block.items))):
        item = block.items[k]
        if isinstance(item, Branch):
            bind_views(item.body, r)
            bind_views(item.orelse, r)
        elif isinstance(item, Loop):
            bind_views(item.body, r)
        elif isinstance(item.stmt, gast.Assign) and isinstance(item.stmt.targets[0], gast.Name):
            n = item.stmt.targets[0].id
            view = r.aliases.views.get(n)
            if view is None or n not in r.bars:
                continue
            r.bar(view.base)
            value = rebased(item.stmt.value, view.base, r.bars[view.base])
            bind = gast.Assign([T.store(r.bars[n])], value, None)
            for later in reversed(block.items[k + 1:]):
                if uses(later, r.bars[n]):
                    place = later.adjoint if isinstance(later, Step) else later.before
                    # after the zero initialisations of the same item
                    at = max((j + 1 for j, q in enumerate(place) if is_zero(q)), default=0)
                    place.insert(at, bind)
                    break


def is_zero(s: gast.stmt) -> bool:
    """Whether a statement makes an adjoint array of zeros."""
    return isinstance(s, gast.Assign) and isinstance(s.value, gast.Call) and T.dotted(s.value.func) == "np.zeros_like"


def uses(item: Step | Branch | Loop, n: str) -> bool:
    """Whether the reverse of an item mentions a name."""
    if isinstance(item, Step):
        return n in T.all_names(item.adjoint)
    blocks = [item.body, item.orelse] if isinstance(item, Branch) else [item.body]
    return n in T.all_names(item.before) or any(uses(x, n) for b in blocks for x in b.items) or any(n in T.all_names(b.end) for b in blocks)


def rebased(e: gast.expr, base: str, bar: str) -> gast.expr:
    """The same view of another array; only the array changes, not index expressions that mention it."""
    e = T.duplicate(e)
    node = e
    parent: gast.AST | None = None
    while not isinstance(node, gast.Name):
        parent = node
        node = node.args[0] if isinstance(node, gast.Call) else node.value
    new = T.name(bar)
    if parent is None:
        return new
    if isinstance(parent, gast.Call):
        parent.args[0] = new
    else:
        parent.value = new
    return e


def reverse_call(name: str, given: list[gast.expr], bars: list[str]) -> gast.stmt:
    """The statement that calls a reverse sweep, which returns the adjoints of so many numbers."""
    call = gast.Call(T.name(name), given, [])
    if not bars:
        return gast.Expr(call)
    targets = [T.store(n) for n in bars]
    return gast.Assign([targets[0] if len(bars) == 1 else gast.Tuple(targets, gast.Store())], call, None)


def reverse(function: Function, aliases: Aliases, shapes: Shapes, wrt: tuple[str, ...], lent: frozenset[str] = frozenset(),
            kept: frozenset[str] = frozenset()) -> Reversed:
    """The adjoint statements of a typed function in normal form with respect to some of its parameters.

    Of a function that others call, `lent` are the parameters whose adjoints are arrays of the caller, to be changed in place, and `kept` are those
    of them that the function itself changes, so that the caller reads what is left in them.

    >>> from s2sad.transforms.example import after
    >>> print(after("reverse", "y = x * x\\nreturn np.sin(y)", "x: f8"))
    y_bar = np.cos(y) * out_bar
    x_bar = 2.0 * x * y_bar
    return x_bar,
    """
    r = _Reverse(function, aliases, shapes, wrt, lent, kept)
    ret = function.body[-1]
    assert isinstance(ret, gast.Return)
    values = [] if ret.value is None else ret.value.elts if isinstance(ret.value, gast.Tuple) else [ret.value]
    values = [v for v in values if is_float(type_of(v, function.names))]
    live = r.lent | {r.aliases.owner(v.id) for v in values if isinstance(v, gast.Name)}
    seeds, last = [], Step(ret)
    for value in values:
        if isinstance(value, gast.Name):
            seeds.append(r.bar(value.id))
            if r.aliases.owner(value.id) not in r.active:
                r.bars.pop(value.id)
        else:
            seeds.append(r.fresh("out_bar"))
            r.names[seeds[-1]] = type_of(value, function.names)
            r.begin(value, None, value)
            r.pull(value, Flow(T.name(seeds[-1]), value, True))
            last.adjoint += r.emit(live, None, None)
            live |= {r.aliases.owner(T.base_name(c.leaf)) for c in r.out}
    block = r.block(list(function.body[:-1]), frozenset())
    block.items.append(last)
    bind_views(block, r)
    start = r.live_in(list(function.body), r.lent)
    end = []
    results: list[gast.expr] = []
    for x in wrt:
        if x in lent:
            continue
        if x not in start:
            # the entry value has no influence (or another array has taken the name)
            t = r.names[x]
            zero = r.zero(x) if x not in r.active or not is_array(t) else r.zero(x)
            end.append(zero)
        results.append(T.name(r.bar(x)))
    return Reversed(block, seeds, results, end, r.names, r.bars, r.fresh, frozenset(r.arrays))
