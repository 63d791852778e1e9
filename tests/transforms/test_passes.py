"""What holds for every pass: it is documented by an example, `emit` shows its result, and the text it shows parses."""

import ast
import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import s2sad.analysis
import s2sad.transforms
from s2sad.lang.types import WEAK_INT, Array
from s2sad.transforms import pipeline
from s2sad.transforms.example import after

MODULES = [f"{p.__name__}.{m.name}" for p in (s2sad.analysis, s2sad.transforms) for m in pkgutil.iter_modules(p.__path__)]


def smooth(u, n):
    v = u.copy()
    for _ in range(n):
        for i in range(1, v.size):
            v[i] = np.sin(v[i]) * v[i - 1]
    return np.sum(v)


TYPES = {"u": Array("float64", 1), "n": WEAK_INT}


@pytest.mark.parametrize("name", MODULES)
def test_every_pass_and_analysis_has_an_example(name):
    assert any(t.examples for t in doctest.DocTestFinder().find(importlib.import_module(name)))


def test_the_program_after_each_pass():
    shown = {}
    for name in pipeline.FRONT:
        shown[name] = pipeline.front_after(smooth, name)
    function = pipeline.front(smooth)
    for name in pipeline.PASSES[len(pipeline.FRONT) - 1:]:
        shown[name] = pipeline.emit(function, TYPES, ("u",), "adjoint", name).text
    assert list(shown) == list(pipeline.PASSES)
    for name, text in shown.items():
        assert text.startswith("def smooth(u, n):"), name
        ast.parse(text)
    early = pipeline.PASSES[: pipeline.PASSES.index("reverse")]
    assert all(("_bar" in text) == (name not in early) for name, text in shown.items())
    assert "v.size" in shown["resolve"] and "for _ in range(n)" in shown["resolve"]
    assert "v_saved" in shown["storage"] and "v_saved" not in shown["reverse"]


@pytest.mark.parametrize("mode", ["primal", "adjoint", "value_and_adjoint"])
def test_every_mode_stops_at_its_passes(mode):
    function = pipeline.front(smooth)
    for name in pipeline.passes_of(mode)[len(pipeline.FRONT) - 1:]:
        ast.parse(pipeline.emit(function, TYPES, ("u",), mode, name).text)


def test_passes_that_are_not_on_the_way():
    function = pipeline.front(smooth)
    with pytest.raises(ValueError, match="no pass `nowhere` .*resolve, specialize"):
        pipeline.emit(function, TYPES, ("u",), "adjoint", "nowhere")
    with pytest.raises(ValueError, match="no pass `reverse` on the way to the primal"):
        pipeline.emit(function, TYPES, ("u",), "primal", "reverse")
    with pytest.raises(ValueError, match="`fence` is behind"):
        pipeline.emit(function, TYPES, ("u",), "adjoint", "fence")


def test_emitting_changes_nothing():
    function = pipeline.front(smooth)
    first = pipeline.emit(function, TYPES, ("u",), "value_and_adjoint").text
    pipeline.emit(function, TYPES, ("u",), "adjoint")
    assert pipeline.emit(function, TYPES, ("u",), "value_and_adjoint").text == first


def test_text_programs():
    assert after("types", "y = x * 2.0\nreturn y", "x: f8") == "y = x * 2.0\nreturn y"
