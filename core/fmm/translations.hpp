#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/aligned_array.hpp"
#include "fmm/harmonics.hpp"
#include "ranvier/fmm/geometry.hpp"

/// Matrices that move expansions, in units of the side of the box that is moved. A multipole expansion M gives the potential
/// sum M_k S_k(x) / |x|^(2 l + 1) about the centre of its box, a local one L the potential sum L_k S_k(x).
///
/// All matrices have a column of `stride` numbers, padded with zeros, for each coefficient that is moved.
namespace ranvier::fmm {

/// Number of coefficients in an array: a multiple of the widest vector.
template <class Real>
constexpr std::size_t padded_count(std::uint32_t order) {
    constexpr std::size_t lanes = 32 / sizeof(Real);
    return (harmonic_count(order) + lanes - 1) / lanes * lanes;
}

/// W with S(x + t) = W S(x), as columns: matrix[column * stride + row]. Moves multipole expansions, and transposed, local
/// ones (White and Head-Gordon 1994).
std::vector<double> shift_matrix(std::uint32_t order, const Point& t, std::size_t stride);

/// T with L = T M, where the centre of the local expansion is at `d` from that of the multipole expansion.
std::vector<double> multipole_to_local_matrix(std::uint32_t order, const Point& d, std::size_t stride);

/// Factors of the coefficients when x, y or z changes its sign: +1 or -1.
std::vector<double> mirror_signs(std::uint32_t order, bool x, bool y, bool z);

/// The gradient of an expansion: the coefficients of its three components.
struct GradientTerm {
    std::uint32_t to;
    std::uint32_t from;
    double factor;
};
/// Of a local expansion: of one order less.
std::array<std::vector<GradientTerm>, 3> local_gradient(std::uint32_t order);
/// Of a multipole expansion: of one order more.
std::array<std::vector<GradientTerm>, 3> multipole_gradient(std::uint32_t order);

}  // namespace ranvier::fmm
