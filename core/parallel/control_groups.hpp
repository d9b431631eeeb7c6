#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace ranvier::parallel {

/// The folders of the control groups that bound this process: its own and all above it that can be seen, of the second
/// version, and of the first one where it has the controller. They need not exist.
/// @param controller as the first version calls it: "cpu", "memory"
/// @param root where the file system begins, as seen by this function
std::vector<std::filesystem::path> control_groups(std::string_view controller, const std::filesystem::path& root = "/");

}  // namespace ranvier::parallel
