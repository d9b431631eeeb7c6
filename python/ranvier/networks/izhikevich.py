"""The network of spiking and bursting neurons of Izhikevich (2003), with its rhythms.

E. M. Izhikevich, IEEE Transactions on Neural Networks 14, 1569-1572 (2003), https://doi.org/10.1109/TNN.2003.820440.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from ranvier.base.distributions import Uniform
from ranvier.base.numeric import whole_number
from ranvier.equations.model import EquationNeuron, neuron
from ranvier.models import noise_generator
from ranvier.network.network import Network
from ranvier.network.rules import AllToAll
from ranvier.networks._bounds import LARGEST_NUMBER, bounded
from ranvier.networks.network_model import NetworkModel
from ranvier.populations.populations import Population

__all__ = ["izhikevich"]

_STEP = 1.0  # ms
_SIZE = 1000  # neurons of the paper

# In one step of 1 ms of Euler's method, the potential advances by two half steps and the recovery by a whole step,
# and the current of the synapses ends.
_EQUATIONS = """
dV_m/dt = slope/2 + (0.04*V_half**2/mV + 5*V_half + 140*mV)/(2*ms) - U_m/2 + I/2 : mV  # Potential of the membrane
dU_m/dt = a*(b*(V_m + (slope/2 + (0.04*V_half**2/mV + 5*V_half + 140*mV)/(2*ms) - U_m/2 + I/2)*ms) - U_m) : mV/ms
dI_syn/dt = -I_syn/ms : pA  # Synaptic current
slope = (0.04*V_m**2/mV + 5*V_m + 140*mV)/ms - U_m + I : mV/ms
V_half = V_m + slope*ms/2 : mV
I = (I_syn + I_stimulus)*mV/pA/ms : mV/ms
"""
_SOURCE = "E. M. Izhikevich, IEEE Transactions on Neural Networks 14, 1569-1572 (2003)"


def izhikevich(
    *,
    neurons: int = _SIZE,
    S_ex: float = 0.5,  # noqa: N803
    S_in: float = -1.0,  # noqa: N803
    noise_ex: float = 5.0,
    noise_in: float = 2.0,
    seed: int = 1,
) -> NetworkModel:
    """Describe the network of spiking and bursting neurons of Izhikevich (2003).

    Four of five neurons are excitatory: regular spiking to chattering cells, by the square of a random number. The
    others are inhibitory: fast spiking to low-threshold spiking cells. All are connected with all. Noise represents
    the input from the thalamus. There are rhythms of about 10 Hz and 40 Hz.

    Steps are of 1 ms: two half steps for the potential, and one for the recovery, as in the program of the paper. Here
    a spike acts on its targets 1 ms later than there, because a delay is at least one step.

    Parameters
    ----------
    neurons
        Number of neurons, >= 5. Weights are scaled by 1,000 divided by this number, so that the sum of all inputs of
        a neuron stays.
    S_ex, S_in
        Bounds of the weights, which are uniform between 0 and these, pA; `S_ex` >= 0, `S_in` <= 0. A current of 1 pA
        changes the potential by 1 mV/ms.
    noise_ex, noise_in
        Standard deviation of the current of excitatory and inhibitory neurons, drawn in each step, pA, >= 0.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueOutOfBoundsError
        For values outside their bounds.

    References
    ----------
    E. M. Izhikevich, IEEE Transactions on Neural Networks 14, 1569-1572 (2003),
    https://doi.org/10.1109/TNN.2003.820440
    """
    of_network = "of the network of Izhikevich"
    size = whole_number(f"neurons {of_network}", neurons, 5, LARGEST_NUMBER)
    bounds = bounded(f"S_ex {of_network}", S_ex), bounded(f"S_in {of_network}", S_in, -math.inf, 0.0)
    noises = bounded(f"noise_ex {of_network}", noise_ex), bounded(f"noise_in {of_network}", noise_in)
    net = Network(resolution=_STEP, seed=seed, name="Network of Izhikevich")
    populations = _create(net, size)
    for sources, bound in zip(populations, bounds, strict=True):
        scaled = bound * _SIZE / size
        weight = Uniform(min(0.0, scaled), max(0.0, scaled)) if scaled else 0.0
        for targets in populations:
            net.connect(sources, targets, AllToAll(), weight=weight, delay=_STEP)
    for targets, std in zip(populations, noises, strict=True):
        net.stimulate(targets, noise_generator(std=std, interval=_STEP))
    return NetworkModel(net=net, spikes=net.record_spikes(), time=1000.0, source=_SOURCE)


def _create(net: Network, size: int) -> tuple[Population, Population]:
    """Create both populations, with parameters that are drawn for each neuron."""
    # A bit generator whose numbers NumPy promises to keep.
    random = np.random.Generator(np.random.Philox(net.seed))
    ex, in_ = random.random(size - size // 5), random.random(size // 5)
    excitatory = _neuron()(a=0.02, b=0.2, c=-65.0 + 15.0 * ex**2, d=8.0 - 6.0 * ex**2, U_m=-65.0 * 0.2)
    b = 0.25 - 0.05 * in_
    inhibitory = _neuron()(a=0.02 + 0.08 * in_, b=b, c=-65.0, d=2.0, U_m=-65.0 * b)
    return (
        net.create(excitatory, len(ex), name="excitatory"),
        net.create(inhibitory, len(in_), name="inhibitory"),
    )


@functools.cache
def _neuron() -> EquationNeuron:
    return neuron(
        _EQUATIONS,
        threshold="V_m >= 30*mV",
        reset="V_m = c; U_m += d",
        receptors={"synapse": "I_syn += w"},
        initial={"V_m": -65.0, "U_m": -13.0},
        parameters={"a": "0.02/ms", "b": "0.2/ms", "c": "-65 mV", "d": "8 mV/ms"},
        method="euler",
        name="izhikevich_half_steps",
        summary="Neuron of Izhikevich, whose potential advances by two halves of a step of 1 ms",
        reference=_SOURCE,
    )
