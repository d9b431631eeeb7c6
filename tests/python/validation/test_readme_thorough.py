"""What `test_readme` runs with smaller numbers, as it stands there."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from test_readme import COMMANDS, run

PREDICTIONS = [command for command, _ in COMMANDS if command.startswith("ranvier predict ")]


@pytest.mark.parametrize("command", PREDICTIONS)
def test_predictions(command: str, tmp_path: Path) -> None:
    assert "memory" in run(shlex.split(command), tmp_path)
