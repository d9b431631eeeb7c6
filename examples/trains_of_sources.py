"""
Trains of sources
=================

Spike trains of different kinds drive the same neurons. What counts for a neuron is not only how many spikes arrive, but
also whether they arrive together: packets of spikes make neurons fire that regular trains with the same rate leave
silent.
"""

# %%
# Every stimulator that emits spikes makes a population of sources. All have the same mean rate, 50 spikes/s.

from typing import Any

from matplotlib import pyplot as plt

import ranvier as rv

net = rv.Network(resolution=0.1, seed=4)
trains: dict[str, Any] = {
    "regular": rv.gamma_generator(rate=50.0, shape=20.0),
    "Poisson": rv.poisson_generator(rate=50.0),
    "sinusoidal": rv.sinusoidal_poisson_generator(rate=50.0, amplitude=50.0, frequency=10.0),
    "correlated": rv.mip_generator(rate=500.0, p_copy=0.1),
    "packets": rv.pulsepacket_generator(pulse_times=[100.0, 200.0, 300.0, 400.0, 500.0], activity=5, sdev=3.0),
}
sources = {name: net.create(model, 100, name=name) for name, model in trains.items()}

# %%
# Each neuron gets the trains of 40 of the 100 sources, so that neurons share trains. A population of neurons for each
# kind shows what they make of them.

neurons = {name: net.create("iaf_psc_exp", 200, name=f"driven by {name}", V_m=-60.0) for name in trains}
for name in trains:
    net.connect(sources[name], neurons[name], rv.FixedIndegree(40), weight=42.0, delay=1.0)
spikes = net.record_spikes([*sources.values(), *neurons.values()])

sim = rv.Simulation(net, threads=1)
sim.run(520.0)
data = sim.spikes(spikes)

# %%
# Trains of thirty sources of each kind, and the rates of the neurons.

figure, (above, below) = plt.subplots(2, height_ratios=(3, 1), figsize=(7.0, 6.0), layout="constrained")
for row, population in enumerate(sources.values()):
    shown = data.of(population[:30])
    above.plot(shown.times, shown.ids - population.first_id + 35 * row, "|", markersize=3.0)
above.set(ylabel="sources", yticks=[35 * row + 15 for row in range(len(trains))], yticklabels=list(trains))
above.set(xlabel="time (ms)", xlim=(0.0, 520.0))
rates = {name: float(data.mean_rates(neurons[name])) for name in trains}
below.bar(list(rates), list(rates.values()), color=[f"C{row}" for row in range(len(trains))])
below.set(ylabel="response (spikes/s)")

assert rates["packets"] > rates["regular"]
