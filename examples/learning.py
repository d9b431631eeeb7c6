"""
Synapses that learn
===================

Spike-timing dependent plasticity: first its window, measured with pairs of spikes; then a neuron with a thousand
inputs, which learns which of them fire together.
"""

# %%
# A presynaptic spike and a postsynaptic spike at 100 ms form a pair. Here are 81 such pairs at once. The targets fire
# because of a strong static synapse; the synapse that learns is weak. Its delay is dendritic, which is the default, so
# that a postsynaptic spike takes 1 ms to the synapse.

import numpy as np
import numpy.typing as npt
from matplotlib import pyplot as plt

import ranvier as rv

differences = np.arange(-40, 41)  # post minus pre, ms
delay = 1.0
sources_fire = [[100.0 + delay - difference] for difference in differences.tolist()]

net = rv.Network(resolution=0.1, seed=1)
sources = net.create_spike_generators(sources_fire)
trigger = net.create_spike_generators([[99.0]])
targets = net.create(rv.iaf_psc_delta(tau_m=10.0), len(differences))
net.connect(trigger, targets, "all_to_all", weight=100.0, delay=1.0)
learning = rv.stdp(tau_plus=15.0, tau_minus=30.0, mu_plus=0.0, mu_minus=0.0, alpha=0.5, W_max=1.0)
window = net.connect(sources, targets, "one_to_one", weight=0.5, delay=delay, synapse=learning)
spikes = net.record_spikes(targets)

sim = rv.Simulation(net, threads=1)
sim.run(200.0)
changes = sim.connections(projection=window).weights - 0.5
assert np.unique(sim.spikes(spikes).times).tolist() == [100.0]

# %%
# Now one neuron with 1,000 inputs that fire at 10 spikes/s. Half of them are independent. The others take 40 % of their
# spikes from a common train, so that they tend to fire together.

inputs, rate, duration = 1000, 10.0, 60_000.0
random = np.random.default_rng(5)


def train(rate: float) -> npt.NDArray[np.int64]:
    """Return the steps of a Poisson train, each with one spike at most."""
    return np.unique(random.integers(1, int(duration / 0.1), random.poisson(rate * duration / 1000.0)))


common = train(10.0 * rate)
trains = []
for i in range(inputs):
    if i < inputs // 2:
        steps = train(rate)
    else:
        shared = common[random.random(len(common)) < 0.04]
        steps = np.union1d(train(0.6 * rate), shared)
    trains.append(steps * 0.1)

net = rv.Network(resolution=0.1, seed=1)
sources = net.create_spike_generators(trains)
neuron = net.create(rv.iaf_psc_exp(tau_m=20.0, tau_syn_ex=5.0, V_th=-54.0, E_L=-70.0, V_reset=-60.0, I_e=60.0), 1)
learning = rv.stdp(learning_rate=0.02, alpha=1.05, mu_plus=0.0, mu_minus=0.0, W_max=6.0)
projection = net.connect(sources, neuron, "all_to_all", weight=3.0, delay=1.0, synapse=learning)
spikes = net.record_spikes(neuron)

sim = rv.Simulation(net, threads=1)
sim.run(duration)
weights = sim.connections(projection=projection).weights

# %%
# Synapses of inputs that fire together become strong, and the others weak: the neuron selects them.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.5), layout="constrained")
left.plot(differences, changes, ".")
left.axhline(0.0, color="0.7", linewidth=0.8)
left.axvline(0.0, color="0.7", linewidth=0.8)
left.set(xlabel="postsynaptic minus presynaptic arrival (ms)", ylabel="change of the weight / W_max")
bins = np.linspace(0.0, 6.0, 25)
right.hist(weights[: inputs // 2], bins, alpha=0.7, label="independent")
right.hist(weights[inputs // 2 :], bins, alpha=0.7, label="firing together")
right.axvline(3.0, color="0.3", linestyle=":", label="before")
right.set(xlabel="weight (pA)", ylabel="synapses")
right.legend()

print(f"The neuron fires at {len(sim.spikes(spikes)) / duration * 1000.0:.1f} spikes/s.")
assert weights[inputs // 2 :].mean() > 2.0 * weights[: inputs // 2].mean()
