"""Attributes and models that do not exist: typed errors, which are AttributeErrors, that tell what was meant."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import ranvier as rv
from bad_input import check
from ranvier.base.hints import hint_for, hints
from ranvier.equations.neurons import NAMES
from ranvier.errors import UnknownAttributeError, UnknownNameError, WrongTypeError


class Parts:
    """A network with one of everything, and a simulation of it."""

    def __init__(self) -> None:
        self.net = rv.Network()
        self.exc = self.net.create("iaf_psc_exp", 4, name="exc", C_m=200.0)
        self.projection = self.net.connect(self.exc, self.exc, "one_to_one")
        self.drive = self.net.stimulate(self.exc, rv.poisson_generator(rate=1.0))
        self.recorder = self.net.record_spikes()
        self.sim = rv.Simulation(self.net, threads=1)


@pytest.fixture(scope="module")
def parts() -> Parts:
    return Parts()


WRONG: list[tuple[Callable[[Parts], Any], str, str]] = [
    (lambda parts: parts.net, "conect", "did you mean 'connect'?"),
    (lambda parts: parts.net, "Create", "write net.create("),
    (lambda parts: parts.net, "Connect", "write net.connect("),
    (lambda parts: parts.net, "record_spike", "write net.record_spikes("),
    (lambda parts: parts.net, "SetStatus", "write net.set("),
    (lambda parts: parts.sim, "simulate", "write sim.run("),
    (lambda parts: parts.sim, "Simulate", "write sim.run("),
    (lambda parts: parts.sim, "spiks", "did you mean 'spikes'?"),
    (lambda parts: parts.sim, "connect", "write net.connect("),
    (lambda parts: parts.exc, "I_e", 'write sim.get(population, "I_e")'),
    (lambda parts: parts.exc[1:3], "V_m", 'write sim.get(population, "V_m")'),
    (lambda parts: parts.exc, "nmae", "did you mean 'name'?"),
    (
        lambda parts: parts.exc,
        "colour_of_the_dots",
        "it has cell, cell_geometry, compartment_count, compartment_lines, first_id, ids,",
    ),
    (lambda parts: parts.exc.values, "C_m", 'write values["C_m"]'),
    (lambda parts: parts.projection, "weigth", "did you mean 'weight'?"),
    (lambda parts: parts.projection, "weights", "write sim.connections("),
    (lambda parts: parts.drive, "rate", 'write stimulus.values["rate"]'),
    (lambda parts: parts.recorder, "events", "sim.spikes(recorder)"),
    (lambda parts: parts.sim.spikes(parts.recorder), "senders", "write data.ids"),
    (lambda parts: parts.sim.connections(), "weight", "did you mean 'weights'?"),
    (lambda parts: rv.iaf_psc_exp(), "tau_m", '.values["tau_m"]'),
    (lambda parts: rv.iaf_psc_exp(), "tau_M", '.values["tau_m"]'),
    (lambda parts: rv.FixedIndegree(3), "indegre", "did you mean 'indegree'?"),
    (lambda parts: rv.FixedIndegree(3), "autapses", "did you mean 'allow_autapses'?"),
    (lambda parts: rv.Normal(0.0, 1.0), "sigma", "it has high, low, mean, mode, std"),
    (lambda parts: rv.Tuning(), "shard", "did you mean 'shards'?"),
    (lambda parts: rv, "Create", "net.create("),
    (lambda parts: rv, "Simulatoin", "did you mean 'Simulation'?"),
    (lambda parts: rv, "spike_recorder", "net.record_spikes("),
    (lambda parts: rv, "urbanczik_synapse", "lists the synapse models"),
    (lambda parts: rv, "stdp_synapse", "synapse=rv.stdp(...)"),
    (lambda parts: rv, "iaf_cond_exp_sfa_rr", "rv.neuron("),
    (lambda parts: rv, "ginzburg_neuron", "iaf_psc_exp"),
    (lambda parts: rv, "NeuronGroup", "rv.neuron("),
]


@pytest.mark.parametrize(("get", "name", "remedy"), WRONG, ids=[name for _, name, _ in WRONG])
def test_the_error_tells_what_was_meant(parts: Parts, get: Callable[[Parts], Any], name: str, remedy: str) -> None:
    thing = get(parts)
    with pytest.raises(UnknownAttributeError) as caught:
        getattr(thing, name)
    check(caught.value, f"'{name}'", remedy)
    assert isinstance(caught.value, AttributeError)
    assert isinstance(caught.value, UnknownNameError)
    assert not hasattr(thing, name)
    assert getattr(thing, name, 7) == 7


def test_private_names_are_left_to_python(parts: Parts) -> None:
    for thing in (parts.net, parts.sim, parts.exc, parts.recorder, parts.sim.connections(), rv.Tuning(), rv):
        for name in ("_repr_png_", "__length_hint__", "_ipython_display_"):
            with pytest.raises(AttributeError) as caught:
                getattr(thing, name)
            assert not isinstance(caught.value, UnknownAttributeError)


def test_what_a_property_raises_is_not_hidden() -> None:
    net = rv.Network()
    joined = net.create("iaf_psc_exp", 1, name="a") + net.create("iaf_psc_exp", 1, name="b")
    for _ in range(2):
        with pytest.raises(rv.errors.RanvierError, match="a \\+ b") as caught:
            _ = joined.population
        assert not isinstance(caught.value, UnknownAttributeError)


def test_what_has_these_errors_is_copied_and_pickled(parts: Parts) -> None:
    for thing in (parts.net, rv.iaf_psc_exp(tau_m=3.0), rv.Tuning(shards=3)):
        assert pickle.loads(pickle.dumps(thing)) == thing
        assert copy.deepcopy(thing) == thing
    again = pickle.loads(pickle.dumps(parts.net.populations))
    assert again[0].name == "exc"


@pytest.mark.parametrize("name", ["iaf_cond_exp_sfa_rr", "NeuronGroup", "spike_recorder", "IF_curr_exp"])
def test_models_of_others_are_told_from_slips_of_the_finger(name: str) -> None:
    net = rv.Network()
    with pytest.raises(UnknownNameError) as caught:
        net.create(name, 1)
    check(caught.value, f"'{name}'", hint_for(name))
    assert not net.populations


@pytest.mark.parametrize("name", ["step_rate_generator", "poisson_generator_ps", "spike_generator"])
def test_stimulators_of_others_too(parts: Parts, name: str) -> None:
    before = len(parts.net.stimuli)
    with pytest.raises(UnknownNameError) as caught:
        parts.net.stimulate(parts.exc, name)
    check(caught.value, f"'{name}'", hint_for(name))
    assert len(parts.net.stimuli) == before


def test_no_hint_is_for_a_name_that_exists() -> None:
    """A hint for a neuron of equations has no effect once there is its file, which is all that such a model needs."""
    names = {name for kind in hints().values() for name in kind}
    assert {*rv.__all__, *rv.models.NEURON_MODELS, *rv.models.STIMULATORS} & names <= set(NAMES)


@pytest.mark.parametrize(
    "name", ["stdp", "stdp_pl", "stdp_nn_symm", "stdp_triplet", "clopath", "tsodyks2", "bernoulli"]
)
def test_synapses_of_nest_are_suggested_by_their_names_here(parts: Parts, name: str) -> None:
    for suffix in ("_synapse", "_synapse_hom"):
        with pytest.raises(UnknownNameError) as caught:
            parts.net.connect(parts.exc, parts.exc, "one_to_one", synapse=f"{name}{suffix}")
        check(caught.value, f"'{name}{suffix}'", f"synapse=rv.{name}(...)")


def test_parts_of_a_network_by_name(parts: Parts) -> None:
    with pytest.raises(WrongTypeError) as caught:
        parts.net.populations["exc"]  # type: ignore[call-overload]
    check(caught.value, "must be an integer or a slice, not str", "write net['exc']")
    for index in (None, 1.5):
        with pytest.raises(WrongTypeError, match="must be an integer or a slice, not"):
            parts.net.populations[index]  # type: ignore[call-overload]
    with pytest.raises(WrongTypeError, match=r"write \[0\] for the one of that name"):
        parts.net.projections["exc to exc"]  # type: ignore[call-overload]
    assert parts.net.populations[0] is parts.net["exc"]
    with pytest.raises(IndexError):
        parts.net.populations[3]
    assert parts.net.populations == (parts.net["exc"],)
    assert parts.net.populations[:1] == (parts.net["exc"],)
