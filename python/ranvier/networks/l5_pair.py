"""Two pyramidal cells of layer 5 that are connected with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from ranvier.base.numeric import number, whole_number
from ranvier.base.values import FloatArray
from ranvier.cells.cell import Cell
from ranvier.cells.clamps import Clamp, current_clamp
from ranvier.cells.compartments import max_length
from ranvier.cells.locations import random_places
from ranvier.cells.membrane import Mechanism, Receptor
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
    nmda,
    pas,
    sk_current,
)
from ranvier.cells.morphology import TAGS, Morphology
from ranvier.cells.places import Place, PlacesLike, RegionLike, as_region, at, within_distance
from ranvier.cells.probes import ProbeLike
from ranvier.cells.reading import read_morphology
from ranvier.errors import ValueOutOfBoundsError
from ranvier.network.network import Network
from ranvier.network.rules import Explicit
from ranvier.networks._drawing import Drawing
from ranvier.networks.network_model import NetworkModel

__all__ = ["drawn_pyramidal_cell", "l5_cell", "l5_pair"]

_SOURCE = (
    "Conductances: E. Hay, S. Hill, F. Schürmann, H. Markram and I. Segev, PLoS Computational Biology 7, e1002107 "
    "(2011), https://doi.org/10.1371/journal.pcbi.1002107"
)


def l5_pair(
    *,
    morphology: str = "",
    current: float = 900.0,
    contacts: int = 5,
    weight: float = 0.7,
    delay: float = 1.5,
    resolution: float = 0.025,
    seed: int = 1,
) -> NetworkModel:
    """Describe two pyramidal cells of layer 5 that excite each other, one of which is injected with a current.

    The cells have the channels of cortical cells that E. Hay et al. (2011) found for their firing. Each synapse has a
    fast part (AMPA) and a slow one (NMDA), whose magnesium block a depolarized membrane lifts.

    Parameters
    ----------
    morphology
        File of a reconstructed cell (SWC, Neurolucida, HDF5), which must have basal and apical dendrites; empty: a cell
        that is drawn here.
    current
        Current into the soma of the first cell from 20 ms, pA.
    contacts
        Places on the dendrites at which a cell reaches the other, >= 1.
    weight
        Weight of both parts of a contact, nS, >= 0.
    delay
        ms.
    resolution
        Resolution, ms.
    seed
        Seed of the places of the contacts.

    Raises
    ------
    ValueOutOfBoundsError
        For values outside their bounds, and a cell without basal or apical dendrites.
    FileError
        For a file that cannot be read.
    """
    count = whole_number("contacts", contacts, 1, 1000)
    form = read_morphology(morphology) if morphology else drawn_pyramidal_cell()
    places = random_places(form, "basal" if _has(form, "basal") else "dendrites", count=count, seed=seed)
    amplitude = number("current", current)
    stimulated = l5_cell(form, places, clamps={"electrode": (current_clamp(start=20.0, amplitude=amplitude), at(0))})
    net = Network(resolution=number("resolution", resolution), seed=seed, name="two pyramidal cells of layer 5")
    first = net.create(stimulated, 1, name="first")
    second = net.create(l5_cell(form, places), 1, name="second")
    one_each = Explicit([0] * count, [0] * count)
    for source, target in ((first, second), (second, first)):
        for part in ("ampa", "nmda"):
            net.connect(
                source, target, one_each, weight=weight, delay=delay, receptor=part, site=np.arange(count, dtype=float)
            )
    return NetworkModel(net=net, spikes=net.record_spikes(), time=300.0, source=_SOURCE)


def l5_cell(
    morphology: Morphology | None = None,
    contacts: Sequence[Place] = (),
    *,
    clamps: Mapping[str, tuple[Clamp, Place]] | None = None,
    probes: Mapping[str, ProbeLike] | None = None,
    rates: Literal["table", "exact"] = "table",
) -> Cell:
    """Return a pyramidal cell of layer 5, with the receptors "ampa" and "nmda" at some places. See `l5_pair`."""
    form = drawn_pyramidal_cell() if morphology is None else morphology
    for tag in ("basal", "apical"):
        if not _has(form, tag):
            raise ValueOutOfBoundsError(
                f"morphology '{form.name}'",
                bound=f"it has no {tag} dendrite",
                remedy="pass the morphology of a pyramidal cell",
            )
    receptors: dict[str, tuple[Receptor, PlacesLike]] = {}
    if contacts:
        receptors = {"ampa": (exp2syn(tau_rise=0.2, tau_decay=1.7), list(contacts)), "nmda": (nmda(), list(contacts))}
    return Cell(
        form,
        compartments=max_length(30.0),
        membrane=_membrane(_has(form, "axon")),
        receptors=receptors,
        clamps=clamps,
        probes=probes,
        # Dendrites have spines, which double their membrane.
        C_m=[("all", 1.0), ("dendrites", 2.0)],
        R_a=100.0,
        celsius=34.0,
        V_init=-80.0,
        rates=rates,
        name="l5_cell",
    )


def _has(morphology: Morphology, tag: str) -> bool:
    return TAGS[tag] in morphology.tags


def _membrane(has_axon: bool) -> list[tuple[RegionLike, Mechanism]]:
    """Return the channels, by region. Densities are S/cm^2."""
    apical = as_region("region", "apical")
    # There are many more calcium channels at the start of the tuft.
    hot = apical & within_distance(685.0, 885.0)
    membrane: list[tuple[RegionLike, Mechanism]] = [
        ("soma", pas(g=3.38e-5, e=-90.0)),
        ("soma", na_transient(gbar=2.04)),
        ("soma", na_persistent(gbar=0.00172)),
        ("soma", k_transient(gbar=0.0812)),
        ("soma", k_persistent(gbar=0.00223)),
        ("soma", k_fast(gbar=0.693)),
        ("soma", ca_hva(gbar=0.000992)),
        ("soma", ca_lva(gbar=0.00343)),
        ("soma", sk_current(gbar=0.0441)),
        ("soma", h_current(gbar=0.0002)),
        ("soma", calcium_pool(gamma=0.000501, decay=460.0)),
        ("basal", pas(g=4.67e-5, e=-90.0)),
        ("basal", h_current(gbar=0.0002)),
        ("apical", pas(g=5.89e-5, e=-90.0)),
        ("apical", na_transient(gbar=0.0213)),
        ("apical", k_fast(gbar=0.000261)),
        ("apical", m_current(gbar=6.75e-5)),
        ("apical", h_current(gbar=_h_density)),
        ("apical", sk_current(gbar=0.0012)),
        ("apical", calcium_pool(gamma=0.000509, decay=122.0)),
        (apical - hot, ca_hva(gbar=5.55e-5)),
        (apical - hot, ca_lva(gbar=0.000187)),
        (hot, ca_hva(gbar=0.000555)),
        (hot, ca_lva(gbar=0.0187)),
    ]
    if has_axon:
        membrane += [
            ("axon", pas(g=3.25e-5, e=-90.0)),
            ("axon", na_transient(gbar=3.14)),
            ("axon", na_persistent(gbar=0.00683)),
            ("axon", k_transient(gbar=0.0893)),
            ("axon", k_persistent(gbar=0.973)),
            ("axon", k_fast(gbar=1.02)),
            ("axon", ca_hva(gbar=0.00099)),
            ("axon", ca_lva(gbar=0.00875)),
            ("axon", sk_current(gbar=0.0071)),
            ("axon", calcium_pool(gamma=0.00291, decay=287.0)),
        ]
    return membrane


def _h_density(distance: FloatArray) -> FloatArray:
    """Return the density of the h current, which grows along the apical dendrite, S/cm^2."""
    return 0.0002 * (-0.8696 + 2.087 * np.exp(0.0031 * distance))


def drawn_pyramidal_cell(seed: int = 5) -> Morphology:
    """Return the form of a pyramidal cell, drawn at random.

    A soma, an initial segment of an axon, basal trees, an apical trunk with oblique branches, and a tuft. Branches go
    straight on with some wobble; lengths and diameters are those that are typical of layer 5 of the rat.
    """
    draw = Drawing(seed)
    soma = draw.add([np.array([0.0, -11.0, 0.0]), np.array([0.0, 11.0, 0.0])], 18.0, 18.0, None, "soma")
    draw.branch(
        soma, np.array([0.1, -1.0, 0.0]), 60.0, 2.0, 1.2, "axon", begin=np.array([0.0, -11.0, 0.0]), position=0.0
    )
    for k in range(7):
        angle = 2.0 * np.pi * (k + 0.5 * draw.uniform()) / 7.0
        down = -0.3 - 0.9 * draw.uniform()
        direction = np.array([np.cos(angle), down, np.sin(angle)])
        draw.tree(soma, direction, depth=3, length=45.0, diameter=1.6, tag="basal", begin=np.zeros(3), position=0.5)
    trunk = soma
    begin: FloatArray | None = np.array([0.0, 11.0, 0.0])
    for k in range(6):
        width = 5.0 - 0.6 * k
        trunk = draw.branch(trunk, np.array([0.0, 1.0, 0.0]), 115.0, width, width - 0.5, "apical", begin=begin)
        begin = None
        if k < 5:
            angle = 2.0 * np.pi * draw.uniform()
            side = np.array([np.cos(angle), 0.4, np.sin(angle)])
            draw.tree(trunk, side, depth=2, length=70.0, diameter=1.2, tag="apical")
    for sign in (-1.0, 1.0):
        draw.tree(trunk, np.array([sign, 1.2, 0.3 * sign]), depth=4, length=75.0, diameter=1.6, tag="apical")
    return Morphology(draw.sections, name="drawn pyramidal cell")
