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

/// Checks of times, weights and stimuli of a network. All throw before anything is changed.
namespace ranvier::network {

/// Keeps ids, and sums of them, far below 2^64.
inline constexpr std::uint64_t most_units = std::uint64_t{1} << 48;

/// Keeps sums of weights far below the limit of single precision.
inline constexpr double largest_weight = 1e30;

/// The longest step of a population, in steps of the resolution: inputs of that many steps are buffered.
inline constexpr Step longest_step = 1024;

/// The steps of the targets of a projection.
struct TargetSteps {
    double resolution = 0.1;  ///< ms
    double step = 0.1;        ///< ms
    Step stride = 1;          ///< steps of the resolution in a step of the targets
};

/// A time in steps, if it is on the grid up to rounding.
std::optional<Step> steps_on_grid(double milliseconds, double resolution);

/// The error for a time that is not on the grid; `object` is its name in the error.
GridError grid_error(double milliseconds, double resolution, std::string object);

/// Quotes names in messages. A function object rather than a function, since argument-dependent lookup would prefer
/// std::quoted wherever <filesystem> is included.
struct Quoted {
    std::string operator()(std::string_view name) const;
};
inline constexpr Quoted quoted;

/// The index of a name in a list of parameters, variables or sequences of a model.
template <class Infos>
auto find_info(const Infos& infos, std::string_view name) {
    return std::ranges::find_if(infos, [&](const auto& info) { return info.name == name; });
}
template <class Infos>
void append_names(const Infos& infos, std::vector<std::string_view>& names) {
    for (const auto& info : infos) names.push_back(info.name);
}

/// The error for a variable, named `object`, that can only be recorded and read.
ValueOutOfBoundsError read_only_variable(const std::string& object);

/// Checks the delay of a stimulus, or of all synapses of a projection, which must be on the grid.
/// @throws GridError, DelayError if it is shorter than one step or too long for the tables
void check_delay(double delay, double resolution, const std::string& object);

/// Checks delays of synapses: a common one must be a multiple of the resolution. All are rounded to the nearest step
/// of the targets.
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

/// The steps of the spikes of one unit.
/// @throws GridError, ValueOutOfBoundsError
std::vector<Step> spike_steps(std::span<const double> times, double resolution, const std::string& population,
                              std::size_t unit);

/// Checks sources by constructing their stimulator, as try_stimulus().
void try_sources(const Population& population, double step);

/// Why parameters of sources, each one for all or one for each, and sequences do not fit together; nothing if they
/// do.
std::optional<std::string> conflict_of_sources(const models::StimulatorModel& model,
                                               std::span<const models::GroupValues> parameters, std::size_t size,
                                               std::span<const std::vector<double>> lists);

/// Checks parameters of all neurons for conflicts that depend on the resolution.
/// @throws ValueOutOfBoundsError
void check_step_conflicts(const Network& network);

/// Sequences in the order of a stimulator, with empty ones for those that were not given.
std::vector<std::vector<double>> ordered(std::span<const models::SequenceInfo> infos, const Sequences& sequences);

/// Constructs a stimulus and discards it, so that errors that only its model can find, such as times off the grid,
/// are thrown now.
/// @param greatest_mean see models::StimulusArguments
void try_stimulus(const StimulusSpec& spec, double resolution,
                  double greatest_mean = std::numeric_limits<double>::infinity());
/// The same for targets of a population with another step.
/// @throws GridError with the name of the population
void try_stimulus(const StimulusSpec& spec, const Population& targets, double step);

}  // namespace ranvier::network
