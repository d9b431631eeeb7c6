"""Potentials and concentrations that leave all bounds: told soon, with the time, the neuron and the place."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import ranvier as rv

STEP = 0.025
TREE = rv.Morphology(
    [
        rv.Section(length=20.0, diameter=20.0),
        rv.Section(length=200.0, diameter=2.0, parent=0, tag="basal"),
        rv.Section(length=100.0, diameter=1.0, parent=1, tag="apical"),
    ]
)
ONSET, LONG = 3.0, 500.0


def cell(counts: int = 2, **keys: Any) -> rv.Cell:
    """Return a cell with an electrode at the end of a dendrite."""
    return rv.Cell(
        TREE,
        compartments=counts,
        **{"membrane": [("all", rv.hh())], "electrodes": {"tip": rv.at(2, 1.0)}, **keys},
    )


def network(cells: Any, count: int, amplitude: float = 1e5) -> rv.Network:
    """Return a network in which neuron 5 gets too much, from a time on, and neuron 2 a little later."""
    net = rv.Network(resolution=STEP)
    population = net.create(cells, count, name="ill") if isinstance(cells, rv.Cell) else net.create(cells, name="ill")
    net.connect(population, population, rv.FixedIndegree(1), weight=0.0, delay=1.0, receptor="exc")
    net.stimulate(population[5], rv.dc_generator(amplitude=amplitude, start=ONSET))
    net.stimulate(population[2], rv.dc_generator(amplitude=amplitude, start=ONSET + STEP))
    net.record_state(population, ["V_m"], interval=1.0)
    return net


RECEPTOR: dict[str, Any] = {"receptors": {"exc": (rv.expsyn(), rv.at(0))}}
MIXED = [cell(1 + i % 3, **RECEPTOR) for i in range(9)]


@pytest.mark.parametrize("stepping", ["bsp", "async"])
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("cells", "position"), [(cell(**RECEPTOR), 0.75), (MIXED, 5.0 / 6.0)], ids=["equal", "packed"])
def test_a_potential_beyond_the_tables_is_told_soon(cells: Any, position: float, threads: int, stepping: Any) -> None:
    """With the same message whoever calculates it; what was recorded until then can be read, and it is told again."""
    net = network(cells, 9)
    sim = rv.Simulation(net, threads=threads, stepping=stepping, progress=False)
    with pytest.raises(rv.errors.StateError) as caught:
        sim.run(LONG)
    error = caught.value
    assert error.object == f"potential of neuron 5 of population 'ill' at section 2, position {position:.6g}" or (
        re.fullmatch(r"potential of neuron 5 of population 'ill' at section 2, position 0.83\d*", error.object)
    )
    told = re.search(r"from -250 to 250 mV .* tabulated, at ([0-9.]+) ms$", error.bound)
    assert told is not None
    assert ONSET < float(told[1]) < ONSET + 1.0
    assert float(error.value.removesuffix(" mV")) > 250.0
    # The epochs are those of a delay of 1 ms.
    assert sim.time < ONSET + 3.0
    (recorder,) = net.recorders
    assert isinstance(recorder, rv.StateRecorder)
    assert np.isfinite(sim.state(recorder).values[:3]).all()
    with pytest.raises(rv.errors.StateError, match="neuron 5 "):
        sim.run(LONG)
    assert sim.time < ONSET + 5.0


def test_the_time_is_that_of_the_step_after_which_it_had_left() -> None:
    """As it is recorded."""
    net = rv.Network(resolution=STEP)
    population = net.create(cell(probes={"tip": rv.at(2, 1.0)}), 1, name="ill", I_e=2e4)
    recorder = net.record_state(population, ["tip"], interval=STEP)
    sim = rv.Simulation(net, progress=False)
    with pytest.raises(
        rv.errors.StateError, match=r"neuron 0 .* at section 2, position 0.75 is \S+ mV.* ms;"
    ) as caught:
        sim.run(20.0)
    values = sim.state(recorder).values[:, 0, 0]
    first = int(np.argmax(np.abs(values) >= 250.0))
    assert f"at {round((first + 1) * STEP, 3):g} ms" in caught.value.bound
    assert f"{values[first]:.4f}"[:7] in caught.value.value


def test_exact_rates_and_passive_cells_have_no_bound_but_that_of_numbers() -> None:
    """They go on beyond what tables have."""
    for keys in ({"rates": "exact"}, {"membrane": [("all", rv.pas())]}):
        net = network(cell(**RECEPTOR, **keys), 9, amplitude=1e6)
        rv.Simulation(net, progress=False).run(5.0)


def test_concentrations_are_told_soon() -> None:
    """A shell that a step fills beyond its bound."""
    pump = [("all", rv.calcium_pool(depth=1e-5, decay=1e6, gamma=1.0)), ("all", rv.ca_lva(gbar=1.0)), ("all", rv.pas())]
    net = rv.Network(resolution=STEP)
    population = net.create(cell(membrane=pump, celsius=6.3), 10, name="full")
    net.stimulate(population[3:], rv.dc_generator(amplitude=1000.0, start=2.0))
    sim = rv.Simulation(net, progress=False)
    with pytest.raises(rv.errors.StateError) as caught:
        sim.run(LONG)
    assert re.fullmatch(
        r"concentration of calcium of neuron [03] of population 'full' at section \d, position 0.\d+",
        caught.value.object,
    )
    assert "shell" in caught.value.bound
    assert sim.time < 50.0
