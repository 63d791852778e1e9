"""What is held, recomputed, kept or undone, and which loops are not stored at all: seen in the text, and right."""

import numpy as np
import pytest
from checks import check

X = np.array([0.5, 0.8, 1.2, 0.9])


def saved(text):
    """The names of what an adjoint keeps."""
    head = next((line for line in text.splitlines() if "# --- forward sweep: keeps" in line), "")
    return head.partition("keeps ")[2].removesuffix(" ---").split(", ") if head else []


def test_values_that_are_still_there_are_held():
    text = check("y = x * x\nz = np.sin(y)\nreturn y * z", "x: f8", 0.7)
    assert not saved(text)


def test_a_name_that_is_bound_again_is_two_names_or_kept():
    assert not saved(check("y = x * x\nz = np.sin(y)\nw = np.cos(z) * x\nreturn y * w", "x: f8", 0.7))
    text = check("x = np.sin(x)\nx = np.exp(x) * x\nreturn x * x", "x: f8", 0.7)
    assert len(saved(text)) <= 2


def test_a_loop_keeps_what_it_overwrites():
    text = check("for i in range(n):\n    x = np.sin(x) * 1.5\nreturn x", "x: f8; n: i8", 0.7, 5)
    assert saved(text) == ["x_saved"] and "x_saved[i] = x" in text and "np.empty(" in text


def test_zero_trips():
    check("for i in range(n):\n    x = np.sin(x) * 1.5\nreturn x * x", "x: f8; n: i8", 0.7, 0)


@pytest.mark.parametrize("bounds", ["1, n", "n, 0, -1", "0, n, 2", "k, n, 3"])
def test_kept_values_of_ranges_with_starts_and_steps(bounds):
    text = check(f"for i in range({bounds}):\n    x = np.sin(x) * i\nreturn x", "x: f8; n: i8; k: i8", 0.7, 7, 2)
    assert saved(text) == ["x_saved"]


def test_an_independent_loop_is_not_stored():
    text = check("s = 0.0\nfor i in range(len(x)):\n    y = x[i] * x[i]\n    z = np.sin(y) * y\n    s += z * y\nreturn s", "x: f8[:]", X)
    assert not saved(text) and text.count("for ") == 1


def test_independent_nested_loops_are_not_stored():
    text = check("s = 0.0\nfor i in range(len(x)):\n    for j in range(i):\n        y = x[i] * x[j]\n        s += y * y\nreturn s", "x: f8[:]", X)
    assert not saved(text) and text.count("for ") == 2


def test_an_inner_recurrence_in_an_independent_loop():
    body = "s = 0.0\nfor i in range(len(x)):\n    y = x[i]\n    for j in range(n):\n        y = np.sin(y) + x[i] * y\n    s += y * y\nreturn s"
    check(body, "x: f8[:]; n: i8", X, 4)
    check(body, "x: f8[:]; n: i8", X, 0)


def test_a_while_loop_keeps_a_list():
    text = check("while x > 1.0:\n    x = x * x * 0.3\nreturn x", "x: f8", 3.1)
    assert "x_saved.append(x)" in text and "x_saved.pop()" in text and "for _ in range(trips)" in text


def test_a_loop_with_a_break():
    check("s = 0.0\nfor i in range(n):\n    s = s + x * s * s + x\n    if s > 2.0:\n        break\nreturn s", "x: f8; n: i8", 0.4, 30)
    check("s = 0.0\nfor i in range(n):\n    s = s + x * s * s + x\n    if s > 2.0:\n        break\nreturn s * i", "x: f8; n: i8", 0.4, 3)


def test_in_place_writes_are_undone():
    text = check("u = x.copy()\nfor i in range(1, len(u)):\n    u[i] = np.sin(u[i]) * u[i - 1]\nreturn u[len(u) - 1] * u[1]", "x: f8[:]", X)
    assert saved(text) == ["u_saved"] and "u[i] = u_saved[" in text


def test_only_destroyed_elements_are_kept():
    text = check("u = x.copy()\nu[2] = u[0] * u[1]\nreturn u[2] * u[0]", "x: f8[:]", X)
    assert not saved(text)


def test_whole_arrays_are_kept_once_a_step():
    body = """
        u = x.copy()
        for t in range(n):
            un = u.copy()
            for i in range(1, len(u) - 1):
                u[i] = un[i] * un[i - 1] + 0.1 * un[i + 1]
        return np.sum(u * u)
    """
    assert saved(check(body, "x: f8[:]; n: i8", X, 3)) == ["un_saved"]


def test_what_a_branch_overwrites_is_kept_in_the_branch():
    body = "s = 1.0\nfor i in range(n):\n    if i % 2 == 0:\n        s = s + x * x\n    else:\n        s = np.sin(s) * x\nreturn s"
    text = check(body, "x: f8; n: i8", 0.6, 7)
    assert len(saved(text)) == 1


def test_a_test_on_values_that_its_branches_change():
    check("for i in range(n):\n    if x > 1.0:\n        x = x * 0.4\n    else:\n        x = np.exp(x)\nreturn x", "x: f8; n: i8", 0.3, 6)


def test_swapped_arrays():
    check("a = x\nb = 2.0 * x\nfor i in range(n):\n    t = a\n    a = b\n    b = t * b\nreturn np.sum(a * b)", "x: f8[:]; n: i8", X, 4)


def test_indices_that_move():
    body = "s = 0.0\nk = 0\nfor i in range(n):\n    k = (3 * k + 1) % 4\n    s = s * 0.5 + x[k] * x[k] * s + x[k]\nreturn s"
    check(body, "x: f8[:]; n: i8", X, 5)


def test_arrays_of_another_length_in_each_trip():
    check("s = 0.0\nfor i in range(1, len(x)):\n    y = x[:i] * x[i]\n    s = s * 0.5 + np.sum(np.sin(y) * y) * s + x[i]\nreturn s", "x: f8[:]", X)


def test_overwritten_parameters():
    check("for i in range(len(x)):\n    x[i] = x[i] * c * x[0]\nreturn np.sum(x)", "x: f8[:]; c: f8", X, 1.3, wrt="x, c")


def test_an_index_array_that_is_written_between():
    # the first write into a[p[0]] is not the element that is read
    body = "a = np.zeros(2)\na[1] = 3.0 * x\nq = p.copy()\nq[0] = 0\na[q[0]] = 2.0 * x\nq[0] = 1\ny = a[q[0]]\nreturn y * y"
    check(body, "x: f8; p: i8[:]", 1.5, np.array([1, 0]))


def test_lengths_that_change_in_the_loop():
    body = """
        u = x.copy()
        s = 0.0
        for t in range(n):
            for i in range(1, len(u)):
                u[i] = u[i] * u[i - 1]
            s = s + u[len(u) - 1] * u[0]
            u = u[1:] * 1.5
        return s
    """
    check(body, "x: f8[:]; n: i8", X, 3)


def test_a_view_written_in_trips_that_overlap():
    body = "u = x.copy()\nfor i in range(3):\n    v = u[i:]\n    v[1] = v[0] * v[1]\nreturn np.sum(u * u)"
    assert "range(2, -1, -1)" in check(body, "x: f8[:]", X)


def test_trips_of_their_own_run_forwards():
    text = check("u = x.copy()\nfor i in range(1, len(x)):\n    u[i] = x[i] * x[i - 1]\nreturn np.sum(u * u)", "x: f8[:]", X)
    assert text.count("for i in range(1, len(x)):") == 2
