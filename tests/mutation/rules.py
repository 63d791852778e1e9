"""Broken derivative rules: one text of one row of the table changed at a time."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from s2sad.rules import TABLE
from s2sad.rules.forms import Row

#: Mutants that mean the same: (row, parameter, mutant) -> why.
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("math.copysign", "x", "copysign(1.0, y) * copysign(1.0, x)"): "a product the other way round",
    ("np.copysign", "x1", "copysign(1.0, x2) * copysign(1.0, x1)"): "a product the other way round",
    ("np.clip", "a_max", "share(maximum(a_min, a), a_max)"): "a maximum the other way round",
    ("np.swapaxes", "a", "swapaxes(y_bar, axis2, axis1)"): "axes swapped back the other way round",
    ("np.where", "condition", "1"): "a condition is never a float",
    **{(f"math.{f}", "x", "not singular"): "the function raises there" for f in ("atanh", "log", "log10", "log1p", "log2")},
    **{("np.divide", x, "not singular"): "quotients are taken apart by `reverse` itself" for x in ("x1", "x2")},
    ("math.pow", "y", "not singular"): "the function raises, or the partial is zero by convention",
}


@dataclass(frozen=True)
class RuleMutant:
    """One row with one text, or one mark of a singular place, changed."""

    name: str
    place: int  # which of the rows of that name
    what: str
    row: Row

    def apply(self) -> None:
        TABLE[self.name][self.place] = self.row


def texts_of(row: Row) -> dict[str, str]:
    """The texts of a row's partials."""
    return dict(row.partials) if isinstance(row.partials, Mapping) else dict(zip(row.rule.params, row.partials, strict=False))


class _Swap(ast.NodeTransformer):
    def __init__(self, a: str, b: str):
        self.names = {a: b, b: a}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def wrong_texts(text: str, params: tuple[str, ...]) -> Iterator[str]:
    """Wrong forms of a partial: its sign, a factor, arguments swapped, one side of an operation alone, an unbroadcast lost."""
    if text == "0":
        yield "1"
        return
    yield f"-({text})"
    yield f"2 * ({text})"
    tree = ast.parse(text, mode="eval")
    for a, b in zip(params, params[1:], strict=False):
        if {a, b} <= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}:
            yield ast.unparse(_Swap(a, b).visit(copy.deepcopy(tree)))
    for node in ast.walk(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sum_to":
            parts = [node.args[0]]
        for part in parts:
            changed = copy.deepcopy(tree)
            for old, new in zip(ast.walk(tree), ast.walk(changed), strict=True):
                if old is node:
                    _become(changed, new, copy.deepcopy(part))
                    break
            yield ast.unparse(changed)


def _become(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, field, new)
                return
            if isinstance(value, list) and any(v is old for v in value):
                setattr(parent, field, [new if v is old else v for v in value])
                return


def mutants() -> Iterator[RuleMutant]:
    """Every mutant of every row that has a derivative."""
    for name in sorted(TABLE):
        for k, row in enumerate(TABLE[name]):
            said = f"{name}{row.signature[1:]}"
            texts = texts_of(row)
            for param, text in texts.items():
                for wrong in _others(text, row.rule.params):
                    if (name, param, wrong) not in EQUIVALENT:
                        yield RuleMutant(name, k, f"{said}, {param}: {text} -> {wrong}", replace(row, partials={**texts, param: wrong}))
            for param, text in row.tangents.items():
                for wrong in _others(text, row.rule.params):
                    what = f"{said}, tangent of {param}: {text} -> {wrong}"
                    yield RuleMutant(name, k, what, replace(row, tangents={**row.tangents, param: wrong}))
            for param in row.singular:
                rest = {p: kind for p, kind in row.singular.items() if p != param}
                if (name, param, "not singular") in EQUIVALENT:
                    continue
                yield RuleMutant(name, k, f"{said}, {param}: not singular", replace(row, singular=rest))


def _others(text: str, params: tuple[str, ...]) -> list[str]:
    same = ast.dump(ast.parse(text))
    return [wrong for wrong in dict.fromkeys(wrong_texts(text, params)) if ast.dump(ast.parse(wrong)) != same]
