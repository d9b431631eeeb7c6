"""Networks that exchange spikes as the two of the paper do: Parscalebush and Parbulbnet.

Both are models for NEURON on ModelDB, in the form for many processes of Migliore et al. (Journal of Computational
Neuroscience 21, 119-129, 2006). Here, cells of the same kind receive a stimulus that makes them fire when those fire,
and connections of weight 0 carry their spikes: times of computation and exchange are those of such a network, and the
spikes are the same for any change of these.

Published are: 500 cells of several compartments in Parscalebush (ModelDB 52034), which Migliore et al. scale to 40,000,
with epileptiform bursts of the whole network (Bush, Prince and Miller, Journal of Neurophysiology 82, 1748-1758, 1999);
mitral and granule cells in Parbulbnet, which are connected in both directions, with mitral cells that fire together
(Davison, Feng and Brown, Journal of Neurophysiology 90, 1921-1935, 2003). Everything else is assumed: the numbers in
this module, where its documentation does not say otherwise.
"""

from __future__ import annotations

import numpy as np

import ranvier as rv
from ranvier.networks import NetworkModel
from ranvier.networks.ring import ring_cell

__all__ = ["BYTES_OF_CELL", "DELAY", "LEAST_CELLS", "LONGEST", "MOST_CELLS", "bulbnet", "scalebush"]

_RESOLUTION = 0.025
DELAY = 1.0
"""Delay of all connections, ms: spikes are exchanged every millisecond. Assumed."""
# Branches of a tree of two levels, with the soma: seven compartments.
_DEPTH = 2
_STIMULUS = 20.0  # nS; each causes one spike
_REFRACTORY = 5.0
_REGULARITY = 5.0
LONGEST = 1e5
"""Longest time of a simulation, ms."""
BYTES_OF_CELL = 1000
"""Bytes that a cell and its connections need, about."""
MOST_CELLS = 10**7
"""Greatest number of cells."""

_INPUTS = 50
_BURST, _BETWEEN = 100.0, 500.0
_BURST_RATE, _QUIET_RATE = 50.0, 2.0

_GRANULE_CELLS = 100  # for each mitral cell
_MITRAL_INPUTS_OF_GRANULE_CELL = 3
_CYCLE, _VOLLEY = 25.0, _REFRACTORY  # 40 cycles in a second; one spike in each
# With this dead time, the first spike of a volley comes after 2 ms on average.
_VOLLEY_RATE = 1000.0 / (2.0 + _REFRACTORY)
_GRANULE_RATE = 5.0
LEAST_CELLS = 2 * (1 + _GRANULE_CELLS)
"""Least number of cells of both networks: two mitral cells with their granule cells."""


def scalebush(*, cells: int = 500, seed: int = 1) -> NetworkModel:
    """Describe a network with the cells and the bursts of Parscalebush.

    Published: 500 cells of several compartments, and bursts in which all cells fire. Assumed: seven compartments, 50
    inputs of a cell, a delay of 1 ms, a burst of 100 ms every 500 ms with 50 spikes/s, and 2 spikes/s between.
    """
    net = rv.Network(resolution=_RESOLUTION, seed=seed, name="scalebush")
    population = net.create(ring_cell(depth=_DEPTH, compartments=1), cells, name="cells")
    inputs = min(_INPUTS, cells - 1)
    net.connect(population, population, rv.FixedIndegree(inputs, allow_autapses=False), weight=0.0, delay=DELAY)
    _excite(net, population, _BETWEEN, _BURST, _BURST_RATE, _QUIET_RATE)
    return NetworkModel(net=net, spikes=net.record_spikes(population), time=5000.0)


def bulbnet(*, cells: int = 2525, seed: int = 1) -> NetworkModel:
    """Describe a network with the cells and the rhythm of Parbulbnet.

    Published: mitral and granule cells, connected in both directions, and mitral cells that fire together. Assumed: 100
    granule cells for each mitral cell, each of which receives from three mitral cells, and as many connections in the
    other direction; seven compartments, a delay of 1 ms, mitral cells that fire once in each of 40 cycles per second,
    within 5 ms, and granule cells with 5 spikes/s.
    """
    net = rv.Network(resolution=_RESOLUTION, seed=seed, name="bulbnet")
    cell = ring_cell(depth=_DEPTH, compartments=1)
    mitral = net.create(cell, cells // (1 + _GRANULE_CELLS), name="mitral cells")
    granule = net.create(cell, cells - len(mitral), name="granule cells")
    inputs = min(_MITRAL_INPUTS_OF_GRANULE_CELL, len(mitral))
    net.connect(mitral, granule, rv.FixedIndegree(inputs), weight=0.0, delay=DELAY)
    net.connect(granule, mitral, rv.FixedOutdegree(inputs), weight=0.0, delay=DELAY)
    _excite(net, mitral, _CYCLE, _VOLLEY, _VOLLEY_RATE, 0.0)
    _excite(net, granule, _CYCLE, _CYCLE, _GRANULE_RATE, _GRANULE_RATE)
    return NetworkModel(net=net, spikes=net.record_spikes([mitral, granule]), time=5000.0)


def _excite(
    net: rv.Network, population: rv.Population, period: float, active: float, rate: float, quiet_rate: float
) -> None:
    """Make cells fire with one rate (spikes/s) for a part of each period (ms), and with another for the rest."""
    begins = np.arange(0.0, LONGEST, period)
    times = np.column_stack([begins, begins + active]).ravel()
    rates = np.tile([rate, quiet_rate], len(begins))
    if active >= period:
        times, rates = times[::2], rates[::2]
    generator = rv.inhomogeneous_gamma_generator(times=times, rates=rates, shape=_REGULARITY, dead_time=_REFRACTORY)
    net.stimulate(population, generator, weight=_STIMULUS)
