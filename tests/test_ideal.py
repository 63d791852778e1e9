"""The emitted adjoints of four programs: against the ones written by hand (benchmarks/ideal), and, text for text, against tests/golden.

S2SAD_UPDATE_GOLDEN=1 writes the golden files anew; read the difference before you commit it.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"


def load_benchmark():
    spec = importlib.util.spec_from_file_location("benchmark_ideal", ROOT / "benchmarks" / "ideal.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


benchmark = load_benchmark()


@pytest.mark.parametrize("program", benchmark.PROGRAMS)
def test_against_ideal(program):
    _, ours, ideal = benchmark.compare(program)
    assert benchmark.meets(ours, ideal), f"emitted {ours}, ideal {ideal}"


@pytest.mark.parametrize("program", benchmark.PROGRAMS)
def test_golden(program):
    text = benchmark.compare(program)[0] + "\n"
    path = GOLDEN / f"{program}.py"
    if os.environ.get("S2SAD_UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()
