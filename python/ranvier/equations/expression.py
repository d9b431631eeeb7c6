"""Expressions of positions, distances and indices, given as texts."""

from __future__ import annotations

from collections.abc import Mapping
from keyword import iskeyword
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.formulas import Text
from ranvier.base.names import check_choice
from ranvier.base.numeric import number, number_array
from ranvier.base.texts import check_text, name_type
from ranvier.equations.formulas import compile_formula, quantities_of, read_text
from ranvier.equations.names import check_new_name
from ranvier.equations.places import Place, Source, refuse
from ranvier.equations.trees import names_in
from ranvier.equations.units import read_quantity
from ranvier.equations.value_functions import NEURON, PAIR, Context, check_names, check_tree
from ranvier.errors import UnknownNameError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["Expression"]

# Words of Python that expressions themselves have.
_OF_LANGUAGE = {"and", "or", "not", "if", "else"}


class Expression(Text):
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
        node = read_text(self, "the expression")
        check_names(node, quantities_of(self), None)
        check_tree(node, Place(node.place.source, 0, max(1, len(given))))
        used = names_in(node)
        for name in made:
            if name not in used:
                raise UnknownNameError(
                    "constant of an expression", f"'{name}'", f"'{given}' does not use it", "leave it out"
                )

    def _to_core(self, context: Context) -> _core.PairFunction:
        """Return the function of the core, where the use of the expression is known.

        Raises
        ------
        UnknownSymbolError, UnitError, EquationError
            Pointing at the place in the text.
        """
        return compile_formula(self, context)

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

    def __repr__(self) -> str:
        # As a user would write it.
        mapping = {name: value for name, value in self._constants if iskeyword(name)}
        named = [f"{name}={value!r}" for name, value in self._constants if name not in mapping]
        return f"Expression({', '.join([repr(self.text), *([repr(mapping)] if mapping else []), *named])})"


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
