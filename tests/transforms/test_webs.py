import textwrap

import numpy as np
import pytest

from s2sad.lang import tree as T
from s2sad.lang.tree import Function
from s2sad.transforms.webs import arrays, show, split

EVERY = {"predicate": lambda name: True}


def webs(text, params=("x", "n"), **options):
    return show(split(Function("f", params, tuple(T.stmts(textwrap.dedent(text).strip()))), **options))


def test_a_reused_array_name_gets_a_second_name():
    assert webs("y = x[1:]\nz = np.sum(y)\ny = x * z\nreturn np.sum(y)") == "y = x[1:]\nz = np.sum(y)\ny_2 = x * z\nreturn np.sum(y_2)"


def test_numbers_keep_their_name():
    text = "t = 1.0\nz = x * t\nt = 2.0\nreturn np.sum(z) * t"
    assert webs(text) == text
    assert webs(text, **EVERY) == "t = 1.0\nz = x * t\nt_2 = 2.0\nreturn np.sum(z) * t_2"


def test_parameters_keep_the_web_of_their_entry_value():
    assert webs("y = np.sum(x)\nx = x * y\nreturn np.sum(x)") == "y = np.sum(x)\nx_2 = x * y\nreturn np.sum(x_2)"
    assert webs("x = n * np.ones(3)\nreturn np.sum(x)") == "x_2 = n * np.ones(3)\nreturn np.sum(x_2)"


def test_uses_that_meet_stay_together():
    for text in ("y = x\nfor i in range(n):\n    y = y * 2.0\nreturn np.sum(y)", "if n > 0:\n    y = x\nelse:\n    y = -x\nreturn np.sum(y)"):
        assert webs(text, **EVERY) == text


def test_in_place_writes_belong_to_what_they_change():
    text = "y = x.copy()\ny[0] = 1.0\ny += x\nz = np.sum(y)\ny = x * z\ny[1:] += 1.0\nreturn np.sum(y)"
    assert webs(text) == "y = x.copy()\ny[0] = 1.0\ny += x\nz = np.sum(y)\ny_2 = x * z\ny_2[1:] += 1.0\nreturn np.sum(y_2)"


def test_loops_over_the_same_name():
    text = "s = 0.0\nfor i in range(n):\n    s = s + i\nfor i in range(n):\n    s = s - i\nreturn s"
    assert webs(text) == text
    assert "for i_2 in range(n)" in webs(text, **EVERY)


def test_names_in_use_are_not_taken():
    assert "y_3 = x" in webs("y = x[1:]\ny_2 = np.sum(y)\ny = x * y_2\nreturn np.sum(y)")


def test_arrays_are_told_from_numbers():
    f = Function("f", ("x", "n"), tuple(T.stmts("k = len(x)\nm = x.shape[0] * 2\nc = k < m\ny = x[0]\nz = y * k\nfor i in range(k):\n    w = z + i")))
    assert [n for n in ("k", "m", "c", "y", "z", "i", "w") if arrays(f)(n)] == ["y", "z", "w"]


PROGRAMS = [
    "y = x * 2.0\nfor i in range(n):\n    y = y + i\n    z = y[0]\n    y[0] = z * 0.5\ny = y - 1.0\nreturn np.sum(y)",
    "y = x\nwhile n > 0:\n    n = n - 1\n    t = y * n\n    if n == 2:\n        y = t + 1.0\n        if n < 9:\n            break\n"
    "    t = x - 1.0\n    y = t * y\nreturn np.sum(y)",
    "y = x\nif n > 1:\n    y = x * 2.0\n    t = np.sum(y)\n    y = x * t\nelse:\n    x = y + 1.0\nreturn np.sum(x) + np.sum(y)",
]


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 3, 6])
def test_programs_compute_the_same(text, n):
    def run(body):
        space = {"np": np}
        exec("def f(x, n):\n" + textwrap.indent(body, "    "), space)
        return space["f"](np.array([0.5, 1.5, -1.0]), n)

    assert run(webs(text, **EVERY)) == run(text)


def test_the_input_is_not_changed():
    f = Function("f", ("x",), tuple(T.stmts("y = x\nz = y\ny = z\nreturn y")))
    before = show(f)
    assert split(f, **EVERY) is not f
    assert show(f) == before
