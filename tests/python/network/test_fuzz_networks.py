"""Random networks, each run in several ways: what comes out is the same, bit for bit.

The rest of a dozen, and five hundred others, are among the slow tests.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ranvier as rv
from fuzz_networks import (
    FIELDS,
    Outcome,
    described,
    draw_asynchronous,
    draw_run,
    is_asynchronous,
    outcome,
    reference,
)
from fuzz_networks_on_ranks import METHODS, NOTIFICATIONS, check_between_ranks, check_on_ranks
from mpi_runs import WHEELS
from ranvier.equations.neurons import NAMES
from synapse_equations import WRITTEN, as_equations
from thorough_cases import every

NETWORKS = 12


@pytest.mark.parametrize("seed", every(3, range(NETWORKS)))
def test_same_in_many_ways(seed: int) -> None:
    expected = outcome(reference(seed))
    assert expected.spikes > 0, "a silent network proves nothing"
    for number in range(3):
        run = draw_run(seed, number)
        assert outcome(run) == expected, run


def test_same_asynchronously() -> None:
    """Two hundred are among the slow tests."""
    asynchronous = 0
    for seed in range(400, 400 + NETWORKS // 2):
        run = draw_run(seed, 0, draw_given=draw_asynchronous)
        assert outcome(run) == outcome(reference(seed)), run
        asynchronous += is_asynchronous(run)
    assert asynchronous > NETWORKS // 6, "networks whose delays leave nothing to choose prove nothing"


@pytest.mark.parametrize("seed", every(3, range(NETWORKS), first=1))
def test_same_from_saved_states(seed: int) -> None:
    run = draw_run(seed, 0, saves=True)
    assert outcome(run) == outcome(reference(seed)), run


@pytest.mark.parametrize("seed", every(3, range(FIELDS, FIELDS + NETWORKS)))
def test_same_with_fields(seed: int) -> None:
    """Spikes of coupled cells, and recorded potentials."""
    expected = outcome(reference(seed))
    assert expected.spikes > 0, "a silent network proves nothing"
    for number, saves in ((0, False), (1, True)):
        run = draw_run(seed, number, saves=saves, draw_given=draw_asynchronous if saves else None)
        assert outcome(run) == expected, run


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [2, 3])
def test_same_with_fields_on_ranks(ranks: int, tmp_path: Path) -> None:
    check_on_ranks(WHEELS[0], ranks, range(FIELDS + 20, FIELDS + 24), METHODS[2::6] + NOTIFICATIONS, tmp_path)


@pytest.mark.thorough
def test_same_from_saved_states_on_ranks(tmp_path: Path) -> None:
    check_on_ranks(WHEELS[0], 2, range(200, 202), METHODS[1::4], tmp_path, saves=True)


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [(2, 1), (3, 2)], ids=str)
def test_same_on_other_ranks(ranks: tuple[int, int], tmp_path: Path) -> None:
    check_between_ranks(WHEELS[0], ranks, range(300, 302), METHODS[::4], tmp_path)


@pytest.mark.thorough
def test_same_on_ranks(tmp_path: Path) -> None:
    methods = METHODS[::3] + NOTIFICATIONS
    check_on_ranks(WHEELS[0], 2, range(100, 100 + len(methods)), methods, tmp_path)


def test_what_differs_is_seen() -> None:
    plain = reference(3)
    others = [
        plain._replace(seed=4),
        plain._replace(pieces=[*plain.pieces, 1]),
        plain._replace(options={**plain.options, "precision": "single"}),
    ]
    assert len({outcome(run) for run in [plain, *others]}) == 4


def test_what_is_refused_is_an_outcome() -> None:
    assert outcome(reference(1)._replace(pieces=[-1])) == Outcome("ValueOutOfBoundsError", 0)


def test_networks_with_fields_differ() -> None:
    networks = [described(seed) for seed in range(FIELDS, FIELDS + 40)]
    recorders = {type(recorder) for net in networks for recorder in net.recorders}
    assert recorders >= {rv.ExtracellularRecorder, rv.DipoleRecorder, rv.LfpRecorder}
    fields = [field for net in networks for field in net.fields]
    coupled = {field.method for field in fields if isinstance(field, rv.CellCoupling)}
    applied = {type(each) for field in fields if isinstance(field, rv.AppliedField) for each in field.fields}
    assert (coupled, len(applied)) == ({"matrix", "fmm"}, 4)


def test_networks_differ() -> None:
    networks = [described(seed) for seed in range(60)]
    rules = {type(projection.rule) for net in networks for projection in net.projections}
    assert len(rules) >= 7
    trains = {name for name, model in rv.models.STIMULATORS.items() if model.emits_spikes}
    models = {population.model for net in networks for population in net.populations}
    assert len(models & set(NAMES)) >= 8
    assert models - set(NAMES) == {
        *rv.models.NEURON_MODELS,
        *trains,
        "cell",
        "spike_generator",
    }
    assert {stimulus.stimulator for net in networks for stimulus in net.stimuli} >= trains
    drawn = {projection.synapse.name for net in networks for projection in net.projections}
    assert drawn == {*rv.models.SYNAPSE_MODELS, *(as_equations(name).name for name in WRITTEN), "releasing"}
    own = {
        (projection.synapse.name, name, type(value))
        for net in networks
        for projection in net.projections
        for name, value in projection.synapse.values.items()
        if not isinstance(value, float)
    }
    assert {name for name, _, _ in own} == {
        *(name for name, kind in rv.models.SYNAPSE_MODELS.items() if kind.per_synapse_names),
        *(as_equations(name).name for name in WRITTEN),
    }
    assert {kind for _, _, kind in own} == {rv.Uniform, np.ndarray}
