"""Figures of a topographic projection: receptive fields that are measured from spikes."""

from __future__ import annotations

import numpy as np
from matplotlib.collections import LineCollection

from ranvier.base.values import FloatArray
from ranvier.figures.style import EXCITATORY, FAINT, GREY, INHIBITORY, Figure, cover, new_figure, styled
from ranvier.populations.populations import Population
from ranvier.recording.data import SpikeData

__all__ = ["centres_of", "receptive_fields", "topography", "width_of"]

_POINTS = 200


def receptive_fields(
    spikes: SpikeData, sources: Population, targets: Population, side: int, epoch: float
) -> FloatArray:
    """Return the receptive fields: covariances of the spike counts of targets and sources over the stimuli.

    Parameters
    ----------
    spikes
        The spikes of both sheets.
    sources, targets
        The sheets, each with ``side * side`` neurons.
    side
        Neurons along a side.
    epoch
        Duration of a stimulus, ms.

    Returns
    -------
    FloatArray
        Shape ``(targets, side, side)``.
    """
    of_sources = spikes.binned_counts(sources, epoch).astype(np.float64)
    of_targets = spikes.binned_counts(targets, epoch).astype(np.float64)
    of_sources -= of_sources.mean(axis=1, keepdims=True)
    fields: FloatArray = (of_targets @ of_sources.T) / of_sources.shape[1]
    return fields.reshape(len(targets), side, side)


def _harmonics(fields: FloatArray, number: int) -> FloatArray:
    """Return the Fourier components of a number of periods along both axes, shape ``(targets, 2)``, complex."""
    side = fields.shape[1]
    wave = np.exp(2j * np.pi * number * np.arange(side) / side)
    result: FloatArray = np.stack([fields.sum(axis=2) @ wave, fields.sum(axis=1) @ wave], axis=1)
    return result


def centres_of(fields: FloatArray) -> FloatArray:
    """Return the centres of receptive fields on the torus, in distances of neighbours, shape ``(targets, 2)``.

    They are the phases of the first Fourier components, so that the ends of the sheet do not matter. Without spikes
    they are NaN.
    """
    side = fields.shape[1]
    first = _harmonics(fields, 1)
    result: FloatArray = np.where(np.abs(first) > 0.0, (np.angle(first) * side / (2.0 * np.pi)) % side, np.nan)
    return result


def aligned_mean(fields: FloatArray) -> FloatArray:
    """Return the mean of the receptive fields, each moved by the place of its target to the middle of the sheet."""
    side = fields.shape[1]
    half = side // 2
    moved = [
        np.roll(field, (half - index // side, half - index % side), axis=(0, 1)) for index, field in enumerate(fields)
    ]
    mean: FloatArray = np.mean(moved, axis=0)
    return mean


def width_of(field: FloatArray) -> float:
    """Return the standard deviation along an axis of a receptive field that is a Gaussian on the torus.

    Of a wrapped Gaussian, the Fourier component of k periods is proportional to exp(-2 (pi k sigma / side)²): the ratio
    of the second and the first one determines sigma, whatever the baseline and the height are. NaN if it is none.
    """
    side = field.shape[0]
    first, second = (np.abs(_harmonics(field[np.newaxis], number)[0]).mean() for number in (1, 2))
    if not 0.0 < second < first:
        return float("nan")
    return float(side / np.pi * np.sqrt(np.log(first / second) / 6.0))


@styled
def topography(
    spikes: SpikeData,
    sources: Population,
    targets: Population,
    *,
    side: int,
    epoch: float,
    widths: tuple[float, float],
    title: str,
) -> Figure:
    """Draw the centres of the receptive fields, their mean form, and their distances from the ideal places.

    Parameters
    ----------
    spikes
        The spikes of both sheets.
    sources, targets
        The sheets, each with ``side * side`` neurons on a grid.
    side
        Neurons along a side.
    epoch
        Duration of a stimulus, ms.
    widths
        Expected standard deviation of a receptive field along an axis, and expected mean distance of the centres from
        the ideal places, in distances of neighbours.
    title
        Title of the figure.
    """
    fields = receptive_fields(spikes, sources, targets, side, epoch)
    ideal = np.stack(np.divmod(np.arange(side**2), side), axis=1).astype(np.float64)
    apart = (centres_of(fields) - ideal + 0.5 * side) % side - 0.5 * side
    figure = new_figure(11.0, 3.8, title)
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.0, 1.1, 1.1])
    places = (ideal + apart).reshape(side, side, 2)
    lines = [*places, *places.transpose(1, 0, 2)]
    left.add_collection(LineCollection(lines, colors=EXCITATORY, linewidths=0.8))
    left.plot(*places.reshape(-1, 2).T, "o", color=EXCITATORY, markersize=2.5)
    left.set(xlim=(-2.0, side + 1.0), ylim=(-2.0, side + 1.0), aspect="equal", xlabel="x (mm)", ylabel="y (mm)")
    left.set_title("centres of receptive fields")
    mean = aligned_mean(fields)
    middle_of = side // 2
    along = np.arange(side) - middle_of
    profile = 0.5 * (mean[:, middle_of] + mean[middle_of])
    scale = float(profile.max()) or 1.0
    middle.plot(along, profile / scale, "o-", color=EXCITATORY, markersize=3, linewidth=1.2, label="measured")
    fine = np.linspace(along[0], along[-1], _POINTS)
    images = side * np.array([[-1.0], [0.0], [1.0]])
    expected = np.exp(-0.5 * ((fine + images) / widths[0]) ** 2).sum(axis=0)
    low = float(profile.min()) / scale
    expected = low + (1.0 - low) * (expected - expected.min()) / (expected.max() - expected.min())
    middle.plot(fine, expected, "--", color=INHIBITORY, linewidth=1.2, label=f"linear theory, width {widths[0]:.2f} mm")
    middle.set(xlabel="distance from the ideal place (mm)", ylabel="covariance, relative")
    width = width_of(mean)
    middle.set_title(f"mean receptive field, width {width:.2f} mm" if np.isfinite(width) else "mean receptive field")
    middle.legend(loc="upper left", frameon=False, fontsize=7)
    middle.set_ylim(top=1.25)
    distances = np.hypot(*apart.T)
    distances = distances[np.isfinite(distances)]
    greatest = float(max(distances.max(initial=0.0), 3.0 * widths[1]))
    edges = np.linspace(0.0, greatest, 21)
    right.stairs(np.histogram(distances, edges)[0], edges, fill=True, color=FAINT)
    fine = np.linspace(0.0, greatest, _POINTS)
    spread = widths[1] / np.sqrt(0.5 * np.pi)
    density = fine / spread**2 * np.exp(-0.5 * (fine / spread) ** 2)
    right.plot(
        fine, density * len(distances) * edges[1], "--", color=INHIBITORY, linewidth=1.2,
        label=f"of random synapses, mean {widths[1]:.2f} mm",
    )  # fmt: skip
    right.set(xlabel="distance of the centre (mm)", ylabel="neurons")
    right.set_title(f"deviations, mean {distances.mean():.2f} mm" if len(distances) else "deviations")
    right.legend(loc="upper right", frameon=False, fontsize=7)
    cover(right, "x", 0.0, greatest, ticks=5)
    right.axhline(0.0, color=GREY, linewidth=0.5)
    return figure
