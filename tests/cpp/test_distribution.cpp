#include "ranvier/base/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "statistics.hpp"

namespace TEST_FILE {

using namespace ranvier;
using Kind = Distribution::Kind;
using Restriction = Distribution::Restriction;

constexpr double infinity = std::numeric_limits<double>::infinity();
const RandomKey key = make_key(7, Purpose::test, 1);

std::vector<double> sample(const Distribution& distribution, std::size_t count = 50000) {
    std::vector<double> values(count);
    distribution.fill(detect_instruction_set(), key, 3, 0, count, values.data());
    return values;
}

template <class Cumulative>
double p_value(const Distribution& distribution, const Cumulative& cumulative) {
    return statistics::kolmogorov_smirnov_p_value(sample(distribution), cumulative);
}

const std::vector<Distribution> all_kinds{
    {.kind = Kind::constant, .first = 2.5},
    {.kind = Kind::normal, .first = -3.0, .second = 2.0},
    {.kind = Kind::lognormal, .first = 0.5, .second = 0.7},
    {.kind = Kind::uniform, .first = -1.0, .second = 4.0},
    {.kind = Kind::exponential, .first = 1.0, .second = 3.0},
    {.kind = Kind::normal, .first = 1.5, .second = 0.75, .restriction = Restriction::redraw, .lower = 0.05},
    {.kind = Kind::normal, .first = 0.0, .second = 1.0, .restriction = Restriction::redraw, .lower = 1.0, .upper = 1.5},
    {.kind = Kind::normal, .first = 0.0, .second = 1.0, .restriction = Restriction::clip, .lower = -1.0, .upper = 0.5},
    {.kind = Kind::lognormal, .first = 0.0, .second = 1.0, .restriction = Restriction::redraw, .upper = 1.0},
    {.kind = Kind::exponential, .first = 0.0, .second = 1.0, .restriction = Restriction::clip, .upper = 2.0},
};

TEST(Distribution, UnrestrictedKindsFitTheirDistributions) {
    EXPECT_GT(p_value({.kind = Kind::normal, .first = -3.0, .second = 2.0},
                      [](double x) { return statistics::normal_cumulative((x + 3.0) / 2.0); }),
              statistics::significance);
    EXPECT_GT(p_value({.kind = Kind::lognormal, .first = 0.5, .second = 0.7},
                      [](double x) { return statistics::normal_cumulative((std::log(x) - 0.5) / 0.7); }),
              statistics::significance);
    EXPECT_GT(p_value({.kind = Kind::uniform, .first = -1.0, .second = 4.0}, [](double x) { return (x + 1.0) / 5.0; }),
              statistics::significance);
    EXPECT_GT(p_value({.kind = Kind::exponential, .first = 1.0, .second = 3.0},
                      [](double x) { return -std::expm1(-(x - 1.0) / 3.0); }),
              statistics::significance);
}

TEST(Distribution, RedrawingGivesTheTruncatedDistribution) {
    const auto phi = statistics::normal_cumulative;
    for (const auto& [lower, upper] : {std::pair{-infinity, 0.3}, {-0.5, infinity}, {1.0, 1.5}, {-3.0, -2.5}}) {
        const Distribution distribution{
            .kind = Kind::normal, .second = 1.0, .restriction = Restriction::redraw, .lower = lower, .upper = upper};
        const double below = phi(lower);
        const double mass = phi(upper) - below;
        EXPECT_NEAR(distribution.acceptance(), mass, 1e-12);
        EXPECT_GT(p_value(distribution, [&](double x) { return (phi(x) - below) / mass; }), statistics::significance)
            << lower << " to " << upper;
    }
}

TEST(Distribution, ClippingMovesWhatIsOutsideToTheBounds) {
    const Distribution distribution{
        .kind = Kind::normal, .second = 1.0, .restriction = Restriction::clip, .lower = -1.0, .upper = 0.5};
    const std::vector<double> values = sample(distribution);
    std::vector<double> counts(3);
    std::vector<double> inside;
    for (const double value : values) {
        ++counts[value == -1.0 ? 0 : (value == 0.5 ? 2 : 1)];
        if (value != -1.0 && value != 0.5) inside.push_back(value);
    }
    const double n = static_cast<double>(values.size());
    const auto phi = statistics::normal_cumulative;
    EXPECT_GT(statistics::chi_square_p_value(counts, {n * phi(-1.0), n * (phi(0.5) - phi(-1.0)), n * phi(-0.5)}),
              statistics::significance);
    EXPECT_GT(statistics::kolmogorov_smirnov_p_value(
                  inside, [&](double x) { return (phi(x) - phi(-1.0)) / (phi(0.5) - phi(-1.0)); }),
              statistics::significance);
}

TEST(Distribution, ValuesKeepTheirBounds) {
    for (const Distribution& distribution : all_kinds) {
        distribution.check("test");
        for (const double value : sample(distribution, 20000)) {
            ASSERT_GE(value, distribution.least());
            ASSERT_LE(value, distribution.greatest());
            if (distribution.restriction == Restriction::none) continue;
            ASSERT_GE(value, distribution.lower);
            ASSERT_LE(value, distribution.upper);
        }
    }
}

TEST(Distribution, EndsAreThoseOfTheSmallestAndLargestWord) {
    const Distribution normal{.kind = Kind::normal, .first = 10.0, .second = 2.0};
    EXPECT_NEAR(normal.least(), 10.0 - 2.0 * 8.2095, 1e-3);
    EXPECT_NEAR(normal.greatest(), 10.0 + 2.0 * 8.2095, 1e-3);
    const Distribution exponential{.kind = Kind::exponential, .first = 1.0, .second = 3.0};
    EXPECT_NEAR(exponential.least(), 1.0, 1e-14);
    EXPECT_NEAR(exponential.greatest(), 1.0 + 3.0 * 53.0 * std::log(2.0), 1e-9);
    const Distribution clipped{
        .kind = Kind::normal, .second = 1.0, .restriction = Restriction::clip, .lower = -2.0, .upper = 3.0};
    EXPECT_EQ(clipped.least(), -2.0);
    EXPECT_EQ(clipped.greatest(), 3.0);
    EXPECT_EQ(Distribution::constant(4.0).least(), 4.0);
    EXPECT_EQ(Distribution::constant(4.0).greatest(), 4.0);
}

TEST(Distribution, AnyPartOfAStreamIsTheSameOnEveryInstructionSet) {
    for (const Distribution& distribution : all_kinds) {
        std::vector<double> expected(1000);
        for (std::uint32_t i = 0; i < expected.size(); ++i) expected[i] = distribution.draw(key, 11, i);
        for (const InstructionSet set : available_instruction_sets()) {
            for (const std::uint32_t first : {0U, 1U, 2U, 3U, 255U, 256U, 257U, 500U}) {
                for (const std::size_t count : {0, 1, 2, 255, 256, 257, 500}) {
                    std::vector<double> values(count);
                    distribution.fill(set, key, 11, first, count, values.data());
                    for (std::size_t i = 0; i < count; ++i) {
                        ASSERT_EQ(std::bit_cast<std::uint64_t>(values[i]),
                                  std::bit_cast<std::uint64_t>(expected[first + i]))
                            << to_string(set) << ", kind " << static_cast<int>(distribution.kind) << ", value "
                            << first + i;
                    }
                }
            }
        }
    }
}

TEST(Distribution, WidthZeroGivesOneValue) {
    EXPECT_EQ(sample({.kind = Kind::normal, .first = 3.0}, 5), std::vector<double>(5, 3.0));
    EXPECT_EQ(sample({.kind = Kind::uniform, .first = 3.0, .second = 3.0}, 5), std::vector<double>(5, 3.0));
    EXPECT_EQ(sample({.kind = Kind::exponential, .first = 3.0}, 5), std::vector<double>(5, 3.0));
}

TEST(DistributionCheck, RefusesWhatCannotBeDrawn) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<Distribution> bad{
        {.kind = Kind::normal, .first = nan, .second = 1.0},
        {.kind = Kind::normal, .first = infinity, .second = 1.0},
        {.kind = Kind::normal, .first = 0.0, .second = -1.0},
        {.kind = Kind::lognormal, .first = 0.0, .second = -1.0},
        {.kind = Kind::exponential, .first = 0.0, .second = -1.0},
        {.kind = Kind::uniform, .first = 1.0, .second = 0.0},
        {.kind = Kind::normal, .first = 0.0, .second = 1e308},
        {.kind = Kind::normal, .second = 1.0, .restriction = Restriction::clip, .lower = 1.0, .upper = 0.0},
        {.kind = Kind::normal, .second = 1.0, .restriction = Restriction::redraw, .lower = nan},
        // Accepts one draw in 31574, and none at all.
        {.kind = Kind::normal, .second = 1.0, .restriction = Restriction::redraw, .lower = 4.0},
        {.kind = Kind::uniform, .second = 1.0, .restriction = Restriction::redraw, .lower = 2.0},
        {.kind = Kind::constant, .first = 1.0, .restriction = Restriction::redraw, .lower = 2.0},
    };
    for (std::size_t i = 0; i < bad.size(); ++i) {
        try {
            bad[i].check("thing");
            ADD_FAILURE() << "distribution " << i << " was accepted";
        } catch (const ValueOutOfBoundsError& error) {
            EXPECT_EQ(error.fields().object, "thing");
            EXPECT_FALSE(error.fields().remedy.empty());
        }
    }
}

}  // namespace TEST_FILE
