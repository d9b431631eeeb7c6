#pragma once

#include <vector>

namespace ranvier::parallel {

/// Numbers of the processors that this process may run on, ascending.
std::vector<int> available_processors();

/// Binds the calling thread to one processor. Returns whether the system agreed.
bool pin_to_processor(int processor);

}  // namespace ranvier::parallel
