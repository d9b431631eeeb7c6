#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/program/operation.hpp"

/// Programs in single-assignment form over independent lanes: the compiled form of a user's equations. A lane is a
/// neuron, and all arithmetic is in double precision.
///
/// The values of a program are numbered: first its inputs, then the results of its instructions, in order. Each
/// instruction has one result, except a loop. Elementary functions are those of program/operations.hpp. Operations are
/// neither fused nor reordered, so that every implementation (evaluate(), the interpreter over blocks, compiled code)
/// gives the same bits.
namespace ranvier::program {

enum class Type : std::uint8_t { number, truth };

struct Program;

struct Instruction {
    Operation operation = Operation::constant;
    std::vector<std::uint32_t> operands = {};
    double number = 0.0;
    std::shared_ptr<const Program> body = nullptr;
    std::uint32_t count = 0;
};

struct Program {
    std::vector<Type> inputs;
    std::vector<Instruction> instructions;
    std::vector<std::uint32_t> results;
};

/// Limits on the time and memory of a program.
inline constexpr std::size_t most_instructions = 100'000;  ///< including those of loops
inline constexpr std::size_t most_inputs = 10'000;
inline constexpr std::size_t deepest_loop = 4;
inline constexpr double most_iterations = 1'000'000;
inline constexpr double most_draws = 256;  ///< upper limit (exclusive) of the indices of draws

/// The name used in Python.
std::string_view to_string(Operation operation);
std::string_view to_string(Type type);
/// @throws UnknownNameError
Operation parse_operation(std::string_view name);
/// "number" or "truth". @throws UnknownNameError
Type parse_type(std::string_view name);

/// For an operation other than a loop: the types of its operands and of its result.
struct Signature {
    std::span<const Type> operands;
    Type result;
};
Signature signature(Operation operation);

/// Number of results of an instruction.
std::size_t value_count(const Instruction& instruction);
/// Number of values of a program, excluding those within its loops.
std::size_t value_count(const Program& program);

/// Checks a program, and returns the types of its values.
/// @param name of the program, for errors
/// @param may_draw whether draws are allowed
/// @throws ValueOutOfBoundsError, ShapeError
std::vector<Type> check(const Program& program, std::string_view name, bool may_draw);

/// The types of the results of a program that has been checked.
std::vector<Type> result_types(const Program& program);

/// The indices of all draws of a program, ascending.
std::vector<std::uint32_t> draws_of(const Program& program);

/// The inputs on which each result of a program may depend.
std::vector<std::vector<bool>> dependencies(const Program& program);

}  // namespace ranvier::program
