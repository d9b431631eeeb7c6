"""Synapses with release sites: numbers of quanta follow the published law, and that of NEST."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from nest_pool import nest_pool, requires_nest
from quantal_scenes import CASES, STEPS, SYNAPSES, Counts, in_nest, in_ranvier, laws, own_values
from short_term_scenes import expected_factors
from thorough_cases import every, only


def check_law(counts: Counts, law: Any) -> None:
    """Compare a histogram with a law by chi squared, at five standard deviations of its normal approximation.

    By the cube root of Wilson and Hilferty: a false alarm has a probability below 1e-6.
    """
    expected = np.asarray(law) * counts.size
    observed = np.bincount(counts, minlength=len(expected)).astype(float)
    assert len(observed) == len(expected), "no more quanta than there can be"
    assert not observed[expected == 0.0].any()
    # Rare numbers are counted together, or with the most frequent one where they are rare even so.
    rare = expected < 10.0
    wanted, got = np.append(expected[~rare], expected[rare].sum()), np.append(observed[~rare], observed[rare].sum())
    if wanted[-1] < 10.0:
        for each in (wanted, got):
            each[int(wanted[:-1].argmax())] += each[-1]
        wanted, got = wanted[:-1], got[:-1]
    freedom = len(wanted) - 1
    if freedom == 0:
        return
    squares = ((got - wanted) ** 2 / wanted).sum()
    spread = 2.0 / (9.0 * freedom)
    assert (math.cbrt(squares / freedom) - (1.0 - spread)) / math.sqrt(spread) < 5.0


@pytest.mark.parametrize("parameters", every(2, CASES, first=1))
def test_quanta_follow_the_law_of_the_equations(parameters: Mapping[str, float]) -> None:
    """Of each spike, and the sum over all spikes of a synapse, which tells what a synapse remembers."""
    found = in_ranvier(parameters)
    each, of_all = laws(parameters)
    for counts, law in zip(found, each, strict=True):
        check_law(counts, law)
    check_law(found.sum(axis=0), of_all)


@requires_nest
@pytest.mark.parametrize("parameters", only(CASES[:1], CASES))
def test_quanta_follow_the_law_of_nest(parameters: Mapping[str, float]) -> None:
    """NEST's numbers follow the same law, and means and variances agree at five standard deviations (p below 1e-6)."""
    nest = nest_pool().submit(in_nest, dict(parameters)).result()
    found = in_ranvier(parameters)
    each, of_all = laws(parameters)
    for counts, law in zip(nest, each, strict=True):
        check_law(counts, law)
    check_law(nest.sum(axis=0), of_all)
    for one, other in zip([*found, found.sum(axis=0)], [*nest, nest.sum(axis=0)], strict=True):
        error = math.sqrt((one.var() + other.var()) / SYNAPSES)
        assert abs(one.mean() - other.mean()) <= 5.0 * error
        fourth = max(float(((each - each.mean()) ** 4).mean()) for each in (one, other))
        assert abs(one.var() - other.var()) <= 5.0 * math.sqrt(2.0 * fourth / SYNAPSES)


@requires_nest
@pytest.mark.thorough
def test_quanta_of_synapses_with_own_parameters_follow_their_laws() -> None:
    """A third of the synapses each has other parameters: those of Ranvier and of NEST follow the laws of these."""
    kinds = [CASES[1], {**CASES[1], "n": 3.0, "U": 0.8, "depleted": 0.0}, {"n": 8.0, "u": 0.1, "tau_rec": 60.0}]
    own = own_values(kinds)
    nest = nest_pool().submit(in_nest, own).result()
    for number, kind in enumerate(kinds):
        each, of_all = laws(kind)
        for found in (in_ranvier(own), nest):
            of_kind = found[:, number :: len(kinds)]
            for counts, law in zip(of_kind, each, strict=True):
                check_law(counts, law)
            check_law(of_kind.sum(axis=0), of_all)


def test_many_sites_release_what_tsodyks2_does() -> None:
    """With 20000 sites the mean is that of the resources, at five standard deviations (p below 1e-6)."""
    shared = {"U": 0.3, "u": 0.3, "tau_rec": 120.0, "tau_fac": 60.0}
    found = in_ranvier({"n": 20000.0, **shared}) / 20000.0
    wanted = expected_factors("tsodyks2", shared, STEPS)
    for counts, factor in zip(found, wanted, strict=True):
        assert abs(counts.mean() - factor) < 5.0 * counts.std() / math.sqrt(SYNAPSES)
        assert counts.std() < 0.01


def test_sure_release_of_sites_that_refill_at_once_is_a_static_synapse_with_the_sum() -> None:
    found = in_ranvier({"n": 7.0, "U": 1.0, "u": 1.0, "tau_rec": 1e-6})
    assert (found == 7).all()
    assert not in_ranvier({"n": 7.0, "U": 0.0, "u": 0.0}).any()
    only = in_ranvier({"n": 7.0, "U": 1.0, "u": 1.0, "tau_rec": 1e9, "depleted": 3.0})
    assert (only[0] == 4).all()
    assert only[1:].sum() <= 1


WAYS: list[dict[str, Any]] = [
    {"threads": 2},
    {"threads": 3, "tuning": rv.Tuning(shards=5, instruction_set="baseline")},
    {"processes": rv.Processes(sort_connections=False)},
    {"processes": rv.Processes(row_numbering="compact"), "tuning": rv.Tuning(delivery_window=1)},
]


@pytest.mark.parametrize("sites", only([5], [5, 300, 65535]))
def test_quanta_do_not_depend_on_how_a_run_is_divided(sites: int) -> None:
    parameters = {"n": float(sites), "U": 0.4, "tau_rec": 30.0, "tau_fac": 50.0}
    first = in_ranvier(parameters)
    assert (first != in_ranvier(parameters, seed=2)).any()
    for way in WAYS:
        np.testing.assert_array_equal(in_ranvier(parameters, **way), first, err_msg=str(way))


def test_spikes_of_a_network_do_not_depend_on_threads() -> None:
    """Pairs have several synapses of both signs, with different delays."""
    digests = set()
    for way in [{"threads": 1}, *WAYS]:
        net = rv.Network(seed=3)
        neurons = net.create("iaf_psc_alpha", 100, I_e=rv.Uniform(350.0, 480.0), V_m=rv.Normal(-65.0, 3.0))
        synapse = rv.quantal_stp(n=4, U=0.6, tau_rec=50.0)
        weight, delay = rv.Normal(1.0, 2.0), rv.Uniform(0.5, 3.0)
        net.connect(neurons, neurons, rv.FixedIndegree(150), weight=weight, delay=delay, synapse=synapse)
        recorder = net.record_spikes()
        sim = rv.Simulation(net, **{"threads": 1, "progress": False, **way})
        sim.run(100.0)
        sim.run(100.0)
        assert len(sim.spikes(recorder).times) > 300
        digests.add(sim.spikes(recorder).digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"n": 0}, "parameter n of quantal_stp"),
        ({"n": 65536}, "parameter n of quantal_stp"),
        ({"n": 2.5}, "n is 2.5"),
        ({"n": float("nan")}, "parameter n of quantal_stp"),
        ({"n": 3, "depleted": 0.5}, "depleted is 0.5"),
        ({"n": 3, "depleted": 4}, "depleted is greater than n"),
        ({"depleted": -1}, "parameter depleted of quantal_stp"),
        ({"U": 1.5}, "parameter U of quantal_stp"),
        ({"u": -0.1}, "parameter u of quantal_stp"),
        ({"tau_rec": 0.0}, "parameter tau_rec of quantal_stp"),
        ({"tau_fac": float("inf")}, "parameter tau_fac of quantal_stp"),
    ],
)
def test_values_out_of_bounds_are_refused(parameters: dict[str, float], text: str) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=text):
        net.connect(neurons, neurons, rv.AllToAll(), weight=5.0, synapse=rv.quantal_stp(**parameters))
    assert not net.projections
