"""Run by ``mpiexec -n 2 python many_processes_on_ranks.py``: one network on all processes."""

import ranvier as rv

net = rv.Network(seed=1)
neurons = net.create(rv.iaf_psc_exp(I_e=400.0, V_m=rv.Normal(-65.0, 3.0)), 1000, name="neurons")
net.connect(neurons, neurons, rv.FixedIndegree(50), weight=10.0, delay=1.5)
spikes = net.record_spikes()

sim = rv.Simulation(net, threads=1)
sim.run(200.0)

# All processes must make this call, since it gathers spikes from all of them. Only one of them prints.
data = sim.spikes(spikes)
if sim.communicator.rank == 0:
    print(f"{sim.communicator.size} processes: {data}, digest {data.digest()[:12]}")
