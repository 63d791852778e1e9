"""The catalogue of codes is complete, and an error shows its place."""

import ast
import math
import os
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import s2sad
from s2sad.catalogue import CATALOGUE
from s2sad.errors import DifferentiationError, Problem
from s2sad.lang.tree import Place
from s2sad.rules import instead
from tests import catalogue

PACKAGE = Path(s2sad.__file__).parent
DOCS = PACKAGE.parent / "docs" / "errors.md"
USED = {
    code for path in PACKAGE.rglob("*.py") if path.name != "catalogue.py"
    for code in re.findall(r"\bS2S\d{3}\b", path.read_text(encoding="utf-8"))
}  # fmt: skip
EXAMPLES = [pytest.param(code, e, id=f"{code}-{k}") for code, entry in CATALOGUE.items() for k, e in enumerate(entry.examples)]


def test_every_code_that_is_raised_is_in_the_catalogue_and_the_other_way_round():
    assert set(CATALOGUE) == USED


@pytest.mark.parametrize("code", CATALOGUE)
def test_an_entry_says_what_shows_how_and_the_way_out(code):
    entry = CATALOGUE[code]
    assert entry.title[0].isupper() and not entry.title.endswith(".") and entry.text.endswith(".") and entry.examples
    assert all(e.wrong != e.right for e in entry.examples)


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_the_program_of_an_entry_is_refused_as_the_docs_say(code, example):
    error, text = catalogue.message(example.wrong, jit=code == "S2S900")
    assert [p.code for p in error.problems] == [code]
    if not os.environ.get("S2SAD_UPDATE_GOLDEN"):
        assert f"```python\n{example.wrong}\n```\n```text\n{text}\n```\n" in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_the_way_out_is_accepted_and_has_the_right_gradient(code, example):
    pairs = catalogue.compared(example.right)
    assert pairs or code == "S2S207"
    for found, wanted in pairs:
        assert np.shape(found) == np.shape(wanted) and np.allclose(found, wanted, rtol=1e-6, atol=1e-8)


def test_the_docs_are_what_the_catalogue_says():
    text = catalogue.markdown()
    if os.environ.get("S2SAD_UPDATE_GOLDEN"):
        DOCS.write_text(text, encoding="utf-8")
    assert DOCS.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", instead.REWRITES)
def test_rewrites_are_python(name):
    ast.parse(instead.REWRITES[name])
    assert callable(eval(name, {"np": np, "math": math}))


def test_names_that_passes_have_numbered_are_said_as_the_user_wrote_them():
    def f(x, n):
        y = np.sum(x)
        x = x * y
        y = 1.0
        for _ in range(n):
            y = y * x
        return np.sum(y)

    with pytest.raises(DifferentiationError) as caught:
        s2sad.grad(f, jit=False)(np.ones(2), 3)
    assert "`y`" in str(caught.value) and not re.search(r"\b[xy]_\d", str(caught.value))


def test_a_numpy_function_written_in_python_is_refused_at_the_users_line():
    def f(a):
        a[np.diag_indices(2)] = 1.0
        return np.sum(a * a)

    with pytest.raises(DifferentiationError) as caught:
        s2sad.grad(f, jit=False)(np.ones((2, 2)))
    problem, = caught.value.problems
    assert problem.place.file == __file__ and "np.diag_indices" in problem.summary and "a[i, i]" in problem.instead


def test_the_text_of_a_problem():
    place = Place("model.py", 7, "f", "    y = np.linalg.svd(a)")
    error = DifferentiationError(Problem("S2S121", "No rule", place, 8, 24, "y = a", "Because."))
    assert str(error).splitlines() == [
        "No rule [S2S121]", '  File "model.py", line 7, in f', "    y = np.linalg.svd(a)", "        ^^^^^^^^^^^^^^^^", "  Because.",
        "  Write instead:", "    y = a"]  # fmt: skip
    assert str(DifferentiationError(*error.problems, *error.problems)).startswith("2 problems\n\nNo rule")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def inner_of_matrices(a):
    return np.sum(np.inner(a, a))


def two_names(a, n):
    b = a.copy()
    if n > 0:
        c = b
    else:
        c = a
    b[0] = 2.0
    return c[0] * b[1]


def flat_view(a):
    a = a.T * 2.0
    b = np.ravel(a)
    b[0] = 1.0
    return np.sum(a)


def points_of_a_table(a):
    return np.interp(0.5, a * 2.0, np.ones(3))


def float_subscript(a):
    return a[0.5]


def two_types(a, n):
    s = 0.0
    for _ in range(n):
        s = s + a
    return np.sum(s)


MATRIX, VECTOR = np.ones((3, 3)), np.arange(3.0)
REFUSED = [
    (inner_of_matrices, (MATRIX,), "S2S204", "np.inner(a, a)"),
    (points_of_a_table, (VECTOR,), "S2S205", "np.interp"),
    (two_names, (VECTOR, 1), "S2S303", "b[0] = 2.0"),
    (flat_view, (MATRIX,), "S2S304", "b[0] = 1.0"),
    (float_subscript, (VECTOR,), "S2S501", "a[0.5]"),
    (two_types, (VECTOR, 1), "S2S502", "s = s + a"),
]


@pytest.mark.parametrize(("fn", "args", "code", "text"), REFUSED, ids=[code for *_, code, _ in REFUSED])
def test_refusals_after_the_front_end_have_a_place_and_a_way_out(fn, args, code, text):
    with pytest.raises(DifferentiationError) as caught:
        s2sad.grad(fn, jit=False)(*args)
    problem = caught.value.problems[0]
    assert problem.code == code and problem.instead
    assert problem.place.function == fn.__name__ and text in problem.place.text
    assert problem.place.line > fn.__code__.co_firstlineno and problem.end_col > problem.col


def test_refusals_of_a_call():
    with pytest.raises(DifferentiationError, match="S2S140"):
        s2sad.grad(two_types, wrt="n", jit=False)(VECTOR, 1)
    with pytest.raises(DifferentiationError, match="S2S141"):
        s2sad.hessian(two_types)
