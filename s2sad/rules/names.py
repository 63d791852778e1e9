"""Canonical names of library objects."""

from __future__ import annotations

import builtins
import math
from functools import cache
from typing import Any

import numpy as np

from s2sad import runtime
from s2sad.rules.forms import RUNTIME, TABLE

# objects of their own that mean the same as another (np.absolute *is* np.abs, and needs no entry)
ALIASES = {
    "np.amax": "np.max",
    "np.amin": "np.min",
    "np.around": "np.round",
    "np.permute_dims": "np.transpose",
    "np.concat": "np.concatenate",
}
METHODS = ("copy", "astype")


def known(name: str) -> bool:
    """Whether there is a rule for a canonical name."""
    return name in TABLE


def resolve(name: str) -> Any:
    """The object that a canonical name means."""
    head, _, rest = name.partition(".")
    if name in RUNTIME:
        return getattr(runtime, name)
    obj: Any = {"np": np, "math": math}.get(head) if rest else getattr(builtins, head)
    for part in rest.split(".") if rest else ():
        obj = getattr(obj, part)
    return obj


@cache
def _objects() -> dict[int, tuple[Any, str]]:
    found: dict[int, tuple[Any, str]] = {}
    for name in TABLE:
        if name not in METHODS:
            found.setdefault(id(resolve(name)), (resolve(name), name))
    for alias, name in ALIASES.items():
        obj = getattr(np, alias.removeprefix("np."), None)
        if obj is not None:
            found.setdefault(id(obj), (obj, name))
    return found


def canonical(obj: object) -> str | None:
    """The canonical name ("np.sin", "math.exp", "abs") of a library object that has a rule, else None."""
    entry = _objects().get(id(obj))
    return entry[1] if entry is not None and entry[0] is obj else None
