"""The fault cases: every program gives the right gradient, or is refused with an error of our own and stands in refused.txt.

A gradient that is wrong in any respect fails: value, shape, dtype, a result that shares memory with an argument or another result, an argument that
was altered, a second call that differs. `refused.txt` may only shrink: a case in it that passes fails its test until the line is taken out.
"""

import copy
import importlib.util
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from case import Raises, arrays, fault

import s2sad

HERE = Path(__file__).parent
REFUSED = {line.split()[0] for line in (HERE / "refused.txt").read_text().splitlines() if line and not line.startswith("#")}

# Where compiled code could differ from interpreted code: overlapping writes, bounds, unassigned names, dtypes, layouts, index arrays, long loops.
COMPILED = {
    "callee-writes",
    "early-return",
    "fancy-store-last-wins",
    "mask-store",
    "million-nonlinear",
    "mixed-precision",
    "newton-while",
    "out-of-bounds-raises",
    "read-only-input",
    "shifted-slice-add",
    "single-precision",
    "slice-view-write",
    "strided-input",
    "unassigned-raises",
    "uses-globals",
    "where-sqrt",
}
SECONDS = 120


def load(path):
    """The cases of one file."""
    spec = importlib.util.spec_from_file_location(f"case_programs_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.CASES


CASES = {case.id: case for path in sorted((HERE / "programs").glob("*.py")) for case in load(path)}


class Refused(Exception):
    """The compiler refused the program with an error of its own."""


def named(error, names):
    return any(c.__name__ in names for c in type(error).__mro__)


def judge_error(case, error):
    """Return if the error is a right outcome; raise Refused if it is a clear refusal; fail otherwise."""
    refusal = isinstance(error, s2sad.DifferentiationError)
    words = case.expect.mention if isinstance(case.expect, Raises) else case.mention
    if isinstance(case.expect, Raises):
        right = refusal or named(error, case.expect.names)
    else:
        right = (refusal and case.refuse_ok) or named(error, case.or_raises)
    if not right and not refusal:
        raise error
    if (right or refusal) and words and not any(w.lower() in str(error).lower() for w in words):
        pytest.fail(f"unclear error, should mention one of {words}: {error}")
    if not right:
        raise Refused(str(error)) from error


def peak_mb():
    """Peak memory of this process in MB; the tests that ask are skipped where the system does not tell."""
    resource = pytest.importorskip("resource")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def run(case, jit):
    """Differentiate, call twice and judge."""
    args = case.fresh()
    try:
        gradient = (s2sad.grad if case.order == 1 else s2sad.hessian)(case.fn, wrt=case.wrt, jit=jit)
        if case.warm is not None:
            gradient(*case.warm, **case.kwargs)
        before = peak_mb() if case.mem_mb else 0.0
        first = gradient(*args, **case.kwargs)
    except Exception as error:  # every class of error is judged, none is passed over
        judge_error(case, error)
        return
    assert not isinstance(case.expect, Raises), f"returned {first!r} where an error is the right answer"
    assert fault(first, case.expect, case, case.fresh()) == ""
    if case.mem_mb:
        assert peak_mb() - before < case.mem_mb
    for k, (a, b) in enumerate(zip(args, case.fresh(), strict=True)):
        if k not in case.mutates:
            np.testing.assert_array_equal(a, b, err_msg=f"argument {k} was altered by the gradient call")
    results = arrays(first)
    for i, r in enumerate(results):
        assert not any(np.shares_memory(r, a) for a in args if isinstance(a, np.ndarray)), "a result shares memory with an argument"
        assert not any(np.shares_memory(r, other) for other in results[:i]), "two results share memory"

    kept = copy.deepcopy(first)
    second = gradient(*case.fresh(), **case.kwargs)
    assert fault(second, case.expect, case, case.fresh()) == "", "at the second call"
    for a, b in zip(results, arrays(kept), strict=True):
        np.testing.assert_array_equal(a, b, err_msg="the second call altered the first result")


def check(case, jit):
    listed = case.id in REFUSED
    try:
        run(case, jit)
    except Refused as refused:
        if not listed:
            raise
        pytest.xfail(f"refused: {str(refused).splitlines()[0]}")
    assert not listed, f"{case.id} is right now: take it out of refused.txt"


@pytest.fixture(autouse=True)
def time_limit():
    """A program that never ends is a fault of its own case, not of the whole run."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(signum, frame):
        raise TimeoutError(f"longer than {SECONDS} s")

    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, old)


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("case", [pytest.param(c, id=c.id) for c in CASES.values()])
def test_case(case):
    check(case, jit=False)


@pytest.mark.parametrize("case", [pytest.param(CASES[i], id=i) for i in sorted(COMPILED)])
def test_compiled(case):
    check(case, jit=True)


def test_refused_lists_known_cases():
    assert set(CASES) >= REFUSED


NO_FORWARD_MODE = {"recursion"}
TANGENTS = sorted(c.id for c in CASES.values() if c.order == 1 and not isinstance(c.expect, Raises) and c.id not in REFUSED and not c.mem_mb)


@pytest.mark.parametrize("id", TANGENTS)
def test_tangent_agrees_with_gradient(id):
    """The dot-product test: forward mode along a direction, and the gradient times that direction."""
    case = CASES[id]
    args = case.fresh()
    try:
        gradient = s2sad.grad(case.fn, wrt=case.wrt, jit=False)(*case.fresh(), **case.kwargs)
    except s2sad.DifferentiationError:  # cases in which a refusal is right, too
        return
    several = isinstance(case.wrt, tuple)
    wrt = case.wrt if several else (case.wrt,)
    rng = np.random.default_rng(5)
    dots = tuple(rng.normal(size=np.shape(args[w]))[()] for w in wrt)
    if id in NO_FORWARD_MODE:
        with pytest.raises(s2sad.UnsupportedError, match="forward mode"):
            s2sad.jvp(case.fn, wrt=wrt, jit=False)(*args, tangents=dots, **case.kwargs)
        return
    _, dot = s2sad.jvp(case.fn, wrt=wrt, jit=False)(*args, tangents=dots, **case.kwargs)
    product = sum(np.sum(np.asarray(g, dtype=float) * d) for g, d in zip(gradient if several else (gradient,), dots, strict=True))
    single = any(np.asarray(a).dtype == np.float32 for a in args if isinstance(a, (np.ndarray, np.generic)))
    np.testing.assert_allclose(dot, product, rtol=1e-5 if single else 1e-8, atol=1e-9)
    for k, (a, b) in enumerate(zip(args, case.fresh(), strict=True)):
        if k not in case.mutates:
            np.testing.assert_array_equal(a, b, err_msg=f"argument {k} was altered")
