"""Tables and small pictures as HTML, for notebooks. The pictures are SVG, so that they need no other package."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["card", "lines_picture", "raster_picture"]

_WIDTH, _HEIGHT = 560, 140
_MARGIN = 18  # below, for the times
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#000000")
_MOST_MARKERS = 4000
_MOST_POINTS = 500

Numbers = npt.NDArray[np.float64]


def card(title: str, rows: Mapping[str, object], picture: str = "") -> str:
    """Return a title, a table of named values and a picture; values that are None or empty are left out."""
    cells = "".join(
        f'<tr><td style="text-align:left">{html.escape(name)}</td>'
        f'<td style="text-align:left">{html.escape(str(value))}</td></tr>'
        for name, value in rows.items()
        if value is not None and str(value)
    )
    return f"<p><b>{html.escape(title)}</b></p><table>{cells}</table>{picture}"


def raster_picture(trains: Sequence[tuple[str, Numbers, Numbers, int]], window: tuple[float, float]) -> str:
    """Return the spikes of populations as dots, the first population on top.

    Parameters
    ----------
    trains
        Name of each population, times of its spikes (ms), their neurons from 0, and its number of neurons.
    window
        Start and end of the picture, ms.
    """
    neurons = max(1, sum(size for *_, size in trains))
    shown = sum(int(((times > window[0]) & (times <= window[1])).sum()) for _, times, _, _ in trains)
    stride = max(1, -(-shown // _MOST_MARKERS))
    parts, above = [], 0
    for place, (name, times, rows, size) in enumerate(trains):
        here = (times > window[0]) & (times <= window[1]) & (rows.astype(np.int64) % stride == 0)
        x = _WIDTH * (times[here] - window[0]) / (window[1] - window[0])
        y = _HEIGHT * (above + rows[here] + 0.5) / neurons
        path = "".join(f"M{a:.1f} {b:.1f}h1" for a, b in zip(x, y, strict=True))
        colour = _COLOURS[place % len(_COLOURS)]
        parts.append(f'<path d="{path}" stroke="{colour}" stroke-width="1.5" fill="none"/>')
        middle = _HEIGHT * (above + 0.5 * size) / neurons
        parts.append(_text(_WIDTH + 6, middle + 4, name, colour))
        above += size
    if stride > 1:
        parts.append(_text(_WIDTH / 2, _HEIGHT + 14, f"one neuron in {stride} is shown", "#5F6B75", "middle"))
    return _svg(parts, window)


def lines_picture(lines: Sequence[tuple[str, Numbers]], times: Numbers, unit: str) -> str:
    """Return values over time as lines; `unit` is written beside the smallest and the greatest value."""
    if len(times) < 2 or not lines:
        return ""
    values = np.concatenate([each for _, each in lines])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    span = (high - low) or 1.0
    stride = max(1, len(times) // _MOST_POINTS)
    window = float(times[0]), float(times[-1])
    parts = []
    for place, (_, each) in enumerate(lines):
        x = _WIDTH * (times[::stride] - window[0]) / (window[1] - window[0])
        y = _HEIGHT * (0.95 - 0.9 * (each[::stride] - low) / span)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True) if np.isfinite(b))
        colour = _COLOURS[place % len(_COLOURS)]
        parts.append(f'<polyline points="{points}" stroke="{colour}" stroke-width="1" fill="none"/>')
    parts.append(_text(_WIDTH + 6, 0.05 * _HEIGHT + 4, f"{high:.4g} {unit}", "#5F6B75"))
    parts.append(_text(_WIDTH + 6, 0.95 * _HEIGHT + 4, f"{low:.4g} {unit}", "#5F6B75"))
    return _svg(parts, window)


def _text(x: float, y: float, text: str, colour: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" font-family="sans-serif" fill="{colour}" '
        f'text-anchor="{anchor}">{html.escape(text)}</text>'
    )


def _svg(parts: Sequence[str], window: tuple[float, float]) -> str:
    bottom = _HEIGHT + 14
    frame = f'<path d="M0 {_HEIGHT}h{_WIDTH}" stroke="#5F6B75" stroke-width="1"/>'
    ends = _text(0, bottom, f"{window[0]:g}", "#5F6B75") + _text(_WIDTH, bottom, f"{window[1]:g} ms", "#5F6B75", "end")
    size = f'width="{_WIDTH + 110}" height="{_HEIGHT + _MARGIN}" viewBox="0 -4 {_WIDTH + 110} {_HEIGHT + _MARGIN + 4}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{frame}{"".join(parts)}{ends}</svg>'
