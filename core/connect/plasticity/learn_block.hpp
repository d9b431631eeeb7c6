#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/instruction_set.hpp"
#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/learning_rule.hpp"
#include "connect/plasticity/spike_history.hpp"

namespace ranvier::connect::detail {

constexpr std::size_t padded(std::size_t count) { return (count + rule_lanes - 1) / rule_lanes * rule_lanes; }

/// What is known of synapses while they learn, so many that it stays in the nearest caches.
template <class Real>
struct LearnBlock {
    static constexpr std::size_t block = 512;
    static constexpr std::size_t most_pieces = 64;
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

    Lanes<Real> weights;
    Lanes<Real> trace;  ///< postsynaptic, as the present spike meets it
    Lanes<Real> own;
    Lanes<Real> learning;  ///< weights of those that learn
    Lanes<Real> trace_of_learning;
    Lanes<Real> synapse_traces;
    Lanes<double> added;
    Lanes<std::uint32_t> targets;
    // Where no view is shared:
    Lanes<std::int32_t> first;
    Lanes<std::uint32_t> place;
    Lanes<std::int32_t> since;
    Lanes<std::uint8_t> came;  ///< a postsynaptic spike, since the last presynaptic one
    // By depth: synapses that have to learn from more spikes than this, steps from the last presynaptic spike to the one
    // at this depth, and its place in the history.
    std::array<Lanes<std::uint16_t>, newest + 1> list;
    std::array<Lanes<std::int32_t>, newest + 1> steps;
    std::array<Lanes<std::uint32_t>, newest + 1> at;
    std::array<std::array<std::size_t, most_pieces>, newest + 1> ends;  ///< of pieces
    // Synapses that have to look at older spikes, too.
    Lanes<std::uint16_t> older;
    Lanes<std::uint16_t> piece_of_older;
    std::size_t older_count;
    std::array<Piece, most_pieces> pieces;
    std::size_t piece_count;
    std::size_t count;
    std::uint32_t greatest_place;
    InstructionSet set;
    bool near;  ///< whether one table of decays has all steps
};

}  // namespace ranvier::connect::detail
