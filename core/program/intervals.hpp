#pragma once

#include <limits>
#include <span>
#include <vector>

#include "ranvier/program/program.hpp"

namespace ranvier::program {

/// The numbers from `low` to `high`; an infinite end means any finite number. For a truth: 0 and 1 for false and true.
struct Interval {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    /// Whether the value may also be NaN, or infinite on a side with an infinite end.
    bool may_fail = false;

    static Interval of(double value) { return {value, value}; }
    bool is_point() const { return low == high; }
    bool contains(const Interval& other) const { return !other.may_fail && low <= other.low && other.high <= high; }
};

/// Intervals of the results of a program for inputs in their intervals: often too wide, as each use of a value is
/// treated as independent, but never too narrow. An overflow does not count as a failure.
/// Draws have all values that they can have.
/// @pre check() has passed the program, and it has no loops
std::vector<Interval> intervals_of(const Program& program, std::span<const Interval> inputs);
/// The same for all values of the program, by their numbers; the memory of `values` is used again.
void find_intervals(const Program& program, std::span<const Interval> inputs, std::vector<Interval>& values);

}  // namespace ranvier::program
