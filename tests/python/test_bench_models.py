"""The benchmark of models of neurons measures what it says."""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from ranvier import models as all_models
from ranvier.bench import models
from ranvier.bench._model_loads import Load, current_for, events_of
from ranvier.bench._settings import Chosen
from ranvier.equations.definitions import DEFINITIONS
from ranvier.errors import RanvierError, UnknownNameError, ValueOutOfBoundsError

NEURONS = sorted([*DEFINITIONS, *(name for name in all_models.NEURON_MODELS if name != "parrot_neuron")])
SMALL = ["neurons=200", "time=50", "presim=50", "indegree=10", "threads=2"]
requires_nest = pytest.mark.skipif(importlib.util.find_spec("nest") is None, reason="NEST is not installed")


def bench(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    models.add_arguments(parser)
    return models.main(parser.parse_args(arguments))


def results_of(path: Path, *arguments: str) -> list[dict[str, Any]]:
    assert bench(*arguments, "--json", str(path)) == 0
    whole: dict[str, Any] = json.loads(path.read_text())
    assert whole["complete"]
    results: list[dict[str, Any]] = whole["results"]
    return results


def test_models_in_turn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    names = ["iaf_psc_exp", "interval_fire"]
    results = results_of(
        tmp_path / "results.json", "--models", ",".join(names), "--repetitions=2", "--set", *SMALL, "rate=40"
    )
    printed = capfd.readouterr().out
    assert all(name in printed for name in names)
    assert [result["model"] for result in results] == names
    assert results[0]["current_pA"] > 250.0
    assert results[1]["current_pA"] is None
    for result in results:
        assert len(result["runs"]) == 2
        for run in result["runs"]:
            # Two threads, and 50 ms of 200 neurons in steps of 0.1 ms.
            assert run["ns_per_neuron_and_step"] == pytest.approx(1e9 * run["simulation_s"] * 2 / (200 * 500))
            # 10 synapses of 200 neurons at 20 spikes/s for 50 ms; the intervals of sources are drawn.
            assert run["events"] == pytest.approx(2000, rel=0.35)
            assert run["ns_per_event"] > 0.0
    # Five percent of the current is more than ten percent of the rate.
    assert results[0]["spikes"] == pytest.approx(200 * 40 * 0.05, rel=0.4)


@pytest.mark.parametrize("model", NEURONS)
def test_each_model_gets_events(model: str) -> None:
    """Models of several receptors need the name of one; others refuse it, or the sign of a weight chooses."""
    load = Load(model, None, neurons=20, rate=10.0, indegree=5, resolution=0.1, seed=1)
    chosen = Chosen({}, {"threads": 1}, time=60.0, presim=0.0)
    assert events_of(load, chosen)["events"] > 0


def test_without_events(tmp_path: Path) -> None:
    small = [text for text in SMALL if not text.startswith("indegree")]
    (result,) = results_of(
        tmp_path / "results.json", "--models=iaf_psc_delta", "--repetitions=1", "--set", *small, "indegree=0"
    )
    assert "ns_per_event" not in result


def test_the_current_makes_them_fire_as_asked() -> None:
    current = current_for("iaf_psc_delta", 25.0, 0.1)
    assert current is not None
    # From the closed form, I = C_m (V_th - E_L) / (tau_m (1 - exp(-T / tau_m))) with T the interval less t_ref, for
    # rates within 10 percent: 380.5 and 387.4; a rate is counted to 1 spike/s.
    assert 379.0 < current < 389.0
    assert current_for("interval_fire", 25.0, 0.1) is None
    with pytest.raises(ValueOutOfBoundsError, match="key rate"):
        current_for("iaf_psc_delta", 1e6, 0.1)


@requires_nest
def test_against_nest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    results = results_of(
        tmp_path / "results.json",
        "--models=iaf_psc_exp,interval_fire",
        "--against=nest",
        "--repetitions=1",
        "--set",
        *SMALL,
        "rate=40",
    )
    assert "NEST" in capfd.readouterr().out
    ours, alone = results
    assert ours["nest"]["spikes"] == pytest.approx(ours["spikes"], rel=0.1)
    assert ours["ratio"] == pytest.approx(ours["nest"]["ns_per_neuron_and_step"] / ours["ns_per_neuron_and_step"])
    assert "nest" not in alone


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (["--models=iaf_psc_ex"], UnknownNameError, "iaf_psc_exp"),
        (["--models="], UnknownNameError, "--models"),
        (["--repetitions=0"], ValueOutOfBoundsError, "--repetitions"),
        (["--set", "neurons=0"], ValueOutOfBoundsError, "neurons"),
        (["--set", "indegree=-1"], ValueOutOfBoundsError, "indegree"),
        (["--set", "rate=nan"], RanvierError, "rate"),
        (["--set", "rate=0"], ValueOutOfBoundsError, "rate"),
        (["--set", "resolution=0.3"], ValueOutOfBoundsError, "must divide 1 ms"),
        (["--set", "resolution=0"], ValueOutOfBoundsError, "resolution"),
        (["--set", "resolution=nan"], RanvierError, "resolution"),
        (["--set", "time=0"], ValueOutOfBoundsError, "time"),
        (["--json", "missing/results.json"], RanvierError, "missing"),
    ],
)
def test_bad_arguments(arguments: list[str], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        bench(*arguments)
