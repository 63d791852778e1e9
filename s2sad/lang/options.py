"""Which passes make the lowered text, for tests and benchmarks that show what each brings: S2SAD_FUSE=0 and S2SAD_VECTOR=0 switch one off."""

from __future__ import annotations

import os

SWITCHES = {"fuse": "S2SAD_FUSE", "vectors": "S2SAD_VECTOR"}


def lowering() -> tuple[str, ...]:
    """The passes that are on."""
    return tuple(name for name, variable in SWITCHES.items() if os.environ.get(variable, "1") != "0")
