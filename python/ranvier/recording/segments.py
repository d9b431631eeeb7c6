"""Recorded neurons, by the name of their population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.errors import WrongTypeError
from ranvier.populations.populations import PopulationView
from ranvier.recording.neuron_ids import IntArray

__all__ = ["Neurons", "Segment", "as_segment"]


@dataclass(frozen=True)
class Segment:
    """Recorded neurons of one population or view.

    Attributes
    ----------
    name
        Name of the population or view.
    first_id
        Global id of the first neuron.
    size
        Number of neurons.
    runs
        If the ids are not consecutive: first id and number of neurons of each range of consecutive ids.
    """

    name: str
    first_id: int
    size: int
    runs: tuple[tuple[int, int], ...] = ()

    @property
    def end_id(self) -> int:
        """Global id after the last neuron."""
        return sum(self.runs[-1]) if self.runs else self.first_id + self.size

    @property
    def stretches(self) -> tuple[tuple[int, int], ...]:
        """First id and number of neurons of each range of consecutive ids."""
        return self.runs or ((self.first_id, self.size),)

    def holds(self, ids: IntArray) -> npt.NDArray[np.bool_]:
        """Return a mask of the ids that belong to the segment."""
        if not self.runs:
            return (ids >= self.first_id) & (ids < self.end_id)
        firsts, sizes = np.array(self.runs, dtype=np.int64).T
        run = np.maximum(np.searchsorted(firsts, ids, side="right") - 1, 0)
        held: npt.NDArray[np.bool_] = (ids >= firsts[run]) & (ids < firsts[run] + sizes[run])
        return held


def as_segment(neurons: PopulationView | Segment) -> Segment:
    """Return the segment of a population or of a part of one."""
    if isinstance(neurons, Segment):
        return neurons
    if not isinstance(neurons, PopulationView):
        raise WrongTypeError(
            "neurons", type(neurons).__name__, "must be a population, a part of one, a segment or a name"
        )
    if neurons.is_contiguous:
        return Segment(neurons.name, neurons.first_id, len(neurons))
    ids = neurons.ids
    firsts = np.flatnonzero(np.diff(ids, prepend=ids[0] - 2) != 1)
    sizes = np.diff(firsts, append=len(ids))
    runs = tuple(zip(ids[firsts].tolist(), sizes.tolist(), strict=True))
    return Segment(neurons.name, neurons.first_id, len(neurons), runs)


Neurons: TypeAlias = PopulationView | Segment | str
"""A population, a part of one, or the name of a recorded population."""
