"""Weights, delays and values of neurons by distance, position and index, also random, against NumPy."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

import ranvier as rv
from ranvier import errors
from ranvier.forecast import miniature
from ranvier.network import formulas

FloatArray = npt.NDArray[np.float64]
BOX = (1.0, 0.8)


def sheets(seed: int = 1, unit: str = "mm", periodic: bool = False, size: int = 120) -> tuple[Any, Any, Any]:
    """Return a network of two populations on a sheet."""
    net = rv.Network(seed=seed)
    scale = 1.0 if unit == "mm" else 1000.0
    extent = tuple(scale * side for side in BOX)
    a = net.create(
        "iaf_psc_exp", size, positions=rv.random_positions(extent=extent, unit=unit, periodic=periodic), name="a"
    )
    rows, columns = 10, 8
    grid = rv.grid((rows, columns), extent=extent, unit=unit, periodic=periodic)
    b = net.create("iaf_psc_exp", rows * columns, positions=grid, name="b")
    return net, a, b


def synapses(net: Any, **options: Any) -> Any:
    return rv.Simulation(net, **options).connections()


def displacements(connections: Any, a: Any, b: Any, period: Any = None) -> FloatArray:
    """Return target minus source of each connection."""
    made = b.positions[connections.targets - b.first_id] - a.positions[connections.sources - a.first_id]
    if period is not None:
        made -= np.asarray(period) * np.rint(made / np.asarray(period))
    return np.asarray(made)


@pytest.mark.parametrize("rule", ["all_to_all", rv.FixedIndegree(15), rv.FixedOutdegree(9), rv.PairwiseBernoulli(0.3)])
@pytest.mark.parametrize(("unit", "periodic"), [("mm", False), ("um", True)])
def test_weights_and_delays_by_distance(rule: Any, unit: str, periodic: bool) -> None:
    net, a, b = sheets(unit=unit, periodic=periodic)
    made = net.connect(
        a,
        b,
        rule,
        weight="J*exp(-d/lambda)",
        delay="0.5*ms + d/v",
        constants={"J": "87.8 pA", "lambda": "0.3 mm", "v": "0.3 mm/ms"},
    )
    scale = 1.0 if unit == "mm" else 1000.0
    found = synapses(net)
    period = scale * np.array(BOX) if periodic else None
    d = np.hypot(*displacements(found, a, b, period).T) / scale
    assert len(d) > 300
    np.testing.assert_allclose(found.weights, 87.8 * np.exp(-d / 0.3), rtol=1e-7)
    np.testing.assert_allclose(found.delays, np.floor((0.5 + d / 0.3) * 10 + 0.5) / 10, atol=1e-9)
    (least, greatest), (shortest, longest) = made.weight_range, made.delay_range
    assert least <= found.weights.min() * (1 + 1e-7)
    assert greatest >= found.weights.max() * (1 - 1e-7)
    assert shortest == pytest.approx(0.5, abs=1e-9)
    assert longest >= (0.5 + d / 0.3).max()
    assert longest <= 0.5 + 1.1 * np.hypot(*BOX) / 0.3


def test_all_quantities_of_a_pair() -> None:
    net, a, b = sheets()
    text = "dx + 10*dy + 100*x_pre + 1000*y_pre + 7*x_post + 3*y_post + 0.5*i + 0.25*j"
    net.connect(a[10:], b[[3, 7, 8, 40]], rv.FixedIndegree(20), weight=text)
    found = synapses(net, weight_precision="double")
    pre, post = a.positions[found.sources], b.positions[found.targets - b.first_id]
    step = post - pre
    expected = step[:, 0] + 10 * step[:, 1] + 100 * pre[:, 0] + 1000 * pre[:, 1] + 7 * post[:, 0] + 3 * post[:, 1]
    expected += 0.5 * (found.sources - 10) + 0.25 * np.searchsorted([3, 7, 8, 40], found.targets - b.first_id)
    np.testing.assert_allclose(found.weights, expected, rtol=1e-12)


def test_quantities_along_the_third_axis() -> None:
    net = rv.Network(seed=3)
    layout = rv.random_positions(extent=(1.0, 1.0, 1.0), periodic=(False, False, True))
    a = net.create("iaf_psc_exp", 30, positions=layout)
    net.connect(a, a, rv.FixedIndegree(5), weight="dz + 10*z_pre + 100*z_post")
    found = synapses(net, weight_precision="double")
    pre, post = a.positions[found.sources, 2], a.positions[found.targets, 2]
    step = post - pre - np.round(post - pre)
    np.testing.assert_allclose(found.weights, step + 10 * pre + 100 * post, rtol=1e-12)


def test_indices_need_no_positions() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 10)
    made = net.connect(neurons, neurons, rv.AllToAll(), weight="1 + i + 10*j")
    found = synapses(net)
    np.testing.assert_array_equal(found.weights, 1 + found.sources + 10 * found.targets)
    assert made.weight_range == (1.0, 100.0)


@pytest.mark.parametrize("rule", [rv.FixedIndegree(8), rv.FixedOutdegree(8)])
def test_both_directions_of_a_pair_have_the_same_values(rule: Any) -> None:
    net, a, b = sheets()
    weight = rv.Normal("10 + 5*dx + i - 0.1*j + x_pre - 2*y_post", 1.0)
    there = net.connect(a, b, rule, weight=weight, delay="1 + d + 0.01*i")
    back = net.connect(b, a, rv.Reversed(there))
    sim = rv.Simulation(net)
    pairs = []
    for projection, first, second in ((there, "sources", "targets"), (back, "targets", "sources")):
        found = sim.connections(projection=projection)
        columns = (getattr(found, first), getattr(found, second), found.weights, found.delays)
        pairs.append(sorted(zip(*(column.tolist() for column in columns), strict=True)))
    assert pairs[0] == pairs[1]
    assert back.weight_range == there.weight_range


def test_parameters_of_synapses() -> None:
    net, a, b = sheets()
    model = rv.tsodyks2(U="0.2 + 0.3*exp(-d/l)", tau_rec=rv.Expression("100*ms + d/v", v="0.01 mm/ms"))
    net.connect(a, b, rv.FixedIndegree(12), synapse=model, constants={"l": "0.4 mm"})
    found = synapses(net, weight_precision="double")
    d = np.hypot(*displacements(found, a, b).T)
    np.testing.assert_allclose(found.get("U"), 0.2 + 0.3 * np.exp(-d / 0.4), rtol=1e-12)
    np.testing.assert_allclose(found.get("tau_rec"), 100 + d / 0.01, rtol=1e-12)


RANDOM = {
    "weight": rv.Normal("20*exp(-d/0.3) + 5", 2.0, low=1.0) * rv.Uniform(0.5, 1.5),
    "delay": rv.redraw(rv.Exponential("0.3 + d") + 0.2, high="4 + d"),
}


@pytest.mark.parametrize("rule", [rv.FixedIndegree(10), rv.FixedOutdegree(7)])
def test_random_values_are_the_same_for_any_threads_and_instructions(rule: Any) -> None:
    def digest(**options: Any) -> list[tuple[float, ...]]:
        net, a, b = sheets()
        model = rv.tsodyks2(U=rv.redraw("0.3 + 0.2*randn()*exp(-d)", 0.05, 0.9))
        net.connect(a, b, rule, **RANDOM, synapse=model)
        found = synapses(net, **options)
        columns = (found.sources, found.targets, found.weights, found.delays, found.get("U"))
        return sorted(zip(*(column.tolist() for column in columns), strict=True))

    expected = digest(threads=1)
    for options in ({"threads": 3}, {"threads": 2, "tuning": rv.Tuning(instruction_set="baseline")}):
        assert digest(**options) == expected
    net, a, b = sheets(seed=2)
    net.connect(a, b, rule, **RANDOM)
    assert len({weight for _, _, weight, *_ in expected}) > 500


def test_random_weights_follow_their_law() -> None:
    net, a, b = sheets(size=500)
    weight = rv.Normal("10*exp(-d/0.3)", "1 + d", low="-d") + 2 * rv.Uniform(0.0, 1.0)
    net.connect(a, b, rv.AllToAll(), weight=weight, receptor=None)
    found = synapses(net, weight_precision="double")
    d = np.hypot(*displacements(found, a, b).T)
    mean, std = 10 * np.exp(-d / 0.3), 1 + d
    # The probability integral: over the uniform part, by Gauss-Legendre.
    points, parts = np.polynomial.legendre.leggauss(40)
    shifted = found.weights[:, None] - (1 + points)
    low = stats.norm.cdf((-d - mean) / std)[:, None]
    inner = np.clip((stats.norm.cdf((shifted - mean[:, None]) / std[:, None]) - low) / (1 - low), 0, 1)
    inner[shifted < -d[:, None]] = 0.0
    uniform = inner @ parts / 2
    assert len(uniform) == 40_000
    # At a level of 0.001; the quadrature has an error of 1 in 1000 where the bound cuts.
    assert stats.kstest(uniform, "uniform").statistic < 1.95 / np.sqrt(len(uniform)) + 1e-3


def test_each_occurrence_of_a_distribution_draws_independently() -> None:
    net, a, b = sheets(size=500)
    normal = rv.Normal(0.0, 1.0)
    net.connect(a, b, rv.AllToAll(), weight=normal - normal, name="twice")
    weights = synapses(net).weights
    assert weights.std() == pytest.approx(np.sqrt(2), rel=0.02)
    assert abs(weights.mean()) < 0.03


FUNCTIONS = ("Expression", "maximum", "minimum", "exp", "log", "sqrt", "sin", "cos", "clip")


def test_arithmetic_and_functions() -> None:
    net, a, b = sheets()
    d = rv.Expression("d")
    value = rv.maximum(2.0 * d + 1, rv.minimum(3 - d, 2.5)) / rv.exp(-d) + rv.sqrt(d) * rv.sin(d) ** 2
    value = abs(-value) + rv.log(1 + d) - rv.cos(d) * np.float64(2.0) + rv.clip(d, 0.1, "0.7 + x_pre") + 2**d
    assert eval(repr(value), {name: getattr(rv, name) for name in FUNCTIONS} | {"abs": abs}) == value
    assert pickle.loads(pickle.dumps(value)) == value
    net.connect(a, b, rv.FixedIndegree(10), weight=value)
    found = synapses(net, weight_precision="double")
    d_of = np.hypot(*displacements(found, a, b).T)
    x = a.positions[found.sources, 0]
    expected = np.maximum(2 * d_of + 1, np.minimum(3 - d_of, 2.5)) / np.exp(-d_of) + np.sqrt(d_of) * np.sin(d_of) ** 2
    expected += np.log(1 + d_of) - 2 * np.cos(d_of) + np.clip(d_of, 0.1, 0.7 + x) + 2**d_of
    np.testing.assert_allclose(found.weights, expected, rtol=1e-10)


def test_plain_distributions_keep_their_numbers() -> None:
    found = []
    for weight in (rv.Normal(3.0, 1.0), rv.Normal(3.0, 1.0) + 0.0 * rv.Uniform(0.0, 1.0)):
        net, a, b = sheets()
        net.connect(a, b, rv.FixedIndegree(10), weight=weight)
        found.append(synapses(net).weights)
    # Numbers of a formula are other ones.
    assert not np.array_equal(*found)
    assert isinstance(rv.Normal(3.0, 1.0)._to_core(), rv._core.Distribution)


# ---- neurons ---------------------------------------------------------------------------------------------------------


def test_values_of_neurons_by_position_and_index() -> None:
    net, _, _ = sheets(unit="um")
    c = net.create(
        rv.iaf_psc_exp(V_m="-70*mV + 5*mV*exp(-(x**2 + y**2)/s**2)"),
        50,
        positions=rv.random_positions(extent=BOX),
        I_e="300*pA*x/w",
        t_ref="2 ms",
        tau_m=rv.Expression("10 + 0.1*i"),
        constants={"w": "1 mm", "s": "0.2 mm"},
    )
    sim = rv.Simulation(net)
    values = sim.get(c, ["V_m", "I_e", "t_ref", "tau_m"])
    x, y = c.positions.T
    np.testing.assert_allclose(values["V_m"], -70 + 5 * np.exp(-(x**2 + y**2) / 0.04), rtol=1e-13)
    np.testing.assert_allclose(values["I_e"], 300 * x, rtol=1e-13)
    np.testing.assert_allclose(values["tau_m"], 10 + 0.1 * np.arange(50), rtol=1e-13)
    assert set(values["t_ref"]) == {2.0}
    assert c.values["I_e"] == rv.Expression("300*pA*x/w", w="1 mm")
    sim.set(c[10:20], I_e=rv.Expression("i + rand()"))
    changed = sim.get(c, "I_e")
    assert np.all((changed[10:20] > np.arange(10, 20)) & (changed[10:20] < np.arange(11, 21)))
    np.testing.assert_array_equal(changed[20:], values["I_e"][20:])


def test_random_values_of_neurons_do_not_depend_on_threads() -> None:
    def potentials(threads: int) -> FloatArray:
        net, _, _ = sheets()
        value = rv.redraw(rv.Normal("-65 + 5*x", 3.0), high=-60) + rv.Uniform(0.0, "abs(y)")
        cells = net.create("iaf_psc_exp", 300, positions=rv.random_positions(extent=BOX), V_m=value)
        return np.asarray(rv.Simulation(net, threads=threads).get(cells, "V_m"))

    first = potentials(1)
    np.testing.assert_array_equal(first, potentials(3))
    assert len(set(first)) == 300
    assert first.max() < -59


def test_all_units_of_models_can_be_read() -> None:
    models = [*rv._core.neuron_models(), *rv._core.stimulator_models(), *rv._core.synapse_models()]
    units = {unit for model in models for unit in formulas.units_of(model).values()}
    assert {"pA", "spikes/s"} <= units
    for unit in units:
        formulas._unit(unit)
    net = rv.Network()
    sources = net.create(rv.poisson_generator(rate="10*Hz + i*Hz/1000 + 1/(1000*ms)"), 1000)
    assert sources.value_range("rate") == pytest.approx((11.0, 11.999))


def test_stimuli_by_position_of_the_targets() -> None:
    net, _, b = sheets()
    stimulus = net.stimulate(b, rv.dc_generator(amplitude="100*pA*x/w"), weight="1 + i", constants={"w": "1 mm"})
    sim = rv.Simulation(net)
    sim.run(0.2)
    amplitude = 100 * b.positions[:, 0] * (1 + np.arange(80))
    rises = np.asarray(sim.get(b, "V_m")) + 70.0
    np.testing.assert_allclose(rises / rises.max(), amplitude / amplitude.max(), atol=1e-9)
    sim.set(stimulus, amplitude=rv.Expression("y"), weight=1.0)
    net.set(stimulus, weight="2 + x")
    assert repr(stimulus.weight) == "'2 + x'"


# ---- a network that is changed, saved and predicted ------------------------------------------------------------------


def test_changes_copies_and_pickles() -> None:
    net, a, b = sheets()
    made = net.connect(a, b, rv.FixedIndegree(5), weight="1 + d", delay=rv.Uniform("0.5 + d", 2.5))
    other = pickle.loads(pickle.dumps(net))
    assert other == net
    np.testing.assert_array_equal(synapses(net).weights, synapses(other).weights)
    net.set(made, weight="a*d", constants={"a": 2.0})
    assert other != net
    assert made.weight == rv.Expression("a*d", a=2.0)
    d = np.hypot(*displacements(synapses(net), a, b).T)
    np.testing.assert_allclose(synapses(net).weights, 2 * d, rtol=1e-6)
    assert "a*d" in net.summary() or made.name in net.summary()


def test_saved_states(tmp_path: Any) -> None:
    def make(weight: str) -> tuple[Any, Any, Any]:
        net, a, b = sheets()
        net.connect(a, b, rv.FixedIndegree(20), weight=weight, delay="0.5 + d")
        drive = net.stimulate(a, rv.poisson_generator(rate="8000 + 1000*x"), weight=100.0)
        return net, drive, net.record_spikes()

    net, drive, recorder = make("50*exp(-d/0.3)")
    sim = rv.Simulation(net)
    sim.run(20.0)
    sim.set(drive, rate=rv.Normal("9000*(1 + 0.1*y)", 10.0) + rv.Expression("l*x", l=2.0))
    sim.run(20.0)
    sim.save(tmp_path / "state.h5")
    sim.run(20.0)
    same, _, of_same = make("50*exp(-d/0.3)")
    loaded = rv.Simulation.load(same, tmp_path / "state.h5")
    loaded.run(20.0)
    assert loaded.spikes(of_same).digest() == sim.spikes(recorder).digest()
    assert len(sim.spikes(recorder)) > 20
    different, _, _ = make("51*exp(-d/0.3)")
    with pytest.raises(errors.RanvierError, match="weight"):
        rv.Simulation.load(different, tmp_path / "state.h5")


def test_forecasts_and_dry_runs() -> None:
    net, a, b = sheets()
    net.connect(a, b, rv.FixedIndegree(20), weight="50*exp(-d/0.3)", delay="0.5 + d")
    net.create(rv.poisson_generator(rate="10 + i"), 20)
    predicted = rv.predict_memory(net, threads=1)
    assert sum(predicted.values()) > 0
    dry = rv.Simulation(net, dry_run=rv.DryRun(ranks=4), threads=1)
    dry.run(5.0)
    small = miniature.describe(net, {}, ranks=1, threads=1, rates={}, rate=5.0, sorted_by_source=False)
    assert small.groups[0].weight == 1.0
    assert small.groups[0].delay == rv.Uniform(*net.projections[0].delay_range)


# ---- what is refused -------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[dict[str, Any], type[errors.RanvierError], str]] = {
    "the third axis of a sheet": (
        {"weight": "1 + dz"},
        errors.ValueOutOfBoundsError,
        "have two dimensions; use x and y",
    ),
    "unknown name": ({"weight": "J*exp(-d)"}, errors.UnknownSymbolError, "weight of projection 'a to b'.*'J'"),
    "unknown name with a near one": (
        {"weight": "J0*exp(-d/lambd)", "constants": {"lambda": 1.0, "J0": 2.0}},
        errors.UnknownNameError,
        "'lambd', but no such name exists; did you mean 'lambda'",
    ),
    "unit of the weight": ({"weight": "d/ms"}, errors.UnitError, "must be in pA"),
    "unit of the delay": ({"delay": "0.5*ms + d"}, errors.UnitError, "one cannot add them"),
    "delay without unit": ({"delay": "d/(1*mm)"}, errors.UnitError, "must be in ms"),
    "delays of 0": ({"delay": "d"}, errors.DelayError, "delay of projection 'a to b' is .* at d from 0 to"),
    "negative delays": ({"delay": "1 - d"}, errors.DelayError, "at d from .*'1 - d' rounds to less than one step"),
    "long delays": ({"delay": "1e5*d + 1"}, errors.DelayError, "at most 65535 steps"),
    "division by 0": ({"weight": "1/d"}, errors.ValueOutOfBoundsError, "'1/d' at d from 0 to .*must be finite"),
    "logarithm of 0": ({"weight": "log(d)"}, errors.ValueOutOfBoundsError, "must be finite"),
    "overflow": ({"weight": "1e200*exp(300*d)"}, errors.ValueOutOfBoundsError, "."),
    "names of neurons": ({"weight": "x"}, errors.EquationError, "here values are of a pair"),
    "a redraw without random numbers": ({"weight": rv.redraw("d", 0.1)}, errors.EquationError, "no random numbers"),
    "a redraw that accepts nothing": (
        {"weight": rv.redraw("d + rand()", 5.0)},
        errors.ValueOutOfBoundsError,
        "at least one draw in 1000",
    ),
    "a parameter outside of its bounds": (
        {"synapse": rv.tsodyks2(U="2*d")},
        errors.ValueOutOfBoundsError,
        "U of tsodyks2 of projection 'a to b' is .* at d from",
    ),
    "a long text": (
        {"weight": "1 + " * 2000 + "1"},
        errors.EquationError,
        "characters long",
    ),
    "an unused constant": ({"weight": "d", "constants": {"a": 1.0}}, errors.UnknownNameError, "no text of the call"),
    "constants that are none": ({"weight": "d", "constants": 3}, errors.WrongTypeError, "must be a mapping"),
    **{
        f"{name} of {type(value).__name__}": (
            {"weight": value},
            errors.ValueOutOfBoundsError,
            f"{name} of {type(value).__name__}(.*) in weight of projection 'a to b' is -0.[0-9]*, at d from 0 to "
            ".* mm, but it must be >= 0; limit it",
        )
        for name, value in {
            "std": rv.Normal(1.0, "d - 0.5"),
            "mean": rv.Exponential("d - 0.5"),
            "sigma": rv.LogNormal(0.0, "d - 0.5"),
        }.items()
    },
    **{
        f"bounds in the wrong order: {value!r}": (
            {"weight": value},
            errors.ValueOutOfBoundsError,
            f"high - low of {re.escape(repr(value))} in weight .* is -.*, at d from .* mm, but it must be >= 0; swap",
        )
        for value in [
            rv.Uniform("d", 0.1),
            rv.redraw(rv.Normal(0.0, 1.0), "d", 0.1),
            rv.clip("d", "1 - d", 0.2),
            rv.Normal("d", 0.1, low="d + 1", high="d"),
        ]
    },
    "a negative width of a delay": (
        {"delay": rv.Normal("2*ms", "(0.2*mm - d)/(1*mm/ms)", low="1*ms")},
        errors.ValueOutOfBoundsError,
        "std of Normal.* in delay of projection 'a to b' is -.*, at d from",
    ),
    "a negative width of a parameter": (
        {"synapse": rv.tsodyks2(U=rv.Normal(0.5, "d - 0.5", low=0.0, high=1.0))},
        errors.ValueOutOfBoundsError,
        "std of Normal.* in U of projection 'a to b' is -0.5, at d from 0",
    ),
    "a text that is a number": ({"weight": "3.5"}, errors.WrongTypeError, "write 3.5"),
}


def test_operands_that_are_no_values() -> None:
    operands: list[Any] = [None, [1.0, 2.0], "3.5", float("nan"), rv.iaf_psc_exp()]
    for operand in operands:
        with pytest.raises((errors.WrongTypeError, errors.ValueOutOfBoundsError), match="must be"):
            rv.Normal(0.0, 1.0) + operand


@pytest.mark.parametrize("what", REFUSED)
def test_refused_values_of_synapses(what: str) -> None:
    arguments, error, message = REFUSED[what]
    net, a, b = sheets()
    before = pickle.dumps(net)
    with pytest.raises(error, match=message):
        net.connect(a, b, rv.FixedIndegree(5), **arguments)
    assert pickle.dumps(net) == before


def test_widths_that_bounds_do_not_decide() -> None:
    """They are checked where values are drawn; valid ones change no value."""
    values = {}
    for mean in (0.5, 0.05):
        net, a, b = sheets()
        width = rv.Normal(f"where(j == 3, {mean}, 0.5) + 0*d", 0.05)
        net.connect(a, b, rv.FixedIndegree(9), weight=rv.Normal(1.0, width))
        if mean < 0.5:
            with pytest.raises(errors.ValueOutOfBoundsError, match=r"std of Normal.* is -0\.0\d* at target index 3"):
                rv.Simulation(net)
            continue
        values[mean] = rv.Simulation(net).connections().weights
        net, a, b = sheets()
        net.connect(a, b, rv.FixedIndegree(9), weight=rv.Normal(1.0, rv.maximum(width, 0.0)))
        np.testing.assert_array_equal(rv.Simulation(net).connections().weights, values[mean])
    # Far from the diagonal of a box, or outside of a mask, there are no pairs.
    net, a, b = sheets()
    net.connect(a, b, rv.FixedIndegree(2, mask=rv.circle(0.4)), weight=rv.Normal(1.0, "0.41 - d"))


def test_bounds_that_are_numbers_in_the_wrong_order() -> None:
    for make in (lambda: rv.clip("d", 2, 1), lambda: rv.redraw("d*rand()", 2, 1), lambda: rv.Normal("d", 1.0, 2, 1)):
        with pytest.raises(errors.ValueOutOfBoundsError, match=r"low of .* is 2, but it must be <= high, 1; swap"):
            make()


def test_populations_without_positions_are_named() -> None:
    net, a, _ = sheets()
    c = net.create("iaf_psc_exp", 5, name="plain")
    with pytest.raises(errors.EquationError, match="'d', but it needs positions, and population 'plain' has none"):
        net.connect(a, c, "all_to_all", weight="d")
    with pytest.raises(errors.EquationError, match="'x', but it needs positions, and population 'other' has none"):
        net.create("iaf_psc_exp", 5, name="other", I_e="x")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"I_e": "300*z"}, errors.ValueOutOfBoundsError, "have two dimensions"),
        ({"tau_m": "10 - 40*x"}, errors.ValueOutOfBoundsError, r"tau_m of population 'c' is .* at neuron \d+"),
        ({"tau_m": rv.Normal("10*x", 1.0)}, errors.ValueOutOfBoundsError, "tau_m of population 'c' is .* at x from"),
        (
            {"V_m": rv.Normal(-65.0, "x")},
            errors.ValueOutOfBoundsError,
            "std of Normal.* in V_m of .* is -.*, at x from",
        ),
        # The bounds do not decide; the neurons do.
        (
            {"V_m": rv.Normal(-65.0, "x - sin(40*x) + sin(40*x) + 0.3")},
            errors.ValueOutOfBoundsError,
            "std of Normal.* in V_m of population 'c' is -.* at target x -0.4",
        ),
        ({"V_m": rv.clip("x", "y", "-y")}, errors.ValueOutOfBoundsError, "high - low of clip.* at target y"),
        ({"V_m": "-70 + 1/i"}, errors.ValueOutOfBoundsError, "at neuron 0"),
        ({"I_e": "300*mV"}, errors.UnitError, "must be in pA"),
        ({"I_e": "d"}, errors.EquationError, "here values are of a neuron; use x, y, z, i"),
    ],
)
def test_refused_values_of_neurons(values: dict[str, Any], error: type[errors.RanvierError], message: str) -> None:
    net = rv.Network()
    with pytest.raises(error, match=message):
        net.create("iaf_psc_exp", 20, name="c", positions=rv.grid((5, 4), extent=BOX), **values)
    assert not net.populations
