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
#include "ranvier/parallel/topology.hpp"

namespace ranvier::engine {

// Resolution of the options of a simulation. All functions throw ValueOutOfBoundsError or UnknownNameError for an
// invalid option.

/// @param unless the default
std::uint32_t choose_threads(const SimulationOptions& options, std::uint32_t unless);
/// Blocks of the emulator of a device, which are its shards.
std::uint32_t emulated_blocks(const SimulationOptions& options, std::uint32_t threads);
/// One for each thread by default; with asynchronous stepping, as many as needed for the data of a step of one to fit
/// into a cache, if neurons gain from that.
std::uint32_t choose_shards(const SimulationOptions& options, const network::Network& network, std::int32_t ranks,
                            std::uint32_t threads);
bool is_asynchronous(const SimulationOptions& options);
/// Up to so many processes, spikes are exchanged in sections by default, and beyond that over a grid. A section takes 8
/// bytes beside its spikes, and with so many processes a spike to each of them is more than most epochs have: a process
/// with a million destinations at 10 spikes/s sends 15,000 in 1.5 ms.
inline constexpr std::int32_t most_ranks_of_sections = 4096;

/// Whether each worker has a pool of small blocks. @param pinned whether workers are bound to processors
bool pools_small_blocks(const SimulationOptions& options, bool pinned, const parallel::Topology& topology);

/// The method for epochs.
const comm::ExchangeInfo& choose_exchange(const SimulationOptions& options, std::int32_t ranks);
parallel::StealingPolicy choose_stealing(const SimulationOptions& options);
/// From which workers a worker takes parts of deliveries while it waits.
parallel::StealingPolicy choose_part_stealing(const SimulationOptions& options);
/// Maximum number of steps of a shard at a time; 1: all advance together.
Step choose_most_steps(const SimulationOptions& options, const network::Network& network);
/// Steps of a delivery window.
std::uint32_t choose_window(const SimulationOptions& options, const network::Network& network);
/// All build options except the sorting of connections.
/// @param shortest_delay steps
/// @param shards of the process
connect::BuildOptions make_build_options(const network::Network& network, const SimulationOptions& options,
                                         Step shortest_delay, std::int32_t ranks, std::uint32_t shards);
/// Whether connections are sorted by source, assuming that all processes have as many shards as this one. By default
/// they are, unless unsorted ones take less memory and nothing needs their sources.
bool choose_sorting(const SimulationOptions& options, const connect::NetworkPlan& network, std::int32_t ranks,
                    std::uint32_t shards);
/// @throws ShapeError
connect::Placement make_placement(const network::Network& network, const SimulationOptions& options,
                                  std::int32_t ranks);

/// Cost of a neuron of each population; empty: shards get equal numbers of neurons.
/// @throws ShapeError, ValueOutOfBoundsError
std::vector<double> choose_costs(const SimulationOptions& options, const network::Network& network);

/// Checks that only methods that group processes by host are given the size of a group, and that it can be.
/// @throws ValueOutOfBoundsError, StateError
void check_host_ranks(const SimulationOptions& options, const comm::Communicator& communicator);

/// Checks the remaining options, and their combinations.
/// @throws ValueOutOfBoundsError, UnknownNameError, StateError
void check_options(const SimulationOptions& options, const network::Network& network, connect::PlacementKind placement,
                   const comm::Communicator& communicator);

}  // namespace ranvier::engine
