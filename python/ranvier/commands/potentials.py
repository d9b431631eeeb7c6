"""`ranvier run MODEL --lfp`: the potentials that a probe in a network of point neurons would record."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ranvier.base.names import with_article
from ranvier.base.paths import check_writable
from ranvier.base.values import FloatArray
from ranvier.commands.files_of_users import call_user_code
from ranvier.commands.keys import shipped_networks
from ranvier.errors import FileError, StateError, ValueOutOfBoundsError
from ranvier.network.network import Network
from ranvier.network.recorders import LfpRecorder
from ranvier.networks import NetworkModel, Probe
from ranvier.recording.data import ExtracellularData
from ranvier.recording.files import SUFFIXES
from ranvier.simulation.simulation import Simulation
from ranvier.simulation.unitary_potentials import unitary_potentials

if TYPE_CHECKING:
    from ranvier.figures.style import Figure

__all__ = ["ProbeResults", "add_arguments", "check_arguments", "gather", "record"]

_INTERVAL = 1.0  # ms
_DURATION = 100.0  # ms, of kernels
_SHOWN = 400.0  # ms, in a figure


@dataclass(frozen=True)
class ProbeResults:
    """Potentials at the contacts of a probe, without the pre-simulation."""

    data: ExtracellularData
    start: float
    """End of the pre-simulation, ms."""
    contacts: FloatArray
    """Coordinates of the contacts, um, shape ``(contacts, 3)``."""
    layers: list[str]
    """The layer of each contact."""
    probe: Probe

    @property
    def samples(self) -> FloatArray:
        """Potentials, uV, shape ``(samples, contacts)``."""
        samples: FloatArray = 1e3 * self.data.potentials[self.data.times > self.start]
        return samples

    @property
    def spread(self) -> FloatArray:
        """Standard deviation of the potential at each contact, uV; 0 without samples."""
        samples = self.samples
        return samples.std(axis=0) if len(samples) else np.zeros(len(self.layers))

    def as_json(self) -> dict[str, Any]:
        """Return them for JSON."""
        samples = self.samples
        return {
            "interval_ms": _INTERVAL,
            "contacts_um": self.contacts.tolist(),
            "layers": self.layers,
            "sd_uv": self.spread.tolist(),
            "mean_uv": samples.mean(axis=0).tolist() if len(samples) else [],
        }

    def figure(self, title: str) -> Figure:
        """Draw the traces at the end of the run over the layers, and the deviation at each contact."""
        from ranvier.figures.laminar import laminar

        return laminar(self.data, self.probe.layers, shown=_SHOWN, start=self.start, title=title)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of potentials to the parser of `ranvier run`."""
    parser.add_argument(
        "--lfp",
        action="store_true",
        help="record the potentials at the contacts of the network's probe, by kernels of its populations, which are "
        "calculated with detailed cells; --plot draws them instead of spikes",
    )
    parser.add_argument(
        "--lfp-file", metavar="FILE", type=Path, help="write the potentials to this file (h5, csv), as with --lfp"
    )


def check_arguments(options: argparse.Namespace, model: NetworkModel, time: float) -> None:
    """Refuse potentials of a network without a probe, of a dry run, and without a sample in a simulated time, ms."""
    if not options.lfp and options.lfp_file is None:
        return
    if options.dry_run is not None:
        raise ValueOutOfBoundsError("--lfp", bound="a dry run has no potentials", remedy="leave out one of the two")
    if model.probe is None:
        raise StateError(
            f"potentials of {model.net.name}",
            bound="the network has no probe",
            remedy="leave out --lfp, or return ranvier.networks.NetworkModel(..., probe=...)",
        )
    model.net.to_steps(_INTERVAL, "interval of potentials")
    if time < _INTERVAL:
        raise ValueOutOfBoundsError(
            "key time", f"{time:g} ms", f"--lfp samples potentials every {_INTERVAL:g} ms", "run longer"
        )
    if options.lfp_file is not None:
        check_writable(options.lfp_file, SUFFIXES)


def record(options: argparse.Namespace, model: NetworkModel) -> tuple[LfpRecorder, Probe] | None:
    """Add the recorder of the potentials, if they are wanted, with kernels that are calculated now. Collective."""
    if not options.lfp and options.lfp_file is None:
        return None
    assert model.probe is not None
    make = model.probe
    probe = make() if options.model in shipped_networks() else call_user_code(Path(options.model), make)
    if not isinstance(probe, Probe):
        raise FileError(
            f"file {options.model}",
            bound=f"the probe of its network is {with_article(type(probe).__name__)}",
            remedy="return a ranvier.networks.Probe",
        )
    net: Network = model.net
    templates = {net[name]: template for name, template in probe.templates.items()}
    kernels = unitary_potentials(net, templates, probe.contacts, duration=_DURATION)
    return net.record_lfp(kernels, _INTERVAL, to=options.lfp_file, overwrite=options.lfp_file is not None), probe


def gather(simulation: Simulation, recorded: tuple[LfpRecorder, Probe] | None, presim: float) -> ProbeResults | None:
    """Return the potentials, complete on rank 0; None if they are not recorded. Collective."""
    if recorded is None:
        return None
    recorder, probe = recorded
    data = simulation.extracellular(recorder)
    return ProbeResults(
        data, presim, recorder.contacts, [probe.layer_of(place[2]) for place in recorder.contacts], probe
    )
