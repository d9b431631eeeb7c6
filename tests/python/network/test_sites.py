"""Receptors at several places of a cell: which of these sites synapses reach, and what comes of it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.errors import ShapeError, UnknownNameError, ValueOutOfBoundsError, WrongTypeError
from ranvier.simulation.options import grouped
from ranvier_benchmarks.neuron_ring import load_neuron
from site_scenes import LARGE, PLACES, SMALL, STEP, TIME, cell, drawn_pairs, network, results, run
from thorough_cases import every

COUNT, CELLS = 400, 19
SITES = np.random.default_rng(8).integers(len(PLACES), size=COUNT)
PAIRS = drawn_pairs(9, CELLS, COUNT, 7)
DELAYS = np.random.default_rng(9).integers(1, 40, size=COUNT) * STEP
OWN = np.random.default_rng(10).uniform(5.0, 30.0, size=COUNT)
BOUND = {"W_max": 20.0}

SYNAPSES: dict[str, Any] = {
    "static": "static_synapse",
    "all pairs": lambda net, own: rv.stdp(learning_rate=0.1, **BOUND),
    "axonal": lambda net, own: rv.stdp(learning_rate=0.1, axonal_fraction=1.0, **BOUND),
    "centred": lambda net, own: rv.stdp_nn_pre_centered(learning_rate=0.1, **BOUND),
    "own rate": lambda net, own: rv.stdp(learning_rate=OWN[own] / 200.0, **BOUND),
    "own time constant": lambda net, own: rv.stdp(learning_rate=0.1, tau_plus=OWN[own], **BOUND),
    "dopamine": lambda net, own: rv.stdp_dopamine(A_plus=0.1, A_minus=0.07, dopamine=net.populations[0], **BOUND),
    "short-term": lambda net, own: rv.tsodyks(U=0.5, tau_rec=50.0),
}


@pytest.mark.parametrize("synapse", SYNAPSES)
@pytest.mark.parametrize("same_delay", [True, False])
def test_a_receptor_with_sites_does_as_one_for_each_place(synapse: str, same_delay: bool) -> None:
    """Voltages, spikes, and weights that learn have the same bits.

    Parts of weights are rounded to a grid that depends on how many synapses there are at a receptor.
    """
    outcomes = []
    for apart in (True, False):
        net = network(apart, SITES, PAIRS, synapse=SYNAPSES[synapse], delays=None if same_delay else DELAYS)
        sim = rv.Simulation(net, progress=False, threads=1)
        sim.run(40.0)
        found = sim.connections(sources=net.populations[0])
        order = np.lexsort((found.weights, found.delays, found.targets, found.sources))
        outcomes.append((*results(sim), found.weights[order]))
    (digest, states, weights), (own_digest, own_states, own_weights) = outcomes
    assert digest == own_digest
    if synapse == "short-term":
        assert np.allclose(states, own_states, rtol=0.0, atol=1e-9)
    else:
        assert np.array_equal(states, own_states)
    assert np.array_equal(weights, own_weights)
    assert (np.ptp(weights) > 0.0) == (synapse not in ("static", "short-term"))


def test_synapses_at_sites_do_as_in_neuron() -> None:
    """Each of some synapses at its own place on two dendrites with channels, two of them in one compartment."""
    h = load_neuron()
    soma, *dendrites = h.Section(), h.Section(), h.Section()
    soma.L = soma.diam = 20.0
    for section, segments in zip(dendrites, (5, 7), strict=True):
        section.L, section.diam, section.nseg = 50.0 * segments, 2.0, segments
        section.connect(soma(1))
    for section in (soma, *dendrites):
        section.insert("hh")
        section.Ra, section.cm = 100.0, 1.0
    places = [(0, 0.5), (1, 0.1), (1, 0.7), (2, 0.05), (2, 0.5), (2, 0.93), (2, 0.45)]
    synapses = [h.ExpSyn((soma, *dendrites)[section](position)) for section, position in places]
    sites = [0, 1, 2, 2, 3, 4, 5, 6]
    connections = [h.NetCon(None, synapses[site]) for site in sites]
    for connection in connections:
        connection.weight[0] = 0.003
    for synapse in synapses:
        synapse.tau, synapse.e = 1.7, -10.0
    recorded = [h.Vector().record(section(position)._ref_v) for section, position in ((soma, 0.5), (dendrites[1], 0.9))]
    times = [2.0 + 1.3 * i for i in range(len(sites))]
    h.usetable_hh, h.celsius, h.dt, h.secondorder = 0, 6.3, 0.025, 0
    h.finitialize(-65.0)
    for connection, time in zip(connections, times, strict=True):
        connection.event(time)
    for _ in range(800):
        h.fadvance()
    expected = np.array([list(vector) for vector in recorded])[:, 1:].T

    tree = rv.Morphology(
        [rv.Section(length=20.0, diameter=20.0)]
        + [rv.Section(length=length, diameter=2.0, parent=0, tag="basal") for length in (250.0, 350.0)]
    )
    model = rv.Cell(
        tree,
        compartments=[1, 5, 7],
        membrane=[("all", rv.hh())],
        receptors={"syn": (rv.expsyn(tau=1.7, e=-10.0), [rv.at(*place) for place in places])},
        probes={"far": rv.at(2, 0.9)},
        rates="exact",
    )
    net = rv.Network(resolution=0.025)
    cells = net.create(model, 1)
    sources = net.create_spike_generators([[round(time - 1.0, 3)] for time in times])
    net.connect(sources, cells, "all_to_all", weight=3.0, delay=1.0, site=np.array(sites, dtype=float))
    recorder = net.record_state(cells, ["V_m", "far"], interval=0.025)
    sim = rv.Simulation(net, progress=False)
    sim.run(20.0)
    assert np.ptp(expected[:, 0]) > 80.0
    assert np.abs(sim.state(recorder).values[:, :, 0] - expected).max() < 1e-3


def drawing(rule: Any, *, seed: int = 1, synapse: Any = "static_synapse", **keys: Any) -> rv.Network:
    """Return a network whose synapses draw their sites, with point neurons beside the cells."""
    net = rv.Network(resolution=STEP, seed=seed)
    sources = net.create(rv.iaf_psc_exp(I_e=rv.Uniform(380.0, 500.0)), 40, V_m=rv.Normal(-60.0, 5.0))
    small, large = cell(False), cell(False, tree=LARGE, places=[*PLACES, rv.at(2, 0.5), rv.at(3, 0.9), rv.at(3, 1.0)])
    cells = net.create([small, large, small, small, large, large, small, large, small], V_m=rv.Normal(-65.0, 2.0))
    net.connect(sources, cells, rule, weight=0.6, delay=1.5, receptor="exc", synapse=synapse, **keys)
    net.connect(cells, sources, rv.FixedIndegree(3), weight=30.0, delay=2.0)
    net.stimulate(cells, rv.poisson_generator(rate=300.0), weight=0.5, receptor="exc")
    net.record_spikes([sources, cells])
    net.record_state(cells, ["V_m", "tip"], interval=STEP)
    return net


WAYS: list[dict[str, Any]] = [
    {"threads": 2, "instruction_set": "baseline"},
    {"threads": 3, "sort_connections": False},
    {"threads": 1, "table_layout": "runs", "delivery_window": 2},
    {"threads": 2, "shards": 5, "table_layout": "ring", "row_numbering": "compact"},
    {"threads": 3, "table_layout": "blocks"},
]


@pytest.mark.parametrize(
    ("rule", "synapse"),
    every(
        2,
        [
            (rv.FixedIndegree(30), "static_synapse"),
            (rv.FixedOutdegree(7), "static_synapse"),
            (rv.FixedOutdegree(7), rv.stdp(learning_rate=0.1, W_max=3.0, tau_minus=rv.Uniform(5.0, 30.0))),
            (rv.FixedTotalNumber(300), rv.quantal_stp(n=4.0, U=0.6, u=0.5, tau_rec=50.0)),
        ],
    ),
    ids=repr,
)
def test_sites_do_not_depend_on_how_the_work_is_cut(rule: Any, synapse: Any, tmp_path: Path) -> None:
    """Nor on a copy of the network, nor on whether the run was saved on its way."""
    net = drawing(rule, synapse=synapse)
    sim = rv.Simulation(net, progress=False, threads=1)
    expected_sites = sim.connections().sites
    sim.run(30.0)
    expected, weights = results(sim), sim.connections().weights
    large = np.isin(sim.connections().targets, net.populations[1].ids[[1, 4, 5, 7]])
    assert expected_sites[large].max() == 6
    assert expected_sites[~large].max() == 3
    for number, way in enumerate(WAYS):
        other = rv.Simulation(pickle.loads(pickle.dumps(net)), progress=False, **grouped(way))
        assert np.array_equal(other.connections().sites, expected_sites)
        other.run(13.7)
        other.save(tmp_path / f"{number}.h5")
        other.run(30.0 - 13.7)
        loaded = rv.Simulation.load(net, tmp_path / f"{number}.h5", progress=False, **grouped(WAYS[number - 1]))
        loaded.run(30.0 - 13.7)
        for one in (other, loaded):
            digest, states = results(one)
            assert digest == expected[0]
            assert np.array_equal(states, expected[1])
            assert np.array_equal(one.connections().sites, expected_sites)
            assert np.array_equal(one.connections().weights, weights)


def test_sites_are_drawn_with_equal_or_given_probabilities() -> None:
    """By source and by target; another seed draws others."""
    for rule in (rv.FixedIndegree(4000), rv.FixedOutdegree(4000)):
        net = rv.Network(resolution=STEP, seed=1)
        sources, cells = net.create("iaf_psc_exp", 10), net.create(cell(False), 10)
        net.connect(sources, cells, rule, receptor="exc")
        net.connect(sources, cells, rule, receptor="exc", site=rv.SiteProbabilities([0.0, 3.0, 0.0, 1.0]))
        net.connect(sources, cells, rule, receptor="exc", site=2)
        sim = rv.Simulation(net, progress=False, threads=1)
        counts = [
            np.bincount(sim.connections(projection=projection).sites, minlength=4) for projection in net.projections
        ]
        assert np.abs(counts[0] - 10_000.0).max() < 4.0 * np.sqrt(10_000.0)
        assert np.abs(counts[1] - np.array([0.0, 30_000.0, 0.0, 10_000.0])).max() < 4.0 * np.sqrt(7_500.0)
        assert counts[1][0] == counts[1][2] == 0
        assert list(counts[2]) == [0, 0, 40_000, 0]
        drawn = sim.connections(projection=net.projections[0]).sites
        net.seed = 2
        again = rv.Simulation(net, progress=False).connections(projection=net.projections[0]).sites
        assert not np.array_equal(again, drawn)


def test_queries_select_sites() -> None:
    """Connections show the site of each synapse; one or several can be asked for, by receptor, too."""
    net = network(False, SITES, PAIRS)
    sim = rv.Simulation(net, progress=False, threads=2)
    found = sim.connections(projection=net.projections[-1])
    assert sorted(zip(found.sources, found.targets, found.sites, strict=True)) == sorted(
        zip(PAIRS[0], PAIRS[1] + 9, SITES, strict=True)
    )
    assert set(found.receptors) == {"exc"}
    some = sim.connections(receptor="exc", site=[1, 3])
    assert set(some.sites) == {1, 3}
    assert len(some) == np.isin(SITES, [1, 3]).sum() == sim.count_connections(receptor="exc", site=[1, 3])
    assert set(sim.connections(receptor="inh").sites) == {0}
    some.weights = 0.25
    assert (sim.connections(site=[1, 3]).weights == 0.25).all()
    assert (sim.connections(receptor="exc", site=[0, 2]).weights == 8.0).all()
    with pytest.raises(ValueOutOfBoundsError, match="site in a query of connections is 4"):
        sim.connections(site=4)
    with pytest.raises(ValueOutOfBoundsError, match="sites go from 0 to 1 - 1"):
        sim.connections(receptor="inh", site=1)
    for wrong in (1.5, "1", [[1]], -1):
        with pytest.raises((WrongTypeError, ShapeError, ValueOutOfBoundsError), match="site"):
            sim.connections(site=wrong)


def stimulated(**keys: Any) -> rv.Network:
    """Return a network in which a stimulus reaches some cells, with recorders of the conductance of each site."""
    net = rv.Network(resolution=STEP)
    probes = {f"g{i}": f"exc[{i}]" for i in range(len(PLACES))}
    model = rv.Cell(
        SMALL,
        compartments=5,
        membrane=[("all", rv.pas())],
        receptors={"exc": (rv.expsyn(tau=50.0), PLACES)},
        probes={**probes, "g": "exc", "i": "i of exc", "i2": "i of exc[2]"},
    )
    cells = net.create(model, 8)
    net.stimulate(cells[::2], rv.poisson_generator(rate=2000.0), receptor="exc", **keys)
    net.record_state(cells, [*probes, "g", "i", "i2", "V_m"], interval=STEP)
    return net


@pytest.mark.parametrize(
    ("site", "reached"),
    [
        (2, [2, 2, 2, 2]),
        ([3, 0, 1, 1], [3, 0, 1, 1]),
        (rv.SiteProbabilities([0.0, 0.0, 0.0, 0.1]), [3, 3, 3, 3]),
        (None, None),
    ],
)
def test_stimuli_reach_one_site_of_each_target(site: Any, reached: list[int] | None) -> None:
    """The same one in each step; the conductance of a receptor is the sum of all, and so is its current."""
    net = stimulated(site=site)
    outcomes = []
    for threads in (1, 3):
        sim = rv.Simulation(net, progress=False, threads=threads)
        sim.run(10.0)
        (recorder,) = net.recorders
        assert isinstance(recorder, rv.StateRecorder)
        outcomes.append(sim.state(recorder).values)
    values = outcomes[0]
    assert np.array_equal(values, outcomes[1])
    by_site = values[-1, :4] > 0.0
    assert (by_site.sum(axis=0) == [1, 0] * 4).all()
    assert np.array_equal(values[:, 4], values[:, :4].sum(axis=1))
    if reached is not None:
        assert list(np.argmax(by_site[:, ::2], axis=0)) == reached
    at_site = by_site[2]
    assert np.array_equal(values[-1, 5][at_site], values[-1, 6][at_site])
    assert (values[-1, 6][~at_site] == 0.0).all()


def test_sites_in_one_compartment_share_a_state() -> None:
    """Their conductance is the sum; what it does is what a receptor at one place does, but for rounding."""
    outcomes = []
    for places in ([rv.at(1, 0.5)], [rv.at(1, 0.45), rv.at(1, 0.5), rv.at(1, 0.55)]):
        net = rv.Network(resolution=STEP)
        model = rv.Cell(
            SMALL,
            compartments=5,
            membrane=[("all", rv.hh())],
            receptors={"exc": (rv.nmda(), places)},
            probes={"g": f"exc[{len(places) - 1}]", "all": "exc"},
        )
        cells = net.create(model, 3)
        net.stimulate(cells, rv.poisson_generator(rate=300.0), receptor="exc", site=0, weight=6.0)
        net.connect(cells, cells, rv.AllToAll(), receptor="exc", weight=1.0)
        net.record_spikes(cells)
        net.record_state(cells, ["V_m", "g", "all"], interval=STEP)
        outcomes.append(run(net)[1])
    assert np.array_equal(outcomes[1][:, 1], outcomes[1][:, 2])
    assert np.ptp(outcomes[0][:, 0]) > 20.0
    assert np.allclose(outcomes[0], outcomes[1], rtol=0.0, atol=1e-9)


CROWDED = [rv.at(1, 0.1), rv.at(1, 0.45), rv.at(0), rv.at(1, 0.5), rv.at(0), rv.at(1, 0.55), rv.at(0), rv.at(1, 0.9)]
"""Three places in one compartment, three in another, and two alone."""


def crowded(*, separate: bool, cells: int = 3, rule: Any = None, **keys: Any) -> rv.Network:
    """Return cells with sites that share compartments, with probes of each site."""
    net = rv.Network(resolution=STEP, seed=4)
    model = rv.Cell(
        SMALL,
        compartments=5,
        membrane=[("all", rv.hh())],
        receptors={
            "exc": (rv.exp2syn(tau_rise=0.5, tau_decay=4.0), CROWDED),
            "inh": (rv.expsyn(tau=8.0, e=-75.0), rv.at(0)),
        },
        probes={**{f"g{i}": f"exc[{i}]" for i in range(len(CROWDED))}, "all": "exc", "i": "i of exc"},
        separate_sites=separate,
        **keys,
    )
    population = net.create(model, cells, V_m=rv.Normal(-65.0, 2.0))
    for site in range(len(CROWDED)):
        net.stimulate(population, rv.poisson_generator(rate=100.0), receptor="exc", site=site, weight=4.0)
    net.connect(population, population, rule or rv.AllToAll(), receptor="exc", weight=1.0, delay=rv.Uniform(0.5, 3.0))
    net.connect(population, population, rule or rv.AllToAll(), receptor="inh", weight=0.5, delay=1.0)
    net.record_spikes(population)
    net.record_state(population, ["V_m", *(f"g{i}" for i in range(len(CROWDED))), "all", "i"], interval=STEP)
    return net


def test_separate_sites_sum_to_the_shared_state_of_a_compartment() -> None:
    """Potentials, total conductance and total current are the same up to rounding; each site has a conductance."""
    (digest, shared), (own_digest, separate) = (run(crowded(separate=each)) for each in (False, True))
    assert digest == own_digest
    assert np.ptp(shared[:, 0]) > 80.0
    for column in (0, -2, -1):
        np.testing.assert_allclose(separate[:, column], shared[:, column], rtol=1e-9, atol=1e-9)
    of_sites = separate[:, 1:-2]
    np.testing.assert_allclose(of_sites.sum(axis=1), separate[:, -2], rtol=1e-12, atol=1e-12)
    for together in ([1, 3, 5], [2, 4, 6]):
        values = of_sites[:, together]
        assert all(np.ptp(values[:, a] - values[:, b]) > 1.0 for a, b in ((0, 1), (0, 2), (1, 2)))
        np.testing.assert_allclose(values.sum(axis=1), shared[:, 1 + together[0]], rtol=1e-9, atol=1e-9)


def test_separate_sites_do_not_depend_on_how_the_work_is_cut(tmp_path: Path) -> None:
    """Cells by eights and packed ones, threads, stepping, and a state that is saved and loaded."""

    def make() -> rv.Network:
        return crowded(separate=True, cells=11, rule=rv.FixedIndegree(3))

    expected = run(make())
    for options in ({"threads": 3}, {"threads": 2, "stepping": "async", "tuning": rv.Tuning(shards=11)}):
        found = run(make(), **options)
        assert found[0] == expected[0]
        assert np.array_equal(found[1], expected[1]), options
    sim = rv.Simulation(make(), progress=False)
    sim.run(TIME / 2)
    sim.save(tmp_path / "state.h5")
    loaded = rv.Simulation.load(make(), tmp_path / "state.h5", progress=False, threads=3)
    loaded.run(TIME / 2)
    half = round(TIME / STEP / 2)
    assert np.array_equal(results(loaded)[1][-half:], expected[1][-half:])
    with pytest.raises(rv.errors.RanvierError, match="population"):
        rv.Simulation.load(
            crowded(separate=False, cells=11, rule=rv.FixedIndegree(3)), tmp_path / "state.h5", progress=False
        )


def test_cells_of_a_population_have_the_same_kind_of_sites() -> None:
    kinds = [cell(False, separate_sites=separate) for separate in (True, False)]
    with pytest.raises(ValueOutOfBoundsError, match="sites of receptors of cell 1 of a population"):
        rv.Network(resolution=STEP).create(kinds)
    with pytest.raises(WrongTypeError, match="separate_sites"):
        cell(False, separate_sites="yes")


def test_a_region_gives_a_site_to_each_of_its_compartments() -> None:
    """At their middles, in the order of their numbers."""
    model = rv.Cell(
        LARGE,
        compartments=3,
        membrane=[("all", rv.pas())],
        receptors={"exc": (rv.expsyn(), "apical"), "inh": (rv.expsyn(), rv.at(0)), "near": (rv.expsyn(), "soma")},
        probes={f"V{i}": rv.at(i // 3, (i % 3 + 0.5) / 3) for i in range(12)},
    )
    assert {name: len(places) for name, places in model.sites.items()} == {"exc": 9, "inh": 1, "near": 3}
    assert [model.compartment_at(place) for place in model.sites["exc"]] == list(range(3, 12))
    assert pickle.loads(pickle.dumps(model)).sites == model.sites


ONE: dict[str, Any] = {"weight": 1.0, "receptor": "exc"}


def three_cells() -> tuple[rv.Network, rv.Population, rv.Population, rv.Population]:
    """Return a network of point neurons, of cells with four sites, and of such of which one has five."""
    net = rv.Network(resolution=STEP)
    small, large = cell(False), cell(False, tree=LARGE, places=[*PLACES, rv.at(2, 0.5)])
    return net, net.create("iaf_psc_exp", 3), net.create(small, 3), net.create([small, large, small])


def test_sites_that_targets_do_not_have_are_refused() -> None:
    """With the receptor, how many sites it has, and what to do."""
    net, sources, cells, mixed = three_cells()
    for site in (4, [0, 1, 4], 2**31):
        with pytest.raises(ValueOutOfBoundsError, match=r"site of projection.*receptor 'exc' of a target has 4 sites"):
            net.connect(sources, cells, "one_to_one", site=site, **ONE)
    with pytest.raises(ValueOutOfBoundsError, match="has 1 site, numbered from 0"):
        net.connect(sources, cells, "one_to_one", receptor="inh", site=1)
    with pytest.raises(ValueOutOfBoundsError, match="has 1 site, numbered from 0"):
        net.connect(cells, sources, "one_to_one", site=1)
    net.connect(cells, sources, "one_to_one", site=0)
    # The second of the mixed cells has a fifth site.
    net.connect(sources, mixed, "one_to_one", site=[3, 4, 0], **ONE)
    net.connect(sources, mixed, rv.Explicit([0, 1, 2], [1, 1, 0]), site=[4, 4, 3], **ONE)
    net.connect(sources, mixed, rv.AllToAll(), site=[[0, 0, 0], [4, 4, 4], [3, 3, 3]], **ONE)
    for rule in ("one_to_one", rv.Explicit([0, 1, 2], [1, 2, 0]), rv.FixedIndegree(1)):
        with pytest.raises(ValueOutOfBoundsError, match=r"4 \(element 1\)|4 \(element 2\)"):
            net.connect(sources, mixed, rule, site=[0, 4, 4], **ONE)
    with pytest.raises(ValueOutOfBoundsError, match="are not sent to a receptor"):
        net.stimulate(cells, rv.dc_generator(amplitude=1.0), site=0)
    with pytest.raises(ShapeError, match="3 targets"):
        net.stimulate(cells, rv.poisson_generator(rate=1.0), receptor="exc", site=[0, 1])
    with pytest.raises(ValueOutOfBoundsError, match="has 4 sites"):
        net.stimulate(mixed, rv.poisson_generator(rate=1.0), receptor="exc", site=[0, 1, 4])
    assert len(net.projections) == 4
    assert not net.stimuli


@pytest.mark.parametrize(
    ("site", "error"),
    [
        (-1, ValueOutOfBoundsError),
        ([0.5, 1, 2], ValueOutOfBoundsError),
        ([-1, 0, 0], ValueOutOfBoundsError),
        ([np.nan] * 3, ValueOutOfBoundsError),
        ([0, 1], ShapeError),
        ([[0, 1, 2]], ShapeError),
        ("exc", WrongTypeError),
        (True, WrongTypeError),
        (1.0, WrongTypeError),
        (rv.SiteProbabilities([1.0]), ShapeError),
        (rv.SiteProbabilities([0.0] * 4), ValueOutOfBoundsError),
        (rv.SiteProbabilities([1.0, -1.0, 1.0, 1.0]), ValueOutOfBoundsError),
        (rv.SiteProbabilities([np.inf, 0.0, 0.0, 0.0]), ValueOutOfBoundsError),
        (rv.SiteProbabilities([1e308] * 4), ValueOutOfBoundsError),
    ],
    ids=repr,
)
def test_what_is_no_site_is_refused(site: Any, error: type[rv.errors.RanvierError]) -> None:
    """Whatever it is."""
    net, sources, cells, _ = three_cells()
    with pytest.raises(error, match="site"):
        net.connect(sources, cells, "one_to_one", site=site, **ONE)
    assert not net.projections


def test_arrays_need_a_rule_and_probabilities_equal_cells() -> None:
    """Where numbers of synapses are drawn there is no order, and cells with other sites have others."""
    net, sources, cells, mixed = three_cells()
    with pytest.raises(ShapeError, match="the rule draws how many synapses"):
        net.connect(sources, cells, rv.PairwiseBernoulli(0.5), site=[0, 1], **ONE)
    with pytest.raises(ShapeError, match="from 4 to 5 sites"):
        net.connect(sources, mixed, "one_to_one", site=rv.SiteProbabilities([1.0] * 5), **ONE)
    with pytest.raises(ShapeError, match="one dimension"):
        rv.SiteProbabilities([[1.0]])


def test_a_site_can_be_changed_with_the_network() -> None:
    """As weights and delays can, checked as before; networks with other sites are not alike."""
    net = network(False, SITES, PAIRS)
    projection = net.projections[-1]
    other = pickle.loads(pickle.dumps(net))
    assert np.array_equal(other.projections[-1].site, SITES)
    with pytest.raises(ValueError, match="read-only"):
        other.projections[-1].site[0] = 3
    net.set(projection, site=3)
    assert projection.site == 3
    sim = rv.Simulation(net, progress=False)
    assert set(sim.connections(projection=projection).sites) == {3}
    with pytest.raises(ValueOutOfBoundsError, match="has 4 sites"):
        net.set(projection, site=4)
    net.set(projection, site=None)
    assert len(set(rv.Simulation(net, progress=False).connections(projection=projection).sites)) == 4


def test_places_of_receptors_are_checked() -> None:
    """No places at all, no membrane, something else; a probe of a site that is not there."""
    wrong: list[tuple[Any, type[rv.errors.RanvierError]]] = [
        ([], ShapeError),
        ("axon", ValueOutOfBoundsError),
        ("dendrite", UnknownNameError),
        (3, WrongTypeError),
        ([rv.at(0), 1], WrongTypeError),
        ([rv.at(9)], ValueOutOfBoundsError),
    ]
    for places, error in wrong:
        with pytest.raises(error, match="place of receptor 'exc'"):
            rv.Cell(SMALL, membrane=[("all", rv.pas())], receptors={"exc": (rv.expsyn(), places)})
    probes: list[tuple[str, type[rv.errors.RanvierError]]] = [
        ("exc[4]", ValueOutOfBoundsError),
        ("i of exc[4]", ValueOutOfBoundsError),
        ("exc[-1]", UnknownNameError),
        ("out[0]", UnknownNameError),
    ]
    for probe, error in probes:
        with pytest.raises(error, match="probe 'a'"):
            rv.Cell(SMALL, membrane=[("all", rv.pas())], receptors={"exc": (rv.expsyn(), PLACES)}, probes={"a": probe})


def test_states_of_other_sites_are_refused(tmp_path: Path) -> None:
    """The description of the network tells the sites of its projections."""
    net = network(False, SITES, PAIRS)
    sim = rv.Simulation(net, progress=False)
    sim.run(5.0)
    sim.save(tmp_path / "state.h5")
    net.set(net.projections[-1], site=1)
    with pytest.raises(rv.errors.RanvierError, match="site of projection"):
        rv.Simulation.load(net, tmp_path / "state.h5", progress=False)


def test_memory_of_inputs_is_foretold() -> None:
    """That of the inputs of all sites, but for whole pages."""
    net = rv.Network(resolution=STEP)
    cells = net.create(
        rv.Cell(SMALL, compartments=40, membrane=[("all", rv.pas())], receptors={"exc": (rv.expsyn(), "all")}), 50
    )
    net.connect(cells, cells, rv.FixedIndegree(100), receptor="exc", weight=0.1, delay=3.0)
    foretold = rv.predict_memory(net, threads=2)["inputs"]
    measured = rv.Simulation(net, progress=False, threads=2).memory()["inputs"]
    assert measured == pytest.approx(foretold, rel=0.03)
    assert measured > 50 * 80 * 8 * 30


def test_receptors_may_have_more_inputs_than_16_bits_number() -> None:
    """Beside others that have fewer; on two threads each has fewer."""
    places = [rv.at(1, (i + 0.5) / 700.0) for i in range(700)]
    net = rv.Network(resolution=STEP)
    sources = net.create(rv.iaf_psc_exp(I_e=rv.Uniform(380.0, 500.0)), 50)
    cells = net.create(cell(False, places=places), 100, V_m=rv.Normal(-65.0, 2.0))
    synapse = rv.stdp(learning_rate=0.1, W_max=3.0)
    net.connect(sources, cells, rv.FixedIndegree(20), receptor="exc", weight=1.0)
    net.connect(sources, cells, rv.FixedIndegree(20), receptor="exc", weight=1.0, synapse=synapse)
    net.connect(cells, cells, rv.FixedIndegree(5), receptor="inh", weight=0.5)
    net.connect(cells, sources, rv.FixedIndegree(5), weight=rv.Normal(0.0, 30.0))
    net.record_spikes([sources, cells])
    net.record_state(cells[90:], ["V_m", "tip"], interval=1.0)
    outcomes = []
    for threads in (1, 2):
        sim = rv.Simulation(net, progress=False, threads=threads)
        sim.run(15.0)
        found = sim.connections()
        outcomes.append((*results(sim), found.sites, found.weights))
    assert outcomes[0][0] == outcomes[1][0]
    assert all(np.array_equal(a, b) for a, b in zip(outcomes[0][1:], outcomes[1][1:], strict=True))
    assert outcomes[0][2].max() > 650


def test_a_receptor_may_have_fewer_inputs_than_there_are_neurons() -> None:
    """Other populations have no second receptor; synapses that draw random numbers tell pairs of neurons apart."""
    net = rv.Network(resolution=STEP)
    sources = net.create(rv.iaf_psc_delta(I_e=rv.Uniform(350.0, 500.0)), 300)
    receptors: dict[str, Any] = {"first": (rv.expsyn(), rv.at(0)), "second": (rv.expsyn(), PLACES[:2])}
    cells = net.create(rv.Cell(SMALL, membrane=[("all", rv.hh())], receptors=receptors, probes={"tip": rv.at(1)}), 1)
    synapse = rv.quantal_stp(n=4.0, U=0.6, u=0.5, tau_rec=50.0)
    net.connect(sources, cells, rv.FixedIndegree(900), weight=0.5, receptor="second", synapse=synapse)
    net.record_spikes([sources, cells])
    net.record_state(cells, ["V_m", "tip"], interval=STEP)
    outcomes = [run(net, threads=threads) for threads in (1, 2)]
    assert outcomes[0][0] == outcomes[1][0]
    assert np.array_equal(outcomes[0][1], outcomes[1][1])
