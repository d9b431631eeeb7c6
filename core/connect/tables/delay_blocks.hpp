#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// A partition of the delays of a table into blocks of consecutive delays. Target and delay are stored together as a
/// *cell*, (delay within the block) * inputs + input, and the type of the targets must be able to hold it.
struct DelayBlocks {
    DelaySteps length = 1;  ///< delays of a block
    std::uint32_t count = 1;  ///< of blocks

    friend bool operator==(const DelayBlocks&, const DelayBlocks&) = default;
};

/// As few blocks as possible.
///
/// @param inputs of the shard at the receptor; a target must be able to hold each of them
/// @param greatest_target that can be stored
constexpr DelayBlocks divide_delays(DelaySteps delays, std::uint32_t inputs, std::uint32_t greatest_target) {
    const std::uint64_t fit = (std::uint64_t{greatest_target} + 1) / std::max(inputs, 1U);
    const auto length = static_cast<DelaySteps>(std::clamp<std::uint64_t>(fit, 1, delays));
    return {.length = length, .count = (delays + length - 1) / length};
}

template <class Target>
constexpr DelayBlocks divide_delays(DelaySteps delays, std::uint32_t inputs) {
    return divide_delays(delays, inputs, std::numeric_limits<Target>::max());
}

/// Shorter blocks, to be added by different threads (DividedDelivery): eight, or fewer if rows are short, since a shorter
/// block costs more for its mispredicted branch than for its synapses.
///
/// @param mean_row mean number of synapses of a row that has any
constexpr DelayBlocks divide_further(DelayBlocks blocks, DelaySteps delays, std::uint64_t mean_row) {
    constexpr std::uint64_t least_synapses = 24;
    const auto parts = static_cast<DelaySteps>(std::clamp<std::uint64_t>(mean_row / least_synapses, 1, 8));
    const DelaySteps length = std::min(blocks.length, (delays + parts - 1) / parts);
    return {.length = length, .count = (delays + length - 1) / length};
}

}  // namespace ranvier::connect
