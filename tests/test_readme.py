"""What README.md shows is what the compiler prints: the adjoint after the first program, and the refusal after the second.
ARCHITECTURE.md lists the passes.

S2SAD_UPDATE_GOLDEN=1 writes both into README.md anew.
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from s2sad import UnsupportedError, grad
from s2sad.transforms.pipeline import PASSES

README = Path(__file__).resolve().parent.parent / "README.md"
PROGRAM, EMITTED, REFUSED, ERROR = (f"<!-- {name} -->" for name in ("program", "emitted", "refused", "error"))


def block(mark):
    """The code block after a mark."""
    return re.search(rf"{mark}\n\n?```\w*\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)


def load(mark, name, folder):
    """A function of a code block, in a file of its own."""
    path = folder / "model.py"
    path.write_text(block(mark)[1])
    names = {"np": np}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names[name]


def agree(mark, text):
    """Compare a block of the README with a text, or put the text there."""
    if os.environ.get("S2SAD_UPDATE_GOLDEN"):
        start, end = block(mark).span(1)
        old = README.read_text()
        README.write_text(old[:start] + text + old[end:])
    assert block(mark)[1] == text


def test_the_adjoint(tmp_path):
    burgers = load(PROGRAM, "burgers", tmp_path)
    agree(EMITTED, grad(burgers, wrt=("nu", "c")).source(np.linspace(1.0, 2.0, 5), 0.1, 0.08, 3))


def test_the_refusal(tmp_path):
    loss = load(REFUSED, "loss", tmp_path)
    with pytest.raises(UnsupportedError) as e:
        grad(loss).source(np.ones(3), np.ones(3))
    agree(ERROR, str(e.value).replace(str(tmp_path / "model.py"), "model.py") + "\n")


def test_the_passes():
    text = (README.parent / "ARCHITECTURE.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == list(PASSES)
