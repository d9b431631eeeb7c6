"""The network of benchmarks of the exchange of spikes.

Hines, Kumar and Schürmann, Frontiers in Computational Neuroscience 5, 49 (2011),
https://doi.org/10.3389/fncom.2011.00049: artificial cells that fire spontaneously and need little computation.
"""

from __future__ import annotations

from typing import Literal

from ranvier.base.names import check_choice
from ranvier.base.numeric import whole_number
from ranvier.errors import ValueOutOfBoundsError, WrongTypeError
from ranvier.models import interval_fire as cell
from ranvier.network.network import Network
from ranvier.network.rule_base import Rule
from ranvier.network.rules import NearestNeighbors, UniformIndegree
from ranvier.networks.network_model import NetworkModel

__all__ = ["interval_fire"]

_SPREAD = 100
_BURST_GROUPS = 8
_LARGEST_NUMBER = 2**63 - 1


def interval_fire(
    *,
    cells: int = 16384,
    connections: int = 1000,
    spread: int | None = None,
    topology: Literal["random", "adjacent"] = "random",
    burst: bool = False,
    weight: float = 0.0,
    delay: float = 1.0,
    resolution: float = 0.025,
    seed: int = 1,
) -> NetworkModel:
    """Describe the network of Hines, Kumar and Schürmann (2011).

    Each cell (`interval_fire`) fires at random intervals of 20 to 40 ms. It has about `connections` inputs. For each
    spike that reaches it, it computes its state and the time of its next spike again, by an exponential and a
    logarithm; the time does not change if `weight` is 0.

    Parameters
    ----------
    cells
        Number of cells, >= 1.
    connections
        Mean number of inputs of a cell; with ``topology="adjacent"``, the exact number, which must be even.
    spread
        With ``topology="random"``, the difference between the largest and the smallest number of inputs of a cell, an
        even number; default 100.
    topology
        ``"random"``: inputs are any other cells, drawn with repetition; ``"adjacent"``: the cells with the nearest ids,
        half of them on either side.
    burst
        Whether eighths of the cells, by id, fire five times faster for 50 ms, one eighth after another.
    weight
        Increment of the state of a cell by each spike, the parameter ``jump`` of the cells; a cell fires when its state
        reaches 1.
    delay
        Delay of all connections, ms.
    resolution
        Resolution, ms; by default that of the paper.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueOutOfBoundsError
        For values outside their bounds, and for `spread` with ``topology="adjacent"``.
    RuleError
        When there are too few cells for the connections.
    UnknownNameError
        For a topology that does not exist.

    References
    ----------
    M. Hines, S. Kumar and F. Schürmann, Frontiers in Computational Neuroscience 5, 49 (2011),
    https://doi.org/10.3389/fncom.2011.00049
    """
    of_network = "of the interval-fire network"
    cells = whole_number(f"cells {of_network}", cells, 1, _LARGEST_NUMBER)
    connections = whole_number(f"connections {of_network}", connections, 0, _LARGEST_NUMBER)
    if not isinstance(burst, bool):
        raise WrongTypeError(f"burst {of_network}", type(burst).__name__, "must be True or False")
    rule: Rule
    check_choice(f"topology {of_network}", topology, ["random", "adjacent"])
    if topology == "random":
        half = _half_spread(f"spread {of_network}", spread, connections)
        rule = UniformIndegree(connections - half, connections + half, allow_autapses=False)
    else:
        if spread is not None:
            raise ValueOutOfBoundsError(
                f"spread {of_network}",
                str(spread),
                "with topology adjacent all cells have the same number of inputs",
                "leave it out",
            )
        rule = NearestNeighbors(connections)
    net = Network(resolution=resolution, seed=seed, name=f"interval-fire network ({topology})")
    population = net.create(cell(burst_groups=_BURST_GROUPS if burst else 0, jump=weight), cells, name="cells")
    net.connect(population, population, rule, receptor="spikes", weight=1.0, delay=delay)
    return NetworkModel(
        net=net,
        spikes=net.record_spikes(),
        time=200.0,
        source="M. Hines, S. Kumar and F. Schürmann, Frontiers in Computational Neuroscience 5, 49 (2011)",
    )


def _half_spread(name: str, spread: int | None, connections: int) -> int:
    if spread is None:
        # So that small networks, as in tests, need not set it.
        return min(_SPREAD // 2, connections)
    spread = whole_number(name, spread, 0, _LARGEST_NUMBER)
    if spread % 2 or spread > 2 * connections:
        raise ValueOutOfBoundsError(
            name, str(spread), f"it must be even and at most twice the number of connections, {2 * connections}"
        )
    return spread // 2
