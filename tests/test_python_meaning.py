"""Where compiled code silently differs from Python and NumPy, the program means what they say.

Its value, dtype, errors and effects on arguments, in the primal and in the value beside the gradient, compiled and not.
Each program has several forms, chosen by its last argument.
"""

import copy
import linecache
import math

import numpy as np
import pytest

import s2sad

X = np.array([1.5, 2.0, 0.5, 3.0])
M = np.arange(9.0).reshape(3, 3) + 0.5
A = np.arange(6.0).reshape(2, 3)
X32 = np.array([0.3, 0.7, 1.1], np.float32)
W = np.array([1.0, -2.0, 3.0, 0.5])


def overlapping_writes(x, m, k):
    y = x.copy()
    if k == 0:
        y[1:] += y[:-1]
    elif k == 1:
        m += m.T
    elif k == 2:
        y[::-1] += y
    elif k == 3:
        y -= y[2:3]
    elif k == 4:
        m[:, 1:] -= m[:, :-1]
    elif k == 5:
        y[1:] = 2.0 * y[:-1]
    elif k == 6:
        y[:-1] *= y[1:]
    elif k == 7:
        y += y[::-1]
    elif k == 8:
        y[:] = y[::-1]
    elif k == 9:
        m[:] = m.T
    elif k == 10:
        m[0] += m[:, 0]
    elif k == 11:
        y[1:] /= y[:-1]
    elif k == 12:
        y[2:] -= np.sin(y[:-2]) + y[1:-1]
    elif k == 13:
        v = y[1:]
        v += y[:-1]
    elif k == 14:
        x[1:] += x[:-1]
    elif k == 15:
        m[1:, :] += m[:-1, :] * m[1:, ::-1]
    elif k == 16:
        y[y > 1.0] += y[::-1][y > 1.0]
    elif k == 17:
        y[1:] **= y[:-1]
    elif k == 18:
        y[1:], y[:-1] = y[:-1], y[1:]
    return np.sum(y * W) + m[0, 0] + 3.0 * m[1, 2] - m[2, 1] + m[0, 2] + 2.0 * m[0, 1]


def unassigned(x, n, k):
    s = 0.0
    for i in range(n):
        last = x[i] * s
        s += x[i]
        if k == 4 and i == 1:
            found = s
    if k == 0:
        s += last
    elif k == 1:
        s += i
    elif k == 2:
        if n > 1:
            y = 2.0
        s *= y
    elif k == 3:
        while n > 1:
            z = x[n]
            n -= 1
        s -= z
    elif k == 4:
        s -= found
    return s


def out_of_bounds(x, m, i, k):
    s = 0.0
    idx = np.array([0, i])
    if k == 0:
        s = x[i]
    elif k == 1:
        x[i] = 2.0
    elif k == 2:
        s = m[1, i]
    elif k == 3:
        s = np.sum(m[i])
    elif k == 4:
        s = np.sum(x[idx])
    elif k == 5:
        x[idx] = 3.0
    elif k == 6:
        s = m[idx[1], 0]
    elif k == 7:
        s = np.sum(m[idx, 0])
    elif k == 8:
        s = np.sum(x[i:]) + np.sum(x[:i])
    elif k == 9:
        x[i] += 1.0
    elif k == 10:
        m[i] = 1.0
    elif k == 11:
        x[-i] *= 2.0
    return s * s + np.sum(x)


def lengths_that_do_not_fit(x, y, k):
    mask = y > 0.5
    if k == 0:
        return np.sum(x[mask])
    if k == 1:
        x[mask] = 1.0
    elif k == 2:
        x[mask] += 2.0
    elif k == 3:
        x += y
    elif k == 4:
        x[:] = y
    elif k == 5:
        x[1:] = y[:-1]
    elif k == 6:
        return np.sum(x * y)
    elif k == 7:
        return np.sum(np.where(x > 0.0, x, y))
    elif k == 8:
        return np.dot(x, y)
    elif k == 9:
        x[mask] = y[mask]
    elif k == 10:
        x[x > 1.0] = y
    elif k == 11:
        return np.sum(np.maximum(x, y)) + x @ y
    return np.sum(x)


def numbers(a, b, n, k):
    if k == 0:
        return a / b
    if k == 1:
        return math.sqrt(a) + math.log(b)
    if k == 2:
        return math.exp(a * b)
    if k == 3:
        return a**b
    if k == 4:
        return 2.0 * 2 ** abs(n % 60)
    if k == 5:
        return a * (7 // n) + 7 % n
    if k == 6:
        return a // b + a % b
    if k == 7:
        return math.pow(a, b)
    if k == 8:
        return (a * 1e200) ** 2
    if k == 9:
        return math.cosh(a * 1000.0)
    if k == 10:
        return a * int(b)
    if k == 11:
        return math.asin(a) + math.acos(b)
    if k == 12:
        return a * round(b) + math.floor(a)
    if k == 13:
        return (a - 3.0) ** n
    return a


def numbers_of_numpy(x, k):
    a, b = x[0], x[1]
    if k == 0:
        return a / b
    if k == 1:
        return np.sqrt(-a) + np.log(b)
    if k == 2:
        return np.exp(a * 1000.0)
    if k == 3:
        return (-a) ** 0.5
    if k == 4:
        return b**-1.0
    if k == 5:
        return np.sum(x) / np.sum(b * x)
    if k == 6:
        return a // b
    if k == 7:
        return a % b
    return a


def stores_into_integers(x, m, v, k):
    if k == 0:
        m[0] = v
    elif k == 1:
        m[:] = x
    elif k == 2:
        m[1] = int(v)
    elif k == 3:
        m[0] = round(v)
    return v * m[0] + m[1]


def ties(x, w, k):
    if k == 0:
        return np.sum(x[np.argsort(x, kind="stable")] * w)
    if k == 1:
        order = np.argsort(w)
        return np.sum(x[order] * np.arange(len(x)))
    if k == 2:
        return x[np.argmax(w)] + 2.0 * x[np.argmin(w)]
    return np.sum(np.sort(x) * w)


PROGRAMS = [
    (overlapping_writes, [(X, M)], 19),
    (unassigned, [(X, 0), (X, 1), (X, 3)], 5),
    (out_of_bounds, [(X, M, 2), (X, M, 4), (X, M, -1), (X, M, -5)], 12),
    (lengths_that_do_not_fit, [(X, X[::-1].copy()), (X, X[:3].copy()), (X, X[:1].copy())], 12),
    (numbers, [(2.0, 0.5, 3), (0.0, -1.0, 0), (-1.0, 0.5, -1), (2.0, 0.0, 70), (0.5, math.inf, 2), (math.nan, 400.0, 1), (1.0, 1.0, 400),
               (-2.5, -2.5, -3)], 14),
    (numbers_of_numpy, [(np.array([2.0, 0.0]),), (np.array([0.0, -0.5]),)], 8),
    (stores_into_integers, [(X, np.array([1, 2, 3, 4]), v) for v in (2.5, math.nan, math.inf, 1e30)], 4),
    (ties, [(np.array([2.0, 1.0, 2.0, 0.5]), np.array([2.0, 1.0, 2.0, 1.0])), (np.array([np.nan, 1.0, 2.0]), np.array([0.0, -0.0, 0.0]))], 4),
]
PROGRAMS = [pytest.param(f, calls, forms, id=f.__name__) for f, calls, forms in PROGRAMS]


# with a float32 array x, a Python float s, an array of ints n: one result type each
SINGLE = [
    "np.sum(x * 0.1)", "np.sum(x * s)", "np.sum(x * n)", "np.sum(np.where(x > 0.5, x, 0.1))", "np.sum(np.maximum(x, 0.1))",
    "np.sum(np.clip(x, 0.1, 0.7))", "x[0] * s + 0.1", "np.mean(x) + np.std(x) + np.var(x)", "np.linalg.norm(x)", "np.dot(x, x)",
    "np.exp(x[1]) / 3", "x[0] ** 2 + x[1] ** 0.3 + x[2] ** -1", "np.sum(x / n + x**n)", "np.float32(s) * 0.1",
    "np.sum(np.minimum(np.abs(x - 0.3), s) > 0.2) * x[0]", "np.sum(np.arctan2(x, s) + np.hypot(x, 0.1))",
    "np.sum(x - np.sqrt(np.sum(x) * 0.3))", "np.sum(x * np.float64(0.1))", "x[0] + n[1]", "np.sum(x * True + (x > s))",
    "np.sum(x // 0.25 + x % 0.25)", "x[1] * 3 + x[0] // 2", "np.prod(x) - np.max(x) + np.min(x)", "np.sum(np.cumsum(x) * s)",
    "np.sum(np.outer(x, x) @ x)", "float(x[0]) * 0.1", "max(x[0], 0.1) + min(x[1], s)", "np.sum(np.array([x[0], x[1] * 0.1]))",
    "np.sum(np.full(3, s) * x)", "np.sum(np.zeros(3, np.float32) + s + x)",
]


def expression(text, params="x, s, n", head=""):
    """A function whose source can be read, of one expression."""
    name = f"<{head}{text}>"
    whole = f"def program({params}):\n{head}    return {text}\n"
    linecache.cache[name] = (len(whole), None, whole.splitlines(keepends=True), name)
    scope = {"np": np, "math": math, "__name__": __name__}
    exec(compile(whole, name, "exec"), scope)
    return scope["program"]


def single_calls():
    for x in (X32, np.repeat(X32, 2)[::2]):
        for s in (0.1, 2.5):
            yield x, s, np.array([1, 2, 3], np.int32)


@pytest.mark.parametrize("text", SINGLE)
def test_single_precision(text):
    check_dtypes(expression(text), single_calls(), jit=False)


@pytest.mark.parametrize("start", range(0, len(SINGLE), 3))
def test_single_precision_compiled(start):
    for text in SINGLE[start : start + 3]:
        check_dtypes(expression(text), single_calls(), jit=True)


def check_dtypes(f, calls, jit):
    both = s2sad.differentiable(f, jit=jit)
    for args in calls:
        expected = f(*args)
        for found in (both(*args), both.value_and_grad(*args)[0]):
            assert type(found) is type(expected)
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert both.grad(*args).dtype == np.float32


@pytest.mark.parametrize("jit", [False, True])
def test_sums_in_single_precision_are_pairwise(jit):
    many, noisy = np.full(10**7, 0.1, np.float32), np.random.default_rng(1).normal(1e4, 1.0, 10**6).astype(np.float32)
    texts = [(t, many) for t in ("np.sum(x)", "np.mean(x)", "np.sum(x * x)", "np.linalg.norm(x)", "np.sum(np.abs(x - 0.5))", "np.dot(x, x)")]
    for text, x in [*texts, ("np.var(x)", noisy), ("np.std(x)", noisy), ("np.mean(x)", noisy)]:
        f = expression(text, "x")
        value = s2sad.differentiable(f, jit=jit)(x)
        # NumPy leaves norms and products to the BLAS, which may sum in another order
        assert isinstance(value, np.float32) and value == pytest.approx(f(x), rel=1e-3 if "norm" in text or "dot" in text else 2e-6), text


VIEWS = [
    "a[:, 0:n].copy().ravel()", "a.reshape(-1)", "a.T.ravel() * 1.0", "a.flatten()", "2.0 * np.reshape(a[::-1], 6)", "a[1]", "a.T[1:]",
    "a.T[::-1].copy()", "np.ascontiguousarray(a.T)", "a[:, ::2]", "np.transpose(a)[n - 1]", "a[np.array([1, 0])]", "a[a > 1.0]",
    "a[None, 1]", "a.astype(np.float64)", "np.asarray(a)", "+a", "np.asarray(a, dtype=np.float32)", "a[:, 0:n].ravel()", "np.ravel(a.T)",
]


@pytest.mark.parametrize("jit", [False, True])
def test_views_and_copies(jit):
    """A later write is seen through a view, not through a copy; what the memory layout decides is refused."""
    refused = 0
    for text in VIEWS:
        head = f"    u = {text}\n    t = np.sum(u * u)\n    a[0, 0] = 5.0\n    a[1, 1] *= 3.0\n"
        f = expression("t + 2.0 * np.sum(u * u) + np.sum(a)", "a, n", head)
        for a in (A, np.asfortranarray(A)):
            expected = outcome(f, (a, 3))
            try:
                found = outcome(s2sad.differentiable(f, jit=jit), (a, 3))
            except s2sad.UnsupportedError as e:
                assert e.problems[0].code == "S2S304" and text in ("a.reshape(-1)", "a[:, 0:n].ravel()", "np.ravel(a.T)", "np.ascontiguousarray(a.T)")
                refused += 1
                continue
            agree(found, expected, jit)
            np.testing.assert_array_equal(found[2][0], expected[2][0])
            agree((s2sad.value_and_grad(f, jit=jit)(a, 3)[0],), expected, jit)
    assert refused < 8


def outcome(f, args):
    """The value, or the class and the text of the exception; and the arguments afterwards."""
    args = copy.deepcopy(args)
    with np.errstate(all="ignore"):
        try:
            value = f(*args)
        except (ArithmeticError, ValueError, IndexError, UnboundLocalError) as e:
            return type(e), str(e), args
    return value, "", args


def agree(found, expected, compiled):
    if isinstance(expected[0], type):
        assert found[0] is expected[0]
        # the texts of NumPy hold numbers that compiled code does not tell
        assert expected[0] in (IndexError, ValueError) or found[1] == expected[1] or "64 bits" in found[1] and "C long" in expected[1]
        return
    if isinstance(expected[0], complex):
        assert found[0] is ValueError and "complex" in found[1]
        return
    assert not isinstance(found[0], type), found
    single = isinstance(expected[0], np.float32)
    assert isinstance(found[0], np.float32) == single
    np.testing.assert_allclose(found[0], expected[0], rtol=(1e-6 if single else 1e-14) if compiled else 3e-7 if single else 1e-15)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("f", "calls", "forms"), PROGRAMS)
def test_programs(f, calls, forms, jit):
    both = s2sad.differentiable(f, jit=jit)
    for given in calls:
        for k in range(forms):
            args = (*given, k)
            expected = outcome(f, args)
            try:
                found = outcome(both, args)
                agree(found, expected, jit)
                for a, b in zip(found[2], expected[2], strict=True):
                    if not (jit and expected[0] is IndexError):  # compiled, a write by an index array may have begun
                        np.testing.assert_array_equal(a, b)
                found = outcome(both.value_and_grad, args)
                agree(found if isinstance(found[0], type) else (found[0][0], *found[1:]), expected, jit)
                for a, b in zip(found[2], args, strict=True):
                    np.testing.assert_array_equal(a, b)
            except AssertionError as e:
                raise AssertionError(f"{f.__name__}{args}: {found[:2]}, expected {expected[:2]}") from e


def test_an_index_error_of_the_returned_expression():
    def f(x, a):
        return a[x.size] + 0.0 * a[0]

    for make in (s2sad.grad, s2sad.value_and_grad):
        with pytest.raises(IndexError):
            make(f, wrt="x", jit=False)(np.ones(3), np.ones(3))


def test_adjoints_are_divided_by_the_size_of_an_empty_array_without_an_error():
    def f(x, c):
        return 2.0 * c + np.mean(x * x)

    x_bar, c_bar = s2sad.grad(f, wrt=("x", "c"), jit=False)(np.empty(0), 1.0)
    assert x_bar.shape == (0,) and c_bar == 2.0
