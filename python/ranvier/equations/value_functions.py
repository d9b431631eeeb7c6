"""Compiles expressions of neurons and of pairs of neurons to functions of the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ranvier import _core
from ranvier.equations.builder import Builder, Operand, Value
from ranvier.equations.expressions import CONSTANTS, Instructions, Units, in_unit
from ranvier.equations.names import is_unit
from ranvier.equations.places import Place, refuse, refuse_name, refuse_unit
from ranvier.equations.program import Program
from ranvier.equations.trees import TRUTHS, Node, names_in, nodes_of, walked
from ranvier.equations.units import NONE, UNITS, Dimension, Quantity, Unit, scaled

__all__ = [
    "NEURON",
    "NUMBER",
    "PAIR",
    "Context",
    "Names",
    "Redraw",
    "Width",
    "check_names",
    "check_tree",
    "compile_tree",
]

NUMBER = Unit(NONE, 0, "")
_LENGTH = UNITS["um"].dimension
# Draws in the core are numbered below this.
_MOST_DRAWS = 256


@dataclass(frozen=True, eq=False)
class Names:
    """Names that an expression may use: the length or the index in the core that each one is."""

    of: str
    lengths: Mapping[str, str]
    indices: Mapping[str, str]

    def __iter__(self) -> Iterator[str]:
        return iter((*self.lengths, *self.indices))


PAIR = Names(
    "a pair of neurons",
    {
        "d": "distance",
        **{f"d{axis}": f"displacement_{axis}" for axis in "xyz"},
        **{f"{axis}_pre": f"source_{axis}" for axis in "xyz"},
        **{f"{axis}_post": f"target_{axis}" for axis in "xyz"},
    },
    {"i": "source_index", "j": "target_index"},
)
NEURON = Names("a neuron", {axis: f"target_{axis}" for axis in "xyz"}, {"i": "target_index"})


@dataclass(frozen=True)
class Context:
    """Where an expression is used.

    Attributes
    ----------
    what
        The value in errors, ``"weight of projection 'E to I'"``.
    names
        Names that it may use.
    lengths
        Unit of the positions, ``"mm"`` or ``"um"``; empty where there are none.
    unit
        Unit of the value, as a number of which it is compiled.
    takes_plain
        Whether a value without unit is a number in `unit`, although the expression names units.
    may_draw
        Whether it may use random numbers.
    without_positions
        Why there are no positions, ``"population 'E' has none"``.
    """

    what: str
    names: Names = PAIR
    lengths: str = ""
    unit: Unit = NUMBER
    takes_plain: bool = False
    may_draw: bool = False
    without_positions: str = "there are no positions"


def check_names(node: Node, constants: Iterable[str], names: Names | None) -> None:
    """Raise an error for a name that does not exist; None: of a neuron or of a pair.

    Raises
    ------
    UnknownSymbolError
        Pointing at the place.
    """
    known = [*(names or {**dict.fromkeys(PAIR), **dict.fromkeys(NEURON)}), *constants, *CONSTANTS]
    for name, part in names_in(node).items():
        if name in known or is_unit(name):
            continue
        if names is not None and name in (NEURON if names is PAIR else PAIR):
            refuse(
                part.place,
                f"'{name}'",
                f"here values are of {names.of}",
                f"use {', '.join(names)}",
            )
        refuse_name(part.place, name, known, "give its value as a constant of this name")


def check_tree(node: Node, place: Place) -> None:
    """Raise an error for conditions among numbers, numbers as conditions, and what only equations have."""
    for part in nodes_of(node):
        if part.kind == "before":
            refuse(part.place, f"'{part.place.text}'", "only equations have steps", "leave out before()")
        conditions = 1 if part.kind == "where" else len(part.parts) if part.kind in ("both", "either", "not") else 0
        for index, operand in enumerate(part.parts):
            if index < conditions and operand.kind not in TRUTHS:
                refuse(
                    operand.place,
                    f"'{operand.place.text}'",
                    "it is a number, not a condition",
                    f"compare it: {operand.place.text} > 0",
                )
            if index >= conditions and operand.kind in TRUTHS:
                refuse(operand.place, f"'{operand.place.text}'", "it is a condition, not a number", "write int(...)")
    if node.kind in TRUTHS:
        refuse(place, f"'{place.text}'", "it is a condition, not a number", "write int(...)")


def has_units(node: Node, constants: Mapping[str, Quantity]) -> bool:
    """Return whether an expression names a unit, or a constant of it has one."""
    names = [name for name in names_in(node) if name in constants or is_unit(name)]
    return any(name not in constants or constants[name].unit.dimension != NONE for name in names)


@dataclass
class _Draws:
    """Numbers the draws of an expression."""

    builder: Builder
    found: dict[int, int] = field(default_factory=dict)

    def __call__(self, node: Node) -> Operand:
        index = self.found.setdefault(id(node), len(self.found))
        if index >= _MOST_DRAWS:
            refuse(node.place, f"{index + 1} random numbers", f"there can be {_MOST_DRAWS}", "use fewer of them")
        return self.builder.draw("uniform_draw" if node.name == "rand" else "normal_draw", index)


@dataclass(frozen=True)
class Redraw:
    """A part of a value whose random numbers are drawn again until a condition holds."""

    condition: Node
    place: Place


@dataclass(frozen=True)
class Width:
    """A part of a value that must not be negative, with its name and the remedy in errors."""

    value: Node
    name: str
    remedy: str


def compile_tree(
    node: Node,
    constants: Mapping[str, Quantity],
    context: Context,
    text: str,
    redraws: Sequence[Redraw] = (),
    widths: Sequence[Width] = (),
) -> _core.PairFunction:
    """Return the function of an expression, a number in the unit of the context.

    Parameters
    ----------
    node
        The expression, whose names exist.
    constants
        Values of names that are constants.
    context
        Where it is used.
    text
        The text, for errors of the core.
    redraws
        Inner ones before those that contain them.
    widths
        Parts of the expression that are checked where values are drawn.

    Raises
    ------
    UnitError, EquationError
        Pointing at the place.
    """
    whole = Place(node.place.source, 0, max(1, len(node.place.source.text)))
    conditions = [*(each.condition for each in redraws), *(each.value for each in widths)]
    used = {name: part for each in (*conditions, node) for name, part in names_in(each).items()}
    _check_use((*conditions, node), used, constants, context)
    is_checked = any(has_units(each, constants) for each in (*conditions, node))
    exponent = _exponent_of_result(node, constants, context, whole) if is_checked else 0
    builder = Builder(0)
    operands: dict[str, Operand] = {}
    inputs: dict[int, str] = {}
    for name in used:
        if name in constants:
            quantity = constants[name]
            operands[name] = scaled(quantity.number, quantity.unit.exponent)
        elif name in context.names:
            quantities = {**context.names.lengths, **context.names.indices}
            operand = builder.input(quantities[name])
            inputs[operand.place] = quantities[name]
            is_scaled = is_checked and name in context.names.lengths
            operands[name] = _scaled(builder, operand, UNITS[context.lengths].exponent if is_scaled else 0)
    draws = _Draws(builder)
    instructions = Instructions(builder, operands, draws)
    made = builder.take(_scaled(builder, walked(node, instructions), exponent))
    accepted = [_condition(each, instructions, draws) for each in redraws]
    numbers = [builder.take(walked(each.value, instructions)) for each in widths]
    results = [made, *(truth for truth, _ in accepted), *numbers]
    live = sorted(builder.live([each.place for each in results]) & set(inputs))
    program: Program = builder.finished(live, results)
    named = [(each.name, each.remedy) for each in widths]
    drawn = [draws for _, draws in accepted]
    return _core.PairFunction(program, [inputs[place] for place in live], text, drawn, named)


def _check_use(
    nodes: Sequence[Node], used: Mapping[str, Node], constants: Mapping[str, Quantity], context: Context
) -> None:
    """Raise an error for a quantity of space without positions, and for random numbers where there are none."""
    for name, part in used.items():
        if name in context.names.lengths and name not in constants and not context.lengths:
            refuse(
                part.place,
                f"'{name}'",
                f"it needs positions, and {context.without_positions}",
                "give them: net.create(..., positions=...)",
            )
    for part in (each for node in nodes for each in nodes_of(node)):
        if part.kind == "draw" and not context.may_draw:
            refuse(part.place, f"'{part.place.text}'", "this value cannot be random", "use it without random numbers")


def _condition(redraw: Redraw, instructions: Instructions, draws: _Draws) -> tuple[Value, list[int]]:
    """Return the truth of a redraw, and the numbers of its draws."""
    truth = walked(redraw.condition, instructions)
    drawn = sorted({draws.found[id(part)] for part in nodes_of(redraw.condition) if part.kind == "draw"})
    if not drawn or not isinstance(truth, Value):
        refuse(redraw.place, f"'{redraw.place.text}'", "it has no random numbers that could be drawn again", "clip it")
    return truth, drawn


def _scaled(builder: Builder, operand: Operand, exponent: int) -> Operand:
    if exponent == 0:
        return operand
    if not isinstance(operand, Value):
        return scaled(float(operand), exponent)
    return builder.emit("multiply" if exponent > 0 else "divide", (operand, 10.0 ** abs(exponent)))


def _exponent_of_result(node: Node, constants: Mapping[str, Quantity], context: Context, whole: Place) -> int:
    """Return the power of ten by which the value is multiplied, in units of calculations, to be in that of the context.

    Raises
    ------
    UnitError
        If units within the expression do not match, or if that of its value is another one.
    """
    dimensions: dict[str, Dimension] = {**dict.fromkeys(context.names.lengths, _LENGTH)}
    dimensions |= dict.fromkeys(context.names.indices, NONE)
    dimensions |= {name: each.unit.dimension for name, each in constants.items()}
    found = walked(node, Units(dimensions))
    wanted = context.unit.dimension
    if found == wanted or not isinstance(found, Dimension):
        return -context.unit.exponent
    if context.takes_plain and found == NONE:
        return 0
    bound, remedy = f"{context.what} must be in {context.unit.text or wanted}", f"write it in {wanted}"
    if wanted == NONE:
        bound = f"{context.what} must be a number without unit"
        remedy = f"divide it by a value in {found}, or give all values without unit"
    return refuse_unit(whole, in_unit(found), bound, remedy)
