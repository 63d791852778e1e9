"""What the compiler hands to the back end: an emitted function, and what to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from s2sad.lang.outside import Hidden
from s2sad.lang.types import Type


@dataclass(frozen=True)
class Place:
    """Where a piece of a program stands in the user's files."""

    file: str
    line: int
    function: str
    text: str


@dataclass(frozen=True)
class Kept:
    """One kept value: its name in the emitted text, why it is kept, and its size as a formula."""

    name: str
    why: str
    bytes_formula: str
    place: Place | None


@dataclass(frozen=True)
class Emitted:
    """An emitted function: its text and what the back end has to know of it."""

    name: str
    text: str
    params: tuple[str, ...]
    hidden: tuple[Hidden, ...]
    externals: Mapping[str, object]
    written: frozenset[str]
    result: Type
    wrt: tuple[str, ...]
    kept: tuple[Kept, ...] = ()
    guard: Emitted | None = None  # says for given arguments whether every subscript is in range
    templates: frozenset[str] = frozenset()  # formats of exceptions, whose values are their other arguments
    inner: tuple[str, ...] = ()  # further functions of the text, which it calls
    proven: bool = False  # every subscript is in range for all arguments
    lowered: str | None = None  # what is compiled, if that is not `text`: the same functions in other forms
    zero: tuple[tuple[str, Place | None], ...] = ()  # parameters on which only conditions depend, and the first of these
    origins: tuple[Place | None, ...] = ()  # of every statement that is compiled, in order: the user's statement that it stands for
