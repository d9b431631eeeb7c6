#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Programs in single-assignment form over lanes that do not know each other: what the equations of a user become. A lane is
/// a neuron, and all arithmetic is in double precision.
///
/// The values of a program have numbers: first its inputs, then what its instructions make, in their order. Each instruction
/// makes one value, except a loop. Elementary functions are those of program/operations.hpp. No operation is fused with
/// another one and none changes its place, so that whatever carries out a program (evaluate(), the interpreter over blocks,
/// code that was compiled for it) gives the same bits.
namespace ranvier::program {

enum class Type : std::uint8_t { number, truth };

enum class Operation : std::uint8_t {
    constant,  ///< `number`
    add,
    subtract,
    multiply,
    divide,
    negate,
    absolute,
    square_root,
    minimum,  ///< a < b ? a : b
    maximum,  ///< a > b ? a : b
    floor,
    exp,
    expm1,
    expm1_over,  ///< (e^x - 1) / x, and 1 at x = 0
    over_expm1,  ///< the inverse of expm1_over
    log,
    log1p,
    pow,
    sine_of_cycles,  ///< sin(2 pi x)
    less,
    less_equal,
    equal,
    both,
    either,
    negation,  ///< "not"
    select,    ///< (truth, number, number): the first number where it is true, else the second
    /// A number in (0, 1), or one of the standard normal distribution. `number` is the index of the draw: it is a function of
    /// the key of the population, the id of the neuron, the step and this index, wherever and how often it is asked for.
    uniform_draw,
    normal_draw,
    /// Operands: the first of `count` carried values each, then captured ones. The inputs of `body` are the carried values and
    /// the captured ones; its results are a truth, "goes on", and the next carried values. The body is evaluated at most
    /// `number` times. Where it says that a lane goes on, the lane takes the next values; where it does not, the lane is done
    /// and keeps those that it had, whatever follows. Makes `count` values, those that each lane has at the end, and a truth:
    /// whether one of those evaluations has ended the lane.
    loop,
};

inline constexpr std::size_t operation_count = static_cast<std::size_t>(Operation::loop) + 1;

constexpr bool is_draw(Operation operation) {
    return operation == Operation::uniform_draw || operation == Operation::normal_draw;
}

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

/// What keeps a program from taking for ever, or all memory.
inline constexpr std::size_t most_instructions = 100'000;  ///< those of loops included
inline constexpr std::size_t most_inputs = 10'000;
inline constexpr std::size_t deepest_loop = 4;
inline constexpr double most_iterations = 1'000'000;
inline constexpr double most_draws = 256;  ///< indices of draws are smaller

/// As Python names it.
std::string_view to_string(Operation operation);
std::string_view to_string(Type type);
/// @throws UnknownNameError
Operation parse_operation(std::string_view name);
/// "number" or "truth". @throws UnknownNameError
Type parse_type(std::string_view name);

/// Of an operation that is no loop: the types of its operands and of the value that it makes.
struct Signature {
    std::span<const Type> operands;
    Type result;
};
Signature signature(Operation operation);

/// How many values an instruction makes.
std::size_t value_count(const Instruction& instruction);
/// How many values a program has, those of loops in it not included.
std::size_t value_count(const Program& program);

/// Checks a program that somebody made, and returns the types of its values.
/// @param name of the program, for errors
/// @param may_draw whether there may be draws
/// @throws ValueOutOfBoundsError, ShapeError
std::vector<Type> check(const Program& program, std::string_view name, bool may_draw);

/// The types of the results of a program that has been checked.
std::vector<Type> result_types(const Program& program);

/// The indices of all draws of a program, ascending.
std::vector<std::uint32_t> draws_of(const Program& program);

/// Which inputs of a program each of its results may depend on.
std::vector<std::vector<bool>> dependencies(const Program& program);

}  // namespace ranvier::program
