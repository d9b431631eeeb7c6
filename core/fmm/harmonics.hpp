#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ranvier/base/instruction_set.hpp"

/// Real solid harmonics with the semi-normalisation of Schmidt, without the phase of Condon and Shortley:
///
///     1 / |x - y| = sum over l and m of S_lm(y) S_lm(x) / |x|^(2 l + 1)   for |y| < |x|
///
/// |S_lm(x)| <= |x|^l. Those with m < 0 have the sine of the azimuth. Coefficients are in the order of l, then m.
namespace ranvier::fmm {

inline constexpr std::uint32_t max_order = 20;
/// Expansions that move have harmonics of the degrees of both.
inline constexpr std::uint32_t max_degree = 2 * max_order + 1;

/// Number of harmonics up to an order.
constexpr std::size_t harmonic_count(std::uint32_t order) { return std::size_t{order + 1} * (order + 1); }
inline constexpr std::size_t max_harmonics = harmonic_count(max_order);

constexpr std::size_t harmonic_index(std::uint32_t l, std::int32_t m) {
    return static_cast<std::size_t>(static_cast<std::int64_t>(l) * l + l + m);
}

RANVIER_ALWAYS_INLINE float square_root(float x) { return __builtin_sqrtf(x); }
RANVIER_ALWAYS_INLINE double square_root(double x) { return __builtin_sqrt(x); }

/// Factors of the recurrences in l and m (Hobson 1931, with these norms).
template <class Real>
struct HarmonicFactors {
    HarmonicFactors();

    /// S_mm from S_(m-1)(m-1).
    std::array<Real, max_degree + 1> sectoral{};
    /// S_lm = up[l, m] z S_(l-1)m - down[l, m] r^2 S_(l-2)m.
    std::array<Real, (max_degree + 1) * (max_degree + 1)> up{};
    std::array<Real, (max_degree + 1) * (max_degree + 1)> down{};

    static const HarmonicFactors& get();
};

/// S_lm at some points at once: values[harmonic * lanes + lane].
template <std::size_t lanes, class Real>
RANVIER_ALWAYS_INLINE void regular_harmonics(const HarmonicFactors<Real>& factors, std::uint32_t order, const Real* x,
                                             const Real* y, const Real* z, Real* values) {
    Real square[lanes];
    for (std::size_t i = 0; i < lanes; ++i) {
        square[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
        values[i] = Real{1};
    }
    for (std::uint32_t m = 0; m <= order; ++m) {
        const auto signed_m = static_cast<std::int32_t>(m);
        if (m > 0) {
            const Real factor = factors.sectoral[m];
            const Real* const cosine = values + harmonic_index(m - 1, signed_m - 1) * lanes;
            const Real* const sine = values + harmonic_index(m - 1, 1 - signed_m) * lanes;
            Real* const next_cosine = values + harmonic_index(m, signed_m) * lanes;
            Real* const next_sine = values + harmonic_index(m, -signed_m) * lanes;
            if (m == 1) {
                for (std::size_t i = 0; i < lanes; ++i) next_cosine[i] = x[i];
                for (std::size_t i = 0; i < lanes; ++i) next_sine[i] = y[i];
            } else {
                RANVIER_NO_OVERLAP
                for (std::size_t i = 0; i < lanes; ++i) {
                    const Real c = cosine[i];
                    const Real s = sine[i];
                    next_cosine[i] = factor * (x[i] * c - y[i] * s);
                    next_sine[i] = factor * (y[i] * c + x[i] * s);
                }
            }
        }
        for (std::uint32_t l = m + 1; l <= order; ++l) {
            const Real up = factors.up[l * (max_degree + 1) + m];
            const Real down = factors.down[l * (max_degree + 1) + m];
            for (int side = m == 0 ? 1 : 0; side < 2; ++side) {
                const std::int32_t number = side == 0 ? -signed_m : signed_m;
                Real* const value = values + harmonic_index(l, number) * lanes;
                const Real* const below = values + harmonic_index(l - 1, number) * lanes;
                if (l == m + 1) {
                    RANVIER_NO_OVERLAP
                    for (std::size_t i = 0; i < lanes; ++i) value[i] = up * (z[i] * below[i]);
                } else {
                    const Real* const lowest = values + harmonic_index(l - 2, number) * lanes;
                    RANVIER_NO_OVERLAP
                    for (std::size_t i = 0; i < lanes; ++i) {
                        value[i] = up * (z[i] * below[i]) - down * (square[i] * lowest[i]);
                    }
                }
            }
        }
    }
}

/// S_lm(x) / |x|^(2 l + 1) at some points, none of them 0: those of x / |x|^2, divided by |x|.
template <std::size_t lanes, class Real>
RANVIER_ALWAYS_INLINE void irregular_harmonics(const HarmonicFactors<Real>& factors, std::uint32_t order, const Real* x,
                                               const Real* y, const Real* z, Real* values) {
    Real inverse[lanes];
    Real inverted[3 * lanes];
    for (std::size_t i = 0; i < lanes; ++i) {
        const Real square = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
        const Real factor = Real{1} / square;
        inverse[i] = square_root(factor);
        inverted[i] = x[i] * factor;
        inverted[lanes + i] = y[i] * factor;
        inverted[2 * lanes + i] = z[i] * factor;
    }
    regular_harmonics<lanes>(factors, order, inverted, inverted + lanes, inverted + 2 * lanes, values);
    const std::size_t count = harmonic_count(order);
    for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t i = 0; i < lanes; ++i) values[k * lanes + i] *= inverse[i];
    }
}

/// Nodes and weights in (0, 1), exact for polynomials of degree 2 `count` - 1 (Gauss and Legendre).
struct Quadrature {
    std::vector<double> nodes;
    std::vector<double> weights;
};
Quadrature gauss_legendre(std::uint32_t count);

}  // namespace ranvier::fmm
