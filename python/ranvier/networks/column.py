"""Reconstructed cells with many channels and synapses, sampled from a cortical column: the cells of large circuits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.numeric import number, whole_number
from ranvier.base.texts import check_flag
from ranvier.base.values import FloatArray
from ranvier.cells.cell import Cell
from ranvier.cells.compartments import max_length
from ranvier.cells.locations import random_places
from ranvier.cells.membrane import Mechanism
from ranvier.cells.models import (
    ca_hva,
    ca_lva,
    calcium_pool,
    exp2syn,
    h_current,
    k_fast,
    k_persistent,
    k_transient,
    m_current,
    na_persistent,
    na_transient,
    pas,
    sk_current,
)
from ranvier.cells.morphology import Morphology
from ranvier.cells.places import RegionLike, tagged
from ranvier.cells.reading import read_morphology
from ranvier.errors import FileError
from ranvier.network.network import Network
from ranvier.network.rules import Explicit
from ranvier.networks._bounds import POSITIVE, bounded
from ranvier.networks._cortical_delays import LONGEST, MEDIAN, SHORTEST, SIGMA
from ranvier.networks._drawing import Drawing
from ranvier.networks.network_model import NetworkModel

__all__ = ["ColumnPlan", "column", "drawn_layer_4_cells", "plan_column"]

IntArray: TypeAlias = npt.NDArray[np.int64]

_SUFFIXES = (".swc", ".asc", ".h5")
_MOST_CELLS, _MOST_SYNAPSES = 2**20, 2**16
_EXCITATORY_PART = 0.8  # of cells, and of synapses
_WEIGHTS = {"exc": 0.3, "inh": 0.8}  # nS
_CELSIUS, _REST = 34.0, -80.0
# S/cm^2 in the soma and in the neurites. All channels are everywhere.
_DENSITIES: tuple[tuple[type[Mechanism], float, float], ...] = (
    (na_transient, 1.5, 0.01),
    (na_persistent, 0.0005, 0.00001),
    (k_transient, 0.05, 0.005),
    (k_persistent, 0.002, 0.001),
    (k_fast, 0.5, 0.01),
    (m_current, 0.0001, 0.00007),
    (h_current, 0.0002, 0.0002),
    (ca_hva, 0.001, 0.0002),
    (ca_lva, 0.003, 0.0005),
    (sk_current, 0.02, 0.001),
)
_POOL_DECAYS = (460.0, 122.0)  # ms


@dataclass(frozen=True)
class ColumnPlan:
    """The drawn part of a column, as arrays, from which other simulators can make the same network.

    Attributes
    ----------
    kinds
        Morphology of each cell, an index.
    currents
        Current into the soma of each cell, pA.
    sources, targets
        Cells of each synapse.
    receptors
        Receptor of each synapse: 0 for "exc", 1 for "inh".
    sites
        Number of its place among those of the receptor; no other synapse of the cell has the same.
    delays
        ms, on the grid.
    """

    kinds: IntArray
    currents: FloatArray
    sources: IntArray
    targets: IntArray
    receptors: IntArray
    sites: IntArray
    delays: FloatArray


def column(
    *,
    cells: int = 64,
    morphologies: str = "",
    probability: float = 0.1,
    contacts: int = 5,
    synapses: int = 1000,
    compartment_length: float = 10.0,
    separate_sites: bool = True,
    current: float = 150.0,
    delay: float | None = None,
    t_ref: float = 2.0,
    resolution: float = 0.025,
    seed: int = 1,
) -> NetworkModel:
    """Describe reconstructed cells with twelve mechanisms everywhere, which are sampled from a cortical column.

    A cell has hundreds of compartments and the same number of synapses in a circuit of any size, each with a state; so
    its state is large. Cells are connected with a fixed probability, as those in a part of a column, so that the number
    of synapses that receive spikes grows with the circuit, until all of them do. Four fifths of the cells excite
    others. Delays are those of `layers`. The cells are driven by constant currents, which differ between cells.

    Parameters
    ----------
    cells
        Number of cells, >= 2.
    morphologies
        Folder of reconstructed cells (.swc, .asc, .h5), which are all used, in the order of their names; empty: five
        cells that are drawn here, with the size of spiny stellate cells of layer 4.
    probability
        Probability that a cell sends to another one.
    contacts
        Synapses of each pair that is connected, >= 1.
    synapses
        Synapses of each cell, of which 80 % are excitatory.
    compartment_length
        Greatest length of a compartment, um.
    separate_sites
        Whether each synapse has a separate state. Otherwise those in one compartment share a state; see `Cell`.
    current
        Mean of the currents, pA, >= 0; they are uniform from 0 to twice the mean.
    delay
        Delay of all synapses, ms, for comparison; None: drawn.
    t_ref
        Time after a spike in which a cell cannot fire again, ms.
    resolution
        Resolution, ms.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueOutOfBoundsError
        For values outside their bounds.
    FileError
        For a folder without morphologies, or one that cannot be read.
    """
    forms = read_morphologies(morphologies) if morphologies else drawn_layer_4_cells()
    plan = plan_column(
        cells=cells,
        kinds=len(forms),
        probability=probability,
        contacts=contacts,
        synapses=synapses,
        current=current,
        delay=delay,
        resolution=resolution,
        seed=seed,
    )
    check_flag("separate_sites of the column", separate_sites)
    models = [
        column_cell(
            form,
            synapses=synapses,
            compartment_length=compartment_length,
            separate_sites=separate_sites,
            t_ref=t_ref,
            seed=seed + kind,
        )
        for kind, form in enumerate(forms)
    ]
    net = Network(resolution=number("resolution", resolution), seed=seed, name="sample of a cortical column")
    population = net.create([models[kind] for kind in plan.kinds], name="cells", I_e=plan.currents)
    for index, (receptor, weight) in enumerate(_WEIGHTS.items()):
        chosen = plan.receptors == index
        if not chosen.any():
            continue
        net.connect(
            population,
            population,
            Explicit(plan.sources[chosen], plan.targets[chosen]),
            weight=weight,
            delay=plan.delays[chosen],
            receptor=receptor,
            site=plan.sites[chosen].astype(np.float64),
            name=receptor,
        )
    return NetworkModel(
        net=net,
        spikes=net.record_spikes(population),
        time=100.0,
        source="After B. R. C. Magalhães, T. Sterling, M. Hines and F. Schürmann, Fully-asynchronous cache-efficient "
        "simulation of detailed neural networks, International Conference on Computational Science (2019). "
        "Conductances: E. Hay et al., PLoS Computational Biology 7, e1002107 (2011)",
    )


def read_morphologies(folder: str) -> list[Morphology]:
    """Return the morphologies of a folder, by name."""
    path = Path(folder)
    files = sorted(each for each in path.iterdir() if each.suffix.lower() in _SUFFIXES) if path.is_dir() else []
    if not files:
        raise FileError(
            f"folder {folder}",
            bound=f"it has no morphologies ({', '.join(_SUFFIXES)})" if path.is_dir() else "it does not exist",
            remedy="name a folder of reconstructed cells, or leave morphologies out",
        )
    return [read_morphology(str(each)) for each in files]


def sites_of(synapses: int) -> tuple[int, int]:
    """Return the numbers of excitatory and inhibitory synapses of a cell."""
    excitatory = round(_EXCITATORY_PART * synapses)
    return excitatory, synapses - excitatory


def column_cell(
    form: Morphology, *, synapses: int, compartment_length: float, separate_sites: bool, t_ref: float, seed: int
) -> Cell:
    """Return a cell of the column with a morphology. See `column`."""
    count = whole_number("synapses of the column", synapses, 5, _MOST_SYNAPSES)
    length = bounded("compartment_length of the column", compartment_length, POSITIVE)
    excitatory, inhibitory = sites_of(count)
    soma: RegionLike = "soma"
    neurites: RegionLike = ~tagged("soma")
    membrane: list[tuple[RegionLike, Mechanism]] = [("all", pas(g=5e-5, e=_REST))]
    for region, decay in zip((soma, neurites), _POOL_DECAYS, strict=True):
        membrane.append((region, calcium_pool(gamma=0.0005, decay=decay)))
    for mechanism, *densities in _DENSITIES:
        for region, density in zip((soma, neurites), densities, strict=True):
            membrane.append((region, mechanism(gbar=density)))
    return Cell(
        form,
        compartments=max_length(length),
        membrane=membrane,
        receptors={
            "exc": (exp2syn(tau_rise=0.2, tau_decay=1.7), random_places(form, "all", count=excitatory, seed=seed)),
            "inh": (
                exp2syn(tau_rise=0.5, tau_decay=8.0, e=-80.0),
                random_places(form, "all", count=inhibitory, seed=seed + 2**20),
            ),
        },
        celsius=_CELSIUS,
        V_init=_REST,
        t_ref=t_ref,
        separate_sites=separate_sites,
        name="column_cell",
    )


def plan_column(
    *,
    cells: int,
    kinds: int,
    probability: float,
    contacts: int,
    synapses: int,
    current: float,
    delay: float | None,
    resolution: float,
    seed: int,
) -> ColumnPlan:
    """Draw the connections, delays and currents of a column. See `column`.

    Parameters
    ----------
    kinds
        Number of morphologies.
    """
    size = whole_number("cells of the column", cells, 2, _MOST_CELLS)
    chance = bounded("probability of the column", probability, 0.0, 1.0)
    each = whole_number("contacts of the column", contacts, 1, _MOST_SYNAPSES)
    room = sites_of(whole_number("synapses of the column", synapses, 5, _MOST_SYNAPSES))
    step = number("resolution", resolution)
    mean = bounded("current of the column", current)
    # A bit generator whose numbers NumPy promises to keep.
    random = np.random.Generator(np.random.Philox(whole_number("seed", seed, 0, 2**63 - 1)))
    is_inhibitory = np.arange(size) % 5 == 4
    sources: list[IntArray] = []
    targets: list[IntArray] = []
    receptors: list[IntArray] = []
    sites: list[IntArray] = []
    for target in range(size):
        others = np.flatnonzero(random.random(size) < chance)
        others = random.permutation(others[others != target])
        for receptor in range(2):
            chosen = others[is_inhibitory[others] == (receptor == 1)][: room[receptor] // each]
            count = each * len(chosen)
            sources.append(np.repeat(chosen, each))
            targets.append(np.full(count, target))
            receptors.append(np.full(count, receptor))
            sites.append(np.arange(count))
    count = sum(map(len, sources))
    if delay is None:
        drawn = np.exp(np.log(MEDIAN) + SIGMA * random.standard_normal(count)).clip(SHORTEST, LONGEST)
        delays = np.maximum(np.rint(drawn / step), 1.0) * step
    else:
        delays = np.full(count, number("delay of the column", delay))
    return ColumnPlan(
        kinds=np.arange(size) * kinds // size,
        currents=random.uniform(0.0, 2.0 * mean, size),
        sources=np.concatenate(sources),
        targets=np.concatenate(targets),
        receptors=np.concatenate(receptors),
        sites=np.concatenate(sites),
        delays=delays,
    )


def drawn_layer_4_cells(seeds: Sequence[int] = range(5)) -> list[Morphology]:
    """Return cells that are drawn at random, with the size of spiny stellate and star pyramidal cells of layer 4.

    A soma, six basal trees of 7 or 15 branches, and an apical trunk with oblique branches: 2.5 to 5 mm of neurites, as
    reconstructed cells of layer 4 of the mouse have (A. Arkhipov et al., PLoS Computational Biology 14, e1006535
    (2018)).
    """
    return [_drawn_cell(seed) for seed in seeds]


def _drawn_cell(seed: int) -> Morphology:
    draw = Drawing(100 + seed)
    ends: Any = [np.array([0.0, -6.0, 0.0]), np.array([0.0, 6.0, 0.0])]
    soma = draw.add(ends, 12.0, 12.0, None, "soma")
    for k in range(6):
        angle = 2.0 * np.pi * (k + 0.5 * draw.uniform()) / 6.0
        direction = np.array([np.cos(angle), 1.2 * draw.uniform() - 0.6, np.sin(angle)])
        draw.tree(
            soma,
            direction,
            depth=2 + seed % 2,
            length=40.0,
            diameter=1.0,
            tag="basal",
            begin=np.zeros(3),
            position=0.5,
        )
    trunk = soma
    begin: FloatArray | None = np.array([0.0, 6.0, 0.0])
    for k in range(3):
        width = 1.6 - 0.3 * k
        trunk = draw.branch(trunk, np.array([0.0, 1.0, 0.0]), 60.0, width, width - 0.2, "apical", begin=begin)
        begin = None
        angle = 2.0 * np.pi * draw.uniform()
        draw.tree(
            trunk,
            np.array([np.cos(angle), 0.4, np.sin(angle)]),
            depth=1,
            length=40.0,
            diameter=0.7,
            tag="apical",
        )
    return Morphology(draw.sections, name=f"drawn layer 4 cell {seed}")
