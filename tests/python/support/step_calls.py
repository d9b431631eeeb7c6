"""Calls of step functions on arrays, and random programs for them."""

from __future__ import annotations

import ctypes
import random
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from program_scenes import Description, Parameter, Variable
from ranvier import _core
from ranvier.compiled.current_constants import constants_of_currents
from ranvier.equations.program import Instruction, Program

Array = npt.NDArray[Any]

BLOCK = 64
"""Lanes are a multiple of this; the interpreter takes so many in a call."""
WIDEST = 16
"""Elements of a vector."""
DRAWS = 3
_NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.7, -65.0, 1e-3, 1e-9, 700.5, -710.0, 1e200, -1e300, 1e-300, 1e15, 2.0**52]
# No subnormal numbers: what steps make of others never is one, and the processor may take them as they are or as 0.
_HOSTILE = [np.inf, -np.inf, np.nan, 2.0**-1022, -(2.0**-1021), 1.7976931348623157e308]


def aligned(values: Array) -> Array:
    """Return a copy that begins at a multiple of 64 bytes."""
    room = np.empty(values.nbytes + 64, np.uint8)
    begin = -room.ctypes.data % 64
    made = room[begin : begin + values.nbytes].view(values.dtype).reshape(values.shape)
    made[...] = values
    return made


class StepCall:
    """What a step function reads and writes (core/program/step_function.hpp)."""

    def __init__(self, description: Any, generator: np.random.Generator, *, own: str, current: bool) -> None:
        lanes = BLOCK * int(generator.integers(1, 4))

        def numbers(*shape: int) -> Array:
            made = generator.choice(_NUMBERS, shape) * generator.choice([1.0, 0.7, 1.3], shape)
            hostile = generator.random(shape) < 0.04
            return np.where(hostile, generator.choice(_HOSTILE, shape), made)

        self.lanes = lanes
        self.state = [aligned(numbers(lanes)) for _ in description.variables]
        # Some have an element for each lane, all others are vectors of equal ones.
        of_currents = constants_of_currents(description)
        may_differ = [own == "any" or (own == "currents" and i in of_currents) for i in range(description.constants)]
        self.own = [may and bool(generator.random() < 0.5) for may in may_differ]
        self.constants = [aligned(numbers(lanes) if each else np.repeat(numbers(1), WIDEST)) for each in self.own]
        self.masks = np.array([-1 if each else 0 for each in self.own] or [0], np.int64)
        self.inputs = [aligned(np.where(generator.random(lanes) < 0.5, -0.0, 3.5)) for _ in description.receptors]
        self.current = aligned(numbers(lanes)) if current else None
        self.release = aligned(generator.integers(0, 9, lanes).astype(np.int32))
        self.draws = [aligned(generator.integers(0, 2**63, lanes, dtype=np.uint64) * 2) for _ in range(DRAWS)]
        self.valid = int(generator.integers(1, lanes + 1))
        self.per_lane = own != "none"

    def run(self, model: _core.ProgramModel, instruction_set: str, *, compiled: bool) -> list[Array]:
        """Carry out a step on copies; return what it has made of neurons. All numbers that are none are one."""
        copied: dict[str, list[Array]] = {
            name: [aligned(each) for each in getattr(self, name)] for name in ("state", "constants", "inputs", "draws")
        }
        told = [np.zeros(self.lanes, np.uint8), np.zeros(self.lanes, np.uint8)]
        size = self.lanes if compiled else BLOCK
        for begin in range(0, self.valid, size):
            bits = [np.zeros(size // 8, np.uint8), np.zeros(size // 8, np.uint8)]
            flags = self._call(model, instruction_set, compiled, copied, bits, range(begin, begin + size))
            for flag, own, all_bits in zip((1, 2), bits, told, strict=True):
                if flags & flag:
                    all_bits[begin : begin + size] = np.unpackbits(own, bitorder="little")
        made = [self._bits(each) for each in (*copied["state"], *copied["inputs"])]
        return [*made, *(each[: self.valid] for each in told)]

    def _call(
        self,
        model: _core.ProgramModel,
        instruction_set: str,
        compiled: bool,
        copied: dict[str, list[Array]],
        bits: list[Array],
        lanes: range,
    ) -> int:
        """Advance some lanes; return what the step function does."""

        def address(values: Array) -> int:
            return int(values.ctypes.data) + (0 if len(values) < BLOCK else lanes.start * values.itemsize)

        pointers = {name: (ctypes.c_void_p * max(1, len(own)))() for name, own in copied.items()}
        for name, own in copied.items():
            for i, each in enumerate(own):
                pointers[name][i] = address(each)
        words = (ctypes.c_uint64 * 14)(
            len(lanes),
            min(self.valid - lanes.start, len(lanes)),
            ctypes.addressof(pointers["state"]),
            ctypes.addressof(pointers["constants"]),
            int(self.per_lane),
            ctypes.addressof(pointers["inputs"]),
            0 if self.current is None else address(self.current),
            address(self.release),
            4,
            ctypes.addressof(pointers["draws"]),
            bits[0].ctypes.data,
            bits[1].ctypes.data,
            0,
            self.masks.ctypes.data,
        )
        return model.step_once(instruction_set, ctypes.addressof(words), compiled)

    def _bits(self, values: Array) -> Array:
        one = np.where(np.isnan(values), np.nan, values)
        return one[: self.valid].view(np.int64)


class RandomPrograms:
    """Draws neurons whose steps are random programs."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def neuron(self) -> Description:
        """Return a neuron with some variables, constants and receptors."""
        variables, constants, receptors = (
            self.chance.randint(1, 4),
            self.chance.randint(0, 4),
            self.chance.randint(0, 2),
        )
        inputs = ("number",) * (variables + constants + receptors + 1) + ("truth",)
        instructions, kinds = self._instructions(list(inputs), self.chance.randint(1, 40), depth=0)
        ended = [i for i, kind in enumerate(kinds) if kind == "ended"]
        fires = self.chance.choice([i for i, kind in enumerate(kinds) if kind == "truth"])
        # The last values depend on the most.
        numbers = [i for i, kind in enumerate(kinds) if kind == "number"]
        chosen = [self.chance.choice(numbers[-variables - 3 :]) for _ in range(variables)]
        step = Program(inputs, tuple(instructions), (*chosen, fires, *ended))
        return Description(
            name="random",
            parameters=tuple(Parameter(f"p{i}", self.chance.choice(("", "pA")), 0.0) for i in range(constants)),
            variables=tuple(Variable(f"x{i}", "") for i in range(variables)),
            receptors=tuple(f"r{i}" for i in range(receptors)),
            prepare=Program(("number",) * (constants + 1), (), tuple(range(constants))),
            constants=constants,
            step=step,
            observe=Program(("number",) * (variables + constants), (), ()),
        )

    def _instructions(self, kinds: list[str], count: int, depth: int) -> tuple[list[Instruction], list[str]]:
        made: list[Instruction] = []
        for _ in range(count):
            if depth < 2 and self.chance.random() < 0.06:
                loop, carried = self._loop(kinds, depth)
                made.append(loop)
                kinds += [*carried, "ended" if depth == 0 else "truth"]
                continue
            instruction, kind = self.instruction(kinds, depth)
            made.append(instruction)
            kinds.append(kind)
        return made, kinds

    def _one(self, kinds: list[str], kind: str) -> int:
        known = [i for i, each in enumerate(kinds) if each == kind]
        return self.chance.choice(known[-8:] if self.chance.random() < 0.7 else known)

    def instruction(self, kinds: list[str], depth: int) -> tuple[Instruction, str]:
        """Return an instruction that reads values of these types, and the type of its own."""
        unary = [
            "negate",
            "absolute",
            "square_root",
            "floor",
            "exp",
            "expm1",
            "expm1_over",
            "over_expm1",
            "log",
            "log1p",
        ]
        binary = ["add", "subtract", "multiply", "divide", "minimum", "maximum", "pow"]

        def number() -> int:
            return self._one(kinds, "number")

        def truth() -> int:
            return self._one(kinds, "truth")

        drawn = self.chance.random()
        if drawn < 0.35:
            return Instruction(self.chance.choice([*unary, "sine_of_cycles"]), (number(),)), "number"
        if drawn < 0.65:
            return Instruction(self.chance.choice(binary), (number(), number())), "number"
        if drawn < 0.72:
            return Instruction("constant", (), self.chance.choice(_NUMBERS)), "number"
        if drawn < 0.8:
            return Instruction("select", (truth(), number(), number())), "number"
        if drawn < 0.85 and depth == 0:
            kind = self.chance.choice(["uniform_draw", "normal_draw"])
            return Instruction(kind, (), float(self.chance.randrange(DRAWS))), "number"
        if drawn < 0.94:
            return Instruction(self.chance.choice(["less", "less_equal", "equal"]), (number(), number())), "truth"
        if drawn < 0.97:
            return Instruction("not", (truth(),)), "truth"
        return Instruction(self.chance.choice(["both", "either"]), (truth(), truth())), "truth"

    def _loop(self, kinds: list[str], depth: int) -> tuple[Instruction, list[str]]:
        carried = [self.chance.choice(["number", "number", "truth"]) for _ in range(self.chance.randint(1, 3))]
        captured = [self.chance.choice(["number", "truth"]) for _ in range(self.chance.randint(0, 3))]
        # Something of each type can be operated on.
        inputs = [*carried, *captured, "number", "truth"]
        instructions, inside = self._instructions(list(inputs), self.chance.randint(1, 10), depth + 1)
        results = [self._one(inside, "truth"), *(self._one(inside, kind) for kind in carried)]
        body = Program(tuple(inputs), tuple(instructions), tuple(results))
        if self.chance.random() < 0.5:
            body = self._counted(body, len(carried))
            carried = ["number", *carried]
        operands = tuple(self._one(kinds, kind) for kind in body.inputs)
        most = self.chance.choice([1, 2, 9, 70])
        return Instruction("loop", operands, float(most), body, len(carried)), carried

    def _counted(self, body: Program, carried: int) -> Program:
        """Return a body that goes on until a further carried number has come to a captured one, whatever it is."""
        inputs = ("number", *body.inputs[:carried], "number", *body.inputs[carried:])
        begin = len(inputs) + 2

        def moved(value: int) -> int:
            if value < len(body.inputs):
                return value + (1 if value < carried else 2)
            return value - len(body.inputs) + begin

        instructions = [
            Instruction("less", (0, carried + 1)),
            Instruction("constant", (), 1.0),
            *(replace(each, operands=tuple(map(moved, each.operands))) for each in body.instructions),
        ]
        values = begin + sum(1 if each.body is None else each.count + 1 for each in body.instructions)
        instructions.append(Instruction("add", (0, begin - 1)))
        return Program(inputs, tuple(instructions), (begin - 2, values, *(moved(each) for each in body.results[1:])))
