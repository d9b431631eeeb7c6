#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fmm/harmonics.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/fmm/geometry.hpp"

/// The potential of sources at targets, pair by pair.
namespace ranvier::fmm {

/// log(n / d) for n >= d > 0, with a relative error of some units also where the ratio is near 1, given n - d as exactly as the
/// caller knows it. One division: with the power of two next to n / d, d' = 2^e d and s = (n - d') / (n + d'), it is
/// e log 2 + 2 artanh(s).
RANVIER_ALWAYS_INLINE double log_ratio(double n, double d, double difference) {
    const std::uint64_t n_bits = std::bit_cast<std::uint64_t>(n);
    const std::uint64_t d_bits = std::bit_cast<std::uint64_t>(d);
    const std::uint64_t exponent = (n_bits - d_bits + 0x0008000000000000) >> 52;
    const double scaled = std::bit_cast<double>(d_bits + (exponent << 52));
    const double e = std::bit_cast<double>(exponent + 0x4338000000000000) - 0x1.8p52;
    const double s = (exponent == 0 ? difference : n - scaled) / (n + scaled);
    const double z = s * s;  // at most 0.04
    double p = 2.0 / 21.0;
    p = p * z + 2.0 / 19.0;
    p = p * z + 2.0 / 17.0;
    p = p * z + 2.0 / 15.0;
    p = p * z + 2.0 / 13.0;
    p = p * z + 2.0 / 11.0;
    p = p * z + 2.0 / 9.0;
    p = p * z + 2.0 / 7.0;
    p = p * z + 2.0 / 5.0;
    p = p * z + 2.0 / 3.0;
    return e * 0x1.62e42fefa39efp-1 + (2.0 * s + s * (z * p));
}
RANVIER_ALWAYS_INLINE float log_ratio(float n, float d, float difference) {
    const std::uint32_t n_bits = std::bit_cast<std::uint32_t>(n);
    const std::uint32_t d_bits = std::bit_cast<std::uint32_t>(d);
    const std::uint32_t exponent = (n_bits - d_bits + 0x00400000) >> 23;
    const float scaled = std::bit_cast<float>(d_bits + (exponent << 23));
    const float s = (exponent == 0 ? difference : n - scaled) / (n + scaled);
    const float z = s * s;
    float p = 2.0F / 9.0F;
    p = p * z + 2.0F / 7.0F;
    p = p * z + 2.0F / 5.0F;
    p = p * z + 2.0F / 3.0F;
    return static_cast<float>(static_cast<std::int32_t>(exponent)) * 0x1.62e43p-1F + (2.0F * s + s * (z * p));
}

/// A source in coordinates about some point, in units of some length.
template <class Real>
struct NearSource {
    /// Lengths below that, in these units, count as this one: points.
    static constexpr Real min_length = static_cast<Real>(1e-15);
    /// Sum of the distances from both ends of such a point, up to which a target is at the point itself.
    static constexpr Real min_sum = static_cast<Real>(2e-15);

    Real x;
    Real y;
    Real z;
    /// From begin to end, of length 1.
    Real along_x;
    Real along_y;
    Real along_z;
    Real length;
    Real square_radius;
    Real inverse_length;
};

/// The potential of a unit source and, where asked for, its gradient at a displacement from its begin.
template <class Real>
struct NearValue {
    Real potential;
    Real x;
    Real y;
    Real z;
};

/// (log(a + b + L) - log(a + b - L)) / L, with the distances a and b from both ends: the formula of Holt and Koch (1999) in
/// its symmetric form. Nearer to the axis than the radius, the distances are those at the radius. A point has no potential
/// where it is itself.
template <bool has_gradient, class Real>
RANVIER_ALWAYS_INLINE NearValue<Real> line_potential(const NearSource<Real>& source, Real x, Real y, Real z) {
    constexpr Real least_ratio = std::is_same_v<Real, double> ? static_cast<Real>(1e-30) : static_cast<Real>(1e-20);
    const Real dx = x - source.x;
    const Real dy = y - source.y;
    const Real dz = z - source.z;
    const Real from_begin = dx * source.along_x + dy * source.along_y + dz * source.along_z;
    const Real from_end = from_begin - source.length;
    const Real across = (dx * dx + dy * dy + dz * dz) - from_begin * from_begin;
    const Real square = across > source.square_radius ? across : source.square_radius;
    const Real a = square_root(from_begin * from_begin + square);
    const Real b = square_root(from_end * from_end + square);
    const Real sum = a + b;
    const Real n = sum + source.length;
    const Real least = least_ratio * n;
    // Beside the piece, a + b - L = square (a + b + L) / ((a + s) (b + L - s)) with the place s along it, without cancellation
    // near the axis.
    const Real beside = square * n / ((a + from_begin) * (b - from_end));
    Real d = from_begin > Real{0} && from_end < Real{0} ? beside : sum - source.length;
    d = d > least ? d : least;
    const bool is_itself = sum <= NearSource<Real>::min_sum;
    // Of short pieces, this difference has no digits that are left of n - d.
    const Real potential = log_ratio(n, d, source.length + source.length) * source.inverse_length;
    NearValue<Real> value{is_itself ? Real{0} : potential, Real{0}, Real{0}, Real{0}};
    if constexpr (has_gradient) {
        const Real inverse_a = Real{1} / a;
        const Real inverse_b = Real{1} / b;
        const Real factor = Real{-2} / (n * d);
        const Real outward = is_itself || !(across > source.square_radius) ? Real{0} : factor * (inverse_a + inverse_b);
        const Real along = is_itself ? Real{0} : factor * (from_begin * inverse_a + from_end * inverse_b);
        value.x = along * source.along_x + outward * (dx - from_begin * source.along_x);
        value.y = along * source.along_y + outward * (dy - from_begin * source.along_y);
        value.z = along * source.along_z + outward * (dz - from_begin * source.along_z);
    }
    return value;
}

/// A line piece as a source, in the unit of its coordinates.
inline NearSource<double> near_source(const LinePiece& piece) {
    const Point whole = piece.end - piece.begin;
    const double length = std::sqrt(dot(whole, whole));
    const Point along = length > 0.0 ? (1.0 / length) * whole : Point{};
    const double counted = length > 0.0 ? length : NearSource<double>::min_length;
    return {.x = piece.begin.x,
            .y = piece.begin.y,
            .z = piece.begin.z,
            .along_x = along.x,
            .along_y = along.y,
            .along_z = along.z,
            .length = counted,
            .square_radius = piece.radius * piece.radius,
            .inverse_length = 1.0 / counted};
}

/// 1 / |x|, and 0 where that is 0.
template <bool has_gradient, class Real>
RANVIER_ALWAYS_INLINE NearValue<Real> point_potential(const NearSource<Real>& source, Real x, Real y, Real z) {
    const Real dx = x - source.x;
    const Real dy = y - source.y;
    const Real dz = z - source.z;
    const Real square = dx * dx + dy * dy + dz * dz;
    const Real inverse = Real{1} / square_root(square);
    const Real potential = square > Real{0} ? inverse : Real{0};
    NearValue<Real> value{potential, Real{0}, Real{0}, Real{0}};
    if constexpr (has_gradient) {
        const Real factor = -(potential * potential) * potential;
        value.x = factor * dx;
        value.y = factor * dy;
        value.z = factor * dz;
    }
    return value;
}

}  // namespace ranvier::fmm
