"""Numbers on the pages about papers are those of files, which are what their commands give."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from quoted_numbers import check_page, files_quoted_in
from ranvier_benchmarks.papers import _command
from repository import ROOT

PAGES = {path.stem: path for path in (ROOT / "docs/papers").glob("*.md") if path.stem != "index"}
FOLDER = ROOT / "docs/measurements"


def of_papers() -> dict[str, dict[str, Any]]:
    files = {path.name: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
    return {name: whole for name, whole in files.items() if whole.get("benchmark") == "paper"}


FILES = of_papers()


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    _command.add_arguments(parser)
    return parser.parse_args([*words])


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_names_a_command_for_each_result(name: str) -> None:
    papers = {paper.name: paper for paper in _command.known_papers()}
    if name not in papers:
        return
    text = PAGES[name].read_text()
    for result in papers[name].results:
        assert re.search(rf"ranvier paper {name} --{result.kind} {result.number}\b", text), result.name


# The README of the measurements explains the comments by examples.
QUOTING = sorted(
    path for path in (ROOT / "docs").rglob("*.md") if path.parent != FOLDER and files_quoted_in(path.read_text())
)


@pytest.mark.parametrize("path", QUOTING, ids=lambda path: path.stem)
def test_numbers_are_those_of_files(path: Path) -> None:
    check_page(path.read_text(), FOLDER)


def test_each_file_of_a_paper_is_quoted() -> None:
    quoted = {name for path in PAGES.values() for name in files_quoted_in(path.read_text())}
    assert set(FILES) - quoted == set()


@pytest.mark.parametrize("name", sorted(FILES))
def test_files_are_of_their_commands_and_can_be_shown(name: str, tmp_path: Path) -> None:
    whole = FILES[name]
    program, command, *words = shlex.split(whole["command"])
    assert (program, command) == ("ranvier", "paper")
    arguments = parsed(*words)
    assert arguments.paper == whole["paper"]
    assert getattr(arguments, whole["kind"]).lower() == whole["number"].lower()
    assert arguments.full == whole["options"]["full"]
    for setting in arguments.settings:
        key, _, value = setting.partition("=")
        assert str(whole["options"][key]).strip("[]()").replace("'", "") == value.strip("[]()").strip(",").replace(
            "'", ""
        )
    (paper,) = (paper for paper in _command.known_papers() if paper.name == whole["paper"])
    is_drawn = paper.find(whole["kind"], whole["number"]).draw is not None
    figure = ["--plot", str(tmp_path / "figure.svg")] if is_drawn else []
    _command.main(parsed(whole["paper"], f"--{whole['kind']}", whole["number"], "--from", str(FOLDER / name), *figure))


# ---- the check itself ------------------------------------------------------------------------------------------------

STORED = {
    "time": 0.25,
    "dry": [
        {"method": "4g", "ranks": 32, "sorted": True, "memory": {"a": 1.5e6, "b": 1e6}},
        {"method": "4g", "ranks": 2048, "sorted": True, "memory": {"a": 4e6, "b": 1e6}},
        {"method": "alltoall", "ranks": 32, "sorted": True, "memory": {"a": 1e6, "b": 0}},
    ],
}
PAGE = """# A paper

<!-- rows stored.json dry method=4g sorted=true
| {ranks:,} | {sum(memory) / 1e6:.1f} MB |
-->
| processes | memory |
|---|---|
| 32 | 2.5 MB |
| 2,048 | 5.0 MB |

<!-- text stored.json
takes {time:.2f} s, and twice as much as {one(dry, method="4g", ranks=2048).memory.a / 1e6:.0f} MB
-->
The run takes 0.25 s, and twice as
much as 4 MB.
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("| 32 | 2.5 MB |", "| 32 | 2.4 MB |"),
        ("| 2,048 | 5.0 MB |\n", ""),
        ("much as 4 MB", "much as 5 MB"),
        ("|---|---|\n", ""),
        ("method=4g sorted", "method=5g sorted"),
        ("ranks=2048)", "ranks=2049)"),
        ("| processes | memory |\n", "Text.\n"),
    ],
)
def test_a_wrong_number_is_found(right: str, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "stored.json").write_text(json.dumps(STORED))
    check_page(PAGE, tmp_path)
    assert right in PAGE
    with pytest.raises(AssertionError):
        check_page(PAGE.replace(right, wrong), tmp_path)
