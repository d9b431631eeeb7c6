"""Potentials at contacts by the fast multipole method, from the membrane currents of blocks of samples."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.values import FloatArray
from ranvier.errors import ValueOutOfBoundsError
from ranvier.network.potential_methods import samples_at_once
from ranvier.network.recorders import ExtracellularRecorder
from ranvier.populations.lines import compartment_counts, lines_of_all
from ranvier.processes.agreement import agreed
from ranvier.simulation.local_cells import cells_here
from ranvier.simulation.readouts import check_cells_inside, contact_inside, millivolts

__all__ = ["MultipolePotentials"]

IntArray = npt.NDArray[np.int64]

_CHECKED_CONTACTS = 64


class MultipolePotentials:
    """The potentials of a recorder on some processes, which all call its functions.

    Each process has the compartments of its cells, and a part of the contacts. They solve one problem together, so that
    the bits depend on no process, and exchange the potentials.

    Parameters
    ----------
    core
        The simulation, on whose threads potentials are computed between its runs.
    recorder
        The recorder.
    communicator
        The processes.
    is_local
        Whether each process computes the potentials of its own cells, at all contacts, instead.

    Raises
    ------
    ValueOutOfBoundsError
        For a contact within a cell, a cell beyond the boundary, and an accuracy that cannot be reached.
    """

    def __init__(
        self, core: _core.Simulation, recorder: ExtracellularRecorder, communicator: _core.Communicator, is_local: bool
    ) -> None:
        self._recorder = recorder
        self._communicator = communicator
        self._core = core
        # The process of a dry run is given all cells and contacts, and does the work of one process.
        self._is_dry_run = communicator.is_dry_run
        self._is_alone = communicator.size == 1 or (is_local and not self._is_dry_run)
        counts = compartment_counts(recorder.neurons)
        self._first = np.concatenate([[0], np.cumsum(counts)])
        contacts = len(recorder.contacts)
        self.samples = samples_at_once(self._compartments, contacts, recorder.accuracy)
        with agreed(communicator, "compartments of recorded potentials"):
            cells = np.ones(len(counts), dtype=np.bool_) if self._is_dry_run else cells_here(core, recorder.neurons)
            self._places = _ranges(self._first[:-1][cells], counts[cells])
            self._lines = lines_of_all(recorder.neurons[cells])
            here = np.concatenate([[0], np.cumsum(counts[cells])])
            check_cells_inside(recorder, self._lines, recorder.neurons.ids[cells], here)
        self._contacts = np.arange(contacts)
        if not self._is_alone and not self._is_dry_run:
            rank, size = communicator.rank, communicator.size
            self._contacts = np.arange(contacts * rank // size, contacts * (rank + 1) // size)
        plane = recorder.boundary
        self._plane = None if plane is None else (plane.point, plane.normal, plane.image_strength(recorder.sigma))
        self._scale = millivolts(recorder)
        # Alone, a process may fail while others do not.
        with agreed(communicator, "accuracy of recorded potentials") if self._is_alone else nullcontext():
            self._solver = self._make_solver(recorder.accuracy)
        if recorder.inside == "error":
            self._check_contacts()
        with agreed(communicator, "accuracy of recorded potentials") if self._is_alone else nullcontext():
            self._reach(_neutral_currents(self._first[:-1][cells], counts[cells]))
        self._solver.release_geometry()
        del self._lines, self._core

    @property
    def _compartments(self) -> int:
        """The number of compartments of all cells."""
        return int(self._first[-1])

    def _make_solver(self, accuracy: float) -> _core.FieldSolver:
        recorder = self._recorder
        order, capacity, precision = _core.choose_field_options(accuracy, self._compartments, len(recorder.contacts))
        self._options = order, precision
        return _core.FieldSolver(
            self._lines.begin,
            self._lines.end,
            0.5 * self._lines.diameter,
            recorder.contacts[self._contacts],
            order=order,
            capacity=capacity,
            precision=precision,
            plane=self._plane,
            simulation=self._core,
            communicator=None if self._is_alone else self._communicator,
            piece_numbers=None if self._is_alone else self._places,
            target_numbers=None if self._is_alone else self._contacts,
        )

    def _check_contacts(self) -> None:
        """Check that no contact is within a cell."""
        none = len(self._recorder.contacts) * self._compartments
        inside = self._solver.find_inside()
        place = none
        if inside is not None:
            contact, piece = inside
            place = contact * self._compartments + int(self._places[piece] if self._is_alone else piece)
        place = self._communicator.least(place)
        if place < none:
            contact, compartment = divmod(place, self._compartments)
            cell = int(np.searchsorted(self._first, compartment, side="right")) - 1
            neuron = int(self._recorder.neurons.ids[cell])
            raise contact_inside(self._recorder, contact, int(compartment - self._first[cell]), neuron)

    def _reach(self, currents: FloatArray) -> None:
        """Take finer options until the accuracy is reached at some contacts.

        The choice of options holds for independent strengths. Currents of a cell cancel each other, and so do their
        potentials, but not the errors.
        """
        recorder = self._recorder
        contacts = len(recorder.contacts)
        size = min(_CHECKED_CONTACTS, contacts)
        sample = np.arange(size) * contacts // size
        exact: FloatArray | None = None
        best = np.inf
        accuracy = recorder.accuracy
        while True:
            potentials = self._potentials(currents)[0, sample]
            if exact is None:
                exact = self._solver.sum_directly(currents.T.copy(), recorder.contacts[sample]) * self._scale
            square = float(np.mean(exact**2))
            error = float(np.sqrt(np.mean((potentials - exact) ** 2) / square)) if square > 0.0 else 0.0
            best = min(best, error)
            if error <= recorder.accuracy or self._is_dry_run:
                return
            before = self._options
            while self._options == before and accuracy > _core.finest_field_accuracy:
                accuracy = max(_core.finest_field_accuracy, 0.5 * accuracy)
                order, _, precision = _core.choose_field_options(accuracy, self._compartments, contacts)
                if (order, precision) != before:
                    self._solver = self._make_solver(accuracy)
            if self._options == before:
                raise ValueOutOfBoundsError(
                    f"accuracy of a recorder of potentials at {contacts} contacts",
                    f"{recorder.accuracy:g}",
                    f"{best:.2g} was reached at {size} of them, relative to the root mean square of their potentials",
                    'ask for no finer accuracy, or use method="matrix"',
                )

    def potentials(self, currents: FloatArray, places: IntArray) -> FloatArray:
        """Return the potentials, mV, shape ``(samples, contacts)``.

        Parameters
        ----------
        currents
            Membrane currents, pA, shape ``(samples, compartments)``, of the compartments of this process.
        places
            Of these compartments among all, ascending.
        """
        parts = [np.empty((0, len(self._recorder.contacts)))]
        for begin in range(0, len(currents), self.samples):
            block = currents[begin : begin + self.samples]
            if self._is_dry_run:
                whole = np.zeros((len(block), self._compartments))
                whole[:, places] = block
                block = whole
            parts.append(self._potentials(block))
        return np.concatenate(parts)

    def _potentials(self, currents: FloatArray) -> FloatArray:
        samples = len(currents)
        mine = self._solver.evaluate(np.ascontiguousarray(currents.T))
        mine *= self._scale
        if self._is_alone or self._is_dry_run:
            return mine.reshape(-1, samples).T
        pieces = [np.frombuffer(each) for each in self._communicator.allgather(mine.tobytes())]
        return np.concatenate(pieces).reshape(-1, samples).T

    @property
    def nbytes(self) -> int:
        """Bytes of the solver, with its arrays for all samples that are evaluated at once."""
        bytes_of_samples = (self.samples - 1) * self._solver.sample_bytes
        return self._solver.bytes + bytes_of_samples + self._places.nbytes + self._first.nbytes

    @property
    def compartments_here(self) -> int:
        """The number of compartments whose places this process has."""
        return self._solver.pieces


def _ranges(first: IntArray, sizes: IntArray) -> IntArray:
    """Return the numbers of consecutive ranges."""
    begins = np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
    places: IntArray = begins + np.arange(len(begins))
    return places


def _neutral_currents(first: IntArray, sizes: IntArray) -> FloatArray:
    """Return currents of cells whose sum over each cell is 0, shape ``(1, compartments)``: the same on all machines.

    Their distribution is uniform, by the random numbers of SplitMix64 (Steele, Lea and Flood 2014).

    Parameters
    ----------
    first, sizes
        By cell: its first compartment among those of all processes, and their number.
    """
    with np.errstate(over="ignore"):
        z = (_ranges(first, sizes) + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    currents = (z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0
    if not len(sizes):
        return currents[np.newaxis, :]
    # The sum of a cell does not depend on the other cells.
    means = np.add.reduceat(currents, np.cumsum(sizes) - sizes) / sizes
    # Nothing would remain of cells with one compartment.
    means[sizes == 1] = 0.0
    return (currents - np.repeat(means, sizes))[np.newaxis, :]
