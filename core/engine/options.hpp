#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "connect/placement.hpp"
#include "connect/table_builder.hpp"
#include "engine/network.hpp"
#include "engine/simulation.hpp"

namespace ranvier::engine {

// What the options of a simulation come to. All of it throws ValueOutOfBoundsError or UnknownNameError where an option is
// wrong.

/// @param unless as many as there are, unless the options say otherwise
std::uint32_t choose_threads(const SimulationOptions& options, std::uint32_t unless);
std::uint32_t choose_shards(const SimulationOptions& options, std::uint32_t threads);
/// Steps that runs are delivered ahead.
std::uint32_t choose_window(const SimulationOptions& options);
connect::BuildOptions make_build_options(const Network& network, const SimulationOptions& options);
/// @throws ShapeError
connect::Placement make_placement(const Network& network, const SimulationOptions& options, std::int32_t ranks);

/// @throws ShapeError, ValueOutOfBoundsError
std::span<const double> checked_costs(const SimulationOptions& options, const Network& network);

/// Checks what the above does not, and whether options go together.
/// @throws ValueOutOfBoundsError, UnknownNameError, StateError
void check_options(const SimulationOptions& options, const Network& network, connect::PlacementKind placement,
                   bool is_dry_run);

}  // namespace ranvier::engine
