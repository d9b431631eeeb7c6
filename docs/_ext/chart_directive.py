"""The directive ``chart``, which shows the version of a chart that fits the page.

The content is the text that replaces the chart where it cannot be seen::

    ```{chart} models
    Time per neuron and step of each model
    ```
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from charts import CHARTS, THEMES, draw_charts
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "reference/generated/charts"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive, and draw the charts before pages are read."""
    app.add_directive("chart", Chart)
    app.connect("builder-inited", _draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class Chart(SphinxDirective):
    """Show a chart by its name."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return one image for each version."""
        name = self.arguments[0]
        if name not in CHARTS:
            raise self.error(f"there is no chart {name}; the charts are {', '.join(CHARTS)}")
        text = " ".join(self.content)
        return [
            nodes.image(uri=f"/{FOLDER}/{name}_{theme.name}.svg", alt=text, classes=["chart", f"only-{theme.name}"])
            for theme in THEMES
        ]


def _draw(app: Sphinx) -> None:
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    draw_charts(folder)
