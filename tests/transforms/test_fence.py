"""What is refused, and how the refusal reads."""

import math
import time

import numpy as np
import pytest

from s2sad.catalogue import CATALOGUE
from s2sad.errors import DifferentiationError, UnsupportedError
from s2sad.transforms import front

CONFIG = {1.0, 2.0}
TABLE = np.ones(3)


def refusal(fn):
    with pytest.raises(UnsupportedError) as caught:
        front.build(fn)
    return caught.value


def several(x):
    try:
        y = x
    except ValueError:
        y = 0.0
    z = {v for v in range(3)}
    w = time.time()
    return sum(v * y for v in z) + w


def test_all_problems_at_once_with_places():
    error = refusal(several)
    assert [p.code for p in error.problems] == ["S2S110", "S2S111", "S2S121"]
    message = str(error)
    first = several.__code__.co_firstlineno
    assert message.startswith("3 problems\n\n`try` cannot be differentiated [S2S110]\n")
    assert f'  File "{__file__}", line {first + 1}, in several\n    try:\n    ^^^^\n' in message
    assert "    w = time.time()\n        ^^^^^^^^^\n" in message
    assert "s2sad.adjoint_of(time.time)" in message
    assert "Write instead:" in message


def one(code, *mentions):
    def register(fn):
        REFUSED.append((fn, code, mentions))
        return fn

    return register


REFUSED = []


@one("S2S110", "with")
def with_block(x):
    with np.errstate():
        y = x
    return y


@one("S2S112", "import time")
def imports(x):
    if x > 0.0:
        import time

    return x * time.time()


@one("S2S124", "a function")
def uses_lambda(x):
    return (lambda v: v) + x


@one("S2S113", "xs.pop()")
def pops_in_front(x):
    y = [x, x]
    return y.pop(0)


@one("S2S122", "insert")
def inserts(x):
    y = [x]
    y.insert(0, x)
    return x


@one("S2S115", "starred")
def starred(x):
    return np.maximum(*x)


@one("S2S115", "starred")
def star_parameter(*xs):
    return xs[0]


@one("S2S111", "f-string")
def fstring(x):
    return f"{x}"


@one("S2S111", ":=")
def walrus(x):
    return (y := x) + y


@one("S2S114", "Complex")
def imaginary(x):
    return x * 1j


@one("S2S123", "np.random.default_rng")
def legacy_random(x):
    return x * np.random.random()


@one("S2S121", "np.linalg.matrix_rank", "adjoint_of", "nondifferentiable")
def no_rule(x):
    return np.linalg.matrix_rank(x) * x


@one("S2S122", "tolist")
def unknown_method(x):
    return x.tolist()[0]


@one("S2S122", ".weights")
def unknown_attribute(x):
    return x.weights


@one("S2S124", "CONFIG", "set")
def set_global(x):
    return x * CONFIG


@one("S2S120", "undefined_name")
def undefined(x):
    return x * undefined_name  # noqa: F821


@one("S2S116", "[a, b]")
def loop_over_set(x):
    s = 0.0
    for v in {1.0, 2.0}:
        s += v * x
    return s


@one("S2S117", "reshape")
def set_shape(x):
    x.shape = (3,)
    return x


@one("S2S118", "no effect")
def no_effect(x):
    np.sin(x)
    return x


@one("S2S129", "TABLE")
def writes_global(x):
    TABLE[0] = x
    return x


def clears(t):
    t[0] = 0.0


@one("S2S129", "TABLE")
def writes_global_through_callee(x):
    clears(TABLE)
    return x


@one("S2S127", "nothing on others")
def falls_off(x):
    if x > 0.0:
        return x


@one("S2S127", "returns nothing to differentiate")
def no_return(x):
    x[0] = 1.0


def two(a, b=1.0):
    return a * b


@one("S2S126", "takes 2 positional arguments, 3 are given")
def too_many(x):
    return two(x, x, x)


@one("S2S126", "no keyword parameter `c`")
def wrong_keyword(x):
    return two(x, c=x)


@one("S2S126", "without its argument `a`")
def missing(x):
    return two(b=x)


@one("S2S126", "returns nothing")
def uses_nothing(x):
    return clears(x) + 1.0


@one("S2S128", "tuple")
def dynamic_tuple(x, n):
    t = (x, np.sin)
    s = 0.0
    for k in range(n):
        s += t[k](x)
    return s


@one("S2S130", "before the call")
def element_and_write(x):
    def_ = two(x[0], 1.0)
    x[1] += writes(x)
    return def_


def writes(x):
    x[1] = 3.0
    return 1.0


def has_try(x):
    try:
        return x
    finally:
        pass


@one("S2S110", "in has_try")
def callee_refused(x):
    return has_try(x)


@pytest.mark.parametrize("fn,code,mentions", REFUSED, ids=[f.__name__ for f, _, _ in REFUSED])
def test_refused(fn, code, mentions):
    error = refusal(fn)
    assert code in [p.code for p in error.problems]
    for text in mentions:
        assert text in str(error)
    for p in error.problems:
        assert p.code in CATALOGUE and p.instead and p.place is not None


def test_error_is_a_value():
    import pickle

    error = refusal(no_rule)
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, DifferentiationError) and str(copy) == str(error)
    assert isinstance(error, NotImplementedError)
    assert math.isfinite(1.0)
