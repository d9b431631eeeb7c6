#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ranvier::parallel {

/// Numbers of the processors that this process may run on, ascending.
std::vector<int> available_processors();

/// The part of them that one of several processes on the same host should use: that of Topology::shared_out().
/// @param place of this process among the `processes` of the host
/// @param shared whether all of them may use the same ones, which are then shared out in turn; else whoever started them
/// has bound each to some of its own
std::vector<int> own_processors(std::int32_t place, std::int32_t processes, bool shared);

/// Binds the calling thread to one processor. Returns whether the system agreed.
bool pin_to_processor(int processor);

}  // namespace ranvier::parallel
