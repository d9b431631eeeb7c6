"""The pages of networks have a command, a figure, and rates that are those of the measurement."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ranvier.commands.keys import shipped_networks
from repository import ROOT

PAGES = {path.stem: path for path in (ROOT / "docs/networks").glob("*.md") if path.stem != "index"}


def measured(name: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads((ROOT / f"docs/measurements/{name}.json").read_text())
    return whole


def test_the_index_has_all_networks() -> None:
    listed = re.findall(r"^\| \[`(\w+)`\]\(([\w/.]+)\)", (ROOT / "docs/networks/index.md").read_text(), re.MULTILINE)
    assert [name for name, _ in listed] == list(shipped_networks())
    for name, link in listed:
        assert link == (f"{name}.md" if name in PAGES else f"../reference/generated/networks/{name}.md")


@pytest.mark.parametrize("name", PAGES)
def test_page(name: str) -> None:
    text = PAGES[name].read_text()
    assert text.startswith(f"# {name}: ")
    figures = re.findall(r"!\[[^\]]+\]\((\w+)\.png\)", text)
    drawn = re.findall(rf"^ranvier run {name} (?:.* )?--plot (\w+)\.png$", text, re.MULTILINE)
    assert figures == drawn
    assert figures
    for figure in figures:
        assert (PAGES[name].parent / f"{figure}.png").exists()


@pytest.mark.parametrize("name", PAGES)
def test_rates(name: str) -> None:
    """Each row of a table of rates names its file in the line above the table."""
    text = PAGES[name].read_text()
    tables = re.findall(r"^\| `(\w+)\.json` \| spikes/s \|\n\|---\|---\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert tables
    for file, rows in tables:
        assert measured(file)["command"].startswith(f"ranvier run {name}")
        rates = {
            population: float(rate) for population, rate in re.findall(r"^\| ([\w ]+) \| ([\d.]+) \|$", rows, re.M)
        }
        found = measured(file)["mean_rate_hz"]
        assert rates == {population: pytest.approx(found[population], abs=0.0051) for population in found}
