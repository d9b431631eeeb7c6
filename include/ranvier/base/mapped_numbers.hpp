#pragma once

#include <cstdint>
#include <string>

#include "ranvier/base/shared_array.hpp"

namespace ranvier {

/// The numbers of a file, in the byte order of the machine and without anything else, mapped into memory: the system
/// reads pages when they are used, shares them among the processes of a node, and drops them when memory is short. The
/// file must keep its length until the numbers are released; it may be deleted.
/// @throws FileError when the file cannot be opened, or does not have `size` numbers
SharedArray map_array(const std::string& path, std::uint64_t size);
SharedIndices map_indices(const std::string& path, std::uint64_t size);

}  // namespace ranvier
