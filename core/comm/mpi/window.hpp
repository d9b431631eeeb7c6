#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "comm/mpi/group.hpp"
#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm::mpi {

/// @note Collective, and so is destroying it.
/// @throws CommunicationError when this MPI has no such windows
std::unique_ptr<Window> make_mpi_window(std::shared_ptr<const Group> group, std::span<const std::size_t> slots,
                                        WindowSync sync);

}  // namespace ranvier::comm::mpi
