"""glibc's vector forms of elementary functions: which there are, and their symbols made known to Numba."""

from __future__ import annotations

import ctypes
import platform
import sys
from typing import Any

import llvmlite.binding as llvm

LIBRARY = "libmvec.so.1"
#: Functions of libm, with their number of arguments.
FUNCTIONS = {**dict.fromkeys("exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split(), 1),
             "pow": 2, "atan2": 2}
#: (letter of libmvec's names, feature that the processor must have, bytes of a vector), the first that fits is taken.
WIDTHS = {"x86_64": (("d", "+avx2", 32), ("b", "", 16)), "aarch64": (("n", "", 16),)}


def _load() -> Any:
    """The library; its symbols are known to Numba from now on, also to functions that Numba's cache holds."""
    if sys.platform != "linux" or platform.machine() not in WIDTHS:
        return None
    try:
        found = ctypes.CDLL(LIBRARY)
        llvm.load_library_permanently(LIBRARY)
    except (OSError, RuntimeError):
        return None
    return found


_LIBRARY = _load()


def variant(name: str, arity: int, bits: int, features: str) -> tuple[str, int] | None:
    """The symbol of the vector form of a function of libm, and how many numbers it takes; None if there is none."""
    for letter, feature, size in WIDTHS.get(platform.machine(), ()):
        lanes = size * 8 // bits
        symbol = f"_ZGV{letter}N{lanes}{'v' * arity}_{name}{'f' if bits == 32 else ''}"
        if feature in features.split(",") + [""] and hasattr(_LIBRARY, symbol):
            return symbol, lanes
    return None


def available() -> tuple[str, ...]:
    """The vector forms that the library has; compiled code depends on them."""
    widths = WIDTHS.get(platform.machine(), ())
    return tuple(f"{n}{bits}{letter}" for n, arity in FUNCTIONS.items() for bits in (32, 64) for letter, feature, _ in widths
                 if variant(n, arity, bits, feature) is not None)
