"""Definite assignment: where a name may be read before it has a value, a flag and Python's UnboundLocalError are inserted.

>>> import ast, gast
>>> from s2sad.lang import tree as T
>>> f = definite(T.Function("f", ("x",), tuple(T.stmts("if x > 0.0:\\n    y = x\\nreturn y"))))
>>> print("\\n".join(ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(s))) for s in f.body))
y_set = False
if x > 0.0:
    y = x
    y_set = True
if not y_set:
    raise UnboundLocalError("cannot access local variable 'y' where it is not associated with a value")
return y
"""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import product

import gast

from s2sad.lang import tree as T
from s2sad.transforms.control import negated
from s2sad.transforms.normalize import used_names
from s2sad.transforms.resolve import Callee, externals_with

# What is known at a point: for each possible setting of the flags the names that surely have a value; None where control never comes.
Flags = tuple[bool, ...]
State = dict[Flags, frozenset[str]]

_MOST_FLAGS = 5


def definite(function: T.Function) -> T.Function:
    """The function and its callees (in normal form) with checks at the reads of names that may have no value yet."""
    done: dict[int, T.Function] = {}

    def visit(f: T.Function) -> T.Function:
        if id(f) not in done:
            new = {n: replace(c, function=visit(c.function)) for n, c in f.externals.items() if isinstance(c, Callee)}
            done[id(f)] = _check(externals_with(f, new))
        return done[id(f)]

    return visit(function)


def _check(function: T.Function) -> T.Function:
    analysis = _Definite(function)
    analysis.run()
    if not analysis.unsure:
        return function
    fresh = T.Fresh(used_names(function))
    flags = {n: fresh(f"{n}_set") for n in sorted(analysis.unsure)}
    body = _Insert(flags, analysis.reads).block(list(function.body))
    first = function.body[0]
    return function.with_body([*(T.at(gast.Assign([T.store(f)], T.const(False), None), first) for f in flags.values()), *body])


class _Definite:
    """Finds the statements that may read names without value: `reads[id(statement)]`, all such names in `unsure`."""

    def __init__(self, function: T.Function):
        self.function = function
        self.locals = T.stores(function.body) - set(function.params)
        self.flags = self.find_flags()
        self.reads: dict[int, dict[str, gast.expr | None]] = {}
        self.unsure: set[str] = set()

    def find_flags(self) -> list[str]:
        """Names that are only ever assigned by plain assignments, at least one of them of True or False, and tested."""
        constant: dict[str, int] = {}
        other: set[str] = set(self.function.params)
        tested: set[str] = set()
        for s in self.function.body:
            for n in gast.walk(s):
                if isinstance(n, gast.Assign) and isinstance(n.targets[0], gast.Name):
                    name = n.targets[0].id
                    if isinstance(n.value, gast.Constant) and isinstance(n.value.value, bool):
                        constant[name] = constant.get(name, 0) + 1
                elif isinstance(n, gast.AugAssign):
                    other |= T.stores(n.target)
                elif isinstance(n, gast.For):
                    other |= T.stores(n.target)
                elif isinstance(n, (gast.If, gast.While)):
                    tested |= T.loads(n.test)
        return sorted((set(constant) & tested) - other)[:_MOST_FLAGS]

    def run(self) -> None:
        settings = product((False, True), repeat=len(self.flags))
        self.block(self.function.body, {s: frozenset(self.function.params) for s in settings})

    # -- reads --------------------------------------------------------------------------------------------

    def read(self, s: gast.stmt, node: gast.AST | None, state: State, guard: gast.expr | None = None) -> State:
        """Note the names that the node reads and that may have no value; afterwards they have one (a check stands before).

        `guard` is the condition under which a part of `and`, `or` is evaluated at all.
        """
        if node is None or not state:
            return state
        if isinstance(node, gast.BoolOp):
            state = self.read(s, node.values[0], state, guard)
            inner = state
            for k, v in enumerate(node.values[1:], 1):
                done = node.values[:k]
                inner = self.when(done[-1], isinstance(node.op, gast.And), inner)
                before = done[0] if k == 1 else gast.BoolOp(node.op, done)
                reached = before if isinstance(node.op, gast.And) else negated(before)
                inner = self.read(s, v, inner, reached if guard is None else gast.BoolOp(gast.And(), [guard, reached]))
            return state
        if any(isinstance(n, gast.BoolOp) for n in gast.walk(node)):
            for child in _operands(node):
                state = self.read(s, child, state, guard)
            return state
        sure = frozenset.intersection(*state.values())
        missing = {n for n in T.iter_loads(node) if n in self.locals and n not in sure}
        if not missing:
            return state
        for n in missing:
            self.reads.setdefault(id(s), {}).setdefault(n, guard)
        self.unsure |= missing
        return {k: v | missing for k, v in state.items()}

    # -- statements ---------------------------------------------------------------------------------------

    def block(self, body: list[gast.stmt] | tuple[gast.stmt, ...], state: State) -> State:
        for s in body:
            state = self.statement(s, state)
        return state

    def statement(self, s: gast.stmt, state: State) -> State:
        if isinstance(s, gast.Assign):
            state = self.read(s, s.value, state)
            for t in s.targets:
                if not isinstance(t, gast.Name):
                    state = self.read(s, t, state)
            return self.bound(s, state)
        if isinstance(s, gast.AugAssign):
            state = self.read(s, s.value, state)
            target = T.name(s.target.id) if isinstance(s.target, gast.Name) else s.target
            return self.read(s, target, state)
        if isinstance(s, (gast.Return, gast.Expr)):
            state = self.read(s, s.value, state)
            return {} if isinstance(s, gast.Return) else state
        if isinstance(s, gast.Raise):
            self.read(s, s.exc, state)
            return {}
        if isinstance(s, gast.If):
            state = self.read(s, s.test, state)
            return _join(self.block(s.body, self.when(s.test, True, state)), self.block(s.orelse, self.when(s.test, False, state)))
        if isinstance(s, (gast.For, gast.While)):
            return self.loop(s, state)
        return state

    def bound(self, s: gast.Assign, state: State) -> State:
        names = frozenset(T.stores(s.targets))
        new = {k: v | names for k, v in state.items()}
        for position, flag in enumerate(self.flags):
            if flag in names:
                known = s.value.value if isinstance(s.value, gast.Constant) else None
                choices = (bool(known),) if known is not None else (False, True)
                moved: State = {}
                for k, v in new.items():
                    for c in choices:
                        key = (*k[:position], c, *k[position + 1 :])
                        moved[key] = moved[key] & v if key in moved else v
                new = moved
        return new

    def loop(self, s: gast.For | gast.While, state: State) -> State:
        if isinstance(s, gast.For):
            state = self.read(s, s.iter, state)
        certain = isinstance(s, gast.For) and _trips(s.iter)
        entry = state
        while True:
            leaving: State = {}
            if isinstance(s, gast.For):
                inside = {k: v | frozenset(T.stores(s.target)) for k, v in entry.items()}
                if not certain:
                    leaving = entry
            else:
                entry = self.read(s, s.test, entry)
                inside, leaving = self.when(s.test, True, entry), self.when(s.test, False, entry)
            last = s.body[-1] if s.body else None
            breaks = isinstance(last, gast.If) and len(last.body) == 1 and isinstance(last.body[0], gast.Break)
            if breaks and last is not None:
                end = self.read(last, last.test, self.block(s.body[:-1], inside))
                leaving = _join(leaving, self.when(last.test, True, end))
                end = self.when(last.test, False, end)
            else:
                end = self.block(s.body, inside)
            if certain:  # the last trip ends the loop
                leaving = _join(leaving, end)
            again = _join(entry, end)
            if again == entry:
                return leaving
            entry = again

    # -- tests --------------------------------------------------------------------------------------------

    def when(self, test: gast.expr, outcome: bool, state: State) -> State:
        """The settings under which a test may come out so."""
        return {k: v for k, v in state.items() if self.value(test, k) in (None, outcome)}

    def value(self, test: gast.expr, setting: Flags) -> bool | None:
        if isinstance(test, gast.Name) and test.id in self.flags:
            return setting[self.flags.index(test.id)]
        if isinstance(test, gast.Constant):
            return bool(test.value)
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            inner = self.value(test.operand, setting)
            return None if inner is None else not inner
        if isinstance(test, gast.BoolOp):
            decisive = isinstance(test.op, gast.Or)
            values = [self.value(v, setting) for v in test.values]
            if decisive in values:
                return decisive
            return None if None in values else not decisive
        return None


def _operands(node: gast.AST) -> list[gast.AST]:
    """The parts of an expression that are evaluated (the function of a call is not a value)."""
    children = list(gast.iter_child_nodes(node))
    if isinstance(node, gast.Call):
        children[0:1] = [node.func.value] if isinstance(node.func, gast.Attribute) else []
    return children


def _join(a: State, b: State) -> State:
    return {k: a[k] & b[k] if k in a and k in b else a[k] if k in a else b[k] for k in {**a, **b}}


def _trips(iterator: gast.Call) -> bool:
    """Whether a range of literals has at least one trip."""
    values = []
    for a in iterator.args:
        sign = 1
        if isinstance(a, gast.UnaryOp) and isinstance(a.op, gast.USub):
            a, sign = a.operand, -1
        if not isinstance(a, gast.Constant) or type(a.value) is not int:
            return False
        values.append(sign * a.value)
    return (len(values) < 3 or values[2] != 0) and len(range(*values)) > 0


class _Insert:
    """Puts flags behind the bindings and checks before the reads."""

    def __init__(self, flags: dict[str, str], reads: dict[int, dict[str, gast.expr | None]]):
        self.flags = flags
        self.reads = reads

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        new: list[gast.stmt] = []
        for s in body:
            checks = self.checks(s)
            if isinstance(s, gast.If):
                new += checks
                new.append(T.at(gast.If(s.test, self.block(s.body), self.block(s.orelse)), s))
            elif isinstance(s, gast.For):
                new += checks
                new.append(T.at(gast.For(s.target, s.iter, self.marks(s.target, s) + self.block(s.body), [], None), s))
            elif isinstance(s, gast.While):
                new += checks
                new.append(T.at(gast.While(s.test, self.block(s.body), []), s))
            else:
                targets = s.targets if isinstance(s, gast.Assign) else []
                marks = [m for t in targets for m in self.marks(t, s)]
                new += [*checks, s, *marks]
        return new

    def checks(self, s: gast.stmt) -> list[gast.stmt]:
        new: list[gast.stmt] = []
        for n, guard in sorted(self.reads.get(id(s), {}).items()):
            text = f"cannot access local variable '{n}' where it is not associated with a value"
            raising = T.stmts(f"raise UnboundLocalError({text!r})")
            test = negated(T.name(self.flags[n]))
            if guard is not None:
                test = gast.BoolOp(gast.And(), [copy.deepcopy(guard), test])
            new.append(T.at(gast.If(test, raising, []), s))
        return new

    def marks(self, target: gast.expr, s: gast.stmt) -> list[gast.stmt]:
        names = sorted(T.stores(target) & set(self.flags)) if not isinstance(target, gast.Subscript) else []
        return [T.at(gast.Assign([T.store(self.flags[n])], T.const(True), None), s) for n in names]
