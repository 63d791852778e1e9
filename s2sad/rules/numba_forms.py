"""Forms of NumPy calls that Numba lacks or gets wrong, and what emitted code calls instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from s2sad.lang.types import Array, Scalar, Static, Type
from s2sad.rules.forms import TABLE
from s2sad.rules.select import padded

REDUCTIONS = {
    "np.sum": "sum_of", "np.mean": "mean_of", "np.prod": "prod_of", "np.max": "max_of", "np.min": "min_of", "np.var": "var_of", "np.std": "std_of",
    "np.any": "any_of", "np.all": "all_of", "np.count_nonzero": "count_nonzero_of",
}  # fmt: skip


def legal(name: str, types: Sequence[Type | None], static: Mapping[str, object] | None = None) -> str | None:
    """What to call instead, with the same arguments: a runtime function, or another NumPy function (`np.abs`).

    None if Numba does the call as NumPy does.
    """
    static = static or {}
    if name not in TABLE or name in ("np.concatenate", "np.stack", "np.hstack", "np.vstack"):
        return None
    rule = TABLE[name][0].rule
    t = padded(rule, types)
    first = t[rule.params[0]]
    array = first if isinstance(first, Array) else None

    def given(p: str) -> bool:
        """Whether a parameter is given and is not its default."""
        if p in static:
            return static[p] != rule.defaults.get(p)
        return p in t and t[p] is not None and not (isinstance(t[p], Static) and t[p].value == rule.defaults.get(p))  # type: ignore[union-attr]

    if name in REDUCTIONS:
        plain_sum = name == "np.sum" and not given("keepdims")
        wide = array is not None and array.dtype in ("float64", "int64")
        special = given("keepdims") or given("ddof") or (given("axis") and not plain_sum) or not wide
        return REDUCTIONS[name] if special else None
    if name == "np.cumsum" and array and (array.ndim > 1 or array.dtype not in ("float64", "int64")):
        return "cumsum_of"
    if name == "np.cumprod" and array and (array.ndim > 1 or array.dtype not in ("float64", "int64")):
        return "cumprod_of"
    if name == "np.sort" and array and (array.ndim > 1 or given("axis")):
        return "sort_of"
    if name == "np.argsort":
        return "argsort_of"
    if name == "np.diff" and given("axis"):
        return "diff_of"
    if name == "np.flip":
        return "flip_of"
    if name == "np.roll" and (given("axis") or (array and array.ndim > 1)):
        return "roll_of"
    if name == "np.squeeze":
        return "squeezed"
    if name == "np.reshape" and array and array.layout != "C":
        return "reshaped"
    if name == "np.linalg.norm":
        return "norm_of"
    if name == "np.clip" and (array is None or not _same_float(t.values())):
        return "clip"
    if name == "np.round":
        return "round_of"
    if name == "abs" and array:
        return "np.abs"
    if name in ("np.matmul", "np.dot"):
        return "matmul" if name == "np.matmul" or not _same_float(t.values()) else None
    if name in ("np.inner", "np.vdot"):
        return "matmul"
    if name == "np.outer" and not _same_float(t.values()):
        return "outer"
    return {"math.cbrt": "cbrt", "np.fix": "np.trunc", "np.heaviside": "heaviside"}.get(name)


def _same_float(types: object) -> bool:
    """Whether all are float arrays of one dtype."""
    found = {t.dtype if isinstance(t, Array) else None for t in types if isinstance(t, (Array, Scalar))}  # type: ignore[attr-defined]
    return len(found) == 1 and found <= {"float64", "float32"}
