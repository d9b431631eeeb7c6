#pragma once

#include <cstdint>
#include <memory>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {

/// A rule bound to arbitrary neurons.
struct SelectedRule {
    /// The contiguous ranges of ids that contain the neurons. The sampler uses indices within these, and gives
    /// unselected neurons no partners.
    PairSpace hull;
    std::shared_ptr<RuleSampler> sampler;
    std::uint64_t sources = 0;  ///< number selected; smaller than the range if there are gaps
};

/// Binds a rule to sources and targets whose ids need not be contiguous. The i-th of each, by ascending id, is neuron i
/// of the rule: it draws from all of them together.
/// @param positions of the sources and targets; null without, or where the rule does not need them
/// @throws as RuleInfo::bind
SelectedRule bind_selected(const RuleSpec& spec, const IdSequence& sources, const IdSequence& targets,
                           std::uint64_t seed, ProjectionId projection,
                           std::shared_ptr<const PairPositions> positions = nullptr);

}  // namespace ranvier::connect
