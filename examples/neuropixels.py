"""
A Neuropixels probe beside a cell
=================================

What the contacts of a Neuropixels probe record of the spikes of a pyramidal cell, with probeinterface
(``pip install probeinterface``).
"""

# %%
# The package draws a pyramidal cell of layer 5. Read a reconstructed one with ``rv.read_morphology("cell.swc")``. Its
# apical dendrite is along y, as in most files; the rotation makes it point upwards. A clamp injects a current into the
# soma.

import numpy as np
import probeinterface

import ranvier as rv
from ranvier.networks.l5_pair import drawn_pyramidal_cell, l5_cell

cell = l5_cell(
    drawn_pyramidal_cell(),
    clamps={"electrode": (rv.current_clamp(start=5.0, duration=60.0, amplitude=900.0), rv.at(0))},
)
net = rv.Network(resolution=0.025)
cells = net.create(
    cell, positions=rv.positions([[0.0, 0.0, 0.0]], unit="um"), rotation=rv.rotation("x", degrees=90.0), name="cell"
)

# %%
# The contacts are those of Neuropixels 1.0 along its first millimetre. The probe stands 30 µm beside the soma and 20 µm
# in front of it.

flat = probeinterface.neuropixels_tools.build_neuropixels_probe("NP1000").get_slice(np.arange(100))
probe = flat.to_3d(axes="xz")
probe.move([30.0, -20.0, -200.0])
probe.set_contact_ids(flat.contact_ids)

lfp = net.record_extracellular(probe, interval=0.025, cells=cells, sigma=0.3)

# %%
# A grid of contacts in the plane of the probe shows the field around the cell.

grid = rv.grid((60, 1, 130), spacing=10.0, center=(0.0, -20.0, 400.0), unit="um")
around = net.record_extracellular(grid, interval=0.1, cells=cells, sigma=0.3, inside="surface")
recorder = net.record_spikes(cells)
sim = rv.Simulation(net, threads=1)
sim.run(70.0)
data, spikes = sim.extracellular(lfp), sim.spikes(recorder)
print(spikes)

# %%
# The average around the spikes is the waveform. It is largest beside the soma, where it is negative first. Contacts
# with less than a tenth of that are left out of the figure.

waveform = data.spike_triggered_average(spikes, before=1.0, after=2.0)
sizes = np.ptp(waveform.potentials, axis=0)
largest = int(np.argmax(sizes))
print(f"{waveform.count} spikes; {data.contact_names[largest]} has {1000.0 * sizes[largest]:.0f} µV")

near = data.at_contacts(sizes > 0.1 * sizes[largest])
waveforms = rv.plot.extracellular(
    near.spike_triggered_average(spikes, before=1.0, after=2.0), title="Waveform at each contact"
)

# %%
# At the peak: the contacts beside the cell, and the field in their plane.

peak = float(waveform.times[np.argmin(waveform.potentials[:, largest])])
contacts = rv.plot.extracellular(waveform, time=peak, cells=cells, title="From the spike")
field = rv.plot.extracellular(
    sim.extracellular(around), time=float(spikes.times[0]) + peak, cells=cells, limits=(-0.05, 0.05)
)
