"""Formulas of calls, compiled where the neurons, their positions and the units of values are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ranvier import _core
from ranvier.base.formulas import Formula, Text, parts_of, with_constants
from ranvier.base.names import nearest_name
from ranvier.base.texts import check_text, name_type
from ranvier.base.user_model import UserModel
from ranvier.equations.expression import Expression
from ranvier.equations.formulas import compile_formula, names_of
from ranvier.equations.places import Source
from ranvier.equations.units import Unit, read_unit
from ranvier.equations.value_functions import NEURON, NUMBER, PAIR, Context
from ranvier.errors import UnknownNameError, WrongTypeError
from ranvier.populations.populations import PopulationView

__all__ = ["Constants", "Pairs", "of_neurons", "of_population", "of_stimulus", "weight_of_stimulus"]


class Constants:
    """The constants of a call, for all texts in its arguments."""

    def __init__(self, given: object, call: str) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise WrongTypeError(
                f"constants of {call}", name_type(given), "must be a mapping from names", 'write {"J": "87.8 pA"}'
            )
        names = {} if given is None else {check_text(f"name of a constant of {call}", name): name for name in given}
        self._given: Mapping[str, Any] = {name: given[name] for name in names} if isinstance(given, Mapping) else {}
        self._call = call
        self._used: set[str] = set()
        self._names: set[str] = set()

    def of(self, value: Any) -> Any:
        """Return a value whose texts have the constants that they use.

        Raises
        ------
        EquationError
            For a constant that cannot have its name or value.
        """
        if not self._given:
            return value
        texts = [value] if isinstance(value, str) else [each.text for each in parts_of(value) if type(each) is Text]
        return with_constants(value, {text: made for text in texts if (made := self._expression(text)) is not None})

    def of_all(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return named values, each as `of` does."""
        return {name: self.of(value) for name, value in values.items()}

    def of_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return checked arguments of a call; a synapse model has values of its own."""
        made: dict[str, Any] = {
            name: value if isinstance(value, str) else self.of(value) for name, value in arguments.items()
        }
        if "synapse" in made:
            model, transmitter = made["synapse"]
            values = self.of_all(model.values)
            different = {name: value for name, value in values.items() if value is not model.values[name]}
            made["synapse"] = (model.with_values(different) if different else model, transmitter)
        return made

    def _expression(self, text: str) -> Expression | None:
        names = names_of(text, self._given)
        self._names |= names
        own = {name: value for name, value in self._given.items() if name in names}
        self._used |= own.keys()
        return Expression(text, own) if own else None

    def check_used(self) -> None:
        """Raise UnknownNameError for a constant that no text uses."""
        for name in self._given:
            if name in self._used:
                continue
            nearest = nearest_name(name, sorted(self._names - self._used))
            raise UnknownNameError(
                f"constant of {self._call}",
                f"'{name}'",
                "no text of the call uses it",
                f"did you mean '{nearest}'?" if nearest else "leave it out",
            )


# Units of the core that equations write in another way; angles are numbers.
_WRITTEN = {"spikes/s": "Hz", "mV^2": "mV**2", "1/mV^2": "1/mV**2", "degrees": ""}


def _unit(text: str) -> Unit:
    """Return a unit of the core."""
    written = _WRITTEN.get(text, text)
    return read_unit(Source("unit", written), 0, len(written)) if written else NUMBER


def _space(views: Iterable[PopulationView]) -> tuple[str, str]:
    """Return the unit of positions, or else why there are none."""
    unit = ""
    for view in views:
        for part in view.parts:
            layout = part.population.layout
            if layout is None:
                return "", f"population '{part.population.name}' has none"
            unit = unit or layout.unit
    return unit, "there are no neurons" if not unit else ""


def _compiled(value: Any, context: Context) -> Any:
    """Return a formula in the form in which the core takes it, and other values as they are."""
    if not isinstance(value, Formula):
        return value
    function = compile_formula(value, context)
    constant = function.constant
    return function if constant is None else constant


@dataclass(frozen=True)
class Pairs:
    """The neurons of a projection, for its formulas."""

    projection: str
    sources: PopulationView
    targets: PopulationView

    def weight(self, value: Any) -> Any:
        """Return weights for the core, in the unit of the targets or without.

        Raises
        ------
        UnknownSymbolError, UnitError, EquationError
            Pointing at the place in a text.
        """
        return self._compiled(value, "weight", unit_of_weights(self.targets)) if isinstance(value, Formula) else value

    def delay(self, value: Any) -> Any:
        """Return delays for the core, ms. Raises errors as `weight`."""
        return self._compiled(value, "delay", "ms", takes_plain=False)

    def parameters(self, model: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of a synapse model for the core. Raises errors as `weight`."""
        if not any(isinstance(value, Formula) for value in values.values()):
            return dict(values)
        if isinstance(model, str):
            model = next(each for each in _core.synapse_models() if each.name == model)
        units = units_of(model)
        return {name: self._compiled(value, name, units.get(name, "")) for name, value in values.items()}

    def _compiled(self, value: Any, name: str, unit: str, takes_plain: bool = True) -> Any:
        if not isinstance(value, Formula):
            return value
        lengths, reason = _space((self.sources, self.targets))
        what = f"{name} of projection '{self.projection}'"
        return _compiled(value, Context(what, PAIR, lengths, _unit(unit), takes_plain, True, reason))


def of_population(values: Mapping[str, Any], model: str | UserModel, name: str, lengths: str) -> dict[str, Any]:
    """Return values of a population for the core; `lengths` is the unit of its positions. Raises errors as `Pairs`."""
    if not any(isinstance(value, Formula) for value in values.values()):
        return dict(values)
    units = units_of(_registered(model) if isinstance(model, str) else model.core_model)
    return _of_neurons(values, units, f"population '{name}'", lengths, f"population '{name}' has none")


def of_neurons(values: Mapping[str, Any], neurons: PopulationView) -> dict[str, Any]:
    """Return values of neurons of a population that exists for the core. Raises errors as `Pairs`."""
    population = neurons.population
    lengths, _ = _space((population,))
    return of_population(values, population.user_model or population.model, population.name, lengths)


def of_stimulus(values: Mapping[str, Any], stimulator: str, name: str, targets: PopulationView) -> dict[str, Any]:
    """Return parameters of a stimulus for the core. Raises errors as `Pairs`."""
    if not any(isinstance(value, Formula) for value in values.values()):
        return dict(values)
    return _of_neurons(values, units_of(_registered(stimulator)), f"stimulus '{name}'", *_space((targets,)))


def weight_of_stimulus(value: Any, name: str, targets: PopulationView) -> Any:
    """Return the weights of a stimulus for the core. Raises errors as `Pairs`."""
    if not isinstance(value, Formula):
        return value
    units = {"weight": unit_of_weights(targets)}
    return _of_neurons({"weight": value}, units, f"stimulus '{name}'", *_space((targets,)))["weight"]


def _of_neurons(
    values: Mapping[str, Any], units: Mapping[str, str], owner: str, lengths: str, reason: str
) -> dict[str, Any]:
    return {
        name: _compiled(
            value, Context(f"{name} of {owner}", NEURON, lengths, _unit(units.get(name, "")), True, True, reason)
        )
        for name, value in values.items()
    }


def unit_of_weights(targets: PopulationView) -> str:
    """Return the unit of the weights of some neurons, which is the same for all."""
    for part in targets.parts:
        user_model = part.population.user_model
        model = _registered(part.population.model) if user_model is None else user_model.core_model
        return getattr(model, "weight_unit", "")
    return ""


def _registered(name: str) -> _core.NeuronModel | _core.StimulatorModel:
    models: list[_core.NeuronModel | _core.StimulatorModel] = [*_core.neuron_models(), *_core.stimulator_models()]
    return next(each for each in models if each.name == name)


def units_of(model: Any) -> dict[str, str]:
    """Return the units of parameters and variables of a model of the core."""
    return {each.name: each.unit for each in [*model.parameters, *getattr(model, "variables", [])]}
