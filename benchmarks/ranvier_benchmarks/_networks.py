"""Networks of any size and in-degree, for benchmarks that scale them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ranvier.base.names import unknown_name
from ranvier.networks import NetworkModel, hpc_benchmark, interval_fire

__all__ = ["NETWORKS", "ScaledNetwork", "describe"]

_FULL_SIZE = 11250  # neurons of hpc_benchmark at scale 1, and sources of each


@dataclass(frozen=True)
class ScaledNetwork:
    """A network that ships, described by its number of neurons and how many synapses each of them has.

    Attributes
    ----------
    function
        Describes it.
    neurons_key, indegree_key
        Its keywords for the two.
    at_one
        Neurons, and synapses of each, for which these are 1.
    """

    function: Callable[..., NetworkModel]
    neurons_key: str
    indegree_key: str
    at_one: int

    def size(self, neurons: int, indegree: int) -> dict[str, float | int]:
        """Return the keywords for a size."""
        if self.at_one == 1:
            return {self.neurons_key: neurons, self.indegree_key: indegree}
        return {self.neurons_key: neurons / self.at_one, self.indegree_key: indegree / self.at_one}

    def refused_keys(self, neurons_flag: str) -> dict[str, str]:
        """Return the keys that ``--set`` cannot have, as flags of the benchmark give them."""
        return {self.neurons_key: f"give {neurons_flag}", self.indegree_key: "give --indegree"}


NETWORKS = {
    "hpc_benchmark": ScaledNetwork(hpc_benchmark, "scale", "indegree_scale", _FULL_SIZE),
    "interval_fire": ScaledNetwork(interval_fire, "cells", "connections", 1),
}


def describe(model: str, neurons: int, indegree: int, keywords: Mapping[str, Any]) -> NetworkModel:
    """Describe a network by its number of neurons and how many synapses each of them has.

    Parameters
    ----------
    model
        One of `NETWORKS`. Both numbers are approximate with ``"hpc_benchmark"``, whose populations and in-degrees are
        in a fixed proportion.
    keywords
        Parameters of the network, except its size.

    Raises
    ------
    UnknownNameError
        For another model.
    ValueOutOfBoundsError
        For numbers so small that a population or an in-degree would be 0.
    """
    if model not in NETWORKS:
        unknown_name("--model", model, list(NETWORKS))
    network = NETWORKS[model]
    return network.function(**network.size(neurons, indegree), **keywords)
