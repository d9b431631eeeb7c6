#include "cable/mechanisms/general_mechanism.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/counted.hpp"
#include "ranvier/base/description_hash.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

namespace {

[[noreturn]] void refuse(const GeneralDescription& given, const std::string& what, std::size_t value,
                         const std::string& bound) {
    throw ShapeError({.object = what + " of mechanism '" + given.name + "'",
                      .value = std::to_string(value),
                      .bound = bound,
                      .remedy = "make mechanisms of equations with ranvier.channel()"});
}

/// @param truths whether truths may follow the results
void check(const program::Program& program, std::size_t results, bool truths, const GeneralDescription& given,
           const std::string& what) {
    const auto types = program::check(program, what + " of mechanism '" + given.name + "'", false);
    const auto is_number = [](program::Type type) { return type == program::Type::number; };
    const std::size_t inputs = given.states.size() + external_count + given.parameters.size();
    if (program.inputs.size() != inputs || !std::ranges::all_of(program.inputs, is_number)) {
        refuse(given, "inputs of " + what, program.inputs.size(), "they must be " + counted(inputs, "number"));
    }
    const auto type = [&](std::size_t k) { return types[program.results[k]]; };
    bool fits = truths ? program.results.size() >= results : program.results.size() == results;
    for (std::size_t k = 0; fits && k < program.results.size(); ++k) fits = is_number(type(k)) == (k < results);
    if (!fits) {
        refuse(given, "results of " + what, program.results.size(),
               "they must be " + counted(results, "number") + (truths ? ", then truths" : ""));
    }
}

/// Checks that jumps are constants: they are evaluated once for each place.
void check_jumps(const GeneralDescription& given) {
    const auto fixed = {External::celsius, External::diameter, External::area};
    for (const std::vector<bool>& inputs : program::dependencies(given.jumps.value())) {
        for (std::size_t i = 0; i < given.states.size() + external_count; ++i) {
            const bool is_fixed =
                std::ranges::any_of(fixed, [&](External each) { return i == input_of(each, given.states.size()); });
            if (inputs[i] && !is_fixed) {
                refuse(given, "input of jumps", i, "they depend on parameters, temperature and geometry alone");
            }
        }
    }
}

void check(const GeneralDescription& given) {
    check(given.initial, given.states.size(), false, given, "initial values");
    check(given.step, given.states.size(), true, given, "step");
    check(given.current, 2 * given.currents.size(), false, given, "currents");
    if (given.jumps) {
        check(*given.jumps, given.states.size(), false, given, "jumps");
        check_jumps(given);
    }
    if (given.calcium >= static_cast<std::int64_t>(given.states.size())) {
        refuse(given, "state that is calcium", static_cast<std::size_t>(given.calcium), "there is no such state");
    }
    if (given.outside >= static_cast<std::int64_t>(given.parameters.size())) {
        refuse(given, "parameter that is calcium outside", static_cast<std::size_t>(given.outside),
               "there is no such parameter");
    }
}

std::uint64_t fingerprint_of(const GeneralDescription& given) {
    DescriptionHash hash;
    hash.text("general");
    for (const GeneralDescription::State& state : given.states) hash.text(state.name);
    for (const GeneralDescription::Current& current : given.currents) {
        hash.text(current.name);
        hash.whole((current.carries_calcium ? 1U : 0U) + (current.flows ? 2U : 0U));
    }
    hash.whole(static_cast<std::uint64_t>(std::int64_t{given.calcium} + 1));
    hash.whole(static_cast<std::uint64_t>(std::int64_t{given.outside} + 1));
    for (const program::Program* const program : {&given.initial, &given.step, &given.current}) {
        models::add(hash, *program);
    }
    if (given.jumps) models::add(hash, *given.jumps);
    // Built-in mechanisms have the fingerprint 0.
    return hash.value() | 1;
}

/// Whether a result of a program depends on one of these.
bool reads(const program::Program& program, std::initializer_list<External> externals, std::size_t states) {
    const auto needed = program::dependencies(program);
    return std::ranges::any_of(needed, [&](const std::vector<bool>& inputs) {
        return std::ranges::any_of(externals, [&](External each) { return inputs[input_of(each, states)]; });
    });
}

}  // namespace

GeneralMechanism::GeneralMechanism(GeneralDescription description) : description_(std::move(description)) {
    const GeneralDescription& given = description_;
    check(given);
    for (const models::ProgramParameter& each : given.parameters) {
        parameters_.push_back({each.name, each.unit, each.default_value, each.bounds, each.meaning});
    }
    for (const GeneralDescription::State& each : given.states) states_.push_back({each.name, each.unit, each.meaning});
    for (const GeneralDescription::Current& each : given.currents) {
        currents_.push_back({each.name, each.carries_calcium, each.flows});
    }
    const bool is_pool = given.calcium >= 0;
    const auto any_reads = [&](std::initializer_list<External> externals) {
        return std::ranges::any_of(std::initializer_list{&given.initial, &given.step, &given.current},
                                   [&](const auto* program) { return reads(*program, externals, states_.size()); });
    };
    const bool reads_current = any_reads({External::calcium_current});
    general_ = {.states = states_,
                .currents = currents_,
                .initial = &given.initial,
                .step = &given.step,
                .current = &given.current,
                .jumps = given.jumps ? &*given.jumps : nullptr,
                .calcium = given.calcium,
                .outside = given.outside,
                .follows_calcium = !is_pool && (reads_current || any_reads({External::calcium, External::outside,
                                                                            External::calcium_reversal})),
                .reads_calcium_current = reads_current};
    model_ = {.name = given.name,
              .summary = given.summary,
              .equations = given.equations,
              .reference = given.reference,
              .parameters = parameters_,
              .gates = {},
              .currents = {},
              .fingerprint = fingerprint_of(given),
              .general = &general_};
    receptor_ = {.name = given.name,
                 .summary = given.summary,
                 .equations = given.equations,
                 .reference = given.reference,
                 .parameters = parameters_,
                 .general = &model_};
}

const ReceptorModel& GeneralMechanism::receptor() const {
    if (description_.jumps) return receptor_;
    throw ValueOutOfBoundsError({.object = "receptor '" + description_.name + "'",
                                 .value = "a mechanism of the membrane",
                                 .bound = "receptors are point processes",
                                 .remedy = "give it in membrane="});
}

}  // namespace ranvier::cable
