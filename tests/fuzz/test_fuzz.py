"""A fixed sample of random programs; `python -m tests.fuzz.run` looks at more."""

import numpy as np
import pytest

from .check import check, usable
from .generate import program

SEEDS = range(1000, 1060)


@pytest.mark.parametrize("seed", SEEDS)
def test_gradient_of_random_program(seed: int) -> None:
    p = program(seed)
    outcome = check(p, both=seed % 3 == 0)
    assert outcome.kind in ("ok", "refused", "unusable"), f"{outcome.kind}: {outcome.detail}\n\n{p.text}\n{outcome.text}"


def test_programs_are_usable_and_do_not_depend_on_anything_but_the_seed() -> None:
    with np.errstate(all="ignore"):
        assert sum(not isinstance(usable(program(seed)), str) for seed in SEEDS) >= 50
    assert program(7).text == program(7).text
