#include "models/equations/program_stepper.hpp"

#include <algorithm>

#include "base/subnormals.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models {

namespace {

/// Lanes per call of compiled functions: enough that the call itself costs little, and few enough that state, inputs
/// of a step and one array of constants fit into the first cache, where state stays for several steps.
std::size_t lanes_of_compiled(const ProgramDescription& description) {
    constexpr std::size_t cache = 36 * 1024;
    const std::size_t values = description.variables.size() + description.receptors.size() + 1;
    const std::size_t lanes = cache / (values * sizeof(double) + sizeof(std::int32_t));
    return std::clamp<std::size_t>(lanes / program::lane_multiple, 4, 32) * program::lane_multiple;
}
/// Lanes per call of compiled functions with loops: calculation takes so long that memory does not matter, and with
/// more neurons, fewer lanes wait for those that take many iterations.
constexpr std::size_t lanes_of_compiled_loops = 4096;

std::size_t most_lanes_of_compiled(const ProgramModel& model, std::uint64_t neurons) {
    const auto is_loop = [](const program::Instruction& each) { return each.operation == program::Operation::loop; };
    const bool loops = std::ranges::any_of(model.description().step.instructions, is_loop);
    const std::uint64_t blocks = (neurons + program::lane_multiple - 1) / program::lane_multiple;
    return std::min(loops ? lanes_of_compiled_loops : lanes_of_compiled(model.description()),
                    static_cast<std::size_t>(std::max<std::uint64_t>(blocks, 1)) * program::lane_multiple);
}

std::uint32_t missing_code(const program::StepArguments* /*arguments*/) {
    throw InternalError("neurons were advanced before their code was compiled");
}

CompiledStep choose_code(const ProgramModel& model, const GroupArguments& arguments) {
    if (arguments.awaits_code) return {.function = missing_code};
    return arguments.compiled_programs ? model.compiled(arguments.instruction_set) : CompiledStep{};
}

std::unique_ptr<program::StepInterpreter> make_interpreter(const ProgramModel& model, const ProgramConstants& constants,
                                                           const GroupArguments& arguments) {
    const ProgramDescription& description = model.description();
    return std::make_unique<program::StepInterpreter>(description.step,
                                                      program::StepShape{.variables = description.variables.size(),
                                                                         .constants = description.constants,
                                                                         .receptors = description.receptors.size(),
                                                                         .takes_current = description.takes_current},
                                                      constants.uniform(), arguments.instruction_set, arguments.memory);
}

}  // namespace

ProgramStepper::ProgramStepper(const ProgramModel& model, const ProgramConstants& constants,
                               const GroupArguments& arguments)
    : compiled_(choose_code(model, arguments)),
      interpreter_(compiled_.function != nullptr ? nullptr : make_interpreter(model, constants, arguments)),
      most_lanes_(interpreter_ ? interpreter_->most_lanes() : most_lanes_of_compiled(model, arguments.population_size)),
      draws_(program::draws_of(model.description().step), arguments.key, arguments.instruction_set, most_lanes_,
             arguments.memory),
      repeated_(arguments.memory),
      inputs_((model.description().receptors.size() + 1) * most_lanes_, 0.0, arguments.memory),
      state_pointers_(model.description().variables.size()),
      constant_pointers_(model.description().constants),
      constant_masks_(model.description().constants, ~std::uint64_t{0}),
      input_pointers_(model.description().receptors.size()),
      fires_(most_lanes_ / 8),
      failures_(most_lanes_ / 8) {
    for (std::size_t c = 0; c < constants.values.size(); ++c) {
        constants_per_lane_ = constants_per_lane_ || !constants.is_uniform(c);
    }
    if (interpreter_) return;
    repeated_.assign(constants.values.size() * program::widest_vector, 0.0);
    for (std::size_t c = 0; c < constants.values.size(); ++c) {
        if (!constants.is_uniform(c)) continue;
        constant_masks_[c] = 0;
        std::fill_n(repeated_.begin() + static_cast<std::ptrdiff_t>(c * program::widest_vector), program::widest_vector,
                    constants.values[c][0]);
    }
}

std::uint32_t ProgramStepper::advance(const SteppedNeurons& neurons, const ProgramConstants& constants,
                                      const BlockStep& block) {
    for (std::size_t v = 0; v < state_pointers_.size(); ++v) {
        state_pointers_[v] = neurons.state[v].data() + block.begin;
    }
    for (std::size_t c = 0; c < constant_pointers_.size(); ++c) {
        const double* const values = constants.values[c].data();
        const double* const of_all = repeated_.empty() ? values : repeated_.data() + c * program::widest_vector;
        constant_pointers_[c] = constants.is_uniform(c) ? of_all : values + block.begin;
    }
    draws_.draw(neurons.ids, block.begin, block.lanes, block.step);
    program::StepArguments arguments{.lanes = block.lanes,
                                     .valid = block.valid,
                                     .state = state_pointers_.data(),
                                     .constants = constant_pointers_.data(),
                                     .constants_per_lane = constants_per_lane_ ? std::uint64_t{1} : 0,
                                     .inputs = input_pointers_.data(),
                                     .current = nullptr,
                                     .release = neurons.release.data() + block.begin,
                                     .clock = block.clock,
                                     .draws = draws_.words(),
                                     .fires = fires_.data(),
                                     .failures = failures_.data(),
                                     .context = interpreter_.get(),
                                     .constant_masks = constant_masks_.data()};
    point_to_inputs(block, arguments);
    return interpreter_ ? program::StepInterpreter::step(&arguments) : compiled_.function(&arguments);
}

/// Inputs belong to the caller and are not padded.
void ProgramStepper::point_to_inputs(const BlockStep& block, program::StepArguments& arguments) {
    const bool is_full = block.valid == block.lanes;
    for (std::size_t r = 0; r < input_pointers_.size(); ++r) {
        double* const given = block.inputs[r] + block.begin;
        input_pointers_[r] = is_full ? given : inputs_.data() + r * most_lanes_;
        if (is_full) continue;
        std::copy_n(given, block.valid, input_pointers_[r]);
        std::fill(input_pointers_[r] + block.valid, input_pointers_[r] + block.lanes, -0.0);
        std::fill_n(given, block.valid, -0.0);
    }
    if (block.current == nullptr) return;
    const double* const given = block.current + block.begin;
    double* const copy = inputs_.data() + input_pointers_.size() * most_lanes_;
    for (std::size_t k = 0; k < block.valid; ++k) copy[k] = without_subnormal(given[k]);
    arguments.current = copy;
}

}  // namespace ranvier::models
