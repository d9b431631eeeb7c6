"""Populations of a network and views of their neurons: handles that name neurons and show the values that were set."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.html import card
from ranvier.base.immutable import Immutable, Settings, locked
from ranvier.base.memory_checks import check_room
from ranvier.base.names import counted, some_names, unknown_name
from ranvier.base.numeric import whole_number
from ranvier.base.packages import package
from ranvier.base.texts import name_type
from ranvier.base.user_model import UserModel
from ranvier.base.value_texts import describe_settings
from ranvier.base.values import StoredValues
from ranvier.cells.cell import Cell
from ranvier.cells.kinds import CellKinds
from ranvier.cells.layout import at_fraction, coordinates_of
from ranvier.cells.lines import CompartmentLines, lines_of
from ranvier.errors import ShapeError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.populations.selections import Index, Indices, chosen_positions, index_text, merged, part_of_positions, pick
from ranvier.space.displacements import displacements, lengths, period_of, point_in
from ranvier.space.masks import Mask
from ranvier.space.positions import MICROMETRES, Positions, check_unit
from ranvier.space.rotations import Rotation

__all__ = [
    *("Neurons", "Population", "PopulationView", "Selection", "common_layout", "core_ids", "population_names"),
    *("selection_of", "text_of_cells", "view_of"),
]

_FIXED_OF_POPULATIONS = (
    *(
        "cell",
        "first_id",
        "ids",
        "index",
        "indices",
        "layout",
        "model",
        "name",
        "network",
        "user_model",
        "parts",
        "population",
        "populations",
        "positions",
        "rotation",
        "rotations",
        "size",
        "step",
    ),
)


class HasPopulations(Protocol):
    """The part of a network's interface that handles of neurons use."""

    @property
    def populations(self) -> tuple[Population, ...]:
        """All populations, in the order of creation."""
        ...


class PopulationView(Immutable):
    """Neurons of one or several populations, in the ascending order of their ids.

    A view can be used wherever a population can. ``view[10:20]``, ``view[::2]``, ``view[3]``, ``view[[1, 5, 9]]`` and
    ``view[mask]``, with one boolean for each neuron, are views too; ``exc + inh`` is a view of the neurons of both.
    A view contains each neuron at most once; lists of indices must be ascending. ``len(view)`` is the number of
    neurons.
    """

    # NumPy leaves arithmetic with views to them. Otherwise it would take each neuron for an element of an array.
    __array_ufunc__ = None

    _selection: tuple[tuple[Population, Indices], ...]
    _hints: ClassVar[Mapping[str, str]] = {
        "set": "write net.set(population, ...) before a simulation is built, sim.set(population, ...) while it runs",
        "get": 'write sim.get(population, "V_m"), or population.values for what was set',
        "connect": "write net.connect(sources, targets, rule, weight=..., delay=...)",
        "record": "write net.record_spikes(population) or net.record_state(population, variables)",
        "spikes": "write net.record_spikes(population), then sim.spikes(recorder)",
        "size": "write len(population)",
    }

    def __init__(self, selection: tuple[tuple[Population, Indices], ...]) -> None:
        # Ascending. Each population has at least one neuron here, unless it is the only population.
        some = tuple((population, indices) for population, indices in selection if len(indices)) or selection[:1]
        self._put(_selection=some)

    @property
    def populations(self) -> tuple[Population, ...]:
        """The populations that have neurons in this view, in the order of creation."""
        return tuple(population for population, _ in self._selection)

    @property
    def population(self) -> Population:
        """The population that this view is a part of.

        Raises
        ------
        ValueOutOfBoundsError
            When the view has neurons of several populations: see `populations` and `parts`.
        """
        if len(self._selection) > 1:
            raise ValueOutOfBoundsError(
                f"number of populations of {self.name}",
                str(len(self._selection)),
                "it must be one here",
                "loop over its parts: for part in view.parts",
            )
        return self._selection[0][0]

    @property
    def parts(self) -> tuple[PopulationView, ...]:
        """The neurons of each population in this view, as views."""
        if len(self._selection) == 1:
            return (self,)
        return tuple(_view(population, indices) for population, indices in self._selection)

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        """Indices of the neurons in their population, shape ``(len(self),)``. There must be only one population."""
        _ = self.population
        return self._as_array(self._selection[0][1])

    @property
    def network(self) -> Any:
        """The network that it is a part of."""
        return self._selection[0][0].network

    @property
    def name(self) -> str:
        """Name in Python's notation: ``exc``, ``exc[10:20]``, ``exc[3]``, ``exc[::2] + inh``."""
        names = []
        for population, indices in self._selection:
            whole = isinstance(indices, range) and indices == range(len(population))
            names.append(population.name if whole else f"{population.name}[{index_text(indices)}]")
        return some_names(names, " + ")

    @property
    def first_id(self) -> int:
        """Global id of the first neuron; of an empty view, of the first neuron of its population."""
        population, indices = self._selection[0]
        return population.first_id + int(indices[0] if len(indices) else 0)

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """Global ids of the neurons, ascending, shape ``(len(self),)``."""
        parts = [population.first_id + self._as_array(indices) for population, indices in self._selection]
        return locked(parts[0] if len(parts) == 1 else np.concatenate(parts))

    @property
    def positions(self) -> npt.NDArray[np.float64]:
        """Positions of the neurons, one row each, shape ``(len(self), dimensions)``, in the unit of their layouts.

        Random positions follow the present seed of the network.

        Raises
        ------
        StateError
            When neurons have no positions.
        ShapeError, ValueOutOfBoundsError
            When the positions of several populations have different dimensions or units.
        """
        layout = common_layout(self)
        if not len(self):
            return locked(np.empty((0, layout.dimensions)))
        check_room(f"the positions of {self.name}", 8 * layout.dimensions * len(self), "ask for those of a part of it")
        return locked(self._selection[0][0]._core_network.positions(core_ids(self)))

    @property
    def rotations(self) -> npt.NDArray[np.float64]:
        """Rotations of the cells: a matrix for each, shape ``(len(self), 3, 3)``, to be multiplied with column vectors.

        Raises
        ------
        StateError
            When neurons have no positions, or are no cells.
        """
        _ = common_layout(self)
        for population in self.populations:
            if population.cell is None:
                raise StateError(
                    f"population {population.name}",
                    bound=f"neurons of the model {population.model} are points",
                    remedy="rotate cells: net.create(rv.Cell(...), size, positions=..., rotation=...)",
                )
        check_room(f"the rotations of {self.name}", 72 * len(self), "ask for those of a part of it")
        return locked(self._selection[0][0]._core_network.rotations(core_ids(self)))

    def nearest(self, point: npt.ArrayLike, count: int = 1) -> PopulationView:
        """Return a view of the neurons that are nearest to a point; at equal distances, those with lower ids.

        Parameters
        ----------
        point
            Coordinates, in the unit of the positions.
        count
            Number of neurons, from 1 to all of the view.

        Raises
        ------
        StateError, ShapeError, ValueOutOfBoundsError
            As `positions`; and for a point of another number of dimensions.
        """
        number_of = whole_number("number of nearest neurons", count, 1, len(self))
        distances = lengths(self._from_point(point))
        farthest = np.partition(distances, number_of - 1)[number_of - 1]
        nearer = np.flatnonzero(distances < farthest)
        as_far = np.flatnonzero(distances == farthest)[: number_of - len(nearer)]
        return self[np.sort(np.concatenate([nearer, as_far]))]

    def within(self, mask: Mask, around: npt.ArrayLike | None = None) -> PopulationView:
        """Return a view of the neurons in a region: those whose displacement from a point is in a mask.

        Parameters
        ----------
        mask
            ``rv.circle(0.3)``, ``rv.box((0, 0, -0.4), (1, 1, -0.1))``, ...
        around
            The point, in the unit of the positions; None: the origin.

        Raises
        ------
        StateError, ShapeError, ValueOutOfBoundsError
            As `positions`; and for a point of another number of dimensions, or a mask of more.
        RuleError
            For a mask of places on a grid.

        Examples
        --------
        >>> import ranvier as rv
        >>> net = rv.Network()
        >>> sheet = net.create("iaf_psc_exp", positions=rv.grid((10, 10)))
        >>> len(sheet.within(rv.circle(0.2), around=(0.25, 0.25)))
        12
        """
        if not isinstance(mask, Mask):
            raise WrongTypeError("mask", name_type(mask), "must be a mask: rv.circle(...), rv.rectangle(...), ...")
        dimensions = common_layout(self).dimensions
        if mask.dimensions > dimensions:
            raise ShapeError(
                f"dimensions of {mask!r}",
                str(mask.dimensions),
                f"positions of {self.name} have {dimensions}",
                "use rv.circle(), rv.ellipse() or rv.rectangle()",
            )
        origin = np.zeros(dimensions)
        return self[mask.contains(self._from_point(origin if around is None else around))]

    def _from_point(self, point: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the displacements of the neurons from a point."""
        begin = point_in("point", point, common_layout(self))
        return displacements(begin, self.positions, common_period(self))

    def morphology_points(self, index: int = 0, *, unit: str | None = None) -> tuple[npt.NDArray[np.float64], ...]:
        """Return where the sections of a cell are: the points of its morphology, rotated and moved to its position.

        Sections without coordinates are straight lines with their true lengths, in the x-y plane of the morphology, as
        `plot.cell` draws them.

        Parameters
        ----------
        index
            Of the cell in this view.
        unit
            ``"mm"`` or ``"um"``; None: the unit of the positions.

        Returns
        -------
        tuple of arrays
            For each section of the cell, the coordinates of its points, from start to end, shape ``(points, 3)``.
            The position of the cell, with z = 0 in two dimensions, is that of the middle of its first section.

        Raises
        ------
        StateError
            As for `rotations`.
        IndexOutOfBoundsError
            For an index that the view does not have.
        """
        cell, matrix, place = next(self[index]._cells_in_space())
        wanted = common_layout(self).unit if unit is None else check_unit("unit", unit)
        sections = coordinates_of(cell.morphology)
        middle = at_fraction(cell.morphology.sections[0], sections[0], 0.5)
        moved = ((points - middle) @ matrix.T + place for points in sections)
        return tuple(locked(points / MICROMETRES[wanted]) for points in moved)

    def compartment_lines(self, index: int = 0) -> CompartmentLines:
        """Return where the compartments of a cell are, um: lines, rotated and moved to the position of the cell.

        Parameters
        ----------
        index
            Of the cell in this view.

        Raises
        ------
        StateError
            As for `rotations`.
        IndexOutOfBoundsError
            For an index that the view does not have.
        """
        cell, matrix, place = next(self[index]._cells_in_space())
        return lines_of(cell).moved(matrix, place)

    def _cells_in_space(self) -> Iterator[tuple[Cell, npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
        """Go through the cells: each with its rotation matrix and its position, um."""
        layout = common_layout(self)
        for part in self.parts:
            rotations = part.rotations
            cell = part.population.cell
            assert cell is not None
            places = np.zeros((len(part), 3))
            places[:, : layout.dimensions] = MICROMETRES[layout.unit] * part.positions
            if isinstance(cell, CellKinds):
                shapes = [cell.kinds[kind] for kind in cell.kind_of[part.indices]]
            else:
                shapes = [cell] * len(part)
            yield from zip(shapes, rotations, places, strict=True)

    def cell_geometry(self) -> Any:
        """Return the compartments of all cells as a `lfpykit.CellGeometry`, which the forward models of LFPykit take.

        Compartments are in the order of the columns of `CompartmentData`, whose currents have to be in nA.

        Raises
        ------
        StateError
            As for `rotations`.
        ShapeError
            When there are no cells.
        MissingPackageError
            When LFPykit is not installed.

        Examples
        --------
        >>> model = lfpykit.PointSourcePotential(cells.cell_geometry(), x, y, z)
        >>> model.get_transformation_matrix() @ (1e-3 * data["I_m"].T)
        """
        lfpykit = package("lfpykit", "cell_geometry")
        if not len(self):
            raise ShapeError(self.name, "no cells", "a geometry needs at least one")
        lines = [lines_of(cell).moved(matrix, place) for cell, matrix, place in self._cells_in_space()]
        begin, end = (np.concatenate([getattr(each, name) for each in lines]) for name in ("begin", "end"))
        ends = [np.stack([begin[:, axis], end[:, axis]], axis=1) for axis in range(3)]
        return lfpykit.CellGeometry(*ends, d=np.concatenate([each.diameter for each in lines]))

    @property
    def is_contiguous(self) -> bool:
        """Whether the ids are consecutive."""
        return not len(self) or self._last_id - self.first_id == len(self) - 1

    @property
    def _last_id(self) -> int:
        population, indices = self._selection[-1]
        return population.first_id + int(indices[-1])

    def _as_array(self, indices: Indices) -> npt.NDArray[np.int64]:
        if not isinstance(indices, range):
            return indices
        check_room(f"the ids of {self.name}", 16 * len(self), "ask for the ids of a part of it")
        return np.arange(indices.start, indices.stop, indices.step, dtype=np.int64)

    def __len__(self) -> int:
        return sum(len(indices) for _, indices in self._selection)

    def __iter__(self) -> Iterator[PopulationView]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Index) -> PopulationView:
        positions = chosen_positions(self.name, len(self), index)
        selection = []
        begin = 0
        for population, indices in self._selection:
            chosen = part_of_positions(positions, begin, begin + len(indices))
            selection.append((population, pick(indices, chosen)))
            begin += len(indices)
        return PopulationView(tuple(selection))

    def __add__(self, other: PopulationView) -> PopulationView:
        """Return a view of the neurons of both. Both must belong to the same network and have no neuron in common."""
        if not isinstance(other, PopulationView):
            raise WrongTypeError(
                f"second operand of {self.name} + ...", type(other).__name__, "must be a population or a part of one"
            )
        if other.network is not self.network:
            raise StateError(f"population {other.name}", bound=f"it belongs to another network than {self.name}")
        joined = {population.index: (population, indices) for population, indices in self._selection}
        for population, indices in other._selection:
            if population.index in joined:
                indices = merged(population.name, joined[population.index][1], indices)
            joined[population.index] = population, indices
        return PopulationView(tuple(joined[index] for index in sorted(joined)))

    def __radd__(self, other: object) -> PopulationView:
        """Raise an error for an operand that is not a view, also for one of NumPy."""
        raise WrongTypeError(
            f"second operand of {self.name} + ...", type(other).__name__, "must be a population or a part of one"
        )

    def __array__(self, dtype: npt.DTypeLike | None = None, *, copy: bool | None = None) -> npt.NDArray[np.int64]:
        """Raise an error: NumPy would make an array of one view per neuron."""
        raise WrongTypeError(
            f"population {self.name}", bound="it is not an array", remedy=f"{self.name}.ids is the array of its ids"
        )

    def _title(self) -> str:
        return f"population {self.name}"

    def _how_to_change(self, name: str) -> str:
        if name in _FIXED_OF_POPULATIONS:
            return "it is fixed when the population is created: create another one"
        return (
            f"write net.set({self.name}, {name}=...) and build the network again, or, in a simulation that runs, "
            f"sim.set({self.name}, {name}=...)"
        )

    def _hint(self, name: str) -> str:
        built_in = {model.name: model for model in _core.neuron_models()}
        for population in self.populations:
            model = built_in[population.model] if population.user_model is None else population.user_model.core_model
            if name in (
                *(parameter.name for parameter in model.parameters),
                *(variable.name for variable in model.variables),
            ):
                return f'write sim.get(population, "{name}") in a simulation, or population.values for what was set'
        return super()._hint(name)

    def _key(self) -> tuple[object, ...]:
        of_parts = tuple(
            (population.index, indices if isinstance(indices, range) else indices.tobytes())
            for population, indices in self._selection
        )
        return id(self.network), of_parts

    def __eq__(self, other: object) -> Any:
        """Compare with another view; compare the id of a single neuron with a number or with an array of ids.

        ``data.ids == exc[3]`` is a mask of the spikes of that neuron.

        Raises
        ------
        WrongTypeError
            For numbers and a view of several neurons, and for an array that has no ids.
        """
        if isinstance(other, PopulationView):
            return self._key() == other._key()
        ids = _compared_ids(self, other)
        return NotImplemented if ids is None else ids == self.first_id

    def __ne__(self, other: object) -> Any:
        """Compare as ``==`` does, and return the opposite."""
        if isinstance(other, PopulationView):
            return self._key() != other._key()
        ids = _compared_ids(self, other)
        return NotImplemented if ids is None else ids != self.first_id

    def __hash__(self) -> int:
        # That of the id, since a single neuron equals its id.
        return hash(self.first_id if len(self) == 1 else self._key())

    def __repr__(self) -> str:
        models = " and ".join(dict.fromkeys(population.model for population in self.populations))
        return f"<{type(self).__name__} {self.name}: {len(self)} {models}>"

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        rows: dict[str, object] = {
            "neurons": f"{len(self):,}",
            "model": " and ".join(dict.fromkeys(population.model for population in self.populations)),
            "ids": f"{self.first_id:,} to {self._last_id:,}" if len(self) else "",
        }
        for population in self.populations:
            of_population = "" if len(self.populations) == 1 else f" of {population.name}"
            rows[f"positions{of_population}"] = population.layout
            rows[f"rotation{of_population}"] = population.rotation
            title = "set" if len(self.populations) == 1 else f"set of {population.name}"
            rows[title] = describe_settings(population.values)
        return card(f"{type(self).__name__} {self.name}", rows)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return view_of, (self.network, selection_of(self))


def _compared_ids(view: PopulationView, other: object) -> Any:
    """Return the ids, or the number, that a view is compared with; None for other objects, which are never equal."""
    if isinstance(other, np.ndarray | np.generic):
        if other.dtype.kind not in "iu":
            raise WrongTypeError(
                f"second operand of a comparison with {view.name}",
                f"an array of {other.dtype}",
                "must have ids of neurons",
            )
    elif not isinstance(other, int) or isinstance(other, bool):
        return None
    if len(view) != 1:
        raise WrongTypeError(
            f"{view.name}, which is compared with ids",
            counted(len(view), "neuron"),
            "must be a single neuron",
            f"write np.isin(ids, {view.name}.ids), or data.of({view.name}) for the spikes of these neurons",
        )
    return other


Neurons: TypeAlias = PopulationView | Sequence[PopulationView]
"""Neurons of a call: a population, a view or a sequence of them."""

Selection: TypeAlias = tuple[tuple[int, Indices], ...]
"""A view as plain data: indices of populations and of neurons in them."""


def selection_of(view: PopulationView) -> Selection:
    """Return a view as plain data."""
    return tuple((population.index, indices) for population, indices in view._selection)


def view_of(network: HasPopulations, selection: Selection) -> PopulationView:
    """Return a view from plain data, or the population itself if the view has all of its neurons."""
    populations = network.populations
    selected = tuple(
        (populations[index], indices if isinstance(indices, range) else locked(indices)) for index, indices in selection
    )
    if len(selected) == 1:
        return _view(*selected[0])
    return PopulationView(selected)


def core_ids(view: PopulationView) -> tuple[int, int, int] | npt.NDArray[np.int64]:
    """Return the ids of a view in the form in which the core takes them: (first, stride, size), or a list."""
    (population, indices), *others = view._selection
    if view.is_contiguous:
        return view.first_id, 1, len(view)
    if not others and isinstance(indices, range):
        return population.first_id + indices.start, indices.step, len(indices)
    check_room(f"the list of the neurons of {view.name}", 24 * len(view), "select fewer neurons")
    return view.ids


def population_names(view: PopulationView) -> str:
    """Return the names of the populations of a view, in one line."""
    return some_names([population.name for population in view.populations], " + ")


def text_of_cells(view: PopulationView) -> str:
    """Return the number of cells of each population in a view, in one line."""
    return f"{counted(len(view), 'cell')} of {population_names(view)}"


def common_layout(view: PopulationView) -> Positions:
    """Return the layout of the first population of a view, of which all others have the dimensions and the unit.

    Raises
    ------
    StateError, ShapeError, ValueOutOfBoundsError
        As `PopulationView.positions`.
    """
    first = view.populations[0].layout
    for population in view.populations:
        layout = population.layout
        if layout is None or first is None:
            raise StateError(
                f"population {population.name}",
                bound="its neurons have no positions",
                remedy="give some when it is created: net.create(model, size, positions=...)",
            )
        if layout.dimensions != first.dimensions:
            raise ShapeError(
                f"positions of {view.name}",
                f"of {first.dimensions} and {layout.dimensions} dimensions",
                "they must have the same number of dimensions",
                "give all populations two or three coordinates",
            )
        if layout.unit != first.unit:
            raise ValueOutOfBoundsError(
                f"positions of {view.name}",
                f"in {first.unit} and {layout.unit}",
                "they must have the same unit",
                "give all positions in one unit",
            )
    assert first is not None
    return first


def common_period(*views: PopulationView) -> npt.NDArray[np.float64]:
    """Return the lengths after which the space of all neurons repeats itself; infinity: it does not.

    Raises
    ------
    StateError, ShapeError, ValueOutOfBoundsError
        As `PopulationView.positions`; and when the periods differ.
    """
    populations = list(dict.fromkeys(population for view in views for population in view.populations))
    joined = PopulationView(
        tuple((each, range(len(each))) for each in sorted(populations, key=lambda each: each.index))
    )
    _ = common_layout(joined)
    periods = [(population, period_of(population.layout)) for population in populations if population.layout]
    for population, period in periods:
        if not np.array_equal(period, periods[0][1]):
            raise ValueOutOfBoundsError(
                f"periods of the positions of {periods[0][0].name} and {population.name}",
                f"{tuple(periods[0][1].tolist())} and {tuple(period.tolist())}",
                "they must be the same",
                "give all populations the same periodic box",
            )
    return periods[0][1]


def _view(population: Population, indices: Indices) -> PopulationView:
    if isinstance(indices, range) and indices == range(len(population)):
        return population
    return PopulationView(((population, indices),))


class Population(PopulationView):
    """Neurons of one model, or sources of spikes that are given or drawn. Made by the methods of `Network`.

    Attributes
    ----------
    index
        Index of the population in ``network.populations``.
    model
        Name of the model.
    user_model
        The user-defined model: a cell, cells of several kinds, or equations. None for models that come with Ranvier.
    layout
        The positions that `Network.create` was given: `grid`, ...; None if the neurons have no positions.
    rotation
        The rotation that `Network.create` was given; None for none.
    values
        Parameters and initial values of state variables that were set in `Network.create` or `Network.set`, by name.
    """

    index: int
    model: str
    user_model: UserModel | None
    values: Mapping[str, StoredValues]
    layout: Positions | None
    rotation: Rotation | None
    _network: Any
    _core_network: _core.Network
    _name: str
    _first_id: int
    _step: float | None

    def __init__(self, network: Any, core: _core.Network, index: int, first_id: int, values: Mapping[str, Any]) -> None:
        model = values["model"]
        user_model = None if isinstance(model, str) else model
        self._put(_network=network, index=index, _first_id=first_id, _name=values["name"], _step=values["step"])
        self._put(model=model if user_model is None else user_model.name, user_model=user_model)
        self._put(_core_network=core, layout=values["positions"], rotation=values["rotation"])
        super().__init__(((self, range(values["size"])),))
        self._show(values)

    def _show(self, values: Mapping[str, Any]) -> None:
        """Show the arguments of `Network.create` that the network has accepted and that can be changed."""
        settings = {**values["values"], **values["sequences"]}
        self._put(values=Settings(settings, self._title(), f"net.set({self.name}, "))

    @property
    def network(self) -> Any:
        """The network that it is a part of."""
        return self._network

    @property
    def name(self) -> str:
        """Name of the population."""
        return self._name

    @property
    def first_id(self) -> int:
        """Global id of the first neuron."""
        return self._first_id

    @property
    def step(self) -> float:
        """Length of a step of the neurons, ms: the resolution, unless `Network.create` was given another."""
        return float(self._network.resolution) if self._step is None else self._step

    @property
    def cell(self) -> Cell | CellKinds | None:
        """The detailed cell that is the model, or the cells of several kinds; None for other models."""
        return self.user_model if isinstance(self.user_model, Cell | CellKinds) else None

    @property
    def compartment_count(self) -> int:
        """Number of compartments of all of its cells; 0 for other models."""
        if self.cell is None:
            return 0
        each = self.cell.compartment_count
        return each if isinstance(self.cell, CellKinds) else each * len(self)

    def value_range(self, name: str) -> tuple[float, float]:
        """Return bounds of a value that was set, an entry of `values`, with any random numbers."""
        if name not in self.values:
            unknown_name(f"value that was set of {self.name}", name, list(self.values))
        return self._core_network.value_range(self.index, name)

    def model_for(self, size: int) -> Any:
        """Return the argument of `Network.create` for another population of the same model, with another size."""
        return self.model if self.user_model is None else self.user_model.model_for(size)

    @property
    def is_source(self) -> bool:
        """Whether it is a population of sources, whose spikes are given or drawn: see `Network.create`."""
        return self.plays_spikes or (self.cell is None and self.model in _sources())

    @property
    def plays_spikes(self) -> bool:
        """Whether it is a population of sources with given spike times (`Network.create_spike_generators`)."""
        return self.model == "spike_generator"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        # The network makes its populations again when it is unpickled: use that object.
        return _population_of, (self.network, self.index)


@functools.cache
def _sources() -> frozenset[str]:
    """Return the names of the stimulators that make sources."""
    return frozenset(model.name for model in _core.stimulator_models() if model.emits_spikes)


def _population_of(network: HasPopulations, index: int) -> Population:
    return network.populations[index]
