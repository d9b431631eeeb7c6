"""Each answer of the page "How do I ..." runs, after the network with which the page begins."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ranvier as rv
from repository import ROOT

PAGE = (ROOT / "docs/how_do_i.md").read_text()


def answers() -> dict[str, str]:
    """Return the program of each answer that has one, by its question; the first is that of the page."""
    found = {"the network": ""}
    question = "the network"
    for part in re.split(r"(?m)^(\*\*.+?\*\*|```python\n.*?^```)", PAGE, flags=re.DOTALL):
        if part.startswith("**"):
            question = part.strip("*")
            assert question not in found, "asked twice"
            found[question] = ""
        elif part.startswith("```python"):
            found[question] += part.removeprefix("```python\n").removesuffix("```")
    return found


ANSWERS = answers()


def test_there_are_fifty_answers() -> None:
    questions = [name for name in ANSWERS if name != "the network"]
    assert len(questions) >= 50
    assert all(name.endswith("?") for name in questions)
    words = PAGE.lower()
    for subject in (
        *(
            "autapses",
            "close the loop",
            "trials",
            "population rate",
            "matrix of weights",
            "notebook",
            "multiprocessing",
        ),
        *("troubles", "sparse matrix", "seed"),
    ):
        assert subject in words, subject


@pytest.mark.parametrize("question", [name for name, text in ANSWERS.items() if text])
def test_answers_run(question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "answer"}
    exec(ANSWERS["the network"], names)
    if question != "the network":
        exec(ANSWERS[question], names)
    assert isinstance(names["net"], rv.Network)
