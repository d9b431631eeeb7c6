"""The weights with which membrane currents of compartments enter recorded potentials."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.values import FloatArray
from ranvier.cells.lines import CompartmentLines
from ranvier.errors import ValueOutOfBoundsError
from ranvier.network.recorders import DipoleRecorder, ExtracellularRecorder, Recorder
from ranvier.populations.populations import PopulationView
from ranvier.processes.agreement import agreed

__all__ = ["check_cells_inside", "contact_inside", "injected_potentials", "millivolts", "set_readouts"]


def set_readouts(core: _core.Simulation, recorders: tuple[Recorder, ...], communicator: _core.Communicator) -> None:
    """Compute the weights of the cells of this process for all recorders of potentials and dipole moments.

    All processes must call it.

    Raises
    ------
    ValueOutOfBoundsError
        For a contact within a cell.
    """
    for recorder in recorders:
        if not isinstance(recorder, ExtracellularRecorder | DipoleRecorder) or communicator.is_dry_run:
            continue
        if isinstance(recorder, ExtracellularRecorder) and recorder.method != "matrix":
            continue
        largest = 0.0
        with agreed(communicator, "weights of recorders"):
            for neuron, cell in _cells_here(core, recorder.neurons):
                weights = (
                    # pA um to nA um.
                    1e-3 * cell.compartment_lines().middle
                    if isinstance(recorder, DipoleRecorder)
                    else _weights(recorder, cell)
                )
                core.set_readout(recorder.index, neuron, weights.ravel())
                largest = max(largest, float(np.abs(weights).max(initial=0.0)))
        # The same grid for the sums of all processes.
        exponent = math.frexp(largest)[1] if largest > 0.0 else -1000
        core.set_readout_exponent(recorder.index, communicator.greatest(exponent + 1000) - 1000)


def _cells_here(core: _core.Simulation, view: PopulationView) -> Iterator[tuple[int, PopulationView]]:
    """Return the cells of a view that are on this process, one by one, with their ids."""
    for one in view:
        neuron = int(one.first_id)
        _, stride, size, listed = core.local_ids(neuron, 1)
        if size if stride else len(listed):
            yield neuron, one


def millivolts(recorder: ExtracellularRecorder) -> float:
    """Return the potential, mV, of a current of 1 pA at a distance of 1 um."""
    # pA / (S/m um) is 1e-6 V.
    return 1e-3 / (4.0 * math.pi * recorder.sigma)


def contact_inside(
    recorder: ExtracellularRecorder, contact: int, compartment: int, neuron: int
) -> ValueOutOfBoundsError:
    """Return the error for a contact within a compartment of a cell."""
    name = next(part.name for part in recorder.neurons.parts if neuron in part.ids)
    return ValueOutOfBoundsError(
        f"contact {contact} of a recorder of potentials",
        f"{tuple(recorder.contacts[contact].tolist())} um",
        f"it is within compartment {compartment} of cell {neuron}, {name}",
        "move the contact or the cell, or take the potential at its surface: inside='surface'",
    )


def check_cells_inside(
    recorder: ExtracellularRecorder,
    lines: CompartmentLines,
    neurons: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
) -> None:
    """Check that cells are on the side of the boundary at which the medium is.

    Parameters
    ----------
    recorder
        The recorder of potentials.
    lines
        The compartments of the cells.
    neurons
        The ids of the cells.
    first
        By cell, and one more: its first compartment.
    """
    if recorder.boundary is None:
        return
    distances = [recorder.boundary.distances(ends) for ends in (lines.begin, lines.end)]
    beyond = np.flatnonzero(np.minimum(*distances) < 0.0)
    if len(beyond):
        cell = int(np.searchsorted(first, beyond[0], side="right")) - 1
        raise ValueOutOfBoundsError(
            f"compartment {beyond[0] - first[cell]} of cell {neurons[cell]}",
            f"{tuple(lines.begin[beyond[0]].tolist())} um",
            "it reaches beyond the boundary of the medium of a recorder of potentials",
            "move the cell or the plane, or turn the normal, which points away from the cells",
        )


def _weights(recorder: ExtracellularRecorder, cell: PopulationView) -> FloatArray:
    """Return the potential at each contact for a current of each compartment, mV/pA, shape (compartments, contacts)."""
    lines = cell.compartment_lines()
    check_cells_inside(recorder, lines, cell.ids, np.array([0, len(lines)]))
    unit, inside = _core.line_potentials(lines.begin, lines.end, 0.5 * lines.diameter, recorder.contacts)
    within = np.flatnonzero(inside >= 0)
    if len(within) and recorder.inside == "error":
        raise contact_inside(recorder, int(inside[within[0]]), int(within[0]), int(cell.first_id))
    if recorder.boundary is not None:
        # An image acts on a contact as its source on the image of the contact.
        images = recorder.boundary.mirrored(recorder.contacts)
        reflected, _ = _core.line_potentials(lines.begin, lines.end, 0.5 * lines.diameter, images)
        unit = unit + recorder.boundary.image_strength(recorder.sigma) * reflected
    weights: FloatArray = unit.reshape(len(lines), len(recorder.contacts)) * millivolts(recorder)
    return weights


def injected_potentials(recorder: ExtracellularRecorder, currents: FloatArray) -> FloatArray:
    """Return the potential at each contact, mV, of currents of the compartments of cells, pA, (cells, compartments)."""
    potentials = np.zeros(len(recorder.contacts))
    for cell, of_cell in zip(recorder.neurons, currents, strict=True):
        potentials += of_cell @ _weights(recorder, cell)
    return potentials
