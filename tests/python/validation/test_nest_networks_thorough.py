"""As `test_nest_networks`, with larger networks, longer runs and eight seeds on either side.

Here it is found, too, when only the inhibitory synapses of the microcircuit are 5 % weaker.
"""

import pytest

from nest_pool import requires_nest
from network_runs import BrunelRun, MicrocircuitRun, NetworkRun, SeededRuns, weaken_inhibition

pytestmark = [requires_nest, pytest.mark.timeout(3600)]

SIGNIFICANCE = 0.01
RUNS = 8
SEED_OF_NEST, SEED_OF_RANVIER = 1001, 2001

NETWORKS: dict[str, NetworkRun] = {
    "microcircuit, Poisson drive": MicrocircuitRun(0.1, 0.3, "poisson", presim=500.0, time=3000.0),
    "microcircuit, constant drive": MicrocircuitRun(0.2, 0.3, "dc", presim=500.0, time=2000.0),
    "Brunel, alpha": BrunelRun("alpha", order=1250, g=5.0, eta=2.0, psp=0.2, presim=500.0, time=2000.0),
    "Brunel, alpha, weak drive": BrunelRun("alpha", order=1250, g=4.5, eta=0.95, psp=0.2, presim=500.0, time=2000.0),
    "Brunel, delta": BrunelRun("delta", order=1250, g=5.0, eta=2.0, psp=0.2, presim=500.0, time=2000.0),
    "Brunel, delta, strong drive": BrunelRun("delta", order=1250, g=6.0, eta=4.0, psp=0.2, presim=500.0, time=2000.0),
}


@pytest.fixture(scope="module")
def runs() -> SeededRuns:
    """Start all runs in NEST."""
    return SeededRuns(NETWORKS, RUNS, SEED_OF_NEST, SEED_OF_RANVIER, threads=2)


@pytest.fixture(params=NETWORKS)
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of each network in turn."""
    return str(request.param)


def test_activity(name: str, runs: SeededRuns) -> None:
    verdict = runs.compare(name)
    print(verdict.report())
    assert verdict.p_value > SIGNIFICANCE, verdict.report()


def test_that_weaker_inhibition_is_found(name: str, runs: SeededRuns) -> None:
    verdict = runs.compare(name, weaken_inhibition)
    assert verdict.p_value <= SIGNIFICANCE, verdict.report()
