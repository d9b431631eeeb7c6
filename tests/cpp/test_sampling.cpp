// The samplers against the exact probabilities, with parameters on both sides of every change of algorithm.
#include "base/sampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "statistics.hpp"

namespace TEST_FILE {

using namespace ranvier;

constexpr int draws = 100000;

SequentialRandom random_numbers(std::uint64_t stream) {
    return SequentialRandom({make_key(11, Purpose::test, 2), stream, 0});
}

/// p-value of a sampler of whole numbers in [0, most] against their probabilities.
template <class Draw, class Probability>
double p_value(std::uint64_t most, const Draw& draw, const Probability& probability) {
    std::vector<double> counts(most + 1);
    for (int i = 0; i < draws; ++i) {
        const std::uint64_t value = draw();
        if (value > most) return 0.0;
        ++counts[value];
    }
    std::vector<double> expected(most + 1);
    for (std::uint64_t k = 0; k <= most; ++k) expected[k] = draws * probability(static_cast<double>(k));
    return statistics::chi_square_p_value(counts, expected);
}

TEST(Binomial, FitsItsProbabilities) {
    struct Case {
        std::uint64_t trials;
        double probability;
    };
    std::uint64_t stream = 0;
    for (const auto& [trials, probability] : std::vector<Case>{
             {1, 0.5},      {1, 1e-3},       {2, 0.25},     {7, 0.9},        {19, 0.5},       {20, 0.5},   {21, 0.5},
             {21, 0.48},    {30, 1.0 / 3},   {100, 0.099},  {100, 0.101},    {100, 0.89},     {100, 0.91}, {1000, 0.5},
             {5000, 0.002}, {5000, 0.00199}, {100000, 0.3}, {1000000, 1e-5}, {1000000, 1e-4}, {40, 0.75}}) {
        SequentialRandom random = random_numbers(stream++);
        const double n = static_cast<double>(trials);
        const double p = p_value(
            trials, [&] { return draw_binomial(random, trials, probability); },
            [&](double k) { return statistics::binomial_probability(n, probability, k); });
        EXPECT_GT(p, statistics::significance) << trials << " trials, probability " << probability;
    }
}

TEST(Binomial, IsCertainWhereItMustBe) {
    SequentialRandom random = random_numbers(100);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(draw_binomial(random, 0, 0.5), 0U);
        EXPECT_EQ(draw_binomial(random, 12345, 0.0), 0U);
        EXPECT_EQ(draw_binomial(random, 12345, 1.0), 12345U);
        EXPECT_LE(draw_binomial(random, 12345, 1e-300), 0U);
    }
}

TEST(Binomial, OfHugeNumbersHasTheRightMeanAndSpread) {
    // Standardised values must be normal: at 2^62 trials the steps between whole numbers are far below what can be seen.
    std::uint64_t stream = 200;
    for (const int exponent : {34, 45, 54, 62}) {
        for (const double probability : {0.5, 0.3, 1e-4, 0.999}) {
            SequentialRandom random = random_numbers(stream++);
            const std::uint64_t trials = std::uint64_t{1} << exponent;
            const double mean = static_cast<double>(trials) * probability;
            const double spread = std::sqrt(mean * (1.0 - probability));
            std::vector<double> values(20000);
            bool odd = false;
            for (double& value : values) {
                const std::uint64_t drawn = draw_binomial(random, trials, probability);
                odd = odd || drawn % 2 == 1;
                value = (static_cast<double>(drawn) - mean) / spread;
            }
            EXPECT_GT(statistics::kolmogorov_smirnov_p_value(values, statistics::normal_cumulative),
                      statistics::significance)
                << "2^" << exponent << ", " << probability;
            EXPECT_TRUE(odd) << "only even numbers: digits were lost";
        }
    }
}

TEST(Binomial, OfHugeNumbersWithASmallMeanIsPoisson) {
    SequentialRandom random = random_numbers(300);
    const std::uint64_t trials = std::uint64_t{1} << 62;
    const double mean = 3.0;
    const double p = p_value(
        60, [&] { return draw_binomial(random, trials, std::ldexp(mean, -62)); },
        [&](double k) { return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0)); });
    EXPECT_GT(p, statistics::significance);
}

TEST(Hypergeometric, FitsItsProbabilities) {
    struct Case {
        std::uint64_t good;
        std::uint64_t bad;
        std::uint64_t sample;
    };
    std::uint64_t stream = 400;
    for (const auto& [good, bad, sample] : std::vector<Case>{{1, 1, 1},
                                                             {1, 5, 3},
                                                             {3, 3, 3},
                                                             {5, 3, 7},
                                                             {10, 10, 10},
                                                             {19, 21, 20},
                                                             {20, 20, 20},
                                                             {21, 19, 20},
                                                             {40, 40, 40},
                                                             {45, 35, 41},
                                                             {100, 50, 75},
                                                             {100, 50, 140},
                                                             {100, 900, 99},
                                                             {100, 900, 101},
                                                             {1000, 1000, 19},
                                                             {1000, 1000, 21},
                                                             {1000, 1000, 500},
                                                             {300, 100000, 5000},
                                                             {5000, 5000, 9990},
                                                             {100000, 7, 50000},
                                                             {3, 1000000, 400000},
                                                             {1000000, 2000000, 1000},
                                                             {700, 800, 1200}}) {
        SequentialRandom random = random_numbers(stream++);
        const double p = p_value(
            std::min(good, sample), [&] { return draw_hypergeometric(random, good, bad, sample); },
            [&](double k) {
                return statistics::hypergeometric_probability(static_cast<double>(good), static_cast<double>(bad),
                                                              static_cast<double>(sample), k);
            });
        EXPECT_GT(p, statistics::significance) << good << " good, " << bad << " bad, sample " << sample;
    }
}

TEST(Hypergeometric, KeepsItsBounds) {
    SequentialRandom random = random_numbers(500);
    for (std::uint64_t good = 0; good <= 12; ++good) {
        for (std::uint64_t bad = 0; bad <= 12; ++bad) {
            for (std::uint64_t sample = 0; sample <= good + bad; ++sample) {
                for (int i = 0; i < 20; ++i) {
                    const std::uint64_t value = draw_hypergeometric(random, good, bad, sample);
                    ASSERT_LE(value, std::min(good, sample));
                    ASSERT_LE(sample - value, bad);
                }
            }
        }
    }
}

TEST(Hypergeometric, OfHugeNumbersHasTheRightMeanAndSpread) {
    std::uint64_t stream = 600;
    for (const auto& [good, bad, sample] :
         std::vector<std::array<std::uint64_t, 3>>{{1ULL << 61, 1ULL << 61, 1ULL << 40},
                                                   {1ULL << 61, 1ULL << 61, 3ULL << 60},
                                                   {1ULL << 40, 3ULL << 60, 1ULL << 58},
                                                   {1ULL << 53, 1ULL << 50, 1ULL << 51}}) {
        SequentialRandom random = random_numbers(stream++);
        const double total = static_cast<double>(good + bad);
        const double share = static_cast<double>(good) / total;
        const double mean = static_cast<double>(sample) * share;
        const double spread = std::sqrt(mean * (1.0 - share) * (total - static_cast<double>(sample)) / (total - 1.0));
        std::vector<double> values(20000);
        bool odd = false;
        for (double& value : values) {
            const std::uint64_t drawn = draw_hypergeometric(random, good, bad, sample);
            odd = odd || drawn % 2 == 1;
            value = (static_cast<double>(drawn) - mean) / spread;
        }
        EXPECT_GT(statistics::kolmogorov_smirnov_p_value(values, statistics::normal_cumulative),
                  statistics::significance)
            << good << " good, " << bad << " bad, sample " << sample;
        EXPECT_TRUE(odd) << "only even numbers: digits were lost";
    }
}

TEST(Hypergeometric, OfHugeNumbersWithASmallMeanIsPoisson) {
    SequentialRandom random = random_numbers(700);
    const std::uint64_t half = std::uint64_t{1} << 30;
    // 2^31 good of 2^61, sample 2^32: mean 4.
    const double p = p_value(
        60, [&] { return draw_hypergeometric(random, 2 * half, 2 * half * half - 2 * half, 4 * half); },
        [&](double k) { return std::exp(k * std::log(4.0) - 4.0 - std::lgamma(k + 1.0)); });
    EXPECT_GT(p, statistics::significance);
}

}  // namespace TEST_FILE
