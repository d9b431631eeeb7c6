"""
A decision-making network
=========================

Two groups of neurons compete: the one with more evidence keeps firing and silences the other. This is the model of
X.-J. Wang (Neuron 36, 955-968, 2002), with a quarter of its neurons. Its NMDA receptors close slowly, so that the
network integrates evidence, and saturate, so that its activity stays bounded.
"""

# %%
# The neurons, and the NMDA synapses. Each spike of a source opens a fraction of the channels that are still closed;
# ``saturating_nmda`` has one state variable per source for this.

import numpy as np
from matplotlib import pyplot as plt

import ranvier as rv

pyramidal = rv.iaf_wang_2002(C_m=500.0, g_L=25.0, t_ref=2.0)
interneuron = rv.iaf_wang_2002(C_m=200.0, g_L=20.0, t_ref=1.0)
nmda = rv.saturating_nmda(alpha=0.5, tau_rise=2.0, tau_decay=100.0)

excitatory, inhibitory = 400, 100
selective = round(0.15 * excitatory)
scale = 1600 / excitatory  # of recurrent weights: fewer neurons give the same input
strong = 1.7  # weight within A and within B; between groups it is lower, so that the sum is the same
weak = 1.0 - 0.15 * (strong - 1.0) / (1.0 - 0.15)

# %%
# For half a second there is only background input. Then the groups A and B get additional spikes, whose rates are drawn
# every 50 ms around 40 spikes/s; with a positive coherence, the mean is higher for A.


def decide(coherence: float, seed: int, duration: float = 2000.0) -> tuple[rv.SpikeData, dict[str, rv.Population]]:
    """Return the spikes of a trial, and the populations."""
    net = rv.Network(resolution=0.1, seed=seed)
    groups = {
        "A": net.create(pyramidal, selective, name="A"),
        "B": net.create(pyramidal, selective, name="B"),
        "others": net.create(pyramidal, excitatory - 2 * selective, name="others"),
    }
    inter = net.create(interneuron, inhibitory, name="inhibitory")
    for name, source in groups.items():
        for other, target in groups.items():
            factor = scale * (strong if name == other != "others" else weak if other != "others" else 1.0)
            net.connect(source, target, "all_to_all", weight=0.05 * factor, delay=0.5, receptor="AMPA")
            net.connect(source, target, "all_to_all", weight=0.165 * factor, delay=0.5, receptor="NMDA", synapse=nmda)
        net.connect(source, inter, "all_to_all", weight=0.04 * scale, delay=0.5, receptor="AMPA")
        net.connect(source, inter, "all_to_all", weight=0.13 * scale, delay=0.5, receptor="NMDA", synapse=nmda)
        net.connect(inter, source, "all_to_all", weight=1.3 * scale, delay=0.5, receptor="GABA")
        net.stimulate(source, "poisson_generator", rate=2400.0, weight=2.1, receptor="AMPA")
    net.connect(inter, inter, "all_to_all", weight=1.0 * scale, delay=0.5, receptor="GABA")
    net.stimulate(inter, "poisson_generator", rate=2400.0, weight=1.62, receptor="AMPA")

    random = np.random.default_rng(seed)
    times = np.arange(500.0, 1500.0, 50.0)
    for name, sign in (("A", 1.0), ("B", -1.0)):
        rates = np.maximum(random.normal(40.0 * (1.0 + sign * coherence), 4.0, len(times)), 0.0)
        evidence = rv.inhomogeneous_poisson_generator(times=times, rates=rates, start=500.0, stop=1500.0)
        net.stimulate(groups[name], evidence, weight=2.1, receptor="AMPA")
    recorder = net.record_spikes([*groups.values(), inter])
    sim = rv.Simulation(net, threads=1)
    sim.run(duration)
    return sim.spikes(recorder), groups


# %%
# Trials with strong evidence for A, with strong evidence for B, and without any: the network decides in each of them.

bins = np.arange(0.0, 2001.0, 50.0)
figure, axes = plt.subplots(3, 1, sharex=True, layout="constrained")
late = {}
for axis, (coherence, seed) in zip(axes, [(0.5, 1), (-0.5, 2), (0.0, 3)], strict=True):
    spikes, groups = decide(coherence, seed)
    for name, colour in (("A", "C0"), ("B", "C3")):
        counts, _ = np.histogram(spikes.of(groups[name]).times, bins)
        rate = counts / selective / 0.05
        late[coherence, name] = rate[25:30].mean()
        axis.plot(bins[1:] - 25.0, rate, colour, label=name)
    axis.set_title(f"coherence {coherence:g}", fontsize="medium")
axes[0].legend()
axes[1].set_ylabel("rate (spikes/s)")
axes[2].set_xlabel("time (ms)")

# %%
# The winning group fires at several tens of spikes/s, also after the evidence has ended.

assert late[0.5, "A"] > 15.0 > 8.0 > late[0.5, "B"]
assert late[-0.5, "B"] > 15.0 > 8.0 > late[-0.5, "A"]
for (coherence, name), rate in late.items():
    print(f"coherence {coherence:4g}: {name} fires at {rate:4.1f} spikes/s at the end of the evidence")
