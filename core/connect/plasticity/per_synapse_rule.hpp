#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "connect/plasticity/learn_block.hpp"
#include "connect/plasticity/learning_rule.hpp"

/// Learning of the synapses of a block with per-synapse parameters.
namespace ranvier::connect::detail {

/// Lets the synapses of a list learn from a postsynaptic spike. @param whole their number padded to whole vectors, for
/// which the list has valid entries
template <class Real>
[[gnu::noinline]] void learn_per_synapse(const PerSynapseRule<Real>& rule, LearnBlock<Real>& b,
                                         typename LearnBlock<Real>::Depth& depth, std::size_t whole) {
    std::array<const Real*, most_rule_parameters> parameters = {};
    for (std::size_t k = 0; k < rule.parameter_count; ++k) {
        Real* const to = b.parameters_of_learning[k].data();
        for (std::size_t j = 0; j < whole; ++j) to[j] = b.parameters[k][depth.list[j]];
        parameters[k] = to;
    }
    rule.postsynaptic(b.set, depth.weights.data(), b.trace_of_learning.data(), b.same_side.data(), parameters.data(),
                      whole, rule.constants);
}

/// Lets all synapses of a block learn from a presynaptic spike.
template <class Real>
[[gnu::noinline]] void arrive_per_synapse(const PerSynapseRule<Real>& rule, LearnBlock<Real>& b, std::size_t whole) {
    std::array<const Real*, most_rule_parameters> parameters = {};
    for (std::size_t k = 0; k < rule.parameter_count; ++k) {
        std::fill_n(b.parameters[k].data() + b.count, whole - b.count, Real{1});
        parameters[k] = b.parameters[k].data();
    }
    rule.presynaptic(b.set, b.weights.data(), b.trace.data(), b.same_side.data(), parameters.data(), whole,
                     rule.constants);
}

}  // namespace ranvier::connect::detail
