"""The benchmarks of CUBA and COBA run all programs with each number of threads, and tell what is wrong."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ranvier.errors import RanvierError, StateError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks import coba, cuba

SMALL = ["neurons=400", "time=100", "presim=20"]

# In place of a Python that has Brian2: it answers what is asked of one, and reports what the script would.
STAND_IN = """#!{python}
import json, sys
if "-c" not in sys.argv:
    given = dict(text[2:].split("=", 1) for text in sys.argv if text.startswith("--") and "=" in text)
    report = {{
        "given": given, "neurons": int(given["neurons"]) + {more}, "synapses": 31920, "real_time_factor": 1000.0,
        "mean_rate_hz": {{"excitatory": 1.0, "inhibitory": 2.0}}, "peak_rss_bytes": 1e6,
    }}
    json.dump(report, open(sys.argv[sys.argv.index("--json") + 1], "w"))
"""


def bench(module: Any, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    result: int = module.main(parser.parse_args(arguments))
    return result


def stand_in(folder: Path, more: int = 0) -> str:
    path = folder / "python"
    path.write_text(STAND_IN.format(python=sys.executable, more=more))
    path.chmod(0o755)
    return f"--brian2-python={path}"


@pytest.mark.thorough
def test_against_nest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("nest")
    path = tmp_path / "results.json"
    arguments = ["--against=nest", "--threads=1", "--repetitions=1", "--json", str(path), "--set", *SMALL, "seed=3"]
    assert bench(coba, *arguments) == 0
    printed = capfd.readouterr().out
    assert "times as long in NEST as in Ranvier" in printed
    whole = json.loads(path.read_text())
    ours, theirs = (contestant["reports"][0] for contestant in whole["contestants"])
    assert (ours["neurons"], theirs["neurons"]) == (400, 400)
    # 80 of 399 possible sources of each neuron, five standard deviations.
    assert theirs["synapses"] == pytest.approx(400 * 399 * 0.2, abs=5 * (400 * 399 * 0.2 * 0.8) ** 0.5)
    # Both networks live; what one does in 100 ms is another's only roughly.
    for report in (ours, theirs):
        assert 5.0 < report["mean_rate_hz"]["excitatory"] < 60.0


@pytest.mark.thorough
def test_brian2_gets_what_the_others_get(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.json"
    given = ["--against=brian2", stand_in(tmp_path), "--threads=1,2", "--repetitions=1", "--json", str(path)]
    assert bench(cuba, *given, "--set", *SMALL, "seed=3", "resolution=0.05") == 0
    printed = capfd.readouterr().out
    assert "Brian2, threads=2" in printed
    whole = json.loads(path.read_text())
    assert [contestant["name"] for contestant in whole["contestants"]] == [
        "Ranvier, threads=1", "Ranvier, threads=2", "Brian2, threads=1", "Brian2, threads=2",
    ]  # fmt: skip
    expected = {
        "network": "cuba", "neurons": "400", "probability": "0.2", "delay": "0.05", "resolution": "0.05",
        "seed": "3", "time": "100.0", "presim": "20.0", "threads": "2",
    }  # fmt: skip
    assert whole["contestants"][3]["reports"][0]["given"] == expected
    assert whole["contestants"][0]["reports"][0]["parameters"]["resolution"] == 0.05


def test_networks_that_differ_are_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = ["--against=brian2", stand_in(tmp_path, more=1), "--threads=1", "--repetitions=1"]
    assert bench(cuba, *given, "--set", *SMALL) == 1
    assert "The networks were not the same" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (["--against=nets"], UnknownNameError, "nets"),
        (["--threads=0"], ValueOutOfBoundsError, "--threads"),
        (["--threads=1,two"], ValueOutOfBoundsError, "two"),
        (["--repetitions=0"], ValueOutOfBoundsError, "--repetitions"),
        (["--set", "threads=2"], ValueOutOfBoundsError, "give --threads"),
        (["--set", "neurons=4"], ValueOutOfBoundsError, "neurons"),
        (["--against=brian2", "--brian2-python=/no/such/python"], StateError, "/no/such/python"),
        (["--against=brian2", f"--brian2-python={sys.executable}", "--set", "J_ex=2"], ValueOutOfBoundsError, "J_ex"),
        ([f"--brian2-python={sys.executable}"], ValueOutOfBoundsError, "add --against brian2"),
        (["--against=brian2", "--set", "delay=1"], ValueOutOfBoundsError, "one step"),
        (["--json", "missing/results.json"], RanvierError, "missing"),
    ],
)
def test_bad_arguments(arguments: list[str], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        bench(cuba, *arguments)


def test_a_python_without_brian2(tmp_path: Path) -> None:
    path = tmp_path / "python"
    path.write_text(f"#!{sys.executable}\nraise ImportError('no brian2 here')\n")
    path.chmod(0o755)
    with pytest.raises(StateError, match="no brian2 here"):
        bench(cuba, "--against=brian2", f"--brian2-python={path}")
