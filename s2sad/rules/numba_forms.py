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
# what Numba lacks, does otherwise, or takes seconds to compile
ALWAYS = {
    "np.sort": "sort_of", "np.argsort": "argsort_of", "np.flip": "flip_of", "np.squeeze": "squeezed", "np.swapaxes": "swapped",
    "np.moveaxis": "moved", "np.linalg.norm": "norm_of", "np.round": "round_of", "np.inner": "matmul", "np.vdot": "matmul", "np.outer": "outer",
    "np.interp": "interp_of", "np.tril": "tril_of", "np.triu": "triu_of", "math.cbrt": "cbrt", "np.fix": "np.trunc", "np.heaviside": "heaviside",
    "np.clip": "clip", "math.fmod": "fmod", "math.remainder": "ieee_remainder", "math.isclose": "is_close", "math.ulp": "ulp",
    "math.factorial": "factorial", "math.comb": "comb", "math.perm": "perm", "math.lcm": "lcm", "math.isqrt": "isqrt", "math.fsum": "fsum",
    "math.prod": "prod_in_order", "math.dist": "dist", "sum": "sum_in_order", "any": "any_true", "all": "all_true",
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
        wide = array is not None and array.dtype in ("float64", "int64")
        special = given("axis") or given("keepdims") or given("ddof") or not wide
        return REDUCTIONS[name] if special else None
    if name in ("np.argmax", "np.argmin"):
        return f"{name[3:]}_of" if given("axis") else None
    if name == "np.cumsum" and array and (array.ndim > 1 or array.dtype not in ("float64", "int64")):
        return "cumsum_of"
    if name == "np.cumprod" and array and (array.ndim > 1 or array.dtype not in ("float64", "int64")):
        return "cumprod_of"
    if name == "np.diff":
        return "diff_of" if given("axis") or (array is not None and array.dtype != "bool") else None
    if name == "np.roll" and (given("axis") or (array and array.ndim > 1)):
        return "roll_of"
    if name == "np.transpose":
        return "transposed" if given("axes") else None
    if name == "np.reshape" and array and array.layout != "C":
        return "reshaped"
    if name == "np.where":
        values = [v.dtype for v in (t["x"], t["y"]) if isinstance(v, (Array, Scalar))] if {"x", "y"} <= t.keys() else []
        # legalize gives them one dtype where there is a float32
        fits = len({*values}) == 1 or {*values} == {"float64", "int64"} or "float32" in values
        return "where_of" if len(values) == 2 and fits else None
    if name == "abs" and array:
        return "np.abs"
    if name in ("np.matmul", "np.dot"):
        return "matmul" if name == "np.matmul" or not _same_float(t.values()) else None
    return ALWAYS.get(name)


def _same_float(types: object) -> bool:
    """Whether all are float arrays of one dtype."""
    found = {t.dtype if isinstance(t, Array) else None for t in types if isinstance(t, (Array, Scalar))}  # type: ignore[attr-defined]
    return len(found) == 1 and found <= {"float64", "float32"}
