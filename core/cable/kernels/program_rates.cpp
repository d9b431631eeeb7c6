#include "cable/kernels/program_rates.hpp"

#include <algorithm>
#include <cmath>
#include <memory_resource>
#include <string>
#include <utility>

#include "base/aligned_array.hpp"
#include "program/evaluate.hpp"
#include "program/interpreter.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

using program::InputForm;

/// Sampling distances at which rates and initial values are checked.
struct ProbeDistances {
    double potential;  ///< mV
    double logarithm;  ///< of gates that depend on calcium only
    double beside;     ///< of gates that depend on both
};
constexpr ProbeDistances of_rates{.potential = 0.25, .logarithm = 0.02, .beside = 1.0};
constexpr ProbeDistances of_initial{.potential = 25.0, .logarithm = 1.0, .beside = 4.0};

/// Sample values of the inputs of a gate.
struct Points {
    std::vector<double> arguments;
    std::vector<double> logarithms;  ///< of a gate that depends on both

    double logarithm(std::size_t i) const { return logarithms.empty() ? 0.0 : logarithms[i]; }
};

std::vector<double> values_of(const RateRange& range, double distance) {
    const std::size_t count = static_cast<std::size_t>((range.highest - range.lowest) / distance) + 1;
    std::vector<double> all;
    all.reserve(count);
    double x = range.lowest;
    for (std::size_t k = 0; k < count; ++k) {
        all.push_back(x);
        x += distance;
    }
    return all;
}

Points points_of(Follows follows, const ProbeDistances& distances) {
    if (follows == Follows::potential) return {values_of(potential_range, distances.potential), {}};
    if (follows == Follows::calcium) return {values_of(calcium_range, distances.logarithm), {}};
    Points all;
    const std::vector<double> potentials = values_of(potential_range, distances.potential);
    for (const double logarithm : values_of(calcium_range, distances.beside)) {
        all.arguments.insert(all.arguments.end(), potentials.begin(), potentials.end());
        all.logarithms.insert(all.logarithms.end(), potentials.size(), logarithm);
    }
    return all;
}

std::string place_text(Follows follows, const Points& points, std::size_t i) {
    std::string potential = " at " + to_text(points.arguments[i]) + " mV";
    if (follows == Follows::potential) return potential;
    if (follows == Follows::calcium) return " at " + to_text(std::exp(points.arguments[i])) + " mM of calcium";
    return potential + " and " + to_text(std::exp(points.logarithms[i])) + " mM of calcium";
}

std::string range_text(Follows follows) {
    const std::string potentials =
        " potentials from " + to_text(potential_range.lowest) + " to " + to_text(potential_range.highest) + " mV";
    const std::string concentrations = " concentrations of calcium from " + to_text(std::exp(calcium_range.lowest)) +
                                       " to " + to_text(std::exp(calcium_range.highest)) + " mM";
    if (follows == Follows::potential) return " at all" + potentials;
    if (follows == Follows::calcium) return " at all" + concentrations;
    return " at all" + potentials + " and" + concentrations;
}

[[noreturn]] void refuse(const GateOfMechanism& gate, const MechanismModel& model, std::string value,
                         std::string bound) {
    throw ValueOutOfBoundsError(
        {.object = "gate " + std::string(gate.gate->name) + " of mechanism " + std::string(model.name),
         .value = std::move(value),
         .bound = std::move(bound) + range_text(gate.gate->follows),
         .remedy = "check its parameters; x/(exp(x) - 1) is written 1/exprel(x), which is defined at 0, too"});
}

void check(const GateOfMechanism& gate, const MechanismModel& model, double celsius) {
    const Follows follows = gate.gate->follows;
    const Points points = points_of(follows, of_rates);
    std::vector<double> steady(points.arguments.size());
    std::vector<double> tau(points.arguments.size());
    carry_out_rates(*gate.code, InstructionSet::baseline, points.arguments, steady.data(), tau.data(),
                    points.logarithms);
    for (std::size_t i = 0; i < steady.size(); ++i) {
        if (!std::isfinite(steady[i])) {
            refuse(gate, model, "a steady state of " + to_text(steady[i]) + place_text(follows, points, i),
                   "it must be finite");
        }
        if (!(tau[i] >= 0.0)) {
            refuse(gate, model, "a time constant of " + to_text(tau[i]) + " ms" + place_text(follows, points, i),
                   "it must be positive");
        }
    }
    const Points begins = points_of(follows, of_initial);
    for (std::size_t i = 0; i < begins.arguments.size(); ++i) {
        const std::optional<double> begin = initial_value(gate, begins.arguments[i], begins.logarithm(i), celsius);
        if (!begin || std::isfinite(*begin)) continue;
        refuse(gate, model, "an initial value of " + to_text(*begin) + place_text(follows, begins, i),
               "it must be finite");
    }
}

}  // namespace

GateOfMechanism gate_of(const GateInfo& gate, std::vector<double> parameters, double celsius) {
    GateOfMechanism made{.gate = &gate, .parameters = std::move(parameters)};
    if (gate.program == nullptr) return made;
    std::vector<InputForm> inputs(gate.follows == Follows::both ? 2 : 1, {.kind = InputForm::Kind::lanes});
    inputs.push_back({.kind = InputForm::Kind::uniform, .value = celsius});
    for (const double value : made.parameters) inputs.push_back({.kind = InputForm::Kind::uniform, .value = value});
    std::vector<program::OutputForm> outputs;
    outputs.reserve(gate.program->results.size());
    for (const std::uint32_t result : gate.program->results) outputs.push_back({.result = result});
    made.code = std::make_shared<const program::BlockCode>(program::lower(*gate.program, inputs, outputs));
    return made;
}

void carry_out_rates(const program::BlockCode& code, InstructionSet set, std::span<const double> arguments,
                     double* steady, double* tau, std::span<const double> logarithms) {
    program::Interpreter interpreter(code, set, std::pmr::get_default_resource());
    const std::size_t most = interpreter.most_lanes();
    const std::span<const double> given[2] = {arguments, logarithms};
    const std::size_t followed = logarithms.empty() ? 1 : 2;
    AlignedVector<double> inputs[2] = {AlignedVector<double>(most, 0.0), AlignedVector<double>(most, 0.0)};
    AlignedVector<double> results[2] = {AlignedVector<double>(most, 0.0), AlignedVector<double>(most, 0.0)};
    double* const out[2] = {steady, tau};
    for (std::size_t k = 0; k < followed; ++k) interpreter.set_input(k, inputs[k].data());
    for (std::size_t k = 0; k < 2; ++k) interpreter.set_output(k, results[k].data());
    for (std::size_t begin = 0; begin < arguments.size(); begin += most) {
        const std::size_t count = std::min(most, arguments.size() - begin);
        const std::size_t filled =
            (count + program::lane_multiple - 1) / program::lane_multiple * program::lane_multiple;
        for (std::size_t k = 0; k < followed; ++k) {
            const auto end = std::ranges::copy(given[k].subspan(begin, count), inputs[k].begin()).out;
            // Lanes past the last one repeat the first one.
            std::fill(end, inputs[k].begin() + static_cast<std::ptrdiff_t>(filled), given[k][begin]);
        }
        interpreter.run({.lanes = filled, .valid = filled});
        for (std::size_t k = 0; k < 2; ++k) {
            const std::optional<double>& uniform = code.uniform[k];
            if (uniform) {
                std::fill_n(out[k] + begin, count, *uniform);
            } else {
                std::copy_n(results[k].begin(), count, out[k] + begin);
            }
        }
    }
}

std::optional<double> initial_value(const GateOfMechanism& gate, double argument, double logarithm, double celsius) {
    if (gate.gate->initial == nullptr) return std::nullopt;
    std::vector<double> inputs{argument};
    if (gate.gate->follows == Follows::both) inputs.push_back(logarithm);
    inputs.push_back(celsius);
    inputs.insert(inputs.end(), gate.parameters.begin(), gate.parameters.end());
    return program::evaluate(*gate.gate->initial, inputs)[0];
}

void check_program_rates(const MechanismModel& model, const std::vector<double>& parameters, double celsius) {
    for (const GateInfo& gate : model.gates) {
        if (gate.program != nullptr) check(gate_of(gate, parameters, celsius), model, celsius);
    }
}

}  // namespace ranvier::cable
