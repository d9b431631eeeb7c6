"""`ranvier paper shehzad2016` compares methods on networks like those of the paper, and says what it cannot tell."""

from __future__ import annotations

import argparse
import copy
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import ranvier as rv
from mpi_runs import WHEELS
from ranvier.errors import InsufficientMemoryError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks._exchange_simulation.machines import MACHINES
from ranvier_benchmarks.papers import _command
from ranvier_benchmarks.papers._paper import PaperResult
from ranvier_benchmarks.papers.shehzad2016 import PAPER, networks
from ranvier_benchmarks.papers.shehzad2016.simulated import COSTS, OneProcess, simulate_processes
from trimmed_results import show_trimmed

SMALL = {
    "table 1": ["cells=202", "time=20."],
    "table 2": ["cells=(202,)", "time=20.", "methods=allgather,rma_allgather"],
    "table 3": ["time=(20.,)"],
}


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    _command.add_arguments(parser)
    return _command.main(parser.parse_args(["shehzad2016", *words]))


def tiny(number: str, folder: Path, *keys: str) -> dict[str, Any]:
    path = folder / f"table_{number}.json"
    settings = ["processes=(2,)", "simulated=(3, 64)", "repetitions=1", *SMALL[f"table {number}"], *keys]
    assert run(f"--table={number}", f"--json={path}", f"--mpiexec={WHEELS[0].mpiexec}", "--set", *settings) == 0
    stored: dict[str, Any] = json.loads(path.read_text())
    return stored


def trimmed(result: PaperResult, measured: dict[str, Any], folder: Path) -> None:
    """Show and draw the stored part of a result."""
    head = {"benchmark": "paper", "complete": True, "paper": PAPER.name, "kind": result.kind, "number": result.number}
    path = folder / "result.json"
    path.write_text(json.dumps({**head, **measured}))
    show_trimmed(path)


# ---- networks --------------------------------------------------------------------------------------------------------


def spikes_of(model: Any, time: float) -> rv.SpikeData:
    simulation = rv.Simulation(model.net, threads=1, progress=False)
    simulation.run(time)
    return simulation.spikes(model.spikes)


def test_all_cells_of_scalebush_fire_in_bursts() -> None:
    """Rates of 100 cells: expected 50 and 2 spikes/s, in bounds of 5 standard deviations of Poisson counts and more."""
    spikes = spikes_of(networks.scalebush(cells=202), 300.0)
    in_burst = np.sum(spikes.times <= 100.0) / 202 / 0.1
    between = np.sum(spikes.times > 150.0) / 202 / 0.15
    assert 40.0 < in_burst < 60.0
    assert 0.8 < between < 3.5


def test_mitral_cells_of_bulbnet_fire_together() -> None:
    model = networks.bulbnet(cells=505)
    spikes = spikes_of(model, 250.0)
    mitral = spikes.by_population()["mitral cells"]
    # Once in each of ten cycles, within 5 ms of stimulus and the time that a cell needs to fire.
    assert 48 <= len(mitral) <= 50
    phases = np.mod(mitral.times, 25.0)
    assert phases.max() < 10.0
    granule = spikes.by_population()["granule cells"]
    assert 3.5 < len(granule) / 500 / 0.25 < 6.5


# ---- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=[pytest.mark.thorough] if number != "2" else []) for number in "123"]
)
def test_tables(number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = tiny(number, tmp_path)
    printed = capsys.readouterr().out
    (row,) = stored["rows"]
    assert row["ranks"] == 2
    methods = ["allgather", "rma_allgather", "rma_allgather_counter"][: int(number)]
    found = [(method["method"], method["barrier"]) for method in row["methods"]]
    assert found == [(name, barrier) for barrier in (False, True) for name in methods]
    # The delay of 1 ms is the interval between exchanges.
    assert {method["interval_count"] for method in row["methods"]} == {20}
    assert len({digest for method in row["methods"] for digest in method["digests"]}) == 1
    assert {method["spikes_sent"] for method in row["methods"]} == {2 * row["spikes"]}
    for method in row["methods"]:
        assert 0.0 < method["waiting_and_exchange_s"]["least"] < method["total_s"]["greatest"]
    assert [row["ranks"] for row in stored["simulated"]["rows"]] == [3, 64]
    for simulated in stored["simulated"]["rows"]:
        assert simulated["spikes"] == row["spikes"]
        assert [method["method"] for method in simulated["methods"]] == methods
        for method in simulated["methods"]:
            assert 0.0 < method["waiting_and_exchange_s"]["median"] < method["total_s"]["rank_0"]
            assert method["interval_count"] == 20
    assert "Simulated: cluster, InfiniBand HDR" in printed
    assert "partly assumed" in printed
    assert ("almost 10 % less" in printed) == (number != "1")


def measurement(
    processes: tuple[int, ...] = (2, 4), processors: int = 2, simulated: tuple[int, ...] = ()
) -> dict[str, Any]:
    """Return a made-up one: rma_allgather takes 3/4 of the communication of allgather, or half after a barrier."""

    def simulated_method(name: str, ranks: int) -> dict[str, Any]:
        seconds = ranks * (1.0 if name == "allgather" else 2.0)
        return {
            "method": name,
            "barrier": False,
            "interval_count": 20,
            "total_s": {"rank_0": 10.0 + seconds},
            "waiting_and_exchange_s": {"median": seconds},
            "rounds": 20,
        }

    def method(name: str, *, barrier: bool, ranks: int) -> dict[str, Any]:
        plain = name == "allgather"
        exchange = ranks * (1.0 if plain else 0.5 if barrier else 0.75)
        times = {"total_s": 10.0 + exchange, "waiting_s": 0.5 if barrier else 0.0, "exchange_s": exchange}
        together = times["waiting_s"] + exchange
        of_ranks = {
            key: {"rank_0": value, "least": value, "median": value, "greatest": value}
            for key, value in {**times, "waiting_and_exchange_s": together}.items()
        }
        return {"method": name, "barrier": barrier, "interval_count": 20, **of_ranks}

    return {
        "network": "bulbnet",
        "processors": processors,
        "options": {"repetitions": 5},
        "machine": {"processor": "a processor"},
        "rows": [
            {
                "ranks": ranks,
                "crowded": ranks > processors,
                "transport": "MPI 1",
                "cells": cells,
                "time": 100.0,
                "spikes": 1000,
                "methods": [
                    method(name, barrier=barrier, ranks=ranks)
                    for barrier in (False, True)
                    for name in ("allgather", "rma_allgather")
                ],
            }
            for cells in (202, 404)
            for ranks in processes
        ],
        "simulated": None
        if not simulated
        else {
            "machine": "a machine",
            "rows": [
                {
                    "ranks": ranks,
                    "cells": cells,
                    "time": 100.0,
                    "spikes": 1000,
                    "methods": [simulated_method(name, ranks) for name in ("allgather", "rma_allgather")],
                }
                for cells in (202, 404)
                for ranks in simulated
            ],
        },
    }


def shown(result: PaperResult, measured: Mapping[str, Any]) -> str:
    text = io.StringIO()
    result.show(dict(measured), Console(file=text, width=120, highlight=False))
    return text.getvalue()


@pytest.mark.parametrize("number", ["2", "3"])
def test_savings_stand_beside_the_claim_of_the_paper(number: str) -> None:
    text = shown(PAPER.find("table", number), measurement(simulated=(64, 128)))
    assert text.count(" -25.0 ") == 4 + 4  # the rows, and the ranges below
    assert text.count(" -50.0") == 4
    assert text.count(" +100.0 ") == 4 + 2
    assert "takes almost 10 % less than MPI_Allgather" in text
    assert "With a processor for each process: rma_allgather from -25.0 to -25.0 %" in text
    assert "With more processes than processors: rma_allgather from -25.0 to -25.0 %" in text
    assert "Simulated: rma_allgather from +100.0 to +100.0 %" in text
    assert "Simulated: a machine, whose costs are partly assumed" in text
    assert "Simulated" not in shown(PAPER.find("table", number), measurement())
    assert "4 processes share 2 processors" in text
    assert "share" not in shown(PAPER.find("table", number), measurement(processors=8))


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(result, id=result.name, marks=[pytest.mark.thorough] if result.number in ("6", "7") else [])
        for result in PAPER.results
    ],
)
def test_stored_fields_are_enough(result: PaperResult, tmp_path: Path) -> None:
    trimmed(result, measurement(simulated=(64, 128)), tmp_path)
    trimmed(result, measurement(), tmp_path)


def test_the_part_of_communication_in_a_run() -> None:
    text = shown(PAPER.find("table", "1"), measurement())
    assert "16.7" in text  # 2 of 12 s
    assert "28.6" in text  # 4 of 14 s
    assert "92.8" in shown(PAPER.find("table", "1"), measurement(simulated=(128,)))  # 128 of 138 s


@pytest.mark.parametrize("number", ["4", "6", "7"])
def test_figures_have_a_line_for_each_method_and_machine(number: str) -> None:
    result = PAPER.find("figure", number)
    assert result.draw is not None
    other = copy.deepcopy(measurement((2, 3, 4), processors=4))
    other["machine"]["processor"] = "another processor"
    figure = result.draw([measurement(), other])
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels) == (2 if number == "4" else 4)
    with_simulated = result.draw([measurement(simulated=(64, 128)), other])
    assert len([axes for axes in with_simulated.axes if axes.get_visible()]) == (3 if number == "4" else 6)
    assert sum("Simulated: a machine" in axes.get_title(loc="left") for axes in with_simulated.axes) == 1
    lines = 2 if number == "4" else 4
    for axes in panels:
        drawn = [line for line in axes.lines if np.size(line.get_xdata()) > 1]
        assert len(drawn) == lines
        # More processes than processors are marked.
        assert bool(axes.patches) == (axes in panels[: len(panels) // 2])
    first = panels[0].lines[0 if number != "4" else 1]
    assert np.asarray(first.get_ydata())[:2].tolist() == [2.0, 4.0]


# ---- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "setting", "named"),
    [
        ("2", "processes=(1,)", "key processes"),
        ("2", "processes=()", "key processes"),
        ("2", "processes=(2, 2.5)", "key processes"),
        ("2", "processes=(2, 10**9)", "key processes"),
        ("2", "cells=(201,)", "key cells"),
        ("1", "cells=201", "key cells"),
        ("3", "time=()", "key time"),
        ("3", "time=(20., 0.)", "key time"),
        ("3", "time=(1e9,)", "key time"),
        ("1", "repetitions=0", "key repetitions"),
        ("2", "methods=rma_allgather", "key methods"),
        ("2", "simulated=(1,)", "key simulated"),
        ("2", "simulated=(1000,)", "key cells"),
        ("1", "poll=-1.", "poll of a step"),
    ],
)
def test_values_out_of_bounds(number: str, setting: str, named: str, tmp_path: Path) -> None:
    with pytest.raises(ValueOutOfBoundsError, match=named):
        run(f"--table={number}", "--set", setting, f"--mpiexec={tmp_path / 'none'}")


def test_names_that_do_not_exist() -> None:
    with pytest.raises(UnknownNameError, match="rma_allgather"):
        run("--table=2", "--set", "methods=allgather,rma_algather")
    with pytest.raises(UnknownNameError, match="infiniband_hdr"):
        run("--table=1", "--set", "machine=infiniband")
    with pytest.raises(UnknownNameError, match=r"1.*2.*3"):
        run("--table=5")


def test_costs_of_a_step_change_the_simulated_exchange() -> None:
    network = OneProcess("scalebush", 202, 5.0, 1)
    nothing = dict.fromkeys(COSTS)
    names = ("allgather", "rma_allgather", "rma_bruck_counter", "alltoall")

    def communication_with(**costs: float) -> dict[str, float]:
        rows = simulate_processes(network, 64, names, "infiniband_hdr", {**nothing, **costs})
        return {row["method"]: row["waiting_and_exchange_s"]["median"] for row in rows}

    usual = communication_with()
    # What is not an all-gather is not simulated.
    assert list(usual) == list(names[:3])
    # Six steps in each of five intervals.
    slower = communication_with(barrier=100.0)
    barrier = MACHINES["infiniband_hdr"].allreduce_time(64)
    assert slower["rma_allgather"] - usual["rma_allgather"] == pytest.approx(30 * (100e-6 - barrier))
    assert {name: slower[name] for name in usual if name != "rma_allgather"} == {
        name: usual[name] for name in usual if name != "rma_allgather"
    }
    polled = communication_with(poll=10.0)
    assert polled["rma_bruck_counter"] - usual["rma_bruck_counter"] == pytest.approx(30 * 10e-6)
    assert polled["allgather"] == usual["allgather"]


def test_too_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ranvier._core.available_memory", lambda: 10**9)
    with pytest.raises(InsufficientMemoryError, match="cells"):
        run("--table=1", "--set", "processes=(2,)", "cells=9000000")
