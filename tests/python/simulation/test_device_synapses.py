"""Synapses that change with spikes have, on the emulator of a GPU, the bits that they have on processors."""

from __future__ import annotations

import ctypes
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
import site_scenes
from kernel_texts import ARCHITECTURES, compiled, compiled_for_processors, needs_compiler
from ranvier import _core, errors
from ranvier.simulation.options import grouped
from thorough_cases import only

DURATION = 60.0  # ms
W_MAX = 120.0

LEARNING = rv.synapse(
    """
    dx/dt = -x/tau_plus : 1
    dy/dt = -y/tau_minus : 1
    """,
    on_pre="x += 1; w = W_max*max(w/W_max - lam*alpha*sqrt(w/W_max)*y, 0)",
    on_post="y += 1; w = W_max*min(w/W_max + lam*(1 - w/W_max)*x, 1)",
    parameters={"tau_plus": "20 ms", "tau_minus": "20 ms", "lam": 0.01, "alpha": 1.1, "W_max": W_MAX},
)

RELEASING = rv.synapse(
    """
    dx/dt = (1 - x)/tau_rec : 1
    du/dt = -u/tau_fac : 1
    """,
    on_pre="u += U*(1 - u); release = clip(u*x, 0, 1); x -= release",
    parameters={"tau_rec": "100 ms", "tau_fac": "30 ms", "U": 0.4},
)

SYNAPSES: dict[str, Callable[[], Any]] = {
    "stdp": lambda: rv.stdp(mu_plus=0.4, mu_minus=0.0, W_max=W_MAX, learning_rate=0.05),
    "stdp_linear": lambda: rv.stdp(W_max=W_MAX, learning_rate=0.05),
    "stdp_nn_symm": lambda: rv.stdp_nn_symm(W_max=W_MAX, learning_rate=0.05),
    "stdp_nn_restr": lambda: rv.stdp_nn_restr(W_max=W_MAX, learning_rate=0.05),
    "stdp_nn_pre_centered": lambda: rv.stdp_nn_pre_centered(W_max=W_MAX, learning_rate=0.05),
    "stdp_triplet": lambda: rv.stdp_triplet(
        W_max=W_MAX, A_plus=1.0, A_minus=2.0, A_plus_triplet=1.5, A_minus_triplet=0.7
    ),
    "vogels_sprekeler": lambda: rv.vogels_sprekeler(W_max=W_MAX, learning_rate=2.0, alpha=0.4),
    "stdp_pl": lambda: rv.stdp_pl(learning_rate=0.1, alpha=0.2, mu=0.4),
    "per_synapse": lambda: rv.stdp(
        W_max=rv.Uniform(100.0, 150.0), learning_rate=rv.Uniform(0.01, 0.1), mu_plus=0.0, mu_minus=rv.Uniform(0.0, 1.0)
    ),
    "equations": lambda: LEARNING(lam=0.03),
    "equations_per_synapse": lambda: LEARNING(lam=rv.Uniform(0.01, 0.05)),
    "tsodyks": lambda: rv.tsodyks(tau_fac=50.0),
    "tsodyks2": lambda: rv.tsodyks2(tau_rec=100.0),
    "saturating_nmda": rv.saturating_nmda,
    "tsodyks_per_synapse": lambda: rv.tsodyks(U=rv.Uniform(0.2, 0.8), tau_rec=rv.Uniform(50.0, 800.0), tau_fac=40.0),
    "tsodyks2_per_synapse": lambda: rv.tsodyks2(tau_rec=rv.Uniform(50.0, 200.0), tau_fac=rv.Uniform(0.0, 50.0)),
    "equations_of_releases": RELEASING,
    "bernoulli": lambda: rv.bernoulli(p_transmit=0.6),
    "bernoulli_per_synapse": lambda: rv.bernoulli(p_transmit=rv.Uniform(0.2, 1.0)),
    "quantal_stp": lambda: rv.quantal_stp(n=5, tau_rec=100.0, tau_fac=20.0, depleted=2),
    "quantal_stp_many": lambda: rv.quantal_stp(n=300, U=0.3, tau_rec=50.0),
    "quantal_stp_per_synapse": lambda: rv.quantal_stp(n=4, U=rv.Uniform(0.3, 0.8), tau_rec=rv.Uniform(50.0, 200.0)),
}
LEARNING_OF_ALL_SIDES = rv.synapse(
    """
    dx/dt = -x/tau_plus : 1
    dy/dt = -y/tau_minus : 1
    dr/dt = -r/tau_x : 1
    do/dt = -o/tau_y : 1
    """,
    on_pre="w = W_max*max(w/W_max - 0.01*y*(1 + r), 0); x += 1; r += 1",
    on_post="w = W_max*min(w/W_max + 0.01*x*(1 + o), 1); y += 1; o += 1",
    parameters={"tau_plus": "17 ms", "tau_minus": "34 ms", "tau_x": "100 ms", "tau_y": "110 ms", "W_max": W_MAX},
)
TIMES: dict[str, Any] = {"tau_plus": rv.Uniform(5.0, 30.0), "tau_minus": rv.Uniform(5.0, 30.0)}
SYNAPSES |= {
    "stdp_times": lambda: rv.stdp(W_max=W_MAX, learning_rate=0.05, mu_plus=0.4, **TIMES),
    "stdp_time_before": lambda: rv.stdp(W_max=W_MAX, learning_rate=0.05, tau_plus=rv.Uniform(0.2, 30.0)),
    "stdp_nn_symm_times": lambda: rv.stdp_nn_symm(W_max=W_MAX, learning_rate=0.05, **TIMES),
    "stdp_nn_restr_times": lambda: rv.stdp_nn_restr(W_max=W_MAX, learning_rate=0.05, **TIMES),
    "stdp_nn_pre_centered_times": lambda: rv.stdp_nn_pre_centered(
        W_max=W_MAX, learning_rate=0.05, tau_minus=rv.Uniform(5.0, 30.0)
    ),
    "triplet_times": lambda: rv.stdp_triplet(
        W_max=W_MAX,
        A_plus=1.0,
        A_minus=2.0,
        A_plus_triplet=1.5,
        A_minus_triplet=0.7,
        tau_minus_triplet=rv.Uniform(50.0, 150.0),
    ),
    "equations_times": lambda: LEARNING_OF_ALL_SIDES(
        tau_plus=rv.Uniform(5.0, 30.0), tau_x=rv.Uniform(50.0, 150.0), tau_y=rv.Uniform(50.0, 150.0)
    ),
}
# With delays whose parts before the synapse are longer, shorter, and all.
SYNAPSES |= {
    "stdp_axonal": lambda: rv.stdp(W_max=W_MAX, learning_rate=0.05, axonal_fraction=0.8),
    "stdp_all_axonal": lambda: rv.stdp(W_max=W_MAX, learning_rate=0.05, mu_plus=0.4, axonal_fraction=1.0),
    "stdp_nn_symm_axonal": lambda: rv.stdp_nn_symm(W_max=W_MAX, learning_rate=0.05, axonal_fraction=0.3),
    "stdp_nn_restr_axonal": lambda: rv.stdp_nn_restr(W_max=W_MAX, learning_rate=0.05, axonal_fraction=1.0),
    "stdp_nn_pre_centered_axonal": lambda: rv.stdp_nn_pre_centered(
        W_max=W_MAX, learning_rate=0.05, axonal_fraction=0.6
    ),
    "stdp_triplet_axonal": lambda: rv.stdp_triplet(
        W_max=W_MAX, A_plus=1.0, A_minus=2.0, A_plus_triplet=1.5, A_minus_triplet=0.7, axonal_fraction=0.5
    ),
    "equations_axonal": lambda: LEARNING_OF_ALL_SIDES(axonal_fraction=0.7),
    "equations_axonal_times": lambda: LEARNING_OF_ALL_SIDES(
        axonal_fraction=1.0, tau_plus=rv.Uniform(5.0, 30.0), tau_x=rv.Uniform(50.0, 150.0)
    ),
}
# Weights that are added several times.
MANY = {"quantal_stp": 0.3, "quantal_stp_many": 0.01, "quantal_stp_per_synapse": 0.4}


def network(seed: int, synapse: str) -> tuple[rv.Network, rv.SpikeRecorder]:
    """Return neurons of two models with synapses of a kind and static ones, and delays that are drawn."""
    chance = random.Random(seed)
    net = rv.Network(resolution=chance.choice([0.1, 0.25]), seed=seed)
    first = net.create("iaf_psc_exp", chance.randrange(30, 90), I_e=rv.Uniform(400.0, 600.0), t_ref=0.5, name="first")
    second = net.create("iaf_psc_alpha", chance.randrange(3, 30), I_e=rv.Uniform(400.0, 600.0), name="second")
    shortest = chance.choice([0.25, 0.5, 1.5])
    if "_axonal" in synapse:
        # A step cannot be divided.
        shortest = max(shortest, 0.5)
    for source, target, kind in ((first, first, synapse), (first, second, synapse), (second, first, "static")):
        chosen = {} if kind == "static" else {"synapse": SYNAPSES[kind]()}
        size = MANY.get(kind, 1.0)
        net.connect(
            source,
            target,
            rv.FixedIndegree(chance.randrange(1, 12)),
            weight=rv.Uniform(20.0 * size, 90.0 * size),
            delay=rv.Uniform(shortest, shortest + chance.choice([0.1, 4.0])),
            **chosen,
        )
    return net, net.record_spikes([first, second])


Outcome = tuple[str, bytes, bytes]


def outcome(net: rv.Network, recorder: rv.SpikeRecorder, sim: rv.Simulation) -> Outcome:
    return of_all(sim, recorder, net.populations, *net.populations)


def of_all(
    sim: rv.Simulation, recorder: rv.SpikeRecorder, ends: Sequence[rv.Population], *cells: rv.Population
) -> Outcome:
    """Return the spikes, the weights between all ends, and the potentials of cells."""
    trains = sim.spikes(recorder)
    assert len(trains) > 30, "a silent network proves nothing"
    weights = [sim.connections(source, target).weights for source in ends for target in ends]
    states = [sim.get(population, "V_m") for population in cells]
    return trains.digest(), np.concatenate(weights).tobytes(), np.concatenate(states).tobytes()


def run(seed: int, synapse: str, pieces: int = 1, duration: float = DURATION, **options: Any) -> Outcome:
    net, recorder = network(seed, synapse)
    sim = rv.Simulation(net, progress=False, **grouped(options))
    for _ in range(pieces):
        sim.run(duration / pieces)
    return outcome(net, recorder, sim)


@pytest.mark.parametrize("synapse", SYNAPSES)
def test_weights_and_spikes_are_those_of_processors(synapse: str) -> None:
    for seed in range(2):
        blocks = 1 + (3 * seed + len(synapse)) % 7
        found = run(seed, synapse, pieces=1 + seed % 2, threads=1, device="cuda-emulator", shards=blocks)
        assert found == run(seed, synapse, threads=2), seed


@pytest.mark.parametrize("synapse", ["stdp", "stdp_nn_restr", "stdp_triplet", "equations_times", "equations_axonal"])
def test_all_synapses_learn_in_between(synapse: str) -> None:
    """Long runs, in which neurons fire more often than their spikes are kept."""
    found = run(5, synapse, duration=400.0, threads=1, device="cuda-emulator", shards=3)
    assert found == run(5, synapse, duration=400.0, threads=2)


STORED = ["stdp_triplet", "stdp_nn_pre_centered", "tsodyks", "equations", "tsodyks2_per_synapse"]
STORED += [
    "stdp_axonal",
    "stdp_nn_restr_axonal",
    "equations_axonal",
    "equations_axonal_times",
    "stdp_times",
    "stdp_nn_pre_centered_times",
    "equations_times",
    "quantal_stp",
    "quantal_stp_per_synapse",
    "equations_of_releases",
]
QUICKLY_STORED = ["stdp_nn_pre_centered", "tsodyks", "equations", "quantal_stp_per_synapse", "equations_axonal_times"]


@pytest.mark.parametrize("synapse", only(QUICKLY_STORED, STORED))
def test_a_state_goes_on_elsewhere(synapse: str, tmp_path: Path) -> None:
    """Saved in the middle, with spikes in transit, and with weights that are set afterwards."""
    net, recorder = network(3, synapse)
    options: dict[str, Any] = {"cpu": {"threads": 2}, "cuda-emulator": {"threads": 1, "shards": 4}}
    found = []
    for number, (before, after) in enumerate(
        [("cpu", "cpu"), ("cpu", "cuda-emulator"), ("cuda-emulator", "cpu"), ("cuda-emulator", "cuda-emulator")]
    ):
        sim = rv.Simulation(net, progress=False, device=before, **grouped(options[before]))
        sim.run(DURATION / 2)
        sim.save(tmp_path / f"{number}.h5")
        sim = rv.Simulation.load(
            net, tmp_path / f"{number}.h5", progress=False, device=after, **grouped(options[after])
        )
        sim.run(DURATION / 4)
        synapses = sim.connections(net.populations[0], net.populations[1])
        synapses.weights = 0.9 * synapses.weights
        if synapse in ("tsodyks2_per_synapse", "quantal_stp_per_synapse"):
            synapses.set(tau_rec=1.1 * synapses.get("tau_rec"))
        sim.run(DURATION / 4)
        found.append(outcome(net, recorder, sim))
    assert found == 4 * found[:1]


def repeated(**options: Any) -> Outcome:
    """Return the outcome of a network whose sources fire several times in a step."""
    chance = random.Random(1)
    net = rv.Network(seed=2)
    cells = net.create("iaf_psc_exp", 40, I_e=rv.Uniform(400.0, 500.0))
    times = [[0.1 * chance.randrange(1, 550) for _ in range(30)] for _ in range(6)]
    sources = net.create_spike_generators([sorted(each + each[::3] + each[::9]) for each in times])
    for synapse in ("stdp", "stdp_nn_pre_centered", "tsodyks2", "tsodyks2_per_synapse", "quantal_stp"):
        weight = rv.Uniform(20.0 * MANY.get(synapse, 1.0), 90.0 * MANY.get(synapse, 1.0))
        net.connect(sources, cells, rv.FixedIndegree(4), weight=weight, delay=1.5, synapse=SYNAPSES[synapse]())
    recorder = net.record_spikes([cells])
    sim = rv.Simulation(net, progress=False, **grouped(options))
    sim.run(DURATION)
    return of_all(sim, recorder, [sources, cells], cells)


def test_spikes_of_a_source_in_one_step_follow_each_other() -> None:
    assert repeated(threads=1, device="cuda-emulator", shards=3) == repeated(threads=2)


def modulated(seed: int, folder: Path | None = None, **options: Any) -> Outcome:
    """Return the outcome of a network with two transmitters, saved in the middle."""
    chance = random.Random(seed)
    net = rv.Network(seed=seed)
    cells = net.create("iaf_psc_exp", 40, I_e=rv.Uniform(400.0, 600.0))
    few = net.create("iaf_psc_exp", 3, I_e=rv.Uniform(400.0, 500.0))
    sources = net.create("poisson_generator", 5, rate=chance.choice([20.0, 3000.0]))
    for dopamine, axonal_fraction in ((few, 0.0), (sources, chance.choice([0.0, 0.5, 1.0]))):
        synapse = rv.stdp_dopamine(
            dopamine=dopamine,
            dopamine_delay=chance.choice([1.5, 4.0]),
            A_plus=0.4,
            tau_c=50.0,
            tau_n=20.0,
            b=chance.choice([0.0, 0.01]),
            W_max=W_MAX,
            axonal_fraction=axonal_fraction,
        )
        for target in (cells, few):
            weight, delay = rv.Uniform(20.0, 100.0), rv.Uniform(0.4, chance.choice([0.5, 3.0]))
            net.connect(cells, target, rv.FixedIndegree(5), weight=weight, delay=delay, synapse=synapse)
    recorder = net.record_spikes([cells, few, sources])
    sim = rv.Simulation(net, progress=False, **grouped(options))
    sim.run(DURATION / 2)
    if folder is not None:
        sim.save(folder / "half.h5")
        elsewhere = {"threads": 1, "device": "cpu" if "device" in options else "cuda-emulator"}
        sim = rv.Simulation.load(net, folder / "half.h5", progress=False, **grouped(elsewhere))
    sim.run(DURATION / 4)
    synapses = sim.connections(cells, few)
    synapses.weights = 0.9 * synapses.weights
    sim.run(4 * DURATION)
    return of_all(sim, recorder, [cells, few], cells)


@pytest.mark.parametrize("seed", only(range(2), range(30)))
def test_transmitters_modulate_learning(seed: int, tmp_path: Path) -> None:
    expected = modulated(seed, threads=2)
    device: dict[str, Any] = {"threads": 1, "device": "cuda-emulator", "shards": 1 + seed % 7}
    assert modulated(seed, **device) == expected
    assert modulated(seed, tmp_path, **device) == expected
    assert modulated(seed, tmp_path, threads=1) == expected


def relayed(**options: Any) -> Outcome:
    """Return the outcome of a network with neurons that send several spikes in a step, and regular ones."""
    net = rv.Network(seed=4)
    sources = net.create("poisson_generator", 20, rate=2000.0)
    relays = net.create("parrot_neuron", 5)
    regular = net.create("ignore_and_fire", 12, rate=90.0)
    cells = net.create("iaf_psc_exp", 40, I_e=rv.Uniform(400.0, 500.0))
    net.connect(sources, relays, rv.FixedIndegree(15), weight=1.0, delay=0.5)
    for source, target in ((relays, cells), (regular, cells), (cells, regular), (relays, regular)):
        weight = rv.Uniform(20.0, 90.0)
        net.connect(source, target, rv.FixedIndegree(4), weight=weight, delay=1.5, synapse=SYNAPSES["stdp"]())
    recorder = net.record_spikes([cells, relays, regular])
    sim = rv.Simulation(net, progress=False, **grouped(options))
    sim.run(DURATION)
    return of_all(sim, recorder, [relays, regular, cells], cells)


def test_relays_and_regular_neurons_meet_synapses_that_learn() -> None:
    assert relayed(threads=1, device="cuda-emulator", shards=3) == relayed(threads=2)


PREDICTED = ["stdp", "stdp_nn_pre_centered", "stdp_triplet", "tsodyks2", "tsodyks2_per_synapse", "bernoulli"]
PREDICTED += ["stdp_dopamine", "stdp_axonal", "per_synapse", "stdp_times", "quantal_stp", "quantal_stp_per_synapse"]


@pytest.mark.parametrize("synapse", PREDICTED)
def test_memory_is_predicted(synapse: str) -> None:
    net = rv.Network(seed=1)
    cells = net.create("iaf_psc_exp", 1000, I_e=500.0)
    modulated_synapse = rv.stdp_dopamine(dopamine=cells[:10], dopamine_delay=1.0)
    made = modulated_synapse if synapse == "stdp_dopamine" else SYNAPSES[synapse]()
    delay = rv.Uniform(1.0, 3.0)
    net.connect(cells, cells, rv.FixedIndegree(100), weight=20.0, delay=delay, synapse=made)
    options = grouped({"threads": 1, "device": "cuda-emulator", "shards": 4})
    predicted = rv.predict_memory(net, **options)["device synapses"]
    assert predicted == pytest.approx(
        rv.Simulation(net, progress=False, **options).memory()["device synapses"], rel=0.05
    )


def test_weights_that_grow_without_bound_end_a_run() -> None:
    net = rv.Network(seed=1)
    cells = net.create("iaf_psc_exp", 30, I_e=600.0)
    growing = rv.stdp_pl(learning_rate=5.0, alpha=0.0, mu=1.0)
    net.connect(cells, cells, rv.FixedIndegree(5), weight=1.0, delay=1.0, synapse=growing)
    sim = rv.Simulation(net, progress=False, device="cuda-emulator", **grouped({"threads": 1}))
    with pytest.raises(errors.ValueOutOfBoundsError, match="grown beyond"):
        sim.run(200.0)


def test_variables_of_releases_that_grow_without_bound_end_a_run() -> None:
    growing = rv.synapse(
        "dx/dt = -x/tau : 1", on_pre="x = 1e300*(1 + x*x); release = clip(x, 0, 1)", parameters={"tau": "1e5 ms"}
    )
    net = rv.Network(seed=1)
    cells = net.create("iaf_psc_exp", 30, I_e=600.0)
    net.connect(cells, cells, rv.FixedIndegree(5), weight=1.0, delay=1.0, synapse=growing())
    sim = rv.Simulation(net, progress=False, device="cuda-emulator", **grouped({"threads": 1}))
    with pytest.raises(errors.StateError, match=r"synapse on a device .* one of its variables is infinite"):
        sim.run(200.0)


REFUSED: dict[str, tuple[Callable[[rv.Population], Any], str]] = {
    "potentials": (lambda _: rv.clopath(), "follow potentials"),
}


def test_axonal_delays_from_relays_are_refused() -> None:
    net = rv.Network(seed=1)
    cells, relays = net.create("iaf_psc_exp", 3), net.create("parrot_neuron", 3, name="relays")
    net.connect(relays, cells, rv.AllToAll(), weight=1.0, delay=1.0, synapse=rv.stdp(axonal_fraction=0.5))
    with pytest.raises(errors.StateError, match=r"'relays' may fire several times in a step.*axonal delay"):
        rv.Simulation(net, progress=False, device="cuda-emulator")


def test_learning_onto_relays_is_refused() -> None:
    net = rv.Network(seed=1)
    cells, relays = net.create("iaf_psc_exp", 3), net.create("parrot_neuron", 3, name="relays")
    net.connect(cells, relays, rv.AllToAll(), weight=1.0, delay=1.0, synapse=rv.stdp())
    with pytest.raises(errors.StateError, match="'relays' may fire several times in a step"):
        rv.Simulation(net, progress=False, device="cuda-emulator")


def test_learning_at_several_places_of_cells_is_refused() -> None:
    net = rv.Network(seed=1)
    cells = net.create(site_scenes.cell(False), 3)
    chosen: dict[str, Any] = {"weight": 1.0, "delay": 1.0, "synapse": rv.stdp()}
    net.connect(cells, cells, rv.AllToAll(), receptor="exc", site=1, name="onto places", **chosen)
    with pytest.raises(errors.StateError, match=r"receptors with several places on a cell.*'onto places'"):
        rv.Simulation(net, progress=False, device="cuda-emulator")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_there_is_refused_by_name(name: str) -> None:
    synapse, reason = REFUSED[name]
    net = rv.Network(seed=1)
    cells = net.create("aeif_psc_delta_clopath", 30)
    net.connect(cells, cells, rv.FixedIndegree(5), weight=1.0, delay=1.5, synapse=synapse(cells), name="onto cells")
    with pytest.raises(errors.StateError, match=f"'onto cells'.*{reason}"):
        rv.Simulation(net, progress=False, device="cuda-emulator")


# ---- rules as kernels have them --------------------------------------------------------------------------------------

HOST = """
extern "C" void change_weights(unsigned rule, int is_postsynaptic, unsigned count, float* weights, const float* traces,
                               const float* same_side, const float* const* parameters, unsigned parameter_count) {
    const ranvier::device::Models models;
    for (unsigned i = 0; i < count; ++i) {
        float own[5] = {};
        for (unsigned k = 0; k < parameter_count; ++k) own[k] = parameters[k][i];
        weights[i] = is_postsynaptic != 0 ? models.postsynaptic(rule, weights[i], traces[i], same_side[i], own)
                                          : models.presynaptic(rule, weights[i], traces[i], same_side[i], own);
    }
}
extern "C" void release(unsigned rule, unsigned count, unsigned states, double* values, long long* last, long long step,
                        double* factors) {
    const ranvier::device::Models models;
    for (unsigned i = 0; i < count; ++i) {
        factors[i] = models.release(rule, values + i * states, 1, last[i], step);
    }
}
extern "C" void release_synapses(unsigned rule, unsigned count, unsigned states, double* values, const long long* last,
                                 long long step, const double* parameters, unsigned parameter_count,
                                 unsigned long long key, unsigned* counts, double* factors) {
    const ranvier::device::Models models;
    for (unsigned i = 0; i < count; ++i) {
        const auto draws = ranvier::device::SynapseDraws::begin(key, i, 1, 64);
        factors[i] = models.release_synapse(rule, values + i * states, last[i], step, parameters + i * parameter_count,
                                            draws, counts[i]);
    }
}
"""


def all_rules(*, with_transmitter: bool = False) -> Any:
    """Return the rules of a network with synapses of all kinds."""
    net = rv.Network(seed=1)
    cells = net.create("iaf_psc_exp", 5)
    synapses = [synapse() for synapse in SYNAPSES.values()]
    if with_transmitter:
        synapses.append(rv.stdp_dopamine(dopamine=cells, dopamine_delay=1.0))
    for synapse in synapses:
        net.connect(cells, cells, rv.AllToAll(), weight=10.0, delay=1.0, synapse=synapse)
    return _core.SynapseRules(net._contents.core)


def pointer(array: npt.NDArray[Any]) -> Any:
    return array.ctypes.data_as(ctypes.c_void_p)


def test_rules_of_kernels_are_those_of_processors(tmp_path: Path) -> None:
    """The text of all rules, compiled for processors, changes weights as their tables do."""
    rules = all_rules()
    function = compiled_for_processors(rules.source(), tmp_path, HOST).change_weights
    generator = np.random.default_rng(3)
    count = 2000
    for rule, parameters in enumerate(rules.parameters):
        own = [generator.uniform(0.01, 1.0, count).astype(np.float32) for _ in range(parameters)]
        if parameters == 5:
            own[4] = generator.uniform(80.0, 150.0, count).astype(np.float32)
        weights = generator.uniform(0.0, 80.0, count).astype(np.float32)
        weights[:50] = 0.0
        traces = generator.exponential(1.0, count).astype(np.float32)
        same_side = generator.exponential(1.0, count).astype(np.float32)
        for side in (False, True):
            here, there = weights.copy(), weights.copy()
            rules.change_weights(rule, side, here, traces, same_side, own)
            addresses = (ctypes.c_void_p * 5)(*(each.ctypes.data for each in own))
            function(
                rule,
                side,
                count,
                pointer(there),
                pointer(traces),
                pointer(same_side),
                addresses,
                ctypes.c_uint(parameters),
            )
            assert np.array_equal(here.view(np.int32), there.view(np.int32)), (rule, side)
            assert not np.array_equal(here, weights), (rule, side)


def test_releases_of_kernels_are_those_of_processors(tmp_path: Path) -> None:
    """The text of all rules of releases, compiled for processors, gives the factors and states of their tables."""
    rules = all_rules()
    library = compiled_for_processors(rules.source(), tmp_path, HOST)
    generator = np.random.default_rng(4)
    count, step = 3000, 500
    kinds = set()
    for rule, (states, of_row, of_synapse) in enumerate(rules.releases):
        kinds.add((of_row, of_synapse))
        before = generator.integers(0, 490, count)
        before[:50] = -1
        values = generator.uniform(0.05, 0.3, (count, max(states, 1)))
        found: list[tuple[Any, ...]] = []
        for is_kernel in (False, True):
            own, last, factors = values.copy(), before.copy(), np.zeros(count)
            if of_row and is_kernel:
                arguments = (pointer(own), pointer(last), ctypes.c_longlong(step), pointer(factors))
                library.release(rule, count, own.shape[1], *arguments)
            elif of_row:
                rules.release(rule, own, last, step, factors)
            found.append((own, last, factors))
            if not of_synapse:
                continue
            parameters = np.random.default_rng(5).uniform(0.1, 0.9, (count, 8))
            if rule == len(rules.releases) - 1:
                # Sites of the last one: few and many are released.
                parameters[:, 0] = np.random.default_rng(6).integers(1, 400, count)
                parameters[:, 5] = 0.0
            own, factors = values.copy(), np.zeros(count)
            counts = np.random.default_rng(7).integers(0, 2, count).astype(np.uint32)
            if is_kernel:
                arguments = (pointer(own), pointer(before), ctypes.c_longlong(step), pointer(parameters))
                more = (ctypes.c_uint(8), ctypes.c_ulonglong(9), pointer(counts), pointer(factors))
                library.release_synapses(rule, count, own.shape[1], *arguments, *more)
            else:
                rules.release_synapses(rule, own, before, step, parameters, 9, counts, factors)
            found[-1] = (*found[-1], own, factors, counts)
            assert len(np.unique(factors)) > 1, rule
        for here, there in zip(*found, strict=True):
            assert np.array_equal(here, there), rule
    assert kinds == {(True, False), (False, True), (True, True)}


@needs_compiler
@pytest.mark.parametrize(
    ("architecture", "ptx"),
    # Machine code of all rules takes four times as long as PTX.
    only(
        [(ARCHITECTURES[0], True), (ARCHITECTURES[-1], True)],
        [*((each, True) for each in ARCHITECTURES), (ARCHITECTURES[-1], False)],
    ),
)
def test_nvrtc_compiles_all_rules(architecture: int, ptx: bool) -> None:
    text = compiled(all_rules(with_transmitter=True).source(), architecture, ptx=ptx)
    if ptx:
        assert not re.search(r"\bfma\b[^;]*;", text.decode())
