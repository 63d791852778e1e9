"""Forward mode: beside every statement its tangent, by the rows that the reverse mode uses.

Memory is mirrored: an array has a tangent array of its shape, a name that is bound to a view gets the same view of the tangent array, a write into an
array is the same write into its tangent. So nothing is known, or has to be known, about which names share memory at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2sad import custom, rules
from s2sad.analysis import activity, views
from s2sad.analysis import effects as E
from s2sad.analysis.aliases import Aliases
from s2sad.analysis.shapes import Shapes
from s2sad.analysis.types import region, type_of
from s2sad.errors import UnsupportedError, problem
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import Array, Scalar, Static, Type, is_array, is_float
from s2sad.rules.forms import value_names
from s2sad.transforms.reverse import MAY_SHARE, power
from s2sad.transforms.share import share


@dataclass(frozen=True)
class Tangent:
    """What `tangent` returns: the body, the tangents of the parameters asked for, names made for values of the program, the types of names."""

    body: list[gast.stmt]
    seeds: tuple[str, ...]
    values: frozenset[str]
    names: dict[str, Type]


@dataclass(frozen=True)
class Dot:
    """The tangent of an expression; `whole`: it has the expression's shape, otherwise it has to be broadcast to that."""

    tree: gast.expr
    whole: bool = True


def varied(function: Function, aliases: Aliases, wrt: tuple[str, ...]) -> frozenset[str]:
    """The names whose value (or contents, under any name) may depend on the parameters `wrt`."""
    found = {aliases.owner(n) for n in wrt}
    pairs = activity.flows(function, aliases)
    groups = {n: {aliases.owner(m) for m in group} for n, group in aliases.groups.items()}
    while True:
        size = len(found)
        found |= {target for target, src in pairs if src & found}
        for n, owners in groups.items():
            if owners & found and is_float(function.names.get(n)):
                found |= owners
        if len(found) == size:
            return frozenset(n for n, t in function.names.items() if is_float(t) and aliases.owner(n) in found)


class _Forward:
    def __init__(self, function: Function, aliases: Aliases, shapes: Shapes, wrt: tuple[str, ...]):
        self.f, self.aliases = function, aliases
        self.names: dict[str, Type] = dict(function.names)
        self.varied = varied(function, aliases, wrt)
        self.fresh = T.Fresh(T.all_names(function.body) | set(function.params))
        self.dots = {n: self.fresh(f"{n}_dot") for n in sorted(self.varied)}
        self.names.update({d: self.names[n] for n, d in self.dots.items()})
        self.shapes = replace(shapes, names=self.names, dims={**shapes.dims, **{d: shapes.dims.get(n) for n, d in self.dots.items()}})
        self.stmt: gast.stmt | None = None
        self.values: set[str] = set()  # names made for values of the program
        self.temps: list[gast.stmt] = []  # what runs before the tangent of the statement
        self.root: gast.expr | None = None  # the whole right side, if its value has the name `result` where the tangent is computed
        self.result: gast.expr | None = None

    # -- expressions -------------------------------------------------------------------------------
    def dot(self, e: gast.expr) -> Dot | None:
        """The tangent of an expression; None if it is zero."""
        if not is_float(type_of(e, self.names)):
            return None
        if isinstance(e, gast.Name):
            return Dot(T.name(self.dots[e.id])) if e.id in self.dots else None
        if isinstance(e, gast.Subscript):
            inner = self.dot(e.value)
            return None if inner is None else Dot(gast.Subscript(self.shaped(inner, e.value), A.clone(e.slice), gast.Load()))
        if isinstance(e, gast.Attribute):
            if isinstance(e.value, gast.Name) and e.value.id in ("np", "math"):
                return None  # a constant
            inner = self.dot(e.value)
            return None if inner is None else Dot(gast.Attribute(self.shaped(inner, e.value), e.attr, gast.Load()))
        if isinstance(e, gast.UnaryOp):
            inner = self.dot(e.operand)
            return inner if inner is None or isinstance(e.op, gast.UAdd) else Dot(A.neg(inner.tree), inner.whole)
        found = activity.rule_of(e, self.names) if isinstance(e, (gast.BinOp, gast.Call)) else None
        if found is None or found[0].kind == "zero":
            return None
        rule, bound = found
        inner_dots = {p: self.argument(bound[p]) for p, e_p in rule.partials.items() if p in bound and not _is_zero(e_p)}
        dots = {p: d for p, d in inner_dots.items() if d is not None}
        if not dots:
            return None
        if rule.kind == "elementwise":
            return self.elementwise(e, rule, bound, dots)
        return Dot(self.other(e, rule, bound, dots))

    def argument(self, e: gast.expr) -> Dot | None:
        """The tangent of an argument, which may be a tuple or list of numbers or arrays."""
        if isinstance(e, (gast.Tuple, gast.List)):
            parts = [self.argument(x) for x in e.elts]
            if all(p is None for p in parts):
                return None
            return Dot(type(e)([self.or_zero(p, x) for p, x in zip(parts, e.elts, strict=True)], gast.Load()))
        return self.dot(e)

    def value_of(self, e: gast.expr) -> gast.expr:
        """What stands for the value of an expression: the name of the result where it has one, otherwise the expression."""
        return A.clone(self.result) if e is self.root and self.result is not None else A.clone(e)

    def elementwise(self, e: gast.expr, rule: rules.Rule, bound: Mapping[str, gast.expr], dots: Mapping[str, Dot]) -> Dot:
        arrays = [a for a in bound.values() if is_array(type_of(a, self.names))]
        if rule.name == "np.divide" and len(dots) == 2:
            a, b = (bound[p] for p in rule.params)
            da, db = (dots[p].tree for p in rule.params)
            ratio = self.value_of(e)
            return Dot(T.expr("(da - ratio * db) / b", da=da, ratio=ratio, db=db, b=A.clone(b)))
        terms = []
        covered: list[gast.expr] = []  # operands whose shape the sum of the terms has
        for p, d in dots.items():
            special = power(bound[rule.params[0]], bound[rule.params[1]]) if rule.name == "np.power" and p == rule.params[0] else None
            if special is not None:
                partial, singular = special
            else:
                partial = T.substitute(rule.partials[p], {**bound, rule.result: self.value_of(e)})
                singular = rule.singular.get(p) == "finite"  # where the tangent is 0 it stays 0, as in the reverse mode
                used = value_names(rule.partials[p])
                covered += arrays if rule.result in used else [bound[q] for q in used if q in bound]
            if d.whole:
                covered.append(bound[p])
            terms.append(gast.Call(T.name("strong"), [d.tree, partial], []) if singular else A.mul(partial, d.tree))
        out = terms[0]
        for t in terms[1:]:
            out = A.add(out, t)
        whole = all(any(a is c or self.shapes.same(a, c) for c in covered) for a in arrays)
        return Dot(out, whole)

    def other(self, e: gast.expr, rule: rules.Rule, bound: Mapping[str, gast.expr], dots: Mapping[str, Dot]) -> gast.expr:
        """A rule that is not elementwise."""
        given = {p: self.shaped(d, bound[p]) for p, d in dots.items()}
        t = type_of(e, self.names)
        external = self.external(e, bound, given)
        if external is not None:
            return external
        if rule.forward == "linear":
            data = [p for p, x in rule.partials.items() if p in bound and not _is_zero(x)]
            return _replaced(e, {id(bound[p]): given.get(p) or self.zero(bound[p]) for p in data})
        if rule.forward == "bilinear":
            terms = [_replaced(e, {id(bound[p]): g}) for p, g in given.items()]
        elif all(p in rule.tangents for p in given):
            dotted = {f"{p}_dot": g for p, g in given.items()}
            parts = {**bound, **dotted, rule.result: self.value_of(e)}
            terms = [T.substitute(rule.tangents[p], parts) for p in given]
        elif not is_array(t) or rule.forward == "reduction":
            terms = [self.along(e, rule, bound, p, g) for p, g in given.items()]
        else:
            assert self.stmt is not None
            instead = f"@s2sad.tangent_of({rule.name})\ndef {rule.name.split('.')[-1]}_tangent(...):"
            raise UnsupportedError(problem(self.f.source, self.stmt, "S2S207", f"{rule.name} has no tangent rule, which forward mode needs", instead))
        out = terms[0]
        for term in terms[1:]:
            out = A.add(out, term)
        return out

    def external(self, e: gast.expr, bound: Mapping[str, gast.expr], given: Mapping[str, gast.expr]) -> gast.expr | None:
        """The tangent of a call of an opaque function by the user's own rule, if there is one."""
        name = T.dotted(e.func) if isinstance(e, gast.Call) else None
        entry = self.names.get(name or "")
        if name is None or not isinstance(entry, Static) or custom.tangent_rule(entry.value) is None:
            return None
        floats = [(p, a) for p, a in bound.items() if is_float(type_of(a, self.names))]
        dots = [given.get(p) or self.zero(a) for p, a in floats]
        return self.named(gast.Call(T.name(f"{name}_tangent"), [*map(A.clone, bound.values()), self.value_of(e), *dots], []), type_of(e, self.names))

    def named(self, e: gast.expr, t: Type) -> gast.expr:
        """A name for a value, whose type the value itself does not tell: what a user's rule returns."""
        n = self.fresh("w")
        self.names[n] = t
        self.temps.append(gast.Assign([T.store(n)], e, None))
        return T.name(n)

    def along(self, e: gast.expr, rule: rules.Rule, bound: Mapping[str, gast.expr], p: str, dot: gast.expr) -> gast.expr:
        """Where the entries of the result have arguments of their own: the adjoint of ones, times the tangent, is summed."""
        t, value = type_of(e, self.names), self.value_of(e)
        assert isinstance(t, (Scalar, Array))
        one: gast.expr = T.const(1.0) if t.dtype == "float64" else T.expr("np.float32(1.0)")
        seed = T.expr("np.ones_like(y)", y=value) if is_array(t) else one
        gradient = T.substitute(rule.partials[p], {**bound, rule.result: value, f"{rule.result}_bar": seed})
        if any(isinstance(c, gast.Call) and T.dotted(c.func) == "given_adjoint" for c in gast.walk(gradient)):
            gradient = self.named(gradient, type_of(bound[p], self.names))
        product = A.mul(gradient, dot)
        if not is_array(type_of(bound[p], self.names)):
            return product
        options = [gast.keyword(k, A.clone(bound[k])) for k in ("axis", "keepdims") if k in bound and not _is_default(bound[k])]
        return gast.Call(T.expr("np.sum"), [product], options if is_array(t) or options else [])

    def zero(self, e: gast.expr) -> gast.expr:
        """A tangent of zero for an argument."""
        if isinstance(e, (gast.Tuple, gast.List)):
            return type(e)([self.zero(x) for x in e.elts], gast.Load())
        t = type_of(e, self.names)
        if is_array(t):
            return T.expr("np.zeros_like(x)", x=e)
        return T.expr("np.float32(0.0)") if isinstance(t, Scalar) and t.dtype == "float32" else T.const(0.0)

    def or_zero(self, d: Dot | None, e: gast.expr) -> gast.expr:
        return self.zero(e) if d is None else self.shaped(d, e)

    def shaped(self, d: Dot, e: gast.expr, fresh: bool = False) -> gast.expr:
        """The tangent in the shape and dtype of its expression; `fresh`: an array of its own."""
        t = type_of(e, self.names)
        if not is_array(t):
            return self.converted(d.tree, t)
        dt = type_of(d.tree, self.names)
        if not is_array(dt):
            return T.expr("np.full_like(y, d)", y=self.value_of(e), d=d.tree)
        tree = d.tree
        if not d.whole:
            tree = T.expr("np.broadcast_to(d, y.shape)", y=self.value_of(e), d=tree)
        converted = self.converted(tree, t)
        if fresh and converted is tree and (not d.whole or _shares(tree)):
            return gast.Call(gast.Attribute(tree, "copy", gast.Load()), [], [])
        return converted

    def converted(self, tree: gast.expr, t: Type | None) -> gast.expr:
        """A tangent in the dtype of what it belongs to."""
        dt = type_of(tree, self.names)
        if not isinstance(dt, (Scalar, Array)) or not isinstance(t, (Scalar, Array)) or dt.dtype == t.dtype:
            return tree
        return T.expr(f"d.astype(np.{t.dtype})" if is_array(dt) else f"np.{t.dtype}(d)", d=tree)

    # -- statements --------------------------------------------------------------------------------
    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for s in body:
            self.stmt, self.root, self.result, self.temps = s, None, None, []
            if isinstance(s, gast.If):
                out.append(T.at(gast.If(s.test, self.block(s.body), self.block(s.orelse)), s))
            elif isinstance(s, gast.For):
                out.append(T.at(gast.For(s.target, s.iter, self.block(s.body), [], None), s))
            elif isinstance(s, gast.While):
                out.append(T.at(gast.While(s.test, self.block(s.body), []), s))
            elif isinstance(s, gast.Assign):
                out += self.shared(self.assign(s))
            elif isinstance(s, gast.AugAssign):
                out += self.shared(self.augmented(s))
            elif isinstance(s, gast.Return):
                out += self.returned(s)
            else:
                out.append(s)
        return out

    def shared(self, pair: list[gast.stmt]) -> list[gast.stmt]:
        """A statement and its tangent, in the order in which they run, with names for what both compute."""
        if self.temps:
            k = next(i for i, s in enumerate(pair) if s is not self.stmt)
            pair = [*pair[:k], *T.at(self.temps, self.stmt), *pair[k:]]
        return pair if len(pair) < 2 else share(pair, self.names, self.fresh)

    def assign(self, s: gast.Assign) -> list[gast.stmt]:
        target = s.targets[0]
        if isinstance(target, gast.Subscript):
            return self.write(s, target, s.value)
        if target.id not in self.dots:
            return [s]
        mirrored = views.view_base(s.value, self.names) is not None or isinstance(s.value, gast.Name)
        later = target.id not in {n for n in T.loads(s.value)} and not mirrored
        if later:
            self.root, self.result = s.value, T.name(target.id)
        d = self.dot(s.value)
        t = self.names[target.id]
        if d is None:
            value = self.zero(T.name(target.id)) if is_array(t) else self.zero(target)
            later = True
        elif mirrored:
            value = d.tree
        else:
            value = self.shaped(d, s.value, fresh=True)
            value = self.converted(value, t)
        new = T.at(gast.Assign([T.store(self.dots[target.id])], value, None), s)
        return [s, new] if later else [new, s]

    def write(self, s: gast.stmt, target: gast.Subscript, value: gast.expr) -> list[gast.stmt]:
        """`u[i] = e`: the same write into the tangent, before, as the places may be computed from what is overwritten."""
        base = T.base_name(target)
        if base not in self.dots:
            return [s]
        place = self.place(target)
        d = self.dot(value)
        tree = T.const(0.0) if d is None else d.tree
        if d is not None and region(T.loaded(target), self.names) == "mask" and not d.whole:
            tree = self.shaped(d, value)
        return [T.at(gast.Assign([place], tree, None), s), s]

    def augmented(self, s: gast.AugAssign) -> list[gast.stmt]:
        base = T.base_name(s.target)
        if base not in self.dots:
            return [s]
        if isinstance(s.op, (gast.Add, gast.Sub)):
            d = self.dot(s.value)
            if d is None:
                return [s]
            target = self.place(s.target)
            sign, tree = A.split_sign(d.tree)
            if not is_array(self.names[base]):
                tree = self.converted(tree, self.names[base])
            plus = isinstance(s.op, gast.Add) == (sign > 0)
            return [T.at(gast.AugAssign(target, gast.Add() if plus else gast.Sub(), tree), s), s]
        value = gast.BinOp(T.loaded(s.target), s.op, s.value)
        if isinstance(s.target, gast.Subscript):
            return self.write(s, s.target, value)
        t = self.names[base]
        if is_array(t):
            whole = T.const(...) if t.ndim == 0 else gast.Slice(None, None, None)  # type: ignore[union-attr]
            return self.write(s, gast.Subscript(T.name(base), whole, gast.Store()), value)
        d = self.dot(value)
        tree = self.zero(T.name(base)) if d is None else self.converted(d.tree, t)
        return [T.at(gast.Assign([T.store(self.dots[base])], tree, None), s), s]

    def place(self, target: gast.expr) -> gast.expr:
        """The same place of the tangent: only the array changes, not index expressions that mention it."""
        if isinstance(target, gast.Name):
            return T.store(self.dots[target.id])
        place: gast.expr = A.clone(target)
        inner = place
        while not isinstance(inner.value, gast.Name):
            inner = inner.value
        inner.value = T.name(self.dots[inner.value.id])
        return place

    def returned(self, s: gast.Return) -> list[gast.stmt]:
        """`return value, tangent`, which share no memory with the arguments."""
        out: list[gast.stmt] = []
        value = s.value
        if not isinstance(value, gast.Name):
            n = self.fresh("out")
            self.values.add(n)
            self.names[n] = type_of(value, self.names)
            out.append(T.at(gast.Assign([T.store(n)], value, None), s))
            self.root, self.result = value, T.name(n)
            d = self.dot(value)
            value = T.name(n)
        else:
            d = self.dot(value)
        t = self.names[value.id]
        tree = self.zero(value) if d is None else self.shaped(d, s.value if self.root is not None else value, fresh=self.root is not None)
        results = [value, tree]
        if is_array(t) and (not isinstance(s.value, gast.Name) or self.of_a_parameter(value.id)):
            base = views.view_base(s.value, self.names)
            if base is not None or isinstance(s.value, gast.Name):
                results = [gast.Call(gast.Attribute(r, "copy", gast.Load()), [], []) for r in results]
        if d is not None and self.root is not None:
            n_dot = self.fresh("out_dot")
            self.names[n_dot] = t
            out += [*T.at(self.temps, s), T.at(gast.Assign([T.store(n_dot)], results[1], None), s)]
            out = share(out, self.names, self.fresh)
            results[1] = T.name(n_dot)
        return [*out, T.at(gast.Return(gast.Tuple(results, gast.Load())), s)]

    def of_a_parameter(self, n: str) -> bool:
        """Whether an array may be (a view of) an argument."""
        return bool(self.aliases.groups.get(n, frozenset((n,))) & set(self.f.params))


def _is_zero(e: gast.expr) -> bool:
    return isinstance(e, gast.Constant) and e.value == 0 and not isinstance(e.value, bool)


def _is_default(e: gast.expr) -> bool:
    return isinstance(e, gast.Constant) and (e.value is None or e.value is False)


def _shares(e: gast.expr) -> bool:
    """Whether an expression may be the memory of a name."""
    if isinstance(e, gast.Call):
        f = T.dotted(e.func) or ""
        return f in MAY_SHARE and not isinstance(e.args[0], (gast.BinOp, gast.UnaryOp))
    return isinstance(e, (gast.Name, gast.Subscript, gast.Attribute))


def _replaced(e: gast.expr, new: Mapping[int, gast.expr]) -> gast.expr:
    """A copy of a call or an operation with other operands; they are found by identity."""

    def copy_of(node: Any) -> Any:
        if id(node) in new:
            return new[id(node)]
        if isinstance(node, gast.AST):
            return type(node)(**{f: copy_of(getattr(node, f, None)) for f in node._fields})
        return [copy_of(x) for x in node] if isinstance(node, list) else node

    out: gast.expr = copy_of(e)
    return out


def tangent(function: Function, aliases: Aliases, shapes: Shapes, wrt: tuple[str, ...]) -> Tangent:
    """The program that computes the value and its tangent, from the tangents of some parameters.

    >>> from s2sad.transforms.example import after
    >>> print(after("tangent", "y = np.exp(x)\\nu = np.zeros(3)\\nfor i in range(3):\\n    u[i] = y * y\\nreturn np.sum(u)", "x: f8", mode="tangent"))
    y = np.exp(x)
    y_dot = y * x_dot
    u = np.zeros(3)
    u_dot = np.zeros_like(u)
    for i in range(3):
        u_dot[i] = 2.0 * y * y_dot
        u[i] = y * y
    out = np.sum(u)
    out_dot = np.sum(u_dot)
    return out, out_dot
    """
    forward = _Forward(function, aliases, shapes, wrt)
    start: list[gast.stmt] = []
    for p in function.params:
        if p in forward.dots and p not in wrt:
            start.append(gast.Assign([T.store(forward.dots[p])], forward.zero(T.name(p)), None))
    body = forward.block(T.copied(function.body))  # `share` works in place
    # what the value and its tangent share belongs to the value
    dots = set(forward.dots.values())
    for s in reversed(list(E.walk(body))):
        if isinstance(s, gast.Assign) and (T.base_name(s.targets[0]) in forward.values or T.base_name(s.targets[0]) in function.names):
            forward.values |= T.loads(s.value) - dots
    seeds = tuple(forward.dots[w] if w in forward.dots else forward.fresh(f"{w}_dot") for w in wrt)
    return Tangent([*start, *body], seeds, frozenset(forward.values), forward.names)
