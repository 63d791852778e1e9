"""Operands that were evaluated early, to keep Python's order, go back into their expression where nobody can tell the order.

`normalize` takes a ternary, a call, `max(a, b)` and the like out of expressions, and with them, under a name, whatever stands left of them and may
raise. Now that types are known: if what lies between the name and its use raises nothing, or only what the operand itself raises, and changes nothing
that the operand reads, the operand returns to its place.

>>> from s2sad.transforms.example import source
>>> from s2sad.transforms.front import build
>>> from s2sad.transforms.pipeline import typed
>>> from s2sad.lang.types import Array, WEAK_INT
>>> def f(x, n):
...     return x[n] * (x[0] if n > 1 else 1.0) * (1.0 / n if n > 2 else 1.0)
>>> f = build(f)
>>> print(source(f))
value = x[n]
if n > 1:
    chosen = x[0]
else:
    chosen = 1.0
value_2 = value * chosen
if n > 2:
    chosen_2 = 1.0 / n
else:
    chosen_2 = 1.0
return value_2 * chosen_2
>>> print(source(rejoin(typed(f, {"x": Array("float64", 1), "n": WEAK_INT}))))
value = x[n]
if n > 1:
    chosen = x[0]
else:
    chosen = 1.0
if n > 2:
    chosen_2 = 1.0 / n
else:
    chosen_2 = 1.0
return value * chosen * chosen_2
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace

import gast

from s2sad.analysis import aliases as aliases_of
from s2sad.analysis import effects as E
from s2sad.analysis import shapes as shapes_of
from s2sad.analysis.raises import ANYTHING, may_raise, statements_raise
from s2sad.lang import tree as T
from s2sad.lang.tree import Function


def rejoin(function: Function) -> Function:
    """The typed function with operands in their place again."""
    if not any(is_held(s) for s in E.walk(function.body)):
        return function
    found = _Rejoin(function)
    body = found.block(list(function.body))
    return replace(function, body=tuple(body), names={n: t for n, t in function.names.items() if n not in found.gone})


def is_held(s: gast.stmt) -> bool:
    """Whether a statement evaluates an operand before its expression."""
    return isinstance(s, gast.Assign) and bool(s.type_comment == T.HELD)


class _Rejoin:
    def __init__(self, function: Function):
        self.names = function.names
        self.aliases = aliases_of.analyse(function)
        self.shapes = shapes_of.analyse(function, self.aliases)
        self.counts = Counter(n.id for s in function.body for n in gast.walk(s) if isinstance(n, gast.Name))
        self.gone: set[str] = set()

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        new = [self.inside(s) for s in body]
        for k in range(len(new) - 1, -1, -1):  # the last first: nothing between an operand and its use then waits to go back
            s = new[k]
            if not is_held(s) or self.counts[s.targets[0].id] > 2:
                continue
            name, value = s.targets[0].id, s.value
            if self.counts[name] == 1:
                use = next((j for j in range(k + 1, len(new)) if adds_to(new[j], value)), len(new))
                later = [*new[k + 1 : use], *(gast.Expr(h) for h in _heads(new[use]) if use < len(new))] if use < len(new) else new[k + 1 :]
                if self.unordered(value, later):
                    del new[k]
                    self.gone.add(name)
                continue
            use = next((j for j in range(k + 1, len(new)) if name in T.all_names([new[j]])), len(new))
            if use < len(new) and evaluates(new[use], name) and self.unordered(value, new[k + 1 : use]) and self.unchanged(value, new[k + 1 : use]):
                new[use] = self.replaced(new[use], name, value)
                del new[k]
                self.gone.add(name)
        return new

    def inside(self, s: gast.stmt) -> gast.stmt:
        """The statement with the blocks in it done."""
        if E.children(s):
            s = copy.copy(s)
            s.body = self.block(s.body)
            s.orelse = self.block(s.orelse)
        return s

    def replaced(self, s: gast.stmt, name: str, value: gast.expr) -> gast.stmt:
        """The statement with an operand back in its head."""
        new = copy.copy(s)
        for f in HEADS:
            part = getattr(new, f, None)
            if isinstance(part, gast.expr):
                setattr(new, f, T.substitute(part, {name: value}))
        if isinstance(s, gast.Assign):
            new.targets = [T.substitute(t, {name: value}) for t in s.targets]
        return new

    def unordered(self, value: gast.expr, between: list[gast.stmt]) -> bool:
        """Whether the exceptions of an operand and of what comes before its use cannot be told apart."""
        first = may_raise(value, self.shapes)
        if not first:
            return True
        later = statements_raise(between, self.shapes)
        return not later or first == later and len(first) == 1 and first != ANYTHING

    def unchanged(self, value: gast.expr, between: list[gast.stmt]) -> bool:
        """Whether the statements leave what an expression reads as it is."""
        read = T.loads(value)
        written = {m for n in E.written(between, self.names) for m in self.aliases.groups.get(n, frozenset((n,)))}
        return not read & (E.bound(between, self.names) | written)


HEADS = ("value", "test", "iter", "exc", "target")


def _heads(s: gast.stmt) -> list[gast.expr]:
    """The expressions that belong to a statement itself."""
    own = [getattr(s, f, None) for f in HEADS] + list(getattr(s, "targets", []))
    return [e for e in own if isinstance(e, gast.expr) and isinstance(getattr(e, "ctx", None), gast.Store) is False]


def adds_to(s: gast.stmt, place: gast.expr) -> bool:
    """Whether a statement is, or holds, an augmented assignment to this place."""
    return any(isinstance(x, gast.AugAssign) and T.same(T.loaded(x.target), place) for x in E.walk([s]))


def evaluates(s: gast.stmt, name: str) -> bool:
    """Whether a statement evaluates a name once, always, and before the statements in it."""
    if isinstance(s, gast.While) or any(name in T.all_names(b) for b in E.children(s)):
        return False
    lazy = (v for n in gast.walk(s) if isinstance(n, gast.BoolOp) for v in n.values[1:])
    return all(name not in T.all_names([v]) for v in lazy)
