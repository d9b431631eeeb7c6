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

/// Data of synapses while they learn; the size fits the nearest caches. Values shared by the synapses of one visit are
/// stored once per synapse, so that loops run over all synapses of the block, however short rows are.
template <class Real>
struct LearnBlock {
    static constexpr std::size_t block = 512;
    static constexpr std::size_t most_pieces = 128;
    static constexpr std::size_t least_lanes = 8;  ///< of vectors of AVX-512
    static constexpr std::size_t newest = SpikeHistory<Real>::newest;

    /// Padding after the last synapse allows whole vectors.
    template <class T>
    struct alignas(64) Lanes : std::array<T, block + rule_lanes> {};

    /// Synapses of one visit.
    struct Piece {
        const LearnVisit<Real>* visit;
        std::size_t offset;  ///< in the visit
        std::size_t begin;   ///< in the block
        std::size_t end;
    };
    /// Synapses that must learn from more spikes than the depth.
    struct Depth {
        Lanes<std::uint16_t> list;  ///< places in the block
        Lanes<std::int32_t> steps;  ///< from the last presynaptic spike to the one at this depth
        Lanes<std::uint32_t> at;  ///< place of that spike in the history
        Lanes<Real> row_trace;
        Lanes<Real> weights;
        std::size_t count;
    };

    Lanes<std::uint32_t> targets;  ///< neurons
    Lanes<Real> weights;
    // As in LearnVisit, for the delay of the synapse:
    Lanes<std::int32_t> learnt;
    Lanes<std::int32_t> last;
    Lanes<std::int32_t> end;  ///< if no view is shared
    Lanes<std::int32_t> meets;  ///< the same
    Lanes<Real> row_trace;  ///< presynaptic, after the previous spike
    Lanes<std::uint32_t> slots;  ///< of the ring of inputs, if delays differ
    Lanes<Real> trace;  ///< postsynaptic, at the arrival of the current spike
    Lanes<Real> same_side;
    Lanes<Real> trace_of_learning;
    Lanes<double> added;
    // With per-synapse parameters, those of the rule:
    std::array<Lanes<Real>, most_rule_parameters> parameters;
    std::array<Lanes<Real>, most_rule_parameters> parameters_of_learning;
    /// If a block is listed while it is loaded: a bit of each synapse, by vectors of an instruction set.
    std::array<std::uint16_t, block / least_lanes + 1> listed;
    bool is_listed;
    // Of the synapses of the last list:
    Lanes<std::int32_t> listed_learnt;
    Lanes<std::int32_t> listed_last;
    // If no view is shared:
    Lanes<std::int32_t> first;
    Lanes<std::uint32_t> place;
    Lanes<std::uint8_t> came;  ///< whether a postsynaptic spike came since the last presynaptic one
    std::array<Depth, newest + 1> depths;
    // Synapses that must also process older spikes.
    Lanes<std::uint16_t> older;
    std::size_t older_count;
    std::array<Piece, most_pieces> pieces;
    std::size_t piece_count;
    std::size_t count;
    std::uint32_t greatest_place;
    InstructionSet set;
    bool near;  ///< whether one table of decays covers all steps
};

}  // namespace ranvier::connect::detail
