"""Expressions of positions, distances and indices, given as texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from keyword import iskeyword
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.immutable import Immutable
from ranvier.base.names import check_choice
from ranvier.base.numeric import number, number_array
from ranvier.base.texts import check_text, name_type
from ranvier.equations.names import check_new_name
from ranvier.equations.places import Place, Source, refuse
from ranvier.equations.trees import Node, names_in, parse
from ranvier.equations.units import Quantity, read_quantity, scaled
from ranvier.equations.value_functions import NEURON, NUMBER, PAIR, Context, check_names, check_tree, compile_tree
from ranvier.errors import UnknownNameError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["Expression"]

# Words of Python that expressions themselves have.
_OF_LANGUAGE = {"and", "or", "not", "if", "else"}
_QUANTITY = re.compile(r"\s*([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)\s+([A-Za-z]+)\s*")


class Expression(Immutable):
    """A value of each neuron or of each pair of neurons, as a text: of positions, distances and indices.

    Parameters
    ----------
    text
        The expression, in the language of equations (see the page about equations): numbers, names, operators,
        functions such as ``exp``, and conditions, ``where(d < 0.3, 1, 0)``. ``rand()`` is a uniform random number in
        (0, 1) and ``randn()`` a standard normal one; each call in the text draws independently, for each neuron or
        synapse.
    constants
        Values of further names: numbers, or texts with a unit, ``"0.3 mm"``. Names that are words of Python, such as
        ``lambda``, are given here.
    **named
        The same as keywords.

    Raises
    ------
    EquationError, UnknownSymbolError
        For a text that is not an expression, and for unknown names; they point at the place.
    UnknownNameError
        For a constant that the text does not use.
    UnitError
        When it is used, if units do not match.

    Notes
    -----
    Of pairs, the names are ``d`` (the distance), ``dx``, ``dy``, ``dz`` (the displacement, target minus source; on
    periodic axes the shortest), ``x_pre``, ``y_pre``, ``z_pre`` and ``x_post``, ``y_post``, ``z_post`` (positions of
    source and target), ``i`` and ``j`` (indices of source and target among those of the call). Of neurons, they are
    ``x``, ``y``, ``z`` and the index ``i`` in the population.

    If neither the text nor a constant names a unit, all values are plain numbers, and lengths are in the unit of the
    positions. Otherwise all units are checked: lengths have a unit, and the value must have that of its use.

    Examples
    --------
    >>> import ranvier as rv
    >>> rv.Expression("0.4*exp(-d**2/(2*sigma**2))", sigma=0.3)
    Expression('0.4*exp(-d**2/(2*sigma**2))', sigma=0.3)
    >>> rv.Expression("J*exp(-d/lambda)", {"lambda": "0.3 mm"}, J="87.8 pA")
    Expression('J*exp(-d/lambda)', {'lambda': '0.3 mm'}, J='87.8 pA')
    """

    text: str
    _constants: tuple[tuple[str, float | str], ...]

    def __init__(self, text: str, constants: Mapping[str, float | str] | None = None, /, **named: float | str) -> None:
        given = check_text("text of an expression", text)
        if constants is not None and not isinstance(constants, Mapping):
            raise WrongTypeError(
                "constants of an expression", name_type(constants), "must be a mapping from names", 'write {"a": 1.0}'
            )
        for name in named:
            if constants is not None and name in constants:
                raise ValueOutOfBoundsError("constants of an expression", f"'{name}', twice", "a name has one value")
        made = {
            _checked_name(name): _checked_constant(name, value)
            for name, value in {**(constants or {}), **named}.items()
        }
        self._put(text=given, _constants=tuple(sorted(made.items())))
        node = self._tree("the expression")
        check_names(node, self._quantities(), None)
        check_tree(node, Place(node.place.source, 0, max(1, len(given))))
        used = names_in(node)
        for name in made:
            if name not in used:
                raise UnknownNameError(
                    "constant of an expression", f"'{name}'", f"'{given}' does not use it", "leave it out"
                )

    @property
    def constants(self) -> dict[str, float | str]:
        """The constants, as they were given."""
        return dict(self._constants)

    def _quantities(self) -> dict[str, Quantity]:
        return {
            name: read_quantity(f"constant {name}", value) if isinstance(value, str) else Quantity(value, NUMBER)
            for name, value in self._constants
        }

    def _tree(self, what: str) -> Node:
        source = Source(what, self.text)
        if found := _QUANTITY.fullmatch(self.text):
            return _quantity_tree(source, found)
        return parse(source, 0, len(self.text), keywords(self.constants))

    def _to_core(self, context: Context) -> _core.PairFunction:
        """Return the function of the core, where the use of the expression is known.

        Raises
        ------
        UnknownSymbolError, UnitError, EquationError
            Pointing at the place in the text.
        """
        return compile_tree(self._tree(context.what), self._quantities(), context, self.text)

    def at_distances(self, distances: npt.ArrayLike, unit: str = "mm") -> npt.NDArray[np.float64]:
        """Return the values of a function of the distance ``d`` alone.

        Parameters
        ----------
        distances
            Distances in `unit`.
        unit
            ``"mm"`` or ``"um"``.

        Returns
        -------
        npt.NDArray[np.float64]
            An array of the same shape.

        Raises
        ------
        ValueOutOfBoundsError
            When the expression depends on something else, or draws.
        UnknownSymbolError, UnitError, EquationError
            Pointing at the place in the text.
        """
        check_choice("unit of distances", unit, ("mm", "um"))
        array = number_array("distances", distances, "a number or an array of numbers")
        function = self._to_core(Context("the expression", lengths=unit))
        if not set(function.inputs) <= {"distance"} or function.draws:
            raise ValueOutOfBoundsError(
                "expression of the distance", f"'{self.text}'", "it must depend on the distance d only"
            )
        if not function.inputs:
            return np.full(array.shape, function.range({})[0])
        return function.evaluate({"distance": array.reshape(-1)}, [], "auto").reshape(array.shape)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.text, self.constants)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        return (self.text, self._constants) == (other.text, other._constants)

    def __hash__(self) -> int:
        return hash((self.text, self._constants))

    def __repr__(self) -> str:
        # As a user would write it.
        mapping = {name: value for name, value in self._constants if iskeyword(name)}
        named = [f"{name}={value!r}" for name, value in self._constants if name not in mapping]
        return f"Expression({', '.join([repr(self.text), *([repr(mapping)] if mapping else []), *named])})"


def keywords(constants: Mapping[str, object]) -> list[str]:
    """Return words of Python that are names in an expression with these constants."""
    return ["lambda", *(name for name in constants if iskeyword(name) and name != "lambda")]


def _checked_name(name: object) -> str:
    text = check_text("name of a constant", name)  # type: ignore[arg-type]
    place = Place(Source("the constants", text), 0, max(1, len(text)))
    if not (iskeyword(text) and text.islower() and text not in _OF_LANGUAGE):
        check_new_name(place, text, "a constant")
    if text in PAIR or text in NEURON:
        refuse(place, f"'{text}'", "it is a quantity of neurons or pairs", "choose another name")
    return text


def _checked_constant(name: str, value: object) -> float | str:
    if isinstance(value, str):
        read_quantity(f"constant {name}", value)
        return value
    given = number(f"constant {name} of an expression", value)
    if given - given != 0.0:
        raise ValueOutOfBoundsError(f"constant {name} of an expression", f"{given}", "it must be finite")
    return given


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
