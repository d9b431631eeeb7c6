"""The account of an NMODL file: the effects of each of its statements, or why it is ignored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ranvier.channels.nmodl_syntax import is_statement
from ranvier.equations.places import Place, Source, refuse
from ranvier.equations.trees import Node

__all__ = ["Account", "Ledger", "place_of"]

_UNUSED = "no current and no state uses it"


@dataclass(frozen=True)
class Account:
    """The effects of one statement or declaration.

    Attributes
    ----------
    line
        Number of its line.
    text
        The statement of the file, shortened.
    effects
        Names of currents and states that depend on it; empty if it is ignored.
    reason
        Why it is ignored.
    is_hint
        Whether nothing could depend on it: declarations of access, hints to compilers.
    """

    line: int
    text: str
    effects: tuple[str, ...]
    reason: str = ""
    is_hint: bool = False


@dataclass(eq=False)
class _Entry:
    place: Place
    nodes: list[Node] = field(default_factory=list)
    effects: set[str] = field(default_factory=set)
    reason: str = ""
    is_hint: bool = False
    was_carried_out: bool = False


class Ledger:
    """Collects the effects of statements while they are executed."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._entries: dict[tuple[int, int], _Entry] = {}
        self._active: list[_Entry] = []
        self._copies: dict[int, tuple[Node, Node]] = {}

    def open(self, block: Any) -> None:
        """Add all statements of a block, without an account."""
        waiting = list(getattr(block, "children", ()))
        while waiting:
            part = waiting.pop()
            if is_statement(part):
                self._entry(part)
            waiting += getattr(part, "children", ())

    def _entry(self, part: Any) -> _Entry:
        place = place_of(self.source, part)
        return self._entries.setdefault((place.begin, place.end), _Entry(place))

    def wrote(self, part: Any, *nodes: Node) -> None:
        """Note the values that a statement has calculated."""
        for entry in (self._entry(part), *self._active):
            entry.nodes += nodes
            entry.was_carried_out = True

    def copy(self, node: Node, place: Place | None = None) -> Node:
        """Return a copy of a node, perhaps at another place; it counts as depending on the original."""
        made = Node(node.kind, place or node.place, node.parts, node.number, node.name)
        self._copies[id(made)] = (made, node)
        return made

    def _reached(self, nodes: Iterable[Node]) -> set[int]:
        """Return the parts of expressions, and the originals of copies among them."""
        seen: set[int] = set()
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if id(node) not in seen:
                seen.add(id(node))
                waiting += node.parts
                if id(node) in self._copies:
                    waiting.append(self._copies[id(node)][1])
        return seen

    @contextmanager
    def inside(self, part: Any) -> Iterator[None]:
        """Attribute the values written within the context to this statement, too: a call, a loop, a solved block."""
        entry = self._entry(part)
        entry.was_carried_out = True
        self._active.append(entry)
        yield
        self._active.pop()

    def ignore(self, part: Any, reason: str, *, is_hint: bool = False) -> None:
        """Note why a statement or a declaration is ignored."""
        entry = self._entry(part)
        entry.was_carried_out = True
        entry.reason, entry.is_hint = reason, is_hint

    def ignore_inside(self, part: Any, reason: str) -> None:
        """Note why all statements of a block are ignored."""
        waiting = [part]
        while waiting:
            each = waiting.pop()
            if is_statement(each) and not self._entry(each).was_carried_out:
                self.ignore(each, reason)
            waiting += getattr(each, "children", ())

    def declare(self, part: Any, effects: Iterable[str]) -> None:
        """Add the effects of a declaration; empty if no current and no state uses it."""
        entry = self._entry(part)
        entry.was_carried_out = True
        entry.effects |= set(effects)

    def accounts(self, outcomes: Mapping[str, Iterable[Node]], executed: Iterable[Any]) -> tuple[Account, ...]:
        """Return the accounts in the order of the file.

        Parameters
        ----------
        outcomes
            By the name of a current or a state: the expressions that it depends on.
        executed
            Blocks that were executed.

        Raises
        ------
        EquationError
            For a statement of these blocks without an account: it would be dropped in silence.
        """
        reached = {name: self._reached(nodes) for name, nodes in outcomes.items()}
        spans = [place_of(self.source, each) for each in executed]
        made = []
        for entry in sorted(self._entries.values(), key=lambda each: (each.place.begin, -each.place.end)):
            place = entry.place
            effects = set(entry.effects)
            for name, nodes in reached.items():
                if any(id(node) in nodes for node in entry.nodes):
                    effects.add(name)
            reason = "" if effects else entry.reason or _UNUSED
            if not entry.was_carried_out:
                if any(span.begin <= place.begin and place.end <= span.end for span in spans):
                    refuse(place, f"'{place.text}'", "the statement is not read", "write it otherwise")
                reason = "its block is never called or solved"
            shown = tuple(sorted(effects))
            made.append(Account(place.line, place.text, shown, reason, entry.is_hint and not effects))
        return tuple(made)


def place_of(source: Source, part: Any) -> Place:
    """Return the place of a tree or a token."""
    if isinstance(part, Place):
        return part
    meta = getattr(part, "meta", part)
    begin = getattr(meta, "start_pos", None) or 0
    return Place(source, begin, max(begin + 1, getattr(meta, "end_pos", None) or 0))
