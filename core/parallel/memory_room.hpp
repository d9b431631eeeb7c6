#pragma once

#include <cstdint>
#include <filesystem>

namespace ranvier::parallel {

/// Bytes that a process may still take before the system refuses them or ends it. The greatest number where there is no
/// limit.
struct MemoryRoom {
    /// Of the machine and of the control groups of the process: others take from it too.
    std::uint64_t shared = UINT64_MAX;
    /// Of the process alone: its limits of address space and data (`ulimit -v`, `ulimit -d`).
    std::uint64_t own = UINT64_MAX;

    /// What one process may take if so many processes of the host need the same.
    std::uint64_t of_one(std::int32_t processes) const;
};

/// Reads it: MemAvailable of /proc/meminfo; memory.max, memory.high, memory.current and memory.stat (cgroup v2) or
/// their counterparts of v1 of the process's own group and of all above it, of which the tightest counts; the limits of
/// the process and what it has mapped. Pages of files in a group's cache do not count, since the system drops them.
/// What cannot be read sets no bound.
/// @param root where the file system begins, as seen by this function
MemoryRoom memory_room(const std::filesystem::path& root = "/");

}  // namespace ranvier::parallel
