"""Which values carry derivatives: varied (they depend on an independent variable), useful (the result depends on them), active (both)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import gast

from s2sad import custom, rules
from s2sad.analysis import effects as E
from s2sad.analysis.aliases import Aliases
from s2sad.analysis.draws import generator_of
from s2sad.analysis.types import call_types, type_of
from s2sad.errors import UnsupportedError, problem
from s2sad.lang import tree as T
from s2sad.lang.routines import Routine, called, targets_of, variant_of
from s2sad.lang.tree import Function
from s2sad.lang.types import Static, Type, is_float

OPERATORS = {"Add": "np.add", "Sub": "np.subtract", "Mult": "np.multiply", "Div": "np.divide", "Pow": "np.power", "Mod": "np.remainder",
             "FloorDiv": "np.floor_divide", "MatMult": "np.matmul"}


# functions that select operands: the adjoint of what is not selected is exactly zero
SELECTING = ("np.where", "np.maximum", "np.minimum", "np.fmax", "np.fmin", "np.clip", "np.max", "np.min", "np.sort",
             "keep", "drop", "share", "share_number")


def rule_of(e: gast.expr, names: Mapping[str, Type]) -> tuple[rules.Rule, dict[str, gast.expr]] | None:
    """The derivative rule of an operator or call and its bound arguments; None where an expression has no derivative of its own."""
    try:
        return _rule_of(e, names)
    except rules.RuleError as error:
        error.node = error.node or e
        raise


def _rule_of(e: gast.expr, names: Mapping[str, Type]) -> tuple[rules.Rule, dict[str, gast.expr]] | None:
    if isinstance(e, gast.BinOp):
        callee = OPERATORS.get(type(e.op).__name__)
        if callee is None:
            return None
        rule = rules.lookup(callee, [type_of(e.left, names), type_of(e.right, names)])
        return rule, rules.bind(rule, [e.left, e.right], {})
    if not isinstance(e, gast.Call):
        return None
    callee = T.dotted(e.func) or ""
    keywords = {k.arg: k.value for k in e.keywords}
    if generator_of(e, names) is not None:
        return rules.Rule(callee, (), {}, "y", "zero"), {}
    if isinstance(e.func, gast.Attribute) and callee.split(".")[0] not in ("np", "math"):
        args = [e.func.value, *e.args]
        rule = rules.lookup(e.func.attr, [type_of(a, names) for a in args])
        return rule, rules.bind(rule, args, keywords)
    external = names.get(callee)
    if isinstance(external, Static) and isinstance(external.value, Routine):
        return None
    if isinstance(external, Static):
        rule = external_rule(callee, external.value, [type_of(a, names) for a in e.args])
        return rule, rules.bind(rule, list(e.args), keywords)
    if is_cast(callee):
        return rules.Rule(callee, ("x",), {}, "y", "elementwise", {"x": T.const(1)} if is_float(type_of(e, names)) else {}), {"x": e.args[0]}
    if not rules.known(callee):
        return rules.Rule(callee, tuple(f"a{k}" for k in range(len(e.args))), {}, "y", "zero"), {}
    rule = rules.lookup(callee, call_types(callee, e, names)[0])
    return rule, rules.bind(rule, list(e.args), keywords)


def is_cast(callee: str) -> bool:
    """Whether a call converts a number: `float(x)`, `np.float32(x)`."""
    return callee in ("float", "np.float64", "np.float32")


def external_rule(name: str, fn: object, types: list[Type]) -> rules.Rule:
    """The rule that a user gave for a function; its adjoint is called as `name_adjoint`."""
    params = tuple(f"a{k}" for k in range(len(types)))
    if custom.is_nondifferentiable(fn):
        return rules.Rule(name, params, {}, "y", "zero")
    floats = [k for k, t in enumerate(types) if is_float(t)]
    call = f"{name}_adjoint({', '.join((*params, 'y', 'y_bar'))})"
    several = len(floats) > 1
    partials = {f"a{k}": T.expr(f"given_adjoint({call}, a{k}" + (f", {i}, {len(floats)})" if several else ")")) for i, k in enumerate(floats)}
    return rules.Rule(name, params, {}, "y", "vjp", partials)


def parts(e: gast.expr, names: Mapping[str, Type]) -> Iterator[gast.expr]:
    """The operands on which an expression depends differentiably."""
    if isinstance(e, gast.UnaryOp) and isinstance(e.op, (gast.USub, gast.UAdd)):
        yield e.operand
    elif isinstance(e, gast.Attribute) and e.attr == "T":
        yield e.value
    elif isinstance(e, (gast.BinOp, gast.Call)):
        found = rule_of(e, names)
        if found is not None and found[0].kind != "zero":
            rule, bound = found
            for p, partial in rule.partials.items():
                if p in bound and not (isinstance(partial, gast.Constant) and partial.value == 0):
                    arg = bound[p]
                    yield from arg.elts if isinstance(arg, (gast.Tuple, gast.List)) else [arg]


def leaves(e: gast.expr, names: Mapping[str, Type]) -> Iterator[gast.expr]:
    """The names and subscripted names on which a float expression depends differentiably.

    >>> from s2sad.lang.types import Array, WEAK_FLOAT, WEAK_INT
    >>> names = {"a": Array("float64", 1), "x": WEAK_FLOAT, "i": WEAK_INT}
    >>> [gast.dump(leaf)[:4] for leaf in leaves(T.expr("a[i] * x + np.floor(x) + i"), names)]
    ['Subs', 'Name']
    """
    if isinstance(e, (gast.Tuple, gast.List)):
        for item in e.elts:
            yield from leaves(item, names)
        return
    if not is_float(type_of(e, names)):
        return
    if isinstance(e, gast.Name):
        yield e
    elif isinstance(e, gast.Subscript):
        if isinstance(e.value, gast.Name):
            yield e
        else:
            yield from leaves(e.value, names)
    else:
        for p in parts(e, names):
            yield from leaves(p, names)


def sources(e: gast.expr, names: Mapping[str, Type]) -> set[str]:
    """The names on which an expression depends differentiably."""
    return {T.base_name(leaf) for leaf in leaves(e, names)}


def flows(function: Function, aliases: Aliases) -> list[tuple[str, set[str]]]:
    """(target, sources) of every differentiable assignment, by owner."""
    names = function.names
    out = []
    for s in E.walk(function.body):
        if variant_of(s, names) is not None:
            given = call_sources(s, aliases, names)
            out += [(n, given) for n in call_outputs(s, aliases, names)]
        elif isinstance(s, (gast.Assign, gast.AugAssign)):
            target = s.targets[0] if isinstance(s, gast.Assign) else s.target
            base = T.base_name(target)
            if is_float(names.get(base)):
                out.append((aliases.owner(base), {aliases.owner(n) for n in sources(s.value, names)}))
    return out


def call_sources(s: gast.stmt, aliases: Aliases, names: Mapping[str, Type]) -> set[str]:
    """The owners of what the arguments of a recursive function's call depend on differentiably; each output depends on all of them."""
    return {aliases.owner(n) for a in s.value.args if is_float(type_of(a, names)) for n in sources(a, names)}


def call_outputs(s: gast.stmt, aliases: Aliases, names: Mapping[str, Type]) -> set[str]:
    """The owners that a recursive function's call gives float values: its results and the arrays that it changes."""
    routine = called(s, names)
    assert routine is not None
    changed = {T.base_name(s.value.args[k]) for k in routine.writes}
    return {aliases.owner(n) for n in (*targets_of(s), *changed) if is_float(names.get(n))}


def check_rules(function: Function, aliases: Aliases, wrt: tuple[str, ...]) -> None:
    """Refuse a float argument that varies and that its function's rule does not differentiate.

    Raises UnsupportedError with every such argument.
    """
    names = function.names
    varied = set(wrt)
    pairs = flows(function, aliases)
    while True:
        n = len(varied)
        varied |= {target for target, src in pairs if src & varied}
        if len(varied) == n:
            break
    problems = []
    for s in E.walk(function.body):
        for e in gast.walk(s.value) if isinstance(s, (gast.Assign, gast.AugAssign, gast.Return)) and s.value is not None else []:
            found = rule_of(e, names) if isinstance(e, (gast.Call, gast.BinOp)) and is_float(type_of(e, names)) else None
            if found is None or found[0].kind == "zero":
                continue
            for p, arg in found[1].items():
                if p not in found[0].partials and {aliases.owner(n) for n in sources(arg, names)} & varied:
                    problems.append(problem(function.source, s, "S2S205", f"{found[0].name} cannot be differentiated with respect to `{p}`",
                                            f"s2sad.stop_gradient({p})  # if it is meant as a constant"))
    if problems:
        raise UnsupportedError(*problems)


def active(function: Function, aliases: Aliases, wrt: tuple[str, ...], kept: frozenset[str] = frozenset()) -> frozenset[str]:
    """Names (owners) that are varied and useful anywhere in the function; `kept` are arrays of which the caller reads what is left in them."""
    pairs = flows(function, aliases)
    varied = set(wrt)
    result = function.body[-1]
    assert isinstance(result, gast.Return)
    useful = {aliases.owner(n) for n in sources(result.value, function.names)} if result.value is not None else set()
    useful |= kept
    while True:
        before = len(varied) + len(useful)
        for target, src in pairs:
            if src & varied:
                varied.add(target)
            if target in useful:
                useful |= src
        if len(varied) + len(useful) == before:
            return frozenset(varied & useful)


Live = frozenset[str]


def live_adjoints(function: Function, aliases: Aliases, active: frozenset[str], end: Live = frozenset()) -> tuple[dict[int, Live], dict[int, Live]]:
    """Differentiable liveness: active owners whose value before (after) a statement may still reach the result.

    The adjoint of a name can be nonzero only where the name is live in this sense. Results are keyed by id(statement); the live set at the
    end of a loop body is kept under `-id(loop)` of the second map, that at the start of a body under `-id(loop)` of the first. `end` is live
    when the function is left.
    """
    names = function.names
    before: dict[int, Live] = {}
    after: dict[int, Live] = {}

    def use(e: gast.expr) -> Live:
        return frozenset(aliases.owner(n) for n in sources(e, names)) & active

    def block(body: list[gast.stmt], live: Live) -> Live:
        for s in reversed(body):
            after[id(s)] = live
            if isinstance(s, gast.If):
                live = block(s.body, live) | block(s.orelse, live)
            elif isinstance(s, (gast.For, gast.While)):
                end = live
                while True:
                    start = block(s.body, end)
                    if start <= end:
                        break
                    end |= start
                before[-id(s)], after[-id(s)] = start, end
                live = live | start
            elif isinstance(s, gast.Return):
                live = live | use(s.value) if s.value is not None else live
            elif called(s, names) is not None:
                if call_outputs(s, aliases, names) & live:
                    live = (live - {aliases.owner(n) for n in targets_of(s)}) | (call_sources(s, aliases, names) & active)
            elif isinstance(s, (gast.Assign, gast.AugAssign)):
                target = s.targets[0] if isinstance(s, gast.Assign) else s.target
                base = T.base_name(target)
                own = aliases.owner(base)
                if own in live:
                    if isinstance(s, gast.Assign) and isinstance(target, gast.Name) and base not in aliases.views:
                        live = (live - {own}) | use(s.value)
                    else:
                        live = live | use(s.value)
            before[id(s)] = live
        return live

    block(list(function.body), end)
    return before, after
