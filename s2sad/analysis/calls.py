"""Types of calls of `s2sad.runtime` functions, which the compiler itself puts into programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from s2sad import rules
from s2sad.lang.types import WEAK_FLOAT, WEAK_INT, Array, Scalar, Static, Tuple, Type, is_int

# stands in for a NumPy function, with the same arguments
INSTEAD_OF: Mapping[str, str] = {
    "sum_of": "np.sum", "mean_of": "np.mean", "prod_of": "np.prod", "max_of": "np.max", "min_of": "np.min", "var_of": "np.var", "std_of": "np.std",
    "any_of": "np.any", "all_of": "np.all", "count_nonzero_of": "np.count_nonzero", "cumsum_of": "np.cumsum", "cumprod_of": "np.cumprod",
    "sort_of": "np.sort", "argsort_of": "np.argsort", "diff_of": "np.diff", "flip_of": "np.flip", "roll_of": "np.roll", "squeezed": "np.squeeze",
    "reshaped": "np.reshape", "norm_of": "np.linalg.norm", "clip": "np.clip", "round_of": "np.round", "matmul": "np.matmul", "outer": "np.outer",
    "cbrt": "math.cbrt", "argmax_of": "np.argmax", "argmin_of": "np.argmin", "interp_of": "np.interp", "transposed": "np.transpose",
    "fmod": "math.fmod", "ieee_remainder": "math.remainder", "is_close": "math.isclose", "ulp": "math.ulp", "factorial": "math.factorial",
    "comb": "math.comb", "perm": "math.perm", "lcm": "math.lcm", "isqrt": "math.isqrt", "fsum": "math.fsum", "prod_in_order": "math.prod",
    "dist": "math.dist", "sum_in_order": "sum", "any_true": "any", "all_true": "all",
    "swapped": "np.swapaxes", "moved": "np.moveaxis", "tril_of": "np.tril", "triu_of": "np.triu", "where_of": "np.where",
    **{f"math_{f}": f"math.{f}" for f in "acos acosh asin atanh cosh exp expm1 log log10 log1p log2 pow sinh sqrt".split()}}
POINTWISE = ("strong", "pow_dx", "pow_dp", "share", "share_number", "ratio", "sigmoid", "sinc_dx", "digamma", "log_base", "heaviside")
WRITERS = ("add_at", "set_at", "add_mask", "set_mask", "copyto", "add_to", "subtract_from", "multiply_by", "divide_by")


def _like(k: int) -> Callable[[Sequence[Type]], Type]:
    """The type of the k-th argument, freshly made."""
    def of(types: Sequence[Type]) -> Type:
        t = types[k]
        return Array(t.dtype, t.ndim) if isinstance(t, Array) else t
    return of


def _shaped(k: int) -> Callable[[Sequence[Type]], Type]:
    """The dtype of the first argument, the shape that the k-th one says."""
    def of(types: Sequence[Type]) -> Type:
        w, shape = types[0], types[k]
        assert isinstance(w, (Array, Scalar))
        ndim = len(shape.items) if isinstance(shape, Tuple) else 1
        return Array(w.dtype, ndim) if ndim else Scalar(w.dtype)
    return of


def _number(types: Sequence[Type]) -> Type:
    w, = types[:1]
    assert isinstance(w, (Array, Scalar))
    return Scalar(w.dtype)


def _quotient(types: Sequence[Type]) -> Type:
    return WEAK_INT if all(is_int(t) for t in types) else WEAK_FLOAT


def _axes(change: int) -> Callable[[Sequence[Type]], Type]:
    """The first argument with more or fewer axes."""
    def of(types: Sequence[Type]) -> Type:
        w = types[0]
        assert isinstance(w, Array)
        return Array(w.dtype, w.ndim + change) if w.ndim + change else Scalar(w.dtype)
    return of


def _row(types: Sequence[Type]) -> Type:
    w = types[0]
    assert isinstance(w, (Array, Scalar))
    return Array(w.dtype, 1)


RESULTS: Mapping[str, Callable[[Sequence[Type]], Type]] = {
    **dict.fromkeys(("sum_to", "spread", "mean_dx", "cumsum_dx", "diff_dx", "diag_dx", "trace_dx"), _shaped(1)),
    **dict.fromkeys(("given_adjoint", "max_share", "prod_dx", "var_dx", "std_dx", "norm_dx", "cumprod_dx", "sort_dx", "interp_dx"), _like(1)),
    **dict.fromkeys(("untranspose", "cut", "stop_gradient", "within_int", "cumprod_dot", "sort_dot"), _like(0)),
    "extent": lambda types: WEAK_INT, "fitted": lambda types: types[0],
    **dict.fromkeys(("ramp_up", "ramp_down"), _number),
    "div": lambda types: WEAK_FLOAT, "power": lambda types: WEAK_FLOAT, **dict.fromkeys(("floordiv", "mod"), _quotient),
    **dict.fromkeys(("int_add", "int_sub", "int_mul", "int_shift"), lambda types: WEAK_INT),
    "plane": _axes(-1), "interp_dfp": _row, "count": lambda types: WEAK_INT, "place": lambda types: WEAK_INT,
    **dict.fromkeys(WRITERS, lambda types: Static(None))}


def is_runtime(name: str) -> bool:
    """Whether a name is that of a runtime function.

    >>> is_runtime("sum_to"), is_runtime("np.sum")
    (True, False)
    """
    return name in rules.runtime_names()
