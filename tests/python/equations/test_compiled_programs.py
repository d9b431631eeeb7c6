"""Compiled code does what the interpreter does, bit for bit."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equation_models
import ranvier as rv
from program_scenes import Description, Parameter, Propagator, Variable, iaf_psc_exp
from ranvier import _core
from ranvier.compiled import cache, llvm, steps
from ranvier.compiled.current_constants import constants_of_currents
from ranvier.compiled.emission import fixed_places, resets_of
from ranvier.equations.program import Instruction, Program
from step_calls import RandomPrograms, StepCall, aligned
from thorough_cases import only

SETS = _core.instruction_sets()
MODELS = (
    "IAF_PSC_EXP",
    "IAF_PSC_ALPHA",
    "IAF_PSC_DELTA",
    "IAF_COND_EXP",
    "AEIF_COND_EXP",
    "IZHIKEVICH",
    "HH_PSC_ALPHA",
)


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def same_bits(description: Any, instruction_set: str, seed: int) -> None:
    model = _core.ProgramModel(description)
    steps.compile_step(model, description, instruction_set)
    assert model.is_compiled(instruction_set)
    generator = np.random.default_rng(seed)
    for own in ("none", "currents", "any"):
        for current in (False, True):
            call = StepCall(description, generator, own=own, current=current)
            expected = call.run(model, instruction_set, compiled=False)
            found = call.run(model, instruction_set, compiled=True)
            for here, there in zip(found, expected, strict=True):
                assert np.array_equal(here, there)


some_random = given(st.integers(0, 2**32), st.sampled_from(SETS))


@settings(max_examples=10, deadline=None)
@some_random
def test_random_programs_have_the_same_bits(seed: int, instruction_set: str) -> None:
    same_bits(RandomPrograms(seed).neuron(), instruction_set, seed)


@pytest.mark.thorough
@settings(max_examples=20, deadline=None)
@some_random
def test_more_random_programs_have_the_same_bits(seed: int, instruction_set: str) -> None:
    same_bits(RandomPrograms(seed).neuron(), instruction_set, seed)


def counting(most: float) -> Description:
    """Return neurons with two loops, which count x and y up to c, and from there up to 2 c."""
    one = Instruction("constant", (), 1.0)
    body = Program(("number",) * 2, (Instruction("less", (0, 1)), one, Instruction("add", (0, 3))), (2, 4))
    both = Program(
        ("number",) * 3,
        (Instruction("less", (0, 2)), one, Instruction("add", (0, 4)), Instruction("subtract", (1, 4))),
        (3, 5, 6),
    )
    step = Program(
        ("number",) * 4 + ("truth",),
        (
            Instruction("loop", (0, 2), most, body, 1),  # 5: x, 6: in time
            Instruction("add", (2, 2)),  # 7
            Instruction("loop", (5, 1, 7), most, both, 2),  # 8: x, 9: y, 10: in time
            Instruction("add", (8, 3)),  # 11
            Instruction("less", (8, 7)),  # 12: it fires if a loop was too long
        ),
        (11, 9, 2, 12, 6, 10),
    )
    return Description(
        name="counting",
        variables=tuple(Variable(name, "") for name in "xyc"),
        prepare=Program(("number",), (), ()),
        step=step,
        observe=Program(("number",) * 3, (), ()),
    )


@pytest.mark.parametrize("instruction_set", SETS)
@pytest.mark.parametrize("lanes", [64, 256])
def test_each_neuron_makes_its_own_turns(instruction_set: str, lanes: int) -> None:
    """Few neurons take long, some of them for ever; the others have their turns beside them."""
    most = 50.0
    description: Any = counting(most)
    model = _core.ProgramModel(description)
    steps.compile_step(model, description, instruction_set)
    generator = np.random.default_rng(3)
    call = StepCall(description, generator, own="none", current=True)
    c = np.where(generator.random(lanes) < 0.8, 1.0, generator.integers(0, 60, lanes).astype(float))
    x, y, current = np.zeros(lanes), np.arange(float(lanes)), np.full(lanes, 0.5)
    call.lanes, call.valid, call.state, call.current = lanes, lanes - 5, [aligned(each) for each in (x, y, c)], current
    call.release, call.draws = aligned(np.zeros(lanes, np.int32)), []
    found = call.run(model, instruction_set, compiled=True)
    # The turn in which a loop finds its end counts.
    first = np.minimum(c, most)
    second = np.minimum(2.0 * c - first, most)
    fails = ~((c < most) & (2.0 * c - first < most))
    expected = [first + second + 0.5, y - second, c]
    for here, there in zip(found, expected, strict=False):
        assert np.array_equal(here.view(np.float64), there[: call.valid])
    assert np.array_equal(found[-2].astype(bool), (first + second < 2.0 * c)[: call.valid])
    assert np.array_equal(found[-1].astype(bool), fails[: call.valid])
    assert fails.any()
    assert not fails.all()


@pytest.mark.parametrize("instruction_set", SETS)
def test_a_program_written_by_hand_has_the_same_bits(instruction_set: str) -> None:
    for seed in range(5):
        same_bits(iaf_psc_exp(), instruction_set, seed)


def network(name: str) -> tuple[rv.Network, rv.Population]:
    net = rv.Network(seed=5)
    model = rv.neuron(**getattr(equation_models, name))
    drive = {"IZHIKEVICH": 10.0, "AEIF_COND_EXP": 900.0, "HH_PSC_ALPHA": 800.0}.get(name, 450.0)
    cells = net.create(model, 70, name="cells", I_e=rv.Uniform(0.8 * drive, 1.2 * drive))
    receptor = None if model.program.sign_chooses_receptor else model.receptors[0]
    net.connect(cells, cells, rv.FixedIndegree(5), weight=rv.Uniform(0.1, 1.0), delay=1.0, receptor=receptor)
    net.stimulate(cells[:30], rv.dc_generator(amplitude=0.2 * drive, start=5.0))
    net.record_spikes(cells)
    return net, cells


def outcome(net: rv.Network, cells: rv.Population, time: float, **options: Any) -> tuple[str, str, list[bytes]]:
    sim = rv.Simulation(net, threads=2, tuning=rv.Tuning(**options))
    sim.run(time)
    recorder = net.recorders[0]
    assert isinstance(recorder, rv.SpikeRecorder)
    spikes = sim.spikes(recorder)
    assert len(spikes) > 20
    model = cells.user_model
    assert model is not None
    return sim.programs, spikes.digest(), [sim.get(cells, [name])[name].tobytes() for name in model.variables]


@pytest.mark.parametrize("name", only(["IAF_PSC_EXP", "IAF_PSC_DELTA", "IZHIKEVICH"], MODELS))
def test_networks_of_equations_have_the_same_bits(name: str) -> None:
    net, cells = network(name)
    time = 20.0 if name == "HH_PSC_ALPHA" else 60.0
    programs, *expected = outcome(net, cells, time, programs="interpreted")
    assert programs == "interpreted"
    for instruction_set in SETS if name != "HH_PSC_ALPHA" else SETS[-1:]:
        programs, *found = outcome(net, cells, time, programs="compiled", instruction_set=instruction_set)
        assert programs == "compiled"
        assert found == expected


def test_subnormal_numbers_are_zeros_wherever_they_come_from() -> None:
    """Else what min and the like choose would depend on the instructions of the processor."""
    n = rv.neuron(
        "dz/dt = 0/second : 1\ndx/dt = 0/second : 1\ndy/dt = 0/second : 1\ndw/dt = 0/second : 1\n"
        "dc/dt = (min(I_stimulus, 0*pA) - c)/ms : pA",
        threshold="z < 1",
        reset="w = min(x, y); z = max(min(x, a), 3e-310)",
        parameters={"a": "0"},
    )
    numbers = [0.0, -0.0, 1e-310, -1e-310, 5e-324, -5e-324, 2.0**-1022, 1.0]
    x, y = (each.ravel() for each in np.meshgrid(numbers, numbers))
    net = rv.Network()
    cells = net.create(n, len(x), a=y[::-1].copy(), y=y)
    net.stimulate(cells, rv.dc_generator(amplitude=1e-310))
    net.record_spikes(cells)
    names = ["x", "y", "z", "w", "c"]
    found = []
    for programs in ("interpreted", "compiled"):
        for instruction_set in SETS:
            options: dict[str, Any] = {"programs": programs, "instruction_set": instruction_set}
            sim = rv.Simulation(net, tuning=rv.Tuning(**options))
            sim.set(cells, x=x)
            before = sim.get(cells, ["x", "y"])
            for name, values in (("x", x), ("y", y)):
                zero = np.abs(values) < 2.0**-1022
                expected = np.where(zero, np.copysign(0.0, values), values)
                assert before[name].tobytes() == expected.tobytes()
            sim.run(1.0)
            after = sim.get(cells, names)
            for each in after.values():
                assert not np.any((each != 0.0) & (np.abs(each) < 2.0**-1022))
            found.append([after[name].tobytes() for name in names])
    assert all(each == found[0] for each in found)


def test_noise_has_the_same_bits() -> None:
    net = rv.Network(seed=2)
    n = rv.neuron(
        "dv/dt = -v/tau + sigma*sqrt(2/tau)*xi : mV",
        threshold="v >= V_th and rand() < 0.5",
        reset="v = randn()*mV",
        parameters={"tau": "10 ms", "sigma": "4 mV", "V_th": "3 mV"},
    )
    cells = net.create(n, 100)
    net.record_spikes(cells)
    expected = outcome(net, cells, 50.0, programs="interpreted")[1:]
    for instruction_set in SETS:
        assert outcome(net, cells, 50.0, programs="compiled", instruction_set=instruction_set)[1:] == expected


def test_coloured_noise_is_not_called_exact() -> None:
    """Noise that acts on another variable is of first order; the other one has its exact values."""
    text = "dv/dt = (x - v)/tau : mV\ndx/dt = -x/tau + sigma*sqrt(2/tau)*xi : mV"
    parameters = {"tau": "10 ms", "sigma": "4 mV"}
    coloured = rv.neuron(text, threshold="v >= 9*mV", reset="v = 0*mV", parameters=parameters)
    assert coloured.method == "exponential_euler"
    white = rv.neuron(text.replace("x - v", "-v"), threshold="v >= 9*mV", reset="v = 0*mV", parameters=parameters)
    assert white.method == "exact"
    with pytest.raises(rv.errors.EquationError, match="acts on another variable"):
        rv.neuron(text, threshold="v >= 9*mV", reset="v = 0*mV", parameters=parameters, method="exact")


def test_a_pickled_network_and_a_saved_state_go_on_with_the_other_one(tmp_path: Path) -> None:
    net, cells = network("AEIF_COND_EXP")
    expected = outcome(net, cells, 60.0, programs="interpreted")[1:]
    half = rv.Simulation(net, threads=1, tuning=rv.Tuning(programs="compiled"))
    half.run(25.0)
    half.save(tmp_path / "state.h5")
    again = pickle.loads(pickle.dumps(net))
    later = rv.Simulation.load(again, tmp_path / "state.h5", tuning=rv.Tuning(programs="interpreted"))
    later.run(35.0)
    assert later.spikes(again.recorders[0]).digest() == expected[0]
    compiled = rv.Simulation.load(again, tmp_path / "state.h5", tuning=rv.Tuning(programs="compiled"))
    compiled.set(again.populations[0], tau_w=rv.Uniform(100.0, 200.0))
    later = rv.Simulation.load(again, tmp_path / "state.h5", tuning=rv.Tuning(programs="interpreted"))
    later.set(again.populations[0], tau_w=rv.Uniform(100.0, 200.0))
    for each in (compiled, later):
        each.run(35.0)
    assert compiled.spikes(again.recorders[0]).digest() == later.spikes(again.recorders[0]).digest()


def test_what_runs_is_told_and_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    net, _ = network("IAF_PSC_EXP")
    assert rv.Simulation(net, threads=1).programs == "compiled"
    plain = rv.Network()
    plain.create("iaf_psc_exp", 2)
    assert rv.Simulation(plain, threads=1).programs == "none"
    assert "LLVM" in steps.description()
    monkeypatch.setattr(steps, "_MOST_INSTRUCTIONS", 3)
    assert rv.Simulation(net, threads=1).programs == "interpreted"
    assert rv.Simulation(net, threads=1, tuning=rv.Tuning(programs="compiled")).programs == "compiled"
    monkeypatch.setattr(llvm, "unusable", lambda: "llvmlite is not installed: pip install ranvier[llvm]")
    assert rv.Simulation(net, threads=1).programs == "interpreted"
    with pytest.raises(rv.errors.StateError, match=r"not installed; pip install ranvier\[llvm\]"):
        rv.Simulation(net, threads=1, tuning=rv.Tuning(programs="compiled"))
    assert "pip install" in steps.description()


def test_code_is_kept_and_found_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made: list[int] = []
    compiled = llvm.object_code

    def counted(text: str, target: llvm.Target) -> bytes:
        made.append(1)
        return compiled(text, target)

    monkeypatch.setattr(llvm, "object_code", counted)
    description: Any = RandomPrograms(77).neuron()
    for expected in (1, 1):
        steps.compile_step(_core.ProgramModel(description), description, SETS[-1])
        steps._loaded.clear()
        assert len(made) == expected
    assert [path.parent.name for path in tmp_path.rglob("*") if path.is_file()] == ["programs"]
    monkeypatch.setattr(llvm, "processor", lambda: "another")
    steps.compile_step(_core.ProgramModel(description), description, SETS[-1])
    assert len(made) == 2
    assert cache.Cache().look() == ""


def test_llvm_is_loaded_only_for_equations() -> None:
    program = """
import sys
import ranvier as rv
net = rv.Network()
net.create("iaf_psc_exp", 3)
rv.Simulation(net, progress=False)
assert "llvmlite" not in sys.modules, "LLVM was loaded for nothing"
net.create("izhikevich", 3)
rv.Simulation(net, progress=False)
assert "llvmlite" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_constants_that_follow_from_currents_are_found_among_results_and_propagators() -> None:
    # The current makes one of two results, and an element of a matrix; the other matrix has none of it.
    step = Program(("number",) * 5 + ("truth",), (), (0, 5))
    made = Instruction("multiply", (0, 2)), Instruction("negate", (1,))
    description = Description(
        name="currents",
        parameters=(Parameter("I_e", "nA", 0.0), Parameter("tau", "ms", 1.0)),
        variables=(Variable("x", ""),),
        receptors=(),
        prepare=Program(("number",) * 3, made, (4, 3, 3)),
        constants=4,
        step=step,
        observe=Program(("number",) * 5, (), ()),
        propagators=(Propagator(1, (0,), ((0, 0, 2),)), Propagator(1, (2,), ((0, 0, 3),))),
    )
    found: Any = description
    assert constants_of_currents(found) == {1, 3}


def test_what_spikes_set_is_calculated_only_where_one_fires() -> None:
    """Not where the choice is used for something else, or is another one, or takes little time."""
    chain = [Instruction("multiply", (1, 1)), *(Instruction("add", (11 + i, 1)) for i in range(6))]
    made = (
        Instruction("less", (1, 0)),  # value 4: fires
        Instruction("add", (0, 1)),
        Instruction("multiply", (1, 1)),
        Instruction("select", (4, 6, 2)),
        Instruction("negate", (7,)),
        Instruction("select", (3, 5, 2)),
        Instruction("negate", (5,)),
        *chain,
        Instruction("select", (4, 17, 10)),
    )
    step = Program((*("number",) * 3, "truth"), made, (18, 7, 8, 9, 4))
    assert resets_of(step, 4) == {0: 10}
    assert resets_of(replace(step, results=(18, 18, 8, 9, 4)), 4) == {}
    short = replace(step, instructions=(*made[:-1], Instruction("select", (4, 16, 10))))
    assert resets_of(short, 4) == {}
    assert set(resets_of(rv.glif_psc().program.step, 7)) == {0, 1, 2, 3}


def test_what_is_the_same_for_all_neurons_is_calculated_once() -> None:
    """Not what follows from variables, is drawn, or goes through a loop."""
    body = Program(("number",), (Instruction("less", (0, 0)),), (1, 0))
    made = (
        Instruction("multiply", (1, 2)),  # value 3
        Instruction("add", (3, 0)),
        Instruction("add", (3, 1)),
        Instruction("uniform_draw", ()),
        Instruction("negate", (6,)),
        Instruction("loop", (3,), 2.0, body, 1),  # values 8 and 9
        Instruction("constant", (), 3.0),
    )
    step = Program(("number",) * 3, made, (4,))
    assert fixed_places(step, (1, 2)) == {0, 2}
    assert fixed_places(step, (2,)) == set()
