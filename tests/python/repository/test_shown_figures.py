"""Figures in windows, by pyplot or by themselves, and without a display."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pytest

import ranvier as rv
from ranvier.figures.style import Figure, new_figure
from window_backend import FigureManager


@pytest.fixture
def windows() -> Iterator[list[Figure]]:
    """Let matplotlib show figures in windows; return those that are shown."""
    before = mpl.get_backend()
    plt.switch_backend("module://window_backend")
    FigureManager.shown.clear()
    yield FigureManager.shown
    plt.close("all")
    plt.switch_backend(before)


def spikes() -> rv.SpikeData:
    steps = np.arange(1, 401)
    return rv.SpikeData(steps, steps % 7, 0.1, 0, 400, (rv.Segment("exc", 0, 7),))


def test_pyplot_shows_and_closes_figures(windows: list[Figure]) -> None:
    first, second = rv.plot.raster(spikes()), rv.plot.rates(spikes())
    assert plt.gcf() is second
    plt.show()
    assert windows == [first, second]
    plt.close(first)
    windows.clear()
    plt.show()
    assert windows == [second]


def test_a_figure_shows_itself(windows: list[Figure]) -> None:
    figure = rv.plot.raster(spikes())
    figure.show()
    plt.close(figure)
    alone = Figure()
    alone.show()
    assert windows == [figure, alone]


def test_files_are_the_same_with_and_without_windows(windows: list[Figure]) -> None:
    sizes = []
    for figure in (new_figure(4.0, 3.0), Figure(figsize=(4.0, 3.0), dpi=150)):
        written = io.BytesIO()
        figure.savefig(written)
        written.seek(0)
        sizes.append(mpl.image.imread(written).shape[:2])
    assert sizes == [(450, 600)] * 2
    figure = new_figure(4.0, 3.0)
    assert figure.dpi == 100
    written = io.BytesIO()
    figure.savefig(written, dpi=50)
    written.seek(0)
    assert mpl.image.imread(written).shape[:2] == (150, 200)


def test_axes_of_the_user_make_no_figure(windows: list[Figure]) -> None:
    _, axes = plt.subplots()
    rv.plot.raster(spikes(), ax=axes)
    assert len(plt.get_fignums()) == 1


def test_without_a_display_figures_are_freed() -> None:
    assert mpl.get_backend().lower() == "agg"
    before = plt.get_fignums()
    figure = rv.plot.raster(spikes())
    assert plt.get_fignums() == before
    with pytest.warns(UserWarning, match="no display"):
        figure.show()


@pytest.mark.thorough
def test_pyplot_is_not_loaded_by_drawing(tmp_path: Path) -> None:
    program = """
import sys, ranvier as rv, numpy as np
steps = np.arange(1, 401)
rv.plot.raster(rv.SpikeData(steps, steps % 7, 0.1, 0, 400, (rv.Segment("exc", 0, 7),)))
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)
