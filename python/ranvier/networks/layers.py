"""Networks of branched cells with the synaptic delays of a reconstructed cortex: the test model of stepping."""

from __future__ import annotations

from typing import Literal

from ranvier.base.names import check_choice
from ranvier.base.numeric import number, whole_number
from ranvier.models import poisson_generator
from ranvier.network.network import Network
from ranvier.network.rule_base import Rule
from ranvier.network.rules import FixedIndegree, NearestNeighbors
from ranvier.networks._cortical_delays import cortical_delays
from ranvier.networks.network_model import NetworkModel
from ranvier.networks.ring import ring_cell

__all__ = ["layers"]

_WEIGHT = 0.5  # nS
_DRIVE_RATE, _DRIVE_WEIGHT = 8.0, 15.0  # spikes/s, nS
_DEPTHS = (3, 4, 5)


def layers(
    *,
    cells: int = 128,
    connectivity: Literal["random", "nearest"] = "random",
    sizes: Literal["equal", "different"] = "different",
    indegree: int = 20,
    compartments: int = 2,
    delay: float | None = None,
    dendrites: Literal["hh", "pas"] = "hh",
    resolution: float = 0.025,
    seed: int = 1,
) -> NetworkModel:
    """Describe a network of branched cells whose delays are those of a reconstructed cortex.

    The cells are those of `ring`. Their delays follow the distribution that B. R. C. Magalhães et al. (2019) show for
    a model of 219,247 neurons: at least 0.1 ms, which 0.13 % of the synapses have, and mostly 0.5 to 4 ms. So most
    pairs of cells could be much further apart in time than the shortest delay of all. Each cell also receives a train
    of random spikes.

    Parameters
    ----------
    cells
        Number of cells, more than `indegree`.
    connectivity
        ``"random"``: the sources of a cell are drawn from all cells; ``"nearest"``: they are the cells with the nearest
        ids.
    sizes
        ``"different"``: one third of the cells each have trees of 3, 4 and 5 levels; ``"equal"``: all have 5.
    indegree
        Synapses of each cell; an even number if they are the nearest.
    compartments
        Number of compartments of each branch; the soma has one.
    delay
        Delay of all synapses, ms, for comparison; None: drawn as above.
    dendrites
        ``"hh"``: Hodgkin-Huxley channels everywhere; ``"pas"``: a leak in the dendrites.
    resolution
        Resolution, ms.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueOutOfBoundsError, RuleError
        For values outside their bounds.
    UnknownNameError
        For a connectivity, sizes or dendrites that do not exist.
    """
    degree = whole_number("indegree of the layers", indegree, 1, 2**20)
    size = whole_number("cells of the layers", cells, degree + 1, 2**40)
    check_choice("connectivity of the layers", connectivity, ["random", "nearest"])
    check_choice("sizes of the layers", sizes, ["equal", "different"])
    net = Network(
        resolution=number("resolution", resolution), seed=seed, name=f"layers of branched cells ({dendrites})"
    )
    depths = _DEPTHS if sizes == "different" else _DEPTHS[-1:]
    kinds = [ring_cell(depth=depth, compartments=compartments, dendrites=dendrites) for depth in depths]
    # In blocks, as layers lie in a cortex, so that neighbours are alike.
    population = net.create([kinds[i * len(kinds) // size] for i in range(size)], name="cells")
    rule: Rule = FixedIndegree(degree) if connectivity == "random" else NearestNeighbors(degree)
    chosen = cortical_delays() if delay is None else number("delay of the layers", delay)
    net.connect(population, population, rule, weight=_WEIGHT, delay=chosen, name="layers")
    net.stimulate(population, poisson_generator(rate=_DRIVE_RATE), weight=_DRIVE_WEIGHT, name="drive")
    return NetworkModel(
        net=net,
        spikes=net.record_spikes(population),
        time=100.0,
        source="B. R. C. Magalhães, T. Sterling, M. Hines and F. Schürmann, Fully-asynchronous cache-efficient "
        "simulation of detailed neural networks, International Conference on Computational Science (2019)",
    )
