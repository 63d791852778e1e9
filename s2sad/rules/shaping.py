"""Functions that move entries: shapes, joins, diagonals. Joins of n arrays are written by `rules.lookup` for that n."""

from s2sad.rules.forms import Chapter

_np = Chapter("np")
linear = _np.linear

linear("reshape(a, shape) -> y", a="reshaped(y_bar, a.shape)")
linear("ravel(a) -> y", a="reshaped(y_bar, a.shape)")
linear("transpose(a, axes=None) -> y", a="untranspose(y_bar, axes)")  # axes None: `y_bar.T`
linear("swapaxes(a, axis1, axis2) -> y", a="swapaxes(y_bar, axis1, axis2)")
linear("moveaxis(a, source, destination) -> y", a="moveaxis(y_bar, destination, source)")
linear("flipud(m) -> y", m="flipud(y_bar)")
linear("fliplr(m) -> y", (2,), m="fliplr(y_bar)")
linear("expand_dims(a, axis) -> y", a="reshaped(y_bar, a.shape)")
linear("squeeze(a, axis) -> y", a="reshaped(y_bar, a.shape)")
linear("broadcast_to(array, shape) -> y", array="sum_to(y_bar, array.shape)")
linear("flip(m, axis=None) -> y", m="flip_of(y_bar, axis)")
linear("roll(a, shift, axis=None) -> y", a="roll_of(y_bar, -shift, axis)")
linear("diag(v, k=0) -> y", (1,), v="diag(y_bar, k).copy()")
linear("diag(v, k=0) -> y", (2,), v="diag_dx(y_bar, v.shape, k)")
linear("trace(a, offset=0) -> y", (2,), a="trace_dx(y_bar, a.shape, offset)")
linear("tril(m, k=0) -> y", (2,), m="tril(y_bar, k)")
linear("triu(m, k=0) -> y", (2,), m="triu(y_bar, k)")
linear("concatenate(arrays, axis=0) -> y")
linear("stack(arrays, axis=0) -> y")
linear("hstack(tup) -> y")
linear("vstack(tup) -> y")
