"""The networks that are compared statistically, in Ranvier and in NEST, with numbers for NEST that are written anew.

What runs in NEST is to be called in a process of the pool.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import ranvier as rv
from nest_pool import fresh_nest, nest_pool
from ranvier.simulation.options import grouped
from ranvier_benchmarks import nest_microcircuit
from spike_statistics import Activity, Verdict, compare

RESOLUTION = 0.1  # ms

Change = Callable[[rv.Simulation], None]


@dataclass(frozen=True)
class MicrocircuitRun:
    """The cortical microcircuit, scaled down, with one seed."""

    n_scaling: float
    k_scaling: float
    drive: Literal["dc", "poisson"]
    presim: float  # ms
    time: float  # ms
    seed: int = 1

    def in_nest(self) -> Activity:
        """Run it in NEST."""
        nest = fresh_nest(resolution=RESOLUTION, seed=self.seed)
        circuit = nest_microcircuit.describe(self.n_scaling, self.k_scaling, self.drive)
        populations, recorder = nest_microcircuit.build(nest, circuit, self.drive, self.presim)
        nest.Simulate(self.presim + self.time)
        sizes = dict(zip(nest_microcircuit.POPULATIONS, circuit.sizes, strict=True))
        return _activity_of_nest(recorder, populations[0], sizes, self.presim, self.time)

    def in_ranvier(self, change: Change | None = None, **options: Any) -> Activity:
        """Run it in Ranvier; `change` may alter it after it has been built."""
        model = rv.networks.microcircuit(
            n_scaling=self.n_scaling, k_scaling=self.k_scaling, drive=self.drive, seed=self.seed, resolution=RESOLUTION
        )
        return _activity_of_ranvier(model, self.presim, self.time, change, **options)


@dataclass(frozen=True)
class BrunelRun:
    """A balanced random network after Brunel (2000) with one seed."""

    version: Literal["alpha", "delta"]
    order: int
    g: float
    eta: float
    psp: float  # mV
    presim: float  # ms
    time: float  # ms
    delay: float = 1.5  # ms
    seed: int = 1

    def in_nest(self) -> Activity:
        """Run it in NEST."""
        nest = fresh_nest(resolution=RESOLUTION, seed=self.seed)
        sizes = {"excitatory": 4 * self.order, "inhibitory": self.order}
        indegrees = {name: size // 10 for name, size in sizes.items()}
        neuron = {"E_L": 0.0, "V_reset": 0.0, "V_m": 0.0, "V_th": 20.0, "t_ref": 2.0, "tau_m": 20.0}
        if self.version == "alpha":
            neuron.update({"C_m": 250.0, "tau_syn_ex": 0.5, "tau_syn_in": 0.5})
            weight = self.psp / _peak_of_alpha_potential(20.0, 0.5, 250.0)
            # Charge of a spike, pA ms, and the current that holds the potential at threshold, pA.
            rate_at_threshold = (20.0 * 250.0 / 20.0) / (weight * math.e * 0.5)  # spikes/ms
        else:
            neuron["C_m"] = 1.0
            weight = self.psp
            rate_at_threshold = 20.0 / (weight * 20.0)
        populations = {name: nest.Create(f"iaf_psc_{self.version}", size, neuron) for name, size in sizes.items()}
        generator = nest.Create("poisson_generator", params={"rate": 1000.0 * self.eta * rate_at_threshold})
        recorder = nest.Create("spike_recorder", params={"time_in_steps": True, "start": self.presim})
        for target in populations.values():
            for name, factor in (("excitatory", 1.0), ("inhibitory", -self.g)):
                rule = {"rule": "fixed_indegree", "indegree": indegrees[name]}
                nest.Connect(populations[name], target, rule, {"weight": factor * weight, "delay": self.delay})
            nest.Connect(generator, target, "all_to_all", {"weight": weight, "delay": self.delay})
            nest.Connect(target, recorder)
        nest.Simulate(self.presim + self.time)
        return _activity_of_nest(recorder, populations["excitatory"], sizes, self.presim, self.time)

    def in_ranvier(self, change: Change | None = None, **options: Any) -> Activity:
        """Run it in Ranvier; `change` may alter it after it has been built."""
        model = rv.networks.brunel(
            version=self.version,
            order=self.order,
            g=self.g,
            eta=self.eta,
            J=self.psp,
            delay=self.delay,
            resolution=RESOLUTION,
            seed=self.seed,
        )
        return _activity_of_ranvier(model, self.presim, self.time, change, **options)


@dataclass(frozen=True)
class VogelsAbbottRun:
    """The network of Vogels and Abbott (2005) in one of three versions of Brette et al. (2007), with one seed."""

    version: Literal["cuba", "coba", "coba_hh"]
    neurons: int
    presim: float  # ms
    time: float  # ms
    seed: int = 1

    def in_nest(self) -> Activity:
        """Run it in NEST."""
        nest = fresh_nest(resolution=RESOLUTION, seed=self.seed)
        sizes = {"excitatory": self.neurons * 4 // 5, "inhibitory": self.neurons // 5}
        model = {"cuba": "iaf_psc_exp", "coba": "iaf_cond_exp", "coba_hh": "hh_cond_exp_traub"}[self.version]
        weights = (16.2, -90.0) if self.version == "cuba" else (6.0, -67.0)
        neuron = {"C_m": 200.0, "tau_syn_ex": 5.0, "tau_syn_in": 10.0}
        if self.version != "coba_hh":
            neuron.update({"V_th": -50.0, "V_reset": -60.0, "t_ref": 5.0})
        if self.version == "cuba":
            neuron.update({"tau_m": 20.0, "E_L": -49.0})
        else:
            neuron.update({"g_L": 10.0, "E_L": -60.0, "E_ex": 0.0, "E_in": -80.0})
        start = nest.random.uniform(-60.0, -50.0)
        if self.version == "coba_hh":
            neuron.update({"E_L": -65.0, "V_T": -63.0, "g_Na": 20000.0, "g_K": 6000.0, "E_Na": 50.0, "E_K": -90.0})
            start = nest.random.uniform(-75.0, -65.0)
        populations = {name: nest.Create(model, size, neuron) for name, size in sizes.items()}
        generator = nest.Create("poisson_generator", params={"rate": 300.0, "stop": 50.0})
        recorder = nest.Create("spike_recorder", params={"time_in_steps": True, "start": self.presim})
        rule = {"rule": "pairwise_bernoulli", "p": 80 / self.neurons, "allow_autapses": False}
        for target in populations.values():
            target.V_m = start
            for source, weight in zip(populations.values(), weights, strict=True):
                nest.Connect(source, target, rule, {"weight": weight, "delay": RESOLUTION})
            if self.version != "cuba":
                nest.Connect(generator, target, "all_to_all", {"weight": weights[0], "delay": RESOLUTION})
            nest.Connect(target, recorder)
        nest.Simulate(self.presim + self.time)
        return _activity_of_nest(recorder, populations["excitatory"], sizes, self.presim, self.time)

    def in_ranvier(self, change: Change | None = None, **options: Any) -> Activity:
        """Run it in Ranvier; `change` may alter it after it has been built."""
        keys: dict[str, Any] = {"neurons": self.neurons, "resolution": RESOLUTION, "seed": self.seed}
        if self.version == "coba_hh":
            keys["method"] = "adaptive"
        model: rv.networks.NetworkModel = getattr(rv.networks, self.version)(**keys)
        return _activity_of_ranvier(model, self.presim, self.time, change, **options)


NetworkRun = MicrocircuitRun | BrunelRun | VogelsAbbottRun


def nest_activity(run: NetworkRun) -> Activity:
    """Run it in NEST; to be called in a process of the pool."""
    return run.in_nest()


def with_seeds(run: NetworkRun, first: int, count: int) -> list[NetworkRun]:
    """Return so many runs that differ in their seeds only."""
    return [dataclasses.replace(run, seed=first + i) for i in range(count)]


def weaken_inhibition(simulation: rv.Simulation) -> None:
    """Make all inhibitory synapses 5 % weaker."""
    synapses = simulation.connections()
    weights = synapses.weights.copy()
    weights[weights < 0.0] *= 0.95
    synapses.weights = weights


def weaken_excitation(simulation: rv.Simulation) -> None:
    """Make all excitatory synapses 40 % weaker."""
    synapses = simulation.connections()
    weights = synapses.weights.copy()
    weights[weights > 0.0] *= 0.6
    synapses.weights = weights


def _activity_of_nest(
    recorder: Any, first_population: Any, sizes: dict[str, int], presim: float, time: float
) -> Activity:
    events = recorder.get("events")
    return Activity(
        steps=np.asarray(events["times"], dtype=np.int64),
        neurons=np.asarray(events["senders"], dtype=np.int64) - int(first_population[0].global_id),
        sizes=sizes,
        begin=round(presim / RESOLUTION),
        end=round((presim + time) / RESOLUTION),
        resolution=RESOLUTION,
    )


def _activity_of_ranvier(
    model: rv.networks.NetworkModel, presim: float, time: float, change: Change | None, **options: Any
) -> Activity:
    simulation = rv.Simulation(model.net, **grouped(options))
    if change is not None:
        change(simulation)
    simulation.run(presim + time)
    spikes = simulation.spikes(model.spikes).between(presim)
    return Activity(
        steps=spikes.steps,
        neurons=spikes.ids - spikes.segments[0].first_id,
        sizes={segment.name: segment.size for segment in spikes.segments},
        begin=spikes.begin,
        end=spikes.end,
        resolution=RESOLUTION,
    )


def _peak_of_alpha_potential(tau_m: float, tau_syn: float, capacitance: float) -> float:
    """Return the peak, mV, of the potential that an alpha-shaped current of peak 1 pA causes, found by bisection."""
    fast, slow = 1.0 / tau_syn, 1.0 / tau_m
    rate = fast - slow

    def potential(time: float) -> float:
        """Convolution of the current with the decay of the membrane."""
        rise = (math.exp(-slow * time) - math.exp(-fast * time)) / rate**2
        return math.e / (tau_syn * capacitance) * (rise - time * math.exp(-fast * time) / rate)

    def slope(time: float) -> float:
        return math.e / tau_syn * time * math.exp(-fast * time) / capacitance - slow * potential(time)

    low, high = tau_syn, 10.0 * tau_m
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return potential(low)


class SeededRuns:
    """Networks that run with some seeds in NEST, at once in the background, and with others in Ranvier."""

    def __init__(self, networks: dict[str, NetworkRun], runs: int, seed_of_nest: int, seed: int, threads: int) -> None:
        """Start the runs in NEST, in the order of the networks: give the longest first."""
        self._networks = networks
        self._runs, self._seed, self._threads = runs, seed, threads
        self._nest = {
            name: [nest_pool().submit(nest_activity, run) for run in with_seeds(network, seed_of_nest, runs)]
            for name, network in networks.items()
        }

    def compare(self, name: str, change: Change | None = None) -> Verdict:
        """Compare a network; `change` is applied to that in Ranvier before it runs."""
        runs = with_seeds(self._networks[name], self._seed, self._runs)
        ours = [run.in_ranvier(change=change, threads=self._threads) for run in runs]
        return compare([future.result() for future in self._nest[name]], ours)
