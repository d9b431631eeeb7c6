"""Assembles the programs of a model: the constants of a step, and the order of inputs and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ranvier.equations.builder import Builder, Operand, Value
from ranvier.equations.description import Description, Parameter
from ranvier.equations.program import (
    NeuronProgram,
    Program,
    ProgramDerived,
    ProgramParameter,
    ProgramVariable,
    Propagator,
)
from ranvier.equations.propagation import MatrixRequest
from ranvier.equations.scope import Stage
from ranvier.errors import EquationError

__all__ = ["Parts", "assembled", "program_parameters"]


@dataclass(frozen=True)
class Parts:
    """Parts of a program.

    The results of a step, and the reason of the failure if one of the last results does not hold; the observed values,
    which `observer` has made; and the refractory period, if there is one.
    """

    results: list[Operand]
    failure: str
    observer: Builder
    observed: list[tuple[ProgramDerived, Operand]]
    period: Operand | None
    takes_current: bool


def assembled(stage: Stage, requests: Sequence[MatrixRequest], parts: Parts) -> NeuronProgram:
    """Return the programs of a model."""
    description = stage.description
    pool = _Pool(stage)
    results = [stage.step.take(each) for each in parts.results]
    observed = [parts.observer.take(each) for _, each in parts.observed]
    live = stage.step.live([each.place for each in results])
    pool.use(stage.step, live)
    pool.use(parts.observer, parts.observer.live([each.place for each in observed]))
    # The first results are the constants of a step; elements of propagators are the constants after these.
    count = len(pool.places)
    asked = [(each, [place for place, value in each.outputs.items() if value.place in live]) for each in requests]
    asked = [(each, places) for each, places in asked if places]
    matrices = [_entries(pool, each) for each, _ in asked]
    period = -1 if parts.period is None else pool.add(parts.period)
    conditions = _conditions(stage, pool)
    propagators: list[Propagator] = []
    elements: list[int] = []
    for (request, places), entries in zip(asked, matrices, strict=True):
        outputs = tuple((*place, count + len(elements) + i) for i, place in enumerate(places))
        propagators.append(Propagator(len(request.elements), entries, outputs))
        elements += [request.outputs[place].place for place in places]
    return NeuronProgram(
        name=description.name,
        summary=description.summary,
        equations=description.text,
        reference=description.reference,
        parameters=program_parameters(description.parameters),
        variables=_variables(description),
        derived=tuple(about for about, _ in parts.observed),
        receptors=tuple(description.receptors),
        sign_chooses_receptor=description.sign_chooses_receptor,
        weight_unit=description.weight_unit.text,
        takes_current=parts.takes_current,
        prepare=pool.program(),
        conditions=conditions,
        propagators=tuple(propagators),
        constants=count + len(elements),
        refractory=period,
        step=_program(stage.step, results, pool.places[:count], description, elements, parts.takes_current),
        observe=_program(parts.observer, observed, pool.places[:count], description, elements, None),
        failure=parts.failure,
    )


class _Pool:
    """The results of calculations before a step, each once."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.places: list[int] = []

    def use(self, builder: Builder, live: set[int]) -> None:
        """Note the constants that a program takes."""
        for place in builder.taken(live):
            self._note(builder.origin(place)[0])

    def add(self, value: Operand) -> int:
        """Return the index of a result, which is noted if it was not."""
        return self._note(self.stage.prepare.take(value).place)

    def _note(self, place: int) -> int:
        if place not in self.places:
            self.places.append(place)
        return self.places.index(place)

    def program(self) -> Program:
        """Return the program that calculates them from the parameters and the length of a step."""
        stage = self.stage
        inputs = [stage.prepare.input(("parameter", name)).place for name in stage.description.parameters]
        return stage.prepare.finished([*inputs, stage.length.place], [stage.prepare.value(p) for p in self.places])


def _entries(pool: _Pool, request: MatrixRequest) -> tuple[int, ...]:
    return tuple(
        -1 if not isinstance(each, Value) and each == 0.0 else pool.add(each)
        for row in request.elements
        for each in row
    )


def _conditions(stage: Stage, pool: _Pool) -> tuple[tuple[int, str], ...]:
    made: dict[int, str] = {}
    for truth, reason in stage.conditions:
        if truth is False:
            raise EquationError("the equations", "", reason, "change them")
        if isinstance(truth, Value):
            made.setdefault(pool.add(truth), reason)
    return tuple(made.items())


def _program(
    builder: Builder,
    results: list[Value],
    constants: list[int],
    description: Description,
    elements: list[int],
    takes_current: bool | None,
) -> Program:
    """Return the program of a step, or, with None for `takes_current`, the program of observed values."""
    inputs = [builder.input(("variable", name)) for name in description.variables]
    inputs += [builder.constant_of_parent(place) for place in constants]
    if takes_current is None:
        inputs += [builder.input(("element", i)) for i in range(len(elements))]
    else:
        inputs += [builder.value(place) for place in elements]
        inputs += [builder.input(("receptor", name)) for name in description.receptors]
        inputs += [builder.input("current")] if takes_current else []
        inputs += [builder.input("refractory", "truth")]
        inputs += [builder.input("last refractory", "truth")] if description.after_refractory else []
    return builder.finished([each.place for each in inputs], results)


def program_parameters(parameters: Mapping[str, Parameter]) -> tuple[ProgramParameter, ...]:
    """Return parameters as programs have them."""
    return tuple(
        ProgramParameter(
            name,
            each.declared.unit.text,
            each.declared.default,
            each.declared.lower,
            each.declared.upper,
            each.declared.lower_open,
            each.declared.upper_open,
            each.declared.meaning,
        )
        for name, each in parameters.items()
    )


def _variables(description: Description) -> tuple[ProgramVariable, ...]:
    made = []
    for name, equation in description.variables.items():
        begin = description.initial[name]
        parameter, number = (begin, 0.0) if isinstance(begin, str) else ("", begin)
        made.append(ProgramVariable(name, equation.unit.text, equation.meaning, parameter, number))
    return tuple(made)
