"""Names to objects: library calls get their canonical spelling, globals and closure values become hidden parameters or constants."""

from __future__ import annotations

import builtins
import copy
import enum
import importlib
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import gast
import numpy as np
from numba.core.registry import CPUDispatcher

from s2sad import custom, rules
from s2sad.lang import tree as T
from s2sad.lang.outside import Module, Part, Value
from s2sad.lang.source import name_of, unwrap

#: Builtins that the canonical form uses; a user's variable of such a name gets the suffix `_`.
RESERVED = frozenset(
    "np math range len abs int float bool round min max enumerate zip reversed stop_gradient sum any all sorted list pow divmod".split()
)

#: Builtins that may be called, and others that a message can name better than "unknown function".
BUILTINS = RESERVED - {"np", "math", "stop_gradient"}

#: Exceptions that may be raised, all made from one text.
EXCEPTIONS = frozenset(
    "Exception ValueError TypeError RuntimeError ArithmeticError ZeroDivisionError OverflowError FloatingPointError IndexError KeyError LookupError "
    "AssertionError NotImplementedError".split()
)

#: Library functions that need no derivative rule of their own.
PLAIN = (
    "np.zeros np.ones np.empty np.full np.zeros_like np.ones_like np.empty_like np.full_like np.array np.asarray np.ascontiguousarray np.arange "
    "np.linspace np.eye np.identity np.float64 np.float32 np.int64 np.int32 np.bool_ np.copy math.frexp math.modf"
).split()

#: Numbers and other constants that keep their name.
CONSTANTS = ("np.pi", "np.e", "np.inf", "np.nan", "np.euler_gamma", "math.pi", "math.e", "math.tau", "math.inf", "math.nan")

#: Methods of arrays and the functions they stand for.
METHODS = frozenset(
    "sum mean max min prod var std dot cumsum cumprod argmax argmin argsort clip reshape ravel transpose round any all trace diagonal "
    "repeat take swapaxes squeeze searchsorted ptp nonzero".split()
)

#: Attributes and methods that stay as they are.
KEPT_ATTRIBUTES = frozenset({"T", "shape", "size", "ndim", "dtype"})
KEPT_METHODS = frozenset({"copy", "astype"})

#: Methods of lists that change them.
LIST_METHODS = frozenset({"append", "extend", "pop", "sort", "reverse"})

#: Functions of sequences of arrays, and places where a list means a tuple.
SHAPED = frozenset(f"np.{f}" for f in "zeros ones empty full reshape transpose broadcast_to".split())
JOINS = frozenset(f"np.{f}" for f in "concatenate stack hstack vstack dstack column_stack".split())


@dataclass(frozen=True)
class Assumption:
    """Something outside of the function that the compiled code takes for granted."""

    read: Callable[[], Any]
    value: Any

    def holds(self) -> bool:
        """Whether it is still so (constants are compared by type and value, all else by identity)."""
        try:
            now = self.read()
        except (NameError, AttributeError, LookupError, TypeError, ValueError):
            return False
        return now is self.value or is_constant(self.value) and type(now) is type(self.value) and repr(now) == repr(self.value)


@dataclass(frozen=True)
class Callee:
    """A user function that is called; lives in `Function.externals` until it is inlined."""

    fn: types.FunctionType
    function: T.Function


@dataclass(frozen=True)
class Recursive:
    """A user function that calls itself, perhaps through others: it stays a function of its own, in `Function.recursive` of the program."""

    fn: Any


@dataclass(frozen=True)
class Unknown:
    """An object that nothing is known about: any use of it is refused by the fence."""

    obj: Any
    title: str
    read: Callable[[], Any] | None = None


@dataclass(eq=False)
class Resolved:
    """What `resolve` finds besides the function: the user functions named in it, and what was taken for granted."""

    fn: types.FunctionType
    node: gast.FunctionDef
    function: T.Function
    callees: dict[str, types.FunctionType] = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)
    imports: dict[str, gast.stmt] = field(default_factory=dict)


def is_constant(obj: Any) -> bool:
    """Whether a value is built into the compiled code: bool, str, None, and tuples of those and ints."""
    if isinstance(obj, tuple):
        return type(obj) is tuple and all(is_constant(o) or type(o) is int for o in obj)
    return obj is None or type(obj) in (bool, str)


def is_number(obj: Any) -> bool:
    """Whether a value becomes a hidden parameter: a real number or a numeric array."""
    if isinstance(obj, np.ndarray):
        return obj.dtype.kind in "fiub"
    return isinstance(obj, (int, float, np.floating, np.integer, np.bool_)) and not isinstance(obj, (bool, enum.Enum))


def _constants() -> dict[int, str]:
    found = {}
    for dotted in CONSTANTS:
        module, attribute = dotted.split(".")
        found[id(getattr(np if module == "np" else math, attribute))] = dotted
    return found


_PLAIN_BY_ID = {id(getattr({"np": np, "math": math}[n.split(".")[0]], n.split(".")[1])): n for n in PLAIN}
_DTYPE_NAMES = "float64 float32 int64 int32 int16 int8 uint64 uint32 uint16 uint8".split()
_DTYPES: dict[type, str] = {np.bool_: "np.bool_"} | {getattr(np, t): f"np.{t}" for t in _DTYPE_NAMES}


def canonical(obj: Any) -> str | None:
    """The canonical name of a library object, or None."""
    if isinstance(obj, type) and obj in _DTYPES:
        return _DTYPES[obj]
    found: str | None = rules.canonical(obj)
    return found if found is not None else _PLAIN_BY_ID.get(id(obj))


def dotted_expr(name: str) -> gast.expr:
    """The tree of a dotted name."""
    head, *rest = name.split(".")
    node: gast.expr = T.name(head)
    for attribute in rest:
        node = gast.Attribute(node, attribute, gast.Load())
    return node


def resolve(fn: types.FunctionType, node: gast.FunctionDef, source: T.SourceMap, captured: bool = False) -> Resolved:
    """Canonical form of a function that was just read (the tree is changed in place, it is ours).

    `captured`: its closure values stay names, because another function of the same code may stand for it.

    >>> from math import exp as e
    >>> from s2sad.transforms.example import source
    >>> from s2sad.transforms.front import build
    >>> def f(x):
    ...     return e(x.sum())
    >>> print(source(build(f, "resolve")))
    return math.exp(np.sum(x))
    """
    return _Resolver(fn, node, source, captured).run()


def own_names(node: Any) -> list[str]:
    """Names that belong to a function or lambda inside a function: its parameters, and what its body binds."""
    arguments = node.args
    found = dict.fromkeys(a.id for a in (*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg) if a)
    outer: set[str] = set()

    def visit(n: gast.AST) -> None:
        if isinstance(n, (gast.Global, gast.Nonlocal)):
            outer.update(n.names)
        elif isinstance(n, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            found[n.name] = None
        elif isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Del)):
            found[n.id] = None
        elif not isinstance(n, (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)):
            for child in gast.iter_child_nodes(n):
                visit(child)

    for s in node.body if isinstance(node.body, list) else [node.body]:
        visit(s)
    return [n for n in found if n not in outer]


class _Resolver(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, fn: types.FunctionType, node: gast.FunctionDef, source: T.SourceMap, captured: bool):
        self.fn, self.node, self.source = fn, node, source
        code = fn.__code__
        self.locals = set(code.co_varnames) | set(code.co_cellvars) | (set(code.co_freevars) if captured else set())
        self.modules: dict[str, Any] = {}  # names bound by imports in the body
        self.imported: dict[str, Any] = {}  # how those of them are read that are not numpy's or math's
        self.refused_imports: dict[str, gast.stmt] = {}
        self.fresh = T.Fresh(set(RESERVED))
        ordered = list(code.co_varnames) + [c for c in code.co_cellvars if c not in code.co_varnames]
        self.renamed = {n: n for n in ordered if n not in RESERVED}
        self.fresh.used |= set(self.renamed)
        for n in ordered:
            if n in RESERVED:
                self.renamed[n] = self.fresh(n + "_")
        # what functions and comprehensions inside bind must not clash with what becomes a parameter
        inner = [n for n in gast.walk(node) if isinstance(n, (gast.FunctionDef, gast.Lambda)) and n is not node]
        self.fresh.used |= {name for n in inner for name in own_names(n)} | T.stores(node.body)
        self.hidden: dict[Value, str] = {}
        self.externals: dict[str, Any] = {}
        self.external_names: dict[int, str] = {}
        self.callees: dict[str, types.FunctionType] = {}
        self.assumptions: dict[Any, Assumption] = {}

    def run(self) -> Resolved:
        body = self._imports(self.node.body)
        body = [s for s in (self.visit(s) for s in body) if s is not None]
        arguments = self.node.args
        params = tuple(self.renamed[a.id] for a in [*arguments.args, *arguments.posonlyargs, *arguments.kwonlyargs])
        if arguments.posonlyargs:
            params = tuple(self.renamed[a.id] for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs])
        hidden = tuple(T.Hidden(name, read) for read, name in self.hidden.items())
        function = T.Function(
            name_of(self.fn),
            params + tuple(h.name for h in hidden),
            tuple(body),
            hidden,
            MappingProxyType(self.externals),
            self.source,
        )
        self._rename_parameters(self.node)
        self.node.body = body
        return Resolved(self.fn, self.node, function, self.callees, list(self.assumptions.values()), self.refused_imports)

    def _rename_parameters(self, node: Any) -> None:
        a = node.args
        for p in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg):
            if p is not None:
                p.original, p.id = p.id, self.renamed.get(p.id, p.id)

    # -- imports in the body ------------------------------------------------------------------------------

    def _imports(self, body: list[gast.stmt]) -> list[gast.stmt]:
        """Take imports of numpy and math at the top level of the body out; others are left for the fence."""
        rest = []
        for s in body:
            if isinstance(s, gast.Import) and all(a.name.split(".")[0] in ("numpy", "math") and (a.asname or "." not in a.name) for a in s.names):
                for a in s.names:
                    self._bind_module(a.asname or a.name, _module(a.name))
            elif isinstance(s, gast.ImportFrom) and s.module and not s.level and s.module.split(".")[0] in ("numpy", "math"):
                for a in s.names:
                    self._bind_module(a.asname or a.name, getattr(_module(s.module), a.name, None))
            elif isinstance(s, (gast.Import, gast.ImportFrom)) and (found := self._imported(s)) is not None:
                for name, read in found:
                    self._bind_module(name, read())
                    self.imported[name] = read
                    if not is_number(read()):
                        self.assumptions[read] = Assumption(read, read())
            else:
                if isinstance(s, (gast.Import, gast.ImportFrom)):
                    for a in s.names:
                        self.refused_imports[(a.asname or a.name).split(".")[0]] = s
                rest.append(s)
        return rest

    def _imported(self, s: Any) -> list[tuple[str, Any]] | None:
        """Name -> how it is read, of an import of other modules; None if Python could not do it now."""
        package = self.fn.__globals__.get("__package__") or ""
        try:
            if isinstance(s, gast.Import):
                if any("." in a.name and not a.asname for a in s.names):
                    return None
                return [(a.asname or a.name, Module(importlib.import_module(a.name).__name__)) for a in s.names]
            module = importlib.import_module("." * s.level + (s.module or ""), package or None)
            reads = [(a.asname or a.name, Part(Module(module.__name__), a.name)) for a in s.names if a.name != "*"]
            for _, read in reads:
                read()
        except (ImportError, AttributeError, KeyError, TypeError, ValueError):
            return None
        return reads if len(reads) == len(s.names) else None

    def _bind_module(self, name: str, obj: Any) -> None:
        self.locals.discard(name)
        self.modules[name] = obj

    # -- objects ------------------------------------------------------------------------------------------

    def static(self, node: gast.expr) -> tuple[Any, Any] | None:
        """The object that an expression of non-local names and attributes of modules stands for, and how to read it; or None."""
        if isinstance(node, gast.Name):
            if node.id in self.locals:
                return None
            if node.id in self.modules:
                return self.modules[node.id], self.imported.get(node.id)
            read = Value(self.fn, (node.id,))
            try:
                obj = read()
            except (NameError, ValueError):
                return None
            if not is_number(obj):
                self.assumptions[read] = Assumption(read, obj)
            return obj, read
        if isinstance(node, gast.Attribute):
            found = self.static(node.value)
            if found is None:
                return None
            obj, owner = found
            if isinstance(obj, np.ndarray) or is_number(obj) or isinstance(obj, str):
                return None
            if not hasattr(obj, node.attr):
                return Unknown(obj, T.dotted(node) or node.attr), None
            inner = getattr(obj, node.attr)
            below = None
            if owner is not None:
                below = Value(owner.fn, (*owner.path, node.attr)) if isinstance(owner, Value) else Part(owner, node.attr)
                if obj not in (np, math) if isinstance(obj, types.ModuleType) else True:
                    if not is_number(inner) and not isinstance(inner, types.MethodType):
                        self.assumptions[below] = Assumption(below, inner)
            return inner, below
        return None

    def value(self, obj: Any, read: Any, node: gast.expr) -> gast.expr:
        """The expression for a non-local object used as a value."""
        known = _CONSTANT_NAMES.get(id(obj))
        owner = self.static(node.value) if isinstance(node, gast.Attribute) else None
        if known is not None and (read is None or owner is not None and isinstance(owner[0], types.ModuleType) and owner[0] in (np, math)):
            return T.at(dotted_expr(known), node)
        if is_constant(obj) or obj is Ellipsis:
            return T.at(_literal(obj), node)
        if is_number(obj):
            if read is None:
                return T.at(T.const(obj), node)
            if read not in self.hidden:
                self.hidden[read] = self.fresh(read.path[-1] if isinstance(read, Value) else read.key)
            return T.at(T.name(self.hidden[read]), node)
        if isinstance(obj, np.dtype) and obj.type in _DTYPES:
            return T.at(dotted_expr(_DTYPES[obj.type]), node)
        if isinstance(obj, type) and obj in _DTYPES:
            return T.at(dotted_expr(_DTYPES[obj]), node)
        if isinstance(obj, Unknown):
            return self.external(obj, obj.title, node)
        if is_user_function(obj) or _named(obj):
            return self.callable(obj, node, read)
        return self.external(Unknown(obj, T.dotted(node) or "this", read), T.dotted(node) or "value", node)

    def external(self, obj: Any, wish: str, node: gast.expr) -> gast.expr:
        key = id(obj.obj) if isinstance(obj, Unknown) else id(obj)
        if key not in self.external_names:
            name = self.fresh(wish.split(".")[-1])
            # emitted code may import the runtime function of that name
            self.external_names[key] = self.fresh(name) if name in rules.runtime_names() else name
        name = self.external_names[key]
        self.externals[name] = obj
        return T.at(T.name(name), node)

    def callable(self, obj: Any, node: gast.expr, read: Value | None = None) -> gast.expr:
        """The expression for a non-local object that is called."""
        if isinstance(obj, Unknown):
            return self.external(obj, obj.title, node)
        if obj is custom.stop_gradient:
            return T.at(T.name("stop_gradient"), node)
        plain = obj.py_func if isinstance(obj, CPUDispatcher) else obj
        for f in (obj, plain):
            if _hashable(f) and (custom.adjoint_rule(f) is not None or custom.is_nondifferentiable(f)):
                return self.external(f, getattr(plain, "__name__", "external"), node)
        name = canonical(obj)
        if name is not None:
            return T.at(dotted_expr(name), node)
        title = getattr(obj, "__name__", None)
        if title in BUILTINS and getattr(builtins, title, None) is obj:
            return T.at(T.name(title), node)
        if is_user_function(obj):
            new = self.external(obj, name_of(obj), node)
            self.callees[new.id] = unwrap(obj)
            return new
        return self.external(Unknown(obj, T.dotted(node) or "this", read), T.dotted(node) or "value", node)

    # -- the tree -----------------------------------------------------------------------------------------

    def visit_Raise(self, node: gast.Raise) -> gast.stmt:
        """`raise E(...)`: a text, or a format and the values that go into it."""
        call = node.exc if isinstance(node.exc, gast.Call) else None
        found = self.static(call.func if call is not None else node.exc) if node.exc is not None else None
        known = found is not None and isinstance(found[0], type) and getattr(builtins, found[0].__name__, None) is found[0]
        if found is None or not known or found[0].__name__ not in EXCEPTIONS:
            return node  # for the fence
        args = call.args if call is not None else []
        node.exc = T.at(gast.Call(T.name(found[0].__name__), self.message(args[0]) if len(args) == 1 else args, call.keywords if call else []), node)
        return node

    def visit_Assert(self, node: gast.Assert) -> gast.stmt:
        """`assert` is a branch that raises."""
        args = [] if node.msg is None else self.message(node.msg)
        raising = T.at(gast.Raise(gast.Call(T.name("AssertionError"), args, []), None), node)
        test = self.visit(node.test)
        return T.at(gast.If(T.at(gast.UnaryOp(gast.Not(), test), test), [raising], []), node)

    def message(self, node: gast.expr) -> list[gast.expr]:
        """The arguments of an exception for its message: a text without run-time values alone, otherwise a format and the values."""
        if not isinstance(node, gast.JoinedStr):
            return [self.visit(node)]
        text, values = "", []
        for part in node.values:
            if isinstance(part, gast.Constant):
                text += str(part.value).replace("{", "{{").replace("}", "}}")
                continue
            value = self.visit(part.value)
            spec = part.format_spec.values if part.format_spec is not None else []
            if part.conversion not in (-1, None) or not all(isinstance(x, gast.Constant) for x in spec):
                return [node]  # for the fence
            form = "{:" + "".join(str(x.value) for x in spec) + "}" if spec else "{}"
            if isinstance(value, gast.Constant):
                text += form.format(value.value).replace("{", "{{").replace("}", "}}")
            else:
                text += form
                values.append(value)
        return [T.at(T.const(text if values else text.format()), node), *values]

    def visit_Name(self, node: gast.Name) -> gast.expr:
        if node.id in self.locals:
            node.id = self.renamed.get(node.id, node.id)
            return node
        if not isinstance(node.ctx, gast.Load):
            return node
        found = self.static(node)
        return node if found is None else self.value(*found, node)

    def visit_Attribute(self, node: gast.Attribute) -> gast.expr:
        found = self.static(node)
        if found is not None and isinstance(node.ctx, gast.Load):
            return self.value(*found, node)
        self.generic_visit(node)
        return node

    def visit_Call(self, node: gast.Call) -> gast.expr:
        found = self.static(node.func)
        if found is not None:
            node.func = self.callable(found[0], node.func, found[1])
        elif isinstance(node.func, gast.Attribute):
            node.func.value = self.visit(node.func.value)
        else:
            node.func = self.visit(node.func)
        node.args = [self.visit(a) for a in node.args]
        for k in node.keywords:
            k.value = self.visit(k.value)
        if found is None and isinstance(node.func, gast.Attribute):
            return _method(node)
        return canonical_call(node)

    def visit_ListComp(self, node: Any) -> gast.expr:
        """The targets of a comprehension are names of its own (Python keeps them out of the function's `co_varnames`)."""
        own = {n.id for g in node.generators for n in gast.walk(g.target) if isinstance(n, gast.Name)}
        node.generators[0].iter = self.visit(node.generators[0].iter)
        before, modules = set(self.locals), dict(self.modules)
        self.locals |= own
        for n in own:
            self.modules.pop(n, None)
            self.renamed.setdefault(n, self.fresh(n + "_") if n in RESERVED else n)
            self.fresh.used.add(n)
        for k, g in enumerate(node.generators):
            g.target = self.visit(g.target)
            if k:
                g.iter = self.visit(g.iter)
            g.ifs = [self.visit(test) for test in g.ifs]
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                setattr(node, part, self.visit(getattr(node, part)))
        self.locals, self.modules = before, modules
        return node

    visit_GeneratorExp = visit_DictComp = visit_ListComp

    def visit_Compare(self, node: gast.Compare) -> gast.expr:
        """`x in (1, 2)` as `x == 1 or x == 2`."""
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], (gast.In, gast.NotIn)):
            return node
        parts = node.comparators[0]
        called = any(isinstance(n, gast.Call) for n in gast.walk(node.left))
        if called or not isinstance(parts, (gast.Tuple, gast.List)) or any(isinstance(p, gast.Starred) for p in parts.elts):
            return node
        among = isinstance(node.ops[0], gast.In)
        if not parts.elts:
            return T.at(T.const(not among), node)
        tests = [T.at(gast.Compare(copy.deepcopy(node.left), [gast.Eq() if among else gast.NotEq()], [p]), node) for p in parts.elts]
        return tests[0] if len(tests) == 1 else T.at(gast.BoolOp(gast.Or() if among else gast.And(), tests), node)

    def visit_Subscript(self, node: gast.Subscript) -> gast.expr:
        self.generic_visit(node)
        if isinstance(node.slice, gast.List):  # v[[0, 2]]
            node.slice = T.at(T.expr("np.array(items)", items=node.slice), node.slice)
        return node

    def visit_Expr(self, node: gast.Expr) -> gast.stmt | None:
        if isinstance(node.value, gast.Constant):
            return None
        call = node.value
        if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and self.static(call.func) is None:
            # in-place methods, as the assignments they stand for
            if call.func.attr == "fill" and len(call.args) == 1 and not call.keywords:
                whole = gast.Subscript(call.func.value, T.const(Ellipsis), gast.Store())
                return self.visit(T.at(gast.Assign([T.at(whole, node)], call.args[0], None), node))
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        """A function inside the function: its names are its own, the others mean what they mean here."""
        arguments = node.args
        arguments.defaults = [self.visit(d) for d in arguments.defaults]
        arguments.kw_defaults = [d if d is None else self.visit(d) for d in arguments.kw_defaults]
        if isinstance(node, gast.FunctionDef):
            node.name = self.renamed.get(node.name, node.name)
            node.decorator_list = [self.visit(d) for d in node.decorator_list]
        own = own_names(node)
        before, modules = set(self.locals), dict(self.modules)
        self.locals |= set(own)
        for n in own:
            self.modules.pop(n, None)
            self.renamed.setdefault(n, self.fresh(n + "_") if n in RESERVED else n)
            self.fresh.used.add(n)
        self._rename_parameters(node)
        if isinstance(node, gast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = [s for s in (self.visit(s) for s in node.body) if s is not None]
        self.locals, self.modules = before, modules
        return node

    visit_Lambda = visit_FunctionDef

    def visit_ClassDef(self, node: gast.stmt) -> gast.stmt:
        return node  # refused by the fence

    visit_AsyncFunctionDef = visit_ClassDef

    def visit_AnnAssign(self, node: gast.AnnAssign) -> gast.stmt | None:
        if node.value is None:
            return None
        return self.visit(T.at(gast.Assign([node.target], node.value, None), node))


_NOT_OURS = ("numpy", "dataclasses", "copy", "functools", "collections", "itertools", "operator", "contextlib", "warnings", "logging")


def is_user_function(obj: Any) -> bool:
    """Whether an object is a function of the user that can be read: plain, jitted, or wrapped so that calling it gives its value.

    Functions in Python of NumPy and of the standard library are none: what is refused in them would be told at lines that the user has not written.
    """
    if isinstance(obj, (types.FunctionType, CPUDispatcher)):
        return str(getattr(obj, "__module__", "")).split(".")[0] not in _NOT_OURS
    return getattr(obj, "__s2sad_function__", None) is not None and bool(getattr(obj, "__s2sad_calls_primal__", False))


def _named(obj: Any) -> bool:
    """Whether an object is a function of a library, or one that the user has said something of."""
    if not _hashable(obj) or not callable(obj):
        return False
    return library_name(obj) is not None or custom.adjoint_rule(obj) is not None or custom.is_nondifferentiable(obj)


def library_name(obj: Any) -> str | None:
    """The canonical name of a function of a library or a builtin."""
    if not _hashable(obj) or not callable(obj):
        return None
    title = getattr(obj, "__name__", None)
    if title in BUILTINS and getattr(builtins, title, None) is obj:
        return str(title)
    return canonical(obj)


def _hashable(obj: Any) -> bool:
    return type(obj).__hash__ is not None


def _module(name: str) -> Any:
    obj: Any = {"numpy": np, "math": math}[name.split(".")[0]]
    for attribute in name.split(".")[1:]:
        obj = getattr(obj, attribute)
    return obj


def _literal(obj: Any) -> gast.expr:
    if isinstance(obj, tuple):
        return gast.Tuple([_literal(o) for o in obj], gast.Load())
    return T.const(obj)


def _method(node: gast.Call) -> gast.expr:
    """`x.sum(axis=0)` as `np.sum(x, axis=0)`."""
    value, attr = node.func.value, node.func.attr
    if attr in KEPT_METHODS:
        return node
    if attr == "flatten" and not node.args and not node.keywords:
        return T.at(T.expr("np.ravel(x.copy())", x=value), node)
    if attr in METHODS:
        args = node.args
        if attr in ("reshape", "transpose") and (len(args) > 1 or attr == "transpose" and args and not isinstance(args[0], gast.Tuple)):
            args = [T.at(gast.Tuple(args, gast.Load()), node)]
        written = attr, value, list(node.args)
        node.func = T.at(dotted_expr(canonical(getattr(np, attr)) or f"np.{attr}"), node.func)
        node.args = [value, *args]
        node = canonical_call(node)
        node.as_method = written  # objects of the user may have a method of that name
        return node
    return node


def canonical_call(node: gast.Call) -> gast.expr:
    """Lists that mean tuples become tuples, and a tuple that means an array a list; `pow(x, y)` is `x ** y`."""
    name = T.dotted(node.func) or ""
    plain = _FORMS.get(name)
    if plain is not None:
        return T.at(plain(node), node)
    if name in ("np.array", "np.asarray"):
        if node.args and isinstance(node.args[0], gast.Tuple):
            node.args[0] = T.at(gast.List(node.args[0].elts, gast.Load()), node.args[0])
    elif name in JOINS or name in SHAPED:
        node.args = [_tuple(a) for a in node.args]
    for k in node.keywords:
        if k.arg in ("axis", "shape", "axes"):
            k.value = _tuple(k.value)
    return node


def _positional(node: gast.Call, start: str) -> gast.Call:
    """A keyword that may be given by position as well."""
    if len(node.args) == 1 and [k.arg for k in node.keywords] == [start]:
        return gast.Call(node.func, [*node.args, node.keywords[0].value], [])
    return node


def _folded(node: gast.Call, one: str, none: gast.expr) -> gast.expr:
    """`f(a, b, c)` as `f(f(a, b), c)`; `one` is what it does to a single argument `x`."""
    if node.keywords or any(isinstance(a, gast.Starred) for a in node.args):
        return node
    if len(node.args) < 2:
        return T.expr(one, x=node.args[0]) if node.args else none
    whole = gast.Call(node.func, node.args[:2], [])
    for a in node.args[2:]:
        whole = gast.Call(node.func, [whole, a], [])
    return whole


def _log(node: gast.Call) -> gast.expr:
    if len(node.args) == 2 and not node.keywords:
        return T.expr("math.log(x) / math.log(b)", x=node.args[0], b=node.args[1])
    return node


def _pow(node: gast.Call) -> gast.expr:
    node = _positional(node, "exp")
    return gast.BinOp(node.args[0], gast.Pow(), node.args[1]) if len(node.args) == 2 and not node.keywords else node


def _prod(node: gast.Call) -> gast.expr:
    if len(node.args) == 1 and [k.arg for k in node.keywords] == ["start"]:
        return T.expr("s * math.prod(x)", s=node.keywords[0].value, x=node.args[0])
    return node


def _perm(node: gast.Call) -> gast.expr:
    return T.expr("math.factorial(n)", n=node.args[0]) if len(node.args) == 1 and not node.keywords else node


def _dist(node: gast.Call) -> gast.expr:
    """The distance of points that are written out."""
    if len(node.args) == 2 and all(isinstance(a, (gast.Tuple, gast.List)) for a in node.args):
        p, q = (a.elts for a in node.args)
        if len(p) == len(q):
            apart: list[gast.expr] = [T.expr("a - b", a=a, b=b) for a, b in zip(p, q, strict=True)]
            return _folded(gast.Call(T.expr("math.hypot"), apart, []), "math.fabs(x)", T.const(0.0))
    return node


def _display(node: gast.Call) -> list[gast.expr] | None:
    """What is written out in the one argument of a call: `f((a, b))`."""
    if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], (gast.Tuple, gast.List)):
        parts: list[gast.expr] = node.args[0].elts
        return parts if parts and not any(isinstance(p, gast.Starred) for p in parts) else None
    return None


def _extreme(node: gast.Call) -> gast.expr:
    parts = _display(node)
    return node if parts is None else parts[0] if len(parts) == 1 else gast.Call(node.func, parts, [])


def _sum(node: gast.Call) -> gast.expr:
    parts = _display(node)
    if parts is None:
        return _positional(node, "start")
    total = parts[0] if len(parts) > 1 else T.expr("0 + x", x=parts[0])
    for p in parts[1:]:
        total = gast.BinOp(total, gast.Add(), p)
    return total


def _any(op: gast.boolop) -> Callable[[gast.Call], gast.expr]:
    def of(node: gast.Call) -> gast.expr:
        parts = _display(node)
        if parts is None:
            return node
        tests = [p if isinstance(p, gast.Compare) else T.expr("bool(x)", x=p) for p in parts]
        return tests[0] if len(tests) == 1 else gast.BoolOp(op, tests)

    return of


#: Calls that have another form here: a function of the call. What has none is left for the fence.
_FORMS: Mapping[str, Callable[[gast.Call], gast.expr]] = {
    "math.log": _log,
    "math.hypot": lambda node: _folded(node, "math.fabs(x)", T.const(0.0)),
    "math.gcd": lambda node: _folded(node, "abs(x)", T.const(0)),
    "math.lcm": lambda node: _folded(node, "abs(x)", T.const(1)),
    "math.perm": _perm,
    "math.prod": _prod,
    "math.dist": _dist,
    "pow": _pow,
    "sum": _sum,
    "min": _extreme,
    "max": _extreme,
    "any": _any(gast.Or()),
    "all": _any(gast.And()),
}


def _tuple(node: gast.expr) -> gast.expr:
    return T.at(gast.Tuple(node.elts, gast.Load()), node) if isinstance(node, gast.List) else node


_CONSTANT_NAMES = _constants()


def externals_with(function: T.Function, new: Mapping[str, Any]) -> T.Function:
    """The function with some externals replaced."""
    return function.with_body(function.body, externals=MappingProxyType({**function.externals, **new}))
