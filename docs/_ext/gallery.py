"""Settings of the gallery of examples: their order, and how figures of `ranvier.plot` are saved."""

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
    "neurons_of_equations",
    "pyramidal_cell",
    "neuropixels",
    "synapses_on_dendrites",
    "balanced_network",
    "changing_input",
    "trains_of_sources",
    "connections_and_weights",
    "neurons_in_space",
    "learning",
    "decision",
    "recordings_in_files",
    "statistics_of_spikes",
    "microcircuit",
    "laminar_probe",
    "memory_before_you_run",
)


class Order:
    """Key by which the gallery sorts its examples."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> int:
        """Return the position of a file. A file that is not in the list is an error."""
        return EXAMPLES.index(file.removesuffix(".py"))


def _scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save figures that the last block of an example has assigned to names without using pyplot."""
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
    # sphinx-gallery calls the function of this name in each module of its list of scrapers.
    return _scrape
