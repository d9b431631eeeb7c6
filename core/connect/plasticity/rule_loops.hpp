#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "base/type_name.hpp"
#include "connect/plasticity/learning_rule.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect {

namespace detail {

template <class Rule>
inline constexpr std::size_t same_side_presynaptic_traces = [] {
    if constexpr (requires { Rule::same_side_presynaptic_traces; }) {
        return std::size_t{Rule::same_side_presynaptic_traces};
    } else {
        return std::size_t{0};
    }
}();
template <class Rule>
inline constexpr std::size_t same_side_postsynaptic_traces = [] {
    if constexpr (requires { Rule::same_side_postsynaptic_traces; }) {
        return std::size_t{Rule::same_side_postsynaptic_traces};
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

/// Whether the change by a postsynaptic spike takes so long that it is split into two loops.
template <class Rule>
inline constexpr bool has_two_stages = requires { &Rule::first_stage; };

template <class Rule, bool of_postsynaptic_spike>
struct RuleLoop {
    using Real = typename Rule::Real;
    static constexpr std::size_t same_side_traces =
        of_postsynaptic_spike ? same_side_postsynaptic_traces<Rule> : same_side_presynaptic_traces<Rule>;
    static_assert(same_side_traces <= most_same_side_traces);

    RANVIER_ALWAYS_INLINE static void run(Real* weights, const Real* traces, const Real* same_side, std::size_t count,
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
            for (std::size_t i = 0; i < whole; ++i) w[i] = changed(w[i], trace[i], same_side, i, constants);
        }
    }

   private:
    static constexpr std::size_t stage = 8 * rule_lanes;

    /// The out-of-order window of a processor is limited. Two short loops let it process several vectors at once, where
    /// in one long loop each operation would wait for the previous one.
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

    RANVIER_ALWAYS_INLINE static Real changed(Real weight, Real trace, [[maybe_unused]] const Real* same_side,
                                              [[maybe_unused]] std::size_t i,
                                              const typename Rule::Constants& constants) {
        if constexpr (same_side_traces == 0) {
            if constexpr (of_postsynaptic_spike) return Rule::postsynaptic(weight, trace, constants);
            return Rule::presynaptic(weight, trace, constants);
        } else {
            if constexpr (of_postsynaptic_spike) return Rule::postsynaptic(weight, trace, same_side[i], constants);
            return Rule::presynaptic(weight, trace, same_side[i], constants);
        }
    }
};

template <class Rule, bool of_postsynaptic_spike>
void change(InstructionSet set, typename Rule::Real* weights, const typename Rule::Real* traces,
            const typename Rule::Real* same_side, std::size_t count, const void* constants) {
    Dispatched<RuleLoop<Rule, of_postsynaptic_spike>>::call(set, weights, traces, same_side, count,
                                                            static_cast<const typename Rule::Constants*>(constants));
}

/// As RuleLoop, for synapses with per-synapse parameters.
template <class Rule, bool of_postsynaptic_spike>
struct PerSynapseRuleLoop {
    using Real = typename Rule::Real;

    static constexpr std::size_t same_side_traces =
        of_postsynaptic_spike ? same_side_postsynaptic_traces<Rule> : same_side_presynaptic_traces<Rule>;

    RANVIER_ALWAYS_INLINE static void run(Real* weights, const Real* traces, [[maybe_unused]] const Real* same_side,
                                          const Real* const* parameters, std::size_t count) {
        auto* const w = static_cast<Real*>(__builtin_assume_aligned(weights, 64));
        const auto* const trace = static_cast<const Real*>(__builtin_assume_aligned(traces, 64));
        const std::size_t whole = count / rule_lanes * rule_lanes;
        RANVIER_NO_OVERLAP
        for (std::size_t i = 0; i < whole; ++i) {
            const typename Rule::Constants constants = Rule::constants(parameters, i);
            if constexpr (of_postsynaptic_spike && same_side_traces > 0) {
                w[i] = Rule::postsynaptic(w[i], trace[i], same_side[i], constants);
            } else if constexpr (same_side_traces > 0) {
                w[i] = Rule::presynaptic(w[i], trace[i], same_side[i], constants);
            } else if constexpr (of_postsynaptic_spike) {
                w[i] = Rule::postsynaptic(w[i], trace[i], constants);
            } else {
                w[i] = Rule::presynaptic(w[i], trace[i], constants);
            }
        }
    }
};
template <class Rule, bool of_postsynaptic_spike>
void per_synapse_change(InstructionSet set, typename Rule::Real* weights, const typename Rule::Real* traces,
                        const typename Rule::Real* same_side, const typename Rule::Real* const* parameters,
                        std::size_t count, const void* /*constants*/) {
    Dispatched<PerSynapseRuleLoop<Rule, of_postsynaptic_spike>>::call(set, weights, traces, same_side, parameters,
                                                                      count);
}

}  // namespace detail

/// The change by a spike of one side for per-synapse parameters: the rule's `constants(parameters, i)` are those of the
/// i-th synapse.
template <class Rule>
constexpr typename PerSynapseRule<typename Rule::Real>::Change postsynaptic_change_per_synapse{
    detail::per_synapse_change<Rule, true>, type_name<Rule>()};
template <class Rule>
constexpr typename PerSynapseRule<typename Rule::Real>::Change presynaptic_change_per_synapse{
    detail::per_synapse_change<Rule, false>, type_name<Rule>()};

template <class Rule>
PerSynapseRule<typename Rule::Real> make_per_synapse_rule() {
    return {.postsynaptic = postsynaptic_change_per_synapse<Rule>, .presynaptic = presynaptic_change_per_synapse<Rule>};
}

/// The change of all weights by a spike of one side.
template <class Rule>
constexpr typename LearningRule<typename Rule::Real>::Change postsynaptic_change{detail::change<Rule, true>,
                                                                                 type_name<Rule>()};
template <class Rule>
constexpr typename LearningRule<typename Rule::Real>::Change presynaptic_change{detail::change<Rule, false>,
                                                                                type_name<Rule>()};

/// The rule of all weights, from the change of one weight by a spike:
///
///     Real, Constants                           of the precision that weights are stored in
///     postsynaptic(weight, trace, constants)    the weight after a postsynaptic spike; trace of the presynaptic ones
///     presynaptic(weight, trace, constants)     after a presynaptic spike; trace of the postsynaptic ones
///     {pre,post}synaptic_trace_accumulates      whether spikes add to the trace, or set it to 1 (nearest neighbour)
///
/// Optional members:
///
///     pairing                                   which spikes form pairs, if not all
///     same_side_{pre,post}synaptic_traces       number of additional traces, read by spikes of the same side: then that
///                                               function takes their values before the spike after `trace`
///     first_stage(weight, constants)            part of postsynaptic(), a number for
///     second_stage(weight, trace, number, constants)   the rest; two loops are faster if both are long
template <class Rule>
LearningRule<typename Rule::Real> make_learning_rule(const typename Rule::Constants& constants) {
    static_assert(detail::pairing_of<Rule> == Pairing::all || detail::same_side_postsynaptic_traces<Rule> == 0);
    return {.postsynaptic = postsynaptic_change<Rule>,
            .presynaptic = presynaptic_change<Rule>,
            .constants = std::make_shared<const typename Rule::Constants>(constants),
            .constant_bytes = sizeof(typename Rule::Constants),
            .pairing = detail::pairing_of<Rule>,
            .presynaptic_trace_accumulates = Rule::presynaptic_trace_accumulates,
            .postsynaptic_trace_accumulates = Rule::postsynaptic_trace_accumulates,
            .same_side_presynaptic_traces = detail::same_side_presynaptic_traces<Rule>,
            .same_side_postsynaptic_traces = detail::same_side_postsynaptic_traces<Rule>};
}

}  // namespace ranvier::connect
