#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "fmm/harmonics.hpp"
#include "fmm/near_field.hpp"
#include "fmm/translations.hpp"
#include "ranvier/fmm/geometry.hpp"
#include "ranvier/fmm/solver.hpp"

/// The operators of the fast multipole method on the arrays of one box. All lengths are in units of the side of the box whose
/// expansion or targets are written. Expansions of `samples` samples are arrays [coefficient][sample].
namespace ranvier::fmm {

/// Points processed at once: the lanes of two of the widest vectors in single precision.
inline constexpr std::size_t point_lanes = 16;
/// Targets whose kept potentials follow each other.
inline constexpr std::size_t kept_lanes = 8;
/// Samples processed at once. The number of samples is 1 or a multiple of it.
inline constexpr std::size_t sample_lanes = 8;

/// Sources of a leaf: a part of a line piece about the centre of its box, in units of its side.
struct SourceGeometry {
    Point begin;
    Point end;
};

/// Steps in which sources_to_local() goes along a source.
std::size_t local_steps(const SourceGeometry& source);

/// A sum of multiples of a grid: exact in double precision, so that its order does not matter.
struct GridNumber {
    /// 1.5 * 2^52 times the spacing of the grid.
    double shift = 0.0;

    RANVIER_ALWAYS_INLINE double round(double x) const { return (x + shift) - shift; }
};

/// The grid for sums of `count` numbers of at most `size`: as fine as exact sums allow.
GridNumber grid_for(double size, std::uint64_t count);

template <class Real>
class Operators {
   public:
    Operators(std::uint32_t order, Translation translation, InstructionSet instruction_set);

    std::uint32_t order() const { return order_; }
    Translation translation() const { return translation_; }
    std::size_t count() const { return harmonic_count(order_); }
    /// Numbers of an expansion for one sample.
    std::size_t stride() const { return stride_; }
    std::size_t bytes() const;
    /// Nodes of the quadrature along a line piece.
    std::size_t nodes() const { return quadrature_.nodes.size(); }
    /// Coefficients from which those of the gradient are summed, of a local and of a multipole expansion.
    std::size_t local_gradient_terms() const { return count_terms(local_gradient_); }
    std::size_t multipole_gradient_terms() const { return count_terms(multipole_gradient_); }
    /// From how many sources on a multipole expansion takes less time at a target than the sources one by one. These take
    /// some 60 operations for a line piece and 15 for a point, and a coefficient the time of 20: measured, since vectors
    /// of pairs are full, and those of few targets are not.
    /// @param keeps_near where potentials of pairs are kept, a coefficient has the time of 3 pairs
    std::uint64_t min_sources(bool are_points, bool keeps_near) const {
        return 1 + (keeps_near ? 3 * count() : 20 * count() / (are_points ? 15 : 60));
    }
    /// The same for targets and a local expansion of a source.
    std::uint64_t min_targets(bool are_points, bool keeps_near) const {
        if (keeps_near) return 1 + 3 * count() * (are_points ? 1 : quadrature_.nodes.size());
        return 1 + 20 * count() * (are_points ? 1 : quadrature_.nodes.size()) / (are_points ? 15 : 60);
    }

    /// Adds the multipole moments of sources, on the grid of each sample, in the order of coefficients.
    void sources_to_multipole(std::span<const SourceGeometry> sources, bool are_points, const double* strengths,
                              std::size_t samples, const GridNumber* grids, double* multipole) const;
    /// Adds the expansion of a child (bit 0 for x, 1 for y, 2 for z) to that of its parent.
    void multipole_to_multipole(std::uint32_t child, const Real* from, std::size_t samples, Real* to) const;
    /// A source box of the same level, by its place relative to the target box: x, y, z from -3 to 3.
    struct Neighbor {
        const Real* multipole;
        std::int8_t x;
        std::int8_t y;
        std::int8_t z;
    };
    /// At order 0, the potential of a box of unit strength at the centre of a box at this offset.
    Real factor(std::int64_t x, std::int64_t y, std::int64_t z) const {
        return factors_[static_cast<std::size_t>(std::abs(x) + 4 * std::abs(y) + 16 * std::abs(z))];
    }
    /// Adds the multipole expansions of boxes to a local one. Neighbours with the same |x|, |y| and |z| share a matrix: they
    /// should follow each other.
    void multipole_to_local(std::span<const Neighbor> neighbors, std::size_t samples, Real* local) const;
    /// Adds the local expansion of the parent to that of a child.
    void local_to_local(std::uint32_t child, const Real* from, std::size_t samples, Real* to) const;
    /// Adds the potential of sources in a distant, larger box to a local expansion.
    void sources_to_local(std::span<const SourceGeometry> sources, bool are_points, const double* strengths,
                          std::size_t samples, Real* local) const;
    /// Potentials, and gradients if not null, at targets: adds.
    /// @param targets 3 arrays of a multiple of point_lanes
    void local_to_targets(const Real* local, const Real* targets, std::size_t count, std::size_t samples, double scale,
                          double* potentials, double* gradients) const;
    /// The same of a multipole expansion at `centre` with a side of `side`, in units of the target box.
    void multipole_to_targets(const Real* multipole, const Point& centre, double side, const Real* targets,
                              std::size_t count, std::size_t samples, double scale, double* potentials,
                              double* gradients) const;
    /// Near sources, about a point at `-shift` from that of the targets.
    void sources_to_targets(std::span<const NearSource<Real>> sources, const Real* strengths, bool are_points,
                            const Real* targets, const Point& shift, std::size_t count, std::size_t samples,
                            double scale, double* potentials, double* gradients) const;

    /// Potentials of sources at targets, from those of unit strengths.
    /// @param kept [block of kept_lanes targets][source][target]
    /// @param potentials receives those of `count` targets, `stride` numbers apart
    void kept_to_targets(const Real* kept, std::span<const Real> strengths, std::size_t count, std::size_t stride,
                         double* potentials) const;

    /// The moments of sources of unit strength, [source][coefficient], `stride()` numbers for each.
    void keep_moments(std::span<const SourceGeometry> sources, bool are_points, Real* kept) const;
    /// Adds the multipole moments of sources with kept moments, on a grid.
    /// @param multipole stride() numbers
    void kept_to_multipole(const Real* kept, std::span<const double> strengths, const GridNumber& grid,
                           double* multipole) const;

   private:
    static std::size_t count_terms(const std::array<std::vector<GradientTerm>, 3>& terms) {
        return terms[0].size() + terms[1].size() + terms[2].size();
    }

    std::uint32_t order_;
    Translation translation_;
    InstructionSet instruction_set_;
    std::size_t stride_;
    Quadrature quadrature_;
    std::array<AlignedVector<Real>, 8> to_parent_;
    std::array<AlignedVector<Real>, 8> to_child_;
    /// For offsets x, y, z from 0 to 3; empty where boxes touch.
    std::array<AlignedVector<Real>, 64> to_local_;
    std::array<Real, 64> factors_{};
    /// For the signs of an offset.
    std::array<AlignedVector<Real>, 8> signs_;
    std::array<std::vector<GradientTerm>, 3> local_gradient_;
    std::array<std::vector<GradientTerm>, 3> multipole_gradient_;
};

extern template class Operators<float>;
extern template class Operators<double>;

}  // namespace ranvier::fmm
