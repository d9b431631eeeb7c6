"""Cells whose channels depend on the temperature need it; no cell runs at that of the squid without a word."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import _core
from ranvier.errors import ValueOutOfBoundsError
from repository import DATA
from test_mechanisms import FORMULAS

BALL = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
COLD = "i = g*n*(v - E_n) : mA/cm**2\ndn/dt = (0.5 - n)/tau : 1\ntau = 3*ms*{factor} : ms"
SQUID = DATA / "nmodl" / "squid.mod"


def channel(factor: str = "1", **given: Any) -> Any:
    return rv.channel(COLD.format(factor=factor), parameters={"g": "1e-5 S/cm**2", "E_n": "-80 mV"}, **given)()


def celsius_of(cell: rv.Cell) -> float:
    return float(cell._given["celsius"])


def cell(*mechanisms: Any, **options: Any) -> rv.Cell:
    return rv.Cell(BALL, membrane=[("all", each) for each in mechanisms], **options)


def test_models_say_whether_rates_follow_the_temperature() -> None:
    """As the formulas do that gates are compared with."""
    for model in _core.mechanism_models():
        measured = {celsius for _, factor, celsius in FORMULAS.get(model.name, {}).values() if factor != 1.0}
        assert len(measured) <= 1
        if measured:
            assert model.measured_celsius == measured.pop()
            assert getattr(rv, model.name).measured_celsius == model.measured_celsius
        else:
            assert math.isnan(model.measured_celsius)
            assert getattr(rv, model.name).measured_celsius is None


NEEDED: dict[str, tuple[Any, str]] = {
    "sodium": (lambda: [rv.pas(), rv.na_transient()], "rates of na_transient depend on it.*21 degrees"),
    "slow potassium": (lambda: [rv.hh(), rv.k_persistent()], "rates of k_persistent depend on it"),
    "a pool": (lambda: [rv.calcium_pool(), rv.ca_hva()], "the reversal potential of calcium_pool depends on it"),
    "rates": (lambda: [channel("2.3**((celsius - 21)/10)")], "the equations of channel depend on it"),
    "an initial value": (lambda: [channel(initial={"n": "celsius/100"})], "the equations of channel depend on it"),
    "a file": (lambda: [rv.read_nmodl(SQUID)()], "the equations of squid depend on it"),
}


@pytest.mark.parametrize("kind", NEEDED)
def test_a_temperature_is_needed(kind: str) -> None:
    mechanisms, words = NEEDED[kind]
    with pytest.raises(ValueOutOfBoundsError, match=f"celsius is not given, but {words}.*celsius=34"):
        cell(*mechanisms())
    assert celsius_of(cell(*mechanisms(), celsius=6.3)) == 6.3
    assert celsius_of(cell(*mechanisms(), celsius=34.0)) == 34.0


@pytest.mark.parametrize(
    "mechanisms",
    [[], [rv.pas()], [rv.hh()], [rv.hh(), rv.pas(), rv.h_current(), rv.k_fast()], [rv.pas(), channel()]],
    ids=["nothing", "leak", "squid", "independent", "independent equations"],
)
def test_others_have_that_of_the_squid(mechanisms: list[Any]) -> None:
    assert celsius_of(cell(*mechanisms)) == 6.3


def test_receptors_need_it_too(tmp_path: Path) -> None:
    file = tmp_path / "warm.mod"
    file.write_text(
        "NEURON { POINT_PROCESS warm NONSPECIFIC_CURRENT i }\n"
        "ASSIGNED { v (mV) i (nA) celsius (degC) }\nSTATE { g (uS) }\nINITIAL { g = 0 }\n"
        "BREAKPOINT { SOLVE states METHOD cnexp\ni = g*v }\n"
        "DERIVATIVE states { g' = -g*3^((celsius - 20)/10) }\nNET_RECEIVE (w (uS)) { g = g + w }\n"
    )
    receptors = {"s": (rv.read_nmodl(file)(), rv.at(0, 0.5))}
    with pytest.raises(ValueOutOfBoundsError, match="celsius is not given, but the equations of warm depend on it"):
        cell(rv.pas(), receptors=receptors)
    assert celsius_of(cell(rv.pas(), receptors=receptors, celsius=20.0)) == 20.0


def test_cortical_channels_fire_at_the_temperature_of_the_body() -> None:
    """At 6.3 degrees, one spike; at 34, a train."""
    spikes = []
    for celsius in (6.3, 34.0):
        model = cell(rv.pas(g=1e-4, e=-70.0), rv.na_transient(gbar=0.1), rv.k_persistent(gbar=0.02), celsius=celsius)
        net = rv.Network(resolution=0.025)
        cells = net.create(model, 1, V_m=-70.0, I_e=150.0)
        recorder = net.record_spikes(cells)
        sim = rv.Simulation(net, threads=1)
        sim.run(200.0)
        spikes.append(len(sim.spikes(recorder).times))
    assert spikes[0] < spikes[1]
    assert np.isfinite(spikes).all()
