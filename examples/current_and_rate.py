"""
The rate of a neuron as a function of its current
=================================================

At which rate does a leaky integrate-and-fire neuron fire for a constant current? For this model there is an exact
formula, so we can check the simulation.
"""

# %%
# All neurons are in one population. A parameter is one number for all neurons, a distribution, or, like ``I_e`` here,
# an array with one value for each neuron.

import numpy as np
from matplotlib import pyplot as plt

import ranvier as rv

currents = np.linspace(300.0, 900.0, 61)  # pA
tau_m, C_m, E_L, V_th, V_reset, t_ref = 10.0, 250.0, -65.0, -50.0, -65.0, 2.0

net = rv.Network(resolution=0.1)
model = rv.iaf_psc_exp(tau_m=tau_m, C_m=C_m, E_L=E_L, V_th=V_th, V_reset=V_reset, t_ref=t_ref, V_m=E_L, I_e=currents)
neurons = net.create(model, len(currents), name="neurons")
spikes = net.record_spikes(neurons)

sim = rv.Simulation(net, threads=1)
sim.run(2000.0)  # ms

# %%
# Recorded data are arrays. Neurons that have not fired have a rate of zero.

data = sim.spikes(spikes)
rates = data.rates()["neurons"]
print(data)

# %%
# After a spike, the potential relaxes from the reset potential towards ``E_L + I tau_m / C_m``. The inter-spike
# interval is the refractory period plus the time until the potential crosses the threshold.

drive = currents * tau_m / C_m  # mV
with np.errstate(divide="ignore", invalid="ignore"):
    interval = t_ref + tau_m * np.log((drive + E_L - V_reset) / (drive + E_L - V_th))
expected = np.where(drive > V_th - E_L, 1000.0 / interval, 0.0)

figure, axes = plt.subplots()
axes.plot(currents, expected, color="0.6", linewidth=4, label="formula")
axes.plot(currents, rates, ".", label="simulation")
axes.set(xlabel="current (pA)", ylabel="rate (spikes/s)")
axes.legend()

# %%
# A spike is detected at the end of a step, so an interval is up to 0.1 ms longer than in the formula. Also, the number
# of spikes in 2 s is a whole number.

least = np.where(expected > 0.0, 1000.0 / (interval + net.resolution), 0.0)
assert (rates <= expected + 0.5).all()
assert (rates >= least - 0.5).all()
