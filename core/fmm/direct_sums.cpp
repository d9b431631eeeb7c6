#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "fmm/group.hpp"
#include "fmm/operators.hpp"
#include "fmm/part_lines.hpp"
#include "ranvier/fmm/solver.hpp"

namespace ranvier::fmm {

namespace {

/// Calls use(piece, target, share of the strength of the piece, value of a strength of 1) for each pair, also with images.
template <bool has_gradient, class Use>
void for_pairs(std::span<const LinePiece> pieces, std::span<const Point> targets, const std::optional<Plane>& plane,
               Use&& use) {
    const std::vector<LinePiece> all = with_images(pieces, plane);
    const double image = plane ? plane->image : 0.0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t piece = i % pieces.size();
        const double share = i < pieces.size() ? 1.0 : image;
        const PartLine part = part_of(all[i], {}, static_cast<std::uint32_t>(piece), share);
        const NearSource<double> source = near_source<double>(part, {}, 1.0);
        for (std::size_t j = 0; j < targets.size(); ++j) {
            const Point& x = targets[j];
            use(piece, j, share,
                is_point(all[i]) ? point_potential<has_gradient>(source, x.x, x.y, x.z)
                                 : line_potential<has_gradient>(source, x.x, x.y, x.z));
        }
    }
}

/// A sum of numbers that does not depend on their order: of their parts on a coarse and on a fine grid.
class GridSum {
   public:
    struct Grids {
        GridNumber coarse;
        GridNumber fine;
        double coarse_step = 1.0;
        double fine_step = 1.0;

        /// @param size of most numbers. A number may be 2^41 times as large; errors are below 2^-36 of it.
        explicit Grids(double size) {
            int exponent = 0;
            std::frexp(size > 0.0 && std::isfinite(size) ? size : 1.0, &exponent);
            coarse_step = std::ldexp(1.0, std::max(exponent - 10, -900));
            fine_step = std::ldexp(coarse_step, -26);
            coarse = {0x1.8p52 * coarse_step};
            fine = {0x1.8p52 * fine_step};
        }
    };

    void add(double value, const Grids& grids) {
        const double coarse = grids.coarse.round(value);
        coarse_ += coarse;
        fine_ += grids.fine.round(value - coarse);
    }
    /// Numbers whose sums over members, in two's complement, are those of the sum of these sums.
    std::array<std::uint64_t, 3> parts(const Grids& grids) const {
        const double coarse = coarse_ / grids.coarse_step;
        const double fine = fine_ / grids.fine_step;
        if (!(std::max(std::abs(coarse), std::abs(fine)) < 0x1p52)) return {0, 0, 1};
        return {static_cast<std::uint64_t>(static_cast<std::int64_t>(coarse)),
                static_cast<std::uint64_t>(static_cast<std::int64_t>(fine)), 0};
    }
    static double from_parts(std::span<const std::uint64_t, 3> parts, const Grids& grids) {
        if (parts[2] > 0) return std::numeric_limits<double>::quiet_NaN();
        return static_cast<double>(static_cast<std::int64_t>(parts[0])) * grids.coarse_step +
               static_cast<double>(static_cast<std::int64_t>(parts[1])) * grids.fine_step;
    }

   private:
    double coarse_ = 0.0;
    double fine_ = 0.0;
};

/// The largest side of the box around all pieces and targets; 1 if they are in one point. @note Collective.
double extent_of(std::span<const LinePiece> pieces, std::span<const Point> targets, SolverGroup& group) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::array<double, 6> ends;
    ends.fill(-infinity);
    const auto include = [&](const Point& point) {
        const std::array<double, 6> of_point{point.x, point.y, point.z, -point.x, -point.y, -point.z};
        for (std::size_t i = 0; i < 6; ++i) ends[i] = std::max(ends[i], of_point[i]);
    };
    for (const LinePiece& piece : pieces) {
        include(piece.begin);
        include(piece.end);
    }
    for (const Point& target : targets) include(target);
    find_greatest(group, ends);
    const double extent = std::max({ends[0] + ends[3], ends[1] + ends[4], ends[2] + ends[5]});
    return extent > 0.0 ? extent : 1.0;
}

}  // namespace

void sum_directly(std::span<const LinePiece> pieces, std::span<const Point> targets, std::span<const double> strengths,
                  std::size_t samples, std::span<double> potentials, std::span<double> gradients,
                  const std::optional<Plane>& plane) {
    std::ranges::fill(potentials, 0.0);
    std::ranges::fill(gradients, 0.0);
    for_pairs<true>(pieces, targets, plane,
                    [&](std::size_t piece, std::size_t target, double share, const NearValue<double>& unit) {
                        for (std::size_t t = 0; t < samples; ++t) {
                            const double strength = share * strengths[piece * samples + t];
                            potentials[target * samples + t] += strength * unit.potential;
                            if (gradients.empty()) continue;
                            gradients[(target * samples + t) * 3] += strength * unit.x;
                            gradients[(target * samples + t) * 3 + 1] += strength * unit.y;
                            gradients[(target * samples + t) * 3 + 2] += strength * unit.z;
                        }
                    });
}

void sum_in_group(std::span<const LinePiece> pieces, std::span<const Point> targets, std::span<const double> strengths,
                  std::size_t samples, std::span<double> potentials, const std::optional<Plane>& plane,
                  SolverGroup& group) {
    const double extent = extent_of(pieces, targets, group);
    std::vector<double> largest(samples, 0.0);
    for (std::size_t i = 0; i < strengths.size(); ++i) {
        largest[i % samples] = std::max(largest[i % samples], std::abs(strengths[i]));
    }
    find_greatest(group, largest);
    std::vector<GridSum::Grids> grids;
    grids.reserve(samples);
    for (const double strength : largest) grids.emplace_back(strength / extent);
    std::vector<GridSum> sums(targets.size() * samples);
    for_pairs<false>(pieces, targets, plane,
                     [&](std::size_t piece, std::size_t target, double share, const NearValue<double>& unit) {
                         for (std::size_t t = 0; t < samples; ++t) {
                             const double strength = share * strengths[piece * samples + t];
                             sums[target * samples + t].add(strength * unit.potential, grids[t]);
                         }
                     });
    std::vector<std::uint64_t> parts;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::array<std::uint64_t, 3> of_sum = sums[i].parts(grids[i % samples]);
        parts.insert(parts.end(), of_sum.begin(), of_sum.end());
    }
    group.sum(parts);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        potentials[i] = GridSum::from_parts(std::span(parts).subspan(3 * i).first<3>(), grids[i % samples]);
    }
}

}  // namespace ranvier::fmm
