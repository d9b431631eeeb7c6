"""Messages and texts count in the singular and in the plural."""

from __future__ import annotations

import pytest

import ranvier as rv
from ranvier.base.names import counted, there_are
from ranvier.errors import RanvierError


def test_nouns_follow_their_numbers() -> None:
    assert [counted(number, "neuron") for number in (0, 1, 2)] == ["0 neurons", "1 neuron", "2 neurons"]
    assert counted(1, "process") == "1 process"
    assert counted(3, "process") == "3 processes"
    assert counted(1234, "synapse", ",") == "1,234 synapses"
    assert [counted(number, "synapse", ".0f") for number in (0.9, 1.3, 1.6)] == ["1 synapse", "1 synapse", "2 synapses"]
    assert [there_are(number, "source") for number in (1, 2)] == ["there is 1 source", "there are 2 sources"]


def test_one_of_each() -> None:
    net = rv.Network()
    neuron = net.create(rv.iaf_psc_exp(I_e=1000.0), 1)
    net.connect(neuron, neuron, rv.AllToAll(), weight=1.0)
    recorder, state = net.record_spikes(), net.record_state(neuron, "V_m", interval=10.0)
    sim = rv.Simulation(net, threads=1)
    sim.run(10.0)
    texts = [repr(net), net.summary(), repr(sim), repr(sim.connections()), repr(sim.state(state)), repr(recorder)]
    texts += [repr(rv.Cell(rv.Morphology([rv.Section(length=9.0, diameter=2.0)]), membrane=[("all", rv.pas())]))]
    for call in (lambda: neuron[3], lambda: neuron[[True, False]], lambda: net.set(neuron, tau_m=[1.0, 2.0])):
        with pytest.raises(RanvierError) as caught:
            call()
        texts.append(str(caught.value))
    assert sum("1 neuron" in text for text in texts) >= 4
    nouns = ("neuron", "population", "projection", "synapse", "thread", "sample", "section", "compartment")
    assert not [text for text in texts for noun in nouns if f" 1 {noun}s" in text or f"are 1 {noun}" in text]
