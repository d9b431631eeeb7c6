"""Calls that would do nothing, or something else than was meant, without a word: each is an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from bad_input import check, neurons
from ranvier import errors
from ranvier.forecast import dry_run

# ---- what is called without values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["population", "view", "list", "projection", "stimulus", "sources of spikes"])
def test_setting_nothing(part: str) -> None:
    population = neurons()
    net = population.network
    parts: dict[str, Any] = {
        "population": population,
        "view": population[2:4],
        "list": [population[:2], population[5:]],
        "projection": net.connect(population, population, "one_to_one"),
        "stimulus": net.stimulate(population, rv.poisson_generator(rate=1.0)),
        "sources of spikes": net.create_spike_generators([[1.0]]),
    }
    with pytest.raises(errors.WrongTypeError) as caught:
        net.set(parts[part])
    check(caught.value, "no value to set", "write net.set(..., I_e=...)")
    sim = rv.Simulation(net, threads=1)
    with pytest.raises(errors.WrongTypeError) as caught:
        sim.set(parts[part])
    check(caught.value, "no value to set", "write sim.set(..., V_m=...)")


# ---- answers taken for numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [True, False, np.True_, np.array([True, False])], ids=str)
@pytest.mark.parametrize(
    "call",
    [
        lambda p, value: rv.Simulation(p.network, threads=1).run(value),
        lambda p, value: rv.Simulation(p.network, threads=1).run_until(value),
        lambda p, value: rv.Simulation(p.network, threads=1).set(p, V_m=value),
        lambda p, value: setattr(rv.Simulation(p.network, threads=1).connections(), "weights", value),
        lambda p, value: p.network.create("iaf_psc_exp", 2, tau_m=value),
        lambda p, value: p.network.create_spike_generators([value]),
        lambda p, value: p.network.connect(p, p, "one_to_one", weight=value),
        lambda p, value: p.network.connect(p, p, "one_to_one", delay=value),
        lambda p, value: p.network.connect(p, p, "one_to_one", weight_bound=value),
        lambda p, value: p.network.connect(p, p, "pairwise_bernoulli", probability=value),
        lambda p, value: p.network.connect(p, p, "fixed_indegree", indegree=value),
        lambda p, value: p.network.stimulate(p, "poisson_generator", rate=value),
        lambda p, value: p.network.record_state(p, "V_m", value),
        lambda p, value: rv.Network(resolution=value),
        lambda p, value: rv.Network(seed=value),
        lambda p, value: rv.Normal(value, 1.0),
        lambda p, value: rv.DryRun(ranks=2, invented_rate=value),
        lambda p, value: rv.Tuning(costs={"neurons": value}),
        lambda p, value: rv.Tuning(delivery_window=value),
    ],
)
def test_true_is_not_one(call: Callable[[rv.Population, Any], object], value: Any) -> None:
    population = neurons()
    before = population.network.summary()
    with pytest.raises(errors.WrongTypeError, match="must be"):
        call(population, value)
    assert population.network.summary() == before


# ---- options that could only be refused later ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: rv.DryRun(invented_rate=math.nan),
        lambda: rv.DryRun(invented_rate=math.inf),
        lambda: rv.DryRun(invented_rate=-1.0),
        lambda: rv.DryRun(invented_rate={"exc": math.nan}),
        lambda: rv.DryRun(ranks=0),
        lambda: rv.Tuning(costs={"exc": -1.0}),
        lambda: rv.Tuning(costs={"exc": math.nan}),
        lambda: rv.Tuning(costs={"exc": 1e31}),
        lambda: rv.Tuning(delivery_window=3),
        lambda: rv.Tuning(delivery_window=0),
        lambda: rv.Tuning(delivery_window=2048),
        lambda: rv.Tuning(shards=0),
        lambda: rv.Processes(intervals=3),
        lambda: rv.Processes(spike_buffer=0),
        lambda: rv.Processes(placement=[0, -1]),
    ],
)
def test_options_are_checked_where_they_are_given(make: Callable[[], object]) -> None:
    with pytest.raises(errors.ValueOutOfBoundsError) as caught:
        make()
    check(caught.value)


# ---- calls with arguments that do not fit ----------------------------------------------------------------------------


def test_arguments_of_figures_and_of_dry_runs_that_do_not_fit() -> None:
    net = neurons().network
    plot: Any = rv.plot
    play: Any = dry_run.play
    with pytest.raises(errors.WrongTypeError, match="arguments of raster"):
        plot.raster()
    with pytest.raises(errors.UnknownNameError, match="did you mean 'title'"):
        plot.raster(None, titel="a")
    with pytest.raises(errors.WrongTypeError, match="multiple values for argument 'ranks'"):
        play(net, 4, ranks=3)
    with pytest.raises(errors.UnknownNameError, match="did you mean 'threads'"):
        play(net, 4, duration=1.0, treads=3)


def test_connections_of_a_projection_are_asked_for_by_name() -> None:
    population = neurons()
    projection = population.network.connect(population, population, "one_to_one")
    sim: Any = rv.Simulation(population.network, threads=1)
    for call in (sim.connections, sim.count_connections):
        with pytest.raises(errors.WrongTypeError) as caught:
            call(projection)
        check(caught.value, "not a projection", "write sim.connections(projection=...)")
        with pytest.raises(errors.UnknownNameError, match="did you mean 'projection'"):
            call(projektion=projection)
    assert len(sim.connections(projection=projection)) == 10


# ---- assignments -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("threads", "rv.Simulation(net, threads=...)"),
        ("memory_limit", "rv.Simulation(net, memory_limit=...)"),
        ("exchange", "rv.Simulation(net, processes=rv.Processes(exchange=...))"),
        ("shards", "rv.Simulation(net, tuning=rv.Tuning(shards=...))"),
        ("time", "write sim.run(duration)"),
        ("resolution", "build another simulation"),
        ("V_m", "write sim.set(population, V_m=...)"),
    ],
)
def test_what_cannot_be_assigned_to_a_simulation(name: str, remedy: str) -> None:
    sim = rv.Simulation(neurons().network, threads=1)
    with pytest.raises(errors.ReadOnlyError) as caught:
        setattr(sim, name, 4)
    check(caught.value, f"{name} of a simulation", remedy)
    assert sim.threads == 1
