"""Converts the tree of the parser to the parts of a model, from the leaves up, without recursion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ranvier.equations.description import Declared
from ranvier.equations.places import Place, Source, refuse
from ranvier.equations.trees import TOO_SMALL, Node, is_too_small
from ranvier.equations.units import NONE, Unit, read_unit
from ranvier.nestml.functions import MATHEMATICS, mathematics
from ranvier.nestml.syntax import (
    Assignment,
    Branch,
    Call,
    Condition,
    Declaration,
    Function,
    Handler,
    Inline,
    Model,
    Other,
    Port,
    Return,
)

__all__ = ["Declared", "models_of"]

_DEEPEST = 100  # operations inside each other
_DEEPEST_BRANCH = 10
_WITHOUT_UNIT = Unit(NONE, 0, "")
_BINARY = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
_LOOP = "write what it calculates as an equation or an inline expression"


def models_of(source: Source, tree: Any, comments: dict[int, str]) -> list[Model]:
    """Return the models of a syntax tree; `comments` are those of each line, from 0.

    Raises
    ------
    EquationError
        For constructs that are not supported; the error shows the place.
    """
    builder = _Builder(source, comments)
    made: dict[int, Any] = {}
    for part in tree.iter_subtrees():
        children = [made[id(each)] if hasattr(each, "data") else each for each in part.children]
        made[id(part)] = builder.part(str(part.data), part.meta, children)
    found: list[Model] = made[id(tree)]
    return found


class _Builder:
    def __init__(self, source: Source, comments: dict[int, str]) -> None:
        self.source = source
        self.comments = comments
        self._depths: dict[int, int] = {}
        self._kept: list[Node] = []

    def part(self, kind: str, meta: Any, children: list[Any]) -> Any:
        """Return the part of a model for a rule of the grammar and its children."""
        begin = getattr(meta, "start_pos", 0)
        place = Place(self.source, begin, max(getattr(meta, "end_pos", 0), begin + 1))
        make: Callable[[Place, list[Any]], Any] = getattr(self, f"_{kind}")
        return make(place, children)

    def _node(self, kind: str, place: Place, *parts: Node, number: float = 0.0, name: str = "") -> Node:
        depth = 1 + max((self._depths.get(id(part), 1) for part in parts), default=0)
        if depth > _DEEPEST:
            refuse(
                place,
                f"an expression with more than {_DEEPEST} operations inside each other",
                f"there can be {_DEEPEST}",
                "divide it by inline expressions",
            )
        made = Node(kind, place, parts, number, name)
        self._depths[id(made)] = depth
        self._kept.append(made)  # so that no other object takes its id
        return made

    # ---- expressions -------------------------------------------------------------------------------------------------

    def _number(self, place: Place, children: list[Any]) -> Node:
        value = float(children[0])
        if value == float("inf"):
            refuse(place, place.text, "it is too large for floating point", "write inf, or a number below 1.8e308")
        if is_too_small(value, str(children[0])):
            refuse(place, place.text, "it is too small for floating point", TOO_SMALL)
        return self._node("number", place, number=value)

    def _quantity(self, place: Place, children: list[Any]) -> Node:
        token, name, *power = children
        sign, exponent = (power[0], power[1]) if len(power) == 2 else ("+", power[0])
        value = self._number(place, [token])
        unit = self._node("name", self._of_token(name), name=str(name))
        if exponent is not None:
            if not str(exponent).isdigit():
                refuse(place, f"'{place.text}'", "an exponent of a unit is a whole number", "write brackets: (2 ms)**x")
            raised = float(exponent) * (-1.0 if sign == "-" else 1.0)
            unit = self._node("power", place, unit, self._node("number", place, number=raised))
        return self._node("multiply", place, value, unit)

    def _truth(self, place: Place, children: list[Any]) -> Node:
        return self._node("truth", place, number=float(str(children[0]).lower() == "true"))

    def _string(self, place: Place, children: list[Any]) -> Node:
        return self._node("text", place)

    def _name(self, place: Place, children: list[Any]) -> Node:
        return self._node("name", place, name=children[0][0])

    def _group(self, place: Place, children: list[Any]) -> Node:
        node: Node = children[0]
        return node

    def _where(self, place: Place, children: list[Any]) -> Node:
        return self._node("where", place, *children)

    def _either(self, place: Place, children: list[Any]) -> Node:
        return self._node("either", place, *children)

    def _both(self, place: Place, children: list[Any]) -> Node:
        return self._node("both", place, *children)

    def _negation(self, place: Place, children: list[Any]) -> Node:
        return self._node("not", place, *children)

    def _compare(self, place: Place, children: list[Any]) -> Node:
        left, sign, right = children
        match str(sign):
            case "<":
                return self._node("less", place, left, right)
            case "<=":
                return self._node("less_equal", place, left, right)
            case ">":
                return self._node("less", place, right, left)
            case ">=":
                return self._node("less_equal", place, right, left)
            case "==":
                return self._node("equal", place, left, right)
        return self._node("not", place, self._node("equal", place, left, right))

    def _binary(self, place: Place, children: list[Any]) -> Node:
        left, sign, right = children
        if str(sign) not in _BINARY:
            refuse(
                place, f"'{place.text}'", f"the operator {sign} is not taken", "write floor(x/y), or x - y*floor(x/y)"
            )
        return self._node(_BINARY[str(sign)], place, left, right)

    def _unary(self, place: Place, children: list[Any]) -> Node:
        sign, part = children
        return self._node("negate", place, part) if sign == "-" else part

    def _power(self, place: Place, children: list[Any]) -> Node:
        return self._node("power", place, *children)

    def _call(self, place: Place, children: list[Any]) -> Node:
        name, *parts = children
        parts = [each for each in parts if each is not None]
        if str(name) in MATHEMATICS:
            made = mathematics(str(name), place, parts)
            deepest = max((self._depths.get(id(part), 1) for part in parts), default=0)
            self._depths[id(made)] = deepest + 4
            self._kept.append(made)
            return made
        return self._node("call", place, *parts, name=str(name))

    def _variable(self, place: Place, children: list[Any]) -> tuple[str, Place]:
        name, index = children
        if index is not None:
            refuse(
                place,
                f"'{place.text}', a vector",
                "vectors are not read",
                "write each element as a separate variable",
            )
        return str(name), self._of_token(name)

    def _of_token(self, token: Any) -> Place:
        return Place(self.source, token.start_pos, token.end_pos)

    # ---- declarations ------------------------------------------------------------------------------------------------

    def _unit_atom(self, place: Place, children: list[Any]) -> None:
        return None

    _unit_power = _unit_atom

    def _type(self, place: Place, children: list[Any]) -> tuple[str, Unit]:
        text = place.text
        if text in ("real", "integer", "boolean", "string"):
            return text, _WITHOUT_UNIT
        if text == "void":
            refuse(place, "'void'", "nothing that has a value is void", "write real, or a unit")
        return "unit", read_unit(self.source, place.begin, place.end)

    _local_type = _type

    def _guard(self, place: Place, children: list[Any]) -> Node:
        node: Node = children[0]
        return node

    def _declaration(self, place: Place, children: list[Any]) -> list[Declaration]:
        names = [each for each in children if isinstance(each, tuple) and isinstance(each[1], Place)]
        kind, node, guard = children[len(names) :][:3]
        meaning = self._meaning(place)
        return [Declaration(name, at, kind[0], kind[1], node, guard, meaning) for name, at in names]

    def _meaning(self, place: Place) -> str:
        meaning = self.comments.get(place.line - 1, "")
        return " ".join("".join(each if each.isprintable() else " " for each in meaning).split())[:200]

    def _values(self, place: Place, children: list[Any]) -> tuple[str, list[Declaration]]:
        return str(children[0]), [each for declared in children[1:] for each in declared]

    def _ode(self, place: Place, children: list[Any]) -> Inline:
        return Inline(str(children[0]), self._of_token(children[0]), children[1])

    def _definition(self, place: Place, children: list[Any]) -> Inline:
        return Inline(str(children[0]), self._of_token(children[0]), children[1])

    def _kernel(self, place: Place, children: list[Any]) -> tuple[Inline, ...]:
        return tuple(children)

    def _inline(self, place: Place, children: list[Any]) -> Inline:
        name, kind, node = children
        return Inline(str(name), self._of_token(name), node, kind[1], self._meaning(place))

    def _equations(self, place: Place, children: list[Any]) -> tuple[str, list[Any]]:
        return "equations", children

    def _port(self, place: Place, children: list[Any]) -> Port:
        (name, at), kind, *qualifiers, signal = children
        is_spiking = str(signal) == "spike"
        found = frozenset(str(each) for each in qualifiers)
        if is_spiking and kind is not None:
            refuse(
                at,
                f"'{name}', a spike port with a type",
                "spikes have no unit, since version 8 of the language",
                f"write {name} <- spike, and multiply by a unit where it is used",
            )
        return Port(name, at, is_spiking, found, kind[1] if kind else None)

    def _input(self, place: Place, children: list[Any]) -> tuple[str, list[Port]]:
        return "input", children

    def _output(self, place: Place, children: list[Any]) -> tuple[str, None]:
        return "output", None

    # ---- statements --------------------------------------------------------------------------------------------------

    def _suite(self, place: Place, children: list[Any]) -> tuple[Any, ...]:
        return tuple(Call(each) if isinstance(each, Node) else each for each in children)

    def _assignment(self, place: Place, children: list[Any]) -> Assignment:
        (name, at), sign, node = children
        if str(sign) == "//=":
            refuse(place, f"'{place.text}'", "the operator //= is not taken", "write x = floor(x/y)")
        return Assignment(name, str(sign), node, at)

    def _local(self, place: Place, children: list[Any]) -> Other:
        (name, at), *others, kind, node = children
        local = None if others or node is None else Declaration(name, at, kind[0], kind[1], node)
        remedy = "declare it as an inline expression in the block equations"
        return Other("a local variable", remedy, place, local)

    def _return(self, place: Place, children: list[Any]) -> Return:
        return Return(children[0], place)

    def _branch(self, place: Place, children: list[Any]) -> Branch:
        *cases, otherwise = children
        suites = [*cases[1::2], otherwise or ()]
        depth = 1 + max((each.depth for suite in suites for each in suite if isinstance(each, Branch)), default=0)
        if depth > _DEEPEST_BRANCH:
            refuse(place, f"{depth} conditions inside each other", f"there can be {_DEEPEST_BRANCH}", "write 'and'")
        return Branch(tuple(zip(cases[::2], cases[1::2], strict=True)), otherwise or (), place, depth)

    def _for(self, place: Place, children: list[Any]) -> Other:
        return Other("a loop", _LOOP, place)

    _while = _for

    # ---- blocks ------------------------------------------------------------------------------------------------------

    def _update(self, place: Place, children: list[Any]) -> tuple[str, Any]:
        return "update", children[0]

    def _option(self, place: Place, children: list[Any]) -> None:
        if str(children[0]) != "priority":
            refuse(place, f"'{place.text}'", "event handlers do not have this option", "write priority=1")

    def _receive(self, place: Place, children: list[Any]) -> Handler:
        name, at = children[0]
        return Handler(name, at, children[-1])

    def _condition(self, place: Place, children: list[Any]) -> Condition:
        return Condition(children[0], place, children[-1])

    def _argument(self, place: Place, children: list[Any]) -> Declaration:
        name, kind = children
        return Declaration(str(name), self._of_token(name), kind[0], kind[1], None)

    def _function(self, place: Place, children: list[Any]) -> Function:
        name, *arguments, kind, body = children
        present = tuple(each for each in arguments if each is not None)
        returned = None if kind is None or kind[0] == "boolean" else kind[1]
        return Function(str(name), present, returned, body, self._of_token(name))

    def _model(self, place: Place, children: list[Any]) -> Model:
        model = Model(str(children[0]), self._of_token(children[0]))
        blocks: set[str] = set()
        for block in children[1:]:
            if isinstance(block, Handler):
                model.handlers.append(block)
            elif isinstance(block, Condition):
                model.conditions.append(block)
            elif isinstance(block, Function):
                self._once(model.functions, block, "function")
            else:
                kind, parts = block
                if kind in blocks:
                    refuse(place, f"'{kind}'", "a model has each of its blocks once", "put both into one")
                blocks.add(kind)
                self._fill(model, kind, parts)
        return model

    def _fill(self, model: Model, kind: str, parts: Any) -> None:
        match kind:
            case "update":
                model.update = parts
            case "output":
                model.has_output = True
            case "input":
                for port in parts:
                    self._once(model.ports, port, "input")
            case "state" | "parameters" | "internals":
                for each in parts:
                    self._once(getattr(model, kind), each, "declaration")
            case "initial_values":
                place = parts[0].place
                refuse(place, "'initial_values'", "this block does not exist since version 4", "write state")
            case "equations":
                for each in parts:
                    if isinstance(each, tuple):
                        model.kernels.append(each)
                    elif each.unit is None:
                        self._once(model.odes, each, "equation")
                    else:
                        self._once(model.inlines, each, "inline expression")

    def _once(self, known: dict[str, Any], each: Any, what: str) -> None:
        if each.name in known:
            line = known[each.name].place.line
            refuse(each.place, f"'{each.name}'", f"the {what} of line {line} has the same name", "choose another name")
        known[each.name] = each

    def _start(self, place: Place, children: list[Any]) -> list[Model]:
        return [each for each in children if isinstance(each, Model)]
