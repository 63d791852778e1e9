"""Split mode: the two sweeps of a recursive function as two functions, `g_forward` and `g_reverse`.

`g_forward` returns what the function returns and leaves on stacks what the reverse sweep needs; `g_reverse` gets the same arguments once more and
the adjoints of the results, takes from the stacks what its forward sweep has left there, adds to the adjoints of the arrays that it was given, and
returns those of the numbers. It leaves the arrays that the function changes as they were before the call, so that a caller's reverse sweep goes on
as after any other statement.

The sweeps are made as those of any function. What they share, then, is what lies between the two: values that the first binds and the second reads.
Each goes to a stack, at the end of the innermost branch in which the first binds it and the second, in the branch of the same test, reads it.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import gast

from s2sad import custom, rules
from s2sad.analysis import activity
from s2sad.analysis import aliases as aliases_of
from s2sad.analysis import effects as E
from s2sad.analysis import shapes as shapes_of
from s2sad.analysis.aliases import Aliases
from s2sad.analysis.magnitude import magnitudes
from s2sad.analysis.types import type_of
from s2sad.analysis.verify import verify_bound
from s2sad.lang import tree as T
from s2sad.lang.emitted import Kept
from s2sad.lang.routines import Routine, Variant, variant_of
from s2sad.lang.tree import Function
from s2sad.lang.types import Array, Scalar, Static, Tuple, Type, is_array, is_float
from s2sad.transforms.accumulate import accumulate
from s2sad.transforms.checks import checked
from s2sad.transforms.legalize import legalize
from s2sad.transforms.reverse import reverse
from s2sad.transforms.share import share_blocks
from s2sad.transforms.slice import live_statements, unique_accesses
from s2sad.transforms.storage import store
from s2sad.transforms.tidy import tidy

#: So many calls of recursive functions may be open, if they are small.
ROOM = 10_000
PLURALS = {"float64": "floats", "int64": "ints", "bool": "bools"}


@dataclass(frozen=True)
class Part:
    """A function of the emitted module besides the main one."""

    name: str
    params: tuple[str, ...]
    doc: str
    body: list[gast.stmt]
    names: Mapping[str, Type]
    externals: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Stacks:
    """The stacks of a program: name to an example of what is kept there."""

    fresh: T.Fresh
    examples: dict[str, gast.expr] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def of(self, t: Type, listed: bool) -> str:
        """The stack for values of a type, or for lists of such values."""
        assert isinstance(t, (Scalar, Array))
        words = PLURALS.get(t.dtype, f"{t.dtype}s")
        if isinstance(t, Array):
            words = f"arrays_{t.ndim}d" + (f"_{t.dtype}" if t.dtype != "float64" else "") + {"C": "", "F": "_f", "A": "_strided"}[t.layout]
        wish = f"saved_{'lists_of_' if listed else ''}{words}"
        if wish not in self.names:
            self.names[wish] = self.fresh(wish)
        name = self.names[wish]
        example = example_of(t)
        self.examples[name] = gast.List([example], gast.Load()) if listed else example
        return name


def example_of(t: Scalar | Array) -> gast.expr:
    """Some value of a type."""
    if isinstance(t, Scalar):
        plain = {"float64": "0.0", "int64": "0", "bool": "False"}.get(t.dtype)
        return T.expr(plain if plain is not None else f"np.{t.dtype}(0)")
    shape = "0" if t.ndim == 1 else f"({', '.join('0' * t.ndim)})"
    dtype = "" if t.dtype == "float64" else f", np.{'bool_' if t.dtype == 'bool' else t.dtype}"
    return T.expr(f"np.empty({shape}{dtype})" + {"C": "", "F": ".T", "A": "[::2]"}[t.layout])


def differentiated(function: Function, wrt: tuple[str, ...]) -> Function:
    """The program in which those calls of recursive functions that pass on a derivative are calls of `g_forward`.

    The variants then know which of their parameters carry one.
    """
    if not function.recursive:
        return function
    while True:
        before = [v.varied for v in function.recursive]
        for f, start in [(function, wrt), *((f, tuple(f.params[k] for k in v.varied)) for v, f in function.recursive.items())]:
            spread(f, start)
        if [v.varied for v in function.recursive] == before:
            break
    for v, f in function.recursive.items():
        found = activity.active(f, aliases_of.analyse(f), tuple(f.params[k] for k in v.varied), changed_floats(v, f))
        v.shadows = tuple(k for k, p in enumerate(f.params) if is_array(f.names[p]) and p in found)
        v.adjoints = tuple(k for k, p in enumerate(f.params) if isinstance(f.names[p], Scalar) and p in found)
    return marked(function, wrt, frozenset(), frozenset())


def spread(f: Function, start: tuple[str, ...]) -> None:
    """Note at the variants that a function calls which of their parameters vary if `start` does."""
    aliases = aliases_of.analyse(f)
    pairs, varied = activity.flows(f, aliases), set(start)
    while True:
        n = len(varied)
        varied |= {target for target, src in pairs if src & varied}
        if len(varied) == n:
            break
    for s in E.walk(f.body):
        v = variant_of(s, f.names)
        if v is not None:
            v.varied |= {k for k, a in enumerate(s.value.args)
                         if is_float(v.types[k]) and {aliases.owner(m) for m in activity.sources(a, f.names)} & varied}


def changed_floats(v: Variant, f: Function) -> frozenset[str]:
    """The parameters of float arrays that a variant changes."""
    return frozenset(f.params[k] for k in v.writes if is_float(v.types[k]))


def marked(f: Function, wrt: tuple[str, ...], lent: frozenset[str], kept: frozenset[str]) -> Function:
    """The function with `g_forward` for `g` where an output of the call has a live adjoint."""
    aliases = aliases_of.analyse(f)
    active = activity.active(f, aliases, wrt, kept)
    _, after = activity.live_adjoints(f, aliases, active, lent & active)
    names = dict(f.names)

    def block(body: list[gast.stmt]) -> list[gast.stmt]:
        out = []
        for s in body:
            new = copy.copy(s)
            v = variant_of(s, names)
            if E.children(s):
                new.body = block(s.body)
                if isinstance(s, gast.If):
                    new.orelse = block(s.orelse)
            elif v is not None and v.differentiable and activity.call_outputs(s, aliases, names) & after[id(s)]:
                name = f"{v.name}_forward"
                names[name] = Static(Routine(name, v.result, v.writes, True, v))
                count = len(v.types)
                restored = frozenset((*v.writes, *range(count, count + len(v.shadows))))
                bars = tuple(v.types[k] for k in v.adjoints)
                result: Type = Static(None) if not bars else bars[0] if len(bars) == 1 else Tuple(bars)
                names[f"{v.name}_reverse"] = Static(Routine(f"{v.name}_reverse", result, restored, True))
                new.value = copy.copy(s.value)
                new.value.func = T.name(name)
            out.append(new)
        return out

    return replace(f, body=tuple(block(list(f.body))), names=names)


@dataclass
class Sweeps:
    """The two sweeps of one variant, without the stacks among their parameters."""

    variant: Variant
    forward: Part
    reverse: Part
    stacks: set[str]
    calls: set[str]  # names of the routines that they call
    kept: list[Kept]


def sweeps(v: Variant, f: Function, stacks: Stacks, every_error: bool) -> Sweeps:
    """The two sweeps of a variant (`f` is its function); `every_error` as for `pipeline.emit`."""
    varied = tuple(f.params[k] for k in sorted({*v.shadows, *v.adjoints}))
    lent, kept = frozenset(f.params[k] for k in v.shadows), changed_floats(v, f)
    f = marked(f, varied, lent, kept)
    aliases = aliases_of.analyse(f)
    shapes = shapes_of.analyse(f, aliases)
    activity.check_rules(f, aliases, varied)
    rev = reverse(f, aliases, shapes, varied, lent, kept)
    share_blocks(rev)
    restored = frozenset(f.params[k] for k in v.writes)
    stored = store(f, rev, aliases, shapes, True, restored)
    results = None if not rev.results else rev.results[0] if len(rev.results) == 1 else gast.Tuple(rev.results, gast.Load())
    shadows = [rev.bars[f.params[k]] for k in v.shadows]
    middle = T.Comment("--- reverse sweep ---")
    body = [*stored.forward, middle, *stored.reverse, gast.Return(results)]
    routines = names_of_routines(rev.names)
    adjoints = [f"{n}_adjoint" for n in f.externals]
    verify_bound(f.name, body, [*f.params, *shadows, *rev.seeds, "np", "math", *rules.runtime_names(), *routines, *f.externals, *adjoints])
    whole = replace(shapes, names=rev.names, dims={**shapes.dims, **{bar: shapes.dims.get(n) for n, bar in rev.bars.items()}})
    shared = [*restored, *shadows]
    live = live_statements(body, rev.names, whole, E.walk(stored.forward) if every_error else (), shared)
    forced = [] if every_error else unique_accesses(stored.forward, live, rev.names, rev.bars)
    body = live_statements(body, rev.names, whole, forced, shared) if forced else live
    body = tidy(body, rev.names, aliases.written, apart=True)
    body = accumulate(body, rev.names, whole, rev.fresh)
    at = next(k for k, s in enumerate(body) if isinstance(s, T.Comment) and s.text == middle.text)
    forward, backward, moved = Seam(f, rev.names, aliases, stacks).cut(body[:at], body[at + 1:])

    def final(part: list[gast.stmt]) -> list[gast.stmt]:
        return list(legalize(replace(f, body=tuple(checked(part, whole, f.names, magnitudes(f))), names=rev.names)).body)

    names = [f.params[k] for k in v.shadows] + [f.params[k] for k in v.adjoints]
    of = f"adjoint{'s' if len(names) > 1 else ''} of {', '.join(names)}" if names else "nothing to differentiate"
    used = T.all_names([*forward, *backward])
    rules_of = {f"{n}_adjoint": rule for n, fn in f.externals.items() if (rule := custom.adjoint_rule(fn)) is not None}
    externals = {n: o for n, o in {**f.externals, **rules_of}.items() if n in used}
    reasons = {k.name: k for k in stored.kept}
    kept_values = [Kept(f"{v.name}: {n}", f"`{n.split('_saved')[0]}` of every call goes to `{stack}`", f"{size_of(rev.names.get(n))}*calls",
                        reasons[n].place if n in reasons else None) for n, stack in moved]
    return Sweeps(
        v, Part(f"{v.name}_forward", f.params, f"Forward sweep of `{v.user}`.", final(forward), rev.names, externals),
        Part(f"{v.name}_reverse", (*f.params, *shadows, *rev.seeds), f"Reverse sweep of `{v.user}`: {of}.", final(backward), rev.names, externals),
        {stack for _, stack in moved}, {n for n in routines if n in used}, kept_values)


def size_of(t: Type | None) -> str:
    """Bytes of a kept value."""
    if isinstance(t, Scalar):
        return {"float32": "4", "int32": "4", "bool": "1"}.get(t.dtype, "8")
    return "8*size"


class Seam:
    """Where two sweeps of one body are cut apart."""

    def __init__(self, function: Function, names: Mapping[str, Type], aliases: Aliases, stacks: Stacks):
        self.function, self.names, self.aliases, self.stacks = function, names, aliases, stacks
        last = function.body[-1]
        values = [] if last.value is None else last.value.elts if isinstance(last.value, gast.Tuple) else [last.value]
        returned = {n for v in values for n in T.loads(v) if is_array(function.names.get(n))}
        self.returned = {m for n in returned for m in aliases.groups.get(n, frozenset((n,)))}
        self.moved: list[tuple[str, str]] = []
        self.defaults: dict[str, gast.expr] = {}

    def cut(self, forward: list[gast.stmt], backward: list[gast.stmt]) -> tuple[list[gast.stmt], list[gast.stmt], list[tuple[str, str]]]:
        """The two bodies with stacks between them, and which name went to which stack."""
        self.all = forward
        read, _ = exposed(backward, set(self.function.params))
        wanted = read & T.stores(forward)
        forward, backward = self.place(forward, backward, wanted)
        begin: list[gast.stmt] = [gast.Assign([T.store(n)], value, None) for n, value in self.defaults.items()]
        return [*begin, *forward], backward, self.moved

    def place(self, forward: list[gast.stmt], backward: list[gast.stmt], wanted: Collection[str]) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """Both blocks, with the names that the second reads of the first handed over: in inner branches where that is possible."""
        forward, backward, wanted = list(forward), list(backward), set(wanted)
        for k, j, turned in pairs(forward, backward):
            first, second = copy.copy(forward[k]), copy.copy(backward[j])
            for side in ("body", "orelse"):
                other = {"body": "orelse", "orelse": "body"}[side] if turned else side
                rest = [*forward[:k], without(first, side), *forward[k + 1:]]
                later, _ = exposed([*backward[:j], without(second, other), *backward[j + 1:]], set())
                inside = {n for n in wanted if n in T.stores(getattr(first, side)) and n not in T.stores(rest) and n not in later}
                if inside:
                    wanted -= inside
                    one, two = self.place(getattr(first, side), getattr(second, other), inside)
                    setattr(first, side, one)
                    setattr(second, other, two)
            forward[k], backward[j] = first, second
        returns = 1 if forward and isinstance(forward[-1], gast.Return) else 0
        _, bound = exposed(forward, set())
        puts: list[gast.stmt] = []
        gets: list[gast.stmt] = []
        for n in sorted(wanted):
            put, get = self.stack(n)
            if n not in bound:
                self.defaults[n] = self.default(n)
            puts.append(put)
            gets.insert(0, get)
        at = len(forward) - returns
        return [*forward[:at], *puts, *forward[at:]], [*gets, *backward]

    def stack(self, n: str) -> tuple[gast.stmt, gast.stmt]:
        """The statements that put a value on its stack and take it from there."""
        value: gast.expr = T.name(n)
        t = self.names.get(n)
        if isinstance(t, Array):
            if n in self.returned:  # the caller may change it
                value = gast.Call(gast.Attribute(value, "copy", gast.Load()), [], [])
            stack = self.stacks.of(type_of(value, self.names), False)
        elif isinstance(t, Scalar):
            stack = self.stacks.of(t, False)
        else:
            stack = self.stacks.of(self.item(n), True)
        self.moved.append((n, stack))
        put = gast.Expr(gast.Call(gast.Attribute(T.name(stack), "append", gast.Load()), [value], []))
        get = gast.Assign([T.store(n)], gast.Call(gast.Attribute(T.name(stack), "pop", gast.Load()), [], []), None)
        return put, get

    def item(self, n: str) -> Type:
        """The type of what a list of kept values holds."""
        for s in E.walk(self.all):
            c = s.value if isinstance(s, gast.Expr) else None
            if isinstance(c, gast.Call) and isinstance(c.func, gast.Attribute) and c.func.attr == "append" and T.dotted(c.func.value) == n:
                return type_of(c.args[0], self.names)
        raise AssertionError(f"nothing is kept in {n}")

    def default(self, n: str) -> gast.expr:
        t = self.names.get(n)
        return example_of(t) if isinstance(t, (Scalar, Array)) else gast.List([], gast.Load())


def exposed(body: Iterable[gast.stmt], bound: set[str]) -> tuple[set[str], set[str]]:
    """The names that a block may read before it binds them, and those that are bound for certain after it.

    >>> read, bound = exposed(T.stmts("if c:\\n    x = 1\\n    y = x\\nz = y"), set())
    >>> sorted(read), sorted(bound)
    (['c', 'y'], ['z'])
    """
    read: set[str] = set()
    bound = set(bound)
    for s in body:
        if isinstance(s, gast.If):
            read |= T.loads(s.test) - bound
            (r1, b1), (r2, b2) = exposed(s.body, bound), exposed(s.orelse, bound)
            read |= r1 | r2
            bound = b1 & b2
        elif isinstance(s, (gast.For, gast.While)):
            read |= T.loads(s.iter if isinstance(s, gast.For) else s.test) - bound
            read |= exposed(s.body, bound | (T.stores(s.target) if isinstance(s, gast.For) else set()))[0]
        else:
            read |= T.loads(s) - bound
            if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
                read |= {s.target.id} - bound
            bound |= T.stores(s)
    return read, bound


def pairs(forward: list[gast.stmt], backward: list[gast.stmt]) -> list[tuple[int, int, bool]]:
    """Branches of the two sweeps that belong together, by position: (first, second, whether the second's test is the first's, negated)."""
    def tests(block: list[gast.stmt]) -> list[tuple[int, object, bool]]:
        return [(k, *plain(s.test)) for k, s in enumerate(block) if isinstance(s, gast.If)]

    first, second = tests(forward), tests(backward)
    keys = [key for _, key, _ in first], [key for _, key, _ in second]
    return [(k, j, a != b) for k, key, a in first for j, other, b in second
            if key == other and keys[0].count(key) == keys[1].count(key) == 1]


def plain(test: gast.expr) -> tuple[object, bool]:
    """A test without its negations, and whether there was an odd number of them."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        key, odd = plain(test.operand)
        return key, not odd
    if isinstance(test, gast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], gast.NotEq):
        return T.dump(gast.Compare(test.left, [gast.Eq()], test.comparators)), True
    return T.dump(test), False


def without(s: gast.If, side: str) -> gast.If:
    """A branch without one of its sides."""
    return gast.If(s.test, [] if side == "body" else s.body, [] if side == "orelse" else s.orelse)


def names_of_routines(names: Mapping[str, Type]) -> list[str]:
    """The names under which routines are called."""
    return [n for n, t in names.items() if isinstance(t, Static) and isinstance(t.value, Routine)]


def limited(part: Part, limit: int) -> Part:
    """A function that counts in `depth` how many calls are open, and raises what Python raises before the stack of compiled code is full."""
    text = f"if depth > {limit}:\n    raise RecursionError('maximum recursion depth exceeded')"
    depth = depth_name(part)
    return replace(part, params=(*part.params, depth), body=[*(T.rename(s, {"depth": depth}) for s in T.stmts(text)), *part.body])


def depth_name(part: Part) -> str:
    """A name for the counter in a function."""
    return T.Fresh(T.all_names(part.body) | set(part.params))("depth")


def deepest(parts: Iterable[Part]) -> int:
    """How many calls may be open: compiled code takes so much of the stack for each name, as measured, and half a stack of 8 MB is enough for all."""
    most = ROOM
    for part in parts:
        names = T.all_names(part.body) & set(part.names)
        arrays = sum(is_array(part.names[n]) for n in names)
        most = min(most, 4_000_000 // (500 + 60 * (len(names) - arrays) + 400 * arrays))
    return max(1000, most // 500 * 500)


def apart_from(program: Function, name: str) -> Function:
    """The program with another name for a recursive function that is called as the main function is printed."""
    same = [v for v in program.recursive if v.name == name]
    if not same:
        return program
    functions = (program, *program.recursive.values())
    new = {name: T.Fresh({n for f in functions for n in (*T.all_names(f.body), *f.params)} | {v.name for v in program.recursive})(name)}
    same[0].name = new[name]

    def renamed(f: Function) -> Function:
        return f.with_body([T.rename(s, new) for s in f.body])

    return replace(renamed(program), recursive=MappingProxyType({v: renamed(f) for v, f in program.recursive.items()}))


def primals(program: Function) -> tuple[list[gast.stmt], list[Part]]:
    """The main function's body of a program that is ready to be printed, and the recursive functions as they are."""
    parts = [primal(v, f) for v, f in program.recursive.items()]
    limit = deepest(parts)
    counted = {v.name for v in program.recursive}
    return with_depth(program.body, counted, "1"), [counting(limited(part, limit), counted) for part in parts]


def counting(part: Part, counted: Collection[str]) -> Part:
    """A function that hands its counter on."""
    return replace(part, body=with_depth(part.body, counted, f"{part.params[-1]} + 1"))


def with_depth(body: Iterable[gast.stmt], counted: Collection[str], depth: str) -> list[gast.stmt]:
    """The body with the counter as last argument of calls."""
    return with_arguments(body, {n: [T.expr(depth)] for n in counted})


def primal(v: Variant, f: Function) -> Part:
    """A recursive function as it is."""
    return Part(v.name, f.params, f"Primal of `{v.user}`.", unreturned(f.body), f.names, f.externals)


def unreturned(body: Iterable[gast.stmt]) -> list[gast.stmt]:
    """The statements without a return of nothing at the end."""
    out = list(body)
    return out[:-1] if out and isinstance(out[-1], gast.Return) and out[-1].value is None else out


class Routines:
    """The emitted functions of a program's recursive functions."""

    def __init__(self, program: Function, every_error: bool):
        self.program = program
        self.stacks = Stacks(T.Fresh(n for f in (program, *program.recursive.values()) for n in (*T.all_names(f.body), *f.params)))
        self.sweeps = [sweeps(v, f, self.stacks, every_error) for v, f in program.recursive.items() if v.differentiable]
        changed = True
        while changed:  # a caller hands its callee the stacks of that
            changed = False
            for s in self.sweeps:
                more = set().union(*(o.stacks for o in self.sweeps if f"{o.variant.name}_forward" in s.calls)) - s.stacks
                s.stacks |= more
                changed = changed or bool(more)

    def arguments(self) -> dict[str, list[str]]:
        """The stacks that each sweep is given."""
        return {part.name: sorted(s.stacks) for s in self.sweeps for part in (s.forward, s.reverse)}

    def counted(self) -> set[str]:
        """The functions that count how deep they are: a reverse sweep goes no deeper than the forward sweep has gone."""
        return {v.name for v in self.program.recursive} | {s.forward.name for s in self.sweeps}

    def parts(self, body: Iterable[gast.stmt]) -> list[Part]:
        """The functions that a body calls, directly or through others, callees first where that is possible."""
        parts: dict[str, Part] = {}
        for v, f in self.program.recursive.items():
            shapes = shapes_of.analyse(f, aliases_of.analyse(f))
            whole = legalize(f.with_body(checked(list(f.body), shapes, f.names, magnitudes(f))))
            parts[v.name] = primal(v, whole)
        for s in self.sweeps:
            for part in (s.forward, s.reverse):
                parts[part.name] = replace(part, body=unreturned(part.body))
        limit = deepest(parts.values())
        given, counted = self.arguments(), self.counted()
        for n, part in parts.items():
            part = counting(limited(part, limit), counted) if n in counted else replace(part, body=with_depth(part.body, counted, "1"))
            parts[n] = replace(part, params=(*part.params, *given.get(n, ())), body=with_arguments(part.body, stacks_of(given)))
        wanted, reached = T.all_names(body), set()
        while new := {n for n in parts if n in wanted and n not in reached}:
            reached |= new
            wanted = wanted | {m for n in new for m in T.all_names(parts[n].body)}
        return [part for n, part in parts.items() if n in reached]

    def kept(self, parts: Iterable[Part]) -> list[Kept]:
        """What the stacks keep."""
        names = {part.name for part in parts}
        return [k for s in self.sweeps if s.forward.name in names for k in s.kept]

    def main(self, body: Iterable[gast.stmt]) -> list[gast.stmt]:
        """The body of the main function with the stacks."""
        given = self.arguments()
        used = T.all_names(body)
        stacks = sorted({n for name, ns in given.items() if name in used for n in ns})
        new: list[gast.stmt] = [gast.Assign([T.store(n)], gast.Call(T.name("stack_of"), [self.stacks.examples[n]], []), None) for n in stacks]
        return [*new, *with_arguments(with_depth(body, self.counted(), "1"), stacks_of(given))]


def stacks_of(given: Mapping[str, list[str]]) -> dict[str, list[gast.expr]]:
    """The names of stacks as arguments."""
    return {n: [T.name(stack) for stack in stacks] for n, stacks in given.items()}


def with_arguments(body: Iterable[gast.stmt], more: Mapping[str, list[gast.expr]]) -> list[gast.stmt]:
    """The body with further arguments of calls, by the name of what is called."""
    body = T.copied(body)
    for s in E.walk(body):
        value = s.value if isinstance(s, (gast.Assign, gast.Expr)) else None
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Name):
            value.args += copy.deepcopy(more.get(value.func.id, []))
    return body
