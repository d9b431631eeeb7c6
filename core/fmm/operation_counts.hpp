#pragma once

#include <algorithm>
#include <cstdint>

#include "fmm/harmonics.hpp"
#include "ranvier/fmm/solver.hpp"

/// Floating-point operations of the operators for one sample: an addition, subtraction, multiplication, division or square
/// root counts as one. Comparisons, changes of the sign and of the precision, and lanes without a source or
/// target are not counted. p is the order, and (p + 1)^2 the number of coefficients.
namespace ranvier::fmm {

/// What the numbers of operations depend on.
struct OperationForm {
    std::uint32_t order = 0;
    Translation translation = Translation::dense;
    Precision precision = Precision::float64;
    bool are_points = false;
    bool has_gradient = false;
    std::uint64_t nodes = 1;  ///< of the quadrature along a line piece; 1 for points
};

class OperationCounts {
   public:
    using Count = std::uint64_t;

    explicit constexpr OperationCounts(const OperationForm& form)
        : form_(form), coefficients_(harmonic_count(form.order)) {}

    /// The potential of a unit source at a displacement: for a point sqrt(x^2 + y^2 + z^2) and its inverse; for a line piece
    /// the logarithm of a ratio, a polynomial of degree 10, in single precision 4.
    constexpr Count unit_potential() const {
        if (form_.are_points) return 10 + (form_.has_gradient ? 5 : 0);
        const Count logarithm = form_.precision == Precision::float32 ? 16 : 29;
        return 33 + logarithm + (form_.has_gradient ? 25 : 0);
    }
    /// P2P: a source at a target, multiplied by its strength and added.
    constexpr Count pair() const { return unit_potential() + 2 * numbers_of_target(); }
    /// P2P: a target in the coordinates of some sources, and their sum in units of the solver.
    constexpr Count near_sum() const { return 3 + 2 * numbers_of_target(); }
    /// P2P: a source in the coordinates of the box of its targets, where that has another size.
    constexpr Count near_source() const { return 10; }

    /// Harmonics of a point up to a degree, by recurrences in l and m.
    static constexpr Count regular_harmonics(std::uint32_t degree) {
        Count count = 5;
        for (std::uint32_t m = 0; m <= degree; ++m) {
            if (m > 1) count += 8;
            const Count signs = m == 0 ? 1 : 2;
            if (m < degree) count += signs * (2 + 5 * Count{degree - m - 1});
        }
        return count;
    }
    /// The same, divided by |x|^(2 l + 1).
    static constexpr Count irregular_harmonics(std::uint32_t degree) {
        return 10 + regular_harmonics(degree) + harmonic_count(degree);
    }

    /// P2M: a source. Its harmonics at each node, their weighted sum, the product with the strength, rounded to the grid.
    constexpr Count source_to_multipole() const {
        const Count node = 9 + regular_harmonics(form_.order) + 2 * coefficients_;
        return 14 + form_.nodes * node - coefficients_ + 4 * coefficients_;
    }
    /// M2M of a child, and L2L to a child: a matrix times a vector.
    constexpr Count shift() const { return 2 * coefficients_ * coefficients_; }
    /// M2L: a box.
    constexpr Count translation() const {
        if (form_.order == 0) return 2;
        if (form_.translation == Translation::dense) return coefficients_ + 2 * coefficients_ * coefficients_;
        Count rotation = 0;
        Count along_z = 0;
        for (Count l = 0; l <= form_.order; ++l) rotation += 2 * (2 * l + 1) * (2 * l + 1);
        for (Count m = 0; m <= form_.order; ++m) {
            const Count degrees = form_.order - m + 1;
            along_z += 2 * (m == 0 ? 1 : 2) * degrees * degrees;
        }
        return 2 * coefficients_ + 2 * rotation + along_z;
    }
    /// M2L: the boxes of one octant of offsets, whose sum is reflected.
    constexpr Count octant() const { return form_.order == 0 ? 0 : 2 * coefficients_; }
    /// P2L: a source, without its steps.
    constexpr Count source_to_local() const { return 14 + 9; }
    /// P2L: a step along a source.
    constexpr Count local_step() const {
        return 17 + form_.nodes * (9 + irregular_harmonics(form_.order) + 2 * coefficients_);
    }
    /// L2P: a target.
    constexpr Count local_to_target() const {
        Count count = 6 + regular_harmonics(form_.order) + 2 * coefficients_ + 2;
        if (form_.has_gradient && form_.order > 0) count += 3 * (2 * harmonic_count(form_.order - 1) + 2);
        return count;
    }
    /// M2P: a box and a target.
    constexpr Count multipole_to_target() const {
        const std::uint32_t degree = form_.order + (form_.has_gradient ? 1 : 0);
        return 6 + irregular_harmonics(degree) + 2 * coefficients_ + 2 +
               (form_.has_gradient ? 3 * (2 * harmonic_count(degree) + 2) : 0);
    }
    /// Near and far field of a target.
    constexpr Count sum() const { return numbers_of_target(); }

   private:
    constexpr Count numbers_of_target() const { return form_.has_gradient ? 4 : 1; }

    OperationForm form_;
    Count coefficients_;
};

}  // namespace ranvier::fmm
