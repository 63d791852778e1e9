"""Matrix and vector products of 1-d and 2-d arrays."""

from s2sad.rules.forms import Chapter

bilinear = Chapter("np").bilinear

for _name in ("matmul", "dot"):
    bilinear(f"{_name}(a, b) -> c", (1, 1), a="c_bar * b", b="c_bar * a")
    bilinear(f"{_name}(a, b) -> c", (2, 1), a="outer(c_bar, b)", b="a.T @ c_bar")
    bilinear(f"{_name}(a, b) -> c", (1, 2), a="b @ c_bar", b="outer(a, c_bar)")
    bilinear(f"{_name}(a, b) -> c", (2, 2), a="c_bar @ b.T", b="a.T @ c_bar")
for _name in ("inner", "vdot"):
    bilinear(f"{_name}(a, b) -> c", (1, 1), a="c_bar * b", b="c_bar * a")
bilinear("outer(a, b) -> c", (1, 1), a="c_bar @ b", b="a @ c_bar")
