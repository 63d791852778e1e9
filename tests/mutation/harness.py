"""The tests, collected once; what each of them runs of the compiler; and children that run some of them."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .mutant import ROOT, SEEN, watch

#: Quick tests: programs and gradients in plain Python, tables, facts.
WHERE = ("tests/transforms", "tests/analysis", "tests/rules", "tests/runtime", "tests/cases", "tests/fuzz", "tests/test_jvp.py",
         "tests/test_bounds.py", "tests/test_arithmetic.py", "tests/test_exceptions.py", "tests/lang", "tests/test_api.py")
#: A test that takes longer (with the recording of what it runs) is left out, unless a mutation asks for it.
LONGEST = 4.0


@dataclass
class Known:
    """What is known of a test: how long it takes, and which functions of the compiler it runs, by file and name."""

    seconds: float
    runs: frozenset[tuple[str, str]]
    passes: bool


class Harness:
    """A pytest plugin that takes the place of the loop over the tests."""

    def __init__(self, work: Callable[[Harness], None], record: Path | None):
        self.work, self.record = work, record
        self.items: dict[str, pytest.Item] = {}
        self.known: dict[str, Known] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        def quick(item: pytest.Item) -> bool:
            compiled = item.get_closest_marker("slow") is not None or "compiled" in item.nodeid.split("::")[-1]
            return not compiled or "tests/runtime" in item.nodeid

        self.items = {item.nodeid: item for item in session.items if quick(item)}
        self.work(self)
        return True

    def learn(self) -> None:
        """Run each test once, unless that has been recorded."""
        if self.record is not None and self.record.exists():
            self.known = pickle.loads(self.record.read_bytes())
        missing = [n for n in self.items if n not in self.known]
        if missing:
            print(f"running {len(missing)} tests once ...", flush=True)
            for name, known in self.in_child(lambda send: (watch(), [send((n, self.observed(n))) for n in missing]), 3600):
                self.known[name] = known
                if len(self.known) % 100 == 0:
                    print(len(self.known), end=" ", flush=True)
            if self.record is not None:
                self.record.write_bytes(pickle.dumps(self.known))
        lost = [n for n in missing if n not in self.known]
        bad = [n for n in self.items if n in self.known and not self.known[n].passes]
        if lost or bad:
            print(f"these tests fail without any mutation, and are left out: {', '.join(lost + bad)}", flush=True)

    def observed(self, name: str) -> Known:
        """Run a test and record it."""
        SEEN.clear()
        started = time.perf_counter()
        passes = self.passes(name)
        return Known(time.perf_counter() - started, frozenset(SEEN), passes)

    def passes(self, name: str) -> bool:
        """Run a test here."""
        reports = runtestprotocol(self.items[name], nextitem=None, log=False)
        return all(r.passed or r.skipped for r in reports)

    def relevant(self, functions: set[tuple[str, str]], first: str) -> list[str]:
        """The tests that run one of some functions; those in files named like `first` before the others, short ones before long ones."""
        found = [n for n, k in self.known.items() if n in self.items and k.passes and k.seconds < LONGEST and k.runs & functions]
        return sorted(found, key=lambda n: (first not in n, self.known[n].seconds))

    def named(self, prefix: str) -> list[str]:
        """The tests whose names begin so."""
        return [n for n in self.items if n.startswith(prefix)]

    def failing(self, prepare: Callable[[], None], tests: Iterable[str]) -> str | None:
        """The first test that fails once `prepare` has changed the compiler; None if all pass."""
        chosen = list(tests)

        def work(send: Callable[[Any], None]) -> None:
            prepare()
            for n in chosen:
                if not self.passes(n):
                    send(n)
                    return

        limit = 60.0 + 5 * sum(self.known[n].seconds for n in chosen if n in self.known)
        try:
            return next(self.in_child(work, limit), None)
        except TimeoutError:
            return "no end"

    def in_child(self, work: Callable[[Callable[[Any], None]], Any], limit: float) -> Iterator[Any]:
        """What a child process sends."""
        read, write = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            code = 1
            try:
                code = _child(work, write)
            finally:
                os._exit(code)
        os.close(write)
        ended = False
        try:
            with os.fdopen(read, "rb") as pipe:
                until = time.monotonic() + limit
                while True:
                    if not select.select([pipe], [], [], max(0.0, until - time.monotonic()))[0]:
                        raise TimeoutError
                    try:
                        yield pickle.load(pipe)
                    except EOFError:
                        break
            ended = True
        finally:
            if not ended:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            status = os.waitpid(pid, 0)[1]
        if status:
            raise RuntimeError(f"a child ended with status {status}; see {ERRORS}")


ERRORS = Path(tempfile.gettempdir()) / f"s2sad-mutation-{os.getpid()}.txt"


def _child(work: Callable[[Callable[[Any], None]], Any], write: int) -> int:
    import traceback

    out = os.open(os.devnull, os.O_WRONLY)
    os.dup2(out, 1)
    os.dup2(out, 2)
    with tempfile.TemporaryDirectory(prefix="s2sad-mutation-") as cache, os.fdopen(write, "wb") as pipe:
        os.environ["S2SAD_CACHE_DIR"] = cache

        def send(what: Any) -> None:
            pickle.dump(what, pipe)
            pipe.flush()

        try:
            work(send)
        except BaseException:
            ERRORS.write_text(traceback.format_exc())
            return 1
    return 0


def run(work: Callable[[Harness], None], where: Iterable[str] = WHERE, record: Path | None = None) -> None:
    """Collect the tests, and do some work with them."""
    doctests = [f"s2sad/{d}" for d in ("transforms", "analysis", "rules", "lang")]
    args = ["-qq", "-s", "-p", "no:cacheprovider", "--no-header", "--no-summary", f"--rootdir={ROOT}", *where, *doctests]
    os.chdir(ROOT)
    pytest.main(args, plugins=[Harness(work, record)])
