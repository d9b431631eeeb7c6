"""Neurons that were recorded, by the name of their population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ranvier.errors import WrongTypeError
from ranvier.network.populations import PopulationView

__all__ = ["Neurons", "Segment", "as_segment"]


@dataclass(frozen=True)
class Segment:
    """Neurons with consecutive global ids, by the name of their population."""

    name: str
    first_id: int
    size: int

    @property
    def end_id(self) -> int:
        """Global id after the last neuron."""
        return self.first_id + self.size


def as_segment(neurons: PopulationView | Segment) -> Segment:
    """Return the segment of a population or of a part of one."""
    if isinstance(neurons, Segment):
        return neurons
    if not isinstance(neurons, PopulationView):
        raise WrongTypeError(
            "neurons", type(neurons).__name__, "must be a population, a part of one, a segment or a name"
        )
    return Segment(neurons.name, neurons.first_id, len(neurons))


Neurons: TypeAlias = PopulationView | Segment | str
"""A population, a part of one, or the name of what was recorded."""
