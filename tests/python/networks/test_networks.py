"""The networks that ship are those of the literature."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import lambertw

import ranvier as rv
from ranvier.networks import NetworkModel, brunel, hpc_benchmark, interval_fire, microcircuit
from ranvier.networks._alpha_psp import alpha_psp_height
from thorough_cases import only

POPULATIONS = ["L23E", "L23I", "L4E", "L4I", "L5E", "L5I", "L6E", "L6I"]


def test_microcircuit_at_full_scale() -> None:
    net = microcircuit().net
    assert net.neuron_count == 77_169
    assert net.expected_synapses == 298_880_968
    assert [population.name for population in net.populations] == POPULATIONS
    assert len(net.projections) == 64 - 9, "nine pairs of populations are not connected"
    weights: dict[str, Any] = {projection.name: projection.weight for projection in net.projections}
    assert weights["L4E to L4E"].mean == pytest.approx(87.81, abs=0.005)
    assert weights["L4E to L4E"].std == pytest.approx(8.781, abs=0.0005)
    assert weights["L4E to L4E"].low == 0.0
    assert weights["L4E to L23E"].mean == pytest.approx(2 * 87.81, abs=0.01)
    assert weights["L4I to L23E"].mean == pytest.approx(-4 * 87.81, abs=0.02)
    assert weights["L4I to L23E"].high == 0.0
    delays = {projection.name: projection.delay for projection in net.projections}
    assert delays["L4E to L4E"] == rv.Normal(1.5, 0.75, low=0.05)
    assert delays["L4I to L4E"] == rv.Normal(0.75, 0.375, low=0.05)
    # 0.001 * 8 spikes/s * 1600 * 87.81 pA * 0.5 ms
    assert net["L23E"].values["I_e"] == pytest.approx(0.001 * 8.0 * 1600 * 87.81 * 0.5, rel=1e-4)


def test_microcircuit_with_poisson_drive() -> None:
    net = microcircuit(drive="poisson").net
    assert all(population.values.get("I_e", 0.0) == 0.0 for population in net.populations)
    assert [stimulus.values["rate"] for stimulus in net.stimuli] == [
        8.0 * indegree for indegree in (1600, 1500, 2100, 1900, 2000, 1900, 2900, 2100)
    ]
    assert {stimulus.delay for stimulus in net.stimuli} == {1.5}
    assert [stimulus.weight for stimulus in net.stimuli] == [pytest.approx(87.81, abs=0.005)] * 8


@pytest.mark.parametrize("drive", ["dc", "poisson"])
def test_scaling_keeps_the_mean_input(drive: str) -> None:
    """At the published rates every neuron gets the same mean current, whatever the in-degrees."""

    def mean_input(k_scaling: float) -> list[float]:
        model: Any = microcircuit(k_scaling=k_scaling, drive=drive)  # type: ignore[arg-type]
        current = {name: float(model.net[name].values.get("I_e", 0.0)) for name in POPULATIONS}
        for projection in model.net.projections:
            source, target = projection.sources.population, projection.targets.population
            indegree = projection.expected_synapses / len(target)
            rate = model.published_rates[source.name]
            current[target.name] += 0.001 * 0.5 * indegree * rate * projection.weight.mean
        for stimulus in model.net.stimuli:
            current[stimulus.targets.name] += 0.001 * 0.5 * stimulus.values["rate"] * stimulus.weight
        return [current[name] for name in POPULATIONS]

    assert mean_input(0.25) == pytest.approx(mean_input(1.0), rel=2e-3)


def test_scaling() -> None:
    half = microcircuit(scale=0.5)
    assert half.net.neuron_count == pytest.approx(77_169 / 2, abs=4)
    assert half.net.expected_synapses == pytest.approx(298_880_968 / 4, abs=64)
    assert microcircuit(n_scaling=0.5).net.expected_synapses == pytest.approx(298_880_968 / 2, abs=64)
    assert microcircuit(k_scaling=0.5).net.neuron_count == 77_169
    assert microcircuit(k_scaling=0.25).net.projections[0].weight.mean == pytest.approx(2 * 87.81, abs=0.01)  # type: ignore[union-attr]
    assert microcircuit(scale=0.5, n_scaling=0.1, k_scaling=0.2).net.neuron_count == pytest.approx(7717, abs=4)


def test_scaling_that_silences_constant_drive() -> None:
    """Below a fifth of the in-degrees the circuit is driven by Poisson trains, unless somebody insists on silence."""
    assert microcircuit(k_scaling=0.2).net.stimuli == ()
    assert microcircuit().notes == microcircuit(scale=0.5).notes == ()
    small = microcircuit(scale=0.05)
    assert len(small.net.stimuli) == 8
    assert "Poisson" in small.notes[0]
    assert "lower" in small.notes[1]
    with pytest.warns(UserWarning, match="5 % of the in-degrees, constant drive leaves most populations silent"):
        silent = microcircuit(scale=0.05, drive="dc")
    assert silent.net.stimuli == ()
    assert "drive=poisson" in silent.notes[0]
    assert "share" in microcircuit(n_scaling=0.1, k_scaling=1.0).notes[0]


@pytest.mark.parametrize(("scale", "least"), only([(0.05, 0.25)], [(0.05, 0.25), (0.2, 0.5)]))
def test_small_circuits_are_active(scale: float, least: float) -> None:
    model = microcircuit(scale=scale)
    sim = rv.Simulation(model.net, progress=False)
    sim.run(400.0)
    rates = sim.spikes(model.spikes).between(100.0).mean_rates()
    # All but those of the lowest rates, L23E and L6E. 53 neurons with 4 spikes/s, the fewest there are, fire 64 times
    # in 0.3 s: eight standard deviations above none.
    for name in ("L4E", "L4I", "L5E", "L5I", "L6I"):
        assert least * model.published_rates[name] < rates[name] < 1.5 * model.published_rates[name], name


def test_initial_potentials() -> None:
    model = microcircuit(n_scaling=0.5, k_scaling=0.001)
    sim = rv.Simulation(model.net)
    potentials = sim.get(model.net["L4E"], "V_m")
    # Five standard errors.
    assert potentials.mean() == pytest.approx(-63.33, abs=5 * 4.74 / math.sqrt(len(potentials)))
    assert potentials.std() == pytest.approx(4.74, abs=5 * 4.74 / math.sqrt(2 * len(potentials)))


def test_brunel_of_the_paper() -> None:
    net = brunel().net
    assert {population.name: len(population) for population in net.populations} == {
        "excitatory": 10_000,
        "inhibitory": 2_500,
    }
    assert net.expected_synapses == 12_500 * 1_250
    assert [projection.weight for projection in net.projections] == [0.1, -0.5, 0.1, -0.5]
    assert {projection.delay for projection in net.projections} == {1.5}
    # eta * threshold / (J * tau_m): 2 * 20 mV / (0.1 mV * 20 ms) = 20 spikes/ms
    assert [stimulus.values["rate"] for stimulus in net.stimuli] == [pytest.approx(20_000.0)] * 2


def test_brunel_with_alpha_currents() -> None:
    net = brunel(version="alpha").net
    ratio, rate = 40.0, 1.95
    time = (-lambertw(-math.exp(-1 / ratio) / ratio, k=-1).real - 1 / ratio) / rate
    rise = math.exp(-time / 20.0) - math.exp(-time / 0.5)
    height = math.e / (0.5 * 250.0 * rate) * (rise / rate - time * math.exp(-time / 0.5))
    assert alpha_psp_height(20.0, 0.5, 250.0) == pytest.approx(height, rel=1e-12)
    assert net.projections[0].weight == pytest.approx(0.1 / height)
    # The mean current of the drive takes a neuron to twice its threshold.
    stimulus: Any = net.stimuli[0]
    charge = math.e * 0.5 * stimulus.weight
    assert 0.001 * stimulus.values["rate"] * charge == pytest.approx(2 * 20.0 * 250.0 / 20.0)


def test_psp_of_the_alpha_version_in_a_simulation() -> None:
    net = rv.Network(resolution=0.01)
    neuron = net.create(
        rv.iaf_psc_alpha(E_L=0.0, V_reset=0.0, V_th=20.0, C_m=250.0, tau_m=20.0, tau_syn_ex=0.5, V_m=0.0), 1
    )
    weight = brunel(version="alpha").net.projections[0].weight
    net.connect(net.create_spike_generators([[1.0]]), neuron, rv.OneToOne(), weight=weight)
    recorder = net.record_state(neuron, "V_m")
    sim = rv.Simulation(net, weight_precision="double")
    sim.run(20.0)
    assert sim.state(recorder)["V_m"].max() == pytest.approx(0.1, rel=1e-4)


def test_keys_of_brunel() -> None:
    net = brunel(order=50, scale=2.0, g=4.0, epsilon=0.2, J=0.2, delay=2.0, resolution=0.5, seed=3).net
    assert (net.neuron_count, net.resolution, net.seed) == (500, 0.5, 3)
    assert net.expected_synapses == 500 * 100
    assert net.projections[1].weight == pytest.approx(-0.8)
    assert net.projections[1].delay == 2.0


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("scale", 1e308, rv.errors.ValueOutOfBoundsError),
        ("scale", bytearray(b"x"), rv.errors.WrongTypeError),
        ("order", np.array([2**63], dtype=np.uint64), rv.errors.WrongTypeError),
        ("order", 0, rv.errors.ValueOutOfBoundsError),
        ("eta", np.ma.masked_array([1.0, 2.0], mask=[False, True]), rv.errors.WrongTypeError),
        ("g", math.nan, rv.errors.ValueOutOfBoundsError),
        ("J", 0.0, rv.errors.ValueOutOfBoundsError),
        ("epsilon", 1.5, rv.errors.ValueOutOfBoundsError),
        ("version", np.array(["alpha", "delta"]), rv.errors.WrongTypeError),
        ("version", "beta", rv.errors.UnknownNameError),
    ],
)
def test_keys_of_brunel_that_are_none_are_refused(key: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=key):
        brunel(**{key: value})


@pytest.mark.parametrize("value", [1e308, 10**400, -1.0, 0.0, math.nan, math.inf, 1j, "a", [[1.0], [1.0, 2.0]], {}])
@pytest.mark.parametrize("key", ["scale", "n_scaling", "k_scaling", "indegree_scale"])
def test_scales_that_are_none_are_refused(key: str, value: Any) -> None:
    for network in (microcircuit, hpc_benchmark):
        if key in inspect.signature(network).parameters:
            with pytest.raises(rv.errors.RanvierError, match=key):
                network(**{key: value})


def test_names_that_are_none_are_refused() -> None:
    with pytest.raises(rv.errors.WrongTypeError, match="drive"):
        microcircuit(drive=np.array(["dc", "dc"]))  # type: ignore[arg-type]
    with pytest.raises(rv.errors.WrongTypeError, match="topology"):
        interval_fire(cells=10, topology=np.array(["random"] * 2))  # type: ignore[arg-type]


def test_hpc_benchmark_of_the_paper() -> None:
    net = hpc_benchmark().net
    assert {population.name: len(population) for population in net.populations} == {
        "excitatory": 9_000,
        "inhibitory": 2_250,
    }
    assert net.expected_synapses == 11_250 * 11_250
    weights: list[Any] = [projection.weight for projection in net.projections]
    # The weight of the same network in NEST 3.10.
    assert weights == [pytest.approx(weight, rel=1e-12) for weight in [45.609600316540956, -228.04800158270478] * 2]
    assert {projection.delay for projection in net.projections} == {1.5}
    assert {stimulus.delay for stimulus in net.stimuli} == {1.5}
    # The mean current of the drive takes a neuron to 1.685 times its threshold.
    for stimulus in net.stimuli:
        rate: Any = stimulus.values["rate"]
        charge = math.e * 0.32582722403722841 * weights[0]
        assert 0.001 * rate * charge == pytest.approx(1.685 * 20.0 * 250.0 / 10.0)


def test_scaling_of_hpc_benchmark() -> None:
    net = hpc_benchmark(scale=0.1, indegree_scale=0.01, resolution=0.25, seed=4).net
    assert (net.neuron_count, net.resolution, net.seed) == (1125, 0.25, 4)
    assert net.expected_synapses == 1125 * (90 + 22)
    assert hpc_benchmark(scale=0.1).net.expected_synapses == 1125 * 11_250


def test_psp_of_hpc_benchmark_in_a_simulation() -> None:
    full = hpc_benchmark(scale=0.001)
    net = rv.Network(resolution=0.01)
    values: dict[str, Any] = {**full.net["excitatory"].values, "V_m": 0.0}
    neuron = net.create("iaf_psc_alpha", 1, **values)
    weight = full.net.projections[0].weight
    net.connect(net.create_spike_generators([[1.0]]), neuron, rv.OneToOne(), weight=weight)
    recorder = net.record_state(neuron, "V_m")
    sim = rv.Simulation(net, weight_precision="double")
    sim.run(20.0)
    assert sim.state(recorder)["V_m"].max() == pytest.approx(0.14, rel=1e-4)


def test_hpc_benchmark_starts_from_a_normal_distribution() -> None:
    model = hpc_benchmark(scale=0.2, indegree_scale=0.001)
    potentials = rv.Simulation(model.net).get(model.net["excitatory"], "V_m")
    # Five standard errors.
    assert potentials.mean() == pytest.approx(5.7, abs=5 * 7.2 / math.sqrt(len(potentials)))
    assert potentials.std() == pytest.approx(7.2, abs=5 * 7.2 / math.sqrt(2 * len(potentials)))


def spikes_of(model: NetworkModel, time: float) -> rv.SpikeData:
    sim = rv.Simulation(model.net, threads=2)
    sim.run(time)
    return sim.spikes(model.spikes)


def test_interval_fire_network_of_the_paper() -> None:
    model = interval_fire(cells=500, connections=120, resolution=0.1)
    assert (model.time, model.net.resolution) == (200.0, 0.1)
    degrees = np.bincount(rv.Simulation(model.net).connections().targets, minlength=500)
    assert degrees.min() >= 70
    assert degrees.max() <= 170
    assert degrees.mean() == pytest.approx(120, abs=5 * 29.2 / math.sqrt(500))
    (projection,) = model.net.projections
    assert (projection.weight, projection.delay) == (1.0, 1.0)
    spikes = spikes_of(model, 1000.0)
    first = np.full(500, np.inf)
    np.minimum.at(first, spikes.ids, spikes.times)
    assert first.min() > 20.0, "no cell fires in the first 20 ms"
    assert first.max() <= 40.0, "all cells fire in the next 20 ms"
    # Intervals are 30 ms and half a step on average, with a standard deviation of 5.8 ms: so that of the number of
    # spikes of a cell in T is sqrt(T * 5.8**2 / 30**3). Five standard errors, after the time in which all are in step.
    rate = len(spikes.between(200.0)) / 500 / 0.8
    assert rate == pytest.approx(1000.0 / 30.05, abs=5 * math.sqrt(800 * 5.8**2 / 30**3) / 0.8 / math.sqrt(500))


@pytest.mark.parametrize("topology", ["random", "adjacent"])
def test_interval_fire_network_does_not_feel_its_connections(topology: Any) -> None:
    alone = spikes_of(interval_fire(cells=200, connections=0, resolution=0.1), 300.0)
    connected = spikes_of(interval_fire(cells=200, connections=20, topology=topology, resolution=0.1), 300.0)
    assert connected.digest() == alone.digest()


@pytest.mark.parametrize("table_layout", ["runs", "ring", "blocks"])
def test_spikes_of_weight_zero_reach_interval_fire(table_layout: Any) -> None:
    def states(delay: float) -> Any:
        net = rv.Network()
        cells = net.create("interval_fire", 200)
        net.connect(net.create_spike_generators([[1.0, 2.0, 3.0]]), cells, rv.AllToAll(), weight=0.0, delay=delay)
        sim = rv.Simulation(net, threads=2, tuning=rv.Tuning(table_layout=table_layout))
        sim.run(5.0)
        return sim.get(cells, "m")

    # A cell that calculates its next spike anew finds the same, up to rounding. The later delay is after the end.
    reached, not_reached = states(1.0), states(5.0)
    assert reached == pytest.approx(not_reached, abs=1e-13)
    assert (reached != not_reached).any()


def test_work_of_interval_fire_grows_with_incoming_spikes() -> None:
    evaluations, events = {}, {}
    for connections in (10, 20, 40):
        model = interval_fire(cells=200, connections=connections, spread=0, resolution=0.1)
        (cells,) = model.net.populations
        sim = rv.Simulation(model.net, threads=2)
        sim.run(100.0)
        evaluations[connections] = sim.get(cells, "evaluations")
        events[connections] = sim.counts().synaptic_events
        # Those that reach a cell in the step in which it fires are not taken.
        assert 0.97 * events[connections] < evaluations[connections].sum() <= events[connections]
        inputs = np.bincount(sim.connections().targets - cells.ids[0], minlength=200)
        assert (inputs == connections).all()
    assert events[40] == pytest.approx(4 * events[10], rel=0.05)
    assert evaluations[40].sum() == pytest.approx(2 * evaluations[20].sum(), rel=0.05)


def test_spikes_at_interval_fire_count() -> None:
    def states(jump: float, count: float) -> Any:
        net = rv.Network()
        cells = net.create(rv.interval_fire(jump=jump), 50)
        trains = net.create_spike_generators([[1.0, 2.0, 3.0]])
        net.connect(trains, cells, rv.AllToAll(), receptor="spikes", weight=count, delay=1.0)
        net.stimulate(cells, rv.poisson_generator(rate=0.0), receptor="spikes", weight=2.0)
        sim = rv.Simulation(net)
        sim.run(5.0)
        return sim.get(cells, "m"), sim.get(cells, "evaluations")

    alone, _ = states(0.0, 1.0)
    one, one_evaluation = states(0.1, 1.0)
    five, five_evaluations = states(0.02, 5.0)
    assert (one_evaluation == 3.0).all()
    assert (five_evaluations == 15.0).all()
    assert five == pytest.approx(one, abs=1e-12), "five small jumps at once are one large one"
    assert (one > alone + 0.1).all()


def test_adjacent_interval_fire_network() -> None:
    net = interval_fire(cells=50, connections=4, topology="adjacent").net
    connections = rv.Simulation(net).connections()
    distances = (connections.sources.astype(int) - connections.targets + 25) % 50 - 25
    assert net.expected_synapses == len(connections) == 200
    assert sorted(distances.tolist()) == sorted([-2, -1, 1, 2] * 50)


def test_bursts_of_the_interval_fire_network() -> None:
    spikes = spikes_of(interval_fire(cells=800, connections=10, burst=True, resolution=0.1), 400.0)
    eighth, window = spikes.ids // 100, np.ceil(spikes.times / 50.0 - 1e-9).astype(int) - 1
    counts = np.zeros((8, 8))
    np.add.at(counts, (eighth, window), 1.0)
    # Spikes of a cell in 50 ms, without the first 50 ms, in which all begin together. Rates of cells that began
    # together still swing around the mean for a while.
    bursts = np.eye(8, dtype=bool)
    later = np.zeros((8, 8), dtype=bool)
    later[:, 1:] = True
    assert counts[bursts & later].mean() / 100 == pytest.approx(5 * 50 / 30.05, rel=0.05)
    assert counts[~bursts & later].mean() / 100 == pytest.approx(50 / 30.05, rel=0.05)
    assert counts[bursts & later].min() > 2.0 * counts[~bursts & later].max()


def test_keys_of_the_interval_fire_network() -> None:
    net = interval_fire(cells=30, connections=6, spread=4, weight=0.5, delay=2.0, resolution=0.025, seed=3).net
    assert (net.neuron_count, net.resolution, net.seed) == (30, 0.025, 3)
    (projection,) = net.projections
    assert projection.rule == rv.UniformIndegree(4, 8, allow_autapses=False)
    assert (projection.receptor, projection.weight, projection.delay) == ("spikes", 1.0, 2.0)
    sim = rv.Simulation(net)
    assert set(sim.get(net.populations[0], "jump")) == {0.5}
    assert interval_fire(cells=1, connections=0).net.resolution == 0.025, "as in the paper"
    # Where there are fewer connections than half the spread, it is smaller.
    assert interval_fire(cells=30, connections=6).net.projections[0].rule == rv.UniformIndegree(
        0, 12, allow_autapses=False
    )


@pytest.mark.thorough
def test_potentials_of_the_microcircuit() -> None:
    """A spike of an inhibitory neuron, with synapses near somata, is a source there and a sink at the apical ends."""
    model = rv.networks.microcircuit(scale=0.05)
    assert model.probe is not None
    probe = model.probe()
    templates = {model.net[name]: template for name, template in probe.templates.items()}
    kernels = rv.unitary_potentials(model.net, templates, probe.contacts, duration=30.0, interval=0.5)
    assert {each.name for each in kernels} == {each.name for each in model.net.populations}
    values = {population.name: kernel.values for population, kernel in kernels.items()}
    for name in ("L23I", "L4I", "L5I", "L6I"):
        places = probe.templates[name[:-1] + "E"].positions
        assert isinstance(places, rv.GivenPositions)
        soma = places.coordinates[:, 2].mean()
        at_soma = int(np.argmin(np.abs(kernels[model.net[name]].contacts[:, 2] - soma)))
        assert values[name][at_soma].max() == pytest.approx(np.abs(values[name][at_soma]).max())
        assert values[name][0].min() < 0.0
    # Inhibitory synapses are stronger and in one place.
    assert np.abs(values["L4I"]).max() > 10.0 * np.abs(values["L4E"]).max()
    lfp = model.net.record_lfp(kernels, 1.0)
    sim = rv.Simulation(model.net, progress=False)
    sim.run(200.0)
    spread = sim.extracellular(lfp).potentials[100:].std(axis=0)
    assert (spread > 1e-3).all(), "more than 1 uV"
    assert (spread < 1.0).all()
