"""Potentials outside of cells: against the mechanism `extracellular` of NEURON, and two axons that synchronise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv
from ranvier_benchmarks.neuron_ring import load_neuron

FloatArray = npt.NDArray[np.float64]

STEP, TIME = 0.025, 20.0
FORM = [  # length, diameter, compartments, direction
    (20.0, 20.0, 1, (0.0, 0.0, 1.0)),
    (400.0, 2.0, 20, (0.0, 0.6, 0.8)),
    (200.0, 1.0, 10, (0.8, 0.0, -0.6)),
]


def branched_cell() -> rv.Cell:
    """Return a cell with three sections: Hodgkin and Huxley's channels in two of them."""
    ends = np.array([[0.0, 0.0, -10.0], [0.0, 0.0, 10.0]])
    sections = []
    for i, (length, diameter, _, direction) in enumerate(FORM):
        begin = ends[0] if i == 0 else ends[1]
        points = [(*begin, diameter), (*(begin + length * np.array(direction)), diameter)]
        sections.append(rv.Section(points=points, parent=None if i == 0 else 0))
    return rv.Cell(
        rv.Morphology(sections),
        compartments=[count for _, _, count, _ in FORM],
        membrane=[(rv.sections([0, 1]), rv.hh()), (rv.sections(2), rv.pas(g=1e-4, e=-65.0))],
        C_m=1.0,
        R_a=100.0,
        celsius=6.3,
        V_init=-65.0,
        rates="exact",
    )


def wave(times: npt.NDArray[Any]) -> FloatArray:
    """Return a factor over time: a sine with a pulse."""
    factors: FloatArray = np.sin(2.0 * math.pi * 0.1 * times) + 3.0 * ((times > 5.0) & (times < 5.5))
    return factors


def in_neuron(outside: FloatArray, times: npt.NDArray[Any]) -> FloatArray:
    """Return the membrane potentials of all compartments after each step, with potentials at middles of steps."""
    h = load_neuron()
    sections: list[Any] = []
    for i, (length, diameter, count, _) in enumerate(FORM):
        section = h.Section(name=f"part{i}")
        section.L, section.diam, section.nseg, section.Ra, section.cm = length, diameter, count, 100.0, 1.0
        if i:
            section.connect(sections[0](1.0), 0.0)
        if i < 2:
            section.insert("hh")
            section.ena, section.ek = 50.0, -77.0
        else:
            section.insert("pas")
            section.g_pas, section.e_pas = 1e-4, -65.0
        section.insert("extracellular")
        sections.append(section)
    segments = [segment for section in sections for segment in section]
    at, played, recorded = h.Vector(times), [], []
    for segment, potential in zip(segments, outside, strict=True):
        played.append(h.Vector(potential * wave(times)))
        played[-1].play(getattr(segment, "_ref_e_extracellular"), at, True)  # noqa: B009 - NEURON's
        recorded.append(h.Vector().record(getattr(segment, "_ref_v")))  # noqa: B009
    h.usetable_hh, h.celsius, h.dt, h.secondorder = 0, 6.3, STEP, 0
    h.finitialize(-65.0)
    while h.t < TIME - STEP / 2:
        h.fadvance()
    return np.array([list(each) for each in recorded])[:, 1:]


def test_neuron_does_the_same() -> None:
    net = rv.Network(resolution=STEP)
    cells = net.create(branched_cell(), 1, positions=rv.positions([[0.0, 0.0, 0.0]], unit="um"))
    times = (np.arange(round(TIME / STEP)) + 0.5) * STEP
    lines = cells.compartment_lines()
    middles = 0.5 * (lines.begin + lines.end)
    outside = 1e3 * 50.0 / (4.0 * math.pi * 0.3 * np.linalg.norm(middles - np.array([50.0, 0.0, 120.0]), axis=1))
    samples = wave(times)
    current = rv.waveform([0.0, *times, TIME], 50.0 * np.array([samples[0], *samples, samples[-1]]))
    net.apply_field(cells, rv.point_source((50.0, 0.0, 120.0), current))
    recorder = net.record_compartments(cells, "V_m")
    sim = rv.Simulation(net, progress=False)
    sim.run(TIME)
    ours = sim.state(recorder).values[:, 0].T
    theirs = in_neuron(outside, times)
    assert np.ptp(ours[0]) > 50.0, "a spike"
    assert np.abs(ours - theirs).max() < 1e-6


def arrivals(sigma: float | None, delay: float, ratio: float = 1.0) -> FloatArray:
    """Return when spikes arrive at ten places along two axons, ms, shape (places, axons).

    The second one gets its stimulus later, and has another diameter. They are 2 um apart, in a medium that conducts a
    hundredth of what tissue does.
    """
    length, count, step = 40_000.0, 200, 0.05
    cells = []
    for i, diameter in enumerate((10.0, 10.0 * ratio)):
        points = [(0.0, 0.0, 0.0, diameter), (0.0, 0.0, length, diameter)]
        start = rv.current_clamp(amplitude=30_000.0, duration=0.5, start=1.0 + i * delay)
        cells.append(
            rv.Cell(
                rv.Morphology([rv.Section(points=points)]),
                compartments=[count],
                membrane=[("all", rv.hh())],
                clamps={"start": (start, rv.at(0, 0.0))},
                C_m=1.0,
                R_a=35.4,
                celsius=6.3,
                V_init=-65.0,
            )
        )
    net = rv.Network(resolution=step)
    axons = net.create(cells, positions=rv.positions([[0.0, 0.0, 0.0], [12.0, 0.0, 0.0]], unit="um"))
    if sigma is not None:
        net.couple_extracellular(axons, 0.05, sigma=sigma)
    recorder = net.record_compartments(axons, "V_m")
    sim = rv.Simulation(net, progress=False)
    sim.run(35.0)
    potentials = sim.state(recorder).values[:, 0].reshape(-1, 2, count)[:, :, 20 :: count // 10]
    after = np.argmax((potentials[1:] >= -20.0) & (potentials[:-1] < -20.0), axis=0)
    low = np.take_along_axis(potentials, after[np.newaxis], axis=0)[0]
    high = np.take_along_axis(potentials, after[np.newaxis] + 1, axis=0)[0]
    times: FloatArray = (after + 1 + (-20.0 - low) / (high - low)) * step
    return times.T


def test_two_axons_synchronise() -> None:
    """Spikes in parallel fibres lock, and are slower, where the medium conducts poorly (Katz and Schmitt 1940).

    In an infinite medium, equal axons lock with a lag (phase locking, as of Sheheitli and Jirsa 2020), which does not
    depend on when they started: the lags of two pairs, which begin with 0.3 and 1.2 ms, approach each other, also
    with diameters that differ by 2 %.
    """
    for ratio in (1.0, 0.98):
        lags, ends = {}, {}
        for sigma in (None, 0.012):
            early, late = arrivals(sigma, 0.3, ratio), arrivals(sigma, 1.2, ratio)
            lags[sigma] = np.diff(late - early, axis=1)[:, 0]
            ends[sigma] = late[-1]
        np.testing.assert_allclose(lags[None], 0.9, atol=0.01)
        assert (np.diff(lags[0.012]) < 0.0).all()
        assert lags[0.012][-1] < 0.7 * 0.9
        assert (ends[0.012] > ends[None] + 0.1).all(), "slower"
