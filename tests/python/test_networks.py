"""The networks that ship are those of the literature."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.special import lambertw

import ranvier as rv
from ranvier.networks import brunel, microcircuit
from ranvier.networks.brunel import _psp_height

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
    assert _psp_height() == pytest.approx(height, rel=1e-12)
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
    recorder = net.record(neuron, "V_m")
    sim = rv.Simulation(net, weight_precision="double")
    sim.run(20.0)
    assert sim.trace(recorder)["V_m"].max() == pytest.approx(0.1, rel=1e-4)


def test_keys_of_brunel() -> None:
    net = brunel(order=50, scale=2.0, g=4.0, epsilon=0.2, J=0.2, delay=2.0, dt=0.5, seed=3).net
    assert (net.neuron_count, net.resolution, net.seed) == (500, 0.5, 3)
    assert net.expected_synapses == 500 * 100
    assert net.projections[1].weight == pytest.approx(-0.8)
    assert net.projections[1].delay == 2.0
