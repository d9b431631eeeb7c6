"""Errors for names that do not exist: they suggest the nearest name, or what replaces a name of another simulator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, ParamSpec, TypeVar

from ranvier import _core
from ranvier.base.names import nearest_name, unknown_name, with_article
from ranvier.errors import UnknownAttributeError, UnknownNameError, WrongTypeError

__all__ = ["HINTS", "NamedAttributes", "hint_for", "is_absent", "known_keywords", "refuse_attribute", "unknown_model"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

Explain = Callable[[str, tuple[Any, ...], dict[str, Any], list[str]], None]
"""Gets the name of a call, its arguments by position and by name, and the keywords that it has; may raise an error."""

_SYNAPSE = "write net.connect(..., weight=..., delay=..., synapse=rv.{}(...))"
_SOURCES = ", which is connected like neurons"
_NETWORK = "write net = rv.Network(), then net."
_SIMULATION = "write sim = rv.Simulation(net), then sim."
_VALUES = "give values to each net.create(...), or make a model once: model = rv.iaf_psc_exp(tau_m=...)"

# Models that are absent: names that are separated by spaces, and the hint for them.
_ABSENT = {
    "stdp_facetshw_synapse_hom urbanczik_synapse jonke_synapse eprop_synapse ht_synapse STDPMechanism SpikePairRule": (
        "`ranvier models` lists the synapse models: net.connect(..., weight=..., delay=..., synapse=rv.stdp_pl(...))"
    ),
    "gap_junction GapJunction rate_connection_instantaneous rate_connection_delayed diffusion_connection": (
        "synapses transmit spikes only: neurons cannot be coupled by gap junctions or rates; the compartments of one "
        "rv.Cell are coupled"
    ),
    "hh_psc_alpha_gap": "write rv.hh_psc_alpha; neurons cannot be coupled by gap junctions",
    "hh_cond_beta_gap_traub": "write rv.hh_cond_exp_traub; neurons cannot be coupled by gap junctions",
    "iaf_cond_exp_sfa_rr": (
        'write its equations: rv.neuron("dv/dt = ... : mV", threshold="v >= V_th", reset="v = V_reset", ...); or take '
        "one of the models that `ranvier models` lists, for example iaf_psc_exp"
    ),
    "iaf_cond_alpha_mc iaf_chxk_2008 iaf_tum_2000 iaf_psc_exp_htum iaf_psc_exp_ps iaf_psc_alpha_ps iaf_psc_delta_ps "
    "iaf_psc_exp_ps_lossless ht_neuron gif_pop_psc_exp pp_cond_exp_mc_urbanczik cm_default mcculloch_pitts_neuron "
    "ginzburg_neuron erfc_neuron lin_rate_ipn tanh_rate_ipn siegert_neuron": (
        "take one of the models that `ranvier models` lists, for example iaf_psc_exp, or write equations of a simpler "
        'neuron: rv.neuron("dv/dt = ... : mV", ...)'
    ),
    "poisson_generator_ps step_rate_generator": (
        "`ranvier models` lists the stimulators; net.create_spike_generators(times) plays any spikes"
    ),
}

# Models, devices and functions that have another name here.
_RENAMED = {
    "spike_recorder spike_detector SpikeMonitor": "write net.record_spikes(neurons), then sim.spikes(recorder)",
    "multimeter voltmeter StateMonitor": (
        'write net.record_state(neurons, ["V_m"], interval=1.0), then sim.state(recorder)'
    ),
    "weight_recorder": "write net.record_weights(projection, interval), then sim.weights(recorder)",
    "spike_generator spike_train_injector SpikeGeneratorGroup SpikeSourceArray": (
        f"write net.create_spike_generators(spike_times){_SOURCES}"
    ),
    "SpikeSourcePoisson PoissonGroup": f"write net.create(rv.poisson_generator(rate=...), size){_SOURCES}",
    "SpikeSourceGamma": f"write net.create(rv.gamma_generator(rate=..., shape=...), size){_SOURCES}",
    "gamma_sup_generator": "write rv.gamma_generator(rate=..., shape=...), a process for each target or source",
    "ppd_sup_generator": "write rv.gamma_generator(rate=..., dead_time=...), a process for each target or source",
    "spike_dilutor": "connect sources to parrot_neuron with synapse=rv.bernoulli(p_transmit=...)",
    "parrot_neuron_ps": "write parrot_neuron",
    "PoissonInput": "write net.stimulate(targets, rv.poisson_generator(rate=...), weight=...)",
    "inhomogeneous_poisson": "write rv.inhomogeneous_poisson_generator",
    "static_synapse_hom_w": "synapses are static: write net.connect(..., weight=..., delay=...)",
    "stdp_dopamine_synapse volume_transmitter": (
        "write net.connect(..., synapse=rv.stdp_dopamine(dopamine=population, ...))"
    ),
    "TsodyksMarkramSynapse": _SYNAPSE.format("tsodyks"),
    "iaf_wang_2002_exact": "write rv.iaf_wang_2002, and connect NMDA receptors with synapse=rv.saturating_nmda(...)",
    "NeuronGroup": "write net.create(rv.neuron(equations, threshold=..., reset=..., parameters=...), size)",
    "Equations": "equations are a text: rv.neuron(equations, threshold=..., reset=..., parameters=...)",
    "SpatialNeuron": "write rv.Cell(morphology, ...), then net.create(cell, size)",
    "IF_curr_exp": "write rv.iaf_psc_exp",
    "IF_curr_alpha": "write rv.iaf_psc_alpha",
    "IF_curr_delta": "write rv.iaf_psc_delta",
    "IF_cond_exp": "write rv.iaf_cond_exp",
    "IF_cond_alpha": "write rv.iaf_cond_alpha",
    "EIF_cond_exp_isfa_ista": "write rv.aeif_cond_exp",
    "EIF_cond_alpha_isfa_ista": "write rv.aeif_cond_alpha",
    "GIF_cond_exp": "write rv.gif_cond_exp(stc=3, sfa=3)",
    "HH_cond_exp": "write rv.hh_cond_exp_traub",
    "Hodgkin_Huxley": "write rv.hh_psc_alpha, or rv.hh_cond_exp_traub",
    "Izhikevich": "write rv.izhikevich",
    "AdEx": "write rv.aeif_psc_exp, or rv.aeif_cond_exp",
    "Create": f"{_NETWORK}create(model, size)",
    "Connect Synapses": "write net.connect(sources, targets, rule, weight=..., delay=...)",
    "Disconnect": "synapses cannot be removed: build a network without them",
    "Simulate Run run simulate": f"{_SIMULATION}run(duration)",
    "Prepare": "write sim = rv.Simulation(net)",
    "Cleanup": "no cleanup is needed: delete the simulation",
    "ResetKernel": "there is no global state: make another rv.Network()",
    "SetKernelStatus setup": "write rv.Network(resolution=..., seed=...) and rv.Simulation(net, threads=...)",
    "GetKernelStatus": "read attributes of the network or the simulation: net.resolution, sim.time, sim.threads",
    "set SetStatus": (
        "write net.set(population, ...) before a simulation is built, sim.set(population, ...) while it runs"
    ),
    "SetDefaults CopyModel": _VALUES,
    "GetStatus": "write sim.get(population, names)",
    "GetDefaults": "write rv.iaf_psc_exp(), or run `ranvier models iaf_psc_exp`",
    "GetConnections SynapseCollection": "write sim.connections(sources, targets)",
    "NodeCollection": "net.create(...) returns a population; views of it are population[10:20]",
    "raster_plot": "write rv.plot.raster(sim.spikes(recorder))",
    "random": "write rv.Normal, rv.LogNormal, rv.Uniform or rv.Exponential as a value",
    "record": "write net.record_spikes(neurons) or net.record_state(neurons, variables)",
    "record_spike": "write net.record_spikes(neurons)",
    "record_v": 'write net.record_state(neurons, "V_m")',
}

HINTS: Mapping[str, str] = {name: hint for names, hint in {**_ABSENT, **_RENAMED}.items() for name in names.split()}
"""Hints for names of other simulators, by name."""


def is_absent(name: str) -> bool:
    """Return whether another simulator has a model of that name for which there is no counterpart."""
    return any(name in names.split() for names in _ABSENT)


def hint_for(name: str) -> str:
    """Return the hint for a name of another simulator; empty if there is none."""
    stem = name.removesuffix("_hom").removesuffix("_synapse")
    if stem != name and any(model.name == stem for model in _core.synapse_models()):
        return _SYNAPSE.format(stem)
    return HINTS.get(name, "")


def unknown_model(kind: str, name: str, known: Collection[str]) -> NoReturn:
    """Raise an UnknownNameError for a model; its remedy is a hint, or the nearest of the known names."""
    if hint := hint_for(name):
        bound = "this model is absent so far" if is_absent(name) else f"no {kind} has this name"
        raise UnknownNameError(kind, f"'{name}'", bound, hint)
    unknown_name(kind, name, sorted(known))


def refuse_attribute(kind: str, name: str, known: Collection[str], hint: str = "", otherwise: str = "") -> NoReturn:
    """Raise an UnknownAttributeError whose remedy is a hint, the nearest of the known names, or `otherwise`."""
    remedy = hint or hint_for(name)
    if not remedy:
        nearest = nearest_name(name, known)
        remedy = f"did you mean '{nearest}'?" if nearest else otherwise or f"it has {', '.join(sorted(known))}"
    bound = "this model is absent so far" if is_absent(name) else "this name does not exist"
    raise UnknownAttributeError(kind, ascii(name), bound, remedy)


class NamedAttributes:
    """Base of classes for users: reading an attribute that does not exist raises an error with a hint."""

    _hints: ClassVar[Mapping[str, str]] = {}
    """Hints for names that do not exist in this class."""

    # Hidden from type checkers, which would take any name for an attribute.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            # Python looks up private names, also in incomplete objects. If the class has the name, a property raised
            # an AttributeError: the second lookup raises it again.
            if not name.startswith("_") and not hasattr(type(self), name):
                known = [each for each in {**dict.fromkeys(dir(type(self))), **vars(self)} if not each.startswith("_")]
                refuse_attribute(f"attribute of {with_article(type(self).__name__)}", name, known, self._hint(name))
            return object.__getattribute__(self, name)

    def _hint(self, name: str) -> str:
        """Return what to do instead of reading an attribute that does not exist; empty if that is not known."""
        return self._hints.get(name, "")


def known_keywords(call: Callable[Arguments, Result], explain: Explain | None = None) -> Callable[Arguments, Result]:
    """Return a function that raises a typed error, with the nearest keyword, for arguments that do not fit.

    Arguments are inspected only after a call has failed; `explain` may then raise a better error.
    """
    signature = inspect.signature(call)
    parameters = [each for each in signature.parameters.values() if each.name != "self"]
    known = [each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY]
    takes_others = any(each.kind is each.VAR_KEYWORD for each in parameters)

    @functools.wraps(call)
    def checked(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Result:
        try:
            return call(*arguments, **keywords)
        except (TypeError, UnknownNameError) as raised:
            # A constructor is called by the name of the class, which may derive from that of the function.
            is_constructor = call.__name__ == "__init__" and bool(arguments)
            name = type(arguments[0]).__name__ if is_constructor else call.__qualname__
            if explain is not None:
                explain(name, arguments, keywords, known)
            if isinstance(raised, UnknownNameError):
                raise
            for keyword in keywords:
                if keyword not in known and not takes_others:
                    unknown_name(f"keyword of {name}()", keyword, known)
            try:
                signature.bind(*arguments, **keywords)
            except TypeError as error:
                raise WrongTypeError(f"arguments of {name}()", bound=str(error)) from None
            raise

    return checked
