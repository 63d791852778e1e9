"""The last check before text is run: it says what the tree says, and every name in it is bound."""

from __future__ import annotations

import builtins
import math
from collections.abc import Collection, Sequence
from typing import Any

import gast

from s2sad.lang import tree
from s2sad.lang.tree import Blank, Comment


class VerificationError(RuntimeError):
    """The compiler made a program that it must not run: a bug in the compiler, never the user's mistake."""


def verify(text: str, body: Sequence[gast.stmt], names: Collection[str] = ()) -> None:
    """Check the text of a module that ends in one function.

    Args:
        text: imports, then the function.
        body: the statements that the function was printed from.
        names: what else the module's namespace holds (functions that the back end injects).

    Raises:
        VerificationError: the text does not parse, parses to another tree, uses a name that no path binds, or has a parameter twice.

    >>> verify("def f(x):\\n    return x * 2", gast.parse("y = 1").body)
    Traceback (most recent call last):
    s2sad.analysis.verify.VerificationError: the text of f differs from its tree at statement 1
    """
    try:
        compile(text, "<emitted>", "exec")
        module = gast.parse(text)
    except SyntaxError as e:
        raise VerificationError(f"the text does not parse: {e.msg}, line {e.lineno}: {(e.text or '').strip()}") from e
    function = module.body[-1] if module.body else None
    if not isinstance(function, gast.FunctionDef):
        raise VerificationError("the text does not end in a function")
    got, want = list(canonical(_without_docstring(function.body))), list(canonical(_without_docstring(body)))
    if got != want:
        at = next((k for k, (a, b) in enumerate(zip(got, want, strict=False)) if a != b), min(len(got), len(want)))
        raise VerificationError(f"the text of {function.name} differs from its tree at statement {at + 1}")
    known = {a.asname or a.name.split(".")[0] for s in module.body if isinstance(s, (gast.Import, gast.ImportFrom)) for a in s.names}
    known |= {a.id for a in function.args.args} | set(names) | set(dir(builtins))
    _Bound(function.name).block(function.body, known)


def verify_bound(name: str, body: Sequence[gast.stmt], known: Collection[str]) -> None:
    """Check that every name in a function's body is bound by some path to it. Before unused statements go, so that a broken chain of them shows.

    >>> verify_bound("f", tree.stmts("y = x * 2\\nreturn z"), ["x"])
    Traceback (most recent call last):
    s2sad.analysis.verify.VerificationError: f uses z before anything binds it (line ?)
    """
    _Bound(name).block(body, {*known, *dir(builtins)})


def canonical(node: Any) -> Any:
    """A hashable form of a tree: no positions, comments and blank lines, and one form for literals that have several.

    >>> canonical(gast.parse("x ** -np.inf").body[0].value) == canonical(gast.BinOp(tree.name("x"), gast.Pow(), tree.const(-math.inf)))
    True
    """
    if isinstance(node, (list, tuple)):
        return tuple(canonical(n) for n in node if not isinstance(n, (Comment, Blank, gast.Pass)))
    value = _literal(node)
    if value is not None:
        return tree.dump(gast.Constant(value, None))
    if isinstance(node, gast.AST):
        fields = (canonical(getattr(node, f, None)) for f in node._fields if f not in ("ctx", "type_comment", "kind"))
        return (type(node).__name__, *fields)
    return tree.dump(node)


def _literal(node: Any) -> int | float | None:
    """The number that a literal, a negated literal, np.inf or np.nan stands for."""
    if isinstance(node, gast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[no-any-return]
    if isinstance(node, gast.Attribute) and node.attr in ("inf", "nan") and tree.dotted(node) == f"np.{node.attr}":
        return float(node.attr)
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        value = _literal(node.operand)
        if value is not None and math.copysign(1, value) > 0 and not (isinstance(node.operand, gast.UnaryOp)):
            return -value if value or isinstance(value, float) else None  # -0 is an operation: there is no literal for it
    return None


def _without_docstring(body: Sequence[gast.stmt]) -> list[gast.stmt]:
    """The statements after a docstring."""
    rest = list(body)
    if rest and isinstance(rest[0], gast.Expr) and isinstance(rest[0].value, gast.Constant) and isinstance(rest[0].value.value, str):
        return rest[1:]
    return rest


class _Bound:
    """Names that some path to a statement may have bound."""

    def __init__(self, function: str):
        self.function = function

    def block(self, body: Sequence[gast.stmt], bound: set[str]) -> set[str]:
        """Check the statements in order; what is bound after them."""
        for s in body:
            bound = self.statement(s, bound)
        return bound

    def statement(self, s: gast.stmt, bound: set[str]) -> set[str]:
        """Check one statement; what is bound after it."""
        if isinstance(s, gast.If):
            self.uses(s.test, s, bound)
            return self.block(s.body, bound) | self.block(s.orelse, bound)
        if isinstance(s, (gast.For, gast.While)):
            self.uses(s.iter if isinstance(s, gast.For) else s.test, s, bound)
            inside = bound | tree.stores(s.target if isinstance(s, gast.For) else [])
            inside |= tree.stores(s.body)  # an earlier iteration may have bound them
            return self.block(s.orelse, self.block(s.body, inside))
        self.uses(s, s, bound)
        return bound | tree.stores(s)

    def uses(self, node: gast.AST, s: gast.stmt, bound: set[str]) -> None:
        """Check the names that are read."""
        for n in gast.walk(node):
            if not isinstance(n, gast.Name) or n.id in bound:
                continue
            augmented = isinstance(s, gast.AugAssign) and n is s.target  # reads what it stores
            if augmented or isinstance(n.ctx, gast.Load):
                raise VerificationError(f"{self.function} uses {n.id} before anything binds it (line {getattr(s, 'lineno', '?')})")
