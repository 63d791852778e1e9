"""Time the gradients of the example programs against their primals.

    python benchmarks/run.py [gmm lstm ...] [--seconds 1.0]

A table: the primal compiled by Numba as it stands, our gradient, the ratio of the two, and the same for the peers that there are:
`by hand` (adjoints written by hand, compiled by Numba) and `jax` where it can be imported. Errors are relative to the largest entry
of our gradient. Times are the least of many calls; arrays are C-contiguous float64.
"""

import argparse
import importlib.util
import sys
import time
import types
from functools import partial
from pathlib import Path

import numpy as np
from numba import njit

from s2sad import grad

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))

import bundle_adjustment  # noqa: E402  (the folder is on the path now)
import by_hand  # noqa: E402
import gmm  # noqa: E402
import hand  # noqa: E402
import kepler  # noqa: E402
import lstm  # noqa: E402
from ideal import stencil  # noqa: E402


def burgers_problem():
    u0 = 1.5 + np.sin(np.linspace(0.0, 2.0 * np.pi, 1000))
    return stencil.burgers, ("u0", "nu", "c"), (u0, 0.11, 0.08, 500), njit(stencil.burgers_adjoint)


def kepler_problem():
    rng = np.random.default_rng(1)
    days = np.sort(rng.uniform(0.0, 365.25, 2000))
    x, y = kepler.measure(0.6, 1.3, 0.4, days, 1e-4, rng)
    return kepler.misfit, ("e", "a", "M0"), (0.3, 1.0, 0.2, days, x, y), None


def gmm_problem():
    return gmm.log_posterior, gmm.WRT, gmm.read(gmm.DATA / "gmm_d10_K5.txt"), by_hand.gmm_gradient


def lstm_problem():
    return lstm.loss, lstm.WRT, lstm.read(lstm.DATA / "lstm_l2_c1024.txt"), by_hand.lstm_gradient


def ba_problem():
    args = bundle_adjustment.read(bundle_adjustment.DATA / "ba1_n49_m7776_p31843.txt")
    return bundle_adjustment.cost, bundle_adjustment.WRT, args, by_hand.ba_gradient


def hand_problem():
    args = *hand.read_points(hand.DATA / "hand_complicated_c100.txt"), *hand.read_model(hand.DATA)
    return hand.cost, hand.WRT, args, None


PROBLEMS = {"burgers": burgers_problem, "gmm": gmm_problem, "lstm": lstm_problem, "ba": ba_problem, "kepler": kepler_problem, "hand": hand_problem}


def compiled(f):
    """f and the functions of its module that it calls, compiled by Numba as they stand."""
    done = {}

    def copy(g):
        if g not in done:
            names = dict(g.__globals__)
            for name in g.__code__.co_names:
                other = names.get(name)
                if isinstance(other, types.FunctionType) and other.__module__ == g.__module__:
                    names[name] = copy(other)
            done[g] = njit(types.FunctionType(g.__code__, names, g.__name__, g.__defaults__))
        return done[g]

    return copy(f)


def least(call, seconds):
    """Least time of a call, of as many as fit in the given seconds (at least three); short calls are timed in batches."""
    start = time.perf_counter()
    call()
    batch = max(1, int(1e-4 / max(time.perf_counter() - start, 1e-9)))
    times, stop = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < stop:
        start = time.perf_counter()
        for _ in range(batch):
            call()
        times.append((time.perf_counter() - start) / batch)
    return min(times)


def error(got, want):
    """Largest difference, relative to the largest entry of each array."""
    return max(float(np.max(np.abs(np.asarray(g) - w)) / max(np.max(np.abs(w)), 1e-300)) for g, w in zip(got, want, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"any of {', '.join(PROBLEMS)}")
    parser.add_argument("--seconds", type=float, default=1.0, help="time spent on each figure")
    options = parser.parse_args()
    unknown = set(options.names) - set(PROBLEMS)
    if unknown:
        parser.error(f"no such problem: {', '.join(sorted(unknown))}")

    print(f"{'problem':10}{'tool':10}{'primal us':>12}{'gradient us':>13}{'ratio':>8}{'first call s':>14}{'error':>9}")
    for name in options.names or PROBLEMS:
        f, wrt, args, by_hand_gradient = PROBLEMS[name]()
        primal = partial(compiled(f), *args)
        primal()
        base = least(primal, options.seconds)

        tools = {"s2sad": partial(grad(f, wrt=wrt), *args)}
        if by_hand_gradient is not None:
            tools["by hand"] = partial(by_hand_gradient, *args)
        if importlib.util.find_spec("jax"):
            import peers_jax

            if name in peers_jax.GRADIENTS:
                tools["jax"] = peers_jax.GRADIENTS[name](*args)

        ours = None
        for tool, call in tools.items():
            start = time.perf_counter()
            result = [np.asarray(g) for g in call()]
            first = time.perf_counter() - start
            ours = ours or result
            took = least(call, options.seconds)
            print(
                f"{name if tool == 's2sad' else '':10}{tool:10}{base * 1e6:12.1f}{took * 1e6:13.1f}{took / base:8.2f}{first:14.2f}"
                f"{error(result, ours):9.0e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
