"""Each file of the NMODL corpus does in Ranvier what NEURON's own compiler makes of it, or is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmodl_corpus import (
    CORPUS,
    FloatArray,
    Protocol,
    compiled,
    difference,
    files,
    in_neuron,
    in_ranvier,
    listed,
    read,
    text_of,
    translate,
)

PROTOCOL = Protocol()
TOLERANCE = 1e-9
"""mV, and relative for states: both take the same steps, and round differently, about 1e-12."""

Traces = dict[str, dict[str, FloatArray]]


@pytest.fixture(scope="module")
def neuron(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """Return what NEURON makes of all files, which it compiles once."""
    return in_neuron(compiled(files(), tmp_path_factory.mktemp("corpus")), files(), PROTOCOL)


@pytest.mark.parametrize("file", files(), ids=lambda file: file.stem)
def test_a_file_does_what_neuron_does(file: Path, neuron: Traces) -> None:
    expected = listed()[file.stem]
    found, channel = read(file)
    assert float(abs(neuron[file.stem]["v"] - neuron[""]["v"]).max()) > 0.01, "it has no effect in NEURON"
    if expected.status == "refused":
        assert found == expected
        return
    differences = difference(in_ranvier(channel, text_of(file), PROTOCOL), neuron[file.stem])
    worst = max(differences.values())
    if expected.status == "differs":
        assert worst > TOLERANCE, "it does not differ any more: list it as read"
    else:
        assert worst <= TOLERANCE, differences


@pytest.mark.parametrize("file", sorted((CORPUS / "invalid").glob("*.mod")), ids=lambda file: file.stem)
def test_a_file_that_is_no_nmodl_is_refused_by_neuron(file: Path, tmp_path: Path) -> None:
    assert translate(file, tmp_path) != 0
