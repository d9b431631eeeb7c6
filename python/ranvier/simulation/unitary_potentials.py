"""Kernels of potentials from the responses of detailed cells to the synaptic currents that a spike causes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ranvier import _core
from ranvier.base.conductivity import checked_conductivity
from ranvier.base.distributions import Distribution, is_plain
from ranvier.base.memory_checks import check_room
from ranvier.base.names import check_choice, counted, some_names
from ranvier.base.numeric import number
from ranvier.base.texts import name_type
from ranvier.base.times import text_of
from ranvier.base.user_synapse import UserSynapse
from ranvier.base.values import FloatArray, StoredValues
from ranvier.errors import StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.models import dc_generator, iaf_psc_delta, poisson_generator
from ranvier.network.network import Network, check_network
from ranvier.network.potential_kernels import PotentialKernel
from ranvier.network.potential_methods import check_side
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import ExtracellularRecorder
from ranvier.network.rules import FixedIndegree
from ranvier.network.templates import CellTemplate
from ranvier.populations.populations import Population
from ranvier.simulation.readouts import injected_potentials
from ranvier.simulation.simulation import Simulation
from ranvier.space.boundary import BoundaryPlane
from ranvier.space.contacts import checked_contacts

__all__ = ["unitary_potentials"]

# Weights and delays of a projection, if they are drawn.
_DRAWN = 1 << 16
# During one step, of all synapses of a cell, pA: it moves potentials by some uV, to which any membrane is linear.
_PULSE = 10.0
# The time of convolutions grows with the square.
_MOST_STEPS = 100_000
_BEFORE = 1
"""Steps before the pulse."""


def unitary_potentials(
    network: Network,
    templates: Mapping[Population, CellTemplate],
    contacts: Any,
    *,
    interval: float | None = None,
    duration: float = 100.0,
    sigma: float = 0.3,
    boundary: BoundaryPlane | None = None,
    unit: str | None = None,
    inside: Literal["error", "surface"] = "error",
) -> dict[Population, PotentialKernel]:
    """Return what a spike of each population adds to potentials, from the responses of detailed cells to its synapses.

    A spike causes currents in the targets of its neuron. The cells of a template, at different positions, get the same
    currents, spread over their membrane; the kernel is the potential of their membrane currents, a mean over positions
    (E. Hagen et al., Cerebral Cortex 26, 4461-4496, 2016; E. Hagen et al., PLoS Computational Biology 18, e1010353,
    2022). The number of synapses that a spike reaches, the mean of their weights and the distribution of their delays
    follow from the projections of the network, the time course of the currents from the parameters of the targets, and
    the places of the synapses from the templates. Stimuli are not spikes of a population, and have no kernel.

    Parameters
    ----------
    network
        A network of point neurons with synaptic currents: `iaf_psc_exp`, `iaf_psc_alpha` or `iaf_psc_delta`.
    templates
        The template of each population whose membrane currents contribute.
    contacts
        As for `Network.record_extracellular`.
    interval
        Interval of the kernels, ms, a multiple of the resolution; None: the resolution. With a longer one, a kernel is
        the mean over spikes in each step of a bin.
    duration
        Time after a spike at which kernels end, ms.
    sigma, boundary, inside
        As for `Network.record_extracellular`.
    unit
        Unit of an array of contacts, ``"um"`` or ``"mm"``; None: um.

    Returns
    -------
    dict
        The kernel of each population with synapses on one that has a template, for `Network.record_lfp`.

    Raises
    ------
    WrongTypeError, StateError
        For anything but a mapping from populations of the network to templates, for a template that does not say where
        synapses of a source are, for targets whose synapses are not currents, and for synapses with plasticity or
        random release.
    ValueOutOfBoundsError
        For no synapses on templated populations, weights and delays that follow from positions, and contacts within a
        cell of a template.
    GridError
        For an interval and a duration that are not multiples of the resolution.
    InsufficientMemoryError
        For more steps and contacts than there is memory for.

    Notes
    -----
    The response is the difference between two simulations, with and without a pulse of 10 pA in one step, so cells with
    active channels are linearised around their state at that time. Potentials include that of the pulse itself, since a
    synapse is a current through the membrane. Distributions of weights and delays are represented by 65,536 draws.
    The same templates, positions and seed give kernels with the same bits.

    Examples
    --------
    >>> kernels = rv.unitary_potentials(net, {exc: template}, rv.laminar_probe(16))
    >>> lfp = net.record_lfp(kernels, interval=1.0)
    """
    check_network(network)
    _check_templates(network, templates)
    step = network.resolution
    width = step if interval is None else number("interval", interval)
    bin_steps = network.to_steps(width, "interval of kernels")
    if bin_steps < 1:
        raise ValueOutOfBoundsError("interval of kernels", f"{interval} ms", f"it must be at least {text_of(step)} ms")
    bins = network.to_steps(number("duration", duration), "duration of kernels") // bin_steps
    if bins < 1:
        raise ValueOutOfBoundsError(
            "duration of kernels", f"{duration} ms", f"it must be at least the interval, {text_of(width)} ms"
        )
    steps = (bins + 1) * bin_steps
    if steps > _MOST_STEPS:
        raise ValueOutOfBoundsError(
            "duration of kernels", f"{duration} ms", f"it must be at most {_MOST_STEPS} steps of {text_of(step)} ms"
        )
    points, _ = checked_contacts(contacts, unit, "um")
    checked_conductivity(sigma)
    check_side(points, boundary)
    check_choice("inside", inside, ["error", "surface"])
    # Responses, and the sums of all sources.
    check_room(
        f"kernels of {counted(steps, 'step')} at {counted(len(points), 'contact')}",
        8 * steps * len(points) * 2 * max(1, len(templates)),
        "choose a shorter duration, or fewer contacts",
    )
    inputs = _inputs(network, templates, steps)
    medium = {"sigma": sigma, "boundary": boundary, "inside": inside}
    responses = _Responses(network, points, medium, steps)
    for population, source, _ in inputs:
        responses.add(population, templates[population], source)
    measured = responses.measure()
    kernels: dict[Population, PotentialKernel] = {}
    sums: dict[Population, FloatArray] = {}
    for population, source, currents in inputs:
        response = measured[population, source]
        potential = np.array([np.convolve(currents, at_contact)[:steps] for at_contact in response.T])
        sums[source] = potential + sums.get(source, 0.0)
    for source in sorted(sums, key=lambda each: each.first_id):
        # A spike of a bin is in any of its steps.
        values = sums[source].reshape(len(sums[source]), bins + 1, bin_steps).mean(axis=2)
        kernels[source] = PotentialKernel(values, width, contacts, unit=unit, sigma=sigma)
    return kernels


def _check_templates(network: Network, templates: object) -> None:
    if not isinstance(templates, Mapping):
        raise WrongTypeError(
            "templates", name_type(templates), "must be a mapping from populations", "write {population: template}"
        )
    for population, template in templates.items():
        if not isinstance(population, Population):
            raise WrongTypeError("population with a template", name_type(population), "must be a ranvier.Population")
        if population.network is not network:
            raise StateError(f"population {population.name}", bound="it belongs to another network")
        if not isinstance(template, CellTemplate):
            raise WrongTypeError(
                f"template of {population.name}", name_type(template), "must be a ranvier.CellTemplate"
            )


# ---- currents that a spike causes ------------------------------------------------------------------------------------


def _inputs(
    network: Network, templates: Mapping[Population, CellTemplate], steps: int
) -> list[tuple[Population, Population, FloatArray]]:
    """Return the mean current of a spike of each source into all neurons of each target, pA, by step."""
    chosen = [each for each in network.projections if any(part in templates for part in each.targets.populations)]
    if not chosen:
        raise ValueOutOfBoundsError(
            "templates",
            some_names([each.name for each in templates]) if templates else "none",
            "no projection of the network leads to a population with a template",
        )
    drawn = _Draws(network.resolution)
    for projection in chosen:
        synapse = projection.synapse
        if isinstance(synapse, UserSynapse) or synapse.name != "static_synapse":
            raise StateError(
                f"projection {projection.name}",
                f"synapse {synapse.name}",
                bound="the currents that a spike causes depend on earlier spikes, or are random",
                remedy="give kernels of your own, or those of a network like this one with static synapses",
            )
        drawn.add(f"weight of projection {projection.name}", projection.weight, "weight")
        drawn.add(f"delay of projection {projection.name}", projection.delay, "delay")
    currents: dict[tuple[Population, Population], FloatArray] = {}
    for projection in chosen:
        delays = drawn.of(projection.delay, "delay")
        weights = drawn.of(projection.weight, "weight")
        for targets in projection.targets.parts:
            if targets.population not in templates:
                continue
            course = _course(projection, targets.population, weights, delays, network.resolution, steps)
            synapses = projection.expected_synapses * len(targets) / len(projection.targets)
            for sources in projection.sources.parts:
                # Of one spike of the whole population.
                number_of = synapses * len(sources) / len(projection.sources) / len(sources.population)
                pair = targets.population, sources.population
                currents[pair] = number_of * course + currents.get(pair, 0.0)
    return [(target, source, course) for (target, source), course in currents.items()]


def _course(
    projection: Projection,
    target: Population,
    weights: FloatArray,
    delays: FloatArray,
    resolution: float,
    steps: int,
) -> FloatArray:
    """Return the mean current after a spike through a synapse of a projection, pA, in each step."""
    model = target.model
    values = {**_defaults(model), **target.values}
    share = np.bincount(np.rint(delays / resolution).astype(np.int64))[:steps] / len(delays)
    if model == "iaf_psc_delta":
        # The potential jumps as the spike arrives: a charge in the step that ends then.
        charge = float(np.mean(weights)) * _mean_of(target, "C_m", values)
        return np.pad(share, (0, steps - len(share))) * charge / resolution
    if model not in ("iaf_psc_exp", "iaf_psc_alpha"):
        raise StateError(
            f"population {target.name}",
            f"model {model}",
            bound="unitary potentials are calculated for neurons whose synapses are currents: iaf_psc_exp, "
            "iaf_psc_alpha, iaf_psc_delta",
            remedy="leave its template out, or give kernels of your own: rv.PotentialKernel(...)",
        )
    begins = np.arange(steps + 1) * resolution
    course = np.zeros(steps)
    receptors = {"excitatory": weights >= 0.0, "inhibitory": weights < 0.0}
    for receptor, of_sign in receptors.items():
        if projection.receptor is None:
            mean = float(np.where(of_sign, weights, 0.0).mean())
        else:
            mean = float(weights.mean()) if projection.receptor == receptor else 0.0
        if mean == 0.0:
            continue
        tau = _mean_of(target, "tau_syn_ex" if receptor == "excitatory" else "tau_syn_in", values)
        # The charge from the arrival on, so that the means over steps have the true one.
        if model == "iaf_psc_exp":
            charges = -tau * np.exp(-begins / tau)
        else:
            charges = -math.e * (begins + tau) * np.exp(-begins / tau)
        course += mean * np.diff(charges) / resolution
    # A current begins in the step after the arrival.
    return np.convolve(np.concatenate([[0.0], share]), course)[:steps]


def _defaults(model: str) -> dict[str, Any]:
    return {
        parameter.name: parameter.default
        for each in _core.neuron_models()
        if each.name == model
        for parameter in each.parameters
    }


def _mean_of(population: Population, name: str, values: Mapping[str, Any]) -> float:
    """Return the mean of a parameter of a population that is a number or an array."""
    value = values[name]
    if not isinstance(value, float | int | np.ndarray):
        raise ValueOutOfBoundsError(
            f"{name} of population {population.name}",
            repr(value),
            "it must be a number or an array for unitary potentials",
            "leave the template out, or give kernels of your own: rv.PotentialKernel(...)",
        )
    return float(np.mean(value))


class _Draws:
    """Values of synapses that are numbers, arrays or distributions, which are represented by draws."""

    def __init__(self, resolution: float) -> None:
        self._net = Network(resolution=resolution)
        self._source = self._net.create(poisson_generator(), 1)
        self._projections: dict[tuple[Distribution, str], Projection] = {}
        self._simulation: Simulation | None = None
        self._found: dict[tuple[Distribution, str], FloatArray] = {}

    def add(self, what: str, value: StoredValues, kind: str) -> None:
        """Add the values of a projection."""
        if isinstance(value, float | np.ndarray):
            return
        if not isinstance(value, Distribution) or not is_plain(value):
            raise ValueOutOfBoundsError(
                what,
                repr(value),
                "unitary potentials need a number, an array, or a distribution whose parameters are numbers",
                "give kernels of your own: rv.PotentialKernel(...)",
            )
        if (value, kind) not in self._projections:
            target = self._net.create(iaf_psc_delta(), 1)
            given: dict[str, Any] = {"weight": 1.0, "delay": self._net.resolution, kind: value}
            rule = FixedIndegree(_DRAWN)
            self._projections[value, kind] = self._net.connect(self._source, target, rule, **given)

    def of(self, value: StoredValues, kind: str) -> FloatArray:
        """Return them; delays are multiples of the resolution."""
        if not isinstance(value, Distribution):
            return np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel()
        if (value, kind) not in self._found:
            if self._simulation is None:
                self._simulation = Simulation(self._net, threads=1, progress=False)
            synapses = self._simulation.connections(projection=self._projections[value, kind])
            drawn = synapses.weights if kind == "weight" else synapses.delays
            self._found[value, kind] = np.asarray(drawn, dtype=np.float64)
        return self._found[value, kind]


# ---- responses of the cells ------------------------------------------------------------------------------------------


@dataclass
class _Group:
    """Cells of a template with the same synapses."""

    shares: FloatArray
    """Of each compartment in the synapses of each cell."""
    recorder: ExtracellularRecorder
    pulses: list[Stimulus]


class _Responses:
    """Potentials after a pulse of current that is spread over the synapses of the cells of templates.

    Parameters
    ----------
    network
        Its resolution and seed are those of the cells, too.
    contacts
        Coordinates, um.
    medium
        Arguments of `Network.record_extracellular`.
    steps
        Number of steps after the pulse.
    """

    def __init__(self, network: Network, contacts: FloatArray, medium: Mapping[str, Any], steps: int) -> None:
        self._net = Network(resolution=network.resolution, seed=network.seed, name="templates")
        self._contacts, self._medium, self._steps = contacts, medium, steps
        self._groups: dict[tuple[Population, bytes, str], _Group] = {}
        self._keys: dict[tuple[Population, Population], tuple[Population, bytes, str]] = {}

    def add(self, population: Population, template: CellTemplate, source: Population) -> None:
        """Add the cells of a population with the synapses from a source, unless there are equal ones."""
        membrane = template.membrane(source.name)
        key = population, membrane.tobytes(), "" if template.density is None else source.name
        self._keys[population, source] = key
        if key in self._groups:
            return
        possible = np.flatnonzero(membrane)
        cells = self._net.create(
            template.with_electrodes(possible),
            template.size,
            name=f"template of {population.name} {len(self._groups)}",
            positions=template.positions,
            rotation=template.rotation,
        )
        shares = np.array([template.shares(source.name, cells.compartment_lines(i)) for i in range(template.size)])
        begin, end = (steps * self._net.resolution for steps in (_BEFORE, _BEFORE + 1))
        pulse = dc_generator(amplitude=_PULSE, start=begin, stop=end)
        self._groups[key] = _Group(
            shares,
            self._net.record_extracellular(
                self._contacts, self._net.resolution, cells=cells, method="matrix", unit="um", **self._medium
            ),
            [
                self._net.stimulate(cells, pulse, weight=shares[:, compartment], electrode=str(compartment))
                for compartment in possible
            ],
        )

    def measure(self) -> dict[tuple[Population, Population], FloatArray]:
        """Return the mean response of each target to a unit current from each source, mV/pA, (steps, contacts)."""
        with_pulses = self._run()
        for group in self._groups.values():
            for pulse in group.pulses:
                self._net.set(pulse, amplitude=0.0)
        without = self._run()
        found = {}
        for key, group in self._groups.items():
            # A pulse acts one step after its begin, the delay of a stimulus; the sample is that at its end.
            change = (with_pulses[key] - without[key])[_BEFORE + 1 :]
            # Currents of electrodes do not pass the membrane; those of synapses do, inwards.
            change[0] -= injected_potentials(group.recorder, _PULSE * group.shares)
            found[key] = change / (_PULSE * len(group.shares))
        return {pair: found[key] for pair, key in self._keys.items()}

    def _run(self) -> dict[tuple[Population, bytes, str], FloatArray]:
        sim = Simulation(self._net, threads=1, progress=False)
        sim.run((_BEFORE + 1 + self._steps) * self._net.resolution)
        return {key: sim.extracellular(group.recorder).potentials for key, group in self._groups.items()}
