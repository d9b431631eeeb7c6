"""Ranvier: a simulator of spiking neuronal networks.

Describe a `Network`, build a `Simulation` of it, run the simulation, and read what its recorders have recorded.

>>> import ranvier as rv
>>> net = rv.Network(resolution=0.1, seed=1)
>>> exc = net.create(rv.iaf_psc_exp(), 800, name="exc")
>>> drive = net.stimulate(exc, rv.poisson_generator(rate=8000.0), weight=60.0)
>>> recurrent = net.connect(exc, exc, rv.FixedIndegree(80), weight=20.0, delay=rv.Normal(1.5, 0.5, low=0.1))
>>> spikes = net.record_spikes()
>>> sim = rv.Simulation(net)
>>> sim.run(1000.0)
>>> sim.spikes(spikes).mean_rates()
"""

import importlib
from typing import TYPE_CHECKING, Any

from ranvier import errors, networks
from ranvier._core import source_revision as __source_revision__
from ranvier._core import version as __version__
from ranvier.base.distributions import Distribution, Exponential, LogNormal, Normal, Uniform
from ranvier.base.names import nearest_name
from ranvier.cells.cell import Cell
from ranvier.cells.clamps import Clamp, current_clamp, voltage_clamp
from ranvier.cells.compartments import d_lambda, max_length
from ranvier.cells.locations import places_at_distance, random_places
from ranvier.cells.models import *  # noqa: F403
from ranvier.cells.models import __all__ as _cell_models
from ranvier.cells.morphology import Morphology, Section
from ranvier.cells.per_cell import per_cell
from ranvier.cells.places import Place, Region, at, everywhere, sections, tagged, within_distance
from ranvier.cells.reading import read_morphology
from ranvier.channels.channel import ChannelMechanism, EquationChannel, channel
from ranvier.channels.receptor import EquationReceptor, ReceptorMechanism
from ranvier.equations.model import EquationNeuron, neuron
from ranvier.equations.models import *  # noqa: F403
from ranvier.equations.models import __all__ as _equation_models
from ranvier.equations.parameters import parameter
from ranvier.equations.synapse import EquationSynapse, synapse
from ranvier.models import *  # noqa: F403
from ranvier.models import __all__ as _models
from ranvier.network.network import Network
from ranvier.network.other_simulators import ABSENT_MODELS, IN_PLACE_OF_CALLS, IN_PLACE_OF_MODELS
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.network.rules import (
    AllToAll,
    Explicit,
    FixedIndegree,
    FixedOutdegree,
    FixedTotalNumber,
    NearestNeighbors,
    OneToOne,
    PairwiseBernoulli,
    Rule,
    UniformIndegree,
)
from ranvier.network.sites import SiteProbabilities
from ranvier.populations.populations import Population, PopulationView
from ranvier.recording.activity import PopulationRate, PowerSpectrum
from ranvier.recording.correlations import CrossCorrelogram, PeristimulusHistogram
from ranvier.recording.data import SpikeData, StateData, WeightData
from ranvier.recording.reading import read_spikes, read_state, read_weights
from ranvier.recording.segments import Segment
from ranvier.recording.spike_trains import read_spike_trains
from ranvier.simulation.connections import Connections
from ranvier.simulation.measurements import Counts
from ranvier.simulation.options import DryRun, Processes, Tuning
from ranvier.simulation.predictions import predict_memory
from ranvier.simulation.progress import ProgressReport
from ranvier.simulation.simulation import Simulation

if TYPE_CHECKING:
    from ranvier import plot
    from ranvier.channels.nmodl import read_nmodl
    from ranvier.nestml.reading import read_nestml

__all__ = [
    "AllToAll",
    "Cell",
    "ChannelMechanism",
    "Clamp",
    "Connections",
    "Counts",
    "CrossCorrelogram",
    "Distribution",
    "DryRun",
    "EquationChannel",
    "EquationNeuron",
    "EquationReceptor",
    "EquationSynapse",
    "Explicit",
    "Exponential",
    "FixedIndegree",
    "FixedOutdegree",
    "FixedTotalNumber",
    "LogNormal",
    "Morphology",
    "NearestNeighbors",
    "Network",
    "Normal",
    "OneToOne",
    "PairwiseBernoulli",
    "PeristimulusHistogram",
    "PopulationRate",
    "PowerSpectrum",
    "Place",
    "Population",
    "PopulationView",
    "Processes",
    "ProgressReport",
    "Projection",
    "ReceptorMechanism",
    "Region",
    "Rule",
    "Section",
    "Segment",
    "Simulation",
    "SiteProbabilities",
    "SpikeData",
    "SpikeRecorder",
    "StateData",
    "StateRecorder",
    "Stimulus",
    "Tuning",
    "Uniform",
    "UniformIndegree",
    "WeightData",
    "WeightRecorder",
    "__source_revision__",
    "__version__",
    "at",
    "channel",
    "current_clamp",
    "d_lambda",
    "errors",
    "everywhere",
    "max_length",
    "networks",
    "neuron",
    "parameter",
    "per_cell",
    "places_at_distance",
    "plot",
    "predict_memory",
    "random_places",
    "read_morphology",
    "read_nestml",
    "read_nmodl",
    "read_spike_trains",
    "read_spikes",
    "read_state",
    "read_weights",
    "sections",
    "synapse",
    "tagged",
    "voltage_clamp",
    "within_distance",
    *_cell_models,
    *_equation_models,
    *_models,
]


# What few programs use, and takes a while to load.
_READERS = {"read_nestml": "ranvier.nestml.reading", "read_nmodl": "ranvier.channels.nmodl"}


def __getattr__(name: str) -> Any:
    # Loading matplotlib takes longer than loading all the rest, and many runs on a cluster draw nothing.
    if name == "plot":
        return importlib.import_module("ranvier.plot")
    if name in _READERS:
        return getattr(importlib.import_module(_READERS[name]), name)
    if name.startswith("_"):
        # Python looks for names of its own.
        raise AttributeError(f"module 'ranvier' has no attribute {name!r}", name=name)
    value = ascii(name)
    if name in ABSENT_MODELS:
        raise errors.UnknownAttributeError("name in ranvier", value, "this model is absent so far", ABSENT_MODELS[name])
    remedy = IN_PLACE_OF_MODELS.get(name) or IN_PLACE_OF_CALLS.get(name)
    if not remedy:
        nearest = nearest_name(name, __all__)
        remedy = f"did you mean '{nearest}'?" if nearest else "dir(ranvier) lists the names that there are"
    raise errors.UnknownAttributeError("name in ranvier", value, "this name does not exist", remedy)


def __dir__() -> list[str]:
    return sorted(__all__)
