"""Checks HDF5 files of morphologies before MorphIO reads them: it does not check indices, and may crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ranvier.base.hdf5 import h5py
from ranvier.cells.cones import DEEPEST, Cones, depths_of
from ranvier.errors import FileError

__all__ = ["check_hdf5"]

IntArray = npt.NDArray[np.int64]

_FARTHEST = 1e9  # um
_SOMA = 1
# Contents of files of MorphIO beside the form of the neuron.
_OTHERS = ("organelles", "mitochondria", "endoplasmic_reticulum", "perimeters")


def _refuse(file: Path, bound: str, value: str = "", remedy: str = "mend the file") -> NoReturn:
    raise FileError(f"file {file}", value, bound, remedy)


def check_hdf5(file: Path) -> Cones:
    """Check the file, and return the cones of its neurites."""
    try:
        with h5py.File(file, "r") as content:
            points = _numbers(file, content, "points", 4)
            structure = _numbers(file, content, "structure", 3)
            _check_metadata(file, content)
    # h5py raises many types for damaged data.
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, MemoryError) as error:
        if isinstance(error, FileError):
            raise
        _refuse(file, f"HDF5 cannot read it: {' '.join(str(error).split())[:200]}")
    places = points[:, :4].astype(np.float64)
    good = (np.abs(places) <= _FARTHEST).all(axis=1)
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        _refuse(file, f"numbers up to {_FARTHEST:g} um are possible", f"point {row}, {places[row].tolist()}")
    rows = structure[:, :3].astype(np.float64)
    if not (np.abs(rows) < 2**31).all() or not (rows == np.round(rows)).all():
        _refuse(file, "the dataset 'structure' has whole numbers of 32 bits")
    return _cones(file, places, rows.astype(np.int64))


def _numbers(file: Path, content: Any, name: str, columns: int) -> npt.NDArray[Any]:
    if name not in content or not isinstance(content[name], h5py.Dataset):
        _refuse(file, f"there is no dataset '{name}'", remedy="check that it is a morphology")
    data = content[name]
    if data.ndim != 2 or data.shape[1] != columns or not len(data) or data.dtype.kind not in "iuf":
        _refuse(
            file,
            f"the dataset '{name}' must have numbers, and the shape (n, {columns})",
            f"'{name}' of shape {data.shape} and type {data.dtype}",
        )
    # A damaged file may have any size as an attribute. A dataset that was never written takes no space in it.
    if data.id.get_storage_size() < data.size * data.dtype.itemsize and data.compression is None:
        _refuse(file, f"the dataset '{name}' is not whole")
    values: npt.NDArray[Any] = data[()]
    return values


def _check_metadata(file: Path, content: Any) -> None:
    others = [name for name in _OTHERS if name in content]
    if others:
        _refuse(file, f"it describes {', '.join(others)}, too", remedy="remove them: cells have neurites only")
    if "metadata" not in content:
        return
    attributes = content["metadata"].attrs
    family = np.ravel(attributes["cell_family"]).tolist() if "cell_family" in attributes else [0]
    if family != [0]:
        _refuse(file, "a cell must be a neuron, family 0", f"of cell family {family}", "give the file of a neuron")


def _cones(file: Path, points: npt.NDArray[np.float64], structure: IntArray) -> Cones:
    begins, tags, parents = structure.T
    ends = np.append(begins[1:], len(points))
    numbers = np.arange(len(structure))

    def check(good: npt.NDArray[np.bool_], bound: str) -> None:
        if not good.all():
            row = int(np.flatnonzero(~good)[0])
            _refuse(file, bound, f"section {row}, {structure[row].tolist()}")

    # A soma without points does not count.
    least = np.where((numbers == 0) & (tags == _SOMA), 0, 1)
    check(
        (begins >= 0) & (begins + least <= ends) & (ends <= len(points)),
        "sections have consecutive points, in their order",
    )
    check((numbers > 0) | (begins == 0), "the first section starts with the first point")
    check((parents >= -1) & (parents < numbers), "a parent precedes its children, and the root has the parent -1")
    check((parents >= 0) | (numbers == 0), "there is one root, the first section")
    check((tags == _SOMA) == ((numbers == 0) & (tags == _SOMA)), "the only soma is the first section")
    check(tags > 0, "a section has a kind, 1 or above")
    check((tags != _SOMA) | (parents == -1), "the soma has no parent")
    is_neurite = tags != _SOMA
    check(~is_neurite | (ends - begins > 1), "a section of a neurite has at least two points")
    of_neurite = np.repeat(is_neurite, ends - begins)
    thin = of_neurite & ~(points[:, 3] > 0.0)
    if thin.any():
        row = int(np.flatnonzero(thin)[0])
        _refuse(
            file,
            "it must be > 0",
            f"diameter {points[row, 3]:g} of point {row}, section {int(np.searchsorted(begins, row, 'right')) - 1}",
        )
    grown = is_neurite & (parents >= 0)
    grown[grown] = tags[parents[grown]] != _SOMA
    first = points[np.minimum(begins, len(points) - 1), :3].astype(np.float32)
    last = points[ends - 1, :3].astype(np.float32)
    check(~grown | (first == last[parents]).all(axis=1), "a section starts at the end of its parent")
    depths, _ = depths_of(parents, parents >= 0)
    if depths.max() > DEEPEST:
        row = int(np.flatnonzero(depths > DEEPEST)[0])
        _refuse(file, f"more than {DEEPEST} sections are on the way from the soma to it", f"section {row}")
    before = np.arange(len(points)) - 1
    before[begins] = -1
    before[begins[grown]] = ends[parents[grown]] - 1
    before[~of_neurite] = -1
    return Cones(points, before, np.empty(0, dtype=np.int64))
