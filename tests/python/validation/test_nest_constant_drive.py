"""The microcircuit under constant drive has the activity that it has in NEST, and wrong delays are found.

As the networks in `test_nest_networks`, which are as small: with Poisson drive wrong delays are not found.
"""

import importlib

import pytest

from nest_pool import requires_nest
from network_runs import MicrocircuitRun, NetworkRun, SeededRuns
from test_nest_networks import RUNS, SEED_OF_NEST, SEED_OF_RANVIER, SIGNIFICANCE

pytestmark = requires_nest

# With fewer in-degrees the constant drive leaves the circuit silent.
NETWORKS: dict[str, NetworkRun] = {"constant drive": MicrocircuitRun(0.05, 0.3, "dc", presim=300.0, time=1500.0)}


@pytest.fixture(scope="module")
def runs() -> SeededRuns:
    """Start all runs in NEST."""
    return SeededRuns(NETWORKS, RUNS, SEED_OF_NEST, SEED_OF_RANVIER, threads=1)


def test_activity(runs: SeededRuns) -> None:
    verdict = runs.compare("constant drive")
    assert verdict.p_value > SIGNIFICANCE, verdict.report()


def test_that_wrong_delays_are_found(runs: SeededRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("ranvier.networks.microcircuit"), "_DELAYS", {"E": 1.5, "I": 1.5})
    verdict = runs.compare("constant drive")
    assert verdict.p_value <= SIGNIFICANCE, verdict.report()
