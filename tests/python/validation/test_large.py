"""Tables beyond the limits of narrow integers."""

import numpy as np

import ranvier as rv


def test_more_than_two_to_the_27_synapses_of_one_kind_on_one_thread() -> None:
    size = 11_600
    synapses = size * size
    assert synapses > 2**27
    net = rv.Network(resolution=0.1, seed=1)
    # Only the last source fires: its row lies beyond position 2^27 of the table.
    times: list[list[float]] = [[] for _ in range(size)]
    times[-1] = [1.0]
    sources = net.create_spike_generators(times)
    targets = net.create("iaf_psc_delta", size, E_L=0.0, V_reset=-1.0, V_th=10.0, tau_m=1e9)
    projection = net.connect(sources, targets, rv.AllToAll(), weight=0.5, delay=1.0)
    sim = rv.Simulation(net, threads=1)
    assert sim.counts().synapses == synapses
    sim.run(3.0)
    assert sim.counts().synaptic_events == size
    np.testing.assert_allclose(sim.get(targets, "V_m"), 0.5, rtol=1e-6)
    last = sim.connections(sources=sources[size - 1 :], projection=projection)
    assert len(last) == size
    np.testing.assert_array_equal(np.sort(last.targets), targets.ids)
    last.weights = np.full(size, 0.25)
    before = sim.connections(sources=sources[size - 2 : size - 1])
    np.testing.assert_array_equal(before.weights, 0.5)
    np.testing.assert_array_equal(sim.connections(sources=sources[size - 1 :]).weights, 0.25)
