#pragma once

#include <array>
#include <string_view>

#include "device/kernel/machine.hpp"

namespace ranvier::device {

/// Bytes of memory of a device, by purpose.
struct DeviceBytes {
    u64 synapses = 0;  ///< and their rows
    u64 rings = 0;     ///< of sums of weights
    u64 state = 0;     ///< of neurons, with their parameters and stimuli
    u64 spikes = 0;    ///< records, and lists of what was emitted
    u64 kernels = 0;   ///< code, and the stacks of threads

    u64 sum() const { return synapses + rings + state + spikes + kernels; }
    std::array<u64, 5> values() const { return {synapses, rings, state, spikes, kernels}; }
};
inline constexpr std::array<std::string_view, 5> device_byte_names{"synapses", "rings", "state", "spikes", "kernels"};

}  // namespace ranvier::device
