"""The directory of emitted files: private to the user, written atomically, named after what is in them."""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import platform
import shutil
import stat
import tempfile
import warnings
from pathlib import Path

import numba
import numpy as np
import platformdirs

# without the wrapper for C callers, which nothing uses, a first call compiles a tenth faster
OPTIONS = {"error_model": "numpy", "boundscheck": True, "nogil": True, "no_cfunc_wrapper": True}


def directory() -> Path:
    """The directory that holds emitted files and what Numba makes of them.

    It is S2SAD_CACHE_DIR if that is set, else the user's cache directory. Numba's cache is executed when it is read, so the directory
    must belong to the user and be closed to others; one that is not (or cannot be made) is replaced by a temporary one, with a warning.
    """
    return _checked(Path(os.environ.get("S2SAD_CACHE_DIR") or platformdirs.user_cache_dir("s2sad", appauthor=False)))


@functools.cache
def _checked(path: Path) -> Path:
    """The directory, made if it does not exist, or a substitute."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.stat()
        if hasattr(os, "getuid") and found.st_uid != os.getuid():
            raise PermissionError(f"{path} belongs to another user")
        if os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o077:
            path.chmod(0o700)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as e:
        warnings.warn(f"s2sad cannot keep compiled functions: {e}; set S2SAD_CACHE_DIR to a directory of yours", RuntimeWarning, stacklevel=2)
        substitute = Path(tempfile.mkdtemp(prefix="s2sad-"))
        atexit.register(shutil.rmtree, substitute, ignore_errors=True)
        return substitute


@functools.cache
def versions() -> str:
    """What else decides how text runs: versions, options, and the text of the functions that emitted code calls."""
    from s2sad import __version__  # here, because that module imports this one
    from s2sad.runtime import libmvec

    parts = [__version__, np.__version__, numba.__version__, platform.python_version(), repr(OPTIONS), *libmvec.available()]
    digest = hashlib.sha256(" ".join(parts).encode())
    for source in sorted((Path(__file__).parent.parent / "runtime").glob("**/*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def write(name: str, text: str) -> Path:
    """The file of an emitted function: `<name>_<hash>.py`, the hash over the text and all that decides how it runs."""
    digest = hashlib.sha256(f"{versions()}\n{text}".encode()).hexdigest()[:16]
    path = directory() / f"{name}_{digest}.py"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{name}_", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as f:
                f.write(text)
            os.replace(temporary, path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    return path
