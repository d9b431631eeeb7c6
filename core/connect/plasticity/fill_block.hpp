#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "connect/plasticity/learn_block.hpp"
#include "connect/plasticity/learn_visits.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect::detail {

template <class From, class To>
RANVIER_ALWAYS_INLINE void copy_values(const From* from, std::size_t count, To* to) {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}

/// Loads the synapses of visits into a block, for instruction sets without separate stages.
template <class Real>
struct FillBlock {
    using Arguments = LearnArguments<Real>;
    using Visit = LearnVisit<Real>;
    using Block = LearnBlock<Real>;

    RANVIER_ALWAYS_INLINE static void fill_piece(const Arguments& a, Block& b, const Visit& v, std::size_t offset,
                                                 std::size_t begin, std::size_t count) {
        if (a.wide_targets) {
            copy_values(static_cast<const std::uint32_t*>(v.targets) + offset, count, b.targets.data() + begin);
        } else {
            copy_values(static_cast<const std::uint16_t*>(v.targets) + offset, count, b.targets.data() + begin);
        }
        copy_values(v.weights + offset, count, b.weights.data() + begin);
        for (std::size_t i = begin; i < begin + count; ++i) {
            b.targets[i] -= a.first_neuron;
            b.learnt[i] = v.learnt;
            b.last[i] = v.last;
            b.row_trace[i] = v.trace;
        }
        if (a.view == nullptr) {
            std::fill_n(b.end.data() + begin, count, v.end);
            std::fill_n(b.meets.data() + begin, count, v.meets);
        }
        if (v.synapse_traces != nullptr) copy_values(v.synapse_traces + offset, count, b.row_trace.data() + begin);
        if (v.delays == nullptr) return;
        if (a.wide_delays) {
            copy_values(static_cast<const std::uint16_t*>(v.delays) + offset, count, b.slots.data() + begin);
        } else {
            copy_values(static_cast<const std::uint8_t*>(v.delays) + offset, count, b.slots.data() + begin);
        }
        for (std::size_t i = begin; i < begin + count; ++i) {
            const auto delay = static_cast<std::int32_t>(b.slots[i]);
            b.slots[i] = (v.slot + b.slots[i]) & a.slot_mask;
            b.learnt[i] -= delay;
            b.end[i] -= delay;
            b.last[i] -= delay;
            b.meets[i] -= delay;
        }
    }
    /// Includes shared parameters.
    [[gnu::noinline]] static void fill_parameters(const Arguments& a, Block& b, const Visit& v, std::size_t offset,
                                                  std::size_t begin, std::size_t count) {
        const std::size_t width = a.wide_targets ? sizeof(std::uint32_t) : sizeof(std::uint16_t);
        const auto first =
            static_cast<std::size_t>(static_cast<const char*>(v.targets) - static_cast<const char*>(a.first_target)) /
                width +
            offset;
        for (std::size_t k = 0; k < a.rule->per_synapse.parameter_count; ++k) {
            Real* const to = b.parameters[k].data() + begin;
            if (a.parameters[k] != nullptr) {
                copy_values(a.parameters[k] + first, count, to);
            } else {
                std::fill_n(to, count, a.rule->per_synapse.parameters[k].shared);
            }
        }
    }
};

}  // namespace ranvier::connect::detail
