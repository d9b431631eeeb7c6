#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/instruction_set.hpp"
#include "connect/plasticity/decay.hpp"
#include "connect/plasticity/learning_rule.hpp"
#include "connect/plasticity/spike_history.hpp"

namespace ranvier::connect {

/// What a presynaptic spike does to synapses of one row that have the same delay, or, where there is none, what
/// postsynaptic spikes have done since the last one.
///
/// All steps are those in which neurons fired, relative to the base of the history: a postsynaptic spike of step p meets
/// the presynaptic one of step s at the synapse when p = s + shift, with the axonal less the dendritic part of the delay as
/// the shift.
template <class Real>
struct LearnArguments {
    using History = SpikeHistory<Real>;

    const std::uint16_t* narrow_targets = nullptr;  ///< local indices, in 16 or in 32 bits
    const std::uint32_t* wide_targets = nullptr;
    Real* weights = nullptr;
    std::size_t count = 0;
    std::int32_t learnt = 0;  ///< postsynaptic spikes up to here have been learnt from
    std::int32_t end = 0;  ///< those up to here have come
    std::int32_t last = 0;  ///< where postsynaptic spikes meet the presynaptic one before
    std::int32_t since = 0;  ///< postsynaptic spikes later than this have come after that one
    Real trace = 0;  ///< presynaptic, after that one
    Real left = 0;  ///< of a presynaptic trace, from that one to the present one
    std::array<Real, most_own_traces> own = {};  ///< presynaptic traces that the present one reads
    const Real* synapse_traces = nullptr;  ///< presynaptic, of each synapse, after the one before, if they have any
    Real* new_synapse_traces = nullptr;  ///< the same place, for those after the present one
    std::int32_t meets = 0;  ///< where postsynaptic spikes meet the present one
    bool arrives = true;  ///< whether there is a present one
    const History* history = nullptr;
    typename Decay<Real>::View presynaptic;
    typename Decay<Real>::View postsynaptic;
    const LearningRule<Real>* rule = nullptr;
    double* inputs = nullptr;  ///< of the step in which it arrives at the neurons; null: nothing is added
    double to_grid = 0.0;  ///< what rounds to the grid of the sums when it is added and taken off again
    /// The greatest absolute value of what was added, as bits: grows.
    typename History::Bits* greatest = nullptr;
};

template <class Real>
void learn_run(InstructionSet set, const LearnArguments<Real>& arguments);

/// Synapses that are visited at a time.
inline constexpr std::size_t learn_block = 512;

}  // namespace ranvier::connect
