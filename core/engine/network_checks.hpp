#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "connect/rules/rule.hpp"
#include "engine/network.hpp"

/// Checks that a network makes of times, weights and stimuli. All throw before anything is changed.
namespace ranvier::engine {

/// Sums of weights must stay far from the end of single precision.
inline constexpr double largest_weight = 1e30;

/// The number of steps that a time takes, if it lies on the grid within what rounding may have done to it.
std::optional<Step> steps_on_grid(double milliseconds, double resolution);

/// Why a time is refused that is not on the grid.
std::string off_grid(double resolution);

std::string quoted(std::string_view name);

/// @throws DelayError when a constant delay is not on the grid, under one step or too long for the tables
void check_delay(double delay, double resolution, const std::string& object);

/// @throws DelayError, ShapeError
void check_delays(const Values& delays, double resolution, const std::string& object, const connect::RuleSampler& rule);

/// @throws ValueOutOfBoundsError, ShapeError
void check_weights(const Values& weight, const std::string& projection, const connect::RuleSpec& rule,
                   const connect::RuleSampler& sampler);

/// @throws ValueOutOfBoundsError for weights whose sums could overflow
void check_magnitudes(const Values& weight, const std::string& object);

/// @throws ValueOutOfBoundsError
void check_weight_bound(double bound, const Values& weight, const std::string& projection);

/// Steps of one unit's spikes. @throws ValueOutOfBoundsError
std::vector<Step> spike_steps(std::span<const double> times, double resolution, const std::string& population,
                              std::size_t unit);

/// Parameters of neurons that only the resolution shows to be out of bounds, those of all neurons.
/// @throws ValueOutOfBoundsError
void check_step_conflicts(const Network& network);

/// Makes a stimulus and drops it, so that what only its model can check, such as times off the grid, is known now.
void try_stimulus(const StimulusSpec& spec, const Population& targets, double resolution);

}  // namespace ranvier::engine
