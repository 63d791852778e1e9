"""Time the gradients of the kernels, each in a fresh process on one core.

    python benchmarks/kernels/run.py [jacobi_1d lu ...] [--seconds 1.0] [--no-jax]

A table with, in milliseconds: the kernel in plain loops and as it stands, both compiled by Numba (`loops`, `njit`), our gradient, and that of the
JAX version where JAX can be imported; the seconds of the first gradient, compiling included; the ratio of our gradient to the loops, and of
JAX's gradient to ours. Times are the least of many calls with fresh copies of the arguments, which are not timed. Last the geometric means.
"""

import argparse
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
ONE_CORE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def copies(args):
    return [a.copy() if hasattr(a, "copy") else a for a in args]


def least(call, args, seconds):
    """The shortest time of a call, in milliseconds, and that of the first one in seconds."""
    begin = time.perf_counter()
    call(*copies(args))
    first = time.perf_counter() - begin
    best, stop = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < stop:
        given = copies(args)
        begin = time.perf_counter()
        call(*given)
        best = min(best, time.perf_counter() - begin)
    return {"ms": best * 1e3, "first": first}


def measure(name, who, seconds):
    """One number of the table; runs in a process of its own."""
    from kernels import KERNELS

    k = KERNELS[name]
    args = k.arguments(k.timed)
    if who in ("loops", "njit"):
        from numba import njit

        return least(njit(k.loops if who == "loops" else k.primal), args, seconds)
    if who == "s2sad":
        from s2sad import grad

        return least(grad(k.primal, wrt=k.wrt), args, seconds)
    import jax

    jax.config.update("jax_enable_x64", True)
    g = jax.jit(jax.grad(k.jax(), argnums=k.wrt), static_argnums=k.static)
    args = tuple(jax.numpy.asarray(a) if hasattr(a, "copy") else a for a in args)
    return least(lambda *given: jax.block_until_ready(g(*given)), args, seconds)


def in_process(name, who, seconds, cache):
    """What `measure` gives, or the last line of the error."""
    command = [sys.executable, __file__, name, "--who", who, "--seconds", str(seconds)]
    if hasattr(os, "sched_setaffinity"):
        core = str(max(os.sched_getaffinity(0)))
        command = [sys.executable, "-c", f"import os, sys; os.sched_setaffinity(0, {{{core}}}); os.execv(sys.argv[1], sys.argv[1:])", *command]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ONE_CORE, "S2SAD_CACHE_DIR": cache})
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def shown(found, what="ms"):
    return f"{found[what]:10.3f}" if what in found else f"{'-':>10}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--no-jax", action="store_true")
    parser.add_argument("--who", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.who:
        print(json.dumps(measure(options.names[0], options.who, options.seconds)))
        return
    from kernels import KERNELS

    unknown = [n for n in options.names if n not in KERNELS]
    if unknown:
        parser.error(f"no kernel {', '.join(unknown)}; there are {', '.join(KERNELS)}")
    with_jax = not options.no_jax and importlib.util.find_spec("jax") is not None
    whos = ["loops", "njit", "s2sad"] + (["jax"] if with_jax else [])
    print(f"{'kernel':22}{'loops':>10}{'njit':>10}{'gradient':>10}{'jax':>10}{'first s':>10}{'/ loops':>9}{'jax /':>9}")
    to_loops, to_jax = [], []
    with tempfile.TemporaryDirectory() as cache:
        for name in options.names or KERNELS:
            found = {w: in_process(name, w, options.seconds, cache) for w in whos}
            ours, loops, jax = found["s2sad"], found["loops"], found.get("jax", {})
            ratios = []
            for a, b, into in ((ours, loops, to_loops), (jax, ours, to_jax)):
                if "ms" in a and "ms" in b:
                    into.append(a["ms"] / b["ms"])
                    ratios.append(f"{into[-1]:8.2f}x")
                else:
                    ratios.append(f"{'-':>9}")
            numbers = "".join(shown(f) for f in (loops, found["njit"], ours, jax))
            print(f"{name:22}{numbers}{shown(ours, 'first')}{''.join(ratios)}", flush=True)
            for who, f in found.items():
                if "error" in f:
                    print(f"    {who}: {f['error'][:150]}")
    for label, ratios in (("gradient / loops", to_loops), ("jax / gradient", to_jax)):
        if ratios:
            print(f"{label}: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} of {len(ratios)}")


if __name__ == "__main__":
    main()
