"""The neuron with AMPA, NMDA, GABA_A and GABA_B receptors against a reference integrator and exact solutions."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

import ranvier as rv
from ranvier import _core, errors

# Receptor: reversal potential (mV), time constant (ms), both as by default, and arrivals (ms) of conductances (nS).
RECEPTORS: dict[str, tuple[float, float, dict[float, float]]] = {
    "AMPA": (0.0, 5.0, {2.0: 8.0, 3.2: 20.0, 30.0: 15.0}),
    "NMDA": (0.0, 150.0, {2.4: 15.0, 12.0: 10.0}),
    "GABA_A": (-70.0, 6.0, {8.0: 30.0, 16.4: 12.0}),
    "GABA_B": (-90.0, 150.0, {10.0: 6.0}),
}
E_L, C_M, TAU_M, I_E, MG = -70.0, 250.0, 10.0, 150.0, 1.2
TIME = 40.0  # ms


def simulated(resolution: float, sample: float = 0.4) -> npt.NDArray[np.float64]:
    """Return the potential at multiples of a time, without spikes."""
    net = rv.Network(resolution=resolution)
    cell = net.create(rv.iaf_cond_nmda(V_th=1000.0, I_e=I_E, Mg=MG), 1)
    for receptor, (_, _, arrivals) in RECEPTORS.items():
        for arrival, weight in arrivals.items():
            source = net.create_spike_generators([[arrival - 1.0]])
            net.connect(source, cell, rv.AllToAll(), weight=weight, delay=1.0, receptor=receptor)
    recorder = net.record_state(cell, "V_m", interval=sample)
    sim = rv.Simulation(net, threads=1, weight_precision="double", progress=False)
    sim.run(TIME)
    return sim.state(recorder)["V_m"][:, 0]


def reference(sample: float = 0.4) -> npt.NDArray[np.float64]:
    """Return the same from a Runge-Kutta method of order 8, to 1e-9 mV, begun anew at each arrival."""

    def slope(time: float, potential: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        current = I_E - C_M / TAU_M * (potential - E_L)
        for receptor, (reversal, tau, arrivals) in RECEPTORS.items():
            conductance = sum(
                weight * np.exp(-(time - arrival) / tau) for arrival, weight in arrivals.items() if arrival <= begin
            )
            if receptor == "NMDA":
                conductance = conductance / (1.0 + np.exp(-0.062 * potential) * MG / 3.57)
            current = current - conductance * (potential - reversal)
        return current / C_M

    samples = sample * np.arange(1, round(TIME / sample) + 1)
    arrivals = sorted({arrival for _, _, own in RECEPTORS.values() for arrival in own})
    found = np.empty(len(samples))
    potential = np.array([E_L])
    for begin, end in zip([0.0, *arrivals], [*arrivals, TIME], strict=True):
        inside = (samples > begin + 1e-9) & (samples < end + 1e-9)
        solution = solve_ivp(slope, (begin, end + 1e-9), potential, "DOP853", dense_output=True, rtol=1e-12, atol=1e-10)
        found[inside] = solution.sol(samples[inside])[0]
        potential = solution.sol(end)
    return found


def test_the_potential_converges_with_the_square_of_the_resolution() -> None:
    exact = reference()
    assert np.ptp(exact) > 15.0  # mV
    errors_of = [np.abs(simulated(resolution) - exact).max() for resolution in (0.2, 0.1, 0.05, 0.025)]
    assert errors_of[1] < 1e-3  # mV, at 0.1 ms
    for coarse, fine in itertools.pairwise(errors_of):
        assert 3.5 < coarse / fine < 4.5, errors_of


def test_conductances_decay_exactly() -> None:
    net = rv.Network()
    cell = net.create("iaf_cond_nmda", 1)
    for receptor, (_, _, arrivals) in RECEPTORS.items():
        for arrival, weight in arrivals.items():
            source = net.create_spike_generators([[arrival - 1.0]])
            net.connect(source, cell, rv.AllToAll(), weight=weight, delay=1.0, receptor=receptor)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(TIME)
    for receptor, (_, tau, arrivals) in RECEPTORS.items():
        expected = sum(weight * np.exp(-(TIME - arrival) / tau) for arrival, weight in arrivals.items())
        assert sim.get(cell, f"g_{receptor}")[0] == pytest.approx(expected, rel=1e-12)


def test_without_magnesium_nmda_receptors_are_like_others() -> None:
    net = rv.Network()
    values: dict[str, Any] = {"tau_AMPA": 20.0, "tau_NMDA": 20.0, "E_AMPA": -10.0, "E_NMDA": -10.0, "V_th": 100.0}
    open_cell, other, blocked = (
        net.create("iaf_cond_nmda", 1, Mg=magnesium, **values) for magnesium in (0.0, 1.0, 1.0)
    )
    source = net.create_spike_generators([[1.0, 3.0, 3.0]])
    for cell, receptor in ((open_cell, "NMDA"), (other, "AMPA"), (blocked, "NMDA")):
        net.connect(source, cell, rv.AllToAll(), weight=20.0, receptor=receptor)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(10.0)
    potentials = [sim.get(cell, "V_m")[0] for cell in (open_cell, other, blocked)]
    assert potentials[0] == pytest.approx(potentials[1], rel=1e-12)
    assert potentials[1] - potentials[2] > 5.0
    # Jahr and Stevens 1990: at -60 mV and 1 mM, 1 / (1 + exp(3.72) / 3.57) = 8.0 % of them conduct.
    cell = (net := rv.Network()).create("iaf_cond_nmda", 1, V_m=-60.0, E_L=-60.0, tau_NMDA=1e9, V_th=100.0, Mg=1.0)
    net.stimulate(cell, rv.dc_generator(amplitude=0.0))
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.set(cell, g_NMDA=1e-4)
    sim.run(200.0)
    # A conductance that is small against the leak of 25 nS: the potential rises by g B (0 - V) / 25 nS.
    unblocked = (sim.get(cell, "V_m")[0] + 60.0) * 25.0 / (1e-4 * 60.0)
    assert unblocked == pytest.approx(1.0 / (1.0 + np.exp(0.062 * 60.0) / 3.57), rel=1e-4)


def test_without_synapses_it_is_the_exact_leaky_neuron() -> None:
    found = []
    for model in ("iaf_cond_nmda", "iaf_psc_exp"):
        net = rv.Network()
        cells = net.create(model, 3, I_e=[300.0, 380.0, 900.0], V_m=[-70.0, -58.0, -60.0], t_ref=1.3)
        recorder = net.record_spikes()
        net.stimulate(cells, rv.step_current_generator(times=[20.0, 40.0], amplitudes=[200.0, -100.0]))
        sim = rv.Simulation(net, threads=1, progress=False)
        sim.run(100.0)
        found.append((sim.spikes(recorder).steps.tolist(), sim.spikes(recorder).ids.tolist(), sim.get(cells, "V_m")))
    assert len(found[0][0]) > 15
    assert found[0][:2] == found[1][:2]
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-12)


@pytest.mark.parametrize("instruction_set", _core.instruction_sets()[:-1])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_each_instruction_set_gives_the_same_bits(precision: Literal["single", "double"], instruction_set: Any) -> None:
    states = []
    best: Any = _core.instruction_sets()[-1]
    for chosen in (instruction_set, best):
        net = rv.Network(seed=5)
        cells = net.create(rv.iaf_cond_nmda(V_m=rv.Normal(-60.0, 5.0), tau_NMDA=rv.Uniform(50.0, 150.0)), 130)
        for receptor in RECEPTORS:
            net.stimulate(cells, rv.poisson_generator(rate=2000.0), weight=1.0, receptor=receptor)
        sim = rv.Simulation(
            net, threads=1, precision=precision, tuning=rv.Tuning(instruction_set=chosen), progress=False
        )
        sim.run(30.0)
        names = ["V_m", *(f"g_{receptor}" for receptor in RECEPTORS)]
        states.append([sim.get(cells, name).tobytes() for name in names])
    assert states[0] == states[1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tau_NMDA": 0.0}, "tau_NMDA"),
        ({"Mg": -1.0}, "Mg"),
        ({"E_GABA_B": 1e7}, "E_GABA_B"),
        ({"V_reset": -50.0}, "V_reset"),
        ({"C_m": 1e-7}, "leak"),
        ({"E_L": -1e4, "V_reset": -1e4}, "factor"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_integrated_are_refused(values: dict[str, Any], message: str) -> None:
    def build() -> None:
        net = rv.Network()
        net.create("iaf_cond_nmda", 2, **values)
        rv.Simulation(net, threads=1)

    with pytest.raises(errors.ValueOutOfBoundsError, match=message):
        build()
