#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "ranvier/program/program.hpp"

/// Programs as the interpreter carries them out: instructions over blocks of lanes, whose values lie in a few registers.
namespace ranvier::program {

/// What an input is.
struct InputForm {
    enum class Kind : std::uint8_t {
        lanes,       ///< an array with one value for each lane
        uniform,     ///< one value for all of them
        weights,     ///< see StepArguments::inputs
        refractory,  ///< see StepArguments::release
        last_refractory,  ///< the same
    };

    Kind kind = Kind::lanes;
    double value = 0.0;  ///< of a uniform one
};

/// What becomes of a result.
struct OutputForm {
    enum class Kind : std::uint8_t {
        lanes,     ///< an array with one value for each lane; nothing where all lanes have the same value
        in_place,  ///< it takes the place of an input
        fires,     ///< see StepArguments::fires
        ended,     ///< see StepArguments::failures
    };

    std::uint32_t result = 0;
    Kind kind = Kind::lanes;
    std::uint32_t input = 0;
};

/// What an instruction does with places.
enum class Action : std::uint8_t {
    operate,          ///< out = operation(operands)
    copy,             ///< out = operand
    take_weights,     ///< out = operand + 0.0; operand = -0.0
    take_refractory,  ///< out = whether a lane is refractory
    take_last_refractory,  ///< out = whether a lane is refractory for the last step
    take_valid,       ///< out = whether a lane is a neuron
    begin_loop,       ///< loop `loop` has had no iteration
    /// out = out and operand; if that is true in no lane, leaves `loop` and goes on at `target`.
    check_loop,
    /// Counts an iteration of `loop`; if there have been fewer than `most`, goes on at `target`, and else leaves it.
    next_iteration,
    report_fires,  ///< of the operand
    report_failures,
};

struct BlockInstruction {
    Action action = Action::operate;
    Operation operation = Operation::constant;
    std::uint8_t scalars = 0;  ///< bit k: the place of operand k has one value, for all lanes
    std::uint32_t out = 0;     ///< a place
    std::uint32_t operands[3] = {};
    std::uint32_t loop = 0;
    std::uint32_t target = 0;
    std::uint32_t most = 0;
};

/// What an outer loop uses, but for what each iteration makes anew and scalars.
struct LoopPlaces {
    std::vector<std::uint32_t> carried;  ///< changed by iterations; the truth that a lane goes on is the first
    std::vector<std::uint32_t> read;     ///< only read
};

/// Places are numbered: first arrays of others, then numbers, then registers.
struct BlockCode {
    AlignedVector<BlockInstruction> instructions;
    std::size_t inputs = 0;   ///< whose places come first
    std::size_t draws = 0;    ///< places after them, by index of the draw
    std::size_t outputs = 0;  ///< places after those
    AlignedVector<double> scalars;
    std::size_t registers = 0;
    std::vector<LoopPlaces> loops;  ///< those within others are empty
    /// Of each output that is the same in all lanes: its value.
    std::vector<std::optional<double>> uniform;

    std::size_t first_scalar() const { return inputs + draws + outputs; }
    std::size_t first_register() const { return first_scalar() + scalars.size(); }
    std::size_t places() const { return first_register() + registers; }
    /// The same, whose instructions and numbers lie in some memory and have no more room than they need.
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

/// What follows from uniform values alone is calculated here, once for all lanes; what no output needs is left out.
/// @pre check() has passed the program; there is a form for each input
BlockCode lower(const Program& program, std::span<const InputForm> inputs, std::span<const OutputForm> outputs);

}  // namespace ranvier::program
