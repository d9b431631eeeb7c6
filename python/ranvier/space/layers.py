"""Layers: parts of a volume, one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy.typing as npt

from ranvier.base.hints import known_keywords
from ranvier.base.immutable import Immutable
from ranvier.base.names import unknown_name
from ranvier.base.numeric import number
from ranvier.base.texts import check_text, name_type
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError
from ranvier.space.positions import RandomPositions, by_axis, random_positions

__all__ = ["Layers", "layers"]


class Layers(Immutable, Mapping[str, RandomPositions]):
    """Layers of one area, from top to bottom, see `layers`. ``stack["L4"]`` are random positions in one of them.

    Attributes
    ----------
    unit
        Unit of all lengths, ``"mm"`` or ``"um"``.
    """

    unit: str
    _layers: dict[str, RandomPositions]
    _edges: tuple[float, ...]
    _remedy: ClassVar[str] = "make other layers"

    def __init__(self, layers: Mapping[str, RandomPositions], edges: Sequence[float]) -> None:
        # The edges are z of the top of the first layer and of the bottom of each.
        self._put(_layers=dict(layers), _edges=tuple(edges), unit=next(iter(layers.values())).unit)

    def __getitem__(self, name: str) -> RandomPositions:
        """Return independent random positions in a layer."""
        if name not in self._layers:
            unknown_name("layer", name, self._layers)
        return self._layers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    def bounds(self, name: str) -> tuple[float, float]:
        """Return z of the bottom and of the top of a layer."""
        _ = self[name]
        place = list(self._layers).index(name)
        return self._edges[place + 1], self._edges[place]

    @known_keywords
    def positions(self, name: str, count: int | None = None, *, min_distance: float | None = None) -> RandomPositions:
        """Return random positions in a layer.

        Parameters
        ----------
        name
            Name of the layer.
        count, min_distance
            As for `random_positions`.

        Raises
        ------
        UnknownNameError
            For a layer that does not exist.
        ValueOutOfBoundsError, WrongTypeError
            As for `random_positions`.
        """
        layer = self[name]
        return random_positions(
            count,
            extent=layer.extent,
            center=layer.center,
            shape=layer.shape,
            min_distance=min_distance,
            periodic=layer.periodic,
            unit=layer.unit,
        )

    def __repr__(self) -> str:
        of_layers = (f"{name}: z from {self.bounds(name)[0]:g} to {self.bounds(name)[1]:g}" for name in self)
        return f"<Layers in {self.unit}, {', '.join(of_layers)}>"

    def __hash__(self) -> int:
        return hash(tuple(self._layers.items()))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Layers, (self._layers, self._edges)


@known_keywords
def layers(
    thickness: Mapping[str, float],
    *,
    area: npt.ArrayLike,
    center: npt.ArrayLike = 0.0,
    top: float = 0.0,
    shape: str = "box",
    periodic: bool | Sequence[bool] = False,
    unit: str = "mm",
) -> Layers:
    """Return layers of one area, one below the other, as those of a cortical column.

    Parameters
    ----------
    thickness
        The thickness of each layer by its name, > 0, from top to bottom: along z, downwards.
    area
        Lengths of the area along x and y, > 0; one number for both, or one for each.
    center
        Center of the area; one number for both dimensions, or one for each.
    top
        z of the top of the first layer.
    shape
        ``"box"``, or ``"cylinder"`` for an area that is a disc or an ellipse.
    periodic
        Whether the area repeats itself along x and y, for both or for each.
    unit
        Unit of all lengths, ``"mm"`` or ``"um"``.

    Raises
    ------
    ValueOutOfBoundsError, ShapeError, UnknownNameError
        As for `random_positions`.

    Examples
    --------
    >>> import ranvier as rv
    >>> net = rv.Network()
    >>> column = rv.layers({"L23": 0.4, "L4": 0.3, "L5": 0.3, "L6": 0.4}, area=(1.0, 1.0))
    >>> exc = net.create("iaf_psc_exp", 500, positions=column["L4"], name="L4E")
    >>> column.bounds("L4")
    (-0.7, -0.4)
    """
    if not isinstance(thickness, Mapping):
        raise WrongTypeError("thickness", name_type(thickness), "must be a dictionary with the thickness of each layer")
    if not thickness:
        raise ShapeError("number of layers", "0", "there must be at least one")
    sides, middle = by_axis("area", area, 2), by_axis("center of an area", center, 2)
    flat = periodic if isinstance(periodic, list | tuple) else (periodic,) * 2
    if len(flat) != 2:
        raise ShapeError("periodic of an area", str(tuple(flat)), "it has the dimensions x and y")
    made: dict[str, RandomPositions] = {}
    edges = [by_axis("top of layers", top, 1)[0]]
    depths: list[float] = []
    for name, given in thickness.items():
        check_text("name of a layer", name)
        each = number(f"thickness of layer {name}", given)
        if not 0.0 < each < math.inf:
            raise ValueOutOfBoundsError(f"thickness of layer {name}", str(given), "it must be > 0 and finite")
        depths.append(each)
        # The errors of a running sum would add up.
        bottom = math.fsum([edges[0], *(-depth for depth in depths)])
        made[name] = random_positions(
            extent=(*sides, each),
            center=(*middle, 0.5 * (bottom + edges[-1])),
            shape=shape,
            periodic=(*flat, False),
            unit=unit,
        )
        edges.append(bottom)
    return Layers(made, edges)
