"""Potentials outside of cells that act on them: handles of the parts of a network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

from ranvier.base.immutable import Immutable
from ranvier.base.times import text_of
from ranvier.network.given_fields import OutsideField
from ranvier.populations.populations import PopulationView, text_of_cells

__all__ = ["AppliedField", "CellCoupling", "Field"]


class Field(Immutable, ABC):
    """Base of what acts on cells from outside.

    Attributes
    ----------
    network
        The network.
    index
        Index among the network's fields.
    cells
        The cells on which it acts, as a population or a view.
    interval
        Time in ms for which potentials are constant.
    """

    network: Any
    index: int
    cells: PopulationView
    interval: float
    _remedy = "a field cannot be changed: make another network"

    def __init__(self, network: Any, index: int, **values: Any) -> None:
        self._put(network=network, index=index, **values)

    def _title(self) -> str:
        return f"field on {text_of_cells(self.cells)}"

    @property
    @abstractmethod
    def description(self) -> str:
        """What acts on which cells, in a line."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.description}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _field_of, (self.network, self.index)


def _field_of(network: Any, index: int) -> Field:
    fields: tuple[Field, ...] = network.fields
    return fields[index]


class AppliedField(Field):
    """Given potentials that act on cells: see `Network.apply_field`.

    Attributes
    ----------
    cells
        The cells on which it acts, as a population or a view.
    fields
        The potentials, which are added.
    interval
        Time in ms for which potentials are constant.
    """

    fields: tuple[OutsideField, ...]

    @property
    def description(self) -> str:
        """What acts on which cells, in a line."""
        fields = " + ".join(map(repr, self.fields))
        return f"{fields} on {text_of_cells(self.cells)} every {text_of(self.interval)} ms"


class CellCoupling(Field):
    """The action of cells on each other through the medium: see `Network.couple_extracellular`.

    Attributes
    ----------
    cells
        The coupled cells, as a population or a view.
    interval
        Time in ms for which potentials are constant.
    sigma
        Conductivity of the medium, S/m.
    method
        How potentials are calculated, ``"matrix"`` or ``"fmm"``.
    accuracy
        Of the method ``"fmm"``; 0 for the matrix, which is exact.
    """

    sigma: float
    method: Literal["matrix", "fmm"]
    accuracy: float

    @property
    def description(self) -> str:
        """What acts on which cells, in a line."""
        return (
            f"{text_of_cells(self.cells)} act on each other in {self.sigma:g} S/m every {text_of(self.interval)} ms "
            f"({self.method})"
        )
