"""Compare emitted adjoints with the ones a person would write (folder `ideal`).

    python benchmarks/ideal.py [--show]

Counts loops, saves (stores and appends to a `*_saved`, also through a view of one), allocations and lines (without blank lines, comments
and docstring) of both functions, and checks that both give the same numbers.
Ends with status 1 if an emitted adjoint has more loops, saves or allocations than the ideal one, or more than 1.3 times its lines.
"""

import argparse
import ast
import importlib
import inspect
import math
import re
import sys
import textwrap
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from s2sad import grad

sys.path.insert(0, str(Path(__file__).resolve().parent))

PROGRAMS = ("branch", "broadcast", "stencil", "newton")
ALLOCATIONS = {"empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like", "copy"}
SAVED = re.compile(r"_saved(_\d+)?$")


@dataclass
class Counts:
    """What an adjoint costs to read and to run."""

    loops: int
    saves: int
    allocations: int
    lines: int


def base(node):
    """The name under subscripts and attributes, or None."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def is_saved(name):
    return name is not None and SAVED.search(name) is not None


def count(text):
    """Counts of a function given as text."""
    text = textwrap.dedent(text)
    function = ast.parse(text).body[0]
    nodes = list(ast.walk(function))
    named = [n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
    # after `un = un_saved[t]`, writing to un is a save
    views = {n.targets[0].id for n in named if isinstance(n.value, ast.Subscript) and is_saved(base(n.value))}
    copies = [n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "copyto" and is_saved(base(n.args[0]))]
    stores = [n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and (is_saved(base(n)) or base(n) in views)]
    calls = [n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    lines = [line.strip() for line in text.splitlines()[body[0].lineno - 1 :]]
    return Counts(
        loops=sum(isinstance(n, (ast.For, ast.While)) for n in nodes),
        saves=len(stores) + len(copies) + sum(c.func.attr in ("append", "push") and is_saved(base(c.func)) for c in calls),
        allocations=sum(c.func.attr in ALLOCATIONS for c in calls),
        lines=sum(bool(line) and not line.startswith("#") for line in lines),
    )


def emitted_function(text, name):
    """The text of one function of an emitted module."""
    function = next(n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name)
    return "\n".join(text.splitlines()[function.lineno - 1 : function.end_lineno])


def compare(program):
    """(emitted text, counts of it, counts of the ideal): the numbers of both functions were compared."""
    module = importlib.import_module(f"ideal.{program}")
    gradient = grad(module.PRIMAL, wrt=module.WRT, jit=False)
    for args in module.INPUTS:
        for got, want in zip(gradient(*args), module.ADJOINT(*args), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
    text = emitted_function(gradient.source(*module.INPUTS[0]), module.ADJOINT.__name__)
    return text, count(text), count(inspect.getsource(module.ADJOINT))


def meets(ours, ideal):
    """Whether the bar is met."""
    return all(a <= b for a, b in zip(astuple(ours)[:3], astuple(ideal)[:3], strict=True)) and ours.lines <= math.floor(1.3 * ideal.lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="print the emitted adjoints, too")
    options = parser.parse_args()
    missed = []
    print(f"{'program':11}{'':9}{'loops':>6}{'saves':>7}{'allocations':>13}{'lines':>7}")
    for program in PROGRAMS:
        text, ours, ideal = compare(program)
        good = meets(ours, ideal)
        missed += [] if good else [program]
        for label, c in (("emitted", ours), ("ideal", ideal)):
            note = "" if label == "ideal" else f"   {'meets the bar' if good else 'MISSES'}"
            print(f"{program if label == 'emitted' else '':11}{label:9}{c.loops:6}{c.saves:7}{c.allocations:13}{c.lines:7}{note}")
        if options.show:
            print(f"\n{text}\n")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
