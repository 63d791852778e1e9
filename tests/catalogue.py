"""Runs the programs of the error catalogue, and writes docs/errors.md from them."""

from __future__ import annotations

import ast
import linecache
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import s2sad
from s2sad.catalogue import CATALOGUE, Entry
from s2sad.errors import S2sadError

HEAD = """# Errors

<!-- written from s2sad/catalogue.py by tests/test_errors.py -->

Every refusal has a code; `s2sad explain CODE` prints an entry of this list. The programs take `import numpy as np`, `import s2sad` and
`from s2sad import grad` for granted.
"""


def evaluate(program: str, grad: Callable[..., Any]) -> Any:
    """The value of the last line of a program, which stands in a file of its own called example.py."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "example.py")
        path.write_text(program + "\n", encoding="utf-8")
        linecache.checkcache()
        space: dict[str, Any] = {"np": np, "s2sad": s2sad, "grad": grad, "__name__": "example", "__file__": str(path)}
        tree = ast.parse(program)
        last = tree.body.pop()
        assert isinstance(last, ast.Expr), "a program ends with an expression"
        exec(compile(tree, str(path), "exec"), space)
        try:
            return eval(compile(ast.Expression(last.value), str(path), "eval"), space)
        except S2sadError as e:
            e.shown = str(e).replace(str(path), "example.py")  # type: ignore[attr-defined]
            raise
        finally:
            linecache.clearcache()


def message(program: str, jit: bool) -> tuple[S2sadError, str]:
    """The error with which a program is refused, and its text."""

    def grad(*args: Any, **options: Any) -> Any:
        return s2sad.grad(*args, jit=jit, **options)

    try:
        found = evaluate(program, grad)
    except S2sadError as e:
        return e, e.shown  # type: ignore[attr-defined]
    raise AssertionError(f"not refused, but {found!r}:\n{program}")


def compared(program: str) -> list[tuple[Any, Any]]:
    """Pairs of gradients and differences of what a program asks for."""
    pairs = []

    def grad(f: Callable[..., Any], wrt: Any = 0, **options: Any) -> Any:
        def call(*args: Any) -> Any:
            made = s2sad.grad(f, wrt=wrt, jit=False, **options)
            k = made._program.params.index(made.wrt)
            found = made(*args)
            pairs.append((found, differences(f, args, k)))
            return found

        return call

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(program, grad)
    return pairs


def differences(f: Callable[..., Any], args: tuple[Any, ...], k: int) -> Any:
    """Central differences of a function with respect to argument `k`."""
    x = np.asarray(args[k], dtype=float)
    out = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = x.copy()
            moved[i] += step
            others = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
            others[k] = moved if x.ndim else float(moved)
            ends.append(f(*others))
        out[i] = (ends[0] - ends[1]) / 2e-6
    return out


def markdown() -> str:
    """The text of docs/errors.md."""
    return HEAD + "".join(section(code, entry) for code, entry in CATALOGUE.items())


def section(code: str, entry: Entry) -> str:
    """One entry, with the messages of its programs."""
    parts = [f"\n## {code}\n\n**{entry.title}.** {entry.text}\n"]
    for e in entry.examples:
        shown = message(e.wrong, jit=code == "S2S900")[1]
        parts.append(f"\n```python\n{e.wrong}\n```\n```text\n{shown}\n```\nAccepted:\n```python\n{e.right}\n```\n")
    return "".join(parts)


if __name__ == "__main__":
    Path(__file__).parent.parent.joinpath("docs", "errors.md").write_text(markdown(), encoding="utf-8")
