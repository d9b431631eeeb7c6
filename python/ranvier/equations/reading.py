"""Reads and checks the texts of a user: names, units, and completeness of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Any

from ranvier.base.names import check_choice, there_are, unknown_name
from ranvier.base.numeric import number
from ranvier.base.texts import check_text, name_type
from ranvier.equations.builder import Builder
from ranvier.equations.checks import check_names, check_noise_and_draws, check_units, held, weight_unit
from ranvier.equations.copies import Written
from ranvier.equations.description import Description, Equation, Parameter, Statement
from ranvier.equations.expressions import CONSTANTS, Instructions
from ranvier.equations.names import check_new_name, is_unit
from ranvier.equations.parameters import declared_parameters, parameter, value_in, with_positive_divisors
from ranvier.equations.places import Place, Source, refuse
from ranvier.equations.statements import read_equations, read_statements, source_of
from ranvier.equations.trees import Node, names_in, nodes_of, parse, walked
from ranvier.equations.units import NONE, UNITS, Unit, read_quantity, scaled
from ranvier.errors import EquationError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["Given", "all_parameters", "by_name", "describe", "ordered"]


AFTER_REFRACTORY = "after_refractory"


@dataclass(frozen=True)
class Given:
    """The arguments of `neuron`, as a user has given them."""

    equations: str
    threshold: str | None
    reset: str
    refractory: str | None
    parameters: Mapping[str, object] | None
    receptors: Mapping[str, str] | None
    initial: Mapping[str, str | float] | None
    sign_chooses_receptor: bool | None
    name: str
    summary: str
    reference: str
    after_refractory: str = ""

    def written_out(self, copies: object) -> Given:
        """Return the same without indices; `copies` has how many copies there are, or their names, by index.

        Raises
        ------
        EquationError, UnknownNameError
            For an index that does not exist, that is not used, or that is beside another one.
        WrongTypeError, ValueOutOfBoundsError, ShapeError
            For other mistakes in the copies.
        """
        if copies is None:
            return self
        written = Written(copies)

        def entries(what: str, given: object, read: Callable[[str, Any], Any]) -> Any:
            return None if given is None else written.entries(what, given, read)

        def effect(name: str, text: str) -> str:
            return written.statements(f"receptor {name}", text)

        threshold = self.threshold
        made = replace(
            self,
            equations=written.equations(self.equations),
            threshold=threshold if threshold is None else written.expression("the threshold", threshold),
            reset=written.statements("the reset", self.reset),
            after_refractory=written.statements(AFTER_REFRACTORY, self.after_refractory),
            parameters=entries("parameters", self.parameters, lambda name, value: value),
            receptors=entries("receptors", self.receptors, effect),
            initial=entries("initial", self.initial, lambda name, value: value),
        )
        written.check_used()
        return made


def describe(given: Given) -> Description:
    """Return the description of a model.

    Raises
    ------
    EquationError, UnitError, UnknownSymbolError
        For mistakes in texts; they point at the place.
    WrongTypeError, UnknownNameError, ValueOutOfBoundsError
        For other arguments.
    """
    source = source_of("the equations", given.equations)
    equations = by_name(read_equations(source))
    threshold = _threshold(given.threshold)
    reset = read_statements(source_of("the reset", given.reset))
    after_refractory = read_statements(source_of(AFTER_REFRACTORY, given.after_refractory))
    period = _period(given.refractory)
    receptors = _receptors(given.receptors)
    assigned = {each.name for each in (*reset, *after_refractory, *chain.from_iterable(receptors.values()))}
    variables = {n: e for n, e in equations.items() if e.is_differential or (e.node is None and n in assigned)}
    if not variables:
        place = Place(source, 0, max(1, len(source.text.split("\n")[0])))
        refuse(place, "", "a differential equation is missing", "write dv/dt = ... : mV")
    subexpressions = {n: e for n, e in equations.items() if e.node is not None and not e.is_differential}
    declared = {n: e for n, e in equations.items() if n not in variables and n not in subexpressions}
    parameters = all_parameters(given.parameters, {**variables, **subexpressions}, declared)
    description = Description(
        name=_model_name(given.name),
        summary=check_text("summary", given.summary) or "Neuron of equations",
        text=_text(given),
        reference=check_text("reference", given.reference),
        variables=variables,
        subexpressions=ordered(subexpressions),
        parameters=parameters,
        threshold=threshold,
        reset=reset,
        refractory=period,
        receptors=receptors,
        weight_unit=Unit(NONE, 0, ""),
        sign_chooses_receptor=_sign_chooses(given.sign_chooses_receptor, list(receptors)),
        held=frozenset(),
        initial={},
        weight_name="weight" if "w" in {**equations, **parameters} else "w",
        after_refractory=after_refractory,
    )
    return _checked(description, given)


def _checked(read: Description, given: Given) -> Description:
    check_names(read)
    check_noise_and_draws(read)
    dimensions = check_units(read)
    unit = weight_unit(read, dimensions)
    nodes = [each.node for each in (*read.variables.values(), *read.subexpressions.values()) if each.node is not None]
    statements = [*read.reset, *read.after_refractory, *chain.from_iterable(read.receptors.values())]
    nodes += [read.threshold, *(each.node for each in statements)]
    bounded = with_positive_divisors(read.parameters, nodes, read.refractory)
    made = replace(read, parameters=bounded, weight_unit=unit, held=held(read), dimensions=dimensions)
    return _only_used(replace(made, initial=_initial(made, given.initial)), nodes)


# ---- parts -----------------------------------------------------------------------------------------------------------


def _model_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise WrongTypeError("name of a neuron model", name_type(name), "must be a string that is not empty")
    return check_text("name of a neuron model", name)


def _text(given: Given) -> str:
    """Return all that defines the model, for its documentation."""
    lines = [line.rstrip() for line in given.equations.strip("\n").split("\n")]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = [line[indent:] for line in lines]
    text.append(f"fires when {' '.join((given.threshold or '').split())}")
    if given.reset.strip():
        text.append(f"then {_in_a_line(given.reset)}")
    if given.refractory is not None:
        text.append(f"refractory for {given.refractory.strip()}")
    if given.after_refractory.strip():
        text.append(f"after that {_in_a_line(given.after_refractory)}")
    text += [f"spike at {name}: {' '.join(effect.split())}" for name, effect in (given.receptors or {}).items()]
    return "\n".join(text)


def _in_a_line(statements: str) -> str:
    return "; ".join(" ".join(each.split()) for each in statements.strip().splitlines())


def by_name(read: list[Equation]) -> dict[str, Equation]:
    """Return equations by their names, which are new and differ."""
    made: dict[str, Equation] = {}
    for equation in read:
        check_new_name(equation.place, equation.name, "a variable" if equation.is_differential else "a subexpression")
        if equation.name in made:
            first = made[equation.name].place.line
            refuse(equation.place, f"'{equation.name}'", f"line {first} has the same name", "choose another name")
        if (equation.is_flagged or equation.goes_on) and not equation.is_differential:
            refuse(
                equation.place,
                f"'{equation.name}'",
                "only differential equations have the flags (unless refractory) and (always)",
                "give it to the equation of the variable",
            )
        made[equation.name] = equation
    return made


def _threshold(text: str | None) -> Node:
    if text is None or (isinstance(text, str) and not text.strip()):
        raise EquationError(
            "the threshold", "missing", "a neuron fires when its threshold holds", 'write threshold="v >= V_th"'
        )
    source = source_of("the threshold", text)
    return parse(source, 0, len(source.text))


def _receptors(given: object) -> dict[str, tuple[Statement, ...]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise WrongTypeError(
            "receptors", name_type(given), "must be a mapping from names", 'write dict(excitatory="g += w")'
        )
    made = {}
    for name, text in given.items():
        if not isinstance(name, str) or not name.isidentifier():
            place = Place(Source("the receptors", str(name)), 0, max(1, len(str(name))))
            refuse(place, f"'{name}'", "it cannot be the name of a receptor", "names have letters, digits and _")
        source = source_of(f"receptor {name}", text)
        statements = read_statements(source)
        whole = Place(source, 0, max(1, len(source.text)))
        if not statements:
            refuse(whole, "", "it is empty", "write the effect of a spike of weight w: g += w")
        for statement in statements:
            if statement.operation not in ("add", "subtract"):
                refuse(
                    statement.place,
                    f"'{statement.name}'",
                    "several spikes may arrive in a step, so that a spike only adds to a variable",
                    f"write {statement.name} += ...",
                )
        made[name] = statements
    return made


def _sign_chooses(given: object, receptors: list[str]) -> bool:
    if given is None:
        return receptors == ["excitatory", "inhibitory"]
    if not isinstance(given, bool):
        raise WrongTypeError("sign_chooses_receptor", name_type(given), "must be True, False or None")
    if given and len(receptors) < 2:
        raise ValueOutOfBoundsError(
            "sign_chooses_receptor", "True", there_are(len(receptors), "receptor"), "it needs two of them"
        )
    return given


def _period(text: object) -> Node | None:
    """Return the refractory period, which is an expression or a quantity such as ``2 ms``."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise WrongTypeError(
            "refractory", name_type(text), "must be a text or None", 'write "2 ms", or the name of a parameter'
        )
    source = source_of("the refractory period", text)
    whole = Place(source, 0, max(1, len(text)))
    words = text.split()
    if len(words) == 2 and words[1] in UNITS:
        quantity = read_quantity(source.what, text)
        unit = Node("name", whole, name=UNITS[words[1]].text)
        return Node("multiply", whole, (Node("number", whole, number=quantity.number), unit))
    return parse(source, 0, len(text))


def all_parameters(
    given: Mapping[str, object] | None, others: Mapping[str, Equation], declared: Mapping[str, Equation]
) -> dict[str, Parameter]:
    """Return the parameters that a user has given, and those that equations only declare; `others` have other names."""
    taken = {
        name: f"{'the variable' if each.is_differential else 'the name'} of line {each.place.line} of the equations"
        for name, each in others.items()
    }
    made = declared_parameters(given, taken, {name: each.unit for name, each in declared.items()})
    for name, each in declared.items():
        if name not in made:
            made[name] = Parameter(name, replace(parameter(0.0), unit=each.unit, meaning=each.meaning))
        elif each.meaning and not made[name].declared.meaning:
            made[name] = Parameter(name, replace(made[name].declared, meaning=each.meaning))
    return made


def ordered(subexpressions: Mapping[str, Equation]) -> dict[str, Equation]:
    """Return subexpressions in an order in which each follows those that it uses."""
    uses = {
        name: [other for other in names_in(each.node) if other in subexpressions]
        for name, each in subexpressions.items()
        if each.node is not None
    }
    try:
        return {name: subexpressions[name] for name in TopologicalSorter(uses).static_order()}
    except CycleError as error:
        circle = error.args[1][::-1]
        first = subexpressions[circle[0]]
        assert first.node is not None
        refuse(
            names_in(first.node)[circle[1]].place,
            f"'{circle[0]}'",
            f"it depends on itself: {' -> '.join(circle)}",
            "make one of them a differential equation, or solve for it",
        )


def _only_used(read: Description, nodes: list[Node]) -> Description:
    """Return the description without parameters that nothing depends on: a user may share a dictionary among models."""
    used = {name for node in nodes for name in names_in(node)}
    used |= set(names_in(read.refractory)) if read.refractory is not None else set()
    used |= {each for each in read.initial.values() if isinstance(each, str)}
    return replace(read, parameters={name: each for name, each in read.parameters.items() if name in used})


# ---- initial values --------------------------------------------------------------------------------------------------


def _initial(read: Description, given: Mapping[str, str | float] | None) -> dict[str, str | float]:
    """Return initial values of variables: as given, else the value that the reset assigns, else 0."""
    made: dict[str, str | float] = dict.fromkeys(read.variables, 0.0)
    for statement in read.reset:
        if not statement.operation:
            begin = _value_of_reset(read, statement)
            if begin is not None:
                made[statement.name] = begin
    if given is not None and not isinstance(given, Mapping):
        raise WrongTypeError("initial", name_type(given), "must be a mapping from variables", 'write dict(v="E_L")')
    for name, value in (given or {}).items():
        if name not in read.variables:
            unknown_name("variable in initial", name, list(read.variables))
        made[name] = _given_initial(read, name, value)
    return made


def _value_of_reset(read: Description, statement: Statement) -> str | float | None:
    unit = read.variables[statement.name].unit
    node = statement.node
    if node.kind == "name" and node.name in read.parameters:
        declared = read.parameters[node.name].declared
        if declared.unit.exponent == unit.exponent:
            return node.name
        return scaled(declared.default, declared.unit.exponent - unit.exponent)
    if any(not is_unit(name) and name not in CONSTANTS for name in names_in(node)):
        return None
    if any(part.kind == "draw" for part in nodes_of(node)):
        return None
    value = walked(node, Instructions(Builder(0), {}))
    return scaled(value, -unit.exponent) if isinstance(value, float) else None


def _given_initial(read: Description, name: str, value: object) -> str | float:
    what = f"initial value of {name}"
    unit = read.variables[name].unit
    if not isinstance(value, str):
        return number(what, value)
    if value not in read.parameters:
        if value.isidentifier():
            check_choice(what, value, list(read.parameters))
        return value_in(what, value, unit)
    declared = read.parameters[value].declared
    if declared.unit.dimension != unit.dimension or declared.unit.exponent != unit.exponent:
        raise ValueOutOfBoundsError(
            what,
            f"{value}, in {declared.unit.text or 'no unit'}",
            f"it must be in {unit.text or 'no unit'}",
            "give the parameter in this unit",
        )
    return value
