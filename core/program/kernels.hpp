#pragma once

#include <cstddef>
#include <cstdint>

#include "program/block_code.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::program {

/// Kernels go through so many lanes at a time: vectors of any width, one after another without a rest.
inline constexpr std::size_t lanes_of_kernel = 16;

/// What the instructions of one call see.
struct Frame {
    double* const* places;  ///< where each of them begins
    std::size_t lanes;      ///< a multiple of lanes_of_kernel
    std::size_t valid;      ///< lanes that are neurons
    const std::int32_t* release;
    std::int64_t clock;
};

/// Carries out an instruction in all lanes. Of check_loop and of reports it returns 0 if the truth holds in no lane.
using Kernel = std::uint64_t (*)(const Frame* frame, const BlockInstruction* instruction);

/// Null for an action that calculates nothing.
Kernel find_kernel(InstructionSet set, const BlockInstruction& instruction);

}  // namespace ranvier::program
