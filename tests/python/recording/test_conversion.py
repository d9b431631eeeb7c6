"""Recordings as objects of Neo and pandas hold what was recorded."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import ranvier as rv
from ranvier import errors

Recorded = tuple[rv.SpikeData, rv.StateData, rv.WeightData]


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    net = rv.Network()
    first = net.create("iaf_psc_exp", 4, I_e=[0.0, 400.0, 450.0, 500.0], name="first")
    second = net.create("iaf_psc_exp", 2, I_e=600.0, name="second")
    projection = net.connect(first, second, rv.AllToAll(), weight=np.arange(8.0).reshape(2, 4))
    spikes, state = net.record_spikes(), net.record_state(first[1:], ["V_m", "I_syn_ex"], 0.3)
    weights = net.record_weights(projection, 5.0)
    sim = rv.Simulation(net, threads=1)
    sim.run(60.0)
    return sim.spikes(spikes), sim.state(state), sim.weights(weights)


def test_spikes_in_neo(recorded: Recorded) -> None:
    data = recorded[0].between(10.0, 50.0)
    segment = data.to_neo()
    trains = data.trains()
    assert [train.annotations["neuron"] for train in segment.spiketrains] == list(range(6))
    assert [train.annotations["population"] for train in segment.spiketrains] == ["first"] * 4 + ["second"] * 2
    for train, expected in zip(segment.spiketrains, [*trains["first"], *trains["second"]], strict=True):
        assert train.rescale("ms").magnitude.tolist() == expected.tolist()
        assert (float(train.t_start.rescale("ms")), float(train.t_stop.rescale("ms"))) == (10.0, 50.0)
    assert len(segment.spiketrains[0]) == 0
    assert len(segment.spiketrains[5]) > 1


def test_states_in_neo(recorded: Recorded) -> None:
    data = recorded[1]
    potentials, currents = data.to_neo().analogsignals
    assert (potentials.name, currents.name) == ("V_m", "I_syn_ex")
    assert (potentials.magnitude == data["V_m"]).all()
    assert (potentials.units.dimensionality.string, currents.units.dimensionality.string) == ("mV", "pA")
    assert potentials.times.rescale("ms").magnitude == pytest.approx(data.times)
    assert potentials.array_annotations["neuron"].tolist() == [1, 2, 3]


def test_spikes_in_pandas(recorded: Recorded) -> None:
    data = recorded[0]
    frame = data.to_pandas()
    assert frame["time_ms"].tolist() == data.times.tolist()
    assert frame["neuron"].tolist() == data.ids.tolist()
    assert frame["population"].tolist() == ["first" if neuron < 4 else "second" for neuron in data.ids]
    assert frame.groupby("population", observed=False).size().to_dict() == {
        name: int(counts.sum()) for name, counts in data.counts().items()
    }


def test_samples_in_pandas(recorded: Recorded) -> None:
    _, state, weights = recorded
    frame = state.to_pandas()
    assert frame.index.tolist() == state.times.tolist()
    assert (frame["V_m"].to_numpy() == state["V_m"]).all()
    assert frame["I_syn_ex"].columns.tolist() == [1, 2, 3]
    frame = weights.to_pandas()
    assert frame.columns.tolist() == list(zip(weights.sources.tolist(), weights.targets.tolist(), strict=True))
    assert (frame.to_numpy() == weights.weights).all()


def test_nothing_that_was_recorded() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 2)
    spikes, state = net.record_spikes(), net.record_state(neurons, "V_m")
    sim = rv.Simulation(net, threads=1)
    assert len(sim.spikes(spikes).to_neo().spiketrains) == 2
    assert sim.spikes(spikes).to_pandas().shape == (0, 3)
    assert sim.state(state).to_pandas().shape == (0, 2)
    with pytest.raises(errors.StateError, match="two samples"):
        sim.state(state).to_neo()


@pytest.mark.parametrize("name", ["neo", "pandas"])
def test_packages_that_are_not_installed(recorded: Recorded, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    for data in recorded[:2]:
        with pytest.raises(errors.MissingPackageError, match=rf"package {name}: .*pip install 'ranvier\[{name}\]'"):
            getattr(data, f"to_{name}")()


def test_synapses_in_scipy() -> None:
    net = rv.Network(seed=2)
    first, second = net.create("iaf_psc_exp", 4), net.create("iaf_psc_exp", 3)
    net.connect(first, second, rv.FixedTotalNumber(40), weight=rv.Normal(10.0, 1.0))
    sim = rv.Simulation(net, threads=1)
    synapses = sim.connections()
    expected = np.zeros((3, 4))
    np.add.at(expected, (synapses.targets - 4, synapses.sources), synapses.weights)
    assert synapses.to_scipy(first, second).toarray() == pytest.approx(expected)
    part = sim.connections(sources=first[1:3])
    assert part.to_scipy(first[1:3], second).toarray() == pytest.approx(expected[:, 1:3])
    assert synapses[:0].to_scipy(first, second).nnz == 0
    for sources, targets in ((first[1:], second), (first, second[:2]), (first[:0], second), (second, first)):
        with pytest.raises(errors.ValueOutOfBoundsError, match="of a synapse is neuron"):
            synapses.to_scipy(sources, targets)
    with pytest.raises(errors.WrongTypeError, match="sources"):
        synapses.to_scipy(3, second)  # type: ignore[arg-type]


def test_synapses_in_pandas() -> None:
    net = rv.Network(seed=1)
    exc, inh = (net.create("iaf_psc_exp", 4, name=name) for name in ("exc", "inh"))
    net.connect(exc, inh, rv.AllToAll(), weight=np.arange(16.0).reshape(4, 4), delay=rv.Uniform(1.0, 3.0), name="drive")
    net.connect(inh, exc, rv.OneToOne(), weight=-2.0, delay=0.5, receptor="inhibitory", name="back")
    synapses = rv.Simulation(net, threads=1).connections()
    frame = synapses.to_pandas()
    assert list(frame.columns) == ["source", "target", "weight", "delay_ms", "projection", "receptor", "site"]
    for column, values in (
        ("source", synapses.sources),
        ("target", synapses.targets),
        ("weight", synapses.weights),
        ("delay_ms", synapses.delays),
        ("receptor", synapses.receptors),
        ("site", synapses.sites),
    ):
        assert frame[column].tolist() == values.tolist()
    assert frame["projection"].tolist() == ["drive"] * 16 + ["back"] * 4
    assert frame.groupby("projection", observed=True).weight.mean().to_dict() == {"drive": 7.5, "back": -2.0}
    frame.loc[0, "weight"] = 5.0
    assert synapses.weights[0] != 5.0
    assert len(synapses[:0].to_pandas()) == 0
