"""From a function object to its syntax tree, with virtual line numbers and the user's columns."""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import tokenize
import types
from functools import lru_cache
from typing import Any

import gast
from numba.core.registry import CPUDispatcher

from s2sad.errors import Problem, SourceError
from s2sad.lang.tree import Place, SourceMap


def unwrap(obj: Any) -> types.FunctionType:
    """The plain Python function under Numba dispatchers and the objects of this package.

    A function made by a decorator (`functools.wraps`) is that function, not the one under it: it may give something else.
    """
    while not isinstance(obj, types.FunctionType):
        inner = obj.py_func if isinstance(obj, CPUDispatcher) else getattr(obj, "__s2sad_function__", None)
        if inner is None:
            break
        obj = inner
    if not isinstance(obj, types.FunctionType):
        kind = type(obj).__name__
        raise SourceError(Problem("S2S100", f"{obj!r} is not a Python function but a {kind}, it has no source", instead="def f(x):\n    return ..."))
    return obj


def name_of(fn: Any) -> str:
    """The name of a function in emitted text.

    >>> name_of(name_of), name_of(lambda x: x)
    ('name_of', 'function')
    """
    name = unwrap(fn).__name__
    return name if name.isidentifier() else "function"


def read(fn: Any, source: SourceMap) -> tuple[gast.FunctionDef, SourceMap]:
    """The tree of a function without its decorators, in virtual lines, and the source map with its lines added.

    Raises SourceError where there is no text (exec, interactive input) and where the file has changed meanwhile.
    """
    fn = unwrap(fn)
    code = fn.__code__
    title = fn.__qualname__
    if code.co_name == "<lambda>":
        return _read_lambda(fn, source)
    try:
        whole, first = _file_lines(code), code.co_firstlineno
        lines = inspect.getblock(whole[first - 1 :])
        file_text = "".join(whole)
    except (OSError, IndexError, tokenize.TokenError):
        _fail(fn, "S2S100", f"The source of `{title}` cannot be read", f"# in a file, here model.py\ndef {fn.__name__}(...):",
              "It was made by exec or typed at a prompt that keeps no history of its text.")
    if not lines:
        _changed(fn)
    text = "".join(lines)
    indented = lines[0][:1].isspace()
    # a head line instead of dedenting: columns stay, and so do strings over several lines
    prefix = "if True:\n" if indented else ""
    try:
        tree: Any = gast.parse(prefix + text).body[0]
    except SyntaxError:
        _changed(fn)
    node = tree.body[0] if indented else tree
    if isinstance(node, gast.AsyncFunctionDef):
        _fail(fn, "S2S110", f"`{title}` is an async function", f"def {fn.__name__}(...):")
    if not isinstance(node, gast.FunctionDef) or node.name != fn.__name__ and node.name != code.co_name:
        _changed(fn)
    if not _same_code(fn, file_text):
        _changed(fn)
    node.decorator_list = []
    source, start = source.add(code.co_filename, first, fn.__name__, (line.rstrip("\n") for line in lines))
    gast.increment_lineno(node, start - 1 - len(prefix.splitlines()))
    return node, source


def _read_lambda(fn: types.FunctionType, source: SourceMap) -> tuple[gast.FunctionDef, SourceMap]:
    """The tree of a lambda, as a function that returns its value: it is found by the place of its value, which its code knows."""
    code = fn.__code__
    try:
        lines = _file_lines(code)
    except OSError:
        _fail(fn, "S2S100", "The source of a lambda cannot be read", "# in a file, here model.py\ndef f(x):\n    return ...",
              "It was made by exec or typed at a prompt that keeps no history of its text.")
    text = "".join(lines)
    if not _same_code(fn, text):
        _changed(fn)
    spans = [p for i in dis.get_instructions(code) if (p := i.positions) is not None and p.lineno and p.end_col_offset]
    start, end = min((p.lineno, p.col_offset) for p in spans), max((p.end_lineno, p.end_col_offset) for p in spans)
    around = [n for n in gast.walk(gast.parse(text)) if isinstance(n, gast.Lambda) and _extent(n.body)[0] <= start and end <= _extent(n.body)[1]]
    found = [n for n in around if _extent(n.body)[0] == max(_extent(m.body)[0] for m in around)]  # not one around it
    if len(found) != 1:
        _fail(fn, "S2S100", "The source of a lambda cannot be told from that of another", "def f(x):\n    return ...")
    node = found[0]
    first, last = node.lineno, node.end_lineno
    back = gast.copy_location(gast.Return(node.body), node.body)
    made = gast.FunctionDef("function", node.args, [back], [], None, None, [])
    gast.copy_location(made, node)
    source, virtual = source.add(code.co_filename, first, fn.__name__, (line.rstrip("\n") for line in lines[first - 1 : last]))
    gast.increment_lineno(made, virtual - first)
    return made, source


def _extent(node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _file_lines(code: types.CodeType) -> list[str]:
    """The lines of a function's file or notebook cell; raises OSError if there are none."""
    file = code.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    if not lines:
        # a file in an archive, or one that its module's loader has to read: inspect knows the ways
        lines = inspect.findsource(code)[0]
    return lines


def _same_code(fn: types.FunctionType, file_text: str) -> bool:
    """Whether the file still compiles to the function's code: it may have changed since it was imported."""
    code = fn.__code__
    return any(_alike(code, c) for c in _codes(file_text) if c.co_name == code.co_name and c.co_firstlineno == code.co_firstlineno)


@lru_cache(maxsize=16)
def _codes(file_text: str) -> tuple[types.CodeType, ...]:
    """Every code object of a file; none if it does not compile."""
    try:
        found = [compile(file_text, "<s2sad>", "exec", dont_inherit=True, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)]
    except SyntaxError:
        return ()
    for c in found:
        found += [inner for inner in c.co_consts if isinstance(inner, types.CodeType)]
    return tuple(found)


def _alike(a: types.CodeType, b: types.CodeType) -> bool:
    if any(n.startswith("@py") for n in (*a.co_names, *a.co_varnames)):  # pytest has rewritten the `assert`s, and compares as they do
        return a.co_varnames[: a.co_argcount] == b.co_varnames[: b.co_argcount]
    if any(isinstance(c, types.CodeType) for c in a.co_consts):  # has functions inside and will be refused: do not compare those
        return a.co_varnames == b.co_varnames and a.co_names == b.co_names
    constants = [(type(c), repr(c)) for c in a.co_consts] == [(type(c), repr(c)) for c in b.co_consts]
    return constants and a.co_code == b.co_code and a.co_varnames == b.co_varnames and a.co_names == b.co_names


def _fail(fn: types.FunctionType, code: str, summary: str, instead: str, why: str = "") -> Any:
    place = Place(fn.__code__.co_filename, fn.__code__.co_firstlineno, fn.__name__, "")
    raise SourceError(Problem(code, summary, place, 0, 0, instead, why)) from None


def _changed(fn: types.FunctionType) -> Any:
    _fail(fn, "S2S101", f"The file of `{fn.__qualname__}` has changed since the function was made", "",
          "Its text is not what runs. Import the module again, or start Python again.")
