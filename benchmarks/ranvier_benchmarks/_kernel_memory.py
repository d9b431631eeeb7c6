"""The memory of a process after each phase, as Jordan et al. (2018) show it in Figure 7D."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["cumulative_bytes", "lasting_account"]

# Parts of the nodes: a neuron of the paper's program contains its inputs.
_NODES = ("neurons", "inputs", "stimuli")
_POSTSYNAPTIC = ("synapses",)
# Recordings grow with the simulated time; "invention" is what only a dry run needs.
_NOT_OF_THE_KERNEL = ("recordings", "invention")


def lasting_account(memory: Mapping[str, int]) -> dict[str, int]:
    """Return the bytes by component, without recordings and without those that only a dry run needs."""
    return {name: size for name, size in memory.items() if name not in _NOT_OF_THE_KERNEL}


def cumulative_bytes(built: Mapping[str, int], end: Mapping[str, int]) -> dict[str, int]:
    """Return the bytes of a process after its nodes, after its connections, and at the end.

    Parameters
    ----------
    built, end
        Bytes by component before the first step, and at the end of the simulation.

    Returns
    -------
    dict
        ``"nodes"``; ``"connections"``, with the postsynaptic part of the infrastructure only, since the presynaptic
        part is made in the phase *init*; and ``"end"``.
    """
    nodes = sum(built.get(name, 0) for name in _NODES)
    connections = nodes + sum(built.get(name, 0) for name in _POSTSYNAPTIC)
    return {"nodes": nodes, "connections": connections, "end": sum(lasting_account(end).values())}
