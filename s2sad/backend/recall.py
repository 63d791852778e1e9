"""What earlier processes have emitted: a process that finds its program here does not run the compiler.

A record is found by a fingerprint of everything that the compiler looks at: the source and the code of every function that is reached, what
their globals and closure values are, and the versions (and files) of the compiler and of what it builds on. A program of which some part cannot
be described so is emitted anew in every process. Records lie next to the emitted files, in the directory that belongs to the user alone.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import linecache
import operator
import os
import pickle
import sys
import tempfile
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from s2sad import custom
from s2sad.backend import cache
from s2sad.backend.watch import TRUSTED, Watch, code_names, is_data, method, plain_function
from s2sad.lang.emitted import Emitted
from s2sad.lang.options import lowering
from s2sad.lang.outside import DefaultValue, Hidden, Value
from s2sad.lang.structure import Function, Known, Leaf, Record, Structure
from s2sad.lang.types import Type

# what reading a record that another version or a broken disk has left can raise
_UNREADABLE = (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, KeyError, TypeError, ValueError)


class _Unknown(Exception):
    """Something that cannot be told from another thing in another process."""


class Memory:
    """The records of one program as it is now."""

    def __init__(self, watch: Watch, entry: Mapping[str, Structure] | None = None):
        """`entry`: the structures of the parameters, if they are not numbers and arrays."""
        self.functions = watch.functions
        try:
            self.key = None if custom.any_rules() else _fingerprint(watch.functions, entry)
        except _Unknown:
            self.key = None

    def outline(self) -> tuple[tuple[str, ...], tuple[Hidden, ...], Structure | None, tuple[str, ...]] | None:
        """All parameters, the hidden ones among them, the structure of the result, and what is set of arguments; None if they are not known."""
        found = self._read("outline")
        return None if found is None else (found[0], self._hidden(found[1]), *found[2:])

    def keep_outline(self, params: tuple[str, ...], hidden: Sequence[Hidden], result: Structure | None, changed: tuple[str, ...]) -> None:
        """Record them."""
        self._write("outline", lambda: (params, self._described(hidden), _portable(result), changed))

    def emitted(self, types_: tuple[Type, ...], wrt: tuple[str, ...], mode: str) -> Emitted | None:
        """The emitted program; None if it is not known."""
        found = self._read(self._name(types_, wrt, mode))
        return None if found is None else self._with_hidden(*found)

    def keep_emitted(self, types_: tuple[Type, ...], wrt: tuple[str, ...], mode: str, program: Emitted) -> None:
        """Record it, if it is all text."""
        if not program.externals:
            hidden = program.hidden
            self._write(self._name(types_, wrt, mode), lambda: (_without_hidden(program), self._described(hidden)))

    @staticmethod
    def _name(types_: tuple[Type, ...], wrt: tuple[str, ...], mode: str) -> str:
        return repr((types_, wrt, mode))

    def _with_hidden(self, program: Emitted, described: list[tuple[str, int, Any]]) -> Emitted:
        hidden = self._hidden(described)
        guard = replace(program.guard, hidden=hidden) if program.guard is not None else None
        return replace(program, hidden=hidden, guard=guard)

    def _described(self, hidden: Sequence[Hidden]) -> list[tuple[str, int, Any]]:
        """Hidden parameters without the functions that they belong to."""
        place = {id(f): k for k, f in enumerate(self.functions)}
        out: list[tuple[str, int, Any]] = []
        for h in hidden:
            if not isinstance(h.read, (Value, DefaultValue)) or id(h.read.fn) not in place:
                raise _Unknown
            out.append((h.name, place[id(h.read.fn)], h.read.path if isinstance(h.read, Value) else h.read.parameter))
        return out

    def _hidden(self, described: list[tuple[str, int, Any]]) -> tuple[Hidden, ...]:
        fns = self.functions
        return tuple(Hidden(n, DefaultValue(fns[k], what) if isinstance(what, str) else Value(fns[k], what)) for n, k, what in described)

    def _path(self, name: str) -> Path:
        digest = hashlib.sha256(f"{self.key}\n{name}".encode()).hexdigest()[:24]
        return cache.directory() / f"{digest}.emitted"

    def _read(self, name: str) -> Any:
        if self.key is None:
            return None
        try:
            with self._path(name).open("rb") as f:
                full, value = pickle.load(f)
        except _UNREADABLE:
            return None
        return value if full == (self.key, name) else None

    def _write(self, name: str, value: Any) -> None:
        if self.key is None:
            return
        try:
            data = pickle.dumps(((self.key, name), value()))
        except _Unknown:
            return
        path = self._path(name)
        try:
            handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
            with os.fdopen(handle, "wb") as f:
                f.write(data)
            os.replace(temporary, path)
        except OSError:
            return  # it is found out again next time


def _without_hidden(program: Emitted) -> Emitted:
    guard = replace(program.guard, hidden=(), externals={}) if program.guard is not None else None
    return replace(program, hidden=(), externals={}, guard=guard)


@functools.cache
def _compiler() -> str:
    """The versions of what emits text, and the state of the compiler's own files."""
    digest = hashlib.sha256(cache.versions().encode())
    for path in sorted(Path(__file__).parent.parent.glob("**/*.py")):
        found = path.stat()
        digest.update(f"{path} {found.st_mtime_ns} {found.st_size}\n".encode())
    return digest.hexdigest()


def _fingerprint(functions: Sequence[types.FunctionType], entry: Mapping[str, Structure] | None) -> str:
    """A digest of all that the compiler looks at; raises _Unknown if that cannot be said."""
    place = {id(f): k for k, f in enumerate(functions)}
    captured = {id(f.fn) for s in (entry or {}).values() for f in _given(s)}  # what these have captured is part of the structure
    digest = hashlib.sha256(f"{_compiler()} {lowering()}".encode())
    if entry is not None:
        digest.update(repr([(n, _structure(s, place)) for n, s in entry.items()]).encode())
    for fn in functions:
        lines = linecache.getlines(fn.__code__.co_filename)
        if not lines:
            raise _Unknown
        digest.update("".join(lines).encode())
        digest.update(repr((fn.__module__, fn.__qualname__, fn.__code__.co_filename, _code(fn.__code__))).encode())
        if id(fn) not in captured:
            digest.update(repr(sorted((n, _default(v)) for n, v in _defaults(fn).items())).encode())
        names, attributes = code_names(fn.__code__)
        for cell_name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True) if id(fn) not in captured else ():
            try:
                digest.update(repr((cell_name, _thing(cell.cell_contents, place, attributes))).encode())
            except ValueError:  # nothing in it yet
                raise _Unknown from None
        space = fn.__globals__
        digest.update(repr([(n, _thing(space[n], place, attributes) if n in space else "missing") for n in sorted(names)]).encode())
    return digest.hexdigest()


def _given(s: Structure) -> Iterator[Function]:
    """The functions of the user in a structure."""
    if isinstance(s, Function):
        yield s
        for _, part in (*s.free, *s.defaults):
            yield from _given(part)
    elif isinstance(s, Record):
        for part in s.items:
            yield from _given(part)


def _structure(s: Structure, place: dict[int, int]) -> tuple[Any, ...]:
    """What a structure is, the same in every process."""
    if isinstance(s, Leaf):
        return ("leaf", s.name, str(s.type))
    if isinstance(s, Known):
        return ("known", _thing(s.value, place, set()))
    if isinstance(s, Function):
        if id(s.fn) not in place:
            raise _Unknown
        parts = [[(n, _structure(part, place)) for n, part in pairs] for pairs in (s.free, s.defaults)]
        return ("function", place[id(s.fn)], parts)
    classes = [(c.__module__, c.__qualname__, [(n, place.get(id(method(v)))) for n, v in vars(c).items() if method(v)]) for c in s.cls.__mro__[:-1]]
    keys = [_structure_key(k) for k in s.keys]
    return (s.kind, classes if s.kind == "object" else classes[:1], keys, s.shared, [_structure(part, place) for part in s.items])


def _structure_key(key: Any) -> tuple[Any, ...]:
    if isinstance(key, enum.Enum):
        raise _Unknown
    return _constant(key)


def _portable(s: Structure | None) -> Structure | None:
    """A structure that another process can read; raises _Unknown if there is more in it than tuples, lists, dicts and texts."""
    todo = [] if s is None else [s]
    while todo:
        part = todo.pop()
        if isinstance(part, Record) and part.kind in ("tuple", "list", "dict") and not any(isinstance(k, enum.Enum) for k in part.keys):
            todo += part.items
        elif not isinstance(part, Leaf) and not (isinstance(part, Known) and type(part.value) in (type(None), str, bool, int)):
            raise _Unknown
    return s


def _code(code: types.CodeType) -> tuple[Any, ...]:
    """What decides how code runs, the same in every process."""
    constants = [_code(c) if isinstance(c, types.CodeType) else _constant(c) for c in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_firstlineno, code.co_flags, code.co_argcount, code.co_kwonlyargcount, code.co_code, constants, names, code.co_linetable


def _constant(value: Any) -> tuple[Any, ...]:
    if isinstance(value, frozenset):
        return ("frozenset", sorted(map(repr, value)))
    if isinstance(value, tuple):
        return ("tuple", [_constant(v) for v in value])
    if value is Ellipsis or isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return (type(value).__name__, repr(value))
    raise _Unknown


def _defaults(fn: types.FunctionType) -> dict[str, Any]:
    given = dict(enumerate(fn.__defaults__ or ()))
    return {str(k): v for k, v in given.items()} | (fn.__kwdefaults__ or {})


def _default(value: Any) -> tuple[Any, ...]:
    return _data(value) if isinstance(value, np.ndarray) else _constant(value)


def _data(value: Any) -> tuple[Any, ...]:
    """A number or array, which is read at every call: only its type counts."""
    if isinstance(value, (np.ndarray, np.generic)):
        return ("data", type(value).__name__, str(value.dtype), np.ndim(value))
    return ("data", type(value).__name__)


def _thing(value: Any, place: dict[int, int], attributes: set[str], within: tuple[str, ...] = ()) -> tuple[Any, ...]:
    """What a global or closure value is."""
    if is_data(value):
        return _data(value)
    fn = plain_function(value)
    if fn is not None and id(fn) in place:
        kind = type(value).__module__, type(value).__qualname__, getattr(value, "__s2sad_calls_primal__", None)
        return ("function", place[id(fn)], kind)
    if isinstance(value, types.ModuleType):
        if value.__name__.split(".")[0] in TRUSTED or value.__name__ in within:
            return ("module", value.__name__)
        inside, within = vars(value), (*within, value.__name__)
        return ("module", value.__name__, [(a, _thing(inside[a], place, attributes, within)) for a in sorted(attributes) if a in inside])
    if isinstance(value, np.dtype):
        return ("dtype", value.str) if value.fields is None else _unknown()
    if isinstance(value, np.ufunc):
        name = str(value.__name__)
        return ("ufunc", name) if getattr(np, name, None) is value else _unknown()
    if callable(value):
        return _library(value)
    return _constant(value)


def _library(value: Any) -> tuple[Any, ...]:
    """A function or class of a library, by the name under which it is found there."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module.split(".")[0] not in TRUSTED:
        raise _Unknown
    try:
        found = operator.attrgetter(name)(sys.modules[module])
    except (KeyError, AttributeError):
        raise _Unknown from None
    return ("library", module, name) if found is value else _unknown()


def _unknown() -> tuple[Any, ...]:
    raise _Unknown
