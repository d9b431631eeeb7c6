#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ranvier/base/random.hpp"
#include "ranvier/base/shared_array.hpp"
#include "ranvier/connect/space/positions.hpp"

/// Rotations of the cells of a population about their positions.
namespace ranvier::connect {

/// Rows and columns.
using Matrix = std::array<Point, most_dimensions>;

/// The rotations of the cells of one population, by their index. Immutable.
struct Rotations {
    enum class Kind : std::uint8_t {
        given,   ///< about an axis, by angles that are given
        random,  ///< about an axis, by a random angle
        any,     ///< random, uniform among all rotations
    };
    struct Step {
        Kind kind = Kind::given;
        Point axis{0.0, 0.0, 1.0};  ///< a vector of length 1
        /// In turns, so that quarters of a turn are exact: one for all cells, or one for each.
        SharedArray angles = {};
    };
    /// They are made one after the other. None: no rotation.
    std::vector<Step> steps;

    /// @param key of random ones
    Matrix at(std::uint64_t index, RandomKey key) const;

    /// @throws ShapeError for a number of angles other than 1 and the size, ValueOutOfBoundsError for angles and axes
    ///         that are not finite, and for axes whose length is not 1
    void check(std::uint64_t size, const std::string& population) const;
};

}  // namespace ranvier::connect
