"""Reads the equations of a channel, and checks names and units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ranvier.base.names import unknown_name
from ranvier.base.numeric import number
from ranvier.base.texts import check_text, name_type
from ranvier.channels.description import (
    CALCIUM,
    CALCIUM_REVERSAL,
    CARRIED,
    CURRENT,
    POTENTIAL,
    TEMPERATURE,
    ChannelDescription,
    reversal_of_calcium,
)
from ranvier.equations.checks import check_right_side
from ranvier.equations.description import Equation, Parameter
from ranvier.equations.expressions import CONSTANTS, Units, in_unit
from ranvier.equations.names import is_unit
from ranvier.equations.parameters import declared_parameters, parameter, with_positive_divisors
from ranvier.equations.places import Place, Source, refuse, refuse_name, refuse_unit
from ranvier.equations.reading import by_name, ordered
from ranvier.equations.statements import read_equations, source_of
from ranvier.equations.trees import Node, names_in, nodes_of, parse, walked
from ranvier.equations.units import NONE, UNITS, Dimension
from ranvier.errors import WrongTypeError

__all__ = ["GivenChannel", "check_form", "checked", "describe_channel"]

_RESERVED = {
    POTENTIAL: "the potential of the membrane",
    TEMPERATURE: "the temperature",
    CALCIUM: "the concentration of calcium",
    CURRENT: "the current",
    "region": "a keyword",
}
_OF_CALCIUM = "the reversal potential of calcium"
_DENSITY = UNITS["mA"].dimension / UNITS["cm"].dimension / UNITS["cm"].dimension


@dataclass(frozen=True)
class GivenChannel:
    """The arguments of `channel`, as a user has given them."""

    equations: str
    parameters: Mapping[str, object] | None
    initial: Mapping[str, str | float] | None
    name: str
    summary: str
    reference: str


def describe_channel(given: GivenChannel) -> ChannelDescription:
    """Return the description of a channel.

    Raises
    ------
    EquationError, UnitError, UnknownSymbolError
        For mistakes in texts; they point at the place.
    WrongTypeError, UnknownNameError, ValueOutOfBoundsError
        For other arguments.
    """
    source = source_of("the equations", given.equations)
    equations = by_name(read_equations(source, (CARRIED,)))
    is_carried = any(equation.flags for equation in equations.values())
    for equation in equations.values():
        _check_line(equation, is_carried)
    if CURRENT not in equations or equations[CURRENT].node is None:
        place = Place(source, 0, max(1, len(source.text.split("\n")[0])))
        refuse(place, "", "it has no current", f"write {CURRENT} = g*n*({POTENTIAL} - E) : mA/cm**2")
    gates = {name: each for name, each in equations.items() if each.is_differential}
    subexpressions = {name: each for name, each in equations.items() if each.node is not None and name not in gates}
    declared = {name: each for name, each in equations.items() if each.node is None}
    read = ChannelDescription(
        name=_name(given.name),
        summary=check_text("summary", given.summary) or "Channel of equations",
        text="\n".join(line.strip() for line in given.equations.strip().split("\n")),
        reference=check_text("reference", given.reference),
        gates=gates,
        subexpressions=ordered(subexpressions),
        parameters=_parameters(given, {**gates, **subexpressions}, declared, is_carried),
        initial=_initial(given.initial, gates),
    )
    return with_used_parameters(read)


def checked(read: ChannelDescription) -> ChannelDescription:
    """Return a description without unused parameters, after a check of names, units and its form."""
    made = with_used_parameters(read)
    check_form(made)
    return made


def check_form(read: ChannelDescription) -> None:
    """Check that gates have no unit and do not read each other, and which expressions read calcium.

    Raises
    ------
    EquationError
        Pointing at the expression that does not fit a `ChannelDescription`.
    """
    for name, each in read.gates.items():
        if each.unit.dimension != NONE:
            found = f"'{name}', in {each.unit.dimension}"
            refuse_unit(each.place, found, "gates have no unit", "write 1 after the colon")
    rates = [each.node for each in read.gates.values() if each.node is not None]
    for gate, rate in zip(read.gates, rates, strict=True):
        _refuse_gates(read, rate, [name for name in read.gates if name != gate], f"the rates of {gate}")
    _check_calcium(read, [*rates, *read.initial.values()])


def with_used_parameters(read: ChannelDescription) -> ChannelDescription:
    """Return a description with the parameters that are used, after a check of names and units."""
    nodes = [each.node for each in (*read.gates.values(), *read.subexpressions.values()) if each.node is not None]
    nodes += read.initial.values()
    _check_names(read, nodes)
    if read.has_units:
        _check_units(read)
    bounded = with_positive_divisors(read.parameters, nodes, None)
    used = {name for node in nodes for name in names_in(node)}
    return replace(read, parameters={name: each for name, each in bounded.items() if name in used})


# ---- parts -----------------------------------------------------------------------------------------------------------


def _name(name: object) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise WrongTypeError("name of a channel", repr(name), "must be a name of letters, digits and _")
    return name


def _check_line(equation: Equation, is_carried: bool) -> None:
    name, place = equation.name, equation.place
    if is_carried and name == CALCIUM_REVERSAL:
        refuse(place, f"'{name}'", f"it is the name of {_OF_CALCIUM} of a calcium_pool", "leave the line out")
    if name in (POTENTIAL, TEMPERATURE, CALCIUM) or (equation.is_differential and name == CURRENT):
        refuse(place, f"'{name}'", f"it is the name of {_RESERVED[name]}", "choose another name")
    if equation.flags and (equation.is_differential or equation.node is None):
        refuse(place, f"'{name}'", "only a current is carried by calcium", f"leave ({CARRIED}) out")
    if (name == CURRENT or equation.flags) and equation.unit.dimension != _DENSITY:
        found = f"'{name}', in {equation.unit.text or 1}"
        refuse_unit(place, found, "the current is a density", "write mA/cm**2 after the colon")


def _parameters(
    given: GivenChannel, others: Mapping[str, Equation], declared: Mapping[str, Equation], is_carried: bool
) -> dict[str, Parameter]:
    taken = {name: f"line {each.place.line} of the equations" for name, each in others.items()}
    taken |= {name: what for name, what in _RESERVED.items() if name not in taken}
    taken |= {CALCIUM_REVERSAL: _OF_CALCIUM} if is_carried else {}
    made = declared_parameters(given.parameters, taken, {name: each.unit for name, each in declared.items()})
    for name, each in declared.items():
        if name not in made:
            made[name] = Parameter(name, replace(parameter(0.0), unit=each.unit, meaning=each.meaning))
        elif each.meaning and not made[name].declared.meaning:
            made[name] = Parameter(name, replace(made[name].declared, meaning=each.meaning))
    if is_carried:
        made[CALCIUM_REVERSAL] = reversal_of_calcium()
    return made


def _initial(given: object, gates: Mapping[str, Equation]) -> dict[str, Node]:
    """Return the initial values of gates: numbers, or expressions of the potential and parameters."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise WrongTypeError("initial", name_type(given), "must be a mapping from gates", "write dict(n=0.3)")
    made = {}
    for name, value in given.items():
        if name not in gates:
            unknown_name("gate in initial", str(name), list(gates))
        what = f"initial value of {name}"
        text = value if isinstance(value, str) else repr(number(what, value))
        source = Source(what, text)
        made[name] = parse(source, 0, len(text))
    return made


# ---- checks ----------------------------------------------------------------------------------------------------------


def _check_names(read: ChannelDescription, nodes: list[Node]) -> None:
    known = [*read.gates, *read.subexpressions, *read.parameters, *CONSTANTS, POTENTIAL, TEMPERATURE, CALCIUM]
    for node in nodes:
        for name, found in names_in(node).items():
            if name == CALCIUM_REVERSAL and name not in known:
                remedy = f"write ({CARRIED}) behind the unit of the current, or give {name} in parameters="
                refuse_name(found.place, name, [], remedy)
            if name not in known and not (read.has_units and is_unit(name)):
                refuse_name(found.place, name, known, "give it in parameters=, or as x = ... : unit")
        for part in nodes_of(node):
            if part.kind == "draw":
                refuse(part.place, f"'{part.name}()'", "channels have no random numbers", "leave it out")
            if part.kind == "before":
                refuse(part.place, f"'{part.place.text}'", "channels have no reset", "write the name itself")
    for gate, initial in read.initial.items():
        _refuse_gates(read, initial, list(read.gates), f"the initial value of {gate}")


def _refuse_gates(read: ChannelDescription, node: Node, gates: list[str], what: str) -> None:
    used = read.used([node])
    for name in gates:
        if name in used:
            place = used[name].place
            refuse(
                place,
                f"'{place.text}'",
                f"{what} may depend on {POTENTIAL}, {CALCIUM}, {TEMPERATURE} and parameters, not on gates",
                "write separate rates for each gate",
            )


def _check_calcium(read: ChannelDescription, of_gates: list[Node]) -> None:
    """Refuse the concentration outside of gates, and the reversal potential outside of currents."""
    assert read.current.node is not None
    used = read.used([read.current.node])
    if CALCIUM in used and CALCIUM not in read.parameters:
        place = used[CALCIUM].place
        remedy = f"write a gate, dz/dt = (z_inf - z)/tau_z, with z_inf of {CALCIUM}; a short tau_z if it acts at once"
        refuse(place, f"'{place.text}'", "currents depend on the concentration of calcium by way of gates", remedy)
    used = read.used(of_gates)
    if CALCIUM_REVERSAL in used and read.has_calcium_reversal:
        place = used[CALCIUM_REVERSAL].place
        bound = f"{_OF_CALCIUM} may be in currents that calcium carries, not in gates"
        refuse(place, f"'{place.text}'", bound, f"write it with {CALCIUM}")


def _check_units(read: ChannelDescription) -> None:
    names: dict[str, Dimension] = {name: each.declared.unit.dimension for name, each in read.parameters.items()}
    names |= {name: each.unit.dimension for name, each in {**read.gates, **read.subexpressions}.items()}
    names |= {POTENTIAL: UNITS["mV"].dimension, TEMPERATURE: NONE}
    names |= {CALCIUM: UNITS["mM"].dimension}
    units = Units(names)
    for equation in (*read.subexpressions.values(), *read.gates.values()):
        if equation.node is not None:
            check_right_side(equation, walked(equation.node, units))
    for name, node in read.initial.items():
        found, wanted = walked(node, units), read.gates[name].unit.dimension
        if found in (wanted, "zero"):
            continue
        bound = f"{name} has no unit" if wanted == NONE else f"{name} is {in_unit(wanted)}"
        how = "write a number" if wanted == NONE else "multiply it by its unit"
        refuse_unit(node.place, f"'{node.place.text}'", bound, how)
