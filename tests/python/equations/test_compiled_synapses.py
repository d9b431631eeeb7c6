"""Compiled code of synapses does what the interpreter does, bit for bit."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranvier as rv
from ranvier import _core
from ranvier.compiled import llvm, steps
from ranvier.equations.program import Instruction, Program, SynapseProgram
from ranvier.equations.synapse import EquationSynapse
from step_calls import RandomPrograms
from synapse_equations import WRITTEN, as_equations
from thorough_cases import one_of_each, only

SETS = _core.instruction_sets()

pytestmark = pytest.mark.skipif(bool(llvm.unusable()), reason=llvm.unusable())


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def random_program(seed: int) -> SynapseProgram:
    """Return the programs of a model that reads all traces, with random ones in place of its events."""
    model = steps.rule_of(as_equations("stdp_triplet"))
    assert model is not None
    chance = random.Random(seed)

    def event(count: int) -> Program:
        kinds = list(model.presynaptic.inputs)
        # All that there is in a step, but for draws and loops, which events have none of.
        made: list[Instruction] = [Instruction("less", (0, 1))]
        kinds.append("truth")
        programs = RandomPrograms(chance.randrange(2**32))
        while len(made) < count:
            instruction, kind = programs.instruction(kinds, depth=1)
            made.append(instruction)
            kinds.append(kind)
        numbers = [i for i, kind in enumerate(kinds) if kind == "number"]
        return Program(model.presynaptic.inputs, tuple(made), (chance.choice(numbers[-5:]),))

    return replace(model, presynaptic=event(chance.randint(1, 30)), postsynaptic=event(chance.randint(1, 30)))


def same_bits(program: SynapseProgram, instruction_set: str, seed: int) -> None:
    model = _core.ProgramSynapse(program)
    generator = np.random.default_rng(seed)
    hostile = [0.0, -0.0, 1e-30, -1e-30, 1e-42, 5e-324, 1.0, -2.5, 3e38, -1e300, 700.0, np.inf, -np.inf, np.nan]

    def numbers(count: int) -> list[float]:
        made = generator.normal(0.0, 3.0, count)
        return list(np.where(generator.random(count) < 0.2, generator.choice(hostile, count), made))

    for double_weights in (False, True):
        some = sorted(
            int(each) for each in generator.choice(len(program.parameters) - 1, int(generator.integers(0, 4)))
        )
        own = model.read_by_events(sorted(set(some)))
        steps.compile_program(model, program, instruction_set, double_weights, own)
        assert model.is_compiled(instruction_set, double_weights, own)
        for is_presynaptic in (False, True):
            parameters = numbers(len(program.parameters))
            count = int(generator.integers(1, 70))
            arrays = [numbers(count) for _ in range(3 + len(own))]
            ways = (instruction_set, double_weights, own, is_presynaptic, parameters, arrays)
            found, expected = model.change_once(*ways, True), model.change_once(*ways, False)
            np.testing.assert_array_equal(bits(found), bits(expected))


def bits(values: list[float]) -> npt.NDArray[np.int64]:
    """Return the bits of numbers; all that are none have the same."""
    return np.where(np.isnan(values), np.nan, values).view(np.int64)


some_random = given(st.integers(0, 2**32), st.sampled_from(SETS))


@settings(max_examples=15, deadline=None)
@some_random
def test_random_programs_have_the_same_bits(seed: int, instruction_set: str) -> None:
    same_bits(random_program(seed), instruction_set, seed)


@pytest.mark.thorough
@settings(max_examples=30, deadline=None)
@some_random
def test_more_random_programs_have_the_same_bits(seed: int, instruction_set: str) -> None:
    same_bits(random_program(seed), instruction_set, seed)


@pytest.mark.parametrize("seeds", only([range(3)], [range(3), range(3, 5)]), ids=str)
@pytest.mark.parametrize(("name", "instruction_set"), one_of_each(WRITTEN, SETS))
def test_models_have_the_same_bits(name: str, instruction_set: str, seeds: range) -> None:
    program = steps.rule_of(as_equations(name))
    assert program is not None
    for seed in seeds:
        same_bits(program, instruction_set, seed)


def test_an_event_may_leave_the_weight_or_set_it() -> None:
    program = random_program(0)
    inputs = program.presynaptic.inputs
    one = Program(inputs, (Instruction("constant", (), 1.0),), (len(inputs),))
    for result in range(len(inputs)):
        same_bits(replace(program, presynaptic=Program(inputs, (), (result,)), postsynaptic=one), SETS[-1], 1)


def learning(synapse: EquationSynapse, programs: Any, **options: Any) -> tuple[str, str, npt.NDArray[np.float64]]:
    """Return what carried out the programs of a network that learns, the digest of its spikes, and its weights."""
    net = rv.Network(seed=3)
    cells = net.create("iaf_psc_exp", 60, I_e=rv.Uniform(350.0, 500.0))
    sign = 1.0 if synapse.weight_range[1] > 0.0 else -1.0
    weight = rv.Uniform(*sorted((10.0 * sign, 60.0 * sign)))
    plastic = net.connect(cells, cells, rv.FixedIndegree(20), weight=weight, delay=1.5, synapse=synapse)
    recorder = net.record_spikes(cells)
    sim = rv.Simulation(net, progress=False, tuning=rv.Tuning(programs=programs), **options)
    sim.run(300.0)
    return sim.programs, sim.spikes(recorder).digest(), np.asarray(sim.connections(projection=plastic).weights)


@pytest.mark.parametrize("options", [{"threads": 1}, {"threads": 2, "weight_precision": "double"}], ids=str)
@pytest.mark.parametrize("name", WRITTEN)
def test_networks_learn_the_same(name: str, options: dict[str, Any]) -> None:
    synapse = as_equations(name)
    how, digest, weights = learning(synapse, "compiled", **options)
    other, expected, expected_weights = learning(synapse, "interpreted", **options)
    assert (how, other) == ("compiled", "interpreted")
    assert digest == expected
    np.testing.assert_array_equal(weights, expected_weights)
    assert np.unique(weights).size > 500
