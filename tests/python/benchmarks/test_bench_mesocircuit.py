"""Both sides of `ranvier bench mesocircuit` describe the same sheet, though each calculates it for itself."""

from __future__ import annotations

import argparse
from typing import Any, cast

import numpy as np
import pytest

import ranvier as rv
from ranvier.errors import RanvierError
from ranvier_benchmarks import nest_mesocircuit
from ranvier_benchmarks.nest_microcircuit import POPULATIONS


@pytest.mark.parametrize(
    ("n_scaling", "k_scaling", "extent", "drive"),
    [(0.01, 0.02, 2.0, "poisson"), (0.02, 0.3, 1.0, "dc"), (0.005, 1.0, 1.5, "dc")],
)
def test_same_sheet(n_scaling: float, k_scaling: float, extent: float, drive: str) -> None:
    theirs = nest_mesocircuit.describe(n_scaling, k_scaling, extent, drive)
    net = rv.networks.mesocircuit(n_scaling=n_scaling, k_scaling=k_scaling, extent=extent, drive=cast(Any, drive)).net
    order = list(POPULATIONS)
    assert [population.name for population in net.populations] == order
    assert tuple(len(population) for population in net.populations) == theirs.sizes
    currents = [cast(float, population.values["I_e"]) for population in net.populations]
    assert currents == pytest.approx(theirs.currents)
    assert len(net.projections) == np.count_nonzero(theirs.peaks)
    for projection in net.projections:
        row, column = order.index(projection.targets.name), order.index(projection.sources.name)
        rule = projection.rule
        is_poisson = theirs.peaks[row, column] > 1.0
        assert isinstance(rule, rv.PairwisePoisson if is_poisson else rv.PairwiseBernoulli)
        profile = cast(Any, rule.mean if isinstance(rule, rv.PairwisePoisson) else rule.probability)
        assert profile.constants == pytest.approx({"p": theirs.peaks[row, column], "decay": theirs.decays[row, column]})
        assert rule.mask == rv.circle(extent / 2)
        assert cast(Any, projection.weight).mean == pytest.approx(theirs.weights[row, column])
    if drive == "poisson":
        rates = [stimulus.values["rate"] for stimulus in net.stimuli]
        assert rates == pytest.approx(theirs.rates)


@pytest.mark.parametrize("setting", ["drive=auto", "scales=1", "placement=space", "pulses=true"])
def test_bad_keys_of_nest(setting: str) -> None:
    parser = argparse.ArgumentParser()
    nest_mesocircuit.add_arguments(parser)
    with pytest.raises(RanvierError):
        nest_mesocircuit.main(parser.parse_args(["--set", setting]))
