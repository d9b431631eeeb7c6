"""
Input that changes
==================

A population is driven by a Poisson process whose rate follows a sine. Then a stimulus and a parameter are changed
between runs. The response is shown as a rate.
"""

# %%
# A rate that changes with time is a property of the stimulus: a list of times and a list of rates.

import numpy as np
from matplotlib import pyplot as plt

import ranvier as rv

net = rv.Network(resolution=0.1, seed=3)
neurons = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-62.0, 4.0)), 1000, name="neurons")

times = np.arange(0.0, 1000.0, 10.0)  # ms
rates = 10000.0 + 3000.0 * np.sin(2.0 * np.pi * times / 250.0)  # spikes/s
net.stimulate(neurons, rv.inhomogeneous_poisson_generator(times=times, rates=rates), weight=20.0)
current = net.stimulate(neurons, rv.dc_generator(amplitude=0.0))
spikes = net.record_spikes(neurons)

# %%
# A simulation can be run in several parts. Between them, you can change parameters, state and stimuli. Changes act from
# the next step on.

sim = rv.Simulation(net, threads=1)
sim.run(500.0)
sim.set(current, amplitude=100.0)  # pA
sim.run(250.0)
sim.set(neurons, t_ref=5.0)  # ms
sim.run(250.0)

# %%
# Spike counts in bins, converted to a rate.

data = sim.spikes(spikes)
counts, edges = np.histogram(data.times, bins=np.arange(0.0, 1001.0, 5.0))
response = counts / len(neurons) / 5e-3

figure, (above, below) = plt.subplots(2, sharex=True)
above.step(times, rates, where="post", color="0.5")
above.set(ylabel="input (spikes/s)")
below.stairs(response, edges)
below.set(xlabel="time (ms)", ylabel="response (spikes/s)", ylim=(0.0, None))
for time, what in ((500.0, "more current"), (750.0, "t_ref = 5 ms")):
    below.axvline(time, color="0.7", linestyle=":")
    below.text(time + 5.0, 2.0, what)

assert response[100:150].mean() > response[50:100].mean()
