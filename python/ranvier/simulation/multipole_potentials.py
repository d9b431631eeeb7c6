"""Potentials at contacts by the fast multipole method, from the membrane currents of blocks of samples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.values import FloatArray
from ranvier.errors import ValueOutOfBoundsError
from ranvier.network.potential_methods import samples_at_once
from ranvier.network.recorders import ExtracellularRecorder
from ranvier.populations.lines import compartment_counts, lines_of_all
from ranvier.processes.agreement import agreed
from ranvier.simulation.readouts import check_cells_inside, contact_inside, millivolts

__all__ = ["MultipolePotentials"]

IntArray = npt.NDArray[np.int64]

_CHECKED_CONTACTS = 64


class MultipolePotentials:
    """The potentials of a recorder on some processes, which all call its functions.

    All processes have the same tree of all compartments and contacts. Each computes the potentials at a part of the
    contacts from all currents, so that the bits depend on no process; they exchange the potentials.

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
        # A dry run has the currents of its cells, and the work of one process.
        self._parts = 1 if is_local and not communicator.is_dry_run else communicator.size
        counts = compartment_counts(recorder.neurons)
        first = np.concatenate([[0], np.cumsum(counts)])
        self._compartments = int(first[-1])
        self.samples = samples_at_once(self._compartments, len(recorder.contacts), recorder.accuracy)
        with agreed(communicator, "compartments of recorded potentials"):
            lines = lines_of_all(recorder.neurons)
            check_cells_inside(recorder, lines, recorder.neurons.ids, first)
        plane = recorder.boundary
        self._geometry = (lines.begin, lines.end, 0.5 * lines.diameter, recorder.contacts)
        self._plane = None if plane is None else (plane.point, plane.normal, plane.image_strength(recorder.sigma))
        self._core = core
        self._scale = millivolts(recorder)
        self._solver, self._of_ranks = self._make_solver(recorder.accuracy)
        if recorder.inside == "error":
            self._check_contacts(first)
        self._reach(_neutral_currents(first))
        del self._geometry, self._core

    def _make_solver(self, accuracy: float) -> tuple[_core.FieldSolver, list[IntArray]]:
        """Return the solver for the part of this process, and the contacts of the parts of all."""
        recorder, communicator = self._recorder, self._communicator
        order, capacity, precision = _core.choose_field_options(accuracy, self._compartments, len(recorder.contacts))
        self._options = order, precision
        with agreed(communicator, "solver of recorded potentials"):
            solver = _core.FieldSolver(
                *self._geometry,
                order=order,
                capacity=capacity,
                precision=precision,
                plane=self._plane,
                part=0 if self._parts == 1 else communicator.rank,
                parts=self._parts,
                simulation=self._core,
            )
        own = solver.targets()
        if self._parts == 1 or communicator.is_dry_run:
            return solver, [own]
        return solver, [np.frombuffer(each, dtype=np.int64) for each in communicator.allgather(own.tobytes())]

    def _check_contacts(self, first: IntArray) -> None:
        """Check that no contact is within a cell."""
        none = len(self._recorder.contacts) * self._compartments
        inside = self._solver.find_inside()
        place = none if inside is None else inside[0] * self._compartments + inside[1]
        if self._parts > 1:
            place = self._communicator.least(place)
        if place < none:
            contact, compartment = divmod(place, self._compartments)
            cell = int(np.searchsorted(first, compartment, side="right")) - 1
            neuron = int(self._recorder.neurons.ids[cell])
            raise contact_inside(self._recorder, contact, int(compartment - first[cell]), neuron)

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
                exact = self._solver.sum_directly(currents.T.copy(), sample) * self._scale
            square = float(np.mean(exact**2))
            error = float(np.sqrt(np.mean((potentials - exact) ** 2) / square)) if square > 0.0 else 0.0
            best = min(best, error)
            if error <= recorder.accuracy or self._communicator.is_dry_run:
                return
            before = self._options
            while self._options == before and accuracy > _core.finest_field_accuracy:
                accuracy = max(_core.finest_field_accuracy, 0.5 * accuracy)
                order, _, precision = _core.choose_field_options(accuracy, self._compartments, contacts)
                if (order, precision) != before:
                    self._solver, self._of_ranks = self._make_solver(accuracy)
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
            Membrane currents, pA, shape ``(samples, compartments)``: of all compartments, unless processes are local.
        places
            Of these compartments among all.
        """
        parts = [np.empty((0, len(self._recorder.contacts)))]
        for begin in range(0, len(currents), self.samples):
            block = currents[begin : begin + self.samples]
            if len(places) < self._compartments:
                whole = np.zeros((len(block), self._compartments))
                whole[:, places] = block
                block = whole
            parts.append(self._potentials(block))
        return np.concatenate(parts)

    def _potentials(self, currents: FloatArray) -> FloatArray:
        samples = len(currents)
        mine = self._solver.evaluate(np.ascontiguousarray(currents.T))
        mine *= self._scale
        pieces = [mine]
        if len(self._of_ranks) > 1:
            pieces = [np.frombuffer(each) for each in self._communicator.allgather(mine.tobytes())]
        whole = np.zeros((samples, len(self._recorder.contacts)))
        for contacts, piece in zip(self._of_ranks, pieces, strict=True):
            whole[:, contacts] = piece.reshape(len(contacts), samples).T
        return whole

    @property
    def nbytes(self) -> int:
        """Bytes of the solver, with its arrays for all samples that are evaluated at once."""
        copies = 56 * self._compartments + 24 * len(self._recorder.contacts)
        return self._solver.bytes + (self.samples - 1) * self._solver.sample_bytes + copies


def _neutral_currents(first: IntArray) -> FloatArray:
    """Return currents whose sum over each cell is 0, shape ``(1, compartments)``: the same on all machines.

    Their distribution is uniform, by the random numbers of SplitMix64 (Steele, Lea and Flood 2014).
    """
    with np.errstate(over="ignore"):
        z = np.arange(1, first[-1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    currents = (z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0
    sizes = np.diff(first)
    # Nothing would remain of cells with one compartment.
    means = np.add.reduceat(currents, first[:-1]) / sizes
    means[sizes == 1] = 0.0
    return (currents - np.repeat(means, sizes))[np.newaxis, :]
