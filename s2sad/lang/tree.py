"""The program value that passes take and return, and small helpers to build and read gast trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import gast

from s2sad.lang.emitted import Place as Place
from s2sad.lang.outside import Hidden as Hidden
from s2sad.lang.structure import Structure
from s2sad.lang.types import Type


@dataclass(frozen=True)
class SourceRange:
    """One function's source: `lines[0]` is line `first` of `file` and has the virtual number `start`."""

    start: int
    file: str
    first: int
    function: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class SourceMap:
    """Virtual line numbers to places; every function that is read gets a range of its own."""

    ranges: tuple[SourceRange, ...] = ()

    def add(self, file: str, first: int, function: str, lines: Iterable[str]) -> tuple[SourceMap, int]:
        """The map with one more function, and the virtual number of its first line."""
        start = self.ranges[-1].start + len(self.ranges[-1].lines) if self.ranges else 1
        new = SourceRange(start, file, first, function, tuple(lines))
        return SourceMap((*self.ranges, new)), start

    def range_of(self, virtual: int) -> SourceRange | None:
        """The range that holds a virtual line, or None."""
        for r in self.ranges:
            if r.start <= virtual < r.start + len(r.lines):
                return r
        return None

    def place(self, virtual: int) -> Place | None:
        """Where a virtual line stands, or None for text that no user wrote."""
        r = self.range_of(virtual)
        if r is None:
            return None
        k = virtual - r.start
        return Place(r.file, r.first + k, r.function, r.lines[k])

    def said(self, name: str) -> str:
        """The user's name of what passes may have given a name with a number.

        >>> source, _ = SourceMap().add("model.py", 1, "f", ["def f(x_1):", "    y = x_1"])
        >>> source.said("y_3"), source.said("x_1")
        ('y', 'x_1')
        """
        words = {w for r in self.ranges for line in r.lines for w in re.findall(r"\w+", line)}
        short = re.sub(r"_\d+$", "", name)
        return name if name in words or short not in words else short

    def text(self, node: gast.AST) -> str:
        """The user's text of a statement on one line (of a compound statement its head), or an empty string."""
        line = getattr(node, "lineno", None)
        r = self.range_of(line) if line else None
        if r is None or line is None:
            return ""
        end = line
        if not isinstance(node, (gast.If, gast.For, gast.While, gast.FunctionDef)):
            end = min(getattr(node, "end_lineno", None) or line, r.start + len(r.lines) - 1)
        return " ".join(r.lines[k - r.start].split("#")[0].strip() for k in range(line, end + 1)).strip()


@dataclass(frozen=True)
class Function:
    """A function being compiled (see ARCHITECTURE.md). Statements are never mutated: passes copy what they change."""

    name: str
    params: tuple[str, ...]
    body: tuple[gast.stmt, ...]
    hidden: tuple[Hidden, ...] = ()
    externals: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    source: SourceMap = SourceMap()
    names: Mapping[str, Type] = field(default_factory=lambda: MappingProxyType({}))
    recursive: Mapping[Any, Function] = field(default_factory=lambda: MappingProxyType({}))  # of the program: its recursive functions
    # how the result (a value, or a tuple of them: the leaves in order) is put together, if it is no plain value
    result: Structure | None = None
    # parts of arguments, as the user writes them, that the function binds anew
    changed: tuple[str, ...] = ()

    def opaque(self) -> list[Any]:
        """The opaque functions that the program calls."""
        functions = set(self.recursive)
        return [o for f in (self, *self.recursive.values()) for o in f.externals.values() if getattr(o, "fn", None) not in functions]

    def with_body(self, body: Iterable[gast.stmt], **changes: Any) -> Function:
        """The same function with another body."""
        return replace(self, body=tuple(body), **changes)


class Comment(gast.stmt):  # type: ignore[misc]
    """A comment standing on a line of its own, as a statement of the tree."""

    _fields = ("text",)


class Blank(gast.stmt):  # type: ignore[misc]
    """An empty line, as a statement of the tree."""

    _fields = ()


#: Marks an assignment (as its type comment) of an operand that is evaluated before its expression, to keep Python's order.
HELD = "held"


def name(id: str) -> gast.Name:
    """A name being read."""
    return gast.Name(id, gast.Load(), None, None)


def store(id: str) -> gast.Name:
    """A name being assigned."""
    return gast.Name(id, gast.Store(), None, None)


def const(value: object) -> gast.Constant:
    """A literal."""
    return gast.Constant(value, None)


def expr(text: str, **parts: gast.expr) -> gast.expr:
    """Parse an expression; names given as keywords are replaced by (copies of) trees.

    >>> gast.unparse(expr("a * np.cos(x)", a=const(2), x=expr("y + 1")))
    '2 * np.cos(y + 1)'
    >>> expr("f(x)", x=const(1)).args[0].value
    1
    """
    tree: gast.expr = gast.parse(text, mode="eval").body
    strip_positions(tree)
    return substitute(tree, parts) if parts else tree


def stmts(text: str, **parts: gast.expr) -> list[gast.stmt]:
    """Parse statements; names given as keywords are replaced by (copies of) trees (also as targets, if they are names or subscripts)."""
    body: list[gast.stmt] = gast.parse(text).body
    for s in body:
        strip_positions(s)
    return [substitute(s, parts) for s in body] if parts else body


def nodes(tree: gast.AST) -> Iterator[gast.AST]:
    """All nodes of a tree, in no particular order; quicker than `gast.walk`."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        for part in node.__dict__.values():
            if isinstance(part, gast.AST):
                todo.append(part)
            elif isinstance(part, list):
                todo += [n for n in part if isinstance(n, gast.AST)]


def strip_positions(node: gast.AST) -> None:
    """Forget where nodes stand (for trees made by the compiler)."""
    for n in nodes(node):
        for a in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            vars(n).pop(a, None)


def at(new: Any, old: gast.AST) -> Any:
    """Give a new statement or expression (or a list of them) the position of the user's node it stands for."""
    for n in new if isinstance(new, list) else [new]:
        for inner in nodes(n):
            if isinstance(inner, (gast.stmt, gast.expr)) and not hasattr(inner, "lineno"):
                for a in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
                    if hasattr(old, a):
                        setattr(inner, a, getattr(old, a))
    return new


def duplicate(node: Any) -> Any:
    """A deep copy of a tree, quicker than `copy.deepcopy`; operators and contexts have no parts and are shared."""
    if isinstance(node, gast.AST) and (node._fields or isinstance(node, gast.stmt)):
        kind: Any = type(node)
        new = kind.__new__(kind)
        new.__dict__.update({k: duplicate(v) if isinstance(v, (gast.AST, list)) else v for k, v in node.__dict__.items()})
        return new
    if isinstance(node, list):
        return [duplicate(n) if isinstance(n, (gast.AST, list)) else n for n in node]
    return node


class _Substitute(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, parts: Mapping[str, gast.expr]):
        self.parts = parts

    def visit_Name(self, node: gast.Name) -> gast.expr:
        new = self.parts.get(node.id)
        if new is None:
            return node
        new = duplicate(new)
        if hasattr(new, "ctx"):
            new.ctx = duplicate(node.ctx)
        return new


def substitute(tree: Any, parts: Mapping[str, gast.expr]) -> Any:
    """A copy of the tree with names replaced by trees."""
    return _Substitute(parts).visit(duplicate(tree))


def rename(tree: Any, new: Mapping[str, str]) -> Any:
    """A copy of the tree with names renamed, wherever they stand."""
    tree = duplicate(tree)
    for n in nodes(tree):
        if isinstance(n, gast.Name) and n.id in new:
            n.id = new[n.id]
    return tree


def same(a: gast.AST, b: gast.AST) -> bool:
    """Whether two trees are equal, whatever their positions and contexts."""
    return bool(dump(a) == dump(b))


def dump(node: Any) -> Any:
    """A hashable form of a tree without positions and contexts."""
    if isinstance(node, gast.AST):
        return (type(node).__name__, *(dump(getattr(node, f, None)) for f in node._fields if f not in ("ctx", "type_comment", "kind")))
    if isinstance(node, list):
        return tuple(dump(n) for n in node)
    if isinstance(node, (int, float)) and not isinstance(node, bool):
        return type(node).__name__, repr(node)
    return node


def loads(node: gast.AST) -> set[str]:
    """Names that a tree reads (`np`, `math` and called builtins excluded)."""
    return set(iter_loads(node))


def iter_loads(node: gast.AST) -> Iterator[str]:
    """Names that a tree reads, with repetitions; the function of a call is not a value."""
    if isinstance(node, gast.Name):
        if isinstance(node.ctx, gast.Load) and node.id not in ("np", "math"):
            yield node.id
        return
    for f, value in gast.iter_fields(node):
        if isinstance(node, gast.Call) and f == "func":
            if isinstance(value, gast.Attribute):
                yield from iter_loads(value.value)
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, gast.AST):
                yield from iter_loads(child)


def stores(node: gast.AST | Iterable[gast.AST]) -> set[str]:
    """Names that a tree (or several) binds."""
    trees = [node] if isinstance(node, gast.AST) else list(node)
    return {n.id for t in trees for n in nodes(t) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}


def all_names(trees: Iterable[gast.AST]) -> set[str]:
    """Every name that occurs."""
    return {n.id for t in trees for n in nodes(t) if isinstance(n, gast.Name)}


def base_name(target: gast.expr) -> str:
    """The name under a chain of subscripts and attributes: `a` of `a[i].T`."""
    while isinstance(target, (gast.Subscript, gast.Attribute)):
        target = target.value
    if not isinstance(target, gast.Name):
        raise TypeError(f"no name under {gast.dump(target)}")
    return str(target.id)


def dotted(func: gast.expr) -> str | None:
    """`np.linalg.norm` of a chain of attributes, or None."""
    if isinstance(func, gast.Name):
        return str(func.id)
    if isinstance(func, gast.Attribute):
        head = dotted(func.value)
        return f"{head}.{func.attr}" if head else None
    return None


class Fresh:
    """Makes names that are not in use; deterministic, first come first served.

    >>> fresh = Fresh({"w"})
    >>> fresh("w"), fresh("w"), fresh("v")
    ('w_2', 'w_3', 'v')
    """

    def __init__(self, used: Iterable[str]):
        self.used = set(used) | {"np", "math"}

    def __call__(self, wish: str) -> str:
        got, k = wish, 2
        while got in self.used:
            got, k = f"{wish}_{k}", k + 1
        self.used.add(got)
        return got


def copied(body: Iterable[gast.stmt]) -> list[gast.stmt]:
    """Deep copies of statements."""
    return [duplicate(s) for s in body]


def shallow(s: gast.stmt) -> gast.stmt:
    """A deep copy of a statement."""
    return duplicate(s)


def strip_copy(s: gast.stmt) -> gast.stmt:
    """A copy of a statement without a position (it repeats one in another place)."""
    s = duplicate(s)
    strip_positions(s)
    return s


def loaded(target: gast.expr) -> gast.expr:
    """A copy of an assignment target as an expression that is read."""
    new: gast.expr = duplicate(target)
    if hasattr(new, "ctx"):
        new.ctx = gast.Load()
    return new
