"""Executes the statements of KINETIC, LINEAR and NONLINEAR blocks."""

from __future__ import annotations

from typing import Any, Protocol

from ranvier.channels.nmodl_kinetic import Reaction, Scheme
from ranvier.channels.nmodl_ledger import Ledger
from ranvier.channels.nmodl_nodes import as_number
from ranvier.equations.places import Place, refuse, refuse_name
from ranvier.equations.trees import Node

__all__ = ["add_to_scheme"]


class _Execution(Protocol):
    """The members of an execution that statements of a scheme use."""

    ledger: Ledger
    scheme: Scheme | None
    values: dict[str, Node]

    def place(self, part: Any) -> Place: ...

    def target(self, target: Any) -> str: ...

    def value(self, tree: Any) -> Node: ...


def add_to_scheme(execution: _Execution, statement: Any) -> None:
    """Add a reaction, a source, a conserved sum, a volume or an equation to the scheme of the block.

    Raises
    ------
    EquationError
        For a statement outside of a KINETIC block, or under a condition.
    """
    place = execution.place(statement)
    scheme = execution.scheme
    if scheme is None:
        refuse(place, f"'{place.text}'", "it belongs in KINETIC blocks, outside of conditions", "move it")
    parts = statement.children
    match str(statement.data):
        case "reaction" | "outflow":
            _add_reaction(execution, scheme, statement)
        case "equation":
            left, right = (as_number(execution.value(each)) for each in parts)
            made = Node("subtract", place, (left, right))
            execution.ledger.wrote(statement, made)
            scheme.equations.append(made)
        case "source":
            [node] = _values(execution, statement, parts[1:])
            scheme.sources.append((execution.target(parts[0]), node))
        case "conserve":
            [node] = _values(execution, statement, parts[1:])
            scheme.sums.append((place, _side(execution, parts[0]), node))
        case _:
            [node] = _values(execution, statement, parts[:1])
            scheme.volumes.update(dict.fromkeys((str(each) for each in parts[1:]), node))


def _add_reaction(execution: _Execution, scheme: Scheme, statement: Any) -> None:
    left, *rest = statement.children
    right = _side(execution, rest.pop(0)) if statement.data == "reaction" else {}
    forward, *others = _values(execution, statement, rest)
    backward = others[0] if others else None
    made = Reaction(execution.place(statement), _side(execution, left), right, forward, backward)
    scheme.reactions.append(made)
    execution.values["f_flux"], execution.values["b_flux"] = made.fluxes(execution.values)


def _values(execution: _Execution, statement: Any, parts: list[Any]) -> list[Node]:
    made = [execution.ledger.copy(as_number(execution.value(each))) for each in parts]
    execution.ledger.wrote(statement, *made)
    return made


def _side(execution: _Execution, side: Any) -> dict[str, int]:
    made: dict[str, int] = {}
    for each in side.children:
        count, target = each.children
        name = execution.target(target)
        if name not in execution.values:
            refuse_name(execution.place(target), name, list(execution.values), "declare it in STATE")
        made[name] = made.get(name, 0) + int(float(count or 1))
    return made
