"""What needs more memory than there is gives an InsufficientMemoryError before anything is made."""

from __future__ import annotations

import pytest

import ranvier as rv
from bad_input import check, neurons
from ranvier import errors
from ranvier.base.memory_checks import bytes_text
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


def test_the_memory_limit_is_named_and_small_numbers_can_be_read() -> None:
    with pytest.raises(errors.InsufficientMemoryError) as caught:
        rv.Simulation(neurons().network, threads=1, memory_limit=1000)
    check(caught.value, "memory_limit is 1000 bytes (1.0 kB)", "give a larger memory_limit")
    assert "0.0" not in str(caught.value)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1500, "1500 bytes (1.5 kB)"),
        (2_000_000, "2000000 bytes (2.0 MB)"),
        (3 * 10**21, "3000000000000000000000 bytes (3000.0 EB)"),
    ],
)
def test_bytes_as_text(size: int, text: str) -> None:
    assert bytes_text(size) == text
