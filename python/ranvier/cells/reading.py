"""Reads reconstructed morphologies from files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.encodings import decoded, has_mark
from ranvier.base.packages import package
from ranvier.base.paths import checked_path
from ranvier.cells.cones import MOST_BRANCHES, Cones
from ranvier.cells.form import Form, distances_along
from ranvier.cells.hdf5_check import check_hdf5
from ranvier.cells.morphology import TAGS, Morphology, check_points
from ranvier.cells.neurolucida_check import check_neurolucida
from ranvier.cells.swc_check import check_swc
from ranvier.errors import FileError, RanvierError

__all__ = ["read_morphology"]

# Warnings of MorphIO that are ignored: sections with a single child, and forms of somata.
_HARMLESS = frozenset(
    {"only_child", "type_changed_within_section", "soma_non_conform", "soma_non_contour", "no_soma_found"}
)
_COLOURS = re.compile("\x1b\\[[0-9;]*m")
_UNDEFINED = 0
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def read_morphology(path: str | PathLike[str]) -> Morphology:
    """Read the form of a cell from an SWC file (``.swc``), a Neurolucida file (``.asc``) or an HDF5 file (``.h5``).

    The soma becomes a cylinder that is as long as wide, with the same surface as in the file. A soma of three
    points in an SWC file, where the second and third follow the first, is a sphere, as NeuroMorpho.org writes it. A
    contour has the surface of the sphere whose radius is the mean distance of its points from their centre.
    Neurites are connected to the middle of the soma, and start with their first point. Without a soma, the file must
    have one neurite, which becomes the root.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    FileError
        When it cannot be read, is not a morphology, has points without thickness, values that are not finite numbers,
        points without a soma, several roots, missing parents or loops, more than 5000 forks or changes of kind in a
        row, or parts that MorphIO would leave out; the error names the line or the section if possible.
    MissingPackageError
        When MorphIO is not installed: ``pip install 'ranvier[morphology]'``.

    Notes
    -----
    Sections are numbered from the soma, which is 0, depth first in the order of the file. They end at forks, and in SWC
    files where the tag changes. Coordinates have the single precision of MorphIO.
    """
    file = checked_path(path, "path of a morphology")
    morphio = package("morphio", "read_morphology", "morphology")
    if not file.is_file():
        raise FileError(f"file {file}", bound="there is no such file", remedy="check the path")
    cones, text = _checked(file)
    branches, line = cones.widest()
    if branches > MOST_BRANCHES:
        raise FileError(
            f"file {file}" + (f", line {line}" if line else ""),
            f"{branches} branches that start at one point",
            f"files may have at most {MOST_BRANCHES}: MorphIO would take minutes for more",
            "build the cell in Python: rv.Morphology(sections)",
        )
    warnings = morphio.WarningHandlerCollector()
    try:
        # A section of an SWC file ends where its kind changes, too; for others the option costs time in vain.
        options = morphio.Option.no_modifier
        kind = file.suffix.lower()
        if kind == ".swc":
            options = morphio.Option.allow_unifurcated_section_change
        given = (str(file),) if text is None else (text, kind.removeprefix("."))
        found = morphio.Morphology(*given, options=options, warning_handler=warnings)
    # MorphIO also raises errors of C++ and of HDF5, and messages that are not valid text.
    except (morphio.MorphioError, RuntimeError, LookupError, ValueError, MemoryError) as error:
        raise FileError(f"file {file}", bound=_words(error, file), remedy="correct the file") from None
    for emission in warnings.get_all():
        warning = emission.warning
        name = str(warning.warning()).rpartition(".")[2]
        # Without a soma, a disconnected neurite is the root.
        if name in _HARMLESS or (name == "disconnected_neurite" and len(found.soma.points) == 0):
            continue
        raise FileError(f"file {file}", bound=_words(warning.msg(), file), remedy="correct the file")
    _check_whole(file, cones, found)
    try:
        return Morphology._of(_form(file, found), file.stem)
    except FileError:
        raise
    except morphio.MorphioError as error:
        raise FileError(
            f"file {file}", bound=_words(error, file), remedy="give the soma as a point or a contour"
        ) from None
    except RanvierError as error:
        raise FileError(f"file {file}: {error.object}", error.value, error.bound, error.remedy) from None


def _checked(file: Path) -> tuple[Cones, str | None]:
    """Return the cones of the file, after checks that MorphIO lacks, and the text that MorphIO reads instead of it.

    The text is None if MorphIO reads the file itself.
    """
    kind = file.suffix.lower()
    if kind == ".h5":
        return check_hdf5(file), None
    if kind not in (".swc", ".asc"):
        raise FileError(
            f"file {file}", f"of the kind '{kind}'", "files of morphologies end in .swc, .asc or .h5", "convert it"
        )
    try:
        data = file.read_bytes()
    except OSError as error:
        raise FileError(
            f"file {file}", bound=str(error.strerror or error), remedy="check that it can be read"
        ) from None
    text = decoded(data)
    cones = check_neurolucida(file, text) if kind == ".asc" else None
    if cones is None:
        cones, conventional = check_swc(file, text)
        if conventional is not None:
            return cones, conventional
    return cones, text if has_mark(data) else None


def _check_whole(file: Path, cones: Cones, found: Any) -> None:
    """Check that MorphIO has read all neurites: the number and the length of their cones are those of the file."""
    count, length = cones.counted()
    begins = np.asarray(found.section_offsets, dtype=np.int64)[: len(found.section_types)]
    steps = np.diff(np.asarray(found.points, dtype=np.float64), axis=0)
    # The last point of a section and the first point of the next do not form a cone.
    steps = np.delete(steps, begins[begins > 0] - 1, axis=0)
    lengths = np.sqrt((steps**2).sum(axis=1))
    if np.count_nonzero(lengths) == count and np.isclose(lengths.sum(), length, rtol=1e-6, atol=0.0):
        return
    raise FileError(
        f"file {file}",
        f"read by MorphIO as {np.count_nonzero(lengths)} cones of {lengths.sum():.9g} um",
        f"the file has {count} of {length:.9g} um in its neurites",
        "correct the file",
    )


def _words(error: object, file: Path) -> str:
    """Return a message of MorphIO in one line, without colours and the name of the file."""
    # A message that quotes invalid text cannot be decoded.
    given = error.object.decode(errors="replace") if isinstance(error, UnicodeDecodeError) else str(error)
    text = " ".join(_COLOURS.sub("", given).split()).replace(f"{file}:", "line ").replace("$STRING$:", "line ")
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return re.sub(r":(error|warning) (Warning: )?", ": ", text) or "it is not a morphology"


def _form(file: Path, found: Any) -> Form:
    soma = len(found.soma.points) > 0
    roots = len(found.connectivity.get(-1, ()))
    if not soma and roots != 1:
        raise FileError(
            f"file {file}", f"{roots} neurites and no soma", "a cell is one tree", "add a soma, or leave one neurite"
        )
    points = np.column_stack([found.points, found.diameters]).astype(np.float64).reshape(-1, 4)
    offsets = np.append(np.asarray(found.section_offsets, dtype=np.int64)[: len(found.section_types)], len(points))
    tags = np.asarray(found.section_types, dtype=np.int64)
    order, parents, positions = _tree(file, found.connectivity, np.diff(offsets), tags, soma)
    # The points of the sections in their new order.
    counts = np.diff(offsets)[order]
    begins = np.cumsum(counts) - counts
    points = points[np.repeat(offsets[:-1][order] - begins, counts) + np.arange(int(counts.sum()))]
    _check_points(points, begins, order)
    distances = distances_along(points[:, :3], np.append(begins, len(points)))
    radii, places = points[:, 3] / 2.0, points[:, :3].copy()
    tags, begins = tags[order], np.append(begins, len(points))
    if soma:
        size = _soma_size(found)
        if not 0.0 < size < float("inf"):
            raise FileError(
                f"file {file}",
                f"a soma with a diameter of {size:g} um",
                "it must be > 0 and finite",
                "correct the points of the soma, or remove them",
            )
        distances = np.concatenate([[0.0, size], distances])
        radii = np.concatenate([[size / 2.0, size / 2.0], radii])
        places = np.concatenate([np.full((2, 3), np.nan), places])
        tags, begins = np.append(TAGS["soma"], tags), np.append(0, begins + 2)
    return Form(np.array(parents), np.array(positions), tags, begins, distances, radii, places)


def _tree(
    file: Path, children: dict[int, list[int]], counts: IntArray, tags: IntArray, soma: bool
) -> tuple[IntArray, list[int], list[float]]:
    """Return the sections of MorphIO that the cell has, in their new order, and the parents and positions of all."""
    order: list[int] = []
    parents, positions = ([-1], [1.0]) if soma else ([], [])
    # Section of the cell, and position on it, at the end of each section of MorphIO.
    ends: dict[int, tuple[int, float]] = {-1: (0, 0.5) if soma else (-1, 1.0)}
    has_kind, is_point = (tags != _UNDEFINED).tolist(), (counts < 2).tolist()
    for section, before in _depth_first(children):
        if not has_kind[section]:
            raise FileError(f"file {file}", f"section {section}", "it has no kind", "give it a tag")
        if is_point[section]:
            # A fork at the soma with a point: its branches start there.
            if before != -1 or not soma or section not in children:
                raise FileError(
                    f"file {file}", f"section {section}", "it has a single point", "add a second one, or remove it"
                )
            ends[section] = ends[before]
            continue
        ends[section] = len(parents), 1.0
        order.append(section)
        parents.append(ends[before][0])
        positions.append(ends[before][1])
    return np.array(order, dtype=np.int64), parents, positions


def _check_points(points: FloatArray, begins: IntArray, order: IntArray) -> None:
    """Check all points at once, and section by section if one is invalid."""
    good = np.isfinite(points).all(axis=1) & (points[:, 3] > 0.0)
    if not good.all():
        i = int(np.searchsorted(begins, np.flatnonzero(~good)[0], side="right")) - 1
        end = begins[i + 1] if i + 1 < len(begins) else len(points)
        check_points(points[begins[i] : end], f"section {order[i]}")


def _depth_first(children: dict[int, list[int]]) -> Iterator[tuple[int, int]]:
    """Yield all sections and their parents, depth first."""
    waiting = [(root, -1) for root in reversed(children.get(-1, []))]
    while waiting:
        section, parent = waiting.pop()
        yield section, parent
        waiting += [(child, section) for child in reversed(children.get(section, []))]


def _soma_size(found: Any) -> float:
    """Return the diameter of the sphere that has the surface of the soma, um."""
    soma = found.soma
    if found.soma_type.name == "SOMA_SIMPLE_CONTOUR":
        return 2.0 * float(np.linalg.norm(soma.points - soma.center, axis=1).mean())
    return float(np.sqrt(soma.surface / np.pi))
