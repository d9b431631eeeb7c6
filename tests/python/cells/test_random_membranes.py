"""Random cells with all that can be on them: their bits; validation/test_random_membranes_thorough.py draws more."""

from __future__ import annotations

from pathlib import Path

import pytest

from random_membranes import check_bits
from thorough_cases import every


@pytest.mark.parametrize("seed", every(3, range(4), first=2))
def test_bits_do_not_depend_on_how_cells_are_calculated(seed: int, tmp_path: Path) -> None:
    """Among many or few, on any threads and instruction set, and after a save."""
    check_bits(seed, tmp_path)
