#pragma once

#include <cstdint>
#include <memory>

#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm {

/// One process that plays rank 0 of many, for dry runs: all others are taken to do the same. What it sends to a process
/// also arrives from there, and what it tells all is also what each of them tells. So buffers, tables and spikes have
/// the sizes and numbers of a real run, and nothing travels.
///
/// It makes sense for programs whose processes do the same with different numbers, and which name what they have by places
/// that mean the same everywhere.
/// @throws ValueOutOfBoundsError for a size below 1
std::shared_ptr<Communicator> make_mirror_communicator(std::int32_t size);

}  // namespace ranvier::comm
