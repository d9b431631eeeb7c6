"""Populations of sources whose trains a stimulator draws, and neurons that relay spikes."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from all_trains import TRAINS, model_of, spikes_of_all
from mpi_runs import WHEELS, run_python
from ranvier import _core, errors
from ranvier.forecast.load import rates_by_population
from ranvier.models import STIMULATORS
from repository import SUPPORT
from thorough_cases import one_of_each, only


def recorder_of(net: rv.Network) -> rv.SpikeRecorder:
    return next(each for each in net.recorders if isinstance(each, rv.SpikeRecorder))


def spikes_of(net: rv.Network, duration: float, *, pieces: int = 1, **options: Any) -> rv.SpikeData:
    """Return what the only recorder of a network has after a run."""
    sim = rv.Simulation(net, progress=False, **options)
    for _ in range(pieces):
        sim.run(duration / pieces)
    return sim.spikes(recorder_of(net))


def test_all_trains_are_listed() -> None:
    assert set(TRAINS) == {name for name, model in STIMULATORS.items() if model.emits_spikes}


@pytest.mark.parametrize("name", TRAINS)
def test_sources_fire_what_a_target_would_get(name: str) -> None:
    """A target of weight 1 that relays what it gets is a train of a stimulus; its times are later by the delay."""
    net = rv.Network(seed=3)
    sources = net.create(model_of(name), 40, name="sources")
    parrots = net.create("parrot_neuron", 40, name="parrots")
    net.connect(sources, parrots, "one_to_one", delay=1.7)
    net.record_spikes([sources, parrots])
    data = spikes_of(net, 61.7, threads=2)
    fired, relayed = data.of(sources), data.of(parrots)
    within = fired.steps <= 600
    assert len(fired) > 100
    assert np.array_equal(relayed.steps, fired.steps[within] + 17)
    assert np.array_equal(relayed.ids - parrots.first_id, fired.ids[within] - sources.first_id)


@pytest.mark.parametrize("name", TRAINS)
def test_trains_do_not_depend_on_how_the_work_is_divided(name: str) -> None:
    def made() -> rv.Network:
        net = rv.Network(seed=5)
        net.create("iaf_psc_exp", 3)
        # Ids that follow no rule on a shard, and values of their own.
        rates = {"rate": np.linspace(50.0, 400.0, 33)} if "rate" in TRAINS[name] else {}
        sources = net.create(model_of(name, **rates), 33)
        net.record_spikes(sources)
        return net

    plain = spikes_of(made(), 60.0, threads=1, tuning=rv.Tuning(instruction_set="baseline"))
    assert len(plain) > 50
    ways: list[dict[str, Any]] = [
        {"threads": 2},
        {"threads": 3, "pieces": 5},
        {"threads": 2, "tuning": rv.Tuning(shards=7)},
        {"threads": 2, "stepping": "async"},
    ]
    for way in ways:
        assert spikes_of(made(), 60.0, **way).digest() == plain.digest(), way


def test_trains_do_not_depend_on_instruction_sets() -> None:
    digests = {spikes_of_all(instruction_set=each, threads=1)[0] for each in _core.instruction_sets()}
    assert len(digests) == 1


@pytest.mark.thorough
def test_trains_do_not_depend_on_processes(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = [{"threads": 1, "placement": "shuffle"}]
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    done = run_python(WHEELS[0], 2, SUPPORT / "all_trains.py", "asked.json", "found.json", folder=tmp_path)
    assert done.status == 0, done.errors
    digest, spikes = spikes_of_all(threads=1)
    assert json.loads((tmp_path / "found.json").read_text()) == [[digest, spikes]] * len(asked)
    assert spikes > 1000


@pytest.mark.parametrize("name", TRAINS)
def test_trains_of_targets_are_independent_of_others(name: str) -> None:
    """Which other targets a stimulus has does not change the train of one."""

    def trains(targets: slice) -> rv.SpikeData:
        net = rv.Network(seed=2)
        parrots = net.create("parrot_neuron", 20)
        net.stimulate(parrots[targets], model_of(name), delay=0.3)
        net.record_spikes(parrots[11])
        return spikes_of(net, 50.0, threads=1)

    alone, together = trains(slice(11, 12)), trains(slice(0, 20))
    assert len(alone) > 0
    assert alone.digest() == together.digest()


def test_windows_and_seeds() -> None:
    def spikes(seed: int, **values: Any) -> rv.SpikeData:
        net = rv.Network(seed=seed)
        net.record_spikes(net.create(rv.gamma_generator(rate=300.0, shape=2.0, **values), 50))
        return spikes_of(net, 60.0, threads=1)

    data = spikes(1, start=10.0, stop=30.0)
    assert 10.0 < data.times.min() < 10.5
    assert 29.5 < data.times.max() <= 30.0
    assert spikes(1).digest() != spikes(2).digest()
    # Trains begin in equilibrium at the start: the same one, only later.
    later = spikes(1, start=20.0)
    assert np.array_equal(later.steps - 200, spikes(1).steps[spikes(1).steps <= 400])


def test_populations_have_trains_of_their_own() -> None:
    net = rv.Network(seed=1)
    for _ in range(2):
        net.create(rv.poisson_generator(rate=500.0), 20)
    net.stimulate(net.create("parrot_neuron", 20), rv.poisson_generator(rate=500.0))
    recorder = net.record_spikes(list(net.populations))
    sim = rv.Simulation(net, progress=False, threads=1)
    sim.run(50.0)
    trains = [tuple(sim.spikes(recorder).of(population).steps) for population in net.populations]
    assert len({*trains}) == 3


def test_sources_are_no_neurons() -> None:
    net = rv.Network()
    sources = net.create(rv.poisson_generator(rate=1000.0), 10, name="sources")
    neurons = net.create("iaf_psc_exp", 5)
    net.connect(sources, neurons, "all_to_all", weight=1.0)
    recorder = net.record_spikes()
    assert net.neuron_count == 5
    assert sources.is_source
    assert not neurons.is_source
    sim = rv.Simulation(net, progress=False)
    sim.run(20.0)
    assert sim.counts().neurons == 5
    assert sim.counts().spikes == 0
    assert list(sim.counts().population_spikes) == [neurons.name]
    assert len(sim.spikes(recorder)) == 0
    assert sim.counts().synaptic_events > 500
    with pytest.raises(errors.ValueOutOfBoundsError, match="takes no input"):
        net.connect(neurons, sources, "all_to_all")
    with pytest.raises(errors.ValueOutOfBoundsError, match="takes no input"):
        net.stimulate(sources, rv.dc_generator(amplitude=1.0))
    with pytest.raises(errors.UnknownNameError):
        net.record_state(sources, "V_m")


def test_currents_make_no_sources() -> None:
    with pytest.raises(errors.WrongTypeError, match=r"ac_generator, which gives currents.*net\.stimulate"):
        rv.Network().create(rv.ac_generator(amplitude=1.0), 3)


def test_names_values_copies_and_pickles() -> None:
    net = rv.Network()
    by_name = net.create("gamma_generator", 3, rate=[1.0, 2.0, 3.0], shape=2.0)
    assert by_name.values["shape"] == 2.0
    changing = net.create(rv.inhomogeneous_poisson_generator(times=[0.0, 5.0], rates=[100.0, 900.0]), 30)
    net.record_spikes(changing)
    assert np.asarray(changing.values["rates"]).tolist() == [100.0, 900.0]
    again = pickle.loads(pickle.dumps(net))
    assert again == net
    assert copy.deepcopy(net) == net
    assert spikes_of(again, 20.0).digest() == spikes_of(net, 20.0).digest()
    net.set(changing, rates=[0.0, 0.0])
    assert len(spikes_of(net, 20.0)) == 0 < len(spikes_of(again, 20.0))
    assert "gamma_generator" in net.summary()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda net: net.create("gamma_generator", 2, shap=1.0), errors.UnknownNameError, "shape"),
        (lambda net: net.create("gamma_generator", 2, shape=0.01), errors.ValueOutOfBoundsError, "0.05"),
        (
            lambda net: net.create("gamma_generator", 2, rate=[10.0, 600.0], dead_time=2.0),
            errors.ValueOutOfBoundsError,
            "shorter than the mean interval",
        ),
        (lambda net: net.create("poisson_generator", 2, rate=2e5), errors.ValueOutOfBoundsError, "more than 16 spikes"),
        (
            lambda net: net.create("sinusoidal_gamma_generator", 2, rate=100.0, amplitude=901.0, dead_time=1.0),
            errors.ValueOutOfBoundsError,
            "dead_time",
        ),
        (lambda net: net.create("poisson_generator", 2, start=0.05), errors.GridError, "start"),
        (lambda net: net.create("poisson_generator", 2, start=5.0, stop=2.0), errors.ValueOutOfBoundsError, "stop"),
        (lambda net: net.create("poisson_generator", 2, rate=[1.0, 2.0, 3.0]), errors.ShapeError, "rate"),
        (
            lambda net: net.create(rv.inhomogeneous_poisson_generator(times=[0.0], rates=[1.0, 2.0]), 2),
            errors.ValueOutOfBoundsError,
            "times has 1 elements",
        ),
        (
            lambda net: net.create(rv.pulsepacket_generator(pulse_times=[3.0, 2.0]), 2),
            errors.ValueOutOfBoundsError,
            "later than the time before",
        ),
        (
            lambda net: net.create(rv.pulsepacket_generator(pulse_times=[3.0], activity=2.5), 2),
            errors.ValueOutOfBoundsError,
            "whole number",
        ),
        (lambda net: net.create("mip_generator", 2, p_copy=1.1), errors.ValueOutOfBoundsError, "p_copy"),
        (lambda net: net.create("ignore_and_fire", 2, rate=10001.0), errors.ValueOutOfBoundsError, "one spike"),
        (lambda net: net.create("ignore_and_fire", 2, phase=1.5), errors.ValueOutOfBoundsError, "phase"),
    ],
)
def test_bad_values(make: Any, error: type[Exception], text: str) -> None:
    def built() -> rv.Simulation:
        net = rv.Network()
        make(net)
        return rv.Simulation(net, progress=False)

    with pytest.raises(error, match=text):
        built()


# ---- changes while a simulation runs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "form"), one_of_each(TRAINS, ["sources", "stimulus"]))
def test_set_while_running_is_saved(name: str, form: str, tmp_path: Path) -> None:
    def made() -> rv.Network:
        net = rv.Network(seed=4)
        if form == "sources":
            net.create(model_of(name), 30)
        else:
            net.stimulate(net.create("parrot_neuron", 30), model_of(name), delay=0.4)
        net.record_spikes(net.populations[0])
        return net

    changes: list[dict[str, Any]] = [{"start": 0.0}]
    if "rate" in TRAINS[name]:
        changes.append({"rate": rv.Uniform(100.0, 600.0)})
    if "rates" in TRAINS[name]:
        changes.append({"times": [0.0, 35.0], "rates": [300.0, 20.0]})
    if "pulse_times" in TRAINS[name]:
        changes.append({"pulse_times": [22.0, 45.0]})
    if "shape" in TRAINS[name]:
        changes.append({"shape": 1.5})

    def change(sim: rv.Simulation) -> None:
        part: Any = sim.network.populations[0] if form == "sources" else sim.network.stimuli[0]
        for values in changes:
            sim.set(part, **values)

    whole = rv.Simulation(made(), progress=False, threads=1)
    unchanged = spikes_of(made(), 60.0)
    whole.run(20.0)
    change(whole)
    whole.run(40.0)
    recorder = recorder_of(whole.network)
    first = rv.Simulation(made(), progress=False, threads=2)
    first.run(20.0)
    change(first)
    first.run(10.0)
    first.save(tmp_path / "state.h5")
    loaded = rv.Simulation.load(made(), tmp_path / "state.h5", progress=False, threads=3)
    loaded.run(30.0)
    spikes = whole.spikes(recorder)
    assert loaded.spikes(recorder_of(loaded.network)).digest() == spikes.digest()
    assert spikes.digest() != unchanged.digest()
    assert np.array_equal(spikes.steps[spikes.steps <= 200], unchanged.steps[unchanged.steps <= 200])


def test_set_of_some_sources_and_get() -> None:
    net = rv.Network(seed=1)
    sources = net.create(rv.gamma_generator(rate=100.0, shape=2.0), 100)
    recorder = net.record_spikes(sources)
    sim = rv.Simulation(net, progress=False, threads=2)
    sim.set(sources[:50], rate=0.0)
    sim.run(100.0)
    assert set(sim.spikes(recorder).ids) <= set(range(50, 100))
    assert sim.get(sources, "rate").tolist() == [0.0] * 50 + [100.0] * 50
    with pytest.raises(errors.ValueOutOfBoundsError, match="more than 16"):
        sim.set(sources[:3], rate=1e6)
    with pytest.raises(errors.ValueOutOfBoundsError, match="dead_time"):
        sim.set(sources, dead_time=10.0)
    assert sim.get(sources, "dead_time").tolist() == [0.0] * 100


def test_lists_of_sources_belong_to_all() -> None:
    net = rv.Network()
    sources = net.create(rv.inhomogeneous_gamma_generator(times=[0.0], rates=[100.0], dead_time=1.0), 10)
    sim = rv.Simulation(net, progress=False)
    for call in (net.set, sim.set):
        with pytest.raises(errors.ValueOutOfBoundsError, match="share its lists"):
            call(sources[:5], rates=[5.0])
    with pytest.raises(errors.ValueOutOfBoundsError, match="times has 1 elements"):
        sim.set(sources, rates=[5.0, 6.0])
    with pytest.raises(errors.ValueOutOfBoundsError, match="dead_time"):
        sim.set(sources, rates=[1001.0])
    with pytest.raises(errors.WrongTypeError, match="beside others"):
        sim.set(sources, rates=[5.0], shape=2.0)
    # Lists must fit to what was set before, too.
    sim.set(sources, rates=[10.0])
    sim.set(sources, dead_time=50.0)
    with pytest.raises(errors.ValueOutOfBoundsError, match="dead_time"):
        sim.set(sources, rates=[30.0])


def test_lists_of_sources_fit_the_present_parameters(tmp_path: Path) -> None:
    """Rates that the dead time of the description would not allow, after it has become shorter."""

    def made() -> rv.Network:
        net = rv.Network(seed=2)
        model = rv.inhomogeneous_gamma_generator(times=[0.0], rates=[10.0], dead_time=50.0)
        net.record_spikes(net.create(model, 10, name="sources"))
        return net

    sim = rv.Simulation(made(), progress=False, threads=1)
    sim.run(10.0)
    (sources,) = sim.network.populations
    sim.set(sources, dead_time=1.0)
    sim.set(sources, rates=[500.0])
    sim.run(30.0)
    sim.save(tmp_path / "state.h5")
    loaded = rv.Simulation.load(made(), tmp_path / "state.h5", progress=False, threads=2)
    for each in (sim, loaded):
        each.run(30.0)
    spikes = sim.spikes(recorder_of(sim.network))
    assert len(spikes) > 200
    assert loaded.spikes(recorder_of(loaded.network)).digest() == spikes.digest()
    with pytest.raises(errors.ValueOutOfBoundsError, match="dead_time"):
        sim.set(sources, dead_time=3.0)
    # The description is as it was.
    with pytest.raises(errors.ValueOutOfBoundsError, match="dead_time"):
        sim.network.set(sources, rates=[500.0])


# ---- relays ----------------------------------------------------------------------------------------------------------


def test_parrots_relay_each_spike_with_multiplicity() -> None:
    net = rv.Network()
    played = net.create_spike_generators([[5.0, 5.0, 5.0, 7.0, 7.0], [7.0]])
    parrots = net.create("parrot_neuron", 2)
    net.connect(played, parrots[0], "all_to_all", delay=1.5)
    net.connect(parrots[0], parrots[1], "one_to_one", delay=2.0)
    net.record_spikes(parrots)
    data = spikes_of(net, 20.0, threads=2)
    first, second = data.of(parrots[0]), data.of(parrots[1])
    assert first.times.tolist() == [6.5] * 3 + [8.5] * 3
    assert second.times.tolist() == [8.5] * 3 + [10.5] * 3


def test_weights_onto_parrots_are_one() -> None:
    net = rv.Network()
    played = net.create_spike_generators([[1.0]])
    parrots = net.create("parrot_neuron", 2)
    for weight in (0.5, -1.0, 2.0):
        with pytest.raises(errors.ValueOutOfBoundsError, match="parrot_neuron"):
            net.connect(played, parrots, "all_to_all", weight=weight)
        with pytest.raises(errors.ValueOutOfBoundsError, match="parrot_neuron"):
            net.stimulate(parrots, rv.poisson_generator(rate=1.0), weight=weight)
    with pytest.raises(errors.ValueOutOfBoundsError, match="no current"):
        net.stimulate(parrots, rv.dc_generator(amplitude=1.0))


def test_spikes_that_cannot_be_relayed_are_an_error() -> None:
    net = rv.Network()
    net.connect(net.create_spike_generators([[1.0] * 1024]), net.create("parrot_neuron", 1), "all_to_all")
    with pytest.raises(errors.StateError, match=r"relay 1024 spikes.*up to 1023"):
        rv.Simulation(net, progress=False).run(5.0)
    net = rv.Network()
    depressing = rv.tsodyks2(U=0.4, u=0.4)
    sources = net.create_spike_generators([[1.0]])
    net.connect(sources, net.create("parrot_neuron", 1), "all_to_all", synapse=depressing)
    with pytest.raises(errors.StateError, match=r"relay 0\.4"):
        rv.Simulation(net, progress=False).run(5.0)


@pytest.mark.parametrize(("rate", "time"), only([(4e5, 10.0)], [(4e5, 10.0), (1e6, 20.0)]))
def test_sums_of_many_spikes_at_once_are_exact(rate: float, time: float) -> None:
    """Weights so different that the sum would depend on the order, from relays that fire many times in a step."""
    outcomes = set()
    for options in ({"threads": 1}, {"threads": 3}, {"threads": 2, "tuning": rv.Tuning(table_layout="ring")}):
        net = rv.Network(seed=2)
        parrots = net.create("parrot_neuron", 50)
        net.stimulate(parrots, rv.poisson_generator(rate=rate))
        neurons = net.create(rv.iaf_psc_exp(), 30)
        net.connect(parrots, neurons, rv.FixedIndegree(40), weight=rv.LogNormal(-8.0, 2.0), delay=rv.Uniform(0.1, 2.0))
        recorder = net.record_state(neurons, "V_m", 0.5)
        sim = rv.Simulation(net, progress=False, **options)
        sim.run(time)
        outcomes.add(sim.state(recorder).values.tobytes())
    assert len(outcomes) == 1


def test_synapses_learn_from_sources_and_relays() -> None:
    """A parrot that fires twice in a step counts twice as a target, as two neurons would that fire once each."""
    changes = []
    for times in ([10.0], [10.0, 10.0]):
        net = rv.Network()
        before = net.create_spike_generators([[5.0, 30.0]])
        relayed = net.create_spike_generators([times])
        parrots = net.create("parrot_neuron", 1)
        net.connect(relayed, parrots, "all_to_all", delay=1.0)
        model = rv.stdp(learning_rate=0.01, W_max=2.0, mu_plus=0.0, mu_minus=0.0, alpha=0.0)
        net.connect(before, parrots, rv.AllToAll(), weight=1.0, delay=40.0, synapse=model, name="learning")
        sim = rv.Simulation(net, progress=False)
        sim.run(60.0)
        changes.append(sim.connections(projection=net.projections[1]).weights[0] - 1.0)
    assert changes[0] != 0.0
    assert changes[1] == pytest.approx(2.0 * changes[0], rel=1e-5)


def test_neurons_that_ignore_and_fire() -> None:
    net = rv.Network()
    neurons = net.create("ignore_and_fire", 3, rate=[10.0, 123.4, 0.0], phase=[1.0, 0.5, 0.2])
    net.stimulate(neurons, rv.poisson_generator(rate=9000.0), weight=500.0)
    net.connect(neurons, neurons, "all_to_all", weight=-3.0)
    recorder = net.record_spikes()
    sim = rv.Simulation(net, progress=False, threads=2)
    sim.run(1000.0)
    data = sim.spikes(recorder)
    assert data.of(neurons[0]).times.tolist() == [100.0 * k for k in range(1, 11)]
    exact = (np.arange(200) + 0.5) * 1000.0 / 123.4
    assert data.of(neurons[1]).steps.tolist() == np.ceil(exact[exact <= 1000.0] / 0.1 - 1e-6).tolist()
    assert len(data.of(neurons[2])) == 0
    # Half of the interval has passed; the rest takes half as long.
    sim.run(50.0)
    assert sim.get(neurons, "phase")[0] == pytest.approx(0.5)
    sim.set(neurons[0], rate=20.0)
    assert sim.get(neurons, "phase")[0] == pytest.approx(0.5)
    sim.run(30.0)
    assert sim.spikes(recorder).of(neurons[0]).times[-1] == 1075.0
    sim.set(neurons[2], rate=10.0)
    sim.run(20.0)
    assert sim.spikes(recorder).of(neurons[2]).times.tolist() == [1100.0]


# ---- predictions -----------------------------------------------------------------------------------------------------


def test_rates_of_sources_are_expected() -> None:
    net = rv.Network()
    net.create(rv.poisson_generator(rate=rv.Uniform(2.0, 4.0)), 10, name="poisson")
    net.create(rv.mip_generator(rate=50.0, p_copy=0.1), 10, name="mip")
    net.create(rv.inhomogeneous_gamma_generator(times=[0.0, 1.0], rates=[5.0, 15.0]), 10, name="changing")
    net.create("iaf_psc_exp", 10, name="neurons")
    rates = rates_by_population(net, {"mip": 7.0}, 1.0)
    assert list(rates.values()) == [3.0, 7.0, 10.0, 1.0]
    assert rates_by_population(net, {}, 1.0)[1] == 5.0


def test_few_sources_of_a_shard_draw_the_trains_of_many() -> None:
    """A shard draws few sources one by one, many in batches."""
    rates = np.concatenate([[0.0], np.geomspace(0.5, 150_000.0, 23)])
    digests = {}
    tried: dict[str, Any] = {"different rates": rates, "equal rates": 9000.0}
    for name, rate in tried.items():
        for threads in (1, 5, 6, 8, 12, 24):
            net = rv.Network(resolution=0.1, seed=7)
            recorder = net.record_spikes(net.create(rv.poisson_generator(rate=rate), 24))
            sim = rv.Simulation(net, threads=threads)
            sim.run(60.0)
            assert len(sim.spikes(recorder)) > 5_000
            digests[name, threads] = sim.spikes(recorder).digest()
    assert len(set(digests.values())) == 2


@pytest.mark.parametrize("model", ["inhomogeneous_poisson_generator", "inhomogeneous_gamma_generator"])
def test_a_course_is_that_of_constant_rates_in_turn(model: str) -> None:
    """Its present value is looked up again only where it may change, also after the lists were set anew."""
    times, rates = [0.0, 5.0, 5.3, 20.0, 21.0], [900.0, 0.0, 5000.0, 300.0, 2000.0]
    counts = {}
    for changed in (False, True):
        net = rv.Network(seed=3)
        sources = net.create(getattr(rv, model)(times=times, rates=[1.0] * 5 if changed else rates), 3)
        recorder = net.record_spikes(list(net.populations))
        sim = rv.Simulation(net, threads=1)
        if changed:
            sim.run(0.0)
            sim.set(sources, times=times, rates=rates)
        sim.run(10.0)
        sim.run(30.0)
        assert len(sim.spikes(recorder)) > 20
        counts[changed] = sim.spikes(recorder).digest()
    assert counts[False] == counts[True]
