"""The same text and the same bits in every run: whatever the hash seed and the number of threads, and in repeated calls."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPT = """
import hashlib, warnings
import numpy as np
from s2sad import grad
from tests.fuzz.check import load
from tests.fuzz.generate import program

digest = hashlib.sha256()
for seed in range(3000, 3012):
    p = program(seed)
    g = grad(load(p.text, f"<{seed}>").f, wrt=p.wrt, jit=seed == 3000)
    try:
        with np.errstate(all="ignore"):
            digest.update(g.source(*p.fresh()).encode())
            found = [np.asarray(v).tobytes() for v in g(*p.fresh())]
            again = [[np.asarray(v).tobytes() for v in g(*p.fresh())] for _ in range(20)]
    except Exception as e:
        digest.update(str(e).encode())
        continue
    assert all(a == found for a in again), seed
    digest.update(b"".join(found))
print(digest.hexdigest())
"""


def test_the_same_bits_in_every_process(tmp_path):
    """Each process emits anew, into a cache of its own."""
    found = set()
    for k, threads in enumerate((1, 1, 2, 4)):
        cache = str(tmp_path / str(k))
        own = {"PYTHONHASHSEED": str(k), "NUMBA_NUM_THREADS": str(threads), "S2SAD_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}
        env = {**os.environ, **own}
        done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.add(done.stdout.splitlines()[-1])
    assert len(found) == 1
