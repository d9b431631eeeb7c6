#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace ranvier {

/// A sum of numbers on a grid, which does not depend on their order.
///
/// Each number is cut to a multiple of 2^(exponent - 80). Sums of up to 2^18 numbers below 2^(exponent + 24) do not overflow.
/// A sum with a number that is not finite, or beyond 2^(exponent + 24), is not a number.
class ExactSum {
   public:
    ExactSum() = default;
    void add(double value, int exponent) {
        const double scaled = std::ldexp(value, 80 - exponent);
        if (!(std::abs(scaled) < 0x1p104)) high_ = low_ = no_number;
        if (is_no_number()) return;
        const double high = std::trunc(std::ldexp(scaled, -low_bits));
        high_ += static_cast<std::int64_t>(high);
        low_ += static_cast<std::int64_t>(scaled - std::ldexp(high, low_bits));
        normalise();
    }
    /// The sum of sums.
    void add(const ExactSum& other) {
        if (is_no_number() || other.is_no_number()) {
            high_ = low_ = no_number;
            return;
        }
        high_ += other.high_;
        low_ += other.low_;
        normalise();
    }
    /// Numbers whose sums over processes, in two's complement, are those of the sum of these sums.
    std::array<std::uint64_t, 3> parts() const {
        if (is_no_number()) return {0, 0, 1};
        return {static_cast<std::uint64_t>(high_), static_cast<std::uint64_t>(low_), 0};
    }
    static ExactSum from_parts(std::span<const std::uint64_t, 3> parts) {
        ExactSum sum;
        sum.high_ = parts[2] > 0 ? no_number : static_cast<std::int64_t>(parts[0]);
        sum.low_ = parts[2] > 0 ? no_number : static_cast<std::int64_t>(parts[1]);
        if (parts[2] == 0) sum.normalise();
        return sum;
    }
    double value(int exponent) const {
        if (is_no_number()) return std::numeric_limits<double>::quiet_NaN();
        return std::ldexp(static_cast<double>(high_), exponent - 80 + low_bits) +
               std::ldexp(static_cast<double>(low_), exponent - 80);
    }

   private:
    static constexpr int low_bits = 42;
    /// Of both parts: a normal low one is not negative.
    static constexpr std::int64_t no_number = std::numeric_limits<std::int64_t>::min();

    bool is_no_number() const { return low_ == no_number; }

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
