#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ranvier/comm/communicator.hpp"

/// MPI comes as a plugin, one for each family, since the families' binary interfaces differ and a user may have either,
/// both or none. A plugin is compiled against the family's headers and linked with no MPI library: whoever loads it has
/// loaded one before, for all to see (RTLD_GLOBAL).
namespace ranvier::comm {

/// What went wrong in a plugin, as the fields of an Error. C types only: plugin and program may come from different
/// compilers.
struct MpiFailure {
    char object[256];
    char value[256];
    char bound[1024];
    char remedy[512];
};

struct MpiOptions {
    /// MPI's handle of a communicator as Fortran has it, which is an integer in every family; -1 is the world.
    int fortran_communicator = -1;
    /// The most that one MPI call carries. Tests make it small.
    std::uint64_t most_bytes_per_call = INT32_MAX;
};

/// The one function of a plugin, `ranvier_mpi_open`: leaves a new Communicator, or a failure and returns other than 0.
using MpiOpen = int (*)(const MpiOptions* options, void** communicator, MpiFailure* failure);

/// Loads the plugin, which stays loaded, and opens a communicator. Initializes MPI if nobody has, and then also finalizes
/// it when the process ends; if it ends with a status other than 0, that ends all processes of the run.
/// @note Collective, for the processes of the communicator.
/// @throws CommunicationError when there is no such plugin, no library, or that fails
std::shared_ptr<Communicator> open_mpi_communicator(const std::string& plugin, const MpiOptions& options);

}  // namespace ranvier::comm
