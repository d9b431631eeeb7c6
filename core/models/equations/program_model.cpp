#include "models/equations/program_model.hpp"

#include <cmath>

#include "models/equations/program_constants.hpp"
#include "models/equations/program_group.hpp"
#include "program/evaluate.hpp"
#include "program/operations.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models {

namespace {

std::string bad_constant(double value) {
    return "a number that each step needs is " + to_text(value) +
           " with these values: some of them are too large or too small, or something is divided by 0";
}

/// Bytes that a step of a neuron reads and writes.
double step_bytes_of(const ProgramDescription& description) {
    const std::size_t both_ways = description.variables.size() + description.receptors.size();
    return static_cast<double>(2 * sizeof(double) * both_ways + sizeof(std::int32_t));
}

}  // namespace

ProgramModel::ProgramModel(ProgramDescription description)
    : description_(std::make_shared<const ProgramDescription>(std::move(description))) {
    check(*description_);
    find_dependencies();
    describe();
}

void ProgramModel::find_dependencies() {
    for (const std::vector<bool>& inputs : program::dependencies(description_->prepare)) {
        depends_on_step_.push_back(inputs.back());
    }
}

void ProgramModel::describe() {
    parameters_ = infos_of(description_->parameters);
    for (const ProgramVariable& variable : description_->variables) {
        variables_.push_back({.name = variable.name,
                              .unit = variable.unit,
                              .meaning = variable.meaning,
                              .initial_parameter = variable.initial_parameter,
                              .initial_value = variable.initial_value});
    }
    for (const DerivedVariable& derived : description_->derived) {
        variables_.push_back(
            {.name = derived.name, .unit = derived.unit, .meaning = derived.meaning, .is_read_only = true});
    }
    receptors_.assign(description_->receptors.begin(), description_->receptors.end());
    static_cast<NeuronInfo&>(*this) = {.name = description_->name,
                                       .summary = description_->summary,
                                       .equations = description_->equations,
                                       .reference = description_->reference,
                                       .parameters = parameters_,
                                       .variables = variables_,
                                       .receptors = receptors_,
                                       .sign_chooses_receptor = description_->sign_chooses_receptor,
                                       .weight_unit = description_->weight_unit,
                                       .takes_current = description_->takes_current,
                                       .needs_double_precision = true,
                                       .stretch_gain = StretchGain::some,
                                       .step_bytes = step_bytes_of(*description_)};
    fingerprint_ = fingerprint_of(*description_);
}

std::unique_ptr<NeuronGroup> ProgramModel::create(const GroupArguments& arguments) const {
    return create_program_group(*this, arguments);
}

std::optional<std::string> ProgramModel::conflict(std::span<const double> values, std::optional<double> h) const {
    std::vector<double> inputs(values.begin(), values.end());
    inputs.push_back(h.value_or(1.0));
    const std::vector<double> prepared = program::evaluate(description_->prepare, inputs);
    const auto is_known = [&](std::size_t result) { return h || !depends_on_step_[result]; };
    for (const Condition& condition : description_->conditions) {
        if (is_known(condition.result) && !program::lane::is_true(prepared[condition.result])) return condition.text;
    }
    if (description_->refractory && is_known(*description_->refractory)) {
        const double period = prepared[*description_->refractory];
        if (!(period >= 0.0 && std::isfinite(period))) {
            return "the refractory period is " + to_text(period) + " ms; it must be >= 0 and finite";
        }
        if (h && !refractory_steps(period, *h)) {
            return "the refractory period, " + to_text(period) + " ms, must be shorter than 2^30 steps of " +
                   to_text(*h) + " ms";
        }
    }
    for (std::size_t i = 0; i < description_->prepared_constants(); ++i) {
        if (is_known(i) && !std::isfinite(prepared[i])) return bad_constant(prepared[i]);
    }
    if (!h) return std::nullopt;
    std::optional<std::string> reason;
    for (const Propagator& propagator : description_->propagators) {
        propagate(
            propagator, *h, [&](std::uint32_t result) { return prepared[result]; },
            [&](std::uint32_t, double value) {
                if (!std::isfinite(value)) reason = bad_constant(value);
            });
    }
    return reason;
}

}  // namespace ranvier::models
