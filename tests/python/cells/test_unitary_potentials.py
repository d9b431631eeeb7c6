"""Kernels from templates, against detailed cells with the same synapses, and against properties of linear cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv

FloatArray = npt.NDArray[np.float64]
STEP = 0.1
CONTACTS = [[0.0, 0.0, z] for z in (-200.0, -50.0, 100.0, 250.0, 400.0)]
POSITIONS = [[50.0, 0.0, 0.0], [-60.0, 30.0, -100.0], [0.0, 100.0, 50.0]]
TAU = 2.0
# Far enough from rest that the current of a conductance does not depend on the potential of the membrane.
FAR = 1000.0


def cell(**given: Any) -> rv.Cell:
    points = [
        [(0, 0, -10, 20), (0, 0, 10, 20)],
        [(0, 0, 10, 3), (0, 0, 300, 2)],
        [(0, 0, -10, 2), (0, 100, -60, 2)],
    ]
    tree = rv.Morphology(
        [
            rv.Section(points=each, tag=tag, parent=None if tag == "soma" else 0, parent_position=at)
            for each, tag, at in zip(points, ("soma", "apical", "basal"), (1.0, 1.0, 0.0), strict=True)
        ]
    )
    keys: dict[str, Any] = {"compartments": [1, 6, 3], "membrane": [("all", rv.pas(g=1e-4, e=-65.0))]}
    return rv.Cell(tree, **{**keys, **given})


def template(**given: Any) -> rv.CellTemplate:
    keys: dict[str, Any] = {"cell": cell(), "positions": rv.positions(POSITIONS, unit="um"), "synapses": "apical"}
    return rv.CellTemplate(**{**keys, **given})


def kernel(
    model: Any = None,
    weight: Any = 30.0,
    delay: Any = 1.5,
    of: rv.CellTemplate | None = None,
    **given: Any,
) -> FloatArray:
    """Return the kernel of a population whose 4 neurons send 20 synapses to a templated one."""
    net = rv.Network(resolution=STEP, seed=2)
    x = net.create("iaf_psc_exp", 4, name="x")
    y = net.create(rv.iaf_psc_exp(tau_syn_ex=TAU) if model is None else model, 10, name="y")
    net.connect(x, y, rv.FixedIndegree(2), weight=weight, delay=delay)
    kernels = rv.unitary_potentials(net, {y: of or template()}, CONTACTS, **{"duration": 20.0, **given})
    assert list(kernels) == [x]
    return kernels[x].values


def test_spikes_convolved_with_kernels_are_detailed_cells_that_get_the_spikes() -> None:
    """But for a factor: a step of a detailed cell has the conductance at its begin, and not its mean."""
    spikes = [[2.0, 5.3, 5.3, 17.0], [0.1, 9.0]]
    net = rv.Network(resolution=STEP)
    sources = net.create_spike_generators(spikes, name="sources")
    y = net.create(rv.iaf_psc_exp(tau_syn_ex=TAU), 3, name="y")
    net.connect(sources, y, rv.AllToAll(), weight=30.0, delay=1.5)
    kernels = rv.unitary_potentials(net, {y: template()}, CONTACTS, duration=40.0)
    lfp = net.record_lfp(kernels, 0.5)
    # Each synapse as one of its compartment, small enough for a linear response.
    receptors = {"far": (rv.expsyn(tau=TAU, e=FAR), "apical")}
    detailed = rv.Network(resolution=STEP)
    cells = detailed.create(cell(receptors=receptors), positions=rv.positions(POSITIONS, unit="um"))
    areas = cell().areas[1:7]
    generators = detailed.create_spike_generators(spikes)
    for site, share in enumerate(areas / areas.sum()):
        weight = 0.003 * share / (FAR + 65.0)
        detailed.connect(generators, cells, rv.AllToAll(), weight=weight, delay=1.5, receptor="far", site=site)
    around = detailed.record_extracellular(CONTACTS, 0.5, cells=cells, unit="um")
    found = []
    for network, recorder in ((net, lfp), (detailed, around)):
        sim = rv.Simulation(network, progress=False)
        sim.run(25.0)
        found.append(sim.extracellular(recorder).potentials)
    ratio = (STEP / TAU) / -math.expm1(-STEP / TAU)
    wanted = found[1] * 1e4 / ratio
    assert np.abs(wanted).max() > 1e-5
    np.testing.assert_allclose(found[0], wanted, rtol=0.0, atol=1e-5 * np.abs(wanted).max())


def test_currents_of_synapses_of_all_models() -> None:
    """The sum over time of the response of a linear cell is proportional to the charge."""
    exp = kernel(duration=250.0).sum(axis=1)
    alpha = kernel(rv.iaf_psc_alpha(tau_syn_ex=TAU), duration=250.0).sum(axis=1)
    np.testing.assert_allclose(alpha, math.e * exp, rtol=1e-8)
    delta = kernel(rv.iaf_psc_delta(C_m=100.0), weight=30.0, duration=250.0)
    np.testing.assert_allclose(delta.sum(axis=1), exp * 100.0 / TAU, rtol=1e-8)
    inhibitory = kernel(rv.iaf_psc_exp(tau_syn_in=TAU), weight=-15.0, duration=250.0).sum(axis=1)
    np.testing.assert_allclose(inhibitory, -0.5 * exp, rtol=1e-8)
    # A jump is at the end of the delay, a current begins after it.
    assert np.flatnonzero(np.abs(delta[0]) > 1e-12)[0] == 15
    assert np.flatnonzero(np.abs(kernel()[0]) > 1e-12)[0] == 16


def test_delays_weights_and_intervals() -> None:
    late = kernel(delay=2.5)
    early = kernel(delay=1.5)
    np.testing.assert_allclose(late[:, 10:], early[:, :-10], rtol=0.0, atol=1e-12)
    # 65,536 draws of one of two steps.
    drawn = kernel(delay=rv.Uniform(1.45, 1.65), weight=rv.Normal(30.0, 3.0))
    mean = 0.5 * (early + kernel(delay=1.6))
    np.testing.assert_allclose(drawn, mean, rtol=0.0, atol=0.01 * np.abs(mean).max())
    coarse = kernel(interval=0.5)
    assert coarse.shape == (len(CONTACTS), 41)
    np.testing.assert_allclose(coarse[:, 3], early[:, 15:20].mean(axis=1), rtol=1e-12)


def test_places_of_synapses() -> None:
    lines = template().cell
    near_top = template(density=lambda name, points: (points[:, 2] > 100.0) * (name == "x"))
    net = rv.Network()
    cells = net.create(lines, positions=near_top.positions)
    shares = near_top.shares("x", cells.compartment_lines(0))
    assert shares.sum() == pytest.approx(1.0)
    assert np.flatnonzero(shares).tolist() == [3, 4, 5, 6]
    # Input at the top makes a sink there, and a source at the soma; at the soma it is the other way around.
    top, soma = kernel(of=near_top), kernel(of=template(synapses={"x": "soma"}))
    assert top[3].min() == top.min() < 0.0
    assert top[1].max() > 0.0
    assert soma[3].max() > 0.0
    assert soma[1].min() < 0.0


def test_the_medium() -> None:
    """An insulator doubles potentials at its surface; the conductivity divides them."""
    top = CONTACTS[-1][2]
    doubled = kernel(boundary=rv.BoundaryPlane((0.0, 0.0, top), (0.0, 0.0, 1.0)))
    np.testing.assert_allclose(doubled[-1], 2.0 * kernel()[-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel(sigma=0.6), 0.5 * kernel(), rtol=1e-9, atol=1e-12)
    at_axis = [[50.0, 0.0, 100.0]]
    net = rv.Network()
    y = net.create("iaf_psc_exp", 4, name="y")
    net.connect(y, y, rv.FixedIndegree(2))
    assert len(rv.unitary_potentials(net, {y: template()}, at_axis, duration=5.0, inside="surface")) == 1
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"contact 0.*within compartment .* of cell"):
        rv.unitary_potentials(net, {y: template()}, at_axis, duration=5.0)


def test_a_cell_that_is_not_at_rest_counts_with_its_response_only() -> None:
    """Its leak drives it from -65 to -75 mV, which adds no potential."""
    leaking = cell(membrane=[("all", rv.pas(g=1e-4, e=-75.0))])
    np.testing.assert_allclose(kernel(of=template(cell=leaking)), kernel(), rtol=0.0, atol=1e-7 * kernel().max())


def test_bad_templates() -> None:
    net = rv.Network()
    x, y = net.create("iaf_psc_exp", 4, name="x"), net.create("iaf_psc_exp", 4, name="y")
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="no projection"):
        rv.unitary_potentials(net, {y: template()}, CONTACTS)
    net.connect(x, y, rv.FixedIndegree(2))
    given: list[tuple[Any, type[Exception], str]] = [
        (template(), rv.errors.WrongTypeError, "mapping"),
        ({"y": template()}, rv.errors.WrongTypeError, "Population"),
        ({y: cell()}, rv.errors.WrongTypeError, "template of y"),
        ({rv.Network().create("iaf_psc_exp", 1): template()}, rv.errors.StateError, "another network"),
        ({}, rv.errors.ValueOutOfBoundsError, "no projection"),
        ({y: template(synapses={"z": "soma"})}, rv.errors.StateError, "synapses from x.*those from z"),
        ({y: template(synapses="axon")}, rv.errors.ValueOutOfBoundsError, "no such membrane"),
        ({y: template(density=lambda _, points: 0.0 * points[:, 0])}, rv.errors.ValueOutOfBoundsError, "no synapses"),
        ({y: template(density=lambda _, points: -1.0 + points[:, 0])}, rv.errors.ValueOutOfBoundsError, "finite and"),
        ({y: template(density=lambda _, points: points)}, rv.errors.ShapeError, "one for each compartment"),
        ({y: template(positions=[[0.0, 0.0, -0.2]])}, rv.errors.ValueOutOfBoundsError, "within compartment .*template"),
    ]
    for templates, error, message in given:
        with pytest.raises(error, match=message):
            rv.unitary_potentials(net, templates, CONTACTS)
    refused: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"interval": 0.15}, rv.errors.GridError),
        ({"duration": 0.05}, rv.errors.GridError),
        ({"duration": 0.1, "interval": 0.2}, rv.errors.ValueOutOfBoundsError),
        ({"interval": 1e-310}, rv.errors.ValueOutOfBoundsError),
        ({"duration": 1e6}, rv.errors.ValueOutOfBoundsError),
        ({"sigma": 0.0}, rv.errors.ValueOutOfBoundsError),
    ]
    for keys, kind in refused:
        with pytest.raises(kind):
            rv.unitary_potentials(net, {y: template()}, CONTACTS, **keys)
    with pytest.raises(rv.errors.WrongTypeError, match=r"ranvier\.Cell"):
        template(cell="cell")
    with pytest.raises(rv.errors.ShapeError, match="position"):
        template(size=5)
    z = net.create("iaf_cond_exp", 2, name="z")
    net.connect(x, z, rv.AllToAll())
    with pytest.raises(rv.errors.StateError, match="population z is model iaf_cond_exp"):
        rv.unitary_potentials(net, {z: template()}, CONTACTS)
    v = net.create("iaf_psc_exp", 2, name="v")
    net.connect(x, v, rv.AllToAll(), synapse=rv.bernoulli(p_transmit=0.5))
    with pytest.raises(rv.errors.StateError, match=r"projection x to v is synapse bernoulli.*static synapses"):
        rv.unitary_potentials(net, {v: template()}, CONTACTS)
    w = net.create("iaf_psc_exp", 2, name="w")
    net.connect(x, w, rv.AllToAll(), weight=rv.Expression("10*i"))
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="weight of projection x to w"):
        rv.unitary_potentials(net, {w: template()}, CONTACTS)
