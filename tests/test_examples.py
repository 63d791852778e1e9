"""Every example runs as a reader would run it; an example ends with status 1 if one of its checks fails."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted(p.name for p in (ROOT / "examples").glob("[a-z]*.py"))
SLOW = {"gmm.py", "bundle_adjustment.py", "lstm.py", "hand.py"}  # long functions: seconds of compiling


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in EXAMPLES])
def test_example(name):
    run = subprocess.run([sys.executable, f"examples/{name}"], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "FAILED" not in run.stdout
