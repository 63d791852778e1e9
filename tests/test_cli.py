import re
import subprocess
import sys
from pathlib import Path

import pytest

from s2sad.cli import main
from s2sad.transforms import pipeline

MODEL = """
import numpy as np
import s2sad

print("imported")

STEP = 0.5

def loss(x, c, n):
    s = 0.0
    for k in range(n):
        s += x[k] * c * STEP
    return s

def annotated(a: float, n: int = 2):
    return a * n

@s2sad.value_and_grad(wrt="b")
def product(a, b):
    return a * b

def unclear(x, y):
    return np.sum(x * y)

def array(x: np.ndarray):
    return np.sum(x)
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    path = tmp_path / "cli_model.py"
    path.write_text(MODEL)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield str(path)
    sys.modules.pop("cli_model", None)


def run(capsys, *args):
    status = main(["dump", *args])
    out, err = capsys.readouterr()
    return status, out, err


def test_types_are_given(model, capsys):
    status, out, err = run(capsys, f"{model}:loss", "--wrt", "x,c", "--types", "f8[:], f8, i8")
    assert status == 0 and err == "imported\n"
    assert re.search(r"^def loss_adjoint\(x, c, n, STEP, \w+=1\.0\):$", out, re.M)
    compile(out, "out", "exec")


def test_types_from_arguments_use_annotations_and_decorators(model, capsys):
    _, given, _ = run(capsys, f"{model}:loss", "--wrt", "x,c", "--types", "f8[:], f8, i8")
    assert run(capsys, f"{model}:loss", "--wrt", "0,1", "--args", "np.ones(3), 2 * STEP, 2")[1] == given
    status, out, err = run(capsys, f"{model}:loss", "--wrt", "x,c")
    assert (status, out) == (0, given) and "types from use: x: float64[::1], c: float, n: int" in err
    assert "def annotated_adjoint(a, n, " in run(capsys, f"{model}:annotated")[1]
    assert "def product_value_and_adjoint(a, b, " in run(capsys, f"{model}:product")[1]
    assert "def annotated_value_and_adjoint(" in run(capsys, f"{model}:annotated", "--value")[1]
    assert "def annotated(" in run(capsys, f"{model}:annotated", "--primal")[1]


@pytest.mark.parametrize("after", pipeline.PASSES)
def test_the_program_after_a_pass(model, capsys, after):
    status, out, _ = run(capsys, f"{model}:loss", "--after", after)
    assert status == 0 and out.startswith("def loss(x, c, n, STEP):") and "adjoint" not in out
    compile(out, "out", "exec")
    assert ("_bar" in out) == (pipeline.PASSES.index(after) >= pipeline.PASSES.index("reverse"))


def test_a_module_by_its_name(model, capsys, monkeypatch):
    monkeypatch.chdir(Path(model).parent)
    assert run(capsys, "cli_model:annotated")[1] == run(capsys, f"{model}:annotated")[1]


def test_the_passes_of_the_primal(model, capsys):
    assert run(capsys, f"{model}:annotated", "--primal", "--after", "legalize")[1].startswith("def annotated(a, n):")
    status, out, err = run(capsys, f"{model}:annotated", "--primal", "--after", "reverse")
    assert status == 2 and not out and "no pass `reverse`; the passes are resolve" in err


def test_output_goes_to_a_file(model, capsys, tmp_path):
    status, out, _ = run(capsys, f"{model}:annotated", "-o", str(tmp_path / "out.py"))
    assert status == 0 and out == "" and "def annotated_adjoint" in (tmp_path / "out.py").read_text()


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (["unclear"], 1, "parameter `x` of `unclear` .*--types"),
        (["array"], 1, "parameter `x` of `array` .*--types"),
        (["loss", "--wrt", "n", "--types", "f8[:], f8, i8"], 1, "`n` of `loss` is an int"),
        (["loss", "--wrt", "z"], 1, "wrt names `z`"),
        (["loss", "--types", "f8"], 2, r"3 parameters \(x, c, n\)"),
        (["loss", "--types", "f8[:], f8, spam"], 1, "`spam` is not a type"),
        (["loss", "--args", "np.nope"], 2, "--args cannot be evaluated"),
        (["nothing"], 2, "no function `nothing`; it has loss, annotated"),
        (["loss", "--after", "nowhere"], 2, "no pass `nowhere`; the passes are"),
    ],
)
def test_errors_are_short_and_on_stderr(model, capsys, args, status, message):
    got, out, err = run(capsys, f"{model}:{args[0]}", *args[1:])
    assert got == status and out == "" and re.search(message, err) and "Traceback" not in err


def test_a_target_that_is_not_there(capsys):
    assert run(capsys, "no_such_file.py:f")[0] == 2
    assert run(capsys, "no_such_module:f")[0] == 2
    assert run(capsys, "loss")[0] == 2


def test_it_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "s2sad", "--help"], capture_output=True, text=True, check=True)
    assert "dump" in done.stdout
    assert subprocess.run([sys.executable, "-m", "s2sad"], capture_output=True).returncode == 2


def test_explain(capsys):
    assert main(["explain", "s2s117"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("S2S117: A target that cannot be assigned\n") and "x.shape = (2, 3)" in out and "x = x.reshape(2, 3)" in out
    assert main(["explain", "S2S999"]) == 2
    assert "there is no error S2S999; the codes are S2S100, " in capsys.readouterr().err
