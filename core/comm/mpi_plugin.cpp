#include "ranvier/comm/mpi_plugin.hpp"

#include <dlfcn.h>

#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

std::shared_ptr<Communicator> open_mpi_communicator(const std::string& plugin, const MpiOptions& options) {
    const auto fail = [&plugin](const char* remedy) {
        const char* const reason = dlerror();
        throw CommunicationError({.object = "MPI plugin " + plugin,
                                  .value = {},
                                  .bound = reason != nullptr ? reason : "it cannot be used",
                                  .remedy = remedy});
    };
    // Never closed: MPI must not be unloaded.
    void* const library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail("load the MPI library of the plugin's family first, with RTLD_GLOBAL");
    const auto open = reinterpret_cast<MpiOpen>(dlsym(library, "ranvier_mpi_open"));
    if (open == nullptr) fail("reinstall Ranvier");
    void* communicator = nullptr;
    MpiFailure failure{};
    if (open(&options, &communicator, &failure) != 0) {
        throw CommunicationError({failure.object, failure.value, failure.bound, failure.remedy});
    }
    return std::shared_ptr<Communicator>(static_cast<Communicator*>(communicator));
}

}  // namespace ranvier::comm
