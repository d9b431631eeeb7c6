"""Handles and models cannot be assigned to, and the description is changed by `Network.set`: all of it or nothing."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import ranvier as rv
from ranvier.errors import (
    DelayError,
    RanvierError,
    ReadOnlyError,
    RuleError,
    ShapeError,
    StateError,
    UnknownNameError,
    UnknownSymbolError,
    ValueOutOfBoundsError,
    WrongTypeError,
)
from ranvier.simulation.options import grouped


class Parts:
    """A network with one of everything."""

    def __init__(self) -> None:
        self.net = rv.Network(seed=3)
        self.exc = self.net.create(rv.iaf_psc_exp(I_e=380.0), 10, name="exc", V_m=rv.Normal(-65.0, 2.0))
        self.played = self.net.create_spike_generators([[1.0, 2.0], [], [3.0]], name="played")
        self.projection = self.net.connect(self.exc, self.exc, rv.FixedIndegree(3), weight=10.0, delay=1.5)
        self.listed = self.net.connect(
            self.played, self.exc, rv.Explicit([0, 1], [4, 5]), weight=[20.0, 30.0], delay=[1.0, 2.0]
        )
        self.drive = self.net.stimulate(self.exc, rv.poisson_generator(rate=8000.0), weight=20.0)
        self.steps = self.net.stimulate(self.exc, rv.step_current_generator(times=[1.0, 2.0], amplitudes=[5.0, 6.0]))
        self.spikes = self.net.record_spikes()
        self.state = self.net.record_state(self.exc, "V_m", 1.0)
        self.weights = self.net.record_weights(self.projection, 1.0)

    def spikes_of(self, net: rv.Network | None = None) -> str:
        net = net or self.net
        sim = rv.Simulation(net, threads=1)
        sim.run(50.0)
        return sim.spikes(net.recorders[0]).digest()  # type: ignore[arg-type]


def same_description(a: rv.Network, b: rv.Network) -> bool:
    return a == b and a.summary() == b.summary()


ASSIGNMENTS: dict[str, tuple[Callable[[Parts], Any], str]] = {
    "population": (lambda parts: parts.exc, "I_e"),
    "name of a population": (lambda parts: parts.exc, "name"),
    "values of a population": (lambda parts: parts.exc, "values"),
    "part of a population": (lambda parts: parts.exc[2:5], "I_e"),
    "projection": (lambda parts: parts.projection, "weight"),
    "sources of a projection": (lambda parts: parts.projection, "sources"),
    "rule of a projection": (lambda parts: parts.projection.rule, "indegree"),
    "list of connections": (lambda parts: parts.listed.rule, "sources"),
    "stimulus": (lambda parts: parts.drive, "rate"),
    "weight of a stimulus": (lambda parts: parts.drive, "weight"),
    "recorder of spikes": (lambda parts: parts.spikes, "to"),
    "recorder of states": (lambda parts: parts.state, "interval"),
    "recorder of weights": (lambda parts: parts.weights, "interval"),
    "model": (lambda _: rv.iaf_psc_exp(), "I_e"),
    "stimulator": (lambda _: rv.poisson_generator(), "rate"),
    "distribution": (lambda _: rv.Normal(1.0, 2.0), "mean"),
    "network": (lambda parts: parts.net, "resoluton"),
    "simulation": (lambda parts: rv.Simulation(parts.net, threads=1), "I_e"),
    "synapses": (lambda parts: rv.Simulation(parts.net, threads=1).connections(), "weigth"),
}


@pytest.mark.parametrize("what", ASSIGNMENTS)
def test_assignments_are_refused(what: str) -> None:
    get, name = ASSIGNMENTS[what]
    parts = Parts()
    before = copy.copy(parts.net)
    thing = get(parts)
    for value in (400.0, "abc", None):
        with pytest.raises(ReadOnlyError, match=name) as caught:
            setattr(thing, name, value)
        assert isinstance(caught.value, AttributeError)
        assert caught.value.remedy
    assert same_description(parts.net, before)


def test_deletions_are_refused() -> None:
    parts = Parts()
    for thing, name in [
        (parts.exc, "model"),
        (parts.projection, "weight"),
        (parts.drive, "values"),
        (parts.state, "to"),
        (parts.projection.rule, "indegree"),
        (rv.iaf_psc_exp(), "_values"),
        (rv.Normal(0.0, 1.0), "mean"),
    ]:
        with pytest.raises(ReadOnlyError):
            delattr(thing, name)


def test_the_error_names_the_right_call() -> None:
    parts = Parts()
    with pytest.raises(ReadOnlyError, match=r"write net.set\(exc, I_e=...\)"):
        parts.exc.I_e = 400.0
    with pytest.raises(ReadOnlyError, match=r"write net.set\(exc, I_e=...\)"):
        parts.exc.values["I_e"] = 400.0  # type: ignore[index]
    with pytest.raises(ReadOnlyError, match=r"write net.set\(projection, weight=...\).*sim.connections"):
        parts.projection.weight = 99.0
    with pytest.raises(ReadOnlyError, match=r"write net.set\(stimulus, rate=...\)"):
        parts.drive.values["rate"] = 0.0  # type: ignore[index]
    with pytest.raises(ReadOnlyError, match=r"write rv.iaf_psc_exp\(I_e=...\)"):
        rv.iaf_psc_exp().I_e = 400.0
    with pytest.raises(ReadOnlyError, match=r"write rv.iaf_psc_exp\(I_e=...\)"):
        rv.iaf_psc_exp(I_e=1.0).values["I_e"] = 400.0  # type: ignore[index]
    with pytest.raises(ReadOnlyError, match=r"sim.set\(population, I_e=...\)"):
        rv.Simulation(parts.net, threads=1).I_e = 400.0


def test_arrays_are_copies_that_cannot_be_written_to() -> None:
    currents, weights, sources = np.full(10, 380.0), np.ones(2), np.array([0, 1])
    times = np.array([1.0, 2.0])
    net = rv.Network()
    model = rv.iaf_psc_exp(I_e=currents)
    exc = net.create(model, 10, name="exc")
    played = net.create_spike_generators([times])
    projection = net.connect(exc, exc, rv.Explicit(sources, [1, 2]), weight=weights)
    net.connect(played, exc, "all_to_all")
    drive = net.stimulate(exc, "poisson_generator", rate=currents)
    net.record_state(exc[sources], "V_m")
    before = pickle.dumps(net)
    for array in (currents, weights, times):
        array[:] = 77.0
    sources[:] = 3
    assert pickle.dumps(net) == before
    for network in (net, pickle.loads(before), copy.deepcopy(net)):
        exc, projection, drive = network.populations[0], network.projections[0], network.stimuli[0]
        arrays: list[Any] = [
            exc.values["I_e"],
            projection.weight,
            cast(rv.Explicit, projection.rule).sources,
            drive.values["rate"],
            cast(rv.StateRecorder, network.recorders[0]).ids,
            exc.ids,
            model.values["I_e"],
            copy.deepcopy(model).values["I_e"],
        ]
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 5


def changes(parts: Parts) -> list[tuple[Any, dict[str, Any]]]:
    return [
        (parts.exc, {"I_e": 420.0}),
        (parts.exc, {"I_e": np.linspace(380.0, 420.0, 10), "tau_m": 12.0}),
        (parts.exc, {"V_m": rv.Uniform(-70.0, -60.0)}),
        (parts.exc[2:4], {"I_e": 500.0}),
        (parts.exc[5], {"V_th": -60.0, "V_reset": -71.0}),
        (parts.projection, {"weight": 40.0}),
        (parts.projection, {"indegree": 5, "allow_autapses": False}),
        (parts.projection, {"rule": rv.PairwiseBernoulli(0.5), "weight": rv.Normal(30.0, 3.0), "delay": 2.0}),
        (parts.projection, {"rule": "all_to_all", "weight": np.full((10, 10), 5.0)}),
        (parts.listed, {"weight": [50.0, 60.0], "weight_bound": 100.0}),
        (parts.drive, {"rate": 9000.0}),
        (parts.drive, {"weight": 25.0, "delay": 1.0}),
        (parts.steps, {"times": [1.0, 2.0, 3.0], "amplitudes": [50.0, 60.0, 70.0]}),
        (parts.played, {"spike_times": [[4.0], [5.0, 6.0], [7.0]]}),
        (parts.played[1], {"spike_times": [[2.0, 2.0]]}),
    ]


@pytest.mark.parametrize("number", range(15))
def test_a_changed_network_is_one_made_so(number: int) -> None:
    parts = Parts()
    built_before = rv.Simulation(parts.net, threads=1)
    before = parts.spikes_of()
    part, values = changes(parts)[number]
    parts.net.set(part, **values)
    after = parts.spikes_of()
    copies = [pickle.loads(pickle.dumps(parts.net)), copy.copy(parts.net), copy.deepcopy(parts.net)]
    for each in copies:
        assert same_description(each, parts.net)
        assert parts.spikes_of(each) == after
    if part is not parts.listed:
        assert after != before
    # What was built before has what it was built with.
    built_before.run(50.0)
    assert built_before.spikes(parts.spikes).digest() == before


def test_the_same_network_is_made_by_set_and_at_first() -> None:
    def network(current: float, weight: float, indegree: int, rate: float) -> rv.Network:
        net = rv.Network(seed=5)
        exc = net.create("iaf_psc_exp", 50, name="exc", I_e=current)
        net.connect(exc, exc, rv.FixedIndegree(indegree), weight=weight, delay=rv.Uniform(1.0, 3.0))
        net.stimulate(exc, rv.poisson_generator(rate=rate), weight=30.0)
        net.record_spikes()
        return net

    wanted, changed = network(300.0, 40.0, 9, 9000.0), network(0.0, 1.0, 2, 10.0)
    changed.set(changed["exc"], I_e=300.0)
    changed.set(changed.projections[0], weight=40.0, indegree=9)
    changed.set(changed.stimuli[0], rate=9000.0)
    assert same_description(changed, wanted)
    digests = set()
    for net in (wanted, changed):
        sim = rv.Simulation(net, threads=2)
        sim.run(100.0)
        digests.add(sim.spikes(net.recorders[0]).digest())  # type: ignore[arg-type]
        assert len(sim.spikes(net.recorders[0])) > 50  # type: ignore[arg-type]
    assert len(digests) == 1


def test_a_part_of_a_population_takes_numbers() -> None:
    parts = Parts()
    net, exc = parts.net, parts.exc
    net.set(exc[:3], I_e=[1.0, 2.0, 3.0], E_L=-60.0)
    np.testing.assert_array_equal(exc.values["I_e"], [1.0, 2.0, 3.0] + [380.0] * 7)
    np.testing.assert_array_equal(exc.values["E_L"], [-60.0] * 3 + [-70.0] * 7)
    plain = net.create("iaf_psc_exp", 4, E_L=-72.0)
    net.set(plain[1], V_m=-50.0)
    np.testing.assert_array_equal(plain.values["V_m"], [-72.0, -50.0, -72.0, -72.0])
    with pytest.raises(ValueOutOfBoundsError, match="each neuron needs a number"):
        net.set(exc[:3], V_m=-60.0)
    with pytest.raises(ValueOutOfBoundsError, match="each neuron needs a number"):
        net.set(exc[:3], tau_m=rv.Uniform(5.0, 10.0))
    with pytest.raises(ShapeError):
        net.set(exc[:3], I_e=np.ones(10))


REFUSED: dict[str, tuple[Callable[[Parts], Any], dict[str, Any], type[RanvierError], str]] = {
    "unknown parameter": (lambda p: p.exc, {"I_ex": 1.0}, UnknownNameError, "did you mean 'I_e'"),
    "unknown parameter of a part": (lambda p: p.exc[:2], {"I_ex": 1.0}, UnknownNameError, "did you mean 'I_e'"),
    "second of two": (lambda p: p.exc, {"I_e": 1.0, "tau_m": -1.0}, ValueOutOfBoundsError, "tau_m"),
    "conflict": (lambda p: p.exc, {"V_reset": -50.0}, ValueOutOfBoundsError, "must be below V_th"),
    "conflict of a part": (lambda p: p.exc[3], {"V_reset": -50.0}, ValueOutOfBoundsError, "must be below V_th"),
    "text": (lambda p: p.exc, {"I_e": "abc"}, UnknownSymbolError, "I_e"),
    "None": (lambda p: p.exc, {"I_e": None}, WrongTypeError, "I_e"),
    "not a number": (lambda p: p.exc, {"I_e": float("nan")}, ValueOutOfBoundsError, "finite"),
    "array of another length": (lambda p: p.exc, {"I_e": np.ones(9)}, ShapeError, "9"),
    "size": (lambda p: p.exc, {"size": 20}, ReadOnlyError, "create another"),
    "name": (lambda p: p.exc, {"name": "other"}, ReadOnlyError, "create another"),
    "weight as text": (lambda p: p.projection, {"weight": "abc"}, UnknownSymbolError, "weight"),
    "unknown value of a projection": (lambda p: p.projection, {"wieght": 1.0}, UnknownNameError, "mean 'weight'"),
    "delay below a step": (lambda p: p.projection, {"weight": 5.0, "delay": 0.01}, DelayError, "at least one step"),
    "parameter of another rule": (lambda p: p.projection, {"outdegree": 5}, UnknownNameError, "indegree"),
    "impossible rule": (
        lambda p: p.projection,
        {"weight": 5.0, "rule": rv.FixedIndegree(11, allow_multapses=False)},
        RuleError,
        "11",
    ),
    "array that does not fit the rule": (lambda p: p.projection, {"weight": np.ones(29)}, ShapeError, "weight"),
    "bound below the weights": (lambda p: p.projection, {"weight_bound": 1.0}, ValueOutOfBoundsError, "raise it"),
    "targets": (lambda p: p.projection, {"targets": 3}, ReadOnlyError, "make another projection"),
    "unknown value of a stimulus": (lambda p: p.drive, {"rat": 1.0}, UnknownNameError, "did you mean 'rate'"),
    "negative rate": (lambda p: p.drive, {"weight": 1.0, "rate": -1.0}, ValueOutOfBoundsError, "rate"),
    "sequences of different lengths": (lambda p: p.steps, {"times": [1.0]}, RanvierError, "amplitudes"),
    "number for a sequence": (lambda p: p.steps, {"times": 1.0}, ShapeError, "array"),
    "spike times that descend": (
        lambda p: p.played,
        {"spike_times": [[1.0], [2.0], [4.0, 3.0]]},
        ValueOutOfBoundsError,
        "ascend",
    ),
    "too few lists of spike times": (lambda p: p.played, {"spike_times": [[1.0]]}, ShapeError, "3 sources"),
    "values of played spikes": (lambda p: p.played, {"I_e": 1.0}, UnknownNameError, "spike_times"),
    "recorder": (lambda p: p.state, {"interval": 2.0}, ReadOnlyError, "add another"),
    "part of another network": (lambda _: Parts().exc, {"I_e": 1.0}, StateError, "another network"),
    "projection of another network": (lambda _: Parts().projection, {"weight": 1.0}, StateError, "another network"),
    "a model": (lambda _: rv.iaf_psc_exp(), {"I_e": 1.0}, WrongTypeError, "part"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_changes_nothing(what: str) -> None:
    get, values, error, message = REFUSED[what]
    parts = Parts()
    before = pickle.dumps(parts.net)
    shown = parts.net.summary()
    with pytest.raises(error, match=message):
        parts.net.set(get(parts), **values)
    assert pickle.dumps(parts.net) == before
    assert parts.net.summary() == shown
    assert parts.spikes_of() == parts.spikes_of(pickle.loads(before))


def test_setting_again_and_again_does_not_pile_up() -> None:
    parts = Parts()
    size = len(pickle.dumps(parts.net))
    for rate in range(1, 200):
        parts.net.set(parts.drive, rate=float(rate))
    assert len(pickle.dumps(parts.net)) == size
    assert parts.drive.values == {"rate": 199.0}


def test_names_of_networks_and_parts_are_checked() -> None:
    for name in ("a\0b", "\ud800"):
        with pytest.raises(ValueOutOfBoundsError, match="NUL"):
            rv.Network(name=name)
        net = rv.Network()
        with pytest.raises(ValueOutOfBoundsError):
            net.name = name
        with pytest.raises(ValueOutOfBoundsError):
            net.create("iaf_psc_exp", 1, name=name)
        with pytest.raises(UnknownNameError):
            net[name]
        with pytest.raises(RanvierError):
            net.create(name, 1)
        unknown: dict[str, Any] = {name: 1.0}
        with pytest.raises(RanvierError):
            net.create("iaf_psc_exp", 1, **unknown)
    with pytest.raises(WrongTypeError):
        net.name = 5  # type: ignore[assignment]


def test_raw_errors_that_were_found() -> None:
    net = rv.Network()
    exc = net.create("iaf_psc_exp", 5, name="exc", I_e=500.0)
    assert net.connect(exc, exc, rv.AllToAll(allow_autapses=np.bool_(False))).expected_synapses == 20  # type: ignore[arg-type]
    with pytest.raises(RuleError, match="base of all rules"):
        rv.Rule()
    with pytest.raises(WrongTypeError, match="lists of different lengths"):
        net.connect(exc, exc, "all_to_all", weight=[[1.0], [2.0, 3.0]])
    with pytest.raises(ShapeError, match="different lengths"):
        rv.Explicit([[0], [1, 2]], [0, 1])
    masked: Any
    for masked in (np.ma.masked_array([1, 2], [True, False]), [np.ma.masked, 2]):
        with pytest.raises(WrongTypeError, match="masked"):
            rv.Explicit(masked, [0, 1])
        with pytest.raises(WrongTypeError, match="masked"):
            net.record_state(exc[masked], "V_m")
    with pytest.raises(rv.errors.IndexOutOfBoundsError):
        exc[5]
    with pytest.raises(WrongTypeError):
        exc[0.5]  # type: ignore[index]
    sim = rv.Simulation(net, threads=1)
    synapses = sim.connections()
    for choice, error in [
        ([[0]], ShapeError),
        ([[0], [1, 2]], ShapeError),
        (20, IndexError),
        (-21, IndexError),
        (np.ones(3, dtype=bool), ShapeError),
        ("abc", WrongTypeError),
        (None, WrongTypeError),
        (slice("a", 2), WrongTypeError),
    ]:
        with pytest.raises(error) as caught:
            synapses[choice]  # type: ignore[index]
        assert isinstance(caught.value, RanvierError)
    assert len(synapses[-1]) == 1
    assert len(synapses[[]]) == 0
    with pytest.raises(WrongTypeError):
        rv.predict_memory(net, tuning=rv.Tuning(costs=np.ones((1, 1))))  # type: ignore[arg-type]
    with pytest.raises(ShapeError):
        rv.predict_memory(net, dry_run=rv.DryRun(invented_rate=np.ones((1, 1))))  # type: ignore[arg-type]


def test_a_state_with_more_times_counted_than_there_are_is_refused() -> None:
    net = rv.Network()
    net.create_spike_generators([[1.0], [2.0]])
    state = net.__getstate__()
    (call,) = state["calls"]
    times, _ = call.spike_times
    for counts in ([1, 2**40], [2, 1], [-1, 3], [1, 0], [1, 1, 0]):
        state["calls"] = [dataclasses.replace(call, spike_times=(times, np.array(counts)))]
        with pytest.raises(ShapeError):
            rv.Network.__new__(rv.Network).__setstate__(state)


def test_neurons_beyond_32_bits_are_told_apart() -> None:
    ranks = 2**20
    net = rv.Network()
    many = net.create("iaf_psc_exp", 2**33, name="many")
    options: Any = {"communicator": rv.mpi.Communicator.mirror(ranks), "threads": 1, "memory_limit": 2**30}
    sim = rv.Simulation(net, **grouped(options))
    sim.set(many[2**32], V_m=-60.0)
    assert sim.get(many[2**32], "V_m") == [-60.0]
    assert sim.get(many[0], "V_m") == [-70.0]


def test_many_names_are_not_all_shown() -> None:
    net = rv.Network()
    for i in range(3000):
        net.create("iaf_psc_exp", 1, name=f"population {i}")
    recorder = net.record_spikes()
    sim = rv.Simulation(net, threads=1)
    for text in (repr(recorder), repr(sim.spikes(recorder)), repr(net), repr(sim)):
        assert len(text) < 300


def test_hostile_arguments_give_typed_errors() -> None:
    net = rv.Network()
    exc = net.create("iaf_psc_exp", 3, name="exc")
    recorder, membranes = net.record_spikes(), net.record_state(exc, "V_m")
    sim = rv.Simulation(net, threads=1)
    sim.run(1.0)
    spikes, states = sim.spikes(recorder), sim.state(membranes)
    calls: list[Callable[[Any], object]] = [
        lambda bad: net[bad],
        lambda bad: net.connect(bad, exc, "all_to_all"),
        lambda bad: net.connect(exc, bad, "all_to_all"),
        lambda bad: spikes.of(bad),
        lambda bad: spikes.irregularity(least_spikes=bad),
        lambda bad: states[bad],
        lambda bad: rv.Normal(0.0, 1.0, low=0.0, mode=bad),
        lambda bad: rv.Simulation(net, tuning=rv.Tuning(costs=bad)),
        lambda bad: rv.Simulation(net, threads=7, tuning=rv.Tuning(pinning=bad)),
    ]
    for bad in (np.zeros(0), np.arange(3), np.array(5), {}, slice(None), object(), rv.Uniform(0.0, 1.0)):
        for call in calls:
            with pytest.raises(RanvierError):
                call(bad)
