"""An evaluator of programs over NumPy: the oracle that what carries out programs is compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import expm

from ranvier.equations.program import NeuronProgram, Program

Array = npt.NDArray[Any]


def _minimum(a: Array, b: Array) -> Array:
    return np.where(a < b, a, b)


def _maximum(a: Array, b: Array) -> Array:
    return np.where(a > b, a, b)


_OPERATIONS: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "negate": np.negative,
    "absolute": np.abs,
    "square_root": np.sqrt,
    "minimum": _minimum,
    "maximum": _maximum,
    "floor": np.floor,
    "exp": lambda x: np.exp(np.clip(x, -700.0, 700.0)),
    "expm1": lambda x: np.expm1(np.clip(x, -700.0, 700.0)),
    "over_expm1": lambda x: np.where(x == 0.0, 1.0, x / np.where(x == 0.0, 1.0, np.expm1(np.clip(x, -700.0, 700.0)))),
    "expm1_over": lambda x: np.where(x == 0.0, 1.0, np.expm1(np.clip(x, -700.0, 700.0)) / np.where(x == 0.0, 1.0, x)),
    "log": np.log,
    "log1p": np.log1p,
    "pow": np.power,
    "sine_of_cycles": lambda x: np.sin(2.0 * np.pi * (x - np.rint(x))),
    "less": np.less,
    "less_equal": np.less_equal,
    "equal": np.equal,
    "both": np.logical_and,
    "either": np.logical_or,
    "not": np.logical_not,
    "select": np.where,
}


def evaluate(program: Program, inputs: Sequence[Any], draws: Callable[[str, int], Array] | None = None) -> list[Array]:
    """Carry out a program; each input has one value for each lane. `draws` gives random numbers by kind and index."""
    lanes = np.broadcast_shapes(*(np.shape(each) for each in inputs)) if inputs else ()
    values: list[Array] = [np.broadcast_to(np.asarray(each), lanes) for each in inputs]
    with np.errstate(all="ignore"):
        for instruction in program.instructions:
            operands = [values[each] for each in instruction.operands]
            if instruction.op == "constant":
                values.append(np.full(lanes, instruction.number))
            elif instruction.body is not None:
                values += _loop(instruction.body, operands, instruction.count, int(instruction.number))
            elif draws is not None and instruction.op.endswith("draw"):
                values.append(draws(instruction.op, int(instruction.number)))
            else:
                values.append(np.asarray(_OPERATIONS[instruction.op](*operands)))
    return [values[each] for each in program.results]


def _loop(body: Program, operands: list[Array], count: int, most: int) -> list[Array]:
    carried, captured = operands[:count], operands[count:]
    goes_on = np.full(np.shape(carried[0]), True)
    for _ in range(most):
        more, *following = evaluate(body, [*carried, *captured])
        goes_on = goes_on & more
        if not goes_on.any():
            break
        carried = [np.where(goes_on, new, old) for new, old in zip(following, carried, strict=True)]
    return [*carried, ~goes_on]


class Neurons:
    """Neurons of a program that advance step by step."""

    def __init__(self, program: NeuronProgram, lanes: int, resolution: float, **values: Any) -> None:
        self.program = program
        self.lanes = lanes
        parameters = {
            each.name: np.broadcast_to(np.asarray(values.get(each.name, each.default), float), lanes)
            for each in program.parameters
        }
        begin = [values.get(v.name, parameters.get(v.initial_parameter, v.initial_value)) for v in program.variables]
        self.state = [np.broadcast_to(np.asarray(each, float), lanes) for each in begin]
        prepared = evaluate(program.prepare, [*parameters.values(), np.full(lanes, resolution)])
        for index, reason in program.conditions:
            assert np.all(prepared[index]), reason
        outputs = sum(len(each.outputs) for each in program.propagators)
        self.constants = prepared[: program.constants - outputs] + [np.empty(lanes)] * outputs
        for propagator in program.propagators:
            zero = np.zeros(lanes)
            entries = [zero if each < 0 else prepared[each] for each in propagator.entries]
            matrices = np.moveaxis(np.array(entries), 0, -1).reshape(lanes, propagator.n, propagator.n)
            solved = expm(matrices * resolution)
            for row, column, constant in propagator.outputs:
                self.constants[constant] = solved[:, row, column]
        period = np.zeros(lanes) if program.refractory < 0 else prepared[program.refractory]
        self.refractory_steps = np.rint(period / resolution).astype(int)
        self.left = np.zeros(lanes, int)
        self.draws: Callable[[str, int], Array] | None = None

    def step(self, weights: Sequence[Any] = (), current: Any = 0.0) -> Array:
        """Advance by a step; returns which neurons fire."""
        weights = [*weights, *(np.zeros(self.lanes) for _ in self.program.receptors[len(weights) :])]
        inputs = [*self.state, *self.constants, *(np.broadcast_to(np.asarray(w, float), self.lanes) for w in weights)]
        inputs += [np.broadcast_to(np.asarray(current, float), self.lanes)] if self.program.takes_current else []
        inputs += [self.left > 0, self.left == 1]
        results = evaluate(self.program.step, inputs[: len(self.program.step.inputs)], self.draws)
        count = len(self.program.variables)
        self.state, fires, ended = results[:count], results[count], results[count + 1 :]
        assert all(each.all() for each in ended), "a loop has not ended"
        self.left = np.where(fires, self.refractory_steps, np.maximum(self.left - 1, 0))
        return fires

    def __getitem__(self, name: str) -> Array:
        """Return a variable, or what is observed."""
        names = [each.name for each in self.program.variables]
        if name in names:
            return self.state[names.index(name)]
        derived = [each.name for each in self.program.derived]
        return evaluate(self.program.observe, [*self.state, *self.constants])[derived.index(name)]
