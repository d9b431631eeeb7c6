#include "base/step_times.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

#include "ranvier/base/errors.hpp"

namespace ranvier {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr int most_digits = 15;
constexpr std::uint64_t largest_denominator = std::uint64_t{1} << 20U;
/// Integers up to this are exact as doubles.
constexpr std::uint64_t exact_integers = std::uint64_t{1} << 53U;

struct Fraction {
    std::uint64_t numerator;
    std::uint64_t denominator;
};

std::optional<std::uint64_t> power_of_ten(int exponent) {
    if (exponent > 19) return std::nullopt;
    std::uint64_t power = 1;
    for (int i = 0; i < exponent; ++i) power *= 10;
    return power;
}

/// The shortest decimal number to which the value is the nearest double, if it has few digits.
std::optional<Fraction> as_decimal(double value) {
    char text[40];
    const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
    if (error != std::errc{}) return std::nullopt;
    // d.ddde-dd
    const std::string_view written(text, end);
    const std::size_t mark = written.find('e');
    std::uint64_t digits = 0;
    int count = 0;
    for (const char c : written.substr(0, mark)) {
        if (c == '.') continue;
        digits = 10 * digits + static_cast<std::uint64_t>(c - '0');
        ++count;
    }
    if (count > most_digits) return std::nullopt;
    // from_chars takes no plus sign.
    const bool positive = written[mark + 1] == '+';
    int exponent = 0;
    std::from_chars(written.data() + mark + 1 + (positive ? 1 : 0), end, exponent);
    exponent -= count - 1;
    const auto power = power_of_ten(std::abs(exponent));
    if (!power) return std::nullopt;
    if (exponent < 0) return Fraction{digits, *power};
    if (*power > exact_integers / digits) return std::nullopt;
    return Fraction{digits * *power, 1};
}

/// The first convergent of the value's continued fraction to which the value is the nearest double, if its denominator
/// is small.
std::optional<Fraction> as_fraction(double value) {
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    exponent -= 53;
    // value = top / bottom, exactly.
    if (exponent > 0 || exponent < -120) return std::nullopt;
    Wide top = static_cast<std::uint64_t>(std::ldexp(mantissa, 53));
    Wide bottom = Wide{1} << static_cast<unsigned>(-exponent);
    Wide before[2] = {0, 1};
    Wide now[2] = {1, 0};
    while (bottom != 0) {
        const Wide whole = top / bottom;
        const Wide next[2] = {whole * now[0] + before[0], whole * now[1] + before[1]};
        if (next[0] >= exact_integers || next[1] > largest_denominator) return std::nullopt;
        if (static_cast<double>(next[0]) / static_cast<double>(next[1]) == value) {
            return Fraction{static_cast<std::uint64_t>(next[0]), static_cast<std::uint64_t>(next[1])};
        }
        for (int i = 0; i < 2; ++i) before[i] = now[i];
        for (int i = 0; i < 2; ++i) now[i] = next[i];
        const Wide rest = top % bottom;
        top = bottom;
        bottom = rest;
    }
    return std::nullopt;
}

int leading_zeros(Wide value) {
    const auto high = static_cast<std::uint64_t>(value >> 64U);
    return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(value));
}

/// The double nearest to the quotient of two positive integers; ties go to the even one.
double nearest_quotient(Wide dividend, std::uint64_t divisor) {
    const int shift = leading_zeros(dividend);
    dividend <<= static_cast<unsigned>(shift);
    // The quotient has more than 53 bits, since the dividend has 128 and the divisor at most 64. The remainder only
    // decides on which side of the middle between two doubles the quotient is.
    Wide quotient = dividend / divisor;
    bool rest = dividend % divisor != 0;
    const int excess = std::max(0, 64 - leading_zeros(quotient));
    rest = rest || (quotient & ((Wide{1} << static_cast<unsigned>(excess)) - 1)) != 0;
    quotient >>= static_cast<unsigned>(excess);
    const std::uint64_t rounded = static_cast<std::uint64_t>(quotient) | static_cast<std::uint64_t>(rest);
    return std::ldexp(static_cast<double>(rounded), excess - shift);
}

}  // namespace

double steps_rounded_up(std::string_view name, double duration, double resolution) {
    const double steps = std::ceil(duration / resolution * (1.0 - 1e-12) - 1e-6);
    if (!(steps < 0x1p30)) {
        throw ValueOutOfBoundsError({.object = std::string(name),
                                     .value = to_text(duration),
                                     .bound = "it must be shorter than 2^30 steps of " + to_text(resolution) + " ms",
                                     .remedy = "give a smaller " + std::string(name) + " or a coarser resolution"});
    }
    return steps;
}

StepTimes::StepTimes(double resolution) : resolution_(resolution) {
    if (!(std::isfinite(resolution) && resolution > 0.0)) return;
    // Decimal numbers of up to 10 digits and such fractions never have the same nearest double unless they are the same.
    auto fraction = as_fraction(resolution);
    if (!fraction) fraction = as_decimal(resolution);
    if (!fraction) return;
    const std::uint64_t common = std::gcd(fraction->numerator, fraction->denominator);
    numerator_ = fraction->numerator / common;
    denominator_ = fraction->denominator / common;
    // A power of two in the denominator costs no precision in a double.
    if (denominator_ >> static_cast<unsigned>(std::countr_zero(denominator_)) <= exact_integers) {
        largest_product_ = static_cast<Step>(exact_integers / numerator_);
    }
}

double StepTimes::operator()(Step step) const {
    if (denominator_ == 0) return static_cast<double>(step) * resolution_;
    if (step >= -largest_product_ && step <= largest_product_) {
        const double product = static_cast<double>(step) * static_cast<double>(numerator_);
        return product / static_cast<double>(denominator_);
    }
    return exact(step);
}

void StepTimes::operator()(std::span<const Step> steps, double* times) const {
    for (std::size_t i = 0; i < steps.size(); ++i) times[i] = (*this)(steps[i]);
}

double StepTimes::exact(Step step) const {
    if (step == 0) return 0.0;
    const auto magnitude =
        step < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
    const double time = nearest_quotient(Wide{magnitude} * numerator_, denominator_);
    return step < 0 ? -time : time;
}

}  // namespace ranvier
