#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ranvier/base/ids.hpp"
#include "ranvier/connect/space/positions.hpp"

namespace ranvier::connect {

/// Divides neurons among ranks along a Hilbert curve through space, so that neurons near each other share a rank.
///
/// Each population is cut into parts whose sizes differ by one at most, at places of the curve that all populations
/// share: neurons of different populations at one place are on the same rank, or on the next. Populations without
/// positions are dealt to the ranks in turn.
///
/// A process keeps the cuts alone, 16 bytes for each rank and population with positions. It computes the positions of
/// all neurons twice to find them, and once more for ids().
class SpacePlacement {
   public:
    SpacePlacement(std::shared_ptr<const Space> space, std::int32_t ranks);

    Rank rank_of(NeuronId id) const;
    /// All ids of a rank, ascending.
    std::vector<std::uint64_t> ids(Rank rank) const;
    std::uint64_t bytes() const;

   private:
    /// The place of a neuron on the curve; ids order neurons at the same place.
    using Key = std::pair<std::uint64_t, std::uint64_t>;

    struct Part {
        Point lower{};
        Point cells_per_length{};  ///< 0 on an axis without extent
        /// By rank from 1 on: the key of its first neuron. Empty without positions.
        std::vector<Key> first;
    };

    Key key_of(const Space::Part& population, const Part& part, NeuronId id) const;
    Rank rank_within(const Space::Part& population, const Part& part, NeuronId id) const;
    void find_cuts(const Space::Part& population, Part& part) const;

    std::shared_ptr<const Space> space_;
    std::int32_t ranks_;
    std::vector<Part> parts_;  ///< by population
};

/// The place on a Hilbert curve of a cell, from 0 on. In two dimensions the curve has 2^24 cells along each axis, in
/// three 2^16.
/// @param cell in two or three dimensions, each below the number of cells
std::uint64_t hilbert_index(std::array<std::uint32_t, most_dimensions> cell, unsigned dimensions);

/// Binary digits of the number of cells along an axis.
constexpr unsigned hilbert_bits(unsigned dimensions) { return dimensions == 3 ? 16 : 24; }

}  // namespace ranvier::connect
