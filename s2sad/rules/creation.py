"""Making arrays: constants, copies, conversions."""

from s2sad.rules.forms import Chapter

_np = Chapter("np")
linear, zero = _np.linear, _np.zero

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
linear("full(shape, fill_value, dtype=None) -> y", fill_value="sum_to(y_bar, ())")
linear("full_like(a, fill_value, dtype=None) -> y", a="0", fill_value="sum_to(y_bar, ())")
linear("linspace(start, stop, num=50) -> y", start="ramp_down(y_bar)", stop="ramp_up(y_bar)")
linear("arange(start, stop=None, step=None, dtype=None) -> y")
linear("array(object, dtype=None) -> y", object="y_bar")
linear("asarray(a, dtype=None) -> y", a="y_bar")
linear("ascontiguousarray(a) -> y", a="y_bar")
linear("copy(a) -> y", a="y_bar")

_method = Chapter("", "np")
_method.linear("copy(a) -> y", a="y_bar")
_method.linear("astype(a, dtype) -> y", a="y_bar")
