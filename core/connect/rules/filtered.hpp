#pragma once

#include <memory>
#include <span>
#include <vector>

#include "connect/rules/pair_weights.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {

/// The synapses of another rule that are within a mask, each with the probability of its pair.
/// @param at_most_one whether a neuron has one synapse at most, so that arrays keep their order
std::unique_ptr<RuleSampler> filtered(std::unique_ptr<RuleSampler> rule, PairWeights weights, RandomKey key,
                                      bool at_most_one);

/// Whether each of some synapses, given by the indices of its neurons, is taken; `number` is that of the first.
/// @throws ValueOutOfBoundsError
std::vector<std::uint8_t> taken_of(const PairWeights& weights, RandomStream stream, std::uint32_t number,
                                   std::span<const std::uint64_t> sources, std::span<const std::uint64_t> targets);

}  // namespace ranvier::connect
