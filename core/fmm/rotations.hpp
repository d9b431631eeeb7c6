#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fmm/harmonics.hpp"

namespace ranvier::fmm {

/// D with S(R x) = D S(x) for each degree l from 0 to the order: blocks of (2 l + 1)^2 numbers, one after another, row by row,
/// for the rotation matrix R[row][column]. By the recurrence of Ivanic and Ruedenberg (1996, corrected in 1998).
std::vector<double> harmonic_rotation(std::uint32_t order, const std::array<std::array<double, 3>, 3>& rotation);

/// Where the block of degree l begins.
constexpr std::size_t rotation_block(std::uint32_t l) {
    return l == 0 ? 0 : std::size_t{l} * (4 * std::size_t{l} * l - 1) / 3;
}

}  // namespace ranvier::fmm
