"""A ring of neurons that remembers an angle by a bump of activity, after Compte et al. (2000).

A. Compte, N. Brunel, P. S. Goldman-Rakic and X.-J. Wang, Cerebral Cortex 10, 910-923 (2000),
https://doi.org/10.1093/cercor/10.9.910.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ranvier.base.numeric import whole_number
from ranvier.equations.expression import Expression
from ranvier.equations.models import iaf_wang_2002
from ranvier.models import dc_generator, poisson_generator, saturating_nmda
from ranvier.network.network import Network
from ranvier.network.rules import AllToAll
from ranvier.networks._bounds import POSITIVE, bounded
from ranvier.networks.network_model import NetworkModel
from ranvier.populations.populations import Population
from ranvier.space.positions import grid

if TYPE_CHECKING:
    from ranvier.figures.style import Figure
    from ranvier.recording.data import SpikeData

__all__ = ["ring_attractor"]

_PUBLISHED_SIZE = 2048  # excitatory neurons to which the conductances belong
_G_EE, _G_EI, _G_IE, _G_II = 0.381, 0.292, 1.336, 1.024  # nS; source and target
_G_EXTERNAL_E, _G_EXTERNAL_I, _EXTERNAL_RATE = 3.1, 2.38, 1800.0  # nS, nS, spikes/s
_DELAY = 0.5  # ms
_CUE_START, _CUE_DURATION, _CUE_WIDTH = 500.0, 250.0, 36.0  # ms, ms, degrees
_DEGREES = 360.0  # of the ring, which is 1 mm long


def ring_attractor(
    *,
    neurons: int = 2048,
    J_plus: float = 1.62,  # noqa: N803
    sigma: float = 18.0,
    cue: float = 180.0,
    cue_current: float = 200.0,
    resolution: float = 0.1,
    seed: int = 1,
) -> NetworkModel:
    """Describe the ring of Compte et al. (2000), whose activity remembers where a cue was.

    Excitatory neurons are on a ring, and excite each other the more the nearer they are; inhibition is equal for all.
    Synapses among excitatory neurons and those to inhibitory neurons have NMDA receptors, which are slow and saturate.
    After a cue, a bump of activity stays at its place and wanders at random.

    Parameters
    ----------
    neurons
        Number of excitatory neurons, >= 32; there are a quarter as many inhibitory neurons. Conductances are divided by
        the number, so that the mean input is that of the paper, with 2,048.
    J_plus
        Strength of excitation among neighbours relative to its mean over the ring, >= 1 and such that the strength far
        away is >= 0.
    sigma
        Width of this excitation, degrees, > 0 and <= 180.
    cue
        Angle of the cue, degrees, 0 to 360.
    cue_current
        Current from 500 to 750 ms into the neurons within 18 degrees of the cue, pA, >= 0; 0: no cue.
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
    A. Compte, N. Brunel, P. S. Goldman-Rakic and X.-J. Wang, Cerebral Cortex 10, 910-923 (2000),
    https://doi.org/10.1093/cercor/10.9.910
    """
    of_network = "of the ring attractor"
    size = whole_number(f"neurons {of_network}", neurons, 32, 2**24)
    sigma = bounded(f"sigma {of_network}", sigma, POSITIVE, 180.0)
    mean = sigma * math.sqrt(2.0 * math.pi) * math.erf(180.0 / (math.sqrt(2.0) * sigma)) / _DEGREES
    high = bounded(f"J_plus {of_network}", J_plus, 1.0, 1.0 / mean)
    # The mean over the ring is 1.
    low = (1.0 - high * mean) / (1.0 - mean)
    angle = bounded(f"cue {of_network}", cue, 0.0, _DEGREES)
    current = bounded(f"cue_current {of_network}", cue_current)
    net = Network(resolution=resolution, seed=seed, name="Ring attractor")
    ring = grid((size, 1), extent=(1.0, 0.1), center=(0.5, 0.0), periodic=(True, False))
    pyramidal = iaf_wang_2002(C_m=500.0, g_L=25.0, t_ref=2.0, V_th=-50.0, V_reset=-60.0, tau_AMPA=2.0, tau_GABA=10.0)
    interneuron = iaf_wang_2002(C_m=200.0, g_L=20.0, t_ref=1.0, V_th=-50.0, V_reset=-60.0, tau_AMPA=2.0, tau_GABA=10.0)
    excitatory = net.create(pyramidal, size, name="excitatory", positions=ring)
    inhibitory = net.create(interneuron, size // 4, name="inhibitory")
    profile = Expression(
        "g*(low + (high - low)*exp(-(degrees*d/sigma)**2/2))",
        g=_G_EE * _PUBLISHED_SIZE / size,
        low=low,
        high=high,
        degrees=_DEGREES,
        sigma=sigma,
    )
    nmda = saturating_nmda(alpha=0.5, tau_rise=2.0, tau_decay=100.0)
    scale = _PUBLISHED_SIZE / 4 / (size // 4)
    to_inhibitory = _G_EI * _PUBLISHED_SIZE / size
    net.connect(excitatory, excitatory, AllToAll(), weight=profile, delay=_DELAY, receptor="NMDA", synapse=nmda)
    net.connect(excitatory, inhibitory, AllToAll(), weight=to_inhibitory, delay=_DELAY, receptor="NMDA", synapse=nmda)
    net.connect(inhibitory, excitatory, AllToAll(), weight=_G_IE * scale, delay=_DELAY, receptor="GABA")
    net.connect(inhibitory, inhibitory, AllToAll(), weight=_G_II * scale, delay=_DELAY, receptor="GABA")
    for targets, weight in ((excitatory, _G_EXTERNAL_E), (inhibitory, _G_EXTERNAL_I)):
        net.stimulate(targets, poisson_generator(rate=_EXTERNAL_RATE), weight=weight, receptor="AMPA")
    if current > 0.0:
        angles = _DEGREES * excitatory.positions[:, 0]
        apart = np.abs((angles - angle + 180.0) % _DEGREES - 180.0)
        pulse = dc_generator(amplitude=current, start=_CUE_START, stop=_CUE_START + _CUE_DURATION)
        net.stimulate(excitatory[apart <= 0.5 * _CUE_WIDTH], pulse)
    return NetworkModel(
        net=net,
        spikes=net.record_spikes([excitatory, inhibitory]),
        time=4000.0,
        source="A. Compte, N. Brunel, P. S. Goldman-Rakic and X.-J. Wang, Cerebral Cortex 10, 910-923 (2000)",
        figure=_BumpFigure(excitatory, (_CUE_START, _CUE_START + _CUE_DURATION) if current > 0.0 else None, angle),
    )


@dataclass(frozen=True)
class _BumpFigure:
    """Draws the spikes by angle, the centre of the bump over time, and its profile.

    Attributes
    ----------
    neurons
        The population of the ring.
    window
        Begin and end of the cue, ms, or None.
    angle
        Angle of the cue, degrees.
    """

    neurons: Population
    window: tuple[float, float] | None
    angle: float

    def __call__(self, spikes: SpikeData, title: str) -> Figure:
        from ranvier.figures.bumps import bump

        return bump(spikes, self.neurons, window=self.window, angle=self.angle, title=title)
