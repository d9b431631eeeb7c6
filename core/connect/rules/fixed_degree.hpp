#pragma once

#include <cstdint>
#include <memory>

#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {

/// Common part of fixed_indegree and fixed_outdegree: every major neuron has the same number of uniformly drawn
/// partners.
std::unique_ptr<RuleSampler> bind_fixed_degree(RuleSampler::Major major, const RuleSpec& spec, const PairSpace& pairs,
                                               std::uint64_t seed, ProjectionId projection);

}  // namespace ranvier::connect
