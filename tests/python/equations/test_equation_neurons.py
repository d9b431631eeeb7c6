"""Neurons of equations in networks: like models that come with Ranvier."""

from __future__ import annotations

import copy
import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from equation_models import (
    AEIF_COND_EXP,
    FIRING,
    IAF_COND_EXP,
    IAF_PSC_ALPHA,
    IAF_PSC_DELTA,
    IAF_PSC_EXP,
    LEAKY,
    LEAKY_PARAMETERS,
)
from program_oracle import Neurons
from ranvier.errors import ValueOutOfBoundsError
from thorough_cases import only

LEAKY_NEURON: dict[str, Any] = {"equations": LEAKY, **FIRING, "parameters": LEAKY_PARAMETERS}


def made(model: dict[str, Any], **changes: Any) -> rv.EquationNeuron:
    return rv.neuron(**{**model, **changes})


def spike_times(sim: rv.Simulation) -> list[float]:
    recorder = sim.network.recorders[0]
    assert isinstance(recorder, rv.SpikeRecorder)
    return sim.spikes(recorder).times.tolist()  # type: ignore[no-any-return]


def test_the_example_fires_as_iaf_psc_exp() -> None:
    n = rv.neuron(
        "dv/dt = (E_L - v)/tau_m + I_e/C_m : mV",
        threshold="v >= V_th",
        reset="v = V_reset",
        refractory="t_ref",
        parameters=LEAKY_PARAMETERS,
    )
    net = rv.Network()
    cells = net.create(n, 3)
    built_in = net.create(rv.iaf_psc_exp(I_e=500.0), 1)
    spikes = net.record_spikes([cells, built_in])
    sim = rv.Simulation(net, threads=1)
    sim.run(200.0)
    data = sim.spikes(spikes)
    trains = [data.times[data.ids == i] for i in range(4)]
    assert len(trains[3]) > 5
    for train in trains[:3]:
        assert np.array_equal(train, trains[3])


@pytest.mark.parametrize(
    ("model", "built_in", "weight", "names"),
    [
        (IAF_PSC_EXP, rv.iaf_psc_exp, 150.0, ("I_ex", "I_syn_ex")),
        (IAF_PSC_ALPHA, rv.iaf_psc_alpha, 100.0, ("I_ex", "I_syn_ex")),
        (IAF_PSC_DELTA, rv.iaf_psc_delta, 0.8, None),
    ],
    ids=["exp", "alpha", "delta"],
)
def test_equations_do_what_the_built_in_model_does(
    model: dict[str, Any], built_in: Any, weight: float, names: tuple[str, str] | None
) -> None:
    """Potentials to 1e-12, and the same spikes, with synaptic input, stimulators, and parameters that differ."""
    net = rv.Network(seed=3)
    generator = np.random.default_rng(1)
    trains = [np.unique(np.round(generator.uniform(0.1, 199.0, 120), 1)) for _ in range(20)]
    sources = net.create_spike_generators(trains)
    values: dict[str, Any] = {
        "tau_m": np.linspace(5.0, 20.0, 10),
        "t_ref": np.linspace(0.0, 3.0, 10).round(1),
        "I_e": 200.0,
    }
    both = [net.create(made(model), 10, **values), net.create(built_in(), 10, **values)]
    targets = np.arange(10)
    weights = generator.uniform(-0.3, 1.0, (10, 20)).round(3) * weight
    records = []
    for cells in both:
        net.connect(sources, cells, rv.AllToAll(), weight=weights, delay=1.0)
        net.stimulate(cells, rv.step_current_generator(times=[20.0, 90.0], amplitudes=[150.0, -80.0]))
        variables = {"v": "V_m"} if cells is both[1] else {"v": "v"}
        if names is not None:
            variables["I"] = names[cells is both[1]]
        records.append((variables, net.record_state(cells, list(variables.values()), interval=0.1)))
    spikes = [net.record_spikes(cells) for cells in both]
    sim = rv.Simulation(net, threads=1)
    sim.run(200.0)
    here, there = (sim.spikes(each) for each in spikes)
    assert len(here.times) > 30
    assert np.array_equal(here.times, there.times)
    assert np.array_equal(here.ids - both[0].first_id, there.ids - both[1].first_id)
    for key in records[0][0]:
        own, other = (sim.state(recorder)[variables[key]] for variables, recorder in records)
        assert own.shape == other.shape == (2000, len(targets))
        assert np.allclose(own, other, rtol=1e-12, atol=1e-11 if key == "I" else 0.0)


@pytest.mark.parametrize("steps", only([80], [80, 200]))
def test_the_core_does_what_the_evaluator_of_the_tests_does(steps: int) -> None:
    """The interpreter and NumPy have other exponentials: both stay close for a while."""
    model = made(AEIF_COND_EXP, relative_tolerance=1e-9, absolute_tolerance=1e-9)
    net = rv.Network()
    cells = net.create(model, 3, I_e=[0.0, 700.0, 1500.0])
    source = net.create_spike_generators([[2.0, 5.0, 5.5]])
    net.connect(source, cells, rv.AllToAll(), weight=30.0, delay=1.0, receptor="excitatory")
    recorder = net.record_state(cells, ["v", "w", "g_ex", "I_syn"], interval=0.1)
    sim = rv.Simulation(net, threads=1)
    sim.run(0.1 * steps)
    data = sim.state(recorder)
    neurons = Neurons(model.program, 3, 0.1, I_e=[0.0, 700.0, 1500.0])
    for step in range(steps):
        neurons.step([30.0 if step + 1 in (30, 60, 65) else 0.0])
        for name in ("v", "w", "g_ex", "I_syn"):
            assert np.allclose(data[name][step], neurons[name], rtol=1e-6, atol=1e-6), (step, name)


def test_a_model_can_be_given_other_values() -> None:
    n = made(LEAKY_NEURON)
    other = n(I_e="0.4 nA", tau_m=rv.Uniform(8.0, 12.0))
    assert other.values["I_e"] == 400.0
    assert other == n(I_e=400.0, tau_m=rv.Uniform(8.0, 12.0))
    assert other != n
    assert n.values == {}
    net = rv.Network()
    cells = net.create(other, 4, I_e="300 pA", v=[-60.0, -61.0, -62.0, -63.0])
    assert cells.values["I_e"] == 300.0
    net.set(cells, V_th="-50 mV")
    net.set(cells[1:3], I_e=[1.0, 2.0])
    sim = rv.Simulation(net, threads=1)
    assert sim.get(cells, "I_e").tolist() == [300.0, 1.0, 2.0, 300.0]
    assert sim.get(cells, "v").tolist() == [-60.0, -61.0, -62.0, -63.0]
    assert np.all((sim.get(cells, "tau_m") > 8.0) & (sim.get(cells, "tau_m") < 12.0))
    sim.set(cells, I_e="1 nA", v="-65 mV")
    assert sim.get(cells, "I_e").tolist() == [1000.0] * 4
    assert sim.get(cells, "v").tolist() == [-65.0] * 4
    assert "V_th" in str(inspect.signature(n))


def test_values_are_checked() -> None:
    n = made(LEAKY_NEURON)
    net = rv.Network()
    cells = net.create(n, 2)
    for make in (n, lambda **values: net.create(n, 2, **values), lambda **values: net.set(cells, **values)):
        with pytest.raises(rv.errors.UnknownNameError, match="did you mean 'tau_m'"):
            make(tau_n=10.0)
        with pytest.raises(rv.errors.UnitError, match="write '10 ms'"):
            make(tau_m="10 mV")
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match="tau_m"):
            make(tau_m=0.0)
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match="must not hold after a reset"):
            make(V_reset=-55.0)
        with pytest.raises(rv.errors.WrongTypeError):
            make(tau_m={})  # type: ignore[arg-type]
    with pytest.raises(rv.errors.ReadOnlyError, match="write n"):
        n.I_e = 3.0
    with pytest.raises(rv.errors.UnknownAttributeError):
        n.thresold  # type: ignore[attr-defined]  # noqa: B018


def test_a_model_can_be_copied_and_pickled_also_within_a_network(tmp_path: Path) -> None:
    n = made(AEIF_COND_EXP, name="aeif", absolute_tolerance={"v": 1e-4})(I_e=700.0)
    for other in (pickle.loads(pickle.dumps(n)), copy.deepcopy(n)):
        assert other == n
        assert other.program == n.program
        assert other.values["I_e"] == 700.0
    net = rv.Network()
    cells = net.create(n, 2)
    net.record_spikes(cells)
    again = pickle.loads(pickle.dumps(net))
    assert again.populations[0].values["I_e"] == 700.0
    assert again.populations[0].model == "aeif"
    counts = []
    for each in (net, again):
        sim = rv.Simulation(each, threads=1)
        sim.run(100.0)
        counts.append(spike_times(sim))
    assert counts[0] == counts[1]
    assert counts[0]
    sim.save(tmp_path / "state.h5")
    later = rv.Simulation.load(again, tmp_path / "state.h5", threads=2)
    later.run(50.0)
    sim.run(50.0)
    assert spike_times(later) == spike_times(sim)


def test_a_saved_state_of_other_equations_is_refused(tmp_path: Path) -> None:
    networks = []
    for threshold in ("v >= V_th", "v > V_th"):
        net = rv.Network()
        net.create(made(LEAKY_NEURON, threshold=threshold), 2)
        networks.append(net)
    sim = rv.Simulation(networks[0], threads=1)
    sim.run(1.0)
    sim.save(tmp_path / "state.h5")
    with pytest.raises(rv.errors.RanvierError):
        rv.Simulation.load(networks[1], tmp_path / "state.h5", threads=1)


def test_threads_and_parts_of_a_run_give_the_same_bits() -> None:
    digests = set()
    for threads, parts in ((1, [60.0]), (2, [60.0]), (3, [7.0, 0.1, 52.9])):
        net = rv.Network(seed=5)
        noisy = made(
            IAF_COND_EXP,
            equations=f"{IAF_COND_EXP['equations']}\ndx/dt = -x/tau_in + xi/tau_in**0.5 : 1\n",
            method="exponential_euler",
        )
        cells = net.create(noisy, 50, v=rv.Normal(-65.0, 5.0), I_e=rv.Uniform(0.0, 300.0))
        net.connect(cells, cells, rv.FixedIndegree(10), weight=rv.Normal(2.0, 1.0), delay=rv.Uniform(0.5, 2.0))
        net.stimulate(cells, rv.poisson_generator(rate=5000.0), weight=2.0)
        sim = rv.Simulation(net, threads=threads)
        for part in parts:
            sim.run(part)
        digests.add(
            (
                sim.digest() if hasattr(sim, "digest") else "",
                sim.get(cells, "x").tobytes(),
                sim.get(cells, "v").tobytes(),
            )
        )
    assert len(digests) == 1


def test_receptors_are_chosen_by_sign_or_by_name() -> None:
    n = made(IAF_COND_EXP)
    assert n.receptors == ("excitatory", "inhibitory")
    net = rv.Network()
    cells = net.create(n, 2)
    source = net.create_spike_generators([[1.0]])
    net.connect(source, cells, rv.AllToAll(), weight=[5.0, -7.0], delay=1.0)
    named = net.create(made(IAF_COND_EXP, sign_chooses_receptor=False), 1)
    with pytest.raises(rv.errors.RanvierError, match="receptor"):
        net.connect(source, named, rv.AllToAll(), weight=5.0)
    net.connect(source, named, rv.AllToAll(), weight=5.0, receptor="excitatory")
    sim = rv.Simulation(net, threads=1)
    sim.run(2.0)
    assert sim.get(cells, "g_ex").tolist() == [5.0, 0.0]
    assert sim.get(cells, "g_in").tolist() == [0.0, 7.0]
    assert sim.get(named, "g_ex").tolist() == [5.0]


def test_equations_that_explode_are_an_error_with_population_and_neuron() -> None:
    net = rv.Network()
    exploding = rv.neuron(
        "dv/dt = v**2/(mV*ms) + I_e/C : mV", threshold="v > 1e300*mV", parameters={"I_e": "0 pA", "C": "1 pF"}
    )
    net.create(exploding, 3, name="wild", v=[0.0, 10.0, 0.0])
    sim = rv.Simulation(net, threads=1)
    with pytest.raises(rv.errors.RanvierError, match="wild") as caught:
        sim.run(5.0)
    assert "1" in str(caught.value)


def test_what_a_model_tells_of_itself() -> None:
    n = made(
        AEIF_COND_EXP,
        name="aeif",
        summary="Adaptive exponential neuron",
        parameters={**AEIF_COND_EXP["parameters"], "a": rv.parameter("4 nS", low=0.0, meaning="Coupling")},
    )
    text = n.describe()
    for part in ("aeif: Adaptive exponential neuron", "Coupling", ">= 0", "V_peak", "adaptation", "weights in nS"):
        assert part in text
    assert "dv/dt = " in n.equations
    assert repr(n) == "<neuron 'aeif': v, w, g_ex, g_in; adaptive>"
    assert n.units["I_syn"] == "pA"
    net = rv.Network()
    net.create(n, 2)
    assert "aeif" in net.summary()
    with pytest.raises(rv.errors.UnknownAttributeError, match="values"):
        net.populations[0].V_peak  # type: ignore[attr-defined]  # noqa: B018


def test_refractory_neurons_hold_what_is_flagged() -> None:
    model = {
        "equations": """
            dv/dt = (E_L - v)/tau_m + I_e/C_m : mV
            da/dt = 1/ms : 1 (unless refractory)
            db/dt = 1/ms : 1
        """,
        **FIRING,
        "parameters": LEAKY_PARAMETERS,
        "receptors": {"in_a": "a += w", "in_v": "v += w*mV"},
    }
    net = rv.Network()
    cells = net.create(rv.neuron(**model), 1, v=-50.0)
    source = net.create_spike_generators([[0.2, 3.0]])
    net.connect(source, cells, rv.AllToAll(), weight=100.0, delay=1.0, receptor="in_a")
    sim = rv.Simulation(net, threads=1)
    # It fires in the first step, and is refractory for the next 20.
    sim.run(2.1)
    assert sim.get(cells, ["a", "b"])["a"][0] == pytest.approx(0.1)
    assert sim.get(cells, "b")[0] == pytest.approx(2.1)
    assert sim.get(cells, "v")[0] > -70.0, "only what is flagged is held"
    sim.run(2.0)
    assert sim.get(cells, "a")[0] == pytest.approx(102.1)


def test_a_threshold_that_spikes_raise_goes_on_while_the_neuron_is_refractory() -> None:
    texts: dict[str, Any] = {
        "threshold": "v >= bound",
        "reset": "raised += 10*mV",
        "refractory": "5 ms",
        "parameters": {"tau": "2 ms"},
    }
    lines = "dv/dt = 1*mV/ms : mV\ndraised/dt = -raised/tau : mV{flag}\nbound = 2*mV + raised : mV"
    found = []
    for flag in ("", " (always)"):
        net = rv.Network()
        cells = net.create(rv.neuron(lines.format(flag=flag), **texts), 1)
        sim = rv.Simulation(net)
        sim.run(4.0)
        found.append(float(sim.get(cells, "raised")[0]))
    assert found[0] == 10.0
    assert found[1] == pytest.approx(10.0 * np.exp(-1.0))


@pytest.mark.parametrize(
    "line", ["x = 2*v : mV (always)", "x : mV (always)", "dx/dt = v/ms : mV (always, unless refractory)"]
)
def test_flags_that_mean_nothing_are_refused(line: str) -> None:
    with pytest.raises(rv.errors.EquationError, match=r"only differential equations|write one of them"):
        rv.neuron(
            f"dv/dt = 1*mV/ms : mV\n{line}",
            threshold="v > x",
            reset="v = 0*mV; x = 1*mV" if "dx" in line else "v = 0*mV",
            refractory="1 ms",
            parameters={} if "x =" in line or "dx" in line else {"x": "1 mV"},
        )


def test_a_draw_is_for_the_whole_step_whatever_its_parts() -> None:
    """The potential passes where the neuron would fire for certain within the step, but is beyond it at the end."""
    model = rv.neuron(
        "dv/dt = (20 - 0.05*v*v)/ms : 1",
        threshold="rand() < int(v > 5 and v < 15)",
        reset="v = 0",
        method="adaptive",
    )
    net = rv.Network(resolution=2.0)
    cells = net.create(model, 5)
    recorder = net.record_spikes(cells)
    sim = rv.Simulation(net)
    sim.run(2.0)
    assert sim.get(cells, "v").min() > 15.0
    assert len(sim.spikes(recorder)) == 0


def test_switches_are_true_or_false() -> None:
    def model(default: Any) -> rv.EquationNeuron:
        return rv.neuron(
            "dv/dt = on/ms : 1", threshold="v > 5", reset="v = 0", parameters={"on": rv.parameter(default)}
        )

    n = model(True)
    assert n.values == {}
    assert n(on=False).values["on"] == 0.0
    net = rv.Network()
    cells = net.create(n, 3, on=[True, False, True])
    sim = rv.Simulation(net)
    sim.run(1.0)
    assert sim.get(cells, "v").tolist() == pytest.approx([1.0, 0.0, 1.0])
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="True or False"):
        n(on=0.5)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="True or False"):
        sim.set(cells, on=[0.0, 0.5, 1.0])
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="True or False"):
        net.set(cells, on=rv.Uniform(0.0, 1.0))
    with pytest.raises(rv.errors.WrongTypeError, match="switch"):
        rv.parameter(True, low=0.0)
    with pytest.raises(rv.errors.WrongTypeError):
        rv.neuron("dv/dt = on/ms : 1", threshold="v > 5", reset="v = 0", parameters={"on": 1.0})(on=True)


def test_all_of_many_parameters_may_be_drawn() -> None:
    """Whether they fit together is not tried with all combinations, of which there are 2^40."""
    names = [f"a{i}" for i in range(40)]
    model = rv.neuron(
        f"dv/dt = ({' + '.join(names)} - v)/tau : 1",
        threshold="v > 1",
        reset="v = 0",
        refractory="t_ref - a1*t_a",
        parameters={**dict.fromkeys(names, 0.01), "tau": "10 ms", "t_ref": "5 ms", "t_a": "1 ms"},
    )
    drawn: dict[str, Any] = {name: rv.Uniform(0.0, 0.02) for name in names}
    net = rv.Network()
    net.create(model, 3, **drawn)
    with pytest.raises(ValueOutOfBoundsError, match="the refractory period is -"):
        net.create(model, 3, **drawn | {"a1": rv.Uniform(0.0, 6.0)})
    assert len(net.populations) == 1


def test_what_no_tried_combination_shows_is_told_when_neurons_are_made() -> None:
    """The period is negative only where more than three of sixteen drawn parameters lie at other ends than the rest."""
    more, less = [f"a{i}" for i in range(8)], [f"b{i}" for i in range(8)]
    model = rv.neuron(
        "dv/dt = -v/tau : 1",
        threshold="v > 1",
        reset="v = 0",
        refractory=f"1*ms + ({' + '.join(more)} - {' - '.join(less)})*ms",
        parameters={**dict.fromkeys(more + less, 0.1), "tau": "10 ms"},
    )
    drawn: dict[str, Any] = {name: rv.Uniform(0.0, 0.33) for name in more + less}
    net = rv.Network(seed=1)
    net.create(model, 5000, **drawn)
    with pytest.raises(ValueOutOfBoundsError, match=r"parameters of neuron \d+: the refractory period is -"):
        rv.Simulation(net, progress=False)


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("", "While refractory: v is held; u goes on"),
        (" (always)", "While refractory: nothing is held"),
    ],
)
def test_a_description_says_what_is_held_while_refractory(flag: str, words: str) -> None:
    model = rv.neuron(
        f"dv/dt = -v/tau : 1{flag}\ndu/dt = -u/tau : 1",
        threshold="v > 1",
        reset="v = 0; u += 1",
        refractory="2 ms",
        parameters={"tau": "10 ms"},
    )
    assert words in model.describe()


def test_a_period_of_brian2_is_one_step_shorter() -> None:
    """In Brian2 the step of the spike counts: so the second spike comes one step earlier."""
    found = {}
    for period in ("2 ms", "2*ms - dt"):
        model = rv.neuron("dv/dt = 11/ms : 1", threshold="v > 1", reset="v = 0", refractory=period)
        net = rv.Network(resolution=0.1)
        recorder = net.record_spikes(net.create(model, 1))
        sim = rv.Simulation(net)
        sim.run(5.0)
        found[period] = list(sim.spikes(recorder).times)
    assert found["2 ms"] == pytest.approx([0.1, 2.2, 4.3])
    assert found["2*ms - dt"] == pytest.approx([0.1, 2.1, 4.1])
