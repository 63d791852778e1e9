"""`python -m tests.mutation.run`: break every derivative rule and every pass, one at a time, and say what no test notices."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from . import passes, rules
from .harness import Harness, run
from .mutant import DoesNotApply, apply, concerned


def main(argv: list[str] | None = None) -> int:
    """Run; the exit status is 1 if a mutant survives or does not apply."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.run", description=__doc__)
    parser.add_argument("--rules", action="store_true", help="only the rules")
    parser.add_argument("--passes", action="store_true", help="only the passes")
    parser.add_argument("--only", default="", help="mutants whose file or description has this text")
    parser.add_argument("--record", type=Path, help="a file that keeps what the tests run, for the next time")
    options = parser.parse_args(argv)
    check = _Check(options)
    run(check.work, record=options.record)
    return check.status


class _Check:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.status = 1
        self.started = time.perf_counter()

    def work(self, harness: Harness) -> None:
        bad = False
        if not self.options.passes:
            bad |= self.rules(harness)
        if not self.options.rules:
            harness.learn()
            print(f"{len(harness.known)} tests, {time.perf_counter() - self.started:.0f} s", flush=True)
            bad |= self.passes(harness)
        self.status = int(bad)

    def rules(self, harness: Harness) -> bool:
        total, survivors = 0, []
        general = [n for n in harness.named("tests/rules") if "[" not in n]
        for m in rules.mutants():
            if self.options.only not in m.what:
                continue
            total += 1
            own = [n for n in harness.named("tests/rules") if n.endswith(f"[{m.name}]")]
            if harness.failing(m.apply, [*own, *general]) is None:
                survivors.append(m.what)
                print(f"SURVIVES  {m.what}", flush=True)
        self.say("rules", total, survivors, len(rules.EQUIVALENT))
        return bool(survivors)

    def passes(self, harness: Harness) -> bool:
        total, survivors = 0, []
        for m in passes.MUTATIONS:
            if self.options.only not in f"{m.file}: {m.what}" or (m.file, m.what) in passes.EQUIVALENT:
                continue
            total += 1
            try:
                functions = concerned(m)
            except DoesNotApply as e:
                survivors.append(f"DOES NOT APPLY  {e}")
                print(survivors[-1], flush=True)
                continue
            tests = harness.named(m.tests) if m.tests else harness.relevant(functions, m.path.stem)
            started = time.perf_counter()
            found = harness.failing(lambda m=m: apply(m), tests)
            seconds = time.perf_counter() - started
            print(f"{'caught  ' if found else 'SURVIVES'}  {m.file}: {m.what}  ({found or f'{len(tests)} tests'}, {seconds:.0f} s)", flush=True)
            if found is None:
                survivors.append(f"{m.file}: {m.what}")
        self.say("passes", total, survivors, len(passes.EQUIVALENT))
        return bool(survivors)

    def say(self, what: str, total: int, survivors: list[str], equivalent: int) -> None:
        minutes = (time.perf_counter() - self.started) / 60
        print(f"{what}: {total - len(survivors)} of {total} mutants caught ({equivalent} equivalent ones left out), {minutes:.1f} minutes")
        print("".join(f"  {s}\n" for s in survivors), end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
