#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/learning_rule.hpp"
#include "connect/plasticity/spike_history.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::connect::detail {

constexpr std::size_t padded(std::size_t count) { return (count + rule_lanes - 1) / rule_lanes * rule_lanes; }

/// What is known of synapses while they learn, so many that it stays in the nearest caches. What the synapses of one visit
/// have in common is there once for each of them, so that loops go over all synapses of the block, however short rows are.
template <class Real>
struct LearnBlock {
    static constexpr std::size_t block = 512;
    static constexpr std::size_t most_pieces = 128;
    static constexpr std::size_t newest = SpikeHistory<Real>::newest;

    /// Vectors may be filled up behind the last synapse.
    template <class T>
    struct alignas(64) Lanes : std::array<T, block + rule_lanes> {};

    /// Synapses of one visit.
    struct Piece {
        const LearnVisit<Real>* visit;
        std::size_t offset;  ///< in the visit
        std::size_t begin;   ///< in the block
        std::size_t end;
    };
    /// Those that have to learn from more spikes than the depth.
    struct Depth {
        Lanes<std::uint16_t> list;  ///< places in the block
        Lanes<std::int32_t> steps;  ///< from the last presynaptic spike to the one at this depth
        Lanes<std::uint32_t> at;    ///< place of this in the history
        Lanes<Real> row_trace;
        Lanes<Real> weights;
        std::size_t count;
    };

    Lanes<std::uint32_t> targets;  ///< neurons
    Lanes<Real> weights;
    // As LearnVisit has them, for the delay of the synapse:
    Lanes<std::int32_t> learnt;
    Lanes<std::int32_t> last;
    Lanes<std::int32_t> end;    ///< where no view is shared
    Lanes<std::int32_t> meets;  ///< the same
    Lanes<Real> row_trace;  ///< presynaptic, after the spike before
    Lanes<std::uint32_t> slots;  ///< of the ring of inputs, where delays differ
    Lanes<Real> trace;  ///< postsynaptic, as the present spike meets it
    Lanes<Real> own;
    Lanes<Real> trace_of_learning;
    Lanes<double> added;
    // Where synapses have parameters of their own, those of the rule:
    std::array<Lanes<Real>, most_rule_parameters> parameters;
    std::array<Lanes<Real>, most_rule_parameters> parameters_of_learning;
    // Where no view is shared:
    Lanes<std::int32_t> first;
    Lanes<std::uint32_t> place;
    Lanes<std::uint8_t> came;  ///< a postsynaptic spike, since the last presynaptic one
    std::array<Depth, newest + 1> depths;
    // Synapses that have to look at older spikes, too.
    Lanes<std::uint16_t> older;
    std::size_t older_count;
    std::array<Piece, most_pieces> pieces;
    std::size_t piece_count;
    std::size_t count;
    std::uint32_t greatest_place;
    InstructionSet set;
    bool near;  ///< whether one table of decays has all steps
};

}  // namespace ranvier::connect::detail
