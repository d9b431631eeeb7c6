"""Reads and checks the texts of a user about a synapse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ranvier.base.texts import check_text, name_type
from ranvier.equations.checks import check_right_side, check_statement
from ranvier.equations.description import Equation, Statement
from ranvier.equations.expressions import CONSTANTS, Units
from ranvier.equations.names import check_new_name, is_unit
from ranvier.equations.parameters import with_positive_divisors
from ranvier.equations.places import Place, Source, refuse, refuse_name
from ranvier.equations.reading import all_parameters, by_name, ordered
from ranvier.equations.statements import read_equations, read_statements, source_of
from ranvier.equations.synapse_description import AXONAL, EVENTS, RELEASE, WEIGHT, SynapseDescription, Trace
from ranvier.equations.trees import Node, names_in, nodes_of, walked
from ranvier.equations.units import NONE, UNITS, Dimension, Unit
from ranvier.errors import UnitError, WrongTypeError

__all__ = ["GivenSynapse", "describe_synapse"]

_OF_SOURCES = "the release depends on variables and parameters, not on the weight or on neurons"
_MOST_VARIABLES = 4
_OF_NEURONS = "events depend on the weight w, traces and parameters, not on the neurons"


@dataclass(frozen=True)
class GivenSynapse:
    """The arguments of `synapse`, as a user has given them."""

    equations: str
    on_pre: str
    on_post: str
    parameters: Mapping[str, object] | None
    name: str
    summary: str
    reference: str


def describe_synapse(given: GivenSynapse) -> SynapseDescription:
    """Return the description of a model.

    Raises
    ------
    EquationError, UnitError, UnknownSymbolError
        For mistakes in texts; they point at the place.
    WrongTypeError, ValueOutOfBoundsError
        For other arguments.
    """
    equations = by_name(read_equations(source_of("the equations", given.equations), ("event-driven",)))
    weight = _weight_line(equations.pop(WEIGHT, None))
    sources = {side: source_of(side, text) for side, text in zip(EVENTS, (given.on_pre, given.on_post), strict=True)}
    events = {side: read_statements(source) for side, source in sources.items()}
    decaying = {n: e for n, e in equations.items() if e.is_differential}
    subexpressions = {n: e for n, e in equations.items() if e.node is not None and not e.is_differential}
    declared = {n: e for n, e in equations.items() if e.node is None}
    _check_own_names(equations)
    parameters = all_parameters(given.parameters, {**decaying, **subexpressions}, declared)
    for name in parameters:
        _check_taken(Place(Source("the parameters", name), 0, len(name)), name)
    read = SynapseDescription(
        name=_model_name(given.name),
        summary=check_text("summary", given.summary) or "Synapse of equations",
        text=_text(given),
        reference=check_text("reference", given.reference),
        traces={},
        subexpressions=ordered(subexpressions),
        parameters=parameters,
        events=events,
        places={side: Place(source, 0, max(1, len(source.text))) for side, source in sources.items()},
        weight_unit=weight,
    )
    if read.releases:
        read = replace(read, variables=decaying)
        _check_release(read)
    else:
        _check_names(read, decaying)
        read = replace(read, traces={name: _trace(read, equation) for name, equation in decaying.items()})
        _check_events(read)
    read = replace(read, weight_unit=_weight_unit(read) if weight is None else _checked_unit(read, weight))
    derivatives = [each.node for each in decaying.values() if each.node is not None]
    nodes = [*read.nodes(), *derivatives]
    used = {name for node in nodes for name in names_in(node)}
    bounded = with_positive_divisors(parameters, nodes, None)
    return replace(read, parameters={name: each for name, each in bounded.items() if name in used})


# ---- parts -----------------------------------------------------------------------------------------------------------


def _model_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise WrongTypeError("name of a synapse model", name_type(name), "must be a string that is not empty")
    return check_text("name of a synapse model", name)


def _text(given: GivenSynapse) -> str:
    """Return all that defines the model, for its documentation."""
    lines = [line.rstrip() for line in given.equations.strip("\n").split("\n") if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    text = [line[indent:] if not line[:indent].strip() else line.lstrip() for line in lines]
    for side, event in zip(EVENTS, (given.on_pre, given.on_post), strict=True):
        if event.strip():
            text.append(f"{side}: {'; '.join(' '.join(each.split()) for each in event.strip().splitlines())}")
    return "\n".join(text)


def _weight_line(equation: Equation | None) -> Unit | None:
    """Return the unit of the weight, if a line gives it."""
    if equation is None:
        return None
    if equation.node is not None:
        refuse(
            equation.place,
            f"'{WEIGHT}'",
            "the weight changes with spikes only",
            f"write on_pre= and on_post= for that, and {WEIGHT} : {equation.unit.text or 1} for its unit",
        )
    return equation.unit


def _check_own_names(equations: Mapping[str, Equation]) -> None:
    for name, equation in equations.items():
        _check_taken(equation.place, name)
        if equation.flags and not equation.is_differential:
            refuse(
                equation.place, f"'{name}'", "only differential equations have the flag (event-driven)", "leave it out"
            )


def _check_taken(place: Place, name: str) -> None:
    check_new_name(place, name, "a parameter")
    taken = {
        WEIGHT: "the weight",
        RELEASE: "the part of the weight that a spike adds",
        AXONAL: "the axonal part of the delay, a parameter of models that learn",
    }
    if name in taken:
        refuse(place, f"'{name}'", f"it would shadow {taken[name]}", "choose another name")


def _check_names(read: SynapseDescription, decaying: Mapping[str, Equation]) -> None:
    """Raise an error for names that do not exist or have no meaning in a synapse."""
    constants = [*read.parameters, *CONSTANTS]
    general = [*constants, *decaying, *read.subexpressions, WEIGHT]
    for name, equation in decaying.items():
        if equation.node is not None:
            _check_known(equation.node, [*constants, name], "a trace decays by itself: write dx/dt = -x/tau : 1")
    for node in read.nodes():
        _check_known(node, general, _OF_NEURONS)
    for side in EVENTS:
        for statement in read.events[side]:
            _check_assigned(statement, read, decaying)


def _check_known(node: Node, known: Iterable[str], instead: str) -> None:
    names = list(known)
    for part in nodes_of(node):
        if part.kind == "draw":
            refuse(part.place, f"'{part.name}()'", "synapses of equations draw nothing", "use rv.bernoulli()")
        if part.kind == "before":
            refuse(part.place, f"'{part.place.text}'", "statements are executed in their order")
    for name, found in names_in(node).items():
        if name not in names and not is_unit(name):
            refuse_name(found.place, name, names, instead)


def _check_assigned(statement: Statement, read: SynapseDescription, decaying: Mapping[str, Equation]) -> None:
    name, place = statement.name, statement.place
    if name in decaying or name == WEIGHT:
        return
    if name in read.parameters or name in read.subexpressions:
        refuse(
            place,
            f"'{name}'",
            f"events change the weight {WEIGHT} and traces only",
            f"write d{name}/dt = -{name}/tau : {read.unit(name).text or 1} for a trace",
        )
    delivers = names_in(statement.node).keys() & {WEIGHT}
    instead = (
        "the weight reaches its receptor by itself: leave this out, or write release = ... for a part of it"
        if delivers
        else _OF_NEURONS
    )
    refuse_name(place, name, [*decaying, WEIGHT], instead)


def _trace(read: SynapseDescription, equation: Equation) -> Trace:
    name = equation.name
    raised = [(side, each) for side in EVENTS for each in read.events[side] if each.name == name]
    if not raised:
        refuse(equation.place, f"'{name}'", "no spike raises it", f'write on_pre="{name} += 1", or on_post=')
    side, statement = raised[0]
    for other, again in raised[1:]:
        if other != side:
            refuse(
                again.place,
                f"'{name}'",
                f"{side} changes it, too: a trace belongs to the spikes of one side",
                "give each side a separate trace",
            )
        refuse(again.place, f"'{name}'", f"{side} changes it before: once is enough", "put both together")
    if statement.operation not in ("add", ""):
        refuse(
            statement.place,
            f"'{name}'",
            "a spike adds to a trace, or sets it",
            f"write {name} += 1, or {name} = 1 where only the last spike counts",
        )
    for used, node in read.used([statement.node]).items():
        if used == WEIGHT or (used not in (*read.parameters, *CONSTANTS, *read.subexpressions) and not is_unit(used)):
            place = statement.node.place
            refuse(
                place if node.place.source != place.source else node.place,
                f"'{used}'",
                "each spike changes a trace by as much: by an expression of parameters",
                f"write {name} += 1, or {name} = 1 where only the last spike counts",
            )
    return Trace(equation, side, statement.node, statement.operation == "add")


def _check_events(read: SynapseDescription) -> None:
    if not any(each.name == WEIGHT for side in EVENTS for each in read.events[side]):
        refuse(
            read.places["on_pre"],
            "",
            f"no event changes the weight {WEIGHT}",
            f'write on_post="{WEIGHT} += ...", or synapse="static_synapse" in connect()',
        )


# ---- releases --------------------------------------------------------------------------------------------------------


def _check_release(read: SynapseDescription) -> None:
    """Check that expressions depend only on the spikes of the source: its synapses share the variables."""
    if read.events["on_post"]:
        refuse(
            read.events["on_post"][0].place,
            "",
            f"'{RELEASE}' depends on the spikes of the source alone",
            f"leave on_post out, or leave out '{RELEASE}' and let both events change {WEIGHT}",
        )
    if len(read.variables) > _MOST_VARIABLES:
        last = list(read.variables.values())[_MOST_VARIABLES]
        refuse(last.place, f"'{last.name}'", f"there can be {_MOST_VARIABLES} variables", "write fewer")
    constants = [*read.parameters, *CONSTANTS]
    for name, equation in read.variables.items():
        assert equation.node is not None
        for other, node in names_in(equation.node).items():
            if other != name and other in read.variables:
                remedy = f"write d{name}/dt = (1 - {name})/tau : 1, and let on_pre couple them"
                refuse(node.place, f"'{other}'", "between spikes, each variable changes by itself", remedy)
        _check_known(equation.node, [*constants, name], _OF_SOURCES)
    known = [*constants, *read.variables, *read.subexpressions]
    for each in read.subexpressions.values():
        assert each.node is not None
        _check_known(each.node, known, _OF_SOURCES)
    for statement in read.events["on_pre"]:
        _check_known(statement.node, known, _OF_SOURCES)
        if statement.name == RELEASE:
            if RELEASE in known:
                refuse(statement.place, f"'{RELEASE}'", "it is assigned twice", "assign it once")
            if statement.operation:
                refuse(statement.place, f"'{RELEASE}'", "it is read before it is assigned", f"write {RELEASE} = ...")
            known.append(RELEASE)
        elif statement.name == WEIGHT:
            refuse(
                statement.place,
                f"'{WEIGHT}'",
                f"a spike adds '{RELEASE}' times the weight, which stays",
                f"leave this out, or leave out '{RELEASE}'",
            )
        elif statement.name in read.parameters or statement.name in read.subexpressions:
            unit = read.unit(statement.name).text or 1
            refuse(
                statement.place,
                f"'{statement.name}'",
                f"events change '{RELEASE}' and variables only",
                f"write d{statement.name}/dt = -{statement.name}/tau : {unit} for a variable",
            )
        elif statement.name not in read.variables:
            refuse_name(statement.place, statement.name, [*read.variables, RELEASE], _OF_SOURCES)


# ---- units -----------------------------------------------------------------------------------------------------------


def _check_units(read: SynapseDescription, weight: Dimension) -> None:
    """Check all expressions, with a weight of some dimension."""
    names: dict[str, Dimension] = {name: each.declared.unit.dimension for name, each in read.parameters.items()}
    traces = {name: each.equation for name, each in read.traces.items()}
    equations = {**read.subexpressions, **traces, **read.variables}
    names |= {name: each.unit.dimension for name, each in equations.items()}
    names |= {WEIGHT: weight, RELEASE: NONE}
    units = Units(names)
    for equation in equations.values():
        if equation.node is not None:
            check_right_side(equation, walked(equation.node, units))
    for statement in (each for side in EVENTS for each in read.events[side]):
        check_statement(statement, walked(statement.node, units), names[statement.name])


def _checked_unit(read: SynapseDescription, unit: Unit) -> Unit:
    _check_units(read, unit.dimension)
    return unit


def _weight_unit(read: SynapseDescription) -> Unit | None:
    """Return the unit of the weight that fits all expressions; None if all units do."""
    given = [each.declared.unit for each in read.parameters.values()]
    given += [each.equation.unit for each in read.traces.values()]
    given += [each.unit for each in read.variables.values()]
    tried = [Unit(NONE, 0, ""), *(UNITS[name] for name in ("pA", "nS", "mV")), *given]
    errors = []
    for unit in tried:
        try:
            _check_units(read, unit.dimension)
        except UnitError as error:
            errors.append(error)
        else:
            plain = UNITS.get(str(unit.dimension), Unit(unit.dimension, 0, str(unit.dimension)))
            return None if unit.dimension == NONE else plain
    # That of a weight without unit.
    raise errors[0]
