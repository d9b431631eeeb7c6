"""The network of Jordan et al. (2018) learns as in NEST: rates and the distribution of plastic weights.

Eight runs with seeds of their own in each program. How they are compared is told in `spike_statistics`: runs are the
units, so that it does not matter that the weights of one run depend on each other. A right simulator fails with a
probability of at most `SIGNIFICANCE`; a wrong one, whose depression is 10 % stronger, must be found.

NEST changes a weight when a presynaptic spike arrives, and keeps it until the next one, while Ranvier also counts the
postsynaptic spikes since. So at the end all excitatory neurons are made to fire, and weights are read when these spikes
have arrived at the synapses and nothing else has: then both programs have seen the same.
"""

import dataclasses
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from nest_pool import fresh_nest, nest_pool, requires_nest
from ranvier_benchmarks import nest_hpc_benchmark
from spike_statistics import FloatArray, Label, compare_distributions

pytestmark = [requires_nest, pytest.mark.timeout(3600)]

SIGNIFICANCE = 0.01
RUNS = 8
SEED_OF_NEST, SEED_OF_RANVIER = 3001, 4001

Samples = dict[Label, FloatArray]


@dataclass(frozen=True)
class LearningRun:
    """The network, scaled down, with one seed."""

    scale: float = 0.1
    indegree_scale: float = 0.1
    alpha: float = 0.07  # with that of the paper, so small a network becomes so strong that runs are hardly alike
    time: float = 1000.0  # ms
    seed: int = 1

    def in_nest(self) -> Samples:
        """Run it in NEST."""
        nest = fresh_nest(seed=self.seed)
        # That of this process, which is one of the pool.
        nest_hpc_benchmark.LEARNING["alpha"] = self.alpha
        keys = nest_hpc_benchmark._keys(scale=self.scale, indegree_scale=self.indegree_scale, seed=self.seed)
        excitatory, inhibitory, recorder = nest_hpc_benchmark.build(nest, keys, 0.0)
        nest.Simulate(self.time)
        ids = np.asarray(recorder.get("events")["senders"], dtype=np.int64)
        first, last = int(excitatory[0].global_id), int(inhibitory[-1].global_id)
        counts = np.bincount(ids, minlength=last + 1)[first:]
        excitatory.V_m = 100.0
        # NEST delivers the spikes of a shortest delay together; after it, the neurons would fire again.
        nest.Simulate(1.4)
        weights = nest.GetConnections(excitatory, excitatory).get("weight")
        return self._samples(counts, len(excitatory), np.asarray(weights, dtype=np.float64))

    def in_ranvier(self, *, factor: float = 1.0) -> Samples:
        """Run it in Ranvier; depression may be stronger by a factor."""
        model = rv.networks.hpc_benchmark(scale=self.scale, indegree_scale=self.indegree_scale, seed=self.seed)
        net = model.net
        learning = next(each for each in net.projections if each.synapse.name == "stdp_pl")
        values: dict[str, Any] = {**learning.synapse.values, "alpha": factor * self.alpha}
        net.set(learning, synapse=rv.stdp_pl(**values))
        excitatory = net["excitatory"]
        sim = rv.Simulation(net, threads=2, weight_precision="double", progress=False)
        sim.run(self.time)
        spikes = sim.spikes(model.spikes)
        counts = np.concatenate([spikes.counts(excitatory), spikes.counts(net["inhibitory"])])
        sim.set(excitatory, V_m=100.0)
        # They fire in this step. Delays are dendritic: the spikes are at the synapses, those of the targets not yet.
        sim.run(0.1)
        weights = sim.connections(projection=learning).weights
        return self._samples(counts, len(excitatory), np.array(weights))

    def _samples(self, counts: Any, excitatory: int, weights: FloatArray) -> Samples:
        rates = np.asarray(counts, dtype=np.float64) / (self.time / 1000.0)
        return {
            ("rate", "excitatory"): rates[:excitatory],
            ("rate", "inhibitory"): rates[excitatory:],
            ("weight", "excitatory"): weights,
        }


def in_nest(run: LearningRun) -> Samples:
    """Run in NEST, in a process of the pool."""
    return run.in_nest()


def seeded(first: int) -> list[LearningRun]:
    return [dataclasses.replace(LearningRun(), seed=first + i) for i in range(RUNS)]


@pytest.fixture(scope="module")
def theirs() -> list[Future[Samples]]:
    """Start all runs in NEST."""
    return [nest_pool().submit(in_nest, run) for run in seeded(SEED_OF_NEST)]


def test_rates_and_weights(theirs: list[Future[Samples]]) -> None:
    ours = [run.in_ranvier() for run in seeded(SEED_OF_RANVIER)]
    verdict = compare_distributions([future.result() for future in theirs], ours)
    print(verdict.report())
    # Weights have changed, so that there is something to compare.
    assert np.std(ours[0]["weight", "excitatory"]) > 0.5
    assert verdict.p_value > SIGNIFICANCE, verdict.report()


def test_that_stronger_depression_is_found(theirs: list[Future[Samples]]) -> None:
    ours = [run.in_ranvier(factor=1.1) for run in seeded(SEED_OF_RANVIER)]
    verdict = compare_distributions([future.result() for future in theirs], ours)
    assert verdict.p_values["weight", "excitatory"] <= SIGNIFICANCE, verdict.report()
