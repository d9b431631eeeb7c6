"""Executes the statements of an NMODL file symbolically: procedures and functions are inlined.

Every name that statements may assign always has a value: until it is assigned, the name itself, which represents the
value that earlier calls have left. So a condition can merge all assignments of its branches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ranvier.channels.nmodl_code import check_code
from ranvier.channels.nmodl_functions import FUNCTIONS, of_function
from ranvier.channels.nmodl_kinetic import Scheme
from ranvier.channels.nmodl_ledger import Ledger, place_of
from ranvier.channels.nmodl_nodes import (
    ADVANCED,
    UNDEFINED,
    array_size,
    as_number,
    as_truth,
    constant_value,
    element_name,
    merged,
    name_in_own_equation,
    new_nodes,
    number_node,
    rate_name,
    undone,
)
from ranvier.channels.nmodl_schemes import add_to_scheme
from ranvier.channels.nmodl_syntax import SCHEME_STATEMENTS
from ranvier.equations.places import Place, Source, refuse, refuse_name
from ranvier.equations.trees import Node, nodes_of

__all__ = ["Execution", "Routine"]

_DEEPEST = 20
_MOST_NODES = 20_000
_MOST_ROUNDS = 1000
_PRINTS = "it only prints"

Local: TypeAlias = dict[str, Node | None]
"""Names of a block and their values; None if not assigned yet."""


@dataclass(frozen=True)
class Routine:
    """A procedure or a function: its arguments, statements and block."""

    name: str
    arguments: tuple[str, ...]
    statements: tuple[Any, ...]
    block: Any


@dataclass
class Execution:
    """Values of names, which statements change.

    Attributes
    ----------
    fixed
        Names that cannot be assigned, with the reason.
    arrays
        Sizes of arrays. Their elements are values with the names of `element_name`.
    constants
        Named numbers of DEFINE, CONSTANT and UNITS.
    values
        The present value of each name.
    states
        Names that may have derivatives; empty where derivatives are not allowed.
    solve
        Executes SOLVE; None where it is not allowed.
    scheme
        Takes the reactions of a KINETIC block; None outside of one.
    is_simultaneous
        Whether derivatives form one system: they are values with the names of `rate_name`, and states do not change.
    advancing
        The state whose equation by METHOD cnexp is read; None outside of one.
    phase
        Block in which statements are executed, for messages.
    changing
        Names that tables cannot depend on: the potential and states.
    executed
        Blocks that were executed.
    """

    source: Source
    ledger: Ledger
    routines: Mapping[str, Routine]
    fixed: Mapping[str, str]
    arrays: Mapping[str, int]
    constants: Mapping[str, float]
    values: dict[str, Node] = field(default_factory=dict)
    states: frozenset[str] = frozenset()
    solve: Callable[[Any], None] | None = None
    phase: str = ""
    changing: frozenset[str] = frozenset()
    executed: list[Any] = field(default_factory=list)
    scopes: list[Local] = field(default_factory=list)
    depth: int = 0
    scheme: Scheme | None = None
    is_simultaneous: bool = False
    advancing: str | None = None

    def run(self, block: Any, statements: Any = None) -> None:
        """Execute the statements of a block, which has local names."""
        self.executed.append(block)
        self.scopes.append({})
        waiting = list(block.children if statements is None else statements)
        for k, statement in enumerate(waiting):
            if statement.data in SCHEME_STATEMENTS:
                add_to_scheme(self, statement)
                continue
            if statement.data == "verbatim":
                is_outermost = len(self.scopes) == (2 if self.depth else 1)
                is_last = is_outermost and k == len(waiting) - 1
                check_code(self.ledger, statement, self.place(statement), is_last=is_last)
                continue
            handler = getattr(self, f"_{statement.data}", None)
            if handler is None:
                place = self.place(statement)
                refuse(place, f"'{place.text}'", "the statement is not read", "write it otherwise")
            handler(statement)
        self.scopes.pop()

    def place(self, part: Any) -> Place:
        """Return the place of a part of the file."""
        return place_of(self.source, part)

    # ---- statements --------------------------------------------------------------------------------------------------

    def _assign(self, statement: Any) -> None:
        target, right = statement.children
        name = self.target(target)
        value = self.ledger.copy(as_number(self.value(right)))
        if name == "v":
            value = undone(value, name)
        self.ledger.wrote(statement, value)
        self.store(target, name, value)

    def store(self, target: Any, name: str, value: Node) -> None:
        """Give a name its value: the innermost local name, or one that persists."""
        for scope in reversed(self.scopes):
            if name in scope:
                scope[name] = value
                return
        place = self.place(target)
        if name in self.fixed:
            refuse(place, f"'{name}'", f"{self.fixed[name]} and cannot be assigned", "assign another name")
        if name not in self.values:
            known = [*self.values, *(each for scope in self.scopes for each in scope)]
            refuse_name(place, name, known, "declare it in ASSIGNED, or as LOCAL")
        self.values[name] = value

    def target(self, target: Any) -> str:
        """Return the name that a statement assigns, of an element if there is an index."""
        name, index = target.children
        return self._element(target, str(name), index)

    def _element(self, part: Any, name: str, index: Any) -> str:
        """Return the name that is assigned or read, of an element if there is an index."""
        size = self._size(name)
        place = self.place(part)
        if index is None:
            if size is not None:
                refuse(place, f"'{name}'", f"it is an array of {size}", f"write {name}[0]")
            return name
        if size is None:
            refuse(place, f"'{name}'", "it is not an array", f"declare {name}[2]")
        number = constant_value(as_number(self.value(index)))
        if number is None:
            refuse(
                place, f"'{place.text}'", "the index is not known when the file is read", "write a number, or use FROM"
            )
        if number != math.floor(number) or not 0 <= number < size:
            refuse(place, f"'{place.text}', with index {number:g}", f"indices are whole numbers from 0 to {size - 1}")
        return element_name(name, int(number))

    def _size(self, name: str) -> int | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return None
            if element_name(name, 0) in scope:
                return sum(1 for each in scope if each.rpartition("[")[0] == name)
        return self.arrays.get(name)

    def _derivative_of(self, statement: Any) -> None:
        target, right = statement.children
        name = self.target(target)
        place = self.place(target)
        if not self.states:
            refuse(
                place, f"{name}'", "derivatives belong in DERIVATIVE blocks", f"write DERIVATIVE states {{ {name}' }}"
            )
        if name not in self.states:
            refuse(place, f"{name}'", "it is not a STATE", f"write STATE {{ {name} }}")
        if self.is_simultaneous:
            rate = self.ledger.copy(as_number(self.value(right)))
            self.ledger.wrote(statement, rate)
            self.values[rate_name(name)] = rate
            return
        self.advancing = name
        rate = as_number(self.value(right))
        self.advancing = None
        value = Node(ADVANCED, self.place(statement), (self.values[name], rate), name=name)
        self.ledger.wrote(statement, value)
        self.values[name] = value

    def _call_procedure(self, statement: Any) -> None:
        name = str(statement.children[0])
        if name == "printf" and name not in self.routines:
            self.ledger.ignore(statement, _PRINTS)
            return
        if name == "at_time" and name not in self.routines:
            self.ledger.ignore(statement, "steps are the same at all times", is_hint=True)
            return
        arguments = [each for each in statement.children[1:] if each is not None]
        if name == "state_discontinuity" and name not in self.routines and len(arguments) == 2:
            self._set_state(statement, arguments)
            return
        given = [self.value(each) for each in arguments]
        with self.ledger.inside(statement):
            self._called(statement, given)

    def _set_state(self, statement: Any, arguments: list[Any]) -> None:
        """Carry out ``state_discontinuity(x, value)``, the old way to write an assignment in NET_RECEIVE."""
        target, right = arguments
        if target.data not in ("name", "element"):
            refuse(self.place(target), f"'{self.place(target).text}'", "it is not a state", "write the name of a state")
        index = target.children[1] if target.data == "element" else None
        name = self._element(target, str(target.children[0]), index)
        value = self.ledger.copy(as_number(self.value(right)))
        self.ledger.wrote(statement, value)
        self.store(target, name, value)

    def _local(self, statement: Any) -> None:
        self.ledger.ignore(statement, "it declares names of its block", is_hint=True)
        for each in statement.children[0].children:
            name, size = each.children
            if size is None:
                self._declare_local(each, str(name))
            for k in range(0 if size is None else array_size(size, self.constants, self.place(size))):
                self._declare_local(each, element_name(str(name), k))

    def _declare_local(self, part: Any, name: str) -> None:
        if name in self.scopes[-1]:
            refuse(self.place(part), f"'{name}'", "it is declared twice in one block", "leave one of them out")
        self.scopes[-1][name] = None

    def _solve(self, statement: Any) -> None:
        if self.solve is None:
            bound = f"SOLVE belongs in BREAKPOINT, not in {self.phase}"
            if self.phase == "a condition":
                bound = "SOLVE belongs in BREAKPOINT outside of conditions: every block is solved in every step"
            refuse(self.place(statement), f"'{self.place(statement).text}'", bound, "put the condition into the block")
        self.solve(statement)

    def _hint(self, statement: Any) -> None:
        self.ledger.ignore(statement, "a hint to other compilers", is_hint=True)

    def _begin_of_connection(self, statement: Any) -> None:
        remedy = "let the synapse have them: rv.tsodyks2(), or equations by rv.synapse()"
        refuse(self.place(statement), "'INITIAL'", "a receptor has no variables of each connection", remedy)

    def _table(self, statement: Any) -> None:
        """Refuse a table outside of a routine: `_called` executes the others."""
        refuse(
            self.place(statement), "'TABLE'", "it must be the first statement of a routine with one argument", "move it"
        )

    def _loop(self, statement: Any) -> None:
        name, *bounds = statement.children[:4]
        first, last, by = (None if each is None else constant_value(as_number(self.value(each))) for each in bounds)
        place = self.place(statement)
        if first is None or last is None or (bounds[2] is not None and not by):
            refuse(place, f"'{place.text}'", "the bounds are not known when the file is read", "write numbers")
        step = 1.0 if by is None else by
        rounds = int(max(0.0, math.floor((last - first) / step) + 1.0))
        if rounds > _MOST_ROUNDS:
            refuse(place, f"{rounds} repetitions", f"a loop has at most {_MOST_ROUNDS}", "write it shorter")
        with self.ledger.inside(statement):
            for k in range(rounds):
                self.scopes.append({str(name): number_node(place, first + k * step)})
                self.run(statement, statement.children[4:])
                self.scopes.pop()

    def _choice(self, statement: Any) -> None:
        """Execute all branches; names to which they give different values depend on the conditions."""
        solve, self.solve = self.solve, None
        scheme, self.scheme = self.scheme, None
        phase, self.phase = self.phase, "a condition"
        before: list[dict[str, Any]] | None = None
        outcomes: list[tuple[Node, list[dict[str, Any]], Any]] = []
        rest: Any = statement
        with ExitStack() as stack:
            while rest is not None and rest.data == "choice":
                stack.enter_context(self.ledger.inside(rest))
                condition = as_truth(self.value(rest.children[0]))
                self._check_unchanged(rest, before)
                before = before or self._snapshot()
                known = constant_value(condition)
                branch, other = rest.children[1:]
                if other is not None and len(other.children) == 1 and other.children[0].data == "choice":
                    other = other.children[0]
                if known is None:
                    self.run(branch)
                    outcomes.append((condition, self._snapshot(), rest))
                    self._restore(before)
                elif (never := other if known else branch) is not None:
                    self.ledger.ignore_inside(never, "its condition is never true")
                rest = branch if known else other
            if rest is not None:
                self.run(rest)
            made = self._snapshot()
            for condition, taken, part in reversed(outcomes):
                place = self.place(part)
                made = [merged(condition, one, two, place) for one, two in zip(taken, made, strict=True)]
                self.ledger.wrote(part, *new_nodes(made, before or []))
            self._restore(made)
        self.solve, self.scheme, self.phase = solve, scheme, phase

    def _check_unchanged(self, part: Any, before: list[dict[str, Any]] | None) -> None:
        if before is not None and self._snapshot() != before:
            place = self.place(part.children[0])
            refuse(place, f"'{place.text}'", "a condition after ELSE changes values", "call its function before IF")

    def _snapshot(self) -> list[dict[str, Any]]:
        return [dict(self.values), *(dict(scope) for scope in self.scopes)]

    def _restore(self, kept: list[dict[str, Any]]) -> None:
        self.values = dict(kept[0])
        self.scopes = [dict(each) for each in kept[1:]]

    # ---- expressions -------------------------------------------------------------------------------------------------

    def value(self, tree: Any) -> Node:
        """Return an expression of names that represent themselves."""
        made: list[Node] = []
        waiting: list[tuple[Any, int]] = [(tree, -1)]
        while waiting:
            part, count = waiting.pop()
            if count >= 0:
                parts = made[len(made) - count :]
                del made[len(made) - count :]
                made.append(self._operation(part, parts))
                continue
            if part.data in ("number", "name", "element"):
                made.append(self._leaf(part))
                continue
            given = part.children[1:] if part.data == "call" else part.children
            given = [each for each in given if each is not None]
            waiting.append((part, len(given)))
            waiting += [(each, -1) for each in reversed(given)]
        return made[0]

    def _leaf(self, tree: Any) -> Node:
        place = self.place(tree)
        if tree.data == "number":
            return number_node(place, float(tree.children[0]))
        name = str(tree.children[0])
        return self._named(self._element(tree, name, tree.children[1] if tree.data == "element" else None), place)

    def _operation(self, tree: Any, parts: list[Node]) -> Node:
        place = self.place(tree)
        kind = str(tree.data)
        match kind:
            case "call":
                return self._function(tree, parts)
            case "both" | "either" | "not":
                return Node(kind, place, tuple(as_truth(each) for each in parts))
        numbers = tuple(as_number(each) for each in parts)
        match kind:
            case "greater":
                return Node("less", place, numbers[::-1])
            case "greater_equal":
                return Node("less_equal", place, numbers[::-1])
            case "not_equal":
                return Node("not", place, (Node("equal", place, numbers),))
            case "negate" if numbers[0].kind == "number":
                return number_node(place, -numbers[0].number)
        return Node(kind, place, numbers)

    def _named(self, name: str, place: Place) -> Node:  # noqa: RET503
        for scope in reversed(self.scopes):
            if name in scope:
                found = scope[name]
                if found is None:
                    refuse(place, f"'{name}'", "it is used before it has a value", "assign it first")
                return found
        if name == self.advancing:
            return Node("name", place, name=name_in_own_equation(name))
        if name in self.values:
            found = self.values[name]
            if found.kind == UNDEFINED:
                refuse(place, f"'{name}'", found.name, "assign it first")
            # If a name represents itself, errors show this use of it.
            return self.ledger.copy(found, place) if found.kind == "name" else found
        if name in self.constants:
            return number_node(place, self.constants[name])
        known = [*self.values, *self.constants, *(each for scope in self.scopes for each in scope)]
        refuse_name(place, name, known, "declare it in PARAMETER or ASSIGNED")

    def _function(self, tree: Any, parts: list[Node]) -> Node:
        name = str(tree.children[0])
        place = self.place(tree)
        if name in self.routines:
            found = self._called(tree, parts)
            if found is None:
                refuse(place, f"'{name}'", "the function gives no value", f"assign {name} in it")
            return found
        if name not in FUNCTIONS:
            known = [*FUNCTIONS, *self.routines]
            refuse_name(self.place(tree.children[0]), name, known, f"functions are {', '.join(known)}")
        return of_function(name, tuple(map(as_number, parts)), place)

    # ---- routines ----------------------------------------------------------------------------------------------------

    def _called(self, tree: Any, given: list[Node]) -> Node | None:
        """Carry out a routine; return the value of a function."""
        name = str(tree.children[0])
        place = self.place(tree)
        if name not in self.routines:
            refuse_name(place, name, list(self.routines), "write PROCEDURE or FUNCTION")
        routine = self.routines[name]
        if len(given) != len(routine.arguments):
            refuse(place, f"'{place.text}', with {len(given)} arguments", f"{name} has {len(routine.arguments)}")
        if self.depth == _DEEPEST:
            refuse(place, f"'{name}'", f"calls inside each other can be {_DEEPEST} deep", "recursion is not supported")
        local: Local = {name: None, **dict(zip(routine.arguments, map(as_number, given), strict=True))}
        kept = (self.scopes, self.states, self.solve, self.phase, self.advancing)
        self.scopes, self.states, self.solve, self.phase, self.advancing = [local], frozenset(), None, f"{name}()", None
        self.depth += 1
        tables = [each for each in routine.statements if each.data == "table"]
        if tables:
            self._run_table(routine, tables)
        else:
            self.run(routine.block, routine.statements)
        self.depth -= 1
        found = self.scopes[0][name]
        self.scopes, self.states, self.solve, self.phase, self.advancing = kept
        if found is not None and sum(1 for _ in nodes_of(found)) > _MOST_NODES:
            refuse(place, f"'{name}'", f"it has more than {_MOST_NODES} operations", "write it shorter")
        return found

    def _run_table(self, routine: Routine, tables: list[Any]) -> None:
        """Execute a routine with TABLE: values at its ends are used beyond them, and only its names have values."""
        table, place = tables[0], self.place(tables[0])
        names, _, low, high, _ = table.children
        if len(routine.arguments) != 1 or len(tables) > 1:
            refuse(place, "'TABLE'", "it is allowed once, in a routine with one argument", "leave it out")
        self.ledger.ignore(
            table, "rates are calculated instead of interpolated; outside its range the values at its ends are used"
        )
        ends = [self.value(low), self.value(high)]
        argument = routine.arguments[0]
        given = self.scopes[0][argument]
        assert given is not None
        if constant_value(given) is None:
            above = Node("maximum", place, (given, as_number(ends[0])))
            self.scopes[0][argument] = Node("minimum", place, (above, as_number(ends[1])))
        listed = {str(each) for each in names.children} if names is not None else set()
        before = dict(self.values)
        for name in self.changing:
            if name in self.values:
                reason = f"a table over {argument} cannot depend on it: NEURON calculates its rows at an arbitrary time"
                self.values[name] = Node(UNDEFINED, place, name=reason)
        hidden = {name: self.values[name] for name in self.changing if name in self.values}
        self.run(routine.block, [each for each in routine.statements if each is not table])
        for name, value in self.values.items():
            if value is hidden.get(name):
                self.values[name] = before[name]
            elif value is not before[name] and name not in listed:
                reason = f"{routine.name}() assigns it, but its TABLE does not list it"
                self.values[name] = Node(UNDEFINED, place, name=reason)
