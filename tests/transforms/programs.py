"""Small programs for the front end, each with arguments. PROGRAMS: function -> list of argument tuples."""

import math

import numpy as np
from numba import njit

A = np.array([1.5, -2.0, 0.5, 3.0])
M = np.array([[1.0, 0.0, 2.0], [0.5, -3.0, 0.0]])
PROGRAMS = {}


def program(*arguments):
    def register(f):
        PROGRAMS[f] = list(arguments)
        return f

    return register


# -- loops and ways out of them ------------------------------------------------------------------------------


@program((1.5, M))
def continue_max(x, c):
    best = -1e20
    for p in range(c.shape[0]):
        for q in range(c.shape[1]):
            w = c[p, q]
            if w == 0.0:
                continue
            v = x * w * (p + q + 2)
            if v > best:
                best = v
    return best


@program((A,), (np.array([-1.0]),))
def break_inner_only(x):
    s = 0.0
    for i in range(x.shape[0]):
        p = 1.0
        for j in range(x.shape[0]):
            if j > i:
                break
            p = p * x[j]
        s += p
    return s


@program((3.0, 1.5), (3.0, -1.5), (-1.0, 1.0), (0.5, 3.0), (0.5, 1.0))
def all_paths_return(x, a):
    if x < 0.0:
        return -x * a
    elif x < 1.0:
        if a > 2.0:
            return x * x
        return x * x * a
    else:
        while x > 1.0:
            x = x * 0.5
            if a < 0.0:
                return x
        return x * a * a


@program((A, 2.0), (A, 100.0), (A, -1.0), (np.zeros(0), 1.0))
def for_else(x, limit):
    s = 0.0
    for v in x:
        s += abs(v)
        if s > limit:
            s = -s
            break
        if v < 0.0:
            continue
        s += 0.25
    else:
        s += 10.0
    return s


@program((5,), (0,), (1,))
def while_else(n):
    k = 0
    while k < n:
        k += 1
        if k == 3:
            k += 10
            continue
        if k > 20:
            break
    else:
        return k * 2.0
    return k + 0.5


@program((M, 2.0), (M, -4.0), (M, 100.0))
def return_from_nest(c, limit):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            if c[i, j] < limit - 3.0:
                return c[i, j] + i
            if c[i, j] > limit:
                break
        else:
            return -1.0 * i
    return 100.0


@program((1.2, 4), (1.2, 0))
def repeat_until(x, n):
    r = 1.0
    i = 0
    while True:
        r *= x
        i += 1
        if i >= n:
            break
        if i == 2:
            continue
        r += 0.5
    return r + 2.0 * x


@program((4,), (0,))
def index_after_break(n):
    for i in range(10):
        if i >= n:
            break
    return i + 0.0


@program((A,), (A[:1],))
def index_after_loop(x):
    s = 0.0
    for i in range(x.shape[0] - 1):
        s += x[i] * i
    return s * x[i + 1]


@program((0.6, 4))
def bound_changed_inside(x, n):
    s = 0.0
    m = n
    for i in range(m):
        m = 1
        s += x ** (i + 1)
    return s * m


@program((3,))
def counter_changed_inside(n):
    s = 0.0
    for i in range(n):
        s += i
        i = i * 10
        s += i
    return s + i


@program((0.9, 3))
def loop_target_reused(x, n):
    x0 = x
    for x1 in range(n):
        x = x * x0 + x1
    for x1 in range(n - 1, 0, -1):
        for x1 in range(2):
            x = x + x1
        x = x + x1 * x0
    return x


@program((A, A[:2]), (A, A[:0]))
def over_arrays(a, b):
    s = 0.0
    for v in a:
        s = s * 0.5 + v
    for i, v in enumerate(a):
        s += i * v
    for k, (v, w) in enumerate(zip(a, b), 1):  # noqa: B905
        s += k * v * w
    for i, v in zip(range(3), reversed(a)):  # noqa: B905
        s = s * v + i
    for i in reversed(range(1, 3)):
        s = s + i * a[i]
    return s


@program((M,))
def over_rows(m):
    s = 0.0
    for row in m:
        row[0] += 1.0
        for v in row:
            s += v * v
    return s


@program((A,), (np.array([-1.0]),))
def short_circuit(x):
    i = 0
    s = 0.0
    while i < x.shape[0] and x[i] > -3.0:
        s += x[i] ** 3
        i += 1
    return s if i > 1 else -s


# -- assignments ---------------------------------------------------------------------------------------------


@program((0.8, 5))
def tuple_step(x, n):
    a = 1.0
    b = x
    for _ in range(n):
        a, b = b, a + b * x
    return a * b


@program((A,))
def swap_elements(x):
    y = x * x
    i = 0
    y[0], y[1] = y[1], y[0] * 2.0
    y[i], y[i + 1] = y[i + 1], y[i]
    i, y[i] = 2, 7.0
    return y[0] * x[0] + y[1] * y[2] + y[i]


@program((M,))
def swap_rows(m):
    m[0], m[1] = m[1], m[0]
    return np.sum(m[0] * np.array([1.0, 2.0, 3.0]))


@program((M,))
def shape_and_chain(m):
    n, d = m.shape
    a = b = np.zeros(n)
    c = e = 0.0
    a[0] = 2.0
    b[1] += d
    c += 1.0
    x, (y, z) = 1.0, (2.0, 3.0)
    s = (n, d)
    w = np.ones(s)
    return np.sum(b) + c + e + x * y - z + np.sum(w) * s[1] + len(s)


@program((A,))
def nested_targets(x):
    m = np.zeros((2, 3))
    m[0][1] = x[0]
    m[1][1:][0] += x[1]
    m.T[2][0] = x[2]
    m[0:1][0, 0] -= 1.0
    p, q, r = m[0]
    return np.sum(m * m) + p - q * r


@program((A, 0.7))
def scalar_or_array(x, s):
    t = s
    t += 2.0 * s
    y = x.copy()
    z = y
    z += s
    z = z * t
    y.fill(2.0)
    return np.sum(y * y) + np.sum(z) + s


@program((-1.0,), (2.0,))
def unassigned(x):
    if x > 0.0:
        y = x * 2.0
    return y


@program((-1.0,), (2.0,))
def assigned_where_flagged(x):
    found = False
    for i in range(5):
        if i * x > 3.0:
            y = i * x
            found = True
            break
    if found and y > 3.5:
        return y
    return -1.0


# -- expressions ---------------------------------------------------------------------------------------------


@program((0.5, 1.0), (2.0, 1.0), (1.5, 3.0), (float("nan"), 1.0))
def choices(x, y):
    a = x if x > y else y
    b = (x if x > 1.0 else -x) * (y if y > 2.0 else 2.0 * y)
    c = max(x, y) + min(x * 2.0, y, 1.0) - max(0.0, x - y)
    y = max(y, 1.25, x)
    b += 1.0 if a > 1.0 else 2.0
    inside = 0.0 < x < np.abs(y) < 5.0
    return a + b * c + y if inside else a - b


@program((A,))
def logic(x):
    a = x[0] > 1.0 and x[1] > 0.0 or not x[2] > 0.0
    b = not a
    return (1.0 if a else 0.0) + (2.0 if b else 0.0)


# -- calls ---------------------------------------------------------------------------------------------------


def step(v, k=0.5, *, scale=2.0):
    return v + 0.1 * np.sin(v) * k * scale


@njit
def clipped(x):
    if x > 1.0:
        return 1.0
    elif x < -1.0:
        return -1.0
    return x


def bump(arr, n):
    arr[0] += 5.0 * arr[n - 1]
    return arr[0]


def fill_prefix(out, src):
    for i in range(src.shape[0]):
        out[i] = src[i] * src[i]
        if i > 0:
            out[i] += out[i - 1]


def moments(v):
    m = np.sum(v) / v.shape[0]
    s = np.sum((v - m) ** 2)
    return m, s, v[0]


def own_copy(x):
    x = x + 1.0
    x += 1.0
    return x


def in_place(x):
    x += 1.0
    return x


def either(x, n):
    if n > 2:
        y = x
    if n > 1:
        y = 2.0 * x
    return y


def outer(x):
    return step(clipped(x), scale=clipped(3.0))


@program((0.8, 6), (-5.0, 2))
def calls_in_loop(x, n):
    v = x
    for _ in range(n):
        v = step(v, k=1.2)
    return clipped(v) * step(v) + outer(v)


@program((A,))
def writes_before_and_after(a):
    w = a.copy()
    s = w[0] + bump(w, 2) * w[0]
    t = w[1:2] * bump(w, 3)
    w[0] = bump(w, 1) - w[0]
    return s + t[0] + (bump(w, 2) if w[0] > 1e9 else 1.0) + np.sum(w)


@program((A,))
def lazy_calls(a):
    s = 0.0
    if a[0] > 10.0 and bump(a, 2) > 0.0:
        s += 1.0
    if a[0] > 0.0 or bump(a, 2) > 0.0:
        s += 2.0
    while bump(a, 2) > -40.0 and s < 10.0:
        s += 1.0
        if s == 5.0:
            break
    if -100.0 < bump(a, 2) < a[0] + 1.0:
        s += 0.125
    return s * a[0]


@program((A,))
def output_parameter(x):
    out = np.zeros_like(x)
    fill_prefix(out, x)
    fill_prefix(out, out * 0.5)
    fill_prefix(out[1:], x[1:])
    return np.sum(out)


@program((A,))
def tuple_results(v):
    m, s, first = moments(v)
    s, m, _ = moments(v * s)
    t = moments(v)
    return m * s + first + t[0] * t[-1]


@program((A, 0.5))
def copies(a, s):
    b = own_copy(a)
    t = own_copy(s)
    c = in_place(a)
    u = in_place(s)
    return np.sum(b * c) + t * u + s + np.sum(a)


@program((2.0, 3), (2.0, 1))
def stale_local(x, n):
    s = 0.0
    for k in range(n, 0, -1):
        s += either(x, k + 1)
    return s + either(x, n)


TABLE = np.array([1.0, -2.0, 0.5, 1.0])
SCALE = 1.5
VERBOSE = False
MODE = "square"
SHAPE = (2, 2)


def scaled(x):
    return x * SCALE


@program((A,))
def global_values(x):
    y = TABLE * x
    if MODE == "square" and not VERBOSE:
        y = y * y
    return np.sum(y) * scaled(math.pi) + np.sum(np.ones(SHAPE))


def make_quadratic(a, c):
    def quad(x):
        return np.sum(a * x * x) + c * x[0]

    return quad


quadratic = make_quadratic(A, 3.0)
program((A,))(quadratic)


@program((M,))
def variable_names(x):
    sum = 0.0
    max = 1.0
    np_ = 2.0
    for len in range(x.shape[0]):
        sum = sum + x[len, 1] * max
        max = max + x[len, 0] * np_
    return sum


@program((A,))
def imports_inside(x):
    from math import exp as e

    import numpy

    return numpy.sum(x) * e(0.5) + numpy.pi


@program((M,))
def methods(m):
    v = m.sum(axis=0).reshape(3, 1).ravel()
    return v.dot(m[0]) + m.T.copy().max() + m.transpose(1, 0).astype(np.float64)[2, 0] + m.flatten()[1] + v[[0, 2]].sum()
