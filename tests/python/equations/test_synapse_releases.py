"""Synapses of equations whose spikes add a part of the weight: short-term plasticity that users write."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from memory_accounts import check, network_with, run
from ranvier import _core
from ranvier.equations.program import Program
from ranvier.equations.synapse import EquationSynapse
from ranvier.errors import (
    EquationError,
    RanvierError,
    StateError,
    UnitError,
    UnknownNameError,
    UnknownSymbolError,
    ValueOutOfBoundsError,
    WrongTypeError,
)
from short_term_scenes import LINKS, RESOLUTION, TRAINS, expected_factors, in_ranvier, inputs_of, network_of

FACILITATING: dict[str, Any] = {
    "equations": "du/dt = -u/tau_fac : 1\ndx/dt = (1 - x)/tau_rec : 1",
    "on_pre": "u += U*(1 - u); release = clip(u*x, 0, 1); x -= release",
    "parameters": {"U": 0.3, "tau_fac": "60 ms", "tau_rec": "120 ms"},
}
DEPRESSING: dict[str, Any] = {
    "equations": "dx/dt = (1 - x)/tau_rec : 1",
    "on_pre": "release = clip(U*x, 0, 1); x -= release",
    "parameters": {"U": 0.5, "tau_rec": "800 ms"},
}
WAYS: list[dict[str, Any]] = [
    {"threads": 2},
    {"threads": 3, "tuning": rv.Tuning(shards=5, instruction_set="baseline")},
    {"tuning": rv.Tuning(instruction_set="avx2")},
    {"processes": rv.Processes(sort_connections=False)},
    {"processes": rv.Processes(row_numbering="compact"), "tuning": rv.Tuning(delivery_window=1)},
]


def facilitating(**values: Any) -> EquationSynapse:
    return rv.synapse(**FACILITATING)(**values)


def compare(found: list[Any], factors: list[list[float]]) -> None:
    for (weight, delay), got in zip(LINKS, found, strict=True):
        wanted = np.zeros_like(got)
        for source, train in enumerate(TRAINS):
            for step, factor in zip(train, factors[source], strict=True):
                wanted[source, step + delay - 1] += weight * factor
        # What arrives is rounded to 50 bits below the greatest weight. Inputs are differences of currents, of 53 bits.
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=2.0**-41 + 2e-14 * abs(weight))


@pytest.mark.parametrize(
    ("synapse", "built_in"),
    [
        (facilitating(), {"U": 0.3, "tau_rec": 120.0, "tau_fac": 60.0, "u": 0.3}),
        (
            facilitating(U=0.04, tau_fac=1500.0, tau_rec=20.0),
            {"U": 0.04, "tau_rec": 20.0, "tau_fac": 1500.0, "u": 0.04},
        ),
        (rv.synapse(**DEPRESSING), {"U": 0.5, "tau_rec": 800.0, "u": 0.5}),
    ],
    ids=["facilitating", "slowly", "depressing"],
)
def test_what_arrives_is_that_of_tsodyks_and_markram(synapse: EquationSynapse, built_in: dict[str, float]) -> None:
    factors = [expected_factors("tsodyks2", built_in, train) for train in TRAINS]
    compare(in_ranvier(synapse, weight_precision="double"), factors)


def test_four_variables_units_and_parts_above_one() -> None:
    """Sums that grow with each spike and forget at different speeds, one of them towards a value with a unit."""
    synapse = rv.synapse(
        """
        da/dt = -a/tau : 1 (event-driven)
        db/dt = -2*b/tau : 1
        dc/dt = (c_0 - c)/(3*tau) : mV   # this one rests at c_0
        dd/dt = 0.1*mV/ms - d/tau : mV
        gain = (a + b)*c/(2*mV) : 1
        """,
        on_pre="a += 0.5; b += 1 - b; c *= 0.5; d -= 1*uV; release = clip(gain + d/mV, 0, 5); a *= 0.9",
        parameters={"tau": "30 ms", "c_0": "2 mV"},
    )
    tau, c_0 = 30.0, 2.0
    factors: list[list[float]] = []
    for train in TRAINS:
        a, b, c, d = 0.0, 0.0, c_0, 0.1 * tau
        own: list[float] = []
        for before, step in zip([None, *train], train, strict=False):
            time = 0.0 if before is None else (step - before) * RESOLUTION
            a *= math.exp(-time / tau)
            b *= math.exp(-2.0 * time / tau)
            c = c_0 + (c - c_0) * math.exp(-time / (3.0 * tau))
            d = 0.1 * tau + (d - 0.1 * tau) * math.exp(-time / tau)
            a, b, c, d = a + 0.5, 1.0, 0.5 * c, d - 1e-3
            own.append(min(max((a + b) * c / 2.0 + d, 0.0), 5.0))
            a *= 0.9
        factors.append(own)
    assert max(max(own, default=0.0) for own in factors) > 3.0
    compare(in_ranvier(synapse, weight_precision="double"), factors)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_what_arrives_does_not_depend_on_how_a_run_is_divided(precision: str) -> None:
    first = in_ranvier(facilitating(), weight_precision=precision)
    for way in WAYS:
        for one, other in zip(first, in_ranvier(facilitating(), weight_precision=precision, **way), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=str(way))


def busy_network(synapse: Any, **options: Any) -> tuple[rv.Network, Any]:
    net = rv.Network(seed=3)
    neurons = net.create("iaf_psc_alpha", 200, I_e=rv.Uniform(350.0, 480.0), V_m=rv.Normal(-65.0, 3.0))
    delays = rv.Uniform(0.5, 3.0)
    net.connect(neurons, neurons, rv.FixedIndegree(30), weight=12.0, delay=delays, synapse=synapse, **options)
    net.connect(neurons[:40], neurons, rv.FixedIndegree(8), weight=-60.0, delay=1.5, synapse=synapse)
    return net, net.record_spikes()


def test_spikes_of_a_network_do_not_depend_on_threads_stepping_and_states(tmp_path: Path) -> None:
    digests = set()
    ways: list[dict[str, Any]] = [{"threads": 1}, {"threads": 2, "stepping": "async"}, *WAYS]
    for way in ways:
        net, recorder = busy_network(facilitating())
        options: dict[str, Any] = {"threads": 1, "progress": False, **way}
        sim = rv.Simulation(net, **options)
        sim.run(120.0)
        sim.save(tmp_path / "state.h5")
        again, recorder = busy_network(pickle.loads(pickle.dumps(facilitating())))
        sim = rv.Simulation.load(again, tmp_path / "state.h5", threads=2, progress=False)
        sim.run(180.0)
        assert len(sim.spikes(recorder).times) > 1000
        digests.add(sim.spikes(recorder).digest())
    net, recorder = busy_network(facilitating())
    whole = rv.Simulation(net, threads=2, progress=False)
    whole.run(300.0)
    assert digests == {whole.spikes(recorder).digest()}


def test_a_run_may_be_cut() -> None:
    whole = in_ranvier(facilitating())
    net, recorders = network_of(facilitating())
    sim = rv.Simulation(net, threads=2, progress=False)
    random = np.random.default_rng(1)
    end = whole[0].shape[1]
    while (left := end - round(sim.time / RESOLUTION)) > 0:
        sim.run(round(min(int(random.integers(1, 300)), left) * RESOLUTION, 6))
    for one, (recorder, current) in zip(whole, recorders, strict=True):
        np.testing.assert_array_equal(one, inputs_of(sim.state(recorder)[current]))


def test_a_state_of_other_equations_is_refused(tmp_path: Path) -> None:
    net, _ = busy_network(facilitating())
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(10.0)
    sim.save(tmp_path / "state.h5")
    other = rv.synapse(**{**FACILITATING, "on_pre": FACILITATING["on_pre"].replace("U*(1 - u)", "U*(1 - u)/2")})
    with pytest.raises(RanvierError, match="synapse"):
        rv.Simulation.load(busy_network(other)[0], tmp_path / "state.h5", progress=False)


def test_weights_stay_and_may_have_either_sign() -> None:
    net, _ = busy_network(facilitating())
    sim = rv.Simulation(net, threads=2, progress=False)
    sim.run(100.0)
    assert set(np.unique(np.asarray(sim.connections().weights))) == {-60.0, 12.0}
    assert facilitating().weight_range == (-math.inf, math.inf)


@pytest.mark.parametrize("options", [{"ranks": 1, "sort_connections": True}, {"ranks": 2, "sort_connections": False}])
def test_what_is_predicted_of_memory_is_what_they_take(options: dict[str, Any]) -> None:
    model = network_with(facilitating(), 100 * options["ranks"], delay=rv.Uniform(1.0, 2.0))
    check(*run(model=model, threads=1, weight_precision="single", **options))


def test_models_are_values() -> None:
    synapse = facilitating()
    other = synapse(U=0.6, tau_rec="0.2 s")
    assert synapse.parameters == ("U", "tau_fac", "tau_rec")
    assert dict(other.values) == {"U": 0.6, "tau_rec": 200.0}
    assert other == pickle.loads(pickle.dumps(other)) != synapse
    assert "release = clip(u*x, 0, 1)" in other.describe()
    assert "axonal_fraction" not in other.describe()
    assert repr(other) == "<synapse 'synapse', U=0.6, tau_rec=200.0: u, x>"
    wrong: list[tuple[str, Any, type[RanvierError]]] = [
        ("axonal_fraction", 0.5, UnknownNameError),
        ("tau_rec", "0 ms", ValueOutOfBoundsError),
        ("tau_rec", "1 mV", UnitError),
        ("U", np.array([0.1, 0.2]), WrongTypeError),
    ]
    for name, value, error in wrong:
        with pytest.raises(error):
            synapse(**{name: value})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "name"),
        ({"states": ("a", "b", "c", "d", "f")}, "there can be 4"),
        ({"states": ("u",)}, "inputs of 'release'"),
        ({"conditions": ((0, "no truth"),)}, "a truth among the results of 'prepare'"),
        ({"release": Program(("number",) * 6, (), (0, 1))}, "at least 3"),
        ({"release": Program(("number",) * 6, (), (0, 1, 2, 3))}, "there must be 3"),
        ({"prepare": Program(("number",) * 3, (), (0,))}, "at least 2"),
    ],
)
def test_the_core_takes_no_programs_that_do_not_fit_together(change: dict[str, Any], words: str) -> None:
    program: Any = replace(facilitating().program, **change)
    with pytest.raises(RanvierError, match=words):
        _core.ProgramRelease(program)


def marked(error: EquationError) -> str:
    """Return what the marks of an error point at."""
    line, marks = error.place.split("\n")
    return line[marks.index("^") : marks.rindex("^") + 1]


@pytest.mark.parametrize(
    ("change", "kind", "place", "words"),
    [
        ({"on_post": "x = 1"}, EquationError, "x", "the spikes of the source alone"),
        ({"on_pre": "w += 1; release = x"}, EquationError, "w", "the weight, which stays"),
        ({"on_pre": "release = clip(w*x, 0, 1)"}, UnknownSymbolError, "w", "not on the weight"),
        ({"on_pre": "release = clip(V_m, 0, 1)"}, UnknownSymbolError, "V_m", "not on the weight"),
        ({"on_pre": "v_post += x; release = 1"}, UnknownSymbolError, "v_post", "not on the weight"),
        ({"on_pre": "x -= release; release = clip(u*x, 0, 1)"}, UnknownSymbolError, "release", "depends on variables"),
        ({"on_pre": "release += u*x"}, EquationError, "release", "it is read before it is assigned"),
        ({"on_pre": "release = 1; release = clip(u*x, 0, 1)"}, EquationError, "release", "it is assigned twice"),
        ({"on_pre": "release = clip(u*x, 0, 1)*mV"}, UnitError, "clip(u*x, 0, 1)*mV", "release"),
        ({"on_pre": "U = 1; release = clip(u*x, 0, 1)"}, EquationError, "U", "variables only"),
        ({"on_pre": "release = clip(x*rand(), 0, 1)"}, EquationError, "rand()", "draw nothing"),
        ({"on_pre": "release = clip(x, 0, 1); x -= release"}, EquationError, "u", "nothing that is released"),
        ({"equations": "du/dt = -u/tau_fac : 1\ndx/dt = (u - x)/tau_rec : 1"}, EquationError, "u", "by itself"),
        ({"equations": "du/dt = -u/tau_fac : 1\ndx/dt = -x*x/tau_rec : 1"}, EquationError, "-x*x", "at rest"),
        ({"equations": "du/dt = -u/tau_fac : 1\ndx/dt = 1/tau_rec : 1"}, EquationError, "1/tau_rec", "at rest"),
        ({"equations": "du/dt = -u/tau_fac : 1\ndx/dt = (1 - x)/U : 1"}, UnitError, "(1 - x)/U", "1/ms"),
        ({"equations": "release : 1"}, EquationError, "release", "shadow"),
        (
            {"equations": "\n".join(f"d{name}/dt = -{name}/tau_rec : 1" for name in "abcdf"), "on_pre": "release = 1"},
            EquationError,
            "f",
            "there can be 4 variables",
        ),
    ],
)
def test_mistakes_point_at_their_place(
    change: dict[str, Any], kind: type[EquationError], place: str, words: str
) -> None:
    with pytest.raises(kind) as caught:
        rv.synapse(**{**FACILITATING, **change})
    assert words in str(caught.value)
    assert marked(caught.value).startswith(place.split("\n")[0][:1])
    assert place in marked(caught.value)


@pytest.mark.parametrize("release", ["u*x", "max(u*x, 0)", "clip(u*x, -1, 1)", "min(u*x, 1)", "clip(u*x, 0, 257)"])
def test_what_might_be_negative_or_without_bound_is_refused(release: str) -> None:
    with pytest.raises(EquationError, match=r"write release = clip\(\.\.\., 0, 1\)"):
        rv.synapse(**{**FACILITATING, "on_pre": f"u += U; release = {release}; x -= release"})


def test_a_small_part_is_exact_whatever_its_bound() -> None:
    """Sums are rounded to a part of the greatest that may be added."""
    inputs = [
        in_ranvier(rv.synapse("dx/dt = (0.001 - x)/ms : 1", on_pre=f"release = clip(x, 0, {bound})"))
        for bound in (1, 256)
    ]
    for one, other in zip(*inputs, strict=True):
        # To 50 bits below 256 times the greatest weight.
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=256.0 * 1000.0 * 2.0**-50)


def test_bounds_that_depend_on_values_are_checked_with_them() -> None:
    synapse = rv.synapse("dx/dt = (1 - x)/ms : 1", on_pre="release = clip(x, 0, most)", parameters={"most": 1.0})
    assert synapse(most=256.0).values["most"] == 256.0
    with pytest.raises(ValueOutOfBoundsError, match="at most 300 times"):
        synapse(most=300.0)


def test_variables_that_do_not_return_are_refused_with_their_values() -> None:
    synapse = rv.synapse(
        "dx/dt = (1 - x)*rate : 1", on_pre="release = clip(x, 0, 1); x *= 0.5", parameters={"rate": "0.1/ms"}
    )
    assert synapse(rate=0.2).values["rate"] == 0.2
    for rate in (0.0, -0.1):
        with pytest.raises(ValueOutOfBoundsError, match="return"):
            synapse(rate=rate)


@pytest.mark.parametrize("repeats", [2, 63, 64, 65, 300])
def test_a_source_may_fire_several_times_in_a_step(repeats: int) -> None:
    """Each spike finds what the one before has left, whatever other sources fire."""
    trains = [[6.0, *[8.0] * repeats, 20.0], [8.0] * 3, [6.0, 8.0, 8.0]]
    found = []
    for synapse in (rv.synapse(**DEPRESSING), rv.tsodyks2(U=0.5, tau_rec=800.0, u=0.5)):
        for threads in (1, 3):
            net = rv.Network()
            targets = net.create("iaf_psc_exp", 2)
            sources = net.create_spike_generators([sorted(train) for train in trains])
            net.connect(sources, targets, rv.AllToAll(), weight=100.0, delay=2.0, synapse=synapse)
            recorder = net.record_state(targets, "V_m", interval=0.1)
            sim = rv.Simulation(net, threads=threads, progress=False)
            sim.run(40.0)
            found.append(np.asarray(sim.state(recorder).values))
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_allclose(found[2], found[0], rtol=1e-9)
    np.testing.assert_array_equal(found[3], found[2])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_variable_without_bound_is_told(threads: int) -> None:
    """What is released stays within its bounds then, and nobody would see it."""
    synapse = rv.synapse(
        "du/dt = -u/tau : 1",
        on_pre="u = u*1e200 + 1e200; release = clip(u, 0, 1)",
        parameters={"tau": "100 ms"},
        name="growing",
    )
    net = rv.Network()
    targets = net.create("iaf_psc_exp", 4)
    sources = net.create_spike_generators([[3.0], [1.0, 2.0, 4.0]])
    net.connect(sources, targets, rv.AllToAll(), weight=1.0, delay=1.0, synapse=synapse)
    sim = rv.Simulation(net, threads=threads, progress=False)
    sim.run(1.9)
    with pytest.raises(StateError, match=r"variable u of growing is inf, .* after the spike of a source at 2 ms"):
        sim.run(5.0)


def test_what_carries_them_out_is_told() -> None:
    for synapse, programs in ((facilitating(), "interpreted"), (rv.tsodyks2(), "none")):
        net = rv.Network()
        cells = net.create("iaf_psc_exp", 4)
        net.connect(cells, cells, rv.AllToAll(), weight=1.0, delay=1.0, synapse=synapse)
        assert rv.Simulation(net, progress=False).programs == programs
