"""Rules that cannot be carried out give a RuleError, and leave everything as it was."""

from __future__ import annotations

from typing import Any

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
