"""The classes of the models are those of the registry."""

from __future__ import annotations

import inspect
import math
import pickle
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import ranvier as rv
from ranvier import _core, errors, models
from ranvier.base.model import Model
from ranvier.base.model_classes import Classes
from ranvier.cells import models as cell_models
from ranvier.equations import models as equation_models
from ranvier.equations.library import built


def test_each_model_is_one_class() -> None:
    for module in (models, cell_models, equation_models):
        assert set(module.__all__) <= set(dir(module))
        for name in module.__all__:
            kind = getattr(module, name)
            assert kind is getattr(module, name) is getattr(rv, name)
            assert (kind.__module__, kind.__qualname__) == (module.__name__, name)
            assert pickle.loads(pickle.dumps(kind)) is kind
    assert isinstance(rv.iaf_psc_exp(), models.NEURON_MODELS["iaf_psc_exp"])
    with pytest.raises(AttributeError, match="iaf_psc"):
        models.iaf_psc  # type: ignore[attr-defined] # noqa: B018


def test_threads_that_ask_for_a_class_at_once_get_the_same() -> None:
    made = []

    def make(name: str) -> type[object]:
        made.append(name)
        time.sleep(0.01)
        return type(name, (), {})

    classes = Classes(["a"], make)
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: classes["a"], range(4)))) == 1
    assert made == ["a"]


@pytest.mark.parametrize("model", _core.neuron_models(), ids=lambda model: model.name)
def test_signatures_of_neuron_models(model: _core.NeuronModel) -> None:
    if model.plays_spikes:
        assert not hasattr(rv, model.name)
        return
    signature = inspect.signature(getattr(rv, model.name))
    defaults = {name: parameter.default for name, parameter in signature.parameters.items()}
    for parameter in model.parameters:
        assert defaults.pop(parameter.name) == parameter.default
    assert defaults == {variable.name: None for variable in model.variables if variable.name in defaults}
    assert all(variable.name in signature.parameters for variable in model.variables)


@pytest.mark.parametrize("model", _core.stimulator_models(), ids=lambda model: model.name)
def test_signatures_of_stimulators(model: _core.StimulatorModel) -> None:
    signature = inspect.signature(getattr(rv, model.name))
    defaults = {name: parameter.default for name, parameter in signature.parameters.items()}
    for sequence in model.sequences:
        assert defaults.pop(sequence.name) is inspect.Parameter.empty
    assert defaults == {parameter.name: parameter.default for parameter in model.parameters}


@pytest.mark.parametrize("name", [*models.NEURON_MODELS, *models.STIMULATORS])
def test_docstrings_tell_units_bounds_and_equations(name: str) -> None:
    documentation = inspect.getdoc(getattr(rv, name)) or ""
    registry: dict[str, _core.NeuronModel | _core.StimulatorModel] = {
        **{model.name: model for model in _core.neuron_models()},
        **{model.name: model for model in _core.stimulator_models()},
    }
    for parameter in registry[name].parameters:
        assert f"{parameter.name} : default" in documentation
        assert parameter.unit in documentation
        if parameter.bounds != "any number":
            assert parameter.bounds in documentation
    for line in registry[name].equations.splitlines():
        assert line.strip() in documentation
    if name in models.NEURON_MODELS:
        assert registry[name].reference


def test_defaults_of_the_class_are_those_of_the_core() -> None:
    net = rv.Network()
    by_class = net.create(rv.iaf_psc_exp(), 1)
    by_name = net.create("iaf_psc_exp", 1)
    sim = rv.Simulation(net)
    for name in [*inspect.signature(rv.iaf_psc_exp).parameters]:
        assert sim.get(by_class, name) == sim.get(by_name, name)


def test_unknown_parameter_of_a_class() -> None:
    with pytest.raises(errors.UnknownNameError, match="tau_m"):
        rv.iaf_psc_exp(tau=1.0)  # type: ignore[call-arg]


def test_missing_sequence() -> None:
    with pytest.raises(errors.WrongTypeError, match=r"arguments of step_current_generator\(\).*amplitudes"):
        rv.step_current_generator(times=[1.0])  # type: ignore[call-arg]


def test_values_without_names() -> None:
    with pytest.raises(errors.WrongTypeError, match=r"arguments of iaf_psc_exp\(\).*positional"):
        rv.iaf_psc_exp(-65.0)  # type: ignore[call-arg]


def test_infinite_defaults() -> None:
    assert inspect.signature(rv.dc_generator).parameters["stop"].default == math.inf


def shipped_models() -> list[Any]:
    """Return a model of each class that comes with Ranvier and has no equations of a user."""
    made = []
    for module in (models, cell_models):
        for name in module.__all__:
            model = getattr(module, name)
            if isinstance(model, type) and issubclass(model, Model) and getattr(model, "name", None) == name:
                made.append(model.__new__(model))
    return made


@pytest.mark.parametrize("model", shipped_models(), ids=lambda model: str(model.name))
def test_models_describe_themselves(model: Any) -> None:
    model._put(_values={})
    text = model.describe()
    assert text.startswith(f"{model.name}: ")
    for name in model.value_names():
        assert re.search(rf"^    {re.escape(name)} ", text, re.MULTILINE) or name == model.transmitter_name


def test_a_description_has_the_values_that_were_set() -> None:
    text = rv.iaf_psc_exp(tau_m=12.5, C_m=[250.0, 300.0], V_m=rv.Normal(-65.0, 1.0)).describe()
    words = " ".join(text.split())
    for part in (
        "tau_m 12.5 ms > 0",
        "C_m array of 2, 250 to 300 pF",
        "V_m Normal(mean=-65.0, std=1.0) mV",
        "E_L -70 mV",
        "Receptors: excitatory, inhibitory; weights in pA",
    ):
        assert part in words


def test_descriptions_of_parameters_keep_their_model_alive() -> None:
    """The texts of a description belong to the model."""
    model = built("aeif_cond_exp").core_model
    for name in ("parameters", "variables"):
        before = sys.getrefcount(model)
        described = getattr(model, name)
        assert sys.getrefcount(model) == before + len(described) > before
        del described
        assert sys.getrefcount(model) == before
