"""The command line: `s2sad dump model.py:f` prints the emitted program, `s2sad explain CODE` what an error means."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import inspect
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from s2sad.analysis.usage import types_from_use
from s2sad.api import Derivative, annotated_type, differentiable, grad, value_and_grad
from s2sad.backend.signature import ArgumentError, parse_types
from s2sad.catalogue import CATALOGUE, explained
from s2sad.errors import S2sadError
from s2sad.lang.types import Type, is_float
from s2sad.transforms import pipeline


class UsageError(Exception):
    """The command line asks for something that is not there."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 1 if the function cannot be differentiated, or 2 for a wrong command."""
    options = _parser().parse_args(arguments)
    try:
        text = options.run(options)
        if options.output:
            Path(options.output).write_text(text, encoding="utf-8")
        else:
            sys.stdout.write(_highlighted(text) if sys.stdout.isatty() and options.run is _dump else text)
            sys.stdout.flush()
    except UsageError as e:
        print(f"s2sad: {e}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
        return 1
    except (S2sadError, OSError) as e:
        print(f"s2sad: {e}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="s2sad", description="Reverse-mode differentiation of numerical Python, source to source.")
    commands = parser.add_subparsers(required=True, metavar="command")
    dump = commands.add_parser("dump", help="print the program that computes a gradient", description="Print the program that computes a gradient.")
    dump.add_argument("target", metavar="FILE_OR_MODULE:FUNCTION", help="for example model.py:loss or package.model:loss (the file is imported)")
    dump.add_argument("--wrt", help="parameters to differentiate with respect to, names or positions, separated by commas")
    what = dump.add_mutually_exclusive_group()
    what.add_argument("--types", help='types of the parameters, such as "f8[:], f8, i8" (f8: float, i8: int, f4[:, :]: a float32 matrix)')
    what.add_argument("--args", help='example arguments, evaluated in the module with np and math: "np.ones(3), 2.0"')
    form = dump.add_mutually_exclusive_group()
    form.add_argument("--value", action="store_true", help="the program that gives the value and the gradient")
    form.add_argument("--primal", action="store_true", help="the function itself, as it is compiled")
    dump.add_argument("--after", metavar="PASS", help="the program as this pass of the compiler leaves it: " + ", ".join(pipeline.PASSES))
    dump.add_argument("--lowered", action="store_true", help="the program as it is compiled, with array statements as loops")
    dump.add_argument("-o", "--output", metavar="FILE", help="write to a file")
    dump.set_defaults(run=_dump)
    explain = commands.add_parser("explain", help="what the code of an error means", description="What the code of an error means.")
    explain.add_argument("code", metavar="CODE", help="for example S2S121")
    explain.set_defaults(run=_explain, output=None)
    return parser


def _explain(options: argparse.Namespace) -> str:
    """The entry of an error code."""
    code = options.code.strip("[]").upper()
    if code not in CATALOGUE:
        raise UsageError(f"there is no error {code}; the codes are {', '.join(CATALOGUE)}")
    return f"{explained(code)}\n"


def _dump(options: argparse.Namespace) -> str:
    """The text that is asked for."""
    passes = pipeline.passes_of("primal" if options.primal else "adjoint")
    if options.after is not None and options.after not in passes:
        raise UsageError(f"there is no pass `{options.after}`; the passes are {', '.join(passes)}")
    module, found = _load(options.target)
    make = value_and_grad if options.value else differentiable if options.primal else grad
    wrt: Any = 0
    if options.after in pipeline.FRONT:
        return pipeline.front_after(found, options.after)
    if isinstance(found, Derivative):
        wrt = found.wrt
        if not (options.value or options.primal):
            make = {"value_and_adjoint": value_and_grad}.get(found.mode, grad)
        found = found.__s2sad_function__
    if options.wrt:
        wrt = tuple(int(w) if w.strip().lstrip("-").isdigit() else w.strip() for w in options.wrt.split(","))
        wrt = wrt[0] if len(wrt) == 1 else wrt
    made: Derivative = make(found, wrt=wrt)
    if options.args is not None:
        return made.text_for(_values(made, options, module), options.after, options.lowered)
    return made.text(_types(made, options), options.after, options.lowered)


def _values(made: Derivative, options: argparse.Namespace, module: Any) -> tuple[Any, ...]:
    """The arguments that --args gives."""
    fn = made.__s2sad_function__
    params = list(inspect.signature(fn).parameters.values())
    try:
        values = eval(f"({options.args},)", {**vars(module), "np": np, "math": math})
    except (ArithmeticError, AttributeError, LookupError, NameError, OSError, SyntaxError, TypeError, ValueError) as e:
        raise UsageError(f"--args cannot be evaluated: {type(e).__name__}: {e}") from e
    try:
        inspect.signature(fn).bind(*values)
    except TypeError as e:
        names = ", ".join(p.name for p in params)
        raise UsageError(f"`{fn.__qualname__}` has {len(params)} parameters ({names}), which --args does not fit: {e}") from e
    return tuple(values)


def _types(made: Derivative, options: argparse.Namespace) -> tuple[Type, ...]:
    """The types of the function's parameters."""
    fn = made.__s2sad_function__
    params = list(inspect.signature(fn).parameters.values())
    if options.types is not None:
        types = parse_types(options.types)
        if len(types) != len(params):
            raise UsageError(
                f"`{fn.__qualname__}` has {len(params)} parameters ({', '.join(p.name for p in params)}), not {len(types)} as in --types"
            )
        return types
    known = {p.name: t for p in params if (t := annotated_type(p)) is not None}
    if len(known) < len(params):
        guessed = types_from_use(made.front(), known, made.wrt_names)
        types = tuple(guessed[p.name] for p in params if p.name in guessed)
        for p in params:
            if p.name not in guessed or p.name in made.wrt_names and not is_float(guessed[p.name]):
                which = f"parameter `{p.name}` of `{fn.__qualname__}`"
                raise ArgumentError(f"the type of {which} is not known; give types with --types or arguments with --args")
        new = ", ".join(f"{p.name}: {guessed[p.name]}" for p in params if p.name not in known)
        print(f"s2sad: types from use: {new} (others with --types)", file=sys.stderr)
        return types
    return tuple(known[p.name] for p in params)


def _load(target: str) -> tuple[Any, Any]:
    """The module and the function that `FILE_OR_MODULE:FUNCTION` names."""
    where, colon, name = target.rpartition(":")
    if not colon or not where or not name:
        raise UsageError(f"`{target}` is not FILE_OR_MODULE:FUNCTION, for example model.py:loss")
    # what the module prints must not mix with the program
    with contextlib.redirect_stdout(sys.stderr):
        try:
            module = _from_file(Path(where)) if where.endswith(".py") else _from_name(where)
        except (ImportError, SyntaxError, FileNotFoundError) as e:
            raise UsageError(f"{where} cannot be imported: {type(e).__name__}: {e}") from e
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        functions = [n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", None) == module.__name__]
        raise UsageError(f"{where} has no function `{name}`; it has {', '.join(functions) or 'none'}")
    return module, found


def _from_file(path: Path) -> Any:
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _from_name(name: str) -> Any:
    sys.path.insert(0, "")
    return importlib.import_module(name)


def _highlighted(text: str) -> str:
    """The text in colours for a terminal."""
    # here, because most calls write to files and pipes
    import pygments
    import pygments.formatters
    import pygments.lexers

    return str(pygments.highlight(text, pygments.lexers.PythonLexer(), pygments.formatters.TerminalFormatter()))
