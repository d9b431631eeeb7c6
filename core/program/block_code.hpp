#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "ranvier/program/program.hpp"

/// Programs as executed by the interpreter: instructions over blocks of lanes, with values in a few registers.
namespace ranvier::program {

/// Representation of an input.
struct InputForm {
    enum class Kind : std::uint8_t {
        lanes,            ///< an array with one value for each lane
        uniform,          ///< one value for all lanes
        weights,          ///< see StepArguments::inputs
        refractory,       ///< see StepArguments::release
        last_refractory,  ///< the same
    };

    Kind kind = Kind::lanes;
    double value = 0.0;  ///< of a uniform one
};

/// Destination of a result.
struct OutputForm {
    enum class Kind : std::uint8_t {
        lanes,     ///< an array with one value for each lane; absent where all lanes have the same value
        in_place,  ///< replaces an input
        fires,     ///< see StepArguments::fires
        ended,     ///< see StepArguments::failures
    };

    std::uint32_t result = 0;
    Kind kind = Kind::lanes;
    std::uint32_t input = 0;
};

/// The operation of an instruction.
enum class Action : std::uint8_t {
    operate,               ///< out = operation(operands)
    copy,                  ///< out = operand
    take_weights,          ///< out = operand + 0.0; operand = -0.0
    take_refractory,       ///< out = whether a lane is refractory
    take_last_refractory,  ///< out = whether a lane is refractory for the last step
    take_valid,            ///< out = whether a lane is a neuron
    begin_loop,            ///< start of `loop`: resets its iterations
    /// out = out and operand; if that is false in all lanes, leaves `loop` and continues at `target`.
    check_loop,
    /// Counts an iteration of `loop`; continues at `target` after fewer than `most`, otherwise leaves the loop.
    next_iteration,
    report_fires,  ///< of the operand
    report_failures,
};

struct BlockInstruction {
    Action action = Action::operate;
    Operation operation = Operation::constant;
    std::uint8_t scalars = 0;  ///< bit k: operand k is a scalar, equal in all lanes
    std::uint32_t out = 0;     ///< a place
    std::uint32_t operands[3] = {};
    std::uint32_t loop = 0;
    std::uint32_t target = 0;
    std::uint32_t most = 0;
};

/// Places used by an outer loop, without scalars and values that each iteration recomputes.
struct LoopPlaces {
    std::vector<std::uint32_t> carried;  ///< changed by iterations; the first is the truth that a lane continues
    std::vector<std::uint32_t> read;     ///< only read
};

/// Numbering of places: external arrays first, then scalars, then registers.
struct BlockCode {
    AlignedVector<BlockInstruction> instructions;
    std::size_t inputs = 0;  ///< number of input places, which come first
    std::size_t draws = 0;  ///< places after the inputs, by index of the draw
    std::size_t outputs = 0;  ///< places after the draws
    AlignedVector<double> scalars;
    std::size_t registers = 0;
    std::vector<LoopPlaces> loops;  ///< empty for nested loops
    /// For each output that is the same in all lanes: its value.
    std::vector<std::optional<double>> uniform;

    std::size_t first_scalar() const { return inputs + draws + outputs; }
    std::size_t first_register() const { return first_scalar() + scalars.size(); }
    std::size_t places() const { return first_register() + registers; }
    /// A copy in another memory resource, without spare capacity.
    BlockCode in(std::pmr::memory_resource* memory) const {
        return {.instructions = {instructions, memory},
                .inputs = inputs,
                .draws = draws,
                .outputs = outputs,
                .scalars = {scalars, memory},
                .registers = registers,
                .loops = loops,
                .uniform = uniform};
    }
};

/// Values that depend on uniform inputs only are computed here, once for all lanes; values that no output needs are
/// omitted.
/// @pre check() has passed the program; there is a form for each input
BlockCode lower(const Program& program, std::span<const InputForm> inputs, std::span<const OutputForm> outputs);

}  // namespace ranvier::program
