import gast
import pytest

from s2sad.analysis.verify import VerificationError, verify
from s2sad.lang.tree import Comment


def check(text, names=()):
    verify(text, gast.parse(text).body[-1].body, names)


def test_a_good_program_passes():
    body = gast.parse("for k in range(3):\n    y = 2.0 * x\n    y += -np.inf\nreturn y").body
    text = 'import numpy as np\n\n\ndef f(x):\n    """Doc."""\n'
    text += "    # why\n    for k in range(3):\n        y = 2.0 * x\n        y += -np.inf\n    return y\n"
    verify(text, [Comment("another why"), *body])


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return y",
        "def f(x):\n    y += x\n    return y",
        "def f(x):\n    y = y + x\n    return y",
        "def f(x):\n    y[0] = x\n    return x",
        "def f(x):\n    if x:\n        z = 1\n    else:\n        return z\n    return x",
        "def f(x):\n    return np.sin(x)",
    ],
)
def test_a_name_that_nothing_binds(text):
    with pytest.raises(VerificationError, match="before anything binds it"):
        check(text)


def test_names_bound_on_some_path_or_injected():
    check("def f(x):\n    for k in range(3):\n        if k:\n            y = z\n        z = x\n    return g(y)", names={"g"})


@pytest.mark.parametrize("text", ["def f(x, x):\n    return x", "def f(x):\n    return x x", "x = 1", ""])
def test_text_that_is_no_function(text):
    with pytest.raises(VerificationError):
        verify(text, [])


@pytest.mark.parametrize(("text", "tree"), [("-3 ** x", "(-3) ** x"), ("a - b - x", "a - (b - x)"), ("1", "1.0"), ("0.0", "-0.0")])
def test_text_and_tree_differ(text, tree):
    with pytest.raises(VerificationError, match="statement 1"):
        verify(f"def f(x, a, b):\n    return {text}", gast.parse(f"return {tree}").body)
