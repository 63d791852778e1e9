"""Time to the first gradient of Burgers' equation in a fresh process: with an empty cache, then with a warm one.

    python benchmarks/first_call.py

Prints the wall time of each process and its parts, and ends with status 1 if a bar is missed (6 s cold, 1.5 s warm).
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARS = {"empty cache": 6.0, "warm cache": 1.5}

CHILD = """
import time
start = time.perf_counter()
import numpy as np
import s2sad
imported = time.perf_counter()
from ideal.stencil import burgers
u0 = 1.5 + np.sin(np.linspace(0.0, 2.0 * np.pi, 1000))
gradient = s2sad.grad(burgers, wrt=("u0", "nu", "c"))
begin = time.perf_counter()
gradient(u0, 0.11, 0.08, 500)
first = time.perf_counter()
gradient(u0, 0.11, 0.08, 500)
second = time.perf_counter()
call = second - first
print(imported - start, first - begin - call, call)
"""


def main():
    missed = False
    with tempfile.TemporaryDirectory() as cache:
        env = dict(os.environ, S2SAD_CACHE_DIR=cache, NUMBA_CACHE_DIR="", PYTHONPATH=str(Path(__file__).resolve().parent))
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        subprocess.run([sys.executable, "-c", "import s2sad"], env=env, check=True)  # Python's own bytecode exists after the first import
        for label, bar in BARS.items():
            start = time.perf_counter()
            run = subprocess.run([sys.executable, "-c", CHILD], env=env, capture_output=True, text=True, check=True)
            wall = time.perf_counter() - start
            imports, compiling, call = map(float, run.stdout.split())
            print(
                f"{label:12} {wall:6.2f} s (bar {bar} s): import {imports:.2f} s, compile {compiling:.2f} s, call {call * 1e3:.1f} ms,"
                f" rest (interpreter) {wall - imports - compiling - 2 * call:.2f} s"
            )
            missed |= wall > bar
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
