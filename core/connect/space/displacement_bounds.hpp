#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ranvier/connect/space/mask.hpp"
#include "ranvier/connect/space/pair_function.hpp"

namespace ranvier::connect {

/// Bounds of a function of the displacement on any box of displacements, by table look-ups: of the cells of a grid, and
/// of grids; each has half as many along each axis.
class DisplacementBounds {
   public:
    /// @param function of distance and displacement only
    /// @param reach by axis: the greatest absolute displacement
    DisplacementBounds(const PairFunction& function, unsigned dimensions, const Point& reach);

    /// Bounds in the part of a box that is within the reach.
    PairRanges::Range between(const DisplacementBox& box) const;
    /// Whether a box is smaller than the cells, so that the function itself has closer bounds.
    bool is_finer(const DisplacementBox& box) const { return cells_across(box) < 1.0; }

   private:
    struct Level {
        std::size_t cells = 0;  ///< along each axis
        Point scale{};          ///< cells per length
        std::vector<float> low;
        std::vector<float> high;
    };

    /// Cells of the finest grid that a box is long, along its longest side.
    double cells_across(const DisplacementBox& box) const {
        double most = 0.0;
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            most = std::max(most, (box.high[axis] - box.low[axis]) * levels_[0].scale[axis]);
        }
        return most;
    }

    unsigned dimensions_;
    Point reach_;
    std::vector<Level> levels_;  ///< the finest first
};

}  // namespace ranvier::connect
