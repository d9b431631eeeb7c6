#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace ranvier::parallel {

/// Processors' worth of time that the cgroups of this process grant it, rounded up and at least 1; none if they set no
/// bound. This is how containers are given so many processors without being bound to any.
///
/// Read from cpu.max (cgroup v2) and cpu.cfs_quota_us (v1) of the process's own group and all above it; the tightest
/// counts. What cannot be read sets no bound.
/// @param root where the file system begins, as seen by this function
std::optional<std::uint32_t> processor_quota(const std::filesystem::path& root = "/");

/// Threads that a process starts when nobody says how many: one for each processor that it may use, but no more than the
/// quota pays for, of which each process of the host takes an equal part. At least 1.
/// @param processes that share the quota
std::uint32_t default_threads(std::size_t processors, std::optional<std::uint32_t> quota, std::int32_t processes = 1);

}  // namespace ranvier::parallel
