"""Models of NEST, written as equations: the same membranes at every step; `membranes` tells how the times correspond.

NEST integrates all but `izhikevich` with an adaptive Runge-Kutta method, conductances and synaptic currents too, which
are exact here. Allowed differences are the errors of NEST's tolerances, a few times as large as those that were found.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from equation_models import AEIF_COND_EXP, HH_PSC_ALPHA, IAF_COND_EXP, IZHIKEVICH
from membranes import Experiment, Recording, Synapses, in_nest, in_ranvier
from nest_pool import nest_pool, requires_nest
from thorough_cases import only

pytestmark = requires_nest

NEURONS, GENERATORS, DURATION = 8, 20, 150.0
OWN_NAMES = {
    "V_m": "v",
    "U_m": "u",
    "Act_m": "m",
    "Inact_h": "h",
    "Act_n": "n",
    "I_syn_ex": "I_ex",
    "I_syn_in": "I_in",
    "tau_syn_ex": "tau_ex",
    "tau_syn_in": "tau_in",
}


@dataclass(frozen=True)
class Case:
    """A model in both notations, what it is driven by, and how much both may differ, for each variable."""

    equations: dict[str, Any]
    drive: tuple[float, float]  # constant currents of the first and the last neuron, pA
    weight: float
    differences: dict[str, float]
    constants: dict[str, float] = field(default_factory=dict)
    # Steps that NEST fires later: hh_psc_alpha at the peak of the potential, and not where it crosses 0 mV.
    later: tuple[int, int] = (0, 0)


TIGHT = {"relative_tolerance": 1e-9, "absolute_tolerance": 1e-9}
CASES = {
    "aeif_cond_exp": Case(
        {**AEIF_COND_EXP, **TIGHT}, (300.0, 1200.0), 8.0, {"V_m": 1e-3, "w": 1e-5, "g_ex": 1e-5}, {"t_ref": 2.0}
    ),
    "iaf_cond_exp": Case({**IAF_COND_EXP, **TIGHT}, (0.0, 400.0), 8.0, {"V_m": 1e-4, "g_ex": 2e-3, "g_in": 1e-7}),
    "izhikevich": Case({**IZHIKEVICH, "method": "euler"}, (3.0, 12.0), 1.0, {"V_m": 1e-9, "U_m": 1e-11}),
    "hh_psc_alpha": Case(
        {**HH_PSC_ALPHA, **TIGHT},
        (0.0, 900.0),
        40.0,
        {"V_m": 1e-2, "Act_m": 1e-4, "I_syn_ex": 2e-3},
        {"Act_m": 0.0529, "Inact_h": 0.5961, "Act_n": 0.3177},
        later=(1, 5),
    ),
}


def experiment_of(name: str, case: Case) -> Experiment:
    """Return neurons with currents of their own, which excitatory and inhibitory spikes reach."""
    generator = np.random.default_rng(5)
    currents = np.linspace(*case.drive, NEURONS)
    count = NEURONS * 10
    return Experiment(
        model=name,
        neurons=[{"I_e": float(current), **case.constants} for current in currents],
        trains=[np.unique(np.round(generator.uniform(1.0, 140.0, 25), 1)).tolist() for _ in range(GENERATORS)],
        synapses=Synapses(
            sources=generator.integers(0, GENERATORS, size=count),
            targets=np.sort(generator.integers(0, NEURONS, size=count)),
            # Which single precision holds.
            weights=np.rint(generator.normal(0.3, 1.0, size=count) * case.weight * 64.0) / 64.0,
            delays=generator.integers(1, 30, size=count).astype(np.float64) * 0.1,
        ),
        duration=DURATION,
        variables=tuple(case.differences),
    )


def in_equations(experiment: Experiment, case: Case) -> Recording:
    """Run the experiment with equations, and call all that NEST calls otherwise what NEST calls it."""
    neurons = [{OWN_NAMES.get(name, name): value for name, value in each.items()} for each in experiment.neurons]
    names = {OWN_NAMES.get(name, name): name for name in experiment.variables}
    own = replace(experiment, model=rv.neuron(**case.equations), neurons=neurons, variables=tuple(names))
    made = in_ranvier(own)
    return replace(made, samples={names[name]: samples for name, samples in made.samples.items()})


@pytest.mark.parametrize("name", only(["iaf_cond_exp", "izhikevich"], CASES))
def test_equations_do_what_nest_does(name: str) -> None:
    case = CASES[name]
    experiment = experiment_of(name, case)
    waiting = nest_pool().submit(in_nest, experiment)
    own = in_equations(experiment, case)
    nest = waiting.result()
    steps = np.intersect1d(own.steps, nest.steps)
    assert len(steps) > 1400
    for variable, most in case.differences.items():
        here = own.samples[variable][np.isin(own.steps, steps)]
        there = nest.samples[variable][np.isin(nest.steps, steps)]
        assert np.ptp(there) > 100 * most
        assert np.abs(here - there).max() <= most, variable
    assert len(nest.spikes) > 10
    here, there = (np.array(sorted(each.spikes, key=lambda spike: spike[::-1])) for each in (own, nest))
    assert np.array_equal(here[:, 1], there[:, 1])
    late = there[:, 0] - here[:, 0]
    assert case.later[0] <= late.min() <= late.max() <= case.later[1]
