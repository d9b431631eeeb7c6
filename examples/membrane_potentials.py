"""
Membrane potentials
===================

State variables are recorded at regular intervals. Here, three neuron models get the same spikes.
"""

# %%
# ``create_spike_generators`` makes sources that fire at given times. They can be connected like neurons.

from matplotlib import pyplot as plt

import ranvier as rv

net = rv.Network(resolution=0.1)
source = net.create_spike_generators([[10.0, 20.0, 22.0, 24.0, 50.0]], name="source")

recorders = {}
for model, weight in ((rv.iaf_psc_delta(), 5.0), (rv.iaf_psc_exp(), 300.0), (rv.iaf_psc_alpha(), 150.0)):
    neurons = net.create(model, 1, name=model.name)
    net.connect(source, neurons, rv.AllToAll(), weight=weight, delay=1.0)  # mV for iaf_psc_delta, pA for the others
    recorders[model.name] = net.record_state(neurons, "V_m", interval=0.1)

sim = rv.Simulation(net, threads=1)
sim.run(80.0)

# %%
# ``data["V_m"]`` has one row for each sample and one column for each neuron.

figure, axes = plt.subplots()
for name, recorder in recorders.items():
    data = sim.state(recorder)
    axes.plot(data.times, data["V_m"][:, 0], label=name)
axes.set(xlabel="time (ms)", ylabel="membrane potential (mV)")
axes.legend()
