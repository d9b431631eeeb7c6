"""The benchmark of plastic synapses measures what it says."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from ranvier.errors import RanvierError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks import plasticity

SMALL = ["synapses=20000", "targets=100", "time=200", "presim=150"]


def bench(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    plasticity.add_arguments(parser)
    return plasticity.main(parser.parse_args(arguments))


@pytest.mark.thorough
def test_cases_in_turn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.json"
    models = "stdp:mu_plus=0,mu_minus=0 vogels_sprekeler stdp_dopamine:A_plus=0.1 clopath"
    assert bench("--models", models, "--rows=100,20", "--repetitions=2", "--json", str(path), "--set", *SMALL) == 0
    assert "potentiations" in capfd.readouterr().out
    whole: dict[str, Any] = json.loads(path.read_text())
    assert whole["complete"]
    assert [(result["model"], result["row"], result["precision"]) for result in whole["results"]] == [
        (model, row, precision) for model in models.split() for row in (100, 20) for precision in ("single", "double")
    ]
    for result in whole["results"]:
        assert len(result["runs"]) == 2
        for run in result["runs"]:
            # 20,000 synapses at 17.7 spikes/s on either side for 0.2 s: 70,800 events, and as many potentiations. 100
            # Poisson neurons have 354 spikes; five standard deviations are 27 %.
            assert run["events"] == pytest.approx(70_800, rel=0.2)
            assert run["potentiations_per_event"] == pytest.approx(1.0, abs=0.4)
            assert run["ns_per_event"] == pytest.approx(1e9 * run["deliver_s"] / run["events"])


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (["--rows=0"], ValueOutOfBoundsError, "--rows"),
        (["--rows=4,"], ValueOutOfBoundsError, "--rows"),
        (["--precisions=half"], UnknownNameError, "half"),
        (["--models=tsodyks"], UnknownNameError, "tsodyks"),
        (["--models="], ValueOutOfBoundsError, "--models"),
        (["--models=stdp:mu_plus"], ValueOutOfBoundsError, "name:key=number"),
        (["--models=stdp:mu=1"], UnknownNameError, "mu"),
        (["--repetitions=0"], ValueOutOfBoundsError, "--repetitions"),
        (["--rows=30000"], ValueOutOfBoundsError, "key synapses"),
        (["--set", "rate=nan"], RanvierError, "rate"),
        (["--set", "rate=0"], ValueOutOfBoundsError, "rate"),
        (["--set", "targets=0"], ValueOutOfBoundsError, "targets"),
        (["--set", "releasing=0"], ValueOutOfBoundsError, "releasing"),
        (["--set", "weight_precision=double"], ValueOutOfBoundsError, "--precisions"),
    ],
)
def test_what_cannot_be_measured(arguments: list[str], error: type[RanvierError], text: str) -> None:
    settings = [] if "--set" in arguments else ["--set"]
    with pytest.raises(error, match=text):
        bench(*arguments, *settings, *[setting for setting in SMALL if setting.partition("=")[0] not in str(arguments)])
