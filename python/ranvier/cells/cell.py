"""Detailed cells: a morphology, cut into compartments, with mechanisms, receptors and probes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import locked
from ranvier.base.names import check_choice, counted
from ranvier.base.numeric import number
from ranvier.base.texts import check_flag, check_text
from ranvier.base.user_model import UserModel
from ranvier.cells.capacitance import Capacitance, CapacitanceLike
from ranvier.cells.clamps import Clamp, core_clamps
from ranvier.cells.compartments import CompartmentsLike, counts_of
from ranvier.cells.membrane import Mechanism, Receptor, UserMechanism
from ranvier.cells.morphology import Morphology
from ranvier.cells.per_cell import PerCell, PerCellParameters, PerCellValue, default_of, number_or_per_cell
from ranvier.cells.places import Place, PlacesLike, Region, RegionLike, as_place, as_region, at, places_of
from ranvier.cells.probes import ProbeLike, core_probes
from ranvier.errors import ValueOutOfBoundsError, WrongTypeError

__all__ = ["Cell", "membrane_in", "with_electrodes_at"]

FloatArray = npt.NDArray[np.float64]
_SQUID_CELSIUS = 6.3
"""Temperature of cells in which only the rates of `rv.hh` depend on it."""


class Cell(UserModel):
    """A morphologically detailed neuron: the model of a population of such cells.

    Parameters
    ----------
    morphology
        Its form.
    compartments
        Compartments of each section: a number, an array with one number for each section, or a rule:
        ``rv.max_length(20.0)``, ``rv.d_lambda(0.1)``.
    membrane
        Pairs of a region and a mechanism that is on it: ``[("all", rv.pas()), ("soma", rv.hh())]``. A mechanism may be
        given several times; overlapping regions have both. Parameters are densities; see the mechanism. With
        `per_cell` instead of a number, here and below, the cells of a population can have different values.
    receptors
        Places of receptors, by name: ``{"exc": (rv.expsyn(tau=2.0), rv.at(1, 0.5))}``. Synapses and stimuli reach one
        by its name, ``receptor="exc"``. Weights are conductances, nS. A list of places, or a region for the middles of
        all compartments with membrane in it, gives a receptor several *sites*, of which each synapse reaches one: see
        ``site`` of `Network.connect`. The sites in one compartment share a state, unless ``separate_sites`` is set.
    clamps
        Places of electrodes, by name: ``{"pulse": (rv.current_clamp(amplitude=100.0, duration=5.0), rv.at(0))}``. Their
        names differ from those of receptors.
    probes
        Variables that can be recorded beside ``V_m``, by name: a place for its potential (mV); of a mechanism
        ``(place, "m of hh")`` for a gating variable, ``(place, "i_Na of hh")`` for a current out of the cell (mA/cm^2),
        ``(place, "Ca of calcium_pool")`` for its concentration (mM) and ``(place, "E_Ca of calcium_pool")`` for the
        reversal potential (mV); ``"exc"`` for the conductance of a receptor (nS) and ``"i of exc"`` for its current out
        of the cell (pA), the sum of all sites, or ``"exc[3]"`` and ``"i of exc[3]"`` for the place of site 3 (for
        this site alone, with ``separate_sites``);
        ``"i of pulse"`` for the current of a clamp or an electrode into the cell (pA); ``(place, "i_axial")`` for the
        current into a compartment from its neighbours (pA): the membrane current less the currents of electrodes.
        With ``rv.everywhere`` as the place, ``{"V": rv.everywhere}``, there is a probe for each compartment, by its
        number: ``V[0]``, ``V[1]``, ...; for a variable of a mechanism, for each compartment that has it.
    detector, threshold
        The cell fires when its potential at the place `detector` reaches `threshold` (mV) from below.
    t_ref
        Time after a spike in which the detector finds no other one, ms, rounded up to the resolution. The membrane does
        not change. Asynchronous stepping uses it: what a cell sends is then known for this time.
    separate_sites
        Whether each site of a receptor has a separate state, as a point process in NEURON. The conductances of sites in
        one compartment are then added in each step, instead of the spikes that arrive there, at a cost that grows with
        the number of sites. Potentials are the same up to rounding (and, with `nmda`, up to the limit on the negative
        conductance, which then applies to each site). Probes show each site alone.
    electrode
        Place at which ``I_e`` and the currents of stimulators are injected; the default is the middle of the root.
    electrodes
        Several such places, by name: ``{"soma": rv.at(0), "tuft": rv.at(5, 0.5)}``. ``net.stimulate(...,
        electrode="tuft")`` selects one; the first one injects ``I_e``, and currents of stimulators without this
        argument. Names differ from those of receptors and clamps.
    C_m
        Capacitance of the membrane, uF/cm^2: one value, an array with one for each compartment, or pairs of a region
        and a value: ``[("all", 1.0), ("dendrites", 2.0)]``, in which later regions replace earlier ones.
    R_a
        Axial resistivity, ohm cm.
    celsius
        Temperature, degrees Celsius. It is required if anything but the rates of `rv.hh` depends on it: rates of other
        channels, reversal potentials of pools of calcium, equations with ``celsius``. The default is 6.3, at which the
        rates of `rv.hh` were measured.
    V_init
        Initial potential, mV; gates start in their steady states. Populations may set other values as ``V_m``.
    rates
        ``"table"``: rates of gates are interpolated in cubic tables, with an error of at most 1e-6; ``"exact"``: they
        are calculated from their formulas, which is slower.
    scheme
        ``"backward_euler"``, of first order in the step, or ``"staggered"``, of second order.
    name
        Name of the model, in summaries and names of populations.

    Raises
    ------
    ValueOutOfBoundsError, ShapeError, UnknownNameError, WrongTypeError
        For values outside their bounds, regions that match nothing, places that the cell does not have, names that are
        not known or given twice.

    Examples
    --------
    >>> import ranvier as rv
    >>> soma = rv.Section(length=12.0, diameter=12.0)
    >>> dendrite = rv.Section(length=300.0, diameter=1.0, parent=0, tag="basal")
    >>> cell = rv.Cell(
    ...     rv.Morphology([soma, dendrite]),
    ...     compartments=rv.max_length(20.0),
    ...     membrane=[("soma", rv.hh()), ("dendrites", rv.pas())],
    ...     receptors={"exc": (rv.expsyn(tau=2.0), rv.at(1, 0.8))},
    ... )
    >>> net = rv.Network(resolution=0.025)
    >>> cells = net.create(cell, 100)
    """

    morphology: Morphology
    _given: dict[str, Any]
    core_model: _core.CellModel
    _compartments: _core.Compartments
    _lines: Any = None
    """Its `CompartmentLines`, once they have been calculated."""

    receptor_remedy = 'place one on the cell: rv.Cell(..., receptors={"exc": (rv.expsyn(tau=2.0), rv.at(1, 0.5))})'

    @known_keywords
    def __init__(
        self,
        morphology: Morphology,
        *,
        compartments: CompartmentsLike = 1,
        membrane: Sequence[tuple[RegionLike, Mechanism]],
        receptors: Mapping[str, tuple[Receptor, PlacesLike]] | None = None,
        clamps: Mapping[str, tuple[Clamp, Place]] | None = None,
        probes: Mapping[str, ProbeLike] | None = None,
        detector: Place | None = None,
        threshold: PerCellValue = -10.0,
        t_ref: float = 0.0,
        separate_sites: bool = False,
        electrode: Place | None = None,
        electrodes: Mapping[str, Place] | None = None,
        C_m: CapacitanceLike = 1.0,  # noqa: N803
        R_a: PerCellValue = 100.0,  # noqa: N803
        celsius: float | None = None,
        V_init: PerCellValue = -65.0,  # noqa: N803
        rates: Literal["table", "exact"] = "table",
        scheme: Literal["backward_euler", "staggered"] = "backward_euler",
        name: str = "cell",
    ) -> None:
        _check_form_and_name(morphology, name)
        _check_choices(rates, scheme)
        membrane_capacitance = Capacitance(C_m)
        resistivity = number_or_per_cell("R_a", R_a)
        counts = counts_of(morphology, compartments, membrane_capacitance.values, default_of("R_a", resistivity))
        cut = morphology._cut(counts)
        cell_parameters = PerCellParameters()
        temperature = _temperature(celsius)
        mechanisms = _mechanisms(membrane, morphology, cut, temperature)
        painted = _core_mechanisms(mechanisms, cell_parameters)
        placed = _receptors(_named("receptors", receptors), cell_parameters, morphology, cut)
        clamped = core_clamps(_named("clamps", clamps), cell_parameters)
        injecting = _electrodes(electrode, electrodes)
        given = {
            "capacitance": membrane_capacitance.of(morphology, cut, cell_parameters),
            "axial_resistivity": cell_parameters.number("axial_resistivity", "R_a", resistivity),
            "celsius": temperature,
            "initial_potential": cell_parameters.number(
                "initial_potential", "V_init", number_or_per_cell("V_init", V_init)
            ),
            "rates": rates,
            "scheme": scheme,
            "mechanisms": painted,
            "receptors": placed,
            "clamps": clamped,
            "probes": core_probes(
                _named("probes", probes),
                [(mechanism, covered) for mechanism, covered, _ in mechanisms],
                {name: len(places) for name, _, _, places in placed},
                [clamp for clamp, *_ in clamped],
                [name for name, _ in injecting],
                cut,
            ),
            "detector": _pair(as_place("detector", at(0, 0.5) if detector is None else detector)),
            "threshold": cell_parameters.number("threshold", "threshold", number_or_per_cell("threshold", threshold)),
            "refractory_time": number("t_ref", t_ref),
            "separate_sites": check_flag("separate_sites", separate_sites),
            "electrodes": injecting,
        }
        per_cell = {"per_cell": list(cell_parameters.defaults.items()), "uses": cell_parameters.uses}
        self._put(morphology=morphology, name=name, _given={"counts": counts, **given, **per_cell})
        self._build(cut)
        _check_temperature(celsius, mechanisms, _named("receptors", receptors))

    def _build(self, cut: _core.Compartments | None = None) -> None:
        options = dict(self._given)
        counts = options.pop("counts")
        cut = cut or self.morphology._cut(counts)
        capacitance = options.pop("capacitance")
        options["mechanisms"] = [(_known(which), *rest) for which, *rest in options["mechanisms"]]
        options["receptors"] = [(name, _known(which), *rest) for name, which, *rest in options["receptors"]]
        self._put(_compartments=cut, core_model=_core.CellModel(cut, capacitance, **options))

    @property
    def compartment_count(self) -> int:
        """Number of its compartments."""
        return len(self._compartments)

    @property
    def areas(self) -> FloatArray:
        """Membrane of each compartment, um^2."""
        return locked(self._compartments.area)

    @property
    def distances(self) -> FloatArray:
        """Distance of the middle of each compartment from the start of the root along the neurites, um."""
        return locked(self._compartments.distance)

    @property
    def receptors(self) -> tuple[str, ...]:
        """Names of its receptors."""
        return tuple(self.core_model.receptors)

    @property
    def sites(self) -> Mapping[str, tuple[Place, ...]]:
        """The places of each receptor, by its name: its sites, in the order of their numbers."""
        return {name: tuple(at(*place) for place in places) for name, _, _, places in self._given["receptors"]}

    def takes_spikes(self, receptor: str | None = None) -> bool:
        """Return whether spikes change a receptor, by default the first one.

        A point process of an NMODL file without NET_RECEIVE is a receptor that they do not change.
        """
        receptors = {name: which for name, which, *_ in self._given["receptors"]}
        which = receptors.get(next(iter(receptors), None) if receptor is None else receptor)
        return not isinstance(which, UserMechanism) or which.takes_spikes

    @property
    def clamps(self) -> tuple[str, ...]:
        """Names of its clamps."""
        return tuple(name for name, *_ in self._given["clamps"])

    @property
    def electrodes(self) -> tuple[str, ...]:
        """Names of its electrodes; empty if they have no names."""
        return tuple(name for name, _ in self._given["electrodes"] if name)

    def distance_at(self, place: Place) -> float:
        """Return the distance of a place from the start of the root along the neurites, um.

        It is exact for the place; `distances` has the distances of the centres of compartments.

        Examples
        --------
        >>> cell.distance_at(rv.at(3, 0.5))
        """
        section, position = _pair(as_place("place", place))
        self.compartment_at(place)  # refuses a section that does not exist
        form = self.morphology
        return float(form._form.begins()[section] + position * form.lengths[section])

    def compartment_at(self, place: Place) -> int:
        """Return the number of the compartment at a place."""
        return int(self._compartments.at(*_pair(as_place("place", place))))

    def __getstate__(self) -> dict[str, Any]:
        return {"morphology": self.morphology, "name": self.name, "_given": self._given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**state)
        self._build()

    def __repr__(self) -> str:
        return (
            f"<Cell '{self.name}': {counted(len(self.morphology), 'section')}, "
            f"{counted(self.compartment_count, 'compartment')}>"
        )


def membrane_in(cell: Cell, region: Region) -> FloatArray:
    """Return the membrane of each compartment of a cell that is in a region, um^2."""
    areas: FloatArray = cell.areas * region.covered(cell.morphology, cell._compartments)
    return areas


def with_electrodes_at(cell: Cell, compartments: npt.NDArray[np.int64]) -> Cell:
    """Return a cell without probes, with electrodes in the middle of some compartments, named by their numbers."""
    cut = cell._compartments
    places = {}
    for compartment in compartments:
        middle = 0.5 * (float(cut.begin[compartment]) + float(cut.end[compartment]))
        places[str(compartment)] = at(int(cut.section[compartment]), middle)
    made = object.__new__(Cell)
    given = {**cell._given, "electrodes": _electrodes(None, places), "probes": []}
    made._put(morphology=cell.morphology, name=cell.name, _given=given)
    made._build()
    return made


def _check_choices(rates: str, scheme: str) -> None:
    check_choice("rates", rates, ["table", "exact"])
    check_choice("scheme", scheme, ["backward_euler", "staggered"])


def _check_form_and_name(morphology: object, name: object) -> None:
    if not isinstance(morphology, Morphology):
        raise WrongTypeError("morphology", type(morphology).__name__, "must be a rv.Morphology")
    if not isinstance(name, str) or not name:
        raise WrongTypeError("name of a cell", type(name).__name__, "must be a string that is not empty")
    check_text("name of a cell", name)


def _known(which: str | UserMechanism) -> Any:
    """Return the model of a mechanism or a receptor in the core, by its name or as a user-defined model."""
    return which if isinstance(which, str) else which.core_model


def _pair(place: Place) -> tuple[int, float]:
    return place.section, place.position


def _named(what: str, values: object) -> Mapping[str, Any]:
    """Return a mapping that a user has given, with texts as its names."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise WrongTypeError(what, type(values).__name__, "must be a mapping from names", "write {name: ...}")
    for name in values:
        check_text(f"name in {what}", name)
    return values


def _mechanisms(
    membrane: Sequence[tuple[RegionLike, Mechanism]],
    morphology: Morphology,
    cut: _core.Compartments,
    celsius: float,
) -> list[tuple[Mechanism, FloatArray, list[FloatArray]]]:
    made: list[tuple[Mechanism, FloatArray, list[FloatArray]]] = []
    distances = np.array(cut.distance)
    if not isinstance(membrane, list | tuple):
        raise WrongTypeError(
            "membrane", type(membrane).__name__, "must be a list of regions and mechanisms", 'write [("all", rv.pas())]'
        )
    for i, pair in enumerate(membrane):
        what = f"membrane[{i}]"
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[1], Mechanism):
            raise WrongTypeError(what, repr(pair), "must be a region and a mechanism", 'write ("all", rv.pas())')
        region, mechanism = as_region(f"region of {what}", pair[0]), pair[1]
        covered = region.covered(morphology, cut)
        if not covered.any():
            raise ValueOutOfBoundsError(
                f"region of {what}", repr(region), "it has no membrane of the cell", "check tags and distances"
            )
        _check_name(what, mechanism, [each for each, _, _ in made])
        made.append((mechanism, covered, mechanism._parameters(distances, celsius)))
    return made


def _check_name(what: str, mechanism: Mechanism, before: list[Mechanism]) -> None:
    """Raise an error for a mechanism with the name of another: probes could not distinguish them."""
    for each in before:
        if each.name == mechanism.name and each._user_mechanism() != mechanism._user_mechanism():
            raise ValueOutOfBoundsError(
                what, f"'{mechanism.name}'", "another mechanism of the cell has the same name", "give it another name"
            )


def _core_mechanisms(
    mechanisms: list[tuple[Mechanism, FloatArray, list[FloatArray]]], cell_parameters: PerCellParameters
) -> list[tuple[str | UserMechanism, FloatArray, list[FloatArray], list[int]]]:
    """Return the mechanisms, which refer to the parameters that each cell of a population has a value for."""
    painted: list[tuple[str | UserMechanism, FloatArray, list[FloatArray], list[int]]] = []
    for mechanism, covered, parameters in mechanisms:
        numbers = [-1 if each is None else cell_parameters.number_of(each) for each in mechanism._per_cell()]
        painted.append((mechanism._user_mechanism() or mechanism.name, covered, parameters, numbers))
    return painted


def _receptors(
    receptors: Mapping[str, tuple[Receptor, PlacesLike]],
    cell_parameters: PerCellParameters,
    morphology: Morphology,
    cut: _core.Compartments,
) -> list[tuple[str, str | UserMechanism, list[float], list[tuple[int, float]]]]:
    made: list[tuple[str, str | UserMechanism, list[float], list[tuple[int, float]]]] = []
    for i, (name, pair) in enumerate(receptors.items()):
        what = f"receptor '{name}'"
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], Receptor):
            raise WrongTypeError(
                what, repr(pair), "must be a receptor and its places", "write (rv.expsyn(), rv.at(0, 0.5))"
            )
        values = [
            cell_parameters.number("receptor", what, value, i, k) for k, value in enumerate(pair[0]._parameters())
        ]
        places = places_of(f"place of {what}", pair[1], morphology, cut)
        made.append((str(name), pair[0]._user_mechanism() or pair[0].name, values, [_pair(place) for place in places]))
    return made


def _electrodes(electrode: object, electrodes: object) -> list[tuple[str, tuple[int, float]]]:
    """Return names and places; one that is not named has an empty name."""
    if electrodes is None:
        return [("", _pair(as_place("electrode", at(0, 0.5) if electrode is None else electrode)))]
    named = _named("electrodes", electrodes)
    if electrode is not None:
        raise ValueOutOfBoundsError(
            "electrode", repr(electrode), "electrodes= gives the places, too", "leave it out, or add it to electrodes="
        )
    if "" in named:
        raise ValueOutOfBoundsError("name of an electrode", "''", "a name must not be empty", "choose another")
    if not named:
        raise ValueOutOfBoundsError(
            "electrodes", "an empty mapping", "a cell has at least one", "leave electrodes= out"
        )
    return [(str(name), _pair(as_place(f"place of electrode '{name}'", place))) for name, place in named.items()]


def _temperature(celsius: object) -> float:
    """Return the temperature, by default that of the squid axon; see `_check_temperature`."""
    if celsius is None:
        return _SQUID_CELSIUS
    if isinstance(celsius, PerCell):
        raise WrongTypeError(
            "celsius",
            repr(celsius),
            "must be one number: the cells of a population share tables of rates, which follow it",
            "make a population for each temperature",
        )
    return number("celsius", celsius)


def _check_temperature(
    celsius: object,
    mechanisms: list[tuple[Mechanism, FloatArray, list[FloatArray]]],
    receptors: Mapping[str, tuple[Receptor, PlacesLike]],
) -> None:
    """Refuse a cell without a temperature if anything depends on it, except rates measured at the default."""
    if celsius is not None:
        return
    needed = [each._follows_temperature() for each, *_ in mechanisms if each.measured_celsius != _SQUID_CELSIUS]
    needed += [each._follows_temperature() for each, _ in receptors.values()]
    for reason in needed:
        if reason is not None:
            raise ValueOutOfBoundsError(
                "celsius", "not given", reason, "give the cell the temperature of the experiment: celsius=34.0"
            )
