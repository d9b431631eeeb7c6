"""Carries out the statements of an NMODL file with expressions in place of numbers: procedures and functions vanish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ranvier.equations.places import Place, Source, refuse, refuse_name
from ranvier.equations.trees import Node, nodes_of

__all__ = ["Execution", "Routine", "place_of"]

_FUNCTIONS = {
    "exp": ("exp", 1),
    "log": ("log", 1),
    "log10": ("log10", 1),
    "fabs": ("absolute", 1),
    "sqrt": ("square_root", 1),
    "pow": ("power", 2),
    "exprelr": ("exprelr", 1),
    "floor": ("floor", 1),
    "ceil": ("ceil", 1),
    **{name: (name, 1) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
_LN_10 = 2.302585092994046
_DEEPEST = 20
_MOST_NODES = 20_000


@dataclass(frozen=True)
class Routine:
    """A procedure or a function: its arguments and statements."""

    name: str
    arguments: tuple[str, ...]
    statements: tuple[Any, ...]


@dataclass(frozen=True)
class Solved:
    """A DERIVATIVE block that is solved, the method, the place, and what names stand for there."""

    name: str
    method: str
    place: Place
    values: Mapping[str, Node]


def place_of(source: Source, part: Any) -> Place:
    """Return where a tree or a token stands."""
    meta = getattr(part, "meta", part)
    begin = getattr(meta, "start_pos", None) or 0
    return Place(source, begin, max(begin + 1, getattr(meta, "end_pos", None) or 0))


@dataclass
class Execution:
    """Values of names, which statements change.

    Attributes
    ----------
    values
        What names that can be assigned stand for.
    fixed
        Names that stand for themselves: parameters, states, the potential.
    assignable
        Names that statements may give values to.
    rates
        Right sides of the derivatives of states.
    solved
        Blocks that were solved, with what names stood for then.
    """

    source: Source
    routines: Mapping[str, Routine]
    fixed: Mapping[str, Node]
    assignable: frozenset[str]
    values: dict[str, Node] = field(default_factory=dict)
    rates: dict[str, Node] = field(default_factory=dict)
    solved: list[Solved] = field(default_factory=list)
    depth: int = 0

    def run(self, statements: Any, own: dict[str, Node | None] | None = None) -> None:
        """Carry out statements; `own` are local names with what they stand for, None: not known yet."""
        local: dict[str, Node | None] = {} if own is None else own
        for statement in statements:
            getattr(self, f"_{statement.data}")(statement, local)

    # ---- statements --------------------------------------------------------------------------------------------------

    def _assign(self, statement: Any, local: dict[str, Node | None]) -> None:
        name, right = str(statement.children[0]), statement.children[1]
        value = self.value(right, local)
        if name in local:
            local[name] = value
        elif name in self.assignable:
            self.values[name] = value
        else:
            place = place_of(self.source, statement.children[0])
            if name in self.fixed:
                refuse(place, f"'{name}'", "parameters and ions cannot be assigned", "declare it in ASSIGNED")
            refuse_name(place, name, [*self.assignable, *local], "declare it in ASSIGNED, or as LOCAL")

    def _derivative_of(self, statement: Any, local: dict[str, Node | None]) -> None:
        name, right = str(statement.children[0]), statement.children[-1]
        self.rates[name] = self.value(right, local)

    def _call_procedure(self, statement: Any, local: dict[str, Node | None]) -> None:
        self._called(statement, local)

    def _local(self, statement: Any, local: dict[str, Node | None]) -> None:
        for name in statement.children[0].children:
            local[str(name)] = None

    def _solve(self, statement: Any, local: dict[str, Node | None]) -> None:
        name, method = statement.children
        self.solved.append(Solved(str(name), str(method or ""), place_of(self.source, statement), dict(self.values)))

    def _left_out(self, statement: Any, local: dict[str, Node | None]) -> None:
        """Pass over hints to other compilers."""

    def _choice(self, statement: Any, local: dict[str, Node | None]) -> None:
        """Carry out both sides; what they give different values to depends on the condition."""
        condition = self.value(statement.children[0], local)
        before, own_before = dict(self.values), dict(local)
        self.run(statement.children[1].children, local)
        chosen, own_chosen = dict(self.values), dict(local)
        self.values = before
        local.clear()
        local.update(own_before)
        if statement.children[2] is not None:
            self.run(statement.children[2].children, local)
        place = place_of(self.source, statement)
        self.values = _merged(condition, chosen, self.values, place)
        own = _merged(condition, own_chosen, local, place)
        local.clear()
        local.update({name: own.get(name) for name in own_before})

    # ---- expressions -------------------------------------------------------------------------------------------------

    def value(self, tree: Any, local: Mapping[str, Node | None]) -> Node:
        """Return an expression, of names that stand for themselves."""
        place = place_of(self.source, tree)
        match tree.data:
            case "number":
                return Node("number", place, number=float(tree.children[0]))
            case "name":
                return self._named(str(tree.children[0]), place, local)
            case "call":
                return self._function(tree, local)
        parts = tuple(self.value(each, local) for each in tree.children)
        match tree.data:
            case "greater":
                return Node("less", place, parts[::-1])
            case "greater_equal":
                return Node("less_equal", place, parts[::-1])
            case "not_equal":
                return Node("not", place, (Node("equal", place, parts),))
            case "negate" if parts[0].kind == "number":
                return Node("number", place, number=-parts[0].number)
        return Node(str(tree.data), place, parts)

    def _named(self, name: str, place: Place, local: Mapping[str, Node | None]) -> Node:
        if name in local:
            found = local[name]
        elif name in self.values:
            found = self.values[name]
        elif name in self.fixed:
            return Node("name", place, name=name)
        else:
            if name not in self.assignable:
                refuse_name(place, name, [*self.fixed, *self.assignable, *local], "declare it in PARAMETER or ASSIGNED")
            found = None
        if found is None:
            refuse(place, f"'{name}'", "it is used before it has a value", "assign it first")
        return found

    def _function(self, tree: Any, local: Mapping[str, Node | None]) -> Node:
        name = str(tree.children[0])
        place = place_of(self.source, tree)
        if name in self.routines:
            found = self._called(tree, local)
            if found is None:
                refuse(place, f"'{name}'", "the function gives no value", f"assign {name} in it")
            return found
        if name not in _FUNCTIONS:
            known = [*_FUNCTIONS, *self.routines]
            refuse_name(place_of(self.source, tree.children[0]), name, known, f"functions are {', '.join(known)}")
        kind, count = _FUNCTIONS[name]
        given = [each for each in tree.children[1:] if each is not None]
        if len(given) != count:
            refuse(place, f"'{place.text}', with {len(given)} arguments", f"{name} takes {count}")
        parts = tuple(self.value(each, local) for each in given)
        one = Node("number", place, number=1.0)
        match kind:
            case "log10":
                return Node("divide", place, (Node("log", place, parts), Node("number", place, number=_LN_10)))
            case "exprelr":
                return Node("divide", place, (one, Node("expm1_over", place, parts)))
            case "ceil":
                below = Node("floor", place, (Node("negate", place, parts),))
                return Node("negate", place, (below,))
        return Node(kind, place, parts)

    def _called(self, tree: Any, local: Mapping[str, Node | None]) -> Node | None:
        """Carry out a routine; return the value of a function."""
        name = str(tree.children[0])
        place = place_of(self.source, tree)
        if name not in self.routines:
            refuse_name(place, name, list(self.routines), "write PROCEDURE or FUNCTION")
        routine = self.routines[name]
        given = [each for each in tree.children[1:] if each is not None]
        if len(given) != len(routine.arguments):
            refuse(place, f"'{place.text}', with {len(given)} arguments", f"{name} has {len(routine.arguments)}")
        if self.depth == _DEEPEST:
            refuse(place, f"'{name}'", f"calls inside each other can be {_DEEPEST} deep", "there is no recursion")
        values = [self.value(each, local) for each in given]
        own: dict[str, Node | None] = {name: None, **dict(zip(routine.arguments, values, strict=True))}
        self.depth += 1
        self.run(routine.statements, own)
        self.depth -= 1
        found = own[name]
        if found is not None and sum(1 for _ in nodes_of(found)) > _MOST_NODES:
            refuse(place, f"'{name}'", f"it has more than {_MOST_NODES} operations", "write it shorter")
        return found


def _merged(
    condition: Node, chosen: Mapping[str, Node | None], other: Mapping[str, Node | None], place: Place
) -> dict[str, Any]:
    made: dict[str, Node | None] = {}
    for name in {**chosen, **other}:
        one, two = chosen.get(name), other.get(name)
        if one is two:
            made[name] = one
        elif one is not None and two is not None:
            made[name] = Node("where", place, (condition, one, two))
    return made
