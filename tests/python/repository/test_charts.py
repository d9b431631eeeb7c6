"""The charts of the site are drawn from the stored measurements, and show what the tables beside them say."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from repository import ROOT

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def charts() -> ModuleType:
    spec = importlib.util.spec_from_file_location("charts", DOCS / "_ext/charts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["charts"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("names", [["equations"], pytest.param(None, id="all", marks=pytest.mark.thorough)])
def test_each_chart_is_drawn_for_light_and_dark_pages(
    charts: ModuleType, names: list[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them here; `make docs` draws all, too."""
    if names is not None:
        monkeypatch.setattr(charts, "CHARTS", {name: charts.CHARTS[name] for name in names})
    charts.draw_charts(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}_{theme}.svg" for name in charts.CHARTS for theme in ("light", "dark")
    }
    for name in charts.CHARTS:
        light, dark = ((tmp_path / f"{name}_{theme}.svg").read_text() for theme in ("light", "dark"))
        assert charts.LIGHT.text.lower() in light.lower()
        assert charts.DARK.text.lower() in dark.lower()
        assert charts.LIGHT.text.lower() not in dark.lower()


def test_pages_show_each_chart(charts: ModuleType) -> None:
    pages = [DOCS / "index.md", DOCS / "benchmarks.md"]
    shown = {name for page in pages for name in re.findall(r"^```\{chart\} (\w+)$", page.read_text(), re.MULTILINE)}
    assert shown == set(charts.CHARTS)


def test_ratios_are_those_of_the_tables(charts: ModuleType) -> None:
    text = (DOCS / "benchmarks.md").read_text()
    first, second = re.findall(r"^\| simulation, per simulated second \| .* \| ([\d.]+) \|$", text, re.MULTILINE)
    drawn = {(network, program): f"{ratio:.2g}" for network, program, ratio in charts.time_ratios()}
    assert drawn.pop(("microcircuit", "NEST")) == first
    assert drawn.pop(("hpc_benchmark, learns", "NEST")) == second
    for network, neurons in (("CUBA", "40,000"), ("COBA", "4,000")):
        found = re.search(rf"^\| {network} \| {neurons} \| .* \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
        assert found is not None
        title = f"{network}, {neurons} neurons"
        assert (drawn.pop((title, "NEST")), drawn.pop((title, "Brian2"))) == found.groups()
    row = re.search(r"^\| Hodgkin-Huxley everywhere \| (.*) ns \|$", text, re.MULTILINE)
    assert row is not None
    ours, *others = (float(cell) for cell in row[1].split(" ns | "))
    for program, time in zip(("NEURON", "CoreNEURON", "Arbor"), others, strict=True):
        assert float(drawn.pop(("Hodgkin-Huxley cells", program))) == pytest.approx(time / ours, rel=0.05)
    assert not drawn
