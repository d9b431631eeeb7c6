"""Networks of any size and in-degree, for benchmarks that scale them."""

from __future__ import annotations

from collections.abc import Callable

from ranvier.base.names import unknown_name
from ranvier.networks import NetworkModel, hpc_benchmark, interval_fire

__all__ = ["NETWORKS", "describe"]

_FULL_SIZE = 11250  # neurons of hpc_benchmark at scale 1, and sources of each


def describe(model: str, neurons: int, indegree: int, resolution: float, seed: int) -> NetworkModel:
    """Describe a network by its number of neurons and how many synapses each of them has.

    Parameters
    ----------
    model
        One of `NETWORKS`. Both numbers are approximate with ``"hpc_benchmark"``, whose populations and in-degrees are
        in a fixed proportion.

    Raises
    ------
    UnknownNameError
        For another model.
    ValueOutOfBoundsError
        For numbers that leave nothing of a population or of its synapses.
    """
    if model not in NETWORKS:
        unknown_name("--model", model, list(NETWORKS))
    return NETWORKS[model](neurons, indegree, resolution, seed)


def _hpc_benchmark(neurons: int, indegree: int, resolution: float, seed: int) -> NetworkModel:
    return hpc_benchmark(
        scale=neurons / _FULL_SIZE, indegree_scale=indegree / _FULL_SIZE, resolution=resolution, seed=seed
    )


def _interval_fire(neurons: int, indegree: int, resolution: float, seed: int) -> NetworkModel:
    return interval_fire(cells=neurons, connections=indegree, resolution=resolution, seed=seed)


NETWORKS: dict[str, Callable[[int, int, float, int], NetworkModel]] = {
    "hpc_benchmark": _hpc_benchmark,
    "interval_fire": _interval_fire,
}
