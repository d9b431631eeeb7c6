"""Rates with kinks and steps, which no table gives, are calculated in each step, beside those that have tables."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from thorough_cases import only

BALL = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
STICK = rv.Morphology(
    [rv.Section(length=20.0, diameter=20.0), rv.Section(length=200.0, diameter=2.0, parent=0)],
)
FORMS = {
    "kink": "tau = max(2*ms/(1 + exp(-(v + 50.013*mV)/(7*mV))), 0.7*ms) : ms",
    "step": "tau = where(v > -57.017*mV, 1*ms, 3*ms) : ms",
    "kink on a row": "tau = max(2*ms/(1 + exp(-(v + 50*mV)/(7*mV))), 1*ms) : ms",
}


def channel(form: str, name: str = "own") -> rv.EquationChannel:
    return rv.channel(
        f"""
        i = g*m*(v - E) : mA/cm**2
        dm/dt = (1/(1 + exp(-(v + 45*mV)/(8*mV))) - m)/tau : 1
        {FORMS[form]}
        """,
        parameters={"g": "0.0004 S/cm**2", "E": "-20 mV"},
        name=name,
    )


def trace(cells: list[rv.Cell]) -> npt.NDArray[np.float64]:
    net = rv.Network(resolution=0.025)
    recorders = [
        net.record_state(net.create(each, 3, I_e=[-200.0, 150.0, 500.0]), "V_m", interval=0.1) for each in cells
    ]
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(8.0)
    return np.concatenate([sim.state(each).values for each in recorders], axis=-1)


@pytest.mark.parametrize(
    ("form", "scheme"),
    only(
        [("kink", "backward_euler"), ("step", "staggered")],
        itertools.product(FORMS, ["backward_euler", "staggered"]),
    ),
)
def test_they_are_those_of_exact_rates(form: str, scheme: Any) -> None:
    def cells(rates: Any) -> list[rv.Cell]:
        own, other = channel(form), channel("kink", "other")
        return [
            rv.Cell(BALL, membrane=[("all", rv.pas()), ("all", own())], rates=rates, scheme=scheme),
            rv.Cell(
                STICK,
                membrane=[("all", rv.pas()), ("all", rv.hh()), ("all", own()), ("all", other(g=1e-4))],
                compartments=[1, 7],
                rates=rates,
                scheme=scheme,
            ),
        ]

    exact, table = trace(cells("exact")), trace(cells("table"))
    assert np.ptp(exact) > 10.0
    np.testing.assert_allclose(table, exact, rtol=0.0, atol=5e-3)


def test_rates_that_are_not_finite_are_an_error() -> None:
    own = rv.channel(
        """
        i = g*m*(v - E) : mA/cm**2
        dm/dt = (1/(1 + exp(-(v + 45*mV)/(8*mV))) - m)/tau : 1
        tau = 1*ms/(v + 50*mV)*mV : ms
        """,
        parameters={"g": "0.0004 S/cm**2", "E": "-20 mV"},
    )
    with pytest.raises(rv.errors.ValueOutOfBoundsError):
        trace([rv.Cell(BALL, membrane=[("all", rv.pas()), ("all", own())])])
