"""Descriptions without nested expressions, for pickle: expressions may be nested too deeply for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from ranvier.equations.places import Place
from ranvier.equations.trees import FlatNode, Node, flattened, unflattened

__all__ = ["mapped_nodes", "packed", "unpacked"]


@dataclass(frozen=True, slots=True)
class _Number:
    """A reference to an expression: its index in a list."""

    place: int


def mapped_nodes(part: Any, of: Callable[[Any], Any], kind: type = Node) -> Any:
    """Return a description, a statement or a container of these with every expression replaced by `of`.

    Parameters
    ----------
    kind
        The type that is replaced.
    """
    if isinstance(part, kind):
        return of(part)
    if isinstance(part, Mapping):
        return {name: mapped_nodes(each, of, kind) for name, each in part.items()}
    if isinstance(part, tuple | list):
        return type(part)(mapped_nodes(each, of, kind) for each in part)
    if is_dataclass(part) and not isinstance(part, type | Place | Node):
        return replace(part, **{each.name: mapped_nodes(getattr(part, each.name), of, kind) for each in fields(part)})
    return part


def packed(values: dict[str, Any]) -> tuple[dict[str, Any], list[FlatNode]]:
    """Return the fields of a description with references instead of expressions, and the list of expressions."""
    nodes: list[Node] = []

    def numbered(node: Node) -> _Number:
        nodes.append(node)
        return _Number(len(nodes) - 1)

    made = mapped_nodes(values, numbered)
    table, places = flattened(nodes)
    return mapped_nodes(made, lambda node: _Number(places[node.place]), _Number), table


def unpacked(values: dict[str, Any], table: list[FlatNode]) -> dict[str, Any]:
    """Return the fields that `packed` was given."""
    nodes = unflattened(table)
    made: dict[str, Any] = mapped_nodes(values, lambda number: nodes[number.place], _Number)
    return made
