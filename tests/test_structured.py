"""Structured arguments: dataclasses, objects, dicts, tuples, None, texts and functions, each against differences of the plain function."""

import copy
import dataclasses
import functools
import pickle
import subprocess
import sys
import threading
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

from s2sad import differentiable, grad, jvp, value_and_grad
from s2sad.backend.signature import ArgumentError
from s2sad.errors import DifferentiationError
from s2sad.lang.structure import Leaf, describe, leaves, rebuild

Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Body:
    mass: float
    position: object
    label: str = "b"
    fixed: bool = False


@dataclasses.dataclass(frozen=True)
class Spring:
    k: float
    rest: float = 1.0

    @property
    def scaled(self):
        return self.k * self.rest

    def force(self, x):
        return -self.k * (x - self.rest)


class Model:
    __slots__ = ("n", "w")

    def __init__(self, w, n=2):
        self.w, self.n = w, n

    def loss(self, x, power=2):
        y = self.w * x
        return np.sum(y**power) * self.n

    def __call__(self, x):
        return np.sum(self.w * x)


def moved(value, name, step):
    """A copy with one leaf moved."""
    structure, found = describe("p", copy.deepcopy(value))
    numbers = dict(found)
    numbers[name] = numbers[name] + step if not isinstance(numbers[name], list) else [v + d for v, d in zip(numbers[name], step, strict=True)]
    return rebuild(structure, lambda leaf: numbers[leaf.name])


def check(f, *args, wrt=0, **kwargs):
    """The gradient with respect to an argument against differences, its structure, and forward mode against it."""
    args = list(args)
    before = copy.deepcopy(args)
    value, gradient = value_and_grad(f, wrt=wrt, jit=False)(*args, **kwargs)
    assert [repr(describe("a", a)) for a in args] == [repr(describe("a", a)) for a in before]
    assert value == pytest.approx(f(*copy.deepcopy(args), **kwargs), rel=1e-12)
    structure, found = describe("p", args[wrt])
    numbers, got = dict(found), iter([])
    got = {}

    def walk(s, g):
        if isinstance(s, Leaf):
            got[s.name] = g
        elif hasattr(s, "items"):
            assert type(g) is s.cls
            parts = g if isinstance(g, (tuple, list)) else [g[k] if isinstance(g, dict) else getattr(g, k) for k in s.keys]
            for part, item in zip(s.items, parts, strict=True):
                walk(part, item)

    walk(structure, gradient)
    rng = np.random.default_rng(1)
    steps, total = {}, 0.0
    for leaf in leaves(structure):
        v, g = numbers[leaf.name], got[leaf.name]
        if not (isinstance(v, float) or getattr(getattr(v, "dtype", None), "kind", "") == "f" or isinstance(v, list) and isinstance(v[0], float)):
            assert g is None, leaf
            continue
        direction = rng.normal(size=np.shape(v)) if np.ndim(v) else 1.0
        h = 1e-6
        up, down = (moved(args[wrt], leaf.name, h * s * np.asarray(direction) if np.ndim(v) else h * s) for s in (1, -1))
        rest = [copy.deepcopy(a) for a in args]
        want = (f(*rest[:wrt], up, *rest[wrt + 1 :], **kwargs) - f(*rest[:wrt], down, *rest[wrt + 1 :], **kwargs)) / (2 * h)
        assert np.sum(np.asarray(g) * direction) == pytest.approx(want, rel=1e-5, abs=1e-6), leaf
        if isinstance(v, np.ndarray):
            assert g.shape == v.shape and g.dtype == v.dtype and not np.shares_memory(g, v)
        steps[leaf.name] = direction
        total += float(np.sum(np.asarray(g) * direction))
    tangent = rebuild(structure, lambda leaf: steps.get(leaf.name))
    again, along = jvp(f, wrt=wrt, jit=False)(*copy.deepcopy(args), tangents=tangent, **kwargs)
    assert again == pytest.approx(value) and along == pytest.approx(total, rel=1e-9, abs=1e-12)
    return gradient


# -- programs -----------------------------------------------------------------------------------------------


def energy(body, g=9.81):
    return body.mass * g * body.position[1] + np.sum(body.position[0] ** 2) * body.mass


def test_dataclass():
    gradient = check(energy, Body(2.0, (np.array([1.0, 2.0]), 3.0)))
    assert gradient.label == "b" and gradient.fixed is False and gradient.mass == pytest.approx(9.81 * 3 + 5)


def pull(s, x):
    return s.force(x) ** 2 + s.scaled


def test_frozen_dataclass_with_methods_and_properties():
    assert isinstance(check(pull, Spring(3.0, 0.5), 2.0), Spring)


def damped(p, x):
    total = p["scale"] * x
    if p["mode"] == "full":
        for k in range(p["n"]):
            total = total + p["w"][k] * x ** (k + 1)
    return total * p["inner"]["c"]


def test_nested_dict_with_list_of_numbers():
    p = {"scale": 2.0, "mode": "full", "n": 2, "w": [0.5, 0.25], "inner": {"c": np.float64(3.0), "none": None}}
    gradient = check(damped, p, 1.5)
    assert gradient["mode"] == "full" and gradient["inner"]["none"] is None and type(gradient["w"]) is list
    check(damped, {**p, "mode": "half"}, 1.5)


def mlp(layers, x, act=np.tanh, out=None):
    for W, b in layers:
        x = act(W @ x + b)
    return np.sum(x) if out is None else np.dot(out, x)


def test_layers():
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(3, 2)), rng.normal(size=3)), (rng.normal(size=(2, 3)), rng.normal(size=2))]
    check(mlp, layers, np.array([0.5, -1.0]))
    check(mlp, layers[:1], np.array([0.5, -1.0]), np.sin)
    check(mlp, tuple(layers), np.array([0.5, -1.0]), out=np.array([1.0, 2.0]))
    check(mlp, layers, np.array([0.5, -1.0]), wrt=1)


def distance(a, b):
    return np.sqrt((a.x - b.x) ** 2 + (a.y - b.y) ** 2)


def test_namedtuples_and_the_same_one_twice():
    p = Point(1.0, 2.0)
    assert check(distance, p, Point(4.0, 6.0)) == pytest.approx(Point(-0.6, -0.8))
    gradient = grad(lambda_free, jit=False)(p, p)
    assert gradient == Point(4.0, 0.0)


def lambda_free(a, b):
    return a.x * 4.0 + b.x * 3.0


def test_orders_of_keys_and_ordered_dicts():
    gradient = grad(ordered, jit=False)(OrderedDict(b=2.0, a=3.0))
    assert type(gradient) is OrderedDict and list(gradient.items()) == [("b", 3.0), ("a", 2.0)]


def ordered(d):
    total = 1.0
    for v in d.values():
        total = total * v
    return total


def euler(rhs, y0, n=5, h=0.1, method="euler"):
    y = y0
    for _ in range(n):
        if method == "euler":
            y = y + h * rhs(y)
        else:
            k = rhs(y)
            y = y + h / 2 * (k + rhs(y + h * k))
    return y


def test_function_arguments_with_captured_numbers():
    def make(k, power=1):
        def rhs(y, scale=1.0):
            return -k * y**power * scale

        return rhs

    g = grad(euler, wrt="y0", jit=False)
    for k in (1.0, 2.0, 3.0):
        assert g(make(k), 1.0) == pytest.approx((1 - 0.1 * k) ** 5)
    assert len(g._inner) == 1
    h = 1e-6
    want = (euler(make(1.5, 2), 1.0 + h, method="heun") - euler(make(1.5, 2), 1.0 - h, method="heun")) / (2 * h)
    assert g(make(1.5, 2), 1.0, method="heun") == pytest.approx(want, rel=1e-6)
    assert g(functools.partial(make(1.0), scale=2.0), 1.0) == pytest.approx(0.8**5)
    assert g(Spring(1.0, 0.0).force, 1.0) == pytest.approx(0.9**5)
    assert g(np.sin, 0.0) == pytest.approx(1.1**5)


def test_captured_flags_and_tuples_are_not_stale():
    def make(flag, powers):
        def rhs(y):
            return y ** powers[0] if flag else y ** powers[1]

        return rhs

    g = grad(euler, wrt="y0", jit=False)
    h = 1e-6
    for flag, powers in [(True, (1, 2)), (False, (1, 2)), (True, (3, 2)), (False, (3, 2))]:
        f = make(flag, powers)
        assert g(f, 0.5) == pytest.approx((euler(f, 0.5 + h) - euler(f, 0.5 - h)) / (2 * h), rel=1e-6)


def test_lambdas_made_anew():
    g = grad(euler, wrt="y0", jit=False)
    found = [g(lambda y: -k * y, 1.0) for k in (1.0, 2.0)]  # noqa: B023
    found += [g(lambda y, c=c: -c * y, 1.0) for c in (1.0, 2.0)]
    assert found == pytest.approx([0.9**5, 0.8**5] * 2)
    assert len(g._inner) == 2
    both = (lambda y: -y, lambda y: -2.0 * y)
    assert [g(f, 1.0) for f in both] == pytest.approx([0.9**5, 0.8**5])


def polynomial(x, *coefficients, scale=1.0, **more):
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total * scale * more.get("w", 1.0)


def test_starred_parameters():
    got = grad(polynomial, wrt=("x", "coefficients", "more"), jit=False)(2.0, 1.0, 2.0, 3.0, w=2.0)
    assert got == (12.0, (8.0, 4.0, 2.0), {"w": 11.0})
    assert grad(polynomial, jit=False)(2.0, 1.0, 2.0) == 1.0
    with pytest.raises(TypeError):
        grad(polynomial, jit=False)()


def test_methods_callable_objects_and_partials():
    m = Model(np.array([1.0, 2.0]))
    x = np.array([0.5, -1.0])
    want = 2 * 2 * m.w**2 * x
    assert np.allclose(grad(m.loss, jit=False)(x), want)
    assert np.allclose(grad(Model.loss, wrt=1, jit=False)(m, x), want)
    assert np.allclose(grad(m.loss, wrt="x", jit=False)(x, power=2), want)
    self_bar = grad(m.loss, wrt="self", jit=False)(x)
    assert type(self_bar) is Model and self_bar.n is None and np.allclose(self_bar.w, 4 * m.w * x**2)
    assert np.allclose(grad(m, jit=False)(x), m.w)
    m.w = 2 * m.w
    assert np.allclose(grad(m, jit=False)(x), m.w)
    g = grad(functools.partial(mlp, [(np.eye(2), np.zeros(2))], act=np.sin), jit=False)
    assert np.allclose(g(x), np.cos(x))
    with pytest.raises(TypeError):
        grad(m.loss, jit=False)(x, 2, 3)


class Net:
    def __init__(self, w):
        self.w = w

    @grad(wrt=("self", "x"), jit=False)
    def loss(self, x):
        return self.w * x * x


def test_decorated_methods():
    net = Net(3.0)
    self_bar, x_bar = net.loss(2.0)
    assert (self_bar.w, x_bar) == (4.0, 12.0)
    assert net.loss.value_and_grad(2.0)[0] == 12.0 and Net.loss.primal(net, 2.0) == 12.0
    assert Net(5.0).loss(1.0)[1] == 10.0 and len(Net.loss._inner) == 1


def keep(x, tolerance=None, mode="a", shape=(2, 3)):
    if tolerance is not None and x < tolerance:
        return x
    return x * shape[0] if mode == "a" else x * shape[1]


def test_defaults_that_are_none_or_texts():
    g = grad(keep, jit=False)
    assert [g(2.0), g(2.0, None), g(2.0, 3.0), g(2.0, mode="b"), g(2.0, 1.0, "b")] == [2.0, 2.0, 1.0, 3.0, 3.0]
    assert keep.__defaults__ is not None and g(2.0) == 2.0


def parts(body):
    return {"m": 2.0 * body.mass, "more": (body.position[0] * body.mass, "text", None)}


def test_results_have_their_structure():
    body = Body(2.0, [np.array([1.0, 3.0]), 1.0])
    out = differentiable(parts, jit=False)(body)
    assert out["m"] == 4.0 and out["more"][1:] == ("text", None) and np.array_equal(out["more"][0], [2.0, 6.0])


# -- what changes --------------------------------------------------------------------------------------------


def halve(p):
    p.position[0] = 0.5 * p.position[0]
    return np.sum(p.position**2) * p.mass


def twice(a, b):
    a["v"] = 2.0 * a["v"]
    return a["v"] * b["v"]


def test_the_same_dict_twice_is_not_written():
    d = {"v": 3.0}
    assert grad(twice, jit=False)(d, dict(d)) == {"v": 6.0}
    with pytest.raises(DifferentiationError, match="`a`, a dict that the arguments have in two places, is written"):
        grad(twice, jit=False)(d, d)


def test_arrays_in_objects_are_written_by_the_primal_only():
    body = Body(2.0, np.array([2.0, 1.0]))
    gradient = check(halve, body)
    assert np.array_equal(gradient.position, [2.0, 4.0])
    differentiable(halve, jit=False)(body)
    assert np.array_equal(body.position, [1.0, 1.0])


def overlap(p, x):
    x[0] = p.mass
    return np.sum(p.position * x)


def test_parts_that_overlap_are_refused_if_one_is_written():
    x = np.ones(3)
    with pytest.raises(ArgumentError, match="`p.position` of `overlap`"):
        grad(overlap, jit=False)(Body(1.0, x[1:]), x[:2])
    assert grad(overlap, jit=False)(Body(1.0, np.ones(3)), x).mass == 1.0


def move(body, dt):
    body.mass = body.mass * dt
    return body.mass**2


def test_attributes_that_are_set():
    body = Body(2.0, 1.0)
    assert grad(move, wrt="dt", jit=False)(body, 3.0) == 24.0 and body.mass == 2.0
    with pytest.raises(ArgumentError, match="`body.mass` of `move`"):
        differentiable(move, jit=False)(body, 3.0)
    assert body.mass == 2.0


# -- refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrt, args, text",
    [
        ("p", ({"a": None}, 1.0), "`p` of `first` is a dict without a float"),
        ("p", (None, 1.0), "`p` of `first` is None"),
        ("p", ("rk4", 1.0), "`p` of `first` is 'rk4'"),
        ("p", (energy, 1.0), "`p` of `first` is the function energy"),
        ("x", (Body(1.0, {1, 2}), 1.0), "`p.position` of `first` is a set"),
        ("x", ({"f": sys.stdout}, 1.0), "`p\\[\"f\"\\]` of `first` is a"),
        ("x", ({"a": np.ones(2, complex)}, 1.0), "`p\\[\"a\"\\]` of `first` has dtype complex128"),
    ],
)
def test_arguments_that_do_not_fit(wrt, args, text):
    with pytest.raises(ArgumentError, match=text):
        grad(first, wrt=wrt, jit=False)(*args)


def first(p, x):
    return x * x


def test_tangents_that_do_not_fit():
    with pytest.raises(ArgumentError, match="tangent of `body`"):
        jvp(energy, jit=False)(Body(1.0, (np.ones(2), 1.0)), tangents={"mass": 1.0})
    with pytest.raises(ArgumentError, match=r"`body.position\[1\]` of `energy` is no float, so"):
        jvp(energy, jit=False)(Body(1.0, (np.ones(2), 1)), tangents=Body(1.0, (None, 1.0)))
    value, along = jvp(energy, jit=False)(Body(1.0, (np.ones(2), 1.0)), tangents=Body(None, (None, 1.0)))
    assert along == pytest.approx(9.81)


# -- around --------------------------------------------------------------------------------------------------


def test_source_explain_signatures():
    g = grad(energy, jit=False)
    body = Body(2.0, (np.array([1.0, 2.0]), 3.0))
    assert "body_mass, body_position_0, body_position_1, g, out_bar=1.0" in g.source(body)
    assert "energy_adjoint" in g.explain(body)
    assert g(body).mass == pytest.approx(34.43)
    assert "body_mass" in g.source()
    assert len(g.signatures) == 1
    assert g.value_and_grad(body)[0] == pytest.approx(energy(body))


def test_compiled_and_checked():
    body = Body(2.0, (np.array([1.0, 2.0]), 3.0))
    g = grad(energy, check="first")
    assert g(body).mass == pytest.approx(34.43)
    body.mass = 3.0
    again = g(body)
    assert np.allclose(again.position[0], 6 * body.position[0])
    assert np.allclose(g(Body(1.0, (np.arange(6.0)[::2], 1)), 2.0).position[0], [0.0, 4.0, 8.0])
    value, along = jvp(energy)(body, tangents=Body(1.0, (None, None)))
    assert along == pytest.approx(34.43)


@grad(wrt="s")
def pickled(s, x):
    return s.k * x


def test_pickling():
    again = pickle.loads(pickle.dumps(pickled))
    assert again is pickled
    m = Model(np.array([1.0, 2.0]))
    g = pickle.loads(pickle.dumps(grad(m.loss, jit=False)))
    assert np.allclose(g(np.ones(2)), 4 * m.w**2)


def test_threads():
    g = grad(energy, jit=False)
    out = [None] * 8

    def work(k):
        out[k] = g(Body(float(k), (np.ones(2), 1.0))).position[1]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert out == [pytest.approx(9.81 * k) for k in range(8)]


def test_a_method_that_changes_is_compiled_again(monkeypatch):
    g = grad(pull, wrt="x", jit=False)
    s = Spring(3.0, 0.5)
    assert g(s, 2.0) == pytest.approx(2 * 9 * 1.5)
    monkeypatch.setattr(Spring, "force", other_force)
    assert g(s, 2.0) == pytest.approx(2.0 * 9.0 * 2.0)


def other_force(self, x):
    return self.k * x


def test_the_shell(tmp_path):
    (tmp_path / "shell_model.py").write_text(
        "import dataclasses\n@dataclasses.dataclass\nclass P:\n    a: float\n\ndef f(p, x, mode='a'):\n    return p.a * x if mode == 'a' else x\n"
    )
    run = functools.partial(subprocess.run, capture_output=True, text=True, cwd=tmp_path, check=False)
    out = run([sys.executable, "-m", "s2sad", "dump", "shell_model.py:f", "--args", "P(1.0), 2.0", "--wrt", "p"])
    assert "def f_adjoint(p_a, x" in out.stdout, out.stderr


def test_other_errors_are_those_of_the_compiler():
    with pytest.raises(DifferentiationError, match="c"):
        grad(unknown_part, jit=False)({"a": 1.0})


def unknown_part(d):
    return d["c"] * 2.0


# -- lists of numbers ----------------------------------------------------------------------------------------


def joined(a, b):
    return a[0] * len(a + b)


def repeated(a, n):
    return np.sum(np.array(n * a[1:])) * a[0]


def longer(a, b):
    a += b
    return a[0] * len(a)


def not_lists(a, x):
    c = a * x + a * 2.0
    return np.sum(c) * len(a) + a[0] + a[1]


@pytest.mark.parametrize(
    "f, args, what", [(joined, ([1.0], [2.0]), "joined"), (repeated, ([1.0, 2.0], 3), "repeated"), (longer, ([1.0], [2.0]), "made longer")]
)
def test_lists_are_not_added(f, args, what):
    g = value_and_grad(f, jit=False)
    arrays = [np.array(v) if isinstance(v, list) else v for v in args]
    g(*arrays)  # arrays are
    for _ in range(2):
        with pytest.raises(DifferentiationError, match=f"A list that is an argument is {what} here"):
            g(*args)
    with pytest.raises(DifferentiationError, match=what):
        jvp(f, jit=False)(*args, tangents=np.ones(len(args[0])))


def test_lists_as_arrays():
    assert np.allclose(grad(not_lists, jit=False)([1.0, 2.0], np.ones(2)), [7.0, 7.0])


def only_a_condition(body, x):
    return 2.0 * x * body.position if body.mass > 1.0 else x


def test_warm_and_explain_with_examples():
    g = grad(only_a_condition, jit=False)
    g.warm(Body(2.0, 1.0), 3.0)
    assert len(g.signatures) == 1
    assert g(Body(2.0, 1.0), 3.0) == Body(0.0, 6.0) and len(g.signatures) == 1
    assert "respect to `body.mass` of `only_a_condition` is zero: only conditions depend on it" in g.explain()
