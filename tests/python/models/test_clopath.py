"""Synapses that learn from the potentials of their targets: `rv.clopath`."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from clopath_scenes import Protocol, expected, in_nest, in_ranvier
from nest_pool import nest_pool, requires_nest
from ranvier.simulation.options import grouped
from thorough_cases import only

STEP = 0.125
RANDOM = np.random.default_rng(3)
# On a grid that double precision holds, at random, and so dense that several fall into one spike of the neuron.
BEFORE = (np.unique(RANDOM.integers(80, 1440, 60)) * STEP).tolist()
KICKS = np.arange(12.0, 180.0, 9.0).tolist()
PROTOCOLS = {
    "defaults": Protocol(BEFORE, KICKS),
    "a longer delay": Protocol(BEFORE, KICKS, delay=2.5),
    "bounds": Protocol(BEFORE, KICKS, learning={"W_max": 0.7, "tau_x": 10.0, "A_LTD": 3e-2}),
    "no delay of potentials": Protocol(BEFORE, KICKS, learning={"delay_u_bars": 0.0}),
    "homeostasis": Protocol(BEFORE, KICKS, learning={"A_LTD_const": 0.0}, weight=50.0),
    "a current": Protocol(BEFORE, values={"I_e": 1500.0}, learning={"theta_plus": -60.0, "theta_minus": -65.0}),
}


@requires_nest
@pytest.mark.parametrize("name", PROTOCOLS)
def test_weights_are_those_of_nest(name: str) -> None:
    """To 1e-5 of what they change by: potentials differ by errors of integration, those in a spike by the most."""
    protocol = PROTOCOLS[name]
    waiting = nest_pool().submit(in_nest, protocol)
    own, nest = in_ranvier(protocol), waiting.result()
    assert own.spikes == pytest.approx(nest.spikes)
    assert len(nest.spikes) > 2
    changed = np.abs(np.diff(nest.weights)).max()
    assert changed > 1e-4
    assert np.abs(own.weights - nest.weights).max() <= 1e-5 * np.abs(np.diff(nest.weights)).sum()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_weights_are_those_of_the_equations(name: str) -> None:
    protocol = PROTOCOLS[name]
    own = in_ranvier(protocol)
    wanted = expected(protocol, own.potentials, **dict.fromkeys(own.potentials, -70.6))
    assert np.ptp(wanted) > 0.01
    assert np.abs(own.weights - wanted).max() <= 1e-12 * max(1.0, protocol.weight)


@pytest.mark.parametrize("delay", [0.125, 3.0, 12.5])
def test_before_the_beginning_potentials_are_as_at_the_beginning(delay: float) -> None:
    """A synapse feels them for the time of its delay: they depress it with each spike, and potentiate it in between."""
    values = {"V_m": -40.0, "u_bar_plus": -45.0, "u_bar_minus": -52.0, "u_bar_bar": 0.0}
    protocol = Protocol([0.5, 1.0, 2.5, 4.0, 40.0], values=values, delay=delay)
    own = in_ranvier(protocol)
    wanted = expected(protocol, own.potentials, **values)
    assert np.abs(own.weights - wanted).max() <= 1e-12
    if delay > 4.0:
        assert np.ptp(wanted[:4]) > 1e-3
    assert np.array_equal(in_ranvier(protocol, threads=2).weights, own.weights)


def test_the_slow_potential_counts_from_a_rest() -> None:
    protocol = Protocol(BEFORE, KICKS, learning={"A_LTD_const": 0.0, "u_rest": -70.6})
    own = in_ranvier(protocol)
    wanted = expected(protocol, own.potentials, **dict.fromkeys(own.potentials, -70.6))
    constant = expected(Protocol(BEFORE, KICKS), own.potentials, **dict.fromkeys(own.potentials, -70.6))
    assert np.abs(own.weights - wanted).max() <= 1e-12
    assert np.abs(wanted - constant).max() > 1e-3


def test_a_hodgkin_huxley_neuron_teaches_too() -> None:
    protocol = Protocol(
        BEFORE,
        values={"I_e": 900.0},
        learning={"theta_minus": -64.9, "theta_plus": -35.0},
        model="hh_psc_alpha_clopath",
    )
    own = in_ranvier(protocol)
    wanted = expected(protocol, own.potentials, V_m=-65.0, u_bar_plus=0.0, u_bar_minus=0.0, u_bar_bar=0.0)
    assert len(own.spikes) > 5
    assert np.ptp(wanted) > 0.01
    assert np.abs(own.weights - wanted).max() <= 1e-12


def after_pairs(rate: float, shift: float) -> float:
    """Return how much 5 pairs at a rate (Hz) scale the weight, the presynaptic spike `shift` ms before the other."""
    posts = 50.0 + 1000.0 / rate * np.arange(5)
    before = (posts - shift).round(3).tolist()
    protocol = Protocol([*before, before[-1] + 200.0], (posts - 1.0).tolist(), duration=before[-1] + 201.0)
    own = in_ranvier(protocol)
    assert own.spikes == pytest.approx(posts)
    return float(own.weights[-1]) / protocol.weight


def test_pairs_depress_at_low_rates_and_potentiate_at_high_ones() -> None:
    """As in Figure 2b of the paper, after Sjoestroem, Turrigiano and Nelson (2001)."""
    rates = (10.0, 20.0, 40.0, 50.0)
    causal = [after_pairs(rate, 10.0) for rate in rates]
    acausal = [after_pairs(rate, -10.0) for rate in rates]
    assert causal == sorted(causal)
    assert causal[-1] > 1.01
    assert acausal[0] < 1.0
    assert acausal[0] < causal[0]
    assert acausal[-1] > 1.0


def network(model: Any = "aeif_psc_delta_clopath", cells: int = 60, **learning: Any) -> rv.Network:
    net = rv.Network(seed=4)
    neurons = net.create(model, cells, name="cells")
    net.stimulate(neurons, rv.poisson_generator(rate=2500.0), weight=1.6)
    given = {"A_LTP": 2e-3, "A_LTD": 1e-2, "W_max": 3.0, **learning}
    net.connect(
        neurons,
        neurons,
        rv.FixedIndegree(12),
        weight=rv.Uniform(0.1, 1.0),
        delay=rv.Uniform(0.3, 3.0),
        synapse=rv.clopath(**given),
    )
    net.record_spikes(neurons)
    return net


def outcome(net: rv.Network, pieces: tuple[float, ...] = (150.0,), **options: Any) -> tuple[str, int]:
    """Return a digest of spikes and weights, and the number of spikes."""
    sim = rv.Simulation(net, progress=False, **grouped(options))
    for piece in pieces:
        sim.run(piece)
    recorder = net.recorders[0]
    assert isinstance(recorder, rv.SpikeRecorder)
    spikes = sim.spikes(recorder)
    found = sim.connections()
    order = np.lexsort((found.weights, found.delays, found.targets, found.sources))
    digest = hashlib.sha256(spikes.steps.tobytes() + spikes.ids.tobytes() + found.weights[order].tobytes())
    return digest.hexdigest(), len(spikes)


@pytest.mark.parametrize("precision", only(["double"], ["single", "double"]))
def test_the_same_bits_however_it_runs(precision: str) -> None:
    net = network()
    wanted = outcome(net, threads=1, weight_precision=precision)
    assert wanted[1] > 100
    for options in (
        {"threads": 3},
        {"threads": 2, "sort_connections": False},
        {"threads": 2, "stepping": "async"},
        {"threads": 1, "instruction_set": "baseline"},
    ):
        assert outcome(net, weight_precision=precision, **options) == wanted, options
    assert outcome(net, (0.1, 33.3, 1.7, 114.9), threads=2, weight_precision=precision) == wanted
    still = outcome(network(A_LTP=0.0, A_LTD=0.0), threads=1, weight_precision=precision)
    assert still[0] != wanted[0]


@pytest.mark.parametrize(("size", "threads"), only([(100, 2)], [(100, 2), (300, 8)]))
def test_what_is_forgotten_does_not_matter(size: int, threads: int) -> None:
    """Potentials that potentiate in each step: one shard soon has more than it may keep, several later or never."""
    model = rv.aeif_psc_delta_clopath(I_e=100.0)
    learning = {"theta_plus": -90.0, "theta_minus": -90.0, "A_LTP": 1e-5}
    wanted = outcome(network(model, size, **learning), (float(size),), threads=1)
    assert outcome(network(model, size, **learning), (float(size),), threads=threads) == wanted


def test_a_weight_that_is_set_goes_on_from_there() -> None:
    protocol = PROTOCOLS["defaults"]
    # So small that potentials do not depend on it.
    tiny = {"A_LTD": 14e-11, "A_LTP": 8e-11, "W_max": 1e-4}
    net = rv.Network(resolution=STEP)
    cell = net.create(protocol.model, 1)
    source = net.create_spike_generators([protocol.before])
    net.connect(source, cell, rv.OneToOne(), weight=5e-7, delay=1.0, synapse=rv.clopath(**tiny))
    kicks = net.create_spike_generators([protocol.kicks])
    net.connect(kicks, cell, rv.OneToOne(), weight=120.0, delay=1.0)
    sims = [rv.Simulation(net, weight_precision="double") for _ in range(2)]
    ways = [sim.connections(projection=net.projections[0]) for sim in sims]
    for sim in sims:
        sim.run(100.0)
    at = float(ways[0].weights[0])
    ways[1].weights = at + 2.5e-7
    assert ways[1].weights[0] == at + 2.5e-7
    for sim in sims:
        sim.run(60.0)
    assert abs(ways[0].weights[0] - at) > 1e-8
    assert ways[1].weights[0] - ways[0].weights[0] == pytest.approx(2.5e-7, abs=1e-12)


def test_weights_follow_neurons_of_equations() -> None:
    model = rv.neuron(
        """
        dV_m/dt = (E_L - V_m)/tau_m + I_e/C_m : mV
        du_bar_minus/dt = (V_m - u_bar_minus)/tau_u : mV
        u_bar_plus = u_bar_minus : mV
        u_bar_bar = E_L : mV
        """,
        threshold="V_m >= V_th",
        reset="V_m = E_L",
        parameters={
            "E_L": "-70 mV",
            "tau_m": "10 ms",
            "C_m": "250 pF",
            "I_e": "0.6 nA",
            "V_th": "-50 mV",
            "tau_u": "10 ms",
        },
        receptors={"jump": "V_m += w"},
        initial={"V_m": "E_L", "u_bar_minus": "E_L"},
    )
    net = rv.Network(resolution=STEP)
    cell, source = net.create(model, 1), net.create_spike_generators([BEFORE])
    learning = {"theta_plus": -60.0, "theta_minus": -68.0, "A_LTP": 1e-3}
    net.connect(source, cell, rv.OneToOne(), weight=0.5, delay=1.0, synapse=rv.clopath(**learning))
    states = net.record_state(cell, ["V_m", "u_bar_plus", "u_bar_minus", "u_bar_bar"], STEP)
    sim = rv.Simulation(net, weight_precision="double")
    sim.run(BEFORE[-1])
    potentials = {name: sim.state(states)[name][:, 0] for name in ("V_m", "u_bar_plus", "u_bar_minus", "u_bar_bar")}
    wanted = expected(Protocol(BEFORE, learning=learning), potentials, **dict.fromkeys(potentials, -70.0))
    assert np.ptp(wanted) > 0.01
    assert sim.connections(projection=net.projections[0]).weights[0] == pytest.approx(wanted[-1], abs=1e-12)


@pytest.mark.parametrize(
    ("target", "values", "weight", "words"),
    [
        ("iaf_psc_exp", {}, 1.0, "clopath follow the variable u_bar_plus of the targets, which these do not have"),
        ("aeif_psc_delta", {}, 1.0, "aeif_psc_delta_clopath or hh_psc_alpha_clopath"),
        ("aeif_psc_delta_clopath", {"W_min": 2.0, "W_max": 1.0}, 1.5, "W_min is greater than W_max"),
        ("aeif_psc_delta_clopath", {"W_min": -1.0}, 1.0, "different signs"),
        ("aeif_psc_delta_clopath", {"W_max": 0.5}, 1.0, "weights of clopath are from 0 to 0.5"),
        ("aeif_psc_delta_clopath", {"tau_x": 0.0}, 1.0, "tau_x"),
        ("aeif_psc_delta_clopath", {"A_LTD_const": 2.0}, 1.0, "A_LTD_const"),
    ],
)
def test_mistakes_are_errors(target: str, values: dict[str, Any], weight: float, words: str) -> None:
    net = rv.Network()
    neurons = net.create(target, 2)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=words):
        net.connect(neurons, neurons, rv.AllToAll(), weight=weight, delay=1.0, synapse=rv.clopath(**values))


def test_changes_that_would_be_lost_are_an_error() -> None:
    net = rv.Network()
    neurons = net.create("aeif_psc_delta_clopath", 2)
    net.connect(neurons, neurons, rv.AllToAll(), weight=1.0, delay=1.0, synapse=rv.clopath(A_LTD=1e-12))
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="lost"):
        rv.Simulation(net)
