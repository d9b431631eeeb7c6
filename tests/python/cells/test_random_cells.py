"""Cells drawn at random: against NEURON, and made of values that make no sense."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier_benchmarks.neuron_ring import load_neuron

STEP, TIME = 0.025, 5.0
HOSTILE: list[Any] = [
    *(None, 0, -1, math.nan, math.inf, 2**31, 2**63, 1e300, "x", "", [], [1, 2], {}, True, b"x", np.array([1.0])),
    *(object(), rv.pas(), rv.at(0), ("soma",), {1: 2}, {"a": 1}, "\0", [("all", rv.pas(), 1)]),
]
SOMA = rv.Section(length=20.0, diameter=20.0)
TREE = rv.Morphology([SOMA, rv.Section(length=100.0, diameter=1.0, parent=0, tag="basal")])


def draw(seed: int) -> tuple[list[dict[str, Any]], list[int]]:
    """Return sections of a random tree, with cones, side branches and branches at the begin, and their compartments."""
    chance = random.Random(seed)
    sections: list[dict[str, Any]] = []
    for i in range(chance.randint(1, 9)):
        diameter = chance.uniform(0.3, 8.0)
        sections.append(
            {
                "length": chance.uniform(5.0, 200.0),
                "diameter": diameter,
                "end_diameter": diameter if chance.random() < 0.5 else chance.uniform(0.3, 8.0),
                "parent": chance.randrange(i) if i else None,
                # No boundary of compartments lies at the two places between the ends.
                "parent_position": chance.choice([0.0, 1.0, 1.0, 0.37, 0.61]) if i else 1.0,
                "tag": 3,
            }
        )
    return sections, [chance.choice([1, 1, 2, 3, 5, 7]) for _ in sections]


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_do_as_in_neuron(seed: int) -> None:
    """A current into the root, and the potential in each section.

    NEURON keeps forms in single precision: 1e-7 of a potential, and what an upstroke makes of it.
    """
    sections, counts = draw(seed)
    h = load_neuron()
    made: list[Any] = []
    for section, count in zip(sections, counts, strict=True):
        own = h.Section()
        h.pt3dadd(0.0, 0.0, 0.0, section["diameter"], sec=own)
        h.pt3dadd(section["length"], 0.0, 0.0, section["end_diameter"], sec=own)
        own.nseg, own.Ra, own.cm = count, 123.0, 0.8
        own.insert("pas")
        own.insert("hh")
        for segment in own:
            segment.pas.g, segment.pas.e, segment.hh.gnabar, segment.hh.gl = 2e-4, -61.0, 0.07, 0.0
        if section["parent"] is not None:
            own.connect(made[section["parent"]](section["parent_position"]))
        made.append(own)
    electrode = h.IClamp(made[0](0.5))
    electrode.delay, electrode.dur, electrode.amp = 0.0, 1e9, 0.3
    vectors = [h.Vector().record(getattr(own(0.5), "_ref_v")) for own in made]  # noqa: B009 - a name of NEURON's
    h.usetable_hh, h.celsius, h.dt, h.secondorder = 0, 15.0, STEP, 0
    h.finitialize(-63.0)
    for _ in range(round(TIME / STEP)):
        h.fadvance()
    expected = np.array([list(vector) for vector in vectors])[:, 1:]

    names = [f"v{i}" for i in range(len(sections))]
    cell = rv.Cell(
        rv.Morphology([rv.Section(**section) for section in sections]),
        compartments=counts,
        membrane=[("all", rv.pas(g=2e-4, e=-61.0)), ("all", rv.hh(gnabar=0.07, gl=0.0))],
        C_m=0.8,
        R_a=123.0,
        celsius=15.0,
        V_init=-63.0,
        probes={name: rv.at(i, 0.5) for i, name in enumerate(names)},
        rates="exact",
    )
    net = rv.Network(resolution=STEP)
    recorder = net.record_state(net.create(cell, 1, I_e=300.0), names, interval=STEP)
    simulation = rv.Simulation(net)
    simulation.run(TIME)
    values = simulation.state(recorder).values[:, :, 0].T
    assert np.abs(values - expected[:, : values.shape[1]]).max() < 1e-3


@pytest.mark.parametrize(
    "key",
    [
        *(
            "morphology",
            "compartments",
            "membrane",
            "receptors",
            "clamps",
            "probes",
            "detector",
            "threshold",
            "t_ref",
            "separate_sites",
            "electrode",
            "C_m",
        ),
        *("R_a", "celsius", "V_init", "rates", "scheme", "name"),
    ],
)
def test_a_cell_takes_hostile_values_or_refuses_them(key: str) -> None:
    """With a typed error and nothing else."""
    refused = 0
    for value in HOSTILE:
        try:
            rv.Cell(**{"morphology": TREE, "membrane": [("all", rv.pas())], key: value})
        except rv.errors.RanvierError:
            refused += 1
    assert refused >= len(HOSTILE) / 2


@pytest.mark.parametrize("key", ["length", "diameter", "end_diameter", "points", "parent", "parent_position", "tag"])
def test_a_section_takes_hostile_values_or_refuses_them(key: str) -> None:
    """With a typed error and nothing else."""
    refused = 0
    for value in HOSTILE:
        given = {} if key == "points" else {"length": 1.0, "diameter": 1.0}
        try:
            rv.Section(**{**given, key: value})
        except rv.errors.RanvierError:
            refused += 1
    assert refused >= len(HOSTILE) / 2


def test_parts_of_cells_take_hostile_values_or_refuse_them() -> None:
    """With a typed error and nothing else."""
    calls: list[Any] = [rv.at, rv.sections, rv.tagged, rv.within_distance, rv.max_length, rv.d_lambda, rv.Morphology]
    calls += [
        lambda value: rv.calcium_pool(depth=value),
        lambda value: rv.ca_hva(eca=value),
        lambda value: rv.current_clamp(amplitude=value, duration=value),
        lambda value: rv.voltage_clamp(level=0.0, start=value),
    ]
    calls += [lambda value: rv.hh(gnabar=value), lambda value: rv.pas(g=value), lambda value: rv.expsyn(tau=value)]
    for call in calls:
        for value in HOSTILE:
            try:
                call(value)
            except rv.errors.RanvierError:
                continue


def test_functions_of_distance_take_one_argument() -> None:
    """What goes wrong within them is an error of their own."""
    functions: list[Any] = [lambda: 1.0, lambda a, b: a + b]
    for function in functions:
        with pytest.raises(rv.errors.WrongTypeError, match=r"gnabar of hh.*one argument"):
            rv.Cell(TREE, membrane=[("all", rv.hh(gnabar=function))])

    def wrong(distances: Any) -> Any:
        return "x" + distances[0].item()

    with pytest.raises(TypeError, match="concatenate") as caught:
        rv.Cell(TREE, membrane=[("all", rv.hh(gnabar=wrong))])
    assert not isinstance(caught.value, rv.errors.RanvierError)


def test_what_a_probe_cannot_be_is_shown_in_one_line() -> None:
    """Letters that are none can be printed, too."""
    hostile: list[Any] = ["\ud800", np.zeros((2, 2, 2))]
    for probe in hostile:
        with pytest.raises(rv.errors.RanvierError) as caught:
            rv.Cell(TREE, membrane=[("all", rv.pas())], probes={"b": probe})
        assert str(caught.value).isprintable()


def test_a_distribution_is_no_density() -> None:
    """Of the compartments of a cell."""
    distribution: Any = rv.Normal(0.1, 0.01)
    with pytest.raises(rv.errors.WrongTypeError, match=r"gnabar of hh"):
        rv.Cell(TREE, membrane=[("all", rv.hh(gnabar=distribution))])
