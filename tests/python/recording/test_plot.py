"""Figures: they can be drawn of all that can be recorded, and show what was recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.image
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch

import ranvier as rv
from ranvier import errors, plot
from ranvier.figures import distributions, style
from ranvier.forecast.figure import memory_figure
from ranvier.recording.data import SpikeData
from ranvier.recording.neuron_ids import NeuronIds
from thorough_cases import only, quick_if

Recorded = tuple[rv.Network, rv.SpikeData, rv.StateData]


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    model = rv.networks.microcircuit(n_scaling=0.02, k_scaling=0.5)
    state = model.net.record_state(model.net["L4E"][:10], ["V_m", "I_syn_ex"])
    sim = rv.Simulation(model.net)
    sim.run(300.0)
    return model.net, sim.spikes(model.spikes), sim.state(state)


def texts(figure: plot.Figure) -> str:
    found = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    found += [axes.get_title(loc="left") for axes in figure.axes] + [axes.get_xlabel() for axes in figure.axes]
    return "\n".join(found)


def markers(figure: plot.Figure) -> int:
    return sum(len(np.asarray(collection.get_offsets())) for collection in figure.axes[0].collections)


@pytest.mark.parametrize("suffix", only(["png"], ["png", "pdf", "svg"]))
def test_raster(recorded: Recorded, suffix: str, tmp_path: Path) -> None:
    _, spikes, _ = recorded
    figure = rv.plot.raster(spikes, published_rates={"L4E": 4.4}, title="title")
    for part in ("L23E", "L6I", "rate", "irregularity", "time (ms)"):
        assert part in texts(figure)
    assert markers(figure) == len(spikes)
    assert figure.axes[0].get_xlim() == pytest.approx((0.0, 300.0), abs=3.0)
    path = tmp_path / f"raster.{suffix}"
    figure.savefig(path)
    assert path.stat().st_size > 10_000
    if suffix == "png":
        assert matplotlib.image.imread(path).std() > 0.05, "an empty figure"


def test_raster_of_a_window(recorded: Recorded) -> None:
    _, spikes, _ = recorded
    figure = rv.plot.raster(spikes, start=100.0, stop=150.0)
    assert figure.axes[0].get_xlim() == pytest.approx((100.0, 150.0), abs=0.5)
    assert markers(figure) == len(spikes.between(100.0, 150.0))
    with pytest.raises(errors.StateError):
        rv.plot.raster(spikes, start=300.0)


def test_markers_are_thinned_when_there_are_too_many() -> None:
    generator = np.random.default_rng(1)
    steps = np.sort(generator.integers(1, 5001, size=400_000))
    neurons = generator.integers(0, 2000, size=len(steps))
    spikes = SpikeData(steps, neurons, 0.1, 0, 5000, (rv.Segment("exc", 0, 1800), rv.Segment("inh", 1800, 200)))
    figure = rv.plot.raster(spikes)
    assert "spikes of every 7th neuron" in texts(figure)
    assert 40_000 < markers(figure) <= 62_000


def test_colours_tell_excitatory_from_inhibitory() -> None:
    def colours(*names: str) -> list[str]:
        return style.colours_of([rv.Segment(name, 10 * i, 10) for i, name in enumerate(names)])

    assert colours("L23E", "L23I") == colours("exc", "inh") == colours("excitatory", "inhibitory") == colours("E", "I")
    assert len(set(colours("L23E", "L23I"))) == 2
    assert len(set(colours("a", "b", "c", "d", "Granule"))) == 5


def test_distributions(recorded: Recorded) -> None:
    _, spikes, _ = recorded
    for figure in (rv.plot.rates(spikes, published_rates={"L5I": 8.6}), rv.plot.irregularity(spikes, title="title")):
        labels = texts(figure)
        assert all(name in labels for name in ("L23E", "L23I", "L4E", "L4I", "L5E", "L5I", "L6E", "L6I"))
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_density_is_that_of_the_sample() -> None:
    grid = np.linspace(0.0, 20.0, 400)
    density = distributions.density(np.random.default_rng(2).normal(10.0, 2.0, size=20_000), grid, 0.0)
    assert density.max() == 1.0
    assert grid[density.argmax()] == pytest.approx(10.0, abs=0.5)
    assert (density * grid).sum() / density.sum() == pytest.approx(10.0, abs=0.1)


def test_traces(recorded: Recorded) -> None:
    _, _, state = recorded
    figure = rv.plot.state(state, ids=state.ids[[0, 3]], threshold=-50.0, start=50.0, stop=60.0)
    assert len(figure.axes) == 2
    ((times, values),) = [line.get_data() for line in figure.axes[1].lines if np.size(line.get_data()[0]) > 2]
    assert (np.asarray(values) == state["V_m"][499:600, 3]).all()
    assert np.asarray(times)[[0, -1]] == pytest.approx([50.0, 60.0])
    assert len(rv.plot.state(state, "I_syn_ex").axes) == 8
    with pytest.raises(errors.UnknownNameError):
        rv.plot.state(state, "V")
    with pytest.raises(errors.StateError):
        rv.plot.state(state, start=1e6)


def test_axes_of_the_user(recorded: Recorded) -> None:
    _, spikes, state = recorded
    figure = plot.Figure()
    functions: list[Callable[[Any], object]] = [
        lambda ax: rv.plot.raster(spikes, ax=ax, title="mine"),
        lambda ax: rv.plot.rates(spikes, ax=ax, title="mine"),
        lambda ax: rv.plot.irregularity(spikes, ax=ax, title="mine"),
        lambda ax: rv.plot.state(state, ax=ax, title="mine"),
    ]
    for place, draw in enumerate(functions):
        axes = figure.add_subplot(2, 2, place + 1)
        assert draw(axes) is axes
        assert axes.get_title(loc="left") == "mine" or axes.get_title() == "mine"
        assert len(axes.collections) + len(axes.lines) > 0
        assert figure.axes == [*figure.axes[:place], axes]
        with pytest.raises(errors.WrongTypeError, match="axes of matplotlib"):
            draw(figure)
    with pytest.raises(errors.RuleError, match="published_rates"):
        rv.plot.raster(spikes, ax=figure.axes[0], published_rates={})  # type: ignore[call-overload]


def everything_drawn(axes: Axes) -> np.ndarray[Any, Any]:
    """Return the places of all markers and of the ends of lines, in units of the axes from 0 to 1."""
    points = [np.column_stack(line.get_data()) for line in axes.lines if line.get_transform() == axes.transData]
    points += [np.asarray(collection.get_offsets()) for collection in axes.collections]
    found = np.concatenate([point for point in points if point.size]).astype(float)
    places: np.ndarray[Any, Any] = axes.transAxes.inverted().transform(axes.transData.transform(found))
    return places


def test_nothing_is_cut_and_ticks_are_on_both_sides(recorded: Recorded) -> None:
    _, spikes, _ = recorded
    figures = [
        rv.plot.rates(spikes, published_rates={"L5I": 60.0}),
        rv.plot.irregularity(spikes),
        rv.plot.raster(spikes),
    ]
    for figure in figures:
        for axes in figure.axes[:3]:
            places = everything_drawn(axes)
            assert places.min() > 0.0
            assert places.max() < 1.0
    for figure in figures[:2]:
        (axes,) = figure.axes
        drawn = np.concatenate([np.asarray(line.get_xdata(), dtype=float) for line in axes.lines])
        farthest = drawn.max()
        low, high = axes.get_xlim()
        seen = [tick for tick in axes.get_xticks() if low <= tick <= high]
        assert seen[0] <= 0.0
        assert seen[-1] >= farthest


def test_few_and_equal_values_are_dots() -> None:
    # Ten neurons of one rate, five of different ones, and a hundred that scatter.
    counts = [4] * 10 + [1, 2, 3, 5, 8] + [1 + i % 13 for i in range(100)]
    pairs = sorted(
        (1 + 7 * spike + neuron % 5, neuron) for neuron, count in enumerate(counts) for spike in range(count)
    )
    steps, ids = np.array(pairs).T
    segments = (rv.Segment("equal", 0, 10), rv.Segment("few", 10, 5), rv.Segment("many", 15, 100))
    axes = rv.plot.rates(SpikeData(steps, ids, 1.0, 0, 1000, segments)).axes[0]
    dots = [np.asarray(line.get_xdata()).tolist() for line in axes.lines if line.get_marker() == "o"]
    assert dots[0] == [4.0] * 10
    assert dots[1] == [1.0, 2.0, 3.0, 5.0, 8.0]
    # Only the one that scatters has a density, and a circle at its mean.
    assert len(axes.collections) == 1
    assert len(dots[2]) == 1


@pytest.mark.parametrize(
    "segments",
    quick_if(
        lambda segments: len(segments) == 1,
        [
            pytest.param((), id="none"),
            pytest.param((rv.Segment("quiet", 0, 3),), id="silent"),
            pytest.param(tuple(rv.Segment(f"p{i}", i, 1) for i in range(30)), id="many"),
        ],
    ),
)
def test_networks_that_are_silent_or_of_many_populations(segments: tuple[rv.Segment, ...]) -> None:
    nothing = np.empty(0, dtype=np.int64)
    spikes = SpikeData(nothing, nothing, 0.1, 0, 100, segments)
    for figure in (rv.plot.raster(spikes), rv.plot.rates(spikes), rv.plot.irregularity(spikes)):
        assert figure._repr_png_().startswith(b"\x89PNG")


@pytest.mark.thorough
def test_one_spike_and_short_windows() -> None:
    one = np.array([1], dtype=np.int64)
    spikes = SpikeData(one, one * 0, 0.1, 0, 1, (rv.Segment("one", 0, 1),))
    for figure in (rv.plot.raster(spikes), rv.plot.rates(spikes), rv.plot.irregularity(spikes)):
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_nothing_recorded_yet() -> None:
    net = rv.Network()
    net.create("iaf_psc_exp", 1)
    recorder = net.record_spikes()
    spikes = rv.Simulation(net).spikes(recorder)
    for function in (rv.plot.raster, rv.plot.rates, rv.plot.irregularity):
        with pytest.raises(errors.StateError, match="run the simulation"):
            function(spikes)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"start": float("nan")}, errors.ValueOutOfBoundsError, "start of a plot"),
        ({"stop": "soon"}, errors.WrongTypeError, "stop of a plot"),
        ({"title": 3}, errors.WrongTypeError, "title of a figure"),
        ({"published_rates": [1.0]}, errors.WrongTypeError, "mapping"),
        ({"published_rates": {"L4E": float("nan")}}, errors.ValueOutOfBoundsError, "published rate of L4E"),
        ({"published_rates": {"L4E": "high"}}, errors.WrongTypeError, "published rate of L4E"),
    ],
)
def test_bad_arguments_of_a_raster(
    recorded: Recorded, arguments: dict[str, Any], error: type[errors.RanvierError], text: str
) -> None:
    with pytest.raises(error, match=text):
        rv.plot.raster(recorded[1], **arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"ids": [1]}, errors.ValueOutOfBoundsError, "was not recorded"),
        ({"ids": [-1]}, errors.ValueOutOfBoundsError, "was not recorded"),
        ({"ids": []}, errors.ShapeError, "1 to 256 ids"),
        ({"ids": [0] * 257}, errors.ShapeError, "a list of 257"),
        ({"ids": 3}, errors.ShapeError, "1 to 256 ids"),
        ({"ids": [[0], [1, 2]]}, errors.ShapeError, "1 to 256 ids"),
        ({"ids": [0.5]}, errors.WrongTypeError, "integers"),
        ({"threshold": float("nan")}, errors.ValueOutOfBoundsError, "threshold"),
        ({"start": float("nan")}, errors.ValueOutOfBoundsError, "start"),
        ({"variable": None}, errors.UnknownNameError, "V_m"),
    ],
)
def test_bad_arguments_of_states(
    recorded: Recorded, arguments: dict[str, Any], error: type[errors.RanvierError], text: str
) -> None:
    with pytest.raises(error, match=text):
        rv.plot.state(recorded[2], **arguments)


def test_what_cannot_be_plotted(recorded: Recorded) -> None:
    for function in (rv.plot.raster, rv.plot.rates, rv.plot.irregularity):
        with pytest.raises(errors.WrongTypeError, match="spikes"):
            function(recorded[2])  # type: ignore[call-overload]
    with pytest.raises(errors.WrongTypeError, match="state variables"):
        rv.plot.state(recorded[1])  # type: ignore[call-overload]


def test_neurons_of_other_processes_are_not_drawn(recorded: Recorded) -> None:
    whole = recorded[1].of("L4E")
    here = whole.ids % 2 == 0
    ids = NeuronIds(range(0, 10**6, 2))
    spikes = replace(whole, steps=whole.steps[here], ids=whole.ids[here], covered=ids)
    figure, dense = rv.plot.raster(spikes), rv.plot.raster(whole)
    assert markers(figure) == len(spikes)
    # The rate of the network is that of the neurons that were recorded.
    for drawn, data in ((figure, spikes), (dense, whole)):
        (stairs,) = drawn.axes[-1].patches
        assert isinstance(stairs, StepPatch)
        assert np.mean(stairs.get_data()[0]) == pytest.approx(data.mean_rates()["L4E"])
    nothing = replace(spikes, steps=spikes.steps[:0], ids=spikes.ids[:0], covered=NeuronIds([]))
    assert rv.plot.rates(nothing)._repr_png_().startswith(b"\x89PNG")


def test_settings_of_the_user_are_left_alone(recorded: Recorded) -> None:
    before = dict(mpl.rcParams)
    rv.plot.rates(recorded[1])
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("limit", [None, 10**9, 4 * 10**9, 10**11])
def test_axes_of_predicted_memory_fit(limit: int | None) -> None:
    figure = memory_figure([2, 4, 8], {"synapses": [3_200_000_000, 1_600_000_000, 800_000_000]}, limit=limit)
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    assert low == 0.0
    assert high in axes.get_yticks()
    lines = [line.get_ydata() for line in axes.lines]
    assert 3.2e9 <= high <= 5e9
    told = [text.get_text() for text in axes.texts]
    if limit is None:
        assert not told
    elif limit <= high:
        assert told == ["limit"]
        assert [limit, limit] in [list(map(int, np.asarray(line))) for line in lines if np.size(line) == 2]
    else:
        assert told == ["limit: 100 GB"]


def test_components_too_thin_to_be_seen_are_one() -> None:
    sizes = {"synapses": 1000, "neurons": 2, "stimuli": 3, "exchange": 100, "construction": 50}
    figure = memory_figure([1, 2], {name: [size * 10**6] * 2 for name, size in sizes.items()})
    (legend,) = figure.legends
    told = [" ".join(text.get_text().split()) for text in legend.get_texts()]
    assert told == ["while it is built", "others: neurons, stimuli", "exchange", "synapses"]
    # Nothing is left out: the areas lie on each other up to the whole.
    tops = [collection.get_datalim(figure.axes[0].transData).ymax for collection in figure.axes[0].collections]
    assert max(tops) == pytest.approx(sum(sizes.values()) * 1e6)
    alone = memory_figure([1, 2], {"synapses": [10**9] * 2, "neurons": [10**6] * 2})
    assert [text.get_text() for text in alone.legends[0].get_texts()] == ["neurons", "synapses"]


def test_spikes_and_threshold_of_states(recorded: Recorded) -> None:
    _, spikes, state = recorded
    ids = state.ids[np.flatnonzero([len(spikes.train(neuron)) for neuron in state.ids])[:2]]
    assert len(ids)
    own = plot.Figure().add_subplot()
    rv.plot.state(state, ids=ids, threshold=-50.0, spikes=spikes, ax=own)
    figure = rv.plot.state(state, ids=ids, threshold=-50.0, spikes=spikes)
    for panels in (figure.axes, [own] * len(ids)):
        values = state["V_m"][:, [state.ids.tolist().index(neuron) for neuron in ids]]
        for place, (panel, neuron) in enumerate(zip(panels, ids.tolist(), strict=True)):
            marks = [line.get_data() for line in panel.lines if line.get_marker() == "|"]
            times, heights = map(np.asarray, marks[place if panel is own else 0])
            assert times.tolist() == spikes.train(neuron).tolist()
            low, high = panel.get_ylim()
            # Above all that was recorded, within the axes, which are hardly higher than what is drawn.
            assert max(float(values.max()), -50.0) < heights.min() <= heights.max() < high
            assert low < values.min()
            assert high - low < 1.35 * (max(float(values.max()), -50.0) - values.min())
        assert "threshold" in [text.get_text() for text in panels[0].texts]


def test_spikes_that_cannot_be_marked(recorded: Recorded) -> None:
    _, spikes, state = recorded
    with pytest.raises(errors.WrongTypeError, match="spikes to mark"):
        rv.plot.state(state, spikes=state)  # type: ignore[call-overload]
    with pytest.raises(errors.ValueOutOfBoundsError, match="neuron"):
        rv.plot.state(state, spikes=spikes.of("L23I"))


def test_one_lies_within_the_axis_of_irregularity() -> None:
    steps = np.arange(10, 1000, 100)
    spikes = SpikeData(steps, np.zeros(len(steps), np.int64), 0.1, 0, 1000, (rv.Segment("regular", 0, 1),))
    assert rv.plot.irregularity(spikes).axes[0].get_xlim()[1] > 1.08
    assert rv.plot.raster(spikes).axes[2].get_xlim()[1] > 1.08


def test_a_few_far_pairs_do_not_press_correlations_together() -> None:
    generator = np.random.default_rng(3)
    trains = [generator.random(20_000) < 0.1 for _ in range(80)]
    trains[1] = trains[0]
    steps, ids = np.nonzero(np.array(trains).T)
    spikes = SpikeData(steps.astype(np.int64) + 1, ids.astype(np.int64), 1.0, 0, 20_000, (rv.Segment("pool", 0, 80),))
    (axes,) = rv.plot.correlations(spikes).axes
    assert axes.get_xlim()[1] < 0.2
    (told,) = [text.get_text() for text in axes.texts]
    assert "to 1.00)" in told
    (stairs,) = axes.patches
    assert isinstance(stairs, StepPatch)
    heights, edges, _ = stairs.get_data()
    # A density of all pairs: what is left out is missing in its area.
    assert 0.995 < float(heights @ np.diff(edges)) < 1.0


def test_relations_of_spikes(recorded: Recorded) -> None:
    spikes = recorded[1]
    histogram = spikes.peristimulus_histogram([100.0, 200.0], "L4E", before=20.0, after=60.0)
    correlogram = spikes.cross_correlogram("L4E", "L4I", reach=20.0)
    figure = plot.Figure()
    for place, (function, data, shown) in enumerate(
        (
            (rv.plot.peristimulus_histogram, histogram, histogram.rates),
            (rv.plot.cross_correlogram, correlogram, correlogram.rates),
        )
    ):
        axes = figure.add_subplot(1, 3, place + 1)
        assert function(data, ax=axes, title="mine") is axes  # type: ignore[operator]
        (stairs,) = (each for each in axes.patches if isinstance(each, StepPatch))
        values, edges, _ = stairs.get_data()
        assert values.tolist() == shown.tolist()
        assert axes.get_xlim()[0] < edges[0]
        assert axes.get_xlim()[1] > edges[-1]
        assert axes.get_ylim()[1] > shown.max()
        told = function(data).axes[0]  # type: ignore[operator]
        words = " ".join([told.get_title(loc="left"), told.get_xlabel(), told.get_ylabel()])
        assert "L4E" in words
        assert ("L4I" in words) == (data is correlogram)
        assert function(data)._repr_png_().startswith(b"\x89PNG")  # type: ignore[operator]
        with pytest.raises(errors.WrongTypeError, match="must be the result of"):
            function(spikes)  # type: ignore[operator]
    axes = figure.add_subplot(1, 3, 3)
    assert rv.plot.correlations(spikes, ax=axes) is axes
    legend = axes.get_legend()
    assert legend is not None
    told = dict(text.get_text().split(", mean ") for text in legend.get_texts())
    coefficients = spikes.correlations("L5I")
    pairs = coefficients[np.triu_indices(len(coefficients), 1)]
    assert float(told["L5I"]) == pytest.approx(np.nanmean(pairs), abs=6e-4)


def test_correlations_of_too_little(recorded: Recorded) -> None:
    with pytest.raises(errors.StateError, match="two neurons that fired"):
        rv.plot.correlations(replace(recorded[1], steps=recorded[1].steps[:1], ids=recorded[1].ids[:1]))
    with pytest.raises(errors.StateError, match="fewer than two bins"):
        rv.plot.correlations(recorded[1], bin_width=200.0)
