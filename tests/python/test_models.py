"""The generated classes of the models are those of the registry."""

from __future__ import annotations

import inspect
import math

import pytest

import ranvier as rv
from ranvier import _core, errors, generate_models, models


def test_generated_file_is_up_to_date() -> None:
    assert inspect.getsource(models) == generate_models.source(), "run python -m ranvier.generate_models"


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
    with pytest.raises(TypeError, match="amplitudes"):
        rv.step_current_generator(times=[1.0])  # type: ignore[call-arg]


def test_infinite_defaults() -> None:
    assert inspect.signature(rv.dc_generator).parameters["stop"].default == math.inf
