#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ranvier/comm/communicator.hpp"

/// MPI support is a plugin, one for each family, since the binary interfaces of the families differ and a user may have
/// either, both or none. A plugin is compiled against the headers of its family and not linked to an MPI library: its
/// loader must have loaded one with global visibility (RTLD_GLOBAL).
namespace ranvier::comm {

/// A failure of a plugin, as the fields of an Error. C types only: plugin and program may come from different
/// compilers.
struct MpiFailure {
    char object[256];
    char value[256];
    char bound[1024];
    char remedy[512];
};

struct MpiOptions {
    /// MPI's handle of a communicator in Fortran, an integer in every family; -1 is the world.
    int fortran_communicator = -1;
    /// Limit of one MPI call in bytes. Tests make it small.
    std::uint64_t most_bytes_per_call = INT32_MAX;
};

/// The only function of a plugin, `ranvier_mpi_open`: sets a new Communicator and returns 0, or sets a failure and
/// returns another value.
using MpiOpen = int (*)(const MpiOptions* options, void** communicator, MpiFailure* failure);

/// Loads the plugin, which stays loaded, and opens a communicator. Initializes MPI if it is not initialized, and then
/// also finalizes it when the process ends; an exit status other than 0 then terminates all processes of the run.
/// @note Collective, for the processes of the communicator.
/// @throws CommunicationError when the plugin or library is missing or fails
std::shared_ptr<Communicator> open_mpi_communicator(const std::string& plugin, const MpiOptions& options);

}  // namespace ranvier::comm
