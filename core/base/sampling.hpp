#pragma once

#include <cstdint>

#include "ranvier/base/random.hpp"

/// Exact samplers of distributions of whole numbers, for example to distribute synapses over groups of neurons. They
/// use only operations that give the same bits on every machine.
namespace ranvier {

/// Greatest number that the samplers accept.
inline constexpr std::uint64_t most_items = std::uint64_t{1} << 62;

/// The number of successes in `trials` independent trials of probability `probability`, in [0, 1].
std::uint64_t draw_binomial(SequentialRandom& random, std::uint64_t trials, double probability);

/// The number of good items in a sample of `sample` items without replacement from `good + bad` items.
/// @pre sample <= good + bad <= most_items
std::uint64_t draw_hypergeometric(SequentialRandom& random, std::uint64_t good, std::uint64_t bad,
                                  std::uint64_t sample);

}  // namespace ranvier
