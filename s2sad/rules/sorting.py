"""Sorting: the permutation is that of a stable sort."""

from s2sad.rules.forms import Chapter

_np = Chapter("np")
_np.vjp("sort(a, axis=-1) -> y", a="sort_dx(y_bar, a, axis)", tangents={"a": "sort_dot(a_dot, a, axis)"})
_np.zero("argsort(a, axis=-1, kind=None)")
