"""Compiled programs, many to a module: what Numba makes of emitted text against what Python makes of the same text."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaError, NumbaWarning

from s2sad.backend.cache import OPTIONS

from .check import Outcome, check, close, load
from .generate import Program

SIZE = 20  # programs to a module


@dataclass
class Batch:
    """Emitted texts that wait to be compiled together."""

    directory: Path
    waiting: list[tuple[Program, Outcome]] = field(default_factory=list)

    def add(self, program: Program, outcome: Outcome) -> list[tuple[Program, Outcome]]:
        """Take a program that is right in Python; the faults of a batch when that is full."""
        self.waiting.append((program, outcome))
        return self.run() if len(self.waiting) == SIZE else []

    def run(self) -> list[tuple[Program, Outcome]]:
        """Compile what waits; the programs that differ, with the fault."""
        batch, self.waiting = self.waiting, []
        if not batch:
            return []
        text, entries = joined(batch)
        path = self.directory / f"batch_{batch[0][0].seed}.py"
        self.directory.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        plain: dict[str, Any] = {}
        exec(compile(text, str(path), "exec"), plain)
        fast = dict(plain)
        exec(compile(text, str(path), "exec"), fast)
        for name in sorted(entries.all):
            fast[name] = numba.njit(**OPTIONS)(fast[name])
        found = []
        for program, outcome in batch:
            for entry, source in entries.of[program.seed]:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore", NumbaWarning)
                    said = difference(plain[entry], fast[entry], program, outcome)
                if said:
                    found.append((program, Outcome(said[0], said[1], source)))
                    break
        return found


def examine(program: Program, compiled: bool, directory: Path) -> Outcome:
    """`check`, and if nothing is wrong, what Numba makes of the program."""
    outcome = check(program)
    if outcome.kind == "ok" and compiled:
        found = Batch(directory, [(program, outcome)]).run()
        return found[0][1] if found else outcome
    return outcome


@dataclass
class Entries:
    """The functions of a joined module: all, and those to be called for a program."""

    all: set[str] = field(default_factory=set)
    of: dict[int, list[tuple[str, str]]] = field(default_factory=dict)


def joined(batch: list[tuple[Program, Outcome]]) -> tuple[str, Entries]:
    """One module of the texts of several programs, each with names of its own."""
    imports: dict[str, None] = {}
    functions: list[str] = []
    entries = Entries()
    for program, outcome in batch:
        for k, text in enumerate(outcome.texts):
            tree = ast.parse(text)
            own = {f.name: f"{f.name}_{program.seed}_{k}" for f in tree.body if isinstance(f, ast.FunctionDef)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and node.id in own:
                    node.id = own[node.id]
            for s in tree.body:
                if isinstance(s, ast.FunctionDef):
                    last = s.name = own[s.name]
                    functions.append(ast.unparse(s))
                elif isinstance(s, (ast.Import, ast.ImportFrom)):
                    imports[ast.unparse(s)] = None
            entries.all |= set(own.values())
            entries.of.setdefault(program.seed, []).append((last, text))
    return "\n".join(imports) + "\n\n\n" + "\n\n\n".join(functions) + "\n", entries


def difference(plain: Callable[..., Any], fast: Any, program: Program, outcome: Outcome) -> tuple[str, str] | None:
    """The kind and the text of a difference between the compiled and the interpreted function, over all sets of arguments."""
    count = plain.__code__.co_argcount
    rest = plain.__code__.co_varnames[len(program.args) : count]
    constants = load(program.text, f"<batch {program.seed}>").__dict__
    seed = tuple(constants[n] if n in constants else outcome.seed for n in rest)  # globals that are parameters here, and the seed
    layouts = program.layouts or ("C",) * len(program.args)
    signature = [*(_type(v, layout) for v, layout in zip(program.args, layouts, strict=True)), *map(numba.typeof, seed)]
    try:
        fast.compile(tuple(signature))
    except (NumbaError, NotImplementedError) as e:
        return "rejected", str(e)
    fast.disable_compile()
    near = 1e-3 if program.single else 1e-8
    for other in outcome.sets:
        one, two = _run(plain, other, tuple(np.float64(v) if type(v) is float else v for v in seed)), _run(fast, other, seed)
        if isinstance(one[0], Exception) or isinstance(two[0], Exception):
            if type(one[0]) is not type(two[0]):
                return "compiled", f"interpreted {one[0]!r}, compiled {two[0]!r}, for {other.args}"
            continue
        for a, b in zip((*one[0], *one[1]), (*two[0], *two[1]), strict=True):
            if not close(b, a, near) and not program.single:
                return "compiled", f"interpreted {a}, compiled {b}, for {other.args}"
            if isinstance(a, np.ndarray) and a.dtype != b.dtype:
                return "compiled", f"interpreted {a.dtype}, compiled {b.dtype}"
    return None


def _run(f: Callable[..., Any], program: Program, seed: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The results (as a tuple) or the exception, and the arguments afterwards."""
    args = program.fresh()
    try:
        got = f(*args, *seed)
    except Exception as e:  # compared
        return e, args
    return got if isinstance(got, tuple) else (got,), args


def _type(value: Any, layout: str) -> Any:
    """A type that the value has in all sets of arguments: one of size 1 lies in memory in every way."""
    found = numba.typeof(value)
    return found.copy(layout="C" if layout == "C" else "A") if isinstance(found, numba.types.Array) else found
