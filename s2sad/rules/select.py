"""Picking the row that fits the types of a call."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sad.lang import tree
from s2sad.lang.types import Array, Scalar, Static, Tuple, Type, is_array, is_float
from s2sad.rules.forms import TABLE, Row, Rule, RuleError, parse, value_names, with_partials

JOINS = ("np.concatenate", "np.stack", "np.hstack", "np.vstack")
CONVERSIONS = ("astype", "np.array", "np.asarray")
NEED_ARRAY = {
    *("np." + n for n in "sum mean prod max min var std cumsum cumprod diff linalg.norm any all count_nonzero argmax argmin sort argsort".split()),
    *("np." + n for n in "reshape ravel transpose swapaxes moveaxis expand_dims squeeze flip flipud fliplr roll diag trace tril triu".split()),
    *("np." + n for n in "matmul dot inner vdot outer ascontiguousarray".split()),
    "copy",
    "astype",
}
NEED_SCALARS = {"np.full": ("fill_value",), "np.full_like": ("fill_value",), "np.linspace": ("start", "stop"), "np.arange": ("start", "stop", "step")}


def ndim_of(t: Type | None) -> int | None:
    """Number of axes of a value, if it is a number or an array."""
    return t.ndim if isinstance(t, Array) else 0 if isinstance(t, Scalar) else None


def padded(rule: Rule, types: Sequence[Type | None]) -> dict[str, Type | None]:
    """Types by parameter."""
    if len(types) > len(rule.params):
        raise RuleError(f"{rule.name} takes {len(rule.params)} arguments here ({', '.join(rule.params)}), {len(types)} given")
    return dict(zip(rule.params, [*types, *[None] * (len(rule.params) - len(types))], strict=True))


def _row(name: str, types: Sequence[Type | None]) -> Row:
    rows = TABLE.get(name)
    if rows is None:
        raise RuleError(f"{name} has no derivative rule")
    for row in rows:
        if all(n is None or (k < len(types) and ndim_of(types[k]) == n) for k, n in enumerate(row.when)):
            return row
    wanted = " or ".join(" and ".join("any" if n is None else f"{n}" for n in row.when) for row in rows)
    raise RuleError(f"{name} has rules for arguments with {wanted} axes only")


def lookup(name: str, types: Sequence[Type | None]) -> Rule:
    """The rule of a function for arguments of these types (see the package's docstring). RuleError if there is none."""
    row = _row(name, types)
    rule = row.rule
    if name in JOINS:
        return _join(rule, types)
    if name == "np.array" and types and isinstance(types[0], Tuple):
        return _array_of_numbers(rule, types)
    by_param = padded(rule, types)
    first = by_param[rule.params[0]]
    if name in NEED_ARRAY and not is_array(first):
        raise RuleError(f"{name} needs an array here")
    if name in ("np.array", "np.asarray") and not is_array(first):
        raise RuleError(f"{name} of a {first} is not supported: write np.array([x])")
    if name in ("np.float64", "np.float32", "np.int64", "np.int32", "np.bool_", "float", "int", "bool") and is_array(first):
        raise RuleError(f"{name} of an array is not supported: write x.astype({name})")
    for p in NEED_SCALARS.get(name, ()):
        if is_array(by_param[p]):
            raise RuleError(f"{name} with an array as `{p}` is not supported")
    if name == "np.interp" and not (ndim_of(by_param["xp"]) == ndim_of(by_param["fp"]) == 1):
        raise RuleError("np.interp needs 1-d arrays of points and values")
    if name == "np.clip":
        rule = _clip(rule, by_param)
    if name == "np.transpose" and _is_none(by_param["axes"]):
        rule = with_partials(rule, {"a": parse("y_bar.T")})
    if name == "np.arange" and not any(is_float(t) for t in by_param.values()):
        rule = replace(rule, kind="zero")
    if name in (*CONVERSIONS, "np.full", "np.full_like") and not _result_is_float(rule, by_param):
        return replace(rule, kind="zero", partials={})
    if rule.kind == "vjp":
        rule = _fitted(rule, by_param)
    return rule


def _is_none(t: Type | None) -> bool:
    return t is None or (isinstance(t, Static) and t.value is None)


def _clip(rule: Rule, by_param: Mapping[str, Type | None]) -> Rule:
    low, high = (not _is_none(by_param[p]) for p in ("a_min", "a_max"))
    if low and high:
        return rule
    if low:
        return with_partials(rule, {"a": parse("share(a, a_min)"), "a_min": parse("share(a_min, a)")})
    if high:
        return with_partials(rule, {"a": parse("share(a_max, a)"), "a_max": parse("share(a, a_max)")})
    raise RuleError("np.clip needs a bound")


def _dtype(t: Type | None) -> np.dtype[Any] | None:
    """The dtype that a dtype argument names."""
    return None if _is_none(t) or not isinstance(t, Static) else np.dtype(t.value)  # type: ignore[call-overload]


def _result_is_float(rule: Rule, by_param: Mapping[str, Type | None]) -> bool:
    dtype = _dtype(by_param.get("dtype"))
    if dtype is not None:
        return dtype.kind == "f"
    return is_float(by_param["a"]) if rule.name == "np.full_like" else True


class _Fit(gast.NodeTransformer):  # type: ignore[misc]
    """`x.shape` of a number is `()`, its size 1; products of different dtypes are runtime calls."""

    def __init__(self, scalars: set[str], mixed: bool):
        self.scalars, self.mixed = scalars, mixed

    def visit_Attribute(self, node: Any) -> Any:
        if isinstance(node.value, gast.Name) and node.value.id in self.scalars and node.attr in ("shape", "size"):
            return gast.Tuple([], gast.Load()) if node.attr == "shape" else tree.const(1)
        return self.generic_visit(node)

    def visit_BinOp(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.mixed and isinstance(node.op, gast.MatMult):
            return gast.Call(tree.name("matmul"), [node.left, node.right], [])
        return node


def _fitted(rule: Rule, by_param: Mapping[str, Type | None]) -> Rule:
    numbers = {p: t for p, t in by_param.items() if isinstance(t, (Scalar, Array))}
    data = {p: t for p, t in numbers.items() if p in rule.partials or t.dtype.startswith("float") or isinstance(t, Array)}
    dtypes = {t.dtype for t in data.values()}
    changes = rule.name in (*CONVERSIONS, "np.interp", "math.fsum", "math.dist") or "dtype" in rule.params  # the result's dtype may be another
    asked = _dtype(by_param.get("dtype"))
    converts = changes and (dtypes != {"float64"} or asked not in (None, np.dtype(np.float64)))
    fit = _Fit({p for p, t in numbers.items() if isinstance(t, Scalar)}, len(dtypes) > 1)
    partials = {}
    for p, e in rule.partials.items():
        e = fit.visit(copy.deepcopy(e))
        t = by_param[p]
        if (len(dtypes) > 1 or converts) and is_float(t) and not (isinstance(e, gast.Constant) and e.value == 0):
            e = converted(e, t)
        partials[p] = e
    return replace(rule, partials=partials)


def converted(e: gast.expr, t: Type | None) -> gast.expr:
    """An adjoint contribution in the dtype of its parameter."""
    if isinstance(t, Array):
        return tree.expr(f"e.astype(np.{t.dtype})", e=e)
    assert isinstance(t, Scalar)
    return tree.expr(f"np.{t.dtype}(e)", e=e)


# --- functions of one tuple of values ----------------------------------------------------------


def _parts(rule: Rule, types: Sequence[Type | None]) -> tuple[Type, ...]:
    if not types or not isinstance(types[0], Tuple) or not types[0].items:
        raise RuleError(f"{rule.name} needs its arrays as a tuple written in the call")
    if not all(isinstance(t, Array) for t in types[0].items):
        raise RuleError(f"{rule.name} needs arrays")
    return types[0].items


def _join(rule: Rule, types: Sequence[Type | None]) -> Rule:
    parts = _parts(rule, types)
    ndims = {ndim_of(t) for t in parts}
    ndim = ndims.pop()
    if ndims:
        raise RuleError(f"{rule.name} needs arrays of one number of axes")
    axis, stacks = "axis", rule.name == "np.stack"
    if rule.name == "np.hstack":
        axis = "0" if ndim == 1 else "1"
    if rule.name == "np.vstack":
        axis, stacks = "0", ndim == 1
    if rule.name == "np.concatenate" and len(types) > 1 and isinstance(types[1], Static):
        raise RuleError("np.concatenate with axis=None is not supported: ravel the arrays")
    names = [f"a{k}" for k in range(len(parts))]
    mixed = len({t.dtype for t in parts if isinstance(t, Array)}) > 1
    partials = {}
    for k, (n, t) in enumerate(zip(names, parts, strict=True)):
        if stacks:
            e = parse(f"plane(y_bar, {axis}, {k})")
        else:
            start = " + ".join(f"{m}.shape[{axis}]" for m in names[:k])
            e = parse(f"cut(y_bar, {axis}, {start or 0}, {start + ' + ' if start else ''}{n}.shape[{axis}])")
        partials[n] = converted(e, t) if mixed and is_float(t) else e
    return replace(rule, params=(*names, *rule.params[1:]), partials=partials, unpacked=len(parts))


def _numbers(t: Tuple) -> list[tuple[tuple[int, ...], Type]]:
    """(position, type) of the numbers in nested tuples."""
    out: list[tuple[tuple[int, ...], Type]] = []
    for k, item in enumerate(t.items):
        out += [((k, *at), leaf) for at, leaf in _numbers(item)] if isinstance(item, Tuple) else [((k,), item)]
    return out


def _array_of_numbers(rule: Rule, types: Sequence[Type | None]) -> Rule:
    assert isinstance(types[0], Tuple)
    found = _numbers(types[0])
    if not found or not all(isinstance(t, Scalar) for _, t in found):
        raise RuleError("np.array of arrays is not supported: write np.stack((a, b))")
    dtype = _dtype(types[1]) if len(types) > 1 else None
    names = tuple(f"a{k}" for k in range(len(found)))
    params = (*names, *rule.params[1:])
    if dtype is not None and dtype.kind != "f":
        return replace(rule, params=params, kind="zero", partials={}, unpacked=len(found))
    kinds = {t.dtype for _, t in found if isinstance(t, Scalar) and is_float(t)} | ({str(dtype)} if dtype is not None else set())
    partials = {}
    for n, (at, t) in zip(names, found, strict=True):
        e = parse(f"y_bar[{', '.join(map(str, at))}]")
        partials[n] = converted(e, t) if len(kinds) > 1 and is_float(t) else e
    return replace(rule, params=params, partials=partials, unpacked=len(found))


def literal_power(n: float) -> Rule:
    """The rule of `x1 ** n` for a literal number n (`x2` is not a parameter of the partial; it has none)."""
    base = TABLE["np.power"][0].rule
    texts = {0: "0", 1: "1", 2: "2 * x1", 3: "3 * x1**2", 0.5: "0.5 / y", -1: "-y / x1"}
    text = texts.get(n, f"{n!r} * x1**{n - 1!r}" if n - 1 >= 0 else f"{n!r} * x1**({n - 1!r})")
    singular = {} if n >= 1 or n == 0 else {"x1": "finite" if n > 0 else "infinite"}
    partial = parse(text)
    assert "x2" not in value_names(partial)
    return replace(base, partials={"x1": partial, "x2": tree.const(0)}, singular=singular)
