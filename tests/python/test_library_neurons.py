"""Models of equations that come with Ranvier are used like its other models."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import generate_models
from ranvier.command_line import main
from ranvier.equations import models as generated
from ranvier.equations.definitions import DEFINITIONS
from ranvier.equations.library import LibraryNeuron, built


def test_the_generated_file_is_up_to_date() -> None:
    source = inspect.getsource(generated)
    assert source == generate_models.source_of_equations(), "run python -m ranvier.generate_models"
    assert sorted(generated.__all__) == sorted(DEFINITIONS)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_classes_have_the_parameters_of_the_equations(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    kind = getattr(rv, name)
    assert issubclass(kind, LibraryNeuron)
    signature = inspect.signature(kind)
    model = built(name)
    for parameter in model.core_model.parameters:
        assert signature.parameters[parameter.name].default == parameter.default
        assert parameter.meaning
    assert all(variable.meaning for variable in model.core_model.variables)
    assert model.program.reference in " ".join((inspect.getdoc(kind) or "").split())
    assert kind() == model
    assert main(["models", name]) == 0
    told = capsys.readouterr().out
    assert "V_m" in told
    assert model.program.summary in " ".join(told.split())


def test_values_are_given_by_name_and_unit() -> None:
    model = rv.aeif_cond_exp(I_e="0.7 nA", tau_w=[100.0, 200.0], C_m=281.0, V_m=None)
    assert model.values.keys() == {"I_e", "tau_w"}
    assert model.values["I_e"] == pytest.approx(700.0)
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is rv.aeif_cond_exp
    assert again == model
    assert model(I_e=1.0).values["I_e"] == 1.0
    assert repr(rv.izhikevich(I_e=10.0)) == "izhikevich(I_e=10.0)"


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ({"tau_v": 1.0}, rv.errors.UnknownNameError, "tau_w"),
        ({"tau_w": 0.0}, rv.errors.ValueOutOfBoundsError, "tau_w"),
        ({"tau_w": "3 mV"}, rv.errors.UnitError, "mV"),
        ({"V_peak": -70.0}, rv.errors.ValueOutOfBoundsError, "after a reset"),
    ],
)
def test_bad_values_are_errors(values: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        rv.aeif_cond_exp(**values)


def test_populations_are_created_by_class_and_by_name() -> None:
    net = rv.Network()
    by_class = net.create(rv.izhikevich(I_e=10.0), 3, name="a")
    by_name = net.create("izhikevich", 3, I_e=10.0, name="b")
    spikes = net.record_spikes([by_class, by_name])
    sim = rv.Simulation(pickle.loads(pickle.dumps(net)), threads=1)
    sim.run(300.0)
    recorder = sim.network.recorders[0]
    assert isinstance(recorder, rv.SpikeRecorder)
    data = sim.spikes(recorder)
    trains = [data.times[data.ids == i] for i in range(6)]
    assert len(trains[0]) > 5
    assert all(np.array_equal(train, trains[0]) for train in trains)
    assert spikes is not None
