"""`ranvier bench threads` divides steps into parts, and predicts them for other numbers of threads."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

import ranvier as rv
from ranvier.errors import ValueOutOfBoundsError
from ranvier_benchmarks import threads
from ranvier_benchmarks._threads_model import Journeys, ShareOfWork, predict_step, share_of_work


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    threads.add_arguments(parser)
    return parser.parse_args([*arguments])


def share(residuals: list[float], events: float = 0.0, per_event: float = 0.0) -> ShareOfWork:
    return ShareOfWork(
        read=1e-6,
        deliver=4e-6,
        update=2e-6,
        other=1e-6,
        events=events,
        per_event=per_event,
        residuals=np.array(residuals),
    )


def test_lines_travel_one_after_another_only_once() -> None:
    journeys = Journeys(near=100e-9, far=200e-9, socket=8, at_a_time=4)
    assert journeys.travel(1) == 0.0
    assert journeys.travel(5) == pytest.approx(100e-9 + 4 * 100e-9 / 4)
    # Seven on the same socket and eight on the other one.
    assert journeys.travel(16) == pytest.approx(200e-9 + (7 * 100e-9 + 8 * 200e-9) / 4)


def test_the_slowest_thread_ends_a_step() -> None:
    """Of threads that are late by 3 us in one of four steps, one is late in 1 - 0.75^n of them."""
    late = share([-1e-6, -1e-6, -1e-6, 3e-6])
    for number in (2, 8):
        step = predict_step(late, number, 1.0, Journeys())
        expected = 3e-6 - 0.75**number * 4e-6
        # 2,000 draws: three standard errors.
        assert step.imbalance == pytest.approx(expected, abs=3 * 2e-6 / 2000**0.5)
        assert step.work == pytest.approx(8e-6)
        assert step.step == pytest.approx(step.work + step.imbalance + step.travel)
    alone = predict_step(late, 1, 1.0, Journeys())
    assert (alone.imbalance, alone.travel) == (0.0, 0.0)


def test_threads_have_different_numbers_of_events() -> None:
    """The greatest of two normal numbers is sigma / sqrt(pi) above their mean."""
    step = predict_step(share([0.0], events=400.0, per_event=5e-9), 2, 1.0, Journeys())
    sigma = 5e-9 * 20.0
    assert step.imbalance == pytest.approx(sigma / np.pi**0.5, abs=4 * sigma / 2000**0.5)
    # In an epoch of several steps, differences even out.
    longer = predict_step(share([0.0], events=400.0, per_event=5e-9), 2, 16.0, Journeys())
    assert longer.imbalance == pytest.approx(step.imbalance / 4.0)


def test_the_share_is_the_work_of_the_updates() -> None:
    model = rv.networks.brunel(order=25)
    sim = rv.Simulation(model.net, threads=1, progress=False, tuning=rv.Tuning(trace=10_000))
    sim.run(50.0)
    trace = sim.trace()
    found = share_of_work(trace)
    updates = trace.kind == "update"
    assert found.work * 500 == pytest.approx(1e-9 * float((trace.end - trace.begin)[updates].sum()))
    assert found.events * 500 == float(trace.events[updates].sum())
    assert min(found.read, found.deliver, found.update, found.other) >= 0.0
    assert found.residuals.mean() == pytest.approx(0.0, abs=1e-12)


def test_runs_and_predictions_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "threads.json"
    arguments = ["--network=brunel", "--threads=1,2", "--predict=2,5", "--repetitions=1", f"--json={path}"]
    assert threads.main(parse(*arguments, "--set", "order=25", "time=20", "presim=5")) == 0
    whole = json.loads(path.read_text())
    assert whole["complete"]
    assert [result["threads"] for result in whole["results"]] == [1, 2]
    assert len({result["spike_digest"] for result in whole["results"]}) == 1
    for result in whole["results"]:
        assert sum(result["parts_of_step_s"].values()) == pytest.approx(result["step_s"])
    assert [found["threads"] for found in whole["predictions"]] == [2, 5]
    assert whole["predictions"][0]["measured_over_predicted"] > 0.0
    assert whole["predictions"][1]["measured_over_predicted"] is None
    assert "Predicted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argument", "named"),
    [
        ("--threads=0", "--threads"),
        ("--threads=two", "--threads"),
        ("--predict=5000", "--predict"),
        ("--journeys=200,100", "--journeys"),
        ("--journeys=100", "--journeys"),
        ("--socket=0", "--socket"),
        ("--repetitions=0", "--repetitions"),
    ],
)
def test_wrong_arguments(argument: str, named: str) -> None:
    with pytest.raises(ValueOutOfBoundsError, match=named):
        threads.main(parse(argument))
