"""The sample of a cortical column: what is drawn, and what comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.errors import FileError, ValueOutOfBoundsError, WrongTypeError
from ranvier.networks import column
from ranvier.networks.column import drawn_layer_4_cells, plan_column, sites_of
from ranvier_benchmarks import neuron_column
from ranvier_benchmarks._cortical_mechanisms import compile_mechanisms, load_mechanisms

DRAWN: dict[str, Any] = {
    "kinds": 5,
    "probability": 0.1,
    "contacts": 5,
    "synapses": 200,
    "current": 100.0,
    "delay": None,
    "resolution": 0.025,
    "seed": 1,
}
SMALL: dict[str, Any] = {"cells": 8, "synapses": 60, "compartment_length": 40.0, "probability": 0.5, "current": 200.0}


def test_in_degrees_grow_with_the_circuit_until_all_synapses_are_used() -> None:
    excitatory, inhibitory = sites_of(200)
    assert (excitatory, inhibitory) == (160, 40)
    for cells in (20, 100, 1000):
        plan = plan_column(cells=cells, **DRAWN)
        degrees = np.bincount(plan.targets, minlength=cells)
        if cells < 1000:
            # The mean of binomial numbers; 5 standard deviations.
            others = 0.1 * (cells - 1)
            assert degrees.mean() == pytest.approx(5 * others, abs=5 * 5 * np.sqrt(0.9 * others / cells))
        else:
            assert (degrees <= 200).all()
            assert degrees.mean() > 195
        assert (plan.sources != plan.targets).all()
        assert ((plan.sources % 5 == 4) == (plan.receptors == 1)).all()
        places = np.column_stack([plan.targets, plan.receptors, plan.sites])
        assert len(np.unique(places, axis=0)) == len(places)
        assert (plan.sites < np.array([160, 40])[plan.receptors]).all()


def test_delays_are_those_of_the_paper() -> None:
    plan = plan_column(cells=600, **DRAWN)
    steps = np.rint(plan.delays / 0.025)
    np.testing.assert_allclose(plan.delays, steps * 0.025, rtol=1e-12)
    assert plan.delays.min() == pytest.approx(0.1)
    assert plan.delays.max() == pytest.approx(10.0)
    # Among 120,000 synapses; those that round to the shortest delay, of which 0.13 % are below 0.15 ms.
    assert (plan.delays < 0.15).mean() == pytest.approx(0.0013, abs=0.0006)
    assert ((plan.delays > 0.5) & (plan.delays < 4.0)).mean() > 0.8


def test_drawn_cells_have_the_size_of_cells_of_layer_4() -> None:
    for form in drawn_layer_4_cells():
        assert 1500.0 < form.lengths.sum() < 8000.0
        assert {1, 3, 4} == {int(tag) for tag in form.tags}


def test_spikes_depend_neither_on_how_the_work_is_cut_nor_on_shared_states() -> None:
    digests = []
    for keys, options in (
        ({}, {}),
        ({}, {"threads": 2}),
        ({}, {"stepping": "async", "threads": 2, "tuning": rv.Tuning(shards=8)}),
        ({"t_ref": 0.0}, {"stepping": "async", "threads": 1, "tuning": rv.Tuning(shards=8)}),
        ({"separate_sites": False}, {}),
    ):
        model = column(**SMALL, **keys)
        sim = rv.Simulation(model.net, progress=False, **options)
        sim.run(30.0)
        assert len(sim.spikes(model.spikes)) > 10
        digests.append(sim.spikes(model.spikes).digest())
    assert len(set(digests)) == 1


def test_state_does_not_depend_on_the_size_of_the_circuit() -> None:
    """Each cell has all of its synapses, whether they receive spikes or not."""
    sizes = [
        rv.Simulation(column(**{**SMALL, "cells": cells, "probability": chance}).net, progress=False).memory()[
            "neurons"
        ]
        for cells, chance in ((5, 0.0), (5, 1.0))
    ]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize(
    ("keys", "error", "text"),
    [
        ({"cells": 1}, ValueOutOfBoundsError, "cells of the column"),
        ({"probability": 1.1}, ValueOutOfBoundsError, "probability of the column"),
        ({"contacts": 0}, ValueOutOfBoundsError, "contacts of the column"),
        ({"synapses": 4}, ValueOutOfBoundsError, "synapses of the column"),
        ({"compartment_length": 0.0}, ValueOutOfBoundsError, "compartment_length of the column"),
        ({"current": -1.0}, ValueOutOfBoundsError, "current of the column"),
        ({"t_ref": -1.0}, ValueOutOfBoundsError, "t_ref"),
        ({"separate_sites": "no"}, WrongTypeError, "separate_sites of the column"),
        ({"morphologies": "nowhere"}, FileError, "nowhere.*does not exist"),
    ],
)
def test_bad_values_are_refused(keys: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        column(**{**SMALL, **keys})


def test_morphologies_come_from_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no morphologies"):
        column(**SMALL, morphologies=str(tmp_path))
    for name, length in (("b", 300), ("a", 100)):
        (tmp_path / f"{name}.swc").write_text(f"1 1 0 0 0 6 -1\n2 3 0 6 0 1 1\n3 3 0 {length} 0 1 2\n")
    model = column(**SMALL, morphologies=str(tmp_path))
    kinds: Any = model.net.populations[0].user_model
    lengths = [kinds.kinds[kind].morphology.lengths.sum() for kind in kinds.kind_of]
    assert lengths[0] < lengths[-1]
    assert len(set(lengths[:4])) == len(set(lengths[4:])) == 1


@pytest.mark.thorough
def test_a_column_fires_as_in_neuron(tmp_path: Path) -> None:
    """Each spike at the same step, with synapses of both kinds between cells of several forms."""
    compile_mechanisms(tmp_path)
    keys = {**SMALL, "resolution": 0.025, "contacts": 5}
    made = neuron_column.build(load_mechanisms(tmp_path), keys)
    made.prepare(0.025)
    made.parallel.psolve(60.0)
    model = column(**keys)
    sim = rv.Simulation(model.net, progress=False)
    sim.run(60.0)
    spikes = sim.spikes(model.spikes)
    theirs, ours = made.spikes(), np.column_stack([spikes.times, spikes.ids])
    assert len(ours) > 20
    assert made.synapses == model.net.expected_synapses > 100
    assert len(theirs) == len(ours)
    assert np.abs(np.sort(theirs[:, 0]) - np.sort(ours[:, 0])).max() < 0.026
    assert np.array_equal(np.bincount(theirs[:, 1].astype(int)), np.bincount(ours[:, 1].astype(int)))
