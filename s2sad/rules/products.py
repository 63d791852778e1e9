"""Matrix and vector products of 1-d and 2-d arrays."""

from s2sad.rules.forms import Chapter

vjp = Chapter("np").vjp

for _name in ("matmul", "dot"):
    vjp(f"{_name}(a, b) -> c", (1, 1), a="c_bar * b", b="c_bar * a")
    vjp(f"{_name}(a, b) -> c", (2, 1), a="outer(c_bar, b)", b="a.T @ c_bar")
    vjp(f"{_name}(a, b) -> c", (1, 2), a="b @ c_bar", b="outer(a, c_bar)")
    vjp(f"{_name}(a, b) -> c", (2, 2), a="c_bar @ b.T", b="a.T @ c_bar")
for _name in ("inner", "vdot"):
    vjp(f"{_name}(a, b) -> c", (1, 1), a="c_bar * b", b="c_bar * a")
vjp("outer(a, b) -> c", (1, 1), a="c_bar @ b", b="a @ c_bar")
