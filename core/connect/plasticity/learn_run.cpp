#include "connect/plasticity/learn_run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ranvier::connect {

namespace {

/// How many of eight steps, newest first, are later than a bound.
RANVIER_ALWAYS_INLINE std::uint32_t count_later(const std::int32_t* steps, std::int32_t bound) {
    using Steps [[gnu::vector_size(32)]] = std::int32_t;
    using Marks [[gnu::vector_size(8)]] = std::int8_t;
    Steps some;
    __builtin_memcpy(&some, __builtin_assume_aligned(steps, 32), sizeof some);
    const Marks marks = __builtin_convertvector(some > bound, Marks);
    const auto bits = std::bit_cast<std::uint64_t>(marks);
    return static_cast<std::uint32_t>(((bits & 0x0101010101010101U) * 0x0101010101010101U) >> 56);
}

/// Synapses are visited in blocks. For each it is counted how many postsynaptic spikes are to be learnt from; those with at
/// least one are put together, and among them those with at least two, and so on. The deepest go first, so that each
/// synapse learns from its spikes in their order, in loops without branches.
template <class Real>
struct LearnRun {
    using Arguments = LearnArguments<Real>;
    using History = SpikeHistory<Real>;
    using Older = typename History::Older;
    static constexpr std::size_t block = learn_block;
    static constexpr std::size_t newest = History::newest;

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const Arguments* arguments) {
        const Arguments& a = *arguments;
        const LearningRule<Real>& rule = *a.rule;
        Block b;
        for (std::size_t begin = 0; begin < a.count; begin += block) {
            const std::size_t count = std::min(block, a.count - begin);
            Real* const weights = a.weights + begin;
            const std::uint32_t* const targets = targets_of(a, b, begin, count);
            if (rule.pairing == Pairing::all) {
                look(a, b, targets, count);
            } else {
                look_for_first(a, b, targets, count);
            }
            for (std::size_t i = 0; i < count; ++i) b.weights[i] = weights[i];
            if (a.synapse_traces != nullptr) {
                for (std::size_t i = 0; i < count; ++i) b.synapse_traces[i] = a.synapse_traces[begin + i];
            }
            if (b.long_ago > 0) {
                if (rule.pairing == Pairing::all) {
                    learn_from_older(a, b, targets);
                } else {
                    look_for_older(a, b, targets);
                }
            }
            learn<set>(a, b, targets, count);
            if (a.arrives) {
                arrive<set>(a, b, count);
                if (a.synapse_traces != nullptr) keep_traces(a, b, begin, count);
            }
            for (std::size_t i = 0; i < count; ++i) weights[i] = b.weights[i];
            if (a.inputs != nullptr) add(a, b, targets, count);
        }
    }

   private:
    struct Block {
        alignas(64) std::array<Real, block> weights;
        alignas(64) std::array<Real, block> trace;  ///< postsynaptic, after the last spike before the present one
        alignas(64) std::array<Real, block> learning;  ///< weights of those that learn
        alignas(64) std::array<Real, block> trace_of_learning;
        alignas(64) std::array<Real, block> own;
        std::array<std::uint32_t, block> targets;
        std::array<std::uint8_t, block> place;  ///< of the newest spike to learn from
        std::array<std::uint8_t, block> pending;  ///< how many of the newest are to be learnt from
        std::array<std::int32_t, block> since;  ///< the last postsynaptic spike before the present one
        std::array<std::uint16_t, block> older;  ///< synapses that have to look at older spikes, too
        std::size_t long_ago = 0;
        std::array<std::array<std::uint16_t, block>, newest> at_least;
        std::array<std::int32_t, block> steps;
        std::array<double, block> added;
        // If not all spikes are paired:
        std::array<std::uint8_t, block> came;  ///< a postsynaptic spike, since the last
        std::array<Real, block> synapse_traces;
    };

    static constexpr std::size_t padded(std::size_t count) {
        return (count + rule_lanes - 1) / rule_lanes * rule_lanes;
    }

    RANVIER_ALWAYS_INLINE static const std::uint32_t* targets_of(const Arguments& a, Block& b, std::size_t begin,
                                                                 std::size_t count) {
        if (a.wide_targets != nullptr) return a.wide_targets + begin;
        const std::uint16_t* const narrow = a.narrow_targets + begin;
        for (std::size_t i = 0; i < count; ++i) b.targets[i] = narrow[i];
        return b.targets.data();
    }

    RANVIER_ALWAYS_INLINE static void look(const Arguments& a, Block& b, const std::uint32_t* targets,
                                           std::size_t count) {
        const auto* const steps = a.history->steps();
        const auto* const traces = a.history->traces();
        b.long_ago = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t target = targets[i];
            const std::int32_t* const at = steps[target].at.data();
            const std::uint32_t later = count_later(at, a.end);
            const std::uint32_t later_than_learnt = count_later(at, a.learnt);
            b.place[i] = static_cast<std::uint8_t>(later);
            b.pending[i] = static_cast<std::uint8_t>(later_than_learnt - std::min(later, later_than_learnt));
            const std::uint32_t before = count_later(at, a.meets - 1);
            const std::uint32_t safe = before & (newest - 1);
            b.since[i] = at[safe];
            b.trace[i] = traces[target].after[safe];
            b.older[b.long_ago] = static_cast<std::uint16_t>(i);
            b.long_ago += (later_than_learnt == newest) | (before == newest) ? 1 : 0;
        }
    }

    /// The same where only the first postsynaptic spike after the last presynaptic one is learnt from.
    RANVIER_ALWAYS_INLINE static void look_for_first(const Arguments& a, Block& b, const std::uint32_t* targets,
                                                     std::size_t count) {
        const auto* const steps = a.history->steps();
        const auto* const traces = a.history->traces();
        b.long_ago = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t target = targets[i];
            const std::int32_t* const at = steps[target].at.data();
            const std::uint32_t later = count_later(at, a.end);
            const std::uint32_t later_than_learnt = count_later(at, a.learnt);
            const std::uint32_t since = count_later(at, a.since);
            b.place[i] = static_cast<std::uint8_t>((since - 1) & (newest - 1));
            b.came[i] = since > later ? 1 : 0;
            b.pending[i] = (since > later) & (since == later_than_learnt) ? 1 : 0;
            const std::uint32_t before = count_later(at, a.meets - 1);
            const std::uint32_t safe = before & (newest - 1);
            b.since[i] = at[safe];
            b.trace[i] = traces[target].after[safe];
            b.older[b.long_ago] = static_cast<std::uint16_t>(i);
            b.long_ago += (since == newest) | (before == newest) ? 1 : 0;
        }
    }

    /// The last postsynaptic spike before the present one, if the newest are all later.
    static void look_before(const Arguments& a, Block& b, std::size_t i, const Older* spike) {
        while (spike != nullptr && spike->step >= a.meets) spike = a.history->next_older(*spike);
        b.since[i] = spike == nullptr ? History::never : spike->step;
        b.trace[i] = spike == nullptr ? Real{0} : spike->after;
    }

    /// What the newest spikes do not tell of the first one, one synapse after another.
    [[gnu::noinline]] static void look_for_older(const Arguments& a, Block& b, const std::uint32_t* targets) {
        for (std::size_t k = 0; k < b.long_ago; ++k) {
            const std::size_t i = b.older[k];
            const std::uint32_t target = targets[i];
            const Older* const newest_older = a.history->first_older(target);
            const std::int32_t oldest_new = a.history->steps()[target].at[newest - 1];
            if (oldest_new >= a.meets) look_before(a, b, i, newest_older);
            if (oldest_new <= a.since) continue;
            const Older* first = nullptr;
            bool came = oldest_new <= a.end;
            for (auto* spike = newest_older; spike != nullptr && spike->step > a.since;
                 spike = a.history->next_older(*spike)) {
                first = spike;
                came = came || spike->step <= a.end;
            }
            b.came[i] = came ? 1 : 0;
            if (first == nullptr) continue;
            b.pending[i] = 0;
            if (first->step > a.learnt && first->step <= a.end) {
                const Real trace = a.synapse_traces != nullptr ? b.synapse_traces[i] : a.trace;
                b.weights[i] = learn_one(a, *first, trace, b.weights[i]);
            }
        }
    }

    static Real learn_one(const Arguments& a, const Older& spike, Real trace, Real weight) {
        alignas(64) std::array<Real, rule_lanes> weights;
        alignas(64) std::array<Real, rule_lanes> traces;
        alignas(64) std::array<Real, rule_lanes> own;
        weights.fill(weight);
        traces.fill(trace * a.presynaptic(spike.step - a.last));
        if (a.rule->own_postsynaptic_traces > 0) own.fill(a.history->older_own(spike, 0));
        a.rule->postsynaptic(InstructionSet::baseline, weights.data(), traces.data(), own.data(), rule_lanes,
                             a.rule->constants.get());
        return weights[0];
    }

    /// What the newest spikes do not tell, one synapse after another.
    [[gnu::noinline]] static void learn_from_older(const Arguments& a, Block& b, const std::uint32_t* targets) {
        for (std::size_t k = 0; k < b.long_ago; ++k) {
            const std::size_t i = b.older[k];
            const std::uint32_t target = targets[i];
            const Older* const first = a.history->first_older(target);
            if (a.history->steps()[target].at[newest - 1] >= a.meets) look_before(a, b, i, first);
            if (a.history->steps()[target].at[newest - 1] > a.learnt)
                b.weights[i] = learn_chain(a, first, b.weights[i]);
        }
    }

    /// From the oldest on, which is the last of the chain.
    static Real learn_chain(const Arguments& a, const Older* first, Real weight) {
        const auto next = [&](const Older* spike) { return a.history->next_older(*spike); };
        while (first != nullptr && first->step > a.end) first = next(first);
        std::size_t left = 0;
        for (auto* spike = first; spike != nullptr && spike->step > a.learnt; spike = next(spike)) ++left;
        std::array<const Older*, 64> some;
        while (left > 0) {
            const std::size_t count = std::min(left, some.size());
            left -= count;
            const Older* spike = first;
            for (std::size_t i = 0; i < left; ++i) spike = next(spike);
            for (std::size_t i = 0; i < count; ++i, spike = next(spike)) some[i] = spike;
            for (std::size_t i = count; i-- > 0;) weight = learn_one(a, *some[i], a.trace, weight);
        }
        return weight;
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void learn(const Arguments& a, Block& b, const std::uint32_t* targets,
                                            std::size_t count) {
        std::array<std::size_t, newest> lengths;
        std::size_t length = 0;
        for (std::size_t i = 0; i < count; ++i) {
            b.at_least[0][length] = static_cast<std::uint16_t>(i);
            length += b.pending[i] > 0 ? 1 : 0;
        }
        lengths[0] = length;
        std::size_t deepest = 0;
        while (deepest + 1 < newest && lengths[deepest] > 0) {
            const std::size_t candidates = lengths[deepest];
            ++deepest;
            length = 0;
            for (std::size_t j = 0; j < candidates; ++j) {
                const std::uint16_t i = b.at_least[deepest - 1][j];
                b.at_least[deepest][length] = i;
                length += b.pending[i] > deepest ? 1 : 0;
            }
            lengths[deepest] = length;
        }
        for (std::size_t depth = deepest + 1; depth-- > 0;) {
            if (lengths[depth] > 0) learn_from<set>(a, b, targets, depth, lengths[depth]);
        }
    }

    /// Each of the synapses that have to learn from so many newer spikes learns from the one before these.
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void learn_from(const Arguments& a, Block& b, const std::uint32_t* targets,
                                                 std::size_t depth, std::size_t some) {
        const LearningRule<Real>& rule = *a.rule;
        const auto* const steps = a.history->steps();
        const std::uint16_t* const list = b.at_least[depth].data();
        for (std::size_t j = 0; j < some; ++j) {
            const std::size_t i = list[j];
            b.steps[j] = steps[targets[i]].at[b.place[i] + depth] - a.last;
            b.learning[j] = b.weights[i];
        }
        if (rule.own_postsynaptic_traces > 0) {
            const auto* const own = a.history->own(0);
            for (std::size_t j = 0; j < some; ++j) {
                const std::size_t i = list[j];
                b.own[j] = own[targets[i]].before[b.place[i] + depth];
            }
        }
        if (a.synapse_traces != nullptr) {
            for (std::size_t j = 0; j < some; ++j) {
                b.trace_of_learning[j] = b.synapse_traces[list[j]] * a.presynaptic(b.steps[j]);
            }
        } else {
            for (std::size_t j = 0; j < some; ++j) b.trace_of_learning[j] = a.trace * a.presynaptic(b.steps[j]);
        }
        pad(b.learning.data(), b.trace_of_learning.data(), b.own.data(), some);
        rule.postsynaptic(set, b.learning.data(), b.trace_of_learning.data(), b.own.data(), padded(some),
                          rule.constants.get());
        for (std::size_t j = 0; j < some; ++j) b.weights[list[j]] = b.learning[j];
    }

    /// Fills up vectors with what does no harm.
    RANVIER_ALWAYS_INLINE static void pad(Real* weights, Real* traces, Real* own, std::size_t count) {
        for (std::size_t i = count; i < padded(count); ++i) {
            weights[i] = Real{1};
            traces[i] = Real{0};
            own[i] = Real{0};
        }
    }

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void arrive(const Arguments& a, Block& b, std::size_t count) {
        const LearningRule<Real>& rule = *a.rule;
        // Of a neuron that has never fired the trace is 0, whatever the number of steps.
        const std::int32_t least = a.meets - (1 << 30);
        if (rule.pairing == Pairing::restricted) {
            for (std::size_t i = 0; i < count; ++i) b.trace[i] = b.came[i] != 0 ? b.trace[i] : Real{0};
        }
        for (std::size_t i = 0; i < count; ++i) {
            b.trace[i] *= a.postsynaptic(a.meets - std::max(b.since[i], least));
        }
        if (rule.own_presynaptic_traces > 0) {
            for (std::size_t i = 0; i < count; ++i) b.own[i] = a.own[0];
        }
        pad(b.weights.data(), b.trace.data(), b.own.data(), count);
        rule.presynaptic(set, b.weights.data(), b.trace.data(), b.own.data(), padded(count), rule.constants.get());
    }

    /// A postsynaptic spike sets the presynaptic trace of a synapse back to 0, and the present spike adds 1.
    RANVIER_ALWAYS_INLINE static void keep_traces(const Arguments& a, const Block& b, std::size_t begin,
                                                  std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const Real before = b.came[i] != 0 ? Real{0} : b.synapse_traces[i] * a.left;
            a.new_synapse_traces[begin + i] = before + Real{1};
        }
    }

    RANVIER_ALWAYS_INLINE static void add(const Arguments& a, Block& b, const std::uint32_t* targets,
                                          std::size_t count) {
        // As integers, absolute values are ordered in the same way, and their maximum is found in vectors.
        using Bits = typename History::Bits;
        Bits greatest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const Bits bits = std::bit_cast<Bits>(b.weights[i]) & (~Bits{0} >> 1);
            greatest = greatest < bits ? bits : greatest;
            b.added[i] = (static_cast<double>(b.weights[i]) + a.to_grid) - a.to_grid;
        }
        *a.greatest = std::max(*a.greatest, greatest);
        for (std::size_t i = 0; i < count; ++i) a.inputs[targets[i]] += b.added[i];
    }
};

}  // namespace

template <class Real>
void learn_run(InstructionSet set, const LearnArguments<Real>& arguments) {
    Dispatched<LearnRun<Real>>::call(set, &arguments);
}

template void learn_run(InstructionSet, const LearnArguments<float>&);
template void learn_run(InstructionSet, const LearnArguments<double>&);

}  // namespace ranvier::connect
