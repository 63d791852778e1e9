import os
import stat
import subprocess
import sys
import traceback

import numba
import numpy as np
import pytest

from s2sad.backend import cache, compile
from s2sad.errors import DifferentiationError
from s2sad.lang.emitted import Emitted
from s2sad.lang.types import Scalar


def Text(name, text, externals=None, params=(), guard=None):
    """An emitted function."""
    return Emitted(name, text, params, (), externals or {}, frozenset(), Scalar("float64"), (), guard=guard)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("S2SAD_CACHE_DIR", str(tmp_path / "cache"))
    cache._checked.cache_clear()
    monkeypatch.setattr(compile, "_loaded", {})
    yield tmp_path / "cache"
    cache._checked.cache_clear()


SQUARE = Text("square_adjoint", "def square_adjoint(x, x_bar=1.0):\n    return 2.0 * x * x_bar\n")
F8 = numba.float64


def test_the_file_is_private_and_named_after_its_content(folder):
    fn = compile.load(SQUARE)
    compile.compile_for(fn, [F8, F8])
    assert fn(3.0, 1.0) == 6.0
    (path,) = folder.glob("*.py")
    assert path.name.startswith("square_adjoint_") and path.read_text() == SQUARE.text
    if os.name == "posix":
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache.write("square_adjoint", SQUARE.text) == path
    assert cache.write("square_adjoint", SQUARE.text + "\n") != path
    assert not list(folder.glob("*.tmp"))


def test_an_edited_file_is_written_again(folder):
    path = cache.write("square_adjoint", SQUARE.text)
    path.write_text("def square_adjoint(x, x_bar=1.0):\n    return 0.0\n")
    assert compile.load(SQUARE, jit=False)(3.0) == 6.0


def test_the_compiled_code_is_found_again_and_a_spoilt_cache_is_compiled_again(folder, monkeypatch):
    fn = compile.load(SQUARE)
    compile.compile_for(fn, [F8, F8])
    monkeypatch.setattr(compile, "_loaded", {})
    again = compile.load(SQUARE)
    compile.compile_for(again, [F8, F8])
    assert again is not fn and sum(again.stats.cache_hits.values()) == 1
    for suffix in ("nbi", "nbc"):
        for f in folder.glob(f"**/*.{suffix}"):
            f.write_bytes(f.read_bytes()[:-7])
        monkeypatch.setattr(compile, "_loaded", {})
        spoilt = compile.load(SQUARE)
        compile.compile_for(spoilt, [F8, F8])
        assert spoilt(4.0, 1.0) == 8.0


def test_another_process_finds_the_compiled_code(folder):
    code = """
import numba
from s2sad.backend import compile
from types import SimpleNamespace
text = "def fill(x, k):\\n    if k < 0:\\n        raise ValueError('k is negative')\\n    return [x, x][k]\\n"
fn = compile.load(SimpleNamespace(name="fill", text=text, externals={}, proven=False, guard=None, lowered=None, inner=()))
compile.compile_for(fn, [numba.float64, numba.int64])
print(sum(fn.stats.cache_hits.values()), fn(2.0, 1))
"""
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert runs == ["0 2.0\n", "1 2.0\n"]


def test_other_types_are_not_compiled_on_the_way(folder):
    fn = compile.load(SQUARE)
    compile.compile_for(fn, [F8, F8])
    for args in [(3, 1.0), (np.ones(2), 1.0), (np.float32(3.0), 1.0)]:
        with pytest.raises(compile.Mismatch):
            fn(*args)


def test_plain_python_shows_the_file_in_tracebacks(folder):
    fn = compile.load(Text("bad", "def bad(x):\n    y = x[10]\n    return y\n"), jit=False)
    with pytest.raises(IndexError) as e:
        fn(np.ones(3))
    assert "y = x[10]" in traceback.format_exc() or "y = x[10]" in "".join(traceback.format_tb(e.tb))


def test_bounds_are_checked_and_division_is_as_in_numpy(folder):
    fn = compile.load(Text("edge", "def edge(x, k):\n    return x[k] / 0.0\n"))
    compile.compile_for(fn, [F8[::1], numba.int64])
    assert fn(np.ones(2), 1) == np.inf
    with pytest.raises(IndexError):
        fn(np.ones(2), 2)


def test_what_numba_rejects_is_shown_with_the_emitted_line(folder):
    fn = compile.load(Text("odd", "import numpy as np\n\n\ndef odd(x):\n    y = np.sin(x)\n    return y + 'a'\n"))
    with pytest.raises(DifferentiationError, match="Numba cannot compile the emitted function odd") as e:
        compile.compile_for(fn, [F8])
    text = str(e.value)
    assert "line 6" in text and "return y + 'a'" in text and len(text) < 1200


def external(x):
    return 3.0 * x


def test_externals_are_put_into_the_module(folder):
    text = Text("outer", "def outer(x):\n    return twist(x) + 1.0\n", {"twist": external})
    fn = compile.load(text)
    compile.compile_for(fn, [F8])
    assert fn(2.0) == 7.0
    assert compile.load(text, jit=False)(2.0) == 7.0
    assert not list(folder.glob("**/*.nbi")), "a cache would not see when an external changes"
    assert compile.load(Text("outer", text.text, {"twist": lambda x: x}), jit=False)(2.0) == 3.0


def test_slow_compiling_is_announced_once(folder, monkeypatch, capsys):
    monkeypatch.setattr(compile, "SLOW", 0.0)
    for t in (F8, numba.float32):
        compile.compile_for(compile.load(Text("slow", "def slow(x):\n    return x * x\n")), [t])
    assert capsys.readouterr().err == "s2sad: compiling slow ...\n"


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_a_directory_that_cannot_be_used_is_replaced_with_a_warning(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("S2SAD_CACHE_DIR", str(file / "below"))
    cache._checked.cache_clear()
    with pytest.warns(RuntimeWarning, match="S2SAD_CACHE_DIR"):
        found = cache.directory()
    assert found.is_dir() and stat.S_IMODE(found.stat().st_mode) == 0o700
    cache._checked.cache_clear()


def test_names_do_not_depend_on_the_hash_seed(folder):
    code = "from s2sad.backend import cache; print(cache.write('f', 'def f(): pass'))"
    names = {
        subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2")
    }
    assert len(names) == 1


def test_a_guard_is_asked_first(folder):
    guard = Text("get_in_bounds", "def get_in_bounds(x, k):\n    return 0 <= k < len(x)\n", params=("x", "k"))
    text = "import numpy as np\n\n\ndef get_adjoint(x, k, seed=1.0):\n    return seed * np.sin(x[k])\n"
    fn = compile.load(Text("get_adjoint", text, params=("x", "k"), guard=guard))
    compile.compile_for(fn, [numba.float64[::1], numba.int64, F8])
    assert fn(np.ones(3), 2, 2.0) == 2.0 * np.sin(1.0)
    with pytest.raises(compile.OutOfBounds):
        fn(np.ones(3), 3, 2.0)
    (path,) = folder.glob("*.py")
    assert path.read_text().count("import numpy") == 1
    plain = compile.load(Text("get_adjoint", text, params=("x", "k"), guard=guard), jit=False)
    with pytest.raises(IndexError):
        plain(np.ones(3), 3)


def test_another_process_finds_code_that_calls_the_vector_library(folder):
    code = """
import numba
import numpy as np
from s2sad.backend import compile
from s2sad.lang.emitted import Emitted
text = "from s2sad.runtime import vector\\n\\n\\ndef f(x):\\n    return vector.exp(x)\\n"
fn = compile.load(Emitted("f", "", ("x",), (), {}, frozenset(), None, (), proven=True, lowered=text))
compile.compile_for(fn, [numba.float64[::1]])
print(sum(fn.stats.cache_hits.values()), fn(np.zeros(9)).tolist())
"""
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert runs == [f"0 {[1.0] * 9}\n", f"1 {[1.0] * 9}\n"]
