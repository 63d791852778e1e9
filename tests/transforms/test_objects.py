"""Objects that take the place of others, aliases, and what a function asks about the types of its arguments: the plain function is the judge."""

import copy
import dataclasses
import enum
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest

from s2sad import differentiable, grad, jvp, value_and_grad
from s2sad.errors import DifferentiationError

Pair = namedtuple("Pair", "u v")


@dataclasses.dataclass
class P:
    x: float
    y: float = 1.0

    def made(self, v):
        return P(self.y, self.x * v)

    def __iadd__(self, v):
        self.x += v
        return self

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __rmul__(self, v):
        return P(v * self.x, v * self.y)

    def __abs__(self):
        return abs(self.x) + abs(self.y)

    def __len__(self):
        return 2

    def __getitem__(self, k):
        return (self.x, self.y)[k]


def anew(p, n):
    for _ in range(n):
        p = P(p.x * 2.0)
    return p.x


def caller_keeps_its_object(x, n):
    p = P(x)
    return anew(p, n) * p.x


def anew_in_a_branch(p, c):
    if c > 1.0:
        p = P(p.x * 2.0)
    return p.x


def caller_keeps_it_with_a_branch(x, n):
    p = P(x)
    return anew_in_a_branch(p, x + n) * p.x


def another_name(x, n):
    p = P(x)
    q = p
    for _ in range(n):
        p = P(p.x * 2.0, p.y + 0.5)
    return p.x * q.x + p.y * q.y


def in_a_tuple(x, n):
    p = P(x)
    q = (p, 1.0)
    for _ in range(n):
        p = P(p.x * 2.0)
    return p.x * q[0].x


def nested_dicts(x, n):
    p = {"a": {"b": x}}
    q = p["a"]
    for _ in range(n):
        p = {"a": {"b": p["a"]["b"] * 2.0}}
    return p["a"]["b"] * q["b"]


def swapped_parts(x, n):
    p = P(x, x * x)
    for _ in range(n):
        p.x, p.y = p.y, p.x
    d = {"a": x, "b": 2.0}
    d["a"], d["b"] = d["b"], d["a"]
    return p.x * 3.0 + p.y * d["a"] + d["b"]


def swap(p):
    p.x, p.y = p.y, p.x


def swapped_in_a_helper(x, n):
    p = P(x, 0.3)
    ps = [P(0.5, x), p]
    for _ in range(n):
        swap(ps[1])
    return p.x + 2.0 * ps[1].y + ps[0].y


def scale(ps, n):
    for _ in range(n):
        ps[1].y *= 0.8


def changed_in_a_loop_of_a_helper(x, n):
    p = P(0.2, x)
    scale([P(x), p], n)
    return p.y * x


def made_before_the_write(x, n):
    p = P(x, 2.0)
    p.x, q = 3.0, P(p.x * 2.0, n)
    return p.x * q.x


def rows(x, n):
    u, v = np.array([x, 2.0]), np.array([x * x, 3.0])
    ps = [P(a * 2.0, b) for a, b in (u, v)]
    ts = [(a, [b, "s"]) for a, b in (u, v)]
    fs = [lambda z, a=a: z * a for a, b in (u, v)]
    return ps[0].x * ps[1].y + ps[1].x + ts[0][0] * ts[1][1][0] + fs[0](2.0) * fs[1](3.0)


def zipped(x, n):
    found = []
    for p in (P(x), P(2.0 * x)):
        found.append(p.x * 3.0)
    ps = [P(p.x + f, f) for p, f in zip([P(x), P(1.0)], found, strict=True)]
    return ps[0].x * ps[1].y + ps[1].x


def operators(x, n):
    p, q = P(x, 2.0), P(3.0, x)
    p += x * x
    r = 2.0 * q
    return (p @ r) * abs(q) + r[0] * len(p) + r[1]


def replaced(x, n):
    t = Pair(x, P(x))
    for _ in range(n):
        t = t._replace(u=t.u * 1.5)
    return t.u * t.v.x + sum(t._asdict()["u"] * k for k in (1.0, 2.0))


def keys(x, n):
    d = {(0, 1): x, "w1": 2.0 * x, None: 3.0}
    return d[0, 1] * d[f"w{1}"] + d[None] + sum(map(lambda v: v * v, d.values())) + len(sorted(["b", "a"]))


PROGRAMS = [caller_keeps_its_object, caller_keeps_it_with_a_branch, another_name, in_a_tuple, nested_dicts, swapped_parts, swapped_in_a_helper,
            changed_in_a_loop_of_a_helper, made_before_the_write, rows, zipped, operators, replaced, keys]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_gradients(fn, n):
    value, gradient = value_and_grad(fn, jit=False)(0.7, n)
    h = 1e-6
    assert value == pytest.approx(fn(0.7, n), rel=1e-12)
    assert gradient == pytest.approx((fn(0.7 + h, n) - fn(0.7 - h, n)) / (2 * h), rel=1e-6)
    assert jvp(fn, jit=False)(0.7, n, tangents=1.0)[1] == pytest.approx(gradient, rel=1e-12)


def test_an_argument_that_is_made_anew_is_not_changed():
    p = P(3.0)
    assert differentiable(anew, jit=False)(p, 3) == 24.0 and p == P(3.0)
    assert grad(anew, jit=False)(p, 3) == P(8.0, 0.0)


def one_of_two(p, q, c):
    ps = [P(1.0), q]
    for _ in range(2):
        if c > 0.5:
            ps[0] = p
        ps[0].x += c
    return p.x


def alias_on_one_way_of_a_loop(p, q, c):
    ps = [P(1.0), q.made(p.x)]
    for _ in range(2):
        if p.x * c > 0.6:
            c = 0.3 * c
        else:
            ps[1] = p
    ps[1].x += c
    return p.x


def alias_before_a_loop(p, q, c):
    d = {"o": p}
    t = Pair(c, q)
    for k in range(int(c)):
        p, q = q, p
        d = {"o": t.v.made(q.y + k)}
    d["o"].x += c
    return p.x


@pytest.mark.parametrize("fn", [one_of_two, alias_on_one_way_of_a_loop, alias_before_a_loop])
def test_writes_to_one_of_two_are_refused(fn):
    with pytest.raises(DifferentiationError, match="may be the same as another one") as e:
        grad(fn, jit=False)(P(1.0), P(2.0), 0.7)
    assert ".x += c" in str(e.value) and "Write instead" in str(e.value)


def newton(a, x0=1.0, maxiter=20, verbose=False, unit=None):
    x = x0
    for k in range(maxiter):
        if verbose:
            print("iteration", k, x, end="\n")
        x = x - (x * x - a) / (2 * x)
    return x if unit is None else x * {"m": 1.0, "km": 1e3}[unit]


def test_prints_that_a_flag_rules_out_and_calls_with_texts():
    for g in (grad(newton, jit=False), grad(newton)):
        for _ in range(2):
            assert g(2.0) == pytest.approx(0.5 / np.sqrt(2.0))
            assert g(2.0, unit="km") == pytest.approx(500.0 / np.sqrt(2.0))
            assert g(2.0, 1.5, verbose=False, unit="m") == pytest.approx(0.5 / np.sqrt(2.0))
            assert g(np.float32(2.0)).dtype == np.float32
            assert differentiable(newton, jit=False)(2, unit="m") == pytest.approx(np.sqrt(2.0))
            with pytest.raises(DifferentiationError, match="`print`"):
                g(2.0, verbose=True)
    assert value_and_grad(newton, wrt=("a", "x0"), jit=False)(2.0, unit="km")[1] == pytest.approx((500.0 / np.sqrt(2.0), 0.0))


# -- types ----------------------------------------------------------------------------------------------------


def either(x):
    if np.ndim(x) == 0:
        return x * 2.0
    return np.sum(x * 3.0)


def scalar_or_not(x):
    return x * x if np.isscalar(x) else np.sum(x * x)


def made_an_array(x):
    if isinstance(x, (int, float)):
        x = np.array([x, 1.0])
    assert isinstance(x, np.ndarray)
    return np.sum(x * x)


def kind_of(x):
    if type(x) is float:
        return x * 3.0
    if hasattr(x, "shape") and not isinstance(x, (dict, str)):
        return np.sum(x)
    return x["a"]


def rows_of(x):
    out = np.zeros((3,) + x.shape)
    for k in range(3):
        out[k] = x * k
    return np.sum(out**2) + np.sum(np.ones((*x.shape[1:], 2))) * np.sum(x)


def in_a_closure(x):
    def f(v):
        return v if isinstance(v, float) else np.sum(v)

    return f(x) * f(x * 2.0)


ARRAYS = [np.array([1.0, 2.0]), np.array([[1.0], [3.0]]), np.array([])]


@pytest.mark.parametrize("fn, values", [(either, [1.5, *ARRAYS]), (scalar_or_not, [1.5, *ARRAYS]), (made_an_array, [1.5, *ARRAYS]),
                                        (kind_of, [1.5, *ARRAYS, {"a": 2.0}]), (rows_of, ARRAYS), (in_a_closure, [1.5, *ARRAYS])],
                         ids=lambda f: getattr(f, "__name__", ""))
def test_types_decide(fn, values):
    value, gradient = value_and_grad(fn, jit=False), grad(fn, jit=False)
    for v in [*values, *values]:  # one function for all of them
        got = value(v)
        assert got[0] == pytest.approx(fn(v))
        if isinstance(v, float):
            assert gradient(v) == pytest.approx((fn(v + 1e-6) - fn(v - 1e-6)) / 2e-6)
        elif isinstance(v, np.ndarray):
            d = np.cos(np.arange(v.size)).reshape(v.shape)
            assert gradient(v).shape == v.shape
            assert np.sum(gradient(v) * d) == pytest.approx((fn(v + 1e-6 * d) - fn(v - 1e-6 * d)) / 2e-6, abs=1e-8)
    assert grad(scalar_or_not)(np.ones(2)).tolist() == [2.0, 2.0]


def asks_in_a_loop(x):
    for _ in range(2):
        x = x * 2.0
        if isinstance(x, np.ndarray):
            x = np.sum(x)
    return x


def test_types_that_are_not_known_are_refused():
    with pytest.raises(DifferentiationError, match="What kind of value this is") as e:
        grad(asks_in_a_loop, jit=False)(np.ones(2))
    assert "isinstance(x, np.ndarray)" in str(e.value)


def test_constants_of_modules_have_no_tangent():
    import math

    def f(x):
        a = math.pi * x**2
        return a / (x * np.sqrt(2 * np.pi))

    assert jvp(f, jit=False)(2.0, tangents=1.0)[1] == pytest.approx(math.pi / math.sqrt(2 * math.pi))


# -- more of what classes and texts do --------------------------------------------------------------------------------


class Level(enum.IntEnum):
    LOW = 2
    HIGH = 3


class Temperature:
    def __init__(self, celsius):
        self.celsius = celsius

    @property
    def fahrenheit(self):
        return self.celsius * 1.8 + 32.0

    @fahrenheit.setter
    def fahrenheit(self, v):
        self.celsius = (v - 32.0) / 1.8


def setters(x, n):
    t = Temperature(x)
    t.fahrenheit = x * 100.0
    return t.celsius * t.fahrenheit


def namespaces(x, n):
    p = SimpleNamespace(a=x, b=SimpleNamespace(c=2.0))
    q = copy.copy(p)
    q.a = x * x
    p.b.c = x
    return p.a * q.a + q.b.c + Level.HIGH * x


def replaced_fields(x, n):
    p = dataclasses.replace(P(x), y=x * x)
    q = {"a": p.x} | {"b": p.y}
    return p.x * p.y + q["b"]


def functions_of_a_comprehension(x, n):
    fs = [lambda v, k=k: v**k for k in range(1, 4)]
    return sum(f(x) for f in fs)


def texts(x, n):
    kind = "ADAM"
    return x * 2.0 if kind.lower().startswith("ad") else x


@pytest.mark.parametrize("fn", [setters, namespaces, replaced_fields, functions_of_a_comprehension, texts], ids=lambda f: f.__name__)
def test_gradients_of_more(fn):
    test_gradients(fn, 1)


def by_level(level, p):
    return p.a**level * (2.0 if level is Level.LOW else 1.0)


def test_arguments_that_are_namespaces_and_members():
    g = grad(by_level, wrt="p", jit=False)
    assert g(Level.LOW, SimpleNamespace(a=3.0, name="x")) == SimpleNamespace(a=12.0, name="x")
    assert g(Level.HIGH, SimpleNamespace(a=3.0, name="x")) == SimpleNamespace(a=27.0, name="x")


def unknown(x, method="a"):
    if method == "a":
        return x
    raise ValueError(f"unknown method {method}")


def test_nothing_but_an_error_is_told():
    with pytest.raises(DifferentiationError, match="`unknown` does nothing but raise, for these arguments"):
        grad(unknown, jit=False)(1.0, "b")
    with pytest.raises(DifferentiationError, match="where a number or an array is needed") as e:
        grad(lambda p: sum(dataclasses.asdict(p).values()), jit=False)(P(1.0))
    assert "dataclasses.asdict(p)" in str(e.value)


def effect_in_a_part(x):
    xs = [1.0]
    return (xs.append(x), x)[1] * len(xs)


def test_calls_in_parts_that_are_not_chosen_are_not_dropped():
    with pytest.raises(DifferentiationError, match="append"):
        grad(effect_in_a_part, jit=False)(2.0)
