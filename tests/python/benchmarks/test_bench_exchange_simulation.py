"""`ranvier bench exchange_simulation`, and what it simulates beside real runs on a few processes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from mpi_runs import WHEELS
from ranvier.errors import RanvierError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks import exchange, exchange_simulation
from ranvier_benchmarks._exchange_simulation.engine import METHODS, Method, simulate
from ranvier_benchmarks._exchange_simulation.machines import MACHINES, Machine
from ranvier_benchmarks._exchange_simulation.network import check_network, per_interval, simulate_network, summary
from ranvier_benchmarks._exchange_simulation.published import COLUMNS, TABLES, agreement
from ranvier_benchmarks._exchange_simulation.spikes import IntervalFire, KnownTargets, NeighborTargets


def bench(module: Any, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    code: int = module.main(parser.parse_args(arguments))
    return code


def test_simulated_tables_stand_beside_those_of_the_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "simulated.json"
    small = ["--ranks=8192", "--tables=1", "--methods=replay,two-phase 2", "--time=2", "--slots=2", f"--json={path}"]
    assert bench(exchange_simulation, *small) == 0
    text = capsys.readouterr().out
    # Times of another length stand alone.
    assert "two-phase 2" in text
    assert "paper" not in text
    assert "published" not in text
    written = json.loads(path.read_text())
    assert written["complete"]
    assert [(one["cells"], one["connections"]) for one in written["results"]] == [(2 << 20, 1000), (1 << 18, 10_000)]
    assert written["parameters"]["event"] == MACHINES["blue_gene_p"].event
    for one in written["results"]:
        assert set(one["methods"]) == {"replay", "two-phase 2"}
        # No cell has fired yet: only reductions take time.
        assert one["methods"]["replay"]["run_s"] == pytest.approx(2 * 5e-6)
        assert one["methods"]["two-phase 2"]["run_s"] == pytest.approx(4 * 5e-6)
        # Of the paper: 1129 of 4 M cells on 16 K processes, which are more of both.
        assert one["methods"]["replay"]["greatest_fanout"] > 1000


@pytest.mark.thorough
@pytest.mark.parametrize(("row", "tolerance"), [(0, 0.15), (5, 0.15)])
def test_simulated_times_are_those_of_the_paper(row: int, tolerance: float) -> None:
    """Run times of the first rows of Table 1: some costs were fitted to the first of them, none to the second."""
    published = TABLES["1"][row]
    for column, method in COLUMNS.items():
        result = simulate_network(
            MACHINES["blue_gene_p"],
            METHODS[method],
            cells=published.cells,
            connections=published.connections,
            ranks=published.ranks,
        )
        seconds = published.seconds[column]
        assert seconds is not None
        assert (result.computation, result.run_time) == pytest.approx(seconds, rel=tolerance), column


def test_agreement_has_the_ratios_of_all_published_times() -> None:
    results = []
    for row, factor in zip(TABLES["1"][3:5], (1.1, 0.8), strict=True):
        times = {column: seconds for column, seconds in row.seconds.items() if seconds is not None}
        methods: dict[str, Any] = {
            COLUMNS[column]: {"computation_s": seconds[0], "run_s": factor * seconds[1]}
            for column, seconds in times.items()
        }
        # This one is in no table.
        methods["multisend"] = {"computation_s": 100.0, "run_s": 100.0}
        results.append({"ranks": row.ranks, "cells": row.cells, "connections": row.connections, "methods": methods})
    found = agreement(results)
    # Two methods were not measured on 128 K processes.
    assert [found[quantity]["count"] for quantity in ("computation", "run")] == [6, 6]
    assert found["computation"]["least"] == found["computation"]["greatest"] == 1.0
    assert [found["run"][key] for key in ("least", "median", "greatest")] == pytest.approx([0.8, 1.1, 1.1])
    assert agreement([]) == {}


def test_parameters_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    for name, machine in MACHINES.items():
        assert bench(exchange_simulation, "--parameters", f"--machine={name}") == 0
        text = capsys.readouterr().out
        assert machine.name in text
        assert all(parameter in text for parameter in Machine.parameters())


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (["--machine=abacus"], UnknownNameError),
        (["--ranks=8193"], UnknownNameError),
        (["--tables=3"], UnknownNameError),
        (["--methods=pigeon"], UnknownNameError),
        (["--time=0.5"], ValueOutOfBoundsError),
        (["--time=nan"], ValueOutOfBoundsError),
        (["--slots=7"], ValueOutOfBoundsError),
        (["--slots=0"], ValueOutOfBoundsError),
        (["--against-real", "--repetitions=0"], ValueOutOfBoundsError),
        (["--against-real", "--fitted-ranks=1,2"], ValueOutOfBoundsError),
        (["--against-real", "--predicted-ranks=513"], ValueOutOfBoundsError),
        (["--against-real", "--time=0.5"], ValueOutOfBoundsError),
        (["--json=/nowhere/of/all.json"], RanvierError),
    ],
)
def test_bad_arguments(wrong: list[str], error: type[RanvierError]) -> None:
    with pytest.raises(error):
        bench(exchange_simulation, *wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"ranks": 1}, {"ranks": 101}, {"connections": 0}, {"connections": 100}, {"cells": 1 << 32}),
        {"topology": "adjacent", "connections": 5},
    ],
)
def test_bad_networks(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueOutOfBoundsError):
        check_network(**{"cells": 100, "connections": 10, "ranks": 10, "time": 1.0, "slots": 1, **wrong})


def test_summaries_are_of_the_last_quarter() -> None:
    result = simulate_network(
        MACHINES["infiniband_hdr"], METHODS["multisend"], cells=300, connections=20, ranks=10, time=60.0
    )
    values = summary(result)
    assert values["run_s"] == pytest.approx(sum(per_interval(result)["total"]))
    assert values["sent_by_rank_0"] == [result.sent_by_rank_0[45:].min(), result.sent_by_rank_0[45:].max()]
    assert values["spikes"] == result.spikes.sum() > 300
    assert set(per_interval(result)) == {"rank_0", "mean", "greatest", "total"}
    assert values["greatest_computation_s"] >= values["mean_computation_s"]


@pytest.mark.parametrize(
    "ranks",
    [2, pytest.param(4, marks=pytest.mark.thorough), *(pytest.param(n, marks=pytest.mark.thorough) for n in (8, 16))],
)
def test_counts_are_those_of_real_runs(ranks: int, tmp_path: Path) -> None:
    """Spikes, messages, bytes and rounds, which do not depend on the machine, are the same, exactly."""
    path = tmp_path / "real.json"
    network: dict[str, Any] = {"cells": 128, "connections": 30}
    settings = [f"{name}={value}" for name, value in network.items()]
    bench(
        exchange,
        f"--ranks={ranks}",
        f"--mpiexec={WHEELS[0].mpiexec}",
        "--methods=allgather,multisend,two_phase",
        "--repetitions=1",
        "--set",
        *settings,
        "time=60",
        "allgather_spikes=2",
        f"--json={path}",
    )
    real = {(one["method"], one["intervals"]): one for one in json.loads(path.read_text())["results"][0]["methods"]}
    model = rv.networks.interval_fire(**network)
    synapses = rv.Simulation(model.net, threads=1, progress=False).connections()
    first = model.net.populations[0].first_id
    targets = KnownTargets(np.arange(128) % ranks, ranks, synapses.sources - first, synapses.targets - first)
    for (name, intervals), measured in real.items():
        method = {
            "allgather": Method("allgather", buffer=2),
            "multisend": Method("isend", intervals=intervals),
            "two_phase": Method("isend", phases=2, intervals=intervals),
        }[name]
        spikes = IntervalFire(128, resolution=0.1, slots=2)
        result = simulate(spikes, targets, MACHINES["infiniband_hdr"], method, intervals=60)
        assert measured["interval_count"] == len(result.total), name
        if name == "allgather":
            # Overflow happens in the same intervals.
            assert measured["rounds"] == result.rounds.sum() > 60
            continue
        assert measured["messages"] == result.messages.sum() > 0, name
        assert measured["bytes_sent"] == 8 * measured["messages"] + 16 * ranks * measured["rounds"], name
        # Each interval has at least one reduction.
        assert measured["rounds"] >= len(result.total)
        assert result.rounds.min() >= 1


@pytest.mark.parametrize(
    ("ranks", "placement", "burst"),
    [
        (2, "consecutive", True),
        pytest.param(4, "round_robin", True, marks=pytest.mark.thorough),
        pytest.param(4, "consecutive", False, marks=pytest.mark.thorough),
    ],
)
def test_messages_between_neighbors_are_those_of_real_runs(
    ranks: int, placement: Any, burst: bool, tmp_path: Path
) -> None:
    """Of each interval, on process 0, exactly."""
    path = tmp_path / "real.json"
    arguments = [f"--mpiexec={WHEELS[0].mpiexec}", "--methods=multisend", "--intervals=1"]
    network = ["cells=128", "connections=30", "topology=adjacent", f"burst={str(burst).lower()}", "time=60"]
    network.append(f"placement={placement}")
    bench(
        exchange,
        *arguments,
        f"--ranks={ranks}",
        "--barrier=with",
        "--repetitions=1",
        "--set",
        *network,
        f"--json={path}",
    )
    real = json.loads(path.read_text())["results"][0]["methods"][0]
    targets = NeighborTargets(128, ranks, connections=30, placement=placement)
    spikes = IntervalFire(128, burst=burst)
    result = simulate(spikes, targets, MACHINES["infiniband_hdr"], Method("isend"), intervals=60)
    assert real["messages"] == result.messages.sum() > 0
    counts = real["per_interval"]
    assert counts["messages"] == result.sent_by_rank_0.tolist()
    assert counts["spikes"] == result.spikes_of_rank_0.tolist()
    # Process 0 hands its own spikes to itself.
    assert counts["spikes_received"] == (result.received_by_rank_0 + result.spikes_of_rank_0).tolist()
    assert real["greatest_fan_out"] == {"rank_0": result.greatest_fanout_of_rank_0, "all": result.greatest_fanout}
