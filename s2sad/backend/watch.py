"""What a compiled function takes from outside its arguments: has any of it changed since?"""

from __future__ import annotations

import dis
import operator
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numba
import numpy as np

TRUSTED = ("numpy", "math", "builtins", "numba", "scipy", "s2sad")
_NO_CELL = object()


class Watch:
    """The functions, modules and constants that a function and its callees read, compared by identity.

    Numbers and arrays are left out: they become parameters, whose values are read at every call. Cheap enough for every call:
    one `itemgetter` a namespace. It watches some names too many (an attribute of one module that another module has too), never one too few.
    """

    def __init__(self, fn: types.FunctionType, given: Iterable[Any] = ()):
        """`given`: functions, and classes of objects, that are arguments."""
        self._spaces: dict[int, tuple[Mapping[str, Any], dict[str, Any], set[str]]] = {}
        self._cells: list[tuple[types.CellType, object]] = []
        self._functions: dict[int, types.FunctionType] = {}
        self.reached: list[Any] = []  # the functions besides `fn`, as the code names them
        self._follow(fn)
        for value in given:
            if isinstance(value, type):
                self._class(value)
            else:
                self._follow(value, given=True)
        self.functions = tuple(self._functions.values())  # all of them, `fn` first
        self._checks = [(space, *_getter(found), missing) for space, found, missing in self._spaces.values() if found or missing]
        self._codes = [(f, f.__code__) for f in self._functions.values()]
        self._defaults = [(f, f.__defaults__, f.__kwdefaults__) for f in self._functions.values() if f is not fn]  # its own are read at every call
        # whether all of it is still the same
        self.unchanged: Callable[[], bool] = self._all_same
        if len(self._codes) == 1 and not (self._checks or self._defaults or self._cells):
            (only, its_code), = self._codes
            self.unchanged = lambda: only.__code__ is its_code

    def _all_same(self) -> bool:
        same = operator.is_
        for space, get, want, missing in self._checks:
            try:
                if not all(map(same, get(space), want)):
                    return False
            except KeyError:
                return False
            if missing and not space.keys().isdisjoint(missing):
                return False
        for fn, code in self._codes:
            if fn.__code__ is not code:
                return False
        for fn, defaults, kwdefaults in self._defaults:
            if fn.__defaults__ is not defaults or fn.__kwdefaults__ is not kwdefaults:
                return False
        for cell, value in self._cells:
            if _content(cell) is not value:
                return False
        return True

    def _class(self, cls: type) -> None:
        """Watch the methods of a class."""
        for c in cls.__mro__:
            if c.__module__.split(".")[0] in TRUSTED or id(c) in self._spaces:
                continue
            methods = {n: m for n, v in vars(c).items() if (m := method(v)) is not None}
            self._spaces[id(c)] = vars(c), {n: vars(c)[n] for n in methods}, set()
            for m in methods.values():
                self._follow(m)

    def _follow(self, value: Any, given: bool = False) -> None:
        """Watch what a function reads, and the functions among it. What is captured by an argument (`given`) is part of that."""
        fn = plain_function(value)
        if fn is None or id(fn) in self._functions or fn.__module__ and fn.__module__.split(".")[0] in TRUSTED:
            return
        if self._functions:
            self.reached.append(value)
        self._functions[id(fn)] = fn
        names, attributes = code_names(fn.__code__)
        for cell in fn.__closure__ or () if not given else ():
            content = _content(cell)
            if not is_data(content):
                self._cells.append((cell, content))
                self._value(content, attributes)
        self._names(fn.__globals__, names, attributes)

    def _names(self, space: Mapping[str, Any], names: set[str], attributes: set[str]) -> None:
        """Watch the names of a namespace."""
        _, found, missing = self._spaces.setdefault(id(space), (space, {}, set()))
        for name in sorted(names):
            if name not in space:
                missing.add(name)
            elif name not in found and not is_data(space[name]):
                found[name] = space[name]
                self._value(space[name], attributes)

    def _value(self, value: Any, attributes: set[str]) -> None:
        """Watch what a value brings in: the code of a function, the attributes of a module."""
        if isinstance(value, types.ModuleType):
            if value.__name__.split(".")[0] not in TRUSTED:
                self._names(vars(value), {n for n in attributes if n in vars(value)}, attributes)
        else:
            self._follow(value)


def method(value: Any) -> types.FunctionType | None:
    """The function, written in a file, of something in the namespace of a class."""
    fn = getattr(value, "fget", None) if isinstance(value, property) else getattr(value, "__func__", value)
    return fn if isinstance(fn, types.FunctionType) and not fn.__code__.co_filename.startswith("<") else None


def plain_function(value: Any) -> types.FunctionType | None:
    """The Python function that calling a value runs: of a function, a Numba dispatcher or a function of ours; else None."""
    value = getattr(value, "__s2sad_function__", value)
    if isinstance(value, numba.core.registry.CPUDispatcher):
        value = value.py_func
    return value if isinstance(value, types.FunctionType) else None


def is_data(value: Any) -> bool:
    """Whether a global becomes a parameter that is read at every call."""
    return isinstance(value, (float, int, np.number, np.ndarray)) and not isinstance(value, bool)


def code_names(code: types.CodeType) -> tuple[set[str], set[str]]:
    """The globals that code reads, and all its names (among them the attributes)."""
    read = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    mentioned = set(code.co_names)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            more, names = code_names(c)
            read |= more
            mentioned |= names
    return read, mentioned


def _content(cell: types.CellType) -> object:
    """What a closure's cell holds."""
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return _NO_CELL


def _getter(found: dict[str, Any]) -> tuple[Callable[[Any], tuple[Any, ...]], tuple[Any, ...]]:
    """A function that reads the names in a namespace, and what it should give."""
    names = list(found)
    if not names:
        return (lambda space: ()), ()
    if len(names) == 1:
        return (lambda space: (space[names[0]],)), tuple(found.values())
    return operator.itemgetter(*names), tuple(found.values())
