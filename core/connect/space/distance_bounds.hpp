#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ranvier/connect/space/pair_function.hpp"

namespace ranvier::connect {

/// Bounds of a function of the distance on any interval of distances: two table look-ups each.
class DistanceBounds {
   public:
    /// @param function radial @param reach greatest distance, > 0
    DistanceBounds(const PairFunction& function, double reach);

    /// Bounds between two squared distances. Distances beyond the reach count as the reach.
    PairRanges::Range between(double least_squared, double greatest_squared) const {
        const std::size_t first = cell(least_squared);
        const std::size_t last = cell(greatest_squared);
        const unsigned level = levels_[last - first];
        const std::size_t one = level * cells + first;
        const std::size_t other = level * cells + last + 1 - (std::size_t{1} << level);
        const double low = low_[one] < low_[other] ? low_[one] : low_[other];
        const double high = high_[one] > high_[other] ? high_[one] : high_[other];
        return {low, high};
    }

   private:
    static constexpr std::size_t cells = 1024;

    /// Cells are narrow near 0: cell k begins at reach (k / cells)^2.
    std::size_t cell(double squared) const;

    double scale_;  ///< cells per fourth root of a squared distance
    std::vector<std::uint8_t> levels_;  ///< by number of cells - 1: the logarithm to base 2, rounded down
    /// Of level l and cell k: the bounds over 2^l cells from k on.
    std::vector<double> low_;
    std::vector<double> high_;
};

}  // namespace ranvier::connect
