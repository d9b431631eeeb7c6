"""More random cells with all that can be on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from random_membranes import check_bits


@pytest.mark.parametrize("first", range(4, 304, 25))
def test_bits_do_not_depend_on_how_cells_are_calculated(first: int, tmp_path: Path) -> None:
    """Among many or few, on any threads and instruction set, and after a save."""
    for seed in range(first, first + 25):
        check_bits(seed, tmp_path)
