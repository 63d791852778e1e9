"""Normal form (see ARCHITECTURE.md): simple assignments, range loops with a name as target, whole expressions, user calls as statements."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gast

from s2sad.analysis.draws import is_draw
from s2sad.errors import refuse
from s2sad.lang import tree as T
from s2sad.transforms.control import is_bool, leaves, make_if, negated, structured
from s2sad.transforms.resolve import LIST_METHODS, RESERVED, Callee, Recursive, externals_with

#: Functions whose result may be a view of an argument.
VIEWS = frozenset(
    "np.reshape np.ravel np.transpose np.asarray np.ascontiguousarray np.swapaxes np.squeeze np.diagonal np.broadcast_to np.atleast_1d "
    "np.atleast_2d np.flip np.moveaxis np.expand_dims np.real np.split np.array_split np.fliplr np.flipud np.rot90 np.diag".split()
)


#: Functions whose result is a pair of numbers.
PAIRS = {
    "divmod": "(x // y, x % y)",
    "math.modf": "(modf_fraction(x), modf_whole(x))",
    "math.frexp": "(math.ldexp(x, -frexp_exponent(x)), frexp_exponent(x))",
}


def normalize(function: T.Function) -> T.Function:
    """The function, and every function that it calls, in normal form; calls of user functions stay, as statements of their own.

    >>> from s2sad.transforms.example import source
    >>> from s2sad.transforms.front import build
    >>> def f(x):
    ...     for v in x:
    ...         y = 2.0 * v if v > 1.0 else v
    ...     return y
    >>> print(source(build(f, "normalize")))
    for v_i in range(len(x)):
        v = x[v_i]
        if v > 1.0:
            y = 2.0 * v
        else:
            y = v
    return y
    """
    done: dict[int, T.Function] = {}

    def visit(f: T.Function) -> T.Function:
        if id(f) not in done:
            new = {n: replace(c, function=visit(c.function)) for n, c in f.externals.items() if isinstance(c, Callee)}
            done[id(f)] = _Normalizer(externals_with(f, new)).run()
        return done[id(f)]

    return visit(function)


def used_names(function: T.Function) -> set[str]:
    """Names that a fresh one must not clash with."""
    return T.all_names(function.body) | set(function.params) | set(function.externals) | RESERVED


# -- branches that are decided when compiling ------------------------------------------------------------------


def truth(e: gast.expr) -> bool | None:
    """The truth value of a test on constants, or None."""
    if isinstance(e, gast.Constant):
        return bool(e.value)
    if isinstance(e, gast.UnaryOp) and isinstance(e.op, gast.Not):
        inner = truth(e.operand)
        return None if inner is None else not inner
    if isinstance(e, gast.BoolOp):
        values = [truth(v) for v in e.values]
        decisive = isinstance(e.op, gast.Or)
        for v in values:
            if v is decisive:
                return decisive
            if v is None:
                return None
        return not decisive
    if isinstance(e, gast.Compare) and len(e.ops) == 1 and isinstance(e.left, gast.Constant) and isinstance(e.comparators[0], gast.Constant):
        a, b = e.left.value, e.comparators[0].value
        same_type = type(a) is type(b) and not isinstance(a, float)
        if isinstance(e.ops[0], (gast.Is, gast.IsNot)) and (a is None or b is None or isinstance(a, bool) and isinstance(b, bool)):
            return (a is b) == isinstance(e.ops[0], gast.Is)
        if isinstance(e.ops[0], (gast.Eq, gast.NotEq)) and same_type:
            return bool(a == b) == isinstance(e.ops[0], gast.Eq)
    return None


def pruned(body: list[gast.stmt] | tuple[gast.stmt, ...]) -> list[gast.stmt]:
    """Statements without the branches that constants rule out."""
    new: list[gast.stmt] = []
    for s in body:
        if isinstance(s, gast.If):
            known = truth(s.test)
            if known is not None:
                new += pruned(s.body if known else s.orelse)
                continue
            s = T.at(gast.If(s.test, pruned(s.body) or [T.at(gast.Pass(), s)], pruned(s.orelse)), s)
        elif isinstance(s, gast.While) and truth(s.test) is False:
            new += pruned(s.orelse)
            continue
        elif isinstance(s, (gast.For, gast.While)):
            s = copy.copy(s)
            s.body, s.orelse = pruned(s.body) or [T.at(gast.Pass(), s)], pruned(s.orelse)
        new.append(s)
    return new


def is_impure(e: gast.AST) -> bool:
    """Whether this is a call of a method that changes its object: `xs.append(x)`."""
    return is_draw(e) or changes_list(e)


def changes_list(e: gast.AST) -> bool:
    """Whether this is a call of a method that changes a list."""
    return isinstance(e, gast.Call) and isinstance(e.func, gast.Attribute) and e.func.attr in LIST_METHODS and not _is_library(e.func)


def is_list(e: gast.AST) -> bool:
    """Whether an expression makes a list by its form: `[a, b]`, `[0.0] * n`, `sorted(x)`, a comprehension."""
    if isinstance(e, gast.BinOp) and isinstance(e.op, (gast.Mult, gast.Add)):
        return is_list(e.left) or is_list(e.right)
    return isinstance(e, (gast.List, gast.ListComp, gast.GeneratorExp)) or isinstance(e, gast.Call) and T.dotted(e.func) in ("sorted", "list")


# -- what a function may write ---------------------------------------------------------------------------------


def may_write(function: T.Function) -> bool:
    """Whether a function may write into memory of its caller (by form: through parameters and what may be a view of them)."""
    reach = set(function.params)

    def may_view(e: gast.expr) -> bool:
        if isinstance(e, gast.Name):
            return e.id in reach
        if isinstance(e, (gast.Subscript, gast.Attribute)):
            return may_view(e.value)
        if isinstance(e, gast.IfExp):
            return may_view(e.body) or may_view(e.orelse)
        if isinstance(e, (gast.Tuple, gast.List)):
            return any(may_view(x) for x in e.elts)
        if isinstance(e, gast.Call):
            name = T.dotted(e.func)
            return (name in VIEWS or name in function.externals or name in ("zip", "enumerate", "reversed")) and any(may_view(a) for a in e.args)
        return False

    nodes = [n for s in function.body for n in gast.walk(s)]
    while True:
        before = len(reach)
        for n in nodes:
            if isinstance(n, gast.Assign) and may_view(n.value):
                reach |= T.stores(n.targets)
            elif isinstance(n, gast.For) and may_view(n.iter):
                reach |= T.stores(n.target)
        if len(reach) == before:
            break
    for n in nodes:
        if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store) and may_view(n.value):
            return True
        if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name) and n.target.id in reach:
            return True
        if is_impure(n) and may_view(n.func.value):
            return True
    callees = function.externals.values()
    return any(isinstance(c, Recursive) or isinstance(c, Callee) and may_write(c.function) for c in callees)


# -- the pass --------------------------------------------------------------------------------------------------


class _Normalizer:
    def __init__(self, function: T.Function):
        self.function = function
        self.fresh = T.Fresh(used_names(function))
        self.writers = {n: may_write(c.function) if isinstance(c, Callee) else True
                        for n, c in function.externals.items() if isinstance(c, (Callee, Recursive))}
        self.lists = {T.base_name(n.func.value) for s in function.body for n in gast.walk(s) if changes_list(n)}
        # names that the targets of a comprehension, which are its own, must not clash with
        self.taken = {n.id for s in function.body for n in _outside(s)} | set(function.params) | set(function.externals)

    def run(self) -> T.Function:
        body = pruned(T.copied(self.function.body))
        self.check_returns(body)
        new = self.block(structured(body, self.fresh))
        return self.function.with_body(new)

    def check_returns(self, body: list[gast.stmt]) -> None:
        returns = [r for s in body for r in gast.walk(s) if isinstance(r, gast.Return)]
        valued = [r for r in returns if r.value is not None]
        bare = [r for r in returns if r.value is None]
        if valued and (bare or not leaves(body)):
            where = bare[0] if bare else valued[-1]
            refuse(self.function.source, where, "S2S127", f"`{self.function.name}` returns a value on some paths and nothing on others",
                   "if condition:\n    result = ...\nelse:\n    result = ...\nreturn result")

    # -- statements ---------------------------------------------------------------------------------------

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        return [new for s in body for new in self.statement(s)]

    def statement(self, s: gast.stmt) -> list[gast.stmt]:
        handler: Callable[[Any], list[gast.stmt]] | None = getattr(self, f"on_{type(s).__name__}", None)
        return [s] if handler is None else handler(s)

    def assign(self, target: gast.expr, value: gast.expr, s: gast.AST) -> gast.stmt:
        return T.at(gast.Assign([target], value, None), s)

    def on_Assign(self, s: gast.Assign) -> list[gast.stmt]:
        if len(s.targets) > 1:
            return self.chain(s)
        target, value = s.targets[0], s.value
        if isinstance(value, gast.IfExp) and not (isinstance(target, gast.Subscript) and self.hoists(target)):
            return self.branch(s, value, lambda v: self.assign(copy.deepcopy(target), v, s))
        if isinstance(target, (gast.Tuple, gast.List)):
            return self.unpack(target.elts, value, s)
        if isinstance(target, gast.Name):
            if self.is_choice(value):
                return self.choice(value, target.id, s)
            if isinstance(value, gast.ListComp) and target.id not in T.all_names([value]):
                return self.comprehension(value, target.id)
            if _reduces(value) and target.id not in T.all_names([value]):
                return self.reduction(value, target.id)
            pre, value = self.whole_or_call(value, named=True)
            return [*pre, self.assign(target, value, s)]
        pre, value = self.whole_or_call(value)
        pre_target, target = self.target(target)
        if pre_target and (self.writes(pre_target) or self.is_user_call(value)):
            hold, value = self.held(value, s, "value")
            pre += hold
        elif not all(map(_harmless, pre_target)):
            hold, value = self.in_order(value)
            pre += hold
        return [*pre, *pre_target, self.assign(target, value, s)]

    def chain(self, s: gast.Assign) -> list[gast.stmt]:
        """`a = b = e`"""
        first, rest = s.targets[0], s.targets[1:]
        if isinstance(s.value, gast.Constant):
            return self.block([self.assign(t, copy.deepcopy(s.value), s) for t in s.targets])
        if not isinstance(first, gast.Name):
            first, rest = T.store(self.fresh("value")), s.targets
        new = self.statement(self.assign(first, s.value, s))
        return new + self.block([self.assign(t, T.at(T.name(first.id), s), s) for t in rest])

    def branch(self, s: gast.stmt, value: gast.IfExp, make: Callable[[gast.expr], gast.stmt]) -> list[gast.stmt]:
        """A statement whose value is a ternary, as an `if` with the statement in both branches."""
        return self.statement(T.at(gast.If(value.test, [make(value.body)], [make(value.orelse)]), s))

    def unpack(self, targets: list[gast.expr], value: gast.expr, s: gast.AST) -> list[gast.stmt]:
        if self.is_pair(value):
            pre, value = self.lower(value)
            return [*pre, *self.parallel(targets, value.elts, s)]
        if isinstance(value, (gast.Tuple, gast.List)):
            if len(value.elts) != len(targets):
                refuse(self.function.source, s, "S2S128", f"{len(value.elts)} values are assigned to {len(targets)} names", "a, b = x, y")
            return self.parallel(targets, value.elts, s)
        if self.is_user_call(value):
            pre, value = self.whole_or_call(value)
            names: list[gast.expr] = []
            after: list[gast.stmt] = []
            for t in targets:
                if isinstance(t, gast.Name) and t.id not in {n.id for n in names}:
                    names.append(t)
                    continue
                name = self.fresh(t.id if isinstance(t, gast.Name) else "value")
                names.append(T.at(T.store(name), t))
                after.append(self.assign(t, T.at(T.name(name), t), s))
            return [*pre, self.assign(T.at(gast.Tuple(names, gast.Store()), s), value, s), *self.block(after)]
        shape = isinstance(value, gast.Attribute) and value.attr == "shape"
        new: list[gast.stmt] = []
        if not isinstance(value.value if shape else value, gast.Name):
            name = self.fresh("values")
            new += self.statement(self.assign(T.at(T.store(name), s), value, s))
            value = T.at(T.name(name), s)
            shape = False
        if not shape and not (isinstance(new[-1].value, gast.Attribute) if new else False):
            new += self.unpack_check(value, len(targets), s)
        base = value.value if shape else value
        if base.id in T.stores(targets):
            name = self.fresh("values")
            new.append(self.assign(T.at(T.store(name), s), value, s))
            value = T.at(T.name(name), s)
        items = [T.at(gast.Subscript(copy.deepcopy(value), T.const(k), gast.Load()), s) for k in range(len(targets))]
        return new + self.block([self.assign(t, v, s) for t, v in zip(targets, items, strict=True)])

    def unpack_check(self, value: gast.expr, n: int, s: gast.AST) -> list[gast.stmt]:
        """ValueError where Python would raise it because the length does not fit."""
        text = f"if len(v) != {n}:\n    raise ValueError('cannot unpack into {n} names: wrong number of values')"
        return T.at(T.stmts(text, v=value), s)  # type: ignore[no-any-return]

    def parallel(self, targets: list[gast.expr], values: list[gast.expr], s: gast.AST) -> list[gast.stmt]:
        """`a, b = b, a`: in order, through temporaries for values that an earlier assignment would change."""
        hoisted = any(self.hoists(v) for v in values) or any(not isinstance(t, gast.Name) and self.hoists(t) for t in targets)
        new: list[gast.stmt] = []
        final: list[gast.expr] = []
        for k, (t, v) in enumerate(zip(targets, values, strict=True)):
            if not isinstance(v, gast.Constant) and (hoisted or self.changed_by(v, targets[:k])):
                wish = f"{t.id}_next" if isinstance(t, gast.Name) else f"{T.base_name(t)}_next" if isinstance(t, gast.Subscript) else "value"
                name = self.fresh(wish)
                new += self.statement(self.assign(T.at(T.store(name), s), v, s))
                v = T.at(T.name(name), s)
            final.append(v)
        return new + self.block([self.assign(t, v, s) for t, v in zip(targets, final, strict=True)])

    def changed_by(self, value: gast.expr, targets: list[gast.expr]) -> bool:
        """Whether assigning the targets may change what the expression evaluates to."""
        if T.stores(targets) & T.loads(value):
            return True
        writes = any(isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store) for t in targets for n in gast.walk(t))
        return writes and not isinstance(value, (gast.Constant, gast.Name))

    def on_AugAssign(self, s: gast.AugAssign) -> list[gast.stmt]:
        target, value = s.target, s.value
        if isinstance(value, gast.IfExp) and not (isinstance(target, gast.Subscript) and self.hoists(target)):
            return [*self.looked_at(target), *self.branch(s, value, lambda v: T.at(gast.AugAssign(copy.deepcopy(target), s.op, v), s))]
        pre_target, target = self.target(target) if isinstance(target, gast.Subscript) else ([], target)
        pre, value = self.whole_or_call(value)
        into = T.base_name(target)
        if isinstance(target, gast.Subscript) and (self.writes(pre, into) or self.is_user_call(value) and self.writers.get(value.func.id)):
            text = self.function.source.text(s)
            summary = "A call that may write into arrays stands on the right of an augmented assignment to an element"
            refuse(self.function.source, s, "S2S130", summary, f"value = ...\n{text.split('=')[0]}= value",
                   "Python reads the element before the call, but not the elements of a slice.")
        looked = [] if all(map(_harmless, pre)) else self.looked_at(target)
        return [*pre_target, *looked, *pre, T.at(gast.AugAssign(target, s.op, value), s)]

    def looked_at(self, target: gast.expr) -> list[gast.stmt]:
        """A read of the element that is added to: Python reads it before the value, and says first that it does not exist."""
        return self.in_order(T.at(T.loaded(target), target))[0]

    def on_Return(self, s: gast.Return) -> list[gast.stmt]:
        if s.value is None:
            return []
        if isinstance(s.value, gast.IfExp) or self.is_choice(s.value):
            name = self.fresh("result")
            return [*self.statement(self.assign(T.at(T.store(name), s), s.value, s)), T.at(gast.Return(T.name(name)), s)]
        pre, value = self.whole_or_call(s.value)
        return [*pre, T.at(gast.Return(value), s)]

    def on_Expr(self, s: gast.Expr) -> list[gast.stmt]:
        pre, value = self.whole_or_call(s.value, named=True)
        if self.is_user_call(value) or is_impure(value):
            return [*pre, T.at(gast.Expr(value), s)]
        if not T.loads(value):
            return pre
        return [*pre, self.assign(T.at(T.store(self.fresh("test")), s), value, s)]  # a test that decides nothing, but may raise

    def truth(self, test: gast.expr) -> gast.expr:
        """A test in which a list that is known by its methods stands for its not being empty."""
        if isinstance(test, gast.Name) and test.id in self.lists:
            return T.at(T.expr(f"len({test.id}) > 0"), test)
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            return T.at(gast.UnaryOp(test.op, self.truth(test.operand)), test)
        return T.at(gast.BoolOp(test.op, [self.truth(v) for v in test.values]), test) if isinstance(test, gast.BoolOp) else test

    def on_If(self, s: gast.If) -> list[gast.stmt]:
        pre, test = self.lower(self.truth(s.test))
        body, orelse = self.block(s.body), self.block(s.orelse)
        return pre + make_if(s, test, body, orelse) if body or orelse else pre

    def on_While(self, s: gast.While) -> list[gast.stmt]:
        pre, test = self.lower(self.truth(s.test))
        body = self.block(s.body)
        if not pre:
            return [T.at(gast.While(test, body or [T.at(gast.Pass(), s)], []), s)]
        name = self.fresh("going")
        again = [*pre, self.assign(T.at(T.store(name), s), test, s)]
        last = body[-1] if body else None
        if isinstance(last, gast.If) and len(last.body) == 1 and isinstance(last.body[0], gast.Break):
            stop = self.assign(T.at(T.store(name), last), T.at(T.const(False), last), last)
            body[-1] = T.at(gast.If(last.test, [stop], T.copied(again)), last)
        else:
            body = [b for b in body if not isinstance(b, gast.Pass)] + T.copied(again)
        return [*again, T.at(gast.While(T.name(name), body, []), s)]

    # -- loops --------------------------------------------------------------------------------------------

    def on_For(self, s: gast.For) -> list[gast.stmt]:
        if isinstance(s.iter, gast.Call) and T.dotted(s.iter.func) == "range":
            pre, bounds = self.lower(s.iter)
            return pre + self.range_loop(s, bounds)
        if isinstance(s.iter, gast.Call) and T.dotted(s.iter.func) == "reversed" and isinstance(s.iter.args[0], gast.Call):
            backwards = _backwards(s.iter.args[0])
            if backwards is not None:
                pre, bounds = self.lower(T.at(backwards, s.iter))
                return pre + self.range_loop(s, bounds)
        rebound = T.stores(s.body) | T.stores(s.target)
        changed = {T.base_name(n.func.value) for b in s.body for n in gast.walk(b) if changes_list(n)} & _looped(s.iter)
        if changed:
            refuse(self.function.source, s, "S2S113", f"The list `{sorted(changed)[0]}` changes while it is looped over", "for v in list(xs):")
        new: list[gast.stmt] = []
        length, item = self.sequence(s.iter, s, rebound, new)
        counter = self.counter(s, T.stores(s.body))
        if self.hoists(length):
            name = self.fresh("length")
            new += self.statement(self.assign(T.at(T.store(name), s), length, s))
            length = T.at(T.name(name), s)
        k = T.at(T.name(counter), s)
        if isinstance(s.target, gast.Name) and s.target.id == counter:
            bind: list[gast.stmt] = []
        else:
            bind = [self.assign(s.target, item(k), s)]
            if isinstance(s.target, gast.Tuple) and counter in T.stores(s.target):
                bind = self.bind_rest(s, item(k), counter)
        loop = gast.For(T.store(counter), T.expr("range(n)", n=length), bind + s.body, [], None)
        return new + self.range_loop(T.at(loop, s), loop.iter)

    def bind_rest(self, s: gast.For, item: gast.expr, counter: str) -> list[gast.stmt]:
        """The targets of an enumerate loop whose index is the counter itself."""
        pairs = [(t, v) for t, v in zip(s.target.elts, item.elts, strict=True) if not (isinstance(t, gast.Name) and t.id == counter)]
        return [self.assign(t, v, s) for t, v in pairs]

    def counter(self, s: gast.For, rebound: set[str]) -> str:
        """A name for the index of a loop over arrays: the user's own index in `enumerate` from 0."""
        target = s.target
        if T.dotted(s.iter.func if isinstance(s.iter, gast.Call) else s.iter) == "enumerate" and isinstance(target, gast.Tuple):
            index = target.elts[0]
            plain = len(s.iter.args) == 1 and not s.iter.keywords and isinstance(index, gast.Name)
            if plain and index.id not in rebound and index.id not in T.stores(target.elts[1:]):
                return index.id  # type: ignore[no-any-return]
        while isinstance(target, gast.Tuple):
            target = target.elts[0]
        return self.fresh(f"{target.id}_i" if isinstance(target, gast.Name) else "k")

    def sequence(
        self, e: gast.expr, s: gast.AST, rebound: set[str], new: list[gast.stmt]
    ) -> tuple[gast.expr, Callable[[gast.expr], gast.expr]]:
        """Length of what is looped over and the expression for its k-th item; what has to be evaluated first goes to `new`."""
        name = T.dotted(e.func) if isinstance(e, gast.Call) else None
        if name == "range":
            pre, bounds = self.lower(e)
            new += pre
            start, stop, step = _range_parts(bounds)
            stop = self.settled(stop, s, rebound, new, "stop")
            if step is None and start is None:
                return stop, lambda k: k
            if step is None:
                start = self.settled(start, s, rebound, new, "start")
                return T.at(T.expr("b - a", a=start, b=stop), s), lambda k: T.at(T.expr("a + k", a=start, k=k), s)
            refuse(self.function.source, e, "S2S116", "A range with a step cannot stand in zip, enumerate or reversed",
                   "for i in range(n):\n    k = a + i * step")
        if name == "enumerate":
            length, item = self.sequence(e.args[0], s, rebound, new)
            given = e.args[1] if len(e.args) > 1 else e.keywords[0].value if e.keywords else None
            if given is None:
                return length, lambda k: T.at(gast.Tuple([k, item(k)], gast.Load()), s)
            start = self.settled(given, s, rebound, new, "start")
            return length, lambda k: T.at(gast.Tuple([T.expr("a + k", a=start, k=k), item(k)], gast.Load()), s)
        if name == "zip":
            parts = [self.sequence(a, s, rebound, new) for a in e.args]
            lengths = [p[0] for p in parts]
            length = lengths[0] if len(parts) == 1 else T.at(gast.Call(T.name("min"), lengths, []), s)
            return length, lambda k: T.at(gast.Tuple([p[1](k) for p in parts], gast.Load()), s)
        if name == "reversed":
            length, item = self.sequence(e.args[0], s, rebound, new)
            n = self.settled(length, s, rebound, new, "length")
            return n, lambda k: item(T.at(T.expr("n - 1 - k", n=n, k=k), s))
        if isinstance(e, gast.Tuple):
            e = T.at(gast.List(e.elts, gast.Load()), e)
        array = self.settled(e, s, rebound, new, "values", arrays=True)
        return T.at(T.expr("len(a)", a=array), s), lambda k: T.at(gast.Subscript(copy.deepcopy(array), copy.deepcopy(k), gast.Load()), s)

    def settled(self, e: gast.expr, s: gast.AST, rebound: set[str], new: list[gast.stmt], wish: str, arrays: bool = False) -> gast.expr:
        """A constant or a name that the loop does not rebind, with the value of an expression before the loop."""
        if isinstance(e, gast.Constant) and not arrays or isinstance(e, gast.Name) and e.id not in rebound:
            return e
        name = self.fresh(wish)
        new += self.statement(self.assign(T.at(T.store(name), s), e, s))
        return T.at(T.name(name), s)

    def range_loop(self, s: gast.For, bounds: gast.Call) -> list[gast.stmt]:
        """A loop over range whose target is a name that the body leaves alone."""
        body = s.body
        target = s.target
        if not isinstance(target, gast.Name):
            name = self.fresh("k")
            body = [self.assign(target, T.at(T.name(name), s), s), *body]
            target = T.at(T.store(name), s)
        elif target.id in T.stores(body):
            name = self.fresh(f"{target.id}_i")
            body = [self.assign(target, T.at(T.name(name), s), s), *body]
            target = T.at(T.store(name), s)
        body = self.block(body)
        return [T.at(gast.For(target, bounds, body or [T.at(gast.Pass(), s)], [], None), s)]

    # -- targets ------------------------------------------------------------------------------------------

    def target(self, t: gast.Subscript) -> tuple[list[gast.stmt], gast.expr]:
        """A subscript of a name, whatever was subscripted: `a[i][j] = e` writes into the named view `a[i]`."""
        pre: list[gast.stmt] = []
        value = t.value
        if not isinstance(value, gast.Name):
            base = value
            while isinstance(base, (gast.Subscript, gast.Attribute)):
                base = base.value
            name = self.fresh(f"{base.id}_view" if isinstance(base, gast.Name) else "view")
            pre += self.statement(self.assign(T.at(T.store(name), t), value, t))
            value = T.at(T.name(name), t)
        more, index = self.lower(t.slice)
        new = T.at(gast.Subscript(value, index, gast.Store()), t)
        return pre + more, new

    # -- expressions --------------------------------------------------------------------------------------

    def is_user_call(self, e: gast.AST) -> bool:
        return isinstance(e, gast.Call) and isinstance(e.func, gast.Name) and e.func.id in self.function.externals

    def is_choice(self, e: gast.AST) -> bool:
        return isinstance(e, gast.Call) and isinstance(e.func, gast.Name) and e.func.id in ("min", "max") and len(e.args) > 1

    def is_extreme(self, e: gast.AST) -> bool:
        """`max(x)` of a sequence."""
        return isinstance(e, gast.Call) and isinstance(e.func, gast.Name) and e.func.id in ("min", "max") and len(e.args) == 1

    def is_pair(self, e: gast.AST) -> bool:
        return isinstance(e, gast.Call) and T.dotted(e.func) in PAIRS

    def hoists(self, e: gast.AST) -> bool:
        """Whether an expression has something that becomes statements of its own."""
        for n in gast.walk(e):
            if isinstance(n, gast.IfExp) or self.is_user_call(n) or self.is_choice(n) or self.is_extreme(n) or self.is_pair(n):
                return True
            if is_impure(n) or is_list(n) and not isinstance(n, gast.List):
                return True
            if isinstance(n, gast.Compare) and any(_costly(m) for m in n.comparators[:-1]):
                return True
        return False

    def writes(self, body: list[gast.stmt], into: str | None = None) -> bool:
        """Whether statements made by hoisting call a function that may write, or a method that changes its object (only `into`, if given)."""

        def may(n: gast.AST) -> bool:
            if is_impure(n):
                return into in (None, getattr(n.func.value, "id", into))
            return isinstance(n, gast.Call) and isinstance(n.func, gast.Name) and self.writers.get(n.func.id, False)

        return any(may(n) for s in body for n in gast.walk(s))

    def held(self, e: gast.expr, s: gast.AST, wish: str) -> tuple[list[gast.stmt], gast.expr]:
        """The value of an expression now, kept under a name if a later call could change it."""
        if isinstance(e, (gast.Constant, gast.Name)):
            return [], e
        name = self.fresh(wish)
        return [self.assign(T.at(T.store(name), s), e, s)], T.at(T.name(name), s)

    def in_order(self, e: gast.expr) -> tuple[list[gast.stmt], gast.expr]:
        """The value of an expression now, if it may raise and so has to come before what may raise, too; `rejoin` undoes what turns out needless."""
        if _harmless(e):
            return [], e
        hold, named = self.held(e, e, "value")
        hold[0].type_comment = T.HELD
        return hold, named

    def whole_or_call(self, e: gast.expr, named: bool = False) -> tuple[list[gast.stmt], gast.expr]:
        """Like `lower`, but a user call and what makes a list may be the whole expression; if a name gets it, a draw or `xs.pop()`, too."""
        if self.is_user_call(e) or named and is_impure(e) or is_list(e) and not isinstance(e, (gast.ListComp, gast.GeneratorExp)):
            return self.parts(e)
        return self.lower(e)

    def lower(self, e: gast.expr) -> tuple[list[gast.stmt], gast.expr]:
        """Statements to run first, and an expression without ternaries, user calls, min/max and chained comparisons."""
        if not self.hoists(e):
            return [], _Unchain().visit(e)
        if isinstance(e, gast.IfExp):
            name = self.fresh("chosen")
            return self.statement(self.assign(T.at(T.store(name), e), e, e)), T.at(T.name(name), e)
        if self.is_choice(e):
            name = self.fresh(f"{e.func.id}_value")
            return self.choice(e, name, e), T.at(T.name(name), e)
        if isinstance(e, gast.BoolOp):
            return self.lazy(e)
        if isinstance(e, gast.Compare) and len(e.ops) > 1:
            return self.comparison(e)
        if isinstance(e, (gast.ListComp, gast.GeneratorExp)):
            name = self.fresh("items")
            return self.comprehension(e, name), T.at(T.name(name), e)
        if _reduces(e):
            name = self.fresh({"sum": "total", "any": "found", "all": "holds"}[e.func.id])
            return self.reduction(e, name), T.at(T.name(name), e)
        if is_list(e) and not isinstance(e, gast.List):
            name = self.fresh("items")
            return self.statement(self.assign(T.at(T.store(name), e), e, e)), T.at(T.name(name), e)
        if self.is_extreme(e):
            pre, values = self.lower(e.args[0])
            if not (isinstance(values, gast.Attribute) and isinstance(values.value, gast.Name)):
                hold, values = self.held(values, e, "values")
                pre += hold
            return pre, T.at(T.expr(f"values[first_{e.func.id}(values)]", values=values), e)
        pre, e = self.parts(e)
        if self.is_pair(e):
            more, pair = self.pair(e)
            return [*pre, *more], pair
        if isinstance(e, gast.Subscript) and isinstance(e.value, gast.Tuple):
            return pre, _item(e)
        if self.is_user_call(e) or is_impure(e):
            name = self.fresh(f"{e.func.id}_out" if self.is_user_call(e) else "drawn" if is_draw(e) else "item")
            return [*pre, self.assign(T.at(T.store(name), e), e, e)], T.at(T.name(name), e)
        return pre, e

    # -- comprehensions -----------------------------------------------------------------------------------

    def comprehension(self, e: Any, name: str) -> list[gast.stmt]:
        """`name = [value for ...]` as a loop that appends."""
        start = self.assign(T.at(T.store(name), e), T.at(gast.List([], gast.Load()), e), e)
        return [start, *self.loops(e, lambda value: [T.at(gast.Expr(T.expr(f"{name}.append(value)", value=value)), e)])]

    def reduction(self, e: gast.Call, name: str) -> list[gast.stmt]:
        """`name = sum(value for ...)`, or `any` or `all`, as a loop."""
        generator, kind = e.args[0], e.func.id

        def step(value: gast.expr) -> list[gast.stmt]:
            if kind == "sum":
                return [T.at(gast.AugAssign(T.store(name), gast.Add(), value), e)]
            settle = self.assign(T.at(T.store(name), e), T.at(T.const(kind == "any"), e), e)
            inner = T.at(gast.If(value if kind == "any" else negated(value), [settle], []), e)
            going: gast.expr = T.name(name)
            return [T.at(gast.If(gast.UnaryOp(gast.Not(), going) if kind == "any" else going, [inner], []), e)]

        start = e.args[1] if len(e.args) > 1 else T.const(0 if kind == "sum" else kind == "all")
        return [*self.statement(self.assign(T.at(T.store(name), e), T.at(start, e), e)), *self.loops(generator, step)]

    def loops(self, e: Any, step: Callable[[gast.expr], list[gast.stmt]]) -> list[gast.stmt]:
        """The loops and tests of a comprehension around what is done with each value."""
        targets = dict.fromkeys(n.id for g in e.generators for n in gast.walk(g.target) if isinstance(n, gast.Name))
        new = {t: self.fresh(t) for t in targets if t in self.taken}
        self.taken |= set(targets)
        first = e.generators[0].iter
        e = T.rename(e, new)
        e.generators[0].iter = first  # evaluated outside, where the names mean what they meant
        body = step(e.elt)
        for g in reversed(e.generators):
            for test in reversed(g.ifs):
                body = [T.at(gast.If(test, body, []), test)]
            body = [T.at(gast.For(g.target, g.iter, body, [], None), e)]
        return self.block(body)

    def parts(self, e: gast.expr) -> tuple[list[gast.stmt], gast.expr]:
        """Lower the operands of an expression from left to right; what stands before a call that may write or raise is evaluated before it."""
        e = copy.copy(e)
        slots: list[tuple[Any, Any]] = []
        _slots(e, slots)
        lowered = [self.lower(_get(owner, key)) for owner, key in slots]
        last_write = max((k for k, (pre, _) in enumerate(lowered) if self.writes(pre)), default=-1)
        last_raise = max((k for k, (pre, _) in enumerate(lowered) if not all(map(_harmless, pre))), default=-1)
        new: list[gast.stmt] = []
        for k, ((owner, key), (pre, value)) in enumerate(zip(slots, lowered, strict=True)):
            new += pre
            if k < last_write:
                hold, value = self.held(value, value, "value")
                new += hold
            elif k < last_raise:
                hold, value = self.in_order(value)
                new += hold
            _set(owner, key, value)
        return new, e

    def lazy(self, e: gast.BoolOp) -> tuple[list[gast.stmt], gast.expr]:
        """`a and f(x)`: the call only if `a` holds."""
        first = next(k for k, v in enumerate(e.values) if self.hoists(v))
        if first == 0:
            pre, head = self.lower(e.values[0])
            if not any(self.hoists(v) for v in e.values[1:]):
                return pre, _Unchain().visit(T.at(gast.BoolOp(e.op, [head, *e.values[1:]]), e))
            rest = e.values[1:]
        else:
            pre = []
            done = [_Unchain().visit(v) for v in e.values[:first]]
            head = done[0] if first == 1 else T.at(gast.BoolOp(e.op, done), e)
            rest = e.values[first:]
        name = self.fresh("test")
        tail = rest[0] if len(rest) == 1 else T.at(gast.BoolOp(e.op, rest), e)
        more, tail = self.lower(tail)

        def settle(value: gast.expr) -> gast.stmt:
            return self.assign(T.at(T.store(name), e), value, e)

        decisive = isinstance(e.op, gast.Or)
        otherwise: gast.expr = T.at(T.const(decisive), e)
        if not is_bool(head):  # Python's value of `a and b` is `a` itself where that is false
            hold, head = self.held(head, e, "first")
            pre += hold
            otherwise = copy.deepcopy(head)
        go_on, stay = [*more, settle(tail)], [settle(otherwise)]
        return [*pre, T.at(gast.If(head, stay, go_on) if decisive else gast.If(head, go_on, stay), e)], T.at(T.name(name), e)

    def comparison(self, e: gast.Compare) -> tuple[list[gast.stmt], gast.expr]:
        """`a < f(x) < b`: the middle is evaluated once, and `b` only if the first comparison holds."""
        pre, left = self.lower(e.left)
        middle_pre, middle = self.lower(e.comparators[0])
        if self.writes(middle_pre):
            hold, left = self.held(left, e, "value")
            pre += hold
        elif not all(map(_harmless, [*middle_pre, middle])):
            hold, left = self.in_order(left)
            pre += hold
        hold, middle = self.held(middle, e, "value")
        first = T.at(gast.Compare(left, [e.ops[0]], [middle]), e)
        rest = T.at(gast.Compare(copy.deepcopy(middle), e.ops[1:], e.comparators[1:]), e)
        more, test = self.lower(T.at(gast.BoolOp(gast.And(), [first, rest]), e))
        return [*pre, *middle_pre, *hold, *more], test

    def pair(self, e: gast.Call) -> tuple[list[gast.stmt], gast.expr]:
        """`divmod(a, b)` and its kin as a tuple."""
        new: list[gast.stmt] = []
        args: list[gast.expr] = []
        for a in e.args:
            hold, a = self.held(a, e, "value")
            new += hold
            args.append(a)
        return new, T.at(T.expr(PAIRS[T.dotted(e.func) or ""], **dict(zip("xy", args, strict=False))), e)

    def choice(self, e: gast.Call, name: str, s: gast.AST) -> list[gast.stmt]:
        """Python's `max(a, b)`: `b` if it is greater than `a`, else `a`."""
        op: gast.cmpop = gast.Gt() if e.func.id == "max" else gast.Lt()
        pre, e = self.parts(e)
        new = list(pre)
        args: list[gast.expr] = []
        for a in e.args:
            hold, a = self.held(a, s, name)
            new += hold
            args.append(a)
        best = args[0]
        for k, a in enumerate(args[1:], 1):
            target = name if k == len(args) - 1 else self.fresh(name)
            test = T.at(gast.Compare(copy.deepcopy(a), [op], [copy.deepcopy(best)]), s)
            take = [self.assign(T.at(T.store(target), s), v, s) for v in (copy.deepcopy(a), copy.deepcopy(best))]
            new += make_if(s, test, *([t] if not _is_name(t.value, target) else [] for t in take))
            best = T.at(T.name(target), s)
        return new


def _harmless(node: gast.AST) -> bool:
    """Whether evaluating an expression, or running a statement, surely raises nothing, by its form: names, numbers, shapes."""
    if isinstance(node, gast.Call):
        return T.dotted(node.func) == "len" and _harmless(node.args[0])
    if isinstance(node, gast.Subscript):
        return isinstance(node.value, gast.Attribute) and node.value.attr == "shape" and _harmless(node.value)
    if isinstance(node, (gast.BinOp, gast.While, gast.Raise, gast.AugAssign)):
        return False
    return all(_harmless(child) for child in gast.iter_child_nodes(node))


def _reduces(e: gast.AST) -> bool:
    """Whether this is `sum`, `any` or `all` of a generator."""
    return isinstance(e, gast.Call) and T.dotted(e.func) in ("sum", "any", "all") and isinstance(e.args[0], gast.GeneratorExp)


def _looped(e: gast.expr) -> set[str]:
    """Names of what is looped over itself, not over a copy of it."""
    if isinstance(e, gast.Call) and T.dotted(e.func) in ("enumerate", "zip", "reversed"):
        return {n for a in e.args for n in _looped(a)}
    return {e.id} if isinstance(e, gast.Name) else set()


def _outside(node: gast.AST) -> Iterator[gast.Name]:
    """Names that stand outside of comprehensions."""
    if isinstance(node, gast.Name):
        yield node
    elif not isinstance(node, (gast.ListComp, gast.GeneratorExp)):
        for child in gast.iter_child_nodes(node):
            yield from _outside(child)


def _item(e: gast.Subscript) -> gast.expr:
    """`(a, b)[1]` as `b`."""
    index = e.slice
    if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub) and isinstance(index.operand, gast.Constant):
        k = -index.operand.value
    else:
        k = index.value if isinstance(index, gast.Constant) else None
    if type(k) is int and -len(e.value.elts) <= k < len(e.value.elts):
        return e.value.elts[k]
    return e


def _is_name(e: gast.expr, name: str) -> bool:
    """Whether an expression is just this name."""
    return isinstance(e, gast.Name) and e.id == name


class _Unchain(gast.NodeTransformer):  # type: ignore[misc]
    """`a < b < c` as `a < b and b < c`."""

    def visit_Compare(self, node: gast.Compare) -> gast.expr:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        operands = [node.left, *node.comparators]
        pairs = [
            T.at(gast.Compare(copy.deepcopy(a), [op], [b]), node) for a, op, b in zip(operands, node.ops, operands[1:], strict=False)
        ]
        return T.at(gast.BoolOp(gast.And(), pairs), node)

    def visit_BoolOp(self, node: gast.BoolOp) -> gast.expr:
        self.generic_visit(node)
        values: list[gast.expr] = []
        for v in node.values:
            values += v.values if isinstance(v, gast.BoolOp) and type(v.op) is type(node.op) else [v]
        node.values = values
        return node


def _costly(e: gast.expr) -> bool:
    """Whether the middle of a chained comparison is better evaluated once."""
    return any(isinstance(n, gast.Call) for n in gast.walk(e))


def _backwards(call: gast.Call) -> gast.Call | None:
    """`range(n - 1, -1, -1)` for the `range(n)` in a `reversed`."""
    if T.dotted(call.func) != "range" or len(call.args) == 3:
        return None
    start, stop, _ = _range_parts(call)
    return T.expr("range(b - 1, a - 1, -1)", a=start, b=stop) if start is not None else T.expr("range(b - 1, -1, -1)", b=stop)


def _range_parts(call: gast.Call) -> tuple[gast.expr | None, gast.expr, gast.expr | None]:
    args = call.args
    if len(args) == 1:
        return None, args[0], None
    return args[0], args[1], args[2] if len(args) == 3 else None


def _slots(e: Any, found: list[tuple[Any, Any]]) -> None:
    """Places of the operands of an expression, in the order in which they are evaluated."""
    for f in e._fields:
        value = getattr(e, f, None)
        if isinstance(e, gast.Call) and f == "func":
            if isinstance(value, gast.Attribute) and not _is_library(value):
                e.func = value = copy.copy(value)
                found.append((value, "value"))
            continue
        if isinstance(value, list):
            value = list(value)
            setattr(e, f, value)
            for k, v in enumerate(value):
                if isinstance(v, gast.AST):
                    _slot(value, k, v, found)
        elif isinstance(value, gast.AST):
            _slot(e, f, value, found)


def _slot(owner: Any, key: Any, value: Any, found: list[tuple[Any, Any]]) -> None:
    if isinstance(value, (gast.keyword, gast.Slice, gast.Tuple, gast.List)):
        value = copy.copy(value)
        _set(owner, key, value)
        _slots(value, found)
    elif isinstance(value, gast.expr):
        found.append((owner, key))


def _is_library(func: gast.expr) -> bool:
    name = T.dotted(func)
    return name is not None and name.split(".")[0] in ("np", "math")


def _get(owner: Any, key: Any) -> Any:
    return owner[key] if isinstance(key, int) else getattr(owner, key)


def _set(owner: Any, key: Any, value: Any) -> None:
    if isinstance(key, int):
        owner[key] = value
    else:
        setattr(owner, key, value)

