import numpy as np
import pytest
from numba.core.typing.typeof import typeof

from s2sad.backend.signature import ArgumentError, numba_type, parse_types, type_of
from s2sad.lang.types import Array, Scalar


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "float"), (2, "int"), (True, "bool"), (np.float64(1), "float64"), (np.float32(1), "float32"), (np.int64(1), "int64"),
        (np.True_, "bool"),
        (np.ones(3), "float64[::1]"), (np.ones((2, 3)), "float64[:, ::1]"), (np.ones((2, 3), order="F"), "float64[::1, :]"),
        (np.ones((4, 6))[::2, ::2], "float64[:, :]"), (np.ones(6, np.float32)[::2], "float32[:]"), (np.arange(3, dtype=np.uint8), "uint8[::1]"),
    ],
)  # fmt: skip
def test_types_of_values(value, shown):
    found = type_of(value, "x")
    assert str(found) == shown
    assert numba_type(found) == typeof(value)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (1j, "complex"), ("a", "str"), (None, "NoneType"), (np.ones(2, np.float16), "float16"), (np.ones(2, ">f8"), ">f8"),
        (np.ones(2, np.longdouble), "longdouble|float128"), (np.ones(2, complex), "complex128"), (np.array([None]), "object"),
        (np.ma.ones(2), "MaskedArray"), ({}, "dict"),
    ],
)  # fmt: skip
def test_other_values_are_refused_with_their_type(value, named):
    with pytest.raises(ArgumentError, match=named) as e:
        type_of(value, "`x` of `f`")
    assert "`x` of `f`" in str(e.value)


def test_types_from_text():
    assert parse_types("f8[:], f8, i8,f4[:, :]") == (Array("float64", 1), Scalar("float64", True), Scalar("int64", True), Array("float32", 2))
    assert parse_types("float64, bool, int32[:], f8[::1, :]") == (
        Scalar("float64"),
        Scalar("bool", True),
        Array("int32", 1),
        Array("float64", 2, "F"),
    )


@pytest.mark.parametrize("text", ["spam", "f8[", "f8[x]", "f8[:, 3]", "c16", "f2[:]", "f8]", "O", "f8[:] x", "f8[::1, ::1]"])
def test_text_that_is_no_type(text):
    with pytest.raises(ArgumentError, match="is not a type"):
        parse_types(text)
