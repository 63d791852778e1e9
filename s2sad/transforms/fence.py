"""Refuse what is outside the language, all problems of a function at once, each with what to write instead."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
from numba.core.registry import CPUDispatcher

from s2sad import rules
from s2sad.analysis.draws import DRAWS, is_draw
from s2sad.errors import Problem, problem, raise_all
from s2sad.lang import tree as T
from s2sad.transforms.resolve import (
    BUILTINS,
    CONSTANTS,
    EXCEPTIONS,
    JOINS,
    KEPT_ATTRIBUTES,
    KEPT_METHODS,
    LIST_METHODS,
    METHODS,
    PLAIN,
    Callee,
    Unknown,
)

# statement -> (what it is, what to write instead)
STATEMENTS: dict[str, tuple[str, str]] = {
    "Try": ("`try` cannot be differentiated", "if denominator != 0.0:  # test for the case that would raise\n    y = x / denominator"),
    "TryStar": ("`try` cannot be differentiated", "if denominator != 0.0:\n    y = x / denominator"),
    "With": ("`with` cannot be differentiated", "# the body of the `with`, and the `with` around the call of the function"),
    "AsyncWith": ("`async with` cannot be differentiated", "# plain statements"),
    "AsyncFor": ("`async for` cannot be differentiated", "for i in range(n):"),
    "AsyncFunctionDef": ("A nested async function cannot be differentiated", "# a plain function at the top level of the file"),
    "FunctionDef": ("A function defined inside a function cannot be differentiated", "# at the top level of the file, its values as arguments"),
    "ClassDef": ("A class defined inside a function cannot be differentiated", "# plain arrays and numbers"),
    "Global": ("`global` cannot be differentiated: globals may be read but not rebound", "# return the value, and assign it in the caller"),
    "Nonlocal": ("`nonlocal` cannot be differentiated: values may be read but not rebound", "# return the value, and assign it in the caller"),
    "Delete": ("`del` cannot be differentiated", "# nothing: the value goes away when the function ends"),
    "Match": ("`match` cannot be differentiated", "if kind == 0:\n    ...\nelif kind == 1:\n    ..."),
    "TypeAlias": ("`type` cannot be differentiated", "# at the top level of the file"),
}

EXPRESSIONS: dict[str, tuple[str, str, str]] = {
    "SetComp": ("S2S111", "A set comprehension cannot be differentiated", "y = np.empty(n)\nfor i in range(n):\n    y[i] = ..."),
    "DictComp": ("S2S111", "A dict comprehension cannot be differentiated", "y = np.empty(n)\nfor i in range(n):\n    y[i] = ..."),
    "Dict": ("S2S113", "A dict cannot be differentiated", "# one variable for each entry, or an array"),
    "Set": ("S2S113", "A set cannot be differentiated", "np.array([a, b])"),
    "Lambda": ("S2S111", "A lambda cannot be differentiated", "def f(x):  # at the top level of the file\n    return ..."),
    "Yield": ("S2S111", "`yield` cannot be differentiated", "y = np.empty(n)\nfor i in range(n):\n    y[i] = ...\nreturn y"),
    "YieldFrom": ("S2S111", "`yield` cannot be differentiated", "y = np.empty(n)\nfor i in range(n):\n    y[i] = ...\nreturn y"),
    "Await": ("S2S111", "`await` cannot be differentiated", "# a plain call"),
    "JoinedStr": ("S2S111", "An f-string can only be the message of an exception", "raise ValueError(f\"x is {x}\")"),
    "NamedExpr": ("S2S111", "`:=` cannot be differentiated", "y = ...  # a statement of its own, before this one"),
    "Starred": ("S2S115", "A starred argument or target cannot be differentiated", "f(a, b, c)  # every one by name"),
}

#: Numbers of positional arguments (least, most) of builtins.
_ARITY = {
    "range": (1, 3), "len": (1, 1), "abs": (1, 1), "int": (0, 1), "float": (0, 1), "bool": (0, 1), "round": (1, 2), "min": (1, 99), "max": (1, 99),
    "sum": (1, 2), "any": (1, 1), "all": (1, 1), "pow": (2, 2), "divmod": (2, 2), "sorted": (1, 1), "list": (0, 1),
}

#: Functions that take a generator.
GENERATED = ("sum", "any", "all", "min", "max", "sorted", "list", "math.fsum", "math.prod")

_NUMPY_TYPES = frozenset(f"np.{t}" for t in "float64 float32 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool_".split())

_BUILTIN_HINTS = {
    "print": "# print where the function is called",
    "tuple": "a, b",
    "isinstance": "# a function of its own for each kind of argument",
    "map": "for i in range(len(x)):",
    "complex": "# real and imaginary parts",
}


def fence(function: T.Function) -> T.Function:
    """The function itself if it and all functions that it reaches are inside the language. Raises UnsupportedError with every problem.

    >>> from s2sad.transforms.front import build
    >>> def f(x):
    ...     return {x, 2.0 * x}
    >>> build(f, "fence")
    Traceback (most recent call last):
    s2sad.errors.UnsupportedError: A set cannot be differentiated [S2S113]
    """
    found: list[Problem] = []
    seen: set[int] = set()

    def check(f: T.Function) -> None:
        if id(f) not in seen:
            seen.add(id(f))
            found.extend(problems(f))
            for obj in f.externals.values():
                if isinstance(obj, Callee):
                    check(obj.function)

    check(function)
    for f in function.recursive.values():
        check(f)
    if not any(isinstance(n, gast.Return) and n.value is not None for s in function.body for n in gast.walk(s)):
        where = function.body[0] if function.body else None
        if isinstance(where, gast.Raise):
            summary = f"`{function.name}` does nothing but raise, for these arguments"
            found.append(problem(function.source, where, "S2S127", summary, "# other arguments"))
        else:
            found.append(problem(function.source, where, "S2S127", f"`{function.name}` returns nothing to differentiate", "return y"))
    raise_all(found)
    return function


def problems(function: T.Function) -> list[Problem]:
    """All problems of one function, in the order of its text."""
    checker = _Checker(function)
    checker.block(function.body)
    return checker.found


class _Checker:
    def __init__(self, function: T.Function):
        self.function = function
        self.locals = set(function.params) | T.stores(function.body)
        self.hidden = {h.name for h in function.hidden}
        self.found: list[Problem] = []
        self.refused: set[str] = set()  # names bound by what has been refused already: said once is enough

    def add(self, node: gast.AST, code: str, summary: str, instead: str, why: str = "") -> None:
        self.found.append(problem(self.function.source, node, code, summary, instead, why))

    # -- statements ---------------------------------------------------------------------------------------

    def block(self, body: tuple[gast.stmt, ...] | list[gast.stmt]) -> None:
        for s in body:
            self.statement(s)

    def statement(self, s: gast.stmt) -> None:
        kind = type(s).__name__
        handler: Callable[[Any], None] | None = getattr(self, f"on_{kind}", None)
        if handler is not None:
            handler(s)
        elif kind in STATEMENTS:
            summary, instead = STATEMENTS[kind]
            self.add(s, "S2S110", summary, instead)
            if isinstance(s, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
                self.refused.add(s.name)
        elif isinstance(s, (gast.Import, gast.ImportFrom)):
            names = ", ".join(a.name for a in s.names)
            module = getattr(s, "module", None)
            self.refused |= {(a.asname or a.name).split(".")[0] for a in s.names}
            text = f"from {module} import {names}" if module else f"import {names}"
            self.add(s, "S2S112", f"`{text}` inside a function cannot be differentiated", f"{text}  # at the head of the file",
                     "In a function imports are followed at its beginning, of modules and names that Python finds.")
        elif not isinstance(s, (gast.Pass, gast.Break, gast.Continue)):
            self.add(s, "S2S110", f"`{kind}` statements cannot be differentiated", "# plain assignments, loops and branches")

    def on_Return(self, s: gast.Return) -> None:
        if s.value is not None:
            self.expression(s.value, tuples=True)

    def on_Assign(self, s: gast.Assign) -> None:
        self.expression(s.value, tuples=True)
        for t in s.targets:
            self.target(t)
            if isinstance(s.value, gast.Lambda) and isinstance(t, gast.Name):
                self.refused.add(t.id)

    def on_AugAssign(self, s: gast.AugAssign) -> None:
        self.expression(s.value)
        self.target(s.target)

    def on_Raise(self, s: gast.Raise) -> None:
        call = s.exc
        if s.cause is not None:
            self.add(s, "S2S131", "`raise ... from ...` cannot be used in a differentiated function", "raise ValueError(...)")
        elif not isinstance(call, gast.Call) or not isinstance(call.func, gast.Name) or call.func.id not in EXCEPTIONS:
            self.add(s, "S2S131", "Only some of Python's own exceptions can be raised in a differentiated function", "raise ValueError(...)",
                     f"They are {', '.join(sorted(EXCEPTIONS))}.")
        elif call.keywords or call.args and not (isinstance(call.args[0], gast.Constant) and isinstance(call.args[0].value, str)) \
                or len(call.args) > 1 and "{" not in call.args[0].value:
            self.add(s, "S2S131", "An exception can be given a text here, or an f-string of values", 'raise ValueError(f"x is {x}")')
        else:
            for value in call.args[1:]:
                self.expression(value)

    def on_For(self, s: gast.For) -> None:
        self.target(s.target)
        self.iterable(s.iter)
        self.block(s.body)
        self.block(s.orelse)

    def on_While(self, s: gast.While) -> None:
        self.expression(s.test)
        self.block(s.body)
        self.block(s.orelse)

    on_If = on_While

    def on_Expr(self, s: gast.Expr) -> None:
        call = s.value
        if isinstance(call, gast.Call):
            name = T.dotted(call.func)
            if isinstance(call.func, gast.Attribute) and call.func.attr in LIST_METHODS and not (name and self._library(name)):
                self.list_call(call)
                return
            before = len(self.found)
            if is_draw(call):
                self.expression(call)
                return
            self.expression(call)
            if len(self.found) == before and name not in self.function.externals:
                self.add(s, "S2S118", "This statement has no effect", "y = " + (self.function.source.text(s) or "..."))
            return
        self.expression(call)
        if not self.found or self.found[-1].place != problem(self.function.source, s, "", "").place:
            self.add(s, "S2S118", "This statement has no effect", "y = " + (self.function.source.text(s) or "..."))

    def list_call(self, call: gast.Call) -> None:
        """A call of a method that changes a list."""
        attr, count = call.func.attr, len(call.args)
        least, most = {"append": (1, 1), "extend": (1, 1)}.get(attr, (0, 0))
        if not isinstance(call.func.value, gast.Name):
            self.add(call, "S2S113", f"`.{attr}()` of a part of something", f"row = ...\nrow.{attr}(x)\nrows.append(row)",
                     "A list in a list cannot change its length.")
        elif call.keywords or not least <= count <= most:
            instead = {"pop": "x = xs.pop()  # from the end", "sort": "xs.sort()", "reverse": "xs.reverse()"}.get(attr, f"xs.{attr}(x)")
            self.add(call, "S2S113", f"`.{attr}()` with these arguments cannot be differentiated", instead)
        for x in (call.func.value, *call.args):
            self.expression(x, generators=attr == "extend")

    def target(self, t: gast.expr) -> None:
        if isinstance(t, (gast.Tuple, gast.List)):
            for e in t.elts:
                self.target(e)
        elif isinstance(t, gast.Subscript):
            self.expression(t.value)
            self.index(t.slice)
            base = t.value
            while isinstance(base, (gast.Subscript, gast.Attribute)):
                base = base.value
            if isinstance(base, gast.Name) and base.id in self.hidden:
                self.add(t, "S2S129", f"The global array `{base.id}` is written", f"def {self.function.name}(..., {base.id.lower()}):",
                         "What a function changes has to be an argument or an array of its own.")
        elif isinstance(t, gast.Attribute):
            self.add(t, "S2S117", f"The attribute `.{t.attr}` cannot be assigned", "x = x.reshape(...)" if t.attr == "shape" else "x[...] = ...")
        elif isinstance(t, gast.Starred):
            self.expression(t)
        elif not isinstance(t, gast.Name):
            self.add(t, "S2S117", "This cannot be assigned", "y = ...")

    def iterable(self, e: gast.expr) -> None:
        if isinstance(e, gast.Call) and T.dotted(e.func) in ("range", "enumerate", "zip", "reversed"):
            name = T.dotted(e.func)
            lax = name == "zip" and all(k.arg == "strict" and isinstance(k.value, gast.Constant) and k.value.value is False for k in e.keywords)
            if e.keywords and not lax and not (name == "enumerate" and [k.arg for k in e.keywords] == ["start"]):
                self.add(e, "S2S126", f"`{name}` does not take these keywords here", "zip(a, b)")
            if name == "range":
                self.expression(e)
                return
            for k in e.keywords:
                self.expression(k.value)
            for k, a in enumerate(e.args):
                if name == "enumerate" and k == 1:
                    self.expression(a)
                else:
                    self.iterable(a)
            if not e.args or name == "enumerate" and len(e.args) > 2 or name == "reversed" and len(e.args) != 1:
                self.add(e, "S2S126", f"`{name}` has {len(e.args)} arguments here", "for i in range(n):")
        elif isinstance(e, (gast.Constant, gast.Set, gast.Dict)):
            self.add(e, "S2S116", "A loop over something else than range, arrays, lists, enumerate and zip cannot be differentiated",
                     "for v in [a, b]:")
        elif isinstance(e, (gast.Tuple, gast.List)):
            for x in e.elts:
                self.expression(x)
        else:
            self.expression(e)

    # -- expressions --------------------------------------------------------------------------------------

    def expression(self, e: gast.AST, tuples: bool = False, generators: bool = False) -> None:
        """Check an expression; a tuple may stand where `tuples`, a generator where `generators`."""
        kind = type(e).__name__
        if isinstance(e, gast.List):
            for x in e.elts:
                self.expression(x, tuples=True)
            return
        if isinstance(e, gast.GeneratorExp) and not generators:
            self.add(e, "S2S111", "A generator expression cannot stand here", "[... for v in x]  # a list")
        if isinstance(e, (gast.ListComp, gast.GeneratorExp)):
            for g in e.generators:
                if g.is_async:
                    self.add(e, "S2S111", "An asynchronous comprehension cannot be differentiated", "[... for v in x]")
                self.target(g.target)
                self.iterable(g.iter)
                for test in g.ifs:
                    self.expression(test)
            self.expression(e.elt, tuples=True)
            return
        if kind in EXPRESSIONS:
            code, summary, instead = EXPRESSIONS[kind]
            self.add(e, code, summary, instead)
        elif isinstance(e, gast.Name):
            self.name(e)
        elif isinstance(e, gast.Constant):
            if isinstance(e.value, complex):
                self.add(e, "S2S114", "Complex numbers cannot be differentiated", "# real and imaginary parts, as two numbers or arrays")
            elif isinstance(e.value, bytes):
                self.add(e, "S2S111", "Bytes cannot be differentiated", "# numbers")
        elif isinstance(e, gast.Tuple):
            if not tuples:
                self.add(e, "S2S128", "A tuple cannot stand here", "# a variable for each part")
            for x in e.elts:
                self.expression(x, tuples)
        elif isinstance(e, gast.Attribute):
            self.attribute(e)
        elif isinstance(e, gast.Call):
            self.call(e)
        elif isinstance(e, gast.Subscript):
            self.expression(e.value)
            self.index(e.slice)
        elif isinstance(e, gast.Compare):
            for op in e.ops:
                if isinstance(op, (gast.In, gast.NotIn)):
                    self.add(e, "S2S111", "`in` cannot be differentiated", "np.any(x == v)")
            for x in [e.left, *e.comparators]:
                self.expression(x)
        elif isinstance(e, (gast.BinOp, gast.UnaryOp, gast.BoolOp, gast.IfExp)):
            for x in gast.iter_child_nodes(e):
                if isinstance(x, gast.expr):
                    self.expression(x)
        else:
            self.add(e, "S2S111", f"A `{kind}` expression cannot be differentiated", "# operators, calls and subscripts")

    def index(self, e: gast.AST) -> None:
        if isinstance(e, gast.Slice):
            for x in (e.lower, e.upper, e.step):
                if x is not None:
                    self.expression(x)
        elif isinstance(e, gast.Tuple):
            for x in e.elts:
                self.index(x)
        else:
            self.expression(e)

    def name(self, e: gast.Name) -> None:
        if e.id in ("np", "math") or e.id in self.locals or e.id in ("float", "int", "bool"):
            return
        obj = self.function.externals.get(e.id)
        if obj is None:
            if e.id not in self.refused:
                self.add(e, "S2S120", f"The name `{e.id}` is not defined", "# check the spelling; an enclosing function must have assigned it")
        elif isinstance(obj, Unknown):
            kind = type(obj.obj).__name__
            self.add(e, "S2S124", f"`{obj.title}` is a {kind}, which cannot be used in a differentiated function",
                     f"{obj.title} = np.array([...])" if isinstance(obj.obj, (list, tuple)) else "# a number or an array",
                     "Globals and closure values may be numbers, numeric arrays, bools, strings, None and tuples of ints.")
        else:
            self.add(e, "S2S124", f"The function `{e.id}` is used as a value", f"{e.id}(x)", "Functions can be called, not passed on or stored.")

    def attribute(self, e: gast.Attribute) -> None:
        name = T.dotted(e)
        if name is not None and name.split(".")[0] in ("np", "math") and name.split(".")[0] not in self.locals:
            if name not in CONSTANTS and name not in _NUMPY_TYPES:
                self.add(e, "S2S124", f"The function `{name}` is used as a value", f"{name}(x)")
            return
        if isinstance(e.value, gast.Name) and e.value.id in self.refused:
            return
        if isinstance(e.value, gast.Name) and e.value.id in self.function.externals:
            self.expression(e.value)
            return
        self.expression(e.value)
        if e.attr not in KEPT_ATTRIBUTES:
            hint = {"real": "x", "imag": "0.0", "flat": "x.ravel()"}.get(e.attr, "# an argument of its own for what `." + e.attr + "` holds")
            self.add(e, "S2S122", f"The attribute `.{e.attr}` cannot be used in a differentiated function", hint,
                     "Arrays have .T, .shape, .size, .ndim and .dtype here; other objects cannot be arguments.")

    def _library(self, name: str) -> bool:
        head = name.split(".")[0]
        return "." in name and head in ("np", "math") and head not in self.locals

    def call(self, e: gast.Call) -> None:
        name = T.dotted(e.func)
        for k in e.keywords:
            if k.arg is None:
                self.add(k.value, "S2S115", "`**` arguments cannot be differentiated", "f(a, scale=s)  # every one by name")
        if name is not None and self._library(name):
            self.library_call(e, name)
        elif isinstance(e.func, gast.Attribute):
            self.method_call(e)
        elif name is None:
            self.add(e.func, "S2S121", "The result of an expression is called", "f(x)")
        elif name in self.refused:
            pass
        elif name in self.locals:
            self.add(e.func, "S2S121", f"`{name}` is an argument or local value and is called", "# call a function of the file by its name",
                     "Which function that is cannot be seen in the text.")
        else:
            self.named_call(e, name)
        in_library = name is not None and (self._library(name) or name in self.function.externals) or is_draw(e)
        for a in [*e.args, *(k.value for k in e.keywords if k.arg is not None)]:
            self.expression(a, tuples=in_library, generators=name in GENERATED)

    def library_call(self, e: gast.Call, name: str) -> None:
        if name.startswith("np.random."):
            self.add(e.func, "S2S123", f"`{name}` draws from NumPy's hidden global state and cannot be differentiated",
                     "rng = np.random.default_rng(3)\nnoise = rng.random(n)  # where the function is called; pass `noise` as an argument")
            return
        if name in PLAIN or name in _NUMPY_TYPES or name in JOINS or rules.known(name):
            for k in e.keywords:
                if k.arg in ("out", "where") and name != "np.where":
                    instead = f"y[...] = {name}(x)" if k.arg == "out" else "np.where(mask, y, z)"
                    self.add(k.value, "S2S126", f"`{k.arg}=` of `{name}` cannot be differentiated", instead)
            return
        self.no_rule(e, name)

    def no_rule(self, call: gast.Call, name: str) -> None:
        summary, instead = f"`{name}` has no derivative rule", rules.instead_of(name)
        if name.endswith(".at"):  # it changes an argument, which a rule cannot say
            self.add(call.func, "S2S121", summary, instead)
            return
        if instead:
            why = f"Write it with others, or give it a rule with @s2sad.adjoint_of({name})."
        else:
            short = name.split(".")[-1]
            params = ", ".join("x" if len(call.args) < 2 else f"x{k + 1}" for k in range(max(len(call.args), 1)))
            bars = ", ".join(f"{p}_bar" for p in params.split(", "))
            instead = f"@s2sad.adjoint_of({name})\ndef {short}_adjoint({params}, out, out_bar):\n    ...\n    return {bars}"
            why = f"Give it one, or mark it constant with s2sad.nondifferentiable({name})."
        self.add(call.func, "S2S121", summary, instead, why)

    def method_call(self, e: gast.Call) -> None:
        self_value, attr = e.func.value, e.func.attr
        if isinstance(self_value, gast.Name) and self_value.id in self.refused:
            return
        if attr in DRAWS and isinstance(self_value, gast.Name) and self_value.id in self.locals:
            return
        if attr == "pop":
            self.list_call(e)
            return
        self.expression(self_value)
        if attr not in KEPT_METHODS and attr not in METHODS:
            hint = {
                "item": "float(x)", "tolist": "x", "append": "xs.append(x)  # a statement of its own", "sort": "np.sort(x)",
                "insert": "xs.append(x)", "remove": "xs.pop()", "index": "a loop that compares", "count": "a loop that compares", "clear": "xs = []",
                "fill": "x[...] = value",
                "random": "# pass the numbers drawn as an argument", "normal": "# pass the numbers drawn as an argument",
            }.get(attr, f"np.{attr}(x)" if hasattr(np, attr) else "# a function that takes and returns arrays")
            self.add(e, "S2S122", f"The method `.{attr}()` cannot be differentiated", hint)

    def named_call(self, e: gast.Call, name: str) -> None:
        if name == "stop_gradient" and len(e.args) == 1 and not e.keywords:
            return
        obj = self.function.externals.get(name)
        if obj is None and name in BUILTINS:
            self.builtin_call(e, name)
        elif obj is None:
            if name not in self.refused:
                self.add(e.func, "S2S120", f"The name `{name}` is not defined", "# check the spelling; an enclosing function must have assigned it")
        elif isinstance(obj, Unknown):
            self.unknown_call(e, obj)

    def builtin_call(self, e: gast.Call, name: str) -> None:
        if name in ("enumerate", "zip", "reversed"):
            self.add(e, "S2S116", f"`{name}` can only be looped over", f"for i, v in {name}(x):")
            return
        least, most = _ARITY[name]
        if e.keywords and not (name == "sorted" and [k.arg for k in e.keywords] == ["reverse"] and isinstance(e.keywords[0].value, gast.Constant)):
            self.add(e, "S2S126", f"`{name}` does not take keywords here", f"{name}(x)")
        elif not least <= len(e.args) <= most:
            self.add(e, "S2S126", f"`{name}` has {len(e.args)} arguments here", f"{name}(x)")

    def unknown_call(self, e: gast.Call, obj: Unknown) -> None:
        o, title = obj.obj, obj.title
        if title in _BUILTIN_HINTS and getattr(o, "__module__", "") == "builtins":
            self.add(e.func, "S2S121", f"`{title}` cannot be differentiated", _BUILTIN_HINTS[title])
        elif _is_legacy_random(o):
            self.add(e.func, "S2S123", f"`{title}` draws from NumPy's hidden global state and cannot be differentiated",
                     "rng = np.random.default_rng(3)\nnoise = rng.random(n)  # where the function is called; pass `noise` as an argument",
                     "A np.random.Generator has a state that can be seen.")
        elif isinstance(getattr(o, "__self__", None), np.random.Generator):
            self.add(e.func, "S2S123", f"`{title}` changes a global random generator and cannot be differentiated",
                     f"noise = {title}(...)  # where the function is called; pass `noise` as an argument")
        elif getattr(o, "__s2sad_function__", None) is not None:
            self.add(e.func, "S2S121", f"`{title}` is itself a gradient, which cannot be differentiated here",
                     "f  # the function itself; second derivatives are not built yet")
        elif isinstance(o, type):
            self.add(e.func, "S2S121", f"Objects of the class `{title}` cannot be made in a differentiated function",
                     rules.instead_of(title) or "# plain numbers and arrays")
        elif isinstance(o, (types.BuiltinFunctionType, np.ufunc, CPUDispatcher)) or callable(o):
            self.no_rule(e, title)
        else:
            self.add(e.func, "S2S121", f"`{title}` is a {type(o).__name__} and is called", "f(x)")


def _is_legacy_random(obj: Any) -> bool:
    owner = getattr(obj, "__self__", None)
    return isinstance(owner, np.random.RandomState) or getattr(obj, "__module__", None) == "numpy.random.mtrand"
