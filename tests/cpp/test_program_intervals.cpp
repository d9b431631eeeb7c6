#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "program/evaluate.hpp"
#include "program/intervals.hpp"
#include "program/operations.hpp"
#include "program_building.hpp"

namespace ranvier::program {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

Interval interval_of(Operation operation, std::vector<Interval> operands) {
    const Signature own = signature(operation);
    Writer writer(std::vector<Type>(own.operands.begin(), own.operands.end()));
    std::vector<std::uint32_t> places;
    for (std::uint32_t k = 0; k < operands.size(); ++k) places.push_back(k);
    return intervals_of(writer.finish({writer.add(operation, places)}), operands)[0];
}

void expect_interval(const Interval& found, double low, double high) {
    EXPECT_FALSE(found.may_fail);
    const auto near = [](double a, double b) { return a == b || std::abs(a - b) < 1e-12; };
    EXPECT_TRUE(near(found.low, low)) << found.low;
    EXPECT_TRUE(near(found.high, high)) << found.high;
}

TEST(ProgramIntervals, OperationsOnRanges) {
    using enum Operation;
    const Interval positive{0.0, unbounded};
    expect_interval(interval_of(add, {{1.0, 2.0}, {-3.0, 5.0}}), -2.0, 7.0);
    expect_interval(interval_of(subtract, {{1.0, 2.0}, positive}), -unbounded, 2.0);
    expect_interval(interval_of(multiply, {{0.0, 0.0}, positive}), 0.0, 0.0);
    expect_interval(interval_of(multiply, {{-2.0, 3.0}, positive}), -unbounded, unbounded);
    expect_interval(interval_of(divide, {{1.0, 2.0}, {2.0, unbounded}}), 0.0, 1.0);
    expect_interval(interval_of(absolute, {{-3.0, 2.0}}), 0.0, 3.0);
    expect_interval(interval_of(exp, {{-unbounded, 0.0}}), 0.0, 1.0);
    expect_interval(interval_of(pow, {{0.0, 1.0}, Interval::of(0.4)}), 0.0, 1.0);
    expect_interval(interval_of(pow, {{-3.0, 2.0}, Interval::of(2.0)}), 0.0, 9.0);
    expect_interval(interval_of(pow, {{-3.0, 2.0}, Interval::of(3.0)}), -27.0, 8.0);
    expect_interval(interval_of(pow, {{-3.0, -2.0}, Interval::of(-1.0)}), -0.5, -1.0 / 3.0);
    expect_interval(interval_of(minimum, {positive, {2.0, 3.0}}), 0.0, 3.0);
    expect_interval(interval_of(select, {{1.0, 1.0}, {2.0, 3.0}, positive}), 2.0, 3.0);
}

TEST(ProgramIntervals, WhatMayBeNoNumberIsKnown) {
    using enum Operation;
    EXPECT_TRUE(interval_of(divide, {{1.0, 1.0}, {0.0, 1.0}}).may_fail);
    EXPECT_TRUE(interval_of(square_root, {{-1.0, 1.0}}).may_fail);
    EXPECT_TRUE(interval_of(log, {{0.0, 1.0}}).may_fail);
    EXPECT_TRUE(interval_of(pow, {{-1.0, 1.0}, Interval::of(0.5)}).may_fail);
    EXPECT_TRUE(interval_of(pow, {{0.0, 1.0}, Interval::of(-1.0)}).may_fail);
    EXPECT_TRUE(interval_of(pow, {{-1.0, 1.0}, Interval::of(-1.0)}).may_fail);
    EXPECT_TRUE(interval_of(pow, {{-1.0, 1.0}, {2.0, 3.0}}).may_fail);
    const Interval failure{-unbounded, unbounded, true};
    // Both bounds replace it, whichever stands first.
    const Interval above = interval_of(maximum, {failure, Interval::of(0.0)});
    EXPECT_TRUE(above.may_fail);
    expect_interval(interval_of(minimum, {above, Interval::of(5.0)}), 0.0, 5.0);
    // The second operand is what stays, if it is no number.
    EXPECT_TRUE(interval_of(minimum, {Interval::of(5.0), failure}).may_fail);
}

constexpr std::array unary{Operation::negate, Operation::absolute, Operation::square_root,   Operation::floor,
                           Operation::exp,    Operation::expm1,    Operation::expm1_over,    Operation::over_expm1,
                           Operation::log,    Operation::log1p,    Operation::sine_of_cycles};
constexpr std::array binary{Operation::add,     Operation::subtract, Operation::multiply, Operation::divide,
                            Operation::minimum, Operation::maximum,  Operation::pow};
constexpr std::array comparisons{Operation::less, Operation::less_equal, Operation::equal};

constexpr std::uint32_t inputs_of_random = 3;

Program random_program(std::mt19937_64& random) {
    const auto below = [&](std::size_t count) { return static_cast<std::uint32_t>(random() % count); };
    Writer writer(inputs_of_random);
    std::vector<std::uint32_t> numbers{0, 1, 2, writer.constant(0.5), writer.constant(2.0)};
    for (int k = 0; k < 8; ++k) {
        const auto any = [&] { return numbers[below(numbers.size())]; };
        const std::uint32_t kind = below(5);
        if (kind == 0) {
            numbers.push_back(writer.add(unary[below(unary.size())], {any()}));
        } else if (kind < 4) {
            numbers.push_back(writer.add(binary[below(binary.size())], {any(), any()}));
        } else {
            const std::uint32_t truth = writer.add(comparisons[below(comparisons.size())], {any(), any()});
            const std::uint32_t other = writer.add(comparisons[below(comparisons.size())], {any(), any()});
            const std::uint32_t both = writer.add(below(2) != 0 ? Operation::both : Operation::either, {truth, other});
            numbers.push_back(writer.add(
                Operation::select, {below(2) != 0 ? both : writer.add(Operation::negation, {both}), any(), any()}));
        }
    }
    return writer.finish({numbers.begin() + inputs_of_random, numbers.end()});
}

/// The numbers that programs are carried out with lie in the intervals that were found for them.
TEST(ProgramIntervals, ContainWhatProgramsMake) {
    std::mt19937_64 random(1);
    const std::array ends{-unbounded, -50.0, -1.0, -0.25, 0.0, 0.5, 1.0, 3.0, 60.0, unbounded};
    std::size_t bounded = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const Program program = random_program(random);
        check(program, "test", false);
        std::vector<Interval> ranges;
        for (std::uint32_t i = 0; i < inputs_of_random; ++i) {
            double low = ends[random() % (ends.size() - 1)];
            double high = ends[random() % ends.size()];
            if (low > high) std::swap(low, high);
            if (std::isinf(low)) high = unbounded;
            ranges.push_back(low < high ? Interval{low, high} : Interval::of(low));
        }
        const std::vector<Interval> found = intervals_of(program, ranges);
        for (int sample = 0; sample < 20; ++sample) {
            std::vector<double> inputs;
            for (const Interval& range : ranges) {
                const double low = std::max(range.low, -1e4);
                const double high = std::min(range.high, 1e4);
                const double part = std::uniform_real_distribution(0.0, 1.0)(random);
                inputs.push_back(sample == 0   ? low
                                 : sample == 1 ? high
                                               : std::clamp(low + part * (high - low), low, high));
            }
            const std::vector<double> values = evaluate(program, inputs);
            for (std::size_t i = 0; i < values.size(); ++i) {
                // What overflows only is not counted.
                if (found[i].may_fail || !std::isfinite(values[i])) break;
                ASSERT_GE(values[i], found[i].low) << "trial " << trial << ", result " << i;
                ASSERT_LE(values[i], found[i].high) << "trial " << trial << ", result " << i;
                if (std::isfinite(found[i].low) && std::isfinite(found[i].high)) ++bounded;
            }
        }
    }
    EXPECT_GT(bounded, 50'000);
}

}  // namespace
}  // namespace ranvier::program
