"""Arguments and results that are put together of numbers: tuples, lists, dicts, objects, functions.

`describe` takes a value apart into its *structure*, which the program is compiled for, and its *leaves*, the numbers and arrays that become
parameters; `rebuild` puts values together again. Structures are hashable, and equal if a program compiled for the one serves the other.

>>> structure, leaves = describe("p", {"rate": 0.5, "method": "euler", "start": (1.0, 2.0)})
>>> leaves
[('p_rate', 0.5), ('p_start_0', 1.0), ('p_start_1', 2.0)]
>>> structure == describe("p", {"rate": 0.7, "method": "euler", "start": (3.0, 4.0)})[0]
True
>>> structure == describe("p", {"rate": 0.7, "method": "heun", "start": (3.0, 4.0)})[0]
False
>>> rebuild(structure, lambda leaf: leaf.name)
{'rate': 'p_rate', 'method': 'euler', 'start': ('p_start_0', 'p_start_1')}
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
import types
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from s2sad.lang.types import Type

#: A value with more leaves or more levels than this is data, and belongs into arrays.
LEAVES, DEPTH = 500, 16


@dataclass(frozen=True)
class Leaf:
    """A value of the running program: the parameter `name` of the flattened function. `path` is how the user would write it.

    `type` is its type, where what the function does depends on that when compiling.
    """

    name: str
    path: str = field(default="", compare=False)
    type: Type | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Known:
    """A value that the program is compiled for: None, a text, a type, a member of an enumeration, a module, a function of a library.

    >>> Known(1) == Known(1.0), Known("a") == Known("a"), Known(np.sin) == Known(np.cos)
    (False, True, False)
    """

    value: Any

    def _key(self) -> tuple[Any, ...]:
        v = self.value
        return (type(v), v) if isinstance(v, _BY_VALUE) and not isinstance(v, enum.Enum) else (type(v), id(v))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True)
class Record:
    """A value of several parts.

    `kind` is "tuple", "list", "dict", "namedtuple" or "object" (a dataclass or plain object; the keys are its attributes), "partial" (keys "func",
    positions, keywords) or "method" (keys "func" and "self"). `shared`: the same list, dict or object is reached in a second way, so that
    a change of this one would have to show there.
    """

    kind: str
    cls: type
    keys: tuple[Any, ...]
    items: tuple[Structure, ...]
    shared: bool = False
    _types: tuple[type, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_types", tuple(map(type, self.keys)))  # 1, 1.0 and True are equal as keys, and other keys in a result

    def get(self, key: Any) -> Structure | None:
        """A part by its key."""
        return self.items[self.keys.index(key)] if key in self.keys else None


@dataclass(frozen=True)
class Function:
    """A function of the user: its code, and the structures of what it has captured and of its defaults.

    `fn` stands for all functions of that code: a function made anew at every call is the same structure if what it captures is. The values that it
    holds are those of one of them, so they are to be taken from `free` and `defaults`.
    """

    fn: types.FunctionType = field(compare=False)
    code: int  # the identity of the code, which `fn` keeps alive
    space: int  # the identity of its globals
    free: tuple[tuple[str, Structure], ...] = ()
    defaults: tuple[tuple[str, Structure], ...] = ()


Structure = Leaf | Known | Record | Function

_BY_VALUE = (type(None), str, bytes, bool, int, float, np.dtype)
_NUMBERS = (bool, int, float, np.generic, np.ndarray, np.random.Generator)


class StructureError(TypeError):
    """A value that cannot be taken apart; the text names it, with `{of}` where the name of the function may stand."""


def describe(name: str, value: Any, taken: Iterable[str] = ()) -> tuple[Structure, list[tuple[str, Any]]]:
    """The structure of a value, and its leaves: their names, and their values.

    Raises:
        StructureError: for what is no number and not put together of numbers; the message has the path that leads there.

    >>> describe("x", 2.0)
    (Leaf(name='x', path='x'), [('x', 2.0)])
    >>> describe("t", ({"a": 1.0}, print))[0].items[1]
    Known(value=<built-in function print>)
    """
    structures, leaves = describe_all([(name, value)], taken)
    return structures[name], leaves


def describe_all(values: Iterable[tuple[str, Any]], taken: Iterable[str] = ()) -> tuple[dict[str, Structure], list[tuple[str, Any]]]:
    """The structures of several values (arguments of one call), and the leaves of all of them in order."""
    values = list(values)
    walk = _Walk({*taken, *(n for n, _ in values)})
    out = {n: walk.visit(v, n, n, 0, top=True) for n, v in values}
    twice = {k for k, n in walk.times.items() if n > 1}
    if twice:
        out = {n: _mark(s, walk.objects, twice) for n, s in out.items()}
    return out, walk.leaves


class _Walk:
    """Takes values apart, each name once."""

    def __init__(self, names: set[str]):
        self.names = names
        self.leaves: list[tuple[str, Any]] = []
        self.open: set[int] = set()
        self.times: Counter[int] = Counter()  # lists, dicts and objects -> how often they are met
        self.objects: dict[int, int] = {}  # id of a record -> id of the list, dict or object
        self.kept: list[Any] = []  # what the ids belong to

    def visit(self, value: Any, name: str, path: str, depth: int, top: bool = False) -> Structure:
        if isinstance(value, _NUMBERS) and not isinstance(value, enum.Enum) or is_list_of_numbers(value):
            if len(self.leaves) >= LEAVES:
                raise StructureError(f"`{path}`{{of}} is one of more than {LEAVES} numbers and arrays; put them into arrays")
            wish = name if top else self.fresh(name)
            self.leaves.append((wish, value))
            return Leaf(wish, path)
        if depth > DEPTH:
            raise StructureError(f"`{path}`{{of}} is nested more than {DEPTH} levels deep")
        if id(value) in self.open:
            raise StructureError(f"`{path}`{{of}} is part of itself")
        self.open.add(id(value))
        try:
            return self.parts(value, name, path, depth)
        finally:
            self.open.discard(id(value))

    def fresh(self, wish: str) -> str:
        got, k = wish, 2
        while got in self.names:
            got, k = f"{wish}_{k}", k + 1
        self.names.add(got)
        return got

    def parts(self, value: Any, name: str, path: str, depth: int) -> Structure:
        """A value that is no number."""
        cls = type(value)
        if value is None or isinstance(value, (str, bytes, type, np.dtype, enum.Enum, types.ModuleType, np.ufunc)):
            return Known(value)
        if isinstance(value, types.FunctionType):
            return self.function(value, name, path, depth)
        if isinstance(value, functools.partial):
            keys = ("func", *range(len(value.args)), *value.keywords)
            return self.record("partial", cls, keys, (value.func, *value.args, *value.keywords.values()), value, name, path, depth)
        if isinstance(value, types.MethodType):
            return self.record("method", cls, ("func", "self"), (value.__func__, value.__self__), value, name, path, depth)
        if cls is tuple or cls is list:
            return self.record(cls.__name__, cls, tuple(range(len(value))), value, value, name, path, depth)
        if is_namedtuple(cls):
            return self.record("namedtuple", cls, tuple(cls._fields), value, value, name, path, depth)
        if cls is dict or cls is OrderedDict:
            for k in value:
                if not is_key(k):
                    raise StructureError(f"`{path}`{{of}} has the key {k!r}; keys of a dict argument are texts, integers and tuples of them")
            return self.record("dict", cls, tuple(value), tuple(value.values()), value, name, path, depth)
        if hasattr(value, "__s2sad_function__") or callable(value) and not _is_object(cls):
            return Known(value)  # a function of ours or of a library, a Numba dispatcher
        if not _is_object(cls) and cls is not types.SimpleNamespace:
            shown = cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
            raise StructureError(f"`{path}`{{of}} is {_article(shown)} {shown}; pass numbers, arrays, or objects, tuples and dicts of them")
        found = attributes(value)
        return self.record("object", cls, tuple(found), tuple(found.values()), value, name, path, depth)

    def record(
        self, kind: str, cls: type, keys: tuple[Any, ...], items: Iterable[Any], value: Any, name: str, path: str, depth: int
    ) -> Record:
        parts: list[Structure] = []
        for k, v in zip(keys, items, strict=True):
            if type(v) is bool and kind not in ("tuple", "list"):
                parts.append(Known(v))  # a choice, not data
                continue
            parts.append(self.visit(v, f"{name}_{_word(k)}", f"{path}{step(kind, k)}", depth + 1))
        new = Record(kind, cls, keys, tuple(parts))
        if kind in ("list", "dict", "object"):
            self.times[id(value)] += 1
            self.objects[id(new)] = id(value)
            self.kept += [new, value]
        return new

    def function(self, fn: types.FunctionType, name: str, path: str, depth: int) -> Structure:
        """A function, with what it has captured."""
        free = []
        for n, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
            try:
                content = cell.cell_contents
            except ValueError:
                raise StructureError(f"`{path}`{{of}} uses `{n}`, which has no value yet") from None
            if content is fn:
                raise StructureError(f"`{path}`{{of}} is a function that calls itself")
            free.append((n, self.captured(content, f"{name}_{n}", f"{path}.{n}", depth + 1)))
        code = fn.__code__
        positional = code.co_varnames[: code.co_argcount]
        given = dict(zip(positional[len(positional) - len(fn.__defaults__ or ()) :], fn.__defaults__ or (), strict=True)) | (fn.__kwdefaults__ or {})
        defaults = [(n, self.captured(v, f"{name}_{n}", f"{path}.{n}", depth + 1)) for n, v in given.items()]
        return Function(fn, id(code), id(fn.__globals__), tuple(free), tuple(defaults))

    def captured(self, value: Any, name: str, path: str, depth: int) -> Structure:
        """What a function has captured."""
        return Known(value) if type(value) is bool else self.visit(value, name, path, depth)


def _mark(s: Structure, objects: dict[int, int], twice: set[int]) -> Structure:
    """The structure with what is met twice marked as shared."""
    if isinstance(s, Record):
        return dataclasses.replace(s, items=tuple(_mark(x, objects, twice) for x in s.items), shared=objects.get(id(s)) in twice)
    if isinstance(s, Function):
        both = (tuple((n, _mark(x, objects, twice)) for n, x in pairs) for pairs in (s.free, s.defaults))
        return Function(s.fn, s.code, s.space, *both)
    return s


def rebuild(structure: Structure, leaf: Callable[[Leaf], Any]) -> Any:
    """A value of a structure, of what `leaf` gives for its leaves (asked in order); objects are made without calling `__init__`.

    >>> import dataclasses
    >>> @dataclasses.dataclass(frozen=True)
    ... class Spring:
    ...     stiffness: float
    ...     name: str
    >>> rebuild(describe("s", Spring(3.0, "left"))[0], lambda leaf: 0.5)
    Spring(stiffness=0.5, name='left')
    """
    if isinstance(structure, Leaf):
        return leaf(structure)
    if isinstance(structure, Known):
        return structure.value
    if isinstance(structure, Function):
        return structure.fn
    items = [rebuild(s, leaf) for s in structure.items]
    cls: Any = structure.cls
    if structure.kind in ("tuple", "namedtuple"):
        return tuple.__new__(cls, items)
    if structure.kind == "list":
        return items
    if structure.kind == "dict":
        return cls(zip(structure.keys, items, strict=True))
    if structure.kind == "object":
        made = cls() if cls is types.SimpleNamespace else object.__new__(cls)
        for key, item in zip(structure.keys, items, strict=True):
            object.__setattr__(made, key, item)
        return made
    if structure.kind == "method":
        return types.MethodType(items[0], items[1])
    count = 1 + sum(isinstance(k, int) for k in structure.keys)
    func, *args = items[:count]
    return functools.partial(func, *args, **dict(zip(structure.keys[count:], items[count:], strict=True)))


def with_types(structure: Structure, types: Mapping[str, Type]) -> Structure:
    """The structure with the types of leaves."""
    if isinstance(structure, Leaf):
        return dataclasses.replace(structure, type=types.get(structure.name))
    if isinstance(structure, Record):
        return dataclasses.replace(structure, items=tuple(with_types(s, types) for s in structure.items))
    if isinstance(structure, Function):
        both = (tuple((n, with_types(s, types)) for n, s in pairs) for pairs in (structure.free, structure.defaults))
        return Function(structure.fn, structure.code, structure.space, *both)
    return structure


def leaves(structure: Structure, data_only: bool = False) -> Iterator[Leaf]:
    """The leaves in order; `data_only` leaves out what functions have captured."""
    if isinstance(structure, Leaf):
        yield structure
    elif isinstance(structure, Record) and not (data_only and structure.kind in ("partial", "method")):
        for s in structure.items:
            yield from leaves(s, data_only)
    elif isinstance(structure, Function) and not data_only:
        for _, s in (*structure.free, *structure.defaults):
            yield from leaves(s)


def functions(structure: Structure) -> Iterator[Any]:
    """The functions, dispatchers and classes in a structure, those of captured values included."""
    if isinstance(structure, Known):
        if callable(structure.value):
            yield structure.value
    elif isinstance(structure, Record):
        if structure.kind == "object":
            yield structure.cls
        for s in structure.items:
            yield from functions(s)
    elif isinstance(structure, Function):
        yield structure.fn
        for _, s in (*structure.free, *structure.defaults):
            yield from functions(s)


def is_list_of_numbers(value: Any) -> bool:
    """Whether this is a list of Python numbers, which is one array in a program."""
    return type(value) is list and bool(value) and all(type(v) in (float, int) for v in value)


def is_namedtuple(cls: type) -> bool:
    """Whether a class was made by `collections.namedtuple` or `typing.NamedTuple`.

    >>> is_namedtuple(tuple)
    False
    """
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple) and cls is not tuple


def attributes(value: Any) -> dict[str, Any]:
    """The attributes that belong to an object itself: those of `__dict__` and of `__slots__`; no properties, methods or class attributes."""
    found = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = vars(cls).get("__slots__", ())
        for n in (slots,) if isinstance(slots, str) else slots:
            name = f"_{cls.__name__.lstrip('_')}{n}" if n.startswith("__") and not n.endswith("__") else n
            if n not in ("__dict__", "__weakref__") and hasattr(value, name):
                found[name] = getattr(value, name)
    return found


def _is_object(cls: type) -> bool:
    """Whether the objects of a class are all attributes: it is written in Python, and is no kind of tuple, list or the like."""
    found = _plain.get(cls)
    if found is None:
        try:
            object.__new__(cls)
            found = cls is not object
        except TypeError:  # Python knows that this would be no whole object
            found = False
        _plain[cls] = found
    return found


_plain: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def is_key(k: Any) -> bool:
    """Whether a dict with such a key is a structure."""
    return all(map(is_key, k)) if type(k) is tuple else k is None or isinstance(k, (str, bool, int, enum.Enum))


def step(kind: str, key: Any) -> str:
    """How a part is written."""
    if kind in ("namedtuple", "object", "method", "partial") and isinstance(key, str):
        return f".{key}"
    return f"[{key.__class__.__name__}.{key.name}]" if isinstance(key, enum.Enum) else f'["{key}"]' if isinstance(key, str) else f"[{key!r}]"


@functools.lru_cache(maxsize=4096, typed=True)
def _word(key: Any) -> str:
    """A key as part of a name."""
    text = key.name if isinstance(key, enum.Enum) else "_".join(map(_word, key)) if isinstance(key, tuple) else str(key)
    word = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "item"
    return f"{word}_" if iskeyword(word) else word


def _article(noun: str) -> str:
    return "an" if noun[:1].lower() in "aeiou" else "a"
