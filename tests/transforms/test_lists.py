"""Lists: values and gradients against plain Python, what is refused, and the emitted form."""

import math

import numpy as np
import pytest
from whole import check

from s2sad import grad
from s2sad.errors import DifferentiationError
from s2sad.transforms.example import after

X = np.array([1.5, -0.3, 2.2, 0.7, 1.9])


def display(x):
    xs = [x[0], 2.0, x[1] * x[2]]
    return xs[0] * xs[-1] + sum(xs) * len(xs)


def zeros_times(x, n):
    xs = [0.0] * n
    for i in range(n):
        xs[i] = x[i % 5] * i
    return sum(xs) * xs[-1] + max(xs)


def filtered(x):
    ys = [v * v for v in x if v > 0]
    return sum(ys) * ys[1] + len(ys) * x[0]


def recurrence(x, n):
    xs = [x[0]]
    for i in range(n):
        xs.append(math.sin(xs[-1]) + x[1] * xs[i])
    return xs[-1] * xs[n // 2] + np.sum(np.array(xs))


def nested(x):
    g = [[x[i] * j for j in range(3)] for i in range(len(x))]
    s = 0.0
    for row in g:
        for v in row:
            s += v * v
    return s + g[1][2] * g[-1][-1]


def trajectory(x, n):
    u = x.copy()
    traj = [u.copy()]
    for _t in range(n):
        u = u * 0.9 + 0.1 * np.sin(u)
        traj.append(u)
    a = np.array(traj)
    return np.sum(a * a) + traj[1][2] * traj[-1][0]


def in_while(x):
    xs = []
    v = x[0]
    while v < 20.0:
        xs.append(v * x[1])
        v = v * 1.3
    return sum(xs) * xs[-1]


def stack(x):
    st = [x[0], x[1]]
    for i in range(2, 5):
        a = st.pop()
        b = st.pop()
        st.append(a * b)
        st.append(x[i])
    return st[0] * st[1]


def made_of_lists(x):
    a = [x[0], x[1]]
    b = a + [x[2]]
    c = sorted(b)
    d = list(x)
    d[0] = 3.0
    d.sort()
    return c[0] * 2 + c[1] * 3 + c[2] * 5 + b[0] + d[1] * d[0] + sum(sorted(x, reverse=True)[1:3])


def triangle(x, n):
    prev = [1.0]
    for k in range(1, n):
        cur = [1.0]
        for j in range(1, k):
            cur.append(prev[j - 1] + prev[j] * x[0])
        cur.append(x[1])
        prev = cur
    return sum(prev) * prev[n // 2]


def branches(x):
    out = []
    for _i, v in enumerate(x):
        if v > 0:
            out.append(v)
        else:
            out.append(-v * v)
    out += [x[0], x[1]]
    out.extend(x)
    return sum((a * b for a, b in zip(out, x, strict=False))) + out[6] * out[-1]


def matrix(x, n):
    A = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            A[i][j] = x[i] * x[j] * (i + 1)
    return sum(A[i][i] ** 2 for i in range(n)) + A[0][n - 1]


def right_side(t, y):
    return [y[1], -math.sin(y[0])]


def solver(x, n):
    y = np.array([x[0], x[1]])
    ts = []
    ys = []
    for k in range(n):
        f = np.array(right_side(0.1 * k, y))
        y = y + 0.1 * f
        ts.append(0.1 * k)
        ys.append(y)
    ys = np.array(ys)
    return np.sum(ys[:, 0] ** 2) + ts[-1] * ys[-1, 1]


def reduced(x):
    s = sum([v * v for v in x]) / len(x) + max([math.sin(v) for v in x]) + np.mean([v ** 2 for v in x])
    return s + (2.0 if any(v < 0 for v in x) else 1.0) * x[0]


def read_while_growing(x):
    h = [x[0]]
    for i in range(1, 5):
        h.append(x[i] * h[len(h) - 1] + sum(h))
    return h[-1]


def single(x):
    w = [0.1, 0.2, 0.3]
    s = x[0] * w[1]
    ys = [v * v for v in x]
    ys.append(x[0])
    return s + sum(ys) * w[2] + max(ys) * ys[1]


def ints(x):
    c = [0] * 3
    k = [1, 2, 3]
    for i in range(3):
        c[i] = x[k[i]] * k[i]
    n = [j * j for j in range(4)]
    return c[0] * c[1] + c[2] * n[3] + x[n[1]]


def maybe_empty(x, n):
    out = []
    for i in range(n):
        if x[i] > 0:
            continue
        out.append(x[i])
    return sum(out) * 2.0 if out else x[0] * x[0]


def times_n(x, n):
    xs = [x[0]] * n
    ys = []
    for i in range(n):
        ys.append(x[i] * 2)
    return sum(xs) + sum(ys) + x[1] * len(xs) * len(ys) + x[2]


def add_square(xs, v):
    xs.append(v * v)


def in_a_helper(x):
    xs = []
    for v in x:
        add_square(xs, v)
    b = xs
    b[0] = b[1] * x[2]
    return xs[0] * xs[-1]


def fibonacci(x, n):
    fib = [x[0], x[1]]
    for i in range(2, n):
        fib.append(fib[i - 1] * fib[i - 2] * 0.3)
    return fib[n - 1]


def rows_filled(x):
    xs = []
    for i in range(3):
        row = [0.0] * 2
        row[0] = x[i]
        row[1] = x[i] * x[i]
        xs.append(row)
    xs[1][0] = x[4]
    r = xs[2]
    r[1] += x[3]
    return xs[1][0] * xs[2][1] + sum(xs[0])


def pairs(x):
    pts = [(x[i], x[i + 1]) for i in range(4)]
    s = 0.0
    for a, b in pts:
        s += a * b
    for i, (a, b) in enumerate(pts):
        s += i * a * a * b
    return s + pts[1][0]


def until_long_enough(x, n):
    hist = [x.copy()]
    while len(hist) < n:
        hist.append(hist[-1] * 0.5 + hist[0])
    return np.sum(hist[-1]) * hist[1][2] + np.sum(np.array(hist))


def until_close(x, tol):
    xs = [x[0]]
    for _k in range(50):
        xs.append(0.5 * (xs[-1] + x[2] / xs[-1]))
        if abs(xs[-1] - xs[-2]) < tol:
            break
    return xs[-1] + len(xs) * x[1]


def worklist(x):
    st = [x[0]]
    s = 0.0
    k = 0
    while st:
        v = st.pop()
        s += v * v
        k += 1
        if k < 5:
            st.append(v * 0.5)
            if k < 3:
                st.append(v * x[k])
    return s


def copies(x):
    xs = []
    xs.append(x[0])
    xs.append(x[1])
    xs += [x[2]]
    ys = xs[:]
    ys[0] = 5.0
    zs = xs[1:] + [x[3]]
    xs.reverse()
    return xs[0] * ys[0] + ys[1] + sum(zs) * zs[-1] + xs[-1] * min(xs) + len(xs + zs) * x[0]


def as_arrays(x):
    xs = [v for v in x]
    a = np.asarray(xs) * 2 + np.dot(xs, x)
    return np.sum(a * xs) + np.linalg.norm(xs) + np.max(xs)


def among(x, m):
    if m in (1, 2):
        s = x[0]
    elif m not in [3]:
        s = x[1] * x[1]
    else:
        s = x[2]
    return s


def inner_list(x):
    tot = 0.0
    for a in (x[0], 2.0, x[1] * x[1]):
        tot += a * a
    for i in range(3):
        acc = []
        for j in range(i):
            acc.append(x[j] * x[i])
        tot += sum(acc)
    return tot


def rows_of_array(x):
    rows = []
    A = np.outer(x, x)
    for i in range(3):
        rows.append(A[i])
    m = np.stack((rows[0], rows[2]))
    return np.sum(m[0] * m[1]) + sum(rows)[1]


def best_of(x):
    best = [x[0], x[1]]
    for i in range(4):
        cand = [x[i], x[i + 1]]
        if cand[0] * cand[1] > best[0] * best[1]:
            best = cand
    return best[0] * best[1] * best[1]


def swapped(x):
    u = [x[0], x[1], x[2]]
    v = [0.0] * 3
    for _t in range(3):
        for i in range(3):
            v[i] = u[i] * 0.9 + u[(i + 1) % 3] ** 2 * 0.1
        u, v = (v, u)
    return u[0] * u[1] + u[2]


def generators(x):
    s = sum(1.0 if v > 0 else v for v in x) + max(v * v for v in x) + sum(x[i] * x[j] for i in range(3) for j in range(i) if i != j)
    return s + math.fsum(v * v for v in x)


CASES = [
    (display, (X,)), (zeros_times, (X, 4)), (filtered, (X,)), (recurrence, (X, 4)), (recurrence, (X, 0)), (nested, (X,)), (trajectory, (X, 3)),
    (in_while, (X,)), (stack, (X,)), (made_of_lists, (X,)), (triangle, (X, 6)), (branches, (X,)), (matrix, (X, 3)), (solver, (X, 4)), (reduced, (X,)),
    (read_while_growing, (X,)), (single, (X.astype(np.float32),)), (single, (X,)), (ints, (X,)), (maybe_empty, (X, 5)), (maybe_empty, (X, 1)),
    (times_n, (X, 3)), (times_n, (X, 0)), (times_n, (X, -2)), (in_a_helper, (X,)), (fibonacci, (X, 6)), (fibonacci, (X, 2)), (rows_filled, (X,)),
    (pairs, (X,)), (until_long_enough, (X, 4)), (until_long_enough, (X, 40)), (until_close, (X, 1e-8)), (worklist, (X,)), (copies, (X,)),
    (as_arrays, (X,)), (among, (X, 1)), (among, (X, 3)), (among, (X, 4)), (inner_list, (X,)), (rows_of_array, (X,)), (best_of, (X,)), (swapped, (X,)),
    (generators, (X,)),
]  # fmt: skip


@pytest.mark.parametrize("f, args", CASES, ids=lambda v: getattr(v, "__name__", None))
def test_gradient(f, args):
    check(f, *args)
    strided = np.repeat(args[0], 2)[::2]
    assert not strided.flags.c_contiguous
    np.testing.assert_array_equal(grad(f, jit=False)(strided, *args[1:]), grad(f, jit=False)(*args))


@pytest.mark.parametrize("f, args", [(recurrence, (X, 4)), (trajectory, (X, 3)), (worklist, (X,)), (single, (X.astype(np.float32),))],
                         ids=lambda v: getattr(v, "__name__", None))
def test_compiled(f, args):
    check(f, *args, jit=True)


def test_a_python_float_in_a_list_stays_weak():
    def f(x):
        w = [0.5, 0.25]
        return x[0] * w[0] * w[1]

    x = np.ones(2, np.float32)
    assert type(f(x)) is np.float32
    check(f, x)


def row_changed_later(x):
    u = x.copy()
    us = []
    for _ in range(3):
        u[0] = u[0] * 2.0
        us.append(u)
    return us[0][0]


def row_changed_through_the_list(x):
    u = x * 2.0
    us = [u]
    us[0][1] = 5.0
    return np.sum(u)


def one_list_two_names(x):
    a = [x[0]]
    b = a
    b.append(x[1])
    return sum(a)


def grows_while_looped_over(x):
    xs = [x[0]]
    for v in xs:
        if len(xs) < 3:
            xs.append(v * 2.0)
    return sum(xs)


def ragged(x):
    xs = [[x[0]], [x[1], x[2]]]
    return xs[0][0]


def mixed(x):
    xs = [x[0], 0.1]
    return xs[0] * xs[1]


def shared_rows(x):
    a = [[0.0] * 2] * 3
    a[0][0] = x[0]
    return a[1][0]


def returned(x):
    return [x[0], x[1]]


def compared(x):
    xs = [x[0], x[1]]
    return x[0] if xs == [1.0, 2.0] else x[1]


def grows_in_a_list(x):
    xs = [[x[0]]]
    xs[0].append(x[1])
    return xs[0][1]


def of_an_array(x):
    y = np.zeros(3)
    y.append(x[0])
    return y[0]


@pytest.mark.parametrize("f, says", [
    (of_an_array, "a list"),
    (row_changed_later, r"us.append\(u.copy\(\)\)"), (row_changed_through_the_list, "changed in place"), (one_list_two_names, r"list\(a\)"),
    (grows_while_looped_over, "changes while it is looped over"), (ragged, "differ in length"), (shared_rows, r"for _ in range\(n\)"),
    (returned, "list"), (compared, "compared"), (grows_in_a_list, "cannot change its length"),
], ids=lambda v: getattr(v, "__name__", None))  # fmt: skip
def test_refused(f, says):
    with pytest.raises(DifferentiationError, match=says):
        grad(f, jit=False)(X)


def test_a_float_next_to_float32_is_refused():
    with pytest.raises(DifferentiationError, match="float32 and float|float and float32"):
        grad(mixed, jit=False)(X.astype(np.float32))
    check(mixed, X)


@pytest.mark.parametrize("at, error", [(3, IndexError), (-4, IndexError), (2, None)])
def test_indices_are_those_of_the_list(at, error):
    def f(x, k):
        xs = []
        for v in x:
            if v > 0.0:
                xs.append(v)
        y = xs[k]
        zs = [x[0]]
        for i in range(3):
            zs.append(zs[i] * 2.0)
            y += zs[k % 2]
        return y

    x = np.array([1.0, -1.0, 2.0, 3.0])
    if error is None:
        check(f, x, at)
    else:
        with pytest.raises(error):
            grad(f, jit=False)(x, at)


def test_errors_of_empty_lists():
    def popped(x):
        xs = [x]
        for _ in range(2):
            x = x * xs.pop()
        return x

    def last(x, n):
        xs = []
        for i in range(n):
            xs.append(x * i)
        return xs[-1]

    with pytest.raises(IndexError, match="pop from empty list"):
        grad(popped, jit=False)(1.0)
    with pytest.raises(IndexError):
        grad(last, jit=False)(1.0, 0)
    assert grad(last, jit=False)(1.0, 4) == 3.0


def test_rows_of_other_shapes():
    def f(x, n):
        rows = [x[:2]]
        for i in range(n):
            rows.append(x[i:])
        return np.sum(rows[-1])

    check(f, X, 0)
    with pytest.raises(ValueError, match="differ in shape"):
        grad(f, jit=False)(X, 1)


def test_the_form():
    text = after("lists", "xs = [x[0]]\nfor i in range(1, n):\n    xs.append(xs[i - 1] * x[i])\nreturn np.sum(np.array(xs))", "x: f8[:]; n: i8")
    assert text.splitlines() == [
        "xs = np.empty(len(range(1, n)) + 1)", "xs[0] = x[0]", "for i in range(1, n):", "    xs[i] = xs[i - 1] * x[i]", "return np.sum(np.array(xs))"]


def test_pop_within_other_statements():
    def f(x):
        xs = [x[0], x[1], x[2], x[3]]
        y = np.zeros(2)
        y[0] = xs.pop() * 2.0
        y[1] = xs.pop()
        y[1] += xs.pop()
        return xs.pop() * y[0] * y[1]

    check(f, X)


def taken_again_and_again(x):
    xs = []
    xs.append(x[0])
    s = 0.0
    for i in range(3):
        if xs:
            s += xs[-1] * x[1]
            xs.pop()
        if i == 1:
            xs.append(x[2])
    return s


def backwards(x):
    xs = []
    for i in range(len(x) - 1, -1, -1):
        xs.append(x[i] * i)
    for i in range(4, 0, -2):
        xs.append(xs[i] * x[i])
    return xs[0] * xs[-1] + sum(xs)


def joined(x):
    rows = [x[1:4] * i for i in range(3)]
    blocks = [np.outer(x[:2], x[:2]), np.outer(x[1:3], x[1:3])]
    m = np.concatenate(blocks)
    return np.sum(np.stack(rows) ** 2) + np.sum(np.concatenate(rows) * np.hstack(rows)) + np.vstack(rows)[1, 1] * m[3, 0] * np.vstack(blocks)[2, 1]


def row_kept_over_a_change(x):
    stack = [x[:2] * 1.0, x[1:3] * 2.0]
    top = stack[-1]
    for i in range(2):
        stack.pop()
        stack.append(x[:2] * (i + 5.0))
    return np.sum(top) * stack[-1][0]


def several_lengths(x, n):
    if n > 2:
        xs = [x[0]]
    else:
        xs = [x[0], x[1]]
    ys = [x[2]]
    ys += xs
    return sum(ys) * ys[-1]


def flags(x):
    seen = [False] * 5
    for i in range(0, 5, 2):
        seen[i] = True
    return sum(x[i] for i in range(5) if not seen[i]) + sum(seen) * x[0]


@pytest.mark.parametrize("f, args", [(taken_again_and_again, (X,)), (backwards, (X,)), (joined, (X,)), (row_kept_over_a_change, (X,)),
                                     (several_lengths, (X, 2)), (several_lengths, (X, 3)), (flags, (X,))], ids=lambda v: getattr(v, "__name__", None))
def test_what_could_go_wrong(f, args):
    check(f, *args)


def test_a_list_as_a_test():
    def f(x):
        stack = [x[0], x[1]]
        s = 0.0
        k = 0
        while stack and k < 10:
            k += 1
            v = stack.pop()
            s += v * k
            if not stack and k < 4:
                stack.append(v * x[2])
        return s if stack or k > 3 else s * 2.0

    check(f, X)


def begun_from_itself(x):
    xs = [x[0], x[1]]
    for i in range(3):
        xs = [min(xs) * x[i], xs[0]]
        xs.append(x[i])
    rows = [x[:2] * 1.0]
    for i in range(3):
        rows = [rows[-1] * x[i], rows[0]]
        if i != 1:
            rows.append(x[1:3])
    return sum(xs) * xs[0] + np.sum(np.array(rows)) * rows[1][0]


def turned_while_growing(x):
    xs = []
    k = 0
    while k < 20:
        xs.append(x[k % 5] * k)
        if k % 7 == 3:
            xs.reverse()
        if k == 11:
            xs.sort()
        xs[0] = xs[0] * 0.9
        xs[k // 2] += x[1]
        k += 1
    return xs[3] * xs[-1] + sum(xs[2:9])


def middle(x):
    return x[len(x) // 2] * x[(len(x) - 1) // 2]


@pytest.mark.parametrize("f", [begun_from_itself, turned_while_growing, middle], ids=lambda v: v.__name__)
def test_found_by_drawn_programs(f):
    check(f, X)


def changed_in_a_growing_list(x):
    u = x * 2.0
    us = [u]
    for i in range(3):
        if x[i] > 0.0:
            us.append(x * i)
    us[0][1] = 5.0
    return np.sum(u)


def test_a_row_changed_through_a_growing_list():
    with pytest.raises(DifferentiationError, match="changed in place"):
        grad(changed_in_a_growing_list, jit=False)(X)
