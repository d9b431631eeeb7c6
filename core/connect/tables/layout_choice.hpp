#pragma once

#include <algorithm>
#include <cstdint>

#include "connect/tables/delay_blocks.hpp"
#include "ranvier/connect/tables/table_choices.hpp"

namespace ranvier::connect {

/// The size of a table, by which its layout is chosen.
struct TableSize {
    std::uint64_t synapses = 0;
    std::uint64_t rows = 0;
    DelaySteps delays = 1;  ///< from the shortest to the longest
    DelaySteps longest_delay = 1;
    std::uint32_t inputs = 0;
    DelayBlocks blocks;
};

/// The layout that delivers spikes fastest.
///
/// A run costs a look-up and a mispredicted branch even if it is empty, so that runs must be long. With blocks or a
/// ring, whole rows are added at once, to inputs of as many steps as the longest delay: their memory must not exceed
/// that of the synapses. The runs of microcircuits with 4, 8 and 16 shards have 18, 9 and 4 synapses; one synapse takes
/// 2.6, 3.0 and 4.4 ns with runs, 3.4, 2.9 and 2.8 ns with blocks. If the inputs of all steps fit the cache, blocks take
/// 1.8 ns, and runs 2.3 ns with 11 synapses and 1.8 ns with 18 (measured on a Xeon with 2 MB of second-level cache).
inline TableLayout choose_layout(const TableSize& size) {
    constexpr std::uint64_t small = std::uint64_t{64} << 20;
    /// Smaller than the second-level cache of any core for which it matters: synapses and neurons need the rest.
    constexpr std::uint64_t cache = std::uint64_t{1} << 20;
    constexpr std::uint64_t least_synapses = 4;  // of a run or a block
    const auto have = [&](std::uint64_t parts, std::uint64_t synapses_each) {
        return size.synapses >= synapses_each * size.rows * parts;
    };
    const std::uint64_t ring_bytes = std::uint64_t{size.longest_delay} * size.inputs * sizeof(double);
    if (2 * ring_bytes > std::max(small, size.synapses * 8)) return TableLayout::runs;
    if (size.blocks.length > 1) {
        if (have(size.delays, ring_bytes <= cache ? 16 : 8)) return TableLayout::runs;
        if (size.blocks.count == 1 || have(size.blocks.count, least_synapses)) return TableLayout::blocks;
    }
    return have(size.delays, least_synapses) ? TableLayout::runs : TableLayout::ring;
}

}  // namespace ranvier::connect
