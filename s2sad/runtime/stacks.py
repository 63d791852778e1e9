"""Stacks on which the sweeps of recursive functions leave values."""

from __future__ import annotations

from typing import Any

from s2sad.runtime.core import jitable


@jitable
def stack_of(example: Any) -> Any:
    """An empty list for values like `example`."""
    stack = [example]
    stack.pop()
    return stack
