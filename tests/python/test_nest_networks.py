"""Networks have the activity that they have in NEST: a quick version of what `make validate` does thoroughly.

That is also where the constant drive and Brunel's network with delta synapses are.

Each network runs with five seeds in NEST and with five others in Ranvier; `spike_statistics` tells how they are
compared. A right simulator fails in one of the networks with a probability of at most `SIGNIFICANCE`. Seeds are fixed,
so that it fails always or never, until a change makes Ranvier draw other random numbers: then a failure here is a
reason to run `make validate`, and only if that fails too, to look for a mistake.

What the comparisons can see is shown by wrong networks, which must be found: with inhibition that is 5 % weaker. Wrong
delays are found by the constant drive only, so here they are compared where they are written down (`test_bench`).
"""

import importlib

import pytest

from nest_pool import requires_nest
from network_runs import BrunelRun, MicrocircuitRun, NetworkRun, SeededRuns, weaken_inhibition

pytestmark = requires_nest

SIGNIFICANCE = 0.01
RUNS = 5
SEED_OF_NEST, SEED_OF_RANVIER = 1, 101

NETWORKS: dict[str, NetworkRun] = {
    "microcircuit, Poisson drive": MicrocircuitRun(0.05, 0.05, "poisson", presim=300.0, time=1000.0),
    "Brunel, alpha": BrunelRun("alpha", order=500, g=5.0, eta=2.0, psp=0.3, presim=300.0, time=1000.0),
}


@pytest.fixture(scope="module")
def runs() -> SeededRuns:
    """Start all runs in NEST."""
    return SeededRuns(NETWORKS, RUNS, SEED_OF_NEST, SEED_OF_RANVIER, threads=1)


@pytest.fixture(params=NETWORKS)
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of each network in turn."""
    return str(request.param)


def test_activity(name: str, runs: SeededRuns) -> None:
    verdict = runs.compare(name)
    assert verdict.p_value > SIGNIFICANCE, verdict.report()


def test_that_weaker_inhibition_is_found(runs: SeededRuns) -> None:
    verdict = runs.compare("Brunel, alpha", weaken_inhibition)
    assert verdict.p_value <= SIGNIFICANCE, verdict.report()


def test_that_a_wrong_microcircuit_is_found(runs: SeededRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    # In the current that stands for synapses left out, too. These are most of them here: that only the others are
    # weaker is found with more neurons, more in-degrees and longer runs, in `make validate`.
    monkeypatch.setattr(importlib.import_module("ranvier.networks.microcircuit"), "_INHIBITION", -4.0 * 0.95)
    verdict = runs.compare("microcircuit, Poisson drive")
    assert verdict.p_value <= SIGNIFICANCE, verdict.report()
