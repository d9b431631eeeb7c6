"""Detailed cells that stand for the point neurons of a population where potentials are calculated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.hints import known_keywords
from ranvier.base.immutable import Immutable
from ranvier.base.names import counted, some_names
from ranvier.base.numeric import as_array
from ranvier.base.texts import check_text, name_type
from ranvier.base.values import FloatArray
from ranvier.cells.cell import Cell, membrane_in, with_electrodes_at
from ranvier.cells.lines import CompartmentLines
from ranvier.cells.places import Region, RegionLike, as_region
from ranvier.errors import ShapeError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.checks import check_positions, check_rotation, check_size, checked_rotation
from ranvier.space.positions import Positions, PositionsLike, as_positions
from ranvier.space.rotations import Rotation

__all__ = ["CellTemplate", "Density"]

Density: TypeAlias = Callable[[str, FloatArray], FloatArray]
"""Relative numbers of synapses per membrane area: of the name of a source population, and coordinates, um."""


class CellTemplate(Immutable):
    """Detailed cells that stand for the neurons of a population, for `unitary_potentials`. It cannot be changed.

    Parameters
    ----------
    cell
        The cell. Currents act on its membrane as those of synapses; its receptors are not used.
    size
        Number of cells, at different positions; None: as many as there are positions.
    positions, rotation
        Of the cells, as for `Network.create`.
    synapses
        Region of the cell that has the synapses, ``"dendrites"`` for example, in which they are spread evenly over the
        membrane. Or a mapping from names of source populations to regions.
    density
        Function of the name of a source population and of coordinates (um, shape ``(compartments, 3)``) that returns
        relative numbers of synapses per membrane area, >= 0, shape ``(compartments,)``: for synapses in certain layers.
        None: they are spread evenly.

    Raises
    ------
    WrongTypeError, ShapeError, ValueOutOfBoundsError, UnknownNameError
        For anything but a cell, and for positions, rotations and regions that are not possible.

    Examples
    --------
    >>> disc = rv.random_positions(extent=(1.0, 1.0, 0.2), center=(0.0, 0.0, -0.9), shape="cylinder")
    >>> template = rv.CellTemplate(
    ...     cell,
    ...     50,
    ...     positions=disc,
    ...     synapses={"exc": "dendrites", "inh": rv.within_distance(0.0, 100.0)},
    ... )
    """

    cell: Cell
    size: int
    positions: Positions
    rotation: Rotation | None
    synapses: Region | Mapping[str, Region]
    density: Density | None

    @known_keywords
    def __init__(
        self,
        cell: Cell,
        size: int | None = None,
        *,
        positions: PositionsLike,
        rotation: Rotation | None = None,
        synapses: RegionLike | Mapping[str, RegionLike] = "all",
        density: Density | None = None,
    ) -> None:
        if not isinstance(cell, Cell):
            raise WrongTypeError("cell of a template", name_type(cell), "must be a ranvier.Cell")
        places = as_positions(positions)
        check_rotation(cell, checked_rotation("rotation of a template", rotation), places)
        count = check_size(size, cell, places)
        check_positions(count, places)
        regions: Region | dict[str, Region]
        if isinstance(synapses, Mapping):
            regions = {
                check_text("name of a source of synapses", name): as_region(f"synapses from {name}", region)
                for name, region in synapses.items()
            }
        else:
            regions = as_region("synapses", synapses)
        if density is not None and not callable(density):
            raise WrongTypeError("density of synapses", name_type(density), "must be a function")
        self._put(cell=cell, size=count, positions=places, rotation=rotation, synapses=regions, density=density)

    def membrane(self, source: str) -> FloatArray:
        """Return the membrane of each compartment that can have synapses from a population, um^2.

        Raises
        ------
        StateError
            When the template does not say where the synapses are.
        ValueOutOfBoundsError
            For a region without membrane.
        """
        region = self.synapses
        if isinstance(region, Mapping):
            if source not in region:
                raise StateError(
                    f"synapses from {source} on cells '{self.cell.name}'",
                    bound=f"their template has those from {some_names(list(region))}",
                    remedy=f'add their region: synapses={{"{source}": "dendrites", ...}}',
                )
            region = region[source]
        areas = membrane_in(self.cell, region)
        if not areas.any():
            raise ValueOutOfBoundsError(
                f"region of synapses from {source}", repr(region), f"there is no such membrane on '{self.cell.name}'"
            )
        return areas

    def shares(self, source: str, lines: CompartmentLines) -> FloatArray:
        """Return the share of each compartment in the synapses from a population, whose sum is 1.

        Parameters
        ----------
        source
            Name of the population.
        lines
            The compartments of one of the cells, in space.

        Raises
        ------
        StateError, ValueOutOfBoundsError
            As for `membrane`; and for a density that is negative, not finite, or nowhere positive in the region.
        ShapeError
            For a density of another shape.
        """
        areas = self.membrane(source)
        if self.density is not None:
            given = as_array("density of synapses", self.density(source, lines.middle))
            if given is None or given.shape != (len(lines),):
                found = "lists of different lengths" if given is None else f"an array of shape {given.shape}"
                raise ShapeError("density of synapses", found, f"it must be ({len(lines)},): one for each compartment")
            wrong = np.flatnonzero(~((given >= 0.0) & np.isfinite(given)))
            if len(wrong):
                raise ValueOutOfBoundsError(
                    f"density of synapses from {source}", str(given[wrong[0]]), "it must be finite and >= 0"
                )
            areas = areas * given
        total = areas.sum()
        if not total > 0.0:
            raise ValueOutOfBoundsError(
                f"density of synapses from {source}",
                "0",
                f"cell '{self.cell.name}' at {np.round(lines.begin[0]).tolist()} um has no synapses",
                "give it a density > 0 somewhere in their region",
            )
        return np.asarray(areas / total)

    def with_electrodes(self, compartments: npt.NDArray[np.int64]) -> Cell:
        """Return the cell with an electrode in the middle of some compartments, named by their numbers."""
        return with_electrodes_at(self.cell, compartments)

    def __repr__(self) -> str:
        return f"<CellTemplate: {counted(self.size, 'cell')} '{self.cell.name}'>"
