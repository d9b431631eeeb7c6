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
from importlib.util import find_spec
from typing import Any, NoReturn

# What the package offers, by the module that defines it. A module is loaded when the first of its names is used, so
# that a command loads what it needs only. `make stub` writes __init__.pyi of this for editors and type checkers.
_NAMES = {
    "base.distributions": ("Distribution", "Exponential", "LogNormal", "Normal", "Uniform"),
    "base.formulas": (
        *("Composite", "Formula", "clip", "cos", "exp", "log", "maximum", "minimum", "redraw", "sin", "sqrt"),
    ),
    "cells.cell": ("Cell",),
    "cells.clamps": ("Clamp", "current_clamp", "voltage_clamp"),
    "cells.compartments": ("d_lambda", "max_length"),
    "cells.locations": ("places_at_distance", "random_places"),
    "cells.morphology": ("Morphology", "Section"),
    "cells.per_cell": ("per_cell",),
    "cells.places": ("Place", "Region", "at", "everywhere", "sections", "tagged", "within_distance"),
    "cells.reading": ("read_morphology",),
    "channels.channel": ("ChannelMechanism", "EquationChannel", "channel"),
    "channels.nmodl": ("read_nmodl",),
    "channels.receptor": ("EquationReceptor", "ReceptorMechanism"),
    "equations.expression": ("Expression",),
    "equations.files": ("read_neuron",),
    "equations.model": ("EquationNeuron", "neuron"),
    "equations.parameters": ("parameter",),
    "equations.synapse": ("EquationSynapse", "synapse"),
    "nestml.reading": ("read_nestml",),
    "network.connection_sets": ("ConnectionSet",),
    "network.edge_files": ("EdgeFile",),
    "network.fields": ("AppliedField", "CellCoupling"),
    "network.function_rules": ("FunctionRule", "MadeRule"),
    "network.listed_rules": ("FromMatrix",),
    "network.network": ("Network",),
    "network.potential_kernels": ("PotentialKernel",),
    "network.templates": ("CellTemplate",),
    "populations.distances": ("displacement", "distance"),
    "populations.populations": ("Population", "PopulationView"),
    "network.projections": ("Projection", "Stimulus"),
    "network.recorders": (
        "CompartmentRecorder",
        "DipoleRecorder",
        "ExtracellularRecorder",
        "LfpRecorder",
        "SpikeRecorder",
        "StateRecorder",
        "WeightRecorder",
    ),
    "network.reversed_rules": ("Reversed",),
    "network.rule_base": ("Rule",),
    "network.sites": ("SiteProbabilities",),
    "recording.activity": ("PopulationRate", "PowerSpectrum"),
    "recording.correlations": ("CrossCorrelogram", "PeristimulusHistogram"),
    "recording.data": ("CompartmentData", "DipoleData", "ExtracellularData", "SpikeData", "StateData", "WeightData"),
    "recording.potential_analysis": ("CurrentSourceDensity", "SpikeTriggeredAverage"),
    "recording.reading": ("read_spikes", "read_state", "read_weights"),
    "recording.segments": ("Segment",),
    "recording.spike_trains": ("read_spike_trains",),
    "space.boundary": ("BoundaryPlane",),
    "space.contacts": ("laminar_probe",),
    "network.given_fields": (
        "OutsideField",
        "given_field",
        "point_source",
        "read_field",
        "sampled_field",
        "uniform_field",
    ),
    "space.layers": ("Layers", "layers"),
    "space.histograms": ("DistanceHistogram",),
    "space.kernels": ("KernelFit",),
    "space.masks": ("Mask", "ball", "box", "circle", "donut", "ellipse", "ellipsoid", "grid_mask", "rectangle"),
    "space.positions": (
        "Grid",
        "GivenPositions",
        "Positions",
        "RandomPositions",
        "grid",
        "positions",
        "random_positions",
    ),
    "space.rotations": ("Rotation", "random_rotation", "rotation"),
    "network.waveforms": ("Waveform", "pulse_train", "sine_wave", "waveform"),
    "simulation.measurements": ("Counts",),
    "simulation.connections": ("Connections",),
    "simulation.options": ("DryRun", "Processes", "Tuning"),
    "simulation.predictions": ("predict_memory",),
    "simulation.progress": ("ProgressReport",),
    "simulation.simulation": ("Simulation",),
    "simulation.unitary_potentials": ("unitary_potentials",),
    "simulation.trace": ("Trace", "TraceAccount"),
}
_MODELS = ("network.rules", "models", "cells.models", "equations.models")
_MODULES = ("errors", "networks", "plot")
_BUILD = {"__source_revision__": "source_revision", "__version__": "version"}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        value: Any = _all_names()
    else:
        module, attribute = _place_of(name)
        value = importlib.import_module(f"{__name__}.{module}")
        value = getattr(value, attribute) if attribute else value
    globals()[name] = value
    return value


def _all_names() -> list[str]:
    models = [name for module in _MODELS for name in importlib.import_module(f"{__name__}.{module}").__all__]
    return sorted([*models, *(name for names in _NAMES.values() for name in names), *_MODULES, *_BUILD])


def _place_of(name: str) -> tuple[str, str]:
    """Return the module that a name is in, and its name there; the second is empty for a module itself."""
    if name in _BUILD:
        return "_core", _BUILD[name]
    for module, names in _NAMES.items():
        if name in names:
            return module, name
    if name.startswith("_"):
        # Python itself looks for some, such as __wrapped__.
        raise AttributeError(f"module 'ranvier' has no attribute {name!r}", name=name)
    if name.isidentifier() and find_spec(f"{__name__}.{name}"):
        return name, ""
    for module in _MODELS:
        if name in importlib.import_module(f"{__name__}.{module}").__all__:
            return module, name
    return _raise_unknown(name)


def _raise_unknown(name: str) -> NoReturn:
    from ranvier.base.hints import refuse_attribute

    refuse_attribute("name in ranvier", name, _all_names(), otherwise="dir(ranvier) lists all names")


def __dir__() -> list[str]:
    return _all_names()
