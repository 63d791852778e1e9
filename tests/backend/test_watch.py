import types

import numpy as np

from s2sad.backend.watch import Watch

SCALE = 2.0
TABLE = np.ones(3)
KIND = "square"


def helper(x):
    return deeper(x) * SCALE


def deeper(x, p=2):
    return x**p


def top(x):
    return helper(x) if KIND == "square" else np.sum(TABLE) + len(x)


def test_numbers_and_arrays_may_change(monkeypatch):
    watch = Watch(top)
    assert watch.unchanged()
    monkeypatch.setattr(f"{__name__}.SCALE", 3.0)
    monkeypatch.setattr(f"{__name__}.TABLE", np.zeros(3))
    assert watch.unchanged()


def test_a_constant_changes(monkeypatch):
    watch = Watch(top)
    monkeypatch.setattr(f"{__name__}.KIND", "other")
    assert not watch.unchanged()


def test_a_helper_of_a_helper_is_defined_again(monkeypatch):
    watch = Watch(top)
    monkeypatch.setattr(f"{__name__}.deeper", lambda x: x)
    assert not watch.unchanged()


def test_a_builtin_is_shadowed(monkeypatch):
    watch = Watch(top)
    monkeypatch.setitem(globals(), "len", lambda x: 0)
    assert not watch.unchanged()


def test_a_global_is_deleted(monkeypatch):
    watch = Watch(top)
    monkeypatch.delitem(globals(), "helper")
    assert not watch.unchanged()


def test_code_and_defaults_change_in_place():
    watch = Watch(top)
    old_code, old_defaults = deeper.__code__, deeper.__defaults__
    try:
        deeper.__defaults__ = (3,)
        assert not watch.unchanged()
        deeper.__defaults__ = old_defaults
        assert watch.unchanged()
        deeper.__code__ = (lambda x, p=2: x).__code__
        assert not watch.unchanged()
    finally:
        deeper.__code__, deeper.__defaults__ = old_code, old_defaults


def test_a_closure_changes():
    step = helper
    number = 1.0

    def inner(x):
        return step(x) * number

    watch = Watch(inner)
    number = 2.0
    assert watch.unchanged()
    step = deeper
    assert not watch.unchanged()


def test_a_function_in_a_module_changes():
    module = types.ModuleType("a_user_module")
    module.act = helper
    space = {"module": module, "__name__": "another"}
    exec("def f(x):\n    return module.act(x)", space)
    watch = Watch(space["f"])
    assert watch.unchanged()
    module.act = deeper
    assert not watch.unchanged()
