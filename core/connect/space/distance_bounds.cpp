#include "connect/space/distance_bounds.hpp"

#include <cmath>
#include <limits>

#include "connect/space/float_bounds.hpp"

namespace ranvier::connect {

DistanceBounds::DistanceBounds(const ValueByDistance& value, double reach)
    : inverse_square_(1.0 / (reach * reach)), levels_(cells), surely_(cells), possibly_(cells) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < cells; ++i) levels_[i] = static_cast<std::uint8_t>(std::bit_width(i + 1) - 1);
    const std::size_t levels = levels_.back() + std::size_t{1};
    low_.resize(levels * cells);
    high_.resize(levels * cells);
    const auto edge = [&](std::size_t k) {
        return k == 0 ? 0.0 : reach * std::sqrt(std::bit_cast<double>((before + k) << (52 - digits)));
    };
    for (std::size_t k = 0; k < cells; ++k) {
        // More than the rounding of a distance.
        const double near = edge(k) * (1.0 - 1e-12);
        const double far = edge(k + 1) * (1.0 + 1e-12);
        Mask::Place place = Mask::Place::inside;
        if (value.mask != nullptr) {
            // The last cell has all distances beyond.
            const double farthest = k + 1 < cells ? far : std::numeric_limits<double>::infinity();
            place = value.mask->classify_squares(near * near, farthest * farthest);
        }
        if (place == Mask::Place::outside) {
            possibly_[k] = 0.0F;
            continue;
        }
        PairRanges ranges;
        ranges[PairQuantity::distance] = {near, far};
        const PairRanges::Range range = value.function == nullptr ? PairRanges::Range{value.constant, value.constant}
                                                                  : value.function->range(ranges);
        const bool is_valid = range.low >= 0.0 && range.high <= value.most;
        const auto most = static_cast<float>(value.most);
        high_[k] = is_valid ? std::min(rounded_up(range.high), most) : most;
        low_[k] = is_valid ? (place == Mask::Place::inside ? rounded_down(range.low) : 0.0F) : -1.0F;
        // A value that may be refused, or outside of the mask, is always calculated.
        const bool is_known = is_valid && place == Mask::Place::inside;
        surely_[k] = is_known ? low_[k] : -infinity;
        possibly_[k] = is_known ? high_[k] : infinity;
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

struct DistanceBounds::Decide {
    static constexpr std::size_t at_once = 256;

    /// Adds the squares of displacements along an axis. @pre the neurons are in a box as long as the period
    RANVIER_ALWAYS_INLINE static void add_squares(const std::uint32_t* __restrict places, std::size_t count,
                                                  const double* __restrict coordinates, double from, double period,
                                                  double* __restrict squares) {
        for (std::size_t i = 0; i < count; ++i) {
            const double apart = __builtin_fabs(coordinates[places[i]] - from);
            const double around = __builtin_fabs(period - apart);
            const double along = apart < around ? apart : around;
            squares[i] += along * along;
        }
    }

    RANVIER_ALWAYS_INLINE static void run(const Candidates* candidates, const float* surely, const float* possibly,
                                          double inverse_square, std::uint8_t* __restrict decisions) {
        constexpr auto cells_before = static_cast<std::int64_t>(before);
        constexpr auto last = static_cast<std::int64_t>(cells - 1);
        double squares[at_once];
        std::int64_t cell[at_once];
        for (std::size_t begin = 0; begin < candidates->count; begin += at_once) {
            const std::size_t rest = candidates->count - begin;
            const std::size_t count = rest < at_once ? rest : at_once;
            for (std::size_t i = 0; i < count; ++i) squares[i] = 0.0;
            for (std::size_t axis = 0; axis < candidates->dimensions; ++axis) {
                add_squares(candidates->places + begin, count, candidates->coordinates[axis], candidates->from[axis],
                            candidates->period[axis], squares);
            }
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint64_t bits = std::bit_cast<std::uint64_t>(squares[i] * inverse_square) >> (52 - digits);
                const std::int64_t beyond = static_cast<std::int64_t>(bits) - cells_before;
                const std::int64_t not_before = beyond < 0 ? 0 : beyond;
                cell[i] = not_before > last ? last : not_before;
            }
            const double* const limits = candidates->limits + begin;
            // Without branches, which would be mispredicted.
            for (std::size_t i = 0; i < count; ++i) {
                const unsigned is_certain = limits[i] < static_cast<double>(surely[cell[i]]) ? 1 : 0;
                const unsigned is_possible = limits[i] < static_cast<double>(possibly[cell[i]]) ? 1 : 0;
                decisions[begin + i] = static_cast<std::uint8_t>(2 * is_possible - is_certain);
            }
        }
    }
};

void DistanceBounds::decide(InstructionSet set, const Candidates& candidates, std::uint8_t* decisions) const {
    Dispatched<Decide>::call(set, &candidates, surely_.data(), possibly_.data(), inverse_square_, decisions);
}

}  // namespace ranvier::connect
