#pragma once

#include <cstdint>

#include "ranvier/base/ids.hpp"
#include "ranvier/base/random.hpp"

/// Numbers of renewal processes whose intervals are gamma distributed with a mean of 1.
namespace ranvier::models::renewal_process {

/// Bounds of the shape: with smaller ones intervals may be so short that a step cannot hold their spikes; with
/// greater ones all intervals are equal up to rounding.
inline constexpr double least_shape = 0.05;
inline constexpr double greatest_shape = 1e6;

/// The random numbers of one interval of a train.
SequentialRandom numbers_of(RandomKey key, NeuronId train, std::uint32_t interval);

/// A whole interval: gamma distributed with this shape and a mean of 1.
double draw_interval(SequentialRandom& random, double shape);
/// The forward recurrence time: from an arbitrary time to the next event in equilibrium.
double draw_rest(SequentialRandom& random, double shape);

}  // namespace ranvier::models::renewal_process
