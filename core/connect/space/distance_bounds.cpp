#include "connect/space/distance_bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ranvier::connect {

DistanceBounds::DistanceBounds(const PairFunction& function, double reach)
    : scale_(static_cast<double>(cells) / std::sqrt(reach)), levels_(cells) {
    for (std::size_t i = 0; i < cells; ++i) levels_[i] = static_cast<std::uint8_t>(std::bit_width(i + 1) - 1);
    const std::size_t levels = levels_.back() + std::size_t{1};
    low_.resize(levels * cells);
    high_.resize(levels * cells);
    const auto edge = [reach](std::size_t k) {
        const double part = static_cast<double>(k) / static_cast<double>(cells);
        return reach * part * part;
    };
    for (std::size_t k = 0; k < cells; ++k) {
        PairRanges ranges;
        // More than the rounding of a distance and of its cell.
        ranges[PairQuantity::distance] = {edge(k) * (1.0 - 1e-12), edge(k + 1) * (1.0 + 1e-12)};
        const PairRanges::Range range = function.range(ranges);
        low_[k] = range.low;
        high_[k] = range.high;
    }
    for (std::size_t level = 1; level < levels; ++level) {
        const std::size_t half = std::size_t{1} << (level - 1);
        for (std::size_t k = 0; k + 2 * half <= cells; ++k) {
            const std::size_t one = (level - 1) * cells + k;
            low_[level * cells + k] = std::min(low_[one], low_[one + half]);
            high_[level * cells + k] = std::max(high_[one], high_[one + half]);
        }
    }
}

std::size_t DistanceBounds::cell(double squared) const {
    const double place = std::sqrt(std::sqrt(squared)) * scale_;
    return std::min(static_cast<std::size_t>(place), cells - 1);
}

}  // namespace ranvier::connect
