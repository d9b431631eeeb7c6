#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranvier/fmm/geometry.hpp"

namespace ranvier::engine {

/// Potentials of line pieces of strength 1 at targets, pair by pair: weights with which currents of compartments enter the
/// potentials at contacts.
struct LinePotentials {
    std::vector<double> potentials;    ///< [piece][target], in one over the unit of length
    std::vector<std::int64_t> inside;  ///< for each piece, the first target nearer to its axis than its radius, or -1
};

LinePotentials line_potentials(std::span<const fmm::LinePiece> pieces, std::span<const fmm::Point> targets);

}  // namespace ranvier::engine
