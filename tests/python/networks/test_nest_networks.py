"""Networks have the activity that they have in NEST: a quick version of what `make validate` does thoroughly.

That is also where the microcircuit and Brunel's network with delta synapses are.

Each network runs with five seeds in NEST and with five others in Ranvier; `spike_statistics` tells how they are
compared. A right simulator fails with a probability of at most `SIGNIFICANCE`. Seeds are fixed, so that it fails always
or never, until a change makes Ranvier draw other random numbers: then a failure here is a reason to run
`make validate`, and only if that fails too, to look for a mistake.

What the comparison can see is shown by a wrong network, which must be found: with inhibition that is 5 % weaker, or,
where networks vary more, with excitation that is 40 % weaker. Wrong delays are found by the constant drive only, so
here they are compared where they are written down (`test_bench`).
"""

import pytest

from nest_pool import requires_nest
from network_runs import (
    BrunelRun,
    Change,
    NetworkRun,
    SeededRuns,
    VogelsAbbottRun,
    weaken_excitation,
    weaken_inhibition,
)

pytestmark = [requires_nest, pytest.mark.thorough]

SIGNIFICANCE = 0.01
RUNS = 5
SEED_OF_NEST, SEED_OF_RANVIER = 1, 101

NETWORKS: dict[str, NetworkRun] = {
    "Brunel, alpha": BrunelRun("alpha", order=500, g=5.0, eta=2.0, psp=0.3, presim=300.0, time=1000.0),
    "COBA": VogelsAbbottRun("coba", neurons=2000, presim=200.0, time=600.0),
    "Hodgkin-Huxley": VogelsAbbottRun("coba_hh", neurons=1000, presim=200.0, time=400.0),
    "CUBA": VogelsAbbottRun("cuba", neurons=4000, presim=200.0, time=1000.0),
}
# The networks of Vogels and Abbott (2005) differ more from seed to seed: their connections are drawn pair by pair.
WRONG: dict[str, Change] = {
    "Brunel, alpha": weaken_inhibition,
    "COBA": weaken_excitation,
    "Hodgkin-Huxley": weaken_excitation,
    "CUBA": weaken_excitation,
}


@pytest.fixture(scope="module")
def runs() -> SeededRuns:
    """Start all runs in NEST."""
    return SeededRuns(NETWORKS, RUNS, SEED_OF_NEST, SEED_OF_RANVIER, threads=1)


@pytest.mark.parametrize("name", NETWORKS)
def test_activity(name: str, runs: SeededRuns) -> None:
    verdict = runs.compare(name)
    assert verdict.p_value > SIGNIFICANCE, verdict.report()


@pytest.mark.parametrize("name", NETWORKS)
def test_that_a_wrong_network_is_found(name: str, runs: SeededRuns) -> None:
    verdict = runs.compare(name, WRONG[name])
    assert verdict.p_value <= SIGNIFICANCE, verdict.report()
