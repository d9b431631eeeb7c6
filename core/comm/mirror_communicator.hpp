#pragma once

#include <cstdint>
#include <memory>

#include "ranvier/comm/communicator.hpp"

namespace ranvier::comm {

/// One process that acts as rank 0 of many, for dry runs, under the assumption that all others do the same. Data sent
/// to a process also arrive from there, and every process contributes the same data to collectives. So buffers, tables
/// and spikes have the sizes and numbers of a real run, without communication.
///
/// Suitable for programs whose processes perform the same operations on different numbers, with addresses that have the
/// same meaning on every process.
/// @throws ValueOutOfBoundsError for a size below 1
std::shared_ptr<Communicator> make_mirror_communicator(std::int32_t size);

}  // namespace ranvier::comm
