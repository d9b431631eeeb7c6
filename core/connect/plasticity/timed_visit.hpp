#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/learning_rule.hpp"
#include "ranvier/base/instruction_set.hpp"

/// What spikes do to synapses that have time constants of their own: each keeps its traces itself.
namespace ranvier::connect {

/// What such synapses need beside LearnVisit. All arrays begin at the first synapse of the visit, and are by TraceKind.
template <class Real>
struct TimedArguments {
    std::array<const Real*, trace_kinds> time_constants = {};  ///< ms; null: all synapses share it
    double resolution = 0.1;                                   ///< ms
    /// After the last spike that they count, where a synapse keeps them; else null. Only traces of which each synapse has a
    /// time constant of its own, and the presynaptic one where postsynaptic spikes set it back.
    std::array<const Real*, trace_kinds> traces = {};
    std::array<Real*, trace_kinds> new_traces = {};  ///< the same places, or null: nothing is kept
    bool first = false;  ///< no presynaptic spike has come before
    std::int32_t counted = 0;  ///< postsynaptic spikes up to here are in the postsynaptic traces
};

/// Which traces each synapse keeps, by TraceKind. Those that spikes set to 1 need not be kept.
template <class Real>
std::bitset<trace_kinds> timed_traces(const OwnTimes& times, const LearningRule<Real>& rule) {
    std::bitset<trace_kinds> kept;
    const auto keep = [&](TraceKind kind, bool accumulates) {
        kept[static_cast<std::size_t>(kind)] = times.of(kind).has_value() && accumulates;
    };
    keep(TraceKind::presynaptic, rule.presynaptic_trace_accumulates);
    keep(TraceKind::postsynaptic, rule.postsynaptic_trace_accumulates);
    keep(TraceKind::own_presynaptic, true);
    keep(TraceKind::own_postsynaptic, true);
    if (rule.pairing == Pairing::presynaptic_centred) kept[static_cast<std::size_t>(TraceKind::presynaptic)] = true;
    return kept;
}

/// Lets the synapses of a visit learn, all of which have the same delay. @pre visit.delays == nullptr
template <class Real>
void learn_timed_visit(InstructionSet set, const LearnArguments<Real>& arguments, const LearnVisit<Real>& visit,
                       const TimedArguments<Real>& timed);

}  // namespace ranvier::connect
