"""Synapses of equations: they learn what the built-in models do, however a run is cut, divided and stored."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from plasticity_scenes import MODELS, Scene, in_ranvier, irregular_scene, network_of
from ranvier.equations.synapse import EquationSynapse
from ranvier.errors import ReadOnlyError, UnknownNameError, ValueOutOfBoundsError
from synapse_equations import WRITTEN, as_equations, multiplicative
from thorough_cases import every, one_of_each

CASES = [(model, case) for model in WRITTEN for case in range(len(MODELS[model]))]

SIMPLE: dict[str, Any] = {
    "equations": "dx/dt = -x/tau_plus : 1\n dy/dt = -y/tau_minus : 1",
    "on_pre": "x += 1; w = max(w - lam*alpha*w*y, 0)",
    "on_post": "y += 1; w = min(w + lam*(W_max - w)*x, W_max)",
    "parameters": {"tau_plus": "20 ms", "tau_minus": "20 ms", "lam": 0.01, "alpha": 1.0, "W_max": "100 pA"},
}


def scene_of(model: str, case: int, fraction: float = 0.0, seed: int = 1) -> Scene:
    weight, parameters = MODELS[model][case]
    scene = irregular_scene(model, weight, {**parameters, "axonal_fraction": fraction}, seed)
    delays = scene.delays if fraction in (0.0, 1.0) else [2, 15, 40]
    return Scene(scene.pre, scene.post, delays, scene.last_step, scene.model, scene.weight, scene.parameters)


def written(scene: Scene) -> EquationSynapse:
    return as_equations(scene.model)(**scene.parameters)


@pytest.mark.parametrize(("model", "case", "fraction"), one_of_each(CASES, [0.0, 0.6, 1.0]))
def test_weights_are_those_of_the_built_in_model(model: str, case: int, fraction: float) -> None:
    """Bursts, silences, and spikes that meet in the same step at the synapse."""
    scene = scene_of(model, case, fraction, seed=case + 1)
    synapse = written(scene)
    expected = in_ranvier(scene, weight_precision="double")
    assert np.ptp(expected) > 1.0, "weights have changed, and not all in the same way"
    np.testing.assert_allclose(in_ranvier(scene, synapse, weight_precision="double"), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(in_ranvier(scene, synapse), in_ranvier(scene), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("plus", [0, 1])
@pytest.mark.parametrize("minus", [0, 1])
def test_the_same_operations_give_the_same_bits(plus: int, minus: int) -> None:
    scene = scene_of("stdp", 0)
    built_in = Scene(**{**vars(scene), "parameters": {**scene.parameters, "mu_plus": plus, "mu_minus": minus}})
    values = {name: value for name, value in scene.parameters.items() if not name.startswith("mu_")}
    own = in_ranvier(scene, multiplicative(plus, minus)(**values), weight_precision="double")
    np.testing.assert_array_equal(own, in_ranvier(built_in, weight_precision="double"))


@pytest.mark.parametrize(("model", "precision"), one_of_each(["stdp", "stdp_triplet"], ["single", "double"]))
def test_weights_do_not_depend_on_how_a_run_is_divided(model: str, precision: str) -> None:
    scene = scene_of(model, 0, 0.6, seed=7)
    synapse = written(scene)
    first = in_ranvier(scene, synapse, weight_precision=precision)
    ways: list[dict[str, Any]] = [
        {"threads": 2},
        {"threads": 3, "tuning": rv.Tuning(shards=5, instruction_set="baseline")},
        {"tuning": rv.Tuning(instruction_set="avx2")},
        {"processes": rv.Processes(sort_connections=False)},
        {"processes": rv.Processes(row_numbering="compact"), "tuning": rv.Tuning(delivery_window=1)},
    ]
    for way in ways:
        np.testing.assert_array_equal(in_ranvier(scene, synapse, weight_precision=precision, **way), first)


@pytest.mark.parametrize("model", every(4, WRITTEN))
def test_a_run_may_be_cut_and_saved_at_any_time(model: str, tmp_path: Path) -> None:
    scene = scene_of(model, 0, 0.3, seed=3)
    synapse = written(scene)
    whole = in_ranvier(scene, synapse)
    file = tmp_path / "state.h5"
    sim = rv.Simulation(network_of(scene, synapse=synapse)[0], threads=2, progress=False)
    for until in (1, 137, 138, 700, 2500, scene.last_step):
        sim.run_until(round(until * 0.1, 6))
        sim.save(file)
        net, projections = network_of(scene, synapse=pickle.loads(pickle.dumps(synapse)))
        sim = rv.Simulation.load(net, file, threads=1, progress=False)
    last = np.concatenate([np.asarray(sim.connections(projection=each).weights) for each in projections])
    np.testing.assert_array_equal(np.sort(last), np.sort(whole.ravel()))


def test_a_state_of_other_equations_is_refused(tmp_path: Path) -> None:
    scene = scene_of("stdp", 0)
    simple: dict[str, Any] = {**SIMPLE, "parameters": {**SIMPLE["parameters"], "W_max": "100 mV"}}
    sim = rv.Simulation(network_of(scene, synapse=rv.synapse(**simple))[0], threads=1, progress=False)
    sim.save(tmp_path / "state.h5")
    other = rv.synapse(**{**simple, "on_pre": SIMPLE["on_pre"].replace("lam*", "2*lam*")})
    with pytest.raises(rv.errors.RanvierError, match="description of the synapse of projection"):
        rv.Simulation.load(network_of(scene, synapse=other)[0], tmp_path / "state.h5", threads=1, progress=False)


def test_statements_follow_their_order() -> None:
    """What stands before a trace is raised reads it as it was before the spike."""
    before, after = (
        rv.synapse(
            "dx/dt = -x/tau : 1",
            on_pre=text,
            parameters={"tau": "20 ms"},
        )
        for text in ("w += x; x += 1", "x += 1; w += x")
    )
    spikes = [[100, 150, 151, 400]]
    scene = Scene(spikes, [[300]], [10], 500, "stdp", 1.0)
    tau = 20.0
    read = [sum(np.exp((other - step) * 0.1 / tau) for other in spikes[0] if other < step) for step in spikes[0]]
    found = [in_ranvier(scene, each, weight_precision="double").item() for each in (before, after)]
    np.testing.assert_allclose(found, [1.0 + sum(read), 1.0 + sum(read) + 4.0], rtol=1e-12)


def test_a_trace_may_be_raised_by_any_amount_in_any_unit() -> None:
    """As Brian2's users write it: the amount is in the trace, and only the last spike counts where it is set."""
    brian = rv.synapse(
        """
        w : mV
        dA_pre/dt = -A_pre/tau : mV (event-driven)
        dA_post/dt = -A_post/tau : volt (event-driven)  # in another unit
        """,
        on_pre="A_pre = dA; w = clip(w - A_post, 0*mV, W_max)",
        on_post="A_post = 1.05*dA; w = clip(w + A_pre, 0*mV, W_max)",
        parameters={"tau": "20 ms", "dA": "0.5 mV", "W_max": "100 mV"},
    )
    plain = rv.synapse(
        "dx/dt = -x/tau : 1\n dy/dt = -y/tau : 1",
        on_pre="x = 1; w = clip(w - 1.05*dA*y, 0, W_max)",
        on_post="y = 1; w = clip(w + dA*x, 0, W_max)",
        parameters={"tau": "20 ms", "dA": 0.5, "W_max": 100.0},
    )
    assert brian.weight_range == plain.weight_range == (0.0, 100.0)
    scene = scene_of("stdp", 0, seed=4)
    first, second = (in_ranvier(scene, each, weight_precision="double") for each in (brian, plain))
    assert np.ptp(first) > 1.0
    np.testing.assert_allclose(first, second, rtol=1e-9)


def test_models_are_values() -> None:
    s = rv.synapse(**SIMPLE, name="own")
    assert s(lam=0.02).values == {"lam": 0.02}
    assert s(tau_plus="0.01 second").values == {"tau_plus": 10.0}
    assert s(lam=0.02)(alpha=0.5).values == {"lam": 0.02, "alpha": 0.5}
    assert s.values == {}
    for model in (s, s(lam=0.02, axonal_fraction=0.5)):
        for again in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
            assert again == model
            assert again.values == model.values
            assert again.core_model.fingerprint == model.core_model.fingerprint
    assert s != s(lam=0.02)
    assert s != rv.synapse(**SIMPLE, name="other")
    assert s.parameters == ("tau_plus", "tau_minus", "lam", "alpha", "W_max", "axonal_fraction")
    assert s.units["W_max"] == s.weight_unit == "pA"
    assert "lam=0.02" in repr(s(lam=0.02))
    assert "w = min(w + lam*(W_max - w)*x, W_max)" in s.describe()
    with pytest.raises(ReadOnlyError, match="lam"):
        s.lam = 0.1
    with pytest.raises(UnknownNameError, match="did you mean 'alpha'"):
        s(alpa=1.0)


def test_a_network_keeps_its_synapse_models() -> None:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", 10)
    s = rv.synapse(**SIMPLE, name="own")
    first = net.connect(cells, cells, rv.FixedIndegree(3), weight=50.0, synapse=s(lam=0.02))
    second = net.connect(cells, cells, rv.FixedIndegree(3), weight=50.0, synapse=multiplicative(1, 1))
    net.connect(cells, cells, rv.FixedIndegree(3), weight=50.0, synapse=rv.stdp())
    assert first.synapse == s(lam=0.02)
    assert "own" in repr(first)
    again = pickle.loads(pickle.dumps(net))
    assert [each.synapse.name for each in again.projections] == ["own", "own_multiplicative", "stdp"]
    del net, s
    sim = rv.Simulation(again, threads=2, progress=False)
    sim.run(10.0)
    again.set(again.projections[1], synapse="static_synapse")
    assert again.projections[1].synapse == rv.static_synapse()
    assert second.synapse.name == "own_multiplicative"


def test_a_simulation_needs_its_models_no_longer() -> None:
    scene = scene_of("stdp", 0)
    synapse = written(scene)
    expected = in_ranvier(scene, synapse)
    net, projections = network_of(scene, synapse=synapse)
    sim = rv.Simulation(net, threads=1, progress=False)
    del net, synapse
    sim.run(scene.last_step * 0.1)
    last = np.concatenate([np.asarray(sim.connections(projection=each).weights) for each in projections])
    np.testing.assert_array_equal(np.sort(last), np.sort(expected.ravel()))


def recurrent(synapse: list[Any], **options: Any) -> tuple[str, Any]:
    """Return the spikes of a network that learns in two projections, and its weights."""
    net = rv.Network(seed=3)
    exc = net.create("iaf_psc_alpha", 120, I_e=rv.Uniform(350.0, 480.0), V_m=rv.Normal(-65.0, 3.0))
    inh = net.create("iaf_psc_alpha", 30, I_e=420.0)
    learning = [
        net.connect(exc, exc, rv.FixedIndegree(12), weight=30.0, delay=rv.Uniform(0.6, 4.0), synapse=each)
        for each in synapse
    ]
    net.connect(inh, exc + inh, rv.FixedIndegree(10), weight=-90.0, delay=1.5)
    recorder = net.record_spikes()
    sim = rv.Simulation(net, progress=False, **options)
    sim.run(200.0)
    weights = [np.asarray(sim.connections(projection=each).weights) for each in learning]
    return sim.spikes(recorder).digest(), np.sort(np.concatenate(weights))


def test_spikes_of_a_network_that_learns_are_those_of_the_built_in_model() -> None:
    """Also where the same equations were written twice, or have two names."""
    built_in = recurrent([rv.stdp(W_max=60.0), rv.stdp(W_max=60.0)], threads=1, weight_precision="double")
    own = rv.synapse(**SIMPLE | {"parameters": {**SIMPLE["parameters"], "W_max": "60 pA"}})
    stdp = multiplicative(1, 1)(W_max=60.0)
    assert built_in[1].std() > 0.1
    for synapses in ([stdp] * 2, [stdp, multiplicative(1, 1)(W_max=60.0)], [stdp, rv.stdp(W_max=60.0)]):
        digest, weights = recurrent(synapses, threads=2, weight_precision="double")
        assert digest == built_in[0]
        np.testing.assert_array_equal(weights, built_in[1])
    named = [rv.synapse(**SIMPLE, name=name)(W_max=60.0) for name in ("one", "two")]
    first, second = (recurrent(each, threads=1, weight_precision="double") for each in ([own, own], named))
    assert first[0] == second[0]
    np.testing.assert_array_equal(first[1], second[1])


@pytest.mark.parametrize(
    ("on_pre", "on_post", "expected"),
    [
        ("x += 1; w = max(w - A*y, 0)", "y += 1; w = min(w + A*x, B)", (0.0, 60.0)),
        ("x += 1; w = max(w - A*y, 0)", "y += 1; w += A*x", (0.0, np.inf)),
        ("x += 1; w = clip(w - A*y, 0.5, B)", "y += 1; w = clip(w + A*x, 0.5, B)", (0.5, 60.0)),
        ("x += 1; w = min(w + A*y, 0)", "y += 1; w = max(w - A*x, -B)", (-60.0, 0.0)),
        ("x += 1; w *= exp(-A*y)", "y += 1; w *= 1 + A*x", (-np.inf, np.inf)),
        ("x += 1; w = B - (B - w)*exp(-A*y)", "y += 1; w = min(w*(1 + x), B)", None),
        ("x += 1; w = w - A*y", "y += 1; w = min(w + A*x, B)", None),
        ("x += 1; w = max(w/y, 0)", "y += 1; w = min(w + A*x, B)", None),
        ("x += 1; w = clip(w/(1 + y), 0, B)", "y += 1; w = clip(w + A*x, 0, B)", (0.0, 60.0)),
        ("x = 1; w = min(w + y, 2)", "y = 1; w = max(min(w + x, 1) - x, 0)", (0.0, 2.0)),
        ("x += 1; w = 3*int(y > 0.5)", "y += 1; w = 2 + x*0", (0.0, 3.0)),
    ],
)
def test_the_range_of_weights_follows_from_the_equations(
    on_pre: str, on_post: str, expected: tuple[float, float] | None
) -> None:
    parameters = {"tau": "20 ms", "A": 0.7, "B": 60.0}
    equations = "dx/dt = -x/tau : 1\n dy/dt = -y/tau : 1"
    if expected is None:
        with pytest.raises(rv.errors.EquationError, match="weights might change their sign"):
            rv.synapse(equations, on_pre=on_pre, on_post=on_post, parameters=parameters)
        return
    s = rv.synapse(equations, on_pre=on_pre, on_post=on_post, parameters=parameters)
    assert s.weight_range == pytest.approx(expected, rel=1e-12)
    # They stay there, whatever spikes come.
    low, high = (min(max(end, -50.0), 50.0) for end in s.weight_range)
    start = high if high > 0.0 else low
    scene = scene_of("stdp", 0)
    scene = Scene(**{**vars(scene), "weight": start})
    if np.isfinite(s.weight_range).all():
        weights = in_ranvier(scene, s)
        assert (weights >= np.float32(s.weight_range[0])).all()
        assert (weights <= np.float32(s.weight_range[1])).all()


def test_what_depends_on_values_is_checked_with_them() -> None:
    s = rv.synapse(
        "dx/dt = -x/tau : 1",
        on_pre="x += 1; w = max(0.9*w, 1)",
        on_post="w = min(w + A*x/B, W_max)",
        parameters={"tau": "20 ms", "A": 1.0, "B": 2.0, "W_max": 50.0},
    )
    with pytest.raises(ValueOutOfBoundsError, match="'B', by which"):
        s(B=0.0)
    with pytest.raises(ValueOutOfBoundsError, match="weights might change their sign"):
        s(A=-1.0)
    with pytest.raises(ValueOutOfBoundsError, match="tau of synapse"):
        s(tau=0.0)
    with pytest.raises(ValueOutOfBoundsError, match="1e\\+05"):
        s(tau=1e6)
    assert s(W_max=20.0).weight_range == (1.0, 20.0)


def test_queries_know_the_parameters() -> None:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", 5)
    projection = net.connect(cells, cells, rv.AllToAll(), weight=50.0, synapse=rv.synapse(**SIMPLE)(lam=0.02))
    sim = rv.Simulation(net, threads=1, progress=False)
    connections = sim.connections(projection=projection)
    with pytest.raises(ValueOutOfBoundsError, match="weights of this synapse are from 0 to 100"):
        connections.weights = 101.0
    connections.weights = 99.0
    np.testing.assert_array_equal(np.asarray(sim.connections(projection=projection).weights), 99.0)
    np.testing.assert_array_equal(np.asarray(connections.get("lam")), 0.02)


def test_changes_that_single_precision_would_lose_are_refused() -> None:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", 5)
    net.connect(cells, cells, rv.AllToAll(), weight=50.0, synapse=rv.synapse(**SIMPLE)(lam=1e-9))
    with pytest.raises(ValueOutOfBoundsError, match="on_post of synapse of projection") as raised:
        rv.Simulation(net, progress=False)
    assert 'weight_precision="double"' in str(raised.value)
    rv.Simulation(net, weight_precision="double", progress=False)
