"""What one process has emitted is found by the next, and by no program that differs."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import s2sad
from s2sad.backend import recall
from s2sad.backend.watch import Watch

PROGRAM = """
import numpy as np
import helper
K = 2.0
MODE = "square"
def f(x, n=3):
    s = 0.0
    for i in range(n):
        s = s + helper.g(x[i]) * K
    if MODE == "square":
        s = s * s
    return s
"""
HELPER = "def g(v):\n    return v * v\n"
CALL = """
import sys
import numpy as np
import s2sad
import program
{before}
print(s2sad.grad(program.f)(np.arange(1.0, 4.0)).tolist(), "s2sad.transforms.pipeline" in sys.modules)
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "helper.py").write_text(HELPER)

    def run(before: str = "") -> tuple[list[float], bool]:
        env = {"PYTHONPATH": f"{tmp_path}:{':'.join(sys.path)}", "S2SAD_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        code = CALL.format(before=textwrap.dedent(before)).replace("s2sad.grad(program.f)", "s2sad.grad(program.f, jit=False)")
        out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
        numbers, _, compiled = out.strip().rpartition(" ")
        return eval(numbers), compiled == "True"

    return run


def test_second_process_does_not_compile(project):
    first, ran = project()
    assert ran
    second, ran = project()
    assert not ran and second == first == [224.0, 448.0, 672.0]


def test_globals_are_read_at_every_call_all_the_same(project):
    project()
    assert project("program.K = 1.0") == ([56.0, 112.0, 168.0], False)


def test_a_constant_of_another_value_is_another_program(project):
    project()
    assert project("program.MODE = 'plain'") == ([4.0, 8.0, 12.0], True)


def test_another_helper_is_another_program(project, tmp_path):
    project()
    (tmp_path / "helper.py").write_text("def g(v):\n    return v + 0 * v\n")
    assert project() == ([48.0, 48.0, 48.0], True)
    (tmp_path / "helper.py").write_text(HELPER)
    assert project() == ([224.0, 448.0, 672.0], False)


def test_a_rule_of_the_user_is_no_record(project):
    project()
    numbers, ran = project("""
        import helper
        @s2sad.adjoint_of(helper.g)
        def rule(v, y, y_bar):
            return 0.0
    """)
    assert ran and numbers == [0.0, 0.0, 0.0]


def test_a_broken_record_is_emitted_again(project, tmp_path):
    first, _ = project()
    for record in (tmp_path / "cache").glob("*.emitted"):
        record.write_bytes(record.read_bytes()[:-7])
    assert project() == (first, True)
    assert project() == (first, False)


class Settings:
    rate = 2.0


settings = Settings()


def uses_an_object(x: float) -> float:
    return x * settings.rate


def test_an_object_is_not_described():
    assert recall.Memory(Watch(uses_an_object)).key is None
    assert s2sad.grad(uses_an_object, jit=False)(1.0) == 2.0


def test_types_and_modes_have_records_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv("S2SAD_CACHE_DIR", str(tmp_path))

    for x in (np.ones(3), np.ones(3, np.float32), np.ones(6)[::2]):
        for _ in range(2):
            g = s2sad.grad(total, jit=False)
            assert g(x).dtype == x.dtype and np.array_equal(g(x), 2 * x)
            value, gradient = s2sad.value_and_grad(total, jit=False)(x)
            assert value == 3.0 and np.array_equal(gradient, 2 * x)


def total(x):
    return np.sum(x * x)
