#include "ranvier/network/synapse_spec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "base/counted.hpp"
#include "connect/plasticity/decay.hpp"
#include "connect/tables/projection_plan.hpp"
#include "network/network_checks.hpp"
#include "network/value_checks.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::network {

namespace {

constexpr std::string_view axonal_fraction = "axonal_fraction";

std::string name_of(const models::ParameterInfo& info, const SynapseSpec& synapse, const std::string& projection) {
    return "parameter " + std::string(info.name) + " of " + std::string(synapse.model->name) + " of projection " +
           quoted(projection);
}

bool has_arrays(const SynapseSpec& synapse) {
    return std::ranges::any_of(synapse.parameters,
                               [](const auto& given) { return std::holds_alternative<SharedArray>(given.second); });
}

/// Checks that a shared parameter is a number.
void check_shared(const Values& value, const models::ParameterInfo& info, const std::string& object,
                  const models::SynapseModel& model) {
    if (std::holds_alternative<double>(value)) return;
    std::string per_synapse;
    for (const models::ParameterInfo& other : model.parameters) {
        if (other.per_synapse == models::PerSynapse::no) continue;
        per_synapse += (per_synapse.empty() ? "" : ", ") + std::string(other.name);
    }
    const std::string remedy =
        per_synapse.empty() ? "" : "; parameters that may differ between synapses: " + per_synapse;
    throw ValueOutOfBoundsError({.object = object,
                                 .value = std::holds_alternative<Distribution>(value)       ? "a distribution"
                                          : std::holds_alternative<ExpressionValues>(value) ? "an expression"
                                                                                            : "an array",
                                 .bound = "all synapses of a projection share " + std::string(info.name),
                                 .remedy = "give one number, or divide the synapses among projections" + remedy});
}

/// The same for user-defined models, which must accept all combinations of values.
void check_user_fit(const SynapseSpec& synapse, const std::string& projection) {
    std::vector<double> least = synapse.values();
    std::vector<double> greatest = least;
    const std::vector<std::uint32_t> per_synapse = synapse.per_synapse_parameters();
    const std::vector<std::pair<double, double>> ranges = synapse.per_synapse_ranges();
    for (std::size_t k = 0; k < per_synapse.size(); ++k)
        std::tie(least[per_synapse[k]], greatest[per_synapse[k]]) = ranges[k];
    const auto reason = synapse.model->user->conflict(least, greatest, per_synapse);
    if (!reason) return;
    throw ValueOutOfBoundsError(
        {.object = "parameters of " + std::string(synapse.model->name) + " of projection " + quoted(projection),
         .value = "",
         .bound = *reason,
         .remedy = per_synapse.empty() ? "change one of them"
                                       : "change one of them, or restrict the distributions with low= and high="});
}

/// Checks that the parameters of each of some synapses fit together.
void check_fit(const SynapseSpec& synapse, std::uint64_t count, const std::string& projection) {
    if (!synapse.model->has_conflicts()) return;
    if (synapse.model->user != nullptr) return check_user_fit(synapse, projection);
    const auto conflict = [&](std::span<const double> values) {
        std::vector<double> rounded(values.begin(), values.end());
        for (std::size_t i = 0; i < rounded.size(); ++i) {
            const models::ParameterInfo& info = synapse.model->parameters[i];
            const auto given = synapse.parameters.find(info.name);
            if (!info.is_whole || given == synapse.parameters.end() || !is_drawn(given->second)) continue;
            rounded[i] = std::floor(rounded[i] + 0.5);
        }
        return synapse.model->find_conflict(rounded);
    };
    check_conflicts(synapse.model->parameters, synapse.parameters, count, conflict,
                    std::string(synapse.model->name) + " of projection " + quoted(projection));
}

/// The same as below for user-defined models, which calculate time constants from parameters.
void check_user_traces(const SynapseSpec& synapse, std::span<const double> values, double resolution,
                       const std::string& projection) {
    const double most = connect::longest_time_constant * resolution;
    for (const double time_constant : synapse.model->user->time_constants(values)) {
        if (time_constant <= most) continue;
        throw ValueOutOfBoundsError({.object = "time constant of a trace of " + std::string(synapse.model->name) +
                                               " of projection " + quoted(projection),
                                     .value = to_text(time_constant) + " ms",
                                     .bound = "it can be at most a million steps, " + to_text(most) + " ms",
                                     .remedy = "check its unit, or choose a larger resolution"});
    }
}

/// Checks that a trace decays within the largest number of steps.
void check_time_constants(const SynapseSpec& synapse, double resolution, const std::string& projection) {
    const std::vector<double> values = synapse.values();
    if (synapse.model->user != nullptr) return check_user_traces(synapse, values, resolution, projection);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const models::ParameterInfo& info = synapse.model->parameters[i];
        const double most = connect::longest_time_constant * resolution;
        const bool is_delay = info.name.ends_with("_delay");
        if (info.unit != "ms" || is_delay || values[i] <= most) continue;
        throw ValueOutOfBoundsError({.object = name_of(info, synapse, projection),
                                     .value = to_text(values[i]) + " ms",
                                     .bound = "it can be at most a million steps, " + to_text(most) + " ms",
                                     .remedy = "check its unit, or choose a larger resolution"});
    }
}

void check_weights(const SynapseSpec& synapse, const SynapseRanges& ranges, double resolution,
                   const std::string& projection) {
    const auto dynamics = synapse.make_dynamics(resolution);
    const double least = dynamics->least_weight();
    const double greatest = dynamics->greatest_weight();
    const bool below = ranges.least_weight < least;
    if (!below && !(ranges.greatest_weight > greatest)) return;
    throw ValueOutOfBoundsError(
        {.object = "weight of projection " + quoted(projection),
         .value = to_text(below ? ranges.least_weight : ranges.greatest_weight),
         .bound = "weights of " + std::string(synapse.model->name) + " are from " + to_text(least) + " to " +
                  to_text(greatest),
         .remedy = "change the weight or the bounds; restrict a distribution with low= and high="});
}

/// The end of a range that is farther from 0.
double farthest(const std::pair<double, double>& range) {
    return std::abs(range.first) > std::abs(range.second) ? range.first : range.second;
}

/// Checks each weight against the bound of its synapse.
void check_per_synapse_bounds(const SynapseSpec& synapse, std::uint32_t parameter, const Values& weight,
                              const std::string& projection) {
    const models::ParameterInfo& info = synapse.model->parameters[parameter];
    const Values& bounds = synapse.per_synapse_values(parameter);
    const auto [least, greatest] = range_of(bounds);
    if (!std::isfinite(least) || !std::isfinite(greatest) || (least < 0.0 && greatest > 0.0)) {
        throw ValueOutOfBoundsError({.object = name_of(info, synapse, projection),
                                     .value = "from " + to_text(least) + " to " + to_text(greatest),
                                     .bound = "all values must be finite and have one sign",
                                     .remedy = "restrict a distribution with low= and high=, or make two projections"});
    }
    const auto fail = [&](const std::string& where, double value, double bound) {
        throw ValueOutOfBoundsError(
            {.object = "weight" + where + " of projection " + quoted(projection),
             .value = to_text(value),
             .bound = "weights of " + std::string(synapse.model->name) + " lie between 0 and " +
                      std::string(info.name) + " of their synapse, which may be " + to_text(bound),
             .remedy = "change the weight or the bounds; restrict a distribution with low= and high="});
    };
    const auto check = [&](const std::string& where, double value, double bound) {
        if (value < std::min(bound, 0.0) || value > std::max(bound, 0.0)) fail(where, value, bound);
    };
    const auto* const array = std::get_if<SharedArray>(&bounds);
    const auto* const weights = std::get_if<SharedArray>(&weight);
    if (array != nullptr && !is_drawn(weight)) {
        for (std::size_t i = 0; i < array->size(); ++i) {
            check(" (element " + std::to_string(i) + ")", weights != nullptr ? (*weights)[i] : std::get<double>(weight),
                  (*array)[i]);
        }
        return;
    }
    const double nearest = farthest({least, greatest}) == greatest ? least : greatest;
    const auto [least_weight, greatest_weight] = range_of(weight);
    check("", least_weight, nearest);
    check("", greatest_weight, nearest);
}

void check_transmitter(const SynapseSpec& synapse, const std::string& projection) {
    const std::string_view name = synapse.model->transmitter;
    const std::uint64_t neurons = synapse.modulators.size();
    constexpr std::uint64_t most = UINT32_MAX;
    if (name.empty() ? neurons == 0 : neurons > 0 && neurons <= most) return;
    const std::string model(synapse.model->name);
    throw ValueOutOfBoundsError({.object = std::string(name.empty() ? "transmitter" : name) + " of " + model +
                                           " of projection " + quoted(projection),
                                 .value = neurons == 0 ? "no neurons" : counted(neurons, "neuron"),
                                 .bound = name.empty()   ? "this model has no transmitter"
                                          : neurons == 0 ? "there must be neurons whose spikes release it"
                                                         : "there can be at most " + std::to_string(most),
                                 .remedy = name.empty() ? "leave it out"
                                                        : "give the model a population: synapse=rv." + model + "(" +
                                                              std::string(name) + "=population)"});
}

/// The smallest possible value of each parameter, of arrays the smallest other than 0; of bounds of weights the
/// farthest from 0.
std::vector<double> least_values(const SynapseSpec& synapse, std::optional<std::uint32_t> bound) {
    std::vector<double> values = synapse.values();
    for (const std::uint32_t i : synapse.per_synapse_parameters()) {
        if (i == bound) continue;
        const auto* const array = std::get_if<SharedArray>(&synapse.per_synapse_values(i));
        if (array == nullptr) {
            values[i] = range_of(synapse.per_synapse_values(i)).first;
            continue;
        }
        for (const double value : *array) {
            if (value > 0.0) values[i] = std::min(values[i], value);
        }
    }
    return values;
}

void check_changes(const SynapseSpec& synapse, std::span<const models::ChangeSize> changes,
                   std::span<const double> values, bool double_weights, const std::string& projection) {
    // Half of the last bit of a weight just below a power of two.
    const double least = double_weights ? 0x1p-53 : 0x1p-24;
    for (const models::ChangeSize& change : changes) {
        if (!(change.part > 0.0) || change.part >= least) continue;
        const auto info = std::ranges::find(synapse.model->parameters, change.parameter, &models::ParameterInfo::name);
        const auto index = static_cast<std::size_t>(info - synapse.model->parameters.begin());
        throw ValueOutOfBoundsError({.object = name_of(*info, synapse, projection),
                                     .value = to_text(values[index]),
                                     .bound = "a spike would change weights by " + to_text(change.part) +
                                              " of the greatest, which is lost where they are stored in " +
                                              (double_weights ? "double" : "single") +
                                              " precision: it must be at least " + to_text(least),
                                     .remedy = double_weights ? "raise it, or set it to 0"
                                                              : "choose weight_precision=\"double\", or set it to 0"});
    }
}

/// The same for user-defined models.
void check_user_changes(const SynapseSpec& synapse, double greatest_weight, bool double_weights,
                        const std::string& projection) {
    const double least = double_weights ? 0x1p-53 : 0x1p-24;
    const std::array<double, 2> changes =
        synapse.model->user->changes(least_values(synapse, std::nullopt), greatest_weight);
    for (std::size_t side = 0; side < changes.size(); ++side) {
        if (!(changes[side] > 0.0) || changes[side] >= least) continue;
        throw ValueOutOfBoundsError(
            {.object = std::string(side == 0 ? "on_post" : "on_pre") + " of " + std::string(synapse.model->name) +
                       " of projection " + quoted(projection),
             .value = "changes by at most " + to_text(changes[side]) + " of the greatest weight",
             .bound = std::string("smaller changes are lost where weights are stored in ") +
                      (double_weights ? "double" : "single") + " precision: it must be at least " + to_text(least),
             .remedy = double_weights ? "give other values of parameters" : "choose weight_precision=\"double\""});
    }
}

void check_arrays(const SynapseSpec& synapse, const connect::RuleSampler& rule, const std::string& projection) {
    if (!has_arrays(synapse)) return;
    for (const std::uint32_t i : synapse.per_synapse_parameters()) {
        const models::ParameterInfo& info = synapse.model->parameters[i];
        if (!std::holds_alternative<SharedArray>(synapse.per_synapse_values(i))) continue;
        const std::string object = name_of(info, synapse, projection);
        if (!rule.array_length()) {
            throw ShapeError({.object = object,
                              .value = "an array",
                              .bound = "the rule draws how many synapses a target has",
                              .remedy = "give a number or a distribution"});
        }
        check_values(synapse.per_synapse_values(i), info, object, rule.array_length().value_or(0));
    }
    check_fit(synapse, rule.array_length().value_or(0), projection);
}

}  // namespace

double transmitter_delay(const SynapseSpec& synapse) {
    const std::string name = std::string(synapse.model->transmitter) + "_delay";
    const auto info = std::ranges::find(synapse.model->parameters, name, &models::ParameterInfo::name);
    const auto given = synapse.parameters.find(name);
    return given == synapse.parameters.end() ? info->default_value : std::get<double>(given->second);
}

std::uint32_t SynapseSpec::source_of(std::uint32_t parameter) const {
    const models::ParameterInfo& info = model->parameters[parameter];
    if (info.default_parameter.empty() || parameters.contains(info.name)) return parameter;
    const auto source = std::ranges::find(model->parameters, info.default_parameter, &models::ParameterInfo::name);
    return static_cast<std::uint32_t>(source - model->parameters.begin());
}

std::vector<double> SynapseSpec::values() const {
    std::vector<double> values;
    for (std::uint32_t i = 0; model != nullptr && i < model->parameters.size(); ++i) {
        const models::ParameterInfo& info = model->parameters[source_of(i)];
        const auto given = parameters.find(info.name);
        const double value = given == parameters.end() ? info.default_value : farthest(range_of(given->second));
        values.push_back(info.is_whole && is_drawn(given == parameters.end() ? Values(value) : given->second)
                             ? std::floor(value + 0.5)
                             : value);
    }
    return values;
}

std::vector<std::uint32_t> SynapseSpec::per_synapse_parameters() const {
    std::vector<std::uint32_t> indices;
    for (std::uint32_t i = 0; model != nullptr && i < model->parameters.size(); ++i) {
        const auto given = parameters.find(model->parameters[source_of(i)].name);
        if (given != parameters.end() && !std::holds_alternative<double>(given->second)) indices.push_back(i);
    }
    return indices;
}

const Values& SynapseSpec::per_synapse_values(std::uint32_t parameter) const {
    return parameters.find(model->parameters[source_of(parameter)].name)->second;
}

std::vector<std::pair<double, double>> SynapseSpec::per_synapse_ranges() const {
    std::vector<std::pair<double, double>> ranges;
    for (const std::uint32_t parameter : per_synapse_parameters())
        ranges.push_back(range_of(per_synapse_values(parameter)));
    return ranges;
}

std::unique_ptr<connect::SynapseDynamics> SynapseSpec::make_dynamics(double resolution) const {
    std::unique_ptr<connect::SynapseDynamics> made = model->make_dynamics(values(), resolution);
    made->use_per_synapse_parameters(per_synapse_parameters(), per_synapse_ranges());
    return made;
}

void check_parameters(const SynapseSpec& synapse, const std::string& projection) {
    if (synapse.model == nullptr) return;
    check_transmitter(synapse, projection);
    for (const auto& [key, value] : synapse.parameters) {
        const auto info = std::ranges::find(synapse.model->parameters, key, &models::ParameterInfo::name);
        if (info == synapse.model->parameters.end()) {
            std::vector<std::string_view> known;
            for (const models::ParameterInfo& one : synapse.model->parameters) known.push_back(one.name);
            throw unknown_name("parameter of " + std::string(synapse.model->name), key, known);
        }
        const std::string object = name_of(*info, synapse, projection);
        if (info->per_synapse == models::PerSynapse::no) check_shared(value, *info, object, *synapse.model);
        if (!std::holds_alternative<SharedArray>(value)) check_values(value, *info, object, 1);
    }
    if (!has_arrays(synapse)) check_fit(synapse, 1, projection);
}

void check_per_synapse_values(const SynapseSpec& synapse, const connect::RuleSampler& rule, const Values& weight,
                              double resolution, const std::string& projection) {
    check_arrays(synapse, rule, projection);
    if (synapse.is_static()) return;
    const auto bound = synapse.make_dynamics(resolution)->bound_parameter();
    if (!bound || !std::ranges::count(synapse.per_synapse_parameters(), *bound)) return;
    check_per_synapse_bounds(synapse, *bound, weight, projection);
}

void check_synapse(const SynapseSpec& synapse, const SynapseRanges& ranges, double resolution,
                   const std::string& projection) {
    if (synapse.is_static()) return;
    if (synapse.model->learns()) check_time_constants(synapse, resolution, projection);
    check_weights(synapse, ranges, resolution, projection);
    if (!synapse.model->transmitter.empty()) {
        check_delay(transmitter_delay(synapse), resolution,
                    std::string(synapse.model->transmitter) + "_delay of projection " + quoted(projection));
    }
    const auto given = synapse.parameters.find(axonal_fraction);
    const double fraction = given == synapse.parameters.end() ? 0.0 : std::get<double>(given->second);
    if (fraction == 0.0 || fraction == 1.0 || connect::round_delay(ranges.least_delay, 1.0 / resolution) > 1) return;
    throw DelayError({.object = "delay of projection " + quoted(projection),
                      .value = to_text(ranges.least_delay) + " ms",
                      .bound = "one step cannot be divided into an axonal and a dendritic part (axonal_fraction " +
                               to_text(fraction) + ")",
                      .remedy = "raise the delay, or let axonal_fraction be 0 or 1"});
}

void check_changes(const SynapseSpec& synapse, double greatest_weight, bool double_weights,
                   const std::string& projection) {
    if (synapse.is_static()) return;
    if (synapse.model->user != nullptr) return check_user_changes(synapse, greatest_weight, double_weights, projection);
    if (synapse.model->changes == nullptr) return;
    const auto bound = synapse.make_dynamics(0.1)->bound_parameter();
    for (const std::vector<double>& values : {synapse.values(), least_values(synapse, bound)}) {
        check_changes(synapse, synapse.model->changes(values, greatest_weight), values, double_weights, projection);
    }
}

}  // namespace ranvier::network
