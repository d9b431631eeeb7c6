#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace ranvier::parallel {

/// The folders of the control groups that limit this process: its group and all visible ones above it, of cgroup v2,
/// and of v1 where that has the controller. They need not exist.
/// @param controller name in cgroup v1: "cpu", "memory"
/// @param root root of the file system for this function
std::vector<std::filesystem::path> control_groups(std::string_view controller, const std::filesystem::path& root = "/");

}  // namespace ranvier::parallel
