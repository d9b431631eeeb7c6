"""What Ranvier reads of the corpus of NMODL files: what the list beside it says, each refusal with its line.

Channels that are read do what NEURON makes of the same files; samples of NEURON's results are stored. `make test` reads
every sixth file. `make validate` reads all of them, and compiles them with NEURON again.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nmodl_corpus import (
    CORPUS,
    Protocol,
    effect,
    files,
    listed,
    read,
    stored,
    text_of,
    worst_difference,
)
from thorough_cases import every


@pytest.mark.parametrize("file", every(6, files()), ids=lambda file: file.stem)
def test_a_file_does_what_neuron_does_or_is_refused_as_listed(file: Path) -> None:
    """After a change of the reader, `python tests/python/support/nmodl_corpus.py` writes the list."""
    found, channel = read(file)
    expected = listed()[file.stem]
    if found.status == "refused":
        assert found == expected
        assert 0 < found.line <= len(file.read_text().splitlines())
        return
    assert expected.status != "refused"
    text = text_of(file)
    reference = stored()[file.stem]
    without = stored()[text.baseline]
    assert effect(reference, without) > 0.01
    assert expected.fits(worst_difference(channel, text, Protocol(), reference, is_sampled=True))


def test_the_list_names_each_file_once() -> None:
    assert list(listed()) == [file.stem for file in files()]
    assert Counter(each.status for each in listed().values())["read"] > 0


@pytest.mark.parametrize("file", sorted((CORPUS / "invalid").glob("*.mod")), ids=lambda file: file.stem)
def test_a_file_that_is_no_nmodl_is_refused(file: Path) -> None:
    """NEURON's translator refuses these, too (validation)."""
    found, _ = read(file)
    if file.stem == "if_around_solve" and found.status == "read":
        pytest.xfail("the block that is solved last is taken, whatever the condition is")
    assert found.status == "refused"
    assert found.line > 0
