"""Describing networks: populations and parts of them, names, pickling, summaries."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import errors
from small_networks import NETWORKS, balanced, shipped


def digest(net: rv.Network, duration: float = 50.0) -> str:
    recorder = next(recorder for recorder in net.recorders if isinstance(recorder, rv.SpikeRecorder))
    sim = rv.Simulation(net, threads=2)
    sim.run(duration)
    spikes = sim.spikes(recorder)
    assert len(spikes) > 0
    return spikes.digest()


# ---- populations -----------------------------------------------------------------------------------------------------


def test_global_ids_follow_the_order_of_creation() -> None:
    net = rv.Network()
    first = net.create("iaf_psc_exp", 3)
    sources = net.create_spike_generators([[1.0], [2.0]])
    last = net.create("iaf_psc_alpha", 4)
    assert first.ids.tolist() == [0, 1, 2]
    assert sources.ids.tolist() == [3, 4]
    assert last.ids.tolist() == [5, 6, 7, 8]
    assert net.neuron_count == 7


def test_parts_of_a_population() -> None:
    exc = rv.Network().create("iaf_psc_exp", 10, name="exc")
    assert len(exc) == 10
    assert exc.name == "exc"
    assert exc[2:5].ids.tolist() == [2, 3, 4]
    assert exc[2:5].name == "exc[2:5]"
    assert exc[2:5][1].ids.tolist() == [3]
    assert exc[3].name == "exc[3]"
    assert exc[-1].ids.tolist() == [9]
    assert exc[np.int64(4)].ids.tolist() == [4]
    assert len(exc[5:5]) == len(exc[7:3]) == 0
    assert exc[:100].ids.tolist() == exc.ids.tolist()
    assert [neuron.first_id for neuron in exc] == list(range(10))
    assert exc[2:5] == exc[1:][1:4]
    assert exc[2:5] != exc[2:6]
    assert hash(exc[2:5]) == hash(exc[1:][1:4])
    with pytest.raises(IndexError):
        exc[10]
    with pytest.raises(IndexError):
        exc[-11]


def test_lookup_by_name() -> None:
    net, _ = balanced()
    assert net["inh"] is net.populations[1]


def test_names_are_made_up_where_none_are_given() -> None:
    net = rv.Network()
    names = {net.create("iaf_psc_exp", 1).name for _ in range(3)}
    assert len(names) == 3
    assert all("iaf_psc_exp" in name for name in names)
    first, second = net.populations[:2]
    assert net.connect(first, second, rv.OneToOne()).name == f"{first.name} to {second.name}"


@pytest.mark.parametrize(
    "values", [{"tau_m": 12.5}, {"tau_m": [12.5, 13.5, 14.5]}, {"V_m": [-60.0, -61.0, -62.0], "I_e": 3.0}], ids=str
)
def test_values_by_object_and_by_keyword(values: dict[str, Any]) -> None:
    net = rv.Network()
    by_keyword = net.create("iaf_psc_exp", 3, **values)
    by_object = net.create(rv.iaf_psc_exp(**values), 3)
    overridden = net.create(
        rv.iaf_psc_exp(tau_m=1.0, V_m=-50.0, I_e=5.0), 3, **{"V_m": -70.0, "I_e": 0.0, "tau_m": 10.0, **values}
    )
    sim = rv.Simulation(net)
    for name, value in values.items():
        for population in (by_keyword, by_object, overridden):
            assert sim.get(population, name).tolist() == np.broadcast_to(value, 3).tolist()


def test_drawn_values() -> None:
    net = rv.Network(seed=5)
    size = 20_000
    population = net.create(
        "iaf_psc_exp",
        size,
        V_m=rv.Normal(-60.0, 2.0),
        C_m=rv.Uniform(100.0, 200.0),
        tau_m=rv.Exponential(5.0, shift=2.0),
        I_e=rv.LogNormal(1.0, 0.5),
        E_L=rv.Normal(-65.0, 5.0, low=-70.0, high=-60.0),
        t_ref=rv.Normal(2.0, 1.0, low=1.0, high=3.0, mode="clip"),
    )
    sim = rv.Simulation(net)

    # Five standard errors: fails by chance once in two million.
    def near(name: str, mean: float, std: float) -> bool:
        values = sim.get(population, name)
        return bool(abs(values.mean() - mean) < 5.0 * std / np.sqrt(size)) and len(np.unique(values)) > size / 2

    assert near("V_m", -60.0, 2.0)
    assert near("C_m", 150.0, 100.0 / np.sqrt(12.0))
    assert near("tau_m", 7.0, 5.0)
    assert near("I_e", np.exp(1.125), np.exp(1.125) * np.sqrt(np.exp(0.25) - 1.0))
    assert near("E_L", -65.0, 5.0)
    assert sim.get(population, "tau_m").min() >= 2.0
    assert sim.get(population, "E_L").min() >= -70.0
    refractory = sim.get(population, "t_ref")
    assert (refractory == 1.0).mean() == pytest.approx(0.1587, abs=0.013)
    assert (refractory == 3.0).mean() == pytest.approx(0.1587, abs=0.013)


def test_arrays_are_copied() -> None:
    net = rv.Network()
    values = np.full(3, -60.0)
    sources, targets = np.array([0, 1]), np.array([1, 2])
    rule = rv.Explicit(sources, targets)
    population = net.create("iaf_psc_exp", 3, V_m=values)
    net.connect(population, population, rule)
    values[:], sources[:], targets[:] = -50.0, 2, 2
    for network in (net, pickle.loads(pickle.dumps(net))):
        sim = rv.Simulation(network)
        assert sim.get(network.populations[0], "V_m").tolist() == [-60.0] * 3
        assert sim.connections().sources.tolist() == [0, 1]


# ---- pickling and copying --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_pickled_networks_give_the_same_spikes(name: str) -> None:
    net = shipped(name).net
    assert digest(pickle.loads(pickle.dumps(net))) == digest(net)


def full_network() -> rv.Network:
    """Return a network with one of everything."""
    net = rv.Network(resolution=0.2, seed=9, name="full")
    neurons = net.create(rv.iaf_psc_exp(tau_m=[9.0, 10.0, 11.0]), 3, name="neurons")
    other = net.create("iaf_psc_alpha", 2, name="other", V_m=rv.Normal(-65.0, 1.0))
    generators = net.create_spike_generators([[1.0, 2.0], [3.0]], name="input")
    net.connect(neurons, other, rv.Explicit([0, 2], [1, 0]), weight=[1.0, 2.0], delay=[0.4, 1.0], name="listed")
    projection = net.connect(generators, neurons, "all_to_all", weight=200.0, weight_bound=500.0)
    net.connect(neurons[:2], other, rv.FixedTotalNumber(5), delay=rv.Uniform(0.2, 1.0))
    net.stimulate(neurons, rv.poisson_generator(rate=[1000.0, 2000.0, 3000.0]), weight=200.0)
    net.stimulate(other[1], rv.step_current_generator(times=[1.0, 5.0], amplitudes=[500.0, 0.0]), name="step")
    net.record_spikes([neurons, other[:1]])
    net.record_state(neurons[[0, 2]], ["V_m"], 0.4)
    net.record_weights(projection, 1.0, targets=neurons[1:])
    return net


@pytest.mark.parametrize("duplicate", [lambda net: pickle.loads(pickle.dumps(net)), copy.copy, copy.deepcopy])
def test_copies_are_equal_and_apart(duplicate) -> None:  # type: ignore[no-untyped-def]
    net = full_network()
    twin = duplicate(net)
    assert twin.summary() == net.summary()
    assert (twin.name, twin.resolution, twin.seed) == ("full", 0.2, 9)
    assert digest(twin) == digest(net)
    before = net.summary()
    twin.create("iaf_psc_exp", 1)
    assert net.summary() == before
    assert twin.neuron_count == net.neuron_count + 1


def test_handles_are_pickled_with_their_network() -> None:
    net = full_network()
    handles = (net["other"], net["other"][1], net.projections[1], net.stimuli[1], *net.recorders)
    twin, copies = pickle.loads(pickle.dumps((net, handles)))
    other, part, projection, stimulus, spikes, state, weights = copies
    assert other is twin["other"]
    assert part == twin["other"][1]
    assert projection is twin.projections[1]
    assert stimulus is twin.stimuli[1]
    assert (spikes, state, weights) == twin.recorders
    sim = rv.Simulation(twin)
    sim.run(10.0)
    assert sim.state(state)["V_m"].shape == (25, 2)
    assert sim.weights(weights).weights.shape == (10, 4)


def test_a_refused_call_is_not_remembered() -> None:
    net, _ = balanced()
    with pytest.raises(errors.RuleError):
        net.connect(net["exc"], net["inh"], rv.OneToOne())
    assert pickle.loads(pickle.dumps(net)).summary() == net.summary()


def test_models_can_be_pickled_and_compared() -> None:
    model = rv.iaf_psc_exp(tau_m=[1.0, 2.0], V_m=rv.Normal(0.0, 1.0))
    assert pickle.loads(pickle.dumps(model)) == model
    assert model != rv.iaf_psc_exp(tau_m=[1.0, 2.0])
    assert rv.iaf_psc_exp(tau_m=10.0) == rv.iaf_psc_exp()
    assert repr(rv.iaf_psc_exp(tau_m=5.0, E_L=-60)) == "iaf_psc_exp(E_L=-60.0, tau_m=5.0)"


# ---- seeds and resolutions -------------------------------------------------------------------------------------------


def test_seed_can_be_changed() -> None:
    net, _ = balanced(seed=1)
    other, _ = balanced(seed=2)
    assert digest(net) != digest(other)
    net.seed = 2
    assert digest(net) == digest(other)


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_all_seeds_can_be_used(seed: int) -> None:
    assert len(digest(balanced(seed=seed)[0])) == 64


def test_resolution_can_be_changed_while_nothing_is_on_its_grid() -> None:
    net = rv.Network(resolution=0.1)
    net.create("iaf_psc_exp", 1)
    net.resolution = 0.25
    assert rv.Simulation(net).resolution == 0.25


# ---- looking at it ---------------------------------------------------------------------------------------------------


def test_summary() -> None:
    # Lines may be broken within a row.
    text = " ".join(full_network().summary().split())
    for part in (
        "full: 5 neurons",
        "resolution 0.2 ms",
        "neurons",
        "iaf_psc_alpha",
        "V_m=Normal(mean=-65.0, std=1.0)",
        "tau_m=array of 3, 9 to 11",
        "FixedTotalNumber(5)",
        "neurons[0:2]",
        "listed",
        "Uniform(0.2,",
        "step_current_generator",
        "spikes of neurons, other[0]",
        "V_m of 2 neurons of neurons every 0.4 ms",
    ):
        assert part in text, text


def test_summary_for_notebooks() -> None:
    net = full_network()
    net.name = "<full & more>"
    html = net._repr_html_()
    assert "&lt;full &amp; more&gt;" in html
    assert "<full" not in html
    opened = re.findall(r"<(\w+)[^>]*>", html)
    closed = re.findall(r"</(\w+)>", html)
    assert sorted(opened) == sorted(closed)
    assert html.count("<table>") == 4


def test_summary_of_an_empty_network() -> None:
    assert rv.Network(name="empty").summary() == "empty: 0 neurons, 0 synapses, resolution 0.1 ms, seed 1"


def test_summary_of_very_many_projections_is_short() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 1)
    for _ in range(300):
        net.connect(neurons, neurons, rv.OneToOne())
    assert "... and 200 more" in net.summary()
    assert "... and 200 more" in net._repr_html_()


def test_a_summary_of_many_projections_fits_on_a_terminal() -> None:
    net = rv.Network()
    populations = [net.create("iaf_psc_exp", 10, name=f"population {i}", V_m=rv.Normal(-65.0, 3.0)) for i in range(7)]
    for first in populations:
        for second in populations[:6]:
            weight = rv.Normal(277.67483746045554, 27.767483746045556, low=0.0)
            net.connect(first, second, rv.FixedIndegree(5), weight=weight, delay=rv.LogNormal(0.5, 0.3))
    lines = net.summary().splitlines()
    assert max(map(len, lines)) <= 100
    text = " ".join(" ".join(lines).split())
    assert "Normal(277.675," in text
    # Names that repeat both populations are left out; those of the user are shown.
    assert "population 0 to population 1" not in text
    net.connect(populations[0], populations[6], rv.AllToAll(), name="a name")
    assert "a name" in net.summary()
