"""General mechanisms for tests, made of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ranvier.channels.channel import EquationChannel
from ranvier.channels.general import Assign, GeneralCurrent, GeneralDescription, GeneralState, Statement
from ranvier.channels.general_integration import Advance
from ranvier.channels.receptor import EquationReceptor
from ranvier.equations.description import Declared, Parameter
from ranvier.equations.places import Source
from ranvier.equations.trees import Node, parse
from ranvier.equations.units import NONE, Unit

NO_UNIT = Unit(NONE, 0, "")


def tree(text: str) -> Node:
    """Return an expression."""
    return parse(Source("a test", text), 0, len(text))


def assigned(*lines: str) -> tuple[Assign, ...]:
    """Return ``name = expression`` as statements."""
    pairs = [line.partition("=") for line in lines]
    return tuple(Assign(name.strip(), tree(right)) for name, _, right in pairs)


def advanced(before: Iterable[str], derivatives: Mapping[str, str]) -> Advance:
    """Return the statement that advances states."""
    return Advance(assigned(*before), {name: tree(text) for name, text in derivatives.items()})


def general(
    states: str | Sequence[str],
    current: Iterable[str],
    *,
    step: Iterable[Statement] = (),
    initial: Iterable[str] = (),
    parameters: Mapping[str, float] | None = None,
    currents: Iterable[str | GeneralCurrent] = ("i",),
    name: str = "general",
    calcium: str = "",
) -> EquationChannel:
    """Return a channel of the general form without units."""
    return EquationChannel(_described(states, current, step, initial, parameters, currents, name, calcium, None))


def point(
    states: str | Sequence[str],
    current: Iterable[str],
    *,
    step: Iterable[Statement],
    jumps: Mapping[str, str],
    parameters: Mapping[str, float] | None = None,
    name: str = "point",
) -> EquationReceptor:
    """Return a receptor of equations without units."""
    made = {each: tree(text) for each, text in jumps.items()}
    return EquationReceptor(_described(states, current, step, (), parameters, ("i",), name, "", made))


def _described(
    states: str | Sequence[str],
    current: Iterable[str],
    step: Iterable[Statement],
    initial: Iterable[str],
    parameters: Mapping[str, float] | None,
    currents: Iterable[str | GeneralCurrent],
    name: str,
    calcium: str,
    jumps: Mapping[str, Node] | None,
) -> GeneralDescription:
    return GeneralDescription(
        name=name,
        summary="Of a test",
        text="",
        reference="",
        parameters={each: Parameter(each, Declared(value, NO_UNIT)) for each, value in (parameters or {}).items()},
        states={each: GeneralState(each) for each in states},
        initial=assigned(*initial),
        step=tuple(step),
        current=assigned(*current),
        currents=tuple(each if isinstance(each, GeneralCurrent) else GeneralCurrent(each) for each in currents),
        calcium=calcium,
        jumps=jumps,
    )


HH_RATES = (
    "q = 3**((celsius - 6.3)/10)",
    "am = 1/exprel(-(v + 40)/10)",
    "bm = 4*exp(-(v + 65)/18)",
    "ah = 0.07*exp(-(v + 65)/20)",
    "bh = 1/(exp(-(v + 35)/10) + 1)",
    "an = 0.1/exprel(-(v + 55)/10)",
    "bn = 0.125*exp(-(v + 65)/80)",
)


def hodgkin_huxley(name: str = "general") -> EquationChannel:
    """Return the channels of the squid axon in the general form."""
    return general(
        "mhn",
        ["ina = gna*m**3*h*(v - ena)", "ik = gk*n**4*(v - ek)", "il = gl*(v - el)"],
        step=[advanced(HH_RATES, {x: f"q*(a{x}*(1 - {x}) - b{x}*{x})" for x in "mhn"})],
        initial=[*HH_RATES, *(f"{x} = a{x}/(a{x} + b{x})" for x in "mhn")],
        parameters={"gna": 0.12, "gk": 0.036, "gl": 0.0003, "ena": 50.0, "ek": -77.0, "el": -54.3},
        currents=["ina", "ik", "il"],
        name=name,
    )
