"""Recursive programs, each with arguments and the parameters to differentiate."""

import math

import numpy as np

from s2sad import adjoint_of


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else x * half * half


def factorial_like(x, n):
    return x if n <= 1 else (x + n) * factorial_like(x, n - 1)


def fibonacci(a, b, n):
    if n == 0:
        return a
    if n == 1:
        return b
    return fibonacci(a, b, n - 1) * 0.5 + math.sin(fibonacci(a, b, n - 2))


def ackermann(x, m, n):
    if m == 0:
        return x * (n + 1.0)
    if n == 0:
        return ackermann(x * 1.01, m - 1, 1)
    return ackermann(x + 0.1, m - 1, n) * 0.5 + ackermann(x, m, n - 1)


def continued_fraction(a, k):
    if k == a.size:
        return 1.0
    return a[k] + 1.0 / continued_fraction(a, k + 1)


def hermite(x, n):
    if n == 0:
        return 1.0
    if n == 1:
        return 2.0 * x
    return 2.0 * x * hermite(x, n - 1) - 2.0 * (n - 1) * hermite(x, n - 2)


def even_sum(x, n):
    return x if n == 0 else odd_sum(x * 1.1, n - 1) + x


def odd_sum(x, n):
    return 2.0 * x if n == 0 else even_sum(x * x, n - 1) - x


def integrand(x, w):
    return math.exp(-w * x * x) * math.cos(3.0 * w * x)


def simpson(a, b, fa, fm, fb):
    return (b - a) / 6.0 * (fa + 4.0 * fm + fb)


def adaptive(w, a, b, fa, fm, fb, tol):
    m = 0.5 * (a + b)
    left = integrand(0.5 * (a + m), w)
    right = integrand(0.5 * (m + b), w)
    whole = simpson(a, b, fa, fm, fb)
    halves = simpson(a, m, fa, left, fm) + simpson(m, b, fm, right, fb)
    if abs(halves - whole) < 15.0 * tol:
        return halves + (halves - whole) / 15.0
    return adaptive(w, a, m, fa, left, fm, 0.5 * tol) + adaptive(w, m, b, fm, right, fb, 0.5 * tol)


def quadrature(w, b):
    return adaptive(w, 0.0, b, integrand(0.0, w), integrand(0.5 * b, w), integrand(b, w), 1e-6)


def tree_sum(value, left, right, i):
    if i < 0:
        return 0.0
    s = value[i] * value[i]
    s += tree_sum(value, left, right, left[i]) * tree_sum(value, left, right, right[i])
    return s + math.sin(s)


def tree(value):
    n = value.size
    left = np.full(n, -1)
    right = np.full(n, -1)
    for i in range(n):
        if 2 * i + 1 < n:
            left[i] = 2 * i + 1
        if 2 * i + 2 < n:
            right[i] = 2 * i + 2
    return tree_sum(value, left, right, 0 if n > 0 else -1)


def sort_range(a, room, low, high):
    if high - low < 2:
        return
    middle = (low + high) // 2
    sort_range(a, room, low, middle)
    sort_range(a, room, middle, high)
    i = low
    j = middle
    for k in range(low, high):
        if i < middle and (j >= high or a[i] <= a[j]):
            room[k] = a[i]
            i += 1
        else:
            room[k] = a[j]
            j += 1
    for k in range(low, high):
        a[k] = room[k]


def mergesort(x):
    a = x * x
    room = np.empty(x.size)
    sort_range(a, room, 0, a.size)
    s = 0.0
    for k in range(a.size):
        s += (k + 1.0) * a[k]
    return s


def quicksort(a, low, high):
    if low >= high:
        return
    pivot = a[high]
    i = low
    for j in range(low, high):
        if a[j] < pivot:
            t = a[i]
            a[i] = a[j]
            a[j] = t
            i += 1
    t = a[i]
    a[i] = a[high]
    a[high] = t
    quicksort(a, low, i - 1)
    quicksort(a, i + 1, high)


def median_like(x):
    a = x.copy()
    quicksort(a, 0, a.size - 1)
    s = 0.0
    for k in range(a.size):
        s += a[k] * a[k] * k
    return s


def butterfly(a):
    n = a.size
    if n <= 1:
        return a.copy()
    even = butterfly(a[::2])
    odd = butterfly(a[1::2])
    out = np.empty(n)
    for k in range(n // 2):
        c = math.cos(2.0 * math.pi * k / n)
        out[k] = even[k] + c * odd[k]
        out[k + n // 2] = even[k] - c * odd[k]
    return out


def transformed(x):
    y = butterfly(x)
    return np.sum(y * y * y)


def determinant(a):
    n = a.shape[0]
    if n == 1:
        return a[0, 0]
    s = 0.0
    sign = 1.0
    for j in range(n):
        minor = np.empty((n - 1, n - 1))
        for r in range(1, n):
            c = 0
            for k in range(n):
                if k != j:
                    minor[r - 1, c] = a[r, k]
                    c += 1
        s += sign * a[0, j] * determinant(minor)
        sign = -sign
    return s


def pair(x, y, n):
    if n == 0:
        return x, y
    a, b = pair(x * y, y + 0.1 * x, n - 1)
    return a + b * x, b * y


def pair_product(x, y, n):
    a, b = pair(x, y, n)
    u, _ = pair(a, 0.5, 1)
    return a * b + u


def in_loop(x, n):
    s = x
    for i in range(n):
        s = s * 0.5 + power(s, i) + power(x, 2)
    return s


def scale_prefix(a, n, c):
    if n == 0:
        return 0.0
    a[n - 1] = a[n - 1] * a[n - 1] * c
    s = scale_prefix(a, n - 1, c * 1.1)
    a[0] += s * 0.1
    return s + a[n - 1]


def prefix(x, c):
    y = x.copy()
    total = scale_prefix(y, y.size, c)
    for _ in range(2):
        total += scale_prefix(y, min(2, y.size), c) * y.size
        y *= 0.5
    return total + np.sum(y)


def deep_arrays(u, n):
    if n == 0:
        return u * u
    v = deep_arrays(u * 0.5 + 1.0, n - 1)
    return v * u + np.sum(v)


def array_chain(x, n):
    u = x.copy()
    for _ in range(2):
        u = deep_arrays(u, n) * 0.1
    return np.sum(u)


def newton_tree(x, n):
    y = x
    k = 0
    while y > 1.0:
        y = y * 0.7 - 0.01 * y * y
        k += 1
    s = 0.0
    for i in range(n):
        y = math.sin(y) + 0.1 * i
        s += newton_tree(y + 1.0, i) * y
    return s + y * k


def early(x, n):
    for i in range(n):
        if x > 2.0:
            return x * i
        x = x + early(x * 0.5, i)
    return x * x


SCALE = 1.3
TABLE = np.array([0.5, 1.5, 2.5])


def with_globals(x, n):
    if n == 0:
        return x * SCALE
    return TABLE[n % 3] * with_globals(x * SCALE, n - 1)


def unused_branch(x, y, n):
    if n == 0:
        return x
    if x > 100.0:
        return math.sqrt(y)
    return unused_branch(x * y, math.sqrt(y), n - 1)


def square_into(a, b, i):
    if i < a.size:
        b[i] = a[i] * a[i]
        square_into(a, b, i + 1)


def reused(x):
    b = np.zeros(x.size)
    square_into(x, b, 0)
    s = np.sum(b * b)
    b[:] = 0.0
    square_into(b, b.copy(), 0)
    return s + np.sum(x * b)


def rows_sum(m, i):
    if i == m.shape[0]:
        return 0.0
    return row_sum(m[i], 0) * 2.0 + rows_sum(m, i + 1)


def row_sum(r, j):
    if j == r.size:
        return 0.0
    return r[j] * r[j] + row_sum(r, j + 1)


def swapped_pair(u, v, n):
    if n == 0:
        return u * 2.0, v * v
    a, b = swapped_pair(v, u * v, n - 1)
    return b + u, a * 0.5


def both_arrays(x, n):
    a, b = swapped_pair(x, x + 1.0, n)
    return np.sum(a * b)


def again_and_again(u, n):
    if n == 0:
        return np.cos(u)
    for _ in range(2):
        u = again_and_again(u, n - 1)
    return u * u


def nested(x, n):
    return np.sum(again_and_again(x, n))


def counted(x, n):
    """An integer result beside the float."""
    if n == 0:
        return x, 1
    y, k = counted(x * 1.5, n - 1)
    return y + k * x, k + 1


def counts(x, n):
    y, k = counted(x, n)
    return y * k


def kept_test(x, n):
    """The test that decides is overwritten, so that it has to be kept."""
    y = x * 1.5
    if n == 0:
        return y
    flag = y > 1.0
    if flag:
        y = math.sin(y) + kept_test(y * 0.5, n - 1)
    else:
        y = y * y + kept_test(y + 0.3, n - 1) * y
    flag = y > 2.0
    if flag:
        y = y * 0.5
    return y * x


def halves(a):
    if a.size < 2:
        if a.size == 1:
            a[0] = a[0] * a[0]
        return
    m = a.size // 2
    halves(a[:m])
    halves(a[m:])
    for k in range(m):
        t = a[k] + a[k + m]
        a[k + m] = a[k] * a[k + m]
        a[k] = t


def on_views(x):
    a = x.copy()
    halves(a)
    return np.sum(a * a)


def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)


def with_gcd(x, n):
    s = 0.0
    for i in range(n):
        k = gcd(i + 12, 18)
        s += math.sin(x * k) * k
        x = x * 1.01
    return s


def with_gcd_arrays(x, y):
    for i in range(x.size):
        k = gcd(i + 12, 18)
        y[i] = x[i] * x[i] * k
    return np.sum(y * y)


def const_call(x, n):
    c = power(1.5, n)
    return x * c + power(x, n) * c


def two_types(x, n):
    return power(2, n) * x + power(x, n) + float(power(np.float32(1.5), n))


def entry_given(a, v, n):
    if n == 0:
        return v * a[0]
    a[0] = a[0] * 1.1 + v
    r = entry_given(a, a[0] * a[1], n - 1)
    a[1] = a[1] * r * 0.1
    return r + a[1]


def entries_given(x, n):
    a = x.copy()
    r = entry_given(a, a[0], n)
    r += entry_given(a, a[a.size - 1], n)
    return r * a[0] + np.sum(a)


def exponentials(u, n):
    out = np.exp(u * 0.3)
    if n > 0:
        v = exponentials(out, n - 1)
        v[0] = v[0] * v[1]
        out = out * v
        w = np.tanh(out)
        return w
    return out


def result_changed(x, n):
    v = exponentials(x, n)
    v[0] = 3.0 * v[1]
    v *= v
    return np.sum(v * v)


def dot_from(a, b, i):
    if i == a.size:
        return 0.0
    return a[i] * b[i] + dot_from(a, b, i + 1)


def same_args(x):
    return dot_from(x, x, 0) + dot_from(x[1:], x[:-1], 0)


def use_while(x, n):
    k = 0
    while power(x, n) > 0.01 and k < 20:
        x = x * 0.8
        k += 1
        if k > 15:
            break
    return x * hermite(x, 3)


def contains(a, v, i):
    if i >= a.size:
        return False
    if a[i] > v:
        return True
    return contains(a, v, i + 1)


def use_bool(x, v):
    s = 0.0
    for k in range(x.size):
        if contains(x, v * k, 0):
            s += x[k] * v
        else:
            s -= x[k] * x[k]
    return s


def share(x, n):
    return x if n == 0 else math.sin(share(x * x, n - 1))


def names_taken(x, n):
    share_forward = x * 2.0
    depth = share(share_forward, n)
    saved_floats = share(depth, n)
    return saved_floats * depth + share_forward


def by_keyword(x, n=3, *, scale=2.0):
    return x * scale if n == 0 else by_keyword(x * x, scale=scale * 1.1, n=n - 1) + scale


def keywords(x, s):
    return by_keyword(x) + by_keyword(x, 2) + by_keyword(x, scale=s, n=1)


def cube(x):
    return x * x * x


@adjoint_of(cube)
def cube_adjoint(x, y, y_bar):
    return 3.0 * x * x * y_bar


def with_rule(x, n):
    return cube(x) if n == 0 else cube(with_rule(x * 0.9, n - 1)) + x


def guarded(x, n):
    if n < 0:
        raise ValueError(f"n is {n}")
    return x if n == 0 else x * guarded(x, n - 1)


def closure_maker(c):
    def inner(x, n):
        return x * c if n == 0 else inner(x + c, n - 1) * x

    return inner


enclosed = closure_maker(1.7)


def hanoi(x, n, a, b, c):
    if n == 0:
        return
    hanoi(x, n - 1, a, c, b)
    x[b] = x[b] + 0.5 * x[a] * x[c]
    x[a] = math.sin(x[a])
    hanoi(x, n - 1, c, b, a)


def hanoi_main(x, n):
    p = x * 1.0
    hanoi(p, n, 0, 1, 2)
    return p[0] + 2 * p[1] + 3 * p[2]


def own_arg(x, n):
    if n == 0:
        return np.sum(x * x)
    x[0] = x[0] * x[1]
    return own_arg(x, n - 1) * 0.5 + x[0]


def permuted_sum(p, x, k, n):
    if k == n:
        s = 1.0
        for i in range(n):
            s *= x[i, p[i]]
        return s
    total = 0.0
    for i in range(k, n):
        t = p[k]
        p[k] = p[i]
        p[i] = t
        total += permuted_sum(p, x, k + 1, n)
        t = p[k]
        p[k] = p[i]
        p[i] = t
    return total


def permanent(x):
    n = x.shape[0]
    p = np.arange(n)
    return permuted_sum(p, x, 0, n)


def halved_step(y, t, h, tol, n):
    k1 = -y * y + t
    y1 = y + h * k1
    k2 = -y1 * y1 + t + h
    y2 = y + 0.5 * h * (k1 + k2)
    if abs(y2 - y1) < tol or n == 0:
        return y2
    return halved_step(halved_step(y, t, 0.5 * h, tol, n - 1), t + 0.5 * h, 0.5 * h, tol, n - 1)


def ode(y, h):
    return halved_step(y, 0.0, h, 1e-3, 8)


def ends_in_int(x, n):
    if n == 0:
        return 1
    return x * ends_in_int(x, n - 1)


def loop_views(m, n):
    if n == 0:
        return 0.0
    s = 0.0
    for i in range(m.shape[0]):
        row = m[i]
        row[0] = row[0] * row[1]
        s += loop_views(m, n - 1) + row[0]
    return s


def rows_in_loop(x, n):
    m = x * 1.0
    return loop_views(m, n) + np.sum(m)


def whole_updates(a, n):
    a += a[0] * 0.1
    if n > 0:
        a[1:] *= 0.5
        whole_updates(a, n - 1)
        a[a > 1.0] = a[a > 1.0] * 0.7
    a *= 1.1


def updated(x, n):
    a = x.copy()
    whole_updates(a, n)
    return np.sum(a * a * a)


def collatz(x, n):
    if n == 1:
        return x
    if n % 2 == 0:
        return collatz(x * 0.9, n // 2) + x
    return math.cos(collatz(x + 0.1, 3 * n + 1))


U = np.array([0.7, 1.3, -0.4, 0.9, 0.25])
M3 = np.array([[1.0, 0.3, -0.7], [0.2, 2.0, 0.1], [0.5, -0.4, 1.5]])

#: (function, parameters to differentiate, arguments)
EXAMPLES = [
    (power, "x", [(1.3, n) for n in (0, 1, 2, 7, 12)] + [(np.float32(1.3), 5), (0.0, 3)]),
    (factorial_like, "x", [(0.7, n) for n in (0, 1, 5)]),
    (fibonacci, "a b", [(0.4, 1.1, n) for n in (0, 1, 2, 7)] + [(np.float32(0.4), np.float32(1.1), 4)]),
    (fibonacci, "b", [(0.4, 1.1, 5)]),
    (ackermann, "x", [(0.8, 2, 2), (0.8, 1, 0)]),
    (continued_fraction, "a", [(np.array([1.0, 2.0, 3.0, 4.0]), 0), (np.array([1.5]), 0), (np.zeros(0), 0), (np.arange(1.0, 9.0)[::2], 0),
                               (np.arange(1, 5, dtype=np.float32), 0)]),
    (hermite, "x", [(0.6, n) for n in (0, 1, 2, 6)]),
    (even_sum, "x", [(0.9, n) for n in (0, 1, 2, 5)]),
    (quadrature, "w b", [(1.2, 2.0), (0.1, 0.5)]),
    (tree, "value", [(0.3 * U,), (np.array([0.5]),), (np.zeros(0),), (np.linspace(0.1, 0.5, 11),), (np.linspace(0.1, 0.5, 6).astype(np.float32),)]),
    (mergesort, "x", [(U,), (np.array([0.5]),), (np.zeros(0),), (np.linspace(-1.0, 1.5, 9)[::-2],)]),
    (median_like, "x", [(U,), (np.array([0.5]),), (np.zeros(0),), (U.astype(np.float32),)]),
    (transformed, "x", [(np.linspace(0.1, 1.0, 8),), (np.linspace(0.1, 1.0, 16)[::2],), (np.array([0.3]),), (np.zeros(0),), (np.array([1.0, 2.0]),)]),
    (determinant, "a", [(M3,), (M3.T,), (M3[:1, :1],), (np.random.default_rng(0).normal(size=(4, 4)),)]),
    (pair_product, "x y", [(0.7, 1.2, n) for n in (0, 1, 4)]),
    (in_loop, "x", [(0.6, n) for n in (0, 1, 4)]),
    (prefix, "x c", [(U, 1.1), (np.array([0.5]), 0.9), (np.zeros(0), 1.0), (U.astype(np.float32), 1.1)]),
    (array_chain, "x", [(U, n) for n in (0, 1, 3)] + [(np.zeros(0), 2), (U[::2], 1), (U.astype(np.float32), 2)]),
    (newton_tree, "x", [(1.7, n) for n in (0, 1, 4)] + [(0.4, 3)]),
    (early, "x", [(0.9, n) for n in (0, 1, 3)] + [(2.5, 2)]),
    (with_globals, "x", [(0.9, n) for n in (0, 3)]),
    (unused_branch, "x y", [(0.9, 1.4, 3), (0.9, 0.0, 0)]),
    (reused, "x", [(U,), (np.zeros(0),)]),
    (rows_sum, "m", [(M3, 0), (M3.T, 0), (np.zeros((0, 2)), 0), (np.zeros((2, 0)), 0), (M3[::2], 0)]),
    (both_arrays, "x", [(U, 0), (U, 3), (U[::2], 2), (np.zeros(0), 1)]),
    (nested, "x", [(U, 0), (U, 2), (U[::-1], 1)]),
    (counts, "x", [(0.9, 0), (0.9, 4)]),
    (kept_test, "x", [(0.9, n) for n in (0, 1, 4)] + [(0.3, 3), (2.0, 3)]),
    (on_views, "x", [(U,), (np.linspace(0.1, 1.0, 8),), (np.zeros(0),), (np.array([0.5]),), (U[::-1],)]),
    (with_gcd, "x", [(0.3, 0), (0.3, 6)]),
    (with_gcd_arrays, "x y", [(U, U.copy())]),
    (const_call, "x", [(1.1, 3)]),
    (two_types, "x", [(1.1, 3)]),
    (entries_given, "x", [(U, 0), (U, 1), (U * 0.5, 3)]),
    (result_changed, "x", [(U, 0), (U, 1), (U, 2)]),
    (same_args, "x", [(U,), (np.array([2.0]),)]),
    (use_while, "x", [(1.2, 2), (0.005, 1)]),
    (use_bool, "x v", [(U, 0.5)]),
    (names_taken, "x", [(0.4, 2)]),
    (keywords, "x s", [(0.4, 1.5)]),
    (with_rule, "x", [(0.8, 0), (0.8, 2)]),
    (guarded, "x", [(0.8, 3)]),
    (enclosed, "x", [(0.8, 3)]),
    (hanoi_main, "x", [(U[:3], 0), (U[:3], 4)]),
    (own_arg, "x", [(U, 0), (U, 3)]),
    (permanent, "x", [(M3,), (M3[:1, :1],)]),
    (ode, "y h", [(0.7, 1.3)]),
    (ends_in_int, "x", [(0.8, 0), (0.8, 3)]),
    (rows_in_loop, "x", [(M3, 1), (M3 * 0.5, 2)]),
    (updated, "x", [(U * 0.5, 0), (U * 0.5, 2)]),
    (collatz, "x", [(0.4, 7)]),
]
