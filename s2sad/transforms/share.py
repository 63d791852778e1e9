"""Common subexpressions of the adjoint of one statement: costly ones get a name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import gast

from s2sad.analysis import effects as E
from s2sad.analysis.types import type_of
from s2sad.errors import TypeInferenceError
from s2sad.lang import algebra as A
from s2sad.lang import tree as T
from s2sad.lang.types import Type, is_array

if TYPE_CHECKING:
    from s2sad.transforms.reverse import Block, Reversed

IMPURE = (*E.WRITERS, "strong", "sum_to")


def costly(e: gast.expr, names: Mapping[str, Type]) -> bool:
    """Whether an expression is worth a name when it occurs twice: a function call or a division, or array arithmetic."""
    if isinstance(e, gast.Call):
        f = T.dotted(e.func) or ""
        return f.split(".")[0] in ("np", "math") and f not in ("np.float32", "np.float64", "np.zeros_like", "np.int64")
    if isinstance(e, gast.BinOp):
        if isinstance(e.op, (gast.Div, gast.Pow)):
            return A.number(e.left) is None or A.number(e.right) is None
        return A.size(e) > 7 or (any(is_array(names.get(n)) for n in T.loads(e)) and is_array_expr(e, names))
    return False


def is_array_expr(e: gast.expr, names: Mapping[str, Type]) -> bool:
    """Whether an expression certainly has an array value."""
    try:
        return is_array(type_of(e, names))
    except TypeInferenceError:
        return False


def share(body: list[gast.stmt], names: dict[str, Type], fresh: T.Fresh, arrays: Collection[str] = ()) -> list[gast.stmt]:
    """Statements with repeated costly subexpressions named before their first use; `arrays` are names of arrays made here.

    >>> from s2sad.lang.printer import to_source
    >>> from s2sad.lang.types import Scalar
    >>> body = T.stmts("x_bar = y_bar / np.sin(x)\\nz_bar = z_bar * np.sin(x)")
    >>> print(to_source(share(body, {"x": Scalar("float64")}, T.Fresh({"x"}))), end="")
    sin_x = np.sin(x)
    x_bar = y_bar / sin_x
    z_bar = z_bar * sin_x
    """
    while True:
        changing = T.stores(body) | {n for s in body for n in E.effects(s, names).writes}
        count: dict[object, list[gast.expr]] = {}
        for s in body:
            value = s.value if isinstance(s, (gast.Assign, gast.AugAssign, gast.Expr)) else None
            if value is None or not hasattr(s, "value"):
                continue
            for e in gast.walk(value):
                if isinstance(e, gast.expr) and costly(e, names) and not T.all_names([e]) & changing \
                        and not any(isinstance(c, gast.Call) and (T.dotted(c.func) or "") in IMPURE for c in gast.walk(e)):
                    count.setdefault(T.dump(e), []).append(e)
        repeated = sorted((v for v in count.values() if len(v) > 1), key=lambda v: -A.size(v[0]))
        done = False
        for group in repeated:
            try:
                t = type_of(group[0], names)
            except TypeInferenceError:
                continue
            n = fresh(wish(group[0]))
            names[n] = t
            value = A.clone(group[0])
            key = T.dump(value)
            new: list[gast.stmt] = []
            placed = False
            for s in body:
                if not placed and any(T.dump(e) == key for e in gast.walk(s) if isinstance(e, gast.expr)):
                    new.append(gast.Assign([T.store(n)], value, None))
                    placed = True
                new.append(_Replace(key, n).visit(s))
            body, done = own_copies(new, n) if is_array(t) else new, True
            break
        if not done:
            for n in sorted(T.stores(body) & set(arrays)):
                body = own_copies(body, n)
            return body


def own_copies(body: list[gast.stmt], n: str) -> list[gast.stmt]:
    """An adjoint that is assigned the shared array takes a copy, but the last user may have the array itself: it is made the last."""

    def takes(s: gast.stmt) -> bool:
        v = s.value if isinstance(s, gast.Assign) else None
        if not isinstance(v, (gast.Name, gast.Call)) or n not in T.loads(v):
            return False
        return isinstance(v, gast.Name) or (T.dotted(v.func) == "sum_to" and isinstance(v.args[0], gast.Name))

    last = max(k for k, s in enumerate(body) if n in T.all_names([s]))
    for k, s in enumerate(body[:last]):
        if takes(s) and not T.stores(s) & T.all_names(body[k + 1: last + 1]):
            body = [*body[:k], *body[k + 1: last + 1], s, *body[last + 1:]]
            break
    out = []
    for k, s in enumerate(body):
        if takes(s) and k != last:
            s = gast.Assign(s.targets, gast.Call(gast.Attribute(s.value, "copy", gast.Load()), [], []), None)
        out.append(s)
    return out


def wish(e: gast.expr) -> str:
    """A readable name for a subexpression: `sin_x` for `np.sin(x)`."""
    if isinstance(e, gast.Call) and len(e.args) == 1 and isinstance(e.args[0], gast.Name):
        return f"{(T.dotted(e.func) or 't').split('.')[-1]}_{e.args[0].id}"
    return "t"


class _Replace(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, key: object, n: str):
        self.key, self.n = key, n

    def visit(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.expr) and T.dump(node) == self.key:
            return T.name(self.n)
        return self.generic_visit(node)


def share_blocks(rev: Reversed) -> None:
    """Name common subexpressions within the adjoint of each statement."""
    from s2sad.transforms.reverse import Branch, Loop

    def visit(block: Block) -> None:
        for item in block.items:
            if isinstance(item, Branch):
                visit(item.body)
                visit(item.orelse)
            elif isinstance(item, Loop):
                visit(item.body)
            else:
                item.adjoint = share(item.adjoint, rev.names, rev.fresh, rev.arrays)

    visit(rev.block)
