#pragma once

#include <cstdint>

#include "connect/plasticity/decay.hpp"
#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/modulation.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect {

/// What LearnVisit does not tell of synapses that a transmitter modulates. Steps are told as there: a pulse that
/// arrives at the synapses in step d meets them at d less the dendritic delay.
template <class Real>
struct ModulatedArguments {
    const ModulationConstants* constants = nullptr;
    const Concentration* concentration = nullptr;
    const StretchGains* gains = nullptr;
    Decay<double>::View decay;  ///< of the eligibility
    /// Of each synapse after the last pre- or postsynaptic spike that it has learnt from.
    const Real* eligibility = nullptr;
    Real* new_eligibility = nullptr;  ///< the same place; null: it is not stored
    /// What the weights have beyond their precision; null: nothing.
    const Real* remainders = nullptr;
    Real* new_remainders = nullptr;
    std::int32_t seen = 0;  ///< weights have followed all spikes and pulses up to here
    bool first = false;     ///< no presynaptic spike has come before
    bool to_end = false;    ///< weights are wanted as they are at the end; else as after the last spike or pulse
    bool bounded = true;
};

/// Lets the synapses of one visit learn.
template <class Real>
void modulated_run(InstructionSet set, const LearnArguments<Real>& arguments, const LearnVisit<Real>& visit,
                   const ModulatedArguments<Real>& modulated);

}  // namespace ranvier::connect
