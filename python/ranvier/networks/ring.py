"""Rings of branched cells with Hodgkin-Huxley channels: the test model of detailed neurons."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.names import check_choice
from ranvier.base.numeric import number, whole_number
from ranvier.cells.cell import Cell
from ranvier.cells.membrane import Mechanism
from ranvier.cells.models import expsyn, hh, pas
from ranvier.cells.morphology import Morphology, Section
from ranvier.cells.places import RegionLike, at
from ranvier.errors import ValueOutOfBoundsError
from ranvier.network.network import Network
from ranvier.network.rules import Explicit
from ranvier.networks.network_model import NetworkModel

__all__ = ["ring", "ring_cell"]

_Dendrites: TypeAlias = Literal["hh", "pas"]

_INDEGREE = 10
_WEIGHT = 20.0  # nS
_SOMA = 12.6157  # um
_BRANCH_LENGTH, _BRANCH_DIAMETER = 50.0, 1.0  # um
# For common numbers of compartments, this is not a boundary between compartments.
_SYNAPSE = 0.71
_DEEPEST = 20


def ring_cell(
    *,
    depth: int = 5,
    compartments: int = 2,
    dendrites: _Dendrites = "hh",
    rates: Literal["table", "exact"] = "table",
    random: np.random.Generator | None = None,
) -> Cell:
    """Return a cell of the ring: a soma with a binary tree of dendrites. See `ring`.

    Parameters
    ----------
    random
        Draws another tree with the same number of branches and compartments.
    """
    depth = whole_number("depth of a cell of the ring", depth, 0, _DEEPEST)
    count = whole_number("compartments of a branch", compartments, 1, 2**20)
    check_choice("dendrites of the ring", dendrites, ["hh", "pas"])
    parents = _parents(depth, random)
    counts = np.full(len(parents), count)
    if random is not None:
        counts = _other_counts(counts, random)
    sections = [Section(length=_SOMA, diameter=_SOMA), *(_branch(parent) for parent in parents)]
    membrane: list[tuple[RegionLike, Mechanism]] = [("all", hh())]
    if dendrites == "pas" and depth > 0:
        membrane = [("soma", hh()), ("basal", pas())]
    return Cell(
        Morphology(sections, name="branched cell"),
        compartments=np.array([1, *counts]),
        membrane=membrane,
        # On the first dendrite.
        receptors={"exc": (expsyn(tau=2.0, e=0.0), at(min(1, len(sections) - 1), _SYNAPSE))},
        rates=rates,
        name="branched_cell",
    )


def _parents(depth: int, random: np.random.Generator | None) -> list[int]:
    """Return the parent of each branch; the soma is section 0. Each section has two branches or ends."""
    branches = 2 * (2**depth - 1)
    if random is None:
        return [branch // 2 for branch in range(branches)]
    parents: list[int] = []
    ends = [0]
    while len(parents) < branches:
        parent = ends.pop(int(random.integers(len(ends))))
        ends += [len(parents) + 1, len(parents) + 2]
        parents += [parent, parent]
    return parents


def _other_counts(counts: npt.NDArray[np.int64], random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Move compartments from branches to others, so that each has at least one and their sum stays."""
    counts = counts.copy()
    order = random.permutation(len(counts))
    half = len(order) // 2
    for one, other in zip(order[:half], order[half:], strict=False):
        moved = int(random.integers(counts[one]))
        counts[one] -= moved
        counts[other] += moved
    return counts


def _branch(parent: int) -> Section:
    return Section(length=_BRANCH_LENGTH, diameter=_BRANCH_DIAMETER, parent=parent, tag="basal")


def ring(
    *,
    cells: int = 128,
    depth: int = 5,
    compartments: int = 2,
    dendrites: _Dendrites = "hh",
    shapes: Literal["equal", "different"] = "equal",
    rates: Literal["table", "exact"] = "table",
    resolution: float = 0.025,
    seed: int = 1,
) -> NetworkModel:
    """Describe a ring of branched cells.

    A cell is a soma and a binary tree of dendrites. Each cell receives from the one before it with a weight of 20 nS
    and a delay of 5 ms, and from nine others with a weight of 0. Each fourth cell receives one stimulus of 20 nS at 1
    ms.

    Parameters
    ----------
    cells
        Number of cells, >= 11.
    depth
        Levels of the tree, 0 to 20: a cell has 2 + 4 + ... branches, each 50 um long and 1 um wide.
    compartments
        Number of compartments of each branch; the soma has one.
    dendrites
        ``"hh"``: Hodgkin-Huxley channels everywhere; ``"pas"``: a leak in the dendrites.
    shapes
        ``"equal"``: all cells have the same tree. ``"different"``: the tree of each cell is drawn, with as many
        branches, each of 1 or more compartments, which are as many in all.
    rates
        ``"table"`` or ``"exact"``: see `Cell`.
    resolution
        Resolution, ms.
    seed
        Seed of all random numbers: only trees of different shapes are random.

    Raises
    ------
    ValueOutOfBoundsError
        For values outside their bounds.
    UnknownNameError
        For names of dendrites, shapes or rates that do not exist.
    """
    size = whole_number("cells of the ring", cells, _INDEGREE + 1, 2**40)
    check_choice("rates", rates, ["table", "exact"])
    check_choice("shapes of the ring", shapes, ["equal", "different"])
    cell = ring_cell(depth=depth, compartments=compartments, dendrites=dendrites, rates=rates)
    if 2**52 // cell.compartment_count < size:
        raise ValueOutOfBoundsError(
            "cells of the ring", str(size), "there can be at most 2^52 compartments", "take fewer"
        )
    net = Network(resolution=number("resolution", resolution), seed=seed, name=f"ring of branched cells ({dendrites})")
    if shapes == "equal":
        population = net.create(cell, size, name="cells")
    else:
        each = [np.random.default_rng((seed, i)) for i in range(size)]
        population = net.create(
            [
                ring_cell(depth=depth, compartments=compartments, dendrites=dendrites, rates=rates, random=random)
                for random in each
            ],
            name="cells",
        )
    targets = np.repeat(np.arange(size), _INDEGREE)
    sources = (targets - np.tile(np.arange(1, _INDEGREE + 1), size)) % size
    weights = np.where((targets - sources) % size == 1, _WEIGHT, 0.0)
    net.connect(population, population, Explicit(sources, targets), weight=weights, delay=5.0, name="ring")
    steps = net.to_steps(1.0, "time of the stimulus of the ring")
    if steps < 2:
        raise ValueOutOfBoundsError("resolution of the ring", f"{resolution} ms", "it can be at most 0.5 ms")
    # The longest possible delay: the shortest delay determines how often neurons wait for each other.
    starters = net.create_spike_generators([[net.resolution]], name="stimulus")
    net.connect(
        starters, population[::4], "all_to_all", weight=_WEIGHT, delay=(steps - 1) * net.resolution, name="start"
    )
    return NetworkModel(net=net, spikes=net.record_spikes(population), time=100.0)
