#include "comm/mpi/handles.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string_view>
#include <thread>

#include "ranvier/base/errors.hpp"

namespace ranvier::comm::mpi {

bool mpi_is_running() {
    int initialized = 0;
    int finalized = 0;
    return MPI_Initialized(&initialized) == MPI_SUCCESS && initialized != 0 &&
           MPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0;
}

std::string mpi_library_name() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> buffer{};
    int length = 0;
    if (MPI_Get_library_version(buffer.data(), &length) != MPI_SUCCESS) return "MPI";
    // "Open MPI v5.0.11, package: ..." and "MPICH Version:      5.0.2\nMPICH Release date: ...".
    const std::string_view text(buffer.data(), static_cast<std::size_t>(length));
    constexpr std::string_view open_mpi = "Open MPI v";
    constexpr std::string_view mpich = "MPICH Version:";
    if (text.starts_with(open_mpi)) {
        return "Open MPI " + std::string(text.substr(open_mpi.size(), text.find(',') - open_mpi.size()));
    }
    std::string_view line = text.substr(0, text.find('\n'));
    if (!line.starts_with(mpich)) return std::string(line);
    line.remove_prefix(std::min(line.find_first_not_of(" \t", mpich.size()), line.size()));
    return "MPICH " + std::string(line);
}

void check_mpi(int code, const char* call, const char* remedy) {
    if (code == MPI_SUCCESS) return;
    std::string text = "error " + std::to_string(code);
    if (mpi_is_running()) {
        std::array<char, MPI_MAX_ERROR_STRING> buffer{};
        int length = 0;
        if (MPI_Error_string(code, buffer.data(), &length) == MPI_SUCCESS) {
            text.assign(buffer.data(), static_cast<std::size_t>(length));
        }
    }
    throw CommunicationError({.object = std::string(call) + " of " + mpi_library_name(),
                              .value = {},
                              .bound = "it failed with '" + text + "'",
                              .remedy = remedy});
}

void abort_run(int status) {
    if (!mpi_is_running()) return;
    std::fflush(nullptr);
    // mpiexec forwards the output of processes, but stops as soon as MPI_Abort reaches it: the message with the reason
    // must arrive first.
    constexpr std::chrono::milliseconds for_the_reason{500};
    std::this_thread::sleep_for(for_the_reason);
    // Not only the processes of one communicator: the others would wait for them.
    MPI_Abort(MPI_COMM_WORLD, status);
}

CommunicatorHandle::CommunicatorHandle(MPI_Comm communicator) : communicator_(communicator) {
    if (communicator_ != MPI_COMM_NULL) {
        check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    }
}

CommunicatorHandle::~CommunicatorHandle() {
    // Collective by the standard, but local in both families: processes may call it at any time.
    if (communicator_ != MPI_COMM_NULL && mpi_is_running()) MPI_Comm_free(&communicator_);
}

CommunicatorHandle CommunicatorHandle::duplicate(MPI_Comm original) {
    MPI_Comm copy = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(original, &copy), "MPI_Comm_dup");
    return CommunicatorHandle(copy);
}

CommunicatorHandle CommunicatorHandle::of_host(MPI_Comm original) {
    MPI_Comm host = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(original, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
    return CommunicatorHandle(host);
}

CommunicatorHandle CommunicatorHandle::split(MPI_Comm original, int color) {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(original, color, 0, &part), "MPI_Comm_split");
    return CommunicatorHandle(part);
}

GroupHandle::GroupHandle(MPI_Comm communicator, int rank) {
    MPI_Group all = MPI_GROUP_NULL;
    check_mpi(MPI_Comm_group(communicator, &all), "MPI_Comm_group");
    const int code = MPI_Group_incl(all, 1, &rank, &group_);
    MPI_Group_free(&all);
    check_mpi(code, "MPI_Group_incl");
}

GroupHandle::~GroupHandle() {
    if (group_ != MPI_GROUP_NULL && mpi_is_running()) MPI_Group_free(&group_);
}

WindowHandle::WindowHandle(std::size_t bytes, MPI_Comm communicator, Access access) : access_(access) {
    // Whole cache lines: MPICH 4.0 misplaces data in shared memory behind a window of another length.
    constexpr std::size_t line = 64;
    const auto whole_lines = static_cast<MPI_Aint>((bytes + line - 1) / line * line);
    check_mpi(MPI_Win_allocate(whole_lines, 1, MPI_INFO_NULL, communicator, static_cast<void*>(&memory_), &window_),
              "MPI_Win_allocate", another_exchange);
    check_mpi(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    if (access_ == Access::any_time) {
        check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all", another_exchange);
    }
}

WindowHandle::~WindowHandle() {
    // During stack unwinding the others are not here and may still write: the memory is leaked.
    if (window_ == MPI_WIN_NULL || std::uncaught_exceptions() > 0 || !mpi_is_running()) return;
    if (access_ == Access::any_time) MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
}

}  // namespace ranvier::comm::mpi
