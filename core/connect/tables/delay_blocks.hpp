#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// A partition of the delays of a table into blocks of consecutive delays, each as long as the type of the targets allows:
/// target and delay are stored together as a *cell*, (delay within the block) * inputs + input.
struct DelayBlocks {
    DelaySteps length = 1;  ///< delays of a block
    std::uint32_t count = 1;  ///< of blocks

    friend bool operator==(const DelayBlocks&, const DelayBlocks&) = default;
};

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

}  // namespace ranvier::connect
