#include "models/equations/program_observer.hpp"

#include <algorithm>
#include <optional>

#include "program/step_function.hpp"

namespace ranvier::models {

namespace {

/// A fixed block: either few neurons are recorded, or all of them block after block.
constexpr std::size_t block_lanes = program::lane_multiple;

}  // namespace

ProgramObserver::ProgramObserver(const ProgramDescription& description, const ProgramConstants& constants,
                                 const GroupArguments& arguments)
    : lanes_(arguments.memory) {
    using program::InputForm;
    if (description.derived.empty()) return;
    std::vector<InputForm> inputs(description.variables.size());
    for (const std::optional<double>& value : constants.uniform()) {
        inputs.push_back(value ? InputForm{InputForm::Kind::uniform, *value} : InputForm{});
    }
    for (const std::uint32_t result : description.observe.results) {
        const program::OutputForm output{.result = result};
        interpreters_.emplace_back(lower(description.observe, inputs, std::span(&output, 1)), arguments.instruction_set,
                                   arguments.memory);
    }
    lanes_.assign((inputs.size() + 1) * block_lanes, 0.0);
}

void ProgramObserver::read(std::size_t derived, const std::vector<AlignedVector<double>>& state,
                           const ProgramConstants& constants, std::span<const std::uint32_t> neurons, double* out) {
    program::Interpreter& interpreter = interpreters_[derived];
    if (const std::optional<double> value = interpreter.code().uniform[0]) {
        std::fill_n(out, neurons.size(), *value);
        return;
    }
    const std::size_t inputs = interpreter.code().inputs;
    double* const result = lanes_.data() + inputs * block_lanes;
    interpreter.set_output(0, result);
    for (std::size_t begin = 0; begin < neurons.size(); begin += block_lanes) {
        const std::span<const std::uint32_t> some =
            neurons.subspan(begin, std::min(block_lanes, neurons.size() - begin));
        for (std::size_t i = 0; i < inputs; ++i) {
            const bool is_state = i < state.size();
            if (!is_state && constants.is_uniform(i - state.size())) continue;
            const AlignedVector<double>& values = is_state ? state[i] : constants.values[i - state.size()];
            double* const lanes_of_input = lanes_.data() + i * block_lanes;
            // The lanes past `some` keep their previous values.
            for (std::size_t k = 0; k < some.size(); ++k) lanes_of_input[k] = values[some[k]];
            interpreter.set_input(i, lanes_of_input);
        }
        (void)interpreter.run({.lanes = block_lanes, .valid = some.size()});
        std::copy_n(result, some.size(), out + begin);
    }
}

}  // namespace ranvier::models
