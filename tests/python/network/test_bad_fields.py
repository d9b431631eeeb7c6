"""Unexpected values of all arguments of potentials and fields: typed errors at once, and nothing is made."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from bad_input import check
from electrodes import CONTACTS, cell
from ranvier import errors

HOSTILE: dict[str, Any] = {
    "nan": math.nan,
    "inf": math.inf,
    "-1": -1,
    "0": 0,
    "1e308": 1e308,
    "1e-310": 1e-310,
    "10**400": 10**400,
    "'abc'": "abc",
    "'1'": "1",
    "b'x'": b"x",
    "None": None,
    "True": True,
    "1j": 1j,
    "object()": object(),
    "{}": {},
    "[]": [],
    "ragged": [[1.0], [1.0, 2.0]],
    "3 numbers": [1.0, 2.0, 3.0],
    "3 with nan": [0.0, 0.0, math.nan],
    "3 huge": [1e200, 1e200, 1e200],
    "3 texts": ["1", "2", "3"],
    "3 booleans": [True, False, True],
    "3 masked": np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False]),
    "complex array": np.array([1j, 2.0, 3.0]),
    "structured array": np.zeros(3, dtype=[("a", float)]),
    "empty array": np.zeros((0, 3)),
    "array of no dimension": np.array(-2.0),
    "array of 3 dimensions": np.zeros((2, 2, 2)),
    "10**15 numbers": range(10**15),
    "10**12 rows": np.broadcast_to(1.0, (10**12, 3)),
    "distribution": rv.Normal(0.0, 1.0),
}
ANY = {"-1", "0", "1e308", "1e-310", "array of no dimension"}
"""What numbers of any size accept."""
TIMES = 0.1 * np.arange(1, 51)


def data() -> rv.ExtracellularData:
    values = np.random.default_rng(1).normal(size=(50, 1, 6))
    places = np.stack([np.zeros(6), np.zeros(6), -10.0 * np.arange(6)], axis=1)
    return rv.ExtracellularData(np.arange(1, 51), np.arange(6), ("V_e",), values, 0.1, "cells", places, 0.3)


NET = rv.Network()
CELLS = NET.create(cell(), positions=rv.positions([[0.0, 0.0, 0.0]], unit="um"), name="cells")
POINTS = NET.create("iaf_psc_exp", 3, name="points")
NET.connect(POINTS, POINTS, rv.FixedIndegree(2))
TEMPLATE = rv.CellTemplate(cell(), positions=rv.positions([[0.0, 0.0, 0.0]], unit="um"))
KERNEL = rv.PotentialKernel([[1.0, 2.0]], 0.1, [[0.0, 0.0, 1.0]])
FIELD = rv.uniform_field((0.0, 0.0, 1.0))
ENDS = [-1000.0, 1000.0]


def dipoles() -> rv.DipoleData:
    return rv.DipoleData(np.arange(1, 4), np.arange(2), ("P_x", "P_y", "P_z"), np.zeros((3, 3, 2)), 0.1, "c", True)


Calls = list[tuple[Callable[..., Any], dict[str, Any], dict[str, set[str]]]]
# A function, its other arguments, and for each argument that is replaced what it accepts.
CALLS: Calls = [
    (
        NET.record_extracellular,
        {"contacts": CONTACTS, "cells": CELLS},
        {
            "contacts": {"3 numbers"},
            "interval": set(),
            "cells": {"None"},
            "sigma": set(),
            "boundary": {"None"},
            "method": set(),
            "accuracy": set(),
            "unit": {"None"},
            "inside": set(),
            "to": {"None"},
            "overwrite": set(),
        },
    ),
    (
        NET.record_dipole,
        {"cells": CELLS},
        {"cells": set(), "interval": set(), "per_cell": {"True"}, "to": {"None"}, "overwrite": set()},
    ),
    (
        NET.record_lfp,
        {"kernels": {POINTS: KERNEL}},
        {"kernels": set(), "interval": {"None"}, "to": {"None"}, "overwrite": set()},
    ),
    (NET.apply_field, {"cells": CELLS, "field": FIELD}, {"cells": set(), "field": set(), "interval": {"None"}}),
    (
        NET.couple_extracellular,
        {"cells": CELLS},
        {"cells": set(), "interval": set(), "sigma": set(), "accuracy": set(), "method": set()},
    ),
    (
        rv.PotentialKernel,
        {"values": [[1.0, 2.0]], "interval": 0.1, "contacts": [[0.0, 0.0, 1.0]]},
        {
            "values": set(),
            "interval": {"1e308", "1e-310"},
            "contacts": {"3 numbers"},
            "unit": {"None"},
            "sigma": {"nan"},
        },
    ),
    (
        rv.unitary_potentials,
        {"network": NET, "templates": {POINTS: TEMPLATE}, "contacts": CONTACTS, "duration": 0.1},
        {
            "network": set(),
            "templates": set(),
            "contacts": set(),
            "interval": {"None"},
            "duration": set(),
            "sigma": set(),
            "boundary": {"None"},
            "unit": {"None"},
            "inside": set(),
        },
    ),
    (
        rv.CellTemplate,
        {"cell": cell(), "positions": rv.positions([[0.0, 0.0, 0.0]], unit="um")},
        {"cell": set(), "size": {"None"}, "rotation": {"None"}, "synapses": {"{}"}, "density": {"None"}},
    ),
    (
        rv.uniform_field,
        {"field": (0.0, 0.0, 1.0)},
        {"field": {"3 numbers"}, "waveform": ANY - {"array of no dimension"}},
    ),
    (
        rv.point_source,
        {"position": (300.0, 0.0, 0.0), "current": 1.0},
        {"position": {"3 numbers"}, "current": ANY - {"array of no dimension"}, "sigma": set(), "unit": set()},
    ),
    (
        rv.given_field,
        {"potentials": np.zeros(13)},
        {"potentials": {"3 numbers", "3 huge", "[]"}, "waveform": ANY - {"array of no dimension"}},
    ),
    (
        rv.sampled_field,
        {"times": [0.0, 1.0], "potentials": np.zeros((2, 13))},
        {"times": set(), "potentials": set(), "grid": {"None"}, "unit": {"None"}},
    ),
    (
        rv.sampled_field,
        {"times": [0.0, 1.0], "potentials": np.zeros((2, 2, 2, 2)), "grid": [ENDS] * 3},
        {"times": set(), "potentials": set(), "grid": set(), "unit": {"None"}},
    ),
    (lambda x: rv.sampled_field([0.0], np.zeros((1, 2, 2, 2)), grid=[x, ENDS, ENDS]), {}, {"x": set()}),
    (
        rv.sine_wave,
        {"frequency": 10.0},
        {
            "frequency": ANY - {"-1", "array of no dimension"},
            "amplitude": ANY,
            "phase": ANY,
            "offset": ANY,
            "start": ANY,
            "stop": {"inf", "0", "1e308", "1e-310"},
        },
    ),
    (
        rv.pulse_train,
        {"amplitude": 1.0, "width": 1.0, "period": 2.0},
        {
            "amplitude": ANY,
            "width": {"1e-310"},
            "period": {"inf", "1e308"},
            "start": ANY,
            "count": {"inf", "1e308", "None"},
        },
    ),
    (
        rv.waveform,
        {"times": [0.0, 1.0, 2.0], "values": [0.0, 1.0, 0.0]},
        {"times": {"3 numbers"}, "values": {"3 numbers", "3 huge"}},
    ),
    (
        rv.BoundaryPlane,
        {"point": (0.0, 0.0, 0.0), "normal": (0.0, 1.0, 0.0)},
        {"point": {"3 numbers"}, "normal": {"3 numbers"}, "sigma": {"inf", "0", "1e308", "1e-310"}, "unit": set()},
    ),
    (
        rv.laminar_probe,
        {"contacts": 4},
        {
            "contacts": set(),
            "spacing": {"1e-310"},
            "x": ANY - {"1e308"},
            "y": ANY - {"1e308"},
            "top": ANY - {"1e308"},
            "unit": set(),
        },
    ),
    (
        data().current_source_density,
        {},
        {"method": set(), "sigma": {"None"}, "vaknin": {"None", "True"}, "diameter": {"None"}},
    ),
    (data().current_source_density, {"method": "delta"}, {"sigma": {"None"}, "vaknin": {"None"}, "diameter": {"None"}}),
    (
        data().spike_triggered_average,
        {"spikes": [2.5, 2.6], "before": 0.3, "after": 0.3},
        {"spikes": {"3 numbers"}, "neurons": {"None"}, "before": {"0", "1e-310"}, "after": {"0", "1e-310"}},
    ),
    (data().at_contacts, {}, {"contacts": {"[]"}}),
    (dipoles().of, {}, {"cells": set()}),
    (rv.read_field, {}, {"path": set()}),
]


@pytest.mark.parametrize(
    ("call", "arguments", "name", "accepted"),
    [
        pytest.param(call, arguments, name, accepted, id=f"{getattr(call, '__qualname__', 'grid')}-{name}-{number}")
        for number, (call, arguments, by_name) in enumerate(CALLS)
        for name, accepted in by_name.items()
    ],
)
def test_each_value_is_accepted_or_refused_with_a_typed_error(
    call: Callable[..., Any],
    arguments: dict[str, Any],
    name: str,
    accepted: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    made = set()
    for text, value in HOSTILE.items():
        try:
            call(**{**arguments, name: value})
        except errors.RanvierError as error:
            check(error)
        else:
            made.add(text)
    assert made == accepted


def test_fractions_are_numbers() -> None:
    third = Fraction(1, 3)
    assert repr(rv.sine_wave(third, third)) == "sine_wave(0.333333, 0.333333)"  # type: ignore[arg-type]
    assert repr(rv.pulse_train(third, third)) == "pulse_train(0.333333, 0.333333)"  # type: ignore[arg-type]
