"""What the examples share: checks that end the program with an error, and timing."""

import time

import numpy as np


def check(what, ok, detail=""):
    """Print one line; end the program with exit status 1 if the check failed."""
    print(f"  {'ok' if ok else 'FAILED':6} {what}{': ' + detail if detail else ''}")
    if not ok:
        raise SystemExit(1)


def check_close(what, got, want, rtol=1e-9):
    """Check that got is want to a tolerance relative to the largest entry of want."""
    got, want = np.asarray(got), np.asarray(want)
    fits = got.shape == want.shape
    error = np.max(np.abs(got - want)) / max(np.max(np.abs(want)), 1e-300) if fits else np.inf
    check(what, bool(error <= rtol), f"relative error {error:.1e}")


def best_time(call, seconds=0.3):
    """The least time of a call, of as many as fit in the given seconds (at least three)."""
    call()
    times = []
    stop = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < stop:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def show_times(gradient, *args):
    """Time a gradient against its compiled primal; returns the ratio."""
    primal = best_time(lambda: gradient.primal(*args))
    both = best_time(lambda: gradient(*args))
    print(f"  primal {primal * 1e6:.0f} us, gradient {both * 1e6:.0f} us: {both / primal:.1f} primals")
    return both / primal
