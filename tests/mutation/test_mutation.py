"""The texts of the mutations are in the compiler; whether tests notice them is what `python -m tests.mutation.run` says."""

import ast

import pytest

from . import passes, rules


@pytest.mark.parametrize("m", passes.MUTATIONS, ids=lambda m: f"{m.file}: {m.what}")
def test_applies(m):
    text, changed = m.texts()
    assert text != changed and ast.parse(changed)


def test_mutations_differ():
    assert len({(m.file, m.old, m.new) for m in passes.MUTATIONS}) == len(passes.MUTATIONS)


def test_every_rule_is_broken():
    assert len({m.what for m in rules.mutants()}) > 300
