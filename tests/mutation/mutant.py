"""A compiler with one thing changed, in a process of its own.

The parent process has loaded the compiler and the tests, and run nothing. For each mutant it forks; the child gives the functions concerned the code
of the changed text, and runs tests until one fails. So a mutant costs a fork and a few tests, not a start of Python.
"""

from __future__ import annotations

import ast
import functools
import gc
import importlib
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class DoesNotApply(Exception):
    """The text of a mutation is not in the source (any more), or changes nothing that can be exchanged in a running compiler."""


@dataclass(frozen=True)
class Mutation:
    """`old` in a file of s2sad becomes `new`; it must be there exactly once. `tests`: for code that only Numba runs, where to look."""

    file: str
    what: str
    old: str
    new: str
    tests: str = ""

    @property
    def path(self) -> Path:
        return ROOT / "s2sad" / self.file

    @property
    def module(self) -> str:
        return "s2sad." + self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def texts(self) -> tuple[str, str]:
        """The text of the file, and the changed one."""
        text = self.path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise DoesNotApply(f"{self.file}: {self.what}: the text is there {text.count(self.old)} times: {self.old!r}")
        return text, text.replace(self.old, self.new)

    def changed(self) -> tuple[set[str], set[str]]:
        """The functions, by their qualified names, and the constants that differ."""
        before, after = (_parts(ast.parse(text)) for text in self.texts())
        differ = {name for name in before if before[name] != after.get(name)}
        functions, constants = ({n[1] for n in differ if n[0] == kind} for kind in ("function", "constant"))
        if not functions and not constants or set(before) != set(after) or {n[0] for n in differ} - {"function", "constant"}:
            raise DoesNotApply(f"{self.file}: {self.what}: only functions and constants can be exchanged")
        return functions, constants


def _parts(tree: ast.Module) -> dict[tuple[str, str], str]:
    """What a module consists of: functions, methods, constants, the rest."""
    found: dict[tuple[str, str], str] = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for s in body:
            if isinstance(s, ast.FunctionDef):
                found["function", prefix + s.name] = ast.dump(s)
            elif isinstance(s, ast.ClassDef):
                visit(s.body, f"{prefix}{s.name}.")
            elif isinstance(s, (ast.Assign, ast.AnnAssign)) and not prefix:
                target = s.targets[0] if isinstance(s, ast.Assign) else s.target
                found["constant", ast.unparse(target)] = ast.dump(s)
            else:
                found["other", prefix] = found.get(("other", prefix), "") + ast.dump(s)

    visit(tree.body, "")
    return found


@functools.cache
def functions_of(path: str) -> dict[str, list[types.FunctionType]]:
    """All function objects of a file, wherever they are held; by name without what is inside of functions."""
    found: dict[str, list[types.FunctionType]] = {}
    for o in gc.get_objects():
        if isinstance(o, types.FunctionType) and o.__code__.co_filename == path and "<locals>" not in o.__code__.co_qualname:
            found.setdefault(o.__code__.co_qualname, []).append(o)
    return found


def users_of(constant: str) -> set[tuple[str, str]]:
    """The functions of the compiler that mention a constant."""
    found = set()
    for path in (ROOT / "s2sad").rglob("*.py"):
        for (kind, name), text in _parts(ast.parse(path.read_text(encoding="utf-8"))).items():
            if kind == "function" and f"id='{constant}'" in text:
                found.add((str(path), name))
    return found


def concerned(m: Mutation) -> set[tuple[str, str]]:
    """The functions (file and name) that behave differently."""
    functions, constants = m.changed()
    return {(str(m.path), f) for f in functions} | {u for c in constants for u in users_of(c)}


def apply(m: Mutation) -> None:
    """Change the running compiler."""
    functions, constants = m.changed()
    module = importlib.import_module(m.module)
    _, text = m.texts()
    codes = {c.co_qualname: c for c in _codes(compile(text, str(m.path), "exec"))}
    objects = functions_of(str(m.path))
    for name in functions:
        if name not in objects:
            raise DoesNotApply(f"{m.file}: {m.what}: no function {name} is loaded")
        for f in objects[name]:
            f.__code__ = codes[name]
    for s in ast.parse(text).body:
        name = ast.unparse(s.targets[0]) if isinstance(s, ast.Assign) else ast.unparse(s.target) if isinstance(s, ast.AnnAssign) else ""
        if name in constants:
            assert isinstance(s, (ast.Assign, ast.AnnAssign)) and s.value is not None
            value = eval(compile(ast.Expression(s.value), str(m.path), "eval"), module.__dict__)
            _rebind(module.__dict__[name], value)


SEEN: set[tuple[str, str]] = set()


def watch() -> None:
    """Let every function of the passes and analyses say in `SEEN` that it runs. (Those of the runtime are compiled, and stay as they are.)"""
    for part in WATCHED:
        for path in sorted((ROOT / "s2sad" / part).glob("*.py")):
            objects = functions_of(str(path))
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for kind in ast.walk(tree):
                for s in kind.body if isinstance(kind, (ast.Module, ast.ClassDef)) else []:
                    if isinstance(s, ast.FunctionDef):
                        name = f"{kind.name}.{s.name}" if isinstance(kind, ast.ClassDef) else s.name
                        note = ast.parse(f"__seen__({(str(path), name)!r})").body[0]
                        s.body.insert(int(ast.get_docstring(s) is not None), note)
            for code in _codes(compile(ast.fix_missing_locations(tree), str(path), "exec")):
                for f in objects.get(code.co_qualname, []):
                    f.__globals__["__seen__"] = SEEN.add
                    f.__code__ = code


WATCHED = ("analysis", "transforms", "rules")


def _codes(code: types.CodeType) -> list[types.CodeType]:
    inner = [c for k in code.co_consts if isinstance(k, types.CodeType) for c in _codes(k)]
    return [code, *inner]


def _rebind(old: Any, new: Any) -> None:
    """Put a constant into the place of another one, under every name that a module of the compiler has for it."""
    for module in [m for n, m in sys.modules.items() if n.startswith("s2sad")]:
        for name, value in list(module.__dict__.items()):
            if value is old:
                module.__dict__[name] = new
