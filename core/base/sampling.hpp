#pragma once

#include <cstdint>

#include "ranvier/base/random.hpp"

/// Exact samplers of distributions of whole numbers, by which synapses are dealt to groups of neurons, for example. They
/// use only operations that give the same bits on every machine.
namespace ranvier {

/// Greatest number that the samplers accept.
inline constexpr std::uint64_t most_items = std::uint64_t{1} << 62;

/// How many of `trials` independent trials succeed when each does with probability `probability`, in [0, 1].
std::uint64_t draw_binomial(SequentialRandom& random, std::uint64_t trials, double probability);

/// How many of `sample` items, taken without replacement from `good + bad` items, are good.
/// sample <= good + bad <= most_items.
std::uint64_t draw_hypergeometric(SequentialRandom& random, std::uint64_t good, std::uint64_t bad,
                                  std::uint64_t sample);

}  // namespace ranvier
