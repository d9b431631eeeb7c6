"""Detailed cells advance several steps at once: the same bits as one step after another, however the work is cut."""

from __future__ import annotations

import random

import numpy as np
import pytest

import ranvier as rv
from ranvier.networks.ring import ring
from stretch_scenes import TIME, draw


@pytest.mark.parametrize("seed", [1, 3, 4, 5, 10, 11])
def test_stretches_do_as_single_steps(seed: int) -> None:
    """Windows, threads, layouts of tables and cuts at random places, against steps one by one."""
    scene = draw(seed)
    chance = random.Random(seed)
    expected = scene.outcome(threads=1, delivery_window=1)
    for window in (32, 2 ** chance.randint(1, 5), 256):
        cuts = tuple(round(0.1 * chance.randint(1, round(TIME / 0.1)), 1) for _ in range(chance.randint(0, 4)))
        options = {"threads": chance.randint(1, 4), "table_layout": chance.choice(["auto", "runs", "ring", "blocks"])}
        assert scene.outcome(cuts, delivery_window=window, **options) == expected


@pytest.mark.parametrize(("delay", "epoch"), [(5.0, 200), (6.4, 256), (9.0, 256)])
def test_epochs_have_hundreds_of_steps(delay: float, epoch: int) -> None:
    """5 ms of 0.025 ms are 200 steps, and spikes of each of them arrive in time."""
    net = rv.Network(resolution=0.025)
    starters = net.create_spike_generators([[0.025 * step, 6.0 + 0.025 * step] for step in range(1, 257)])
    targets = net.create("iaf_psc_delta", 256, t_ref=0.0, tau_m=1e5)
    net.connect(starters, targets, "one_to_one", weight=30.0, delay=delay)
    recorder = net.record_spikes(targets)
    simulation = rv.Simulation(net, threads=2)
    simulation.run(25.0)
    assert simulation.epoch_steps == epoch
    first = np.arange(1, 257) + round(delay / 0.025)
    expected = sorted([*zip(first, range(256), strict=True), *zip(first + 240, range(256), strict=True)])
    spikes = simulation.spikes(recorder)
    assert list(zip(spikes.steps, spikes.ids - spikes.ids.min(), strict=True)) == expected


def test_costs_are_measured_over_stretches() -> None:
    """Cells take most of the time, and their costs are seen."""
    scene = draw(1)
    simulation = rv.Simulation(scene.net, threads=1, tuning=rv.Tuning(measure_costs=True))
    simulation.run(TIME)
    costs = simulation.costs()
    assert costs["second"] > costs["points"] > 0.0


def test_recording_has_a_time_of_its_own() -> None:
    """Cells are read while they advance, which counts as recording."""
    model = ring(cells=11, depth=1, compartments=1)
    model.net.record_state(model.net.populations[0], ["V_m"], interval=0.025)
    simulation = rv.Simulation(model.net, threads=1)
    simulation.run(5.0)
    assert simulation.timers().parts["record"][0].min() > 0.0
