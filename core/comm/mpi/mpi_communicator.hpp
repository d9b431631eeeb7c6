#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm::mpi {

/// The processes of `original`, which stays the caller's: nothing that is sent here meets what is sent there.
/// @param most_bytes the most that one MPI call carries, at most 2^31 - 1
/// @note Collective.
std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm original, std::size_t most_bytes);

}  // namespace ranvier::comm::mpi
