#pragma once

#include "bindings.hpp"
#include "ranvier/engine/simulation.hpp"

/// The bindings of a simulation, by file.
namespace ranvier::bindings {

void bind_options(nb::module_& module);
/// Records of times and counts.
void bind_results(nb::module_& module);
/// Saving and loading of state.
void bind_saved_state(nb::module_& module);
/// Functions that need no simulation.
void bind_forecasts(nb::module_& module);

/// Counts, times and memory.
void bind_accounts(nb::class_<engine::Simulation>& simulation);
/// Recordings.
void bind_recordings(nb::class_<engine::Simulation>& simulation);
/// Queries of connections, and changes of their weights.
void bind_connections(nb::class_<engine::Simulation>& simulation);
void bind_synapse_parameters(nb::class_<engine::Simulation>& simulation);

}  // namespace ranvier::bindings
