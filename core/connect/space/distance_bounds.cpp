#include "connect/space/distance_bounds.hpp"

#include <cmath>

#include "connect/space/float_bounds.hpp"

namespace ranvier::connect {

DistanceBounds::DistanceBounds(const PairFunction& function, double reach)
    : inverse_square_(1.0 / (reach * reach)), levels_(cells) {
    for (std::size_t i = 0; i < cells; ++i) levels_[i] = static_cast<std::uint8_t>(std::bit_width(i + 1) - 1);
    const std::size_t levels = levels_.back() + std::size_t{1};
    low_.resize(levels * cells);
    high_.resize(levels * cells);
    const auto edge = [&](std::size_t k) {
        return k == 0 ? 0.0 : reach * std::sqrt(std::bit_cast<double>((before + k) << (52 - digits)));
    };
    for (std::size_t k = 0; k < cells; ++k) {
        PairRanges ranges;
        // More than the rounding of a distance.
        ranges[PairQuantity::distance] = {edge(k) * (1.0 - 1e-12), edge(k + 1) * (1.0 + 1e-12)};
        const PairRanges::Range range = function.range(ranges);
        low_[k] = rounded_down(range.low);
        high_[k] = rounded_up(range.high);
    }
    is_falling_ = true;
    for (std::size_t k = 1; k < cells; ++k) {
        is_falling_ = is_falling_ && low_[k] <= low_[k - 1] && high_[k] <= high_[k - 1];
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

}  // namespace ranvier::connect
