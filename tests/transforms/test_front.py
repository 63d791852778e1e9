"""The normal form means what the function means."""

import gast
import numpy as np
import pytest
from plain import equal, outcome, runnable, text
from programs import PROGRAMS, A

from s2sad.lang import tree as T
from s2sad.transforms import front


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_same_results_and_effects(fn):
    run = runnable(front.build(fn))
    for args in PROGRAMS[fn]:
        assert equal(outcome(fn, args), outcome(run, args)), args


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_normal_form(fn):
    function = front.build(fn)
    assert isinstance(function.body[-1], gast.Return)
    assert not function.externals

    def check(body, in_loop=False):
        for k, s in enumerate(body):
            if isinstance(s, (gast.Assign, gast.AugAssign)):
                targets = s.targets if isinstance(s, gast.Assign) else [s.target]
                assert len(targets) == 1
                assert isinstance(targets[0], gast.Name) or isinstance(targets[0], gast.Subscript) and isinstance(targets[0].value, gast.Name)
            elif isinstance(s, gast.If):
                if isinstance(s.body[0], gast.Break):
                    assert in_loop and k == len(body) - 1 and len(s.body) == 1 and not s.orelse
                    continue
                assert not T.loads(s.test) & (T.stores(s.body) | T.stores(s.orelse))
                check(s.body)
                check(s.orelse)
            elif isinstance(s, (gast.For, gast.While)):
                assert s.body and not s.orelse
                if isinstance(s, gast.For):
                    assert isinstance(s.target, gast.Name) and s.iter.func.id == "range"
                    assert s.target.id not in T.stores(s.body) and not T.loads(s.iter) & T.stores(s.body)
                check(s.body, True)
            else:
                assert isinstance(s, gast.Return) and s is function.body[-1] or isinstance(s, (gast.Raise, gast.Pass))
            value = getattr(s, "value", None) or getattr(s, "test", None)
            for n in gast.walk(value) if value is not None else ():
                assert not isinstance(n, gast.IfExp)
                assert not isinstance(n, gast.Compare) or len(n.ops) == 1

    check(function.body)


def build_text(fn):
    return text(front.build(fn))


def early_return(x, tol):
    s = 1.0
    for _ in range(50):
        s = s * x + 0.3
        if s > tol:
            return s * x
    return s


def test_early_return_reads_well():
    assert build_text(early_return) == """\
s = 1.0
returned = False
for _ in range(50):
    s = s * x + 0.3
    if s > tol:
        result = s * x
        returned = True
    if returned:
        break
if not returned:
    result = s
return result"""


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def project(cam, point, out):
    out[0] = cam[0] * point[0]
    out[1] = cam[1] * point[0] + cam[0]


def reprojection(cams, points, obs):
    err = np.empty(2)
    total = 0.0
    for i in range(obs.shape[0]):
        project(cams[obs[i, 0]], points[obs[i, 1]], err)
        gate = sigmoid(err[0] + err[1])
        total += gate * gate
    return total


def test_inlined_calls_read_well():
    assert build_text(reprojection) == """\
err = np.empty(2)
total = 0.0
for i in range(obs.shape[0]):
    cam = cams[obs[i, 0]]
    point = points[obs[i, 1]]
    err[0] = cam[0] * point[0]
    err[1] = cam[1] * point[0] + cam[0]
    gate = 1.0 / (1.0 + np.exp(-(err[0] + err[1])))
    total += gate * gate
return total"""


def test_positions_lead_to_the_text_of_callees():
    function = front.build(reprojection)
    loop = function.body[2]
    place = function.source.place(loop.body[2].lineno)
    assert (place.function, place.text.strip()) == ("project", "out[0] = cam[0] * point[0]")
    assert function.source.text(loop) == "for i in range(obs.shape[0]):"
    assert function.source.place(loop.lineno).function == "reprojection"


FACTOR = 2.0


def with_factor(x):
    return x * FACTOR + second(x)


def second(x):
    return FACTOR * x


def test_globals_are_read_at_each_call(monkeypatch):
    function = front.build(with_factor)
    assert function.params == ("x", "FACTOR")
    run = runnable(function)
    assert run(1.0) == 4.0
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert run(1.0) == 10.0


def make_reader():
    c = 1.0

    def reader(x):
        return x * c

    def change(v):
        nonlocal c
        c = v

    return reader, change


def test_closures_are_read_at_each_call():
    reader, change = make_reader()
    run = runnable(front.build(reader))
    assert run(3.0) == 3.0
    change(2.0)
    assert run(3.0) == 6.0


def test_callees_and_assumptions(monkeypatch):
    assert [f.__name__ for f in front.callees(reprojection)] == ["sigmoid", "project"] or [
        f.__name__ for f in front.callees(reprojection)
    ] == ["project", "sigmoid"]
    held = front.assumptions(reprojection)
    assert all(a.holds() for a in held)
    monkeypatch.setitem(globals(), "sigmoid", np.tanh)
    assert not all(a.holds() for a in held)


def test_passes_are_immutable():
    value = reprojection
    for _, transform in front.passes():
        before = text(value) if isinstance(value, T.Function) else None
        new = transform(value)
        if before is not None:
            assert text(value) == before
        value = new
    assert equal(runnable(value)(*_args()), reprojection(*_args()))


def _args():
    return np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[2.0], [3.0]]), np.array([[0, 1], [1, 0], [1, 1]])


def test_hidden_of_callee_keeps_its_name_from_clashing():
    def clash(x, FACTOR):
        return second(x) + FACTOR

    function = front.build(clash)
    assert function.params == ("x", "FACTOR", "FACTOR_2")
    assert runnable(function)(1.0, 10.0) == 12.0
    assert equal(A, A)
