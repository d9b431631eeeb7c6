#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "connect/tables/table_estimate.hpp"
#include "device/backend/device_bytes.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/options.hpp"

namespace ranvier::engine {

/// Blocks of threads of an H100 or H200: one for each multiprocessor. Predictions assume them, unless `shards` is given.
inline constexpr std::uint32_t blocks_of_gpu = 132;

/// What a process will take on its device, without building anything: expectations over the random numbers. The layout has
/// a shard for each block. Not included: what the host calculates in advance for stimuli, and spikes of other processes.
/// @param tables of all projections
/// @param draws whether the device draws rows, so that only bounds of delays are known
device::DeviceBytes estimate_device_memory(const network::LoweredNetwork& network, const connect::ProcessLayout& layout,
                                           const connect::TableEstimate& tables, const SimulationOptions& options,
                                           bool draws);

/// @param name of the device @param room free bytes; none: memory of the host
/// @throws InsufficientMemoryError that says what would fit
void check_device_memory(const device::DeviceBytes& needed, const std::string& name, std::optional<std::uint64_t> room,
                         std::int32_t ranks);

}  // namespace ranvier::engine
