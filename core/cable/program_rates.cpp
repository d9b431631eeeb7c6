#include "cable/program_rates.hpp"

#include <algorithm>
#include <cmath>
#include <memory_resource>
#include <string>
#include <utility>

#include "base/aligned_array.hpp"
#include "base/errors.hpp"
#include "cable/cell.hpp"
#include "program/evaluate.hpp"
#include "program/interpreter.hpp"

namespace ranvier::cable {

namespace {

using program::InputForm;

/// mV
constexpr double probe_distance = 0.25;
constexpr double probe_distance_of_initial = 25.0;

[[noreturn]] void refuse(const GateOfMechanism& gate, const MechanismModel& model, std::string value,
                         std::string bound) {
    throw ValueOutOfBoundsError(
        {.object = "gate " + std::string(gate.gate->name) + " of mechanism " + std::string(model.name),
         .value = std::move(value),
         .bound = std::move(bound) + " at all potentials from " + to_text(potential_range.lowest) + " to " +
                  to_text(potential_range.highest) + " mV",
         .remedy = "check its parameters; x/(exp(x) - 1) is written 1/exprel(x), which is defined at 0, too"});
}

std::vector<double> potentials(double distance) {
    std::vector<double> all;
    for (double v = potential_range.lowest; v <= potential_range.highest; v += distance) all.push_back(v);
    return all;
}

void check(const GateOfMechanism& gate, const MechanismModel& model, double celsius) {
    const std::vector<double> arguments = potentials(probe_distance);
    std::vector<double> steady(arguments.size());
    std::vector<double> tau(arguments.size());
    carry_out_rates(*gate.code, InstructionSet::baseline, arguments, steady.data(), tau.data());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string at = " at " + to_text(arguments[i]) + " mV";
        if (!std::isfinite(steady[i])) {
            refuse(gate, model, "a steady state of " + to_text(steady[i]) + at, "it must be finite");
        }
        if (!(tau[i] >= 0.0)) {
            refuse(gate, model, "a time constant of " + to_text(tau[i]) + " ms" + at, "it must be positive");
        }
    }
    for (const double v : potentials(probe_distance_of_initial)) {
        const std::optional<double> begin = initial_value(gate, v, celsius);
        if (!begin || std::isfinite(*begin)) continue;
        refuse(gate, model, "an initial value of " + to_text(*begin) + " at " + to_text(v) + " mV",
               "it must be finite");
    }
}

}  // namespace

GateOfMechanism gate_of(const GateInfo& gate, std::vector<double> parameters, double celsius) {
    GateOfMechanism made{.gate = &gate, .parameters = std::move(parameters)};
    if (gate.program == nullptr) return made;
    std::vector<InputForm> inputs{{.kind = InputForm::Kind::lanes},
                                  {.kind = InputForm::Kind::uniform, .value = celsius}};
    for (const double value : made.parameters) inputs.push_back({.kind = InputForm::Kind::uniform, .value = value});
    std::vector<program::OutputForm> outputs;
    for (const std::uint32_t result : gate.program->results) outputs.push_back({.result = result});
    made.code = std::make_shared<const program::BlockCode>(program::lower(*gate.program, inputs, outputs));
    return made;
}

void carry_out_rates(const program::BlockCode& code, InstructionSet set, std::span<const double> arguments,
                     double* steady, double* tau) {
    program::Interpreter interpreter(code, set, std::pmr::get_default_resource());
    const std::size_t most = interpreter.most_lanes();
    AlignedVector<double> argument(most, 0.0);
    AlignedVector<double> results[2] = {AlignedVector<double>(most, 0.0), AlignedVector<double>(most, 0.0)};
    double* const out[2] = {steady, tau};
    interpreter.set_input(0, argument.data());
    for (std::size_t k = 0; k < 2; ++k) interpreter.set_output(k, results[k].data());
    for (std::size_t begin = 0; begin < arguments.size(); begin += most) {
        const std::size_t count = std::min(most, arguments.size() - begin);
        const std::size_t filled =
            (count + program::lane_multiple - 1) / program::lane_multiple * program::lane_multiple;
        std::ranges::copy(arguments.subspan(begin, count), argument.begin());
        // Lanes beyond the last one calculate what the first one does.
        std::fill(argument.begin() + static_cast<std::ptrdiff_t>(count),
                  argument.begin() + static_cast<std::ptrdiff_t>(filled), arguments[begin]);
        interpreter.run({.lanes = filled, .valid = filled});
        for (std::size_t k = 0; k < 2; ++k) {
            if (code.uniform[k]) {
                std::fill_n(out[k] + begin, count, *code.uniform[k]);
            } else {
                std::copy_n(results[k].begin(), count, out[k] + begin);
            }
        }
    }
}

std::optional<double> initial_value(const GateOfMechanism& gate, double argument, double celsius) {
    if (gate.gate->initial == nullptr) return std::nullopt;
    std::vector<double> inputs{argument, celsius};
    inputs.insert(inputs.end(), gate.parameters.begin(), gate.parameters.end());
    return program::evaluate(*gate.gate->initial, inputs)[0];
}

void check_program_rates(const PaintedMechanism& painted, double celsius) {
    const MechanismModel& model = *painted.mechanism;
    std::vector<double> parameters;
    for (const auto& values : painted.parameters) parameters.push_back(values.front());
    for (const GateInfo& gate : model.gates) {
        if (gate.program != nullptr) check(gate_of(gate, parameters, celsius), model, celsius);
    }
}

}  // namespace ranvier::cable
