"""Emitted text becomes a callable, compiled by Numba or run by Python."""

from __future__ import annotations

import ast
import linecache
import pickle
import re
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
from numba.core.errors import NumbaError, NumbaPerformanceWarning, NumbaWarning
from numba.core.registry import CPUDispatcher

from s2sad.backend import cache
from s2sad.errors import DifferentiationError, Problem
from s2sad.lang.emitted import Emitted, Place
from s2sad.runtime import given
from s2sad.runtime.core import OutOfBounds as OutOfBounds

SLOW = 2.0  # seconds of compiling before the user is told
# what unpickling a truncated or overwritten cache file can raise
_CORRUPT = (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, KeyError, TypeError, ValueError)
# what Numba raises for code that it does not take; it has bare assertions too
_REJECTED = (NumbaError, NotImplementedError, AssertionError, RuntimeError)
_lock = threading.RLock()
_loaded: dict[tuple[Path, bool], Callable[..., Any]] = {}
_announced: set[str] = set()


class Mismatch(Exception):
    """A compiled function is called with types that it has not been compiled for."""


class _Exact(CPUDispatcher):  # type: ignore[misc]
    """A dispatcher that compiles only when told to: text emitted for some types may mean something else for others."""

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        raise Mismatch(self.py_func.__name__)


def load(emitted: Emitted, jit: bool = True, checked: bool = False) -> Callable[..., Any]:
    """The function of an emitted module.

    Args:
        emitted: its `name`, `text` and `externals` (functions put into the module's namespace).
        jit: False runs the same file in plain Python, for debuggers.
        checked: Numba checks every subscript, even if the program has a guard for that or needs none.

    Returns:
        A Numba dispatcher, or a Python function. The dispatcher runs what `compile_for` has compiled, and raises `Mismatch` for arguments of
        other types; it raises `OutOfBounds`, before anything has run, if the program has a guard and that does not hold.
    """
    with _lock:
        if jit and emitted.lowered is not None:
            emitted = replace(emitted, text=emitted.lowered)
        unchecked = jit and not checked and (emitted.proven or emitted.guard is not None)
        entry, text = emitted.name, emitted.text
        if unchecked and emitted.guard is not None:
            entry, text = guarded(emitted, emitted.guard)
        elif unchecked:  # a file of its own: Numba's cache does not tell code with and without checks apart
            text = f"# compiled without bounds checks: every subscript is in range\n{text}"
        path = cache.write(emitted.name, text)
        found = _loaded.get((path, jit)) if not emitted.externals else None
        if found is not None:
            return found
        module = types.ModuleType(f"s2sad_emitted.{path.stem}")
        module.__file__ = str(path)
        namespace = vars(module)
        if not emitted.externals:
            sys.modules[module.__name__] = module  # Numba's cache names the module, and looks it up when it is read
        for name, fn in emitted.externals.items():
            namespace[name] = _external(fn, jit)
        exec(compile(text, str(path), "exec"), namespace)
        if jit:
            options = {**cache.OPTIONS, "boundscheck": not unchecked}
            below = (emitted.name, emitted.guard.name) if emitted.guard is not None and entry != emitted.name else ()
            if below or emitted.inner:
                for inner in (*emitted.inner, *below):
                    namespace[inner] = numba.njit(**options, no_cpython_wrapper=True)(namespace[inner])
            # Numba's cache does not see when an external function (or what that calls) changes
            fn = _dispatcher(namespace[entry], not emitted.externals, options)
        else:
            fn = namespace[entry]
        if not emitted.externals:
            _loaded[path, jit] = fn
        return fn  # type: ignore[no-any-return]


def guarded(emitted: Emitted, guard: Emitted) -> tuple[str, str]:
    """The name and the text of a function that runs the emitted one if its guard holds, and raises OutOfBounds if not.

    One module, so that a call crosses from Python into compiled code once, and one file of Numba's cache is read.
    """
    name, seed = f"{emitted.name}_guarded", "seed"
    while seed in emitted.params:
        seed += "_"
    head, body = _parted(emitted.text)
    guard_head, guard_body = _parted(guard.text)
    imports = [line for line in sorted({*head, *guard_head, "from s2sad.runtime.core import OutOfBounds"}) if line]
    params = ", ".join(emitted.params)
    call = f"""def {name}({params}, {seed}):
    if not {guard.name}({params}):
        raise OutOfBounds
    return {emitted.name}({params}, {seed})
"""
    note = "# compiled without bounds checks: the first function says whether every subscript is in range"
    return name, "\n".join([note, *imports]) + "\n\n\n" + "\n\n\n".join(part.strip("\n") for part in (guard_body, body, call)) + "\n"


def _parted(text: str) -> tuple[list[str], str]:
    """The imports at the head of an emitted module, and the rest."""
    head, found, rest = text.partition("\n\n\n")
    return (head.splitlines(), rest) if found and not head.startswith("def ") else ([], text)


def _dispatcher(fn: types.FunctionType, cached: bool, options: dict[str, Any]) -> Any:
    if numba.config.DISABLE_JIT:
        return fn
    made = _Exact(py_func=fn, targetoptions={**options, "nopython": True})
    if cached:
        made.enable_caching()
    return made


def _external(fn: Any, jit: bool) -> Any:
    """An opaque function as the emitted module calls it."""
    if not jit:
        return fn.py_func if isinstance(fn, CPUDispatcher) else fn
    return numba.njit(**cache.OPTIONS)(fn) if isinstance(fn, types.FunctionType) else fn


def compile_for(fn: Any, signature: Sequence[numba.types.Type], emitted: Emitted | None = None) -> None:
    """Compile a loaded function for argument types; nothing to do for plain Python.

    Args:
        fn: what `load` has returned.
        signature: the types of the arguments.
        emitted: what it was loaded from, so that errors can name the user's lines.

    Raises:
        DifferentiationError: Numba rejects the emitted code; the message has its reason, the user's line and the emitted line.
    """
    if not isinstance(fn, CPUDispatcher):
        return
    with _lock, _announcing(_emitted_name(fn.py_func)), warnings.catch_warnings():
        if emitted is None or not emitted.externals:
            warnings.simplefilter("ignore", NumbaWarning)  # about emitted code, which is not the user's to change
        warnings.simplefilter("ignore", NumbaPerformanceWarning)
        warnings.filterwarnings("ignore", "Cannot cache compiled function", NumbaWarning)
        try:
            fn.compile(tuple(signature))
        except _REJECTED as e:
            raise _rejected(fn.py_func, e, emitted) from e
        except _CORRUPT as e:
            if not _forget(fn):
                raise _rejected(fn.py_func, e, emitted) from e
            try:
                fn.compile(tuple(signature))
            except (*_REJECTED, *_CORRUPT) as again:
                raise _rejected(fn.py_func, again, emitted) from again


def _emitted_name(fn: types.FunctionType) -> str:
    """The name that the user knows the emitted function by."""
    return fn.__name__.removesuffix("_guarded")


def _forget(fn: Any) -> bool:
    """Remove what Numba has cached of a function; whether there was anything."""
    folder = fn.stats.cache_path
    if folder is None:
        return False
    files = [f for f in Path(folder).glob(f"{Path(fn.py_func.__code__.co_filename).stem}.*") if f.suffix in (".nbi", ".nbc")]
    for f in files:
        f.unlink(missing_ok=True)
    return bool(files)


@contextmanager
def _announcing(name: str) -> Iterator[None]:
    """Say once on stderr that compiling takes its time, if it does."""

    def say() -> None:
        if name not in _announced:
            _announced.add(name)
            print(f"s2sad: compiling {name} ...", file=sys.stderr, flush=True)

    timer = threading.Timer(SLOW, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _rejected(fn: types.FunctionType, error: Exception, emitted: Emitted | None) -> DifferentiationError:
    """Numba's error cut to its cause, at the user's statement."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    cause = _cause(text) or type(error).__name__
    own = _own_fault(text, emitted)
    if own is not None:
        return DifferentiationError(_marked(own, f"Numba cannot compile your function `{own.function}`", f"Numba says: {cause}"))
    path = fn.__code__.co_filename
    found = _lines_in(text, path)
    source = Path(path).read_text(encoding="utf-8")
    at = found[-1] if found else fn.__code__.co_firstlineno
    place, stmt = _origin(source, at, emitted) if emitted is not None and found else (None, None)
    said = next((s for s in (given.COUNT, given.SHAPE) if s in " ".join(text.split())), "")
    user = _called(stmt, emitted, bool(said)) if emitted is not None and stmt is not None else None
    if user is not None and place is not None:
        why = f"It {said[said.index('must'):]}." if said else f"Numba says: {cause}"
        return DifferentiationError(_marked(place, f"Numba cannot compile a call of your function `{user}` here", why))
    shown = source.splitlines()[at - 1].strip() if found else ""
    why = f"This is a fault of s2sad: please report it, with the function and its arguments. Numba says: {cause}"
    where = f" It is about line {at} of {path}:\n    {shown}" if found else f" The emitted program is in {path}."
    if place is None:
        place = Place(path, at, _emitted_name(fn), source.splitlines()[at - 1])
        return DifferentiationError(_marked(place, f"Numba cannot compile the emitted function {_emitted_name(fn)}", why))
    return DifferentiationError(_marked(place, "Numba cannot compile what s2sad made of this statement", why + where))


def _marked(place: Place, summary: str, why: str) -> Problem:
    """A problem about a whole line."""
    indent = len(place.text) - len(place.text.lstrip())
    return Problem("S2S900", summary, place, indent, len(place.text.rstrip()), why=why)


def _lines_in(text: str, path: str) -> list[int]:
    """The lines of a file that an error of Numba names."""
    found = re.findall(rf'File "{re.escape(path)}", line (\d+)|{re.escape(path)} \((\d+)\)', text)
    return [int(next(filter(None, pair))) for pair in found]


def _cause(text: str) -> str:
    """The lines of Numba's error that say what is wrong, without where it was found and what to do about Numba."""
    lines = [s.strip() for s in text.splitlines() if s.strip() and not s.startswith(("Failed in nopython", "During:"))]
    cut = next((k for k, s in enumerate(lines) if s.startswith(("File ", "There are", "This error may"))), len(lines))
    return " ".join(lines[:cut])[:600]


def _own_fault(text: str, emitted: Emitted | None) -> Place | None:
    """The line of an opaque function, or of the user's rule for it, that an error is about."""
    plain = [f.py_func if isinstance(f, CPUDispatcher) else f for f in (emitted.externals.values() if emitted is not None else ())]
    for f in sorted((f for f in plain if isinstance(f, types.FunctionType)), key=lambda f: -f.__code__.co_firstlineno):
        path, first = f.__code__.co_filename, f.__code__.co_firstlineno
        found = [k for k in _lines_in(text, path) if k >= first]
        if found:
            return Place(path, found[-1], f.__name__, linecache.getline(path, found[-1]).rstrip())
    return None


def _called(stmt: ast.stmt, emitted: Emitted, rule: bool) -> str | None:
    """The function of the user that an emitted statement calls, or the rule that it calls; `rule`: the rule for what it calls."""
    externals = emitted.externals
    heads = [n for n in ast.iter_child_nodes(stmt) if not isinstance(n, ast.stmt)]
    calls = [c for head in heads for c in ast.walk(head) if isinstance(c, ast.Call)]
    names = [c.func.id for c in calls if isinstance(c.func, ast.Name) and c.func.id in externals]
    found = [externals.get(f"{n}_adjoint" if rule else n, externals[n]) for n in names]
    return str(getattr(found[-1], "__name__", "")) or None if found else None


def _origin(source: str, line: int, emitted: Emitted) -> tuple[Place | None, ast.stmt | None]:
    """The user's statement that a line of the compiled file stands for, and the statement of that file."""
    functions = [f for f in ast.parse(source).body if isinstance(f, ast.FunctionDef) and f.name in (*emitted.inner, emitted.name)]
    stmts = [s for f in functions for s in _in_order(f.body[1:] if ast.get_docstring(f) is not None else f.body)]
    if len(stmts) != len(emitted.origins):
        return None, None
    last = max((k for k, s in enumerate(stmts) if s.lineno <= line), default=None)
    return (emitted.origins[last], stmts[last]) if last is not None else (None, None)


def _in_order(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for s in body:
        if not isinstance(s, ast.Pass):
            yield s
            yield from _in_order(getattr(s, "body", []))
            yield from _in_order(getattr(s, "orelse", []))
