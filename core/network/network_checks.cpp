#include "network/network_checks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "connect/tables/projection_plan.hpp"
#include "models/source_group.hpp"
#include "network/value_checks.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/step_rounding.hpp"

namespace ranvier::network {

namespace {

/// Tables store delays in 16 bits.
constexpr Step longest_delay = 65535;

void check_magnitude(double value, const std::string& object) {
    if (std::abs(value) <= largest_weight) return;
    throw ValueOutOfBoundsError({.object = object,
                                 .value = to_text(value),
                                 .bound = "its absolute value can be at most " + to_text(largest_weight),
                                 .remedy = "check its unit, or restrict the distribution with low= and high="});
}

}  // namespace

std::string Quoted::operator()(std::string_view name) const { return "'" + std::string(name) + "'"; }

ValueOutOfBoundsError read_only_variable(const std::string& object) {
    return ValueOutOfBoundsError({.object = object,
                                  .value = "a value",
                                  .bound = "as a probe or a derived variable it can only be recorded and read",
                                  .remedy = "set the state variables that it follows from, such as V_m"});
}

std::optional<Step> steps_on_grid(double milliseconds, double resolution) {
    const double steps = milliseconds / resolution;
    const double nearest = std::round(steps);
    if (!(std::abs(nearest) < 0x1p53)) return std::nullopt;
    const double tolerance = std::max(1e-6, std::abs(steps) * 1e-15);
    if (std::abs(steps - nearest) > tolerance) return std::nullopt;
    return static_cast<Step>(nearest);
}

GridError grid_error(double milliseconds, double resolution, std::string object) {
    return GridError({.object = std::move(object),
                      .value = to_text(milliseconds) + " ms",
                      .bound = "it must be a multiple of the resolution, " + to_text(resolution) + " ms",
                      .remedy = "round it, or choose a resolution that divides it"});
}

void check_delay(double delay, double resolution, const std::string& object) {
    const auto fail = [&](std::string bound, std::string remedy) {
        throw DelayError({.object = object,
                          .value = to_text(delay) + " ms",
                          .bound = std::move(bound),
                          .remedy = std::move(remedy)});
    };
    const std::string step = to_text(resolution) + " ms";
    if (!std::isfinite(delay)) fail("it must be finite", "give a time in ms");
    const auto steps = steps_on_grid(delay, resolution);
    if (delay < resolution && !(steps && *steps >= 1)) {
        fail("it must be at least one step, " + step, "raise it, or choose a smaller resolution");
    }
    if (!steps) throw grid_error(delay, resolution, object);
    if (*steps > longest_delay) {
        fail("it can be at most 65535 steps of " + step, "lower it, or choose a larger resolution");
    }
}

namespace {

/// The same rounding as connect::round_delay.
bool rounds_to_less_than_a_step(double delay, const TargetSteps& steps) {
    return half_up(delay, 1.0 / steps.step) < 1.0;
}
bool rounds_to_more_than_the_most(double delay, const TargetSteps& steps) {
    const Step longest = longest_delay / steps.stride;
    return half_up(delay, 1.0 / steps.step) >= static_cast<double>(longest) + 1.0;
}

std::string one_step(const TargetSteps& steps) {
    return (steps.stride == 1 ? "one step, " : "one step of the targets, ") + to_text(steps.step) + " ms";
}

void check_single_delay(double delay, const TargetSteps& steps, const std::string& object) {
    check_delay(delay, steps.resolution, object);
    if (rounds_to_less_than_a_step(delay, steps)) {
        throw DelayError({.object = object,
                          .value = to_text(delay) + " ms",
                          .bound = "it rounds to less than " + one_step(steps),
                          .remedy = "raise it, or choose a shorter step of the targets"});
    }
    if (rounds_to_more_than_the_most(delay, steps)) {
        throw DelayError({.object = object,
                          .value = to_text(delay) + " ms",
                          .bound = "it can be at most 65535 steps of " + to_text(steps.resolution) + " ms",
                          .remedy = "lower it"});
    }
}

void check_delays(const SharedArray& delays, const TargetSteps& steps, const std::string& object,
                  const connect::RuleSampler& rule) {
    if (!rule.array_length()) {
        throw ShapeError({.object = object,
                          .value = "an array",
                          .bound = "the rule draws how many synapses a target has",
                          .remedy = "give a number or a distribution"});
    }
    if (delays.size() != *rule.array_length()) {
        throw ShapeError({.object = "length of " + object,
                          .value = std::to_string(delays.size()),
                          .bound = "the rule has " + std::to_string(*rule.array_length()) + " entries",
                          .remedy = "give one value for each, or one for all"});
    }
    for (std::size_t i = 0; i < delays.size(); ++i) {
        const auto fail = [&](std::string bound, std::string remedy) {
            throw DelayError({.object = "element " + std::to_string(i) + " of " + object,
                              .value = to_text(delays[i]) + " ms",
                              .bound = std::move(bound),
                              .remedy = std::move(remedy)});
        };
        if (!std::isfinite(delays[i])) fail("it must be finite", "give a time in ms");
        if (rounds_to_less_than_a_step(delays[i], steps)) {
            fail("it rounds to less than " + one_step(steps), "raise it, or choose a smaller resolution");
        }
        if (rounds_to_more_than_the_most(delays[i], steps)) {
            fail("it can be at most 65535 steps of " + to_text(steps.resolution) + " ms",
                 "lower it, or choose a larger resolution");
        }
    }
}

void check_delays(const Distribution& distribution, const TargetSteps& steps, const std::string& object) {
    distribution.check(object);
    if (const double least = distribution.least(); rounds_to_less_than_a_step(least, steps)) {
        throw DelayError({.object = "least value that can be drawn for " + object,
                          .value = to_text(least) + " ms",
                          .bound = "it rounds to less than " + one_step(steps),
                          .remedy = "restrict the distribution with low= at half a step, " + to_text(0.5 * steps.step) +
                                    " ms, or more"});
    }
    if (const double greatest = distribution.greatest(); rounds_to_more_than_the_most(greatest, steps)) {
        throw DelayError({.object = "greatest value that can be drawn for " + object,
                          .value = to_text(greatest) + " ms",
                          .bound = "a delay can be at most 65535 steps of " + to_text(steps.resolution) + " ms",
                          .remedy = "restrict the distribution with high="});
    }
}

void check_delays(const ExpressionValues& delays, const TargetSteps& steps, const std::string& object) {
    const auto fail = [&](const ExpressionValues::Bound& end, std::string bound, std::string remedy) {
        throw DelayError({.object = object,
                          .value = to_text(end.value) + " ms" + (end.place.empty() ? "" : ", at " + end.place),
                          .bound = "'" + delays.function->text() + "' " + std::move(bound),
                          .remedy = std::move(remedy)});
    };
    if (rounds_to_less_than_a_step(delays.least.value, steps)) {
        fail(delays.least, "rounds to less than " + one_step(steps),
             "limit it with max(..., " + to_text(steps.step) + "), or with this time as a unit");
    }
    if (rounds_to_more_than_the_most(delays.greatest.value, steps)) {
        fail(delays.greatest, "can be at most 65535 steps of " + to_text(steps.resolution) + " ms",
             "limit it with min(...), or choose a larger resolution");
    }
}

}  // namespace

void check_delays(const Values& delays, const TargetSteps& steps, const std::string& object,
                  const connect::RuleSampler& rule) {
    if (const auto* number = std::get_if<double>(&delays)) return check_single_delay(*number, steps, object);
    if (const auto* array = std::get_if<SharedArray>(&delays)) return check_delays(*array, steps, object, rule);
    if (const auto* expression = std::get_if<ExpressionValues>(&delays)) {
        return check_delays(*expression, steps, object);
    }
    check_delays(std::get<Distribution>(delays), steps, object);
}

std::vector<Step> spike_steps(std::span<const double> times, double resolution, const std::string& population,
                              std::size_t unit) {
    std::vector<Step> steps;
    steps.reserve(times.size());
    const auto object = [&](std::size_t i) {
        return "spike time " + std::to_string(i) + " of unit " + std::to_string(unit) + " of " + quoted(population);
    };
    const auto fail = [&](std::size_t i, std::string bound, std::string remedy) {
        throw ValueOutOfBoundsError({.object = object(i),
                                     .value = to_text(times[i]) + " ms",
                                     .bound = std::move(bound),
                                     .remedy = std::move(remedy)});
    };
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (!std::isfinite(times[i])) fail(i, "it must be finite", "give a time in ms");
        const auto step = steps_on_grid(times[i], resolution);
        if (!step) throw grid_error(times[i], resolution, object(i));
        if (*step < 1) fail(i, "the first spike can be at the end of the first step", "move the spikes to later times");
        if (!steps.empty() && *step < steps.back()) fail(i, "times must ascend", "sort them");
        steps.push_back(*step);
    }
    return steps;
}

void try_sources(const Population& population, double step) {
    const StimulusSpec spec{.name = {},
                            .model = population.model->stimulator,
                            .targets = {NeuronId{}, 1, population.size},
                            .parameters = population.values,
                            .sequences = population.sequences,
                            .delay = step};
    try_stimulus(spec, step, models::greatest_mean_of_sources);
}

std::optional<std::string> conflict_of_sources(const models::StimulatorModel& model,
                                               std::span<const models::GroupValues> parameters, std::size_t size,
                                               std::span<const std::vector<double>> lists) {
    if (model.conflict == nullptr) return std::nullopt;
    const bool uniform = std::ranges::all_of(parameters, [](const auto& values) { return values.uniform(); });
    std::vector<double> one(parameters.size());
    for (std::size_t i = 0; i < (uniform ? 1 : size); ++i) {
        for (std::size_t k = 0; k < one.size(); ++k) one[k] = parameters[k][i];
        if (auto reason = model.conflict(one, lists)) return reason;
    }
    return std::nullopt;
}

void check_step_conflicts(const Network& network) {
    for (const Population& population : network.populations()) {
        const models::NeuronModel& model = *population.model;
        const double step = network.step_of(population);
        if (model.stimulator != nullptr) try_sources(population, step);
        if (!model.has_conflicts()) continue;
        check_conflicts(
            model.parameters, population.values, population.size,
            [&](std::span<const double> parameters) { return model.conflict(parameters, step); },
            "population " + quoted(population.name));
    }
}

std::vector<std::vector<double>> ordered(std::span<const models::SequenceInfo> infos, const Sequences& sequences) {
    std::vector<std::vector<double>> lists;
    lists.reserve(infos.size());
    for (const models::SequenceInfo& info : infos) {
        const auto given = sequences.find(info.name);
        lists.push_back(given == sequences.end() ? std::vector<double>{} : given->second);
    }
    return lists;
}

void try_stimulus(const StimulusSpec& spec, double resolution, double greatest_mean) {
    const bool any_array = std::ranges::any_of(
        spec.parameters, [](const auto& entry) { return std::holds_alternative<SharedArray>(entry.second); });
    const auto size = static_cast<std::size_t>(any_array ? spec.targets.size() : 1);
    if (size == 0) return;
    std::vector<models::GroupValues> parameters;
    for (const models::ParameterInfo& info : spec.model->parameters) {
        const auto given = spec.parameters.find(info.name);
        models::GroupValues values{{info.default_value}};
        if (given != spec.parameters.end()) {
            if (const auto* array = std::get_if<SharedArray>(&given->second)) {
                values.values.assign(array->begin(), array->end());
            } else {
                values.values = {range_of(given->second).first};
            }
        }
        parameters.push_back(std::move(values));
    }
    const std::vector<std::vector<double>> sequences = ordered(spec.model->sequences, spec.sequences);
    (void)spec.model->create({.resolution = resolution,
                              .instruction_set = InstructionSet::baseline,
                              .key = {},
                              .targets = {NeuronId{}, 1, size},
                              .parameters = parameters,
                              .sequences = sequences,
                              .weights = {{1.0}},
                              .delay = connect::round_delay(spec.delay.value_or(resolution), 1.0 / resolution),
                              .greatest_mean = greatest_mean});
}

void try_stimulus(const StimulusSpec& spec, const Population& targets, double step) {
    try {
        try_stimulus(spec, step);
    } catch (const GridError& error) {
        throw GridError(
            {.object = error.fields().object,
             .value = error.fields().value,
             .bound = "it must be a multiple of the step of population " + quoted(targets.name) + ", " + to_text(step) +
                      " ms",
             .remedy = error.fields().remedy + ", or stimulate populations with different steps in separate calls"});
    }
}

void check_weight_bound(double bound, const Values& weight, const std::string& projection) {
    const std::string object = "weight_bound of projection " + quoted(projection);
    if (!(std::isfinite(bound) && bound >= 0.0)) {
        throw ValueOutOfBoundsError({.object = object,
                                     .value = to_text(bound),
                                     .bound = "it must be >= 0 and finite",
                                     .remedy = "leave it at 0 where there is no bound"});
    }
    const auto [least, greatest] = range_of(weight);
    const double largest = std::max(std::abs(least), std::abs(greatest));
    check_magnitude(bound, object);
    if (bound == 0.0 || bound >= largest) return;
    throw ValueOutOfBoundsError({.object = object,
                                 .value = to_text(bound),
                                 .bound = "weights of up to " + to_text(largest) + " can occur",
                                 .remedy = "raise it, or restrict the distribution with low= and high="});
}

void check_weights(const Values& weight, const std::string& projection, const connect::RuleSpec& rule,
                   const connect::RuleSampler& sampler) {
    const std::string object = "weight of projection " + quoted(projection);
    if (std::holds_alternative<SharedArray>(weight) && !sampler.array_length()) {
        throw ShapeError({.object = object,
                          .value = "an array",
                          .bound = "rule " + quoted(rule.name()) + " draws how many synapses a target has",
                          .remedy = "give a number or a distribution, or set the weights after building"});
    }
    check_values(weight, object, sampler.array_length().value_or(0));
    check_magnitudes(weight, object);
}

void check_magnitudes(const Values& weight, const std::string& object) {
    const auto [least, greatest] = range_of(weight);
    check_magnitude(least, object);
    check_magnitude(greatest, object);
}

}  // namespace ranvier::network
