"""Makes a general mechanism from an NMODL file that does not fit the fast form of channels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ranvier.channels.derivatives import derivative
from ranvier.channels.description import CALCIUM
from ranvier.channels.general import Assign, GeneralCurrent, GeneralDescription, GeneralState, Statement
from ranvier.channels.nmodl_declarations import Declarations
from ranvier.channels.nmodl_nodes import ADVANCED, depends_on, name_in_own_equation, number_node, substituted
from ranvier.channels.nmodl_phases import Carried
from ranvier.equations.description import Parameter
from ranvier.equations.places import refuse
from ranvier.equations.trees import Node, names_in, nodes_of, walked, with_parts

__all__ = ["general_description"]

_NEXT = "{} after the step"
_OUTWARD = "{} out of the cell"


def general_description(
    declared: Declarations, carried: Carried, parameters: Mapping[str, Parameter], summary: str
) -> GeneralDescription:
    """Return the general mechanism of a file.

    Raises
    ------
    EquationError
        For an equation that its method cannot solve, and for `t`.
    """
    currents = {name: _exact(node) for name, node in carried.currents.items()}
    steps = {name: _exact(each.step) for name, each in carried.variables.items()}
    begins = {name: each.initial for name, each in carried.variables.items()}
    used = {name for node in (*currents.values(), *steps.values(), *begins.values()) for name in names_in(node)}
    statements = [*carried.initial_statements, *carried.step_statements]
    used |= {name for node in carried.jumps.values() for name in names_in(node)}
    used |= {name for each in statements for node in each.names() for name in names_in(node)}
    place = declared.whole
    step: list[Statement] = [*carried.step_statements]
    step += [Assign(_NEXT.format(name), node) for name, node in steps.items()]
    step += [Assign(name, Node("name", place, name=_NEXT.format(name))) for name in steps]
    written = declared.symbol(CALCIUM) if CALCIUM in declared.written else ""
    return GeneralDescription(
        name=str(declared.name),
        summary=summary,
        text=declared.source.text.strip(),
        reference="",
        parameters={name: each for name, each in parameters.items() if name in used},
        states={name: GeneralState(name) for name in steps},
        initial=(*carried.initial_statements, *(Assign(name, node) for name, node in begins.items())),
        step=tuple(step),
        current=tuple(_assigned_currents(declared, currents)),
        currents=tuple(_flowing_currents(declared, currents)),
        calcium=written,
        jumps=carried.jumps if declared.is_point_process else None,
    )


def _assigned_currents(declared: Declarations, currents: Mapping[str, Node]) -> Iterator[Assign]:
    """Yield assignments of the currents, and of the opposites of electrode currents, which flow into the cell."""
    for name, node in currents.items():
        yield Assign(name, node)
        if name in declared.of_electrodes:
            yield Assign(_OUTWARD.format(name), Node("negate", node.place, (Node("name", node.place, name=name),)))


def _flowing_currents(declared: Declarations, currents: Mapping[str, Node]) -> Iterator[GeneralCurrent]:
    for name in currents:
        is_inward = name in declared.of_electrodes
        yield GeneralCurrent(name, name in declared.carried, flows=not is_inward)
        if is_inward:
            yield GeneralCurrent(_OUTWARD.format(name))


class _Exact:
    """Writes the steps of METHOD cnexp as expressions.

    The state is a variable only where its equation itself mentions it; all other names are constants, as in NEURON.
    """

    def leaf(self, node: Node) -> Node:
        return node

    def operation(self, node: Node, parts: list[Node]) -> Node:
        if node.kind != ADVANCED:
            return with_parts(node, parts)
        before, of_symbol = parts
        place = node.place
        symbol = name_in_own_equation(node.name)
        slope = derivative(of_symbol, {symbol: number_node(place, 1.0)})
        if slope is not None and depends_on(slope, (symbol,)):
            where = node.parts[1].place
            remedy = "write METHOD derivimplicit"
            refuse(where, f"'{where.text}'", f"METHOD cnexp solves equations that are linear in {node.name}", remedy)
        step = Node("name", place, name="dt")
        change = Node("multiply", place, (step, substituted(of_symbol, {symbol: before})))
        if slope is not None:
            exponent = Node("multiply", place, (step, slope))
            change = Node("multiply", place, (change, Node("expm1_over", place, (exponent,))))
        return Node("add", place, (before, change))


def _exact(node: Node) -> Node:
    return walked(node, _Exact()) if any(each.kind == ADVANCED for each in nodes_of(node)) else node
