"""What random scripts still find, with a script for each; an entry that no longer occurs fails its test, and goes."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["KNOWN", "Known"]


class Known(NamedTuple):
    """A fault that is known."""

    kind: str
    """As `fuzz_scripts.Finding` has it."""
    lines: tuple[str, ...]
    reason: str


KNOWN: list[Known] = []
