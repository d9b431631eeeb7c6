"""Populations of neurons whose equations are programs: the same errors and spikes as those of built-in models."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from program_scenes import Described, changed, iaf_psc_exp
from ranvier import _core
from ranvier.equations.program import Instruction, Program


def network(model: Any) -> tuple[rv.Network, rv.Population]:
    net = rv.Network(seed=3)
    cells = net.create(model, 130, name="cells", V_m=rv.Uniform(-70.0, -56.0), I_e=rv.Uniform(300.0, 500.0), tau_m=9.0)
    net.connect(cells, cells, rv.FixedIndegree(10), weight=rv.Normal(10.0, 60.0), delay=rv.Uniform(0.3, 2.0))
    net.stimulate(cells, rv.poisson_generator(rate=2000.0), weight=40.0)
    net.stimulate(cells[:50], rv.dc_generator(amplitude=30.0))
    net.record_spikes(cells)
    return net, cells


def run(net: rv.Network, time: float = 60.0, **options: Any) -> rv.Simulation:
    sim = rv.Simulation(net, **options)
    sim.run(time)
    return sim


def digest(sim: rv.Simulation) -> str:
    recorder = sim.network.recorders[0]
    assert isinstance(recorder, rv.SpikeRecorder)
    spikes = sim.spikes(recorder)
    assert len(spikes) > 100
    return spikes.digest()


def test_they_fire_as_the_built_in_model_of_the_same_equations() -> None:
    own, cells = network(Described(iaf_psc_exp()))
    built_in, others = network("iaf_psc_exp")
    expected = run(built_in, threads=1)
    for threads in (1, 2, 3):
        found = run(own, threads=threads)
        assert digest(found) == digest(expected)
        potentials = found.get(cells, ["V_m"])["V_m"]
        assert np.allclose(potentials, expected.get(others, ["V_m"])["V_m"], rtol=1e-12, atol=0.0)


def test_they_are_set_while_a_simulation_runs_and_all_or_nothing_is() -> None:
    net, cells = network(Described(iaf_psc_exp()))
    built_in, others = network("iaf_psc_exp")
    digests = []
    for each, population in ((net, cells), (built_in, others)):
        sim = run(each, 20.0, threads=2)
        with pytest.raises(rv.errors.ValueOutOfBoundsError):
            sim.set(population, V_th=-80.0)
        sim.set(population[:40], V_th=-60.0, V_m=-61.0)
        sim.set(population, tau_m=rv.Uniform(8.0, 12.0))
        sim.run(30.0)
        digests.append(digest(sim))
    assert digests[0] == digests[1]


def test_they_go_on_from_a_saved_state(tmp_path: Path) -> None:
    net, _ = network(Described(iaf_psc_exp()))
    whole = run(net, threads=2)
    half = run(net, 30.0, threads=1)
    half.save(tmp_path / "state.h5")
    later = rv.Simulation.load(pickle.loads(pickle.dumps(net)), tmp_path / "state.h5", threads=3)
    later.run(30.0)
    assert digest(later) == digest(whole)
    other, _ = network(Described(changed(weight_unit="nA")))
    with pytest.raises(rv.errors.StateError, match="description of the model"):
        rv.Simulation.load(other, tmp_path / "state.h5")


def test_derived_variables_are_recorded_and_cannot_be_set() -> None:
    net, cells = network(Described(iaf_psc_exp()))
    recorder = net.record_state(cells[[0, 5, 129]], ["I_syn", "I_syn_ex", "I_syn_in"], interval=0.5)
    data = run(net, 20.0, threads=2).state(recorder)
    assert np.array_equal(data["I_syn"], data["I_syn_ex"] + data["I_syn_in"])
    assert data["I_syn"].any()
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="can only be recorded and read"):
        net.create(Described(iaf_psc_exp()), 2, I_syn=1.0)


def test_state_in_single_precision_is_refused() -> None:
    net, _ = network(Described(iaf_psc_exp()))
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="double precision"):
        rv.Simulation(net, precision="single")


def test_conditions_are_told_when_a_population_is_created() -> None:
    net = rv.Network()
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="V_reset must be below V_th"):
        net.create(Described(iaf_psc_exp()), 3, V_th=[-55.0, -71.0, -55.0])
    with pytest.raises(rv.errors.UnknownNameError, match="tau_m"):
        net.create(Described(iaf_psc_exp()), 3, tau_n=1.0)


LESS = Instruction("less", (0, 0))


@pytest.mark.parametrize(
    "change",
    [
        lambda: changed(step=Program(("number",), (), ())),
        lambda: changed(step=Program(("number",) * 16 + ("truth",), (Instruction("add", (0, 99)),), (0, 1, 2, 16))),
        lambda: changed(step=Program(("number",) * 16 + ("truth",), (Instruction("add", (0, -1)),), (0, 1, 2, 16))),
        lambda: changed(step=Program(("number",) * 16 + ("truth",), (Instruction("plus", (0, 1)),), (0, 1, 2, 16))),
        lambda: changed(step=None),
        lambda: changed(constants=-1),
        lambda: changed(constants=2**40),
        lambda: changed(refractory=-2),
        lambda: changed(variables=(("V_m", "mV"),)),
        lambda: changed(name=3),
    ],
)
def test_bad_descriptions_raise_errors(change: Callable[[], Any]) -> None:
    with pytest.raises((rv.errors.RanvierError, TypeError, AttributeError)):
        _core.ProgramModel(change())


def test_a_step_function_needs_an_address() -> None:
    model = _core.ProgramModel(iaf_psc_exp())
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="address"):
        model.use_compiled("baseline", 0, object())
    assert not model.is_compiled("baseline")
