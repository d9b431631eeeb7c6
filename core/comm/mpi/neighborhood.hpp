#pragma once

#include <memory>
#include <span>

#include "comm/mpi/group.hpp"
#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm::mpi {

/// @note Collective.
std::unique_ptr<Neighborhood> make_mpi_neighborhood(std::shared_ptr<const Group> group, std::span<const Rank> sources,
                                                    std::span<const Rank> destinations);

}  // namespace ranvier::comm::mpi
