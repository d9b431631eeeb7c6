"""Files of movies, which are written frame by frame."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from ranvier.base.paths import check_writable, checked_path, file_errors
from ranvier.errors import FileError, MissingPackageError

__all__ = ["SUFFIXES", "check_movie_file", "write_movie"]

SUFFIXES = (".gif", ".mp4")
# A GIF measures the time of a frame in hundredths of a second, and viewers slow down what is faster than this.
_FASTEST_GIF = 50.0


def check_movie_file(path: str | os.PathLike[str]) -> Path:
    """Return a checked path of a movie that can be written.

    Raises
    ------
    FileError
        For another format than GIF and MP4, and when the file cannot be written.
    MissingPackageError
        For MP4, when there is no ffmpeg.
    """
    checked = checked_path(path)
    suffix = checked.suffix.lower()
    if suffix not in SUFFIXES:
        raise FileError(
            f"movie {checked}", bound=f"its format is not known: '{suffix}'", remedy=f"name it {' or '.join(SUFFIXES)}"
        )
    if suffix == ".mp4":
        _ffmpeg()
    check_writable(checked)
    return checked


def write_movie(path: Path, figure: Figure, draw: Callable[[int], object], frames: int, fps: int) -> None:
    """Draw all frames one after another, and write them to a file, which is replaced when all are written.

    Parameters
    ----------
    path
        A checked path.
    figure
        The figure of all frames.
    draw
        Draws the frame of a number in the figure.
    frames
        Number of frames.
    fps
        Frames per second.
    """
    with file_errors(path, "written"), _replaced(path) as beside:
        write = _write_gif if path.suffix.lower() == ".gif" else _write_mp4
        write(beside, figure, draw, frames, fps)


@contextlib.contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    """Yield the name of a new file that replaces the old one at the end, unless there was an error."""
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".ranvier.{os.urandom(8).hex()}{target.suffix.lower()}")
    try:
        yield beside
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _write_gif(path: Path, figure: Figure, draw: Callable[[int], object], frames: int, fps: int) -> None:
    # The writer of matplotlib keeps all frames until the last one.
    from PIL import GifImagePlugin, Image

    milliseconds = max(10.0 * round(100.0 / fps), 1000.0 / _FASTEST_GIF)
    with path.open("wb") as file:
        for frame in range(frames):
            draw(frame)
            pixels = _pixels(figure)
            image = Image.fromarray(pixels).quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
            if frame == 0:
                header, _ = GifImagePlugin.getheader(image.copy(), info={"loop": 0})
                file.writelines(header)
            file.writelines(GifImagePlugin.getdata(image, duration=milliseconds, include_color_table=True))
        file.write(b";")


def _pixels(figure: Figure) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the figure as an image, shape ``(height, width, 3)``."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = figure.canvas if isinstance(figure.canvas, FigureCanvasAgg) else FigureCanvasAgg(figure)
    canvas.draw()
    return np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[:, :, :3])


def _write_mp4(path: Path, figure: Figure, draw: Callable[[int], object], frames: int, fps: int) -> None:
    from matplotlib.animation import FFMpegWriter

    # Players expect this form of the colours. It needs even numbers of pixels.
    arguments = ["-pix_fmt", "yuv420p", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white"]
    with mpl.rc_context({"animation.ffmpeg_path": _ffmpeg()}):
        writer = FFMpegWriter(fps=fps, codec="libx264", extra_args=arguments)
        with writer.saving(figure, str(path), figure.dpi):
            for frame in range(frames):
                draw(frame)
                writer.grab_frame()


def _ffmpeg() -> str:
    """Return the program that writes MP4: of the system, or of the package imageio-ffmpeg."""
    from matplotlib.animation import FFMpegWriter

    if FFMpegWriter.isAvailable():
        return str(mpl.rcParams["animation.ffmpeg_path"])
    try:
        return str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise MissingPackageError(
            "program ffmpeg",
            bound="movies in MP4 need it",
            remedy="pip install 'ranvier[movies]', or write a GIF: to='movie.gif'",
        ) from error
