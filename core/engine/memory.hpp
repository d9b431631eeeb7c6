#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "connect/layout.hpp"
#include "connect/table_builder.hpp"
#include "engine/lowering.hpp"
#include "engine/simulation.hpp"

namespace ranvier::engine {

struct MemoryEstimate {
    std::vector<MemoryItem> items;  ///< once built
    std::uint64_t final_bytes = 0;
    std::uint64_t peak_bytes = 0;  ///< while being built
};

MemoryEstimate estimate_memory(const LoweredNetwork& network, const connect::ProcessLayout& layout,
                               const connect::BuildOptions& build, std::uint32_t window);

/// @param processes that share the memory of this machine
/// @throws InsufficientMemoryError when the estimate exceeds the limit (0: this process's share of what is available)
void check_memory(const MemoryEstimate& estimate, std::uint64_t limit, std::int32_t processes);

}  // namespace ranvier::engine
