#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "connect/tables/table_builder.hpp"
#include "device/backend/device_bytes.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/simulation.hpp"

namespace ranvier::engine {

struct MemoryEstimate {
    std::vector<MemoryItem> items;  ///< once built, by the names of Simulation::memory()
    std::uint64_t final_bytes = 0;
    std::uint64_t peak_bytes = 0;  ///< while being built
    std::uint64_t held_bytes = 0;  ///< of these, taken already: by what the user gave as arrays
    std::optional<device::DeviceBytes> device;  ///< what is on a device, if there is one
};

/// What one process of a run will take by its account, without building it: expectations over the random numbers.
/// Groups of neurons and exchange methods are made as small samples and asked, so that the account need not be written twice.
MemoryEstimate estimate_memory(const network::LoweredNetwork& network, const connect::ProcessLayout& layout,
                               const connect::BuildOptions& build, const SimulationOptions& options,
                               std::uint32_t window, const Activity& activity);

/// A number of bytes, and the same in the unit in which it is easiest to read.
std::string bytes_as_text(std::uint64_t bytes);

/// The names of memory of a device in Simulation::device_memory().
std::vector<MemoryItem> items_of(const device::DeviceBytes& bytes);

/// @param processes that share the memory of this machine
/// @throws InsufficientMemoryError when the estimate exceeds the limit (0: this process's share of what is available)
void check_memory(const MemoryEstimate& estimate, std::uint64_t limit, std::int32_t processes);

/// Before so much is allocated at once by each of the processes of this machine.
/// @throws InsufficientMemoryError when it is more than this process's share of what is available
void check_room(const std::string& object, std::uint64_t bytes, std::int32_t processes, const std::string& remedy);

}  // namespace ranvier::engine
