#include "program/step_interpreter.hpp"

#include <algorithm>
#include <vector>

#include "program/block_code.hpp"

namespace ranvier::program {

namespace {

BlockCode lower_step(const Program& step, const StepShape& shape, std::span<const std::optional<double>> constants,
                     bool with_current) {
    std::vector<InputForm> inputs(shape.variables);
    for (const std::optional<double>& constant : constants) {
        inputs.push_back(constant ? InputForm{.kind = InputForm::Kind::uniform, .value = *constant} : InputForm{});
    }
    inputs.insert(inputs.end(), shape.receptors, {.kind = InputForm::Kind::weights});
    if (shape.takes_current) {
        inputs.push_back({.kind = with_current ? InputForm::Kind::lanes : InputForm::Kind::uniform});
    }
    inputs.push_back({.kind = InputForm::Kind::refractory});
    if (inputs.size() < step.inputs.size()) inputs.push_back({.kind = InputForm::Kind::last_refractory});
    std::vector<OutputForm> outputs;
    for (std::uint32_t i = 0; i < step.results.size(); ++i) {
        OutputForm output{.result = step.results[i], .kind = OutputForm::Kind::ended};
        if (i < shape.variables) {
            output.kind = OutputForm::Kind::in_place;
            output.input = i;
        } else if (i == shape.variables) {
            output.kind = OutputForm::Kind::fires;
        }
        outputs.push_back(output);
    }
    return lower(step, inputs, outputs);
}

}  // namespace

StepInterpreter::StepInterpreter(const Program& step, const StepShape& shape,
                                 std::span<const std::optional<double>> constants, InstructionSet set,
                                 std::pmr::memory_resource* memory)
    : shape_(shape), without_current_(lower_step(step, shape, constants, false), set, memory) {
    if (shape.takes_current) with_current_.emplace(lower_step(step, shape, constants, true), set, memory);
}

std::size_t StepInterpreter::most_lanes() const {
    const std::size_t lanes = without_current_.most_lanes();
    return with_current_ ? std::min(lanes, with_current_->most_lanes()) : lanes;
}

std::uint32_t StepInterpreter::step(const StepArguments* arguments) {
    return static_cast<StepInterpreter*>(arguments->context)->run(*arguments);
}

std::uint32_t StepInterpreter::run(const StepArguments& arguments) {
    const bool has_current = arguments.current != nullptr && with_current_;
    Interpreter& interpreter = has_current ? *with_current_ : without_current_;
    std::size_t input = 0;
    for (std::size_t v = 0; v < shape_.variables; ++v) interpreter.set_input(input++, arguments.state[v]);
    for (std::size_t c = 0; c < shape_.constants; ++c) interpreter.set_input(input++, arguments.constants[c]);
    for (std::size_t r = 0; r < shape_.receptors; ++r) interpreter.set_input(input++, arguments.inputs[r]);
    if (has_current) interpreter.set_input(input, arguments.current);
    for (std::size_t d = 0; d < interpreter.code().draws; ++d) interpreter.set_draw(d, arguments.draws[d]);
    return interpreter.run({.lanes = arguments.lanes,
                            .valid = arguments.valid,
                            .release = arguments.release,
                            .clock = arguments.clock,
                            .fires = arguments.fires,
                            .failures = arguments.failures});
}

}  // namespace ranvier::program
