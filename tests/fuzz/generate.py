"""Random programs: typed, in bounds, finite, made of what docs/language.md accepts.

Every array has a length that is known here (the text of the program says `n`, `len(x)`, `x.shape[0]` ...), every integer an interval,
so that indices stay in bounds without tests. Values stay moderate because results of long expressions go through bounded functions.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import menu

FLOAT, INT, BOOL, ARRAY, INTS, LIST = "float", "int", "bool", "array", "ints", "list"
LAYOUTS = ("C", "C", "F", "strided", "reversed", "transposed", "offset")
SMOOTH = ("np.sin({})", "np.cos({})", "np.tanh({})", "np.exp(-({}) ** 2)", "np.sqrt(1.0 + ({}) ** 2)", "-({})")


@dataclass(frozen=True)
class Var:
    """A name in scope. `lo <= value < hi` for integers and integer arrays; `own` says that nobody else sees the array's memory."""

    name: str
    kind: str
    dims: tuple[int, ...] = ()
    lo: int = 0
    hi: int = 0
    fixed: bool = False  # never assigned again
    own: bool = True


@dataclass
class Program:
    """A program text that defines `f` (and helpers), with arguments for it."""

    seed: int
    text: str
    args: tuple[Any, ...]
    wrt: tuple[int, ...]
    layouts: tuple[str, ...] = ()  # how the arrays lie in memory

    def fresh(self) -> tuple[Any, ...]:
        """The arguments, in memory that nobody else holds."""
        layouts = self.layouts or ("C",) * len(self.args)
        return tuple(laid_out(a, k) if isinstance(a, np.ndarray) else a for a, k in zip(self.args, layouts, strict=True))

    @property
    def single(self) -> bool:
        """Whether a float argument is float32."""
        return any(getattr(a, "dtype", None) == np.float32 for a in self.args)


def laid_out(a: np.ndarray, layout: str) -> np.ndarray:
    """A copy of an array in a certain memory layout."""
    if layout == "F":
        return a.copy(order="F")
    if layout == "strided":
        room = np.full([2 * d for d in a.shape], 7.0).astype(a.dtype)
        room[tuple(slice(None, None, 2) for _ in a.shape)] = a
        return room[tuple(slice(None, None, 2) for _ in a.shape)]
    if layout == "reversed":
        return a[::-1].copy()[::-1] if a.ndim else a.copy()
    if layout == "transposed":
        return a.T.copy(order="C").T
    if layout == "offset":
        room = np.full([d + 1 for d in a.shape], 7.0).astype(a.dtype)
        room[tuple(slice(1, None) for _ in a.shape)] = a
        return room[tuple(slice(1, None) for _ in a.shape)]
    return a.copy(order="C")


@dataclass
class Helper:
    """A function that the program may call: parameters, and what it gives back ("float", "pair", "array" or "nothing")."""

    name: str
    params: tuple[Var, ...]
    gives: str
    dims: tuple[int, ...] = ()


@dataclass
class Writer:
    """Writes one function."""

    rng: random.Random
    helpers: list[Helper] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    scope: dict[str, Var] = field(default_factory=dict)
    depth: int = 1
    loops: int = 0
    budget: int = 12
    counts: dict[str, int] = field(default_factory=dict)
    gives: str = "float"
    trips: int = 1
    single: bool = False  # arguments are float32
    focus: bool = False  # loop nests that read and write elements, and little else

    # -- small tools --------------------------------------------------------------------------------------

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, options: Any) -> Any:
        return self.rng.choice(list(options))

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, stem: str) -> str:
        self.counts[stem] = self.counts.get(stem, 0) + 1
        return f"{stem}{self.counts[stem]}"

    def vars(self, kind: str, ndim: int | None = None) -> list[Var]:
        return [v for v in self.scope.values() if v.kind == kind and (ndim is None or len(v.dims) == ndim)]

    def declare(self, v: Var) -> None:
        self.scope[v.name] = v

    def number(self) -> str:
        return f"{self.rng.choice([-1, 1]) * self.rng.uniform(0.2, 1.7):.2f}"

    def length(self, n: int) -> str:
        """A text for a length."""
        found = [v.name for v in self.vars(INT) if v.fixed and v.lo == n and v.hi == n + 1]
        for a in self.scope.values():
            for axis, d in enumerate(a.dims):
                if d == n:
                    found.append(f"{a.name}.shape[{axis}]")
                    if len(a.dims) == 1:
                        found += [f"len({a.name})", f"{a.name}.size"]
                if d - 1 == n and self.chance(0.1):
                    found.append(f"{a.name}.shape[{axis}] - 1")
        return self.pick(found) if found and self.chance(0.95) else str(n)

    def shape(self, dims: tuple[int, ...]) -> str:
        return self.length(dims[0]) if len(dims) == 1 else "(" + ", ".join(self.length(d) for d in dims) + ")"

    # -- integers -----------------------------------------------------------------------------------------

    def index(self, n: int) -> str:
        """An index into an axis of length n."""
        options: list[Callable[[], str]] = [lambda: str(self.rng.randrange(-n, n))]
        if self.focus and self.chance(0.5):
            near = [v for v in self.vars(INT) if not v.fixed and -n <= v.lo and v.hi <= n]
            if near:
                return str(near[-1 if self.chance(0.6) else 0].name)
        ints = self.vars(INT)
        for v in [*ints, *ints]:
            if -n <= v.lo and v.hi <= n:
                options += [lambda v=v: v.name] * 3  # type: ignore[misc]
            for c in (-1, 1, 2):
                if -n <= v.lo + c and v.hi + c <= n:
                    options.append(lambda v=v, c=c: f"{v.name} {'+' if c > 0 else '-'} {abs(c)}")  # type: ignore[misc]
            if v.lo >= 0 and v.hi <= n:
                options.append(lambda v=v: f"{self.length(n)} - 1 - {v.name}")  # type: ignore[misc]
            if not v.fixed or v.lo + 1 < v.hi:
                options.append(lambda v=v: f"({v.name} + {self.rng.randrange(1, 4)}) % {self.length(n)}")  # type: ignore[misc]
        for p in self.vars(INTS):
            if p.lo >= 0 and p.hi <= n:
                options.append(lambda p=p: f"{p.name}[{self.index(p.dims[0])}]")  # type: ignore[misc]
        return self.pick(options)()

    # -- scalar expressions -------------------------------------------------------------------------------

    def element(self) -> str | None:
        arrays = self.vars(ARRAY)
        if not arrays:
            return None
        a = self.pick(arrays)
        if len(a.dims) == 2 and self.chance(0.1):
            return f"{a.name}[{self.index(a.dims[0])}][{self.index(a.dims[1])}]"
        return f"{a.name}[{', '.join(self.index(d) for d in a.dims)}]"

    def leaf(self) -> str:
        r = self.rng.random()
        if r < 0.45:
            e = self.element()
            if e:
                return e
        if r < 0.9:
            floats = self.vars(FLOAT)
            if floats:
                return str(self.pick(floats).name)
        if r < 0.95 and self.vars(INT):
            i = self.pick(self.vars(INT)).name
            return str(self.pick(["0.1 * {}", "0.1 * {}", "{} / 3", "0.2 * ({} // 2)", "0.05 * {} ** 2", "0.3 * ({} % 2)", "float({})"])).format(i)
        return self.number()

    def scalar(self, depth: int = 2) -> str:
        if depth <= 0 or self.chance(0.15):
            return self.leaf()
        options: list[tuple[int, Callable[[int], str]]] = [(10, self.binary), (5, self.unary), (4, self.reduce), (1, self.ternary), (1, self.extreme)]
        if any(h.gives == "float" for h in self.helpers):
            options.append((2, self.call))
        if self.vars(LIST):
            options.append((5, self.of_list))
        return self.rng.choices([o for _, o in options], [w for w, _ in options])[0](depth)

    def binary(self, depth: int) -> str:
        a, b = self.scalar(depth - 1), self.scalar(depth - 1)
        kind = self.rng.randrange(8)
        if kind == 7:
            return str(self.pick([*menu.PAIRS, *menu.NUMBER_PAIRS])).format(a, b)
        if kind < 2:
            return f"({a} + {b})"
        if kind == 2:
            return f"({a} - {b})"
        if kind < 5:
            return f"{a} * {b}"
        if kind == 5:
            return f"({a}) / (2.5 + np.sin({b}))"
        return f"({a}) ** {self.pick(['2', '3', '2.0'])}"

    def unary(self, depth: int) -> str:
        a = self.scalar(depth - 1)
        form = self.pick(SMOOTH if self.chance(0.3) else menu.POINTWISE if self.chance(0.6) else menu.NUMBERS)
        return str(form).format(a, a)

    def ternary(self, depth: int) -> str:
        return f"({self.scalar(depth - 1)} if {self.condition(0)} else {self.scalar(depth - 1)})"

    def extreme(self, depth: int) -> str:
        return f"{self.pick(['max', 'min', 'np.maximum', 'np.minimum'])}({self.scalar(depth - 1)}, {self.scalar(depth - 1)})"

    def reduce(self, depth: int) -> str:
        n = self.some_length()
        if n is None:
            return self.leaf()
        kind = self.rng.randrange(15)
        v = self.name_of(n)
        if kind > 11 and v:
            return str(self.pick(menu.TO_NUMBER)).format(v, v)
        matrices = self.vars(ARRAY, 2)
        if kind < 3:
            return f"np.sum({self.vector(n, depth - 1)})"
        if kind < 5:
            return f"np.mean({self.vector(n, depth - 1)})"
        if kind == 5:
            return f"np.dot({self.vector(n, 0)}, {self.vector(n, depth - 1)})"
        if kind == 6:
            return f"({self.vector(n, 0)} @ {self.vector(n, 0)})"
        if kind == 7 and matrices:
            return f"np.sum({self.matrix(self.pick(matrices).dims, depth - 1)})"
        if kind == 8:
            return f"np.{self.pick(['max', 'min', 'var', 'prod'])}({self.vector(n, 0)})"
        part = self.part()
        if part and kind < 11:
            return f"np.sum({part}{self.pick(['', ' ** 2'])})"
        v = self.name_of(n)
        if v and self.chance(0.5):
            return f"np.sum({v}[{v} > {self.number()}])"
        return f"{v}.sum()" if v else self.leaf()

    def of_list(self, depth: int) -> str:
        """A number made of a list that is not empty."""
        xs = self.pick(self.vars(LIST)).name
        i = self.pick([v.name for v in self.vars(INT)] or ["2"])
        return str(self.pick(menu.LIST_TO_NUMBER)).format(xs, i, self.leaf())

    def part(self) -> str | None:
        """A slice whose length depends on an integer."""
        ints = [v for v in self.vars(INT) if v.lo >= 0 and not v.fixed]
        arrays = self.vars(ARRAY)
        if not ints or not arrays:
            return None
        i, a = self.pick(ints).name, self.pick(arrays)
        cut = self.pick([f":{i}", f"{i}:", f":{i} + 1", f"{i}::2"])
        if len(a.dims) == 2:
            return f"{a.name}[{self.index(a.dims[0])}, {cut}]"
        return f"{a.name}[{cut}]"

    def call(self, depth: int) -> str:
        h = self.pick([h for h in self.helpers if h.gives == "float"])
        return self.call_of(h, depth) or self.leaf()

    def call_of(self, h: Helper, depth: int) -> str | None:
        args = []
        for p in h.params:
            if p.kind == FLOAT:
                args.append(self.scalar(depth - 1))
            elif p.kind == INT:
                args.append(self.index(p.hi) if p.lo == 0 else self.length(p.lo))
            else:
                a = self.name_or_view(p.dims)
                if a is None:
                    return None
                args.append(a)
        return f"{h.name}({', '.join(args)})"

    def condition(self, depth: int = 1) -> str:
        kind = self.rng.randrange(10)
        ints = [v for v in self.vars(INT) if not v.fixed]
        if kind < 3 and ints:
            i = self.pick(ints)
            return str(self.pick([f"{i.name} % 2 == 0", f"{i.name} > {self.rng.randrange(0, 3)}", f"{i.name} != 1", f"{i.name} % 3 == 1"]))
        if kind == 3 and depth > 0:
            return f"({self.condition(0)} {self.pick(['and', 'or'])} {self.condition(0)})"
        if kind == 4 and depth > 0:
            return f"not ({self.condition(0)})"
        if kind == 6:
            return f"{self.number()} < {self.scalar(1)} < {self.leaf()}"
        if kind == 5 and self.vars(BOOL):
            return str(self.pick(self.vars(BOOL)).name)
        return f"{self.scalar(1)} {self.pick(['>', '<', '<=', '>='])} {self.pick([self.number(), self.leaf()])}"

    # -- array expressions --------------------------------------------------------------------------------

    def some_length(self) -> int | None:
        lengths = [d for a in self.vars(ARRAY) for d in a.dims]
        return self.pick(lengths) if lengths else None

    def name_of(self, n: int) -> str | None:
        found = [a.name for a in self.vars(ARRAY, 1) if a.dims == (n,)]
        return self.pick(found) if found else None

    def view(self, a: Var) -> tuple[str, tuple[int, ...]]:
        """A view of an array and its lengths."""
        if len(a.dims) == 1:
            cuts = ["1:", ":-1", "1:-1", "::2", "::-1", ":", "2:"]
            cut = self.pick(cuts)
            n = len(range(*eval(f"slice({self.slice_args(cut)})", {"slice": slice}).indices(a.dims[0])))
            return f"{a.name}[{cut}]", (n,)
        m, n = a.dims
        kind = self.rng.randrange(8)
        if kind < 2:
            return f"{a.name}[{self.index(m)}{self.pick(['', ', :'])}]", (n,)
        if kind == 2:
            return f"{a.name}[:, {self.index(n)}]", (m,)
        if kind == 3:
            return f"{a.name}.T", (n, m)
        if kind == 4:
            return f"{a.name}[1:, :-1]", (m - 1, n - 1)
        if kind == 5:
            return f"{a.name}[{self.index(m)}, 1:]", (n - 1,)
        if kind == 6:
            return f"{a.name}.T[{self.index(n)}]", (m,)
        return f"{a.name}[::-1]", (m, n)

    @staticmethod
    def slice_args(cut: str) -> str:
        parts = [p or "None" for p in cut.split(":")]
        return ", ".join(parts)

    def name_or_view(self, dims: tuple[int, ...]) -> str | None:
        """A name or a view with certain lengths."""
        found = [a.name for a in self.vars(ARRAY) if a.dims == dims]
        for a in self.vars(ARRAY):
            for _ in range(2):
                text, d = self.view(a)
                if d == dims:
                    found.append(text)
        return self.pick(found) if found else None

    def vector(self, n: int, depth: int = 1) -> str:
        if depth <= 0:
            return self.name_or_view((n,)) or f"np.full({self.length(n)}, {self.leaf()})"
        kind = self.rng.randrange(18)
        a = self.vector(n, depth - 1)
        if kind < 2:
            return f"({a} {self.pick(['+', '-'])} {self.vector(n, depth - 1)})"
        if kind < 4:
            return f"{a} * {self.vector(n, depth - 1)}"
        if kind < 6:
            return f"{self.scalar(depth - 1)} * {a}"
        if kind < 8:
            return str(self.pick(SMOOTH if self.chance(0.3) else menu.POINTWISE)).format(a)
        if kind == 8:
            return f"({a}) / (2.0 + np.cos({self.vector(n, 0)}))"
        if kind == 9:
            return f"np.{self.pick(['maximum', 'minimum'])}({a}, {self.pick([self.vector(n, 0), self.number(), self.leaf()])})"
        if kind == 10:
            return f"np.where({self.vector(n, 0)} > {self.number()}, {a}, {self.pick([self.vector(n, 0), self.leaf()])})"
        if kind == 11:
            for m in self.vars(ARRAY, 2):
                if m.dims[0] == n and self.chance(0.5):
                    return f"{m.name} @ {self.vector(m.dims[1], 0)}"
                if m.dims[1] == n and self.chance(0.5):
                    return str(self.pick([f"{self.vector(m.dims[0], 0)} @ {m.name}", f"np.sum({m.name}, axis=0)", f"np.mean({m.name}, axis=0)"]))
        if kind == 12:
            for p in self.vars(INTS):
                if p.dims == (n,):
                    for x in self.vars(ARRAY, 1):
                        if p.hi <= x.dims[0] and self.chance(0.7):
                            return f"{x.name}[{p.name}]"
        if kind == 13 or kind == 14:
            b, c = self.name_of(n), self.name_of(n)
            if b and c and n > 1:
                return str(self.pick(menu.SAME_LENGTH)).format(b, c)
        if kind == 15:
            return str(self.pick(menu.PAIRS)).format(a, self.pick([self.vector(n, 0), self.leaf()]))
        if kind == 16:
            found = [(text, m) for m in self.vars(ARRAY, 2) for text, left in menu.ALONG if m.dims[left] == n]
            if found:
                text, m = self.pick(found)
                return str(text).format(m.name)
        return f"({a} + {self.scalar(depth - 1)})"

    def matrix(self, dims: tuple[int, ...], depth: int = 1) -> str:
        if depth <= 0:
            return self.name_or_view(dims) or f"np.full({self.shape(dims)}, {self.leaf()})"
        kind = self.rng.randrange(13)
        a = self.matrix(dims, depth - 1)
        if kind == 9:
            return str(self.pick(menu.POINTWISE)).format(a)
        if kind == 10:
            return str(self.pick(menu.PAIRS)).format(a, self.pick([self.matrix(dims, 0), self.vector(dims[1], 0), self.leaf()]))
        if kind > 10:
            same = [m.name for m in self.vars(ARRAY, 2) if m.dims == dims]
            if same:
                return str(self.pick(menu.SAME_SHAPE)).format(self.pick(same))
        if kind < 2:
            return f"({a} + {self.matrix(dims, depth - 1)})"
        if kind < 4:
            return f"{a} * {self.pick([self.matrix(dims, 0), self.vector(dims[1], 0)])}"
        if kind < 6:
            return str(self.pick(["np.sin({})", "np.tanh({})", "np.exp(-({}) ** 2)", "({}) ** 2"])).format(a)
        if kind == 6:
            return f"np.outer({self.vector(dims[0], 0)}, {self.vector(dims[1], 0)})"
        if kind == 7:
            return f"({a} + {self.vector(dims[0], 0)}[:, None])"
        return f"{self.scalar(depth - 1)} * {a}"

    def tamed(self, e: str, array: bool = False) -> str:
        """An expression with moderate values."""
        r = self.rng.random()
        if r < 0.35:
            return f"np.{self.pick(['sin', 'tanh', 'cos'])}({e})"
        return f"0.{self.rng.randrange(3, 9)} * {e}" if r < 0.6 else e

    # -- statements ---------------------------------------------------------------------------------------

    def block(self, count: int) -> None:
        """Statements, at least one."""
        start = len(self.lines)
        for _ in range(count):
            if self.budget > 0:
                self.statement()
        if len(self.lines) == start:
            self.scalar_update()

    def statement(self) -> None:
        self.budget -= 1
        options: list[tuple[float, Callable[[], None]]] = [
            (3, self.scalar_new), (5, self.scalar_update), (3, self.array_new), (2, self.view_new), (6, self.element_write), (5, self.slice_write),
            (0.7, self.whole_write), (0.8, self.rebind), (0.5, self.swap), (1.0, self.integer), (0.4, self.flag), (0.4, self.mask),
            (0.4, self.indices), (0.7, self.step), (1.5, self.call_statement), (1.0, self.list_new), (0.2, self.check),
        ]  # fmt: skip
        if self.focus:
            options = [(9, self.element_write), (4, self.scalar_update), (1, self.scalar_new), (1.5, self.slice_write), (0.7, self.integer),
                       (0.5, self.view_new), (0.7, self.array_new), (0.4, self.step), (0.3, self.rebind)]
        if self.vars(LIST):
            options += [(5, self.list_change), (1, self.list_new)]
        if self.depth < 5:
            options += [(3.5, self.branch)]
            if self.trips < 100:
                options += [(6, self.for_loop), (1.5, self.while_loop)]
        if self.loops and self.depth > 2:
            options += [(0.8, self.leave)]
        if self.depth > 1 and self.gives == "float":
            options += [(0.35, self.early_return)]
        self.rng.choices([o for _, o in options], [w for w, _ in options])[0]()

    def scalar_new(self) -> None:
        e = self.tamed(self.scalar(3))
        v = Var(self.fresh("s"), FLOAT)
        self.emit(f"{v.name} = {e}")
        self.declare(v)

    def scalar_update(self) -> None:
        floats = [v for v in self.vars(FLOAT) if not v.fixed]
        if not floats:
            return self.scalar_new()
        s = self.pick(floats).name
        kind = self.rng.randrange(6)
        if kind < 3:
            self.emit(f"{s} {self.pick(['+=', '-='])} {self.tamed(self.scalar(2))}")
        elif kind == 3:
            self.emit(f"{s} *= {self.pick(['np.cos', 'np.tanh'])}({self.scalar(2)})")
        elif kind == 4 and len(floats) > 1:
            t = self.pick([v for v in floats if v.name != s]).name
            self.emit(f"{s}, {t} = {self.pick([t, self.tamed(self.scalar(1))])}, {self.pick([s, self.tamed(self.scalar(1))])}")
        else:
            self.emit(f"{s} = {self.tamed(self.scalar(2))}")

    def array_new(self) -> None:
        arrays = self.vars(ARRAY)
        if not arrays:
            return self.scalar_update()
        dims = self.pick(arrays).dims
        if len(dims) == 2 and self.chance(0.3):
            dims = dims[:1]
        name = self.fresh("a")
        like = [a.name for a in arrays if a.dims == dims]
        kind = self.rng.randrange(8)
        if kind < 2 and like:
            self.emit(f"{name} = {self.pick([self.name_or_view(dims), self.pick(like)])}.copy()")
        elif kind == 2:
            dtype = ", dtype=np.float32" if self.single and self.chance(0.7) else ""
            self.emit(f"{name} = {self.pick(['np.zeros', 'np.ones'])}({self.shape(dims)}{dtype})")
        elif kind == 3:
            self.emit(f"{name} = np.zeros_like({self.pick(like)})" if like else f"{name} = np.zeros({self.shape(dims)})")
        elif kind == 4 and len(dims) == 1 and self.trips < 100:
            self.emit(f"{name} = np.empty({self.shape(dims)})")
            i = self.fresh("i")
            self.emit(f"for {i} in range({self.length(dims[0])}):")
            saved = dict(self.scope)
            self.declare(Var(i, INT, lo=0, hi=dims[0]))
            self.depth += 1
            self.emit(f"{name}[{i}] = {self.tamed(self.scalar(2))}")
            self.depth -= 1
            self.scope = saved
        else:
            e = self.vector(dims[0], 2) if len(dims) == 1 else self.matrix(dims, 2)
            if e.isidentifier() or e.endswith("]") or e.endswith(".T"):
                e = f"1.0 * {e}"
            self.emit(f"{name} = {self.tamed(e)}")
        self.declare(Var(name, ARRAY, dims))

    def list_new(self) -> None:
        """A list of numbers, never empty."""
        name, n = self.fresh("l"), self.some_length() or 3
        i, e = self.fresh("i"), self.fresh("e")
        x = self.name_of(n)
        options = [lambda: f"[{self.scalar(1)}, {self.scalar(1)}]", lambda: f"[{self.scalar(1)}]", lambda: f"[{self.scalar(1)}] * {self.length(n)}"]
        saved = dict(self.scope)
        self.declare(Var(i, INT, lo=0, hi=n))
        element = self.tamed(self.scalar(1))
        options.append(lambda: f"[{element} for {i} in range({self.length(n)})]")
        self.scope = dict(saved)
        if x:
            self.declare(Var(e, FLOAT))
            of_each, test = self.tamed(self.scalar(1)), self.condition(0)
            self.scope = saved
            some = f"[{of_each} for {e} in {x} if {test}] + [0.5]"
            options += [lambda: f"[{of_each} for {e} in {x}]", lambda: some, lambda: f"list({x})"]
        lists = [v.name for v in self.vars(LIST)]
        if lists:
            xs, ys = self.pick(lists), self.pick(lists)
            options += [lambda: f"list({xs})", lambda: f"sorted({xs})", lambda: f"{xs} + [{self.scalar(1)}]", lambda: f"{xs} + {ys}",
                        lambda: f"[np.sin({e}) for {e} in {xs}]", lambda: f"{xs}[::-1]"]
        self.scope = saved
        self.emit(f"{name} = {self.pick(options)()}")
        self.declare(Var(name, LIST))

    def list_change(self) -> None:
        """A list changes, or a loop over one."""
        xs = self.pick(self.vars(LIST)).name
        kind = self.rng.randrange(14)
        if kind < 5:
            self.emit(f"{xs}.append({self.tamed(self.scalar(2))})")
        elif kind < 8:
            i = self.pick([v.name for v in self.vars(INT)] or ["2"])
            self.emit(f"{xs}[{self.pick(['0', '-1', f'{i} % len({xs})'])}] {self.pick(['=', '+=', '*='])} {self.tamed(self.scalar(1))}")
        elif kind == 8:
            self.emit(f"{xs} += [{self.scalar(1)}, {self.leaf()}]")
        elif kind == 9 and self.trips < 2:
            self.emit(f"{xs}.extend({self.pick([v.name for v in self.vars(LIST)])})")
        elif kind == 10:
            s = self.fresh("s")
            self.emit(f"{s} = 0.5")
            self.emit(f"if len({xs}) > 2:")
            self.emit(f"    {s} = {xs}.pop()")
            self.declare(Var(s, FLOAT))
        elif kind == 11:
            self.emit(f"{xs}.{self.pick(['sort', 'reverse'])}()")
        elif kind > 11 and self.depth < 4 and self.trips < 50:
            before, e = dict(self.scope), self.fresh("e")
            self.emit(f"for {e} in {xs}:")
            del self.scope[xs]  # else it might grow for ever
            self.declare(Var(e, FLOAT))
            self.body(8, before)
        else:
            self.emit(f"{xs}.append({self.leaf()})")

    def check(self) -> None:
        """An assertion, or an exception that is raised at some sizes or values."""
        a = self.name_of(self.some_length() or 0)
        test = self.pick([f"len({a}) < 2" if a else "1 > 2", f"{self.leaf()} > 0.9"])
        if self.chance(0.5):
            self.emit(f"assert {self.leaf()} < 30.0, 'too large'")
        elif test.endswith("2"):
            self.emit(f"if {test}:")
            self.emit("    raise ValueError('too small')")
        else:
            self.emit(f"if {test} and {self.leaf()} > 5.0:")
            self.emit("    raise ArithmeticError('large')")

    def view_new(self) -> None:
        arrays = self.vars(ARRAY)
        if not arrays:
            return self.scalar_update()
        text, dims = self.view(self.pick(arrays))
        if min(dims) < 2:
            return self.scalar_update()
        name = self.fresh("v")
        self.emit(f"{name} = {text}")
        self.declare(Var(name, ARRAY, dims, own=False))

    def element_write(self) -> None:
        target = self.element()
        if target is None:
            return self.scalar_update()
        kind = self.rng.randrange(8)
        if kind < 3:
            self.emit(f"{target} = {self.tamed(self.scalar(2))}")
        elif kind < 5:
            self.emit(f"{target} {self.pick(['+=', '-='])} {self.tamed(self.scalar(2))}")
        elif kind == 5:
            self.emit(f"{target} *= np.cos({self.scalar(1)})")
        elif kind == 6:
            other = self.element()
            self.emit(f"{target}, {other} = {other}, {target}")
        else:
            self.emit(f"{target} = {target} * {self.leaf()} + {self.leaf()}")

    def slice_write(self) -> None:
        arrays = self.vars(ARRAY)
        if not arrays:
            return self.scalar_update()
        part = self.part()
        if part and self.chance(0.25):
            self.emit(f"{part} {self.pick(['=', '+=', '*='])} np.sin({self.scalar(1)})")
            return
        a = self.pick(arrays)
        if self.chance(0.12):
            self.emit(f"{a.name}[{a.name} > {self.number()}] {self.pick(['=', '*=', '+='])} np.cos({self.scalar(1)})")
            return
        indices = [p for p in self.vars(INTS) if len(a.dims) == 1 and p.hi <= a.dims[0]]
        if indices and self.chance(0.3):
            p = self.pick(indices)
            value = self.pick([self.tamed(self.vector(p.dims[0], 1)), self.leaf()])
            self.emit(f"{a.name}[{p.name}] {self.pick(['=', '+=', '*='])} np.sin({value})")
            return
        text, dims = self.view(a)
        if text.endswith(".T"):
            text, dims = f"{a.name}[:]", a.dims
        if min(dims) < 1:
            return self.scalar_update()
        value = self.scalar(1) if self.chance(0.25) else self.vector(dims[-1], 1) if len(dims) == 1 or self.chance(0.3) else self.matrix(dims, 1)
        op = self.pick(["=", "=", "+=", "-=", "*="])
        self.emit(f"{text} {op} {f'np.sin({value})' if op == '*=' else self.tamed(value)}")

    def whole_write(self) -> None:
        """An augmented assignment to a whole array."""
        arrays = self.vars(ARRAY)
        if not arrays:
            return self.scalar_update()
        a = self.pick(arrays)
        value = self.pick([self.scalar(1), self.vector(a.dims[-1], 1)])
        self.emit(f"{a.name} {self.pick(['+=', '*=', '-='])} np.sin({value})")

    def rebind(self) -> None:
        arrays = self.vars(ARRAY)
        if not arrays:
            return self.scalar_update()
        a = self.pick(arrays)
        others = [b.name for b in arrays if b.dims == a.dims and b.name != a.name]
        e = self.vector(a.dims[0], 1) if len(a.dims) == 1 else self.matrix(a.dims, 1)
        value = self.pick(others) if others and self.chance(0.3) else self.tamed(e)
        self.emit(f"{a.name} = {value}")

    def swap(self) -> None:
        arrays = self.vars(ARRAY)
        if not arrays:
            return self.scalar_update()
        a = self.pick(arrays)
        others = [b.name for b in arrays if b.dims == a.dims and b.name != a.name]
        if not others:
            return self.element_write()
        b = self.pick(others)
        self.emit(f"{a.name}, {b} = {b}, {a.name}")

    def integer(self) -> None:
        """A new integer that is kept within a length, or a new value of one; or of an element of an integer array."""
        n = self.some_length() or 3
        ints = [v for v in self.vars(INT) if not v.fixed and v.lo == 0 and v.name.startswith("k")]
        arrays = self.vars(INTS)
        if arrays and self.chance(0.3):
            p = self.pick(arrays)
            at = self.index(p.dims[0])
            self.emit(f"{p.name}[{at}] = ({p.name}[{self.index(p.dims[0])}] + {self.rng.randrange(1, 3)}) % {p.hi}")
        elif ints and self.chance(0.7):
            v = self.pick(ints)
            others = self.pick(self.vars(INT)).name
            new = self.pick([f"({v.name} + {self.rng.randrange(1, 3)})", f"({v.name} + {others})", f"(2 * {others} + 1)"])
            self.emit(f"{v.name} = {new} % {v.hi}")
        elif self.chance(0.2) and self.vars(ARRAY, 1):
            a = self.pick(self.vars(ARRAY, 1))
            name = self.fresh("k")
            self.emit(f"{name} = np.{self.pick(['argmax', 'argmin'])}({a.name})")
            self.declare(Var(name, INT, lo=0, hi=a.dims[0]))
        else:
            name = self.fresh("k")
            self.emit(f"{name} = {self.rng.randrange(n)}")
            self.declare(Var(name, INT, lo=0, hi=n))

    def flag(self) -> None:
        flags = self.vars(BOOL)
        name = self.pick(flags).name if flags and self.chance(0.5) else self.fresh("flag")
        self.emit(f"{name} = {self.scalar(1)} > {self.number()}")
        self.declare(Var(name, BOOL))

    def mask(self) -> None:
        """A bool array, and a use of it."""
        n = self.some_length()
        target = self.name_of(n) if n is not None else None
        if n is None or target is None:
            return self.scalar_update()
        name = self.fresh("mask")
        self.emit(f"{name} = {self.vector(n, 1)} {self.pick(['>', '<'])} {self.number()}")
        kind = self.rng.randrange(4)
        if kind == 0:
            self.emit(f"{target}[{name}] {self.pick(['=', '+=', '*='])} np.sin({self.scalar(1)})")
        elif kind == 1:
            self.emit(f"{target}[{name}] = {self.vector(n, 0)}[{name}]")
        elif kind == 2:
            self.emit(f"{target} = np.where({name}, {self.vector(n, 1)}, {self.vector(n, 0)})")
        else:
            self.emit(f"{self.fresh('s')} = np.sum({target}[~{name}] ** 2)")
            self.declare(Var(f"s{self.counts['s']}", FLOAT))

    def indices(self) -> None:
        """A new integer array."""
        n = self.some_length()
        if n is None:
            return self.scalar_update()
        name = self.fresh("p")
        source = self.name_of(n)
        if source and self.chance(0.5):
            self.emit(f"{name} = np.argsort({source})")
        else:
            self.emit(f"{name} = {self.pick(['np.arange({})', 'np.arange({})[::-1]', '(np.arange({0}) + 1) % {0}']).format(self.length(n))}")
        self.declare(Var(name, INTS, (n,), lo=0, hi=n))

    def step(self) -> None:
        """One step of an explicit method or of a recurrence, element by element."""
        arrays = [a for a in self.vars(ARRAY, 1) if a.dims[0] > 2]
        if not arrays:
            return self.scalar_update()
        u = self.pick(arrays)
        i, name, n = self.fresh("i"), u.name, self.length(u.dims[0])
        kind = self.rng.randrange(4)
        c = self.pick([v.name for v in self.vars(FLOAT)] or [self.number()])
        if kind == 0:
            old = self.fresh("a")
            self.emit(f"{old} = {name}.copy()")
            self.emit(f"for {i} in range(1, {n} - 1):")
            self.emit(f"    {name}[{i}] = {old}[{i}] - 0.1 * {c} * {old}[{i}] * ({old}[{i} + 1] - {old}[{i} - 1])")
            self.declare(Var(old, ARRAY, u.dims))
        elif kind == 1:
            self.emit(f"for {i} in range(1, {n}):")
            self.emit(f"    {name}[{i}] = np.sin({name}[{i}] + {c} * {name}[{i} - 1])")
        elif kind == 2:
            self.emit(f"for {i} in range({n} - 2, -1, -1):")
            self.emit(f"    {name}[{i}] {self.pick(['+=', '-=', '*='])} np.cos({name}[{i} + 1])")
        else:
            self.emit(f"{name}[1:-1] {self.pick(['=', '+='])} {name}[1:-1] + 0.1 * ({name}[2:] - 2.0 * {name}[1:-1] + {name}[:-2])")

    def call_statement(self) -> None:
        if not self.helpers:
            return self.scalar_update()
        h = self.pick(self.helpers)
        call = self.call_of(h, 1)
        if call is None:
            return self.scalar_update()
        if h.gives == "nothing":
            self.emit(call)
        elif h.gives == "pair":
            floats = [v for v in self.vars(FLOAT) if not v.fixed]
            names = [self.pick(floats).name if floats and self.chance(0.4) else self.fresh("s") for _ in range(2)]
            self.emit(f"{names[0]}, {names[1]} = {call}")
            for n in names:
                self.declare(Var(n, FLOAT))
        elif h.gives == "array":
            name = self.fresh("a")
            self.emit(f"{name} = {call}")
            self.declare(Var(name, ARRAY, h.dims, own=False))
        else:
            self.emit(f"{self.fresh('s')} = {call}")
            self.declare(Var(f"s{self.counts['s']}", FLOAT))

    def branch(self) -> None:
        before = dict(self.scope)
        self.emit(f"if {self.condition()}:")
        after = [self.nested(self.rng.randrange(1, 4))]
        self.scope = dict(before)
        if self.chance(0.2):
            self.emit(f"elif {self.condition()}:")
            after.append(self.nested(self.rng.randrange(1, 3)))
            self.scope = dict(before)
        if self.chance(0.5):
            self.emit("else:")
            if self.chance(0.3):
                self.depth += 1
                for v in [v for n, v in after[0].items() if n not in before and v.kind == FLOAT]:
                    self.emit(f"{v.name} = {self.scalar(1)}")
                    self.declare(v)
                self.depth -= 1
            after.append(self.nested(self.rng.randrange(1, 3)))
        else:
            after.append(before)
        self.scope = {n: v for n, v in after[0].items() if all(n in s and s[n] == v for s in after[1:])}

    def nested(self, count: int) -> dict[str, Var]:
        """A block one level deeper; the scope at its end."""
        self.depth += 1
        self.block(count)
        self.depth -= 1
        return self.scope

    def for_loop(self) -> None:
        before = dict(self.scope)
        n = self.some_length() or 3
        i = self.fresh("i") if self.chance(0.9) or not self.vars(INT) else "i1"
        if i in self.scope:
            i = self.fresh("i")
        inner = [v for v in self.vars(INT) if not v.fixed and v.lo >= 0 and v.hi <= 6]
        kind = self.rng.randrange(12)
        if kind < 4:
            head, lo, hi = f"range({self.length(n)})", 0, n
        elif kind == 4:
            head, lo, hi = f"range(1, {self.length(n)} - 1)", 1, n - 1
        elif kind == 5:
            head, lo, hi = f"range({self.length(n)} - 1, -1, -1)", 0, n
        elif kind == 6:
            head, lo, hi = f"range(0, {self.length(n)}, 2)", 0, n
        elif kind == 7:
            head, lo, hi = f"range({self.length(n)} - 1, 0, -{self.rng.randrange(1, 3)})", 1, n
        elif kind < 11 and inner:
            v = self.pick(inner)
            head, lo, hi = self.pick([
                (f"range({v.name})", 0, v.hi), (f"range({v.name} + 1)", 0, v.hi + 1), (f"range({v.name}, {self.length(n)})", v.lo, n),
                (f"range({v.name}, -1, -1)", 0, v.hi), (f"range({v.name} + 1, {self.length(n)})", v.lo + 1, n),
            ])  # fmt: skip
        elif kind == 11 and self.vars(ARRAY, 1):
            return self.for_each()
        else:
            head, lo, hi = f"range({self.rng.randrange(2, 4)})", 0, 3
        self.emit(f"for {i} in {head}:")
        self.declare(Var(i, INT, lo=lo, hi=max(hi, lo + 1)))
        self.body(max(1, hi - lo), before)

    def body(self, trips: int, before: dict[str, Var]) -> None:
        """The body of a loop, sometimes an `else`."""
        outer, self.trips = self.trips, self.trips * trips
        self.loops += 1
        self.nested(self.rng.randrange(1, 4))
        self.loops -= 1
        self.trips = outer
        self.scope = dict(before)
        if self.chance(0.06):
            self.emit("else:")
            self.nested(1)
            self.scope = dict(before)

    def for_each(self) -> None:
        before = dict(self.scope)
        a = self.pick(self.vars(ARRAY, 1))
        others = [b for b in self.vars(ARRAY, 1) if b.dims == a.dims]
        e, i = self.fresh("e"), self.fresh("i")
        if self.chance(0.5):
            self.emit(f"for {i}, {e} in enumerate({a.name}):")
            self.declare(Var(i, INT, lo=0, hi=a.dims[0]))
        elif others and self.chance(0.5):
            b, g = self.pick(others), self.fresh("e")
            self.emit(f"for {e}, {g} in zip({a.name}, {b.name}):")
            self.declare(Var(g, FLOAT))
        else:
            self.emit(f"for {e} in {a.name}:")
        self.declare(Var(e, FLOAT))
        self.body(a.dims[0], before)

    def while_loop(self) -> None:
        n = self.some_length() or 3
        k = self.fresh("w")
        self.emit(f"{k} = 0")
        before = dict(self.scope)
        kind = self.rng.randrange(3)
        limit = self.length(n)
        if kind == 0:
            self.emit(f"while {k} < {limit}:")
        elif kind == 1:
            self.emit(f"while {self.condition()} and {k} < {limit}:")
        else:
            self.emit("while True:")
        self.depth += 1
        first = self.chance(0.5) or kind == 2
        if first:
            self.emit(f"{k} += 1")
        if kind == 2:
            self.emit(f"if {k} > {limit} or {self.condition(0)}:")
            self.emit("    break")
        self.depth -= 1
        self.declare(Var(k, INT, lo=int(first), hi=n + int(first)))
        loops, self.loops = self.loops, 1 if first else 0
        outer, self.trips = self.trips, self.trips * n
        self.nested(self.rng.randrange(1, 4))
        self.trips = outer
        self.loops = loops
        if not first:
            self.emit(f"    {k} += 1")
        self.scope = before
        self.declare(Var(k, INT, lo=0, hi=n + 2))

    def leave(self) -> None:
        self.emit(f"if {self.condition()}:")
        self.depth += 1
        if self.chance(0.4):
            self.scalar_update()
        self.emit(self.pick(["break", "continue"]))
        self.depth -= 1

    def early_return(self) -> None:
        self.emit(f"if {self.condition()}:")
        self.emit(f"    return {self.result(0.4)}")

    def result(self, share: float) -> str:
        """A scalar of what is in scope."""
        terms = []
        for v in self.scope.values():
            if v.kind == FLOAT and self.chance(share):
                terms.append(f"{self.number()} * {v.name}")
            elif v.kind == ARRAY and self.chance(share):
                terms.append(f"np.sum(np.{self.pick(['sin', 'cos', 'tanh'])}({v.name}))")
            elif v.kind == LIST and self.chance(share):
                terms.append(f"0.3 * sum({v.name})")
        return " + ".join(terms) or self.scalar(2)


def helper(rng: random.Random, number: int, lengths: tuple[int, int], helpers: list[Helper]) -> tuple[Helper, str]:
    """A random helper function and its text."""
    n, m = lengths
    gives = rng.choice(["float", "float", "pair", "nothing", "array"])
    params = []
    if gives in ("nothing", "array") or rng.random() < 0.6:
        params.append(Var("u", ARRAY, rng.choice([(n,), (n,), (m,), (n, m)])))
    if rng.random() < 0.3:
        params.append(Var("z", ARRAY, rng.choice([(n,), (m,)])))
    params += [Var(name, FLOAT) for name in ("p", "q")[: rng.randrange(1, 3)]]
    if rng.random() < 0.3:
        params.append(Var("j", INT, lo=0, hi=n))
    w = Writer(rng, helpers=list(helpers), budget=rng.randrange(1, 6), gives=gives, trips=20)
    for p in params:
        w.declare(p)
    w.block(w.budget)
    h = Helper(f"h{number}", tuple(params), gives)
    if gives == "float":
        w.emit(f"return {w.tamed(w.scalar(2))}")
    elif gives == "pair":
        w.emit(f"return {w.tamed(w.scalar(2))}, {w.tamed(w.scalar(2))}")
    elif gives == "array":
        a = w.pick(w.vars(ARRAY))
        text, dims = (a.name, a.dims) if w.chance(0.5) else w.view(a)
        if min(dims) < 2:
            text, dims = a.name, a.dims
        w.emit(f"return {text}")
        h.dims = dims
    return h, "\n".join([f"def {h.name}({', '.join(p.name for p in params)}):", *w.lines])


def recursive(rng: random.Random, number: int, n: int) -> tuple[Helper, str]:
    """A function that calls itself, along an array or down from an integer."""
    u, j, p = Var("u", ARRAY, (n,)), Var("j", INT, lo=0, hi=n), Var("p", FLOAT)
    w = Writer(rng, budget=1)
    for v in (u, p):
        w.declare(v)
    name = f"h{number}"
    base = w.tamed(w.scalar(1))
    w.declare(j)
    inner, step = f"np.sin({w.scalar(1)})", w.scalar(1)
    if rng.random() < 0.5:
        test, again = "j >= len(u) - 1", f"{name}(u, j + 1, {inner})"
    else:
        test, again = "j <= 0", f"{name}(u, j - 1, {inner})"
    if rng.random() < 0.3:
        again = f"{again} * {name}(u, j - 2, 0.5 * p)" if "<=" in test else f"{again} + 0.3 * {name}(u, j + 2, p)"
    lines = [f"    if {test}:", f"        return {base}"]
    if rng.random() < 0.5:
        lines += [f"    q = {step}", f"    return q * {again}"]
    else:
        lines += [f"    return {step} + 0.6 * {again}"]
    return Helper(name, (u, j, p), "float"), "\n".join([f"def {name}(u, j, p):", *lines])


def program(seed: int) -> Program:
    """The random program of a seed."""
    rng = random.Random(seed)
    data = np.random.default_rng(seed)
    n, m = rng.choice([(5, 4), (4, 3), (5, 3), (3, 4), (3, 2), (4, 4)])
    single = rng.random() < 0.12
    helpers: list[Helper] = []
    texts = []
    for k in range(rng.choice([0, 0, 0, 1, 1, 2])):
        h, text = recursive(rng, k + 1, n) if rng.random() < 0.1 else helper(rng, k + 1, (n, m), helpers)
        helpers.append(h)
        texts.append(text)
    params = [Var("x", ARRAY, (n,))]
    if rng.random() < 0.5:
        params.append(Var("y", ARRAY, rng.choice([(n,), (n,), (m,)])))
    if rng.random() < 0.5:
        params.append(Var("A", ARRAY, rng.choice([(n, m), (m, n), (n, n)])))
    params += [Var(name, FLOAT) for name in ("c", "d")[: rng.randrange(0, 3)]]
    if rng.random() < 0.4:
        params.append(Var("n", INT, lo=n, hi=n + 1, fixed=True))
    if rng.random() < 0.3:
        params.append(Var("idx", INTS, (rng.choice([n, m]),), lo=0, hi=n))
    w = Writer(rng, helpers=helpers, budget=rng.choice([1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 7, 10]), single=single)
    for p in params:
        w.declare(p)
    if rng.random() < 0.3:
        w.emit(f"m = {w.length(m)}")
        w.declare(Var("m", INT, lo=m, hi=m + 1, fixed=True))
    constants = []
    if rng.random() < 0.1:
        constants.append(f"K = {w.number()}")
        w.declare(Var("K", FLOAT, fixed=True))
    if rng.random() < 0.6:
        w.scalar_new()
    w.focus = rng.random() < 0.35
    if w.focus:
        w.budget = rng.randrange(3, 8)
        w.for_loop()
    while w.budget > 0:
        w.statement()
    w.emit(f"return {w.result(0.75)}")
    args: list[Any] = []
    for p in params:
        if p.kind == ARRAY:
            args.append(data.uniform(-1.2, 1.2, p.dims).astype(np.float32 if single and rng.random() < 0.8 else float))
        elif p.kind == FLOAT:
            value = float(data.uniform(-1.2, 1.2))
            args.append(np.float32(value) if single and rng.random() < 0.3 else np.float64(value) if rng.random() < 0.1 else value)
        elif p.kind == INT:
            args.append(p.lo)
        else:
            args.append(data.integers(0, p.hi, p.dims))
    floats = [k for k, p in enumerate(params) if p.kind in (ARRAY, FLOAT)]
    wrt = tuple(floats) if rng.random() < 0.7 else tuple(sorted(rng.sample(floats, rng.randrange(1, len(floats) + 1))))
    main = "\n".join([f"def f({', '.join(p.name for p in params)}):", *w.lines])
    layouts = tuple(rng.choice(LAYOUTS) if p.kind in (ARRAY, INTS) and rng.random() < 0.35 else "C" for p in params)
    head = "import math\n\nimport numpy as np\n\n" + "".join(f"{c}\n" for c in constants) + "\n"
    return Program(seed, head + "\n\n\n".join([*texts, main]) + "\n", tuple(args), wrt, layouts)


def variants(p: Program, count: int) -> list[Program]:
    """The program with other arguments of the same types: ties and zeros, other sizes (0 and 1, too), integers out of range."""
    rng, data = random.Random(~p.seed), np.random.default_rng(p.seed + 1)
    lengths = sorted({d for a in p.args if isinstance(a, np.ndarray) for d in a.shape})
    has_ints = any(isinstance(a, int) or isinstance(a, np.ndarray) and a.dtype.kind == "i" for a in p.args)
    out = []
    for _ in range(count):
        kind = rng.choice(["values", "sizes", "sizes", "odd sizes", "ints" if has_ints else "values"])
        new = {d: rng.choice([0, 1, 1, 2, 3, 6]) for d in lengths}
        args: list[Any] = []
        for a in p.args:
            if isinstance(a, np.ndarray):
                shape = a.shape
                if "sizes" in kind:
                    shape = tuple(rng.choice([1, d, d + 1]) if kind == "odd sizes" and rng.random() < 0.3 else new[d] for d in a.shape)
                if a.dtype.kind == "f":
                    a = data.choice([-1.0, -0.5, 0.0, 0.0, 0.5, 1.0], shape) if kind == "values" else data.uniform(-1.2, 1.2, shape)
                    args.append(a.astype(p.args[len(args)].dtype))
                else:
                    top = int(max(a, default=0)) + 1
                    args.append(data.integers(-2 if kind == "ints" else 0, top + 2 if kind == "ints" else max(1, min(top, *shape, top)), shape))
            elif isinstance(a, int):
                args.append(rng.randrange(-2, 8) if kind == "ints" else new.get(a, a) if "sizes" in kind else a)
            else:
                args.append(type(a)(rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0])) if kind == "values" else a)
        out.append(replace(p, args=tuple(args)))
    return out
