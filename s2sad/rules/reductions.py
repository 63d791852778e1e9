"""Reductions, scans and counts."""

from s2sad.rules.forms import Chapter

_np = Chapter("np")
vjp, linear, reduction, zero = _np.vjp, _np.linear, _np.reduction, _np.zero

linear("sum(a, axis=None, keepdims=False) -> y", a="spread(y_bar, a.shape, axis, keepdims)")
linear("mean(a, axis=None, keepdims=False) -> y", a="mean_dx(y_bar, a.shape, axis, keepdims)")
reduction("prod(a, axis=None, keepdims=False) -> y", a="prod_dx(y_bar, a, axis, keepdims)")
reduction("max(a, axis=None, keepdims=False) -> y", a="max_share(y_bar, a, y, axis, keepdims)")
reduction("min(a, axis=None, keepdims=False) -> y", a="max_share(y_bar, a, y, axis, keepdims)")
reduction("var(a, axis=None, ddof=0, keepdims=False) -> y", a="var_dx(y_bar, a, axis, ddof, keepdims)")
reduction("std(a, axis=None, ddof=0, keepdims=False) -> y", a="std_dx(y_bar, a, y, axis, ddof, keepdims)")
linear("cumsum(a, axis=None) -> y", a="cumsum_dx(y_bar, a.shape, axis)")
vjp("cumprod(a, axis=None) -> y", a="cumprod_dx(y_bar, a, axis)", tangents={"a": "cumprod_dot(a_dot, a, axis)"})
linear("diff(a, n=1, axis=-1) -> y", a="diff_dx(y_bar, a.shape, n, axis)")
vjp("interp(x, xp, fp) -> y", x="interp_dx(y_bar, x, xp, fp)", fp="interp_dfp(y_bar, x, xp, fp.size)",
    tangents={"x": "interp_dx(x_dot, x, xp, fp)", "fp": "interp(x, xp, fp_dot)"})
zero(
    "any(a, axis=None, keepdims=False)",
    "all(a, axis=None, keepdims=False)",
    "count_nonzero(a, axis=None, keepdims=False)",
    "argmax(a, axis=None)",
    "argmin(a, axis=None)",
    "searchsorted(a, v, side='left')",
)

_linalg = Chapter("np.linalg", "np")
_linalg.vjp("norm(x) -> y", x="norm_dx(y_bar, x, y)")
