"""The contents of a network: its object in the core, and the handles that users have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ranvier import _core
from ranvier.network.populations import Population, PopulationView, Selection, view_of
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import Recorder

__all__ = ["Contents", "Handle"]

Handle: TypeAlias = Population | Projection | Stimulus | Recorder


@dataclass
class Contents:
    """The parts of a network, in the order of creation."""

    network: Any
    """The `Network` object that users have; handles refer to it."""
    core: _core.Network
    populations: list[Population] = field(default_factory=list)
    projections: list[Projection] = field(default_factory=list)
    stimuli: list[Stimulus] = field(default_factory=list)
    recorders: list[Recorder] = field(default_factory=list)

    def view(self, selection: Selection) -> PopulationView:
        """Return the view that a selection stands for."""
        return view_of(self.network, selection)
