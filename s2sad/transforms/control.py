"""Structured control flow: one return at the end, at most one trailing `if c: break` in a loop, no continue, no loop else.

The statements after an `if` that leaves are moved into the branch that stays. A flag (`returned`, `stopped`, `skipped`) is
made only where neither branch can take them:

>>> import gast
>>> from s2sad.lang import tree as T
>>> body = T.stmts('''
... for i in range(n):
...     if x[i] == 0.0:
...         continue
...     s += 1.0 / x[i]
... return s
... ''')
>>> import ast
>>> print("\\n".join(ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(s))) for s in structured(body, T.Fresh(T.all_names(body)))))
for i in range(n):
    if x[i] != 0.0:
        s += 1.0 / x[i]
return s
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import gast

from s2sad.lang import tree as T

RETURN, BREAK, CONTINUE = "return", "break", "continue"


def structured(body: list[gast.stmt], fresh: T.Fresh) -> list[gast.stmt]:
    """The same statements with one return at the end (none if nothing is returned). The trees are reused."""
    return _Lowering(fresh).function(body)


def exits(body: list[gast.stmt]) -> set[str]:
    """Ways in which the statements may leave: return, break, continue (of the loop around them)."""
    found: set[str] = set()
    for s in body:
        if isinstance(s, gast.Return):
            found.add(RETURN)
        elif isinstance(s, gast.Break):
            found.add(BREAK)
        elif isinstance(s, gast.Continue):
            found.add(CONTINUE)
        elif isinstance(s, gast.If):
            found |= exits(s.body) | exits(s.orelse)
        elif isinstance(s, (gast.For, gast.While)):
            found |= (exits(s.body) & {RETURN}) | exits(s.orelse)
    return found


def leaves(body: list[gast.stmt]) -> bool:
    """Whether control never reaches the end of the statements."""
    for s in body:
        if isinstance(s, (gast.Return, gast.Break, gast.Continue, gast.Raise)):
            return True
        if isinstance(s, gast.If) and leaves(s.body) and leaves(s.orelse):
            return True
        if _endless(s):
            return True
        if isinstance(s, (gast.For, gast.While)) and s.orelse and leaves(s.orelse) and BREAK not in exits(s.body):
            return True
    return False


def _endless(s: gast.stmt) -> bool:
    """Whether a loop can only be left by a return."""
    return isinstance(s, gast.While) and isinstance(s.test, gast.Constant) and bool(s.test.value) and BREAK not in exits(s.body)


def negated(test: gast.expr) -> gast.expr:
    """`not test`, as it would be written; comparisons that are false for NaN keep their `not`."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    if isinstance(test, gast.Compare) and len(test.ops) == 1:
        pairs = ((gast.Eq, gast.NotEq), (gast.Is, gast.IsNot))
        for a, b in (*pairs, *((y, x) for x, y in pairs)):
            if isinstance(test.ops[0], a):
                return T.at(gast.Compare(test.left, [b()], test.comparators), test)
    return T.at(gast.UnaryOp(gast.Not(), test), test)


def is_bool(test: gast.expr) -> bool:
    """Whether an expression is known to be a bool by its form."""
    if isinstance(test, gast.Compare):
        return True
    if isinstance(test, gast.UnaryOp):
        return isinstance(test.op, gast.Not)
    if isinstance(test, gast.BoolOp):
        return all(is_bool(v) for v in test.values)
    return isinstance(test, gast.Constant) and isinstance(test.value, bool)


def any_of(flags: list[str]) -> gast.expr:
    """`a or b` of names."""
    names: list[gast.expr] = [T.name(f) for f in flags]
    return names[0] if len(names) == 1 else gast.BoolOp(gast.Or(), names)


@dataclass
class _Loop:
    """Flags of the loop being lowered; named when first needed."""

    stopped: str = ""
    skipped: str = ""


class _Lowering:
    def __init__(self, fresh: T.Fresh):
        self.fresh = fresh
        self.returned = ""
        self.result = ""
        self.flags: set[str] = set()

    # -- the function -------------------------------------------------------------------------------------

    def function(self, body: list[gast.stmt]) -> list[gast.stmt]:
        while body and isinstance(body[-1], gast.Return) and body[-1].value is None:
            body = body[:-1]
        last = body[-1] if body and isinstance(body[-1], gast.Return) else None
        if last is not None and RETURN not in exits(body[:-1]):
            return [*self.strip(self.seq(body[:-1], None)), last]
        valued = [r for s in body for r in gast.walk(s) if isinstance(r, gast.Return) and r.value is not None]
        if valued:
            self.result = self.fresh("result")
        new = self.strip(self.seq(body, None))
        first = next((k for k, s in enumerate(new) if self.returned and self.returned in T.all_names([s])), None)
        if first is not None:
            new.insert(first, self.flag(self.returned, False, new[first]))
        if valued:
            new.append(T.at(gast.Return(T.name(self.result)), valued[-1]))
        return new

    # -- sequences ----------------------------------------------------------------------------------------

    def seq(self, body: list[gast.stmt], loop: _Loop | None) -> list[gast.stmt]:
        """Statements that set flags instead of leaving, and reach their end on every path."""
        new: list[gast.stmt] = []
        for k, s in enumerate(body):
            rest = body[k + 1 :]
            if isinstance(s, (gast.Return, gast.Break, gast.Continue)):
                return new + self.leave(s, loop)
            if isinstance(s, gast.Raise):
                return [*new, s]
            if isinstance(s, (gast.For, gast.While)):
                return new + self.loop(s, rest, loop)
            if isinstance(s, gast.If) and exits([s]):
                return new + self.leaving_if(s, rest, loop)
            if isinstance(s, gast.If):
                new += make_if(s, s.test, self.seq(s.body, loop), self.seq(s.orelse, loop))
            elif not isinstance(s, gast.Pass):
                new.append(s)
        return new

    def leaving_if(self, s: gast.If, rest: list[gast.stmt], loop: _Loop | None) -> list[gast.stmt]:
        """An `if` that may return, break or continue, and what follows it."""
        test, body, orelse = s.test, s.body, s.orelse
        if loop is not None and len(body) == 1 and isinstance(body[0], gast.Break) and is_bool(test):
            name = self.stopped(loop)
            inner = self.seq([*orelse, *rest], loop)
            new: list[gast.stmt] = [T.at(gast.Assign([T.store(name)], test, None), s)]
            return new + ([T.at(gast.If(negated(T.name(name)), inner, []), s)] if inner else [])
        if leaves(body):
            return make_if(s, test, self.seq(body, loop), self.seq([*orelse, *rest], loop))
        if leaves(orelse):
            return make_if(s, test, self.seq([*body, *rest], loop), self.seq(orelse, loop))
        new = make_if(s, test, self.seq(body, loop), self.seq(orelse, loop))
        inner = self.seq(rest, loop)
        if not inner:
            return new
        kinds = exits([s])
        flags = [self.named_returned()] if RETURN in kinds else []
        if loop is not None and BREAK in kinds:
            flags.append(self.stopped(loop))
        if loop is not None and CONTINUE in kinds:
            flags.append(self.skipped(loop))
        return [*new, T.at(gast.If(negated(any_of(flags)), inner, []), rest[0])]

    def loop(self, s: gast.For | gast.While, rest: list[gast.stmt], outer: _Loop | None) -> list[gast.stmt]:
        """A loop and what follows it."""
        kinds = exits(s.body)
        flags = _Loop()
        last = s.body[-1]
        plain = isinstance(last, gast.If) and len(last.body) == 1 and isinstance(last.body[0], gast.Break) and not last.orelse
        before: list[gast.stmt] = []
        if plain and not exits(s.body[:-1]) and not s.orelse:
            body = [*self.seq(s.body[:-1], flags), last]
        else:
            body = self.seq(s.body, flags)
            if BREAK in kinds and s.orelse:
                before.append(self.flag(self.stopped(flags), False, s))
            elif flags.stopped and not _first_assigned(body, flags.stopped):
                body.insert(0, self.flag(flags.stopped, False, s))
            if flags.skipped:
                body.insert(0, self.flag(flags.skipped, False, s))
            tests = ([self.named_returned()] if RETURN in kinds else []) + ([self.stopped(flags)] if BREAK in kinds else [])
            if tests:
                body.append(T.at(gast.If(any_of(tests), [gast.Break()], []), last))
        new = copy.copy(s)
        new.body, new.orelse = body or [T.at(gast.Pass(), s)], []
        if _endless(s):
            return [*before, new]
        after = s.orelse
        if after and BREAK in kinds:
            after = [T.at(gast.If(negated(T.name(flags.stopped)), after, []), after[0])]
        inner = self.seq([*after, *rest], outer)
        if inner and RETURN in kinds:
            inner = [T.at(gast.If(negated(T.name(self.named_returned())), inner, []), rest[0] if rest else s)]
        return [*before, new, *inner]

    # -- flags --------------------------------------------------------------------------------------------

    def leave(self, s: gast.stmt, loop: _Loop | None) -> list[gast.stmt]:
        """What takes the place of a return, break or continue. Flags that nobody tests are taken out by `strip`."""
        if isinstance(s, gast.Return):
            flag = self.flag(self.named_returned(), True, s)
            return [flag] if s.value is None else [T.at(gast.Assign([T.store(self.result)], s.value, None), s), flag]
        assert loop is not None  # Python's own compiler has refused the others
        return [self.flag(self.stopped(loop) if isinstance(s, gast.Break) else self.skipped(loop), True, s)]

    def named_returned(self) -> str:
        self.returned = self.returned or self.named("returned")
        return self.returned

    def stopped(self, loop: _Loop) -> str:
        loop.stopped = loop.stopped or self.named("stopped")
        return loop.stopped

    def skipped(self, loop: _Loop) -> str:
        loop.skipped = loop.skipped or self.named("skipped")
        return loop.skipped

    def named(self, wish: str) -> str:
        name = self.fresh(wish)
        self.flags.add(name)
        return name

    def flag(self, name: str, value: bool, s: gast.AST) -> gast.stmt:
        return T.at(gast.Assign([T.store(name)], T.const(value), None), s)

    def strip(self, body: list[gast.stmt]) -> list[gast.stmt]:
        """Take out the settings of flags that nobody tests afterwards."""
        return self.live(body, set())[0]

    def live(self, body: list[gast.stmt], after: set[str]) -> tuple[list[gast.stmt], set[str]]:
        """The statements without dead settings, given the flags tested afterwards; and the flags tested from here on."""
        new: list[gast.stmt] = []
        for s in reversed(body):
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and s.targets[0].id in self.flags:
                if s.targets[0].id not in after:
                    continue
                after = after - T.stores(s.targets) | T.loads(s.value) & self.flags
                new.append(s)
            elif isinstance(s, gast.If):
                first, live_first = self.live(s.body, after)
                second, live_second = self.live(s.orelse, after)
                made = make_if(s, s.test, first, second) if first or second or not T.loads(s.test) <= self.flags else []
                new += made
                if made:
                    after = live_first | live_second | T.loads(s.test) & self.flags
            elif isinstance(s, (gast.For, gast.While)):
                after = after | T.loads(s) & self.flags
                s.body = self.live(s.body, after)[0] or [T.at(gast.Pass(), s)]
                new.append(s)
            else:
                new.append(s)
        return new[::-1], after


def make_if(s: gast.stmt, test: gast.expr, body: list[gast.stmt], orelse: list[gast.stmt]) -> list[gast.stmt]:
    """An `if` at the place of another one; never with an empty body. If both branches are empty, the test is left, for what it may raise or call."""
    if body:
        return [T.at(gast.If(test, body, orelse), s)]
    if orelse:
        return [T.at(gast.If(negated(test), orelse, []), s)]
    return [T.at(gast.Expr(test), s)]


def _first_assigned(body: list[gast.stmt], name: str) -> bool:
    """Whether the first statement that knows the name assigns it, whatever happens."""
    for s in body:
        if name in T.all_names([s]):
            return isinstance(s, gast.Assign)
    return True
