"""Imports run one way (ARCHITECTURE.md), whether at the head of a file or inside a function."""

import ast
from pathlib import Path

import pytest

import s2sad

ROOT = Path(s2sad.__file__).parent
# what a file of a layer may import; the layers below are all that is imported from s2sad
ORDER = ("errors", "catalogue", "lang", "custom", "rules", "analysis", "transforms", "backend", "structured", "api", "cli")
# files at the top that are none of the layers, with the layer up to which they may look
TOP = {"__init__": "api", "__main__": "cli", "testing": "api"}
FILES = sorted(ROOT.rglob("*.py"))


def layer_of(module: str) -> str:
    """The layer of a dotted module below s2sad."""
    return module.partition(".")[0] or "__init__"


def imported(tree: ast.AST, package: str) -> set[str]:
    """The s2sad modules (without the leading `s2sad.`) that a file imports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parent, *filter(None, [node.module])])
            found |= {f"{base}.{a.name}" for a in node.names} if base == "s2sad" else {base}
    # `__version__` is an attribute of the package, not a module
    return {m.removeprefix("s2sad.") for m in found if m.startswith("s2sad.") and not m.endswith("__")}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    inside = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    package = ".".join(("s2sad", *path.relative_to(ROOT).parts[:-1]))
    layer = layer_of(inside)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for module in imported(tree, package):
        target = layer_of(module)
        if layer == "runtime" or target == "runtime":
            # emitted text imports the runtime; the package looks its names up without any other dependence on it
            assert target == "runtime", f"{inside} imports s2sad.{module}"
            assert layer in ("runtime", "custom", "rules", "backend"), f"{inside} imports s2sad.{module}"
            continue
        allowed = ORDER[: ORDER.index(TOP.get(layer, layer)) + 1]
        if layer == "__init__" and target not in ORDER:
            assert target in TOP, f"s2sad imports s2sad.{module}"
            continue
        assert target in allowed, f"{inside} imports s2sad.{module}"


@pytest.mark.parametrize("path", sorted((ROOT / "runtime").rglob("*.py")), ids=lambda p: p.name)
def test_runtime_needs_numpy_and_numba_only(path: Path) -> None:
    standard = {"ctypes", "math", "os", "platform", "sys", "typing", "collections", "dataclasses", "functools", "inspect", "itertools",
                "operator", "types", "__future__"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or "s2sad"]
        for module in modules:
            # llvmlite comes with numba
            assert module.partition(".")[0] in standard | {"numpy", "numba", "llvmlite", "s2sad"}, f"{path.name} imports {module}"
