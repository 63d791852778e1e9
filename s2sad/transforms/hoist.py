"""Give names to what a derivative rule must see as a name.

After this pass an active argument of a rule that is not elementwise is a name or a subscripted name, and the result of such a rule stands alone
on its right side if it is an array. A sum over an expression whose arrays certainly have one shape stays whole.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace

import gast

from s2sad.analysis import activity
from s2sad.analysis import effects as E
from s2sad.analysis.shapes import Shapes
from s2sad.analysis.types import type_of
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import Type, is_array, is_float

TOTALS = ("np.sum", "np.mean")


def is_total(e: gast.expr) -> bool:
    """Whether this is a sum or mean over all entries.

    >>> is_total(T.expr("np.sum(x)")), is_total(T.expr("np.sum(x, axis=0)"))
    (True, False)
    """
    return isinstance(e, gast.Call) and T.dotted(e.func) in TOTALS and len(e.args) == 1 and not e.keywords


def uniform(e: gast.expr, shapes: Shapes, names: Mapping[str, Type]) -> bool:
    """Whether all arrays among the pointwise operands of an expression certainly have its shape."""
    arrays = [leaf for leaf in pointwise_operands(e, names) if is_array(type_of(leaf, names))]
    return bool(arrays) and all(shapes.same(arrays[0], a) for a in arrays[1:])


def pointwise_operands(e: gast.expr, names: Mapping[str, Type]) -> list[gast.expr]:
    """The operands at the bottom of a tree of pointwise operations."""
    t = type_of(e, names)
    if not is_array(t):
        return [e]
    if isinstance(e, gast.UnaryOp):
        return pointwise_operands(e.operand, names)
    if isinstance(e, (gast.BinOp, gast.Call)):
        found = activity.rule_of(e, names)
        if found is not None and found[0].kind != "vjp":
            return [x for a in found[1].values() for x in pointwise_operands(a, names)]
    if isinstance(e, gast.Compare):
        return [x for a in (e.left, *e.comparators) for x in pointwise_operands(a, names)]
    return [e]


class _Hoist:
    def __init__(self, function: Function, shapes: Shapes):
        self.names = dict(function.names)
        self.shapes = replace(shapes, names=self.names)
        self.fresh = T.Fresh(T.all_names(function.body) | set(function.params))
        self.before: list[gast.stmt] = []
        self.stmt: gast.stmt | None = None

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for s in body:
            s = copy.copy(s)
            if isinstance(s, gast.If):
                s.body, s.orelse = self.block(s.body), self.block(s.orelse)
            elif isinstance(s, (gast.For, gast.While)):
                s.body = self.block(s.body)
            elif isinstance(s, (gast.Assign, gast.AugAssign, gast.Return)) and s.value is not None:
                self.before, self.stmt = [], s
                s.value = self.visit(s.value, self.fits(s))
                out += self.before
            out.append(s)
        return out

    def fits(self, s: gast.stmt) -> bool:
        """Whether the right side certainly has the shape of what is assigned: it is not broadcast into a larger slice."""
        if isinstance(s, gast.Return) or isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            return True
        target = copy.copy(s.target if isinstance(s, gast.AugAssign) else s.targets[0])
        target.ctx = gast.Load()
        return self.shapes.same(s.value, target)

    def named(self, e: gast.expr) -> gast.expr:
        e = self.visit(e, True)
        wish = "t"
        if isinstance(e, gast.Call):
            wish = (T.dotted(e.func) or "t").split(".")[-1] + "_t"
        elif isinstance(e, (gast.Subscript, gast.Attribute)):
            wish = T.base_name(e) + "_view" if isinstance(e, gast.Subscript) else T.base_name(e) + "_T"
        n = self.fresh(wish)
        self.names[n] = type_of(e, self.names)
        s = gast.Assign([T.store(n)], e, None)
        assert self.stmt is not None
        self.before.append(T.at(s, self.stmt))
        self.shapes.dims[n] = self.shapes.of(e)
        return T.name(n)

    def visit(self, e: gast.expr, top: bool) -> gast.expr:
        if isinstance(e, (gast.Tuple, gast.List)):
            new = copy.copy(e)
            new.elts = [self.argument(x, "") for x in e.elts]
            return new
        if not is_float(type_of(e, self.names)) or not activity.sources(e, self.names):
            return e
        e = copy.copy(e)
        if isinstance(e, gast.UnaryOp):
            e.operand = self.visit(e.operand, False)
        elif isinstance(e, gast.Attribute) and e.attr == "T":
            if not isinstance(e.value, gast.Name):
                e.value = self.named(e.value)
            return e if top else self.named(e)
        elif isinstance(e, gast.Subscript):
            if not isinstance(e.value, gast.Name):
                e.value = self.named(e.value)
        elif isinstance(e, (gast.BinOp, gast.Call)):
            found = activity.rule_of(e, self.names)
            if found is None:
                return e
            vjp = found[0].kind == "vjp"
            callee = T.dotted(e.func) or "" if isinstance(e, gast.Call) else ""
            if isinstance(e, gast.BinOp):
                e.left = self.argument(e.left, callee) if vjp else self.visit(e.left, False)
                e.right = self.argument(e.right, callee) if vjp else self.visit(e.right, False)
            else:
                method = isinstance(e.func, gast.Attribute) and callee.split(".")[0] not in ("np", "math")
                if method:
                    e.func = copy.copy(e.func)
                    e.func.value = self.argument(e.func.value, callee) if vjp else self.visit(e.func.value, False)
                total = is_total(e) and not isinstance(e.args[0], gast.Name) and self.total_ok(e.args[0])
                e.args = [self.visit(a, False) if not vjp or total else self.argument(a, callee) for a in e.args]
            if vjp and not top and is_array(type_of(e, self.names)):
                return self.named(e)
        return e

    def total_ok(self, arg: gast.expr) -> bool:
        """Whether the seed of a sum over this expression may go in without being spread out."""
        plain = all(activity.rule_of(x, self.names) is None for x in pointwise_operands(arg, self.names) if is_array(type_of(x, self.names)))
        return plain and uniform(arg, self.shapes, self.names)

    def argument(self, a: gast.expr, callee: str) -> gast.expr:
        if isinstance(a, (gast.Tuple, gast.List)):
            return self.visit(a, False)
        if not is_array(type_of(a, self.names)):
            return self.visit(a, False)
        if not activity.sources(a, self.names):
            return a
        if isinstance(a, gast.Name) or (isinstance(a, gast.Subscript) and isinstance(a.value, gast.Name)):
            return a
        return self.named(a)


def hoist(function: Function, shapes: Shapes) -> Function:
    """The function with such arguments and results named (see the module).

    >>> from s2sad.transforms.example import after
    >>> print(after("hoist", "return np.sum(np.cumsum(x * x) * x)"))
    t = x * x
    cumsum_t = np.cumsum(t)
    t_2 = cumsum_t * x
    return np.sum(t_2)
    """
    h = _Hoist(function, shapes)
    body = h.block(list(function.body))
    return replace(function, body=tuple(body), names=h.names)


def has_loop(body: list[gast.stmt]) -> bool:
    """Whether any statement is a loop."""
    return any(isinstance(s, (gast.For, gast.While)) for s in E.walk(body))
