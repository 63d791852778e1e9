"""Symbolic shapes: which arrays are known to have the same shape, whatever the input.

The length of an axis is a canonical text in terms of parameters, such as `n` or `x.shape[0]`. Names that are bound once are expanded.
`[-2](n)` is the length that a slice without two of n entries has, `max(n - 2, 0)`: that of `x[1:-1]`, `x[2:]` and `x[:-2]` alike. `~k` is a number
that changes from trip to trip: such lengths are compared within a trip only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import gast

from s2sad import rules
from s2sad.analysis import effects as E
from s2sad.analysis.aliases import Aliases
from s2sad.analysis.types import region, type_of
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import Type, is_array, is_int

Dims = tuple[str, ...]
ALLOCATE = ("np.zeros", "np.empty", "np.ones", "np.full")
LIKE = ("np.zeros_like", "np.empty_like", "np.ones_like", "np.full_like", "np.cumsum_like", "stop_gradient")


@dataclass
class Shapes:
    """Symbolic shapes of the arrays of a function (see `analyse`)."""

    names: Mapping[str, Type]
    dims: dict[str, Dims | None]
    single: dict[str, gast.expr]
    variant: frozenset[str]
    fixed: frozenset[str]
    counters: frozenset[str] = frozenset()  # of one loop each, and never bound elsewhere

    def length(self, e: gast.expr, depth: int = 0) -> str | None:
        """Canonical text of an integer expression, or None where it cannot be followed."""
        if depth > 20:
            return None
        if isinstance(e, gast.Constant):
            return repr(e.value)
        if isinstance(e, gast.Name):
            if e.id in self.fixed:
                return str(e.id)
            if e.id in self.counters:
                return f"~{e.id}"
            if e.id in self.single:
                text = self.length(self.single[e.id], depth + 1)
                if text is None and is_int(self.names.get(e.id)):
                    return f"{'~' if e.id in self.variant else ''}{e.id}"
                return text
            return None
        if isinstance(e, gast.UnaryOp) and isinstance(e.op, gast.USub):
            inner = self.length(e.operand, depth + 1)
            return None if inner is None else f"-{inner}"
        if isinstance(e, gast.BinOp) and isinstance(e.op, (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv)):
            a, b = self.length(e.left, depth + 1), self.length(e.right, depth + 1)
            sign = {"Add": "+", "Sub": "-", "Mult": "*", "FloorDiv": "//"}[type(e.op).__name__]
            return None if a is None or b is None else f"({a} {sign} {b})"
        if isinstance(e, gast.Subscript) and isinstance(e.value, gast.Attribute) and e.value.attr == "shape" and isinstance(e.slice, gast.Constant):
            d = self.of(e.value.value)
            k = e.slice.value
            return d[k] if d is not None and -len(d) <= k < len(d) else None
        if isinstance(e, gast.Call) and T.dotted(e.func) == "len":
            d = self.of(e.args[0])
            return d[0] if d else None
        if isinstance(e, gast.Attribute) and e.attr == "size":
            d = self.of(e.value)
            return d[0] if d is not None and len(d) == 1 else None
        return None

    def of(self, e: gast.expr) -> Dims | None:
        """Symbolic shape of an array expression (scalars have the shape ()), None if unknown."""
        t = type_of(e, self.names)
        if not is_array(t):
            return ()
        if isinstance(e, gast.Name):
            return self.dims.get(e.id)
        if isinstance(e, gast.Attribute) and e.attr == "T":
            d = self.of(e.value)
            return None if d is None else d[::-1]
        if isinstance(e, gast.Subscript):
            return self._subscript(e)
        if isinstance(e, gast.UnaryOp):
            return self.of(e.operand)
        if isinstance(e, gast.BinOp):
            return self.of_matmul(e.left, e.right) if isinstance(e.op, gast.MatMult) else self.broadcast(e.left, e.right)
        if isinstance(e, gast.Compare):
            return self.broadcast(e.left, *e.comparators)
        if isinstance(e, gast.Call):
            return self._call(e)
        return None

    def of_matmul(self, a: gast.expr, b: gast.expr) -> Dims | None:
        """Symbolic shape of `a @ b` for 1-D and 2-D operands."""
        x, y = self.of(a), self.of(b)
        if x is None or y is None or not x or not y or len(x) > 2 or len(y) > 2:
            return None
        return x[:-1] + (y[1:] if len(y) == 2 else ())

    def _call(self, e: gast.Call) -> Dims | None:
        f = T.dotted(e.func) or ""
        if isinstance(e.func, gast.Attribute) and e.func.attr in ("copy", "astype") and not f.startswith("np."):
            return self.of(e.func.value)
        if f in ALLOCATE and e.args:
            shape = e.args[0]
            if isinstance(shape, gast.Attribute) and shape.attr == "shape":
                return self.of(shape.value)
            parts = [self.length(x) for x in (shape.elts if isinstance(shape, gast.Tuple) else [shape])]
            return None if any(p is None for p in parts) else tuple(p for p in parts if p is not None)
        if (f in LIKE or f in ("np.copy", "np.sort", "np.argsort")) and e.args and len(e.args) == 1:
            return self.of(e.args[0])
        if f in rules.TABLE and rules.TABLE[f][0].kind != "vjp" and not e.keywords:
            found = self.broadcast(*e.args)
            t = type_of(e, self.names)
            return found if found is None or len(found) == getattr(t, "ndim", 0) else None  # others are no element by element
        return None

    def _subscript(self, e: gast.Subscript) -> Dims | None:
        if region(e, self.names) != "view":
            return None
        d = self.of(e.value)
        if d is None:
            return None
        index = list(e.slice.elts) if isinstance(e.slice, gast.Tuple) else [e.slice]
        out: list[str] = []
        rest = list(d)
        for i in index:
            if isinstance(i, gast.Slice):
                if not rest:
                    return None
                whole = rest.pop(0)
                if i.lower is None and i.upper is None and i.step is None:
                    out.append(whole)
                    continue
                parts = ["" if p is None else self.length(p) for p in (i.lower, i.upper, i.step)]
                if any(p is None for p in parts):
                    return None
                out.append(_sliced(whole, *(str(p) for p in parts)))
            elif isinstance(i, gast.Constant) and i.value is None:
                out.append("1")
            elif isinstance(i, gast.Constant) and i.value is ...:
                return None
            else:
                if not rest:
                    return None
                rest.pop(0)
        return tuple(out + rest)

    def broadcast(self, *parts: gast.expr) -> Dims | None:
        """Shape of an elementwise combination: known if every axis is (the same, or 1 in all but one)."""
        shapes = [self.of(p) for p in parts]
        if any(s is None for s in shapes):
            return None
        known = [s for s in shapes if s is not None]
        n = max(map(len, known), default=0)
        out: list[str] = []
        for k in range(1, n + 1):
            axis = {_canonical(s[-k]): s[-k] for s in known if len(s) >= k and s[-k] != "1"} or {"1": "1"}
            if len(axis) > 1:
                return None
            out += axis.values()
        return tuple(out[::-1])

    def same(self, a: gast.expr, b: gast.expr) -> bool:
        """Whether two array expressions certainly have the same shape."""
        if T.same(a, b):
            return True
        x, y = self.of(a), self.of(b)
        return x is not None and y is not None and [*map(_canonical, x)] == [*map(_canonical, y)]


def _sliced(whole: str, lower: str, upper: str, step: str) -> str:
    """The length of `x[lower:upper:step]` if x has the length `whole`.

    >>> _sliced("n", "1", "-1", ""), _sliced("n", "2", "", "1"), _sliced("n", "0", "(n - 2)", "")
    ('[-2](n)', '[-2](n)', '[-2](n)')
    >>> _sliced("[-2](n)", "1", "", ""), _sliced("n", "", "k", ""), _sliced("n", "0", "", "-1")
    ('[-3](n)', '[:k:](n)', '[0::-1](n)')
    """
    step = "" if step == "1" else step
    if step:
        return f"[{lower}:{upper}:{step}]({whole})"
    lower = "" if lower == "0" else lower
    upper = "" if upper == whole else upper
    # n - 1 and n - 2 as ends; a larger number would be counted from the end if n is small
    upper = next((f"-{k}" for k in (1, 2) if upper == f"({whole} - {k})"), upper)
    if not re.fullmatch(r"\d*", lower) or not re.fullmatch(r"(-[1-9]\d*)?", upper):
        return f"[{lower}:{upper}:]({whole})"
    return _without(whole, int(lower or 0) - int(upper or 0))


def _without(whole: str, count: int) -> str:
    """The length without so many of the entries, but not less than none."""
    whole = _canonical(whole)
    inner = re.fullmatch(r"\[-(\d+)\]\((.*)\)", whole)
    if inner:
        whole, count = inner[2], count + int(inner[1])
    return f"[-{count}]({whole})" if count else whole


def _canonical(length: str) -> str:
    """The same text for the lengths of `np.zeros(n - 1)` and of `x[1:]`: a new array's length is not negative, because that raises an error."""
    less = re.fullmatch(r"\((.*) - (\d+)\)", length)
    return _without(less[1], int(less[2])) if less else length


def is_expression(length: str) -> bool:
    """Whether a length is an expression in names that never change."""
    return not any(mark in length for mark in ("?", "~", ":", "]("))


def as_bound(length: str) -> str | None:
    """An expression that an index is compared with as with the length: it may be negative instead of 0, which no index is below either."""
    inner = re.fullmatch(r"\[-(\d+)\]\((.*)\)", length)
    if inner and is_expression(inner[2]):
        return f"({inner[2]} - {inner[1]})"
    return length if is_expression(length) else None


def analyse(function: Function, aliases: Aliases) -> Shapes:
    """Symbolic shapes of every array name.

    A name whose bindings do not agree, or whose shape may differ between loop trips, is unknown (None).

    >>> from s2sad.analysis.aliases import analyse as aliases_of
    >>> from s2sad.transforms.example import program
    >>> f = program("n = len(x)\\ny = np.zeros(n)\\nz = x * 2.0 + y\\nreturn z[0]")
    >>> analyse(f, aliases_of(f)).dims
    {'x': ('x.shape[0]',), 'y': ('x.shape[0]',), 'z': ('x.shape[0]',)}
    """
    names = function.names
    count: dict[str, int] = {}
    value: dict[str, gast.expr] = {}
    in_loop: set[str] = set()
    loops: dict[str, int] = {}  # how many loops have a counter of that name
    inside: dict[int, tuple[str, ...]] = {}  # the counters of the loops that a statement stands in

    def visit(body: list[gast.stmt], loop: bool, counters: tuple[str, ...]) -> None:
        for s in body:
            inside[id(s)] = counters
            own = T.stores(s.target) if isinstance(s, gast.For) else set()
            for n in own:
                loops[n] = loops.get(n, 0) + 1
            for n in E.effects(s, names).binds:
                count[n] = count.get(n, 0) + 1
                if loop or isinstance(s, gast.For):
                    in_loop.add(n)
                if isinstance(s, gast.Assign):
                    value[n] = s.value
                else:
                    count[n] += 1
            for block in E.children(s):
                visit(block, loop or not isinstance(s, gast.If), (*counters, *own))

    visit(list(function.body), False, ())
    fixed = frozenset(p for p in function.params if p not in count)
    single = {n: v for n, v in value.items() if count[n] == 1 and n not in function.params}
    counters = frozenset(n for n, k in loops.items() if k == 1 and count[n] == 2 and n not in function.params)
    shapes = Shapes(names, {}, single, frozenset(in_loop), fixed, counters)
    for p in function.params:
        t = names.get(p)
        if is_array(t) and p in fixed:
            shapes.dims[p] = tuple(f"{p}.shape[{k}]" for k in range(t.ndim))  # type: ignore[union-attr]
    bindings: list[tuple[str, gast.Assign]] = [
        (s.targets[0].id, s) for s in E.walk(function.body)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and is_array(names.get(s.targets[0].id))]
    unknown: set[str] = set()
    while True:
        shapes.dims = {n: d for n, d in shapes.dims.items() if n in fixed}
        seen: dict[str, list[Dims | None]] = {}
        # two rounds: a loop may bind a name from one that is bound further down
        for _ in range(2):
            seen = {}
            for k, (n, s) in enumerate(bindings):
                d = shapes.of(s.value)
                if d is not None and {*re.findall(r"~(\w+)", " ".join(d))} & counters - {*inside[id(s)]}:
                    d = None  # a counter's last value, which the loop's next run may change
                if d is None and n in single:
                    d = tuple(f"{'~' if n in in_loop else ''}?{k}.{a}" for a in range(names[n].ndim))  # type: ignore[union-attr]
                seen.setdefault(n, []).append(d)
                shapes.dims[n] = None if n in unknown else d
        new = {n for n, ds in seen.items() if n not in unknown and (
            n in function.params or any(x != ds[0] for x in ds)
            or (n in aliases.unstable and ds[0] is not None and any("~" in axis for axis in ds[0])))}
        if not new:
            break
        unknown |= new
    return shapes

