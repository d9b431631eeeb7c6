#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ranvier/program/program.hpp"

namespace ranvier::program {

/// The results of a program in one lane: the oracle of all implementations, and suitable for a few lanes. Truths are
/// lanes of 64 bits (program/operations.hpp).
/// @param words of draw i: its random bits
/// @pre check() has passed the program, and there is an input for each
std::vector<double> evaluate(const Program& program, std::span<const double> inputs,
                             std::span<const std::uint64_t> words = {});

/// The same for a program without draws and loops whose constants and results of operations that are not exact are
/// rounded to single precision.
std::vector<double> evaluate_in_single(const Program& program, std::span<const double> inputs);

/// The result of an operation on numbers or truths, which must be neither a constant, a draw nor a loop.
double evaluate(Operation operation, std::span<const double> operands);

/// The values of one instruction, which must not be a draw.
std::vector<double> evaluate(const Instruction& instruction, std::span<const double> operands);

}  // namespace ranvier::program
