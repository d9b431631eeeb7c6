"""The cells of a view that are on this process."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.populations.populations import PopulationView

__all__ = ["cells_here"]


def cells_here(core: _core.Simulation, view: PopulationView) -> npt.NDArray[np.bool_]:
    """Return for each cell of a view whether it is on this process."""
    ids = view.ids
    first = int(ids[0])
    begin, stride, size, listed = core.local_ids(first, int(ids[-1]) + 1 - first)
    here = np.arange(begin, begin + size * stride, stride) if stride else listed
    return np.isin(ids, here, assume_unique=True)
