"""Make a faulty program small: statements and expressions are taken away as long as the same fault stays."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

from .generate import Program

Step = tuple[str, int | None]


def reduced(program: Program, bad: Callable[[Program], bool]) -> Program:
    """A smaller program for which `bad` still holds."""
    changed = True
    while changed:
        changed = False
        at = 0
        while True:
            text = next(itertools.islice(_smaller(program.text), at, None), None)
            if text is None:
                break
            candidate = replace(program, text=text)
            if text.strip() != program.text.strip() and bad(candidate):
                program, changed = candidate, True
            else:
                at += 1
    return program


def _smaller(text: str) -> Iterator[str]:
    """Texts with something taken away, large pieces first."""
    tree = ast.parse(text)
    for path, node in _walk(tree):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            for k in range(len(block) if isinstance(block, list) else 0):
                yield from _without(tree, path, field, k)
    for path, node in _walk(tree):
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant) and not isinstance(getattr(node, "ctx", None), ast.Store):
            for part in [*_parts(node), *([] if isinstance(node, ast.Name) else [ast.Constant(0.5)])]:
                changed = copy.deepcopy(tree)
                _put(_at(changed, path[:-1]), path[-1], copy.deepcopy(part))
                yield _text(changed)


def _without(tree: ast.Module, path: tuple[Step, ...], field: str, k: int) -> Iterator[str]:
    """Texts without a statement, or with its body in its place."""
    s = getattr(_at(tree, path), field)[k]
    if isinstance(s, (ast.Import, ast.Return)) or isinstance(s, ast.FunctionDef) and s.name == "f":
        return
    for new in [[]] if isinstance(s, ast.FunctionDef) else [[], getattr(s, "body", None), getattr(s, "orelse", None)]:
        if new is not None:
            changed = copy.deepcopy(tree)
            block = getattr(_at(changed, path), field)
            block[k : k + 1] = copy.deepcopy(new)
            if not block and field == "body":
                block.append(ast.Pass())
            yield _text(changed)


def _text(tree: ast.Module) -> str:
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _parts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Call):
        return list(node.args)
    return [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr) and not isinstance(c, ast.Slice)]


def _walk(node: ast.AST, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], ast.AST]]:
    yield path, node
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield from _walk(value, (*path, (field, None)))
        elif isinstance(value, list):
            for k, v in enumerate(value):
                if isinstance(v, ast.AST):
                    yield from _walk(v, (*path, (field, k)))


def _at(node: ast.AST, path: tuple[Step, ...]) -> ast.AST:
    for field, k in path:
        node = getattr(node, field) if k is None else getattr(node, field)[k]
    return node


def _put(node: ast.AST, step: Step, new: ast.AST) -> None:
    field, k = step
    if k is None:
        setattr(node, field, new)
    else:
        getattr(node, field)[k] = new
