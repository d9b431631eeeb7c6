#pragma once

#include <span>
#include <vector>

namespace ranvier::parallel {

/// Numbers of the processors on which this process may run, ascending.
std::vector<int> available_processors();

/// The current processor of the calling thread; -1 if the system does not report it.
int current_processor();

/// Binds the calling thread to one processor. Returns whether the system accepted that.
bool pin_to_processor(int processor);
/// Lets the calling thread run on any of these processors, at least one. Returns whether the system accepted that.
bool pin_to_processors(std::span<const int> processors);

}  // namespace ranvier::parallel
