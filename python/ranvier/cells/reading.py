"""Reads reconstructed morphologies from files."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ranvier.base.packages import package
from ranvier.base.paths import checked_path
from ranvier.cells.morphology import Morphology, Section
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
        When it cannot be read, is no morphology, has points without thickness, points that belong to no soma, several
        roots or loops; the error names the line where it can.
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
    if file.suffix.lower() == ".swc":
        _check_tree(file)
    warnings = morphio.WarningHandlerCollector()
    try:
        found = morphio.Morphology(str(file), warning_handler=warnings)
    except morphio.MorphioError as error:
        raise FileError(f"file {file}", bound=_words(error, file), remedy="mend the file") from None
    for emission in warnings.get_all():
        warning = emission.warning
        name = str(warning.warning()).rpartition(".")[2]
        # A neurite that belongs to no soma is the root where there is none.
        if name in _HARMLESS or (name == "disconnected_neurite" and len(found.soma.points) == 0):
            continue
        raise FileError(f"file {file}", bound=_words(warning.msg(), file), remedy="mend the file")
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


def _words(error: object, file: Path) -> str:
    """Return a message of MorphIO in one line, without colours and the name of the file."""
    text = " ".join(_COLOURS.sub("", str(error)).split()).replace(f"{file}:", "line ")
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
    numbers: dict[int, int] = {}
    for section in found.iter():
        numbers[section.id] = len(sections)
        tag = int(section.type)
        if tag == _UNDEFINED:
            raise FileError(f"file {file}", f"section {section.id}", "it has no kind", "give it a tag")
        if section.is_root:
            parent, position = (0, 0.5) if len(soma.points) else (None, 1.0)
        else:
            parent, position = numbers[section.parent.id], 1.0
        points = np.column_stack([section.points, section.diameters]).astype(np.float64)
        if len(points) < 2:
            raise FileError(
                f"file {file}", f"section {section.id}", "it has a single point", "add a second one, or remove it"
            )
        sections.append(Section(points=points, parent=parent, parent_position=position, tag=tag))
    return sections


def _soma_size(found: Any) -> float:
    """Return the diameter of the sphere that has the surface of the soma, um."""
    soma = found.soma
    if found.soma_type.name == "SOMA_SIMPLE_CONTOUR":
        return 2.0 * float(np.linalg.norm(soma.points - soma.center, axis=1).mean())
    return float(np.sqrt(soma.surface / np.pi))


def _check_tree(file: Path) -> None:
    """Check that the samples of an SWC file form trees: of those that do not, MorphIO leaves some out.

    Lines that are no samples are left to MorphIO, which names them.
    """
    parents: dict[int, tuple[int, int]] = {}
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise FileError(f"file {file}", bound=str(error.strerror or error)) from None
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if len(words) < 7:
            continue
        try:
            sample, parent = int(words[0]), int(words[6])
        except ValueError:
            continue
        if sample in parents:
            raise FileError(f"file {file}, line {number}", f"sample {sample}", "it is there already", "number it anew")
        parents[sample] = (parent, number)
    if not parents:
        raise FileError(f"file {file}", "no samples", "a cell has at least one", "check that it is an SWC file")
    known: set[int] = set()
    for sample in parents:
        path: list[int] = []
        on_path: set[int] = set()
        place = sample
        while place in parents and place not in known:
            if place in on_path:
                raise FileError(
                    f"file {file}, line {parents[place][1]}",
                    f"sample {place}",
                    "it is among its own ancestors: the samples form a loop",
                    "correct its parent",
                )
            path.append(place)
            on_path.add(place)
            place = parents[place][0]
        known.update(path)
