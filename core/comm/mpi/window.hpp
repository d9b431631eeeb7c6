#pragma once

#include <cstddef>
#include <memory>

#include "comm/mpi/group.hpp"
#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm::mpi {

/// @note Collective, and so is destroying it.
std::unique_ptr<Window> make_mpi_window(std::shared_ptr<const Group> group, std::size_t bytes);

}  // namespace ranvier::comm::mpi
