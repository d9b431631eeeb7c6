#pragma once

#include <cstdint>
#include <vector>

#include "ranvier/comm/communicator.hpp"
#include "ranvier/engine/options.hpp"
#include "ranvier/network/network.hpp"

namespace ranvier::engine {

/// A hash of each part of a description (resolution and seed, each population, projection, stimulus and recorder, and
/// each option that all processes must share), in that order. Equal parts have equal hashes; different ones almost
/// surely not.
std::vector<std::uint64_t> fingerprint(const network::Network& network, const SimulationOptions& options);

/// Checks that all processes describe the same network. @note Collective.
/// @throws RemoteError with the first part that differs
void compare_descriptions(comm::Communicator& communicator, const network::Network& network,
                          const SimulationOptions& options);

}  // namespace ranvier::engine
