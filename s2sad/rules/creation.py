"""Making arrays: constants, copies, conversions."""

from s2sad.rules.forms import Chapter

_np = Chapter("np")
vjp, zero = _np.vjp, _np.zero

zero(
    "zeros(shape, dtype=None)",
    "ones(shape, dtype=None)",
    "empty(shape, dtype=None)",
    "zeros_like(a, dtype=None)",
    "ones_like(a, dtype=None)",
    "empty_like(a, dtype=None)",
    "eye(N, M=None, k=0, dtype=None)",
    "identity(n, dtype=None)",
)
vjp("full(shape, fill_value, dtype=None) -> y", fill_value="sum_to(y_bar, ())")
vjp("full_like(a, fill_value, dtype=None) -> y", a="0", fill_value="sum_to(y_bar, ())")
vjp("linspace(start, stop, num=50) -> y", start="ramp_down(y_bar)", stop="ramp_up(y_bar)")
vjp("arange(start, stop=None, step=None, dtype=None) -> y")
vjp("array(object, dtype=None) -> y", object="y_bar")
vjp("asarray(a, dtype=None) -> y", a="y_bar")
vjp("ascontiguousarray(a) -> y", a="y_bar")
vjp("copy(a) -> y", a="y_bar")

_method = Chapter("", "np")
_method.vjp("copy(a) -> y", a="y_bar")
_method.vjp("astype(a, dtype) -> y", a="y_bar")
