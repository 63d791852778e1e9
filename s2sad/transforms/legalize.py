"""Say what NumPy means in forms that Numba takes and understands in the same way.

Run it on a typed function. It changes only what Numba would reject, compute otherwise or compile slowly: dtypes of float32 code, in-place
updates whose two sides overlap, writes into parts of arrays, masks, integer powers, and library calls that `rules.legal` maps to runtime
functions. Applying it twice changes nothing more.

>>> from s2sad.lang.tree import Function, stmts
>>> from s2sad.lang.types import Array, Scalar, WEAK_FLOAT
>>> names = {"y": Array("float64", 1), "s": Scalar("float32")}
>>> f = Function("f", ("y", "s"), tuple(stmts("y[1:] += y[:-1]\\ny[1:] += 2 * y[1:]\\ns = 2.0 * s\\nreturn s")), names=names)
>>> print(show(legalize(f)))
copyto(y[1:], y[1:] + y[:-1])
add_to(y[1:], 2 * y[1:])
s = np.float32(2.0) * s
return s
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping

import gast
import numpy as np

from s2sad import rules
from s2sad.analysis import types as K
from s2sad.analysis.calls import POINTWISE
from s2sad.analysis.liveness import is_whole
from s2sad.analysis.types import TypeProblem, UnknownName, literal
from s2sad.analysis.views import view_base
from s2sad.errors import TypeInferenceError, problem
from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.lang.types import FLOATS, WEAK_FLOAT, Array, Scalar, Static, Tuple, Type
from s2sad.rules.forms import KEYWORDS
from s2sad.transforms.webs import show

__all__ = ["legalize", "show"]

# ufuncs with an argument that is not a value of the computation, but an exponent of two
MIXED = ("np.ldexp",)
# in-place operations on a part of an array: Numba would copy the part twice
IN_PLACE = {gast.Add: "add_to", gast.Sub: "subtract_from", gast.Mult: "multiply_by", gast.Div: "divide_by"}
SHAPED = ("np.zeros", "np.ones", "np.empty", "np.full")


def legalize(function: Function) -> Function:
    """A typed function (`function.names` filled) in forms that mean in Numba what they mean in NumPy.

    Raises TypeInferenceError for what can be said neither way.
    """
    passing = _Legalize(function)
    return function.with_body(passing.block(list(function.body)))


class _Legalize:
    def __init__(self, function: Function):
        self.function = function
        self.names = function.names
        self.buffers = _buffers(function)

    # --- statements ---------------------------------------------------------------------

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        return [self.statement(s) for s in body]

    def statement(self, s: gast.stmt) -> gast.stmt:
        try:
            new = self._statement(s)
        except TypeProblem as p:
            node = p.node if hasattr(p.node, "lineno") else s
            raise TypeInferenceError(problem(self.function.source, node, p.code, p.summary, p.instead, p.why)) from None
        return T.at(new, s)

    def _statement(self, s: gast.stmt) -> gast.stmt:
        if isinstance(s, (gast.If, gast.For, gast.While)):
            return self._compound(s)
        if isinstance(s, gast.Assign):
            return self._assign(s)
        if isinstance(s, gast.AugAssign):
            return self._augmented(s)
        if isinstance(s, (gast.Return, gast.Expr)) and s.value is not None:
            return gast.copy_location(type(s)(self.expr(s.value)), s)
        return s

    def _compound(self, s: gast.If | gast.For | gast.While) -> gast.stmt:
        parts = {"body": self.block(s.body), "orelse": self.block(s.orelse)}
        if isinstance(s, gast.For):
            new = gast.For(T.duplicate(s.target), self.expr(s.iter), parts["body"], parts["orelse"], None)
        else:
            new = type(s)(self.expr(s.test), parts["body"], parts["orelse"])
        return gast.copy_location(new, s)

    def _assign(self, s: gast.Assign) -> gast.stmt:
        target, = s.targets
        value = self.expr(s.value)
        if isinstance(target, gast.Name):
            slot, t = self.names.get(target.id), self.type(s.value)
            # one strong float32 makes the name float32; Numba would make it float64 if a Python number is assigned as well
            if slot == Scalar("float32") and isinstance(t, Scalar) and t != slot:
                value = self._number(value, "float32")
            return gast.copy_location(gast.Assign([T.duplicate(target)], value, None), s)
        if isinstance(target, gast.Subscript):
            return self._store(target, value, s.value, s)
        return s

    def _store(self, target: gast.Subscript, value: gast.expr, old: gast.expr, s: gast.stmt) -> gast.stmt:
        base, mask = self._mask(target)
        if mask is not None:
            return gast.copy_location(gast.Expr(_call("set_mask", base, mask, value)), s)
        if self._array_part(target, old):
            value = value if self._apart(target, old) else _method(value, "copy")
            to = self.expr(target.value) if is_whole(target.slice) else self._subscript(_loaded(target))
            return gast.copy_location(gast.Expr(_call("copyto", to, value)), s)
        return gast.copy_location(gast.Assign([self._subscript(target)], value, None), s)

    def _array_part(self, target: gast.Subscript, value: gast.expr) -> bool:
        """Whether an array is written into a view of an array."""
        to, what = self.type(_loaded(target)), self.type(value)
        return isinstance(to, Array) and isinstance(what, Array) and 1 <= what.ndim <= to.ndim and self._region(target) == "view"

    def _apart(self, target: gast.Subscript, value: gast.expr) -> bool:
        """Whether the value is no view of the array that is written."""
        base = view_base(value, self.names)
        return base is None or (base in self.buffers and self.buffers[base] != self.buffers.get(T.base_name(target)))

    def _augmented(self, s: gast.AugAssign) -> gast.stmt:
        read = _loaded(s.target)
        t = self.type(read)
        whole = gast.BinOp(read, s.op, s.value)
        new = self.expr(gast.copy_location(whole, s))
        assert isinstance(new, gast.BinOp) or not isinstance(t, (Scalar, Array))
        region = self._region(s.target) if isinstance(s.target, gast.Subscript) else "view" if isinstance(t, Array) else "element"
        in_place = isinstance(new, gast.BinOp) and T.same(new.left, read) and type(new.op) is type(s.op)
        if in_place and region in ("element", "view") and not (region == "view" and self._overlap(s.target, s.value)):
            part = IN_PLACE.get(type(s.op)) if region == "view" and isinstance(s.target, gast.Subscript) else None
            if part is not None and self._float_part(t, self.type(s.value)):
                return gast.copy_location(gast.Expr(_call(part, self._subscript(read), new.right)), s)
            if region == "view" and isinstance(s.target, gast.Subscript) and isinstance(self.type(s.value), Array):
                return self._store(s.target, new, whole, s)  # Numba would not compare the shapes
            return gast.copy_location(gast.AugAssign(T.duplicate(s.target), s.op, new.right), s)
        target = s.target
        if isinstance(target, gast.Name):
            if isinstance(t, Array):
                everything = gast.Slice(None, None, None)
                target = gast.Subscript(T.name(target.id), everything, gast.Store())
                return self._store(target, new, whole, s)
            return gast.copy_location(gast.Assign([T.duplicate(target)], new, None), s)
        return self._store(target, new, whole, s)

    def _float_part(self, to: Type | None, what: Type | None) -> bool:
        """Whether values of this type can be added into a part of a float array."""
        fits = isinstance(what, Scalar) or (isinstance(what, Array) and 1 <= what.ndim <= (to.ndim if isinstance(to, Array) else 0))
        return isinstance(to, Array) and to.dtype in FLOATS and fits

    def _overlap(self, target: gast.expr, value: gast.expr) -> bool:
        """Whether an elementwise loop over the target, in place, may read elements of `value` that it has already changed."""
        buffer = self.buffers.get(T.base_name(target))
        return any(self.buffers.get(view_base(leaf, self.names) or "", "") == buffer and not T.same(leaf, target) for leaf in self._lazy(value))

    def _lazy(self, e: gast.expr) -> Iterator[gast.expr]:
        """The arrays that an elementwise expression reads while it is being stored; what other calls read has been read before."""
        if not isinstance(self.type(e), Array):
            return
        if view_base(e, self.names) is not None:
            yield e
        elif isinstance(e, (gast.BinOp, gast.UnaryOp, gast.Compare)) or (isinstance(e, gast.Call) and _is_ufunc(T.dotted(e.func) or "")):
            for child in gast.iter_child_nodes(e):
                if isinstance(child, gast.expr):
                    yield from self._lazy(child)

    # --- expressions --------------------------------------------------------------------

    def type(self, e: gast.expr) -> Type | None:
        """The type of an expression; None where names that the compiler made for its own use have none."""
        try:
            return K.type_of(e, self.names)
        except UnknownName:
            return None

    def expr(self, e: gast.expr) -> gast.expr:
        """The legal form of an expression, with the type of the old one."""
        if isinstance(e, gast.BinOp):
            return self._binop(e)
        if isinstance(e, gast.Compare):
            operands = [e.left, *e.comparators]
            left, *rest = self._together([self.expr(o) for o in operands], [self.type(o) for o in operands])
            return gast.copy_location(gast.Compare(left, e.ops, rest), e)
        if isinstance(e, gast.Subscript):
            return self._read(e)
        if isinstance(e, gast.Call):
            return self._call(e)
        return self._children(e)

    def _children(self, e: gast.expr) -> gast.expr:
        """The same node over legal children."""
        new = copy.copy(e)
        for f, value in gast.iter_fields(e):
            if isinstance(value, gast.expr):
                setattr(new, f, self.expr(value))
            elif isinstance(value, list) and any(isinstance(v, gast.expr) for v in value):
                setattr(new, f, [self.expr(v) if isinstance(v, gast.expr) else v for v in value])
        return new

    def _binop(self, e: gast.BinOp) -> gast.expr:
        lt, rt = self.type(e.left), self.type(e.right)
        left, right = self.expr(e.left), self.expr(e.right)
        if isinstance(e.op, gast.MatMult):
            # Numba multiplies matrices of one float dtype only
            if isinstance(lt, Array) and isinstance(rt, Array) and not (lt.dtype == rt.dtype and lt.dtype in FLOATS):
                return gast.copy_location(_call("matmul", left, right), e)
        elif isinstance(e.op, gast.Pow) and _integers(lt, rt):
            return self._int_power(e, left, right)
        else:
            left, right = self._together([left, right], [lt, rt], exponent=isinstance(e.op, gast.Pow))
        return gast.copy_location(gast.BinOp(left, e.op, right), e)

    def _int_power(self, e: gast.BinOp, left: gast.expr, right: gast.expr) -> gast.expr:
        n = literal(e.right)
        if isinstance(n, int) and n >= 0:
            return gast.copy_location(gast.BinOp(left, e.op, right), e)
        if isinstance(n, int):
            # Numba has 2 ** -1 == 0; the type says that the base is a Python int, so that this is a Python float
            base = T.const(float(left.value)) if isinstance(left, gast.Constant) else _call("float", left)
            return gast.copy_location(gast.BinOp(base, e.op, right), e)
        if all(isinstance(t, Scalar) and t.weak for t in (self.type(e.left), self.type(e.right))):
            return gast.copy_location(_call("int_power", left, right), e)  # which refuses what would be a float
        raise TypeProblem(e, "An integer to the power of an integer that may be negative", "2.0 ** k",
                          "The result is an int or a float, as the exponent's value decides.")

    def _together(self, new: list[gast.expr], types: list[Type | None], exponent: bool = False, ufunc: bool = True) -> list[gast.expr]:
        """Operands that meet in one elementwise operation, cast where Numba would promote otherwise than NumPy.

        `exponent`: the last one is an exponent, and Numba keeps the dtype for a literal int; `ufunc` False: everything gets the common dtype.
        """
        known = [t for t in types if isinstance(t, (Scalar, Array))]
        if len(known) < len(types) or all(isinstance(t, Scalar) and t.weak for t in known):
            return new
        common = K.common_dtype(tuple(known))
        strong = [t for t in known if not (isinstance(t, Scalar) and t.weak)]
        arrays = [t for t in known if isinstance(t, Array)]
        if not ufunc:
            return [n if t.dtype == common and t in strong else self._converted(n, t, common) for n, t in zip(new, known, strict=True)] \
                if "float32" in {t.dtype for t in strong} else new
        if common == "float32":
            single = any(a.dtype == "float32" for a in arrays)
            return [n if t in strong or (t.dtype != "float64" and (single or (exponent and k > 0 and isinstance(literal(n), int))))
                    else self._number(n, common) for k, (n, t) in enumerate(zip(new, known, strict=True))]
        if common == "float64" and arrays and not any(t.dtype == "float64" for t in known):
            # Numba multiplies float32 arrays with int64 in float32
            return [self._converted(n, t, common) if t.dtype == "float32" else n for n, t in zip(new, known, strict=True)]
        if common not in ("float64", "int64", "uint64", "bool") and arrays:
            return [n if t in strong else self._number(n, common) for n, t in zip(new, known, strict=True)]
        return new

    def _converted(self, e: gast.expr, t: Type | None, dtype: str) -> gast.expr:
        if isinstance(t, Array):
            return e if t.dtype == dtype else _method(e, "astype", _dtype(dtype))
        return e if isinstance(t, Scalar) and t == Scalar(dtype) else self._number(e, dtype)

    def _number(self, e: gast.expr, dtype: str) -> gast.expr:
        """`np.float32(e)`; what is so already stays."""
        if isinstance(e, gast.Call) and T.dotted(e.func) == f"np.{dtype}":
            return e
        return gast.copy_location(_call(f"np.{dtype}", e), e)

    # --- subscripts ---------------------------------------------------------------------

    def _region(self, e: gast.Subscript) -> str | None:
        return K.region(e, self.names) if isinstance(self.type(e.value), Array) else None

    def _subscript(self, e: gast.Subscript) -> gast.Subscript:
        new = self._children(e)
        if isinstance(new.slice, gast.Constant) and new.slice.value is Ellipsis:
            new.slice = gast.Slice(None, None, None)  # Numba has no `...` alone
        return new

    def _mask(self, e: gast.Subscript) -> tuple[gast.expr, gast.expr | None]:
        """The array and the mask of a subscript by one mask alone; None for other subscripts."""
        if self._region(e) != "mask":
            return e.value, None
        index = K.indices(e)
        if len(index) == 1:
            return self.expr(e.value), self.expr(index[0])
        raise TypeProblem(e, "A mask with further indices is not supported", "a[mask][:, 0]")

    def _read(self, e: gast.Subscript) -> gast.expr:
        base, mask = self._mask(e)
        if mask is not None:
            return gast.copy_location(_call("get_mask", base, mask), e)
        return self._subscript(e)

    # --- calls --------------------------------------------------------------------------

    def _call(self, e: gast.Call) -> gast.expr:
        name = T.dotted(e.func) or ""
        if isinstance(e.func, gast.Attribute) and not name.startswith(("np.", "math.")):
            return self._method_call(e)
        args = [self._argument(a) for a in e.args]
        keywords = [gast.keyword(k.arg, self._argument(k.value)) for k in e.keywords if not (k.arg == "dtype" and literal(k.value) is None)]
        types = [self.type(a) for a in e.args]
        new = gast.copy_location(gast.Call(e.func, args, keywords), e)
        if name == "float" and types[0] == Scalar("float32"):
            # Numba's float() of a float32 is a float32
            new.func = T.expr("np.float64")
        elif name in POINTWISE and Scalar("float32") in types and not any(isinstance(t, Array) for t in types):
            # compiled, these promote a float32 number with a Python float to float64
            new.args = [self._number(a, "float32") if t == WEAK_FLOAT else a for a, t in zip(args, types, strict=True)]
        elif name == "sum" and len(args) > 1 and K.type_of(e, self.names) == Scalar("float32"):
            new.args[1] = self._number(args[1], "float32")
        elif name.startswith("math."):
            new.args = [self._number(a, "float64") if t == Scalar("float32") else a for a, t in zip(args, types, strict=True)]
        elif name.startswith("np."):
            return self._numpy(name, new, e, types)
        return self._library(name, new, e)

    def _argument(self, e: gast.expr) -> gast.expr:
        """An argument; Python's types as dtypes and texts that name dtypes become NumPy's."""
        if isinstance(e, gast.Name) and e.id in ("float", "int", "bool") and e.id not in self.names:
            return _dtype(str(np.dtype(e.id)))
        return self.expr(e)

    def _library(self, name: str, new: gast.Call, e: gast.Call) -> gast.expr:
        """A call, by the runtime function that stands in for it if there is one."""
        if name in self.function.externals or not rules.known(name):
            return new
        try:
            types, static = K.call_types(name, e, self.names)
        except UnknownName:
            return new
        instead = rules.legal(name, types, static)
        if instead is not None:
            new.func = T.expr(instead)
            new.keywords = [gast.keyword(KEYWORDS.get(name, {}).get(k.arg, k.arg), k.value) for k in new.keywords]
        return new

    def _numpy(self, name: str, new: gast.Call, e: gast.Call, types: list[Type | None]) -> gast.expr:
        for k in new.keywords:
            if k.arg == "dtype" and isinstance(literal(k.value), str):
                k.value = _dtype(str(K.static_dtype(literal(k.value))))
            if k.arg == "kind" and name == "np.argsort":  # always the stable permutation
                new.keywords = [other for other in new.keywords if other is not k]
            if k.arg == "order":
                if literal(k.value) != "C":
                    raise TypeProblem(e, "Only order='C' is supported", "the call without order=")
                new.keywords = [other for other in new.keywords if other is not k]
        cast = literal(e.func)
        if isinstance(cast, np.dtype):
            return _method(new.args[0], "astype", _dtype(str(cast))) if isinstance(types[0], Array) else new
        if name == "np.where" and len(new.args) == 3:
            new.args[1:] = self._together(new.args[1:], types[1:], ufunc=False)
        elif name == "np.clip" and any(t == Scalar("float64") for t in types):
            # the runtime's clip does not widen a float32 array for a number
            new.args = self._together(new.args, types, ufunc=False)
        elif _is_ufunc(name) and name not in MIXED and len(new.args) > 1:
            new.args = self._together(new.args, types)
        elif name in SHAPED and new.args and isinstance(new.args[0], gast.List):
            new.args[0] = gast.Tuple(new.args[0].elts, gast.Load())
        elif name in ("np.array", "np.asarray"):
            return self._array(name, new, types)
        return self._library(name, new, e)

    def _array(self, name: str, new: gast.Call, types: list[Type | None]) -> gast.expr:
        t = types[0]
        wanted = next((literal(k.value) for k in new.keywords if k.arg == "dtype"), literal(new.args[1]) if len(new.args) > 1 else None)
        dtype = K.static_dtype(wanted)
        if isinstance(t, Array):
            if dtype is not None and dtype != t.dtype:
                return _method(new.args[0], "astype", _dtype(dtype))
            return new.args[0] if name == "np.asarray" else _method(new.args[0], "copy")
        if isinstance(t, Tuple):
            items = new.args[0].elts
            scalars = [i for i in t.items if isinstance(i, Scalar)]
            if len(scalars) == len(items) and dtype is None:
                elements = self._together(items, list(t.items), ufunc=False)
                new.args[0] = gast.List(elements, gast.Load())
        new.func = T.expr("np.array")
        return new

    def _method_call(self, e: gast.Call) -> gast.expr:
        new = self._children(e)
        assert isinstance(new, gast.Call)
        new.func = gast.Attribute(self.expr(e.func.value), e.func.attr, gast.Load())
        t = self.type(e.func.value)
        if e.func.attr == "astype" and isinstance(t, (Array, Scalar)):
            to = self.type(e.args[0])
            dtype = K.static_dtype(to.value) if isinstance(to, Static) else None
            if dtype is not None:
                new.args = [_dtype(dtype)]
                if isinstance(t, Scalar):
                    return gast.copy_location(_call(f"np.{_dtype_name(dtype)}", new.func.value), e)
        return new


# --- helpers ----------------------------------------------------------------------------


def _buffers(function: Function) -> Mapping[str, str]:
    """For each name one name that stands for all arrays with which it may share memory."""
    parent: dict[str, str] = {}

    def find(n: str) -> str:
        while parent.setdefault(n, n) != n:
            n = parent[n]
        return n

    for n in (*function.params, *function.names):
        find(n)
    for s in K.walk(function.body):
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            base = view_base(s.value, function.names) if isinstance(function.names.get(s.targets[0].id), Array) else None
            if base is not None:
                parent[find(s.targets[0].id)] = find(base)
    return {n: find(n) for n in parent}


def _is_ufunc(name: str) -> bool:
    return name.startswith("np.") and isinstance(getattr(np, name[3:], None), np.ufunc)


def _integers(*types: Type | None) -> bool:
    return all(isinstance(t, (Scalar, Array)) and t.dtype.startswith(("int", "uint", "bool")) for t in types)


def _loaded(target: gast.expr) -> gast.expr:
    new = T.duplicate(target)
    new.ctx = gast.Load()
    return new


def _call(function: str, *args: gast.expr) -> gast.Call:
    return gast.Call(T.expr(function), list(args), [])


def _method(e: gast.expr, method: str, *args: gast.expr) -> gast.Call:
    return gast.Call(gast.Attribute(e, method, gast.Load()), list(args), [])


def _dtype_name(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype


def _dtype(dtype: str) -> gast.expr:
    return T.expr(f"np.{_dtype_name(dtype)}")


