"""Reading functions."""

import functools
import linecache

import gast
import pytest
from numba import njit

from s2sad.errors import SourceError
from s2sad.lang.source import read, unwrap
from s2sad.lang.tree import SourceMap


def plain(x):
    """Text that is
  less indented than the code."""
    return x * 2.0


def decorate(f):
    @functools.wraps(f)
    def inner(*args):
        return f(*args)

    return inner


class Holder:
    @staticmethod
    def held(x):
        return x + 1.0


def test_positions_are_those_of_the_file():
    node, source = read(Holder.held, SourceMap())
    returned = node.body[0]
    place = source.place(returned.lineno)
    assert place.line == Holder.held.__code__.co_firstlineno + 2
    assert place.text[returned.col_offset : returned.end_col_offset] == "return x + 1.0"
    assert not node.decorator_list


def test_two_functions_have_lines_of_their_own():
    first, source = read(plain, SourceMap())
    second, source = read(Holder.held, source)
    assert source.place(first.lineno).function == "plain"
    assert source.place(second.lineno).function == "held"


def test_unwraps():
    assert unwrap(njit(plain)) is plain
    assert unwrap(decorate(plain)) is not plain


def test_wrapper_is_read_itself():
    node, _ = read(decorate(plain), SourceMap())
    assert node.name == "inner" and node.args.vararg is not None


def test_closure():
    y = 2.0

    def inner(x):
        return x * y

    node, _ = read(inner, SourceMap())
    assert isinstance(node, gast.FunctionDef) and node.name == "inner"


def test_no_source():
    names = {}
    exec("def typed(x):\n    return x", names)
    with pytest.raises(SourceError, match="cannot be read"):
        read(names["typed"], SourceMap())
    with pytest.raises(SourceError, match="not a Python function"):
        read(len, SourceMap())


def test_changed_file(tmp_path):
    path = tmp_path / "model.py"
    path.write_text("def f(x):\n    return x * x\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    read(names["f"], SourceMap())
    path.write_text("def f(x):\n    return x + x\n")
    linecache.clearcache()
    with pytest.raises(SourceError, match="has changed"):
        read(names["f"], SourceMap())


def asserting(x):
    assert x > 0.0, "not positive"
    return x * x


def test_a_function_whose_asserts_pytest_has_rewritten_is_read():
    assert any(n.startswith("@py") for n in asserting.__code__.co_varnames)
    node, _ = read(asserting, SourceMap())
    assert node.name == "asserting"
