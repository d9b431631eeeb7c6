"""A backend of matplotlib whose windows are only counted, as a desktop's would be shown."""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

__all__ = ["FigureCanvas", "FigureManager"]


class FigureManager(FigureManagerBase):
    """A window."""

    shown: ClassVar[list[Any]] = []

    def show(self) -> None:
        """Note which figure is shown."""
        self.shown.append(self.canvas.figure)

    @classmethod
    def pyplot_show(cls, *, block: bool | None = None) -> None:
        """Show all."""
        from matplotlib import _pylab_helpers

        for manager in _pylab_helpers.Gcf.get_all_fig_managers():
            manager.show()


class FigureCanvas(FigureCanvasAgg):
    """A canvas with such a window."""

    manager_class = FigureManager
