"""The contents of a network: its object in the core, and the handles that users have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, SupportsIndex, TypeAlias, TypeVar, overload

from ranvier import _core
from ranvier.errors import WrongTypeError
from ranvier.network.fields import Field
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import Recorder
from ranvier.populations.populations import Population, PopulationView, Selection, view_of

__all__ = ["Contents", "Handle", "Parts"]

Handle: TypeAlias = Population | Projection | Stimulus | Recorder | Field
Part = TypeVar("Part", bound=Handle, covariant=True)


class Parts(tuple[Part, ...]):
    """Parts of a network, in the order of creation."""

    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Part: ...

    @overload
    def __getitem__(self, index: slice, /) -> tuple[Part, ...]: ...

    def __getitem__(self, index: SupportsIndex | slice, /) -> Part | tuple[Part, ...]:
        """Return a part by its place, not by its name."""
        if isinstance(index, str):
            named = [part for part in self if getattr(part, "name", None) == index]
            if not named or isinstance(named[0], Population):
                remedy = f"write net[{index!r}] for the population of that name"
            else:
                remedy = f"write [{self.index(named[0])}] for the one of that name, or keep what the call returned"
            raise WrongTypeError("index of the parts of a network", "str", "must be an integer or a slice", remedy)
        if not isinstance(index, slice | SupportsIndex):
            raise WrongTypeError(
                "index of the parts of a network", type(index).__name__, "must be an integer or a slice"
            )
        return super().__getitem__(index)


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
    fields: list[Field] = field(default_factory=list)
    revision: int = 0
    """Number of calls that have changed the network."""
    poll: Callable[[], None] | None = None
    """Called during a long call, before which nothing has changed; it may raise KeyboardInterrupt."""
    built_revision: int = 0
    """The revision from which a simulation was last built."""

    def view(self, selection: Selection) -> PopulationView:
        """Return the view of a selection."""
        return view_of(self.network, selection)
