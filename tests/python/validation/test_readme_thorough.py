"""What `test_readme` runs with smaller numbers, as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from test_readme import COMMANDS, run

# A file of a user is only there while test_readme runs.
PREDICTIONS = [command for command, _ in COMMANDS if re.match(r"ranvier predict (?!.*\.py)", command)]


@pytest.mark.parametrize("command", PREDICTIONS)
def test_predictions(command: str, tmp_path: Path) -> None:
    assert "memory" in run(shlex.split(command), tmp_path)
