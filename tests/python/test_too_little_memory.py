"""What needs more memory than there is gives an InsufficientMemoryError before anything is made."""

from __future__ import annotations

import pytest

import ranvier as rv
from bad_input import check
from ranvier import errors
from small_networks import balanced


def test_more_memory_than_the_machine_has() -> None:
    net = rv.Network()
    population = net.create("iaf_psc_exp", 10_000_000)
    net.connect(population, population, rv.FixedIndegree(1_000_000))
    with pytest.raises(errors.InsufficientMemoryError) as caught:
        rv.Simulation(net)
    check(caught.value, "bytes")
    assert isinstance(caught.value, MemoryError)
    assert any(int(word) > 10**13 for word in str(caught.value).replace(",", "").split() if word.isdigit())


def test_memory_limit() -> None:
    net, _ = balanced(100)
    needed = sum(rv.predict_memory(net, threads=2).values())
    with pytest.raises(errors.InsufficientMemoryError):
        rv.Simulation(net, threads=2, memory_limit=needed // 4)
    rv.Simulation(net, threads=2, memory_limit=4 * needed).run(1.0)


@pytest.mark.parametrize("values", [range(10**15), range(2**62, 0, -3), range(10**30)])
def test_ranges_that_no_memory_holds_are_refused(values: range) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 2)
    sim = rv.Simulation(net, threads=1)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        rv.iaf_psc_exp(I_e=values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        sim.set(neurons, V_m=values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        sim.connections(targets=values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        sim.connections()[values]
    with pytest.raises(rv.errors.InsufficientMemoryError):
        net.record_state(neurons[values], "V_m")
    with pytest.raises(rv.errors.InsufficientMemoryError):
        rv.Explicit(values, values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        rv.Simulation(net, threads=1, processes=rv.Processes(placement=values))
