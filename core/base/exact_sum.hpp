#pragma once

#include <cmath>
#include <cstdint>

namespace ranvier {

/// A sum of numbers on a grid, which does not depend on their order.
///
/// Each number is cut to a multiple of 2^(exponent - 80). Sums of up to 2^18 numbers below 2^(exponent + 24) do not overflow.
class ExactSum {
   public:
    ExactSum() = default;
    ExactSum(std::int64_t high, std::int64_t low) : high_(high), low_(low) { normalise(); }

    void add(double value, int exponent) {
        const double scaled = std::ldexp(value, 80 - exponent);
        const double high = std::trunc(std::ldexp(scaled, -low_bits));
        high_ += static_cast<std::int64_t>(high);
        low_ += static_cast<std::int64_t>(scaled - std::ldexp(high, low_bits));
        normalise();
    }
    double value(int exponent) const {
        return std::ldexp(static_cast<double>(high_), exponent - 80 + low_bits) +
               std::ldexp(static_cast<double>(low_), exponent - 80);
    }
    std::int64_t high() const { return high_; }
    std::int64_t low() const { return low_; }

   private:
    static constexpr int low_bits = 42;

    /// Then equal sums have equal numbers.
    void normalise() {
        const std::int64_t carry = low_ >> low_bits;
        high_ += carry;
        low_ -= carry * (std::int64_t{1} << low_bits);
    }

    std::int64_t high_ = 0;
    std::int64_t low_ = 0;
};

}  // namespace ranvier
