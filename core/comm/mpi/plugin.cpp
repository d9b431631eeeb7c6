#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "comm/mpi/handles.hpp"
#include "comm/mpi/mpi_communicator.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/mpi_plugin.hpp"

namespace ranvier::comm::mpi {

namespace {

pid_t initializer = 0;

/// Finalizes MPI at the end of the process that initialized it: regularly if its status is 0, otherwise by aborting all
/// processes of the run. Otherwise both sides would wait, since MPI_Finalize is collective.
void finalize(int status) {
    // A forked child inherits this function, but not MPI.
    if (getpid() != initializer || !mpi_is_running()) return;
    int processes = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (status != 0 && processes > 1) abort_run(status);
    MPI_Finalize();
}

#ifdef __GLIBC__
void finalize_on_exit(int status, void* /*unused*/) { finalize(status); }
#else
void finalize_at_exit() { finalize(0); }
#endif

void initialize() {
    int initialized = 0;
    check_mpi(MPI_Initialized(&initialized), "MPI_Initialized");
    int finalized = 0;
    check_mpi(MPI_Finalized(&finalized), "MPI_Finalized");
    if (finalized != 0) {
        throw CommunicationError({.object = "MPI",
                                  .value = "finalized",
                                  .bound = "it cannot be started twice in a process",
                                  .remedy = "open communicators before MPI_Finalize"});
    }
    int level = MPI_THREAD_SINGLE;
    if (initialized != 0) {
        check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
    } else {
        check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
        initializer = getpid();
#ifdef __GLIBC__
        on_exit(finalize_on_exit, nullptr);
#else
        std::atexit(finalize_at_exit);
#endif
    }
    if (level < MPI_THREAD_SERIALIZED) {
        throw CommunicationError({.object = "thread level of " + mpi_library_name(),
                                  .value = level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED",
                                  .bound = "Ranvier calls MPI from several threads in turn",
                                  .remedy =
                                      "initialize MPI with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE (in mpi4py: "
                                      "mpi4py.rc.thread_level, before mpi4py.MPI is imported)"});
    }
}

MPI_Comm find_communicator(int fortran_communicator) {
    if (fortran_communicator == -1) return MPI_COMM_WORLD;
    const MPI_Comm communicator = MPI_Comm_f2c(fortran_communicator);
    int between_groups = 0;
    if (communicator != MPI_COMM_NULL) {
        check_mpi(MPI_Comm_test_inter(communicator, &between_groups), "MPI_Comm_test_inter");
    }
    if (communicator == MPI_COMM_NULL || between_groups != 0) {
        throw CommunicationError({.object = "communicator",
                                  .value = between_groups != 0 ? "an intercommunicator" : "MPI_COMM_NULL",
                                  .bound = "it must be an intracommunicator that includes this process",
                                  .remedy = "pass such a communicator, only on the processes that belong to it"});
    }
    return communicator;
}

template <std::size_t capacity>
void copy_text(std::string_view text, char (&buffer)[capacity]) {
    const std::size_t length = std::min(text.size(), capacity - 1);
    std::copy_n(text.begin(), length, buffer);
    buffer[length] = '\0';
}

}  // namespace

}  // namespace ranvier::comm::mpi

extern "C" __attribute__((visibility("default"))) int ranvier_mpi_open(const ranvier::comm::MpiOptions* options,
                                                                       void** communicator,
                                                                       ranvier::comm::MpiFailure* failure) {
    using namespace ranvier;
    try {
        comm::mpi::initialize();
        *communicator = comm::mpi::make_mpi_communicator(comm::mpi::find_communicator(options->fortran_communicator),
                                                         static_cast<std::size_t>(options->most_bytes_per_call))
                            .release();
        return 0;
    } catch (const Error& error) {
        comm::mpi::copy_text(error.fields().object, failure->object);
        comm::mpi::copy_text(error.fields().value, failure->value);
        comm::mpi::copy_text(error.fields().bound, failure->bound);
        comm::mpi::copy_text(error.fields().remedy, failure->remedy);
    } catch (const std::exception& error) {
        comm::mpi::copy_text("MPI", failure->object);
        comm::mpi::copy_text(error.what(), failure->bound);
    }
    return 1;
}
