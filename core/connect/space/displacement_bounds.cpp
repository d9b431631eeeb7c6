#include "connect/space/displacement_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "connect/space/float_bounds.hpp"

namespace ranvier::connect {

namespace {
namespace displacement_bounds_parts {

/// Cells along an axis of the finest grid: thousands of cells in all, a microsecond for each.
constexpr std::size_t cells_of_two_dimensions = 128;
constexpr std::size_t cells_of_three_dimensions = 32;

PairRanges ranges_of(const Point& low, const Point& high, unsigned dimensions) {
    PairRanges ranges;
    double least = 0.0;
    double greatest = 0.0;
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        const auto quantity = static_cast<PairQuantity>(static_cast<std::size_t>(PairQuantity::displacement_x) + axis);
        ranges[quantity] = {low[axis], high[axis]};
        const double near = std::max({low[axis], -high[axis], 0.0});
        const double far = std::max(-low[axis], high[axis]);
        least += near * near;
        greatest += far * far;
    }
    ranges[PairQuantity::distance] = {std::sqrt(least) * (1.0 - 1e-12), std::sqrt(greatest) * (1.0 + 1e-12)};
    return ranges;
}

}  // namespace displacement_bounds_parts
}  // namespace

DisplacementBounds::DisplacementBounds(const PairFunction& function, unsigned dimensions, const Point& reach)
    : dimensions_(dimensions), reach_(reach) {
    using namespace displacement_bounds_parts;
    std::size_t cells = dimensions == 2 ? cells_of_two_dimensions : cells_of_three_dimensions;
    const std::size_t planes = dimensions == 2 ? 1 : cells;
    for (std::size_t axis = 0; axis < dimensions; ++axis) reach_[axis] = std::max(reach_[axis], 1e-300);
    Level finest{.cells = cells, .scale = {}, .low = {}, .high = {}};
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
        finest.scale[axis] = static_cast<double>(cells) / (2.0 * reach_[axis]);
    }
    for (std::size_t z = 0; z < planes; ++z) {
        for (std::size_t y = 0; y < cells; ++y) {
            for (std::size_t x = 0; x < cells; ++x) {
                const std::array<std::size_t, most_dimensions> cell{x, y, z};
                Point low{};
                Point high{};
                for (std::size_t axis = 0; axis < dimensions; ++axis) {
                    // More than the rounding of a displacement to its cell.
                    const double rounding = 1e-12 * reach_[axis];
                    low[axis] = static_cast<double>(cell[axis]) / finest.scale[axis] - reach_[axis] - rounding;
                    high[axis] = low[axis] + 1.0 / finest.scale[axis] + 2.0 * rounding;
                }
                const PairRanges::Range range = function.range(ranges_of(low, high, dimensions));
                finest.low.push_back(rounded_down(range.low));
                finest.high.push_back(rounded_up(range.high));
            }
        }
    }
    levels_.push_back(std::move(finest));
    while ((cells /= 2) > 0) {
        const Level& finer = levels_.back();
        Level level{.cells = cells, .scale = finer.scale, .low = {}, .high = {}};
        for (double& scale : level.scale) scale *= 0.5;
        const std::size_t count = dimensions == 2 ? cells * cells : cells * cells * cells;
        level.low.assign(count, std::numeric_limits<float>::infinity());
        level.high.assign(count, -std::numeric_limits<float>::infinity());
        for (std::size_t i = 0; i < finer.low.size(); ++i) {
            const std::size_t x = i % finer.cells / 2;
            const std::size_t y = i / finer.cells % finer.cells / 2;
            const std::size_t z = i / (finer.cells * finer.cells) / 2;
            const std::size_t coarse = (z * cells + y) * cells + x;
            level.low[coarse] = std::min(level.low[coarse], finer.low[i]);
            level.high[coarse] = std::max(level.high[coarse], finer.high[i]);
        }
        levels_.push_back(std::move(level));
    }
}

PairRanges::Range DisplacementBounds::between(const DisplacementBox& box) const {
    // In the first grid in which the box is in two cells along each axis, at most.
    double widest = cells_across(box);
    std::size_t at = 0;
    while (at + 1 < levels_.size() && widest > 1.0) {
        widest *= 0.5;
        ++at;
    }
    const Level& level = levels_[at];
    std::array<std::size_t, most_dimensions> first{};
    std::array<std::size_t, most_dimensions> last{};
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
        const auto cell = [&](double displacement) {
            const double place = (displacement + reach_[axis]) * level.scale[axis];
            return place > 0.0 ? std::min(static_cast<std::size_t>(place), level.cells - 1) : 0;
        };
        first[axis] = cell(box.low[axis]);
        last[axis] = cell(box.high[axis]);
    }
    PairRanges::Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (std::size_t z = first[2]; z <= last[2]; ++z) {
        for (std::size_t y = first[1]; y <= last[1]; ++y) {
            for (std::size_t x = first[0]; x <= last[0]; ++x) {
                const std::size_t cell = (z * level.cells + y) * level.cells + x;
                range.low = std::min<double>(range.low, level.low[cell]);
                range.high = std::max<double>(range.high, level.high[cell]);
            }
        }
    }
    return range;
}

}  // namespace ranvier::connect
