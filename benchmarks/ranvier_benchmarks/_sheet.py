"""A sheet of neurons with local connections: the network of `ranvier bench placement`."""

from __future__ import annotations

import math

import ranvier as rv
from ranvier.base.names import check_choice
from ranvier.networks import NetworkModel

__all__ = ["ACTIVITIES", "sheet"]

ACTIVITIES = ("even", "bump")
_RADIUS_OF_BUMP = 0.15


def sheet(
    *, neurons: int = 10000, indegree: int = 400, reach: float = 0.1, activity: str = "even", seed: int = 1
) -> NetworkModel:
    """Excitatory and inhibitory neurons at random positions of a periodic square of 1 mm x 1 mm.

    Parameters
    ----------
    neurons
        Number of neurons, a fifth of them inhibitory.
    indegree
        Connections per neuron, a fifth of them inhibitory. Sources are drawn with a Gaussian of the distance.
    reach
        Standard deviation of the Gaussian along an axis, mm.
    activity
        "even": the same drive for all. "bump": neurons within 0.15 mm of the center get a stronger drive, all others a
        weaker one.
    seed
        Of all random numbers.
    """
    check_choice("key activity", activity, ACTIVITIES)
    net = rv.Network(seed=seed, name="sheet")
    excitatory = neurons * 4 // 5
    sizes = {"exc": excitatory, "inh": neurons - excitatory}
    populations = {
        name: net.create(
            "iaf_psc_exp",
            size,
            name=name,
            positions=rv.random_positions(size, extent=(1.0, 1.0), periodic=True),
            V_m=rv.Uniform(-70.0, -55.0),
        )
        for name, size in sizes.items()
    }
    weight = 40.0 * math.sqrt(100.0 / indegree)
    of_sources = {"exc": (indegree * 4 // 5, weight), "inh": (indegree - indegree * 4 // 5, -5.0 * weight)}
    for source, (degree, strength) in of_sources.items():
        for target in populations.values():
            net.connect(
                populations[source],
                target,
                rv.FixedIndegree(degree, probability="exp(-d**2/(2*reach**2))", reach=reach),
                weight=strength,
                delay="1 + d/0.3",
            )
    for population in populations.values():
        if activity == "even":
            net.stimulate(population, rv.poisson_generator(rate=9000.0), weight=40.0)
        else:
            rate = rv.Expression("where(x**2 + y**2 < radius**2, 14000, 5000)", radius=_RADIUS_OF_BUMP)
            net.stimulate(population, rv.poisson_generator(rate=rate), weight=40.0)
    return NetworkModel(net, net.record_spikes())
