#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "program/domains.hpp"
#include "program/evaluate.hpp"
#include "program/operations.hpp"
#include "program_building.hpp"

namespace ranvier::program {
namespace {

using Outcome = DomainCheck::Outcome;

constexpr double no_end = std::numeric_limits<double>::infinity();

TEST(ProgramDomains, WhatVanishesIsHidden) {
    Writer writer(2);
    const std::uint32_t quotient = writer.add(Operation::divide, {0, 1});
    const std::uint32_t least = writer.add(Operation::minimum, {quotient, 0});
    const Program program = writer.finish({0, quotient, least});
    const std::vector<Interval> inputs{{0.0, no_end}, {0.0, no_end}};
    const auto found = check_domains(program, inputs);
    EXPECT_EQ(found[0].outcome, Outcome::defined);
    EXPECT_EQ(found[1].outcome, Outcome::shown);
    EXPECT_EQ(found[2].outcome, Outcome::hidden);
    EXPECT_EQ(found[2].operation, Operation::divide);
    const std::vector<Interval> positive{{0.0, no_end}, {0.5, no_end}};
    EXPECT_EQ(check_domains(program, positive)[2].outcome, Outcome::defined);
}

TEST(ProgramDomains, ConditionsNarrowRanges) {
    for (const Operation comparison : {Operation::less, Operation::less_equal}) {
        Writer writer(2);
        const std::uint32_t zero = writer.constant(0.0);
        const std::uint32_t truth = writer.add(comparison, {zero, 1});
        const std::uint32_t quotient = writer.add(Operation::divide, {0, 1});
        const Program program = writer.finish({writer.add(Operation::select, {truth, quotient, zero})});
        const std::vector<Interval> inputs{{0.0, no_end}, {-no_end, no_end}};
        const bool excludes_zero = comparison == Operation::less;
        EXPECT_EQ(check_domains(program, inputs)[0].outcome, excludes_zero ? Outcome::defined : Outcome::shown);
    }
}

/// Where a program is said to be defined, no operation that its result follows from fails for any numbers that are tried.
TEST(ProgramDomains, WhatIsDefinedIsDefined) {
    std::mt19937_64 random(1);
    const auto below = [&](std::size_t count) { return static_cast<std::uint32_t>(random() % count); };
    std::size_t defined = 0;
    std::size_t undefined = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        Writer writer(2);
        std::vector<std::uint32_t> numbers{0, 1, writer.constant(0.0), writer.constant(1.0)};
        const auto any = [&] { return numbers[below(numbers.size())]; };
        for (int k = 0; k < 6; ++k) {
            switch (below(6)) {
                case 0:
                    numbers.push_back(writer.add(Operation::divide, {any(), any()}));
                    break;
                case 1:
                    numbers.push_back(writer.add(below(2) != 0 ? Operation::log : Operation::square_root, {any()}));
                    break;
                case 2:
                    numbers.push_back(writer.add(below(2) != 0 ? Operation::maximum : Operation::add, {any(), any()}));
                    break;
                case 3:
                    numbers.push_back(writer.add(below(2) != 0 ? Operation::absolute : Operation::negate, {any()}));
                    break;
                default: {
                    const Operation kind =
                        std::array{Operation::less, Operation::less_equal, Operation::equal}[below(3)];
                    const std::uint32_t truth = writer.add(kind, {any(), any()});
                    const std::uint32_t other = writer.add(Operation::negation, {truth});
                    numbers.push_back(writer.add(Operation::select, {below(2) != 0 ? truth : other, any(), any()}));
                }
            }
        }
        const Program program = writer.finish({numbers.back()});
        const double low = below(2) != 0 ? 0.0 : -2.0;
        const std::vector<Interval> inputs{{low, 3.0}, {-3.0, 3.0}};
        if (check_domains(program, inputs)[0].outcome != Outcome::defined) {
            ++undefined;
            continue;
        }
        ++defined;
        for (int point = 0; point < 20; ++point) {
            const auto draw = [&](double from) {
                return below(4) == 0 ? 0.0 : from + (3.0 - from) * static_cast<double>(random() % 1000) / 999.0;
            };
            const std::vector<double> given{draw(low), draw(-3.0)};
            const double result = evaluate(program, given)[0];
            EXPECT_FALSE(std::isnan(result));
            EXPECT_TRUE(std::isfinite(result)) << result;
        }
    }
    EXPECT_GT(defined, 500U);
    EXPECT_GT(undefined, 500U);
}

}  // namespace
}  // namespace ranvier::program
