#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/instruction_set.hpp"
#include "connect/plasticity/decay.hpp"
#include "connect/plasticity/spike_history.hpp"

namespace ranvier::connect {

/// Which spikes of the two sides a synapse pairs.
enum class Pairing {
    all,  ///< all, or the nearest ones if traces do not accumulate
    /// Only spikes that follow each other: of the postsynaptic spikes between two presynaptic ones, the first is paired
    /// with the presynaptic one before, and the last with that after. Traces must not accumulate.
    restricted,
    /// Each presynaptic spike with the postsynaptic one before it and that after it. So a postsynaptic spike is paired
    /// with all presynaptic ones since the last postsynaptic one: each synapse has a presynaptic trace of its own.
    presynaptic_centred,
};

/// How many traces of its own side a spike reads, beside that of the other side.
template <class Rule>
inline constexpr std::size_t own_presynaptic_traces = [] {
    if constexpr (requires { Rule::own_presynaptic_traces; }) {
        return std::size_t{Rule::own_presynaptic_traces};
    } else {
        return std::size_t{0};
    }
}();
template <class Rule>
inline constexpr std::size_t own_postsynaptic_traces = [] {
    if constexpr (requires { Rule::own_postsynaptic_traces; }) {
        return std::size_t{Rule::own_postsynaptic_traces};
    } else {
        return std::size_t{0};
    }
}();
template <class Rule>
inline constexpr Pairing pairing_of = [] {
    if constexpr (requires { Rule::pairing; }) {
        return Rule::pairing;
    } else {
        return Pairing::all;
    }
}();

template <class Rule>
using HistoryOf = SpikeHistory<typename Rule::Real, own_postsynaptic_traces<Rule>>;

/// What a presynaptic spike does to synapses of one row that have the same delay, or, where there is none, what
/// postsynaptic spikes have done since the last one.
///
/// All steps are those in which neurons fired, relative to the base of the history: a postsynaptic spike of step p meets
/// the presynaptic one of step s at the synapse when p = s + shift, with the axonal less the dendritic part of the delay as
/// the shift.
template <class Rule, class Target>
struct LearnArguments {
    using Real = typename Rule::Real;
    using History = HistoryOf<Rule>;

    const Target* targets = nullptr;
    Real* weights = nullptr;
    std::size_t count = 0;
    std::int32_t learnt = 0;  ///< postsynaptic spikes up to here have been learnt from
    std::int32_t end = 0;  ///< those up to here have come
    std::int32_t last = 0;  ///< where postsynaptic spikes meet the presynaptic one before
    std::int32_t since = 0;  ///< postsynaptic spikes later than this have come after that one
    Real trace = 0;  ///< presynaptic, after that one
    Real left = 0;  ///< of a presynaptic trace, from that one to the present one
    std::array<Real, own_presynaptic_traces<Rule>> own = {};  ///< presynaptic traces that the present one reads
    const Real* synapse_traces = nullptr;  ///< presynaptic, of each synapse, after the one before, if they have any
    Real* new_synapse_traces = nullptr;  ///< the same place, for those after the present one
    std::int32_t meets = 0;  ///< where postsynaptic spikes meet the present one
    bool arrives = true;  ///< whether there is a present one
    const History* history = nullptr;
    typename Decay<Real>::View presynaptic;
    typename Decay<Real>::View postsynaptic;
    const typename Rule::Constants* constants = nullptr;
    double* inputs = nullptr;  ///< of the step in which it arrives at the neurons; null: nothing is added
    double to_grid = 0.0;  ///< what rounds to the grid of the sums when it is added and taken off again
    /// The greatest absolute value of what was added, as bits: grows.
    typename History::Bits* greatest = nullptr;
};

namespace detail {

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

}  // namespace detail

/// Synapses are visited in blocks. For each it is counted how many postsynaptic spikes are to be learnt from; those with at
/// least one are put together, and among them those with at least two, and so on. The deepest go first, so that each
/// synapse learns from its spikes in their order, in loops without branches.
template <class Rule, class Target>
struct LearnRun {
    using Arguments = LearnArguments<Rule, Target>;
    using Real = typename Rule::Real;
    using History = HistoryOf<Rule>;
    static constexpr std::size_t own_traces = own_postsynaptic_traces<Rule>;
    static constexpr Pairing pairing = pairing_of<Rule>;
    static constexpr std::size_t block = 512;
    static constexpr std::size_t newest = History::newest;

    RANVIER_ALWAYS_INLINE static void run(const Arguments* arguments) {
        const Arguments& a = *arguments;
        Block b;
        for (std::size_t begin = 0; begin < a.count; begin += block) {
            const std::size_t count = std::min(block, a.count - begin);
            const Target* const targets = a.targets + begin;
            Real* const weights = a.weights + begin;
            if constexpr (pairing == Pairing::all) {
                look(a, b, targets, count);
            } else {
                look_for_first(a, b, targets, count);
            }
            for (std::size_t i = 0; i < count; ++i) b.weights[i] = weights[i];
            if constexpr (pairing == Pairing::presynaptic_centred) {
                for (std::size_t i = 0; i < count; ++i) b.synapse_traces[i] = a.synapse_traces[begin + i];
            }
            if (b.long_ago > 0) {
                if constexpr (pairing == Pairing::all) {
                    learn_from_older(a, b, targets);
                } else {
                    look_for_older(a, b, targets);
                }
            }
            learn(a, b, targets, count);
            if (a.arrives) {
                arrive(a, b, count);
                if constexpr (pairing == Pairing::presynaptic_centred) keep_traces(a, b, begin, count);
            }
            for (std::size_t i = 0; i < count; ++i) weights[i] = b.weights[i];
            if (a.inputs != nullptr) add(a, b, targets, count);
        }
    }

   private:
    struct Block {
        std::array<Real, block> weights;
        std::array<std::uint8_t, block> place;  ///< of the newest spike to learn from
        std::array<std::uint8_t, block> pending;  ///< how many of the newest are to be learnt from
        std::array<std::int32_t, block> since;  ///< the last postsynaptic spike before the present one
        std::array<Real, block> trace;  ///< after that
        std::array<std::uint16_t, block> older;  ///< synapses that have to look at older spikes, too
        std::size_t long_ago = 0;
        std::array<std::array<std::uint16_t, block>, newest> at_least;
        std::array<std::int32_t, block> steps;
        std::array<Real, block> learning;
        std::array<double, block> added;
        std::array<std::array<Real, block>, own_traces> own;  ///< traces, of what learns
        // If not all spikes are paired:
        std::array<std::uint8_t, pairing == Pairing::all ? 0 : block> came;  ///< a postsynaptic spike, since the last
        std::array<Real, pairing == Pairing::presynaptic_centred ? block : 0> synapse_traces;
        std::array<Real, pairing == Pairing::presynaptic_centred ? block : 0> trace_of_learning;
    };

    RANVIER_ALWAYS_INLINE static void look(const Arguments& a, Block& b, const Target* targets, std::size_t count) {
        const auto* const steps = a.history->steps();
        const auto* const traces = a.history->traces();
        b.long_ago = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const Target target = targets[i];
            const std::int32_t* const at = steps[target].at.data();
            const std::uint32_t later = detail::count_later(at, a.end);
            const std::uint32_t later_than_learnt = detail::count_later(at, a.learnt);
            b.place[i] = static_cast<std::uint8_t>(later);
            b.pending[i] = static_cast<std::uint8_t>(later_than_learnt - std::min(later, later_than_learnt));
            const std::uint32_t before = detail::count_later(at, a.meets - 1);
            const std::uint32_t safe = before & (newest - 1);
            b.since[i] = at[safe];
            b.trace[i] = traces[target].after[safe];
            b.older[b.long_ago] = static_cast<std::uint16_t>(i);
            b.long_ago += (later_than_learnt == newest) | (before == newest) ? 1 : 0;
        }
    }

    /// The same where only the first postsynaptic spike after the last presynaptic one is learnt from.
    RANVIER_ALWAYS_INLINE static void look_for_first(const Arguments& a, Block& b, const Target* targets,
                                                     std::size_t count) {
        const auto* const steps = a.history->steps();
        const auto* const traces = a.history->traces();
        b.long_ago = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const Target target = targets[i];
            const std::int32_t* const at = steps[target].at.data();
            const std::uint32_t later = detail::count_later(at, a.end);
            const std::uint32_t later_than_learnt = detail::count_later(at, a.learnt);
            const std::uint32_t since = detail::count_later(at, a.since);
            b.place[i] = static_cast<std::uint8_t>((since - 1) & (newest - 1));
            b.came[i] = since > later ? 1 : 0;
            b.pending[i] = (since > later) & (since == later_than_learnt) ? 1 : 0;
            const std::uint32_t before = detail::count_later(at, a.meets - 1);
            const std::uint32_t safe = before & (newest - 1);
            b.since[i] = at[safe];
            b.trace[i] = traces[target].after[safe];
            b.older[b.long_ago] = static_cast<std::uint16_t>(i);
            b.long_ago += (since == newest) | (before == newest) ? 1 : 0;
        }
    }

    /// The last postsynaptic spike before the present one, if the newest are all later.
    static void look_before(const Arguments& a, Block& b, std::size_t i, const typename History::Older* spike) {
        while (spike != nullptr && spike->step >= a.meets) spike = a.history->next_older(*spike);
        b.since[i] = spike == nullptr ? History::never : spike->step;
        b.trace[i] = spike == nullptr ? Real{0} : spike->after;
    }

    /// What the newest spikes do not tell of the first one, one synapse after another.
    [[gnu::noinline]] static void look_for_older(const Arguments& a, Block& b, const Target* targets) {
        for (std::size_t k = 0; k < b.long_ago; ++k) {
            const std::size_t i = b.older[k];
            const auto target = static_cast<std::uint32_t>(targets[i]);
            const typename History::Older* const newest_older = a.history->first_older(target);
            const std::int32_t oldest_new = a.history->steps()[target].at[newest - 1];
            if (oldest_new >= a.meets) look_before(a, b, i, newest_older);
            if (oldest_new <= a.since) continue;
            const typename History::Older* first = nullptr;
            bool came = oldest_new <= a.end;
            for (auto* spike = newest_older; spike != nullptr && spike->step > a.since;
                 spike = a.history->next_older(*spike)) {
                first = spike;
                came = came || spike->step <= a.end;
            }
            b.came[i] = came ? 1 : 0;
            if (first == nullptr) continue;
            b.pending[i] = 0;
            if (first->step > a.learnt && first->step <= a.end)
                b.weights[i] = learn_one(a, *first, presynaptic_trace(a, b, i), b.weights[i]);
        }
    }

    RANVIER_ALWAYS_INLINE static Real presynaptic_trace(const Arguments& a, [[maybe_unused]] const Block& b,
                                                        [[maybe_unused]] std::size_t i) {
        if constexpr (pairing == Pairing::presynaptic_centred) {
            return b.synapse_traces[i];
        } else {
            return a.trace;
        }
    }
    static Real learn_one(const Arguments& a, const typename History::Older& spike, Real trace, Real weight) {
        trace *= a.presynaptic(spike.step - a.last);
        if constexpr (own_traces == 0) {
            return Rule::postsynaptic(weight, trace, *a.constants);
        } else {
            return Rule::postsynaptic(weight, trace, spike.own, *a.constants);
        }
    }

    /// What the newest spikes do not tell, one synapse after another.
    [[gnu::noinline]] static void learn_from_older(const Arguments& a, Block& b, const Target* targets) {
        for (std::size_t k = 0; k < b.long_ago; ++k) {
            const std::size_t i = b.older[k];
            const auto target = static_cast<std::uint32_t>(targets[i]);
            const typename History::Older* const first = a.history->first_older(target);
            if (a.history->steps()[target].at[newest - 1] >= a.meets) look_before(a, b, i, first);
            if (a.history->steps()[target].at[newest - 1] > a.learnt)
                b.weights[i] = learn_chain(a, first, b.weights[i]);
        }
    }

    /// From the oldest on, which is the last of the chain.
    static Real learn_chain(const Arguments& a, const typename History::Older* spike, Real weight) {
        std::vector<const typename History::Older*> spikes;
        for (; spike != nullptr && spike->step > a.learnt; spike = a.history->next_older(*spike)) {
            if (spike->step <= a.end) spikes.push_back(spike);
        }
        for (auto one = spikes.rbegin(); one != spikes.rend(); ++one) {
            weight = learn_one(a, **one, a.trace, weight);
        }
        return weight;
    }

    RANVIER_ALWAYS_INLINE static void learn(const Arguments& a, Block& b, const Target* targets, std::size_t count) {
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
        const auto* const steps = a.history->steps();
        for (std::size_t depth = deepest + 1; depth-- > 0;) {
            const std::uint16_t* const list = b.at_least[depth].data();
            const std::size_t some = lengths[depth];
            for (std::size_t j = 0; j < some; ++j) {
                const std::size_t i = list[j];
                b.steps[j] = steps[targets[i]].at[b.place[i] + depth] - a.last;
                b.learning[j] = b.weights[i];
            }
            if constexpr (own_traces > 0) gather_own(a, b, targets, list, some, depth);
            if constexpr (pairing == Pairing::presynaptic_centred) {
                for (std::size_t j = 0; j < some; ++j) b.trace_of_learning[j] = b.synapse_traces[list[j]];
            }
            for (std::size_t j = 0; j < some; ++j) b.learning[j] = learnt(a, b, j);
            for (std::size_t j = 0; j < some; ++j) b.weights[list[j]] = b.learning[j];
        }
    }

    RANVIER_ALWAYS_INLINE static void gather_own(const Arguments& a, Block& b, const Target* targets,
                                                 const std::uint16_t* list, std::size_t some, std::size_t depth) {
        const auto* const own = a.history->own();
        for (std::size_t k = 0; k < own_traces; ++k) {
            for (std::size_t j = 0; j < some; ++j) {
                const std::size_t i = list[j];
                b.own[k][j] = own[targets[i]].before[k][b.place[i] + depth];
            }
        }
    }

    /// The weight of a synapse that learns from a postsynaptic spike.
    RANVIER_ALWAYS_INLINE static Real learnt(const Arguments& a, const Block& b, std::size_t j) {
        Real trace = a.trace;
        if constexpr (pairing == Pairing::presynaptic_centred) trace = b.trace_of_learning[j];
        trace *= a.presynaptic(b.steps[j]);
        if constexpr (own_traces == 0) {
            return Rule::postsynaptic(b.learning[j], trace, *a.constants);
        } else {
            std::array<Real, own_traces> own;
            for (std::size_t k = 0; k < own_traces; ++k) own[k] = b.own[k][j];
            return Rule::postsynaptic(b.learning[j], trace, own, *a.constants);
        }
    }

    RANVIER_ALWAYS_INLINE static void arrive(const Arguments& a, Block& b, std::size_t count) {
        // Of a neuron that has never fired the trace is 0, whatever the number of steps.
        const std::int32_t least = a.meets - (1 << 30);
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t steps = a.meets - std::max(b.since[i], least);
            Real trace = b.trace[i];
            if constexpr (pairing == Pairing::restricted) trace = b.came[i] != 0 ? trace : Real{0};
            trace *= a.postsynaptic(steps);
            if constexpr (own_presynaptic_traces<Rule> == 0) {
                b.weights[i] = Rule::presynaptic(b.weights[i], trace, *a.constants);
            } else {
                b.weights[i] = Rule::presynaptic(b.weights[i], trace, a.own, *a.constants);
            }
        }
    }

    /// A postsynaptic spike sets the presynaptic trace of a synapse back to 0, and the present spike adds 1.
    RANVIER_ALWAYS_INLINE static void keep_traces(const Arguments& a, const Block& b, std::size_t begin,
                                                  std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const Real before = b.came[i] != 0 ? Real{0} : b.synapse_traces[i] * a.left;
            a.new_synapse_traces[begin + i] = before + Real{1};
        }
    }

    RANVIER_ALWAYS_INLINE static void add(const Arguments& a, Block& b, const Target* targets, std::size_t count) {
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

}  // namespace ranvier::connect
