#pragma once

#include <span>
#include <vector>

namespace ranvier::parallel {

/// Numbers of the processors that this process may run on, ascending.
std::vector<int> available_processors();

/// Where the calling thread runs now; -1 if the system does not tell.
int current_processor();

/// Binds the calling thread to one processor. Returns whether the system agreed.
bool pin_to_processor(int processor);
/// Lets the calling thread run on any of these processors, at least one. Returns whether the system agreed.
bool pin_to_processors(std::span<const int> processors);

}  // namespace ranvier::parallel
