"""Detailed cells on the emulator of a GPU have the spikes, states and recordings of processors, bit for bit."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import electrodes
import general_cells
import mixed_cells
import random_membranes
import ranvier as rv
import site_scenes
import stretch_scenes
from kernel_texts import ARCHITECTURES, compiled, compiled_for_processors, needs_compiler
from ranvier import _core, errors, networks
from ranvier.simulation.options import grouped
from thorough_cases import only

EMULATOR: dict[str, Any] = {"device": "cuda-emulator"}
STEP = 0.025


def check_same(values: Callable[..., npt.NDArray[np.float64]]) -> None:
    """Check that values of options are the same on processors and on a device, and not constant."""
    expected = values()
    assert np.ptp(expected) > 0.0
    np.testing.assert_array_equal(values(**EMULATOR), expected)


@pytest.mark.parametrize(
    "keys",
    [{"depth": 2}, {"depth": 2, "shapes": "different"}, {"depth": 1, "dendrites": "pas"}, {"depth": 0}],
    ids=str,
)
def test_rings(keys: dict[str, Any]) -> None:
    def digest(pieces: int, **options: Any) -> tuple[str, bytes]:
        made = networks.ring(cells=13, **keys)
        sim = rv.Simulation(made.net, progress=False, **grouped(options))
        for _ in range(pieces):
            sim.run(30.0 / pieces)
        trains = sim.spikes(made.spikes)
        assert len(trains) > 15
        return trains.digest(), sim.get(made.net.populations[0], "V_m").tobytes()

    expected = digest(1)
    assert digest(1, **EMULATOR) == expected
    assert digest(4, **EMULATOR, shards=5) == expected


def test_cells_of_everything(tmp_path: Path) -> None:
    """Of several shapes, with values that change in mid-run; and a state that goes on on the other machine."""
    path = tmp_path / "state.h5"
    given: dict[str, Any] = {"point_step": STEP}
    expected = mixed_cells.result(**given)
    assert mixed_cells.result(**given, **EMULATOR) == expected
    assert mixed_cells.result(path, {}, **given, **EMULATOR) == expected
    assert mixed_cells.result(path, EMULATOR, **given) == expected


def test_random_membranes() -> None:
    for seed in range(8):
        cell = random_membranes.draw_cell(seed, rates="table")

        def values(cell: rv.Cell = cell, **options: Any) -> npt.NDArray[np.float64]:
            return random_membranes.recorded(cell, 11, **options)

        check_same(values)


def test_random_mechanisms_of_programs() -> None:
    """States and currents of any form, receptors that are point processes, in both schemes."""
    for seed in range(8):
        kinds = general_cells.draw_kinds(seed, rates="table")

        def values(kinds: list[rv.Cell] = kinds, **options: Any) -> npt.NDArray[np.float64]:
            return general_cells.run(kinds, [*range(len(kinds))] * 3, **options)

        check_same(values)


@pytest.mark.parametrize("seed", range(4))
def test_random_networks_with_point_neurons(seed: int) -> None:
    assert stretch_scenes.draw(seed).outcome((7.3,), **EMULATOR) == stretch_scenes.draw(seed).outcome()


def test_receptors_at_several_places() -> None:
    """Synapses and stimuli that reach a site each."""

    def outcome(**options: Any) -> npt.NDArray[np.float64]:
        net = rv.Network(resolution=site_scenes.STEP, seed=3)
        cells = net.create(site_scenes.cell(False), 9, V_m=rv.Normal(-65.0, 2.0))
        others = net.create(site_scenes.cell(False, tree=site_scenes.LARGE, separate_sites=True), 5)
        for site in range(len(site_scenes.PLACES)):
            for population in (cells, others):
                net.connect(
                    population, population, rv.FixedIndegree(2), weight=4.0, delay=0.7, receptor="exc", site=site
                )
        net.stimulate(cells[::2], "poisson_generator", rate=900.0, weight=3.0, receptor="exc", site=2)
        net.stimulate(others, "poisson_generator", rate=900.0, weight=3.0, receptor="exc", site=1)
        states = [net.record_state(each, ["V_m", "tip"], interval=0.5) for each in (cells, others)]
        sim = rv.Simulation(net, progress=False, **grouped(options))
        sim.run(20.0)
        return np.concatenate([sim.state(each).values.ravel() for each in states])

    check_same(outcome)


def test_recordings_outside_of_cells() -> None:
    """Of potentials at contacts, and of dipole moments."""
    check_same(electrodes.potentials)


def test_cells_have_refractory_times() -> None:
    def outcome(**options: Any) -> npt.NDArray[np.float64]:
        soma = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
        net = rv.Network(resolution=STEP)
        cell = rv.Cell(soma, membrane=[("all", rv.hh())], threshold=-60.0, t_ref=9.0)
        cells = net.create(cell, 5, I_e=[80.0, 100.0, 120.0, 140.0, 160.0])
        spikes = net.record_spikes(cells)
        sim = rv.Simulation(net, progress=False, **grouped(options))
        for _ in range(8):
            sim.run(10.0)
        return np.concatenate([sim.spikes(spikes).steps, sim.spikes(spikes).ids]).astype(float)

    check_same(outcome)


def test_a_cell_that_leaves_its_bounds_ends_the_run() -> None:
    for device, message in (
        ("cpu", r"left the range from -250 to 250 mV"),
        ("cuda-emulator", r"^neuron 1 of 'cells' on a device is in step 2, but a potential"),
    ):
        net = rv.Network(resolution=STEP)
        soma = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
        net.create(rv.Cell(soma, membrane=[("all", rv.hh())]), 3, name="cells", I_e=[0.0, 1e8, 0.0])
        sim = rv.Simulation(net, progress=False, device=device)
        with pytest.raises(errors.RanvierError, match=message):
            sim.run(5.0)


def test_what_devices_do_not_have_is_refused_before_the_build() -> None:
    soma = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
    net = rv.Network()
    net.create(rv.Cell(soma, membrane=[("all", rv.hh())], rates="exact"), 1, name="exact ones")
    with pytest.raises(errors.StateError, match=r"cells of population 'exact ones' have rates='exact'.* 'hh'"):
        rv.Simulation(net, progress=False, device="cuda-emulator")


HOST = """
using namespace ranvier::device;
// As PlaceView.
struct View {
    double* states;
    const double* inputs;
    double half;
    const double* parameters;
    double* results;

    double& state(u32 s) const { return states[s]; }
    double input(u32 which) const { return inputs[which]; }
    double half_step() const { return half; }
    double parameter(u32 p) const { return parameters[p]; }
    double& result(u32 k) const { return results[k]; }
};
extern "C" bool run(u32 mechanism, bool advances, double* states, const double* inputs, double half,
                    const double* parameters, double* results) {
    const View view{states, inputs, half, parameters, results};
    return advances ? Models{}.advance_place(mechanism, view) : Models{}.place_currents(mechanism, view);
}
"""


def test_mechanisms_have_the_bits_of_the_emulator(tmp_path: Path) -> None:
    """The text of their functions, compiled for processors."""
    found = 0
    schemes: list[tuple[int, Any]] = [(3, "backward_euler"), (5, "staggered"), (6, "staggered")]
    for seed, scheme in schemes:
        kernels = _core.CellKernels(general_cells.of_all(seed, scheme).core_model)
        folder = tmp_path / str(seed)
        folder.mkdir()
        function = compiled_for_processors(kernels.source(), folder, HOST).run
        function.restype = ctypes.c_bool
        random = np.random.default_rng(seed)
        for number, (states, currents, parameters) in enumerate(kernels.mechanisms):
            for advances in (False, True, False, True):
                given = [
                    random.uniform(0.0, 1.0, states),
                    np.array(
                        [
                            random.uniform(-90, 40),
                            20.0,
                            0.025,
                            10.0 ** random.uniform(-6, -2),
                            2.0,
                            120.0,
                            -0.01,
                            3.0,
                            80.0,
                            4.0,
                        ]
                    ),
                    random.uniform(0.01, 2.0, parameters),
                    np.zeros(2 * currents),
                ]
                other = [each.copy() for each in given]
                ended = kernels.run(number, advances, given[0], given[1], 0.0125, given[2], given[3])
                pointers = [each.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for each in other]
                assert ended == function(number, advances, *pointers[:2], ctypes.c_double(0.0125), *pointers[2:])
                for one, another in zip(given, other, strict=True):
                    np.testing.assert_array_equal(one, another)
                found += 1
    assert found > 30


@needs_compiler
@pytest.mark.parametrize("architecture", only(ARCHITECTURES[::3], ARCHITECTURES))
def test_nvrtc_compiles_cells(architecture: int) -> None:
    source = _core.CellKernels(general_cells.of_all(5, "staggered").core_model).source()
    text = compiled(source, architecture, ptx=True).decode()
    assert re.findall(r"\bfma\b[^;]*f64", text) == []


def test_gates_of_equations_without_tables() -> None:
    """They are calculated by their programs."""
    for seed in range(3):
        cell = random_membranes.draw_cell(seed, rates="exact", channels=())

        def values(cell: rv.Cell = cell, **options: Any) -> npt.NDArray[np.float64]:
            return random_membranes.recorded(cell, 9, **options)

        check_same(values)
