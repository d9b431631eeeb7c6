#pragma once

#include <bit>
#include <cstdint>

#include "ranvier/base/instruction_set.hpp"

// Compiled for GPUs too (core/device/cuda), so it includes nothing else.
namespace ranvier {

/// A uniform number in the open interval (0, 1) from 64 random bits, never 0 and never 1.
RANVIER_ALWAYS_INLINE double to_open_unit(std::uint64_t word) {
    // The upper 52 bits become the mantissa of a number in [1, 2): exact, and vectorisable on every instruction set.
    return (std::bit_cast<double>(0x3FF0000000000000 | (word >> 12)) - 1.0) + 0x1p-53;
}

}  // namespace ranvier
