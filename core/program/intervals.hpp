#pragma once

#include <limits>
#include <span>
#include <vector>

#include "ranvier/program/program.hpp"

namespace ranvier::program {

/// The numbers from `low` to `high`, which are finite where an end is not. Of a truth: 0 and 1 for false and true.
struct Interval {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    /// Whether it may also be no number at all, or infinite on a side where the end is.
    bool may_fail = false;

    static Interval of(double value) { return {value, value}; }
    bool is_point() const { return low == high; }
    bool contains(const Interval& other) const { return !other.may_fail && low <= other.low && other.high <= high; }
};

/// Intervals that the results of a program lie in where its inputs lie in theirs: often wider than need be, as each use of
/// a value is taken for itself, and never narrower. What only overflows is not counted as a failure.
/// @pre check() has passed the program, and it has neither draws nor loops
std::vector<Interval> intervals_of(const Program& program, std::span<const Interval> inputs);

}  // namespace ranvier::program
