"""`ranvier paper hines2011`: real and simulated runs in one form, beside what the paper states."""

from __future__ import annotations

import argparse
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
from ranvier.errors import InsufficientMemoryError, RanvierError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks._exchange_simulation.published import COLUMNS, TABLES
from ranvier_benchmarks.papers import _command
from ranvier_benchmarks.papers._paper import PaperResult
from ranvier_benchmarks.papers.hines2011 import PAPER, published
from ranvier_benchmarks.papers.hines2011.rasters import rates_in_bursts

FIGURES = ("5", "6", "7", "8")


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    _command.add_arguments(parser)
    return _command.main(parser.parse_args(["hines2011", *words]))


def measured(kind: str, number: str, folder: Path, *keys: str) -> dict[str, Any]:
    """Run a result with some keys, and return its file."""
    path = folder / "stored.json"
    plot = [f"--plot={folder / 'figure.svg'}"] if kind == "figure" else []
    words = [f"--{kind}={number}", f"--json={path}", *plot, f"--mpiexec={WHEELS[0].mpiexec}", "--set", *keys]
    assert run(*words) == 0
    stored: dict[str, Any] = json.loads(path.read_text())
    return stored


def shown(result: PaperResult, stored: Mapping[str, Any]) -> str:
    text = io.StringIO()
    result.show(dict(stored), Console(file=text, width=140, highlight=False))
    return text.getvalue()


# ---- what the paper states -------------------------------------------------------------------------------------------


def test_seconds_of_figures_are_those_of_tables() -> None:
    columns = {"allgather": "MPI_Allgather", "two phases": "DCMF_Multicast", "Record-Replay": "Record-Replay"}
    found = 0
    for (_, connections), figure in published.FIGURES.items():
        for name, panel in figure.panels.items():
            if panel.table in TABLES:
                (row,) = (
                    row
                    for row in TABLES[panel.table]
                    if (row.ranks, row.cells, row.connections) == (figure.processes, figure.cells, connections)
                )
                assert panel.seconds == row.seconds[columns[name.split(",")[0]]]
                found += 1
            if panel.table == "3":
                assert panel.seconds == published.TABLE_3["round-robin", "Multisend", "random", False]
                found += 1
    assert found == 6


def test_runs_take_longer_than_their_computation() -> None:
    assert len(published.TABLE_3) == 36
    assert all(run > computation for computation, run in published.TABLE_3.values())
    # Bursts double the run time where neighbours are placed consecutively, or more.
    for method in published.METHODS_3:
        quiet, bursts = (published.TABLE_3["consecutive", method, "adjacent", burst][1] for burst in (False, True))
        assert bursts > 2.0 * quiet


# ---- rasters ---------------------------------------------------------------------------------------------------------


def test_figure_3_has_the_spikes_of_the_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = measured("figure", "3", tmp_path, "cells=64", "time=100.", "seed=3", "connections=2")
    assert "64 of 64" in capsys.readouterr().out
    model = rv.networks.interval_fire(cells=64, connections=2, seed=3)
    simulation = rv.Simulation(model.net, threads=1, progress=False)
    simulation.run(100.0)
    spikes = simulation.spikes(model.spikes)
    assert stored["digest"] == spikes.digest()
    assert np.allclose(stored["times"], spikes.times)
    assert (tmp_path / "figure.svg").exists()


def test_figure_9_has_bursts_of_five_times_the_rate(tmp_path: Path) -> None:
    """Of 320 cells, 40 in a group: five standard deviations of Poisson counts, which vary more."""
    stored = measured("figure", "9", tmp_path, "cells=320", "connections=2")
    burst, outside = rates_in_bursts(stored)
    assert burst == pytest.approx(1000.0 / 6.0, abs=5.0 * 1000.0 / 6.0 / np.sqrt(7 * 40 * 50.0 / 6.0))
    assert outside == pytest.approx(1000.0 / 30.0, abs=5.0 * 1000.0 / 30.0 / np.sqrt(320 * 270.0 / 30.0))


def test_rates_in_bursts_count_whole_bursts_only() -> None:
    # Eight cells, one in a group; 125 ms end in the third burst. Only the burst from 50 to 100 ms is whole.
    times = [60.0, 70.0, 80.0, 90.0, 90.0, 110.0, 110.0]
    ids = [1, 1, 1, 1, 0, 0, 2]
    burst, outside = rates_in_bursts({"times": times, "ids": ids, "cells": 8, "time": 125.0, "burst": True})
    assert burst == pytest.approx(4 / 0.05)
    # From 80 to 125 ms: groups 1 and 2 are outside their bursts for 25 and 20 ms, the other six for 45 ms.
    assert outside == pytest.approx(2 / (6 * 0.045 + 0.025 + 0.020))


# ---- runs ------------------------------------------------------------------------------------------------------------


def test_real_and_simulated_runs_have_one_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = measured(
        "figure", "5", tmp_path, "simulated_processes=4", "processes=2", "buffers=(2,)", "time=30.", "repetitions=1"
    )
    simulated, real = stored["runs"]
    assert (simulated["kind"], real["kind"]) == ("simulated", "real")
    assert set(real) - set(simulated) == {"barrier", "digests", "transport"}
    assert (simulated["cells"], real["cells"]) == (1024, 512)
    for each in stored["runs"]:
        assert {len(values) for values in each["per_interval_s"].values()} == {30}
        # More than two spikes of some process in an interval need a second collective.
        assert 30 < each["collectives"] < 60
        low, high = each["last_quarter"]["spikes"]
        assert 0 <= low < high
    printed = capsys.readouterr().out
    assert "allgather, 2 spikes" in printed
    assert "--full" in printed
    figure = PAPER.find("figure", "5").draw
    assert figure is not None
    assert len(figure([stored, stored]).axes) == 4


@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=[pytest.mark.thorough] if number != "6" else []) for number in FIGURES]
)
def test_figures_5_to_8_simulated(number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    processes = "(16, 512)" if number == "8" else "16" if number != "7" else "512"
    stored = measured("figure", number, tmp_path, f"simulated_processes={processes}", "processes=0", "time=28.")
    printed = capsys.readouterr().out
    assert len(stored["runs"]) == {"5": 3}.get(number, 4)
    for each in stored["runs"]:
        assert each["total_s"]["rank_0"] > each["computation_s"]["greatest"] > each["computation_s"]["mean"] > 0.0
        assert len(each["per_interval_s"]["total"]) == 28 * each["intervals"]
        here, everywhere = (each["greatest_fan_out"][key] for key in ("rank_0", "all"))
        assert 0 < here <= everywhere < each["processes"]
    # Spikes do not depend on the method.
    assert len({(each["connections"], each["spikes"]) for each in stored["runs"]}) == (2 if number == "8" else 1)
    said = {"5": "7.84", "6": "2,798-15,619", "7": "0-46,489", "8": "2-231"}[number]
    assert said in printed


@pytest.mark.thorough
def test_methods_that_the_paper_only_discusses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["simulated_processes=16", "processes=2", "discussed=true", "time=28.", "repetitions=1"]
    stored = measured("figure", "6", tmp_path, *keys)
    found = {
        kind: [each["variant"] for each in stored["runs"] if each["kind"] == kind] for kind in ("simulated", "real")
    }
    assert found["simulated"] == found["real"]
    assert found["real"][4:] == ["two phases, relays at once", "one phase, Reduce_scatter"]
    assert capsys.readouterr().out.count("relays at once") == 2
    draw = PAPER.find("figure", "6").draw
    assert draw is not None
    # Four in a row.
    assert len([axes for axes in draw([stored]).axes if axes.get_visible()]) == 6 + 6


@pytest.mark.thorough
@pytest.mark.parametrize("number", FIGURES)
def test_figures_5_to_8_real(number: str, tmp_path: Path) -> None:
    none = "(0, 0)" if number == "8" else "0"
    stored = measured(
        "figure", number, tmp_path, f"simulated_processes={none}", "processes=2", "time=30.", "repetitions=2"
    )
    for each in stored["runs"]:
        assert len(each["per_interval_s"]["total"]) == 30 * each["intervals"]
        assert each["last_quarter"]["spikes"][1] > 0
    for connections in {each["connections"] for each in stored["runs"]}:
        assert len({str(each["digests"]) for each in stored["runs"] if each["connections"] == connections}) == 1


@pytest.mark.thorough
def test_figure_4_and_tables_1_and_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["processes=(1, 2)", "cells_per_process=(8, 4)", "time=30.", "repetitions=1"]
    stored = measured("figure", "4", tmp_path, "simulated_processes=()", *keys)
    printed = capsys.readouterr().out
    networks = {(each["processes"], each["cells"], each["connections"]) for each in stored["runs"]}
    assert networks == {(1, 16, 1000), (2, 16, 1000), (1, 8, 1000), (1, 8, 10_000), (2, 8, 10_000), (1, 4, 10_000)}
    assert printed.count("MPI_Allgather") == 3
    for table, cells in (("1", 16), ("2", 8)):
        stored = measured("table", table, tmp_path, "simulated_processes=()", *keys)
        assert {each["cells"] for each in stored["runs"] if each["connections"] == 1000} == {16, cells}


@pytest.mark.thorough
def test_table_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["simulated_processes=16", "processes=2", "cells_per_process=16", "connections=4", "time=30."]
    stored = measured("table", "3", tmp_path, *keys, "repetitions=1")
    printed = capsys.readouterr().out
    real = [each for each in stored["runs"] if each["kind"] == "real"]
    assert len(real) == 36
    # Two networks have other spikes than the others: those with bursts.
    digests = {(each["burst"], digest) for each in real for digest in each["digests"]}
    assert len(digests) == 2
    assert printed.count("round-robin") == 2


# ---- tables and figures of made-up runs ------------------------------------------------------------------------------


def made_up(kind: str, variant: str, seconds: float, **values: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "variant": variant,
        "processes": 4,
        "cells": 1024,
        "connections": 1000,
        "time": 200.0,
        "burst": False,
        "topology": "random",
        "placement": "round_robin",
        "crowded": kind == "real",
        "transport": "MPI 1",
        "computation_s": {"rank_0": seconds, "mean": seconds, "greatest": seconds},
        "total_s": {"rank_0": 2.0 * seconds},
        **values,
    }


def of_tables(runs: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "tables": ["1", "2"],
        "processors": 2,
        "simulated_machine": "a machine",
        "machine": {"processor": "a processor"},
        "options": {"repetitions": 3, "time": 200.0},
        "runs": runs,
    }


def test_simulated_rows_stand_above_those_of_the_paper() -> None:
    runs = [made_up("simulated", column, 1.5, processes=8192, cells=2 << 20) for column in COLUMNS] + [
        made_up("real", "MPI_Allgather", 0.25, processes=count, cells=256 * count) for count in (1, 2, 4)
    ]
    text = shown(PAPER.find("figure", "4"), of_tables(runs))
    lines = text.splitlines()
    # In both tables.
    (first, second) = (index for index, line in enumerate(lines) if line.split()[:2] == ["8,192", "2,097,152"])
    assert lines[first] == lines[second]
    assert lines[first].split()[3:] == ["1.50*", "3.00*", "1.50*", "3.00*", "1.50", "3.00", "1.50*", "3.00*"]
    assert lines[first + 1].split() == ["paper", "6.76", "7.84", "22.3", "24.9", "7.30", "7.74", "6.30", "6.99"]
    # Weak scaling has three real networks, and strong scaling the one with the most cells.
    real = [line.split()[:2] for line in lines if "250" in line.split()]
    assert real == [["4", "1,024"], ["1", "256"], ["2", "512"], ["4", "1,024"]]
    assert "take turns" in text


def test_figure_4_has_the_paper_beside_simulated_runs() -> None:
    runs = [made_up("simulated", "Record-Replay", 1.5, processes=8192, cells=2 << 20)]
    runs += [made_up("real", "MPI_Allgather", 0.25, processes=count, cells=256 * count) for count in (1, 2, 4)]
    draw = PAPER.find("figure", "4").draw
    assert draw is not None
    figure = draw([of_tables(runs)])
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels) == 8
    strong, weak = panels[0], panels[5]
    replay = [line for line in strong.lines if line.get_label() and len(np.asarray(line.get_ydata())) == 5]
    assert [list(np.asarray(line.get_ydata())) for line in replay][-1] == [6.99, 3.62, 1.91, 1.03, 0.608]
    assert list(np.asarray(weak.lines[0].get_ydata())) == [0.5, 0.5, 0.5]


def test_table_3_compares_with_the_paper_and_marks_what_was_fitted() -> None:
    runs = [
        made_up("simulated", method, 2.0, placement=placement, topology=topology, burst=burst)
        for placement in published.PLACEMENTS.values()
        for method in published.METHODS_3
        for topology in ("random", "adjacent")
        for burst in (False, True)
    ]
    lines = shown(PAPER.find("table", "3"), of_tables(runs)).splitlines()
    replay = [line.split() for line in lines if line.split()[:1] == ["replay"]]
    assert replay[0][1:] == ["2.00*", "4.00*", "2.00", "4.00", "2.00", "4.00", "2.00", "4.00"]
    assert replay[1][1:] == ["2.00", "4.00", "2.00", "4.00", "2.00*", "4.00*", "2.00", "4.00"]
    paper = [line.split() for line in lines if line.split()[:1] == ["paper"]]
    assert len(paper) == 9
    assert paper[3][1:] == ["7.16", "9.61", "11.05", "20.75", "1.95", "3.91", "3.32", "12.11"]


# ---- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "setting", "named"),
    [
        ("figure 3", "cells=7", "key cells"),
        ("figure 3", "time=70.", "key time"),
        ("figure 9", "cells=10000000", "cells and time"),
        ("figure 5", "buffers=()", "key buffers"),
        ("figure 5", "buffers=(1, 1)", "key buffers"),
        ("figure 5", "buffers=(-1,)", "key buffers"),
        ("figure 5", "simulated_processes=1", "key simulated_processes"),
        ("figure 6", "processes=1", "key processes"),
        ("figure 6", "processes=100000000", "key processes"),
        ("figure 6", "time=20.5", "key time"),
        ("figure 6", "time=3.", "key time"),
        ("figure 6", "slots=7", "slots"),
        ("figure 7", "repetitions=0", "key repetitions"),
        ("figure 7", "simulated_processes=-4", "key simulated_processes"),
        ("figure 8", "simulated_processes=(16,)", "key simulated_processes"),
        ("table 1", "simulated_processes=(1024,)", "key simulated_processes"),
        ("table 1", "processes=(1, 1)", "key processes"),
        ("table 1", "cells_per_process=(1,)", "key cells_per_process"),
        ("figure 4", "cells_per_process=(0, 1)", "key cells_per_process"),
        ("table 3", "cells_per_process=0", "key cells_per_process"),
        ("table 3", "connections=100000", "indegree"),
    ],
)
def test_values_out_of_bounds(result: str, setting: str, named: str, tmp_path: Path) -> None:
    kind, _, number = result.partition(" ")
    with pytest.raises(RanvierError, match=named):
        run(f"--{kind}={number}", "--set", setting, f"--mpiexec={tmp_path / 'none'}")


def test_nothing_to_measure() -> None:
    with pytest.raises(ValueOutOfBoundsError, match="nothing"):
        run("--figure=6", "--set", "processes=0", "simulated_processes=0")
    with pytest.raises(ValueOutOfBoundsError, match="nothing"):
        run("--table=1", "--set", "processes=()", "simulated_processes=()")


def test_unknown_keys_and_figures() -> None:
    with pytest.raises(UnknownNameError, match="simulated_processes"):
        run("--figure=6", "--set", "simulated_process=16")
    with pytest.raises(UnknownNameError, match="connections"):
        # It is fixed: Figure 7 has the other number.
        run("--figure=6", "--set", "connections=100")
    with pytest.raises(UnknownNameError, match=r"3.*4.*9"):
        run("--figure=2")


@pytest.mark.parametrize(
    ("result", "settings"),
    [
        ("table 2", ["simulated_processes=(131072,)"]),
        ("table 1", ["simulated_processes=()", "cells_per_process=(20000, 32)"]),
        ("figure 6", ["simulated_processes=0", "processes=100"]),
    ],
)
def test_too_little_memory(result: str, settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ranvier._core.available_memory", lambda: 10**9)
    kind, _, number = result.partition(" ")
    with pytest.raises(InsufficientMemoryError):
        run(f"--{kind}={number}", "--set", *settings)
