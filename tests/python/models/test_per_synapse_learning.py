"""Plastic synapses with one value of their parameters per synapse."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from nest_pool import nest_pool, requires_nest
from plasticity_scenes import MODELS, Scene, in_nest_with_own, in_ranvier, irregular_scene
from ranvier import _core
from ranvier.compiled import llvm
from ranvier.equations.synapse import EquationSynapse
from ranvier.errors import EquationError, ShapeError, UnknownNameError, ValueOutOfBoundsError, WrongTypeError
from ranvier.models import SYNAPSE_MODELS
from synapse_equations import WRITTEN, as_equations, bounded
from thorough_cases import every, one_of_each, only

CASES = [
    (model, case)
    for model, cases in MODELS.items()
    for case in range(len(cases))
    if SYNAPSE_MODELS[model].per_synapse_names
]
KINDS = np.array([[(source + 2 * target) % 3 for source in range(4)] for target in range(4)])
"""Of the synapses from each source to each target: which of three sets of parameters they have."""
OF_TARGETS = ("tau", "tau_minus", "tau_minus_triplet")
"""Time constants of which NEST has one for all synapses of a target."""


def scene_of(model: str, case: int, **others: float) -> tuple[Scene, list[dict[str, float]]]:
    """Return a scene, and three sets of parameters for it that differ where they may."""
    weight, parameters = MODELS[model][case]
    scene = irregular_scene(model, weight, {**parameters, **others}, seed=20 + case)
    if model in ("stdp_nn_symm", "stdp_nn_restr"):
        # NEST's synapses take time 0 for a first presynaptic spike. Here each source fires before any target does.
        pre = [sorted({25, *train}) for train in scene.pre]
        scene = replace(scene, pre=pre, post=[[step for step in train if step > 70] for train in scene.post])
    own = SYNAPSE_MODELS[model].per_synapse_names
    factors = [dict.fromkeys(own, factor) for factor in (1.0, 0.5, 1.3)]
    factors[2] = {name: 0.0 if name.startswith("mu_") else 1.3 for name in own}
    for factor, each in zip((1.0, 0.9, 1.4), factors, strict=True):
        each["W_max"] = factor
    defaults = {info.name: info.default for info in _parameters_of(model)}
    sets = [
        {name: value * each.get(name, 1.0) for name, value in (defaults | dict(scene.parameters)).items()}
        for each in factors
    ]
    return replace(scene, parameters=sets[0]), sets


def _parameters_of(model: str) -> Any:
    return next(each for each in _core.synapse_models() if each.name == model).parameters


def own_values(model: str, sets: list[dict[str, float]], kinds: Any = KINDS, without: Any = ()) -> dict[str, Any]:
    names = [name for name in SYNAPSE_MODELS[model].per_synapse_names if name not in without]
    return {name: np.array([each[name] for each in sets])[kinds] for name in names}


DOUBLE: dict[str, Any] = {"weight_precision": "double"}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"threads": 2, "tuning": rv.Tuning(instruction_set="baseline")},
    {"processes": rv.Processes(sort_connections=False)},
]


@pytest.mark.parametrize(("model", "case", "fraction"), one_of_each(CASES, [0.0, 0.5, 1.0]))
def test_each_synapse_learns_as_if_all_had_its_parameters(model: str, case: int, fraction: float) -> None:
    """Bit for bit in double precision; delays are long enough to be divided."""
    scene, sets = scene_of(model, case, axonal_fraction=fraction)
    scene = replace(scene, delays=[2, 15])
    shared = [in_ranvier(replace(scene, parameters=each), weight_precision="double") for each in sets]
    assert (shared[0] != shared[1]).any()
    expected = np.choose(KINDS.T[..., None], shared)
    scene = replace(scene, parameters={**scene.parameters, **own_values(model, sets)})
    for options in OPTIONS:
        found = in_ranvier(scene, weight_precision="double", **options)
        np.testing.assert_array_equal(found, expected, err_msg=str(options))


@pytest.mark.parametrize(("model", "case", "fraction"), one_of_each(CASES, [0.0, 0.5]))
def test_time_constants_may_be_own_or_shared(model: str, case: int, fraction: float) -> None:
    """One after the other: what synapses keep differs."""
    scene, sets = scene_of(model, case, axonal_fraction=fraction)
    scene = replace(scene, delays=[2, 15])
    for name in [each for each in SYNAPSE_MODELS[model].per_synapse_names if each.startswith("tau")]:
        others = [{**sets[0], name: each[name]} for each in sets]
        shared = [in_ranvier(replace(scene, parameters=each), weight_precision="double") for each in others]
        expected = np.choose(KINDS.T[..., None], shared)
        own = {name: np.array([each[name] for each in sets])[KINDS]}
        found = in_ranvier(replace(scene, parameters={**scene.parameters, **own}), weight_precision="double")
        np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize(
    ("model", "fraction"),
    only(
        [("stdp", 0.5), ("vogels_sprekeler", 0.0)],
        itertools.product([each for each in WRITTEN if SYNAPSE_MODELS[each].per_synapse_names], [0.0, 0.5]),
    ),
)
def test_so_does_each_synapse_of_equations(model: str, fraction: float) -> None:
    scene, sets = scene_of(model, 0, axonal_fraction=fraction)
    scene = replace(scene, delays=[2, 15])
    raised = {"stdp": "+=", "stdp_nn_symm": "="}.get(model)
    written = as_equations(model) if raised is None else bounded(raised)
    shared = [in_ranvier(scene, written(**each), weight_precision="double") for each in sets]
    assert (shared[0] != shared[1]).any()
    expected = np.choose(KINDS.T[..., None], shared)
    names = written.per_synapse_names
    own = {name: np.array([each[name] for each in sets])[KINDS] for name in names}
    assert "axonal_fraction" not in names
    for programs in ("compiled", "interpreted"):
        for options in OPTIONS:
            tuning = replace(options.get("tuning", rv.Tuning()), programs="auto" if llvm.unusable() else programs)
            found = in_ranvier(scene, written(**sets[0] | own), **options | {"tuning": tuning, **DOUBLE})
            np.testing.assert_array_equal(found, expected, err_msg=f"{programs}, {options}")
    for name in names:
        others = [in_ranvier(scene, written(**sets[0] | {name: each[name]}), **DOUBLE) for each in sets]
        found = in_ranvier(scene, written(**sets[0] | {name: own[name]}), **DOUBLE)
        np.testing.assert_array_equal(found, np.choose(KINDS.T[..., None], others), err_msg=name)


@requires_nest
@pytest.mark.parametrize(("model", "case", "of_targets"), one_of_each(CASES, [True, False]))
def test_weights_are_those_of_nest(model: str, case: int, of_targets: bool) -> None:
    """All parameters differ between targets, or all but those that NEST's neurons have between synapses."""
    scene, sets = scene_of(model, case)
    if of_targets:
        own = own_values(model, sets, np.broadcast_to(np.arange(4)[:, None] % 3, (4, 4)))
    else:
        own = own_values(model, sets, without=OF_TARGETS)
    nest = nest_pool().submit(in_nest_with_own, scene, own).result()
    scene = replace(scene, parameters={**scene.parameters, **own})
    np.testing.assert_allclose(in_ranvier(scene, weight_precision="double"), nest, rtol=1e-9, atol=1e-12)
    greatest = abs(sets[2]["W_max"])
    np.testing.assert_allclose(in_ranvier(scene), nest, rtol=1e-5, atol=1e-6 * greatest)


def test_rates_that_single_precision_would_lose_are_refused() -> None:
    for rate in ([0.01, 0.0, 1e-9, 0.01], rv.Uniform(1e-9, 0.01)):
        net = rv.Network()
        neurons = net.create("iaf_psc_exp", 4)
        net.connect(neurons, neurons, rv.OneToOne(), weight=5.0, synapse=rv.stdp(learning_rate=rate))
        with pytest.raises(ValueOutOfBoundsError, match="learning_rate"):
            rv.Simulation(net, progress=False)
        rv.Simulation(net, progress=False, weight_precision="double")


def test_learning_stays_as_it_was_given() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 4)
    net.connect(neurons, neurons, rv.OneToOne(), weight=5.0, synapse=rv.stdp(alpha=[0.5, 1.0, 1.5, 2.0]))
    connections = rv.Simulation(net, progress=False).connections()
    np.testing.assert_array_equal(connections.get("alpha"), [0.5, 1.0, 1.5, 2.0])
    with pytest.raises(ValueOutOfBoundsError, match="cannot change after the network was built"):
        connections.set(alpha=1.0)


def test_weights_that_are_set_keep_the_bounds_of_their_synapses() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    bounds = [10.1, 20.2, 30.3]
    net.connect(neurons, neurons, rv.OneToOne(), weight=5.0, synapse=rv.stdp(W_max=bounds))
    for precision in ("single", "double"):
        connections = rv.Simulation(net, progress=False, weight_precision=precision).connections()
        connections.weights = bounds
        np.testing.assert_allclose(connections.weights, bounds, rtol=1e-6)
        with pytest.raises(ValueOutOfBoundsError, match=r"weight 0 is 11, .* from 0 to 10\.1"):
            connections.weights = 11.0
        with pytest.raises(ValueOutOfBoundsError, match="weight 2"):
            connections.weights = [1.0, 1.0, -1.0]
        np.testing.assert_allclose(connections.weights, bounds, rtol=1e-6)


@pytest.mark.parametrize("model", ["stdp", "stdp_nn_pre_centered", "stdp_triplet", "vogels_sprekeler"])
def test_what_time_constants_cost_is_predicted(model: str) -> None:
    """Each costs a value, and a trace of each synapse that accumulates; what is shared costs nothing."""
    taus = [name for name in SYNAPSE_MODELS[model].per_synapse_names if name.startswith("tau")]
    found = {}
    for own in ([], taus[:1], taus):
        net = rv.Network(seed=2)
        neurons = net.create("iaf_psc_exp", 256)
        sign = -1.0 if model == "vogels_sprekeler" else 1.0
        synapse = getattr(rv, model)(**dict.fromkeys(own, rv.Uniform(10.0, 20.0)))
        net.connect(neurons, neurons, rv.FixedIndegree(96), weight=5.0 * sign, synapse=synapse)
        predicted = rv.predict_memory(net, threads=1)["synapses"]
        account = rv.Simulation(net, threads=1, progress=False).memory()["synapses"]
        assert predicted == pytest.approx(account, rel=0.01)
        found[len(own)] = account
    traces = {"stdp": 1, "stdp_nn_pre_centered": 0, "stdp_triplet": 1, "vogels_sprekeler": 2}[model]
    # Rows and constants are the same; columns are whole pages.
    assert (found[1] - found[0]) / (256 * 96) == pytest.approx(4.0 + 4.0 * traces, abs=0.1)
    per_trace = {"stdp": 8.0, "stdp_nn_pre_centered": 4.0, "stdp_triplet": 8.0, "vogels_sprekeler": 12.0}[model]
    assert (found[len(taus)] - found[0]) / (256 * 96) == pytest.approx(per_trace * len(taus), abs=0.5)


def drawn_network(model: str) -> tuple[rv.Network, rv.SpikeRecorder]:
    """Return a network whose synapses draw all parameters that they may have of their own."""
    bounds = {"W_max": (25.0, 50.0), "learning_rate": (0.01, 0.1), "alpha": (0.5, 1.5)}
    own = SYNAPSE_MODELS[model].per_synapse_names
    drawn = {name: rv.Uniform(*bounds.get(name, (0.1, 1.0))) for name in own if not name.startswith("tau")}
    drawn |= {name: rv.Uniform(2.0, 80.0) for name in own if name.startswith("tau")}
    net = rv.Network(seed=3)
    neurons = net.create("iaf_psc_alpha", 80, I_e=rv.Uniform(350.0, 480.0), V_m=rv.Normal(-65.0, 3.0))
    net.connect(
        neurons,
        neurons,
        rv.FixedIndegree(30),
        weight=rv.Uniform(5.0, 20.0),
        delay=rv.Uniform(0.5, 3.0),
        synapse=getattr(rv, model)(axonal_fraction=0.4, **drawn),
    )
    return net, net.record_spikes()


WAYS: list[dict[str, Any]] = [
    {"threads": 2, "tuning": rv.Tuning(instruction_set="baseline")},
    {"threads": 3, "tuning": rv.Tuning(shards=5, delivery_window=1)},
    {"threads": 1, "processes": rv.Processes(sort_connections=False)},
]


@pytest.mark.parametrize("precision", ["single", pytest.param("double", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("model", every(2, dict.fromkeys(model for model, _ in CASES)))
def test_neither_threads_nor_saved_states_matter(model: str, precision: str, tmp_path: Path) -> None:
    found = set()
    for number, way in enumerate([{}, *WAYS]):
        net, recorder = drawn_network(model)
        options = {"progress": False, "weight_precision": precision, "threads": 1, **way}
        sim = rv.Simulation(net, **options)
        sim.run(90.0)
        if number % 2:
            # All synapses learn before a state is saved; reading weights changes nothing.
            assert sim.connections().weights.std() > 0.0
            sim.save(tmp_path / "state.h5")
            sim = rv.Simulation.load(net, tmp_path / "state.h5", **options | WAYS[number % 3])
        sim.run(60.0)
        assert len(sim.spikes(recorder)) > 300
        found.add((sim.spikes(recorder).digest(), sim.connections().weights.tobytes()))
    assert len(found) == 1


# ---- synapses of equations -------------------------------------------------------------------------------------------


PAIRS = "dx/dt = -x/tau_plus : 1\n dy/dt = -y/tau_minus : 1"
EVENTS = {"on_pre": "x += 1; w = clip(w - a*y, 0, W_max)", "on_post": "y += 1; w = clip(w + b*x, 0, W_max)"}
VALUES = {"tau_plus": "20 ms", "tau_minus": "20 ms", "a": 0.1, "b": 0.2, "W_max": 30.0}


def written(**changes: Any) -> EquationSynapse:
    return rv.synapse(changes.pop("equations", PAIRS), **{"parameters": VALUES, **EVENTS, **changes})


def connected(*synapses: Any, **options: Any) -> rv.Network:
    net = rv.Network(seed=2)
    cells = net.create("iaf_psc_exp", 20, I_e=rv.Uniform(380.0, 500.0))
    for synapse in synapses:
        net.connect(cells, cells, rv.FixedIndegree(5), **{"weight": 5.0, "delay": 1.5, "synapse": synapse, **options})
    return net


def test_values_of_synapses_of_equations_are_kept(tmp_path: Path) -> None:
    """They are drawn, read, pickled and saved as those of built-in models."""
    synapse = written()(W_max=rv.Uniform(20.0, 30.0), tau_plus=rv.Uniform(5.0, 30.0))
    np.testing.assert_allclose(synapse.weight_range, (0.0, 30.0))
    assert pickle.loads(pickle.dumps(synapse)) == synapse != written()(W_max=rv.Uniform(20.0, 31.0))
    net = connected(synapse)
    sim = rv.Simulation(net, progress=False)
    sim.run(100.0)
    bounds, times = (np.asarray(sim.connections().get(name)) for name in ("W_max", "tau_plus"))
    assert 20.0 <= bounds.min() < 21.0 < 29.0 < bounds.max() <= 30.0
    assert np.unique(times).size == 100
    assert (sim.connections().weights <= bounds).all()
    with pytest.raises(ValueOutOfBoundsError, match="cannot change after the network was built"):
        sim.connections().set(W_max=25.0)
    sim.save(tmp_path / "state.h5")
    again = rv.Simulation.load(net, tmp_path / "state.h5", threads=2, progress=False)
    for each in (sim, again):
        each.run(100.0)
    np.testing.assert_array_equal(again.connections().weights, sim.connections().weights)


@pytest.mark.parametrize("first", [0, 1])
def test_the_greatest_bound_of_all_projections_counts(first: int) -> None:
    model = written()
    synapses = [model(W_max=rv.Uniform(20.0, 30.0)), model(W_max=rv.Uniform(4e5, 1e6), b=rv.Uniform(1e4, 2e4))]
    sim = rv.Simulation(connected(*synapses[:: 1 - 2 * first]), progress=False)
    sim.run(100.0)
    assert np.max(sim.connections().weights) > 1e5


def test_a_bound_may_come_from_below() -> None:
    """The least of the values counts where weights keep away from 0."""
    events = {side: text.replace("0, W_max", "W_min, W_max") for side, text in EVENTS.items()}
    model = written(parameters={**VALUES, "W_min": 1.0}, **events)
    np.testing.assert_allclose(model(W_min=rv.Uniform(1.0, 4.0)).weight_range, (1.0, 30.0))
    with pytest.raises(ValueOutOfBoundsError, match=r"weights of synapse are from 1.* to 30"):
        connected(model(W_min=rv.Uniform(1.0, 4.0)), weight=0.5)


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ({"axonal_fraction": [0.5] * 100}, WrongTypeError, "all synapses of a projection share it"),
        ({"a": [0.1, 0.2]}, ShapeError, "length of parameter a of synapse"),
        ({"a": [0.1] * 99 + [np.nan]}, ValueOutOfBoundsError, "element 99 of parameter a"),
        ({"a": np.zeros((2, 2, 2))}, ShapeError, "one or two dimensions"),
        ({"a": "y"}, EquationError, "a of projection .* here values are of a pair"),
        ({"tau_plus": rv.Uniform(-1.0, 2.0)}, ValueOutOfBoundsError, "time constant of a trace is -"),
        ({"tau_plus": rv.Uniform(1.0, 2e6)}, ValueOutOfBoundsError, "time constant of a trace is 199"),
        ({"W_max": rv.Uniform(-5.0, 5.0)}, ValueOutOfBoundsError, "change their sign"),
        ({"W_max": rv.Normal(5.0, 2.0)}, ValueOutOfBoundsError, "change their sign"),
        ({"z": rv.Uniform(1.0, 2.0)}, UnknownNameError, "parameter of"),
    ],
    ids=str,
)
def test_bad_values_of_synapses_of_equations(values: dict[str, Any], error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        connected(written()(**values))


def test_what_follows_from_parameters_is_shared() -> None:
    """Time constants that are calculated, and what an equation is checked for."""
    derived = written(equations=PAIRS.replace("-x/tau_plus", "-x/(2*tau_plus)"))
    assert derived.per_synapse_names == ("tau_minus", "a", "b", "W_max")
    with pytest.raises(WrongTypeError, match="tau_minus, a, b, W_max may differ"):
        derived(tau_plus=rv.Uniform(5.0, 10.0))
    names = [f"c{i}" for i in range(6)]
    many = written(
        parameters={**VALUES, **dict.fromkeys(names, 0.1)},
        on_post=f"y += 1; w = clip(w + b*x*({' + '.join(names)}), 0, W_max)",
    )
    many(**dict.fromkeys(names[:5], rv.Uniform(0.1, 0.2)))
    with pytest.raises(ValueOutOfBoundsError, match="of at most 5 parameters that events read"):
        many(**dict.fromkeys(names, rv.Uniform(0.1, 0.2)))
    with pytest.raises(ValueOutOfBoundsError, match="of at most 5 parameters that events read"):
        many(**dict.fromkeys(names, [0.1] * 100))


def test_bounds_that_cannot_be_seen_where_they_differ() -> None:
    """A weight above the bound of its own synapse might become negative."""
    with pytest.raises(ValueOutOfBoundsError, match="change their sign or become infinite"):
        as_equations("stdp")(W_max=rv.Uniform(50.0, 100.0))
    bounded("+=")(W_max=rv.Uniform(50.0, 100.0))
    with pytest.raises(ValueOutOfBoundsError, match="'W_max', by which 'w/W_max' is divided"):
        bounded("+=")(W_max=[0.0, 100.0])


def test_parameters_by_distance() -> None:
    net = rv.Network(seed=1)
    neurons = net.create("iaf_psc_exp", 30, positions=rv.random_positions(extent=(1.0, 1.0)))
    model = written()(a="0.1 + 0.1*d", W_max="5 + d")
    net.connect(neurons, neurons, rv.FixedIndegree(5), weight=1.0, synapse=model)
    found = rv.Simulation(net, weight_precision="double").connections()
    d = np.hypot(*(neurons.positions[found.targets] - neurons.positions[found.sources]).T)
    np.testing.assert_allclose(found.get("a"), 0.1 + 0.1 * d, rtol=1e-12)
    np.testing.assert_allclose(found.get("W_max"), 5 + d, rtol=1e-12)
    with pytest.raises(ValueOutOfBoundsError, match="change their sign"):
        net.connect(neurons, neurons, rv.FixedIndegree(5), weight=1.0, synapse=written()(W_max="d - 0.5"))
