#pragma once

#include "base/instruction_set.hpp"

namespace ranvier::connect {

/// The binary grid on which the weights of one receptor of one population lie.
///
/// It is coarse enough that sums of inputs in double precision are exact, so that they do not depend on the order in which
/// spikes are delivered, and fine enough that nobody can see it: with a bound S on the sums, its spacing is 2^-53 of the
/// next power of two above S.
class WeightGrid {
   public:
    WeightGrid() = default;
    /// @param largest_weight bound on the absolute value of one weight
    /// @param largest_count bound on the number of inputs that arrive in one step
    WeightGrid(double largest_weight, double largest_count);

    double spacing() const { return spacing_; }
    /// Largest absolute value of a weight.
    double largest_weight() const { return largest_weight_; }

    /// The nearest point of the grid; |weight| <= largest_weight().
    RANVIER_ALWAYS_INLINE double round(double weight) const {
        // Adding 1.5 * 2^52 spacings leaves no bits below the spacing; taking them off again is exact.
        return (weight + shift_) - shift_;
    }

   private:
    double spacing_ = 0x1p-40;
    double shift_ = 0x1.8p12;
    double largest_weight_ = 0x1p10;
};

}  // namespace ranvier::connect
