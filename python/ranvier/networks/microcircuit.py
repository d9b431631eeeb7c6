"""The cortical microcircuit: the circuit under 1 mm² of early sensory cortex at its natural density.

Potjans and Diesmann, Cerebral Cortex 24, 785-806 (2014), https://doi.org/10.1093/cercor/bhs358: four layers, each with
an excitatory and an inhibitory population, 77,169 neurons and 0.3 billion synapses.
"""

from __future__ import annotations

import math
import warnings
from typing import Literal

import numpy as np
import numpy.typing as npt

from ranvier.base.distributions import Normal
from ranvier.base.names import check_choice
from ranvier.base.numeric import number
from ranvier.errors import ValueOutOfBoundsError
from ranvier.models import poisson_generator
from ranvier.network.network import Network
from ranvier.network.rules import FixedTotalNumber
from ranvier.networks._cortical_cells import cortical_probe
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
from ranvier.networks.network_model import NetworkModel
from ranvier.populations.populations import Population

__all__ = ["choose_drive", "microcircuit"]

_PUBLISHED_RATES = np.array([0.903, 2.965, 4.414, 5.876, 7.569, 8.633, 1.105, 7.829])  # spikes/s
_DELAYS = {"E": 1.5, "I": 0.75}  # ms
_DELAY_SPREAD = 0.5
_LARGEST_SCALING = 1e5  # so that 64 bits can count the synapses

# If in-degrees are scaled by less than this, constant drive leaves most populations silent (measured at 10 % of neurons
# and in-degrees); at 20 %, rates are at most a third below the published rates.
_LEAST_FOR_CONSTANT_DRIVE = 0.2
# If in-degrees are scaled by at least this, rates differ from the published rates only as they do between seeds.
_LEAST_FOR_RATES = 0.5


def microcircuit(
    *,
    scale: float = 1.0,
    n_scaling: float | None = None,
    k_scaling: float | None = None,
    drive: Literal["auto", "dc", "poisson"] = "auto",
    resolution: float = 0.1,
    seed: int = 1,
) -> NetworkModel:
    """Describe the cortical microcircuit of Potjans and Diesmann (2014).

    Parameters
    ----------
    scale
        Scales the numbers of neurons and the in-degrees, > 0; 1: the full circuit.
    n_scaling, k_scaling
        Scale only the numbers of neurons, or only the in-degrees; None: `scale`. With smaller in-degrees, the weights
        increase by 1/sqrt(k_scaling), and a constant current replaces the lost mean input.
    drive
        The external input: ``"dc"``, a constant current, or ``"poisson"``, an independent Poisson train per neuron.
        ``"auto"``: a constant current, but Poisson trains if the in-degrees are less than a fifth of the full
        in-degrees. Then the current that replaces the lost recurrent input, which is mostly inhibitory, keeps the
        neurons below threshold until others fire, and a constant drive has no fluctuations that could make a first
        neuron fire.
    resolution
        Resolution, ms.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueOutOfBoundsError
        For a scaling that is not positive and finite.
    UnknownNameError
        For a drive that does not exist.

    References
    ----------
    T. C. Potjans and M. Diesmann, Cerebral Cortex 24, 785-806 (2014), https://doi.org/10.1093/cercor/bhs358
    """
    check_choice("drive of the microcircuit", drive, ["auto", "dc", "poisson"])
    n = _scaling("scale", scale) if n_scaling is None else _scaling("n_scaling", n_scaling)
    k = _scaling("scale", scale) if k_scaling is None else _scaling("k_scaling", k_scaling)
    notes = _notes(n, k, drive)
    if drive == "dc" and choose_drive(k) != "dc":
        warnings.warn(notes[0], stacklevel=2)
    if drive == "auto":
        drive = choose_drive(k)
    net = Network(resolution=resolution, seed=seed, name="Cortical microcircuit")
    weights = mean_weights()
    populations = _create(net, _constant_currents(weights, k, drive), n)
    numbers = np.rint(synapses_of(PROBABILITIES, NEURONS, NEURONS) * n * k).astype(int)
    for i, target in enumerate(populations):
        for j, source in enumerate(populations):
            if numbers[i, j] > 0:
                _connect(net, source, target, int(numbers[i, j]), float(weights[i, j]) / math.sqrt(k))
        if drive == "poisson":
            indegree = round(float(EXTERNAL_INDEGREES[i]) * k)
            net.stimulate(
                target,
                poisson_generator(rate=indegree * EXTERNAL_RATE),
                weight=weight_of(PSP) / math.sqrt(k),
                delay=EXTERNAL_DELAY,
            )
    return NetworkModel(
        net=net,
        spikes=net.record_spikes(),
        time=1000.0,
        presim=100.0,
        published_rates=dict(zip(POPULATIONS, _PUBLISHED_RATES.tolist(), strict=True)),
        source="T. C. Potjans and M. Diesmann, Cerebral Cortex 24, 785-806 (2014)",
        notes=notes,
        probe=cortical_probe,
    )


def _create(net: Network, currents: npt.NDArray[np.float64], scale: float) -> list[Population]:
    populations = []
    for i, name in enumerate(POPULATIONS):
        model = neuron(i, float(currents[i]))
        populations.append(net.create(model, max(1, round(float(NEURONS[i]) * scale)), name=name))
    return populations


def _connect(net: Network, source: Population, target: Population, number: int, mean: float) -> None:
    delay = _DELAYS[source.name[-1]]
    net.connect(
        source,
        target,
        FixedTotalNumber(number),
        weight=spread_weight(mean),
        delay=Normal(delay, delay * _DELAY_SPREAD, low=0.5 * net.resolution),
    )


def choose_drive(k_scaling: float) -> Literal["dc", "poisson"]:
    """Return the drive that keeps the circuit active for a scaling of the in-degrees."""
    return "dc" if k_scaling >= _LEAST_FOR_CONSTANT_DRIVE else "poisson"


def _notes(n: float, k: float, drive: str) -> tuple[str, ...]:
    """Return notes on how scaling changes the rates (van Albada et al., PLoS Comput. Biol. 11, e1004490, 2015)."""
    notes = []
    if k < _LEAST_FOR_CONSTANT_DRIVE and drive == "dc":
        notes.append(
            f"With {100 * k:.3g} % of the in-degrees, constant drive leaves most populations silent: the current that "
            "replaces lost recurrent input keeps them below threshold. Use drive=poisson, or k_scaling of "
            f"{_LEAST_FOR_CONSTANT_DRIVE} or more."
        )
    elif k < _LEAST_FOR_CONSTANT_DRIVE and drive == "auto":
        notes.append(
            f"With {100 * k:.3g} % of the in-degrees, constant drive would leave most populations silent: the "
            "external input consists of Poisson trains."
        )
    if k < _LEAST_FOR_RATES:
        notes.append(
            f"With {100 * k:.3g} % of the in-degrees, synapses are {1.0 / math.sqrt(k):.2g} times as strong, and rates "
            "are lower than the published rates, most of all in populations with low rates."
        )
    elif n < _LEAST_FOR_RATES and k > n:
        notes.append(
            f"{100 * n:.3g} % of the neurons have {100 * k:.3g} % of the in-degrees: they share more inputs, so "
            "they are more synchronous, and rates are higher than the published rates."
        )
    return tuple(notes)


def _scaling(name: str, value: float) -> float:
    value = number(name, value)
    if not 0.0 < value <= _LARGEST_SCALING:
        raise ValueOutOfBoundsError(name, str(value), f"it must be > 0 and <= {_LARGEST_SCALING:g}")
    return value


def _constant_currents(weights: npt.NDArray[np.float64], k: float, drive: str) -> npt.NDArray[np.float64]:
    """Return the constant current of each population, pA: the drive, and the mean input lost by smaller in-degrees."""
    indegrees = synapses_of(PROBABILITIES, NEURONS, NEURONS) / NEURONS[:, np.newaxis]
    recurrent = (indegrees * weights) @ _PUBLISHED_RATES
    external = EXTERNAL_INDEGREES * weight_of(PSP) * EXTERNAL_RATE
    lost = 1.0 - math.sqrt(k)
    # Rates in spikes/s and time constants in ms.
    currents: npt.NDArray[np.float64] = external + lost * recurrent
    if drive == "poisson":
        currents = lost * (recurrent + external)
    return 0.001 * TAU_SYN * currents
