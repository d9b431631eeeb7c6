#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "program/block_code.hpp"

namespace ranvier::program {

/// Compacts the lanes that continue in a loop, so that a few long-running lanes do not slow down all others. The result
/// of a lane does not depend on its position, so no bit changes.
class LaneCompaction {
   public:
    LaneCompaction(std::span<const LoopPlaces> loops, std::size_t most_lanes, std::pmr::memory_resource* memory);

    /// Greatest number of places of a loop: it stores a number per lane for each of them.
    static std::size_t most_places(std::span<const LoopPlaces> loops);

    /// Compacts the lanes if far fewer continue than exist. The places of the loop then move to other arrays, until it
    /// is left.
    /// @param lanes current number
    /// @return the new number
    std::size_t compact(const LoopPlaces& loop, std::span<double*> places, std::size_t lanes);
    /// Restores all lanes to their original positions, if they were compacted by `loop`.
    /// @return the new number of lanes, given the current number `lanes`
    std::size_t leave(const LoopPlaces& loop, std::span<double*> places, std::size_t lanes);

   private:
    void begin(const LoopPlaces& loop, std::span<double*> places, std::size_t lanes);
    /// Scatters carried values to the original positions of their lanes.
    void scatter();

    std::size_t most_lanes_;
    AlignedVector<double> buffer_;
    const LoopPlaces* loop_ = nullptr;  ///< null if lanes are in their original positions
    std::size_t lanes_before_ = 0;
    std::size_t compacted_ = 0;  ///< lanes that continue; those after them are padding
    std::vector<std::uint32_t> lane_;  ///< original position of each of them
    std::vector<std::uint32_t> continuing_;  ///< the current ones that continue
    std::vector<double*> places_before_;  ///< of carried, then of read values
    std::vector<double*> compacted_places_;
};

}  // namespace ranvier::program
