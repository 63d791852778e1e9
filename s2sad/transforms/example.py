"""Small programs given as text, for the examples in the docstrings of the passes and for their tests."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import gast

from s2sad.lang.printer import to_source
from s2sad.lang.tree import Function, SourceMap
from s2sad.lang.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Array, Generator, Scalar, Type
from s2sad.transforms import pipeline

NUMBERS: dict[str, Type] = {"f8": WEAK_FLOAT, "i8": WEAK_INT, "b1": WEAK_BOOL, "f4": Scalar("float32"), "rng": Generator()}


def type_of(text: str) -> Type:
    """The type that `f8`, `i8`, `f8[:]`, `f4[:, :]`, `f8[::1, :]` (Fortran order), ... means.

    >>> str(type_of("f8[:, :]")), str(type_of("i8"))
    ('float64[:, ::1]', 'int')
    """
    code, bracket, axes = text.partition("[")
    number = NUMBERS[code]
    return Array(getattr(number, "dtype", ""), axes.count(",") + 1, "F" if axes.startswith("::1,") else "C") if bracket else number


def program(text: str, types: str = "x: f8[:]", name: str = "f") -> Function:
    """A typed function, from its body in normal form and its parameters, separated by semicolons.

    >>> f = program("y = x[0] * n\\nreturn y", "x: f8[:]; n: i8")
    >>> f.params, str(f.names["y"])
    (('x', 'n'), 'float64')
    """
    given = {p.strip(): type_of(t.strip()) for p, t in (part.split(":", 1) for part in types.split(";"))}
    body = textwrap.dedent(text).strip()
    whole = f"def {name}({', '.join(given)}):\n{textwrap.indent(body, '    ')}\n"
    source, _ = SourceMap().add("example.py", 1, name, whole.splitlines())
    function = Function(name, tuple(given), tuple(gast.parse(whole).body[0].body), source=source)
    return pipeline.typed(function, given)


def after(name: str, text: str, types: str = "x: f8[:]", wrt: str = "x", mode: str = "adjoint") -> str:
    """The body that a pass of the pipeline leaves of a program given as text.

    >>> print(after("trips", "while x > 1.0:\\n    x = x * 0.5\\nreturn x", "x: f8"))
    trips = 0
    while x > 1.0:
        trips += 1
        x = x * 0.5
    return x
    """
    function = program(text, types)
    given = {p: function.names[p] for p in function.params}
    shown = pipeline.emit(replace(function, names={}), given, tuple(wrt.split(", ")), mode, name).text
    return textwrap.dedent(shown.partition(":\n")[2]).rstrip()


def source(function: Function) -> str:
    """The text of a function's body."""
    return to_source(list(function.body)).rstrip()
