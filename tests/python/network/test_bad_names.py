"""Names that do not exist give an UnknownNameError that tells the nearest one, and leave everything as it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import ranvier as rv
from bad_input import check, neurons
from ranvier import errors


@pytest.mark.parametrize(
    ("call", "given", "nearest"),
    [
        (lambda net, _: net.create("iaf_psc_epx", 1), "iaf_psc_epx", "iaf_psc_exp"),
        (lambda net, _: net.create("iaf_psc_exp", 1, tau_n=1.0), "tau_n", "tau_m"),
        (lambda net, _: net.create(rv.iaf_psc_exp(tau_n=1.0), 1), "tau_n", "tau_m"),  # type: ignore[call-arg]
        (lambda net, p: net.connect(p, p, "fixed_in_degree"), "fixed_in_degree", "fixed_indegree"),
        (lambda net, p: net.connect(p, p, "fixed_indegree", in_degree=1), "in_degree", "indegree"),
        (lambda net, p: net.connect(p, p, "FixedIndegree", indegree=1), "FixedIndegree", "fixed_indegree"),
        (lambda net, p: net.connect(p, p, rv.OneToOne(), weights=1.0), "weights", "weight"),
        (lambda net, p: net.connect(p, p, "one_to_one", delays=1.0), "delays", "delay"),
        (lambda net, p: net.create("iaf_psc_exp", 1, I_ee=1.0), "I_ee", "I_e"),
        (lambda net, p: net.create("iaf_psc_exp", 1, position=[[0.0, 1.0]]), "position", "positions"),
        (lambda net, p: net.create("iaf_psc_exp", 1, nam="x"), "nam", "name"),
        (lambda net, p: net.stimulate(p, "poisson_generator", weights=1.0), "weights", "weight"),
        (lambda net, p: net.record_spikes(neuron=p), "neuron", "neurons"),
        (lambda net, p: net.record_state(p, variable="V_m"), "variable", "variables"),
        (lambda net, p: net.create_spike_generators(times=[[1.0]]), "times", "spike_times"),
        (lambda net, p: net.set(p, I_ee=1.0), "I_ee", "I_e"),
        (lambda net, p: rv.Network(dt=0.1), "dt", ""),  # type: ignore[call-arg]
        (lambda net, p: rv.Network(resolutio=0.1), "resolutio", "resolution"),  # type: ignore[call-arg]
        (lambda net, p: net.stimulate(p, "poison_generator"), "poison_generator", "poisson_generator"),
        (lambda net, p: net.stimulate(p, "poisson_generator", rat=1.0), "rat", "rate"),
        (lambda net, p: net.record_state(p, ["V_n"]), "V_n", "V_m"),
        (lambda net, _: net["neuron"], "neuron", "neurons"),
        (lambda net, _: rv.Simulation(net, precision="duoble"), "duoble", "double"),  # type: ignore[arg-type]
        (lambda net, _: rv.Simulation(net, weight_precision="singel"), "singel", "single"),  # type: ignore[arg-type]
        (lambda net, _: rv.Simulation(net, tuning=rv.Tuning(instruction_set="avx3")), "avx3", "avx2"),  # type: ignore[arg-type]
        (lambda net, _: rv.Simulation(net, tuning=rv.Tuning(table_layout="rings")), "rings", "ring"),  # type: ignore[arg-type]
        (lambda net, p: rv.Simulation(net).get(p, "V_n"), "V_n", "V_m"),
        (lambda net, p: rv.Simulation(net).set(p, tau_n=1.0), "tau_n", "tau_m"),
        (lambda net, p: rv.Normal(0.0, 1.0, 0.0, 1.0, "clap"), "clap", "clip"),  # type: ignore[arg-type]
        (lambda net, p: rv.networks.microcircuit(drive="possion"), "possion", "poisson"),  # type: ignore[arg-type]
        (lambda net, p: rv.networks.brunel(version="dleta"), "dleta", "delta"),  # type: ignore[arg-type]
        (lambda net, p: rv.networks.interval_fire(topology="randon"), "randon", "random"),  # type: ignore[arg-type]
    ],
)
def test_unknown_name(call: Callable[[rv.Network, rv.Population], object], given: str, nearest: str) -> None:
    population = neurons()
    before = population.network.summary()
    with pytest.raises(errors.UnknownNameError) as caught:
        call(population.network, population)
    check(caught.value, f"'{given}'", f"did you mean '{nearest}'?" if nearest else "the valid names are")
    assert population.network.summary() == before


@pytest.mark.parametrize("value", ["sometimes", "True", ""])
def test_neither_sorted_nor_not(value: str) -> None:
    with pytest.raises(errors.UnknownNameError) as caught:
        rv.Simulation(neurons().network, processes=rv.Processes(sort_connections=value))  # type: ignore[arg-type]
    check(caught.value, "sort_connections", f"'{value}'", "auto")
    with pytest.raises(TypeError, match="sort_connections must be 'auto', True or False, not int"):
        rv.Simulation(neurons().network, processes=rv.Processes(sort_connections=1))  # type: ignore[arg-type]


def test_name_that_is_taken() -> None:
    with pytest.raises(errors.ValueOutOfBoundsError, match="'neurons'"):
        neurons().network.create("iaf_psc_exp", 1, name="neurons")
