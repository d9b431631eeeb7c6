#include "connect/weight_grid.hpp"

#include <algorithm>
#include <cmath>

namespace ranvier::connect {

WeightGrid::WeightGrid(double largest_weight, double largest_count) {
    // A network whose weights are all zero has a grid too: that of weights around 1.
    largest_weight_ = largest_weight > 0.0 ? largest_weight : 1.0;
    int exponent = 0;
    std::frexp(largest_weight_ * std::max(largest_count, 1.0), &exponent);
    // Far from the ends of the exponent's range, so that the shift is a normal number.
    exponent = std::clamp(exponent, -900, 900);
    spacing_ = std::ldexp(1.0, exponent - 53);
    shift_ = std::ldexp(1.5, exponent - 53 + 52);
}

}  // namespace ranvier::connect
