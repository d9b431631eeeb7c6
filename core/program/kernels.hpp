#pragma once

#include <cstddef>
#include <cstdint>

#include "program/block_code.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::program {

/// Kernels process this many lanes at a time: vectors of any width, without a remainder.
inline constexpr std::size_t lanes_of_kernel = 16;

/// The arguments shared by the instructions of a call.
struct Frame {
    double* const* places;  ///< start of each place
    std::size_t lanes;      ///< a multiple of lanes_of_kernel
    std::size_t valid;      ///< lanes that are neurons
    const std::int32_t* release;
    std::int64_t clock;
};

/// Executes an instruction in all lanes. For check_loop and reports it returns 0 if the truth holds in no lane.
using Kernel = std::uint64_t (*)(const Frame* frame, const BlockInstruction* instruction);

/// Null for an action without computation.
Kernel find_kernel(InstructionSet set, const BlockInstruction& instruction);

}  // namespace ranvier::program
