"""Pictures of cells, places on them, and what may differ between regions."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

import ranvier as rv
from ranvier.base.values import FloatArray
from ranvier.errors import RanvierError, ShapeError, UnknownNameError, ValueOutOfBoundsError, WrongTypeError
from ranvier.figures.style import Figure
from ranvier.networks.l5_pair import drawn_pyramidal_cell, l5_cell
from ranvier.networks.ring import ring_cell


def tree() -> rv.Morphology:
    soma = rv.Section(length=10.0, diameter=10.0)
    trunk = rv.Section(length=100.0, diameter=2.0, parent=0, tag="apical")
    tuft = [rv.Section(length=50.0, diameter=1.0, parent=1, tag="apical") for _ in range(2)]
    basal = rv.Section(length=80.0, diameter=1.0, parent=0, parent_position=0.0, tag="basal")
    return rv.Morphology([soma, trunk, *tuft, basal])


def cell_of(form: rv.Morphology, **options: Any) -> rv.Cell:
    return rv.Cell(form, compartments=2, membrane=[("all", rv.pas())], **options)


def pieces(figure: Figure) -> PolyCollection:
    (found,) = [drawn for drawn in figure.axes[0].collections if isinstance(drawn, PolyCollection)]
    return found


def colours_of(figure: Figure) -> FloatArray:
    """Return red, green and blue of each piece."""
    return np.asarray(pieces(figure).get_facecolor(), dtype=np.float64)[:, :3]


def corners_of(figure: Figure) -> FloatArray:
    """Return the four corners of each piece."""
    return np.array([np.asarray(path.vertices)[:4] for path in pieces(figure).get_paths()])


def test_each_compartment_has_the_colour_of_its_value() -> None:
    cell = cell_of(tree())
    values = np.arange(cell.compartment_count, dtype=np.float64)
    values[3] = np.nan
    colours = colours_of(rv.plot.cell(cell, values=values, label="x"))
    assert len(colours) == cell.compartment_count
    # Each value has another colour, and the brightness grows with it.
    brightness = np.delete(colours.sum(axis=1), 3)
    assert (np.diff(brightness) > 0.0).all()
    assert rv.plot.cell(cell, values=values, label="V (mV)").axes[1].get_ylabel() == "V (mV)"


def test_kinds_of_neurites_and_regions_have_colours() -> None:
    form = tree()
    colours = colours_of(rv.plot.cell(form))
    assert len(np.unique(colours, axis=0)) == 3
    figure = rv.plot.cell(form, regions={"near": rv.within_distance(0.0, 60.0), "tips": rv.sections([2, 3])})
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["near", "tips"]
    colours = colours_of(figure)
    # Half of the trunk lies in the region.
    mixed = 0.5 * (np.array(to_rgb("#0072B2")) + np.array(to_rgb("#5F6B75")))
    assert colours[1] == pytest.approx(mixed, abs=0.02)
    assert (colours[2] == colours[3]).all()


def test_pieces_are_as_long_and_wide_as_the_cell() -> None:
    for form in (tree(), drawn_pyramidal_cell()):
        cell = cell_of(form)
        shown = corners_of(rv.plot.cell(cell))
        begins, ends = shown[:, :2].mean(axis=1), shown[:, 2:].mean(axis=1)
        lengths = np.hypot(*(ends - begins).T)
        if form.sections[0].points is None:
            # Straight lines have their true lengths; projections are shorter.
            assert lengths.sum() == pytest.approx(form.lengths.sum())
        assert lengths.sum() <= form.lengths.sum() * (1.0 + 1e-9)


def test_apical_dendrites_are_drawn_above_the_soma() -> None:
    shown = corners_of(rv.plot.cell(tree())).mean(axis=1)
    assert all(shown[i][1] > shown[0][1] for i in (1, 2, 3))
    assert shown[4][1] < shown[0][1]


@pytest.mark.parametrize("projection", ["xy", "xz", "yz"])
def test_options_of_pictures(projection: Any) -> None:
    figure = Figure()
    axes = figure.add_subplot()
    assert rv.plot.cell(ring_cell(depth=3), compartments=True, projection=projection, title="t", ax=axes) is axes
    assert axes.get_title(loc="left") == "t"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"values": [1.0]}, ShapeError),
        ({"values": np.zeros((2, 5))}, ShapeError),
        ({"values": np.zeros(10), "regions": {"a": "all"}}, ValueOutOfBoundsError),
        ({"values": np.zeros(10), "limits": (1.0, 1.0)}, ValueOutOfBoundsError),
        ({"limits": (0.0, 1.0)}, ValueOutOfBoundsError),
        ({"regions": {"a": "axon"}}, ValueOutOfBoundsError),
        ({"regions": {"a": "tail"}}, UnknownNameError),
        ({"regions": "soma"}, WrongTypeError),
        ({"projection": "zz"}, UnknownNameError),
        ({"label": 3}, WrongTypeError),
        ({"ax": "here"}, WrongTypeError),
    ],
)
def test_pictures_refuse(arguments: dict[str, Any], error: type[RanvierError]) -> None:
    with pytest.raises(error):
        rv.plot.cell(cell_of(tree()), **arguments)


def test_a_form_has_no_values() -> None:
    cases: list[dict[str, Any]] = [{"values": [1.0] * 5}, {"compartments": True}]
    for options in cases:
        with pytest.raises(WrongTypeError, match=r"rv\.Cell"):
            rv.plot.cell(tree(), **options)
    with pytest.raises(WrongTypeError):
        rv.plot.cell("cell")  # type: ignore[call-overload]


def test_places_at_a_distance() -> None:
    form = tree()
    # The basal dendrite begins at 0.
    assert rv.places_at_distance(form, 5.0) == [rv.at(0, 0.5), rv.at(4, 5.0 / 80.0)]
    # The end of the trunk is one place, not three.
    assert rv.places_at_distance(form, 110.0) == [rv.at(1, 1.0)]
    assert rv.places_at_distance(form, 135.0, "apical") == [rv.at(2, 0.5), rv.at(3, 0.5)]
    assert rv.places_at_distance(form, 40.0, "dendrites") == [rv.at(1, (40.0 - 10.0) / 100.0), rv.at(4, 0.5)]
    assert rv.places_at_distance(form, 0.0) == [rv.at(0, 0.0)]
    with pytest.raises(ValueOutOfBoundsError, match="160"):
        rv.places_at_distance(form, 200.0)
    for bad in (-1.0, float("nan"), float("inf")):
        with pytest.raises(RanvierError):
            rv.places_at_distance(form, bad)


def test_the_distance_of_a_place_is_that_of_places_at_a_distance() -> None:
    form = tree()
    cell = cell_of(form)
    for distance in (0.0, 5.0, 40.0, 110.0, 135.0, 160.0):
        for place in rv.places_at_distance(form, distance):
            assert cell.distance_at(place) == pytest.approx(distance)
    # Compartments are as far as their middles, places as they are.
    assert cell.distance_at(rv.at(4, 0.25)) == 20.0
    chance = np.random.default_rng(1)
    for section, position in zip(chance.integers(0, 5, 200).tolist(), chance.random(200).tolist(), strict=True):
        place = rv.at(section, position)
        longest = max(form.lengths) / 2.0
        assert abs(cell.distance_at(place) - cell.distances[cell.compartment_at(place)]) <= longest
    with pytest.raises(RanvierError):
        cell.distance_at(rv.at(5, 0.5))
    with pytest.raises(WrongTypeError):
        cell.distance_at(3)  # type: ignore[arg-type]


def test_random_places_are_uniform_over_the_length() -> None:
    form = tree()
    places = rv.random_places(form, "apical", count=20_000, seed=3)
    assert len(places) == 20_000
    assert places == rv.random_places(form, "apical", count=20_000, seed=3)
    assert places != rv.random_places(form, "apical", count=20_000, seed=4)
    sections = np.array([place.section for place in places])
    positions = np.array([place.position for place in places])
    assert (np.diff(sections) >= 0).all()
    # Half of the length is in the trunk: five standard deviations of a binomial number.
    assert abs((sections == 1).sum() - 10_000) < 5 * np.sqrt(5_000)
    # Kolmogorov and Smirnov's distance of 10,000 uniform numbers is below 0.02 but once in 1,000.
    trunk = np.sort(positions[sections == 1])
    assert np.abs(trunk - np.arange(len(trunk)) / len(trunk)).max() < 0.02


def test_density_of_random_places() -> None:
    form = tree()
    numbers = [len(rv.random_places(form, "dendrites", density=0.1, seed=seed)) for seed in range(200)]
    # Poisson numbers with a mean of 28: the mean of 200 lies within 5 standard errors, the variance within half.
    assert abs(np.mean(numbers) - 28.0) < 5 * np.sqrt(28.0 / 200)
    assert 0.5 < np.var(numbers) / 28.0 < 1.6
    assert rv.random_places(form, density=0.0) == []
    assert rv.random_places(form, rv.within_distance(20.0, 21.0), count=3)[0].section in (1, 4)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"count": 1, "density": 1.0},
        {"count": -1},
        {"count": 1.5},
        {"density": -1.0},
        {"density": 1e9},
        {"density": float("nan")},
        {"count": 2**40},
        {"count": 1, "seed": -1},
    ],
)
def test_random_places_refuse(options: dict[str, Any]) -> None:
    with pytest.raises(RanvierError):
        rv.random_places(tree(), **options)
    with pytest.raises(ValueOutOfBoundsError, match="neurite"):
        rv.random_places(tree(), "axon", count=1)


def test_probes_everywhere() -> None:
    form = tree()
    membrane: list[Any] = [("all", rv.pas()), ("soma", rv.hh())]
    cell = rv.Cell(
        form, compartments=2, membrane=membrane, probes={"V": rv.everywhere, "m": (rv.everywhere, "m of hh")}
    )
    size = cell.compartment_count
    assert cell.variables == ("V_m", *(f"V[{i}]" for i in range(size)), "m[0]", "m[1]")
    net = rv.Network(resolution=0.025)
    cells = net.create(cell, 2, I_e=100.0)
    states = net.record_state(cells, cell.variables)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(5.0)
    data = sim.state(states)
    np.testing.assert_array_equal(data[f"V[{cell.compartment_at(rv.at(0, 0.5))}]"], data["V_m"])
    tip = rv.Cell(form, compartments=2, membrane=membrane, probes={"tip": rv.at(3, 0.75)})
    other = rv.Network(resolution=0.025)
    recorder = other.record_state(other.create(tip, 2, I_e=100.0), ["tip"])
    sim = rv.Simulation(other, threads=1, progress=False)
    sim.run(5.0)
    np.testing.assert_array_equal(sim.state(recorder)["tip"], data[f"V[{cell.compartment_at(rv.at(3, 0.75))}]"])
    assert pickle.loads(pickle.dumps(cell)).variables == cell.variables


def test_capacitance_by_region() -> None:
    form = tree()
    by_region = cell_of(form, C_m=[("all", 1.0), ("apical", 2.0)])
    by_array = cell_of(form, C_m=np.where(np.repeat(form.tags == 4, 2), 2.0, 1.0))
    traces = []
    for cell in (by_region, by_array, cell_of(form)):
        net = rv.Network(resolution=0.025)
        states = net.record_state(net.create(cell, 1, I_e=50.0), ["V_m"])
        sim = rv.Simulation(net, threads=1, progress=False)
        sim.run(3.0)
        traces.append(sim.state(states)["V_m"])
    np.testing.assert_array_equal(traces[0], traces[1])
    assert np.abs(traces[0] - traces[2]).max() > 0.01
    for bad in ([("soma", 1.0)], [("axon", 1.0)], [("all", "x")], [("all",)], [("all", 1.0), 3], [("all", -1.0)]):
        with pytest.raises(RanvierError):
            cell_of(form, C_m=bad)
    with pytest.raises(ShapeError, match=r"array of shape \(0,\), .* at least one value"):
        cell_of(form, C_m=[])
    with pytest.raises(ShapeError, match="d_lambda"):
        rv.Cell(form, compartments=rv.d_lambda(), membrane=[("all", rv.pas())], C_m=[("all", 1.0), ("apical", 2.0)])


def test_pair_of_pyramidal_cells() -> None:
    model = rv.networks.l5_pair()
    states = model.net.record_state(model.net["second"], ["V_m"])
    sim = rv.Simulation(model.net, threads=1, progress=False)
    sim.run(55.0)
    data = sim.spikes(model.spikes)
    # The current makes the first cell fire; the other one answers with some mV, as pairs in slices do.
    assert len(data.times) == 1
    potential = sim.state(states)["V_m"][:, 0]
    before = potential[round(data.times[0] / 0.025)]
    assert 0.5 < potential.max() - before < 4.0


def test_strong_synapses_make_a_pyramidal_cell_fire() -> None:
    model = rv.networks.l5_pair(contacts=20, weight=10.0)
    sim = rv.Simulation(model.net, threads=1, progress=False)
    sim.run(40.0)
    times, senders = sim.spikes(model.spikes).times, sim.spikes(model.spikes).ids
    assert senders.tolist()[:2] == [0, 1]
    assert times[0] + 1.5 < times[1]


def test_forms_that_are_no_pyramidal_cells() -> None:
    with pytest.raises(ValueOutOfBoundsError, match="basal"):
        l5_cell(rv.Morphology(tree().sections[:4]))
    with pytest.raises(RanvierError):
        rv.networks.l5_pair(morphology="/nowhere.swc")
    with pytest.raises(RanvierError):
        rv.networks.l5_pair(contacts=0)
