#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>

#include "program/interpreter.hpp"
#include "program/step_function.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::program {

/// Inputs and results of the program of a step: see models::ProgramDescription::step.
struct StepShape {
    std::size_t variables = 0;
    std::size_t constants = 0;
    std::size_t receptors = 0;
    bool takes_current = true;
};

/// The interpreter as a step function: the object of StepArguments::context.
class StepInterpreter {
   public:
    /// @param constants value of each, if it is the same in all lanes. They are read here once.
    StepInterpreter(const Program& step, const StepShape& shape, std::span<const std::optional<double>> constants,
                    InstructionSet set, std::pmr::memory_resource* memory);

    std::size_t most_lanes() const;

    /// A StepFunction. Constants that differ between lanes have one value for each lane.
    static std::uint32_t step(const StepArguments* arguments);

   private:
    std::uint32_t run(const StepArguments& arguments);

    StepShape shape_;
    Interpreter without_current_;
    std::optional<Interpreter> with_current_;
};

}  // namespace ranvier::program
