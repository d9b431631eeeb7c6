"""Folders of the repository that tests read."""

from pathlib import Path

ROOT = Path(__file__).parents[3]
TESTS = ROOT / "tests/python"
# Modules that tests share. A process that a test starts finds them here, too.
SUPPORT = TESTS / "support"
DATA = TESTS / "data"
