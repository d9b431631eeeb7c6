#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

/// RAII wrappers of MPI objects. None calls MPI after MPI_Finalize, which has freed them.
namespace ranvier::comm::mpi {

/// Whether MPI may be called.
bool mpi_is_running();

/// "Open MPI 5.0.11", "MPICH 5.0.2".
std::string mpi_library_name();

/// @throws CommunicationError with MPI's text unless `code` is MPI_SUCCESS
/// @param call the MPI function that returned it
void check_mpi(int code, const char* call, const char* remedy = "see what the other processes and mpiexec report");

/// The remedy where a library lacks what a method of exchange needs.
inline constexpr const char* another_exchange =
    "choose a method of exchange that does not write to remote memory, such as exchange=allgather";

/// Ends all processes of the run. Returns only if MPI is not running.
void abort_run(int status);

/// A communicator that returns errors as codes.
class CommunicatorHandle {
   public:
    CommunicatorHandle() = default;
    /// Takes ownership. @note Collective, as all calls that create communicators.
    explicit CommunicatorHandle(MPI_Comm communicator);
    CommunicatorHandle(CommunicatorHandle&& other) noexcept
        : communicator_(std::exchange(other.communicator_, MPI_COMM_NULL)) {}
    CommunicatorHandle& operator=(CommunicatorHandle&& other) noexcept {
        std::swap(communicator_, other.communicator_);
        return *this;
    }
    ~CommunicatorHandle();

    /// A communicator of the same processes, isolated from the messages of the original. @note Collective.
    static CommunicatorHandle duplicate(MPI_Comm original);
    /// The processes that share memory with this one. @note Collective.
    static CommunicatorHandle of_host(MPI_Comm original);
    /// The processes with the same color, in the order of the original; none for MPI_UNDEFINED. @note Collective.
    static CommunicatorHandle split(MPI_Comm original, int color);

    MPI_Comm get() const { return communicator_; }

   private:
    MPI_Comm communicator_ = MPI_COMM_NULL;
};

/// Some processes of a communicator.
class GroupHandle {
   public:
    GroupHandle(MPI_Comm communicator, int rank);
    GroupHandle(GroupHandle&& other) noexcept : group_(std::exchange(other.group_, MPI_GROUP_NULL)) {}
    GroupHandle& operator=(GroupHandle&& other) = delete;
    ~GroupHandle();

    MPI_Group get() const { return group_; }

   private:
    MPI_Group group_ = MPI_GROUP_NULL;
};

/// Memory to which others write.
class WindowHandle {
   public:
    /// How it may be accessed: at any time, in an access epoch of the same lifetime, or in epochs that others start.
    enum class Access : std::uint8_t { any_time, in_epochs };

    /// @note Collective, and so is destroying it.
    WindowHandle(std::size_t bytes, MPI_Comm communicator, Access access);
    WindowHandle(const WindowHandle&) = delete;
    WindowHandle& operator=(const WindowHandle&) = delete;
    ~WindowHandle();

    MPI_Win get() const { return window_; }
    void* memory() const { return memory_; }

   private:
    Access access_;
    MPI_Win window_ = MPI_WIN_NULL;
    void* memory_ = nullptr;
};

}  // namespace ranvier::comm::mpi
