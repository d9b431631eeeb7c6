#pragma once

#include "bindings.hpp"
#include "ranvier/engine/simulation.hpp"

/// The bindings of a simulation, each file's subject.
namespace ranvier::bindings {

void bind_options(nb::module_& module);
/// The records in which times and counts are told.
void bind_results(nb::module_& module);
/// What saves the state of simulations, and loads it.
void bind_saved_state(nb::module_& module);
/// What is told without a simulation.
void bind_forecasts(nb::module_& module);

/// What has happened, how long it took and what memory it takes.
void bind_accounts(nb::class_<engine::Simulation>& simulation);
/// What recorders have recorded.
void bind_recordings(nb::class_<engine::Simulation>& simulation);
/// Queries of connections, and changes of their weights.
void bind_connections(nb::class_<engine::Simulation>& simulation);
void bind_synapse_parameters(nb::class_<engine::Simulation>& simulation);

}  // namespace ranvier::bindings
