"""Costs fitted to runs, and predictions with them: from times that are known, not measured."""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from ranvier.errors import StateError
from ranvier.processes.mpi_library import OPEN_MPI
from ranvier_benchmarks._exchange_simulation import real_runs
from ranvier_benchmarks._exchange_simulation.calibration import (
    COSTS,
    REAL_METHODS,
    Counts,
    Network,
    Quantity,
    counts_of_simulation,
    fit,
    non_negative,
    predict,
)
from ranvier_benchmarks._mpiexec import Mpiexec

CORES = 2.0
KNOWN = {
    "step": 20e-6,
    "event": 20e-9,
    "spike": 3e-6,
    "message": 0.5e-6,
    "isend": 1e-6,
    "send_target": 0.7e-6,
    "allreduce": 5e-6,
    "allgather": 8e-6,
    "allreduce_turn": 10e-6,
    "allgather_turn": 4e-6,
    "scan_process": 0.3e-6,
}
"""Seconds."""


def test_non_negative_coefficients_are_those_of_the_best_subset() -> None:
    rng = np.random.default_rng(4)
    is_at_bound = 0
    for _ in range(40):
        rows = rng.normal(size=(9, 5)) * 10.0 ** rng.integers(-6, 6, size=5)
        values = rng.normal(size=9)
        best = (float(values @ values), np.zeros(5))
        for columns in itertools.chain.from_iterable(itertools.combinations(range(5), n) for n in range(1, 6)):
            solution = np.linalg.lstsq(rows[:, columns], values, rcond=None)[0]
            error = float(((rows[:, columns] @ solution - values) ** 2).sum())
            if (solution >= 0.0).all() and error < best[0]:
                coefficients = np.zeros(5)
                coefficients[list(columns)] = solution
                best = (error, coefficients)
        assert non_negative(rows, values) == pytest.approx(best[1], rel=1e-4, abs=1e-15)
        is_at_bound += bool((best[1] == 0.0).any())
    assert is_at_bound > 20


def some_counts() -> list[Counts]:
    rng = np.random.default_rng(5)
    return [
        Counts(
            method=method,
            processes=processes,
            intervals=200,
            events=rng.uniform(1e5, 1e6),
            spikes=rng.uniform(1e3, 1e4),
            messages=rng.uniform(1e3, 1e5),
            collectives=rng.uniform(200.0, 600.0),
            imbalance=(1.1, 1.3),
        )
        for processes in (2, 4, 16)
        for method in REAL_METHODS
        for _ in range(3)
    ]


def test_costs_of_known_times_are_found() -> None:
    quantities: tuple[Quantity, ...] = ("run", "computation")
    costs = np.array([KNOWN[name] for name in COSTS])
    times: list[tuple[Counts, Quantity, float]] = [
        (counts, quantity, float(counts.of_costs(quantity, CORES) @ costs))
        for counts in some_counts()
        for quantity in quantities
    ]
    assert fit(times, CORES) == pytest.approx(KNOWN, rel=1e-6)
    # A cost that would have to be negative is 0.
    faster = [(counts, quantity, seconds - 19e-6 * counts.intervals) for counts, quantity, seconds in times]
    assert all(seconds > 0.0 for _, _, seconds in faster)
    assert min(fit(faster, CORES).values()) == 0.0


def test_too_few_times() -> None:
    counts = some_counts()
    with pytest.raises(StateError, match="as many times"):
        fit([(each, "run", 1.0) for each in counts[: len(COSTS) - 1]], CORES)
    with pytest.raises(StateError, match="above 0"):
        fit([(each, "run", 0.0) for each in counts], CORES)


@pytest.mark.parametrize("processes", [2, pytest.param(8, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("method", list(REAL_METHODS))
def test_simulated_times_are_costs_times_counts(method: str, processes: int) -> None:
    """The sum of costs and counts leaves out how work differs between the processes: it is the lower one."""
    network = Network(1024, 100, 60)
    result = predict(KNOWN, CORES, method, network, processes)
    counts = counts_of_simulation(method, network, result)
    costs = np.array([KNOWN[name] for name in COSTS])
    run, computation = (float(counts.of_costs(quantity, CORES) @ costs) for quantity in ("run", "computation"))
    assert result.run_time == pytest.approx(run, rel=0.15)
    # Relays send after computation, if a spike comes at the end of an interval.
    if method != "two_phase":
        assert float(result.mean.sum()) == pytest.approx(computation, rel=0.1)


def report(method: str, network: Network, processes: int) -> dict[str, Any]:
    """Return what a worker would report of a run on a computer with the known costs."""
    result = predict(KNOWN, CORES, method, network, processes)
    spikes = int(result.spikes.sum())
    return {
        "spikes": spikes,
        "events": spikes * network.connections,
        "interval_count": network.time,
        "digest": "",
        "imbalance": {"synaptic_events": 1.0, "spikes_received": 1.0},
        "ranks": {
            "total": [result.run_time] * processes,
            "computation": [float(result.mean.sum())] * processes,
            "messages": [float(result.messages.sum()) / processes] * processes,
            "rounds": [float(result.rounds.sum())] * processes,
        },
    }


@pytest.mark.thorough
def test_runs_of_a_known_computer_are_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    def run_worker(mpiexec: Any, module: str, wanted: Any, *, ranks: int, **others: Any) -> Any:
        network = Network(wanted["network"]["cells"], wanted["network"]["connections"], int(wanted["time"]))
        started.append((network, ranks))
        return {
            "runs": [
                {"contestant": index, **report(method, network, ranks)}
                for _ in range(wanted["repetitions"])
                for index, (method, _, _) in enumerate(wanted["contestants"])
            ]
        }

    monkeypatch.setattr(real_runs, "run_worker", run_worker)
    monkeypatch.setattr(real_runs, "usable_processors", lambda: int(CORES))
    monkeypatch.setattr(real_runs, "_FITTED_NETWORKS", ((64, 10), (256, 10), (128, 60)))
    monkeypatch.setattr(real_runs, "_PREDICTED_NETWORKS", ((192, 30),))
    results = real_runs.compare_with_real_runs(
        Mpiexec(Path("mpiexec"), OPEN_MPI),
        fitted_ranks=(2, 4),
        predicted_ranks=(2, 3),
        time=45,
        repetitions=1,
        on_progress=lambda text: None,
        on_results=lambda results: None,
    )
    assert [ranks for _, ranks in started] == [2, 4] * 3 + [2, 3]
    predictions = [run for run in results["runs"] if run["use"] == "prediction"]
    assert [run["method"] for run in predictions] == list(REAL_METHODS) * 2
    for run in predictions:
        assert run["times"]["run"]["ratio"] == pytest.approx(1.0, abs=0.2), run
    assert [one["predictions"] for one in results["summary"]] == [4, 4, 4, 4]
    assert all(one["within_25_percent"] == 4 for one in results["summary"] if one["quantity"] == "run")
    text = io.StringIO()
    real_runs.show_comparison(Console(file=text, width=140), results)
    assert "4 of 4 within 25 %" in text.getvalue()
