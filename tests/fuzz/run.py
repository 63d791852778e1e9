"""`python -m tests.fuzz.run --programs N --seed S`: look for faults among random programs, and show them reduced."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

os.environ.setdefault("S2SAD_CACHE_DIR", tempfile.mkdtemp(prefix="s2sad-fuzz-"))

from .check import Outcome, check  # noqa: E402
from .generate import Program, program  # noqa: E402
from .reduce import reduced  # noqa: E402


def report(p: Program, outcome: Outcome, jit: bool) -> str:
    """A fault with everything that is needed to look at it."""
    small = reduced(p, lambda q: check(q, jit).key == outcome.key)
    last = check(small, jit)
    detail = last.detail.replace("\n", "\n# ")
    args = f"array = np.array\nARGS = ({', '.join(repr(a) for a in small.args)},)\nWRT = {small.wrt}\n"
    emitted = "".join(f"# {line}\n" for line in last.text.splitlines())
    return f"# seed {p.seed}: {last.kind}: {detail}\n\n{small.text}\n\n{args}\n# --- emitted ---\n{emitted}"


def main(argv: list[str] | None = None) -> int:
    """Run; the exit status is 1 if there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others have the numbers after it")
    parser.add_argument("--jit", type=float, default=0.0, help="share of the programs that are compiled, too")
    parser.add_argument("--refusals", action="store_true", help="reduce and show refusals, too")
    parser.add_argument("--each", type=int, default=1, help="how many faults of one kind are reduced and shown")
    parser.add_argument("--out", type=Path, help="a directory: write every fault that is shown into a file of its own, too")
    parser.add_argument("--raw", action="store_true", help="do not reduce")
    options = parser.parse_args(argv)
    kinds: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.programs):
        p = program(seed)
        jit = False
        outcome = check(p, both=seed % 3 == 0)
        if outcome.kind == "ok" and options.jit and seed % max(1, round(1 / options.jit)) == 0:
            jit = True
            outcome = check(p, jit=True)
        kinds[outcome.key] += 1
        fault = outcome.kind not in ("ok", "unusable") and (outcome.kind != "refused" or options.refusals)
        if fault and kinds[outcome.key] <= options.each:
            text = f"# seed {seed}: {outcome.key}\n{p.text}" if options.raw else report(p, outcome, jit)
            print(f"{'=' * 100}\n{text}", flush=True)
            if options.out:
                (options.out / f"{outcome.kind}_{seed}.py").write_text(text)
        elif fault:
            print(f"# seed {seed}: {outcome.key}", flush=True)
    for key, count in kinds.most_common():
        print(f"{count:6} {key}")
    return int(any(k.split()[0] not in ("ok", "unusable", "refused") for k in kinds))


if __name__ == "__main__":
    sys.exit(main())
