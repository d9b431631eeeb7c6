#pragma once

#include <cstddef>
#include <cstdint>

// Compiled for GPUs too (core/device/cuda), so it includes nothing else.
namespace ranvier::program {

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
    select,  ///< (truth, number, number): the first number if true, otherwise the second
    /// A uniform number in (0, 1), or a standard normal one. `number` is the index of the draw: the value is a function
    /// of the key of the population, the id of the neuron, the step and this index, wherever and however often it is
    /// used.
    uniform_draw,
    normal_draw,
    /// Operands: the first of `count` carried values each, then captured ones. The inputs of `body` are the carried
    /// values and the captured ones; its results are a truth, "continue", and the next carried values. The body is
    /// evaluated at most `number` times. A lane that continues takes the next values; a lane that does not is finished
    /// and keeps its values. Results: `count` values, those of each lane at the end, and a truth: whether the lane
    /// finished within these evaluations.
    loop,
};

inline constexpr std::size_t operation_count = static_cast<std::size_t>(Operation::loop) + 1;

/// Whether the result for single numbers in double precision, rounded to single precision, is that of the operation in single
/// precision: then it has enough digits to be rounded twice (S. A. Figueroa, 1995).
constexpr bool rounds_to_single(Operation operation) {
    return operation == Operation::add || operation == Operation::subtract || operation == Operation::multiply ||
           operation == Operation::divide || operation == Operation::square_root;
}

constexpr bool is_draw(Operation operation) {
    return operation == Operation::uniform_draw || operation == Operation::normal_draw;
}

}  // namespace ranvier::program
