#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/instruction_set.hpp"
#include "connect/plasticity/learn_block.hpp"
#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/spike_history.hpp"

namespace ranvier::connect::detail {

/// What the newest spikes of a target do not tell, for one synapse after another.
template <class Real>
struct OlderSpikes {
    using Arguments = LearnArguments<Real>;
    using Visit = LearnVisit<Real>;
    using History = SpikeHistory<Real>;
    using Older = typename History::Older;
    static constexpr std::size_t newest = History::newest;

    /// The last postsynaptic spike before the present one, if the newest are all later.
    [[gnu::noinline]] static void look_before(const Arguments& a, std::uint32_t target, std::int32_t meets,
                                              std::int32_t& since, Real& trace) {
        const Older* spike = a.history->first_older(target);
        while (spike != nullptr && spike->step >= meets) spike = a.history->next_older(*spike);
        since = spike == nullptr ? History::never : spike->step;
        trace = spike == nullptr ? Real{0} : spike->after;
    }

    /// What the newest spikes do not tell of the first one.
    [[gnu::noinline]] static void find_first(const Arguments& a, LearnBlock<Real>& b, std::size_t i, const Visit& v) {
        const std::uint32_t target = b.targets[i];
        const std::int32_t oldest_new = a.history->steps()[(newest - 1) * a.history->neurons() + target];
        const Older* first = nullptr;
        bool came = oldest_new <= v.end;
        for (auto* spike = a.history->first_older(target); spike != nullptr && spike->step > v.since;
             spike = a.history->next_older(*spike)) {
            first = spike;
            came = came || spike->step <= v.end;
        }
        b.came[i] = came ? 1 : 0;
        if (first == nullptr) return;
        b.first[i] = History::never;
        if (first->step > v.learnt && first->step <= v.end) {
            const Real trace = v.synapse_traces != nullptr ? b.synapse_traces[i] : v.trace;
            b.weights[i] = learn_one(a, b.set, v, *first, trace, b.weights[i]);
        }
    }

    [[gnu::noinline]] static void learn(const Arguments& a, LearnBlock<Real>& b) {
        for (std::size_t k = 0; k < b.older_count; ++k) {
            const std::size_t i = b.older[k];
            const Visit& v = *b.pieces[b.piece_of_older[k]].visit;
            b.weights[i] = learn_chain(a, b.set, v, a.history->first_older(b.targets[i]), b.weights[i]);
        }
    }

    /// From the oldest on, which is the last of the chain.
    static Real learn_chain(const Arguments& a, InstructionSet set, const Visit& v, const Older* first, Real weight) {
        const auto next = [&](const Older* spike) { return a.history->next_older(*spike); };
        while (first != nullptr && first->step > v.end) first = next(first);
        std::size_t left = 0;
        for (auto* spike = first; spike != nullptr && spike->step > v.learnt; spike = next(spike)) ++left;
        std::array<const Older*, 64> some;
        while (left > 0) {
            const std::size_t count = std::min(left, some.size());
            left -= count;
            const Older* spike = first;
            for (std::size_t i = 0; i < left; ++i) spike = next(spike);
            for (std::size_t i = 0; i < count; ++i, spike = next(spike)) some[i] = spike;
            for (std::size_t i = count; i-- > 0;) weight = learn_one(a, set, v, *some[i], v.trace, weight);
        }
        return weight;
    }

    static Real learn_one(const Arguments& a, InstructionSet set, const Visit& v, const Older& spike, Real trace,
                          Real weight) {
        alignas(64) std::array<Real, rule_lanes> weights;
        alignas(64) std::array<Real, rule_lanes> traces;
        alignas(64) std::array<Real, rule_lanes> own;
        weights.fill(weight);
        traces.fill(trace * a.presynaptic(spike.step - v.last));
        if (a.rule->own_postsynaptic_traces > 0) own.fill(a.history->older_own(spike, 0));
        a.rule->postsynaptic(set, weights.data(), traces.data(), own.data(), rule_lanes, a.rule->constants.get());
        return weights[0];
    }
};

}  // namespace ranvier::connect::detail
