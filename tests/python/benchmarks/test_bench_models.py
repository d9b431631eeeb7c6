"""The benchmark of models of neurons measures what it says."""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ranvier import models as all_models
from ranvier.equations.neurons import NAMES
from ranvier.errors import RanvierError, StateError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks import models
from ranvier_benchmarks._model_loads import Load, current_for, events_of
from ranvier_benchmarks._model_tables import show
from ranvier_benchmarks._settings import Chosen

NEURONS = sorted([*NAMES, *(name for name in all_models.NEURON_MODELS if name != "parrot_neuron")])
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
    # To compile them takes longer.
    chosen = Chosen({}, {"threads": 1, "programs": "interpreted"}, time=60.0, presim=0.0)
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
@pytest.mark.thorough
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
    ratio = ours["nest"]["ns_per_neuron_and_step"] / ours["ns_per_neuron_and_step"]
    assert ours["nest"]["ratio"] == pytest.approx(ratio)
    assert alone["nest"] is None


# In place of a Python that has Brian2: it answers what is asked of one, and reports what the script would.
STAND_IN = """#!{python}
import json, sys
if "-c" not in sys.argv:
    given = dict(text[2:].split("=", 1) for text in sys.argv if text.startswith("--") and "=" in text)
    work = json.loads(given["work"])
    with open({log!r}, "a") as log:
        log.write(json.dumps({{"folder": given["folder"], **work}}) + "\\n")
    report = {{"ns_per_neuron_and_step": 1234.5, "ns_per_event": 2345.6, "spikes": 1e6, "program": "Brian2"}}
    json.dump(report, open(sys.argv[sys.argv.index("--json") + 1], "w"))
"""


def stand_in(folder: Path) -> tuple[str, Path]:
    """Return the option that names it, and the file in which it writes down what it gets."""
    path, log = folder / "python", folder / "log"
    path.write_text(STAND_IN.format(python=sys.executable, log=str(log)))
    path.chmod(0o755)
    return f"--brian2-python={path}", log


def test_brian2_gets_what_ranvier_gets(tmp_path: Path) -> None:
    option, log = stand_in(tmp_path)
    models_of_both = "--models=iaf_psc_exp,ignore_and_fire"
    given = [models_of_both, "--against=brian2", option, "--repetitions=2", "--set", *SMALL, "rate=40", "seed=3"]
    ours, alone = results_of(tmp_path / "results.json", *given)
    first, second = (json.loads(line) for line in log.read_text().splitlines())
    # What is compiled in the first turn is there in the second.
    assert first == second
    expected = {
        "current": ours["current_pA"], "spread": 0.05, "neurons": 200, "indegree": 10, "source_rate": 20.0,
        "delay": 1.0, "resolution": 0.1, "seed": 3, "time": 50.0, "presim": 50.0, "threads": 2,
    }  # fmt: skip
    assert {key: first[key] for key in expected} == expected
    model = first["model"]
    assert model["name"] == "iaf_psc_exp"
    assert model["parameters"]["tau_m"] == [10.0, "ms"]
    assert next(iter(model["receptors"])) == "excitatory"
    assert model["weight_unit"] == "pA"
    assert alone["brian2"] is None
    assert ours["brian2"]["method"] == "exact"
    assert ours["brian2"]["ns_per_event"] == 2345.6
    assert ours["brian2"]["ratio"] == pytest.approx(
        statistics.median(1234.5 / run["ns_per_neuron_and_step"] for run in ours["runs"])
    )


def measured(model: str, peer: dict[str, Any] | None, other: dict[str, Any] | None) -> dict[str, Any]:
    own = {"ns_per_neuron_and_step": 1234.5, "ns_per_event": 23456.7, "spikes": 1000.0}
    return {"model": model, **own, "nest": peer, "brian2": other}


@pytest.mark.parametrize(
    ("peers", "steps", "events"),
    [
        (["nest"], "1,234 34,568 12.3", "23,457 2.35"),
        (["brian2"], "1,234 34,568 12.3 exp. Euler", "23,457 2.35"),
        (["nest", "brian2"], "1,234 34,568 12.3 34,568 12.3 exp. Euler", "23,457 2.35 2.35"),
    ],
)
def test_tables_of_several_programs(peers: list[str], steps: str, events: str) -> None:
    """Numbers are as wide as they can be on a slow machine, and the name of the model is the longest."""
    theirs = {"ns_per_neuron_and_step": 34567.8, "ns_per_event": 2.3456, "spikes": 1200.0, "ratio": 12.345}
    brian2 = {**theirs, "spikes": 1100.0, "method": "exponential_euler"}
    longest = max(NEURONS, key=len)
    results = [measured(longest, theirs, brian2), measured("interval_fire", None, None)]
    chosen = Chosen({"neurons": 10_000, "rate": 10.0, "indegree": 100}, {"threads": 2}, time=100.0, presim=300.0)
    console = Console(width=80, force_terminal=False)
    with console.capture() as capture:
        show(console, results, peers, chosen, 3)
    lines = capture.get().splitlines()
    # The heading may be longer: terminals break its line where they like.
    assert max(len(line.rstrip()) for line in lines[3:]) <= 80
    rows = [" ".join(line.split()) for line in lines]
    assert f"{longest} {steps}" in rows
    assert f"{longest} {events}" in rows
    assert f"interval_fire 1,234 {' '.join('-' * (len(steps.replace('exp. ', '').split()) - 1))}" in rows
    # 1,100 spikes are not more than 10 percent and 30 away from 1,000; 1,200 are.
    assert (f"{longest} fired 1,000 spikes, in NEST 1,200" in rows) == ("nest" in peers)
    assert not any("in Brian2" in row for row in rows)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (["--models=iaf_psc_ex"], UnknownNameError, "iaf_psc_exp"),
        (["--models="], UnknownNameError, "--models"),
        (["--repetitions=0"], ValueOutOfBoundsError, "--repetitions"),
        (["--against=nets"], UnknownNameError, "nest"),
        (["--against=brian2", "--brian2-python=/no/such/python"], StateError, "/no/such/python"),
        (["--against=nest", f"--brian2-python={sys.executable}"], ValueOutOfBoundsError, "add --against brian2"),
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
