"""Random fields on detailed cells, coupled cells, and recorders of potentials and dipole moments."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import ranvier as rv
from ranvier.base.times import time_of

__all__ = ["add_fields", "record_potentials"]


def add_fields(net: rv.Network, chance: random.Random) -> None:
    """Let some fields act on the cells of a network, and in most networks couple some of them."""
    cells = [each for each in net.populations if each.cell is not None]
    for _ in range(chance.randrange(3)):
        part = _part(chance.choice(cells), chance)
        net.apply_field(part, _field(part, chance), interval=_interval(net, [1, 1, 2, 7], chance))
    if chance.random() < 0.8:
        together = [_part(each, chance) for each in chance.sample(cells, chance.randrange(1, len(cells) + 1))]
        for group in [together] if chance.random() < 0.7 else [[each] for each in together]:
            method = {"method": "fmm", "accuracy": 1e-2} if chance.random() < 0.3 else {}
            sigma = 10.0 ** chance.uniform(-3.0, 0.0)
            net.couple_extracellular(group, _interval(net, [1, 2, 5, 30], chance), sigma=sigma, **method)  # type: ignore[arg-type]


def record_potentials(net: rv.Network, chance: random.Random) -> None:
    """Record potentials by each method, dipole moments, and potentials of all neurons by kernels."""
    cells = [each for each in net.populations if each.cell is not None]
    contacts = np.random.default_rng(net.seed).uniform(-500.0, 500.0, (chance.choice([1, 5, 70]), 3))
    for method in chance.choice([["matrix"], ["fmm"], ["matrix", "fmm"]]):
        given: dict[str, Any] = {"cells": [_part(each, chance) for each in cells]} if chance.random() < 0.5 else {}
        if chance.random() < 0.3:
            given["boundary"] = rv.BoundaryPlane((0.0, 0.0, 5000.0), (0.1, 0.0, 1.0), sigma=chance.choice([0.0, 1.5]))
        interval = _interval(net, [1, 3, 10], chance)
        net.record_extracellular(contacts, interval, method=method, unit="um", inside="surface", accuracy=1e-2, **given)  # type: ignore[arg-type]
    if chance.random() < 0.5:
        part = _part(chance.choice(cells), chance)
        net.record_dipole(part, _interval(net, [1, 4], chance), per_cell=chance.random() < 0.5)
    if chance.random() < 0.5:
        width = _interval(net, [1, 2, 5], chance)
        random_numbers = np.random.default_rng(net.seed)
        kernels = {
            each: rv.PotentialKernel(
                random_numbers.normal(size=(2, chance.choice([1, 20]))), width, contacts[:1].repeat(2, 0)
            )
            for each in net.populations
            if chance.random() < 0.7
        }
        if kernels:
            net.record_lfp(kernels, 3 * width if chance.random() < 0.5 else None)


def _part(population: rv.Population, chance: random.Random) -> rv.PopulationView:
    kind = chance.randrange(4)
    if kind == 0 and len(population) > 1:
        return population[1:]
    if kind == 1:
        return population[:: chance.choice([2, 3])]
    return population


def _interval(net: rv.Network, steps: list[int], chance: random.Random) -> float:
    return time_of(chance.choice(steps), net.resolution)


def _waveform(chance: random.Random) -> Any:
    kind = chance.randrange(4)
    if kind == 0:
        return rv.sine_wave(
            chance.uniform(5.0, 200.0), phase=chance.uniform(0.0, 360.0), start=chance.choice([0.0, 2.0])
        )
    if kind == 1:
        return rv.pulse_train(1.0, chance.uniform(0.1, 2.0), 3.0, start=chance.uniform(0.0, 5.0), count=2)
    if kind == 2:
        return rv.waveform([0.0, 3.0, 10.0, 1000.0], [0.0, 1.0, -1.0, 0.5])
    return chance.choice([1.0, -0.5])


def _field(cells: rv.PopulationView, chance: random.Random) -> Any:
    kind = chance.randrange(5)
    size = chance.choice([1.0, 30.0])
    if kind == 0:
        direction = [size * chance.uniform(-1.0, 1.0) for _ in range(3)]
        return [rv.uniform_field(direction, _waveform(chance)) for _ in range(chance.choice([1, 2]))]
    if kind == 1:
        return rv.point_source((3000.0, 100.0, 0.0), rv.sine_wave(100.0, 10.0 * size))
    if kind == 2:
        axis = np.array([-1e5, -200.0, 0.0, 130.0, 1e5])
        times = [0.0, 4.0, 7.5, 2000.0]
        values = np.random.default_rng(7).normal(size=(len(times), 5, 5, 5)) * size
        return rv.sampled_field(times, values, grid=[axis] * 3)
    if kind == 3:
        return rv.given_field(lambda points: 1e-3 * size * points[:, 1] + 1e-6 * points[:, 0] ** 2, _waveform(chance))
    count = sum(len(part.compartment_lines(i)) for part in cells.parts for i in range(len(part)))
    values = np.random.default_rng(8).normal(size=(2, count)) * size
    return rv.sampled_field([0.0, 5000.0], values)
