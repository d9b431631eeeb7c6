"""Numbers in the documentation are those of measurements in docs/measurements, which are what their commands give."""

from __future__ import annotations

import argparse
import copy
import json
import math
import re
import shlex
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ranvier.command_line import make_parser
from ranvier_benchmarks import (
    coba,
    contention,
    cuba,
    equations,
    exchange_simulation,
    fmm,
    hpc_benchmark,
    kernels,
    many_ranks,
    mesocircuit,
    microcircuit,
    models,
    placement,
    plasticity,
    predictions,
    ring,
    stepping,
    threads,
)
from ranvier_benchmarks.papers._command import known_papers
from repository import ROOT
from trimmed_results import TOOL, load_tool

FOLDER = ROOT / "docs/measurements"


def load(name: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads((FOLDER / name).read_text())
    return whole


TRIM = load_tool()
# By file: its command, without the program.
COMMANDS = {path.name: load(path.name)["command"].removeprefix("ranvier ") for path in FOLDER.glob("*.json")}


def in_words(number: float) -> str:
    """Return a number as tables of the documentation write it: two digits, or three where the first is a 1."""
    digits = 3 if f"{number:e}".startswith("1") and number >= 100 else 2
    return f"{float(f'{number:.{digits}g}'):g}"


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, one in value.items() for text in [key, *texts(one)]]
    if isinstance(value, list):
        return [text for one in value for text in texts(one)]
    return [value] if isinstance(value, str) else []


def test_the_list_of_files_names_each_once() -> None:
    table = [line for line in (FOLDER / "README.md").read_text().splitlines() if line.startswith("| ")]
    listed = [name for line in table for name in re.findall(r"`(\w+\.json)`", line)]
    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_files_hold_only_what_is_stored_of_a_result(name: str) -> None:
    whole = load(name)
    assert (FOLDER / name).read_text() == TRIM.stored_text(TRIM.trim(whole, whole["command"])) + "\n"


def collected(names: list[str]) -> set[str]:
    """Return the paths of all fields of files."""
    found: set[str] = set()

    def collect(value: Any, path: str) -> None:
        found.add(path)
        if isinstance(value, dict):
            for key, each in value.items():
                collect(each, f"{path}.{key}" if path else key)
        elif isinstance(value, list):
            for each in value:
                collect(each, path)

    for name in names:
        collect(load(name), "")
    return found


@pytest.mark.parametrize("benchmark", sorted(TRIM.FIELDS))
def test_each_stored_field_is_in_a_file(benchmark: str) -> None:
    """A field that no file has is misspelt, or nothing quotes it any more."""
    found = collected([name for name in COMMANDS if load(name).get("benchmark", "run") == benchmark])
    assert set(TRIM.FIELDS[benchmark]) - found == set()


@pytest.mark.parametrize("name", [name for name in sorted(COMMANDS) if COMMANDS[name].startswith("paper ")])
def test_each_field_of_a_paper_is_in_its_file(name: str) -> None:
    fields = TRIM.fields_of(load(name))
    assert fields is not None
    assert set(fields) - collected([name]) == set()


def test_fields_of_papers_are_those_of_results() -> None:
    papers = {paper.name: paper for paper in known_papers()}
    assert set(TRIM.FIELDS_OF_PAPERS) <= set(papers)
    for paper, results in TRIM.FIELDS_OF_PAPERS.items():
        assert set(results) <= {result.name for result in papers[paper].results}


def test_a_new_result_is_trimmed(tmp_path: Path) -> None:
    command = "ranvier bench contention --networks brunel"
    stored: dict[str, Any] = {
        "benchmark": "contention",
        "machine": {"processor": "made up"},
        "complete": True,
        "results": [{"network": "brunel", "busy_programs": 1, "one_thread": [1.5], "several_threads": [0.5] * 99}],
    }
    whole = copy.deepcopy(stored)
    whole["machine"]["system"] = "/etc/os"
    whole["results"][0]["delayed_s"] = [0.1]
    (tmp_path / "results.json").write_text(json.dumps(whole))

    def trim(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([TOOL, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60)

    assert trim("results.json", "stored.json", command).returncode == 0
    assert json.loads((tmp_path / "stored.json").read_text()) == {"command": command, **stored}
    (tmp_path / "results.json").write_text(json.dumps({**whole, "complete": False}))
    assert "was interrupted" in trim("results.json", "other.json", command).stderr
    (tmp_path / "results.json").write_text(json.dumps({**whole, "benchmark": "unknown"}))
    assert "no entry for the benchmark unknown" in trim("results.json", "other.json", command).stderr
    of_paper = {"benchmark": "paper", "paper": "jordan2018", "kind": "figure", "number": "1"}
    (tmp_path / "results.json").write_text(json.dumps({**of_paper, "complete": True, "processes": [1], "secret": 1}))
    assert trim("results.json", "paper.json", "ranvier paper jordan2018 --figure 1").returncode == 0
    trimmed = json.loads((tmp_path / "paper.json").read_text())
    assert trimmed == {
        "command": "ranvier paper jordan2018 --figure 1",
        "complete": True,
        **of_paper,
        "processes": [1],
    }
    (tmp_path / "results.json").write_text(json.dumps({**of_paper, "complete": True, "number": "3"}))
    assert "no entry for figure 3 of jordan2018" in trim("results.json", "other.json", command).stderr
    assert not (tmp_path / "other.json").exists()


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_files_name_no_place_of_the_machine(name: str) -> None:
    assert [text for text in texts(load(name)) if re.search(r"(^|[\s(:])/\w", text)] == []


BENCHMARKS = {
    "coba": coba,
    "cuba": cuba,
    "contention": contention,
    "equations": equations,
    "exchange_simulation": exchange_simulation,
    "fmm": fmm,
    "hpc_benchmark": hpc_benchmark,
    "kernels": kernels,
    "many_ranks": many_ranks,
    "mesocircuit": mesocircuit,
    "microcircuit": microcircuit,
    "models": models,
    "placement": placement,
    "plasticity": plasticity,
    "predictions": predictions,
    "ring": ring,
    "stepping": stepping,
    "threads": threads,
}


@pytest.mark.parametrize("name", [name for name, command in sorted(COMMANDS.items()) if command.startswith("bench ")])
def test_files_are_of_their_commands(name: str) -> None:
    words = shlex.split(COMMANDS[name])
    whole = load(name)
    assert words[:2] == ["bench", whole["benchmark"]]
    assert whole["complete"]
    parser = argparse.ArgumentParser()
    BENCHMARKS[whole["benchmark"]].add_arguments(parser)
    arguments = parser.parse_args(words[2:])
    given = {key: value for key, value in vars(arguments).items() if key != "settings"}
    for setting in getattr(arguments, "settings", ()):
        key, _, value = setting.partition("=")
        logical = {"true": True, "false": False}
        given[key] = logical.get(value, value) if re.fullmatch(r"[a-z]\w*", value) else float(value)
    options = whole["options"]
    if given.get("against_real"):
        # The other arguments are of simulations without real runs.
        given = {key: value for key, value in given.items() if key in options}
    for key, value in given.items():
        recorded = options.get(key)
        if isinstance(recorded, list) and isinstance(value, str):
            recorded = ",".join(map(str, recorded))
        if isinstance(value, bool | int | float | str):
            assert recorded == value, key


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_commands_are_understood(name: str) -> None:
    words = shlex.split(COMMANDS[name])
    assert load(name)["command"] == f"ranvier {COMMANDS[name]}"
    assert make_parser().parse_args([*words, "--json", "results.json"]).execute is not None


@pytest.mark.parametrize("name", [name for name in sorted(COMMANDS) if re.match("bench_c[ou]ba_", name)])
def test_table_of_cuba_and_coba(name: str) -> None:
    whole = load(name)
    best: dict[str, float] = {}
    for contestant in whole["contestants"]:
        program = contestant["name"].partition(",")[0]
        seconds = statistics.median(report["real_time_factor"] for report in contestant["reports"])
        best[program] = min(best.get(program, seconds), seconds)
    ours, nest, brian2 = (best[program] for program in ("Ranvier", "NEST", "Brian2"))
    times = " | ".join(f"{seconds:.3g} s" for seconds in (ours, nest, brian2))
    network = f"{whole['benchmark'].upper()} | {whole['options']['neurons']:,}"
    row = f"| {network} | {times} | {nest / ours:.2g} | {brian2 / ours:.2g} |"
    assert row in (ROOT / "docs/benchmarks.md").read_text()


def test_table_of_models() -> None:
    text = (ROOT / "docs/benchmarks.md").read_text()
    results = load("bench_models.json")["results"]
    for result in results:
        own, event = result["ns_per_neuron_and_step"], result["ns_per_event"]
        nest, ratio = "", ""
        if result.get("nest") is not None:
            pairs = zip(result["runs"], result["nest"]["runs"], strict=True)
            ratios = (their["ns_per_neuron_and_step"] / one["ns_per_neuron_and_step"] for one, their in pairs)
            nest, ratio = f"{result['nest']['ns_per_neuron_and_step']:.3g} ns", f"{statistics.median(ratios):.3g}"
        assert f"| `{result['model']}` | {own:.3g} ns | {nest} | {ratio} | {event:.2g} ns |" in text
    assert len(results) > 30


def test_table_of_models_with_brian2() -> None:
    text = (ROOT / "docs/benchmarks.md").read_text()
    words = {"exact": "exact", "exponential_euler": "exponential Euler", "euler": "Euler"}
    for result in load("bench_models_brian2.json")["results"]:
        programs = [result, result["nest"], result["brian2"]]
        times = " | ".join(f"{each['ns_per_neuron_and_step']:.3g} ns" for each in programs)
        ratios = []
        for peer in programs[1:]:
            pairs = zip(result["runs"], peer["runs"], strict=True)
            found = [theirs["ns_per_neuron_and_step"] / own["ns_per_neuron_and_step"] for own, theirs in pairs]
            ratios.append(f"{statistics.median(found):.3g}")
        method = words[result["brian2"]["method"]]
        assert f"| `{result['model']}` | {times} | {' | '.join(ratios)} | {method} |" in text


def test_table_of_equations() -> None:
    text = (ROOT / "docs/benchmarks.md").read_text()
    whole = load("bench_equations.json")
    for each in whole["steps"]:
        times = [each[f"{way}_ns"] for way in ("built_in", "compiled", "interpreted")]
        ratios = [each[f"{way}_ratio"] for way in ("compiled", "interpreted")]
        row = f"{times[0]:.3g} ns | {times[1]:.3g} ns | {ratios[0]:.2f} | {times[2]:.3g} ns | {ratios[1]:.1f}"
        assert f"| `{each['model']}` | {row} |" in text
    for each in whole["learning"]:
        times = [each[f"{way}_ns"] for way in ("built_in", "compiled", "interpreted")]
        ratios = [each[f"{way}_ratio"] for way in ("compiled", "interpreted")]
        row = f"{times[0]:.3g} ns | {times[1]:.3g} ns | {ratios[0]:.2f} | {times[2]:.3g} ns | {ratios[1]:.1f}"
        assert f"| `{each['model']}`, {each['precision']} | {row} |" in text
    linear, adaptive = (
        [each["ms"] for each in whole["compilation"] if each["adaptive"] == own] for own in (False, True)
    )
    assert f"LLVM takes {min(linear):.0f} to {max(linear):.0f} ms" in text
    assert f"and {min(adaptive):.0f} to {max(adaptive):.0f} ms where errors" in text


@pytest.mark.parametrize("name", [name for name in sorted(COMMANDS) if name.startswith("contention_")])
def test_table_of_contention(name: str) -> None:
    text = (ROOT / "docs/parallel.md").read_text()
    whole = load(name)
    several = "several_ranks" if "ranks" in name else "several_threads"
    assert whole["options"]["ranks" if "ranks" in name else "threads"] == 2
    for result in whole["results"]:
        one, two = (statistics.median(result[key]) for key in ("one_thread", several))
        ratio = statistics.median(b / a for a, b in zip(result["one_thread"], result[several], strict=True))
        row = f"| {result['network']} | {result['busy_programs']} | {one:.2f} | {two:.2f} | {ratio:.2f} |"
        assert row in text


def test_tables_of_predictions() -> None:
    text = (ROOT / "docs/prediction.md").read_text()
    said = {
        "one_thread": "**within a factor of {:.2f}** on one thread",
        "two_threads": "**{:.2f}** on two.",
        "learning": "**within a factor of {:.2f}** with synapses that learn",
    }
    for name, sentence in said.items():
        whole = load(f"predictions_{name}.json")
        results = whole["results"]
        rows: dict[str, dict[int, float]] = {}
        for result in results:
            ratio = statistics.median(
                predicted["simulation"] / measured["simulation"]
                for predicted, measured in zip(result["predicted"], result["measured"], strict=True)
            )
            assert ratio == result["simulation_ratio"]
            assert len(result["measured"]) == whole["options"]["repetitions"]
            if result["network"] == "played":
                row = f"{result['method']}, {'sorted' if result['sorted'] else 'unsorted'}"
                rows.setdefault(row, {})[result["ranks"]] = ratio
            else:
                assert f"{result['network']} {ratio:.2f}" in text
        ranks = sorted({count for row in rows.values() for count in row})
        for row, ratios in rows.items():
            cells = [f"{ratios[count]:.2f}" if count in ratios else "" for count in ranks]
            assert f"| {row} | {' | '.join(cells)} |" in text
        assert sentence.format(predictions.spread(results)) in text


def test_table_of_kernels() -> None:
    text = (ROOT / "docs/benchmarks.md").read_text()
    played = load("kernels.json")["dry"]
    of_kernel = {
        "4g": [run for run in played if run["method"] == "4g"],
        "5g, sorted": [run for run in played if run["method"] != "4g" and run["sorted"]],
        "5g, unsorted": [run for run in played if run["method"] != "4g" and not run["sorted"]],
    }
    for name, runs in of_kernel.items():
        own = {run["ranks"]: run for run in runs}
        assert len(own) == len(runs)
        cells = [name]
        for ranks in (32, 2048, 100_000):
            megabytes = sum(own[ranks]["memory_bytes"].values()) / 1e6
            cells += [f"{own[ranks]['simulation_s_per_s']:.2f}", f"{megabytes:.0f}"]
        assert f"| {' | '.join(cells)} |" in text
    few, many = ({run["ranks"]: run for run in of_kernel["5g, unsorted"]}[ranks] for ranks in (2048, 100_000))
    memory = sum(many["memory_bytes"].values()) / sum(few["memory_bytes"].values()) - 1.0
    time = many["simulation_s_per_s"] / few["simulation_s_per_s"] - 1.0
    assert f"the memory grows by {100.0 * memory:.1f} % and the time by {100.0 * time:.0f} %" in " ".join(text.split())


def test_table_of_nest() -> None:
    whole = load("microcircuit_nest.json")
    ours, theirs = (contestant["reports"] for contestant in whole["contestants"])
    assert {report["neurons"] for report in [*ours, *theirs]} == {77_169}

    def median(reports: list[dict[str, Any]], value: Any) -> float:
        return float(statistics.median(map(value, reports)))

    rows: list[tuple[str, str, Callable[[dict[str, Any]], float]]] = [
        ("build and init", "s", lambda report: report["build_s"] + report["init_s"]),
        ("simulation, per simulated second", "s", lambda report: report["real_time_factor"]),
        ("peak memory, per synapse", "bytes", lambda report: report["peak_rss_bytes"] / report["synapses"]),
    ]
    text = " ".join((ROOT / "docs/benchmarks.md").read_text().split())
    for name, unit, value in rows:
        ratio = statistics.median(value(b) / value(a) for a, b in zip(ours, theirs, strict=True))
        cells = [f"{in_words(median(reports, value))} {unit}" for reports in (ours, theirs)]
        assert f"| {name} | {cells[0]} | {cells[1]} | {in_words(ratio)} |" in text
    versions = [".".join(reports[0]["version"].split(".")[:2]) for reports in (ours, theirs)]
    assert f"| | Ranvier {versions[0]} | NEST {versions[1]} | ratio |" in text
    assert theirs[0]["threads"] == 4
    options = whole["options"]
    assert f"{options['time']:g} ms after {options['presim']:g} ms" in text


def test_table_of_threads() -> None:
    text = " ".join((ROOT / "docs/benchmarks.md").read_text().split())
    results = load("microcircuit_threads.json")["results"]
    assert [result["threads"] for result in results] == [16, 8, 4, 2, 1]
    assert len({result["spike_digest"] for result in results}) == 1
    one = results[-1]["real_time_factor"]
    for result in results:
        seconds = result["real_time_factor"]
        waiting = sum(result["parts_of_step_s"].values()) / result["step_s"]
        row = f"| {result['threads']} | {result['build_and_init_s']:.2g} s | {seconds:.2f} s | {one / seconds:.1f} |"
        assert f"{row} {100 * waiting:.0f} % |" in text
    ours, theirs = (each["reports"][0] for each in load("microcircuit_nest_16_threads.json")["contestants"])
    assert (ours["threads"], theirs["threads"]) == (16, 16)
    build = [report["build_s"] + report["init_s"] for report in (ours, theirs)]
    times = [report["real_time_factor"] for report in (ours, theirs)]
    assert f"build and init {build[0]:.2f} s against {build[1]:.0f} s" in text
    assert f"simulation {times[0]:.2f} s against {times[1]:.1f} s per simulated second" in text
    assert f"a ratio of {times[1] / times[0]:.0f}." in text


def test_figures_of_the_readme_are_those_of_the_benchmark_page() -> None:
    readme = (ROOT / "README.md").read_text()
    page = (ROOT / "docs/benchmarks.md").read_text()
    titles = {
        "cortical microcircuit, build and init": "build and init",
        "cortical microcircuit, per simulated second": "simulation, per simulated second",
        "cortical microcircuit, peak memory per synapse": "peak memory, per synapse",
        "`hpc_benchmark`, synapses that learn, per event and thread": "time per event and thread",
    }
    for title, there in titles.items():
        found = re.search(rf"^\| {there} \| ([^|]+) \| ([^|]+) \|", page, re.MULTILINE)
        assert found is not None
        assert f"| {title} | {found[1]} | NEST {found[2]} |" in readme
    found = re.search(r"^\| CUBA \| 40,000 \| ([^|]+) \| ([^|]+) \| ([^|]+) \|", page, re.MULTILINE)
    assert found is not None
    assert f"| CUBA, 40,000 neurons, per simulated second | {found[1]} | Brian2 {found[3]}, NEST {found[2]} |" in readme
    found = re.search(
        r"^\| Hodgkin-Huxley everywhere \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE
    )
    assert found is not None
    ours, neuron, coreneuron, arbor = found.groups()
    others = f"Arbor {arbor}, CoreNEURON {coreneuron}, NEURON {neuron}"
    assert f"| Hodgkin-Huxley cells, per compartment and step | {ours} | {others} |" in readme
    table = readme[readme.index("<!-- figures -->") : readme.index("<!-- end of figures -->")]
    assert table.count("\n| ") == 1 + len(titles) + 2


def test_table_of_nest_with_plastic_synapses() -> None:
    whole = load("hpc_benchmark_nest.json")
    text = (ROOT / "docs/benchmarks.md").read_text()
    ours, theirs = (contestant["reports"] for contestant in whole["contestants"])
    assert {report["threads"] for report in [*ours, *theirs]} == {2}
    assert f"({ours[0]['synapses'] / 1e6:.1f} million synapses)" in text
    rows: list[tuple[str, str, Callable[[dict[str, Any]], float]]] = [
        ("build and init", "s", lambda report: report["build_s"] + report["init_s"]),
        ("simulation, per simulated second", "s", lambda report: report["real_time_factor"]),
        ("time per event and thread", "ns", lambda report: 2e9 * report["sim_s"] / report["synaptic_events"]),
        ("peak memory, per synapse", "bytes", lambda report: report["peak_rss_bytes"] / report["synapses"]),
    ]
    for name, unit, value in rows:
        ratio = statistics.median(value(b) / value(a) for a, b in zip(ours, theirs, strict=True))
        cells = [f"{in_words(statistics.median(map(value, reports)))} {unit}" for reports in (ours, theirs)]
        assert f"| {name} | {cells[0]} | {cells[1]} | {in_words(ratio)} |" in text
    rate, other = (reports[0]["mean_rate_hz"]["excitatory"] for reports in (ours, theirs))
    assert f"their rates differ by {100 * (rate / other - 1):.0f} %" in text


def test_table_of_detailed_cells() -> None:
    text = (ROOT / "docs/benchmarks.md").read_text()
    for dendrites, name in (("hh", "Hodgkin-Huxley everywhere"), ("pas", "passive dendrites")):
        whole = load(f"ring_{dendrites}.json")
        programs = whole["programs"]
        assert [program["name"] for program in programs] == ["Ranvier", "NEURON", "CoreNEURON", "Arbor"]
        cells = " | ".join(f"{program['ns_per_compartment_step']:.1f} ns" for program in programs)
        assert f"| {name} | {cells} |" in text
        assert len({program["spikes"] for program in programs}) == 1
        assert whole["options"]["cells"] == 128


def test_tables_of_other_rings() -> None:
    text = (ROOT / "docs/benchmarks.md").read_text()
    for dendrites, name in (("hh", "Hodgkin-Huxley everywhere"), ("pas", "passive dendrites")):
        for file, digits in (("avx2", 1), ("shapes", 2)):
            whole = load(f"ring_{file}_{dendrites}.json" if file == "shapes" else f"ring_{dendrites}_{file}.json")
            cells = " | ".join(f"{program['ns_per_compartment_step']:.1f} ns" for program in whole["programs"])
            ratio = whole["contestants"][1]["ratios"]["simulation (s)"]["median"]
            assert f"| {name} | {cells} | {ratio:.{digits}f} |" in text
            assert whole["options"]["cells"] == 128
            set_used = {report["instruction_set"] for report in whole["contestants"][0]["reports"]}
            assert set_used == {"avx2" if file == "avx2" else "avx512"}


def test_threads_and_memory_of_rings() -> None:
    text = " ".join((ROOT / "docs/benchmarks.md").read_text().split())
    one, two = (program["seconds"] for program in load("ring_threads.json")["programs"])
    assert f"takes {one:.2f} s on one thread and {two:.2f} s on two, medians of five runs" in text
    small, large = (load(f"ring_memory_{cells}.json") for cells in (1024, 4096))
    growth = []
    for program in (0, 1):
        reports = [whole["contestants"][program]["reports"][0] for whole in (small, large)]
        compartments = reports[1]["compartments"] - reports[0]["compartments"]
        growth.append((reports[1]["peak_rss_bytes"] - reports[0]["peak_rss_bytes"]) / compartments)
    assert f"grows by {growth[0]:.0f} bytes per compartment in Ranvier and by {growth[1]:.0f} in Arbor" in text


def test_table_of_plastic_synapses() -> None:
    text = (ROOT / "docs/benchmarks.md").read_text()
    whole = load("plasticity.json")
    found = {(one["model"], one["row"], one["precision"]): one["ns_per_event"] for one in whole["results"]}
    for model, row in {key[:2] for key in found}:
        cells = [f"{found[model, row, precision]:.1f} ns" for precision in ("single", "double")]
        assert f"| `{model}` | {row:,} | {cells[0]} | {cells[1]} |" in text
    assert {f"{one['potentiations_per_event']:.1f}" for one in whole["results"]} == {"1.0"}


def test_predicted_stepping() -> None:
    text = (ROOT / "docs/design/stepping_measured.md").read_text()
    whole = load("stepping_predicted.json")
    assert all(result["same_spikes"] for result in whole["results"])
    found = {(one["cells"], one["ranks"], one["jitter"]): one for one in whole["predicted"]}
    rows = [line for line in text.splitlines() if line.count("|") == 7 and line.count("%") == 4]
    assert len(rows) == 12
    for row in rows:
        cells, ranks = (int(part.strip().replace(",", "")) for part in row.split("|")[1:3])
        even, uneven = found[cells, ranks, 0.0], found[cells, ranks, 0.2]
        waits = (f"{even[way]['wait']:.0%}, {uneven[way]['wait']:.0%}" for way in ("bsp", "async"))
        assert (
            row == f"| {cells:,} | {ranks} | {even['speed_up']:.2f} | {uneven['speed_up']:.2f} | {' | '.join(waits)} |"
        )
    costs = [one["ns_per_compartment_step"] for one in whole["predicted"]]
    assert f"({min(costs):.1f} to {max(costs):.1f} ns)" in text


def test_memory_of_the_microcircuit() -> None:
    report = load("microcircuit.json")
    assert report["neurons"] == 77_169
    assert f"takes {report['peak_rss_bytes'] / 1e9:.1f} GB of memory" in (ROOT / "README.md").read_text()


STEPPING = ("one_thread", "large", "two_threads", "ranks", "busy_rank")


@pytest.mark.parametrize("name", STEPPING)
def test_tables_of_stepping(name: str) -> None:
    text = (ROOT / "docs/design/stepping_measured.md").read_text()
    whole = load(f"stepping_{name}.json")
    for result in whole["results"]:
        assert result["same_spikes"]
        cells, ways = f"{result['cells']:,}", [result[key] for key in ("bsp", "async", "single") if key in result]
        gained = f"{result['speed_up']:.2f} ({min(result['ratios']):.2f} to {max(result['ratios']):.2f})"
        seconds = [f"{statistics.median(way['seconds']):.2f} s" for way in ways]
        if name == "ranks":
            bsp, own, single = ways
            messages = " | ".join(f"{way['messages']:,}" for way in (own, single, bsp))
            times = f"{seconds[1]} | {seconds[2]} | {seconds[0]}"
            assert f"| {cells} | {result['ranks']} | {times} | {messages} |" in text
            waits = f"{own['wait']:.0%} | {bsp['wait']:.0%}"
            assert f"| {cells} | {result['ranks']} | {gained} | {waits} |" in text
            continue
        where = f"{result['ranks' if name == 'busy_rank' else 'threads']} | {result['loops']}"
        assert f"| {cells} | {where} | {seconds[0]} | {seconds[1]} | {gained} |" in text
        if name in ("two_threads", "busy_rank") or not any(result["visits_by_steps"]):
            continue
        visits = [steps for steps, count in enumerate(result["visits_by_steps"]) for _ in range(count)]
        parts = [visits[math.ceil(part * len(visits)) - 1] for part in (0.1, 0.5, 0.9)]
        mean = f"{statistics.fmean(visits):.1f}"
        assert f"| {cells} | {result['shards']} | {mean} | {parts[0]} | {parts[1]} | {parts[2]} |" in text
    for one in whole["epochs"]:
        row = f"{one['ns_per_compartment_step']:.2f} ns | {one['speed_up']:.2f}"
        assert f"| {one['cells']:,} | {one['steps']} | {row} |" in text
