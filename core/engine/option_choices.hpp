#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/progress/progress_exchange.hpp"
#include "connect/tables/projection_plan.hpp"
#include "connect/tables/table_builder.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/connect/placement/placement.hpp"
#include "ranvier/engine/options.hpp"
#include "ranvier/network/network.hpp"
#include "ranvier/parallel/stealing.hpp"

namespace ranvier::engine {

// What the options of a simulation come to. All of it throws ValueOutOfBoundsError or UnknownNameError where an option is
// wrong.

/// @param unless as many as there are, unless the options say otherwise
std::uint32_t choose_threads(const SimulationOptions& options, std::uint32_t unless);
/// One for each thread unless the options say otherwise; where shards do not wait for all others, so many that what a step of
/// one goes through stays in a cache, if neurons gain from that.
std::uint32_t choose_shards(const SimulationOptions& options, const network::Network& network, std::int32_t ranks,
                            std::uint32_t threads);
bool is_asynchronous(const SimulationOptions& options);
/// In epochs.
const comm::ExchangeInfo& choose_exchange(const SimulationOptions& options);
parallel::StealingPolicy choose_stealing(const SimulationOptions& options);
/// The most steps that a shard takes at a time; 1: all advance together.
Step choose_most_steps(const SimulationOptions& options, const network::Network& network);
/// Steps that runs are delivered ahead.
std::uint32_t choose_window(const SimulationOptions& options, const network::Network& network);
/// All but whether connections are sorted.
connect::BuildOptions make_build_options(const network::Network& network, const SimulationOptions& options);
/// Whether connections are to be sorted by source, if all processes had as many shards as this one. Where nobody has told,
/// they are unless unsorted ones take less memory and nothing needs to find them by source.
bool choose_sorting(const SimulationOptions& options, const connect::NetworkPlan& network, std::int32_t ranks,
                    std::uint32_t shards);
/// @throws ShapeError
connect::Placement make_placement(const network::Network& network, const SimulationOptions& options,
                                  std::int32_t ranks);

/// Of a neuron of each population; none: shards get equal numbers of neurons. @throws ShapeError, ValueOutOfBoundsError
std::vector<double> choose_costs(const SimulationOptions& options, const network::Network& network);

/// Checks what the above does not, and whether options go together.
/// @throws ValueOutOfBoundsError, UnknownNameError, StateError
void check_options(const SimulationOptions& options, const network::Network& network, connect::PlacementKind placement,
                   std::int32_t ranks, bool is_dry_run);

}  // namespace ranvier::engine
