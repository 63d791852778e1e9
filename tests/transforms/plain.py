"""Runs a program in normal form as plain Python, to be compared with the function that it came from."""

import ast
import copy
import math
import textwrap

import gast
import numpy as np


def text(function):
    """The body as Python text."""
    trees = [ast.fix_missing_locations(gast.gast_to_ast(copy.deepcopy(s))) for s in function.body]
    return "\n".join(map(ast.unparse, trees))


def runnable(function):
    """A Python function that runs the program; hidden parameters are read at each call."""
    source = f"def {function.name}({', '.join(function.params)}):\n" + textwrap.indent(text(function), "    ")
    names = {"np": np, "math": math, "stop_gradient": lambda x: x, **function.externals}
    exec(source, names)
    run = names[function.name]
    return lambda *args: run(*args, *(h.read() for h in function.hidden))


def outcome(f, args):
    """The result or the error, and the arguments afterwards."""
    args = copy.deepcopy(args)
    with np.errstate(all="ignore"):
        try:
            result = f(*args)
        except (UnboundLocalError, IndexError, ValueError) as e:
            result = type(e).__name__
    return result, args


def equal(a, b):
    """Equal values of equal shapes and kinds, also in tuples."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(equal, a, b))
    if a is None or isinstance(a, str):
        return a == b
    return np.shape(a) == np.shape(b) and np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)
