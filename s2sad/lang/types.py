"""Types of the values in a program being compiled, in NumPy's terms."""

from __future__ import annotations

from dataclasses import dataclass

FLOATS = ("float64", "float32")


@dataclass(frozen=True)
class Scalar:
    """A number. `weak` means a Python bool, int or float; otherwise a NumPy scalar.

    >>> str(Scalar("float64", weak=True)), str(Scalar("float32"))
    ('float', 'float32')
    """

    dtype: str
    weak: bool = False

    def __str__(self) -> str:
        return {"float64": "float", "int64": "int", "bool": "bool"}.get(self.dtype, self.dtype) if self.weak else self.dtype


@dataclass(frozen=True)
class Array:
    """An array. `layout` is "C", "F" or "A" (any strides); `ones` are the axes that have length 1 by construction.

    `weak`: it holds a list of Python numbers, so its elements are weak.

    >>> str(Array("float64", 2)), str(Array("float64", 2, "A"))
    ('float64[:, ::1]', 'float64[:, :]')
    """

    dtype: str
    ndim: int
    layout: str = "C"
    ones: frozenset[int] = frozenset()
    weak: bool = False

    def __str__(self) -> str:
        axes = [":"] * self.ndim
        if self.ndim and self.layout in "CF":
            axes[-1 if self.layout == "C" else 0] = "::1"
        return f"{self.dtype}[{', '.join(axes)}]"


@dataclass(frozen=True)
class Tuple:
    """A tuple, for example a shape."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


@dataclass(frozen=True)
class List:
    """A list of values of one type; None before anything is known of them. `transforms.lists` makes arrays of them."""

    item: Type | None = None

    def __str__(self) -> str:
        return f"list of {self.item}" if self.item is not None else "list"


@dataclass(frozen=True)
class Generator:
    """A `np.random.Generator`."""

    def __str__(self) -> str:
        return "Generator"


@dataclass(frozen=True)
class Static:
    """A value known when compiling: None, a string, a dtype."""

    value: object

    def __str__(self) -> str:
        return repr(self.value)


Type = Scalar | Array | Tuple | List | Generator | Static

WEAK_FLOAT = Scalar("float64", weak=True)
WEAK_INT = Scalar("int64", weak=True)
WEAK_BOOL = Scalar("bool", weak=True)


def is_float(t: Type | None) -> bool:
    """Whether values of this type can carry a derivative."""
    return isinstance(t, (Scalar, Array)) and t.dtype in FLOATS


def is_array(t: Type | None) -> bool:
    """Whether this is an array type."""
    return isinstance(t, Array)


def is_int(t: Type | None) -> bool:
    """Whether this is a scalar integer (or bool) type."""
    return isinstance(t, Scalar) and t.dtype.startswith(("int", "uint", "bool"))
