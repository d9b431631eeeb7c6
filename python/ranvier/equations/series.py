"""Power series of variables within a step, for Taylor's method.

Coefficients follow from each other, order by order: each one of a derivative gives the next one of its variable, and
those of products, quotients and functions follow from those of their parts. So an exponential is calculated once in a
step and not in each stage of a method. R. E. Moore, Interval Analysis, Prentice Hall (1966); A. Jorba and M. Zou,
Experimental Mathematics 14, 99-117 (2005); for neurons R. D. Stewart and W. Bair, Journal of Computational Neuroscience
27, 115-133 (2009).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from ranvier.equations.builder import Operand
from ranvier.equations.methods import Begin, State
from ranvier.equations.scope import Scope, Stage
from ranvier.equations.trees import Node, walked

__all__ = ["Expanded", "Series", "series_of"]

_Monomial: TypeAlias = tuple[str, ...]


class Series:
    """The coefficients of a power series of time in steps; each is made when it is asked for."""

    def __init__(self, coefficient: Callable[[int], Operand]) -> None:
        self._coefficient = coefficient
        self._made: list[Operand] = []

    def __getitem__(self, order: int) -> Operand:
        while len(self._made) <= order:
            self._made.append(self._coefficient(len(self._made)))
        return self._made[order]


@dataclass(frozen=True)
class _Form:
    """A polynomial of at most second degree in expressions with series, by monomials, with constant factors."""

    terms: Mapping[_Monomial, Operand]

    @property
    def constant(self) -> Operand | None:
        """Its value if it is constant, otherwise None."""
        return None if any(self.terms) else self.terms.get((), 0.0)

    @property
    def degree(self) -> int:
        return max((len(each) for each in self.terms), default=0)


@dataclass(frozen=True)
class Expanded:
    """The series of variables, by name, and those of the arguments of all exponentials in their equations."""

    variables: Mapping[str, Series]
    exponents: tuple[Series, ...]


class _NotSmoothError(Exception):
    """An expression has no series, or one that is not implemented here."""


def series_of(
    stage: Stage,
    old: State,
    begin: Begin,
    moving: Iterable[str],
    late: Iterable[str],
    is_held: Operand,
    scale: Operand = 1.0,
) -> Expanded | None:
    """Return the series of the variables that change, in their units; None where their equations are not smooth.

    `old` is the state at the start of the series; those of the variables in `late` depend on more than the others do.
    If `is_held` is true, held variables do not change. The series are of time in `scale` steps, a power of two.
    """
    try:
        expansion = _Expansion(stage, old, begin, frozenset(moving), frozenset(late), is_held, scale)
        # Expressions without series are found here.
        return Expanded({name: expansion.series[name] for name in expansion.rates}, tuple(expansion.exponents))
    except _NotSmoothError:
        return None


class _Expansion:
    """Converts expressions to forms; an expression that is not a form becomes a new variable with a series."""

    def __init__(
        self,
        stage: Stage,
        old: State,
        begin: Begin,
        moving: frozenset[str],
        late: frozenset[str],
        is_held: Operand,
        scale: Operand,
    ) -> None:
        self.do = stage.do
        self.scale = scale
        self.stage = stage
        self.late = set(late)
        self.scope = Scope(stage, {name: value for name, value in old.items() if name not in moving}, begin.others)
        self.series: dict[str, Series] = {}
        self.exponents: list[Series] = []
        self.names: dict[str, _Form] = {}
        self._groups: dict[int, tuple[_Form, list[tuple[str, Series]]]] = {}
        for name in sorted(moving):
            held = is_held if name in begin.held else False
            self.series[name] = self._of_variable(name, old[name], held)
            self.names[name] = _Form({(name,): stage.scaled(1.0, stage.exponent(name))})
        self.rates = {name: self._rate(name) for name in sorted(moving)}

    def _of_variable(self, name: str, begin: Operand, is_held: Operand) -> Series:
        def coefficient(order: int) -> Operand:
            if order == 0:
                return begin
            length = self.do("divide", self.stage.length, float(order))
            made = self._scaled(self._coefficient(self.rates[name], order - 1, length), self.scale)
            return self.do("select", is_held, 0.0, made)

        return Series(coefficient)

    def _rate(self, variable: str) -> _Form:
        """Return the derivative of a variable in its unit over ms."""
        description = self.stage.description
        node = description.variables[variable].node
        if node is None:
            return _Form({})
        for name in description.needed(node):
            found = description.subexpressions[name].node
            if name not in self.names and found is not None:
                self.names[name] = walked(found, self)
        exponent = -self.stage.exponent(variable)
        return self._mapped(walked(node, self), lambda each: self.stage.scaled(each, exponent))

    # ---- forms -------------------------------------------------------------------------------------------------------

    def leaf(self, node: Node) -> _Form:
        """Return the value of a number or a name."""
        if node.kind == "draw":
            raise _NotSmoothError
        if node.kind == "name" and node.name in self.names:
            return self.names[node.name]
        return _Form({(): self.scope.instructions.leaf(node)})

    def operation(self, node: Node, parts: list[_Form]) -> _Form:
        """Return the outcome of an operation."""
        constants = [part.constant for part in parts]
        known = [each for each in constants if each is not None]
        if len(known) == len(parts):
            return _Form({(): self.scope.instructions.operation(node, known)})
        left, right = parts[0], parts[-1]
        match node.kind:
            case "negate":
                return self._times(left, -1.0)
            case "add":
                return self._added(left, right)
            case "subtract":
                return self._added(left, self._times(right, -1.0))
            case "multiply":
                return self._product(left, right)
            case "divide":
                return self._quotient(node, left, right)
            case "power":
                return self._power(node, left, right.constant)
            case "where" if constants[0] is not None:
                return self._atom(self._choice(constants[0], self._series(parts[1]), self._series(parts[2])))
            case "square_root":
                return self._atom(self._root(node, self._series(left)))
            case "log":
                return self._atom(self._logarithm(node, self._series(left)))
            case "exp":
                return self._atom(self._exponential(node, self._series(left)))
            case "expm1":
                return self._atom(self._less_one(self._series(left)))
            case "tanh":
                grown = self._atom(self._less_one(self._series(self._times(left, 2.0))))
                return self._atom(self._ratio(self._series(grown), self._series(self._added(grown, _Form({(): 2.0})))))
            case "sin" | "cos":
                return self._atom(self._wave(node, self._series(left)))
        raise _NotSmoothError

    def _times(self, form: _Form, factor: Operand) -> _Form:
        return self._mapped(form, lambda each: self.do("multiply", each, factor))

    def _mapped(self, form: _Form, change: Callable[[Operand], Operand]) -> _Form:
        return _Form({name: change(each) for name, each in form.terms.items()})

    def _added(self, left: _Form, right: _Form) -> _Form:
        made = dict(left.terms)
        for name, each in right.terms.items():
            made[name] = self.do("add", made[name], each) if name in made else each
        return _Form(made)

    def _product(self, left: _Form, right: _Form) -> _Form:
        for one, other in ((left, right), (right, left)):
            if one.constant is not None:
                return self._times(other, one.constant)
        if left.degree + right.degree > 2:
            left, right = (each if each.degree < 2 else self._atom(self._series(each)) for each in (left, right))
        if len(left.terms) > 1 and len(right.terms) > 1:
            # Multiplied out, sums could lose digits.
            left = self._atom(self._series(left))
        return _Form(
            {
                tuple(sorted((*one, *other))): self.do("multiply", factor, other_factor)
                for one, factor in left.terms.items()
                for other, other_factor in right.terms.items()
            }
        )

    def _quotient(self, node: Node, left: _Form, right: _Form) -> _Form:
        if right.constant is None:
            return self._atom(self._ratio(self._series(left), self._series(right)))
        divisor = self.scope.instructions.checked_divisor(node, right.constant)
        return self._mapped(left, lambda each: self.do("divide", each, divisor))

    def _power(self, node: Node, base: _Form, exponent: Operand | None) -> _Form:
        if not isinstance(exponent, float) or exponent != math.floor(exponent) or not 0.0 < abs(exponent) <= 64.0:
            raise _NotSmoothError
        made, square, left = None, base, int(abs(exponent))
        while left:
            if left & 1:
                made = square if made is None else self._product(made, square)
            left >>= 1
            if left:
                square = self._product(square, square)
        assert made is not None
        return made if exponent > 0.0 else self._quotient(node, _Form({(): 1.0}), made)

    def _atom(self, series: Series) -> _Form:
        name = f"#{len(self.series)}"
        self.series[name] = series
        self.late.add(name)
        return _Form({(name,): 1.0})

    # ---- series ------------------------------------------------------------------------------------------------------

    def _series(self, form: _Form) -> Series:
        if len(form.terms) == 1:
            ((names, factor),) = form.terms.items()
            if len(names) == 1 and factor == 1.0:
                return self.series[names[0]]
        return Series(lambda order: self._coefficient(form, order, 1.0))

    def _coefficient(self, form: _Form, order: int, scale: Operand) -> Operand:
        """Return a coefficient of a form times a constant. The latest known term is added last."""
        do = self.do
        made: Operand = 0.0
        if order == 0 and () in form.terms:
            made = do("multiply", form.terms[()], scale)
        groups = self._grouped(form)
        grouped = {name for name, _ in groups}
        for names, factor in form.terms.items():
            if len(names) == 1 and names[0] not in grouped:
                made = do("add", made, self._scaled(self.series[names[0]][order], do("multiply", factor, scale)))
        products: Operand = 0.0
        for name, factors in groups:
            for each in self._convolved(factors, self.series[name], order):
                products = do("add", products, each)
        return do("add", made, self._scaled(products, scale))

    def _grouped(self, form: _Form) -> list[tuple[str, Series]]:
        """Return the terms of second degree as factors, which have a series, of something that is known late."""
        if id(form) in self._groups:
            return self._groups[id(form)][1]
        factors: dict[str, dict[_Monomial, Operand]] = {}
        for names, factor in form.terms.items():
            if len(names) == 2:
                first, second = names if names[1] in self.late else names[::-1]
                factors.setdefault(second, {})[(first,)] = factor
        for name, terms in factors.items():
            if (name,) in form.terms:
                terms[()] = form.terms[(name,)]
        made = [(name, self._series(_Form(terms))) for name, terms in factors.items()]
        self._groups[id(form)] = (form, made)
        return made

    def _scaled(self, value: Operand, factor: Operand) -> Operand:
        """Return a product, 0 where one of the factors is."""
        for each in (value, factor):
            if isinstance(each, float) and each == 0.0:
                return 0.0
        return self.do("multiply", value, factor)

    def _convolved(self, left: Series, right: Series, order: int) -> Iterator[Operand]:
        """Yield the products whose sum is a coefficient of a product."""
        if left is right:
            # Each product of two different coefficients is there twice.
            for i in [*range(1, (order + 1) // 2), *([0] if order else [])]:
                yield self._scaled(self._scaled(left[order - i], left[i]), 2.0)
            if order % 2 == 0:
                yield self._scaled(left[order // 2], left[order // 2])
            return
        for i in [*range(1, order), *([order] if order else []), 0]:
            yield self._scaled(left[i], right[order - i])

    def _ratio(self, dividend: Series, divisor: Series) -> Series:
        do = self.do

        def coefficient(order: int) -> Operand:
            if order == 0:
                return do("divide", dividend[0], divisor[0])
            rest = dividend[order]
            for i in range(order):
                rest = do("subtract", rest, self._scaled(made[i], divisor[order - i]))
            return do("multiply", rest, do("divide", 1.0, divisor[0]))

        made = Series(coefficient)
        return made

    def _weighted(self, inner: Series, outer: Series, order: int) -> Operand:
        """Return a coefficient of the series whose derivative is d(inner)/dt times `outer`."""
        made: Operand = 0.0
        # The last product needs the latest coefficient.
        for i in [*range(2, order + 1), 1]:
            made = self.do("add", made, self._scaled(self._scaled(inner[i], float(i)), outer[order - i]))
        return self._scaled(made, 1.0 / order)

    def _exponential(self, node: Node, exponent: Series) -> Series:
        self.exponents.append(exponent)

        def coefficient(order: int) -> Operand:
            if order == 0:
                return self.scope.instructions.operation(node, [exponent[0]])
            return self._weighted(exponent, made, order)

        made = Series(coefficient)
        return made

    def _less_one(self, exponent: Series) -> Series:
        self.exponents.append(exponent)

        def coefficient(order: int) -> Operand:
            return self._weighted(exponent, whole, order) if order else self.do("add", made[0], 1.0)

        whole = Series(coefficient)
        made = Series(lambda order: whole[order] if order else self.do("expm1", exponent[0]))
        return made

    def _wave(self, node: Node, phase: Series) -> Series:
        def coefficient_of(kind: str) -> Callable[[int], Operand]:
            def coefficient(order: int) -> Operand:
                if order == 0:
                    return self.scope.instructions.operation(replace(node, kind=kind), [phase[0]])
                slope = self._weighted(phase, waves["cos" if kind == "sin" else "sin"], order)
                return slope if kind == "sin" else self.do("negate", slope)

            return coefficient

        waves = {kind: Series(coefficient_of(kind)) for kind in ("sin", "cos")}
        return waves[node.kind]

    def _logarithm(self, node: Node, argument: Series) -> Series:
        do = self.do

        def coefficient(order: int) -> Operand:
            if order == 0:
                return self.scope.instructions.operation(node, [argument[0]])
            rest = argument[order]
            for i in range(1, order):
                factor = self._scaled(made[i], i / order)
                rest = do("subtract", rest, self._scaled(factor, argument[order - i]))
            return do("multiply", rest, do("divide", 1.0, argument[0]))

        made = Series(coefficient)
        return made

    def _root(self, node: Node, radicand: Series) -> Series:
        do = self.do

        def coefficient(order: int) -> Operand:
            if order == 0:
                return self.scope.instructions.operation(node, [radicand[0]])
            rest = radicand[order]
            for i in range(1, order):
                rest = do("subtract", rest, self._scaled(made[i], made[order - i]))
            return do("multiply", rest, do("divide", 0.5, made[0]))

        made = Series(coefficient)
        return made

    def _choice(self, truth: Operand, one: Series, other: Series) -> Series:
        return Series(lambda order: self.do("select", truth, one[order], other[order]))
