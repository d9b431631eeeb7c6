"""Pulse packets in a synfire chain, after Diesmann, Gewaltig and Aertsen (1999).

M. Diesmann, M.-O. Gewaltig and A. Aertsen, Nature 402, 529-533 (1999), https://doi.org/10.1038/990101.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ranvier.base.distributions import Normal
from ranvier.base.numeric import number, whole_number
from ranvier.models import iaf_psc_alpha, poisson_generator, pulsepacket_generator
from ranvier.network.network import Network
from ranvier.network.rules import AllToAll
from ranvier.networks._alpha_psp import alpha_psp_height
from ranvier.networks._bounds import LARGEST_NUMBER, bounded
from ranvier.networks.network_model import NetworkModel

if TYPE_CHECKING:
    from ranvier.figures.style import Figure
    from ranvier.recording.data import SpikeData

__all__ = ["synfire"]

_C_M, _TAU_M, _TAU_SYN = 250.0, 10.0, 0.3258  # pF, ms, ms
_E_L, _V_TH = -70.0, -55.0  # mV
_PSP = 0.14  # mV
# 20,000 inputs: 88 % are excitatory and fire at 2 spikes/s, 12 % are inhibitory and fire at 12.5 spikes/s.
_EXCITATION, _INHIBITION = 17_600 * 2.0, 2_400 * 12.5  # spikes/s
# Mean and standard deviation of the free potential with this input, mV.
_MEAN, _STD = -61.6, 2.9
_PRESIM, _PULSE = 100.0, 120.0  # ms
_LATENCY = 4.0  # ms, of a group, at most
_SPREAD = 3.0  # standard deviations from the middle to the first spikes of a packet


def synfire(
    *,
    groups: int = 10,
    group_size: int = 100,
    activity: int = 70,
    sdev: float = 1.0,
    delay: float = 5.0,
    resolution: float = 0.1,
    seed: int = 1,
) -> NetworkModel:
    """Describe a synfire chain, through which a pulse packet travels or in which it dies out.

    Each neuron of a group has a synapse from all neurons of the group before, and the activity of a cortex of 20,000
    inputs that fire at random. After 20 ms, a packet of spikes arrives at the first group. A packet that is large and
    short enough becomes a volley of nearly all neurons of a group, which travels through the chain; any other packet
    dies out. The figure shows the number of spikes and their spread from group to group.

    Parameters
    ----------
    groups
        Number of groups, >= 1.
    group_size
        Neurons of a group, >= 1.
    activity
        Number of spikes of the packet to all neurons of the first group, 0 to 10,000.
    sdev
        Standard deviation of their times, ms, 0 to 1,000.
    delay
        Delay of the synapses between groups, ms.
    resolution
        Resolution, ms.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueOutOfBoundsError
        For values outside their bounds.

    References
    ----------
    M. Diesmann, M.-O. Gewaltig and A. Aertsen, Nature 402, 529-533 (1999), https://doi.org/10.1038/990101
    """
    groups = whole_number("groups of the synfire chain", groups, 1, 2**20)
    size = whole_number("group_size of the synfire chain", group_size, 1, LARGEST_NUMBER)
    activity = whole_number("activity of the synfire chain", activity, 0, 10_000)
    sdev = bounded("sdev of the synfire chain", sdev, 0.0, 1000.0)
    delay = number("delay of the synfire chain", delay)
    net = Network(resolution=resolution, seed=seed, name=f"Synfire chain of {groups} groups")
    weight = _PSP / alpha_psp_height(_TAU_M, _TAU_SYN, _C_M)
    neuron = iaf_psc_alpha(
        C_m=_C_M,
        tau_m=_TAU_M,
        tau_syn_ex=_TAU_SYN,
        tau_syn_in=_TAU_SYN,
        E_L=_E_L,
        V_th=_V_TH,
        V_reset=_E_L,
        t_ref=1.0,
        V_m=Normal(_MEAN, _STD, high=_V_TH),
    )
    packet = net.create(pulsepacket_generator(pulse_times=[_PULSE], activity=activity, sdev=sdev), 1, name="packet")
    chain = [net.create(neuron, size, name=f"group {i + 1}") for i in range(groups)]
    for sources, targets in zip([packet, *chain[:-1]], chain, strict=True):
        net.connect(sources, targets, AllToAll(), weight=weight, delay=delay)
        net.stimulate(targets, poisson_generator(rate=_EXCITATION), weight=weight)
        net.stimulate(targets, poisson_generator(rate=_INHIBITION), weight=-weight)
    return NetworkModel(
        net=net,
        spikes=net.record_spikes(),
        time=_PULSE - _PRESIM + groups * (delay + _LATENCY) + 20.0,
        presim=_PRESIM,
        source="M. Diesmann, M.-O. Gewaltig and A. Aertsen, Nature 402, 529-533 (1999)",
        figure=_ChainFigure(activity, sdev, delay),
    )


@dataclass(frozen=True)
class _ChainFigure:
    """Draws the packet in each group: its number of spikes and their spread.

    Attributes
    ----------
    activity, sdev, delay
        As in `synfire`.
    """

    activity: int
    sdev: float
    delay: float

    def __call__(self, spikes: SpikeData, title: str) -> Figure:
        from ranvier.figures.packets import packets

        return packets(spikes, (self.activity, self.sdev), self.begins(len(spikes.segments)), title=title)

    def begins(self, groups: int) -> list[float]:
        """Return for each group the time from which the packet may be there, ms."""
        return [_PULSE - _SPREAD * self.sdev + (i + 1) * self.delay for i in range(groups)]
