"""The small passes between types and text: trips, freeze, hoist, share, slice, tidy."""

import pytest

from s2sad.analysis.shapes import Shapes
from s2sad.lang import tree as T
from s2sad.lang.printer import to_source
from s2sad.lang.types import Array, Scalar
from s2sad.transforms.example import after
from s2sad.transforms.share import share
from s2sad.transforms.slice import live_statements
from s2sad.transforms.tidy import tidy

NAMES = {"x": Scalar("float64"), "y": Scalar("float64"), "a": Array("float64", 1), "b": Array("float64", 1), "i": Scalar("int64")}


def text(body):
    return to_source(body).rstrip()


# -- trips ------------------------------------------------------------------------------------------


def test_only_loops_without_a_known_number_of_trips_are_counted():
    shown = after("trips", "for i in range(n):\n    while x > 1.0:\n        x = x * 0.5\n    if x > 3.0:\n        break\nreturn x", "x: f8; n: i8")
    assert shown.count("+= 1") == 2 and shown.splitlines()[0] == "trips_2 = 0"
    assert "trips" not in after("trips", "for i in range(n):\n    x = x * 0.5\nreturn x", "x: f8; n: i8")


# -- freeze -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("if x[0] > 0.0:\n    x[0] = 2.0\nreturn x[0]", "taken = x[0] > 0.0"),
        ("if n > 0:\n    x[0] = 2.0\nreturn x[0]", None),
        ("k = n\nfor i in range(k):\n    k = k + 1\nreturn x[0] * k", "bound = k"),
        ("for i in range(len(x)):\n    x[i] = 2.0 * x[i]\nreturn x[0]", None),
        ("k = n\nfor i in range(2):\n    v = x[k:]\n    k = k + 1\n    x[0] = v[0]\nreturn x[0]", "at = k"),
        ("v = x[n:]\nreturn v[0]", None),
    ],
)
def test_what_changes_under_a_test_a_bound_or_a_view_is_named(body, named):
    lines = after("freeze", body, "x: f8[:]; n: i8").splitlines()
    if named is None:
        assert "\n".join(lines) == body
    else:
        assert any(line.strip() == named for line in lines)


# -- hoist ------------------------------------------------------------------------------------------


def test_arguments_of_rules_that_are_not_elementwise_are_named():
    assert after("hoist", "return np.cumsum(2.0 * x)[0]").splitlines() == ["t = 2.0 * x", "cumsum_t = np.cumsum(t)", "return cumsum_t[0]"]
    assert after("hoist", "return np.sum(x * np.sin(x))") == "return np.sum(x * np.sin(x))"
    assert after("hoist", "return np.sum(n * x[1:]) * n", "x: f8[:]; n: i8") == "return np.sum(n * x[1:]) * n"


# -- share ------------------------------------------------------------------------------------------


def shared(body):
    names = dict(NAMES)
    return text(share(T.stmts(body), names, T.Fresh({"x", "y", "a", "b", "i"})))


def test_costly_expressions_that_occur_twice_get_a_name():
    assert shared("y = np.exp(x) * np.exp(x)") == "exp_x = np.exp(x)\ny = exp_x * exp_x"
    assert shared("y = x * x + x * x") == "y = x * x + x * x"
    assert shared("y = a / x\nb = a / x").count("= t.copy()") == 1  # memory of their own


def test_expressions_whose_names_change_in_between_are_not_shared():
    body = "y = np.exp(x)\nx = np.exp(x)"
    assert shared(body) == body
    body = "y = np.exp(a[i])\na[i] = np.exp(a[i])"
    assert shared(body) == body


# -- slice ------------------------------------------------------------------------------------------


def sliced(body):
    return text(live_statements(T.stmts(body), NAMES, Shapes(NAMES, {}, {}, frozenset(), frozenset())))


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ("y = 2.0\nx = 3.0\nreturn x", "x = 3.0\nreturn x"),
        ("y = x\nx = 3.0\nreturn y", "y = x\nreturn y"),
        ("x = y\nx += 1.0\nx = 2.0\nreturn x", "x = 2.0\nreturn x"),
        ("a[0] = x\na[0] = y\nreturn a[0]", "a[0] = y\nreturn a[0]"),
        ("a[i] = x\na[0] = y\nreturn a", "a[i] = x\na[0] = y\nreturn a"),
        ("a[0] = x\na[:] = y\nreturn a", "a[:] = y\nreturn a"),
        ("a[i] = x\ni = 2\na[i] = y\nreturn a", "a[i] = x\ni = 2\na[i] = y\nreturn a"),
        ("b = a[1:]\nb[0] = x\nreturn a", "b = a[1:]\nb[0] = x\nreturn a"),
        ("a[0] = x\nb = a.copy()\na[0] = 1.0\nreturn b", "a[0] = x\nb = a.copy()\nreturn b"),
        ("for i in range(3):\n    y = x\nreturn x", "return x"),
        ("for i in range(3):\n    y = y + x\nreturn i", "for i in range(3):\n    pass\nreturn i"),
        ("while x > 1.0:\n    x = x * 0.5\n    y = x\nreturn x", "while x > 1.0:\n    x = x * 0.5\nreturn x"),
        ("if x > 0.0:\n    y = 1.0\nelse:\n    x = 2.0\nreturn x", "if not x > 0.0:\n    x = 2.0\nreturn x"),
        ("if x > 0.0:\n    raise ValueError\nreturn y", "if x > 0.0:\n    raise ValueError\nreturn y"),
        ("y = len(a)\na[0] = x\nreturn y", "y = len(a)\nreturn y"),
        ("a = b * 2.0\na[0] = x\nreturn a.shape", "a = b * 2.0\nreturn a.shape"),
    ],
)
def test_what_the_result_does_not_use_goes(body, want):
    assert sliced(body) == want


def test_a_comment_goes_with_what_it_heads():
    body = [T.Comment("y = 1"), *T.stmts("y = 1.0"), T.Comment("x = 2"), *T.stmts("x = 2.0\nreturn x")]
    names = Shapes(NAMES, {}, {}, frozenset(), frozenset())
    assert text(live_statements(body, NAMES, names)) == "# x = 2\nx = 2.0\nreturn x"


# -- tidy -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ("x = 0.0\nx += y\nreturn x", "x = y\nreturn x"),
        ("x = 0.0\nx -= y\nreturn x", "x = -y\nreturn x"),
        ("a[i] = 0.0\na[i] += y\nreturn a", "a[i] = y\nreturn a"),
        ("a[:] = 0.0\na[:] += b\nreturn a", "a[:] = 0.0\na[:] += b\nreturn a"),
        ("x = 0.0\nx += x * y\nreturn x", "x = 0.0\nx += x * y\nreturn x"),
        ("w = 2.0 * x\ny += w\nreturn y", "y += 2.0 * x\nreturn y"),
        ("w = 2.0 * x\ny += w\nx += w\nreturn y", "w = 2.0 * x\ny += w\nx += w\nreturn y"),
        ("b = a.copy()\nb_saved[i] = b\nreturn b", "b_saved[i] = a\nb = b_saved[i]\nreturn b"),
    ],
)
def test_last_touches(body, want):
    assert text(tidy(T.stmts(body), NAMES, frozenset())) == want


def test_an_array_that_is_written_is_not_made_where_it_is_kept():
    body = "b = a.copy()\nb_saved[i] = b\nreturn b"
    assert text(tidy(T.stmts(body), NAMES, frozenset({"b"}))) == body


def test_the_sweeps_meet_in_the_last_branch():
    shown = after("tidy", "if x > 1.0:\n    y = np.exp(x)\nelse:\n    y = x * x\nreturn y * y", "x: f8")
    assert shown.count("if x > 1.0") == 1 or "y" in shown.split("if x > 1.0")[1]
    assert "# --- forward" not in after("tidy", "return x * 2.0", "x: f8")
