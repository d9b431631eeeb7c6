"""Rules that cannot be carried out give a RuleError, and leave everything as it was."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from bad_input import check, neurons
from ranvier import errors


@pytest.mark.parametrize(
    "rule",
    [
        rv.FixedIndegree(11, allow_multapses=False),
        rv.FixedIndegree(10, allow_multapses=False, allow_autapses=False),
        rv.FixedOutdegree(11, allow_multapses=False),
        rv.FixedTotalNumber(101, allow_multapses=False),
        rv.FixedTotalNumber(91, allow_multapses=False, allow_autapses=False),
        rv.Explicit([0, 0], [1, 1], allow_multapses=False),
        rv.Explicit([3], [3], allow_autapses=False),
    ],
    ids=repr,
)
def test_rule_that_cannot_be_carried_out(rule: Any) -> None:
    population = neurons()
    with pytest.raises(errors.RuleError) as caught:
        population.network.connect(population, population, rule)
    check(caught.value, rule.name)
    assert not population.network.projections


def test_one_to_one_of_unequal_sizes() -> None:
    population = neurons()
    with pytest.raises(errors.RuleError, match="9"):
        population.network.connect(population, population[1:], rv.OneToOne())


@pytest.mark.parametrize("rule", ["fixed_indegree", "pairwise_bernoulli", "explicit"])
def test_rule_by_name_without_its_parameter(rule: str) -> None:
    population = neurons()
    with pytest.raises(errors.RuleError, match="needs"):
        population.network.connect(population, population, rule)


def test_keywords_beside_a_complete_rule() -> None:
    population = neurons()
    with pytest.raises(errors.RuleError, match="indegree"):
        population.network.connect(population, population, rv.FixedIndegree(2), indegree=3)


def test_connecting_to_what_takes_no_input() -> None:
    population = neurons()
    generators = population.network.create_spike_generators([[1.0]])
    with pytest.raises(errors.ValueOutOfBoundsError, match="input"):
        population.network.connect(population, generators, rv.AllToAll())


@pytest.mark.parametrize(
    ("make", "kind", "told"),
    [
        (lambda: rv.FixedIndegree(-1), errors.ValueOutOfBoundsError, "indegree of fixed_indegree is -1"),
        (lambda: rv.FixedOutdegree(-1), errors.ValueOutOfBoundsError, "outdegree of fixed_outdegree is -1"),
        (lambda: rv.FixedTotalNumber(2**63), errors.ValueOutOfBoundsError, "number of fixed_total_number"),
        (lambda: rv.UniformIndegree(-1, 3), errors.ValueOutOfBoundsError, "indegree_min of uniform_indegree is -1"),
        (lambda: rv.UniformIndegree(3, 2), errors.RuleError, "must not exceed indegree_max, 2"),
        (lambda: rv.NearestNeighbors(3), errors.RuleError, "must be even"),
        (lambda: rv.UnorderedBernoulli(1.1), errors.ValueOutOfBoundsError, "must be from 0 to 1"),
        (lambda: rv.SmallWorld(3, 0.1), errors.RuleError, "must be even"),
        (lambda: rv.SmallWorld(2, -0.1), errors.ValueOutOfBoundsError, "rewiring of rule 'small_world' is -0.1"),
        (lambda: rv.PairwiseBernoulli(1.1), errors.ValueOutOfBoundsError, "must be from 0 to 1"),
        (lambda: rv.PairwiseBernoulli(math.nan), errors.ValueOutOfBoundsError, "must be from 0 to 1"),
        (lambda: rv.Explicit([0], [1, 2]), errors.ShapeError, "there is 1 source"),
        (lambda: rv.FixedIndegree(True), errors.WrongTypeError, "must be an integer, not bool"),
        (lambda: rv.FixedIndegree(1.0), errors.WrongTypeError, "must be an integer, not float"),  # type: ignore[arg-type]
        (lambda: rv.PairwiseBernoulli(True), errors.WrongTypeError, "must be a number, not bool"),
        (lambda: rv.FixedIndegree(), errors.WrongTypeError, "missing a required argument: 'indegree'"),  # type: ignore[call-arg]
        (lambda: rv.FixedIndegree(in_degree=3), errors.UnknownNameError, "did you mean 'indegree'?"),  # type: ignore[call-arg]
    ],
)
def test_a_rule_that_no_neurons_could_have(make: Callable[[], object], kind: type[Exception], told: str) -> None:
    """What can be known before there are neurons is refused where the rule is made, by its name or as an object."""
    with pytest.raises(kind) as caught:
        make()
    assert isinstance(caught.value, errors.RanvierError)
    check(caught.value, told)


def test_a_rule_keeps_whole_numbers_of_numpy_and_copies() -> None:
    rule = rv.FixedIndegree(np.int32(3))  # type: ignore[arg-type]
    assert rule == rv.FixedIndegree(3)
    assert type(rule.indegree) is int
    assert copy.deepcopy(rule) == rule == pickle.loads(pickle.dumps(rule))


def test_a_projection_cannot_be_given_such_a_rule() -> None:
    population = neurons()
    projection = population.network.connect(population, population, rv.FixedIndegree(2))
    with pytest.raises(errors.ValueOutOfBoundsError):
        population.network.set(projection, indegree=-1)
    assert projection.rule == rv.FixedIndegree(2)


# ---- calls as in NEST ------------------------------------------------------------------------------------------------

NEST_FORMS: list[tuple[Callable[[Any], object], str]] = [
    (
        lambda net: net.connect(*net, {"rule": "fixed_indegree", "indegree": 2}, {"weight": 1.0, "delay": 1.5}),
        "write net.connect(a, b, rv.FixedIndegree(indegree=2), weight=1.0, delay=1.5)",
    ),
    (
        lambda net: net.connect(net["a"], net["b"], {"rule": "pairwise_bernoulli", "p": 0.1}, weight=2.0),
        "write net.connect(a, b, rv.PairwiseBernoulli(probability=0.1), weight=2.0)",
    ),
    (
        lambda net: net.connect(*net, conn_spec="one_to_one", syn_spec={"synapse_model": "static_synapse"}),
        "write net.connect(a, b, rv.OneToOne())",
    ),
    (lambda net: net.connect(net["a"], net["b"]), "write net.connect(a, b, rv.AllToAll())"),
    (
        lambda net: net.connect([net["a"], net["b"]], net["b"], "fixed_indegree", rv.Normal(1.0, 2.0), [1.0]),
        "write net.connect([a, b], b, rv.FixedIndegree(indegree=...), weight=rv.Normal(mean=1.0, std=2.0), delay=...)",
    ),
    (lambda net: net.create("iaf_psc_exp", 3, {"tau_m": 5.0}), "write net.create('iaf_psc_exp', 3, tau_m=5.0)"),
    (lambda net: net.create("iaf_psc_exp", 3, params={"tau_m": 5.0}), "write net.create('iaf_psc_exp', 3, tau_m=5.0)"),
    (lambda net: net.create("iaf_psc_exp"), "write net.create('iaf_psc_exp', size)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "here"), NEST_FORMS, ids=[here for _, here in NEST_FORMS])
def test_a_call_in_the_form_of_nest_is_shown_in_ours(call: Callable[[Any], object], here: str) -> None:
    net = rv.Network()
    for name in ("a", "b"):
        net.create("iaf_psc_exp", 4, name=name)
    with pytest.raises(errors.WrongTypeError) as caught:
        call(net)
    check(caught.value, here)
    assert not net.projections
    assert len(net.populations) == 2


@pytest.mark.parametrize("synapses", ["jonke_synapse", {"synapse_model": "jonke_synapse", "weight": 1.0}], ids=str)
def test_synapses_of_nest_that_are_absent(synapses: Any) -> None:
    population = neurons()
    with pytest.raises(errors.UnknownNameError) as caught:
        population.network.connect(population, population, "all_to_all", syn_spec=synapses)
    check(caught.value, "'jonke_synapse'", "absent so far", "`ranvier models` lists the synapse models")


def test_synapses_of_nest_that_have_another_name() -> None:
    population = neurons()
    with pytest.raises(errors.UnknownNameError) as caught:
        population.network.connect(population, population, "all_to_all", syn_spec={"synapse_model": "stdp_synapse"})
    check(caught.value, "'stdp_synapse'", "no synapse model has this name", "synapse=rv.stdp(...)")
