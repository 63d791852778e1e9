"""What is known before the program runs is decided; functions, tuples, dicts and objects are values. Gradients against differences."""

import dataclasses
import functools
import math
from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest
from plain import text

from s2sad import grad, value_and_grad
from s2sad.errors import DifferentiationError
from s2sad.transforms import front

RNG = np.random.default_rng(7)
X = RNG.normal(size=5)
PROGRAMS = {}


def program(*args):
    def register(fn):
        PROGRAMS[fn] = args
        return fn

    return register


# -- functions as values ----------------------------------------------------------------------------------------------


def solve(rhs, y0, t_end, steps, method="rk4", args=()):
    h = t_end / steps
    y = y0
    for k in range(steps):
        t = k * h
        if method == "euler":
            y = y + h * rhs(t, y, *args)
        elif method == "rk4":
            k1 = rhs(t, y, *args)
            k2 = rhs(t + h / 2, y + h / 2 * k1, *args)
            k3 = rhs(t + h / 2, y + h / 2 * k2, *args)
            k4 = rhs(t + h, y + h * k3, *args)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        else:
            raise ValueError(f"unknown method {method}")
    return y


@program(1.3, 0.7)
def closure_in_a_solver(x, a):
    def rhs(t, y):
        return -a * y * y + math.sin(t)

    return solve(rhs, x, 1.0, 6)


@program(1.3, 0.7)
def lambda_in_a_solver(x, a):
    return solve(lambda t, y, b: -b * y + t, x, 1.0, 6, method="euler", args=(a,))


def lotka(t, y, alpha, beta):
    return np.array([alpha * y[0] - beta * y[0] * y[1], beta * y[0] * y[1] - y[1]])


@program(np.array([1.0, 0.5]), 1.1, 0.4)
def system_of_equations(y0, alpha, beta):
    y = solve(lotka, y0, 1.0, 5, args=(alpha, beta))
    return y[0] ** 2 + y[1]


@program(X)
def functions_in_a_dict(x):
    acts = {"tanh": np.tanh, "relu": lambda v: np.maximum(v, 0.0), "square": square}
    y = x
    for name in ("tanh", "relu", "square"):
        y = acts[name](y) + 0.1
    return np.sum(y)


def square(v):
    return v * v


def make_kernel(scale, power=2):
    def kernel(r):
        return scale * r**power

    return kernel


@program(X, 0.3)
def factory(x, scale):
    k = make_kernel(scale)
    m = make_kernel(2.0 * scale, power=3)
    return np.sum(k(x)) + np.sum(m(x))


CUBIC = make_kernel(1.5, 3)


@program(X)
def factory_outside(x):
    return np.sum(CUBIC(x))


@program(X, 0.3)
def partial_application(x, a):
    f = functools.partial(scaled, scale=a)
    g = functools.partial(np.power, x)
    return np.sum(f(x)) + np.sum(g(2.0))


def scaled(x, shift=0.5, scale=1.0):
    return scale * (x + shift)


HALF = functools.partial(scaled, scale=0.5)


@program(X)
def partial_outside(x):
    return np.sum(HALF(x) ** 2)


@program(1.2)
def late_binding(x):
    a = 1.0

    def f(v):
        return a * v

    y = f(x)
    a = x
    return y + f(x)


@program(0.6)
def newton(x):
    def residual(z):
        return z * z - x

    def slope(z):
        return 2.0 * z

    z = 1.0
    for _ in range(6):
        z = z - residual(z) / slope(z)
    return z


@program(2.3, 4)
def inner_calls_itself(x, n):
    def f(v, k):
        if k == 0:
            return v
        return v * f(v + x, k - 1)

    return f(x, n)


def pair_of(x, n):
    if n == 0:
        return x, 1.0
    a, b = pair_of(x, n - 1)
    return a * x, b + a


def tail(x, n, s=(1.0, 0.0)):
    if n > 0:
        return tail(x, n - 1, (s[0] * x, s[1] + s[0]))
    return s


@program(1.3, 4)
def recursive_pairs(x, n):
    a, b = pair_of(x, n)
    c, d = tail(x, n)
    return a * b + c * d


def compose(*fs):
    def run(v):
        for f in fs:
            v = f(v)
        return v

    return run


@program(X)
def composed(x):
    return np.sum(compose(np.sin, square, np.exp)(x))


@program(1.5)
def closures_in_a_loop(x):
    s = 0.0
    for k in range(4):
        f = lambda v: v**k  # noqa: E731, B023
        s += f(x)
    return s


@program(X, 2)
def closure_over_a_loop(x, n):
    w = np.ones(5)

    def energy(v):
        return np.sum(w * v * v)

    e = 0.0
    for k in range(n):
        w = w * x
        e += energy(x) / (k + 1)
    return e


# -- options and tests ------------------------------------------------------------------------------------------------


def norm(x, kind="l2", weights=None, callback=None):
    if callback is not None:
        callback(x)
    w = np.ones_like(x) if weights is None else weights
    if kind.lower() in ("l2", "euclid"):
        return np.sqrt(np.sum(w * x * x))
    if kind == "l1":
        return np.sum(w * np.abs(x))
    raise NotImplementedError(kind)


@program(X)
def text_options(x):
    return norm(x) + norm(x, "l1") + norm(x, kind="L2", weights=np.arange(5.0))


@program(X)
def option_dict(x):
    opts = {"kind": "l1", "weights": None}
    opts["kind"] = "l2"
    more = {**opts, "weights": 2.0 * x * x}
    return norm(x, **opts) + norm(x, **more)


def tagged(x, flag=True, order=2):
    if not flag:
        return time_and_space(x)  # noqa: F821
    return np.sum(x**order) if isinstance(order, int) else x


@program(X)
def dead_code_is_not_looked_at(x):
    return tagged(x) + tagged(x, order=3)


@program(X)
def builtins_that_ask(x):
    p = Point(2.0, 3.0)
    s = 0.0
    if hasattr(p, "x") and not hasattr(p, "z") and callable(square) and isinstance(p, Point) and not isinstance(p, dict):
        s = getattr(p, "x") * np.sum(x)  # noqa: B009
    return s + getattr(p, "z", 1.0) * x[0] + (x[1] if type(p) is Point else 0.0)


# -- structures -------------------------------------------------------------------------------------------------------

Pair = namedtuple("Pair", "a b")


class State(NamedTuple):
    position: object
    velocity: object


@dataclasses.dataclass
class Point:
    x: float
    y: float = 1.0

    def norm2(self):
        return self.x**2 + self.y**2

    @property
    def double(self):
        return 2.0 * self.x

    def moved(self, dx):
        return Point(self.x + dx, self.y)

    def move(self, dx):
        self.x += dx


class Oscillator:
    damping = 0.1

    def __init__(self, k, mass=1.0):
        self.k = k
        self.mass = mass
        self.history = []

    def force(self, s):
        return -self.k * s.position - self.damping * s.velocity

    def step(self, s, h):
        v = s.velocity + h * self.force(s) / self.mass
        return State(s.position + h * v, v)

    def __call__(self, s):
        return self.force(s)


@program(1.0, 2.5)
def named_tuples_through_a_loop(x, k):
    model = Oscillator(k)
    s = State(x, 0.0)
    for _ in range(10):
        s = model.step(s, 0.05)
    return s.position**2 + s[1] + model(s)


@program(1.0, 2.0)
def objects(x, y):
    p = Point(x, y)
    q = p
    q.move(0.5)
    r = p.moved(1.0)
    r.y = x * y
    return p.norm2() + p.double + r.norm2() * q.x


@program(1.05, 2.0)
def object_in_a_loop(x, y):
    p = Point(x)
    for k in range(5):
        p.move(0.1 * k)
        if p.x > 1.3:
            p.y = p.y * y
    return p.norm2()


@program(1.0, 2.0)
def object_made_anew(x, y):
    p = Point(x, y)
    for _ in range(4):
        p = Point(p.x * p.y, p.y + 0.1)
    return p.x


@program(1.0, 2.0)
def dict_of_state(x, y):
    state = {"a": x, "b": {"c": y}}
    for k in range(3):
        state["a"] = state["a"] + state["b"]["c"] * k
        state["b"]["c"] *= 1.1
    total = 0.0
    for name, v in state.items():
        if name == "a":
            total += v * v
    return total + state["b"]["c"] + len(state) + (1.0 if "a" in state else x)


@program(RNG.normal(size=3), RNG.normal(size=(4, 3)), RNG.normal(size=(2, 4)))
def network(x, W1, W2):
    layers = [(W1, np.tanh), (W2, lambda v: v)]
    y = x
    for W, act in layers:
        y = act(W @ y)
    for k, (W, _) in enumerate(reversed(layers)):
        y = y + (k + 1) * np.sum(W)
    return np.sum(y) + sum(np.sum(W**2) for W, _ in layers)


@program(X, 2.0)
def indexed_by_a_counter(x, a):
    ws = (x, a * x, np.ones(3))
    s = 0.0
    for k in range(len(ws)):
        s += np.sum(ws[k]) ** 2
        if k == len(ws) - 1:
            s = s * a
    return s


@program(1.0, 2.0)
def tuples(x, y):
    a, *rest = (x, y, x * y, 3.0)
    t = (a, *rest)
    first, (second, third) = t[0], t[1:3]
    b, c = Pair(x, y)
    return first + second * third + t[-1] * c + b + len(rest)


@program(1.0, 2.0)
def swapped(x, y):
    s, t = (x, 1.0), (y, 2.0)
    for k in range(3):
        s, t = t, s
        if k > 0:
            s, t = (s[0] * t[0], s[1]), (t[0], t[1] + s[0])
    return s[0] + s[1] * t[0] * t[1]


def polynomial(x, *coefficients, shift=0.0):
    s = 0.0
    for k, c in enumerate(coefficients):
        s += c * (x - shift) ** k
    return s


@program(1.5, 0.3)
def starred(x, a):
    cs = (1.0, a, 2.0 * a)
    return polynomial(x, *cs) + polynomial(x, a, shift=a) + polynomial(x)


def forwarded(x, **options):
    return scaled(x, **options)


@program(1.5, 0.3)
def keywords(x, a):
    return forwarded(x, scale=a) + forwarded(x, shift=a, scale=2.0)


@program(1.5, 0.3)
def comprehensions(x, a):
    fs = [lambda v: v * v, math.sin]
    ys = [f(x) for f in fs]
    d = {k: f(a) for k, f in zip(("p", "q"), fs)}  # noqa: B905
    return sum(ys) + d["p"] * d["q"] + max(v for v in ys)


TABLE = {"g": 9.81, "layers": [(1.0, 2.0), (3.0, 4.0)], "name": "earth"}
COEFFICIENTS = [0.5, 1.5, 2.5]
MODEL = Point(2.0, 3.0)


class Config:
    tol = 1e-3
    kind = "quick"


@program(1.5)
def tables(x):
    s = TABLE["g"] * x
    for a, b in TABLE["layers"]:
        s += a * x**b
    for k in range(3):
        s += COEFFICIENTS[k] * x**k
    s += COEFFICIENTS[-1] + MODEL.x * MODEL.norm2()
    return s + Config.tol if Config.kind == "quick" and TABLE["name"] == "earth" else 0.0


def differences(fn, args, k, h=1e-6):
    a = np.asarray(args[k], dtype=float)
    out = np.zeros(a.shape)
    for i in np.ndindex(a.shape):
        values = []
        for sign in (1, -1):
            b = a.copy()
            b[i] += sign * h
            new = list(args)
            new[k] = b if a.shape else float(b)
            values.append(fn(*new))
        out[i] = (values[0] - values[1]) / (2 * h)
    return out


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(fn):
    args = PROGRAMS[fn]
    wrt = tuple(k for k, a in enumerate(args) if not isinstance(a, int))
    value, bars = value_and_grad(fn, wrt=wrt, jit=False)(*args)
    assert value == pytest.approx(fn(*args), rel=1e-12)
    for k, bar in zip(wrt, bars, strict=True):
        np.testing.assert_allclose(bar, differences(fn, args, k), rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("fn", [closure_in_a_solver, objects, network], ids=lambda f: f.__name__)
def test_compiled(fn):
    args = PROGRAMS[fn]
    np.testing.assert_allclose(grad(fn)(*args), grad(fn, jit=False)(*args), rtol=1e-12)


def test_only_what_runs_is_shown():
    shown = text(front.build(closure_in_a_solver))
    assert "method" not in shown and "raise" not in shown and "euler" not in shown
    assert "norm" not in text(front.build(text_options, "specialize")).replace("norm(", "").replace("norm_2(", "").replace("norm_3(", "")


# -- what changes outside ---------------------------------------------------------------------------------------------


def test_tables_are_read_at_every_call(monkeypatch):
    g = grad(tables, jit=False)
    one = g(1.5)
    monkeypatch.setitem(TABLE, "g", 1.0)
    assert g(1.5) == pytest.approx(one - 8.81)
    monkeypatch.setitem(TABLE, "layers", [(1.0, 2.0)])
    assert g(1.5) == pytest.approx(one - 8.81 - 3.0 * 4.0 * 1.5**3)
    monkeypatch.setattr(Config, "kind", "slow")
    assert g(1.5) == 0.0


def test_methods_and_functions_in_tables_that_change(monkeypatch):
    g = grad(tables, jit=False)
    one = g(1.5)
    assert one == pytest.approx(differences(tables, (1.5,), 0), rel=1e-6)
    monkeypatch.setattr(Point, "norm2", lambda self: 0.0)
    assert g(1.5) == pytest.approx(differences(tables, (1.5,), 0), rel=1e-6)
    monkeypatch.setattr(Point, "norm2", Point.moved)


# -- what is refused --------------------------------------------------------------------------------------------------


def none_then_number(x, n):
    best = None
    for k in range(n):
        if best is None or x * k > best:
            best = x * k
    return best


def one_of_two_functions(x):
    f = np.sin
    if x > 0.0:
        f = np.cos
    return f(x)


def shape_changes(x, n):
    t = (x,)
    for _ in range(n):
        t = (*t, x)
    return t[0]


def key_at_run_time(x, n):
    d = {0: x, 1: 2.0 * x}
    return d[n]


def writes_a_table(x):
    TABLE["g"] = x
    return x


def different_results(x):
    return one_or_two(x)


def one_or_two(x):
    if x > 0.0:
        return x
    return x, x


def missing_entry(x):
    return {"a": x}["b"]


def missing_attribute(x):
    return Point(x).z


def nonlocal_value(x):
    s = 0.0

    def add(v):
        nonlocal s
        s += v

    add(x)
    return s


@pytest.mark.parametrize(
    "fn,code,mention",
    [
        (none_then_number, "S2S132", "`best` is None"),
        (one_of_two_functions, "S2S132", "np.sin"),
        (shape_changes, "S2S132", "a tuple of 1"),
        (key_at_run_time, "S2S113", "key"),
        (writes_a_table, "S2S129", "TABLE"),
        (different_results, "S2S132", "a tuple of 2"),
        (missing_entry, "S2S113", "'b'"),
        (missing_attribute, "S2S122", ".z"),
        (nonlocal_value, "S2S110", "nonlocal"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_refused(fn, code, mention):
    with pytest.raises(DifferentiationError) as caught:
        front.build(fn)
    assert code in [p.code for p in caught.value.problems]
    assert mention in str(caught.value)
    assert all(p.place is not None and p.instead for p in caught.value.problems)
