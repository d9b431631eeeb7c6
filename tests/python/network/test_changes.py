"""Neurons and stimuli changed between runs: as if they had been so from that step on, all or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.errors import (
    ChangedNetworkWarning,
    ReadOnlyError,
    ShapeError,
    StateError,
    UnknownNameError,
    UnknownSymbolError,
    ValueOutOfBoundsError,
    WrongTypeError,
)
from ranvier.simulation.options import grouped
from small_networks import balanced

WAYS: list[dict[str, Any]] = [
    {"threads": 1},
    {"threads": 3, "shards": 5, "stealing": "local_and_remote"},
    {"threads": 2, "table_layout": "ring", "precision": "double", "instruction_set": "baseline"},
]


def with_stimulus(stimulator: str, *, weight: float = 1.0, delay: float = 0.1, **values: Any) -> rv.Simulation:
    """Return a simulation of a few neurons that are connected and stimulated."""
    net = rv.Network(seed=3)
    neurons = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-60.0, 3.0)), 30)
    net.connect(neurons, neurons, rv.FixedIndegree(5), weight=20.0, delay=1.5)
    net.stimulate(neurons, stimulator, weight=weight, delay=delay, **values)
    net.record_spikes()
    return rv.Simulation(net, threads=2)


def state(sim: rv.Simulation) -> np.ndarray:
    (neurons,) = sim.network.populations
    return np.array(list(sim.get(neurons, ["V_m", "I_syn_ex", "I_syn_in"]).values()))


def digest(sim: rv.Simulation) -> str:
    (recorder,) = sim.network.recorders
    assert isinstance(recorder, rv.SpikeRecorder)
    spikes = sim.spikes(recorder)
    assert len(spikes.times) > 30
    return spikes.digest()


# ---- stimuli ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [0.1, 1.5])
def test_a_current_that_is_changed_is_a_step_current(delay: float) -> None:
    changed = with_stimulus("dc_generator", amplitude=400.0, delay=delay)
    changed.run(10.0)
    changed.set(changed.network.stimuli[0], amplitude=700.0)
    changed.run(30.0)
    # What flows in the step after 10 ms was emitted by the delay, and the step, earlier.
    steps = with_stimulus(
        "step_current_generator", times=[0.0, round(10.0 - delay, 1)], amplitudes=[400.0, 700.0], delay=delay
    )
    steps.run(40.0)
    assert (state(changed) == state(steps)).all()
    assert digest(changed) == digest(steps)


@pytest.mark.parametrize("delay", [0.1, 1.5])
def test_a_rate_that_is_changed_is_an_inhomogeneous_poisson_process(delay: float) -> None:
    changed = with_stimulus("poisson_generator", rate=8000.0, weight=50.0, delay=delay)
    changed.run(20.0)
    changed.set(changed.network.stimuli[0], rate=15000.0)
    changed.run(30.0)
    both = with_stimulus(
        "inhomogeneous_poisson_generator",
        times=[0.0, round(20.0 - delay, 1)],
        rates=[8000.0, 15000.0],
        weight=50.0,
        delay=delay,
    )
    both.run(50.0)
    assert (state(changed) == state(both)).all()
    assert digest(changed) == digest(both)


@pytest.mark.parametrize("dead_time", [0.0, 2.0])
def test_gamma_trains_go_on_with_what_is_left_of_their_interval(dead_time: float) -> None:
    """As those whose rate changes at a given time, and not as if they had always had the new rate."""
    values = {"shape": 3.0, "dead_time": dead_time, "weight": 4000.0}
    changed = with_stimulus("gamma_generator", rate=90.0, **values)
    changed.run(40.0)
    changed.set(changed.network.stimuli[0], rate=270.0)
    changed.run(60.0)
    both = with_stimulus("inhomogeneous_gamma_generator", times=[0.0, 39.9], rates=[90.0, 270.0], **values)
    both.run(100.0)
    assert digest(changed) == digest(both)
    assert (state(changed) == state(both)).all()


def test_times_and_amplitudes_of_a_step_current_are_changed_together() -> None:
    changed = with_stimulus("step_current_generator", times=[0.0], amplitudes=[400.0])
    changed.run(10.0)
    with pytest.raises(ValueOutOfBoundsError, match="amplitudes has 1"):
        changed.set(changed.network.stimuli[0], times=[0.0, 15.0])
    changed.set(changed.network.stimuli[0], times=[0.0, 15.0], amplitudes=[400.0, 800.0])
    changed.run(20.0)
    steps = with_stimulus("step_current_generator", times=[0.0, 15.0], amplitudes=[400.0, 800.0])
    steps.run(30.0)
    assert (state(changed) == state(steps)).all()


def test_a_weight_that_changes_its_sign_reaches_the_other_receptor() -> None:
    sim = with_stimulus("poisson_generator", rate=10000.0, weight=50.0)
    (neurons,) = sim.network.populations
    sim.run(5.0)
    assert (sim.get(neurons, "I_syn_in") == 0.0).all()
    sim.set(sim.network.stimuli[0], weight=-50.0)
    sim.run(5.0)
    assert (sim.get(neurons, "I_syn_in") < 0.0).any()


def test_a_change_that_changes_nothing_changes_no_spike() -> None:
    plain, changed = (with_stimulus("poisson_generator", rate=rv.Uniform(8e3, 9e3), weight=50.0) for _ in range(2))
    plain.run(40.0)
    changed.run(0.0)
    # Before the first step, a distribution gives what it gives when the stimulus is made.
    changed.set(changed.network.stimuli[0], rate=rv.Uniform(8e3, 9e3))
    changed.run(20.0)
    changed.set(changed.network.stimuli[0], weight=50.0, start=0.0)
    changed.run(20.0)
    assert digest(changed) == digest(plain)


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"rate": -1.0}, ValueOutOfBoundsError, "rate"),
    ({"rate": float("nan")}, ValueOutOfBoundsError, "finite"),
    ({"rate": np.ones(29)}, ShapeError, "30"),
    ({"rate": "fast"}, UnknownSymbolError, "rate"),
    ({"rate": rv.Normal(0.0, 1.0)}, ValueOutOfBoundsError, "low="),
    ({"weight": np.linspace(-1.0, 1.0, 30)}, ValueOutOfBoundsError, "one sign"),
    ({"rate": 1.0, "weight": float("inf")}, ValueOutOfBoundsError, "weight"),
    ({"start": 5.0, "stop": 1.0}, ValueOutOfBoundsError, "stop"),
    ({"start": 0.05}, ValueError, "multiple"),
    ({"wieght": 1.0}, UnknownNameError, "mean 'weight'"),
    ({"amplitude": 1.0}, UnknownNameError, "rate"),
    ({"rate": 1.0, "delay": 1.0}, ReadOnlyError, "build the network again"),
    ({"targets": 1.0}, ReadOnlyError, "another stimulus"),
]


def test_what_a_stimulus_cannot_be_is_refused_and_nothing_changes() -> None:
    sim, untouched = (with_stimulus("poisson_generator", rate=9000.0, weight=50.0) for _ in range(2))
    for each in (sim, untouched):
        each.run(10.0)
    for values, error, told in REFUSED:
        with pytest.raises(error, match=told):
            sim.set(sim.network.stimuli[0], **values)
    late = sim.network.stimulate(sim.network.populations[0], "dc_generator", amplitude=1.0)
    with pytest.raises(StateError, match="after the simulation was built"):
        sim.set(late, amplitude=2.0)
    with pytest.raises(StateError, match="another network"):
        sim.set(untouched.network.stimuli[0], rate=1.0)
    untouched.run(30.0)
    with pytest.warns(ChangedNetworkWarning):
        sim.run(30.0)
    assert digest(sim) == digest(untouched)


# ---- given spikes ----------------------------------------------------------------------------------------------------


def played(times: list[list[float]], weight: float | list[float] = 500.0, **options: Any) -> rv.Simulation:
    net = rv.Network()
    sources = net.create_spike_generators(times, name="sources")
    neurons = net.create("iaf_psc_exp", 4, name="neurons")
    net.connect(sources, neurons, rv.AllToAll(), weight=weight, delay=1.0)
    net.record_spikes(sources)
    return rv.Simulation(net, threads=2, **grouped(options))


def currents(sim: rv.Simulation) -> np.ndarray:
    return np.array(list(sim.get(sim.network["neurons"], ["V_m", "I_syn_ex"]).values()))


def test_spike_times_that_are_changed_are_those_of_a_longer_list() -> None:
    sim = played([[1.0, 4.9, 6.0], [2.0, 9.0]])
    sim.run(5.0)
    # Of both, then of one.
    sim.set(sim.network["sources"], spike_times=[[5.1, 7.0], [6.5, 6.5, 6.5]])
    sim.run(2.0)
    sim.set(sim.network["sources"][1], spike_times=[[8.0]])
    sim.run(5.0)
    whole = played([[1.0, 4.9, 5.1, 7.0], [2.0, 6.5, 6.5, 6.5, 8.0]])
    whole.run(12.0)
    assert (currents(sim) == currents(whole)).all()
    for each in (sim, whole):
        (recorder,) = each.network.recorders
        assert isinstance(recorder, rv.SpikeRecorder)
        assert len(each.spikes(recorder).times) == 9


def test_more_spikes_at_once_have_exact_sums() -> None:
    # 2^28 and 1 take 52 bits: two spikes fit double precision, thousands of them do not.
    weight = [2.0**28 + 32.0, 1.0 + 2.0**-23] * 4
    times = [[9.0] * 5000, [9.0] * 3001]
    ways = [{"table_layout": layout} for layout in ("runs", "ring", "blocks")]
    built = played(times, weight, **ways[0])
    built.run(12.0)
    for way in ways:
        sim = played([[1.0], [2.0]], weight, **way)
        sim.run(8.5)
        sim.set(sim.network["sources"], spike_times=times)
        sim.run(3.5)
        fresh = played([[1.0, *times[0]], [2.0, *times[1]]], weight, **way)
        fresh.run(12.0)
        assert (currents(sim) == currents(fresh)).all()


def test_spikes_whose_sums_would_not_be_exact_are_refused() -> None:
    sim = played([[1.0], [2.0]], [2.0**95, 1.0] * 4)
    before = sim.memory()
    with pytest.raises(ValueOutOfBoundsError, match="it can have 126"):
        sim.set(sim.network["sources"], spike_times=[[3.0] * 1000, []])
    assert sim.memory() == before
    sim.run(5.0)
    (recorder,) = sim.network.recorders
    assert isinstance(recorder, rv.SpikeRecorder)
    assert sim.spikes(recorder).times.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("values", "error", "told"),
    [
        ({"spike_times": [[3.0], [6.0]]}, ValueOutOfBoundsError, "it is 5 ms already"),
        ({"spike_times": [[5.0], []]}, ValueOutOfBoundsError, "still to come"),
        ({"spike_times": [[6.0]]}, ShapeError, "2 sources"),
        ({"spike_times": [[7.0, 6.0], []]}, ValueOutOfBoundsError, "ascend"),
        ({"spike_times": [[6.05], []]}, ValueError, "multiple"),
        ({"spike_times": [[float("nan")], []]}, ValueOutOfBoundsError, "finite"),
        ({"spike_times": 3}, WrongTypeError, "spike_times"),
        ({"spike_tims": [[6.0], []]}, UnknownNameError, "spike_times"),
        ({"V_m": 3.0}, UnknownNameError, "spike_times"),
    ],
)
def test_wrong_spike_times_are_refused(values: dict[str, Any], error: type[Exception], told: str) -> None:
    sim = played([[1.0, 6.0], [2.0]])
    sim.run(5.0)
    with pytest.raises(error, match=told):
        sim.set(sim.network["sources"], **values)
    sim.run(3.0)
    (recorder,) = sim.network.recorders
    assert isinstance(recorder, rv.SpikeRecorder)
    assert sim.spikes(recorder).times.tolist() == [1.0, 2.0, 6.0]


# ---- neurons ---------------------------------------------------------------------------------------------------------


def test_results_do_not_depend_on_how_the_work_is_cut() -> None:
    digests = set()
    for way in WAYS:
        net, recorder = balanced(20)
        sim = rv.Simulation(net, **grouped(way))
        sim.run(50.0)
        sim.set([net["exc"], net["inh"]], V_m=rv.Normal(-62.0, 4.0), I_e=np.linspace(0.0, 300.0, 100))
        sim.set(net["exc"][3:50], tau_m=rv.Uniform(8.0, 12.0))
        sim.set(net.stimuli[0], rate=rv.Uniform(7e3, 9e3), weight=rv.Normal(55.0, 5.0, low=0.0))
        sim.run(50.0)
        digests.add(sim.spikes(recorder).digest())
    assert len(digests) == 1


def test_what_is_drawn_before_the_first_step_is_what_create_draws() -> None:
    potentials = rv.Normal(-65.0, 3.0)
    net, other = rv.Network(seed=5), rv.Network(seed=5)
    created = net.create(rv.iaf_psc_exp(V_m=potentials, tau_m=rv.Uniform(8.0, 12.0)), 50)
    sim, changed = rv.Simulation(net, threads=1), rv.Simulation(other.create("iaf_psc_exp", 50).network, threads=2)
    (neurons,) = other.populations
    changed.set(neurons, V_m=potentials, tau_m=rv.Uniform(8.0, 12.0))
    first = sim.get(created, ["V_m", "tau_m"])
    for name, values in changed.get(neurons, ["V_m", "tau_m"]).items():
        assert (values == first[name]).all()
    # Later others are drawn, independent of these.
    changed.run(0.1)
    changed.set(neurons, V_m=potentials)
    second = changed.get(neurons, "V_m")
    assert (second != first["V_m"]).all()
    assert abs(np.corrcoef(first["V_m"], second)[0, 1]) < 0.46  # significance 0.001


def test_values_that_fit_only_together_are_set_together() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 10)
    sim = rv.Simulation(net, threads=3)
    for values in ({"V_reset": -50.0}, {"V_reset": -50.0, "V_th": -54.0}):
        with pytest.raises(ValueOutOfBoundsError, match="V_reset"):
            sim.set(neurons[2:7], **values)
    sim.set(neurons[2:7], V_reset=-50.0, V_th=-40.0, E_L=-52.0, V_m=-51.0)
    found = sim.get(neurons[2:7], ["V_reset", "V_th", "E_L", "V_m"])
    assert [set(values) for values in found.values()] == [{-50.0}, {-40.0}, {-52.0}, {-51.0}]
    assert set(sim.get(neurons[:2], "V_th")) == {-55.0}


def test_a_distance_from_a_new_resting_potential_is_checked() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    sim = rv.Simulation(net, threads=1, precision="single")
    with pytest.raises(ValueOutOfBoundsError):
        sim.set(neurons, I_e=3.0, V_m=1e39)
    assert set(sim.get(neurons, "I_e")) == {0.0}
    sim.set(neurons, V_m=-60.5)
    assert set(sim.get(neurons, "V_m")) == {-60.5}


def test_all_is_set_or_nothing() -> None:
    net, _ = balanced(20)
    exc, inh = net["exc"], net["inh"]
    sim = rv.Simulation(net, threads=2)
    names = ["V_m", "I_e", "C_m"]
    before = sim.get([exc, inh], names)
    wrong: list[tuple[Any, dict[str, Any], type[Exception]]] = [
        (exc, {"I_e": 1.0, "C_m": 0.0}, ValueOutOfBoundsError),
        (exc, {"I_e": 1.0, "V_n": 0.0}, UnknownNameError),
        ([exc, inh], {"I_e": 1.0, "V_m": np.zeros(80)}, ShapeError),
        ([exc, inh], {"V_m": -60.0, "tau_m": rv.Normal(1.0, 1.0)}, ValueOutOfBoundsError),
        (exc, {"V_m": -60.0, "I_e": float("nan")}, ValueOutOfBoundsError),
        (exc, {"V_m": "rest"}, UnknownSymbolError),
        ([], {"V_m": -60.0}, ShapeError),
        ([exc, 3], {"V_m": -60.0}, WrongTypeError),
        ("exc", {"V_m": -60.0}, WrongTypeError),
        (net.projections[0], {"weight": 3.0}, WrongTypeError),
    ]
    for part, values, error in wrong:
        with pytest.raises(error):
            sim.set(part, **values)
    after = sim.get([exc, inh], names)
    assert all((after[name] == before[name]).all() for name in names)


def test_values_of_several_populations_follow_each_other() -> None:
    net = rv.Network()
    exc, inh = net.create("iaf_psc_exp", 3), net.create("iaf_psc_delta", 2)
    sim = rv.Simulation(net, threads=2)
    sim.set([inh, exc], V_m=[-1.0, -2.0, -3.0, -4.0, -5.0])
    assert sim.get([exc, inh], "V_m").tolist() == [-3.0, -4.0, -5.0, -1.0, -2.0]
    assert sim.get((inh[1], exc[:2]), ["V_m"])["V_m"].tolist() == [-2.0, -3.0, -4.0]
    # Those that overlap: the last one counts.
    sim.set([exc, exc[1:]], V_m=np.array([-1.0, -2.0, -3.0, -8.0, -9.0]))
    assert sim.get(exc, "V_m").tolist() == [-1.0, -8.0, -9.0]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda sim, p: sim.get([], "V_m"), ShapeError),
        (lambda sim, p: sim.get(p, 3), WrongTypeError),
        (lambda sim, p: sim.get(p, ["V_m", 3]), WrongTypeError),
        (lambda sim, p: sim.get(p, ["V_m", "V_n"]), UnknownNameError),
        (lambda sim, p: sim.get("exc", "V_m"), WrongTypeError),
        (lambda sim, p: sim.get(sim.network.create_spike_generators([[1.0]]), "V_m"), StateError),
        (lambda sim, p: sim.get(sim.network["sources"], "V_m"), WrongTypeError),
        (lambda sim, p: sim.set(p, "V_m", -60.0), WrongTypeError),
        (lambda sim, p: sim.set([p, sim.network["sources"]], V_m=-60.0), WrongTypeError),
    ],
)
def test_wrong_requests_are_refused(call: Callable[..., object], error: type[Exception]) -> None:
    sim = played([[1.0]])
    with pytest.raises(error):
        call(sim, sim.network["neurons"])
