#include "connect/plasticity/timed_visit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "connect/plasticity/decay.hpp"
#include "connect/plasticity/learn_block.hpp"
#include "connect/plasticity/spike_history.hpp"

namespace ranvier::connect {

namespace {

using detail::padded;

/// Visits synapses in blocks. The postsynaptic spikes of each synapse are listed; then all synapses process their first
/// one together, then their second one, and so on.
template <class Real>
struct TimedVisit {
    using Arguments = LearnArguments<Real>;
    using Visit = LearnVisit<Real>;
    using Timed = TimedArguments<Real>;
    using History = SpikeHistory<Real>;
    using Bits = typename History::Bits;
    static constexpr std::size_t block = 512;
    static constexpr std::size_t newest = History::newest;
    static constexpr std::size_t presynaptic = 0;
    static constexpr std::size_t postsynaptic = 1;
    static constexpr std::size_t same_side_presynaptic = 2;
    static constexpr std::size_t same_side_postsynaptic = 3;

    RANVIER_ALWAYS_INLINE static void run(InstructionSet set, const Arguments* arguments, const Visit* visit,
                                          const Timed* timed) {
        const Arguments& a = *arguments;
        const Visit& v = *visit;
        const Timed& m = *timed;
        Block b;
        b.set = set;
        for (std::size_t begin = 0; begin < v.count; begin += block) {
            b.count = std::min(block, v.count - begin);
            load(a, v, m, b, begin);
            for (std::size_t i = 0; i < b.count; ++i) list_spikes(a, v, m, b, i);
            std::iota(b.deep.begin(), b.deep.begin() + static_cast<std::ptrdiff_t>(b.count), std::uint16_t{0});
            b.deep_count = b.count;
            for (std::size_t depth = 0; depth < b.depths; ++depth) {
                list_deeper(b, depth);
                learn(a, v, m, b, depth);
                count(a, v, m, b, depth);
            }
            if (a.arrives) arrive(a, v, m, b);
            store(a, v, m, b, begin);
        }
    }

   private:
    template <class T>
    struct alignas(64) Lanes : std::array<T, block + rule_lanes> {};

    /// A postsynaptic spike.
    struct Spike {
        std::int32_t step = History::never;
        Real after = 0;  ///< trace shared by all synapses
        Real same_side = 0;  ///< the same, read by postsynaptic spikes, before this one
    };
    struct Block {
        Lanes<std::uint32_t> targets;
        Lanes<Real> weights;
        std::array<Lanes<Real>, trace_kinds> traces;
        std::array<Lanes<double>, trace_kinds> steps;  ///< per-synapse time constants
        std::array<Lanes<Real>, most_rule_parameters> parameters;
        std::array<Spike, block> before;  ///< the last spike before the listed ones
        Lanes<std::int32_t> counted;  ///< the last one in the postsynaptic traces
        std::vector<Spike> spikes;  ///< of all synapses, oldest first for each
        std::array<std::size_t, block + 1> ends;
        std::array<bool, block> came;  ///< whether one came since the last presynaptic spike
        Lanes<std::uint16_t> deep;  ///< synapses with more spikes than the current depth
        std::size_t deep_count;
        // Of some synapses, while they change:
        Lanes<std::uint16_t> list;
        Lanes<std::int32_t> passed;
        Lanes<double> some_steps;
        Lanes<Real> some_weights;
        Lanes<Real> some_traces;
        Lanes<Real> some_same_side;
        std::array<Lanes<Real>, most_rule_parameters> some_parameters;
        std::size_t depths;
        std::size_t count;
        InstructionSet set;
    };

    /// Steps between two spikes, limited to a number after which no trace is left.
    RANVIER_ALWAYS_INLINE static std::int32_t between(std::int32_t from, std::int32_t to) {
        constexpr std::int64_t most = std::int64_t{1} << 30;
        return static_cast<std::int32_t>(std::min(std::int64_t{to} - from, most));
    }

    static void load(const Arguments& a, const Visit& v, const Timed& m, Block& b, std::size_t begin) {
        const std::size_t width = a.wide_targets ? sizeof(std::uint32_t) : sizeof(std::uint16_t);
        const auto first =
            static_cast<std::size_t>(static_cast<const char*>(v.targets) - static_cast<const char*>(a.first_target)) /
                width +
            begin;
        for (std::size_t i = 0; i < b.count; ++i) {
            b.targets[i] = a.wide_targets ? static_cast<const std::uint32_t*>(v.targets)[begin + i]
                                          : static_cast<const std::uint16_t*>(v.targets)[begin + i];
        }
        find_neurons(a, std::span<std::uint32_t>(b.targets).first(b.count));
        std::copy_n(v.weights + begin, b.count, b.weights.data());
        const PerSynapseRule<Real>& rule = a.rule->per_synapse;
        for (std::size_t k = 0; k < rule.parameter_count; ++k) {
            Real* const to = b.parameters[k].data();
            if (a.parameters[k] != nullptr) {
                std::copy_n(a.parameters[k] + first, b.count, to);
            } else {
                std::fill_n(to, b.count, rule.parameters[k].shared);
            }
        }
        for (std::size_t kind = 0; kind < trace_kinds; ++kind) {
            Real* const to = b.traces[kind].data();
            if (m.traces[kind] != nullptr) {
                std::copy_n(m.traces[kind] + begin, b.count, to);
            } else {
                // Of all synapses, or 1 after each spike.
                std::fill_n(to, b.count, kind == presynaptic && m.time_constants[kind] == nullptr ? v.trace : Real{1});
            }
            if (m.time_constants[kind] == nullptr) continue;
            const Real* const from = m.time_constants[kind] + begin;
            for (std::size_t i = 0; i < b.count; ++i) b.steps[kind][i] = static_cast<double>(from[i]) / m.resolution;
        }
        b.spikes.clear();
        b.ends[0] = 0;
        b.depths = 0;
    }

    /// Lists the postsynaptic spikes up to the end that a synapse must learn from, or add to a trace.
    static void list_spikes(const Arguments& a, const Visit& v, const Timed& m, Block& b, std::size_t i) {
        const History& history = *a.history;
        const bool has_same_side = a.rule->same_side_postsynaptic_traces > 0;
        const std::int32_t known = a.rule->pairing == Pairing::all ? v.learnt : v.since;
        const std::int32_t lower = std::min(known, m.counted);
        const std::size_t begin = b.ends[i];
        b.before[i] = {};
        bool ends = false;
        const auto take = [&](const Spike& spike) {
            ends = spike.step <= lower;
            if (ends) {
                b.before[i] = spike;
            } else if (spike.step <= v.end) {
                b.spikes.push_back(spike);
            }
        };
        std::size_t at = b.targets[i];
        for (std::size_t k = 0; k < newest && !ends; ++k, at += history.neurons()) {
            if (history.steps()[at] == History::never) break;
            take({history.steps()[at], history.traces()[at], has_same_side ? history.same_side(0)[at] : Real{0}});
        }
        const auto* older = ends ? nullptr : history.first_older(b.targets[i]);
        for (; older != nullptr && !ends; older = history.next_older(*older)) {
            take({older->step, older->after, has_same_side ? history.older_same_side(*older, 0) : Real{0}});
        }
        std::reverse(b.spikes.begin() + static_cast<std::ptrdiff_t>(begin), b.spikes.end());
        b.ends[i + 1] = b.spikes.size();
        b.counted[i] = b.before[i].step;
        b.came[i] = b.ends[i + 1] > begin && b.spikes.back().step > v.since;
        b.depths = std::max(b.depths, b.ends[i + 1] - begin);
    }

    /// Keeps the synapses of the previous depth that have another spike. Without branches, which would be
    /// unpredictable.
    RANVIER_ALWAYS_INLINE static void list_deeper(Block& b, std::size_t depth) {
        std::size_t count = 0;
        for (std::size_t k = 0; k < b.deep_count; ++k) {
            const std::uint16_t i = b.deep[k];
            b.deep[count] = i;
            count += b.ends[i] + depth < b.ends[i + std::size_t{1}] ? 1 : 0;
        }
        b.deep_count = count;
    }

    /// Lists the synapses that learn from their n-th spike.
    RANVIER_ALWAYS_INLINE static std::size_t list_learning(const Arguments& a, const Visit& v, Block& b,
                                                           std::size_t n) {
        // Otherwise only from the first one since the last presynaptic spike.
        const bool from_any = a.rule->pairing == Pairing::all || n == 0;
        std::size_t count = 0;
        for (std::size_t k = 0; k < b.deep_count; ++k) {
            const std::uint16_t i = b.deep[k];
            const Spike* const spike = b.spikes.data() + b.ends[i] + n;
            const bool learns = spike->step > v.learnt && (from_any || spike[-1].step <= v.since);
            b.list[count] = i;
            count += learns ? 1 : 0;
        }
        return count;
    }

    /// Decays a trace of each listed synapse over `passed` steps. A separate function, since it is called from several
    /// places, and inlining would multiply the code.
    struct Decayed {
        RANVIER_ALWAYS_INLINE static void run(const Timed* timed, const Decay<Real>::View* shared, Block* block,
                                              std::size_t kind, std::size_t count, Real* traces) {
            const Timed& m = *timed;
            Block& b = *block;
            for (std::size_t j = 0; j < count; ++j) traces[j] = b.traces[kind][b.list[j]];
            if (m.time_constants[kind] == nullptr) {
                for (std::size_t j = 0; j < count; ++j) traces[j] *= (*shared)(b.passed[j]);
                return;
            }
            for (std::size_t j = 0; j < count; ++j) b.some_steps[j] = b.steps[kind][b.list[j]];
            // Without an index, so that it vectorises.
            const double* const steps = b.some_steps.data();
            const std::int32_t* const passed = b.passed.data();
            std::int32_t longest = 0;
            for (std::size_t j = 0; j < count; ++j) longest = std::max(longest, passed[j]);
            if (longest < Decay<Real>::stretch_steps) {
                RANVIER_NO_OVERLAP
                for (std::size_t j = 0; j < count; ++j) traces[j] *= short_decay_of<Real>(steps[j], passed[j]);
                return;
            }
            RANVIER_NO_OVERLAP
            for (std::size_t j = 0; j < count; ++j) traces[j] *= decay_of<Real>(steps[j], passed[j]);
        }
    };
    static void decayed(const Timed& m, const Decay<Real>::View& shared, Block& b, std::size_t kind, std::size_t count,
                        Real* traces) {
        Dispatched<Decayed>::call(b.set, &m, &shared, &b, kind, count, traces);
    }

    RANVIER_ALWAYS_INLINE static void learn(const Arguments& a, const Visit& v, const Timed& m, Block& b,
                                            std::size_t depth) {
        const std::size_t count = list_learning(a, v, b, depth);
        if (count == 0) return;
        const auto spike_of = [&](std::size_t j) -> const Spike& { return b.spikes[b.ends[b.list[j]] + depth]; };
        if (a.rule->same_side_postsynaptic_traces > 0) {
            if (m.time_constants[same_side_postsynaptic] == nullptr) {
                for (std::size_t j = 0; j < count; ++j) b.some_same_side[j] = spike_of(j).same_side;
            } else {
                pass_since_counted(b, count, [&](std::size_t j) { return spike_of(j).step; });
                decayed(m, {}, b, same_side_postsynaptic, count, b.some_same_side.data());
                clear_uncounted(b, count, b.some_same_side.data());
            }
        }
        for (std::size_t j = 0; j < count; ++j) b.passed[j] = between(v.last, spike_of(j).step);
        decayed(m, a.presynaptic, b, presynaptic, count, b.some_traces.data());
        change(a, b, count, true);
    }

    /// Steps from the last spike in a postsynaptic trace.
    template <class StepOf>
    RANVIER_ALWAYS_INLINE static void pass_since_counted(Block& b, std::size_t count, StepOf step_of) {
        for (std::size_t j = 0; j < count; ++j) {
            const std::int32_t last = b.counted[b.list[j]];
            b.passed[j] = last == History::never ? 0 : between(last, step_of(j));
        }
    }
    /// Before the first spike, traces are 0.
    RANVIER_ALWAYS_INLINE static void clear_uncounted(const Block& b, std::size_t count, Real* traces) {
        for (std::size_t j = 0; j < count; ++j) {
            if (b.counted[b.list[j]] == History::never) traces[j] = Real{0};
        }
    }

    /// Changes the weights of the listed synapses, by `some_traces` and `some_same_side`.
    RANVIER_ALWAYS_INLINE static void change(const Arguments& a, Block& b, std::size_t count, bool is_postsynaptic) {
        const PerSynapseRule<Real>& rule = a.rule->per_synapse;
        const std::size_t whole = padded(count);
        std::array<const Real*, most_rule_parameters> parameters = {};
        for (std::size_t k = 0; k < rule.parameter_count; ++k) {
            Real* const to = b.some_parameters[k].data();
            for (std::size_t j = 0; j < count; ++j) to[j] = b.parameters[k][b.list[j]];
            std::fill_n(to + count, whole - count, Real{1});
            parameters[k] = to;
        }
        for (std::size_t j = 0; j < count; ++j) b.some_weights[j] = b.weights[b.list[j]];
        std::fill_n(b.some_weights.data() + count, whole - count, Real{1});
        std::fill_n(b.some_traces.data() + count, whole - count, Real{0});
        std::fill_n(b.some_same_side.data() + count, whole - count, Real{0});
        (is_postsynaptic ? rule.postsynaptic : rule.presynaptic)(b.set, b.some_weights.data(), b.some_traces.data(),
                                                                 b.some_same_side.data(), parameters.data(), whole,
                                                                 rule.constants);
        for (std::size_t j = 0; j < count; ++j) b.weights[b.list[j]] = b.some_weights[j];
    }

    /// Adds spikes to the postsynaptic traces, except one that meets the current presynaptic spike: that does not see
    /// it.
    RANVIER_ALWAYS_INLINE static void count(const Arguments& a, const Visit& v, const Timed& m, Block& b,
                                            std::size_t depth) {
        std::size_t count = 0;
        for (std::size_t k = 0; k < b.deep_count; ++k) {
            const std::uint16_t i = b.deep[k];
            const std::int32_t step = b.spikes[b.ends[i] + depth].step;
            b.list[count] = i;
            count += step > m.counted && step < v.meets ? 1 : 0;
            // Spikes already included.
            if (step <= m.counted && step < v.meets) b.counted[i] = step;
        }
        if (count == 0) return;
        const auto step_of = [&](std::size_t j) { return b.spikes[b.ends[b.list[j]] + depth].step; };
        for (const std::size_t kind : {postsynaptic, same_side_postsynaptic}) {
            if (m.traces[kind] == nullptr) continue;
            pass_since_counted(b, count, step_of);
            decayed(m, a.postsynaptic, b, kind, count, b.some_traces.data());
            clear_uncounted(b, count, b.some_traces.data());
            for (std::size_t j = 0; j < count; ++j) b.traces[kind][b.list[j]] = Real{1} + b.some_traces[j];
        }
        for (std::size_t j = 0; j < count; ++j) b.counted[b.list[j]] = step_of(j);
    }

    RANVIER_ALWAYS_INLINE static void arrive(const Arguments& a, const Visit& v, const Timed& m, Block& b) {
        const std::size_t count = b.count;
        for (std::size_t i = 0; i < count; ++i) b.list[i] = static_cast<std::uint16_t>(i);
        const std::int32_t since_last = m.first ? 0 : between(v.last, v.meets);
        if (a.rule->same_side_presynaptic_traces > 0) {
            if (m.time_constants[same_side_presynaptic] == nullptr) {
                std::fill_n(b.some_same_side.data(), count, v.same_side[0]);
            } else {
                std::fill_n(b.passed.data(), count, since_last);
                decayed(m, {}, b, same_side_presynaptic, count, b.some_same_side.data());
                if (m.first) std::fill_n(b.some_same_side.data(), count, Real{0});
                for (std::size_t i = 0; i < count; ++i)
                    b.traces[same_side_presynaptic][i] = b.some_same_side[i] + Real{1};
            }
        }
        pass_since_counted(b, count, [&](std::size_t) { return v.meets; });
        if (m.time_constants[postsynaptic] == nullptr) {
            for (std::size_t i = 0; i < count; ++i) {
                b.some_traces[i] = last_before(v, b, i).after * a.postsynaptic(b.passed[i]);
            }
        } else {
            decayed(m, {}, b, postsynaptic, count, b.some_traces.data());
        }
        clear_uncounted(b, count, b.some_traces.data());
        const bool restricted = a.rule->pairing == Pairing::restricted;
        for (std::size_t i = 0; restricted && i < count; ++i) {
            if (!b.came[i]) b.some_traces[i] = Real{0};
        }
        change(a, b, count, false);
        if (m.traces[presynaptic] == nullptr) return;
        std::fill_n(b.passed.data(), count, since_last);
        decayed(m, a.presynaptic, b, presynaptic, count, b.some_traces.data());
        const bool centred = a.rule->pairing == Pairing::presynaptic_centred;
        for (std::size_t i = 0; i < count; ++i) {
            const bool is_new = m.first || (centred && b.came[i]);
            b.traces[presynaptic][i] = (is_new ? Real{0} : b.some_traces[i]) + Real{1};
        }
    }

    /// The last postsynaptic spike before the current presynaptic one.
    static const Spike& last_before(const Visit& v, const Block& b, std::size_t i) {
        for (std::size_t at = b.ends[i + 1]; at > b.ends[i]; --at) {
            if (b.spikes[at - 1].step < v.meets) return b.spikes[at - 1];
        }
        return b.before[i];
    }

    static void store(const Arguments& a, const Visit& v, const Timed& m, const Block& b, std::size_t begin) {
        std::copy_n(b.weights.data(), b.count, v.weights + begin);
        for (std::size_t kind = 0; kind < trace_kinds; ++kind) {
            const bool changes = a.arrives || kind == postsynaptic || kind == same_side_postsynaptic;
            if (m.new_traces[kind] == nullptr || !changes) continue;
            std::copy_n(b.traces[kind].data(), b.count, m.new_traces[kind] + begin);
        }
        if (a.greatest != nullptr) {
            for (std::size_t i = 0; i < b.count; ++i) {
                *a.greatest = std::max(*a.greatest, std::bit_cast<Bits>(b.weights[i]) & (~Bits{0} >> 1));
            }
        }
        if (v.inputs == nullptr) return;
        for (std::size_t i = 0; i < b.count; ++i) {
            const std::uint32_t input = a.neurons == nullptr ? b.targets[i] : input_of(a, v, begin + i);
            v.inputs[input] += (static_cast<double>(b.weights[i]) + a.to_grid) - a.to_grid;
        }
    }
};

}  // namespace

template <class Real>
void learn_timed_visit(InstructionSet set, const LearnArguments<Real>& arguments, const LearnVisit<Real>& visit,
                       const TimedArguments<Real>& timed) {
    Dispatched<TimedVisit<Real>>::call(set, set, &arguments, &visit, &timed);
}

template void learn_timed_visit(InstructionSet, const LearnArguments<float>&, const LearnVisit<float>&,
                                const TimedArguments<float>&);
template void learn_timed_visit(InstructionSet, const LearnArguments<double>&, const LearnVisit<double>&,
                                const TimedArguments<double>&);

}  // namespace ranvier::connect
