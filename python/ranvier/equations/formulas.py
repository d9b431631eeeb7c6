"""Compiles formulas of neurons and synapses: texts, distributions and arithmetic of them become one program."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from keyword import iskeyword

from ranvier import _core
from ranvier.base.distributions import Distribution, Exponential, LogNormal, Normal, Uniform
from ranvier.base.formulas import Composite, Formula, FormulaLike, Text
from ranvier.base.texts import check_text
from ranvier.equations.places import Place, Source, refuse
from ranvier.equations.trees import Node, names_in, parse, walked
from ranvier.equations.units import Quantity, read_quantity, scaled
from ranvier.equations.value_functions import NUMBER, Context, Redraw, Width, check_names, check_tree, compile_tree

__all__ = ["compile_formula", "is_quantity", "names_of", "quantities_of", "read_text"]

_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s+([A-Za-z]+)\s*")
_KINDS = {"sqrt": "square_root"}


def quantities_of(text: Text) -> dict[str, Quantity]:
    """Return the constants of a text with their units."""
    return {
        name: read_quantity(f"constant {name}", value) if isinstance(value, str) else Quantity(value, NUMBER)
        for name, value in text.constants.items()
    }


def read_text(text: Text, what: str) -> Node:
    """Return the tree of a text, which may also be a number with a unit, ``0.5 ms``; `what` is its name in errors.

    Raises
    ------
    EquationError
        When it is not an expression.
    """
    source = Source(what, check_text(what, text.text))
    if found := _QUANTITY.fullmatch(text.text):
        return _quantity_tree(source, found)
    keywords = ["lambda", *(name for name in text.constants if iskeyword(name) and name != "lambda")]
    return parse(source, 0, len(text.text), keywords)


def is_quantity(text: str) -> bool:
    """Return whether a text is a number with or without a unit of one word, such as ``0.5 ms``."""
    return _QUANTITY.fullmatch(f"{text} ms") is not None or _QUANTITY.fullmatch(text) is not None


def names_of(text: str, constants: Iterable[str]) -> set[str]:
    """Return the names in a text that may use these constants.

    Raises
    ------
    EquationError, UnknownSymbolError
        When it is not an expression, or uses a name that does not exist.
    """
    known = dict.fromkeys(constants, 0.0)
    node = read_text(_text_of(text, known), "the expression")
    check_names(node, known, None)
    return set(names_in(node))


def _text_of(text: str, constants: Mapping[str, float]) -> Text:
    made = Text(text)
    made._put(_constants=tuple(constants.items()))
    return made


def _quantity_tree(source: Source, found: re.Match[str]) -> Node:
    """Return the product of a number and a unit that are written as ``0.5 ms``."""
    place = Place(source, *found.span(1))
    whole = Place(source, 0, len(source.text))
    # Reads the unit, or raises an error that lists all units.
    quantity = read_quantity(source.what, source.text)
    # Units of one letter are no names in expressions.
    name = found[2] if len(found[2]) > 1 else str(quantity.unit.dimension)
    value = quantity.number if name == found[2] else scaled(quantity.number, quantity.unit.exponent)
    return Node("multiply", whole, (Node("number", place, number=value), Node("name", whole, name=name)))


# Functions of formulas by formula and context, since a formula is compiled where it is checked and where it is used,
# and the projections of a network often share one.
_compiled: dict[tuple[object, ...], _core.PairFunction] = {}
_MOST_COMPILED = 256


def compile_formula(formula: FormulaLike, context: Context) -> _core.PairFunction:
    """Return the function of a formula.

    Raises
    ------
    UnknownSymbolError, UnitError, EquationError
        Pointing at the place in a text.
    """
    # The text tells values apart that are equal: 0.0 and -0.0.
    key = (formula, repr(formula), replace(context, what="", without_positions=""))
    if key in _compiled:
        return _compiled[key]
    trees = _Trees(context)
    node = trees.tree(formula)
    text = formula.text if isinstance(formula, Text) else repr(formula)
    function = compile_tree(node, trees.constants, context, text, trees.redraws, trees.widths)
    if len(_compiled) >= _MOST_COMPILED:
        _compiled.clear()
    _compiled[key] = function
    return function


@dataclass
class _Renamed:
    """Renames constants: each text of a formula has its own."""

    names: Mapping[str, str]

    def leaf(self, node: Node) -> Node:
        return replace(node, name=self.names[node.name]) if node.kind == "name" and node.name in self.names else node

    def operation(self, node: Node, parts: list[Node]) -> Node:
        return replace(node, parts=tuple(parts))


@dataclass
class _Trees:
    """Makes one tree of a formula. Each occurrence of a distribution is a new random number."""

    context: Context
    constants: dict[str, Quantity] = field(default_factory=dict)
    redraws: list[Redraw] = field(default_factory=list)
    widths: list[Width] = field(default_factory=list)
    texts: int = 0

    def tree(self, formula: FormulaLike) -> Node:
        if isinstance(formula, Text | str):
            return self._text(Text(formula) if isinstance(formula, str) else formula)
        place = self._place(formula)
        if isinstance(formula, Distribution):
            return self._distribution(formula, place)
        if isinstance(formula, Composite):
            return self._composite(formula, place)
        assert not isinstance(formula, Formula)
        return _number(place, float(formula))

    def _place(self, formula: FormulaLike) -> Place:
        source = Source(self.context.what, repr(formula))
        return Place(source, 0, max(1, len(source.text)))

    def _text(self, text: Text) -> Node:
        node = read_text(text, self.context.what)
        quantities = quantities_of(text)
        # Here, where names are those of the text.
        check_names(node, quantities, self.context.names)
        check_tree(node, Place(node.place.source, 0, max(1, len(text.text))))
        self.texts += 1
        names = {name: f"{name} of text {self.texts}" for name in quantities}
        self.constants |= {names[name]: quantity for name, quantity in quantities.items()}
        renamed: Node = walked(node, _Renamed(names))
        return renamed

    def _composite(self, formula: Composite, place: Place) -> Node:
        if formula.operation in ("clip", "redraw"):
            value, low, high = formula.operands
            return self._bounded(self.tree(value), low, high, formula.operation, place, repr(formula))
        parts = tuple(self.tree(each) for each in formula.operands)
        return Node(_KINDS.get(formula.operation, formula.operation), place, parts)

    def _distribution(self, given: Distribution, place: Place) -> Node:
        if isinstance(given, Uniform):
            low, high = self.tree(given.low), self.tree(given.high)
            width = self._range(low, high, place, repr(given))
            return Node("add", place, (low, Node("multiply", place, (width, _draw(place, "rand")))))
        if isinstance(given, Normal):
            scale = Node("multiply", place, (self._width(given, "std", place), _draw(place, "randn")))
            made = Node("add", place, (self.tree(given.mean), scale))
        elif isinstance(given, LogNormal):
            scale = Node("multiply", place, (self._width(given, "sigma", place), _draw(place, "randn")))
            made = Node("exp", place, (Node("add", place, (self.tree(given.mu), scale)),))
        else:
            assert isinstance(given, Exponential)
            logarithm = Node("log", place, (_draw(place, "rand"),))
            scale = Node("multiply", place, (self._width(given, "mean", place), logarithm))
            made = Node("subtract", place, (self.tree(given.shift), scale))
        return self._bounded(made, given.low, given.high, given.mode, place, repr(given))

    def _width(self, given: Distribution, name: str, place: Place) -> Node:
        """Return a parameter that must not be negative."""
        value = getattr(given, name)
        node = self.tree(value)
        if not isinstance(value, float):
            remedy = "limit it: rv.maximum(..., 0), or max(..., 0) in a text"
            self.widths.append(Width(node, f"{name} of {given!r}", remedy))
        return node

    def _range(self, low: Node, high: Node, place: Place, owner: str) -> Node:
        """Return the difference of two bounds, which must not be negative."""
        node = Node("subtract", place, (high, low))
        self.widths.append(Width(node, f"high - low of {owner}", "swap them, or limit one by the other"))
        return node

    def _bounded(self, value: Node, low: FormulaLike, high: FormulaLike, mode: str, place: Place, owner: str) -> Node:
        """Return a value within bounds. Within a redraw, the bounds change only what no draw has brought inside."""
        inside: list[Node] = []
        made = value
        lower = upper = None
        if low != -math.inf:
            lower = self.tree(low)
            inside.append(Node("less_equal", place, (lower, value)))
            made = Node("maximum", place, (made, lower))
        if high != math.inf:
            upper = self.tree(high)
            inside.append(Node("less_equal", place, (value, upper)))
            made = Node("minimum", place, (made, upper))
        if lower is not None and upper is not None:
            self._range(lower, upper, place, owner)
        if mode == "redraw" and inside:
            condition = inside[0] if len(inside) == 1 else Node("both", place, tuple(inside))
            self.redraws.append(Redraw(condition, place))
        return made


def _number(place: Place, value: float) -> Node:
    if not math.isfinite(value):
        refuse(place, f"{value}", "it must be finite", "leave out the bound")
    return Node("number", place, number=value)


def _draw(place: Place, name: str) -> Node:
    return Node("draw", place, name=name)
