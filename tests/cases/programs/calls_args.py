"""Arguments, mutation, inner calls, closures, names, messages."""

# ruff: noqa: B007, E501, E741  (the programs stay as they were reported)
import math

import numpy
import numpy as np
from case import Case, Raises, cstep

from s2sad import adjoint_of, stop_gradient


def uses_only_first(a, b, n):
    return np.sum(a * a) * n


def constant_output(a):
    return 3.0


def identity(x):
    return x


def same_array_twice(a, b):
    return np.sum(a * a * b)


SX = np.array([1.0, -2.0, 0.5])


def add_twice(m, n):
    return m * n


def calls_same_twice(x, y):
    a = add_twice(x, y)
    b = add_twice(y, a)
    return a + b


def sine_in_place(x):
    x[:] = np.sin(x)
    return np.sum(x)


def square_then_clear_arg(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * x[i]
    x[:] = 0.0
    return s


def moments(v):
    m = np.sum(v) / v.shape[0]
    s = np.sum((v - m) ** 2)
    return m, s, v[0]


def uses_two_of_three(v):
    m, s, first = moments(v)
    return m * s


VM = np.array([1.0, 2.0, 4.5])
_m, _s = VM.mean(), np.sum((VM - VM.mean()) ** 2)


def bump_first(arr, n):
    arr[0] += 5.0 * arr[n - 1]
    return 1.0


def callee_writes(arr):
    w = arr.copy()
    t = bump_first(w, w.shape[0])
    t += bump_first(w, 2)
    return w[0] * t


def step(v, k):
    return v + 0.1 * np.sin(v) * k


def callee_in_loop(x, k, n):
    v = x
    for i in range(n):
        v = step(v, k)
    return v * v


TABLE = np.array([1.0, -2.0, 0.5])
SCALE = 1.5


def uses_globals(x):
    return np.sum(TABLE * x * x) * SCALE


def with_defaults(x, p=3, scale=2.0):
    return scale * x ** p


def rec_power(x, n):
    if n == 0:
        return 1.0
    return x * rec_power(x, n - 1)


def numpy_by_full_name(w, x):
    h = numpy.tanh(numpy.dot(x, w))
    return numpy.sum(h) * math.sqrt(2.0)


NW, NX = np.array([[0.2, -0.5], [1.0, 0.3], [0.0, 0.7]]), np.array([[1.0, 2.0, -1.0]])


def variable_named_sum(x):
    sum = 0.0
    max = 1.0
    for i in range(x.shape[0]):
        for j in range(i, x.shape[1]):
            sum = sum + x[i, j] * max
            max = max + x[i, j]
    return sum


XU = np.array([[1.0, 2.0], [9.0, 0.5]])


def generated_looking_names(x, bx, dx):
    _x = x * bx
    x_bar = _x + dx
    adj_x = x_bar * x
    grad = adj_x * dx
    out = grad + _x
    return out


def vector_output(x):
    return x * 2.0


def try_except(x):
    try:
        y = x * x
    except ValueError:
        y = x
    return y


def calls_the_clock(x):
    import time
    return x * time.time()


def stopped(x):
    return stop_gradient(x * x) * x


def round_through(v):
    return np.round(v)


@adjoint_of(round_through)
def round_through_adjoint(v, out, out_bar):
    return out_bar * 0.5


def custom_rule(x):
    s = 0.0
    for i in range(3):
        s += round_through(x * i) * x
    return s


def seeded_dropout(x):
    np.random.seed(3)
    s = 0.0
    for i in range(x.shape[0]):
        r = np.random.random()
        if r < 0.7:
            s += x[i] * x[i] / 0.7
    return s


DX = np.array([1.0, -2.0, 0.5, 3.0])
_rs = np.random.RandomState(3).random_sample(4)


CASES = [
    Case("uses-only-first", "arg-pattern", uses_only_first, (SX, np.array([[1.0, 2.0]]), 3),
         (6 * SX, np.zeros((1, 2))), wrt=(0, 1), source="jax-ml/jax#4595; PaddlePaddle/Paddle#36146",
         note="unused: zeros of the argument's own shape, not None"),
    Case("constant-output", "arg-pattern", constant_output, (SX,), np.zeros(3), source="DiffSharp/DiffSharp#328"),
    Case("identity", "arg-pattern", identity, (2.5,), 1.0, source="apache/mxnet#8494"),
    Case("same-array-twice", "arg-pattern", same_array_twice, lambda: (lambda a: (a, a))(SX.copy()), (2 * SX * SX, SX * SX),
         wrt=(0, 1), source="NVIDIA/warp#1294 (array reused)", note="two arguments, two partial gradients, two arrays"),
    Case("calls-same-twice", "calls", calls_same_twice, (1.3, -0.6), (-0.6 + 0.36, 1.3 + 2 * 1.3 * -0.6), wrt=(0, 1),
         source="google/tangent#71"),
    Case("sine-in-place", "mutation", sine_in_place, (SX,), np.cos(SX), mutates=(0,), source="pytorch/pytorch#52390",
         note="the gradient belongs to the values at entry"),
    Case("square-then-clear-arg", "mutation", square_then_clear_arg, (SX,), 2 * SX, mutates=(0,), source="NVIDIA/warp#1350"),
    Case("uses-two-of-three", "calls", uses_two_of_three, (VM,), _s / 3 + _m * 2 * (VM - _m), source="jax-ml/jax#208; google/tangent#71"),
    Case("callee-writes", "calls", callee_writes, (np.array([1.0, 3.0, -2.0]),), np.array([2.0, 10.0, 10.0]),
         source="vgvassilev/clad#386, #387, #646"),
    Case("callee-in-loop", "calls", callee_in_loop, (0.8, 1.2, 6), cstep(callee_in_loop, (0.8, 1.2, 6), (0, 1)), wrt=(0, 1),
         source="apache/mxnet#17989 (a layer applied again and again)"),
    Case("uses-globals", "closure-default", uses_globals, (SX,), 3.0 * TABLE * SX, source="FluxML/Zygote.jl#1591; EnzymeAD/Enzyme.jl#701"),
    Case("with-defaults", "closure-default", with_defaults, (1.2,), 4.0 * 3 * 1.44, kwargs={"scale": 4.0},
         source="vgvassilev/clad#1690 (missing arguments)"),
    Case("recursion", "closure-default", rec_power, (1.3, 4), 4 * 1.3 ** 3, refuse_ok=True, source="google/tangent#77 (family; no single report on recursion)"),
    Case("numpy-by-full-name", "names", numpy_by_full_name, (NW, NX), NX.T @ (1 - np.tanh(NX @ NW) ** 2) * math.sqrt(2.0),
         source="google/tangent#23"),
    Case("variable-named-sum", "names", variable_named_sum, (XU,),
         cstep(variable_named_sum, (XU,)), source="google/tangent#31"),
    Case("generated-looking-names", "names", generated_looking_names, (1.5, -0.4, 2.0),
         cstep(generated_looking_names, (1.5, -0.4, 2.0), (0, 1, 2)), wrt=(0, 1, 2), source="google/tangent#69",
         note="the user's own names may look like names of adjoints"),
    Case("vector-output-raises", "message", vector_output, (SX,), Raises("TypeError", "ValueError", mention=("scalar",)),
         source="HIPS/autograd#361; google/tangent#59"),
    Case("try-or-refusal", "message", try_except, (1.0,), 2.0, refuse_ok=True, mention=("try", "line"),
         source="google/tangent#56 (errors from inside the tool)"),
    Case("unknown-call-raises", "message", calls_the_clock, (1.0,),
         Raises("NotImplementedError", "TypeError", "SyntaxError", mention=("time", "import")), source="google/tangent#28"),
    Case("stopped", "custom-stop", stopped, (3.0,), 9.0, source="no single report (pause and BlockGrad of apache/mxnet as a feature)"),
    Case("custom-rule", "custom-stop", custom_rule, (1.4,), (0 + 1 + 3) + 1.4 * 0.5 * (0 + 1 + 2),
         source="pytorch/pytorch#14707; EnzymeAD/Enzyme.jl#3477",
         note="the rule says 1/2, the source says 0; round(1.4 i) = 0, 1, 3"),
    Case("seeded-dropout", "random", seeded_dropout, (DX,), 2 * DX / 0.7 * (_rs < 0.7), refuse_ok=True,
         source="openai/guided-diffusion#167; pytorch/pytorch#190758",
         note="a recomputed forward sweep has to see the same draws"),
]
