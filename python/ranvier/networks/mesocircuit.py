"""A sheet of cortex: the circuit under 4 x 4 mm², with connections that depend on the distance.

Senk, Hagen, van Albada and Diesmann, arXiv:1805.10235 (2018), https://doi.org/10.48550/arXiv.1805.10235: the cortical
microcircuit, extended from 1 mm² to 16 mm² at the same densities, 1.2 million neurons and some 6 billion synapses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ranvier.base.distributions import Normal
from ranvier.base.names import check_choice
from ranvier.base.numeric import number
from ranvier.base.texts import check_flag
from ranvier.equations.expression import Expression
from ranvier.errors import ValueOutOfBoundsError
from ranvier.models import parrot_neuron, poisson_generator
from ranvier.network.network import Network
from ranvier.network.rules import AllToAll, PairwiseBernoulli, PairwisePoisson
from ranvier.networks._bounds import bounded
from ranvier.networks._potjans_diesmann import (
    EXTERNAL_DELAY,
    EXTERNAL_INDEGREES,
    EXTERNAL_RATE,
    NEURONS,
    POPULATIONS,
    PROBABILITIES,
    PSP,
    TAU_SYN,
    mean_weights,
    neuron,
    spread_weight,
    synapses_of,
    weight_of,
)
from ranvier.networks.microcircuit import choose_drive
from ranvier.networks.network_model import NetworkModel
from ranvier.populations.populations import Population
from ranvier.space.masks import circle
from ranvier.space.positions import random_positions

if TYPE_CHECKING:
    from ranvier.figures.style import Figure
    from ranvier.recording.data import SpikeData

__all__ = ["indegree_ratio", "mesocircuit"]

FloatArray = npt.NDArray[np.float64]

# Decay of the connection probability, mm; row: target, column: source.
_DECAYS = np.tile([[0.232, 0.161], [0.125, 0.120]], (4, 4))
_RADIUS = 1.0 / math.sqrt(math.pi)  # mm, of the disc of 1 mm² to which the probabilities belong
_DELAY, _SPEED, _DELAY_SPREAD = 0.5, 0.3, 0.5  # ms, mm/ms, standard deviation by mean
# Rates with which the external input replaces and is replaced by recurrent input, spikes/s.
_RATES = np.array([0.943, 3.026, 4.368, 5.882, 7.733, 8.664, 1.096, 7.851])
_THALAMIC_NEURONS = 902  # under 1 mm²
_THALAMIC_PROBABILITIES = np.array([0.0, 0.0, 0.0983, 0.0619, 0.0, 0.0, 0.0512, 0.0196])
_THALAMIC_DECAY, _PULSE_RADIUS = 0.1, 0.3  # mm
_PRESIM, _FIRST_PULSE, _PULSE_INTERVAL = 200.0, 300.0, 100.0  # ms
_PULSES = 1000
_SMALLEST_EXTENT, _LARGEST_EXTENT = 0.5, 100.0  # mm
_LARGEST_SCALING = 100.0


def mesocircuit(
    *,
    scale: float = 0.1,
    n_scaling: float | None = None,
    k_scaling: float | None = None,
    extent: float = 4.0,
    pulses: bool = False,
    drive: Literal["auto", "dc", "poisson"] = "auto",
    resolution: float = 0.1,
    seed: int = 1,
) -> NetworkModel:
    """Describe the sheet of cortex of Senk et al. (2018).

    Its neurons are those of the microcircuit, at random positions of a square that repeats itself. The probability of
    a connection decreases exponentially with the distance, and the delay increases linearly. In-degrees are those of
    the microcircuit, times the part of an exponential that a disc of 1 mm² does not contain (`indegree_ratio`); the
    external in-degrees decrease such that the mean input stays.

    Parameters
    ----------
    scale
        Scales the density of neurons and the in-degrees, > 0; 1: 77,169 neurons for each mm².
    n_scaling, k_scaling
        Scale only the density, or only the in-degrees; None: `scale`. With smaller in-degrees, the weights increase by
        1/sqrt(k_scaling), and a constant current replaces the lost mean input.
    extent
        Side of the square, mm, 0.5 to 100. Connections reach half of it at most.
    pulses
        Whether thalamic neurons in the middle, within a circle of radius 0.3 mm, fire together every 100 ms, the first
        time after 300 ms: activity spreads from there.
    drive
        The external input: ``"dc"``, a constant current, or ``"poisson"``, an independent Poisson train per neuron;
        ``"auto"``: as in `microcircuit`, a constant current for `k_scaling` >= 0.2.
    resolution
        Resolution, ms.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueOutOfBoundsError
        For values outside their bounds.
    UnknownNameError
        For a drive that does not exist.

    References
    ----------
    J. Senk, E. Hagen, S. J. van Albada and M. Diesmann, arXiv:1805.10235 (2018),
    https://doi.org/10.48550/arXiv.1805.10235
    """
    check_choice("drive of the mesocircuit", drive, ["auto", "dc", "poisson"])
    n = _scaling("scale", scale) if n_scaling is None else _scaling("n_scaling", n_scaling)
    k = _scaling("scale", scale) if k_scaling is None else _scaling("k_scaling", k_scaling)
    extent = bounded("extent of the mesocircuit", extent, _SMALLEST_EXTENT, _LARGEST_EXTENT)
    has_pulses = check_flag("pulses of the mesocircuit", pulses)
    if drive == "auto":
        drive = choose_drive(k)
    indegrees, external = _indegrees(extent)
    weights = mean_weights()
    currents = _currents(indegrees, external, weights, k, drive)
    net = Network(resolution=resolution, seed=seed, name=f"Cortical sheet of {extent:g} x {extent:g} mm²")
    layout = random_positions(extent=(extent, extent), periodic=True)
    sizes = [max(1, round(float(size) * n * extent**2)) for size in NEURONS]
    populations = [
        net.create(neuron(i, float(currents[i])), sizes[i], name=name, positions=layout)
        for i, name in enumerate(POPULATIONS)
    ]
    # It is created first, since its neurons may be too few.
    thalamus = _thalamus(net, n, extent) if has_pulses else None
    for i, target in enumerate(populations):
        for j, source in enumerate(populations):
            if indegrees[i, j] > 0.0:
                _connect(net, source, target, k * indegrees[i, j], weights[i, j] / math.sqrt(k), _DECAYS[i, j], extent)
        if drive == "poisson":
            train = poisson_generator(rate=round(float(external[i]) * k) * EXTERNAL_RATE)
            net.stimulate(target, train, weight=weight_of(PSP) / math.sqrt(k), delay=EXTERNAL_DELAY)
        if thalamus is not None and _THALAMIC_PROBABILITIES[i] > 0.0:
            indegree = k * _thalamic_indegree(i) * indegree_ratio(_THALAMIC_DECAY, extent)
            _connect(net, thalamus, target, indegree, weight_of(PSP) / math.sqrt(k), _THALAMIC_DECAY, extent)
    return NetworkModel(
        net=net,
        spikes=net.record_spikes(populations),
        time=500.0,
        presim=_PRESIM,
        published_rates=dict(zip(POPULATIONS, _RATES.tolist(), strict=True)),
        source="J. Senk, E. Hagen, S. J. van Albada and M. Diesmann, arXiv:1805.10235 (2018)",
        notes=_notes(n, k),
        # Thalamic input arrives in layer 4.
        figure=_SheetFigure(populations[2 if has_pulses else 0], has_pulses),
    )


def indegree_ratio(decay: float, extent: float) -> float:
    """Return the in-degree in a square of side `extent` divided by that in a disc of 1 mm², for a neuron in the middle.

    The integral of exp(-r/decay) over a disc of radius R is 2 pi decay² (1 - exp(-R/decay) (1 + R/decay)); connections
    reach half the extent.

    Parameters
    ----------
    decay, extent
        Lengths, mm.
    """

    def integral(radius: float) -> float:
        return 1.0 - math.exp(-radius / decay) * (1.0 + radius / decay)

    return integral(0.5 * extent) / integral(_RADIUS)


def _indegrees(extent: float) -> tuple[FloatArray, FloatArray]:
    """Return the in-degrees, row: target, column: source, and the external in-degrees, at full density."""
    local = synapses_of(PROBABILITIES, NEURONS, NEURONS) / NEURONS[:, np.newaxis]
    indegrees = local * np.array([[indegree_ratio(decay, extent) for decay in row] for row in _DECAYS.tolist()])
    # The recurrent input that is added has the mean of the external input that is left out.
    added = ((indegrees - local) * mean_weights()) @ _RATES
    return indegrees, EXTERNAL_INDEGREES - added / (weight_of(PSP) * EXTERNAL_RATE)


def _currents(indegrees: FloatArray, external: FloatArray, weights: FloatArray, k: float, drive: str) -> FloatArray:
    """Return the constant current of each population, pA: the drive, and the mean input lost by smaller in-degrees."""
    lost = 1.0 - math.sqrt(k)
    recurrent = (indegrees * weights) @ _RATES
    from_outside = external * weight_of(PSP) * EXTERNAL_RATE
    # Rates in spikes/s and time constants in ms.
    currents: FloatArray = from_outside + lost * recurrent if drive == "dc" else lost * (from_outside + recurrent)
    return 0.001 * TAU_SYN * currents


def _connect(
    net: Network, source: Population, target: Population, indegree: float, weight: float, decay: float, extent: float
) -> None:
    """Connect two populations with an exponential profile that gives this mean in-degree."""
    reach = 0.5 * extent
    density = len(source) / extent**2
    area = 2.0 * math.pi * decay**2 * (1.0 - math.exp(-reach / decay) * (1.0 + reach / decay))
    highest = float(indegree / (density * area))
    profile = Expression("p*exp(-d/decay)", p=highest, decay=float(decay))
    # Where a pair would have more than one synapse on average, the publication draws several times.
    rule = PairwiseBernoulli if highest <= 1.0 else PairwisePoisson
    mean = f"{_DELAY} + d/{_SPEED}"
    net.connect(
        source,
        target,
        rule(profile, mask=circle(reach)),
        weight=spread_weight(float(weight)),
        delay=Normal(mean, f"{_DELAY_SPREAD}*({mean})", low=0.5 * net.resolution),
        name=f"{source.name} to {target.name}",
    )


def _thalamus(net: Network, n: float, extent: float) -> Population:
    """Create thalamic neurons; those in the middle get pulses."""
    size = max(1, round(_THALAMIC_NEURONS * n * extent**2))
    layout = random_positions(extent=(extent, extent), periodic=True)
    thalamus = net.create(parrot_neuron(), size, name="TC", positions=layout)
    middle = np.hypot(*thalamus.positions.T) <= _PULSE_RADIUS
    if not middle.any():
        raise ValueOutOfBoundsError(
            "pulses of the mesocircuit", "True", f"no thalamic neuron is within {_PULSE_RADIUS} mm", "raise scale"
        )
    pulse = net.create_spike_generators([_pulse_times()], name="pulses")
    net.connect(pulse, thalamus[middle], AllToAll(), weight=1.0, delay=1.0)
    return thalamus


def _pulse_times() -> list[float]:
    """Return the times of the pulses, ms."""
    return [_FIRST_PULSE + _PULSE_INTERVAL * number for number in range(_PULSES)]


def _thalamic_indegree(target: int) -> float:
    """Return the in-degree of a population from the thalamic neurons under 1 mm²."""
    probability = _THALAMIC_PROBABILITIES[target : target + 1, np.newaxis]
    sources = np.array([_THALAMIC_NEURONS], dtype=np.int64)
    return float(synapses_of(probability, NEURONS[target : target + 1], sources)[0, 0] / NEURONS[target])


def _scaling(name: str, value: float) -> float:
    checked = number(f"{name} of the mesocircuit", value)
    if not 0.0 < checked <= _LARGEST_SCALING:
        raise ValueOutOfBoundsError(
            f"{name} of the mesocircuit", str(checked), f"it must be > 0 and <= {_LARGEST_SCALING:g}"
        )
    return checked


def _notes(n: float, k: float) -> tuple[str, ...]:
    if n >= 1.0 and k >= 1.0:
        return ()
    return (
        f"With {100 * n:.3g} % of the density and {100 * k:.3g} % of the in-degrees, rates and correlations differ "
        "from those of the publication. The full sheet, scale=1, needs some 50 GB of memory.",
    )


@dataclass(frozen=True)
class _SheetFigure:
    """Draws maps of the activity of a population, and the rates of all over time.

    Attributes
    ----------
    shown
        The population of the maps.
    pulses
        Whether there are pulses.
    """

    shown: Population
    pulses: bool

    def __call__(self, spikes: SpikeData, title: str) -> Figure:
        from ranvier.figures.sheets import sheet

        return sheet(spikes, self.shown, events=_pulse_times() if self.pulses else [], title=title)
