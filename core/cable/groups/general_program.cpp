#include "cable/groups/general_program.hpp"

#include <algorithm>
#include <utility>

#include "cable/mechanisms/general_mechanism.hpp"

namespace ranvier::cable {

namespace {

using program::InputForm;
using program::OutputForm;

bool is_one(std::span<const double> values) {
    return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

InputForm uniform(double value) { return {.kind = InputForm::Kind::uniform, .value = value}; }
InputForm form_of(std::span<const double> values) { return is_one(values) ? uniform(values.front()) : InputForm{}; }

std::vector<bool> inputs_read(const program::Program& program) {
    std::vector<bool> read(program.inputs.size(), false);
    for (const std::vector<bool>& of_result : program::dependencies(program)) {
        for (std::size_t i = 0; i < read.size(); ++i) read[i] = read[i] || of_result[i];
    }
    return read;
}

std::vector<InputForm> input_forms(std::size_t states, const GeneralProgram::Fixed& fixed) {
    std::vector<InputForm> forms(states);
    for (std::size_t e = 0; e < external_count; ++e) {
        const bool is_fixed = !fixed.externals[e].empty();
        forms.push_back(is_fixed ? form_of(fixed.externals[e]) : InputForm{});
    }
    forms[input_of(External::celsius, states)] = uniform(fixed.celsius);
    forms[input_of(External::step, states)] = uniform(fixed.step);
    for (const AlignedVector<double>& values : fixed.parameters) forms.push_back(form_of(values));
    return forms;
}

program::BlockCode code_of(const program::Program& program, std::size_t states, GeneralProgram::Results results,
                           const GeneralProgram::Fixed& fixed) {
    const std::vector<program::Type> types = program::result_types(program);
    std::vector<OutputForm> outputs;
    for (std::uint32_t k = 0; k < program.results.size(); ++k) {
        OutputForm output{.result = program.results[k], .kind = OutputForm::Kind::ended};
        if (types[k] == program::Type::number) {
            const bool in_place = results == GeneralProgram::Results::in_place;
            output.kind = in_place ? OutputForm::Kind::in_place : OutputForm::Kind::lanes;
            output.input = in_place ? k : 0;
        }
        outputs.push_back(output);
    }
    return program::lower(program, input_forms(states, fixed), outputs);
}

}  // namespace

GeneralProgram::GeneralProgram(const program::Program& program, std::size_t states, Results results, const Fixed& fixed,
                               InstructionSet set, std::pmr::memory_resource* memory)
    : states_(states), results_(0), interpreter_(code_of(program, states, results, fixed), set, memory) {
    const std::vector<bool> read = inputs_read(program);
    for (std::size_t e = 0; e < external_count; ++e) reads_.push_back(read[states + e]);
    for (std::size_t i = 0; i < program.inputs.size(); ++i) fixed_.emplace_back(memory);
    const auto keep = [&](std::size_t input, const AlignedVector<double>& values) {
        if (read[input] && !values.empty() && !is_one(values)) fixed_[input].assign(values.begin(), values.end());
    };
    for (std::size_t e = 0; e < external_count; ++e) keep(states + e, fixed.externals[e]);
    for (std::size_t p = 0; p < fixed.parameters.size(); ++p) keep(states + external_count + p, fixed.parameters[p]);
    for (const program::Type type : program::result_types(program)) {
        if (type == program::Type::number && results == Results::apart) ++results_;
    }
}

bool GeneralProgram::run(std::size_t places, double* states, const GeneralInputs& inputs, double* results,
                         std::uint8_t* failures) {
    const auto changing = [&](External external) -> const double* {
        switch (external) {
            case External::potential:
                return inputs.potential.data();
            case External::calcium:
                return inputs.calcium.data();
            case External::calcium_reversal:
                return inputs.calcium_reversal.data();
            case External::calcium_current:
                return inputs.calcium_current.data();
            case External::time:
                return inputs.time.data();
            default:
                return nullptr;
        }
    };
    bool has_failed = false;
    const std::size_t most = interpreter_.most_lanes();
    for (std::size_t begin = 0; begin < places; begin += most) {
        const std::size_t count = std::min(most, places - begin);
        for (std::size_t i = 0; i < fixed_.size(); ++i) {
            if (!fixed_[i].empty()) interpreter_.set_input(i, fixed_[i].data() + begin);
        }
        for (std::size_t s = 0; s < states_; ++s) interpreter_.set_input(s, states + s * places + begin);
        for (std::size_t e = 0; e < external_count; ++e) {
            const double* const values = changing(static_cast<External>(e));
            if (values != nullptr) interpreter_.set_input(states_ + e, values + begin);
        }
        for (std::size_t r = 0; r < results_; ++r) {
            double* const out = results + r * places + begin;
            interpreter_.set_output(r, out);
            if (const auto value = interpreter_.code().uniform[r]) std::fill_n(out, count, *value);
        }
        const std::uint32_t flags =
            interpreter_.run({.lanes = count, .valid = count, .failures = failures + begin / 8});
        if ((flags & program::some_fail) != 0) {
            if (!has_failed) std::fill_n(failures, begin / 8, std::uint8_t{0});
            has_failed = true;
        } else if (has_failed) {
            std::fill_n(failures + begin / 8, count / 8, std::uint8_t{0});
        }
    }
    return has_failed;
}

}  // namespace ranvier::cable
