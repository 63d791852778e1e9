"""What README.md shows is what the compiler prints."""

import re
from pathlib import Path

import numpy as np

from s2sad import grad

README = Path(__file__).resolve().parent.parent / "README.md"


def blocks():
    return re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)


def test_picture(tmp_path):
    program, emitted = blocks()[:2]
    (tmp_path / "picture.py").write_text("import numpy as np\n\n\n" + program)
    names = {}
    code = compile((tmp_path / "picture.py").read_text(), str(tmp_path / "picture.py"), "exec")
    exec(code, names)
    text = grad(names["burgers"], wrt=("nu", "c")).source(np.linspace(1.0, 2.0, 5), 0.1, 0.08, 3)
    assert emitted.strip() in text
