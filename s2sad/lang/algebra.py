"""Constructors of arithmetic trees that fold what is trivial: no `1 *`, no `0 +`, no `--`."""

from __future__ import annotations

import gast

from s2sad.lang import tree as T


def number(e: gast.expr | None) -> float | int | None:
    """The value of a numeric literal (also `-2.0`), or None."""
    if isinstance(e, gast.Constant) and isinstance(e.value, (int, float)) and not isinstance(e.value, bool):
        return e.value
    if isinstance(e, gast.UnaryOp) and isinstance(e.op, gast.USub):
        inner = number(e.operand)
        return None if inner is None else -inner
    return None


def literal(value: float | int) -> gast.expr:
    """A numeric literal; a negative one is written with a minus sign.

    >>> gast.dump(literal(-2)).startswith("UnaryOp")
    True
    """
    if value < 0:
        return gast.UnaryOp(gast.USub(), T.const(-value))
    return T.const(value)


def split_sign(e: gast.expr) -> tuple[int, gast.expr]:
    """(sign, rest) with a leading minus pulled out of products and quotients."""
    if isinstance(e, gast.UnaryOp) and isinstance(e.op, gast.USub):
        sign, rest = split_sign(e.operand)
        return -sign, rest
    if isinstance(e, gast.BinOp) and isinstance(e.op, (gast.Mult, gast.Div)):
        sl, left = split_sign(e.left)
        sr, right = split_sign(e.right)
        if sl * sr == sl and sl == 1:
            return 1, e
        return sl * sr, gast.BinOp(left, e.op, right)
    value = number(e)
    if value is not None and value < 0:
        return -1, T.const(-value)
    return 1, e


def neg(e: gast.expr) -> gast.expr:
    """`-e`."""
    sign, rest = split_sign(e)
    return rest if sign < 0 else gast.UnaryOp(gast.USub(), rest)


def signed(sign: int, e: gast.expr) -> gast.expr:
    """`e` or `-e`."""
    return e if sign > 0 else neg(e)


def factors(e: gast.expr) -> tuple[int, list[gast.expr], list[gast.expr]]:
    """(sign, numerators, denominators) of a product; only the outermost operators are opened."""
    sign, e = split_sign(e)
    if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Mult):
        s1, n1, d1 = factors(e.left)
        s2, n2, d2 = factors(e.right)
        if not d1 and not d2:
            return sign * s1 * s2, n1 + n2, []
    if isinstance(e, gast.BinOp) and isinstance(e.op, gast.Div):
        s1, n1, d1 = factors(e.left)
        return sign * s1, n1, [*d1, e.right]
    if number(e) == 1:
        return sign, [], []
    return sign, [e], []


def product(num: list[gast.expr], den: list[gast.expr]) -> gast.expr:
    """`n1 * n2 / d1 / d2`, literal factors collected in front, unless their product could overflow where the whole does not.

    >>> from s2sad.lang.printer import to_source
    >>> print(to_source([gast.Expr(product([T.name("x"), T.const(2.0), T.const(1e200), T.const(3), T.const(1e200)], []))]), end="")
    6.0 * x * 1e+200 * 1e+200
    """
    value: float | int = 1
    rest = []
    for n in num:
        v = number(n)
        if v is None or v != 0 and not 1e-60 < abs(v * value) < 1e60:
            rest.append(n)
        else:
            value = value * v
    terms = ([] if value == 1 else [literal(value)]) + rest
    out = terms[0] if terms else T.const(1.0 if isinstance(value, float) or den else 1)
    for n in terms[1:]:
        out = gast.BinOp(out, gast.Mult(), n)
    for d in den:
        if number(d) != 1:
            out = gast.BinOp(out, gast.Div(), d)
    return out


def mul(a: gast.expr, b: gast.expr) -> gast.expr:
    """`a * b`."""
    s1, n1, d1 = factors(a)
    s2, n2, d2 = factors(b)
    return signed(s1 * s2, product([*n1, *n2], [*d1, *d2]))


def add(a: gast.expr, b: gast.expr) -> gast.expr:
    """`a + b`, with the sign of b in the operator; `x + x` is `2 * x`."""
    if number(a) == 0:
        return b
    if number(b) == 0:
        return a
    if T.same(a, b):
        return mul(T.const(2.0), a)
    x, y = number(a), number(b)
    if x is not None and y is not None:
        return literal(x + y)
    sign, rest = split_sign(b)
    if sign < 0:
        return gast.BinOp(a, gast.Sub(), rest)
    sa, ra = split_sign(a)
    if sa < 0:
        return gast.BinOp(b, gast.Sub(), ra)
    return gast.BinOp(a, gast.Add(), b)


def size(e: gast.AST) -> int:
    """Number of nodes of an expression (operators and contexts not counted)."""
    return sum(isinstance(n, gast.expr) for n in gast.walk(e))


def clone(e: gast.expr) -> gast.expr:
    """A copy that shares no node."""
    new: gast.expr = T.duplicate(e)
    return new
