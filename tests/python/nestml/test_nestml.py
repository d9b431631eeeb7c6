"""Neurons that are read from files of NESTML."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import ranvier as rv
from nestml_scenes import MODELS, PUBLISHED, TWINS, Twin, both, published
from thorough_cases import only


def compare(path: Path, twin: Twin) -> None:
    read, here = both(path, twin)
    assert read.spikes == here.spikes
    assert len(here.spikes) > 10
    difference = np.abs(read.samples["V_m"] - here.samples["V_m"]).max()
    assert difference <= twin.most
    assert np.ptp(here.samples["V_m"]) > 10.0


@pytest.mark.parametrize(
    "name", only({*TWINS} - {"conductances_exponential", "adaptive_exponential", "hodgkin_huxley"}, TWINS)
)
def test_neurons_of_files_do_what_those_of_ranvier_do(name: str) -> None:
    compare(MODELS / f"{name}.nestml", TWINS[name])


@pytest.mark.skipif(not published(), reason="the package nestml, whose models are read, is not installed")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_neurons_do_what_those_of_ranvier_do(name: str) -> None:
    compare(published()[name], PUBLISHED[name])


def test_a_model_is_like_one_of_equations(tmp_path: Path) -> None:
    model = rv.read_nestml(MODELS / "leaky_exponential.nestml")
    assert isinstance(model, rv.EquationNeuron)
    assert model.name == "leaky_exponential"
    assert model.method == "exact"
    assert model.receptors == ("ex", "inh")
    assert model.units["C_m"] == "nF"
    assert "Capacitance" in model.describe()
    assert "dV_m/dt" in model.equations
    parameters = {each.name: each for each in model.core_model.parameters}
    assert parameters["C_m"].default == 0.25
    assert parameters["C_m"].bounds == "> 0"
    assert parameters["V_th"].default == -55.0
    assert "wait" not in model.variables
    changed = model(tau_m="15 ms", V_m=-60.0)
    assert pickle.loads(pickle.dumps(changed)) == changed
    net = rv.Network(seed=2)
    cells = net.create(changed, 3, I_e=rv.Uniform(400.0, 600.0))
    net.connect(cells, cells, "all_to_all", weight=-20.0, delay=1.0)
    spikes = net.record_spikes(cells)
    sim = rv.Simulation(net, progress=False)
    sim.run(30.0)
    sim.save(tmp_path / "state.h5")
    sim.run(30.0)
    whole = sim.spikes(spikes)
    assert len(whole) > 3
    again = rv.Simulation.load(pickle.loads(pickle.dumps(net)), tmp_path / "state.h5", progress=False)
    again.run(30.0)
    (recorder,) = again.network.recorders
    assert isinstance(recorder, rv.SpikeRecorder)
    later = again.spikes(recorder)
    assert np.array_equal(later.steps, whole.steps)


def test_initial_values_are_those_of_the_file() -> None:
    model = rv.read_nestml(MODELS / "quadratic.nestml")
    initial = {each.name: each.initial_value for each in model.core_model.variables}
    assert initial["U_m"] == -13.0
    assert "least" not in model.parameters


def test_a_file_may_have_several_models(tmp_path: Path) -> None:
    file = tmp_path / "two.nestml"
    names = ("leaky_alpha", "leaky_delta")
    file.write_text("\n".join((MODELS / f"{name}.nestml").read_text() for name in names))
    assert rv.read_nestml(file, "leaky_delta").name == "leaky_delta"
    assert rv.read_nestml(file, model="leaky_alpha").name == "leaky_alpha"
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="model='leaky_alpha'"):
        rv.read_nestml(file)
    with pytest.raises(rv.errors.UnknownNameError, match="did you mean 'leaky_delta'"):
        rv.read_nestml(file, "leaky_dleta")


def test_without_lark_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from ranvier.nestml import grammar

    grammar._parser.cache_clear()
    monkeypatch.setitem(sys.modules, "lark", None)
    with pytest.raises(rv.errors.MissingPackageError, match=r"pip install 'ranvier\[nestml\]'"):
        rv.read_nestml(MODELS / "leaky_alpha.nestml")
