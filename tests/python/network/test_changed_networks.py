"""A simulation warns when it runs on after its network was changed: the changes are not in it."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable

import pytest

import ranvier as rv
from ranvier.errors import ChangedNetworkWarning, WrongTypeError
from small_networks import balanced


def simulation() -> tuple[rv.Network, rv.Simulation]:
    net, _ = balanced()
    sim = rv.Simulation(net, threads=1)
    sim.run(1.0)
    return net, sim


CHANGES: dict[str, Callable[[rv.Network], object]] = {
    "set a population": lambda net: net.set(net.populations[0], tau_m=12.0),
    "set a projection": lambda net: net.set(net.projections[0], weight=1.0),
    "create": lambda net: net.create(rv.iaf_psc_exp(), 3),
    "connect": lambda net: net.connect(net.populations[0], net.populations[1], rv.AllToAll(), weight=1.0),
    "stimulate": lambda net: net.stimulate(net.populations[0], rv.poisson_generator(rate=9.0), weight=1.0),
    "record": lambda net: net.record_spikes(),
    "seed": lambda net: setattr(net, "seed", net.seed + 1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_run_warns_once(change: str) -> None:
    net, sim = simulation()
    CHANGES[change](net)
    with pytest.warns(ChangedNetworkWarning, match=r"use sim.set\(...\).*, or build again") as caught:
        sim.run(1.0)
    assert [each.filename for each in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.run(1.0)
        sim.run_until(4.0)
    CHANGES[change](net)
    with pytest.warns(ChangedNetworkWarning):
        sim.run_until(5.0)


def test_what_changes_nothing_does_not_warn() -> None:
    net, sim = simulation()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.set(net.populations[0], V_m=-60.0)
        with pytest.raises(WrongTypeError):
            net.set(net.populations[0], tau_m="10")
        net.seed = net.seed
        net.name = "another name"
        pickle.loads(pickle.dumps(net)).create(rv.iaf_psc_exp(), 3)
        net.summary()
        sim.run(1.0)


def test_who_has_built_again_knows() -> None:
    net, first = simulation()
    net.set(net.populations[0], tau_m=12.0)
    second = rv.Simulation(net, threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first.run(1.0)
        second.run(1.0)
    net.set(net.populations[0], tau_m=13.0)
    for sim in (first, second):
        with pytest.warns(ChangedNetworkWarning):
            sim.run(1.0)


def test_the_warning_can_be_an_error_and_pickled() -> None:
    net, sim = simulation()
    net.create(rv.iaf_psc_exp(), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ChangedNetworkWarning)
        with pytest.raises(ChangedNetworkWarning) as caught:
            sim.run(1.0)
        assert sim.time == 1.0
        # It was said.
        sim.run(1.0)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.network, str(copy)) == (net.name, str(caught.value))
