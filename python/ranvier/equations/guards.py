"""Conditions under which expressions are used: always, or only if where() or A if B else C has chosen them.

Expressions of parameters only are checked once for each neuron, before a run, and only if they are used:
`where(p > 0, log(p), 0)` is defined for each p.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from ranvier.equations.builder import Operand
from ranvier.equations.description import Equation, used_names
from ranvier.equations.places import Place
from ranvier.equations.trees import Node, nodes_of

__all__ = ["Guards"]

_Path: TypeAlias = frozenset[tuple[Node, bool]]
"""Conditions under which an expression is used, and whether they must hold."""

_ALWAYS: frozenset[_Path] = frozenset([frozenset()])
_MOST = 8
"""Paths to an expression; one with more counts as always used."""


def _position(condition: tuple[Node, bool]) -> tuple[str, int, int, bool]:
    truth, holds = condition
    return truth.place.source.text, truth.place.begin, truth.place.end, holds


class Guards:
    """Finds the conditions under which expressions are used, as far as these depend on parameters only.

    Parameters
    ----------
    roots
        Expressions that are always used. Subexpressions are, too: they can be recorded.
    subexpressions
        Expressions of names.
    known
        Names that are known before a step: parameters and units.
    value
        Returns the truth of a condition.
    """

    def __init__(
        self,
        roots: Iterable[Node],
        subexpressions: Mapping[str, Equation],
        known: Callable[[str], bool],
        value: Callable[[Node], Operand],
    ) -> None:
        self._subexpressions = subexpressions
        self._known = known
        self._value = value
        self._paths: dict[Place, frozenset[_Path]] = {}
        self._values: dict[Node, Operand] = {}
        roots = [*roots, *(each.node for each in subexpressions.values() if each.node is not None)]
        waiting = [(root, frozenset[tuple[Node, bool]]()) for root in roots]
        seen: set[tuple[int, _Path]] = set()
        while waiting:
            node, path = waiting.pop()
            found = self._paths.get(node.place, frozenset())
            if (id(node), path) in seen or (found == _ALWAYS and (id(node), frozenset()) in seen):
                continue
            found |= {path}
            if not path or len(found) > _MOST:
                found, path = _ALWAYS, frozenset()
            self._paths[node.place] = found
            seen.add((id(node), path))
            waiting += self._below(node, path)

    def _below(self, node: Node, path: _Path) -> list[tuple[Node, _Path]]:
        """Return the parts of an expression, or the expression of its name, and when they are used."""
        if node.kind == "where":
            truth, *choices = node.parts
            chosen = [path | self._known_part(truth, holds) for holds in (True, False)]
            return [(truth, path), *zip(choices, chosen, strict=True)]
        return [(part, path) for part in node.parts]

    def _known_part(self, truth: Node, holds: bool) -> _Path:
        """Return the part of a condition that depends on parameters only; the rest may hold or not."""
        if truth.kind == "not":
            return self._known_part(truth.parts[0], not holds)
        if truth.kind == ("both" if holds else "either"):
            return self._known_part(truth.parts[0], holds) | self._known_part(truth.parts[1], holds)
        names = used_names([truth], self._subexpressions)
        nodes = [truth, *(self._subexpressions[name].node for name in names if name in self._subexpressions)]
        if any(part.kind in ("draw", "before") for each in nodes if each is not None for part in nodes_of(each)):
            return frozenset()
        is_known = all(self._known(name) for name in names if name not in self._subexpressions)
        return frozenset([(truth, holds)]) if is_known else frozenset()

    def used(self, node: Node, do: Callable[..., Operand]) -> Operand:
        """Return the truth that an expression is used, where this depends on parameters; otherwise True.

        `do` makes the outcome of an operation.
        """
        paths = self._paths.get(node.place, _ALWAYS)
        used: Operand = False
        for path in sorted(
            (sorted(each, key=_position) for each in paths), key=lambda each: list(map(_position, each))
        ):
            holds_all: Operand = True
            for truth, holds in path:
                if truth not in self._values:
                    self._values[truth] = self._value(truth)
                value = self._values[truth]
                holds_all = do("both", holds_all, value if holds else do("not", value))
            used = do("either", used, holds_all)
        return used
