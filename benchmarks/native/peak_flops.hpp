#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ranvier::benchmarks {

/// Result of measure_peak().
struct PeakFlops {
    double per_second = 0.0;           ///< floating-point operations of all threads together
    std::string_view instruction_set;  ///< of the instructions that were used
    std::uint32_t per_instruction = 0;  ///< operations of one of these
};

/// The peak of double-precision operations: a thread on each of these processors does independent fused multiply-adds,
/// each of which counts as two operations for each number of its vector, with the widest vectors of the processor.
/// Instruction sets without a fused one multiply and add.
/// @throws ShapeError for no processors
/// @throws ValueOutOfBoundsError unless 0 < seconds <= 60
PeakFlops measure_peak(std::span<const int> processors, double seconds);

}  // namespace ranvier::benchmarks
