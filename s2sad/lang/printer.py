"""Program text from gast trees: an `astunparse.Unparser` that prints few parentheses, short lines and comments.

Why not a stock printer: astunparse 1.6.3 prints `a[i, :, ::2]` as a syntax error and parenthesises every operation, and every stock
printer turns `Constant(-3) ** x` into `-3 ** x`, which is another number.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import astunparse
import gast

from s2sad.lang.tree import Blank, Comment

WIDTH = 88
TUPLE, TEST, OR, AND, NOT, CMP, BOR, XOR, BAND, SHIFT, ARITH, TERM, FACTOR, POWER, ATOM = range(15)
BINARY = {
    gast.BitOr: ("|", BOR), gast.BitXor: ("^", XOR), gast.BitAnd: ("&", BAND), gast.LShift: ("<<", SHIFT), gast.RShift: (">>", SHIFT),
    gast.Add: ("+", ARITH), gast.Sub: ("-", ARITH), gast.Mult: ("*", TERM), gast.Div: ("/", TERM), gast.FloorDiv: ("//", TERM),
    gast.Mod: ("%", TERM), gast.MatMult: ("@", TERM), gast.Pow: ("**", POWER),
}  # fmt: skip
UNARY = {gast.Not: ("not ", NOT), gast.USub: ("-", FACTOR), gast.UAdd: ("+", FACTOR), gast.Invert: ("~", FACTOR)}
BOOLEAN = {gast.And: ("and", AND), gast.Or: ("or", OR)}
COMPARE = {
    gast.Eq: "==", gast.NotEq: "!=", gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">=",
    gast.Is: "is", gast.IsNot: "is not", gast.In: "in", gast.NotIn: "not in",
}  # fmt: skip


def to_source(tree: Any) -> str:
    """The text of a statement, an expression, a module or a list of statements; ends with a newline.

    Args:
        tree: gast nodes, with `Comment` and `Blank` among the statements.

    Raises:
        TypeError: for a kind of node or literal that is not printed.

    >>> print(to_source(gast.parse("a[i, ::2] = (x + (y * 2)) ** (-1)")), end="")
    a[i, ::2] = (x + y * 2) ** -1
    """
    return _Printer(tree).text()


def function_source(name: str, params: Sequence[str], defaults: Mapping[str, Any], docstring: str, body: Sequence[gast.stmt]) -> str:
    """The text of a function definition.

    Args:
        name: the function's name.
        params: its parameters, in order.
        defaults: parameter to default, a number or an expression.
        docstring: printed as the docstring; may be empty.
        body: the statements.

    >>> print(function_source("f", ["x", "y_bar"], {"y_bar": 1.0}, "Twice x.", gast.parse("return 2 * x").body), end="")
    def f(x, y_bar=1.0):
        \"\"\"Twice x.\"\"\"
        return 2 * x
    """
    parts = []
    for p in params:
        default = defaults.get(p)
        if default is not None and not isinstance(default, gast.AST):
            default = gast.Constant(default, None)
        parts.append(p if default is None else f"{p}={_flat(default, TEST)}")
    head = f"def {name}({', '.join(parts)}):"
    if len(head) > WIDTH:
        head = "\n".join([f"def {name}(", *_filled(parts, "    "), "):"])
    lines = [head]
    if docstring:
        lines += textwrap.indent(f'"""{docstring.strip()}"""', "    ").split("\n")
    return "\n".join(lines) + "\n" + _Printer(_nonempty(body), indent=1).text()


def _nonempty(body: Sequence[gast.stmt]) -> list[gast.stmt]:
    """The statements, with a `pass` if nothing but comments stands there."""
    if all(isinstance(s, (Comment, Blank)) for s in body):
        return [*body, gast.Pass()]
    return list(body)


def _flat(tree: gast.AST, level: int = TUPLE) -> str:
    """The text of an expression on one line, for a place where only operators binding at least as tightly as `level` may stand."""
    return _Printer(tree, level).text().rstrip("\n")


def _level(e: gast.AST) -> int:
    """How tightly an expression's outermost operator binds."""
    if isinstance(e, gast.BinOp):
        return BINARY[type(e.op)][1]
    if isinstance(e, gast.UnaryOp):
        return UNARY[type(e.op)][1]
    if isinstance(e, gast.BoolOp):
        return BOOLEAN[type(e.op)][1]
    if isinstance(e, gast.Compare):
        return CMP
    if isinstance(e, gast.IfExp):
        return TEST
    if isinstance(e, gast.Tuple):
        return TUPLE if e.elts else ATOM
    if isinstance(e, gast.Constant) and type(e.value) in (int, float) and math.copysign(1, e.value) < 0:
        return FACTOR
    return ATOM


def _filled(items: Sequence[str], pad: str) -> list[str]:
    """Items of a bracket: on one line if they fit, otherwise one a line."""
    one = pad + ", ".join(items)
    return [one] if len(one) <= WIDTH else [f"{pad}{i}," for i in items]


def _sides(e: gast.BinOp) -> tuple[int, int]:
    """The levels that the two operands of an operation must have."""
    level = BINARY[type(e.op)][1]
    return (ATOM, FACTOR) if level == POWER else (level, level + 1)


def _operands(e: gast.expr) -> list[tuple[str, gast.expr, int]]:
    """An operation as the pieces of a list, one a line: the sign before the operand, the operand, its level."""
    if isinstance(e, gast.BinOp):
        left, right = _sides(e)
        sign, level = BINARY[type(e.op)]
        same = isinstance(e.left, gast.BinOp) and _level(e.left) == level != POWER
        return [*(_operands(e.left) if same else [("", e.left, left)]), (sign + " ", e.right, right)]
    if isinstance(e, gast.BoolOp):
        word, level = BOOLEAN[type(e.op)]
        return [(f"{word} " if k else "", v, level + 1) for k, v in enumerate(e.values)]
    if isinstance(e, gast.Compare):
        rest = [(COMPARE[type(op)] + " ", v, CMP + 1) for op, v in zip(e.ops, e.comparators, strict=True)]
        return [("", e.left, CMP + 1), *rest]
    if isinstance(e, gast.IfExp):
        return [("", e.body, OR), ("if ", e.test, OR), ("else ", e.orelse, TEST)]
    return []


def _layout(e: gast.expr, level: int, head: str, tail: str, pad: str, inside: bool = False) -> list[str]:
    """Lines of `head e tail`, indented by `pad`; `inside` brackets a line may end between operators."""
    flat = pad + head + _flat(e, level) + tail
    inner = pad + "    "
    if len(flat) <= WIDTH:
        return [flat]
    if _level(e) < level and not isinstance(e, gast.Tuple):  # its own parentheses take a line each
        return [f"{pad}{head}(", *_layout(e, TUPLE, "", "", inner, True), f"{pad}){tail}"]
    if isinstance(e, gast.UnaryOp):
        sign, of = UNARY[type(e.op)]
        return _layout(e.operand, of, head + sign, tail, pad, inside)
    if isinstance(e, (gast.Subscript, gast.Attribute)):
        own = _flat(e)[len(_flat(e.value, ATOM)) :]
        return _layout(e.value, ATOM, head, own + tail, pad, inside)
    if isinstance(e, gast.Call):
        return _bracket(f"{pad}{head}{_flat(e.func, ATOM)}(", [*e.args, *e.keywords], f"{pad}){tail}", inner)
    if isinstance(e, (gast.List, gast.Tuple)) and e.elts:
        a, b = "[]" if isinstance(e, gast.List) else "()"
        one = "," if isinstance(e, gast.Tuple) and len(e.elts) == 1 else ""
        return _bracket(f"{pad}{head}{a}", e.elts, f"{one}\n{pad}{b}{tail}" if one else f"{pad}{b}{tail}", inner)
    pieces = _operands(e)
    if not pieces:
        return [flat]
    if isinstance(e, gast.BinOp) and _level(e) == TERM:  # open the longest factor's brackets rather than split the product
        k = max(range(len(pieces)), key=lambda k: len(_flat(pieces[k][1])))
        texts = [sign + _flat(v, of) for sign, v, of in pieces]
        sign, v, of = pieces[k]
        before, after = " ".join([*texts[:k], sign]).lstrip(), " ".join(["", *texts[k + 1 :]])
        lines = _layout(v, of, head + before, after + tail, pad, inside)
        if len(lines) > 1 and lines[0].endswith(("(", "[")) and all(len(line) <= WIDTH for line in lines):
            return lines
    if not inside:
        return [f"{pad}{head}(", *_layout(e, TUPLE, "", "", inner, True), f"{pad}){tail}"]
    lines = []
    for k, (sign, v, of) in enumerate(pieces):
        last = k == len(pieces) - 1
        more = _layout(v, of, (head if k == 0 else "") + sign, tail if last else "", pad, True)
        if sign == "- " and len(more) == 1 and len(lines[-1]) + len(more[0]) - len(pad) < WIDTH:
            lines[-1] += " " + more[0].lstrip()  # a line begins with + where it can
        else:
            lines += more
    return lines


def _bracket(head: str, items: Sequence[gast.AST], tail: str, pad: str) -> list[str]:
    """`head`, the items indented, `tail`."""
    if not items:
        return [head + tail.lstrip()]
    one = pad + ", ".join(_flat(i, TEST) for i in items)
    if len(one) <= WIDTH:
        body = [one]
    else:
        body = []
        for i in items:
            name = f"{i.arg}=" if isinstance(i, gast.keyword) and i.arg else ""
            value = i.value if isinstance(i, gast.keyword) else i
            body += _layout(value, TEST, name, "," if len(items) > 1 else "", pad, not name and len(items) == 1)
    if tail.startswith(","):  # a tuple of one keeps its comma
        return [head, *body[:-1], body[-1] + ",", tail[2:]]
    return [head, *body, tail]


class _Printer(astunparse.Unparser):  # type: ignore[misc]
    """Statements one by one; expressions on one line, with a precedence that travels to each operand in `level`."""

    def __init__(self, tree: Any, level: int = TUPLE, indent: int = 0):
        self.level = level
        self.indent = indent
        super().__init__([tree] if isinstance(tree, gast.AST) else list(tree), io.StringIO())

    @property
    def pad(self) -> str:
        """The indentation of a statement."""
        return "    " * int(self.indent + self._indent)

    def fill(self, text: str = "") -> None:
        """Begin a line."""
        self.f.write(f"\n{self.pad}{text}")

    def text(self) -> str:
        """What was printed."""
        return str(self.f.getvalue()).strip("\n") + "\n"

    def dispatch(self, tree: Any) -> None:
        """Print a node or a list of nodes."""
        if isinstance(tree, list):
            for t in tree:
                self.dispatch(t)
            return
        method = getattr(type(self), f"_{type(tree).__name__}", None)
        if method is None or not (method.__qualname__.startswith("_Printer.") or type(tree).__name__ in INHERITED):
            raise TypeError(f"{type(tree).__name__} is not printed")
        method(self, tree)

    def at(self, level: int, tree: gast.AST) -> None:
        """Print an operand where only operators binding at least as tightly as `level` may stand."""
        outer, self.level = self.level, level
        self.dispatch(tree)
        self.level = outer

    def group(self, level: int, body: Callable[[], None]) -> None:
        """Print an operation, in parentheses if this place needs a tighter binding than its `level`."""
        parenthesised = self.level > level
        if parenthesised:
            self.write("(")
        body()
        if parenthesised:
            self.write(")")

    def items(self, elts: Sequence[gast.AST]) -> None:
        """Print a list of expressions."""
        for k, e in enumerate(elts):
            self.write(", " if k else "")
            self.at(TEST, e)

    # -- statements ------------------------------------------------------------------
    def line(self, head: str, value: gast.expr | None = None, tail: str = "", level: int = TUPLE) -> None:
        """Print a statement (or the head of one)."""
        if value is None:
            self.fill(head + tail)
            return
        for text in _layout(value, level, head, tail, self.pad):
            self.f.write("\n" + text)

    def block(self, body: Sequence[gast.stmt]) -> None:
        """Print the indented statements of a compound statement."""
        self._indent += 1
        self.dispatch(_nonempty(body))
        self._indent -= 1

    def _Comment(self, t: Comment) -> None:
        for text in t.text.split("\n"):
            self.fill(f"# {text}".rstrip())

    def _Blank(self, t: Blank) -> None:
        self.f.write("\n")

    def _Assign(self, t: gast.Assign) -> None:
        self.line("".join(f"{_flat(x)} = " for x in t.targets), t.value)

    def _AugAssign(self, t: gast.AugAssign) -> None:
        self.line(f"{_flat(t.target)} {BINARY[type(t.op)][0]}= ", t.value)

    def _Return(self, t: gast.Return) -> None:
        self.line("return " if t.value is not None else "return", t.value)

    def _Raise(self, t: gast.Raise) -> None:
        self.line("raise " if t.exc else "raise", t.exc, f" from {_flat(t.cause, TEST)}" if t.cause else "", TEST)

    def _Assert(self, t: gast.Assert) -> None:
        self.line("assert ", t.test, f", {_flat(t.msg, TEST)}" if t.msg else "", TEST)

    def _Expr(self, t: gast.Expr) -> None:
        if isinstance(t.value, gast.Constant) and isinstance(t.value.value, str):
            self.fill(_docstring(t.value.value))
        else:
            self.line("", t.value)

    def _If(self, t: gast.If, word: str = "if") -> None:
        self.line(f"{word} ", t.test, ":", TEST)
        self.block(t.body)
        if len(t.orelse) == 1 and isinstance(t.orelse[0], gast.If):
            self._If(t.orelse[0], "elif")
        elif t.orelse:
            self.otherwise(t.orelse)

    def _For(self, t: gast.For) -> None:
        self.line(f"for {_flat(t.target)} in ", t.iter, ":", TEST)
        self.block(t.body)
        if t.orelse:
            self.otherwise(t.orelse)

    def _While(self, t: gast.While) -> None:
        self.line("while ", t.test, ":", TEST)
        self.block(t.body)
        if t.orelse:
            self.otherwise(t.orelse)

    def otherwise(self, body: Sequence[gast.stmt]) -> None:
        """Print an else branch."""
        self.fill("else:")
        self.block(body)

    def _FunctionDef(self, t: gast.FunctionDef) -> None:
        a = t.args
        if a.posonlyargs or a.vararg or a.kwonlyargs or a.kwarg or t.decorator_list:
            raise TypeError("a function with decorators, * or / in its parameters is not printed")
        names = [p.id for p in a.args]
        defaults = dict(zip(names[len(names) - len(a.defaults) :], a.defaults, strict=True))
        if self.pad:
            raise TypeError("a nested function is not printed")
        self.f.write("\n" + function_source(t.name, names, defaults, "", t.body).rstrip("\n"))

    # -- expressions, on one line ----------------------------------------------------
    def _Name(self, t: gast.Name) -> None:
        self.write(t.id)

    def _Constant(self, t: gast.Constant) -> None:
        v = t.value
        if type(v) not in (int, float, complex, bool, str, bytes, type(None), type(...)):
            raise TypeError(f"a literal of type {type(v).__name__} is not printed")
        text = "..." if v is ... else repr(v)
        if isinstance(v, str) and text[1:-1] == v and '"' not in v:
            text = f'"{v}"'
        if type(v) is float and not math.isfinite(v):  # there is no literal for them
            text = text.replace("inf", "np.inf").replace("nan", "np.nan")
        self.group(_level(t), lambda: self.write(text))

    def _BinOp(self, t: gast.BinOp) -> None:
        left, right = _sides(t)

        def body() -> None:
            self.at(left, t.left)
            self.write(f" {BINARY[type(t.op)][0]} ")
            self.at(right, t.right)

        self.group(_level(t), body)

    def _UnaryOp(self, t: gast.UnaryOp) -> None:
        sign, level = UNARY[type(t.op)]

        def body() -> None:
            self.write(sign)
            self.at(level, t.operand)

        self.group(level, body)

    def _operation(self, t: gast.expr) -> None:
        def body() -> None:
            for k, (sign, v, level) in enumerate(_operands(t)):
                self.write((" " if k else "") + sign)
                self.at(level, v)

        self.group(_level(t), body)

    _BoolOp = _Compare = _IfExp = _operation

    def _Tuple(self, t: gast.Tuple) -> None:
        def body() -> None:
            self.items(t.elts)
            self.write("," if len(t.elts) == 1 else "")

        if t.elts:
            self.group(TUPLE, body)
        else:
            self.write("()")

    def _List(self, t: gast.List) -> None:
        self.write("[")
        self.items(t.elts)
        self.write("]")

    def _Attribute(self, t: gast.Attribute) -> None:
        self.at(ATOM, t.value)
        is_int = isinstance(t.value, gast.Constant) and type(t.value.value) is int and t.value.value >= 0
        self.write((" ." if is_int else ".") + t.attr)

    def _Call(self, t: gast.Call) -> None:
        self.at(ATOM, t.func)
        self.write("(")
        self.items([*t.args, *t.keywords])
        self.write(")")

    def _keyword(self, t: gast.keyword) -> None:
        self.write("**" if t.arg is None else f"{t.arg}=")
        self.at(TEST, t.value)

    def _Subscript(self, t: gast.Subscript) -> None:
        self.at(ATOM, t.value)
        self.write("[")
        self.at(TUPLE, t.slice)
        self.write("]")

    def _Slice(self, t: gast.Slice) -> None:
        for sign, part in (("", t.lower), (":", t.upper)):
            self.write(sign)
            if part is not None:
                self.at(TEST, part)
        if t.step is not None:
            self.write(":")
            self.at(TEST, t.step)


# What astunparse prints well as it is. Other kinds of nodes are outside the language and raise, rather than print doubtfully.
INHERITED = frozenset({"Module", "Import", "ImportFrom", "alias", "Pass", "Break", "Continue"})


def _docstring(text: str) -> str:
    """A string that stands as a statement."""
    return repr(text) if any(c in text for c in '"\\\n') else f'"""{text}"""'
