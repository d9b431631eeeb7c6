"""Errors suggest what the user meant: the model, the rule or the receptor that there is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import ranvier as rv
from ranvier.equations.neurons import NAMES
from ranvier.errors import RanvierError, UnknownNameError, ValueOutOfBoundsError


@pytest.fixture
def net() -> rv.Network:
    net = rv.Network()
    net.create(rv.iaf_psc_exp(), 5, name="a")
    return net


def without_receptors() -> object:
    return rv.neuron("dv/dt = -v/(10*ms) : mV", threshold="v > 1*mV", reset="v = 0*mV")


@pytest.mark.parametrize("name", NAMES)
def test_models_of_equations_are_suggested(net: rv.Network, name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean '{name}'") as caught:
        net.create(name + "o", 1)
    assert set(NAMES) <= set(caught.value.remedy.partition("The valid names are: ")[2].split(", "))


CALLS: dict[str, tuple[Callable[[rv.Network], object], list[str]]] = {
    "p alone": (
        lambda net: net.connect(net["a"], net["a"], p=0.1, weight=1.0),  # type: ignore[call-arg]
        ["net.connect(a, a, rv.PairwiseBernoulli(probability=0.1), weight=1.0)"],
    ),
    "indegree alone": (
        lambda net: net.connect(net["a"], net["a"], indegree=3, weight=1.0, delay=2.0),  # type: ignore[call-arg]
        ["net.connect(a, a, rv.FixedIndegree(indegree=3), weight=1.0, delay=2.0)"],
    ),
    "number alone": (
        lambda net: net.connect(net["a"], net["a"], N=3),  # type: ignore[call-arg]
        ["net.connect(a, a, rv.FixedTotalNumber(number=3))"],
    ),
    "p beside a rule": (
        lambda net: net.connect(net["a"], net["a"], rv.SmallWorld(2, 0.1), p=0.1, weight=1.0),
        [
            "'p'",
            "small_world has no such parameter",
            "net.connect(a, a, rv.PairwiseBernoulli(probability=0.1), weight=1.0)",
        ],
    ),
    "p beside the name of its rule": (
        lambda net: net.connect(net["a"], net["a"], "pairwise_bernoulli", p=0.1, weight=1.0),
        ["'p'", "net.connect(a, a, rv.PairwiseBernoulli(probability=0.1), weight=1.0)"],
    ),
    "symmetric pairs of NEST": (
        lambda net: net.connect(net["a"], net["a"], "symmetric_pairwise_bernoulli", p=0.1),
        ["'symmetric_pairwise_bernoulli'", "rv.UnorderedBernoulli(p)", "rv.Reversed(half)"],
    ),
    "both directions as in NEST": (
        lambda net: net.connect(net["a"], net["a"], rv.OneToOne(), make_symmetric=True),
        ["'make_symmetric'", "net.connect(targets, sources, rv.Reversed(projection))"],
    ),
    "a list of PyNN": (
        lambda net: rv.FromListConnector,  # type: ignore[attr-defined]
        ["rv.Explicit("],
    ),
    "a synapse of NEST by name": (
        lambda net: net.connect(net["a"], net["a"], rv.AllToAll(), weight=1.0, synapse="stdp_synapse"),
        ["'stdp_synapse'", "synapse=rv.stdp(...)"],
    ),
    "a synapse that is absent": (
        lambda net: net.connect(net["a"], net["a"], rv.AllToAll(), weight=1.0, synapse="jonke_synapse"),
        ["'jonke_synapse'", "absent so far"],
    ),
    "a gap junction": (
        lambda net: net.connect(net["a"], net["a"], rv.AllToAll(), weight=1.0, synapse="gap_junction"),
        ["'gap_junction'", "cannot be coupled by gap junctions"],
    ),
    "a neuron with gap junctions": (lambda net: net.create("hh_psc_alpha_gap", 1), ["write rv.hh_psc_alpha"]),
    "gap junctions of the package": (
        lambda net: rv.gap_junction,  # type: ignore[attr-defined]
        ["cannot be coupled by gap junctions"],
    ),
    "a stimulator": (lambda net: net.stimulate(net["a"], "poison_generator"), ["did you mean 'poisson_generator'?"]),
}


@pytest.mark.parametrize("case", CALLS)
def test_the_call_that_was_meant_is_shown(net: rv.Network, case: str) -> None:
    call, parts = CALLS[case]
    before = len(net.projections)
    with pytest.raises((RanvierError, AttributeError)) as caught:
        call(net)
    for part in parts:
        assert part in str(caught.value)
    assert "stdp_pl" not in str(caught.value).partition("valid names")[0] or "jonke" in str(caught.value)
    assert len(net.projections) == before


def test_the_call_that_is_shown_can_be_made(net: rv.Network) -> None:
    with pytest.raises(RanvierError) as caught:
        net.connect(net["a"], net["a"], p=0.1, weight=1.0)  # type: ignore[call-arg]
    shown = caught.value.remedy.removeprefix("write ")
    eval(shown, {"net": net, "rv": rv, "a": net["a"]})
    assert len(net.projections) == 1


def test_parameters_beside_the_name_of_a_rule_are_accepted(net: rv.Network) -> None:
    net.connect(net["a"], net["a"], "pairwise_bernoulli", probability=0.1)
    net.connect(net["a"], net["a"], "fixed_indegree", indegree=2)
    assert len(net.projections) == 2


@pytest.mark.parametrize("call", ["connect", "stimulate"])
def test_a_model_without_receptors_gets_the_remedy_of_its_kind(net: rv.Network, call: str) -> None:
    point = net.create(without_receptors(), 2, name="point")  # type: ignore[arg-type]
    cell = net.create(
        rv.Cell(rv.Morphology([rv.Section(length=50.0, diameter=2.0)]), membrane=[("all", rv.pas())]), 2, name="cell"
    )
    for targets, remedy, other in ((point, "rv.neuron(...", "cell"), (cell, "place one on the cell", "rv.neuron")):
        arguments = (
            (net["a"], targets, rv.AllToAll()) if call == "connect" else (targets, rv.poisson_generator(rate=5.0))
        )
        with pytest.raises(ValueOutOfBoundsError, match="has no receptor that synapses could reach") as caught:
            getattr(net, call)(*arguments, weight=1.0)
        assert remedy in str(caught.value)
        assert other not in caught.value.remedy
