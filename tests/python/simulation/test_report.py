"""What `ranvier run` tells of the memory on NUMA nodes, and of its threads."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import ranvier as rv
from ranvier.base.values import FloatArray
from ranvier.commands import report
from ranvier.simulation.measurements import PARTS, PHASES, Crowding


@pytest.fixture(scope="module")
def model() -> rv.networks.NetworkModel:
    return rv.networks.brunel(order=500)


@pytest.fixture(scope="module")
def results(model: rv.networks.NetworkModel) -> report.Results:
    simulation = rv.Simulation(model.net, threads=2)
    simulation.run(10.0)
    return report.gather(simulation, model, "brunel", 0.0, "everywhere", {})


def shown(results: report.Results, model: rv.networks.NetworkModel) -> str:
    text = io.StringIO()
    report.show(Console(file=text, width=100), results, model)
    return text.getvalue()


def row(text: str, name: str) -> list[str]:
    """Return the cells of the row of the table of nodes that begins with a name."""
    lines = text.split("NUMA node", 1)[1].splitlines()
    (found,) = [line for line in lines if line.split()[:1] == [name]]
    return found.split()[1:]


def test_one_node_is_not_worth_a_table(results: report.Results, model: rv.networks.NetworkModel) -> None:
    one = replace(results, memory_by_node=[{"0": {"synapses": 5_000_000}}], memory_pages=[{"0": 4_000_000}])
    text = shown(one, model)
    assert "Memory" in text
    assert "NUMA" not in text


def test_memory_of_two_nodes(results: report.Results, model: rv.networks.NetworkModel) -> None:
    two = replace(
        results,
        memory_by_node=[
            {
                "0": {"synapses": 5_000_000, "neurons": 1_000_000},
                "1": {"synapses": 6_000_000},
                "any": {"exchange": 7_000},
            }
        ],
        memory_pages=[{"0": 8_000_000, "1": 3_000_000}],
    )
    text = shown(two, model)
    assert row(text, "0") == ["6.00", "MB", "8.00", "MB"]
    assert row(text, "1") == ["6.00", "MB", "3.00", "MB"]
    assert row(text, "any") == ["7.00", "kB"]


def test_memory_of_threads_that_are_not_bound(results: report.Results, model: rv.networks.NetworkModel) -> None:
    wandering = replace(
        results,
        memory_by_node=[{"any": {"synapses": 5_000_000}}, {"any": {"synapses": 6_000_000}}],
        memory_pages=[{"0": 5_000_000, "10": 1_000_000}, {"2": 4_000_000, "unknown": 1_000_000}],
    )
    text = shown(wandering, model)
    order = [line.split()[0] for line in text.split("NUMA node", 1)[1].splitlines()[1:6]]
    assert order == ["0", "2", "10", "any", "unknown"]
    assert row(text, "10") == ["1.00", "MB"]
    assert row(text, "any") == ["11.00", "MB"]


def test_json_has_the_nodes_of_each_rank(results: report.Results) -> None:
    (by_node,) = results.as_json()["memory_bytes_by_node_by_rank"]
    total = sum(results.as_json()["memory_bytes"].values())
    assert sum(size for parts in by_node.values() for size in parts.values()) == total
    (pages,) = results.as_json()["memory_pages_by_rank"]
    assert 0 < sum(pages.values()) <= total


def test_balance_of_threads(results: report.Results, model: rv.networks.NetworkModel) -> None:
    times: tuple[FloatArray, ...] = (np.array([1.0, 1.0]), np.array([4.0, 2.0]))
    parts = dict.fromkeys(PARTS, times)
    timers = replace(results.timers, phases={name: np.ones(2) for name in PHASES}, parts=parts)
    two = replace(results, timers=timers, threads=[2, 2], stolen_shards=[0, 7], oversubscribed=[False, True])
    assert timers.imbalance == 2.0
    text = shown(two, model)
    assert "thread 0 of rank 1 computed 2.00 times as long as the mean" in text
    assert "Stolen  7 shards" in text
    assert "More threads than processors on 1 rank" in text
    assert two.as_json()["imbalance"] == 2.0


def test_one_thread_has_no_balance(model: rv.networks.NetworkModel) -> None:
    simulation = rv.Simulation(model.net, threads=1)
    simulation.run(10.0)
    text = shown(report.gather(simulation, model, "brunel", 0.0, "root", {}), model)
    assert "Balance" not in text
    assert "More threads" not in text


def test_rates_that_are_far_from_the_published_ones() -> None:
    published = {"a": 1.0, "b": 4.0, "c": 2.0}
    assert report.unlike_published({"a": 0.6, "b": 7.9, "c": 2.0}, published) == []
    (told,) = report.unlike_published({"a": 0.0, "b": 8.1, "c": 2.0}, published)
    assert "a, b" in told
    assert "silent: a" in told
    assert report.unlike_published({"x": 3.0}, {}) == []


def test_notes_are_wrapped(results: report.Results, model: rv.networks.NetworkModel) -> None:
    note = "Rates [of some] are " + "very " * 30 + "low."
    text = shown(results, replace(model, notes=(note,)))
    assert max(map(len, text.splitlines())) <= 100
    assert note in " ".join(text.split())


def on_two_ranks(results: report.Results, communicate: float) -> report.Results:
    """Return results of two ranks of one thread that simulated for 2 s, of which they exchanged spikes for so many."""
    parts: dict[str, tuple[FloatArray, ...]] = {name: (np.zeros(1), np.zeros(1)) for name in PARTS}
    parts |= {"update": (np.ones(1), np.ones(1)), "communicate": (np.array([communicate]), np.array([communicate]))}
    timers = replace(results.timers, phases={name: np.full(2, 2.0) for name in PHASES}, parts=parts)
    nobody = Crowding(0.0, 0.0, 0, 0.0)
    return replace(results, timers=timers, threads=[1, 1], crowding=[nobody] * 2, oversubscribed=[False] * 2)


def test_ranks_that_sleep_because_of_other_programs(results: report.Results, model: rv.networks.NetworkModel) -> None:
    crowding = [Crowding(0.5, 2.0, 0, 1.25), Crowding(0.0, 0.0, 0, 0.75)]
    text = shown(replace(on_two_ranks(results, 0.2), crowding=crowding), model)
    assert "Other programs used processors on 1 rank: threads waited 0.5 s for one." in text
    assert "ranks slept for up to 1.2 s while they waited" in text


def test_ranks_that_wait_for_each_other(results: report.Results, model: rv.networks.NetworkModel) -> None:
    text = shown(on_two_ranks(results, 1.2), model)
    assert "Ranks waited for each other and exchanged spikes 60% of the time:" in text
    assert "there is little work between two synchronizations" in text
    assert "waited for each other" not in shown(on_two_ranks(results, 0.2), model)
