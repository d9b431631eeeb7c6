#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/connect/rules/rule.hpp"
#include "ranvier/network/network.hpp"

/// Checks that a network makes of times, weights and stimuli. All throw before anything is changed.
namespace ranvier::network {

/// Ids, and sums of them, stay far from the end of 64 bits.
inline constexpr std::uint64_t most_units = std::uint64_t{1} << 48;

/// Sums of weights must stay far from the end of single precision.
inline constexpr double largest_weight = 1e30;

/// The longest step of a population, in steps of the resolution: inputs of so many wait for it.
inline constexpr Step longest_step = 1024;

/// The steps of the targets of a projection.
struct TargetSteps {
    double resolution = 0.1;  ///< ms
    double step = 0.1;        ///< ms
    Step stride = 1;          ///< steps of the resolution in one of theirs
};

/// The number of steps that a time takes, if it lies on the grid within what rounding may have done to it.
std::optional<Step> steps_on_grid(double milliseconds, double resolution);

/// The error for a time that is not on the grid; `object` names it.
GridError grid_error(double milliseconds, double resolution, std::string object);

/// A name as messages show it. No function, since the compiler would also look for one among those of the namespace of
/// its argument, and prefer std::quoted to it wherever <filesystem> has been read.
struct Quoted {
    std::string operator()(std::string_view name) const;
};
inline constexpr Quoted quoted;

/// Where a list of parameters, variables or sequences of a model has a name.
template <class Infos>
auto find_info(const Infos& infos, std::string_view name) {
    return std::ranges::find_if(infos, [&](const auto& info) { return info.name == name; });
}
template <class Infos>
void append_names(const Infos& infos, std::vector<std::string_view>& names) {
    for (const auto& info : infos) names.push_back(info.name);
}

/// Of a variable, named `object`, that can be recorded and read only.
ValueOutOfBoundsError read_only_variable(const std::string& object);

/// The delay of a stimulus, or of all synapses of a projection, which must lie on the grid.
/// @throws GridError, DelayError when it is under one step or too long for the tables
void check_delay(double delay, double resolution, const std::string& object);

/// Delays of synapses: one for all must be a multiple of the resolution. All are rounded to the nearest step of the targets.
/// @throws GridError, DelayError, ShapeError
void check_delays(const Values& delays, const TargetSteps& steps, const std::string& object,
                  const connect::RuleSampler& rule);

/// @throws ValueOutOfBoundsError, ShapeError
void check_weights(const Values& weight, const std::string& projection, const connect::RuleSpec& rule,
                   const connect::RuleSampler& sampler);

/// @throws ValueOutOfBoundsError for weights whose sums could overflow
void check_magnitudes(const Values& weight, const std::string& object);

/// @throws ValueOutOfBoundsError
void check_weight_bound(double bound, const Values& weight, const std::string& projection);

/// Steps of one unit's spikes. @throws GridError, ValueOutOfBoundsError
std::vector<Step> spike_steps(std::span<const double> times, double resolution, const std::string& population,
                              std::size_t unit);

/// What only the model of a stimulator can check of sources that it draws, as try_stimulus().
void try_sources(const Population& population, double step);

/// Why parameters of sources that a stimulator draws, each one for all or one for each, and lists do not fit together, or
/// nothing.
std::optional<std::string> conflict_of_sources(const models::StimulatorModel& model,
                                               std::span<const models::GroupValues> parameters, std::size_t size,
                                               std::span<const std::vector<double>> lists);

/// Parameters of neurons that only the resolution shows to be out of bounds, those of all neurons.
/// @throws ValueOutOfBoundsError
void check_step_conflicts(const Network& network);

/// Lists of numbers in the order of a stimulator, with empty ones for those that were left out.
std::vector<std::vector<double>> ordered(std::span<const models::SequenceInfo> infos, const Sequences& sequences);

/// Makes a stimulus and drops it, so that what only its model can check, such as times off the grid, is known now.
/// @param greatest_mean see models::StimulusArguments
void try_stimulus(const StimulusSpec& spec, double resolution,
                  double greatest_mean = std::numeric_limits<double>::infinity());
/// The same for targets of a population with another step. @throws GridError that names the population
void try_stimulus(const StimulusSpec& spec, const Population& targets, double step);

}  // namespace ranvier::network
