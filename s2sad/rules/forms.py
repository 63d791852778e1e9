"""Forms of derivative rules: one line a function.

    elementwise("tanh(x) -> y", "1 - y**2")               partial derivatives, in the order of the parameters ("0": none)
    vjp("cumsum(a, axis=None) -> y", a="cumsum_dx(y_bar, a.shape, axis)")      the whole contribution to an argument's adjoint
    linear("flip(m, axis=None) -> y", m="flip_of(y_bar, axis)")      the same; the tangent is the function of the tangents
    bilinear("outer(a, b) -> c", a="c_bar @ b", b="a @ c_bar")       the same, for a function that is linear in each argument
    reduction("max(a, axis=None) -> y", a="max_share(...)")          the same; every entry of the result has entries of the argument of its own
    zero("floor(x)", "sign(x)", ...)                      results that carry no derivative

`vjp` takes the tangent as a text where none of these fits (`tangents={"a": "sort_dot(a_dot, a, axis)"}`); a result that is a scalar needs none.

A chapter is a `Chapter("np")`, whose rows call functions of `np` (or `math`) by bare names, unless they are runtime functions.
Rows are parsed when they are first looked up. A float parameter that has no partial in a row that is not `zero` cannot be differentiated:
the caller refuses it. A partial that is the constant 0 says that there is no dependence.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import gast

from s2sad import runtime
from s2sad.lang import tree

RUNTIME = frozenset(runtime.__all__)
SHAPE_ATTRIBUTES = ("shape", "size", "ndim")


class RuleError(ValueError):
    """A call that no rule fits: an unknown keyword, a form or a type that is not supported. The text says which, `node` is the call."""

    node: gast.AST | None = None


@dataclass(frozen=True)
class Rule:
    """What the compiler knows about one library function (see the module's docstring).

    `unpacked` > 0: that many leading parameters come from one tuple or list argument (np.concatenate and its kin).
    """

    name: str
    params: tuple[str, ...]
    defaults: Mapping[str, object]
    result: str
    kind: str
    partials: Mapping[str, gast.expr] = field(default_factory=dict)
    singular: Mapping[str, str] = field(default_factory=dict)
    unpacked: int = 0
    forward: str = ""  # "linear", "bilinear", "reduction": how the tangent follows
    tangents: Mapping[str, gast.expr] = field(default_factory=dict)  # or what it is, by the parameter whose tangent it comes from

    @cached_property
    def values(self) -> Mapping[str, frozenset[str]]:
        """Per partial: the parameters and the result whose value it uses (a name used only as `x.shape` does not count)."""
        known = {*self.params, self.result}
        return {p: frozenset(value_names(e) & known) for p, e in self.partials.items()}


def value_names(e: gast.expr) -> set[str]:
    """Names that an expression uses by value: all it reads, but those that stand only in `x.shape`, `x.size`, `x.ndim`."""
    if isinstance(e, gast.Attribute) and isinstance(e.value, gast.Name) and e.attr in SHAPE_ATTRIBUTES:
        return set()
    if isinstance(e, gast.Name):
        return {e.id}
    return {n for child in gast.iter_child_nodes(e) for n in value_names(child)}


@dataclass(frozen=True)
class Row:
    """A rule as it is written, for arguments of some numbers of axes (`when`: one entry a leading parameter, None: any)."""

    name: str
    signature: str
    kind: str
    partials: tuple[str, ...] | Mapping[str, str]
    singular: Mapping[str, str]
    when: tuple[int | None, ...]
    space: str
    forward: str = ""
    tangents: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def rule(self) -> Rule:
        """The parsed rule."""
        call, _, result = self.signature.partition("->")
        head: Any = gast.parse(call.strip(), mode="eval").body
        params = [a.id for a in head.args] + [k.arg for k in head.keywords]
        defaults = {k.arg: gast.literal_eval(k.value) for k in head.keywords}
        texts = self.partials if isinstance(self.partials, Mapping) else dict(zip(params, self.partials, strict=False))
        partials = {p: parse(t, self.space) for p, t in texts.items()}
        tangents = {p: parse(t, self.space) for p, t in self.tangents.items()}
        result = result.strip() or "y"
        return Rule(self.name, tuple(params), defaults, result, self.kind, partials, dict(self.singular), 0, self.forward, tangents)


class _Qualify(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, space: str):
        self.space = space

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, gast.Name) and node.func.id not in RUNTIME:
            node.func = gast.Attribute(tree.name(self.space), node.func.id, gast.Load())
        return node

    def visit_Name(self, node: Any) -> Any:
        # `pi` is the only constant of a namespace that rows use
        return gast.Attribute(tree.name(self.space), "pi", gast.Load()) if node.id == "pi" else node


def parse(text: str, space: str = "np") -> gast.expr:
    """The tree of a row's expression, its functions qualified."""
    parsed: gast.expr = _Qualify(space).visit(tree.expr(text))
    return parsed


TABLE: dict[str, list[Row]] = {}


class Chapter:
    """A group of rows whose functions live in one namespace ("" for builtins and methods)."""

    def __init__(self, prefix: str, space: str = ""):
        self.prefix = prefix
        self.space = space or prefix

    def _add(self, signature: str, kind: str, partials: Any, singular: Mapping[str, str], when: Iterable[int | None],
             forward: str = "", tangents: Mapping[str, str] | None = None) -> None:
        short = signature.partition("(")[0].strip()
        name = f"{self.prefix}.{short}" if self.prefix else short
        call = signature[signature.index("(") :]
        TABLE.setdefault(name, []).append(Row(name, "f" + call, kind, partials, singular, tuple(when), self.space or "np", forward, tangents or {}))

    def elementwise(self, signature: str, *partials: str, **singular: str) -> None:
        """A pointwise function and d result / d parameter; `x="finite"` or `x="infinite"` says where a partial is singular."""
        self._add(signature, "elementwise", partials, singular, ())

    def vjp(self, signature: str, when: tuple[int | None, ...] = (), tangents: Mapping[str, str] | None = None, **partials: str) -> None:
        """Any other function and the whole contributions to its parameters' adjoints."""
        self._add(signature, "vjp", partials, {}, when, "", tangents)

    def linear(self, signature: str, when: tuple[int | None, ...] = (), **partials: str) -> None:
        """A function that is linear in the parameters that have a contribution, taken together."""
        self._add(signature, "vjp", partials, {}, when, "linear")

    def bilinear(self, signature: str, when: tuple[int | None, ...] = (), **partials: str) -> None:
        """A function that is linear in each of the parameters that have a contribution."""
        self._add(signature, "vjp", partials, {}, when, "bilinear")

    def reduction(self, signature: str, when: tuple[int | None, ...] = (), **partials: str) -> None:
        """A function along an axis (or all): no two entries of the result depend on one entry of the argument."""
        self._add(signature, "vjp", partials, {}, when, "reduction")

    def zero(self, *signatures: str, when: tuple[int | None, ...] = ()) -> None:
        """Functions whose result carries no derivative."""
        for signature in signatures:
            self._add(signature, "zero", {}, {}, when)


# spellings that NumPy allows besides the parameters' own names
KEYWORDS = {"np.clip": {"min": "a_min", "max": "a_max"}}


def bind(rule: Rule, args: list[gast.expr], keywords: Mapping[str, gast.expr]) -> dict[str, gast.expr]:
    """The argument of every parameter, defaults as literals. RuleError if they do not fit."""
    args = list(args)
    if rule.unpacked:
        if not args or not isinstance(args[0], (gast.Tuple, gast.List)):
            raise RuleError(f"{rule.name} needs its arrays as a tuple written in the call")
        parts = list(leaves(args[0]))
        if len(parts) != rule.unpacked:
            raise RuleError(f"{rule.name}: {rule.unpacked} parts expected, {len(parts)} given")
        args[:1] = parts
    if len(args) > len(rule.params):
        raise RuleError(f"{rule.name} takes {len(rule.params)} arguments here ({', '.join(rule.params)}), {len(args)} given")
    bound = dict(zip(rule.params, args, strict=False))
    for key, value in keywords.items():
        key = KEYWORDS.get(rule.name, {}).get(key, key)
        if key not in rule.params:
            raise RuleError(f"{rule.name} with the keyword `{key}` is not supported (supported: {', '.join(rule.params)})")
        if key in bound:
            raise RuleError(f"{rule.name} gets `{key}` twice")
        bound[key] = value
    for p in rule.params:
        if p not in bound:
            if p not in rule.defaults:
                raise RuleError(f"{rule.name} lacks the argument `{p}`")
            bound[p] = literal_tree(rule.defaults[p])
    return {p: bound[p] for p in rule.params}


def literal_tree(value: object) -> gast.expr:
    """A literal as a tree; negative numbers as `-n`, as a parser would give them."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
        return gast.UnaryOp(gast.USub(), tree.const(-value))
    return tree.const(value)


def leaves(e: gast.expr) -> Iterable[gast.expr]:
    """The elements of a (nested) tuple or list display, left to right."""
    if isinstance(e, (gast.Tuple, gast.List)):
        for part in e.elts:
            yield from leaves(part)
    else:
        yield e


def with_partials(rule: Rule, partials: Mapping[str, gast.expr]) -> Rule:
    """The rule with other partials (copied, as trees are never shared)."""
    return replace(rule, partials={p: copy.deepcopy(e) for p, e in partials.items()})
