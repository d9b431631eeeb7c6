"""A million random files of morphologies and scripts that build cells; as `test_fuzz_cells`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuzz_processes import fuzz

FILES = 950_000
SCRIPTS = 50_000


# On a busy machine, a million takes long.
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("module", "count"), [("fuzz_morphologies", FILES), ("fuzz_cells", SCRIPTS)])
def test_random_inputs(tmp_path: Path, module: str, count: int) -> None:
    found = fuzz(module, 10_000, count, tmp_path, processes=os.cpu_count() or 1)
    assert not found.faults, str(found)
    assert sum(found.counts.values()) == count
    cells = sum(number for kind, number in found.counts.items() if "cell" in kind)
    assert count // 5 < cells < count - count // 5, "both ends are met"
