#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "connect/plasticity/learn_block.hpp"
#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/spike_history.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect::detail {

/// Processing of a target's spikes that are older than the newest ones, synapse by synapse.
template <class Real>
struct OlderSpikes {
    using Arguments = LearnArguments<Real>;
    using History = SpikeHistory<Real>;
    using Older = typename History::Older;
    static constexpr std::size_t newest = History::newest;

    /// The last postsynaptic spike before the current one, if the newest are all later.
    [[gnu::noinline]] static void find_before(const Arguments& a, std::uint32_t target, std::int32_t meets,
                                              std::int32_t& since, Real& trace) {
        const Older* spike = a.history->first_older(target);
        while (spike != nullptr && spike->step >= meets) spike = a.history->next_older(*spike);
        since = spike == nullptr ? History::never : spike->step;
        trace = spike == nullptr ? Real{0} : spike->after;
    }

    /// Completes find_first() with older spikes. @param since spikes later than this are learnt from
    [[gnu::noinline]] static void find_first(const Arguments& a, LearnBlock<Real>& b, std::size_t i,
                                             std::int32_t since) {
        const std::uint32_t target = b.targets[i];
        const std::int32_t oldest_new = a.history->steps()[(newest - 1) * a.history->neurons() + target];
        const Older* first = nullptr;
        bool came = oldest_new <= b.end[i];
        for (auto* spike = a.history->first_older(target); spike != nullptr && spike->step > since;
             spike = a.history->next_older(*spike)) {
            first = spike;
            came = came || spike->step <= b.end[i];
        }
        b.came[i] = came ? 1 : 0;
        if (first == nullptr) return;
        b.first[i] = History::never;
        if (first->step > b.learnt[i] && first->step <= b.end[i]) b.weights[i] = learn_one(a, b, i, *first);
    }

    /// Lists synapses whose target's newest spikes have all not arrived yet.
    [[gnu::noinline]] static void list(const Arguments& a, LearnBlock<Real>& b) {
        for (std::size_t i = 0; i < b.count; ++i) {
            const std::uint32_t place = a.view != nullptr ? a.view->place[b.targets[i]] : b.place[i];
            if (place >= newest * a.history->neurons()) b.older[b.older_count++] = static_cast<std::uint16_t>(i);
        }
    }

    [[gnu::noinline]] static void learn(const Arguments& a, LearnBlock<Real>& b) {
        for (std::size_t k = 0; k < b.older_count; ++k) learn_chain(a, b, b.older[k]);
    }

    /// From the oldest on, which is the last of the chain.
    static void learn_chain(const Arguments& a, LearnBlock<Real>& b, std::size_t i) {
        const auto next = [&](const Older* spike) { return a.history->next_older(*spike); };
        const Older* first = a.history->first_older(b.targets[i]);
        const std::int32_t end = a.view != nullptr ? a.view->end : b.end[i];
        while (first != nullptr && first->step > end) first = next(first);
        // A source that has been silent for long leaves thousands of them. Each is traversed once.
        std::vector<const Older*> all;
        for (auto* spike = first; spike != nullptr && spike->step > b.learnt[i]; spike = next(spike)) {
            all.push_back(spike);
        }
        for (std::size_t k = all.size(); k-- > 0;) b.weights[i] = learn_one(a, b, i, *all[k]);
    }

    static Real learn_one(const Arguments& a, const LearnBlock<Real>& b, std::size_t i, const Older& spike) {
        alignas(64) std::array<Real, rule_lanes> weights;
        alignas(64) std::array<Real, rule_lanes> traces;
        alignas(64) std::array<Real, rule_lanes> same_side;
        weights.fill(b.weights[i]);
        traces.fill(b.row_trace[i] * a.presynaptic(spike.step - b.last[i]));
        if (a.rule->same_side_postsynaptic_traces > 0) same_side.fill(a.history->older_same_side(spike, 0));
        if (a.rule->per_synapse.any()) {
            learn_one_per_synapse(a, b, i, weights, traces, same_side);
            return weights[0];
        }
        a.rule->postsynaptic(b.set, weights.data(), traces.data(), same_side.data(), rule_lanes,
                             a.rule->constants.get());
        return weights[0];
    }

    using Copies = std::array<Real, rule_lanes>;

    /// For per-synapse parameters.
    static void learn_one_per_synapse(const Arguments& a, const LearnBlock<Real>& b, std::size_t i, Copies& weights,
                                      const Copies& traces, const Copies& same_side) {
        struct alignas(64) Lane : Copies {};
        std::array<Lane, most_rule_parameters> values;
        std::array<const Real*, most_rule_parameters> parameters = {};
        for (std::size_t k = 0; k < a.rule->per_synapse.parameter_count; ++k) {
            values[k].fill(b.parameters[k][i]);
            parameters[k] = values[k].data();
        }
        a.rule->per_synapse.postsynaptic(b.set, weights.data(), traces.data(), same_side.data(), parameters.data(),
                                         rule_lanes, a.rule->per_synapse.constants);
    }
};

}  // namespace ranvier::connect::detail
