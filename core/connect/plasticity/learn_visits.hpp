#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "connect/plasticity/decay.hpp"
#include "connect/plasticity/learning_rule.hpp"
#include "connect/plasticity/spike_history.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect {

/// The effect of a presynaptic spike on synapses of one row or, without one, of the postsynaptic spikes since the last
/// presynaptic one. If the synapses have different delays, these are all dendritic, and the values here hold for the
/// shortest.
///
/// All steps are those in which neurons fired, relative to the base of the history: a postsynaptic spike of step p
/// meets the presynaptic one of step s at the synapse when p = s + shift, where the shift is the axonal minus the
/// dendritic part of the delay.
template <class Real>
struct LearnVisit {
    const void* targets = nullptr;  ///< inputs; see InputLayout
    Real* weights = nullptr;
    std::size_t count = 0;
    /// Presynaptic, per synapse, after the previous spike; null without per-synapse traces.
    const Real* synapse_traces = nullptr;
    Real* new_synapse_traces = nullptr;  ///< the same array, for the traces after the current spike
    /// Per synapse, relative to the shortest delay: postsynaptic spikes meet it so many steps earlier. Null: equal
    /// delays.
    const void* delays = nullptr;
    /// Inputs of the step of arrival, from the first neuron on; null: nothing is added.
    double* inputs = nullptr;
    std::uint32_t slot = 0;  ///< of this step in the ring, which starts at `inputs` if delays differ
    std::int32_t learnt = 0;  ///< postsynaptic spikes up to this step have been processed
    std::int32_t end = 0;  ///< postsynaptic spikes up to this step have arrived
    std::int32_t last = 0;  ///< step at which postsynaptic spikes meet the previous presynaptic one
    std::int32_t since = 0;  ///< postsynaptic spikes later than this have arrived after that one
    std::int32_t meets = 0;  ///< step at which postsynaptic spikes meet the current presynaptic one
    std::int32_t dendritic = 0;  ///< delay
    Real trace = 0;  ///< presynaptic, after the previous spike
    Real left = 0;  ///< decay factor of a presynaptic trace, from the previous to the current spike
    std::array<Real, most_same_side_traces> same_side = {};  ///< presynaptic traces read by the current spike
};

/// State of the targets, by local index, at the arrival of spikes in one step, for synapses with the same delay.
template <class Real>
struct TargetView {
    std::int32_t* first;  ///< step of the newest postsynaptic spike that has arrived
    std::uint32_t* place;  ///< of that spike in the history
    Real* trace;  ///< postsynaptic, at the arrival of a presynaptic spike
    std::int32_t end = 0;  ///< spikes up to this step have arrived
    std::uint32_t greatest_place = 0;  ///< greatest place of any neuron in the history
};

template <class Real>
struct LearnArguments {
    std::span<const LearnVisit<Real>> visits;  ///< of different synapses
    bool wide_targets = false;  ///< 32 bits, not 16
    /// Of each input, as in the history; null: inputs are numbered like neurons.
    const std::uint32_t* neurons = nullptr;
    std::uint32_t first_neuron = 0;  ///< of the history, if inputs are numbered like neurons
    bool wide_delays = false;  ///< 16 bits, not 8
    std::size_t slot_stride = 0;  ///< of the ring of inputs
    std::uint32_t slot_mask = 0;
    bool arrives = true;  ///< whether presynaptic spikes arrive
    const SpikeHistory<Real>* history = nullptr;
    typename Decay<Real>::View presynaptic;
    typename Decay<Real>::View postsynaptic;
    const LearningRule<Real>* rule = nullptr;
    const void* first_target = nullptr;  ///< of the table; start of the targets of visits
    /// Columns of the per-synapse parameters of the rule; null for shared ones.
    std::array<const Real*, most_rule_parameters> parameters = {};
    /// Of all neurons, if `end` and `meets` are the same for all visits; null: each visit looks up its targets.
    const TargetView<Real>* view = nullptr;
    double to_grid = 0.0;  ///< adding and subtracting it rounds to the grid of the sums
    /// The greatest absolute value that was added, as bits; only grows.
    typename SpikeHistory<Real>::Bits* greatest = nullptr;
};

/// The neurons, as numbered by the history, of some targets of a visit.
template <class Real>
void find_neurons(const LearnArguments<Real>& arguments, std::span<std::uint32_t> targets) {
    if (arguments.neurons == nullptr) {
        for (std::uint32_t& target : targets) target -= arguments.first_neuron;
    } else {
        for (std::uint32_t& target : targets) target = arguments.neurons[target];
    }
}
/// The input reached by a synapse of a visit.
template <class Real>
std::uint32_t input_of(const LearnArguments<Real>& arguments, const LearnVisit<Real>& visit, std::size_t synapse) {
    return arguments.wide_targets ? static_cast<const std::uint32_t*>(visit.targets)[synapse]
                                  : static_cast<const std::uint16_t*>(visit.targets)[synapse];
}

/// Looks up all neurons, for visits with these values.
template <class Real>
void look_up_targets(InstructionSet set, const LearnArguments<Real>& arguments, std::int32_t end, std::int32_t meets,
                     TargetView<Real>& view);

/// Looks up the targets of some synapses, at most 512: the newest spike up to `end`, its place in the history, and the
/// rest of the trace after the last spike before `meets`. @param end per synapse, as the following ones
template <class Real>
void look_up_some(InstructionSet set, const LearnArguments<Real>& arguments, const std::uint32_t* targets,
                  const std::int32_t* end, const std::int32_t* meets, std::size_t count, std::int32_t* first,
                  std::uint32_t* place, Real* trace);

/// Lets synapses learn.
template <class Real>
void learn_visits(InstructionSet set, const LearnArguments<Real>& arguments);

}  // namespace ranvier::connect
