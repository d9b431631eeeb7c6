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

/// What a presynaptic spike does to synapses of one row, or, where there is none, what postsynaptic spikes have done since
/// the last one. If the synapses have different delays, these are all dendritic, and what is told holds for the least of them.
///
/// All steps are those in which neurons fired, relative to the base of the history: a postsynaptic spike of step p meets
/// the presynaptic one of step s at the synapse when p = s + shift, with the axonal less the dendritic part of the delay as
/// the shift.
template <class Real>
struct LearnVisit {
    const void* targets = nullptr;  ///< inputs; see InputLayout
    Real* weights = nullptr;
    std::size_t count = 0;
    const Real* synapse_traces = nullptr;  ///< presynaptic, of each synapse, after the spike before, if they have any
    Real* new_synapse_traces = nullptr;  ///< the same place, for those after the present one
    /// Of each synapse, relative to the least delay: then postsynaptic spikes meet it so many steps earlier. Null: the same.
    const void* delays = nullptr;
    /// Of the step in which it arrives at the neurons, from the first neuron on; null: nothing is added.
    double* inputs = nullptr;
    std::uint32_t slot = 0;  ///< of this step in the ring, which `inputs` is the begin of if delays differ
    std::int32_t learnt = 0;  ///< postsynaptic spikes up to here have been learnt from
    std::int32_t end = 0;  ///< those up to here have come
    std::int32_t last = 0;  ///< where postsynaptic spikes meet the presynaptic one before
    std::int32_t since = 0;  ///< postsynaptic spikes later than this have come after that one
    std::int32_t meets = 0;  ///< where postsynaptic spikes meet the present one
    std::int32_t dendritic = 0;  ///< delay
    Real trace = 0;  ///< presynaptic, after the one before
    Real left = 0;  ///< of a presynaptic trace, from that one to the present one
    std::array<Real, most_own_traces> own = {};  ///< presynaptic traces that the present one reads
};

/// What synapses with the same delay see of their targets when spikes arrive in one step, by local index.
template <class Real>
struct TargetView {
    std::int32_t* first;  ///< step of the newest postsynaptic spike that has come
    std::uint32_t* place;  ///< of that in the history
    Real* trace;  ///< postsynaptic, as a presynaptic spike meets it
    std::int32_t end = 0;  ///< spikes up to here have come
    std::uint32_t greatest_place = 0;  ///< in the history, of any
};

template <class Real>
struct LearnArguments {
    std::span<const LearnVisit<Real>> visits;  ///< of different synapses
    bool wide_targets = false;  ///< 32 bits, not 16
    const std::uint32_t* neurons = nullptr;  ///< of each input, as in the history; null: inputs are numbered as neurons
    std::uint32_t first_neuron = 0;  ///< of the history, if inputs are numbered as neurons
    bool wide_delays = false;  ///< 16 bits, not 8
    std::size_t slot_stride = 0;  ///< of the ring of inputs
    std::uint32_t slot_mask = 0;
    bool arrives = true;  ///< whether there are present spikes
    const SpikeHistory<Real>* history = nullptr;
    typename Decay<Real>::View presynaptic;
    typename Decay<Real>::View postsynaptic;
    const LearningRule<Real>* rule = nullptr;
    const void* first_target = nullptr;  ///< of the table, from which on visits have their targets
    /// Columns of the parameters of the rule that each synapse has a value of its own for; else null.
    std::array<const Real*, most_rule_parameters> parameters = {};
    /// Of all neurons, if `end` and `meets` are the same for all visits; null: each visit looks at its own targets.
    const TargetView<Real>* view = nullptr;
    double to_grid = 0.0;  ///< what rounds to the grid of the sums when it is added and taken off again
    /// The greatest absolute value of what was added, as bits: grows.
    typename SpikeHistory<Real>::Bits* greatest = nullptr;
};

/// The neurons that some targets of a visit are inputs of, as the history numbers them.
template <class Real>
void find_neurons(const LearnArguments<Real>& arguments, std::span<std::uint32_t> targets) {
    if (arguments.neurons == nullptr) {
        for (std::uint32_t& target : targets) target -= arguments.first_neuron;
    } else {
        for (std::uint32_t& target : targets) target = arguments.neurons[target];
    }
}
/// The input that a synapse of a visit reaches.
template <class Real>
std::uint32_t input_of(const LearnArguments<Real>& arguments, const LearnVisit<Real>& visit, std::size_t synapse) {
    return arguments.wide_targets ? static_cast<const std::uint32_t*>(visit.targets)[synapse]
                                  : static_cast<const std::uint16_t*>(visit.targets)[synapse];
}

/// Looks at all neurons for all visits with these values.
template <class Real>
void look_at_targets(InstructionSet set, const LearnArguments<Real>& arguments, std::int32_t end, std::int32_t meets,
                     TargetView<Real>& view);

/// Looks at the targets of some synapses, at most 512: finds the newest spike up to `end`, its place in the history, and what is
/// left of the trace after the last spike before `meets`. @param end of each synapse, and so on
template <class Real>
void look_at_some(InstructionSet set, const LearnArguments<Real>& arguments, const std::uint32_t* targets,
                  const std::int32_t* end, const std::int32_t* meets, std::size_t count, std::int32_t* first,
                  std::uint32_t* place, Real* trace);

/// Lets synapses learn.
template <class Real>
void learn_visits(InstructionSet set, const LearnArguments<Real>& arguments);

}  // namespace ranvier::connect
