#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "base/math.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/open_unit.hpp"
#include "ranvier/program/operation.hpp"

/// The operations of a program in one lane: the only definition of their bits. All are free of branches, so that loops
/// over them vectorise. A truth is a lane of 64 bits, all set or all clear.
namespace ranvier::program::lane {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double least_normal = std::numeric_limits<double>::min();
inline constexpr double greatest = std::numeric_limits<double>::max();

RANVIER_ALWAYS_INLINE double to_lane(bool truth) {
    return std::bit_cast<double>(truth ? ~std::uint64_t{0} : std::uint64_t{0});
}
RANVIER_ALWAYS_INLINE std::uint64_t bits(double lane) { return std::bit_cast<std::uint64_t>(lane); }
RANVIER_ALWAYS_INLINE bool is_true(double lane) { return bits(lane) != 0; }

/// `a` where the truth holds, otherwise `b`.
RANVIER_ALWAYS_INLINE double select(double truth, double a, double b) {
    return std::bit_cast<double>((bits(truth) & bits(a)) | (~bits(truth) & bits(b)));
}

RANVIER_ALWAYS_INLINE double absolute(double x) { return std::bit_cast<double>(bits(x) & ~(std::uint64_t{1} << 63)); }

/// The greatest whole number <= x. The baseline instruction set has no instruction for it.
RANVIER_ALWAYS_INLINE double floor(double x) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    const double size = absolute(x);
    // Numbers between 2^52 and 2^53 are whole, so that adding 2^52 rounds.
    const double rounded = (size + 0x1p52) - 0x1p52;
    const double nearest = std::bit_cast<double>(bits(rounded) | (bits(x) & sign));
    const double below = nearest > x ? nearest - 1.0 : nearest;
    return size < 0x1p52 ? below : x;
}

/// Natural logarithm, as math::log() where that is defined: -infinity at 0, and NaN below. Subnormal numbers count as
/// 0, of either sign.
RANVIER_ALWAYS_INLINE double log(double x) {
    const double inside = math::log(x);
    const double below = x > -least_normal ? -infinity : not_a_number;
    const double outside = x < least_normal ? below : x;  // infinity and NaN are unchanged
    return x >= least_normal && x <= greatest ? inside : outside;
}

RANVIER_ALWAYS_INLINE double log1p(double x) {
    const double u = 1.0 + x;
    const double near = log(u) * (x / (u - 1.0));
    const double other = u == 1.0 || u == infinity ? x : near;
    return u > 0.0 ? other : log(u);
}

/// x^y = e^(y log x) for x > 0, and 0 or infinity at 0. Below 0, powers with a whole exponent (below 2^51) have the
/// magnitude of those of -x, and others are NaN. The result is 1 for y = 0, and x itself for y = 1.
RANVIER_ALWAYS_INLINE double pow(double x, double y) {
    // Adding this rounds to a whole number, whose last bit shows whether it is odd.
    constexpr double rounding = 0x1.8p52;
    const double shifted = y + rounding;
    const double odd = std::bit_cast<double>(bits(shifted) << 63);
    const double inside = math::exp(y * log(absolute(x)));
    const double negative = std::bit_cast<double>(bits(inside) ^ bits(odd));
    const double is_whole =
        std::bit_cast<double>(bits(to_lane(shifted - rounding == y)) & bits(to_lane(absolute(y) < 0x1p51)));
    const double below = select(is_whole, negative, not_a_number);
    const double at_zero = y > 0.0 ? 0.0 : infinity;
    const double positive = x >= least_normal ? inside : at_zero;
    const double defined = x > -least_normal ? positive : below;
    const double power = y == y ? defined : y;
    // Selected bitwise: compilers do not vectorise another branch here.
    const double other = select(to_lane(y == 1.0), x, power);
    return y == 0.0 ? 1.0 : other;
}

/// An operation with one operand. @param word of a draw: its random bits
template <Operation operation>
RANVIER_ALWAYS_INLINE double apply(double a) {
    using enum Operation;
    if constexpr (operation == negate) return -a;
    if constexpr (operation == Operation::absolute) return lane::absolute(a);
    if constexpr (operation == square_root) return __builtin_sqrt(a);
    if constexpr (operation == Operation::floor) return lane::floor(a);
    if constexpr (operation == exp) return math::exp(a);
    if constexpr (operation == expm1) return math::expm1(a);
    if constexpr (operation == expm1_over) return math::expm1_over(a);
    if constexpr (operation == over_expm1) return math::over_expm1(a);
    if constexpr (operation == Operation::log) return lane::log(a);
    if constexpr (operation == Operation::log1p) return lane::log1p(a);
    if constexpr (operation == sine_of_cycles) return math::sin_cycles(a);
    if constexpr (operation == negation) return std::bit_cast<double>(~bits(a));
    if constexpr (operation == uniform_draw) return to_open_unit(bits(a));
    if constexpr (operation == normal_draw) return math::normal_quantile(to_open_unit(bits(a)));
}

/// An operation with two operands.
template <Operation operation>
RANVIER_ALWAYS_INLINE double apply(double a, double b) {
    using enum Operation;
    if constexpr (operation == add) return a + b;
    if constexpr (operation == subtract) return a - b;
    if constexpr (operation == multiply) return a * b;
    if constexpr (operation == divide) return a / b;
    if constexpr (operation == minimum) return a < b ? a : b;
    if constexpr (operation == maximum) return a > b ? a : b;
    if constexpr (operation == Operation::pow) return lane::pow(a, b);
    if constexpr (operation == less) return to_lane(a < b);
    if constexpr (operation == less_equal) return to_lane(a <= b);
    if constexpr (operation == equal) return to_lane(a == b);
    if constexpr (operation == both) return std::bit_cast<double>(bits(a) & bits(b));
    if constexpr (operation == either) return std::bit_cast<double>(bits(a) | bits(b));
}

/// Calls `visit.template operator()<operation>()` for an operation with that many operands that is neither a constant
/// nor a loop.
template <class Visit>
decltype(auto) visit_unary(Operation operation, Visit visit) {
    using enum Operation;
    switch (operation) {
        case negate:
            return visit.template operator()<negate>();
        case Operation::absolute:
            return visit.template operator()<Operation::absolute>();
        case square_root:
            return visit.template operator()<square_root>();
        case Operation::floor:
            return visit.template operator()<Operation::floor>();
        case exp:
            return visit.template operator()<exp>();
        case expm1:
            return visit.template operator()<expm1>();
        case expm1_over:
            return visit.template operator()<expm1_over>();
        case over_expm1:
            return visit.template operator()<over_expm1>();
        case Operation::log:
            return visit.template operator()<Operation::log>();
        case Operation::log1p:
            return visit.template operator()<Operation::log1p>();
        case sine_of_cycles:
            return visit.template operator()<sine_of_cycles>();
        case uniform_draw:
            return visit.template operator()<uniform_draw>();
        case normal_draw:
            return visit.template operator()<normal_draw>();
        default:
            return visit.template operator()<negation>();
    }
}

template <class Visit>
decltype(auto) visit_binary(Operation operation, Visit visit) {
    using enum Operation;
    switch (operation) {
        case add:
            return visit.template operator()<add>();
        case subtract:
            return visit.template operator()<subtract>();
        case multiply:
            return visit.template operator()<multiply>();
        case divide:
            return visit.template operator()<divide>();
        case minimum:
            return visit.template operator()<minimum>();
        case maximum:
            return visit.template operator()<maximum>();
        case Operation::pow:
            return visit.template operator()<Operation::pow>();
        case less:
            return visit.template operator()<less>();
        case less_equal:
            return visit.template operator()<less_equal>();
        case equal:
            return visit.template operator()<equal>();
        case both:
            return visit.template operator()<both>();
        default:
            return visit.template operator()<either>();
    }
}

}  // namespace ranvier::program::lane
