"""Reads reconstructed morphologies from files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ranvier.base.packages import package
from ranvier.base.paths import checked_path
from ranvier.cells.cones import Cones
from ranvier.cells.hdf5_check import check_hdf5
from ranvier.cells.morphology import Morphology, Section
from ranvier.cells.neurolucida_check import check_neurolucida
from ranvier.cells.swc_check import check_swc
from ranvier.errors import FileError, RanvierError

__all__ = ["read_morphology"]

# What MorphIO warns of, and what is no matter: sections that go on in one other section, and forms of somata.
_HARMLESS = frozenset({"only_child", "soma_non_conform", "soma_non_contour", "no_soma_found"})
_COLOURS = re.compile("\x1b\\[[0-9;]*m")
_UNDEFINED = 0


def read_morphology(path: str | PathLike[str]) -> Morphology:
    """Read the form of a cell from an SWC file (``.swc``), a Neurolucida file (``.asc``) or an HDF5 file (``.h5``).

    The soma becomes a cylinder that is as long as wide, with the same surface as in the file; of a contour it is that
    of the sphere with the mean distance of its points from their centre. Neurites are fixed to its middle, and begin
    with their own first point. Without a soma the file must have one neurite, which becomes the root.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    FileError
        When it cannot be read, is no morphology, has points without thickness, numbers that are none, points that
        belong to no soma, several roots or loops, more than 5000 forks in a row, or parts that MorphIO would leave out;
        the error names the line or the section where it can.
    MissingPackageError
        When MorphIO is not installed: ``pip install 'ranvier[morphology]'``.

    Notes
    -----
    Sections are numbered from the soma, which is 0, depth first in the order of the file. Coordinates have the single
    precision of MorphIO.
    """
    file = checked_path(path, "path of a morphology")
    morphio = package("morphio", "read_morphology", "morphology")
    if not file.is_file():
        raise FileError(f"file {file}", bound="there is no such file", remedy="check the path")
    cones = _checked(file)
    warnings = morphio.WarningHandlerCollector()
    try:
        found = morphio.Morphology(str(file), warning_handler=warnings)
    # Beside its own errors, MorphIO hands on those of C++ and of HDF5, and messages with letters that are none.
    except (morphio.MorphioError, RuntimeError, LookupError, ValueError, MemoryError) as error:
        raise FileError(f"file {file}", bound=_words(error, file), remedy="mend the file") from None
    for emission in warnings.get_all():
        warning = emission.warning
        name = str(warning.warning()).rpartition(".")[2]
        # A neurite that belongs to no soma is the root where there is none.
        if name in _HARMLESS or (name == "disconnected_neurite" and len(found.soma.points) == 0):
            continue
        raise FileError(f"file {file}", bound=_words(warning.msg(), file), remedy="mend the file")
    _check_whole(file, cones, found)
    try:
        return Morphology(_sections(file, found), name=file.stem)
    except FileError:
        raise
    except morphio.MorphioError as error:
        raise FileError(
            f"file {file}", bound=_words(error, file), remedy="give the soma as a point or a contour"
        ) from None
    except RanvierError as error:
        raise FileError(f"file {file}: {error.object}", error.value, error.bound, error.remedy) from None


def _checked(file: Path) -> Cones:
    """Return the cones of the file, after checks that MorphIO does not do."""
    kind = file.suffix.lower()
    if kind == ".h5":
        return check_hdf5(file)
    checks = {".swc": check_swc, ".asc": check_neurolucida}
    if kind not in checks:
        raise FileError(
            f"file {file}", f"of the kind '{kind}'", "files of morphologies end in .swc, .asc or .h5", "convert it"
        )
    try:
        text = file.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        raise FileError(
            f"file {file}", bound=str(error.strerror or error), remedy="check that it can be read"
        ) from None
    return checks[kind](file, text)


def _check_whole(file: Path, cones: Cones, found: Any) -> None:
    """Check that MorphIO has read all neurites: their cones have the number and the lengths that the file tells."""
    count, length = cones.counted()
    begins = np.asarray(found.section_offsets, dtype=np.int64)[:-1] if len(found.sections) else np.empty(0, np.int64)
    steps = np.diff(np.asarray(found.points, dtype=np.float64), axis=0)
    # From the last point of a section to the first one of the next is no cone.
    steps = np.delete(steps, begins[begins > 0] - 1, axis=0)
    lengths = np.sqrt((steps**2).sum(axis=1))
    if np.count_nonzero(lengths) == count and np.isclose(lengths.sum(), length, rtol=1e-6, atol=0.0):
        return
    raise FileError(
        f"file {file}",
        f"read by MorphIO as {np.count_nonzero(lengths)} cones of {lengths.sum():.9g} um",
        f"the file has {count} of {length:.9g} um in its neurites",
        "mend the file",
    )


def _words(error: object, file: Path) -> str:
    """Return a message of MorphIO in one line, without colours and the name of the file."""
    # A message that quotes what is no text cannot be made one.
    given = error.object.decode(errors="replace") if isinstance(error, UnicodeDecodeError) else str(error)
    text = " ".join(_COLOURS.sub("", given).split()).replace(f"{file}:", "line ")
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return re.sub(r":(error|warning) (Warning: )?", ": ", text) or "it is no morphology"


def _sections(file: Path, found: Any) -> list[Section]:
    soma = found.soma
    roots = list(found.root_sections)
    if len(soma.points) == 0 and len(roots) != 1:
        raise FileError(
            f"file {file}",
            f"{len(roots)} neurites and no soma",
            "a cell is one tree",
            "add a soma, or leave one neurite",
        )
    sections: list[Section] = []
    if len(soma.points):
        size = _soma_size(found)
        if not 0.0 < size < float("inf"):
            raise FileError(f"file {file}", f"a soma with a diameter of {size:g} um", "it must be > 0 and finite")
        sections.append(Section(length=size, diameter=size, tag="soma"))
    points = np.column_stack([found.points, found.diameters]).astype(np.float64).reshape(-1, 4)
    offsets = np.asarray(found.section_offsets).tolist()
    tags = np.asarray(found.section_types).tolist()
    # Section of MorphIO: that of the cell where it ends.
    ends: dict[int, tuple[int | None, float]] = {-1: (0, 0.5) if sections else (None, 1.0)}
    for section, before in _depth_first(found.connectivity):
        own = points[offsets[section] : offsets[section + 1]]
        if tags[section] == _UNDEFINED:
            raise FileError(f"file {file}", f"section {section}", "it has no kind", "give it a tag")
        parent, position = ends[before]
        if len(own) < 2:
            # A fork at the soma, with a point of its own: its branches begin there.
            if before != -1 or not sections or section not in found.connectivity:
                raise FileError(
                    f"file {file}", f"section {section}", "it has a single point", "add a second one, or remove it"
                )
            ends[section] = ends[before]
            continue
        ends[section] = len(sections), 1.0
        sections.append(Section._of_points(f"section {section}", own, parent, position, tags[section]))
    return sections


def _depth_first(children: dict[int, list[int]]) -> Iterator[tuple[int, int]]:
    """Yield all sections and their parents, those of a section before its neighbours."""
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
