#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "ranvier/base/choice.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// Distribution of neurons over processes.
enum class PlacementKind : std::uint8_t {
    round_robin,  ///< neuron i is on rank i mod ranks
    consecutive,  ///< each rank has a contiguous range of ids; sizes differ by one at most
    shuffle,      ///< random, by the seed; sizes differ by at most one
    space,        ///< along a Hilbert curve through their positions; sizes differ by at most one in each population
    given         ///< by an array with a rank for each id
};

class Space;
class SpacePlacement;

/// Mapping between neurons and ranks. Every process can compute the rank of any neuron; a `given` placement needs memory
/// for each neuron for that, and a `space` placement for each rank.
///
/// The neurons of a rank are also numbered by *places*, for records that identify a neuron with few bits: a place and a
/// rank determine the id, and places are below places().
class Placement {
   public:
    /// Places all neurons on one rank.
    explicit Placement(std::uint64_t neurons = 0) : Placement(neurons, 1, PlacementKind::round_robin, 0) {}
    /// @param space of all neurons, for a `space` placement @pre the kind is not `given`
    /// @throws StateError for a `space` placement without positions
    Placement(std::uint64_t neurons, std::int32_t ranks, PlacementKind kind, std::uint64_t seed,
              const std::shared_ptr<const Space>& space = nullptr);
    /// @param given a rank for each neuron
    /// @throws ShapeError, ValueOutOfBoundsError
    Placement(std::uint64_t neurons, std::int32_t ranks, std::shared_ptr<const std::vector<std::int32_t>> given);

    std::uint64_t neurons() const { return neurons_; }
    std::int32_t ranks() const { return ranks_; }
    PlacementKind kind() const { return kind_; }

    Rank rank_of(NeuronId id) const;
    std::uint64_t place_of(NeuronId id) const;
    struct Location {
        Rank rank;
        std::uint64_t place = 0;
    };
    /// Rank and place together: in a `shuffle` placement cheaper than separately, half a microsecond.
    Location locate(NeuronId id) const;
    NeuronId id_at(Rank rank, std::uint64_t place) const;
    /// One more than the largest place of any rank.
    std::uint64_t places() const;

    /// All ids of a rank, ascending. The cost is proportional to their number, except for `given` and `space` placements,
    /// where it is proportional to that of all neurons.
    IdSequence ids(Rank rank) const;
    /// Bytes of the cuts of a `space` placement. A given array belongs to the options.
    std::uint64_t bytes() const;

   private:
    /// A permutation of the ids and its inverse.
    std::uint64_t shuffled(std::uint64_t index) const;
    std::uint64_t unshuffled(std::uint64_t index) const;
    std::uint64_t encrypt(std::uint64_t value) const;
    std::uint64_t decrypt(std::uint64_t value) const;
    std::uint64_t round_function(std::uint64_t half, unsigned round) const;
    /// First id of a rank with consecutive ids.
    std::uint64_t first_of(std::int64_t rank) const;

    std::uint64_t neurons_ = 0;
    std::int32_t ranks_ = 1;
    PlacementKind kind_ = PlacementKind::round_robin;
    std::uint64_t seed_ = 0;
    unsigned half_bits_ = 1;  ///< the permutation acts on numbers with twice as many bits
    std::shared_ptr<const std::vector<std::int32_t>> given_;
    std::shared_ptr<const SpacePlacement> space_;
};

}  // namespace ranvier::connect

namespace ranvier {

/// Users give the last kind as an array.
template <>
struct ChoiceNames<connect::PlacementKind> {
    static constexpr std::string_view kind = "placement";
    static constexpr std::array<std::string_view, 4> names{"round_robin", "consecutive", "shuffle", "space"};
};

}  // namespace ranvier
