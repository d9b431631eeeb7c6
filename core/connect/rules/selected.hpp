#pragma once

#include <cstdint>
#include <memory>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {

/// A rule bound to any neurons.
struct SelectedRule {
    /// The contiguous ranges of ids in which the neurons lie. The sampler speaks of indices within these, and gives neurons
    /// that were not selected no partners.
    PairSpace hull;
    std::shared_ptr<const RuleSampler> sampler;
    std::uint64_t sources = 0;  ///< that were selected; fewer than in the range if there are gaps
};

/// Binds a rule to sources and targets whose ids need not be contiguous. The rule takes the i-th of each, by ascending id,
/// for its neuron i: it draws from all of them together.
/// @throws as RuleInfo::bind
SelectedRule bind_selected(const RuleSpec& spec, const IdSequence& sources, const IdSequence& targets,
                           std::uint64_t seed, ProjectionId projection);

}  // namespace ranvier::connect
