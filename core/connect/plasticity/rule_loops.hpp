#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "connect/plasticity/learning_rule.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect {

namespace detail {

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

/// Whether what a postsynaptic spike does takes so long that it is done in two loops.
template <class Rule>
inline constexpr bool has_two_stages = requires { &Rule::first_stage; };

template <class Rule, bool of_postsynaptic_spike>
struct RuleLoop {
    using Real = typename Rule::Real;
    static constexpr std::size_t own_traces =
        of_postsynaptic_spike ? own_postsynaptic_traces<Rule> : own_presynaptic_traces<Rule>;
    static_assert(own_traces <= most_own_traces);

    RANVIER_ALWAYS_INLINE static void run(Real* weights, const Real* traces, const Real* own, std::size_t count,
                                          const typename Rule::Constants* given) {
        const typename Rule::Constants constants = *given;
        auto* const w = static_cast<Real*>(__builtin_assume_aligned(weights, 64));
        const auto* const trace = static_cast<const Real*>(__builtin_assume_aligned(traces, 64));
        const std::size_t whole = count / rule_lanes * rule_lanes;
        if constexpr (of_postsynaptic_spike && has_two_stages<Rule>) {
            for (std::size_t begin = 0; begin < whole; begin += stage) {
                run_stages(w + begin, trace + begin, std::min(stage, whole - begin), constants);
            }
        } else {
            RANVIER_NO_OVERLAP
            for (std::size_t i = 0; i < whole; ++i) w[i] = changed(w[i], trace[i], own, i, constants);
        }
    }

   private:
    static constexpr std::size_t stage = 8 * rule_lanes;

    /// A processor looks so many instructions ahead and no further. Two short loops let it work at several vectors at once,
    /// where in one long loop each operation would wait for the one before.
    RANVIER_ALWAYS_INLINE static void run_stages(Real* weights, const Real* traces, std::size_t count,
                                                 const typename Rule::Constants& constants) {
        alignas(64) std::array<Real, stage> values;
        Real* const between = values.data();
        auto* const w = static_cast<Real*>(__builtin_assume_aligned(weights, 64));
        const auto* const trace = static_cast<const Real*>(__builtin_assume_aligned(traces, 64));
        RANVIER_NO_OVERLAP
        for (std::size_t i = 0; i < count; ++i) between[i] = Rule::first_stage(w[i], constants);
        RANVIER_NO_OVERLAP
        for (std::size_t i = 0; i < count; ++i) w[i] = Rule::second_stage(w[i], trace[i], between[i], constants);
    }

    RANVIER_ALWAYS_INLINE static Real changed(Real weight, Real trace, [[maybe_unused]] const Real* own,
                                              [[maybe_unused]] std::size_t i,
                                              const typename Rule::Constants& constants) {
        if constexpr (own_traces == 0) {
            if constexpr (of_postsynaptic_spike) return Rule::postsynaptic(weight, trace, constants);
            return Rule::presynaptic(weight, trace, constants);
        } else {
            if constexpr (of_postsynaptic_spike) return Rule::postsynaptic(weight, trace, {own[i]}, constants);
            return Rule::presynaptic(weight, trace, {own[i]}, constants);
        }
    }
};

template <class Rule, bool of_postsynaptic_spike>
void change(InstructionSet set, typename Rule::Real* weights, const typename Rule::Real* traces,
            const typename Rule::Real* own, std::size_t count, const void* constants) {
    Dispatched<RuleLoop<Rule, of_postsynaptic_spike>>::call(set, weights, traces, own, count,
                                                            static_cast<const typename Rule::Constants*>(constants));
}

/// As RuleLoop, for synapses that have parameters of their own.
template <class Rule, bool of_postsynaptic_spike>
struct OwnRuleLoop {
    using Real = typename Rule::Real;

    static constexpr std::size_t own_traces =
        of_postsynaptic_spike ? own_postsynaptic_traces<Rule> : own_presynaptic_traces<Rule>;

    RANVIER_ALWAYS_INLINE static void run(Real* weights, const Real* traces, [[maybe_unused]] const Real* own,
                                          const Real* const* parameters, std::size_t count) {
        auto* const w = static_cast<Real*>(__builtin_assume_aligned(weights, 64));
        const auto* const trace = static_cast<const Real*>(__builtin_assume_aligned(traces, 64));
        const std::size_t whole = count / rule_lanes * rule_lanes;
        RANVIER_NO_OVERLAP
        for (std::size_t i = 0; i < whole; ++i) {
            const typename Rule::Constants constants = Rule::constants(parameters, i);
            if constexpr (of_postsynaptic_spike && own_traces > 0) {
                w[i] = Rule::postsynaptic(w[i], trace[i], {own[i]}, constants);
            } else if constexpr (own_traces > 0) {
                w[i] = Rule::presynaptic(w[i], trace[i], {own[i]}, constants);
            } else if constexpr (of_postsynaptic_spike) {
                w[i] = Rule::postsynaptic(w[i], trace[i], constants);
            } else {
                w[i] = Rule::presynaptic(w[i], trace[i], constants);
            }
        }
    }
};
template <class Rule, bool of_postsynaptic_spike>
void own_change(InstructionSet set, typename Rule::Real* weights, const typename Rule::Real* traces,
                const typename Rule::Real* own, const typename Rule::Real* const* parameters, std::size_t count,
                const void* /*constants*/) {
    Dispatched<OwnRuleLoop<Rule, of_postsynaptic_spike>>::call(set, weights, traces, own, parameters, count);
}

}  // namespace detail

/// What a spike of one side does to synapses that have parameters of their own: the rule's `constants(parameters, i)` are those
/// of the i-th.
template <class Rule>
constexpr typename OwnRule<typename Rule::Real>::Change postsynaptic_change_per_synapse =
    detail::own_change<Rule, true>;
template <class Rule>
constexpr typename OwnRule<typename Rule::Real>::Change presynaptic_change_per_synapse =
    detail::own_change<Rule, false>;

template <class Rule>
OwnRule<typename Rule::Real> make_own_rule() {
    return {.postsynaptic = postsynaptic_change_per_synapse<Rule>, .presynaptic = presynaptic_change_per_synapse<Rule>};
}

/// What a spike of one side does to all weights.
template <class Rule>
constexpr typename LearningRule<typename Rule::Real>::Change postsynaptic_change = detail::change<Rule, true>;
template <class Rule>
constexpr typename LearningRule<typename Rule::Real>::Change presynaptic_change = detail::change<Rule, false>;

/// The rule of all weights, from what a spike does to one:
///
///     Real, Constants                           of the precision that weights are stored in
///     postsynaptic(weight, trace, constants)    the weight after a postsynaptic spike; trace of the presynaptic ones
///     presynaptic(weight, trace, constants)     after a presynaptic spike; trace of the postsynaptic ones
///     {pre,post}synaptic_trace_accumulates      whether spikes add to the trace, or set it to 1 (nearest neighbour)
///
/// It may also give
///
///     pairing                                   which spikes form pairs, if not all
///     own_{pre,post}synaptic_traces             how many more traces there are, read by spikes of the same side: then
///                                               that function takes these, as they are before the spike, after `trace`
///     first_stage(weight, constants)            part of postsynaptic(), a number for
///     second_stage(weight, trace, number, constants)   the rest; their loops are faster than a single one if both are long
template <class Rule>
LearningRule<typename Rule::Real> make_learning_rule(const typename Rule::Constants& constants) {
    static_assert(detail::pairing_of<Rule> == Pairing::all || detail::own_postsynaptic_traces<Rule> == 0);
    return {.postsynaptic = detail::change<Rule, true>,
            .presynaptic = detail::change<Rule, false>,
            .constants = std::make_shared<const typename Rule::Constants>(constants),
            .pairing = detail::pairing_of<Rule>,
            .presynaptic_trace_accumulates = Rule::presynaptic_trace_accumulates,
            .postsynaptic_trace_accumulates = Rule::postsynaptic_trace_accumulates,
            .own_presynaptic_traces = detail::own_presynaptic_traces<Rule>,
            .own_postsynaptic_traces = detail::own_postsynaptic_traces<Rule>};
}

}  // namespace ranvier::connect
