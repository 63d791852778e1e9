"""Programs as published scientific code writes them, with structured arguments, each against differences."""

# ruff: noqa: B905, B006, B008, E741, F841

import dataclasses
import enum
import functools
import math
from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest

from tests import constants as const
from tests import constants as consts
from tests.constants import K_B, Units
from tests.test_structured import check


def rk4_step(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def euler_step(f, t, y, h):
    return y + h * f(t, y)


STEPPERS = {"rk4": rk4_step, "euler": euler_step}


def odeint(f, y0, t, method="rk4", callback=None):
    """Integrate."""
    if method not in STEPPERS:
        raise ValueError(f"unknown method {method}")
    step = STEPPERS[method]
    y = np.asarray(y0, dtype=float)
    out = np.empty((len(t),) + y.shape)
    out[0] = y
    for i in range(len(t) - 1):
        h = t[i + 1] - t[i]
        y = step(f, t[i], y, h)
        out[i + 1] = y
        if callback is not None:
            callback(y)
    return out


@dataclasses.dataclass
class LVParams:
    alpha: float = 1.1
    beta: float = 0.4
    delta: float = 0.1
    gamma: float = 0.4


def lv_loss(p: LVParams, y0, t, data, method="rk4"):

    def rhs(t, y):
        x, z = y
        return np.array([p.alpha * x - p.beta * x * z, p.delta * x * z - p.gamma * z])

    sol = odeint(rhs, y0, t, method=method)
    return np.sum((sol - data) ** 2)


def integrate(func, y0, ts, args=()):
    if not isinstance(args, tuple):
        args = (args,)
    y = y0.copy()
    for k in range(1, len(ts)):
        y = y + (ts[k] - ts[k - 1]) * func(y, ts[k - 1], *args)
    return y


def pend(y, t, b, c):
    theta, omega = y
    dydt = [omega, -b * omega - c * np.sin(theta)]
    return np.array(dydt)


def pend_loss(bc, y0, ts):
    b, c = bc["b"], bc["c"]
    y = integrate(pend, y0, ts, args=(b, c))
    return y[0] ** 2 + 3 * y[1]


def relu(x):
    return np.maximum(x, 0.0)


ACT = {"tanh": np.tanh, "relu": relu, "sigmoid": lambda z: 1 / (1 + np.exp(-z)), None: lambda z: z}


def mlp(params, x, activation="tanh"):
    act = ACT[activation]
    h = x
    for i, (W, b) in enumerate(params):
        h = h @ W + b
        if i < len(params) - 1:
            h = act(h)
    return h


def mlp_loss(params, x, y, activation="tanh", l2=0.0):
    pred = mlp(params, x, activation)
    loss = np.mean((pred - y) ** 2)
    if l2 > 0:
        loss += l2 * sum(np.sum(W**2) for W, _ in params)
    return loss


def mlp_last(params, x, y):
    *hidden, (Wl, bl) = params
    for W, b in hidden:
        x = np.tanh(x @ W + b)
    return np.sum((x @ Wl + bl - y) ** 2)


class KalmanParams(NamedTuple):
    q: float
    r: float
    f: float = 1.0


class State(NamedTuple):
    mean: float
    var: float


def predict(s: State, p: KalmanParams) -> State:
    return State(mean=p.f * s.mean, var=p.f**2 * s.var + p.q)


def update(s: State, z, p: KalmanParams):
    k = s.var / (s.var + p.r)
    inn = z - s.mean
    ll = -0.5 * (np.log(2 * np.pi * (s.var + p.r)) + inn**2 / (s.var + p.r))
    return s._replace(mean=s.mean + k * inn, var=(1 - k) * s.var), ll


def kalman_nll(p, zs, init=State(0.0, 1.0)):
    s = init
    total = 0.0
    for z in zs:
        s = predict(s, p)
        s, ll = update(s, z, p)
        total += ll
    return -total


def seir(params, y0, days):
    beta, sigma, gamma = params["beta"], params["sigma"], params["gamma"]
    N = sum(y0)
    S, E, I, R = y0
    peak = 0.0
    for _ in range(days):
        inf = beta * S * I / N
        S, E, I, R = S - inf, E + inf - sigma * E, I + sigma * E - gamma * I, R + gamma * I
    return I + params.get("offset", 0.0)


def init_params(n):
    return {"w": np.zeros(n), "b": 0.0}


def dict_kwargs(params, x):
    return linear(x, **params)


def linear(x, w, b=0.0, *, power=2):
    return np.sum((x * w + b) ** power)


@dataclasses.dataclass
class Options:
    lr: float = 0.1
    maxiter: int = 5
    momentum: float = 0.5
    tol: float | None = None
    verbose: bool = False


def minimise(fun, x0, options=None, **kw):
    opts = options or Options()
    x, v = x0, 0.0
    for it in range(opts.maxiter):
        g = fun(x)
        v = opts.momentum * v - opts.lr * g
        x = x + v
        if opts.verbose:
            print(it, x)
        if opts.tol is not None and abs(g) < opts.tol:
            break
    return x


def unrolled(a, x0):
    return minimise(lambda x: 2 * a * (x - 1.0), x0, Options(lr=0.05)) ** 2


def unrolled_opts(opts, a, x0):
    return minimise(lambda x: 2 * a * (x - 1.0), x0, opts)


def planck(T, nu):
    x = consts.H * nu / (K_B * T)
    return 2 * consts.H * nu**3 / const.C * 1e8 / np.expm1(x) * Units.km * consts.Units.meter


def quad(p, a, b):
    m, r = (a + b) / 2, (b - a) / 2
    s = 0.0
    for w, x in zip(const.WEIGHTS, const.NODES):
        s += w * np.exp(-p * (m + r * x) ** 2)
    return r * s * const.MASSES["sun"]


def make_gaussian(mu, sigma):
    norm = 1.0 / (sigma * np.sqrt(2 * np.pi))

    def pdf(x):
        return norm * np.exp(-0.5 * ((x - mu) / sigma) ** 2)

    return pdf


def mixture(weights, mus, sigmas, x):
    comps = [make_gaussian(m, s) for m, s in zip(mus, sigmas)]
    return sum(w * c(x) for w, c in zip(weights, comps))


class Mixture(NamedTuple):
    weights: tuple
    mus: tuple
    sigmas: tuple


def mixture_nll(m, xs):
    out = 0.0
    for x in xs:
        out -= np.log(mixture(m.weights, m.mus, m.sigmas, x))
    return out


class Layer:
    def __init__(self, W, b, act="tanh"):
        self.W = W
        self.b = b
        self.act = act

    def __call__(self, x):
        z = self.W @ x + self.b
        return self.activate(z)

    def activate(self, z):
        if self.act == "tanh":
            return np.tanh(z)
        elif self.act is None:
            return z
        return np.maximum(z, 0)


class Net:
    def __init__(self, layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def loss(self, x, y):
        return float(np.sum((self.forward(x) - y) ** 2))


def net_loss(net, x, y):
    return net.loss(x, y)


class Base:
    scale = 2.0

    def energy(self, x):
        return self.scale * self.potential(x)

    def potential(self, x):
        raise NotImplementedError


class Morse(Base):
    def __init__(self, D, a):
        super().__init__()
        self.D, self.a = D, a

    def potential(self, x):
        return self.D * (1 - np.exp(-self.a * x)) ** 2


class LJ(Base):
    def __init__(self, eps, sig):
        self.eps, self.sig = eps, sig

    def potential(self, r):
        s6 = (self.sig / r) ** 6
        return 4 * self.eps * (s6**2 - s6)

    @staticmethod
    def helper(z):
        return z * z

    @classmethod
    def standard(cls):
        return cls(1.0, 1.0)


def pot(model, x):
    return model.energy(x)


def pot2(model, x):
    return LJ.helper(x) * model.eps + model.helper(2.0)


class Kind(enum.Enum):
    A = "a"
    B = "b"


def by_enum(p, x):
    if p["kind"] is Kind.A:
        return p["v"] * x
    if p["kind"] == Kind.B:
        return p["v"] ** 2 * x
    raise ValueError


def flexible(p, x):
    if isinstance(p, dict):
        a, b = p["a"], p["b"]
    elif isinstance(p, (tuple, list)):
        a, b = p
    elif np.isscalar(p) or np.ndim(p) == 0:
        a, b = p, 1.0
    else:
        a, b = p[0], p[1]
    return a * x**2 + b * x


def attr(p, x):
    s = getattr(p, "scale", 1.0)
    if hasattr(p, "alpha"):
        s = s * p.alpha
    return s * x


@dataclasses.dataclass
class Geometry:
    length: float
    radius: float

    def area(self):
        return math.pi * self.radius**2


@dataclasses.dataclass
class Pipe:
    geom: Geometry
    rough: float = 0.01
    coeffs: list = dataclasses.field(default_factory=lambda: [1.0, 2.0])
    total: float = dataclasses.field(init=False, default=0.0)

    def __post_init__(self):
        self.total = self.geom.length * 2


def pipe_drop(pipe, flow):
    v = flow / pipe.geom.area()
    c = 0.0
    for k, a in enumerate(pipe.coeffs):
        c += a * v**k
    return c * pipe.rough * pipe.geom.length / (2 * pipe.geom.radius) * v**2 + pipe.total


def make_inside(x):
    pipe = Pipe(Geometry(x, 0.5), rough=0.02 * x)
    return pipe_drop(pipe, 1.5)


class Vec:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __sub__(self, o):
        return Vec(self.x - o.x, self.y - o.y)

    def __mul__(self, s):
        return Vec(self.x * s, self.y * s)

    __rmul__ = __mul__

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __getitem__(self, k):
        return (self.x, self.y)[k]

    def __len__(self):
        return 2

    def dot(self, o):
        return self.x * o.x + self.y * o.y

    def norm(self):
        return math.sqrt(self.dot(self))


def vec(v, s):
    w = 2.0 * v + v * s - Vec(1.0, 2.0)
    return (-w).norm() + w[0] * len(w)


@dataclasses.dataclass
class Particle:
    pos: np.ndarray
    vel: np.ndarray
    mass: float


def gravity(ps, n, dt):
    for _ in range(n):
        acc = []
        for i, a in enumerate(ps):
            f = np.zeros(2)
            for j, b in enumerate(ps):
                if i != j:
                    d = b.pos - a.pos
                    f = f + b.mass * d / (np.sqrt(d @ d) + 0.1) ** 3
            acc.append(f)
        ps = [Particle(p.pos + dt * p.vel, p.vel + dt * a, p.mass) for p, a in zip(ps, acc)]
    return sum(0.5 * p.mass * np.dot(p.vel, p.vel) for p in ps)


def inner_import(p, x):
    import math as m

    from numpy import exp

    from tests.constants import K_B as kb

    return m.sin(p["a"]) * exp(x) * kb


def compose(*fs):
    return functools.reduce(lambda f, g: lambda x: g(f(x)), fs)


def chain(p, x):
    f = compose(lambda z: z * p["a"], np.sin, functools.partial(pow2, k=p["b"]))
    return f(x)


def pow2(z, k):
    return k * z**2


def mapped(p, x):
    return sum(map(lambda t: t[0] * x ** t[1], p))


def newton_opts(p, x0, options={"maxiter": 20, "tol": 1e-10}):
    x = x0
    it = 0
    while it < options["maxiter"]:
        f = x**2 - p["a"]
        if abs(f) < options["tol"]:
            break
        x -= f / (2 * x)
        it += 1
    return x


def with_info(p, x):
    y = p["a"] * x
    return y, {"iterations": 3, "residual": abs(y)}


def uses_info(p, x):
    y, info = with_info(p, x)
    return y + info["residual"] * info["iterations"]


def adam(cfg, w0, steps):
    state = {"m": 0.0, "v": 0.0, "t": 0}
    w = w0
    for _ in range(steps):
        g = 2 * (w - 3.0)
        state["t"] += 1
        state["m"] = cfg["b1"] * state["m"] + (1 - cfg["b1"]) * g
        state["v"] = cfg["b2"] * state["v"] + (1 - cfg["b2"]) * g * g
        mh = state["m"] / (1 - cfg["b1"] ** state["t"])
        vh = state["v"] / (1 - cfg["b2"] ** state["t"])
        w = w - cfg["lr"] * mh / (np.sqrt(vh) + 1e-8)
    return w


def adam_step(state, g, cfg):
    return dict(state, m=cfg["b1"] * state["m"] + g, t=state["t"] + 1)


def adam2(cfg, w0, n):
    st = dict(m=0.0, t=0)
    for _ in range(n):
        st = adam_step(st, w0, cfg)
    return st["m"] * st["t"]


def merged(p, x):
    q = {**p, "c": 3.0}
    q.update(d=x)
    return sum(q.values()) + sum(v * 2 for k, v in q.items() if k != "a")


def walk_keys(p, x):
    s = 0.0
    for k in sorted(p):
        s += p[k] * x
        x = x * 2
    for k in p.keys():
        if k.startswith("w"):
            s += p[k] ** 2
    return s


def str_fmt(p, x):
    s = 0.0
    for i in range(2):
        s += p[f"w{i}"] * x**i
    return s


Point2 = namedtuple("Point2", "a b")
T1 = np.linspace(0, 1, 6)
CASES = {
    "lv": (lv_loss, (LVParams(), np.array([1.0, 0.5]), T1, np.ones((6, 2))), 0, {}),
    "lv euler": (lv_loss, (LVParams(), np.array([1.0, 0.5]), T1, np.ones((6, 2))), 0, {"method": "euler"}),
    "pend": (pend_loss, ({"b": 0.25, "c": 5.0}, np.array([3.0, 0.0]), T1), 0, {}),
    "mlp": (
        mlp_loss,
        ([(np.ones((2, 3)) * 0.3, np.zeros(3)), (np.ones((3, 1)) * 0.2, np.ones(1))], np.array([[1.0, 2.0], [0.5, -1.0]]), np.ones((2, 1))),
        0,
        {"l2": 0.1},
    ),
    "mlp sig": (
        mlp_loss,
        (
            [(np.ones((2, 3)) * 0.3, np.zeros(3)), (np.ones((3, 1)) * 0.2, np.ones(1))],
            np.array([[1.0, 2.0], [0.5, -1.0]]),
            np.ones((2, 1)),
            "sigmoid",
        ),
        0,
        {},
    ),
    "mlp none": (
        mlp_loss,
        ([(np.ones((2, 3)) * 0.3, np.zeros(3)), (np.ones((3, 1)) * 0.2, np.ones(1))], np.array([[1.0, 2.0], [0.5, -1.0]]), np.ones((2, 1)), None),
        0,
        {},
    ),
    "mlp last": (
        mlp_last,
        ([(np.ones((2, 3)) * 0.3, np.zeros(3)), (np.ones((3, 1)) * 0.2, np.ones(1))], np.array([[1.0, 2.0], [0.5, -1.0]]), np.ones((2, 1))),
        0,
        {},
    ),
    "kalman": (kalman_nll, (KalmanParams(0.1, 0.5), np.array([0.1, 0.4, 0.2])), 0, {}),
    "kalman init": (kalman_nll, (KalmanParams(0.1, 0.5), np.array([0.1, 0.4, 0.2]), State(0.5, 2.0)), 2, {}),
    "seir": (seir, ({"beta": 0.9, "sigma": 0.2, "gamma": 0.1}, (99.0, 0.0, 1.0, 0.0), 5), 0, {}),
    "seir y0": (seir, ({"beta": 0.9, "sigma": 0.2, "gamma": 0.1, "offset": 2.0}, [99.0, 0.5, 1.0, 0.5], 5), 0, {}),
    "kwargs": (dict_kwargs, ({"w": np.array([1.0, 2.0]), "b": 0.3}, np.array([1.0, 3.0])), 0, {}),
    "kwargs pow": (dict_kwargs, ({"w": np.array([1.0, 2.0]), "power": 3}, np.array([1.0, 3.0])), 0, {}),
    "unrolled": (unrolled, (1.5, 3.0), 0, {}),
    "unrolled opts": (unrolled_opts, (Options(), 1.5, 3.0), 0, {}),
    "unrolled opts tol": (unrolled_opts, (Options(tol=1e-3), 1.5, 3.0), 0, {}),
    "planck": (planck, (2.0, 1.5), 0, {}),
    "quad": (quad, (0.7, 0.0, 1.0), 0, {}),
    "mixture": (mixture_nll, (Mixture((0.3, 0.7), (0.0, 1.0), (1.0, 2.0)), np.array([0.1, 0.5])), 0, {}),
    "net": (
        net_loss,
        (Net([Layer(np.ones((3, 2)) * 0.3, np.zeros(3)), Layer(np.ones((1, 3)) * 0.2, np.ones(1), None)]), np.array([1.0, 2.0]), np.ones(1)),
        0,
        {},
    ),
    "morse": (pot, (Morse(1.5, 0.7), 0.8), 0, {}),
    "lj": (pot, (LJ(1.5, 0.7), 0.8), 0, {}),
    "static": (pot2, (LJ(1.5, 0.7), 0.8), 0, {}),
    "enum a": (by_enum, ({"kind": Kind.A, "v": 3.0}, 2.0), 0, {}),
    "enum b": (by_enum, ({"kind": Kind.B, "v": 3.0}, 2.0), 0, {}),
    "flex dict": (flexible, ({"a": 1.0, "b": 2.0}, 2.0), 0, {}),
    "flex float": (flexible, (1.5, 2.0), 0, {}),
    "flex array": (flexible, (np.array([1.5, 2.0]), 2.0), 0, {}),
    "attr": (attr, (LVParams(), 2.0), 0, {}),
    "pipe": (pipe_drop, (Pipe(Geometry(2.0, 0.5)), 1.5), 0, {}),
    "pipe made": (make_inside, (2.0,), 0, {}),
    "vec": (vec, (Vec(1.0, 3.0), 2.5), 0, {}),
    "gravity": (
        gravity,
        ([Particle(np.array([0.0, 1.0]), np.array([0.1, 0.2]), 2.0), Particle(np.array([1.0, 1.0]), np.array([0.1, -0.2]), 1.0)], 3, 0.1),
        0,
        {},
    ),
    "imports": (inner_import, ({"a": 0.3}, 2.0), 0, {}),
    "chain": (chain, ({"a": 1.5, "b": np.float64(2.0)}, 2.0), 0, {}),
    "mapped": (mapped, ([(1.5, 2), Point2(2.0, 3)], 2.0), 0, {}),
    "newton": (newton_opts, ({"a": 2.0}, 1.0), 0, {}),
    "newton o": (newton_opts, ({"a": 2.0}, 1.0, {"maxiter": 3, "tol": 1e-3}), 0, {}),
    "info": (uses_info, ({"a": 2.0}, 1.0), 0, {}),
    "adam": (adam, ({"b1": 0.9, "b2": 0.99, "lr": 0.1}, 1.0, 4), 0, {}),
    "adam2": (adam2, ({"b1": 0.9}, 1.0, 4), 0, {}),
    "merged": (merged, ({"a": 0.9, "b": 2.0}, 1.0), 0, {}),
    "keys": (walk_keys, ({"b": 0.9, "w1": 2.0}, 1.0), 0, {}),
    "fmt": (str_fmt, ({"w0": 0.9, "w1": 2.0}, 1.5), 0, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    f, args, wrt, more = CASES[name]
    check(f, *args, wrt=wrt, **more)
