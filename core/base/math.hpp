#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "ranvier/base/instruction_set.hpp"

/// Elementary functions that give the same bits on every machine and for every instruction set. Those of the C library
/// differ in the last bit between processors, because it selects variants with fused multiply-add at run time; one bit
/// is enough to change the spikes of a chaotic network. All are free of branches, so that loops over them vectorise.
namespace ranvier::math {

namespace detail {

/// Small integers (|i| < 2^51) to double without a conversion instruction: narrow sets have none for 64-bit vectors.
RANVIER_ALWAYS_INLINE double small_to_double(std::int64_t i) {
    return std::bit_cast<double>(i + 0x4338000000000000) - 0x1.8p52;
}

/// (e^x - 1) / x for |x| <= 0.35: the minimax polynomial of degree 10 that begins with 1 + x / 2; error 3e-17. Estrin's
/// scheme keeps most operations independent of each other.
RANVIER_ALWAYS_INLINE double expm1_series(double x) {
    const double x2 = x * x;
    const double x4 = x2 * x2;
    const double low = (x * 0.5 + 1.0) + x2 * (x * 0x1.55555555538afp-5 + 0x1.555555555555ap-3);
    const double middle =
        (x * 0x1.6c16c17aeaa0fp-10 + 0x1.111111110ee1fp-7) + x2 * (x * 0x1.a019b03ac02dbp-16 + 0x1.a01a01b3e1a4cp-13);
    const double high = (x * 0x1.289b3408361b3p-22 + 0x1.71dded747e9cbp-19) + x2 * 0x1.af728283e15ecp-26;
    return low + x4 * (middle + x4 * high);
}

/// e^x = scale (1 + rest), where scale is a power of 2 and |rest| < 0.42; saturates outside of -700 < x < 700.
struct Exponential {
    double scale;
    double rest;
};

RANVIER_ALWAYS_INLINE Exponential exponential(double x) {
    x = x < -700.0 ? -700.0 : (x > 700.0 ? 700.0 : x);
    // k = round(x / ln 2), by adding and removing 1.5 * 2^52.
    const double shifted = x * 0x1.71547652b82fep0 + 0x1.8p52;
    const double k = shifted - 0x1.8p52;
    const double r = (x - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
    const std::uint64_t exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
    return {std::bit_cast<double>(exponent), r * expm1_series(r)};
}

}  // namespace detail

/// e^x, error below 2 units in the last place for -700 < x < 700; saturates outside.
RANVIER_ALWAYS_INLINE double exp(double x) {
    const detail::Exponential parts = detail::exponential(x);
    return (1.0 + parts.rest) * parts.scale;
}

/// e^x - 1, also where x is small: there the scale is 1, and no digit of the rest is lost.
RANVIER_ALWAYS_INLINE double expm1(double x) {
    const detail::Exponential parts = detail::exponential(x);
    return parts.scale * parts.rest + (parts.scale - 1.0);
}

/// (e^x - 1) / x, and 1 at x = 0.
RANVIER_ALWAYS_INLINE double expm1_over(double x) { return x == 0.0 ? 1.0 : expm1(x) / x; }

/// x / (e^x - 1), and 1 at x = 0: the inverse of expm1_over, by one division.
RANVIER_ALWAYS_INLINE double over_expm1(double x) { return x == 0.0 ? 1.0 : x / expm1(x); }

/// Natural logarithm of a positive, normal number; error below 2 units in the last place away from 1.
RANVIER_ALWAYS_INLINE double log(double x) {
    // x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh((m - 1) / (m + 1)).
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t offset = bits - 0x3FE6A09E667F3BCD;
    const std::int64_t exponent = static_cast<std::int64_t>((offset + 0x4000000000000000) >> 52) - 0x400;
    const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(exponent) << 52));
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double p = 1.0 / 23.0;
    p = p * z + 1.0 / 21.0;
    p = p * z + 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    const double e = detail::small_to_double(exponent);
    const double tail = 2.0 * s * z * p + e * 0x1.a39ef35793c76p-33;
    return e * 0x1.62e42feep-1 + (2.0 * s + tail);
}

/// log(1 + x) for -1 < x, also where x is small.
RANVIER_ALWAYS_INLINE double log1p(double x) {
    // Correct the rounding of 1 + x by the slope of the logarithm there (Kahan).
    const double u = 1.0 + x;
    return u == 1.0 ? x : log(u) * (x / (u - 1.0));
}

/// 2^x in single precision, relative error below 2e-7 for -126 <= x <= 126; saturates outside.
RANVIER_ALWAYS_INLINE float exp2(float x) {
    x = x < -126.0F ? -126.0F : (x > 126.0F ? 126.0F : x);
    // k = round(x), by adding and removing 1.5 * 2^23.
    const float shifted = x + 0x1.8p23F;
    const float r = (x - (shifted - 0x1.8p23F)) * 0x1.62e43p-1F;
    float p = 1.0F / 5040.0F;
    p = p * r + 1.0F / 720.0F;
    p = p * r + 1.0F / 120.0F;
    p = p * r + 1.0F / 24.0F;
    p = p * r + 1.0F / 6.0F;
    p = p * r + 0.5F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(shifted) + 127) << 23;
    return p * std::bit_cast<float>(exponent);
}

/// Logarithm to base 2 of a positive, normal number in single precision; error below 2e-7 away from 1, or of that many
/// units.
RANVIER_ALWAYS_INLINE float log2(float x) {
    // As log(): x = 2^e m with m in [sqrt(1/2), sqrt(2)).
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t offset = bits - 0x3F3504F3;
    const std::int32_t exponent = static_cast<std::int32_t>(offset) >> 23;
    const float m = std::bit_cast<float>(bits - (static_cast<std::uint32_t>(exponent) << 23));
    const float s = (m - 1.0F) / (m + 1.0F);
    const float z = s * s;
    float p = 1.0F / 9.0F;
    p = p * z + 1.0F / 7.0F;
    p = p * z + 1.0F / 5.0F;
    p = p * z + 1.0F / 3.0F;
    p = p * z + 1.0F;
    return static_cast<float>(exponent) + 0x1.715476p1F * s * p;
}

/// x^y, and 0 where x is 0 or subnormal. @pre x >= 0, y > 0
RANVIER_ALWAYS_INLINE float pow(float x, float y) {
    const bool vanishes = x < 0x1p-126F;
    const float power = exp2(y * log2(vanishes ? 1.0F : x));
    return vanishes ? 0.0F : power;
}
RANVIER_ALWAYS_INLINE double pow(double x, double y) {
    const bool vanishes = x < 0x1p-1022;
    const double power = exp(y * log(vanishes ? 1.0 : x));
    return vanishes ? 0.0 : power;
}

/// sin(2 pi x) for |x| < 2^51: x counts cycles, so that long runs lose no phase.
RANVIER_ALWAYS_INLINE double sin_cycles(double x) {
    const double whole = (x + 0x1.8p52) - 0x1.8p52;
    double f = x - whole;  // in [-0.5, 0.5]
    // sin(pi - y) = sin(y) folds into [-0.25, 0.25].
    f = f > 0.25 ? 0.5 - f : (f < -0.25 ? -0.5 - f : f);
    const double y = f * 0x1.921fb54442d18p2;
    const double z = y * y;
    double p = -1.0 / 51090942171709440000.0;
    p = p * z + 1.0 / 121645100408832000.0;
    p = p * z - 1.0 / 355687428096000.0;
    p = p * z + 1.0 / 1307674368000.0;
    p = p * z - 1.0 / 6227020800.0;
    p = p * z + 1.0 / 39916800.0;
    p = p * z - 1.0 / 362880.0;
    p = p * z + 1.0 / 5040.0;
    p = p * z - 1.0 / 120.0;
    p = p * z + 1.0 / 6.0;
    return y - y * z * p;
}

/// The normal quantile in the central part |u - 1/2| <= 0.425 and in the part between it and 1.4e-11 from either end;
/// M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37 (1988).
namespace detail {

RANVIER_ALWAYS_INLINE double quantile_central(double q) {
    const double r = 0.180625 - q * q;
    double a = 2.5090809287301226727e+3;
    a = a * r + 3.3430575583588128105e+4;
    a = a * r + 6.7265770927008700853e+4;
    a = a * r + 4.5921953931549871457e+4;
    a = a * r + 1.3731693765509461125e+4;
    a = a * r + 1.9715909503065514427e+3;
    a = a * r + 1.3314166789178437745e+2;
    a = a * r + 3.3871328727963666080e+0;
    double b = 5.2264952788528545610e+3;
    b = b * r + 2.8729085735721942674e+4;
    b = b * r + 3.9307895800092710610e+4;
    b = b * r + 2.1213794301586595867e+4;
    b = b * r + 5.3941960214247511077e+3;
    b = b * r + 6.8718700749205790830e+2;
    b = b * r + 4.2313330701600911252e+1;
    b = b * r + 1.0;
    return q * a / b;
}

RANVIER_ALWAYS_INLINE double quantile_middle(double root) {
    const double r = root - 1.6;
    double a = 7.74545014278341407640e-4;
    a = a * r + 2.27238449892691845833e-2;
    a = a * r + 2.41780725177450611770e-1;
    a = a * r + 1.27045825245236838258e+0;
    a = a * r + 3.64784832476320460504e+0;
    a = a * r + 5.76949722146069140550e+0;
    a = a * r + 4.63033784615654529590e+0;
    a = a * r + 1.42343711074968357734e+0;
    double b = 1.05075007164441684324e-9;
    b = b * r + 5.47593808499534494600e-4;
    b = b * r + 1.51986665636164571966e-2;
    b = b * r + 1.48103976427480074590e-1;
    b = b * r + 6.89767334985100004550e-1;
    b = b * r + 1.67638483018380384940e+0;
    b = b * r + 2.05319162663775882187e+0;
    b = b * r + 1.0;
    return a / b;
}

RANVIER_ALWAYS_INLINE double quantile_far(double root) {
    const double r = root - 5.0;
    double a = 2.01033439929228813265e-7;
    a = a * r + 2.71155556874348757815e-5;
    a = a * r + 1.24266094738807843860e-3;
    a = a * r + 2.65321895265761230930e-2;
    a = a * r + 2.96560571828504891230e-1;
    a = a * r + 1.78482653991729133580e+0;
    a = a * r + 5.46378491116411436990e+0;
    a = a * r + 6.65790464350110377720e+0;
    double b = 2.04426310338993978564e-15;
    b = b * r + 1.42151175831644588870e-7;
    b = b * r + 1.84631831751005468180e-5;
    b = b * r + 7.86869131145613259100e-4;
    b = b * r + 1.48753612908506148525e-2;
    b = b * r + 1.36929880922735805310e-1;
    b = b * r + 5.99832206555887937690e-1;
    b = b * r + 1.0;
    return a / b;
}

RANVIER_ALWAYS_INLINE double quantile_tail(double u) {
    const double q = u - 0.5;
    const double smaller = q < 0.0 ? u : 1.0 - u;
    const double root = std::sqrt(-log(smaller));
    const double middle = quantile_middle(root);
    const double far = quantile_far(root);
    const double tail = root <= 5.0 ? middle : far;
    return q < 0.0 ? -tail : tail;
}

}  // namespace detail

/// Quantile of the standard normal distribution, 0 < u < 1; relative error about 1e-15 (Wichura 1988).
RANVIER_ALWAYS_INLINE double normal_quantile(double u) {
    const double q = u - 0.5;
    const double tail = detail::quantile_tail(u);
    const double central = detail::quantile_central(q);
    return q >= -0.425 && q <= 0.425 ? central : tail;
}

}  // namespace ranvier::math
