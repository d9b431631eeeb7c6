"""Receptors with names: connections, stimuli, queries, and what a network shows of them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import errors
from ranvier.errors import UnknownNameError, ValueOutOfBoundsError
from thorough_cases import only

FOUR = ["AMPA", "NMDA", "GABA_A", "GABA_B"]


def two_neurons(model: str = "iaf_psc_exp") -> tuple[rv.Network, rv.Population, rv.Population]:
    """Return a network with a source of one spike and two neurons."""
    net = rv.Network()
    return net, net.create_spike_generators([[1.0]], name="source"), net.create(model, 2, name="cells")


def currents(net: rv.Network, cells: rv.Population, **options: Any) -> tuple[float, float]:
    """Return the synaptic currents of the first neuron in the step in which a spike has arrived after 1 ms."""
    sim = rv.Simulation(net, threads=1, progress=False, **options)
    sim.run(2.0)
    return float(sim.get(cells, "I_syn_ex")[0]), float(sim.get(cells, "I_syn_in")[0])


# ---- where spikes go -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [100.0, -100.0])
@pytest.mark.parametrize("receptor", ["excitatory", "inhibitory", None])
def test_all_weights_of_a_projection_reach_the_receptor_that_it_names(receptor: str | None, weight: float) -> None:
    net, source, cells = two_neurons()
    net.connect(source, cells, rv.AllToAll(), weight=weight, delay=1.0, receptor=receptor)
    excitatory = receptor == "excitatory" or (receptor is None and weight > 0.0)
    assert currents(net, cells) == ((weight, 0.0) if excitatory else (0.0, weight))


def test_weights_of_both_signs_reach_one_receptor() -> None:
    net, source, cells = two_neurons()
    for weights in ([30.0, -10.0], [-10.0, 30.0]):
        net.connect(source, cells, rv.AllToAll(), weight=weights, delay=1.0, receptor="inhibitory")
    assert currents(net, cells) == (0.0, 20.0)


@pytest.mark.parametrize("receptor", ["excitatory", "inhibitory"])
def test_a_stimulus_reaches_the_receptor_that_it_names(receptor: str) -> None:
    net, _, cells = two_neurons()
    net.stimulate(cells, rv.poisson_generator(rate=1e5), weight=[-3.0, 2.0], receptor=receptor)
    sim = rv.Simulation(net, threads=1)
    sim.run(5.0)
    reached, other = ("I_syn_ex", "I_syn_in") if receptor == "excitatory" else ("I_syn_in", "I_syn_ex")
    assert np.sign(sim.get(cells, reached)).tolist() == [-1.0, 1.0]
    assert sim.get(cells, other).tolist() == [0.0, 0.0]
    # It stays there when the weight changes its sign.
    sim.set(net.stimuli[0], weight=[3.0, -2.0])
    sim.run(50.0)
    assert np.sign(sim.get(cells, reached)).tolist() == [1.0, -1.0]
    assert sim.get(cells, other).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("receptor", FOUR)
def test_each_of_four_receptors_is_reached(receptor: str) -> None:
    net, source, cells = two_neurons("iaf_cond_nmda")
    net.connect(source, cells, rv.AllToAll(), weight=2.0, delay=1.0, receptor=receptor)
    net.stimulate(cells[1], rv.poisson_generator(rate=1e5), weight=1.0, receptor=receptor)
    sim = rv.Simulation(net, threads=1)
    sim.run(2.0)
    reached = {name: sim.get(cells, f"g_{name}") for name in FOUR}
    assert reached[receptor][0] == 2.0
    assert reached[receptor][1] > 20.0
    assert all((reached[name] == 0.0).all() for name in FOUR if name != receptor)


def recurrent(seed: int = 3) -> tuple[rv.Network, rv.SpikeRecorder]:
    """Return a network in which all receptors of two models are used, by name and by sign."""
    net = rv.Network(seed=seed)
    conductances = net.create(rv.iaf_cond_nmda(V_m=rv.Normal(-62.0, 4.0)), 60, name="conductances")
    currents = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-62.0, 4.0)), 40, name="currents")
    both = conductances + currents
    for receptor, weight in zip(FOUR, (1.0, 0.1, 2.0, 0.1), strict=True):
        net.connect(
            both,
            conductances,
            rv.FixedIndegree(8),
            weight=rv.Uniform(0.5 * weight, weight),
            delay=rv.Uniform(0.5, 4.0),
            receptor=receptor,
        )
    net.connect(both, currents, rv.FixedOutdegree(5), weight=rv.Normal(20.0, 40.0), delay=rv.Uniform(0.5, 4.0))
    net.connect(both, currents, rv.FixedIndegree(5), weight=rv.Normal(0.0, 40.0), delay=1.5, receptor="inhibitory")
    net.stimulate(conductances, rv.poisson_generator(rate=6000.0), weight=1.0, receptor="AMPA")
    net.stimulate(currents, rv.poisson_generator(rate=8000.0), weight=50.0)
    return net, net.record_spikes()


@pytest.mark.parametrize(
    "options",
    [
        {"tuning": rv.Tuning(table_layout="ring")},
        {"tuning": rv.Tuning(table_layout="blocks")},
        {"tuning": rv.Tuning(table_layout="runs", delivery_window=1)},
        {"tuning": rv.Tuning(instruction_set="baseline")},
        {"processes": rv.Processes(sort_connections=False)},
    ],
    ids=["ring", "blocks", "runs", "baseline", "unsorted"],
)
@pytest.mark.parametrize("threads", only([3], [1, 3]))
def test_spikes_do_not_depend_on_how_tables_are_cut(threads: int, options: dict[str, Any]) -> None:
    net, recorder = recurrent()
    found = []
    for chosen in ({"threads": 2}, {"threads": threads, **options}):
        sim = rv.Simulation(net, progress=False, **chosen)
        sim.run(60.0)
        spikes = sim.spikes(recorder)
        found.append((spikes.steps.tolist(), spikes.ids.tolist()))
    assert len(found[0][0]) > 100
    assert found[0] == found[1]


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda net, source, cells: net.connect(source, cells, rv.AllToAll(), receptor="inhibitry"),
        lambda net, source, cells: net.stimulate(cells, rv.poisson_generator(rate=1.0), receptor="Inhibitory"),
    ],
    ids=["connect", "stimulate"],
)
def test_the_nearest_name_of_a_receptor_is_told(call: Callable[..., object]) -> None:
    net, source, cells = two_neurons()
    with pytest.raises(UnknownNameError, match=r"receptor of iaf_psc_exp.*did you mean 'inhibitory'"):
        call(net, source, cells)
    assert not net.projections
    assert not net.stimuli


def test_one_of_several_receptors_must_be_named() -> None:
    net, source, cells = two_neurons("iaf_cond_nmda")
    with pytest.raises(ValueOutOfBoundsError, match=r"projection 'drive'.*AMPA, NMDA, GABA_A, GABA_B.*receptor='AMPA'"):
        net.connect(source, cells, rv.AllToAll(), name="drive")
    with pytest.raises(ValueOutOfBoundsError, match=r"stimulus 'noise'.*AMPA, NMDA, GABA_A, GABA_B.*receptor='AMPA'"):
        net.stimulate(cells, rv.poisson_generator(rate=1.0), name="noise")
    # Currents go to none.
    net.stimulate(cells, rv.dc_generator(amplitude=1.0))
    with pytest.raises(ValueOutOfBoundsError, match="currents of dc_generator are not sent to a receptor"):
        net.stimulate(cells, rv.dc_generator(amplitude=1.0), receptor="AMPA")


@pytest.mark.parametrize("wrong", [3, ["AMPA"], b"AMPA"], ids=str)
def test_a_receptor_is_named_by_text(wrong: Any) -> None:
    net, source, cells = two_neurons("iaf_cond_nmda")
    with pytest.raises(errors.WrongTypeError, match="receptor"):
        net.connect(source, cells, rv.AllToAll(), receptor=wrong)
    with pytest.raises(ValueOutOfBoundsError, match="receptor"):
        net.connect(source, cells, rv.AllToAll(), receptor="")


@pytest.mark.parametrize("weight", [-1.0, rv.Normal(1.0, 1.0), [1.0, -1e-30]], ids=str)
def test_conductances_are_not_negative(weight: Any) -> None:
    net, source, cells = two_neurons("iaf_cond_nmda")
    for call in (
        lambda: net.connect(source, cells, rv.AllToAll(), weight=weight, receptor="GABA_A"),
        lambda: net.stimulate(cells, rv.poisson_generator(rate=1.0), weight=weight, receptor="GABA_A"),
    ):
        with pytest.raises(ValueOutOfBoundsError, match=r"weight of .*iaf_cond_nmda.*>= 0"):
            call()
    projection = net.connect(source, cells, rv.AllToAll(), weight=1.0, receptor="GABA_A")
    stimulus = net.stimulate(cells, rv.poisson_generator(rate=1.0), weight=1.0, receptor="GABA_A")
    for part in (projection, stimulus):
        with pytest.raises(ValueOutOfBoundsError, match=">= 0"):
            net.set(part, weight=weight)
    sim = rv.Simulation(net, threads=1)
    with pytest.raises(ValueOutOfBoundsError, match=">= 0"):
        sim.set(stimulus, weight=weight)
    with pytest.raises(ValueOutOfBoundsError, match=">= 0"):
        sim.connections().weights = [1.0, -1.0]
    assert sim.connections().weights.tolist() == [1.0, 1.0]


def test_targets_of_several_models() -> None:
    net, source, cells = two_neurons()
    alpha = net.create("iaf_psc_alpha", 2)
    conductances = net.create("iaf_cond_nmda", 2)
    for receptor in (None, "excitatory"):
        net.connect(source, cells + alpha, rv.AllToAll(), receptor=receptor)
    with pytest.raises(UnknownNameError, match="receptor of iaf_cond_nmda"):
        net.connect(source, cells + conductances, rv.AllToAll(), receptor="excitatory")
    with pytest.raises(UnknownNameError, match="receptor of iaf_psc_exp"):
        net.stimulate(cells + conductances, rv.poisson_generator(rate=1.0), receptor="AMPA")
    with pytest.raises(ValueOutOfBoundsError, match="in a separate call"):
        net.connect(source, cells + net.create("iaf_psc_delta", 2), rv.AllToAll())
    net.stimulate(cells + conductances, rv.dc_generator(amplitude=1.0))


# ---- synapses --------------------------------------------------------------------------------------------------------


def test_synapses_tell_their_receptors_and_are_chosen_by_them() -> None:
    net, _ = recurrent()
    sim = rv.Simulation(net, threads=2)
    synapses = sim.connections()
    assert synapses.receptors.shape == (len(synapses),)
    for index, receptor in enumerate(FOUR):
        mine = synapses.projections == index
        assert set(synapses.receptors[mine]) == {receptor}
        found = sim.connections(receptor=receptor)
        assert (found.handles == synapses.handles[mine]).all()
        assert sim.count_connections(receptor=receptor) == mine.sum() == 8 * 60
    by_sign = synapses[synapses.projections == 4]
    assert (by_sign.receptors == np.where(by_sign.weights < 0.0, "inhibitory", "excitatory")).all()
    assert set(by_sign.receptors) == {"inhibitory", "excitatory"}
    named = synapses[synapses.projections == 5]
    assert set(named.receptors) == {"inhibitory"}
    assert set(np.sign(named.weights)) == {-1.0, 1.0}
    inhibitory = sim.connections(receptor="inhibitory")
    assert len(inhibitory) == len(named) + (by_sign.weights < 0.0).sum()
    assert len(sim.connections(net["currents"], net["conductances"], receptor="NMDA")) < 8 * 60
    assert len(sim.connections(projection=net.projections[0], receptor="NMDA")) == 0
    assert sim.connections(projection=net.projections[0], receptor="NMDA").receptors.tolist() == []


def test_unknown_receptors_of_queries_are_refused() -> None:
    net, source, cells = two_neurons()
    net.connect(source, cells, rv.AllToAll())
    sim = rv.Simulation(net, threads=1)
    for ask in (sim.connections, sim.count_connections):
        with pytest.raises(UnknownNameError, match=r"did you mean 'excitatory'"):
            ask(receptor="exitatory")
        with pytest.raises(errors.WrongTypeError, match="receptor"):
            ask(receptor=1)  # type: ignore[arg-type]
    with pytest.raises(errors.ReadOnlyError):
        sim.connections().receptors = ["excitatory"]  # type: ignore[misc, assignment]


@pytest.mark.parametrize("sort_connections", [True, False])
@pytest.mark.parametrize("apart", [True, False])
def test_only_synapses_whose_sign_chose_the_receptor_must_keep_it(apart: bool, sort_connections: bool) -> None:
    net, source, cells = two_neurons()
    # With other targets, source and target tell the projection; with the same, a tag does.
    by_sign = net.connect(source, cells[0] if apart else cells, rv.AllToAll(), weight=10.0)
    named = net.connect(source, cells[1] if apart else cells, rv.AllToAll(), weight=10.0, receptor="excitatory")
    sim = rv.Simulation(net, threads=1, processes=rv.Processes(sort_connections=sort_connections))
    sim.connections(projection=named).weights = -5.0
    assert (sim.connections(projection=named).weights == -5.0).all()
    assert set(sim.connections(projection=named).receptors) == {"excitatory"}
    with pytest.raises(ValueOutOfBoundsError, match="another receptor"):
        sim.connections(projection=by_sign).weights = -5.0
    assert (sim.connections(projection=by_sign).weights == 10.0).all()


# ---- what a network shows --------------------------------------------------------------------------------------------


def test_a_network_shows_and_keeps_the_names() -> None:
    net, source, cells = two_neurons()
    plain = net.connect(source, cells, rv.AllToAll(), name="plain")
    assert "receptor" not in net.summary() + repr(plain)
    named = net.connect(source, cells, rv.AllToAll(), receptor="inhibitory", name="named")
    drive = net.stimulate(cells, rv.poisson_generator(rate=1.0), receptor="excitatory")
    assert (plain.receptor, named.receptor, drive.receptor) == (None, "inhibitory", "excitatory")
    assert "receptor inhibitory" in repr(named)
    assert "receptor excitatory" in repr(drive)
    assert "inhibitory" in net.summary()
    assert "inhibitory" in net._repr_html_()
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert other == net
        assert other.projections[1].receptor == "inhibitory"
        assert other.stimuli[0].receptor == "excitatory"
        net.set(named, receptor="excitatory")
        assert other != net
        net.set(named, receptor="inhibitory")


def test_a_network_is_given_other_receptors() -> None:
    net, source, cells = two_neurons()
    projection = net.connect(source, cells, rv.AllToAll(), weight=7.0, delay=1.0)
    drive = net.stimulate(cells, rv.poisson_generator(rate=0.0))
    net.set(projection, receptor="inhibitory")
    assert currents(net, cells) == (0.0, 7.0)
    with pytest.raises(UnknownNameError, match="did you mean 'excitatory'"):
        net.set(projection, weight=8.0, receptor="excitatori")
    assert (projection.receptor, projection.weight) == ("inhibitory", 7.0)
    net.set(projection, receptor=None)
    assert currents(net, cells) == (7.0, 0.0)
    net.set(drive, receptor="inhibitory")
    assert drive.receptor == "inhibitory"
    with pytest.raises(UnknownNameError):
        net.set(drive, receptor="AMPA")
    sim = rv.Simulation(net, threads=1)
    with pytest.raises(errors.ReadOnlyError, match="build the network again"):
        sim.set(drive, receptor="excitatory")
