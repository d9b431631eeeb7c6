#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm::mpi {

/// The processes of `original`, which the caller keeps: messages of the two are isolated from each other.
/// @param most_bytes limit of one MPI call, at most 2^31 - 1
/// @note Collective.
std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm original, std::size_t most_bytes);

}  // namespace ranvier::comm::mpi
