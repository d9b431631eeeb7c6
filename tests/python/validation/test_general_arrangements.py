"""Random cells with general mechanisms and receptors: the same bits however cells are arranged and calculated."""

from __future__ import annotations

import numpy as np
import pytest

from general_cells import draw_kinds, run


@pytest.mark.parametrize("seed", range(40))
def test_random_cells_have_the_same_bits_in_every_arrangement(seed: int) -> None:
    """Packed ones alone, eight equal ones, and both; with other threads and instruction sets."""
    kinds = draw_kinds(seed)
    alone = run(kinds, range(len(kinds)), threads=1)
    eights = [k for k in range(len(kinds)) for _ in range(8)]
    np.testing.assert_array_equal(run(kinds, eights, threads=2, instruction_set="baseline")[:, :, ::8], alone)
    mixed = [*eights[::3], *range(len(kinds))]
    np.testing.assert_array_equal(run(kinds, mixed, threads=3)[:, :, -len(kinds) :], alone)
    assert np.ptp(alone[:, 0]) > 1e-3
