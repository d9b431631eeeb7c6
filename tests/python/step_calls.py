"""Calls of step functions on arrays, and random programs for them."""

from __future__ import annotations

import ctypes
import random
from typing import Any

import numpy as np
import numpy.typing as npt

from program_scenes import Description, Instruction, Parameter, Program, Variable
from ranvier import _core

Array = npt.NDArray[Any]

LANES = 64
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

    def __init__(self, description: Any, generator: np.random.Generator, *, per_lane: bool, current: bool) -> None:
        def numbers(*shape: int) -> Array:
            made = generator.choice(_NUMBERS, shape) * generator.choice([1.0, 0.7, 1.3], shape)
            hostile = generator.random(shape) < 0.04
            return np.where(hostile, generator.choice(_HOSTILE, shape), made)

        lanes = LANES if per_lane else 1
        self.state = [aligned(numbers(LANES)) for _ in description.variables]
        self.constants = [aligned(numbers(lanes)) for _ in range(description.constants)]
        self.inputs = [aligned(np.where(generator.random(LANES) < 0.5, -0.0, 3.5)) for _ in description.receptors]
        self.current = aligned(numbers(LANES)) if current else None
        self.release = aligned(generator.integers(0, 9, LANES).astype(np.int32))
        self.draws = [aligned(generator.integers(0, 2**63, LANES, dtype=np.uint64) * 2) for _ in range(DRAWS)]
        self.fires, self.failures = np.zeros(LANES // 8, np.uint8), np.zeros(LANES // 8, np.uint8)
        self.valid = int(generator.integers(1, LANES + 1))
        self.per_lane = per_lane

    def run(self, model: _core.ProgramModel, instruction_set: str, *, compiled: bool) -> list[Array]:
        """Carry out a step on copies; return what it has made of neurons. All numbers that are none are one."""
        copied: dict[str, list[Array]] = {
            name: [aligned(each) for each in getattr(self, name)] for name in ("state", "constants", "inputs", "draws")
        }
        pointers = {name: (ctypes.c_void_p * max(1, len(own)))() for name, own in copied.items()}
        for name, own in copied.items():
            for i, each in enumerate(own):
                pointers[name][i] = each.ctypes.data
        fires, failures = self.fires.copy(), self.failures.copy()
        words = (ctypes.c_uint64 * 13)(
            LANES,
            self.valid,
            ctypes.addressof(pointers["state"]),
            ctypes.addressof(pointers["constants"]),
            int(self.per_lane),
            ctypes.addressof(pointers["inputs"]),
            0 if self.current is None else self.current.ctypes.data,
            self.release.ctypes.data,
            4,
            ctypes.addressof(pointers["draws"]),
            fires.ctypes.data,
            failures.ctypes.data,
            0,
        )
        flags = model.step_once(instruction_set, ctypes.addressof(words), compiled)
        made = [self._bits(each) for each in (*copied["state"], *copied["inputs"])]
        for flag, bits in ((1, fires), (2, failures)):
            told = np.unpackbits(bits, bitorder="little") if flags & flag else np.zeros(LANES, np.uint8)
            made.append(told[: self.valid])
        return made

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
            parameters=tuple(Parameter(f"p{i}", "", 0.0) for i in range(constants)),
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
            instruction, kind = self._instruction(kinds, depth)
            made.append(instruction)
            kinds.append(kind)
        return made, kinds

    def _one(self, kinds: list[str], kind: str) -> int:
        known = [i for i, each in enumerate(kinds) if each == kind]
        return self.chance.choice(known[-8:] if self.chance.random() < 0.7 else known)

    def _instruction(self, kinds: list[str], depth: int) -> tuple[Instruction, str]:
        unary = ["negate", "absolute", "square_root", "floor", "exp", "expm1", "expm1_over", "log", "log1p"]
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
        operands = tuple(self._one(kinds, kind) for kind in inputs)
        return Instruction("loop", operands, float(self.chance.randint(1, 9)), body, len(carried)), carried
