"""Recorders of a network: handles that describe what a simulation of the network records."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import Immutable
from ranvier.base.names import counted, some_names
from ranvier.base.times import text_of
from ranvier.network.potential_kernels import PotentialKernel
from ranvier.network.projections import Projection
from ranvier.populations.populations import PopulationView, population_names, text_of_cells
from ranvier.space.boundary import BoundaryPlane
from ranvier.space.contacts import ContactLabels

__all__ = [
    "CompartmentRecorder",
    "DipoleRecorder",
    "ExtracellularRecorder",
    "LfpRecorder",
    "Recorder",
    "SpikeRecorder",
    "StateRecorder",
    "WeightRecorder",
    "sample_bytes",
]

Kind = Literal["spikes", "state", "weights"]
_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes"))


def sample_bytes(values: int) -> int:
    """Return the bytes of a sample with this number of values, including its step."""
    return 8 * (values + 1)


class Recorder(Immutable, ABC):
    """Base of all recorders.

    Attributes
    ----------
    network
        The network that it records from.
    index
        Index among the recorders of this kind in the core.
    to
        The file that it writes to; None: the simulation keeps the recording in memory.
    overwrite
        Whether it may replace an existing file.
    """

    kind: Kind
    network: Any
    index: int
    to: Path | None
    overwrite: bool
    _remedy = "a recorder cannot be changed: add another one to the network"
    _hints: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (
            "data",
            "events",
            "get",
            "get_data",
            "moments",
            "n_events",
            "potentials",
            "samples",
            "spikes",
            "state",
            "times",
        ),
        "a simulation has what it records: sim.spikes(recorder), sim.state(recorder), sim.weights(recorder), "
        "sim.extracellular(recorder) or sim.dipole(recorder)",
    )

    def __init__(self, network: Any, index: int, values: Mapping[str, Any]) -> None:
        self._put(network=network, index=index, **values)

    def _title(self) -> str:
        return f"recorder of {self.description}"

    @property
    @abstractmethod
    def description(self) -> str:
        """Recorded values and neurons, in a line."""

    @property
    def bytes_per_second(self) -> float:
        """Bytes that it records in a simulated second: exact for state, expected for weights, NaN for spikes."""
        return math.nan

    @property
    def cost(self) -> str:
        """Data per simulated second as text, ``"80 MB/s"``; empty for spikes, whose number is not known."""
        size = self.bytes_per_second
        if math.isnan(size):
            return ""
        scale, unit = next((each for each in _UNITS if size >= each[0]), _UNITS[-1])
        return f"{size / scale:.3g} {unit}/s"

    def __repr__(self) -> str:
        cost = f", {self.cost}" if self.cost else ""
        to = f" to {self.to}" if self.to else ""
        return f"<{type(self).__name__}: {self.description}{cost}{to}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _recorder_of, (self.network, self.network.recorders.index(self))


def _recorder_of(network: Any, place: int) -> Recorder:
    recorder: Recorder = network.recorders[place]
    return recorder


class SpikeRecorder(Recorder):
    """Records the spikes of some neurons.

    Attributes
    ----------
    neurons
        The populations and views whose rates are computed.
    """

    kind = "spikes"
    neurons: tuple[PopulationView, ...]

    @property
    def description(self) -> str:
        """Recorded values and neurons, in a line."""
        return "spikes of " + some_names([selection.name for selection in self.neurons])


class StateRecorder(Recorder):
    """Records state variables of some neurons.

    Attributes
    ----------
    neurons
        The neurons, as a population or a view.
    ids
        Global ids of the neurons, ascending.
    variables
        Names of the state variables.
    interval
        Sampling interval, ms; samples are taken at multiples of it.
    """

    kind = "state"
    neurons: PopulationView
    ids: npt.NDArray[np.int64]
    variables: tuple[str, ...]
    interval: float

    def __init__(self, network: Any, index: int, values: Mapping[str, Any]) -> None:
        super().__init__(network, index, values)
        self._put(ids=self.neurons.ids)

    @property
    def sums_neurons(self) -> bool:
        """Whether samples are sums over the neurons."""
        return False

    @property
    def bytes_per_second(self) -> float:
        """Bytes that it records in a simulated second."""
        return sample_bytes(len(self.variables) * len(self.ids)) * 1000.0 / self.interval

    @property
    def population_names(self) -> str:
        """Names of the populations that the neurons belong to, in one line."""
        return population_names(self.neurons)

    @property
    def description(self) -> str:
        """Recorded values and neurons, in a line."""
        neurons = f"{counted(len(self.ids), 'neuron')} of {self.population_names}"
        return f"{', '.join(self.variables)} of {neurons} every {text_of(self.interval)} ms"


class CompartmentRecorder(StateRecorder):
    """Records variables of all compartments of cells.

    Attributes
    ----------
    neurons
        The cells, as a population or a view.
    ids
        Global ids of the cell of each compartment, ascending.
    compartments
        Index of each compartment in its cell.
    variables
        Names of the variables.
    interval
        Sampling interval, ms; samples are taken at multiples of it.
    """

    compartments: npt.NDArray[np.int64]

    def __init__(
        self, network: Any, index: int, values: Mapping[str, Any], first_compartments: npt.NDArray[np.int64]
    ) -> None:
        super().__init__(network, index, values)
        sizes = np.diff(first_compartments)
        self._put(
            ids=np.repeat(self.ids, sizes),
            compartments=np.arange(first_compartments[-1]) - np.repeat(first_compartments[:-1], sizes),
        )

    @property
    def description(self) -> str:
        """Recorded values and neurons, in a line."""
        compartments = f"{counted(len(self.ids), 'compartment')} of {text_of_cells(self.neurons)}"
        return f"{', '.join(self.variables)} of {compartments} every {text_of(self.interval)} ms"


class ExtracellularRecorder(StateRecorder):
    """Records potentials outside of cells.

    Attributes
    ----------
    neurons
        The cells whose membrane currents act, as a population or a view.
    ids
        Numbers of the contacts, from 0.
    contacts
        Coordinates of the contacts, um, shape ``(contacts, 3)``.
    labels
        ``labels.grid_shape``, ``labels.contact_names`` and ``labels.shanks`` as in `ExtracellularData`.
    sigma
        Conductivity of the medium, S/m.
    inside
        ``"error"`` or ``"surface"``: what is done with contacts within cells.
    boundary
        The plane at which the medium ends; None: nowhere.
    method
        ``"matrix"`` or ``"fmm"``, the one that was chosen.
    accuracy
        Of the method ``"fmm"``; 0 for the matrix, which is exact.
    variables
        ``("V_e",)``, the potential, mV.
    interval
        Sampling interval, ms; samples are taken at multiples of it.
    """

    contacts: npt.NDArray[np.float64]
    labels: ContactLabels
    sigma: float
    inside: Literal["error", "surface"]
    boundary: BoundaryPlane | None
    method: Literal["matrix", "fmm"]
    accuracy: float

    def __init__(self, network: Any, index: int, values: Mapping[str, Any]) -> None:
        super().__init__(network, index, values)
        self._put(variables=("V_e",), ids=np.arange(len(self.contacts)))

    @property
    def sums_neurons(self) -> bool:
        """Whether samples are sums over the neurons."""
        return True

    @property
    def description(self) -> str:
        """Recorded values and neurons, in a line."""
        cells = text_of_cells(self.neurons)
        accuracy = f", to an accuracy of {self.accuracy:g}" if self.method == "fmm" else ""
        return f"V_e at {counted(len(self.ids), 'contact')} of {cells} every {text_of(self.interval)} ms{accuracy}"


class DipoleRecorder(StateRecorder):
    """Records current dipole moments of cells.

    Attributes
    ----------
    neurons
        The cells, as a population or a view.
    ids
        Global ids of the cells; for their sum, that of the first one.
    per_cell
        Whether it records the moment of each cell, and not their sum.
    variables
        ``("P_x", "P_y", "P_z")``, nA um.
    interval
        Sampling interval, ms; samples are taken at multiples of it.
    """

    per_cell: bool

    def __init__(self, network: Any, index: int, values: Mapping[str, Any]) -> None:
        super().__init__(network, index, values)
        self._put(variables=("P_x", "P_y", "P_z"))
        if not self.per_cell:
            self._put(ids=self.ids[:1])

    @property
    def sums_neurons(self) -> bool:
        """Whether samples are sums over the neurons."""
        return not self.per_cell

    @property
    def description(self) -> str:
        """Recorded values and neurons, in a line."""
        which = "each of " if self.per_cell else ""
        return f"dipole moment of {which}{text_of_cells(self.neurons)} every {text_of(self.interval)} ms"


class LfpRecorder(StateRecorder):
    """Records potentials that follow from the spikes of populations, by kernels.

    Attributes
    ----------
    neurons
        The neurons whose spikes act, as a population or a view.
    kernels
        The kernel of each population, in the order of the ids.
    ids
        Numbers of the contacts, from 0.
    contacts, labels, sigma
        Those of the kernels, as in `ExtracellularRecorder`; sigma is NaN if it is not known.
    variables
        ``("V_e",)``, the potential, mV.
    interval
        Sampling interval, ms; samples are taken at multiples of it.
    """

    kernels: tuple[tuple[PopulationView, PotentialKernel], ...]
    contacts: npt.NDArray[np.float64]
    labels: ContactLabels
    sigma: float

    def __init__(self, network: Any, index: int, values: Mapping[str, Any]) -> None:
        Recorder.__init__(self, network, index, values)
        first = self.kernels[0][1]
        sigmas = {kernel.sigma for _, kernel in self.kernels}
        self._put(
            variables=("V_e",),
            contacts=first.contacts,
            labels=first.labels,
            sigma=first.sigma if len(sigmas) == 1 else math.nan,
            ids=np.arange(len(first.contacts)),
        )

    @property
    def sums_neurons(self) -> bool:
        """Whether samples are sums over the neurons."""
        return True

    @property
    def bin(self) -> float:
        """Length of the bins in which spikes are counted, the interval of the kernels, ms."""
        return self.kernels[0][1].interval

    @property
    def bytes_per_second(self) -> float:
        """Bytes that it records in a simulated second, with the numbers of spikes that it is calculated from."""
        return super().bytes_per_second + sample_bytes(len(self.kernels)) * 1000.0 / self.bin

    @property
    def description(self) -> str:
        """Recorded values and neurons, in a line."""
        contacts = counted(len(self.ids), "contact")
        return f"V_e at {contacts} by kernels of {self.population_names} every {text_of(self.interval)} ms"


class WeightRecorder(Recorder):
    """Records the weights of synapses of one projection.

    Attributes
    ----------
    projection
        The projection whose synapses are recorded.
    interval
        Sampling interval, ms; samples are taken at multiples of it.
    sources, targets
        Only synapses from these sources and to these targets are recorded; None: from or to any.
    """

    kind = "weights"
    projection: Projection
    interval: float
    sources: PopulationView | None
    targets: PopulationView | None

    @property
    def bytes_per_second(self) -> float:
        """Bytes that it records in a simulated second, expected."""
        return sample_bytes(round(self.expected_synapses)) * 1000.0 / self.interval

    @property
    def expected_synapses(self) -> float:
        """Number of recorded synapses; for a part of the neurons, estimated for evenly distributed synapses."""
        part = 1.0
        for chosen, all_of_them in ((self.sources, self.projection.sources), (self.targets, self.projection.targets)):
            if chosen is not None and len(all_of_them):
                part *= min(1.0, len(chosen) / len(all_of_them))
        return part * self.projection.expected_synapses

    @property
    def description(self) -> str:
        """Recorded values and neurons, in a line."""
        return f"weights of {self.projection.name} every {text_of(self.interval)} ms"
