"""Figures of recordings.

Every function returns a `Figure` of matplotlib; notebooks show it, ``figure.show()`` opens a window, and
``figure.savefig("name.png")`` writes it. Where `matplotlib.pyplot` has been imported and has windows, figures belong to
it: ``plt.show()`` shows them and ``plt.close()`` frees them.
Colour-blind readers can distinguish the colours (M. Okabe and K. Ito, 2008). Excitatory populations are blue, and
inhibitory ones vermilion.
"""

from ranvier.figures.activity import rate
from ranvier.figures.cells import cell
from ranvier.figures.distances import distances
from ranvier.figures.distributions import irregularity, rates
from ranvier.figures.field_movies import extracellular_movie
from ranvier.figures.fields import csd, extracellular
from ranvier.figures.maps import neurons
from ranvier.figures.movies import Movie, movie
from ranvier.figures.partners import sources, targets
from ranvier.figures.placed import cells
from ranvier.figures.rasters import raster
from ranvier.figures.relations import correlations, cross_correlogram, peristimulus_histogram
from ranvier.figures.samples import state
from ranvier.figures.style import Figure

__all__ = [
    "Figure",
    "Movie",
    "cell",
    "cells",
    "correlations",
    "cross_correlogram",
    "csd",
    "distances",
    "extracellular",
    "extracellular_movie",
    "irregularity",
    "movie",
    "neurons",
    "peristimulus_histogram",
    "raster",
    "rate",
    "rates",
    "sources",
    "state",
    "targets",
]


def __dir__() -> list[str]:
    return sorted(__all__)
