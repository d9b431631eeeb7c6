"""Files of results of commands."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ["add_result_files"]


def add_result_files(parser: argparse.ArgumentParser, drawn: str = "") -> None:
    """Declare ``--json``, and ``--plot`` for commands that draw a figure; `drawn` describes it."""
    parser.add_argument("--json", metavar="FILE", type=Path, help="write all results to this file")
    if drawn:
        parser.add_argument("--plot", metavar="FILE", type=Path, help=f"draw {drawn} into this file (png, pdf, svg)")
