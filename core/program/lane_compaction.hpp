#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "program/block_code.hpp"

namespace ranvier::program {

/// Brings the lanes that go on in a loop together, so that few of them that take long do not hold up all others. A lane
/// does the same wherever it stands, so this changes no bit.
class LaneCompaction {
   public:
    LaneCompaction(std::span<const LoopPlaces> loops, std::size_t most_lanes, std::pmr::memory_resource* memory);

    /// The most places of a loop: it keeps a number for each lane of so many.
    static std::size_t most_places(std::span<const LoopPlaces> loops);

    /// Brings lanes together if far fewer go on than there are. Places of the loop then lie elsewhere, until it is left.
    /// @param lanes that there are now. @return how many there are then
    std::size_t compact(const LoopPlaces& loop, std::span<double*> places, std::size_t lanes);
    /// Brings all lanes back to where they were, if they were brought together by `loop`.
    /// @return how many there are then, of `lanes` that there are now
    std::size_t leave(const LoopPlaces& loop, std::span<double*> places, std::size_t lanes);

   private:
    void begin(const LoopPlaces& loop, std::span<double*> places, std::size_t lanes);
    /// Puts what lanes carry where it was before they were brought together.
    void put_back();

    std::size_t most_lanes_;
    AlignedVector<double> room_;
    const LoopPlaces* loop_ = nullptr;  ///< null: lanes stand where they were
    std::size_t lanes_before_ = 0;
    std::size_t together_ = 0;               ///< lanes that go on; those after them fill up
    std::vector<std::uint32_t> lane_;        ///< where each of them was
    std::vector<std::uint32_t> going_;       ///< which of the present ones go on
    std::vector<double*> places_before_;     ///< of what is carried, then of what is read
    std::vector<double*> places_together_;
};

}  // namespace ranvier::program
