"""Building a network."""

from __future__ import annotations

import math
from collections.abc import Callable

from ranvier import _core, mpi
from ranvier.base.cuda_compiler import cuda_compilers
from ranvier.base.interrupts import interrupts_deferred
from ranvier.base.names import counted
from ranvier.base.user_model import UserModel
from ranvier.base.user_synapse import UserSynapse
from ranvier.errors import StateError
from ranvier.mpi import Communicator
from ranvier.network.contents import Contents
from ranvier.network.network import Network, snapshot_of
from ranvier.processes.agreement import agree, agree_on, agreed
from ranvier.simulation.built_network import BuiltNetwork
from ranvier.simulation.core_options import checked_group, core_options
from ranvier.simulation.field_setup import set_fields
from ranvier.simulation.loading import SavedState
from ranvier.simulation.options import DryRun, Processes, RunOptions, Tuning
from ranvier.simulation.progress import ProgressOption, ProgressReporter
from ranvier.simulation.recordings import check_files
from ranvier.simulation.thread_choice import choose_threads

__all__ = ["build", "choose_communicator"]

# Long enough for some spikes of each neuron, short compared to the simulations that follow.
_PILOT_MS = 100.0


def choose_communicator(processes: Processes | None, dry_run: DryRun | None) -> Communicator:
    """Return the communicator that the options select.

    Raises
    ------
    StateError
        When a dry run and a communicator are both set.
    """
    given = checked_group(Processes, processes).communicator
    ranks = checked_group(DryRun, dry_run).ranks
    if ranks is not None:
        if given is not None:
            raise StateError("communicator", bound="a dry run uses one process only", remedy="leave out one of the two")
        return Communicator.mirror(ranks)
    if given is None:
        return mpi.world()
    return given if isinstance(given, Communicator) else mpi.communicator(given)


def build(
    network: Network,
    communicator: Communicator,
    choose_options: Callable[[], RunOptions],
    groups: tuple[Processes | None, Tuning | None, DryRun | None],
    progress: ProgressOption,
    saved: SavedState | None = None,
) -> BuiltNetwork:
    """Build a network on some processes; `choose_options` may raise. A `saved` state must be a state of this network.

    Raises
    ------
    RanvierError
        All errors of `ranvier.Simulation`, on all processes.
    """
    # Other threads may change the network while it is checked and built.
    snapshot = snapshot_of(network)

    def check() -> tuple[RunOptions, _core.SimulationOptions, str]:
        chosen = choose_options()
        if chosen.threads == "auto":
            _check_trials(checked_group(Tuning, groups[1]), communicator)
        for_core = core_options(snapshot.populations, chosen, *groups)
        programs = _compile(snapshot, checked_group(Tuning, groups[1]), chosen.weight_precision == "double")
        for_core.compiled_programs = for_core.compiled_rules = programs == "compiled"
        if chosen.device.startswith("cuda"):
            for_core.device_compilers = [str(path) for path in cuda_compilers()]
        if saved is not None:
            saved.check_network(snapshot.core, for_core, snapshot.recorders)
        else:
            check_files(snapshot.recorders, communicator, chosen.recordings)
        return chosen, for_core, programs

    chosen, options, programs = agree(communicator, "options of the simulation", check)
    agree_on(communicator, "threads", lambda: "'auto'" if chosen.threads == "auto" else "a given number")
    in_files = sum(recorder.to is not None for recorder in snapshot.recorders)
    agree_on(communicator, "recordings", lambda: f"{chosen.recordings}, {in_files} of them in files")
    tuning = checked_group(Tuning, groups[1])
    synapses = snapshot.core.expected_synapses
    title = f"Building {counted(snapshot.core.neuron_count, 'neuron', ',')} and {counted(synapses, 'synapse', ',.0f')}"
    with (
        ProgressReporter(progress, "build", title) as reporter,
        # Otherwise a process might stop without telling the others.
        interrupts_deferred() as interrupts,
    ):
        progress_of_build = None if reporter.silent else lambda: reporter.update(0.0)
        choice = None
        if chosen.threads == "auto":
            choice = choose_threads(snapshot, options, communicator, interrupts, progress_of_build)
            options.threads = choice.threads
        with agreed(communicator, "building the network"), interrupts.allowed():
            if tuning.costs == "measured":
                options.costs = _measure_costs(snapshot.core, options, communicator, progress_of_build)
                options.measure_costs = tuning.measure_costs
            core = _core.Simulation(snapshot.core, options, communicator, progress=progress_of_build)
        set_fields(core, snapshot.fields, communicator, interrupts)
    return BuiltNetwork(core, network, snapshot, communicator, options, programs, tuning.trace_epochs, choice)


def _check_trials(tuning: Tuning, communicator: Communicator) -> None:
    """Refuse options with which numbers of threads cannot be tried."""
    if communicator.is_dry_run:
        raise StateError(
            "threads",
            "'auto'",
            "a dry run simulates one of many processes, whose machine may be another one",
            "give the number of threads of a process",
        )
    if isinstance(tuning.pinning, str) and _core.parse_pinning(tuning.pinning)[0] == "list":
        raise StateError(
            "threads",
            "'auto'",
            "pinning is a list with one processor for each thread",
            "give the number of threads, or leave out pinning",
        )


def _compile(contents: Contents, tuning: Tuning, double_weights: bool) -> str:
    """Compile the equations of neurons and synapses, and return how they are executed."""
    chosen = _core.instruction_sets()[-1] if tuning.instruction_set == "auto" else tuning.instruction_set
    neurons = [each.user_model for each in contents.populations]
    synapses = [each.synapse for each in contents.projections]
    programs = tuning.programs
    if programs != "compiled" and not any(isinstance(each, UserModel | UserSynapse) for each in [*neurons, *synapses]):
        return "none"
    # The compiler of equations is loaded only for networks with equations.
    from ranvier.compiled.steps import compile_models

    return compile_models(neurons, synapses, tuning.programs, chosen, double_weights)


def _measure_costs(
    network: _core.Network,
    options: _core.SimulationOptions,
    communicator: Communicator,
    progress: Callable[[], None] | None,
) -> list[float]:
    """Return the costs of the populations, measured in a short simulation."""
    options.measure_costs = True
    pilot = _core.Simulation(network, options, communicator, progress=progress)
    pilot.run(math.ceil(_PILOT_MS / pilot.resolution), progress)
    return pilot.costs()
