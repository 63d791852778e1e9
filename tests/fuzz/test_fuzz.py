"""A fixed sample of random programs; `python -m tests.fuzz.run` looks at more."""

import pytest

from .check import check
from .generate import program

SEEDS = range(1000, 1060)


@pytest.mark.parametrize("seed", SEEDS)
def test_gradient_of_random_program(seed: int) -> None:
    p = program(seed)
    outcome = check(p, both=seed % 3 == 0)
    assert outcome.kind in ("ok", "refused", "unusable"), f"{outcome.kind}: {outcome.detail}\n\n{p.text}\n{outcome.text}"


def test_most_programs_are_usable() -> None:
    kinds = [check(program(seed), both=False).kind for seed in SEEDS[:20]]
    assert kinds.count("ok") >= 14
