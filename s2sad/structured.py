"""Calls with structured arguments: their leaves are the arguments of a function made for that structure, whose gradients are put together again."""

from __future__ import annotations

import enum
import functools
import inspect
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad.backend.signature import ArgumentError, type_of
from s2sad.lang.structure import (
    Known,
    Leaf,
    Record,
    Structure,
    StructureError,
    attributes,
    describe_all,
    is_list_of_numbers,
    leaves,
    rebuild,
    with_types,
)

_ATOMS = (float, int, bool, np.generic, np.ndarray, np.random.Generator)


def is_ordinary(value: Any) -> bool:
    """Whether an argument is a value of the program as it is: a number, an array, or a list or tuple of numbers, which becomes an array.

    >>> [is_ordinary(v) for v in (1.0, np.ones(2), [1.0, 2.0], [[1.0], [2.0]])]
    [True, True, True, True]
    >>> [is_ordinary(v) for v in (None, "rk4", [np.ones(2)], (1.0, None), {}, [])]
    [False, False, False, False, False, True]
    """
    return isinstance(value, _ATOMS) and not isinstance(value, enum.Enum) or type(value) in (list, tuple) and _numbers(value)


def _numbers(value: Any) -> bool:
    """Whether a list or tuple has nothing but numbers, also in lists and tuples inside, of equal lengths."""
    if all(isinstance(v, (float, int, np.number, np.bool_)) for v in value):
        return True
    if not all(type(v) in (list, tuple) and _numbers(v) for v in value):
        return False
    return len({np.shape(v) for v in value}) == 1


@dataclass(frozen=True)
class Signature:
    """How the arguments of a call become the parameters: of a method `fixed` is the object, of a partial the arguments that it has."""

    fn: types.FunctionType
    fixed: tuple[Any, ...] = ()
    preset: Mapping[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def whole(self) -> inspect.Signature:
        """The signature of the function under it."""
        return inspect.signature(self.fn)

    @property
    def params(self) -> tuple[str, ...]:
        """All parameters."""
        return tuple(self.whole.parameters)

    @property
    def positional(self) -> tuple[str, ...]:
        """The parameters that positions in `wrt` mean: those that a call can give."""
        return self.params[len(self.fixed) :]

    @functools.cached_property
    def starred(self) -> tuple[str, ...]:
        """The parameters that take the rest of the arguments."""
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return tuple(p.name for p in self.whole.parameters.values() if p.kind in kinds)

    @functools.cached_property
    def plain(self) -> bool:
        """Whether the parameters are no more than those of an ordinary function."""
        return not (self.fixed or self.preset or self.starred)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Parameter -> value; raises Python's own TypeError for arguments that do not fit."""
        bound = self.whole.bind(*self.fixed, *args, **{**self.preset, **kwargs})
        bound.apply_defaults()
        return bound.arguments


@dataclass(frozen=True)
class Flat:
    """The arguments of one call, taken apart."""

    structures: Mapping[str, Structure]
    names: tuple[str, ...]
    values: tuple[Any, ...]
    converted: bool = False  # whether lists have become arrays

    @functools.cached_property
    def key(self) -> tuple[Any, ...]:
        """What a function for these arguments is made for."""
        return tuple(self.structures.items())


def flatten(values: Mapping[str, Any], title: str, starred: Collection[str] = (), typed: bool = False) -> Flat:
    """Take arguments apart; `starred` parameters stay tuples and dicts. Raises ArgumentError with the path to what is no number.

    `typed`: the types of the leaves and the values of flags are part of the structures (the types of lists are not: they become arrays).
    """
    flags = {n: Known(v) for n, v in values.items() if typed and type(v) is bool}
    parts = {n: _array(v) if type(v) in (list, tuple) and n not in starred and is_ordinary(v) else v for n, v in values.items() if n not in flags}
    try:
        structures, found = describe_all(parts.items())
    except StructureError as e:
        raise ArgumentError(str(e).replace("{of}", f" of `{title}`")) from None
    if typed:
        types = {n: type_of(v[()] if type(v) is np.ndarray and not v.ndim else v, f"`{n}` of `{title}`") for n, v in found if type(v) is not list}
        types = {n: t for n, t in types.items() if n not in values or parts[n] is values[n]}
        structures = {n: flags[n] if n in flags else with_types(structures[n], types) for n in values}
    converted = any(type(v) in (list, tuple) for v in values.values())
    return Flat(structures, tuple(n for n, _ in found), tuple(_leaf(v) for _, v in found), converted)


def _array(value: Any) -> Any:
    return np.array(value, dtype=np.float64)


def _leaf(value: Any) -> Any:
    """A list of integers inside of an argument stays one of integers."""
    return np.array(value, dtype=np.int64) if is_list_of_numbers(value) and all(type(v) is int for v in value) else value


def differentiable_leaves(flat: Flat, wrt: Iterable[str], title: str, must: bool) -> tuple[str, ...]:
    """The leaves that carry the derivative of the parameters in `wrt`; raises ArgumentError for a parameter without any, if it must have one."""
    by_name = dict(zip(flat.names, flat.values, strict=True))
    out: list[str] = []
    for w in wrt:
        structure = flat.structures[w]
        if isinstance(structure, Leaf):
            out.append(structure.name)
            continue
        found = [leaf.name for leaf in leaves(structure, data_only=True) if _is_float(by_name[leaf.name])]
        if not found and must:
            raise ArgumentError(f"`{w}` of `{title}` is {_described(structure)}; only floats have derivatives: leave it out of wrt")
        out += found
    return tuple(out)


def _is_float(value: Any) -> bool:
    return isinstance(value, float) or is_list_of_numbers(value) or getattr(getattr(value, "dtype", None), "kind", "") == "f"


def _described(structure: Structure) -> str:
    if isinstance(structure, Record) and structure.kind not in ("method", "partial"):
        return f"a {structure.cls.__name__} without a float"
    value = rebuild(structure, lambda leaf: None)
    if isinstance(value, types.FunctionType):
        return f"the function {value.__name__}"
    return f"{value!r}" if value is None or isinstance(value, str) else "no float"


def gradient(flat: Flat, parameter: str, found: Mapping[str, Any]) -> Any:
    """The gradient with respect to a parameter, of its structure: None where there is no derivative."""
    structure = flat.structures[parameter]
    by_name = dict(zip(flat.names, flat.values, strict=True))

    def leaf(at: Leaf) -> Any:
        value = found.get(at.name)
        return value.tolist() if type(by_name[at.name]) is list and value is not None else value

    return rebuild(structure, leaf)


def tangents(flat: Flat, parameter: str, given: Any, title: str) -> dict[str, Any]:
    """Leaf -> tangent, from a tangent of the structure of its parameter; None anywhere in it stands for zero."""
    out: dict[str, Any] = {}

    def walk(structure: Structure, value: Any, path: str) -> None:
        if value is None:
            return
        if isinstance(structure, Leaf):
            out[structure.name] = value
        elif isinstance(structure, Record) and structure.kind not in ("method", "partial"):
            for key, item, inner in zip(structure.keys, structure.items, _parts(structure, value, path), strict=True):
                walk(item, inner, f"{path}.{key}" if isinstance(key, str) and structure.kind != "dict" else f"{path}[{key!r}]")

    def _parts(structure: Record, value: Any, path: str) -> Sequence[Any]:
        if structure.kind == "dict" and isinstance(value, dict) and value.keys() <= set(structure.keys):
            return [value.get(k) for k in structure.keys]
        if structure.kind in ("tuple", "list", "namedtuple") and isinstance(value, (tuple, list)) and len(value) == len(structure.keys):
            return value
        if structure.kind == "object" and isinstance(value, structure.cls):
            has = attributes(value)
            return [has.get(k) for k in structure.keys]
        raise ArgumentError(f"the tangent of `{path}` of `{title}` is no {structure.cls.__name__} with the parts of the argument")

    walk(flat.structures[parameter], given, parameter)
    return out


def zero(value: Any) -> Any:
    """The tangent of what does not move."""
    return np.zeros_like(np.asarray(value, dtype=None if not isinstance(value, list) else np.float64)) if np.ndim(value) else type(value)(0)


def put_together(result: Structure | None, value: Any) -> Any:
    """The result of a function, of its structure."""
    if result is None:
        return value
    found = iter(value if isinstance(value, tuple) else (value,))
    return rebuild(result, lambda leaf: next(found))


def target(f: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function that calling `f` runs, and the arguments that it gives itself: of methods, partials and callable objects."""
    if isinstance(f, functools.partial):
        fn, fixed, preset = target(f.func)
        return fn, (*fixed, *f.args), {**preset, **f.keywords}
    if isinstance(f, types.MethodType):
        fn, fixed, preset = target(f.__func__)
        return fn, (f.__self__, *fixed), preset
    call: Any = getattr(type(f), "__call__", None)  # noqa: B004 (what it is, not whether there is one)
    if isinstance(call, types.FunctionType) and not hasattr(f, "__s2sad_function__") and not hasattr(f, "py_func"):
        return call, (f,), {}
    return f, (), {}
