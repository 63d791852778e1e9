"""A fixed sample of random programs, some of them compiled; `python -m tests.fuzz.run` looks at more."""

import gc
from collections.abc import Iterator

import numpy as np
import pytest

from .check import check, usable
from .generate import program
from .run import LEAST_NONZERO, MOST_REFUSED, same_results

PROGRAMS, BATCH = 500, 20
COMPILED = 40


@pytest.fixture(autouse=True)
def without_garbage_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("first", range(1000, 1000 + PROGRAMS, BATCH))
def test_random_programs(first: int) -> None:
    tried = refused = nonzero = 0
    for seed in range(first, first + BATCH):
        p = program(seed)
        outcome = check(p, both=seed % 3 == 0)
        assert outcome.kind in ("ok", "refused", "unusable"), f"seed {seed}: {outcome.kind}: {outcome.detail}\n\n{p.text}\n{outcome.text}"
        tried += outcome.kind != "unusable"
        refused += outcome.kind == "refused"
        nonzero += outcome.nonzero
    # of 20 programs; over many, `python -m tests.fuzz.run` holds the shares themselves
    assert refused <= 2 * MOST_REFUSED * BATCH + 2 and nonzero >= LEAST_NONZERO * (tried - refused) - 2


@pytest.mark.slow
@pytest.mark.parametrize("first", range(9000, 9000 + COMPILED, BATCH // 2))
def test_compiled_random_programs(first: int) -> None:
    for seed in range(first, first + BATCH // 2):
        p = program(seed)
        interpreted = check(p, both=seed % 3 == 0)
        compiled = check(p, jit=True, both=seed % 3 == 0)
        assert compiled.kind in ("ok", "refused", "unusable"), f"seed {seed}: {compiled.kind}: {compiled.detail}\n\n{p.text}\n{compiled.text}"
        if compiled.kind == interpreted.kind == "ok":
            different = same_results(interpreted, compiled)
            assert different is None, f"seed {seed}: {different.detail}\n\n{p.text}\n{compiled.text}"


def test_programs_are_usable_and_do_not_depend_on_anything_but_the_seed() -> None:
    seeds = range(1000, 1060)
    with np.errstate(all="ignore"):
        assert sum(usable(program(seed)) for seed in seeds) >= 55
    assert program(7).text == program(7).text
