"""Each model of equations that comes with Ranvier has the same bits, whoever carries it out, and goes on when saved."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from library_scenes import DRIVES, network
from ranvier import _core
from ranvier.equations.neurons import NAMES
from thorough_cases import every

TIME = 40.0  # ms
SETS = _core.instruction_sets()


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def test_each_model_has_a_drive() -> None:
    assert set(DRIVES) == set(NAMES)


def outcome(sim: rv.Simulation) -> tuple[str, list[bytes]]:
    (recorder,) = sim.network.recorders
    assert isinstance(recorder, rv.SpikeRecorder)
    spikes = sim.spikes(recorder)
    assert len(spikes) > 10
    (cells,) = sim.network.populations
    assert cells.user_model is not None
    names = list(cells.user_model.variables)
    return spikes.digest(), [sim.get(cells, names)[name].tobytes() for name in names]


def tuned(**options: Any) -> rv.Tuning:
    return rv.Tuning(**options)


def same_bits(name: str, ways: Iterable[tuple[str, str]]) -> None:
    net, _ = network(name)
    found = []
    for programs, instruction_set in ways:
        tuning = tuned(programs=programs, instruction_set=instruction_set)
        sim = rv.Simulation(net, threads=1, tuning=tuning, progress=False)
        sim.run(TIME)
        assert sim.programs == programs
        found.append(outcome(sim))
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("name", every(9, NAMES))
def test_interpreter_and_compiled_code_have_the_same_bits(name: str) -> None:
    """By one of the instruction sets, a sixth of the models: `make validate` has all of them."""
    number = NAMES.index(name)
    same_bits(name, [("interpreted", SETS[-1]), ("compiled", SETS[number % len(SETS)])])


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_all_instruction_sets_have_the_same_bits(name: str) -> None:
    same_bits(name, itertools.product(("interpreted", "compiled"), SETS))


@pytest.mark.parametrize("name", every(9, NAMES))
def test_a_saved_simulation_goes_on(name: str, tmp_path: Path) -> None:
    net, _ = network(name)
    whole = rv.Simulation(net, threads=1, progress=False)
    whole.run(TIME)
    half = rv.Simulation(net, threads=1, progress=False)
    half.run(0.4 * TIME)
    half.save(tmp_path / "state.h5")
    again = pickle.loads(pickle.dumps(net))
    later = rv.Simulation.load(again, tmp_path / "state.h5", threads=2, progress=False)
    later.run(0.6 * TIME)
    assert outcome(later) == outcome(whole)
