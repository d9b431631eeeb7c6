#include "fmm/rotations.hpp"

#include <cmath>
#include <cstdlib>

namespace ranvier::fmm {

namespace {

/// The blocks of degrees 1 and l - 1, from which that of degree l follows.
class Recurrence {
   public:
    Recurrence(const std::vector<double>& blocks, std::int32_t l) : blocks_(&blocks), l_(l) {}

    double entry(std::int32_t m, std::int32_t n) const {
        const auto l = static_cast<double>(l_);
        const double norm = std::abs(n) < l_ ? (l + n) * (l - n) : 2.0 * l * (2.0 * l - 1.0);
        const int size = std::abs(m);
        const double u = std::sqrt((l + m) * (l - m) / norm);
        const double v =
            0.5 * std::sqrt((m == 0 ? 2.0 : 1.0) * (l + size - 1.0) * (l + size) / norm) * (m == 0 ? -1 : 1);
        const double w = m == 0 ? 0.0 : -0.5 * std::sqrt((l - size - 1.0) * (l - size) / norm);
        double sum = 0.0;
        if (u != 0.0) sum += u * product(0, m, n);
        if (v != 0.0) sum += v * v_term(m, n);
        if (w != 0.0) sum += w * w_term(m, n);
        return sum;
    }

   private:
    double v_term(std::int32_t m, std::int32_t n) const {
        if (m == 0) return product(1, 1, n) + product(-1, -1, n);
        if (m == 1) return std::sqrt(2.0) * product(1, 0, n);
        if (m == -1) return std::sqrt(2.0) * product(-1, 0, n);
        return m > 0 ? product(1, m - 1, n) - product(-1, 1 - m, n) : product(1, m + 1, n) + product(-1, -m - 1, n);
    }
    double w_term(std::int32_t m, std::int32_t n) const {
        return m > 0 ? product(1, m + 1, n) + product(-1, -m - 1, n) : product(1, m - 1, n) - product(-1, 1 - m, n);
    }
    double product(std::int32_t i, std::int32_t m, std::int32_t n) const {
        if (n == l_) return first(i, 1) * below(m, l_ - 1) - first(i, -1) * below(m, 1 - l_);
        if (n == -l_) return first(i, 1) * below(m, 1 - l_) + first(i, -1) * below(m, l_ - 1);
        return first(i, 0) * below(m, n);
    }
    double first(std::int32_t m, std::int32_t n) const { return at(1, m, n); }
    double below(std::int32_t m, std::int32_t n) const { return at(l_ - 1, m, n); }
    double at(std::int32_t l, std::int32_t m, std::int32_t n) const {
        const auto place = static_cast<std::size_t>((m + l) * (2 * l + 1) + n + l);
        return (*blocks_)[rotation_block(static_cast<std::uint32_t>(l)) + place];
    }

    const std::vector<double>* blocks_;
    std::int32_t l_;
};

}  // namespace

std::vector<double> harmonic_rotation(std::uint32_t order, const std::array<std::array<double, 3>, 3>& rotation) {
    std::vector<double> blocks{1.0};
    blocks.reserve(rotation_block(order + 1));
    if (order == 0) return blocks;
    // Harmonics of degree 1 are y, z, x.
    constexpr std::array<std::size_t, 3> axes{1, 2, 0};
    for (const std::size_t row : axes) {
        for (const std::size_t column : axes) blocks.push_back(rotation[row][column]);
    }
    for (std::int32_t l = 2; l <= static_cast<std::int32_t>(order); ++l) {
        const Recurrence recurrence(blocks, l);
        for (std::int32_t m = -l; m <= l; ++m) {
            for (std::int32_t n = -l; n <= l; ++n) blocks.push_back(recurrence.entry(m, n));
        }
    }
    return blocks;
}

}  // namespace ranvier::fmm
