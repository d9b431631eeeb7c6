"""Models of equations that come with Ranvier are used like its other models."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.command_line import main
from ranvier.equations.library import LibraryNeuron, built, indexed_names
from ranvier.equations.neurons import NAMES
from thorough_cases import every


@pytest.mark.parametrize("name", every(3, NAMES, first=2))
def test_classes_have_the_parameters_of_the_equations(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    kind = getattr(rv, name)
    assert issubclass(kind, LibraryNeuron)
    signature = inspect.signature(kind)
    model = built(name)
    indexed = indexed_names(name)
    assert bool(indexed) == ("of_each" in signature.parameters)
    for parameter in model.core_model.parameters:
        if parameter.name in indexed:
            assert f"{parameter.name} : " in (inspect.getdoc(kind) or "")
            continue
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


def test_receptors_have_numbers_or_names() -> None:
    by_number = rv.iaf_psc_exp_multisynapse(receptors=2, tau_syn_2="100 ms")
    assert by_number.receptors == ("receptor_1", "receptor_2")
    assert repr(by_number) == "iaf_psc_exp_multisynapse(receptors=2, tau_syn_2=100.0)"
    by_name = rv.aeif_cond_beta_multisynapse(receptors=["AMPA", "NMDA"], tau_decay_NMDA=100.0)
    assert by_name.receptors == ("AMPA", "NMDA")
    again = pickle.loads(pickle.dumps(by_name(E_rev_NMDA=[1.0, 2.0])))
    assert again == by_name(E_rev_NMDA=[1.0, 2.0])
    assert again.receptors == by_name.receptors
    net = rv.Network()
    cells = net.create(by_name, 2, tau_rise_AMPA=0.5)
    net.connect(cells, cells, rv.AllToAll(), weight=1.0, delay=1.0, receptor="NMDA")
    net.record_state(cells, ["g_NMDA"], 1.0)
    rv.Simulation(pickle.loads(pickle.dumps(net))).run(2.0)


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ({"receptors": 2, "tau_syn_3": 1.0}, rv.errors.UnknownNameError, "tau_syn_3"),
        ({"receptor": 2}, rv.errors.UnknownNameError, "did you mean 'receptors'"),
        ({"receptors": 2.0}, rv.errors.WrongTypeError, "integer"),
        ({"receptors": ["a", "a"]}, rv.errors.ValueOutOfBoundsError, "once"),
        ({"receptors": 2, "tau_syn_2": 0.0}, rv.errors.ValueOutOfBoundsError, "> 0"),
    ],
)
def test_bad_receptors_are_errors(values: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        rv.iaf_psc_exp_multisynapse(**values)


def test_how_many_there_may_be_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "gif_psc_exp"]) == 0
    told = capsys.readouterr().out
    for index in ("stc", "sfa"):
        assert f"\n  {index} " in told
    assert "0 to 100, or names" in told
    assert "stc : default 1" in (inspect.getdoc(rv.gif_psc_exp) or "")


@pytest.mark.parametrize("model", ["gif_psc_exp", rv.gif_psc_exp()])
def test_how_many_there_are_is_said_to_the_model(model: Any) -> None:
    net = rv.Network()
    with pytest.raises(rv.errors.UnknownNameError, match=r"to the model: net.create\(rv.gif_psc_exp\(stc=") as error:
        net.create(model, 3, stc=2)
    assert error.value.value == "'stc'"
    assert len(net.populations) == 0


def test_receptors_beyond_the_defaults_are_as_the_last() -> None:
    assert rv.glif_cond().receptors == ("receptor_1", "receptor_2")
    defaults = {each.name: each.default for each in rv.glif_cond(receptors=3).core_model.parameters}
    assert [defaults[f"E_rev_{i}"] for i in (1, 2, 3)] == [0.0, -85.0, -85.0]
    assert [defaults[f"tau_syn_{i}"] for i in (1, 2, 3)] == [0.2, 2.0, 2.0]
    assert {each.name: each.default for each in rv.glif_cond(receptors=1).core_model.parameters}["tau_syn_1"] == 0.2
