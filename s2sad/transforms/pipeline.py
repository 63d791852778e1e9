"""The table of contents of the compiler: from a Python function to the text of its primal, its adjoint, or both."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import gast

from s2sad import custom, rules
from s2sad.analysis import aliases as aliases_of
from s2sad.analysis import effects as E
from s2sad.analysis import shapes as shapes_of
from s2sad.analysis import types as types_of
from s2sad.analysis.activity import check_rules
from s2sad.analysis.aliases import Aliases
from s2sad.analysis.conditions import through_conditions
from s2sad.analysis.draws import is_draw
from s2sad.analysis.magnitude import magnitudes
from s2sad.analysis.shapes import Shapes
from s2sad.analysis.verify import verify, verify_bound
from s2sad.errors import TypeInferenceError, UnsupportedError, problem
from s2sad.lang import tree as T
from s2sad.lang.emitted import Emitted, Kept, Place
from s2sad.lang.options import lowering
from s2sad.lang.printer import function_source
from s2sad.lang.routines import variant_of
from s2sad.lang.structure import Structure
from s2sad.lang.tree import Function
from s2sad.lang.types import WEAK_BOOL, Array, Scalar, Static, Type, is_array, is_float
from s2sad.transforms import front as front_of
from s2sad.transforms import recursion, split, webs
from s2sad.transforms.accumulate import accumulate
from s2sad.transforms.checks import checked
from s2sad.transforms.draws import draws
from s2sad.transforms.freeze import freeze
from s2sad.transforms.fuse import fuse
from s2sad.transforms.hoist import hoist
from s2sad.transforms.inspector import Bounds, bounds
from s2sad.transforms.legalize import legalize
from s2sad.transforms.lists import lists
from s2sad.transforms.rejoin import rejoin
from s2sad.transforms.reverse import Reversed, reverse
from s2sad.transforms.share import share_blocks
from s2sad.transforms.sizes import sizes, without_copies
from s2sad.transforms.slice import live_statements, unique_accesses
from s2sad.transforms.storage import store
from s2sad.transforms.tangent import tangent
from s2sad.transforms.tidy import tidy
from s2sad.transforms.trips import trips
from s2sad.transforms.vectors import vectors

FRONT = tuple(name for name, _ in front_of.passes())
TYPED = ("webs", "types", "rejoin", "draws", "lists", "calls")
LAST = ("legalize", "fuse", "vectors")
PASSES = (*FRONT, *TYPED, "trips", "freeze", "hoist", "split", "reverse", "storage", "slice", "tidy", "accumulate", "checks", *LAST)


def front(fn: Any) -> Function:
    """The function in normal form, with everything that it calls inlined; no types yet."""
    return front_of.build(fn)


def front_after(fn: Any, after: str, entry: Mapping[str, Structure] | None = None) -> str:
    """The text of a Python function, for parameters of these structures, as one pass of the front end leaves it."""
    function = front_of.build(fn, after, entry)
    return function_source(function.name, function.params, {}, "", list(function.body))


def passes_of(mode: str) -> tuple[str, ...]:
    """The passes that a program goes through."""
    if mode == "primal":
        return (*FRONT, *TYPED, "checks", *LAST)
    return (*FRONT, *TYPED, "hoist", "tangent", "slice", "checks", *LAST) if mode == "tangent" else PASSES


class _Stop(Exception):
    """The pass after which the program is wanted has run."""

    def __init__(self, text: str):
        self.text = text


class _Run:
    def __init__(self, function: Function, wrt: tuple[str, ...], after: str | None):
        self.wrt, self.after = wrt, after
        self.function = function

    def show(self, name: str, body: list[gast.stmt]) -> None:
        if name == self.after:
            raise _Stop(function_source(self.function.name, self.function.params, {}, "", body))

    def lowered(self, function: Function, final: Function, private: bool) -> Function:
        """What is compiled instead of the final form of a function, which is shown: `fuse` and `vectors` stand beside it.

        `private`: nobody else has the arrays that it returns. A program with recursive functions stays as it is.
        """
        self.show("legalize", list(final.body))
        lowered = legalize(fuse(function, private)) if "fuse" in lowering() and not function.recursive else final
        self.show("fuse", list(lowered.body))
        if self.after == "vectors":
            self.show("vectors", vectors(lowered.body, lowered.names))
        return lowered

    def step(self, name: str, change: Callable[[Function], Function]) -> Function:
        """Run a pass over the program: the function and the recursive ones that it calls."""
        return self.whole(name, front_of.everywhere(change))

    def whole(self, name: str, change: Callable[[Function], Function]) -> Function:
        """Run a pass that sees to the recursive functions itself."""
        self.function = change(self.function)
        self.show(name, list(self.function.body))
        return self.function


def emit(
    function: Function, types: Mapping[str, Type], wrt: tuple[str, ...], mode: str, after: str | None = None, every_error: bool = False
) -> Emitted:
    """The text of a function's primal, adjoint, or value and adjoint, for parameters of certain types.

    Args:
        function: what `front` returned.
        types: the type of every parameter (hidden ones included).
        wrt: names of the parameters to differentiate with respect to.
        mode: "primal", "adjoint", "value_and_adjoint" or "tangent".
        every_error: keep all of the forward sweep, for arguments with which the program is known to raise an error, perhaps in a statement that
            the results do not use.
        after: the name of a pass from the last of the front end on: the text is then the program after that pass.

    Raises:
        DifferentiationError: if the program cannot be differentiated.
        ValueError: for a pass that the function does not go through from here.

    >>> from s2sad.transforms.example import program
    >>> f = program("y = np.sin(x)\\nreturn y * y", "x: f8")
    >>> print(emit(f, {"x": f.names["x"]}, ("x",), "adjoint").text.partition("\\n\\n\\n")[2])
    def f_adjoint(x, out_bar=1.0):
        ...
        y_bar = 2.0 * y * out_bar
        # y = np.sin(x)
        x_bar = np.cos(x) * y_bar
        return x_bar
    <BLANKLINE>
    """
    if after is not None and after not in passes_of(mode):
        raise ValueError(f"there is no pass `{after}` on the way to the {mode}; the passes are {', '.join(passes_of(mode))}")
    if after in FRONT[:-1]:
        raise ValueError(f"the pass `{after}` is behind this function, which is in normal form: ask `front_after`")
    run = _Run(function, wrt, after)
    try:
        return _emit(run, types, wrt, mode, every_error)
    except _Stop as stop:
        return Emitted(function.name, stop.text, function.params, function.hidden, function.externals, frozenset(), Scalar("float64"), wrt)
    except types_of.TypeProblem as p:
        raise TypeInferenceError(problem(function.source, p.node, p.code, p.summary, p.instead, p.why)) from None
    except rules.RuleError as e:
        raise UnsupportedError(problem(function.source, e.node, "S2S204", str(e), _instead(e))) from None


def _instead(e: rules.RuleError) -> str:
    """What to write instead of a call that no rule fits."""
    name = T.dotted(e.node.func) or "" if isinstance(e.node, gast.Call) else ""
    return rules.instead_of(name) or "# other operations with the same result, or a function of your own with a rule:\n@s2sad.adjoint_of(mine)"


def _typed(run: _Run, types: Mapping[str, Type]) -> None:
    """What all modes begin with."""
    run.step("webs", webs.split)
    run.whole("types", lambda f: typed(f, types))
    run.step("rejoin", rejoin)
    run.step("draws", draws)
    run.step("lists", lists)
    run.whole("calls", recursion.calls)


def _emit(run: _Run, types: Mapping[str, Type], wrt: tuple[str, ...], mode: str, every_error: bool) -> Emitted:
    run.show(FRONT[-1], list(run.function.body))
    _typed(run, types)
    result = types_of.result_type(run.function)
    function = run.function
    if mode == "primal":
        return _primal(run, result)
    if mode == "tangent" and is_float(result):
        return _tangent(run, result)
    if mode == "tangent" or not (isinstance(result, Scalar) and is_float(result)):
        return Emitted(function.name, "", function.params, function.hidden, function.externals, frozenset(), result, wrt)
    function, rev, aliases, shapes, known = _reversed(run)
    routines = split.Routines(function, every_error) if function.recursive else None
    run.show("reverse", flat(rev))
    value = mode == "value_and_adjoint"
    stored = store(function, rev, aliases, shapes, value)
    assert not any(is_draw(n) for s in stored.reverse for n in gast.walk(s)), "the reverse sweep must not draw"
    forward, ret = stored.forward[:-1], stored.forward[-1]
    assert isinstance(ret, gast.Return)
    results = list(rev.results)
    out = ""
    if value or not isinstance(ret.value, gast.Name):  # without the value: in case that only it has an index that is out of range
        out = rev.fresh("value")
        rev.names[out] = result
        forward.append(T.at(gast.Assign([T.store(out)], ret.value, None), ret))
    if value:
        results.insert(0, T.name(out))
    copies = [copy_of(p, function.names[p]) for p in function.params if is_array(function.names[p]) and is_written(p, aliases)]
    body = [*copies, T.Comment("--- forward sweep ---"), *forward, T.Comment("--- reverse sweep ---"), *stored.reverse,
            gast.Return(results[0] if len(results) == 1 else gast.Tuple(results, gast.Load()))]
    run.show("storage", body)
    adjoints = [f"{n}_adjoint" for n in function.externals]
    verify_bound(function.name, body, [*function.params, rev.seed, "np", "math", *rules.runtime_names(), *function.externals, *adjoints,
                                      *split.names_of_routines(rev.names)])
    emitted_shapes = replace(shapes, names=rev.names, dims={**shapes.dims, **{bar: shapes.dims.get(n) for n, bar in rev.bars.items()}})
    live = live_statements(body, rev.names, emitted_shapes, E.walk(forward) if every_error else ())
    if not known.proven and known.body is None and not every_error:
        forced = unique_accesses(forward, live, rev.names, rev.bars)
        live = live_statements(body, rev.names, emitted_shapes, forced) if forced else live
    elif not every_error:
        shaped = sizes(live, rev.names, emitted_shapes, function.params)
        if shaped is not live:
            live = without_copies(live_statements(shaped, rev.names, emitted_shapes), rev.names, function.params)
    body = live
    run.show("slice", body)
    body = tidy(body, rev.names, aliases.written)
    used = T.all_names(body)
    kept = tuple(k for k in stored.kept if k.name in used)
    body = sections(body, kept)
    run.show("tidy", body)
    body = accumulate(body, rev.names, emitted_shapes, rev.fresh)
    run.show("accumulate", body)
    body = checked(body, emitted_shapes, {*function.names, out}, magnitudes(function))
    run.show("checks", body)
    whole = replace(function, params=(*function.params, rev.seed), body=tuple(body), names=rev.names)
    final = legalize(whole)
    parts: list[split.Part] = []
    if routines is not None:
        parts = routines.parts(final.body)
        kept = (*kept, *routines.kept(parts))
        final = final.with_body(routines.main(final.body))
    lowered = run.lowered(whole, final, private=True)
    suffix = "_value_and_adjoint" if value else "_adjoint"
    what = ", ".join(wrt)
    of = ret.value.id if isinstance(ret.value, gast.Name) else "the result"
    doc = f"Adjoint of `{function.name}`: gradient of {of} with respect to {f'({what})' if len(wrt) > 1 else what}."
    if value:
        doc = f"Value and adjoint of `{function.name}`: gradient with respect to {f'({what})' if len(wrt) > 1 else what}."
    externals = {n: f for n, f in function.externals.items() if n in used}
    for n, f in list(externals.items()):
        rule = custom.adjoint_rule(f)
        if rule is not None and f"{n}_adjoint" in used:
            externals[f"{n}_adjoint"] = rule
    emitted = printed(function, function.name + suffix, whole.params, {rev.seed: 1.0}, doc, final, lowered, externals, result, wrt, aliases,
                      kept, parts)
    zero = zero_of(function, aliases, wrt)
    return replace(emitted, guard=guard_of(function, known, aliases), proven=known.proven and not externals, zero=zero)


def _reversed(run: _Run) -> tuple[Function, Reversed, Aliases, Shapes, Bounds]:
    """The adjoint statements of a typed program, and what is known of it."""
    run.step("trips", trips)
    check_all(run.function)
    run.step("freeze", lambda f: freeze(f, aliases_of.analyse(f)))
    run.step("hoist", hoisted)
    check_all(run.function)
    function = run.whole("split", lambda f: split.differentiated(f, run.wrt))
    aliases = aliases_of.analyse(function)
    shapes = shapes_of.analyse(function, aliases)
    check_rules(function, aliases, run.wrt)
    known = bounds(function, aliases, shapes) if not function.recursive else Bounds(False, None)
    rev = reverse(function, aliases, shapes, run.wrt)
    share_blocks(rev)
    return function, rev, aliases, shapes, known


def steps(function: Function, types: Mapping[str, Type], wrt: tuple[str, ...]) -> tuple[Function, Reversed, Aliases]:
    """A function as it is before the reverse mode, and for each of its statements the adjoint statements, to be looked at one by one."""
    run = _Run(function, wrt, None)
    _typed(run, types)
    found, rev, aliases, _, _ = _reversed(run)
    return found, rev, aliases


def zero_of(function: Function, aliases: Aliases, wrt: tuple[str, ...]) -> tuple[tuple[str, Place | None], ...]:
    """Parameters whose derivative is zero as only conditions depend on them, and the places of these."""
    return tuple((p, function.source.place(s.lineno) if hasattr(s, "lineno") else None) for p, s in through_conditions(function, aliases, wrt))


def guard_of(function: Function, known: Bounds, aliases: Aliases) -> Emitted | None:
    """The inspector as an emitted function."""
    if known.body is None:
        return None
    name = function.name + "_in_bounds"
    doc = f"Whether every subscript of `{function.name}` is in range."
    return printed(function, name, function.params, {}, doc, function.with_body(known.body), None, {}, WEAK_BOOL, (), aliases, ())


def _tangent(run: _Run, result: Type) -> Emitted:
    """The value and its tangent: `f_tangent(x, ..., x_dot, ...)`."""
    refuse_recursion(run.function)
    aliases = aliases_of.analyse(run.function)
    check(run.function, aliases, adjoint=False)
    run.step("hoist", hoisted)
    function = run.function
    aliases = aliases_of.analyse(function)
    shapes = shapes_of.analyse(function, aliases)
    check_rules(function, aliases, run.wrt)
    made = tangent(function, aliases, shapes, run.wrt)
    run.show("tangent", made.body)
    copies = [copy_of(p, function.names[p]) for p in function.params if is_array(function.names[p]) and is_written(p, aliases)]
    copies += [copy_of(dot, function.names[p]) for p, dot in zip(run.wrt, made.seeds, strict=True) if is_written(p, aliases)]
    params = (*function.params, *made.seeds)
    tangents = [f"{n}_tangent" for n in function.externals]
    adjoints = [f"{n}_adjoint" for n in function.externals]
    body = [*copies, *made.body]
    verify_bound(function.name, body, [*params, "np", "math", *rules.runtime_names(), *function.externals, *adjoints, *tangents])
    # all of the program itself stays, for the errors that it may raise
    own = [s for s in E.walk(body) if not isinstance(s, (gast.Assign, gast.AugAssign)) or _target(s) in function.names]
    shapes = replace(shapes, names=made.names)
    body = live_statements(body, made.names, shapes, own)
    run.show("slice", body)
    body = checked(body, shapes, {*function.names, *made.values}, magnitudes(function), made.names)
    run.show("checks", body)
    whole = replace(function, params=params, body=tuple(body), names=made.names)
    final = legalize(whole)
    lowered = run.lowered(whole, final, private=True)
    used = T.all_names(final.body)
    externals = {n: f for n, f in function.externals.items() if n in used}
    for n, f in list(function.externals.items()):
        for name, rule in ((f"{n}_tangent", custom.tangent_rule(f)), (f"{n}_adjoint", custom.adjoint_rule(f))):
            if rule is not None and name in used:
                externals[name] = rule
    what = ", ".join(run.wrt)
    doc = f"Value and tangent of `{function.name}`, from the tangent{'s' if len(run.wrt) > 1 else ''} of {what}."
    emitted = printed(function, f"{function.name}_tangent", params, {}, doc, final, lowered, externals, result, run.wrt, aliases, ())
    return replace(emitted, zero=zero_of(function, aliases, run.wrt))


def refuse_recursion(function: Function) -> None:
    """Forward mode has no form for functions that call themselves."""
    for s in E.walk(function.body):
        variant = variant_of(s, function.names)
        if variant is not None:
            summary = f"`{variant.user}` calls itself, and forward mode does not go through such a call"
            raise UnsupportedError(problem(function.source, s, "S2S125", summary, "grad(f)  # or, for jvp, a loop"))


def _target(s: gast.Assign | gast.AugAssign) -> str:
    """The name that an assignment binds or writes into."""
    return T.base_name(s.targets[0] if isinstance(s, gast.Assign) else s.target)


def _primal(run: _Run, result: Type) -> Emitted:
    check_all(run.function, adjoint=False)
    run.step("checks", lambda f: f.with_body(checked(list(f.body), shapes_of.analyse(f, aliases_of.analyse(f)), f.names, magnitudes(f))))
    whole = run.function
    run.step("legalize", legalize)
    function = split.apart_from(run.function, run.function.name)
    lowered = run.lowered(whole, function, private=False)
    doc = f"Primal of `{function.name}`."
    used = T.all_names(function.body)
    externals = {n: f for n, f in function.externals.items() if n in used}
    body, parts = split.primals(function)
    final = function.with_body(body)
    return printed(function, function.name, function.params, {}, doc, final, final if lowered is function else lowered, externals, result, run.wrt,
                   aliases_of.analyse(function), (), parts)


def typed(function: Function, types: Mapping[str, Type]) -> Function:
    """The function with the types of its names."""
    params = {p: t for p, t in types.items() if p in function.params}
    if function.recursive:
        return recursion.typed(function, params)
    names = dict(types_of.infer(function, params))
    for n, f in function.externals.items():
        names.setdefault(n, Static(f))
    return replace(function, names=names)


def hoisted(function: Function) -> Function:
    """The function after `hoist`."""
    return hoist(function, shapes_of.analyse(function, aliases_of.analyse(function)))


def check_all(program: Function, adjoint: bool = True) -> None:
    """`check` for a function and the recursive ones that it calls."""
    check(program, aliases_of.analyse(program), adjoint)
    for f in program.recursive.values():
        check(f, aliases_of.analyse(f), adjoint, lent=True)


def check(function: Function, aliases: Aliases, adjoint: bool = True, lent: bool = False) -> None:
    """Refuse writes into arrays that have two names in a way that cannot be followed.

    In the primal only writes through which NumPy and Numba could come to differ: those into what may be a view or a copy. `lent`: the caller goes
    on with the arrays that it has given.
    """
    problems = []
    arrays = frozenset(p for p in function.params if is_array(function.names.get(p)))
    for s, written, second, tie in aliases_of.conflicts(function, aliases, arrays if lent or not adjoint else frozenset()):
        name, other = function.source.said(written), function.source.said(second)
        place = function.source.place(tie.lineno) if tie is not None and hasattr(tie, "lineno") else None
        where = f" (line {place.line})" if place else ""
        if aliases.groups[written] & aliases.may_views:
            what = f"`{name}` and `{other}` share memory or do not, as the memory layout decides, and this writes into one"
            why = f"What the write changes is not known when compiling; they are tied by an assignment{where}."
            problems.append(problem(function.source, s, "S2S304", what, "b = np.ravel(a).copy()  # for example", why))
        elif adjoint:
            problems.append(problem(
                function.source, s, "S2S303",
                f"`{name}` and `{other}` may name the same array here, so this write may change a value the adjoint needs",
                f"{name} = {name}.copy()  # before this write", f"`{name}` and `{other}` are tied by an assignment{where}."))
    if problems:
        raise UnsupportedError(*dict.fromkeys(problems))


def is_written(p: str, aliases: Aliases) -> bool:
    """Whether the function may write into a parameter's array."""
    return aliases.is_written(p)


def copy_of(p: str, t: Type | None) -> gast.stmt:
    """`p = p.copy()`: a gradient call leaves the caller's arrays alone. The memory layout decides what is a view of it, and stays."""
    fortran = isinstance(t, Array) and t.layout == "F" and t.ndim > 1
    return T.stmts(f"{p} = {p}.T.copy().T" if fortran else f"{p} = {p}.copy()")[0]


def flat(rev: Reversed) -> list[gast.stmt]:
    """The adjoint statements in the order of the primal's blocks, for `dump --after reverse`."""
    from s2sad.transforms.reverse import Branch, Loop

    def visit(block: Any) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for item in reversed(block.items):
            if isinstance(item, Branch):
                out += item.before
                out.append(gast.If(item.stmt.test, visit(item.body) or [gast.Pass()], visit(item.orelse)))
            elif isinstance(item, Loop):
                out += item.before
                head = T.expr("reversed(trips)") if isinstance(item.stmt, gast.While) else gast.Call(T.name("reversed"), [item.stmt.iter], [])
                target = T.store("trip") if isinstance(item.stmt, gast.While) else item.stmt.target
                out.append(gast.For(target, head, visit(item.body) or [gast.Pass()], [], None))
            else:
                out += item.adjoint
        return [*out, *block.end]

    return [*visit(rev.block), *rev.end, gast.Return(gast.Tuple(rev.results, gast.Load()))]


def sections(body: list[gast.stmt], kept: tuple[Kept, ...]) -> list[gast.stmt]:
    """Say in the heading of the forward sweep what it keeps; drop headings that head nothing."""
    out: list[gast.stmt] = []
    for s in body:
        if isinstance(s, T.Comment) and s.text.startswith("--- forward") and kept:
            names = ", ".join(k.name for k in kept)
            text = f"--- forward sweep: keeps {names} ---"
            if len(text) > 80:
                text = f"--- forward sweep: keeps {len(kept)} values ---"
            s = T.Comment(text)
        out.append(s)
    if not any(isinstance(s, T.Comment) and s.text.startswith("--- forward") for s in out):
        out = [s for s in out if not (isinstance(s, T.Comment) and s.text.startswith("--- reverse"))]
    return out


def apart(body: list[gast.stmt], local: set[str], fresh: T.Fresh) -> tuple[list[gast.stmt], dict[str, str]]:
    """Other names for the runtime functions that are called where the user has a variable of that name.

    >>> body, instead = apart(T.stmts("share = 2.0\\nreturn share(x, share)"), {"share"}, T.Fresh({"share", "x"}))
    >>> instead
    {'share': 'share_2'}
    """
    calls = [c for s in body for c in gast.walk(s) if isinstance(c, gast.Call) and isinstance(c.func, gast.Name)]
    instead = {n: fresh(n) for n in sorted({c.func.id for c in calls} & rules.runtime_names() & local)}
    if instead:
        body = copy.deepcopy(body)
        for c in (c for s in body for c in gast.walk(s) if isinstance(c, gast.Call) and isinstance(c.func, gast.Name)):
            c.func.id = instead.get(c.func.id, c.func.id)
    return body, instead


def printed(function: Function, name: str, params: tuple[str, ...], defaults: Mapping[str, float], doc: str, final: Function,
            lowered: Function | None, externals: Mapping[str, Any], result: Type, wrt: tuple[str, ...], aliases: Aliases,
            kept: tuple[Kept, ...], parts: Sequence[split.Part] = ()) -> Emitted:
    """The module texts of an emitted function, verified: what is shown, and what is compiled if that is another.

    `parts` are functions of the module that stand before it; `lowered` is the function with its array statements as loops.
    """
    whole = (*parts, split.Part(name, params, doc, list(final.body), final.names, externals))
    given = {n: o for part in whole for n, o in part.externals.items()}
    text, bodies = module_of(whole, defaults, given, fast=False)
    other, compiled = text, bodies
    if lowered is not None:
        loops = (*parts, replace(whole[-1], body=list(final.body if lowered is final else lowered.body), names=lowered.names))
        other, compiled = module_of(loops, defaults, given, fast="vectors" in lowering())
    written = frozenset(p for p in function.params if is_array(function.names.get(p)) and is_written(p, aliases))
    called = tuple(p for p in params if p not in defaults)
    return Emitted(name, text, called, function.hidden, MappingProxyType(given), written, result, wrt, kept,
                   templates=frozenset().union(*map(templates_of, bodies)), lowered=None if other == text else other,
                   inner=tuple(part.name for part in parts),
                   origins=tuple(place for body in compiled for place in origins(body, function.source)))


def module_of(
    parts: Sequence[split.Part], defaults: Mapping[str, float], externals: Mapping[str, Any], fast: bool
) -> tuple[str, list[list[gast.stmt]]]:
    """The text of a module and the bodies of its functions; `fast`: with elementary functions in vector form."""
    used = {n for part in parts for n in T.all_names(part.body)}
    head = []
    if "math" in used:
        head.append("import math")
    if "np" in used:
        head.append("import numpy as np")
    bodies: list[list[gast.stmt]] = []
    runtime: set[str] = set()
    instead: dict[str, str] = {}
    for part in parts:
        names, local = T.all_names(part.body), T.stores(part.body) | set(part.params)
        body, other = apart(part.body, local, T.Fresh(used | local))
        bodies.append(body)
        runtime |= {n for n in names & rules.runtime_names() if n not in local}
        instead |= other
    imported = sorted(runtime) + [f"{n} as {other}" for n, other in sorted(instead.items())]
    lines = [f"from s2sad.runtime import {', '.join(imported)}"] if imported else []
    if fast:
        module = T.Fresh({n for body in bodies for n in T.all_names(body)} | {p for part in parts for p in part.params} | set(externals))("vector")
        bodies = [vectors(body, part.names, module) for part, body in zip(parts, bodies, strict=True)]
        if any(module in T.all_names(body) for body in bodies):
            lines.append("from s2sad.runtime import " + (f"vector as {module}" if module != "vector" else module))
    return module_text([*head, *([""] if lines and head else []), *lines], parts, defaults, bodies, externals), bodies


def origins(body: list[gast.stmt], source: T.SourceMap, above: int | None = None) -> tuple[Place | None, ...]:
    """The user's statement that each statement stands for, in the order of the text: its own, or that of the comment that heads it."""
    out: list[Place | None] = []
    for s in body:
        line = getattr(s, "lineno", None)
        if isinstance(s, T.Comment):
            above = line
        elif not isinstance(s, (gast.Pass, T.Blank)):
            line = line or above
            out.append(source.place(line) if line else None)
            for inner in (getattr(s, "body", []), getattr(s, "orelse", [])):
                out += origins(inner, source, line)
    return tuple(out)


def module_text(head: list[str], parts: Sequence[split.Part], defaults: Mapping[str, float], bodies: Sequence[list[gast.stmt]],
                externals: Mapping[str, Any]) -> str:
    """Imports and functions, verified; the defaults are those of the last."""
    first = "\n".join(head) + "\n\n\n" if head else ""
    known = (*externals, *(part.name for part in parts))
    texts = []
    for part, body in zip(parts, bodies, strict=True):
        texts.append(function_source(part.name, part.params, dict(defaults) if part is parts[-1] else {}, part.doc, body))
        verify(first + texts[-1], body, known)
    return first + "\n\n".join(texts)


def templates_of(body: list[gast.stmt]) -> frozenset[str]:
    """The formats of the exceptions that are raised with values."""
    raised = [n.exc for s in body for n in gast.walk(s) if isinstance(n, gast.Raise) and isinstance(n.exc, gast.Call)]
    return frozenset(c.args[0].value for c in raised if len(c.args) > 1)
