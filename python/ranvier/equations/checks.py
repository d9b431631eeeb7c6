"""Checks of a model: names, units, and the names that each expression may use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial

from ranvier.equations.builder import Builder, Operand
from ranvier.equations.description import Description, Equation, Parameter, Statement
from ranvier.equations.expressions import CONSTANTS, Affine, AffineSums, Instructions, Units, in_unit
from ranvier.equations.names import CURRENT, STEP, is_noise, is_unit
from ranvier.equations.places import refuse, refuse_name, refuse_unit
from ranvier.equations.trees import Node, names_in, nodes_of, walked
from ranvier.equations.units import NONE, TIME, UNITS, Dimension, Unit, read_quantity
from ranvier.errors import EquationError, UnitError

__all__ = [
    "check_names",
    "check_noise_and_draws",
    "check_right_side",
    "check_statement",
    "check_units",
    "held",
    "weight_unit",
]

_INSTEAD = "give it in parameters=, or as x = ... : unit"
# Units that a number may lack, as they appear in the remedy.
_LACKING = ("10 ms", "-70 mV", "100 pA", "10 nS", "200 pF", "1 GOhm", "0.1/ms", "1 mV/ms")


def check_names(read: Description) -> None:
    """Raise an error for names that do not exist, and for assignments to names that are not variables."""
    of_model = [*read.variables, *read.subexpressions, *read.parameters]
    general = [*of_model, *CONSTANTS, STEP]
    units = [name for name in UNITS if is_unit(name)]
    for equation in (*read.variables.values(), *read.subexpressions.values()):
        if equation.node is not None:
            _check_known(equation.node, [*general, CURRENT], units)
    _check_known(read.threshold, [*general, CURRENT], units)
    for statement in (*read.reset, *read.after_refractory):
        _check_known(statement.node, general, units)
        _check_assigned(statement, read)
    if read.refractory is not None:
        _check_known(read.refractory, [*read.parameters, *CONSTANTS, STEP], units)
    for statements in read.receptors.values():
        for statement in statements:
            _check_known(statement.node, [*general, read.weight_name], units)
            _check_assigned(statement, read)


def _check_known(node: Node, known: Iterable[str], units: list[str]) -> None:
    names = list(known)
    for name, place in names_in(node).items():
        if name in names or name in units or is_noise(name):
            continue
        instead = "the time cannot be used; make it a variable: dx/dt = 1 : ms" if name == "t" else _INSTEAD
        # E is meant as a parameter, not as e = 2.718.
        refuse_name(
            place.place, name, [each for each in names if each not in CONSTANTS or len(name) > len(each)], instead
        )


def _check_assigned(statement: Statement, read: Description) -> None:
    if statement.name in read.variables:
        return
    if statement.name in read.parameters or statement.name in read.subexpressions:
        refuse(
            statement.place,
            f"'{statement.name}'",
            "only variables can be assigned",
            f"write d{statement.name}/dt = 0*{read.unit(statement.name).text or 1}/ms if only spikes change it",
        )
    refuse_name(statement.place, statement.name, list(read.variables), f"variables are {', '.join(read.variables)}")


def check_noise_and_draws(read: Description) -> None:
    """Refuse white noise outside of equations, and random numbers where they would not be drawn once a step."""
    for equation in (*read.variables.values(), *read.subexpressions.values()):
        if equation.node is not None:
            _refuse_before(equation.node)
            _refuse_draws(equation.node, "in an equation it would be drawn in each step", "use white noise, xi")
    at_spikes = [read.threshold, *(each.node for each in (*read.reset, *read.after_refractory))]
    elsewhere = list(at_spikes)
    elsewhere += [] if read.refractory is None else [read.refractory]
    elsewhere += [each.node for statements in read.receptors.values() for each in statements]
    for node in elsewhere:
        for name, found in read.used([node]).items():
            if is_noise(name):
                refuse(found.place, f"'{name}'", "white noise has values in equations only", "write randn()")
    for node in at_spikes:
        for part in nodes_of(node):
            if part.kind == "before" and part.parts[0].name not in read.variables:
                place = part.parts[0].place
                refuse(place, f"'{place.text}'", "it is not a variable", f"variables are {', '.join(read.variables)}")
    for statements in read.receptors.values():
        for statement in statements:
            _refuse_before(statement.node)
            _refuse_draws(statement.node, "spikes act in the same way", "draw in the threshold or the reset")
    if read.refractory is not None:
        _refuse_before(read.refractory)
        _refuse_draws(read.refractory, "all refractory periods of a neuron are as long", "use a parameter")


def _refuse_before(node: Node) -> None:
    for part in nodes_of(node):
        if part.kind == "before":
            refuse(
                part.place,
                f"'{part.place.text}'",
                "only the threshold, the reset and after_refractory can read values before the step",
                "write it there",
            )


def _refuse_draws(node: Node, why: str, remedy: str) -> None:
    for part in nodes_of(node):
        if part.kind == "draw":
            refuse(part.place, f"'{part.name}()'", why, remedy)


def check_units(read: Description) -> dict[str, Dimension]:
    """Check all expressions; return the dimensions of names."""
    names: dict[str, Dimension] = {name: each.declared.unit.dimension for name, each in read.parameters.items()}
    names |= {name: each.unit.dimension for name, each in {**read.variables, **read.subexpressions}.items()}
    names |= {STEP: TIME, CURRENT: UNITS["pA"].dimension}
    for node in [each.node for each in (*read.variables.values(), *read.subexpressions.values()) if each.node]:
        names |= {name: TIME ** Fraction(-1, 2) for name in names_in(node) if is_noise(name)}
    plain = [name for name, each in read.parameters.items() if _is_plain(each)]

    def check(equation: Equation, known: Mapping[str, Dimension]) -> None:
        assert equation.node is not None
        check_right_side(equation, walked(equation.node, Units(known)))

    for equation in (*read.subexpressions.values(), *read.variables.values()):
        if equation.node is None:
            continue
        try:
            check(equation, names)
        except UnitError:
            for name, used in read.used([equation.node]).items():
                if name in plain:
                    _refuse_without_unit(read, used, names, partial(check, equation))
            raise
    units = Units(names)
    if walked(read.threshold, units) != "truth":
        place = read.threshold.place
        refuse(place, f"'{place.text}'", "a threshold is a condition, not a number", "write v >= V_th")
    for statement in (*read.reset, *read.after_refractory):
        check_statement(statement, walked(statement.node, units), names[statement.name])
    if read.refractory is not None:
        found = walked(read.refractory, units)
        if found not in (TIME, "zero"):
            place = read.refractory.place
            refuse_unit(place, in_unit(found), "a refractory period is in ms", "write 2*ms")
    return names


def _is_plain(each: Parameter) -> bool:
    """Return whether a parameter is a number that was given without a unit."""
    return each.declared.unit.dimension == NONE and each.declared.default != 0.0 and not each.declared.is_switch


def _refuse_without_unit(
    read: Description, used: Node, names: Mapping[str, Dimension], check: Callable[[Mapping[str, Dimension]], None]
) -> None:
    """Refuse a number without a unit if a unit would make its equation consistent."""
    name = used.name
    for text in _LACKING:
        unit = read_quantity(name, text).unit
        try:
            check({**names, name: unit.dimension})
        except EquationError:
            continue
        number = f"{read.parameters[name].declared.default:g}"
        shown = f"{number}{unit.text[1:]}" if unit.text.startswith("1/") else f"{number} {unit.text}"
        refuse_unit(
            used.place,
            f"'{name}', which is {number}",
            "it has no unit, and the units of the equation do not match",
            f'give it one: {name}="{shown}"',
        )


def check_right_side(equation: Equation, found: Dimension | str) -> None:
    """Refuse a right side of another dimension than its left side."""
    wanted = equation.unit.dimension / TIME if equation.is_differential else equation.unit.dimension
    if found in ("zero", wanted):
        return
    assert equation.node is not None
    left = f"d{equation.name}/dt" if equation.is_differential else equation.name
    if found == "truth":
        refuse(
            equation.node.place, f"'{equation.node.place.text}'", "it is a condition, not a number", "write int(...)"
        )
    refuse_unit(
        equation.node.place,
        f"the right side of {left}, {in_unit(found)}",
        f"the left side is {in_unit(wanted)}",
        f"'{equation.unit.text or 1}' after the colon is the unit of {equation.name}"
        + (", and its derivative has this unit over time" if equation.is_differential else ""),
    )


def check_statement(statement: Statement, found: Dimension | str, wanted: Dimension) -> None:
    """Raise an error for an assignment of a value with another dimension."""
    if statement.operation in ("multiply", "divide"):
        wanted = NONE
    if found == "truth":
        refuse(
            statement.node.place, f"'{statement.node.place.text}'", "it is a condition, not a number", "write int(...)"
        )
    if found not in ("zero", wanted):
        refuse_unit(
            statement.node.place,
            f"'{statement.node.place.text}', {in_unit(found)}",
            f"it must be {in_unit(wanted)}, as {statement.name}",
            "give both the same unit",
        )


def weight_unit(read: Description, names: Mapping[str, Dimension]) -> Unit:
    """Return the unit of weights, which follows from the statements of receptors."""
    found: Unit | None = None
    for statements in read.receptors.values():
        for statement in statements:
            _check_proportional(statement, read.weight_name)
            factor = walked(statement.node, Units({**names, read.weight_name: NONE}))
            target = read.variables[statement.name].unit
            if isinstance(factor, str):
                check_statement(statement, factor, target.dimension)
                continue
            dimension = target.dimension / factor
            unit = target if factor == NONE else Unit(dimension, 0, "" if dimension == NONE else str(dimension))
            if found is not None and found.dimension != dimension:
                refuse_unit(
                    statement.node.place,
                    f"a weight, {in_unit(dimension)}",
                    f"weights of the receptors before are {in_unit(found.dimension)}",
                    "multiply w by a parameter",
                )
            found = found or unit
            check_statement(
                statement, walked(statement.node, Units({**names, read.weight_name: dimension})), target.dimension
            )
    return found or Unit(NONE, 0, "")


def _check_proportional(statement: Statement, weight: str) -> None:
    """Check that the change by a spike is the weight times a factor."""
    builder = Builder(0)
    names: dict[str, Operand] = {name: builder.input(name) for name in names_in(statement.node) if not is_unit(name)}
    found = walked(statement.node, AffineSums(Instructions(builder, names), {weight: Affine({weight: 1.0})}))
    place = statement.node.place
    if found.prevented_by is not None or found.constant != 0.0 or not found.coefficients:
        refuse(
            place,
            f"'{place.text}'",
            f"it must be proportional to the weight {weight}: several spikes that arrive in a step act as their sum",
            f"write {weight} times a factor",
        )


def held(read: Description) -> frozenset[str]:
    """Return the variables that are constant while the neuron is refractory: see the documentation of `neuron`."""
    if read.refractory is None and read.after_refractory:
        first = read.after_refractory[0]
        refuse(
            first.place,
            f"'{first.place.text}', after refractoriness,",
            "the neuron has no refractory period",
            'write refractory="2 ms", or assign it in the reset',
        )
    flagged = {name for name, each in read.variables.items() if each.is_flagged}
    if read.refractory is None:
        for name in flagged:
            refuse(
                read.variables[name].place,
                f"'{name}', unless refractory,",
                "the neuron has no refractory period",
                'write refractory="2 ms"',
            )
    if flagged or read.refractory is None:
        return frozenset(flagged)
    watched = read.used([read.threshold])
    return frozenset(each.name for each in read.reset if each.name in watched and not read.variables[each.name].goes_on)
