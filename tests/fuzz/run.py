"""`python -m tests.fuzz.run --programs N --seed S [--jit SHARE]`: look for faults among random programs, and show them reduced.

Prints which constructs were drawn (the share of programs that have them), how many programs were refused and how many had a nonzero gradient.
"""

from __future__ import annotations

import argparse
import ast
import gc
import os
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("S2SAD_CACHE_DIR", tempfile.mkdtemp(prefix="s2sad-fuzz-"))

import numpy as np  # noqa: E402

from .batch import SIZE, Batch, examine  # noqa: E402
from .check import Outcome, check  # noqa: E402
from .generate import Program, program  # noqa: E402
from .reduce import reduced  # noqa: E402

MOST_REFUSED, LEAST_NONZERO = 0.10, 0.70


def constructs(p: Program) -> set[str]:
    """What a program is made of."""
    tree = ast.parse(p.text)
    found = set()
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    helpers = {f.name: f for f in functions[:-1]}

    called = [c for f in helpers.values() for c in ast.walk(f) if isinstance(c, ast.Call) and ast.unparse(c.func) == f.name]

    def visit(n: ast.AST, loops: int, branches: int) -> None:
        if isinstance(n, (ast.For, ast.While)):
            found.add("while loop" if isinstance(n, ast.While) else "for loop")
            loops += 1
            if loops > 1:
                found.add("nested loops" if loops == 2 else "loops nested three deep")
            if n.orelse:
                found.add("loop else")
            if isinstance(n, ast.For) and isinstance(n.iter, ast.Call) and isinstance(n.iter.func, ast.Name):
                found.add({"range": "for loop", "enumerate": "enumerate", "zip": "zip"}.get(n.iter.func.id, "for loop"))
                if len(n.iter.args) == 3 and isinstance(n.iter.args[2], ast.UnaryOp):
                    found.add("negative step")
            elif isinstance(n, ast.For):
                found.add("loop over an array")
        elif isinstance(n, ast.If):
            branches += 1
            found.add("branch" if branches == 1 else "nested branches")
            if loops:
                found.add("branch in a loop")
        elif isinstance(n, (ast.ListComp, ast.GeneratorExp)):
            found.add("comprehension" if isinstance(n, ast.ListComp) else "generator")
        elif isinstance(n, ast.List):
            found.add("list")
        elif isinstance(n, (ast.Raise, ast.Assert)):
            found.add(type(n).__name__.lower())
        elif isinstance(n, ast.IfExp):
            found.add("ternary")
        elif isinstance(n, ast.Compare) and len(n.ops) > 1:
            found.add("chained comparison")
        elif isinstance(n, (ast.Break, ast.Continue)):
            found.add(type(n).__name__.lower())
        elif isinstance(n, ast.Return) and (loops or branches):
            found.add("early return")
        elif isinstance(n, (ast.Assign, ast.AugAssign)):
            target = n.targets[0] if isinstance(n, ast.Assign) else n.target
            how = "augmented " if isinstance(n, ast.AugAssign) else ""
            if isinstance(target, ast.Tuple) and isinstance(n.value, ast.Tuple):
                same = {ast.unparse(t) for t in target.elts} <= {ast.unparse(e) for e in n.value.elts}
                found.add("swap" if same else "tuple assignment")
            if isinstance(target, ast.Subscript):
                index = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
                kind = "slice" if any(isinstance(i, ast.Slice) for i in index) else "mask" if isinstance(index[0], ast.Compare) else "element"
                found.add(f"{how}{kind} write")
                if isinstance(target.value, ast.Name) and re.match(r"v\d", target.value.id):
                    found.add("write through a view")
            elif isinstance(n, ast.Assign) and isinstance(target, ast.Name) and isinstance(n.value, ast.Name) and n.value.id != target.id:
                found.add("second name")
        elif isinstance(n, ast.Call):
            name = ast.unparse(n.func)
            if name in helpers:
                found.add("call")
                if n in called:
                    found.add("recursion")
                if any(isinstance(s, ast.Subscript) and isinstance(s.ctx, ast.Store) for s in ast.walk(helpers[name])):
                    found.add("call that writes into its argument")
                if any(isinstance(c, ast.Call) and ast.unparse(c.func) in helpers for c in ast.walk(helpers[name])):
                    found.add("nested call")
            elif name.startswith(("np.", "math.")):
                found.add(name)
                for k in n.keywords:
                    if k.arg in ("axis", "keepdims"):
                        found.add(k.arg)
            elif isinstance(n.func, ast.Attribute):
                found.add("list change" if n.func.attr in ("append", "extend", "pop", "reverse") else f".{n.func.attr}()")
            else:
                found.add(f"{name}()")
        elif isinstance(n, ast.Attribute) and n.attr == "T":
            found.add(".T")
        elif isinstance(n, ast.BinOp):
            found.add(type(n.op).__name__)
        elif isinstance(n, ast.BoolOp):
            found.add("and/or")
        elif isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load):
            if isinstance(n.slice, ast.Compare):
                found.add("mask read")
            elif isinstance(n.slice, ast.Name) and re.match(r"idx|p\d", n.slice.id):
                found.add("index array")
            elif isinstance(n.slice, ast.Slice):
                found.add("slice read")
        for child in ast.iter_child_nodes(n):
            visit(child, loops, branches)

    for f in functions:
        visit(f, 0, 0)
    for a, layout in zip(p.args, p.layouts, strict=True):
        if isinstance(a, np.ndarray):
            found.add(f"{a.ndim}-D {a.dtype} argument")
            if layout != "C":
                found.add(f"{layout} argument")
        else:
            found.add(f"{type(a).__name__} argument")
    return found


def report(p: Program, outcome: Outcome, directory: Path) -> str:
    """A fault with everything that is needed to look at it."""
    jit = outcome.kind in ("compiled", "rejected")
    small = reduced(p, lambda q: examine(q, jit, directory).key == outcome.key)
    last = examine(small, jit, directory)
    detail = last.detail.replace("\n", "\n# ")
    args = f"array = np.array\nARGS = ({', '.join(repr(a) for a in last.args or small.args)},)\nWRT = {small.wrt}\nLAYOUTS = {small.layouts}\n"
    emitted = "".join(f"# {line}\n" for line in last.text.splitlines())
    return f"# seed {p.seed}: {last.kind}: {detail}\n\n{small.text}\n\n{args}\n# --- emitted ---\n{emitted}"


class Found:
    """The outcomes so far; shows faults as they come."""

    def __init__(self, options: argparse.Namespace, directory: Path):
        self.options, self.directory = options, directory
        self.kinds: Counter[str] = Counter()

    def add(self, p: Program, outcome: Outcome) -> None:
        """Count an outcome, and show it if it is a fault."""
        self.kinds[outcome.key] += 1
        if outcome.kind in ("ok", "unusable") or outcome.kind == "refused" and not self.options.refusals:
            return
        if self.kinds[outcome.key] > self.options.each:
            print(f"# seed {p.seed}: {outcome.key}", flush=True)
            return
        text = f"# seed {p.seed}: {outcome.key}\n# {outcome.detail}\n{p.text}" if self.options.raw else report(p, outcome, self.directory)
        print(f"{'=' * 100}\n{text}", flush=True)
        if self.options.out:
            self.options.out.mkdir(parents=True, exist_ok=True)
            (self.options.out / f"{outcome.kind}_{p.seed}.py").write_text(text)


def main(argv: list[str] | None = None) -> int:
    """Run; the exit status is 1 if there was a fault, or too many refusals or gradients of zero."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others have the numbers after it")
    parser.add_argument("--jit", type=float, default=0.0, help="share of the programs that are compiled, too")
    parser.add_argument("--refusals", action="store_true", help="reduce and show refusals, too")
    parser.add_argument("--each", type=int, default=1, help="how many faults of one kind are reduced and shown")
    parser.add_argument("--out", type=Path, help="a directory: write every fault that is shown into a file of its own, too")
    parser.add_argument("--raw", action="store_true", help="do not reduce")
    parser.add_argument("--rare", type=float, default=0.0, help="show constructs down to this share of the programs")
    options = parser.parse_args(argv)
    directory = Path(tempfile.mkdtemp(prefix="s2sad-fuzz-"))
    found, batch = Found(options, directory), Batch(directory)
    kinds, drawn = found.kinds, Counter[str]()
    compiled = inputs = raised = nonzero = 0
    spent = {False: 0.0, True: 0.0}
    gc.disable()
    for seed in range(options.seed, options.seed + options.programs):
        if seed % SIZE == 0:
            gc.collect()
        p = program(seed)
        drawn.update(constructs(p))
        start = time.process_time()
        outcome = check(p, both=seed % 3 == 0)
        spent[False] += time.process_time() - start
        found.add(p, outcome)
        if outcome.kind == "ok":
            nonzero += outcome.nonzero
            inputs += outcome.inputs
            raised += outcome.raised
            if options.jit and seed % max(1, round(1 / options.jit)) == 0:
                start = time.process_time()
                faults = batch.add(p, outcome)
                compiled += 1
                spent[True] += time.process_time() - start
                for q, fault in faults:
                    found.add(q, fault)
    start = time.process_time()
    faults = batch.run()
    spent[True] += time.process_time() - start
    for q, fault in faults:
        found.add(q, fault)
    shares = [(name, count / options.programs) for name, count in drawn.most_common() if count >= options.rare * options.programs]
    print(f"\nconstructs, by the share of programs that have them ({len(drawn)} drawn):")
    for k in range(0, len(shares), 5):
        print("  ".join(f"{share:6.1%} {name:<32.32}" for name, share in shares[k : k + 5]).rstrip())
    print()
    for key, count in kinds.most_common():
        print(f"{count:6} {key}")
    tried = options.programs - sum(c for k, c in kinds.items() if k.startswith("unusable"))
    refused = sum(c for k, c in kinds.items() if k.startswith("refused"))
    ok = max(1, kinds["ok"])
    print(f"\n{options.programs} programs, {compiled} of them compiled, with {inputs} sets of arguments, of which {raised} raise")
    print(f"refused {refused / max(1, tried):.1%} (at most {MOST_REFUSED:.0%}), nonzero gradient {nonzero / ok:.1%} (at least {LEAST_NONZERO:.0%})")
    print(f"seconds a program: {spent[False] / options.programs:.2f} interpreted, {spent[True] / max(1, compiled):.2f} compiled")
    wrong = any(k.split()[0] not in ("ok", "unusable", "refused") for k in kinds)
    return int(wrong or refused > MOST_REFUSED * max(1, tried) or nonzero < LEAST_NONZERO * ok)


if __name__ == "__main__":
    sys.exit(main())
