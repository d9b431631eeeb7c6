#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace ranvier::parallel {

/// Processor quota of this process's cgroups, in processors, rounded up and at least 1; nothing without a limit.
/// Containers restrict the number of processors this way, without binding.
///
/// Read from cpu.max (cgroup v2) and cpu.cfs_quota_us (v1) of the process's group and all above it; the smallest
/// counts. Unreadable values set no limit.
/// @param root root of the file system for this function
std::optional<std::uint32_t> processor_quota(const std::filesystem::path& root = "/");

/// Default number of threads of a process: one for each processor that it may use, limited by its equal part of the
/// quota. At least 1.
/// @param processes number of processes that share the quota
std::uint32_t default_threads(std::size_t processors, std::optional<std::uint32_t> quota, std::int32_t processes = 1);

}  // namespace ranvier::parallel
