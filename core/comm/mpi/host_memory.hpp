#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm::mpi {

/// Memory that the processes of a host share: an unnamed file, which is removed however the processes end, and which
/// does not count towards the size of /dev/shm. Zero at first.
class HostMemory final : public SharedMemory {
   public:
    /// The location of the memory, for the other processes.
    struct Address {
        std::int64_t process = 0;  ///< 0: no memory
        std::int64_t file = -1;
        std::uint64_t secret = 0;  ///< also stored in the memory
    };

    HostMemory() = default;
    ~HostMemory() override;
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    /// Allocates the memory; called by one of the processes. Returns process 0 if the system has none.
    Address make(std::size_t bytes);
    /// Maps the memory; called by each other process before the first one calls close(). Returns whether it was found.
    bool join(const Address& address, std::size_t bytes);
    /// Called by the process that has allocated the memory, when all have joined.
    void close();

    /// Aligned to pages.
    std::span<std::byte> bytes() override { return {begin_, size_}; }

   private:
    bool map(int file, std::size_t bytes);

    std::byte* begin_ = nullptr;
    std::size_t size_ = 0;
    int file_ = -1;  ///< the memory of the process that allocated it, until close()
};

}  // namespace ranvier::comm::mpi
