#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/learning_rule.hpp"
#include "ranvier/base/instruction_set.hpp"

/// The effect of spikes on synapses with per-synapse time constants: each has separate traces.
namespace ranvier::connect {

/// Additional arguments of such synapses. All arrays start at the first synapse of the visit, and are by TraceKind.
template <class Real>
struct TimedArguments {
    std::array<const Real*, trace_kinds> time_constants = {};  ///< ms; null if shared by all synapses
    double resolution = 0.1;                                   ///< ms
    /// Traces after the last spike included in them, where stored per synapse; otherwise null. Only traces with
    /// per-synapse time constants, and the presynaptic one if postsynaptic spikes reset it.
    std::array<const Real*, trace_kinds> traces = {};
    std::array<Real*, trace_kinds> new_traces = {};  ///< the same arrays, or null: not stored
    bool first = false;  ///< no presynaptic spike has come before
    std::int32_t counted = 0;  ///< postsynaptic traces include the spikes up to this step
};

/// The traces stored per synapse, by TraceKind. Traces that spikes set to 1 need not be stored.
template <class Real>
std::bitset<trace_kinds> timed_traces(const PerSynapseTimes& times, const LearningRule<Real>& rule) {
    std::bitset<trace_kinds> kept;
    const auto keep = [&](TraceKind kind, bool accumulates) {
        kept[static_cast<std::size_t>(kind)] = times.of(kind).has_value() && accumulates;
    };
    keep(TraceKind::presynaptic, rule.presynaptic_trace_accumulates);
    keep(TraceKind::postsynaptic, rule.postsynaptic_trace_accumulates);
    keep(TraceKind::same_side_presynaptic, true);
    keep(TraceKind::same_side_postsynaptic, true);
    if (rule.pairing == Pairing::presynaptic_centred) kept[static_cast<std::size_t>(TraceKind::presynaptic)] = true;
    return kept;
}

/// Lets the synapses of a visit learn, which must have the same delay. @pre visit.delays == nullptr
template <class Real>
void learn_timed_visit(InstructionSet set, const LearnArguments<Real>& arguments, const LearnVisit<Real>& visit,
                       const TimedArguments<Real>& timed);

}  // namespace ranvier::connect
