#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/kernel/machine.hpp"

/// What is chosen for a device otherwise, to compare it. No choice changes a bit of the results.
namespace ranvier::device {

struct Tuning {
    std::optional<u32> threads = {};         ///< of a block
    std::optional<u32> shared_bytes = {};    ///< most of a block: sums of inputs that do not fit are in the ring
    std::optional<bool> has_registers = {};  ///< threads keep the state of their neurons, if it is possible
    std::optional<bool> may_split = {};  ///< synapses with a delay of one step are added first, if it is possible
    /// A file for the clock cycles of the parts of steps (of the emulator: how often they ran), which kernels count then.
    std::string clocks = {};
};

/// @param text such as "threads=512,split=0,clocks=FILE"; empty: nothing is chosen
/// @throws UnknownNameError, ValueOutOfBoundsError
Tuning read_tuning(std::string_view text);

/// Writes the clocks of runs as JSON: of each part, the mean and the greatest of all blocks.
/// @param clocks [block][part]
/// @param steps that were done
/// @throws StateError if the file cannot be written
void write_clocks(const std::string& path, std::span<const u64> clocks, i64 steps);

}  // namespace ranvier::device
