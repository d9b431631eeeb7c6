"""What notebooks show: tables and pictures of handles and data, progress, and each figure once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import ranvier as rv
from ranvier.figures.style import Figure
from ranvier.simulation.progress import ProgressReporter


@pytest.fixture(scope="module")
def net() -> rv.Network:
    network = rv.Network(seed=1, name="a <network> & more")
    exc = network.create(rv.iaf_psc_exp(I_e=rv.Uniform(300.0, 900.0)), 40, name="exc <b>")
    inh = network.create(rv.iaf_psc_delta(), 10, name="inh")
    network.connect(exc, inh, rv.FixedIndegree(5), weight=0.1, delay=1.0, synapse=rv.stdp_pl())
    network.stimulate(inh, rv.poisson_generator(rate=100.0), weight=0.5)
    network.record_spikes()
    network.record_state(exc[:7], ["V_m", "I_syn_ex"])
    network.record_weights(network.projections[0], 5.0)
    return network


@pytest.fixture(scope="module")
def sim(net: rv.Network) -> rv.Simulation:
    simulation = rv.Simulation(net, threads=1)
    simulation.run(700.0)
    return simulation


def shown(thing: Any) -> ElementTree.Element:
    """Return what a notebook shows of something, parsed: so nothing is left open or unescaped."""
    return ElementTree.fromstring(f"<div>{thing._repr_html_().replace('<details open>', '<details>')}</div>")


def text_of(element: ElementTree.Element) -> str:
    return " ".join(element.itertext())


def rows_of(element: ElementTree.Element) -> dict[str, str]:
    rows = [[cell.text or "" for cell in row] for row in element.iter("tr")]
    return {row[0]: row[1] for row in rows}


def picture_of(element: ElementTree.Element) -> ElementTree.Element | None:
    return element.find("{http://www.w3.org/2000/svg}svg")


def test_handles(net: rv.Network) -> None:
    exc = rows_of(shown(net.populations[0]))
    assert (exc["neurons"], exc["ids"], exc["model"]) == ("40", "0 to 39", "iaf_psc_exp")
    assert exc["set"].startswith("I_e=Uniform(")
    assert "exc <b>[0:79:2]" not in text_of(shown(net.populations[0][::2]))
    assert rows_of(shown(net.populations[0][[3, 9]] + net.populations[1]))["neurons"] == "12"
    assert rows_of(shown(net.populations[0][[]]))["neurons"] == "0"
    projection = rows_of(shown(net.projections[0]))
    assert (projection["from"], projection["to"], projection["synapses"]) == ("exc <b>", "inh", "50")
    assert "stdp_pl" in projection["model"]
    assert rows_of(shown(net.stimuli[0]))["set"] == "rate=100"
    assert "a <network> & more" in text_of(shown(net))


def test_simulation(sim: rv.Simulation) -> None:
    rows = rows_of(shown(sim))
    assert (rows["time"], rows["neurons"], rows["synapses"]) == ("700 ms", "50", "50")
    assert rows["spikes"] == f"{sim.counts().spikes:,}"


def test_spikes(sim: rv.Simulation) -> None:
    data = sim.spikes(sim.network.recorders[0])  # type: ignore[arg-type]
    element = shown(data)
    rows = rows_of(element)
    assert rows["spikes"] == f"{len(data):,}"
    assert rows["window"] == "0 to 700 ms"
    picture = picture_of(element)
    assert picture is not None
    dots = [path.get("d", "").count("M") for path in picture.findall("{*}path")[1:]]
    late = data.between(200.0)
    assert dots == [len(late.of("exc <b>")), len(late.of("inh"))]
    assert text_of(picture).split()[-3:] == ["200", "700", "ms"]
    empty = rv.SpikeData(data.steps[:0], data.ids[:0], 0.1, 0, 0, data.segments)
    assert picture_of(shown(empty)) is None


def test_many_spikes_are_thinned_by_neuron() -> None:
    steps = np.repeat(np.arange(1, 1001), 100)
    ids = np.tile(np.arange(100), 1000)
    picture = picture_of(shown(rv.SpikeData(steps, ids, 0.1, 0, 1000, (rv.Segment("all", 0, 100),))))
    assert picture is not None
    assert "one neuron in 25 is shown" in text_of(picture)
    assert picture.findall("{*}path")[1].get("d", "").count("M") == 4 * 1000


def test_state_and_weights(sim: rv.Simulation) -> None:
    state = sim.state(sim.network.recorders[1])  # type: ignore[arg-type]
    picture = picture_of(shown(state))
    assert picture is not None
    assert len(picture.findall("{*}polyline")) == 5
    assert f"{state['V_m'][:, :5].max():.4g} mV" in text_of(picture)
    weights = sim.weights(sim.network.recorders[2])  # type: ignore[arg-type]
    picture = picture_of(shown(weights))
    assert picture is not None
    assert len(picture.findall("{*}polyline")) == 1
    nothing = rv.StateData(state.steps[:0], state.ids, state.variables, state.values[:0], 0.1, "exc")
    assert rows_of(shown(nothing))["samples"] == "0"


# ---- a notebook that is played -------------------------------------------------------------------------------------


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """Let there be a notebook; return what it displays, and what it updates."""
    seen: list[tuple[str, dict[str, Any]]] = []

    def display(content: dict[str, Any], raw: bool = False, display_id: bool = False) -> Any:
        assert raw
        seen.append(("display", content))
        return SimpleNamespace(update=lambda content, raw: seen.append(("update", content))) if display_id else None

    ipython, module = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=None)  # type: ignore[attr-defined]
    ipython.version_info = (9, 0)  # type: ignore[attr-defined]
    ipython.display = module  # type: ignore[attr-defined]
    module.display = display  # type: ignore[attr-defined]
    monkeypatch.setattr(plt, "install_repl_displayhook", lambda: None)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    yield seen
    plt.close("all")


def test_progress_in_a_notebook(displayed: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ranvier.simulation.progress._SHORTEST_S", 0.0)
    with ProgressReporter(None, "run", "Simulating <100> ms", 100.0) as reporter:
        assert not reporter.silent
        reporter.update(0.0)
        reporter.update(25.0)
    (first, begun), (second, later), (third, ended) = displayed
    assert (first, second, third) == ("display", "update", "update")
    assert '<progress value="25" max="100"' in later["text/html"]
    assert "25 of 100 ms" in later["text/html"]
    assert "Simulating &lt;100&gt; ms" in begun["text/html"]
    assert ended["text/html"] == ""
    displayed.clear()
    with ProgressReporter(False, "run", "Simulating", 100.0) as reporter:
        assert reporter.silent
    with ProgressReporter(None, "build", "Building") as reporter:
        reporter.update(0.0)
    assert "<progress" not in displayed[0][1]["text/html"]


def test_short_work_shows_no_progress_in_a_notebook(displayed: list[tuple[str, dict[str, Any]]]) -> None:
    with ProgressReporter(None, "run", "Simulating", 100.0) as reporter:
        reporter.update(50.0)
    assert displayed == []


@pytest.mark.parametrize("inline", [True, False])
def test_a_notebook_shows_each_figure_once(
    displayed: list[tuple[str, dict[str, Any]]], inline: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = np.arange(1, 101)
    data = rv.SpikeData(steps, steps % 7, 0.1, 0, 100, (rv.Segment("exc", 0, 7),))
    if inline:
        monkeypatch.setattr(mpl, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    figure = rv.plot.rates(data)
    assert isinstance(figure, Figure)
    # Those that are left at the end of the cell are shown then.
    assert len(plt.get_fignums()) == inline
    figure._ipython_display_()
    assert plt.get_fignums() == []
    ((_, content),) = displayed
    assert content["image/png"].startswith(b"\x89PNG")
    figure._ipython_display_()
    assert len(displayed) == 2
