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


#: code -> (what it says, an example, the way out); every code that is raised is here
CODES: dict[str, tuple[str, str, str]] = {
    "S2S100": ("The source of the function cannot be read", "f = lambda x: x * x", "def f(x):\n    return x * x"),
    "S2S101": ("The file has changed since the function was made", "# model.py, saved while Python runs", "Import the module again."),
    "S2S110": ("A statement that is outside the language", "try:\n    y = x\nexcept ValueError:\n    y = 0.0", "y = x"),
    "S2S111": ("An expression that is outside the language", "sum(v * v for v in x)", "np.sum(x * x)"),
    "S2S112": ("An import in a function that cannot be followed", "import scipy.special", "Import at the head of the file."),
    "S2S113": ("A list, set or dict", "xs = [x, y]", "xs = np.array([x, y])"),
    "S2S114": ("A complex number", "z = 1j * x", "Use real and imaginary parts."),
    "S2S115": ("Starred arguments or a starred target", "f(*args)", "f(a, b)"),
    "S2S116": ("A loop over something else than range, arrays, enumerate and zip", "for v in (1, 2):", "for v in np.array([1, 2]):"),
    "S2S117": ("A target that cannot be assigned", "x.shape = (2, 3)", "x = x.reshape(2, 3)"),
    "S2S118": ("A statement without effect", "np.sin(x)", "y = np.sin(x)"),
    "S2S120": ("A name that is not defined", "return xx", "return x"),
    "S2S121": ("A function without derivative rule", "np.linalg.svd(A)", "@s2sad.adjoint_of(np.linalg.svd)"),
    "S2S122": ("An unknown method or attribute", "x.tolist()", "x"),
    "S2S123": ("NumPy's legacy random numbers", "np.random.random()", "Pass numbers drawn by np.random.default_rng()."),
    "S2S124": ("A global or closure value of a kind that cannot be used", "TABLE = {}", "TABLE = np.zeros(3)"),
    "S2S125": ("A function that calls itself in a way that cannot be followed", "return a  # the argument itself", "return a.copy()"),
    "S2S126": ("Arguments that do not fit the function called", "f(1, 2, 3)", "f(1, 2)"),
    "S2S127": ("Some ways through the function return a value, others do not", "if c:\n    return x", "return x"),
    "S2S128": ("A tuple used in a way that is not known when compiling", "t[i]", "a = np.array([x, y])\na[i]"),
    "S2S129": ("A global array is written", "TABLE[0] = x", "def f(x, table):"),
    "S2S130": ("The order of a read and of a call that may write is not determined", "a[i] += f(a)", "t = f(a)\na[i] += t"),
    "S2S131": ("An exception that cannot be raised here", "raise MyError(x)", "raise ValueError(f\"x is {x}\")"),
    "S2S132": ("A name or result that is one kind of value here and another there", "w = None\nif n > 0:\n    w = x", "w = 0.0"),
    "S2S140": ("An argument, a type or `wrt` that does not fit", "grad(f, wrt=\"n\")  # an int", "grad(f, wrt=\"x\")"),
    "S2S141": ("A kind of derivative that is not built yet", "hessian(f)", "grad(f), and differences of it"),
    "S2S204": ("A form of a library call that has no derivative", "np.inner(A, B)  # of matrices", "A @ B.T"),
    "S2S205": ("An argument that its function's rule does not differentiate", "np.interp(x, xp * a, fp)", "np.interp(x, stop_gradient(xp * a), fp)"),
    "S2S207": ("A function without tangent rule whose result is an array, in forward mode", "y = opaque(x)", "@s2sad.tangent_of(opaque)"),
    "S2S303": ("A write into an array that may have a second name", "b = a if n > 0 else c\na[0] = x\ny = b[0]", "b = a.copy() if n > 0 else c"),
    "S2S304": ("A write into memory that may be shared or not, as the layout decides", "b = np.ravel(a)\nb[0] = x", "b = np.ravel(a).copy()"),
    "S2S501": ("An operation whose operands' types do not fit", "x[0.5]", "x[int(0.5)]"),
    "S2S502": ("A name that is an array here and a number elsewhere", "s = 0.0\nfor v in a:\n    s = s + b", "s = np.zeros(len(b))"),
    "S2S601": ("A gradient that a check has found wrong", "grad(f, check=\"first\")(x)", "Correct the rule that is named, or report the statement."),
    "S2S900": ("Numba cannot compile the emitted program", "# see the line of the emitted file", "Report it, with the function and its arguments."),
}
