"""What Ranvier reads of the corpus of NMODL files: as many as the list beside it says, each refusal with its line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nmodl_corpus import CORPUS, files, listed, read


@pytest.mark.parametrize("file", files(), ids=lambda file: file.stem)
def test_a_file_is_read_or_refused_as_the_list_says(file: Path) -> None:
    """Where this fails after a change of the reader, `python tests/python/nmodl_corpus.py` writes the list."""
    found, _ = read(file)
    expected = listed()[file.stem]
    if expected.status == "differs":
        assert found.status == "read"
    else:
        assert found == expected
    if found.status == "refused":
        assert 0 < found.line <= len(file.read_text().splitlines())


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
