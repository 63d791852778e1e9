"""Functions that move entries: shapes, joins, diagonals. Joins of n arrays are written by `rules.lookup` for that n."""

from s2sad.rules.forms import Chapter

_np = Chapter("np")
vjp = _np.vjp

vjp("reshape(a, shape) -> y", a="reshaped(y_bar, a.shape)")
vjp("ravel(a) -> y", a="reshaped(y_bar, a.shape)")
vjp("transpose(a, axes=None) -> y", a="untranspose(y_bar, axes)")  # axes None: `y_bar.T`
vjp("swapaxes(a, axis1, axis2) -> y", a="swapaxes(y_bar, axis1, axis2)")
vjp("moveaxis(a, source, destination) -> y", a="moveaxis(y_bar, destination, source)")
vjp("flipud(m) -> y", m="flipud(y_bar)")
vjp("fliplr(m) -> y", (2,), m="fliplr(y_bar)")
vjp("expand_dims(a, axis) -> y", a="reshaped(y_bar, a.shape)")
vjp("squeeze(a, axis) -> y", a="reshaped(y_bar, a.shape)")
vjp("broadcast_to(array, shape) -> y", array="sum_to(y_bar, array.shape)")
vjp("flip(m, axis=None) -> y", m="flip_of(y_bar, axis)")
vjp("roll(a, shift, axis=None) -> y", a="roll_of(y_bar, -shift, axis)")
vjp("diag(v, k=0) -> y", (1,), v="diag(y_bar, k).copy()")
vjp("diag(v, k=0) -> y", (2,), v="diag_dx(y_bar, v.shape, k)")
vjp("trace(a, offset=0) -> y", (2,), a="trace_dx(y_bar, a.shape, offset)")
vjp("tril(m, k=0) -> y", (2,), m="tril(y_bar, k)")
vjp("triu(m, k=0) -> y", (2,), m="triu(y_bar, k)")
vjp("concatenate(arrays, axis=0) -> y")
vjp("stack(arrays, axis=0) -> y")
vjp("hstack(tup) -> y")
vjp("vstack(tup) -> y")
