#pragma once

#include <cstdint>
#include <filesystem>

namespace ranvier::parallel {

/// Bytes that a process may still allocate before the system refuses them or kills it. The greatest number if there is
/// no limit.
struct MemoryRoom {
    /// Of the machine and of the control groups of the process, shared with other processes.
    std::uint64_t shared = UINT64_MAX;
    /// Of the process alone: its limits of address space and data (`ulimit -v`, `ulimit -d`).
    std::uint64_t process = UINT64_MAX;

    /// Bytes for one process if this many processes of the host need the same.
    std::uint64_t of_one(std::int32_t processes) const;
};

/// Reads MemAvailable of /proc/meminfo; memory.max, memory.high, memory.current and memory.stat (cgroup v2) or their
/// counterparts of v1, of the process's group and of all above it (the smallest counts); and the limits of the process
/// and its mapped memory. Pages of files in a group's cache do not count, since the system drops them. Unreadable
/// values set no limit.
/// @param root root of the file system for this function
MemoryRoom memory_room(const std::filesystem::path& root = "/");

}  // namespace ranvier::parallel
