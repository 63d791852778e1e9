"""A fixed sample of random programs, some of them compiled; `python -m tests.fuzz.run` looks at more."""

import gc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from .batch import SIZE, Batch
from .check import check, usable
from .generate import program
from .run import LEAST_NONZERO, MOST_REFUSED

PROGRAMS, TOGETHER = 500, 20
COMPILED = 40


@pytest.fixture(autouse=True)
def without_garbage_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("first", range(1000, 1000 + PROGRAMS, TOGETHER))
def test_random_programs(first: int) -> None:
    tried = refused = nonzero = 0
    for seed in range(first, first + TOGETHER):
        p = program(seed)
        outcome = check(p, both=seed % 3 == 0)
        assert outcome.kind in ("ok", "refused", "unusable"), f"seed {seed}: {outcome.kind}: {outcome.detail}\n\n{p.text}\n{outcome.text}"
        tried += outcome.kind != "unusable"
        refused += outcome.kind == "refused"
        nonzero += outcome.nonzero
    # of 20 programs; over many, `python -m tests.fuzz.run` holds the shares themselves
    assert refused <= 2 * MOST_REFUSED * TOGETHER + 2 and nonzero >= LEAST_NONZERO * (tried - refused) - 2


@pytest.mark.slow
@pytest.mark.parametrize("first", range(9000, 9000 + COMPILED, SIZE))
def test_compiled_random_programs(first: int, tmp_path: Path) -> None:
    batch = Batch(tmp_path)
    for seed in range(first, first + SIZE):
        p = program(seed)
        outcome = check(p, both=False)
        if outcome.kind == "ok":
            batch.waiting.append((p, outcome))
    assert len(batch.waiting) > SIZE // 2
    for p, fault in batch.run():
        pytest.fail(f"seed {p.seed}: {fault.kind}: {fault.detail}\n\n{p.text}\n{fault.text}")


def test_programs_are_usable_and_do_not_depend_on_anything_but_the_seed() -> None:
    seeds = range(1000, 1060)
    with np.errstate(all="ignore"):
        assert sum(usable(program(seed)) for seed in seeds) >= 55
    assert program(7).text == program(7).text
