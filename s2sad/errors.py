"""Errors about a place in the user's source: what is wrong, where, why, and what to write instead."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn


class S2sadError(Exception):
    """Base of every error that s2sad raises on its own account."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: `place` has file, line, function and text (or is None), `col:end_col` is the marked part of the text."""

    code: str
    summary: str
    place: Any = None
    col: int = 0
    end_col: int = 0
    instead: str = ""
    why: str = ""

    def __str__(self) -> str:
        parts = [f"{self.summary} [{self.code}]"]
        if self.place is not None:
            line = self.place.text.rstrip()
            indent = len(line) - len(line.lstrip())
            parts.append(f'  File "{self.place.file}", line {self.place.line}, in {self.place.function}')
            if line:
                parts += [f"    {line.strip()}", "    " + " " * (self.col - indent) + "^" * max(1, self.end_col - self.col)]
        if self.why:
            parts += [textwrap.fill(line, 86, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
                      if not line.startswith(" ") else f"  {line}" for line in self.why.splitlines()]
        if self.instead:
            parts += ["  Write instead:", textwrap.indent(textwrap.dedent(self.instead).strip(), "    ")]
        return "\n".join(parts)


class DifferentiationError(S2sadError):
    """One or several problems that keep a function from being differentiated; `problems` has them all.

    The location lines have CPython's traceback format, so editors and terminals make them clickable.
    """

    def __init__(self, *problems: Problem):
        self.problems = problems
        text = "\n\n".join(map(str, problems))
        super().__init__(text if len(problems) == 1 else f"{len(problems)} problems\n\n{text}")

    def __reduce__(self) -> tuple[type[DifferentiationError], tuple[Problem, ...]]:
        return type(self), self.problems


class UnsupportedError(DifferentiationError, NotImplementedError):
    """The function uses something that is outside the language."""


class TypesNeeded(UnsupportedError):
    """What a function does depends on the types of its arguments in a way that is decided when compiling, and they are not known."""


class TypeInferenceError(DifferentiationError, TypeError):
    """The types of a program do not fit together, or cannot be known before it runs."""


class ZeroGradientWarning(UserWarning):
    """A derivative is zero because the result depends on the argument through conditions only."""


class WrongGradient(DifferentiationError):
    """The check of a gradient has failed; the message names the statement whose adjoint is wrong, if one alone is."""


class SourceError(DifferentiationError):
    """The source text of a function cannot be had, or is not the text that it was made from."""


def problem(source_map: Any, node: Any, code: str, summary: str, instead: str = "", why: str = "") -> Problem:
    """A problem at a node: `source_map.place(line)` says where its (virtual) line stands; None leaves the place out."""
    line = getattr(node, "lineno", None)
    place = source_map.place(line) if source_map is not None and line else None
    if place is None:
        return Problem(code, summary, None, 0, 0, instead, why)
    raw = place.text.encode()
    stop = node.end_col_offset if getattr(node, "end_lineno", line) == line and node.end_col_offset is not None else len(raw)
    col = len(raw[: node.col_offset].decode(errors="replace"))
    end = len(raw[:stop].decode(errors="replace"))
    return Problem(code, summary, place, col, end, instead, why)


def refuse(source_map: Any, node: Any, code: str, summary: str, instead: str = "", why: str = "") -> NoReturn:
    """Raise `UnsupportedError` for one problem."""
    raise UnsupportedError(problem(source_map, node, code, summary, instead, why))


def raise_all(problems: Iterable[Problem]) -> None:
    """Raise `UnsupportedError` with all the problems, if there are any (each place and code once)."""
    unique = tuple(dict.fromkeys(problems))
    if unique:
        raise UnsupportedError(*unique)
