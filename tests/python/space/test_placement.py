"""Placement along a curve through space: which process has which neuron."""

from __future__ import annotations

import numpy as np
import pytest

import ranvier as rv
from ranvier.errors import StateError, UnknownNameError, ValueOutOfBoundsError, WrongTypeError


def sheet() -> rv.Network:
    net = rv.Network(seed=1)
    net.create("iaf_psc_exp", 1000, positions=rv.random_positions(extent=(1.0, 1.0)))
    net.create("iaf_psc_exp", positions=rv.grid((20, 10), extent=(1.0, 1.0)))
    net.create("iaf_psc_exp", 10)
    return net


def test_ranks_are_balanced_and_compact() -> None:
    net = sheet()
    ranks = net.ranks(4)
    for population in net.populations:
        of_population = ranks[population.first_id : population.first_id + len(population)]
        counts = np.bincount(of_population, minlength=4)
        assert counts.max() - counts.min() <= 1
    positions = net.populations[0].positions
    for rank in range(4):
        # A quarter of the square is a square with half its length, which the curve fills before it leaves it. The cuts
        # are at quarters of the neurons, near those of the area.
        within = positions[ranks[:1000] == rank]
        assert np.ptp(np.quantile(within, [0.05, 0.95], axis=0), axis=0).max() < 0.6


def test_other_placements() -> None:
    net = sheet()
    assert net.ranks(3, "round_robin").tolist() == [unit % 3 for unit in range(1210)]
    assert (np.diff(net.ranks(3, "consecutive")) >= 0).all()
    assert net.ranks(1).max() == 0


def test_bad_input() -> None:
    net = sheet()
    with pytest.raises(UnknownNameError, match="'space'"):
        net.ranks(3, "spce")
    with pytest.raises(WrongTypeError, match="placement"):
        net.ranks(3, 4)  # type: ignore[arg-type]
    with pytest.raises(ValueOutOfBoundsError, match="number of processes"):
        net.ranks(0)
    empty = rv.Network()
    empty.create("iaf_psc_exp", 3)
    with pytest.raises(StateError, match="no population has positions"):
        empty.ranks(2)
    with pytest.raises(StateError, match="no population has positions"):
        rv.Simulation(empty, threads=1, processes=rv.Processes(placement="space"))
