"""A topographic projection from one sheet of neurons to another, after Bamford, Murray and Willshaw (2010).

S. A. Bamford, A. F. Murray and D. J. Willshaw, Neural Networks 23, 517-527 (2010),
https://doi.org/10.1016/j.neunet.2010.01.005.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ranvier.base.numeric import whole_number
from ranvier.equations.models import iaf_cond_exp
from ranvier.errors import ValueOutOfBoundsError
from ranvier.models import parrot_neuron
from ranvier.network.network import Network
from ranvier.network.rules import FixedIndegree, OneToOne
from ranvier.networks._bounds import POSITIVE, bounded
from ranvier.networks.network_model import NetworkModel
from ranvier.populations.populations import Population
from ranvier.space.positions import grid

if TYPE_CHECKING:
    from ranvier.figures.style import Figure
    from ranvier.recording.data import SpikeData

__all__ = ["topographic_map"]

_BASE_RATE, _PEAK_RATE = 5.0, 152.8  # spikes/s
_PEAK_SIGMA = 2.0  # distances of neighbours
_EPOCH = 20  # ms of each stimulus
_WEIGHT, _DELAY = 2.0, 1.0  # nS, ms
_LARGEST_SIDE = 256


def topographic_map(
    *,
    side: int = 16,
    indegree: int = 16,
    sigma: float = 2.5,
    duration: float = 20_000.0,
    resolution: float = 0.1,
    seed: int = 1,
) -> NetworkModel:
    """Describe a topographic projection between two sheets of neurons, and stimuli that reveal its receptive fields.

    Both sheets are square grids that repeat themselves, 1 mm from neighbour to neighbour. Targets get synapses from
    sources near the same place, with a Gaussian profile. Sources fire as Poisson trains, with more spikes around a
    place that changes at random every 20 ms. The figure shows the centres of the receptive fields, measured from the
    spikes of both sheets.

    Parameters
    ----------
    side
        Neurons along each side of both sheets, 4 to 256.
    indegree
        Number of synapses of a target, >= 1; several may come from the same source.
    sigma
        Standard deviation of the profile along each axis, mm, > 0 and <= side / 4.
    duration
        Duration of the stimuli, ms, a positive multiple of 20.
    resolution
        Resolution, ms; 1 ms is a multiple of it.
    seed
        Seed of all random numbers, also of the stimuli.

    Raises
    ------
    ValueOutOfBoundsError
        For values outside their bounds.
    GridError
        For a resolution that does not divide 1 ms.

    References
    ----------
    S. A. Bamford, A. F. Murray and D. J. Willshaw, Neural Networks 23, 517-527 (2010),
    https://doi.org/10.1016/j.neunet.2010.01.005
    """
    of_network = "of the topographic map"
    side = whole_number(f"side {of_network}", side, 4, _LARGEST_SIDE)
    indegree = whole_number(f"indegree {of_network}", indegree, 1, 1_000_000)
    sigma = bounded(f"sigma {of_network}", sigma, POSITIVE, 0.25 * side)
    epochs = _epochs(bounded(f"duration {of_network}", duration, _EPOCH, 1e7), of_network)
    net = Network(resolution=resolution, seed=seed, name=f"Topographic map of {side} x {side} neurons")
    sheet = grid((side, side), spacing=1.0, periodic=True)
    places = stimuli(side, epochs, seed)
    trains = net.create_spike_generators(_spikes(side, places, seed), name="stimuli")
    retina = net.create(parrot_neuron(), side**2, name="retina", positions=sheet)
    neuron = iaf_cond_exp(
        C_m=200.0, g_L=10.0, E_L=-70.0, V_reset=-70.0, V_th=-54.0, t_ref=1.0, E_ex=0.0, tau_syn_ex=5.0, V_m=-70.0
    )
    tectum = net.create(neuron, side**2, name="tectum", positions=sheet)
    net.connect(trains, retina, OneToOne(), weight=1.0, delay=net.resolution)
    rule = FixedIndegree(indegree, probability="exp(-d**2/(2*sigma**2))", sigma=sigma)
    net.connect(retina, tectum, rule, weight=_WEIGHT, delay=_DELAY, name="projection")
    return NetworkModel(
        net=net,
        spikes=net.record_spikes([retina, tectum]),
        time=float(epochs * _EPOCH),
        source="S. A. Bamford, A. F. Murray and D. J. Willshaw, Neural Networks 23, 517-527 (2010)",
        figure=_MapFigure(retina, tectum, side, indegree, sigma),
    )


def _epochs(duration: float, of_network: str) -> int:
    """Return the number of stimuli."""
    epochs = round(duration / _EPOCH)
    if not math.isclose(epochs * _EPOCH, duration):
        raise ValueOutOfBoundsError(f"duration {of_network}", f"{duration:g} ms", f"it must be a multiple of {_EPOCH}")
    return epochs


def stimuli(side: int, epochs: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the neuron of the source sheet around which each stimulus is, shape ``(epochs,)``."""
    # A bit generator whose numbers NumPy promises to keep.
    random = np.random.Generator(np.random.Philox(key=[seed % 2**64, 0]))
    return (random.random(epochs) * side**2).astype(np.int64)


def _spikes(side: int, places: npt.NDArray[np.int64], seed: int) -> list[npt.NDArray[np.float64]]:
    """Return the times of the spikes of each source: in each millisecond one with a probability of rate times 1 ms."""
    random = np.random.Generator(np.random.Philox(key=[seed % 2**64, 1]))
    axis = np.arange(side)
    apart = np.minimum(axis, side - axis)
    square = apart[:, np.newaxis] ** 2 + apart**2
    bump = 0.001 * (_BASE_RATE + _PEAK_RATE * np.exp(-0.5 * square / _PEAK_SIGMA**2))
    fired: list[list[int]] = [[] for _ in range(side**2)]
    for epoch, place in enumerate(places.tolist()):
        probabilities = np.roll(bump, (place // side, place % side), axis=(0, 1)).ravel()
        drawn = random.random((side**2, _EPOCH)) < probabilities[:, np.newaxis]
        neurons, times = np.nonzero(drawn)
        for neuron, time in zip(neurons.tolist(), (times + 1 + epoch * _EPOCH).tolist(), strict=True):
            fired[neuron].append(time)
    return [np.array(times, dtype=np.float64) for times in fired]


@dataclass(frozen=True)
class _MapFigure:
    """Draws the centres of the receptive fields, their mean form, and their distances from the ideal places.

    Attributes
    ----------
    sources, targets
        The two sheets.
    side, indegree, sigma
        As in `topographic_map`.
    """

    sources: Population
    targets: Population
    side: int
    indegree: int
    sigma: float

    def __call__(self, spikes: SpikeData, title: str) -> Figure:
        from ranvier.figures.topography import topography

        return topography(
            spikes, self.sources, self.targets, side=self.side, epoch=float(_EPOCH), widths=self.widths(), title=title
        )

    def widths(self) -> tuple[float, float]:
        """Return what theory says: the width of receptive fields, and the mean distance of their centres, mm.

        A target with linear responses has the receptive field of its synapses, smoothed twice by the stimulus. The
        distance of the centre of n random synapses has a Rayleigh distribution. The centre is a mean direction on the
        torus; along an axis, its variance is (1 - b) / (2 n a²) in radians squared, where a and b are the first two
        Fourier components of the profile (K. V. Mardia and P. E. Jupp, Directional Statistics, 2000, section 4.8).
        """
        width = math.sqrt(self.sigma**2 + 2.0 * _PEAK_SIGMA**2)
        angle = 2.0 * math.pi * self.sigma / self.side
        first, second = math.exp(-0.5 * angle**2), math.exp(-2.0 * angle**2)
        deviation = math.sqrt((1.0 - second) / (2.0 * self.indegree)) / first * self.side / (2.0 * math.pi)
        return width, deviation * math.sqrt(0.5 * math.pi)
