"""Mixed networks of detailed cells and point neurons, drawn at random, and what they did."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from typing import Any

import ranvier as rv
from ranvier.simulation.options import grouped

__all__ = ["TIME", "Scene", "draw"]

TIME = 24.0  # ms
_RESOLUTION = 0.1


@functools.cache
def _cells() -> tuple[rv.Cell, rv.Cell]:
    """Return a cell that fires by itself now and then, and one with a dendrite."""
    soma = rv.Section(length=20.0, diameter=20.0)
    tree = rv.Morphology([soma, rv.Section(length=80.0, diameter=2.0, parent=0, tag="basal")])
    receptors: dict[str, Any] = {
        "exc": (rv.expsyn(tau=2.0), rv.at(0, 0.5)),
        "inh": (rv.expsyn(tau=4.0, e=-80.0), rv.at(0)),
    }
    small = rv.Cell(rv.Morphology([soma]), membrane=[("all", rv.hh())], receptors=receptors, probes={"g": "exc"})
    large = rv.Cell(
        tree,
        compartments=3,
        membrane=[("all", rv.hh())],
        receptors={"exc": (rv.expsyn(tau=2.0), rv.at(1, 0.7))},
        probes={"g": "exc", "v": rv.at(1, 0.9)},
    )
    return small, large


@dataclass(frozen=True)
class Scene:
    """A network that a seed stands for."""

    net: rv.Network
    cells: rv.Population
    spikes: rv.SpikeRecorder
    states: tuple[rv.StateRecorder, ...]
    stimulus: rv.Stimulus
    changed_after: float

    def outcome(self, cuts: tuple[float, ...] = (), **options: Any) -> list[bytes]:
        """Return the bits of all spikes and samples of a run that is cut there, and where values are changed."""
        simulation = rv.Simulation(self.net, **grouped(options))
        for end in sorted({*cuts, self.changed_after, TIME}):
            simulation.run_until(end)
            if end == self.changed_after:
                simulation.set(self.cells[::3], I_e=60.0)
                simulation.set(self.stimulus, rate=3000.0)
        spikes = simulation.spikes(self.spikes)
        assert len(spikes) > 20, "a silent network proves nothing"
        found = [spikes.steps.tobytes() + spikes.ids.tobytes()]
        for recorder in self.states:
            data = simulation.state(recorder)
            found.append(data.times.tobytes() + data.values.tobytes())
        return found


def draw(seed: int) -> Scene:
    """Return cells and point neurons with stimuli of both kinds, recorders, and synapses that learn or do not."""
    chance = random.Random(seed)
    net = rv.Network(resolution=_RESOLUTION, seed=seed)
    small, large = _cells()
    first = net.create(small, chance.randint(3, 30), name="first", I_e=rv.Uniform(0.0, 120.0))
    points = net.create("iaf_psc_exp", chance.randint(1, 40), name="points", I_e=rv.Uniform(300.0, 500.0))
    second = net.create(large, chance.randint(1, 12), name="second", I_e=50.0)
    starters = net.create_spike_generators([[0.5, 0.5, 7.3], [3.0]], name="starters")
    least = chance.choice([0.1, 0.4, 1.5, 5.0])
    delay: Any = chance.choice([least, rv.Uniform(least, least + 3.0)])
    spread: Any = chance.choice([1.0, rv.LogNormal(0.0, 6.0, high=20.0)])
    net.connect(starters, second, "all_to_all", weight=6.0, delay=least)
    net.connect(first, points, rv.FixedIndegree(5), weight=90.0, delay=delay)
    net.connect(points, first, rv.FixedIndegree(4), weight=rv.Uniform(0.5, 3.0), delay=delay, receptor="exc")
    net.connect(points, second, rv.FixedIndegree(3), weight=spread, delay=delay)
    net.connect(first, first, rv.FixedIndegree(2), weight=0.5, delay=delay, receptor="inh")
    if chance.random() < 0.5:
        target = chance.choice([first, second, points])
        receptor = "exc" if target is first else None
        weight = 40.0 if target is points else 1.0
        rule = rv.stdp(W_max=3.0 * weight)
        net.connect(first, target, rv.FixedIndegree(3), weight=weight, delay=delay, receptor=receptor, synapse=rule)
    stimulus = net.stimulate(first, rv.poisson_generator(rate=1500.0), weight=0.7, receptor="exc")
    net.stimulate(second[::2], rv.noise_generator(mean=20.0, std=60.0, interval=0.3))
    net.stimulate(points, rv.ac_generator(amplitude=80.0, frequency=40.0))
    spikes = net.record_spikes([first, points, second])
    states = (
        net.record_state(first[1::2], ["V_m", "g"], interval=0.1 * chance.randint(1, 9)),
        net.record_state(second, ["v", "g"], interval=0.1),
        net.record_state(points[: max(1, len(points) // 2)], ["V_m"], interval=0.7),
    )
    return Scene(net, first, spikes, states, stimulus, round(0.1 * chance.randint(1, 230), 1))
