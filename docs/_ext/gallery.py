"""What the gallery of examples needs of us: their order, and the figures that `ranvier.plot` draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

__all__ = ["Order"]

# In the order in which one would read them.
EXAMPLES = (
    "current_and_rate",
    "membrane_potentials",
    "balanced_network",
    "changing_input",
    "connections_and_weights",
    "recordings_in_files",
    "statistics_of_spikes",
    "microcircuit",
    "memory_before_you_run",
)


class Order:
    """Key by which the gallery sorts its examples."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> int:
        """Return the place of a file; one that has none is an error, so that none is forgotten."""
        return EXAMPLES.index(file.removesuffix(".py"))


def _scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures that the last block of an example has drawn and given a name, but not to pyplot."""
    done: list[int] = block_vars["example_globals"].setdefault("_shown_figures", [])
    paths = []
    for value in list(block_vars["example_globals"].values()):
        if isinstance(value, Figure) and id(value) not in done and getattr(value, "number", None) is None:
            done.append(id(value))
            path = Path(next(block_vars["image_path_iterator"]))
            value.savefig(path, dpi=120)
            paths.append(str(path))
    return str(figure_rst(paths, gallery_conf["src_dir"])) if paths else ""


def _get_sg_image_scraper() -> Any:
    # By this name sphinx-gallery asks a module that stands in its list of scrapers.
    return _scrape
