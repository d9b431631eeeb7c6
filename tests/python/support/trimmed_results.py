"""The tool that trims results, and results of `ranvier paper` as docs/measurements would hold them."""

from __future__ import annotations

import argparse
import importlib.util
import json
import shlex
from pathlib import Path
from types import ModuleType

from ranvier_benchmarks.papers import _command
from repository import ROOT

__all__ = ["TOOL", "load_tool", "show_trimmed"]

TOOL = ROOT / "tools/trim_measurement.py"


def load_tool() -> ModuleType:
    """Return the tool as a module."""
    spec = importlib.util.spec_from_file_location(TOOL.stem, TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def show_trimmed(path: Path) -> None:
    """Trim the JSON file of a result of `ranvier paper`, and show and draw what is left."""
    whole = json.loads(path.read_text())
    command = ["ranvier", "paper", whole["paper"], f"--{whole['kind']}", whole["number"]]
    trimmed = path.with_suffix(".trimmed.json")
    load_tool().main([str(path), str(trimmed), shlex.join(command)])
    assert json.loads(trimmed.read_text()).keys() >= {"command", "options", "machine"}
    parser = argparse.ArgumentParser()
    _command.add_arguments(parser)
    plot = ["--plot", str(path.with_suffix(".svg"))]
    drawn = any(
        result.draw is not None
        for paper in _command.known_papers()
        for result in paper.results
        if (paper.name, result.kind, result.number) == (whole["paper"], whole["kind"], whole["number"])
    )
    arguments = parser.parse_args([*command[2:], "--from", str(trimmed), *(plot if drawn else [])])
    assert _command.main(arguments) == 0
