"""Each file of the NMODL corpus does in Ranvier what NEURON's own compiler makes of it, or is refused with its line."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from nmodl_corpus import (
    CORPUS,
    TOLERANCE,
    FloatArray,
    Protocol,
    compile_folder,
    compiled,
    difference,
    effect,
    files,
    in_neuron,
    in_ranvier,
    listed,
    read,
    sampled,
    stored,
    text_of,
    worst_difference,
)

PROTOCOL = Protocol()
BRANCHES = Protocol(sections=((20.0, 20.0, 1), (150.0, 2.0, 3), (90.0, 0.8, 2)), celsius=33.0, time=15.0)
Traces = dict[str, dict[str, FloatArray]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which NEURON has compiled all files."""
    return compiled(files(), tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def neuron(folder: Path) -> Traces:
    """Return what NEURON makes of all files."""
    return in_neuron(folder, files(), PROTOCOL)


@pytest.fixture(scope="module")
def neuron_in_branches(folder: Path) -> Traces:
    """Return what NEURON makes of all files in cells with several compartments, at another temperature."""
    return in_neuron(folder, files(), BRANCHES)


@pytest.mark.parametrize("file", files(), ids=lambda file: file.stem)
def test_a_file_does_what_neuron_does(file: Path, neuron: Traces) -> None:
    expected = listed()[file.stem]
    found, channel = read(file)
    text = text_of(file)
    assert effect(neuron[file.stem], neuron[text.baseline]) > 0.01, "it has no effect in NEURON"
    for name, values in stored()[file.stem].items():
        np.testing.assert_allclose(sampled(neuron[file.stem])[name], values, rtol=1e-9, atol=1e-9)
    if expected.status == "refused":
        assert found == expected
        return
    assert expected.fits(worst_difference(channel, text, PROTOCOL, neuron[file.stem]))


@pytest.mark.parametrize("file", files(), ids=lambda file: file.stem)
def test_a_file_does_what_neuron_does_in_branches(file: Path, neuron_in_branches: Traces) -> None:
    if listed()[file.stem].status != "read":
        return
    text = text_of(file)
    differences = difference(in_ranvier(read(file)[1], text, BRANCHES), neuron_in_branches[file.stem])
    # Potentials that differ by rounding differ by more after steep upstrokes.
    assert max(differences.values()) <= 10.0 * TOLERANCE, differences


@pytest.mark.parametrize("file", sorted((CORPUS / "invalid").glob("*.mod")), ids=lambda file: file.stem)
def test_a_file_that_is_no_nmodl_is_refused_by_neuron(file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path)
    done = compile_folder(tmp_path)
    assert done.returncode != 0
    assert "rror" in done.stdout + done.stderr
