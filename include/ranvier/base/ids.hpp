#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ranvier {

/// An integer that identifies one kind of thing. Two kinds do not convert into each other, so that a neuron's global id
/// cannot be passed where its index on a shard is expected.
template <class Tag, class Representation>
struct StrongId {
    using representation = Representation;

    Representation value{};

    constexpr StrongId() = default;
    constexpr explicit StrongId(Representation v) : value(v) {}

    friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

/// Global id of a neuron (or of a unit of a source population): counted from 0 in the order of creation.
using NeuronId = StrongId<struct NeuronIdTag, std::uint64_t>;
/// Index of a neuron among all neurons of one shard.
using LocalIndex = StrongId<struct LocalIndexTag, std::uint32_t>;
/// Index of a shard, the part of the network that one worker thread owns.
using ShardId = StrongId<struct ShardIdTag, std::uint32_t>;
/// Index of a process.
using Rank = StrongId<struct RankTag, std::int32_t>;
/// Index of a population in its network, in the order of creation.
using PopulationId = StrongId<struct PopulationIdTag, std::uint32_t>;
/// Index of a projection in its network, in the order of creation.
using ProjectionId = StrongId<struct ProjectionIdTag, std::uint32_t>;
/// Index of a row (all synapses of one source) in a table.
using RowIndex = StrongId<struct RowIndexTag, std::uint32_t>;

/// Time as a number of steps of the resolution.
using Step = std::int64_t;
/// A delay as a number of steps of the resolution, at least 1.
using DelaySteps = std::uint32_t;

}  // namespace ranvier

template <class Tag, class Representation>
struct std::hash<ranvier::StrongId<Tag, Representation>> {
    std::size_t operator()(ranvier::StrongId<Tag, Representation> id) const noexcept {
        return std::hash<Representation>{}(id.value);
    }
};
