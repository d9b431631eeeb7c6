"""Options of simulations: each is described once, and all else follows from that."""

import copy
import inspect
import pickle
from typing import Any, Literal, cast

import numpy as np
import pytest

import ranvier as rv
from ranvier import _core, mpi
from ranvier.command_line import main
from ranvier.commands.keys import RUN_KEYS, help_of_keys, parse_settings, shipped_networks
from ranvier.commands.network_tables import parameter_texts
from ranvier.errors import (
    ReadOnlyError,
    ShapeError,
    StateError,
    UnknownNameError,
    ValueOutOfBoundsError,
    WrongTypeError,
)
from ranvier.simulation.options import GROUPS, OPTIONS, RunOptions, grouped
from ranvier.simulation.predictions import sorts_connections


def network() -> rv.Network:
    net = rv.Network()
    net.create("iaf_psc_exp", 4, name="exc")
    return net


def test_names_of_options_are_unique_and_have_meanings() -> None:
    assert len(OPTIONS) == sum(len(group.options) for group in GROUPS)
    for option in OPTIONS.values():
        assert option.meaning.endswith("."), option.name
        assert option.checked(option.default) == option.default


def test_signature_has_the_defaults_that_are_described() -> None:
    parameters = inspect.signature(rv.Simulation).parameters
    for name, option in RunOptions.options.items():
        assert parameters[name].default == option.default
    assert set(parameters) == {"network", "progress", *RunOptions.options, "processes", "tuning", "dry_run"}


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_docstrings_and_help_follow_from_the_description(group: Any) -> None:
    for name, option in group.options.items():
        for text in [group.__doc__] + ([rv.Simulation.__doc__] if group is RunOptions else []):
            assert f"{name} : {option.wanted()}; default {option.default!r}" in text
        assert (name in RUN_KEYS) == option.settable
        if option.settable:
            assert f"\n  {name} " in help_of_keys()


def test_literals_are_those_of_the_core() -> None:
    assert set(rv.Processes.options["exchange"].choices) == set(mpi.exchanges())
    core = _core.SimulationOptions()
    of_python = {"communicator", "programs", "recordings"}
    without_names = {"costs", "sort_connections", "threads"}
    for group in (RunOptions, rv.Processes, rv.Tuning):
        for name in set(group.options) - of_python:
            assert hasattr(core, name)
            if name in without_names:
                continue
            option = group.options[name]
            for choice in option.choices:
                setattr(core, name, choice)
                assert getattr(core, name) == choice
            if isinstance(option.default, str):
                assert getattr(_core.SimulationOptions(), name) == option.default


def test_the_core_refuses_a_choice_that_it_does_not_know() -> None:
    core = _core.SimulationOptions()
    with pytest.raises(UnknownNameError, match="did you mean 'shuffle'"):
        core.placement = "shufle"
    with pytest.raises(UnknownNameError, match="the valid names are: auto, dense, compact, sparse"):
        core.row_numbering = "unsorted"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: rv.Tuning(stealling="none"), "mean 'stealing'"),  # type: ignore[call-arg]
        (lambda: rv.Tuning(stealing="local"), "local_only"),  # type: ignore[arg-type]
        (lambda: rv.Processes(exchange="alltoal"), "mean 'alltoall'"),
        (lambda: rv.Processes(placement="shufle"), "mean 'shuffle'"),
        (lambda: rv.Tuning(pinning="compct"), "compact"),
        (lambda: rv.Simulation(network(), treads=2), "mean 'threads'"),  # type: ignore[call-arg]
        (lambda: rv.Simulation(network(), stealing="none"), "tuning=rv.Tuning(stealing=...)"),  # type: ignore[call-arg]
        (lambda: rv.predict_memory(network(), exchange="auto"), "processes=rv.Processes("),  # type: ignore[call-arg]
        (lambda: sorts_connections(network(), thread=1), "mean 'threads'"),  # type: ignore[call-arg]
        (lambda: rv.Simulation(network(), recordings="rot"), "mean 'root'"),  # type: ignore[arg-type]
        (lambda: rv.Simulation(network(), tuning=rv.Tuning(costs={"ecx": 1.0})), "mean 'exc'"),
    ],
)
def test_a_misspelt_option_is_told_which_was_meant(call: Any, told: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        call()
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: cast(Any, rv.Tuning)("none"), WrongTypeError),
        (lambda: rv.Tuning(shards=0), ValueOutOfBoundsError),
        (lambda: rv.Tuning(delivery_window=2**31), ValueOutOfBoundsError),
        (lambda: rv.Tuning(shards=True), WrongTypeError),
        (lambda: rv.Tuning(measure_costs=1), WrongTypeError),  # type: ignore[arg-type]
        (lambda: rv.Tuning(pinning=[]), ShapeError),
        (lambda: rv.Tuning(costs={"exc": "dear"}), WrongTypeError),  # type: ignore[dict-item]
        (lambda: rv.Processes(intervals=3), ValueOutOfBoundsError),
        (lambda: rv.Processes(placement=[[0]]), ShapeError),
        (lambda: rv.Processes(placement=[-1]), ValueOutOfBoundsError),
        (lambda: rv.Processes(communicator=3), WrongTypeError),  # type: ignore[arg-type]
        (lambda: rv.DryRun(ranks=0), ValueOutOfBoundsError),
        (lambda: rv.DryRun(invented_rate=[1.0]), ShapeError),  # type: ignore[arg-type]
        (lambda: rv.Simulation(network(), tuning="fast"), WrongTypeError),  # type: ignore[arg-type]
        (lambda: rv.Simulation(network(), tuning=rv.Processes()), WrongTypeError),  # type: ignore[arg-type]
        (lambda: rv.Simulation(network(), processes=3), WrongTypeError),  # type: ignore[arg-type]
        (lambda: rv.Simulation(network(), dry_run=rv.DryRun(invented_rate=3.0)), StateError),
        (
            lambda: rv.Simulation(
                network(), processes=rv.Processes(communicator=mpi.world()), dry_run=rv.DryRun(ranks=2)
            ),
            StateError,
        ),
    ],
)
def test_wrong_options_are_refused(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_groups_show_and_compare_what_differs_from_the_defaults() -> None:
    tuning = rv.Tuning(stealing="local_only", shards=4)
    assert repr(tuning) == "Tuning(shards=4, stealing='local_only')"
    assert tuning == rv.Tuning(shards=4, stealing="local_only") != rv.Tuning()
    assert rv.Tuning() != rv.Processes()
    placed = rv.Processes(placement=[0, 1, 0])
    assert placed == rv.Processes(placement=np.array([0, 1, 0])) != rv.Processes(placement=[0, 1, 1])
    assert rv.Tuning(costs={"exc": 2}) == rv.Tuning(costs={"exc": 2.0})
    for group in (tuning, placed, rv.DryRun(ranks=3, invented_rate={"exc": 2.0}), rv.Tuning(pinning=[0, 2])):
        assert pickle.loads(pickle.dumps(group)) == copy.deepcopy(group) == group


def test_groups_cannot_be_changed() -> None:
    ranks = np.array([0, 1, 0])
    placed = pickle.loads(pickle.dumps(rv.Processes(placement=ranks)))
    ranks[0] = 1
    assert cast(Any, placed.placement)[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        cast(Any, placed.placement)[0] = 1
    with pytest.raises(ReadOnlyError, match=r"rv\.Processes\(exchange=\.\.\.\)"):
        placed.exchange = "auto"
    with pytest.raises(ReadOnlyError):
        del placed.exchange


def test_flat_options_are_grouped() -> None:
    found = grouped({"threads": 2, "stealing": "local_only", "exchange": "auto", "ranks": 3, "progress": False})
    assert found == {
        "threads": 2,
        "tuning": rv.Tuning(stealing="local_only"),
        "processes": rv.Processes(exchange="auto"),
        "dry_run": rv.DryRun(ranks=3),
        "progress": False,
    }


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("exchange=AUTO", "auto"),
        ("sort_connections=Auto", "auto"),
        ("sort_connections=false", False),
        ("shards=3", 3),
        ("threads=Auto", "auto"),
        ("threads=3", 3),
        ("pinning=0,2", "0,2"),
        ("memory_limit=1000000", 1000000),
        ("costs=measured", "measured"),
    ],
)
def test_settings_become_options(setting: str, value: object) -> None:
    run, _ = parse_settings([setting], lambda: None)
    assert list(run.values()) == [value]


@pytest.mark.parametrize(
    "setting",
    [
        "exchange=none",
        "shards=0",
        "shards=two",
        "keep_sources=1",
        "intervals=3",
        "costs=1",
        "communicator=1",
        "ranks=2",
    ],
)
def test_wrong_settings_are_refused(setting: str) -> None:
    with pytest.raises((ValueOutOfBoundsError, UnknownNameError)):
        parse_settings([setting], lambda: None)


def test_a_flag_for_a_key_is_told_how_to_set_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "brunel", "--ranks", "4", "--threads", "2"]) == 2
    assert "write --set threads=VALUE" in capsys.readouterr().err


def test_networks_are_listed_with_the_meanings_of_their_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "brunel"]) == 0
    first_words = [(line.split() or [""])[0] for line in capsys.readouterr().out.splitlines()]
    for name, option in OPTIONS.items():
        assert (name in first_words) == option.settable
    parameters = inspect.signature(rv.networks.brunel).parameters
    texts = parameter_texts(rv.networks.brunel.__doc__ or "")
    assert set(parameters) <= set(first_words) & set(texts)
    assert all(texts[name] for name in parameters)


@pytest.mark.parametrize("name", shipped_networks())
def test_all_parameters_of_networks_have_meanings(name: str) -> None:
    function = shipped_networks()[name]
    texts = parameter_texts(function.__doc__ or "")
    assert [key for key in inspect.signature(function).parameters if not texts.get(key)] == []


def test_a_dry_run_records_its_own_neurons() -> None:
    net = network()
    recorder, spikes = net.record_state(net["exc"], "V_m"), net.record_spikes()
    sim = rv.Simulation(net, threads=1, dry_run=rv.DryRun(ranks=2))
    sim.run(1.0)
    assert sim.state(recorder).ids.tolist() == [0, 2]
    assert len(sim.spikes(spikes).times) == 0
    with pytest.raises(StateError, match="local"):
        rv.Simulation(net, recordings="root", dry_run=rv.DryRun(ranks=2))


def test_a_dry_run_is_an_option() -> None:
    net = network()
    sim = rv.Simulation(net, threads=1, recordings="local", dry_run=rv.DryRun(ranks=2, invented_rate=100.0))
    sim.run(10.0)
    assert sim.ranks == 2
    assert sim.traffic().exchanges > 0


@pytest.mark.parametrize("stepping", ["bsp", "async"])
def test_one_process_exchanges_by_no_method(stepping: Literal["bsp", "async"]) -> None:
    sim = rv.Simulation(network(), threads=1, stepping=stepping, processes=rv.Processes(exchange="alltoallv"))
    assert sim.exchange == "none"
    assert sim.traffic().exchanges == 0
