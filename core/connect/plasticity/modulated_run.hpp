#pragma once

#include <cstdint>

#include "connect/plasticity/decay.hpp"
#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/modulation.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect {

/// Additional data of synapses modulated by a transmitter. Steps are relative as in LearnVisit: a pulse that arrives at
/// the synapses in step d meets them at d minus the dendritic delay.
template <class Real>
struct ModulatedArguments {
    const ModulationConstants* constants = nullptr;
    const Concentration* concentration = nullptr;
    const StretchGains* gains = nullptr;
    Decay<double>::View decay;  ///< of the eligibility
    /// Per synapse, after the last pre- or postsynaptic spike that it has learnt from.
    const Real* eligibility = nullptr;
    Real* new_eligibility = nullptr;  ///< the same array; null: not stored
    /// The part of weights beyond their precision; null: 0.
    const Real* remainders = nullptr;
    Real* new_remainders = nullptr;
    std::int32_t seen = 0;  ///< weights include all spikes and pulses up to this step
    bool first = false;  ///< no presynaptic spike has come before
    bool to_end = false;  ///< weights are computed as of the end; otherwise as of the last spike or pulse
    bool bounded = true;
};

/// Lets the synapses of one visit learn.
template <class Real>
void modulated_run(InstructionSet set, const LearnArguments<Real>& arguments, const LearnVisit<Real>& visit,
                   const ModulatedArguments<Real>& modulated);

}  // namespace ranvier::connect
